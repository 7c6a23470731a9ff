//! What the pieces did around a press of the clock.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color};

use super::Acts;
use super::turn::Turn;

impl Turn<'_> {
    /// Whether the piece had left its square when its player pressed the clock at that time, and stood nowhere until well
    /// after it.
    pub(crate) fn was_in_hand(&self, pressed: Timestamp) -> bool {
        let (color, lifted_at) = (self.ply.color, self.ply.lifted_at);
        let moved = self.squares();
        let arrives: Bitboard = moved & self.ply.after.board().by_color(color);
        // A press is heard late, and a square no more than a scan late. A piece that appears later still may have stood off
        // the centre of its square, unread, until somebody moved it.
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
                // It stood elsewhere on its way, or another piece was touched.
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
    /// Whether a player's pieces were moved shortly before they pressed the clock at that time, or since. What the
    /// opponent's move changed, which stood at `answered`, is left out; so are the squares `aside`.
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
