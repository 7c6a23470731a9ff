//! The source of a replay's packets.

use std::io::Read;
use std::path::PathBuf;

use kiebitz_hardware::capture::{CaptureError, CaptureReader, Interface, Packet};

use crate::restart::Recordings;

/// One capture, or the recordings of all ports.
#[derive(Debug)]
pub(super) enum ReplaySource<R: Read> {
    Capture {
        reader: Box<CaptureReader<R>>,
        /// The error that ended the capture early, until reported.
        failed: Option<CaptureError>,
    },
    Recordings(Box<Recordings>),
}

impl<R: Read> ReplaySource<R> {
    pub(super) fn capture(reader: CaptureReader<R>) -> Self {
        Self::Capture {
            reader: Box::new(reader),
            failed: None,
        }
    }

    /// Reports once that a capture is corrupt after the last packet. Corrupt recordings are skipped instead. Fails with
    /// the error of the corrupt capture.
    pub(super) fn check(&mut self) -> Result<(), CaptureError> {
        let failed = match self {
            Self::Capture { failed, .. } => failed.take(),
            Self::Recordings(_) => None,
        };
        failed.map_or(Ok(()), Err)
    }

    pub(super) fn truncated(&self) -> Option<u64> {
        match self {
            Self::Capture { reader, .. } => reader.truncated(),
            Self::Recordings(_) => None,
        }
    }

    pub(super) fn damaged(&self) -> &[(PathBuf, CaptureError)] {
        match self {
            Self::Capture { .. } => &[],
            Self::Recordings(recordings) => recordings.damaged(),
        }
    }
}

/// The packets with their ports, up to the corrupt part of a capture.
impl<R: Read> Iterator for ReplaySource<R> {
    type Item = (Interface, Packet);

    fn next(&mut self) -> Option<Self::Item> {
        let (reader, failed) = match self {
            Self::Recordings(recordings) => return recordings.next(),
            Self::Capture { reader, failed } => (reader, failed),
        };
        loop {
            let packet = match reader.next_packet() {
                Ok(packet) => packet?,
                Err(error) => {
                    *failed = Some(error);
                    return None;
                }
            };
            if let Some(port) = reader.interfaces().get(packet.interface) {
                return Some((port.clone(), packet));
            }
        }
    }
}
