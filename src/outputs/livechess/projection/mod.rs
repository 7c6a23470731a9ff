//! The state and messages of LiveChess 2.2's local interface, without I/O.
//!
//! The interface is for programs in the hall, so nothing is delayed. Its rounds are those of the
//! [broadcast](crate::outputs::broadcast) without a delay. A client changes only its view: the orientation of a board,
//! and the position from which moves count. If the configuration allows it, a position that a client sets up also
//! becomes a command.

mod anchor;
mod board;
mod call;
mod feed;
mod tournament;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use serde_json::{Value, json};

use crate::clock::ClockView;
use crate::outputs::broadcast::{Broadcast, EventFacts};
use crate::outputs::shared::board_status::BoardStatus;
use crate::tournament::Tournament;
use board::ClientBoard;
pub(crate) use call::CallCommand;
use feed::Feed;

/// The objects that clients can look up, and the clients' subscriptions.
#[derive(Debug)]
pub(crate) struct LiveChess {
    show: Broadcast,
    boards: BTreeMap<String, ClientBoard>,
    /// Names of the boards by serial number.
    serials: BTreeMap<String, String>,
    sessions: BTreeMap<Session, Vec<Feed>>,
    /// Names of the boards that have changed since the last call of [`frames`](Self::frames).
    changed: BTreeSet<String>,
    frames: Vec<(Session, String)>,
    may_set_up: bool,
    /// Number of commands so far, which is part of their ids.
    commands: u32,
}

pub(crate) type Session = u64;

impl LiveChess {
    /// Creates the state of an event without games. `may_set_up` allows clients to begin games from their positions.
    pub(crate) fn new(facts: EventFacts, may_set_up: bool) -> Self {
        Self {
            show: Broadcast::new(Duration::ZERO, facts),
            boards: BTreeMap::new(),
            serials: BTreeMap::new(),
            sessions: BTreeMap::new(),
            changed: BTreeSet::new(),
            frames: Vec::new(),
            may_set_up,
            commands: 0,
        }
    }

    /// Applies an event that was published by `now`.
    pub(crate) fn apply(&mut self, now: Timestamp, event: &Event) {
        self.show.queue(now, event);
        self.show.advance(now);
        self.changed.insert(event.board.clone());
    }

    /// Applies a clock reading of a board at `now`.
    pub(crate) fn apply_clock(&mut self, now: Timestamp, board: &str, clock: &ClockView) {
        self.show.queue_clock(now, board, clock);
        self.show.advance(now);
    }

    /// Applies the journal's events of a board, as of `now`.
    pub(crate) fn resume(&mut self, now: Timestamp, board: &str, events: &[Event]) {
        self.show.resume(now, board, events);
        self.changed.insert(board.to_owned());
    }

    pub(crate) fn see(&mut self, status: BoardStatus) {
        self.changed.insert(status.name.clone());
        let known = self.boards.get_mut(&status.name);
        let same = known.is_some_and(|seen| {
            let same = (&seen.status.serial, seen.status.is_there()) == (&status.serial, status.is_there());
            seen.status = status.clone();
            same
        });
        if !same {
            let seen = self.boards.entry(status.name.clone());
            seen.or_insert_with(|| ClientBoard::new(status));
            self.assign_serials();
        }
    }

    pub(crate) fn pair(&mut self, tournament: Arc<Tournament>) {
        self.show.pair(tournament);
    }

    /// Replaces the facts of the event.
    pub(crate) fn set_facts(&mut self, facts: EventFacts) {
        self.show.set_facts(facts);
    }

    /// Assigns each board its own serial number, unless another board has it. Boards that are present have priority.
    /// A name never stands in for a number: clients remember a board by its number, and this one would change as soon as
    /// the board is plugged in.
    fn assign_serials(&mut self) {
        let mut boards: Vec<&BoardStatus> = self.boards.values().map(|seen| &seen.status).collect();
        boards.sort_by_key(|status| !status.is_there());
        let mut serials: BTreeMap<String, String> = BTreeMap::new();
        for status in boards {
            if let Some(serial) = &status.serial {
                let name = || status.name.clone();
                serials.entry(serial.clone()).or_insert_with(name);
            }
        }
        for (name, seen) in &mut self.boards {
            let own = seen.status.serial.as_ref();
            seen.serial = own.filter(|own| serials.get(*own) == Some(name)).cloned();
        }
        self.serials = serials;
    }

    /// The board with this serial number or name, unless it is forgotten.
    fn named(&self, serial: &str) -> Option<&ClientBoard> {
        let name = self.serials.get(serial).map_or(serial, String::as_str);
        self.boards.get(name).filter(|seen| !seen.status.forgotten)
    }

    /// The list of boards. Connected boards come first, because some clients always use the first entry.
    pub(crate) fn eboards(&self) -> Value {
        let shown = self.boards.values().filter(|seen| !seen.status.forgotten);
        let mut boards: Vec<&ClientBoard> = shown.collect();
        boards.sort_by_key(|seen| seen.sort_key());
        boards.into_iter().map(ClientBoard::value).collect()
    }

    pub(crate) fn open(&mut self, session: Session) {
        self.sessions.insert(session, Vec::new());
    }

    /// Removes a connection and its frames.
    pub(crate) fn close(&mut self, session: Session) {
        self.sessions.remove(&session);
        self.frames.retain(|(to, _)| *to != session);
    }

    /// Takes the frames to send at `now`: answers to calls first, then changes for subscribers.
    pub(crate) fn frames(&mut self, now: Timestamp) -> Vec<(Session, String)> {
        let changed = core::mem::take(&mut self.changed);
        let mut sessions = core::mem::take(&mut self.sessions);
        for (session, feeds) in &mut sessions {
            for feed in feeds {
                let Some(seen) = self.named(&feed.serial) else {
                    continue;
                };
                if feed.is_new() || changed.contains(&seen.status.name) {
                    let game = self.show.current(&seen.status.name);
                    if let Some(event) = feed.event(seen, game) {
                        let frame = frame("feed", &feed.id, &event, now);
                        self.frames.push((*session, frame));
                    }
                }
            }
        }
        self.sessions = sessions;
        core::mem::take(&mut self.frames)
    }
}

/// A frame for a client. The id is repeated exactly, because clients compare it including its type.
fn frame(response: &str, id: &Value, param: &Value, now: Timestamp) -> String {
    let time = now.as_micros() / 1000;
    json!({ "response": response, "id": id, "param": param, "time": time }).to_string()
}

#[cfg(test)]
mod tests;
