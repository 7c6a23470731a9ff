//! Claims of a draw as players make them, with what the record shows of them.

use shakmaty::ByColor;

vocabulary! {
    "kind of claim"
    /// What a player claims.
    pub enum ClaimKind {
        /// A draw: the same position for the third time (2023: 9.2).
        Threefold = "threefold",
        /// A draw: fifty moves without a capture or a pawn move (9.3).
        FiftyMoves = "fifty_moves",
        /// A draw with less than two minutes left: the opponent cannot win by normal means, or makes no effort to (1997:
        /// 10.2; 2023: Guidelines III.5).
        Quickplay = "quickplay",
        /// Five seconds a move with less than two minutes left (since 2014; 2023: Guidelines III.4).
        Increment = "increment",
    }
}

vocabulary! {
    "ruling"
    /// What an arbiter decides on a claim.
    pub enum ClaimRuling {
        /// It is right: the game is drawn, or the increment is granted.
        Accept = "accept",
        /// It is wrong.
        Reject = "reject",
        /// The decision is put off (1997: 10.2(b); 2023: III.5.2).
        Postpone = "postpone",
    }
}

/// A claim of a draw by repetition or fifty moves, with what the record shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawClaim {
    /// By fifty moves, else by repetition.
    pub fifty_moves: bool,
    /// The move that the player has written down and declared, in SAN or as it was given; `None`: what is claimed stands
    /// on the board.
    pub intended: Option<String>,
    /// What is wrong with it; `None`: by the record it is right.
    pub fault: Option<ClaimFault>,
    /// How often the position has stood so far; for fifty moves, the half-moves without capture or pawn move.
    pub count: u32,
    /// It stood at the start of the game.
    pub from_start: bool,
    /// The moves after which it stood, or the last capture or pawn move; empty: none.
    pub list: String,
    /// What the clocks show, in milliseconds.
    pub times: Option<ByColor<u64>>,
}

/// What is wrong with a claim of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimFault {
    /// The claimant does not have the move.
    NotOnMove,
    /// The intended move is illegal.
    IllegalMove,
    /// The record has too few occurrences or moves.
    Count,
}

/// What is known of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// Nobody has told.
    Unknown,
}

impl Known {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

impl From<Option<bool>> for Known {
    fn from(known: Option<bool>) -> Self {
        match known {
            Some(true) => Self::Yes,
            Some(false) => Self::No,
            None => Self::Unknown,
        }
    }
}

/// A claim with less than two minutes left, with what an arbiter needs to judge it: facts, never an opinion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoMinuteClaim {
    /// Five seconds a move are asked for, not a draw.
    pub asks_increment: bool,
    /// The claimant has the move.
    pub on_move: bool,
    /// What the clocks show, in milliseconds; `None`: not known.
    pub left: Option<ByColor<u64>>,
    /// Whether moves bring time now.
    pub increment: Known,
    /// Whether this is the last period.
    pub last_period: Known,
    /// Whether the event has announced the quickplay finish.
    pub announced: Known,
    /// The opponent's last moves that were looked at: at most fifty.
    pub window: u32,
    /// The captures among them.
    pub captures: u32,
    /// The pawn moves among them.
    pub pawn_moves: u32,
    /// The checks among them.
    pub checks: u32,
    /// The last capture of the game, as in "41. Rxe5".
    pub last_capture: Option<String>,
    /// The last pawn move of the game.
    pub last_pawn: Option<String>,
    /// How often the position on the board has stood.
    pub stood: u32,
    /// How often the most frequent position has stood since the last capture or pawn move.
    pub most: u32,
    /// The average time of the players' last moves, in milliseconds; `None`: not known.
    pub pace_ms: ByColor<Option<u64>>,
    /// The last moves of both, at most fifty each, in English SAN.
    pub moves: String,
}
