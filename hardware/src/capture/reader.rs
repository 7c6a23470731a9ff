//! Reading captures.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use pcap_parser::{
    BOM_MAGIC, EPB_MAGIC, EnhancedPacketBlock, IDB_MAGIC, InterfaceDescriptionBlock, PcapNGOption, SHB_MAGIC,
    parse_enhancedpacketblock_be, parse_enhancedpacketblock_le, parse_interfacedescriptionblock_be,
    parse_interfacedescriptionblock_le, parse_sectionheaderblock,
};

use super::{
    COMMENT_CLOSE, COMMENT_OPEN, CaptureError, Content, DESCRIPTION_BUS, Direction, EPB_FLAGS,
    FLAGS_DIRECTION, FLAGS_OUTBOUND, Fault, FileKind, IF_DESCRIPTION, IF_NAME, IF_TSOFFSET, IF_TSRESOL,
    Interface, LINK_TYPE, LineMode, MAX_BLOCK, MAX_INTERFACES, MICROSECONDS, OPT_COMMENT, OPT_END, Packet,
};
use crate::time::Timestamp;

/// Reads a capture, packet by packet.
///
/// It reads ahead in pieces of its own, so `input` needs no buffer, and holds no more than one block, of at
/// most 16 MiB, and the list of interfaces. Blocks and options that mean nothing to captures are skipped.
///
/// As an iterator it gives the results of [`next_packet`](Self::next_packet). After an error, as after the
/// last packet, there are no more packets.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: BufReader<R>,
    /// What has been read of the current block.
    block: Vec<u8>,
    /// Where the current block begins.
    offset: u64,
    interfaces: Vec<Interface>,
    /// For each interface, the last section that described it.
    described_in: Vec<u64>,
    section: Section,
    ended: bool,
    truncated: Option<u64>,
}

impl<R: Read> CaptureReader<R> {
    /// Begins to read a capture.
    ///
    /// # Errors
    ///
    /// [`NotACapture`](CaptureError::NotACapture) when the input does not begin as pcapng files do, and those
    /// of [`next_packet`](Self::next_packet).
    pub fn new(input: R) -> Result<Self, CaptureError> {
        let mut reader = Self {
            input: BufReader::with_capacity(READ_AHEAD, input),
            block: Vec::new(),
            offset: 0,
            interfaces: Vec::new(),
            described_in: Vec::new(),
            section: Section {
                number: 0,
                byte_order: ByteOrder::Little,
                lines: Vec::new(),
            },
            ended: false,
            truncated: None,
        };
        reader.fill(LEAST_BLOCK)?;
        let signature = SHB_MAGIC.to_le_bytes();
        let begins_well = match reader.block.get(8..LEAST_BLOCK) {
            Some(mark) => reader.block.starts_with(&signature) && ByteOrder::from_mark(mark).is_some(),
            None => {
                let known = reader.block.len().min(4);
                known > 0 && reader.block[..known] == signature[..known]
            }
        };
        if !begins_well {
            reader.fill(SNIFFED)?;
            return Err(CaptureError::NotACapture {
                looks_like: sniff(&reader.block),
            });
        }
        if reader.read_block()? {
            reader.take_block()?;
        }
        Ok(reader)
    }

    /// The next packet, or `None` at the end of the capture; [`truncated`](Self::truncated) then tells
    /// whether the file was cut off there.
    ///
    /// A packet without a direction counts as inbound. Of a packet that the capturing program shortened,
    /// there is what was kept.
    ///
    /// # Errors
    ///
    /// When the input fails or is damaged, or is a capture of something else than serial lines. All packets
    /// before that place have been given out.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, CaptureError> {
        let result = self.advance();
        if result.is_err() {
            self.ended = true;
        }
        result
    }

    /// All ports described so far; it grows while reading, and indices stay valid.
    ///
    /// A capture may have several sections, when a recorder was started again. A port that was in an earlier
    /// section, by name and mode, keeps its index.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Where the file's last whole block ends, in bytes from its start, if more follows that is no whole
    /// block. `None` when the file is complete, or its end has not been reached yet.
    ///
    /// A file ends like this after a loss of power: in the middle of a block, or filled up with zeros.
    pub fn truncated(&self) -> Option<u64> {
        self.truncated
    }

    fn advance(&mut self) -> Result<Option<Packet>, CaptureError> {
        while self.read_block()? {
            if let Some(packet) = self.take_block()? {
                return Ok(Some(packet));
            }
        }
        Ok(None)
    }

    /// Reads on until the current block is whole; `false` when there is none any more.
    fn read_block(&mut self) -> Result<bool, CaptureError> {
        if self.ended {
            return Ok(false);
        }
        self.fill(LEAST_BLOCK)?;
        if self.block.len() < LEAST_BLOCK {
            return Ok(self.end(!self.block.is_empty()));
        }
        if self.block_type() == SHB_MAGIC {
            let Some(byte_order) = ByteOrder::from_mark(&self.block[8..]) else {
                return self.end_or(Fault::ByteOrder);
            };
            self.section.byte_order = byte_order;
        }
        let length = self.word_at(4);
        let size = length as usize;
        if size < LEAST_BLOCK || length > MAX_BLOCK || !length.is_multiple_of(4) {
            return self.end_or(Fault::BlockLength(length));
        }
        self.fill(size)?;
        if self.block.len() < size {
            return Ok(self.end(true));
        }
        let last = self.word_at(size - 4);
        if last != length {
            return self.end_or(Fault::LengthsDiffer { first: length, last });
        }
        Ok(true)
    }

    /// Evaluates the current block, which is whole, and goes on to the next.
    fn take_block(&mut self) -> Result<Option<Packet>, CaptureError> {
        let packet = match self.block_type() {
            SHB_MAGIC => self.begin_section().map(|()| None),
            IDB_MAGIC => self.add_interface().map(|()| None),
            EPB_MAGIC => self.packet().map(Some),
            _ => Ok(None),
        }?;
        self.offset += self.block.len() as u64;
        self.block.clear();
        Ok(packet)
    }

    fn begin_section(&mut self) -> Result<(), CaptureError> {
        let (_, header) = parse_sectionheaderblock(&self.block).map_err(|_| self.misfit())?;
        let (major, minor) = (header.major_version, header.minor_version);
        if major != 1 {
            return Err(CaptureError::UnsupportedVersion {
                offset: self.offset,
                major,
                minor,
            });
        }
        self.section.number += 1;
        self.section.lines.clear();
        Ok(())
    }

    fn add_interface(&mut self) -> Result<(), CaptureError> {
        let description = match self.section.byte_order {
            ByteOrder::Big => parse_interfacedescriptionblock_be(&self.block),
            ByteOrder::Little => parse_interfacedescriptionblock_le(&self.block),
        };
        let (_, description) = description.map_err(|_| self.misfit())?;
        let ticks = Ticks::of(&description, self.section.byte_order);
        let name = option(&description.options, IF_NAME)
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        let mode = match option(&description.options, IF_DESCRIPTION) {
            Some(text) if text == DESCRIPTION_BUS.as_bytes() => LineMode::Bus,
            _ => LineMode::Single,
        };
        let (name, link_type) = (name.into_owned(), description.linktype.0 as u16);
        if link_type != LINK_TYPE {
            return Err(CaptureError::UnsupportedLinkType {
                offset: self.offset,
                name,
                link_type,
            });
        }
        let interface = self.index_of(Interface { name, mode })?;
        self.section.lines.push(Line { interface, ticks });
        Ok(())
    }

    /// The index of an interface of this section: that of its namesake in an earlier one, or a new one.
    fn index_of(&mut self, interface: Interface) -> Result<usize, CaptureError> {
        let section = self.section.number;
        let known = self.interfaces.iter().zip(&self.described_in);
        let index = known
            .into_iter()
            .position(|(known, in_section)| *in_section < section && *known == interface);
        if let Some(index) = index {
            self.described_in[index] = section;
            return Ok(index);
        }
        if self.interfaces.len() >= MAX_INTERFACES {
            return Err(self.corrupt(Fault::TooManyInterfaces));
        }
        self.interfaces.push(interface);
        self.described_in.push(section);
        Ok(self.interfaces.len() - 1)
    }

    fn packet(&self) -> Result<Packet, CaptureError> {
        let packet = match self.section.byte_order {
            ByteOrder::Big => parse_enhancedpacketblock_be(&self.block),
            ByteOrder::Little => parse_enhancedpacketblock_le(&self.block),
        };
        let (_, packet) = packet.map_err(|_| self.misfit())?;
        let line = self.section.lines.get(packet.if_id as usize);
        let line = line.ok_or_else(|| self.corrupt(Fault::UnknownInterface(packet.if_id)))?;
        Ok(Packet {
            at: line.ticks.timestamp(packet.ts_high, packet.ts_low),
            interface: line.interface,
            offset: self.offset,
            content: content(&packet, self.section.byte_order).ok_or_else(|| self.misfit())?,
        })
    }

    /// Ends the reading, in the middle of a block if `truncated`.
    fn end(&mut self, truncated: bool) -> bool {
        self.ended = true;
        self.truncated = truncated.then_some(self.offset);
        false
    }

    /// Ends the reading when the block breaks off in zeros that fill the rest of the file, as they do where a
    /// file system had no time to write the data; otherwise it is corrupt.
    fn end_or(&mut self, fault: Fault) -> Result<bool, CaptureError> {
        if self.block.ends_with(&[0; 4]) && self.rest_is_zero()? {
            return Ok(self.end(true));
        }
        Err(self.corrupt(fault))
    }

    fn rest_is_zero(&mut self) -> Result<bool, CaptureError> {
        loop {
            let piece = match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                piece => piece?,
            };
            if piece.is_empty() {
                return Ok(true);
            }
            if piece.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            let length = piece.len();
            self.input.consume(length);
        }
    }

    /// Reads until there are `size` bytes of the current block, or the file ends. Memory grows with what is
    /// really there.
    fn fill(&mut self, size: usize) -> Result<(), CaptureError> {
        let missing = size.saturating_sub(self.block.len());
        self.input
            .by_ref()
            .take(missing as u64)
            .read_to_end(&mut self.block)?;
        Ok(())
    }

    fn block_type(&self) -> u32 {
        self.word_at(0)
    }

    /// The word at `position` in the current block, which is that long.
    fn word_at(&self, position: usize) -> u32 {
        self.section
            .byte_order
            .u32(&self.block[position..])
            .unwrap_or_default()
    }

    fn misfit(&self) -> CaptureError {
        self.corrupt(Fault::Contents {
            block_type: self.block_type(),
        })
    }

    fn corrupt(&self, fault: Fault) -> CaptureError {
        CaptureError::Corrupt {
            offset: self.offset,
            fault,
        }
    }
}

impl<R: Read> Iterator for CaptureReader<R> {
    type Item = Result<Packet, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_packet().transpose()
    }
}

/// What holds from one section header to the next.
#[derive(Debug)]
struct Section {
    /// Counted from 1.
    number: u64,
    byte_order: ByteOrder,
    /// What the section's own interface numbers stand for.
    lines: Vec<Line>,
}

/// An interface as a section describes it.
#[derive(Debug)]
struct Line {
    /// Its index in the whole capture.
    interface: usize,
    ticks: Ticks,
}

#[derive(Copy, Clone, Debug)]
enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    /// The order in which the mark at the start of a section is written.
    fn from_mark(bytes: &[u8]) -> Option<Self> {
        [Self::Big, Self::Little]
            .into_iter()
            .find(|order| order.u32(bytes) == Some(BOM_MAGIC))
    }

    fn u32(self, bytes: &[u8]) -> Option<u32> {
        let word = *bytes.first_chunk()?;
        Some(match self {
            Self::Big => u32::from_be_bytes(word),
            Self::Little => u32::from_le_bytes(word),
        })
    }

    fn i64(self, bytes: &[u8]) -> Option<i64> {
        let word = *bytes.first_chunk()?;
        Some(match self {
            Self::Big => i64::from_be_bytes(word),
            Self::Little => i64::from_le_bytes(word),
        })
    }
}

/// How an interface counts time.
#[derive(Copy, Clone, Debug)]
struct Ticks {
    /// Ticks in a second; `None` for more than 128 bits hold.
    per_second: Option<u128>,
    /// Seconds to add to all timestamps.
    offset: i64,
}

impl Ticks {
    // pcap_parser's own reading of these options has no binary resolutions and always takes the offset for
    // little-endian.
    fn of(description: &InterfaceDescriptionBlock<'_>, byte_order: ByteOrder) -> Self {
        let resolution = option(&description.options, IF_TSRESOL).and_then(|value| value.first().copied());
        let resolution = resolution.unwrap_or(MICROSECONDS);
        let exponent = u32::from(resolution & !BINARY);
        let base: u128 = if resolution & BINARY == 0 { 10 } else { 2 };
        let offset = option(&description.options, IF_TSOFFSET).and_then(|value| byte_order.i64(value));
        Self {
            per_second: base.checked_pow(exponent),
            offset: offset.unwrap_or_default(),
        }
    }

    fn timestamp(self, high: u32, low: u32) -> Timestamp {
        // Below zero for times before 1970.
        let ticks = i128::from((u64::from(high) << 32 | u64::from(low)) as i64);
        let per_second = self.per_second.and_then(|ticks| i128::try_from(ticks).ok());
        let micros = per_second.map_or(0, |per_second| (ticks * 1_000_000).div_euclid(per_second));
        let micros = micros + i128::from(self.offset) * 1_000_000;
        Timestamp::from_micros(micros.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}

/// What a packet says, or `None` when it is longer than its block.
fn content(packet: &EnhancedPacketBlock<'_>, byte_order: ByteOrder) -> Option<Content> {
    let bytes = packet.data.get(..packet.caplen as usize)?;
    if bytes.is_empty()
        && let Some(marker) = options(&packet.options, OPT_COMMENT).find_map(marker)
    {
        return Some(marker);
    }
    let flags = option(&packet.options, EPB_FLAGS).and_then(|value| byte_order.u32(value));
    let direction = match flags.unwrap_or_default() & FLAGS_DIRECTION {
        FLAGS_OUTBOUND => Direction::Outbound,
        _ => Direction::Inbound,
    };
    Some(Content::Bytes {
        direction,
        bytes: bytes.to_vec(),
    })
}

/// What a comment on an empty packet says about the port.
fn marker(comment: &[u8]) -> Option<Content> {
    let comment = String::from_utf8_lossy(comment);
    if comment == COMMENT_OPEN {
        return Some(Content::Opened);
    }
    let reason = comment.strip_prefix(COMMENT_CLOSE)?;
    let reason = if reason.is_empty() {
        reason
    } else {
        reason.strip_prefix(':')?
    };
    Some(Content::Closed {
        reason: reason.strip_prefix(' ').unwrap_or(reason).to_owned(),
    })
}

/// The value of a block's first option of this kind.
fn option<'a>(list: &'a [PcapNGOption<'_>], code: u16) -> Option<&'a [u8]> {
    options(list, code).next()
}

/// The values of a block's options of this kind.
fn options<'a>(list: &'a [PcapNGOption<'_>], code: u16) -> impl Iterator<Item = &'a [u8]> {
    let list = list.iter().take_while(|option| option.code.0 != OPT_END);
    list.filter(move |option| option.code.0 == code)
        .filter_map(|option| option.as_bytes().ok())
}

/// What a file that is no capture looks like, judged by its beginning.
fn sniff(start: &[u8]) -> FileKind {
    if start.is_empty() {
        return FileKind::Empty;
    }
    if CLASSIC_PCAP.iter().any(|magic| start.starts_with(magic)) {
        return FileKind::ClassicPcap;
    }
    if COMPRESSED.iter().any(|magic| start.starts_with(magic)) {
        return FileKind::Compressed;
    }
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if text
        .iter()
        .any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
    {
        return FileKind::Other;
    }
    let text = text.trim_ascii_start();
    let tag = text.strip_prefix(b"[").and_then(<[u8]>::first);
    if tag.is_some_and(u8::is_ascii_alphabetic) {
        FileKind::Pgn
    } else {
        FileKind::Text
    }
}

/// How the file is read, whatever the size of its blocks.
const READ_AHEAD: usize = 64 << 10;

/// Size of a block with nothing in it: its type and twice its length.
const LEAST_BLOCK: usize = 12;

/// How much of a file that is no capture is looked at.
const SNIFFED: usize = 512;

/// Set in a resolution that is a power of two.
const BINARY: u8 = 0x80;

/// Microseconds, nanoseconds and Kuznetzov's variant, in both byte orders.
const CLASSIC_PCAP: [[u8; 4]; 6] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xcd, 0x34],
    [0x34, 0xcd, 0xb2, 0xa1],
];

/// gzip, bzip2, xz, Zip and Zstandard.
const COMPRESSED: [&[u8]; 5] = [
    &[0x1f, 0x8b],
    b"BZh",
    b"\xfd7zXZ\0",
    b"PK\x03\x04",
    &[0x28, 0xb5, 0x2f, 0xfd],
];

#[cfg(test)]
mod tests;
