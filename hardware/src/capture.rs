//! Captures: files with the traffic of serial lines.
//!
//! A capture is a standard pcapng file, which Wireshark also reads.
//!
//! | element of the file | meaning |
//! | --- | --- |
//! | interface of link type 147 (`USER0`) | a serial port in one mode; `if_name` is the name of the port or board |
//! | `if_description` | `bus` in bus mode, `probe` during a probe, otherwise absent |
//! | enhanced packet | a chunk that was read or written, as raw bytes; `epb_flags` give the direction |
//! | empty packet with the comment `open` or `close: reason` | the port was opened or closed |
//! | empty packet with the comment `clock: +3600.000000 s` | the host's clock was changed by this amount |
//!
//! A file that is truncated at any point is valid up to its last complete block.
//!
//! ```
//! use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Content, Direction, Interface, LineMode};
//! use kiebitz_hardware::Timestamp;
//!
//! let now = Timestamp::from_micros(1_789_000_000_000_000);
//! let mut writer = CaptureWriter::new(Vec::new())?;
//! let board = writer.add_interface(&Interface { name: "board-1".to_owned(), mode: LineMode::Single })?;
//! writer.write_opened(now, board)?;
//! writer.write_bytes(now, board, Direction::Outbound, &[0x4d])?;
//!
//! let file = writer.into_inner();
//! let mut reader = CaptureReader::new(file.as_slice())?;
//! while let Some(packet) = reader.next_packet()? {
//!     match packet.content {
//!         Content::Opened => assert_eq!(reader.interfaces()[packet.interface].name, "board-1"),
//!         Content::Bytes { direction, bytes } => {
//!             assert_eq!((direction, bytes.as_slice()), (Direction::Outbound, &[0x4d][..]));
//!         }
//!         Content::Closed { .. } | Content::ClockSet { .. } => unreachable!(),
//!     }
//! }
//! assert_eq!(reader.truncated(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The blocks are decoded with pcap_parser, but its reader is not used: it mistakes a block with a wrong inner length in
// the middle of a file for the end of the file, drops the cause of failed reads, and fails on damage in blocks that
// captures do not need. Its writer, needed for only three kinds of block, would add an executor to the dependencies.

use core::fmt;
use std::io;

use thiserror::Error;

use crate::time::Timestamp;

mod reader;
mod writer;

pub use reader::CaptureReader;
pub use writer::CaptureWriter;

/// The direction of a chunk.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Direction {
    /// From the board to the host.
    Inbound,
    /// From the host to the board.
    Outbound,
}

/// The mode of a serial line.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum LineMode {
    /// Single-board mode: one board on the line.
    Single,
    /// Bus mode: several boards may share the line.
    Bus,
    /// The mode is not known yet, because a probe is running. The traffic of a probe gives no observations.
    Unknown,
}

/// A serial port in a capture, in one mode.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Interface {
    /// Name of the port or board; empty if the capture has no name.
    pub name: String,
    /// Mode of the line.
    pub mode: LineMode,
}

/// An entry of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Packet {
    /// Time of the entry.
    pub at: Timestamp,
    /// The port: an index into [`CaptureReader::interfaces`], or an index from [`CaptureWriter::add_interface`].
    pub interface: usize,
    /// Offset of the packet's block in bytes from the start of the file. Ignored when writing.
    pub offset: u64,
    /// Content of the entry.
    pub content: Content,
}

/// The content of an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Content {
    /// A chunk was read or written.
    Bytes {
        /// Direction of the chunk.
        direction: Direction,
        /// Raw bytes: a part of a message, one message, or several.
        bytes: Vec<u8>,
    },
    /// The port was opened.
    Opened,
    /// The port was closed or disappeared.
    Closed {
        /// The reason; empty if the capture has no reason.
        reason: String,
    },
    /// The host's clock was changed.
    ClockSet {
        /// Change in microseconds. A positive change also advances the timestamps that follow; a negative change does
        /// not move them back, because timestamps never decrease.
        micros: i64,
    },
}

/// Why a capture cannot be read.
///
/// A truncated file is not an error; see [`CaptureReader::truncated`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A block is inconsistent in itself or with earlier blocks.
    #[error("corrupt capture: at byte {offset}, {fault}")]
    Corrupt {
        /// Offset of the block in bytes from the start of the file.
        offset: u64,
        /// The fault of the block.
        fault: Fault,
    },
    /// The file could not be read.
    #[error("the capture cannot be read")]
    Io(#[from] io::Error),
    /// The file is not in the pcapng format.
    #[error("not a capture: {looks_like}")]
    NotACapture {
        /// Likely kind of the file.
        looks_like: FileKind,
    },
    /// The file is in the pcapng format, but its interface is not a serial port.
    #[error("interface \"{name}\" has link type {link_type}; serial lines have {LINK_TYPE} (USER0)")]
    UnsupportedLinkType {
        /// Offset of the interface's block in bytes from the start of the file.
        offset: u64,
        /// The interface's `if_name`.
        name: String,
        /// Link type of the interface, from the registry at tcpdump.org; 1 is Ethernet.
        link_type: u16,
    },
    /// The file has an unsupported version of the pcapng format.
    #[error("pcapng version {major}.{minor} is not supported, only 1.x is")]
    UnsupportedVersion {
        /// Offset of the section in bytes from the start of the file.
        offset: u64,
        /// Major version of the section.
        major: u16,
        /// Minor version of the section.
        minor: u16,
    },
}

/// A fault of a block in a capture.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The length of the block is below the minimum, above the maximum (16 MiB), or not a multiple of four.
    BlockLength(u32),
    /// A section begins without a byte-order mark.
    ByteOrder,
    /// The contents of the block do not match its length.
    Contents {
        /// Type of the block, from the pcapng specification.
        block_type: u32,
    },
    /// The lengths at the start and the end of the block differ.
    LengthsDiffer {
        /// Length at the start.
        first: u32,
        /// Length at the end.
        last: u32,
    },
    /// The file describes more than 1,024 interfaces.
    TooManyInterfaces,
    /// A packet belongs to an interface that its section does not describe.
    UnknownInterface(u32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BlockLength(length) => write!(f, "a block cannot have length {length}"),
            Self::ByteOrder => write!(f, "a section begins without a byte-order mark"),
            Self::Contents { block_type } => {
                write!(
                    f,
                    "the contents of a block of type {block_type:#x} do not fit its length"
                )
            }
            Self::LengthsDiffer { first, last } => {
                write!(f, "a block has length {first} at its start and {last} at its end")
            }
            Self::TooManyInterfaces => write!(f, "there are more than {MAX_INTERFACES} interfaces"),
            Self::UnknownInterface(id) => write!(f, "a packet belongs to interface {id}, which is unknown"),
        }
    }
}

/// The likely kind of a file that is not a capture.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FileKind {
    /// A pcap file of the older format.
    ClassicPcap,
    /// A file compressed with gzip, bzip2, xz, Zip or Zstandard.
    Compressed,
    /// A file without any bytes.
    Empty,
    /// Binary data of an unknown kind.
    Other,
    /// Games in PGN.
    Pgn,
    /// Other text.
    Text,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClassicPcap => "the file is in the older pcap format (editcap -F pcapng converts it)",
            Self::Compressed => "the file is compressed (unpack it first)",
            Self::Empty => "the file is empty",
            Self::Other => "the file does not begin as pcapng files do",
            Self::Pgn => "the file looks like games in PGN",
            Self::Text => "the file looks like text",
        })
    }
}

/// Link type `USER0`, reserved for private use.
const LINK_TYPE: u16 = 147;

/// Maximum length of a block in bytes.
const MAX_BLOCK: u32 = 16 << 20;

/// Maximum number of interfaces in a capture. Limits the memory of a reader.
const MAX_INTERFACES: usize = 1024;

/// Resolution of timestamps as a negative power of ten. Default of pcapng.
const MICROSECONDS: u8 = 6;

const OPT_END: u16 = 0;
const OPT_COMMENT: u16 = 1;
const EPB_FLAGS: u16 = 2;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;

const FLAGS_INBOUND: u32 = 1;
const FLAGS_OUTBOUND: u32 = 2;
const FLAGS_DIRECTION: u32 = 3;

const DESCRIPTION_BUS: &str = "bus";
const DESCRIPTION_PROBE: &str = "probe";
const COMMENT_OPEN: &str = "open";
const COMMENT_CLOSE: &str = "close";
const COMMENT_CLOCK: &str = "clock: ";

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn interfaces() -> impl Strategy<Value = Vec<Interface>> {
        let mode = prop_oneof![
            Just(LineMode::Single),
            Just(LineMode::Bus),
            Just(LineMode::Unknown)
        ];
        vec(
            (".{0,12}", mode).prop_map(|(name, mode)| Interface { name, mode }),
            1..4,
        )
    }

    fn packets() -> impl Strategy<Value = Vec<Packet>> {
        let direction = prop_oneof![Just(Direction::Inbound), Just(Direction::Outbound)];
        let content = prop_oneof![
            4 => (direction, vec(any::<u8>(), 0..80))
                .prop_map(|(direction, bytes)| Content::Bytes { direction, bytes }),
            1 => Just(Content::Opened),
            1 => any::<String>().prop_map(|reason| Content::Closed { reason }),
            1 => any::<i64>().prop_map(|micros| Content::ClockSet { micros }),
        ];
        let packet =
            (any::<i64>(), any::<usize>(), content).prop_map(|(micros, interface, content)| Packet {
                at: Timestamp::from_micros(micros),
                interface,
                offset: 0,
                content,
            });
        vec(packet, 0..12)
    }

    fn block_types() -> impl Strategy<Value = u32> {
        prop_oneof![Just(0x0a0d_0d0a), Just(1), Just(6), any::<u32>()]
    }

    /// Generates captures with their interfaces and packets.
    fn captures() -> impl Strategy<Value = (Vec<Interface>, Vec<Packet>, Vec<u8>)> {
        (interfaces(), packets()).prop_map(|(interfaces, mut packets)| {
            let mut writer = CaptureWriter::new(Vec::new()).unwrap();
            for interface in &interfaces {
                writer.add_interface(interface).unwrap();
            }
            for packet in &mut packets {
                packet.interface %= interfaces.len();
                packet.offset = writer.get_ref().len() as u64;
                writer.write(packet).unwrap();
            }
            (interfaces, packets, writer.into_inner())
        })
    }

    /// Reads a capture to the end, and asserts that further reads return `None`.
    fn exhaust(bytes: &[u8]) {
        if let Ok(mut reader) = CaptureReader::new(bytes) {
            let _errors = reader.by_ref().filter(Result::is_err).count();
            assert!(reader.next_packet().is_ok_and(|packet| packet.is_none()));
            assert!(reader.truncated().is_none_or(|end| end < bytes.len() as u64));
        }
    }

    proptest! {
        #[test]
        fn packets_round_trip((interfaces, packets, file) in captures()) {
            let mut reader = CaptureReader::new(file.as_slice()).unwrap();
            let read: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(read, packets);
            prop_assert_eq!(reader.interfaces(), interfaces);
            prop_assert_eq!(reader.truncated(), None);
        }

        #[test]
        fn a_truncated_capture_gives_a_prefix_of_the_packets((interfaces, packets, file) in captures()) {
            for cut in 1..file.len() {
                let mut reader = CaptureReader::new(&file[..cut]).unwrap();
                let read: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
                prop_assert!(packets.starts_with(&read));
                prop_assert!(interfaces.starts_with(reader.interfaces()));
                // No complete packet is missing, and `truncated` reports the incomplete one.
                let end = reader.truncated().unwrap_or(cut as u64);
                prop_assert!(end <= cut as u64);
                prop_assert!(packets.get(read.len()).is_none_or(|next| next.offset >= end));
            }
        }

        #[test]
        fn a_truncated_capture_can_be_continued_in_a_new_section(
            (_, packets, file) in captures(),
            cut in any::<prop::sample::Index>(),
            (_, more_packets, more) in captures(),
        ) {
            let cut = 1 + cut.index(file.len() - 1);
            let mut reader = CaptureReader::new(&file[..cut]).unwrap();
            let kept = reader.by_ref().count();
            let end = reader.truncated().map_or(cut, |end| end as usize);
            let joined = [&file[..end], &more].concat();
            let reader = CaptureReader::new(joined.as_slice()).unwrap();
            let read: Vec<Packet> = reader.map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), kept + more_packets.len());
            prop_assert_eq!(&read[..kept], &packets[..kept]);
            for (read, written) in read[kept..].iter().zip(&more_packets) {
                prop_assert_eq!(&read.content, &written.content);
                prop_assert_eq!(read.offset, written.offset + end as u64);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
            exhaust(&bytes);
            // Precede the bytes with a section header, so that reading does not fail immediately.
            exhaust(&[CaptureWriter::new(Vec::new()).unwrap().into_inner(), bytes].concat());
        }

        #[test]
        fn damaged_captures_never_panic(
            (_, _, mut file) in captures(),
            damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            for (place, byte) in damage {
                let place = place.index(file.len());
                file[place] = byte;
            }
            exhaust(&file);
        }

        #[test]
        fn complete_blocks_with_arbitrary_contents_never_panic(
            blocks in vec((block_types(), vec(any::<u8>(), 0..60)), 1..8),
            big_endian in any::<bool>(),
        ) {
            let word = |word: u32| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
            let mut file = CaptureWriter::new(Vec::new()).unwrap().into_inner();
            if big_endian {
                file[8..12].reverse();
                file[4..8].reverse();
                file[12..14].reverse();
                file[24..28].reverse();
            }
            for (block_type, mut body) in blocks {
                body.resize(body.len().next_multiple_of(4), 0);
                let length = word(body.len() as u32 + 12);
                file.extend([&word(block_type), &length, body.as_slice(), &length].concat());
            }
            exhaust(&file);
        }
    }
}
