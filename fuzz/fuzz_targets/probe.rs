//! A port on which anything is said at any time: the probe does not panic or spin, sends nothing but pings, and decides,
//! once, within its time.
#![no_main]

use kiebitz_fuzz::{Recorded, drive};
use kiebitz_hardware::Probe;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut probe = Probe::new();
    let record = drive(&mut probe, data);
    for (_, recorded) in &record {
        if let Recorded::Outbound(bytes) = recorded {
            assert_eq!(bytes[..], [0x87, 0x00, 0x00, 0x07]);
        }
    }
    assert!(probe.poll_mode().is_some());
    assert_eq!((probe.poll_mode(), probe.poll_deadline()), (None, None));
});
