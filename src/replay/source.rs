//! Where the packets of a replay come from.

use std::io::Read;
use std::path::PathBuf;

use kiebitz_hardware::capture::{CaptureError, CaptureReader, Interface, Packet};

use crate::restart::Recordings;

/// One capture, or the recordings of all ports.
#[derive(Debug)]
pub(super) enum Source<R: Read> {
    Capture(CaptureReader<R>),
    Recordings(Box<Recordings>),
}

impl<R: Read> Source<R> {
    /// The next packet, with the port that it is of.
    ///
    /// # Errors
    ///
    /// When a capture is corrupt from here on. Of recordings, the file that is corrupt is given up.
    pub(super) fn next(&mut self) -> Result<Option<(Interface, Packet)>, CaptureError> {
        let reader = match self {
            Self::Recordings(recordings) => return Ok(recordings.next()),
            Self::Capture(reader) => reader,
        };
        while let Some(packet) = reader.next_packet()? {
            if let Some(port) = reader.interfaces().get(packet.interface) {
                return Ok(Some((port.clone(), packet)));
            }
        }
        Ok(None)
    }

    pub(super) fn truncated(&self) -> Option<u64> {
        match self {
            Self::Capture(reader) => reader.truncated(),
            Self::Recordings(_) => None,
        }
    }

    pub(super) fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        match self {
            Self::Capture(_) => &[],
            Self::Recordings(recordings) => recordings.damaged(),
        }
    }
}
