//! Withdraws the names of a pairing that the files no longer contain, if no move has been made.

use kiebitz_game::command::Command;
use kiebitz_game::events::Players;
use kiebitz_game::events::pairing::{PAIRINGS, PairedGame};
use serde_json::{Map, Value};

use super::{SeatedBoard, Seating, command};
use crate::tournament::Pairing;

impl Seating {
    /// Returns commands that clear the names of pairings that the files no longer contain. Once a move of the round has
    /// been made the names stay, because a file may be removed when it is no longer needed.
    pub(super) fn withdrawn(&self) -> Vec<(String, Command)> {
        if !self.is_paired {
            return Vec::new();
        }
        let commands = self.seats.iter().filter_map(|(board, seat)| {
            let sent = seat.clearable_pairing()?;
            let place = (sent.round?, sent.table?);
            let pairing = self.tournament.pairing(place.0, place.1);
            let is_paired = pairing.is_some_and(Pairing::is_played);
            let is_played = self.seats.values().any(|seat| seat.has_moved_in(place.0));
            let command = (!is_paired && !is_played).then(|| clear_names(place))??;
            Some((board.clone(), command))
        });
        commands.collect()
    }
}

impl SeatedBoard {
    /// Returns the pairing that was sent to the board, if the board still has its names and the game has no moves.
    fn clearable_pairing(&self) -> Option<&Players> {
        let sent = self.sent_pairing.as_ref().filter(|_| !self.by_hand)?;
        // A board that has refused to clear its names is not asked again.
        if self.refused == Some(Players::default()) {
            return None;
        }
        let players = match self.playing() {
            Some(game) if game.has_begun() => None,
            Some(_) => self.players.as_ref(),
            None => self.announced.players(),
        }?;
        let is_same = (&players.white, &players.black, players.round, players.table)
            == (&sent.white, &sent.black, sent.round, sent.table);
        let is_named = sent.white.is_some() || sent.black.is_some();
        (is_same && is_named).then_some(sent)
    }

    /// Returns whether a move was made in a round, apart from trial moves before a game.
    fn has_moved_in(&self, round: u32) -> bool {
        let of_round = |game: &&PairedGame| game.place().0 == Some(round);
        let mut games = self.games.iter().filter(of_round);
        games.any(|game| game.counts() || game.ended().is_none() && game.has_begun())
    }
}

fn clear_names(place: (u32, u32)) -> Option<Command> {
    let names = ["white", "black"].map(|side| (side.to_owned(), Value::Null));
    command("set_players", place, Map::from_iter(names))
}

/// Returns whether a person's command sets the players of the current or next game, not of a finished one.
pub(super) fn is_by_hand(by: &str, arguments: &Value, game: Option<&str>) -> bool {
    let named = arguments.get("game").and_then(Value::as_str);
    by != PAIRINGS && (named.is_none() || named == game)
}
