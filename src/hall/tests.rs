use core::time::Duration;

use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
use kiebitz_protocol::BatteryStatus;

use super::*;
use crate::event::EventKind;

const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

/// An emulated board behind a line of a hall, in virtual time.
struct World {
    hall: Hall,
    line: LineId,
    board: EmulatedBoard,
    now: Timestamp,
}

impl World {
    fn new(manner: Manner, settings: BoardSettings) -> Self {
        let mut hall = Hall::new("live", Names::Configured(Box::default()));
        let line = hall.add("/dev/ttyUSB0", manner);
        hall.open(START, line);
        Self {
            hall,
            line,
            board: EmulatedBoard::new(START, settings),
            now: START,
        }
    }

    fn pass(&mut self, lasting: Duration) {
        let end = self.now + lasting;
        while self.now < end {
            self.hall.advance(self.now);
            while let Some((line, bytes)) = self.hall.poll_write(self.now) {
                self.board.handle_bytes(self.now, &bytes);
                self.hall.sent(self.now, line, &bytes);
            }
            self.now = self.now + Duration::from_millis(1);
            while let Some((_, bytes)) = self.board.poll_transmit(self.now) {
                self.hall.receive(self.now, self.line, &bytes);
            }
        }
    }

    fn the_board(&self) -> &Board {
        self.hall.boards().next().expect("a board")
    }
}

#[test]
fn battery_is_asked_for_on_bluetooth_only() {
    let battery = BatteryStatus {
        percent: 64,
        ..BatteryStatus::default()
    };
    let settings = BoardSettings {
        battery: Some(battery),
        ..BoardSettings::default()
    };
    let mut world = World::new(Manner::Live(LineMode::Single), settings.clone());
    world.pass(Duration::from_secs(20));
    assert_eq!(world.the_board().battery(), None);

    let mut world = World::new(Manner::Bluetooth, settings);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.the_board().battery(), Some(64));
    world.hall.close(world.now, world.line, "Bluetooth link lost");
    assert_eq!(world.the_board().battery(), None);
}

#[test]
fn battery_that_knows_no_charge_has_none() {
    let battery = BatteryStatus {
        percent: BatteryStatus::UNKNOWN,
        ..BatteryStatus::default()
    };
    let settings = BoardSettings {
        battery: Some(battery),
        ..BoardSettings::default()
    };
    let mut world = World::new(Manner::Bluetooth, settings);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.the_board().battery(), None);
}

#[test]
fn clock_is_told_of_after_its_board() {
    let mut world = World::new(Manner::Live(LineMode::Single), BoardSettings::default());
    let clock = EmulatedClock::new(Duration::from_secs(300));
    world.board.plug_clock(START, Some(clock));
    world.pass(Duration::from_secs(10));
    let said: Vec<_> = world
        .hall
        .take_said()
        .into_iter()
        .map(|said| said.event)
        .collect();
    let kinds: Vec<_> = said.iter().map(|event| &event.kind).collect();
    assert!(
        matches!(
            kinds[..],
            [EventKind::BoardConnected { .. }, EventKind::ClockConnected {}]
        ),
        "{kinds:?}"
    );
    assert!(said.is_sorted_by_key(|event| event.ts));
}

#[test]
fn boards_that_are_new_count_from_where_a_damaged_journal_was_given_up() {
    let mut world = World::new(Manner::Live(LineMode::Single), BoardSettings::default());
    world.hall.begin_after(1_789_000_000_123);
    world.pass(Duration::from_secs(10));
    let said = world.hall.take_said();
    assert_eq!(said.first().map(|said| said.event.seq), Some(1_789_000_000_124));
}
