//! The players of the event with all their games (`players.json`).

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Meeting, Standings, field, points};
use crate::outputs::broadcast::projection::rounds::Slot;
use crate::tournament::{Byes, Tournament, UnplayedRound, half_points};

/// `players.json`.
#[derive(Debug, Serialize)]
struct Players {
    players: Vec<PlayerGames>,
}

#[derive(Debug, Serialize)]
struct PlayerGames {
    name: String,
    title: Option<String>,
    rating: Option<u16>,
    federation: Option<String>,
    team: Option<String>,
    fide_id: Option<u32>,
    /// Rank in the standings; `None` if they are unknown.
    rank: Option<usize>,
    /// Points: those of the standings, or else of the results.
    points: f32,
    /// Games with a result.
    games: usize,
    /// Games and rounds without an opponent, in the order of the rounds.
    results: Vec<PlayerResult>,
}

/// A game of a player, also one that has not begun, or a round without an opponent.
#[derive(Debug, Serialize)]
struct PlayerResult {
    round: u32,
    /// The table, if the broadcast has the game.
    table: Option<u32>,
    /// Index of the opponent among the players; `None` without an opponent.
    opponent: Option<usize>,
    /// "white" or "black"; `None` without an opponent.
    color: Option<&'static str>,
    /// `None` while there is no result.
    score: Option<f32>,
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    live: bool,
    /// Whether the result was decided without play.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    forfeit: bool,
}

/// Builds `players.json`. Returns `None` if no player is known.
pub(in super::super) fn players(
    tournament: &Tournament,
    rounds: &BTreeMap<u32, Vec<Slot<'_>>>,
    byes: &Byes,
    standings: Option<&Standings>,
) -> Option<Vec<u8>> {
    let (field, schedule) = field(tournament, rounds, byes);
    let mut players: Vec<PlayerGames> = field.people.into_iter().map(PlayerGames::of).collect();
    for meeting in &schedule {
        for side in ["white", "black"] {
            let (own, result) = of_side(meeting, side);
            if let Some(player) = players.get_mut(own) {
                player.results.push(result);
            }
        }
    }
    for player in &mut players {
        player.results.sort_by_key(|result| (result.round, result.table));
        // Without standings, it is unknown which byes are of rounds to come.
        let played = player.results.iter().filter(|result| result.opponent.is_some());
        let scores: Vec<f32> = played.filter_map(|result| result.score).collect();
        (player.games, player.points) = (scores.len(), scores.iter().sum());
    }
    for row in standings.into_iter().flat_map(|standings| &standings.players) {
        if let Some(player) = players.get_mut(row.person) {
            (player.rank, player.points) = (Some(row.rank), row.points);
        }
    }
    let is_any = !players.is_empty();
    is_any.then(|| serde_json::to_vec(&Players { players }).unwrap_or_default())
}

/// The player of a side, and the game as seen by that player.
fn of_side(meeting: &Meeting, side: &'static str) -> (usize, PlayerResult) {
    let scores = meeting.result.map(half_points);
    let (own, opponent, score) = match side {
        "white" => (meeting.white, meeting.black, scores.map(|(white, _)| white)),
        _ => (meeting.black, meeting.white, scores.map(|(_, black)| black)),
    };
    let result = PlayerResult {
        round: meeting.round,
        table: meeting.table,
        opponent: Some(opponent),
        color: Some(side),
        score: score.map(points),
        live: meeting.is_live,
        forfeit: meeting.is_forfeit && meeting.result.is_some(),
    };
    (own, result)
}

impl PlayerGames {
    /// A player with the rounds without an opponent.
    fn of(person: super::Person) -> Self {
        let byes = person.byes.into_iter().map(|(round, bye)| PlayerResult {
            round,
            table: None,
            opponent: None,
            color: None,
            score: bye.map(UnplayedRound::half_points).map(points),
            live: false,
            forfeit: false,
        });
        Self {
            name: person.name,
            title: person.facts.title,
            rating: person.facts.rating,
            federation: person.facts.federation,
            team: person.facts.team,
            fide_id: person.facts.fide_id,
            rank: None,
            points: 0.0,
            games: 0,
            results: byes.collect(),
        }
    }
}
