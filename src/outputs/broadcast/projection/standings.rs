//! The standings of the event (`standings.json`): points of all players and teams so far.
//!
//! A file of the pairings says what the players have without its results; the results of all rounds are added. Equal
//! points share a rank, because tie-breaks differ between events.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::{Bye, GameResult, PlayerFacts};
use serde::Serialize;
use shakmaty::Color;

use super::Broadcast;
use super::rounds::Slot;
use crate::outputs::report;
use crate::tournament::{Byes, Pairing, Tournament, half_points, name_key};

/// Most players of a round robin that is shown as a crosstable.
const MAX_CROSSTABLE: usize = 16;

/// `standings.json`.
#[derive(Debug, Serialize)]
pub(super) struct Standings {
    /// The last round that has a game or a result.
    round: u32,
    /// Number of games up to this round that have no result yet.
    open: usize,
    /// Whether every player meets every other player equally often.
    crosstable: bool,
    players: Vec<PlayerRow>,
    /// Empty if teams do not play each other.
    teams: Vec<TeamRow>,
}

#[derive(Debug, Serialize)]
struct PlayerRow {
    rank: usize,
    name: String,
    title: Option<String>,
    rating: Option<u16>,
    federation: Option<String>,
    team: Option<String>,
    points: f32,
    #[serde(skip)]
    half_points: u32,
    /// Games with a result.
    games: usize,
    results: Vec<RoundResult>,
}

/// A player's game in a round, or a round without an opponent.
#[derive(Debug, Clone, Serialize)]
struct RoundResult {
    round: u32,
    /// The table, if the broadcast has the game.
    table: Option<u32>,
    /// Index of the opponent among the players; `None` without an opponent.
    opponent: Option<usize>,
    /// "white" or "black".
    color: &'static str,
    /// `None` while there is no result.
    score: Option<f32>,
}

#[derive(Debug, Serialize, PartialEq)]
struct TeamRow {
    rank: usize,
    name: String,
    /// Two for a match won, one for a drawn one. A match counts once all its games are over.
    match_points: u32,
    board_points: f32,
    #[serde(skip)]
    half_points: u32,
    /// Matches that are over.
    matches: usize,
}

/// Makes the standings. `None` without pairings, or if the results of an earlier round are missing.
pub(super) fn standings(
    tournament: &Tournament,
    rounds: &BTreeMap<u32, Vec<Slot<'_>>>,
    byes: &Byes,
) -> Option<Standings> {
    let is_begun = |slot: &Slot<'_>| slot.game.is_some() || slot.result() != GameResult::Unknown;
    let begun = rounds.iter().filter(|(_, slots)| slots.iter().any(is_begun));
    let begun = begun.map(|(round, _)| *round).max();
    let in_files = tournament.rounds.iter().filter(|(_, round)| {
        let mut pairings = round.pairings.iter();
        // Byes may have been granted for rounds to come.
        pairings.any(|pairing| pairing.is_played() && pairing.result.is_some())
    });
    let last = begun.max(in_files.map(|(round, _)| *round).max())?;
    let is_known = |round: u32| tournament.rounds.contains_key(&round);
    if tournament.rounds.is_empty() || (tournament.carried.is_empty() && !(1..=last).all(is_known)) {
        return None;
    }
    let mut field = Field::default();
    for carried in &tournament.carried {
        let player = field.person(&carried.player.name, Some(&carried.player.facts));
        if let Some(person) = field.people.get_mut(player) {
            person.half_points += carried.half_points;
        }
    }
    let mut schedule = Vec::new();
    let no_slots = Vec::new();
    for (round, data) in &tournament.rounds {
        let slots = rounds.get(round).unwrap_or(&no_slots);
        let by_table: BTreeMap<u32, &Slot<'_>> = slots.iter().map(|slot| (slot.table, slot)).collect();
        for pairing in &data.pairings {
            let slot = pairing.table.and_then(|table| by_table.get(&table)).copied();
            schedule.extend(field.pairing(*round, pairing, slot));
        }
    }
    for slot in rounds.values().flatten().filter(|slot| slot.pairing.is_none()) {
        schedule.extend(field.slot(slot));
    }
    for round in tournament.rounds.keys() {
        field.byes(*round, tournament, byes);
    }
    let crosstable = field.is_round_robin(&schedule);
    let played: Vec<Meeting> = schedule
        .into_iter()
        .filter(|meeting| meeting.round <= last)
        .collect();
    Some(Standings {
        round: last,
        open: played.iter().filter(|meeting| meeting.result.is_none()).count(),
        crosstable,
        teams: field.teams(&played),
        players: field.rows(&played, last),
    })
}

impl Broadcast {
    /// The standings for the arbiter's report; `None` if they are unknown.
    pub(crate) fn standings_for_report(&self) -> Option<report::Standings> {
        let standings = standings(self.tournament(), &self.rounds(), &self.byes)?;
        let players = standings.players.into_iter().map(|row| report::PlayerStanding {
            name: row.name,
            title: row.title,
            rating: row.rating,
            half_points: row.half_points,
            games: row.games,
        });
        let teams = standings.teams.into_iter().map(|row| report::TeamStanding {
            name: row.name,
            match_points: row.match_points,
            half_points: row.half_points,
        });
        Some(report::Standings {
            round: standings.round,
            open: standings.open,
            players: players.collect(),
            teams: teams.collect(),
        })
    }
}

/// A game between two players, or one that is planned.
#[derive(Debug)]
struct Meeting {
    round: u32,
    table: Option<u32>,
    white: usize,
    black: usize,
    /// `None` while there is no result.
    result: Option<GameResult>,
}

#[derive(Debug)]
struct Person {
    name: String,
    facts: PlayerFacts,
    half_points: u32,
    /// Rounds in which the player had no opponent, with the points if they are known.
    byes: Vec<(u32, Option<Bye>)>,
}

/// All players, found by FIDE id or else by name.
#[derive(Debug, Default)]
struct Field {
    people: Vec<Person>,
    by_id: BTreeMap<u32, usize>,
    by_name: BTreeMap<String, usize>,
    /// Names that occur with two FIDE ids.
    ambiguous: BTreeSet<String>,
}

impl Field {
    /// Finds or adds a player. Returns the index.
    fn person(&mut self, name: &str, facts: Option<&PlayerFacts>) -> usize {
        let key = name_key(name);
        let id = facts.and_then(|facts| facts.fide_id);
        let by_id = id.and_then(|id| self.by_id.get(&id)).copied();
        let by_name = self.by_name.get(&key).copied();
        // Another id makes another player of the same name.
        let same_name = by_name.filter(|index| {
            let known = self.people.get(*index).and_then(|person| person.facts.fide_id);
            !self.ambiguous.contains(&key) && (id.is_none() || known.is_none() || known == id)
        });
        let index = by_id.or(same_name).unwrap_or_else(|| {
            if by_name.is_some() {
                self.ambiguous.insert(key.clone());
            }
            self.people.push(Person {
                name: name.to_owned(),
                facts: facts.cloned().unwrap_or_default(),
                half_points: 0,
                byes: Vec::new(),
            });
            self.people.len() - 1
        });
        self.by_name.entry(key).or_insert(index);
        if let Some(id) = id {
            self.by_id.entry(id).or_insert(index);
        }
        index
    }

    fn pairing(&mut self, round: u32, pairing: &Pairing, slot: Option<&Slot<'_>>) -> Option<Meeting> {
        if let Some(slot) = slot.filter(|_| pairing.is_played()) {
            return self.slot(slot);
        }
        let indexes = [&pairing.white, &pairing.black].map(|player| {
            let player = player.as_ref()?;
            Some(self.person(&player.name, Some(&player.facts)))
        });
        // [`byes`](Self::byes) adds players without an opponent.
        let [Some(white), Some(black)] = indexes else {
            return None;
        };
        Some(Meeting {
            round,
            table: None,
            white,
            black,
            result: pairing.result.filter(|result| *result != GameResult::Unknown),
        })
    }

    /// Adds the players without an opponent in a round. The entry of an arbiter replaces the points in the file.
    fn byes(&mut self, round: u32, tournament: &Tournament, byes: &Byes) {
        for (player, in_file, is_listed) in tournament.without_opponent(round) {
            let entered = byes.get(round, &player.name).map(|(points, _)| points);
            if is_listed || entered.is_some() {
                let index = self.person(&player.name, Some(&player.facts));
                if let Some(person) = self.people.get_mut(index) {
                    person.byes.push((round, entered.or(in_file)));
                }
            }
        }
    }

    fn slot(&mut self, slot: &Slot<'_>) -> Option<Meeting> {
        let players = slot.players()?;
        let (white, black) = (players.name(Color::White)?, players.name(Color::Black)?);
        let result = slot.result();
        Some(Meeting {
            round: slot.round,
            table: Some(slot.table),
            white: self.person(white, players.facts(Color::White)),
            black: self.person(black, players.facts(Color::Black)),
            result: Some(result).filter(|result| *result != GameResult::Unknown),
        })
    }

    /// Whether each player meets each other player, and all equally often.
    fn is_round_robin(&self, schedule: &[Meeting]) -> bool {
        let count = self.people.len();
        if !(3..=MAX_CROSSTABLE).contains(&count) {
            return false;
        }
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for meeting in schedule {
            let pair = (meeting.white.min(meeting.black), meeting.white.max(meeting.black));
            *pairs.entry(pair).or_default() += 1;
        }
        let often: BTreeSet<usize> = pairs.values().copied().collect();
        pairs.len() == count * (count - 1) / 2 && often.len() == 1
    }

    fn rows(self, played: &[Meeting], last: u32) -> Vec<PlayerRow> {
        let byes = |person: &Person| -> u32 {
            let until = person.byes.iter().filter(|(round, _)| *round <= last);
            until.filter_map(|(_, bye)| *bye).map(Bye::half_points).sum()
        };
        let people = self.people.iter();
        let mut totals: Vec<u32> = people.map(|person| person.half_points + byes(person)).collect();
        for meeting in played {
            let (white, black) = half_points(meeting.result.unwrap_or(GameResult::Unknown));
            for (index, points) in [(meeting.white, white), (meeting.black, black)] {
                if let Some(total) = totals.get_mut(index) {
                    *total += points;
                }
            }
        }
        let total = |index: usize| totals.get(index).copied().unwrap_or_default();
        let mut order: Vec<(usize, &Person)> = self.people.iter().enumerate().collect();
        order.sort_by(|(one, first), (other, second)| {
            let by_points = total(*other).cmp(&total(*one));
            let by_rating = second.facts.rating.cmp(&first.facts.rating);
            by_points
                .then(by_rating)
                .then_with(|| first.name.cmp(&second.name))
        });
        let place: BTreeMap<usize, usize> = order
            .iter()
            .enumerate()
            .map(|(place, (index, _))| (*index, place))
            .collect();
        let ranks = ranks(order.iter().map(|(index, _)| total(*index)));
        let mut rows: Vec<PlayerRow> = { order.iter().zip(ranks) }
            .map(|((index, person), rank)| PlayerRow {
                rank,
                name: person.name.clone(),
                title: person.facts.title.clone(),
                rating: person.facts.rating,
                federation: person.facts.federation.clone(),
                team: person.facts.team.clone(),
                points: points(total(*index)),
                half_points: total(*index),
                games: 0,
                results: { person.byes.iter() }
                    .filter(|(round, _)| *round <= last)
                    .map(|(round, bye)| RoundResult {
                        round: *round,
                        table: None,
                        opponent: None,
                        color: "white",
                        score: bye.map(|bye| points(bye.half_points())),
                    })
                    .collect(),
            })
            .collect();
        for meeting in played {
            let scores = meeting.result.map(half_points);
            let sides = [
                (
                    meeting.white,
                    meeting.black,
                    "white",
                    scores.map(|(white, _)| white),
                ),
                (
                    meeting.black,
                    meeting.white,
                    "black",
                    scores.map(|(_, black)| black),
                ),
            ];
            for (own, opponent, color, score) in sides {
                let row = place.get(&own).and_then(|place| rows.get_mut(*place));
                if let Some(row) = row {
                    row.games += usize::from(score.is_some());
                    row.results.push(RoundResult {
                        round: meeting.round,
                        table: meeting.table,
                        opponent: place.get(&opponent).copied(),
                        color,
                        score: score.map(points),
                    });
                }
            }
        }
        for row in &mut rows {
            row.results.sort_by_key(|result| result.round);
        }
        rows
    }

    /// The teams with their match and board points. Empty if a team plays several others in a round, as clubs do whose
    /// players play for themselves.
    fn teams(&self, played: &[Meeting]) -> Vec<TeamRow> {
        let team = |index: usize| self.people.get(index)?.facts.team.as_deref();
        let mut matches: BTreeMap<(u32, [&str; 2]), TeamMatch> = BTreeMap::new();
        for meeting in played {
            let (Some(white), Some(black)) = (team(meeting.white), team(meeting.black)) else {
                continue;
            };
            if white == black {
                return Vec::new();
            }
            let is_turned = black < white;
            let teams = if is_turned { [black, white] } else { [white, black] };
            let of_both = matches.entry((meeting.round, teams)).or_default();
            let (white, black) = half_points(meeting.result.unwrap_or(GameResult::Unknown));
            let (first, second) = if is_turned { (black, white) } else { (white, black) };
            of_both.half_points[0] += first;
            of_both.half_points[1] += second;
            of_both.games += 1;
            of_both.open += usize::from(meeting.result.is_none());
        }
        let mut in_round = BTreeSet::new();
        let plays_twice = !{ matches.keys() }.all(|(round, [one, other])| {
            let first = in_round.insert((round, one));
            in_round.insert((round, other)) && first
        });
        if plays_twice || matches.values().all(|of_both| of_both.games < 2) {
            return Vec::new();
        }
        let mut teams: BTreeMap<&str, (u32, u32, usize)> = BTreeMap::new();
        for ((_, names), of_both) in &matches {
            let [first, second] = of_both.half_points;
            for (name, own, others) in [(names[0], first, second), (names[1], second, first)] {
                let (match_points, half_points, over) = teams.entry(name).or_default();
                *half_points += own;
                if of_both.open == 0 {
                    *match_points += match own.cmp(&others) {
                        core::cmp::Ordering::Greater => 2,
                        core::cmp::Ordering::Equal => 1,
                        core::cmp::Ordering::Less => 0,
                    };
                    *over += 1;
                }
            }
        }
        let mut order: Vec<_> = teams.into_iter().collect();
        order.sort_by(|(first, one), (second, other)| {
            (other.0, other.1).cmp(&(one.0, one.1)).then(first.cmp(second))
        });
        let ranks = ranks(
            order
                .iter()
                .map(|(_, (match_points, half, _))| (*match_points, *half)),
        );
        { order.into_iter().zip(ranks) }
            .map(|((name, (match_points, half, matches)), rank)| TeamRow {
                rank,
                name: name.to_owned(),
                match_points,
                board_points: points(half),
                half_points: half,
                matches,
            })
            .collect()
    }
}

#[derive(Debug, Default)]
struct TeamMatch {
    half_points: [u32; 2],
    games: usize,
    open: usize,
}

/// The rank of each score in a list that is sorted from the best to the worst. Equal scores share a rank.
fn ranks<S: PartialEq>(scores: impl Iterator<Item = S>) -> Vec<usize> {
    let mut ranks: Vec<usize> = Vec::new();
    let mut before: Option<S> = None;
    for (number, score) in (1..).zip(scores) {
        let shared = ranks.last().copied().filter(|_| before.as_ref() == Some(&score));
        ranks.push(shared.unwrap_or(number));
        before = Some(score);
    }
    ranks
}

/// Points from half points.
pub(super) fn points(half_points: u32) -> f32 {
    // No event has so many points that they are inexact.
    f32::from(u16::try_from(half_points).unwrap_or(u16::MAX)) / 2.0
}
