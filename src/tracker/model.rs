//! What speaks against a line of play: one table of what its departures from plain play cost.
//!
//! A cost is how much less credible something makes a line, in hundredths of a nat: of two lines, one that costs 230 less
//! is ten times as credible. Nothing is impossible, some things are dear.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;

use super::sensors::Since;

/// Hundredths of a nat.
pub(crate) type Cost = usize;

/// A square that shows something else than the line leads to. Nearly all of them are explained within seconds, by a
/// piece that is in a hand or by the next ply.
pub(super) const UNEXPLAINED: Cost = 600;
/// A ply that no legal move explains: one in some thousand.
pub(super) const IRREGULAR: Cost = 500;
/// A ply that came to stand more than a scan before the one that it answers: the piece of that one was set down where its
/// square did not read it until it was nudged. One in thirty in a time scramble.
pub(super) const OVERTAKEN: Cost = 250;
/// A ply whose piece was lifted more than a scan before the one that it answers had come to stand.
pub(super) const HAND_EARLY: Cost = 150;
/// A ply whose piece was lifted more than a scan before that of the ply that it answers. A hand may go out early, but it
/// does not often come first.
pub(super) const LIFTED_FIRST: Cost = 350;
/// A ply that stood more than a scan before the piece of the one that it answers was lifted: they were played in the other
/// order.
pub(super) const REVERSED: Cost = 2000;
/// A ply whose piece was lifted before that of its player's ply before.
pub(super) const OUT_OF_ORDER: Cost = 500;
/// A ply that came to stand less than [`HASTE`] after its player's ply before. Even in a time scramble, the reply between
/// them takes its time.
pub(super) const HASTY: Cost = 200;
/// See [`HASTY`].
const HASTE: Duration = Duration::from_millis(400);
/// Any ply: of two lines that explain the same, the one with fewer plies is more credible.
pub(super) const PLY: Cost = 100;
/// An announced ply that was not played after all.
pub(super) const WITHDRAWN: Cost = 60;
/// The same of one that was pressed or followed by its player's next, and whose squares were all that had changed since its
/// piece was lifted.
pub(super) const DISPROVED: Cost = 500;

/// A square on which the line has nothing and the board shows a piece like one that was just captured: it was laid down
/// there, and will be put away.
pub(super) const LAID_DOWN: Cost = 250;
/// A ply that its square never showed, because the piece was captured before it was read.
pub(super) const HIDDEN: Cost = 300;
/// A ply whose piece was read once on a square that is not on its way: it hovered over it.
pub(super) const HOVERED: Cost = 300;
/// A ply whose piece rested on such a square for more than a scan.
pub(super) const STRAYED: Cost = 700;
/// A ply to a square that showed pieces until then and does not show this one: nearly all sensors work.
pub(super) const UNREAD: Cost = 400;
/// A ply to a square that is known to show nothing.
pub(super) const UNREAD_AGAIN: Cost = 50;
/// The same where no reply has come yet: the piece may still be in a hand.
pub(super) const UNREAD_LAST: Cost = 400;
/// A reading is told only where this much speaks against others that have a piece on a square which does not show it.
pub(super) const UNREAD_MARGIN: Cost = 200;
/// How many plies after its capture a piece may still lie beside the board's squares.
pub(super) const LAID_DOWN_FOR: usize = 4;

/// A reading that costs this much more than the best one is dropped once its last ply is not shown any more.
pub(super) const HOPELESS: Cost = 2 * UNEXPLAINED;
/// Plies with more than this against when they were made are not considered.
pub(super) const MAX_STRAIN: Cost = 900;

/// A ply after one whose squares showed it for no longer than a piece takes to pass, and then showed nothing of it any
/// more: its piece went on.
pub(super) const PASSED: Cost = 120;
/// A piece that is drawn over a square is shown there for at most this long: two scans.
pub(super) const PASSING: Duration = ONE_SCAN_APART.saturating_mul(2);

/// What is known of when a ply was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    /// When its piece left its square.
    pub(super) lifted_at: Timestamp,
    /// When it stood on the other.
    pub(super) landed: Since,
}

impl Timing {
    /// What it costs that a ply with this timing answers one with that of `before`, where only the order of what was
    /// reported is known.
    pub(super) fn after_undated(self, before: Self) -> Cost {
        let overtaken = self.landed.at + ONE_SCAN_APART < before.landed.from;
        if overtaken { REVERSED } else { 0 }
    }

    /// What it costs that a ply with this timing answers one with that of `before`.
    pub(super) fn after_reply(self, before: Self) -> Cost {
        let overtaken = self.landed.at + ONE_SCAN_APART < before.landed.from;
        let early = self.lifted_at + ONE_SCAN_APART < before.landed.from;
        let lifted_first = self.lifted_at + ONE_SCAN_APART < before.lifted_at;
        let reversed = self.landed.at + ONE_SCAN_APART < before.lifted_at;
        let order = match (reversed, overtaken, early) {
            (true, ..) => REVERSED,
            (_, true, _) => OVERTAKEN,
            (.., true) => HAND_EARLY,
            _ => 0,
        };
        order + usize::from(lifted_first) * LIFTED_FIRST
    }

    /// What it costs that a ply with this timing is its player's next after one with that of `before`.
    pub(super) fn after_own(self, before: Self) -> Cost {
        let out_of_order = self.lifted_at < before.lifted_at;
        let hasty = self.landed.at < before.landed.from + HASTE && self.landed.at >= before.landed.from;
        usize::from(out_of_order) * OUT_OF_ORDER + usize::from(hasty) * HASTY
    }
}
