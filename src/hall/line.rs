//! One line: a port with a board on it, or many.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::{
    BusLine, BusSettings, Identity, Observation, Observed, Probe, Session, SessionSettings, Timestamp,
};
use kiebitz_protocol::{BusAddress, Counters};

use super::Manner;

/// Where on its line a board is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Alone,
    At(BusAddress),
}

/// A port and what is on it.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) port: String,
    manner: Manner,
    open: bool,
    on: On,
    pub(super) seats: BTreeMap<Place, Seat>,
    /// What was just found out of an unknown line.
    found_out: Option<LineMode>,
}

/// How the line is spoken to.
#[derive(Debug)]
enum On {
    Unknown(Box<Probe>),
    Single(Box<Session>),
    Bus(Box<BusLine>),
}

/// A board's place on a line.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// The board there, once it is known which.
    pub(super) board: Option<String>,
    pub(super) identity: Identity,
    /// What was heard of it before that.
    pub(super) heard: Vec<Observed>,
}

/// A battery lasts for hours.
const BATTERY_EVERY: Duration = Duration::from_secs(300);

impl Line {
    pub(super) fn new(port: &str, manner: Manner) -> Self {
        Self {
            port: port.to_owned(),
            manner,
            open: false,
            on: On::new(manner),
            seats: BTreeMap::new(),
            found_out: None,
        }
    }

    pub(super) fn mode(&self) -> LineMode {
        match self.on {
            On::Single(_) => LineMode::Single,
            On::Unknown(_) | On::Bus(_) => LineMode::Bus,
        }
    }

    /// What was decoded and dropped, if `board` is alone here.
    pub(super) fn counters(&self, board: &str) -> Option<&Counters> {
        match &self.on {
            On::Single(session) if self.has(board) => Some(session.counters()),
            _ => None,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Whether a board is on this line.
    pub(super) fn has(&self, board: &str) -> bool {
        let mut seats = self.seats.values();
        seats.any(|seat| seat.board.as_deref() == Some(board))
    }

    /// On a bus there is no clock of which the display could be reached.
    pub(super) fn show(&mut self, now: Timestamp, text: &str) {
        if let On::Single(session) = &mut self.on {
            session.show(now, text);
        }
    }

    pub(super) fn handle_opened(&mut self, now: Timestamp) {
        // Something else may have been plugged in where it was not known what is there.
        if self.manner == Manner::Unknown {
            self.on = On::new(self.manner);
        }
        self.begin(now);
    }

    fn begin(&mut self, now: Timestamp) {
        self.open = true;
        match &mut self.on {
            On::Unknown(probe) => probe.handle_opened(now),
            On::Single(session) => session.handle_opened(now),
            On::Bus(bus) => bus.handle_opened(now),
        }
    }

    pub(super) fn handle_closed(&mut self, now: Timestamp, reason: &str) {
        if !core::mem::take(&mut self.open) {
            return;
        }
        match &mut self.on {
            On::Unknown(probe) => probe.handle_closed(now, reason),
            On::Single(session) => session.handle_closed(now, reason),
            On::Bus(bus) => bus.handle_closed(now, reason),
        }
    }

    pub(super) fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        // A capture may begin in the middle.
        self.open = true;
        match &mut self.on {
            On::Unknown(probe) => probe.handle_bytes(now, bytes),
            On::Single(session) => session.handle_bytes(now, bytes),
            On::Bus(bus) => bus.handle_bytes(now, bytes),
        }
        self.find_out(now);
    }

    pub(super) fn handle_sent(&mut self, now: Timestamp, bytes: &[u8]) {
        match &mut self.on {
            On::Unknown(probe) => probe.handle_sent(now, bytes),
            On::Single(session) => session.handle_sent(now, bytes),
            On::Bus(bus) => bus.handle_sent(now, bytes),
        }
    }

    pub(super) fn poll_write(&mut self, now: Timestamp) -> Option<Vec<u8>> {
        match &mut self.on {
            On::Unknown(probe) => probe.poll_transmit(now),
            On::Single(session) => session.poll_transmit(now),
            On::Bus(bus) => bus.poll_transmit(now),
        }
    }

    pub(super) fn poll_close(&mut self) -> Option<String> {
        match &mut self.on {
            On::Unknown(_) => None,
            On::Single(session) => session.poll_close(),
            On::Bus(bus) => bus.poll_close(),
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        match &self.on {
            On::Unknown(probe) => probe.poll_deadline(),
            On::Single(session) => session.poll_deadline(),
            On::Bus(bus) => bus.poll_deadline(),
        }
    }

    pub(super) fn poll_found_out(&mut self) -> Option<LineMode> {
        self.found_out.take()
    }

    /// Lets every deadline up to `now` fire.
    pub(super) fn advance(&mut self, now: Timestamp) {
        // The deadline of a bus stays what it is until its question has been taken.
        let mut last = None;
        while let Some(deadline) = self.poll_deadline().filter(|deadline| *deadline <= now)
            && last.replace(deadline) != Some(deadline)
        {
            match &mut self.on {
                On::Unknown(probe) => probe.handle_deadline(deadline),
                On::Single(session) => session.handle_deadline(deadline),
                On::Bus(bus) => bus.handle_deadline(deadline),
            }
            self.find_out(now);
            // What waits to be written keeps its deadline until it is.
            if self.poll_deadline() == Some(deadline) {
                break;
            }
        }
    }

    pub(super) fn poll_observation(&mut self) -> Option<(Place, Observed)> {
        match &mut self.on {
            On::Unknown(_) => None,
            On::Single(session) => Some((Place::Alone, session.poll_observation()?)),
            On::Bus(bus) => {
                let (address, observed) = bus.poll_observation()?;
                Some((Place::At(address), observed))
            }
        }
    }

    /// Goes on as what the probe has found, if it has.
    fn find_out(&mut self, now: Timestamp) {
        let On::Unknown(probe) = &mut self.on else { return };
        let Some(mode) = probe.poll_mode() else { return };
        self.on = On::new(Manner::Live(mode));
        self.found_out = Some(mode);
        self.begin(now);
    }
}

/// The board with that address, which is its serial number.
pub(super) fn identity_at(address: BusAddress) -> Identity {
    Identity {
        serial: Some(address.to_string()),
        ..Identity::default()
    }
}

impl Seat {
    /// Takes in what was heard before it is known which board is there.
    pub(super) fn hear(&mut self, observed: Observed) {
        match &observed.observation {
            Observation::Identified(identity) => self.identity.clone_from(identity),
            Observation::Closed { .. } => {
                self.heard.clear();
                return;
            }
            _ => {}
        }
        self.heard.push(observed);
    }
}

impl On {
    fn new(manner: Manner) -> Self {
        match manner {
            Manner::Unknown => Self::Unknown(Box::new(Probe::new())),
            Manner::Recorded(LineMode::Single) => Self::Single(Box::new(Session::new())),
            Manner::Recorded(LineMode::Bus) => Self::Bus(Box::new(BusLine::new())),
            Manner::Live(LineMode::Single) => {
                Self::Single(Box::new(Session::keeping(SessionSettings::default())))
            }
            Manner::Bluetooth => Self::Single(Box::new(Session::keeping(SessionSettings {
                battery: Some(BATTERY_EVERY),
                ..SessionSettings::default()
            }))),
            Manner::Live(LineMode::Bus) => Self::Bus(Box::new(BusLine::polling(BusSettings::default()))),
        }
    }
}
