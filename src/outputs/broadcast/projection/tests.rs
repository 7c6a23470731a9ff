mod previews;
mod standings;
mod wall;
mod written;

use serde_json::Value;

use kiebitz_game::events::samples::{clock, ply, started};
use kiebitz_game::events::{CompletedBy, DecidedBy, EndReason, GameResult, PlayerFacts, Players};
use kiebitz_game::position::Variant;
use shakmaty::Color;

use super::*;
use crate::tournament::{EventHall, Pairing, Player};

pub(super) const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_micros((1_789_000_000 + second) * 1_000_000)
}

fn player(name: &str, fide_id: u32) -> Player {
    let facts = PlayerFacts {
        fide_id: Some(fide_id),
        ..PlayerFacts::default()
    };
    Player {
        name: name.to_owned(),
        facts,
        ..Player::default()
    }
}

fn pairing(table: u32, white: &str, black: Option<&str>) -> Pairing {
    Pairing {
        table: Some(table),
        white: Some(player(white, 100 + table)),
        black: black.map(|name| player(name, 200 + table)),
        ..Pairing::default()
    }
}

/// Two tables and a player with a bye.
fn tournament() -> Arc<Tournament> {
    let pairings = vec![
        pairing(1, "Adler, Jonas", Some("Berg, Ines")),
        pairing(2, "Clausen, Per", Some("Dorn, Uta Maria")),
        pairing(3, "Ebert, Kim", None),
    ];
    let round = Round {
        date: Some("2026-09-10".to_owned()),
        pairings,
        ..Round::default()
    };
    Arc::new(Tournament {
        rounds: BTreeMap::from([(3, round)]),
        ..Tournament::default()
    })
}

/// The same event with a team for each player.
pub(super) fn team_event() -> Arc<Tournament> {
    let mut tournament = (*tournament()).clone();
    let pairings = tournament
        .rounds
        .values_mut()
        .flat_map(|round| &mut round.pairings);
    for pairing in pairings {
        for (player, team) in [(&mut pairing.white, "SK Nord"), (&mut pairing.black, "SK Süd")] {
            if let Some(player) = player {
                player.facts.team = Some(team.to_owned());
            }
        }
    }
    Arc::new(tournament)
}

pub(super) fn broadcast(delay: u64) -> Broadcast {
    let facts = EventFacts {
        name: Some("Café Open 2026".to_owned()),
        site: Some("Bremen".to_owned()),
        time_control: Some("5400+30".to_owned()),
        start: None,
        rounds: Rounds::planned([at(0), at(3600), at(7200)]),
        tie_breaks: None,
    };
    let mut broadcast = Broadcast::new(Duration::from_secs(delay), facts);
    broadcast.pair(tournament());
    broadcast
}

/// Creates an event of the game on board number `board`, published at `second`.
fn event(board: u32, second: i64, kind: EventKind) -> Event {
    Event {
        ts: at(second),
        board: format!("board-{board}"),
        game: Some(format!("2026-09-10-board-{board}-1")),
        ..kiebitz_game::events::samples::event(1, kind)
    }
}

/// Creates the start of a paired game.
pub(super) fn begins(board: u32, second: i64, variant: Variant, fen: &str) -> Event {
    let mut kind = started(fen, variant);
    if let EventKind::GameStarted { players, .. } = &mut kind {
        *players = tournament().pairing(3, board).map(|pairing| pairing.players(3));
    }
    event(board, second, kind)
}

fn made(board: u32, second: i64, number: u32, uci: &str, san: &str) -> Event {
    event(board, second, EventKind::MoveMade(ply(number, uci, san)))
}

fn completed(board: u32, second: i64, ply: u32, seconds: u64) -> Event {
    let kind = EventKind::MoveCompleted {
        ply,
        by: CompletedBy::Press,
        clock: Some(clock(seconds)),
        elapsed_ms: Some(7400),
    };
    event(board, second, kind)
}

pub(super) fn ended(board: u32, second: i64, result: GameResult) -> Event {
    let kind = EventKind::GameEnded {
        result,
        reason: EndReason::Resignation,
        by: DecidedBy::Arbiter,
        confirmed: true,
        end_certain: true,
        decided_by: None,
    };
    event(board, second, kind)
}

pub(super) fn take(broadcast: &mut Broadcast, events: &[Event]) {
    for event in events {
        broadcast.queue(event.ts, event);
    }
}

pub(super) fn text(broadcast: &mut Broadcast, path: &str) -> String {
    let file = broadcast
        .files()
        .get(path)
        .unwrap_or_else(|| panic!("no file {path}"));
    String::from_utf8(file.content.to_vec()).expect("text")
}

fn json(broadcast: &mut Broadcast, path: &str) -> Value {
    serde_json::from_str(&text(broadcast, path)).expect("JSON")
}

#[test]
fn all_games_of_a_round_are_published_before_they_begin() {
    let mut broadcast = broadcast(0);
    let games = text(&mut broadcast, "round-3/games.pgn");
    assert_eq!(
        games.matches("[Event \"Café Open 2026\"]").count(),
        2,
        "nobody plays nobody"
    );
    for line in [
        "[Round \"3.1\"]",
        "[White \"Adler, Jonas\"]",
        "[WhiteFideId \"101\"]",
        "[BlackFideId \"202\"]",
        "[Date \"2026.09.10\"]",
        "[TimeControl \"5400+30\"]",
        "[GameId \"café-open-2026-3.2\"]",
    ] {
        assert!(games.contains(line), "{line} in {games}");
    }
    assert_eq!(
        json(&mut broadcast, "round-3/index.json")["pairings"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let summary = json(&mut broadcast, "tournament.json");
    assert_eq!(summary["rounds"][2], serde_json::json!({"count": 2, "live": 0}));
    // Readers fetch every game of the list, and some give up at the first one that is missing.
    let unplayed = serde_json::json!({ "live": false, "serialNr": null, "firstMove": null, "chess960": 518,
        "result": null, "comment": null, "clock": null, "moves": [] });
    for game in ["round-3/game-1.json", "round-3/game-2.json"] {
        assert_eq!(json(&mut broadcast, game), unplayed, "{game}");
    }
}

/// Two halls of a hub, the second of which has a board that plays at a table of the first.
fn at_hub(names: [Option<&str>; 2]) -> Broadcast {
    let mut broadcast = broadcast(0);
    let halls = [("north", names[0]), ("south", names[1])];
    let halls = halls.map(|(prefix, name)| EventHall {
        prefix: format!("{prefix}/kiebitz"),
        name: name.map(str::to_owned),
    });
    broadcast.pair(Arc::new((*tournament()).clone().at_hub(&halls)));
    broadcast
}

fn in_hall(hall: &str, event: Event) -> Event {
    Event {
        board: format!("{hall}/kiebitz/{}", event.board),
        game: event.game.map(|game| format!("{hall}: {game}")),
        ..event
    }
}

#[test]
fn games_of_two_halls_at_one_table_are_both_shown() {
    let mut broadcast = at_hub([None, None]);
    let play = |hall: &str, second: i64, uci: &str, san: &str| {
        let begins = begins(1, second, Variant::Standard, pgn::STANDARD);
        [begins, made(1, second + 1, 1, uci, san)].map(|event| in_hall(hall, event))
    };
    // South begins later, but is read first.
    take(&mut broadcast, &play("south", 20, "d2d4", "d4"));
    take(&mut broadcast, &play("north", 10, "e2e4", "e4"));
    let tables = |broadcast: &mut Broadcast| {
        broadcast.advance(at(60));
        let round = json(broadcast, "round-3/wall.json");
        let games = round["games"].as_array().cloned().unwrap_or_default();
        let game = |game: Value| {
            format!(
                "{} {}",
                game["table"],
                game["last"]["san"].as_str().unwrap_or("-")
            )
        };
        games.into_iter().map(game).collect::<Vec<_>>()
    };
    assert_eq!(tables(&mut broadcast), ["1 e4", "2 -", "2001 d4"]);
    let games = text(&mut broadcast, "round-3/games.pgn");
    for line in [
        "[Round \"3.1\"]",
        "[Round \"3.2001\"]",
        "[GameId \"café-open-2026-3.2001\"]",
    ] {
        assert_eq!(games.matches(line).count(), 1, "{line} in {games}");
    }
    let list = json(&mut broadcast, "wall.json");
    assert_eq!(list["halls"][1]["name"], "south");
    let unplayed =
        ["south", "north"].map(|hall| in_hall(hall, begins(2, 90, Variant::Standard, pgn::STANDARD)));
    take(&mut broadcast, &unplayed);
    broadcast.advance(at(95));
    assert_eq!(broadcast.rounds()[&3].len(), 3, "no move at the second table yet");
}

#[test]
fn a_pairing_at_which_two_halls_have_played_counts_once() {
    let mut broadcast = at_hub([None, None]);
    let mut event = (*broadcast.tournament).clone();
    let round = event.rounds.remove(&3).expect("the round");
    event.rounds.insert(1, round);
    broadcast.pair(Arc::new(event));
    for hall in ["north", "south"] {
        let mut begins = begins(1, 10, Variant::Standard, pgn::STANDARD);
        if let EventKind::GameStarted {
            players: Some(players),
            ..
        } = &mut begins.kind
        {
            players.round = Some(1);
        }
        let events = [
            begins,
            made(1, 11, 1, "e2e4", "e4"),
            ended(1, 20, GameResult::WhiteWins),
        ];
        take(&mut broadcast, &events.map(|event| in_hall(hall, event)));
    }
    broadcast.advance(at(60));
    let standings = json(&mut broadcast, "standings.json");
    let first = &standings["players"][0];
    assert_eq!(
        (&first["name"], &first["points"]),
        (&"Adler, Jonas".into(), &1.0.into()),
        "{standings}"
    );
    assert_eq!(first["results"].as_array().map(Vec::len), Some(1), "{standings}");
}

#[test]
fn boards_of_named_halls_have_their_own_tables_without_pairings() {
    let mut broadcast = at_hub([Some("North"), Some("South")]);
    let halls = broadcast.tournament.halls.clone();
    broadcast.pair(Arc::new(Tournament::default().at_hub(&halls)));
    for hall in ["north", "south"] {
        let mut begins = begins(1, 10, Variant::Standard, pgn::STANDARD);
        if let EventKind::GameStarted { players, .. } = &mut begins.kind {
            *players = None;
        }
        take(&mut broadcast, &[in_hall(hall, begins)]);
    }
    broadcast.advance(at(60));
    let rounds = broadcast.rounds();
    let tables: Vec<u32> = rounds.values().flatten().map(|slot| slot.table).collect();
    assert_eq!(tables, [1001, 2001]);
}

#[test]
fn every_listed_round_has_a_file() {
    let mut broadcast = broadcast(0);
    for _ in 0..2 {
        let listed = json(&mut broadcast, "tournament.json")["rounds"]
            .as_array()
            .map(Vec::len);
        assert_eq!(listed, Some(3));
        for round in 1..=2 {
            assert_eq!(
                text(&mut broadcast, &format!("round-{round}/index.json")),
                r#"{"date":null,"pairings":[]}"#
            );
        }
        assert_eq!(json(&mut broadcast, "round-3/index.json")["date"], "2026-09-10");
        // The file must stay when the files are built from earlier ones.
        take(&mut broadcast, &[begins(1, 1, Variant::Standard, START)]);
        broadcast.advance(at(1));
    }
}

#[test]
fn every_listed_game_has_a_file() {
    let mut broadcast = broadcast(0);
    let has_all = |broadcast: &mut Broadcast, listed: usize| {
        let index = json(broadcast, "round-3/index.json");
        let pairings = index["pairings"].as_array().map_or(0, Vec::len);
        assert_eq!(pairings, listed);
        for nth in 1..=pairings {
            assert!(json(broadcast, &format!("round-3/game-{nth}.json"))["moves"].is_array());
        }
    };
    has_all(&mut broadcast, 2);
    take(&mut broadcast, &[begins(2, 1, Variant::Standard, START)]);
    broadcast.advance(at(1));
    has_all(&mut broadcast, 2);
    // An arbiter assigns the game to a table without a pairing.
    let mut players = tournament().pairing(3, 2).map(|pairing| pairing.players(3));
    if let Some(players) = &mut players {
        players.table = Some(9);
    }
    take(&mut broadcast, &[amended(2, 2, amendment(players, None))]);
    broadcast.advance(at(2));
    has_all(&mut broadcast, 3);
    // A start position that is not drawn yet is unknown, not the standard one.
    broadcast.set_facts(EventFacts {
        start: Some(DrawnStart::Chess960(None)),
        ..EventFacts::default()
    });
    has_all(&mut broadcast, 3);
    assert_eq!(
        json(&mut broadcast, "round-3/game-1.json")["chess960"],
        Value::Null
    );
}

/// Readers assume that the program guessed a move without times.
#[test]
fn a_move_without_a_clock_has_its_elapsed_time() {
    let mut broadcast = broadcast(0);
    let without_clock = |second, number, uci: &str, san: &str| {
        let mut event = made(1, second, number, uci, san);
        if let EventKind::MoveMade(played) = &mut event.kind {
            played.clock = None;
        }
        event
    };
    let moves = |broadcast: &mut Broadcast| json(broadcast, "round-3/game-1.json")["moves"].clone();
    take(
        &mut broadcast,
        &[
            begins(1, 1, Variant::Standard, START),
            without_clock(100, 1, "e2e4", "e4"),
            without_clock(112, 2, "e7e5", "e5"),
            without_clock(112, 3, "g1f3", "Nf3"),
            // The move was on the board three seconds before it was published.
            Event {
                at: Some(at(130)),
                ..without_clock(133, 4, "b8c6", "Nc6")
            },
        ],
    );
    broadcast.advance(at(133));
    let played = serde_json::json!(["e4 +0", "e5 +12", "Nf3 +0", "Nc6 +18"]);
    assert_eq!(moves(&mut broadcast), played);
    assert_eq!(
        json(&mut broadcast, "round-3/game-1.json")["firstMove"],
        1_789_000_100_000_i64
    );
    // A correction replaces the times, too. The time of a move that an arbiter corrects is unknown.
    let retracted = EventKind::MoveRetracted {
        ply: 3,
        reason: kiebitz_game::events::CorrectionReason::Takeback,
    };
    let corrected = [event(1, 140, retracted), without_clock(142, 3, "b1c3", "Nc3")];
    take(&mut broadcast, &corrected);
    broadcast.advance(at(142));
    assert_eq!(
        moves(&mut broadcast),
        serde_json::json!(["e4 +0", "e5 +12", "Nc3 +30"])
    );
    let corrected = match without_clock(3000, 3, "f1c4", "Bc4").kind {
        EventKind::MoveMade(played) => EventKind::MoveAmended {
            played,
            replaces: Some("b1c3".to_owned()),
            reason: kiebitz_game::events::CorrectionReason::Arbiter,
        },
        other => panic!("{other:?}"),
    };
    let entered = [event(1, 3000, corrected), without_clock(3000, 4, "g8f6", "Nf6")];
    take(&mut broadcast, &entered);
    broadcast.advance(at(3000));
    let played = serde_json::json!(["e4 +0", "e5 +12", "Bc4 +0", "Nf6 +0"]);
    assert_eq!(moves(&mut broadcast), played);
}

/// Readers use the start position of a game only if the event is marked as Chess960.
#[test]
fn the_event_is_chess960_if_start_positions_are_drawn() {
    const DRAWN: &str = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR";
    let mut broadcast = broadcast(0);
    let chess960 = |broadcast: &mut Broadcast| json(broadcast, "tournament.json")["chess960"].clone();
    assert_eq!(chess960(&mut broadcast), "STANDARD");
    for (start, word, number) in [
        (Some(DrawnStart::Chess960(None)), "ANY", Value::Null),
        (
            Some(DrawnStart::Chess960(Some(DRAWN.to_owned()))),
            "ANY",
            0.into(),
        ),
        (Some(DrawnStart::Standard), "STANDARD", 518.into()),
        (None, "STANDARD", 518.into()),
    ] {
        broadcast.set_facts(EventFacts {
            start,
            ..EventFacts::default()
        });
        assert_eq!(chess960(&mut broadcast), word);
        assert_eq!(json(&mut broadcast, "round-3/game-1.json")["chess960"], number);
    }
    // If the configuration has no drawn start, one Chess960 game is enough.
    let fen = format!("{DRAWN} w KQkq - 0 1");
    take(&mut broadcast, &[begins(2, 1, Variant::Chess960, &fen)]);
    broadcast.advance(at(1));
    assert_eq!(chess960(&mut broadcast), "ANY");
}

#[test]
fn a_game_is_written_in_the_format_of_relays() {
    let mut broadcast = broadcast(0);
    let connected = EventKind::BoardConnected {
        port: "/dev/ttyUSB0".to_owned(),
        serial: Some("0000031417".to_owned()),
        version: None,
        orientation: None,
    };
    take(
        &mut broadcast,
        &[
            event(2, 0, connected),
            begins(2, 1, Variant::Standard, START),
            made(2, 10, 1, "e2e4", "e4"),
            completed(2, 11, 1, 5395),
            made(2, 20, 2, "c7c5", "c5"),
        ],
    );
    let reading = ClockView {
        white_ms: Some(5_395_000),
        black_ms: Some(5_391_200),
        running: Some(Color::Black),
        flag: None,
        as_of: Some(at(21)),
    };
    broadcast.queue_clock(at(21), "board-2", &reading);
    assert!(broadcast.advance(at(21)));
    let game = json(&mut broadcast, "round-3/game-2.json");
    assert_eq!(game["moves"], serde_json::json!(["e4 5395+7", "c5 600"]));
    assert_eq!(game["serialNr"], "0000031417");
    assert_eq!(
        (&game["live"], &game["chess960"]),
        (&Value::Bool(true), &Value::from(518))
    );
    assert_eq!(game["firstMove"], 1_789_000_010_000_i64);
    let clock =
        serde_json::json!({"white": 5395, "black": 5391, "run": false, "time": 1_789_000_021_000_i64});
    assert_eq!(game["clock"], clock);
    let index = json(&mut broadcast, "round-3/index.json");
    assert_eq!(index["date"], "2026-09-10");
    let black = serde_json::json!({"fname": "Uta Maria", "mname": null, "lname": "Dorn", "title": null,
        "federation": null, "gender": null, "fideid": 202});
    assert_eq!(index["pairings"][1]["black"], black);
    assert_eq!(
        (&index["pairings"][1]["live"], &index["pairings"][1]["result"]),
        (&Value::Bool(true), &"*".into())
    );
    let pgn = text(&mut broadcast, "round-3/game-2.pgn");
    assert!(
        pgn.contains("[WhiteClock \"01:29:55\"]") && pgn.contains("[ReferenceTime \"B/2026-09-10T"),
        "{pgn}"
    );
    assert!(pgn.contains("1. e4 {[%clk 1:29:55][%emt 0:00:07]}"), "{pgn}");

    take(&mut broadcast, &[ended(2, 30, GameResult::BlackWins)]);
    broadcast.advance(at(30));
    let index = json(&mut broadcast, "round-3/index.json");
    assert_eq!(
        (&index["pairings"][1]["live"], &index["pairings"][1]["result"]),
        (&Value::Bool(false), &"0-1".into())
    );
    assert_eq!(json(&mut broadcast, "round-3/game-2.json")["result"], "BLACKWIN");
    assert!(!text(&mut broadcast, "round-3/game-2.pgn").contains("WhiteClock"));
    take(
        &mut broadcast,
        &[
            begins(1, 31, Variant::Standard, START),
            ended(1, 40, GameResult::Draw),
        ],
    );
    broadcast.advance(at(40));
}

/// Readers assume the standard position for a game without a start position, and ignore a later correction.
#[test]
fn a_game_with_an_unknown_start_position_is_not_published() {
    let mut broadcast = broadcast(0);
    let with = |start| EventFacts {
        start: Some(start),
        ..EventFacts::default()
    };
    broadcast.set_facts(with(DrawnStart::Chess960(None)));
    assert_eq!(text(&mut broadcast, "round-3/games.pgn"), "");
    let drawn = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR";
    broadcast.set_facts(with(DrawnStart::Chess960(Some(drawn.to_owned()))));
    let games = text(&mut broadcast, "round-3/games.pgn");
    assert_eq!(
        games
            .matches("[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"bbqnnrkr/")
            .count(),
        2,
        "{games}"
    );
    broadcast.set_facts(with(DrawnStart::Chess960(None)));
    let fen = format!("{drawn} w KQkq - 0 1");
    take(&mut broadcast, &[begins(2, 1, Variant::Chess960, &fen)]);
    broadcast.advance(at(1));
    let games = text(&mut broadcast, "round-3/games.pgn");
    assert!(games.contains("Clausen") && !games.contains("Adler"), "{games}");
    assert_eq!(json(&mut broadcast, "round-3/game-2.json")["chess960"], 0);
}

#[test]
fn a_move_is_published_when_due_unless_it_is_retracted_before() {
    let mut broadcast = broadcast(900);
    let retracted = EventKind::MoveRetracted {
        ply: 1,
        reason: kiebitz_game::events::CorrectionReason::IllegalRestored,
    };
    take(
        &mut broadcast,
        &[
            begins(1, 1, Variant::Standard, START),
            made(1, 10, 1, "e2e5", "e5"),
            event(1, 20, retracted),
            made(1, 30, 1, "e2e4", "e4"),
        ],
    );
    broadcast.files();
    assert!(!broadcast.advance(at(900)));
    assert!(broadcast.advance(at(925)));
    assert_eq!(
        json(&mut broadcast, "round-3/game-1.json")["moves"],
        serde_json::json!([])
    );
    broadcast.advance(at(930));
    assert_eq!(
        json(&mut broadcast, "round-3/game-1.json")["moves"],
        serde_json::json!(["e4 600"])
    );
}

#[test]
fn without_pairings_every_board_is_a_table() {
    let mut broadcast = broadcast(0);
    broadcast.pair(Arc::default());
    let unnamed = |board| event(board, 1, started(START, Variant::Standard));
    // `ttyACM0` has no number, and number 7 is already in use.
    let started_on = |name: &str, second| Event {
        board: name.to_owned(),
        game: Some(name.to_owned()),
        ..event(0, second, started(START, Variant::Standard))
    };
    let events = [
        started_on("south/board-7", 3),
        started_on("ttyACM0", 2),
        unnamed(12),
        unnamed(7),
    ];
    take(&mut broadcast, &events);
    broadcast.advance(at(3));
    let games = text(&mut broadcast, "round-1/games.pgn");
    let tags = |name: &str| {
        let lines = games.lines().filter(|line| line.starts_with(name));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        tags("[Round "),
        [
            "[Round \"1.7\"]",
            "[Round \"1.12\"]",
            "[Round \"1.13\"]",
            "[Round \"1.14\"]"
        ]
    );
    assert_eq!(
        tags("[Board "),
        [
            "[Board \"7\"]",
            "[Board \"12\"]",
            "[Board \"13\"]",
            "[Board \"14\"]"
        ]
    );
    assert_eq!(
        broadcast.rounds()[&1][2].game.map(|game| &*game.record.board),
        Some("ttyACM0")
    );
}

/// Games without a pairing are private, for example moves that players try before the round.
#[test]
fn with_pairings_only_paired_games_are_public() {
    let mut broadcast = broadcast(0);
    take(
        &mut broadcast,
        &[
            event(1, 1, started(START, Variant::Standard)),
            made(1, 2, 1, "e2e4", "e4"),
        ],
    );
    broadcast.advance(at(2));
    assert_eq!(
        json(&mut broadcast, "round-3/game-1.json")["moves"],
        serde_json::json!([])
    );
    let has_no_move = |file: &PublishedFile| !String::from_utf8_lossy(&file.content).contains("e4");
    assert!(broadcast.files().values().all(has_no_move));
}

#[test]
fn the_same_events_give_the_same_files() {
    let events = [
        begins(2, 1, Variant::Standard, START),
        made(2, 10, 1, "e2e4", "e4"),
        completed(2, 11, 1, 5395),
        begins(1, 12, Variant::Standard, START),
        ended(2, 40, GameResult::WhiteWins),
    ];
    let mut live = broadcast(0);
    for event in &events {
        live.queue(event.ts, event);
        live.advance(event.ts);
        live.files();
    }
    let mut again = broadcast(0);
    for board in ["board-1", "board-2"] {
        let of_board: Vec<Event> = events
            .iter()
            .filter(|event| event.board == board)
            .cloned()
            .collect();
        again.resume(at(50), board, &of_board);
    }
    again.advance(at(50));
    live.all_changed = true;
    let path = "round-3/games.pgn";
    assert_eq!(text(&mut live, path), text(&mut again, path));
    assert_eq!(
        json(&mut live, "round-3/index.json"),
        json(&mut again, "round-3/index.json")
    );
}

/// Names corrected by an arbiter take precedence over those of the pairing file.
#[test]
fn names_corrected_by_an_arbiter_are_published() {
    let mut broadcast = broadcast(0);
    let mut begun = begins(1, 1, Variant::Standard, START);
    if let EventKind::GameStarted {
        players: Some(players),
        ..
    } = &mut begun.kind
    {
        *players = Players {
            white: Some("Adler, Jonathan".to_owned()),
            ..players.clone()
        };
    }
    take(&mut broadcast, &[begun]);
    broadcast.advance(at(1));
    assert!(text(&mut broadcast, "round-3/game-1.pgn").contains("[White \"Adler, Jonathan\"]"));
}

/// Returns the event as one of the `nth` game of its board.
fn of_game(nth: u32, event: Event) -> Event {
    let game = format!("2026-09-10-{}-{nth}", event.board);
    Event {
        game: Some(game),
        ..event
    }
}

fn amended(board: u32, second: i64, kind: EventKind) -> Event {
    let mut amended = event(board, second, kind);
    if let EventKind::GameAmended { by, .. } = &mut amended.kind {
        "A. Meier".clone_into(by);
    }
    amended
}

fn amendment(players: Option<Players>, result: Option<GameResult>) -> EventKind {
    EventKind::GameAmended {
        by: String::new(),
        result,
        reason: result.map(|_| EndReason::Arbiter),
        players,
        time_control: None,
        time_control_typed: None,
        mode: None,
        moves: None,
        position: None,
        note: None,
        assigned: false,
    }
}

#[test]
fn a_second_game_of_a_table_is_shown_only_if_an_arbiter_assigns_it() {
    let mut broadcast = broadcast(0);
    let first: Vec<Event> = [begins(1, 10, Variant::Standard, START)]
        .into_iter()
        .chain((1..=18).map(|number| made(1, 20, number, "e2e4", "e4")))
        .chain([ended(1, 30, GameResult::Unknown)])
        .collect();
    take(&mut broadcast, &first);
    let second: Vec<Event> = [begins(1, 40, Variant::Standard, START)]
        .into_iter()
        .chain((1..=12).map(|number| made(1, 50, number, "d2d4", "d4")))
        .map(|event| of_game(2, event))
        .collect();
    take(&mut broadcast, &second);
    broadcast.advance(at(60));
    assert!(text(&mut broadcast, "round-3/game-1.pgn").contains("1. e4"));
    let players = tournament().pairing(3, 1).map(|pairing| pairing.players(3));
    let mut replay = of_game(2, amended(1, 70, amendment(players, None)));
    if let EventKind::GameAmended { assigned, .. } = &mut replay.kind {
        *assigned = true;
    }
    take(&mut broadcast, &[replay]);
    broadcast.advance(at(70));
    assert!(text(&mut broadcast, "round-3/game-1.pgn").contains("1. d4"));
}

#[test]
fn a_result_reaches_a_game_after_the_next_one_has_begun() {
    let mut broadcast = broadcast(10);
    let first = [
        begins(1, 10, Variant::Standard, START),
        made(1, 20, 1, "e2e4", "e4"),
    ];
    take(&mut broadcast, &first);
    let next = of_game(2, event(1, 40, started(START, Variant::Standard)));
    let result = amended(1, 50, amendment(None, Some(GameResult::BlackWins)));
    take(&mut broadcast, &[next, result]);
    broadcast.advance(at(59));
    assert!(text(&mut broadcast, "round-3/game-1.pgn").contains("[Result \"*\"]"));
    broadcast.advance(at(60));
    assert!(text(&mut broadcast, "round-3/game-1.pgn").contains("[Result \"0-1\"]"));
    assert_eq!(
        json(&mut broadcast, "round-3/index.json")["pairings"][0]["result"],
        "0-1"
    );
}

#[test]
fn a_table_without_a_game_has_the_entered_result() {
    let mut broadcast = broadcast(0);
    let entered = |second, result| Event {
        game: None,
        ..event(
            1,
            second,
            EventKind::TableResult {
                round: 3,
                table: 2,
                result,
                reason: EndReason::Arbiter,
                by: "A. Meier".to_owned(),
            },
        )
    };
    let mut shown = |second, result| {
        take(&mut broadcast, &[entered(second, result)]);
        broadcast.advance(at(second));
        let pgn = text(&mut broadcast, "round-3/game-2.pgn");
        let tag = pgn.lines().find(|line| line.starts_with("[Result"));
        tag.map(str::to_owned)
    };
    assert_eq!(
        shown(10, GameResult::Draw).as_deref(),
        Some("[Result \"1/2-1/2\"]")
    );
    assert_eq!(
        shown(20, GameResult::WhiteWins).as_deref(),
        Some("[Result \"1-0\"]")
    );
    assert_eq!(shown(30, GameResult::Unknown).as_deref(), Some("[Result \"*\"]"));
}
