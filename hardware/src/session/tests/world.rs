//! A session and an emulated board at the two ends of a cable, in virtual time.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{Command, CommandDecoder, Contents, Field, Piece};

use crate::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
use crate::{Observation, Observed, Session, SessionSettings, Timestamp};

pub(super) const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);
const BYTE: Duration = Duration::from_micros(1040);

pub(super) fn field(number: u8) -> Field {
    Field::new(number).unwrap()
}

pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) board: EmulatedBoard,
    pub(super) session: Session,
    /// Whether the cable passes bytes, in both directions.
    pub(super) cable: bool,
    in_transit: VecDeque<(Timestamp, u8)>,
    pub(super) written: Vec<(Timestamp, Vec<u8>)>,
    pub(super) observed: Vec<Observed>,
    pub(super) session_close: Option<(Timestamp, String)>,
}

impl World {
    /// Creates a world whose board has the kings on fields 0 and 63. The port is not open yet.
    pub(super) fn new(board: BoardSettings, session: SessionSettings) -> Self {
        let mut pieces = [None; Field::COUNT];
        (pieces[0], pieces[63]) = (Some(Piece::WhiteKing), Some(Piece::BlackKing));
        Self {
            now: START,
            board: EmulatedBoard::with_pieces(START, board, &pieces),
            session: Session::keeping(session),
            cable: true,
            in_transit: VecDeque::new(),
            written: Vec::new(),
            observed: Vec::new(),
            session_close: None,
        }
    }

    /// Creates a world with default settings after the opening sequence. Written commands and observations are cleared.
    pub(super) fn settled() -> Self {
        Self::settled_with(SessionSettings::default())
    }

    pub(super) fn settled_with(session: SessionSettings) -> Self {
        let mut world = Self::new(BoardSettings::default(), session);
        world.open();
        world.run(5000);
        assert_eq!(world.boards(), 1);
        world.clear_records();
        world
    }

    /// Plugs in a clock and lets the board notice it.
    pub(super) fn with_clock(mut self, running: bool) -> Self {
        let mut clock = EmulatedClock::new(Duration::from_secs(3600));
        if running {
            clock.start(self.now);
        }
        self.board.plug_clock(self.now, Some(clock));
        self.run(1000);
        self.clear_records();
        self
    }

    pub(super) fn open(&mut self) {
        self.session.handle_opened(self.now);
        self.session_close = None;
        // Bytes that the board sent to the closed port are lost.
        while self.board.poll_transmit(self.now).is_some() {}
    }

    /// The host wants the memory.
    pub(super) fn recall(&mut self) {
        self.session.recall(self.now, true);
    }

    pub(super) fn close(&mut self, reason: &str) {
        self.session.handle_closed(self.now, reason);
        self.in_transit.clear();
    }

    pub(super) fn set(&mut self, number: u8, contents: Contents) {
        self.board.set(self.now, field(number), contents);
    }

    /// Passes garbage bytes to the session.
    pub(super) fn disturb(&mut self, bytes: &[u8]) {
        self.session.handle_bytes(self.now, bytes);
    }

    /// Advances the time by `millis` milliseconds.
    pub(super) fn run(&mut self, millis: u64) {
        let until = self.now + Duration::from_millis(millis);
        while let Some(now) = self.next().filter(|next| *next <= until) {
            // A call of the board by the test may have passed a deadline.
            self.now = now.max(self.now);
            self.step();
        }
        self.now = until;
        self.collect_observations();
    }

    fn next(&self) -> Option<Timestamp> {
        let arrives = self.in_transit.front().map(|(at, _)| *at);
        [self.board.poll_deadline(), self.session.poll_deadline(), arrives]
            .into_iter()
            .flatten()
            .min()
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some((_, byte)) = self.in_transit.pop_front_if(|(at, _)| *at <= now) {
            if self.cable {
                self.board.handle_bytes(now, &[byte]);
            }
        }
        while let Some((at, bytes)) = self.board.poll_transmit(now) {
            if self.cable {
                self.session.handle_bytes(at, &bytes);
            }
        }
        if self.session.poll_deadline().is_some_and(|due| due <= now) {
            self.session.handle_deadline(now);
        }
        while let Some(bytes) = self.session.poll_transmit(now) {
            self.session.handle_sent(now, &bytes);
            let mut arrives = now;
            for byte in &bytes {
                arrives = arrives + BYTE;
                self.in_transit.push_back((arrives, *byte));
            }
            self.written.push((now, bytes));
        }
        if let Some(reason) = self.session.poll_close() {
            self.close(&reason);
            self.session_close = Some((now, reason));
        }
        self.collect_observations();
    }

    fn collect_observations(&mut self) {
        self.observed
            .extend(core::iter::from_fn(|| self.session.poll_observation()));
    }

    pub(super) fn clear_records(&mut self) {
        self.written.clear();
        self.observed.clear();
    }

    pub(super) fn millis(from: Timestamp, to: Timestamp) -> u64 {
        to.saturating_duration_since(from).as_millis() as u64
    }

    /// Returns the time of the first matching observation.
    pub(super) fn first(&self, wanted: impl Fn(&Observation) -> bool) -> Option<Timestamp> {
        let found = self
            .observed
            .iter()
            .find(|observed| wanted(&observed.observation));
        found.map(|observed| observed.at)
    }

    /// Returns the number of observed dumps.
    pub(super) fn boards(&self) -> usize {
        let is_board = |observed: &&Observed| matches!(observed.observation, Observation::Board { .. });
        self.observed.iter().filter(is_board).count()
    }

    /// Decodes the written commands.
    pub(super) fn commands(&self) -> Vec<Command> {
        let (mut decoder, mut commands) = (CommandDecoder::new(), Vec::new());
        for (_, bytes) in &self.written {
            decoder.feed(bytes, |command| commands.push(command.expect("a command")));
        }
        commands
    }
}
