//! Decodes the bytes of pairing files: UTF-8, UTF-16 with a byte order mark, or Windows-1252.

use std::borrow::Cow;

use kiebitz_game::command::marks;

use super::ReadError;
use super::doubt::FileError;
use crate::text_file::{self, NoText, UTF16_MARKS};

/// Decodes text and ends each line with a single line feed. Text in UTF-8 stays in its memory, as each copy of a large file
/// takes 8 MB.
///
/// Each line is decoded on its own, because files are often joined from files in different encodings. A line that is
/// not UTF-8 is read as Windows-1252, a superset of Latin-1.
///
/// # Errors
///
/// Fails if the bytes are not text, or UTF-16 without a byte order mark.
pub(super) fn decoded(mut bytes: Vec<u8>) -> Result<String, NoText> {
    match utf16(&bytes) {
        Some(text) => bytes = text.into_bytes(),
        None => {
            let mark = bytes.len() - text_file::in_bytes(&bytes)?.len();
            bytes.drain(..mark);
        }
    }
    // Programs for DOS end a file with this character.
    let ends = bytes.iter().rev().take_while(|byte| **byte == 0x1a).count();
    bytes.truncate(bytes.len() - ends);
    end_lines_with_line_feeds(&mut bytes);
    let mut text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => by_lines(error.as_bytes()),
    };
    marks::remove(&mut text);
    Ok(text)
}

/// Maximum length of a line of a table or a report, in bytes. The fields of a line take many times as much memory as its
/// text.
const MAX_LINE: usize = 64 << 10;

/// Fails if a line of a table or a report is too long.
pub(super) fn check_lines(text: &str, file: &str) -> Result<(), ReadError> {
    match (1..).zip(text.lines()).find(|(_, line)| line.len() > MAX_LINE) {
        Some((number, _)) => Err(FileError::LongLine.at(file, number, 1)),
        None => Ok(()),
    }
}

/// Decodes one line.
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

/// Converts CR LF and CR to LF.
fn end_lines_with_line_feeds(bytes: &mut Vec<u8>) {
    let mut after_return = false;
    bytes.retain_mut(|byte| {
        let is_second = after_return && *byte == b'\n';
        after_return = *byte == b'\r';
        if after_return {
            *byte = b'\n';
        }
        !is_second
    });
}

fn by_lines(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .for_each(|part| text.push_str(&line(part)));
    text
}

fn windows_1252(byte: u8) -> char {
    let special = usize::from(byte).checked_sub(0x80);
    let special = special.and_then(|index| WINDOWS_1252.chars().nth(index));
    special.unwrap_or_else(|| char::from(byte))
}

/// The characters from 0x80 to 0x9F; from 0xA0 on, Windows-1252 equals Latin-1. Unassigned bytes map to the replacement
/// character.
const WINDOWS_1252: &str = "€\u{fffd}‚ƒ„…†‡ˆ‰Š‹Œ\u{fffd}Ž\u{fffd}\u{fffd}‘’“”•–—˜™š›œ\u{fffd}žŸ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_encodings_of_windows_are_decoded() {
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
        let marked = "\u{feff}Müller, Zoë\nKühn, Jürgen\n\u{1a}\u{1a}"
            .as_bytes()
            .to_vec();
        for bytes in [text.as_bytes().to_vec(), latin.to_vec(), le, be, marked] {
            assert_eq!(decoded(bytes).as_deref(), Ok(text));
        }
        assert_eq!(
            decoded(b"\x8aimi\xe6 \x80 \x81".to_vec()).as_deref(),
            Ok("Šimiæ € \u{fffd}")
        );
    }

    #[test]
    fn characters_that_make_names_look_different_are_removed() {
        let text = "Adler\u{202e}, Jo\u{200b}nas\u{2066}\nمی\u{200c}نا\n";
        assert_eq!(
            decoded(text.as_bytes().to_vec()).as_deref(),
            Ok("Adler, Jonas\nمی\u{200c}نا\n")
        );
    }

    #[test]
    fn all_line_ends_become_line_feeds() {
        for (bytes, text) in [
            (&b"a\r\nb\rc\nd"[..], "a\nb\nc\nd"),
            (b"a\n\nb\r\r\r\nc\n\r", "a\n\nb\n\n\nc\n\n"),
            (b"\r\n", "\n"),
            (b"\n\r\n", "\n\n"),
            (b"", ""),
        ] {
            assert_eq!(decoded(bytes.to_vec()).as_deref(), Ok(text), "{bytes:?}");
        }
    }

    #[test]
    fn lines_of_different_encodings_are_decoded() {
        let mixed = b"M\xc3\xbcller\nM\xfcller\n";
        assert_eq!(decoded(mixed.to_vec()).as_deref(), Ok("Müller\nMüller\n"));
    }

    #[test]
    fn binary_files_and_unmarked_utf16_are_refused() {
        assert_eq!(decoded(b"White\0Black".to_vec()), Err(NoText::Binary { line: 1 }));
        let unmarked: Vec<u8> = "White".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(unmarked), Err(NoText::Utf16));
    }
}
