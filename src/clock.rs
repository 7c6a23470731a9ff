//! Clock times in the form in which all outputs write them, so that no two outputs differ by a second.

use core::time::Duration;

use kiebitz_game::clock::ClockFace;
use kiebitz_game::events::{Clock, Flag, color, rfc3339_option, time_or_null};
use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

/// The times on a clock's display. A client counts down the running side itself, starting at `as_of`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockView {
    /// White's time in milliseconds; `None` without a clock, or until White's side of it is known.
    pub white_ms: Option<u64>,
    /// Black's time in milliseconds; `None` as for White.
    pub black_ms: Option<u64>,
    /// The side whose time is running; `None` if neither is.
    #[serde(with = "color::option")]
    pub running: Option<Color>,
    /// The side whose flag is shown as fallen; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flag: Option<Flag>,
    /// Time at which the clock reading arrived.
    #[serde(serialize_with = "rfc3339_option", deserialize_with = "time_or_null")]
    pub as_of: Option<Timestamp>,
}

/// Largest difference from a client's own count that is not published. The board reports whole seconds, up to a second
/// late; a larger difference means that the clock was set or corrected.
const MAX_DRIFT: Duration = Duration::from_secs(2);

impl ClockView {
    /// The view of a clock face. Empty if `face` is `None`: without a clock, or until White's side of it is known.
    #[must_use]
    pub fn new(face: Option<ClockFace>) -> Self {
        face.map_or_else(Self::default, |face| Self::of_reading(face.clock, face.as_of))
    }

    /// The view of a clock reading that arrived at `as_of`.
    #[must_use]
    pub fn of_reading(clock: Clock, as_of: Timestamp) -> Self {
        Self {
            white_ms: Some(clock.white_ms),
            black_ms: Some(clock.black_ms),
            running: clock.running,
            flag: clock.flag,
            as_of: Some(as_of),
        }
    }

    /// Whether a client that counts down from this published view shows other times than a new reading.
    pub(crate) fn differs(&self, reading: &Self) -> bool {
        let published = self;
        if published.running != reading.running || published.flag != reading.flag {
            return true;
        }
        let elapsed = match (published.as_of, reading.as_of) {
            (Some(published), Some(reading)) => reading.saturating_duration_since(published),
            (None, None) => return false,
            _ => return true,
        };
        let side_differs = |runs: bool, published: Option<u64>, reading: Option<u64>| {
            let (Some(published), Some(reading)) = (published, reading) else {
                return published != reading;
            };
            if runs {
                let shown = Duration::from_millis(published).saturating_sub(elapsed);
                shown.abs_diff(Duration::from_millis(reading)) > MAX_DRIFT
            } else {
                published != reading
            }
        };
        side_differs(
            published.running == Some(Color::White),
            published.white_ms,
            reading.white_ms,
        ) || side_differs(
            published.running == Some(Color::Black),
            published.black_ms,
            reading.black_ms,
        )
    }
}

/// A time on a clock as h:mm:ss, rounded down to whole seconds like the display.
pub(crate) fn shown(ms: u64) -> String {
    hours(ms / 1000)
}

/// A time on a clock as hh:mm:ss, rounded down to whole seconds.
pub(crate) fn shown_in_full(ms: u64) -> String {
    let seconds = ms / 1000;
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Time taken by a move, rounded to seconds. The board reports the clock two or three times a second, so more precision
/// is not available.
pub(crate) const fn taken_seconds(ms: u64) -> u64 {
    ms.saturating_add(500) / 1000
}

/// Time taken by a move as h:mm:ss.
pub(crate) fn taken(ms: u64) -> String {
    hours(taken_seconds(ms))
}

fn hours(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_with_and_without_a_clock_are_read_as_written() {
        let as_of = Timestamp::from_micros(1_789_000_000_000_000);
        let some = ClockView {
            white_ms: Some(7000),
            black_ms: Some(8000),
            running: Some(Color::Black),
            flag: None,
            as_of: Some(as_of),
        };
        for clock in [some, ClockView::default()] {
            let text = serde_json::to_string(&clock).expect("JSON");
            let read: ClockView = serde_json::from_str(&text).expect("understood");
            assert_eq!(read, clock);
        }
    }

    #[test]
    fn clock_times_are_rounded_down_and_move_times_to_the_nearest_second() {
        assert_eq!(shown(5_400_999), "1:30:00");
        assert_eq!(shown(59_000), "0:00:59");
        assert_eq!(taken(59_499), "0:00:59");
        assert_eq!(taken(3_599_500), "1:00:00");
        assert_eq!(taken_seconds(u64::MAX), u64::MAX / 1000);
    }
}
