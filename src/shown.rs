//! Text in terminals. Names, serial numbers and recordings may come from anybody, and control characters in them can
//! hide lines, rename the terminal's window or make it send input. They are therefore escaped.
//!
//! All text on stderr is escaped, and text on stdout if that is a terminal; files and pipes get the bytes unchanged.
//! Text with the program's own styles is a [`StyledLine`](crate::outputs::terminal::StyledLine), which escapes the text
//! between the styles, and bypasses [`EscapingWriter`].

use core::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use kiebitz_game::command::marks;

/// Length of the longest character in UTF-8, in bytes.
const LONGEST_CHARACTER: usize = 4;
/// Maximum length of a line of the log, in characters. It may quote what a client has sent.
const LONGEST_LINE: usize = 8000;

/// Escapes control characters as JSON does (`\u001b`), except line breaks and tabs.
#[derive(Debug)]
pub(crate) struct EscapingWriter<W> {
    inner: W,
    escapes: bool,
    /// First bytes of a character whose other bytes have not been written yet.
    incomplete: Vec<u8>,
}

/// Returns a writer to stdout that escapes control characters if stdout is a terminal.
pub(crate) fn stdout() -> EscapingWriter<io::StdoutLock<'static>> {
    let inner = io::stdout().lock();
    let escapes = inner.is_terminal();
    EscapingWriter::new(inner, escapes)
}

/// Returns a writer to stderr that escapes control characters.
pub(crate) fn stderr() -> EscapingWriter<io::StderrLock<'static>> {
    EscapingWriter::new(io::stderr().lock(), true)
}

/// Writes a log with one event per line to stderr. Line breaks in an event are escaped as well.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LogLines;

impl Write for LogLines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(event);
        let mut shown = String::new();
        let mut characters = line.strip_suffix('\n').unwrap_or(&line).chars();
        for character in characters.by_ref().take(LONGEST_LINE) {
            match character {
                '\n' => shown.push_str("\\n"),
                character => push(&mut shown, character),
            }
        }
        if characters.next().is_some() {
            shown.push('…');
        }
        shown.push('\n');
        io::stderr().lock().write_all(shown.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> EscapingWriter<W> {
    /// Creates a writer that passes text on to `inner`, escaped if `escapes` is set.
    pub(crate) fn new(inner: W, escapes: bool) -> Self {
        Self {
            inner,
            escapes,
            incomplete: Vec::new(),
        }
    }
}

impl<W: Write> Write for EscapingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.escapes {
            return self.inner.write(bytes);
        }
        let mut all = core::mem::take(&mut self.incomplete);
        all.extend_from_slice(bytes);
        let end = all.len() - incomplete(&all);
        self.incomplete = all.split_off(end);
        self.inner.write_all(escaped(&all).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let incomplete = core::mem::take(&mut self.incomplete);
        self.inner.write_all(escaped(&incomplete).as_bytes())?;
        self.inner.flush()
    }
}

/// Escapes control characters, except line breaks. Bytes that are not UTF-8 are replaced.
fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for character in String::from_utf8_lossy(bytes).chars() {
        match character {
            '\n' => shown.push('\n'),
            character => push(&mut shown, character),
        }
    }
    shown
}

/// Escapes control characters including line breaks.
pub(crate) fn escaped_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push(&mut shown, character));
    shown
}

fn push(shown: &mut String, character: char) {
    if is_interpreted(character) {
        // Writing to a string never fails.
        let _ = write!(shown, "\\u{:04x}", u32::from(character));
    } else {
        shown.push(character);
    }
}

/// Whether a terminal interprets the character instead of showing it, or the character makes text look like other text.
fn is_interpreted(character: char) -> bool {
    marks::is_mark(character) || (character.is_control() && character != '\t')
}

/// Returns the number of bytes at the end that may be the beginning of a character.
fn incomplete(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(LONGEST_CHARACTER - 1);
    let first = last.clone().position(|byte| byte & 0xc0 != 0x80);
    let Some(before) = first else { return 0 };
    let length = match bytes.iter().rev().nth(before) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    if before + 1 < length { before + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the output for text that is written in pieces of `piece` bytes.
    fn shown(text: &[u8], piece: usize, escapes: bool) -> Vec<u8> {
        let mut writer = EscapingWriter::new(Vec::new(), escapes);
        for piece in text.chunks(piece) {
            writer.write_all(piece).expect("room");
        }
        writer.flush().expect("room");
        writer.inner
    }

    #[test]
    fn control_characters_are_escaped_in_pieces_of_any_length() {
        let text = "Zoë ♔\t𝄞\u{1b}]0;title\u{7}\u{9b}2J\u{7f}\r\n\u{202e}end\0\n";
        let expected = "Zoë ♔\t𝄞\\u001b]0;title\\u0007\\u009b2J\\u007f\\u000d\n\\u202eend\\u0000\n";
        for piece in 1..=text.len() {
            let shown = String::from_utf8(shown(text.as_bytes(), piece, true)).expect("UTF-8");
            assert_eq!(shown, expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn characters_that_make_text_look_like_other_text_are_escaped() {
        let text = "a\u{202e}b\u{2067}c\u{200f}d\u{61c}e\u{200b}f\u{2028}g\u{feff}h\u{e0041}i\u{2060}";
        let expected = "a\\u202eb\\u2067c\\u200fd\\u061ce\\u200bf\\u2028g\\ufeffh\\ue0041i\\u2060";
        assert_eq!(escaped_line(text), expected);
        assert_eq!(escaped(text.as_bytes()), expected);
        for name in ["Zoë", "می\u{200c}نا", "नि\u{200d}क"] {
            assert_eq!(escaped_line(name), name);
        }
    }

    /// Bytes such as 0x9b are control characters in older character sets.
    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        for bytes in [
            &b"a\x9b2Jb"[..],
            b"a\xffb",
            b"a\xe2\x99",
            b"\xf0\x9f\x92",
            b"\xc2",
            b"\x80\x80\x80\x80",
        ] {
            for piece in 1..=bytes.len() {
                let shown = shown(bytes, piece, true);
                let text = String::from_utf8(shown).expect("UTF-8");
                assert!(text.contains('\u{fffd}'), "{text}");
                assert_eq!(text.contains('a'), bytes.contains(&b'a'));
            }
        }
    }

    #[test]
    fn files_and_pipes_get_the_bytes_as_they_are() {
        let bytes = b"\x1b[31m\xff\x9b\r\n";
        for piece in 1..=bytes.len() {
            assert_eq!(shown(bytes, piece, false), bytes);
        }
    }
}
