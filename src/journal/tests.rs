mod backup;
mod damage;
mod delivery;
mod export;
mod forgetting;
mod games;

use std::fs;

use kiebitz_game::events::samples::{event, ply, started};
use kiebitz_game::events::{DecidedBy, EndReason, EventKind, GameResult, SettledBy};
use kiebitz_game::position::Variant;
use tempfile::TempDir;

use super::*;
use crate::replay::Replay;

/// A temporary directory with a journal, removed when dropped.
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

/// All events of the captures in tests/captures, grouped by capture; every capture is a board of its own.
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
                .map(|explained| explained.event),
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
        end_certain: true,
        decided_by: None,
    }
}

/// An event of the board "b" that belongs to a game.
fn in_game(seq: u64, game: &str, kind: EventKind) -> Event {
    Event {
        game: Some(game.to_owned()),
        ..event(seq, kind)
    }
}

/// Game 1 in events 1 to 3, low battery of the clock in event 4, and game 2, still in play, in events 5 to 7.
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
fn events_of_real_boards_are_read_back_byte_for_byte() {
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
fn events_are_stored_all_or_none() {
    let place = Place::new();
    let mut journal = place.open();
    let events = two_games();
    journal.append(&events[..3]).expect("room");
    let error = journal.append(&events[2..]).expect_err("event 3 is there");
    assert_eq!(
        error.to_string(),
        "event 3 of b in the stream \"live\" is already in the journal: check whether a second kiebitz is running"
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
    assert_eq!(journal.all_of("replay", "c").last_game().expect("readable"), None);
    assert!(
        journal
            .game_events("live", "b", "g-2")
            .expect("readable")
            .is_empty()
    );
}

#[test]
fn the_last_connection_of_a_board_is_found() {
    let mut journal = Place::new().open();
    let last = |journal: &Journal| {
        let connected = journal.last_connected("live", "b").expect("readable");
        connected.map(|event| event.seq)
    };
    journal.append(&two_games()).expect("room");
    assert_eq!(last(&journal), None);
    let connected = |seq| {
        let kind = EventKind::BoardConnected {
            port: "ttyACM0".to_owned(),
            serial: None,
            version: None,
            orientation: None,
        };
        event(seq, kind)
    };
    let battery = event(10, EventKind::ClockBatteryLow {});
    journal
        .append(&[connected(8), connected(9), battery])
        .expect("room");
    assert_eq!(last(&journal), Some(9));
}
