//! Frames shown in place.

use std::io::{self, Write};

use super::StyledLine;

/// The terminal's second screen: what was on the first one is there again afterwards, whatever ends the program in
/// an orderly way.
#[derive(Debug)]
pub struct Screen<W: Write> {
    out: W,
    shown: String,
    given_back: bool,
}

/// Second screen, no cursor, no line wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const CLEAR_REST_OF_LINE: &str = "\x1b[K\r\n";
const CLEAR_REST: &str = "\x1b[J";

impl<W: Write> Screen<W> {
    /// Takes over the terminal that `out` writes to.
    ///
    /// # Errors
    ///
    /// When it cannot be written to.
    pub fn enter(mut out: W) -> io::Result<Self> {
        write!(out, "{ENTER}")?;
        out.flush()?;
        Ok(Self {
            out,
            shown: String::new(),
            given_back: false,
        })
    }

    /// Shows a frame, unless it is what is shown already.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub fn show(&mut self, lines: &[StyledLine]) -> io::Result<()> {
        let lines: Vec<String> = lines.iter().map(StyledLine::to_string).collect();
        let frame = lines.join(CLEAR_REST_OF_LINE);
        if frame != self.shown {
            write!(self.out, "{HOME}{frame}{CLEAR_REST}")?;
            self.out.flush()?;
            self.shown = frame;
        }
        Ok(())
    }

    /// Gives the terminal back and prints lines that stay there.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub fn leave(mut self, lines: &[StyledLine]) -> io::Result<()> {
        self.give_back()?;
        for line in lines {
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()
    }

    fn give_back(&mut self) -> io::Result<()> {
        if !core::mem::replace(&mut self.given_back, true) {
            write!(self.out, "{LEAVE}")?;
            self.out.flush()?;
        }
        Ok(())
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // Nothing can be done about a terminal that is gone.
        let _ = self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_is_given_back_and_nothing_is_drawn_twice() {
        let mut out = Vec::new();
        let lines = [StyledLine::from("one"), StyledLine::from("two")];
        let mut screen = Screen::enter(&mut out).unwrap();
        screen.show(&lines).unwrap();
        screen.show(&lines).unwrap();
        drop(screen);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!("{ENTER}{HOME}one\x1b[K\r\ntwo{CLEAR_REST}{LEAVE}"));
    }

    #[test]
    fn last_lines_stay_on_the_first_screen() {
        let mut out = Vec::new();
        let screen = Screen::enter(&mut out).unwrap();
        screen.leave(&[StyledLine::from("mate")]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!("{ENTER}{LEAVE}mate\n"));
    }
}
