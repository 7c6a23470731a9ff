//! A port in bus mode: many boards on one line, asked in turn.
//!
//! # What a round costs
//!
//! At 9600 baud a byte takes 1.04 ms. A question has 4 bytes (4.2 ms). A board needs milliseconds to begin its answer,
//! say 5, and up to 20 while it writes its memory. A USB converter hands over what it has every 16 ms. So:
//!
//! | question | answer | usual | worst |
//! | --- | --- | --- | --- |
//! | changes, when there are none | 6 bytes, 6.3 ms | 31 ms | 46 ms |
//! | changes, with a move and a press (4 fields, a time) | 17 bytes, 17.7 ms | 43 ms | 58 ms |
//! | clock | 13 bytes, 13.5 ms | 39 ms | 54 ms |
//! | board | 70 bytes, 72.9 ms | 98 ms | 113 ms |
//! | changes, clock and board in one | 89 bytes, 92.7 ms | 118 ms | 133 ms |
//!
//! 30 boards, each asked for changes and clock: 30 · (31 + 39) ms = 2.1 s. With all in one it would be 3.5 s, so that
//! question is used only when a dump is due: then it saves 50 ms over three questions.
//!
//! A round that has lasted 1.9 s asks the rest of its boards for changes only, and the next round begins with the
//! first board that got no more. So at worst, every board having moved and every answer coming late, 17 boards are
//! asked for both in 1.9 s, the last of them for all in one (0.1 s more), 13 for changes (0.8 s), one is silenced (see
//! below) and one that has left is called (0.1 s): 2.9 s. Damaged answers come on top, at 0.2 s each where they strike
//! after the 1.9 s. The tests measure it: 30 boards that answer after 2 ms need 1.6 to 2.5 s, boards that always
//! take 20 ms at most 2.9 s.
//!
//! A round does not begin earlier than 250 ms after the one before: with few boards each is asked for its changes 4
//! times a second and for its clock every other time, as often as the board itself asks its clock.
//!
//! # Nothing lost, nothing doubled
//!
//! A board forgets changes once it has reported them, but repeats its last report on request. When an answer with
//! changes is damaged or missing, the board gets a ping. Its answer comes after all that is still on its way, so that
//! late changes are still recognized. Then it is asked to repeat. If the board did not even receive the question, it
//! repeats its earlier report, which is dropped. It is known by its bytes: no field can change to the same contents
//! twice in a row, so changes equal to those before them are the same ones. Only a piece lifted and set down where it
//! was, with nothing else, could really be the same report twice; it is dropped only when the line gave no sign of an
//! answer, and a dump is asked for.
//!
//! A board just found is first asked to repeat: what it last reported to another host is thus known, and dropped. Then
//! it is asked for all that came since. A board that is back, or whose line was opened again, is asked to repeat as well:
//! where that is not what it was last heard to report, a question was asked and answered and never noted, as by a daemon
//! that was killed in that moment. What the answer reports has not been heard then, and counts.
//!
//! # Boards that come and go
//!
//! After the port was opened all boards are pinged, those found are silenced, and this is repeated until none answers:
//! with 30 boards it takes 3 to 5 pings in 5 to 10 s, in which the boards remember what happens. Later they are
//! silenced a few per round; when all are, a ping to all goes out and the polling goes on. A board that joined answers
//! meanwhile. Its answer may collide with another; then that one is asked for again, and the new board is heard the
//! next time. A board that has given no valid answer to 5 questions and for 5 s has left; one of those is called every
//! second.
//!
//! No board is ever commanded to leave bus mode, to reset or to begin a game, and no single-board byte is sent. A board
//! with the serial number 0 has the broadcast address and cannot be asked; two boards with the same number only
//! collide.

use core::time::Duration;

use kiebitz_protocol::BusAddress;

use crate::observation::Observed;
use crate::time::Timestamp;
use listener::BusListener;
use poller::Poller;

mod board;
mod listener;
mod poller;
mod turn;

/// How a bus is polled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusSettings {
    /// The shortest time from the start of one round to that of the next.
    pub round_period: Duration,
    /// How often each board is asked for a dump though nothing seems to be missing.
    pub dump_period: Duration,
    /// Whether the boards keep their changes for another host. A board forgets changes once it has reported them, so
    /// none is asked for any, nor to repeat any: each is asked for version, dump and clock alone.
    pub leave_changes: bool,
}

impl BusSettings {
    /// For finding out what stands on the boards without taking anything from the host that follows the games: 2 rounds
    /// a second, each with a dump of every board.
    #[must_use]
    pub fn peeking() -> Self {
        Self {
            round_period: Duration::from_millis(500),
            // Less than a round, so that each round has one.
            dump_period: Duration::from_millis(250),
            leave_changes: true,
        }
    }
}

impl Default for BusSettings {
    /// 4 rounds a second, a dump every minute.
    fn default() -> Self {
        Self {
            round_period: Duration::from_millis(250),
            dump_period: Duration::from_secs(60),
            leave_changes: false,
        }
    }
}

/// What happened on a bus since it was made. Rounds are counted only when polling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusFigures {
    /// Questions to single boards that have been concluded with an answer.
    pub answers: u64,
    /// Questions to single boards.
    pub questions: u64,
    /// Questions to repeat the last changes, those to a board just found included.
    pub repeats: u64,
    /// Questions that were not answered at all.
    pub silent: u64,
    /// Questions whose answer could not be read.
    pub damaged: u64,
    /// Pings to all boards.
    pub sweeps: u64,
    /// Rounds in which every board was asked for its changes.
    pub rounds: u64,
    /// How long the last round took, without the pause after it.
    pub last_round: Duration,
    /// How long the longest round took.
    pub longest_round: Duration,
}

/// All boards on one line in bus mode: a state machine that is given bytes and time and returns observations of each
/// board, and the next question to write.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedBusSettings};
/// use kiebitz_hardware::{BusLine, BusSettings, Observation, Timestamp};
///
/// let mut now = Timestamp::from_micros(1_789_000_000_000_000);
/// let mut bus = EmulatedBus::new(now, EmulatedBusSettings::default());
/// bus.attach(now, EmulatedBoard::new(now, BoardSettings::default())).unwrap();
///
/// let mut line = BusLine::polling(BusSettings::default());
/// line.handle_opened(now);
/// let end = now + Duration::from_secs(10);
/// while now < end {
///     while let Some(bytes) = line.poll_transmit(now) {
///         bus.handle_bytes(now, &bytes);
///         line.handle_sent(now, &bytes);
///     }
///     now = [line.poll_deadline(), bus.poll_deadline()].into_iter().flatten().min().unwrap().max(now);
///     while let Some((at, bytes)) = bus.poll_transmit(now) {
///         line.handle_bytes(at, &bytes);
///     }
///     line.handle_deadline(now);
/// }
/// let (address, first) = line.poll_observation().unwrap();
/// assert_eq!((address.number(), first.observation), (42, Observation::Opened));
/// ```
#[derive(Debug, Default)]
pub struct BusLine {
    listener: BusListener,
    poller: Option<Poller>,
    open_since: Option<Timestamp>,
    /// A command was handed out and has not come back as sent.
    handed_out: bool,
    closing: Closing,
}

/// Whether the port has to be given up.
#[derive(Debug, Default, PartialEq, Eq)]
enum Closing {
    #[default]
    No,
    Wanted,
    Returned,
}

impl BusLine {
    /// A line that is only listened to: it hears another host's questions, and the answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A line whose boards are to be found and polled.
    #[must_use]
    pub fn polling(settings: BusSettings) -> Self {
        Self {
            poller: Some(Poller::new(settings)),
            ..Self::default()
        }
    }

    /// Finds and polls the boards from the next opening on; the port is closed.
    pub(crate) fn poll(&mut self, settings: BusSettings) {
        self.poller = Some(Poller::new(settings));
    }

    /// What happened so far.
    #[must_use]
    pub fn figures(&self) -> BusFigures {
        let figures = self.listener.figures;
        match &self.poller {
            None => figures,
            Some(poller) => BusFigures {
                rounds: poller.rounds,
                last_round: poller.last_round,
                longest_round: poller.longest_round,
                ..figures
            },
        }
    }

    /// The boards that are there, in the order of their addresses.
    pub fn boards(&self) -> impl Iterator<Item = BusAddress> + '_ {
        self.listener.present().map(|(address, _)| address)
    }

    /// Whether any board ever answered.
    pub(crate) fn knows_boards(&self) -> bool {
        self.listener.boards().next().is_some()
    }

    /// The port was opened.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.listener.handle_opened();
        self.open_since = Some(now);
        self.handed_out = false;
        self.closing = Closing::No;
        if let Some(poller) = &mut self.poller {
            poller.handle_opened(now);
        }
    }

    /// The port is gone, and all boards with it.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.listener.handle_closed(now, reason);
        self.open_since = None;
    }

    /// Bytes came from the boards.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.listener.handle_bytes(now, bytes);
    }

    /// Bytes were written to the port.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        self.handed_out = false;
        self.listener.handle_sent(now, bytes);
    }

    /// The time given by [`poll_deadline`](Self::poll_deadline) has come: [`poll_transmit`](Self::poll_transmit) or
    /// [`poll_close`](Self::poll_close) may have something.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        let Some(opened) = self.open_since.filter(|_| self.poller.is_some()) else {
            return;
        };
        let heard = self.listener.answered_at.map_or(opened, |at| at.max(opened));
        if self.closing == Closing::No && now.saturating_duration_since(heard) >= MAX_SILENCE {
            self.closing = Closing::Wanted;
        }
    }

    /// When to call [`handle_deadline`](Self::handle_deadline) and [`poll_transmit`](Self::poll_transmit) if nothing
    /// comes before; `None`: nothing is to be done before something comes.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let poller = self.asking()?;
        Some(poller.ready_at(&self.listener))
    }

    /// The next question to write. The one after it comes when [`handle_sent`](Self::handle_sent) has confirmed that it
    /// was written, and the answer has come or is given up.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.asking()?;
        let command = self.poller.as_mut()?.next(now, &self.listener)?;
        self.handed_out = true;
        Some(command.encode().to_vec())
    }

    /// Why the port is to be closed, returned once: no board has answered for half a minute. Perhaps the line is no bus
    /// any more.
    #[must_use]
    pub fn poll_close(&mut self) -> Option<String> {
        (self.closing == Closing::Wanted).then(|| {
            self.closing = Closing::Returned;
            NO_ANSWER.to_owned()
        })
    }

    /// The next observation with the board that it is of, in the order of arrival.
    #[must_use]
    pub fn poll_observation(&mut self) -> Option<(BusAddress, Observed)> {
        self.listener.poll_observation()
    }

    /// The poller, when it is free to ask.
    fn asking(&self) -> Option<&Poller> {
        let free = self.open_since.is_some() && !self.handed_out && self.closing == Closing::No;
        self.poller.as_ref().filter(|_| free)
    }
}

/// A port without any answer for this long is given up.
const MAX_SILENCE: Duration = Duration::from_secs(30);
const NO_ANSWER: &str = "no board has answered on the bus for 30 s";

#[cfg(test)]
mod tests;
