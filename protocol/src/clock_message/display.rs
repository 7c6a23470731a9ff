/// Individual segments of the display `1A:BC 1D:EF`; A to F are seven-segment digits.
///
/// Bits of a digit: 0 top segment, 1 top right, 2 bottom right, 3 bottom, 4 bottom left, 5 top left, 6 centre.
///
/// ```
/// use kiebitz_protocol::{ClockMessage, Command, Segments};
///
/// let one = Segments { digits: [0, 0, 0b110, 0, 0, 0], ..Segments::default() };
/// let mut bytes = Vec::new();
/// Command::Clock(ClockMessage::Display(one)).encode(&mut bytes);
/// assert_eq!(bytes, [0x2b, 0x0b, 0x03, 0x01, 0b110, 0, 0, 0, 0, 0, 0, 0x01, 0x00]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Segments {
    /// The six digits from left to right, A first.
    pub digits: [u8; 6],
    /// Bits: 0 right dot, 1 right colon, 2 right 1, 3 left dot, 4 left colon, 5 left 1.
    pub marks: u8,
    /// Whether the clock also beeps.
    pub beep: bool,
}

impl Segments {
    pub(super) fn from_wire(wire: [u8; 8]) -> Self {
        let [c, b, a, f, e, d, marks, beep] = wire;
        Self {
            digits: [a, b, c, d, e, f],
            marks,
            beep: beep & BEEP != 0,
        }
    }

    pub(super) fn to_wire(self) -> [u8; 8] {
        let [a, b, c, d, e, f] = self.digits;
        let beep = if self.beep { NO_BEEP | BEEP } else { NO_BEEP };
        [c, b, a, f, e, d, self.marks, beep].map(|byte| byte & 0x7f)
    }
}

/// The icons of the display.
///
/// ```
/// use kiebitz_protocol::{ClockMessage, Command, Icons, SideIcons};
///
/// let fischer = SideIcons { method: 0b10, period: 0 };
/// let icons = Icons { left: fischer, right: fischer, special: 0 };
/// let mut bytes = Vec::new();
/// Command::Clock(ClockMessage::Icons(icons)).encode(&mut bytes);
/// assert_eq!(bytes, [0x2b, 0x0b, 0x03, 0x02, 2, 2, 0, 0, 0, 0, 0, 0, 0x00]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Icons {
    /// Icons of the left half.
    pub left: SideIcons,
    /// Icons of the right half.
    pub right: SideIcons,
    /// Bits: 0 clear all, 1 and 5 sound, 2 black-white, 3 white-black, 4 battery, 6 keep the icons when the
    /// time changes.
    pub special: u8,
}

/// The icons of one half of the display.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct SideIcons {
    /// Bits: 0 time, 1 Fischer, 2 delay, 3 hourglass, 4 counting up, 5 byo-yomi, 6 end.
    pub method: u8,
    /// Bits: 0 to 4 periods 1 to 5, 5 flag.
    pub period: u8,
}

impl Icons {
    /// Decodes the content. The three reserved bytes at its end are discarded.
    pub(super) fn from_wire(wire: [u8; 8]) -> Self {
        let [left, right, left_period, right_period, special, ..] = wire;
        Self {
            left: SideIcons {
                method: left,
                period: left_period,
            },
            right: SideIcons {
                method: right,
                period: right_period,
            },
            special,
        }
    }

    pub(super) fn to_wire(self) -> [u8; 8] {
        let Self { left, right, special } = self;
        [
            left.method,
            right.method,
            left.period,
            right.period,
            special,
            0,
            0,
            0,
        ]
        .map(|byte| byte & 0x7f)
    }
}

/// A text of 8 ASCII characters, with an optional beep.
///
/// ```
/// use kiebitz_protocol::ClockText;
///
/// assert_eq!(ClockText::new("Nf3", 0).as_str(), "Nf3     ");
/// assert_eq!(ClockText::new("König e2-e4", 3).as_str(), "K?nig e2");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClockText {
    characters: [u8; 8],
    beep: u8,
}

impl ClockText {
    /// Returns a clock text with the first 8 characters of `text`, padded with spaces. Characters outside
    /// ASCII become `?`.
    ///
    /// `beep` is the length of a beep in units of 62.5 ms; 0 means no beep, values above 15 become 15.
    pub fn new(text: &str, beep: u8) -> Self {
        let mut characters = [b' '; 8];
        for (place, character) in characters.iter_mut().zip(text.chars()) {
            *place = u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(b'?');
        }
        Self {
            characters,
            beep: beep.min(15),
        }
    }

    /// Returns the text, always 8 characters.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.characters).unwrap_or_default()
    }

    /// Returns the length of the beep in units of 62.5 ms, 0 to 127.
    pub const fn beep(&self) -> u8 {
        self.beep
    }

    pub(crate) fn from_wire(wire: [u8; 9]) -> Self {
        let [characters @ .., beep] = wire.map(|byte| byte & 0x7f);
        Self { characters, beep }
    }

    pub(crate) fn to_wire(self) -> [u8; 9] {
        let mut wire = [self.beep; 9];
        wire[..8].copy_from_slice(&self.characters);
        wire
    }
}

const NO_BEEP: u8 = 0x01;
const BEEP: u8 = 0x02;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_encoded_in_the_order_of_the_clock() {
        let segments = Segments {
            digits: [1, 2, 3, 4, 5, 6],
            marks: 0x12,
            beep: true,
        };
        assert_eq!(segments.to_wire(), [3, 2, 1, 6, 5, 4, 0x12, 0x03]);
        assert_eq!(Segments::from_wire(segments.to_wire()), segments);
        assert_eq!(Segments::default().to_wire()[7], 0x01);
    }

    #[test]
    fn icons_round_trip() {
        let half = |method, period| SideIcons { method, period };
        let icons = Icons {
            left: half(1, 2),
            right: half(0x40, 0x20),
            special: 0x41,
        };
        assert_eq!(icons.to_wire(), [1, 0x40, 2, 0x20, 0x41, 0, 0, 0]);
        assert_eq!(Icons::from_wire(icons.to_wire()), icons);
    }

    #[test]
    fn text_round_trips_with_its_beep() {
        let text = ClockText::new("e2-e4", 99);
        assert_eq!(text.beep(), 15);
        assert_eq!(ClockText::from_wire(text.to_wire()), text);
    }
}
