//! Arbitrary input in arbitrary chunks.

use core::time::Duration;

use kiebitz_protocol::{
    BatteryStatus, ClockAbsent, ClockAck, ClockTimes, CommandDecoder, Field, FieldUpdate, Message,
    SerialNumber,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::world::START;
use crate::{Observed, Session, SessionSettings, Timestamp};

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Wait(u64),
    Show(String),
    Recall(bool),
    Reopen,
}

fn messages() -> impl Strategy<Value = Vec<u8>> {
    let message = prop_oneof![
        (0_u8..64)
            .prop_map(|number| Message::FieldUpdate(FieldUpdate::new(Field::new(number).unwrap(), None))),
        Just(Message::BoardDump([None; Field::COUNT])),
        any::<bool>().prop_map(|running| Message::ClockTimes(ClockTimes {
            running,
            ..ClockTimes::default()
        })),
        Just(Message::ClockAbsent(ClockAbsent::default())),
        any::<[u8; 4]>().prop_map(|bytes| Message::ClockAck(ClockAck::new(bytes))),
        Just(Message::EeMoves(&[0x6a, 0x58, 0x00, 0x6b])),
        Just(Message::SerialNumber(SerialNumber::new(*b"00042").unwrap())),
        Just(Message::Version { major: 1, minor: 8 }),
        Just(Message::Trademark("kiebitz")),
        Just(Message::BatteryStatus(BatteryStatus::default())),
        Just(Message::Unknown {
            id: 0x9e,
            data: &[1, 2]
        }),
    ];
    message.prop_map(|message| {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        bytes
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let portion = (messages(), any::<prop::sample::Index>()).prop_map(|(mut bytes, at)| {
        bytes.truncate(at.index(bytes.len()));
        bytes
    });
    let step = prop_oneof![
        6 => messages().prop_map(Step::Bytes),
        1 => portion.prop_map(Step::Bytes),
        2 => vec(any::<u8>(), 0..40).prop_map(Step::Bytes),
        6 => (0_u64..3000).prop_map(Step::Wait),
        1 => any::<String>().prop_map(Step::Show),
        1 => any::<bool>().prop_map(Step::Recall),
        1 => Just(Step::Reopen),
    ];
    vec(step, 0..120)
}

fn settings() -> impl Strategy<Value = SessionSettings> {
    let time = || (0_u64..20_000).prop_map(Duration::from_millis);
    (
        any::<bool>(),
        proptest::option::of(time()),
        time(),
        time(),
        time(),
        any::<bool>(),
    )
        .prop_map(
            |(read_memory, battery, quiet_dump, silence, text_time, shared)| SessionSettings {
                read_memory,
                battery,
                quiet_dump,
                silence,
                text_time,
                shared,
            },
        )
}

/// An entry of the recording.
#[derive(Debug)]
enum Recorded {
    Opened,
    Closed(String),
    Inbound(Vec<u8>),
    Outbound(Vec<u8>),
}

/// A driver with a recorder, and a device that sends arbitrary bytes.
struct Port {
    session: Session,
    now: Timestamp,
    record: Vec<(Timestamp, Recorded)>,
    observed: Vec<Observed>,
    /// Time of the last write since the opening.
    sent_at: Option<Timestamp>,
    /// Time in ms that the driver takes to write.
    write_millis: u64,
}

impl Port {
    fn open(&mut self) {
        self.record.push((self.now, Recorded::Opened));
        self.session.handle_opened(self.now);
        self.sent_at = None;
    }

    fn close(&mut self, reason: &str) {
        self.record.push((self.now, Recorded::Closed(reason.to_owned())));
        self.session.handle_closed(self.now, reason);
    }

    /// Advances the time to `until` and handles all deadlines up to then.
    fn pass(&mut self, until: Timestamp) -> Result<(), TestCaseError> {
        let mut deadlines = 0;
        while let Some(due) = self.session.poll_deadline().filter(|due| *due <= until) {
            self.now = due.max(self.now);
            deadlines += 1;
            // At most one command every 50 ms, and one expired query between two commands.
            prop_assert!(deadlines <= 2 + 3000 / 25, "{deadlines} deadlines in 3 s");
            self.session.handle_deadline(self.now);
            prop_assert!(self.session.poll_deadline().is_none_or(|next| next > self.now));
            let mut writes = 0;
            while let Some(bytes) = self.session.poll_transmit(self.now) {
                writes += 1;
                prop_assert!((1..=10).contains(&bytes.len()) && writes == 1, "{bytes:x?}");
                let gap = self.sent_at.map(|at| self.now.saturating_duration_since(at));
                prop_assert!(gap.is_none_or(|gap| gap >= Duration::from_millis(50)), "{gap:?}");
                self.now = self.now + Duration::from_millis(self.write_millis);
                self.sent_at = Some(self.now);
                self.session.handle_sent(self.now, &bytes);
                self.record.push((self.now, Recorded::Outbound(bytes)));
            }
            prop_assert!(self.session.poll_deadline().is_none_or(|next| next > self.now));
            if let Some(reason) = self.session.poll_close() {
                self.close(&reason);
                self.open();
            }
        }
        self.now = self.now.max(until);
        Ok(())
    }

    fn perform(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Bytes(bytes) => {
                self.session.handle_bytes(self.now, &bytes);
                self.record.push((self.now, Recorded::Inbound(bytes)));
            }
            Step::Wait(millis) => self.pass(self.now + Duration::from_millis(millis))?,
            Step::Show(text) => self.session.show(self.now, &text),
            Step::Recall(wanted) => self.session.recall(self.now, wanted),
            Step::Reopen => {
                self.close("unplugged");
                self.pass(self.now + Duration::from_secs(1))?;
                self.open();
            }
        }
        Ok(())
    }
}

fn live(settings: SessionSettings, write_millis: u64, steps: Vec<Step>) -> Result<Port, TestCaseError> {
    let mut port = Port {
        session: Session::keeping(settings),
        now: START,
        record: Vec::new(),
        observed: Vec::new(),
        sent_at: None,
        write_millis,
    };
    port.open();
    for step in steps {
        port.perform(step)?;
    }
    port.observed
        .extend(core::iter::from_fn(|| port.session.poll_observation()));
    Ok(port)
}

proptest! {
    #[test]
    fn writes_are_small_and_without_forbidden_commands(settings in settings(), write_millis in 0_u64..200, steps in steps()) {
        let mut commands = CommandDecoder::new();
        let mut refused = 0;
        for (_, recorded) in live(settings, write_millis, steps)?.record {
            match recorded {
                Recorded::Opened => commands.reset(),
                Recorded::Outbound(bytes) => {
                    for forbidden in [0x40, 0x4a, 0x4e, 0x50, 0x51, 0x52, 0x53, 0x54] {
                        prop_assert!(!bytes.contains(&forbidden), "{bytes:x?}");
                    }
                    commands.feed(&bytes, |command| refused += usize::from(command.is_err()));
                }
                _ => {}
            }
        }
        prop_assert_eq!(refused, 0);
    }

    #[test]
    fn a_replay_makes_the_observations_of_live_operation(settings in settings(), write_millis in 0_u64..200, steps in steps()) {
        let live = live(settings, write_millis, steps)?;
        let mut replay = Session::new();
        for (at, recorded) in &live.record {
            match recorded {
                Recorded::Opened => replay.handle_opened(*at),
                Recorded::Closed(reason) => replay.handle_closed(*at, reason),
                Recorded::Inbound(bytes) => replay.handle_bytes(*at, bytes),
                Recorded::Outbound(bytes) => replay.handle_sent(*at, bytes),
            }
            prop_assert_eq!((replay.poll_deadline(), replay.poll_transmit(*at)), (None, None));
        }
        let replayed: Vec<Observed> = core::iter::from_fn(|| replay.poll_observation()).collect();
        prop_assert_eq!(replayed, live.observed);
    }
}
