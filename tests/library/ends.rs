//! Results that the board shows: kings in the centre, result pieces, and what only looks like them. In virtual time.

use core::time::Duration;

use kiebitz_game::events::{Event, EventKind};
use kiebitz_protocol::Piece;

use crate::room::{Room, STANDARD};

/// How the games ended, and went on.
fn ends(events: &[Event]) -> Vec<String> {
    let said = events.iter().filter_map(|event| match &event.kind {
        EventKind::GameEnded {
            result,
            reason,
            by,
            confirmed,
            ..
        } => {
            let doubt = if *confirmed { "" } else { "?" };
            Some(format!("{result} {reason} by {by}{doubt}"))
        }
        EventKind::GameResumed { result, reason } => Some(format!("not {result} {reason}")),
        _ => None,
    });
    said.collect()
}

/// A game whose clock runs.
fn playing(moves: &str) -> Room {
    let mut room = Room::new(STANDARD, "");
    room.starts_clock();
    room.plays(moves);
    room.new_events();
    room
}

const OPENING: &str = "e2e4 e7e5 g1f3 b8c6";
/// White's king stands on e4, Black's on e8.
const KING_IN_CENTRE: &str = "e2e4 a7a6 e1e2 a6a5 e2e3 a5a4 e4e5 b7b6 e3e4 b6b5";

/// The kings show the result by the colours of their squares, whichever comes first and wherever they stood.
#[test]
fn kings_that_come_one_after_the_other_show_one_result() {
    for (moves, kings, result) in [
        (OPENING, ["e1e4", "e8d5"], "1-0"),
        (OPENING, ["e8d4", "e1e5"], "0-1"),
        (KING_IN_CENTRE, ["e8e5", "e4d4"], "0-1"),
        (KING_IN_CENTRE, ["e8d5", "e4e4"], "1-0"),
        (KING_IN_CENTRE, ["e4d4", "e8d5"], "1/2-1/2"),
    ] {
        for running in [true, false] {
            let mut room = playing(moves);
            if !running {
                room.stops_clock();
            }
            let before = room.moves();
            for king in kings.iter().filter(|king| king[..2] != king[2..]) {
                room.pass(Duration::from_millis(500));
                room.puts(king);
            }
            room.pass(Duration::from_secs(10));
            assert_eq!(
                ends(&room.new_events()),
                [format!("{result} kings by board?")],
                "{kings:?}"
            );
            assert_eq!(room.moves(), before, "{kings:?}");
            assert_eq!(room.opened(), [""; 0], "{kings:?}, {running}");
        }
    }
}

/// Kings that are put right afterwards show another result, which replaces the first.
#[test]
fn kings_that_are_put_right_change_the_result() {
    let mut room = playing(OPENING);
    room.stops_clock();
    room.puts("e1e4 e8e5");
    room.pass(Duration::from_secs(5));
    room.puts("e5d5");
    room.pass(Duration::from_secs(5));
    let said = ends(&room.new_events());
    assert_eq!(said, ["1/2-1/2 kings by board?", "1-0 kings by board?"]);
    assert_eq!(room.game().result.as_str(), "1-0");
    // Nudged on its square, a king says nothing new.
    room.puts("d5d5");
    room.pass(Duration::from_secs(5));
    assert_eq!(ends(&room.new_events()), [""; 0]);
    room.restarts(Duration::from_secs(60));
    assert_eq!(ends(&room.new_events()), [""; 0]);
}

/// A piece of the game that is misread as a result piece, for up to three scans or until the next dump, ends nothing.
#[test]
fn a_misread_piece_is_no_result() {
    for (square, lasting) in [("e4", 750), ("e4", 30_000), ("a6", 750)] {
        let mut room = playing(OPENING);
        let stood = room.contents(square);
        room.sets(square, Some(Piece::WhiteWinsToken));
        room.pass(Duration::from_millis(lasting));
        room.sets(square, stood);
        room.pass(Duration::from_secs(5));
        room.plays("f1c4 g8f6");
        assert_eq!(ends(&room.new_events()), [""; 0], "{square}, {lasting} ms");
        assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6"]);
    }
}

/// An end is a reading: where play goes on after it, it is withdrawn, and every move belongs to the same game.
#[test]
fn an_end_is_withdrawn_when_play_goes_on() {
    let mut room = playing(OPENING);
    room.sets("d3", Some(Piece::BlackWinsToken));
    room.pass(Duration::from_secs(6));
    let game = room.game();
    assert_eq!(ends(&room.new_events()), ["0-1 result_piece by board?"]);
    // It still stands there when play goes on.
    room.plays("f1c4");
    room.sets("d3", None);
    room.plays("g8f6 d2d3");
    let said = room.new_events();
    assert_eq!(ends(&said), ["not 0-1 result_piece"]);
    assert!(
        said.iter().all(|event| event.game.as_ref() == Some(&game.game)),
        "{said:#?}"
    );
    assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6", "d3"]);
    assert_eq!((room.game().ended, room.game().result.as_str()), (None, "*"));
    assert!(
        room.game()
            .moves
            .iter()
            .all(|played| played.settled.is_some() && played.completed.is_some())
    );
    assert_eq!(room.opened(), [""; 0]);
}

/// The players had not agreed: the kings go back, the clock is started, and the game goes on, across a restart too.
#[test]
fn kings_that_go_back_to_play_take_the_result_with_them() {
    for restarted in [false, true] {
        let mut room = playing(OPENING);
        room.stops_clock();
        room.puts("e1e4 e8d5");
        room.pass(Duration::from_secs(30));
        assert_eq!(ends(&room.new_events()), ["1-0 kings by board?"]);
        room.puts("d5e8 e4e1");
        room.sets("e4", Some(Piece::WhitePawn));
        room.pass(Duration::from_secs(30));
        if restarted {
            room.restarts(Duration::from_secs(5));
        }
        assert_eq!(ends(&room.new_events()), [""; 0]);
        room.starts_clock();
        room.plays("f1c4 g8f6");
        assert_eq!(ends(&room.new_events()), ["not 1-0 kings"]);
        assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6"]);
        room.stops_clock();
        room.puts("e1d4 e8e5");
        room.pass(Duration::from_secs(5));
        assert_eq!(ends(&room.new_events()), ["0-1 kings by board?"]);
    }
}

/// What is moved on the board after the end, without anybody pressing the clock, is no play.
#[test]
fn analysis_after_the_end_withdraws_nothing() {
    for running in [true, false] {
        let mut room = playing(OPENING);
        if !running {
            room.stops_clock();
        }
        room.puts("e1d4 e8e5");
        room.pass(Duration::from_secs(10));
        room.puts("e5e8 d4e1");
        room.sets("e5", Some(Piece::BlackPawn));
        room.pass(Duration::from_secs(10));
        for played in ["f1c4", "g8f6", "d2d3", "f8c5", "c1g5"] {
            room.puts(played);
            room.pass(Duration::from_secs(4));
        }
        assert_eq!(ends(&room.new_events()), ["0-1 kings by board?"], "{running}");
        assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6"]);
    }
}

/// The clock that is beside the board when the game is over is no part of it, nor is the board.
#[test]
fn what_clock_and_board_do_after_the_end_belongs_to_no_game() {
    let mut room = playing(OPENING);
    room.stops_clock();
    room.puts("e1e4 e8d5");
    room.pass(Duration::from_secs(5));
    room.new_events();
    room.unplugs_clock();
    room.pass(Duration::from_secs(10));
    room.restarts(Duration::from_secs(60));
    let said = room.new_events();
    let lines: Vec<_> = said
        .iter()
        .filter(|event| {
            matches!(
                event.kind,
                EventKind::ClockDisconnected {}
                    | EventKind::BoardConnected { .. }
                    | EventKind::BoardRecovered { .. }
            )
        })
        .collect();
    assert_eq!(lines.len(), 3, "{said:#?}");
    assert!(lines.iter().all(|event| event.game.is_none()), "{said:#?}");
}

/// When the clock stood: the incidents of that, in the end of their case and how they were closed.
fn stops(events: &[Event]) -> Vec<String> {
    let said = events.iter().filter_map(|event| match &event.kind {
        EventKind::IncidentOpened(incident) if incident.kind.as_str() == "clock_stopped" => {
            let case = incident.case.split_once('.').unwrap().1;
            Some(format!("{case} ({})", incident.severity))
        }
        EventKind::IncidentClosed { kind, reason, .. } if kind.as_str() == "clock_stopped" => {
            Some(reason.to_string())
        }
        _ => None,
    });
    said.collect()
}

/// Art. 6.11: the players stop the clock when the game is over, and leave, or show the result, or look at the game.
#[test]
fn a_clock_that_is_stopped_at_the_end_needs_nobody() {
    for after in ["", "e1e4 e8d5", "f1c4 f8c5 c4f1"] {
        let mut room = playing(OPENING);
        room.stops_clock();
        room.pass(Duration::from_secs(5));
        room.puts(after);
        room.pass(Duration::from_secs(120));
        assert_eq!(stops(&room.new_events()), [""; 0], "{after:?}");
    }
}

/// Art. 6.11.2: a piece for a promotion, a claim, something irregular: the board shows why somebody may need the arbiter.
/// A stop of which it shows nothing is told when play goes on.
#[test]
fn a_clock_that_is_stopped_in_the_game_may_need_somebody() {
    let mut room = playing(OPENING);
    room.stops_clock();
    room.pass(Duration::from_secs(60));
    assert_eq!(stops(&room.new_events()), [""; 0]);
    room.starts_clock();
    room.plays("f1c4");
    assert_eq!(stops(&room.new_events()), ["passed (info)", "passed"]);

    let mut room = playing("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8");
    room.stops_clock();
    room.pass(Duration::from_secs(10));
    assert_eq!(stops(&room.new_events()), ["claim (hint)"]);
    room.starts_clock();
    assert_eq!(stops(&room.new_events()), ["passed"]);

    let mut room = Room::new("4k3/P7/8/8/8/8/8/4K3", "");
    room.starts_clock();
    room.plays("e1e2 e8d7 e2e3 d7e7");
    room.new_events();
    room.sets("a7", None);
    room.stops_clock();
    room.pass(Duration::from_secs(10));
    assert_eq!(stops(&room.new_events()), ["promotion (hint)"]);

    let mut room = playing(OPENING);
    room.plays("f3f6");
    room.stops_clock();
    room.pass(Duration::from_secs(10));
    assert_eq!(stops(&room.new_events()), ["irregularity (hint)"]);
}
