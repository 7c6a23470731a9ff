//! Plies and players in events.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Clock, color};

/// A ply as published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// Number of the ply, from 1 for the first of the game.
    pub ply: u32,
    /// The mover.
    #[serde(with = "color")]
    pub color: Color,
    /// UCI; null for irregular play, unless a single piece moved from one square to another.
    pub uci: Option<String>,
    /// English SAN; null for irregular play.
    pub san: Option<String>,
    /// Position after the ply, as FEN.
    pub fen: String,
    /// Letter of the captured piece in English, lower case: p, n, b, r, q.
    pub captured: Option<String>,
    /// Times of the clock at the publication; null without a clock or while White's side is unknown.
    pub clock: Option<Clock>,
    /// False for an irregular move.
    pub legal: bool,
    /// Whether the ply was reconstructed over a gap.
    pub inferred: bool,
    /// Published only if false: the plies of a gap may have been played in another order.
    #[serde(skip_serializing_if = "core::clone::Clone::clone", default = "certain")]
    pub order_certain: bool,
}

pub(super) const fn certain() -> bool {
    true
}

/// The players of a game and their place in the tournament.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Players {
    /// White's name.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
    /// Further data of White; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub white_player: Option<Box<PlayerFacts>>,
    /// Further data of Black; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub black_player: Option<Box<PlayerFacts>>,
    /// Round of the pairing, from 1; absent if no pairing is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round: Option<u32>,
    /// Table of the pairing, from 1; absent if no pairing is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<u32>,
}

/// Data of a player besides the name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayerFacts {
    /// FIDE ID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fide_id: Option<u32>,
    /// Title as in PGN: GM, IM, FM, CM, WGM, WIM, WFM, WCM and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Rating in points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u16>,
    /// Federation, mostly as FIDE's code of three letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub federation: Option<String>,
    /// Team of the player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

impl Players {
    /// Returns the players with exchanged colours.
    #[must_use]
    pub fn exchanged(&self) -> Self {
        Self {
            white: self.black.clone(),
            black: self.white.clone(),
            white_player: self.black_player.clone(),
            black_player: self.white_player.clone(),
            round: self.round,
            table: self.table,
        }
    }

    /// Whether White's and Black's names are those of `before` with the colours exchanged.
    #[must_use]
    pub fn are_exchanged(&self, before: &Self) -> bool {
        self.white != self.black && self.white == before.black && self.black == before.white
    }

    /// Further data of a player.
    #[must_use]
    pub fn facts(&self, color: Color) -> Option<&PlayerFacts> {
        match color {
            Color::White => self.white_player.as_deref(),
            Color::Black => self.black_player.as_deref(),
        }
    }

    /// Name of a player.
    #[must_use]
    pub fn name(&self, color: Color) -> Option<&str> {
        match color {
            Color::White => self.white.as_deref(),
            Color::Black => self.black.as_deref(),
        }
    }

    /// Fills in missing data from `before`: round and table, and the data of each player whose name is unchanged.
    #[must_use]
    pub fn over(mut self, before: Option<&Self>) -> Self {
        let Some(before) = before else { return self };
        self.round = self.round.or(before.round);
        self.table = self.table.or(before.table);
        if self.white_player.is_none() && self.white == before.white {
            self.white_player.clone_from(&before.white_player);
        }
        if self.black_player.is_none() && self.black == before.black {
            self.black_player.clone_from(&before.black_player);
        }
        self
    }
}
