//! Plausibility of a clock reading. The clock message has no checksum over the times, so that one damaged byte can show
//! a fallen flag, a press or a missing clock.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::CLOCK_REPORT_PERIOD;
use kiebitz_protocol::{ClockTimes, SideTime};

use super::{Side, lever_side};

/// The board's report about its clock; `None` if no clock is attached.
pub(crate) type ClockReading = Option<ClockTimes>;

/// How a reading fits the reading before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// An undamaged clock can show this next.
    Plain,
    /// Players can have caused this, but a damaged reading can look the same.
    Unusual,
    /// A clock does not do this: the reading is damaged, or somebody has set or unplugged the clock.
    Contradiction,
}

/// A trusted reading and the context needed to judge the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrustedReading {
    pub(super) at: Timestamp,
    pub(super) times: ClockTimes,
    /// Whether earlier readings showed the lever in the same position. In the first reading after a press, the times
    /// may still change.
    pub(super) lever_rests: bool,
    /// Whether the last reading of the running clock marked whose turn it was, in agreement with the lever.
    pub(super) marks_turns: bool,
    /// Whether readings have been missed since this one.
    pub(super) missed: bool,
    /// Whether the board records the presses itself.
    pub(super) presses_recorded: bool,
}

/// Tolerance for elapsed time: a reading arrives up to a second late, and the clock shows whole seconds.
const MAX_LAG: Duration = CLOCK_REPORT_PERIOD.saturating_mul(2);
/// Most seconds that a press adds without starting a new period. The time of a new period is trusted at its second
/// reading.
const MAX_INCREMENT: u32 = 61;

impl TrustedReading {
    /// The state after `reading`, assuming that it is trusted; `None` if it reports that no clock is attached.
    pub(super) fn then(&self, at: Timestamp, reading: ClockReading) -> Option<Self> {
        let times = reading?;
        Some(Self {
            at,
            times,
            lever_rests: lever_side(times) == lever_side(self.times),
            marks_turns: if times.running {
                marks_turn(times)
            } else {
                self.marks_turns
            },
            missed: false,
            ..*self
        })
    }

    /// Judges a reading that arrived at `at`.
    pub(super) fn fit(&self, at: Timestamp, reading: ClockReading) -> Fit {
        let Some(now) = reading else {
            return Fit::Contradiction;
        };
        let was = self.times;
        if !was.running && !now.running {
            // Somebody is setting the clock.
            return Fit::Plain;
        }
        if now.running && self.marks_turns && !marks_turn(now) {
            return Fit::Contradiction;
        }
        let passed = at.saturating_duration_since(self.at) + MAX_LAG;
        let pressed = was.running && lever_side(now) != lever_side(was);
        let may_gain = self.missed || pressed || (was.running && !self.lever_rests);
        let can_be = |side: Side| {
            let (was, now) = (side_time(was, side), side_time(now, side));
            can_follow(was, now, passed) && (may_gain || now.total_seconds() <= was.total_seconds())
        };
        let gain = |side: Side| {
            let (was, now) = (side_time(was, side), side_time(now, side));
            now.total_seconds().saturating_sub(was.total_seconds())
        };
        let sides = [Side::Left, Side::Right];
        let too_much = !self.missed && sides.into_iter().any(|side| gain(side) > MAX_INCREMENT);
        if too_much || !sides.into_iter().all(can_be) {
            return Fit::Contradiction;
        }
        // Either there were two presses between two readings, or a time was misread by a second.
        let halted = lever_side(was).other();
        let is_explained = self.missed || self.presses_recorded || !self.lever_rests || !was.running;
        let fell = side_time(now, halted).total_seconds() < side_time(was, halted).total_seconds();
        if !is_explained && !pressed && fell {
            return Fit::Unusual;
        }
        Fit::Plain
    }
}

/// Whether a side that showed `was` can show `now` after at most `passed`. Does not check for added time.
fn can_follow(was: SideTime, now: SideTime, passed: Duration) -> bool {
    let had = Duration::from_secs(was.total_seconds().into());
    let has = Duration::from_secs(now.total_seconds().into());
    let fell_too_far = has + passed < had;
    // A flag falls at zero, but the flag shown may belong to the period before.
    let flag = |side: SideTime| side.flag_fallen || side.flag_shown;
    let false_flag = (flag(now) && !flag(was) && had > passed) || (now.flag_fallen && !has.is_zero());
    !fell_too_far && !false_flag
}

/// Whether the reading marks whose turn it is, in agreement with the lever.
pub(super) fn marks_turn(times: ClockTimes) -> bool {
    times.rights_turn == times.lever_right_high && times.lefts_turn != times.lever_right_high
}

/// Whether no further reading is due after this one. Boards report the clock only when it changes, so a stopped clock
/// or one at zero stays silent.
pub(super) fn is_last(reading: ClockReading) -> bool {
    reading.is_none_or(|times| !times.running || side_time(times, lever_side(times)).total_seconds() == 0)
}

pub(super) fn side_time(times: ClockTimes, side: Side) -> SideTime {
    match side {
        Side::Left => times.left,
        Side::Right => times.right,
    }
}

pub(super) fn side_time_mut(times: &mut ClockTimes, side: Side) -> &mut SideTime {
    match side {
        Side::Left => &mut times.left,
        Side::Right => &mut times.right,
    }
}
