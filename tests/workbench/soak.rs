//! A round of two hours at eight boards, with as many faults as a year of play has, in virtual time.

pub mod faults;
pub mod known;
pub mod table;
pub mod verdict;
pub mod world;

use core::time::Duration;
use std::fmt::Write;

use faults::Plan;
use known::{Difference, Power};
use verdict::Wrong;
use world::{Outcome, Round};

pub const ALL: Plan = Plan {
    unplugs: 200,
    restarts: 50,
    bursts: 100,
    silences: 80,
    away: faults::AWAY,
};

/// Maximum number of errors shown per board. Most later errors follow from the first.
const SHOWN: usize = 4;

/// Plays the round and returns its errors, with a log around the first one.
pub fn wrong(round: Round) -> (Outcome, Vec<Wrong>, String) {
    let outcome = round.play();
    let judge = |outcome: &Outcome, board: usize| {
        let (table, events) = (&outcome.tables[board], verdict::events(outcome, board));
        if round.power == Power::Own {
            verdict::not_exactly_right(board, table, &events)
        } else {
            let describe = |game| table.describe(game);
            verdict::unreported(board, (&table.played, describe), &events)
        }
    };
    let boards = 0..outcome.tables.len();
    let wrong: Vec<Wrong> = boards.flat_map(|board| judge(&outcome, board)).collect();
    let mut text = String::new();
    let mut shown = vec![0; outcome.tables.len()];
    for (nth, one) in wrong.iter().enumerate() {
        shown[one.board] += 1;
        if shown[one.board] > SHOWN {
            continue;
        }
        let at = one
            .at
            .saturating_duration_since(crate::hands::hall::OPENING)
            .as_secs_f64();
        writeln!(
            text,
            "seed {} board-{} at {at:.3}: {}{}",
            round.seed,
            one.board + 1,
            one.words,
            if one.reported { ", as is stated" } else { "" },
        )
        .unwrap();
        if nth == 0 && round.logged.is_none() {
            let again = Round {
                logged: Some(one.board),
                ..round
            }
            .play();
            text += &verdict::around(&again.log, one, Duration::from_secs(30), Duration::from_secs(30));
        }
    }
    (outcome, wrong, text)
}

/// Asserts that every game is published correctly, except for the known errors.
fn all_games_are_right(round: Round) -> Outcome {
    let (outcome, wrong, text) = wrong(round);
    let boards: Vec<usize> = wrong.iter().map(|wrong| wrong.board + 1).collect();
    let difference = Difference::of_round(round.power, round.seed, &boards, &known::list());
    assert!(
        difference.is_none(),
        "{difference}{} things are wrong; the first:\n{text}",
        wrong.len()
    );
    outcome
}

/// With 200 unplugs, 50 restarts, 100 bursts of garbage and 80 silences, no event is lost or duplicated, no board is
/// created twice, and the daemon uses no more memory at the end than in the middle.
fn assert_journal_complete_and_memory_constant(plan: Plan, outcome: &Outcome) {
    assert_eq!(
        outcome.happened,
        [plan.unplugs, plan.restarts, plan.bursts, plan.silences]
    );
    let games: usize = outcome.tables.iter().map(|table| table.dealt.len()).sum();
    assert!(games >= 24, "{games} games are no round");
    assert_eq!(
        outcome.journal.boards("live").unwrap().len(),
        outcome.tables.len()
    );
    for board in 0..outcome.tables.len() {
        let events = verdict::events(outcome, board);
        assert!(
            events.iter().zip(1..).all(|(event, seq)| event.seq == seq),
            "numbers are missing or doubled"
        );
        assert!(events.is_sorted_by_key(|event| event.ts), "time goes back");
    }
    let most = |held: &[usize]| held.iter().copied().max().unwrap_or_default();
    let (first, second) = outcome.held.split_at(outcome.held.len() / 2);
    assert!(
        most(second) < 2 * most(first),
        "the daemon holds more and more: {:?}",
        outcome.held
    );
}

#[test]
fn with_own_power_every_game_is_exactly_right_and_the_journal_complete() {
    let outcome = all_games_are_right(Round {
        seed: 1,
        plan: ALL,
        power: Power::Own,
        results: false,
        logged: None,
    });
    assert_journal_complete_and_memory_constant(ALL, &outcome);
}

#[test]
fn without_own_power_every_game_is_right_or_its_gap_is_reported() {
    all_games_are_right(Round {
        seed: 1,
        plan: ALL,
        power: Power::Cable,
        results: false,
        logged: None,
    });
}
