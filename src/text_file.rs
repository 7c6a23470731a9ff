//! Text files that people write, and what to do with one that is no text in UTF-8.

use std::io;
use std::path::Path;

use thiserror::Error;

/// Why a file cannot be read as text. Each is a sentence with the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum NoText {
    #[error("it is a folder: name the file in it")]
    Folder,
    #[error(
        "it is in UTF-16, as some editors under Windows save text: save it as UTF-8, or convert it with \
         `iconv -f UTF-16 -t UTF-8 FILE >NEWFILE`"
    )]
    Utf16,
    #[error(
        "line {line} is not in UTF-8 but perhaps in Latin-1: save the file as UTF-8, or convert it with \
         `iconv -f LATIN1 -t UTF-8 FILE >NEWFILE`"
    )]
    OtherBytes { line: usize },
    #[error("line {line} has a byte 0 in it, as no text has: is this the right file?")]
    Binary { line: usize },
}

/// What editors under Windows put before a text in UTF-8.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
/// What is before a text in UTF-16: little end first, big end first.
pub(crate) const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Reads a file as text. A byte order mark of UTF-8 is no part of it.
///
/// # Errors
///
/// When it cannot be read, is a folder, or is not in UTF-8; the message then says what to do.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, NoText::Folder));
    }
    let bytes = std::fs::read(path)?;
    decoded(&bytes).map_err(|wrong| io::Error::new(io::ErrorKind::InvalidData, wrong))
}

fn decoded(bytes: &[u8]) -> Result<String, NoText> {
    let bytes = in_bytes(bytes)?;
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let line = line_of(bytes, error.valid_up_to());
        NoText::OtherBytes { line }
    })?;
    Ok(text.to_owned())
}

/// A text in UTF-8, or in a character set of one byte a character, without its byte order mark.
///
/// # Errors
///
/// When it is in UTF-16, or is no text.
pub(crate) fn in_bytes(bytes: &[u8]) -> Result<&[u8], NoText> {
    if UTF16_MARKS.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(NoText::Utf16);
    }
    let bytes = bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes);
    match bytes.iter().position(|byte| *byte == 0) {
        None => Ok(bytes),
        Some(_) if is_utf16(bytes) => Err(NoText::Utf16),
        Some(zero) => Err(NoText::Binary {
            line: line_of(bytes, zero),
        }),
    }
}

/// Whether every other byte is 0, but for some letters outside ASCII: UTF-16 without its mark.
fn is_utf16(bytes: &[u8]) -> bool {
    let zeros = |first: usize| {
        let every_other = bytes.iter().skip(first).step_by(2);
        every_other.filter(|byte| **byte == 0).count()
    };
    let (even, odd) = (zeros(0), zeros(1));
    even.min(odd) == 0 && even.max(odd) * 4 > bytes.len()
}

/// The line of a byte, from 1.
fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(bytes: &[u8]) -> Result<String, NoText> {
        decoded(bytes)
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf8_is_read_with_a_mark_and_without() {
        let text = "name = \"Größe\"\n";
        assert_eq!(read_bytes(text.as_bytes()).as_deref(), Ok(text));
        let marked = [UTF8_MARK, text.as_bytes()].concat();
        assert_eq!(read_bytes(&marked).as_deref(), Ok(text));
        assert_eq!(read_bytes(b"").as_deref(), Ok(""));
    }

    #[test]
    fn line_in_latin_1_is_named() {
        let latin = b"[event]\r\n# a comment\r\nname = \"M\xfcnchen\"\r\n";
        assert_eq!(read_bytes(latin), Err(NoText::OtherBytes { line: 3 }));
        let marked = [UTF8_MARK, latin].concat();
        assert_eq!(read_bytes(&marked), Err(NoText::OtherBytes { line: 3 }));
    }

    #[test]
    fn utf16_is_known_with_a_mark_and_without() {
        let text = "[event]\nname = \"Größe ♔\"\n";
        for bytes in [utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes)] {
            assert_eq!(read_bytes(&bytes), Err(NoText::Utf16));
            for mark in UTF16_MARKS {
                assert_eq!(read_bytes(&[mark, &bytes].concat()), Err(NoText::Utf16));
            }
        }
        assert_eq!(
            read_bytes(b"[event]\nname = \0\0\n"),
            Err(NoText::Binary { line: 2 })
        );
    }

    #[test]
    fn folder_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = read(folder.path()).expect_err("a folder is no text");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
        assert_eq!(error.to_string(), "it is a folder: name the file in it");
        let missing = read(&folder.path().join("no")).expect_err("it is not there");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
