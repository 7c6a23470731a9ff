//! All boards and all lines that they are on: bytes in, events out.
//!
//! The live daemon and a replay drive it the same way. Nothing here opens a port or reads a clock: the driver hands over
//! what came in and when, asks what is to be written, and reports it once it is.
//!
//! All times are those of the computer's clock. Where that is set forward ([`Hall::set_clock`]), lines and boards do
//! not notice: they are given the time without such steps.

mod agenda;
mod board;
mod line;
mod names;
mod presence;
mod resume;
mod seating;
mod steps;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::capture::{Content, Direction, Interface, LineMode, Packet};
use kiebitz_hardware::{Line, LineSettings, Recall, Timestamp};
use kiebitz_protocol::Counters;

use crate::command::{Answer, Command, Order, Refusal};
use crate::events::ExplainedEvent;
use crate::model::Model;
use crate::position::Seen;
pub use crate::referee::Playing;
use agenda::{Agenda, Who};
pub use board::Board;
use line::HallLine;
pub use names::{KnownBy, Names, NoSerial, Roster, RosterEntry, Serial, serials};
pub use resume::BoardPast;
use steps::Steps;

/// A line of the hall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(usize);

/// The boards of a hall and the lines they are on.
#[derive(Debug)]
pub struct Hall {
    stream: String,
    names: Names,
    model: &'static Model,
    /// The numbers after which boards that are new begin to count.
    numbers: LastSeqs,
    /// Numbers that boards leave out, by name: after the event with the first number the one after the second follows.
    jumps: BTreeMap<String, BTreeMap<u64, u64>>,
    steps: Steps,
    /// When the computer's clock was last set, and by how many microseconds.
    clock_set: Option<(Timestamp, i64)>,
    /// By name. A board that has been unplugged stays here until it comes back, on whatever line.
    boards: BTreeMap<String, Board>,
    /// By the name of each board that has been plugged in, the name that it has where no other one has the same.
    own_names: BTreeMap<String, String>,
    lines: BTreeMap<LineId, HallLine>,
    added: usize,
    /// The boards that were handled since [`Hall::take_touched`] was last called.
    touched: BTreeSet<String>,
    agenda: Agenda,
    /// Lines that were handled and not asked since whether they have something to write.
    to_write: BTreeSet<LineId>,
    /// Lines that may be given up, likewise.
    to_close: BTreeSet<LineId>,
    /// Lines whose mode may just have been found out, likewise.
    found_out: BTreeSet<LineId>,
    /// Boards that may have events, likewise.
    speaking: BTreeSet<String>,
}

/// The numbers of events that were given before, by boards that the hall has not met.
#[derive(Debug, Clone, Default)]
pub struct LastSeqs {
    /// By name.
    pub boards: BTreeMap<String, u64>,
    /// Of any other board.
    pub others: u64,
}

impl Hall {
    /// A hall without boards, whose events form `stream`.
    #[must_use]
    pub fn new(stream: &str, names: Names) -> Self {
        Self {
            stream: stream.to_owned(),
            names,
            model: &Model::FITTED,
            numbers: LastSeqs::default(),
            jumps: BTreeMap::new(),
            steps: Steps::default(),
            clock_set: None,
            boards: BTreeMap::new(),
            own_names: BTreeMap::new(),
            lines: BTreeMap::new(),
            added: 0,
            touched: BTreeSet::new(),
            agenda: Agenda::default(),
            to_write: BTreeSet::new(),
            to_close: BTreeSet::new(),
            found_out: BTreeSet::new(),
            speaking: BTreeSet::new(),
        }
    }

    /// The same, whose boards take hands to be like that. To be called before anything is heard.
    #[must_use]
    pub fn following(mut self, model: &'static Model) -> Self {
        self.model = model;
        self
    }

    /// Boards that are met for the first time begin to count after these numbers.
    pub fn begin_after(&mut self, numbers: LastSeqs) {
        self.numbers = numbers;
    }

    /// Boards leave out these numbers: after the event with the first number of a pair the one after the second follows.
    /// Call this before any board is met.
    pub fn leave_out(&mut self, jumps: BTreeMap<String, BTreeMap<u64, u64>>) {
        self.jumps = jumps;
    }

    /// Boards that have been met go on counting after these numbers, where they are higher.
    pub fn count_on_after(&mut self, numbers: &BTreeMap<String, u64>) {
        for (name, number) in numbers {
            if let Some(board) = self.boards.get_mut(name) {
                board.count_on_after(*number);
            }
        }
    }

    /// Another configuration applies from now on: the names of boards that come, and what is played on all of them.
    pub fn configure(&mut self, names: Names) {
        for board in self.boards.values_mut() {
            let name = board.name();
            let (before, regulations) = (self.names.regulations(name), names.regulations(name));
            board.regulate(&before, regulations);
        }
        self.names = names;
    }

    /// The same while boards are watched: up to `now` they go by the configuration before.
    pub fn reconfigure(&mut self, now: Timestamp, names: Names) {
        self.advance(now);
        self.configure(names);
        // What they wait for may be due at another time, a round for instance.
        for name in self.boards.keys().cloned().collect::<Vec<_>>() {
            self.heard(&name);
        }
    }

    /// The computer's clock is set by so many microseconds; `now` is what it said just before. No time passes, and
    /// where it is set back, time goes on from `now` all the same. What is said again of the same moment has no effect.
    pub fn set_clock(&mut self, now: Timestamp, micros: i64) {
        if self.clock_set.replace((now, micros)) == Some((now, micros)) {
            return;
        }
        self.advance(now);
        let at = self.steps.without(now);
        if let Ok(forward) = u64::try_from(micros) {
            self.steps.step(at, Duration::from_micros(forward));
        }
        for name in self.boards.keys().cloned().collect::<Vec<_>>() {
            if let Some(board) = self.boards.get_mut(&name) {
                board.set_clock(at, &self.steps, micros / 1000);
            }
            self.heard(&name);
        }
    }

    /// By how much the computer's clock has been set forward so far.
    #[must_use]
    pub fn ahead(&self) -> Duration {
        self.steps.ahead()
    }

    /// With these names for the boards that come from now on.
    #[must_use]
    pub fn named(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// The boards met so far, by name.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.boards.values()
    }

    /// The names of all boards, and of those that are configured and have not been met.
    #[must_use]
    pub fn names_of_boards(&self) -> BTreeSet<String> {
        let configured = self.names.configured().map(str::to_owned);
        self.boards.keys().cloned().chain(configured).collect()
    }

    /// A board by its name.
    #[must_use]
    pub fn board(&self, name: &str) -> Option<&Board> {
        self.boards.get(name)
    }

    /// Takes what the squares of a board did since the last call.
    pub fn take_seen(&mut self, name: &str) -> Seen {
        self.boards
            .get_mut(name)
            .map(Board::take_seen)
            .unwrap_or_default()
    }

    /// Adds a board before it is plugged in: the journal knows it.
    pub fn expect(&mut self, mut board: Board) {
        let name = board.name().to_owned();
        board.follow(&self.steps);
        board.leave_out(self.jumps.get(&name));
        self.boards.insert(name.clone(), board);
        self.heard(&name);
    }

    /// The mode of a line, as far as it is known.
    #[must_use]
    pub fn mode(&self, line: LineId) -> LineMode {
        let seated = self.lines.get(&line);
        seated.map_or(LineMode::Unknown, |seated| seated.line.mode())
    }

    /// The port of a line.
    #[must_use]
    pub fn port(&self, line: LineId) -> Option<&str> {
        self.lines.get(&line).map(|seated| seated.port.as_str())
    }

    /// What was decoded and dropped on the line of a board that is alone on it.
    #[must_use]
    pub fn counters(&self, board: &str) -> Option<&Counters> {
        let seated = self.lines.values().find(|seated| seated.has(board))?;
        seated.line.counters()
    }

    /// A line whose port is not open yet.
    pub fn add(&mut self, port: &str, line: Line) -> LineId {
        let id = LineId(self.added);
        self.added += 1;
        self.lines.insert(id, HallLine::new(port, line));
        id
    }

    /// The line of a port whose boards are kept answering from its next opening on. What was known of them when the port
    /// was last there is known.
    pub fn keep(&mut self, port: &str, settings: LineSettings) -> LineId {
        let known = self.line_of(port).filter(|line| !self.is_open(*line));
        let id = known.unwrap_or_else(|| self.add(port, Line::listening(LineMode::Single)));
        if let Some(seated) = self.lines.get_mut(&id) {
            seated.line.keep(settings);
        }
        self.handled(id);
        id
    }

    /// The line of a port in a recording, on which boards speak in this mode from now on.
    pub fn listen(&mut self, port: &str, mode: LineMode) -> LineId {
        let Some(id) = self.line_of(port) else {
            return self.add(port, Line::listening(mode));
        };
        if let Some(seated) = self.lines.get_mut(&id)
            && seated.line.mode() != mode
        {
            seated.line.listen_as(mode);
        }
        id
    }

    /// Takes in what a recording has of a port. The line is added now if the recording begins in the middle of a session.
    pub fn play_back(&mut self, port: &Interface, packet: &Packet) {
        let line = self.listen(&port.name, port.mode);
        self.handle(packet.at, line, &packet.content);
    }

    /// Takes in what happened on a line's port, live or recorded.
    pub fn handle(&mut self, now: Timestamp, line: LineId, content: &Content) {
        match content {
            Content::Opened => self.open(now, line),
            Content::Closed { reason } => self.close(now, line, reason),
            Content::Bytes {
                direction: Direction::Inbound,
                bytes,
            } => self.receive(now, line, bytes),
            Content::Bytes {
                direction: Direction::Outbound,
                bytes,
            } => self.sent(now, line, bytes),
            // The recording of every port that was open then has it.
            Content::ClockSet { micros } => self.set_clock(now, *micros),
        }
    }

    fn line_of(&self, port: &str) -> Option<LineId> {
        let mut lines = self.lines.iter();
        lines.find_map(|(id, seated)| (seated.port == port).then_some(*id))
    }

    /// The lines whose ports are open, each with its port.
    pub fn open_lines(&self) -> impl Iterator<Item = (LineId, &str)> {
        let open = self.lines.iter().filter(|(_, seated)| seated.line.is_open());
        open.map(|(id, seated)| (*id, seated.port.as_str()))
    }

    /// The port was opened.
    pub fn open(&mut self, now: Timestamp, line: LineId) {
        self.at(now, line, Line::handle_opened);
    }

    /// The port is gone; it may be opened again.
    pub fn close(&mut self, now: Timestamp, line: LineId, reason: &str) {
        self.at(now, line, |line, now| line.handle_closed(now, reason));
    }

    /// The port is gone for good, or until another device is found there.
    pub fn remove(&mut self, now: Timestamp, line: LineId, reason: &str) {
        self.close(now, line, reason);
        // What the boards of a bus last reported is worth knowing when they are back.
        if self
            .lines
            .get(&line)
            .is_some_and(|seated| !seated.line.knows_a_bus())
        {
            self.lines.remove(&line);
        }
        self.agenda.put(Who::Line(line), None);
    }

    /// Bytes came from the line.
    pub fn receive(&mut self, now: Timestamp, line: LineId, bytes: &[u8]) {
        self.at(now, line, |line, now| line.handle_bytes(now, bytes));
    }

    /// Bytes were written to the line.
    pub fn sent(&mut self, now: Timestamp, line: LineId, bytes: &[u8]) {
        self.at(now, line, |line, now| line.handle_sent(now, bytes));
    }

    /// The next bytes to be written, and where to. Call [`sent`](Self::sent) once they are.
    pub fn poll_write(&mut self, now: Timestamp) -> Option<(LineId, Vec<u8>)> {
        for who in self.agenda.due(self.steps.without(now)) {
            if let Who::Line(id) = who {
                self.to_write.insert(id);
            }
        }
        while let Some(id) = self.to_write.first().copied() {
            if let Some(bytes) = self.poll_write_to(now, id) {
                return Some((id, bytes));
            }
            self.to_write.remove(&id);
        }
        None
    }

    /// The next bytes to be written to one line.
    pub fn poll_write_to(&mut self, now: Timestamp, line: LineId) -> Option<Vec<u8>> {
        let now = self.steps.without(now);
        self.recall(now, line);
        let bytes = self.lines.get_mut(&line)?.line.poll_transmit(now);
        self.handled(line);
        bytes
    }

    /// A line that is given up: the driver closes its port and says so with this reason.
    pub fn poll_close(&mut self) -> Option<(LineId, String)> {
        let Self { lines, to_close, .. } = self;
        let mut asked = core::iter::from_fn(|| to_close.pop_first());
        asked.find_map(|id| Some((id, lines.get_mut(&id)?.line.poll_close()?)))
    }

    /// A line whose mode was just found out.
    pub fn poll_found_out(&mut self) -> Option<(LineId, LineMode)> {
        let Self { lines, found_out, .. } = self;
        let mut asked = core::iter::from_fn(|| found_out.pop_first());
        asked.find_map(|id| Some((id, lines.get_mut(&id)?.line.poll_mode()?)))
    }

    /// When [`advance`](Self::advance) is due if nothing comes before.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        Some(self.steps.now(self.agenda.first()?))
    }

    /// When a board, lines aside, wants to be advanced.
    #[must_use]
    pub fn poll_board_deadline(&self) -> Option<Timestamp> {
        Some(self.steps.now(self.agenda.first_board()?))
    }

    /// Time has come to `now`: every deadline up to it fires, each with its own time.
    pub fn advance(&mut self, now: Timestamp) {
        let passed = self.steps.without(now);
        for who in self.agenda.due(passed) {
            match who {
                Who::Board(name) => {
                    if let Some(board) = self.boards.get_mut(&name) {
                        board.advance(passed);
                    }
                    self.heard(&name);
                }
                Who::Line(id) => self.at(now, id, |_, _| {}),
            }
        }
    }

    /// Takes the events since the last call: board by board, each in order.
    pub fn take_events(&mut self) -> Vec<ExplainedEvent> {
        let mut said = Vec::new();
        while let Some(name) = self.speaking.pop_first() {
            if let Some(board) = self.boards.get_mut(&name) {
                said.append(&mut board.take_events());
            }
        }
        said
    }

    /// The boards that were handled since the last call.
    pub fn take_touched(&mut self) -> BTreeSet<String> {
        core::mem::take(&mut self.touched)
    }

    /// Shows a text on the display of a board's clock. Do not call it during a game.
    pub fn show(&mut self, now: Timestamp, board: &str, text: &str) {
        let seated = self.lines.iter().find(|(_, seated)| seated.has(board));
        if let Some(id) = seated.map(|(id, _)| *id) {
            self.at(now, id, |line, now| line.show(now, text));
        }
    }

    /// Carries out a command for a board, if that is possible.
    pub fn command(&mut self, now: Timestamp, board: &str, command: &Command) -> Answer {
        self.advance(now);
        if !self.boards.contains_key(board) && self.names.configured().any(|name| name == board) {
            let unmet = self.unmet(board);
            self.boards.insert(board.to_owned(), unmet);
        }
        let Some(asked) = self.boards.get_mut(board) else {
            let boards = self.names_of_boards().into_iter().collect();
            let board = board.to_owned();
            let language = self.names.regulations(&board).language;
            return command.answer(Err(&Refusal::UnknownBoard { board, boards }), language);
        };
        let answer = asked.command(self.steps.without(now), command);
        self.heard(board);
        if answer.ok && command.order == Order::Identify {
            self.show(now, board, board);
        }
        answer
    }

    /// Whether a line's port is open.
    #[must_use]
    pub fn is_open(&self, line: LineId) -> bool {
        self.lines.get(&line).is_some_and(|seated| seated.line.is_open())
    }

    /// Lets the deadlines of a line and its boards fire, then calls `act` with the line and the time without steps, and
    /// takes in what it observed.
    fn at(&mut self, now: Timestamp, id: LineId, act: impl FnOnce(&mut Line, Timestamp)) {
        let now = self.steps.without(now);
        self.recall(now, id);
        let Some(seated) = self.lines.get_mut(&id) else {
            return;
        };
        seated.line.handle_deadline(now);
        act(&mut seated.line, now);
        self.take_in(id);
        self.recall(now, id);
        self.handled(id);
    }

    /// Tells a line whether its board's memory is wanted.
    fn recall(&mut self, now: Timestamp, id: LineId) {
        let Some(seated) = self.lines.get_mut(&id) else {
            return;
        };
        let board = seated.alone().and_then(|name| self.boards.get(name));
        let recall = board.map_or(Recall::No, Board::wants_memory);
        seated.line.recall(now, recall);
    }

    /// A line was handled: it may have another deadline, and something to be written or published.
    fn handled(&mut self, id: LineId) {
        let Some(seated) = self.lines.get(&id) else { return };
        self.agenda.put(Who::Line(id), seated.line.poll_deadline());
        self.to_write.insert(id);
        self.to_close.insert(id);
        self.found_out.insert(id);
    }

    /// A board was handled, likewise.
    fn heard(&mut self, name: &str) {
        let Some(board) = self.boards.get(name) else {
            return;
        };
        self.agenda
            .put(Who::Board(name.to_owned()), board.poll_deadline());
        self.speaking.insert(name.to_owned());
        self.touched.insert(name.to_owned());
    }
}

#[cfg(test)]
mod tests;
