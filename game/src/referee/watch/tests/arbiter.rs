//! Decisions of arbiters on incidents.

use super::*;
use crate::command::Announced;
use crate::events::Action;
use crate::laws::{Edition, Mode};
use shakmaty::Color;

const KIND: &str = "illegal_move";

/// White makes and presses an illegal move.
fn offends(table: &mut Table) {
    table.makes("f1d6").settles();
    table.completes(table.last(), CompletedBy::Press);
}

/// Restarts the referee's incidents from the journal.
fn restart_from_journal(table: &mut Table, incidents: &mut Incidents) {
    journaled(table, incidents);
    table.referee.resume_incidents(incidents);
}

fn decides(table: &mut Table, number: u64, counts: bool) -> String {
    table.command(&format!(
        r#""do":"close_incident","incident":{number},"counts":{counts}"#
    ))
}

/// An offence that does not count is discounted, and the next one is the first again.
#[test]
fn an_offence_that_does_not_count_is_discounted() {
    for restart in [false, true] {
        let mut table = Table::new(Edition::Fide2023);
        let mut incidents = Incidents::default();
        table.plays("e4 e5");
        offends(&mut table);
        let number = number_of(&table, KIND);
        assert_eq!(table.referee.watch.offences.completed[Color::White], 1);
        assert_eq!(decides(&mut table, number, false), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
        assert_eq!(
            decides(&mut table, 77, false),
            "there is no incident 77 in the game on board-1"
        );
        if restart {
            restart_from_journal(&mut table, &mut incidents);
            assert_eq!(table.referee.watch.offences.completed, incidents.offences());
        } else {
            assert_eq!(
                reports(&mut table, KIND),
                ["made", "completed 1", "-decided counts false"]
            );
        }
        table.takes_back().plays("Nf3 Nc6");
        offends(&mut table);
        assert_eq!(reports(&mut table, KIND), ["made", "completed 1"], "{restart}");
    }
}

/// An offence that counts stays counted, and the next one is the second.
#[test]
fn an_offence_decided_without_a_ruling_on_counting_counts() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5");
    offends(&mut table);
    let number = number_of(&table, KIND);
    let command = format!(r#""do":"close_incident","incident":{number},"decision":"two minutes""#);
    assert_eq!(table.command(&command), "");
    assert_eq!(reports(&mut table, KIND), ["made", "completed 1", "-decided"]);
    table.takes_back().plays("Nf3 Nc6");
    offends(&mut table);
    assert_eq!(reports(&mut table, KIND), ["made", "lost 2"]);
}

/// 2023: A.5.2, B.3: an answered illegal move stands. The arbiter decides whether it counts, also after a restart.
#[test]
fn a_move_that_stands_counts_if_the_arbiter_decides_so() {
    for restart in [false, true] {
        let mut table = Table::of(STANDARD, rules(Edition::Fide2023, Mode::Blitz, false));
        let mut incidents = Incidents::default();
        table.plays("e4 e5");
        offends(&mut table);
        let number = number_of(&table, KIND);
        table.plays("Nc6");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
        if restart {
            restart_from_journal(&mut table, &mut incidents);
            assert_eq!(incidents.offences(), ByColor::default());
        }
        assert_eq!(decides(&mut table, number, true), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 1);
        if restart {
            restart_from_journal(&mut table, &mut incidents);
            assert_eq!(incidents.offences(), ByColor { white: 1, black: 0 });
        }
        assert_eq!(decides(&mut table, number, false), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
    }
}

/// Art. 7.5.1: the position before the illegal move is restored. The offence stays counted.
#[test]
fn a_position_set_by_the_arbiter_closes_irregular_moves() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5");
    offends(&mut table);
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    assert_eq!(
        table.command(&format!(r#""do":"set_position","fen":"{fen}""#)),
        ""
    );
    assert_eq!(reports(&mut table, KIND), ["made", "completed 1", "-decided"]);
    table.plays("Nf3 Nc6");
    offends(&mut table);
    assert_eq!(reports(&mut table, KIND), ["made", "lost 2"]);
}

/// 2023: 7.3. Only a person can see reversed colours, and exchanges the names. Below ten moves by both, a new game is
/// played.
#[test]
fn names_exchanged_during_a_game_mean_reversed_colours() {
    for (moves, case) in [(8, "new_game 8"), (10, "goes_on 10")] {
        let mut table = Table::new(Edition::Fide2023);
        table.plays(&first(moves));
        let names = |white, black| format!(r#""do":"set_players","white":"{white}","black":"{black}""#);
        assert_eq!(table.command(&names("A", "B")), "");
        assert_eq!(
            reports(&mut table, "colors_reversed"),
            [""; 0],
            "named for the first time"
        );
        assert_eq!(table.command(&names("A", "C")), "");
        assert_eq!(reports(&mut table, "colors_reversed"), [""; 0], "corrected");
        assert_eq!(table.command(&names("C", "A")), "");
        assert_eq!(reports(&mut table, "colors_reversed"), [case]);
    }
}

fn names(white: &str, black: &str, more: &str) -> String {
    format!(r#""do":"set_players","white":"{white}","black":"{black}"{more}"#)
}

/// The names in the pairing file were exchanged, and the players sat correctly.
#[test]
fn correcting_exchanged_names_opens_no_incident() {
    for correction in [r#","correction":true"#, r#","by":"pairings""#] {
        let mut table = Table::new(Edition::Fide2023);
        table.plays(&first(8));
        table.command(&names("A", "B", ""));
        assert_eq!(table.command(&names("B", "A", correction)), "");
        assert_eq!(reports(&mut table, "colors_reversed"), [""; 0], "{correction}");
        let players = table.referee.game.as_ref().and_then(|game| game.players.as_ref());
        assert_eq!(players.and_then(|players| players.white.as_deref()), Some("B"));
    }
}

/// The arbiter withdraws the report of reversed colours in one of three ways, also after a restart.
#[test]
fn a_wrong_report_of_reversed_colours_is_withdrawn() {
    for restart in [false, true] {
        for command in [
            names("A", "B", ""),
            names("A", "B", r#","correction":true"#),
            names("B", "A", r#","correction":true"#),
        ] {
            let mut table = Table::new(Edition::Fide2023);
            let mut incidents = Incidents::default();
            table.plays(&first(8));
            table.command(&names("A", "B", ""));
            table.command(&names("B", "A", r#","correction":false"#));
            if restart {
                restart_from_journal(&mut table, &mut incidents);
            } else {
                assert_eq!(reports(&mut table, "colors_reversed"), ["new_game 8"]);
            }
            table.command(&command);
            assert_eq!(reports(&mut table, "colors_reversed"), ["-restored"], "{command}");
            table.command(&names("C", "D", ""));
            table.command(&names("D", "C", ""));
            assert_eq!(
                reports(&mut table, "colors_reversed"),
                ["new_game 8"],
                "it may be so later"
            );
        }
    }
}

/// A rewritten pairing file does not contain the arbiter's observation at the board.
#[test]
fn a_pairing_file_does_not_overrule_reversed_colours() {
    for restart in [false, true] {
        let mut table = Table::new(Edition::Fide2023);
        let mut incidents = Incidents::default();
        table.plays(&first(8));
        table.command(&names("A", "B", r#","by":"pairings""#));
        table.command(&names("B", "A", ""));
        if restart {
            restart_from_journal(&mut table, &mut incidents);
        } else {
            assert_eq!(reports(&mut table, "colors_reversed"), ["new_game 8"]);
        }
        let more = r#","white_player":{"rating":2000},"by":"pairings""#;
        assert_eq!(
            table.command(&names("A", "B", more)),
            "according to an arbiter, the players have each other's pieces: White and Black stay as they are"
        );
        assert_eq!(reports(&mut table, "colors_reversed"), [""; 0]);
        let players = table.referee.game.as_ref().and_then(|game| game.players.clone());
        let players = players.expect("players");
        assert_eq!(
            (players.white.as_deref(), players.white_player),
            (Some("B"), None)
        );
        assert_eq!(players.black_player.and_then(|facts| facts.rating), Some(2000));
    }
}

/// After the game, it is too late for a new game with the right colours.
#[test]
fn names_exchanged_after_the_game_are_a_correction() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays(&first(8));
    table.command(&names("A", "B", ""));
    table.command(r#""do":"set_result","result":"1-0""#);
    let id = table.referee.game.as_ref().expect("a game").id.id.clone();
    table.command(&names("B", "A", &format!(r#","game":"{id}""#)));
    assert_eq!(reports(&mut table, "colors_reversed"), [""; 0]);
}

/// Two arbiters decide the same incident. The second one is refused with a note on the first decision.
#[test]
fn another_arbiters_decision_is_replaced_only_on_request() {
    for restart in [false, true] {
        let mut table = Table::new(Edition::Fide2023);
        let mut incidents = Incidents::default();
        table.plays("e4 e5");
        offends(&mut table);
        let number = number_of(&table, KIND);
        let decides =
            |by: &str, more: &str| format!(r#""do":"close_incident","incident":{number},"by":"{by}"{more}"#);
        assert_eq!(
            table.command(&decides("Anna", r#","decision":"two minutes""#)),
            ""
        );
        if restart {
            restart_from_journal(&mut table, &mut incidents);
        }
        let refused = table.command(&decides("Berta", r#","decision":"nothing","counts":false"#));
        assert!(
            refused.starts_with(&format!("Anna decided incident {number} at 20"))
                && refused.contains(r#": "two minutes". To replace that decision"#),
            "{refused}"
        );
        assert_eq!(table.referee.watch.offences.completed[Color::White], 1);
        assert_eq!(
            table.command(&decides("Anna", r#","decision":"three minutes""#)),
            "",
            "her own"
        );
        let replaces = decides("Berta", r#","decision":"nothing","counts":false,"replace":true"#);
        assert_eq!(table.command(&replaces), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
        let refused = table.command(&decides("Anna", ""));
        assert!(refused.starts_with("Berta decided"), "{refused}");
        let authors: Vec<Option<String>> = table
            .journaled()
            .into_iter()
            .filter_map(|event| match event.kind {
                EventKind::IncidentClosed { decided_by, .. } => Some(decided_by),
                _ => None,
            })
            .collect();
        let all = ["Anna", "Anna", "Berta"].map(|by| Some(by.to_owned()));
        assert!(all.ends_with(&authors), "{authors:?}");
    }
}

/// Nobody is sent to an incident that is over, but everybody can take back that they go there.
#[test]
fn an_arbiter_goes_to_open_incidents_only() {
    let mut table = Table::new(Edition::Fide2023);
    assert_eq!(table.command(r#""do":"attend""#), "", "to the board");
    table.plays("e4 e5");
    offends(&mut table);
    let number = number_of(&table, KIND);
    let attends = |more: &str| format!(r#""do":"attend","incident":{number}{more}"#);
    table.published();
    assert_eq!(table.command(&attends("")), "");
    assert_eq!(table.published(), [""; 0], "the game does not change");
    table.command(&format!(r#""do":"close_incident","incident":{number}"#));
    assert_eq!(
        table.command(&attends("")),
        format!("incident {number} on board-1 is already over")
    );
    assert_eq!(table.command(&attends(r#","going":false"#)), "");
    assert_eq!(
        table.command(r#""do":"attend","incident":99"#),
        "there is no incident 99 in the game on board-1"
    );
    let other = table.command(r#""do":"attend","game":"g""#);
    assert!(other.starts_with("the game g is neither"), "{other}");
}

/// Art. 7.3: the new game is played with the right colours.
#[test]
fn the_game_after_reversed_colours_has_the_right_ones() {
    let mut table = Table::new(Edition::Fide2023);
    let mut announced = Announced::default();
    table.plays(&first(8));
    table.command(&names("A", "B", ""));
    table.command(&names("B", "A", ""));
    table.journaled().iter().for_each(|event| announced.apply(event));
    table.command(r#""do":"new_game""#);
    let taken = EventKind::CommandTaken {
        id: "1".to_owned(),
        action: Action::NewGame,
        by: "arbiter".to_owned(),
        arguments: serde_json::json!({}),
        error: None,
        note: None,
    };
    announced.apply(&crate::events::samples::event(1, taken));
    for next in [table.referee.announced.as_ref(), announced.players()] {
        let next = next.expect("players");
        assert_eq!(
            (next.white.as_deref(), next.black.as_deref()),
            (Some("A"), Some("B"))
        );
    }
}
