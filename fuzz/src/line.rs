//! A port on which anything is said at any time, and nobody knows what is on it: the line does not panic or spin, and
//! once a byte for a single board was sent, no bus command follows before the port is opened again. One that peeks asks
//! for no changes.

use super::driver::{Recorded, drive};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::{Line, LineSettings};
use kiebitz_protocol::BusCommandKind;

pub fn run(data: &[u8]) {
    keep(LineSettings::default(), data);
    let taken = keep(LineSettings::default().peeking(), data);
    assert!(!taken, "a question that takes changes");
}

/// Whether it asked a board of a bus for what the board then forgets.
fn keep(settings: LineSettings, data: &[u8]) -> bool {
    let mut line = Line::keeping(settings);
    let record = drive(&mut line, data);
    let mut taken = false;
    // Since the opening: whether a byte of a single board was sent.
    let mut single = false;
    for (_, recorded) in &record {
        match recorded {
            Recorded::Opened => single = false,
            Recorded::Outbound(bytes) => {
                assert!((1..=10).contains(&bytes.len()));
                let bus = bytes.first().is_some_and(|byte| *byte >= 0x80);
                assert!(!(single && bus), "back to bus questions without an opening");
                single |= !bus;
                let kind = bytes.first().copied().and_then(BusCommandKind::from_id);
                taken |= matches!(
                    kind,
                    Some(
                        BusCommandKind::Changes
                            | BusCommandKind::ChangesClockBoard
                            | BusCommandKind::RepeatChanges
                    )
                );
                assert!(!bus || bytes.len() == 4, "one bus command at a time");
            }
            _ => {}
        }
    }
    assert!(line.mode() != LineMode::Bus || !single);
    taken
}
