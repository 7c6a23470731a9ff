//! Drives a line in unknown mode with arbitrary bytes at arbitrary times. Checks that it does not panic or spin, that
//! no bus command follows a single-board command until the port is reopened, and that a peeking line does not request
//! changes.

use super::driver::{Recorded, drive};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::{Line, LineSettings};
use kiebitz_protocol::BusCommandKind;

pub fn run(data: &[u8]) {
    drive_line(LineSettings::default(), data);
    let consumed = drive_line(LineSettings::default().peeking(), data);
    assert!(!consumed, "a question that takes changes");
}

/// Drives a line and returns whether it sent a bus command whose answer consumes a board's changes.
fn drive_line(settings: LineSettings, data: &[u8]) -> bool {
    let mut line = Line::keeping(settings);
    let record = drive(&mut line, data);
    let mut consumed = false;
    // Whether a single-board command was sent since the port was opened.
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
                consumed |= matches!(
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
    consumed
}
