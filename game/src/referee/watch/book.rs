//! The open incidents and their events.

use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use shakmaty::fen::Fen;
use shakmaty::{Bitboard, Board, ByColor, Color, Square};

use super::GameStatus;
use crate::acts::Acts;
use crate::events::incidents::{Decided, Incidents, offence, set_counts};
use crate::events::{Clock, ClosedBy, Decision, EventKind, Incident, IncidentEnd, Proof, SquareChange};
use crate::laws::{IncidentKind, Regulations, ResumableCase, Situation, text};

#[derive(Debug, Clone)]
pub(super) struct Report {
    pub(super) situation: Situation,
    /// Player concerned; `None` for both or neither.
    pub(super) color: Option<Color>,
    /// The ply concerned, 0 before the game; `None` without a game.
    pub(super) ply: Option<u32>,
    pub(super) squares: Bitboard,
    pub(super) from: Timestamp,
    /// Position that the report is about, as FEN.
    pub(super) fen: Option<String>,
    pub(super) clock: Option<Clock>,
    pub(super) changes: Vec<SquareChange>,
}

impl Report {
    /// Creates a report on the next ply, with the current position and clock.
    pub(super) fn new(game: &GameStatus<'_>, acts: &Acts, situation: Situation, from: Timestamp) -> Self {
        Self {
            situation,
            color: None,
            ply: Some(game.due()),
            squares: Bitboard::EMPTY,
            from,
            fen: game.tip().map(|tip| tip.fen()),
            clock: game.face,
            changes: acts
                .evidence_since(from.saturating_sub(EVIDENCE_LEAD))
                .iter()
                .map(|change| SquareChange {
                    at: change.when.at,
                    square: change.square.to_string(),
                    piece: change.after.map(|piece| piece.char().to_string()),
                })
                .collect(),
        }
    }

    pub(super) fn of(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }

    pub(super) fn at_ply(mut self, ply: u32) -> Self {
        self.ply = Some(ply);
        self
    }

    pub(super) fn on(mut self, squares: impl Into<Bitboard>) -> Self {
        self.squares = squares.into();
        self
    }
}

/// Time before an incident from which changes of squares are included as evidence.
const EVIDENCE_LEAD: core::time::Duration = core::time::Duration::from_secs(3);

/// Number of an incident in the board's stream, from 1.
pub(super) type Number = u64;

#[derive(Debug)]
pub(super) struct Closing {
    pub(super) by: ClosedBy,
    pub(super) reason: IncidentEnd,
    pub(super) counts: Option<bool>,
    pub(super) decision: Option<String>,
    /// The arbiter's decision that closes the incident, if one does.
    pub(super) decided: Option<Decision>,
}

#[derive(Debug, Default)]
pub(super) struct Book {
    last: Number,
    open: BTreeMap<Number, Incident>,
    /// Closed incidents of this game. The arbiter may still decide them.
    past: BTreeMap<Number, Incident>,
    /// The latest decision of an arbiter on each incident.
    decided: BTreeMap<Number, Decided>,
    events: Vec<(Timestamp, EventKind)>,
}

impl Book {
    pub(super) fn resume(&mut self, incidents: &Incidents) {
        let by_number = |incident: &Incident| (incident.incident, incident.clone());
        self.last = incidents.last();
        self.open = incidents.open().map(by_number).collect();
        self.past = incidents.past().map(by_number).collect();
        self.decided.clone_from(incidents.decided());
    }

    pub(super) fn all_open(&self) -> impl Iterator<Item = &Incident> {
        self.open.values()
    }

    /// Number of the last incident; 0 before the first.
    pub(super) fn last(&self) -> Number {
        self.last
    }

    /// Opens an incident and returns its number.
    pub(super) fn open(&mut self, now: Timestamp, regulations: &Regulations, report: Report) -> Number {
        self.last += 1;
        let incident = describe(self.last, now, regulations, report);
        self.open.insert(self.last, incident.clone());
        self.events
            .push((now, EventKind::IncidentOpened(Box::new(incident))));
        self.last
    }

    /// Updates an open incident. Publishes no event if nothing changed.
    pub(super) fn update(
        &mut self,
        now: Timestamp,
        regulations: &Regulations,
        number: Number,
        report: Report,
    ) {
        let Some(known) = self.open.get_mut(&number) else {
            return;
        };
        let incident = describe(number, now, regulations, report);
        if incident.case == known.case
            && incident.squares == known.squares
            && incident.evidence.values == known.evidence.values
        {
            return;
        }
        *known = incident.clone();
        self.events
            .push((now, EventKind::IncidentUpdated(Box::new(incident))));
    }

    /// Closes an incident if it is open. A decided incident stays as it is.
    pub(super) fn close(&mut self, now: Timestamp, number: Number, by: ClosedBy, reason: IncidentEnd) {
        if !self.open.contains_key(&number) {
            return;
        }
        let closed = Closing {
            by,
            reason,
            counts: None,
            decision: None,
            decided: None,
        };
        self.close_as(now, number, closed);
    }

    /// Closes an open incident, or decides a closed one.
    pub(super) fn close_as(&mut self, now: Timestamp, number: Number, closed: Closing) {
        let open = self.open.remove(&number);
        let Some(mut incident) = open.or_else(|| self.past.remove(&number)) else {
            return;
        };
        if let Some(counts) = closed.counts {
            set_counts(&mut incident, counts);
        }
        let event = EventKind::IncidentClosed {
            incident: number,
            kind: incident.kind,
            by: closed.by,
            reason: closed.reason,
            counts: closed.counts,
            decision: closed.decision.clone(),
            decided_by: closed.decided.as_ref().map(|decided| decided.by.clone()),
        };
        if let Some(decision) = closed.decided {
            let text = closed.decision;
            self.decided.insert(number, Decided { decision, text });
        }
        self.events.push((now, event));
        self.past.insert(number, incident);
    }

    /// An incident that the arbiter can decide: an open one, or a closed one of this game.
    pub(super) fn decidable(&self, number: Number) -> Option<&Incident> {
        self.open.get(&number).or_else(|| self.past.get(&number))
    }

    pub(super) fn decided(&self, number: Number) -> Option<&Decided> {
        self.decided.get(&number)
    }

    pub(super) fn counts(&self, number: Number) -> bool {
        self.decidable(number)
            .is_some_and(|incident| offence(incident) > 0)
    }

    pub(super) fn open_of(&self, kinds: &[IncidentKind]) -> Vec<Number> {
        let open = self.open.values();
        open.filter(|incident| kinds.contains(&incident.kind))
            .map(|incident| incident.incident)
            .collect()
    }

    /// Forgets the closed incidents when another game begins. The arbiter can no longer decide them.
    pub(super) fn forget_past(&mut self) {
        self.past.clear();
        self.decided.clear();
    }

    /// Opens and closes an incident that is over as soon as it is known.
    pub(super) fn open_and_close(
        &mut self,
        now: Timestamp,
        regulations: &Regulations,
        report: Report,
        reason: IncidentEnd,
    ) {
        let number = self.open(now, regulations, report);
        self.close(now, number, ClosedBy::Board, reason);
    }

    /// Closes all incidents except those of these kinds at the end of a game.
    pub(super) fn close_all_but(&mut self, now: Timestamp, kinds: &[IncidentKind]) {
        let over: Vec<Number> = self
            .open
            .values()
            .filter(|incident| !kinds.contains(&incident.kind))
            .map(|incident| incident.incident)
            .collect();
        for number in over {
            self.close(now, number, ClosedBy::Laws, IncidentEnd::GameOver);
        }
    }

    pub(super) fn take_events(&mut self) -> Vec<(Timestamp, EventKind)> {
        std::mem::take(&mut self.events)
    }
}

/// Number of offences under Article 7.5 that each player has completed.
#[derive(Debug, Default)]
pub(super) struct Offences {
    pub(super) completed: ByColor<u32>,
}

impl Offences {
    /// Counts an offence and returns its number, from 1.
    pub(super) fn count(&mut self, color: Color) -> u32 {
        self.completed[color] = self.completed[color].saturating_add(1);
        self.completed[color]
    }

    /// Removes an offence that did not count after all.
    pub(super) fn discount(&mut self, color: Color) {
        self.completed[color] = self.completed[color].saturating_sub(1);
    }
}

/// State of an incident that was open at a restart, as far as its watcher needs it.
#[derive(Debug)]
pub(super) struct ResumedIncident {
    pub(super) number: Number,
    pub(super) kind: IncidentKind,
    pub(super) color: Option<Color>,
    pub(super) ply: u32,
    pub(super) squares: Bitboard,
    pub(super) from: Timestamp,
    /// Placement of its evidence; `None` if there is none or it is invalid.
    pub(super) board: Option<Board>,
    /// Clock time of its player, in milliseconds; `None` without a clock or a player.
    pub(super) time_left_ms: Option<u64>,
    /// Case, for the watchers that need it; otherwise `None`.
    pub(super) case: Option<ResumableCase>,
}

impl ResumedIncident {
    pub(super) fn new(incident: &Incident) -> Self {
        Self {
            number: incident.incident,
            kind: incident.kind,
            color: incident.color,
            ply: incident.ply.unwrap_or_default(),
            squares: incident
                .squares
                .iter()
                .filter_map(|square| square.parse::<Square>().ok())
                .collect(),
            from: incident.evidence.from,
            board: incident
                .evidence
                .fen
                .as_ref()
                .and_then(|fen| fen.parse::<Fen>().ok())
                .map(|fen| fen.into_setup().board),
            time_left_ms: incident
                .color
                .zip(incident.evidence.clock)
                .map(|(color, clock)| clock.times_ms()[color]),
            case: incident.case.parse().ok(),
        }
    }
}

/// Builds an incident with the advice of the Laws.
fn describe(number: Number, now: Timestamp, regulations: &Regulations, report: Report) -> Incident {
    let advice = regulations.rules.advise(&report.situation, report.color);
    Incident {
        incident: number,
        kind: report.situation.kind(),
        color: report.color,
        ply: report.ply,
        severity: advice.severity,
        article: advice.article,
        edition: regulations.rules.edition,
        case: advice.case.to_owned(),
        advice: text(regulations.language, advice.case, &advice.values),
        squares: report
            .squares
            .into_iter()
            .map(|square| square.to_string())
            .collect(),
        evidence: Proof {
            from: report.from.min(now),
            to: now,
            fen: report.fen,
            clock: report.clock,
            changes: report.changes,
            values: advice.values,
        },
    }
}
