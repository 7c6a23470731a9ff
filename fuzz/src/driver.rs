//! What drives the machines of `kiebitz-hardware` under fuzzing: a port whose device says what the fuzzer likes, when it
//! likes, in virtual time.

use core::time::Duration;

use kiebitz_hardware::{BusLine, Line, Session, Timestamp};

/// What a recorder would have written.
#[derive(Debug)]
pub enum Recorded {
    Opened,
    Closed(String),
    Inbound(Vec<u8>),
    Outbound(Vec<u8>),
}

/// A machine that keeps a port, as its driver sees it.
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

/// The time at which every port is opened.
pub const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

/// Keeps a port as long as the script goes, and some seconds more. Returns what was recorded.
///
/// The script: a byte below 0xc0 is followed by as many bytes as its lower six bits say, and one more, that come from the
/// device; one below 0xff lets up to 2.5 s pass; 0xff pulls the cable out and in again.
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
    port.pass(AFTERWARDS);
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

    /// Everything that falls due within this time happens.
    fn pass(&mut self, lasting: Duration) {
        let until = self.now + lasting;
        let mut turns = 0;
        while let Some(due) = self.machine.poll_deadline().filter(|due| *due <= until) {
            turns += 1;
            assert!(turns <= MOST_TURNS, "spins at {due:?}");
            self.now = due.max(self.now);
            self.machine.handle_deadline(self.now);
            while let Some(bytes) = self.machine.poll_transmit(self.now) {
                // As long as they take on the line.
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

/// Hands what was recorded to a machine that only listens, which must not want to write anything.
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

/// Longer than a probe takes.
const AFTERWARDS: Duration = Duration::from_secs(6);
/// In that time nothing has more turns.
const MOST_TURNS: u32 = 2000;
