//! Drives a session with arbitrary bytes at arbitrary times. Checks that it does not panic or spin, sends no forbidden
//! command and never more bytes than the board's buffer holds, and that a replay of the recording gives the same
//! observations.

use super::driver::{Recorded, drive, replay};
use kiebitz_hardware::{Session, SessionSettings};
use kiebitz_protocol::CommandDecoder;

pub fn run(data: &[u8]) {
    let mut session = Session::keeping(SessionSettings {
        battery: Some(core::time::Duration::from_secs(3)),
        ..SessionSettings::default()
    });
    let record = drive(&mut session, data);

    let mut commands = CommandDecoder::new();
    for (_, recorded) in &record {
        match recorded {
            Recorded::Opened => commands.reset(),
            Recorded::Outbound(bytes) => {
                assert!((1..=10).contains(&bytes.len()));
                // Forbidden commands: reset, bus mode, boot loader and the commands of draughts boards.
                assert!(
                    !bytes
                        .iter()
                        .any(|byte| matches!(byte, 0x40 | 0x4a | 0x4e | 0x50..=0x54))
                );
                commands.feed(bytes, |command| assert!(command.is_ok()));
            }
            _ => {}
        }
    }

    let mut listener = Session::new();
    replay(&mut listener, &record);
    loop {
        let observed = session.poll_observation();
        assert_eq!(listener.poll_observation(), observed);
        if observed.is_none() {
            break;
        }
    }
    assert_eq!(listener.counters(), session.counters());
}
