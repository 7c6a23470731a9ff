//! What the board says of its clock (BWTIME): times, acknowledges, or that there is none.

mod ack;
mod times;

pub use ack::{Button, ClockAck, ClockAckKind};
pub use times::{ClockTimeError, ClockTimes, SideTime};

/// The data of a BWTIME message or of the clock answer on the bus, in one of its three forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockReport {
    /// The times of both sides.
    Times(ClockTimes),
    /// The acknowledge of a clock message, or something the clock says unasked.
    Ack(ClockAck),
    /// No clock is connected.
    Absent(ClockAbsent),
}

impl ClockReport {
    /// How many data bytes every form has.
    pub(crate) const LENGTH: usize = 7;

    /// Reads the data bytes, each below 0x80.
    ///
    /// The acknowledge form is looked for first, as it uses the bytes of the times for its own
    /// values. Times are read last, because they mean nothing when no clock is connected.
    ///
    /// # Errors
    ///
    /// [`ClockTimeError`] when a connected clock shows an impossible time.
    pub(crate) fn decode(data: [u8; Self::LENGTH]) -> Result<Self, ClockTimeError> {
        if let Some(ack) = ClockAck::from_wire(data) {
            Ok(Self::Ack(ack))
        } else if let Some(absent) = ClockAbsent::from_wire(data) {
            Ok(Self::Absent(absent))
        } else {
            ClockTimes::from_wire(data).map(Self::Times)
        }
    }

    /// Returns the data bytes as they stand on the wire.
    pub(crate) fn to_wire(self) -> [u8; Self::LENGTH] {
        match self {
            Self::Times(times) => times.to_wire(),
            Self::Ack(ack) => ack.to_wire(),
            Self::Absent(absent) => absent.to_wire(),
        }
    }
}

/// The board's word that no clock is connected (BWTIME, bit 5 of its last byte).
///
/// The times in such a message mean nothing. They are not shown and not checked, only kept to
/// write the same message again. [`ClockAbsent::default`] has zeros there, as boards send it.
///
/// ```
/// use kiebitz_protocol::{Decoder, Message};
///
/// let mut absent = false;
/// let impossible_times = [0x8d, 0x00, 0x0a, 0x0f, 0x7f, 0x7f, 0x0f, 0x7f, 0x7f, 0x20];
/// Decoder::new().feed(&impossible_times, |decoded| {
///     absent = matches!(decoded, Ok(Message::ClockAbsent(_)));
/// });
/// assert!(absent);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockAbsent([u8; ClockReport::LENGTH]);

impl ClockAbsent {
    fn from_wire(data: [u8; ClockReport::LENGTH]) -> Option<Self> {
        (data[6] & NOT_CONNECTED != 0).then_some(Self(data))
    }

    fn to_wire(self) -> [u8; ClockReport::LENGTH] {
        self.0
    }
}

impl Default for ClockAbsent {
    fn default() -> Self {
        Self([0, 0, 0, 0, 0, 0, NOT_CONNECTED])
    }
}

const NOT_CONNECTED: u8 = 0x20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_clock_impossible_times_are_no_error() {
        let data = [0x0f, 0x7f, 0x7f, 0x0f, 0x7f, 0x7f, 0x20];
        let report = ClockReport::decode(data);
        assert!(matches!(report, Ok(ClockReport::Absent(_))));
        assert_eq!(report.map(ClockReport::to_wire), Ok(data));
    }

    #[test]
    fn the_default_absence_reads_back() {
        let absent = ClockReport::Absent(ClockAbsent::default());
        assert_eq!(ClockReport::decode(absent.to_wire()), Ok(absent));
    }

    #[test]
    fn an_acknowledge_is_found_by_either_hour_nibble() {
        for data in [
            [0x0a, 0x10, 1, 0, 0, 0, 0],
            [0, 0x10, 1, 0x0a, 0, 0, 0],
            [0x2a, 0, 0, 0x3a, 0, 0, 0x20],
        ] {
            assert!(
                matches!(ClockReport::decode(data), Ok(ClockReport::Ack(_))),
                "{data:x?}"
            );
        }
    }
}
