use super::data::Data;

/// An acknowledgement of a clock message, or an unsolicited report (BWTIME, acknowledgement form).
///
/// Boards send it in update and update-nice modes only. Two acknowledgements are equal if all their bytes
/// on the wire are equal.
///
/// ```
/// use kiebitz_protocol::{Button, ClockAck, ClockAckKind};
///
/// let ack = ClockAck::new([0x10, 0x88, 0x00, 0x33]);
/// assert_eq!(ack.kind(), ClockAckKind::ButtonPressed(Some(Button::Run)));
/// assert!(!ack.is_error());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockAck(Data);

impl ClockAck {
    /// First acknowledgement byte for success.
    pub const NORMAL: u8 = 0x10;
    /// First acknowledgement byte for an error, for example times sent outside the remote mode.
    pub const ERROR: u8 = 0x40;

    /// Returns the acknowledgement with these four acknowledgement bytes.
    pub const fn new(bytes: [u8; 4]) -> Self {
        let [ack0, ack1, ack2, ack3] = bytes;
        let right = MARK | (ack2 >> 7) << 4 | (ack3 >> 7) << 5;
        let left = MARK | (ack0 >> 7) << 4 | (ack1 >> 7) << 5;
        Self([right, ack0 & 0x7f, ack1 & 0x7f, left, ack2 & 0x7f, ack3 & 0x7f, 0])
    }

    /// Returns the acknowledgement of success for the clock message with this id.
    pub const fn of(command: u8) -> Self {
        Self::new([Self::NORMAL, command & 0x7f, 0, 0])
    }

    /// Returns the four acknowledgement bytes, with bit 7 of each restored from the hour bytes.
    pub const fn bytes(&self) -> [u8; 4] {
        let [right, b4, b5, left, b7, b8, _] = self.0;
        [
            b4 & 0x7f | (left << 3) & 0x80,
            b5 & 0x7f | (left << 2) & 0x80,
            b7 & 0x7f | (right << 3) & 0x80,
            b8 & 0x7f | (right << 2) & 0x80,
        ]
    }

    /// Returns whether the clock reports an error.
    pub const fn is_error(&self) -> bool {
        self.bytes()[0] == Self::ERROR
    }

    /// Returns whether the clock sent this report without a clock message before it.
    pub const fn is_unsolicited(&self) -> bool {
        self.bytes()[1] & 0x80 != 0
    }

    /// Returns the subject of the acknowledgement or report.
    pub const fn kind(&self) -> ClockAckKind {
        let [_, subject, ack2, ack3] = self.bytes();
        match subject {
            0x81 => ClockAckKind::Ready,
            0x88 => ClockAckKind::ButtonPressed(Button::from_code(ack3)),
            0x8a | 0x90 => ClockAckKind::Mode {
                code: subject,
                value: ack3,
            },
            0x09 => ClockAckKind::Version {
                major: ack2 >> 4,
                minor: ack2 & 0x0f,
            },
            code if code & 0x80 != 0 => ClockAckKind::OtherUnsolicited { code },
            command => ClockAckKind::Command { command },
        }
    }

    pub(crate) fn from_wire(data: Data) -> Option<Self> {
        (data[0] & 0x0f == MARK || data[3] & 0x0f == MARK).then_some(Self(data))
    }

    pub(crate) const fn to_wire(self) -> Data {
        self.0
    }
}

/// The subject of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[non_exhaustive]
pub enum ClockAckKind {
    /// The clock is ready (0x81, unsolicited).
    Ready,
    /// A button was pressed (0x88, unsolicited); `None` if its code is unknown.
    ButtonPressed(Option<Button>),
    /// A report about the clock's mode (0x8a or 0x90, unsolicited).
    Mode {
        /// Second acknowledgement byte, 0x8a or 0x90.
        code: u8,
        /// Last acknowledgement byte. May contain the mode.
        value: u8,
    },
    /// Another unsolicited acknowledgement.
    OtherUnsolicited {
        /// Second acknowledgement byte, 0x80 or above.
        code: u8,
    },
    /// The clock's version, in reply to [`ClockMessage::Version`](crate::ClockMessage::Version) (0x09).
    Version {
        /// Number before the dot, 0 to 15.
        major: u8,
        /// Number after the dot, 0 to 15.
        minor: u8,
    },
    /// A clock message was received.
    Command {
        /// The id of the clock message, for example 0x0a for
        /// [`ClockMessage::SetAndRun`](crate::ClockMessage::SetAndRun).
        command: u8,
    },
}

/// A button of the clock.
///
/// The enum is exhaustive: the clock has five buttons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
#[repr(u8)]
pub enum Button {
    /// Back, code 0x31.
    Back = 0x31,
    /// Plus, code 0x32.
    Plus = 0x32,
    /// Run (start and stop), code 0x33.
    Run = 0x33,
    /// Minus, code 0x34.
    Minus = 0x34,
    /// OK, code 0x35.
    Ok = 0x35,
}

impl Button {
    /// Returns the button's code, as sent in the last acknowledgement byte.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the button with this code, or `None` if the code is undocumented.
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            0x31 => Some(Self::Back),
            0x32 => Some(Self::Plus),
            0x33 => Some(Self::Run),
            0x34 => Some(Self::Minus),
            0x35 => Some(Self::Ok),
            _ => None,
        }
    }
}

/// Low nibble of an hour byte that marks a BWTIME as an acknowledgement.
const MARK: u8 = 0x0a;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_seven_of_each_byte_is_carried_in_the_hour_bytes() {
        for bits in 0..16_u8 {
            let bytes = [0, 1, 2, 3].map(|i| (0x11 * (i + 1)) | ((bits >> i & 1) << 7));
            let ack = ClockAck::new(bytes);
            assert_eq!(ack.bytes(), bytes);
            assert_eq!(ClockAck::from_wire(ack.to_wire()), Some(ack));
            assert!(ack.to_wire().iter().all(|&byte| byte < 0x80));
        }
    }

    #[test]
    fn the_version_is_decoded_from_two_nibbles() {
        let ack = ClockAck::new([ClockAck::NORMAL, 0x09, 0x23, 0]);
        assert_eq!(ack.kind(), ClockAckKind::Version { major: 2, minor: 3 });
        assert!(!ack.is_unsolicited());
    }

    #[test]
    fn unknown_buttons_and_unknown_codes_are_distinguished() {
        assert_eq!(
            ClockAck::new([0x10, 0x88, 0, 0x36]).kind(),
            ClockAckKind::ButtonPressed(None)
        );
        assert_eq!(
            ClockAck::new([0x10, 0x8a, 0, 23]).kind(),
            ClockAckKind::Mode {
                code: 0x8a,
                value: 23
            }
        );
        assert_eq!(
            ClockAck::new([0x10, 0x91, 0, 0]).kind(),
            ClockAckKind::OtherUnsolicited { code: 0x91 }
        );
        assert_eq!(ClockAck::of(0x0a).kind(), ClockAckKind::Command { command: 0x0a });
        assert!(ClockAck::new([ClockAck::ERROR, 0x0a, 0, 0]).is_error());
    }
}
