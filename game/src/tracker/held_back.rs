//! Collects the reports that a board held back while it sent its memory, and plays them back.
//!
//! A board reports nothing while it sends its memory, which takes about 8 s. The changes of that time, and the clock
//! readings among them, arrive in order and in one burst right after the memory. When the burst is over, they are played
//! back over the time since the request. A running clock is reported once a second, so the readings are spread evenly,
//! and `memory/pace.rs` spreads the changes between two readings. Until then, the tracker judges as of the request.

use kiebitz_hardware::facts::ONE_SCAN_APART;
use kiebitz_hardware::{Observation, Timestamp};
use kiebitz_protocol::{Dump, Element, FieldUpdate};

use super::Tracker;
use super::playback::Playback;
use crate::clock::ClockReading;
use crate::events::Since;
use crate::tracker::memory::{is_white, pace};

#[derive(Debug)]
pub(super) struct HeldBack {
    /// Time of the request for the memory.
    pub(super) since: Timestamp,
    /// End of the burst, unless a further report arrives before.
    pub(super) until: Timestamp,
    /// Arrival of the last report.
    arrived: Timestamp,
    reports: Vec<Report>,
}

#[derive(Debug)]
enum Report {
    Field(FieldUpdate),
    Clock(ClockReading),
}

impl HeldBack {
    /// The burst after a memory that was requested at `since` and arrived at `now`.
    pub(super) fn new(since: Timestamp, now: Timestamp) -> Self {
        Self {
            since,
            until: now + ONE_SCAN_APART,
            arrived: now,
            reports: Vec::new(),
        }
    }
}

impl Report {
    const fn is_reading(&self) -> bool {
        matches!(self, Self::Clock(_))
    }

    const fn change(&self) -> Option<Element> {
        match self {
            Self::Field(FieldUpdate { field, contents, .. }) => Some(Element::PieceChange {
                contents: *contents,
                field: *field,
                quick: false,
            }),
            Self::Clock(_) => None,
        }
    }
}

impl Tracker {
    /// Keeps a report if it belongs to the burst after the memory. Returns whether it does. Any other observation of
    /// the squares ends the burst.
    pub(super) fn hold_back(&mut self, now: Timestamp, observation: &Observation) -> bool {
        let report = match observation {
            Observation::Field { update, .. } => Some(Report::Field(*update)),
            Observation::Clock { times, .. } => Some(Report::Clock(Some(*times))),
            Observation::ClockAbsent => Some(Report::Clock(None)),
            Observation::Board { .. } | Observation::Closed { .. } | Observation::MemoryAsked => None,
            _ => return false,
        };
        let held = self.held_back.as_mut().filter(|held| now < held.until);
        let Some((held, report)) = held.zip(report) else {
            self.play_back_held(now);
            return false;
        };
        held.until = held.until.max(now + self.model.settle);
        held.arrived = now;
        held.reports.push(report);
        true
    }

    /// Ends the burst after the memory, and plays its reports back.
    pub(crate) fn play_back_held(&mut self, now: Timestamp) {
        let Some(mut held) = self.held_back.take() else {
            return;
        };
        keep_motions_together(&mut held.reports, self.sensors.fields());
        let readings = held.reports.iter().filter(|report| report.is_reading()).count() as u32;
        // If no square changed, the resting times of the pieces are known.
        self.playback = (held.reports.len() > readings as usize).then_some(Playback {
            goes_on: true,
            ..Playback::new(now.min(held.until), false)
        });
        let step = held.arrived.saturating_duration_since(held.since) / (readings + 1);
        let (mut from, mut touched) = (held.since, self.touched_before(held.since));
        for reports in held.reports.split_inclusive(Report::is_reading) {
            self.play_back_reports((from, from + step), reports, &mut touched);
            from = from + step;
        }
        self.decide_when_due(held.arrived);
        self.playback = None;
        // The last piece may still be moving.
        if self.quiet_since > held.since {
            self.quiet_since = held.arrived;
        }
    }

    /// Plays back changes between `from` and `to`, and the clock reading that may follow them at `to`.
    fn play_back_reports(
        &mut self,
        (from, to): (Timestamp, Timestamp),
        reports: &[Report],
        touched: &mut Option<bool>,
    ) {
        let changes: Vec<Element> = reports.iter().filter_map(Report::change).collect();
        let times = pace::times(self.model, (from, to), &changes, self.sensors.fields(), touched);
        for (report, at) in reports.iter().zip(times.into_iter().chain([to])) {
            self.decide_when_due(at);
            match report {
                Report::Field(update) => {
                    if self.field_updated(at, Since::recorded(from, at), *update) {
                        self.squares_changed(at);
                    }
                }
                Report::Clock(reading) => self.clock_read(at, *reading),
            }
            self.decide(at);
        }
    }
}

/// Puts a reading that comes between changes of the same side behind them. The clock is polled while the squares are
/// scanned, so a press may be read before the last changes of its ply.
fn keep_motions_together(reports: &mut [Report], before: &Dump) {
    let mut fields = *before;
    let side = |report: &Report| match report {
        Report::Field(FieldUpdate { field, contents, .. }) => {
            let was = core::mem::replace(&mut fields[field.index()], *contents);
            contents.or(was).map(is_white)
        }
        Report::Clock(_) => None,
    };
    let sides: Vec<Option<bool>> = reports.iter().map(side).collect();
    let mut nth = 1;
    while nth < reports.len() {
        let goes_on = |side: &&Option<bool>| side.is_some() && **side == sides[nth - 1];
        let rest = sides[nth + 1..].iter().take_while(goes_on).count();
        if reports[nth].is_reading() && rest > 0 {
            reports[nth..=nth + rest].rotate_left(1);
            // A reading right after this one came too late to be part of the motion.
            nth += rest + 1;
        }
        nth += 1;
    }
}
