//! Helpers for positions in events, including illegal ones.

use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::position::State;
use serde::Serialize;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{Bitboard, Board, CastlingMode, Chess, Role, Setup};

/// Placement of a FEN; `None` if it is not valid.
pub(super) fn board(fen: &str) -> Option<Board> {
    Some(setup(fen)?.board)
}

pub(super) fn setup(fen: &str) -> Option<Setup> {
    Some(fen.parse::<Fen>().ok()?.into_setup())
}

/// Legal position of a FEN; `None` if it is not valid or not legal.
pub(super) fn legal(fen: &str, mode: CastlingMode) -> Option<Chess> {
    State::from_fen(fen, mode)?.position().cloned()
}

pub(super) fn castling_mode(record: &GameRecord) -> CastlingMode {
    let mode = record.variant.castling_mode();
    mode.unwrap_or(CastlingMode::Standard)
}

pub(super) fn fen_before(record: &GameRecord, ply: u32) -> &str {
    let before = record.moves.iter().rev().find(|entry| entry.ply < ply);
    before.map_or(record.start_fen.as_str(), |entry| entry.fen.as_str())
}

/// Whether a move in English SAN captures en passant in a position: a pawn captures on an empty square.
pub(super) fn is_en_passant(san: &str, before: &str) -> bool {
    let Ok(SanPlus {
        san:
            shakmaty::san::San::Normal {
                role: Role::Pawn,
                capture: true,
                to,
                ..
            },
        ..
    }) = san.parse()
    else {
        return false;
    };
    board(before).is_some_and(|board| board.piece_at(to).is_none())
}

/// Half-moves since the last capture or pawn move, for each ply of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QuietPlies {
    /// Count at the start, then after each ply.
    counts: Vec<u32>,
    plies: Vec<u32>,
}

/// Kind of a ply that ends the count of moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Irreversible {
    /// The ply captured a piece.
    Capture,
    /// The ply moved a pawn.
    PawnMove,
}

impl QuietPlies {
    pub(super) fn of(record: &GameRecord) -> Self {
        let mut count = setup(&record.start_fen).map_or(0, |setup| setup.halfmoves);
        let (mut counts, mut plies) = (vec![count], vec![0]);
        let mut before = record.start_fen.as_str();
        for entry in &record.moves {
            count = match irreversible(before, entry) {
                None => count.saturating_add(1),
                Some(_) => 0,
            };
            before = &entry.fen;
            counts.push(count);
            plies.push(entry.ply);
        }
        Self { counts, plies }
    }

    /// Count after a ply; 0 is the start.
    pub(super) fn after(&self, ply: u32) -> u32 {
        let index = self.plies.iter().rposition(|known| *known <= ply);
        index
            .and_then(|index| self.counts.get(index))
            .copied()
            .unwrap_or_default()
    }

    /// Last ply up to `ply` that captured or moved a pawn; 0 if none did.
    pub(super) fn reset_before(&self, ply: u32) -> u32 {
        let both = self.plies.iter().zip(&self.counts);
        let resets = both.filter(|(known, count)| **known <= ply && **count == 0);
        resets.map(|(known, _)| *known).next_back().unwrap_or_default()
    }
}

/// Returns whether a ply captured or moved a pawn; `None` if it did neither. Compares the positions before and after
/// the ply, so that irregular play counts too.
pub(super) fn irreversible(before: &str, entry: &MoveRecord) -> Option<Irreversible> {
    let (before, after) = (board(before)?, board(&entry.fen)?);
    let pawns = |board: &Board| (board.pawns() & board.white(), board.pawns() & board.black());
    if after.occupied().count() < before.occupied().count() || entry.captured.is_some() {
        return Some(Irreversible::Capture);
    }
    (pawns(&before) != pawns(&after)).then_some(Irreversible::PawnMove)
}

/// Castling rights as written in a FEN, "-" for none.
pub(super) fn castling_text(fen: &str) -> &str {
    fen.split(' ').nth(2).unwrap_or("-")
}

/// En passant square of a FEN; `None` if there is none.
pub(super) fn en_passant_text(fen: &str) -> Option<&str> {
    fen.split(' ').nth(3).filter(|square| *square != "-")
}

/// Parses names of squares. Skips invalid names.
pub(super) fn squares(names: &[String]) -> Bitboard {
    names
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect::<Bitboard>()
}
