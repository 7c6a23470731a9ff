//! Findings that the tracker reports to the referee.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, KnownOutcome};

use crate::clock::{Clock, ClockChange, Side};
use crate::events::{CompletedBy, CorrectionReason, EndReason, Ply, Recovery, SensorChange, SettledBy};
use crate::position::{State, Variant};

#[derive(Debug, Clone)]
pub(crate) enum Finding {
    /// A new line of play begins from the placement on the board.
    Start(Start),
    Made(Box<Ply>),
    /// The ply with this number was announced wrongly. The new ply replaces it and all later ones.
    Amended {
        /// The ply that was played instead.
        ply: Box<Ply>,
        reason: CorrectionReason,
    },
    Retracted {
        ply: u32,
        reason: CorrectionReason,
        /// Log-odds against the first retracted ply, in hundredths of a nat; `None` if the board's record decides.
        odds: Option<i64>,
    },
    Settled {
        ply: u32,
        by: SettledBy,
        /// Log-odds for the ply against the best other line, in hundredths of a nat; `None` if there is no other.
        odds: Option<i64>,
    },
    Completed {
        ply: u32,
        by: CompletedBy,
        clock: Option<Clock>,
        /// Time for which the mover's clock ran, from the opponent's press to the mover's own, as reported by the board
        /// (accurate to a second). `None` if a press was missed.
        elapsed: Option<Duration>,
    },
    ResultShown {
        outcome: KnownOutcome,
        by: EndReason,
    },
    /// A gap, in which the board was not observed, is closed.
    Recovered {
        by: Recovery,
        /// Number of square changes read from the board's memory.
        changes: usize,
        from: Timestamp,
        to: Timestamp,
    },
    Clock(ClockChange),
    /// White's side of the clock is known, or turned out to be the other one.
    WhiteSide(Side),
    /// A clock reading; sent for each reading once White's side is known.
    Times {
        clock: Clock,
        sure: bool,
    },
    Squares(Box<Snapshot>),
    /// Many pieces slid at once; until [`Steadied`](Self::Steadied), nothing on the board counts as a move.
    Jolted,
    /// Jolted pieces stand as before, or play continues although some do not.
    Steadied,
    /// The board's port has closed; until it opens again, anything may happen unobserved.
    Away,
}

/// The placement and its changes since the last snapshot, without interpretation as moves.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub board: Board,
    /// Changes, oldest first. Empty if only the orientation or the assumed pieces have changed.
    pub changes: Vec<SensorChange>,
    /// Whether the board reported the changes as they happened; `false` if they were read from its memory after a gap.
    pub watched: bool,
    /// Squares of [`board`](Self::board) whose pieces are not read but assumed.
    pub unseen: Bitboard,
    /// Whether White sits with the connector on the right. If this differs from the last snapshot, the squares of
    /// earlier changes were read the wrong way round.
    pub turned: bool,
    /// When the last dump came. The changes that it showed happened at unknown times before that.
    pub dumped_at: Timestamp,
}

#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub variant: Variant,
    pub state: State,
    pub turned: bool,
    /// Whether this line continues the game of the line before it, which was lost in a gap.
    pub goes_on: bool,
}
