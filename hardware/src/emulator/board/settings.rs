//! How an emulated board is made.

use core::time::Duration;

use kiebitz_protocol::{BatteryStatus, LongSerialNumber, SerialNumber};

use crate::facts::{BYTE_TIME, CLOCK_POLL, CONVERTER_PERIOD, MEMORY_WRITE_TIME, USUAL_SCAN};

/// How an emulated board is made.
#[derive(Debug, Clone)]
pub struct BoardSettings {
    /// Five characters, which are its address on a bus if they are a number up to 16,383; `None`: the board has
    /// none, and cannot be addressed on a bus.
    pub serial: Option<SerialNumber>,
    /// Ten characters; `None`: the board has none.
    pub long_serial: Option<LongSerialNumber>,
    /// Major and minor number, each up to 127.
    pub version: (u8, u8),
    /// What the board reports of its battery; `None`: it has none and does not answer. Only Bluetooth boards have one.
    pub battery: Option<BatteryStatus>,
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
    /// The converter hands bytes over at multiples of this; zero: one by one. On a bus the bus has the converter.
    pub latency: Duration,
    /// How long after a command its answer begins: milliseconds.
    pub response: Duration,
    /// How long the board writes a change to its memory; a command that comes then is answered afterwards. Boards
    /// need up to 20 ms.
    pub write_time: Duration,
    /// What the board draws its moments from when it answers a bus ping to all: same seed, same moments.
    pub seed: u64,
}

impl Default for BoardSettings {
    fn default() -> Self {
        Self {
            serial: SerialNumber::new(*b"00042"),
            long_serial: LongSerialNumber::new(*b"0000000042"),
            version: (1, 8),
            battery: None,
            scan_period: USUAL_SCAN,
            scan_phase: Duration::ZERO,
            clock_period: CLOCK_POLL,
            clock_phase: Duration::from_millis(130),
            byte_time: BYTE_TIME,
            latency: CONVERTER_PERIOD,
            response: Duration::from_millis(2),
            write_time: MEMORY_WRITE_TIME,
            seed: 42,
        }
    }
}
