//! A port in bus mode: many boards on one line, polled in turn.
//!
//! # Cost of a round
//!
//! At 9600 baud a byte takes 1.04 ms. A query has 4 bytes (4.2 ms). A board needs some milliseconds to begin its
//! answer (5 ms in this table), and up to 20 ms while it writes its memory. A USB converter delivers bytes every 16 ms.
//!
//! | query | answer | usual | worst |
//! | --- | --- | --- | --- |
//! | changes, when there are none | 6 bytes, 6.3 ms | 31 ms | 46 ms |
//! | changes, with a move and a press (4 fields, a time) | 17 bytes, 17.7 ms | 43 ms | 58 ms |
//! | clock | 13 bytes, 13.5 ms | 39 ms | 54 ms |
//! | board | 70 bytes, 72.9 ms | 98 ms | 113 ms |
//! | changes, clock and board in one | 89 bytes, 92.7 ms | 118 ms | 133 ms |
//!
//! Querying 30 boards for changes and clock takes 30 · (31 + 39) ms = 2.1 s. With the combined query it would take
//! 3.5 s, so the combined query is used only when a dump is due: it is 50 ms faster than three separate queries.
//!
//! After 1.9 s, a round queries its remaining boards for changes only, and the next round begins with the first of
//! these boards. The worst round takes 2.9 s, if every board has moved and every answer comes late: 17 boards get both
//! queries in 1.9 s, the last of them the combined query (0.1 s more), 13 are queried for changes (0.8 s), one is
//! silenced (see below) and one absent board is pinged (0.1 s). Each damaged answer after the 1.9 s adds 0.2 s. The
//! tests measure these times: 30 boards that answer after 2 ms need 1.6 to 2.5 s, boards that always take 20 ms at most
//! 2.9 s.
//!
//! Rounds begin at least 250 ms apart. With few boards, each board is queried for its changes 4 times a second, and for
//! its clock in every other round, as often as the board itself polls its clock.
//!
//! # No change lost, none duplicated
//!
//! A board forgets changes once it has reported them, but repeats its last report on request. If an answer with changes
//! is damaged or missing, the poller sends a ping. The answer to the ping comes after all answers still in transit, so
//! late changes are still recognized. Then the poller requests a repeat. A board that did not receive the first query
//! repeats an earlier report, which is dropped. An earlier report is recognized by its bytes: a square cannot change to
//! the same contents twice in a row, so changes equal to the previous ones are the previous ones. The only exception is
//! a piece lifted and set down on its square, with no other change, which can occur twice in a row. Such a report is
//! dropped only if no answer to the first query was detected, and a dump is requested.
//!
//! The first query to a newly found board requests a repeat. The answer is the board's last report to another host and
//! is dropped. Then the board is queried for all changes since. A repeat is also requested after the board was absent
//! or the port was closed. If the repeated report differs from the last one received, the board answered a query but
//! the answer was not recorded, for example because the daemon was killed at that moment. The repeated report is then
//! processed like a new one.
//!
//! # Boards that come and go
//!
//! After the port has been opened, the poller sends a broadcast ping and silences the boards that answer (commands them
//! to ignore the next ping), and repeats both until no board answers. With 30 boards this takes 3 to 5 pings in 5 to
//! 10 s; meanwhile the boards remember their changes. Later, a few boards are silenced in each round. When all are
//! silenced, a broadcast ping is sent between ordinary queries, and boards that have joined answer it. If such an
//! answer collides with another board's, that board is queried again, and the next search finds the new board. A board
//! counts as absent after 5 queries and 5 s without a valid answer; one absent board is pinged every second.
//!
//! The poller never commands a board to leave bus mode, to reset or to begin a game, and sends no single-board command.
//! A board with the serial number 0 has the broadcast address and cannot be queried. The answers of two boards with the
//! same number always collide.

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

/// Settings for polling a bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusSettings {
    /// Minimum time between the starts of two rounds.
    pub round_period: Duration,
    /// Interval of routine dumps, if no change seems to be missing.
    pub dump_period: Duration,
    /// Whether to leave the boards' changes to another host. A board forgets changes once it has reported them, so such
    /// a line queries only version, dump and clock.
    pub leave_changes: bool,
}

impl BusSettings {
    /// Returns settings for inspecting boards without consuming the changes for the host that follows the games: 2
    /// rounds a second, each with a dump of every board.
    #[must_use]
    pub fn peeking() -> Self {
        Self {
            round_period: Duration::from_millis(500),
            // Shorter than `round_period`, so that each round includes a dump.
            dump_period: Duration::from_millis(250),
            leave_changes: true,
        }
    }
}

impl Default for BusSettings {
    /// 4 rounds a second and a dump every minute.
    fn default() -> Self {
        Self {
            round_period: Duration::from_millis(250),
            dump_period: Duration::from_secs(60),
            leave_changes: false,
        }
    }
}

/// Counters and times of a bus since the [`BusLine`] was created. Without polling there are no rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BusFigures {
    /// Queries to single boards that were answered.
    pub answers: u64,
    /// Queries to single boards.
    pub questions: u64,
    /// Queries to repeat the last changes, including those to newly found boards.
    pub repeats: u64,
    /// Queries to single boards without any answer.
    pub silent: u64,
    /// Queries to single boards whose answer could not be decoded.
    pub damaged: u64,
    /// Broadcast pings.
    pub sweeps: u64,
    /// Completed rounds. Every present board is polled once in a round.
    pub rounds: u64,
    /// Duration of the last round, without the pause after it.
    pub last_round: Duration,
    /// Duration of the longest round.
    pub longest_round: Duration,
}

/// State machine for all boards on one line in bus mode. Takes bytes and times, and returns observations of each board
/// and the next query to write.
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
    /// Whether `poll_transmit` has returned a command that `handle_sent` has not confirmed yet.
    unconfirmed: bool,
    closing: Closing,
}

/// Whether the port must be closed.
#[derive(Debug, Default, PartialEq, Eq)]
enum Closing {
    #[default]
    No,
    Wanted,
    Returned,
}

impl BusLine {
    /// Creates a line that only listens to the queries of another host and their answers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a line that finds and polls its boards.
    #[must_use]
    pub fn polling(settings: BusSettings) -> Self {
        Self {
            poller: Some(Poller::new(settings)),
            ..Self::default()
        }
    }

    /// Enables polling from the next opening on. Call while the port is closed.
    pub(crate) fn poll(&mut self, settings: BusSettings) {
        self.poller = Some(Poller::new(settings));
    }

    /// Returns the counters and times so far.
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

    /// Returns the addresses of the present boards, in ascending order.
    pub fn boards(&self) -> impl Iterator<Item = BusAddress> + '_ {
        self.listener.present().map(|(address, _)| address)
    }

    /// Returns whether any board has ever answered.
    pub(crate) fn knows_boards(&self) -> bool {
        self.listener.boards().next().is_some()
    }

    /// Handles the opening of the port.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.listener.handle_opened();
        self.open_since = Some(now);
        self.unconfirmed = false;
        self.closing = Closing::No;
        if let Some(poller) = &mut self.poller {
            poller.handle_opened(now);
        }
    }

    /// Handles the closing of the port. `reason` becomes part of the observations of all present boards.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.listener.handle_closed(now, reason);
        self.open_since = None;
    }

    /// Handles bytes received from the boards.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.listener.handle_bytes(now, bytes);
    }

    /// Handles bytes that were written to the port.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        self.unconfirmed = false;
        self.listener.handle_sent(now, bytes);
    }

    /// Checks whether the port must be closed. Call at the time given by [`poll_deadline`](Self::poll_deadline), and
    /// then call [`poll_transmit`](Self::poll_transmit) and [`poll_close`](Self::poll_close).
    pub fn handle_deadline(&mut self, now: Timestamp) {
        let Some(opened) = self.open_since.filter(|_| self.poller.is_some()) else {
            return;
        };
        let last_answer = self.listener.answered_at.map_or(opened, |at| at.max(opened));
        if self.closing == Closing::No && now.saturating_duration_since(last_answer) >= MAX_SILENCE {
            self.closing = Closing::Wanted;
        }
    }

    /// Returns the time for the next [`handle_deadline`](Self::handle_deadline) and
    /// [`poll_transmit`](Self::poll_transmit) if no input comes earlier, or `None` if there is no deadline.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let poller = self.ready_poller()?;
        Some(poller.ready_at(&self.listener))
    }

    /// Returns the next query to write. The following query is available after [`handle_sent`](Self::handle_sent) has
    /// confirmed this one and its answer has arrived or timed out.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.ready_poller()?;
        let command = self.poller.as_mut()?.next(now, &self.listener)?;
        self.unconfirmed = true;
        Some(command.encode().to_vec())
    }

    /// Returns the reason to close the port if no board has answered for 30 s, because the line may no longer be a bus.
    /// Returns the reason only once.
    #[must_use]
    pub fn poll_close(&mut self) -> Option<String> {
        (self.closing == Closing::Wanted).then(|| {
            self.closing = Closing::Returned;
            NO_ANSWER.to_owned()
        })
    }

    /// Returns the next observation and its board, in the order of arrival.
    #[must_use]
    pub fn poll_observation(&mut self) -> Option<(BusAddress, Observed)> {
        self.listener.poll_observation()
    }

    /// Returns the poller if it may send a query now.
    fn ready_poller(&self) -> Option<&Poller> {
        let ready = self.open_since.is_some() && !self.unconfirmed && self.closing == Closing::No;
        self.poller.as_ref().filter(|_| ready)
    }
}

/// Time without any answer after which the port is closed.
const MAX_SILENCE: Duration = Duration::from_secs(30);
const NO_ANSWER: &str = "no board has answered on the bus for 30 s";

#[cfg(test)]
mod tests;
