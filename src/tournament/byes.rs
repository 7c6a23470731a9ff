//! Points of players without an opponent, from arbiters and from the pairing files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use kiebitz_game::command::{Command, Order, SetBye};
use kiebitz_game::events::{Bye, Decision, Event, EventKind, GameResult};

use super::{Pairing, Player, Tournament, UnplayedRound, half_points, names};

/// The latest entry of an arbiter for each player and round: a projection of the events of all boards, whose times
/// decide which entry is the latest.
#[derive(Debug, Default)]
pub(crate) struct Byes(BTreeMap<(u32, String), EnteredBye>);

/// An arbiter's entry for a player without an opponent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnteredBye {
    /// `None` if the entry was withdrawn.
    points: Option<Bye>,
    pub(crate) decided: Decision,
}

impl Byes {
    /// Applies an event. Returns the round of the entry, if the event is one.
    pub(crate) fn apply(&mut self, event: &Event) -> Option<u32> {
        if !matches!(event.kind, EventKind::CommandTaken { error: None, .. }) {
            return None;
        }
        let Command {
            by,
            order:
                Order::SetBye(SetBye {
                    round,
                    player,
                    points,
                    ..
                }),
            ..
        } = Command::taken(&event.kind)?
        else {
            return None;
        };
        let place = (round, names::key(&player));
        if self.0.get(&place).is_none_or(|last| last.decided.at <= event.ts) {
            let decided = Decision { by, at: event.ts };
            self.0.insert(place, EnteredBye { points, decided });
        }
        Some(round)
    }

    /// Returns the entered points with their entry; `None` if there is no entry or it was withdrawn.
    pub(crate) fn get(&self, round: u32, player: &str) -> Option<(Bye, &EnteredBye)> {
        let mut of_round = self.0.range((round, String::new())..);
        if of_round.next().is_none_or(|((first, _), _)| *first != round) {
            return None;
        }
        let entered = self.0.get(&(round, names::key(player)))?;
        Some((entered.points?, entered))
    }
}

/// A player without an opponent in a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WithoutOpponent<'t> {
    pub(crate) player: &'t Player,
    /// Points in the files.
    pub(crate) points: Option<Bye>,
    /// Reason why the player has no opponent: from the files, or the usual reason for the points.
    pub(crate) reason: Option<UnplayedRound>,
    /// Whether a file lists the player in this round.
    pub(crate) is_listed: bool,
}

impl Pairing {
    /// Returns the only player; `None` for a pairing of two.
    pub(crate) const fn alone(&self) -> Option<&Player> {
        match (&self.white, &self.black) {
            (Some(player), None) | (None, Some(player)) => Some(player),
            _ => None,
        }
    }

    /// Returns the points of the only player; `None` if the file has none, or for a pairing of two.
    pub(crate) fn bye(&self) -> Option<Bye> {
        let result = self.result.filter(|result| *result != GameResult::Unknown)?;
        let (white, black) = half_points(result);
        let points = match (&self.white, &self.black) {
            (Some(_), None) => white,
            (None, Some(_)) => black,
            _ => return None,
        };
        Bye::ALL.iter().find(|bye| bye.half_points() == points).copied()
    }
}

/// Returns the result that stands for these points in a pairing with one player.
pub(super) const fn result_of(bye: Bye, is_white: bool) -> GameResult {
    match (bye, is_white) {
        (Bye::Full, true) => GameResult::WhiteWins,
        (Bye::Full, false) => GameResult::BlackWins,
        (Bye::Half, true) => GameResult::HalfForWhite,
        (Bye::Half, false) => GameResult::HalfForBlack,
        (Bye::Zero, _) => GameResult::BothLose,
    }
}

impl Tournament {
    /// Returns the players without an opponent in a round, with the points in the files: first those whom the files
    /// list in the round, then all other players, by name.
    pub(crate) fn without_opponent(&self, round: u32) -> Vec<WithoutOpponent<'_>> {
        let Some(of_round) = self.rounds.get(&round) else {
            return Vec::new();
        };
        let paired = of_round.pairings.iter();
        let mut known: HashSet<Cow<'_, str>> = paired
            .clone()
            .flat_map(|pairing| [&pairing.white, &pairing.black])
            .flatten()
            .map(|player| self.key(&player.name))
            .collect();
        let alone = paired.filter_map(|pairing| {
            let points = pairing.bye();
            Some(WithoutOpponent {
                player: pairing.alone()?,
                points,
                reason: pairing.unplayed.or_else(|| points.map(UnplayedRound::of_points)),
                is_listed: true,
            })
        });
        let mut found: Vec<_> = alone.collect();
        let mut others = Vec::new();
        for player in self.everybody() {
            if known.insert(self.key(&player.name)) {
                others.push(WithoutOpponent {
                    player,
                    points: None,
                    reason: None,
                    is_listed: false,
                });
            }
        }
        others.sort_by(|one, other| one.player.name.cmp(&other.player.name));
        found.append(&mut others);
        found
    }

    /// Returns whether the files have a player of this name without an opponent in the round.
    pub(crate) fn is_without_opponent(&self, round: u32, name: &str) -> bool {
        let key = self.key(name);
        let mut players = self.without_opponent(round).into_iter();
        players.any(|without| self.key(&without.player.name) == key)
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::Action;
    use kiebitz_game::events::samples::event;
    use serde_json::json;

    use super::*;
    use crate::tournament::read_bytes;

    const FILE: &str = "round,board,white,black,result\n1,1,Adler,Berg,1-0\n1,2,Clausen,Dorn,\n1,,Ebert,,1\n2,1,Adler,Clausen,\n\
                        2,,Berg,bye,½\n2,,bye,Dorn,\n";

    fn entry(seq: u64, arguments: serde_json::Value) -> Event {
        event(
            seq,
            EventKind::CommandTaken {
                id: seq.to_string(),
                action: Action::SetBye,
                by: "meier".to_owned(),
                arguments,
                error: None,
                note: None,
            },
        )
    }

    #[test]
    fn players_without_an_opponent_are_listed_with_the_points_of_the_file() {
        let (tournament, _) = read_bytes("r.csv", FILE.as_bytes()).expect("pairings");
        let listed = |round| -> Vec<(String, Option<Bye>, bool)> {
            let found = tournament.without_opponent(round).into_iter();
            found
                .map(|without| (without.player.name.clone(), without.points, without.is_listed))
                .collect()
        };
        assert_eq!(listed(1), [("Ebert".to_owned(), Some(Bye::Full), true)]);
        assert_eq!(
            listed(2),
            [
                ("Berg".to_owned(), Some(Bye::Half), true),
                ("Dorn".to_owned(), None, true),
                ("Ebert".to_owned(), None, false)
            ]
        );
        assert!(tournament.is_without_opponent(2, "EBERT") && !tournament.is_without_opponent(2, "Adler"));
    }

    #[test]
    fn the_latest_entry_counts_until_it_is_withdrawn() {
        let mut byes = Byes::default();
        let half = entry(1, json!({"round": 2, "player": "Ebert", "points": "1/2"}));
        assert_eq!(byes.apply(&half), Some(2));
        assert_eq!(byes.get(2, "ebert").map(|(bye, _)| bye), Some(Bye::Half));
        assert_eq!(byes.get(1, "Ebert"), None);
        let _ = byes.apply(&entry(2, json!({"round": 2, "player": "Ebert", "points": "0"})));
        // The streams of several boards may be read in any order.
        let _ = byes.apply(&half);
        assert_eq!(byes.get(2, "Ebert").map(|(bye, _)| bye), Some(Bye::Zero));
        let _ = byes.apply(&entry(3, json!({"round": 2, "player": "Ebert", "points": null})));
        assert_eq!(byes.get(2, "Ebert"), None);
    }
}
