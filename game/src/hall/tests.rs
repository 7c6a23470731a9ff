use core::time::Duration;

use kiebitz_hardware::LineSettings;
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
use kiebitz_hardware::port::PortKind;
use kiebitz_protocol::{BatteryStatus, Field, Piece, SerialNumber};
use serde_json::{Value, json};

use super::*;
use crate::events::{Event, EventKind};
use crate::laws::Regulations;

const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

/// An emulated board on a line of a hall, in virtual time.
struct World {
    hall: Hall,
    line: LineId,
    board: EmulatedBoard,
    now: Timestamp,
    /// Amount by which the computer's clock is ahead of `now`.
    ahead: Duration,
    /// When the board was asked for its memory.
    recalled: Vec<Timestamp>,
}

impl World {
    fn new(line: LineSettings, settings: BoardSettings) -> Self {
        Self::of(
            Hall::new("live", Names::Configured(Roster::default())),
            line,
            settings,
        )
    }

    fn of(mut hall: Hall, line: LineSettings, settings: BoardSettings) -> Self {
        let line = hall.add("/dev/ttyUSB0", Line::keeping(line));
        hall.open(START, line);
        Self {
            hall,
            line,
            board: EmulatedBoard::new(START, settings),
            now: START,
            ahead: Duration::ZERO,
            recalled: Vec::new(),
        }
    }

    fn pass(&mut self, lasting: Duration) {
        let end = self.now + lasting;
        while self.now < end {
            let system_time = self.now + self.ahead;
            self.hall.advance(system_time);
            while let Some((line, bytes)) = self.hall.poll_write(system_time) {
                if bytes == [kiebitz_protocol::Command::SendEeMoves.code()] {
                    self.recalled.push(self.now);
                }
                self.board.handle_bytes(self.now, &bytes);
                self.hall.sent(system_time, line, &bytes);
            }
            self.now = self.now + Duration::from_millis(1);
            while let Some((_, bytes)) = self.board.poll_transmit(self.now) {
                self.hall.receive(self.now + self.ahead, self.line, &bytes);
            }
        }
    }

    /// Pieces go from field to field, with some thought before each.
    fn plays(&mut self, moves: &[(u8, u8)], thought: Duration) {
        for (from, to) in moves {
            self.pass(thought);
            let [from, to] = [from, to].map(|number| Field::new(*number).expect("a field"));
            let piece = self.board.contents(from);
            self.board.set(self.now, from, None);
            self.pass(Duration::from_millis(300));
            self.board.set(self.now, to, piece);
        }
    }

    /// The same while the cable is out.
    fn plays_unheard(&mut self, moves: &[(u8, u8)]) {
        self.hall.close(self.now, self.line, "unplugged");
        for (from, to) in moves {
            let [from, to] = [from, to].map(|number| Field::new(*number).expect("a field"));
            let piece = self.board.contents(from);
            self.now = self.now + Duration::from_secs(5);
            self.board.set(self.now, from, None);
            self.now = self.now + Duration::from_secs(1);
            self.board.set(self.now, to, piece);
        }
        self.now = self.now + Duration::from_secs(5);
        while self.board.poll_transmit(self.now).is_some() {}
        self.hall.open(self.now, self.line);
    }

    /// What was played and how gaps were closed, since the last call.
    fn course(&mut self) -> String {
        let said = self.hall.take_events().into_iter().map(|said| said.event.kind);
        let words = said.filter_map(|kind| match kind {
            EventKind::MoveMade(made) => made.san,
            EventKind::BoardRecovered { by, .. } => Some(format!("{by:?}:")),
            _ => None,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Returns the plies of the new events that come after the first `plies` of the game and still count.
    fn plies_after(&mut self, plies: usize) -> Vec<String> {
        let mut counting = Vec::new();
        for said in self.hall.take_events() {
            match said.event.kind {
                EventKind::MoveMade(made) | EventKind::MoveAmended { played: made, .. } => {
                    counting.truncate(made.ply as usize - plies - 1);
                    counting.extend(made.san);
                }
                EventKind::MoveRetracted { ply, .. } => counting.truncate(ply as usize - plies - 1),
                _ => {}
            }
        }
        counting
    }

    fn the_board(&self) -> &Board {
        self.hall.boards().next().expect("a board")
    }
}

/// e4 e5 Nf3 Nc6 Bc4 Bc5 Nc3 Nf6
const PLIES: [(u8, u8); 8] = [
    (52, 36),
    (12, 28),
    (62, 45),
    (1, 18),
    (61, 34),
    (5, 26),
    (57, 42),
    (6, 21),
];

/// The set-up stands, and the first two plies have been played.
fn playing() -> World {
    let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
    set_up(&mut world.board);
    world.pass(Duration::from_secs(20));
    world.plays(&PLIES[..2], Duration::from_secs(4));
    world.pass(Duration::from_secs(20));
    assert_eq!(world.course(), "e4 e5");
    assert_eq!(world.recalled, [], "all was heard");
    world
}

#[test]
fn a_gap_that_one_ply_explains_is_filled_without_the_memory() {
    for plies in [&PLIES[2..2], &PLIES[2..3], &PLIES[2..4]] {
        for more in [&PLIES[..0], &PLIES[2 + plies.len()..5]] {
            let mut world = playing();
            world.plays_unheard(plies);
            world.pass(Duration::from_millis(700));
            world.plays(more, Duration::from_millis(500));
            world.pass(Duration::from_secs(30));
            let names = ["Nf3", "Nc6", "Bc4"];
            let course = core::iter::once("Inferred:")
                .chain(names)
                .take(1 + plies.len() + more.len());
            assert_eq!(world.course(), course.collect::<Vec<_>>().join(" "));
            assert_eq!(world.recalled, []);
        }
    }
}

#[test]
fn a_longer_gap_is_read_from_the_memory() {
    let mut world = playing();
    world.plays_unheard(&PLIES[2..6]);
    let opened = world.now;
    world.pass(Duration::from_secs(40));
    assert_eq!(world.recalled.len(), 1);
    let after = world.recalled[0].saturating_duration_since(opened);
    assert!((2000..2500).contains(&after.as_millis()), "{after:?}");
    assert_eq!(world.course(), "Memory: Nf3 Nc6 Bc4 Bc5");
}

/// The board sends no reports while it sends its memory. So the plies are inferred from the play after them, in any
/// order, and the memory is read once nobody moves.
#[test]
fn a_longer_gap_is_checked_with_the_memory_after_play() {
    let (knights, bishops) = (&PLIES[2..4], &PLIES[4..6]);
    for (first, second) in [(knights, bishops), (bishops, knights)] {
        let mut world = playing();
        world.plays_unheard(&[first, second].concat());
        let opened = world.now;
        world.plays(&PLIES[6..], Duration::from_secs(2));
        world.pass(Duration::from_secs(1));
        let inferred = world.plies_after(2);
        assert_eq!(inferred.len(), 6, "{inferred:?}");
        assert_eq!(world.recalled, []);
        world.pass(Duration::from_secs(40));
        assert_eq!(world.recalled.len(), 1);
        let after = world.recalled[0].saturating_duration_since(opened);
        assert_eq!(after.as_secs(), 6, "{after:?}");
        let amended = world.plies_after(2);
        let plies = if amended.is_empty() { inferred } else { amended };
        let played = if first == knights {
            "Nf3 Nc6 Bc4 Bc5"
        } else {
            "Bc4 Bc5 Nf3 Nc6"
        };
        assert_eq!(plies.join(" "), format!("{played} Nc3 Nf6"));
    }
}

/// The cable is plugged in again while Black's knight is in a hand, and nobody waits for the board.
#[test]
fn plies_of_a_gap_are_found_while_play_goes_on() {
    let mut world = playing();
    let [b8, c6] = [1, 18].map(|number| Field::new(number).expect("a field"));
    world.plays_unheard(&PLIES[2..3]);
    let knight = world.board.contents(b8);
    world.board.set(world.now, b8, None);
    world.pass(Duration::from_millis(900));
    world.board.set(world.now, c6, knight);
    world.plays(&PLIES[4..], Duration::from_millis(300));
    world.pass(Duration::from_secs(3));
    assert_eq!(world.course(), "Inferred: Nf3 Nc6 Bc4 Bc5 Nc3 Nf6");
    assert_eq!(world.recalled, []);
}

/// Its memory has nothing of a gap in which it had no power, which takes 8 s to find out.
#[test]
fn the_memory_of_a_board_without_power_in_gaps_is_read_once() {
    let mut world = playing();
    for (nth, plies) in [&PLIES[2..6], &PLIES[6..]].into_iter().enumerate() {
        world.plays_unheard(plies);
        world.board.power_off(world.now);
        world.board.power_on(world.now);
        world.pass(Duration::from_secs(60));
        assert_eq!(world.recalled.len(), 1, "gap {nth}");
    }
}

/// The daemon meets the board in the middle of a game.
#[test]
fn how_a_game_began_is_read_from_the_memory_of_a_board_that_is_new() {
    let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
    world.hall.close(START, world.line, "not yet there");
    set_up(&mut world.board);
    world.plays_unheard(&PLIES);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.recalled.len(), 1);
    assert_eq!(world.course(), "e4 e5 Nf3 Nc6 Bc4 Bc5 Nc3 Nf6");
}

/// An unused board and one with a position that nobody plays on is not asked time and again.
#[test]
fn a_memory_that_tells_nothing_is_not_read_again() {
    let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
    world.pass(Duration::from_secs(20));
    world.plays_unheard(&[]);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.recalled, []);
}

fn bluetooth() -> LineSettings {
    LineSettings::for_port(PortKind::Bluetooth, None)
}

#[test]
fn battery_is_queried_on_bluetooth_only() {
    let battery = BatteryStatus {
        percent: 64,
        ..BatteryStatus::default()
    };
    let settings = BoardSettings {
        battery: Some(battery),
        ..BoardSettings::default()
    };
    let mut world = World::new(LineSettings::of(LineMode::Single), settings.clone());
    world.pass(Duration::from_secs(20));
    assert_eq!(world.the_board().battery(), None);

    let mut world = World::new(bluetooth(), settings);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.the_board().battery(), Some(64));
    world.hall.close(world.now, world.line, "Bluetooth link lost");
    assert_eq!(world.the_board().battery(), None);
}

#[test]
fn a_battery_of_unknown_charge_is_not_reported() {
    let battery = BatteryStatus {
        percent: BatteryStatus::UNKNOWN,
        ..BatteryStatus::default()
    };
    let settings = BoardSettings {
        battery: Some(battery),
        ..BoardSettings::default()
    };
    let mut world = World::new(bluetooth(), settings);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.the_board().battery(), None);
}

#[test]
fn clock_is_published_after_its_board() {
    let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
    let clock = EmulatedClock::new(Duration::from_secs(300));
    world.board.plug_clock(START, Some(clock));
    world.pass(Duration::from_secs(10));
    let events: Vec<_> = world
        .hall
        .take_events()
        .into_iter()
        .map(|explained| explained.event)
        .collect();
    let kinds: Vec<_> = events.iter().map(|event| &event.kind).collect();
    assert!(
        matches!(
            kinds[..],
            [EventKind::BoardConnected { .. }, EventKind::ClockConnected {}]
        ),
        "{kinds:?}"
    );
    assert!(events.is_sorted_by_key(|event| event.ts));
}

#[test]
fn new_boards_count_after_the_last_seq_of_a_damaged_journal() {
    let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
    world.hall.begin_after(LastSeqs {
        others: 1_789_000_000_123,
        ..LastSeqs::default()
    });
    world.pass(Duration::from_secs(10));
    let events = world.hall.take_events();
    assert_eq!(
        events.first().map(|explained| explained.event.seq),
        Some(1_789_000_000_124)
    );
}

#[test]
fn a_board_known_only_by_its_last_seq_reuses_no_game_id() {
    let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
    let name = LastSeqs {
        boards: BTreeMap::from([("00042".to_owned(), 4711)]),
        others: 0,
    };
    world.hall.begin_after(name);
    set_up(&mut world.board);
    world.pass(Duration::from_secs(10));
    let [from, to] = [52, 36].map(|number| Field::new(number).expect("a field"));
    let piece = world.board.contents(from);
    world.board.set(world.now, from, None);
    world.pass(Duration::from_millis(300));
    world.board.set(world.now, to, piece);
    world.pass(Duration::from_secs(4));
    let events = world.hall.take_events();
    let game = events.iter().find_map(|explained| explained.event.game.clone());
    assert_eq!(game.as_deref().and_then(|id| id.rsplit('-').next()), Some("4712"));
}

/// Restarts the hall from the journal, with the line of the same board.
fn restart(world: &mut World, journal: &[Event], names: &Names) {
    let mut hall = Hall::new("live", names.clone());
    expect_all(&mut hall, journal, names);
    world.line = hall.add("/dev/ttyUSB0", Line::keeping(LineSettings::of(LineMode::Single)));
    hall.open(world.now, world.line);
    world.hall = hall;
}

fn expect_all(hall: &mut Hall, journal: &[Event], names: &Names) {
    let known: BTreeSet<&str> = journal.iter().map(|event| event.board.as_str()).collect();
    for board in known {
        let events = journal.iter().filter(|event| event.board == board);
        let past = BoardPast::of(&events.cloned().collect::<Vec<_>>());
        hall.expect(Board::resumed(board, "live", names.regulations(board), &past));
    }
}

/// Takes the events, appends them to `journal`, and returns those of the given types in order.
fn take_events_of_types(world: &mut World, journal: &mut Vec<Event>, of: &[&str]) -> Vec<Value> {
    let events: Vec<_> = world
        .hall
        .take_events()
        .into_iter()
        .map(|explained| explained.event)
        .collect();
    journal.extend_from_slice(&events);
    let values = events
        .iter()
        .map(|event| serde_json::to_value(event).expect("JSON"));
    values
        .filter(|event| event["type"].as_str().is_some_and(|kind| of.contains(&kind)))
        .collect()
}

fn send_command(world: &mut World, command: &str) {
    let command = Command::parse(command).expect("a command");
    let answer = world.hall.command(world.now, "00042", &command);
    assert!(answer.ok, "{answer:?}");
}

fn set_up(board: &mut EmulatedBoard) {
    let black = "rnbqkbnrpppppppp";
    let white = "PPPPPPPPRNBQKBNR";
    let placed = Field::all().take(16).zip(black.chars());
    for (field, letter) in placed.chain(Field::all().skip(48).zip(white.chars())) {
        let code = "PRNBKQprnbkq"
            .find(letter)
            .and_then(|at| u8::try_from(at + 1).ok());
        let piece = code.and_then(Piece::from_code).flatten();
        board.set(START, field, piece);
    }
}

/// Players and the start of the round are kept over a restart, and a late start is published once.
#[test]
fn announcements_before_the_game_survive_a_restart() {
    let mut journal = Vec::new();
    let regulations = Regulations {
        event: Some("Club championship".to_owned()),
        site: Some("Bremen".to_owned()),
        default_time: Some("15 min".parse().expect("a default time")),
        ..Regulations::default()
    };
    let names = Names::Configured(Roster {
        regulations,
        ..Roster::default()
    });
    let serial = SerialNumber::new(*b"00042").expect("digits");
    let settings = BoardSettings {
        serial: Some(serial),
        ..BoardSettings::default()
    };
    let hall = Hall::new("live", names.clone());
    let mut world = World::of(hall, LineSettings::of(LineMode::Single), settings);
    world
        .board
        .plug_clock(START, Some(EmulatedClock::new(Duration::from_secs(300))));
    set_up(&mut world.board);
    let incidents = ["incident.opened", "incident.updated", "incident.closed"];

    world.pass(Duration::from_secs(10));
    send_command(
        &mut world,
        r#"{"id":"1","do":"set_players","white":"Adams","black":"Baker"}"#,
    );
    send_command(&mut world, r#"{"id":"2","do":"start_round"}"#);
    take_events_of_types(&mut world, &mut journal, &[]);
    restart(&mut world, &journal, &names);
    world.pass(Duration::from_secs(140));
    let published = take_events_of_types(&mut world, &mut journal, &incidents);
    assert_eq!(published.len(), 1, "{published:?}");
    assert_eq!(published[0]["case"], "late_start.not_running");

    restart(&mut world, &journal, &names);
    world.pass(Duration::from_secs(140));
    assert_eq!(
        take_events_of_types(&mut world, &mut journal, &incidents),
        [Value::Null; 0]
    );
    let now = world.now;
    world.board.clock_mut(now).expect("a clock").start(now);
    world.pass(Duration::from_secs(5));
    let published = take_events_of_types(&mut world, &mut journal, &["incident.closed", "game.started"]);
    let [started, closed] = published.as_slice() else {
        panic!("{published:?}")
    };
    assert_eq!(closed["kind"], "late_start");
    assert_eq!(started["players"], json!({"white": "Adams", "black": "Baker"}));
    assert_eq!(
        (&started["event"], &started["site"]),
        (&json!("Club championship"), &json!("Bremen"))
    );
}

/// The result of another table is published at once, even if the board is never plugged in.
#[test]
fn a_board_that_was_never_plugged_in_publishes_the_result_of_a_table() {
    let entry = RosterEntry {
        known_by: KnownBy::Port("/dev/ttyUSB0".into()),
        name: "board-1".to_owned(),
        regulations: Regulations::default(),
    };
    let names = Names::Configured(Roster {
        boards: vec![entry],
        ..Roster::default()
    });
    let mut hall = Hall::new("live", names);
    let set = r#"{"id":"1","do":"set_result","result":"1-0","round":1,"table":7,"signed":true}"#;
    let set = Command::parse(set).expect("a command");
    assert!(hall.command(START, "board-1", &set).ok);
    let published = hall.take_events().into_iter();
    let published: Vec<EventKind> = published.map(|explained| explained.event.kind).collect();
    assert!(
        matches!(
            published[..],
            [
                EventKind::CommandTaken { .. },
                EventKind::TableResult {
                    round: 1,
                    table: 7,
                    ..
                }
            ]
        ),
        "{published:?}"
    );
}

/// A device that sends data but never a placement must not use more memory the longer it is connected.
#[test]
fn memory_of_an_unidentified_board_is_bounded() {
    let mut hall = Hall::new("live", Names::Configured(Roster::default()));
    let line = hall.keep("/dev/ttyUSB0", LineSettings::of(LineMode::Single));
    hall.open(START, line);
    let mut now = START;
    let mut held = |hall: &mut Hall, chunks: u32| {
        for nth in 0..chunks {
            now = now + Duration::from_micros(100);
            let contents = u8::from(nth % 2 == 0);
            let version = [0x93, 0x00, 0x05, 0x01, 0x08];
            hall.receive(now, line, &[0x8e, 0x00, 0x05, (nth % 64) as u8, contents]);
            hall.receive(now, line, &version);
        }
        format!("{hall:?}").len()
    };
    let before = held(&mut hall, 2000);
    assert!(held(&mut hall, 20_000) < 2 * before);
    assert_eq!(hall.boards().count(), 0);
}

/// The computer's clock may be set by hand or by a network while pieces are in the air.
#[test]
fn a_step_of_the_computers_clock_is_not_elapsed_time() {
    let play = |step: Option<i64>| {
        let mut world = World::new(LineSettings::of(LineMode::Single), BoardSettings::default());
        set_up(&mut world.board);
        let mut clock = EmulatedClock::new(Duration::from_secs(300));
        clock.start(START);
        world.board.plug_clock(START, Some(clock));
        world.pass(Duration::from_secs(20));
        let field = |number| Field::new(number).expect("a field");
        let puts = |world: &mut World, from: u8, to: u8, set: Option<i64>| {
            let board = &mut world.board;
            let piece = board.contents(field(from));
            board.set(world.now, field(from), None);
            world.pass(Duration::from_millis(300));
            if let Some(micros) = set {
                world.hall.set_clock(world.now + world.ahead, micros);
                world.hall.set_clock(world.now + world.ahead, micros);
                world.ahead += Duration::from_micros(u64::try_from(micros).unwrap_or(0));
            }
            world.pass(Duration::from_millis(300));
            world.board.set(world.now, field(to), piece);
            world.pass(Duration::from_secs(4));
        };
        puts(&mut world, 52, 36, None);
        puts(&mut world, 12, 28, step);
        puts(&mut world, 62, 45, None);
        let events = world.hall.take_events();
        events
            .into_iter()
            .map(|explained| explained.event)
            .collect::<Vec<_>>()
    };
    let kinds = |events: &[Event]| -> Vec<EventKind> {
        events
            .iter()
            .filter(|event| !matches!(event.kind, EventKind::TimeSet { .. }))
            .map(|event| match event.kind.clone() {
                EventKind::MoveMade(mut played) => {
                    played.clock = None;
                    EventKind::MoveMade(played)
                }
                kind => kind,
            })
            .collect()
    };
    let usual = play(None);
    assert!(
        usual
            .iter()
            .filter(|event| matches!(event.kind, EventKind::MoveMade(_)))
            .count()
            >= 3
    );
    for micros in [3_600_000_000, 400 * 86_400 * 1_000_000, -3_600_000_000] {
        let events = play(Some(micros));
        let set: Vec<&Event> = events
            .iter()
            .filter(|event| matches!(event.kind, EventKind::TimeSet { .. }))
            .collect();
        assert_eq!(set.len(), 1, "said twice, it happened once");
        assert_eq!(set[0].kind, EventKind::TimeSet { by_ms: micros / 1000 });
        assert_eq!(kinds(&events), kinds(&usual));
        assert!(events.is_sorted_by_key(|event| event.ts));
        let forward = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
        for (event, usual) in events.iter().filter(|event| event.seq != set[0].seq).zip(&usual) {
            let later = if event.seq > set[0].seq {
                forward
            } else {
                Duration::ZERO
            };
            assert_eq!(
                (event.ts, event.at),
                (usual.ts + later, usual.at.map(|at| at + later))
            );
        }
    }
}

/// The last reports of boards on a bus are kept until the line is back, whatever happens in between.
#[test]
fn a_returning_port_continues_its_line() {
    let mut hall = Hall::new("live", Names::Configured(Roster::default()));
    let bus = hall.keep("/dev/ttyUSB0", LineSettings::of(LineMode::Bus));
    hall.open(START, bus);
    let (mut now, mut asked) = (START, 0);
    while asked < 40 {
        now = hall.poll_deadline().expect("a bus is searched").max(now);
        hall.advance(now);
        while let Some((line, bytes)) = hall.poll_write(now) {
            asked += 1;
            hall.sent(now, line, &bytes);
            // Board 42 answers every ping.
            hall.receive(now, line, &[0x87, 0x00, 0x06, 0x00, 42, 0x37]);
        }
    }
    hall.remove(now, bus, "unplugged");
    let single = hall.keep("/dev/ttyUSB1", LineSettings::of(LineMode::Single));
    hall.remove(now, single, "unplugged");
    assert_eq!(hall.keep("/dev/ttyUSB0", LineSettings::of(LineMode::Bus)), bus);
    assert_ne!(
        hall.keep("/dev/ttyUSB1", LineSettings::of(LineMode::Single)),
        single
    );
}

/// Two boards that report the same number, each on its own port.
struct Twins {
    hall: Hall,
    boards: [EmulatedBoard; 2],
    lines: [LineId; 2],
    now: Timestamp,
    journal: Vec<Event>,
    names: Names,
}

const PORTS: [&str; 2] = ["/dev/ttyUSB0", "/dev/ttyUSB1"];
/// Pawn moves of White, Black and White, by field numbers: a8 is 0, h1 is 63.
const PAWN_MOVES: [(u8, u8); 3] = [(52, 36), (12, 28), (51, 35)];

impl Twins {
    fn new() -> Self {
        let settings = || BoardSettings {
            serial: SerialNumber::new(*b"00042"),
            ..BoardSettings::default()
        };
        let board = || {
            let mut board = EmulatedBoard::new(START, settings());
            set_up(&mut board);
            board
        };
        let names = Names::Configured(Roster::default());
        let mut hall = Hall::new("live", names.clone());
        Self {
            lines: PORTS.map(|port| hall.keep(port, LineSettings::of(LineMode::Single))),
            hall,
            boards: [board(), board()],
            now: START,
            journal: Vec::new(),
            names,
        }
    }

    /// Opens the ports one after the other in this order.
    fn open(&mut self, order: [usize; 2]) {
        for nth in order {
            self.hall.open(self.now, self.lines[nth]);
            self.pass(Duration::from_secs(10));
        }
    }

    /// Restarts after some seconds: with the same hall, as after a replay of the recordings, or with a hall restored
    /// from the journal alone.
    fn restarts(&mut self, recorded: bool) {
        self.pass(Duration::from_secs(1));
        for line in self.lines {
            self.hall.close(self.now, line, "kiebitz was cut off");
        }
        if !recorded {
            self.hall = Hall::new("live", self.names.clone());
            expect_all(&mut self.hall, &self.journal, &self.names);
        }
        self.now = self.now + Duration::from_secs(5);
        let settings = || LineSettings::of(LineMode::Single);
        self.lines = PORTS.map(|port| self.hall.keep(port, settings()));
    }

    fn pass(&mut self, lasting: Duration) -> Vec<Event> {
        let end = self.now + lasting;
        while self.now < end {
            self.hall.advance(self.now);
            while let Some((line, bytes)) = self.hall.poll_write(self.now) {
                let nth = usize::from(line == self.lines[1]);
                self.boards[nth].handle_bytes(self.now, &bytes);
                self.hall.sent(self.now, line, &bytes);
            }
            self.now = self.now + Duration::from_millis(1);
            for (line, board) in self.lines.into_iter().zip(&mut self.boards) {
                while let Some((_, bytes)) = board.poll_transmit(self.now) {
                    self.hall.receive(self.now, line, &bytes);
                }
            }
        }
        let events = self
            .hall
            .take_events()
            .into_iter()
            .map(|explained| explained.event);
        let events: Vec<Event> = events.collect();
        self.journal.extend_from_slice(&events);
        events
    }

    fn moves(&mut self, (from, to): (u8, u8)) -> Vec<Event> {
        let field = |number| Field::new(number).expect("a field");
        for board in &mut self.boards {
            let piece = board.contents(field(from));
            board.set(self.now, field(from), None);
            board.set(self.now, field(to), piece);
        }
        self.pass(Duration::from_secs(20))
    }

    fn names_by_port(&self) -> [String; 2] {
        PORTS.map(|port| {
            let mut there = self.hall.boards().filter(|board| board.port() == port);
            let name = there.next().expect("a board").name().to_owned();
            assert!(there.next().is_none(), "one board at {port}");
            name
        })
    }
}

#[test]
fn boards_with_the_same_number_keep_names_and_games_by_their_ports() {
    let orders = [[0, 1], [1, 0]];
    for (first, second) in orders
        .into_iter()
        .flat_map(|first| orders.map(|second| (first, second)))
    {
        for recorded in [true, false] {
            let case = format!("{first:?}, {second:?}, recorded: {recorded}");
            let mut twins = Twins::new();
            twins.open(first);
            let names = twins.names_by_port();
            assert_eq!(names[first[0]], "00042");
            assert_eq!(names[first[1]], format!("00042-ttyUSB{}", first[1]));
            let namesakes: Vec<&str> = twins.hall.namesakes("00042").collect();
            assert_eq!(namesakes, [&names[first[1]]], "who looks is warned");
            twins.moves(PAWN_MOVES[0]);
            let before = twins.moves(PAWN_MOVES[1]);
            let games: BTreeSet<_> = before.iter().map(|event| (&event.board, &event.game)).collect();
            assert_eq!(games.len(), 2, "{case}: {before:#?}");

            twins.restarts(recorded);
            twins.open(second);
            assert_eq!(twins.names_by_port(), names, "{case}");
            let after = twins.moves(PAWN_MOVES[2]);
            let made: BTreeSet<_> = after
                .iter()
                .filter(|event| matches!(event.kind, EventKind::MoveMade { .. }))
                .map(|event| (&event.board, &event.game))
                .collect();
            assert_eq!(made, games, "{case}: the games go on");
            assert_eq!(twins.hall.boards().count(), 2, "{case}");
        }
    }
}

/// A board that cannot be confused with another one keeps its name at any port.
#[test]
fn a_moved_board_keeps_its_name_at_another_port() {
    let mut twins = Twins::new();
    twins.open([0, 1]);
    let now = twins.now;
    twins.hall.remove(now, twins.lines[1], "unplugged");
    twins.lines[1] = twins
        .hall
        .keep("/dev/ttyUSB7", LineSettings::of(LineMode::Single));
    twins.hall.open(now, twins.lines[1]);
    twins.pass(Duration::from_secs(10));
    let moved = twins.hall.board("00042-ttyUSB1").expect("the same board");
    assert_eq!((moved.port(), moved.is_connected()), ("/dev/ttyUSB7", true));
    assert_eq!(twins.hall.boards().count(), 2);
}

/// Byes and results of tables without a game have an event stream of their own.
#[test]
fn results_of_a_round_need_no_board() {
    let now = Timestamp::from_micros(1_789_000_000_000_000);
    let mut hall = Hall::new("live", Names::Configured(Roster::default()));
    let send =
        |hall: &mut Hall, text: &str| hall.command(now, ROUNDS, &Command::parse(text).expect("a command"));
    let result = r#"{"id":"1","do":"set_result","round":1,"table":7,"result":"1-0"}"#;
    let bye = r#"{"id":"2","do":"set_bye","round":1,"player":"Zorn, Ute","points":"1/2"}"#;
    for text in [result, bye] {
        let answer = send(&mut hall, text);
        assert!(answer.ok, "{answer:?}");
    }
    let events: Vec<Event> = hall
        .take_events()
        .into_iter()
        .map(|explained| explained.event)
        .collect();
    let kinds: Vec<(u64, &str, bool)> = events
        .iter()
        .map(|event| {
            let is_result = matches!(event.kind, EventKind::TableResult { table: 7, .. });
            (event.seq, &*event.board, is_result)
        })
        .collect();
    assert_eq!(kinds, [(1, ROUNDS, false), (2, ROUNDS, true), (3, ROUNDS, false)]);
    assert!(hall.boards().all(Board::is_forgotten), "it is not shown");
    // A restart continues the stream.
    let mut restarted = Hall::new("live", Names::Configured(Roster::default()));
    restarted.expect(Board::resumed(
        ROUNDS,
        "live",
        Regulations::default(),
        &BoardPast::of(&events),
    ));
    assert!(restarted.boards().all(Board::is_forgotten));
    assert!(send(&mut restarted, result).ok);
    assert_eq!(restarted.take_events()[0].event.seq, 4);
    // The record takes no commands for boards, and answers do not list it among the boards.
    let refused = send(&mut restarted, r#"{"id":"3","do":"new_game"}"#);
    let error = refused.error.unwrap_or_default();
    assert!(!refused.ok && !error.contains("rounds,"), "{error}");
}

#[test]
fn the_points_of_a_bye_are_required() {
    let parsed = |points: &str| {
        Command::parse(&format!(
            r#"{{"id":"1","do":"set_bye","round":1,"player":"A"{points}}}"#
        ))
    };
    assert!(parsed(r#","points":"0""#).is_ok() && parsed(r#","points":null"#).is_ok());
    assert!(parsed("").is_err() && parsed(r#","points":"2""#).is_err());
}

/// A replay needs the commands with an effect only, so a flood of others leaves few events.
#[test]
fn refused_commands_are_recorded_within_limits_and_a_replay_gives_the_same_events() {
    let entry = RosterEntry {
        known_by: KnownBy::Port("/dev/ttyUSB0".into()),
        name: "board-1".to_owned(),
        regulations: Regulations::default(),
    };
    let hall = || {
        let roster = Roster {
            boards: vec![entry.clone()],
            ..Roster::default()
        };
        Hall::new("live", Names::Configured(roster))
    };
    let events_of = |hall: &mut Hall| -> Vec<Event> {
        let events = hall.take_events().into_iter();
        events.map(|explained| explained.event).collect()
    };
    let send = |hall: &mut Hall, minute: u32, id: &str, order: &str| {
        let command = Command::parse(&format!(r#"{{"id":"{id}",{order}}}"#)).expect("a command");
        hall.command(START + Duration::from_secs(60) * minute, "board-1", &command)
    };
    let mut live = hall();
    for minute in 0..600 {
        for number in 0..10 {
            let id = format!("{minute}-{number}");
            assert!(!send(&mut live, minute, &id, r#""do":"end_game","reason":"void""#).ok);
            assert!(send(&mut live, minute, &id, r#""do":"identify""#).ok);
        }
        if minute % 60 == 0 {
            let names = format!(r#""do":"set_players","white":"Player {minute}""#);
            assert!(send(&mut live, minute, "names", &names).ok);
        }
    }
    let events = events_of(&mut live);
    let is_effective =
        |event: &&Event| matches!(&event.kind, EventKind::CommandTaken { id, .. } if id == "names");
    assert_eq!(events.iter().filter(is_effective).count(), 10);
    let others = events.len() - 10;
    assert_eq!(others, 30 + 599 / 5, "30 at once, and one every five minutes");

    let mut replayed = hall();
    for event in &events {
        let command = Command::taken(&event.kind).expect("a command");
        replayed.command(event.ts, &event.board, &command);
    }
    assert_eq!(events_of(&mut replayed), events);
    // Both go on alike.
    for minute in 600..620 {
        for hall in [&mut live, &mut replayed] {
            send(
                hall,
                minute,
                &minute.to_string(),
                r#""do":"end_game","reason":"void""#,
            );
        }
    }
    let after = events_of(&mut live);
    assert_eq!(after.len(), 4);
    assert_eq!(events_of(&mut replayed), after);
}
