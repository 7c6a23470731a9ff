//! The event in the form in which clients look it up: rounds, pairings and games.
//!
//! At least one client requires exactly the documented keys, without missing or additional ones.

use std::collections::BTreeMap;

use kiebitz_game::events::GameResult;
use serde_json::{Value, json};
use shakmaty::Color;

use super::LiveChess;
use crate::outputs::broadcast::projection::rounds::Slot;
use crate::outputs::broadcast::projection::{MAX_ROUNDS, tree};

impl LiveChess {
    /// The list of events, with one entry.
    pub(crate) fn tournaments(&self) -> Value {
        let name = self.name();
        json!([{ "uuid": self.uuid(), "description": name, "rounds": self.rounds() }])
    }

    pub(crate) fn tournament(&self, uuid: &str) -> Option<Value> {
        if uuid != self.uuid() {
            return None;
        }
        let name = self.name();
        Some(json!({
            "uuid": uuid,
            "name": name,
            "description": name,
            "location": self.show.site(),
            "country": self.show.tournament().federation,
            "rounds": self.rounds(),
            "eboards": self.tables(),
        }))
    }

    /// A round of the event with this id. `index` counts from 0.
    pub(crate) fn round(&self, uuid: &str, index: u32) -> Option<Value> {
        if uuid != self.uuid() || index >= self.rounds() {
            return None;
        }
        let number = index + 1;
        let rounds = self.show.rounds();
        let slots = rounds.get(&number).map(Vec::as_slice).unwrap_or_default();
        let pairings: Vec<Value> = slots.iter().map(|slot| self.pairing(slot)).collect();
        let of_round = self.show.tournament().rounds.get(&number);
        let date = of_round.and_then(|round| round.date.as_deref());
        Some(json!({ "nr": number, "date": date, "pairings": pairings }))
    }

    pub(crate) fn game(&self, uuid: &str) -> Option<Value> {
        let rounds = self.show.rounds();
        let slot = rounds
            .values()
            .flatten()
            .find(|slot| self.uuid_of(slot) == uuid)?;
        let clock = slot.game.and_then(|game| self.show.clock_of(game));
        let mut whole = tree::game(slot, clock, self.show.unplayed_number());
        let mut part = |key: &str| whole.get_mut(key).map(Value::take);
        Some(json!({
            "chess960": part("chess960"),
            // Only a result that was shown on the board.
            "result": slot.game.and_then(|_| part("result")),
            "comment": part("comment"),
            "clock": part("clock"),
            "moves": part("moves"),
        }))
    }

    fn pairing(&self, slot: &Slot<'_>) -> Value {
        let players = slot.players();
        let side = |color| tree::player(players.as_ref(), color);
        let record = slot.game.map(|game| &game.record);
        // A result that the players show on the board is not a decision.
        let decided = match record {
            Some(game) if game.confirmed => tree::result_word(game.result, game.reason),
            _ => tree::result_word(slot.decided().unwrap_or(GameResult::Unknown), None),
        };
        // A game stays live until its result is decided, because clients show the arbiter a result from the board only
        // for live games. Clients look up the board of a live game in the list of boards.
        let live = record.is_some_and(|game| {
            let shows = tree::result_word(game.result, game.reason).is_some();
            let open = game.ended.is_none() || (shows && decided.is_none());
            open && self.serial_of(&game.board).is_some()
        });
        json!({
            "nr": slot.table,
            "uuid": self.uuid_of(slot),
            "white": side(Color::White),
            "black": side(Color::Black),
            "live": live,
            "result": decided,
        })
    }

    fn name(&self) -> &str {
        self.show.name().unwrap_or("kiebitz")
    }

    fn rounds(&self) -> u32 {
        let rounds = self.show.rounds();
        rounds.keys().next_back().copied().unwrap_or(0).min(MAX_ROUNDS)
    }

    /// The serial number of the board at each table: the board of the latest game there, or else the board with that
    /// number in its name. Empty if there is none.
    fn tables(&self) -> Vec<String> {
        let mut tables: BTreeMap<u32, (bool, &str)> = BTreeMap::new();
        for seen in self.boards.values() {
            if let Some(table) = crate::tournament::table_of(&seen.status.name) {
                tables.insert(table, (false, &seen.status.name));
            }
        }
        let rounds = self.show.rounds();
        let played = rounds.values().flatten();
        let played = played.filter_map(|slot| Some((slot, slot.game?)));
        for (slot, game) in played {
            let live = slot.is_live();
            // A live game takes precedence over a finished game of a later round.
            if live || tables.get(&slot.table).is_none_or(|(live, _)| !live) {
                tables.insert(slot.table, (live, &game.record.board));
            }
        }
        let last = tables.keys().next_back().copied().unwrap_or(0);
        let serial = |table| {
            let board = tables.get(&table).map(|(_, name)| *name);
            board.and_then(|name| self.serial_of(name)).unwrap_or_default()
        };
        (1..=last).map(|table| serial(table).to_owned()).collect()
    }

    fn serial_of(&self, board: &str) -> Option<&str> {
        let seen = self.boards.get(board).filter(|seen| !seen.status.forgotten)?;
        seen.serial.as_deref()
    }

    fn uuid(&self) -> String {
        uuid(self.name())
    }

    fn uuid_of(&self, slot: &Slot<'_>) -> String {
        uuid(&format!("{}\n{}.{}", self.name(), slot.round, slot.table))
    }
}

/// A stable id for a name: its 128-bit FNV-1a hash as a UUID of version 8 (RFC 9562, 5.8).
fn uuid(name: &str) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = name
        .bytes()
        .fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    let version = (hash & !(0xf << 76)) | (8 << 76);
    let variant = (version & !(0b11 << 62)) | (0b10 << 62);
    let digits = format!("{variant:032x}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if [8, 12, 16, 20].contains(&at) {
            text.push('-');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_stable_and_a_uuid() {
        let id = uuid("Café Open 2026");
        assert_eq!(id, uuid("Café Open 2026"));
        assert_ne!(id, uuid("Café Open 2027"));
        let parts: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
        assert_eq!(&id[14..15], "8");
        assert!(["8", "9", "a", "b"].contains(&&id[19..20]), "{id}");
        // The published hash of the empty string. The bits of version and variant do not change its first half.
        assert_eq!(&uuid("")[..8], "6c62272e");
    }
}
