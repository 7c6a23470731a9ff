//! How the program ends.

use std::process::ExitCode;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well; also when the reader of the output has seen enough.
    Fine,
    /// Something failed, and stderr says what.
    Failed,
    /// The arguments make no sense.
    Usage,
    /// Ended by Ctrl-C, in good order.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            // As shells count it: 128 and the number of SIGINT.
            Exit::Interrupted => Self::from(130),
        }
    }
}
