//! Damaged bytes in clock reports, which the message format cannot reveal. In virtual time.

use core::time::Duration;

use kiebitz::replay::Replay;
use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Content, Direction, Packet};
use kiebitz_hardware::emulator::EmulatedClock;
use serde_json::Value;

use crate::room::{Room, STANDARD};

/// Id of a clock report (BWTIME). `LENGTH` is its length including the id.
const REPORT: u8 = 0x8d;
const LENGTH: usize = 10;
/// Number of damaged recordings, each with one damaged byte.
const DAMAGED: usize = 300;
/// Events and incidents that one damaged byte must never cause.
const HARSH: [&str; 8] = [
    "flag_fall",
    "two_flags",
    "time_trouble",
    "clock_pressed_without_move",
    "clock_inconsistent",
    "clock_disconnected",
    "clock.disconnected",
    "clock.battery_low",
];

/// Records a game with more than ten minutes on the clocks, and a pause during which the clock is stopped.
fn game() -> Vec<u8> {
    let clock = EmulatedClock::new(Duration::from_secs(3700)).with_increment(Duration::from_secs(5));
    let mut room = Room::with_clock(STANDARD, "", clock);
    room.starts_clock();
    room.plays("e2e4 e7e5 g1f3 b8c6");
    room.stops_clock();
    room.pass(Duration::from_secs(20));
    room.starts_clock();
    room.plays("f1c4 f8c5");
    room.pass(Duration::from_secs(10));
    room.recorded()
}

fn packets(capture: &[u8]) -> Vec<Packet> {
    let mut reader = CaptureReader::new(capture).unwrap();
    core::iter::from_fn(|| reader.next_packet().unwrap()).collect()
}

/// Returns the same recording with other packets.
fn capture_of(capture: &[u8], packets: &[Packet]) -> Vec<u8> {
    let mut reader = CaptureReader::new(capture).unwrap();
    reader.next_packet().unwrap();
    let mut writer = CaptureWriter::new(Vec::new()).unwrap();
    for interface in reader.interfaces() {
        writer.add_interface(interface).unwrap();
    }
    for packet in packets {
        writer.write(packet).unwrap();
    }
    writer.into_inner()
}

/// Returns the bytes of a packet if it comes from the board.
fn inbound(packet: &mut Packet) -> Option<&mut Vec<u8>> {
    match &mut packet.content {
        Content::Bytes {
            direction: Direction::Inbound,
            bytes,
        } => Some(bytes),
        _ => None,
    }
}

/// Returns the positions of all bytes of clock reports: packet, and index in the packet.
fn reports(packets: &mut [Packet]) -> Vec<(usize, usize)> {
    let mut positions = Vec::new();
    let mut left = 0;
    for (packet, bytes) in packets
        .iter_mut()
        .enumerate()
        .filter_map(|(at, packet)| Some((at, inbound(packet)?)))
    {
        for (place, byte) in bytes.iter().enumerate() {
            match *byte {
                REPORT => left = LENGTH,
                0x80.. => left = 0,
                _ => {}
            }
            if left > 0 {
                left -= 1;
                positions.push((packet, place));
            }
        }
    }
    positions
}

/// Counts the events and incidents of each `HARSH` kind in a recording.
fn harsh(capture: &[u8]) -> [usize; HARSH.len()] {
    let mut counts = [0; HARSH.len()];
    let mut replay = Replay::new(capture, "replay").unwrap();
    while replay.next_at().is_some() {
        for event in replay.step().unwrap() {
            let event = serde_json::to_value(&event.event).unwrap();
            let opened = event["type"] == "incident.opened";
            let name = if opened { &event["kind"] } else { &event["type"] };
            if let Some(at) = HARSH.iter().position(|harsh| name == &Value::from(*harsh)) {
                counts[at] += 1;
            }
        }
    }
    counts
}

/// Clock reports (BWTIME) have no checksum. A single damaged byte can therefore report a fallen flag, a moved lever, a
/// missing clock or a weak battery. The clock readings before and after it contradict such a report.
#[test]
fn one_damaged_byte_of_the_clock_causes_no_incident() {
    let capture = game();
    assert_eq!(harsh(&capture), [0; HARSH.len()]);
    let positions = reports(&mut packets(&capture));
    assert!(positions.len() > 40 * LENGTH, "{}", positions.len());
    // A linear congruential generator: the same positions in every run, spread over the recording.
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for _ in 0..DAMAGED {
        let (packet, place) = positions[random(positions.len())];
        let (kind, value) = (random(5), u8::try_from(random(256)).unwrap());
        let mut damaged = packets(&capture);
        let bytes = inbound(&mut damaged[packet]).unwrap();
        match kind {
            0 | 1 => bytes[place] ^= 1 << (value % 8),
            2 => bytes[place] = value,
            3 => drop(bytes.remove(place)),
            _ => bytes.insert(place, value),
        }
        let counts = harsh(&capture_of(&capture, &damaged));
        assert_eq!(
            counts,
            [0; HARSH.len()],
            "{HARSH:?}: kind {kind} of {value} at {place} of {packet}"
        );
    }
}
