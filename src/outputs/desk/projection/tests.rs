use kiebitz_game::clock::Side;
use kiebitz_game::events::incidents::set_counts;
use kiebitz_game::events::samples::{event, ply, started};
use kiebitz_game::position::Seen;
use kiebitz_game::position::Variant;
use shakmaty::Color;

use super::*;
use crate::outputs::shared::board_status::Levers;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn board_status(forgotten: bool) -> BoardStatus {
    let mut moved = Board::default();
    moved.discard_piece_at(Square::E2);
    BoardStatus {
        name: "b".to_owned(),
        serial: Some("42".to_owned()),
        same_number: Vec::new(),
        port: "/dev/ttyACM0".to_owned(),
        connected: true,
        away: None,
        forgotten,
        battery: Some(80),
        placement: moved,
        expected: Some(Board::default()),
        clock: ClockView::default(),
        table: Some(4),
        levers: Levers::default(),
        seen: Seen::default(),
    }
}

fn incident(number: u64) -> Incident {
    let mut lines = kiebitz_game::events::samples::EVERY
        .lines()
        .filter(|line| line.contains("\"incident.opened\""));
    let line = lines
        .find(|line| line.contains("\"kind\":\"illegal_move\""))
        .expect("an incident");
    let event: Event = serde_json::from_str(line).expect("an event");
    match event.kind {
        EventKind::IncidentOpened(mut incident) => {
            (incident.incident, incident.color) = (number, Some(Color::Black));
            set_counts(&mut incident, true);
            *incident
        }
        _ => panic!("it was opened"),
    }
}

/// Returns the only change apart from pairings. Panics unless it is the update of a board.
fn change(desk: &mut Desk) -> Value {
    let mut changes = desk.poll_changes();
    changes.retain(|change| !matches!(change, DeskUpdate::Pairings(_) | DeskUpdate::Round(_)));
    match &changes[..] {
        [DeskUpdate::Board(text)] => serde_json::from_str(text).expect("JSON"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_changed_fields_are_sent() {
    let mut desk = Desk::default();
    desk.set_status(board_status(false));
    let first = change(&mut desk);
    assert_eq!(first["differs"], serde_json::json!(["e2"]));
    assert_eq!((&first["battery"], &first["game"]), (&80.into(), &Value::Null));
    desk.set_status(board_status(false));
    assert!(desk.poll_changes().is_empty(), "it is as it was");
    desk.take(&event(1, started(START, Variant::Standard)));
    desk.take(&event(2, EventKind::MoveMade(ply(1, "e2e4", "e4"))));
    let update = change(&mut desk);
    assert_eq!(update["game"]["moves"][0]["san"], "e4");
    assert_eq!(update["board"], "b");
    assert_eq!(update.as_object().map(Map::len), Some(2), "{update}");
    let all: Value = serde_json::from_str(&desk.all()).expect("JSON");
    assert_eq!(all["boards"][0]["game"], update["game"]);
    assert_eq!(all["boards"][0]["differs"], first["differs"]);
}

#[test]
fn incidents_are_open_and_then_past_with_their_opening_times() {
    let mut desk = Desk::default();
    desk.take(&event(1, started(START, Variant::Standard)));
    desk.take(&event(2, EventKind::IncidentOpened(Box::new(incident(7)))));
    let update = change(&mut desk);
    assert_eq!(update["incidents"][0]["incident"], 7);
    assert!(update["incidents"][0]["since"].is_string(), "{update}");
    let advised = |language: &str| update["incidents"][0]["advice_in"][language].clone();
    for (language, begins) in [
        ("en", "Illegal move by Black, clock pressed"),
        ("de", "Regelwidriger Zug von Schwarz, Uhr gedrückt"),
    ] {
        let text = advised(language).as_str().expect("text").to_owned();
        assert!(text.starts_with(begins), "{language}: {text}");
    }
    assert_eq!(update["offences"]["black"], 1);
    let closed = |counts| EventKind::IncidentClosed {
        incident: 7,
        kind: incident(7).kind,
        by: ClosedBy::Arbiter,
        reason: IncidentEnd::Decided,
        counts,
        decision: Some("two minutes".to_owned()),
        decided_by: None,
    };
    desk.take(&event(3, closed(None)));
    let update = change(&mut desk);
    assert_eq!(
        (&update["incidents"], &update["past"][0]["incident"]),
        (&serde_json::json!([]), &7.into())
    );
    assert_eq!(
        (&update["past"][0]["decision"], &update["past"][0]["by"]),
        (&"two minutes".into(), &"arbiter".into())
    );
    // The arbiter decides again.
    desk.take(&event(4, closed(Some(false))));
    assert_eq!(change(&mut desk)["offences"]["black"], 0);
    desk.take(&event(5, started(START, Variant::Standard)));
    assert_eq!(change(&mut desk)["past"], serde_json::json!([]));
}

#[test]
fn a_removed_board_is_gone_and_may_come_back() {
    let mut desk = Desk::default();
    desk.set_status(board_status(false));
    change(&mut desk);
    desk.set_status(board_status(true));
    assert_eq!(
        desk.poll_changes(),
        [DeskUpdate::Gone("{\"board\":\"b\"}".to_owned())]
    );
    assert_eq!(desk.all(), "{\"boards\":[]}");
    desk.set_status(board_status(false));
    assert_eq!(change(&mut desk)["serial"], "42", "everything is told again");
}

#[test]
fn quick_changes_of_squares_are_sent_once() {
    let mut desk = Desk::default();
    desk.set_status(board_status(false));
    let first = change(&mut desk);
    assert_eq!((&first["stands_at"], &first["table"]), (&4.into(), &4.into()));
    assert_eq!((&first["lever"], first.get("emptied")), (&Value::Null, None));
    let seen = Seen {
        emptied: Square::A1.into(),
        filled: Bitboard::EMPTY,
    };
    let put_back = Seen {
        emptied: Bitboard::EMPTY,
        filled: Square::A1.into(),
    };
    let with_seen = |seen| BoardStatus {
        seen,
        ..board_status(false)
    };
    desk.set_status(with_seen(seen));
    desk.set_status(with_seen(put_back));
    let expected = serde_json::json!({"board": "b", "emptied": ["a1"], "filled": ["a1"]});
    assert_eq!(
        change(&mut desk),
        expected,
        "both, although nothing else is otherwise"
    );
    assert!(desk.poll_changes().is_empty());
    desk.set_status(with_seen(seen));
    assert_eq!(
        change(&mut desk)["emptied"],
        serde_json::json!(["a1"]),
        "once more"
    );
    let pressed = Levers {
        up: Some(Side::Left),
        white: Some(Side::Right),
    };
    desk.set_status(BoardStatus {
        levers: pressed,
        ..board_status(false)
    });
    let expected = serde_json::json!({"board": "b", "lever": "left", "white_side": "right"});
    assert_eq!(change(&mut desk), expected);
}

#[test]
fn a_page_learns_that_the_journal_lacks_events() {
    let mut desk = Desk::default();
    desk.set_status(board_status(false));
    desk.poll_changes();
    desk.set_kept(false);
    desk.set_status(BoardStatus {
        battery: Some(7),
        ..board_status(false)
    });
    let changes = desk.poll_changes();
    assert_eq!(
        changes[0],
        DeskUpdate::Kept("{\"kept\":false}".to_owned()),
        "before the rest"
    );
    assert!(matches!(&changes[1], DeskUpdate::Board(_)));
    let all: Value = serde_json::from_str(&desk.all()).expect("JSON");
    assert_eq!(all["kept"], false);
    desk.set_kept(false);
    assert_eq!(desk.poll_changes(), []);
    desk.set_kept(true);
    assert_eq!(
        desk.poll_changes(),
        [DeskUpdate::Kept("{\"kept\":true}".to_owned())]
    );
    let all: Value = serde_json::from_str(&desk.all()).expect("JSON");
    assert_eq!(all.get("kept"), None);
}

#[test]
fn a_clock_is_stopped_since_the_first_reading_without_a_running_side() {
    let mut desk = Desk::default();
    let reading = |second: i64, running: Option<Color>| BoardStatus {
        clock: ClockView {
            running,
            as_of: Some(Timestamp::from_micros(second * 1_000_000)),
            ..ClockView::default()
        },
        ..board_status(false)
    };
    let stopped = |desk: &Desk| desk.boards["b"].stopped;
    desk.set_status(reading(10, Some(Color::White)));
    assert_eq!(stopped(&desk), None);
    desk.set_status(reading(20, None));
    desk.set_status(reading(30, None));
    assert_eq!(stopped(&desk), Some(Timestamp::from_micros(20_000_000)));
    assert_eq!(change(&mut desk)["clock_stopped"], "1970-01-01T00:00:20.000000Z");
    desk.set_status(reading(40, Some(Color::Black)));
    assert_eq!(stopped(&desk), None);
    desk.set_status(board_status(false));
    assert_eq!(stopped(&desk), None, "without a clock");
}
