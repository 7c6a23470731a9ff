//! The start times of rounds, and the default time.

use core::str::FromStr;
use core::time::Duration;

use kiebitz_hardware::Timestamp;
use thiserror::Error;

use super::time_control::minutes;

/// The start times of rounds: the plan, and an arbiter's announcement that replaces part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rounds {
    /// In ascending order.
    planned: Vec<Timestamp>,
    announced: Option<Timestamp>,
    /// How far the clock to which the start times refer is ahead of the timestamps of the methods.
    ahead: Duration,
}

/// The default time: the most minutes by which a player may be late (2023: 6.7.1), as in "30 min", "1 h" or "0 min".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DefaultTime {
    minutes: u32,
}

/// A text that is not a default time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a default time; expected whole minutes, a day at most, as in \"30 min\", \"1 h\" or \
    \"0 min\""
)]
pub struct InvalidDefaultTime {
    /// The text.
    pub text: String,
}

/// Most time by which an announcement can bring a planned round forward.
const MAX_BROUGHT_FORWARD: Duration = Duration::from_secs(30 * 60);
/// Most time before a round at which a game can begin that belongs to it.
const MAX_EARLY: Duration = Duration::from_secs(5 * 60);
const MINUTES_PER_DAY: u32 = 24 * 60;

impl Rounds {
    /// Creates a plan with these start times.
    #[must_use]
    pub fn planned(times: impl IntoIterator<Item = Timestamp>) -> Self {
        let mut planned: Vec<Timestamp> = times.into_iter().collect();
        planned.sort_unstable();
        Self {
            planned,
            announced: None,
            ahead: Duration::ZERO,
        }
    }

    /// Sets how far the clock to which the start times refer is ahead of the timestamps of the other methods.
    pub fn set_ahead(&mut self, ahead: Duration) {
        self.ahead = ahead;
    }

    /// Copies the announcement of `others`, and how far its clock is ahead.
    pub fn take_over(&mut self, others: &Self) {
        (self.announced, self.ahead) = (others.announced, others.ahead);
    }

    /// Announces a round that begins at `begins`. It replaces the previous announcement and all rounds planned up to
    /// `begins`. It also replaces the next planned round, if that begins within half an hour and is nearer than the
    /// previous planned round.
    pub fn announce(&mut self, begins: Timestamp) {
        self.announced = Some(begins);
    }

    /// The last round that has begun by `now`.
    #[must_use]
    pub fn last(&self, now: Timestamp) -> Option<Timestamp> {
        let last = self.all().take_while(|begins| *begins <= now + self.ahead).last();
        last.map(|begins| begins.saturating_sub(self.ahead))
    }

    /// The first round that begins after `now`.
    #[must_use]
    pub fn next(&self, now: Timestamp) -> Option<Timestamp> {
        let next = self.all().find(|begins| *begins > now + self.ahead);
        next.map(|begins| begins.saturating_sub(self.ahead))
    }

    /// The number, from 1, of the round of a game that begins at `now`: the last round that has begun, or the next one
    /// if that is about to begin. `None` without planned rounds, or before the first.
    #[must_use]
    pub fn number(&self, now: Timestamp) -> Option<u32> {
        if self.planned.is_empty() {
            return None;
        }
        let begun = self
            .all()
            .take_while(|begins| *begins <= now + self.ahead)
            .count();
        let next = self.next(now).map(|next| next.saturating_duration_since(now));
        let last = self.last(now).map(|last| now.saturating_duration_since(last));
        let is_next = next.is_some_and(|next| next <= MAX_EARLY && last.is_none_or(|last| next < last));
        let counted = (begun + usize::from(is_next)).checked_sub(1)?;
        // An announced round has the number of the last planned round that it replaces.
        let first = self.announced.map_or(1, |announced| self.replaced(announced));
        u32::try_from(first + counted).ok().filter(|number| *number > 0)
    }

    /// The planned start of the round with this number, counted from 1. `None` if the plan has no such round.
    #[must_use]
    pub fn planned_start(&self, number: u32) -> Option<Timestamp> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.planned.get(at).copied()
    }

    /// All rounds that count, in ascending order.
    fn all(&self) -> impl Iterator<Item = Timestamp> {
        let counts = self.announced.map_or(0, |announced| self.replaced(announced));
        let planned = self.planned.get(counts..).unwrap_or_default();
        self.announced.into_iter().chain(planned.iter().copied())
    }

    /// The number of planned rounds that the announced one replaces.
    fn replaced(&self, announced: Timestamp) -> usize {
        let before = self.planned.partition_point(|begins| *begins <= announced);
        let to_next = self
            .planned
            .get(before)
            .map(|next| next.saturating_duration_since(announced));
        let from_last = before.checked_sub(1).and_then(|last| self.planned.get(last));
        let from_last = from_last.map(|last| announced.saturating_duration_since(*last));
        let is_next = to_next.is_some_and(|to_next| {
            to_next <= MAX_BROUGHT_FORWARD && from_last.is_none_or(|from_last| to_next < from_last)
        });
        before + usize::from(is_next)
    }
}

impl DefaultTime {
    /// The default time in minutes, at most a day.
    #[must_use]
    pub const fn minutes(self) -> u32 {
        self.minutes
    }
}

impl FromStr for DefaultTime {
    type Err = InvalidDefaultTime;

    fn from_str(text: &str) -> Result<Self, InvalidDefaultTime> {
        // A number without a unit could be seconds.
        let has_unit = text.contains(char::is_alphabetic);
        let minutes = minutes(text).filter(|minutes| has_unit && *minutes <= MINUTES_PER_DAY);
        let minutes = minutes.ok_or_else(|| InvalidDefaultTime {
            text: text.to_owned(),
        })?;
        Ok(Self { minutes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time of the test day, in minutes.
    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_micros(1_795_269_600_000_000 + minutes * 60_000_000)
    }

    /// The rounds that count for a plan and a series of announcements, in order.
    fn counting(planned: &[i64], announced: &[i64]) -> Vec<i64> {
        let mut rounds = Rounds::planned(planned.iter().copied().map(at));
        announced
            .iter()
            .for_each(|announced| rounds.announce(at(*announced)));
        let mut counting = Vec::new();
        let mut now = at(-1000);
        while let Some(next) = rounds.next(now) {
            assert_eq!(rounds.last(next), Some(next));
            counting.push((next.as_micros() - at(0).as_micros()) / 60_000_000);
            now = next;
        }
        counting
    }

    #[test]
    fn last_and_next_round_of_a_plan() {
        let rounds = Rounds::planned([at(240), at(0)]);
        assert_eq!((rounds.last(at(-1)), rounds.next(at(-1))), (None, Some(at(0))));
        assert_eq!(
            (rounds.last(at(0)), rounds.next(at(0))),
            (Some(at(0)), Some(at(240)))
        );
        assert_eq!(
            (rounds.last(at(999)), rounds.next(at(999))),
            (Some(at(240)), None)
        );
        assert_eq!(Rounds::default().next(at(0)), None);
        let starts = [0, 1, 2, 3].map(|number| rounds.planned_start(number));
        assert_eq!(starts, [None, Some(at(0)), Some(at(240)), None]);
    }

    #[test]
    fn a_game_belongs_to_the_current_or_the_imminent_round() {
        let mut rounds = Rounds::planned([at(0), at(240), at(300)]);
        let numbers =
            |rounds: &Rounds| [-60, -5, 0, 200, 236, 240, 290, 296, 999].map(|now| rounds.number(at(now)));
        let (first, second, third) = (Some(1), Some(2), Some(3));
        assert_eq!(
            numbers(&rounds),
            [None, first, first, first, second, second, second, third, third]
        );
        // The second round begins late and is still the second.
        rounds.announce(at(250));
        assert_eq!(
            [249, 251, 296].map(|now| rounds.number(at(now))),
            [second, second, third]
        );
        let mut unplanned = Rounds::default();
        unplanned.announce(at(0));
        assert_eq!(unplanned.number(at(1)), None);
    }

    #[test]
    fn announced_round_replaces_the_planned_one() {
        for (planned, announced, counts, label) in [
            (&[0, 240][..], &[15][..], &[15, 240][..], "later"),
            (&[0, 240], &[-10], &[-10, 240], "earlier"),
            (&[0, 240], &[230], &[230], "the second one earlier"),
            (&[0, 240], &[150], &[150, 240], "one between them"),
            (&[0, 30, 60], &[10], &[10, 30, 60], "a short one later"),
            (&[0, 30, 60], &[20], &[20, 60], "a short one earlier"),
            (&[0, 240], &[15, 20], &[20, 240], "announced twice"),
            (&[0, 240], &[15, 5], &[5, 240], "announced twice, earlier"),
            (&[], &[7], &[7], "without a plan"),
        ] {
            assert_eq!(counting(planned, announced), counts, "{label}");
        }
    }

    #[test]
    fn default_time_is_written_in_minutes_or_hours() {
        let minutes = |text: &str| text.parse::<DefaultTime>().ok().map(DefaultTime::minutes);
        for (text, expected) in [
            ("30 min", 30),
            ("1 h", 60),
            ("1 h 30 min", 90),
            ("0 min", 0),
            ("120 s", 2),
            ("1 Stunde", 60),
        ] {
            assert_eq!(minutes(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "soon",
            "0",
            "15",
            "-5 min",
            "90 s",
            "30 min/40",
            "25 h",
            "30 min + 5 s",
            "99999999999 h",
        ] {
            assert_eq!(minutes(text), None, "{text}");
        }
    }
}
