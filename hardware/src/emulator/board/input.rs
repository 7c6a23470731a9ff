//! What the host sends, on its way into the board.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{BusCommand, BusCommandDecoder, Command, CommandDecoder};

use crate::facts::INPUT_BUFFER;
use crate::time::Timestamp;

/// The line from the host, the input buffer, and what has been taken in of a command.
///
/// Bytes arrive one by one at the speed of the line. While the board is free it takes each in as it comes. It is busy
/// from the end of a command until its answer has passed the line; what comes meanwhile waits in the buffer, and
/// what finds the buffer full is lost.
#[derive(Debug, Clone)]
pub(super) struct Input {
    byte: Duration,
    arriving: VecDeque<(Timestamp, u8)>,
    /// When the last byte of the host will have arrived.
    line_free_at: Timestamp,
    waiting: VecDeque<u8>,
    busy_until: Timestamp,
    single: CommandDecoder,
    bus: BusCommandDecoder,
}

/// A command taken in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Heard {
    Single(Command),
    Bus(BusCommand),
}

impl Input {
    pub(super) fn new(now: Timestamp, byte: Duration) -> Self {
        Self {
            byte,
            arriving: VecDeque::new(),
            line_free_at: now,
            waiting: VecDeque::new(),
            busy_until: now,
            single: CommandDecoder::new(),
            bus: BusCommandDecoder::new(),
        }
    }

    /// The host writes bytes after those that are still on their way.
    pub(super) fn write(&mut self, now: Timestamp, bytes: &[u8]) {
        self.line_free_at = self.line_free_at.max(now);
        for byte in bytes {
            self.line_free_at = self.line_free_at + self.byte;
            self.arriving.push_back((self.line_free_at, *byte));
        }
    }

    /// When the next byte arrives.
    pub(super) fn next_arrival(&self) -> Option<Timestamp> {
        self.arriving.front().map(|(at, _)| *at)
    }

    pub(super) fn pop_arrival(&mut self) -> Option<u8> {
        self.arriving.pop_front().map(|(_, byte)| byte)
    }

    /// When a byte that waits can be taken in.
    pub(super) fn next_taken(&self) -> Option<Timestamp> {
        (!self.waiting.is_empty()).then_some(self.busy_until)
    }

    /// A byte has arrived.
    pub(super) fn arrive(&mut self, byte: u8) {
        if self.waiting.len() < INPUT_BUFFER {
            self.waiting.push_back(byte);
        }
    }

    /// Takes in bytes until a command is whole, if the board is free.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<Heard> {
        while now >= self.busy_until {
            let byte = self.waiting.pop_front()?;
            if let Some(heard) = self.read(byte) {
                return Some(heard);
            }
        }
        None
    }

    /// The board can take in the next command only then.
    pub(super) fn busy_until(&mut self, until: Timestamp) {
        self.busy_until = self.busy_until.max(until);
    }

    /// The board lost its power or hangs: nothing that it heard is left.
    pub(super) fn forget(&mut self, now: Timestamp) {
        self.waiting.clear();
        self.single.reset();
        self.bus.reset();
        self.busy_until = now;
    }

    /// A byte above 0x7f begins a bus command, one below is part of it or a command to a single board.
    fn read(&mut self, byte: u8) -> Option<Heard> {
        let mut heard = None;
        if byte >= 0x80 || self.bus.pending() > 0 {
            self.single.reset();
            self.bus
                .feed(&[byte], |decoded| heard = decoded.ok().map(Heard::Bus));
        } else {
            self.single
                .feed(&[byte], |decoded| heard = decoded.ok().map(Heard::Single));
        }
        heard
    }
}
