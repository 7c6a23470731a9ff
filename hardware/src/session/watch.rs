//! What was last heard of a board, and when it is time to ask it something.

use core::time::Duration;

use kiebitz_protocol::{ClockTimes, Contents, Decoded, Dump, Field, Message};

use super::settings::SessionSettings;
use crate::time::Timestamp;

/// When the board's memory is to be read.
///
/// A session does not read the memory on its own when the port opens. The answer takes up to 8.3 s, in which the board
/// reports nothing, and the memory rarely holds more than the first dump shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recall {
    /// It is not read.
    #[default]
    No,
    /// It is read after no square has changed for [`SessionSettings::quiet_dump`] since the first dump.
    WhenQuiet,
    /// It is read after the first dump, even if hands are moving: nothing is known of the game yet.
    AtOnce,
}

/// Watches over a board whose port is open.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    /// The last message, or the opening of the port.
    pub(super) heard_at: Timestamp,
    /// A message has come since the port was opened.
    speaks: bool,
    /// Bytes that made no message have come since the last one that did.
    noise: bool,
    /// Bytes last came that did not end a message: an answer may be on its way.
    pub(super) busy_at: Timestamp,
    /// A field last changed, and no dump has shown the board since.
    changed_at: Option<Timestamp>,
    /// Bytes that made no message last came then.
    pub(super) garbage_at: Option<Timestamp>,
    /// Bytes were first lost since the last dump, or what happened on the squares.
    disturbed_at: Option<Timestamp>,
    /// A dump was last asked for.
    pub(super) dump_asked_at: Option<Timestamp>,
    /// Whether the clock runs; `None` without a clock.
    clock_runs: Option<bool>,
    /// The last reading of a running clock; `None` where the last one was of another.
    running: Option<ClockTimes>,
    /// The lever has been in its position for more than one reading: after a press, the first one may still change.
    lever_rests: bool,
    /// How many fields have changed since a press.
    changes: u8,
    /// What stands on the fields by what was heard; `None` before the first dump.
    fields: Option<Dump>,
    /// Fields that a dump showed differently from their last report, and what it showed, until their reports follow.
    unreported: Vec<(Field, Contents)>,
    /// A field last changed, or the first dump since the port was opened came.
    moved_at: Option<Timestamp>,
    /// It was noticed then that reports were lost.
    missed_at: Option<Timestamp>,
    /// When the host wants the memory to be read.
    pub(super) recall: Recall,
    /// The memory was last asked for.
    pub(super) memory_asked_at: Option<Timestamp>,
}

impl Watch {
    pub(super) fn opened(now: Timestamp) -> Self {
        Self {
            heard_at: now,
            speaks: false,
            noise: false,
            busy_at: now,
            changed_at: None,
            garbage_at: None,
            disturbed_at: None,
            dump_asked_at: None,
            clock_runs: None,
            running: None,
            lever_rests: false,
            changes: 0,
            fields: None,
            unreported: Vec::new(),
            moved_at: None,
            missed_at: None,
            recall: Recall::No,
            memory_asked_at: None,
        }
    }

    /// Something was decoded, or could not be.
    pub(super) fn hear(&mut self, now: Timestamp, decoded: &Decoded<'_>) {
        let message = match decoded {
            Ok(Message::Unknown { .. }) | Err(_) => {
                self.noise = true;
                self.busy_at = now;
                self.garbage_at = Some(now);
                self.disturbed_at.get_or_insert(now);
                return;
            }
            Ok(message) => message,
        };
        // A clock went on running, and was not heard: what happened on the squares meanwhile was not either.
        let runs = self.clock_runs == Some(true);
        if runs && now > self.heard_at.max(self.busy_at) + RUNNING_CLOCK_SILENCE {
            self.missed(now);
        }
        (self.heard_at, self.speaks, self.noise) = (now, true, false);
        match message {
            Message::FieldUpdate(update) => {
                (self.changed_at, self.moved_at) = (Some(now), Some(now));
                self.changes = self.changes.saturating_add(1);
                self.reported(now, update.field, update.contents);
            }
            Message::BoardDump(dump) => {
                (self.changed_at, self.disturbed_at) = (None, None);
                self.moved_at.get_or_insert(now);
                self.dumped(now, dump);
            }
            // Updates waited while it was sent, and a board has little room for them.
            Message::EeMoves(_) => {
                self.changed_at = Some(now);
                self.missed_at = None;
                self.unreported.clear();
            }
            Message::ClockTimes(times) => {
                self.clock_runs = Some(times.running);
                self.clock_shown(now, *times);
            }
            Message::ClockAbsent(_) => (self.clock_runs, self.running) = (None, None),
            _ => {}
        }
    }

    /// Nobody presses without a move: where too few changes were reported before it, others may have been lost.
    fn clock_shown(&mut self, now: Timestamp, times: ClockTimes) {
        let before = self.running.take().filter(|_| times.running);
        self.running = Some(times).filter(|times| times.running);
        let Some(before) = before else {
            self.lever_rests = false;
            return;
        };
        let moved = before.lever_right_high != times.lever_right_high;
        // Both have pressed where the time of the side that does not run is another one.
        let twice = self.lever_rests && !moved && halted(before) != halted(times);
        self.lever_rests = !moved;
        if moved || twice {
            let changes = core::mem::take(&mut self.changes);
            if changes < if twice { CHANGES_OF_TWO } else { 1 } {
                self.disturbed_at.get_or_insert(now);
            }
        }
    }

    /// A board reports changes alone: a report of what was known already shows that another one was lost.
    fn reported(&mut self, now: Timestamp, field: Field, contents: Contents) {
        let Some(known) = self
            .fields
            .as_mut()
            .and_then(|fields| fields.get_mut(field.index()))
        else {
            return;
        };
        let changed = core::mem::replace(known, contents) != contents;
        let shown = self.unreported.len();
        self.unreported.retain(|ahead| *ahead != (field, contents));
        if self.unreported.len() < shown {
            // The dump was ahead of it.
            self.missed_at = self.missed_at.filter(|_| !self.unreported.is_empty());
        } else if !changed {
            self.missed_at.get_or_insert(now);
        }
    }

    fn dumped(&mut self, now: Timestamp, dump: &Dump) {
        if let Some(fields) = &self.fields {
            let shown = Field::all().zip(*dump);
            let different = shown.filter(|(field, contents)| fields[field.index()] != *contents);
            self.unreported = different.collect();
            if !self.unreported.is_empty() {
                self.missed_at.get_or_insert(now);
            }
        }
        self.fields = Some(*dump);
    }

    /// Reports may have been lost, and a dump may not show all of it.
    pub(super) fn missed(&mut self, now: Timestamp) {
        if self.fields.is_some() {
            self.missed_at.get_or_insert(now);
            self.disturbed_at.get_or_insert(now);
        }
    }

    /// When the memory is to be read; `None` if the host does not want it and no reports are known to be missing, or
    /// before the first dump. Reports are missing: the query waits until no hand is moving, because the board reports
    /// nothing while it sends its memory.
    pub(super) fn memory_due(&self, settings: &SessionSettings) -> Option<Timestamp> {
        if !settings.read_memory {
            return None;
        }
        let at_rest = self.moved_at? + settings.quiet_dump;
        let missed = self.missed_at.filter(|missed| self.heard_at >= *missed);
        let missed = missed.map(|missed| at_rest.max(missed + REPORT_FOLLOWS));
        let wanted = match self.recall {
            Recall::No => None,
            Recall::WhenQuiet => Some(at_rest),
            Recall::AtOnce => self.moved_at,
        };
        let due = wanted.into_iter().chain(missed).min()?;
        Some(
            self.memory_asked_at
                .map_or(due, |at| due.max(at + MIN_MEMORY_INTERVAL)),
        )
    }

    pub(super) fn has_clock(&self) -> bool {
        self.clock_runs.is_some()
    }

    /// When a dump is to show what may not have been heard; `None` before the first.
    pub(super) fn dump_due(&self, settings: &SessionSettings) -> Option<Timestamp> {
        let quiet = match self.changed_at {
            Some(at) => Some(at + settings.quiet_dump),
            None => self.dump_asked_at.map(|at| at + ROUTINE),
        };
        let disturbed = self.disturbed_at.map(|at| at + BURST);
        let due = quiet.into_iter().chain(disturbed).min()?;
        Some(
            self.dump_asked_at
                .map_or(due, |at| due.max(at + MIN_DUMP_INTERVAL)),
        )
    }

    /// When the board will have been silent for too long.
    pub(super) fn silence_due(&self, settings: &SessionSettings) -> Timestamp {
        let running = self.clock_runs == Some(true);
        self.heard_at
            + if running {
                settings.silence.min(RUNNING_CLOCK_SILENCE)
            } else {
                settings.silence
            }
    }

    /// Why the port is given up when a vital question stays without an answer.
    pub(super) fn reason(&self) -> &'static str {
        match (self.speaks, self.noise) {
            (false, false) => "no board answers: perhaps this is another device, or a board without power",
            (false, true) => {
                "the input is not that of a board: perhaps this is another device, or the cable is \
                faulty"
            }
            (true, false) => "the board does not answer: check its cable and its power",
            (true, true) => "the board sends only garbage: check its cable",
        }
    }
}

/// The hours, minutes and seconds of the side whose clock does not run.
fn halted(times: ClockTimes) -> (u8, u8, u8) {
    let side = if times.lever_right_high {
        times.left
    } else {
        times.right
    };
    (side.hours, side.minutes, side.seconds)
}

/// A piece that is taken before the board was scanned again spares two plies one change of four.
const CHANGES_OF_TWO: u8 = 3;
/// A burst of garbage should be over before a dump is asked for.
const BURST: Duration = Duration::from_millis(300);
/// The shortest time between two questions for a dump: a disturbed line must not be filled with dumps as well.
const MIN_DUMP_INTERVAL: Duration = Duration::from_secs(2);
/// A report that a dump has overtaken comes within a scan, and so does the end of a burst of garbage.
const REPORT_FOLLOWS: Duration = Duration::from_millis(300);
/// The shortest time between two readings of the memory, so that a line that keeps losing reports is not filled with
/// them.
const MIN_MEMORY_INTERVAL: Duration = Duration::from_secs(10);
/// Now and then a dump is due even if nothing seems to have been missed: a whole update lost leaves no trace.
const ROUTINE: Duration = Duration::from_secs(60);
/// With a running clock a board reports every second, sometimes every other.
const RUNNING_CLOCK_SILENCE: Duration = Duration::from_secs(4);
