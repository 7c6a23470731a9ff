//! Cost of the squares that showed a piece between its departure and its arrival.
//!
//! | the piece | cost |
//! | --- | --- |
//! | crossed a square off its way, for a scan at most | **odd** |
//! | rested on its way while the other player moved | **odd** |
//! | rested off its way, for more than a scan | **unlikely** |
//!
//! A piece that stood off its way for **put_right**, or on its way for **doubt** while the other player moved, was most
//! likely played there: this costs **unlikely** more.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Move, Square, attacks};

use super::node::{Node, Played};
use super::sensors::Sensors;
use crate::events::SensorChange;
use crate::model::{Cost, Model, PASSING};

/// Whether the reports contradict a move to `hidden` whose piece was captured there before the square was scanned:
/// after the piece was lifted, it stood on another square, or another piece of the mover was shown on `hidden`.
pub(super) fn stood_elsewhere(m: Move, hidden: Square, node: &Node, sensors: &Sensors) -> bool {
    let Some(from) = m.from() else { return false };
    let piece = m.promotion().unwrap_or_else(|| m.role()).of(node.state.turn());
    let on_its_way = attacks::between(from, hidden).with(from).with(hidden);
    let lifted = sensors.changed_at(from);
    let captured = sensors.changed_at(hidden);
    sensors
        .recent()
        .skip_while(|change| change.when.at + ONE_SCAN_APART < lifted)
        .filter(|shown| shown.after.is_some_and(|after| after.color == piece.color))
        .any(|shown| {
            if shown.after != Some(piece) {
                // The promotion square may show the pawn.
                return shown.square == hidden && shown.after != Some(m.role().of(piece.color));
            }
            let until = sensors.next_change(shown).map_or(captured, |left| left.when.at);
            !on_its_way.contains(shown.square) || until > shown.when.at + PASSING
        })
}

/// Cost of sightings of the ply's piece off its way, or resting on its way while the other player moved.
pub(super) fn stray(node: &Node, sensors: &Sensors, now: Timestamp, model: &Model) -> Cost {
    let Played::Move(Move::Normal {
        role,
        from,
        to,
        promotion: None,
        ..
    }) = node.played
    else {
        return 0;
    };
    let piece = role.of(node.mover());
    let on_its_way = attacks::between(from, to);
    let replies = |change: &SensorChange| change.after.is_some_and(|after| after.color != piece.color);
    sensors
        .recent()
        .skip_while(|change| change.when.at + ONE_SCAN_APART < node.lifted_at)
        .filter(|shown| shown.after == Some(piece) && shown.square != from)
        // Leave out the destination and squares where another piece of the same kind stands.
        .filter(|shown| node.state.board().piece_at(shown.square) != Some(piece))
        .map(|shown| {
            // The old square may still show the piece when the new one is read.
            let left = sensors.next_change(shown).map_or(now, |left| left.when.at);
            let mut meanwhile = sensors
                .changes_since(shown.when.at)
                .take_while(|change| change.when.at < left);
            let lasted = left.saturating_duration_since(shown.when.at);
            let replied = lasted > PASSING && meanwhile.any(replies);
            let off = !on_its_way.contains(shown.square);
            // A piece that stood this long was played there.
            let stood = lasted > if off { model.put_right } else { model.doubt };
            let rested = off && lasted > ONE_SCAN_APART;
            let cost = if rested { model.unlikely } else { model.odd };
            usize::from(off || replied) * (cost + usize::from(stood) * model.unlikely)
        })
        .max()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use kiebitz_protocol::{Field, Piece as WirePiece};
    use shakmaty::CastlingMode;

    use super::super::tree::Tree;
    use super::*;
    use crate::position::State;

    /// Returns the cost of the way of a rook from a1 to c1 through these changes. `("b1R", 1200)` puts a rook on b1,
    /// 1200 ms before the next change.
    fn cost_of_rook_to_c1(changes: &[(&str, u64)]) -> Cost {
        let mut now = Timestamp::from_micros(1_000_000_000);
        let state =
            State::from_fen("4k3/p7/8/8/8/8/8/R3K3 w - - 0 1", CastlingMode::Standard).expect("a FEN");
        let mut sensors = Sensors::showing(now, state.board(), false);
        let mut tree = Tree::new(&Model::FITTED, state, 0, now);
        now = now + Duration::from_secs(10);
        for (change, millis) in changes {
            let (square, letter) = change.split_at(2);
            let square: Square = square.parse().expect("a square");
            let field = Field::new(square.flip_vertical() as u8).expect("a field");
            let contents = letter.chars().next().and_then(WirePiece::from_fen);
            sensors.set_field(now, field, contents);
            tree.update(&sensors, now);
            now = now + Duration::from_millis(*millis);
        }
        let rook = |node: &&Node| matches!(node.played, Played::Move(m) if m.to() == Square::C1);
        let first = |node: &&Node| node.ply == 1 && rook(node);
        tree.nodes().iter().find(first).expect("a reading of Rc1").stray
    }

    #[test]
    fn a_piece_that_is_drawn_may_pause_unless_the_other_player_moves() {
        let Model { odd, unlikely, .. } = Model::FITTED;
        let lifted = [("a1.", 80), ("b1R", 900)];
        let lands = [("b1.", 80), ("c1R", 0)];
        let reply = [("a6p", 80), ("a7.", 300)];
        assert_eq!(cost_of_rook_to_c1(&[&lifted[..], &lands].concat()), 0);
        assert_eq!(cost_of_rook_to_c1(&[&lifted[..], &reply, &lands].concat()), odd);
        let elsewhere = [("a1.", 80), ("a2R", 900), ("a2.", 80), ("c1R", 0)];
        assert_eq!(cost_of_rook_to_c1(&elsewhere), unlikely);
        let shown_twice = [("a1.", 80), ("a2R", 900), ("c1R", 80), ("a2.", 0)];
        assert_eq!(cost_of_rook_to_c1(&shown_twice), unlikely);
        // The board scans the destination before the origin.
        let shown_before = [("a2R", 80), ("a1.", 900), ("a2.", 80), ("c1R", 0)];
        assert_eq!(cost_of_rook_to_c1(&shown_before), unlikely);
    }
}
