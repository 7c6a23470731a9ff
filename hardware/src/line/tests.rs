use core::time::Duration;

use kiebitz_protocol::SerialNumber;

use crate::Observation;
use crate::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedBusSettings};

use super::*;

const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

/// A line with one board that supports both modes, in virtual time.
struct World {
    line: Line,
    board: EmulatedBoard,
    now: Timestamp,
    found: Vec<LineMode>,
    observed: Vec<(Place, Observation)>,
    recording: Vec<(Timestamp, bool, Vec<u8>)>,
}

impl World {
    fn new(settings: LineSettings) -> Self {
        let mut line = Line::keeping(settings);
        line.handle_opened(START);
        Self {
            line,
            board: EmulatedBoard::new(START, BoardSettings::default()),
            now: START,
            found: Vec::new(),
            observed: Vec::new(),
            recording: Vec::new(),
        }
    }

    fn run(&mut self, seconds: u64) {
        let end = self.now + Duration::from_secs(seconds);
        while self.now < end {
            while let Some(bytes) = self.line.poll_transmit(self.now) {
                self.board.handle_bytes(self.now, &bytes);
                self.line.handle_sent(self.now, &bytes);
                self.recording.push((self.now, true, bytes));
            }
            let due = [self.line.poll_deadline(), self.board.poll_deadline()];
            self.now = due
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(end)
                .clamp(self.now, end);
            while let Some((at, bytes)) = self.board.poll_transmit(self.now) {
                self.line.handle_bytes(at, &bytes);
                self.recording.push((at, false, bytes));
            }
            self.line.handle_deadline(self.now);
            self.found.extend(self.line.poll_mode());
            let observed = core::iter::from_fn(|| self.line.poll_observation());
            self.observed
                .extend(observed.map(|(place, observed)| (place, observed.observation)));
        }
    }

    fn dumps(&self) -> impl Iterator<Item = Place> {
        let dumps = self
            .observed
            .iter()
            .filter(|(_, observation)| matches!(observation, Observation::Board { .. }));
        dumps.map(|(place, _)| *place)
    }
}

#[test]
fn a_lone_board_is_used_in_single_board_mode_for_any_configured_mode() {
    for unanswered in [LineMode::Single, LineMode::Bus] {
        let mut world = World::new(LineSettings {
            unanswered,
            ..LineSettings::default()
        });
        world.run(20);
        assert_eq!(world.found, [LineMode::Single]);
        assert_eq!(world.dumps().next(), Some(Place::Alone));
        world.line.recall(world.now, true);
        world.run(5);
        assert!(
            world
                .observed
                .iter()
                .any(|(_, observation)| matches!(observation, Observation::Memory { .. }))
        );
        assert!(world.line.figures().is_none());
    }
}

#[test]
fn a_peeking_line_does_not_switch_a_lone_board_to_single_board_mode() {
    let mut world = World::new(LineSettings::default().peeking());
    world.run(15);
    assert_eq!(
        (world.line.mode(), &world.found[..]),
        (LineMode::Bus, &[LineMode::Bus][..])
    );
    assert_eq!(world.dumps().next(), BusAddress::new(42).map(Place::At));
    assert!(world.line.figures().is_some_and(|figures| figures.answers > 10));
    assert!(world.line.counters().is_none());
}

#[test]
fn a_second_board_that_joins_the_bus_is_noticed() {
    let serial = |number: u8| BoardSettings {
        serial: SerialNumber::new([b'0', b'0', b'0', b'0', b'0' + number]),
        ..BoardSettings::default()
    };
    let mut now = START;
    let mut bus = EmulatedBus::new(now, EmulatedBusSettings::default());
    bus.attach(now, EmulatedBoard::new(now, serial(1))).unwrap();
    let mut line = Line::keeping(LineSettings::default());
    line.handle_opened(now);
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    let joins = START + Duration::from_secs(30);
    while now < START + Duration::from_secs(180) {
        while let Some(bytes) = line.poll_transmit(now) {
            bus.handle_bytes(now, &bytes);
            line.handle_sent(now, &bytes);
        }
        if let Some(reason) = line.poll_close() {
            line.handle_closed(now, &reason);
            line.handle_opened(now);
            reasons.push(reason);
        }
        let due = [
            line.poll_deadline(),
            bus.poll_deadline(),
            (now < joins).then_some(joins),
        ];
        now = due.into_iter().flatten().min().unwrap().max(now);
        if now == joins && bus.addresses().count() == 1 {
            bus.attach(now, EmulatedBoard::new(now, serial(2))).unwrap();
        }
        while let Some((at, bytes)) = bus.poll_transmit(now) {
            line.handle_bytes(at, &bytes);
        }
        line.handle_deadline(now);
        found.extend(line.poll_mode());
        while line.poll_observation().is_some() {}
    }
    assert_eq!(found, [LineMode::Single, LineMode::Bus], "{reasons:?}");
}

#[test]
fn knowledge_of_a_bus_survives_a_probe() {
    let mut world = World::new(LineSettings::of(LineMode::Bus));
    world.run(10);
    world.line.handle_closed(world.now, "unplugged");
    world.line.keep(LineSettings::default().peeking());
    world.line.handle_opened(world.now);
    assert_eq!(world.line.mode(), LineMode::Unknown);
    world.run(10);
    assert_eq!(world.line.mode(), LineMode::Bus);
    let opened = |(_, observation): &&(Place, Observation)| *observation == Observation::Opened;
    assert_eq!(world.observed.iter().filter(opened).count(), 2);
    // `sweeps` would be 1 for a newly found bus.
    assert!(world.line.figures().is_some_and(|figures| figures.sweeps > 2));
}

#[test]
fn a_line_without_answers_becomes_a_session() {
    let mut world = World::new(LineSettings::default());
    world.board.power_off(START);
    world.run(7);
    assert_eq!(world.found, [LineMode::Single]);
    assert_eq!(world.observed, [(Place::Alone, Observation::Opened)]);
    assert!(world.line.counters().is_some());
}

#[test]
fn a_line_without_a_known_mode_is_probed_at_each_opening() {
    let mut world = World::new(LineSettings::default());
    world.run(10);
    world.line.handle_closed(world.now, "unplugged");
    assert!(!world.line.is_open());
    world.line.handle_opened(world.now);
    assert_eq!(world.line.mode(), LineMode::Unknown);
    let mut known = World::new(LineSettings::of(LineMode::Single));
    known.run(3);
    known.line.handle_closed(known.now, "unplugged");
    known.line.handle_opened(known.now);
    assert_eq!(known.line.mode(), LineMode::Single);
}

#[test]
fn closing_a_closed_line_is_not_observed() {
    let mut line = Line::listening(LineMode::Single);
    line.handle_closed(START, "unplugged");
    assert_eq!(line.poll_observation(), None);
}

#[test]
fn a_replay_gives_the_same_observations() {
    let mut world = World::new(LineSettings::of(LineMode::Single));
    world.run(10);
    let mut replay = Line::listening(LineMode::Single);
    replay.handle_opened(START);
    for (at, sent, bytes) in &world.recording {
        if *sent {
            replay.handle_sent(*at, bytes);
        } else {
            replay.handle_bytes(*at, bytes);
        }
        assert_eq!((replay.poll_deadline(), replay.poll_transmit(*at)), (None, None));
    }
    let observed = core::iter::from_fn(|| replay.poll_observation());
    let observed: Vec<_> = observed
        .map(|(place, observed)| (place, observed.observation))
        .collect();
    assert!(observed.len() > 5);
    assert_eq!(observed, world.observed);
}

#[test]
fn a_peeking_line_does_not_read_the_memory() {
    let mut world = World::new(LineSettings::of(LineMode::Single).peeking());
    world.run(10);
    assert_eq!(world.dumps().next(), Some(Place::Alone));
    let memory_requested = |observations: &[Observation]| observations.contains(&Observation::MemoryAsked);
    let observed: Vec<_> = world
        .observed
        .into_iter()
        .map(|(_, observation)| observation)
        .collect();
    assert!(!memory_requested(&observed));
}

#[test]
fn a_bus_without_boards_is_closed() {
    let mut line = Line::keeping(LineSettings::of(LineMode::Bus));
    let mut bus = EmulatedBus::new(START, EmulatedBusSettings::default());
    let mut now = START;
    line.handle_opened(now);
    let reason = loop {
        while let Some(bytes) = line.poll_transmit(now) {
            bus.handle_bytes(now, &bytes);
            line.handle_sent(now, &bytes);
        }
        if let Some(reason) = line.poll_close() {
            break reason;
        }
        now = line
            .poll_deadline()
            .expect("an open line is looked after")
            .max(now);
        line.handle_deadline(now);
    };
    assert!(reason.contains("no board has answered"), "{reason}");
    assert_eq!(line.poll_close(), None);
}
