use super::absent::ClockAbsent;
use super::ack::ClockAck;
use super::data::Data;
use super::times::{ClockTimeError, ClockTimes};

/// The data of a BWTIME message or of the clock answer on the bus, in one of its three forms.
///
/// The enum is exhaustive: data bytes that are neither an acknowledgement nor the report of an absent clock
/// are times.
///
/// ```
/// use kiebitz_protocol::{BusAnswer, BusData, ClockReport};
///
/// let wire = [0x84, 0, 13, 8, 1, 0, 5, 0, 0, 4, 0x59, 0x09, 0x05];
/// let Ok(BusAnswer { data: BusData::Clock(ClockReport::Times(times)), .. }) = BusAnswer::decode(&wire) else {
///     panic!("not the times of a clock");
/// };
/// assert_eq!((times.right.minutes, times.left.seconds), (5, 59));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ClockReport {
    /// The times of both sides.
    Times(ClockTimes),
    /// An acknowledgement of a clock message, or an unsolicited report.
    Ack(ClockAck),
    /// No clock is connected.
    Absent(ClockAbsent),
}

impl ClockReport {
    /// Decodes the data bytes, each below 0x80.
    ///
    /// The acknowledgement form is tried first, because it reuses the bytes of the times. Times are tried last,
    /// because they have no meaning if no clock is connected.
    ///
    /// # Errors
    ///
    /// Returns a [`ClockTimeError`] if a connected clock shows an impossible time.
    pub(crate) fn decode(data: Data) -> Result<Self, ClockTimeError> {
        if let Some(ack) = ClockAck::from_wire(data) {
            Ok(Self::Ack(ack))
        } else if let Some(absent) = ClockAbsent::from_wire(data) {
            Ok(Self::Absent(absent))
        } else {
            ClockTimes::from_wire(data).map(Self::Times)
        }
    }

    pub(crate) fn to_wire(self) -> Data {
        match self {
            Self::Times(times) => times.to_wire(),
            Self::Ack(ack) => ack.to_wire(),
            Self::Absent(absent) => absent.to_wire(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_times_without_a_clock_are_accepted() {
        let data = [0x0f, 0x7f, 0x7f, 0x0f, 0x7f, 0x7f, 0x20];
        let report = ClockReport::decode(data);
        assert!(matches!(report, Ok(ClockReport::Absent(_))));
        assert_eq!(report.map(ClockReport::to_wire), Ok(data));
    }

    #[test]
    fn the_default_report_of_an_absent_clock_round_trips() {
        let absent = ClockReport::Absent(ClockAbsent::default());
        assert_eq!(ClockReport::decode(absent.to_wire()), Ok(absent));
    }

    #[test]
    fn an_acknowledgement_is_recognised_by_either_hour_nibble() {
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
