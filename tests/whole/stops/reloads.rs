//! The configuration is reloaded while games are played, and the daemon is stopped and started again. Every restart is
//! still a replay of the recordings, each part of it with the configuration of that time.

use jiff::tz::TimeZone;
use kiebitz::config::Config;
use kiebitz::journal::Journal;
use kiebitz::restart::rebuild;
use kiebitz_game::events::EventKind;
use kiebitz_hardware::LineSettings;
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::emulator::EmulatedClock;

use super::*;
use crate::doctor::board;
use crate::watcher::{Port, Watcher};
use kiebitz_workbench::hands::hall::OPENING;

const BOARDS: usize = 6;

fn round(wiring: Wiring) -> Round {
    Round {
        seed: 11,
        wiring,
        boards: BOARDS,
        lasting: Duration::from_secs(900),
        stops: true,
        damage: None,
    }
}

/// Configuration of the nth reload, with other rules and another board name each time.
fn config(nth: u32, now: Timestamp) -> Config {
    let names = names(BOARDS).of_boards;
    let begins = jiff::Timestamp::from_microsecond(now.as_micros() - 110_000_000).unwrap();
    let event = match nth % 3 {
        0 => format!("time_control = \"5+3\"\nlaws = \"fide-2018\"\nrounds = [{begins}]\n"),
        1 => format!("mode = \"rapid\"\nlanguage = \"de\"\nname = \"Round {nth}\"\nrounds = [{begins}]\n"),
        _ => String::new(),
    };
    let others = match nth % 2 {
        0 => names.replacen("board-1", "first-board", 1),
        _ => names,
    };
    Config::parse("reloads.toml".as_ref(), &format!("[event]\n{event}\n{others}")).unwrap()
}

/// Plays a round to its end. Reloads the configuration every minute, also while there are no moves and no open ports.
fn played(round: Round, directory: &tempfile::TempDir) -> World {
    let mut world = World::new(round, directory);
    let every = Duration::from_secs(61);
    let (mut nth, mut next) = (0, OPENING + every);
    while let Some(now) = world.next_at().filter(|now| *now < OPENING + round.lasting * 2) {
        if next < now {
            world.watcher.reload(next, config(nth, next));
            (nth, next) = (nth + 1, next + every);
            continue;
        }
        world.step(now);
    }
    let now = world.now;
    world.watcher.stop(now);
    assert!(nth > 10, "{nth} reloads");
    world
}

fn restarts_are_replays(wiring: Wiring) {
    let directory = tempfile::tempdir().unwrap();
    let world = played(round(wiring), &directory);
    assert_eq!(world.watcher.alone, [], "every restart is a replay");
    let events: Vec<Event> = (0..BOARDS).flat_map(|nth| world.events(nth)).collect();
    let modes: std::collections::BTreeSet<_> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::GameStarted { mode, laws, .. } => Some(format!("{mode:?} {laws:?}")),
            _ => None,
        })
        .collect();
    assert!(modes.len() > 2, "each configuration has held: {modes:?}");
    let mut journal = Journal::open(&directory.path().join("journal.sqlite")).unwrap();
    // The configuration passed here must not matter.
    let rebuilt = rebuild(
        &mut journal,
        &directory.path().join("recordings"),
        &TimeZone::UTC,
        "live",
        &Config::default(),
    )
    .unwrap();
    assert!(!rebuilt.boards.is_empty());
    for (board, about) in rebuilt.boards {
        assert_eq!((about.filled, about.unfit), (0, Vec::new()), "{board}");
    }
}

#[test]
fn a_restart_replays_the_configurations_that_held() {
    restarts_are_replays(Wiring::Single);
}

#[test]
fn a_restart_of_a_bus_replays_the_configurations_that_held() {
    restarts_are_replays(Wiring::Bus);
}

/// A round of the first configuration begins, and the game on a board does not start. After the late start has been
/// reported and before the board sends anything else, a configuration without rounds is loaded.
#[test]
fn a_restart_uses_the_old_configuration_up_to_the_reload() {
    let directory = tempfile::tempdir().unwrap();
    let round = jiff::Timestamp::from_microsecond(OPENING.as_micros() + 10_000_000).unwrap();
    let config = |event: &str| Config::parse("reloads.toml".as_ref(), event).unwrap();
    let port = Port {
        path: "/dev/ttyEMU0".to_owned(),
        settings: LineSettings::of(LineMode::Single),
    };
    let first = config(&format!("[event]\nrounds = [{round}]\n"));
    let mut watcher = Watcher::new(directory.path(), first, vec![port]);
    let mut board = board(OPENING);
    board.plug_clock(OPENING, Some(EmulatedClock::new(Duration::from_secs(5400))));
    watcher.start(OPENING);
    watcher.open(OPENING, 0);
    let late = |watcher: &Watcher| {
        let events = verdict::journaled(&watcher.journal, "00042");
        events.iter().any(
            |event| matches!(&event.kind, EventKind::IncidentOpened(incident) if incident.kind.as_str() == "late_start"),
        )
    };
    let mut now = OPENING;
    loop {
        now = now + Duration::from_millis(5);
        assert!(
            now < OPENING + Duration::from_secs(300),
            "nobody was told of the round"
        );
        watcher.advance(now);
        if watcher.unkept() > 0 {
            watcher.keep();
            if late(&watcher) {
                break;
            }
        }
        while let Some((_, bytes)) = board.poll_transmit(now) {
            watcher.receive(now, 0, &bytes);
        }
        while let Some((nth, bytes)) = watcher.poll_write(now) {
            board.handle_bytes(now, &bytes);
            watcher.sent(now, nth, &bytes);
        }
    }
    watcher.reload(now, config("[event]\n"));
    watcher.kill();
    watcher.start(now + Duration::from_secs(30));
    assert_eq!(watcher.alone, [], "the restart is a replay");
}
