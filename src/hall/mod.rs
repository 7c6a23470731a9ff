//! All boards and all lines that they are on: bytes in, events out.
//!
//! The live daemon and a replay drive it the same way. Nothing here opens a port or reads a clock: the driver hands over
//! what came in and when, asks what is to be written, and reports it once it is.

mod board;
mod line;
mod names;
mod presence;
pub mod resume;

use std::collections::{BTreeMap, BTreeSet};

use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::{Line, Observation, Place, Timestamp};
use kiebitz_protocol::Counters;

use crate::events::ExplainedEvent;
use crate::referee::command::{Answer, Command, Order, Refusal};
pub use board::Board;
use line::{HallLine, Seat};
pub use names::Names;
pub(crate) use names::serials;

/// A line of the hall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(usize);

/// The boards of a hall and the lines they are on.
#[derive(Debug)]
pub struct Hall {
    stream: String,
    names: Names,
    /// The number after which boards begin to count.
    begins_after: u64,
    /// By name. A board that has been unplugged stays here until it comes back, on whatever line.
    boards: BTreeMap<String, Board>,
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

/// Which boards and lines are due when. With a thousand boards, asking each of them at every step takes too long.
#[derive(Debug, Default)]
struct Agenda {
    due: BTreeSet<(Timestamp, Who)>,
    at: BTreeMap<Who, Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Board(String),
    Line(LineId),
}

impl Agenda {
    fn put(&mut self, who: Who, at: Option<Timestamp>) {
        let before = self.at.get(&who).copied();
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.due.remove(&(before, who.clone()));
        }
        match at {
            Some(at) => {
                self.due.insert((at, who.clone()));
                self.at.insert(who, at);
            }
            None => {
                self.at.remove(&who);
            }
        }
    }

    fn first(&self) -> Option<Timestamp> {
        self.due.first().map(|(at, _)| *at)
    }

    fn first_board(&self) -> Option<Timestamp> {
        let mut due = self.due.iter();
        due.find(|(_, who)| matches!(who, Who::Board(_)))
            .map(|(at, _)| *at)
    }

    /// What is due by `now`: boards by name, then lines.
    fn due(&self, now: Timestamp) -> BTreeSet<Who> {
        let due = self.due.iter().take_while(|(at, _)| *at <= now);
        due.map(|(_, who)| who.clone()).collect()
    }
}

impl Hall {
    /// A hall without boards, whose events form `stream`.
    #[must_use]
    pub fn new(stream: &str, names: Names) -> Self {
        Self {
            stream: stream.to_owned(),
            names,
            begins_after: 0,
            boards: BTreeMap::new(),
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

    /// Boards that are met for the first time begin to count after that number.
    pub fn begin_after(&mut self, seq: u64) {
        self.begins_after = seq;
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

    /// A board by its name.
    #[must_use]
    pub fn board(&self, name: &str) -> Option<&Board> {
        self.boards.get(name)
    }

    /// Adds a board before it is plugged in: the journal knows it.
    pub fn expect(&mut self, board: Board) {
        let name = board.name().to_owned();
        self.boards.insert(name.clone(), board);
        self.heard(&name);
    }

    /// The mode of a line, as far as it is known; a line that is being probed counts as a bus.
    #[must_use]
    pub fn mode(&self, line: LineId) -> Option<LineMode> {
        let seated = self.lines.get(&line)?;
        Some(seated.line.mode().unwrap_or(Line::MODE_WHILE_PROBED))
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

    /// The port was opened.
    pub fn open(&mut self, now: Timestamp, line: LineId) {
        self.at(now, line, |line| line.handle_opened(now));
    }

    /// The port is gone; it may be opened again.
    pub fn close(&mut self, now: Timestamp, line: LineId, reason: &str) {
        self.at(now, line, |line| line.handle_closed(now, reason));
    }

    /// The port is gone for good.
    pub fn remove(&mut self, now: Timestamp, line: LineId, reason: &str) {
        self.close(now, line, reason);
        self.lines.remove(&line);
        self.agenda.put(Who::Line(line), None);
    }

    /// Bytes came from the line.
    pub fn receive(&mut self, now: Timestamp, line: LineId, bytes: &[u8]) {
        self.at(now, line, |line| line.handle_bytes(now, bytes));
    }

    /// Bytes were written to the line.
    pub fn sent(&mut self, now: Timestamp, line: LineId, bytes: &[u8]) {
        self.at(now, line, |line| line.handle_sent(now, bytes));
    }

    /// The next bytes to be written, and where to. Call [`sent`](Self::sent) once they are.
    pub fn poll_write(&mut self, now: Timestamp) -> Option<(LineId, Vec<u8>)> {
        for who in self.agenda.due(now) {
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
        self.agenda.first()
    }

    /// When a board, lines aside, wants to be advanced.
    #[must_use]
    pub fn poll_board_deadline(&self) -> Option<Timestamp> {
        self.agenda.first_board()
    }

    /// Time has come to `now`: every deadline up to it fires, each with its own time.
    pub fn advance(&mut self, now: Timestamp) {
        for who in self.agenda.due(now) {
            match who {
                Who::Board(name) => {
                    if let Some(board) = self.boards.get_mut(&name) {
                        board.advance(now);
                    }
                    self.heard(&name);
                }
                Who::Line(id) => self.at(now, id, |_| {}),
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
            self.at(now, id, |line| line.show(now, text));
        }
    }

    /// Carries out a command for a board, if that is possible.
    pub fn command(&mut self, now: Timestamp, board: &str, command: &Command) -> Answer {
        self.advance(now);
        let Some(asked) = self.boards.get_mut(board) else {
            let boards = self.boards.keys().cloned().collect();
            let board = board.to_owned();
            let language = self.names.regulations(&board).language;
            return command.answer(Err(&Refusal::UnknownBoard { board, boards }), language);
        };
        let answer = asked.command(now, command);
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

    /// Lets the deadlines of a line and its boards fire, then calls `act` with the line and takes in what it observed.
    fn at(&mut self, now: Timestamp, id: LineId, act: impl FnOnce(&mut Line)) {
        let Some(seated) = self.lines.get_mut(&id) else {
            return;
        };
        seated.line.handle_deadline(now);
        act(&mut seated.line);
        self.listen(id);
        self.handled(id);
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

    /// Hands the observations of a line to its boards.
    fn listen(&mut self, id: LineId) {
        while let Some(seated) = self.lines.get_mut(&id)
            && let Some((place, observed)) = seated.line.poll_observation()
        {
            let seat = seated.seats.entry(place).or_default();
            if let Some(board) = seat.board.as_ref().and_then(|name| self.boards.get_mut(name)) {
                board.observe(&observed);
                let name = board.name().to_owned();
                if matches!(observed.observation, Observation::Closed { .. }) {
                    // Another board may come in its place.
                    *seat = Seat::default();
                }
                self.heard(&name);
                continue;
            }
            let shown = matches!(observed.observation, Observation::Board { .. });
            seat.hear(observed);
            // A board identifies itself before it sends its placement; on a bus its address identifies it.
            if shown || self.names.known_beforehand() || matches!(place, Place::At(_)) {
                self.introduce(id, place);
            }
        }
    }

    /// Finds out which board is at a place, and hands it what was observed so far.
    fn introduce(&mut self, id: LineId, place: Place) {
        let Some(line) = self.lines.get(&id) else { return };
        let Some(seat) = line.seats.get(&place).filter(|seat| !seat.heard.is_empty()) else {
            return;
        };
        let port = line.port.clone();
        let mut name = match place {
            Place::Alone => self.names.of(&seat.identity, &port, false),
            // Its address identifies it.
            Place::At(address) => self.names.of(&line::identity_at(address), &port, true),
        };
        if self.is_seated(&name) {
            name = Names::another(&name, &port);
        }
        let new =
            || Board::new(&name, &self.stream, self.names.regulations(&name)).begun_after(self.begins_after);
        let board = self.boards.entry(name.clone()).or_insert_with(new);
        board.sit(&port);
        let seat = self
            .lines
            .get_mut(&id)
            .and_then(|line| line.seats.get_mut(&place));
        let Some(seat) = seat else { return };
        for observed in seat.heard.drain(..) {
            board.observe(&observed);
        }
        seat.board = Some(name.clone());
        self.heard(&name);
    }

    fn is_seated(&self, name: &str) -> bool {
        self.lines.values().any(|line| line.has(name))
    }
}

#[cfg(test)]
mod tests;
