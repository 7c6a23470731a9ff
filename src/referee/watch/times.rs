//! What the clock shows: flags, time trouble, a clock that stands or is gone.

use shakmaty::{ByColor, Color};

use super::book::{Known, Number};
use super::{Desk, Noted};
use crate::laws::Sight;
use crate::tracker::ClockChange;

/// Under so much time nobody need write, without 30 seconds a move (Art. 8.4).
const TROUBLE_MS: u64 = 5 * 60 * 1000;
/// An increment of so much and nobody is exempt.
const INCREMENT_MS: u64 = 30 * 1000;
/// Time that appears on a clock at zero is the next period's.
const PERIOD_MS: u64 = 60 * 1000;
/// A clock shows whole seconds: it stands at zero for up to a second before the flag falls.
const LAST_MS: u64 = 1000;

/// Follows the clock.
#[derive(Debug, Default)]
pub(super) struct Times {
    last: Option<ByColor<u64>>,
    /// Each player had time once in this game.
    had_time: ByColor<bool>,
    /// A player has had more than five minutes.
    had_plenty: ByColor<bool>,
    /// What the last press added to the presser's time, at the most.
    increment: Option<u64>,
    flags: ByColor<Option<Number>>,
    first_flag: Option<Color>,
    both: Option<Number>,
    trouble: ByColor<Option<Number>>,
    stopped: Option<Number>,
    gone: Option<Number>,
}

impl Times {
    pub(super) fn resume(&mut self, known: &Known) {
        let number = Some(known.number);
        match (known.kind, known.color) {
            ("clock_disconnected", _) => self.gone = number,
            ("clock_stopped", _) => self.stopped = number,
            ("two_flags", _) => self.both = number,
            ("flag_fall", Some(color)) => self.flags[color] = number,
            ("time_trouble", Some(color)) => self.trouble[color] = number,
            _ => {}
        }
    }

    pub(super) fn note(&mut self, desk: &mut Desk<'_>, noted: &Noted) {
        let now = desk.now();
        match noted {
            Noted::Started | Noted::Over => {
                let gone = self.gone;
                *self = Self {
                    gone,
                    ..Self::default()
                };
            }
            Noted::Times(times) => self.read(desk, *times),
            Noted::Clock(ClockChange::Stopped) if desk.view.begun => {
                let report = desk.report(Sight::ClockStopped, now);
                self.stopped = Some(desk.open(report));
            }
            Noted::Clock(ClockChange::Started) => {
                if let Some(number) = self.stopped.take() {
                    desk.book.close(now, number, "clock", "passed");
                }
            }
            Noted::Clock(ClockChange::Disconnected) => {
                self.last = None;
                if desk.view.begun && self.gone.is_none() {
                    let report = desk.report(Sight::ClockDisconnected, now);
                    self.gone = Some(desk.open(report));
                }
            }
            Noted::Clock(ClockChange::Connected) => {
                if let Some(number) = self.gone.take() {
                    desk.book.close(now, number, "clock", "restored");
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, desk: &mut Desk<'_>, times: ByColor<u64>) {
        let before = self.last.replace(times);
        if !desk.view.in_play() {
            return;
        }
        for color in Color::ALL {
            self.had_time[color] |= times[color] > LAST_MS;
            self.had_plenty[color] |= times[color] >= TROUBLE_MS;
        }
        if let Some((_, added)) = desk.pressed_times {
            self.increment = Some(self.increment.unwrap_or(0).max(added));
        }
        for color in Color::ALL {
            self.flag(desk, color, times, before);
            self.trouble(desk, color, times);
        }
        if let (Some(_), Some(_), None) = (self.flags.white, self.flags.black, self.both) {
            let sight = Sight::TwoFlags {
                first: self.first_flag,
                last_period: true,
            };
            let report = desk.report(sight, desk.now());
            self.both = Some(desk.open(report));
        }
    }

    fn flag(&mut self, desk: &mut Desk<'_>, color: Color, times: ByColor<u64>, before: Option<ByColor<u64>>) {
        let shown = desk.view.face.and_then(|face| face.flag);
        let mine = color.fold_wb("white", "black");
        let shown = shown.is_some_and(|flag| flag == mine || flag == "both");
        let ran_out = times[color] == 0 && self.had_time[color] && runs(desk, color);
        let jumped = before
            .is_some_and(|before| before[color] <= LAST_MS && times[color] >= before[color] + PERIOD_MS)
            && self.had_time[color];
        if self.flags[color].is_some() || !(ran_out || jumped || (shown && self.had_time[color])) {
            return;
        }
        let completed = desk
            .view
            .line
            .iter()
            .filter(|entry| entry.ply.color == color && entry.completed.is_some())
            .count();
        let completed = u32::try_from(completed).unwrap_or(u32::MAX);
        let control = desk.view.regulations.time_control.as_ref();
        // The flag is that of the period before the one whose time has appeared, and else of the one that runs.
        let period = control.map(|control| {
            let reached = control.standing(completed).period;
            let over = reached.checked_sub(1).filter(|_| jumped);
            over.unwrap_or(reached)
        });
        let known = control.zip(period);
        let sight = Sight::FlagFall {
            completed,
            required: known.and_then(|(control, period)| control.required(period)),
            last_period: known.map_or(!jumped, |(control, period)| control.is_last(period) && !jumped),
            opponent_can_mate: desk.opponent_can_mate(desk.view.last_legal(), color),
        };
        let report = desk.report(sight, desk.now()).of(color);
        let number = desk.open(report);
        self.flags[color] = Some(number);
        self.first_flag.get_or_insert(color);
        if jumped {
            // The next period runs: what the flag means is for the moves made until then.
            self.flags[color] = None;
            self.first_flag = None;
            desk.book.close(desk.view.now, number, "clock", "passed");
        }
    }

    fn trouble(&mut self, desk: &mut Desk<'_>, color: Color, times: ByColor<u64>) {
        let exempt = match &desk.view.regulations.time_control {
            Some(control) => !control.keeps_writing(0),
            None => self.increment.is_some_and(|added| added < INCREMENT_MS),
        };
        if self.trouble[color].is_some() || !exempt || !self.had_plenty[color] || times[color] >= TROUBLE_MS {
            return;
        }
        let mut players = self.trouble.map(|open| open.is_some());
        players[color] = true;
        let report = desk.report(Sight::TimeTrouble { players }, desk.now()).of(color);
        self.trouble[color] = Some(desk.open(report));
    }
}

fn runs(desk: &Desk<'_>, color: Color) -> bool {
    desk.view
        .face
        .and_then(|face| face.running)
        .is_some_and(|running| running == color.fold_wb("white", "black"))
}
