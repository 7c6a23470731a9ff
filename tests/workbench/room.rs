//! A board with a clock, a daemon that watches it, and its journal, in virtual time.

use core::time::Duration;

use kiebitz::config::Config;
use kiebitz::journal::Journal;
use kiebitz::restart;
use kiebitz::tools::emulate::plies;
use kiebitz_game::command::Command;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::hall::{Hall, LineId, Names};
use kiebitz_hardware::capture::{CaptureWriter, Direction, Interface, LineMode};
use kiebitz_hardware::emulator::{BoardSettings, ClockSide, EmulatedBoard, EmulatedClock};
use kiebitz_hardware::{Line, LineSettings, Timestamp};
use kiebitz_protocol::{Contents, Field};
use shakmaty::{Board, Square};

/// Placement of the standard start position.
pub const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";

const OPENING: Timestamp = Timestamp::from_micros(1_795_269_600_000_000);
/// Time from lifting a piece to putting it down, and from there to the press.
const HAND: Duration = Duration::from_millis(500);
const WHITE: ClockSide = ClockSide::Left;

pub struct Room {
    hall: Hall,
    line: LineId,
    board: EmulatedBoard,
    now: Timestamp,
    names: Names,
    journal: Journal,
    capture: CaptureWriter<Vec<u8>>,
    seen: usize,
    white_moves: bool,
    _directory: tempfile::TempDir,
}

impl Room {
    /// Creates a room with this placement on a board that kiebitz watches. `settings` is added to the configuration of
    /// the board.
    pub fn new(placement: &str, settings: &str) -> Self {
        let clock = EmulatedClock::new(Duration::from_secs(5400));
        Self::with_clock(placement, settings, clock)
    }

    /// Like [`new`](Self::new), with this clock.
    pub fn with_clock(placement: &str, settings: &str, clock: EmulatedClock) -> Self {
        let pieces: Board = placement.parse().unwrap();
        let mut board = EmulatedBoard::with_pieces(OPENING, BoardSettings::default(), &plies::dump(&pieces));
        board.plug_clock(OPENING, Some(clock.with_lever_high(WHITE)));
        let settings = format!("{settings}\n[[board]]\nserial = \"00042\"\nname = \"b\"\n");
        let config = Config::parse("kiebitz.toml".as_ref(), &settings).unwrap();
        let names = Names::Configured(config.roster());
        let directory = tempfile::tempdir().unwrap();
        let journal = Journal::open(&directory.path().join("journal.sqlite")).unwrap();
        let mut hall = Hall::new("live", names.clone());
        let line = hall.add(PORT, Line::keeping(LineSettings::of(LineMode::Single)));
        hall.open(OPENING, line);
        let mut room = Self {
            hall,
            line,
            board,
            now: OPENING,
            names,
            journal,
            capture: capture(),
            seen: 0,
            white_moves: true,
            _directory: directory,
        };
        room.pass(Duration::from_secs(10));
        room
    }

    pub fn pass(&mut self, lasting: Duration) {
        let end = self.now + lasting;
        while self.now < end {
            self.hall.advance(self.now);
            while let Some((line, bytes)) = self.hall.poll_write(self.now) {
                self.board.handle_bytes(self.now, &bytes);
                self.hall.sent(self.now, line, &bytes);
                self.capture
                    .write_bytes(self.now, 0, Direction::Outbound, &bytes)
                    .unwrap();
            }
            let due = [self.hall.poll_deadline(), self.board.poll_deadline()];
            let due = due.into_iter().flatten().min().unwrap_or(end);
            self.now = due.max(self.now + Duration::from_millis(1)).min(end);
            while let Some((_, bytes)) = self.board.poll_transmit(self.now) {
                self.hall.receive(self.now, self.line, &bytes);
                self.capture
                    .write_bytes(self.now, 0, Direction::Inbound, &bytes)
                    .unwrap();
            }
        }
        self.append_to_journal();
    }

    fn append_to_journal(&mut self) {
        let explained = self.hall.take_events();
        self.journal
            .append(explained.iter().map(|explained| &explained.event))
            .unwrap();
    }

    pub fn starts_clock(&mut self) {
        self.board.clock_mut(self.now).unwrap().start(self.now);
        self.pass(Duration::from_secs(1));
    }

    pub fn stops_clock(&mut self) {
        self.board.clock_mut(self.now).unwrap().stop(self.now);
        self.pass(Duration::from_secs(1));
    }

    /// Moves the lever over while the clock is stopped, as an arbiter does: the other side is to move.
    pub fn hands_over(&mut self) {
        let side = self.board.clock().unwrap().lever_high();
        self.board.clock_mut(self.now).unwrap().press(self.now, side);
        self.white_moves = !self.white_moves;
        self.pass(Duration::from_secs(1));
    }

    /// Moves pieces from square to square, and presses the clock after each move.
    pub fn plays(&mut self, moves: &str) {
        for played in moves.split_whitespace() {
            self.puts(played);
            let side = if self.white_moves { WHITE } else { WHITE.other() };
            self.board.clock_mut(self.now).unwrap().press(self.now, side);
            self.white_moves = !self.white_moves;
            self.pass(Duration::from_secs(4));
        }
    }

    /// Moves pieces from square to square. A piece on the target square is removed first.
    pub fn puts(&mut self, moves: &str) {
        for (from, to) in squares(moves) {
            let piece = self.board.contents(from);
            self.board.set(self.now, from, None);
            self.pass(HAND);
            self.board.set(self.now, to, None);
            self.board.set(self.now, to, piece);
            self.pass(HAND);
        }
    }

    pub fn contents(&self, square: &str) -> Contents {
        self.board.contents(field(square))
    }

    /// Sets the contents that the board reports for a square.
    pub fn sets(&mut self, square: &str, contents: Contents) {
        self.board.set(self.now, field(square), contents);
        self.pass(HAND);
    }

    pub fn unplugs_clock(&mut self) {
        self.board.plug_clock(self.now, None);
        self.pass(HAND);
    }

    pub fn set_up(&mut self, placement: &str) {
        let pieces = plies::dump(&placement.parse().unwrap());
        for (field, piece) in Field::all().zip(pieces) {
            self.board.set(self.now, field, piece);
            self.pass(Duration::from_millis(20));
        }
    }

    /// Sends a command as the arbiter. Panics if it is refused.
    pub fn commands(&mut self, command: &str) {
        self.pass(Duration::from_secs(1));
        let command = Command::parse(&format!(r#"{{"id":"1",{command}}}"#)).unwrap();
        let answer = self.hall.command(self.now, "b", &command);
        assert!(answer.ok, "{answer:?}");
        self.pass(Duration::from_secs(1));
    }

    /// Kills the daemon, and starts it again after this time.
    pub fn restarts(&mut self, down: Duration) {
        self.restarts_while(down, "");
    }

    /// Like [`restarts`](Self::restarts), with pieces moved while the daemon is down.
    pub fn restarts_while(&mut self, down: Duration, moves: &str) {
        self.append_to_journal();
        let half = self.now + down / 2;
        self.board.advance(half);
        for (nth, (from, to)) in (0..).zip(squares(moves)) {
            let at = half + HAND * nth;
            let piece = self.board.contents(from);
            self.board.set(at, from, None);
            self.board.set(at, to, piece);
        }
        self.now = self.now + down;
        while self.board.poll_transmit(self.now).is_some() {}
        self.hall = Hall::new("live", self.names.clone());
        for board in restart::boards(&self.journal, "live", &self.names, None).unwrap() {
            self.hall.expect(board);
        }
        self.line = self
            .hall
            .add(PORT, Line::keeping(LineSettings::of(LineMode::Single)));
        self.hall.open(self.now, self.line);
        self.pass(Duration::from_secs(10));
    }

    /// Returns all bytes of the line as a capture of a board "b".
    pub fn recorded(self) -> Vec<u8> {
        self.capture.into_inner()
    }

    /// Returns the events since the last call.
    pub fn new_events(&mut self) -> Vec<Event> {
        let new = self.events().split_off(self.seen);
        self.seen += new.len();
        new
    }

    fn events(&self) -> Vec<Event> {
        let events = self
            .journal
            .events_after("live", "b", 0, usize::MAX >> 1)
            .unwrap();
        let events = events.iter().map(|event| serde_json::from_str(&event.payload));
        events.collect::<Result<_, _>>().unwrap()
    }

    pub fn game(&self) -> GameRecord {
        self.journal
            .all_of("live", "b")
            .last_game()
            .unwrap()
            .unwrap()
            .record
    }

    pub fn moves(&self) -> Vec<String> {
        let moves = self.game().moves;
        moves
            .into_iter()
            .map(|played| played.san.unwrap_or(played.fen))
            .collect()
    }

    /// Returns the kinds of all incidents opened, except for `IGNORED`.
    pub fn opened(&self) -> Vec<&'static str> {
        let kinds = self.events().into_iter().filter_map(|event| match event.kind {
            EventKind::IncidentOpened(incident) => Some(incident.kind.as_str()),
            _ => None,
        });
        kinds.filter(|kind| !IGNORED.contains(kind)).collect()
    }

    /// Returns the cases of the open incidents, with the number of the offence, except for `IGNORED`.
    pub fn open(&self) -> Vec<String> {
        let incidents = self.journal.all_of("live", "b").incidents().unwrap();
        let open = incidents
            .open()
            .filter(|incident| !IGNORED.contains(&incident.kind.as_str()));
        let open = open.map(|incident| match incident.evidence.values.get("offence") {
            Some(offence) => format!("{} {offence}", incident.case),
            None => incident.case.clone(),
        });
        open.collect()
    }

    /// Returns the time control that applies.
    pub fn time_control(&self) -> Option<String> {
        self.hall
            .board("b")
            .and_then(|board| board.regulations().time_control_text())
    }
}

fn capture() -> CaptureWriter<Vec<u8>> {
    let mut capture = CaptureWriter::new(Vec::new()).unwrap();
    let board = Interface {
        name: "b".to_owned(),
        mode: LineMode::Single,
    };
    let interface = capture.add_interface(&board).unwrap();
    capture.write_opened(OPENING, interface).unwrap();
    capture
}

const PORT: &str = "/dev/ttyUSB0";
/// Incidents of connections and stopped clocks, which these tests ignore.
const IGNORED: [&str; 3] = ["board_disconnected", "clock_disconnected", "clock_stopped"];

fn squares(moves: &str) -> impl Iterator<Item = (Field, Field)> {
    moves
        .split_whitespace()
        .map(|uci| (field(&uci[..2]), field(&uci[2..4])))
}

fn field(square: &str) -> Field {
    plies::field(square.parse::<Square>().unwrap())
}
