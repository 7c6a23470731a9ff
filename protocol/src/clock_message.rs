//! Clock messages, which a host sends to the clock through the board.

mod display;
mod error;
mod set_and_run;

use alloc::vec::Vec;

pub use display::{ClockText, Icons, Segments, SideIcons};
pub use error::ClockMessageError;
pub use set_and_run::{SetAndRun, SetTime};

/// A clock message, the payload of command 0x2b.
///
/// The board answers with the acknowledgement form of BWTIME, but only in update and update-nice modes.
/// Wait 1 to 2 s for the acknowledgement before you send the next clock message.
///
/// The enum is exhaustive, so that an emulator's `match` has to handle every clock message.
///
/// ```
/// use kiebitz_protocol::{ClockMessage, Command};
///
/// let mut bytes = Vec::new();
/// Command::Clock(ClockMessage::Beep { duration: 4 }).encode(&mut bytes);
/// assert_eq!(bytes, [0x2b, 0x04, 0x03, 0x0b, 0x04, 0x00]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum ClockMessage {
    /// Light individual segments of the display (0x01).
    Display(Segments),
    /// Show icons (0x02).
    Icons(Icons),
    /// Return to the display of the times (0x03).
    End,
    /// Request the pressed button (0x08).
    Button,
    /// Request the clock's version (0x09).
    Version,
    /// Set the times and start or stop each side (0x0a). Works in the clock's remote mode only.
    SetAndRun(SetAndRun),
    /// Beep (0x0b).
    Beep {
        /// The duration in units of 64 ms, 0 to 127.
        duration: u8,
    },
    /// Show a text (0x0c). Works on the DGT 3000 only.
    Text(ClockText),
}

impl ClockMessage {
    /// Returns the message's id, which the acknowledgement repeats.
    pub const fn id(&self) -> u8 {
        match self {
            Self::Display(_) => DISPLAY,
            Self::Icons(_) => ICONS,
            Self::End => END,
            Self::Button => BUTTON,
            Self::Version => VERSION,
            Self::SetAndRun(_) => SET_AND_RUN,
            Self::Beep { .. } => BEEP,
            Self::Text(_) => TEXT,
        }
    }

    /// Appends the id and the content, without the frame of the command.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.id());
        match self {
            Self::Display(segments) => out.extend(segments.to_wire()),
            Self::Icons(icons) => out.extend(icons.to_wire()),
            Self::End | Self::Button | Self::Version => {}
            Self::SetAndRun(times) => out.extend(times.to_wire()),
            Self::Beep { duration } => out.push((*duration).min(0x7f)),
            Self::Text(text) => out.extend(text.to_wire()),
        }
    }

    /// Decodes the content of the clock message with this id.
    ///
    /// # Errors
    ///
    /// Returns a [`ClockMessageError`] if the id is unknown, the length is wrong or a time is out of range.
    pub(crate) fn decode(id: u8, content: &[u8]) -> Result<Self, ClockMessageError> {
        let wrong_length = ClockMessageError::WrongLength {
            id,
            length: content.len(),
        };
        match id {
            DISPLAY => content
                .try_into()
                .map(|wire| Self::Display(Segments::from_wire(wire))),
            ICONS => content.try_into().map(|wire| Self::Icons(Icons::from_wire(wire))),
            END => <[u8; 0]>::try_from(content).map(|[]| Self::End),
            BUTTON => <[u8; 0]>::try_from(content).map(|[]| Self::Button),
            VERSION => <[u8; 0]>::try_from(content).map(|[]| Self::Version),
            SET_AND_RUN => {
                let wire = content.try_into().map_err(|_| wrong_length)?;
                return SetAndRun::from_wire(wire).map(Self::SetAndRun);
            }
            BEEP => <[u8; 1]>::try_from(content).map(|[duration]| Self::Beep { duration }),
            TEXT => content
                .try_into()
                .map(|wire| Self::Text(ClockText::from_wire(wire))),
            _ => return Err(ClockMessageError::UnknownId { id }),
        }
        .map_err(|_| wrong_length)
    }
}

const DISPLAY: u8 = 0x01;
const ICONS: u8 = 0x02;
const END: u8 = 0x03;
const BUTTON: u8 = 0x08;
const VERSION: u8 = 0x09;
const SET_AND_RUN: u8 = 0x0a;
const BEEP: u8 = 0x0b;
const TEXT: u8 = 0x0c;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_of_a_wrong_length_is_refused() {
        assert_eq!(ClockMessage::decode(END, &[]), Ok(ClockMessage::End));
        let error = ClockMessageError::WrongLength { id: END, length: 1 };
        assert_eq!(ClockMessage::decode(END, &[0]), Err(error));
        let error = ClockMessageError::WrongLength {
            id: SET_AND_RUN,
            length: 6,
        };
        assert_eq!(ClockMessage::decode(SET_AND_RUN, &[0; 6]), Err(error));
    }

    #[test]
    fn an_unknown_id_is_reported() {
        assert_eq!(
            ClockMessage::decode(0x0d, &[]),
            Err(ClockMessageError::UnknownId { id: 0x0d })
        );
    }
}
