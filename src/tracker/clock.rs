//! The clock beside the board: which side is White's, whose time runs, and the presses of its lever.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{ClockTimes, SideTime};
use shakmaty::{ByColor, Color};

use crate::vocabulary::vocabulary;

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

/// What the clock shows, once White's side of it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockFace {
    /// White's time in milliseconds; the board reports whole seconds.
    pub white_ms: u64,
    /// Black's time in milliseconds.
    pub black_ms: u64,
    /// Whose time runs; `None` when the clock is stopped.
    pub running: Option<Color>,
    /// Whose flag the clock shows as fallen; in an earlier period it may show one while time runs on.
    pub flags: ByColor<bool>,
    /// Arrival of the reading.
    pub as_of: Timestamp,
}

/// Something about the clock that the readings told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// A clock answers.
    Connected,
    /// The board says that there is no clock.
    Disconnected,
    /// The clock's battery is low.
    BatteryLow,
    /// The clock was started.
    Started,
    /// The clock was stopped.
    Stopped,
    /// The lever went over: this side pressed it.
    Pressed(Side),
}

/// Follows the readings of one clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClockWatch {
    last: Option<(Timestamp, ClockTimes)>,
    /// Evidence that White's time is the left one (positive) or the right one (negative).
    left_is_white: i8,
    /// The side that was White's when that was last beyond doubt.
    sure_side: Option<Side>,
    /// The clock was last started then.
    started_at: Option<Timestamp>,
    /// It was stopped then, or found standing; `None` while it runs.
    stands_since: Option<Timestamp>,
    /// The turn that the running side's time is ticking for.
    turn: Option<Turn>,
    /// How many readings in a row have shown the lever where it is.
    lever_seen: u32,
    /// Nobody listened since the last reading: how often the lever moved is not known.
    missed: bool,
    /// The board's record tells of the presses, in order with the pieces; the lever need not be watched.
    remembered: bool,
}

/// The time that one side's clock has been running since the other side's press.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Before the clock was last stopped.
    ran: Duration,
    /// Since when it has been running; `None` while it is stopped.
    since: Option<Timestamp>,
}

/// White's clock started first is worth so many votes, and so many presses may be told late, in quick play, before one
/// is told in its time.
const SURE: i8 = 3;

/// Votes beyond this are not counted, so that a clock turned round in mid-game is believed after as many presses.
const CERTAIN: i8 = 4;

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

impl ClockWatch {
    /// Takes in a reading and says what it changes.
    pub(crate) fn read(&mut self, at: Timestamp, times: ClockTimes) -> Vec<ClockChange> {
        let mut changes = Vec::new();
        let before = self.last.replace((at, times)).map(|(_, times)| times);
        let was_running = before.is_some_and(|t| t.running);
        if times.running {
            self.stands_since = None;
        } else {
            self.stands_since.get_or_insert(at);
        }
        if before.is_none() {
            changes.push(ClockChange::Connected);
        }
        if times.battery_low && !before.is_some_and(|t| t.battery_low) {
            changes.push(ClockChange::BatteryLow);
        }
        let lever = lever_side(times);
        let moved = before.is_some_and(|t| lever_side(t) != lever);
        let missed = core::mem::take(&mut self.missed);
        if times.running && !was_running {
            self.runs(at, moved || before.is_none());
            changes.push(ClockChange::Started);
        } else if times.running && (missed || self.remembered) {
            self.turn = self.turn.filter(|_| self.remembered);
        } else if times.running && moved {
            // A lever that moves on a stopped clock is no press: somebody sets the clock up.
            changes.push(ClockChange::Pressed(lever.other()));
        } else if times.running && self.pressed_twice(before, times) {
            // How long each of the two turns was, nobody saw.
            self.turn = None;
            changes.extend([lever, lever.other()].map(ClockChange::Pressed));
        }
        if was_running && !times.running {
            self.stands(at);
            changes.push(ClockChange::Stopped);
        }
        self.lever_seen = if moved {
            1
        } else {
            self.lever_seen.saturating_add(1)
        };
        changes
    }

    /// Between two readings the running side pressed, and the other one pressed as well: the lever is back, and the time
    /// that stood has gone down. (Up it goes by an increment or by an arbiter's hand.) The first reading after a press
    /// may still be changing.
    fn pressed_twice(&self, before: Option<ClockTimes>, times: ClockTimes) -> bool {
        let halted = lever_side(times).other();
        self.lever_seen >= 2
            && before
                .is_some_and(|before| before.running && side_time(times, halted) < side_time(before, halted))
    }

    /// The clock was started: the turn goes on that was interrupted, unless the lever says otherwise.
    fn runs(&mut self, at: Timestamp, another_turn: bool) {
        let ran = self
            .turn
            .filter(|_| !another_turn)
            .map_or(Duration::ZERO, |turn| turn.ran);
        self.turn = Some(Turn { ran, since: Some(at) });
        self.started_at = Some(at);
    }

    /// Whether the clock ran at that time, as far as is known.
    pub(crate) fn ran_at(&self, at: Timestamp) -> bool {
        self.started_at.is_some_and(|started| started <= at)
    }

    fn stands(&mut self, at: Timestamp) {
        if let Some(turn) = &mut self.turn {
            turn.ran = turn.so_far(at);
            turn.since = None;
        }
    }

    /// The board says that there is no clock. Returns whether there was one.
    pub(crate) fn lost(&mut self) -> bool {
        self.turn = None;
        self.stands_since = None;
        self.lever_seen = 0;
        // The next one may be plugged in the other way round: one press will tell.
        self.left_is_white = self.left_is_white.signum();
        self.last.take().is_some()
    }

    /// The board's record tells of the presses from now on.
    pub(crate) fn presses_are_remembered(&mut self) {
        self.remembered = true;
    }

    /// Nobody listens from now on.
    pub(crate) fn unheard(&mut self) {
        self.missed = true;
        self.lever_seen = 0;
    }

    /// Since when the clock is known to stand; `None` while it runs, and without a clock.
    pub(crate) fn stands_since(&self) -> Option<Timestamp> {
        self.stands_since
    }

    /// The last reading, to be put back.
    pub(crate) fn reading(&self) -> Option<(Timestamp, ClockTimes)> {
        self.last
    }

    /// Puts a reading back that is newer than what was remembered since.
    pub(crate) fn put_back(&mut self, reading: (Timestamp, ClockTimes)) {
        self.last = Some(reading);
    }

    /// What the board's memory says of the clock: a side was pressed and had this time left.
    pub(crate) fn remember(&mut self, at: Timestamp, pressed: Side, time: SideTime) {
        let Some((as_of, times)) = &mut self.last else {
            return;
        };
        *as_of = at;
        times.lever_right_high = pressed == Side::Left;
        match pressed {
            Side::Left => times.left = time,
            Side::Right => times.right = time,
        }
    }

    /// Whether the clock runs; `None` without a clock.
    pub(crate) fn running(&self) -> Option<bool> {
        self.last.map(|(_, times)| times.running)
    }

    /// The side whose time runs or would run.
    pub(crate) fn turn(&self) -> Option<Side> {
        self.last.map(|(_, times)| lever_side(times))
    }

    /// The side whose clock stands, with its time in seconds.
    pub(crate) fn halted(&self) -> Option<(Side, u32)> {
        let (_, times) = self.last?;
        let side = lever_side(times).other();
        Some((side, side_time(times, side)))
    }

    /// White's side, once there is evidence.
    pub(crate) fn white_side(&self) -> Option<Side> {
        match self.left_is_white {
            0 => None,
            1.. => Some(Side::Left),
            _ => Some(Side::Right),
        }
    }

    /// Whether White's side is beyond doubt: also where the clock was away and presses tell the side that it had.
    pub(crate) fn is_sure(&self) -> bool {
        let known_before = self.white_side().is_some() && self.white_side() == self.sure_side;
        self.left_is_white.abs() >= SURE || (known_before && self.left_is_white.abs() > 1)
    }

    /// Counts evidence that `side` is White's. Returns whether that changed the verdict.
    pub(crate) fn vote_white(&mut self, side: Side, weight: i8) -> bool {
        let before = self.white_side();
        let signed = if side == Side::Left { weight } else { -weight };
        self.left_is_white = (self.left_is_white + signed).clamp(-CERTAIN, CERTAIN);
        if self.left_is_white.abs() >= SURE {
            self.sure_side = self.white_side();
        }
        self.white_side() != before
    }

    /// Forgets which side is White's: another game, perhaps with the clock the other way round.
    pub(crate) fn forget_sides(&mut self) {
        self.left_is_white = 0;
        self.sure_side = None;
    }

    pub(crate) fn color_of(&self, side: Side) -> Option<Color> {
        self.white_side().map(|white| Color::from_white(white == side))
    }

    /// What the clock shows.
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
        Some(ClockFace {
            white_ms: ms.white,
            black_ms: ms.black,
            running,
            flags,
            as_of,
        })
    }

    /// A turn is over at `at`: how long the side on move had its clock running, and the other one's turn begins.
    pub(crate) fn end_turn(&mut self, at: Timestamp) -> Option<Duration> {
        let next = Turn {
            ran: Duration::ZERO,
            since: Some(at),
        };
        let turn = self.turn.replace(next)?;
        // Of two presses in one reading the second one's turn was not seen.
        Some(turn.so_far(at)).filter(|elapsed| !elapsed.is_zero())
    }
}

impl Turn {
    fn so_far(&self, at: Timestamp) -> Duration {
        self.ran
            + self
                .since
                .map_or(Duration::ZERO, |since| at.saturating_duration_since(since))
    }
}

/// A side's time in seconds.
fn side_time(times: ClockTimes, side: Side) -> u32 {
    let time = match side {
        Side::Left => times.left,
        Side::Right => times.right,
    };
    time.total_seconds()
}

/// The lever is high on the side whose time runs: the other player has pressed it.
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
