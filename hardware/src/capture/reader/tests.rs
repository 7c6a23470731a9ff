//! Tests of the reader with valid, truncated and damaged captures.

use std::io;

use pcap_parser::BOM_MAGIC;

use super::block::BINARY;
use super::*;
use crate::capture::{
    CaptureWriter, Content, Direction, EPB_FLAGS, FileKind, IF_TSOFFSET, IF_TSRESOL, OPT_COMMENT, OPT_END,
};
use crate::time::Timestamp;
use file::File;

mod file;

const AT: u64 = 1_789_000_000_123_456;

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
fn packets_have_the_offsets_of_their_blocks() {
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
fn only_the_comment_of_an_empty_packet_is_a_marker() {
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
    let empty = inbound(&[]);
    let expected = [
        empty.clone(),
        empty,
        closed(""),
        closed(""),
        closed("a: b"),
        closed("\u{fffd}"),
    ];
    assert_eq!(contents[..6], expected);
    assert_eq!(contents[6], inbound(&[9]));
}

#[test]
fn time_resolutions_and_offsets_are_applied() {
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
fn times_out_of_range_are_clamped() {
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
fn a_port_keeps_its_index_in_later_sections() {
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
fn too_many_interfaces_are_refused() {
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
fn other_link_types_are_refused_with_the_name_of_the_interface() {
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
fn damage_is_reported_with_its_offset_and_ends_reading() {
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
fn a_file_padded_with_zeros_is_truncated() {
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
fn damage_at_the_end_is_not_mistaken_for_truncation() {
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
fn a_length_beyond_the_end_of_the_file_allocates_no_memory() {
    let mut file = File::new(false);
    file.bytes.extend([7, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]); // 16 MiB
    let mut reader = file.reader();
    assert!(reader.next_packet().unwrap().is_none());
    assert_eq!(reader.truncated(), Some(28));
    assert!(reader.block.capacity() < 1_000);
}

#[test]
fn files_that_are_not_captures_are_distinguished() {
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
fn short_and_interrupted_reads_give_the_same_packets() {
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
fn an_input_error_is_returned_with_its_cause() {
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
