//! Plies and players as events carry them.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Clock, color};

/// A ply as published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// 1 is the first of the game.
    pub ply: u32,
    /// Who played it.
    #[serde(with = "color")]
    pub color: Color,
    /// UCI; null where irregular play was more than one piece going from one square to another.
    pub uci: Option<String>,
    /// English SAN; null for irregular play.
    pub san: Option<String>,
    /// The position after it.
    pub fen: String,
    /// Letter of the captured piece in English, lower case: p, n, b, r, q.
    pub captured: Option<String>,
    /// The clock when the ply was published; null without one or before White's side is known.
    pub clock: Option<Clock>,
    /// False for an irregular move.
    pub legal: bool,
    /// Found by reconstruction over a gap, not watched.
    pub inferred: bool,
    /// Published only where it is false: the plies found over the gap may have been played in another order.
    #[serde(skip_serializing_if = "core::clone::Clone::clone", default = "certain")]
    pub order_certain: bool,
}

pub(super) const fn certain() -> bool {
    true
}

/// Who plays, and where in the event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Players {
    /// White's name.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
    /// What else is known of White; absent where it is nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub white_player: Option<Box<PlayerFacts>>,
    /// What else is known of Black; absent where it is nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub black_player: Option<Box<PlayerFacts>>,
    /// The round that they are paired in, from 1; absent where no pairing is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round: Option<u32>,
    /// Their table in it, from 1; absent where no pairing is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<u32>,
}

/// What is known of a player beside the name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayerFacts {
    /// The number that FIDE has given the player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fide_id: Option<u32>,
    /// The title as PGN has it: GM, IM, FM, CM, WGM, WIM, WFM, WCM and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rating, in points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u16>,
    /// The federation, mostly in three letters as FIDE has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub federation: Option<String>,
    /// The team that the player plays for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
}

impl Players {
    /// The same two with each other's colours.
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

    /// Whether the two names are exchanged, compared with `before`.
    #[must_use]
    pub fn are_exchanged(&self, before: &Self) -> bool {
        self.white != self.black && self.white == before.black && self.black == before.white
    }

    /// What else is known of a side's player.
    #[must_use]
    pub fn facts(&self, color: Color) -> Option<&PlayerFacts> {
        match color {
            Color::White => self.white_player.as_deref(),
            Color::Black => self.black_player.as_deref(),
        }
    }

    /// A side's name.
    #[must_use]
    pub fn name(&self, color: Color) -> Option<&str> {
        match color {
            Color::White => self.white.as_deref(),
            Color::Black => self.black.as_deref(),
        }
    }

    /// The same with what was known before and is not said anew: where in the event they play, and what is known of a
    /// player who is still the same.
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
