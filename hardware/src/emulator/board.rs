//! The emulated board, which scans its squares, executes commands and sends messages.

use core::time::Duration;

use kiebitz_protocol::{ClockAbsent, ClockTimes, Contents, Dump, Field, FieldUpdate, Message};

use super::clock::EmulatedClock;
use super::line::Wire;
use super::memory::Memory;
use super::scan::Scan;
use crate::time::Timestamp;
use input::{Input, Received};

mod bus;
mod input;
mod settings;
mod single;

pub use settings::BoardSettings;

/// An emulated board on its own line or on an [`EmulatedBus`](super::EmulatedBus).
///
/// It powers up in bus mode. A single-board command switches it to single-board mode; the first bus command after that
/// only switches it back. Commands arrive at the speed of the line. The board is busy with a command until the answer
/// has been transmitted. Its input buffer holds 10 bytes; bytes that arrive while it is full are lost.
///
/// The times passed to the methods must not decrease. A change of a square is detected when the scan next samples the
/// square; [`poll_transmit`](Self::poll_transmit) returns the bytes that the host can have read by a time.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard};
///
/// let now = Timestamp::from_micros(1_789_000_000_000_000);
/// let mut board = EmulatedBoard::new(now, BoardSettings::default());
/// board.handle_bytes(now, &[0x4d]); // SendVersion
///
/// // No byte passes the line at once; the converter delivers the whole answer after 16 ms.
/// assert_eq!(board.poll_transmit(now), None);
/// let (at, answer) = board.poll_transmit(now + Duration::from_millis(50)).expect("an answer");
/// assert_eq!(at, now + Duration::from_millis(16));
/// assert_eq!(answer, [0x93, 0x00, 0x05, 1, 8]);
/// ```
#[derive(Debug, Clone)]
pub struct EmulatedBoard {
    settings: BoardSettings,
    on: bool,
    /// When the board powers up again after a reset over the bus.
    restart_at: Option<Timestamp>,
    /// Until this time the board hangs: it neither processes commands nor sends messages.
    silent_until: Option<Timestamp>,
    scan: Scan,
    memory: Memory,
    writing_until: Timestamp,
    line: Wire,
    input: Input,
    mode: Mode,
    /// When the board will answer a broadcast ping.
    ping_at: Option<Timestamp>,
    ignores_ping: bool,
    random: fastrand::Rng,
    clock: Option<EmulatedClock>,
    /// The last clock reading. `None` if no clock answered.
    clock_read: Option<ClockTimes>,
    /// The clock reading last reported in update-nice mode. `None` before the first report.
    clock_sent: Option<Option<ClockTimes>>,
    clock_due: Timestamp,
}

/// Determines which commands the board executes, and which messages it sends without a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Answers queries to its address.
    Bus,
    /// Answers queries, and sends no other messages.
    Idle,
    /// Reports changes, and the clock after every poll.
    Update,
    /// Reports changes only.
    UpdateBoard,
    /// Reports changes, and the clock if it has changed.
    UpdateNice,
}

/// An action that the board performs at a certain time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum BoardAction {
    Restart,
    PollClock,
    Sample,
    Receive,
    ProcessInput,
    AnswerPing,
}

impl EmulatedBoard {
    /// Creates an empty board that is powered up at `now`.
    #[must_use]
    pub fn new(now: Timestamp, settings: BoardSettings) -> Self {
        Self::with_pieces(now, settings, &[None; Field::COUNT])
    }

    /// Creates a board with these pieces that is powered up at `now`.
    #[must_use]
    pub fn with_pieces(now: Timestamp, settings: BoardSettings, pieces: &Dump) -> Self {
        let mut scan = Scan::new(now + settings.scan_phase, settings.scan_period);
        for field in Field::all() {
            scan.set(field, pieces[field.index()]);
        }
        let mut board = Self {
            on: false,
            restart_at: None,
            silent_until: None,
            scan,
            memory: Memory::default(),
            writing_until: now,
            line: Wire::new(now, settings.byte_time, settings.latency),
            input: Input::new(now, settings.byte_time),
            mode: Mode::Bus,
            ping_at: None,
            ignores_ping: false,
            random: fastrand::Rng::with_seed(settings.seed),
            clock: None,
            clock_read: None,
            clock_sent: None,
            clock_due: now,
            settings,
        };
        board.start_up(now);
        board
    }

    /// Returns the actual contents of a square, regardless of its sensor.
    #[must_use]
    pub fn contents(&self, field: Field) -> Contents {
        self.scan.actual()[field.index()]
    }

    /// Replaces the contents of a square.
    pub fn set(&mut self, now: Timestamp, field: Field, contents: Contents) {
        self.advance_scan(now);
        self.scan.set(field, contents);
    }

    /// Injects a fault: from now on, the sensor of the square always reads `shows`.
    pub fn break_field(&mut self, now: Timestamp, field: Field, shows: Contents) {
        self.advance_scan(now);
        self.scan.override_sensor(field, Some(shows));
    }

    /// Repairs the sensor of a square, so that it reads the actual contents again.
    pub fn mend_field(&mut self, now: Timestamp, field: Field) {
        self.advance_scan(now);
        self.scan.override_sensor(field, None);
    }

    /// Injects a fault: before `until`, the board neither processes commands nor sends messages. Scan and memory
    /// continue.
    pub fn silence(&mut self, now: Timestamp, until: Timestamp) {
        self.advance(now);
        self.input.forget(now);
        self.ping_at = None;
        self.silent_until = Some(until);
    }

    /// Injects a fault: from now on, `per_mille` of every thousand messages are damaged on the line. A byte is changed
    /// or lost, the end is cut off, or the whole message is lost. The seed determines which messages are damaged, and
    /// how.
    pub fn damage_line(&mut self, now: Timestamp, per_mille: u16, seed: u64) {
        self.advance(now);
        self.line.damage(per_mille, seed);
    }

    /// Turns the power off. The memory is kept; bytes in transit from the board are lost.
    pub fn power_off(&mut self, now: Timestamp) {
        self.advance(now);
        self.shut_down(now);
    }

    /// Turns the power on, if it is off. The memory records a power-up tag and the pieces found. The board is in bus
    /// mode.
    pub fn power_on(&mut self, now: Timestamp) {
        self.advance(now);
        if !self.on {
            self.start_up(now);
        }
    }

    /// Returns whether the board has power and is not restarting.
    #[must_use]
    pub const fn powered(&self) -> bool {
        self.on
    }

    /// Plugs in a clock or, with `None`, pulls out its cable. Returns the previous clock.
    pub fn plug_clock(&mut self, now: Timestamp, clock: Option<EmulatedClock>) -> Option<EmulatedClock> {
        self.advance(now);
        std::mem::replace(&mut self.clock, clock)
    }

    /// Returns the clock that is plugged in.
    #[must_use]
    pub fn clock(&self) -> Option<&EmulatedClock> {
        self.clock.as_ref()
    }

    /// Advances to `now` and returns the clock that is plugged in.
    pub fn clock_mut(&mut self, now: Timestamp) -> Option<&mut EmulatedClock> {
        self.advance(now);
        self.clock.as_mut()
    }

    /// Handles bytes that the host writes. They arrive one after another from now on.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        self.input.write(now, bytes);
    }

    /// Returns the next bytes that the host can have read by `now`, with their arrival time.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        self.advance(now);
        self.line.receive(now)
    }

    /// Returns the time for the next [`advance`](Self::advance) or [`poll_transmit`](Self::poll_transmit) if no other
    /// method is called earlier, or `None` if there is no deadline.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        [self.line.next_at(), self.next_action_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Advances to `now`: scans, polls the clock and processes commands.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some((at, action)) = self.next_action(true).filter(|(at, _)| *at <= now) {
            match action {
                BoardAction::Restart => self.start_up(at),
                BoardAction::PollClock => self.poll_clock(at),
                BoardAction::Sample => self.sample(at),
                BoardAction::Receive => {
                    if let Some(byte) = self.input.pop_arrival() {
                        self.receive(at, byte);
                    }
                }
                BoardAction::ProcessInput => {
                    self.process_input(at);
                }
                BoardAction::AnswerPing => self.answer_ping_to_all(at),
            }
        }
    }

    pub(super) fn line_mut(&mut self) -> &mut Wire {
        &mut self.line
    }

    pub(super) fn line(&self) -> &Wire {
        &self.line
    }

    /// Returns the time of the next action with an effect outside of the board.
    pub(super) fn next_action_at(&self) -> Option<Timestamp> {
        self.next_action(self.needs_clock_poll()).map(|(at, _)| at)
    }

    /// Handles a byte that has arrived from the host. Returns whether the byte causes an action, now or later.
    pub(super) fn receive(&mut self, now: Timestamp, byte: u8) -> bool {
        if !self.on || self.is_hung(now) {
            return false;
        }
        self.input.arrive(byte);
        self.process_input(now) || self.input.next_read_at().is_some()
    }

    /// Like [`advance`](Self::advance), but also counts samples that detect no change.
    fn advance_scan(&mut self, now: Timestamp) {
        self.advance(now);
        if self.on {
            self.sample(now);
        }
    }

    fn next_action(&self, needs_clock_poll: bool) -> Option<(Timestamp, BoardAction)> {
        let clock = (self.on && needs_clock_poll).then_some(self.clock_due);
        let sample = self.scan.next_at().filter(|_| self.on);
        [
            (self.restart_at, BoardAction::Restart),
            (clock, BoardAction::PollClock),
            (sample, BoardAction::Sample),
            (self.input.next_arrival(), BoardAction::Receive),
            (self.input.next_read_at(), BoardAction::ProcessInput),
            (self.ping_at, BoardAction::AnswerPing),
        ]
        .into_iter()
        .filter_map(|(at, action)| Some((at?, action)))
        .min()
    }

    fn start_up(&mut self, now: Timestamp) {
        self.on = true;
        self.restart_at = None;
        self.scan.begin(now + self.settings.scan_phase);
        self.memory.power_up(now, self.scan.seen());
        self.mode = Mode::Bus;
        self.ignores_ping = false;
        self.clock_read = None;
        self.clock_sent = None;
        self.clock_due = now + self.settings.clock_phase;
    }

    fn shut_down(&mut self, now: Timestamp) {
        self.on = false;
        self.restart_at = None;
        self.ping_at = None;
        self.line.discard_unsent(now);
        self.input.forget(now);
    }

    /// Executes the waiting commands. Returns whether there was one.
    fn process_input(&mut self, now: Timestamp) -> bool {
        let mut executed = false;
        while let Some(received) = self.input.take(now) {
            executed = true;
            self.input.busy_until(now + self.settings.response);
            match received {
                Received::Single(command) => self.execute(now, command),
                Received::Bus(command) => self.execute_bus(now, command),
            }
        }
        executed
    }

    fn sample(&mut self, now: Timestamp) {
        let before = *self.scan.seen();
        if let Some((at, field)) = self.scan.advance(now) {
            self.memory
                .piece_change(at, field, before[field.index()], self.scan.seen());
            self.writing_until = at + self.settings.write_time;
            if !matches!(self.mode, Mode::Idle | Mode::Bus) {
                let update = FieldUpdate::new(field, self.scan.seen()[field.index()]);
                self.send(at, Message::FieldUpdate(update));
            }
        }
    }

    /// Returns whether the clock must be polled. Polling is not needed if no clock is plugged in, the last poll had no
    /// answer, and the mode does not report the clock.
    fn needs_clock_poll(&self) -> bool {
        self.clock.is_some()
            || self.clock_read.is_some()
            || matches!(self.mode, Mode::Update | Mode::UpdateNice)
    }

    fn poll_clock(&mut self, at: Timestamp) {
        self.clock_due = at + self.settings.clock_period.max(Duration::from_millis(1));
        let read = self.clock.as_ref().map(|clock| clock.times(at));
        if let (Some(before), Some(times)) = (self.clock_read, read)
            && before.lever_right_high != times.lever_right_high
        {
            self.memory.lever_change(&times);
            self.writing_until = at + self.settings.write_time;
        }
        self.clock_read = read;
        let reported = match self.mode {
            Mode::Update => true,
            Mode::UpdateNice => self.clock_sent.replace(read) != Some(read),
            Mode::Bus | Mode::Idle | Mode::UpdateBoard => false,
        };
        if reported {
            let message = self.clock_message();
            self.send(at, message);
        }
    }

    fn clock_message(&self) -> Message<'static> {
        match self.clock_read {
            Some(times) => Message::ClockTimes(times),
            None => Message::ClockAbsent(ClockAbsent::default()),
        }
    }

    /// Sends a message without a command, as the current mode requires.
    fn send(&mut self, now: Timestamp, message: Message<'_>) {
        if !self.is_hung(now) {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            self.line.send(now, &bytes);
        }
    }

    /// Sends the answer to a command that was read at `now`. The next command is read after the answer has been
    /// transmitted.
    fn answer_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        if !self.is_hung(now) {
            self.line
                .send((now + self.settings.response).max(self.writing_until), bytes);
            self.input.busy_until(self.line.free_at());
        }
    }

    fn is_hung(&self, now: Timestamp) -> bool {
        self.silent_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests;
