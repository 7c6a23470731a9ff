//! Tie-breaks of FIDE's Handbook, C.07, in the edition of 2024.
//!
//! A [`ScoreTable`] has all rounds of every player, including those without a game. Unplayed rounds follow Article 16:
//! the player's own unplayed round counts as a game against a virtual opponent with the player's own points, and for
//! the opponents of a player who has left, the rounds since then count as draws. In a round robin, forfeited games
//! count against the scheduled opponent.

use core::cmp::Reverse;
use core::fmt;
use core::str::FromStr;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};
use thiserror::Error;

/// A criterion that ranks players or teams with equal points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieBreak {
    /// Points in the games among the players who are still tied.
    DirectEncounter,
    /// Number of rounds with a full point, played or not.
    Wins,
    /// Sum over the opponents: the opponent's points times the player's result against that opponent.
    SonnebornBerger,
    /// Points against opponents who have at least half of their possible points.
    Koya,
    /// Buchholz without the lowest contribution.
    BuchholzCut1,
    /// Points of all opponents.
    Buchholz,
    /// Sum of the player's points after each round.
    Progressive,
    /// Teams: two points for each match won, one for each drawn.
    MatchPoints,
    /// Teams: points of all games.
    GamePoints,
}

/// A text that does not name a tie-break.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a tie-break; expected some of {}", names())]
pub struct UnknownTieBreak {
    /// The text.
    pub text: String,
}

impl TieBreak {
    /// All tie-breaks.
    pub const ALL: &[Self] = &[
        Self::DirectEncounter,
        Self::Wins,
        Self::SonnebornBerger,
        Self::Koya,
        Self::BuchholzCut1,
        Self::Buchholz,
        Self::Progressive,
        Self::MatchPoints,
        Self::GamePoints,
    ];
    /// Default for players of a round robin.
    pub const ROUND_ROBIN: &[Self] = &[
        Self::DirectEncounter,
        Self::Wins,
        Self::SonnebornBerger,
        Self::Koya,
    ];
    /// Default for players of other events.
    pub const SWISS: &[Self] = &[
        Self::BuchholzCut1,
        Self::Buchholz,
        Self::SonnebornBerger,
        Self::Progressive,
        Self::DirectEncounter,
    ];
    /// Default for teams.
    pub const TEAMS: &[Self] = &[Self::MatchPoints, Self::GamePoints];

    /// Returns the name in the configuration and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DirectEncounter => "direct_encounter",
            Self::Wins => "wins",
            Self::SonnebornBerger => "sonneborn_berger",
            Self::Koya => "koya",
            Self::BuchholzCut1 => "buchholz_cut_1",
            Self::Buchholz => "buchholz",
            Self::Progressive => "progressive",
            Self::MatchPoints => "match_points",
            Self::GamePoints => "game_points",
        }
    }

    /// Returns whether the tie-break ranks teams instead of players.
    #[must_use]
    pub const fn is_of_teams(self) -> bool {
        matches!(self, Self::MatchPoints | Self::GamePoints)
    }
}

fn names() -> String {
    let names: Vec<&str> = TieBreak::ALL.iter().map(|known| known.as_str()).collect();
    names.join(", ")
}

impl FromStr for TieBreak {
    type Err = UnknownTieBreak;

    fn from_str(text: &str) -> Result<Self, UnknownTieBreak> {
        let found = Self::ALL.iter().find(|known| known.as_str() == text);
        found.copied().ok_or_else(|| UnknownTieBreak {
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for TieBreak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for TieBreak {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A player's round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlayerRound {
    pub(crate) round: u32,
    /// Index of the scheduled opponent; `None` if there is none.
    pub(crate) opponent: Option<usize>,
    /// Twice the points that the player got.
    pub(crate) half_points: u32,
    pub(crate) kind: RoundKind,
}

/// How a player's round was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoundKind {
    /// The game has no result yet.
    Open,
    Played,
    /// The game was decided without play.
    Forfeit,
    /// No opponent, but not at the player's request: a pairing-allocated bye, or a bye with a full point.
    Allocated,
    /// No opponent at the player's request: a bye with half a point or none, or an absence.
    Requested,
}

/// The rounds of all players. Each player has an entry for every round, in order.
#[derive(Debug)]
pub(crate) struct ScoreTable {
    players: Vec<Vec<PlayerRound>>,
    is_round_robin: bool,
}

/// The ranking of a [`ScoreTable`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ranking {
    /// Players from the best to the worst, in groups that share a rank.
    pub(crate) groups: Vec<Vec<usize>>,
    /// Four times the values of each player's tie-breaks. A direct encounter has no value unless the player was tied.
    pub(crate) quarters: Vec<Vec<Option<u32>>>,
}

/// Part of a sum over rounds, such as Buchholz.
#[derive(Debug, Clone, Copy)]
struct Contribution {
    /// Twice the points of the opponent.
    opponent: u32,
    quarters: u32,
    /// Whether the player chose not to play: a requested bye, or a forfeit that the player lost.
    is_voluntary: bool,
}

/// Points of a win, in half points.
const WIN: u32 = 2;
/// Scale of the average of several games against one opponent. It is exact for up to four games.
const AVERAGED: u32 = 12;

impl PlayerRound {
    const fn is_voluntary(&self) -> bool {
        match self.kind {
            RoundKind::Requested => true,
            RoundKind::Forfeit => self.half_points < WIN,
            RoundKind::Open | RoundKind::Played | RoundKind::Allocated => false,
        }
    }
}

impl ScoreTable {
    /// Creates the table from the known rounds of each player, up to the round `last`. A player without an entry for a
    /// round was absent.
    pub(crate) fn new(players: Vec<Vec<PlayerRound>>, last: u32, is_round_robin: bool) -> Self {
        let complete = |mut rounds: Vec<PlayerRound>| {
            for round in 1..=last {
                if !rounds.iter().any(|known| known.round == round) {
                    rounds.push(PlayerRound {
                        round,
                        opponent: None,
                        half_points: 0,
                        kind: RoundKind::Requested,
                    });
                }
            }
            rounds.sort_by_key(|known| known.round);
            rounds
        };
        Self {
            players: players.into_iter().map(complete).collect(),
            is_round_robin,
        }
    }

    /// Returns twice the points of a player.
    pub(crate) fn half_points(&self, player: usize) -> u32 {
        self.rounds(player).iter().map(|round| round.half_points).sum()
    }

    /// Ranks all players by points, and then by each tie-break in turn.
    pub(crate) fn rank(&self, tie_breaks: &[TieBreak]) -> Ranking {
        let everybody: Vec<usize> = (0..self.players.len()).collect();
        let mut groups = split(everybody, |player| self.half_points(player));
        let mut quarters: Vec<Vec<Option<u32>>> = vec![Vec::new(); self.players.len()];
        let mut add_value = |player: usize, value| {
            if let Some(values) = quarters.get_mut(player) {
                values.push(value);
            }
        };
        for tie_break in tie_breaks {
            let mut refined = Vec::new();
            for group in groups {
                if *tie_break == TieBreak::DirectEncounter {
                    let members: BTreeSet<usize> = group.iter().copied().collect();
                    for player in &group {
                        let games = self.games_among(*player, &members);
                        let points: u32 = games.values().map(|(points, _)| 2 * points).sum();
                        add_value(*player, (group.len() > 1).then_some(points));
                    }
                    refined.extend(self.split_by_encounters(group));
                } else {
                    for player in &group {
                        add_value(*player, Some(self.value(*player, *tie_break)));
                    }
                    refined.extend(split(group, |player| self.value(player, *tie_break)));
                }
            }
            groups = refined;
        }
        Ranking { groups, quarters }
    }

    fn rounds(&self, player: usize) -> &[PlayerRound] {
        self.players.get(player).map_or(&[], Vec::as_slice)
    }

    /// Whether a round counts as a game against the scheduled opponent.
    fn counts(&self, round: &PlayerRound) -> bool {
        match round.kind {
            RoundKind::Played => true,
            RoundKind::Forfeit => self.is_round_robin,
            RoundKind::Open | RoundKind::Allocated | RoundKind::Requested => false,
        }
    }

    /// Returns four times the value of a tie-break that does not depend on the other tied players.
    fn value(&self, player: usize, tie_break: TieBreak) -> u32 {
        let rounds = self.rounds(player);
        match tie_break {
            TieBreak::Wins => {
                let wins = rounds.iter().filter(|round| round.half_points == WIN);
                wins.map(|_| 4).sum()
            }
            TieBreak::Koya => self.koya(player),
            TieBreak::Progressive => {
                let mut sum = 0;
                let after_each = rounds.iter().map(|round| {
                    sum += round.half_points;
                    2 * sum
                });
                after_each.sum()
            }
            TieBreak::Buchholz => total(&self.contributions(player, |_| 2)),
            TieBreak::BuchholzCut1 => {
                let contributions = self.contributions(player, |_| 2);
                total(&contributions) - contribution_to_cut(&contributions)
            }
            TieBreak::SonnebornBerger => total(&self.contributions(player, |round| round.half_points)),
            TieBreak::DirectEncounter | TieBreak::MatchPoints | TieBreak::GamePoints => 0,
        }
    }

    /// Returns each round's contribution to a sum of the opponents' points. `factor` returns the weight of a round, in
    /// half points.
    fn contributions(&self, player: usize, factor: impl Fn(&PlayerRound) -> u32) -> Vec<Contribution> {
        let own = self.half_points(player);
        let of_round = |round: &PlayerRound| {
            let opponent = round.opponent.filter(|_| self.counts(round));
            let (points, is_voluntary) = match opponent {
                Some(opponent) => (self.adjusted_half_points(opponent), false),
                None if round.kind == RoundKind::Open || self.is_round_robin => return None,
                None => (own, round.is_voluntary()),
            };
            Some(Contribution {
                opponent: points,
                quarters: points * factor(round),
                is_voluntary,
            })
        };
        self.rounds(player).iter().filter_map(of_round).collect()
    }

    /// Returns twice the points of a player, as used for the tie-breaks of the opponents: a requested bye counts as a
    /// draw if the player was not available in any later round.
    fn adjusted_half_points(&self, player: usize) -> u32 {
        let rounds = self.rounds(player);
        if self.is_round_robin {
            return self.half_points(player);
        }
        let mut is_available_later = false;
        let mut sum = 0;
        for round in rounds.iter().rev() {
            let is_draw = round.kind == RoundKind::Requested && !is_available_later;
            sum += if is_draw { 1 } else { round.half_points };
            is_available_later |= !round.is_voluntary();
        }
        sum
    }

    fn koya(&self, player: usize) -> u32 {
        let reaches_half = |opponent: usize| {
            let rounds = self.rounds(opponent).iter();
            // Half of the points of a game is one half point.
            let games = rounds.filter(|round| round.opponent.is_some() && round.kind != RoundKind::Open);
            usize::try_from(self.half_points(opponent)).is_ok_and(|points| points >= games.count())
        };
        let rounds = self.rounds(player).iter();
        let counted = rounds.filter(|round| round.opponent.is_some_and(reaches_half));
        counted.map(|round| 2 * round.half_points).sum()
    }

    /// Returns, for each opponent of a player in a group, twice the player's points and the number of games. Includes
    /// only games that count.
    fn games_among(&self, player: usize, group: &BTreeSet<usize>) -> BTreeMap<usize, (u32, u32)> {
        let mut games: BTreeMap<usize, (u32, u32)> = BTreeMap::new();
        for round in self.rounds(player).iter().filter(|round| self.counts(round)) {
            let opponent = round.opponent.filter(|opponent| *opponent != player);
            if let Some(opponent) = opponent.filter(|opponent| group.contains(opponent)) {
                let (points, count) = games.entry(opponent).or_default();
                *points += round.half_points;
                *count += 1;
            }
        }
        games
    }

    /// Splits a group of tied players by their games among each other. Players who meet several times count the average
    /// of these games. If not all have met, only a player who would lead whatever the missing results is ranked first;
    /// the others are then compared among themselves.
    fn split_by_encounters(&self, group: Vec<usize>) -> Vec<Vec<usize>> {
        let mut done = Vec::new();
        // The best group comes last.
        let mut open = vec![group];
        while let Some(group) = open.pop() {
            let parts = self.split_by_encounters_once(&group);
            if parts.len() == 1 {
                done.push(group);
            } else {
                open.extend(parts.into_iter().rev());
            }
        }
        done
    }

    /// Splits a group once by the games among its players.
    fn split_by_encounters_once(&self, group: &[usize]) -> Vec<Vec<usize>> {
        let members: BTreeSet<usize> = group.iter().copied().collect();
        let others = members.len().saturating_sub(1);
        let mut scores: BTreeMap<usize, u32> = BTreeMap::new();
        // The score of each player if all missing games were won.
        let mut possible: Vec<(u32, usize)> = Vec::new();
        let mut have_all_met = true;
        for player in &members {
            let games = self.games_among(*player, &members);
            let averages = games.values().map(|(points, count)| points * AVERAGED / count);
            let score: u32 = averages.sum();
            let missing = others - games.len();
            have_all_met &= missing == 0;
            let missing = u32::try_from(missing).unwrap_or(u32::MAX);
            scores.insert(*player, score);
            possible.push((
                score.saturating_add(missing.saturating_mul(WIN * AVERAGED)),
                *player,
            ));
        }
        let score = |player: usize| scores.get(&player).copied().unwrap_or_default();
        if have_all_met {
            return split(group.to_vec(), score);
        }
        possible.sort_unstable_by_key(|(points, _)| Reverse(*points));
        let is_first = |player: &usize| {
            let best = possible.iter().find(|(_, other)| other != player);
            best.is_none_or(|(points, _)| *points < score(*player))
        };
        let best = members.iter().copied().max_by_key(|player| score(*player));
        match best.filter(is_first) {
            Some(first) => {
                let rest = group.iter().copied().filter(|player| *player != first);
                vec![vec![first], rest.collect()]
            }
            None => vec![group.to_vec()],
        }
    }
}

fn total(contributions: &[Contribution]) -> u32 {
    contributions.iter().map(|part| part.quarters).sum()
}

/// Returns the contribution that Buchholz Cut 1 omits: the lowest one of the rounds that the player chose not to play
/// or, without such rounds, the lowest of all.
fn contribution_to_cut(contributions: &[Contribution]) -> u32 {
    let lowest = |voluntary: bool| {
        let parts = contributions
            .iter()
            .filter(move |part| part.is_voluntary || !voluntary);
        parts.map(|part| (part.opponent, part.quarters)).min()
    };
    lowest(true)
        .or_else(|| lowest(false))
        .map_or(0, |(_, quarters)| quarters)
}

/// Splits players into groups of equal values, the highest value first.
fn split(players: Vec<usize>, value: impl Fn(usize) -> u32) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<Reverse<u32>, Vec<usize>> = BTreeMap::new();
    for player in players {
        groups.entry(Reverse(value(player))).or_default().push(player);
    }
    groups.into_values().collect()
}

#[cfg(test)]
mod tests;
