//! Errors and warnings on stderr, with the matching exit code.

use core::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Error;
use kiebitz_hardware::capture::{CaptureError, FileKind};

use crate::{Exit, shown};

/// Prints an error with its causes and, if possible, advice.
pub(super) fn report(error: &Error) -> Exit {
    if is_broken_pipe(error) {
        return Exit::Fine;
    }
    print(&format!("kiebitz: {error:#}"));
    if let Some(advice) = advice(error) {
        print(advice);
    }
    Exit::Failed
}

pub(super) fn warn(path: &Path, text: &dyn Display) {
    print(&format!("kiebitz: {}: {text}", path.display()));
}

/// Prints a note that is neither an error nor a warning.
pub(super) fn note(text: &str) {
    print(text);
}

/// Returns whether the error is a closed output, for example because `head` has ended.
pub(super) fn is_broken_pipe(error: &Error) -> bool {
    let kind = |cause: &io::Error| cause.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref().is_some_and(kind)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|e| e.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}

/// Returns advice on an error whose own text has none.
fn advice(error: &Error) -> Option<&'static str> {
    if let Some(error) = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<CaptureError>())
    {
        return match error {
            CaptureError::NotACapture {
                looks_like: FileKind::Pgn,
            } => Some(
                "A PGN file already contains moves; kiebitz replays the bytes of a board, from a pcapng capture.",
            ),
            CaptureError::NotACapture {
                looks_like: FileKind::Empty,
            } => Some("The recording was stopped before anything was written, or the copy is incomplete."),
            CaptureError::NotACapture {
                looks_like: FileKind::Text | FileKind::Other,
            } => Some("kiebitz replays the bytes of a board, from a pcapng capture of its serial port."),
            CaptureError::Corrupt { .. } => {
                Some("Everything before that byte was replayed. For the rest, try another copy of the file.")
            }
            CaptureError::UnsupportedLinkType { .. } => {
                Some("This capture is of something else, for example of a network.")
            }
            CaptureError::Io(error) if error.kind() == io::ErrorKind::IsADirectory => {
                Some("Name the captures in the directory, as in `kiebitz replay DIRECTORY/*.pcapng`.")
            }
            _ => None,
        };
    }
    let kind = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(io::Error::kind);
    match kind {
        Some(io::ErrorKind::NotFound) => {
            Some("Check the name; a relative path starts from the current directory.")
        }
        Some(io::ErrorKind::PermissionDenied) => Some("This user has no permission; `ls -l` shows who has."),
        _ => None,
    }
}

fn print(text: &str) {
    // Ignore errors: if stderr is closed, nobody reads the message.
    let _ = writeln!(shown::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_broken_pipe_is_not_a_failure() {
        let broken_pipe = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&broken_pipe().into()));
        assert!(is_broken_pipe(
            &Error::from(serde_json::Error::io(broken_pipe())).context("printing")
        ));
        let wrapped: Result<(), _> = Err(broken_pipe()).context("printing");
        assert!(wrapped.is_err_and(|error| is_broken_pipe(&error)));
        assert!(!is_broken_pipe(&io::Error::from(io::ErrorKind::NotFound).into()));
    }

    #[test]
    fn missing_file_comes_with_advice() {
        let missing: Error = io::Error::from(io::ErrorKind::NotFound).into();
        assert!(advice(&missing.context("cannot open game.pcapng")).is_some());
    }
}
