//! Decoding throughput.
//!
//! One board sends at most 960 bytes per second. Throughput matters for the replay of long captures and for many
//! boards on a small computer. The target is 200 MB/s for `field_updates_and_clock_times`.
//!
//! Medians on one core of a shared two-core x86-64 virtual machine, Rust 1.95: 756 MB/s in one portion, 615 MB/s
//! in portions of 62 bytes, 136 MB/s byte by byte; board dumps 1.2 GB/s.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use kiebitz_protocol::{
    ClockTimes, CommandDecoder, Decoder, Element, Field, FieldUpdate, Message, Piece, SideTime, eeprom,
};

fn main() {
    divan::main();
}

/// Repeats four field updates and one clock time, in one portion.
#[divan::bench]
fn field_updates_and_clock_times(bencher: Bencher<'_, '_>) {
    decode(bencher, &stream(), usize::MAX);
}

/// The same stream in portions of 62 bytes, as a USB converter delivers them.
#[divan::bench]
fn in_portions_of_a_usb_converter(bencher: Bencher<'_, '_>) {
    decode(bencher, &stream(), 62);
}

/// The same stream byte by byte, so that every message passes through the buffer.
#[divan::bench]
fn byte_by_byte(bencher: Bencher<'_, '_>) {
    decode(bencher, &stream(), 1);
}

#[divan::bench]
fn board_dumps(bencher: Bencher<'_, '_>) {
    let mut bytes = Vec::new();
    for _ in 0..1000 {
        Message::BoardDump([Some(Piece::BlackQueen); Field::COUNT]).encode(&mut bytes);
    }
    decode(bencher, &bytes, usize::MAX);
}

/// Decodes 6 kB of a board's memory.
#[divan::bench]
fn memory(bencher: Bencher<'_, '_>) {
    let mut bytes = Vec::new();
    for field in Field::all().cycle().take(3000) {
        Element::PieceChange {
            contents: Some(Piece::WhitePawn),
            field,
            quick: false,
        }
        .encode(&mut bytes);
    }
    bencher
        .counter(BytesCount::of_slice(&bytes))
        .bench(|| eeprom::elements(black_box(&bytes)).flatten().count());
}

/// Decodes commands, as an emulator does.
#[divan::bench]
fn commands(bencher: Bencher<'_, '_>) {
    let bytes = [0x42, 0x2b, 0x04, 0x03, 0x0b, 0x04, 0x00].repeat(1000);
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| {
        let mut decoder = CommandDecoder::new();
        decoder.feed(black_box(&bytes), |decoded| {
            black_box(decoded).ok();
        });
        decoder.counters().messages
    });
}

fn decode(bencher: Bencher<'_, '_>, bytes: &[u8], portion: usize) {
    bencher.counter(BytesCount::of_slice(bytes)).bench(|| {
        let mut decoder = Decoder::new();
        for portion in black_box(bytes).chunks(portion) {
            decoder.feed(portion, |decoded| {
                black_box(&decoded).as_ref().ok();
            });
        }
        decoder.counters().messages
    });
}

/// Returns about 1 MB of field updates and clock times.
fn stream() -> Vec<u8> {
    let mut bytes = Vec::new();
    let fields = Field::all().cycle().zip(Piece::ALL.into_iter().cycle());
    for (i, (field, piece)) in (0..60_u8).cycle().zip(fields).take(35_000) {
        for contents in [None, Some(piece)] {
            Message::FieldUpdate(FieldUpdate::new(field, contents)).encode(&mut bytes);
            Message::FieldUpdate(FieldUpdate::new(field.turned(), contents)).encode(&mut bytes);
        }
        let left = SideTime {
            hours: 1,
            minutes: 59 - i,
            seconds: i,
            ..SideTime::default()
        };
        let times = ClockTimes {
            left,
            running: true,
            lefts_turn: true,
            ..ClockTimes::default()
        };
        Message::ClockTimes(times).encode(&mut bytes);
    }
    bytes
}
