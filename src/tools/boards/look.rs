//! A look at one port: what is on it, without disturbing what is played there.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::port::PortKind;
use kiebitz_hardware::{Observation, Observed, Probe, Session, SessionSettings, Timestamp};
use kiebitz_protocol::BusAddress;

use super::board::{Change, FoundBoard, FoundClock};
use super::bus::BusLook;

/// Where on its line a board is; `None`: alone.
pub(super) type Place = Option<BusAddress>;

/// Finds out what is on a port and follows it.
///
/// Driven as a [`Session`] is. It asks who the boards are, what stands on them and what their clocks show; it sends no
/// clock message and no reset, reads no memory, and leaves the boards of a bus their changes.
#[derive(Debug)]
pub(super) struct Look {
    kind: PortKind,
    configured: Option<LineMode>,
    on: On,
    boards: BTreeMap<Place, FoundBoard>,
    /// Boards that were found and do not answer, with the reason.
    mute: BTreeMap<Place, String>,
    changes: VecDeque<(Place, Change)>,
    /// Any byte came since the port was opened.
    heard: bool,
    /// Since when it is known how the line is to be spoken to.
    decided_at: Option<Timestamp>,
    /// When the first dump of a board that is alone came: what it has not told soon after it will not.
    shown_at: Option<Timestamp>,
    settled: bool,
    close: Option<String>,
}

#[derive(Debug)]
enum On {
    Closed,
    Unknown(Box<Probe>),
    Single(Box<Session>),
    Bus(Box<BusLook>),
}

impl Look {
    /// A look at a port of that kind that has not been opened yet. `configured` is how it is spoken to, if that need
    /// not be found out.
    pub(super) fn new(kind: PortKind, configured: Option<LineMode>) -> Self {
        Self {
            kind,
            configured,
            on: On::Closed,
            boards: BTreeMap::new(),
            mute: BTreeMap::new(),
            changes: VecDeque::new(),
            heard: false,
            decided_at: None,
            shown_at: None,
            settled: false,
            close: None,
        }
    }

    /// How the boards speak, once that is known.
    pub(super) fn mode(&self) -> Option<LineMode> {
        match self.on {
            On::Single(_) => Some(LineMode::Single),
            On::Bus(_) => Some(LineMode::Bus),
            On::Closed | On::Unknown(_) => None,
        }
    }

    /// Whether all is known that the boards will tell.
    pub(super) fn settled(&self) -> bool {
        self.settled
    }

    /// Whether anything at all came from the port.
    pub(super) fn heard(&self) -> bool {
        self.heard
    }

    pub(super) fn boards(&self) -> impl Iterator<Item = (Place, &FoundBoard)> {
        self.boards.iter().map(|(place, board)| (*place, board))
    }

    /// Why a board that was found is not known better.
    pub(super) fn mute(&self, place: Place) -> Option<&str> {
        self.mute.get(&place).map(String::as_str)
    }

    /// What came to be otherwise since the look settled.
    pub(super) fn poll_change(&mut self) -> Option<(Place, Change)> {
        self.changes.pop_front()
    }

    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        *self = Self::new(self.kind, self.configured);
        let mode = self
            .configured
            .or_else(|| (!self.kind.needs_probe()).then_some(LineMode::Single));
        match mode {
            Some(mode) => self.begin(now, mode),
            None => {
                let mut probe = Probe::new();
                probe.handle_opened(now);
                self.on = On::Unknown(Box::new(probe));
            }
        }
    }

    pub(super) fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.heard = true;
        match &mut self.on {
            On::Closed => {}
            On::Unknown(probe) => probe.handle_bytes(now, bytes),
            On::Single(session) => session.handle_bytes(now, bytes),
            On::Bus(bus) => bus.handle_bytes(now, bytes),
        }
        self.listen(now);
    }

    pub(super) fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        match &mut self.on {
            On::Closed => {}
            On::Unknown(probe) => probe.handle_sent(now, bytes),
            On::Single(session) => session.handle_sent(now, bytes),
            On::Bus(bus) => bus.handle_sent(now, bytes),
        }
    }

    pub(super) fn handle_deadline(&mut self, now: Timestamp) {
        match &mut self.on {
            On::Closed | On::Bus(_) => {}
            On::Unknown(probe) => probe.handle_deadline(now),
            On::Single(session) => session.handle_deadline(now),
        }
        self.listen(now);
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        let machine = match &self.on {
            On::Closed => None,
            On::Unknown(probe) => probe.poll_deadline(),
            On::Single(session) => session.poll_deadline(),
            On::Bus(bus) => bus.poll_deadline(),
        };
        [machine, self.told_by(), self.silent_by()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        let bytes = match &mut self.on {
            On::Closed => None,
            On::Unknown(probe) => probe.poll_transmit(now),
            On::Single(session) => session.poll_transmit(now),
            On::Bus(bus) => bus.poll_transmit(now),
        };
        self.listen(now);
        bytes
    }

    /// Why the port is given up, told once.
    pub(super) fn poll_close(&mut self) -> Option<String> {
        let reason = match &mut self.on {
            On::Closed | On::Unknown(_) => None,
            On::Single(session) => session.poll_close(),
            On::Bus(bus) => bus.poll_close(),
        };
        reason.or_else(|| self.close.take())
    }

    fn begin(&mut self, now: Timestamp, mode: LineMode) {
        self.decided_at = Some(now);
        self.on = match mode {
            LineMode::Single => {
                let mut session = Session::keeping(SessionSettings {
                    read_memory: false,
                    battery: (self.kind == PortKind::Bluetooth).then_some(BATTERY_PERIOD),
                    ..SessionSettings::default()
                });
                session.handle_opened(now);
                On::Single(Box::new(session))
            }
            LineMode::Bus => {
                let mut bus = BusLook::new();
                bus.handle_opened(now);
                On::Bus(Box::new(bus))
            }
        };
    }

    /// Takes in what the machine has found out.
    fn listen(&mut self, now: Timestamp) {
        if let On::Unknown(probe) = &mut self.on
            && let Some(mode) = probe.poll_mode()
        {
            self.begin(now, mode);
        }
        loop {
            let (place, observed) = match &mut self.on {
                On::Closed | On::Unknown(_) => break,
                On::Single(session) => match session.poll_observation() {
                    Some(observed) => (None, observed),
                    None => break,
                },
                On::Bus(bus) => match bus.poll_observation() {
                    Some((address, observed)) => (Some(address), observed),
                    None => break,
                },
            };
            self.observe(place, &observed);
        }
        self.settled |= match &self.on {
            On::Closed | On::Unknown(_) => false,
            On::Single(_) => self.told_all() || self.told_by().is_some_and(|due| due <= now),
            On::Bus(bus) => bus.complete,
        };
        if self.silent_by().is_some_and(|due| due <= now) {
            self.close = Some(NOBODY.to_owned());
            self.decided_at = None;
        }
    }

    fn observe(&mut self, place: Place, observed: &Observed) {
        match &observed.observation {
            // A board that is alone is known to be there when it says something.
            Observation::Opened if place.is_none() => return,
            Observation::Closed { reason } => {
                self.mute.insert(place, reason.clone());
                if self.settled {
                    self.changes.push_back((place, Change::Left(reason.clone())));
                }
                return;
            }
            Observation::Disturbed { .. } => return,
            Observation::Board { .. } if place.is_none() => {
                self.shown_at.get_or_insert(observed.at);
            }
            _ => {}
        }
        let board = self.boards.entry(place).or_insert_with(FoundBoard::new);
        let dump = matches!(observed.observation, Observation::Board { .. });
        // A board is told to be there when it shows what stands on it.
        let came = dump && (self.mute.remove(&place).is_some() || board.placement().is_none());
        let changes = board.observe(observed);
        if self.settled {
            let changes = came.then_some(Change::Came).into_iter().chain(changes);
            self.changes.extend(changes.map(|change| (place, change)));
        }
    }

    /// Whether the board that is alone on the line has told everything.
    fn told_all(&self) -> bool {
        let battery = self.kind == PortKind::Bluetooth;
        self.boards.get(&None).is_some_and(|board| {
            board.placement().is_some()
                && board.clock != FoundClock::Unknown
                && board.identity.trademark.is_some()
                && (!battery || board.battery.is_some())
        })
    }

    /// What a board has not told by then it will not tell.
    fn told_by(&self) -> Option<Timestamp> {
        let shown_at = self.shown_at.filter(|_| !self.settled)?;
        Some(shown_at + TELLS_WITHIN)
    }

    /// When a line on which nothing at all has come is given up.
    fn silent_by(&self) -> Option<Timestamp> {
        let waits = matches!(self.on, On::Single(_)) && !self.heard;
        Some(self.decided_at.filter(|_| waits)? + PATIENCE)
    }
}

/// Two questions without any answer; a board that is still busy with what another program asked sends something.
const PATIENCE: Duration = Duration::from_secs(4);
/// Trademark and battery are asked for after the dump, twice if need be, half a second each.
const TELLS_WITHIN: Duration = Duration::from_millis(2500);
const BATTERY_PERIOD: Duration = Duration::from_secs(60);
const NOBODY: &str = "nothing answers";

#[cfg(test)]
mod tests {
    use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
    use kiebitz_protocol::{BatteryStatus, Command, Field};

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    struct World {
        board: EmulatedBoard,
        look: Look,
        now: Timestamp,
        sent: Vec<u8>,
        close: Option<String>,
    }

    impl World {
        fn new(kind: PortKind, mut board: EmulatedBoard) -> Self {
            board.advance(START);
            let mut look = Look::new(kind, None);
            look.handle_opened(START);
            let (now, sent, close) = (START, Vec::new(), None);
            Self {
                board,
                look,
                now,
                sent,
                close,
            }
        }

        /// Until the look settles, is given up, or 30 s are over.
        fn settle(&mut self) -> Duration {
            self.run(|world| world.look.settled(), 30)
        }

        fn run(&mut self, mut done: impl FnMut(&Self) -> bool, seconds: u64) -> Duration {
            let began = self.now;
            let end = began + Duration::from_secs(seconds);
            while self.now < end && self.close.is_none() && !done(self) {
                while let Some(bytes) = self.look.poll_transmit(self.now) {
                    self.board.handle_bytes(self.now, &bytes);
                    self.look.handle_sent(self.now, &bytes);
                    self.sent.extend(bytes);
                }
                self.close = self.look.poll_close();
                if self.close.is_some() {
                    break;
                }
                let due = [self.look.poll_deadline(), self.board.poll_deadline()];
                let next = due.into_iter().flatten().min().unwrap_or(end);
                self.now = next.clamp(self.now, end);
                while let Some((at, bytes)) = self.board.poll_transmit(self.now) {
                    self.look.handle_bytes(at, &bytes);
                }
                self.look.handle_deadline(self.now);
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
    fn a_usb_board_tells_all_within_two_seconds_and_is_sent_only_questions() {
        let mut world = World::new(PortKind::Board, board(BoardSettings::default()));
        let mut clock = EmulatedClock::new(Duration::from_secs(5400));
        clock.start(START);
        world.board.plug_clock(START, Some(clock));
        let took = world.settle();
        assert!(took < Duration::from_secs(2), "{took:?}");
        let (place, found) = world.look.boards().next().unwrap();
        assert_eq!((place, world.look.mode()), (None, Some(LineMode::Single)));
        assert_eq!(found.identity.long_serial.as_deref(), Some("0000000042"));
        assert_eq!(found.identity.version, Some((1, 8)));
        assert_eq!(found.placement(), Some(&shakmaty::Board::new()));
        assert_eq!(found.orientation(), Some(crate::tracker::Orientation::Normal));
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
    fn a_bluetooth_board_tells_its_battery() {
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
        let (_, found) = world.look.boards().next().unwrap();
        assert_eq!(found.battery, Some(battery));
    }

    #[test]
    fn a_board_behind_a_converter_is_found_within_ten_seconds() {
        let mut world = World::new(PortKind::Converter, board(BoardSettings::default()));
        let took = world.settle();
        assert!(took < Duration::from_secs(10), "{took:?}");
        let (place, found) = world.look.boards().next().unwrap();
        assert_eq!(place, BusAddress::new(42));
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
            let took = world.settle();
            assert_eq!(world.close.as_deref(), Some(NOBODY));
            assert!(
                !world.look.settled() && took <= Duration::from_secs(seconds),
                "{took:?}"
            );
        }
    }

    #[test]
    fn what_changes_afterwards_is_told() {
        let mut world = World::new(PortKind::Board, board(BoardSettings::default()));
        world.settle();
        assert_eq!(world.look.poll_change(), None);
        let e2 = Field::new(52).unwrap();
        world.board.set(world.now, e2, None);
        world.run(|_| false, 2);
        let lifted = Change::Square(shakmaty::Square::E2, None);
        assert_eq!(world.look.poll_change(), Some((None, lifted)));
        assert_eq!(world.look.poll_change(), None);
    }
}
