//! A round of two hours at eight boards, with everything that goes wrong in a year, in virtual time; and minutes of the
//! same on pseudo-terminals, in real time.

mod faults;
#[cfg(target_os = "linux")]
mod live;
mod table;
mod verdict;
mod world;

use core::time::Duration;
use std::fmt::Write;

use faults::Plan;
use verdict::Wrong;
use world::{Outcome, Round};

/// What goes wrong in a round.
const ALL: Plan = Plan {
    unplugs: 200,
    restarts: 50,
    bursts: 100,
    silences: 80,
};

/// What is wrong at a board mostly follows from the first thing that is.
const SHOWN: usize = 4;

/// Plays the round and returns what is wrong, with what happened around the first of it at every board.
fn wrong(round: Round) -> (Outcome, Vec<Wrong>, String) {
    let outcome = round.play();
    let judge = |outcome: &Outcome, board: usize| {
        let (table, events) = (&outcome.tables[board], verdict::events(outcome, board));
        if round.own_power {
            verdict::not_exactly_right(board, table, &events)
        } else {
            verdict::not_stated(board, table, &events)
        }
    };
    let boards = 0..outcome.tables.len();
    let wrong: Vec<Wrong> = boards.flat_map(|board| judge(&outcome, board)).collect();
    let mut text = String::new();
    let mut told = vec![0; outcome.tables.len()];
    for (nth, one) in wrong.iter().enumerate() {
        told[one.board] += 1;
        if told[one.board] > SHOWN {
            continue;
        }
        let at = one
            .at
            .saturating_duration_since(crate::hands::hall::OPENING)
            .as_secs_f64();
        writeln!(
            text,
            "seed {} board-{} at {at:.3}: {}",
            round.seed,
            one.board + 1,
            one.words
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

/// Every game is told as it must be.
fn all_games_are_right(round: Round) {
    let (_, wrong, text) = wrong(round);
    assert!(
        wrong.is_empty(),
        "{} things are wrong; the first:\n{text}",
        wrong.len()
    );
}

/// Over 200 unplugs, 50 restarts, 100 bursts of garbage and 80 silences no event is lost or doubled, no board is met
/// twice, and the daemon holds no more at the end than in the middle.
#[test]
fn a_round_full_of_faults_leaves_the_journal_whole_and_memory_flat() {
    let round = Round {
        seed: 1,
        plan: ALL,
        own_power: true,
        results: false,
        logged: None,
    };
    let outcome = round.play();
    let plan = round.plan;
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
        let events = verdict::events(&outcome, board);
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
fn with_own_power_every_game_is_exactly_right() {
    all_games_are_right(Round {
        seed: 1,
        plan: ALL,
        own_power: true,
        results: false,
        logged: None,
    });
}

#[test]
fn without_own_power_every_game_is_right_or_its_gap_is_stated() {
    all_games_are_right(Round {
        seed: 1,
        plan: ALL,
        own_power: false,
        results: false,
        logged: None,
    });
}

/// `SOAK="own 1 20 all" cargo test --release --test whole soak_long -- --ignored --nocapture`: boards with their own
/// power or on the cable's (`cable`), from which seed to which, and what goes wrong: all, none, unplugs, restarts,
/// bursts or silences.
#[test]
#[ignore = "many rounds, for a release build"]
fn soak_long() {
    let wanted = std::env::var("SOAK").unwrap_or_else(|_| "own 1 20 all".to_owned());
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let plan = plan(words[3]);
    let mut failing = 0;
    for seed in words[1].parse().unwrap()..words[2].parse().unwrap() {
        let round = Round {
            seed,
            plan,
            own_power: words[0].starts_with("own"),
            results: words[0].ends_with("results"),
            logged: None,
        };
        let (outcome, wrong, text) = wrong(round);
        println!("{}", text);
        println!("seed {seed}: {} wrong, held {:?}", wrong.len(), outcome.held);
        failing += usize::from(!wrong.is_empty());
    }
    assert_eq!(failing, 0, "rounds with something wrong");
}

/// `SOAK="own 3 all 5 1234.5 60 30" …one_round`: the round of seed 3, and what happened at board-5 from 60 s before to
/// 30 s after the second 1234.5.
#[test]
#[ignore = "shows one round"]
fn one_round() {
    let wanted = std::env::var("SOAK").expect("SOAK says what is to be seen");
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let seconds = |word: &str| Duration::from_secs_f64(word.parse().unwrap());
    let board = words[3].parse::<usize>().unwrap() - 1;
    let round = Round {
        seed: words[1].parse().unwrap(),
        plan: plan(words[2]),
        own_power: words[0].starts_with("own"),
        results: words[0].ends_with("results"),
        logged: Some(board),
    };
    let at = crate::hands::hall::OPENING + seconds(words[4]);
    let here = Wrong {
        board,
        at,
        words: String::new(),
    };
    println!(
        "{}",
        verdict::around(&round.play().log, &here, seconds(words[5]), seconds(words[6]))
    );
}

fn plan(word: &str) -> Plan {
    let none = Plan {
        unplugs: 0,
        restarts: 0,
        bursts: 0,
        silences: 0,
    };
    match word {
        "all" => ALL,
        "none" => none,
        "unplugs" => Plan {
            unplugs: ALL.unplugs,
            ..none
        },
        "restarts" => Plan {
            restarts: ALL.restarts,
            ..none
        },
        "bursts" => Plan {
            bursts: ALL.bursts,
            ..none
        },
        "silences" => Plan {
            silences: ALL.silences,
            ..none
        },
        other => panic!("{other} is nothing that goes wrong"),
    }
}
