//! Data of claim sheets, with which arbiter and players check a claim of a draw (E23 9.2, 9.3).

use kiebitz_game::events::{ClaimReason, Clock, color, rfc3339};
use kiebitz_game::laws::Edition;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::Color;

use super::position::Irreversible;

/// Possible claims of a draw in a game, and the evidence for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Claims {
    /// A sheet for each position and each move count that could be claimed.
    pub sheets: Vec<ClaimSheet>,
    /// Positions that occurred more than once, the most frequent first.
    pub repeated: Vec<Repeated>,
    /// Count of moves without capture or pawn move at the end of the game.
    pub countdown: Countdown,
}

/// Evidence for or against one claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimSheet {
    /// Reason of the claim: `threefold` or `fifty_moves`.
    pub reason: ClaimReason,
    /// Article of the Laws; `None` if no event announced the claim.
    pub article: Option<String>,
    /// Edition of the Laws; `None` if no event announced the claim.
    pub edition: Option<Edition>,
    /// The claimed position, or the last one counted.
    pub fen: String,
    /// Part of the FEN that equal positions share: placement, side to move, castling rights, and the en passant square
    /// if a capture there is possible (E23 9.2.3).
    pub key: String,
    /// Moments at which events announced the claim.
    pub offers: Vec<Offer>,
    /// Occurrences of the position.
    pub occurrences: Vec<Occurrence>,
    /// Positions with the same placement that do not count as the same position.
    pub near: Vec<Near>,
    /// Count of moves without capture or pawn move at the time of the claim.
    pub countdown: Countdown,
}

/// A moment at which a player could claim a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// Time of the announcement.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Player who could claim.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// Last ply made.
    pub ply: u32,
    /// Move that the player would have had to announce, in English SAN; `None` if the position was already on the
    /// board.
    pub intended: Option<String>,
}

/// An occurrence of a position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Occurrence {
    /// Ply after which it occurred; 0 for the start.
    pub ply: u32,
    /// Time at which it occurred.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// Clock reading after the ply.
    pub clock: Option<Clock>,
    /// Castling rights as in FEN, "-" for none.
    pub castling: String,
    /// Square of a possible capture en passant.
    pub en_passant: Option<String>,
    /// Whether the ply was reconstructed over a gap and not observed.
    pub inferred: bool,
    /// Whether the order of the ply among those reconstructed with it is certain.
    pub order_certain: bool,
}

/// An occurrence of the same placement in a different position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Near {
    /// Ply after which it occurred.
    pub ply: u32,
    /// Differences from the claimed position.
    pub differences: Vec<Difference>,
}

/// A difference between two positions with the same placement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Difference {
    /// The other side was to move.
    Side,
    /// Castling rights differed.
    Castling {
        /// Castling rights at that time, as in "KQkq"; "-" for none.
        had: String,
    },
    /// The possible capture en passant differed.
    EnPassant {
        /// Square of the capture that was possible at that time, as in "d6"; `None` if there was none.
        had: Option<String>,
    },
}

/// A position that occurred more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeated {
    /// FEN of the position.
    pub fen: String,
    /// Plies after which it occurred, 0 for the start.
    pub plies: Vec<u32>,
}

/// Count of half-moves without capture or pawn move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Countdown {
    /// Number of half-moves, including those in the FEN of the start position.
    pub half_moves: u32,
    /// Last ply that captured or moved a pawn; 0 if none did since the start.
    pub last_ply: u32,
    /// Kind of that ply.
    pub last: Option<Irreversible>,
}
