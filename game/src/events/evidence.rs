//! A ply and the observations that it rests on.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::uci::UciMove;
use shakmaty::{Color, Move, Piece, Role, Square};

use crate::clock::Clock;
use crate::position::State;

/// A ply of the line of play.
#[derive(Debug, Clone)]
pub struct Ply {
    /// Number of the ply: 1 is the first of the game.
    pub number: u32,
    /// Who moved.
    pub color: Color,
    /// The legal move; `None` for irregular play.
    pub played: Option<Move>,
    /// The move in UCI; for irregular play, only where a single piece moved from one square to another.
    pub uci: Option<UciMove>,
    /// The move in English SAN with check and mate signs; `None` for irregular play.
    pub san: Option<String>,
    /// The state after it.
    pub after: State,
    /// The piece that was captured.
    pub captured: Option<Role>,
    /// When the mover's piece left its square.
    pub lifted_at: Timestamp,
    /// Since when the board shows the move.
    pub stood_at: Timestamp,
    /// Whether the ply was reconstructed over a gap, not observed, or told although others were as credible.
    pub inferred: bool,
    /// Whether the board's memory has it.
    pub recovered: bool,
    /// Whether the ply may have been played elsewhere among those that were reconstructed with it.
    pub any_order: bool,
    /// The clock when the ply was announced.
    pub clock: Option<Clock>,
    /// What the ply rests on.
    pub evidence: Evidence,
}

impl Ply {
    /// Gives all its times as `then` has them.
    pub(crate) fn date(&mut self, then: impl Fn(Timestamp) -> Timestamp) {
        self.lifted_at = then(self.lifted_at);
        self.stood_at = then(self.stood_at);
        for change in &mut self.evidence.changes {
            change.when.at = then(change.when.at);
        }
    }
}

/// The observations a ply rests on, and what else they could have meant.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The changes of the squares since the ply before stood on the board.
    pub changes: Vec<SensorChange>,
    /// What decided it.
    pub grounds: Option<Grounds>,
    /// Squares that still differed from this reading when it was announced.
    pub differs: Vec<Square>,
    /// Other readings, and what spoke against each of them.
    pub others: Vec<Rival>,
}

/// A reading that was not announced. What speaks against a reading is mostly the squares on which it differs from the
/// board, and then how unusual its plies are; the table of `model.rs` has all of it.
#[derive(Debug, Clone)]
pub struct Rival {
    /// Number of its last ply.
    pub ply: u32,
    /// That ply's SAN or UCI; `None` for the reading that nothing had been played yet.
    pub name: Option<String>,
    /// The log-odds against it and for the most credible reading, in hundredths of a nat: 230 is ten to one. What it costs to
    /// withdraw is among them. Of a suspicion that does not count yet they may be negative.
    pub against: i64,
    /// On how many squares it differed from the board.
    pub differs: usize,
    /// How many announced plies it would have withdrawn.
    pub withdraws: usize,
    /// The longest time for which the board showed its last ply without a break.
    pub stood: Duration,
}

/// What made a ply credible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounds {
    /// The mover pressed the clock.
    Press,
    /// The opponent has begun or made their reply.
    Reply,
    /// The pieces have stood like this for at least this long, which was enough in view of what could follow.
    Stood(Duration, Caution),
    /// It is part of the only line of legal moves between two known placements.
    OnlyLine,
}

/// What the piece of a move could still be doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// It can go nowhere else.
    NothingFollows,
    /// It came to the next square as soon as it had left its own, or the board shows more than the move: it may be put
    /// back.
    MayGoBack,
    /// It can go on along the same line.
    MayGoOn,
    /// It can go on along the same line, and may be drawn over the squares, where it may pause.
    MayBeDrawn,
    /// Castling could begin like this; the other piece would follow within seconds.
    MayCastle,
}

/// When something changed: at some time between two others. A report is at most a scan late, a dump tells of what has
/// changed since the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Since {
    /// When it had not changed yet.
    pub from: Timestamp,
    /// When the change was told. In a record of the board, which has no times, this gives the order.
    pub at: Timestamp,
    /// Whether a record of the board tells of it.
    pub recorded: bool,
}

impl From<Timestamp> for Since {
    fn from(at: Timestamp) -> Self {
        Self::at(at)
    }
}

impl Since {
    pub(crate) const fn at(at: Timestamp) -> Self {
        Self::between(at, at)
    }

    pub(crate) const fn between(from: Timestamp, at: Timestamp) -> Self {
        let recorded = false;
        Self { from, at, recorded }
    }

    /// In a record of what has happened since `from`, in the order that `at` has.
    pub(crate) const fn recorded(from: Timestamp, at: Timestamp) -> Self {
        let recorded = true;
        Self { from, at, recorded }
    }

    /// Whether a dump told of it, some time after it was.
    pub(crate) fn is_late(self) -> bool {
        !self.recorded && self.from < self.at
    }

    /// Whether it certainly was before another change. The board scans its squares one after another, so that two changes
    /// within one scan may be told in either order.
    pub(crate) fn precedes(self, other: Self) -> bool {
        self.at + ONE_SCAN_APART < other.not_before()
    }

    /// The earliest time at which it can have been; in a record, its place in the order.
    pub(crate) const fn not_before(self) -> Timestamp {
        if self.recorded { self.at } else { self.from }
    }

    /// When the later of two changes happened.
    pub(crate) fn and(self, other: Self) -> Self {
        let later = if self.at < other.at { other } else { self };
        Self {
            from: self.from.max(other.from),
            ..later
        }
    }
}

/// A change of what a square shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SensorChange {
    /// When that was.
    pub when: Since,
    /// The square.
    pub square: Square,
    /// What the sensors showed there until then. A result piece counts as empty.
    pub before: Option<Piece>,
    /// What the sensors show there from then on. A result piece counts as empty.
    pub after: Option<Piece>,
}
