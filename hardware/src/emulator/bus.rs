//! An emulated bus: many boards on one line.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use kiebitz_protocol::{BusAddress, BusCommand};

use super::board::EmulatedBoard;
use super::line::{Damage, delivery_time};
use crate::facts::{BYTE_TIME, CONVERTER_PERIOD};
use crate::time::Timestamp;

/// Settings of an emulated bus.
#[derive(Debug, Clone)]
pub struct EmulatedBusSettings {
    /// Duration of one byte on the line: 1.04 ms at 9600 baud.
    pub byte_time: Duration,
    /// The host's converter delivers bytes at multiples of this time. Zero delivers them one by one.
    pub latency: Duration,
    /// Damaged answers per thousand; see [`EmulatedBoard::damage_line`] for the kinds of damage.
    pub damaged_answers: u16,
    /// Damaged commands per thousand. No board executes a damaged command.
    pub damaged_commands: u16,
    /// Seed for the damage and for the noise of collisions.
    pub seed: u64,
}

impl Default for EmulatedBusSettings {
    fn default() -> Self {
        Self {
            byte_time: BYTE_TIME,
            latency: CONVERTER_PERIOD,
            damaged_answers: 0,
            damaged_commands: 0,
            seed: 1,
        }
    }
}

/// Boards that share one half-duplex line.
///
/// Bytes written by the host reach all boards. Bytes that are transmitted at the same time, by two boards or by a board
/// and the host, collide and arrive as noise. Boards can be attached, detached and changed while the line is in use.
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedBus, EmulatedBusSettings};
/// use kiebitz_protocol::{BusAddress, BusCommand, BusCommandKind};
///
/// let start = Timestamp::from_micros(1_789_000_000_000_000);
/// let mut bus = EmulatedBus::new(start, EmulatedBusSettings::default());
/// let address = bus.attach(start, EmulatedBoard::new(start, BoardSettings::default())).unwrap();
/// assert_eq!(address.number(), 42);
///
/// bus.handle_bytes(start, &BusCommand { kind: BusCommandKind::Ping, address }.encode());
/// let (at, answer) = bus.poll_transmit(start + Duration::from_millis(100)).unwrap();
/// assert_eq!(answer, [0x87, 0x00, 0x06, 0x00, 42, 0x37]);
/// assert!(at > start + Duration::from_millis(10));
/// ```
#[derive(Debug)]
pub struct EmulatedBus {
    settings: EmulatedBusSettings,
    boards: BTreeMap<BusAddress, Attached>,
    /// Bytes from the host that have not arrived yet.
    host: VecDeque<ByteOnLine>,
    host_free_at: Timestamp,
    /// Bytes from boards whose transmission has begun.
    in_transit: Vec<ByteOnLine>,
    /// Bytes with the time at which the host can read them.
    out: VecDeque<(Timestamp, u8)>,
    commands: Damage,
    random: fastrand::Rng,
}

#[derive(Debug)]
struct Attached {
    board: EmulatedBoard,
    /// Time before which the board has no effect on the line.
    due: Option<Timestamp>,
}

impl Attached {
    fn update_deadline(&mut self) {
        // `pop_begun` returns a byte only after its transmission has begun.
        let begins = self.board.line().next_begins().map(|at| at + RESOLUTION);
        self.due = [self.board.next_action_at(), begins].into_iter().flatten().min();
    }
}

#[derive(Debug, Clone, Copy)]
struct ByteOnLine {
    /// End of the transmission.
    passed: Timestamp,
    /// The board that sends the byte. `None` if the host sends it.
    from: Option<BusAddress>,
    byte: u8,
    collided: bool,
}

impl ByteOnLine {
    /// Marks both bytes as collided if their transmissions overlap.
    fn mark_collision(&mut self, other: &mut Self, byte_time: Duration) {
        let apart = self.passed.saturating_duration_since(other.passed)
            + other.passed.saturating_duration_since(self.passed);
        if self.from != other.from && apart < byte_time {
            (self.collided, other.collided) = (true, true);
        }
    }
}

/// Error for a board that could not be attached. Contains the board.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The board's serial number is not an address.
    #[error("the board's serial number is not a bus address")]
    NoAddress(Box<EmulatedBoard>),
    /// Another board on the line has this address.
    #[error("another board on the line has the address {0}")]
    Taken(BusAddress, Box<EmulatedBoard>),
}

impl AttachError {
    /// Returns the board that could not be attached.
    #[must_use]
    pub fn into_board(self) -> EmulatedBoard {
        match self {
            Self::NoAddress(board) | Self::Taken(_, board) => *board,
        }
    }
}

impl EmulatedBus {
    /// Creates a line without boards.
    #[must_use]
    pub fn new(now: Timestamp, settings: EmulatedBusSettings) -> Self {
        Self {
            boards: BTreeMap::new(),
            host: VecDeque::new(),
            host_free_at: now,
            in_transit: Vec::new(),
            out: VecDeque::new(),
            commands: Damage::new(settings.damaged_commands, settings.seed),
            random: fastrand::Rng::with_seed(settings.seed.wrapping_add(1)),
            settings,
        }
    }

    /// Connects a board to the line. Bytes that the board was sending are lost.
    ///
    /// # Errors
    ///
    /// Fails if the board has no address, or if another board has the same address.
    pub fn attach(&mut self, now: Timestamp, mut board: EmulatedBoard) -> Result<BusAddress, AttachError> {
        self.advance(now);
        let Some(address) = board.bus_address() else {
            return Err(AttachError::NoAddress(Box::new(board)));
        };
        if self.boards.contains_key(&address) {
            return Err(AttachError::Taken(address, Box::new(board)));
        }
        let seed = self
            .settings
            .seed
            .wrapping_mul(31)
            .wrapping_add(u64::from(address.number()));
        board.damage_line(now, self.settings.damaged_answers, seed);
        board.line_mut().discard_unsent(now);
        let mut attached = Attached { board, due: None };
        attached.update_deadline();
        self.boards.insert(address, attached);
        Ok(address)
    }

    /// Disconnects a board from the line. Bytes that the board was sending are lost.
    pub fn detach(&mut self, now: Timestamp, address: BusAddress) -> Option<EmulatedBoard> {
        self.advance(now);
        let mut board = self.boards.remove(&address)?.board;
        board.line_mut().discard_unsent(now);
        Some(board)
    }

    /// Returns the board with this address.
    #[must_use]
    pub fn board(&self, address: BusAddress) -> Option<&EmulatedBoard> {
        self.boards.get(&address).map(|attached| &attached.board)
    }

    /// Advances to `now` and returns the board with this address.
    pub fn board_mut(&mut self, now: Timestamp, address: BusAddress) -> Option<&mut EmulatedBoard> {
        self.advance(now);
        let attached = self.boards.get_mut(&address)?;
        // A change by the caller may cause an action of the board.
        attached.due = Some(now);
        attached.board.advance(now);
        Some(&mut attached.board)
    }

    /// Returns the addresses of the boards on the line, in ascending order.
    pub fn addresses(&self) -> impl Iterator<Item = BusAddress> + '_ {
        self.boards.keys().copied()
    }

    /// Handles bytes that the host writes. They are transmitted one after another from now on.
    pub fn handle_bytes(&mut self, now: Timestamp, bytes: &[u8]) {
        self.advance(now);
        self.host_free_at = self.host_free_at.max(now);
        let byte_time = self.settings.byte_time;
        for chunk in bytes.chunks(BusCommand::LENGTH) {
            let mut chunk = chunk.to_vec();
            self.commands.maybe_damage(&mut chunk);
            for byte in chunk {
                self.host_free_at = self.host_free_at + byte_time;
                let mut new = ByteOnLine {
                    passed: self.host_free_at,
                    from: None,
                    byte,
                    collided: false,
                };
                for other in &mut self.in_transit {
                    new.mark_collision(other, byte_time);
                }
                self.host.push_back(new);
            }
        }
    }

    /// Returns the next bytes that the host can have read by `now`, with their arrival time.
    #[must_use]
    pub fn poll_transmit(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        self.advance(now);
        let (at, _) = *self.out.front().filter(|(at, _)| *at <= now)?;
        let count = self.out.iter().take_while(|(then, _)| *then == at).count();
        Some((at, self.out.drain(..count).map(|(_, byte)| byte).collect()))
    }

    /// Returns the time for the next [`advance`](Self::advance) or [`poll_transmit`](Self::poll_transmit) if no other
    /// method is called earlier, or `None` if there is no deadline.
    #[must_use]
    pub fn poll_deadline(&self) -> Option<Timestamp> {
        let host = self.host.front().map(|byte| byte.passed);
        let out = self.out.front().map(|(at, _)| *at);
        let air = self.in_transit.iter().map(|byte| byte.passed);
        let boards = self.boards.values().map(|attached| attached.due);
        air.chain(boards.chain([host, out]).flatten()).min()
    }

    /// Advances to `now`.
    pub fn advance(&mut self, now: Timestamp) {
        while let Some(at) = self.host.front().map(|byte| byte.passed).filter(|at| *at <= now) {
            self.pass(at);
            if let Some(passed) = self.host.pop_front() {
                let byte = self.received(passed);
                for attached in self.boards.values_mut() {
                    if attached.board.receive(at, byte) {
                        attached.update_deadline();
                    }
                }
            }
        }
        self.pass(now);
    }

    /// Advances the boards to `now`, puts the bytes that they have begun to send on the line, and delivers the
    /// completely transmitted bytes to the host.
    fn pass(&mut self, now: Timestamp) {
        let due = |attached: &Attached| attached.due.is_some_and(|due| due <= now);
        for (address, attached) in self.boards.iter_mut().filter(|(_, attached)| due(attached)) {
            let board = &mut attached.board;
            board.advance(now);
            while let Some((passed, byte)) = board.line_mut().pop_begun(now) {
                let mut new = ByteOnLine {
                    passed,
                    from: Some(*address),
                    byte,
                    collided: false,
                };
                for other in self.in_transit.iter_mut().chain(&mut self.host) {
                    new.mark_collision(other, self.settings.byte_time);
                }
                self.in_transit.push(new);
            }
            attached.update_deadline();
        }
        // Bytes that begin after `now` cannot collide with completely transmitted bytes.
        self.in_transit.sort_by_key(|byte| byte.passed);
        let count = self
            .in_transit
            .iter()
            .take_while(|byte| byte.passed <= now)
            .count();
        for passed in self.in_transit.drain(..count).collect::<Vec<_>>() {
            let byte = self.received(passed);
            self.out
                .push_back((delivery_time(passed.passed, self.settings.latency), byte));
        }
    }

    fn received(&mut self, byte: ByteOnLine) -> u8 {
        if byte.collided {
            self.random.u8(..)
        } else {
            byte.byte
        }
    }
}

/// Resolution of [`Timestamp`].
const RESOLUTION: Duration = Duration::from_micros(1);

#[cfg(test)]
mod tests;
