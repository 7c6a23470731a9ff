//! What is played on a board now, for whoever looks.

use super::Referee;
use crate::events::{EndReason, GameResult, Incident, Players};

/// The last game of a board, ended or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Playing {
    /// Its id.
    pub game: String,
    /// Who plays it, as far as that is known.
    pub players: Option<Players>,
    /// Its start position.
    pub start_fen: String,
    /// The number of its last ply, 0 before the first, and its move in SAN, or in UCI where it was irregular.
    pub last: (u32, String),
    /// How it ended; `None`: it goes on.
    pub ended: Option<(GameResult, EndReason)>,
}

impl Referee {
    /// The last game, until the pieces are set up for the next one; `None`: there is none.
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

    /// The incidents that are open, the oldest first.
    pub(crate) fn open_incidents(&self) -> impl Iterator<Item = &Incident> {
        self.watch.open_incidents()
    }
}
