//! Publishes the daemon's boards over MQTT and continues after a restart.

use std::collections::BTreeSet;

use anyhow::Result;
use kiebitz_game::command::Announced;
use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_game::hall::{Board, Hall};
use kiebitz_hardware::Timestamp;

use super::delays::Delays;
use super::journal_writer::OUTPUT;
use super::pairings::Pairings;
use super::start::Beginning;
use crate::config::Config;
use crate::journal::{Journal, Unsent};
use crate::outputs::mqtt::{
    BoardView, DaemonHealth, LineHealth, Message, MqttConfig, Outbox, Prefix, Publisher,
};

#[derive(Debug)]
pub(super) struct Mqtt {
    outbox: Outbox,
    delays: Delays,
    started: Timestamp,
    publisher: Publisher,
    /// State that spectators had before the restart. It is published again with the next messages.
    resumed: Vec<Message>,
    /// Events that the broker had not acknowledged before the restart.
    unsent: Vec<Unsent>,
}

impl Mqtt {
    /// Creates the publisher for the boards of `config`. `started` is the start time of the daemon.
    pub(super) fn new(
        outbox: Outbox,
        config: &Config,
        broker: &MqttConfig,
        started: Timestamp,
    ) -> Result<Self> {
        Ok(Self {
            outbox,
            delays: Delays::new(config),
            started,
            publisher: Publisher::new(broker, LIVE_STREAM, started)?,
            resumed: Vec::new(),
            unsent: Vec::new(),
        })
    }

    /// Restores the state of all boards as far as the journal can be read.
    pub(super) fn restore(&mut self, journal: &mut Journal, beginning: Beginning) {
        let boards = journal.boards(LIVE_STREAM).unwrap_or_default();
        for (board, _) in boards {
            if let Err(error) = self.resume(journal, &board) {
                tracing::warn!("{board}: cannot read the last published state from the journal: {error:#}");
            }
        }
        // When a new day begins, the outbox still has them.
        if beginning == Beginning::Program {
            match journal.unsent(OUTPUT, LIVE_STREAM) {
                Ok(unsent) => self.unsent = unsent,
                Err(error) => tracing::warn!(
                    "cannot read unacknowledged events from the journal; they are not sent again: {:#}",
                    anyhow::Error::from(error)
                ),
            }
        }
    }

    /// The messages for events that the journal could not store at the start.
    pub(super) fn unkept(&self, events: &[Event], prefix: &Prefix) -> Vec<Message> {
        let message = |event: &Event| {
            let topics = prefix.board(&event.board).ok()?;
            Some(Message::event(&topics.events().into(), event))
        };
        events.iter().filter_map(message).collect()
    }

    /// Has the outbox read from the journal the events that the broker had not acknowledged before the restart.
    pub(super) fn send_unsent(&mut self, prefix: &Prefix) {
        for Unsent { board, after, last } in self.unsent.drain(..) {
            // Boards whose names cannot be part of a topic are not published.
            if let Ok(topics) = prefix.board(&board) {
                self.outbox.leave_behind(&board, &topics.events(), after, last);
            }
        }
    }

    fn resume(&mut self, journal: &Journal, board: &str) -> Result<()> {
        if !self.add(board) {
            return Ok(());
        }
        let connected = journal.last_connected(LIVE_STREAM, board)?;
        let game = journal
            .all_of(LIVE_STREAM, board)
            .last_game()?
            .map(|game| game.record);
        let presence = journal.all_of(LIVE_STREAM, board).presence()?;
        let since = connected.as_ref().map_or(0, |connected| connected.seq);
        let commands = journal.commands(LIVE_STREAM, board, since)?;
        if commands.iter().any(|command| command.kind.is_forget()) {
            self.publisher.stay_forgotten(board);
            return Ok(());
        }
        let mut announced = Announced::default();
        for event in journal.all_of(LIVE_STREAM, board).announcements()? {
            announced.apply(&event);
        }
        self.publisher
            .resume(board, connected.as_ref(), presence.as_ref(), game, announced);
        self.publisher
            .resume_incidents(board, journal.all_of(LIVE_STREAM, board).incidents()?);
        // Spectators already have all events up to this time.
        let until = self.started.saturating_sub(self.delays.of(board));
        let events = journal.games_from(LIVE_STREAM, board, until)?;
        self.resumed.extend(self.publisher.resume_public(board, &events));
        Ok(())
    }

    /// The messages to publish once the journal has stored the events. `touched` names the boards that have changed.
    pub(super) fn messages(
        &mut self,
        now: Timestamp,
        events: &[Event],
        touched: &BTreeSet<String>,
        hall: &Hall,
        pairings: &Pairings,
    ) -> Vec<Message> {
        let mut messages = core::mem::take(&mut self.resumed);
        for name in touched {
            let Some(board) = hall.board(name) else { continue };
            if self.add(name) {
                let view = BoardView::of(board).at_table(pairings.table(name));
                messages.extend(self.publisher.project(now, name, events, view));
            }
        }
        messages.extend(self.publisher.advance(now));
        messages
    }

    /// Time of the next call of [`messages`](Self::messages), unless a board has an event earlier.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.publisher.poll_deadline()
    }

    /// Applies the delays of a new configuration. Messages that are due earlier as a result leave with the next
    /// messages.
    pub(super) fn reconfigure(&mut self, config: &Config) {
        self.delays.change(config);
        self.publisher.delay_by(|board| self.delays.of(board));
    }

    /// Follows a step of the computer's clock, forward by `by`, so that delayed messages still wait for the same time.
    pub(super) fn set_forward(&mut self, by: core::time::Duration) {
        self.publisher.set_forward(by);
    }

    /// The messages about boards, serial lines, disks and outputs. Due after changes and every minute.
    pub(super) fn announce(&mut self, now: Timestamp, hall: &Hall, health: DaemonHealth) -> Vec<Message> {
        let boards = hall.boards().filter(|board| !board.is_forgotten());
        let boards = boards.map(|board| board.name().to_owned()).collect();
        let mut messages = Vec::from_iter(self.publisher.announce(now, boards, Some(health)));
        messages.extend(self.publisher.summarize(now));
        messages.extend(self.publisher.refresh(now, |board| {
            let heard = hall.board(board).and_then(Board::heard);
            LineHealth::new(heard, hall.counters(board))
        }));
        messages
    }

    /// Adds a board. Returns false if its name cannot be part of a topic.
    fn add(&mut self, board: &str) -> bool {
        let delay = self.delays.of(board);
        self.publisher.add(board, delay).is_ok()
    }
}
