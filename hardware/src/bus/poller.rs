//! Which question comes next on a bus.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{BusAddress, BusCommand, BusCommandKind};

use super::BusSettings;
use super::listener::{BusListener, Outcome, Question};
use super::turn::Turn;
use crate::facts::{BUS_ANSWER_TIME, PING_ANSWERS_TIME};
use crate::time::Timestamp;

/// Asks one question after another. The [`BusListener`] handles the answers.
#[derive(Debug)]
pub(super) struct Poller {
    settings: BusSettings,
    phase: PollerPhase,
    /// Nothing is asked before this time.
    wait_until: Timestamp,
    /// Where the next round begins: with the board for which this one had no time.
    first: BusAddress,
    /// When the next search for boards that joined begins.
    search_due: Timestamp,
    /// When the next board that has left is asked whether it is back, and which was the last.
    absent_due: Timestamp,
    absent_last: BusAddress,
    pub(super) rounds: u64,
    pub(super) last_round: Duration,
    pub(super) longest_round: Duration,
}

#[derive(Debug)]
enum PollerPhase {
    /// The line is quiet for answers to pings to all.
    Search(Search),
    /// Boards are asked in turn.
    Round(Round),
}

#[derive(Debug, Default)]
struct Search {
    /// Boards to be silenced.
    to_greet: VecDeque<BusAddress>,
    /// The board that is being silenced, and how often it was asked.
    greeted: Option<(BusAddress, u32)>,
    /// The ping to all has gone out.
    pinged: bool,
    pings: u32,
}

impl Search {
    /// What to ask a board before the next ping to all: to ignore it, and, if `recalls`, what it last reported to
    /// another host.
    fn greet(&mut self, listener: &BusListener, recalls: bool) -> Option<(BusCommandKind, BusAddress)> {
        loop {
            let (address, asked) = self
                .greeted
                .or_else(|| self.to_greet.pop_front().map(|address| (address, 0)))?;
            let board = listener.board(address);
            let kind = match board {
                Some(board) if recalls && board.silenced && board.wants_recall() => {
                    Some(BusCommandKind::RepeatChanges)
                }
                Some(board) if board.silenced => None,
                _ => Some(BusCommandKind::IgnoreNextPing),
            };
            if let Some(kind) = kind.filter(|_| asked < MAX_GREETINGS) {
                self.greeted = Some((address, asked + 1));
                return Some((kind, address));
            }
            self.greeted = None;
        }
    }
}

#[derive(Debug)]
struct Round {
    began: Timestamp,
    /// The boards whose turn has not come.
    waiting: VecDeque<BusAddress>,
    turn: Option<Turn>,
    /// The first board that wanted more than there was time for.
    denied: Option<BusAddress>,
    /// How many boards have been silenced for the next ping to all.
    silenced: usize,
    /// A board that was found, or had left, was asked whether it is there, and how many times more it may be asked.
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

    /// The port was opened: boards known from before are searched for like all others.
    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        self.phase = PollerPhase::Search(Search::default());
        self.wait_until = now;
    }

    /// When there will be something to ask; may have passed.
    pub(super) fn ready_at(&self, listener: &BusListener) -> Timestamp {
        let question = listener.question().map(|question| self.over_at(question));
        question.map_or(self.wait_until, |over| over.max(self.wait_until))
    }

    /// The next command, if it is time for one.
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

    /// When a question can bring no more answers.
    fn over_at(&self, question: &Question) -> Timestamp {
        let asked = question.asked_at;
        if question.command.address == BusAddress::ALL {
            return match self.phase {
                PollerPhase::Search(_) => asked + PING_ANSWERS_TIME,
                PollerPhase::Round(_) => asked + PING_PAUSE,
            };
        }
        match question.last_byte_at {
            Some(last) if question.complete || question.damaged >= MAX_BABBLE => last,
            Some(last) => (asked + BUS_ANSWER_TIME).max(last + GAP),
            None => asked + BUS_ANSWER_TIME,
        }
    }

    fn search(&mut self, now: Timestamp, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Search(search) = &mut self.phase else {
            return None;
        };
        if let Some((kind, address)) = search.greet(listener, !self.settings.leave_changes) {
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
        // The first ping may only have switched boards back from single mode.
        let over = search.pings >= MAX_PINGS || (silent && search.pings >= 2);
        if !over {
            search.pinged = false;
            let there = listener.present().map(|(address, _)| address);
            search.to_greet = listener.found().iter().copied().chain(there).collect();
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
            denied: None,
            silenced: 0,
            calls: None,
        });
    }

    fn round(&mut self, now: Timestamp, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Round(round) = &mut self.phase else {
            return None;
        };
        let outcome = listener.question().map(|question| listener.outcome(question));
        let leaves = self.settings.leave_changes;
        let has_time = leaves || now.saturating_duration_since(round.began) < EXTRAS_TIME;
        if let Some(turn) = &mut round.turn {
            let address = turn.address;
            if let Some(board) = listener.board(address).filter(|board| board.present) {
                let kind = turn.next(now, board, outcome, has_time, &self.settings);
                if turn.denied {
                    round.denied.get_or_insert(address);
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

    /// Asks a board that seems to have joined, or one that has left, whether it is there.
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
                // It is there: its turn comes in this round, and others may be back as well.
                round.waiting.push_back(address);
                self.absent_due = now;
                self.search_due = now;
                return None;
            }
            Some((address, more @ 1..)) => {
                round.calls = Some((address, more - 1));
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

    /// Silences a few boards in each round, and pings all others when all are silenced.
    fn silence(&mut self, now: Timestamp, has_time: bool, listener: &BusListener) -> Option<BusCommand> {
        let PollerPhase::Round(round) = &mut self.phase else {
            return None;
        };
        let most = if has_time { MAX_SILENCED_PER_ROUND } else { 1 };
        if now < self.search_due || round.silenced >= most {
            return None;
        }
        round.silenced += 1;
        let loud = listener.present().find(|(_, board)| !board.silenced);
        if let Some((address, _)) = loud {
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
        self.first = round.denied.unwrap_or(self.first);
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

/// An answer goes on without such a gap: a board that writes to its memory pauses for 20 ms between two answers, a
/// converter for 16 ms.
const GAP: Duration = Duration::from_millis(50);
/// After this many bytes that make no answer, a valid one is no longer expected.
const MAX_BABBLE: usize = 512;
/// How long boards need to take in a ping to all, even while they write their memory.
const PING_PAUSE: Duration = Duration::from_millis(30);
/// The most pings to all in one search: they find more boards than any line has. After that, noise is answering.
const MAX_PINGS: u32 = 10;
/// The most questions to one board before the next ping to all. Two are enough if all goes well.
const MAX_GREETINGS: u32 = 4;
/// How often a line without any answer is searched.
const EMPTY_LINE_PAUSE: Duration = Duration::from_secs(2);
/// A round that has lasted this long asks boards for changes only.
const EXTRAS_TIME: Duration = Duration::from_millis(1900);
/// How often boards that joined are searched for.
const SEARCH_PERIOD: Duration = Duration::from_secs(10);
/// At most this many boards are silenced in a round that has time, else one.
const MAX_SILENCED_PER_ROUND: usize = 4;
/// A board just found that does not answer is asked at most this many times more.
const MAX_MORE_CALLS: u32 = 2;
/// How often one of the boards that have left is asked whether it is back.
const ABSENT_PERIOD: Duration = Duration::from_secs(1);
