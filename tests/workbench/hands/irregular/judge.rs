//! Compares announced incidents with the irregular acts that happened.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use kiebitz_game::events::{Event, EventKind, Incident};
use kiebitz_game::laws::{IncidentKind, Severity};
use shakmaty::Color;

use crate::hands::hall::OPENING;

#[derive(Debug, Clone)]
pub struct Truth {
    pub kind: &'static str,
    pub at: Duration,
    pub ply: u32,
    pub color: Option<Color>,
    /// Whether the act may remain unannounced.
    pub optional: bool,
}

/// Results of a set of games.
#[derive(Debug, Default)]
pub struct Count {
    kinds: BTreeMap<&'static str, [usize; 3]>,
    pub missed: Vec<String>,
    pub false_reports: Vec<String>,
    pub hints: usize,
    hints_of: BTreeMap<&'static str, usize>,
    pub misread: Vec<u64>,
}

/// Maximum time between an act and its report, in microseconds.
const NEAR: i64 = 8_000_000;
/// Kinds for which hints count as announcements too.
const JUDGED: [&str; 8] = [
    "illegal_move",
    "promotion_not_replaced",
    "clock_pressed_without_move",
    "displaced_pieces",
    "piece_touched_not_moved",
    "wrong_start_position",
    "flag_fall",
    "sensor_fault",
];

impl Count {
    pub fn judge(&mut self, seed: u64, truths: &[Truth], events: &[Event]) {
        let mut announced: Vec<(i64, &Incident)> = events
            .iter()
            .filter_map(|event| match &event.kind {
                // Resting a piece on its way gives a hint, and these players do so in regular moves.
                EventKind::IncidentOpened(incident)
                    if incident.case != "piece_touched_not_moved.released" =>
                {
                    Some((event.ts.as_micros() - OPENING.as_micros(), &**incident))
                }
                _ => None,
            })
            .collect();
        for optional in [false, true] {
            for truth in truths.iter().filter(|truth| truth.optional == optional) {
                let at = truth.at.as_micros() as i64;
                let fits = |(when, incident): &&(i64, &Incident)| {
                    incident.kind.as_str() == truth.kind
                        && (incident.color.is_none()
                            || truth.color.is_none()
                            || incident.color == truth.color)
                        && ((when - at).abs() <= NEAR
                            || incident.ply.is_some_and(|ply| ply.abs_diff(truth.ply) <= 1))
                };
                let best = announced
                    .iter()
                    .filter(fits)
                    .min_by_key(|(when, _)| (when - at).abs())
                    .map(|(when, incident)| (*when, incident.incident));
                let counts = self.kinds.entry(truth.kind).or_default();
                counts[0] += usize::from(!optional);
                match best {
                    Some((when, number)) => {
                        counts[1] += usize::from(!optional);
                        announced.retain(|(at, incident)| *at != when || incident.incident != number);
                    }
                    None if !optional => self.missed.push(format!("{seed}: {truth:?}")),
                    None => {}
                }
            }
        }
        for (at, incident) in announced {
            if incident.severity == Severity::Info
                || matches!(
                    incident.kind,
                    IncidentKind::BoardRotated | IncidentKind::TimeTrouble
                )
            {
                continue;
            }
            let counts = JUDGED.contains(&incident.kind.as_str());
            if incident.severity == Severity::Hint {
                self.hints += 1;
                *self.hints_of.entry(incident.kind.as_str()).or_default() += 1;
            }
            if incident.severity != Severity::Hint || (counts && !truths.is_empty()) {
                self.kinds.entry(incident.kind.as_str()).or_default()[2] += 1;
                self.false_reports.push(format!(
                    "{seed}: {:.3} {} {:?} ply {:?} {} {:?}",
                    at as f64 / 1e6,
                    incident.kind,
                    incident.color,
                    incident.ply,
                    incident.case,
                    incident.squares
                ));
            }
        }
    }

    /// Returns whether 98 % of the acts of every kind are announced, and 93 % of the announcements are true. The second
    /// limit should be 98 % as well, but two pieces knocked over are sometimes reported as touched.
    pub fn is_good(&self) -> bool {
        self.misread.is_empty()
            && self
                .kinds
                .values()
                .all(|[truths, found, false_ones]| found * 100 >= truths * 98 && found * 7 >= false_ones * 93)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, [truths, found, false_ones]) in &self.kinds {
            writeln!(
                f,
                "{kind:28} true {truths:4} found {found:4} false {false_ones:4}"
            )?;
        }
        writeln!(f, "hints {:?}; misread {:?}", self.hints_of, self.misread)?;
        for line in self.missed.iter().take(20) {
            writeln!(f, "missed {line}")?;
        }
        for line in self.false_reports.iter().take(20) {
            writeln!(f, "false  {line}")?;
        }
        Ok(())
    }
}
