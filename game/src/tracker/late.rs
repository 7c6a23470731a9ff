//! Reports that the board held back while it sent its memory. They are collected until no more come, then played back.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use kiebitz_protocol::{ClockTimes, Element, FieldUpdate};

use super::Tracker;
use super::playback::Playback;
use crate::model::Model;

/// Reports that come right after the memory. They were made while it was being sent.
#[derive(Debug)]
pub(super) struct LateReports {
    /// When the memory was requested.
    since: Timestamp,
    /// A report that comes before this counts as late.
    until: Timestamp,
    /// The limit of `until`.
    latest: Timestamp,
    changes: Vec<Element>,
    /// The last clock reading among them.
    reading: Option<(Timestamp, ClockTimes)>,
}

impl LateReports {
    /// For a memory that was requested at `since` and came at `now`.
    pub(super) fn after_memory(since: Timestamp, now: Timestamp, model: &Model) -> Self {
        Self {
            since,
            until: now + ONE_SCAN_APART,
            latest: now + model.rest,
            changes: Vec::new(),
            reading: None,
        }
    }
}

impl Tracker {
    /// Keeps a report that had to wait while the memory was sent. Returns whether it is one.
    pub(super) fn is_late(&mut self, now: Timestamp, update: FieldUpdate) -> bool {
        let Some(late) = self.late.as_mut().filter(|late| now < late.until) else {
            return false;
        };
        late.until = late.until.max(now + self.model.settle).min(late.latest);
        late.changes.push(Element::PieceChange {
            field: update.field,
            contents: update.contents,
            quick: false,
        });
        true
    }

    /// The same for a reading of a running clock, which shows whether a press came before or after the changes around it.
    pub(super) fn is_late_reading(&mut self, now: Timestamp, times: ClockTimes) -> bool {
        let running = self.clock.running() == Some(true);
        let last = self.clock.reading();
        let Some(late) = self.late.as_mut().filter(|late| running && now < late.until) else {
            return false;
        };
        let before = late.reading.or(last);
        if before.is_some_and(|(_, before)| before.lever_right_high != times.lever_right_high) {
            let left = times.lever_right_high;
            let side = if left { times.left } else { times.right };
            late.changes.push(Element::ClockTime {
                left,
                hours: side.hours,
                minutes: side.minutes,
                seconds: side.seconds,
            });
        }
        if !times.running && before.is_some_and(|(_, before)| before.running) {
            // What comes after it was not done in haste.
            late.changes.push(Element::Nothing);
        }
        late.until = late.until.max(now + self.model.settle).min(late.latest);
        late.reading = Some((now, times));
        true
    }

    /// Plays back the late reports once all have come. Returns whether more may come.
    pub(super) fn waits_for_late(&mut self, now: Timestamp) -> bool {
        let waits = self.late.as_ref().map(|late| late.until);
        if waits.is_some_and(|until| self.waits(now, until)) {
            return true;
        }
        self.play_late(now);
        false
    }

    /// Plays back the late reports that have come; no more are expected.
    pub(super) fn play_late(&mut self, now: Timestamp) {
        let Some(late) = self.late.take() else { return };
        if !late.changes.is_empty() {
            self.playback = Some(Playback::new(now, false));
            // The last move may have stood long enough by then.
            self.decide(late.since);
            self.play_back(late.since, now, &late.changes);
            self.playback = None;
            if self.quiet_since >= late.since {
                // The last change may have been made just before it came.
                self.quiet_since = now;
            }
        }
        if let Some((_, times)) = late.reading {
            for change in self.clock.read(now, times) {
                self.clock_changed(now, change);
            }
        }
    }
}
