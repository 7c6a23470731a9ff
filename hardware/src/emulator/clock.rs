//! A chess clock with two sides and a lever.

use core::time::Duration;

use kiebitz_protocol::{ClockTimes, SideTime};

use crate::time::Timestamp;

/// A side of the clock, seen from its front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClockSide {
    /// The left-hand clock.
    Left,
    /// The right-hand clock.
    Right,
}

impl ClockSide {
    /// The other side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// A clock that counts down, with or without an increment for every press (Fischer).
///
/// ```
/// use core::time::Duration;
/// use kiebitz_hardware::Timestamp;
/// use kiebitz_hardware::emulator::{ClockSide, EmulatedClock};
///
/// let noon = Timestamp::from_micros(1_789_000_000_000_000);
/// let mut clock = EmulatedClock::new(Duration::from_secs(180)).with_increment(Duration::from_secs(2));
/// clock.start(noon);
/// clock.press(noon + Duration::from_secs(5), ClockSide::Left);
/// assert_eq!(clock.remaining(noon + Duration::from_secs(60), ClockSide::Left), Duration::from_secs(177));
/// assert_eq!(clock.remaining(noon + Duration::from_secs(60), ClockSide::Right), Duration::from_secs(125));
/// ```
#[derive(Debug, Clone)]
pub struct EmulatedClock {
    left: Duration,
    right: Duration,
    increment: Duration,
    /// The side on which the lever is high: its time runs, or would run.
    high: ClockSide,
    /// Since when that side's time has been running; `None` when the clock is stopped.
    running_since: Option<Timestamp>,
    battery_low: bool,
}

impl EmulatedClock {
    /// A stopped clock with this time on both sides; the lever is high on the left.
    #[must_use]
    pub const fn new(time: Duration) -> Self {
        Self {
            left: time,
            right: time,
            increment: Duration::ZERO,
            high: ClockSide::Left,
            running_since: None,
            battery_low: false,
        }
    }

    /// The same clock with the lever high on this side.
    #[must_use]
    pub const fn with_lever_high(mut self, side: ClockSide) -> Self {
        self.high = side;
        self
    }

    /// The same clock with an increment for every press (Fischer).
    #[must_use]
    pub const fn with_increment(mut self, increment: Duration) -> Self {
        self.increment = increment;
        self
    }

    /// The same clock with or without its sign for a weak battery.
    #[must_use]
    pub const fn with_battery_low(mut self, low: bool) -> Self {
        self.battery_low = low;
        self
    }

    /// Starts the side on which the lever is high; nothing if the clock runs already.
    pub fn start(&mut self, now: Timestamp) {
        self.running_since.get_or_insert(now);
    }

    /// Stops the clock.
    pub fn stop(&mut self, now: Timestamp) {
        self.count(now);
        self.running_since = None;
    }

    /// Presses the lever down on this side. Nothing happens where it is down already.
    ///
    /// Returns whether the lever went over.
    pub fn press(&mut self, now: Timestamp, side: ClockSide) -> bool {
        if self.high != side {
            return false;
        }
        self.count(now);
        if self.running_since.is_some() {
            let increment = self.increment;
            let time = self.side_mut(side);
            // A side whose flag has fallen stands at zero for good.
            if !time.is_zero() {
                *time += increment;
            }
        }
        self.high = side.other();
        true
    }

    /// Sets the times of both sides.
    pub fn set(&mut self, now: Timestamp, left: Duration, right: Duration) {
        self.count(now);
        (self.left, self.right) = (left, right);
    }

    /// The side on which the lever is high.
    #[must_use]
    pub const fn lever_high(&self) -> ClockSide {
        self.high
    }

    /// Whether time is running.
    #[must_use]
    pub const fn running(&self) -> bool {
        self.running_since.is_some()
    }

    /// The exact time left on a side.
    #[must_use]
    pub fn remaining(&self, now: Timestamp, side: ClockSide) -> Duration {
        let time = match side {
            ClockSide::Left => self.left,
            ClockSide::Right => self.right,
        };
        match self.running_since {
            Some(since) if self.high == side => time.saturating_sub(now.saturating_duration_since(since)),
            _ => time,
        }
    }

    /// What the clock reports to a board that asks it now. Begun seconds are shown as whole ones.
    #[must_use]
    pub fn times(&self, now: Timestamp) -> ClockTimes {
        ClockTimes {
            right: self.side_time(now, ClockSide::Right),
            left: self.side_time(now, ClockSide::Left),
            running: self.running(),
            lever_right_high: self.high == ClockSide::Right,
            battery_low: self.battery_low,
            rights_turn: self.running() && self.high == ClockSide::Right,
            lefts_turn: self.running() && self.high == ClockSide::Left,
        }
    }

    fn side_time(&self, now: Timestamp, side: ClockSide) -> SideTime {
        let left = self.remaining(now, side);
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        let seconds = seconds.min(9 * 3600 + 59 * 60 + 59);
        let digits = |n: u64| u8::try_from(n).unwrap_or(u8::MAX);
        SideTime {
            hours: digits(seconds / 3600),
            minutes: digits(seconds / 60 % 60),
            seconds: digits(seconds % 60),
            flag_fallen: left.is_zero(),
            per_move_indicator: !self.increment.is_zero(),
            flag_shown: false,
        }
    }

    fn side_mut(&mut self, side: ClockSide) -> &mut Duration {
        match side {
            ClockSide::Left => &mut self.left,
            ClockSide::Right => &mut self.right,
        }
    }

    /// Takes the time that has run until now off the running side.
    fn count(&mut self, now: Timestamp) {
        let left = self.remaining(now, self.high);
        let high = self.high;
        *self.side_mut(high) = left;
        if let Some(since) = &mut self.running_since {
            *since = now.max(*since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn at(millis: u64) -> Timestamp {
        NOON + Duration::from_millis(millis)
    }

    #[test]
    fn only_the_side_with_the_high_lever_loses_time() {
        let mut clock = EmulatedClock::new(Duration::from_secs(60)).with_lever_high(ClockSide::Right);
        clock.start(NOON);
        assert!(clock.press(at(1500), ClockSide::Right));
        clock.stop(at(4500));
        assert_eq!(
            clock.remaining(at(9000), ClockSide::Right),
            Duration::from_millis(58_500)
        );
        assert_eq!(
            clock.remaining(at(9000), ClockSide::Left),
            Duration::from_secs(57)
        );
    }

    #[test]
    fn a_lever_that_is_down_cannot_be_pressed() {
        let mut clock = EmulatedClock::new(Duration::from_secs(60)).with_increment(Duration::from_secs(5));
        clock.start(NOON);
        assert!(!clock.press(at(1000), ClockSide::Right));
        assert_eq!(
            clock.remaining(at(1000), ClockSide::Right),
            Duration::from_secs(60)
        );
    }

    #[test]
    fn a_begun_second_is_shown_whole() {
        let mut clock = EmulatedClock::new(Duration::from_secs(60));
        clock.start(NOON);
        assert_eq!(clock.times(at(1)).left.total_seconds(), 60);
        assert_eq!(clock.times(at(1000)).left.total_seconds(), 59);
        assert_eq!(clock.times(at(1001)).left.total_seconds(), 59);
    }

    #[test]
    fn a_flag_falls_at_zero_and_stays_down() {
        let mut clock = EmulatedClock::new(Duration::from_secs(1)).with_increment(Duration::from_secs(2));
        clock.start(NOON);
        assert!(!clock.times(at(999)).left.flag_fallen);
        assert!(clock.times(at(1000)).left.flag_fallen);
        clock.press(at(2000), ClockSide::Left);
        assert_eq!(clock.remaining(at(2000), ClockSide::Left), Duration::ZERO);
    }

    #[test]
    fn a_press_on_a_stopped_clock_moves_only_the_lever() {
        let mut clock = EmulatedClock::new(Duration::from_secs(60)).with_increment(Duration::from_secs(2));
        assert!(clock.press(NOON, ClockSide::Left));
        let times = clock.times(at(5000));
        assert!(times.lever_right_high && !times.running && !times.rights_turn);
        assert_eq!(times.left.total_seconds(), 60);
    }
}
