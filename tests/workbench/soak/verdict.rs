//! Compares the published events of a board with the games that were played.

use core::time::Duration;
use std::fmt::Write;

use kiebitz::journal::Journal;
use kiebitz_game::events::{Event, EventKind, GameResult, Move, Recovery};
use kiebitz_game::position::Variant;
use kiebitz_hardware::Timestamp;

use super::table::{self, Dealer, Played, placement, start_placement};
use super::world::Outcome;

pub type Log = Vec<(Timestamp, String)>;

/// A game as published, without retracted moves.
#[derive(Debug, Clone)]
pub struct Published {
    pub id: String,
    pub start: String,
    pub moves: Vec<(Timestamp, Move)>,
    pub result: Option<GameResult>,
    /// Whether the end is reported not to have been watched.
    pub end_in_doubt: bool,
    /// The number of moves after which moves are reported missing. `None` if none are.
    pub missing_after: Option<usize>,
}

/// An error at a board, and the time at which the ply was played or published.
#[derive(Debug, Clone)]
pub struct Wrong {
    pub board: usize,
    pub at: Timestamp,
    pub words: String,
    /// Whether an event reports that the end of the game is in doubt, or that moves are missing here.
    pub reported: bool,
}

/// Maximum number of plies at a game's end that may be in doubt.
const END: usize = 2;

/// Returns all events of a board. Asserts that their numbers have no gaps and that their times never decrease.
pub fn events(outcome: &Outcome, board: usize) -> Vec<Event> {
    journaled(&outcome.journal, &table::name(board))
}

/// Like [`events`], for the board with this name.
pub fn journaled(journal: &Journal, board: &str) -> Vec<Event> {
    let journaled = journal.events_after("live", board, 0, usize::MAX >> 1).unwrap();
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

pub fn games(events: &[Event]) -> Vec<Published> {
    let mut games: Vec<Published> = Vec::new();
    for event in events {
        let id = event.game.clone().unwrap_or_default();
        if let EventKind::GameStarted { start_fen, .. } = &event.kind {
            assert!(games.iter().all(|game| game.id != id), "{id} is started twice");
            games.push(Published {
                id,
                start: placement(start_fen),
                moves: Vec::new(),
                result: None,
                end_in_doubt: false,
                missing_after: None,
            });
            continue;
        }
        if let (
            EventKind::BoardRecovered {
                by: Recovery::Undecidable,
                ..
            },
            Some(last),
        ) = (&event.kind, games.last_mut())
        {
            last.missing_after = Some(last.moves.len());
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
            EventKind::GameEnded {
                result, end_certain, ..
            } => {
                game.result = Some(*result);
                game.end_in_doubt = !end_certain;
            }
            EventKind::GameResumed { .. } => game.result = None,
            _ => {}
        }
    }
    games
}

/// Returns the games that are not published exactly as played.
pub fn not_exactly_right(board: usize, table: &Dealer, events: &[Event]) -> Vec<Wrong> {
    let published = games(events);
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
        let words = match published.get(nth) {
            None => (0, "is not published".to_owned(), false),
            Some(published) if published.start != start => {
                (0, format!("starts with {}", published.start), false)
            }
            Some(published) => {
                let moves: Vec<String> = published
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
                    "({}) differs from ply {} on: played {:?} of {}, published {:?} of {}",
                    published.id,
                    ply + 1,
                    around(&played),
                    played.len(),
                    around(&moves),
                    moves.len()
                );
                let at_the_end = ply + END >= played.len().max(moves.len());
                let missing = published.missing_after == Some(ply) && moves.len() == ply;
                (ply, words, missing || published.end_in_doubt && at_the_end)
            }
        };
        wrong.push(Wrong {
            board,
            at: at(words.0),
            words: format!("[{}] game {} {}", table.describe(nth), nth + 1, words.1),
            reported: words.2,
        });
        if published.len() != table.dealt.len() {
            // Later games cannot be assigned.
            break;
        }
    }
    if wrong.is_empty() && published.len() != table.dealt.len() {
        let at = published
            .last()
            .and_then(|game| game.moves.first())
            .map_or(table.played[0].at, |(at, _)| *at);
        wrong.push(Wrong {
            board,
            at,
            words: format!(
                "{} games published, {} played",
                published.len(),
                table.dealt.len()
            ),
            reported: false,
        });
    }
    wrong
}

/// Returns every published ply that was not played, and every played ply that was not published, except in reported
/// gaps.
pub fn unreported(
    board: usize,
    (all, describe): (&[Played], impl Fn(usize) -> String),
    events: &[Event],
) -> Vec<Wrong> {
    let gaps = events.iter().filter_map(|event| match event.kind {
        EventKind::BoardRecovered {
            by: Recovery::Inferred | Recovery::Undecidable,
            from,
            to,
            ..
        } => Some((from.saturating_sub(SLACK), to + SLACK)),
        _ => None,
    });
    let gaps: Vec<(Timestamp, Timestamp)> = gaps.chain(before_first_heard(events)).collect();
    let is_reported = |at: Timestamp| gaps.iter().any(|(from, to)| (*from..=*to).contains(&at));
    let games = games(events);
    let published: Vec<(Timestamp, Move)> = games.iter().flat_map(|game| game.moves.clone()).collect();
    let in_doubt: Vec<bool> = games.iter().flat_map(ends_in_doubt).collect();
    let (unpublished, unplayed) = differences(
        (all, |played: &Played| is_reported(played.at)),
        (&published, |nth: usize| {
            let (at, m) = &published[nth];
            in_doubt[nth] || m.inferred && is_reported(*at)
        }),
    );
    let mut wrong = Vec::new();
    for played in unpublished {
        let words = format!(
            "[{}] game {} ply {} {} is not published",
            describe(played.game),
            played.game + 1,
            played.ply,
            played.uci
        );
        wrong.push(Wrong {
            board,
            at: played.at,
            words,
            reported: false,
        });
    }
    for (at, m) in unplayed {
        let words = format!(
            "ply {} {:?} was not played, inferred: {}",
            m.ply, m.uci, m.inferred
        );
        wrong.push(Wrong {
            board,
            at: *at,
            words,
            reported: false,
        });
    }
    wrong.sort_by_key(|wrong| wrong.at);
    wrong
}

/// Returns for each ply of a game whether it belongs to an end that was not watched.
fn ends_in_doubt(game: &Published) -> impl Iterator<Item = bool> + use<> {
    let plies = game.moves.len();
    let sure = if game.end_in_doubt {
        plies.saturating_sub(END)
    } else {
        plies
    };
    (0..plies).map(move |ply| ply >= sure)
}

/// Returns the time before the board was first heard, if its first game is reported as joined in the middle.
fn before_first_heard(events: &[Event]) -> Option<(Timestamp, Timestamp)> {
    let heard = events
        .iter()
        .find(|event| matches!(event.kind, EventKind::BoardConnected { .. }))?;
    let variant = events.iter().find_map(|event| match event.kind {
        EventKind::GameStarted { variant, .. } => Some(variant),
        _ => None,
    })?;
    (variant == Variant::FromPosition).then_some((Timestamp::from_micros(0), heard.ts))
}

/// Returns the plies that were played but not published, and those that were published but not played, except in
/// reported gaps. Many games begin alike, so the alignment with the fewest errors is used.
fn differences<'a>(
    (played, unpublished_is_reported): (&'a [Played], impl Fn(&Played) -> bool),
    (published, unplayed_is_reported): (&'a [(Timestamp, Move)], impl Fn(usize) -> bool),
) -> (Vec<&'a Played>, Vec<&'a (Timestamp, Move)>) {
    let same = |a: usize, b: usize| {
        let (played, published) = (&played[a], &published[b].1);
        // Castling has two notations, and the variant of a game joined in the middle is unknown.
        let from = |uci: &str| uci.get(..2).map(str::to_owned);
        published.uci.as_deref().and_then(from) == from(&played.uci)
            && placement(&published.fen) == played.placement
    };
    let missing: Vec<u32> = played
        .iter()
        .map(|one| u32::from(!unpublished_is_reported(one)))
        .collect();
    let extra: Vec<u32> = (0..published.len())
        .map(|nth| u32::from(!unplayed_is_reported(nth)))
        .collect();
    let mut errors = vec![vec![0u32; published.len() + 1]; played.len() + 1];
    for a in (0..=played.len()).rev() {
        for b in (0..=published.len()).rev() {
            let unpublished = (a < played.len()).then(|| errors[a + 1][b] + missing[a]);
            let unplayed = (b < published.len()).then(|| errors[a][b + 1] + extra[b]);
            let both = (a < played.len() && b < published.len() && same(a, b)).then(|| errors[a + 1][b + 1]);
            errors[a][b] = [unpublished, unplayed, both]
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(0);
        }
    }
    let (mut a, mut b) = (0, 0);
    let (mut unpublished, mut unplayed) = (Vec::new(), Vec::new());
    while a < played.len() || b < published.len() {
        let cost = errors[a][b];
        if a < played.len() && b < published.len() && same(a, b) && cost == errors[a + 1][b + 1] {
            (a, b) = (a + 1, b + 1);
        } else if a < played.len() && cost == errors[a + 1][b] + missing[a] {
            unpublished.extend((missing[a] > 0).then_some(&played[a]));
            a += 1;
        } else {
            unplayed.extend((extra[b] > 0).then_some(&published[b]));
            b += 1;
        }
    }
    (unpublished, unplayed)
}

/// Returns the log of a board around an error.
pub fn around(log: &Log, wrong: &Wrong, before: Duration, after: Duration) -> String {
    let (from, to) = (wrong.at.saturating_sub(before), wrong.at + after);
    let mut text = String::new();
    for (at, words) in log.iter().filter(|(at, _)| (from..=to).contains(at)) {
        let since = at.saturating_duration_since(crate::hands::hall::OPENING);
        writeln!(text, "{:10.3} {words}", since.as_secs_f64()).unwrap();
    }
    text
}

/// Margin around gaps, for the delays of the board's scan and of publishing.
const SLACK: Duration = Duration::from_secs(15);
