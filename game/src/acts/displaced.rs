//! Finds displaced pieces: pieces that left their squares or came to other squares, which no move explains.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Role, Square};

use super::in_one_scan;
use super::standing::BoardComparison;
use crate::events::SensorChange;
use crate::position::{difference, outcome_of_kings};

/// Maximum number of squares with displaced pieces. If more differ, pieces are being set up or cleared away.
const MAX_SQUARES: usize = 10;

/// Squares that no move explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Astray {
    pub(crate) squares: Bitboard,
    /// Grace period in which the players may put the pieces right.
    pub(crate) grace: Duration,
}

impl BoardComparison<'_> {
    /// The displaced squares among `fresh`: squares that differ and are not known to be displaced. `None` if a move, a
    /// takeback or a result explains them, or a piece may still be in a hand.
    pub(crate) fn displaced(&self, fresh: Bitboard) -> Option<Astray> {
        if fresh.is_empty() || fresh.count() > MAX_SQUARES {
            return None;
        }
        let (tip, shown) = (self.tip, self.trace.board());
        let astray = |squares, grace| Some(Astray { squares, grace });
        if let Some(act) = self.read(fresh) {
            if !act.pushed || act.halfway {
                return None;
            }
            // If the squares of the last ply changed in the same scan, both pieces were knocked over.
            let before = self.last.map(|last| last.before.board());
            let expected = before.map_or(Bitboard::EMPTY, |before| difference(before, tip.board()));
            let upset = act.upset || (expected.any() && self.at_once(fresh | expected));
            // The act may be an illegal move that is put right before the press.
            return astray(
                act.squares,
                if upset {
                    self.trace.model.doubt
                } else {
                    self.trace.model.put_right
                },
            );
        }
        if self.shows_result() || self.takes_back(fresh) || self.illegal_castling_after_rook_move().is_some()
        {
            return None;
        }
        let held = |square: Square| shown.piece_at(square).is_none() && self.fallen_grace(square).is_none();
        if fresh.single_square().is_some_and(held) {
            return None;
        }
        let moves = tip.moves();
        let reached = moves.iter().map(|candidate| candidate.footprint);
        // The squares are part of a move of several pieces, which has begun or which the tracker has not found yet.
        if reached
            .clone()
            .any(|footprint| footprint.squares().count() > 2 && footprint.squares().is_superset(fresh))
        {
            return None;
        }
        let played = reached
            .filter(|footprint| fresh.is_superset(footprint.squares()) && footprint.fits(shown))
            .map(|footprint| footprint.squares())
            .next();
        // Nobody moves and pushes another piece within one scan.
        let upset = self.at_once(fresh) && fresh.count() > 3;
        let rest = fresh & !played.filter(|_| !upset).unwrap_or(Bitboard::EMPTY);
        let strays = strays(tip.board(), shown, rest);
        if let Some(fallen) = strays.single_square() {
            let grace = self.fallen_grace(fallen)?;
            let all = self::strays(tip.board(), shown, fresh);
            let counts = fresh == strays || grace == self.trace.model.doubt;
            return (shown.piece_at(fallen).is_none() && counts).then_some(Astray { squares: all, grace });
        }
        if strays.is_empty() {
            return None;
        }
        if in_hand(tip.board(), shown, strays) {
            return astray(strays, self.trace.model.put_right);
        }
        // A single piece came to another square, and no other piece left its own.
        let gone = |square: &Square| tip.board().piece_at(*square).is_some();
        let alone = strays.count() == 2 && strays.into_iter().filter(gone).count() == 1;
        astray(
            strays,
            if alone {
                self.trace.model.put_right
            } else {
                self.trace.model.doubt
            },
        )
    }

    /// The squares that differed before a piece was lifted at `lifted_at`, without the `known` ones.
    pub(crate) fn displaced_before(&self, lifted_at: Timestamp, known: Bitboard) -> Bitboard {
        if self.illegal_castling_after_rook_move().is_some() {
            return Bitboard::EMPTY;
        }
        let squares = self.differs().without(known).into_iter();
        squares
            .filter(|square| self.trace.changed_at(*square) + ONE_SCAN_APART < lifted_at)
            .collect()
    }

    /// The displaced squares among `squares`, which differed when a move was made. If no piece appeared elsewhere, the
    /// square of the missing piece may be misread, and the grace period is longer.
    pub(crate) fn still_displaced(&self, squares: Bitboard) -> Option<Astray> {
        let shown = self.trace.board();
        let squares = strays(self.tip.board(), shown, squares);
        if squares.is_empty() || self.illegal_castling_after_rook_move().is_some() {
            return None;
        }
        let appeared = (squares & shown.occupied()).any();
        let grace = if appeared {
            self.trace.model.rest
        } else {
            self.trace.model.patience
        };
        Some(Astray { squares, grace })
    }

    /// Whether the kings show a result: both stand in the centre, or one does and is more than one step from its square
    /// in the line's last position.
    fn shows_result(&self) -> bool {
        let (expected, shown) = (self.tip.board(), self.trace.board());
        let put_there = |color: &Color| {
            let (Some(from), Some(to)) = (expected.king_of(*color), shown.king_of(*color)) else {
                return false;
            };
            Bitboard::CENTER.contains(to) && from.distance(to) > 1
        };
        outcome_of_kings(shown).is_some() || Color::ALL.iter().any(put_there)
    }

    /// Time since which `squares` have looked displaced, if they were not known before.
    pub(crate) fn displaced_since(&self, squares: Bitboard) -> Timestamp {
        self.trace.stood_since(squares).max(self.trace.quiet_since)
    }

    /// Grace period for a missing piece that was knocked over or is in a hand. `None` if a player may hold it for as
    /// long as the turn lasts: the player on move may hold the piece to be moved, or the piece to be captured.
    fn fallen_grace(&self, fallen: Square) -> Option<Duration> {
        let tip = self.tip;
        let color = tip.board().color_at(fallen)?;
        if self.knocked(fallen, color) {
            return Some(self.trace.model.doubt);
        }
        if self.knocked(fallen, !color) {
            return Some(self.trace.model.put_right);
        }
        let taken = |m: &shakmaty::Move| m.to() == fallen;
        let wanted = color == tip.turn() || tip.legal_moves().iter().any(taken);
        (!wanted).then_some(self.trace.model.patience)
    }

    fn at_once(&self, squares: Bitboard) -> bool {
        let changed = squares.into_iter().map(|square| self.trace.changed_at(square));
        in_one_scan(changed)
    }

    /// Whether another piece of `color` left a nearby square in the same scan, which shows that a piece was knocked
    /// over: a hand lifts one piece at a time.
    fn knocked(&self, fallen: Square, color: Color) -> bool {
        let at = self.trace.changed_at(fallen);
        let mut scan = self
            .trace
            .since(at.saturating_sub(ONE_SCAN_APART))
            .take_while(|shown| shown.when.at <= at + ONE_SCAN_APART)
            .filter(|shown| shown.square != fallen);
        // A piece that is drawn over the board also leaves squares other than its own. So a piece counts only if it
        // stood on its square in the line's last position, or in the one before it.
        let before = self.last.map(|last| last.before.board());
        let stood = |shown: &SensorChange, board: &Board| board.piece_at(shown.square) == shown.before;
        scan.any(|shown| {
            shown.before.is_some_and(|piece| piece.color == color)
                && shown.square.distance(fallen) <= 2
                && (stood(shown, self.tip.board()) || before.is_some_and(|before| stood(shown, before)))
        })
    }
}

/// Squares that pieces left, and squares on which pieces of the same kind appeared. A piece that appears although none
/// of its kind left a square was misread.
fn strays(expected: &Board, shown: &Board, differs: Bitboard) -> Bitboard {
    let mut gone: Bitboard = differs
        .into_iter()
        .filter(|square| expected.piece_at(*square).is_some())
        .collect();
    let mut strays = Bitboard::EMPTY;
    for square in differs {
        let Some(piece) = shown.piece_at(square) else {
            continue;
        };
        let from = gone
            .into_iter()
            .find(|from| *from != square && expected.piece_at(*from) == Some(piece));
        if let Some(from) = from {
            gone.discard(from);
            strays.add(Bitboard::from(from).with(square));
        }
    }
    let fallen = gone
        .into_iter()
        .filter(|square| shown.piece_at(*square).is_none());
    strays | fallen.collect::<Bitboard>()
}

/// Whether hands may hold all missing pieces: at most one piece of each colour, or its king and rook.
fn in_hand(expected: &Board, shown: &Board, strays: Bitboard) -> bool {
    if (strays & shown.occupied()).any() {
        return false;
    }
    Color::ALL.into_iter().all(|color| {
        let own = strays & expected.by_color(color);
        let castles = own.count() == 2
            && (own & expected.by_role(Role::King)).any()
            && (own & expected.by_role(Role::Rook)).any();
        own.count() <= 1 || castles
    })
}
