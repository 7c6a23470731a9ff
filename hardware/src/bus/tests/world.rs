//! An emulated bus, the line that polls it, and a recording of the traffic.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use kiebitz_protocol::{
    BusAddress, BusCommand, BusCommandKind, Contents, Element, Field, Piece, SerialNumber,
};

use crate::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedBusSettings, EmulatedClock};
use crate::{BusLine, BusSettings, Observation, Observed, Timestamp};

pub(super) const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

pub(super) fn address(number: u16) -> BusAddress {
    BusAddress::new(number).unwrap()
}

pub(super) fn field(number: u8) -> Field {
    Field::new(number).unwrap()
}

/// Creates an empty board with a running clock.
pub(super) fn board(now: Timestamp, number: u16) -> EmulatedBoard {
    board_with_response(now, number, BoardSettings::default().response)
}

/// Like [`board`], with the given time before each answer.
fn board_with_response(now: Timestamp, number: u16, response: Duration) -> EmulatedBoard {
    let serial: [u8; 5] = format!("{number:05}").into_bytes().try_into().unwrap();
    let settings = BoardSettings {
        serial: SerialNumber::new(serial),
        seed: u64::from(number),
        response,
        scan_phase: Duration::from_millis(u64::from(number) * 7 % 225),
        clock_phase: Duration::from_millis(u64::from(number) * 13 % 400),
        ..BoardSettings::default()
    };
    let mut board = EmulatedBoard::new(now, settings);
    let mut clock = EmulatedClock::new(Duration::from_secs(7200));
    clock.start(now);
    board.plug_clock(now, Some(clock));
    board
}

#[derive(Debug, Clone)]
pub(super) enum RecordedInput {
    Opened,
    Closed(String),
    Inbound(Vec<u8>),
    Outbound(Vec<u8>),
}

pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) bus: EmulatedBus,
    pub(super) line: BusLine,
    pub(super) observed: Vec<(BusAddress, Observed)>,
    pub(super) recording: Vec<(Timestamp, RecordedInput)>,
    /// Probability, per mille, that the host stalls at a received chunk.
    pub(super) stalls: u16,
    stalled_until: Timestamp,
    delayed: VecDeque<(Timestamp, Vec<u8>)>,
    random: fastrand::Rng,
    /// Number of deadlines of the line.
    pub(super) wakes: u64,
    pub(super) queries: Vec<BusCommandKind>,
    commands: kiebitz_protocol::BusCommandDecoder,
}

impl World {
    pub(super) fn new(numbers: impl IntoIterator<Item = u16>, settings: EmulatedBusSettings) -> Self {
        let boards = numbers.into_iter().map(|number| board(START, number));
        Self::with_boards(boards, settings, BusSettings::default())
    }

    /// Creates a world whose line leaves the boards' changes to another host.
    pub(super) fn peeking(numbers: impl IntoIterator<Item = u16>, settings: EmulatedBusSettings) -> Self {
        let boards = numbers.into_iter().map(|number| board(START, number));
        Self::with_boards(boards, settings, BusSettings::peeking())
    }

    /// Creates a world whose boards always take the maximum response time, 20 ms.
    pub(super) fn slow(numbers: impl IntoIterator<Item = u16>) -> Self {
        let slow = |number| board_with_response(START, number, Duration::from_millis(20));
        let settings = EmulatedBusSettings::default();
        Self::with_boards(numbers.into_iter().map(slow), settings, BusSettings::default())
    }

    fn with_boards(
        boards: impl Iterator<Item = EmulatedBoard>,
        settings: EmulatedBusSettings,
        polled: BusSettings,
    ) -> Self {
        let mut bus = EmulatedBus::new(START, settings);
        for board in boards {
            bus.attach(START, board).unwrap();
        }
        let mut world = Self {
            now: START,
            bus,
            line: BusLine::polling(polled),
            observed: Vec::new(),
            recording: Vec::new(),
            stalls: 0,
            stalled_until: START,
            delayed: VecDeque::new(),
            random: fastrand::Rng::with_seed(9),
            wakes: 0,
            queries: Vec::new(),
            commands: kiebitz_protocol::BusCommandDecoder::new(),
        };
        world.open();
        world
    }

    pub(super) fn open(&mut self) {
        self.line.handle_opened(self.now);
        self.recording.push((self.now, RecordedInput::Opened));
    }

    pub(super) fn close(&mut self, reason: &str) {
        self.line.handle_closed(self.now, reason);
        self.recording
            .push((self.now, RecordedInput::Closed(reason.to_owned())));
    }

    pub(super) fn set(&mut self, number: u16, at: u8, contents: Contents) {
        let now = self.now;
        let board = self.bus.board_mut(now, address(number)).unwrap();
        board.set(now, field(at), contents);
    }

    /// Passes garbage bytes to the line.
    pub(super) fn noise(&mut self, bytes: &[u8]) {
        self.line.handle_bytes(self.now, bytes);
        self.recording
            .push((self.now, RecordedInput::Inbound(bytes.to_vec())));
    }

    pub(super) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            while let Some(bytes) = self.line.poll_transmit(self.now) {
                assert_eq!(self.line.poll_transmit(self.now), None, "one command at a time");
                self.check_commands(&bytes);
                self.bus.handle_bytes(self.now, &bytes);
                self.line.handle_sent(self.now, &bytes);
                self.recording.push((self.now, RecordedInput::Outbound(bytes)));
            }
            self.observed
                .extend(std::iter::from_fn(|| self.line.poll_observation()));
            if let Some(reason) = self.line.poll_close() {
                self.close(&reason);
            }
            let wake = self.line.poll_deadline();
            assert!(
                wake.is_none_or(|wake| wake > self.now),
                "would spin at {:?}",
                self.now
            );
            let delayed = self.delayed.front().map(|(at, _)| *at);
            let next = [wake, delayed, self.bus.poll_deadline()]
                .into_iter()
                .flatten()
                .min();
            let Some(next) = next.filter(|next| *next <= end) else {
                break;
            };
            self.now = next.max(self.now);
            while let Some((at, bytes)) = self.bus.poll_transmit(self.now) {
                if self.random.u16(..1000) < self.stalls {
                    self.stalled_until = at + Duration::from_millis(self.random.u64(20..300));
                }
                self.delayed.push_back((at.max(self.stalled_until), bytes));
            }
            while let Some((at, bytes)) = self.delayed.pop_front_if(|(at, _)| *at <= self.now) {
                self.line.handle_bytes(at, &bytes);
                self.recording.push((at, RecordedInput::Inbound(bytes)));
            }
            if wake.is_some_and(|wake| wake <= self.now) {
                self.wakes += 1;
                self.line.handle_deadline(self.now);
            }
        }
        self.now = end;
        self.bus.advance(end);
    }

    /// Asserts that a command may be sent to a board in play.
    fn check_commands(&mut self, bytes: &[u8]) {
        self.commands.feed(bytes, |decoded| {
            let BusCommand { kind, address } = decoded.unwrap();
            let harmless = !matches!(
                kind,
                BusCommandKind::SetStart
                    | BusCommandKind::EndBusMode
                    | BusCommandKind::Reset
                    | BusCommandKind::FromStart
            );
            assert!(harmless, "{kind:?}");
            assert!(address != BusAddress::ALL || kind == BusCommandKind::Ping);
            self.queries.push(kind);
        });
    }

    pub(super) fn of(&self, number: u16) -> impl Iterator<Item = &Observed> {
        let wanted = address(number);
        self.observed
            .iter()
            .filter(move |(address, _)| *address == wanted)
            .map(|(_, observed)| observed)
    }

    pub(super) fn count(&self, number: u16, wanted: impl Fn(&Observation) -> bool) -> usize {
        self.of(number)
            .filter(|observed| wanted(&observed.observation))
            .count()
    }

    /// Returns the reported changes of every board, in order.
    pub(super) fn reported(&self) -> BTreeMap<BusAddress, Vec<(Field, Contents)>> {
        let mut reported: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (address, observed) in &self.observed {
            if let Observation::Changes { elements, .. } = &observed.observation {
                let changes = elements.iter().filter_map(|element| match element {
                    Element::PieceChange { contents, field, .. } => Some((*field, *contents)),
                    _ => None,
                });
                reported.entry(*address).or_default().extend(changes);
            }
        }
        reported
    }

    /// Returns the observations that a listening line makes from the recording.
    pub(super) fn replayed(&self) -> Vec<(BusAddress, Observed)> {
        replay(&self.recording)
    }
}

pub(super) fn replay(recording: &[(Timestamp, RecordedInput)]) -> Vec<(BusAddress, Observed)> {
    let mut line = BusLine::new();
    for (at, recorded) in recording {
        match recorded {
            RecordedInput::Opened => line.handle_opened(*at),
            RecordedInput::Closed(reason) => line.handle_closed(*at, reason),
            RecordedInput::Inbound(bytes) => line.handle_bytes(*at, bytes),
            RecordedInput::Outbound(bytes) => line.handle_sent(*at, bytes),
        }
        assert_eq!((line.poll_transmit(*at), line.poll_deadline()), (None, None));
    }
    std::iter::from_fn(|| line.poll_observation()).collect()
}

/// Returns a piece. Consecutive values of `turn` give different pieces.
pub(super) fn piece(turn: usize) -> Contents {
    Some(Piece::ALL[turn % 12])
}
