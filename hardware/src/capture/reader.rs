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
mod tests {
    use std::io;

    use super::*;
    use crate::capture::CaptureWriter;

    const AT: u64 = 1_789_000_000_123_456;

    /// Puts together files that the writer does not write.
    struct File {
        big_endian: bool,
        bytes: Vec<u8>,
    }

    impl File {
        fn new(big_endian: bool) -> Self {
            let mut file = Self {
                big_endian,
                bytes: Vec::new(),
            };
            file.section();
            file
        }

        fn section(&mut self) {
            let version = [self.u16(1), self.u16(0)].concat();
            self.block(SHB_MAGIC, &[&self.u32(BOM_MAGIC), &version, &[0xff; 8]]);
        }

        fn interface(&mut self, options: &[(u16, &[u8])]) {
            let link_type = [self.u16(LINK_TYPE), self.u16(0)].concat();
            self.block(IDB_MAGIC, &[&link_type, &self.u32(0), &self.options(options)]);
        }

        fn packet(&mut self, interface: u32, ticks: u64, bytes: &[u8], options: &[(u16, &[u8])]) {
            let length = self.u32(bytes.len() as u32);
            let ticks = [self.u32((ticks >> 32) as u32), self.u32(ticks as u32)].concat();
            let options = self.options(options);
            let padding = vec![0; bytes.len().next_multiple_of(4) - bytes.len()];
            let interface = self.u32(interface);
            self.block(
                EPB_MAGIC,
                &[&interface, &ticks, &length, &length, bytes, &padding, &options],
            );
        }

        fn block(&mut self, block_type: u32, body: &[&[u8]]) {
            let body = body.concat();
            let length = self.u32(body.len() as u32 + 12);
            let block_type = self.u32(block_type);
            self.bytes
                .extend([block_type, length.clone(), body, length].concat());
        }

        fn options(&self, options: &[(u16, &[u8])]) -> Vec<u8> {
            let options = options.iter().map(|(code, value)| {
                let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
                [
                    self.u16(*code),
                    self.u16(value.len() as u16),
                    value.to_vec(),
                    padding,
                ]
                .concat()
            });
            options.flatten().collect()
        }

        fn u16(&self, value: u16) -> Vec<u8> {
            if self.big_endian {
                value.to_be_bytes().to_vec()
            } else {
                value.to_le_bytes().to_vec()
            }
        }

        fn u32(&self, value: u32) -> Vec<u8> {
            if self.big_endian {
                value.to_be_bytes().to_vec()
            } else {
                value.to_le_bytes().to_vec()
            }
        }

        fn i64(&self, value: i64) -> Vec<u8> {
            if self.big_endian {
                value.to_be_bytes().to_vec()
            } else {
                value.to_le_bytes().to_vec()
            }
        }

        fn reader(&self) -> CaptureReader<&[u8]> {
            CaptureReader::new(self.bytes.as_slice()).unwrap()
        }

        fn packets(&self) -> Vec<Packet> {
            self.reader().map(Result::unwrap).collect()
        }

        /// The error that ends the file.
        fn error(&self) -> CaptureError {
            self.reader().last().unwrap().unwrap_err()
        }
    }

    fn inbound(bytes: &[u8]) -> Content {
        Content::Bytes {
            direction: Direction::Inbound,
            bytes: bytes.to_vec(),
        }
    }

    fn outbound(bytes: &[u8]) -> Content {
        Content::Bytes {
            direction: Direction::Outbound,
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn both_byte_orders_are_read() {
        for big_endian in [false, true] {
            let mut file = File::new(big_endian);
            file.interface(&[(IF_NAME, b"ttyUSB0"), (IF_DESCRIPTION, b"bus"), (OPT_END, b"")]);
            file.packet(0, AT, &[], &[(OPT_COMMENT, b"open")]);
            file.packet(0, AT + 1, &[0x4d], &[(EPB_FLAGS, &file.u32(0x0001_0022))]);
            file.packet(0, AT + 2, &[0x93, 0, 5], &[(EPB_FLAGS, &file.u32(0x0001_0021))]);
            let mut reader = file.reader();
            let packets: Vec<Packet> = reader.by_ref().map(Result::unwrap).collect();
            assert_eq!(
                reader.interfaces(),
                [Interface {
                    name: "ttyUSB0".to_owned(),
                    mode: LineMode::Bus
                }]
            );
            let contents: Vec<&Content> = packets.iter().map(|packet| &packet.content).collect();
            assert_eq!(
                contents,
                [&Content::Opened, &outbound(&[0x4d]), &inbound(&[0x93, 0, 5])]
            );
            assert_eq!(packets[2].at, Timestamp::from_micros(AT as i64 + 2));
            assert_eq!(reader.truncated(), None);
        }
    }

    #[test]
    fn offsets_lead_to_the_blocks() {
        let mut file = File::new(false);
        file.interface(&[]);
        let first = file.bytes.len();
        file.packet(0, AT, &[1, 2, 3], &[]);
        let second = file.bytes.len();
        file.packet(0, AT, &[4], &[]);
        let offsets: Vec<usize> = file
            .packets()
            .iter()
            .map(|packet| packet.offset as usize)
            .collect();
        assert_eq!(offsets, [first, second]);
    }

    #[test]
    fn a_packet_without_direction_is_inbound() {
        let mut file = File::new(false);
        file.interface(&[]);
        file.packet(0, AT, &[1], &[]);
        file.packet(0, AT, &[2], &[(EPB_FLAGS, &file.u32(0))]);
        assert_eq!(file.packets()[0].content, inbound(&[1]));
        assert_eq!(file.packets()[1].content, inbound(&[2]));
    }

    #[test]
    fn only_an_empty_packet_marks_the_port() {
        let mut file = File::new(false);
        file.interface(&[]);
        let comments: [&[u8]; 6] = [
            b"",
            b"closed",
            b"close",
            b"close:",
            b"close: a: b",
            b"close: \xff",
        ];
        for comment in comments {
            file.packet(0, AT, &[], &[(OPT_COMMENT, b"a remark"), (OPT_COMMENT, comment)]);
        }
        file.packet(0, AT, &[9], &[(OPT_COMMENT, b"open")]);
        let closed = |reason: &str| Content::Closed {
            reason: reason.to_owned(),
        };
        let contents: Vec<Content> = file.packets().into_iter().map(|packet| packet.content).collect();
        let nothing = inbound(&[]);
        let expected = [
            nothing.clone(),
            nothing,
            closed(""),
            closed(""),
            closed("a: b"),
            closed("\u{fffd}"),
        ];
        assert_eq!(contents[..6], expected);
        assert_eq!(contents[6], inbound(&[9]));
    }

    #[test]
    fn other_resolutions_and_offsets_of_time_are_honoured() {
        let resolutions: [(u8, u64, i64); 9] = [
            (6, 1_500_000, 1_500_000),
            (9, 1_500_000_999, 1_500_000),
            (9, -1_i64 as u64, -1),
            (3, 1_500, 1_500_000),
            (0, 2, 2_000_000),
            (BINARY | 10, 1_536, 1_500_000),
            (BINARY, 2, 2_000_000),
            (127, 2, 0),
            (0xff, 2, 0),
        ];
        for big_endian in [false, true] {
            for (resolution, ticks, micros) in resolutions {
                let mut file = File::new(big_endian);
                let offset = file.i64(-10);
                file.interface(&[(IF_TSRESOL, &[resolution]), (IF_TSOFFSET, &offset)]);
                file.packet(0, ticks, &[1], &[]);
                assert_eq!(
                    file.packets()[0].at.as_micros(),
                    micros - 10_000_000,
                    "resolution {resolution}"
                );
            }
        }
    }

    #[test]
    fn no_time_is_out_of_range() {
        for (offset, ticks, micros) in [(i64::MAX, i64::MAX, i64::MAX), (i64::MIN, i64::MIN, i64::MIN)] {
            let mut file = File::new(false);
            file.interface(&[(IF_TSRESOL, &[0]), (IF_TSOFFSET, &offset.to_le_bytes())]);
            file.packet(0, ticks as u64, &[1], &[]);
            assert_eq!(file.packets()[0].at.as_micros(), micros);
        }
    }

    #[test]
    fn unknown_blocks_and_options_are_skipped() {
        let mut file = File::new(true);
        file.block(0x0000_0bad, &[&[7; 40]]);
        file.interface(&[
            (0x8001, b"?"),
            (IF_NAME, b"a"),
            (OPT_END, b""),
            (IF_DESCRIPTION, b"bus"),
        ]);
        file.block(4, &[b"name resolution without any sense"[..32].as_ref()]);
        file.packet(
            0,
            AT,
            &[1],
            &[
                (0x8001, b"?"),
                (EPB_FLAGS, &file.u32(2)),
                (OPT_END, b""),
                (1, b"open"),
            ],
        );
        file.block(5, &[&[0; 12]]);
        let mut reader = file.reader();
        assert_eq!(reader.next_packet().unwrap().unwrap().content, outbound(&[1]));
        assert_eq!(reader.next_packet().unwrap(), None);
        assert_eq!(
            reader.interfaces(),
            [Interface {
                name: "a".to_owned(),
                mode: LineMode::Single
            }]
        );
    }

    #[test]
    fn a_port_keeps_its_index_from_section_to_section() {
        let mut file = File::new(false);
        file.interface(&[(IF_NAME, b"a")]);
        file.interface(&[(IF_NAME, b"b")]);
        file.packet(0, AT, &[1], &[]);
        file.packet(1, AT, &[2], &[]);
        file.big_endian = true;
        file.section();
        file.interface(&[(IF_NAME, b"b")]);
        file.interface(&[(IF_NAME, b"c")]);
        file.interface(&[(IF_NAME, b"b")]);
        file.packet(0, AT, &[3], &[]);
        file.packet(1, AT, &[4], &[]);
        file.packet(2, AT, &[5], &[]);
        let mut reader = file.reader();
        let interfaces: Vec<usize> = reader.by_ref().map(|packet| packet.unwrap().interface).collect();
        assert_eq!(interfaces, [0, 1, 1, 2, 3]);
        let names: Vec<&str> = reader
            .interfaces()
            .iter()
            .map(|interface| interface.name.as_str())
            .collect();
        assert_eq!(names, ["a", "b", "c", "b"]);
    }

    #[test]
    fn an_interface_of_an_earlier_section_is_unknown_in_the_next() {
        let mut file = File::new(false);
        file.interface(&[]);
        file.section();
        let here = file.bytes.len() as u64;
        file.packet(0, AT, &[1], &[]);
        let CaptureError::Corrupt { offset, fault } = file.error() else {
            panic!("another error")
        };
        assert_eq!((offset, fault), (here, Fault::UnknownInterface(0)));
    }

    #[test]
    fn memory_is_bounded_whatever_the_number_of_interfaces() {
        let mut file = File::new(false);
        for _ in 0..=MAX_INTERFACES {
            file.interface(&[]);
        }
        assert!(matches!(
            file.error(),
            CaptureError::Corrupt {
                fault: Fault::TooManyInterfaces,
                ..
            }
        ));
    }

    #[test]
    fn other_link_types_are_refused_by_name() {
        let mut file = File::new(false);
        let name = file.options(&[(IF_NAME, b"eth0")]);
        file.block(IDB_MAGIC, &[&[1, 0, 0, 0], &[0; 4], &name]);
        assert_eq!(
            file.error().to_string(),
            "interface \"eth0\" has link type 1; serial lines have 147 (USER0)"
        );
    }

    #[test]
    fn other_versions_are_refused() {
        let mut file = File::new(false);
        file.bytes[12] = 2;
        let error = CaptureReader::new(file.bytes.as_slice()).unwrap_err();
        assert!(matches!(
            error,
            CaptureError::UnsupportedVersion {
                offset: 0,
                major: 2,
                minor: 0
            }
        ));
    }

    #[test]
    fn damage_is_told_with_its_place_and_ends_the_reading() {
        let whole = || {
            let mut file = File::new(false);
            file.interface(&[]);
            file.packet(0, AT, &[1, 2, 3, 4], &[]);
            let here = file.bytes.len();
            file.packet(0, AT, &[5, 6, 7, 8], &[]);
            file.packet(0, AT, &[9, 9, 9, 9], &[]);
            (file, here)
        };
        let damages: [(usize, u32, Fault); 7] = [
            (4, 0, Fault::BlockLength(0)),
            (4, 38, Fault::BlockLength(38)),
            (4, MAX_BLOCK + 4, Fault::BlockLength(MAX_BLOCK + 4)),
            (4, u32::MAX - 3, Fault::BlockLength(u32::MAX - 3)),
            (20, 5, Fault::Contents { block_type: 6 }),
            (20, u32::MAX, Fault::Contents { block_type: 6 }),
            (32, 40, Fault::LengthsDiffer { first: 36, last: 40 }),
        ];
        for (position, word, expected) in damages {
            let (mut file, here) = whole();
            file.bytes[here + position..][..4].copy_from_slice(&word.to_le_bytes());
            let mut reader = file.reader();
            assert!(reader.next_packet().unwrap().is_some());
            let error = reader.next_packet().unwrap_err();
            let CaptureError::Corrupt { offset, fault } = error else {
                panic!("{error}")
            };
            assert_eq!((offset, fault), (here as u64, expected));
            assert!(reader.next_packet().unwrap().is_none());
            assert_eq!(reader.truncated(), None);
        }
    }

    #[test]
    fn a_file_filled_up_with_zeros_is_cut_off() {
        let mut file = File::new(false);
        file.interface(&[]);
        file.packet(0, AT, &[1], &[]);
        let whole = file.bytes.len();
        file.packet(0, AT, &[2; 300_000], &[]);
        for kept in (whole..whole + 36).step_by(4).chain([whole + 200_000]) {
            let mut bytes = file.bytes[..kept].to_vec();
            bytes.resize(file.bytes.len() + 100_000, 0);
            let mut reader = CaptureReader::new(bytes.as_slice()).unwrap();
            assert_eq!(reader.by_ref().map(Result::unwrap).count(), 1);
            assert_eq!(reader.truncated(), Some(whole as u64), "{kept} bytes kept");
        }
    }

    #[test]
    fn damage_at_the_very_end_is_not_taken_for_a_cut() {
        let mut file = File::new(false);
        file.interface(&[]);
        *file.bytes.last_mut().unwrap() = 1;
        assert!(matches!(
            file.error(),
            CaptureError::Corrupt {
                fault: Fault::LengthsDiffer { .. },
                ..
            }
        ));
    }

    #[test]
    fn a_length_beyond_the_end_of_the_file_costs_no_memory() {
        let mut file = File::new(false);
        file.bytes.extend([7, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]); // 16 MiB
        let mut reader = file.reader();
        assert!(reader.next_packet().unwrap().is_none());
        assert_eq!(reader.truncated(), Some(28));
        assert!(reader.block.capacity() < 1_000);
    }

    #[test]
    fn files_that_are_no_captures_are_told_apart() {
        let kinds: [(&[u8], FileKind); 11] = [
            (b"", FileKind::Empty),
            (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", FileKind::ClassicPcap),
            (b"\xa1\xb2\x3c\x4d\0\x02\0\x04", FileKind::ClassicPcap),
            (b"\x1f\x8b\x08\0\0\0\0\0\0\x03", FileKind::Compressed),
            (b"[Event \"Casual\"]\n", FileKind::Pgn),
            (b"\xef\xbb\xbf\r\n[Event \"Z\xfcrich\"]\n", FileKind::Pgn),
            (b"{\"v\":1}", FileKind::Text),
            (b"1. e4 e5", FileKind::Text),
            (b"\n\n\n", FileKind::Text),
            (b"\x7fELF\x02\x01", FileKind::Other),
            (b"\x0a\x0d\x0d\x0a\x1c\0\0\0\0\0\0\0", FileKind::Other),
        ];
        for (bytes, kind) in kinds {
            let error = CaptureReader::new(bytes).unwrap_err();
            assert!(
                matches!(error, CaptureError::NotACapture { looks_like } if looks_like == kind),
                "{bytes:?} gives: {error}"
            );
        }
    }

    #[test]
    fn short_and_interrupted_reads_change_nothing() {
        struct Trickle<'a>(&'a [u8], bool);
        impl Read for Trickle<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.1 = !self.1;
                if self.1 {
                    return Err(ErrorKind::Interrupted.into());
                }
                let end = buffer.len().min(1);
                self.0.read(&mut buffer[..end])
            }
        }
        let mut file = File::new(false);
        file.interface(&[]);
        file.packet(0, AT, &[1; 100], &[]);
        file.bytes.extend([0; 50]);
        let mut reader = CaptureReader::new(Trickle(&file.bytes, false)).unwrap();
        assert_eq!(reader.next_packet().unwrap().unwrap().content, inbound(&[1; 100]));
        assert_eq!(reader.next_packet().unwrap(), None);
        assert_eq!(reader.truncated(), Some(file.bytes.len() as u64 - 50));
    }

    #[test]
    fn a_failing_input_is_an_error_with_its_cause() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let start = CaptureWriter::new(Vec::new()).unwrap().into_inner();
        let mut reader = CaptureReader::new(start.as_slice().chain(Failing)).unwrap();
        let error = reader.next_packet().unwrap_err();
        assert!(matches!(error, CaptureError::Io(cause) if cause.to_string() == "the disk is gone"));
        assert!(reader.next_packet().unwrap().is_none());
    }
}
