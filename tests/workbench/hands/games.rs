//! Legal games: random ones, and ones given in UCI.

use kiebitz_hardware::emulator::hand::Chance;
use shakmaty::{Board, CastlingMode, Chess, Color, FromSetup, Move, Piece, Position, Role, Setup, Square};

#[derive(Debug, Clone)]
pub struct Game {
    pub mode: CastlingMode,
    pub start: Chess,
    pub moves: Vec<Move>,
}

/// The kinds of moves that random play prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taste {
    Any,
    /// Castling, promotion, en passant, and moves that prepare them.
    Special,
}

impl Game {
    /// Parses a game in UCI, from the standard start position or, with a number from 0 to 959, from one of Chess960.
    pub fn from_uci(start: Option<usize>, uci: &str) -> Self {
        let (start, mode) = start.map_or((Chess::new(), CastlingMode::Standard), chess960);
        let mut position = start.clone();
        let moves = uci
            .split_whitespace()
            .map(|uci| {
                let parsed: shakmaty::uci::UciMove = uci.parse().unwrap();
                let m = parsed.to_move(&position).unwrap();
                position.play_unchecked(m);
                m
            })
            .collect();
        Self { mode, start, moves }
    }

    /// Plays random moves, from the standard start position or, with a number from 0 to 959, from one of Chess960. A
    /// position of Chess960 that differs from the standard one on up to four squares becomes the standard one, because
    /// kiebitz takes it for a standard position that was set up wrongly.
    pub fn random(chance: &mut Chance, start: Option<usize>, taste: Taste, plies: usize) -> Self {
        let standard = Chess::new();
        let start = start.map(chess960).filter(|(start, _)| {
            let board = start.board();
            let same = |square: &Square| board.piece_at(*square) == standard.board().piece_at(*square);
            Square::ALL.iter().filter(|square| !same(square)).count() > 4
        });
        let (start, mode) = start.unwrap_or((standard, CastlingMode::Standard));
        let mut position = start.clone();
        let mut moves = Vec::new();
        while moves.len() < plies && !position.is_game_over() {
            let m = choose(chance, &position, taste);
            position.play_unchecked(m);
            moves.push(m);
        }
        Self { mode, start, moves }
    }

    /// Returns the moves in kiebitz's notation.
    pub fn uci(&self) -> Vec<String> {
        self.moves
            .iter()
            .map(|m| m.to_uci(self.mode).to_string())
            .collect()
    }
}

fn choose(chance: &mut Chance, position: &Chess, taste: Taste) -> Move {
    let moves = position.legal_moves();
    let weight = |m: Move| match taste {
        Taste::Any => 1,
        Taste::Special if m.is_castle() || m.is_promotion() || m.is_en_passant() => 60,
        Taste::Special => {
            let advance = match (m.role(), position.turn()) {
                (Role::Pawn, Color::White) => u32::from(m.to().rank()) as usize,
                (Role::Pawn, Color::Black) => 7 - u32::from(m.to().rank()) as usize,
                // A king or rook that has moved cannot castle.
                (Role::King | Role::Rook, _) => 0,
                _ => 3,
            };
            1 + advance + if m.is_capture() { 3 } else { 0 }
        }
    };
    let total: usize = moves.iter().map(|m| weight(*m)).sum();
    let mut left = chance.below(total);
    for m in &moves {
        if left < weight(*m) {
            return *m;
        }
        left -= weight(*m);
    }
    moves[0]
}

/// Returns the start position of Chess960 with this number, 0 to 959 (518 is the standard one).
fn chess960(number: usize) -> (Chess, CastlingMode) {
    let mut rank = [None; 8];
    rank[number % 4 * 2 + 1] = Some(Role::Bishop);
    rank[number / 4 % 4 * 2] = Some(Role::Bishop);
    let free =
        |rank: &[Option<Role>; 8], nth: usize| (0..8).filter(|file| rank[*file].is_none()).nth(nth).unwrap();
    let queen = free(&rank, number / 16 % 6);
    rank[queen] = Some(Role::Queen);
    let pairs = [
        (0, 1),
        (0, 2),
        (0, 3),
        (0, 4),
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 3),
        (2, 4),
        (3, 4),
    ];
    let (first, second) = pairs[number / 96 % 10];
    let knights = [free(&rank, first), free(&rank, second)];
    for file in knights {
        rank[file] = Some(Role::Knight);
    }
    for role in [Role::Rook, Role::King, Role::Rook] {
        let file = free(&rank, 0);
        rank[file] = Some(role);
    }
    let mut board = Board::new();
    for (file, role) in rank.into_iter().enumerate() {
        let square = Square::new(file as u32);
        for (square, color) in [(square, Color::White), (square.flip_vertical(), Color::Black)] {
            board.set_piece_at(
                square,
                Piece {
                    color,
                    role: role.unwrap(),
                },
            );
        }
    }
    let castling_rights = board.rooks();
    let mode = if board == Board::new() {
        CastlingMode::Standard
    } else {
        CastlingMode::Chess960
    };
    let setup = Setup {
        board,
        castling_rights,
        ..Setup::initial()
    };
    (Chess::from_setup(setup, CastlingMode::Chess960).unwrap(), mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_positions_have_their_standard_numbers() {
        for (number, rank) in [(0, "BBQNNRKR"), (518, "RNBQKBNR"), (959, "RKRNNQBB")] {
            let (position, _) = chess960(number);
            let back: String = (0..8)
                .map(|file| position.board().role_at(Square::new(file)).unwrap().upper_char())
                .collect();
            assert_eq!(back, rank);
        }
    }
}
