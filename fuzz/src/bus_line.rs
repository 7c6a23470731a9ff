//! Drives a polling bus line with arbitrary bytes at arbitrary times. Checks that it does not panic or spin, sends one
//! command at a time and none that disturbs boards in play, and that a replay of the recording gives the same
//! observations.

use super::driver::{Recorded, drive, replay};
use kiebitz_hardware::{BusLine, BusSettings};
use kiebitz_protocol::{BusCommandDecoder, BusCommandKind};

pub fn run(data: &[u8]) {
    let mut bus = BusLine::polling(BusSettings::default());
    let record = drive(&mut bus, data);

    for (_, recorded) in &record {
        if let Recorded::Outbound(bytes) = recorded {
            let mut kinds = Vec::new();
            BusCommandDecoder::new().feed(bytes, |command| {
                kinds.push(command.expect("a whole question").kind)
            });
            assert_eq!(kinds.len(), 1);
            let forbidden = [
                BusCommandKind::SetStart,
                BusCommandKind::EndBusMode,
                BusCommandKind::Reset,
            ];
            assert!(!forbidden.contains(&kinds[0]));
        }
    }

    let mut listener = BusLine::new();
    replay(&mut listener, &record);
    loop {
        let observed = bus.poll_observation();
        assert_eq!(listener.poll_observation(), observed);
        if observed.is_none() {
            break;
        }
    }
    assert!(listener.boards().eq(bus.boards()));
}
