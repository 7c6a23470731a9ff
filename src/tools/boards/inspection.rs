//! The inspection of one port: identifies its boards without disturbing a game.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::port::PortKind;
use kiebitz_hardware::{Line, LineSettings, Observation, Observed, Place, Timestamp};

use super::board::{BoardChange, FoundBoard, FoundClock};

/// Identifies the boards on a port and follows their changes.
///
/// Has the same polling interface as the [`Line`] that it wraps. The line sends the queries for identity, placement and
/// clock. The inspection sends no clock messages and no resets, does not read the boards' memory, and leaves the
/// pending changes of boards on a bus for the daemon to read.
#[derive(Debug)]
pub(super) struct Inspection {
    line: Line,
    /// Whether the boards have their own batteries.
    batteries: bool,
    boards: BTreeMap<Place, FoundBoard>,
    /// Boards that have stopped answering, with the reason.
    mute: BTreeMap<Place, String>,
    changes: VecDeque<(Place, BoardChange)>,
    /// Whether any byte has arrived since the port was opened.
    heard: bool,
    /// Time at which the mode of the line became known; `None` before that, and after the port is given up.
    decided_at: Option<Timestamp>,
    settled: bool,
    close: Option<&'static str>,
}

impl Inspection {
    /// Starts the inspection of a newly opened port. If `configured` is `None`, the line detects its mode.
    pub(super) fn open(now: Timestamp, kind: PortKind, configured: Option<LineMode>) -> Self {
        let mut settings = LineSettings::for_port(kind, configured).peeking();
        settings.session.battery = settings.session.battery.and(Some(BATTERY_PERIOD));
        let batteries = settings.session.battery.is_some();
        let mut line = Line::keeping(settings);
        line.handle_opened(now);
        Self {
            decided_at: (line.mode() != LineMode::Unknown).then_some(now),
            line,
            batteries,
            boards: BTreeMap::new(),
            mute: BTreeMap::new(),
            changes: VecDeque::new(),
            heard: false,
            settled: false,
            close: None,
        }
    }

    /// Returns the mode of the line; `None` until it is known.
    pub(super) fn mode(&self) -> Option<LineMode> {
        Some(self.line.mode()).filter(|mode| *mode != LineMode::Unknown)
    }

    /// Returns whether the boards have reported everything, or the time limit for that has passed.
    pub(super) fn settled(&self) -> bool {
        self.settled
    }

    pub(super) fn heard(&self) -> bool {
        self.heard
    }

    pub(super) fn boards(&self) -> impl Iterator<Item = (Place, &FoundBoard)> {
        self.boards.iter().map(|(place, board)| (*place, board))
    }

    /// Returns the reason why a board has stopped answering; `None` if it answers.
    pub(super) fn mute(&self, place: Place) -> Option<&str> {
        self.mute.get(&place).map(String::as_str)
    }

    /// Returns the next change. Changes are recorded only after the inspection has settled.
    pub(super) fn poll_change(&mut self) -> Option<(Place, BoardChange)> {
        self.changes.pop_front()
    }

    pub(super) fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.heard = true;
        self.line.handle_bytes(now, bytes);
        self.process_line(now);
    }

    pub(super) fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        self.line.handle_sent(now, bytes);
        self.process_line(now);
    }

    pub(super) fn handle_deadline(&mut self, now: Timestamp) {
        self.line.handle_deadline(now);
        self.process_line(now);
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        [self.line.poll_deadline(), self.settles_by(), self.silent_by()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        let bytes = self.line.poll_transmit(now);
        self.process_line(now);
        bytes
    }

    /// Returns, once, the reason to give up the port.
    pub(super) fn poll_close(&mut self) -> Option<String> {
        let silent = self.close.take().map(str::to_owned);
        self.line.poll_close().or(silent)
    }

    /// Processes mode and observations of the line, and gives up a silent port.
    fn process_line(&mut self, now: Timestamp) {
        if self.line.poll_mode().is_some() {
            self.decided_at = Some(now);
        }
        while let Some((place, observed)) = self.line.poll_observation() {
            self.observe(place, &observed);
        }
        self.settled |= self.all_known(now);
        if self.silent_by().is_some_and(|due| due <= now) {
            self.close = Some(if self.mode() == Some(LineMode::Bus) {
                NO_BUS_ANSWER
            } else {
                NO_ANSWER
            });
            self.decided_at = None;
        }
    }

    fn observe(&mut self, place: Place, observed: &Observed) {
        match &observed.observation {
            // A board on its own line counts as present only after its first answer.
            Observation::Opened if place == Place::Alone => return,
            Observation::Closed { reason } => {
                self.mute.insert(place, reason.clone());
                if self.settled {
                    self.changes
                        .push_back((place, BoardChange::Disappeared(reason.clone())));
                }
                return;
            }
            Observation::Disturbed { .. } => return,
            _ => {}
        }
        let board = self.boards.entry(place).or_insert_with(FoundBoard::new);
        let dump = matches!(observed.observation, Observation::Board { .. });
        // A board is announced at its first dump.
        let is_new = dump && (self.mute.remove(&place).is_some() || board.placement().is_none());
        let changes = board.observe(observed);
        if self.settled {
            let changes = is_new.then_some(BoardChange::Appeared).into_iter().chain(changes);
            self.changes.extend(changes.map(|change| (place, change)));
        }
    }

    /// Returns whether every board is fully known, silent, or out of time. On a bus, boards are queried only after all
    /// of them have been found, so the first board does not settle the inspection.
    fn all_known(&self, now: Timestamp) -> bool {
        let known = |(place, board): (&Place, &FoundBoard)| {
            let is_late = board.first_dump_at().is_some_and(|at| at + DETAILS_WITHIN <= now);
            is_late || self.mute.contains_key(place) || self.is_fully_known(*place, board)
        };
        !self.boards.is_empty() && self.boards.iter().all(known)
    }

    fn is_fully_known(&self, place: Place, board: &FoundBoard) -> bool {
        let identified = match place {
            Place::Alone => board.identity.trademark.is_some(),
            Place::At(_) => board.identity.version.is_some(),
        };
        board.first_dump_at().is_some()
            && board.clock != FoundClock::Unknown
            && identified
            && (!self.batteries || board.battery.is_some())
    }

    /// Deadline for the details of the boards, if all answering boards have sent their dump.
    fn settles_by(&self) -> Option<Timestamp> {
        let answering = self
            .boards
            .iter()
            .filter(|(place, _)| !self.mute.contains_key(place));
        let shown: Option<Vec<_>> = answering.map(|(_, board)| board.first_dump_at()).collect();
        let last = shown?.into_iter().max().filter(|_| !self.settled)?;
        Some(last + DETAILS_WITHIN)
    }

    /// Time at which a line without any answer is given up.
    fn silent_by(&self) -> Option<Timestamp> {
        let decided_at = self.decided_at?;
        match self.mode()? {
            LineMode::Single => (!self.heard).then_some(decided_at + MAX_SILENCE),
            LineMode::Bus => self.boards.is_empty().then_some(decided_at + MAX_BUS_SILENCE),
            LineMode::Unknown => None,
        }
    }
}

/// Silence after which a single board is given up: two queries without an answer. A board that is still busy with the
/// queries of another program sends bytes, so it is not silent.
const MAX_SILENCE: Duration = Duration::from_secs(4);
/// Silence after which a bus is given up: two searches and the pause between them.
const MAX_BUS_SILENCE: Duration = Duration::from_secs(8);
/// Time limit for the details after a board's dump: up to two attempts at half a second for each query.
const DETAILS_WITHIN: Duration = Duration::from_millis(2500);
const BATTERY_PERIOD: Duration = Duration::from_secs(60);
const NO_ANSWER: &str = "no board answers";
const NO_BUS_ANSWER: &str = "no board answers on the bus";

#[cfg(test)]
mod tests {
    use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
    use kiebitz_protocol::{BatteryStatus, BusAddress, Command, Field};

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    struct World {
        board: EmulatedBoard,
        inspection: Inspection,
        now: Timestamp,
        sent: Vec<u8>,
        close: Option<String>,
    }

    impl World {
        fn new(kind: PortKind, board: EmulatedBoard) -> Self {
            Self::configured(kind, board, None)
        }

        fn configured(kind: PortKind, mut board: EmulatedBoard, mode: Option<LineMode>) -> Self {
            board.advance(START);
            let inspection = Inspection::open(START, kind, mode);
            Self {
                board,
                inspection,
                now: START,
                sent: Vec::new(),
                close: None,
            }
        }

        /// Runs until the inspection settles, the port is given up, or 30 s have passed. Returns the elapsed time.
        fn settle(&mut self) -> Duration {
            self.run(|world| world.inspection.settled(), 30)
        }

        fn run(&mut self, mut done: impl FnMut(&Self) -> bool, seconds: u64) -> Duration {
            let began = self.now;
            let end = began + Duration::from_secs(seconds);
            while self.now < end && self.close.is_none() && !done(self) {
                while let Some(bytes) = self.inspection.poll_transmit(self.now) {
                    self.board.handle_bytes(self.now, &bytes);
                    self.inspection.handle_sent(self.now, &bytes);
                    self.sent.extend(bytes);
                }
                self.close = self.inspection.poll_close();
                if self.close.is_some() {
                    break;
                }
                let due = [self.inspection.poll_deadline(), self.board.poll_deadline()];
                let next = due.into_iter().flatten().min().unwrap_or(end);
                self.now = next.clamp(self.now, end);
                while let Some((at, bytes)) = self.board.poll_transmit(self.now) {
                    self.inspection.handle_bytes(at, &bytes);
                }
                self.inspection.handle_deadline(self.now);
            }
            self.now.saturating_duration_since(began)
        }
    }

    fn board(settings: BoardSettings) -> EmulatedBoard {
        let mut dump = [None; 64];
        for (field, piece) in Field::all().zip(&mut dump) {
            let board = shakmaty::Board::new();
            let square = shakmaty::Square::new(u32::from(field.number())).flip_vertical();
            *piece = board
                .piece_at(square)
                .map(shakmaty::Piece::char)
                .and_then(kiebitz_protocol::Piece::from_fen);
        }
        EmulatedBoard::with_pieces(START, settings, &dump)
    }

    #[test]
    fn a_usb_board_is_known_within_two_seconds_and_receives_only_queries() {
        let mut world = World::new(PortKind::Board, board(BoardSettings::default()));
        let mut clock = EmulatedClock::new(Duration::from_secs(5400));
        clock.start(START);
        world.board.plug_clock(START, Some(clock));
        let elapsed = world.settle();
        assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
        let (place, found) = world.inspection.boards().next().unwrap();
        assert_eq!(
            (place, world.inspection.mode()),
            (Place::Alone, Some(LineMode::Single))
        );
        assert_eq!(found.identity.long_serial.as_deref(), Some("0000000042"));
        assert_eq!(found.identity.version, Some((1, 8)));
        assert_eq!(found.placement(), Some(&shakmaty::Board::new()));
        assert_eq!(
            found.orientation(),
            Some(kiebitz_game::position::Orientation::Normal)
        );
        assert!(matches!(found.clock, FoundClock::Shows(times) if times.running));

        world.run(|_| false, 120);
        let harmless = [
            Command::SendVersion,
            Command::ReturnSerialNumber,
            Command::ReturnLongSerialNumber,
            Command::UpdateNice,
            Command::SendClock,
            Command::SendBoard,
            Command::SendTrademark,
        ];
        let harmless = harmless.map(|command| command.code());
        assert!(
            world.sent.iter().all(|byte| harmless.contains(byte)),
            "{:x?}",
            world.sent
        );
    }

    #[test]
    fn a_bluetooth_board_reports_its_battery() {
        let battery = BatteryStatus {
            percent: 64,
            left_hours: 5,
            left_minutes: 0,
            on_hours: 1,
            on_minutes: 0,
            standby_days: 0,
            standby_hours: 0,
            standby_minutes: 0,
            status: 2,
        };
        let settings = BoardSettings {
            battery: Some(battery),
            ..BoardSettings::default()
        };
        let mut world = World::new(PortKind::Bluetooth, board(settings));
        world.settle();
        let (_, found) = world.inspection.boards().next().unwrap();
        assert_eq!(found.battery, Some(battery));
    }

    #[test]
    fn a_board_on_a_converter_is_found_within_ten_seconds() {
        let mut world = World::new(PortKind::Converter, board(BoardSettings::default()));
        let elapsed = world.settle();
        assert!(elapsed < Duration::from_secs(10), "{elapsed:?}");
        let (place, found) = world.inspection.boards().next().unwrap();
        assert_eq!(Some(place), BusAddress::new(42).map(Place::At));
        assert_eq!(found.placement(), Some(&shakmaty::Board::new()));
        assert_eq!(found.identity.version, Some((1, 8)));
        assert_eq!(found.clock, FoundClock::Absent);
    }

    #[test]
    fn a_silent_port_is_given_up_after_a_few_seconds() {
        for (kind, seconds) in [(PortKind::Board, 4), (PortKind::Converter, 10)] {
            let mut silent = board(BoardSettings::default());
            silent.power_off(START);
            let mut world = World::new(kind, silent);
            let elapsed = world.settle();
            assert_eq!(world.close.as_deref(), Some(NO_ANSWER));
            assert!(
                !world.inspection.settled() && elapsed <= Duration::from_secs(seconds),
                "{elapsed:?}"
            );
        }
    }

    #[test]
    fn a_bus_without_answers_is_given_up() {
        let mut silent = board(BoardSettings::default());
        silent.power_off(START);
        let mut world = World::configured(PortKind::Serial, silent, Some(LineMode::Bus));
        let elapsed = world.settle();
        assert_eq!(world.close.as_deref(), Some(NO_BUS_ANSWER));
        assert_eq!(elapsed, MAX_BUS_SILENCE);
    }

    #[test]
    fn a_silent_board_on_a_bus_is_reported_and_comes_back() {
        let mut world = World::new(PortKind::Converter, board(BoardSettings::default()));
        world.settle();
        let (place, _) = world.inspection.boards().next().unwrap();
        world.board.power_off(world.now);
        world.run(|_| false, 10);
        assert!(world.inspection.mute(place).is_some());
        assert!(
            matches!(world.inspection.poll_change(), Some((at, BoardChange::Disappeared(_))) if at == place)
        );
        world.board.power_on(world.now);
        world.run(|_| false, 10);
        assert_eq!(world.inspection.mute(place), None);
        assert_eq!(
            world.inspection.poll_change(),
            Some((place, BoardChange::Appeared))
        );
    }

    #[test]
    fn later_changes_are_reported() {
        let mut world = World::new(PortKind::Board, board(BoardSettings::default()));
        world.settle();
        assert_eq!(world.inspection.poll_change(), None);
        let e2 = Field::new(52).unwrap();
        world.board.set(world.now, e2, None);
        world.run(|_| false, 2);
        let lifted = BoardChange::Square(shakmaty::Square::E2, None);
        assert_eq!(world.inspection.poll_change(), Some((Place::Alone, lifted)));
        assert_eq!(world.inspection.poll_change(), None);
    }
}
