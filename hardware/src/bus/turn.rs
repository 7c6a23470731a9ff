//! One board's turn in a round.

use core::time::Duration;

use kiebitz_protocol::{BusAddress, BusCommandKind, ClockReport};

use super::BusSettings;
use super::board::BusBoard;
use super::listener::Outcome;
use crate::facts::CLOCK_POLL;
use crate::time::Timestamp;

/// Queries sent to a board in this round.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) address: BusAddress,
    /// Whether queries were omitted because the time of the round was used up.
    pub(super) cut_short: bool,
    began: bool,
    changes_queried: bool,
    damaged: u32,
    questions: u32,
}

impl Turn {
    pub(super) const fn new(address: BusAddress) -> Self {
        Self {
            address,
            cut_short: false,
            began: false,
            changes_queried: false,
            damaged: 0,
            questions: 0,
        }
    }

    /// Returns the next query to the board, or `None` when its turn is over.
    ///
    /// `outcome` is the outcome of its last query. After a damaged answer, the board is queried again immediately;
    /// after silence, in the next round. `has_time` is whether the round has time for queries besides changes.
    pub(super) fn next(
        &mut self,
        now: Timestamp,
        board: &BusBoard,
        outcome: Option<Outcome>,
        has_time: bool,
        settings: &BusSettings,
    ) -> Option<BusCommandKind> {
        if std::mem::replace(&mut self.began, true) {
            match outcome {
                Some(Outcome::Silent) | None => return None,
                Some(Outcome::Damaged) => self.damaged += 1,
                Some(Outcome::Answered) => {}
            }
        }
        if self.damaged > MAX_DAMAGED || self.questions >= MAX_QUESTIONS {
            return None;
        }
        self.questions += 1;
        let wants_board = board.dump_wanted || is_due(now, board.dump_at, settings.dump_period);
        let wants_clock = is_due(now, board.clock_at, clock_period(board));
        if settings.leave_changes {
            return peek(board, wants_board, wants_clock);
        }
        if let Some(pending_report) = board.pending_report {
            // The answer to a ping comes after all answers still in transit. Before that, it is unknown which report
            // the board would repeat.
            return Some(if pending_report.flushed {
                BusCommandKind::RepeatChanges
            } else {
                BusCommandKind::Ping
            });
        }
        let extra = extra(board, wants_board, wants_clock);
        let extra = if has_time {
            extra
        } else {
            self.cut_short |= extra.is_some();
            None
        };
        if board.wants_recall() {
            return Some(BusCommandKind::RepeatChanges);
        }
        if !std::mem::replace(&mut self.changes_queried, true) {
            let all = wants_board && extra.is_some() && board.combined_unanswered < 2;
            return Some(if all {
                BusCommandKind::ChangesClockBoard
            } else {
                BusCommandKind::Changes
            });
        }
        extra
    }
}

/// Returns the next query to a board besides its changes.
fn extra(board: &BusBoard, wants_board: bool, wants_clock: bool) -> Option<BusCommandKind> {
    if wants_clock {
        Some(BusCommandKind::Clock)
    } else if wants_board {
        Some(BusCommandKind::Board)
    } else {
        wants_version(board).then_some(BusCommandKind::Version)
    }
}

/// Returns the next query that does not consume the board's changes. The clock comes last, because a board that does
/// not answer ends its turn.
fn peek(board: &BusBoard, wants_board: bool, wants_clock: bool) -> Option<BusCommandKind> {
    if wants_board {
        Some(BusCommandKind::Board)
    } else if wants_version(board) {
        Some(BusCommandKind::Version)
    } else {
        wants_clock.then_some(BusCommandKind::Clock)
    }
}

fn wants_version(board: &BusBoard) -> bool {
    board.version.is_none() && board.version_queries < MAX_VERSION_QUESTIONS
}

fn is_due(now: Timestamp, last: Option<Timestamp>, period: Duration) -> bool {
    last.is_none_or(|last| now.saturating_duration_since(last) >= period)
}

/// Returns the interval of clock queries. With a clock, the interval at which the board itself polls the clock.
fn clock_period(board: &BusBoard) -> Duration {
    match board.clock {
        Some(ClockReport::Absent(_)) => Duration::from_secs(2),
        _ => CLOCK_POLL,
    }
}

const MAX_DAMAGED: u32 = 3;
/// Maximum number of queries in one turn. More than a turn needs.
const MAX_QUESTIONS: u32 = 12;
/// Maximum number of queries for the version. Old boards do not answer in the known format.
const MAX_VERSION_QUESTIONS: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn board() -> BusBoard {
        let mut board = BusBoard::new();
        board.enter();
        board.last_changes = Some(Vec::new());
        board.recall_due = false;
        board.version = Some((1, 8));
        board
    }

    fn turn() -> Turn {
        Turn::new(BusAddress::ALL)
    }

    #[test]
    fn the_combined_query_is_sent_only_when_a_dump_is_due_and_the_board_knows_it() {
        let mut board = board();
        let next_query = |board: &BusBoard| turn().next(NOW, board, None, true, &BusSettings::default());
        assert_eq!(next_query(&board), Some(BusCommandKind::ChangesClockBoard));
        board.combined_unanswered = 2;
        assert_eq!(next_query(&board), Some(BusCommandKind::Changes));
        board.combined_unanswered = 0;
        (board.dump_wanted, board.dump_at) = (false, Some(NOW));
        assert_eq!(next_query(&board), Some(BusCommandKind::Changes));
    }

    #[test]
    fn a_board_without_the_combined_query_gets_separate_ones() {
        let mut board = board();
        board.combined_unanswered = 2;
        let mut turn = turn();
        let mut next_query =
            |board: &BusBoard| turn.next(NOW, board, Some(Outcome::Answered), true, &BusSettings::default());
        assert_eq!(next_query(&board), Some(BusCommandKind::Changes));
        assert_eq!(next_query(&board), Some(BusCommandKind::Clock));
        board.clock_at = Some(NOW);
        assert_eq!(next_query(&board), Some(BusCommandKind::Board));
        (board.dump_wanted, board.dump_at) = (false, Some(NOW));
        assert_eq!(next_query(&board), None);
    }

    #[test]
    fn without_time_only_changes_are_queried_and_the_turn_is_cut_short() {
        let board = board();
        let mut turn = turn();
        let mut next_query = || {
            turn.next(
                NOW,
                &board,
                Some(Outcome::Answered),
                false,
                &BusSettings::default(),
            )
        };
        assert_eq!(
            (next_query(), next_query()),
            (Some(BusCommandKind::Changes), None)
        );
        assert!(turn.cut_short);
    }

    #[test]
    fn a_silent_board_waits_for_the_next_round_and_a_damaged_answer_is_retried() {
        let board = board();
        let mut silent = turn();
        assert!(
            silent
                .next(NOW, &board, None, true, &BusSettings::default())
                .is_some()
        );
        assert_eq!(
            silent.next(NOW, &board, Some(Outcome::Silent), true, &BusSettings::default()),
            None
        );
        let mut damaged = turn();
        let asked = std::iter::from_fn(|| {
            damaged.next(NOW, &board, Some(Outcome::Damaged), true, &BusSettings::default())
        });
        assert_eq!(asked.count(), 4);
    }
}
