//! What the record shows about claims of a draw: the sheet with which arbiter and players check one (E23 9.2, 9.3).

use kiebitz_game::events::{ClaimReason, Clock, color, rfc3339};
use kiebitz_game::laws::Edition;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::Color;

use super::position::Irreversible;

/// Claims of a draw in a game: what was possible, and what the record shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Claims {
    /// One for every position and every count that could be claimed.
    pub sheets: Vec<ClaimSheet>,
    /// Every position that stood more than once, the most frequent first.
    pub repeated: Vec<Repeated>,
    /// The count of moves at the end.
    pub countdown: Countdown,
}

/// What is needed to check a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClaimSheet {
    /// threefold or fifty_moves.
    pub reason: ClaimReason,
    /// The article, where the event names it.
    pub article: Option<String>,
    /// The edition of the Laws, where the event names it.
    pub edition: Option<Edition>,
    /// The position claimed, or the last one counted.
    pub fen: String,
    /// What makes positions the same: placement, side to move, castling rights, and the en passant square where a
    /// capture there is possible (E23 9.2.3).
    pub key: String,
    /// The moments at which it could be claimed.
    pub offers: Vec<Offer>,
    /// When the position stood on the board.
    pub occurrences: Vec<Occurrence>,
    /// When the same pieces stood on the same squares, and why it was another position.
    pub near: Vec<Near>,
    /// The count of moves.
    pub countdown: Countdown,
}

/// A moment at which a draw could be claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Offer {
    /// When it was announced.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// The player who could claim it.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// The last ply made.
    pub ply: u32,
    /// The move that the player would have had to announce, in English SAN; `None`: it stood on the board.
    pub intended: Option<String>,
}

/// A position that stood on the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Occurrence {
    /// The ply after which it did; 0 is the start.
    pub ply: u32,
    /// When it came about.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// The clock.
    pub clock: Option<Clock>,
    /// Castling rights as in FEN, "-" for none.
    pub castling: String,
    /// The square of a possible capture en passant.
    pub en_passant: Option<String>,
    /// Not watched: found over a gap.
    pub inferred: bool,
    /// False: perhaps in another place among the plies found with it.
    pub order_certain: bool,
}

/// The same pieces on the same squares, in another position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Near {
    /// The ply after which it stood.
    pub ply: u32,
    /// What was different.
    pub differences: Vec<Difference>,
}

/// What makes one position another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Difference {
    /// The other side was to move.
    Side,
    /// Other castling rights: those it had, as in FEN.
    Castling {
        /// As in "KQkq", "-" for none.
        had: String,
    },
    /// Another capture en passant: on this square, or none.
    EnPassant {
        /// As in "d6".
        had: Option<String>,
    },
}

/// A position that stood more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeated {
    /// The position.
    pub fen: String,
    /// The plies after which it stood, 0 for the start.
    pub plies: Vec<u32>,
}

/// How many moves were made without a capture or a pawn move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Countdown {
    /// Half-moves, those that the start position brought with it included.
    pub half_moves: u32,
    /// The last ply that took or moved a pawn; 0: none since the start.
    pub last_ply: u32,
    /// What that one did.
    pub last: Option<Irreversible>,
}
