//! One board's turn in a round.

use core::time::Duration;

use kiebitz_protocol::{BusAddress, BusCommandKind, ClockReport};

use super::BusSettings;
use super::board::BusBoard;
use super::listener::Outcome;
use crate::facts::CLOCK_POLL;
use crate::time::Timestamp;

/// What has been asked of a board in this round.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) address: BusAddress,
    /// The board wanted more than there was time for.
    pub(super) denied: bool,
    began: bool,
    asked_changes: bool,
    damaged: u32,
    questions: u32,
}

impl Turn {
    pub(super) const fn new(address: BusAddress) -> Self {
        Self {
            address,
            denied: false,
            began: false,
            asked_changes: false,
            damaged: 0,
            questions: 0,
        }
    }

    /// The next question to the board, `None` when its turn is over.
    ///
    /// `outcome` is that of its last question. A damaged answer is asked for again at once, a silent board in the next
    /// round. `has_time`: the round has time for more than changes.
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
        let wants_board = board.board_wanted || is_due(now, board.board_at, settings.dump_period);
        let wants_clock = is_due(now, board.clock_at, clock_period(board));
        if settings.leave_changes {
            return what_stands(board, wants_board, wants_clock);
        }
        if let Some(owed) = board.owed {
            // The ping's answer comes after those that may still be on their way: only then it is certain what is
            // repeated.
            return Some(if owed.flushed {
                BusCommandKind::RepeatChanges
            } else {
                BusCommandKind::Ping
            });
        }
        let extra = extra(board, wants_board, wants_clock);
        let extra = if has_time {
            extra
        } else {
            self.denied |= extra.is_some();
            None
        };
        if board.wants_recall() {
            return Some(BusCommandKind::RepeatChanges);
        }
        if !std::mem::replace(&mut self.asked_changes, true) {
            let all = wants_board && extra.is_some() && board.all_in_one_refused < 2;
            return Some(if all {
                BusCommandKind::ChangesClockBoard
            } else {
                BusCommandKind::Changes
            });
        }
        extra
    }
}

/// What a board is asked besides its changes.
fn extra(board: &BusBoard, wants_board: bool, wants_clock: bool) -> Option<BusCommandKind> {
    if wants_clock {
        Some(BusCommandKind::Clock)
    } else if wants_board {
        Some(BusCommandKind::Board)
    } else {
        wants_version(board).then_some(BusCommandKind::Version)
    }
}

/// What a board is asked that keeps its changes. The clock comes last: without an answer the turn is over.
fn what_stands(board: &BusBoard, wants_board: bool, wants_clock: bool) -> Option<BusCommandKind> {
    if wants_board {
        Some(BusCommandKind::Board)
    } else if wants_version(board) {
        Some(BusCommandKind::Version)
    } else {
        wants_clock.then_some(BusCommandKind::Clock)
    }
}

fn wants_version(board: &BusBoard) -> bool {
    board.version.is_none() && board.versions_asked < MAX_VERSION_QUESTIONS
}

fn is_due(now: Timestamp, last: Option<Timestamp>, period: Duration) -> bool {
    last.is_none_or(|last| now.saturating_duration_since(last) >= period)
}

/// As often as the board itself asks its clock.
fn clock_period(board: &BusBoard) -> Duration {
    match board.clock {
        Some(ClockReport::Absent(_)) => Duration::from_secs(2),
        _ => CLOCK_POLL,
    }
}

/// The most damaged answers in one turn; then the board waits for the next.
const MAX_DAMAGED: u32 = 3;
/// The most questions in one turn: more than it ever needs.
const MAX_QUESTIONS: u32 = 12;
/// The most questions for the version: old boards do not give it in the known form.
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
    fn all_in_one_is_asked_only_when_a_dump_is_due_and_the_board_knows_it() {
        let mut board = board();
        let ask = |board: &BusBoard| turn().next(NOW, board, None, true, &BusSettings::default());
        assert_eq!(ask(&board), Some(BusCommandKind::ChangesClockBoard));
        board.all_in_one_refused = 2;
        assert_eq!(ask(&board), Some(BusCommandKind::Changes));
        board.all_in_one_refused = 0;
        (board.board_wanted, board.board_at) = (false, Some(NOW));
        assert_eq!(ask(&board), Some(BusCommandKind::Changes));
    }

    #[test]
    fn a_board_that_does_not_know_all_in_one_is_asked_for_each() {
        let mut board = board();
        board.all_in_one_refused = 2;
        let mut turn = turn();
        let mut ask =
            |board: &BusBoard| turn.next(NOW, board, Some(Outcome::Answered), true, &BusSettings::default());
        assert_eq!(ask(&board), Some(BusCommandKind::Changes));
        assert_eq!(ask(&board), Some(BusCommandKind::Clock));
        board.clock_at = Some(NOW);
        assert_eq!(ask(&board), Some(BusCommandKind::Board));
        (board.board_wanted, board.board_at) = (false, Some(NOW));
        assert_eq!(ask(&board), None);
    }

    #[test]
    fn without_time_only_changes_are_asked_and_that_is_noted() {
        let board = board();
        let mut turn = turn();
        let mut ask = || {
            turn.next(
                NOW,
                &board,
                Some(Outcome::Answered),
                false,
                &BusSettings::default(),
            )
        };
        assert_eq!((ask(), ask()), (Some(BusCommandKind::Changes), None));
        assert!(turn.denied);
    }

    #[test]
    fn a_silent_board_waits_for_the_next_round_and_a_damaged_answer_is_asked_for_again() {
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
