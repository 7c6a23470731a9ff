use super::data::Data;

/// The report that no clock is connected (BWTIME, bit 5 of its last byte).
///
/// The time bytes have no meaning. They are stored, unchecked, so that encoding reproduces the same message.
/// In [`ClockAbsent::default`] they are zero, as in the messages of real boards.
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
pub struct ClockAbsent(Data);

impl ClockAbsent {
    pub(crate) fn from_wire(data: Data) -> Option<Self> {
        (data[6] & NOT_CONNECTED != 0).then_some(Self(data))
    }

    pub(crate) const fn to_wire(self) -> Data {
        self.0
    }
}

impl Default for ClockAbsent {
    fn default() -> Self {
        Self([0, 0, 0, 0, 0, 0, NOT_CONNECTED])
    }
}

const NOT_CONNECTED: u8 = 0x20;
