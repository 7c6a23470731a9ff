//! Decodes the bytes of both directions into observations.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kiebitz_protocol::{
    BusAddress, BusAnswer, BusCommand, BusCommandDecoder, BusCommandKind, BusData, BusDecoder, ClockReport,
};

use super::BusFigures;
use super::board::{BusBoard, PendingReport, Reported};
use crate::facts::{CLOCK_AGE, FIELD_AGE};
use crate::observation::{Identity, Observation, Observed};
use crate::time::Timestamp;

/// Decodes queries and answers, and keeps the state of every board that has ever answered.
///
/// All observations come from the listener, so a replay makes the same observations from the recorded bytes.
#[derive(Debug, Default)]
pub(super) struct BusListener {
    decoder: BusDecoder,
    commands: BusCommandDecoder,
    question: Option<Question>,
    boards: BTreeMap<BusAddress, BusBoard>,
    /// Boards that seem to have answered a broadcast ping and have not been queried yet.
    found: BTreeSet<BusAddress>,
    observations: VecDeque<(BusAddress, Observed)>,
    /// When the last valid answer of any board arrived.
    pub(super) answered_at: Option<Timestamp>,
    pub(super) figures: BusFigures,
}

/// The last command on the line, and its outcome so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) command: BusCommand,
    pub(super) sent_at: Timestamp,
    pub(super) last_byte_at: Option<Timestamp>,
    /// Number of bytes that could not be decoded.
    pub(super) damaged: usize,
    /// Whether any valid part of the answer arrived.
    pub(super) answered: bool,
    /// Whether the complete answer arrived.
    pub(super) complete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Answered,
    Damaged,
    Silent,
}

impl BusListener {
    pub(super) fn handle_opened(&mut self) {
        self.decoder.reset();
        self.commands.reset();
    }

    pub(super) fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.decoder.reset();
        self.question = None;
        self.found.clear();
        for (address, board) in &mut self.boards {
            if board.present {
                let reason = reason.to_owned();
                let observation = Observation::Closed { reason };
                self.observations
                    .push_back((*address, Observed { at: now, observation }));
            }
            board.leave(now);
        }
    }

    pub(super) fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        if let Some(question) = &mut self.question {
            question.last_byte_at = Some(now);
        }
        // `handle_answer` borrows `self`, so the decoder is moved out while it runs.
        let mut decoder = std::mem::take(&mut self.decoder);
        decoder.feed(bytes, |decoded| match decoded {
            Ok(answer) => self.handle_answer(now, &answer),
            Err(rejected) => {
                if let Some(question) = &mut self.question {
                    question.damaged += rejected.bytes;
                }
            }
        });
        self.decoder = decoder;
    }

    pub(super) fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        let mut sent = Vec::new();
        self.commands.feed(bytes, |decoded| sent.extend(decoded));
        for command in sent {
            self.finish_query(now);
            self.record_query(now, command);
        }
    }

    pub(super) fn poll_observation(&mut self) -> Option<(BusAddress, Observed)> {
        self.observations.pop_front()
    }

    pub(super) fn question(&self) -> Option<&Question> {
        self.question.as_ref()
    }

    pub(super) fn outcome(&self, question: &Question) -> Outcome {
        if question.answered {
            Outcome::Answered
        } else if question.damaged > 0 || self.decoder.pending() > 0 {
            Outcome::Damaged
        } else {
            Outcome::Silent
        }
    }

    pub(super) fn board(&self, address: BusAddress) -> Option<&BusBoard> {
        self.boards.get(&address)
    }

    /// Returns the present boards, in the order of their addresses.
    pub(super) fn present(&self) -> impl Iterator<Item = (BusAddress, &BusBoard)> {
        self.boards().filter(|(_, board)| board.present)
    }

    pub(super) fn boards(&self) -> impl Iterator<Item = (BusAddress, &BusBoard)> + Clone {
        self.boards.iter().map(|(address, board)| (*address, board))
    }

    pub(super) fn found(&self) -> &BTreeSet<BusAddress> {
        &self.found
    }

    /// Evaluates the outcome of the previous query when the next command is sent.
    fn finish_query(&mut self, now: Timestamp) {
        let Some(question) = self.question.take() else {
            self.decoder.reset();
            return;
        };
        let outcome = self.outcome(&question);
        self.decoder.reset();
        let BusCommand { kind, address } = question.command;
        if address == BusAddress::ALL {
            return;
        }
        match outcome {
            Outcome::Answered => self.figures.answers += 1,
            Outcome::Damaged => self.figures.damaged += 1,
            Outcome::Silent => self.figures.silent += 1,
        }
        let Some(board) = self.boards.get_mut(&address) else {
            return;
        };
        if let Some(pending_report) = board
            .pending_report
            .as_mut()
            .filter(|_| queries_new_changes(kind))
        {
            pending_report.got_answer = outcome != Outcome::Silent;
        }
        if kind == BusCommandKind::ChangesClockBoard {
            board.combined_unanswered = match outcome {
                Outcome::Silent => board.combined_unanswered + 1,
                Outcome::Answered | Outcome::Damaged => 0,
            };
        }
        if outcome == Outcome::Answered {
            return;
        }
        board.failures += 1;
        board.unreadable |= outcome == Outcome::Damaged;
        let silent_for = now.saturating_duration_since(board.answered_at);
        if board.present && board.failures >= LEAVING_FAILURES && silent_for >= LEAVING_TIME {
            let reason = if board.unreadable { UNREADABLE } else { NO_ANSWER };
            board.leave(now);
            let reason = reason.to_owned();
            self.observe(now, address, Observation::Closed { reason });
        }
    }

    fn record_query(&mut self, now: Timestamp, command: BusCommand) {
        let BusCommand { kind, address } = command;
        self.question = Some(Question {
            command,
            sent_at: now,
            last_byte_at: None,
            damaged: 0,
            answered: false,
            complete: false,
        });
        if address == BusAddress::ALL {
            if kind == BusCommandKind::Ping {
                self.figures.sweeps += 1;
                self.boards.values_mut().for_each(|board| board.silenced = false);
            }
            return;
        }
        self.found.remove(&address);
        self.figures.questions += 1;
        // A board that has never answered has no state.
        let Some(board) = self.boards.get_mut(&address) else {
            return;
        };
        board.queried_since.get_or_insert(now);
        match kind {
            kind if queries_new_changes(kind) => {
                let lost = board.pending_report.replace(PendingReport::since(now));
                // The poller gave up on the damaged answer and does not request it again.
                if lost.is_some_and(|pending_report| pending_report.got_answer) {
                    board.dump_wanted = true;
                    self.observe(now, address, Observation::Disturbed { bytes: LOST_ANSWER });
                }
            }
            BusCommandKind::RepeatChanges => {
                self.figures.repeats += 1;
                match &mut board.pending_report {
                    Some(pending_report) => (pending_report.repeated, pending_report.flushed) = (true, false),
                    None => {
                        board.recall_sent = true;
                        board.recall_queries += 1;
                    }
                }
            }
            BusCommandKind::Version => board.version_queries += 1,
            _ => {}
        }
    }

    fn handle_answer(&mut self, now: Timestamp, answer: &BusAnswer<'_>) {
        let address = answer.address;
        let query_kind = self
            .question
            .map(|question| question.command)
            .filter(|command| command.address == address)
            .map(|command| command.kind);
        if address == BusAddress::ALL {
            return;
        }
        match (answer.data, query_kind) {
            (BusData::Ping, Some(kind @ (BusCommandKind::Ping | BusCommandKind::IgnoreNextPing))) => {
                let board = self.answered(now, address, true);
                board.silenced |= kind == BusCommandKind::IgnoreNextPing;
                board.flush();
            }
            (BusData::Ping, _) if self.boards.get(&address).is_none_or(|board| !board.present) => {
                self.found.insert(address);
            }
            (BusData::Changes(data), _) => self.handle_changes(now, address, data, query_kind),
            (BusData::Clock(report), Some(BusCommandKind::Clock)) => {
                self.handle_clock_report(now, address, report, true)
            }
            (BusData::Clock(report), Some(BusCommandKind::ChangesClockBoard)) => {
                self.handle_clock_report(now, address, report, false);
            }
            (BusData::Board(dump), Some(BusCommandKind::Board | BusCommandKind::ChangesClockBoard)) => {
                let since = self.queried_since(now, address);
                let board = self.answered(now, address, true);
                if board.pending_report.is_some() {
                    // The dump already includes the changes of the pending report. Another dump is requested after
                    // that report.
                    board.dump_wanted = true;
                    return;
                }
                board.dump_at = Some(now);
                board.dump_wanted = false;
                let not_before = since.saturating_sub(FIELD_AGE);
                self.observe(now, address, Observation::Board { dump, not_before });
            }
            (BusData::Version { major, minor }, Some(BusCommandKind::Version)) => {
                let board = self.answered(now, address, true);
                let changed = board.version.replace((major, minor)) != Some((major, minor));
                if changed {
                    self.identify(now, address, Some((major, minor)));
                }
            }
            (BusData::FromStart(_), Some(BusCommandKind::FromStart))
            | (BusData::StartWritten, Some(BusCommandKind::SetStart)) => {
                self.answered(now, address, true);
            }
            _ => {}
        }
    }

    fn handle_changes(
        &mut self,
        now: Timestamp,
        address: BusAddress,
        data: &[u8],
        query_kind: Option<BusCommandKind>,
    ) {
        if !self.boards.contains_key(&address) && !query_kind.is_some_and(queries_changes) {
            return;
        }
        if !self.boards.contains_key(&address) {
            self.enter_with_changes(now, address, query_kind);
        }
        let Some(board) = self.boards.get_mut(&address) else {
            return;
        };
        let reported = board.take_changes(data);
        if reported == Reported::Unrequested {
            return;
        }
        // A late answer belongs to an earlier query.
        if query_kind.is_some_and(queries_changes) {
            self.answered(
                now,
                address,
                query_kind != Some(BusCommandKind::ChangesClockBoard),
            );
        }
        if let Reported::New {
            elements,
            not_before,
            not_after,
            from_before,
            dropped,
        } = reported
        {
            // A report without changes is also an observation, because it shows that no piece was moved.
            let changes = Observation::Changes {
                elements,
                not_before,
                not_after: not_after.min(now),
                from_before,
            };
            self.observe(now, address, changes);
            if dropped > 0 {
                self.observe(now, address, Observation::Disturbed { bytes: dropped });
            }
        }
    }

    /// Creates the state of a board whose first answer contains changes, as if the query had been sent to a known
    /// board.
    fn enter_with_changes(
        &mut self,
        now: Timestamp,
        address: BusAddress,
        query_kind: Option<BusCommandKind>,
    ) {
        let since = self.queried_since(now, address);
        let board = self.answered(now, address, false);
        if query_kind == Some(BusCommandKind::RepeatChanges) {
            board.recall_sent = true;
        } else {
            board.pending_report = Some(PendingReport {
                got_answer: true,
                ..PendingReport::since(since)
            });
        }
    }

    fn handle_clock_report(
        &mut self,
        now: Timestamp,
        address: BusAddress,
        report: ClockReport,
        complete: bool,
    ) {
        let since = self.queried_since(now, address);
        let board = self.answered(now, address, complete);
        board.clock_at = Some(now);
        let observation = match report {
            ClockReport::Times(times) => Observation::Clock {
                times,
                not_before: since.saturating_sub(CLOCK_AGE),
            },
            ClockReport::Absent(_) => Observation::ClockAbsent,
            ClockReport::Ack(_) => return,
        };
        if board.clock.replace(report) != Some(report) {
            self.observe(now, address, observation);
        }
    }

    /// Notes a valid answer to a query. `complete` is whether no further part of the answer follows.
    fn answered(&mut self, now: Timestamp, address: BusAddress, complete: bool) -> &mut BusBoard {
        if let Some(question) = &mut self.question {
            question.answered = true;
            question.complete |= complete;
        }
        if !self.boards.get(&address).is_some_and(|board| board.present) {
            self.found.remove(&address);
            self.observe(now, address, Observation::Opened);
            self.identify(now, address, None);
            self.boards.entry(address).or_insert_with(BusBoard::new).enter();
        }
        self.answered_at = Some(now);
        let board = self.boards.entry(address).or_insert_with(BusBoard::new);
        board.answered_at = now;
        (board.failures, board.unreadable) = (0, false);
        if complete {
            board.queried_since = None;
        }
        board
    }

    /// Returns the earliest time at which the board can have composed an answer that arrives now.
    fn queried_since(&self, now: Timestamp, address: BusAddress) -> Timestamp {
        let sent_at = self.question.map_or(now, |question| question.sent_at);
        let board = self.boards.get(&address);
        board.and_then(|board| board.queried_since).unwrap_or(sent_at)
    }

    fn identify(&mut self, now: Timestamp, address: BusAddress, version: Option<(u8, u8)>) {
        let identity = Identity {
            serial: Some(address.to_string()),
            version,
            ..Identity::default()
        };
        self.observe(now, address, Observation::Identified(identity));
    }

    fn observe(&mut self, at: Timestamp, address: BusAddress, observation: Observation) {
        self.observations
            .push_back((address, Observed { at, observation }));
    }
}

const fn queries_changes(kind: BusCommandKind) -> bool {
    queries_new_changes(kind) || matches!(kind, BusCommandKind::RepeatChanges)
}

/// Returns whether the board forgets its changes when it answers a query of this kind.
const fn queries_new_changes(kind: BusCommandKind) -> bool {
    matches!(kind, BusCommandKind::Changes | BusCommandKind::ChangesClockBoard)
}

/// Number of consecutive queries without a valid answer after which a board counts as absent, if [`LEAVING_TIME`] has
/// passed too.
const LEAVING_FAILURES: u32 = 5;
/// Minimum time without a valid answer before a board counts as absent. A reset takes some seconds.
const LEAVING_TIME: Duration = Duration::from_secs(5);
const NO_ANSWER: &str = "the board does not answer on the bus";
const UNREADABLE: &str = "the board's answers on the bus cannot be read";
/// Number of bytes to report for a lost answer: the size of the shortest answer.
const LOST_ANSWER: usize = 6;
