mod damage;

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::events::record::Games;
use crate::events::record::tests::{clock, event, ply, started};
use crate::events::{CompletedBy, CorrectionReason, DecidedBy, EndReason, EventKind, GameResult, SettledBy};
use crate::replay::Replay;
use crate::tracker::{Recovery, Variant};

/// A directory for a journal, removed in the end.
pub(super) struct Place(TempDir);

impl Place {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("state/journal.sqlite")
    }

    pub(super) fn open(&self) -> Journal {
        Journal::open(&self.path()).expect("a journal")
    }
}

/// All events of the captures in tests/captures, one capture after the other; every capture is a board of its own.
fn captures() -> Vec<Vec<Event>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let files = fs::read_dir(directory).expect("captures");
    let paths = files.map(|file| file.expect("a file").path());
    let captures = paths.filter(|path| path.extension().is_some_and(|extension| extension == "pcapng"));
    let captures: Vec<_> = captures.map(|path| capture(&path)).collect();
    assert!(captures.len() > 10);
    captures
}

fn capture(path: &Path) -> Vec<Event> {
    let mut replay = Replay::open(path, "live").expect("a capture");
    let mut events = Vec::new();
    while replay.next_at().is_some() {
        events.extend(
            replay
                .step()
                .expect("a whole capture")
                .into_iter()
                .map(|said| said.event),
        );
    }
    let name = path.file_stem().expect("a name").to_string_lossy();
    for event in &mut events {
        event.board = format!("{name}-{}", event.board);
    }
    events
}

pub(super) fn ended() -> EventKind {
    EventKind::GameEnded {
        result: GameResult::WhiteWins,
        reason: EndReason::Kings,
        by: DecidedBy::Board,
        confirmed: false,
    }
}

/// An event of the board "b", in that game.
fn in_game(seq: u64, game: &str, kind: EventKind) -> Event {
    Event {
        game: Some(game.to_owned()),
        ..event(seq, kind)
    }
}

/// Game 1 in events 1 to 3, the clock's battery in 4, game 2 from 5 to 7, which goes on.
pub(super) fn two_games() -> Vec<Event> {
    let battery = Event {
        game: None,
        ..event(4, EventKind::ClockBatteryLow {})
    };
    vec![
        in_game(1, "day-b-1", started("start", Variant::Standard)),
        in_game(2, "day-b-1", EventKind::MoveMade(ply(1, "e2e4", "e4"))),
        in_game(3, "day-b-1", ended()),
        battery,
        in_game(5, "day-b-2", started("start", Variant::Standard)),
        in_game(6, "day-b-2", EventKind::MoveMade(ply(1, "d2d4", "d4"))),
        in_game(
            7,
            "day-b-2",
            EventKind::MoveSettled {
                ply: 1,
                by: SettledBy::Press,
            },
        ),
    ]
}

fn seqs(events: &[JournaledEvent]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

#[test]
fn what_real_boards_said_comes_back_to_the_last_byte() {
    let place = Place::new();
    let captures = captures();
    let mut journal = place.open();
    for events in &captures {
        for batch in events.chunks(7) {
            journal.append(batch).expect("room");
        }
    }
    drop(journal);
    let journal = place.open();
    for events in captures {
        let last = events.last().expect("events");
        assert_eq!(journal.last_seq("live", &last.board).expect("a number"), last.seq);
        let kept = journal
            .events_after("live", &last.board, 0, usize::MAX >> 1)
            .expect("events");
        let published: Vec<String> = events
            .iter()
            .map(|event| serde_json::to_string(event).expect("JSON"))
            .collect();
        assert!(kept.iter().map(|event| &event.payload).eq(&published));
        let decoded: Vec<Event> = kept
            .iter()
            .map(|event| event.decoded(&place.path()).expect("an event"))
            .collect();
        assert_eq!(decoded, events);
    }
}

#[test]
fn games_of_real_boards_are_as_their_events_told_them() {
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
        let game = journal.last_game("live", board).expect("readable");
        assert_eq!(game.as_ref().map(|game| &game.record), games.current());
        let list = journal.games("live", board).expect("readable");
        let Some(game) = game else {
            assert!(list.is_empty());
            continue;
        };
        let last = list.last().expect("the last game");
        assert_eq!((&last.game, last.ended), (&game.record.game, game.record.ended));
        assert_eq!(game.number as usize, list.len());
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
fn amended_and_withdrawn_plies_are_so_in_the_game() {
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
    let game = journal.last_game("live", "b").expect("readable").expect("a game");
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

#[test]
fn events_are_kept_all_or_none() {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events[..3]).expect("room");
    let error = journal.append(&events[2..]).expect_err("event 3 is there");
    assert_eq!(
        error.to_string(),
        "event 3 of b in the stream \"live\" is in the journal already: is a second kiebitz running?"
    );
    let error = journal
        .append([&events[3], &events[2]])
        .expect_err("event 3 is there");
    assert!(!error.is_damaged());
    assert_eq!(journal.last_seq("live", "b").expect("a number"), 3);
    journal.append(&events[3..]).expect("room");
    assert_eq!(journal.last_seq("live", "b").expect("a number"), 7);
}

#[test]
fn streams_and_boards_do_not_mix() {
    let place = Place::new();
    let mut journal = place.open();
    let elsewhere = |stream: &str, board: &str| Event {
        stream: stream.to_owned(),
        board: board.to_owned(),
        ..event(1, started("start", Variant::Standard))
    };
    journal
        .append(&[
            elsewhere("live", "b"),
            elsewhere("replay", "b"),
            elsewhere("live", "c"),
        ])
        .expect("room");
    assert_eq!(journal.last_seq("live", "c").expect("a number"), 1);
    assert_eq!(journal.last_seq("replay", "c").expect("a number"), 0);
    assert_eq!(journal.games("replay", "b").expect("readable").len(), 1);
    assert_eq!(journal.last_game("replay", "c").expect("readable"), None);
    assert!(
        journal
            .game_events("live", "b", "g-2")
            .expect("readable")
            .is_empty()
    );
}

#[test]
fn output_goes_on_where_it_was() {
    let place = Place::new();
    let mut journal = place.open();
    assert_eq!(journal.unsent("mqtt", "live").expect("readable"), []);
    journal.append(&two_games()).expect("room");
    journal.acknowledge("mqtt", "live", [("b", 3)]).expect("room");
    journal.acknowledge("mqtt", "live", [("b", 2)]).expect("room");
    drop(journal);

    let mut journal = place.open();
    let other = Event {
        board: "a".to_owned(),
        ..event(1, EventKind::ClockConnected {})
    };
    journal.append([&other]).expect("room");
    let unsent = journal.unsent("mqtt", "live").expect("readable");
    let entry = |board: &str, after, last| Unsent {
        board: board.to_owned(),
        after,
        last,
    };
    assert_eq!(unsent, [entry("a", 0, 1), entry("b", 3, 7)]);
    assert_eq!(
        seqs(&journal.events_after("live", "b", 3, 2).expect("readable")),
        [4, 5]
    );
    assert_eq!(
        seqs(&journal.events_after("live", "b", 5, 9).expect("readable")),
        [6, 7]
    );
    journal
        .acknowledge("mqtt", "live", [("a", 1), ("b", 7)])
        .expect("room");
    assert_eq!(journal.unsent("mqtt", "live").expect("readable"), []);
}

#[test]
fn new_output_is_not_told_history() {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events[..4]).expect("room");
    assert_eq!(journal.unsent("feed", "live").expect("readable"), []);
    journal.append(&events[4..]).expect("room");
    let unsent = journal.unsent("feed", "live").expect("readable");
    assert_eq!(
        unsent
            .iter()
            .map(|unsent| (unsent.after, unsent.last))
            .collect::<Vec<_>>(),
        [(4, 7)]
    );
}

/// What is left of [`two_games`] when everything before its event number `seq` is forgotten.
fn left_from(seq: usize) -> Vec<u64> {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events).expect("room");
    let forgotten = journal.forget_before("live", events[seq - 1].ts).expect("room");
    let left = seqs(&journal.events_after("live", "b", 0, 99).expect("readable"));
    assert_eq!(forgotten + left.len(), events.len());
    left
}

#[test]
fn only_whole_games_are_forgotten() {
    assert_eq!(left_from(1), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(left_from(3), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(left_from(4), [4, 5, 6, 7]);
    assert_eq!(left_from(5), [5, 6, 7]);
}

#[test]
fn game_in_play_is_never_forgotten() {
    assert_eq!(left_from(7), [5, 6, 7]);
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events).expect("room");
    let far = Timestamp::from_micros(i64::MAX);
    assert_eq!(journal.forget_before("live", far).expect("room"), 4);
    let game = journal
        .last_game("live", "b")
        .expect("readable")
        .expect("the game in play");
    assert_eq!((game.number, game.record.moves.len()), (2, 1));
}

/// What the arbiter says of the result of the game before, in event 4.
fn amended(result: GameResult, reason: Option<EndReason>) -> Event {
    let kind = EventKind::GameAmended {
        by: "arbiter".to_owned(),
        result: Some(result),
        reason,
        players: None,
        time_control: None,
        moves: None,
        position: None,
        note: None,
    };
    in_game(4, "day-b-1", kind)
}

#[test]
fn game_that_the_arbiter_lets_go_on_is_in_play() {
    for (amended, over) in [
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
        let game = journal.last_game("live", "b").expect("readable").expect("a game");
        assert_eq!(game.record.ended.is_some(), over);
        let far = Timestamp::from_micros(i64::MAX);
        let forgotten = journal.forget_before("live", far).expect("room");
        assert_eq!(forgotten, if over { 4 } else { 0 });
    }
}

#[test]
fn count_goes_on_when_everything_else_is_forgotten() {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events[..4]).expect("room");
    let far = Timestamp::from_micros(i64::MAX);
    assert_eq!(journal.forget_before("live", far).expect("room"), 3);
    assert_eq!(journal.forget_before("live", far).expect("room"), 0);
    assert_eq!(journal.last_seq("live", "b").expect("a number"), 4);
    assert_eq!(journal.games("live", "b").expect("readable"), []);
    assert_eq!(journal.last_game("live", "b").expect("readable"), None);
}

#[test]
fn last_event_of_a_type_is_found() {
    let mut journal = Place::new().open();
    journal.append(&two_games()).expect("room");
    let last = |kind| {
        journal
            .last_event("live", "b", kind)
            .expect("readable")
            .map(|event| event.seq)
    };
    assert_eq!(last("move.made"), Some(6));
    assert_eq!(last("clock.battery_low"), Some(4));
    assert_eq!(last("board.connected"), None);
}

#[test]
fn games_from_a_time_on_are_the_one_of_then_and_the_later_ones() {
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

/// What is said between a board's going and the word on the gap does not tell what was played in it.
#[test]
fn a_gap_is_open_until_something_is_told_of_it() {
    let gone = || EventKind::BoardDisconnected {
        reason: "unplugged".to_owned(),
    };
    let back = || EventKind::BoardConnected {
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
        let at = journal.last_followed("live", "b").expect("readable");
        at.map(Timestamp::as_micros)
    };
    assert_eq!(followed(&[]), None);
    assert_eq!(followed(&[back()]), Some(1));
    let started = || started("start", Variant::Standard);
    assert_eq!(followed(&[back(), started(), noted()]), Some(3));
    assert_eq!(
        followed(&[back(), gone(), noted(), back(), started(), noted()]),
        Some(2)
    );
    // The daemon was away: nobody told of the board's going.
    assert_eq!(
        followed(&[back(), started(), noted(), back(), noted(), gone()]),
        Some(3)
    );
    assert_eq!(
        followed(&[back(), started(), gone(), back(), noted(), recovered(), noted()]),
        Some(7)
    );
}
