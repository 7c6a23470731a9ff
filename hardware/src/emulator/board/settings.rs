use core::time::Duration;

use kiebitz_protocol::{BatteryStatus, LongSerialNumber, SerialNumber};

use crate::facts::{BYTE_TIME, CLOCK_POLL, CONVERTER_PERIOD, MEMORY_WRITE_TIME, USUAL_SCAN};

/// Settings of an emulated board.
#[derive(Debug, Clone)]
pub struct BoardSettings {
    /// Serial number. If it is a number up to 16,383, it is also the board's address on a bus. `None` if the board has
    /// no serial number and therefore no address.
    pub serial: Option<SerialNumber>,
    /// Long serial number. `None` if the board has none.
    pub long_serial: Option<LongSerialNumber>,
    /// Major and minor number, each up to 127.
    pub version: (u8, u8),
    /// Reported state of the battery. `None` if the board has no battery and does not answer the query. Only Bluetooth
    /// boards have a battery.
    pub battery: Option<BatteryStatus>,
    /// Duration of a scan of all 64 squares. Real boards need 200 to 250 ms.
    pub scan_period: Duration,
    /// Delay of the first scan after power-up.
    pub scan_phase: Duration,
    /// Interval at which the board polls its clock. Real boards do so two or three times a second.
    pub clock_period: Duration,
    /// Delay of the first clock poll after power-up.
    pub clock_phase: Duration,
    /// Duration of one byte on the line: 1.04 ms at 9600 baud.
    pub byte_time: Duration,
    /// The converter delivers bytes at multiples of this time. Zero delivers them one by one. On a bus,
    /// [`EmulatedBusSettings`](crate::emulator::EmulatedBusSettings) has the converter's latency instead.
    pub latency: Duration,
    /// Time from a command to the start of the answer. Real boards need some milliseconds.
    pub response: Duration,
    /// Time that the board needs to write a change to its memory, up to 20 ms in real boards. A command that arrives in
    /// this time is answered afterwards.
    pub write_time: Duration,
    /// Seed for the random delays before answers to broadcast pings.
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
