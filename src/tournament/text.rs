//! Bytes to text, as pairing programs write it: UTF-8, UTF-16 with its mark, else what Windows uses in the West.

use std::borrow::Cow;

use crate::text_file::{self, NoText, UTF16_MARKS};

/// The text, with every line ended by one line feed.
///
/// Each line is read by itself, for files are put together from others: what is no UTF-8 is Windows-1252, which has all
/// of Latin-1.
///
/// # Errors
///
/// When it is no text, or in UTF-16 without the mark that says so.
pub(super) fn decoded(bytes: &[u8]) -> Result<String, NoText> {
    if let Some(text) = utf16(bytes) {
        return Ok(with_line_feeds(&text));
    }
    let lines = text_file::in_bytes(bytes)?.split_inclusive(|byte| matches!(byte, b'\n' | b'\r'));
    let text: String = lines.map(line).collect();
    Ok(with_line_feeds(&text))
}

/// One line.
pub(super) fn line(bytes: &[u8]) -> Cow<'_, str> {
    match core::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| windows_1252(*byte)).collect()),
    }
}

fn utf16(bytes: &[u8]) -> Option<String> {
    let [little, big] = UTF16_MARKS;
    let units = |units: &[u8], unit: fn([u8; 2]) -> u16| {
        let pairs = units.chunks_exact(2);
        let units = pairs.filter_map(|pair| Some(unit(pair.try_into().ok()?)));
        units.collect::<Vec<u16>>()
    };
    let little = bytes
        .strip_prefix(little)
        .map(|rest| units(rest, u16::from_le_bytes));
    let units = little.or_else(|| {
        bytes
            .strip_prefix(big)
            .map(|rest| units(rest, u16::from_be_bytes))
    })?;
    Some(String::from_utf16_lossy(&units))
}

/// CR LF and CR alone become LF. What ended a file under DOS, and marks within files that were put together, go away.
fn with_line_feeds(text: &str) -> String {
    let text = text.trim_end_matches('\u{1a}');
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .replace('\u{feff}', "")
}

fn windows_1252(byte: u8) -> char {
    let special = usize::from(byte).checked_sub(0x80);
    let special = special.and_then(|index| WINDOWS_1252.chars().nth(index));
    special.unwrap_or_else(|| char::from(byte))
}

/// From 0x80; after these 32 it is Latin-1. What has no character there is a replacement character.
const WINDOWS_1252: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_all_that_windows_writes() {
        let text = "Müller, Zoë\nKühn, Jürgen\n";
        let latin = b"M\xfcller, Zo\xeb\r\nK\xfchn, J\xfcrgen\r\n";
        let le: Vec<u8> = "\u{feff}Müller, Zoë\r\nKühn, Jürgen\r\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let be: Vec<u8> = "\u{feff}Müller, Zoë\rKühn, Jürgen\r"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        let marked = "\u{feff}Müller, Zoë\nKühn, Jürgen\n\u{1a}".as_bytes().to_vec();
        for bytes in [text.as_bytes().to_vec(), latin.to_vec(), le, be, marked] {
            assert_eq!(decoded(&bytes).as_deref(), Ok(text));
        }
        assert_eq!(
            decoded(b"\x8aimi\xe6 \x80 \x81").as_deref(),
            Ok("Šimiæ € \u{fffd}")
        );
    }

    #[test]
    fn lines_of_two_character_sets_are_both_read() {
        let mixed = b"M\xc3\xbcller\nM\xfcller\n";
        assert_eq!(decoded(mixed).as_deref(), Ok("Müller\nMüller\n"));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(decoded(b"White\0Black"), Err(NoText::Binary { line: 1 }));
        let unmarked: Vec<u8> = "White".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&unmarked), Err(NoText::Utf16));
    }
}
