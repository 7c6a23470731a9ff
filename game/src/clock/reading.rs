//! Whether a reading of the clock can be right. Nothing in its message checks the times, so that one damaged byte can show
//! a fallen flag, a press or no clock at all.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::CLOCK_REPORT_PERIOD;
use kiebitz_protocol::{ClockTimes, SideTime};

use super::{Side, lever_side};

/// What the board says of its clock; `None`: that there is none.
pub(crate) type ClockReading = Option<ClockTimes>;

/// How a reading goes with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It shows what a clock shows next.
    Plain,
    /// Hands can have done this, and a damaged reading can look like it.
    Unusual,
    /// A clock does not do this: the reading is damaged, or somebody has set or unplugged the clock.
    Contradiction,
}

/// A reading that is believed, and what is known with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrustedReading {
    pub(super) at: Timestamp,
    pub(super) times: ClockTimes,
    /// The lever has been in its position for more than this reading. In the first one after a press the times may still
    /// change.
    pub(super) lever_rests: bool,
    /// The last reading of the running clock said whose turn it was, and the lever said the same.
    pub(super) marks_turns: bool,
    /// Readings between the two were missed.
    pub(super) missed: bool,
    /// The presses are known from elsewhere.
    pub(super) presses_recorded: bool,
}

/// A clock is read late by up to a second, and shows whole ones.
const MAX_LAG: Duration = CLOCK_REPORT_PERIOD.saturating_mul(2);
/// Most seconds that a press adds to a time without a new period. A new period's time is believed when it is read again.
const MAX_INCREMENT: u32 = 61;

impl TrustedReading {
    /// What is known once the next reading is believed; `None`: that there is no clock.
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

    /// How a reading that came in at `at` fits.
    pub(super) fn fit(&self, at: Timestamp, reading: ClockReading) -> Fit {
        let Some(now) = reading else {
            return Fit::Contradiction;
        };
        let was = self.times;
        if !was.running && !now.running {
            // The clock is being set.
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
        // Two presses between two readings. A time that is read wrongly by a second looks the same.
        let halted = lever_side(was).other();
        let known = self.missed || self.presses_recorded || !self.lever_rests || !was.running;
        let fell = side_time(now, halted).total_seconds() < side_time(was, halted).total_seconds();
        if !known && !pressed && fell {
            return Fit::Unusual;
        }
        Fit::Plain
    }
}

/// Whether a side that showed `was` can show `now` when at most `passed` has gone by. Time that was added is not judged.
fn can_follow(was: SideTime, now: SideTime, passed: Duration) -> bool {
    let had = Duration::from_secs(was.total_seconds().into());
    let has = Duration::from_secs(now.total_seconds().into());
    let fell_too_far = has + passed < had;
    // A flag falls at zero. A flag that is shown may be that of the period before.
    let flag = |side: SideTime| side.flag_fallen || side.flag_shown;
    let false_flag = (flag(now) && !flag(was) && had > passed) || (now.flag_fallen && !has.is_zero());
    !fell_too_far && !false_flag
}

/// Whether a running clock says whose turn it is, and agrees with its lever.
pub(super) fn marks_turn(times: ClockTimes) -> bool {
    times.rights_turn == times.lever_right_high && times.lefts_turn != times.lever_right_high
}

/// Whether nothing more is to be expected after a reading unless something happens: boards report the clock when it
/// changes.
pub(super) fn is_last(reading: ClockReading) -> bool {
    reading.is_none_or(|times| !times.running || side_time(times, lever_side(times)).total_seconds() == 0)
}

/// A side's time.
pub(super) fn side_time(times: ClockTimes, side: Side) -> SideTime {
    match side {
        Side::Left => times.left,
        Side::Right => times.right,
    }
}
