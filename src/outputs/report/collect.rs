//! Builds a report from events.

use std::collections::BTreeMap;

use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::events::{Clock, DecidedBy, Event, EventKind, Incident, Move};
use kiebitz_hardware::Timestamp;

use super::adjournment;
use super::claim_sheets::{self, AnnouncedClaim};
use super::claims::{Claims, Offer};
use super::model::{
    Amendment, Closing, Correction, GameReport, IncidentReport, IncidentStep, LocatedChange, Note, PlyNote,
    Report, Summary, Withdrawn,
};
use super::position::{fen_before, is_en_passant};
use super::summary;
use crate::outputs::shared::numbering::Numbering;

impl Report {
    /// Builds the report of one or several boards. The events must be in the order of their publication.
    #[must_use]
    pub fn from_events<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut collector = Collector::default();
        for event in events {
            collector.take(event);
        }
        collector.finish()
    }
}

#[derive(Debug, Default)]
struct Collector {
    games: Vec<Collected>,
    /// State of each board, by stream and board name.
    boards: BTreeMap<(String, String), CollectedBoard>,
    outside: Vec<IncidentReport>,
}

/// State of a board outside its games.
#[derive(Debug, Default)]
struct CollectedBoard {
    port: Option<String>,
    board_seen: bool,
    clock_seen: bool,
    /// Index of the current game.
    current: Option<usize>,
    /// Incidents outside games. They belong to the next game, if there is one.
    waiting: Vec<IncidentReport>,
    /// Commands outside games. They belong to the next game.
    amendments: Vec<Amendment>,
}

/// A game whose events are being collected.
#[derive(Debug)]
struct Collected {
    report: GameReport,
    /// Time at which each ply was on the board, and whether its order is certain.
    made: BTreeMap<u32, (Timestamp, bool)>,
    announced_claims: Vec<AnnouncedClaim>,
    /// Last clock reading.
    last_clock: Option<Clock>,
    /// Author of the last command.
    person: Option<String>,
}

impl Collector {
    fn take(&mut self, event: &Event) {
        let name = (event.stream.clone(), event.board.clone());
        let board = self.boards.entry(name).or_default();
        if let Some(record) = GameRecord::from_started(event) {
            board.current = Some(self.games.len());
            let mut game = Collected::new(record, event);
            game.report.incidents = core::mem::take(&mut board.waiting);
            game.report.amendments = core::mem::take(&mut board.amendments);
            self.games.push(game);
            return;
        }
        if let EventKind::IncidentOpened(incident) = &event.kind {
            let incident = opened(event, incident, board.port.clone());
            match game(&mut self.games, board, event) {
                Some(game) => {
                    game.last_clock = incident.incident.evidence.clock.or(game.last_clock);
                    game.report.incidents.push(incident);
                }
                None => board.waiting.push(incident),
            }
            return;
        }
        if let Some(number) = incident_number(&event.kind) {
            let games = self.games.iter_mut().filter(|game| {
                let record = &game.report.record;
                record.board == event.board && record.stream == event.stream
            });
            let known = games.flat_map(|game| &mut game.report.incidents);
            let incident = known
                .chain(&mut board.waiting)
                .find(|known| known.incident.incident == number);
            if let Some(incident) = incident {
                incident.follow(event);
            }
            return;
        }
        let seen = board.note_presence(event);
        match game(&mut self.games, board, event) {
            Some(game) => game.take(event, seen),
            None => board.amendments.extend(amendment(event)),
        }
    }

    fn finish(mut self) -> Report {
        for board in self.boards.into_values() {
            self.outside.extend(board.waiting);
        }
        self.outside.sort_by_key(|incident| incident.opened);
        Report {
            standings: None,
            v: 1,
            source: None,
            games: self.games.into_iter().map(Collected::finish).collect(),
            outside: self.outside,
        }
    }
}

/// Returns the game of an event: the one that it names, else the game in progress on its board.
fn game<'g>(games: &'g mut [Collected], board: &CollectedBoard, event: &Event) -> Option<&'g mut Collected> {
    let current = games.get_mut(board.current?)?;
    let record = &current.report.record;
    let belongs = match &event.game {
        Some(id) => *id == record.game,
        None => record.ended.is_none(),
    };
    belongs.then_some(current)
}

const fn incident_number(kind: &EventKind) -> Option<u64> {
    match kind {
        EventKind::IncidentUpdated(incident) => Some(incident.incident),
        EventKind::IncidentClosed { incident, .. } => Some(*incident),
        _ => None,
    }
}

fn opened(event: &Event, incident: &Incident, port: Option<String>) -> IncidentReport {
    IncidentReport {
        incident: incident.clone(),
        board: event.board.clone(),
        opened: event.ts,
        steps: Vec::new(),
        closed: Vec::new(),
        port,
        frames: None,
        changes: changes(incident),
    }
}

fn changes(incident: &Incident) -> Vec<LocatedChange> {
    let changes = incident.evidence.changes.iter().cloned();
    changes
        .map(|change| LocatedChange { change, frame: None })
        .collect()
}

impl IncidentReport {
    fn follow(&mut self, event: &Event) {
        match &event.kind {
            EventKind::IncidentUpdated(incident) => {
                self.steps.push(IncidentStep {
                    ts: event.ts,
                    severity: incident.severity,
                    case: incident.case.clone(),
                });
                self.incident = (**incident).clone();
                self.changes = changes(incident);
            }
            EventKind::IncidentClosed {
                by,
                reason,
                counts,
                decision,
                decided_by,
                ..
            } => self.closed.push(Closing {
                ts: event.ts,
                by: *by,
                reason: *reason,
                counts: *counts,
                decision: decision.clone(),
                decided_by: decided_by.clone(),
            }),
            _ => {}
        }
    }
}

/// Whether board and clock had been connected before an event.
#[derive(Debug, Clone, Copy)]
struct EarlierPresence {
    board: bool,
    clock: bool,
}

impl CollectedBoard {
    /// Records whether board and clock are connected. Returns the presence before the event.
    fn note_presence(&mut self, event: &Event) -> EarlierPresence {
        let before = EarlierPresence {
            board: self.board_seen,
            clock: self.clock_seen,
        };
        match &event.kind {
            EventKind::BoardConnected { port, .. } => {
                self.port = Some(port.clone());
                self.board_seen = true;
            }
            EventKind::ClockConnected {} => self.clock_seen = true,
            _ => {}
        }
        before
    }
}

impl Collected {
    fn new(record: GameRecord, event: &Event) -> Self {
        let continues = match &event.kind {
            EventKind::GameStarted { continues, .. } => continues.clone(),
            _ => None,
        };
        let report = GameReport {
            record,
            summary: Summary::default(),
            decided_by: None,
            continues,
            plies: Vec::new(),
            incidents: Vec::new(),
            claims: Claims::default(),
            corrections: Vec::new(),
            notes: Vec::new(),
            amendments: Vec::new(),
            adjournment: None,
        };
        Self {
            report,
            made: BTreeMap::new(),
            announced_claims: Vec::new(),
            last_clock: None,
            person: None,
        }
    }

    fn take(&mut self, event: &Event, seen: EarlierPresence) {
        if let EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } = &event.kind {
            let made = event.at.unwrap_or(event.ts);
            self.made.insert(played.ply, (made, played.order_certain));
        }
        self.last_clock = match &event.kind {
            EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => played.clock,
            EventKind::MoveCompleted { clock, .. } => *clock,
            _ => None,
        }
        .or(self.last_clock);
        self.report.corrections.extend(self.correction(event));
        self.report.notes.extend(self.note(event, seen));
        self.announced_claims.extend(announced_claim(event));
        self.report.amendments.extend(amendment(event));
        self.report.record.apply(event);
        self.decide(event);
    }

    /// Records the arbiter who decided the result, if an arbiter did.
    fn decide(&mut self, event: &Event) {
        match &event.kind {
            EventKind::CommandTaken { by, error: None, .. } => self.person = Some(by.clone()),
            EventKind::GameEnded { by, decided_by, .. } => {
                let person = decided_by.as_ref().or(self.person.as_ref());
                self.report.decided_by = person.cloned().filter(|_| *by == DecidedBy::Arbiter);
            }
            // A result without a reason means that the game goes on.
            EventKind::GameAmended {
                by,
                result: Some(_),
                reason,
                ..
            } => self.report.decided_by = reason.map(|_| by.clone()),
            _ => {}
        }
    }

    fn correction(&self, event: &Event) -> Option<Correction> {
        let record = &self.report.record;
        let (from, played, reason) = match &event.kind {
            EventKind::MoveAmended { played, reason, .. } => (played.ply, Some(played), *reason),
            EventKind::MoveRetracted { ply, reason } => (*ply, None, *reason),
            _ => return None,
        };
        let withdrawn = record.moves.iter().filter(|entry| entry.ply >= from);
        Some(Correction {
            ts: event.ts,
            at: event.at,
            withdrawn: withdrawn.map(|entry| withdrawn_move(record, entry)).collect(),
            played: played.map(|played| replacement(record, played)),
            reason,
        })
    }

    fn note(&self, event: &Event, seen: EarlierPresence) -> Option<Note> {
        let ts = event.ts;
        let after_ply = self.report.record.moves.last().map_or(0, |entry| entry.ply);
        Some(match &event.kind {
            EventKind::BoardRecovered {
                by,
                changes,
                from,
                to,
            } => Note::Gap {
                ts,
                after_ply,
                by: *by,
                changes: *changes,
                from: *from,
                to: *to,
            },
            EventKind::GameEnded {
                end_certain: false, ..
            } => Note::EndNotWatched { ts, after_ply },
            EventKind::BoardDisconnected { reason } => Note::BoardDisconnected {
                ts,
                after_ply,
                reason: reason.clone(),
            },
            EventKind::BoardConnected { .. } if seen.board => Note::BoardConnected { ts, after_ply },
            EventKind::ClockConnected {} if seen.clock => Note::ClockConnected { ts, after_ply },
            EventKind::ClockDisconnected {} => Note::ClockDisconnected { ts, after_ply },
            EventKind::ClockBatteryLow {} => Note::ClockBatteryLow { ts, after_ply },
            EventKind::TimeSet { by_ms } => Note::TimeSet {
                ts,
                after_ply,
                by_ms: *by_ms,
            },
            _ => return None,
        })
    }

    fn finish(self) -> GameReport {
        let Self {
            mut report,
            made,
            announced_claims,
            last_clock,
            ..
        } = self;
        let numbering = Numbering::of(&report.record.start_fen);
        report
            .incidents
            .sort_by_key(|incident| (incident.opened, incident.incident.incident));
        let note = |entry: &MoveRecord| {
            let (made, order_certain) = made
                .get(&entry.ply)
                .copied()
                .unwrap_or((report.record.started, true));
            let of_ply = |incident: &&IncidentReport| incident.incident.ply == Some(entry.ply);
            PlyNote {
                ply: entry.ply,
                number: numbering.number(entry.ply).0,
                made,
                order_certain,
                incidents: report
                    .incidents
                    .iter()
                    .filter(of_ply)
                    .map(|incident| incident.incident.incident)
                    .collect(),
            }
        };
        report.plies = report.record.moves.iter().map(note).collect();
        report.claims = claim_sheets::of(&report.record, &report.plies, &announced_claims);
        report.adjournment = adjournment::of(&report.record, last_clock);
        report.summary = summary::of(&report);
        report
    }
}

fn withdrawn_move(record: &GameRecord, entry: &MoveRecord) -> Withdrawn {
    withdrawn(record, entry.ply, entry.san.as_ref(), entry.uci.as_ref())
}

fn replacement(record: &GameRecord, played: &Move) -> Withdrawn {
    withdrawn(record, played.ply, played.san.as_ref(), played.uci.as_ref())
}

fn withdrawn(record: &GameRecord, ply: u32, san: Option<&String>, uci: Option<&String>) -> Withdrawn {
    let before = fen_before(record, ply);
    Withdrawn {
        ply,
        san: san.cloned(),
        en_passant: san.is_some_and(|san| is_en_passant(san, before)),
        uci: uci.cloned(),
    }
}

fn announced_claim(event: &Event) -> Option<AnnouncedClaim> {
    let EventKind::ClaimAvailable {
        color,
        ply,
        reason,
        intended,
        article,
        edition,
        ..
    } = &event.kind
    else {
        return None;
    };
    Some(AnnouncedClaim {
        reason: *reason,
        article: article.clone(),
        edition: *edition,
        offer: Offer {
            ts: event.ts,
            color: *color,
            ply: *ply,
            intended: intended.clone(),
        },
    })
}

fn amendment(event: &Event) -> Option<Amendment> {
    let ts = event.ts;
    match &event.kind {
        EventKind::CommandTaken {
            action,
            by,
            arguments,
            error,
            note,
            ..
        } => Some(Amendment::Command {
            ts,
            by: by.clone(),
            action: *action,
            arguments: arguments.clone(),
            error: error.clone(),
            note: note.clone(),
        }),
        EventKind::GameAmended {
            by,
            result,
            reason,
            players,
            time_control,
            moves,
            position,
            note,
            ..
        } => Some(Amendment::Game {
            ts,
            by: by.clone(),
            result: *result,
            reason: *reason,
            players: players.clone(),
            time_control: time_control.clone(),
            moves: moves.clone(),
            position: position.clone(),
            note: note.clone(),
        }),
        _ => None,
    }
}
