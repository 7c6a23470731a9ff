//! How far a PGN's moves go: a reader plays them one by one, and refuses the whole game at the first it cannot play.

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::position::Variant;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position};

/// The moves of a game that every reader can play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MainLine {
    /// The start is a position in the sense of the Laws: readers take its FEN.
    pub(super) has_start: bool,
    /// The first moves of the record, up to the first that cannot be played.
    pub(super) moves: usize,
}

impl MainLine {
    /// Plays a game as a reader does. It ends before irregular play, before a position that the arbiter set, and where
    /// what follows is legal only from a position that is not: once ended it does not go on.
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
            let Some(played) = san.and_then(|san| played(&position, san)) else {
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

fn played(position: &Chess, san: &str) -> Option<Chess> {
    let san: SanPlus = san.parse().ok()?;
    position.clone().play(san.san.to_move(position).ok()?).ok()
}
