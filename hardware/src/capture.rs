//! Captures: what went over the serial lines, in a file.
//!
//! A capture is a standard pcapng file that Wireshark reads too. Every serial port is an interface of link
//! type 147 (`USER0`) whose `if_name` is the port or board name and whose `if_description` is `bus` when the
//! port is in bus mode, and `probe` while that is being found out. Every chunk read or written is an enhanced packet with the raw bytes; `epb_flags`
//! give the direction. A packet of length zero with the comment `open` or `close: reason` marks the port
//! coming and going, one with the comment `clock: +3600.000000 s` that the host's clock was set by that. A file that was cut off anywhere is valid up to its last whole block.
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

// Blocks are decoded by pcap_parser. The framing around them is done here: pcap_parser's reader takes a block with a
// wrong inner length in the middle of a file for the file's end, drops the cause of failed reads, and gives up on damage
// in blocks that no capture needs. Its writer would bring in an executor for three kinds of block.

use core::fmt;
use std::io;

use thiserror::Error;

use crate::time::Timestamp;

mod reader;
mod writer;

pub use reader::CaptureReader;
pub use writer::CaptureWriter;

/// Which way a chunk went.
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

/// How a serial port is used.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum LineMode {
    /// One board on the line.
    Single,
    /// Several boards share the line.
    Bus,
    /// Nobody knows yet: a probe is finding out. What goes over the line then is no news of a board.
    Unknown,
}

/// A serial port in a capture.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Interface {
    /// The port or board name; empty when the capture gives none.
    pub name: String,
    /// How the port is used.
    pub mode: LineMode,
}

/// One entry of a capture: a chunk, or the port coming or going.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Packet {
    /// When it happened.
    pub at: Timestamp,
    /// The port: an index into [`CaptureReader::interfaces`], or one from [`CaptureWriter::add_interface`].
    pub interface: usize,
    /// Where the packet's block begins, in bytes from the start of the file. It is of no account in writing.
    pub offset: u64,
    /// What happened.
    pub content: Content,
}

/// What happened on a port.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Content {
    /// A chunk was read or written.
    Bytes {
        /// Which way it went.
        direction: Direction,
        /// The raw bytes: part of a message, one, or several.
        bytes: Vec<u8>,
    },
    /// The port was opened.
    Opened,
    /// The port was closed, or went away.
    Closed {
        /// Why; empty when the capture does not give a reason.
        reason: String,
    },
    /// The host's clock was set, though no time has passed.
    ClockSet {
        /// By so many microseconds: forward, which the timestamps follow from here on, or, negative, back, which they do
        /// not, for they never go back.
        micros: i64,
    },
}

/// Why a capture cannot be read.
///
/// A file that merely ends too early is no error, see [`CaptureReader::truncated`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A block contradicts itself, or what came before it.
    #[error("corrupt capture: at byte {offset}, {fault}")]
    Corrupt {
        /// Where the block begins, in bytes from the start of the file.
        offset: u64,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The file could not be read.
    #[error("the capture cannot be read")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("not a capture: {looks_like}")]
    NotACapture {
        /// What it looks like.
        looks_like: FileKind,
    },
    /// It is a pcapng file, but not of serial ports.
    #[error("interface \"{name}\" has link type {link_type}; serial lines have {LINK_TYPE} (USER0)")]
    UnsupportedLinkType {
        /// Where the interface's block begins, in bytes from the start of the file.
        offset: u64,
        /// The interface's `if_name`.
        name: String,
        /// Its link type, from the registry at tcpdump.org; 1 is Ethernet.
        link_type: u16,
    },
    /// It is a pcapng file of a version this reader does not know.
    #[error("pcapng version {major}.{minor} is not supported, only 1.x is")]
    UnsupportedVersion {
        /// Where the section begins, in bytes from the start of the file.
        offset: u64,
        /// The section's major version.
        major: u16,
        /// The section's minor version.
        minor: u16,
    },
}

/// What is wrong with a block of a capture.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The block's length is less than the least possible, greater than the greatest allowed (16 MiB), or no
    /// multiple of four.
    BlockLength(u32),
    /// A section begins without a byte-order mark.
    ByteOrder,
    /// What is in a block of this type does not fit its length.
    Contents {
        /// The block type, as in the pcapng specification.
        block_type: u32,
    },
    /// The lengths at a block's two ends differ.
    LengthsDiffer {
        /// The length at its start.
        first: u32,
        /// The length at its end.
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

/// What a file that is no capture looks like.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FileKind {
    /// A pcap file of the older format.
    ClassicPcap,
    /// A file compressed with gzip, bzip2, xz, Zip or Zstandard.
    Compressed,
    /// A file without any bytes.
    Empty,
    /// Binary data of no known kind.
    Other,
    /// Games in PGN.
    Pgn,
    /// Text of some other kind.
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

/// Link type `USER0`, free for private use; captures use it for serial lines.
const LINK_TYPE: u16 = 147;

/// Length of the longest block read or written.
const MAX_BLOCK: u32 = 16 << 20;

/// Number of interfaces in a capture that is still plausible; it bounds the memory a reader needs.
const MAX_INTERFACES: usize = 1024;

/// The resolution of timestamps, as a negative power of ten; it holds where an interface has none.
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

    /// A capture of some packets, each on one of the interfaces.
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

    /// Reads to the end, and a little further.
    fn exhaust(bytes: &[u8]) {
        if let Ok(mut reader) = CaptureReader::new(bytes) {
            let _errors = reader.by_ref().filter(Result::is_err).count();
            assert!(reader.next_packet().is_ok_and(|packet| packet.is_none()));
            assert!(reader.truncated().is_none_or(|end| end < bytes.len() as u64));
        }
    }

    proptest! {
        #[test]
        fn what_was_written_is_read((interfaces, packets, file) in captures()) {
            let mut reader = CaptureReader::new(file.as_slice()).unwrap();
            let read: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(read, packets);
            prop_assert_eq!(reader.interfaces(), interfaces);
            prop_assert_eq!(reader.truncated(), None);
        }

        #[test]
        fn a_capture_cut_anywhere_is_a_prefix_of_the_whole((interfaces, packets, file) in captures()) {
            for cut in 1..file.len() {
                let mut reader = CaptureReader::new(&file[..cut]).unwrap();
                let read: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
                prop_assert!(packets.starts_with(&read));
                prop_assert!(interfaces.starts_with(reader.interfaces()));
                // Nothing whole is left out, and what is left out is reported.
                let end = reader.truncated().unwrap_or(cut as u64);
                prop_assert!(end <= cut as u64);
                prop_assert!(packets.get(read.len()).is_none_or(|next| next.offset >= end));
            }
        }

        #[test]
        fn a_cut_capture_continues_in_a_new_section(
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
            // And after a section header, where it is not over at once.
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
        fn whole_blocks_with_senseless_contents_never_panic(
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
