//! The serial line and its converter, with the delay of every byte.

use core::time::Duration;
use std::collections::VecDeque;

use crate::time::Timestamp;

/// Bytes in transit from a board to the host.
#[derive(Debug, Clone)]
pub(super) struct Wire {
    byte: Duration,
    /// The converter delivers bytes at multiples of this time. Zero delivers each byte immediately.
    latency: Duration,
    /// End of the transmission of the last queued byte.
    free_at: Timestamp,
    /// Queued bytes with the end of their transmission.
    bytes: VecDeque<(Timestamp, u8)>,
    damage: Option<Damage>,
}

impl Wire {
    pub(super) fn new(now: Timestamp, byte: Duration, latency: Duration) -> Self {
        Self {
            byte,
            latency,
            free_at: now,
            bytes: VecDeque::new(),
            damage: None,
        }
    }

    /// Damages `per_mille` of every thousand messages from now on.
    pub(super) fn damage(&mut self, per_mille: u16, seed: u64) {
        self.damage = (per_mille > 0).then(|| Damage::new(per_mille, seed));
    }

    /// Sends a message, after the messages still in transit.
    pub(super) fn send(&mut self, now: Timestamp, message: &[u8]) {
        let mut message = message.to_vec();
        if let Some(damage) = &mut self.damage {
            damage.maybe_damage(&mut message);
        }
        self.free_at = self.free_at.max(now);
        for byte in message {
            self.free_at = self.free_at + self.byte;
            self.bytes.push_back((self.free_at, byte));
        }
    }

    pub(super) fn free_at(&self) -> Timestamp {
        self.free_at
    }

    /// Drops the bytes whose transmission has not ended by `now`.
    pub(super) fn discard_unsent(&mut self, now: Timestamp) {
        self.bytes.retain(|(at, _)| *at <= now);
        self.free_at = now;
    }

    /// Returns the start of the transmission of the next byte.
    pub(super) fn next_begins(&self) -> Option<Timestamp> {
        self.bytes.front().map(|(at, _)| at.saturating_sub(self.byte))
    }

    /// Returns the next byte whose transmission began before `now`, with the end of its transmission.
    pub(super) fn pop_begun(&mut self, now: Timestamp) -> Option<(Timestamp, u8)> {
        self.next_begins().filter(|begins| *begins < now)?;
        self.bytes.pop_front()
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.bytes.front().map(|(at, _)| delivery_time(*at, self.latency))
    }

    /// Returns the next bytes that can be read by `now`, with their delivery time.
    pub(super) fn receive(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        let at = self.next_at().filter(|at| *at <= now)?;
        let latency = self.latency;
        let count = self
            .bytes
            .iter()
            .take_while(|(passed, _)| delivery_time(*passed, latency) == at)
            .count();
        Some((at, self.bytes.drain(..count).map(|(_, byte)| byte).collect()))
    }
}

/// Damages a share of the messages on a line.
#[derive(Debug, Clone)]
pub(super) struct Damage {
    per_mille: u16,
    random: fastrand::Rng,
}

impl Damage {
    pub(super) fn new(per_mille: u16, seed: u64) -> Self {
        Self {
            per_mille,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Damages the message with the configured probability: one byte is changed or lost, the end is cut off, or the
    /// whole message is lost.
    ///
    /// The two length bytes are not changed, so that the checksum or the length of a bus message reveals all damage.
    /// With a wrong length, another byte would be a valid checksum in one of 128 cases.
    pub(super) fn maybe_damage(&mut self, message: &mut Vec<u8>) {
        if message.is_empty() || self.random.u16(..1000) >= self.per_mille {
            return;
        }
        let place = match self.random.usize(..message.len()) {
            1 | 2 => 0,
            place => place,
        };
        match self.random.u8(..4) {
            0 => {
                if let Some(byte) = message.get_mut(place) {
                    *byte ^= 1 << self.random.u8(..8);
                }
            }
            1 => {
                message.remove(place);
            }
            2 => message.truncate(place),
            _ => message.clear(),
        }
    }
}

/// Returns when the converter delivers a byte whose transmission ended at `at`.
pub(super) fn delivery_time(at: Timestamp, latency: Duration) -> Timestamp {
    let Ok(step) = i64::try_from(latency.as_micros()) else {
        return at;
    };
    if step == 0 {
        return at;
    }
    let past = at.as_micros().rem_euclid(step);
    if past == 0 {
        at
    } else {
        Timestamp::from_micros(at.as_micros() - past + step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_micros(16_000_000);
    const BYTE: Duration = Duration::from_micros(1040);

    #[test]
    fn bytes_pass_one_after_another() {
        let mut line = Wire::new(START, BYTE, Duration::ZERO);
        line.send(START, &[1, 2]);
        line.send(START, &[3]);
        let late = START + Duration::from_secs(1);
        let times: Vec<i64> = std::iter::from_fn(|| line.receive(late))
            .map(|(at, _)| at.as_micros() - START.as_micros())
            .collect();
        assert_eq!(times, [1040, 2080, 3120]);
    }

    #[test]
    fn a_byte_can_be_read_once_it_has_passed() {
        let mut line = Wire::new(START, BYTE, Duration::ZERO);
        line.send(START, &[1]);
        assert_eq!(line.receive(START + Duration::from_micros(1039)), None);
        assert_eq!(line.receive(START + BYTE), Some((START + BYTE, vec![1])));
    }

    #[test]
    fn a_converter_delivers_bytes_in_chunks() {
        let mut line = Wire::new(START, BYTE, Duration::from_millis(16));
        line.send(START, &[7; 20]);
        let late = START + Duration::from_secs(1);
        let sizes: Vec<usize> = std::iter::from_fn(|| line.receive(late))
            .map(|(_, bytes)| bytes.len())
            .collect();
        assert_eq!(sizes, [15, 5]);
    }
}
