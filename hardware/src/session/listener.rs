//! Decodes bytes into observations.

use std::collections::VecDeque;

use kiebitz_protocol::{ClockTimes, Command, CommandDecoder, Counters, Decoded, Decoder, Message, eeprom};

use crate::facts::{CLOCK_AGE, CLOCK_MESSAGE_TIME, DUMP_AGE, FIELD_AGE};
use crate::observation::{Identity, Observation, Observed};
use crate::time::Timestamp;

/// The part of a session that replay and live operation share: decodes received and sent bytes into observations.
///
/// It does not depend on the [`SessionWriter`](super::writer::SessionWriter), so the recorded bytes of both directions
/// give the same observations.
#[derive(Debug, Default)]
pub(super) struct SessionListener {
    decoder: Decoder,
    commands: CommandDecoder,
    identity: Identity,
    clock_message_at: Option<Timestamp>,
    observations: VecDeque<Observed>,
}

impl SessionListener {
    pub(super) fn counters(&self) -> &Counters {
        self.decoder.counters()
    }

    pub(super) fn mid_message(&self) -> bool {
        self.decoder.pending() > 0
    }

    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        self.decoder.reset();
        self.commands.reset();
        // Another board may be connected now.
        self.identity = Identity::default();
        self.clock_message_at = None;
        self.push(now, Observation::Opened);
    }

    pub(super) fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.decoder.reset();
        let reason = reason.to_owned();
        self.push(now, Observation::Closed { reason });
    }

    /// Handles bytes from the board. Also passes each decoded message or decoding error to `on_decoded`.
    pub(super) fn handle_bytes(
        &mut self,
        now: Timestamp,
        bytes: &[u8],
        mut on_decoded: impl FnMut(&Decoded<'_>),
    ) {
        let Self {
            decoder,
            identity,
            clock_message_at,
            observations,
            ..
        } = self;
        let after_clock_message =
            clock_message_at.is_some_and(|at| now.saturating_duration_since(at) < CLOCK_MESSAGE_TIME);
        let mut disturbed = 0;
        decoder.feed(bytes, |decoded| {
            match &decoded {
                // Boards send zeros while the clock processes a clock message.
                Ok(Message::ClockTimes(times)) if after_clock_message && *times == ClockTimes::default() => {}
                Ok(message) => {
                    if let Some(observation) = observe(now, message, identity) {
                        observations.push_back(Observed { at: now, observation });
                    }
                }
                Err(rejected) => disturbed += rejected.bytes,
            }
            on_decoded(&decoded);
        });
        if disturbed > 0 {
            self.push(now, Observation::Disturbed { bytes: disturbed });
        }
    }

    pub(super) fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        let Self {
            commands,
            clock_message_at,
            observations,
            ..
        } = self;
        commands.feed(bytes, |command| match command {
            Ok(Command::SendEeMoves) => observations.push_back(Observed {
                at: now,
                observation: Observation::MemoryAsked,
            }),
            Ok(Command::Clock(_)) => *clock_message_at = Some(now),
            _ => {}
        });
    }

    pub(super) fn poll_observation(&mut self) -> Option<Observed> {
        self.observations.pop_front()
    }

    fn push(&mut self, at: Timestamp, observation: Observation) {
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
            identity.serial = number(serial.as_str());
            Some(Observation::Identified(identity.clone()))
        }
        Message::LongSerialNumber(serial) => {
            identity.long_serial = number(serial.as_str());
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

/// Returns a reported serial number. `None` for blanks, which a board reports whose number was never set.
fn number(reported: &str) -> Option<String> {
    let blank = reported.trim().is_empty();
    (!blank).then(|| reported.to_owned())
}
