//! The boards as LiveChess 2.2 shows them to programs on its computer: its local interface, of which this is what is said
//! and answered, without any connection.
//!
//! It is for the hall: nothing in it is delayed. The rounds of the event are those of the [broadcast](crate::outputs::broadcast),
//! without a delay. What a client changes here is its own view: which way round a board is read, and from where moves
//! are counted. Where the configuration allows it, a position that a client sets up also becomes a command.

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

/// Everything that can be asked for, and who is told what happens.
#[derive(Debug)]
pub(crate) struct LiveChess {
    show: Broadcast,
    /// By their names.
    boards: BTreeMap<String, ClientBoard>,
    /// The names of the boards by what they are called here.
    serials: BTreeMap<String, String>,
    /// What each connection has subscribed to.
    sessions: BTreeMap<Session, Vec<Feed>>,
    /// Boards that something has happened on since clients were told.
    changed: BTreeSet<String>,
    /// What is to be sent.
    frames: Vec<(Session, String)>,
    /// Clients may change what is played.
    may_set_up: bool,
    /// How many commands were given.
    commands: u32,
}

/// The number of a connection.
pub(crate) type Session = u64;

impl LiveChess {
    /// Of an event without games. `may_set_up`: clients may begin games from the position that they say.
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

    /// Takes in an event that was published by `now`.
    pub(crate) fn take(&mut self, now: Timestamp, event: &Event) {
        self.show.take(now, event);
        self.show.advance(now);
        self.changed.insert(event.board.clone());
    }

    /// Takes in what the clock of a game shows at `now`.
    pub(crate) fn take_clock(&mut self, now: Timestamp, board: &str, clock: &ClockView) {
        self.show.take_clock(now, board, clock);
        self.show.advance(now);
    }

    /// Goes on at `now` with what the journal has of a board.
    pub(crate) fn resume(&mut self, now: Timestamp, board: &str, events: &[Event]) {
        self.show.resume(now, board, events);
        self.changed.insert(board.to_owned());
    }

    /// This is how a board is.
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
            self.number();
        }
    }

    /// These are the pairings from now on.
    pub(crate) fn pair(&mut self, tournament: Arc<Tournament>) {
        self.show.pair(tournament);
    }

    /// The event is called otherwise from now on.
    pub(crate) fn rename(&mut self, facts: EventFacts) {
        self.show.rename(facts);
    }

    /// Gives each board what it is called here: its serial number, and its name where another board has that.
    fn number(&mut self) {
        let mut boards: Vec<&BoardStatus> = self.boards.values().map(|seen| &seen.status).collect();
        boards.sort_by_key(|status| !status.is_there());
        let mut serials: BTreeMap<String, String> = BTreeMap::new();
        for status in boards {
            let serial = status.serial.as_ref().unwrap_or(&status.name);
            let serial = if serials.contains_key(serial) {
                &status.name
            } else {
                serial
            };
            serials.insert(serial.clone(), status.name.clone());
        }
        for (serial, name) in &serials {
            if let Some(seen) = self.boards.get_mut(name) {
                seen.serial.clone_from(serial);
            }
        }
        self.serials = serials;
    }

    /// The board that is called so.
    fn named(&self, serial: &str) -> Option<&ClientBoard> {
        let name = self.serials.get(serial).map_or(serial, String::as_str);
        self.boards.get(name).filter(|seen| !seen.status.forgotten)
    }

    /// All boards: those that are there come first, for some clients take the first one whatever it is.
    pub(crate) fn eboards(&self) -> Value {
        let shown = self.boards.values().filter(|seen| !seen.status.forgotten);
        let mut boards: Vec<&ClientBoard> = shown.collect();
        boards.sort_by_key(|seen| seen.place());
        boards.into_iter().map(ClientBoard::value).collect()
    }

    /// A client has connected.
    pub(crate) fn open(&mut self, session: Session) {
        self.sessions.insert(session, Vec::new());
    }

    /// It is gone.
    pub(crate) fn close(&mut self, session: Session) {
        self.sessions.remove(&session);
        self.frames.retain(|(to, _)| *to != session);
    }

    /// What is to be sent at `now`: the answers to calls, and after them what has happened to those who have subscribed to
    /// it.
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

/// A frame to a client. The id comes back as it was sent: clients compare it with its type.
fn frame(response: &str, id: &Value, param: &Value, now: Timestamp) -> String {
    let time = now.as_micros() / 1000;
    json!({ "response": response, "id": id, "param": param, "time": time }).to_string()
}

#[cfg(test)]
mod tests;
