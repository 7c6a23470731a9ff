//! How the pieces are set up before the game: wrongly, or on a board that is turned.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, ByRole, Color, File, Rank, Role, Square};

use super::book::{Known, Number};
use super::{Desk, Noted};
use crate::laws::{DrawnStart, Sight};
use crate::tracker::{Variant, difference};

/// Pieces that have stood like this for so long are set up.
const STANDS: Duration = Duration::from_millis(3500);
/// So many squares that differ from what was found wrong are something else.
const GIVEN_UP: usize = 8;

/// Watches the board before the first move.
#[derive(Debug, Default)]
pub(super) struct Setup {
    turned: Option<Number>,
    quarter: Option<Number>,
    wrong: Option<Wrong>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Wrong {
    number: Number,
    board: Board,
}

impl Setup {
    pub(super) fn resume(&mut self, known: &Known) {
        if known.kind == "board_rotated" {
            self.turned = Some(known.number);
        } else {
            self.wrong = Some(Wrong {
                number: known.number,
                board: Board::empty(),
            });
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn note(&mut self, desk: &mut Desk<'_>, noted: &Noted) {
        self.wake = None;
        if matches!(noted, Noted::Started) {
            self.started(desk);
        }
        let before_play = desk.view.line.is_empty() && (!desk.view.begun || desk.view.start.is_none());
        if before_play || desk.view.over {
            self.look(desk);
        }
    }

    /// A start position stands on the board.
    fn started(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let Some(start) = desk.view.start.filter(|start| !start.goes_on) else {
            return;
        };
        if let Some(number) = self.quarter.take() {
            desk.book.close(now, number, "board", "restored");
        }
        if start.turned && self.turned.is_none() {
            let sight = Sight::BoardRotated {
                quarter: false,
                moves: 0,
            };
            let report = desk.report(sight, now).at_ply(0);
            self.turned = Some(desk.open(report));
        } else if !start.turned
            && let Some(number) = self.turned.take()
        {
            desk.book.close(now, number, "board", "restored");
        }
        let wrong = wrong_variant(desk, start.variant, start.state.board());
        match (wrong, self.wrong.take()) {
            (None, Some(wrong)) => desk.book.close(now, wrong.number, "board", "restored"),
            (Some(squares), known) => {
                if let Some(known) = known {
                    desk.book.close(now, known.number, "board", "restored");
                }
                let board = start.state.board().clone();
                self.found_wrong(desk, squares, board);
            }
            (None, None) => {}
        }
    }

    fn found_wrong(&mut self, desk: &mut Desk<'_>, squares: Bitboard, board: Board) {
        let drawn = desk
            .view
            .regulations
            .drawn_start
            .clone()
            .unwrap_or(DrawnStart::Standard);
        let sight = Sight::WrongStart { drawn, moves: 0 };
        let report = desk.report(sight, desk.trace.quiet_since).at_ply(0).on(squares);
        let number = desk.open(report);
        self.wrong = Some(Wrong { number, board });
    }

    /// Looks at a board that shows no start position.
    fn look(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let shown = desk.trace.board();
        if let Some(wrong) = self
            .wrong
            .take_if(|wrong| difference(&wrong.board, shown).count() > GIVEN_UP)
        {
            desk.book.close(now, wrong.number, "board", "passed");
        }
        let stands = desk
            .view
            .start
            .is_some_and(|start| desk.view.line.is_empty() && start.state.board() == shown);
        if stands {
            return;
        }
        let found = wrong_array(shown);
        let quarter = found.is_none() && is_quarter_turned(shown);
        if (found.is_none() || self.wrong.is_some()) && (!quarter || self.quarter.is_some()) {
            return;
        }
        let due = desk.trace.quiet_since + STANDS;
        if now < due {
            self.wake = Some(due);
        } else if let Some(squares) = found {
            let board = shown.clone();
            self.found_wrong(desk, squares, board);
        } else {
            let sight = Sight::BoardRotated {
                quarter: true,
                moves: 0,
            };
            let report = desk.report(sight, desk.trace.quiet_since).at_ply(0);
            self.quarter = Some(desk.open(report));
        }
    }
}

/// Squares on which a start position is not the one that should stand there; `None` where nothing is wrong, or
/// nobody has told what should.
fn wrong_variant(desk: &Desk<'_>, variant: Variant, board: &Board) -> Option<Bitboard> {
    match (desk.view.regulations.drawn_start.as_ref()?, variant) {
        (DrawnStart::Standard, Variant::Chess960) => Some(difference(&Board::new(), board)),
        (DrawnStart::Chess960(Some(drawn)), Variant::Standard | Variant::Chess960) => {
            let drawn: Board = drawn.split(' ').next()?.parse().ok()?;
            Some(difference(&drawn, board)).filter(|squares| squares.any())
        }
        _ => None,
    }
}

/// The squares on which all 32 pieces, set up on the right ranks, are not where Article 2.3 wants them; `None` where
/// they are not set up at all, or form a start position of Chess960.
fn wrong_array(shown: &Board) -> Option<Bitboard> {
    let turned = (shown.white() & (Bitboard::from(Rank::Seventh) | Bitboard::from(Rank::Eighth))).count() > 8;
    let mut board = shown.clone();
    if turned {
        board.rotate_180();
    }
    if !is_set_up(&board) {
        return None;
    }
    let squares = difference(&Board::new(), &board);
    if squares.is_empty() || is_mirrored(&board) {
        return None;
    }
    Some(if turned { squares.rotate_180() } else { squares })
}

/// Every piece stands on a square of its side's first two ranks, pawns on the second.
fn is_set_up(board: &Board) -> bool {
    let whole = ByRole {
        pawn: 8,
        knight: 2,
        bishop: 2,
        rook: 2,
        queen: 1,
        king: 1,
    };
    Color::ALL.into_iter().all(|color| {
        let (first, second) = color.fold_wb((Rank::First, Rank::Second), (Rank::Eighth, Rank::Seventh));
        let own = board.by_color(color);
        own == (Bitboard::from(first) | Bitboard::from(second))
            && board.pawns() & own == Bitboard::from(second)
            && Role::ALL
                .into_iter()
                .all(|role| (board.by_role(role) & own).count() == *whole.get(role))
    })
}

/// Both sides have their pieces in the same order: what Chess960 knows is judged by what the arbiter has drawn.
fn is_mirrored(board: &Board) -> bool {
    let first: Bitboard = Rank::First.into();
    first
        .into_iter()
        .all(|square| board.role_at(square) == board.role_at(square.flip_vertical()))
}

/// The standard array stands on files.
fn is_quarter_turned(shown: &Board) -> bool {
    let rotated = |square: Square| {
        Square::from_coords(
            File::new(u32::from(square.rank())),
            Rank::new(7 - u32::from(square.file())),
        )
    };
    let standard = Board::new();
    let fits = |flip: bool| {
        Square::ALL.into_iter().all(|square| {
            let on = rotated(square);
            let on = if flip { on.rotate_180() } else { on };
            standard.piece_at(square) == shown.piece_at(on)
        })
    };
    fits(false) || fits(true)
}
