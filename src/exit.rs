//! How the program ends, and what ends it.

use core::future::Future;
use std::io;
use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success; also when the reader of the output has closed it early, as `head` does.
    Fine,
    /// Something failed, and stderr says what.
    Failed,
    /// The arguments or the configuration make no sense.
    Usage,
    /// Ended by Ctrl-C, in an orderly way.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            // By the convention of shells: 128 plus the number of SIGINT.
            Exit::Interrupted => Self::from(130),
        }
    }
}

/// The signals after which the program shuts down cleanly. One that comes once this exists is not lost.
#[derive(Debug)]
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// Begins to listen. Must be called within a runtime.
    ///
    /// # Errors
    ///
    /// Fails if the signal handlers cannot be installed.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for Ctrl-C or SIGTERM and returns how the program is to end.
    pub(crate) async fn come(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Fine,
        }
    }

    /// Runs `work` to its end; `Err`: a signal came first.
    pub(crate) async fn unless_stopped<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Exit> {
        tokio::select! {
            biased;
            exit = self.come() => Err(exit),
            done = work => Ok(done),
        }
    }
}
