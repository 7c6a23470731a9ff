//! Chooses the next query on a bus.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{BusAddress, BusCommand, BusCommandKind};

use super::BusSettings;
use super::listener::{BusListener, Outcome, Question};
use super::turn::Turn;
use crate::facts::{BUS_ANSWER_TIME, PING_ANSWERS_TIME};
use crate::time::Timestamp;

/// Decides on one query after another. The [`BusListener`] handles the answers.
#[derive(Debug)]
pub(super) struct Poller {
    settings: BusSettings,
    phase: PollerPhase,
    /// No query is sent before this time.
    wait_until: Timestamp,
    /// Address at which the next round begins: the first board that was cut short in this round.
    first: BusAddress,
    /// When to begin the next search for boards that have joined.
    search_due: Timestamp,
    /// When to ping the next absent board.
    absent_due: Timestamp,
    /// Address of the last absent board that was pinged.
    absent_last: BusAddress,
    pub(super) rounds: u64,
    pub(super) last_round: Duration,
    pub(super) longest_round: Duration,
}

#[derive(Debug)]
enum PollerPhase {
    /// Boards are searched for: only broadcast pings and the queries that prepare them are sent.
    Search(Search),
    Round(Round),
}

#[derive(Debug, Default)]
struct Search {
    to_silence: VecDeque<BusAddress>,
    /// The board that is being silenced, and the number of queries sent to it.
    silencing: Option<(BusAddress, u32)>,
    pinged: bool,
    pings: u32,
}

impl Search {
    /// Returns the next query that prepares the next broadcast ping: a command to ignore the ping or, if `recalls` is
    /// true, a request for the board's last report to another host.
    fn next_preparation(
        &mut self,
        listener: &BusListener,
        recalls: bool,
    ) -> Option<(BusCommandKind, BusAddress)> {
        loop {
            let (address, attempts) = self
                .silencing
                .or_else(|| self.to_silence.pop_front().map(|address| (address, 0)))?;
            let board = listener.board(address);
            let kind = match board {
                Some(board) if recalls && board.silenced && board.wants_recall() => {
                    Some(BusCommandKind::RepeatChanges)
                }
                Some(board) if board.silenced => None,
                _ => Some(BusCommandKind::IgnoreNextPing),
            };
            if let Some(kind) = kind.filter(|_| attempts < MAX_PREPARATIONS) {
                self.silencing = Some((address, attempts + 1));
                return Some((kind, address));
            }
            self.silencing = None;
        }
    }
}

#[derive(Debug)]
struct Round {
    began: Timestamp,
    /// Boards that have not had their turn yet.
    waiting: VecDeque<BusAddress>,
    turn: Option<Turn>,
    /// First board that was queried for changes only, because the time of the round was used up.
    cut_short: Option<BusAddress>,
    /// Boards silenced in this round, for the next broadcast ping.
    silenced: usize,
    /// The found or absent board that is being queried, and the number of remaining attempts.
    calls: Option<(BusAddress, u32)>,
}

impl Poller {
    pub(super) fn new(settings: BusSettings) -> Self {
        Self {
            settings,
            phase: PollerPhase::Search(Search::default()),
            wait_until: Timestamp::from_micros(i64::MIN),
            first: BusAddress::ALL,
            search_due: Timestamp::from_micros(i64::MIN),
            absent_due: Timestamp::from_micros(i64::MIN),
            absent_last: BusAddress::ALL,
            rounds: 0,
            last_round: Duration::ZERO,
            longest_round: Duration::ZERO,
        }
    }

    /// Starts a search. Boards from before the opening are searched for like all others.
    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        self.phase = PollerPhase::Search(Search::default());
        self.wait_until = now;
    }

    /// Returns the earliest time for the next query. May be in the past.
    pub(super) fn ready_at(&self, listener: &BusListener) -> Timestamp {
        let question = listener.question().map(|question| self.ends_at(question));
        question.map_or(self.wait_until, |over| over.max(self.wait_until))
    }

    pub(super) fn next(&mut self, now: Timestamp, listener: &BusListener) -> Option<BusCommand> {
        while self.ready_at(listener) <= now {
            let command = match &mut self.phase {
                PollerPhase::Search(_) => self.search(now, listener),
                PollerPhase::Round(_) => self.round(now, listener),
            };
            if command.is_some() {
                return command;
            }
        }
        None
    }

    /// Returns when to stop waiting for answers to the query.
    fn ends_at(&self, question: &Question) -> Timestamp {
        let sent_at = question.sent_at;
        if question.command.address == BusAddress::ALL {
            return match self.phase {
                PollerPhase::Search(_) => sent_at + PING_ANSWERS_TIME,
                PollerPhase::Round(_) => sent_at + PING_PAUSE,
            };
        }
        match question.last_byte_at {
            Some(last) if question.complete || question.damaged >= MAX_DAMAGED_BYTES => last,
            Some(last) => (sent_at + BUS_ANSWER_TIME).max(last + GAP),
            None => sent_at + BUS_ANSWER_TIME,
        }
    }

    fn search(&mut self, now: Timestamp, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Search(search) = &mut self.phase else {
            return None;
        };
        if let Some((kind, address)) = search.next_preparation(listener, !self.settings.leave_changes) {
            return Some(command(kind, address));
        }
        if !search.pinged {
            search.pinged = true;
            search.pings += 1;
            return Some(command(BusCommandKind::Ping, BusAddress::ALL));
        }
        let silent = listener
            .question()
            .is_none_or(|question| question.last_byte_at.is_none());
        // The first ping may only have switched boards from single-board mode back to bus mode.
        let over = search.pings >= MAX_PINGS || (silent && search.pings >= 2);
        if !over {
            search.pinged = false;
            let present_boards = listener.present().map(|(address, _)| address);
            search.to_silence = listener.found().iter().copied().chain(present_boards).collect();
        } else if listener.present().next().is_some() {
            self.search_due = now + SEARCH_PERIOD;
            self.begin_round(now, listener);
        } else {
            *search = Search {
                pings: 1,
                ..Search::default()
            };
            self.wait_until = now + EMPTY_LINE_PAUSE;
        }
        None
    }

    fn begin_round(&mut self, now: Timestamp, listener: &BusListener) {
        let (before, after): (Vec<_>, Vec<_>) = listener
            .present()
            .map(|(address, _)| address)
            .partition(|address| *address < self.first);
        self.phase = PollerPhase::Round(Round {
            began: now,
            waiting: after.into_iter().chain(before).collect(),
            turn: None,
            cut_short: None,
            silenced: 0,
            calls: None,
        });
    }

    fn round(&mut self, now: Timestamp, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Round(round) = &mut self.phase else {
            return None;
        };
        let outcome = listener.question().map(|question| listener.outcome(question));
        let peeks = self.settings.leave_changes;
        let has_time = peeks || now.saturating_duration_since(round.began) < EXTRAS_TIME;
        if let Some(turn) = &mut round.turn {
            let address = turn.address;
            if let Some(board) = listener.board(address).filter(|board| board.present) {
                let kind = turn.next(now, board, outcome, has_time, &self.settings);
                if turn.cut_short {
                    round.cut_short.get_or_insert(address);
                }
                if let Some(kind) = kind {
                    return Some(command(kind, address));
                }
            }
        }
        round.turn = round.waiting.pop_front().map(Turn::new);
        if round.turn.is_some() {
            return None;
        }
        self.call(now, outcome, listener).or_else(|| {
            self.silence(now, has_time, listener)
                .or_else(|| self.end_round(now, listener))
        })
    }

    /// Queries a board that seems to have joined, or pings an absent board.
    fn call(
        &mut self,
        now: Timestamp,
        outcome: Option<Outcome>,
        listener: &BusListener,
    ) -> Option<BusCommand> {
        let PollerPhase::Round(round) = &mut self.phase else {
            return None;
        };
        match round.calls.take() {
            Some((address, _)) if outcome == Some(Outcome::Answered) => {
                // The board is present and gets a turn in this round. Other boards may have returned too.
                round.waiting.push_back(address);
                self.absent_due = now;
                self.search_due = now;
                return None;
            }
            Some((address, remaining @ 1..)) => {
                round.calls = Some((address, remaining - 1));
                return Some(command(BusCommandKind::IgnoreNextPing, address));
            }
            _ => {}
        }
        if let Some(address) = listener.found().first().copied() {
            round.calls = Some((address, MAX_MORE_CALLS));
            return Some(command(BusCommandKind::IgnoreNextPing, address));
        }
        if now < self.absent_due {
            return None;
        }
        self.absent_due = now + ABSENT_PERIOD;
        let mut absent = listener
            .boards()
            .filter(|(_, board)| !board.present)
            .map(|(address, _)| address);
        let first = absent.clone().next();
        self.absent_last = absent.find(|address| *address > self.absent_last).or(first)?;
        round.calls = Some((self.absent_last, 0));
        Some(command(BusCommandKind::Ping, self.absent_last))
    }

    /// Silences a few boards in each round. When all are silenced, sends a broadcast ping to find new boards.
    fn silence(&mut self, now: Timestamp, has_time: bool, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Round(round) = &mut self.phase else {
            return None;
        };
        let limit = if has_time { MAX_SILENCED_PER_ROUND } else { 1 };
        if now < self.search_due || round.silenced >= limit {
            return None;
        }
        round.silenced += 1;
        let unsilenced = listener.present().find(|(_, board)| !board.silenced);
        if let Some((address, _)) = unsilenced {
            return Some(command(BusCommandKind::IgnoreNextPing, address));
        }
        self.search_due = now + SEARCH_PERIOD;
        Some(command(BusCommandKind::Ping, BusAddress::ALL))
    }

    fn end_round(&mut self, now: Timestamp, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Round(round) = &mut self.phase else {
            return None;
        };
        if !round.waiting.is_empty() {
            return None;
        }
        self.rounds += 1;
        self.last_round = now.saturating_duration_since(round.began);
        self.longest_round = self.longest_round.max(self.last_round);
        self.first = round.cut_short.unwrap_or(self.first);
        self.wait_until = round.began + self.settings.round_period;
        if listener.present().next().is_some() {
            self.begin_round(now.max(self.wait_until), listener);
        } else {
            self.phase = PollerPhase::Search(Search::default());
        }
        None
    }
}

const fn command(kind: BusCommandKind, address: BusAddress) -> BusCommand {
    BusCommand { kind, address }
}

/// Maximum pause within an answer or between the answers to a combined query. A board that writes its memory pauses for
/// 20 ms between two answers, a converter for 16 ms.
const GAP: Duration = Duration::from_millis(50);
/// Number of undecodable bytes after which a valid answer is no longer expected.
const MAX_DAMAGED_BYTES: usize = 512;
/// Time that boards need to process a broadcast ping, even while they write their memory.
const PING_PAUSE: Duration = Duration::from_millis(30);
/// Maximum number of broadcast pings in one search. Enough to find all boards of any line; later answers are noise.
const MAX_PINGS: u32 = 10;
/// Maximum number of queries to one board before the next broadcast ping. Usually two suffice.
const MAX_PREPARATIONS: u32 = 4;
/// Pause between searches if no board answers.
const EMPTY_LINE_PAUSE: Duration = Duration::from_secs(2);
/// Time in a round after which boards are queried for changes only.
const EXTRAS_TIME: Duration = Duration::from_millis(1900);
/// Interval of the searches for boards that have joined.
const SEARCH_PERIOD: Duration = Duration::from_secs(10);
/// Maximum number of boards silenced in a round that has time left. In other rounds the maximum is 1.
const MAX_SILENCED_PER_ROUND: usize = 4;
/// Maximum number of repeated queries to a found board that does not answer.
const MAX_MORE_CALLS: u32 = 2;
/// Interval of the pings to absent boards.
const ABSENT_PERIOD: Duration = Duration::from_secs(1);
