//! The daemon's boards on MQTT: what they go on with after a restart, and what is published from then on.

use std::collections::BTreeSet;

use anyhow::Result;
use kiebitz_hardware::Timestamp;

use crate::config::Config;
use crate::events::{Event, LIVE_STREAM};
use crate::hall::Hall;
use crate::journal::Journal;
use crate::output::mqtt::{BoardView, Message, MqttConfig, Outbox, Publisher};

/// The publisher of the live boards.
#[derive(Debug)]
pub(super) struct Mqtt {
    outbox: Outbox,
    /// Says how long spectators of each board wait.
    config: Config,
    started: Timestamp,
    publisher: Publisher,
    /// What spectators had before the restart; published again with the next messages.
    resumed: Vec<Message>,
}

impl Mqtt {
    /// For the boards of `config`, whose broker is `broker`. `started` is when the daemon was.
    pub(super) fn new(
        outbox: Outbox,
        config: &Config,
        broker: &MqttConfig,
        started: Timestamp,
    ) -> Result<Self> {
        Ok(Self {
            outbox,
            config: config.clone(),
            started,
            publisher: Publisher::new(broker, LIVE_STREAM, started)?,
            resumed: Vec::new(),
        })
    }

    /// Goes on with what the journal has of a board.
    pub(super) fn resume(&mut self, journal: &Journal, board: &str) -> Result<()> {
        if !self.add(board) {
            return Ok(());
        }
        let connected = journal.last_connected(LIVE_STREAM, board)?;
        let game = journal
            .all_of(LIVE_STREAM, board)
            .last_game()?
            .map(|game| game.record);
        self.publisher.resume(board, connected.as_ref(), game);
        self.publisher
            .resume_incidents(board, journal.all_of(LIVE_STREAM, board).incidents()?);
        // Spectators already have everything that happened up to then.
        let until = self.started.saturating_sub(self.config.public_delay(board));
        let events = journal.games_from(LIVE_STREAM, board, until)?;
        self.resumed.extend(self.publisher.resume_public(board, &events));
        Ok(())
    }

    /// What is to be published once the events are in the journal. `touched` are the boards on which something changed.
    pub(super) fn messages(
        &mut self,
        now: Timestamp,
        events: &[Event],
        touched: &BTreeSet<String>,
        hall: &Hall,
    ) -> Vec<Message> {
        let mut messages = core::mem::take(&mut self.resumed);
        for name in touched {
            let Some(board) = hall.board(name) else { continue };
            if self.add(name) {
                let view = BoardView::new(board.tracker(), board.battery()).later_by(board.ahead());
                messages.extend(self.publisher.project(now, name, events, view));
            }
        }
        messages.extend(self.publisher.advance(now));
        messages
    }

    /// When [`messages`](Self::messages) is due if no board says anything before.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.publisher.poll_deadline()
    }

    /// The computer's clock was set forward by `by`.
    pub(super) fn set_forward(&mut self, by: core::time::Duration) {
        self.publisher.set_forward(by);
    }

    /// Announces which boards there are: when that has changed, and every minute. It does not wait for the journal.
    pub(super) fn announce(&mut self, now: Timestamp, hall: &Hall) {
        let boards = hall.boards().map(|board| board.name().to_owned()).collect();
        if let Some(message) = self.publisher.announce(now, boards) {
            self.outbox.publish(vec![message]);
        }
    }

    /// Whether a board is published: not one whose name makes no topic.
    fn add(&mut self, board: &str) -> bool {
        let delay = self.config.public_delay(board);
        self.publisher.add(board, delay).is_ok()
    }
}
