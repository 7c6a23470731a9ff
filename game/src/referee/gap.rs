//! Gaps: times without reports from the board.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Color, Rank, Role};

use super::{LineEntry, Referee, Verdict};
use crate::events::{CorrectionReason, EndReason, EventKind, GameResult, Recovery};
use crate::tracker::Start;

impl Referee {
    /// Publishes that a gap was closed or given up, and adds its plies to the game.
    pub(super) fn gap_closed(
        &mut self,
        now: Timestamp,
        by: Recovery,
        changes: usize,
        (from, to): (Timestamp, Timestamp),
    ) {
        let event = EventKind::BoardRecovered {
            by,
            changes,
            from,
            to,
        };
        self.publish(now, event);
        let played = match by {
            Recovery::Memory => changes > 0,
            // Inferred moves, if any, follow as plies.
            Recovery::Inferred => false,
            Recovery::Undecidable => true,
        };
        if played {
            self.unwatched = Some(now);
        }
        self.away = false;
        // If the line was lost, play continues from another placement.
        if by != Recovery::Undecidable {
            self.follow(now, CorrectionReason::Recovered);
        }
    }

    /// Ends the game at a gap that cannot be reconstructed; the next game continues it. A game that had already ended
    /// stays ended, unless another one began in the gap.
    pub(super) fn cut_off(&mut self, now: Timestamp, start: &Start) {
        if let Some(game) = self.game().cloned() {
            self.end(now, None, Verdict::board(GameResult::Unknown, EndReason::Gap));
            let players = self.game.take().and_then(|game| game.players);
            self.announced = self.announced.take().or(players);
            self.continues = Some(game.id);
        } else if self.clock.running || self.is_set_up_anew(start) {
            self.game = None;
        }
    }

    /// Whether the board has pieces that were captured in the last game, or pawns on home squares that they had left.
    fn is_set_up_anew(&self, start: &Start) -> bool {
        let last = self.game.as_ref().and_then(|game| game.published.last());
        let Some(last) = last else { return false };
        let (now, then) = (start.state.board(), last.ply.after.board());
        Color::ALL.into_iter().any(|color| {
            let home = Bitboard::from(color.fold_wb(Rank::Second, Rank::Seventh));
            let at_home = |board: &Board| home & board.by_piece(Role::Pawn.of(color));
            now.by_color(color).count() > then.by_color(color).count()
                || !at_home(then).is_superset(at_home(now))
        })
    }

    /// Whether the clock was started again during the gap: it was pressed after a ply of the gap.
    pub(super) fn ran_in_gap(&self, stopped: Timestamp) -> bool {
        let pressed =
            |entry: &LineEntry| entry.ply.inferred && entry.is_pressed() && entry.ply.lifted_at >= stopped;
        self.line.iter().any(pressed)
    }
}
