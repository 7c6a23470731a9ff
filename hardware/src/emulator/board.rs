//! The board: fields under a scan, commands in, messages out.

use core::time::Duration;

use kiebitz_protocol::{
    BusAddress, ClockAbsent, ClockAck, ClockMessage, ClockTimes, Command, CommandDecoder, Contents, Dump,
    Field, FieldUpdate, LongSerialNumber, Message, SerialNumber, SetTime,
};

use super::clock::EmulatedClock;
use super::line::Line;
use super::memory::Memory;
use super::scan::Scan;
use crate::time::Timestamp;

/// How an emulated board is made.
#[derive(Debug, Clone)]
pub struct BoardSettings {
    /// Five characters; `None`: the board does not tell.
    pub serial: Option<SerialNumber>,
    /// Ten characters; `None`: the board does not tell.
    pub long_serial: Option<LongSerialNumber>,
    /// Major and minor number, each up to 127.
    pub version: (u8, u8),
    /// How long a scan of all 64 fields takes; boards need 200 to 250 ms.
    pub scan_period: Duration,
    /// How long after it was made the board begins to scan.
    pub scan_phase: Duration,
    /// How often the board asks its clock; boards do so two or three times a second.
    pub clock_period: Duration,
    /// How long after it was made the board first asks its clock.
    pub clock_phase: Duration,
    /// How long one byte takes on the line: 1.04 ms at 9600 baud.
    pub byte_time: Duration,
    /// The converter hands bytes over at multiples of this; zero: one by one.
    pub latency: Duration,
}

impl Default for BoardSettings {
    fn default() -> Self {
        Self {
            serial: SerialNumber::new(*b"00042"),
            long_serial: LongSerialNumber::new(*b"0000000042"),
            version: (1, 8),
            scan_period: Duration::from_millis(225),
            scan_phase: Duration::ZERO,
            clock_period: Duration::from_millis(400),
            clock_phase: Duration::from_millis(130),
            byte_time: Duration::from_micros(1040),
            latency: Duration::from_millis(16),
        }
    }
}

/// A board that exists in memory only, on a line of its own.
///
/// Times passed in must not go backwards. What is done to the board takes effect for the looks its scan takes
/// later than that; [`poll_transmit`](Self::poll_transmit) gives what the host can read by then.
#[derive(Debug, Clone)]
pub struct EmulatedBoard {
    settings: BoardSettings,
    scan: Scan,
    memory: Memory,
    line: Line,
    commands: CommandDecoder,
    mode: Mode,
    clock: Option<EmulatedClock>,
    /// What the clock answered when it was last asked; `None`: it did not.
    clock_read: Option<ClockTimes>,
    /// What was last sent of the clock, in update-nice mode; `None`: nothing yet.
    clock_sent: Option<Option<ClockTimes>>,
    clock_due: Timestamp,
}

/// What the board sends unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nothing.
    Idle,
    /// Changed fields, and the clock whenever it was asked.
    Update,
    /// Changed fields only.
    UpdateBoard,
    /// Changed fields, and the clock when it changed.
    UpdateNice,
}

impl EmulatedBoard {
    /// A board that got power at `now`, with nothing on it.
    #[must_use]
    pub fn new(now: Timestamp, settings: BoardSettings) -> Self {
        Self::with_pieces(now, settings, &[None; Field::COUNT])
    }

    /// A board that got power at `now` with these pieces on it.
    #[must_use]
    pub fn with_pieces(now: Timestamp, settings: BoardSettings, pieces: &Dump) -> Self {
        let mut scan = Scan::new(now + settings.scan_phase, settings.scan_period);
        for field in Field::all() {
            scan.set(field, pieces[field.index()]);
        }
        scan.see_all();
        let mut memory = Memory::default();
        memory.power_up(now, pieces);
        Self {
            scan,
            memory,
            line: Line::new(now, settings.byte_time, settings.latency),
            commands: CommandDecoder::new(),
            mode: Mode::Idle,
            clock: None,
            clock_read: None,
            clock_sent: None,
            clock_due: now + settings.clock_phase,
            settings,
        }
    }

    /// What really stands on a field.
    #[must_use]
    pub fn contents(&self, field: Field) -> Contents {
        self.scan.real()[field.index()]
    }

    /// Puts something on a field in place of what stood there, or takes it away.
    pub fn set(&mut self, now: Timestamp, field: Field, contents: Contents) {
        self.advance(now);
        self.scan.set(field, contents);
    }

    /// Plugs a clock in or, with `None`, pulls its cable out. Returns the clock that was there.
    pub fn plug_clock(&mut self, now: Timestamp, clock: Option<EmulatedClock>) -> Option<EmulatedClock> {
        self.advance(now);
        std::mem::replace(&mut self.clock, clock)
    }

    /// The clock plugged in.
    #[must_use]
    pub fn clock(&self) -> Option<&EmulatedClock> {
        self.clock.as_ref()
    }

    /// The clock plugged in, to be handled at `now`.
    pub fn clock_mut(&mut self, now: Timestamp) -> Option<&mut EmulatedClock> {
        self.advance(now);
        self.clock.as_mut()
    }

    /// The host has written these bytes.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        let mut commands = Vec::new();
        self.commands.feed(bytes, |decoded| commands.extend(decoded));
        for command in commands {
            self.obey(now, command);
        }
    }

    /// The next bytes that the host could read at `now` or before, with the time at which they came.
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        self.advance(now);
        self.line.receive(now)
    }

    /// When [`advance`](Self::advance) or [`poll_transmit`](Self::poll_transmit) will next have something to do if
    /// nobody touches the board; `None`: never.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let clock = self.asks_clock().then_some(self.clock_due);
        [self.line.next_at(), self.scan.next_at(), clock]
            .into_iter()
            .flatten()
            .min()
    }

    /// Time has come to `now`: the scan goes on and the clock is asked.
    pub fn advance(&mut self, now: Timestamp) {
        loop {
            let scan_due = self.scan.next_at().filter(|at| *at <= now);
            let clock_due = Some(self.clock_due).filter(|at| *at <= now);
            match (scan_due, clock_due) {
                (scan, Some(clock)) if scan.is_none_or(|scan| clock <= scan) => self.ask_clock(clock),
                (Some(scan), _) => self.look(scan),
                _ => break,
            }
        }
        // Looks that show nothing new have been taken as well.
        self.look(now);
    }

    fn look(&mut self, now: Timestamp) {
        let before = *self.scan.seen();
        if let Some((at, field)) = self.scan.advance(now) {
            self.memory
                .piece_change(at, field, before[field.index()], self.scan.seen());
            if self.mode != Mode::Idle {
                let update = FieldUpdate::new(field, self.scan.seen()[field.index()]);
                self.send(at, Message::FieldUpdate(update));
            }
        }
    }

    /// Without a clock and a mode that reports it there is nothing to wake up for.
    fn asks_clock(&self) -> bool {
        self.clock.is_some() || matches!(self.mode, Mode::Update | Mode::UpdateNice)
    }

    fn ask_clock(&mut self, at: Timestamp) {
        self.clock_due = at + self.settings.clock_period.max(Duration::from_millis(1));
        let read = self.clock.as_ref().map(|clock| clock.times(at));
        if let (Some(before), Some(times)) = (self.clock_read, read)
            && before.lever_right_high != times.lever_right_high
        {
            self.memory.lever_change(&times);
        }
        self.clock_read = read;
        match self.mode {
            Mode::Update => self.send_clock(at),
            Mode::UpdateNice if self.clock_sent != Some(read) => {
                self.clock_sent = Some(read);
                self.send_clock(at);
            }
            _ => {}
        }
    }

    fn obey(&mut self, now: Timestamp, command: Command) {
        match command {
            Command::Reset => self.mode = Mode::Idle,
            Command::Update => self.mode = Mode::Update,
            Command::UpdateBoard => self.mode = Mode::UpdateBoard,
            Command::UpdateNice => {
                self.mode = Mode::UpdateNice;
                self.clock_sent = None;
            }
            Command::SendClock => self.send_clock(now),
            Command::SendBoard => self.send(now, Message::BoardDump(*self.scan.seen())),
            Command::SendTrademark => self.send(now, Message::Trademark(TRADEMARK)),
            Command::SendVersion => {
                let (major, minor) = self.settings.version;
                self.send(now, Message::Version { major, minor });
            }
            Command::ReturnSerialNumber => {
                self.send_known(now, self.settings.serial.map(Message::SerialNumber))
            }
            Command::ReturnLongSerialNumber => {
                self.send_known(now, self.settings.long_serial.map(Message::LongSerialNumber));
            }
            Command::ReturnBusAddress => {
                let address: Option<BusAddress> =
                    self.settings.serial.and_then(|serial| serial.bus_address());
                self.send_known(now, address.map(Message::BusAddress));
            }
            Command::SendEeMoves => {
                let data = self.memory.read();
                self.send(now, Message::EeMoves(&data));
            }
            Command::Clock(message) => self.tell_clock(now, &message),
            // No battery, no lights, and so far no bus.
            Command::SendBatteryStatus | Command::SetLeds { .. } | Command::ToBusMode => {}
        }
    }

    /// Hands a clock message on; the clock acknowledges in the modes that report it.
    fn tell_clock(&mut self, now: Timestamp, message: &ClockMessage) {
        let Some(clock) = &mut self.clock else { return };
        if let ClockMessage::SetAndRun(set) = message {
            clock.set(now, duration(set.left), duration(set.right));
            if set.paused || !(set.left_runs || set.right_runs) {
                clock.stop(now)
            } else {
                clock.start(now)
            }
        }
        let ack = match message {
            ClockMessage::Version => ClockAck::new([ClockAck::NORMAL, message.id(), CLOCK_VERSION, 0]),
            _ => ClockAck::of(message.id()),
        };
        if matches!(self.mode, Mode::Update | Mode::UpdateNice) {
            self.send(now, Message::ClockAck(ack));
        }
    }

    fn send_clock(&mut self, now: Timestamp) {
        match self.clock_read {
            Some(times) => self.send(now, Message::ClockTimes(times)),
            None => self.send(now, Message::ClockAbsent(ClockAbsent::default())),
        }
    }

    fn send_known(&mut self, now: Timestamp, message: Option<Message<'_>>) {
        if let Some(message) = message {
            self.send(now, message);
        }
    }

    fn send(&mut self, now: Timestamp, message: Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.line.send(now, &bytes);
    }
}

fn duration(time: SetTime) -> Duration {
    Duration::from_secs(u64::from(time.hours) * 3600 + u64::from(time.minutes) * 60 + u64::from(time.seconds))
}

/// Version 1.0.
const CLOCK_VERSION: u8 = 0x10;
const TRADEMARK: &str = "kiebitz emulated board";

#[cfg(test)]
mod tests;
