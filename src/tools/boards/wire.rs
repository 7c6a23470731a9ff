//! An open port, and what ends the program that uses it.

use core::time::Duration;
use std::io;
use std::path::Path;

use kiebitz_hardware::port::{PortError, SerialPort};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::signal::unix::{SignalKind, signal};

use crate::Exit;

/// An open port with room for what comes from it.
#[derive(Debug)]
pub(crate) struct Wire {
    port: SerialPort,
    buffer: Vec<u8>,
}

impl Wire {
    /// # Errors
    ///
    /// Those of [`SerialPort::open`].
    pub(crate) fn open(device: &Path) -> Result<Self, PortError> {
        let port = SerialPort::open(device)?;
        let buffer = vec![0; ROOM];
        Ok(Self { port, buffer })
    }

    /// What comes next. Nothing is lost when it is no longer waited for.
    ///
    /// # Errors
    ///
    /// When the port is gone, with a reason for people.
    pub(crate) async fn read(&mut self) -> io::Result<&[u8]> {
        let read = self.port.read(&mut self.buffer).await?;
        Ok(self.buffer.get(..read).unwrap_or_default())
    }

    /// Writes all of it.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), and when the port takes nothing any more.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match tokio::time::timeout(TAKES_WITHIN, self.port.write_all(bytes)).await {
            Ok(written) => written,
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the port takes no bytes")),
        }
    }
}

/// Waits until somebody ends the program, by Ctrl-C or in good order from outside.
///
/// # Errors
///
/// When signals cannot be waited for.
pub(crate) async fn ended() -> io::Result<Exit> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| Exit::Interrupted),
        _ = terminated.recv() => Ok(Exit::Fine),
    }
}

/// More than a converter hands over at once.
const ROOM: usize = 4096;
/// A command has 14 bytes at most, which are 15 ms on the line.
const TAKES_WITHIN: Duration = Duration::from_secs(2);
