//! State of one board on the bus.

use kiebitz_protocol::{ClockReport, Contents, Element, Field, eeprom};

use crate::facts::{BUS_ANSWER_TIME, FIELD_AGE};
use crate::time::Timestamp;

/// A board that has ever answered, present or not.
#[derive(Debug)]
pub(super) struct BusBoard {
    /// Whether the board has answered and has not left since.
    pub(super) present: bool,
    /// Consecutive queries without a valid answer.
    pub(super) failures: u32,
    /// Whether an answer to one of the failed queries could not be decoded.
    pub(super) unreadable: bool,
    pub(super) answered_at: Timestamp,
    /// When the earliest query was sent whose answer may still arrive.
    pub(super) queried_since: Option<Timestamp>,
    /// Query for changes that the board has not answered yet.
    pub(super) pending_report: Option<PendingReport>,
    /// Whether a repeat was requested without a pending report. The answer was already reported to this host or to
    /// another.
    pub(super) recall_sent: bool,
    /// Whether to request a repeat because the board was absent or the port was closed, so that its last answer may not
    /// have been recorded.
    pub(super) recall_due: bool,
    /// When the board last became absent. Meaningful until it is queried for changes again.
    pub(super) left_at: Timestamp,
    /// Last reported changes, as encoded on the wire. `None` if unknown.
    pub(super) last_changes: Option<Vec<u8>>,
    /// Time up to which all changes have been reported.
    pub(super) reported_until: Timestamp,
    pub(super) clock: Option<ClockReport>,
    pub(super) clock_at: Option<Timestamp>,
    pub(super) dump_at: Option<Timestamp>,
    /// Whether changes may have been missed since the last dump.
    pub(super) dump_wanted: bool,
    pub(super) version: Option<(u8, u8)>,
    pub(super) version_queries: u32,
    pub(super) recall_queries: u32,
    /// Consecutive combined queries without any answer. Old boards do not support this query.
    pub(super) combined_unanswered: u32,
    /// Whether the board will ignore the next broadcast ping.
    pub(super) silenced: bool,
}

/// A query for changes whose report is pending.
#[derive(Debug, Clone, Copy)]
pub(super) struct PendingReport {
    /// When the changes were first queried.
    pub(super) since: Timestamp,
    /// Whether an undecodable answer to the first query arrived, so that the board must have received the query.
    pub(super) got_answer: bool,
    /// Whether a repeat was requested since.
    pub(super) repeated: bool,
    /// Whether a later query has been answered, so that no earlier answer is in transit.
    pub(super) flushed: bool,
    /// Whether the board was absent or the port was closed since. The report then covers only the time before.
    pub(super) from_before: bool,
}

impl PendingReport {
    /// Returns the state for a query that is sent now.
    pub(super) const fn since(now: Timestamp) -> Self {
        Self {
            since: now,
            got_answer: false,
            repeated: false,
            flushed: false,
            from_before: false,
        }
    }
}

/// Result of an answer with changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reported {
    /// The answer does not belong to a query.
    Unrequested,
    /// The changes were reported before, to this host or to another.
    Known,
    /// Changes that happened between these times, oldest first, and the number of undecodable bytes.
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
            queried_since: None,
            pending_report: None,
            recall_sent: false,
            recall_due: true,
            left_at: UNKNOWN,
            last_changes: None,
            reported_until: UNKNOWN,
            clock: None,
            clock_at: None,
            dump_at: None,
            dump_wanted: false,
            version: None,
            version_queries: 0,
            recall_queries: 0,
            combined_unanswered: 0,
            silenced: false,
        }
    }

    /// Marks the board as present, and discards the state that may have changed during its absence.
    pub(super) fn enter(&mut self) {
        self.present = true;
        self.dump_wanted = true;
        (self.clock, self.clock_at) = (None, None);
        (self.version, self.version_queries) = (None, 0);
        self.combined_unanswered = 0;
    }

    /// Marks the board as absent. A pending report stays pending until the board returns.
    ///
    /// A repeat becomes due, because a host that was killed may have queried the board without recording the answer.
    pub(super) fn leave(&mut self, now: Timestamp) {
        self.present = false;
        (self.failures, self.unreadable) = (0, false);
        self.silenced = false;
        (self.recall_due, self.recall_queries) = (true, 0);
        self.left_at = now;
        if let Some(pending_report) = &mut self.pending_report {
            pending_report.from_before = true;
        }
    }

    /// Returns whether to request the board's last report, because it is unknown or may have been lost.
    pub(super) fn wants_recall(&self) -> bool {
        self.recall_due && self.pending_report.is_none() && self.recall_queries < MAX_RECALLS
    }

    /// Notes that the board has answered its latest query, so that no answers to earlier queries can arrive.
    pub(super) fn flush(&mut self) {
        self.recall_sent = false;
        if let Some(pending_report) = &mut self.pending_report {
            pending_report.flushed = true;
        }
    }

    pub(super) fn take_changes(&mut self, data: &[u8]) -> Reported {
        let Some(pending_report) = self
            .pending_report
            .filter(|pending_report| !pending_report.flushed)
        else {
            if std::mem::take(&mut self.recall_sent) {
                return self.take_recall(data);
            }
            return Reported::Unrequested;
        };
        self.pending_report = None;
        self.recall_due = false;
        let same = pending_report.repeated && self.last_changes.as_deref() == Some(data);
        if pending_report.repeated && data.is_empty() {
            // Either nothing had changed, or the board has lost its power and forgotten its report. In the latter case,
            // its next answer includes the power-up.
            return Reported::Known;
        }
        if same && (!pending_report.got_answer || !can_happen_twice(data)) {
            // Usually the board did not receive the first query. If it did, the same changes happened twice, because a
            // piece was lifted and set down on its square. Only a dump can show that no other change is missing.
            self.dump_wanted = true;
            return Reported::Known;
        }
        let not_before = self.reported_until;
        self.reported_until = pending_report.since.saturating_sub(FIELD_AGE);
        self.report(
            data,
            not_before,
            pending_report.since + BUS_ANSWER_TIME,
            pending_report.from_before,
        )
    }

    /// Handles a repeated report that was requested without a pending report.
    fn take_recall(&mut self, data: &[u8]) -> Reported {
        self.recall_due = false;
        let before = self.last_changes.replace(data.to_vec());
        // After a power loss, a board repeats an empty report. A new board may have sent its report to another host.
        if data.is_empty() || before.is_none_or(|before| before == data) {
            return Reported::Known;
        }
        // The board answered an earlier query and forgot the changes, but the answer was not recorded.
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
        self.dump_wanted |= dropped > 0 || elements.iter().any(|element| restarts.contains(element));
        Reported::New {
            elements,
            not_before,
            not_after,
            from_before,
            dropped,
        }
    }
}

/// Returns whether the same changes can be reported twice in a row.
///
/// Every change alters the contents of its square, so a square cannot change to the same contents twice in a row. The
/// pieces listed after a power-up are reported twice if the power fails twice, but the second report adds nothing.
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

/// Maximum number of requests for a board's last report.
const MAX_RECALLS: u32 = 3;
/// Placeholder for an unknown time, long ago.
pub(super) const UNKNOWN: Timestamp = Timestamp::from_micros(0);

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    const T: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn owing(got_answer: bool, repeated: bool) -> BusBoard {
        let mut board = BusBoard::new();
        board.last_changes = Some(vec![0x40, 52, 0x41, 36]);
        board.pending_report = Some(PendingReport {
            got_answer,
            repeated,
            ..PendingReport::since(T)
        });
        board
    }

    #[test]
    fn a_repeated_earlier_report_is_dropped() {
        let mut board = owing(false, true);
        assert_eq!(board.take_changes(&[0x40, 52, 0x41, 36]), Reported::Known);
        // Also if noise arrived in place of an answer, because e2 cannot become empty twice.
        let mut board = owing(true, true);
        assert_eq!(board.take_changes(&[0x40, 52, 0x41, 36]), Reported::Known);
        assert_eq!(
            board.reported_until, UNKNOWN,
            "nothing is known of the time since"
        );
    }

    #[test]
    fn a_lost_report_is_recovered_by_the_repeat() {
        let mut board = owing(false, true);
        // The change happened before the first query, however late the answer arrives.
        let reported = board.take_changes(&[0x40, 12]);
        assert!(matches!(reported, Reported::New { not_after, .. } if not_after == T + BUS_ANSWER_TIME));
        assert_eq!(board.reported_until, T.saturating_sub(FIELD_AGE));
        assert_eq!(board.take_changes(&[0x40, 12]), Reported::Unrequested);
    }

    /// A killed host may have queried the board without recording the answer, which the board then forgot.
    #[test]
    fn an_unrecorded_report_is_processed_when_the_board_returns() {
        let report_after_recall = |last: Option<&[u8]>, data: &[u8]| {
            let mut board = BusBoard::new();
            board.last_changes = last.map(<[u8]>::to_vec);
            (board.recall_due, board.reported_until) = (false, T);
            board.leave(T + Duration::from_secs(3));
            assert!(board.wants_recall());
            board.recall_sent = true;
            let reported = board.take_changes(data);
            assert!(!board.wants_recall());
            assert_eq!(board.last_changes.as_deref(), Some(data));
            reported
        };
        let pawn = [0x40, 52, 0x41, 36];
        assert!(matches!(
            report_after_recall(Some(&[]), &pawn),
            Reported::New { ref elements, not_before: T, not_after, from_before: true, dropped: 0 }
                if elements.len() == 2 && not_after == T + Duration::from_secs(3) + BUS_ANSWER_TIME
        ));
        assert_eq!(report_after_recall(Some(&pawn), &pawn), Reported::Known);
        // After a power loss, a board repeats an empty report.
        assert_eq!(report_after_recall(Some(&pawn), &[]), Reported::Known);
        // A new board may have sent its report to another host.
        assert_eq!(report_after_recall(None, &pawn), Reported::Known);
    }

    /// The board answered before it became absent, but no host received the answer.
    #[test]
    fn a_repeat_after_an_absence_does_not_cover_the_absence() {
        let from_before = |away: bool| {
            let mut board = owing(true, true);
            if away {
                board.leave(T);
            }
            let reported = board.take_changes(&[0x40, 12]);
            assert!(board.pending_report.is_none());
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

    /// The board may have lost its power since it received the query.
    #[test]
    fn an_empty_repeat_is_dropped() {
        let mut board = owing(true, true);
        assert_eq!(board.take_changes(&[]), Reported::Known);
        assert_eq!(board.reported_until, UNKNOWN);
        assert!(board.pending_report.is_none());
    }

    #[test]
    fn a_piece_lifted_and_set_down_twice_is_reported_twice() {
        let lifted_and_set_down = [0x40, 52, 0x41, 52];
        let mut board = owing(true, true);
        board.last_changes = Some(lifted_and_set_down.to_vec());
        assert!(matches!(
            board.take_changes(&lifted_and_set_down),
            Reported::New { .. }
        ));
    }

    #[test]
    fn an_answer_after_a_ping_is_not_accepted() {
        let mut board = owing(false, false);
        board.flush();
        assert_eq!(board.take_changes(&[0x40, 12]), Reported::Unrequested);
        assert!(board.pending_report.is_some());
    }

    #[test]
    fn undecodable_bytes_are_counted_and_request_a_dump() {
        let mut board = owing(false, false);
        let reported = board.take_changes(&[0x7e, 0x40, 12]);
        assert!(matches!(reported, Reported::New { dropped: 1, ref elements, .. } if elements.len() == 1));
        assert!(board.dump_wanted);
    }
}
