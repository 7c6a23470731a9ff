//! Reports that waited on the board while it sent its memory.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{ClockTimes, Element, Field, FieldUpdate};

use super::Tracker;
use super::memory::Playback;

/// Reports that come right behind the memory's answer: they were made while it held the line.
#[derive(Debug)]
pub(super) struct Late {
    since: Timestamp,
    until: Timestamp,
    latest: Timestamp,
    changes: Vec<Element>,
    /// The last of the clock's readings among them.
    reading: Option<(Timestamp, ClockTimes)>,
}

/// What waited begins to come within this time.
const LATE_FOR: Duration = Duration::from_millis(150);
/// One report follows the other as fast as the line takes them: 5 ms each, and what the port adds.
const LATE_ONE_BY_ONE: Duration = Duration::from_millis(50);
/// Hands cannot have done more while the memory was read.
const LATE_AT_MOST: Duration = Duration::from_millis(1000);

impl Late {
    /// Behind a memory that was asked for at `since` and has come at `now`.
    pub(super) fn behind_memory(since: Timestamp, now: Timestamp) -> Self {
        Self {
            since,
            until: now + LATE_FOR,
            latest: now + LATE_AT_MOST,
            changes: Vec::new(),
            reading: None,
        }
    }
}

impl Tracker {
    /// A report that had to wait behind the memory's answer came to be before it arrived. Returns whether it is one.
    pub(super) fn is_late(&mut self, now: Timestamp, update: FieldUpdate) -> bool {
        let Some(late) = self.late.as_mut().filter(|late| now < late.until) else {
            return false;
        };
        late.until = late.until.max(now + LATE_ONE_BY_ONE).min(late.latest);
        late.changes.push(Element::PieceChange {
            field: update.field,
            contents: update.contents,
            quick: false,
        });
        true
    }

    /// The same for a reading of a running clock: whether it shows a press before or after the pieces around it.
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
            // What comes behind it was not done in haste.
            late.changes.push(Element::Nothing);
        }
        late.until = late.until.max(now + LATE_ONE_BY_ONE).min(late.latest);
        late.reading = Some((now, times));
        true
    }

    /// Plays back the reports that were late, once all have come. Returns whether it still waits for some.
    pub(super) fn waits_for_late(&mut self, now: Timestamp) -> bool {
        let Some(late) = &self.late else { return false };
        if now < late.until {
            self.wake_at(late.until);
            return true;
        }
        self.play_late(now);
        false
    }

    /// Plays back the reports that were late, as far as they have come: what comes now is newer.
    pub(super) fn play_late(&mut self, now: Timestamp) {
        let Some(late) = self.late.take() else { return };
        if !late.changes.is_empty() {
            self.playback = Some(Playback {
                heard_at: now,
                recovered: false,
            });
            if !self.goes_on(&late.changes) {
                // What stands may have stood for long enough by now.
                self.decide(late.since);
            }
            self.play_back(late.since, now, &late.changes);
            self.playback = None;
        }
        if let Some((_, times)) = late.reading {
            for change in self.clock.read(now, times) {
                self.clock_changed(now, change);
            }
        }
    }

    /// Whether these changes go on with the piece that was put down last: it is lifted, or is shown on another field
    /// before it is gone from its own.
    fn goes_on(&self, changes: &[Element]) -> bool {
        let shown = |field: Field| self.sensors.fields()[field.index()];
        match changes {
            [
                Element::PieceChange {
                    contents: Some(piece),
                    ..
                },
                Element::PieceChange {
                    contents: None,
                    field,
                    ..
                },
                ..,
            ] if shown(*field) == Some(*piece) => self.sensors.put_last(*field),
            [Element::PieceChange { field, .. }, ..] => self.sensors.put_last(*field),
            _ => false,
        }
    }
}
