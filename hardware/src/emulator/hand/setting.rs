//! The arrangement of board and clock, and the effect of actions on them.

use core::time::Duration;

use kiebitz_protocol::{Dump, Field};

use super::chance::{Chance, ms};
use super::{Color, Deed};
use crate::emulator::{BoardSettings, ClockSide, EmulatedBoard, EmulatedClock};
use crate::facts::{CLOCK_POLL, USUAL_SCAN};
use crate::time::Timestamp;

/// The arrangement of board and clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Whether the connector is on White's right.
    pub turned: bool,
    /// White's side of the clock. `None` without a clock.
    pub white_side: Option<ClockSide>,
    /// Whether the lever is high on Black's side before the game, so that Black presses first.
    pub black_presses_first: bool,
    /// Initial time of each side.
    pub time: Duration,
    /// Increment per press (Fischer).
    pub increment: Duration,
    /// Time of the second period, which the clock adds to both sides when a side has used up the first. `None` if there
    /// is only one period.
    pub second_period: Option<Duration>,
    /// See [`BoardSettings::scan_phase`].
    pub scan_phase: Duration,
    /// See [`BoardSettings::scan_period`].
    pub scan_period: Duration,
    /// See [`BoardSettings::clock_period`].
    pub clock_period: Duration,
}

impl Setting {
    /// Connector on White's left, White on the right side of the clock with the lever high there, two hours each.
    pub const PLAIN: Self = Self {
        turned: false,
        white_side: Some(ClockSide::Right),
        black_presses_first: false,
        time: Duration::from_secs(7200),
        increment: Duration::ZERO,
        second_period: None,
        scan_phase: Duration::from_millis(40),
        scan_period: USUAL_SCAN,
        clock_period: CLOCK_POLL,
    };

    /// Returns a random setting. 8 % of the settings have no clock.
    pub fn random(chance: &mut Chance) -> Self {
        Self {
            turned: chance.percent(30),
            white_side: (!chance.percent(8)).then(|| chance.pick([ClockSide::Left, ClockSide::Right])),
            black_presses_first: chance.percent(30),
            increment: chance.pick([Duration::ZERO, Duration::from_secs(2), Duration::from_secs(30)]),
            scan_phase: chance.time(ms(0, 225)),
            scan_period: chance.time(ms(200, 250)),
            clock_period: chance.time(ms(350, 450)),
            ..Self::PLAIN
        }
    }

    /// Creates a board that is powered up at `now`, with its clock and the given `settings`. `standing` is numbered
    /// with the connector on White's left.
    #[must_use]
    pub fn board(&self, now: Timestamp, settings: BoardSettings, standing: &Dump) -> EmulatedBoard {
        let settings = BoardSettings {
            scan_period: self.scan_period,
            scan_phase: self.scan_phase,
            clock_period: self.clock_period,
            ..settings
        };
        let mut pieces = [None; Field::COUNT];
        for field in Field::all() {
            pieces[self.field(field).index()] = standing[field.index()];
        }
        let mut board = EmulatedBoard::with_pieces(now, settings, &pieces);
        board.plug_clock(now, self.clock());
        board
    }

    /// Performs an action on the board or its clock.
    pub fn perform(&self, board: &mut EmulatedBoard, now: Timestamp, deed: Deed) {
        match deed {
            Deed::Stands(field, contents) => board.set(now, self.field(field), contents),
            _ => {
                if let Some(clock) = board.clock_mut(now) {
                    self.perform_on_clock(clock, now, deed);
                }
            }
        }
    }

    /// Performs an action on a clock, which need not be plugged in. Actions on squares have no effect.
    pub fn perform_on_clock(&self, clock: &mut EmulatedClock, now: Timestamp, deed: Deed) {
        match deed {
            Deed::Stands(..) => {}
            Deed::Press(color) => {
                if let Some(side) = self.side(color) {
                    clock.press(now, side);
                }
            }
            Deed::StartClock => clock.start(now),
            Deed::StopClock => clock.stop(now),
            Deed::SetClock => {
                clock.set(now, self.time, self.time);
                clock.set_later_periods(now, self.second_period);
            }
        }
    }

    /// Returns the board's number for a square that is numbered with the connector on White's left.
    pub(in crate::emulator) const fn field(&self, field: Field) -> Field {
        if self.turned { field.turned() } else { field }
    }

    fn clock(&self) -> Option<EmulatedClock> {
        let white = self.white_side?;
        let high = if self.black_presses_first {
            white.other()
        } else {
            white
        };
        let clock = EmulatedClock::new(self.time)
            .with_lever_high(high)
            .with_increment(self.increment);
        Some(match self.second_period {
            Some(time) => clock.with_later_period(time),
            None => clock,
        })
    }

    fn side(&self, color: Color) -> Option<ClockSide> {
        let white = self.white_side?;
        Some(match color {
            Color::White => white,
            Color::Black => white.other(),
        })
    }
}
