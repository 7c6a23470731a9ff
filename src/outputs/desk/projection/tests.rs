use kiebitz_game::clock::Side;
use kiebitz_game::events::Action;
use kiebitz_game::events::incidents::set_counts;
use kiebitz_game::events::samples::{event, ply, started};
use kiebitz_game::position::Seen;
use kiebitz_game::position::Variant;
use serde_json::json;
use shakmaty::Color;

use super::*;
use crate::outputs::shared::board_status::{ClockSetting, Levers};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

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
        setting: ClockSetting::default(),
        hall: None,
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
    desk.set_status(at(5), board_status(false));
    let first = change(&mut desk);
    assert_eq!(first["differs"], serde_json::json!(["e2"]));
    assert_eq!((&first["battery"], &first["game"]), (&80.into(), &Value::Null));
    desk.set_status(at(5), board_status(false));
    assert!(desk.poll_changes().is_empty(), "it is as it was");
    desk.apply(&event(1, started(START, Variant::Standard)));
    desk.apply(&event(2, EventKind::MoveMade(ply(1, "e2e4", "e4"))));
    let update = change(&mut desk);
    assert_eq!(update["game"]["moves"][0]["san"], "e4");
    assert_eq!(update["board"], "b");
    assert_eq!(update.as_object().map(Map::len), Some(3), "{update}");
    let all: Value = serde_json::from_str(&desk.all()).expect("JSON");
    assert_eq!(all["boards"][0]["game"], update["game"]);
    assert_eq!(all["boards"][0]["differs"], first["differs"]);
}

#[test]
fn incidents_are_open_and_then_past_with_their_opening_times() {
    let mut desk = Desk::default();
    desk.apply(&event(1, started(START, Variant::Standard)));
    desk.apply(&event(2, EventKind::IncidentOpened(Box::new(incident(7)))));
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
    desk.apply(&event(3, closed(None)));
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
    desk.apply(&event(4, closed(Some(false))));
    assert_eq!(change(&mut desk)["offences"]["black"], 0);
    desk.apply(&event(5, started(START, Variant::Standard)));
    assert_eq!(change(&mut desk)["past"], serde_json::json!([]));
}

#[test]
fn a_removed_board_is_gone_and_may_come_back() {
    let mut desk = Desk::default();
    desk.set_status(at(5), board_status(false));
    change(&mut desk);
    desk.set_status(at(5), board_status(true));
    assert_eq!(
        desk.poll_changes(),
        [DeskUpdate::Gone("{\"board\":\"b\"}".to_owned())]
    );
    assert_eq!(desk.all(), "{\"boards\":[]}");
    desk.set_status(at(5), board_status(false));
    assert_eq!(change(&mut desk)["serial"], "42", "everything is told again");
}

#[test]
fn quick_changes_of_squares_are_sent_once() {
    let mut desk = Desk::default();
    desk.set_status(at(5), board_status(false));
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
    desk.set_status(at(5), with_seen(seen));
    desk.set_status(at(5), with_seen(put_back));
    let expected = serde_json::json!({"board": "b", "emptied": ["a1"], "filled": ["a1"], "squares": format!("3{}", "0".repeat(63))});
    assert_eq!(
        change(&mut desk),
        expected,
        "both, although nothing else is otherwise"
    );
    assert!(desk.poll_changes().is_empty());
    desk.set_status(at(5), with_seen(seen));
    assert_eq!(
        change(&mut desk)["emptied"],
        serde_json::json!(["a1"]),
        "once more"
    );
    assert!(desk.poll_tests().is_some() && desk.poll_tests().is_none());
    desk.restart_test("b");
    assert_eq!(
        change(&mut desk),
        serde_json::json!({"board": "b", "squares": null})
    );
    let pressed = Levers {
        up: Some(Side::Left),
        white: Some(Side::Right),
    };
    desk.set_status(
        at(5),
        BoardStatus {
            levers: pressed,
            ..board_status(false)
        },
    );
    let expected = serde_json::json!({"board": "b", "lever": "left", "white_side": "right"});
    assert_eq!(change(&mut desk), expected);
}

#[test]
fn clock_is_compared_with_the_time_control_between_games() {
    let mut desk = Desk::default();
    let shows = |seconds: u64| BoardStatus {
        setting: ClockSetting {
            standing_ms: Some([seconds * 1000; 2]),
            control: "15+10".parse().ok(),
        },
        ..board_status(false)
    };
    desk.set_status(at(0), shows(900));
    let first = change(&mut desk);
    assert_eq!(
        (&first["clock_fits"], &first["time_control"]),
        (&true.into(), &"15+10".into())
    );
    desk.set_status(at(0), shows(5520));
    let expected =
        serde_json::json!({"board": "b", "clock_fits": false, "standing_ms": [5_520_000, 5_520_000]});
    assert_eq!(change(&mut desk), expected);
    desk.apply(&event(1, started(START, Variant::Standard)));
    assert_eq!(change(&mut desk)["clock_fits"], Value::Null, "time has passed");
}

#[test]
fn a_page_learns_that_the_journal_lacks_events() {
    let mut desk = Desk::default();
    desk.set_status(at(5), board_status(false));
    desk.poll_changes();
    desk.set_kept(false);
    desk.set_status(
        at(5),
        BoardStatus {
            battery: Some(7),
            ..board_status(false)
        },
    );
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

/// All arbiters see who is on the way, until the incident or the game is over or the arbiter takes it back.
#[test]
fn arbiters_on_their_way_are_named() {
    let attends = |seq: u64, by: &str, arguments: Value| {
        let kind = EventKind::CommandTaken {
            id: seq.to_string(),
            action: Action::Attend,
            by: by.to_owned(),
            arguments,
            error: None,
            note: None,
        };
        event(seq, kind)
    };
    let names = |update: &Value| -> Vec<(Value, Value)> {
        let going = update["going"].as_array().expect("a list");
        let names = going
            .iter()
            .map(|one| (one["incident"].clone(), one["by"].clone()));
        names.collect()
    };
    let mut desk = Desk::default();
    let mut events = vec![
        event(1, started(START, Variant::Standard)),
        event(2, EventKind::IncidentOpened(Box::new(incident(7)))),
        attends(3, "meier", json!({"incident": 7})),
        attends(4, "ott", json!({"incident": 7, "game": "g"})),
        attends(5, "meier", json!({"incident": 7})),
        attends(6, "ott", json!({"incident": 7, "going": false})),
        attends(7, "ott", json!({})),
    ];
    events.iter().for_each(|event| desk.apply(event));
    let update = change(&mut desk);
    let both = [(json!(7), json!("meier")), (Value::Null, json!("ott"))];
    assert_eq!(names(&update), both);
    assert_eq!(
        update["going"][0]["at"],
        json!(time_text(events[2].ts)),
        "the first time counts"
    );
    let mut restarted = Desk::default();
    restarted.resume(&events);
    assert_eq!(restarted.all(), desk.all());
    events = vec![
        event(
            8,
            EventKind::IncidentClosed {
                incident: 7,
                kind: incident(7).kind,
                by: ClosedBy::Board,
                reason: IncidentEnd::Restored,
                counts: None,
                decision: None,
                decided_by: None,
            },
        ),
        event(9, started(START, Variant::Standard)),
    ];
    desk.apply(&events[0]);
    assert_eq!(names(&change(&mut desk)), [(Value::Null, json!("ott"))]);
    desk.apply(&events[1]);
    assert_eq!(names(&change(&mut desk)), []);
}

/// Ages on the page count from the event: a page that was loaded later, or a desk that was restarted, shows the same.
#[test]
fn ages_count_from_the_events() {
    let mut desk = Desk::default();
    let mut reply = event(3, EventKind::MoveMade(ply(2, "e7e5", "e5")));
    reply.at = Some(at(3));
    let gone = EventKind::BoardDisconnected {
        reason: "unplugged".to_owned(),
    };
    let events = [
        event(1, started(START, Variant::Standard)),
        event(2, EventKind::MoveMade(ply(1, "e2e4", "e4"))),
        reply,
        event(4, gone.clone()),
        event(5, gone),
    ];
    events.iter().for_each(|event| desk.apply(event));
    desk.set_status(
        at(20),
        BoardStatus {
            connected: false,
            ..board_status(false)
        },
    );
    let update = change(&mut desk);
    let text = time_text;
    assert_eq!(update["made"], json!([text(events[1].ts), text(at(3))]));
    assert_eq!(update["gone_since"], text(events[3].ts), "since the first loss");
    assert_eq!(update["differs_since"], text(at(20)));
    desk.set_status(
        at(30),
        BoardStatus {
            away: Some("pi".to_owned()),
            connected: false,
            ..board_status(false)
        },
    );
    let update = change(&mut desk);
    assert_eq!(
        (update.get("differs_since"), &update["away_since"]),
        (None, &json!(text(at(30))))
    );
    let retracted = EventKind::MoveRetracted {
        ply: 2,
        reason: kiebitz_game::events::CorrectionReason::Takeback,
    };
    desk.apply(&event(6, retracted));
    assert_eq!(change(&mut desk)["made"], json!([text(events[1].ts)]));
    desk.apply(&event(7, EventKind::MoveMade(ply(2, "d7d5", "d5"))));
    assert_eq!(change(&mut desk)["made"].as_array().map(Vec::len), Some(2));
}

/// The page shows who did what and when; pairing files and other games are left out.
#[test]
fn commands_of_people_are_listed_with_author_and_time() {
    let command = |seq: u64, by: &str, error: Option<&str>| {
        let kind = EventKind::CommandTaken {
            id: seq.to_string(),
            action: Action::CorrectMoves,
            by: by.to_owned(),
            arguments: json!({"from": 1, "moves": ["d4"]}),
            error: error.map(str::to_owned),
            note: None,
        };
        event(seq, kind)
    };
    let mut desk = Desk::default();
    let first = started(START, Variant::Standard);
    let entered = command(3, "meier", None);
    let mut of_other = command(4, "meier", None);
    of_other.game = Some("another".to_owned());
    let events = [
        event(1, first.clone()),
        command(2, "pairings", None),
        entered.clone(),
        of_other,
        command(5, "ott", Some("not legal")),
    ];
    events.iter().for_each(|event| desk.apply(event));
    let update = change(&mut desk);
    let shown = json!([{
        "by": "meier",
        "at": time_text(entered.ts),
        "do": "correct_moves",
        "arguments": {"from": 1, "moves": ["d4"]},
    }]);
    assert_eq!(update["commands"], shown);
    desk.apply(&event(6, first));
    assert_eq!(change(&mut desk)["commands"], json!([]));
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
    desk.set_status(at(0), reading(10, Some(Color::White)));
    assert_eq!(stopped(&desk), None);
    desk.set_status(at(0), reading(20, None));
    desk.set_status(at(0), reading(30, None));
    assert_eq!(stopped(&desk), Some(Timestamp::from_micros(20_000_000)));
    assert_eq!(change(&mut desk)["clock_stopped"], "1970-01-01T00:00:20.000000Z");
    desk.set_status(at(0), reading(40, Some(Color::Black)));
    assert_eq!(stopped(&desk), None);
    desk.set_status(at(0), board_status(false));
    assert_eq!(stopped(&desk), None, "without a clock");
}
