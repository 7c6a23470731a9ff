//! What the clock shows: flags, time trouble, a clock that is stopped or disconnected.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor, Color, Rank, Role};

use super::book::{Number, ResumedIncident};
use super::{Desk, News, ON_THE_BOARD};
use crate::clock::ClockChange;
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{IncidentKind, Situation, TimeControl, WhyStopped};

/// With less time than this, and less than 30 seconds a move, a player need not write the moves (Art. 8.4).
const TIME_TROUBLE_MS: u64 = 5 * 60 * 1000;
/// With at least this increment, players have to write even in time trouble.
const MIN_WRITING_INCREMENT_MS: u64 = 30 * 1000;
/// A clock at zero that gains at least this much has entered the next period.
const MIN_PERIOD_MS: u64 = 60 * 1000;
/// A clock shows whole seconds: it shows zero for up to a second before the flag falls.
const LAST_SECOND_MS: u64 = 1000;

/// A clock that is stopped for this long is stopped on purpose. By then what is irregular on the board is known.
const JUDGED_AFTER: Duration = Duration::from_secs(3);
/// Where another period follows, its time appears at most this long after zero.
const MAX_PERIOD_WAIT: Duration = Duration::from_millis(2000);

/// Follows the clock.
#[derive(Debug, Default)]
pub(super) struct Times {
    last: Option<ByColor<u64>>,
    /// Since when a clock has shown zero.
    zero_since: ByColor<Option<Timestamp>>,
    wake: Option<Timestamp>,
    /// How many periods are over by the clock: the next one's time has appeared.
    over: ByColor<u32>,
    /// Whether each player has had time in this game.
    had_time: ByColor<bool>,
    /// Whether each player has had five minutes or more.
    had_plenty: ByColor<bool>,
    /// The most that a press has added to the time of the player who pressed.
    increment: Option<u64>,
    flags: ByColor<Option<Number>>,
    first_flag: Option<Color>,
    both: Option<Number>,
    trouble: ByColor<Option<Number>>,
    standing: Option<Standing>,
    stopped: Option<Number>,
    gone: Option<Number>,
}

/// The clock is stopped during a game. Most often that is the end of it, which nothing may show: the players leave.
#[derive(Debug, Clone, Copy)]
struct Standing {
    since: Timestamp,
    /// A pawn was being promoted then.
    promotion: bool,
    /// It was asked why.
    judged: bool,
}

impl Times {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        let number = Some(known.number);
        match (known.kind, known.color) {
            (IncidentKind::ClockDisconnected, _) => self.gone = number,
            (IncidentKind::ClockStopped, _) => self.stopped = number,
            (IncidentKind::TwoFlags, _) => self.both = number,
            (IncidentKind::FlagFall, Some(color)) => self.flags[color] = number,
            (IncidentKind::TimeTrouble, Some(color)) => self.trouble[color] = number,
            _ => {}
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        let waits = self.standing.filter(|standing| !standing.judged);
        let judged = waits.map(|standing| standing.since + JUDGED_AFTER);
        [self.wake, judged].into_iter().flatten().min()
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        let now = desk.now();
        let due = self.wake.take_if(|wake| *wake <= now).is_some();
        if let Some(times) = self.last.filter(|_| due && desk.game.in_play()) {
            self.flags(desk, times, None);
        }
        match news {
            News::Started | News::Over => {
                let gone = self.gone;
                *self = Self {
                    gone,
                    ..Self::default()
                };
            }
            News::Times(times) => self.read(desk, *times),
            News::Clock(ClockChange::Stopped) if desk.game.begun => {
                self.standing = Some(Standing {
                    since: now,
                    promotion: promotes(desk),
                    judged: false,
                });
            }
            News::Clock(ClockChange::Started) => self.started(desk),
            News::Clock(ClockChange::Disconnected) => {
                self.last = None;
                self.standing = None;
                if desk.game.begun && self.gone.is_none() {
                    let report = desk.report(Situation::ClockDisconnected, now);
                    self.gone = Some(desk.open(report));
                }
            }
            News::Clock(ClockChange::Connected) => {
                if let Some(number) = self.gone.take() {
                    desk.book
                        .close(now, number, ClosedBy::Clock, IncidentEnd::Restored);
                }
            }
            _ => {}
        }
        self.ask_why(desk);
    }

    /// The clock has been stopped for a moment: the board may show why.
    fn ask_why(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let Some(standing) = &mut self.standing else {
            return;
        };
        if standing.judged || now < standing.since + JUDGED_AFTER {
            return;
        }
        standing.judged = true;
        let (since, promotion) = (standing.since, standing.promotion);
        let irregular = !desk.book.open_of(&ON_THE_BOARD).is_empty();
        let why = match () {
            // The flag is down: that has been said.
            () if self.flags.white.is_some() || self.flags.black.is_some() => return,
            () if irregular => WhyStopped::Irregularity,
            () if promotion => WhyStopped::Promotion,
            () if desk.game.claim => WhyStopped::Claim,
            () => return,
        };
        let report = desk.report(Situation::ClockStopped { why: Some(why) }, since);
        self.stopped = Some(desk.open(report));
    }

    /// The clock runs again: the game was not over. What nothing showed a reason for is there for the record.
    fn started(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let standing = self.standing.take();
        let number = match (self.stopped.take(), standing) {
            (Some(number), _) => number,
            (None, Some(standing)) if desk.game.begun && now >= standing.since + JUDGED_AFTER => {
                let report = desk.report(Situation::ClockStopped { why: None }, standing.since);
                desk.open(report)
            }
            _ => return,
        };
        desk.book.close(now, number, ClosedBy::Clock, IncidentEnd::Passed);
    }

    fn read(&mut self, desk: &mut Desk<'_>, times: ByColor<u64>) {
        let before = self.last.replace(times);
        if !desk.game.in_play() {
            return;
        }
        for color in Color::ALL {
            self.had_time[color] |= times[color] > LAST_SECOND_MS;
            self.had_plenty[color] |= times[color] >= TIME_TROUBLE_MS;
        }
        if let Some((_, added)) = desk.pressed_times {
            self.increment = Some(self.increment.unwrap_or(0).max(added));
        }
        self.flags(desk, times, before);
        for color in Color::ALL {
            self.trouble(desk, color, times);
        }
    }

    fn flags(&mut self, desk: &mut Desk<'_>, times: ByColor<u64>, before: Option<ByColor<u64>>) {
        let up = self.flags.map(|flag| flag.is_none());
        for color in Color::ALL {
            self.flag(desk, color, times, before);
        }
        match (self.flags.white, self.flags.black) {
            (Some(_), None) => self.first_flag = Some(Color::White),
            (None, Some(_)) => self.first_flag = Some(Color::Black),
            // One reading showed both: nobody knows which was first.
            (Some(_), Some(_)) if up.white && up.black => self.first_flag = None,
            _ => {}
        }
        if self.flags.white.is_none() || self.flags.black.is_none() || self.both.is_some() {
            return;
        }
        let completed = desk.game.completed();
        let is_last = |control: &TimeControl| {
            Color::ALL
                .into_iter()
                .all(|color| control.is_last(self.period(control, color, completed[color])))
        };
        let control = desk.game.regulations.time_control.as_ref();
        let situation = Situation::TwoFlags {
            first: self.first_flag,
            last_period: control.map(is_last),
        };
        let report = desk.report(situation, desk.now());
        self.both = Some(desk.open(report));
    }

    /// Whether a player's clock stands at zero for good: where another period follows, the flag falls when its time
    /// appears, and a move completed before that is in time.
    fn ran_out(&mut self, desk: &Desk<'_>, color: Color, shown: u64) -> bool {
        if shown != 0 || !self.had_time[color] || !runs(desk, color) {
            self.zero_since[color] = None;
            return false;
        }
        let now = desk.now();
        let since = *self.zero_since[color].get_or_insert(now);
        let follows = |control: &TimeControl| !control.is_last(self.over[color]);
        let control = desk.game.regulations.time_control.as_ref();
        if !control.is_some_and(follows) || now >= since + MAX_PERIOD_WAIT {
            return true;
        }
        self.wake = Some(since + MAX_PERIOD_WAIT);
        false
    }

    /// The period that a player is in, from 0.
    fn period(&self, control: &TimeControl, color: Color, completed: u32) -> u32 {
        control.standing(completed).period.max(self.over[color])
    }

    fn flag(&mut self, desk: &mut Desk<'_>, color: Color, times: ByColor<u64>, before: Option<ByColor<u64>>) {
        let shown = desk.game.face.and_then(|face| face.flag);
        let shown = shown.is_some_and(|flag| flag.includes(color));
        let ran_out = self.ran_out(desk, color, times[color]);
        let jumped = before.is_some_and(|before| {
            before[color] <= LAST_SECOND_MS && times[color] >= before[color] + MIN_PERIOD_MS
        }) && self.had_time[color];
        let added = before.is_some_and(|before| times[color] >= before[color].saturating_add(MIN_PERIOD_MS));
        if added && !jumped {
            // Some clocks count the moves, and add the next period's time with the last of them.
            self.over[color] = self.over[color].saturating_add(1);
        }
        if let Some(number) = self.flags[color].take_if(|_| jumped) {
            self.next_period(desk, color, number);
            return;
        }
        if self.flags[color].is_some() || !(ran_out || jumped || (shown && self.had_time[color])) {
            return;
        }
        let completed = desk.game.completed()[color];
        let control = desk.game.regulations.time_control.as_ref();
        // If the next period's time has appeared, the flag belongs to the period before it, else to the current one.
        let period = control.map(|control| match jumped {
            true => self.over[color],
            false => self.period(control, color, completed),
        });
        let known = control.zip(period);
        let situation = Situation::FlagFall {
            completed,
            required: known.and_then(|(control, period)| control.required(period)),
            last_period: known.is_some_and(|(control, period)| control.is_last(period) && !jumped),
            opponent_can_mate: desk.opponent_can_mate(desk.game.last_legal(), color),
        };
        let report = desk.report(situation, desk.now()).of(color);
        let number = desk.open(report);
        if jumped {
            self.next_period(desk, color, number);
        } else {
            self.flags[color] = Some(number);
        }
    }

    /// The next period has begun: the flag matters only if moves of the one before are known to be missing.
    fn next_period(&mut self, desk: &mut Desk<'_>, color: Color, number: Number) {
        let now = desk.now();
        let completed = desk.game.completed()[color];
        let control = desk.game.regulations.time_control.as_ref();
        let required = control.and_then(|control| control.required(self.over[color]));
        self.over[color] = self.over[color].saturating_add(1);
        if required.is_none_or(|required| completed >= required) {
            desk.book.close(now, number, ClosedBy::Clock, IncidentEnd::Passed);
        }
        if let Some(both) = self.both.take() {
            desk.book.close(now, both, ClosedBy::Clock, IncidentEnd::Passed);
        }
    }

    fn trouble(&mut self, desk: &mut Desk<'_>, color: Color, times: ByColor<u64>) {
        let exempt = match &desk.game.regulations.time_control {
            Some(control) => !control.keeps_writing(0),
            None => self
                .increment
                .is_some_and(|added| added < MIN_WRITING_INCREMENT_MS),
        };
        if self.trouble[color].is_some()
            || !exempt
            || !self.had_plenty[color]
            || times[color] >= TIME_TROUBLE_MS
        {
            return;
        }
        let mut players = self.trouble.map(|open| open.is_some());
        players[color] = true;
        let report = desk
            .report(Situation::TimeTrouble { players }, desk.now())
            .of(color);
        self.trouble[color] = Some(desk.open(report));
    }
}

/// Whether the player on move has taken their pawn off the seventh rank, or put it on the last one.
fn promotes(desk: &Desk<'_>) -> bool {
    let Some(tip) = desk.game.tip() else { return false };
    let seventh = tip.turn().fold_wb(Rank::Seventh, Rank::Second);
    let pawns = tip.board().by_piece(Role::Pawn.of(tip.turn())) & Bitboard::from(seventh);
    (pawns & desk.differs()).any()
}

fn runs(desk: &Desk<'_>, color: Color) -> bool {
    desk.game.face.and_then(|face| face.running) == Some(color)
}
