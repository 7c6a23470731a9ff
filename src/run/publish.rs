//! What goes out over MQTT: events, and the pictures that they change.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::Timestamp;

use super::STREAM;
use crate::event::Event;
use crate::hall::Hall;
use crate::mqtt::{Message, MqttConfig, Outbox, Prefix, Projection, View};
use crate::record::GameRecord;

/// Turns what boards say into messages.
#[derive(Debug)]
pub(super) struct Publisher {
    outbox: Outbox,
    prefix: Prefix,
    host: String,
    started: Timestamp,
    projections: BTreeMap<String, Projection>,
    /// The boards that the daemon was last said to have, and when.
    announced: Option<(Timestamp, Vec<String>)>,
}

/// How often the daemon says how long it has been running.
const ANNOUNCED_EVERY: Duration = Duration::from_secs(60);

impl Publisher {
    pub(super) fn new(outbox: Outbox, config: &MqttConfig, started: Timestamp) -> Self {
        Self {
            outbox,
            prefix: config.prefix().clone(),
            host: config.daemon().to_owned(),
            started,
            projections: BTreeMap::new(),
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

    /// Goes on with the incidents that the journal has of a board.
    pub(super) fn resume_incidents(&mut self, board: &str, incidents: crate::incidents::Incidents) {
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
        let mut messages = Vec::new();
        for name in touched {
            let Some(board) = hall.board(name) else { continue };
            let view = View::from(board);
            let events = events.iter().filter(|event| event.board == *name);
            if let Some(projection) = self.projection(name) {
                messages.extend(projection.project(now, events, view));
            }
        }
        messages
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
            let projection = Projection::new(&topics, board, STREAM, &self.host);
            self.projections.insert(board.to_owned(), projection);
        }
        self.projections.get_mut(board)
    }
}
