//! Diagrams of positions.
//!
//! The pieces are vector graphics and not characters: fonts without chess characters show boxes, and phones show emoji.

use maud::{Markup, html};
use shakmaty::{Bitboard, Color, File, Piece, Rank, Role, Square};

use crate::outputs::report::position::board;
use crate::outputs::report::view::{Renderer, rights};

/// Renders a diagram with a caption, seen from White's side; `None` if `fen` is not valid.
pub(super) fn figure(view: Renderer<'_>, caption: &str, fen: &str, marked: Bitboard) -> Option<Markup> {
    let board = board(fen)?;
    let pieces = view.pieces(&board);
    let to_move = view.to_move(fen);
    Some(html! {
        figure class="diagram" {
            svg viewBox="0 0 382 382" role="img" {
                title { (caption) ". " (to_move) ". " (pieces) }
                @for square in Square::ALL { (background(square)) }
                @for square in marked { (mark(square)) }
                @for square in board.occupied() {
                    @if let Some(piece) = board.piece_at(square) {
                        use href=(format!("#{}", id(piece))) x=(x(square)) y=(y(square)) width=(SIDE) height=(SIDE) {}
                    }
                }
                rect x=(LEFT) y=(TOP) width=(8 * SIDE) height=(8 * SIDE) fill="none" stroke="#222" stroke-width="2" {}
                @for rank in Rank::ALL {
                    text class="edge" x="9" y=(y(Square::from_coords(File::A, rank)) + 29) { (rank.char()) }
                }
                @for file in File::ALL {
                    text class="edge" x=(x(Square::from_coords(file, Rank::First)) + SIDE / 2) y="378" { (file.char()) }
                }
            }
            figcaption { (caption) br; b { (to_move) } br; (rights(view.words, fen)) br; code { (fen) } }
        }
    })
}

/// Width of a square.
const SIDE: u32 = 45;
/// Offset of the board, with room for the rank numbers on its left.
const LEFT: u32 = 20;
const TOP: u32 = 2;

fn x(square: Square) -> u32 {
    LEFT + u32::from(square.file()) * SIDE
}

fn y(square: Square) -> u32 {
    TOP + (7 - u32::from(square.rank())) * SIDE
}

fn background(square: Square) -> Markup {
    let fill = if square.is_light() { "#f5f1e6" } else { "#c9b48f" };
    html! { rect x=(x(square)) y=(y(square)) width=(SIDE) height=(SIDE) fill=(fill) {} }
}

/// Highlights a square of an incident. The frame makes it visible without colours too.
fn mark(square: Square) -> Markup {
    html! {
        rect x=(x(square)) y=(y(square)) width=(SIDE) height=(SIDE) fill="#ffd84d" fill-opacity="0.7" {}
        rect x=(x(square) + 2) y=(y(square) + 2) width=(SIDE - 4) height=(SIDE - 4) fill="none" stroke="#b3001b"
            stroke-width="4" {}
    }
}

fn id(piece: Piece) -> String {
    format!("{}{}", piece.color.fold_wb('w', 'b'), piece.role.char())
}

/// Definitions of the pieces for all diagrams of a page.
pub(super) fn pieces() -> Markup {
    html! {
        svg width="0" height="0" class="pieces" aria-hidden="true" {
            defs {
                @for color in Color::ALL {
                    @for role in Role::ALL { (piece(Piece { color, role })) }
                }
            }
        }
    }
}

/// A piece on a canvas of 45 by 45: the outline is filled, the inner lines are in the contrasting colour.
fn piece(piece: Piece) -> Markup {
    let (fill, line, inside) = piece
        .color
        .fold_wb(("#fff", "#111", "#111"), ("#222", "#111", "#fff"));
    let (outline, details) = shape(piece.role);
    html! {
        symbol id=(id(piece)) viewBox="0 0 45 45" {
            g stroke=(line) stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round" {
                path fill=(fill) d=(outline) {}
                path fill=(fill) d=(FOOT) {}
                path fill="none" stroke=(inside) d=(details) {}
            }
        }
    }
}

/// Base of all pieces.
const FOOT: &str = "M11.5 34.5 h22 a1.5 1.5 0 0 1 1.5 1.5 v3 h-25 v-3 a1.5 1.5 0 0 1 1.5 -1.5 z";

/// Outline and inner lines of a piece.
const fn shape(role: Role) -> (&'static str, &'static str) {
    match role {
        Role::Pawn => (
            "M22.5 8.5 a5.5 5.5 0 0 1 3.6 9.6 c3 1.4 3 3.4 0.9 4 c0.4 6 2 9 5 12.4 h-19 c3 -3.4 4.6 -6.4 5 -12.4 \
             c-2.1 -0.6 -2.1 -2.6 0.9 -4 a5.5 5.5 0 0 1 3.6 -9.6 z",
            "",
        ),
        Role::Knight => (
            "M20.5 7 l2.5 3.6 c9 1.2 12.5 10 11 23.9 h-19 c0 -7 6.5 -8.5 7 -14 c-2 2.4 -4 2.2 -5.2 2 l-3.6 4 \
             c-2.6 1 -4.6 -1.4 -4.2 -4.2 l5.6 -8.3 l0.4 -5 l3 2.4 z",
            "M17.6 15.2 l0.6 -0.6 M12 22.8 l0.5 -0.5 M28 15.5 c2.6 3.5 3 9 2.6 15.5",
        ),
        Role::Bishop => (
            "M22.5 5.5 a2.4 2.4 0 0 1 1.4 4.4 c5 3.2 7.6 7.6 6.8 12.6 c-0.4 2.6 -1.6 4.2 -2.9 5.5 l1.2 3 l3 3.5 h-19 \
             l3 -3.5 l1.2 -3 c-1.3 -1.3 -2.5 -2.9 -2.9 -5.5 c-0.8 -5 1.8 -9.4 6.8 -12.6 a2.4 2.4 0 0 1 1.4 -4.4 z",
            "M22.5 15 v8 M18.7 18.6 h7.6 M17.2 28 h10.6 M16 31 h13",
        ),
        Role::Rook => (
            "M12.5 8 h4.4 v3 h3.2 v-3 h4.8 v3 h3.2 v-3 h4.4 v8 l-3.5 3 v10.5 l3 5 h-19 l3 -5 v-10.5 l-3.5 -3 z",
            "M16 19 h13 M16 29.5 h13 M13 15 h19",
        ),
        Role::Queen => (
            "M8 12.5 a2 2 0 1 1 2 1.8 l4.5 8.7 l0.7 -11 a2 2 0 1 1 2.2 0 l3.6 10.5 l0.5 -12 a2 2 0 1 1 2 0 l0.5 12 \
             l3.6 -10.5 a2 2 0 1 1 2.2 0 l0.7 11 l4.5 -8.7 a2 2 0 1 1 2 -1.8 l-4.5 17 l1.5 5 h-24 l1.5 -5 z",
            "M14 29.5 h17",
        ),
        Role::King => (
            "M21.5 4 h2 v2.8 h2.8 v2 h-2.8 v4.4 c1.6 0.6 2.4 1.8 2.7 3.2 c5 -2.8 10.3 -0.6 10.3 4.4 c0 4.4 -3.6 6 -4.7 \
             9 l1.2 4.7 h-21 l1.2 -4.7 c-1.1 -3 -4.7 -4.6 -4.7 -9 c0 -5 5.3 -7.2 10.3 -4.4 c0.3 -1.4 1.1 -2.6 2.7 -3.2 \
             v-4.4 h-2.8 v-2 h2.8 z",
            "M22.5 18 v8.5 M13.5 29.8 c6 -2 12 -2 18 0 M18.8 16.4 c1.6 2 3 5 3.7 10 M26.2 16.4 c-1.6 2 -3 5 -3.7 10",
        ),
    }
}
