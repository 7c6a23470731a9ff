//! The times to set after a return to an earlier position, and after an error of the clock (2023: 7.1, 6.10).

use shakmaty::{ByColor, Color};

use super::situation::ClockReadings;

impl ClockReadings {
    /// The times recorded at the completion of the last legal ply, with `bonus` milliseconds for the opponent of
    /// `offender` (2023: 7.1, 7.5.5).
    #[must_use]
    pub fn exact(&self, offender: Color, bonus: u64) -> ByColor<u64> {
        credited(self.before, !offender, bonus)
    }

    /// The present times, without the offender's gain from the press and with `bonus` milliseconds for the opponent.
    /// Many arbiters set these after an error that is noticed at once.
    #[must_use]
    pub fn keep(&self, offender: Color, bonus: u64) -> ByColor<u64> {
        let mut times = self.now;
        let own = times.get_mut(offender);
        *own = own.saturating_sub(self.undue);
        credited(times, !offender, bonus)
    }
}

/// A player's time in milliseconds by the rule of three, for games in which the times of single moves are not known
/// (2023: 7.1): the initial time, less the kept moves' share of the time used for all moves. Increments are left out on
/// purpose. `None` if no move was played, or if more moves are kept than were played.
#[must_use]
pub fn rule_of_three(credited_ms: u64, shown_ms: u64, played: u32, kept: u32) -> Option<u64> {
    if played == 0 || kept > played {
        return None;
    }
    let used = credited_ms.saturating_sub(shown_ms);
    let kept_time = u128::from(used) * u128::from(kept) / u128::from(played);
    let kept_time = u64::try_from(kept_time).unwrap_or(used);
    Some(credited_ms.saturating_sub(kept_time))
}

/// The display of a mechanical clock with `left_ms` milliseconds left, in hours and minutes. The clock is set so that
/// the flag falls at six. Odd seconds count as a minute used.
#[must_use]
pub fn dial(left_ms: u64) -> (u64, u64) {
    let minutes = (6 * 60 - left_ms / 60_000 % (12 * 60) + 12 * 60) % (12 * 60);
    (minutes / 60, minutes % 60)
}

/// The times to set if `missing_ms` milliseconds are missing in their sum (negative: too much). If the wrong clock is
/// known, it is corrected; else each player gets half of the difference (2023: 6.10).
#[must_use]
pub fn corrected(shown: ByColor<u64>, missing_ms: i64, wrong: Option<Color>) -> ByColor<u64> {
    match wrong {
        Some(color) => {
            let mut times = shown;
            let time = times.get_mut(color);
            *time = time.saturating_add_signed(missing_ms);
            times
        }
        None => ByColor {
            white: shown.white.saturating_add_signed(missing_ms / 2),
            black: shown.black.saturating_add_signed(missing_ms - missing_ms / 2),
        },
    }
}

fn credited(mut times: ByColor<u64>, color: Color, bonus: u64) -> ByColor<u64> {
    let time = times.get_mut(color);
    *time = time.saturating_add(bonus);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(hours: u64, minutes: u64, seconds: u64) -> u64 {
        ((hours * 60 + minutes) * 60 + seconds) * 1000
    }

    const fn times(white: u64, black: u64) -> ByColor<u64> {
        ByColor { white, black }
    }

    /// Arbiter's handbook on Art. 7.1: 2 h for 40 moves; after move 30, White's 21st turns out to be illegal.
    #[test]
    fn rule_of_three_without_increments() {
        let white = rule_of_three(ms(2, 0, 0), ms(0, 45, 0), 30, 20).expect("a time");
        let black = rule_of_three(ms(2, 0, 0), ms(0, 30, 0), 30, 20).expect("a time") + ms(0, 2, 0);
        assert_eq!((white, black), (ms(1, 10, 0), ms(1, 2, 0)));
        assert_eq!((dial(white), dial(black)), ((4, 50), (4, 58)));
    }

    /// The same with 90 minutes and 30 seconds a move; the increments are left out.
    #[test]
    fn rule_of_three_with_increments() {
        let white = rule_of_three(ms(1, 30, 0), ms(0, 45, 0), 30, 20).expect("a time");
        let black = rule_of_three(ms(1, 30, 0), ms(0, 30, 0), 30, 20).expect("a time") + ms(0, 2, 0);
        assert_eq!((white, black), (ms(1, 0, 0), ms(0, 52, 0)));
    }

    #[test]
    fn rule_of_three_needs_moves() {
        assert_eq!(rule_of_three(ms(2, 0, 0), ms(1, 0, 0), 0, 0), None);
        assert_eq!(rule_of_three(ms(2, 0, 0), ms(1, 0, 0), 20, 21), None);
        assert_eq!(rule_of_three(u64::MAX, 0, u32::MAX, u32::MAX), Some(0));
        // A clock that shows more than the initial time: no time was used.
        assert_eq!(
            rule_of_three(ms(1, 0, 0), ms(1, 30, 0), 30, 20),
            Some(ms(1, 0, 0))
        );
    }

    /// Laws 2018, 7.1 and 7.5.5: 90+30, White's illegal 21st move is noticed at once.
    #[test]
    fn recorded_times_are_set_exactly_or_kept() {
        let readings = ClockReadings {
            before: times(ms(1, 8, 40), ms(1, 1, 5)),
            now: times(ms(1, 6, 10), ms(1, 0, 20)),
            undue: ms(0, 0, 30),
        };
        let bonus = ms(0, 2, 0);
        assert_eq!(
            readings.exact(Color::White, bonus),
            times(ms(1, 8, 40), ms(1, 3, 5))
        );
        assert_eq!(
            readings.keep(Color::White, bonus),
            times(ms(1, 5, 40), ms(1, 2, 20))
        );
    }

    /// Arbiter's handbook on Art. 6.10: after an hour and a half, both clocks together show twenty minutes too much.
    #[test]
    fn drift_is_corrected_on_the_wrong_clock_or_halved() {
        let shown = times(ms(1, 35, 0), ms(1, 15, 0));
        let missing = -1_200_000;
        assert_eq!(
            corrected(shown, missing, Some(Color::White)),
            times(ms(1, 15, 0), ms(1, 15, 0))
        );
        assert_eq!(
            corrected(shown, missing, Some(Color::Black)),
            times(ms(1, 35, 0), ms(0, 55, 0))
        );
        assert_eq!(corrected(shown, missing, None), times(ms(1, 25, 0), ms(1, 5, 0)));
    }
}
