//! What a client that has subscribed to a board is told of it: each time what has changed.

use kiebitz_game::events::record::GameRecord;
use serde_json::{Map, Value, json};

use super::anchor::Anchor;
use super::board::{self, ClientBoard};
use crate::clock::ClockView;

/// A client's subscription to a board.
#[derive(Debug)]
pub(super) struct Feed {
    /// The client's own number for it.
    pub(super) id: Value,
    pub(super) serial: String,
    /// From where moves are counted; `None`: the client has set up nothing, and gets none.
    pub(super) anchor: Option<Anchor>,
    told: Option<ClientState>,
}

/// What the client knows.
#[derive(Debug)]
struct ClientState {
    flipped: bool,
    board: Option<String>,
    clock: ClockView,
    game: Option<ClientGame>,
}

/// The game as the client knows it.
#[derive(Debug, PartialEq, Eq)]
struct ClientGame {
    start: String,
    san: Vec<String>,
    /// The sensors show the position after the last move.
    matches: bool,
}

impl Feed {
    pub(super) const fn new(id: Value, serial: String) -> Self {
        Self {
            id,
            serial,
            anchor: None,
            told: None,
        }
    }

    /// Nothing was told yet.
    pub(super) const fn is_new(&self) -> bool {
        self.told.is_none()
    }

    /// What the client does not know yet; `None`: nothing. It is told all that there is at first.
    pub(super) fn event(&mut self, seen: &ClientBoard, current: Option<&GameRecord>) -> Option<Value> {
        let game = self.anchor.as_mut().map(|anchor| {
            let line = anchor.line(current);
            ClientGame {
                matches: seen.status.connected && line.leads_to(&seen.status.placement),
                start: line.start,
                san: line.san,
            }
        });
        let (board, clock) = (seen.placement(), seen.status.clock);
        let before = self.told.as_ref();
        let mut event = Map::new();
        let mut put = |key: &str, value: Value| event.insert(key.to_owned(), value);
        if before.is_none_or(|told| told.flipped != seen.flipped) {
            put("flipped", json!(seen.flipped));
        }
        let board = match (board, before) {
            // One that is gone shows nothing else.
            (None, told) => told.and_then(|told| told.board.clone()),
            (board, told) => {
                if told.is_none_or(|told| told.board != board) {
                    put("board", json!(board));
                }
                board
            }
        };
        let ticks = before.filter(|told| !told.clock.differs(&clock));
        let clock = ticks.map_or(clock, |told| told.clock);
        if ticks.is_none() {
            put("clock", board::clock(&clock));
        }
        if let Some(game) = &game {
            let before = before.and_then(|told| told.game.as_ref());
            if before.is_none_or(|told| (&told.start, &told.san) != (&game.start, &game.san)) {
                put("start", json!(game.start));
                put("san", json!(game.san));
                put("match", json!(game.matches));
            } else if before.is_none_or(|told| told.matches != game.matches) {
                put("match", json!(game.matches));
            }
        }
        self.told = Some(ClientState {
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
