//! Drives the state machines of `kiebitz-hardware` in virtual time with a port whose device sends bytes chosen by the
//! fuzzer.

use core::time::Duration;

use kiebitz_hardware::{BusLine, Line, Session, Timestamp};

/// One entry of a recording.
#[derive(Debug)]
pub enum Recorded {
    Opened,
    Closed(String),
    Inbound(Vec<u8>),
    Outbound(Vec<u8>),
}

/// A state machine that communicates through a port.
pub trait Machine {
    fn handle_opened(&mut self, now: Timestamp);
    fn handle_closed(&mut self, now: Timestamp, reason: &str);
    fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]);
    fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]);
    fn handle_deadline(&mut self, now: Timestamp);
    fn poll_deadline(&self) -> Option<Timestamp>;
    fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>>;
    fn poll_close(&mut self) -> Option<String>;
}

macro_rules! machine {
    ($machine:ty) => {
        impl Machine for $machine {
            fn handle_opened(&mut self, now: Timestamp) {
                self.handle_opened(now);
            }
            fn handle_closed(&mut self, now: Timestamp, reason: &str) {
                self.handle_closed(now, reason);
            }
            fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
                self.handle_bytes(now, bytes);
            }
            fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
                self.handle_sent(now, bytes);
            }
            fn handle_deadline(&mut self, now: Timestamp) {
                self.handle_deadline(now);
            }
            fn poll_deadline(&self) -> Option<Timestamp> {
                self.poll_deadline()
            }
            fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
                self.poll_transmit(now)
            }
            fn poll_close(&mut self) -> Option<String> {
                self.poll_close()
            }
        }
    };
}

machine!(Session);
machine!(BusLine);
machine!(Line);

/// Time of the first opening of the port.
pub const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

/// Runs a machine for the duration of the script and `TRAILING_TIME`, and returns the recording.
///
/// Each control byte of the script triggers an action:
///
/// - below 0xc0: the device sends the following 1 to 64 bytes; the lower six bits are the number of bytes minus 1
/// - 0xc0 to 0xfe: 40 ms to 2.52 s pass
/// - 0xff: the cable is unplugged and, one second later, plugged in again
pub fn drive(machine: &mut impl Machine, script: &[u8]) -> Vec<(Timestamp, Recorded)> {
    let mut port = Port {
        machine,
        now: START,
        record: Vec::new(),
    };
    port.open();
    let mut rest = script;
    while let Some((&control, after)) = rest.split_first() {
        rest = after;
        match control {
            0xff => {
                port.close("unplugged");
                port.pass(Duration::from_secs(1));
                port.open();
            }
            0xc0.. => port.pass(Duration::from_millis(40 * (u64::from(control - 0xc0) + 1))),
            _ => {
                let (bytes, after) = rest.split_at(rest.len().min(usize::from(control & 0x3f) + 1));
                rest = after;
                port.machine.handle_bytes(port.now, bytes);
                port.record.push((port.now, Recorded::Inbound(bytes.to_vec())));
            }
        }
    }
    port.pass(TRAILING_TIME);
    port.record
}

struct Port<'m, M> {
    machine: &'m mut M,
    now: Timestamp,
    record: Vec<(Timestamp, Recorded)>,
}

impl<M: Machine> Port<'_, M> {
    fn open(&mut self) {
        self.record.push((self.now, Recorded::Opened));
        self.machine.handle_opened(self.now);
    }

    fn close(&mut self, reason: &str) {
        self.record.push((self.now, Recorded::Closed(reason.to_owned())));
        self.machine.handle_closed(self.now, reason);
    }

    /// Advances the time by `duration` and handles all deadlines in that time.
    fn pass(&mut self, duration: Duration) {
        let until = self.now + duration;
        let mut turns = 0;
        while let Some(due) = self.machine.poll_deadline().filter(|due| *due <= until) {
            turns += 1;
            assert!(turns <= MAX_TURNS, "spins at {due:?}");
            self.now = due.max(self.now);
            self.machine.handle_deadline(self.now);
            while let Some(bytes) = self.machine.poll_transmit(self.now) {
                // Transmission time at 9600 baud.
                self.now = self.now + Duration::from_micros(1042 * bytes.len() as u64);
                self.machine.handle_sent(self.now, &bytes);
                self.record.push((self.now, Recorded::Outbound(bytes)));
            }
            if let Some(reason) = self.machine.poll_close() {
                self.close(&reason);
                self.open();
            }
        }
        self.now = self.now.max(until);
    }
}

/// Replays a recording to a listening machine, which must not have deadlines or bytes to send.
pub fn replay(machine: &mut impl Machine, record: &[(Timestamp, Recorded)]) {
    for (at, recorded) in record {
        match recorded {
            Recorded::Opened => machine.handle_opened(*at),
            Recorded::Closed(reason) => machine.handle_closed(*at, reason),
            Recorded::Inbound(bytes) => machine.handle_bytes(*at, bytes),
            Recorded::Outbound(bytes) => machine.handle_sent(*at, bytes),
        }
        assert_eq!(
            (machine.poll_deadline(), machine.poll_transmit(*at)),
            (None, None)
        );
    }
}

/// Simulated time after the end of the script. Longer than a probe takes.
const TRAILING_TIME: Duration = Duration::from_secs(6);
/// Maximum number of deadlines in one call of `Port::pass`. A machine with more deadlines counts as spinning.
const MAX_TURNS: u32 = 2000;
