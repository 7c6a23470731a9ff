//! Detects the mode of a line: a single board, or a bus with many boards.

use core::time::Duration;

use kiebitz_protocol::{
    BusAddress, BusAnswerError, BusCommand, BusCommandKind, BusData, BusDecoder, Decoder, Message,
    MessageError, Rejected, RejectedKind,
};

use crate::capture::LineMode;
use crate::facts::{BUS_ANSWER_TIME, CLOCK_REPORT_PERIOD, CONVERTER_PERIOD, PING_ANSWERS_TIME};
use crate::time::Timestamp;

/// Detects the mode of a line without sending single-board commands, which would switch every board of a bus to
/// single-board mode.
///
/// 1. The probe listens. A board that another program left in an update mode sends reports, and is the only board on
///    its line.
/// 2. It pings all boards of a bus. Several pings are needed, because the first may only switch a board back to bus
///    mode. If no board answers, the line is used by a [`Session`](crate::Session).
/// 3. It commands the board that answers to ignore the next ping. If no other board answers two more pings, the board
///    is the only one, and is also used by a session: in single-board mode a board reports changes without queries and
///    sends its whole memory.
///
/// A probe is driven like a session, but never closes the port. Record its traffic with [`LineMode::Unknown`], which a
/// replay ignores.
///
/// ```
/// use kiebitz_hardware::capture::LineMode;
/// use kiebitz_hardware::{Probe, Timestamp};
///
/// let mut probe = Probe::new();
/// probe.handle_opened(Timestamp::from_micros(0));
/// let now = probe.poll_deadline().expect("it listens first");
/// probe.handle_deadline(now);
/// let ping = probe.poll_transmit(now).expect("then it asks");
/// assert_eq!(ping, [0x87, 0x00, 0x00, 0x07]);
/// probe.handle_sent(now, &ping);
/// // Two boards answer.
/// probe.handle_bytes(now, &[0x87, 0x00, 0x06, 0x08, 0x01, 0x16]);
/// probe.handle_bytes(now, &[0x87, 0x00, 0x06, 0x08, 0x02, 0x17]);
/// assert_eq!(probe.poll_mode(), Some(LineMode::Bus));
/// ```
#[derive(Debug)]
pub struct Probe {
    settings: ProbeSettings,
    messages: Decoder,
    answers: BusDecoder,
    /// Time of the next query, or end of the timeout for the last query; `None` if the mode is known or the port is
    /// closed.
    due: Option<Timestamp>,
    last_query: Option<BusCommand>,
    /// Number of pings to all boards.
    pings: u8,
    /// Address of the first board that answered. An answer from another address shows that the line is a bus.
    found: Option<BusAddress>,
    /// Whether the found board has confirmed that it ignores the next ping.
    silenced: bool,
    /// Number of consecutive attempts to silence the found board.
    silence_attempts: u8,
    /// Number of consecutive pings that no other board answered.
    quiet_pings: u8,
    /// Whether received bytes may be collided answers to a ping.
    collided: bool,
    outbox: Option<Vec<u8>>,
    mode: Option<LineMode>,
}

/// Modes that a [`Probe`] assumes in ambiguous cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProbeSettings {
    /// Mode if no board answers.
    pub(crate) unanswered: LineMode,
    /// Mode if only one board answers the pings. With [`LineMode::Bus`], the probe ends at the first answer.
    pub(crate) lone: LineMode,
}

impl Default for ProbeSettings {
    fn default() -> Self {
        Self {
            unanswered: LineMode::Single,
            lone: LineMode::Single,
        }
    }
}

impl Default for Probe {
    fn default() -> Self {
        Self::new()
    }
}

impl Probe {
    /// Returns a probe. Its port is not open yet.
    #[must_use]
    pub fn new() -> Self {
        Self::with(ProbeSettings::default())
    }

    pub(crate) fn with(settings: ProbeSettings) -> Self {
        Self {
            settings,
            messages: Decoder::new(),
            answers: BusDecoder::new(),
            due: None,
            last_query: None,
            pings: 0,
            found: None,
            silenced: false,
            silence_attempts: 0,
            quiet_pings: 0,
            collided: false,
            outbox: None,
            mode: None,
        }
    }

    /// Handles the opening of the port.
    pub fn handle_opened(&mut self, now: Timestamp) {
        *self = Self {
            due: Some(now + LISTEN_TIME),
            ..Self::with(self.settings)
        };
    }

    /// Handles the closing of the port.
    pub fn handle_closed(&mut self, _now: Timestamp, _reason: &str) {
        *self = Self::with(self.settings);
    }

    /// Handles received bytes.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        if self.due.is_none() {
            return;
        }
        let Self {
            messages,
            answers,
            pings,
            collided,
            ..
        } = self;
        let (mut single, mut bus) = (false, false);
        messages.feed(bytes, |decoded| {
            // The ids of other messages may also occur on a bus.
            single |= matches!(
                decoded,
                Ok(Message::FieldUpdate(_)
                    | Message::ClockTimes(_)
                    | Message::ClockAck(_)
                    | Message::ClockAbsent(_))
            );
        });
        let mut pinged = Vec::new();
        answers.feed(bytes, |decoded| match decoded {
            Ok(answer) if answer.data == BusData::Ping => pinged.push(answer.address),
            Ok(answer) => bus |= !matches!(answer.data, BusData::Unknown { .. }),
            Err(rejected) => *collided |= *pings > 0 && is_damaged_ping_answer(&rejected),
        });
        if single {
            self.decide(LineMode::Single);
        } else if bus {
            self.decide(LineMode::Bus);
        } else {
            pinged
                .into_iter()
                .for_each(|address| self.handle_ping_answer(now, address));
        }
    }

    /// Handles an answer to a ping, or to the command to ignore the next ping.
    fn handle_ping_answer(&mut self, now: Timestamp, address: BusAddress) {
        let another = self.found.is_some_and(|found| found != address);
        if another || self.settings.lone == LineMode::Bus {
            self.decide(LineMode::Bus);
            return;
        }
        let confirmed = self
            .last_query
            .is_some_and(|query| query.kind == BusCommandKind::IgnoreNextPing);
        self.found = Some(address);
        self.silenced = confirmed;
        if confirmed {
            self.due = self.due.map(|_| now);
        } else {
            self.quiet_pings = 0;
        }
    }

    /// Handles written bytes. Starts the timeout for answers.
    pub fn handle_sent(&mut self, now: Timestamp, _bytes: &[u8]) {
        if let (Some(due), Some(query)) = (&mut self.due, self.last_query) {
            *due = now + answer_timeout(query);
        }
    }

    /// Handles the deadline. Does nothing if it is not due.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        if self.outbox.is_some() || self.due.is_none_or(|due| now < due) {
            return;
        }
        if self.collided {
            self.decide(LineMode::Bus);
            return;
        }
        match self.found {
            None if self.pings < PINGS => self.ping(now),
            None => self.decide(self.settings.unanswered),
            Some(found) => self.look_for_others(now, found),
        }
    }

    /// Silences the found board and pings the others. If no other board answers `QUIET_PINGS` pings, the found board is
    /// the only one.
    fn look_for_others(&mut self, now: Timestamp, found: BusAddress) {
        let pinged = self
            .last_query
            .is_some_and(|query| query.kind == BusCommandKind::Ping);
        if core::mem::take(&mut self.silenced) {
            if !pinged {
                self.silenced = true;
                self.silence_attempts = 0;
                self.ping(now);
                return;
            }
            self.quiet_pings += 1;
        }
        if self.quiet_pings >= QUIET_PINGS {
            self.decide(LineMode::Single);
        } else if self.silence_attempts >= MAX_SILENCE_ATTEMPTS || self.pings >= MAX_PINGS {
            // The board cannot be silenced. Possibly two boards have the same address.
            self.decide(LineMode::Bus);
        } else {
            self.silence_attempts += 1;
            self.query(now, BusCommandKind::IgnoreNextPing, found);
        }
    }

    fn ping(&mut self, now: Timestamp) {
        self.pings += 1;
        self.query(now, BusCommandKind::Ping, BusAddress::ALL);
    }

    fn query(&mut self, now: Timestamp, kind: BusCommandKind, address: BusAddress) {
        let command = BusCommand { kind, address };
        self.due = Some(now + answer_timeout(command));
        self.last_query = Some(command);
        self.outbox = Some(command.encode().to_vec());
    }

    /// Returns the time for the next [`handle_deadline`](Self::handle_deadline) if no bytes arrive earlier, or `None`
    /// if there is no deadline.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.due.filter(|_| self.outbox.is_none())
    }

    /// Returns the next bytes to write. After writing, pass them to [`handle_sent`](Self::handle_sent).
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.handle_deadline(now);
        self.outbox.take()
    }

    /// Returns the mode of the line, once, at most 10 s after the opening.
    #[must_use]
    pub fn poll_mode(&mut self) -> Option<LineMode> {
        self.mode.take()
    }

    fn decide(&mut self, mode: LineMode) {
        (self.mode, self.due, self.outbox) = (Some(mode), None, None);
    }
}

fn answer_timeout(command: BusCommand) -> Duration {
    if command.address == BusAddress::ALL {
        PING_ANSWERS_TIME
    } else {
        BUS_ANSWER_TIME + CONVERTER_PERIOD
    }
}

/// Returns whether dropped bytes began as the answer to a ping.
fn is_damaged_ping_answer(rejected: &Rejected<BusAnswerError>) -> bool {
    let (RejectedKind::Truncated { id, .. }
    | RejectedKind::Invalid(
        BusAnswerError::Checksum { id, .. } | BusAnswerError::Data(MessageError::WrongLength { id, .. }),
    )) = rejected.kind
    else {
        return false;
    };
    id == BusData::Ping.id()
}

/// Time to listen before the first ping. In this time a board in update mode reports its clock.
const LISTEN_TIME: Duration = CLOCK_REPORT_PERIOD.saturating_add(Duration::from_millis(200));
/// Number of pings if no board answers: one may only switch a board back to bus mode, and one may be lost.
const PINGS: u8 = 3;
/// Number of unanswered pings that show that the found board is the only one. The first may only switch other boards
/// back to bus mode.
const QUIET_PINGS: u8 = 2;
/// Maximum number of pings in total.
const MAX_PINGS: u8 = 6;
const MAX_SILENCE_ATTEMPTS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
    use kiebitz_protocol::{BusAnswer, Command};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    /// Runs a probe. `line` returns the bytes received after a query, or before the first query for `None`. Returns the
    /// mode, the queries, and the duration in milliseconds.
    fn run(
        mut probe: Probe,
        mut line: impl FnMut(Option<BusCommand>) -> Vec<u8>,
    ) -> (LineMode, Vec<BusCommand>, u64) {
        let (mut now, mut queries) = (START, Vec::new());
        probe.handle_opened(now);
        loop {
            probe.handle_bytes(now, &line(queries.last().copied()));
            if let Some(mode) = probe.poll_mode() {
                assert_eq!(probe.poll_deadline(), None);
                return (
                    mode,
                    queries,
                    now.saturating_duration_since(START).as_millis() as u64,
                );
            }
            now = probe.poll_deadline().unwrap();
            probe.handle_deadline(now);
            while let Some(bytes) = probe.poll_transmit(now) {
                let command = BusCommand::decode(bytes.as_slice().try_into().unwrap()).unwrap();
                assert!(matches!(
                    command.kind,
                    BusCommandKind::Ping | BusCommandKind::IgnoreNextPing
                ));
                queries.push(command);
                now = now + Duration::from_millis(4);
                probe.handle_sent(now, &bytes);
            }
        }
    }

    fn pings(queries: &[BusCommand]) -> usize {
        queries
            .iter()
            .filter(|command| command.kind == BusCommandKind::Ping)
            .count()
    }

    /// Runs a probe on a line whose answers depend on the number of pings. Returns the mode, the number of pings, and
    /// the duration in milliseconds.
    fn probe(mut line: impl FnMut(usize) -> Vec<u8>) -> (LineMode, usize, u64) {
        let mut count = 0;
        let answering = |query: Option<BusCommand>| {
            count += usize::from(query.is_some_and(|query| query.kind == BusCommandKind::Ping));
            line(count)
        };
        let (mode, queries, millis) = run(Probe::new(), answering);
        (mode, pings(&queries), millis)
    }

    /// Returns a line with boards at these addresses. The first `ignored_queries` queries only switch them to bus mode.
    fn boards(addresses: &[u16], ignored_queries: usize) -> impl FnMut(Option<BusCommand>) -> Vec<u8> {
        let mut silenced = Vec::new();
        let mut remaining = ignored_queries;
        move |query| {
            let Some(query) = query else { return Vec::new() };
            if remaining > 0 {
                remaining -= 1;
                return Vec::new();
            }
            if query.kind == BusCommandKind::IgnoreNextPing {
                silenced.push(query.address.number());
                return answer(query.address.number());
            }
            let ignored = core::mem::take(&mut silenced);
            let responders = addresses.iter().filter(|address| !ignored.contains(address));
            responders.flat_map(|address| answer(*address)).collect()
        }
    }

    fn answer(address: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        BusAnswer {
            address: BusAddress::new(address).unwrap(),
            data: BusData::Ping,
        }
        .encode(&mut bytes);
        bytes
    }

    #[test]
    fn a_port_without_answers_is_a_single_board() {
        let (mode, pings, millis) = probe(|_| Vec::new());
        assert_eq!((mode, pings), (LineMode::Single, usize::from(PINGS)));
        assert!(millis < 5000, "{millis}");
    }

    #[test]
    fn a_port_configured_as_a_bus_without_answers_is_a_bus() {
        let settings = ProbeSettings {
            unanswered: LineMode::Bus,
            ..ProbeSettings::default()
        };
        assert_eq!(run(Probe::with(settings), |_| Vec::new()).0, LineMode::Bus);
        assert_eq!(run(Probe::with(settings), boards(&[7], 0)).0, LineMode::Single);
    }

    #[test]
    fn answers_of_two_boards_are_a_bus() {
        let (mode, queries, millis) = run(Probe::new(), boards(&[1025, 7], 0));
        assert_eq!((mode, queries.len()), (LineMode::Bus, 1));
        assert!(millis < 2500, "{millis}");
        assert_eq!(run(Probe::new(), boards(&[1025, 7], 1)).0, LineMode::Bus);
    }

    #[test]
    fn a_board_is_single_if_no_other_board_answers() {
        for ignored_queries in 0..=2 {
            let (mode, queries, millis) = run(Probe::new(), boards(&[1025], ignored_queries));
            assert_eq!(mode, LineMode::Single);
            assert_eq!(pings(&queries), ignored_queries + 1 + usize::from(QUIET_PINGS));
            assert!(millis < 8000, "{millis}");
        }
    }

    #[test]
    fn a_second_board_that_the_first_ping_only_switched_back_is_found() {
        let mut one_board = boards(&[7], 0);
        let mut two_boards = boards(&[7, 8], 0);
        let mut count = 0;
        let line = |query: Option<BusCommand>| {
            count += usize::from(query.is_some_and(|query| query.kind == BusCommandKind::Ping));
            if count < 2 {
                one_board(query)
            } else {
                two_boards(query)
            }
        };
        assert_eq!(run(Probe::new(), line).0, LineMode::Bus);
    }

    #[test]
    fn a_board_that_cannot_be_silenced_is_a_bus() {
        let answers_all = |query: Option<BusCommand>| query.map_or_else(Vec::new, |_| answer(7));
        let (mode, queries, _) = run(Probe::new(), answers_all);
        assert_eq!(mode, LineMode::Bus);
        assert!(pings(&queries) <= usize::from(MAX_PINGS));
        let ignores_silencing = |query: Option<BusCommand>| match query.map(|query| query.kind) {
            Some(BusCommandKind::Ping) => answer(7),
            _ => Vec::new(),
        };
        assert_eq!(run(Probe::new(), ignores_silencing).0, LineMode::Bus);
    }

    #[test]
    fn one_answer_is_a_bus_if_lone_boards_stay_in_bus_mode() {
        let settings = ProbeSettings {
            lone: LineMode::Bus,
            ..ProbeSettings::default()
        };
        let (mode, queries, _) = run(Probe::with(settings), boards(&[7], 1));
        assert_eq!((mode, queries.len()), (LineMode::Bus, 2));
    }

    #[test]
    fn colliding_answers_are_a_bus() {
        let collided = |ping| {
            let (one, other) = (answer(1025), answer(77));
            if ping == 0 {
                Vec::new()
            } else {
                [&one[..4], &other, &one[5..]].concat()[..9].to_vec()
            }
        };
        assert_eq!(probe(collided).0, LineMode::Bus);
    }

    #[test]
    fn bytes_of_another_device_are_not_a_bus() {
        assert_eq!(
            probe(|_| b"$GPGGA,123519,4807.038,N\r\n".to_vec()).0,
            LineMode::Single
        );
        assert_eq!(probe(|_| vec![0xff, 0x00, 0x80, 0xfe]).0, LineMode::Single);
        // An undocumented answer with a valid checksum.
        assert_eq!(
            probe(|_| vec![0x95, 0x00, 0x06, 0x08, 0x01, 0x24]).0,
            LineMode::Single
        );
    }

    #[test]
    fn bytes_before_the_first_ping_are_not_a_collision() {
        let mode = probe(|ping| {
            if ping == 0 {
                vec![0x87, 0x00, 0x80]
            } else {
                Vec::new()
            }
        })
        .0;
        assert_eq!(mode, LineMode::Single);
    }

    #[test]
    fn the_timeout_starts_when_the_ping_is_written() {
        let mut probe = Probe::new();
        probe.handle_opened(START);
        let now = probe.poll_deadline().unwrap();
        let ping = probe.poll_transmit(now).unwrap();
        let written = now + Duration::from_secs(1);
        probe.handle_sent(written, &ping);
        assert_eq!(probe.poll_deadline(), Some(written + PING_ANSWERS_TIME));
    }

    #[test]
    fn a_board_in_update_mode_is_not_pinged() {
        let mut board = EmulatedBoard::new(START, BoardSettings::default());
        let mut clock = EmulatedClock::new(Duration::from_secs(300));
        clock.start(START);
        board.plug_clock(START, Some(clock));
        board.handle_bytes(START, &[Command::UpdateNice.code()]);
        let opened = START + Duration::from_secs(5);
        while board.poll_transmit(opened).is_some() {}
        let mut probe = Probe::new();
        probe.handle_opened(opened);
        while let Some((at, bytes)) = board.poll_transmit(opened + LISTEN_TIME) {
            probe.handle_bytes(at, &bytes);
        }
        assert_eq!(probe.poll_mode(), Some(LineMode::Single));
        assert_eq!(probe.poll_transmit(opened + LISTEN_TIME), None);
    }

    proptest! {
        #[test]
        fn the_probe_decides_in_time_and_sends_only_pings(
            steps in vec((0_u64..400, vec(any::<u8>(), 0..12)), 0..60),
        ) {
            let (mut now, mut decided) = (START, false);
            let mut probe = Probe::new();
            probe.handle_opened(now);
            let silence = (0..30).map(|_| (400, Vec::new()));
            for (millis, bytes) in steps.into_iter().chain(silence) {
                now = now + Duration::from_millis(millis);
                while let Some(due) = probe.poll_deadline().filter(|due| *due <= now) {
                    probe.handle_deadline(due);
                    while let Some(bytes) = probe.poll_transmit(due) {
                        let command = BusCommand::decode(bytes.as_slice().try_into().unwrap()).unwrap();
                        let harmless = [BusCommandKind::Ping, BusCommandKind::IgnoreNextPing];
                        prop_assert!(harmless.contains(&command.kind));
                        probe.handle_sent(due, &bytes);
                    }
                    prop_assert!(probe.poll_deadline().is_none_or(|next| next > due));
                }
                probe.handle_bytes(now, &bytes);
                decided |= probe.poll_mode().is_some();
                if decided {
                    prop_assert_eq!(probe.poll_deadline(), None);
                    break;
                }
            }
            prop_assert!(decided && now <= START + Duration::from_secs(10));
        }
    }
}
