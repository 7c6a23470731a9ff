//! Results shown on the board: kings in the centre, result pieces, and situations that only look like a result. In
//! virtual time.

use core::time::Duration;

use kiebitz_game::events::{Event, EventKind};
use kiebitz_protocol::Piece;

use crate::room::{Room, STANDARD};

/// Returns the ends of games and their withdrawals.
fn ends(events: &[Event]) -> Vec<String> {
    let published = events.iter().filter_map(|event| match &event.kind {
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
    published.collect()
}

/// Returns a room in which these moves have been played and the clock runs.
fn playing(moves: &str) -> Room {
    let mut room = Room::new(STANDARD, "");
    room.starts_clock();
    room.plays(moves);
    room.new_events();
    room
}

const OPENING: &str = "e2e4 e7e5 g1f3 b8c6";
/// White's king is on e4, Black's on e8.
const KING_IN_CENTRE: &str = "e2e4 a7a6 e1e2 a6a5 e2e3 a5a4 e4e5 b7b6 e3e4 b6b5";

/// The colours of the kings' squares show the result, in whichever order and from whichever squares the kings come.
#[test]
fn kings_moved_one_after_the_other_show_one_result() {
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

/// If the kings are corrected afterwards, the new result replaces the first.
#[test]
fn corrected_kings_change_the_result() {
    let mut room = playing(OPENING);
    room.stops_clock();
    room.puts("e1e4 e8e5");
    room.pass(Duration::from_secs(5));
    room.puts("e5d5");
    room.pass(Duration::from_secs(5));
    let published = ends(&room.new_events());
    assert_eq!(published, ["1/2-1/2 kings by board?", "1-0 kings by board?"]);
    assert_eq!(room.game().result.as_str(), "1-0");
    // A king nudged on its square does not change the result.
    room.puts("d5d5");
    room.pass(Duration::from_secs(5));
    assert_eq!(ends(&room.new_events()), [""; 0]);
    room.restarts(Duration::from_secs(60));
    assert_eq!(ends(&room.new_events()), [""; 0]);
}

/// A piece that is misread as a result piece, for up to three scans or until the next dump, does not end the game.
#[test]
fn a_misread_piece_is_not_a_result() {
    for (square, lasting) in [("e4", 750), ("e4", 30_000), ("a6", 750)] {
        let mut room = playing(OPENING);
        let original = room.contents(square);
        room.sets(square, Some(Piece::WhiteWinsToken));
        room.pass(Duration::from_millis(lasting));
        room.sets(square, original);
        room.pass(Duration::from_secs(5));
        room.plays("f1c4 g8f6");
        assert_eq!(ends(&room.new_events()), [""; 0], "{square}, {lasting} ms");
        assert_eq!(room.moves(), ["e4", "e5", "Nf3", "Nc6", "Bc4", "Nf6"]);
    }
}

/// The end of a game is a hypothesis: if play goes on, it is withdrawn, and every move belongs to the same game.
#[test]
fn an_end_is_withdrawn_when_play_goes_on() {
    let mut room = playing(OPENING);
    room.sets("d3", Some(Piece::BlackWinsToken));
    room.pass(Duration::from_secs(6));
    let game = room.game();
    assert_eq!(ends(&room.new_events()), ["0-1 result_piece by board?"]);
    // The result piece is still on the board when play goes on.
    room.plays("f1c4");
    room.sets("d3", None);
    room.plays("g8f6 d2d3");
    let published = room.new_events();
    assert_eq!(ends(&published), ["not 0-1 result_piece"]);
    assert!(
        published
            .iter()
            .all(|event| event.game.as_ref() == Some(&game.game)),
        "{published:#?}"
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

/// The players have not agreed on a result: the kings go back, the clock is started, and the game goes on, also across
/// a restart.
#[test]
fn kings_that_go_back_to_play_withdraw_the_result() {
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

/// Moves made on the board after the end, without a press, do not belong to the game.
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

#[test]
fn clock_and_board_events_after_the_end_belong_to_no_game() {
    let mut room = playing(OPENING);
    room.stops_clock();
    room.puts("e1e4 e8d5");
    room.pass(Duration::from_secs(5));
    room.new_events();
    room.unplugs_clock();
    room.pass(Duration::from_secs(10));
    room.restarts(Duration::from_secs(60));
    let published = room.new_events();
    let lines: Vec<_> = published
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
    assert_eq!(lines.len(), 3, "{published:#?}");
    assert!(lines.iter().all(|event| event.game.is_none()), "{published:#?}");
}

/// Returns the incidents of a stopped clock: case and severity of each opened one, reason of each closed one.
fn stops(events: &[Event]) -> Vec<String> {
    let published = events.iter().filter_map(|event| match &event.kind {
        EventKind::IncidentOpened(incident) if incident.kind.as_str() == "clock_stopped" => {
            let case = incident.case.split_once('.').unwrap().1;
            Some(format!("{case} ({})", incident.severity))
        }
        EventKind::IncidentClosed { kind, reason, .. } if kind.as_str() == "clock_stopped" => {
            Some(reason.to_string())
        }
        _ => None,
    });
    published.collect()
}

/// Art. 6.11: the players stop the clock when the game is over, and then leave, show the result, or analyse.
#[test]
fn a_clock_stopped_at_the_end_is_not_reported() {
    for after in ["", "e1e4 e8d5", "f1c4 f8c5 c4f1"] {
        let mut room = playing(OPENING);
        room.stops_clock();
        room.pass(Duration::from_secs(5));
        room.puts(after);
        room.pass(Duration::from_secs(120));
        assert_eq!(stops(&room.new_events()), [""; 0], "{after:?}");
    }
}

/// Art. 6.11.2: players may stop the clock to get the piece of a promotion, or to call the arbiter for a claim or an
/// irregularity. If the board shows no such reason, the stop is reported only when play goes on.
#[test]
fn a_clock_stopped_during_the_game_is_reported_with_its_reason() {
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

/// The next game is recorded even if the last one had so few moves that they could have been taken back, and even if it
/// begins with the same moves.
#[test]
fn the_game_after_a_short_one_is_another_game() {
    for (first, back) in [("e2e4 e7e5", "e7e5 e2e4"), ("e2e4 h7h5 a2a3", "e2e4 h7h5 a2a3")] {
        for second in ["e2e4 e7e5", "c2c4 a7a6"] {
            for restarts in [false, true] {
                let mut room = playing(first);
                room.stops_clock();
                room.commands(r#""do":"set_result","result":"1-0","reason":"resignation""#);
                for ply in back.split(' ') {
                    room.puts(&format!("{}{}", &ply[2..], &ply[..2]));
                    room.pass(Duration::from_millis(500));
                }
                room.pass(Duration::from_secs(20));
                if restarts {
                    room.restarts(Duration::from_secs(5));
                }
                room.new_events();
                if first.split(' ').count() % 2 == 1 {
                    room.hands_over();
                }
                room.starts_clock();
                room.plays(second);
                let events = room.new_events();
                let is_start = |event: &&Event| matches!(event.kind, EventKind::GameStarted { .. });
                let starts = events.iter().filter(is_start).count();
                assert_eq!(starts, 1, "{first}, then {second}, restarts: {restarts}");
                assert_eq!(room.moves().len(), 2);
            }
        }
    }
}
