//! Late starts: the round has begun and the game has not. The clock is stopped, or a player's first move is missing.
//!
//! Only boards that wait for their game are checked: the pieces are set up, and no game has begun for this round. The
//! board cannot see whether the players are there.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Board, ByColor, Color};

use super::book::{Number, Report, ResumedIncident};
use super::{Context, News};
use crate::clock::ClockChange;
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{ResumableCase, Situation};
use crate::position::Variant;

/// Time within which clocks are started one after the other.
const START_GRACE: Duration = Duration::from_secs(120);
/// Maximum time before a round at which a game of the round may begin.
const MAX_EARLY: Duration = Duration::from_secs(10 * 60);
/// Maximum thinking time of a present player for the first move.
const MAX_FIRST_MOVE_THOUGHT: Duration = Duration::from_secs(5 * 60);
/// Time after the default time at which a board without a game is assumed to have none in this round.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(60 * 60);
/// Number of differing squares above which the placement is another start position, or the pieces are being put away.
const MAX_DIFFERING_SQUARES: usize = 8;

/// Watches for games that do not begin with their round.
#[derive(Debug, Default)]
pub(super) struct LateStarts {
    open: Option<OpenLateStart>,
    /// The round in which a stopped clock was reported. One report is enough.
    stopped_reported: Option<Timestamp>,
    /// The round in which a player's missing first move was reported.
    missed: ByColor<Option<Timestamp>>,
    began: Option<Timestamp>,
    playing: bool,
    observed_since: Option<Timestamp>,
    set_up: Option<Timestamp>,
    started: Option<Timestamp>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct OpenLateStart {
    number: Number,
    round: Timestamp,
    /// Player whose first move is missing; `None` if the clock is stopped.
    color: Option<Color>,
    defaulted: bool,
    /// Placement that the game begins from.
    board: Board,
}

impl LateStarts {
    pub(super) fn resume_game(&mut self, began: Timestamp, playing: bool) {
        self.began = Some(began);
        self.playing = playing;
    }

    pub(super) fn resume(&mut self, known: ResumedIncident) {
        self.resume_past(&known);
        // The incident was opened, so the board had been observed by then.
        self.observed_since = Some(known.from);
        self.open = Some(OpenLateStart {
            number: known.number,
            round: known.from,
            color: known.color,
            defaulted: known.case != Some(ResumableCase::NotRunning),
            board: known.board.unwrap_or_default(),
        });
    }

    /// Resumes a closed incident, which is not reported again in its round.
    pub(super) fn resume_past(&mut self, known: &ResumedIncident) {
        match known.color {
            Some(color) => self.missed[color] = Some(known.from),
            None => self.stopped_reported = Some(known.from),
        }
    }

    /// Drops the incident, because the arbiter has decided it.
    pub(super) fn forget(&mut self, number: Number) {
        self.open.take_if(|open| open.number == number);
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        let (now, rounds) = (context.now(), &context.game.regulations.rounds);
        self.wake = rounds.next(now);
        self.follow(context, news);
        let round = rounds.last(now).filter(|round| now < given_up(context, *round));
        self.close(context, news, round);
        let Some(round) = round else { return };
        self.wake_at(given_up(context, round));
        if self.waits_for_game(context, round) {
            self.check_clock(context, round);
        } else {
            self.check_first_move(context, round);
        }
    }

    fn follow(&mut self, context: &Context<'_>, news: &News) {
        let now = context.now();
        match news {
            News::Started => self.set_up = Some(now),
            News::Clock(ClockChange::Started) => self.started = Some(now),
            _ => {}
        }
        if context.acts.is_whole() {
            self.observed_since.get_or_insert(now);
        }
        let playing = context.game.begun;
        if playing && !core::mem::replace(&mut self.playing, playing) {
            self.began = Some(now);
        }
        self.playing = playing;
    }

    fn close(&mut self, context: &mut Context<'_>, news: &News, round: Option<Timestamp>) {
        let Some(open) = &self.open else { return };
        let game = context.game;
        let ends_game = matches!(news, News::Over) || (open.color.is_some() && matches!(news, News::Started));
        let begun = match open.color {
            Some(color) => has_moved(context, color),
            None => game.begun && !game.line.is_empty(),
        };
        let put_away = open.color.is_none()
            && !game.begun
            && context.acts.is_whole()
            && context.acts.off(&open.board) > MAX_DIFFERING_SQUARES;
        let (by, reason) = if ends_game {
            (ClosedBy::Laws, IncidentEnd::GameOver)
        } else if open.color.is_none() && game.clock.running {
            (ClosedBy::Clock, IncidentEnd::Passed)
        } else if begun || put_away {
            (ClosedBy::Board, IncidentEnd::Passed)
        } else if open.color.is_none() && round != Some(open.round) {
            (ClosedBy::Laws, IncidentEnd::Passed)
        } else {
            return;
        };
        context.book.close(game.now, open.number, by, reason);
        self.open = None;
    }

    /// Whether the start position is set up and no game has begun for this round.
    fn waits_for_game(&self, context: &Context<'_>, round: Timestamp) -> bool {
        let game = context.game;
        let begun = self.began.is_some_and(|began| belongs_to_round(began, round));
        let is_set_up = game
            .start
            .is_some_and(|start| context.acts.shows(start.state.board()));
        let waits = !game.begun && !game.over && !begun && game.line.is_empty();
        waits && is_set_up && context.acts.is_whole() && is_beginning(context)
    }

    /// Checks whether the clock of a board that waits for its game runs.
    fn check_clock(&mut self, context: &mut Context<'_>, round: Timestamp) {
        let (now, clock) = (context.now(), context.game.clock);
        if !clock.connected || clock.running {
            return;
        }
        let ready = self.set_up.or(self.observed_since).unwrap_or(now);
        let due = round.max(ready) + START_GRACE;
        if now < due {
            self.wake_at(due);
            return;
        }
        let passes = default_at(context, round).filter(|passes| self.watched(*passes, round));
        let defaulted = passes.is_some_and(|passes| now >= passes);
        if let Some(passes) = passes.filter(|_| !defaulted) {
            self.wake_at(passes);
        }
        match &mut self.open {
            Some(open) if open.defaulted == defaulted => {}
            Some(open) => {
                open.defaulted = defaulted;
                let number = open.number;
                context.update(number, late_report(context, round, defaulted).at_ply(0));
            }
            None if self.stopped_reported == Some(round) => {}
            None => {
                let number = context.open(late_report(context, round, defaulted).at_ply(0));
                self.stopped_reported = Some(round);
                self.opened(context, number, round, None, defaulted);
            }
        }
    }

    /// Whether the board had been observed when the default time passed. Earlier events are unknown.
    fn watched(&self, passes: Timestamp, round: Timestamp) -> bool {
        self.observed_since
            .is_some_and(|observed_since| observed_since <= passes.max(round + START_GRACE))
    }

    /// Checks whether the clock runs and the next first move is missing.
    fn check_first_move(&mut self, context: &mut Context<'_>, round: Timestamp) {
        let (now, game) = (context.now(), context.game);
        let began = self.began.filter(|began| belongs_to_round(*began, round));
        let (Some(began), Some(tip), Some(passes)) = (began, game.tip(), default_at(context, round)) else {
            return;
        };
        let color = tip.turn();
        if !game.begun || !game.clock.running || !is_beginning(context) || has_moved(context, color) {
            return;
        }
        let last = game.line.last();
        // Before the press, the opponent's clock may still be running.
        if last.is_some_and(|last| last.completed.is_none()) || self.missed[color] == Some(round) {
            return;
        }
        let turn = last.map_or(began, |last| last.reported_at);
        let due = passes.max(self.started.map_or(turn, |started| started.max(turn)) + MAX_FIRST_MOVE_THOUGHT);
        if now < due {
            self.wake_at(due);
            return;
        }
        let report = late_report(context, round, true).of(color);
        let number = context.open(report);
        self.missed[color] = Some(round);
        self.opened(context, number, round, Some(color), true);
    }

    fn opened(
        &mut self,
        context: &Context<'_>,
        number: Number,
        round: Timestamp,
        color: Option<Color>,
        defaulted: bool,
    ) {
        let start = context.game.start.map(|start| start.state.board().clone());
        self.open = Some(OpenLateStart {
            number,
            round,
            color,
            defaulted,
            board: start.unwrap_or_default(),
        });
    }

    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}

fn late_report(context: &Context<'_>, round: Timestamp, defaulted: bool) -> Report {
    let passed = context.now().saturating_duration_since(round).as_secs() / 60;
    let situation = Situation::LateStart {
        minutes: u32::try_from(passed).unwrap_or(u32::MAX),
        default_time: context.game.regulations.default_time.map(|time| time.minutes()),
        defaulted,
    };
    context.report(situation, round)
}

/// Whether a game belongs to the round, or to a later one.
fn belongs_to_round(began: Timestamp, round: Timestamp) -> bool {
    began + MAX_EARLY >= round
}

/// End of the default time of a round; `None` if the default time is unknown.
fn default_at(context: &Context<'_>, round: Timestamp) -> Option<Timestamp> {
    let minutes = context.game.regulations.default_minutes()?;
    Some(round + Duration::from_secs(u64::from(minutes) * 60))
}

/// Time from which a waiting board is assumed to have no game in a round.
fn given_up(context: &Context<'_>, round: Timestamp) -> Timestamp {
    default_at(context, round).unwrap_or(round) + GIVEN_UP_AFTER
}

/// Whether the line begins with the start of the game, rather than with a game found in progress.
fn is_beginning(context: &Context<'_>) -> bool {
    context
        .game
        .start
        .is_some_and(|start| !start.goes_on && (start.variant != Variant::FromPosition || context.game.given))
}

fn has_moved(context: &Context<'_>, color: Color) -> bool {
    context.game.line.iter().any(|entry| entry.ply.color == color)
}
