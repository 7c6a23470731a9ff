use std::collections::BTreeMap;

use crate::events::EventKind;
use crate::laws::{Edition, IncidentKind, Severity};
use crate::position::State;
use crate::referee::tests::table::{STANDARD, Table, WHITE_WINS};
use shakmaty::CastlingMode;

const ROUND_3: &str = r#""do":"set_players","white":"Adler","black":"Berg","round":3,"table":7"#;
const TWELVE_PLIES: &str = "e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6 h3 a6";

/// A table with a finished game of round 3 and the pieces set up again.
fn table_after_round_3() -> Table {
    let mut table = Table::new(Edition::Fide2023);
    table.command(ROUND_3);
    table.plays(TWELVE_PLIES);
    sets_up(&mut table);
    table.referee.take_events();
    table
}

fn sets_up(table: &mut Table) {
    table.set_up(State::from_fen(STANDARD, CastlingMode::Standard).expect("a FEN"));
}

/// Questions and answers since the last call.
fn questions(table: &mut Table) -> Vec<String> {
    let events = table.referee.take_events().into_iter();
    let questions = events.filter_map(|explained| match explained.event.kind {
        EventKind::IncidentOpened(incident) if incident.kind == IncidentKind::SecondGame => {
            let values: &BTreeMap<_, _> = &incident.evidence.values;
            let place = (&values["round"], &values["table"], &values["second"]);
            Some(format!("{} {} {} {}", incident.kind, place.0, place.1, place.2))
        }
        EventKind::IncidentClosed {
            kind: kind @ IncidentKind::SecondGame,
            by,
            reason,
            ..
        } => Some(format!("{kind} {reason} by {by}")),
        _ => None,
    });
    questions.collect()
}

fn second_game(table: &Table) -> String {
    table.referee.game.as_ref().expect("a game").id.id.clone()
}

#[test]
fn a_second_game_is_asked_about_after_a_few_moves() {
    let mut table = table_after_round_3();
    table.plays("e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3");
    assert_eq!(
        questions(&mut table),
        [""; 0],
        "perhaps somebody tries something out"
    );
    table.plays("d6");
    let second = second_game(&table);
    assert_eq!(questions(&mut table), [format!("second_game 3 7 \"{second}\"")]);
    table.takes_back();
    table.plays("a6");
    assert_eq!(questions(&mut table), [""; 0], "once");
}

/// After a result, a second game is usually analysis, at many tables at the end of each round.
#[test]
fn a_second_game_after_a_result_is_only_a_hint() {
    let severity = |table: &Table| {
        let mut open = table.referee.open_incidents();
        let incident = open.find(|incident| incident.kind == IncidentKind::SecondGame);
        incident.expect("a question").severity
    };
    let mut table = table_after_round_3();
    table.plays(TWELVE_PLIES);
    assert_eq!(severity(&table), Severity::Advice);
    let mut table = Table::new(Edition::Fide2023);
    table.command(ROUND_3);
    table.plays(TWELVE_PLIES);
    table.shows(WHITE_WINS);
    sets_up(&mut table);
    table.plays(TWELVE_PLIES);
    assert_eq!(severity(&table), Severity::Hint);
}

#[test]
fn a_replay_gets_the_players_of_the_game_that_it_replaces() {
    let mut table = table_after_round_3();
    table.plays(TWELVE_PLIES);
    table.referee.take_events();
    table.command(r#""do":"assign_game","round":3,"table":7"#);
    assert_eq!(
        table.published(),
        ["arbiter: \"Adler\"-\"Berg\", assigned"],
        "and the question is closed"
    );
    let mut open = table.referee.open_incidents();
    assert!(!open.any(|incident| incident.kind == IncidentKind::SecondGame));
}

#[test]
fn a_replay_gets_corrected_names() {
    let mut table = table_after_round_3();
    let first = table.referee.previous.as_ref().expect("a game").id.id.clone();
    table.plays("e4 e5");
    let last = table.referee.last_paired.clone().expect("a game");
    assert_eq!(last.game, first);
    let game = crate::events::ResumableGame::of(&{
        let mut table = Table::new(Edition::Fide2023);
        table.command(ROUND_3);
        table.plays("e4 e5");
        let mut events = table.journaled();
        for event in &mut events {
            event.game = Some(first.clone());
        }
        events
    });
    table.referee.recall(game.as_ref());
    table.command(&format!(
        r#""do":"set_players","white":"Adler-Meier","game":"{first}""#
    ));
    table.referee.recall(None);
    table.plays("Nf3 Nc6 Bc4 Bc5 c3 Nf6 d3 d6");
    table.referee.take_events();
    table.command(r#""do":"assign_game","round":3,"table":7"#);
    assert_eq!(table.published(), ["arbiter: \"Adler-Meier\"-\"Berg\", assigned"]);
}

#[test]
fn a_game_outside_the_round_has_no_round() {
    let mut table = table_after_round_3();
    table.plays(TWELVE_PLIES);
    questions(&mut table);
    table.command(r#""do":"assign_game""#);
    assert_eq!(questions(&mut table), ["second_game decided by arbiter"]);
    let players = table.referee.game.as_ref().and_then(|game| game.players.clone());
    assert_eq!(
        players.map(|players| (players.round, players.table)),
        Some((None, None))
    );
}

#[test]
fn a_game_announced_with_the_last_pairing_is_asked_about() {
    let mut table = table_after_round_3();
    table.command(ROUND_3);
    table.plays(TWELVE_PLIES);
    assert_eq!(questions(&mut table).len(), 1);
}

#[test]
fn the_next_round_asks_nothing_and_closes_the_question() {
    let mut table = table_after_round_3();
    table.plays(TWELVE_PLIES);
    assert_eq!(questions(&mut table).len(), 1);
    table.shows(WHITE_WINS);
    assert_eq!(
        questions(&mut table),
        [""; 0],
        "the arbiter may decide it after the game"
    );
    sets_up(&mut table);
    table.command(&ROUND_3.replace(":3", ":4"));
    table.plays(TWELVE_PLIES);
    assert_eq!(questions(&mut table), ["second_game passed by board"]);
}

#[test]
fn a_game_after_a_broken_off_one_is_not_a_second_game() {
    let mut table = Table::new(Edition::Fide2023);
    table.command(ROUND_3);
    table.plays("e4 e5 Nf3");
    sets_up(&mut table);
    table.plays(TWELVE_PLIES);
    assert_eq!(questions(&mut table), [""; 0]);
}
