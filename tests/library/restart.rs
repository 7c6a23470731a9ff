//! Restarts of the daemon: the arbiter's decisions and open incidents survive.

use core::time::Duration;

use kiebitz_game::events::{EndReason, EventKind, GameResult};

use crate::room::{Room, STANDARD};

/// A room after 1. e4 e5 2. Nf3 Nc6, with the clock stopped.
fn room() -> Room {
    let mut room = Room::new(STANDARD, "");
    room.starts_clock();
    room.plays("e2e4 e7e5 g1f3 b8c6");
    room.stops_clock();
    room
}

/// Art. 7.4, 7.6: the game goes on from a position that never occurred in it.
#[test]
fn a_position_set_by_the_arbiter_survives_a_restart() {
    for restarts in [false, true] {
        let mut room = room();
        room.puts("d2d5");
        let fen = "r1bqkbnr/pppp1ppp/2n5/3Pp3/4P3/5N2/PPP2PPP/RNBQKB1R b KQkq - 0 3";
        room.commands(&format!(r#""do":"set_position","fen":"{fen}""#));
        room.pass(Duration::from_secs(5));
        if restarts {
            room.restarts(Duration::from_secs(40));
        }
        room.new_events();
        room.hands_over();
        room.starts_clock();
        room.plays("a7a6 d5c6 d7c6");
        assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6", "a6", "dxc6", "dxc6"]);
        assert_eq!(room.open(), [""; 0], "restarts: {restarts}");
        let retracted = |kind: &EventKind| matches!(kind, EventKind::MoveRetracted { .. });
        assert!(!room.new_events().iter().any(|event| retracted(&event.kind)));
        room.restarts(Duration::from_secs(5));
        room.plays("f3e5");
        assert_eq!(room.moves().last().map(String::as_str), Some("Nxe5"));
        assert_eq!(room.open(), [""; 0]);
    }
}

/// If the arbiter sets an earlier position of the game, the moves after it stay retracted.
#[test]
fn moves_taken_back_stay_retracted_over_a_restart() {
    let mut room = room();
    room.puts("c6b8 f3g1");
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    room.commands(&format!(r#""do":"set_position","fen":"{fen}""#));
    room.restarts(Duration::from_secs(40));
    assert_eq!(room.moves(), ["e4", "e5"]);
    room.starts_clock();
    room.plays("f2f4 e5f4");
    assert_eq!(room.moves(), ["e4", "e5", "f4", "exf4"]);
    assert_eq!(room.open(), [""; 0]);
}

#[test]
fn a_result_survives_a_restart_until_it_is_withdrawn() {
    let mut room = room();
    room.commands(r#""do":"set_result","result":"1-0","reason":"resignation""#);
    room.restarts(Duration::from_secs(40));
    room.starts_clock();
    room.plays("f1c4");
    assert_eq!(
        room.moves().len(),
        4,
        "what is played after the result is no part of the game"
    );
    let game = room.game();
    assert_eq!(
        (game.result, game.reason, game.confirmed),
        (GameResult::WhiteWins, Some(EndReason::Resignation), true)
    );
    room.commands(r#""do":"set_result","result":"*""#);
    room.restarts(Duration::from_secs(20));
    assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6", "Bc4"]);
    room.plays("f8c5");
    let game = room.game();
    assert_eq!(
        (game.result, game.ended, game.moves.len()),
        (GameResult::Unknown, None, 6)
    );
}

/// The players set up the pieces for the next game before the result is entered.
#[test]
fn the_last_game_stays_open_to_the_arbiter_over_a_restart() {
    let mut room = room();
    room.set_up(STANDARD);
    room.restarts(Duration::from_secs(40));
    room.commands(r#""do":"set_result","result":"1/2-1/2","reason":"agreement""#);
    let game = room.game();
    assert_eq!(
        (game.result, game.reason, game.moves.len()),
        (GameResult::Draw, Some(EndReason::Agreement), 4)
    );
    room.hands_over();
    room.hands_over();
    room.starts_clock();
    room.plays("d2d4");
    assert_eq!(room.moves(), ["d4"]);
    assert_eq!(room.game().result, GameResult::Unknown);
}

/// Art. 7.5.5: the number of offences survives, without those that the arbiter did not count.
#[test]
fn decisions_on_incidents_survive_a_restart() {
    for (counts, offence) in [("true", 2), ("false", 1)] {
        let mut room = Room::new(STANDARD, "");
        room.starts_clock();
        room.plays("e2e4 e7e5 g1g3");
        room.pass(Duration::from_secs(3));
        assert_eq!(room.open(), ["illegal_move.completed 1"]);
        room.stops_clock();
        room.puts("g3g1");
        room.hands_over();
        room.commands(&format!(
            r#""do":"close_incident","incident":1,"decision":"two minutes","counts":{counts}"#
        ));
        room.restarts(Duration::from_secs(40));
        assert_eq!(room.open(), [""; 0]);
        room.starts_clock();
        room.plays("g1f3 b8c6 f1f5");
        room.pass(Duration::from_secs(3));
        let open = room.open();
        let case = if offence == 2 { "lost" } else { "completed" };
        assert_eq!(
            open,
            [format!("illegal_move.{case} {offence}")],
            "counts {counts}"
        );
    }
}

/// Art. 7.5.1: an open illegal move is announced once, and closed when it is corrected.
#[test]
fn an_illegal_move_open_at_a_restart_is_closed_once() {
    let mut room = Room::new(STANDARD, "");
    room.starts_clock();
    room.plays("e2e4 e7e5 g1g3");
    room.pass(Duration::from_secs(3));
    room.stops_clock();
    room.restarts(Duration::from_secs(40));
    assert_eq!(room.open(), ["illegal_move.completed 1"]);
    room.puts("g3g1");
    room.hands_over();
    room.starts_clock();
    room.plays("g1f3 b8c6");
    assert_eq!(room.open(), [""; 0]);
    assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6"]);
    assert_eq!(room.opened(), ["illegal_move"]);
}

/// Art. 7.3: reversed colours are announced even if the names were entered before the restart.
#[test]
fn players_and_time_control_survive_a_restart() {
    let mut room = room();
    room.commands(r#""do":"set_players","white":"Adams","black":"Baker""#);
    room.commands(r#""do":"set_time_control","time_control":"90+30""#);
    room.restarts(Duration::from_secs(40));
    let game = room.game();
    assert_eq!(game.time_control.as_deref(), Some("5400+30"));
    assert_eq!(
        game.players.and_then(|players| players.white).as_deref(),
        Some("Adams")
    );
    assert_eq!(room.time_control(), Some("5400+30".to_owned()));
    room.commands(r#""do":"set_players","white":"Baker","black":"Adams""#);
    assert_eq!(room.opened(), ["colors_reversed"]);
}

/// Art. 7.2.1: pieces set up wrongly are announced once. The incident closes when they are corrected, whether during
/// the restart or after it.
#[test]
fn a_wrong_start_open_at_a_restart_is_announced_once() {
    let swapped = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR";
    for meanwhile in [false, true] {
        let mut room = Room::new(swapped, "");
        room.pass(Duration::from_secs(8));
        assert_eq!(room.opened(), ["wrong_start_position"]);
        if meanwhile {
            room.restarts_while(Duration::from_secs(40), "d1d3 e1d1 d3e1");
        } else {
            room.restarts(Duration::from_secs(40));
            assert_eq!(room.open().len(), 1);
            room.puts("d1d3 e1d1 d3e1");
        }
        room.pass(Duration::from_secs(8));
        assert_eq!(room.opened(), ["wrong_start_position"]);
        assert_eq!(room.open(), [""; 0]);
    }
    // If the game goes on from the wrong position, the incident stays open.
    let mut room = Room::new(swapped, "");
    room.pass(Duration::from_secs(8));
    room.starts_clock();
    room.plays("e2e4 e7e5 g1f3");
    room.restarts(Duration::from_secs(40));
    room.plays("b8c6 f1c4 f8c5");
    assert_eq!(room.opened(), ["wrong_start_position"]);
    assert_eq!(room.open().len(), 1);
}

/// Art. 7.2.2: a board turned by half a turn or a quarter turn.
#[test]
fn a_turned_board_open_at_a_restart_is_announced_once() {
    let half = "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr";
    let quarter = "RP4pr/NP4pn/BP4pb/QP4pq/KP4pk/BP4pb/NP4pn/RP4pr";
    for placement in [half, quarter] {
        let mut room = Room::new(placement, "");
        room.pass(Duration::from_secs(8));
        assert_eq!(room.opened(), ["board_rotated"], "{placement}");
        room.restarts(Duration::from_secs(40));
        room.pass(Duration::from_secs(8));
        room.restarts(Duration::from_secs(1));
        assert_eq!(room.opened(), ["board_rotated"], "{placement}");
        assert_eq!(room.open().len(), 1, "{placement}");
        room.set_up(STANDARD);
        room.pass(Duration::from_secs(8));
        assert_eq!(room.opened(), ["board_rotated"], "{placement}");
        assert_eq!(room.open(), [""; 0], "{placement}");
    }
}
