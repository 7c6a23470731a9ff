//! A state machine for lines of any kind, which detects the mode of the boards and then polls them.

use kiebitz_protocol::{BusAddress, Counters};

use crate::bus::{BusFigures, BusLine, BusSettings};
use crate::capture::LineMode;
use crate::observation::Observed;
#[cfg(all(feature = "port", target_os = "linux"))]
use crate::port::PortKind;
use crate::probe::{Probe, ProbeSettings};
use crate::session::{Session, SessionSettings};
use crate::time::Timestamp;

/// The place of a board on its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Place {
    /// The only board of its line, in single-board mode.
    Alone,
    /// A board on a bus, at this address.
    At(BusAddress),
}

/// Settings of a line; see [`Line::keeping`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSettings {
    /// Mode of the boards. If `None`, the default, a [`Probe`] detects the mode whenever the port is opened.
    pub mode: Option<LineMode>,
    /// Mode of the line if no board answers the probe. By default a single board, because old boards have no bus mode.
    pub unanswered: LineMode,
    /// Settings of the session with a single board.
    pub session: SessionSettings,
    /// Settings of the bus.
    pub bus: BusSettings,
}

impl Default for LineSettings {
    fn default() -> Self {
        Self {
            mode: None,
            unanswered: LineMode::Single,
            session: SessionSettings::default(),
            bus: BusSettings::default(),
        }
    }
}

impl LineSettings {
    /// Returns the default settings for a line with a known mode.
    #[must_use]
    pub fn of(mode: LineMode) -> Self {
        Self {
            mode: Some(mode),
            ..Self::default()
        }
    }

    /// Returns the settings for a port of this kind. `mode` is the configured mode, if any.
    ///
    /// A port is probed if it may lead to a bus and its mode is not configured. A port configured as a bus is also
    /// probed, because single-board mode is better for a single board. On a Bluetooth link the battery is queried too.
    #[cfg(all(feature = "port", target_os = "linux"))]
    #[must_use]
    pub fn for_port(kind: PortKind, mode: Option<LineMode>) -> Self {
        let mode = mode.or_else(|| (!kind.needs_probe()).then_some(LineMode::Single));
        let session = match kind {
            PortKind::Bluetooth => SessionSettings::with_battery(),
            _ => SessionSettings::default(),
        };
        Self {
            mode: mode.filter(|mode| *mode == LineMode::Single),
            unanswered: mode.unwrap_or(LineMode::Single),
            session,
            bus: BusSettings::default(),
        }
    }

    /// Returns settings for a host that only identifies the boards while another host follows the games. Such a line
    /// reads no memory, and neither switches the mode of the boards on a bus nor consumes their changes.
    #[must_use]
    pub fn peeking(self) -> Self {
        let session = SessionSettings {
            read_memory: false,
            ..self.session
        };
        Self {
            mode: self
                .mode
                .or_else(|| (self.unanswered == LineMode::Bus).then_some(LineMode::Bus)),
            session,
            bus: BusSettings::peeking(),
            ..self
        }
    }

    fn probe(&self) -> ProbeSettings {
        ProbeSettings {
            unanswered: self.unanswered,
            lone: if self.bus.leave_changes {
                LineMode::Bus
            } else {
                LineMode::Single
            },
        }
    }
}

/// State machine for a line. Takes bytes and times, and returns observations with the place of their board, and the
/// next bytes to write.
///
/// A line uses a [`Probe`] until the mode of the boards is known, then a [`Session`] or a [`BusLine`], and is driven in
/// the same way as these. The state of the boards of a bus is kept while the port is closed, during probes, and while
/// the line is in single-board mode.
///
/// ```
/// use kiebitz_hardware::capture::LineMode;
/// use kiebitz_hardware::{Line, LineSettings, Place, Timestamp};
///
/// let mut line = Line::keeping(LineSettings::default());
/// let opened = Timestamp::from_micros(0);
/// line.handle_opened(opened);
/// assert_eq!(line.mode(), LineMode::Unknown);
///
/// // It listens first, then pings every board of a bus; two answer.
/// let now = line.poll_deadline().expect("the ping is due");
/// let ping = line.poll_transmit(now).expect("a ping");
/// line.handle_sent(now, &ping);
/// line.handle_bytes(now, &[0x87, 0x00, 0x06, 0x08, 0x01, 0x16]);
/// line.handle_bytes(now, &[0x87, 0x00, 0x06, 0x08, 0x02, 0x17]);
/// assert_eq!(line.poll_mode(), Some(LineMode::Bus));
///
/// // From here on it polls the boards of the bus.
/// assert_eq!(line.mode(), LineMode::Bus);
/// assert!(line.poll_transmit(now).is_some());
/// ```
#[derive(Debug)]
pub struct Line {
    /// `None` if the line only listens.
    settings: Option<LineSettings>,
    phase: LinePhase,
    session: Box<Session>,
    bus: Box<BusLine>,
    open: bool,
    /// The mode found by the probe, until [`Line::poll_mode`] returns it.
    found: Option<LineMode>,
}

/// The state machine that handles the input of the line.
#[derive(Debug)]
enum LinePhase {
    Probing(Box<Probe>),
    Known(LineMode),
}

/// Makes a call on the state machine that is active in the current [`LinePhase`].
macro_rules! dispatch {
    ($line:expr, $inner:ident => $call:expr) => {
        match &mut $line.phase {
            LinePhase::Probing($inner) => $call,
            LinePhase::Known(LineMode::Single) => {
                let $inner = &mut $line.session;
                $call
            }
            LinePhase::Known(LineMode::Bus) => {
                let $inner = &mut $line.bus;
                $call
            }
            LinePhase::Known(LineMode::Unknown) => {}
        }
    };
}

impl Line {
    /// Reason of the close that the recorder of a line writes after a probe. An open in the detected mode follows
    /// immediately, so that a replay creates new state at the same point as the live line.
    pub const PROBED: &str = "probed";

    /// Returns a line that only listens, for a replay. It never returns bytes to write.
    #[must_use]
    pub fn listening(mode: LineMode) -> Self {
        Self {
            settings: None,
            phase: LinePhase::Known(mode),
            session: Box::default(),
            bus: Box::default(),
            open: false,
            found: None,
        }
    }

    /// Returns a line that queries its boards. Its port is not open yet.
    #[must_use]
    pub fn keeping(settings: LineSettings) -> Self {
        let mut line = Self::listening(LineMode::Single);
        line.keep(settings);
        line
    }

    /// Makes a closed line query its boards from the next opening on. The state of the boards is kept.
    pub fn keep(&mut self, settings: LineSettings) {
        self.phase = match settings.mode {
            Some(mode) => LinePhase::Known(mode),
            None => LinePhase::Probing(Box::new(Probe::with(settings.probe()))),
        };
        let mut session = settings.session.clone();
        session.shared |= settings.mode.is_none();
        self.session.keep(session);
        self.bus.poll(settings.bus.clone());
        self.settings = Some(settings);
    }

    /// Sets the mode of the recorded bytes that follow in a replay.
    pub fn listen_as(&mut self, mode: LineMode) {
        self.phase = LinePhase::Known(mode);
    }

    /// Returns the mode of the boards.
    #[must_use]
    pub fn mode(&self) -> LineMode {
        match self.phase {
            LinePhase::Probing(_) => LineMode::Unknown,
            LinePhase::Known(mode) => mode,
        }
    }

    /// Returns whether the line has ever had boards in bus mode.
    #[must_use]
    pub fn knows_a_bus(&self) -> bool {
        self.bus.knows_boards()
    }

    /// Returns whether the port is open. Received bytes also count as an opening, because a capture may start while the
    /// port is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the counters of the decoder, or `None` if the line is not in single-board mode.
    #[must_use]
    pub fn counters(&self) -> Option<&Counters> {
        (self.mode() == LineMode::Single).then(|| self.session.counters())
    }

    /// Returns the figures of the bus, or `None` if the line is not in bus mode.
    #[must_use]
    pub fn figures(&self) -> Option<BusFigures> {
        (self.mode() == LineMode::Bus).then(|| self.bus.figures())
    }

    /// Shows a text on the clock's display; see [`Session::show`]. Does nothing on a bus, where clocks cannot be
    /// reached.
    pub fn show(&mut self, now: Timestamp, text: &str) {
        if self.mode() == LineMode::Single {
            self.session.show(now, text);
        }
    }

    /// Sets whether the memory of the single board is wanted; see [`Session::recall`]. Has no effect on a bus, where boards
    /// report past changes when they are polled.
    pub fn recall(&mut self, now: Timestamp, wanted: bool) {
        if self.mode() == LineMode::Single {
            self.session.recall(now, wanted);
        }
    }

    /// Handles the opening of the port. A line without a known mode is probed again, because another device may have
    /// been plugged in.
    pub fn handle_opened(&mut self, now: Timestamp) {
        if let Some(settings) = self.settings.as_ref().filter(|settings| settings.mode.is_none()) {
            self.phase = LinePhase::Probing(Box::new(Probe::with(settings.probe())));
        }
        self.open = true;
        dispatch!(self, machine => machine.handle_opened(now));
    }

    /// Handles the closing of the port. Does nothing if the port was not open.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        if core::mem::take(&mut self.open) {
            dispatch!(self, machine => machine.handle_closed(now, reason));
        }
    }

    /// Handles received bytes.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.open = true;
        dispatch!(self, machine => machine.handle_bytes(now, bytes));
        self.follow_probe(now);
    }

    /// Handles written bytes: bytes from [`poll_transmit`](Self::poll_transmit), or recorded bytes in a replay.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        dispatch!(self, machine => machine.handle_sent(now, bytes));
    }

    /// Handles all deadlines up to `now`, each at its own time.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        // The deadline of a bus does not change until `poll_transmit` takes the query, so stop if it repeats.
        let mut last = None;
        while let Some(deadline) = self.poll_deadline().filter(|deadline| *deadline <= now)
            && last.replace(deadline) != Some(deadline)
        {
            dispatch!(self, machine => machine.handle_deadline(deadline));
            self.follow_probe(now);
        }
    }

    /// Returns the time for the next [`handle_deadline`](Self::handle_deadline) if no bytes arrive earlier, or `None`
    /// if there is no deadline.
    ///
    /// The deadline may not change until [`poll_transmit`](Self::poll_transmit) has taken the bytes to write.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        match &self.phase {
            LinePhase::Probing(probe) => probe.poll_deadline(),
            LinePhase::Known(LineMode::Single) => self.session.poll_deadline(),
            LinePhase::Known(LineMode::Bus) => self.bus.poll_deadline(),
            LinePhase::Known(LineMode::Unknown) => None,
        }
    }

    /// Returns the next bytes to write. After writing, pass them to [`handle_sent`](Self::handle_sent).
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        match &mut self.phase {
            LinePhase::Probing(probe) => probe.poll_transmit(now),
            LinePhase::Known(LineMode::Single) => self.session.poll_transmit(now),
            LinePhase::Known(LineMode::Bus) => self.bus.poll_transmit(now),
            LinePhase::Known(LineMode::Unknown) => None,
        }
    }

    /// Returns once the reason why the port should be closed, as a text for users; see [`Session::poll_close`].
    #[must_use]
    pub fn poll_close(&mut self) -> Option<String> {
        match self.mode() {
            LineMode::Single => self.session.poll_close(),
            LineMode::Bus => self.bus.poll_close(),
            LineMode::Unknown => None,
        }
    }

    /// Returns the mode found by the probe, once. Record the bytes after this call with the returned mode, and the
    /// bytes before with [`LineMode::Unknown`].
    #[must_use]
    pub fn poll_mode(&mut self) -> Option<LineMode> {
        self.found.take()
    }

    /// Returns the next observation with the place of its board, in the order of arrival.
    #[must_use]
    pub fn poll_observation(&mut self) -> Option<(Place, Observed)> {
        match self.mode() {
            LineMode::Unknown => None,
            LineMode::Single => Some((Place::Alone, self.session.poll_observation()?)),
            LineMode::Bus => {
                let (address, observed) = self.bus.poll_observation()?;
                Some((Place::At(address), observed))
            }
        }
    }

    /// Switches to the mode found by the probe, if the probe has finished.
    fn follow_probe(&mut self, now: Timestamp) {
        let LinePhase::Probing(probe) = &mut self.phase else {
            return;
        };
        let Some(mode) = probe.poll_mode() else { return };
        self.phase = LinePhase::Known(mode);
        self.found = Some(mode);
        dispatch!(self, machine => machine.handle_opened(now));
    }
}

#[cfg(test)]
mod tests;
