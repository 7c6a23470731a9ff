//! Moves that a PGN reader can play. Readers reject the whole game at the first move that they cannot play.

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::position::Variant;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position};

/// The part of a game that every reader can play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MainLine {
    /// Whether the start position is legal, so that readers accept its FEN.
    pub(super) has_start: bool,
    /// Number of moves before the first that readers cannot play.
    pub(super) moves: usize,
}

impl MainLine {
    /// Plays a game as a reader does. The line ends before the first irregular move, the first position set by the
    /// arbiter, and the first move that is not legal in the position reached; later moves are not included.
    pub(super) fn of(record: &GameRecord) -> Self {
        let mode = CastlingMode::from_chess960(record.variant == Variant::Chess960);
        let start = record.start_fen.parse::<Fen>().ok();
        let Some(mut position) = start.and_then(|fen| fen.into_position::<Chess>(mode).ok()) else {
            return Self {
                has_start: false,
                moves: 0,
            };
        };
        let mut moves = 0;
        for entry in &record.moves {
            let is_set = record
                .positions
                .iter()
                .any(|set| set.ply.checked_add(1) == Some(entry.ply));
            let san = entry.san.as_deref().filter(|_| entry.legal && !is_set);
            let Some(played) = san.and_then(|san| play_san(&position, san)) else {
                break;
            };
            position = played;
            moves += 1;
        }
        Self {
            has_start: true,
            moves,
        }
    }
}

fn play_san(position: &Chess, san: &str) -> Option<Chess> {
    let san: SanPlus = san.parse().ok()?;
    position.clone().play(san.san.to_move(position).ok()?).ok()
}
