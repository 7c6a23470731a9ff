//! The standings of the event (`standings.json`): points of all players and teams so far.
//!
//! Players begin with the points that the pairing files carry over; the results of all rounds are added. Players with
//! equal points share a rank, because tie-breaks differ between events.

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::{GameResult, PlayerFacts};
use serde::Serialize;
use shakmaty::Color;

use super::Broadcast;
use super::rounds::Slot;
use crate::outputs::report;
use crate::tournament::{Pairing, Tournament, half_points, name_key};

/// Maximum number of players of a round robin that is shown as a crosstable.
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
    /// Number of games with a result.
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
    /// Two for a won match, one for a drawn match. A match counts once all its games are over.
    match_points: u32,
    board_points: f32,
    #[serde(skip)]
    half_points: u32,
    /// Number of matches that are over.
    matches: usize,
}

/// Makes the standings. Returns `None` before the first game or result, without pairings, or if an earlier round is
/// missing.
pub(super) fn standings(tournament: &Tournament, rounds: &BTreeMap<u32, Vec<Slot<'_>>>) -> Option<Standings> {
    let is_begun = |slot: &Slot<'_>| slot.game.is_some() || slot.result() != GameResult::Unknown;
    let last_begun = rounds.iter().filter(|(_, slots)| slots.iter().any(is_begun));
    let last_begun = last_begun.map(|(round, _)| *round).max();
    let rounds_with_results = tournament.rounds.iter().filter(|(_, round)| {
        // A bye has its points before the round begins.
        let mut pairings = round.pairings.iter().filter(|pairing| pairing.is_played());
        pairings.any(|pairing| pairing.result.is_some_and(|result| result != GameResult::Unknown))
    });
    let last = last_begun.max(rounds_with_results.map(|(round, _)| *round).max())?;
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
    field.has_carried = !tournament.carried.is_empty();
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
        let standings = standings(self.tournament(), &self.rounds())?;
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

/// A game between two players, planned or played.
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
    byes: Vec<Bye>,
}

/// A round in which a player has no opponent.
#[derive(Debug, Clone, Copy)]
struct Bye {
    round: u32,
    /// Twice the points; `None` if the files give none, or count them among the [`CarriedPoints`](crate::tournament::CarriedPoints).
    half_points: Option<u32>,
}

/// All players, indexed by FIDE id and by name.
#[derive(Debug, Default)]
struct Field {
    people: Vec<Person>,
    by_id: BTreeMap<u32, usize>,
    by_name: BTreeMap<String, usize>,
    /// Names that occur with several FIDE ids.
    ambiguous: BTreeSet<String>,
    /// Whether a file has the points of the players, with those of byes.
    has_carried: bool,
}

impl Field {
    /// Finds or adds a player. Returns the index in `people`.
    fn person(&mut self, name: &str, facts: Option<&PlayerFacts>) -> usize {
        let key = name_key(name);
        let id = facts.and_then(|facts| facts.fide_id);
        let by_id = id.and_then(|id| self.by_id.get(&id)).copied();
        let by_name = self.by_name.get(&key).copied();
        // The same name with another id is another player.
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
        let mut indexes = [&pairing.white, &pairing.black].map(|player| {
            let player = player.as_ref()?;
            Some(self.person(&player.name, Some(&player.facts)))
        });
        let [Some(white), Some(black)] = indexes else {
            let result =
                { pairing.result }.filter(|result| *result != GameResult::Unknown && !self.has_carried);
            let (of_white, of_black) = result.map(half_points).unzip();
            let sides = indexes.iter_mut().zip([of_white, of_black]);
            let (alone, half_points) =
                { sides }.find_map(|(index, half_points)| index.take().map(|index| (index, half_points)))?;
            self.people.get_mut(alone)?.byes.push(Bye { round, half_points });
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

    /// Whether each player meets each other player, all of them equally often.
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
        let frequencies: BTreeSet<usize> = pairs.values().copied().collect();
        pairs.len() == count * (count - 1) / 2 && frequencies.len() == 1
    }

    fn rows(self, played: &[Meeting], last: u32) -> Vec<PlayerRow> {
        let mut totals: Vec<u32> = { self.people.iter() }
            .map(|person| {
                let byes = person.byes.iter().filter(|bye| bye.round <= last);
                person.half_points + byes.filter_map(|bye| bye.half_points).sum::<u32>()
            })
            .collect();
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
        order.sort_by(|(index_a, a), (index_b, b)| {
            let by_points = total(*index_b).cmp(&total(*index_a));
            let by_rating = b.facts.rating.cmp(&a.facts.rating);
            by_points.then(by_rating).then_with(|| a.name.cmp(&b.name))
        });
        let row_index: BTreeMap<usize, usize> = order
            .iter()
            .enumerate()
            .map(|(row_index, (index, _))| (*index, row_index))
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
                    .filter(|bye| bye.round <= last)
                    .map(|bye| RoundResult {
                        round: bye.round,
                        table: None,
                        opponent: None,
                        color: "white",
                        score: bye.half_points.map(points),
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
                let row = row_index.get(&own).and_then(|row_index| rows.get_mut(*row_index));
                if let Some(row) = row {
                    row.games += usize::from(score.is_some());
                    row.results.push(RoundResult {
                        round: meeting.round,
                        table: meeting.table,
                        opponent: row_index.get(&opponent).copied(),
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

    /// Returns the teams with their match and board points. Empty if the teams are only clubs of individual players:
    /// then a team has several opponents in a round, plays against itself, or has a single game in every match.
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
            let swapped = black < white;
            let teams = if swapped { [black, white] } else { [white, black] };
            let team_match = matches.entry((meeting.round, teams)).or_default();
            let (white, black) = half_points(meeting.result.unwrap_or(GameResult::Unknown));
            let (first, second) = if swapped { (black, white) } else { (white, black) };
            team_match.half_points[0] += first;
            team_match.half_points[1] += second;
            team_match.games += 1;
            team_match.open += usize::from(meeting.result.is_none());
        }
        let mut in_round = BTreeSet::new();
        let plays_twice = !{ matches.keys() }.all(|(round, [one, other])| {
            let is_new = in_round.insert((round, one));
            in_round.insert((round, other)) && is_new
        });
        if plays_twice || matches.values().all(|team_match| team_match.games < 2) {
            return Vec::new();
        }
        let mut teams: BTreeMap<&str, (u32, u32, usize)> = BTreeMap::new();
        for ((_, names), team_match) in &matches {
            let [first, second] = team_match.half_points;
            for (name, own, others) in [(names[0], first, second), (names[1], second, first)] {
                let (match_points, half_points, over) = teams.entry(name).or_default();
                *half_points += own;
                if team_match.open == 0 {
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
        order.sort_by(|(name_a, totals_a), (name_b, totals_b)| {
            (totals_b.0, totals_b.1)
                .cmp(&(totals_a.0, totals_a.1))
                .then(name_a.cmp(name_b))
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

pub(super) fn points(half_points: u32) -> f32 {
    // An `f32` represents half of any `u16` exactly, and no event has more points.
    f32::from(u16::try_from(half_points).unwrap_or(u16::MAX)) / 2.0
}
