//! Incidents of the clock: flags, time trouble, a stopped or disconnected clock.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor, Color, Rank, Role};

use super::book::{Number, ResumedIncident};
use super::{Context, News, ON_THE_BOARD};
use crate::clock::ClockChange;
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{Broken, IncidentKind, ResumableCase, Situation, TimeControl, WhyStopped};

/// Remaining time below which a player need not record moves, unless the increment is at least 30 seconds (Art. 8.4).
const TIME_TROUBLE_MS: u64 = 5 * 60 * 1000;
/// Increment from which players must record moves even in time trouble.
const MIN_WRITING_INCREMENT_MS: u64 = 30 * 1000;
/// Gain from which a clock at zero counts as having entered the next period.
const MIN_PERIOD_MS: u64 = 60 * 1000;
/// Resolution of the clock. It shows zero for up to a second before the flag falls.
const LAST_SECOND_MS: u64 = 1000;

/// Delay after which a stopped clock counts as stopped on purpose. Irregularities on the board are known by then.
const JUDGED_AFTER: Duration = Duration::from_secs(3);
/// Maximum wait at zero for the time of a following period: the clock may show zero for a second, the board may report
/// it a second late, and a jump of the time is believed at its second reading.
const MAX_PERIOD_WAIT: Duration = Duration::from_millis(4000);

#[derive(Debug, Default)]
pub(super) struct Times {
    last: Option<Shown>,
    zero_since: ByColor<Option<Timestamp>>,
    wake: Option<Timestamp>,
    /// Number of periods that are over according to the clock, because the time of the next one has appeared.
    over: ByColor<u32>,
    /// Whether the flag shown by the clock is that of a past period.
    of_past_period: ByColor<bool>,
    /// Whether the clock or the board was disconnected, so that the clock may have added the time of a period unseen.
    missed: bool,
    /// Whether each player has had time left in this game.
    had_time: ByColor<bool>,
    /// Whether each player has had five minutes or more.
    had_plenty: ByColor<bool>,
    /// Maximum that a press has added to the presser's time.
    increment: Option<u64>,
    /// Flags that are down with the clock at zero.
    down: ByColor<Option<Fall>>,
    first_down: Option<Color>,
    both: Option<Both>,
    trouble: Option<Trouble>,
    standing: Option<StoppedClock>,
    stopped_incident: Option<Number>,
    disconnected_incident: Option<Number>,
}

#[derive(Debug, Clone, Copy)]
struct Shown {
    at: Timestamp,
    times: ByColor<u64>,
    running: Option<Color>,
}

/// A flag that is down.
#[derive(Debug)]
struct Fall {
    /// Number of its incident; `None` while an incident about both flags replaces it.
    number: Option<Number>,
    /// The reported situation; `None` if it was reported before a restart.
    situation: Option<Situation>,
}

/// An open incident about both flags.
#[derive(Debug)]
struct Both {
    number: Number,
    /// The reported situation; `None` if it was reported before a restart.
    situation: Option<Situation>,
}

/// An open incident about players who need not record moves.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    number: Number,
    players: ByColor<bool>,
}

/// A clock that was stopped during a game. Usually the game is over, but the board need not show that: the players just
/// leave.
#[derive(Debug, Clone, Copy)]
struct StoppedClock {
    since: Timestamp,
    /// Whether a pawn was being promoted at that time.
    promotion: bool,
    /// Whether the reason of the stop was checked.
    judged: bool,
}

impl Times {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        let number = Some(known.number);
        match (known.kind, known.color) {
            (IncidentKind::ClockDisconnected, _) => self.disconnected_incident = number,
            (IncidentKind::ClockStopped, _) => self.stopped_incident = number,
            (IncidentKind::TwoFlags, _) => {
                let (number, situation) = (known.number, None);
                self.both = Some(Both { number, situation });
                for down in self.down.iter_mut() {
                    down.get_or_insert(Fall::reported(None));
                }
            }
            (IncidentKind::FlagFall, Some(color)) => {
                if known.time_left_ms > Some(LAST_SECOND_MS) {
                    // Moves of that period are missing, and the next period has begun.
                    self.resume_past(known);
                } else {
                    self.down[color] = Some(Fall::reported(number));
                }
            }
            (IncidentKind::TimeTrouble, Some(color)) => {
                let both = known.case == Some(ResumableCase::BothInTimeTrouble);
                let players = ByColor::new_with(|player| both || player == color);
                let number = known.number;
                self.trouble = Some(Trouble { number, players });
            }
            _ => {}
        }
    }

    /// Resumes a flag that fell in this game before a restart. Its period is over.
    pub(super) fn resume_past(&mut self, known: &ResumedIncident) {
        if let Some(color) = known.color {
            self.over[color] = self.over[color].saturating_add(1);
            self.of_past_period[color] = true;
        }
    }

    pub(super) fn resume_game(&mut self) {
        self.had_time = ByColor::new_with(|_| true);
        self.missed = true;
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        let waits = self.standing.filter(|standing| !standing.judged);
        let judged = waits.map(|standing| standing.since + JUDGED_AFTER);
        [self.wake, judged].into_iter().flatten().min()
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        let now = context.now();
        let due = self.wake.take_if(|wake| *wake <= now).is_some();
        // A clock that shows a fallen flag may have stopped itself.
        if let Some(shown) = self.last.filter(|_| due && context.game.begun) {
            self.flags(context, shown, None);
        }
        match news {
            News::Started => {
                let goes_on = context.game.start.is_some_and(|start| start.goes_on);
                *self = Self {
                    disconnected_incident: self.disconnected_incident,
                    of_past_period: self.of_past_period,
                    over: if goes_on { self.over } else { ByColor::default() },
                    ..Self::default()
                };
            }
            // If play continues, the period stays the same.
            News::Over => {
                *self = Self {
                    disconnected_incident: self.disconnected_incident,
                    last: self.last,
                    over: self.over,
                    of_past_period: self.of_past_period,
                    missed: self.missed,
                    had_time: self.had_time,
                    increment: self.increment,
                    ..Self::default()
                };
            }
            News::Away => self.missed = true,
            News::Times(times) => self.read(context, *times),
            News::Clock(ClockChange::Stopped) if context.game.begun => {
                self.standing = Some(StoppedClock {
                    since: now,
                    promotion: promotes(context),
                    judged: false,
                });
            }
            News::Clock(ClockChange::Started) => self.started(context),
            News::Clock(ClockChange::Disconnected) => {
                self.last = None;
                self.missed = true;
                self.standing = None;
                if context.game.begun && self.disconnected_incident.is_none() {
                    let report = context.report(Situation::ClockDisconnected, now);
                    self.disconnected_incident = Some(context.open(report));
                }
            }
            News::Clock(ClockChange::Connected) => {
                if let Some(number) = self.disconnected_incident.take() {
                    context
                        .book
                        .close(now, number, ClosedBy::Clock, IncidentEnd::Restored);
                }
            }
            _ => {}
        }
        self.follow_offences(context);
        self.check_stop_reason(context);
    }

    /// Checks the reason of a stop after a delay, when the board may show it.
    fn check_stop_reason(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(standing) = &mut self.standing else {
            return;
        };
        if standing.judged || now < standing.since + JUDGED_AFTER {
            return;
        }
        standing.judged = true;
        let (since, promotion) = (standing.since, standing.promotion);
        let irregular = !context.book.open_of(&ON_THE_BOARD).is_empty();
        let why = match () {
            // The flag is down, which has an incident of its own.
            () if self.down.iter().any(Option::is_some) => return,
            () if self.zero_since.iter().any(Option::is_some) => return,
            () if irregular => WhyStopped::Irregularity,
            () if promotion => WhyStopped::Promotion,
            () if context.game.claim => WhyStopped::Claim,
            () => return,
        };
        let report = context.report(Situation::ClockStopped { why: Some(why) }, since);
        self.stopped_incident = Some(context.open(report));
    }

    /// Handles the restart of the clock, which proves that the game was not over. A stop without a visible reason is
    /// reported for the record.
    fn started(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let standing = self.standing.take();
        let number = match (self.stopped_incident.take(), standing) {
            (Some(number), _) => number,
            (None, Some(standing)) if context.game.begun && now >= standing.since + JUDGED_AFTER => {
                let report = context.report(Situation::ClockStopped { why: None }, standing.since);
                context.open(report)
            }
            _ => return,
        };
        context
            .book
            .close(now, number, ClosedBy::Clock, IncidentEnd::Passed);
    }

    fn read(&mut self, context: &mut Context<'_>, times: ByColor<u64>) {
        let face = context.game.face;
        let shown = Shown {
            at: context.now(),
            times,
            running: face.and_then(|face| face.running),
        };
        let before = self.last.replace(shown);
        let flag = face.and_then(|face| face.flag);
        for color in Color::ALL {
            let is_shown = flag.is_some_and(|flag| flag.includes(color));
            // A flag shown beside remaining time, before the game or with a stopped clock, did not fall in play.
            let known =
                self.of_past_period[color] || !context.game.in_play() && times[color] > LAST_SECOND_MS;
            self.of_past_period[color] = is_shown && known;
        }
        if !context.game.in_play() {
            return;
        }
        for color in Color::ALL {
            self.had_time[color] |= times[color] > LAST_SECOND_MS;
            self.had_plenty[color] |= times[color] >= TIME_TROUBLE_MS;
        }
        if let Some((_, added)) = context.pressed_times {
            self.increment = Some(self.increment.unwrap_or(0).max(added));
        }
        self.flags(context, shown, before);
        for color in Color::ALL {
            self.trouble(context, color, times);
        }
    }

    fn flags(&mut self, context: &mut Context<'_>, shown: Shown, before: Option<Shown>) {
        let up = self.down.as_ref().map(|down| down.is_none());
        for color in Color::ALL {
            self.flag(context, color, shown, before);
        }
        match (&self.down.white, &self.down.black) {
            (Some(_), None) => self.first_down = Some(Color::White),
            (None, Some(_)) => self.first_down = Some(Color::Black),
            // One clock reading showed both flags, so the first one is unknown.
            (Some(_), Some(_)) if up.white && up.black => self.first_down = None,
            _ => {}
        }
        if self.down.iter().any(Option::is_none) || self.both.is_some() {
            return;
        }
        let situation = self.two_flags(context);
        let number = context.open(context.report(situation.clone(), context.now()));
        let situation = Some(situation);
        self.both = Some(Both { number, situation });
        // Each of the two incidents names a loser. Only the one about both flags is right now.
        for down in self.down.iter_mut().flatten() {
            if let Some(number) = down.number.take() {
                context.supersede(number);
            }
        }
    }

    fn two_flags(&self, context: &Context<'_>) -> Situation {
        let is_last = |control: &TimeControl| {
            Color::ALL
                .into_iter()
                .all(|color| control.is_last(self.period(context, control, color)))
        };
        let control = context.game.regulations.time_control.as_ref();
        Situation::TwoFlags {
            first: self.first_down,
            last_period: control.map(is_last),
            broke: broken_by_either(context),
        }
    }

    /// Whether a player's clock has finally run out. If another period follows, the flag falls when its time appears,
    /// and moves completed before that are in time.
    fn ran_out(&mut self, context: &Context<'_>, color: Color, shown: Shown) -> bool {
        let flag = context.game.face.and_then(|face| face.flag);
        let flag = flag.is_some_and(|flag| flag.includes(color));
        let counts = flag || shown.running == Some(color);
        if shown.times[color] != 0 || !self.had_time[color] || !counts {
            self.zero_since[color] = None;
            return false;
        }
        let now = context.now();
        let since = *self.zero_since[color].get_or_insert(now);
        let is_final = match &context.game.regulations.time_control {
            Some(control) => control.is_last(self.over[color]),
            // The clock has stopped itself.
            None => flag && shown.running.is_none(),
        };
        if is_final || self.down[color].is_some() || now >= since + MAX_PERIOD_WAIT {
            return true;
        }
        let wake = since + MAX_PERIOD_WAIT;
        self.wake = Some(self.wake.map_or(wake, |other| other.min(wake)));
        false
    }

    /// Index of a player's current period, from 0. Some clocks count moves and add the time of a period with its last
    /// move.
    fn period(&self, context: &Context<'_>, control: &TimeControl, color: Color) -> u32 {
        let reached = control.standing(context.game.completed()[color]).period;
        if self.missed {
            reached.max(self.over[color])
        } else {
            self.over[color]
        }
    }

    fn flag(&mut self, context: &mut Context<'_>, color: Color, shown: Shown, before: Option<Shown>) {
        let time = shown.times[color];
        let ran_out = self.ran_out(context, color, shown);
        let added = before.is_some_and(|before| time >= before.times[color].saturating_add(MIN_PERIOD_MS));
        let used_up = before.is_some_and(|before| {
            let left = u128::from(before.times[color]);
            let passed = shown.at.saturating_duration_since(before.at).as_millis();
            let ran = passed.max(u128::from(LAST_SECOND_MS));
            left == 0 || before.running == Some(color) && left <= ran
        });
        let flag = context.game.face.and_then(|face| face.flag);
        // The clock has added the time of the next period, or its flag shows that it did so unobserved.
        let is_past = flag.is_some_and(|flag| flag.includes(color)) && time > LAST_SECOND_MS;
        let next_period = self.had_time[color]
            && (added && used_up
                || is_past && !self.of_past_period[color]
                || self.down[color].is_some() && time > LAST_SECOND_MS);
        if next_period {
            self.next_period(context, color, is_past);
        } else if added {
            // The clock counts moves, or gives both players the time when one of them has used up theirs.
            self.over[color] = self.over[color].saturating_add(1);
            self.end_trouble(context, color);
        } else if ran_out && self.down[color].is_none() {
            let period = |control: &TimeControl| (control.clone(), self.period(context, control, color));
            let known = context.game.regulations.time_control.as_ref().map(period);
            let situation = fall(
                context,
                color,
                known.as_ref().map(|(control, period)| (control, *period)),
                true,
            );
            self.open(context, color, situation);
        }
    }

    fn open(&mut self, context: &mut Context<'_>, color: Color, situation: Situation) {
        let report = context.report(situation.clone(), context.now()).of(color);
        let number = Some(context.open(report));
        let situation = Some(situation);
        self.down[color] = Some(Fall { number, situation });
    }

    /// Begins the next period. The flag matters only if moves of the previous period are known to be missing.
    fn next_period(&mut self, context: &mut Context<'_>, color: Color, flag_shown: bool) {
        let now = context.now();
        let completed = context.game.completed()[color];
        let control = context.game.regulations.time_control.clone();
        let ended = control.as_ref().map(|control| (control, self.over[color]));
        let required = ended.and_then(|(control, period)| control.required(period));
        let number = match self.down[color].take() {
            Some(down) => down.number,
            None => {
                let situation = fall(context, color, ended, false);
                let report = context.report(situation, now).of(color);
                Some(context.open(report))
            }
        };
        self.over[color] = self.over[color].saturating_add(1);
        self.of_past_period[color] = flag_shown;
        self.zero_since[color] = None;
        self.end_trouble(context, color);
        if let Some(number) = number.filter(|_| required.is_none_or(|required| completed >= required)) {
            context
                .book
                .close(now, number, ClosedBy::Clock, IncidentEnd::Passed);
        }
        if let Some(both) = self.both.take() {
            context
                .book
                .close(now, both.number, ClosedBy::Clock, IncidentEnd::Passed);
            // The other flag may still be down.
            if self.down[!color].take().is_some() {
                let period = |control: &TimeControl| self.period(context, control, !color);
                let known = control.as_ref().map(|control| (control, period(control)));
                let situation = fall(context, !color, known, true);
                self.open(context, !color, situation);
            }
        }
    }

    /// Updates the incidents of fallen flags when the opponent's last move becomes an offence, or when that offence is
    /// resolved.
    fn follow_offences(&mut self, context: &mut Context<'_>) {
        if let Some(Both {
            number,
            situation: Some(situation),
        }) = &mut self.both
            && let Situation::TwoFlags { broke, .. } = situation
            && *broke != broken_by_either(context)
        {
            *broke = broken_by_either(context);
            let report = context.report(situation.clone(), context.now());
            context.update(*number, report);
        }
        for color in Color::ALL {
            let Some(Fall {
                number: Some(number),
                situation: Some(situation),
            }) = &mut self.down[color]
            else {
                continue;
            };
            let Situation::FlagFall { opponent_broke, .. } = situation else {
                continue;
            };
            let broken = context.broken_by(!color);
            if *opponent_broke != broken {
                *opponent_broke = broken;
                let report = context.report(situation.clone(), context.now()).of(color);
                context.update(*number, report);
            }
        }
    }

    fn trouble(&mut self, context: &mut Context<'_>, color: Color, times: ByColor<u64>) {
        let exempt = match &context.game.regulations.time_control {
            Some(control) => !control.keeps_writing(0),
            None => self
                .increment
                .is_some_and(|added| added < MIN_WRITING_INCREMENT_MS),
        };
        let mut players = self.trouble.map(|trouble| trouble.players).unwrap_or_default();
        if players[color] || !exempt || !self.had_plenty[color] || times[color] >= TIME_TROUBLE_MS {
            return;
        }
        players[color] = true;
        self.report_trouble(context, color, players);
    }

    /// Reports the players who need not record moves. `color` is the player whose obligation has changed.
    fn report_trouble(&mut self, context: &mut Context<'_>, color: Color, players: ByColor<bool>) {
        if let Some(before) = self.trouble.take() {
            context.supersede(before.number);
        }
        let report = context
            .report(Situation::TimeTrouble { players }, context.now())
            .of(color);
        let number = context.open(report);
        self.trouble = Some(Trouble { number, players });
    }

    /// Ends the time trouble of a player who has the time of the next period and must record moves again.
    fn end_trouble(&mut self, context: &mut Context<'_>, color: Color) {
        let Some(mut trouble) = self.trouble.filter(|trouble| trouble.players[color]) else {
            return;
        };
        trouble.players[color] = false;
        if trouble.players[!color] {
            self.report_trouble(context, !color, trouble.players);
        } else {
            self.trouble = None;
            context.book.close(
                context.game.now,
                trouble.number,
                ClosedBy::Clock,
                IncidentEnd::Passed,
            );
        }
    }
}

impl Fall {
    const fn reported(number: Option<Number>) -> Self {
        Self {
            number,
            situation: None,
        }
    }
}

/// Situation of a fallen flag at the end of a period, if the time control is known. `at_zero` is set if the time of the
/// next period has not appeared.
fn fall(
    context: &Context<'_>,
    color: Color,
    period: Option<(&TimeControl, u32)>,
    at_zero: bool,
) -> Situation {
    let is_last = |(control, period): (&TimeControl, u32)| control.is_last(period);
    Situation::FlagFall {
        completed: context.game.completed()[color],
        required: period.and_then(|(control, period)| control.required(period)),
        last_period: at_zero && period.is_some_and(is_last),
        opponent_can_mate: context.opponent_can_mate(context.game.last_legal(), color),
        opponent_broke: context.broken_by(!color),
        next_period_missing: at_zero && !period.is_some_and(is_last),
    }
}

/// Player whose last move is an open offence, and the broken rule.
fn broken_by_either(context: &Context<'_>) -> Option<(Color, Broken)> {
    let broke = |player: Color| {
        let broken = context.broken_by(player).filter(|broken| broken.is_offence())?;
        Some((player, broken))
    };
    Color::ALL.into_iter().find_map(broke)
}

/// Whether the player to move has lifted a pawn from their seventh rank, or put it on the last one.
fn promotes(context: &Context<'_>) -> bool {
    let Some(tip) = context.game.tip() else {
        return false;
    };
    let seventh = tip.turn().fold_wb(Rank::Seventh, Rank::Second);
    let pawns = tip.board().by_piece(Role::Pawn.of(tip.turn())) & Bitboard::from(seventh);
    (pawns & context.differs()).any()
}
