//! Points that the Laws leave open, and how they are decided here.

use serde::Deserialize;

/// How the points that the Laws leave open are decided; an event may decide each of them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenPoints {
    /// Minutes for an illegal move in supervised blitz of 2023, 1 or 2: A.3 says one, but B.2 leads to 7.5.5, which
    /// says two.
    pub blitz_2023_minutes: u8,
    /// When the penalties of 1997 for illegal moves apply: Art. 10.3 has them, among the rules of the quickplay finish.
    pub penalties_1997: Penalties1997,
    /// When an illegal move is reported to the arbiter; its penalty requires the press in any case (7.5).
    pub illegal_move_told: IllegalMoveReport,
    /// Whether an illegal move that stands in rapid or blitz counts as an offence without a decision of the arbiter.
    pub standing_move_counts: bool,
    /// Whose moves count towards the limit for colours reversed (7.3, since 2017: ten by both).
    pub reversed_limit: ReversedLimit,
    /// Whether a position that was put back is a new occurrence of itself (9.2).
    pub reinstated_counts: bool,
}

/// When the penalties of 1997 apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Penalties1997 {
    /// In the quickplay finish only.
    QuickplayFinish,
    /// In the whole game.
    Always,
}

/// When an illegal move is reported to the arbiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IllegalMoveReport {
    /// As soon as it is made, so that it can be corrected without a penalty.
    Made,
    /// Once the clock is pressed: until then the players may notice it themselves.
    Completed,
}

/// When the limit for colours reversed is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReversedLimit {
    /// When each player has made ten moves.
    Both,
    /// When one of them has.
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
