//! Finds out where the pieces were when a player pressed the clock.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color};

use super::Acts;
use super::turn::Turn;

impl Turn<'_> {
    /// Whether the piece was in the hand when its player pressed the clock: it had left its square, and was put down
    /// well after the press.
    pub(crate) fn was_in_hand(&self, pressed: Timestamp) -> bool {
        let (color, lifted_at) = (self.ply.color, self.ply.lifted_at);
        let moved = self.squares();
        let arrives: Bitboard = moved & self.ply.after.board().by_color(color);
        // A press is reported late, and a square at most a scan late. A piece that appears even later may have stood
        // off the centre of its square, unread, until somebody moved it.
        let (early, late) = (pressed + self.trace.model.pause, pressed + self.trace.model.doubt);
        let mut landed: Option<Timestamp> = None;
        for shown in self.trace.since(self.since) {
            let own = shown.after.is_some_and(|piece| piece.color == color);
            if shown.when.is_late() || self.aside.contains(shown.square) {
                return false;
            }
            if own && arrives.contains(shown.square) {
                landed = Some(landed.map_or(shown.when.at, |first| first.min(shown.when.at)));
            } else if own && shown.when.at + ONE_SCAN_APART >= lifted_at && shown.when.at <= late {
                // The piece stood elsewhere on its way, or the player touched another piece.
                return false;
            }
            let opponent =
                shown.before.is_some_and(|piece| piece.color != color) && !moved.contains(shown.square);
            if opponent && shown.when.at >= pressed {
                return false;
            }
        }
        lifted_at < pressed && landed.is_some_and(|landed| (early..=late).contains(&landed))
    }
}

impl Acts {
    /// Whether a player's pieces moved shortly before the press at `pressed`, or since. Changes until the opponent's
    /// move stood, at `answered`, and changes of the squares `aside` do not count.
    pub(crate) fn moved_at_press(
        &self,
        color: Color,
        pressed: Timestamp,
        answered: Option<Timestamp>,
        aside: Bitboard,
    ) -> bool {
        let since = pressed.saturating_sub(self.model().rest);
        let answered = answered.map(|stood| stood + self.model().settle);
        let changes = self
            .trace
            .since(answered.map_or(since, |answered| since.max(answered)));
        let mut pieces = changes
            .filter(|shown| !aside.contains(shown.square))
            .flat_map(|shown| [shown.before, shown.after]);
        pieces.any(|piece| piece.is_some_and(|piece| piece.color == color))
    }
}
