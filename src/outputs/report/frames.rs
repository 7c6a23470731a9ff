//! Locates evidence in a capture, by the packet numbers of Wireshark and by byte offsets.

use std::io::Read;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureError, CaptureReader, Content, Direction};
use serde::Serialize;

/// A packet of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// Number of the packet, from 1, as Wireshark counts.
    pub number: u64,
    /// Offset of its block in the file, in bytes.
    pub offset: u64,
}

/// A range of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FrameSpan {
    /// First packet.
    pub first: Frame,
    /// Last packet.
    pub last: Frame,
}

/// The inbound packets of a capture: those from boards.
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
    /// Reads a capture, up to the end or the first damage.
    ///
    /// # Errors
    ///
    /// Fails if the file is not a capture.
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

    /// The last inbound packet on a port up to `at`. Considers all ports if `port` is `None` or not in the capture.
    #[must_use]
    pub fn at(&self, port: Option<&str>, at: Timestamp) -> Option<Frame> {
        let mut frames = self.of(port).rev();
        frames
            .find(|inbound| inbound.at <= at)
            .map(|inbound| inbound.frame)
    }

    /// The inbound packets on a port between two times, beginning with the last one up to `from`.
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
