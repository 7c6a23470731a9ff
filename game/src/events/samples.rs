//! Sample events for the tests of this crate and of programs that use it.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::{Clock, Event, EventKind, Move};
use crate::position::{Orientation, Variant};

/// Events as JSON, one per line: one of every type, and one for each word of every field with a closed vocabulary.
pub const EVERY: &str = include_str!("tests/every.jsonl");

/// An event of the game "g" on the board "b", `seq` microseconds after a fixed time.
#[must_use]
pub fn event(seq: u64, kind: EventKind) -> Event {
    let ts = Timestamp::from_micros(1_789_000_000_000_000 + i64::try_from(seq).unwrap_or(0));
    let (stream, board) = ("live".to_owned(), "b".to_owned());
    Event {
        v: 1,
        stream,
        seq,
        ts,
        at: None,
        board,
        game: Some("g".to_owned()),
        kind,
    }
}

/// The start of a game without players, event or time control.
#[must_use]
pub fn started(start_fen: &str, variant: Variant) -> EventKind {
    EventKind::GameStarted {
        start_fen: start_fen.to_owned(),
        variant,
        orientation: Orientation::Normal,
        continues: None,
        white_side: None,
        laws: None,
        mode: None,
        players: None,
        time_control: None,
        time_control_typed: None,
        event: None,
        site: None,
        round: None,
    }
}

/// A legal ply. Its FEN is "after " followed by the UCI.
#[must_use]
pub fn ply(ply: u32, uci: &str, san: &str) -> Move {
    Move {
        ply,
        color: Color::from_white(ply % 2 == 1),
        uci: Some(uci.to_owned()),
        san: Some(san.to_owned()),
        fen: format!("after {uci}"),
        captured: None,
        clock: Some(clock(600)),
        legal: true,
        inferred: false,
        order_certain: true,
    }
}

/// A clock with `seconds` seconds on both sides and White's side running.
#[must_use]
pub fn clock(seconds: u64) -> Clock {
    Clock {
        white_ms: seconds * 1000,
        black_ms: seconds * 1000,
        running: Some(Color::White),
        flag: None,
    }
}
