//! Gaps: what was played while the board was not heard, as far as it is known.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Color, Rank, Role};

use super::{LineEntry, Referee, Verdict};
use crate::events::{CorrectionReason, EndReason, EventKind, GameResult, Recovery};
use crate::tracker::Start;

impl Referee {
    /// It is known, or given up, what was played between these times.
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
            // What was played comes as plies that are inferred, if anything was.
            Recovery::Inferred => false,
            Recovery::Undecidable => true,
        };
        if played {
            self.unwatched = Some(now);
        }
        self.away = false;
        // Where the line was lost, play goes on from another placement.
        if by != Recovery::Undecidable {
            self.follow(now, CorrectionReason::Recovered);
        }
    }

    /// What was played in a gap cannot be found out: the game ends there as far as it is known, and the next game
    /// continues it. A game that had ended stays ended, unless another one was begun in the gap.
    pub(super) fn cut_off(&mut self, now: Timestamp, start: &Start) {
        if let Some(game) = self.game().cloned() {
            self.end(now, None, Verdict::board(GameResult::Unknown, EndReason::Gap));
            let players = self.game.take().and_then(|game| game.players);
            self.announced = self.announced.take().or(players);
            self.continues = Some(game.id);
        } else if self.clock.running || self.set_up_anew(start) {
            self.game = None;
        }
    }

    /// Whether pieces are on the board that were taken in the last game, or pawns on squares they had left.
    fn set_up_anew(&self, start: &Start) -> bool {
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

    /// Whether the clock was started again while the board was not heard: it was pressed after a ply.
    pub(super) fn ran_unheard(&self, stopped: Timestamp) -> bool {
        let pressed =
            |entry: &LineEntry| entry.ply.inferred && entry.is_pressed() && entry.ply.lifted_at >= stopped;
        self.line.iter().any(pressed)
    }
}
