//! What spectators get of one board: the game, its PGN and the clock, after a delay.
//!
//! It stands apart because nothing but moves and clocks may pass here: no incidents, no presses, nothing of how certain
//! a move is.
//!
//! What is published is held until it is due, and then taken in by a game of the spectators' own. So nothing is seen
//! before its time, and what is seen is as it was published then, with one exception: a move or a result that was
//! withdrawn while it was held is left out. Nobody learns anything early by that, only that nothing was played yet; and
//! broadcasters are spared a move that they would have to take back. What spectators have seen already goes when its withdrawal is due.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use kiebitz_hardware::Timestamp;

use super::brief::Brief;
use super::message::Message;
use super::payload::{ClockPicture, Dated, PublicClock, PublicGame, PublicPlacement, PublicState};
use super::topics::BoardTopics;
use crate::events::record::Games;
use crate::events::{CorrectionReason, Event, EventKind, GameResult, Move};
use crate::output::pgn::public_pgn;

/// Holds what spectators will get, and remembers what they have.
#[derive(Debug)]
pub(crate) struct PublicProjection {
    game_topic: Arc<str>,
    pgn_topic: Arc<str>,
    clock_topic: Arc<str>,
    placement_topic: Arc<str>,
    state_topic: Arc<str>,
    brief: Brief,
    delay: Duration,
    /// What is not due yet, each with the time at which it is due, in the order of publication.
    held: VecDeque<(Timestamp, Held)>,
    /// The games as far as they are due.
    games: Games,
    /// They have changed, and that is not published yet.
    changed: bool,
    pgn: Option<String>,
    placement: Option<PublicPlacement>,
    /// A reading of the clock that is due and not published yet.
    clock: Option<ClockPicture>,
}

#[derive(Debug)]
enum Held {
    Event(Box<Event>),
    Clock(ClockPicture),
}

impl PublicProjection {
    /// For a board without events; without a delay.
    pub(crate) fn new(topics: &BoardTopics) -> Self {
        Self {
            game_topic: topics.public_game().into(),
            pgn_topic: topics.public_pgn().into(),
            clock_topic: topics.public_clock().into(),
            placement_topic: topics.public_placement().into(),
            state_topic: topics.public_state().into(),
            brief: Brief::new(&topics.public_brief()),
            delay: Duration::ZERO,
            held: VecDeque::new(),
            games: Games::new(),
            changed: false,
            pgn: None,
            placement: None,
            clock: None,
        }
    }

    /// From now on everything that spectators do not have yet is due later by `delay`, as if it had always been so.
    pub(crate) fn set_delay(&mut self, delay: Duration) {
        for (due, _) in &mut self.held {
            *due = (*due + delay).saturating_sub(self.delay);
        }
        self.delay = delay;
    }

    /// Goes on at `now` with what the journal has: the events of the game that was due then, and of all later ones.
    ///
    /// The journal has no readings of the clock but those of the presses. The last one that is due is not published:
    /// the previous run may have published a newer reading.
    pub(crate) fn resume(&mut self, now: Timestamp, events: &[Event]) {
        for event in events {
            self.take(now, event);
            if let Some(clock) = clock_of(event) {
                self.take_clock(event.ts.min(now), &clock);
            }
        }
        if let Some(last) = events.last() {
            self.pass(last.ts.min(now));
        }
        self.clock = None;
        // A broker that was restarted as well has forgotten its pictures.
        self.changed = true;
        self.pass(now);
    }

    /// Takes in an event that was published by `now`.
    pub(crate) fn take(&mut self, now: Timestamp, event: &Event) {
        if is_public(&event.kind) {
            // A computer without a clock of its own may have dated the last events before its restart in what is
            // now the future.
            self.hold(event.ts.min(now), Held::Event(Box::new(event.clone())));
        }
    }

    /// Takes in what the clock shows at `now`.
    pub(crate) fn take_clock(&mut self, now: Timestamp, clock: &ClockPicture) {
        self.hold(now, Held::Clock(*clock));
    }

    fn hold(&mut self, at: Timestamp, held: Held) {
        // What was due before was due without knowing this: so it is after a restart as well.
        self.pass(at);
        self.held.push_back((at + self.delay, held));
    }

    /// When [`release`](Self::release) has something to publish next.
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        self.held.front().map(|(due, _)| *due)
    }

    /// The pictures that have changed for spectators by `now`.
    pub(crate) fn release(&mut self, now: Timestamp) -> Vec<Message> {
        self.pass(now);
        let mut messages = Vec::new();
        if let Some(record) = self.games.current().filter(|_| self.changed) {
            messages.push(Message::retained(&self.game_topic, &PublicGame::of(record)));
            let text = public_pgn(record);
            if self.pgn.as_ref() != Some(&text) {
                messages.push(Message::pgn(&self.pgn_topic, text.clone()));
                self.pgn = Some(text);
            }
            let placement = PublicPlacement::of(record);
            if self.placement.as_ref() != Some(&placement) {
                messages.push(Message::retained(&self.placement_topic, &placement));
                self.placement = Some(placement);
            }
            messages.extend(self.brief.messages(Some(record), None));
        }
        self.changed = false;
        if let Some(clock) = self.clock.take() {
            let clock = PublicClock::new(clock, self.delay);
            messages.push(Message::retained(&self.clock_topic, &clock));
        }
        messages
    }

    /// Whether the board is there. It tells nothing of the game, so it is not held.
    pub(crate) fn presence(&self, now: Timestamp, board: &str, connected: bool) -> Message {
        let board = board.to_owned();
        let state = PublicState { board, connected };
        let content = Dated {
            content: &state,
            as_of: now,
        };
        Message::retained(&self.state_topic, &content)
    }

    /// Nothing is known any more, and nothing is held. Returns what takes all of it off the broker.
    pub(crate) fn forget(&mut self) -> Vec<Message> {
        self.held.clear();
        (self.games, self.changed) = (Games::new(), false);
        (self.pgn, self.placement, self.clock) = (None, None, None);
        self.brief.forget();
        let topics = [
            &self.game_topic,
            &self.pgn_topic,
            &self.clock_topic,
            &self.placement_topic,
            &self.state_topic,
        ];
        topics
            .into_iter()
            .chain(self.brief.topics())
            .map(Message::cleared)
            .collect()
    }

    /// The computer's clock was set forward: what is held is due later by `by`, for no time has passed.
    pub(crate) fn set_forward(&mut self, by: Duration) {
        for (due, _) in &mut self.held {
            *due = *due + by;
        }
    }

    /// Takes in what is due by `now`.
    fn pass(&mut self, now: Timestamp) {
        while let Some((_, held)) = self.held.pop_front_if(|(due, _)| *due <= now) {
            match held {
                Held::Event(event) => {
                    if let Some(event) = self.left_of(*event) {
                        self.changed |= self.games.apply(&event);
                    }
                }
                Held::Clock(clock) => self.clock = Some(clock),
            }
        }
    }

    /// What spectators get of an event that is due: not what was withdrawn while it was held. `None`: they get nothing
    /// of it.
    fn left_of(&self, mut event: Event) -> Option<Event> {
        let later = || {
            self.held.iter().filter_map(|(_, held)| match held {
                Held::Event(later) if later.game == event.game => Some(&later.kind),
                _ => None,
            })
        };
        let replaced =
            |result: GameResult| later().any(|kind| new_result(kind).is_some_and(|new| new != result));
        match &mut event.kind {
            EventKind::MoveMade(Move { ply, .. })
            | EventKind::MoveAmended {
                played: Move { ply, .. },
                ..
            } => {
                let ply = *ply;
                if later().any(|kind| withdrawn_from(kind).is_some_and(|from| from <= ply)) {
                    // What stood there before is gone all the same.
                    let reason = CorrectionReason::MovedOn;
                    event.kind = EventKind::MoveRetracted { ply, reason };
                }
            }
            EventKind::MoveCompleted { ply, clock, .. } => {
                let moves = self.games.current().map_or(&[][..], |game| &game.moves);
                let entry = moves.iter().rfind(|entry| entry.ply == *ply)?;
                if clock.is_none() || entry.clock == *clock {
                    return None;
                }
            }
            EventKind::GameEnded { result, .. } if replaced(*result) => return None,
            EventKind::GameResumed { .. } => {
                self.games.current().filter(|game| game.ended.is_some())?;
            }
            EventKind::GameAmended {
                result, reason, note, ..
            } => {
                *note = None;
                if result.is_some_and(replaced) {
                    (*result, *reason) = (None, None);
                }
            }
            _ => {}
        }
        Some(event)
    }
}

/// Whether spectators may see something of an event.
const fn is_public(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::GameStarted { .. }
            | EventKind::MoveMade(_)
            | EventKind::MoveAmended { .. }
            | EventKind::MoveRetracted { .. }
            | EventKind::MoveCompleted { .. }
            | EventKind::GameEnded { .. }
            | EventKind::GameResumed { .. }
            | EventKind::GameAmended { .. }
    )
}

/// The first ply that an event withdraws.
const fn withdrawn_from(kind: &EventKind) -> Option<u32> {
    match kind {
        EventKind::MoveRetracted { ply, .. } => Some(*ply),
        EventKind::MoveAmended { played, .. } => Some(played.ply),
        _ => None,
    }
}

/// The result that replaces the one published before.
fn new_result(kind: &EventKind) -> Option<GameResult> {
    match kind {
        EventKind::GameAmended { result, .. } => *result,
        EventKind::GameEnded { result, .. } => Some(*result),
        EventKind::GameResumed { .. } => Some(GameResult::Unknown),
        _ => None,
    }
}

/// What the clock showed when the event was published.
fn clock_of(event: &Event) -> Option<ClockPicture> {
    let clock = match &event.kind {
        EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => played.clock,
        EventKind::MoveCompleted { clock, .. } => *clock,
        _ => None,
    };
    clock.map(|clock| ClockPicture::of_reading(clock, event.ts))
}

#[cfg(test)]
mod tests;
