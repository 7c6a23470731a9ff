//! What is known of one board on the bus.

use kiebitz_protocol::{ClockReport, Contents, Element, Field, eeprom};

use crate::facts::{BUS_ANSWER_TIME, FIELD_AGE};
use crate::time::Timestamp;

/// One board, there or not.
#[derive(Debug)]
pub(super) struct BusBoard {
    /// The board has answered and not left since.
    pub(super) present: bool,
    /// Questions in a row that brought no good answer.
    pub(super) failures: u32,
    /// One of them was answered with something that could not be read.
    pub(super) unreadable: bool,
    /// When the last good answer came.
    pub(super) answered_at: Timestamp,
    /// When the first question was asked whose answer may still come: no answer is older.
    pub(super) asked_since: Option<Timestamp>,
    /// Changes that were asked for and have not been reported yet.
    pub(super) owed: Option<Owed>,
    /// A repeat was asked for although nothing was owed: what comes was already reported, to this host or to another.
    pub(super) recalls: bool,
    /// The board has been away, or the line: its last answer may have been lost with the question.
    pub(super) recall_due: bool,
    /// When it was last away: nothing was asked after that.
    pub(super) left_at: Timestamp,
    /// The changes last answered, as they stand on the wire; `None`: not known.
    pub(super) last_changes: Option<Vec<u8>>,
    /// All changes up to this time have been reported.
    pub(super) reported_until: Timestamp,
    /// The clock as last reported.
    pub(super) clock: Option<ClockReport>,
    pub(super) clock_at: Option<Timestamp>,
    pub(super) board_at: Option<Timestamp>,
    /// Something may have been missed since the last dump.
    pub(super) board_wanted: bool,
    pub(super) version: Option<(u8, u8)>,
    pub(super) versions_asked: u32,
    pub(super) recalls_asked: u32,
    /// How often in a row the board did not answer when asked for all in one: old ones do not know the question.
    pub(super) all_in_one_refused: u32,
    /// The board will ignore the next ping to all.
    pub(super) silenced: bool,
}

/// Changes that a board was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owed {
    /// When they were first asked for.
    pub(super) since: Timestamp,
    /// Something came as an answer to the first question, but it could not be read: the board has heard it.
    pub(super) heard: bool,
    /// They were asked for again with "repeat".
    pub(super) repeated: bool,
    /// A later question has been answered: no answer is on its way any more.
    pub(super) flushed: bool,
    /// The board has been away since, or the line: the answer says nothing of that time.
    pub(super) from_before: bool,
}

impl Owed {
    /// For a question that goes out now.
    pub(super) const fn since(now: Timestamp) -> Self {
        Self {
            since: now,
            heard: false,
            repeated: false,
            flushed: false,
            from_before: false,
        }
    }
}

/// What came of an answer with changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reported {
    /// It was not asked for.
    Unasked,
    /// It was reported before, here or to another host.
    Known,
    /// Changes, oldest first, all between these times; and how many bytes could not be read.
    New {
        elements: Vec<Element>,
        not_before: Timestamp,
        not_after: Timestamp,
        from_before: bool,
        dropped: usize,
    },
}

impl BusBoard {
    pub(super) fn new() -> Self {
        Self {
            present: false,
            failures: 0,
            unreadable: false,
            answered_at: UNKNOWN,
            asked_since: None,
            owed: None,
            recalls: false,
            recall_due: true,
            left_at: UNKNOWN,
            last_changes: None,
            reported_until: UNKNOWN,
            clock: None,
            clock_at: None,
            board_at: None,
            board_wanted: false,
            version: None,
            versions_asked: 0,
            recalls_asked: 0,
            all_in_one_refused: 0,
            silenced: false,
        }
    }

    /// The board answered: what may have changed meanwhile has to be reported again.
    pub(super) fn enter(&mut self) {
        self.present = true;
        self.board_wanted = true;
        (self.clock, self.clock_at) = (None, None);
        (self.version, self.versions_asked) = (None, 0);
        self.all_in_one_refused = 0;
    }

    /// The board or the port is gone. What the board owes it will still owe when it is back.
    ///
    /// It may have answered a question that nobody remembers: a host that dies may have asked and not have noted it.
    pub(super) fn leave(&mut self, now: Timestamp) {
        self.present = false;
        (self.failures, self.unreadable) = (0, false);
        self.silenced = false;
        (self.recall_due, self.recalls_asked) = (true, 0);
        self.left_at = now;
        if let Some(owed) = &mut self.owed {
            owed.from_before = true;
        }
    }

    /// It is not known what the board last reported.
    pub(super) fn wants_recall(&self) -> bool {
        self.recall_due && self.owed.is_none() && self.recalls_asked < MAX_RECALLS
    }

    /// A question that was asked after all others to this board was answered: earlier answers will not come.
    pub(super) fn flush(&mut self) {
        self.recalls = false;
        if let Some(owed) = &mut self.owed {
            owed.flushed = true;
        }
    }

    /// An answer with changes came.
    pub(super) fn take_changes(&mut self, data: &[u8]) -> Reported {
        let Some(owed) = self.owed.filter(|owed| !owed.flushed) else {
            if std::mem::take(&mut self.recalls) {
                return self.recalled(data);
            }
            return Reported::Unasked;
        };
        self.owed = None;
        self.recall_due = false;
        let same = owed.repeated && self.last_changes.as_deref() == Some(data);
        if owed.repeated && data.is_empty() {
            // Nothing had changed. Or the board has lost its power since, and has forgotten what it reported; then the
            // next answer says so.
            return Reported::Known;
        }
        if same && (!owed.heard || !can_happen_twice(data)) {
            // The board did not hear the first question. Or it did, and the same came again: then a piece was lifted
            // and set down where it was, and only a dump can show that nothing more is missing.
            self.board_wanted = true;
            return Reported::Known;
        }
        let not_before = self.reported_until;
        self.reported_until = owed.since.saturating_sub(FIELD_AGE);
        self.report(data, not_before, owed.since + BUS_ANSWER_TIME, owed.from_before)
    }

    /// The board has repeated its last report, which nobody owed.
    fn recalled(&mut self, data: &[u8]) -> Reported {
        self.recall_due = false;
        let before = self.last_changes.replace(data.to_vec());
        // A board that has lost its power repeats nothing, and a board that nobody knows may have told another host.
        if data.is_empty() || before.is_none_or(|before| before == data) {
            return Reported::Known;
        }
        // It answered a question that was never noted, and forgot with that what it reported.
        self.report(data, self.reported_until, self.left_at + BUS_ANSWER_TIME, true)
    }

    fn report(
        &mut self,
        data: &[u8],
        not_before: Timestamp,
        not_after: Timestamp,
        from_before: bool,
    ) -> Reported {
        self.last_changes = Some(data.to_vec());
        let mut dropped = 0;
        let elements: Vec<Element> = eeprom::elements(data)
            .filter_map(|element| element.map_err(|error| dropped += error.dropped).ok())
            .collect();
        let restarts = [Element::PowerUp, Element::Watchdog];
        self.board_wanted |= dropped > 0 || elements.iter().any(|element| restarts.contains(element));
        Reported::New {
            elements,
            not_before,
            not_after,
            from_before,
            dropped,
        }
    }
}

/// Whether these changes, reported once, can be followed by the very same ones.
///
/// Every change really changes its field. So a field that has been left with some contents cannot first change to the
/// same. The pieces listed after a power-up could be reported twice if the power failed twice, but nothing more would
/// be learned from them.
fn can_happen_twice(data: &[u8]) -> bool {
    let mut ends: [Option<(Contents, Contents)>; Field::COUNT] = [None; Field::COUNT];
    for element in eeprom::elements(data).filter_map(Result::ok) {
        if let Element::PieceChange { contents, field, .. } = element
            && let Some(end) = ends.get_mut(field.index())
        {
            end.get_or_insert((contents, contents)).1 = contents;
        }
    }
    ends.iter().flatten().all(|(first, last)| first != last)
}

/// The most questions for what a board last reported to another host.
const MAX_RECALLS: u32 = 3;
/// Stands for an unknown time, long ago.
pub(super) const UNKNOWN: Timestamp = Timestamp::from_micros(0);

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    const T: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn owing(heard: bool, repeated: bool) -> BusBoard {
        let mut board = BusBoard::new();
        board.last_changes = Some(vec![0x40, 52, 0x41, 36]);
        board.owed = Some(Owed {
            heard,
            repeated,
            ..Owed::since(T)
        });
        board
    }

    #[test]
    fn what_was_reported_before_is_not_reported_again() {
        let mut board = owing(false, true);
        assert_eq!(board.take_changes(&[0x40, 52, 0x41, 36]), Reported::Known);
        // Even if the line gave noise for an answer: e2 cannot be emptied twice.
        let mut board = owing(true, true);
        assert_eq!(board.take_changes(&[0x40, 52, 0x41, 36]), Reported::Known);
        assert_eq!(
            board.reported_until, UNKNOWN,
            "nothing is known of the time since"
        );
    }

    #[test]
    fn what_was_lost_is_reported_when_it_is_repeated() {
        let mut board = owing(false, true);
        // However late it comes: it happened before the board was first asked for it.
        let reported = board.take_changes(&[0x40, 12]);
        assert!(matches!(reported, Reported::New { not_after, .. } if not_after == T + BUS_ANSWER_TIME));
        assert_eq!(board.reported_until, T.saturating_sub(FIELD_AGE));
        assert_eq!(board.take_changes(&[0x40, 12]), Reported::Unasked);
    }

    /// A host that is killed may have asked and not have noted it; the board has answered and forgotten.
    #[test]
    fn a_report_that_nobody_noted_is_taken_in_when_the_board_is_back() {
        let recalled = |last: Option<&[u8]>, data: &[u8]| {
            let mut board = BusBoard::new();
            board.last_changes = last.map(<[u8]>::to_vec);
            (board.recall_due, board.reported_until) = (false, T);
            board.leave(T + Duration::from_secs(3));
            assert!(board.wants_recall());
            board.recalls = true;
            let reported = board.take_changes(data);
            assert!(!board.wants_recall());
            assert_eq!(board.last_changes.as_deref(), Some(data));
            reported
        };
        let pawn = [0x40, 52, 0x41, 36];
        assert!(matches!(
            recalled(Some(&[]), &pawn),
            Reported::New { ref elements, not_before: T, not_after, from_before: true, dropped: 0 }
                if elements.len() == 2 && not_after == T + Duration::from_secs(3) + BUS_ANSWER_TIME
        ));
        assert_eq!(recalled(Some(&pawn), &pawn), Reported::Known);
        // Without its power it repeats nothing.
        assert_eq!(recalled(Some(&pawn), &[]), Reported::Known);
        // It may have told another host.
        assert_eq!(recalled(None, &pawn), Reported::Known);
    }

    /// The answer came while nobody listened: it was made before the board was away.
    #[test]
    fn a_repeat_of_what_was_asked_before_says_nothing_of_the_time_since() {
        let from_before = |away: bool| {
            let mut board = owing(true, true);
            if away {
                board.leave(T);
            }
            let reported = board.take_changes(&[0x40, 12]);
            assert!(board.owed.is_none());
            matches!(
                reported,
                Reported::New {
                    from_before: true,
                    ..
                }
            )
        };
        assert!(from_before(true));
        assert!(!from_before(false));
    }

    /// It may have lost its power since it heard the question.
    #[test]
    fn a_board_that_repeats_nothing_says_nothing() {
        let mut board = owing(true, true);
        assert_eq!(board.take_changes(&[]), Reported::Known);
        assert_eq!(board.reported_until, UNKNOWN);
        assert!(board.owed.is_none());
    }

    #[test]
    fn a_piece_that_was_lifted_again_is_reported_again() {
        let lifted_and_set_down = [0x40, 52, 0x41, 52];
        let mut board = owing(true, true);
        board.last_changes = Some(lifted_and_set_down.to_vec());
        assert!(matches!(
            board.take_changes(&lifted_and_set_down),
            Reported::New { .. }
        ));
    }

    #[test]
    fn an_answer_later_than_a_ping_is_not_taken() {
        let mut board = owing(false, false);
        board.flush();
        assert_eq!(board.take_changes(&[0x40, 12]), Reported::Unasked);
        assert!(board.owed.is_some());
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_wants_a_dump() {
        let mut board = owing(false, false);
        let reported = board.take_changes(&[0x7e, 0x40, 12]);
        assert!(matches!(reported, Reported::New { dropped: 1, ref elements, .. } if elements.len() == 1));
        assert!(board.board_wanted);
    }
}
