//! A client's subscription to a board. Sends only the changes since the last frame.

use kiebitz_game::events::record::GameRecord;
use serde_json::{Map, Value, json};

use super::anchor::Anchor;
use super::board::{self, ClientBoard};
use crate::clock::ClockView;

#[derive(Debug)]
pub(super) struct Feed {
    /// The subscription's id, chosen by the client.
    pub(super) id: Value,
    pub(super) serial: String,
    /// The position from which moves count. `None` until the client sets up a position; until then it gets no moves.
    pub(super) anchor: Option<Anchor>,
    sent: Option<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    flipped: bool,
    board: Option<String>,
    clock: ClockView,
    game: Option<ClientGame>,
}

#[derive(Debug, PartialEq, Eq)]
struct ClientGame {
    /// The start position and the moves since; `None` once the board plays another game.
    line: Option<(String, Vec<String>)>,
    /// Whether the sensors show the position after the last move.
    matches: bool,
}

impl Feed {
    pub(super) const fn new(id: Value, serial: String) -> Self {
        Self {
            id,
            serial,
            anchor: None,
            sent: None,
        }
    }

    pub(super) const fn is_new(&self) -> bool {
        self.sent.is_none()
    }

    /// The changes since the last state sent, or the complete state the first time; `None` if there are none.
    pub(super) fn event(&mut self, seen: &ClientBoard, current: Option<&GameRecord>) -> Option<Value> {
        let game = self.anchor.as_mut().map(|anchor| {
            let line = anchor.line(current);
            let shows = line
                .as_ref()
                .is_some_and(|line| line.leads_to(&seen.status.placement));
            ClientGame {
                matches: seen.status.connected && shows,
                line: line.map(|line| (line.start, line.san)),
            }
        });
        let (board, clock) = (seen.placement(), seen.status.clock);
        let before = self.sent.as_ref();
        let mut event = Map::new();
        let mut put = |key: &str, value: Value| event.insert(key.to_owned(), value);
        if before.is_none_or(|sent| sent.flipped != seen.flipped) {
            put("flipped", json!(seen.flipped));
        }
        let board = match (board, before) {
            // A disconnected board keeps its last placement.
            (None, sent) => sent.and_then(|sent| sent.board.clone()),
            (board, sent) => {
                if sent.is_none_or(|sent| sent.board != board) {
                    put("board", json!(board));
                }
                board
            }
        };
        let ticks = before.filter(|sent| !sent.clock.differs(&clock));
        let clock = ticks.map_or(clock, |sent| sent.clock);
        if ticks.is_none() {
            put("clock", board::clock(&clock));
        }
        if let Some(game) = &game {
            let before = before.and_then(|sent| sent.game.as_ref());
            let same = before.is_some_and(|sent| sent.line == game.line);
            if let Some((start, san)) = game.line.as_ref().filter(|_| !same) {
                put("start", json!(start));
                put("san", json!(san));
            }
            if !same || before.is_none_or(|sent| sent.matches != game.matches) {
                put("match", json!(game.matches));
            }
        }
        self.sent = Some(ClientState {
            flipped: seen.flipped,
            board,
            clock,
            game,
        });
        if event.is_empty() {
            return None;
        }
        event.insert("serialnr".to_owned(), json!(self.serial));
        Some(Value::Object(event))
    }
}
