//! Names that are taken back: those of a pairing that was none, where nobody has moved yet.

use kiebitz_game::command::Command;
use kiebitz_game::events::Players;
use kiebitz_game::events::pairing::{PAIRINGS, PairedGame};
use serde_json::{Map, Value};

use super::{SeatedBoard, Seating, command};
use crate::tournament::Pairing;

impl Seating {
    /// The boards that have names from a pairing which the files do not have any more, with the command that takes them
    /// back. Once somebody has moved in the round, names stay: then a file goes because it has done its work.
    pub(super) fn withdrawn(&self) -> Vec<(String, Command)> {
        if !self.is_paired {
            return Vec::new();
        }
        let gone = self.seats.iter().filter_map(|(board, seat)| {
            let given = seat.holds()?;
            let place = (given.round?, given.table?);
            let pairing = self.tournament.pairing(place.0, place.1);
            let is_paired = pairing.is_some_and(Pairing::is_played);
            let is_played = self.seats.values().any(|seat| seat.has_moved_in(place.0));
            let command = (!is_paired && !is_played).then(|| take_back(place))??;
            Some((board.clone(), command))
        });
        gone.collect()
    }
}

impl SeatedBoard {
    /// The pairing that it was given, where it still has those names from there, and before the first move.
    fn holds(&self) -> Option<&Players> {
        let given = self.given.as_ref().filter(|_| !self.by_hand)?;
        // A board that does not take them back is not asked again.
        if self.refused == Some(Players::default()) {
            return None;
        }
        let players = match self.playing() {
            Some(game) if game.has_begun() => None,
            Some(_) => self.players.as_ref(),
            None => self.announced.players(),
        }?;
        let is_same = (&players.white, &players.black, players.round, players.table)
            == (&given.white, &given.black, given.round, given.table);
        let is_named = given.white.is_some() || given.black.is_some();
        (is_same && is_named).then_some(given)
    }

    /// Whether there was a move in a round, other than to try something out.
    fn has_moved_in(&self, round: u32) -> bool {
        let of_round = |game: &&PairedGame| game.place().0 == Some(round);
        let mut games = self.games.iter().filter(of_round);
        games.any(|game| game.counts() || game.ended().is_none() && game.has_begun())
    }
}

fn take_back(place: (u32, u32)) -> Option<Command> {
    let names = ["white", "black"].map(|side| (side.to_owned(), Value::Null));
    command("set_players", place, Map::from_iter(names))
}

/// Whether a command by hand names who plays now or next, and not in a game that is over.
pub(super) fn is_by_hand(by: &str, arguments: &Value, game: Option<&str>) -> bool {
    let named = arguments.get("game").and_then(Value::as_str);
    by != PAIRINGS && (named.is_none() || named == game)
}
