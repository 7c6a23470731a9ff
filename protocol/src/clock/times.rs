use super::data::Data;
use crate::bcd;

/// The times of a connected clock (BWTIME).
///
/// Right and left are as seen from the front of the clock. The message does not identify White's side. It
/// lags up to 1 s behind the display, because the board polls the clock only two or three times a second.
///
/// ```
/// use kiebitz_protocol::{ClockTimes, Message, SideTime};
///
/// let times = ClockTimes {
///     right: SideTime { minutes: 5, ..SideTime::default() },
///     left: SideTime { minutes: 4, seconds: 59, ..SideTime::default() },
///     running: true,
///     rights_turn: true,
///     ..ClockTimes::default()
/// };
/// let mut bytes = Vec::new();
/// Message::ClockTimes(times).encode(&mut bytes);
/// assert_eq!(bytes, [0x8d, 0x00, 0x0a, 0x00, 0x05, 0x00, 0x00, 0x04, 0x59, 0x09]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct ClockTimes {
    /// Time of the right side.
    pub right: SideTime,
    /// Time of the left side.
    pub left: SideTime,
    /// Whether the clock runs; `false` after it was stopped with the start/stop button.
    pub running: bool,
    /// Whether the lever is up on the right side; `false` if it is up on the left side.
    pub lever_right_high: bool,
    /// Whether the clock shows the low-battery icon.
    pub battery_low: bool,
    /// Whether it is the right player's turn.
    pub rights_turn: bool,
    /// Whether it is the left player's turn.
    pub lefts_turn: bool,
}

impl ClockTimes {
    pub(super) fn from_wire(data: Data) -> Result<Self, ClockTimeError> {
        let [rh, rm, rs, lh, lm, ls, status] = data;
        Ok(Self {
            right: SideTime::from_wire([rh, rm, rs])?,
            left: SideTime::from_wire([lh, lm, ls])?,
            running: status & RUNNING != 0,
            lever_right_high: status & LEVER_RIGHT_HIGH != 0,
            battery_low: status & BATTERY_LOW != 0,
            rights_turn: status & RIGHTS_TURN != 0,
            lefts_turn: status & LEFTS_TURN != 0,
        })
    }

    pub(super) fn to_wire(self) -> Data {
        let [rh, rm, rs] = self.right.to_wire();
        let [lh, lm, ls] = self.left.to_wire();
        let status = bit(self.running, RUNNING)
            | bit(self.lever_right_high, LEVER_RIGHT_HIGH)
            | bit(self.battery_low, BATTERY_LOW)
            | bit(self.rights_turn, RIGHTS_TURN)
            | bit(self.lefts_turn, LEFTS_TURN);
        [rh, rm, rs, lh, lm, ls, status]
    }
}

/// The time of one side of the clock.
///
/// Decoded values are always in range. Encoding clamps a value above its range to the maximum, because a
/// larger value would set bits with another meaning.
///
/// ```
/// use kiebitz_protocol::SideTime;
///
/// let time = SideTime { hours: 1, minutes: 29, seconds: 56, ..SideTime::default() };
/// assert_eq!(time.total_seconds(), 5396);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SideTime {
    /// Hours, 0 to 9.
    pub hours: u8,
    /// Minutes, 0 to 59.
    pub minutes: u8,
    /// Seconds, 0 to 59.
    pub seconds: u8,
    /// Whether the flag has fallen and the clock shows zero.
    pub flag_fallen: bool,
    /// Whether the indicator for time per move (increment or delay) is on.
    pub per_move_indicator: bool,
    /// Whether a flag is shown. The clock may already run in the next period.
    pub flag_shown: bool,
}

impl SideTime {
    /// Returns the time in seconds, 0 to 35,999 if all values are in range.
    pub const fn total_seconds(&self) -> u32 {
        self.hours as u32 * 3600 + self.minutes as u32 * 60 + self.seconds as u32
    }

    fn from_wire([hours, minutes, seconds]: [u8; 3]) -> Result<Self, ClockTimeError> {
        if hours & 0x0f > 9 {
            return Err(ClockTimeError::Hours { byte: hours });
        }
        Ok(Self {
            hours: hours & 0x0f,
            minutes: bcd::sixtieths(minutes).ok_or(ClockTimeError::Minutes { byte: minutes })?,
            seconds: bcd::sixtieths(seconds).ok_or(ClockTimeError::Seconds { byte: seconds })?,
            flag_fallen: hours & FLAG_FALLEN != 0,
            per_move_indicator: hours & PER_MOVE_INDICATOR != 0,
            flag_shown: hours & FLAG_SHOWN != 0,
        })
    }

    fn to_wire(self) -> [u8; 3] {
        let hours = bcd::digit(self.hours)
            | bit(self.flag_fallen, FLAG_FALLEN)
            | bit(self.per_move_indicator, PER_MOVE_INDICATOR)
            | bit(self.flag_shown, FLAG_SHOWN);
        [
            hours,
            bcd::from_sixtieths(self.minutes),
            bcd::from_sixtieths(self.seconds),
        ]
    }
}

/// Why three bytes are not a valid clock time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ClockTimeError {
    /// The low nibble of the hour byte is above 9.
    #[error("hour byte {byte:#04x} has more than 9 hours")]
    Hours {
        /// The whole byte, including the flags.
        byte: u8,
    },
    /// The minutes are not a BCD number up to 59.
    #[error("minutes {byte:#04x} are not a BCD number up to 59")]
    Minutes {
        /// The whole byte.
        byte: u8,
    },
    /// The seconds are not a BCD number up to 59.
    #[error("seconds {byte:#04x} are not a BCD number up to 59")]
    Seconds {
        /// The whole byte.
        byte: u8,
    },
}

const fn bit(on: bool, mask: u8) -> u8 {
    if on { mask } else { 0 }
}

const FLAG_FALLEN: u8 = 0x10;
const PER_MOVE_INDICATOR: u8 = 0x20;
const FLAG_SHOWN: u8 = 0x40;

const RUNNING: u8 = 0x01;
const LEVER_RIGHT_HIGH: u8 = 0x02;
const BATTERY_LOW: u8 = 0x04;
const RIGHTS_TURN: u8 = 0x08;
const LEFTS_TURN: u8 = 0x10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_and_status_bit_is_decoded() {
        let times = ClockTimes::from_wire([0x71, 0x59, 0x30, 0x09, 0x05, 0x00, 0x1f]).unwrap();
        assert_eq!(times.right.total_seconds(), 3600 + 59 * 60 + 30);
        assert!(times.right.flag_fallen && times.right.per_move_indicator && times.right.flag_shown);
        assert_eq!(times.left.total_seconds(), 9 * 3600 + 5 * 60);
        assert!(times.running && times.lever_right_high && times.battery_low);
        assert!(times.rights_turn && times.lefts_turn);
        assert_eq!(times.to_wire(), [0x71, 0x59, 0x30, 0x09, 0x05, 0x00, 0x1f]);
    }

    #[test]
    fn invalid_digits_are_refused() {
        let with = |at: usize, byte| {
            let mut data = [0; 7];
            data[at] = byte;
            ClockTimes::from_wire(data)
        };
        assert_eq!(with(0, 0x0b), Err(ClockTimeError::Hours { byte: 0x0b }));
        assert_eq!(with(1, 0x60), Err(ClockTimeError::Minutes { byte: 0x60 }));
        assert_eq!(with(5, 0x1a), Err(ClockTimeError::Seconds { byte: 0x1a }));
    }

    #[test]
    fn ten_hours_are_encoded_as_nine_and_not_as_an_acknowledgement() {
        let side = SideTime {
            hours: 10,
            ..SideTime::default()
        };
        assert_eq!(side.to_wire()[0], 9);
    }
}
