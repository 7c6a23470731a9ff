mod claims;
mod course;
mod page;

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use kiebitz_game::events::{
    Clock, CompletedBy, Event, EventKind, Incident, Move, Players, Proof, SettledBy, SquareChange,
};
use kiebitz_game::laws::{Edition, IncidentKind, Language, Mode, Severity};
use kiebitz_game::position::{Orientation, Variant};
use kiebitz_hardware::Timestamp;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position};

use super::*;
use crate::outputs::shared::notation::Letters;

pub(super) const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Builds the events of a game, ten seconds apart.
pub(super) struct Story {
    pub(super) events: Vec<Event>,
    position: Chess,
    ply: u32,
}

impl Story {
    pub(super) fn new(start_fen: &str) -> Self {
        let fen: Fen = start_fen.parse().expect("a FEN");
        let mut story = Self {
            events: Vec::new(),
            position: fen.into_position(CastlingMode::Standard).expect("a position"),
            ply: 0,
        };
        let connected = EventKind::BoardConnected {
            port: "ttyACM0".to_owned(),
            serial: None,
            version: None,
            orientation: None,
        };
        story.publish_outside_game(connected);
        story.publish_outside_game(EventKind::ClockConnected {});
        story.publish(EventKind::GameStarted {
            start_fen: start_fen.to_owned(),
            variant: if start_fen == STANDARD {
                Variant::Standard
            } else {
                Variant::FromPosition
            },
            orientation: Orientation::Normal,
            continues: None,
            white_side: None,
            laws: Some(Edition::Fide2023),
            mode: Some(Mode::Standard),
            players: Some(Players {
                white: Some("Nadia <b>& Söhne</b>".to_owned()),
                black: Some("\"R.\" O'Neill</title><script>alert(1)</script>".to_owned()),
                ..Players::default()
            }),
            time_control: Some("40/5400+30:1800+30".to_owned()),
            time_control_typed: None,
            event: None,
            site: None,
            round: None,
        });
        story
    }

    pub(super) fn now(&self) -> Timestamp {
        let seconds = i64::try_from(self.events.len()).expect("few events") * 10;
        Timestamp::from_micros(1_795_269_600_000_000 + seconds * 1_000_000)
    }

    pub(super) fn publish_outside_game(&mut self, kind: EventKind) {
        self.publish(kind);
        self.events.last_mut().expect("just published").game = None;
    }

    pub(super) fn publish(&mut self, kind: EventKind) {
        self.events.push(Event {
            v: 1,
            stream: "replay".to_owned(),
            seq: self.events.len() as u64 + 1,
            ts: self.now(),
            at: None,
            board: "board-1".to_owned(),
            game: Some("2026-11-21-board-1-1".to_owned()),
            kind,
        });
    }

    /// Plays moves in English SAN. A press completes each move.
    pub(super) fn play(mut self, moves: &str) -> Self {
        for san in moves.split_whitespace() {
            let made = self.make_move(san);
            self.publish(EventKind::MoveMade(made));
            self.press();
        }
        self
    }

    pub(super) fn make_move(&mut self, san: &str) -> Move {
        let parsed: SanPlus = san.parse().expect("SAN");
        let played = parsed.san.to_move(&self.position).expect("a legal move");
        let color = self.position.turn();
        let uci = UciMove::from_standard(played).to_string();
        self.position = self.position.clone().play(played).expect("a legal move");
        self.ply += 1;
        Move {
            ply: self.ply,
            color,
            uci: Some(uci),
            san: Some(san.to_owned()),
            fen: Fen::from_position(&self.position, EnPassantMode::Legal).to_string(),
            captured: played.capture().map(|role| role.char().to_string()),
            clock: Some(self.clock()),
            legal: true,
            inferred: false,
            order_certain: true,
        }
    }

    pub(super) fn press(&mut self) {
        let (ply, clock) = (self.ply, Some(self.clock()));
        self.publish(EventKind::MoveSettled {
            ply,
            by: SettledBy::Press,
        });
        self.publish(EventKind::MoveCompleted {
            ply,
            by: CompletedBy::Press,
            clock,
            elapsed_ms: Some(20_000),
        });
    }

    fn clock(&self) -> Clock {
        let used = u64::from(self.ply) * 20_000;
        Clock {
            white_ms: 5_400_000 - used,
            black_ms: 5_400_000 - used / 2,
            running: Some(self.position.turn().fold_wb(Color::White, Color::Black)),
            flag: None,
        }
    }

    pub(super) fn report(&self) -> Report {
        Report::from_events(&self.events)
    }

    pub(super) fn game(&self) -> GameReport {
        let mut games = self.report().games;
        assert_eq!(games.len(), 1);
        games.remove(0)
    }
}

/// An illegal move by Black, published at the current time of the story.
pub(super) fn illegal_move(story: &Story, number: u64, severity: Severity) -> Incident {
    let now = story.now();
    let change = |micros: i64, square: &str, piece: Option<&str>| SquareChange {
        at: Timestamp::from_micros(now.as_micros() - micros),
        square: square.to_owned(),
        piece: piece.map(str::to_owned),
    };
    Incident {
        incident: number,
        kind: IncidentKind::IllegalMove,
        color: Some(Color::Black),
        ply: Some(2),
        severity,
        article: "7.5.1, 7.5.5".to_owned(),
        edition: Edition::Fide2023,
        case: "no_such_case.at_all".to_owned(),
        advice: "Stop the clock & go back <at once>.".to_owned(),
        squares: vec!["e7".to_owned(), "e4".to_owned()],
        evidence: Proof {
            from: Timestamp::from_micros(now.as_micros() - 2_000_000),
            to: now,
            fen: Some("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".to_owned()),
            clock: Some(story.clock()),
            changes: vec![change(2_000_000, "e7", None), change(1_000_000, "e4", Some("p"))],
            values: BTreeMap::new(),
        },
    }
}

pub(super) fn manner(language: Language) -> Manner {
    Manner {
        language,
        letters: Letters::of(language.code()).expect("in the table"),
        zone: TimeZone::UTC,
        adjournment: true,
    }
}
