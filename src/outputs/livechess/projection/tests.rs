use kiebitz_game::command::{Answer, Order};
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::samples::{event, ply, started};
use kiebitz_game::events::{
    Clock, CompletedBy, DecidedBy, EndReason, EventKind, GameResult, Move, PlayerFacts,
};
use kiebitz_game::position::Seen;
use kiebitz_game::position::Variant;
use serde_json::Value;
use shakmaty::san::SanPlus;
use shakmaty::{Board, Chess, Color, EnPassantMode, Position as _, fen::Fen};

use super::*;
use crate::outputs::shared::board_status::{ClockSetting, Levers};
use crate::tournament::{Pairing, Player, Round};

pub(super) const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const SICILIAN: &str = "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R";

/// The given moves, each with its SAN.
pub(super) fn played(moves: &str) -> Vec<(Move, String)> {
    let mut position = Chess::default();
    let moves = (1..).zip(moves.split_whitespace());
    let moves = moves.map(|(number, text)| {
        let san: SanPlus = text.parse().expect("SAN");
        let legal = san.san.to_move(&position).expect("a legal move");
        position.play_unchecked(legal);
        let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
        let played = Move {
            fen,
            ..ply(number, "a1a1", text)
        };
        (played, text.to_owned())
    });
    moves.collect()
}

/// The positions before and after all moves.
pub(super) fn fens(moves: &str) -> Vec<String> {
    let after = played(moves).into_iter().map(|(played, _)| played.fen);
    core::iter::once(START.to_owned()).chain(after).collect()
}

pub(super) fn game(id: &str, moves: &str) -> GameRecord {
    GameRecord::of(&events("board-4", id, moves)).expect("a game")
}

fn events(board: &str, id: &str, moves: &str) -> Vec<Event> {
    let start = started(START, Variant::Standard);
    let made = played(moves)
        .into_iter()
        .map(|(played, _)| EventKind::MoveMade(played));
    let kinds = core::iter::once(start).chain(made);
    let events = (1..).zip(kinds).map(|(seq, kind)| of(board, id, seq, kind));
    events.collect()
}

fn of(board: &str, id: &str, seq: u64, kind: EventKind) -> Event {
    Event {
        board: board.to_owned(),
        game: Some(id.to_owned()),
        ..event(seq, kind)
    }
}

const fn at(ms: i64) -> Timestamp {
    Timestamp::from_micros((1_790_000_000_000 + ms) * 1000)
}

fn clock(white: u64, black: u64, running: Option<Color>, ms: i64) -> ClockView {
    let reading = Clock {
        white_ms: white * 1000,
        black_ms: black * 1000,
        running,
        flag: None,
    };
    ClockView::of_reading(reading, at(ms))
}

fn board_status(name: &str, serial: &str, placement: &str, clock: ClockView) -> BoardStatus {
    BoardStatus {
        name: name.to_owned(),
        serial: Some(serial.to_owned()),
        same_number: Vec::new(),
        port: "/dev/ttyUSB0".to_owned(),
        connected: true,
        away: None,
        forgotten: false,
        expected: None,
        battery: None,
        placement: Board::from_ascii_board_fen(placement.as_bytes()).expect("a placement"),
        clock,
        table: None,
        levers: Levers::default(),
        setting: ClockSetting::default(),
        hall: None,
        seen: Seen::default(),
    }
}

/// A hall with board 31417, on which the pieces are set up, and board 27182, which is not connected.
fn hall(may_set_up: bool) -> LiveChess {
    let facts = EventFacts {
        name: Some("Open 2026".to_owned()),
        site: Some("Bremen".to_owned()),
        ..EventFacts::default()
    };
    let mut hall = LiveChess::new(facts, may_set_up);
    let placement = START.split(' ').next().expect("a placement");
    hall.see(BoardStatus {
        connected: false,
        port: String::new(),
        clock: ClockView::default(),
        ..board_status("board-1", "27182", placement, ClockView::default())
    });
    hall.see(board_status(
        "board-4",
        "31417",
        placement,
        clock(5400, 5400, None, 950),
    ));
    hall.open(1);
    hall
}

/// Sends a message at a given time. Returns the frames for the client.
fn frames_after(hall: &mut LiveChess, ms: i64, text: &str) -> Vec<Value> {
    let command = hall.handle_message(at(ms), 1, text);
    assert!(command.is_none(), "{command:?}");
    frames(hall, ms)
}

fn frames(hall: &mut LiveChess, ms: i64) -> Vec<Value> {
    let frames = hall.frames(at(ms)).into_iter();
    frames
        .map(|(_, frame)| serde_json::from_str(&frame).expect("JSON"))
        .collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

const SUBSCRIBE: &str =
    r#"{"id":11,"call":"subscribe","param":{"feed":"eboardevent","id":4,"param":{"serialnr":"31417"}}}"#;
const SET_UP: &str = r#"{"id":12,"call":"call","param":{"id":4,"method":"setup","param":{"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"}}}"#;

#[test]
fn connected_boards_are_listed_first() {
    let mut hall = hall(false);
    hall.see(board_status(
        "board-4",
        "31417",
        SICILIAN,
        clock(5391, 5402, Some(Color::Black), 123),
    ));
    let listed = json(
        r#"[{"serialnr":"31417","source":"ttyUSB0","state":"ACTIVE","battery":null,"comment":"board-4",
        "board":"rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R","flipped":false,
        "clock":{"white":5391,"black":5402,"run":false,"time":1790000000123}},
        {"serialnr":"27182","source":null,"state":null,"battery":null,"comment":"board-1","board":null,"flipped":false,"clock":null}]"#,
    );
    assert_eq!(hall.eboards(), listed);
    let answers = frames_after(&mut hall, 0, r#"{"id":1,"call":"eboards","param":null}"#);
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0]["response"], &answers[0]["param"]),
        (&"call".into(), &listed)
    );
    // Of two boards with the same serial number, the connected one gets it.
    let twin = board_status("board-2", "27182", SICILIAN, ClockView::default());
    hall.see(BoardStatus {
        expected: None,
        battery: Some(80),
        ..twin
    });
    let listed = hall.eboards();
    let field = |key: &str| -> Vec<&Value> { (0..3).map(|at| &listed[at][key]).collect() };
    assert_eq!(
        field("serialnr"),
        [&json("\"27182\""), &json("\"31417\""), &Value::Null]
    );
    assert_eq!(field("comment"), ["board-2", "board-4", "board-1"]);
    assert_eq!(listed[0]["battery"], "80%");
}

#[test]
fn sources_have_the_fields_that_clients_read() {
    let mut hall = hall(false);
    // A second board on the same port, as on a bus.
    hall.see(board_status("board-5", "31418", SICILIAN, ClockView::default()));
    let answers = frames_after(&mut hall, 0, r#"{"id":1,"call":"sources","param":null}"#);
    let sources = json(
        r#"[{"type":"SERIAL","device":"ttyUSB0","name":null,"present":true,"active":true,"status":null}]"#,
    );
    assert_eq!(
        (&answers[0]["response"], &answers[0]["param"]),
        (&"call".into(), &sources)
    );
}

/// Clients remember a board by its number.
#[test]
fn a_board_that_was_never_plugged_in_has_no_number() {
    let mut hall = hall(false);
    let unseen = BoardStatus {
        serial: None,
        connected: false,
        port: String::new(),
        ..board_status("board-9", "", SICILIAN, ClockView::default())
    };
    hall.see(unseen.clone());
    let entry = |hall: &LiveChess| {
        let boards = hall.eboards();
        let mut boards = boards.as_array().expect("boards").iter();
        let found = boards.find(|board| board["comment"] == "board-9");
        found.cloned().expect("the board")
    };
    assert_eq!(entry(&hall)["serialnr"], Value::Null);
    assert_eq!(entry(&hall)["state"], Value::Null);
    // A client can subscribe to it by its name.
    let subscribe = SUBSCRIBE.replace("31417", "board-9");
    let answers = frames_after(&mut hall, 0, &subscribe);
    assert_eq!((&answers[0]["response"], answers.len()), (&"call".into(), 2));
    let plugged_in = BoardStatus {
        serial: Some("16180".to_owned()),
        connected: true,
        port: "/dev/ttyUSB1".to_owned(),
        ..unseen
    };
    hall.see(plugged_in.clone());
    assert_eq!(entry(&hall)["serialnr"], "16180");
    assert_eq!(entry(&hall)["state"], "ACTIVE");
    let placed = frames(&mut hall, 1);
    assert_eq!(
        (placed.len(), &placed[0]["param"]["board"]),
        (1, &SICILIAN.into())
    );
    // Clients take a lost board for present if its state is null.
    hall.see(BoardStatus {
        connected: false,
        ..plugged_in
    });
    assert_eq!(entry(&hall)["state"], "NOTRESPONDING");
}

/// The examples of the interface's documentation, frame by frame.
#[test]
fn a_client_subscribes_sets_up_and_sees_moves() {
    let mut hall = hall(false);
    let frames_of = frames_after(&mut hall, 1000, SUBSCRIBE);
    let expected = [
        json(r#"{"response":"call","id":11,"param":null,"time":1790000001000}"#),
        json(
            r#"{"response":"feed","id":4,"param":{"serialnr":"31417","flipped":false,
            "board":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "clock":{"white":5400,"black":5400,"run":null,"time":1790000000950}},"time":1790000001000}"#,
        ),
    ];
    assert_eq!(frames_of, expected);
    let frames_of = frames_after(&mut hall, 2000, SET_UP);
    assert_eq!(
        frames_of[0],
        json(r#"{"response":"call","id":12,"param":null,"time":1790000002000}"#)
    );
    assert_eq!(
        frames_of[1]["param"],
        json(&format!(
            r#"{{"serialnr":"31417","start":"{START}","san":[],"match":true}}"#
        ))
    );
    for event in events("board-4", "g1", "e4 c5 Nf3") {
        hall.apply(at(3000), &event);
    }
    hall.see(board_status(
        "board-4",
        "31417",
        SICILIAN,
        clock(5400, 5400, None, 950),
    ));
    let frames_of = frames(&mut hall, 31000);
    assert_eq!(
        frames_of,
        [json(&format!(
            r#"{{"response":"feed","id":4,"param":{{"serialnr":"31417",
            "board":"rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R","start":"{START}",
            "san":["e4","c5","Nf3"],"match":true}},"time":1790000031000}}"#
        ))]
    );
    // Without a change no frame is sent. A clock that only counts down has not changed.
    hall.see(board_status(
        "board-4",
        "31417",
        SICILIAN,
        clock(5400, 5400, None, 30950),
    ));
    assert!(frames(&mut hall, 32000).is_empty());
    hall.see(board_status(
        "board-4",
        "31417",
        SICILIAN,
        clock(5399, 5400, Some(Color::Black), 33000),
    ));
    let frames_of = frames(&mut hall, 33000);
    assert_eq!(
        frames_of[0]["param"],
        json(r#"{"serialnr":"31417","clock":{"white":5399,"black":5400,"run":false,"time":1790000033000}}"#)
    );
    let gone = frames_after(&mut hall, 34000, r#"{"id":13,"call":"unsubscribe","param":4}"#);
    assert_eq!(gone.len(), 1);
    for event in events("board-4", "g2", "d4") {
        hall.apply(at(35000), &event);
    }
    assert!(frames(&mut hall, 35000).is_empty());
}

/// lichess.org's page does not read `start`. It would send the moves of another game to the game that it plays.
#[test]
fn a_feed_stays_with_its_game_until_the_client_sets_up_again() {
    let mut hall = hall(false);
    frames_after(&mut hall, 0, SUBSCRIBE);
    frames_after(&mut hall, 0, SET_UP);
    for event in events("board-4", "g1", "e4 c5 Nf3") {
        hall.apply(at(3000), &event);
    }
    let sicilian = board_status("board-4", "31417", SICILIAN, clock(5400, 5400, None, 950));
    hall.see(sicilian);
    let played = frames(&mut hall, 3000);
    assert_eq!(
        (&played[0]["param"]["san"], &played[0]["param"]["match"]),
        (&json(r#"["e4","c5","Nf3"]"#), &Value::Bool(true))
    );
    // Somebody puts the pieces back and plays another game.
    for event in events("board-4", "g2", "d4") {
        hall.apply(at(4000), &event);
    }
    let another = frames(&mut hall, 4000);
    assert_eq!(another.len(), 1, "{another:?}");
    assert_eq!(another[0]["param"], json(r#"{"serialnr":"31417","match":false}"#));
    let placement = "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR";
    for event in events("board-4", "g2", "d4 d5") {
        hall.apply(at(5000), &event);
    }
    hall.see(board_status(
        "board-4",
        "31417",
        placement,
        clock(5400, 5400, None, 950),
    ));
    let moves = frames(&mut hall, 5000);
    let placed = serde_json::json!({ "serialnr": "31417", "board": placement });
    assert_eq!(moves[0]["param"], placed, "the pieces, but no moves");
    // A correction of the first game is not a move of the second one.
    let result = EventKind::MoveRetracted {
        ply: 3,
        reason: kiebitz_game::events::CorrectionReason::Takeback,
    };
    hall.apply(at(6000), &of("board-4", "g1", 20, result));
    assert!(frames(&mut hall, 6000).is_empty());

    let again = frames_after(&mut hall, 7000, SET_UP);
    assert_eq!(
        again[1]["param"],
        serde_json::json!({ "serialnr": "31417", "start": START, "san": ["d4", "d5"], "match": true })
    );
}

#[test]
fn failed_calls_are_answered_with_an_error() {
    let mut hall = hall(false);
    frames_after(&mut hall, 0, SUBSCRIBE);
    frames_after(&mut hall, 0, SET_UP);
    let unknown = frames_after(
        &mut hall,
        32000,
        r#"{"id":13,"call":"subscribe","param":{"feed":"eboardevent","id":5,"param":{"serialnr":"99999"}}}"#,
    );
    assert_eq!(
        unknown,
        [json(
            r#"{"response":"error","id":13,"param":{"message":"no such board: 99999","stacktrace":""},"time":1790000032000}"#
        )]
    );
    let flip = r#"{"id":7,"call":"call","param":{"id":4,"method":"setup","param":{"flip":true}}}"#;
    let elsewhere = r#"{"id":7,"call":"call","param":{"id":4,"method":"setup","param":{"fen":"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"}}}"#;
    for text in [
        flip,
        elsewhere,
        r#"{"id":7,"call":"call","param":{"id":4,"method":"setup","param":{"fen":"nonsense"}}}"#,
        r#"{"id":7,"call":"call","param":{"id":9,"method":"flip","param":{"flip":true}}}"#,
        r#"{"id":7,"call":"call","param":{"id":4,"method":"flip"}}"#,
        r#"{"id":7,"call":"call","param":{"id":4,"method":"play"}}"#,
        r#"{"id":7,"call":"call"}"#,
        r#"{"id":7,"call":"subscribe","param":{"feed":"eboardevent","id":5}}"#,
        r#"{"id":7,"call":"subscribe","param":{"feed":"games","id":5,"param":{}}}"#,
        r#"{"id":7,"call":"unsubscribe","param":5}"#,
        r#"{"id":7,"call":"fly"}"#,
        r#"{"id":7}"#,
    ] {
        let answers = frames_after(&mut hall, 0, text);
        assert_eq!(answers.len(), 1, "nothing changes by {text}: {answers:?}");
        assert_eq!(
            (&answers[0]["response"], &answers[0]["id"]),
            (&"error".into(), &7.into())
        );
        assert!(answers[0]["param"]["message"].is_string(), "{text}");
    }
    for text in ["", "[]", "7", "{", "null", "{\"call\":5}"] {
        let answers = frames_after(&mut hall, 0, text);
        assert_eq!(
            (&answers[0]["response"], &answers[0]["id"]),
            (&"error".into(), &Value::Null)
        );
    }
}

#[test]
fn flipping_a_board_affects_all_clients_and_nothing_else() {
    let mut hall = hall(false);
    hall.open(2);
    hall.handle_message(at(0), 2, SUBSCRIBE);
    frames_after(&mut hall, 0, SUBSCRIBE);
    frames_after(&mut hall, 0, SET_UP);
    for event in events("board-4", "g1", "e4 c5 Nf3") {
        hall.apply(at(3000), &event);
    }
    hall.see(board_status(
        "board-4",
        "31417",
        SICILIAN,
        clock(5400, 5400, None, 950),
    ));
    frames(&mut hall, 0);
    let flip = r#"{"id":"x","call":"call","param":{"id":4,"method":"flip","param":{"flip":true}}}"#;
    let frames_of = frames_after(&mut hall, 0, flip);
    assert_eq!(frames_of.len(), 3, "{frames_of:?}");
    assert_eq!(frames_of[0]["id"], "x");
    let turned = json(
        r#"{"serialnr":"31417","flipped":true,"board":"R1BKQBNR/PPP1PPPP/2N5/3P4/5p2/8/ppppp1pp/rnbkqbnr"}"#,
    );
    assert_eq!(
        (&frames_of[1]["param"], &frames_of[2]["param"]),
        (&turned, &turned)
    );
    assert_eq!(hall.eboards()[0]["board"], turned["board"]);
    assert!(frames_after(&mut hall, 0, flip).len() == 1);
}

#[test]
fn a_set_up_position_becomes_a_command_if_setup_is_allowed() {
    let mut hall = hall(true);
    frames_after(&mut hall, 0, SUBSCRIBE);
    for event in events("board-4", "g1", "e4 c5 Nf3") {
        hall.apply(at(3000), &event);
    }
    frames(&mut hall, 0);
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    let text =
        format!(r#"{{"id":7,"call":"call","param":{{"id":4,"method":"setup","param":{{"fen":"{fen}"}}}}}}"#);
    let ask = |hall: &mut LiveChess| hall.handle_message(at(1), 1, &text).expect("a command");
    let (first, second) = (ask(&mut hall), ask(&mut hall));
    assert_ne!(first.command.id, second.command.id);
    assert_eq!((&*first.board, &*first.command.by), ("board-4", "livechess"));
    assert!(matches!(&first.command.order, Order::NewGame(new) if new.fen.as_deref() == Some(fen)));
    let answer = |error: Option<&str>| Answer {
        id: None,
        ok: error.is_none(),
        note: None,
        error: error.map(str::to_owned),
        standing: None,
        kept: true,
    };
    hall.answered(at(2), *first, Some(answer(Some("no"))));
    let refused = frames(&mut hall, 2);
    assert_eq!(
        (&refused[0]["response"], &refused[0]["param"]["message"]),
        (&"error".into(), &"no".into())
    );
    assert_eq!(refused.len(), 1);
    hall.answered(at(3), *second, Some(answer(None)));
    let done = frames(&mut hall, 3);
    assert_eq!(
        (&done[0]["response"], &done[0]["id"]),
        (&"call".into(), &7.into())
    );
    assert_eq!(
        (&done[1]["param"]["start"], &done[1]["param"]["san"]),
        (&fen.into(), &json("[]"))
    );
}

fn paired(table: u32, result: Option<GameResult>) -> Pairing {
    let player = |name: &str, fide_id| {
        let facts = PlayerFacts {
            fide_id: Some(fide_id),
            title: Some("WFM".to_owned()),
            federation: Some("NOR".to_owned()),
            ..PlayerFacts::default()
        };
        Some(Player {
            name: name.to_owned(),
            facts,
            ..Player::default()
        })
    };
    Pairing {
        table: Some(table),
        white: player("White, First", 1_500_001),
        black: player("Black, First M", 1_500_002),
        result,
        ..Pairing::default()
    }
}

/// A hall with two tables in the second round, and the id of the event.
fn paired_hall() -> (LiveChess, String) {
    let mut hall = hall(false);
    let round = Round {
        date: Some("2026-09-21".to_owned()),
        pairings: vec![paired(1, Some(GameResult::Draw)), paired(4, None)],
        ..Round::default()
    };
    hall.pair(Arc::new(Tournament {
        rounds: BTreeMap::from([(2, round)]),
        ..Tournament::default()
    }));
    let id = hall.tournaments()[0]["uuid"].as_str().expect("an id").to_owned();
    (hall, id)
}

#[test]
fn lookups_have_exactly_the_documented_keys() {
    let (hall, id) = paired_hall();
    assert_eq!(
        hall.tournaments(),
        serde_json::json!([{ "uuid": id, "description": "Open 2026", "rounds": 2 }])
    );
    let tournament = hall.tournament(&id).expect("the event");
    assert_eq!(
        tournament,
        serde_json::json!({ "uuid": id, "name": "Open 2026", "description": "Open 2026", "location": "Bremen",
            "country": null, "rounds": 2, "eboards": ["27182", "", "", "31417"] })
    );
    assert_eq!(
        hall.round(&id, 0),
        Some(serde_json::json!({ "nr": 1, "date": null, "pairings": [] }))
    );
    let round = hall.round(&id, 1).expect("the round");
    assert_eq!(
        (&round["nr"], &round["date"], &round["pairings"][0]["result"]),
        (&2.into(), &"2026-09-21".into(), &"DRAW".into())
    );
    let unplayed = &round["pairings"][0]["uuid"];
    assert_eq!(
        hall.game(unplayed.as_str().expect("an id")),
        Some(
            serde_json::json!({ "chess960": 518, "result": null, "comment": null, "clock": null, "moves": [] })
        )
    );
    assert!(hall.round(&id, 2).is_none() && hall.round("x", 1).is_none());
    assert!(hall.tournament("x").is_none() && hall.game("x").is_none());
}

#[test]
fn a_result_shown_on_the_board_is_not_a_decision() {
    let (mut hall, id) = paired_hall();
    let mut of_game = events("board-4", "g1", "e4 c5 Nf3");
    if let EventKind::GameStarted { players, .. } = &mut of_game[0].kind {
        *players = Some(paired(4, None).players(2));
    }
    let press = EventKind::MoveCompleted {
        ply: 1,
        by: CompletedBy::Press,
        clock: Some(Clock {
            white_ms: 594_000,
            black_ms: 600_000,
            running: Some(Color::Black),
            flag: None,
        }),
        elapsed_ms: Some(5900),
    };
    of_game.push(of("board-4", "g1", 9, press));
    of_game.iter().for_each(|event| hall.apply(at(0), event));
    let live = hall.round(&id, 1).expect("the round")["pairings"][1].clone();
    let player = |first: &str, last: &str, id: u32| {
        serde_json::json!({ "fname": first, "mname": null, "lname": last, "title": "WFM", "federation": "NOR",
            "gender": null, "fideid": id })
    };
    let game_id = live["uuid"].as_str().expect("an id");
    assert_eq!(
        live,
        serde_json::json!({ "nr": 4, "uuid": game_id, "white": player("First", "White", 1_500_001),
            "black": player("First M", "Black", 1_500_002), "live": true, "result": null })
    );
    let mut end = |confirmed| {
        let kind = EventKind::GameEnded {
            result: GameResult::WhiteWins,
            reason: EndReason::Kings,
            by: DecidedBy::Board,
            confirmed,
            end_certain: true,
            decided_by: None,
        };
        hall.apply(at(0), &of("board-4", "g1", 10, kind));
        hall.apply_clock(at(0), "board-4", &clock(5391, 5402, Some(Color::Black), 123));
        let pairing = hall.round(&id, 1).expect("the round")["pairings"][1].clone();
        assert_eq!(pairing["live"], !confirmed);
        (pairing["result"].clone(), hall.game(game_id).expect("the game"))
    };
    let (decided, game) = end(false);
    assert_eq!(
        game,
        serde_json::json!({ "chess960": 518, "result": "WHITEWIN", "comment": null,
            "clock": { "white": 5391, "black": 5402, "run": false, "time": 1_790_000_000_123_i64 },
            "moves": ["e4 594+6", "c5 600", "Nf3 600"] })
    );
    assert_eq!(decided, Value::Null);
    assert_eq!(end(true).0, "WHITEWIN");
}
