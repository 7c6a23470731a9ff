//! Points that the Laws leave open, and their default decisions.

use serde::Deserialize;

/// Decisions on the points that the Laws leave open. An event may decide each of them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenPoints {
    /// Minutes for an illegal move in supervised blitz of 2023, 1 or 2: A.3 sets one, but B.2 leads to 7.5.5, which
    /// sets two.
    pub blitz_2023_minutes: u8,
    /// Scope of the penalties of 1997 for illegal moves. Art. 10.3, among the rules of the quickplay finish, defines
    /// them.
    pub penalties_1997: Penalties1997,
    /// The moment at which an illegal move is reported to the arbiter. Its penalty requires the press in any case
    /// (7.5).
    pub illegal_move_told: IllegalMoveReport,
    /// Whether an illegal move that stands in rapid or blitz counts as an offence without a decision of the arbiter.
    pub standing_move_counts: bool,
    /// The moves that count towards the limit for reversed colours (7.3, since 2017: ten by both players).
    pub reversed_limit: ReversedLimit,
    /// Whether a position that was restored counts as a new occurrence of itself (9.2).
    pub reinstated_counts: bool,
}

/// The scope of the penalties of 1997.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalties1997 {
    /// In the quickplay finish only.
    QuickplayFinish,
    /// In the whole game.
    Always,
}

/// The moment at which an illegal move is reported to the arbiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IllegalMoveReport {
    /// As soon as it is made, so that it can be corrected without a penalty.
    Made,
    /// Once the clock is pressed. Until then the players may notice it themselves.
    Completed,
}

/// The condition for the limit on reversed colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReversedLimit {
    /// Each player has made ten moves.
    Both,
    /// One player has made ten moves.
    Either,
}

impl Default for OpenPoints {
    fn default() -> Self {
        Self {
            blitz_2023_minutes: 1,
            penalties_1997: Penalties1997::QuickplayFinish,
            illegal_move_told: IllegalMoveReport::Made,
            standing_move_counts: false,
            reversed_limit: ReversedLimit::Both,
            reinstated_counts: false,
        }
    }
}
