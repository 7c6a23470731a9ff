//! Where in a capture something is: by the number that Wireshark gives the packet, and by its byte.

use std::io::Read;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureError, CaptureReader, Content, Direction};
use serde::Serialize;

/// A packet of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// Its number, from 1, as Wireshark counts.
    pub number: u64,
    /// Where its block begins, in bytes from the start of the file.
    pub offset: u64,
}

/// A part of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FrameSpan {
    /// Its first packet.
    pub first: Frame,
    /// Its last packet.
    pub last: Frame,
}

/// The packets of a capture that came from boards.
#[derive(Debug, Clone, Default)]
pub struct Frames {
    ports: Vec<String>,
    inbound: Vec<Inbound>,
}

#[derive(Debug, Clone, Copy)]
struct Inbound {
    at: Timestamp,
    port: usize,
    frame: Frame,
}

impl Frames {
    /// Those of a capture, as far as it can be read.
    ///
    /// # Errors
    ///
    /// When it is no capture. One that is damaged later on counts up to the damage.
    pub fn read(capture: impl Read) -> Result<Self, CaptureError> {
        let mut reader = CaptureReader::new(capture)?;
        let mut inbound = Vec::new();
        let mut number = 0;
        while let Ok(Some(packet)) = reader.next_packet() {
            number += 1;
            if let Content::Bytes {
                direction: Direction::Inbound,
                ..
            } = packet.content
            {
                let frame = Frame {
                    number,
                    offset: packet.offset,
                };
                inbound.push(Inbound {
                    at: packet.at,
                    port: packet.interface,
                    frame,
                });
            }
        }
        let ports = reader.interfaces().iter().map(|port| port.name.clone()).collect();
        Ok(Self { ports, inbound })
    }

    /// The packet on a port that was the last to come in up to `at`. A port that the capture does not know is any.
    #[must_use]
    pub fn at(&self, port: Option<&str>, at: Timestamp) -> Option<Frame> {
        let mut frames = self.of(port).rev();
        frames
            .find(|inbound| inbound.at <= at)
            .map(|inbound| inbound.frame)
    }

    /// The packets on a port from one time to another, the one that brought what was there at `from` included.
    #[must_use]
    pub fn between(&self, port: Option<&str>, from: Timestamp, to: Timestamp) -> Option<FrameSpan> {
        let last = self.at(port, to)?;
        let first = self.at(port, from.min(to)).unwrap_or(last);
        Some(FrameSpan { first, last })
    }

    fn of(&self, port: Option<&str>) -> impl DoubleEndedIterator<Item = &Inbound> {
        let port = port.and_then(|name| self.ports.iter().position(|port| port == name));
        self.inbound
            .iter()
            .filter(move |inbound| port.is_none_or(|port| inbound.port == port))
    }
}
