//! The files for the web page: the list of rounds (`wall.json`), a round with all its games (`round-N/wall.json`), and
//! the moves of a game (`round-N/board-M.json`). They contain all placements, so the page does not implement the rules
//! of chess.

use std::collections::BTreeSet;

use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::events::{EndReason, GameResult, Players, color};
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::Color;

use super::rounds::Slot;
use super::standings::points;
use super::tree::millis;
use crate::clock::ClockView;
use crate::outputs::pgn;
use crate::tournament::halls::HallView;
use crate::tournament::{TieBreak, half_points};

/// `wall.json`.
#[derive(Debug, Serialize)]
pub(super) struct Contents<'c> {
    pub(super) event: EventInfo<'c>,
    pub(super) rounds: Vec<RoundLine<'c>>,
    /// The round to show first.
    pub(super) current: Option<u32>,
    /// Version of `standings.json`; `None` without that file.
    pub(super) standings: Option<&'c str>,
    /// Version of `players.json`; `None` without that file.
    pub(super) players: Option<&'c str>,
    /// Tie-breaks of the players in the standings, in order of precedence.
    pub(super) tie_breaks: &'c [TieBreak],
    /// At a hub, the halls by which pages name tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) halls: Vec<HallView<'c>>,
}

#[derive(Debug, Serialize)]
pub(super) struct EventInfo<'c> {
    pub(super) name: Option<&'c str>,
    pub(super) site: Option<&'c str>,
    /// Delay of all moves, in milliseconds.
    pub(super) delay_ms: u64,
    /// Whether the daemon is replaying its recordings after a restart. The files then show an earlier state, and moves
    /// will follow.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(super) restarts: bool,
    /// Whether each game on a board has a page for link previews, `round-N/board-M.html`.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub(super) has_previews: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct RoundLine<'c> {
    pub(super) round: u32,
    pub(super) date: Option<&'c str>,
    /// The planned start, in milliseconds since 1970.
    pub(super) starts: Option<i64>,
    pub(super) games: usize,
    pub(super) live: usize,
    pub(super) over: bool,
}

/// The head of `round-N/wall.json`, followed by a [card](card) for each game. [`WrittenRound`](super::written) has both.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    pub(super) round: u32,
    pub(super) date: Option<String>,
    pub(super) time_control: Option<String>,
    /// The planned start, in milliseconds since 1970.
    pub(super) starts: Option<i64>,
    /// Team matches. The teams of a match are in the order of their first game.
    pub(super) matches: Vec<Match>,
}

#[derive(Debug, Serialize, PartialEq)]
pub(super) struct Match {
    pub(super) teams: [String; 2],
    /// Points of each team; a win counts 1.
    pub(super) points: [f32; 2],
    pub(super) games: usize,
    pub(super) live: usize,
}

/// A game in the overview of a round.
#[derive(Debug, Serialize)]
struct Card<'c> {
    table: u32,
    /// Whether a board has the game.
    has_board: bool,
    white: WallPlayer<'c>,
    black: WallPlayer<'c>,
    /// Placement of the pieces; `None` until the start position is drawn.
    placement: Option<&'c str>,
    last: Option<LastMove<'c>>,
    clock: Option<WallTimes>,
    live: bool,
    result: GameResult,
    reason: Option<EndReason>,
}

#[derive(Debug, Serialize)]
struct WallPlayer<'c> {
    name: Option<&'c str>,
    title: Option<&'c str>,
    rating: Option<u16>,
    federation: Option<&'c str>,
    team: Option<&'c str>,
}

#[derive(Debug, Serialize)]
struct LastMove<'c> {
    ply: u32,
    /// The move number, as on a score sheet.
    number: u32,
    #[serde(serialize_with = "color::serialize")]
    color: Color,
    san: Option<&'c str>,
    uci: Option<&'c str>,
}

#[derive(Debug, Serialize)]
struct WallTimes {
    white_ms: Option<u64>,
    black_ms: Option<u64>,
    #[serde(with = "color::option")]
    running: Option<Color>,
    /// Time of the clock reading, in milliseconds since 1970; `None` if the clock is stopped.
    as_of: Option<i64>,
}

/// `round-N/board-M.json`.
#[derive(Debug, Serialize)]
struct Moves<'m> {
    start: &'m str,
    moves: Vec<Ply<'m>>,
}

#[derive(Debug, Serialize)]
struct Ply<'m> {
    san: Option<&'m str>,
    uci: Option<&'m str>,
    placement: &'m str,
    /// The player's remaining time after the move, in milliseconds.
    left_ms: Option<u64>,
    /// The time taken for the move, in milliseconds.
    taken_ms: Option<u64>,
}

/// Returns the card of a game as JSON. `start` is the position to show before the game begins, as FEN; `None` until it
/// is drawn.
pub(super) fn card(slot: &Slot<'_>, start: Option<&str>, clock: Option<(ClockView, Timestamp)>) -> String {
    let players = slot.players();
    let record = slot.game.map(|game| &game.record);
    let position = record.map(position).or(start);
    let card = Card {
        table: slot.table,
        has_board: slot.game.is_some(),
        white: player(players.as_ref(), Color::White),
        black: player(players.as_ref(), Color::Black),
        placement: position.map(placement),
        last: record.and_then(last),
        clock: record.and_then(|record| times(record, clock)),
        live: slot.is_live(),
        result: slot.result(),
        reason: record.and_then(|record| record.reason),
    };
    serde_json::to_string(&card).unwrap_or_default()
}

/// Builds the file with the moves of a game, up to the first illegal one.
pub(super) fn moves(record: &GameRecord) -> Vec<u8> {
    let moves = pgn::regular_moves(record).iter().map(|entry| Ply {
        san: entry.san.as_deref(),
        uci: entry.uci.as_deref(),
        placement: placement(&entry.fen),
        left_ms: entry.clock.map(|clock| clock.times_ms()[entry.color]),
        taken_ms: entry.elapsed_ms,
    });
    let moves = Moves {
        start: &record.start_fen,
        moves: moves.collect(),
    };
    serde_json::to_vec(&moves).unwrap_or_default()
}

/// Returns the team matches of a round. A game belongs to the match between its players' teams. Empty if the teams are
/// only clubs of individual players: then a team has several opponents, or a single game in every match.
pub(super) fn matches(slots: &[Slot<'_>]) -> Vec<Match> {
    let mut matches: Vec<Match> = Vec::new();
    for slot in slots {
        let Some(players) = slot.players() else { continue };
        let team = |color| players.facts(color).and_then(|facts| facts.team.clone());
        let (Some(white), Some(black)) = (team(Color::White), team(Color::Black)) else {
            continue;
        };
        if white == black {
            continue;
        }
        let teams = [white, black];
        let known = matches
            .iter()
            .position(|known| teams.iter().all(|team| known.teams.contains(team)));
        let at = known.unwrap_or_else(|| {
            matches.push(Match {
                teams: teams.clone(),
                points: [0.0; 2],
                games: 0,
                live: 0,
            });
            matches.len() - 1
        });
        let Some(team_match) = matches.get_mut(at) else {
            continue;
        };
        let (first, second) = half_points(slot.result());
        let (first, second) = (points(first), points(second));
        let [first_points, second_points] = &mut team_match.points;
        let swapped = team_match.teams != teams;
        *first_points += if swapped { second } else { first };
        *second_points += if swapped { first } else { second };
        team_match.games += 1;
        team_match.live += usize::from(slot.is_live());
    }
    let mut teams = BTreeSet::new();
    let plays_once = matches
        .iter()
        .flat_map(|team_match| &team_match.teams)
        .all(|team| teams.insert(team));
    let is_team_event = matches.len() == 1 || matches.iter().any(|team_match| team_match.games > 1);
    if plays_once && is_team_event {
        matches
    } else {
        Vec::new()
    }
}

/// Returns the round to show first: the last one in progress, or else the last one that has begun, or else the first.
pub(super) fn current<'s>(
    rounds: impl DoubleEndedIterator<Item = (u32, &'s [Slot<'s>])> + Clone,
) -> Option<u32> {
    let is_begun = |slots: &[Slot<'_>]| slots.iter().any(|slot| slot.game.is_some());
    let is_live = |slots: &[Slot<'_>]| slots.iter().any(Slot::is_live);
    let last = |wanted: fn(&[Slot<'_>]) -> bool| {
        let mut backwards = rounds.clone().rev();
        backwards.find(|(_, slots)| wanted(slots)).map(|(round, _)| round)
    };
    last(is_live)
        .or_else(|| last(is_begun))
        .or_else(|| rounds.clone().next().map(|(round, _)| round))
}

fn player(players: Option<&Players>, color: Color) -> WallPlayer<'_> {
    let facts = players.and_then(|players| players.facts(color));
    WallPlayer {
        name: players.and_then(|players| players.name(color)),
        title: facts.and_then(|facts| facts.title.as_deref()),
        rating: facts.and_then(|facts| facts.rating),
        federation: facts.and_then(|facts| facts.federation.as_deref()),
        team: facts.and_then(|facts| facts.team.as_deref()),
    }
}

/// The position after the last legal move.
fn position(record: &GameRecord) -> &str {
    let legal_moves = pgn::regular_moves(record);
    if legal_moves.len() == record.moves.len() {
        // The arbiter may have set a different position.
        return &record.fen;
    }
    legal_moves.last().map_or(&record.start_fen, |entry| &entry.fen)
}

pub(super) fn placement(fen: &str) -> &str {
    fen.split(' ').next().unwrap_or_default()
}

fn last(record: &GameRecord) -> Option<LastMove<'_>> {
    let entry = pgn::regular_moves(record).last()?;
    Some(LastMove {
        ply: entry.ply,
        number: pgn::move_number(&record.start_fen, entry.ply),
        color: entry.color,
        san: entry.san.as_deref(),
        uci: entry.uci.as_deref(),
    })
}

/// Returns the current clock reading; if there is none or the game has ended, the last one recorded with a move.
fn times(record: &GameRecord, clock: Option<(ClockView, Timestamp)>) -> Option<WallTimes> {
    if let Some((clock, since)) = clock.filter(|_| record.ended.is_none()) {
        return Some(WallTimes {
            white_ms: clock.white_ms,
            black_ms: clock.black_ms,
            running: clock.running,
            as_of: clock.running.map(|_| millis(since)),
        });
    }
    let known = |entry: &MoveRecord| entry.clock;
    let clock = pgn::regular_moves(record).iter().rev().find_map(known)?;
    Some(WallTimes {
        white_ms: Some(clock.white_ms),
        black_ms: Some(clock.black_ms),
        running: None,
        as_of: None,
    })
}
