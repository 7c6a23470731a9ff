//! What the pieces did around a press of the clock.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Color};

use super::Acts;
use super::turn::Turn;

/// A press is heard late, and a square no more than a scan late: what is heard this long after the press came after it.
const MIN_AFTER_PRESS: Duration = ONE_SCAN_APART.saturating_add(Duration::from_millis(140));
/// A piece that appears later still may have stood off the centre of its square, unread, until somebody moved it.
const MAX_AFTER_PRESS: Duration = Duration::from_secs(2);
/// By then the board has reported all squares of a move made before the press.
pub(crate) const PRESS_JUDGED_AFTER: Duration = Duration::from_millis(2200);
/// A press is reported within a second: a move at most this long before it belongs to it.
const MAX_MOVE_BEFORE_PRESS: Duration = Duration::from_millis(1400);
/// By then the board has reported the opponent's move, with what it captured.
const REPLY_SETTLES_AFTER: Duration = Duration::from_millis(50);

impl Turn<'_> {
    /// Whether the piece had left its square when its player pressed the clock at that time, and stood nowhere until well
    /// after it.
    pub(crate) fn was_in_hand(&self, pressed: Timestamp) -> bool {
        let (color, lifted_at) = (self.ply.color, self.ply.lifted_at);
        let moved = self.squares();
        let arrives: Bitboard = moved & self.ply.after.board().by_color(color);
        let (early, late) = (pressed + MIN_AFTER_PRESS, pressed + MAX_AFTER_PRESS);
        let mut landed: Option<Timestamp> = None;
        for shown in self.trace.since(self.since) {
            let own = shown.after.is_some_and(|piece| piece.color == color);
            if shown.dumped || self.aside.contains(shown.square) {
                return false;
            }
            if own && arrives.contains(shown.square) {
                landed = Some(landed.map_or(shown.at, |first| first.min(shown.at)));
            } else if own && shown.at + ONE_SCAN_APART >= lifted_at && shown.at <= late {
                // It stood elsewhere on its way, or another piece was touched.
                return false;
            }
            let opponent =
                shown.before.is_some_and(|piece| piece.color != color) && !moved.contains(shown.square);
            if opponent && shown.at >= pressed {
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
        let since = pressed.saturating_sub(MAX_MOVE_BEFORE_PRESS);
        let answered = answered.map(|stood| stood + REPLY_SETTLES_AFTER);
        let changes = self
            .trace
            .since(answered.map_or(since, |answered| since.max(answered)));
        let mut pieces = changes
            .filter(|shown| !aside.contains(shown.square))
            .flat_map(|shown| [shown.before, shown.after]);
        pieces.any(|piece| piece.is_some_and(|piece| piece.color == color))
    }
}
