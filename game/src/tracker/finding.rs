//! What the tracker reports to the referee.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, KnownOutcome};

use crate::clock::{Clock, ClockChange, Side};
use crate::events::{CompletedBy, CorrectionReason, EndReason, Ply, Recovery, SensorChange, SettledBy};
use crate::position::{State, Variant};

/// One thing that the tracker has concluded.
#[derive(Debug, Clone)]
pub(crate) enum Finding {
    /// A new line of play begins with what stands on the board.
    Start(Start),
    /// A ply is credible.
    Made(Box<Ply>),
    /// The ply with this number was announced wrongly; it and all later ones are replaced by this one.
    Amended {
        /// What was played instead.
        ply: Box<Ply>,
        /// Why.
        reason: CorrectionReason,
    },
    /// This ply and all later ones were not played, or were taken back.
    Retracted {
        /// Number of the first ply withdrawn.
        ply: u32,
        /// Why.
        reason: CorrectionReason,
        /// The log-odds against the first of them, in hundredths of a nat; `None` where a record of the board tells.
        odds: Option<i64>,
    },
    /// The ply is confirmed: it is beyond doubt.
    Settled {
        /// Its number.
        ply: u32,
        /// What confirmed it.
        by: SettledBy,
        /// The log-odds for it and against the best other reading, in hundredths of a nat; `None` where there is no other.
        odds: Option<i64>,
    },
    /// The ply is completed in the sense of the Laws (Art. 6.2.1).
    Completed {
        /// Its number.
        ply: u32,
        /// How.
        by: CompletedBy,
        /// The clock at that moment.
        clock: Option<Clock>,
        /// How long the mover's clock ran, from the opponent's press to their own, as reported by the board: to within a
        /// second. `None` if a press was missed.
        elapsed: Option<Duration>,
    },
    /// The board shows a result: kings in the centre or result pieces.
    ResultShown {
        /// The result.
        outcome: KnownOutcome,
        /// How it is shown.
        by: EndReason,
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
        /// What the clock shows.
        clock: Clock,
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
pub(crate) struct Snapshot {
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
pub(crate) struct Start {
    /// What kind of game starts here.
    pub variant: Variant,
    /// The start position.
    pub state: State,
    /// Whether White sits with the connector on the right.
    pub turned: bool,
    /// Whether this line continues the game of the line before it, which was lost in a gap.
    pub goes_on: bool,
}
