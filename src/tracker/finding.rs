//! What the tracker tells the referee.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::uci::UciMove;
use shakmaty::{Board, Color, KnownOutcome, Move, Role, Square};

use super::clock::{ClockChange, ClockFace, Side};
use super::sensors::Change;
use super::start::Variant;
use super::state::State;
use crate::vocabulary::vocabulary;

/// One thing that the tracker has concluded.
#[derive(Debug, Clone)]
pub enum Finding {
    /// A start position stands on the board and a new line of play begins with it.
    Start(Start),
    /// A ply is credible.
    Made(Box<Ply>),
    /// What was told as this ply was another one; later plies are withdrawn.
    Amended {
        /// What was played instead.
        ply: Box<Ply>,
        /// Why.
        reason: Withdrawal,
    },
    /// This ply and all later ones were not played, or are no longer.
    Retracted {
        /// Number of the first ply withdrawn.
        ply: u32,
        /// Why.
        reason: Withdrawal,
    },
    /// No other reading of this ply is left.
    Settled {
        /// Its number.
        ply: u32,
        /// What settled it.
        by: Settlement,
    },
    /// The ply is completed in the sense of the Laws (Art. 6.2.1).
    Completed {
        /// Its number.
        ply: u32,
        /// How.
        by: Completion,
        /// The clock at that moment.
        clock: Option<ClockFace>,
        /// The mover's time from the opponent's press to his own, as seen by the board: within a second. `None`
        /// where a press was missed.
        elapsed: Option<Duration>,
    },
    /// The board shows a result: kings in the centre or result pieces.
    ResultShown {
        /// The result.
        outcome: KnownOutcome,
        /// How it is shown.
        by: ResultSign,
    },
    /// What became of a gap in which nobody listened.
    Recovered {
        /// How it was closed.
        by: Recovery,
        /// How many square changes were read back from the board's memory.
        changes: usize,
        /// The gap began then.
        from: Timestamp,
        /// It was closed, or given up, then.
        to: Timestamp,
    },
    /// The clock.
    Clock(ClockChange),
    /// White's side of the clock became known, or turned out to be the other one.
    WhiteSide(Side),
    /// What the clock shows, once White's side is known: every reading.
    Times {
        /// The reading.
        face: ClockFace,
        /// White's side of the clock is beyond doubt.
        sure: bool,
    },
    /// The squares show something else, or are read the other way round from now on.
    Squares(Box<Look>),
    /// The board went away: from now on anything may happen to it unseen.
    Away,
}

/// What the squares show, and what has changed since the last look. It says nothing of what was played.
#[derive(Debug, Clone)]
pub struct Look {
    /// What stands on the board; result pieces are left out.
    pub board: Board,
    /// What changed, oldest first; empty when the board is read the other way round.
    pub changes: Vec<Change>,
    /// The board told it as it happened; false: it was read from its memory after a gap.
    pub watched: bool,
    /// When the last dump came. What it showed came to be so at some time before.
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
    /// The line before it was lost in a gap; this one goes on with what stood on the board after it.
    pub goes_on: bool,
}

/// A ply of the line of play.
#[derive(Debug, Clone)]
pub struct Ply {
    /// 1 is the first of the game.
    pub number: u32,
    /// Who moved.
    pub color: Color,
    /// The legal move; `None` for irregular play.
    pub played: Option<Move>,
    /// The move in UCI: of irregular play, where one piece went from one square to another.
    pub uci: Option<UciMove>,
    /// The move in English SAN with check and mate signs; `None` for irregular play.
    pub san: Option<String>,
    /// The state after it.
    pub after: State,
    /// What was captured.
    pub captured: Option<Role>,
    /// The mover's piece left its square.
    pub lifted_at: Timestamp,
    /// The board shows the move since then.
    pub stood_at: Timestamp,
    /// Found by reconstruction over a gap, not watched.
    pub inferred: bool,
    /// The ply was played in the gap, but perhaps not at this place among those found with it.
    pub any_order: bool,
    /// The clock when the ply was told.
    pub clock: Option<ClockFace>,
    /// What this rests on.
    pub evidence: Evidence,
}

/// The observations a ply rests on, and what else they could have meant.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The changes of the squares since the ply before it stood.
    pub changes: Vec<Change>,
    /// What decided it.
    pub grounds: Option<Grounds>,
    /// Squares that still differed from this reading when it was told.
    pub differs: Vec<Square>,
    /// Other readings, and what spoke against each.
    pub others: Vec<Rival>,
}

/// A reading that was not told. Of two readings the one that costs less wins: squares count before plies withdrawn,
/// and these before how long the move stood.
#[derive(Debug, Clone)]
pub struct Rival {
    /// Number of its last ply.
    pub ply: u32,
    /// That ply's SAN or UCI; `None`: that nothing had been played yet.
    pub name: Option<String>,
    /// On how many squares it differed from the board.
    pub differs: usize,
    /// How many told plies it would have withdrawn.
    pub withdraws: usize,
    /// How long the board had shown its last ply, at the longest.
    pub stood: Duration,
}

/// What made a ply credible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grounds {
    /// The mover pressed the clock.
    Press,
    /// The opponent has begun or made his reply.
    Reply,
    /// The pieces have stood like this for so long, which was enough in view of what could follow.
    Stood(Duration, Caution),
    /// The only line of legal moves between two looks at the board.
    OnlyLine,
}

/// What the piece of a move could still be doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// It can go nowhere else.
    NothingFollows,
    /// It can go on along the same line.
    MayGoOn,
    /// So it can, and it may be drawn over the squares, where it may pause.
    MayBeDrawn,
    /// Castling would begin like this; the other piece follows within seconds.
    MayCastle,
}

/// Why a ply was withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// The piece went on to another square.
    MovedOn,
    /// The player took the move back.
    Takeback,
    /// An illegal move was put right.
    IllegalRestored,
    /// The kings were being put in the centre to show the result.
    Kings,
    /// The pieces were being set up for the next game.
    SetUp,
    /// Later evidence showed another line.
    Recovered,
}

/// What settled a ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settlement {
    /// The mover's press.
    Press,
    /// The opponent's reply.
    Reply,
    /// The shape of the motion: it has come to rest where nothing can follow.
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
        /// The board's memory told what happened.
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
