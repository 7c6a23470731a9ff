//! What the tracker reports to the referee.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::uci::UciMove;
use shakmaty::{Bitboard, Board, Color, KnownOutcome, Move, Role, Square};

use super::sensors::SensorChange;
use crate::clock::{ClockChange, ClockFace, Side};
use crate::position::{State, Variant};
use crate::vocabulary::vocabulary;

/// One thing that the tracker has concluded.
#[derive(Debug, Clone)]
pub enum Finding {
    /// A new line of play begins with what stands on the board.
    Start(Start),
    /// A ply is credible.
    Made(Box<Ply>),
    /// The ply with this number was announced wrongly; it and all later ones are replaced by this one.
    Amended {
        /// What was played instead.
        ply: Box<Ply>,
        /// Why.
        reason: Withdrawal,
    },
    /// This ply and all later ones were not played, or were taken back.
    Retracted {
        /// Number of the first ply withdrawn.
        ply: u32,
        /// Why.
        reason: Withdrawal,
        /// The log-odds against the first of them, in hundredths of a nat; `None` where a record of the board tells.
        odds: Option<i64>,
    },
    /// The ply is confirmed: it is beyond doubt.
    Settled {
        /// Its number.
        ply: u32,
        /// What confirmed it.
        by: Settlement,
        /// The log-odds for it and against the best other reading, in hundredths of a nat; `None` where there is no other.
        odds: Option<i64>,
    },
    /// The ply is completed in the sense of the Laws (Art. 6.2.1).
    Completed {
        /// Its number.
        ply: u32,
        /// How.
        by: Completion,
        /// The clock at that moment.
        clock: Option<ClockFace>,
        /// How long the mover's clock ran, from the opponent's press to their own, as reported by the board: to within a
        /// second. `None` if a press was missed.
        elapsed: Option<Duration>,
    },
    /// The board shows a result: kings in the centre or result pieces.
    ResultShown {
        /// The result.
        outcome: KnownOutcome,
        /// How it is shown.
        by: ResultSign,
    },
    /// A gap, in which the board was not heard, is closed.
    Recovered {
        /// How it was closed.
        by: Recovery,
        /// How many square changes were read back from the board's memory.
        changes: usize,
        /// When the gap began.
        from: Timestamp,
        /// When it was closed or given up.
        to: Timestamp,
    },
    /// Something about the clock changed.
    Clock(ClockChange),
    /// White's side of the clock is known, or turned out to be the other one.
    WhiteSide(Side),
    /// A reading of the clock; there is one for every reading once White's side is known.
    Times {
        /// The reading.
        face: ClockFace,
        /// Whether White's side of the clock is beyond doubt.
        sure: bool,
    },
    /// The squares have changed, or are read the other way round from now on.
    Squares(Box<Snapshot>),
    /// Many pieces slid at once, as when somebody runs into the table: until [`Steadied`](Self::Steadied), nothing on the
    /// board is a move.
    Jolted,
    /// The pieces stand as before, or play goes on although some do not.
    Steadied,
    /// The board went away: from now on, anything may happen on it unobserved.
    Away,
}

/// What the squares show, and what has changed since the last snapshot. It says nothing about what was played.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// What stands on the board; result pieces are left out.
    pub board: Board,
    /// What has changed, oldest first; none where the board is now read the other way round, or pieces that are not read
    /// are taken to stand elsewhere.
    pub changes: Vec<SensorChange>,
    /// Whether the board reported it as it happened; false: it was read from its memory after a gap.
    pub watched: bool,
    /// Squares of [`board`](Self::board) whose pieces are not read, and taken to stand there all the same.
    pub unseen: Bitboard,
    /// Whether White sits with the connector on the right. Where that is not as it was, earlier changes were on other squares.
    pub turned: bool,
    /// When the last dump came. What it showed had changed at some time before.
    pub dumped_at: Timestamp,
}

/// The start of a line of play.
#[derive(Debug, Clone)]
pub struct Start {
    /// What kind of game starts here.
    pub variant: Variant,
    /// The start position.
    pub state: State,
    /// Whether White sits with the connector on the right.
    pub turned: bool,
    /// Whether this line continues the game of the line before it, which was lost in a gap.
    pub goes_on: bool,
}

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
    pub clock: Option<ClockFace>,
    /// What the ply rests on.
    pub evidence: Evidence,
}

impl Ply {
    /// Gives all its times as `then` has them.
    pub(crate) fn date(&mut self, then: impl Fn(Timestamp) -> Timestamp) {
        self.lifted_at = then(self.lifted_at);
        self.stood_at = then(self.stood_at);
        if let Some(clock) = &mut self.clock {
            clock.as_of = then(clock.as_of);
        }
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

/// Why a ply was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// The piece went on to another square.
    MovedOn,
    /// The player took the move back.
    Takeback,
    /// An illegal move was corrected: the placement before it was restored.
    IllegalRestored,
    /// The kings were being put in the centre to show the result.
    Kings,
    /// The pieces were being set up for the next game.
    SetUp,
    /// Later evidence showed another line.
    Recovered,
}

/// What confirmed a ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// The mover's press.
    Press,
    /// The opponent's reply.
    Reply,
    /// The piece has come to rest, and nothing is left to follow.
    Shape,
}

/// What completed a ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// The mover's press.
    Press,
    /// The mover's own next move (Laws 2018 and later, Art. 6.2.1.2).
    OwnNextMove,
}

vocabulary! {
    "ground of board.recovered"
    /// How a gap was closed.
    pub enum Recovery {
        /// The board's memory held what happened.
        Memory = "memory",
        /// Only these moves lead from what stood there before to what stands there now.
        Inferred = "inferred",
        /// Different moves do, or none that the search finds: what was played is not known.
        Undecidable = "undecidable",
    }
}

/// How a board shows a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultSign {
    /// Both kings on centre squares.
    Kings,
    /// A result piece.
    Piece,
}
