use std::io::{BufRead, BufReader, ErrorKind, Read};

use pcap_parser::{
    EPB_MAGIC, IDB_MAGIC, SHB_MAGIC, parse_enhancedpacketblock_be, parse_enhancedpacketblock_le,
    parse_interfacedescriptionblock_be, parse_interfacedescriptionblock_le, parse_sectionheaderblock,
};

use super::{
    CaptureError, DESCRIPTION_BUS, DESCRIPTION_PROBE, Fault, IF_DESCRIPTION, IF_NAME, Interface, LINK_TYPE,
    LineMode, MAX_BLOCK, MAX_INTERFACES, Packet,
};
use block::{ByteOrder, Ticks, content, option};
use kind::sniff;

mod block;
mod kind;

/// Reads a capture, packet by packet.
///
/// The reader buffers `input`. It holds at most one block, of at most 16 MiB, and the list of interfaces. Unknown
/// blocks and options are skipped.
///
/// The iterator yields the results of [`next_packet`](Self::next_packet). It ends after an error or the last packet.
///
/// A replay passes each packet to its line:
///
/// ```
/// use kiebitz_hardware::capture::{CaptureError, CaptureReader, Content, Direction};
/// use kiebitz_hardware::{Line, Observed, Place};
///
/// fn replay(capture: impl std::io::Read) -> Result<Vec<(Place, Observed)>, CaptureError> {
///     let mut reader = CaptureReader::new(capture)?;
///     let (mut lines, mut observations) = (Vec::new(), Vec::new());
///     while let Some(packet) = reader.next_packet()? {
///         let known = lines.len();
///         lines.extend(reader.interfaces()[known..].iter().map(|port| Line::listening(port.mode)));
///         let line = &mut lines[packet.interface];
///         match packet.content {
///             Content::Opened => line.handle_opened(packet.at),
///             Content::Closed { reason } => line.handle_closed(packet.at, &reason),
///             Content::Bytes { direction: Direction::Inbound, bytes } => line.handle_bytes(packet.at, &bytes),
///             Content::Bytes { direction: Direction::Outbound, bytes } => line.handle_sent(packet.at, &bytes),
///             Content::ClockSet { .. } => {} // observations jump as their timestamps do
///         }
///         observations.extend(core::iter::from_fn(|| line.poll_observation()));
///     }
///     Ok(observations)
/// }
///
/// # use kiebitz_hardware::Timestamp;
/// # use kiebitz_hardware::capture::{CaptureWriter, Interface, LineMode};
/// # let mut writer = CaptureWriter::new(Vec::new())?;
/// # let board = writer.add_interface(&Interface { name: "board-1".to_owned(), mode: LineMode::Single })?;
/// # writer.write_opened(Timestamp::from_micros(0), board)?;
/// # writer.write_bytes(Timestamp::from_micros(1), board, Direction::Inbound, &[0x8e, 0x00, 0x05, 36, 1])?;
/// # let capture = writer.into_inner();
/// assert_eq!(replay(capture.as_slice())?.len(), 2); // the port was opened, and a field changed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: BufReader<R>,
    block: Vec<u8>,
    /// Offset of the current block in the file.
    offset: u64,
    interfaces: Vec<Interface>,
    /// For each interface, the number of the last section that describes it.
    described_in: Vec<u64>,
    section: Section,
    ended: bool,
    truncated: Option<u64>,
}

impl<R: Read> CaptureReader<R> {
    /// Starts reading a capture.
    ///
    /// # Errors
    ///
    /// Returns [`NotACapture`](CaptureError::NotACapture) if the input does not start like a pcapng file, and the
    /// errors of [`next_packet`](Self::next_packet).
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
                interfaces: Vec::new(),
            },
            ended: false,
            truncated: None,
        };
        reader.fill(MIN_BLOCK)?;
        let signature = SHB_MAGIC.to_le_bytes();
        let begins_well = match reader.block.get(8..MIN_BLOCK) {
            Some(mark) => reader.block.starts_with(&signature) && ByteOrder::from_mark(mark).is_some(),
            None => {
                let known = reader.block.len().min(4);
                known > 0 && reader.block[..known] == signature[..known]
            }
        };
        if !begins_well {
            reader.fill(MAX_SNIFFED)?;
            return Err(CaptureError::NotACapture {
                looks_like: sniff(&reader.block),
            });
        }
        if reader.read_block()? {
            reader.take_block()?;
        }
        Ok(reader)
    }

    /// Returns the next packet, or `None` at the end of the capture. After that, [`truncated`](Self::truncated) returns
    /// whether the file is truncated.
    ///
    /// A packet without a direction counts as inbound. If the capturing program shortened a packet, the captured bytes
    /// are returned.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, is damaged, or is not a capture of serial lines. All packets before the
    /// failure have been returned.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, CaptureError> {
        let result = self.advance();
        if result.is_err() {
            self.ended = true;
        }
        result
    }

    /// Returns all ports described so far. The list grows while reading; indices stay valid.
    ///
    /// A capture has several sections if a recorder was restarted. A port with the same name and mode as in an earlier
    /// section keeps its index.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Returns the end of the last complete block, in bytes from the start of the file, if an incomplete block follows.
    /// Returns `None` if the file is complete or its end has not been reached.
    ///
    /// After a power cut, a file may end in the middle of a block or in zeros.
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

    /// Reads the rest of the current block. Returns `false` if there are no more blocks.
    fn read_block(&mut self) -> Result<bool, CaptureError> {
        if self.ended {
            return Ok(false);
        }
        self.fill(MIN_BLOCK)?;
        if self.block.len() < MIN_BLOCK {
            return Ok(self.end(!self.block.is_empty()));
        }
        if self.block_type() == SHB_MAGIC {
            let Some(byte_order) = ByteOrder::from_mark(&self.block[8..]) else {
                return self.end_or_corrupt(Fault::ByteOrder);
            };
            self.section.byte_order = byte_order;
        }
        let length = self.word_at(4);
        let size = length as usize;
        if size < MIN_BLOCK || length > MAX_BLOCK || !length.is_multiple_of(4) {
            return self.end_or_corrupt(Fault::BlockLength(length));
        }
        self.fill(size)?;
        if self.block.len() < size {
            return Ok(self.end(true));
        }
        let last = self.word_at(size - 4);
        if last != length {
            return self.end_or_corrupt(Fault::LengthsDiffer { first: length, last });
        }
        Ok(true)
    }

    /// Decodes the current block, which must be complete, and removes it from the buffer.
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
        let (_, header) = parse_sectionheaderblock(&self.block).map_err(|_| self.contents_error())?;
        let (major, minor) = (header.major_version, header.minor_version);
        if major != 1 {
            return Err(CaptureError::UnsupportedVersion {
                offset: self.offset,
                major,
                minor,
            });
        }
        self.section.number += 1;
        self.section.interfaces.clear();
        Ok(())
    }

    fn add_interface(&mut self) -> Result<(), CaptureError> {
        let description = match self.section.byte_order {
            ByteOrder::Big => parse_interfacedescriptionblock_be(&self.block),
            ByteOrder::Little => parse_interfacedescriptionblock_le(&self.block),
        };
        let (_, description) = description.map_err(|_| self.contents_error())?;
        let ticks = Ticks::of(&description, self.section.byte_order);
        let name = option(&description.options, IF_NAME)
            .map(String::from_utf8_lossy)
            .unwrap_or_default();
        let mode = match option(&description.options, IF_DESCRIPTION) {
            Some(text) if text == DESCRIPTION_BUS.as_bytes() => LineMode::Bus,
            Some(text) if text == DESCRIPTION_PROBE.as_bytes() => LineMode::Unknown,
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
        self.section.interfaces.push(Described { interface, ticks });
        Ok(())
    }

    /// Returns the index for an interface of this section: the index of an equal interface in an earlier section, or a
    /// new index.
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
        let (_, packet) = packet.map_err(|_| self.contents_error())?;
        let described = self.section.interfaces.get(packet.if_id as usize);
        let described = described.ok_or_else(|| self.corrupt(Fault::UnknownInterface(packet.if_id)))?;
        Ok(Packet {
            at: described.ticks.timestamp(packet.ts_high, packet.ts_low),
            interface: described.interface,
            offset: self.offset,
            content: content(&packet, self.section.byte_order).ok_or_else(|| self.contents_error())?,
        })
    }

    /// Ends reading. `truncated` is whether the file ends within a block. Returns `false`, as for "no more blocks".
    fn end(&mut self, truncated: bool) -> bool {
        self.ended = true;
        self.truncated = truncated.then_some(self.offset);
        false
    }

    /// Ends reading if the rest of the file consists of zeros, because the file system did not write the data before a
    /// power cut. Otherwise fails with `fault`.
    fn end_or_corrupt(&mut self, fault: Fault) -> Result<bool, CaptureError> {
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

    /// Reads until the buffer has `size` bytes of the current block, or the file ends. Allocates memory only for
    /// existing bytes, however large `size` is.
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

    /// Returns the word at `position` of the current block. The block must be long enough.
    fn word_at(&self, position: usize) -> u32 {
        self.section
            .byte_order
            .u32(&self.block[position..])
            .unwrap_or_default()
    }

    fn contents_error(&self) -> CaptureError {
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

/// The state of a section.
#[derive(Debug)]
struct Section {
    /// Number of the section, starting at 1.
    number: u64,
    byte_order: ByteOrder,
    /// Interfaces of the section, indexed by the section's interface ids.
    interfaces: Vec<Described>,
}

/// An interface description of a section.
#[derive(Debug)]
struct Described {
    /// Index of the interface in the whole capture.
    interface: usize,
    ticks: Ticks,
}

/// Size of the read buffer in bytes.
const READ_AHEAD: usize = 64 << 10;

/// Minimum size of a block in bytes: its type, and its length at the start and at the end.
const MIN_BLOCK: usize = 12;

/// Number of bytes to examine of a file that is not a capture.
const MAX_SNIFFED: usize = 512;

#[cfg(test)]
mod tests;
