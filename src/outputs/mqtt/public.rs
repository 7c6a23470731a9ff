//! The messages of one board for spectators: game, PGN and clock, once they are [due](Delayed).

use core::time::Duration;
use std::sync::Arc;

use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;

use super::brief::Brief;
use super::message::Message;
use super::payload::{Dated, PublicClock, PublicGame, PublicPlacement, PublicState};
use super::topics::BoardTopics;
use crate::clock::ClockView;
use crate::outputs::pgn::public_pgn;
use crate::outputs::shared::delayed::{Delayed, Due};

/// Holds the messages for spectators until they are due.
#[derive(Debug)]
pub(crate) struct PublicProjection {
    game_topic: Arc<str>,
    pgn_topic: Arc<str>,
    clock_topic: Arc<str>,
    placement_topic: Arc<str>,
    state_topic: Arc<str>,
    brief: Brief,
    delayed: Delayed,
    /// Whether the game has changed since it was last published.
    changed: bool,
    pgn: Option<String>,
    placement: Option<PublicPlacement>,
    /// A clock reading that is due but has not been published yet.
    clock: Option<ClockView>,
}

impl PublicProjection {
    /// The projection of a board without events and without a delay.
    pub(crate) fn new(topics: &BoardTopics) -> Self {
        Self {
            game_topic: topics.public_game().into(),
            pgn_topic: topics.public_pgn().into(),
            clock_topic: topics.public_clock().into(),
            placement_topic: topics.public_placement().into(),
            state_topic: topics.public_state().into(),
            brief: Brief::new(&topics.public_brief()),
            delayed: Delayed::default(),
            changed: false,
            pgn: None,
            placement: None,
            clock: None,
        }
    }

    /// Sets the delay, also for everything that is already waiting.
    pub(crate) fn set_delay(&mut self, delay: Duration) {
        self.delayed.set_delay(delay);
    }

    /// Continues at `now` from the journal, see [`Delayed::resume`]. The last clock reading that was due before the
    /// last event is not published, because the previous run may have published a newer one.
    pub(crate) fn resume(&mut self, now: Timestamp, events: &[Event]) {
        self.delayed.resume(now, events);
        let last = events.last().map_or(now, |last| last.ts.min(now));
        self.apply_due(last);
        self.clock = None;
        // The broker may have restarted too and lost its retained messages.
        self.changed = true;
        self.apply_due(now);
    }

    /// Queues an event that was published by `now`, until it is due.
    pub(crate) fn take(&mut self, now: Timestamp, event: &Event) {
        self.delayed.take(event.ts.min(now), event);
    }

    /// Queues a clock reading at `now`, until it is due.
    pub(crate) fn take_clock(&mut self, now: Timestamp, clock: &ClockView) {
        self.delayed.take_clock(now, clock);
    }

    /// Time of the next call of [`release`](Self::release) that returns messages.
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        self.delayed.poll_deadline()
    }

    /// Returns the messages for spectators that are due by `now`.
    pub(crate) fn release(&mut self, now: Timestamp) -> Vec<Message> {
        self.apply_due(now);
        let mut messages = Vec::new();
        if let Some(record) = self.delayed.games().current().filter(|_| self.changed) {
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
            let clock = PublicClock::new(clock, self.delayed.delay());
            messages.push(Message::retained(&self.clock_topic, &clock));
        }
        messages
    }

    /// The message about the board's connection. It is not delayed, because it reveals nothing about the game.
    pub(crate) fn presence(&self, now: Timestamp, board: &str, connected: bool) -> Message {
        let board = board.to_owned();
        let state = PublicState { board, connected };
        let content = Dated {
            content: &state,
            as_of: now,
        };
        Message::retained(&self.state_topic, &content)
    }

    /// Clears the state, and returns messages that clear all topics.
    pub(crate) fn forget(&mut self) -> Vec<Message> {
        self.delayed.forget();
        self.changed = false;
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

    /// Follows a step of the computer's clock, forward by `by`: the delay stays the same in real time.
    pub(crate) fn set_forward(&mut self, by: Duration) {
        self.delayed.set_forward(by);
    }

    /// Applies everything that is due by `now`.
    fn apply_due(&mut self, now: Timestamp) {
        while let Some(due) = self.delayed.poll(now) {
            match due {
                Due::Event(_) => self.changed = true,
                // The topics show the current game only.
                Due::Earlier(_) => {}
                Due::Clock(clock) => self.clock = Some(clock),
            }
        }
    }
}

#[cfg(test)]
mod tests;
