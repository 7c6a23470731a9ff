//! The standings of the event (`standings.json`): points and tie-breaks of all players and teams so far.
//!
//! If every round is known game by game, the points are those of the games and byes, and tie-breaks can be computed.
//! Otherwise the points are those carried over from a pairing file, plus the results of all rounds, and there are no
//! tie-breaks. Players with equal values share a rank.

mod players;

use core::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kiebitz_game::events::{EndReason, GameResult, PlayerFacts};
use serde::Serialize;
use shakmaty::Color;

use super::Broadcast;
use super::rounds::Slot;
use crate::outputs::report;
use crate::tournament::tie_breaks::{PlayerRound, Ranking, RoundKind, ScoreTable};
use crate::tournament::{Byes, Pairing, TieBreak, Tournament, UnplayedRound, half_points, name_key};

pub(super) use players::players;

/// Most players of a round robin that is shown as a crosstable.
const MAX_CROSSTABLE: usize = 16;

/// Maximum product of players and rounds for which tie-breaks are computed. No real event has more.
const MAX_ENTRIES: usize = 500_000;

/// `standings.json`.
#[derive(Debug, Serialize)]
pub(super) struct Standings {
    /// The last round that has a game or a result.
    round: u32,
    /// Number of games up to this round that have no result yet.
    open: usize,
    /// Whether every player meets every other player equally often.
    crosstable: bool,
    /// Whether every round is known game by game, as tie-breaks require.
    rounds_known: bool,
    /// Tie-breaks of the players, in order of precedence. Empty if there are none, or if the rounds are not known.
    pub(super) tie_breaks: Vec<TieBreak>,
    players: Vec<PlayerRow>,
    /// Empty if teams do not play each other.
    teams: Vec<TeamRow>,
}

#[derive(Debug, Serialize)]
struct PlayerRow {
    /// Index in the [field](Field).
    #[serde(skip)]
    person: usize,
    rank: usize,
    name: String,
    title: Option<String>,
    rating: Option<u16>,
    federation: Option<String>,
    team: Option<String>,
    points: f32,
    #[serde(skip)]
    half_points: u32,
    /// Values of the tie-breaks, in their order; `None` for a direct encounter of a player who was not tied.
    tie_breaks: Vec<Option<f32>>,
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

/// Makes the standings. Returns `None` before the first game or result, without pairings, or if an earlier round is
/// missing. `configured` are the tie-breaks of the configuration; `None` for the defaults of the kind of event.
pub(super) fn standings(
    tournament: &Tournament,
    rounds: &BTreeMap<u32, Vec<Slot<'_>>>,
    byes: &Byes,
    configured: Option<&[TieBreak]>,
) -> Option<Standings> {
    let is_begun = |slot: &Slot<'_>| slot.game.is_some() || slot.result() != GameResult::Unknown;
    let last_begun = rounds.iter().filter(|(_, slots)| slots.iter().any(is_begun));
    let last_begun = last_begun.map(|(round, _)| *round).max();
    let rounds_with_results = tournament.rounds.iter().filter(|(_, round)| {
        // Byes may have been granted for rounds to come.
        let mut pairings = round.pairings.iter().filter(|pairing| pairing.is_played());
        pairings.any(|pairing| pairing.result.is_some_and(|result| result != GameResult::Unknown))
    });
    let last = last_begun.max(rounds_with_results.map(|(round, _)| *round).max())?;
    let is_known = |round: u32| tournament.rounds.contains_key(&round);
    if tournament.rounds.is_empty() || (tournament.carried.is_empty() && !(1..=last).all(is_known)) {
        return None;
    }
    let (field, schedule) = field(tournament, rounds, byes);
    let is_round_robin = field.is_round_robin(&schedule);
    let played: Vec<Meeting> = schedule
        .into_iter()
        .filter(|meeting| meeting.round <= last)
        .collect();
    let is_small = usize::try_from(last).is_ok_and(|last| field.people.len() <= MAX_ENTRIES / last.max(1));
    let rounds_known = is_small && (1..=last).all(is_known) && field.explains_points(last, is_round_robin);
    let tie_breaks = match configured {
        _ if !rounds_known => Vec::new(),
        Some([]) => Vec::new(),
        Some(chosen) if !chosen.iter().all(|of| of.is_of_teams()) => { chosen.iter().copied() }
            .filter(|of| !of.is_of_teams())
            .collect(),
        _ if is_round_robin => TieBreak::ROUND_ROBIN.to_vec(),
        _ => TieBreak::SWISS.to_vec(),
    };
    let ranked = if rounds_known {
        let table = ScoreTable::new(field.rounds(&played, last), last, is_round_robin);
        Ranked {
            totals: (0..field.people.len())
                .map(|player| table.half_points(player))
                .collect(),
            ranking: table.rank(&tie_breaks),
        }
    } else {
        field.by_points(&played, last)
    };
    Some(Standings {
        round: last,
        open: played.iter().filter(|meeting| meeting.result.is_none()).count(),
        crosstable: is_round_robin && field.people.len() <= MAX_CROSSTABLE,
        rounds_known,
        tie_breaks,
        teams: field.teams(&played, configured.unwrap_or_default()),
        players: field.rows(&played, last, &ranked),
    })
}

/// Collects all players, and the games of all rounds. The same input gives the players the same indexes.
fn field(
    tournament: &Tournament,
    rounds: &BTreeMap<u32, Vec<Slot<'_>>>,
    byes: &Byes,
) -> (Field, Vec<Meeting>) {
    let mut field = Field::default();
    for carried in &tournament.carried {
        let player = field.person(&carried.player.name, Some(&carried.player.facts));
        if let Some(person) = field.people.get_mut(player) {
            *person.carried.get_or_insert_default() += carried.half_points;
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
    let unpaired = rounds.values().flatten().filter(|slot| slot.pairing.is_none());
    // A pairing counts once, even if two halls have played at its table.
    for slot in unpaired.filter(|slot| !tournament.is_contested(slot.table)) {
        schedule.extend(field.slot(slot));
    }
    for round in tournament.rounds.keys() {
        field.byes(*round, tournament, byes);
    }
    (field, schedule)
}

/// Points and ranking of all players.
struct Ranked {
    /// Twice the points of each player.
    totals: Vec<u32>,
    ranking: Ranking,
}

impl Broadcast {
    /// The standings for the arbiter's report; `None` if they are unknown.
    pub(crate) fn standings_for_report(&self) -> Option<report::Standings> {
        let standings = standings(
            self.tournament(),
            &self.rounds(),
            &self.byes,
            self.facts.tie_breaks.as_deref(),
        )?;
        let players = standings.players.into_iter().map(|row| report::PlayerStanding {
            rank: row.rank,
            name: row.name,
            title: row.title,
            rating: row.rating,
            half_points: row.half_points,
            tie_breaks: row.tie_breaks,
            games: row.games,
        });
        let teams = standings.teams.into_iter().map(|row| report::TeamStanding {
            rank: row.rank,
            name: row.name,
            match_points: row.match_points,
            half_points: row.half_points,
        });
        Some(report::Standings {
            round: standings.round,
            open: standings.open,
            rounds_known: standings.rounds_known,
            tie_breaks: standings.tie_breaks,
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
    /// Whether the result was decided without play.
    is_forfeit: bool,
    is_live: bool,
}

#[derive(Debug)]
struct Person {
    name: String,
    facts: PlayerFacts,
    /// Twice the points that no game or bye of the pairings accounts for; `None` if no file has points of the player.
    carried: Option<u32>,
    /// Rounds in which the player had no opponent. The reason, if known, determines the points.
    byes: Vec<(u32, Option<UnplayedRound>)>,
}

/// All players, indexed by FIDE id and by name.
#[derive(Debug, Default)]
struct Field {
    people: Vec<Person>,
    by_id: BTreeMap<u32, usize>,
    by_name: BTreeMap<String, usize>,
    /// Names that occur with several FIDE ids.
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
                carried: None,
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
            is_forfeit: pairing.unplayed.is_some(),
            is_live: false,
        })
    }

    /// Adds the players without an opponent in a round. An arbiter's entry replaces the points in the file.
    fn byes(&mut self, round: u32, tournament: &Tournament, byes: &Byes) {
        for without in tournament.without_opponent(round) {
            let entered = byes.get(round, &without.player.name).map(|(points, _)| points);
            let in_file = without.reason;
            if without.is_listed || entered.is_some() {
                let index = self.person(&without.player.name, Some(&without.player.facts));
                let reason = entered.map_or(in_file, |points| {
                    let same = in_file.filter(|reason| reason.half_points() == points.half_points());
                    Some(same.unwrap_or_else(|| UnplayedRound::of_points(points)))
                });
                if let Some(person) = self.people.get_mut(index) {
                    person.byes.push((round, reason));
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
            is_forfeit: is_forfeit(slot),
            is_live: slot.is_live(),
        })
    }

    /// Whether games and byes up to the round `last` account for all points. If not, some round is not known game by
    /// game. In a round robin, a player without an opponent gets no points.
    fn explains_points(&self, last: u32, is_round_robin: bool) -> bool {
        self.people.iter().all(|person| {
            let mut byes = person.byes.iter().filter(|(round, _)| *round <= last);
            let is_explained = person.carried.is_none_or(|carried| carried == 0);
            is_explained && (is_round_robin || byes.all(|(_, bye)| bye.is_some()))
        })
    }

    /// Returns the rounds of each player, up to the round `last`.
    fn rounds(&self, played: &[Meeting], last: u32) -> Vec<Vec<PlayerRound>> {
        let byes = |person: &Person| -> Vec<PlayerRound> {
            let byes = person.byes.iter().filter(|(round, _)| *round <= last);
            byes.map(|(round, bye)| PlayerRound {
                round: *round,
                opponent: None,
                half_points: bye.map_or(0, UnplayedRound::half_points),
                kind: match bye {
                    Some(UnplayedRound::HalfPointBye | UnplayedRound::ZeroPointBye) => RoundKind::Requested,
                    Some(
                        UnplayedRound::Forfeit | UnplayedRound::AllocatedBye | UnplayedRound::FullPointBye,
                    )
                    | None => RoundKind::Allocated,
                },
            })
            .collect()
        };
        let mut rounds: Vec<Vec<PlayerRound>> = self.people.iter().map(byes).collect();
        for meeting in played {
            let (white, black) = half_points(meeting.result.unwrap_or(GameResult::Unknown));
            let kind = match (meeting.result, meeting.is_forfeit) {
                (None, _) => RoundKind::Open,
                (Some(_), true) => RoundKind::Forfeit,
                (Some(_), false) => RoundKind::Played,
            };
            let sides = [
                (meeting.white, meeting.black, white),
                (meeting.black, meeting.white, black),
            ];
            for (own, opponent, half_points) in sides {
                if let Some(own) = rounds.get_mut(own) {
                    own.push(PlayerRound {
                        round: meeting.round,
                        opponent: Some(opponent),
                        half_points,
                        kind,
                    });
                }
            }
        }
        rounds
    }

    /// Ranks by points alone: carried points, byes and results.
    fn by_points(&self, played: &[Meeting], last: u32) -> Ranked {
        let carried_and_byes = |person: &Person| {
            let byes = person.byes.iter().filter(|(round, _)| *round <= last);
            let of_byes: u32 = { byes }
                .filter_map(|(_, bye)| *bye)
                .map(UnplayedRound::half_points)
                .sum();
            person.carried.unwrap_or_default() + of_byes
        };
        let mut totals: Vec<u32> = self.people.iter().map(carried_and_byes).collect();
        for meeting in played {
            let (white, black) = half_points(meeting.result.unwrap_or(GameResult::Unknown));
            for (index, points) in [(meeting.white, white), (meeting.black, black)] {
                if let Some(total) = totals.get_mut(index) {
                    *total += points;
                }
            }
        }
        let mut groups: BTreeMap<Reverse<u32>, Vec<usize>> = BTreeMap::new();
        for (index, total) in totals.iter().enumerate() {
            groups.entry(Reverse(*total)).or_default().push(index);
        }
        Ranked {
            ranking: Ranking {
                groups: groups.into_values().collect(),
                quarters: Vec::new(),
            },
            totals,
        }
    }

    /// Whether each player meets each other player, and all equally often.
    fn is_round_robin(&self, schedule: &[Meeting]) -> bool {
        let count = self.people.len();
        if count < 3 {
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

    fn rows(&self, played: &[Meeting], last: u32, ranked: &Ranked) -> Vec<PlayerRow> {
        let total = |index: usize| ranked.totals.get(index).copied().unwrap_or_default();
        let mut order: Vec<(usize, usize, &Person)> = Vec::new();
        for group in &ranked.ranking.groups {
            let rank = order.len() + 1;
            let people = group
                .iter()
                .filter_map(|index| Some((*index, self.people.get(*index)?)));
            let mut people: Vec<(usize, &Person)> = people.collect();
            people.sort_by(|(_, first), (_, second)| {
                let by_rating = second.facts.rating.cmp(&first.facts.rating);
                by_rating.then_with(|| first.name.cmp(&second.name))
            });
            order.extend(people.into_iter().map(|(index, person)| (rank, index, person)));
        }
        let place: BTreeMap<usize, usize> = order
            .iter()
            .enumerate()
            .map(|(place, (_, index, _))| (*index, place))
            .collect();
        let values = |index: usize| ranked.ranking.quarters.get(index).map_or(&[][..], Vec::as_slice);
        let mut rows: Vec<PlayerRow> = { order.into_iter() }
            .map(|(rank, index, person)| PlayerRow {
                person: index,
                rank,
                name: person.name.clone(),
                title: person.facts.title.clone(),
                rating: person.facts.rating,
                federation: person.facts.federation.clone(),
                team: person.facts.team.clone(),
                points: points(total(index)),
                half_points: total(index),
                tie_breaks: { values(index).iter() }
                    .map(|value| value.map(quarters))
                    .collect(),
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
    fn teams(&self, played: &[Meeting], configured: &[TieBreak]) -> Vec<TeamRow> {
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
        let chosen: Vec<TieBreak> = { configured.iter().copied() }
            .filter(|of| of.is_of_teams())
            .collect();
        let criteria = if chosen.is_empty() {
            TieBreak::TEAMS
        } else {
            &chosen
        };
        let values = |(match_points, half_points, _): &(u32, u32, usize)| -> Vec<u32> {
            let value = |of: &TieBreak| match of {
                TieBreak::MatchPoints => *match_points,
                _ => *half_points,
            };
            criteria.iter().map(value).collect()
        };
        let mut order: Vec<_> = teams.into_iter().collect();
        order.sort_by(|(first, one), (second, other)| {
            values(other).cmp(&values(one)).then_with(|| first.cmp(second))
        });
        let ranks = ranks(order.iter().map(|(_, team)| values(team)));
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

/// Whether the game of a table was decided without play.
fn is_forfeit(slot: &Slot<'_>) -> bool {
    match (slot.game, slot.entered) {
        (Some(game), _) => game.record.reason == Some(EndReason::Default),
        (None, Some(entered)) => entered.reason == EndReason::Default,
        (None, None) => slot.pairing.is_some_and(|pairing| pairing.unplayed.is_some()),
    }
}

/// Converts the value of a tie-break from quarters.
fn quarters(quarters: u32) -> f32 {
    // No event has so many points that they are inexact.
    f32::from(u16::try_from(quarters).unwrap_or(u16::MAX)) / 4.0
}

/// Points from half points.
pub(super) fn points(half_points: u32) -> f32 {
    // No event has so many points that they are inexact.
    f32::from(u16::try_from(half_points).unwrap_or(u16::MAX)) / 2.0
}
