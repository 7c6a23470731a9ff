//! Draws the board.

use anstyle::{Ansi256Color, Style};
use shakmaty::{Color, File, Piece, Rank, Role, Square};

use super::{Pen, Scene, StyledLine};

/// Draws ten lines: eight ranks between two rows of file letters, White below.
pub(super) fn lines(scene: &Scene<'_>, pen: Pen) -> Vec<StyledLine> {
    let files: String = File::ALL
        .iter()
        .map(|file| format!(" {} ", file.char()))
        .collect();
    let edge = StyledLine::from(format!("   {files}  "));
    let mut lines = vec![edge.clone()];
    for rank in Rank::ALL.into_iter().rev() {
        let line = StyledLine::from(format!(" {} ", rank.char()));
        let squares = File::ALL.iter().fold(line, |line, file| {
            line.followed_by(square(Square::from_coords(*file, rank), scene, pen))
        });
        lines.push(squares.and(format!(" {}", rank.char())));
    }
    lines.push(edge);
    lines
}

pub(super) fn legend(pen: Pen) -> StyledLine {
    let last = cell(' ', SquareMark::LastMove, false, pen);
    let differs = cell(' ', SquareMark::Differs, false, pen);
    let meaning = " not as in the game: a piece in the hand, or out of place";
    last.and(" last move   ").followed_by(differs).and(meaning)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SquareMark {
    Differs,
    LastMove,
    None,
}

fn square(square: Square, scene: &Scene<'_>, pen: Pen) -> StyledLine {
    let mark = if scene.differs.contains(square) {
        SquareMark::Differs
    } else if scene.last_move.contains(square) {
        SquareMark::LastMove
    } else {
        SquareMark::None
    };
    let piece = scene.placement.piece_at(square);
    let figure = match piece {
        Some(piece) => figure(piece, pen),
        None if square.is_dark() && !pen.colors => '.',
        None => ' ',
    };
    let white = piece.is_some_and(|piece| piece.color == Color::White);
    let (dark, text) = (square.is_dark(), figure);
    if pen.colors {
        painted(text, mark, dark, white)
    } else {
        cell(text, mark, dark, pen)
    }
}

fn cell(text: char, mark: SquareMark, dark: bool, pen: Pen) -> StyledLine {
    if pen.colors {
        return painted(text, mark, dark, false);
    }
    StyledLine::from(match mark {
        SquareMark::Differs => format!("({text})"),
        SquareMark::LastMove => format!("[{text}]"),
        SquareMark::None => format!(" {text} "),
    })
}

/// Uses background colours on which both white and black pieces are readable.
fn painted(text: char, mark: SquareMark, dark: bool, white: bool) -> StyledLine {
    let background = match (mark, dark) {
        (SquareMark::Differs, _) => 167,
        (SquareMark::LastMove, true) => 94,
        (SquareMark::LastMove, false) => 136,
        (SquareMark::None, true) => 60,
        (SquareMark::None, false) => 103,
    };
    let ink = if white { 231 } else { 16 };
    let style = Style::new()
        .bg_color(Some(Ansi256Color(background).into()))
        .fg_color(Some(Ansi256Color(ink).into()));
    StyledLine::default().and_styled(style.bold(), format!(" {text} "))
}

/// Symbol of a piece. On coloured squares both sides use the solid figures in their own colours; otherwise White's are
/// outlines.
fn figure(piece: Piece, pen: Pen) -> char {
    if pen.ascii {
        return piece.char();
    }
    let outline = piece.color == Color::White && !pen.colors;
    match (piece.role, outline) {
        (Role::King, true) => '♔',
        (Role::Queen, true) => '♕',
        (Role::Rook, true) => '♖',
        (Role::Bishop, true) => '♗',
        (Role::Knight, true) => '♘',
        (Role::Pawn, true) => '♙',
        (Role::King, false) => '♚',
        (Role::Queen, false) => '♛',
        (Role::Rook, false) => '♜',
        (Role::Bishop, false) => '♝',
        (Role::Knight, false) => '♞',
        (Role::Pawn, false) => '♟',
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Bitboard, Board};

    use super::*;

    fn scene(placement: &Board) -> Scene<'_> {
        let last_move = [Square::E2, Square::E4].into_iter().collect();
        let differs = Bitboard::from_square(Square::G8);
        Scene {
            placement,
            last_move,
            differs,
            clock: None,
            game: None,
        }
    }

    #[test]
    fn marks_need_no_colours() {
        let mut placement = Board::new();
        placement.discard_piece_at(Square::G8);
        placement.discard_piece_at(Square::E2);
        placement.set_piece_at(Square::E4, Role::Pawn.of(Color::White));
        let lines = lines(
            &scene(&placement),
            Pen {
                colors: false,
                ascii: true,
            },
        );
        let text = |line: usize| lines[line].to_string();
        assert_eq!(text(1), " 8  r  n  b  q  k  b ( ) r  8");
        assert_eq!(text(5), " 4     .     . [P] .     .  4");
        assert_eq!(text(7), " 2  P  P  P  P [ ] P  P  P  2");
    }

    #[test]
    fn lines_fit_in_29_columns() {
        let placement = Board::new();
        for ascii in [true, false] {
            let lines = lines(&scene(&placement), Pen { colors: false, ascii });
            assert!(
                lines.iter().all(|line| line.to_string().chars().count() <= 29),
                "{lines:#?}"
            );
            assert_eq!(lines.len(), 10);
        }
    }
}
