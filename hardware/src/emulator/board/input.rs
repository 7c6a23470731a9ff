//! Input of the board: receives the host's bytes and decodes commands.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_protocol::{BusCommand, BusCommandDecoder, Command, CommandDecoder};

use crate::facts::INPUT_BUFFER;
use crate::time::Timestamp;

/// The line from the host, the input buffer, and the decoders of commands.
///
/// Bytes arrive one by one at the speed of the line. The board reads each byte as it arrives, unless it is busy: from
/// the end of a command until the answer has been transmitted. Meanwhile bytes wait in the buffer; bytes that arrive
/// while it is full are lost.
#[derive(Debug, Clone)]
pub(super) struct Input {
    byte: Duration,
    arriving: VecDeque<(Timestamp, u8)>,
    /// When the host's last byte will have arrived.
    line_free_at: Timestamp,
    waiting: VecDeque<u8>,
    busy_until: Timestamp,
    single: CommandDecoder,
    bus: BusCommandDecoder,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Received {
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

    /// Puts bytes of the host on the line, after the bytes still in transit.
    pub(super) fn write(&mut self, now: Timestamp, bytes: &[u8]) {
        self.line_free_at = self.line_free_at.max(now);
        for byte in bytes {
            self.line_free_at = self.line_free_at + self.byte;
            self.arriving.push_back((self.line_free_at, *byte));
        }
    }

    pub(super) fn next_arrival(&self) -> Option<Timestamp> {
        self.arriving.front().map(|(at, _)| *at)
    }

    pub(super) fn pop_arrival(&mut self) -> Option<u8> {
        self.arriving.pop_front().map(|(_, byte)| byte)
    }

    pub(super) fn next_read_at(&self) -> Option<Timestamp> {
        (!self.waiting.is_empty()).then_some(self.busy_until)
    }

    /// Puts an arrived byte into the buffer, or drops it if the buffer is full.
    pub(super) fn arrive(&mut self, byte: u8) {
        if self.waiting.len() < INPUT_BUFFER {
            self.waiting.push_back(byte);
        }
    }

    /// Reads bytes until a command is complete. Returns `None` if the board is busy or the buffer has no complete
    /// command.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<Received> {
        while now >= self.busy_until {
            let byte = self.waiting.pop_front()?;
            if let Some(found) = self.read(byte) {
                return Some(found);
            }
        }
        None
    }

    /// Marks the board as busy, so that it reads no further bytes before `until`.
    pub(super) fn busy_until(&mut self, until: Timestamp) {
        self.busy_until = self.busy_until.max(until);
    }

    /// Drops all waiting bytes, after a power loss or when the board hangs.
    pub(super) fn forget(&mut self, now: Timestamp) {
        self.waiting.clear();
        self.single.reset();
        self.bus.reset();
        self.busy_until = now;
    }

    /// Decodes a byte. A byte above 0x7f begins a bus command. A lower byte belongs to a pending bus command, or to a
    /// single-board command.
    fn read(&mut self, byte: u8) -> Option<Received> {
        let mut found = None;
        if byte >= 0x80 || self.bus.pending() > 0 {
            self.single.reset();
            self.bus
                .feed(&[byte], |decoded| found = decoded.ok().map(Received::Bus));
        } else {
            self.single
                .feed(&[byte], |decoded| found = decoded.ok().map(Received::Single));
        }
        found
    }
}
