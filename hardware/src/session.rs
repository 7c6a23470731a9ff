//! A single board on a port: decodes its bytes into observations and decides which commands to send.

mod listener;
mod question;
mod settings;
mod watch;
mod writer;

use core::time::Duration;

use kiebitz_protocol::Counters;

use crate::observation::Observed;
use crate::time::Timestamp;
use listener::SessionListener;
pub use settings::SessionSettings;
use writer::SessionWriter;

/// State machine for a single board on a port. Takes bytes and times, and returns observations. If it drives the board,
/// it also returns the bytes to write.
///
/// It never reads a clock and performs no I/O. Observations result only from opening, closing and the bytes of both
/// directions; deadlines lead only to writes and to closing the port. Therefore a replay of the recorded bytes makes
/// the same observations.
///
/// In a replay, the session listens:
///
/// ```
/// use kiebitz_hardware::{Observation, Session, Timestamp};
///
/// let mut session = Session::new();
/// let now = Timestamp::from_micros(1_000_000);
/// session.handle_opened(now);
/// session.handle_bytes(now, &[0x8e, 0x00, 0x05, 52, 0x00]); // the e2 field has become empty
/// assert_eq!(session.poll_observation().map(|o| o.observation), Some(Observation::Opened));
/// assert!(matches!(
///     session.poll_observation().map(|o| o.observation),
///     Some(Observation::Field { update, .. }) if update.field.number() == 52 && update.contents.is_none()
/// ));
/// ```
///
/// On a live port, the driver polls the session until the session closes the port:
///
/// ```
/// use kiebitz_hardware::{Session, SessionSettings, Timestamp};
///
/// let mut session = Session::keeping(SessionSettings::default());
/// session.handle_opened(Timestamp::from_micros(0));
/// let mut asked = Vec::new();
/// let reason = loop {
///     let now = session.poll_deadline().expect("an open port is never left alone");
///     session.handle_deadline(now);
///     while let Some(bytes) = session.poll_transmit(now) {
///         session.handle_sent(now, &bytes); // written to a port without a board
///         asked.extend(bytes);
///     }
///     if let Some(reason) = session.poll_close() {
///         session.handle_closed(now, &reason);
///         break reason;
///     }
/// };
/// assert_eq!(asked, [0x4d; 8]);
/// assert!(reason.starts_with("no board answers"));
/// ```
#[derive(Debug, Default)]
pub struct Session {
    listener: SessionListener,
    writer: Option<SessionWriter>,
}

impl Session {
    /// Maximum time for which the session waits for an answer. The longest answer, a full memory, takes 8.3 s on the
    /// line. A damaged answer is requested again within this time.
    pub const MAX_ANSWER_TIME: Duration = question::MAX_ANSWER_TIME;

    /// Creates a session that only listens. The port is not open yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a session that drives its board. The port is not open yet.
    ///
    /// After every opening, it requests the board's version and serial numbers, switches the board to update-nice mode,
    /// and requests clock and dump. After that it requests
    ///
    /// - a dump when the squares have been quiet after changes, after garbage, after a press without a change
    ///   before it, and once a minute;
    /// - the memory if reports were lost, or if the host asks for it ([`recall`](Self::recall));
    /// - a sign of life if the board has sent nothing for [`SessionSettings::silence`].
    ///
    /// If no board answers, [`poll_close`](Self::poll_close) returns a reason to close the port.
    #[must_use]
    pub fn keeping(settings: SessionSettings) -> Self {
        Self {
            writer: Some(SessionWriter::new(settings)),
            ..Self::default()
        }
    }

    /// Makes the session drive its board from the next opening on. Call while the port is closed.
    pub(crate) fn keep(&mut self, settings: SessionSettings) {
        self.writer = Some(SessionWriter::new(settings));
    }

    /// Returns the counters of the decoder since the session was created.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.listener.counters()
    }

    /// Handles the opening of the port.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.listener.handle_opened(now);
        if let Some(writer) = &mut self.writer {
            writer.handle_opened(now);
        }
    }

    /// Handles the closing of the port for this reason.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.listener.handle_closed(now, reason);
        if let Some(writer) = &mut self.writer {
            writer.handle_closed();
        }
    }

    /// Handles bytes received from the board.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        let Self { listener, writer } = self;
        let Some(writer) = writer else {
            listener.handle_bytes(now, bytes, |_| {});
            return;
        };
        listener.handle_bytes(now, bytes, |decoded| writer.handle_decoded(now, decoded));
        if listener.mid_message() {
            writer.handle_partial(now);
        }
    }

    /// Handles bytes written to the board: bytes from [`poll_transmit`](Self::poll_transmit), or recorded bytes in a
    /// replay.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        self.listener.handle_sent(now, bytes);
        if let Some(writer) = &mut self.writer {
            writer.handle_sent(now);
        }
    }

    /// Handles all deadlines up to `now`.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        if let Some(writer) = &mut self.writer {
            writer.handle_deadline(now);
        }
    }

    /// Returns the time for the next [`handle_deadline`](Self::handle_deadline) if no bytes arrive earlier, or `None`
    /// if there is no deadline.
    ///
    /// After `handle_deadline`, the deadline is later than `now`, or `None` until the bytes to write have been taken
    /// with [`poll_transmit`](Self::poll_transmit).
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.writer.as_ref()?.poll_deadline()
    }

    /// Returns the bytes to write now: at most 10, the size of the board's input buffer. After writing, pass them to
    /// [`handle_sent`](Self::handle_sent).
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.writer.as_mut()?.poll_transmit(now)
    }

    /// Returns once the reason why the port should be closed, as a text for users. The driver closes the port, calls
    /// [`handle_closed`](Self::handle_closed) with this reason, and may reopen the port at any time.
    #[must_use]
    pub fn poll_close(&mut self) -> Option<String> {
        self.writer.as_mut()?.poll_close()
    }

    /// Shows a text on the clock's display for [`SessionSettings::text_time`]: its first 8 characters, in lower case.
    /// Replaces a text that has not been sent yet.
    ///
    /// Must not be called during a game. Has no effect without a clock, on a closed port or in a session that only
    /// listens. Only the DGT 3000 shows the text.
    pub fn show(&mut self, now: Timestamp, text: &str) {
        if let Some(writer) = &mut self.writer {
            writer.show(now, text);
        }
    }

    /// Sets whether the host wants the board's memory, which holds the changes that were made while the port was closed.
    ///
    /// If wanted, the memory is read once, after the first dump. It is not read after every opening, because the answer takes
    /// up to 8.3 s, in which the board reports nothing, and rarely holds more than the first dump shows. Closing the port
    /// resets the wish. Has no effect in a session that only listens, or whose settings forbid reading the memory.
    pub fn recall(&mut self, now: Timestamp, wanted: bool) {
        if let Some(writer) = &mut self.writer {
            writer.recall(now, wanted);
        }
    }

    /// Returns the next observation, in the order of arrival.
    #[must_use]
    pub fn poll_observation(&mut self) -> Option<Observed> {
        self.listener.poll_observation()
    }
}

#[cfg(test)]
mod tests;
