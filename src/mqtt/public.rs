//! What spectators get of one board: the game, its PGN and the clock.
//!
//! It stands apart because it is to come later than what the arbiter gets, and because nothing but moves and clocks
//! may pass here: no incidents, no presses, nothing of how certain a move is.

use std::sync::Arc;

use super::message::Message;
use super::payload::{ClockTimes, PublicGame};
use super::topics::BoardTopics;
use crate::pgn::public_pgn;
use crate::record::GameRecord;

/// Remembers what spectators have.
#[derive(Debug)]
pub(crate) struct PublicProjection {
    game_topic: Arc<str>,
    pgn_topic: Arc<str>,
    clock_topic: Arc<str>,
    game: Option<PublicGame>,
    pgn: Option<String>,
}

impl PublicProjection {
    pub(crate) fn new(topics: &BoardTopics) -> Self {
        Self {
            game_topic: topics.public_game().into(),
            pgn_topic: topics.public_pgn().into(),
            clock_topic: topics.public_clock().into(),
            game: None,
            pgn: None,
        }
    }

    /// The game, if it is another for spectators.
    pub(crate) fn project_game(&mut self, record: &GameRecord) -> Vec<Message> {
        let mut messages = Vec::new();
        let game = PublicGame::of(record);
        if self.game.as_ref() != Some(&game) {
            messages.push(Message::retained(&self.game_topic, &game));
            self.game = Some(game);
        }
        let text = public_pgn(record);
        if self.pgn.as_ref() != Some(&text) {
            messages.push(Message::pgn(&self.pgn_topic, text.clone()));
            self.pgn = Some(text);
        }
        messages
    }

    pub(crate) fn clock(&self, clock: &ClockTimes) -> Message {
        Message::retained(&self.clock_topic, clock)
    }
}
