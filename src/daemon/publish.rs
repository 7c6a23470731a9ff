//! What goes out over MQTT: events, and the pictures that they change.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::Timestamp;

use super::STREAM;
use crate::config::Config;
use crate::events::Event;
use crate::events::record::GameRecord;
use crate::hall::Hall;
use crate::output::mqtt::{Message, MqttConfig, Outbox, Prefix, Projection, View};

/// Turns what boards say into messages.
#[derive(Debug)]
pub(super) struct Publisher {
    outbox: Outbox,
    config: Config,
    prefix: Prefix,
    host: String,
    started: Timestamp,
    projections: BTreeMap<String, Projection>,
    /// The boards of which spectators are to get something, and when.
    waiting: BTreeSet<(Timestamp, String)>,
    /// What they have had of the former run.
    resumed: Vec<Message>,
    /// The boards that the daemon was last said to have, and when.
    announced: Option<(Timestamp, Vec<String>)>,
}

/// How often the daemon says how long it has been running.
const ANNOUNCED_EVERY: Duration = Duration::from_secs(60);

impl Publisher {
    pub(super) fn new(outbox: Outbox, config: &Config, mqtt: &MqttConfig, started: Timestamp) -> Self {
        Self {
            outbox,
            config: config.clone(),
            prefix: mqtt.prefix().clone(),
            host: mqtt.daemon().to_owned(),
            started,
            projections: BTreeMap::new(),
            waiting: BTreeSet::new(),
            resumed: Vec::new(),
            announced: None,
        }
    }

    /// Goes on with what the journal has of a board: its last `board.connected` and its last game.
    pub(super) fn resume(&mut self, board: &str, connected: Option<&Event>, game: Option<GameRecord>) {
        let started = self.started;
        if let Some(projection) = self.projection(board) {
            projection.resume(started, connected, game);
        }
    }

    /// What was told of a board until then spectators have.
    pub(super) fn public_until(&self, board: &str) -> Timestamp {
        self.started.saturating_sub(self.config.public_delay(board))
    }

    /// Goes on for spectators of a board with the events of the game that they have, and of all later ones.
    pub(super) fn resume_public(&mut self, board: &str, events: &[Event]) {
        let started = self.started;
        if let Some(projection) = self.projection(board) {
            let messages = projection.resume_public(started, events);
            self.resumed.extend(messages);
            self.wait(board);
        }
    }

    /// Goes on with the incidents that the journal has of a board.
    pub(super) fn resume_incidents(&mut self, board: &str, incidents: crate::events::incidents::Incidents) {
        if let Some(projection) = self.projection(board) {
            projection.resume_incidents(incidents);
        }
    }

    /// What is to be published once the events are kept.
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
            let view = View::new(board.tracker(), board.battery());
            let events = events.iter().filter(|event| event.board == *name);
            if let Some(projection) = self.projection(name) {
                messages.extend(projection.project(now, events, view));
                self.wait(name);
            }
        }
        while self.waiting.first().is_some_and(|(due, _)| *due <= now) {
            let Some((_, name)) = self.waiting.pop_first() else {
                break;
            };
            if let Some(projection) = self.projection(&name) {
                messages.extend(projection.advance(now));
                self.wait(&name);
            }
        }
        messages
    }

    /// When [`messages`](Self::messages) is due if no board says anything before.
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(due, _)| *due)
    }

    /// The computer's clock was set forward by so much.
    pub(super) fn set_forward(&mut self, by: Duration) {
        for projection in self.projections.values_mut() {
            projection.set_forward(by);
        }
    }

    /// Notes when spectators get something of a board next. Where they get it sooner, later or not at all after that,
    /// it is found out then.
    fn wait(&mut self, board: &str) {
        let due = self.projections.get(board).and_then(Projection::poll_deadline);
        if let Some(due) = due {
            self.waiting.insert((due, board.to_owned()));
        }
    }

    /// Says which boards there are, when that has changed and now and then.
    pub(super) fn announce(&mut self, now: Timestamp, hall: &Hall) {
        let boards: Vec<String> = hall.boards().map(|board| board.name().to_owned()).collect();
        let stale = self
            .announced
            .as_ref()
            .is_none_or(|(at, told)| now >= *at + ANNOUNCED_EVERY || *told != boards);
        if stale {
            self.outbox.announce(self.started, now, boards.clone());
            self.announced = Some((now, boards));
        }
    }

    /// `None`: the board's name makes no topic.
    fn projection(&mut self, board: &str) -> Option<&mut Projection> {
        if !self.projections.contains_key(board) {
            let topics = self.prefix.board(board).ok()?;
            let projection = Projection::new(&topics, board, STREAM, &self.host)
                .with_public_delay(self.config.public_delay(board));
            self.projections.insert(board.to_owned(), projection);
        }
        self.projections.get_mut(board)
    }
}
