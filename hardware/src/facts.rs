//! Figures of boards, clocks and lines that the hardware determines.
//!
//! "Described" refers to the published descriptions of the protocol (1998 to 2015), "measured" to observations on real
//! boards. Figures that this crate chooses, such as waiting times, derive from these and are defined where they are
//! used.

use core::time::Duration;

/// Speed of the line in bits per second, with 8 data bits, no parity and one stop bit (described).
pub const BAUD: u32 = 9600;

/// Transmission time of one byte: ten bits at [`BAUD`], rounded down to 10 µs.
pub const BYTE_TIME: Duration = Duration::from_micros(1040);

/// Transmission time of a field update, 5 bytes.
pub const FIELD_UPDATE_TIME: Duration = Duration::from_millis(5);

/// Transmission time of a board dump, 67 bytes.
pub const DUMP_TIME: Duration = Duration::from_millis(70);

/// Maximum duration of a scan of all 64 fields, which are sampled one after another; the minimum is 200 ms (measured).
pub const SCAN: Duration = Duration::from_millis(250);

/// Typical duration of a scan, the middle of the measured range.
pub const USUAL_SCAN: Duration = Duration::from_millis(225);

/// Maximum time between two field updates of the same scan: a scan and the transmission of both updates. The order of
/// such updates has no meaning.
pub const ONE_SCAN_APART: Duration = SCAN
    .saturating_add(FIELD_UPDATE_TIME)
    .saturating_add(FIELD_UPDATE_TIME);

/// Maximum age of a field update when it arrives: a scan and the transmission.
///
/// The same age applies on a bus, because the query for changes takes as long as a field update.
pub const FIELD_AGE: Duration = SCAN.saturating_add(FIELD_UPDATE_TIME);

/// Maximum age of a board dump when it arrives: a scan and the transmission.
pub const DUMP_AGE: Duration = SCAN.saturating_add(DUMP_TIME);

/// Interval at which a board polls its clock: two or three times a second (described).
pub const CLOCK_POLL: Duration = Duration::from_millis(400);

/// Maximum age of a clock report when it arrives (measured).
pub const CLOCK_AGE: Duration = Duration::from_secs(1);

/// Interval of clock reports in update mode, and in update-nice mode if the clock runs (described).
pub const CLOCK_REPORT_PERIOD: Duration = Duration::from_secs(1);

/// Timeout for the acknowledgement of a clock message (described: 1 to 2 s).
pub const CLOCK_MESSAGE_TIME: Duration = Duration::from_secs(2);

/// Size of a board's input buffer in bytes (described).
pub const INPUT_BUFFER: usize = 10;

/// Size of a board's memory in bytes, about 7.9 kB (described). Its transmission takes 8.3 s.
pub const MEMORY_SIZE: usize = 7900;

/// Maximum time between two changes at which the memory marks the second as quick (described: about 250 ms).
pub const QUICK_CHANGE: Duration = Duration::from_millis(250);

/// Maximum time for which a board does not answer because it writes its memory (described).
pub const MEMORY_WRITE_TIME: Duration = Duration::from_millis(20);

/// Timeout for an answer on a bus (described). Covers the reaction of the board, which takes some milliseconds, a
/// [`MEMORY_WRITE_TIME`], and the transmission.
pub const BUS_ANSWER_TIME: Duration = Duration::from_millis(80);

/// Maximum random delay with which a board on a bus answers a ping to all boards (described).
pub const PING_SPREAD: Duration = Duration::from_millis(1100);

/// Timeout for all answers to a ping to all boards. The last answer may be delayed by the line and by a converter.
pub const PING_ANSWERS_TIME: Duration = PING_SPREAD.saturating_add(Duration::from_millis(100));

/// Time in which a board writes a start tag and all pieces to its memory (described).
pub const START_TAG_TIME: Duration = Duration::from_millis(70);

/// Interval at which a USB converter delivers received bytes (default of the drivers).
pub const CONVERTER_PERIOD: Duration = Duration::from_millis(16);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the transmission time of a number of bytes.
    fn bytes(bytes: u32) -> Duration {
        BYTE_TIME * bytes
    }

    #[test]
    fn transmission_times_match_the_speed_of_the_line() {
        let bit = 1e9 / f64::from(BAUD);
        let byte = 10.0 * bit;
        assert!((byte - BYTE_TIME.as_nanos() as f64).abs() < 10_000.0);
        let about = |time: Duration, exact: Duration| time.abs_diff(exact) < Duration::from_micros(500);
        assert!(about(FIELD_UPDATE_TIME, bytes(5)));
        assert!(about(DUMP_TIME, bytes(67)));
        let memory = bytes(MEMORY_SIZE as u32);
        assert!((8.0..8.5).contains(&memory.as_secs_f64()), "{memory:?}");
    }

    #[test]
    fn ages_have_the_measured_values() {
        let millis = [FIELD_AGE, ONE_SCAN_APART, DUMP_AGE].map(|time| time.as_millis());
        assert_eq!(millis, [255, 260, 320]);
    }
}
