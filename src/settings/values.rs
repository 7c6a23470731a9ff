//! Values that are written as strings: names and USB ids.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

/// The name of a board or a daemon. Names are used as a level of MQTT topics, in file names and in ids of games.
///
/// ```
/// use kiebitz::config::Name;
///
/// assert!("board-1".parse::<Name>().is_ok());
/// assert!("hall 2/board+1".parse::<Name>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

/// Reason why a name is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// The name is empty.
    #[error("the name is empty")]
    Empty,
    /// The name has more than 64 bytes.
    #[error("the name {name:?} has {} bytes; at most {LONGEST_NAME} are allowed", name.len())]
    TooLong {
        /// The invalid name.
        name: String,
    },
    /// The name contains a character that is not allowed in MQTT topics or file names.
    #[error(
        "the name {name:?} contains {character:?}: names are part of MQTT topics and file names and must not \
         contain spaces or + # / $"
    )]
    Character {
        /// The invalid name.
        name: String,
        /// The first invalid character.
        character: char,
    },
    /// The name begins with a dot, as a hidden file or a relative directory.
    #[error("the name {name:?} begins with a dot, which would hide its files")]
    Hidden {
        /// The invalid name.
        name: String,
    },
}

/// The vendor and product id of a USB device.
///
/// ```
/// use kiebitz::config::UsbId;
///
/// let id: UsbId = "0403:6015".parse()?;
/// assert_eq!((id.vendor, id.product), (0x0403, 0x6015));
/// assert_eq!(id.to_string(), "0403:6015");
/// # Ok::<(), kiebitz::config::NoUsbId>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsbId {
    /// Vendor id.
    pub vendor: u16,
    /// Product id, assigned by the vendor.
    pub product: u16,
}

/// Error of parsing a [`UsbId`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is not a USB id; expected twice four hexadecimal digits, as in \"0403:6015\"; `lsusb` lists them"
)]
pub struct NoUsbId {
    /// The invalid text.
    pub text: String,
}

const LONGEST_NAME: usize = 64;

impl Name {
    /// Returns the name as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        let owned = || name.to_owned();
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        let unfit =
            |c: &char| matches!(c, '+' | '#' | '/' | '\\' | '$') || c.is_whitespace() || c.is_control();
        if let Some(character) = name.chars().find(unfit) {
            return Err(NameError::Character {
                name: owned(),
                character,
            });
        }
        if name.starts_with('.') {
            return Err(NameError::Hidden { name: owned() });
        }
        if name.len() > LONGEST_NAME {
            return Err(NameError::TooLong { name: owned() });
        }
        Ok(Self(owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for UsbId {
    type Err = NoUsbId;

    fn from_str(text: &str) -> Result<Self, NoUsbId> {
        let parts = text.split_once(':');
        let numbers = parts.and_then(|(vendor, product)| Some((four_digits(vendor)?, four_digits(product)?)));
        let (vendor, product) = numbers.ok_or_else(|| NoUsbId {
            text: text.to_owned(),
        })?;
        Ok(Self { vendor, product })
    }
}

impl fmt::Display for UsbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.product)
    }
}

fn four_digits(text: &str) -> Option<u16> {
    // `from_str_radix` would also accept a sign.
    let digits = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(text, 16).ok().filter(|_| digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_a_single_level_of_a_topic() {
        for name in ["board-1", "1", "Brett_7", "tisch.3", "Größe"] {
            assert_eq!(
                name.parse::<Name>().map(|name| name.to_string()),
                Ok(name.to_owned())
            );
        }
        for name in [
            "board 1", "a/b", "board+1", "#", "$SYS", "a\tb", "a\0b", "a\u{a0}b",
        ] {
            assert!(
                matches!(name.parse::<Name>(), Err(NameError::Character { .. })),
                "{name:?}"
            );
        }
        assert_eq!("".parse::<Name>(), Err(NameError::Empty));
        assert!(matches!("..".parse::<Name>(), Err(NameError::Hidden { .. })));
        assert!("a".repeat(LONGEST_NAME).parse::<Name>().is_ok());
        assert!(matches!(
            "a".repeat(LONGEST_NAME + 1).parse::<Name>(),
            Err(NameError::TooLong { .. })
        ));
    }

    #[test]
    fn usb_ids_have_two_parts_of_four_digits() {
        assert_eq!(
            "045B:8111".parse::<UsbId>().map(|id| id.to_string()),
            Ok("045b:8111".to_owned())
        );
        for text in [
            "",
            "0403",
            "403:6015",
            "0403:601",
            "0403:6015:1",
            "+403:6015",
            "0x0403:6015",
            "0403-6015",
        ] {
            assert!(text.parse::<UsbId>().is_err(), "{text:?}");
        }
    }
}
