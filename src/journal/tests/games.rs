//! Games and gaps as derived from the events of a journal.

use kiebitz_game::events::record::Games;
use kiebitz_game::events::samples::{EVERY, clock};
use kiebitz_game::events::{Action, ClosedBy, CompletedBy, CorrectionReason, IncidentEnd, Recovery};
use kiebitz_game::laws::IncidentKind;

use super::*;

#[test]
fn games_of_real_boards_follow_from_their_events() {
    let place = Place::new();
    let mut journal = place.open();
    let mut open = 0;
    for events in captures() {
        journal.append(&events).expect("room");
        let board = &events[0].board;
        let mut games = Games::new();
        for event in &events {
            games.apply(event);
        }
        let game = journal.all_of("live", board).last_game().expect("readable");
        assert_eq!(game.as_ref().map(|game| &game.record), games.current());
        let list = journal.games("live", board).expect("readable");
        let Some(game) = game else {
            assert!(list.is_empty());
            continue;
        };
        let last = list.last().expect("the last game");
        assert_eq!((&last.game, last.ended), (&game.record.game, game.record.ended));
        assert_eq!(game.number as usize, list.len());
        let before = journal
            .all_of("live", board)
            .game_before_last(1)
            .expect("readable");
        let listed = list.iter().rev().nth(1).map(|before| &before.game);
        assert_eq!(before.as_ref().map(|before| &before.record.game), listed);
        let own = |event: &&Event| event.game.as_ref() == Some(&game.record.game);
        assert_eq!(game.last_ts, events.iter().rfind(own).expect("events").ts);
        let kept = journal.game_events("live", board, &last.game).expect("readable");
        assert!(
            kept.iter()
                .map(|event| event.seq)
                .eq(events.iter().filter(own).map(|event| event.seq))
        );
        open += usize::from(game.record.ended.is_none());
    }
    assert!(open > 0, "some capture ends in the middle of a game");
}

#[test]
fn game_has_its_plies_as_amended_and_withdrawn() {
    let place = Place::new();
    let mut journal = place.open();
    let kinds = [
        started("start", Variant::Chess960),
        EventKind::MoveMade(ply(1, "e2e4", "e4")),
        EventKind::MoveSettled {
            ply: 1,
            by: SettledBy::Reply,
        },
        EventKind::MoveCompleted {
            ply: 1,
            by: CompletedBy::Press,
            clock: Some(clock(590)),
            elapsed_ms: Some(10_000),
        },
        EventKind::MoveMade(ply(2, "e7e5", "e5")),
        EventKind::MoveMade(ply(3, "g1f3", "Nf3")),
        EventKind::MoveAmended {
            played: ply(2, "e7e6", "e6"),
            replaces: Some("e7e5".to_owned()),
            reason: CorrectionReason::Recovered,
        },
        EventKind::MoveMade(ply(3, "d2d4", "d4")),
        EventKind::MoveRetracted {
            ply: 3,
            reason: CorrectionReason::Takeback,
        },
    ];
    let events: Vec<Event> = (1..).zip(kinds).map(|(seq, kind)| event(seq, kind)).collect();
    journal.append(&events).expect("room");
    let game = journal
        .all_of("live", "b")
        .last_game()
        .expect("readable")
        .expect("a game");
    let moves = &game.record.moves;
    assert_eq!(
        moves
            .iter()
            .filter_map(|entry| entry.uci.as_deref())
            .collect::<Vec<_>>(),
        ["e2e4", "e7e6"]
    );
    assert_eq!(
        (moves[0].settled, moves[0].completed),
        (Some(SettledBy::Reply), Some(CompletedBy::Press))
    );
    assert_eq!(game.record.variant, Variant::Chess960);
    assert_eq!(
        (game.record.ended, game.number, game.last_ts),
        (None, 0, events[8].ts)
    );
}

/// Event 4: the arbiter amends the result of game 1.
fn amended(result: GameResult, reason: Option<EndReason>) -> Event {
    let kind = EventKind::GameAmended {
        by: "arbiter".to_owned(),
        result: Some(result),
        reason,
        players: None,
        time_control: None,
        time_control_typed: None,
        mode: None,
        moves: None,
        position: None,
        note: None,
        assigned: false,
    };
    in_game(4, "day-b-1", kind)
}

/// Event 4: play goes on, and the end of the game is withdrawn.
fn resumed() -> Event {
    let (result, reason) = (GameResult::WhiteWins, EndReason::Kings);
    in_game(4, "day-b-1", EventKind::GameResumed { result, reason })
}

#[test]
fn game_that_goes_on_after_an_end_is_in_play() {
    for (amended, over) in [
        (resumed(), false),
        (amended(GameResult::Unknown, None), false),
        (amended(GameResult::BlackWins, Some(EndReason::Flag)), true),
    ] {
        let mut journal = Place::new().open();
        let mut events = two_games();
        events.truncate(3);
        events.push(amended);
        let battery = Event {
            game: None,
            ..event(5, EventKind::ClockBatteryLow {})
        };
        events.push(battery);
        journal.append(&events).expect("room");
        let list = journal.games("live", "b").expect("readable");
        let ended = list.iter().map(|entry| entry.ended).collect::<Vec<_>>();
        assert_eq!(ended, [over.then_some(events[2].ts)]);
        let game = journal
            .all_of("live", "b")
            .last_game()
            .expect("readable")
            .expect("a game");
        assert_eq!(game.record.ended.is_some(), over);
        let far = Timestamp::from_micros(i64::MAX);
        let forgotten = journal.forget_before("live", far).expect("room");
        assert_eq!(forgotten, if over { 4 } else { 0 });
    }
}

#[test]
fn games_from_a_time_are_the_current_and_all_later_games() {
    let place = Place::new();
    let mut journal = place.open();
    let of_game = |seq: u64, game: Option<&str>, kind| Event {
        game: game.map(str::to_owned),
        ..event(seq, kind)
    };
    let start = || started("start", Variant::Standard);
    let events = [
        of_game(1, None, EventKind::ClockConnected {}),
        of_game(2, Some("a"), start()),
        of_game(3, Some("a"), EventKind::MoveMade(ply(1, "e2e4", "e4"))),
        of_game(4, Some("b"), start()),
        of_game(5, Some("b"), ended()),
        of_game(6, None, EventKind::ClockDisconnected {}),
        of_game(7, Some("c"), start()),
    ];
    journal.append(&events).expect("they are kept");
    let seqs = |seq: usize| {
        let at = event(seq as u64, EventKind::ClockConnected {}).ts;
        let games = journal.games_from("live", "b", at).expect("games");
        games.iter().map(|event| event.seq).collect::<Vec<_>>()
    };
    let all = [2, 3, 4, 5, 7];
    let from = [0, 0, 0, 0, 2, 2, 2, 4, 4];
    for (seq, from) in from.into_iter().enumerate() {
        assert_eq!(seqs(seq), all[from..], "at {seq}");
    }
    assert_eq!(
        journal.games_from("live", "none", events[0].ts).expect("none"),
        []
    );
}

/// Events between a board's disconnection and `board.recovered` do not end the gap.
#[test]
fn a_gap_is_open_until_its_recovery_is_published() {
    let disconnected = || EventKind::BoardDisconnected {
        reason: "unplugged".to_owned(),
    };
    let connected = || EventKind::BoardConnected {
        port: "/dev/ttyACM0".to_owned(),
        serial: None,
        version: None,
        orientation: None,
    };
    let recovered = || EventKind::BoardRecovered {
        by: Recovery::Undecidable,
        changes: 0,
        from: Timestamp::from_micros(0),
        to: Timestamp::from_micros(0),
    };
    let noted = || EventKind::ClockBatteryLow {};
    let followed = |kinds: &[EventKind]| {
        let mut journal = Place::new().open();
        let events: Vec<Event> = (1..)
            .zip(kinds)
            .map(|(seq, kind)| Event {
                ts: Timestamp::from_micros(i64::try_from(seq).expect("small")),
                ..event(seq, kind.clone())
            })
            .collect();
        journal.append(&events).expect("room");
        let at = journal.all_of("live", "b").last_followed().expect("readable");
        at.map(Timestamp::as_micros)
    };
    assert_eq!(followed(&[]), None);
    assert_eq!(followed(&[connected()]), Some(1));
    let started = || started("start", Variant::Standard);
    assert_eq!(followed(&[connected(), started(), noted()]), Some(3));
    assert_eq!(
        followed(&[
            connected(),
            disconnected(),
            noted(),
            connected(),
            started(),
            noted()
        ]),
        Some(2)
    );
    // The daemon was not running, so no `board.disconnected` was published.
    assert_eq!(
        followed(&[
            connected(),
            started(),
            noted(),
            connected(),
            noted(),
            disconnected()
        ]),
        Some(3)
    );
    assert_eq!(
        followed(&[
            connected(),
            started(),
            disconnected(),
            connected(),
            noted(),
            recovered(),
            noted()
        ]),
        Some(7)
    );
}

/// An arbiter corrects a game while another one is played on the board, and again after that one.
#[test]
fn a_game_includes_amendments_made_after_the_next_one_began() {
    let place = Place::new();
    let mut journal = place.open();
    let amended = |result| EventKind::GameAmended {
        by: "A. Meier".to_owned(),
        result: Some(result),
        reason: Some(EndReason::Arbiter),
        players: None,
        time_control: None,
        time_control_typed: None,
        mode: None,
        moves: None,
        position: None,
        note: None,
        assigned: false,
    };
    let of = |seq: u64, game: &str, kind: EventKind| Event {
        game: Some(game.to_owned()),
        ..event(seq, kind)
    };
    let events = [
        of(1, "g-1", started("start", Variant::Standard)),
        of(2, "g-1", EventKind::MoveMade(ply(1, "e2e4", "e4"))),
        of(3, "g-2", started("start", Variant::Standard)),
        of(4, "g-2", EventKind::MoveMade(ply(1, "d2d4", "d4"))),
        of(5, "g-1", amended(GameResult::WhiteWins)),
        of(6, "g-2", EventKind::MoveMade(ply(2, "d7d5", "d5"))),
        of(7, "g-3", started("start", Variant::Standard)),
        of(8, "g-1", amended(GameResult::Draw)),
    ];
    journal.append(&events).expect("room");
    let seqs = |events: Vec<Event>| events.iter().map(|event| event.seq).collect::<Vec<u64>>();
    let game = |id| seqs(journal.game("live", "b", id).expect("readable"));
    assert_eq!(game("g-1"), [1, 2, 5, 8]);
    assert_eq!(game("g-2"), [3, 4, 6]);
    let with_board = |id, before| {
        let events = journal.game_with_board("live", "b", id, before);
        seqs(events.expect("readable"))
    };
    assert_eq!(with_board("g-1", None), [1, 2, 5, 8]);
    assert_eq!(with_board("g-2", Some("g-1")), [3, 4, 6]);
    let from_first = journal.games_from("live", "b", events[0].ts).expect("readable");
    assert_eq!(
        seqs(from_first),
        [1, 2, 3, 4, 5, 6, 7, 8],
        "in the order of their numbers"
    );
    let result = |until| {
        let game = journal.past("live", "b", until).game("g-1").expect("readable");
        game.expect("a game").record.result
    };
    assert_eq!(
        [4, 5, 8].map(result),
        [GameResult::Unknown, GameResult::WhiteWins, GameResult::Draw]
    );
}

/// A late start is an incident before any game, and an arbiter may be sent to the board.
#[test]
fn entries_without_a_game_are_found_again() {
    let place = Place::new();
    let mut journal = place.open();
    let without = |seq: u64, kind| Event {
        game: None,
        ..event(seq, kind)
    };
    let command = |seq: u64, action, arguments| {
        let kind = EventKind::CommandTaken {
            id: seq.to_string(),
            action,
            by: "meier".to_owned(),
            arguments,
            error: None,
            note: None,
        };
        without(seq, kind)
    };
    let opened = EVERY
        .lines()
        .find(|line| line.contains("\"incident.opened\",\"incident\":1,\"kind\":\"late_start\""));
    let opened: Event = serde_json::from_str(opened.expect("an example")).expect("an event");
    let closed = EventKind::IncidentClosed {
        incident: 1,
        kind: IncidentKind::LateStart,
        by: ClosedBy::Board,
        reason: IncidentEnd::Passed,
        counts: None,
        decision: None,
        decided_by: None,
    };
    let events = [
        without(1, EventKind::ClockConnected {}),
        without(2, opened.kind),
        command(3, Action::Attend, serde_json::json!({"incident": 1})),
        command(4, Action::Annotate, serde_json::json!({"text": "late"})),
        command(5, Action::Attend, serde_json::json!({})),
        event(6, started("start", Variant::Standard)),
        event(7, closed),
    ];
    journal.append(&events).expect("they are kept");
    let entries = journal
        .round_entries("live", "b", Timestamp::default())
        .expect("readable");
    let seqs: Vec<u64> = entries.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [2, 3, 5, 7]);
}
