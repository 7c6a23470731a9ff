//! What boards, clocks and their lines are like: every figure that is given by the hardware, in one place.
//!
//! "Described" stands for the published descriptions of the protocol (1998 to 2015), "measured" for what readers of
//! real boards have observed. What this program chooses on top of them, such as how long it waits, stands
//! where it is used, derived from these.

use core::time::Duration;

/// Bits per second on the line, with 8 data bits, no parity and one stop bit (described).
pub const BAUD: u32 = 9600;

/// What a byte takes on the line: ten bits at [`BAUD`], cut to 10 µs.
pub const BYTE_TIME: Duration = Duration::from_micros(1040);

/// What a report of one field takes on the line: 5 bytes.
pub const FIELD_UPDATE_TIME: Duration = Duration::from_millis(5);

/// What a dump takes on the line: 67 bytes.
pub const DUMP_TIME: Duration = Duration::from_millis(70);

/// The longest scan of all 64 fields, which are sampled one after another; the shortest takes 200 ms (measured).
pub const SCAN: Duration = Duration::from_millis(250);

/// A usual scan, in the middle of what was measured.
pub const USUAL_SCAN: Duration = Duration::from_millis(225);

/// Two reports that come at most this far apart can be of one scan, and then their order means nothing: the scan, and
/// each report on the line.
pub const ONE_SCAN_APART: Duration = SCAN
    .saturating_add(FIELD_UPDATE_TIME)
    .saturating_add(FIELD_UPDATE_TIME);

/// How old a report of a field can be when it is heard: a scan, and itself on the line.
///
/// The same holds on a bus, where the question for changes takes as long.
pub const FIELD_AGE: Duration = SCAN.saturating_add(FIELD_UPDATE_TIME);

/// How old a dump can be when it is heard: a scan, and itself on the line.
pub const DUMP_AGE: Duration = SCAN.saturating_add(DUMP_TIME);

/// How often a board asks its clock: two or three times a second (described).
pub const CLOCK_POLL: Duration = Duration::from_millis(400);

/// How old a report of the clock's display can be when it is heard (measured).
pub const CLOCK_AGE: Duration = Duration::from_secs(1);

/// How often a board in update mode reports its clock, and one in update-nice mode a clock that runs (described).
pub const CLOCK_REPORT_PERIOD: Duration = Duration::from_secs(1);

/// A clock message is acknowledged within this time, if at all (described: 1 to 2 s).
pub const CLOCK_MESSAGE_TIME: Duration = Duration::from_secs(2);

/// Bytes that a board's input buffer holds (described).
pub const INPUT_BUFFER: usize = 10;

/// Bytes that a board's memory holds: some 7.9 kB (described). All of them take 8.3 s on the line.
pub const MEMORY_SIZE: usize = 7900;

/// The memory marks a change as quick that comes sooner than this after the one before (described: some 250 ms).
pub const QUICK_CHANGE: Duration = Duration::from_millis(250);

/// The longest time for which a board writes to its memory and answers nothing (described).
pub const MEMORY_WRITE_TIME: Duration = Duration::from_millis(20);

/// A board on a bus that has not answered by then will not: it needs milliseconds, or [`MEMORY_WRITE_TIME`], and the
/// time on the line (described as the time-out to use).
pub const BUS_ANSWER_TIME: Duration = Duration::from_millis(80);

/// Every board of a bus answers a ping to all at a random moment within this time (described).
pub const PING_SPREAD: Duration = Duration::from_millis(1100);

/// All answers to a ping to all have come by then: the last may wait for the line, and in a converter.
pub const PING_ANSWERS_TIME: Duration = PING_SPREAD.saturating_add(Duration::from_millis(100));

/// What a board needs to write a start tag and all pieces to its memory (described).
pub const START_TAG_TIME: Duration = Duration::from_millis(70);

/// USB converters hand over what they have at multiples of this (their drivers' default).
pub const CONVERTER_PERIOD: Duration = Duration::from_millis(16);

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes on the line.
    fn bytes(bytes: u32) -> Duration {
        BYTE_TIME * bytes
    }

    #[test]
    fn times_on_the_line_follow_from_its_speed() {
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
    fn ages_and_distances_are_what_has_been_measured() {
        let millis = [FIELD_AGE, ONE_SCAN_APART, DUMP_AGE].map(|time| time.as_millis());
        assert_eq!(millis, [255, 260, 320]);
    }
}
