//! From the bytes of one port to observations.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{Command, CommandDecoder, Counters, Decoded, Decoder, Message, eeprom};

use crate::observation::{Identity, Observation, Observed};
use crate::time::Timestamp;

/// One board on one port: a state machine that is handed bytes and time and returns observations.
///
/// It never reads a clock and never opens anything; a replay hands in recorded bytes at the same door.
///
/// ```
/// use kiebitz_hardware::{Observation, Session, Timestamp};
///
/// let mut session = Session::new();
/// let now = Timestamp::from_micros(1_000_000);
/// session.handle_opened(now);
/// session.handle_bytes(now, &[0x8e, 0x00, 0x05, 52, 0x00]); // the e2 field has become empty
/// assert_eq!(session.poll_observation().map(|o| o.observation), Some(Observation::Opened));
/// assert!(matches!(
///     session.poll_observation().map(|o| o.observation),
///     Some(Observation::Field { update, .. }) if update.field.number() == 52 && update.contents.is_none()
/// ));
/// ```
#[derive(Debug, Default)]
pub struct Session {
    decoder: Decoder,
    commands: CommandDecoder,
    identity: Identity,
    observations: VecDeque<Observed>,
}

impl Session {
    /// A session with a port that has not been opened yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was decoded and what was dropped since the session began.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.decoder.counters()
    }

    /// The port was opened.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.decoder.reset();
        self.commands.reset();
        self.tell(now, Observation::Opened);
    }

    /// The port is gone.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.decoder.reset();
        self.tell(
            now,
            Observation::Closed {
                reason: reason.to_owned(),
            },
        );
    }

    /// Bytes came from the board.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        let Self {
            decoder,
            identity,
            observations,
            ..
        } = self;
        let mut disturbed = 0;
        decoder.feed(bytes, |decoded: Decoded<'_>| match decoded {
            Ok(message) => {
                if let Some(observation) = observe(now, &message, identity) {
                    observations.push_back(Observed { at: now, observation });
                }
            }
            Err(rejected) => disturbed += rejected.bytes,
        });
        if disturbed > 0 {
            self.tell(now, Observation::Disturbed { bytes: disturbed });
        }
    }

    /// Bytes were written to the board: in a replay the session hears what it once said itself.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        let Self {
            commands,
            observations,
            ..
        } = self;
        commands.feed(bytes, |command| {
            if let Ok(Command::SendEeMoves) = command {
                observations.push_back(Observed {
                    at: now,
                    observation: Observation::MemoryAsked,
                });
            }
        });
    }

    /// The next observation, in the order of arrival.
    pub fn poll_observation(&mut self) -> Option<Observed> {
        self.observations.pop_front()
    }

    fn tell(&mut self, at: Timestamp, observation: Observation) {
        self.observations.push_back(Observed { at, observation });
    }
}

fn observe(now: Timestamp, message: &Message<'_>, identity: &mut Identity) -> Option<Observation> {
    match message {
        Message::FieldUpdate(update) => Some(Observation::Field {
            update: *update,
            not_before: now.saturating_sub(FIELD_AGE),
        }),
        Message::BoardDump(dump) => Some(Observation::Board {
            dump: *dump,
            not_before: now.saturating_sub(DUMP_AGE),
        }),
        Message::ClockTimes(times) => Some(Observation::Clock {
            times: *times,
            not_before: now.saturating_sub(CLOCK_AGE),
        }),
        Message::ClockAbsent(_) => Some(Observation::ClockAbsent),
        Message::EeMoves(data) => Some(Observation::Memory {
            elements: eeprom::elements(data).filter_map(Result::ok).collect(),
        }),
        Message::SerialNumber(serial) => {
            identity.serial = Some(serial.as_str().to_owned());
            Some(Observation::Identified(identity.clone()))
        }
        Message::LongSerialNumber(serial) => {
            identity.long_serial = Some(serial.as_str().to_owned());
            Some(Observation::Identified(identity.clone()))
        }
        Message::Version { major, minor } => {
            identity.version = Some((*major, *minor));
            Some(Observation::Identified(identity.clone()))
        }
        Message::Trademark(text) => {
            identity.trademark = Some((*text).to_owned());
            Some(Observation::Identified(identity.clone()))
        }
        Message::BatteryStatus(status) => Some(Observation::Battery(*status)),
        _ => None,
    }
}

/// A full scan of the fields takes 200 to 250 ms, a report another 5 ms on the line.
const FIELD_AGE: Duration = Duration::from_millis(255);
/// A scan, and 70 ms on the line.
const DUMP_AGE: Duration = Duration::from_millis(320);
/// What the board sends of the clock is up to a second behind its display.
const CLOCK_AGE: Duration = Duration::from_secs(1);
