//! One machine for a line, whatever is on it: it finds out how the boards speak, then keeps them answering.

use kiebitz_protocol::{BusAddress, Counters};

use crate::bus::{BusFigures, BusLine, BusSettings};
use crate::capture::LineMode;
use crate::observation::Observed;
#[cfg(all(feature = "port", target_os = "linux"))]
use crate::port::PortKind;
use crate::probe::{Probe, ProbeSettings};
use crate::session::{Recall, Session, SessionSettings};
use crate::time::Timestamp;

/// Where on its line a board is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Place {
    /// It is the only board of its line.
    Alone,
    /// On a bus, at this address.
    At(BusAddress),
}

/// How a line is kept; see [`Line::keeping`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineSettings {
    /// How the boards speak; `None`, the default: a [`Probe`] finds out, at every opening.
    pub mode: Option<LineMode>,
    /// What the probe takes the line for when no board answers. By default a single board: old ones know no bus.
    pub unanswered: LineMode,
    /// How a single board is kept.
    pub session: SessionSettings,
    /// How a bus is polled.
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
    /// A line whose boards are known to speak in this mode, with everything else as by default.
    #[must_use]
    pub fn of(mode: LineMode) -> Self {
        Self {
            mode: Some(mode),
            ..Self::default()
        }
    }

    /// A line on a port of this kind. `mode` is what is on it, if that is configured.
    ///
    /// Only ports that may lead to a bus are probed; one that is said to be a bus is probed, too, for a board that turns
    /// out to be alone there is better kept as a single one. A board on a Bluetooth link is asked for its battery as
    /// well.
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

    /// The same line for a host that only wants to know what is there, while another follows the games: no memory is
    /// read, and the boards of a bus keep their mode and their changes.
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

/// A line: a state machine that is given bytes and time and returns observations with the place that they are of, and
/// the next bytes to write.
///
/// It is a [`Probe`] as long as it is not known how the boards speak, then a [`Session`] or a [`BusLine`], and it is
/// driven as they are. What it knows of the boards of a bus it keeps over closings, probes and the time in which it was
/// kept as a single board.
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
    /// `None`: the line is only listened to.
    settings: Option<LineSettings>,
    phase: LinePhase,
    session: Box<Session>,
    bus: Box<BusLine>,
    open: bool,
    /// What the probe has just found.
    found: Option<LineMode>,
}

/// Which machine has the line.
#[derive(Debug)]
enum LinePhase {
    Probed(Box<Probe>),
    Speaks(LineMode),
}

/// The same call, whichever machine has the line.
macro_rules! each {
    ($line:expr, $inner:ident => $call:expr) => {
        match &mut $line.phase {
            LinePhase::Probed($inner) => $call,
            LinePhase::Speaks(LineMode::Single) => {
                let $inner = &mut $line.session;
                $call
            }
            LinePhase::Speaks(LineMode::Bus) => {
                let $inner = &mut $line.bus;
                $call
            }
            LinePhase::Speaks(LineMode::Unknown) => {}
        }
    };
}

impl Line {
    /// The reason with which a recording closes a line that was probed. It opens it again at once, in the mode that was
    /// found, so that a replay begins anew where the live line did.
    pub const PROBED: &str = "probed";

    /// A line that is only listened to, as in a replay. Nothing is ever to be written.
    #[must_use]
    pub fn listening(mode: LineMode) -> Self {
        Self {
            settings: None,
            phase: LinePhase::Speaks(mode),
            session: Box::default(),
            bus: Box::default(),
            open: false,
            found: None,
        }
    }

    /// A line whose boards are kept answering, with a port that has not been opened yet.
    #[must_use]
    pub fn keeping(settings: LineSettings) -> Self {
        let mut line = Self::listening(LineMode::Single);
        line.keep(settings);
        line
    }

    /// Keeps the boards of a closed line answering from the next opening on. What is known of them stays.
    pub fn keep(&mut self, settings: LineSettings) {
        self.phase = match settings.mode {
            Some(mode) => LinePhase::Speaks(mode),
            None => LinePhase::Probed(Box::new(Probe::with(settings.probe()))),
        };
        let mut session = settings.session.clone();
        session.shared |= settings.mode.is_none();
        self.session.keep(session);
        self.bus.poll(settings.bus.clone());
        self.settings = Some(settings);
    }

    /// In a replay: what comes from here on was recorded in this mode.
    pub fn listen_as(&mut self, mode: LineMode) {
        self.phase = LinePhase::Speaks(mode);
    }

    /// How the boards speak.
    #[must_use]
    pub fn mode(&self) -> LineMode {
        match self.phase {
            LinePhase::Probed(_) => LineMode::Unknown,
            LinePhase::Speaks(mode) => mode,
        }
    }

    /// Whether boards of a bus were met on it, at any time.
    #[must_use]
    pub fn knows_a_bus(&self) -> bool {
        self.bus.knows_boards()
    }

    /// Whether the port is open. That bytes came shows it as well: a capture may begin in the middle.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// What was decoded and what was dropped; `None` unless there is a single board.
    #[must_use]
    pub fn counters(&self) -> Option<&Counters> {
        (self.mode() == LineMode::Single).then(|| self.session.counters())
    }

    /// What happened on the bus; `None` unless there is one.
    #[must_use]
    pub fn figures(&self) -> Option<BusFigures> {
        (self.mode() == LineMode::Bus).then(|| self.bus.figures())
    }

    /// Shows a text on the clock's display; see [`Session::show`]. On a bus no clock can be reached.
    pub fn show(&mut self, now: Timestamp, text: &str) {
        if self.mode() == LineMode::Single {
            self.session.show(now, text);
        }
    }

    /// Sets when the memory of the single board is to be read; see [`Session::recall`]. Has no effect on a bus, where boards
    /// report past changes when they are polled.
    pub fn recall(&mut self, now: Timestamp, recall: Recall) {
        if self.mode() == LineMode::Single {
            self.session.recall(now, recall);
        }
    }

    /// The port was opened. A line that has to be probed is probed again: something else may have been plugged in.
    pub fn handle_opened(&mut self, now: Timestamp) {
        if let Some(settings) = self.settings.as_ref().filter(|settings| settings.mode.is_none()) {
            self.phase = LinePhase::Probed(Box::new(Probe::with(settings.probe())));
        }
        self.open = true;
        each!(self, machine => machine.handle_opened(now));
    }

    /// The port is gone. Nothing happens if it was not open.
    pub fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        if core::mem::take(&mut self.open) {
            each!(self, machine => machine.handle_closed(now, reason));
        }
    }

    /// Bytes came.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.open = true;
        each!(self, machine => machine.handle_bytes(now, bytes));
        self.follow_probe(now);
    }

    /// Bytes were written: live the driver hands back what it wrote, in a replay the recorded ones.
    pub fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        each!(self, machine => machine.handle_sent(now, bytes));
    }

    /// Time has come to `now`: every deadline up to it fires, each with its own time.
    pub fn handle_deadline(&mut self, now: Timestamp) {
        // The deadline of a bus stays what it is until its question has been taken.
        let mut last = None;
        while let Some(deadline) = self.poll_deadline().filter(|deadline| *deadline <= now)
            && last.replace(deadline) != Some(deadline)
        {
            each!(self, machine => machine.handle_deadline(deadline));
            self.follow_probe(now);
        }
    }

    /// When [`handle_deadline`](Self::handle_deadline) is due unless bytes come before; `None`: never.
    ///
    /// What waits to be written may keep its deadline until it is taken with [`poll_transmit`](Self::poll_transmit).
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        match &self.phase {
            LinePhase::Probed(probe) => probe.poll_deadline(),
            LinePhase::Speaks(LineMode::Single) => self.session.poll_deadline(),
            LinePhase::Speaks(LineMode::Bus) => self.bus.poll_deadline(),
            LinePhase::Speaks(LineMode::Unknown) => None,
        }
    }

    /// What is to be written now, and handed back to [`handle_sent`](Self::handle_sent) once it is.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        match &mut self.phase {
            LinePhase::Probed(probe) => probe.poll_transmit(now),
            LinePhase::Speaks(LineMode::Single) => self.session.poll_transmit(now),
            LinePhase::Speaks(LineMode::Bus) => self.bus.poll_transmit(now),
            LinePhase::Speaks(LineMode::Unknown) => None,
        }
    }

    /// Why the port is to be closed, returned once, in words for people; see [`Session::poll_close`].
    #[must_use]
    pub fn poll_close(&mut self) -> Option<String> {
        match self.mode() {
            LineMode::Single => self.session.poll_close(),
            LineMode::Bus => self.bus.poll_close(),
            LineMode::Unknown => None,
        }
    }

    /// How the boards speak, returned once when the probe has found out. What comes from here on belongs in a capture
    /// with this mode; what came before, with [`LineMode::Unknown`].
    #[must_use]
    pub fn poll_mode(&mut self) -> Option<LineMode> {
        self.found.take()
    }

    /// The next observation and the place of the board that it is of, in the order of arrival.
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

    /// Goes on as what the probe has found, if it has.
    fn follow_probe(&mut self, now: Timestamp) {
        let LinePhase::Probed(probe) = &mut self.phase else {
            return;
        };
        let Some(mode) = probe.poll_mode() else { return };
        self.phase = LinePhase::Speaks(mode);
        self.found = Some(mode);
        each!(self, machine => machine.handle_opened(now));
    }
}

#[cfg(test)]
mod tests;
