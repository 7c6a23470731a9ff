//! Whether a serial port has one board on it, or a bus with many.

use core::time::Duration;

use kiebitz_protocol::{
    BusAddress, BusAnswerError, BusCommand, BusCommandKind, BusData, BusDecoder, Decoder, Message,
    MessageError, Rejected, RejectedKind,
};

use crate::capture::LineMode;
use crate::facts::{BUS_ANSWER_TIME, CLOCK_REPORT_PERIOD, CONVERTER_PERIOD, PING_ANSWERS_TIME};
use crate::time::Timestamp;

/// Finds out what a serial port of unknown kind is, before any single-board byte goes to it: that would switch every
/// board of a bus to single-board mode.
///
/// It listens first, for a board that another program left reporting by itself: such a board is alone on its line. Then
/// it sends pings to all boards of a bus, more than one because the first may only switch a board back to bus mode.
/// A port without an answer is one for a [`Session`](crate::Session). A board that answers is silenced, and if no other
/// one answers two more pings, it is alone: then it is one for a session as well, for in single-board mode a board reports
/// by itself and gives its whole memory.
///
/// Driven as a session is; it never gives a port up. What it writes and hears belongs in a capture as
/// [`LineMode::Unknown`]: a replay does not listen to it.
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
    /// When the next question is due, or the answers to the last have had their time; `None`: decided, or not open.
    due: Option<Timestamp>,
    /// What was asked last.
    asked: Option<BusCommand>,
    /// Pings to all boards.
    pings: u8,
    /// The only board that has answered.
    found: Option<BusAddress>,
    /// It will ignore the next ping to all.
    silenced: bool,
    /// How often it was told to, in a row.
    greetings: u8,
    /// Pings in a row to which no other board has answered.
    quiet_pings: u8,
    /// What came may be answers to a ping that collided.
    collided: bool,
    outbox: Option<Vec<u8>>,
    mode: Option<LineMode>,
}

/// What follows from what a [`Probe`] finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProbeSettings {
    /// What the port is taken for when no board answers.
    pub(crate) unanswered: LineMode,
    /// What the port is taken for when a single board answers as the boards of a bus do.
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
    /// A probe of a port that has not been opened yet.
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
            asked: None,
            pings: 0,
            found: None,
            silenced: false,
            greetings: 0,
            quiet_pings: 0,
            collided: false,
            outbox: None,
            mode: None,
        }
    }

    /// The port was opened.
    pub fn handle_opened(&mut self, now: Timestamp) {
        *self = Self {
            due: Some(now + LISTENS),
            ..Self::with(self.settings)
        };
    }

    /// The port is gone.
    pub fn handle_closed(&mut self, _now: Timestamp, _reason: &str) {
        *self = Self::with(self.settings);
    }

    /// Bytes came.
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
            // The ids of other messages have a meaning on a bus as well.
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
            Err(rejected) => *collided |= *pings > 0 && is_of_ping(&rejected),
        });
        if single {
            self.decide(LineMode::Single);
        } else if bus {
            self.decide(LineMode::Bus);
        } else {
            pinged.into_iter().for_each(|address| self.hear(now, address));
        }
    }

    /// A board has answered a ping, or that it will ignore the next.
    fn hear(&mut self, now: Timestamp, address: BusAddress) {
        let another = self.found.is_some_and(|found| found != address);
        if another || self.settings.lone == LineMode::Bus {
            self.decide(LineMode::Bus);
            return;
        }
        let greeted = self
            .asked
            .is_some_and(|asked| asked.kind == BusCommandKind::IgnoreNextPing);
        self.found = Some(address);
        self.silenced = greeted;
        if greeted {
            self.due = self.due.map(|_| now);
        } else {
            self.quiet_pings = 0;
        }
    }

    /// Bytes were written: the time for answers begins.
    pub fn handle_sent(&mut self, now: Timestamp, _bytes: &[u8]) {
        if let (Some(due), Some(asked)) = (&mut self.due, self.asked) {
            *due = now + answers_within(asked);
        }
    }

    /// A deadline has come.
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

    /// One board has answered. If all others are silent whenever it is, it is alone.
    fn look_for_others(&mut self, now: Timestamp, found: BusAddress) {
        let pinged = self.asked.is_some_and(|asked| asked.kind == BusCommandKind::Ping);
        if core::mem::take(&mut self.silenced) {
            if !pinged {
                self.silenced = true;
                self.greetings = 0;
                self.ping(now);
                return;
            }
            self.quiet_pings += 1;
        }
        if self.quiet_pings >= QUIET_PINGS {
            self.decide(LineMode::Single);
        } else if self.greetings >= MAX_GREETINGS || self.pings >= MAX_PINGS {
            // It does not do what a board does: perhaps two have the same number.
            self.decide(LineMode::Bus);
        } else {
            self.greetings += 1;
            self.ask(now, BusCommandKind::IgnoreNextPing, found);
        }
    }

    fn ping(&mut self, now: Timestamp) {
        self.pings += 1;
        self.ask(now, BusCommandKind::Ping, BusAddress::ALL);
    }

    fn ask(&mut self, now: Timestamp, kind: BusCommandKind, address: BusAddress) {
        let command = BusCommand { kind, address };
        self.due = Some(now + answers_within(command));
        self.asked = Some(command);
        self.outbox = Some(command.encode().to_vec());
    }

    /// When [`handle_deadline`](Self::handle_deadline) is due unless bytes come before; `None`: never.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.due.filter(|_| self.outbox.is_none())
    }

    /// What is to be written now, and handed back to [`handle_sent`](Self::handle_sent).
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.handle_deadline(now);
        self.outbox.take()
    }

    /// What the port is, returned once when it is known: at most 10 s after the opening.
    #[must_use]
    pub fn poll_mode(&mut self) -> Option<LineMode> {
        self.mode.take()
    }

    fn decide(&mut self, mode: LineMode) {
        (self.mode, self.due, self.outbox) = (Some(mode), None, None);
    }
}

/// How long answers to a question may take.
fn answers_within(asked: BusCommand) -> Duration {
    if asked.address == BusAddress::ALL {
        PING_ANSWERS_TIME
    } else {
        BUS_ANSWER_TIME + CONVERTER_PERIOD
    }
}

/// Whether dropped bytes began as the answer to a ping.
fn is_of_ping(rejected: &Rejected<BusAnswerError>) -> bool {
    let (RejectedKind::Truncated { id, .. }
    | RejectedKind::Invalid(
        BusAnswerError::Checksum { id, .. } | BusAnswerError::Data(MessageError::WrongLength { id, .. }),
    )) = rejected.kind
    else {
        return false;
    };
    id == BusData::Ping.id()
}

/// A board that another program left in update mode has reported its clock by then.
const LISTENS: Duration = CLOCK_REPORT_PERIOD.saturating_add(Duration::from_millis(200));
/// One may only switch a board back to bus mode, and one may be lost.
const PINGS: u8 = 3;
/// After the first answer, so many pings without another: one may only switch others back to bus mode.
const QUIET_PINGS: u8 = 2;
/// The most pings in all.
const MAX_PINGS: u8 = 6;
/// How often a board is told to ignore the next ping before it is given up.
const MAX_GREETINGS: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
    use kiebitz_protocol::{BusAnswer, Command};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    /// Lets the probe run; `line` gives what comes in answer to a question, or unasked. Returns the mode, the questions,
    /// and the milliseconds it took.
    fn run(
        mut probe: Probe,
        mut line: impl FnMut(Option<BusCommand>) -> Vec<u8>,
    ) -> (LineMode, Vec<BusCommand>, u64) {
        let (mut now, mut asked) = (START, Vec::new());
        probe.handle_opened(now);
        loop {
            probe.handle_bytes(now, &line(asked.last().copied()));
            if let Some(mode) = probe.poll_mode() {
                assert_eq!(probe.poll_deadline(), None);
                return (
                    mode,
                    asked,
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
                asked.push(command);
                now = now + Duration::from_millis(4);
                probe.handle_sent(now, &bytes);
            }
        }
    }

    fn pings(asked: &[BusCommand]) -> usize {
        asked
            .iter()
            .filter(|command| command.kind == BusCommandKind::Ping)
            .count()
    }

    /// The same where the answer depends on how many pings went out.
    fn probe(mut line: impl FnMut(usize) -> Vec<u8>) -> (LineMode, usize, u64) {
        let mut count = 0;
        let answering = |asked: Option<BusCommand>| {
            count += usize::from(asked.is_some_and(|asked| asked.kind == BusCommandKind::Ping));
            line(count)
        };
        let (mode, asked, millis) = run(Probe::new(), answering);
        (mode, pings(&asked), millis)
    }

    /// Boards with these addresses that do as boards do; the first `deaf` pings only switch them to bus mode.
    fn boards(addresses: &[u16], deaf: usize) -> impl FnMut(Option<BusCommand>) -> Vec<u8> {
        let mut silenced = Vec::new();
        let mut left = deaf;
        move |asked| {
            let Some(asked) = asked else { return Vec::new() };
            if left > 0 {
                left -= 1;
                return Vec::new();
            }
            if asked.kind == BusCommandKind::IgnoreNextPing {
                silenced.push(asked.address.number());
                return answer(asked.address.number());
            }
            let ignored = core::mem::take(&mut silenced);
            let heard = addresses.iter().filter(|address| !ignored.contains(address));
            heard.flat_map(|address| answer(*address)).collect()
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
    fn a_port_on_which_nobody_answers_is_for_one_board() {
        let (mode, pings, millis) = probe(|_| Vec::new());
        assert_eq!((mode, pings), (LineMode::Single, usize::from(PINGS)));
        assert!(millis < 5000, "{millis}");
    }

    #[test]
    fn a_port_that_is_said_to_be_a_bus_is_one_as_long_as_nobody_answers() {
        let settings = ProbeSettings {
            unanswered: LineMode::Bus,
            ..ProbeSettings::default()
        };
        assert_eq!(run(Probe::with(settings), |_| Vec::new()).0, LineMode::Bus);
        assert_eq!(run(Probe::with(settings), boards(&[7], 0)).0, LineMode::Single);
    }

    #[test]
    fn two_answers_make_a_bus() {
        let (mode, asked, millis) = run(Probe::new(), boards(&[1025, 7], 0));
        assert_eq!((mode, asked.len()), (LineMode::Bus, 1));
        assert!(millis < 2500, "{millis}");
        assert_eq!(run(Probe::new(), boards(&[1025, 7], 1)).0, LineMode::Bus);
    }

    #[test]
    fn a_board_beside_which_nobody_answers_is_alone() {
        for deaf in 0..=2 {
            let (mode, asked, millis) = run(Probe::new(), boards(&[1025], deaf));
            assert_eq!(mode, LineMode::Single);
            assert_eq!(pings(&asked), deaf + 1 + usize::from(QUIET_PINGS));
            assert!(millis < 8000, "{millis}");
        }
    }

    #[test]
    fn another_board_that_was_only_switched_back_is_found() {
        let mut alone = boards(&[7], 0);
        let mut both = boards(&[7, 8], 0);
        let mut count = 0;
        let line = |asked: Option<BusCommand>| {
            count += usize::from(asked.is_some_and(|asked| asked.kind == BusCommandKind::Ping));
            if count < 2 { alone(asked) } else { both(asked) }
        };
        assert_eq!(run(Probe::new(), line).0, LineMode::Bus);
    }

    #[test]
    fn a_board_that_cannot_be_silenced_is_none_that_is_alone() {
        let answers_all = |asked: Option<BusCommand>| asked.map_or_else(Vec::new, |_| answer(7));
        let (mode, asked, _) = run(Probe::new(), answers_all);
        assert_eq!(mode, LineMode::Bus);
        assert!(pings(&asked) <= usize::from(MAX_PINGS));
        let mute = |asked: Option<BusCommand>| match asked.map(|asked| asked.kind) {
            Some(BusCommandKind::Ping) => answer(7),
            _ => Vec::new(),
        };
        assert_eq!(run(Probe::new(), mute).0, LineMode::Bus);
    }

    #[test]
    fn who_leaves_the_boards_alone_takes_one_answer_for_a_bus() {
        let settings = ProbeSettings {
            lone: LineMode::Bus,
            ..ProbeSettings::default()
        };
        let (mode, asked, _) = run(Probe::with(settings), boards(&[7], 1));
        assert_eq!((mode, asked.len()), (LineMode::Bus, 2));
    }

    #[test]
    fn answers_that_collide_every_time_are_a_bus() {
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
    fn a_device_that_talks_of_other_things_is_no_bus() {
        assert_eq!(
            probe(|_| b"$GPGGA,123519,4807.038,N\r\n".to_vec()).0,
            LineMode::Single
        );
        assert_eq!(probe(|_| vec![0xff, 0x00, 0x80, 0xfe]).0, LineMode::Single);
        // An answer of no kind described, its checksum right.
        assert_eq!(
            probe(|_| vec![0x95, 0x00, 0x06, 0x08, 0x01, 0x24]).0,
            LineMode::Single
        );
    }

    #[test]
    fn what_nobody_was_asked_for_is_no_collision() {
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
    fn answers_have_their_time_from_when_the_ping_was_written() {
        let mut probe = Probe::new();
        probe.handle_opened(START);
        let now = probe.poll_deadline().unwrap();
        let ping = probe.poll_transmit(now).unwrap();
        let written = now + Duration::from_secs(1);
        probe.handle_sent(written, &ping);
        assert_eq!(probe.poll_deadline(), Some(written + PING_ANSWERS_TIME));
    }

    #[test]
    fn a_board_that_reports_by_itself_is_not_pinged() {
        let mut board = EmulatedBoard::new(START, BoardSettings::default());
        let mut clock = EmulatedClock::new(Duration::from_secs(300));
        clock.start(START);
        board.plug_clock(START, Some(clock));
        board.handle_bytes(START, &[Command::UpdateNice.code()]);
        let opened = START + Duration::from_secs(5);
        while board.poll_transmit(opened).is_some() {}
        let mut probe = Probe::new();
        probe.handle_opened(opened);
        while let Some((at, bytes)) = board.poll_transmit(opened + LISTENS) {
            probe.handle_bytes(at, &bytes);
        }
        assert_eq!(probe.poll_mode(), Some(LineMode::Single));
        assert_eq!(probe.poll_transmit(opened + LISTENS), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_it_decides_in_time_and_sends_only_pings(
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
