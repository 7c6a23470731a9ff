//! One board on one port: from its bytes to observations, and what it is asked.

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
pub use watch::Recall;
use writer::SessionWriter;

/// One board on one port: a state machine that is given bytes and time and returns observations and, if it keeps the
/// board, what to write.
///
/// It never reads a clock and never opens anything. Observations come only from opening, closing and the bytes of both
/// directions; deadlines lead to writes and to giving the port up, nothing else. So a replay that hands in the
/// recorded bytes in the same way observes the same.
///
/// A replay listens:
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
/// A live port is driven until it is given up:
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
    /// An answer is given up after this time. The longest is that of a full memory, which takes 8.3 s on the line; one
    /// that comes damaged is asked for again within this time.
    pub const MAX_ANSWER_TIME: Duration = question::MAX_ANSWER_TIME;

    /// A session that only listens, with a port that has not been opened yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A session that keeps its board answering, with a port that has not been opened yet.
    ///
    /// After every opening it asks who the board is, puts it into update-nice mode, and asks for clock and dump. Then it
    /// asks for a dump when the squares have become quiet, after garbage, after a press without a change before it and
    /// once a minute, for the memory if reports were lost or the host wants it ([`recall`](Self::recall)) and the squares
    /// are quiet, and for a sign of life when the board has sent nothing for a while. A port from which no board answers is given up ([`poll_close`](Self::poll_close)).
    #[must_use]
    pub fn keeping(settings: SessionSettings) -> Self {
        Self {
            writer: Some(SessionWriter::new(settings)),
            ..Self::default()
        }
    }

    /// Keeps the board answering from the next opening on; the port is closed.
    pub(crate) fn keep(&mut self, settings: SessionSettings) {
        self.writer = Some(SessionWriter::new(settings));
    }

    /// What was decoded and what was dropped since the session began.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.listener.counters()
    }

    /// The port was opened.
    pub fn handle_opened(&mut self, now: Timestamp) {
        self.listener.handle_opened(now);
        if let Some(writer) = &mut self.writer {
            writer.handle_opened(now);
        }
    }

    /// The port is gone.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        self.listener.handle_closed(now, reason);
        if let Some(writer) = &mut self.writer {
            writer.handle_closed();
        }
    }

    /// Bytes came from the board.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        let Self { listener, writer } = self;
        let Some(writer) = writer else {
            listener.handle_bytes(now, bytes, |_| {});
            return;
        };
        listener.handle_bytes(now, bytes, |decoded| writer.hear(now, decoded));
        if listener.mid_message() {
            writer.hear_part(now);
        }
    }

    /// Bytes were written to the board: live the driver hands back what it wrote, in a replay the recorded ones.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        self.listener.handle_sent(now, bytes);
        if let Some(writer) = &mut self.writer {
            writer.handle_sent(now);
        }
    }

    /// A deadline has come.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        if let Some(writer) = &mut self.writer {
            writer.handle_deadline(now);
        }
    }

    /// When [`handle_deadline`](Self::handle_deadline) is due unless bytes come before; `None`: never.
    ///
    /// After `handle_deadline` it is later than the time handed in, or `None` until the write that became due has been
    /// taken with [`poll_transmit`](Self::poll_transmit).
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        self.writer.as_ref()?.poll_deadline()
    }

    /// What is to be written now: at most 10 bytes, as much as the board's input buffer holds. To be handed back to
    /// [`handle_sent`](Self::handle_sent) once it is written.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        self.writer.as_mut()?.poll_transmit(now)
    }

    /// Why the session gives the port up, returned once, in words for people. The driver closes the port, calls
    /// [`handle_closed`](Self::handle_closed) with this reason, and opens it again when it sees fit.
    #[must_use]
    pub fn poll_close(&mut self) -> Option<String> {
        self.writer.as_mut()?.poll_close()
    }

    /// Shows a text on the clock's display for [`SessionSettings::text_time`]: its first 8 characters, in small
    /// letters. A text that has not been sent yet is replaced.
    ///
    /// Only for setting up, never during a game; the caller has to ensure that. Nothing happens without a clock,
    /// on a closed port, or in a session that only listens. Clocks other than the DGT 3000 do not show it.
    pub fn show(&mut self, now: Timestamp, text: &str) {
        if let Some(writer) = &mut self.writer {
            writer.show(now, text);
        }
    }

    /// Sets when the board's memory is to be read, which holds the plies that were played while the board was not heard.
    /// The memory is read once after that. Closing the port sets [`Recall::No`]. Has no effect in a session that only
    /// listens, or whose settings forbid reading the memory.
    pub fn recall(&mut self, now: Timestamp, recall: Recall) {
        if let Some(writer) = &mut self.writer {
            writer.recall(now, recall);
        }
    }

    /// The next observation, in the order of arrival.
    #[must_use]
    pub fn poll_observation(&mut self) -> Option<Observed> {
        self.listener.poll_observation()
    }
}

#[cfg(test)]
mod tests;
