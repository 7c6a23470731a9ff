//! Summary of a board's last game.

use super::Referee;
use crate::events::{EndReason, GameResult, Incident, Players};

/// The last game of a board, ended or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playing {
    /// Id of the game.
    pub game: String,
    /// The players; `None` while unknown.
    pub players: Option<Players>,
    /// Start position, as FEN.
    pub start_fen: String,
    /// Number of the last ply, 0 before the first, and its move in SAN, or in UCI if it was irregular.
    pub last: (u32, String),
    /// Result and reason; `None` while the game is in progress.
    pub ended: Option<(GameResult, EndReason)>,
}

impl Referee {
    /// The last game, until the pieces are set up for the next one; `None` if there is none.
    #[must_use]
    pub(crate) fn playing(&self) -> Option<Playing> {
        let game = self.game.as_ref()?;
        let last = game.published.last().map(|entry| {
            let ply = &entry.ply;
            let uci = ply.uci.map(|uci| uci.to_string());
            (
                ply.number,
                ply.san
                    .as_ref()
                    .map(ToString::to_string)
                    .or(uci)
                    .unwrap_or_default(),
            )
        });
        let verdict = game.verdict.as_ref().filter(|_| game.ended);
        Some(Playing {
            game: game.id.id.clone(),
            players: game.players.clone(),
            start_fen: game.start.fen(),
            last: last.unwrap_or_default(),
            ended: verdict.map(|verdict| (verdict.result, verdict.reason)),
        })
    }

    pub(crate) fn open_incidents(&self) -> impl Iterator<Item = &Incident> {
        self.watch.open_incidents()
    }
}
