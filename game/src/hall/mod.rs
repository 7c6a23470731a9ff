//! The hall: all boards and the serial lines that they are on. Bytes come in, events go out.
//!
//! The daemon and a replay drive the hall in the same way. The hall opens no ports and reads no clock: the driver hands
//! over input with its time, polls for bytes to write, and reports them once they are written.
//!
//! All times are those of the computer's clock. Lines and boards do not notice when the clock is set forward
//! ([`Hall::set_clock`]): they get the time without these steps.

mod agenda;
mod allowance;
mod board;
mod boards;
mod line;
mod names;
mod presence;
mod resume;
mod seating;
mod steps;

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::capture::{Content, Direction, Interface, LineMode, Packet};
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use kiebitz_protocol::Counters;

use crate::command::{Answer, Command, Order, Refusal};
use crate::events::ExplainedEvent;
use crate::model::Model;
use crate::position::Seen;
pub use crate::referee::Playing;
use agenda::{Agenda, Scheduled};
pub use board::Board;
use boards::{BoardId, Boards};
use line::HallLine;
pub use names::{KnownBy, Names, NoSerial, Roster, RosterEntry, Serial, serials};
pub use resume::BoardPast;
use steps::Steps;

/// Name of the record for results that belong to a round rather than a board: byes, and results of tables without a
/// game. Its events form a stream of their own, like those of a board, but it is never plugged in and never shown.
pub const ROUNDS: &str = "rounds";

/// Identifies a line of the hall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(usize);

/// The boards and serial lines that kiebitz knows.
#[derive(Debug)]
pub struct Hall {
    stream: String,
    names: Names,
    model: &'static Model,
    /// Last seqs of boards that the hall has not met yet.
    last_seqs: LastSeqs,
    /// Seqs that boards skip, by name: the event after the first seq of a pair gets the number after the second one.
    jumps: BTreeMap<String, BTreeMap<u64, u64>>,
    steps: Steps,
    /// Time and size in microseconds of the last step of the computer's clock.
    clock_set: Option<(Timestamp, i64)>,
    /// An unplugged board stays here until it comes back, on any line.
    boards: Boards,
    /// Maps the name of each board that was plugged in to the name that it has if no other board reports the same
    /// serial number.
    own_names: BTreeMap<String, String>,
    lines: BTreeMap<LineId, HallLine>,
    lines_added: usize,
    /// Boards with input or a deadline since the last call of [`Hall::take_touched`].
    touched: BTreeSet<BoardId>,
    agenda: Agenda,
    /// Lines that may have bytes to write.
    to_write: BTreeSet<LineId>,
    /// Lines that may have to be closed.
    to_close: BTreeSet<LineId>,
    /// Lines whose mode may just have been detected.
    newly_detected: BTreeSet<LineId>,
    /// Boards that may have events.
    with_events: BTreeSet<BoardId>,
}

/// Last event numbers of boards that the hall has not met.
#[derive(Debug, Clone, Default)]
pub struct LastSeqs {
    /// Last seq by name of the board.
    pub boards: BTreeMap<String, u64>,
    /// Last seq of every other board.
    pub others: u64,
}

impl Hall {
    /// Creates a hall without boards. Its events form `stream`.
    #[must_use]
    pub fn new(stream: &str, names: Names) -> Self {
        Self {
            stream: stream.to_owned(),
            names,
            model: &Model::FITTED,
            last_seqs: LastSeqs::default(),
            jumps: BTreeMap::new(),
            steps: Steps::default(),
            clock_set: None,
            boards: Boards::default(),
            own_names: BTreeMap::new(),
            lines: BTreeMap::new(),
            lines_added: 0,
            touched: BTreeSet::new(),
            agenda: Agenda::default(),
            to_write: BTreeSet::new(),
            to_close: BTreeSet::new(),
            newly_detected: BTreeSet::new(),
            with_events: BTreeSet::new(),
        }
    }

    /// Sets the model of boards and hands. Call before the first input.
    #[must_use]
    pub fn following(mut self, model: &'static Model) -> Self {
        self.model = model;
        self
    }

    /// Sets the seqs after which boards begin to count when the hall meets them for the first time.
    pub fn begin_after(&mut self, last_seqs: LastSeqs) {
        self.last_seqs = last_seqs;
    }

    /// Sets the seqs that boards skip: the event after the first seq of a pair gets the number after the second one.
    /// Call before the hall meets a board.
    pub fn leave_out(&mut self, jumps: BTreeMap<String, BTreeMap<u64, u64>>) {
        self.jumps = jumps;
    }

    /// Raises the last seqs of known boards to these ones, if they are higher.
    pub fn count_on_after(&mut self, last_seqs: &BTreeMap<String, u64>) {
        for (name, number) in last_seqs {
            if let Some(board) = self.boards.named_mut(name) {
                board.count_on_after(*number);
            }
        }
    }

    /// Applies a new configuration: the names of boards that arrive from now on, and the regulations of all boards.
    pub fn configure(&mut self, names: Names) {
        for board in self.boards.iter_mut() {
            let name = board.name();
            let (before, regulations) = (self.names.regulations(name), names.regulations(name));
            board.regulate(&before, regulations);
        }
        self.names = names;
    }

    /// Applies a new configuration to a running hall. The previous one applies up to `now`.
    pub fn reconfigure(&mut self, now: Timestamp, names: Names) {
        self.advance(now);
        self.configure(names);
        // The deadlines of the boards may have changed, for example with the start of a round.
        for id in self.boards.ids() {
            self.board_handled(id);
        }
    }

    /// Records that the computer's clock was set by `micros` microseconds when it showed `now`. No time passes. If the
    /// clock was set back, time continues from `now`. Repeated calls for the same step have no effect.
    pub fn set_clock(&mut self, now: Timestamp, micros: i64) {
        if self.clock_set.replace((now, micros)) == Some((now, micros)) {
            return;
        }
        self.advance(now);
        let at = self.steps.to_board_time(now);
        if let Ok(forward) = u64::try_from(micros) {
            self.steps.step(at, Duration::from_micros(forward));
        }
        for id in self.boards.ids() {
            if let Some(board) = self.boards.get_mut(id) {
                board.set_clock(at, &self.steps, micros / 1000);
            }
            self.board_handled(id);
        }
    }

    /// Total by which the computer's clock has been set forward.
    #[must_use]
    pub fn ahead(&self) -> Duration {
        self.steps.ahead()
    }

    /// Sets the names of boards that arrive from now on.
    #[must_use]
    pub fn named(mut self, names: Names) -> Self {
        self.names = names;
        self
    }

    /// The known boards, by name.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.boards.by_name()
    }

    /// Names of the known boards and of the configured boards that the hall has not met.
    #[must_use]
    pub fn names_of_boards(&self) -> BTreeSet<String> {
        let configured = self.names.configured().map(str::to_owned);
        let known = self.boards.by_name().map(|board| board.name().to_owned());
        known.chain(configured).collect()
    }

    /// Returns a board by its name.
    #[must_use]
    pub fn board(&self, name: &str) -> Option<&Board> {
        self.boards.named(name)
    }

    /// Takes the changes of a board's squares since the last call.
    pub fn take_seen(&mut self, name: &str) -> Seen {
        self.boards
            .named_mut(name)
            .map(Board::take_seen)
            .unwrap_or_default()
    }

    /// Adds a board from the journal before it is plugged in.
    pub fn expect(&mut self, mut board: Board) {
        board.follow(&self.steps);
        board.leave_out(self.jumps.get(board.name()));
        let id = self.boards.insert(board);
        self.board_handled(id);
    }

    /// Mode of a line, as far as it is known.
    #[must_use]
    pub fn mode(&self, line: LineId) -> LineMode {
        let hall_line = self.lines.get(&line);
        hall_line.map_or(LineMode::Unknown, |hall_line| hall_line.line.mode())
    }

    /// Port of a line.
    #[must_use]
    pub fn port(&self, line: LineId) -> Option<&str> {
        self.lines.get(&line).map(|hall_line| hall_line.port.as_str())
    }

    /// Counters of decoded and dropped bytes; `None` unless the board is alone on its line.
    #[must_use]
    pub fn counters(&self, board: &str) -> Option<&Counters> {
        let line = self.line_of_board(self.boards.id(board)?)?;
        self.lines.get(&line)?.line.counters()
    }

    /// Adds a line whose port is not open yet.
    pub fn add(&mut self, port: &str, line: Line) -> LineId {
        let id = LineId(self.lines_added);
        self.lines_added += 1;
        self.lines.insert(id, HallLine::new(port, line));
        id
    }

    /// Returns the line of a port for live use: its boards are queried once the port opens. Keeps the state of an
    /// earlier line of this port.
    pub fn keep(&mut self, port: &str, settings: LineSettings) -> LineId {
        let known = self.line_of(port).filter(|line| !self.is_open(*line));
        let id = known.unwrap_or_else(|| self.add(port, Line::listening(LineMode::Single)));
        if let Some(hall_line) = self.lines.get_mut(&id) {
            hall_line.line.keep(settings);
        }
        self.line_handled(id);
        id
    }

    /// Returns the line of a recorded port and sets its mode. Adds the line if the port is new.
    pub fn listen(&mut self, port: &str, mode: LineMode) -> LineId {
        let Some(id) = self.line_of(port) else {
            return self.add(port, Line::listening(mode));
        };
        if let Some(hall_line) = self.lines.get_mut(&id)
            && hall_line.line.mode() != mode
        {
            hall_line.line.listen_as(mode);
        }
        id
    }

    /// Handles one packet of a recording. Adds the line if the recording begins in the middle of a session.
    pub fn play_back(&mut self, port: &Interface, packet: &Packet) {
        let line = self.listen(&port.name, port.mode);
        self.handle(packet.at, line, &packet.content);
    }

    /// Handles live or recorded activity on a line's port.
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
            // Recorded for every port that was open at the time, hence repeated.
            Content::ClockSet { micros } => self.set_clock(now, *micros),
        }
    }

    fn line_of(&self, port: &str) -> Option<LineId> {
        let mut lines = self.lines.iter();
        lines.find_map(|(id, hall_line)| (hall_line.port == port).then_some(*id))
    }

    /// The lines whose ports are open, with the ports.
    pub fn open_lines(&self) -> impl Iterator<Item = (LineId, &str)> {
        let open = self
            .lines
            .iter()
            .filter(|(_, hall_line)| hall_line.line.is_open());
        open.map(|(id, hall_line)| (*id, hall_line.port.as_str()))
    }

    /// Handles the opening of a port.
    pub fn open(&mut self, now: Timestamp, line: LineId) {
        self.with_line(now, line, Line::handle_opened);
    }

    /// Handles the loss of a port that may be opened again.
    pub fn close(&mut self, now: Timestamp, line: LineId, reason: &str) {
        self.with_line(now, line, |line, now| line.handle_closed(now, reason));
    }

    /// Handles the loss of a port until another device is found there.
    pub fn remove(&mut self, now: Timestamp, line: LineId, reason: &str) {
        self.close(now, line, reason);
        // The last reports of boards on a bus are needed when the boards come back.
        if self
            .lines
            .get(&line)
            .is_some_and(|hall_line| !hall_line.line.knows_a_bus())
        {
            self.lines.remove(&line);
        }
        self.agenda.put(Scheduled::Line(line), None);
    }

    /// Handles bytes received from a line.
    pub fn receive(&mut self, now: Timestamp, line: LineId, bytes: &[u8]) {
        self.with_line(now, line, |line, now| line.handle_bytes(now, bytes));
    }

    /// Handles bytes written to a line.
    pub fn sent(&mut self, now: Timestamp, line: LineId, bytes: &[u8]) {
        self.with_line(now, line, |line, now| line.handle_sent(now, bytes));
    }

    /// Returns the next bytes to write and their line. Call [`sent`](Self::sent) once they are written.
    pub fn poll_write(&mut self, now: Timestamp) -> Option<(LineId, Vec<u8>)> {
        for entry in self.agenda.due(self.steps.to_board_time(now)) {
            if let Scheduled::Line(id) = entry {
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

    /// Returns the next bytes to write to one line.
    pub fn poll_write_to(&mut self, now: Timestamp, line: LineId) -> Option<Vec<u8>> {
        let now = self.steps.to_board_time(now);
        let bytes = self.lines.get_mut(&line)?.line.poll_transmit(now);
        self.line_handled(line);
        bytes
    }

    /// Returns a line that the driver must close, with the reason.
    pub fn poll_close(&mut self) -> Option<(LineId, String)> {
        let Self { lines, to_close, .. } = self;
        let mut candidates = core::iter::from_fn(|| to_close.pop_first());
        candidates.find_map(|id| Some((id, lines.get_mut(&id)?.line.poll_close()?)))
    }

    /// Returns a line whose mode was just detected.
    pub fn poll_found_out(&mut self) -> Option<(LineId, LineMode)> {
        let Self {
            lines,
            newly_detected,
            ..
        } = self;
        let mut candidates = core::iter::from_fn(|| newly_detected.pop_first());
        candidates.find_map(|id| Some((id, lines.get_mut(&id)?.line.poll_mode()?)))
    }

    /// Time at which [`advance`](Self::advance) is due if no input arrives earlier.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        Some(self.steps.to_system_time(self.agenda.first()?))
    }

    /// Time of the earliest deadline of a board, ignoring lines.
    #[must_use]
    pub fn poll_board_deadline(&self) -> Option<Timestamp> {
        Some(self.steps.to_system_time(self.agenda.first_board()?))
    }

    /// Advances time to `now`: every deadline up to `now` fires with its own time.
    pub fn advance(&mut self, now: Timestamp) {
        let passed = self.steps.to_board_time(now);
        for entry in self.agenda.due(passed) {
            match entry {
                Scheduled::Board(id) => {
                    self.with_board(now, id, |board, now| board.advance(now));
                }
                Scheduled::Line(id) => self.with_line(now, id, |_, _| {}),
            }
        }
    }

    /// Takes the events since the last call, board by board, each in order.
    pub fn take_events(&mut self) -> Vec<ExplainedEvent> {
        let mut events = Vec::new();
        while let Some(id) = self.with_events.pop_first() {
            if let Some(board) = self.boards.get_mut(id) {
                events.append(&mut board.take_events());
            }
        }
        events
    }

    /// Takes the names of the boards with input or a deadline since the last call.
    pub fn take_touched(&mut self) -> BTreeSet<String> {
        let touched = core::mem::take(&mut self.touched).into_iter();
        let names = touched.filter_map(|id| Some(self.boards.get(id)?.name().to_owned()));
        names.collect()
    }

    /// Shows a text on the display of a board's clock. Do not call it during a game.
    pub fn show(&mut self, now: Timestamp, board: &str, text: &str) {
        let line = self.boards.id(board).and_then(|id| self.line_of_board(id));
        if let Some(id) = line {
            self.with_line(now, id, |line, now| line.show(now, text));
        }
    }

    /// Calls `act` with a board and the time without steps, and tells the board's line if the board now wants its memory
    /// or does not want it any more.
    fn with_board<T>(
        &mut self,
        now: Timestamp,
        id: BoardId,
        act: impl FnOnce(&mut Board, Timestamp) -> T,
    ) -> Option<T> {
        let board = self.boards.get_mut(id)?;
        let wanted = board.wants_memory();
        let done = act(board, self.steps.to_board_time(now));
        let changed = board.wants_memory() != wanted;
        self.board_handled(id);
        if changed && let Some(line) = self.line_of_board(id) {
            self.set_recall(self.steps.to_board_time(now), line);
            self.with_line(now, line, |_, _| {});
        }
        Some(done)
    }

    /// The line of a board. Looks through all lines.
    fn line_of_board(&self, board: BoardId) -> Option<LineId> {
        let mut lines = self.lines.iter();
        lines.find(|(_, line)| line.has(board)).map(|(id, _)| *id)
    }

    /// Carries out a command for a board, unless it is refused.
    pub fn command(&mut self, now: Timestamp, board: &str, command: &Command) -> Answer {
        self.advance(now);
        // The record of rounds accepts only commands about rounds.
        let is_accepted = board != ROUNDS || command.is_of_round();
        let is_expected = board == ROUNDS || self.names.configured().any(|name| name == board);
        let known = self.boards.id(board);
        let target = match known {
            None if is_accepted && is_expected => Some(self.boards.insert(self.new_board(board))),
            _ => known.filter(|_| is_accepted),
        };
        let carried_out = target
            .and_then(|target| self.with_board(now, target, |target, now| target.command(now, command)));
        let Some(answer) = carried_out else {
            let boards = self.names_of_boards().into_iter();
            let boards = boards.filter(|board| board != ROUNDS).collect();
            let board = board.to_owned();
            let language = self.names.regulations(&board).language;
            return command.answer(Err(&Refusal::UnknownBoard { board, boards }), language);
        };
        if answer.ok && command.order == Order::Identify {
            self.show(now, board, board);
        }
        answer
    }

    /// Whether the port of a line is open.
    #[must_use]
    pub fn is_open(&self, line: LineId) -> bool {
        self.lines
            .get(&line)
            .is_some_and(|hall_line| hall_line.line.is_open())
    }

    /// Fires the deadlines of a line and its boards, calls `act` with the line and the time without steps, and hands
    /// the line's observations to the boards.
    fn with_line(&mut self, now: Timestamp, id: LineId, act: impl FnOnce(&mut Line, Timestamp)) {
        let now = self.steps.to_board_time(now);
        let Some(hall_line) = self.lines.get_mut(&id) else {
            return;
        };
        hall_line.line.handle_deadline(now);
        act(&mut hall_line.line, now);
        self.hand_out_observations(id);
        self.set_recall(now, id);
        self.line_handled(id);
    }

    /// Sets whether the memory of the only board on a line is wanted.
    fn set_recall(&mut self, now: Timestamp, id: LineId) {
        let Some(hall_line) = self.lines.get_mut(&id) else {
            return;
        };
        let board = hall_line.alone().and_then(|id| self.boards.get(id));
        let wanted = board.is_some_and(Board::wants_memory);
        hall_line.line.recall(now, wanted);
    }

    /// Updates the deadline of a line, and marks the line as having possible output.
    fn line_handled(&mut self, id: LineId) {
        let Some(line) = self.lines.get(&id) else { return };
        self.agenda.put(Scheduled::Line(id), line.line.poll_deadline());
        self.to_write.insert(id);
        self.to_close.insert(id);
        self.newly_detected.insert(id);
    }

    /// Updates the deadline of a board, and marks the board as having possible events.
    fn board_handled(&mut self, id: BoardId) {
        let Some(board) = self.boards.get(id) else {
            return;
        };
        self.agenda.put(Scheduled::Board(id), board.poll_deadline());
        self.with_events.insert(id);
        self.touched.insert(id);
    }
}

#[cfg(test)]
mod tests;
