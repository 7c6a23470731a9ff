//! The serial line and its converter: bytes take their time.

use core::time::Duration;
use std::collections::VecDeque;

use crate::time::Timestamp;

/// What waits on its way from a board to the host.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// How long one byte takes.
    byte: Duration,
    /// The converter hands over what it has at multiples of this; zero: each byte as it comes.
    latency: Duration,
    /// When the last byte queued will have passed.
    free_at: Timestamp,
    /// Bytes with the time at which the host can read them.
    bytes: VecDeque<(Timestamp, u8)>,
}

impl Line {
    pub(super) fn new(now: Timestamp, byte: Duration, latency: Duration) -> Self {
        Self {
            byte,
            latency,
            free_at: now,
            bytes: VecDeque::new(),
        }
    }

    /// Sends bytes behind those that are still on their way.
    pub(super) fn send(&mut self, now: Timestamp, bytes: &[u8]) {
        self.free_at = self.free_at.max(now);
        for byte in bytes {
            self.free_at = self.free_at + self.byte;
            let at = handed_over(self.free_at, self.latency);
            self.bytes.push_back((at, *byte));
        }
    }

    /// When the next bytes can be read.
    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.bytes.front().map(|(at, _)| *at)
    }

    /// The bytes that can be read at the earliest time up to `now`.
    pub(super) fn receive(&mut self, now: Timestamp) -> Option<(Timestamp, Vec<u8>)> {
        let at = self.next_at().filter(|at| *at <= now)?;
        let count = self.bytes.iter().take_while(|(then, _)| *then == at).count();
        Some((at, self.bytes.drain(..count).map(|(_, byte)| byte).collect()))
    }
}

fn handed_over(at: Timestamp, latency: Duration) -> Timestamp {
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
    fn a_byte_behind_others_waits_for_them() {
        let mut line = Line::new(START, BYTE, Duration::ZERO);
        line.send(START, &[1, 2]);
        line.send(START, &[3]);
        let late = START + Duration::from_secs(1);
        let times: Vec<i64> = std::iter::from_fn(|| line.receive(late))
            .map(|(at, _)| at.as_micros() - START.as_micros())
            .collect();
        assert_eq!(times, [1040, 2080, 3120]);
    }

    #[test]
    fn nothing_is_read_before_it_has_come() {
        let mut line = Line::new(START, BYTE, Duration::ZERO);
        line.send(START, &[1]);
        assert_eq!(line.receive(START + Duration::from_micros(1039)), None);
        assert_eq!(line.receive(START + BYTE), Some((START + BYTE, vec![1])));
    }

    #[test]
    fn a_converter_hands_over_portions() {
        let mut line = Line::new(START, BYTE, Duration::from_millis(16));
        line.send(START, &[7; 20]);
        let late = START + Duration::from_secs(1);
        let sizes: Vec<usize> = std::iter::from_fn(|| line.receive(late))
            .map(|(_, bytes)| bytes.len())
            .collect();
        assert_eq!(sizes, [15, 5]);
    }
}
