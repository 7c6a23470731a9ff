//! Players' claims of a draw, with the evidence in the record.

use shakmaty::ByColor;

vocabulary! {
    "kind of claim"
    /// A kind of claim.
    pub enum ClaimKind {
        /// A draw: the same position for the third time (2023: 9.2).
        Threefold = "threefold",
        /// A draw: fifty moves without a capture or a pawn move (9.3).
        FiftyMoves = "fifty_moves",
        /// A draw with less than two minutes left, because the opponent cannot win by normal means or makes no effort
        /// to (1997: 10.2; 2023: Guidelines III.5).
        Quickplay = "quickplay",
        /// An increment of five seconds a move with less than two minutes left (since 2014; 2023: Guidelines III.4).
        Increment = "increment",
    }
}

vocabulary! {
    "ruling"
    /// An arbiter's ruling on a claim.
    pub enum ClaimRuling {
        /// The claim is correct: the game is drawn, or the increment is granted.
        Accept = "accept",
        /// The claim is wrong.
        Reject = "reject",
        /// The decision is postponed (1997: 10.2(b); 2023: III.5.2).
        Postpone = "postpone",
    }
}

/// A claim of a draw by repetition or fifty moves, with the evidence in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawClaim {
    /// Whether the claim is by fifty moves rather than by repetition.
    pub fifty_moves: bool,
    /// The move that the player has written down and declared, in SAN or as given; `None` if the claim is about the
    /// position on the board.
    pub intended: Option<String>,
    /// The error of the claim; `None` if the record supports it.
    pub fault: Option<ClaimFault>,
    /// Occurrences of the position so far; for fifty moves, the half-moves without capture or pawn move.
    pub count: u32,
    /// Whether the position is the start position of the game.
    pub from_start: bool,
    /// The moves after which the position occurred, or the last capture or pawn move; empty if there is none.
    pub list: String,
    /// The clock times, in milliseconds.
    pub times: Option<ByColor<u64>>,
}

/// The error of a draw claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimFault {
    /// The claimant does not have the move.
    NotOnMove,
    /// The intended move is illegal.
    IllegalMove,
    /// The record has too few occurrences or moves.
    Count,
}

/// The truth of a condition, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The condition holds.
    Yes,
    /// The condition does not hold.
    No,
    /// It is not known whether the condition holds.
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

/// A claim with less than two minutes left, with the facts that an arbiter needs to judge it. It does not suggest a
/// decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoMinuteClaim {
    /// Whether the player asks for five seconds a move instead of a draw.
    pub asks_increment: bool,
    /// Whether the claimant has the move.
    pub on_move: bool,
    /// The clock times, in milliseconds; `None` if unknown.
    pub left: Option<ByColor<u64>>,
    /// Whether moves presently add time.
    pub increment: Known,
    /// Whether this is the last period.
    pub last_period: Known,
    /// Whether the event has announced the quickplay finish.
    pub announced: Known,
    /// Number of the opponent's last moves examined, at most fifty.
    pub window: u32,
    /// Captures among these moves.
    pub captures: u32,
    /// Pawn moves among these moves.
    pub pawn_moves: u32,
    /// Checks among these moves.
    pub checks: u32,
    /// The last capture of the game, as in "41. Rxe5".
    pub last_capture: Option<String>,
    /// The last pawn move of the game.
    pub last_pawn: Option<String>,
    /// Occurrences of the position on the board.
    pub stood: u32,
    /// Occurrences of the most frequent position since the last capture or pawn move.
    pub most: u32,
    /// Average time of each player's last moves, in milliseconds; `None` if unknown.
    pub pace_ms: ByColor<Option<u64>>,
    /// The last moves of both players, at most fifty each, in English SAN.
    pub moves: String,
}
