//! The chess clock: which side is White's, which time runs, and when the lever is pressed.

mod face;
mod reading;

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::CLOCK_REPORT_PERIOD;
use kiebitz_protocol::{ClockTimes, SideTime};
use shakmaty::{ByColor, Color};

pub use face::{Clock, ClockFace, Flag};
pub(crate) use reading::ClockReading;
use reading::{Fit, TrustedReading, is_last, marks_turn, side_time, side_time_mut};

vocabulary! {
    "side of the clock"
    /// A side of the clock, seen from its front.
    pub enum Side {
        /// The left-hand clock.
        Left = "left",
        /// The right-hand clock.
        Right = "right",
    }
}

/// A change that a clock reading shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// A clock has answered.
    Connected,
    /// The board reports that no clock is attached.
    Disconnected,
    /// The clock's battery is low.
    BatteryLow,
    /// The clock was started.
    Started,
    /// The clock was stopped.
    Stopped,
    /// The lever moved because this side pressed it.
    Pressed(Side),
}

/// Follows the readings of one clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockWatch {
    /// The last trusted reading.
    last: Option<(Timestamp, ClockTimes)>,
    /// The last [`REMEMBERED_READINGS`] trusted readings.
    recent: VecDeque<(Timestamp, ClockTimes)>,
    /// A reading that contradicts `last` and is not yet confirmed by the reading after it.
    doubted: Option<Doubted>,
    /// Whether the last reading of the running clock marked whose turn it was, in agreement with the lever.
    marks_turns: bool,
    battery_reported: bool,
    /// Votes that White's side is the left one (positive) or the right one (negative).
    left_is_white: i8,
    /// White's side when it was last beyond doubt, see [`SURE_VOTES`].
    sure_side: Option<Side>,
    started_at: Option<Timestamp>,
    /// Time of the stop, or of the first reading with a stopped clock; `None` while it runs.
    stopped_since: Option<Timestamp>,
    /// The turn during which the running side's time is ticking.
    turn: Option<TurnTime>,
    /// Time of the last press by either side.
    pressed_at: Option<Timestamp>,
    /// Number of consecutive readings with the lever in its present position.
    lever_seen: u32,
    /// Whether readings have been missed since the last one, so that the number of lever moves is unknown.
    readings_missed: bool,
    /// The last reading before readings were missed.
    before_gap: Option<ClockTimes>,
    /// The first reading after readings were missed.
    after_gap: Option<ClockTimes>,
    /// Whether a press has been handled since readings were missed.
    pressed_since_gap: bool,
    /// Whether the board records the presses in order with the changes of the squares. If so, lever moves are not
    /// reported as presses.
    presses_recorded: bool,
}

/// A reading that is not trusted until the next reading or silence confirms it.
#[derive(Debug, Clone, Copy)]
struct Doubted {
    at: Timestamp,
    reading: ClockReading,
    fit: Fit,
}

/// The time that one side's clock has been running since the other side's press.
#[derive(Debug, Clone, Copy)]
struct TurnTime {
    /// Running time before the clock was last stopped.
    ran: Duration,
    /// Start of the present run; `None` while the clock is stopped.
    since: Option<Timestamp>,
}

/// Number of votes at which White's side is beyond doubt. Starting the clock on a start position has this weight. In
/// quick play, up to this many consecutive presses can be reported too late and vote for the wrong side.
pub(crate) const SURE_VOTES: i8 = 3;

/// Silence that confirms a reading of a stopped or missing clock. A running clock is reported once a second.
const PROVED_BY_SILENCE: Duration = CLOCK_REPORT_PERIOD.saturating_mul(3);
/// Silence that confirms a reading on a bus, where boards are queried in turn.
const PROVED_BY_SILENCE_ON_BUS: Duration = PROVED_BY_SILENCE.saturating_mul(2);

/// Number of readings kept, for plies that are announced later than they were made.
const REMEMBERED_READINGS: usize = 32;

/// Limit of the vote count. It lets a few presses reveal that the clock was turned round during a game.
const MAX_VOTES: i8 = SURE_VOTES + 1;

impl Side {
    /// The side of `color`, if `self` is White's side. It is its own inverse: the side of `color` gives White's side.
    #[must_use]
    pub fn of(self, color: Color) -> Self {
        if color.is_white() { self } else { self.other() }
    }

    fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl ClockWatch {
    /// Checks the plausibility of a clock reading. Returns the readings that are now trusted, in order, each with its
    /// time.
    ///
    /// A reading that contradicts the last trusted one is held back until the next reading confirms it. If the next
    /// reading follows from the trusted one instead, the contradicting reading was noise.
    pub(crate) fn weigh(&mut self, at: Timestamp, reading: ClockReading) -> Vec<(Timestamp, ClockReading)> {
        let Some(known) = self.known() else {
            return vec![(at, reading)];
        };
        let fit = known.fit(at, reading);
        let doubted = self.doubted.take();
        let confirmed = doubted.and_then(|doubted| {
            let next = known
                .then(doubted.at, doubted.reading)
                .map(|then| then.fit(at, reading));
            let agrees = match next {
                Some(next) => (next != Fit::Contradiction).then_some(next),
                None => reading.is_none().then_some(Fit::Plain),
            };
            let next = agrees.filter(|_| fit == Fit::Contradiction || doubted.fit == Fit::Unusual)?;
            Some((doubted, next))
        });
        let (mut believed, fit) = match confirmed {
            Some((doubted, next)) => (vec![(doubted.at, doubted.reading)], next),
            None => (Vec::new(), fit),
        };
        if fit == Fit::Plain {
            believed.push((at, reading));
        } else {
            self.doubted = Some(Doubted { at, reading, fit });
        }
        believed
    }

    /// Time at which silence will have confirmed the doubted reading.
    pub(crate) fn proved_at(&self, on_bus: bool) -> Option<Timestamp> {
        let wait = if on_bus {
            PROVED_BY_SILENCE_ON_BUS
        } else {
            PROVED_BY_SILENCE
        };
        self.doubted
            .filter(|doubted| is_last(doubted.reading))
            .map(|doubted| doubted.at + wait)
    }

    /// Returns the doubted reading, with its time, once silence has confirmed it.
    pub(crate) fn proved(&mut self) -> Option<(Timestamp, ClockReading)> {
        self.doubted.take().map(|doubted| (doubted.at, doubted.reading))
    }

    /// The state of the clock against which a reading is checked; `None` without a clock.
    fn known(&self) -> Option<TrustedReading> {
        let (at, times) = self.last?;
        Some(TrustedReading {
            at,
            times,
            lever_rests: self.lever_seen >= 2,
            marks_turns: self.marks_turns,
            missed: self.readings_missed,
            presses_recorded: self.presses_recorded,
        })
    }

    /// Applies a trusted reading and returns the changes that it shows.
    pub(crate) fn read(&mut self, at: Timestamp, times: ClockTimes) -> Vec<ClockChange> {
        let mut changes = Vec::new();
        let before = self.last.replace((at, times)).map(|(_, times)| times);
        self.recent.push_back((at, times));
        if self.recent.len() > REMEMBERED_READINGS {
            self.recent.pop_front();
        }
        let was_running = before.is_some_and(|t| t.running);
        if times.running {
            self.stopped_since = None;
        } else {
            self.stopped_since.get_or_insert(at);
        }
        if before.is_none() {
            changes.push(ClockChange::Connected);
        }
        // A single damaged bit must not raise a battery warning: two readings in a row must show it.
        let weak = times.battery_low && before.is_none_or(|t| t.battery_low);
        if weak && !self.battery_reported {
            changes.push(ClockChange::BatteryLow);
        }
        self.battery_reported = weak || (self.battery_reported && times.battery_low);
        if times.running {
            self.marks_turns = marks_turn(times);
        }
        let lever = lever_side(times);
        let moved = before.is_some_and(|t| lever_side(t) != lever);
        let missed = core::mem::take(&mut self.readings_missed);
        if missed {
            self.after_gap = Some(times);
        }
        if times.running && !was_running {
            self.started(at, moved || before.is_none());
            changes.push(ClockChange::Started);
        } else if times.running && (missed || self.presses_recorded) {
            self.turn = self.turn.filter(|_| self.presses_recorded);
        } else if times.running && moved {
            // If the lever moves on a stopped clock, somebody is setting the clock.
            changes.push(ClockChange::Pressed(lever.other()));
        } else if times.running && self.pressed_twice(before, times) {
            // The lengths of the two turns are unknown.
            self.turn = None;
            changes.extend([lever, lever.other()].map(ClockChange::Pressed));
        }
        if was_running && !times.running {
            self.stopped(at);
            changes.push(ClockChange::Stopped);
        }
        self.lever_seen = if moved {
            1
        } else {
            self.lever_seen.saturating_add(1)
        };
        changes
    }

    /// Whether both sides pressed between two readings: the lever is back in its position, and the halted side's time
    /// has decreased. (An increment or an arbiter can only increase it.) The first reading after a press does not
    /// count, as its times may still change.
    fn pressed_twice(&self, before: Option<ClockTimes>, times: ClockTimes) -> bool {
        let halted = lever_side(times).other();
        self.lever_seen >= 2
            && before.is_some_and(|before| before.running && seconds(times, halted) < seconds(before, halted))
    }

    /// Handles a start of the clock: continues the interrupted turn, or begins a new one if `another_turn` is set.
    fn started(&mut self, at: Timestamp, another_turn: bool) {
        let ran = self
            .turn
            .filter(|_| !another_turn)
            .map_or(Duration::ZERO, |turn| turn.ran);
        self.turn = Some(TurnTime { ran, since: Some(at) });
        self.started_at = Some(at);
    }

    /// Whether the clock is known to have been started by `at`.
    pub(crate) fn ran_at(&self, at: Timestamp) -> bool {
        self.started_at.is_some_and(|started| started <= at)
    }

    fn stopped(&mut self, at: Timestamp) {
        if let Some(turn) = &mut self.turn {
            turn.ran = turn.so_far(at);
            turn.since = None;
        }
    }

    /// Handles a report that no clock is attached. Returns whether there was one before.
    pub(crate) fn disconnected(&mut self) -> bool {
        self.doubted = None;
        self.marks_turns = false;
        self.battery_reported = false;
        self.turn = None;
        self.stopped_since = None;
        self.lever_seen = 0;
        // The next clock may be plugged in the other way round; one press is then enough to show it.
        self.left_is_white = self.left_is_white.signum();
        self.last.take().is_some()
    }

    /// Stops reporting lever moves as presses, because the board records the presses itself.
    pub(crate) fn presses_are_recorded(&mut self) {
        self.presses_recorded = true;
    }

    /// Marks the start of a time without readings.
    pub(crate) fn stop_listening(&mut self) {
        self.doubted = None;
        self.readings_missed = true;
        self.before_gap = self.last.map(|(_, times)| times);
        self.after_gap = None;
        self.pressed_since_gap = false;
        self.lever_seen = 0;
    }

    /// Whether readings were missed and none has arrived since, so that the present times are unknown.
    pub(crate) fn is_unheard(&self) -> bool {
        self.readings_missed
    }

    /// Whether the times show that both sides have pressed while readings were missed: only presses change the time of the
    /// side whose clock is not running.
    pub(crate) fn both_presses_missed(&self) -> bool {
        let halted = |times: ClockTimes| {
            let side = lever_side(times).other();
            times.running.then(|| (side, seconds(times, side)))
        };
        let [before, after] = [self.before_gap, self.after_gap].map(|times| times.and_then(halted));
        let has_changed = |((side, before), (other, after))| side == other && before != after;
        before.zip(after).is_some_and(has_changed)
    }

    /// The side whose clock ran at the first reading after the gap. `None` unless that reading shows a missed press, and
    /// once a later press was handled.
    pub(crate) fn turn_after_missed_press(&self) -> Option<Side> {
        let (before, after) = self.before_gap.zip(self.after_gap)?;
        let moved = before.running && lever_side(before) != lever_side(after);
        let missed = !self.pressed_since_gap && (moved || self.both_presses_missed());
        (missed && after.running).then(|| lever_side(after))
    }

    /// Times of the last reading before the gap. `None` once a later press was handled.
    pub(crate) fn shown_before_gap(&self) -> Option<Clock> {
        let mut then = self.clone();
        then.last = self
            .before_gap
            .filter(|_| !self.pressed_since_gap)
            .zip(self.last)
            .map(|(before, (at, _))| (at, before));
        then.shown()
    }

    /// Times at the first missed press by `mover`. The other side has its time from before the gap, because its clock had
    /// not started. Returns the present times if a later press was handled.
    ///
    /// `was_made` is whether the ply was made before the gap. If so, the press can only have raised the mover's time.
    pub(crate) fn shown_at_missed_press(&self, mover: Color, was_made: bool) -> Option<Clock> {
        let own = self.white_side()?.of(mover);
        let mut then = self.clone();
        if let (Some((_, times)), Some((before, after))) =
            (&mut then.last, self.before_gap.zip(self.after_gap))
            && !self.pressed_since_gap
        {
            *times = after;
            if lever_side(before) == own {
                times.lever_right_high = own == Side::Left;
                *side_time_mut(times, own.other()) = side_time(before, own.other());
                // If the mover's clock runs again, it shows less than at the press.
                if was_made && lever_side(after) == own && seconds(before, own) > seconds(after, own) {
                    *side_time_mut(times, own) = side_time(before, own);
                }
            }
        }
        then.shown()
    }

    /// Times at the first reading from `made` on that shows a press by `mover`; `None` if it is not known.
    pub(crate) fn shown_at_press(&self, mover: Color, made: Timestamp) -> Option<Clock> {
        let own = self.white_side()?.of(mover);
        let is_press = |times: &ClockTimes| times.running && lever_side(*times) != own;
        let mut then = self.clone();
        let mut recent = self.recent.iter();
        then.last = recent.find(|(at, times)| *at >= made && is_press(times)).copied();
        then.shown()
    }

    /// Time since which the clock is known to be stopped; `None` while it runs, and without a clock.
    pub(crate) fn stopped_since(&self) -> Option<Timestamp> {
        self.stopped_since
    }

    /// The last reading, for [`restore`](Self::restore).
    pub(crate) fn reading(&self) -> Option<(Timestamp, ClockTimes)> {
        self.last
    }

    /// Restores a reading that is newer than the presses replayed since [`reading`](Self::reading) returned it.
    pub(crate) fn restore(&mut self, reading: (Timestamp, ClockTimes)) {
        self.last = Some(reading);
    }

    /// Applies a press from the board's memory; `time` is the remaining time of the side that pressed.
    pub(crate) fn record_press(&mut self, at: Timestamp, pressed: Side, time: SideTime) {
        // The clock was running, although no reading of that time arrived.
        self.started_at = Some(self.started_at.map_or(at, |started| started.min(at)));
        let Some((as_of, times)) = &mut self.last else {
            return;
        };
        *as_of = at;
        times.lever_right_high = pressed == Side::Left;
        *side_time_mut(times, pressed) = time;
    }

    /// Resets the halted side's time to its value before the gap. That clock did not run until the first recorded press.
    pub(crate) fn restore_halted_time(&mut self, (side, seconds): (Side, u32)) {
        if let Some((_, times)) = &mut self.last {
            let unit = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
            *side_time_mut(times, side) = SideTime {
                hours: unit(seconds / 3600),
                minutes: unit(seconds / 60 % 60),
                seconds: unit(seconds % 60),
                ..SideTime::default()
            };
        }
    }

    /// Whether the clock runs; `None` without a clock.
    pub(crate) fn running(&self) -> Option<bool> {
        self.last.map(|(_, times)| times.running)
    }

    /// The side whose time runs, or runs as soon as the clock is started.
    pub(crate) fn turn(&self) -> Option<Side> {
        self.last.map(|(_, times)| lever_side(times))
    }

    /// Times of the left and the right side in milliseconds while the clock stands; `None` while it runs, and before
    /// the first reading.
    pub(crate) fn standing_ms(&self) -> Option<[u64; 2]> {
        let (_, times) = self.last.filter(|(_, times)| !times.running)?;
        Some([Side::Left, Side::Right].map(|side| milliseconds(side_time(times, side))))
    }

    /// The side whose clock is not running, and its time in seconds.
    pub(crate) fn halted(&self) -> Option<(Side, u32)> {
        let (_, times) = self.last?;
        let side = lever_side(times).other();
        Some((side, seconds(times, side)))
    }

    /// White's side, once there is evidence.
    pub(crate) fn white_side(&self) -> Option<Side> {
        match self.left_is_white {
            0 => None,
            1.. => Some(Side::Left),
            _ => Some(Side::Right),
        }
    }

    /// Whether White's side is beyond doubt. After the clock was disconnected, two votes are enough if they agree with
    /// the side that was beyond doubt before.
    pub(crate) fn is_sure(&self) -> bool {
        let known_before = self.white_side().is_some() && self.white_side() == self.sure_side;
        self.left_is_white.abs() >= SURE_VOTES || (known_before && self.left_is_white.abs() > 1)
    }

    /// Counts `weight` votes that `side` is White's. Returns whether that changed the result.
    pub(crate) fn vote_white(&mut self, side: Side, weight: i8) -> bool {
        let before = self.white_side();
        let signed = if side == Side::Left { weight } else { -weight };
        self.left_is_white = (self.left_is_white + signed).clamp(-MAX_VOTES, MAX_VOTES);
        if self.left_is_white.abs() >= SURE_VOTES {
            self.sure_side = self.white_side();
        }
        self.white_side() != before
    }

    /// Forgets which side is White's: the clock may stand the other way round in another game.
    pub(crate) fn forget_sides(&mut self) {
        self.left_is_white = 0;
        self.sure_side = None;
    }

    /// The colour of the player on `side`, once known.
    pub(crate) fn color_of(&self, side: Side) -> Option<Color> {
        self.white_side().map(|white| Color::from_white(white == side))
    }

    /// The display of the clock, once White's side is known.
    pub(crate) fn shown(&self) -> Option<Clock> {
        Some(self.face()?.clock)
    }

    /// The display with the time of its reading, once White's side is known.
    pub(crate) fn face(&self) -> Option<ClockFace> {
        let (as_of, times) = self.last?;
        let white = self.white_side()?;
        let (left, right) = (times.left, times.right);
        let sides = match white {
            Side::Left => ByColor {
                white: left,
                black: right,
            },
            Side::Right => ByColor {
                white: right,
                black: left,
            },
        };
        let ms = sides.map(milliseconds);
        let flags = sides.map(|side| side.flag_fallen || side.flag_shown);
        let running = times
            .running
            .then(|| Color::from_white(lever_side(times) == white));
        let clock = Clock {
            white_ms: ms.white,
            black_ms: ms.black,
            running,
            flag: Flag::of(flags),
        };
        Some(ClockFace { clock, as_of })
    }

    pub(crate) fn pressed_at(&self) -> Option<Timestamp> {
        self.pressed_at
    }

    /// Forgets presses later than `at`: they are in the board's record and will be replayed.
    pub(crate) fn forget_presses_after(&mut self, at: Timestamp) {
        self.pressed_at.take_if(|pressed| *pressed > at);
    }

    /// Ends the turn at `at` and begins the other side's. Returns how long the clock ran in it, if known. `dated`
    /// states whether the time of the press is known.
    pub(crate) fn end_turn(&mut self, at: Timestamp, dated: bool) -> Option<Duration> {
        self.pressed_at = Some(at);
        self.pressed_since_gap = true;
        let next = TurnTime {
            ran: Duration::ZERO,
            since: Some(at),
        };
        let turn = core::mem::replace(&mut self.turn, dated.then_some(next)).filter(|_| dated)?;
        // If one reading shows two presses, the length of the second turn is unknown.
        Some(turn.so_far(at)).filter(|elapsed| !elapsed.is_zero())
    }
}

impl TurnTime {
    fn so_far(&self, at: Timestamp) -> Duration {
        self.ran
            + self
                .since
                .map_or(Duration::ZERO, |since| at.saturating_duration_since(since))
    }
}

fn seconds(times: ClockTimes, side: Side) -> u32 {
    side_time(times, side).total_seconds()
}

/// The side whose time runs. Its end of the lever is high, because the other player has pressed the other end down.
fn lever_side(times: ClockTimes) -> Side {
    if times.lever_right_high {
        Side::Right
    } else {
        Side::Left
    }
}

fn milliseconds(time: SideTime) -> u64 {
    u64::from(time.total_seconds()) * 1000
}
