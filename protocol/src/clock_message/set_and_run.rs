use super::error::ClockMessageError;

/// Times for both sides, and the sides that run.
///
/// ```
/// use kiebitz_protocol::{ClockMessage, Command, SetAndRun, SetTime};
///
/// let three_minutes = SetTime { minutes: 3, ..SetTime::default() };
/// let set = SetAndRun { left: three_minutes, right: three_minutes, left_runs: true, ..SetAndRun::default() };
/// let mut bytes = Vec::new();
/// Command::Clock(ClockMessage::SetAndRun(set)).encode(&mut bytes);
/// assert_eq!(bytes, [0x2b, 0x0a, 0x03, 0x0a, 0, 3, 0, 0, 3, 0, 0x01, 0x00]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SetAndRun {
    /// Time of the left side, as seen from the front of the clock.
    pub left: SetTime,
    /// Time of the right side.
    pub right: SetTime,
    /// Whether the left side runs.
    pub left_runs: bool,
    /// Whether the right side runs.
    pub right_runs: bool,
    /// Whether the clock is paused.
    pub paused: bool,
    /// Whether the lever changes the running side.
    pub lever_toggles: bool,
}

impl SetAndRun {
    pub(super) fn from_wire(wire: [u8; 7]) -> Result<Self, ClockMessageError> {
        let [lh, lm, ls, rh, rm, rs, mode] = wire;
        Ok(Self {
            left: SetTime::from_wire([lh, lm, ls])?,
            right: SetTime::from_wire([rh, rm, rs])?,
            left_runs: mode & LEFT_RUNS != 0,
            right_runs: mode & RIGHT_RUNS != 0,
            paused: mode & PAUSED != 0,
            lever_toggles: mode & LEVER_TOGGLES != 0,
        })
    }

    pub(super) fn to_wire(self) -> [u8; 7] {
        let [lh, lm, ls] = self.left.to_wire();
        let [rh, rm, rs] = self.right.to_wire();
        let modes = [
            (self.left_runs, LEFT_RUNS),
            (self.right_runs, RIGHT_RUNS),
            (self.paused, PAUSED),
            (self.lever_toggles, LEVER_TOGGLES),
        ];
        let mode = modes
            .iter()
            .filter(|(on, _)| *on)
            .fold(0, |mode, (_, bit)| mode | bit);
        [lh, lm, ls, rh, rm, rs, mode]
    }
}

/// The new time of one side. Encoding clamps a number above its range to the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SetTime {
    /// Hours, 0 to 9.
    pub hours: u8,
    /// Minutes, 0 to 59.
    pub minutes: u8,
    /// Seconds, 0 to 59.
    pub seconds: u8,
    /// Whether the side counts up instead of down. Not every clock supports this.
    pub counts_up: bool,
}

impl SetTime {
    fn from_wire([first, minutes, seconds]: [u8; 3]) -> Result<Self, ClockMessageError> {
        let hours = first & !COUNTS_UP;
        if hours > 9 || minutes > 59 || seconds > 59 {
            return Err(ClockMessageError::Time {
                hours,
                minutes,
                seconds,
            });
        }
        Ok(Self {
            hours,
            minutes,
            seconds,
            counts_up: first & COUNTS_UP != 0,
        })
    }

    fn to_wire(self) -> [u8; 3] {
        let up = if self.counts_up { COUNTS_UP } else { 0 };
        [self.hours.min(9) | up, self.minutes.min(59), self.seconds.min(59)]
    }
}

const COUNTS_UP: u8 = 0x10;

const LEFT_RUNS: u8 = 0x01;
const RIGHT_RUNS: u8 = 0x02;
const PAUSED: u8 = 0x04;
const LEVER_TOGGLES: u8 = 0x08;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_binary_numbers_not_bcd() {
        let time = SetTime {
            hours: 1,
            minutes: 59,
            seconds: 30,
            counts_up: true,
        };
        assert_eq!(time.to_wire(), [0x11, 59, 30]);
        assert_eq!(SetTime::from_wire([0x11, 59, 30]), Ok(time));
    }

    #[test]
    fn impossible_times_are_refused() {
        let error = ClockMessageError::Time {
            hours: 0,
            minutes: 60,
            seconds: 0,
        };
        assert_eq!(SetAndRun::from_wire([0, 0, 0, 0, 60, 0, 0]), Err(error));
    }

    #[test]
    fn every_mode_bit_round_trips() {
        for mode in 0..16 {
            let wire = [0, 5, 0, 0, 5, 0, mode];
            assert_eq!(SetAndRun::from_wire(wire).map(SetAndRun::to_wire), Ok(wire));
        }
    }
}
