use std::io::{self, Write};

use pcap_parser::{BOM_MAGIC, EPB_MAGIC, IDB_MAGIC, SHB_MAGIC};

use super::{
    COMMENT_CLOCK, COMMENT_CLOSE, COMMENT_OPEN, Content, DESCRIPTION_BUS, DESCRIPTION_PROBE, Direction,
    EPB_FLAGS, FLAGS_INBOUND, FLAGS_OUTBOUND, IF_DESCRIPTION, IF_NAME, IF_TSRESOL, Interface, LINK_TYPE,
    LineMode, MAX_BLOCK, MAX_INTERFACES, MICROSECONDS, OPT_COMMENT, OPT_END, Packet,
};
use crate::time::Timestamp;

/// Writes a capture.
///
/// Each block is written unbuffered with one call of `write_all`. If the output is unbuffered too, the capture is
/// complete up to the last call that returned, even if the process is killed.
///
/// ```
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::capture::{CaptureWriter, Direction, Interface, LineMode};
///
/// let mut writer = CaptureWriter::new(Vec::new())?;
/// let board = writer.add_interface(&Interface { name: "board-1".to_owned(), mode: LineMode::Single })?;
/// let before = writer.get_ref().len();
/// writer.write_bytes(Timestamp::from_micros(1_000_000), board, Direction::Inbound, &[0x8e, 0x00, 0x05, 36, 1])?;
/// assert_eq!(writer.get_ref()[before..], [
///     6, 0, 0, 0, 52, 0, 0, 0, // an enhanced packet, 52 bytes long
///     0, 0, 0, 0, // of the first interface
///     0, 0, 0, 0, 0x40, 0x42, 0x0f, 0x00, // the time, its upper half first
///     5, 0, 0, 0, 5, 0, 0, 0, 0x8e, 0x00, 0x05, 36, 1, 0, 0, 0, // 5 bytes of 5, padded
///     2, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, // epb_flags: inbound; no more options
///     52, 0, 0, 0,
/// ]);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct CaptureWriter<W> {
    output: W,
    /// The block being assembled. Kept in a field to reuse its memory.
    block: Vec<u8>,
    /// Number of interfaces in the section.
    interfaces: usize,
}

impl<W: Write> CaptureWriter<W> {
    /// Starts a capture on `output`.
    ///
    /// To continue an existing file, open it for appending. If
    /// [`CaptureReader::truncated`](super::CaptureReader::truncated) returns a length, truncate the file to it first.
    /// The writer adds a new section with its own interfaces.
    ///
    /// # Errors
    ///
    /// Returns the errors of `output`.
    pub fn new(output: W) -> io::Result<Self> {
        let mut writer = Self {
            output,
            block: Vec::new(),
            interfaces: 0,
        };
        writer.begin(SHB_MAGIC);
        writer.put_u32(BOM_MAGIC);
        writer.put_u16(1); // version 1.0
        writer.put_u16(0);
        writer.block.extend(u64::MAX.to_le_bytes()); // the section's length is not known
        writer.finish()?;
        Ok(writer)
    }

    /// Adds a port and returns its index for [`write`](Self::write) and the other methods.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if the name is longer than 65,535 bytes or there are
    /// already 1,024 interfaces, and the errors of the output.
    pub fn add_interface(&mut self, interface: &Interface) -> io::Result<usize> {
        if self.interfaces >= MAX_INTERFACES {
            return Err(invalid("a capture has room for 1024 interfaces"));
        }
        if interface.name.len() > usize::from(u16::MAX) {
            return Err(invalid("the name of an interface is at most 65535 bytes long"));
        }
        self.begin(IDB_MAGIC);
        self.put_u16(LINK_TYPE);
        self.put_u16(0); // reserved
        self.put_u32(0); // packets may have any length
        self.put_option(IF_NAME, interface.name.as_bytes());
        match interface.mode {
            LineMode::Single => {}
            LineMode::Bus => self.put_option(IF_DESCRIPTION, DESCRIPTION_BUS.as_bytes()),
            LineMode::Unknown => self.put_option(IF_DESCRIPTION, DESCRIPTION_PROBE.as_bytes()),
        }
        self.put_option(IF_TSRESOL, &[MICROSECONDS]);
        self.put_option(OPT_END, &[]);
        self.finish()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet. Ignores its `offset`.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidInput`](io::ErrorKind::InvalidInput) if the interface is unknown or a chunk is longer than 8
    /// MiB, and the errors of the output.
    pub fn write(&mut self, packet: &Packet) -> io::Result<()> {
        match &packet.content {
            Content::Bytes { direction, bytes } => {
                self.write_bytes(packet.at, packet.interface, *direction, bytes)
            }
            Content::Opened => self.write_opened(packet.at, packet.interface),
            Content::Closed { reason } => self.write_closed(packet.at, packet.interface, reason),
            Content::ClockSet { micros } => self.write_clock_set(packet.at, packet.interface, *micros),
        }
    }

    /// Writes a chunk that was read from a port or written to it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_bytes(
        &mut self,
        at: Timestamp,
        interface: usize,
        direction: Direction,
        bytes: &[u8],
    ) -> io::Result<()> {
        let flags = match direction {
            Direction::Inbound => FLAGS_INBOUND,
            Direction::Outbound => FLAGS_OUTBOUND,
        };
        self.write_packet(at, interface, bytes, EPB_FLAGS, &flags.to_le_bytes())
    }

    /// Writes the opening of a port.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_opened(&mut self, at: Timestamp, interface: usize) -> io::Result<()> {
        self.write_packet(at, interface, &[], OPT_COMMENT, COMMENT_OPEN.as_bytes())
    }

    /// Writes the closing of a port with its reason, truncated to about 65,000 bytes.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_closed(&mut self, at: Timestamp, interface: usize, reason: &str) -> io::Result<()> {
        let comment = format!("{COMMENT_CLOSE}: {reason}");
        let mut end = comment.len().min(usize::from(u16::MAX));
        while !comment.is_char_boundary(end) {
            end -= 1;
        }
        self.write_packet(at, interface, &[], OPT_COMMENT, &comment.as_bytes()[..end])
    }

    /// Writes a change of the host's clock in microseconds; see [`Content::ClockSet`].
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_clock_set(&mut self, at: Timestamp, interface: usize, micros: i64) -> io::Result<()> {
        let sign = if micros < 0 { '-' } else { '+' };
        let (seconds, rest) = (
            micros.unsigned_abs() / 1_000_000,
            micros.unsigned_abs() % 1_000_000,
        );
        let comment = format!("{COMMENT_CLOCK}{sign}{seconds}.{rest:06} s");
        self.write_packet(at, interface, &[], OPT_COMMENT, comment.as_bytes())
    }

    /// Flushes the output.
    ///
    /// # Errors
    ///
    /// Returns the errors of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Returns the output, for example to sync a file to its disk.
    #[must_use]
    pub fn get_ref(&self) -> &W {
        &self.output
    }

    /// Returns the output without flushing it.
    #[must_use]
    pub fn into_inner(self) -> W {
        self.output
    }

    fn write_packet(
        &mut self,
        at: Timestamp,
        interface: usize,
        bytes: &[u8],
        option: u16,
        value: &[u8],
    ) -> io::Result<()> {
        let id = u32::try_from(interface)
            .ok()
            .filter(|_| interface < self.interfaces);
        let id = id.ok_or_else(|| invalid("the interface is unknown to the capture"))?;
        let length = u32::try_from(bytes.len())
            .ok()
            .filter(|length| *length <= MAX_CHUNK);
        let length = length.ok_or_else(|| invalid("the chunk is too long for a capture"))?;
        let ticks = at.as_micros().to_le_bytes();
        self.begin(EPB_MAGIC);
        self.put_u32(id);
        self.block.extend(&ticks[4..]);
        self.block.extend(&ticks[..4]);
        self.put_u32(length); // captured
        self.put_u32(length); // on the line
        self.put_padded(bytes);
        self.put_option(option, value);
        self.put_option(OPT_END, &[]);
        self.finish()
    }

    fn begin(&mut self, block_type: u32) {
        self.block.clear();
        self.put_u32(block_type);
        self.put_u32(0); // the length, set by `finish`
    }

    fn finish(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.block.len() + 4).map_err(|_| invalid("the block is too long"))?;
        self.put_u32(length);
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.output.write_all(&self.block)
    }

    /// Appends an option. `value` must be at most 65,535 bytes long.
    fn put_option(&mut self, code: u16, value: &[u8]) {
        self.put_u16(code);
        self.put_u16(value.len() as u16);
        self.put_padded(value);
    }

    fn put_padded(&mut self, bytes: &[u8]) {
        self.block.extend(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn put_u32(&mut self, value: u32) {
        self.block.extend(value.to_le_bytes());
    }

    fn put_u16(&mut self, value: u16) {
        self.block.extend(value.to_le_bytes());
    }
}

/// Maximum length of a chunk in bytes. Leaves room for the other parts of a block.
const MAX_CHUNK: u32 = MAX_BLOCK / 2;

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_micros(0x0001_0203_0405_0607);

    fn board(mode: LineMode) -> Interface {
        Interface {
            name: "board-1".to_owned(),
            mode,
        }
    }

    /// Returns the bytes of a capture after `write`.
    fn written(write: impl FnOnce(&mut CaptureWriter<Vec<u8>>)) -> Vec<u8> {
        let mut writer = CaptureWriter::new(Vec::new()).unwrap();
        write(&mut writer);
        writer.into_inner()
    }

    #[test]
    fn a_capture_starts_with_a_section_header() {
        let expected = [
            0x0a, 0x0d, 0x0d, 0x0a, // block type
            28, 0, 0, 0, // length
            0x4d, 0x3c, 0x2b, 0x1a, // byte-order mark
            1, 0, 0, 0, // version 1.0
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // length of the section: not known
            28, 0, 0, 0, // length
        ];
        assert_eq!(written(|_| ()), expected);
    }

    #[test]
    fn a_port_is_written_as_an_interface_with_a_name() {
        let file = written(|writer| assert_eq!(writer.add_interface(&board(LineMode::Single)).unwrap(), 0));
        let expected = [
            1, 0, 0, 0, // block type
            44, 0, 0, 0, // length
            147, 0, 0, 0, // link type, reserved
            0, 0, 0, 0, // no limit to the length of packets
            2, 0, 7, 0, b'b', b'o', b'a', b'r', b'd', b'-', b'1', 0, // if_name, padded
            9, 0, 1, 0, 6, 0, 0, 0, // if_tsresol: microseconds
            0, 0, 0, 0, // end of options
            44, 0, 0, 0, // length
        ];
        assert_eq!(file[28..], expected);
    }

    #[test]
    fn a_port_in_bus_mode_has_the_description_bus() {
        let file = written(|writer| assert_eq!(writer.add_interface(&board(LineMode::Bus)).unwrap(), 0));
        let expected = [
            1, 0, 0, 0, // block type
            52, 0, 0, 0, // length
            147, 0, 0, 0, // link type, reserved
            0, 0, 0, 0, // no limit to the length of packets
            2, 0, 7, 0, b'b', b'o', b'a', b'r', b'd', b'-', b'1', 0, // if_name, padded
            3, 0, 3, 0, b'b', b'u', b's', 0, // if_description, padded
            9, 0, 1, 0, 6, 0, 0, 0, // if_tsresol: microseconds
            0, 0, 0, 0, // end of options
            52, 0, 0, 0, // length
        ];
        assert_eq!(file[28..], expected);
    }

    #[test]
    fn a_chunk_is_written_as_an_enhanced_packet_with_its_direction() {
        let file = written(|writer| {
            writer.add_interface(&board(LineMode::Single)).unwrap();
            writer
                .write_bytes(AT, 0, Direction::Inbound, &[0x8e, 0x00, 0x05, 0x0c, 0x01])
                .unwrap();
            writer.write_bytes(AT, 0, Direction::Outbound, &[0x4d]).unwrap();
        });
        let inbound = [
            6, 0, 0, 0, // block type
            52, 0, 0, 0, // length
            0, 0, 0, 0, // interface
            0x03, 0x02, 0x01, 0x00, // upper half of the time
            0x07, 0x06, 0x05, 0x04, // lower half
            5, 0, 0, 0, // length captured
            5, 0, 0, 0, // length on the line
            0x8e, 0x00, 0x05, 0x0c, 0x01, 0, 0, 0, // bytes, padded
            2, 0, 4, 0, 1, 0, 0, 0, // epb_flags: inbound
            0, 0, 0, 0, // end of options
            52, 0, 0, 0, // length
        ];
        assert_eq!(file[72..124], inbound);
        let outbound = [
            6, 0, 0, 0, 48, 0, 0, 0, 0, 0, 0, 0, // block type, length, interface
            0x03, 0x02, 0x01, 0x00, 0x07, 0x06, 0x05, 0x04, // time
            1, 0, 0, 0, 1, 0, 0, 0, 0x4d, 0, 0, 0, // lengths, byte, padding
            2, 0, 4, 0, 2, 0, 0, 0, // epb_flags: outbound
            0, 0, 0, 0, 48, 0, 0, 0, // end of options, length
        ];
        assert_eq!(file[124..], outbound);
    }

    #[test]
    fn opening_and_closing_are_written_as_empty_packets_with_a_comment() {
        let file = written(|writer| {
            writer.add_interface(&board(LineMode::Single)).unwrap();
            writer.write_opened(AT, 0).unwrap();
            writer.write_closed(AT, 0, "unplugged").unwrap();
        });
        let opened = [
            6, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, // block type, length, interface
            0x03, 0x02, 0x01, 0x00, 0x07, 0x06, 0x05, 0x04, // time
            0, 0, 0, 0, 0, 0, 0, 0, // lengths
            1, 0, 4, 0, b'o', b'p', b'e', b'n', // opt_comment
            0, 0, 0, 0, 44, 0, 0, 0, // end of options, length
        ];
        assert_eq!(file[72..116], opened);
        assert_eq!(file[116..][28..][..20], *b"\x01\0\x10\0close: unplugged");
    }

    #[test]
    fn each_block_is_written_with_one_call() {
        #[derive(Default)]
        struct Writes(Vec<usize>);
        impl Write for Writes {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(bytes.len());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = CaptureWriter::new(Writes::default()).unwrap();
        writer.add_interface(&board(LineMode::Single)).unwrap();
        writer.write_bytes(AT, 0, Direction::Inbound, &[1]).unwrap();
        writer.write_opened(AT, 0).unwrap();
        assert_eq!(writer.into_inner().0, [28, 44, 48, 44]);
    }

    #[test]
    fn invalid_input_is_refused_without_writing() {
        let mut writer = CaptureWriter::new(Vec::new()).unwrap();
        let name = Interface {
            name: "x".repeat(65_536),
            mode: LineMode::Single,
        };
        let too_long = vec![0; MAX_CHUNK as usize + 1];
        let errors = [
            writer.write_opened(AT, 0).unwrap_err(),
            writer.add_interface(&name).unwrap_err(),
            writer
                .add_interface(&board(LineMode::Single))
                .and_then(|port| writer.write_bytes(AT, port, Direction::Inbound, &too_long))
                .unwrap_err(),
        ];
        assert!(
            errors
                .iter()
                .all(|error| error.kind() == io::ErrorKind::InvalidInput)
        );
        assert_eq!(writer.into_inner().len(), 28 + 44);
    }

    #[test]
    fn interfaces_are_limited_to_the_maximum_of_a_reader() {
        let mut writer = CaptureWriter::new(io::sink()).unwrap();
        for index in 0..MAX_INTERFACES {
            assert_eq!(writer.add_interface(&board(LineMode::Single)).unwrap(), index);
        }
        let error = writer.add_interface(&board(LineMode::Single)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_long_reason_is_truncated_at_a_character_boundary() {
        let file = written(|writer| {
            writer.add_interface(&board(LineMode::Single)).unwrap();
            writer.write_closed(AT, 0, &"\u{265f}".repeat(30_000)).unwrap(); // 3 bytes each
        });
        let comment = &file[72 + 28..];
        assert_eq!(comment[..4], [1, 0, 0xfd, 0xff]);
        assert!(str::from_utf8(&comment[4..][..0xfffd]).is_ok());
    }
}
