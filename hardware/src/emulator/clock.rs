//! An emulated chess clock with two sides and a lever.

use core::time::Duration;
use std::collections::VecDeque;

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
    /// Returns the other side.
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
/// At zero it behaves like a DGT 3000 or 2500. In the last period, it stops and shows the flag as fallen. In earlier
/// periods, it adds the next period's time to both sides and keeps running; the side that reached zero shows a flag for
/// five minutes.
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
    /// Times that later periods add to both sides, in order.
    later_periods: VecDeque<Duration>,
    /// Time for which the clock shows zero before it adds the next period's time.
    zero_shown: Duration,
    /// The side that last reached zero, and the time at which the clock added the next period's time.
    period_ended: Option<(ClockSide, Timestamp)>,
    /// The side on which the lever is high. Its time runs, or would run if the clock were started.
    high: ClockSide,
    /// Time up to which the running side's time has been subtracted. `None` while the clock is stopped.
    running_since: Option<Timestamp>,
    battery_low: bool,
}

/// Time for which a side shows the flag of a finished period.
const PERIOD_FLAG: Duration = Duration::from_secs(300);

impl EmulatedClock {
    /// Creates a stopped clock with this time on both sides. The lever is high on the left.
    #[must_use]
    pub const fn new(time: Duration) -> Self {
        Self {
            left: time,
            right: time,
            increment: Duration::ZERO,
            later_periods: VecDeque::new(),
            zero_shown: Duration::ZERO,
            period_ended: None,
            high: ClockSide::Left,
            running_since: None,
            battery_low: false,
        }
    }

    /// Sets the side on which the lever is high.
    #[must_use]
    pub const fn with_lever_high(mut self, side: ClockSide) -> Self {
        self.high = side;
        self
    }

    /// Sets the increment for every press (Fischer).
    #[must_use]
    pub const fn with_increment(mut self, increment: Duration) -> Self {
        self.increment = increment;
        self
    }

    /// Appends a period, whose time the clock adds to both sides when a side has used up the period before.
    #[must_use]
    pub fn with_later_period(mut self, time: Duration) -> Self {
        self.later_periods.push_back(time);
        self
    }

    /// Sets the time for which the clock shows zero before it adds the next period's time. No side is charged for it.
    #[must_use]
    pub const fn with_zero_shown(mut self, time: Duration) -> Self {
        self.zero_shown = time;
        self
    }

    /// Sets whether the clock shows the low-battery icon.
    #[must_use]
    pub const fn with_battery_low(mut self, low: bool) -> Self {
        self.battery_low = low;
        self
    }

    /// Starts the clock on the side on which the lever is high, unless the clock is running already.
    pub fn start(&mut self, now: Timestamp) {
        self.count_until(now);
        self.running_since.get_or_insert(now);
    }

    /// Stops the clock, without moving the lever.
    pub fn stop(&mut self, now: Timestamp) {
        self.count_until(now);
        self.running_since = None;
    }

    /// Presses the lever down on this side.
    ///
    /// Returns whether the lever moved. A lever that is already down on this side does not move.
    pub fn press(&mut self, now: Timestamp, side: ClockSide) -> bool {
        if self.high != side {
            return false;
        }
        self.count_until(now);
        if self.running_since.is_some() {
            if self.side_mut(side).is_zero() {
                self.enter_next_period(now);
            }
            let increment = self.increment;
            let time = self.side_mut(side);
            // A fallen flag stays at zero.
            if !time.is_zero() {
                *time += increment;
            }
        }
        self.high = side.other();
        true
    }

    /// Sets the times of both sides.
    pub fn set(&mut self, now: Timestamp, left: Duration, right: Duration) {
        self.count_until(now);
        (self.left, self.right) = (left, right);
        self.period_ended = None;
    }

    /// Replaces the periods that follow the current one.
    pub fn set_later_periods(&mut self, now: Timestamp, times: impl IntoIterator<Item = Duration>) {
        self.count_until(now);
        self.later_periods = times.into_iter().collect();
    }

    /// Returns the side on which the lever is high.
    #[must_use]
    pub const fn lever_high(&self) -> ClockSide {
        self.high
    }

    /// Returns whether the clock is running. In the last period it stops itself at zero.
    #[must_use]
    pub fn running(&self, now: Timestamp) -> bool {
        self.at(now).running_since.is_some()
    }

    /// Returns the exact time left on a side.
    #[must_use]
    pub fn remaining(&self, now: Timestamp, side: ClockSide) -> Duration {
        let clock = self.at(now);
        match side {
            ClockSide::Left => clock.left,
            ClockSide::Right => clock.right,
        }
    }

    /// Returns the clock reading that a board gets now. Fractions of a second are rounded up.
    #[must_use]
    pub fn times(&self, now: Timestamp) -> ClockTimes {
        let clock = self.at(now);
        let running = clock.running_since.is_some();
        ClockTimes {
            right: clock.side_time(now, ClockSide::Right),
            left: clock.side_time(now, ClockSide::Left),
            running,
            lever_right_high: clock.high == ClockSide::Right,
            battery_low: clock.battery_low,
            rights_turn: running && clock.high == ClockSide::Right,
            lefts_turn: running && clock.high == ClockSide::Left,
        }
    }

    /// Returns the state of the clock at `now`, without changing the clock.
    fn at(&self, now: Timestamp) -> Self {
        let mut clock = self.clone();
        clock.count_until(now);
        clock
    }

    /// Returns the displayed time of a side. Call [`count_until`](Self::count_until) first.
    fn side_time(&self, now: Timestamp, side: ClockSide) -> SideTime {
        let left = match side {
            ClockSide::Left => self.left,
            ClockSide::Right => self.right,
        };
        let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
        let seconds = seconds.min(9 * 3600 + 59 * 60 + 59);
        let digits = |n: u64| u8::try_from(n).unwrap_or(u8::MAX);
        let ended = self.period_ended.filter(|(of, _)| *of == side);
        SideTime {
            hours: digits(seconds / 3600),
            minutes: digits(seconds / 60 % 60),
            seconds: digits(seconds % 60),
            flag_fallen: left.is_zero() && self.later_periods.is_empty(),
            per_move_indicator: !self.increment.is_zero(),
            flag_shown: ended.is_some_and(|(_, at)| now < at + PERIOD_FLAG),
        }
    }

    fn side_mut(&mut self, side: ClockSide) -> &mut Duration {
        match side {
            ClockSide::Left => &mut self.left,
            ClockSide::Right => &mut self.right,
        }
    }

    /// Subtracts the time until `now` from the running side. At zero, stops the clock or enters the next period.
    fn count_until(&mut self, now: Timestamp) {
        let high = self.high;
        while let Some(since) = self.running_since.filter(|since| *since < now) {
            let left = *self.side_mut(high);
            let zero = since + left;
            if zero > now {
                *self.side_mut(high) = left.saturating_sub(now.saturating_duration_since(since));
                self.running_since = Some(now);
                return;
            }
            *self.side_mut(high) = Duration::ZERO;
            if self.later_periods.is_empty() {
                self.running_since = None;
                return;
            }
            let added = zero + self.zero_shown;
            if added > now {
                self.running_since = Some(zero);
                return;
            }
            self.enter_next_period(added);
        }
    }

    /// Adds the next period's time, if there is one. Call when the side with the high lever has used up its time.
    fn enter_next_period(&mut self, now: Timestamp) {
        if let Some(period) = self.later_periods.pop_front() {
            self.left += period;
            self.right += period;
            self.period_ended = Some((self.high, now));
            self.running_since = Some(now);
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
    fn a_fraction_of_a_second_is_rounded_up() {
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

    /// In the last period the clock stops itself at zero: after that, neither side loses time.
    #[test]
    fn a_fallen_flag_stops_the_clock() {
        let mut clock = EmulatedClock::new(Duration::from_secs(1));
        clock.start(NOON);
        assert!(clock.times(at(999)).running);
        assert!(!clock.times(at(1000)).running);
        clock.press(at(2000), ClockSide::Left);
        assert_eq!(
            clock.remaining(at(9000), ClockSide::Right),
            Duration::from_secs(1)
        );
    }

    /// DGT 3000 and 2500: both sides get the next period's time, and the side that reached zero shows its flag for five
    /// minutes while the clock runs on.
    #[test]
    fn the_flag_of_a_finished_period_is_shown_for_five_minutes() {
        let mut clock =
            EmulatedClock::new(Duration::from_secs(60)).with_later_period(Duration::from_secs(600));
        clock.start(NOON);
        let before = clock.times(at(59_999)).left;
        assert!(!before.flag_shown && before.total_seconds() == 1);
        let times = clock.times(at(60_000));
        let shown = (times.left.total_seconds(), times.right.total_seconds());
        assert_eq!((shown, times.running), ((600, 660), true));
        assert!(times.left.flag_shown && !times.left.flag_fallen && !times.right.flag_shown);
        assert!(clock.times(at(359_999)).left.flag_shown);
        assert!(!clock.times(at(360_000)).left.flag_shown);
        // The second period is the last one.
        let times = clock.times(at(660_000));
        assert!(times.left.flag_fallen && !times.running);
    }

    #[test]
    fn a_clock_may_show_zero_before_it_adds_the_next_period() {
        let mut clock = EmulatedClock::new(Duration::from_secs(60))
            .with_later_period(Duration::from_secs(600))
            .with_zero_shown(Duration::from_secs(1));
        clock.start(NOON);
        let zero = clock.times(at(60_500));
        assert_eq!(
            (zero.left.total_seconds(), zero.left.flag_fallen, zero.running),
            (0, false, true)
        );
        assert_eq!(clock.times(at(61_000)).left.total_seconds(), 600);
        let mut pressed = clock.clone();
        assert!(pressed.press(at(60_500), ClockSide::Left));
        assert_eq!(pressed.times(at(61_500)).left.total_seconds(), 600);
        assert_eq!(
            pressed.remaining(at(61_500), ClockSide::Right),
            Duration::from_secs(659)
        );
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
