//! What was told of a board, against what was really played on it.

use core::time::Duration;
use std::fmt::Write;

use kiebitz::event::{Event, EventKind, Move};
use kiebitz_hardware::Timestamp;

use super::table::{self, Played, Table, placement, start_placement};
use super::world::{Log, Outcome};

/// A game as it was told, without what was withdrawn.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) id: String,
    pub(super) start: String,
    pub(super) moves: Vec<(Timestamp, Move)>,
}

/// Something that is wrong at a board, and when it was played or told.
#[derive(Debug, Clone)]
pub(super) struct Wrong {
    pub(super) board: usize,
    pub(super) at: Timestamp,
    pub(super) words: String,
}

/// All events of a board. They are counted without gaps and their time never goes back.
pub(super) fn events(outcome: &Outcome, board: usize) -> Vec<Event> {
    let journaled = outcome
        .journal
        .events_after("live", &table::name(board), 0, usize::MAX >> 1)
        .unwrap();
    let events: Vec<Event> = journaled
        .iter()
        .map(|event| serde_json::from_str(&event.payload).unwrap())
        .collect();
    for (expected, event) in (1..).zip(&events) {
        assert_eq!(event.seq, expected, "{} counts without gaps", event.board);
    }
    for pair in events.windows(2) {
        assert!(pair[0].ts <= pair[1].ts, "time goes back: {:?}", pair);
    }
    events
}

/// The games told, in order.
pub(super) fn games(events: &[Event]) -> Vec<Told> {
    let mut games: Vec<Told> = Vec::new();
    for event in events {
        let id = event.game.clone().unwrap_or_default();
        if let EventKind::GameStarted { start_fen, .. } = &event.kind {
            assert!(games.iter().all(|game| game.id != id), "{id} is started twice");
            games.push(Told {
                id,
                start: placement(start_fen),
                moves: Vec::new(),
            });
            continue;
        }
        let Some(game) = games.iter_mut().find(|game| game.id == id) else {
            continue;
        };
        match &event.kind {
            EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } => {
                game.moves.truncate(m.ply as usize - 1);
                assert_eq!(
                    game.moves.len() + 1,
                    m.ply as usize,
                    "plies of {id} come one by one"
                );
                game.moves.push((event.ts, m.clone()));
            }
            EventKind::MoveRetracted { ply, .. } => game.moves.truncate(*ply as usize - 1),
            _ => {}
        }
    }
    games
}

/// Every game is told just as it was played; what is not, is returned.
pub(super) fn not_exactly_right(board: usize, table: &Table, events: &[Event]) -> Vec<Wrong> {
    let told = games(events);
    let mut wrong = Vec::new();
    for (nth, game) in table.dealt.iter().enumerate() {
        let at = |ply: usize| {
            let played = table
                .played
                .iter()
                .find(|played| played.game == nth && played.ply == ply + 1);
            played
                .or_else(|| table.played.iter().rfind(|played| played.game == nth))
                .unwrap()
                .at
        };
        let (start, played) = (start_placement(game), game.uci());
        let words = match told.get(nth) {
            None => (0, "is not told".to_owned()),
            Some(told) if told.start != start => (0, format!("starts with {}", told.start)),
            Some(told) => {
                let moves: Vec<String> = told
                    .moves
                    .iter()
                    .map(|(_, m)| m.uci.clone().unwrap_or_else(|| "irregular".to_owned()))
                    .collect();
                if moves == played {
                    continue;
                }
                let ply = moves.iter().zip(&played).take_while(|(a, b)| a == b).count();
                let around = |moves: &[String]| moves.iter().skip(ply).take(4).cloned().collect::<Vec<_>>();
                let words = format!(
                    "({}) differs from ply {} on: played {:?} of {}, told {:?} of {}",
                    told.id,
                    ply + 1,
                    around(&played),
                    played.len(),
                    around(&moves),
                    moves.len()
                );
                (ply, words)
            }
        };
        wrong.push(Wrong {
            board,
            at: at(words.0),
            words: format!("[{}] game {} {}", table.describe(nth), nth + 1, words.1),
        });
        if told.len() != table.dealt.len() {
            // What comes later is counted otherwise.
            break;
        }
    }
    if wrong.is_empty() && told.len() != table.dealt.len() {
        let at = told
            .last()
            .and_then(|game| game.moves.first())
            .map_or(table.played[0].at, |(at, _)| *at);
        wrong.push(Wrong {
            board,
            at,
            words: format!("{} games told, {} played", told.len(), table.dealt.len()),
        });
    }
    wrong
}

/// Every ply told was played, and every ply played is told, or it is stated that this is not known.
pub(super) fn not_stated(board: usize, table: &Table, events: &[Event]) -> Vec<Wrong> {
    let gaps: Vec<(Timestamp, Timestamp)> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::BoardRecovered {
                by: "inferred" | "undecidable",
                from,
                to,
                ..
            } => Some((from.saturating_sub(SLACK), to + SLACK)),
            _ => None,
        })
        .collect();
    let stated = |at: Timestamp| gaps.iter().any(|(from, to)| (*from..=*to).contains(&at));
    let told: Vec<(Timestamp, Move)> = games(events).into_iter().flat_map(|game| game.moves).collect();
    let (untold, unplayed) = differences(&table.played, &told);
    let mut wrong = Vec::new();
    for played in untold.iter().filter(|played| !stated(played.at)) {
        let words = format!(
            "[{}] game {} ply {} {} is not told",
            table.describe(played.game),
            played.game + 1,
            played.ply,
            played.uci
        );
        wrong.push(Wrong {
            board,
            at: played.at,
            words,
        });
    }
    for (at, m) in unplayed.iter().filter(|(at, m)| !(m.inferred && stated(*at))) {
        let words = format!(
            "ply {} {:?} was not played, inferred: {}",
            m.ply, m.uci, m.inferred
        );
        wrong.push(Wrong {
            board,
            at: *at,
            words,
        });
    }
    wrong.sort_by_key(|wrong| wrong.at);
    wrong
}

/// What was played and not told, and what was told and not played (longest common subsequence).
fn differences<'a>(
    played: &'a [Played],
    told: &'a [(Timestamp, Move)],
) -> (Vec<&'a Played>, Vec<&'a (Timestamp, Move)>) {
    let same = |a: usize, b: usize| {
        let (played, told) = (&played[a], &told[b].1);
        told.uci.as_ref() == Some(&played.uci) && placement(&told.fen) == played.placement
    };
    let mut common = vec![vec![0u32; told.len() + 1]; played.len() + 1];
    for a in (0..played.len()).rev() {
        for b in (0..told.len()).rev() {
            common[a][b] = if same(a, b) {
                common[a + 1][b + 1] + 1
            } else {
                common[a + 1][b].max(common[a][b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let (mut untold, mut unplayed) = (Vec::new(), Vec::new());
    while a < played.len() && b < told.len() {
        if same(a, b) {
            (a, b) = (a + 1, b + 1);
        } else if common[a + 1][b] >= common[a][b + 1] {
            untold.push(&played[a]);
            a += 1;
        } else {
            unplayed.push(&told[b]);
            b += 1;
        }
    }
    untold.extend(&played[a..]);
    unplayed.extend(&told[b..]);
    (untold, unplayed)
}

/// What happened at a board around something that is wrong.
pub(super) fn around(log: &Log, wrong: &Wrong, before: Duration, after: Duration) -> String {
    let (from, to) = (wrong.at.saturating_sub(before), wrong.at + after);
    let mut text = String::new();
    for (at, words) in log.iter().filter(|(at, _)| (from..=to).contains(at)) {
        let since = at.saturating_duration_since(crate::hands::hall::OPENING);
        writeln!(text, "{:10.3} {words}", since.as_secs_f64()).unwrap();
    }
    text
}

/// A board notices later what its squares show, and a ply stands before it is told.
const SLACK: Duration = Duration::from_secs(15);
