//! Tracks the state of a board and decides when to query it.

use core::time::Duration;

use kiebitz_protocol::{ClockTimes, Contents, Decoded, Dump, Field, Message};

use super::settings::SessionSettings;
use crate::time::Timestamp;

/// State of a board on an open port that determines when to query it.
#[derive(Debug, Clone)]
pub(super) struct Watch {
    /// When the last message arrived, or the port was opened.
    pub(super) last_message_at: Timestamp,
    /// Whether a message has arrived since the port was opened.
    any_message: bool,
    /// Whether undecodable bytes have arrived since the last message.
    garbage_since_message: bool,
    /// When bytes last arrived that did not complete a message. An answer may be in transit.
    pub(super) last_partial_at: Timestamp,
    /// When a square last changed, or the memory arrived. `None` if a dump has arrived since.
    changed_at: Option<Timestamp>,
    pub(super) garbage_at: Option<Timestamp>,
    /// When the first indication of lost bytes or changes since the last dump occurred.
    disturbed_at: Option<Timestamp>,
    pub(super) dump_requested_at: Option<Timestamp>,
    /// Whether the clock runs. `None` without a clock.
    clock_runs: Option<bool>,
    /// Last clock reading, if the clock was running. `None` otherwise.
    running: Option<ClockTimes>,
    /// Whether the lever had the same position in the last two readings. The first reading after a press may still
    /// change.
    lever_steady: bool,
    /// Number of changes of squares since the last press.
    changes: u8,
    /// Contents of the squares according to dumps and reports. `None` before the first dump.
    fields: Option<Dump>,
    /// Squares whose contents in the last dump differed from their last report, with the contents in the dump. An entry
    /// is removed when its report arrives.
    unreported: Vec<(Field, Contents)>,
    /// When a square last changed, or the first dump since the opening of the port arrived. `None` before that dump.
    moved_at: Option<Timestamp>,
    /// When lost reports were first noticed. `None` if no report is missing.
    loss_noticed_at: Option<Timestamp>,
    pub(super) memory_wanted: bool,
    pub(super) memory_requested_at: Option<Timestamp>,
}

impl Watch {
    pub(super) fn opened(now: Timestamp) -> Self {
        Self {
            last_message_at: now,
            any_message: false,
            garbage_since_message: false,
            last_partial_at: now,
            changed_at: None,
            garbage_at: None,
            disturbed_at: None,
            dump_requested_at: None,
            clock_runs: None,
            running: None,
            lever_steady: false,
            changes: 0,
            fields: None,
            unreported: Vec::new(),
            moved_at: None,
            loss_noticed_at: None,
            memory_wanted: false,
            memory_requested_at: None,
        }
    }

    pub(super) fn handle_decoded(&mut self, now: Timestamp, decoded: &Decoded<'_>) {
        let message = match decoded {
            Ok(Message::Unknown { .. }) | Err(_) => {
                self.garbage_since_message = true;
                self.last_partial_at = now;
                self.garbage_at = Some(now);
                self.disturbed_at.get_or_insert(now);
                return;
            }
            Ok(message) => message,
        };
        // If reports of the running clock are missing for some time, reports of changes may be missing too.
        let runs = self.clock_runs == Some(true);
        if runs && now > self.last_message_at.max(self.last_partial_at) + RUNNING_CLOCK_SILENCE {
            self.note_loss(now);
        }
        (self.last_message_at, self.any_message, self.garbage_since_message) = (now, true, false);
        match message {
            Message::FieldUpdate(update) => {
                (self.changed_at, self.moved_at) = (Some(now), Some(now));
                self.changes = self.changes.saturating_add(1);
                self.handle_report(now, update.field, update.contents);
            }
            Message::BoardDump(dump) => {
                (self.changed_at, self.disturbed_at) = (None, None);
                self.moved_at.get_or_insert(now);
                self.handle_dump(now, dump);
            }
            // Updates wait while the memory is sent, and the board has little room for them.
            Message::EeMoves(_) => {
                self.changed_at = Some(now);
                self.loss_noticed_at = None;
                self.unreported.clear();
            }
            Message::ClockTimes(times) => {
                self.clock_runs = Some(times.running);
                self.compare_clock(now, *times);
            }
            Message::ClockAbsent(_) => (self.clock_runs, self.running) = (None, None),
            _ => {}
        }
    }

    /// Compares two readings of a running clock. Players press only after a move, so changes may have been lost if too
    /// few were reported before a press.
    fn compare_clock(&mut self, now: Timestamp, times: ClockTimes) {
        let before = self.running.take().filter(|_| times.running);
        self.running = Some(times).filter(|times| times.running);
        let Some(before) = before else {
            self.lever_steady = false;
            return;
        };
        let moved = before.lever_right_high != times.lever_right_high;
        // Both sides have pressed if the lever has not moved but the time of the halted side has changed.
        let twice = self.lever_steady && !moved && halted(before) != halted(times);
        self.lever_steady = !moved;
        if moved || twice {
            let changes = core::mem::take(&mut self.changes);
            if changes < if twice { MIN_CHANGES_OF_TWO_PLIES } else { 1 } {
                self.disturbed_at.get_or_insert(now);
            }
        }
    }

    /// Handles a reported change. Boards report only changes, so a report of the known contents shows that another
    /// report was lost.
    fn handle_report(&mut self, now: Timestamp, field: Field, contents: Contents) {
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
            // The dump already contained this change.
            self.loss_noticed_at = self.loss_noticed_at.filter(|_| !self.unreported.is_empty());
        } else if !changed {
            self.loss_noticed_at.get_or_insert(now);
        }
    }

    fn handle_dump(&mut self, now: Timestamp, dump: &Dump) {
        if let Some(fields) = &self.fields {
            let shown = Field::all().zip(*dump);
            let different = shown.filter(|(field, contents)| fields[field.index()] != *contents);
            self.unreported = different.collect();
            if !self.unreported.is_empty() {
                self.loss_noticed_at.get_or_insert(now);
            }
        }
        self.fields = Some(*dump);
    }

    /// Notes that reports may have been lost which a dump may not recover.
    pub(super) fn note_loss(&mut self, now: Timestamp) {
        if self.fields.is_some() {
            self.loss_noticed_at.get_or_insert(now);
            self.disturbed_at.get_or_insert(now);
        }
    }

    /// Returns when to request the memory. `None` if the host does not want it and no report is known to be lost, or
    /// before the first dump. For lost reports the request waits until the squares are quiet, because the board reports
    /// nothing while it sends its memory.
    pub(super) fn memory_due(&self, settings: &SessionSettings) -> Option<Timestamp> {
        if !settings.read_memory {
            return None;
        }
        let quiet_at = self.moved_at? + settings.quiet_dump;
        let noticed_at = self
            .loss_noticed_at
            .filter(|noticed_at| self.last_message_at >= *noticed_at);
        let for_loss = noticed_at.map(|noticed_at| quiet_at.max(noticed_at + REPORT_DELAY));
        let for_host = self.moved_at.filter(|_| self.memory_wanted);
        let due = for_host.into_iter().chain(for_loss).min()?;
        Some(
            self.memory_requested_at
                .map_or(due, |at| due.max(at + MIN_MEMORY_INTERVAL)),
        )
    }

    pub(super) fn has_clock(&self) -> bool {
        self.clock_runs.is_some()
    }

    /// Returns when to request a dump to recover changes that may have been lost. `None` before the first dump.
    pub(super) fn dump_due(&self, settings: &SessionSettings) -> Option<Timestamp> {
        let quiet = match self.changed_at {
            Some(at) => Some(at + settings.quiet_dump),
            None => self.dump_requested_at.map(|at| at + ROUTINE_DUMP_INTERVAL),
        };
        let disturbed = self.disturbed_at.map(|at| at + BURST_TIME);
        let due = quiet.into_iter().chain(disturbed).min()?;
        Some(
            self.dump_requested_at
                .map_or(due, |at| due.max(at + MIN_DUMP_INTERVAL)),
        )
    }

    /// Returns when to request a sign of life.
    pub(super) fn silence_due(&self, settings: &SessionSettings) -> Timestamp {
        let running = self.clock_runs == Some(true);
        self.last_message_at
            + if running {
                settings.silence.min(RUNNING_CLOCK_SILENCE)
            } else {
                settings.silence
            }
    }

    /// Returns the reason for closing the port if a required query remains unanswered.
    pub(super) fn reason(&self) -> &'static str {
        match (self.any_message, self.garbage_since_message) {
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

/// Returns hours, minutes and seconds of the side whose time is not running.
fn halted(times: ClockTimes) -> (u8, u8, u8) {
    let side = if times.lever_right_high {
        times.left
    } else {
        times.right
    };
    (side.hours, side.minutes, side.seconds)
}

/// Minimum number of changes of two plies: four, or three if a piece is captured before the next scan of the board.
const MIN_CHANGES_OF_TWO_PLIES: u8 = 3;
/// Delay between garbage and the request for a dump, so that the burst is over.
const BURST_TIME: Duration = Duration::from_millis(300);
/// Minimum time between two dump requests, so that dumps do not block a disturbed line.
const MIN_DUMP_INTERVAL: Duration = Duration::from_secs(2);
/// Time in which a report that was overtaken by a dump arrives (one scan), and a burst of garbage ends.
const REPORT_DELAY: Duration = Duration::from_millis(300);
/// Minimum time between two memory requests, so that they do not block a line that keeps losing reports.
const MIN_MEMORY_INTERVAL: Duration = Duration::from_secs(10);
/// Interval of routine dumps, which recover updates that were lost without a trace.
const ROUTINE_DUMP_INTERVAL: Duration = Duration::from_secs(60);
/// Maximum silence with a running clock, which the board reports every one or two seconds.
const RUNNING_CLOCK_SILENCE: Duration = Duration::from_secs(4);
