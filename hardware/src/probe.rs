//! Whether a serial port has one board on it, or a bus with many.

use core::time::Duration;

use kiebitz_protocol::{
    BusAddress, BusAnswerError, BusCommand, BusCommandKind, BusData, BusDecoder, Decoder, Message,
    MessageError, Rejected, RejectedKind,
};

use crate::capture::LineMode;
use crate::facts::{CLOCK_REPORT_PERIOD, PING_ANSWERS_TIME};
use crate::time::Timestamp;

/// Finds out what a serial port of unknown kind is, before any single-board byte goes to it: that would switch every
/// board of a bus to single-board mode.
///
/// It listens first, for a board that another program left reporting by itself: such a board is alone on its line. Then
/// it sends pings to all boards of a bus, more than one because the first may only switch a board back to bus mode.
/// A port without an answer is one for a [`Session`](crate::Session). A board that is alone and knows the bus answers,
/// too: it is then a bus with one board.
///
/// Driven as a session is; it never gives a port up. What it writes and hears belongs in a capture as
/// [`LineMode::Bus`], so it need not be heard again in a replay.
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
/// probe.handle_bytes(now, &[0x87, 0x00, 0x06, 0x08, 0x01, 0x16]);
/// assert_eq!(probe.poll_mode(), Some(LineMode::Bus));
/// ```
#[derive(Debug, Default)]
pub struct Probe {
    messages: Decoder,
    answers: BusDecoder,
    /// When the next ping is due, or the answers to the last have had their time; `None`: decided, or not open.
    due: Option<Timestamp>,
    pings: u8,
    /// What came may be answers to a ping that collided.
    collided: bool,
    outbox: Option<Vec<u8>>,
    mode: Option<LineMode>,
}

impl Probe {
    /// A probe of a port that has not been opened yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The port was opened.
    pub fn handle_opened(&mut self, now: Timestamp) {
        *self = Self {
            due: Some(now + LISTENS),
            ..Self::default()
        };
    }

    /// The port is gone.
    pub fn handle_closed(&mut self, _now: Timestamp, _reason: &str) {
        *self = Self::default();
    }

    /// Bytes came.
    pub fn handle_bytes(&mut self, _now: Timestamp, bytes: &[u8]) {
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
        answers.feed(bytes, |decoded| match decoded {
            Ok(answer) => bus |= !matches!(answer.data, BusData::Unknown { .. }),
            Err(rejected) => *collided |= *pings > 0 && is_of_ping(&rejected),
        });
        if single {
            self.decide(LineMode::Single);
        } else if bus {
            self.decide(LineMode::Bus);
        }
    }

    /// Bytes were written: the time for answers begins.
    pub fn handle_sent(&mut self, now: Timestamp, _bytes: &[u8]) {
        if let Some(due) = &mut self.due {
            *due = now + PING_ANSWERS_TIME;
        }
    }

    /// A deadline has come.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        if self.outbox.is_some() || self.due.is_none_or(|due| now < due) {
            return;
        }
        if self.pings < PINGS {
            self.pings += 1;
            self.due = Some(now + PING_ANSWERS_TIME);
            let ping = BusCommand {
                kind: BusCommandKind::Ping,
                address: BusAddress::ALL,
            };
            self.outbox = Some(ping.encode().to_vec());
        } else if self.collided {
            self.decide(LineMode::Bus);
        } else {
            self.decide(LineMode::Single);
        }
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

    /// What the port is, returned once when it is known: at most 5 s after the opening.
    #[must_use]
    pub fn poll_mode(&mut self) -> Option<LineMode> {
        self.mode.take()
    }

    fn decide(&mut self, mode: LineMode) {
        (self.mode, self.due, self.outbox) = (Some(mode), None, None);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};
    use kiebitz_protocol::{BusAnswer, Command};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const START: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);
    const PING: [u8; 4] = [0x87, 0x00, 0x00, 0x07];

    /// Lets the probe run; `line` gives what comes in answer to the ping with this number, or, 0, unasked. Returns
    /// the mode, the pings sent, and the milliseconds it took.
    fn probe(mut line: impl FnMut(u8) -> Vec<u8>) -> (LineMode, u8, u64) {
        let mut probe = Probe::new();
        let (mut now, mut pings) = (START, 0);
        probe.handle_opened(now);
        loop {
            probe.handle_bytes(now + Duration::from_millis(700), &line(pings));
            if let Some(mode) = probe.poll_mode() {
                assert_eq!(probe.poll_deadline(), None);
                return (
                    mode,
                    pings,
                    now.saturating_duration_since(START).as_millis() as u64,
                );
            }
            now = probe.poll_deadline().unwrap();
            probe.handle_deadline(now);
            while let Some(bytes) = probe.poll_transmit(now) {
                assert_eq!(bytes, PING);
                pings += 1;
                now = now + Duration::from_millis(4);
                probe.handle_sent(now, &bytes);
            }
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
        assert_eq!((mode, pings), (LineMode::Single, PINGS));
        assert!(millis < 5000, "{millis}");
    }

    #[test]
    fn one_answer_makes_a_bus() {
        let (mode, pings, _) = probe(|ping| if ping == 1 { answer(1025) } else { Vec::new() });
        assert_eq!((mode, pings), (LineMode::Bus, 1));
    }

    #[test]
    fn the_ping_that_only_switches_back_is_followed_by_another() {
        let (mode, pings, _) = probe(|ping| if ping == 2 { answer(7) } else { Vec::new() });
        assert_eq!((mode, pings), (LineMode::Bus, 2));
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
                        prop_assert_eq!(&bytes[..], &PING[..]);
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
            prop_assert!(decided && now <= START + Duration::from_secs(6));
        }
    }
}
