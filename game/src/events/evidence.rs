//! A ply and the observations that support it.

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
    /// Number of the ply, from 1 for the first of the game.
    pub number: u32,
    /// The mover.
    pub color: Color,
    /// The legal move; `None` for irregular play.
    pub played: Option<Move>,
    /// The move in UCI; `None` for irregular play, unless a single piece moved from one square to another.
    pub uci: Option<UciMove>,
    /// The move in English SAN with check and mate signs; `None` for irregular play.
    pub san: Option<String>,
    /// Position after the ply.
    pub after: State,
    /// Captured piece.
    pub captured: Option<Role>,
    /// Time at which the mover's piece left its square.
    pub lifted_at: Timestamp,
    /// Time since which the board shows the move.
    pub stood_at: Timestamp,
    /// Whether the ply was reconstructed over a gap, or announced although other lines were as credible.
    pub inferred: bool,
    /// Whether the ply comes from the board's memory.
    pub recovered: bool,
    /// Whether the place of the ply among the plies reconstructed with it is uncertain.
    pub any_order: bool,
    /// Times of the clock when the ply was announced.
    pub clock: Option<Clock>,
    /// Observations that support the ply.
    pub evidence: Evidence,
}

impl Ply {
    /// Maps every time of the ply through `shift`.
    pub(crate) fn date(&mut self, shift: impl Fn(Timestamp) -> Timestamp) {
        self.lifted_at = shift(self.lifted_at);
        self.stood_at = shift(self.stood_at);
        for change in &mut self.evidence.changes {
            change.when.at = shift(change.when.at);
        }
    }
}

/// The observations that support a ply, and the competing lines of play.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Changes of squares since the previous ply stood on the board.
    pub changes: Vec<SensorChange>,
    /// Ground on which the ply was announced.
    pub grounds: Option<Grounds>,
    /// Squares that differed from this line of play when the ply was announced.
    pub differs: Vec<Square>,
    /// Competing lines of play, with the evidence against each.
    pub others: Vec<Rival>,
}

/// A line of play that was not announced. Its cost comes mostly from the squares that differ from the board, and then
/// from unusual plies; `model.rs` has the complete table.
#[derive(Debug, Clone)]
pub struct Rival {
    /// Number of the last ply of the line.
    pub ply: u32,
    /// SAN or UCI of the last ply; `None` for the line in which nothing has been played yet.
    pub name: Option<String>,
    /// Log-odds of the most credible line against this one, in hundredths of a nat: 230 is ten to one. They include the
    /// cost of withdrawing plies. They may be negative for a suspicion that does not count yet.
    pub against: i64,
    /// Number of squares that differ from the board.
    pub differs: usize,
    /// Number of announced plies that the line would withdraw.
    pub withdraws: usize,
    /// Longest uninterrupted time for which the board showed the line's last ply.
    pub stood: Duration,
}

/// Ground on which a ply became credible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounds {
    /// The mover pressed the clock.
    Press,
    /// The opponent has begun or finished their reply.
    Reply,
    /// The pieces stood unchanged for at least this time, which was enough given the possible continuations.
    Stood(Duration, Caution),
    /// The ply belongs to the only line of legal moves between two known placements.
    OnlyLine,
}

/// Possible continuation of a motion that looks like a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// The piece can go nowhere else.
    NothingFollows,
    /// The piece may be put back: it reached the next square at once after leaving its own, or the board shows more
    /// than the move.
    MayGoBack,
    /// The piece can go on along the same line.
    MayGoOn,
    /// The piece can go on along the same line, and may be slid over the squares and pause on one.
    MayBeDrawn,
    /// Castling could begin like this; the other piece would follow within seconds.
    MayCastle,
}

/// Interval in which a square changed. A single report comes at most one scan late; a dump reports all changes since
/// the previous dump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Since {
    /// Last time at which the change had not happened yet.
    pub from: Timestamp,
    /// Time of the report. The board's memory has no times, so for its records this value gives only the order.
    pub at: Timestamp,
    /// Whether the change comes from the board's memory.
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

    /// Creates the interval of a change from the board's memory: some time after `from`, in the order given by `at`.
    pub(crate) const fn recorded(from: Timestamp, at: Timestamp) -> Self {
        let recorded = true;
        Self { from, at, recorded }
    }

    /// Whether a dump reported the change, some time after it happened.
    pub(crate) fn is_late(self) -> bool {
        !self.recorded && self.from < self.at
    }

    /// Whether this change certainly happened before `other`. The board scans its squares one after another, so the
    /// reports of two changes within one scan may come in either order.
    pub(crate) fn precedes(self, other: Self) -> bool {
        self.at + ONE_SCAN_APART < other.not_before()
    }

    /// Earliest possible time of the change; for the board's memory, its place in the order.
    pub(crate) const fn not_before(self) -> Timestamp {
        if self.recorded { self.at } else { self.from }
    }

    /// Interval of the later one of two changes.
    pub(crate) fn and(self, other: Self) -> Self {
        let later = if self.at < other.at { other } else { self };
        Self {
            from: self.from.max(other.from),
            ..later
        }
    }
}

/// A change of the content of a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SensorChange {
    /// Interval in which the square changed.
    pub when: Since,
    /// The square.
    pub square: Square,
    /// Content of the square before the change. A result piece counts as empty.
    pub before: Option<Piece>,
    /// Content of the square after the change. A result piece counts as empty.
    pub after: Option<Piece>,
}
