//! Recorded bytes, handed in at the same door as live ones.

use core::time::Duration;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::Context;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureReader, Content, Direction, LineMode, Packet};

use crate::board::{Board, Said};

/// Replays a capture step by step. Every step has a time, so that it can be paced.
#[derive(Debug)]
pub struct Replay<R: Read> {
    reader: CaptureReader<R>,
    stream: String,
    boards: Vec<Option<Board>>,
    next: Option<Packet>,
    /// Past the end of the capture deadlines still fire until then, as they would have in the hall.
    until: Timestamp,
}

/// How long the silence after the last recorded byte is taken to last.
const SILENCE: Duration = Duration::from_secs(10);

impl Replay<BufReader<File>> {
    /// Opens a capture file.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened or is no capture; the message names it.
    pub fn open(path: &Path, stream: &str) -> anyhow::Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        Self::new(BufReader::new(file), stream).with_context(|| format!("cannot replay {}", path.display()))
    }
}

impl<R: Read> Replay<R> {
    /// A replay of what `reader` gives; its events form the stream of that name.
    ///
    /// # Errors
    ///
    /// When it is no capture.
    pub fn new(reader: R, stream: &str) -> anyhow::Result<Self> {
        let mut reader = CaptureReader::new(reader)?;
        let next = reader.next_packet()?;
        let until = next
            .as_ref()
            .map_or(Timestamp::from_micros(0), |packet| packet.at);
        Ok(Self {
            reader,
            stream: stream.to_owned(),
            boards: Vec::new(),
            next,
            until,
        })
    }

    /// The boards met so far.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.boards.iter().flatten()
    }

    /// Byte offset up to which the file is whole, if it was cut off inside a block.
    #[must_use]
    pub fn truncated(&self) -> Option<u64> {
        self.reader.truncated()
    }

    /// When the next step is due; `None` at the end.
    #[must_use]
    pub fn next_at(&self) -> Option<Timestamp> {
        let deadline = self.boards().filter_map(Board::poll_deadline).min();
        match &self.next {
            Some(packet) => Some(deadline.map_or(packet.at, |deadline| deadline.min(packet.at))),
            None => deadline.filter(|deadline| *deadline <= self.until),
        }
    }

    /// Does the next step and returns what the boards say.
    ///
    /// # Errors
    ///
    /// When the capture is corrupt from here on.
    pub fn step(&mut self) -> anyhow::Result<Vec<Said>> {
        let Some(now) = self.next_at() else {
            return Ok(Vec::new());
        };
        for board in self.boards.iter_mut().flatten() {
            board.advance(now);
        }
        if let Some(packet) = self.next.take_if(|packet| packet.at <= now) {
            self.until = packet.at + SILENCE;
            self.hand_in(&packet);
            self.next = self.reader.next_packet()?;
        }
        Ok(self
            .boards
            .iter_mut()
            .flatten()
            .flat_map(Board::take_said)
            .collect())
    }

    fn hand_in(&mut self, packet: &Packet) {
        let Some(board) = self.board(packet.interface) else {
            return;
        };
        match &packet.content {
            Content::Opened => board.handle_opened(packet.at),
            Content::Closed { reason } => board.handle_closed(packet.at, reason),
            Content::Bytes {
                direction: Direction::Inbound,
                bytes,
            } => board.handle_bytes(packet.at, bytes),
            Content::Bytes {
                direction: Direction::Outbound,
                bytes,
            } => board.handle_sent(packet.at, bytes),
        }
    }

    /// The board on a port of the capture; ports in bus mode carry many and are not followed.
    fn board(&mut self, interface: usize) -> Option<&mut Board> {
        let port = self.reader.interfaces().get(interface)?;
        if port.mode == LineMode::Bus {
            return None;
        }
        if self.boards.len() <= interface {
            self.boards.resize_with(interface + 1, || None);
        }
        let stream = &self.stream;
        Some(self.boards[interface].get_or_insert_with(|| Board::new(&port.name, &port.name, stream)))
    }
}
