//! Adds plies whose piece went to a square that does not read it: the sensor is dead, or the piece was set down out of
//! its reach.
//!
//! A piece that was lifted and is read nowhere has gone to such a square. The square may become known only when the
//! piece moves on, so there is one candidate line for each possible square.
//!
//! - A square is assumed dead only if the piece has been missing for **doubt** and the opponent has replied; until then
//!   the piece may be in a hand.
//! - Two dead squares at once are not assumed.
//! - If one piece of castling has arrived and the player has pressed, the other piece is on a square that does not read
//!   it.
//! - Candidate lines stay until the piece moves on, or until a square that a line assumes dead reads a piece for longer
//!   than a moment.
//!
//! A sensor can also die under a piece that does not move. If only one square has been unexplained since before the
//! last three plies, and its piece is missing and was seen nowhere else, the piece is assumed to stand there until it
//! moves on.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Piece, Square};

use super::node::{Node, NodeId};
use super::sensors::Sensors;
use super::tree::Tree;
use crate::model::{A_FEW, PASSING};
use crate::position::{Footprint, PossibleMove, State};

impl Tree {
    pub(super) fn grow_unread(&mut self, id: NodeId, sensors: &Sensors, now: Timestamp) {
        let node = self.node(id);
        if node.closed || node.differs.is_empty() {
            return;
        }
        let mover = node.state.turn();
        // The other piece of the castling is not in a hand any more, because the player has pressed.
        let pressed = |candidate: &PossibleMove| {
            let from = candidate
                .m
                .from()
                .filter(|_| candidate.m.is_castle() && node.unread.is_empty());
            let arrives = |(square, piece): &(Square, Option<Piece>)| {
                piece.is_some() && sensors.board().piece_at(*square) == *piece
            };
            candidate.footprint.iter().any(|part| arrives(&part))
                && from.is_some_and(|from| sensors.has_pressed_since(sensors.changed_at(from), mover))
        };
        let missing = |from: Square| {
            let since = missing_since(node, from, sensors).filter(|_| node.unread.is_empty());
            since.is_some_and(|since| now >= since + self.model().doubt)
        };
        let read = sensors.board().occupied();
        let left = sensors.differing(node.state.board()) & node.state.board().by_color(mover);
        // Pieces that may stand on a square that does not read them. The others are in a hand or stand elsewhere.
        let gone: Bitboard = left
            .without(read)
            .into_iter()
            .filter(|from| node.unread.any() || missing(*from))
            .collect();
        let castles = left & (node.state.board().kings() | node.state.board().rooks());
        if (gone | castles).is_empty() {
            return;
        }
        let unread = |candidate: &PossibleMove| {
            let from = candidate.m.from()?;
            if !candidate.m.is_castle() && (!gone.contains(from) || read.contains(candidate.m.to())) {
                return None;
            }
            let square = unread_square(&candidate.footprint, sensors)?;
            let replied = || answered(&node.state.after(candidate.m), square, sensors, true);
            let went = node.unread.contains(square) || pressed(candidate) || (missing(from) && replied());
            went.then_some((*candidate, square))
        };
        let grown: Vec<_> = node.state.moves().iter().filter_map(unread).collect();
        for (candidate, square) in grown {
            self.add_unread(id, &candidate, square, sensors, now);
        }
    }

    /// The square whose sensor died under its piece: the piece is missing, was not seen elsewhere, and is the only
    /// difference from before the last [`A_FEW`] plies, so that it is not in a hand.
    pub(super) fn died_under_piece(&self, node: &Node, sensors: &Sensors) -> Option<Square> {
        let plies = std::iter::successors(Some(node), |node| Some(self.node(node.parent?)));
        let made = plies.take(A_FEW).map(|ply| ply.footprint.map(|_| ply.lifted_at));
        let since = made
            .reduce(|all, ply| Some(all?.min(ply?)))??
            .saturating_sub(ONE_SCAN_APART);
        let expected = node.state.board();
        let differs = sensors.differing(expected).into_iter();
        let mut before = differs.filter(|square| sensors.changed_at(*square) < since);
        let square = before.next().filter(|_| before.next().is_none())?;
        let stands = expected.occupied().contains(square) && is_missing_since(square, &node.state, sensors);
        let read = sensors.board().occupied() | sensors.result_squares();
        (stands && !read.contains(square)).then_some(square)
    }
}

/// The only square of a ply that does not show it, if it reads empty instead of a piece.
fn unread_square(footprint: &Footprint, sensors: &Sensors) -> Option<Square> {
    let unmet = footprint.unmet(sensors.board()).single_square()?;
    let arrives = footprint
        .iter()
        .any(|(square, piece)| square == unmet && piece.is_some());
    (arrives && sensors.board().piece_at(unmet).is_none()).then_some(unmet)
}

/// Since when the board has read fewer pieces of the kind on `from` than the node's position has; `None` if the board
/// reads them all, so that the piece stands elsewhere.
fn missing_since(node: &Node, from: Square, sensors: &Sensors) -> Option<Timestamp> {
    let piece = node.state.board().piece_at(from)?;
    let count = |board: &Board| board.by_piece(piece).count();
    let (mut read, all) = (count(sensors.board()), count(node.state.board()));
    if read >= all {
        return None;
    }
    for change in sensors.recent().rev() {
        read -= usize::from(change.after == Some(piece)).min(read);
        read += usize::from(change.before == Some(piece));
        if read >= all {
            // The board's record has no times: the piece counts as missing only since the last recorded change.
            let last = sensors.recent().rfind(|other| other.when.recorded);
            return Some(last.filter(|_| change.when.recorded).unwrap_or(change).when.at);
        }
    }
    Some(sensors.changed_at(from))
}

/// Whether the piece of `state` on a square is not read elsewhere either, and was not since the square changed: the board
/// has always read fewer pieces of its kind than `state` has.
fn is_missing_since(square: Square, state: &State, sensors: &Sensors) -> bool {
    let Some(piece) = state.board().piece_at(square) else {
        return false;
    };
    let count = |board: &Board| board.by_piece(piece).count();
    let (mut read, all) = (count(sensors.board()), count(state.board()));
    if read >= all {
        return false;
    }
    let mut changes = sensors.changes_since(sensors.changed_at(square)).rev().peekable();
    while let Some(change) = changes.next() {
        read -= usize::from(change.after == Some(piece)).min(read);
        read += usize::from(change.before == Some(piece));
        let since = changes
            .peek()
            .map_or_else(|| sensors.changed_at(square), |earlier| earlier.when.at);
        // While a piece moves, it may be read on two squares.
        if read >= all && change.when.at > since + PASSING {
            return false;
        }
    }
    true
}

/// Whether the board shows a reply to a move whose piece is not read on `square`, or to the capture of that piece.
fn answered(state: &State, square: Square, sensors: &Sensors, captures: bool) -> bool {
    let board = sensors.board();
    let opponent = state.board().by_color(state.turn());
    if opponent.without(board.by_color(state.turn())).is_empty() {
        return false;
    }
    state.moves().iter().any(|reply| {
        let unmet = reply.footprint.unmet(board);
        let captured = captures && unmet == square.into() && reply.m.is_capture();
        unmet.is_empty() || (captured && answered(&state.after(reply.m), square, sensors, false))
    })
}
