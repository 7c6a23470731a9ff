//! Exit codes, and the signals that end the program.

use core::future::Future;
use std::io;
use std::process::ExitCode;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The outcome of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success; also when the reader of the output has closed it early, as `head` does.
    Fine,
    /// A failure that was reported on stderr.
    Failed,
    /// Invalid arguments or an invalid configuration.
    Usage,
    /// Ctrl-C, after an orderly shutdown.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Fine => Self::SUCCESS,
            Exit::Failed => Self::from(1),
            Exit::Usage => Self::from(2),
            // Shell convention: 128 plus the number of SIGINT.
            Exit::Interrupted => Self::from(130),
        }
    }
}

/// The signals that shut the program down in order. They are caught as soon as this value is created.
#[derive(Debug)]
pub(crate) struct Stop {
    interrupt: Signal,
    terminate: Signal,
}

impl Stop {
    /// Starts listening. Must be called within a runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for Ctrl-C or SIGTERM and returns the exit code.
    pub(crate) async fn come(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Fine,
        }
    }

    /// Runs `work` to its end. Returns `Err` if a signal comes first.
    pub(crate) async fn unless_stopped<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Exit> {
        tokio::select! {
            biased;
            exit = self.come() => Err(exit),
            done = work => Ok(done),
        }
    }
}
