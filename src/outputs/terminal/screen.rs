//! Shows frames in place.

use std::io::{self, Write};

use super::StyledLine;

/// The terminal's alternate screen. Leaving it, also by dropping this value, restores the previous contents.
#[derive(Debug)]
pub struct Screen<W: Write> {
    out: W,
    shown: String,
    is_left: bool,
}

/// Switches to the alternate screen, hides the cursor and disables line wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const HOME: &str = "\x1b[H";
const CLEAR_REST_OF_LINE: &str = "\x1b[K\r\n";
const CLEAR_REST: &str = "\x1b[J";

impl<W: Write> Screen<W> {
    /// Switches the terminal behind `out` to the alternate screen.
    ///
    /// # Errors
    ///
    /// Fails if `out` cannot be written to.
    pub fn enter(mut out: W) -> io::Result<Self> {
        write!(out, "{ENTER}")?;
        out.flush()?;
        Ok(Self {
            out,
            shown: String::new(),
            is_left: false,
        })
    }

    /// Shows a frame, unless it is already on the screen.
    ///
    /// # Errors
    ///
    /// Fails if the terminal is gone.
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

    /// Leaves the alternate screen and prints `lines` below the previous contents.
    ///
    /// # Errors
    ///
    /// Fails if the terminal is gone.
    pub fn leave(mut self, lines: &[StyledLine]) -> io::Result<()> {
        self.restore()?;
        for line in lines {
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()
    }

    fn restore(&mut self) -> io::Result<()> {
        if !core::mem::replace(&mut self.is_left, true) {
            write!(self.out, "{LEAVE}")?;
            self.out.flush()?;
        }
        Ok(())
    }
}

impl<W: Write> Drop for Screen<W> {
    fn drop(&mut self) {
        // Fails if the terminal is gone; nothing is left to restore then.
        let _ = self.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_is_restored_and_no_frame_is_drawn_twice() {
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
    fn last_lines_stay_on_the_main_screen() {
        let mut out = Vec::new();
        let screen = Screen::enter(&mut out).unwrap();
        screen.leave(&[StyledLine::from("mate")]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, format!("{ENTER}{LEAVE}mate\n"));
    }
}
