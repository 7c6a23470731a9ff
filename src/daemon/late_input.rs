//! Estimates when inputs arrived that had to wait because the program could not run.
//!
//! A busy computer, a full memory or a suspended program can stop the event loop for seconds. Afterwards, all that the
//! boards have reported meanwhile is read at once. With the time of reading, several plies would have been made in the
//! same moment, like pieces that slide when somebody runs into the table, and every deadline would pass before the
//! answer that is already there. Only the order of the bytes of a port is known, and the two times between which they
//! arrived. They are spread evenly between these, scan by scan.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Content, Direction};
use kiebitz_hardware::facts::SCAN;
use kiebitz_hardware::port::SCAN_INTERVAL;

use crate::port::PortInput;

/// Time between two runs of the event loop after which the second one is late. The loop runs at least once for each scan
/// of the ports.
pub(super) const LATE: Duration = SCAN_INTERVAL.saturating_add(Duration::from_millis(500));

/// Assigns times from `since` to `until` to the inputs of ports. `inputs` are in the order in which they were read. Returns
/// them in the order of these times, with the bytes of a port in pieces.
pub(super) fn spread<K: Copy + PartialEq>(
    since: Timestamp,
    until: Timestamp,
    inputs: Vec<(K, PortInput)>,
) -> Vec<(Timestamp, K, PortInput)> {
    let took = until.saturating_duration_since(since);
    let scans = usize::try_from(took.as_micros().div_ceil(SCAN.as_micros()).max(1)).unwrap_or(usize::MAX);
    let mut ports: Vec<Port<K>> = Vec::new();
    for (key, input) in &inputs {
        let bytes = read_bytes(input).map_or(0, <[u8]>::len);
        match ports.iter_mut().find(|port| port.key == *key) {
            Some(port) => port.bytes += bytes,
            None => ports.push(Port {
                key: *key,
                bytes,
                spread: 0,
            }),
        }
    }
    let time = |scan: usize| {
        let share = (scan + 1) as f64 / scans as f64;
        (since + took.mul_f64(share.min(1.0))).min(until)
    };
    let mut spread = Vec::new();
    for (key, input) in inputs {
        let Some(port) = ports.iter_mut().find(|port| port.key == key) else {
            continue;
        };
        let Some(bytes) = read_bytes(&input) else {
            spread.push((time(port.scan(scans)), key, input));
            continue;
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (scan, before) = (port.scan(scans), rest.len());
            while !rest.is_empty() && port.scan(scans) == scan {
                rest = &rest[1..];
                port.spread += 1;
            }
            let piece = bytes[bytes.len() - before..bytes.len() - rest.len()].to_vec();
            let content = Content::Bytes {
                direction: Direction::Inbound,
                bytes: piece,
            };
            spread.push((time(scan), key, Ok(content)));
        }
    }
    // Stable, so that the inputs of a port stay in order.
    spread.sort_by_key(|(at, ..)| *at);
    spread
}

/// A port with inputs.
struct Port<K> {
    key: K,
    /// Number of bytes in all inputs.
    bytes: usize,
    /// Number of bytes with a time.
    spread: usize,
}

impl<K> Port<K> {
    /// Number of the scan to which the next byte belongs, from 0, if the bytes are spread over `scans`.
    fn scan(&self, scans: usize) -> usize {
        self.spread.saturating_mul(scans) / self.bytes.max(1)
    }
}

fn read_bytes(input: &PortInput) -> Option<&[u8]> {
    match input {
        Ok(Content::Bytes {
            direction: Direction::Inbound,
            bytes,
        }) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SINCE: Timestamp = Timestamp::from_micros(1_000_000);

    fn bytes(bytes: &[u8]) -> PortInput {
        Ok(Content::Bytes {
            direction: Direction::Inbound,
            bytes: bytes.to_vec(),
        })
    }

    fn after(millis: u64) -> Timestamp {
        SINCE + Duration::from_millis(millis)
    }

    #[test]
    fn the_bytes_of_each_port_are_spread_evenly() {
        let inputs = vec![
            ('a', bytes(&[1, 2, 3])),
            ('b', Ok(Content::Opened)),
            ('b', bytes(&[5, 6])),
            ('a', bytes(&[4])),
        ];
        let expected = vec![
            (after(250), 'a', bytes(&[1])),
            (after(250), 'b', Ok(Content::Opened)),
            (after(250), 'b', bytes(&[5])),
            (after(500), 'a', bytes(&[2])),
            (after(750), 'a', bytes(&[3])),
            (after(750), 'b', bytes(&[6])),
            (after(1000), 'a', bytes(&[4])),
        ];
        assert_eq!(spread(SINCE, after(1000), inputs), expected);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_order_of_a_port_is_kept(
            chunks in prop::collection::vec((0..3_u8, prop::collection::vec(any::<u8>(), 0..40)), 0..20),
            millis in 0..20_000_u64,
        ) {
            let inputs = chunks.iter().map(|(key, chunk)| (*key, bytes(chunk))).collect();
            let spread = spread(SINCE, after(millis), inputs);
            prop_assert!(spread.is_sorted_by_key(|(at, ..)| *at));
            prop_assert!(spread.iter().all(|(at, ..)| (SINCE..=after(millis)).contains(at)));
            for port in 0..3 {
                let before = chunks.iter().filter(|(key, _)| *key == port);
                let before: Vec<u8> = before.flat_map(|(_, chunk)| chunk.clone()).collect();
                let after = spread.iter().filter(|(_, key, _)| *key == port);
                let after: Vec<u8> = after.filter_map(|(.., input)| read_bytes(input)).flatten().copied().collect();
                prop_assert_eq!(before, after);
            }
        }
    }
}
