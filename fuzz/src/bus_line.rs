//! A bus on which anything is said at any time: polling it does not panic or spin, one whole question goes out at a time
//! and none that boards in play must not be asked, and a replay of the recording observes the same.

use super::driver::{Recorded, drive, replay};
use kiebitz_hardware::{BusLine, BusSettings};
use kiebitz_protocol::{BusCommandDecoder, BusCommandKind};

pub fn run(data: &[u8]) {
    let mut bus = BusLine::polling(BusSettings::default());
    let record = drive(&mut bus, data);

    for (_, recorded) in &record {
        if let Recorded::Outbound(bytes) = recorded {
            let mut asked = Vec::new();
            BusCommandDecoder::new().feed(bytes, |command| {
                asked.push(command.expect("a whole question").kind)
            });
            assert_eq!(asked.len(), 1);
            let forbidden = [
                BusCommandKind::SetStart,
                BusCommandKind::EndBusMode,
                BusCommandKind::Reset,
            ];
            assert!(!forbidden.contains(&asked[0]));
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
