//! Advice about flags and clocks.

use shakmaty::{ByColor, Color};

use super::{Advice, Draft, Severity, clock_text, name};
use crate::laws::articles::Topic;
use crate::laws::resumable::ResumableCase;
use crate::laws::rules::TwoFlags;
use crate::laws::situation::{Broken, WhyStopped};
use crate::laws::table::{self, FlagCall};

impl Draft<'_> {
    /// Adds the number of moves that the player has completed, and the number that the period requires.
    pub(super) fn progress(self, completed: u32, required: Option<u32>, last_period: bool) -> Self {
        let draft = self.with("completed", completed);
        match required {
            Some(required) if !last_period => draft.with("progress", "required").with("required", required),
            _ if last_period => draft.with("progress", "last_period"),
            _ => draft.with("progress", "unknown"),
        }
    }

    /// The time of a period is used up after all its required moves.
    pub(super) fn period_over(self, next_period_missing: bool) -> Advice {
        if next_period_missing {
            let topics = [Topic::FlagFallen, Topic::ClockDefect];
            return self.done(Severity::Advice, "flag_fall.next_period_missing", &topics);
        }
        let topics = [Topic::FlagFallen, Topic::Flag];
        self.done(Severity::Info, "flag_fall.moves_made", &topics)
    }

    /// A flag has fallen before the required moves, or in the last period. If the opponent's last move broke Article 3
    /// or 4, a win on time cannot be advised.
    pub(super) fn flag(self, opponent_broke: Option<Broken>) -> Advice {
        let call = self.rules.flag_call();
        let offence = opponent_broke.filter(|broken| broken.is_offence());
        let touch = if opponent_broke == Some(Broken::Touch) {
            "perhaps"
        } else {
            "none"
        };
        let draft = self.with("touch", touch);
        if let Some(broken) = offence {
            let topics = [Topic::FlagFallen, Topic::Flag, Topic::IllegalMove];
            let draft = draft.with("broken", broken.name());
            return match call {
                FlagCall::Claim => draft.done(Severity::Hint, "flag_fall.silent_after_offence", &topics),
                FlagCall::Arbiter | FlagCall::ArbiterOrTimelyClaim | FlagCall::ArbiterOrClaim => {
                    draft.done(Severity::Advice, "flag_fall.after_offence", &topics)
                }
            };
        }
        let topics = [Topic::FlagFallen, Topic::Flag];
        let (severity, case, claim) = match call {
            FlagCall::Claim => (Severity::Hint, "flag_fall.silent", "none"),
            FlagCall::Arbiter => (Severity::Advice, "flag_fall.fallen", "none"),
            FlagCall::ArbiterOrTimelyClaim => (Severity::Advice, "flag_fall.fallen", "in_time"),
            FlagCall::ArbiterOrClaim => (Severity::Advice, "flag_fall.fallen", "may_stop"),
        };
        draft.with("claim", claim).done(severity, case, &topics)
    }

    /// Both flags are down, and the last move of `color` is an offence that has not been dealt with.
    pub(super) fn two_flags_after_offence(self, color: Color, broken: Broken) -> Advice {
        let topics = [Topic::FlagFallen, Topic::Flag, Topic::IllegalMove];
        self.for_player(Some(!color)).with("broken", broken.name()).done(
            Severity::Advice,
            "two_flags.after_offence",
            &topics,
        )
    }

    pub(super) fn two_flags(self, first: Option<Color>, last_period: Option<bool>) -> Advice {
        let severity = Severity::Advice;
        match self.rules.two_flags(first, last_period) {
            TwoFlags::Loses(color) => {
                let topics = [Topic::FlagFallen, Topic::Flag];
                self.for_player(Some(color))
                    .done(severity, "two_flags.first_known", &topics)
            }
            TwoFlags::PlayOn => self.done(severity, "two_flags.goes_on", &[Topic::TwoFlagsPlayOn]),
            TwoFlags::Draw => self.done(severity, "two_flags.draw", &[Topic::TwoFlagsLast]),
            TwoFlags::ByPeriod => {
                let topics = [Topic::TwoFlagsPlayOn, Topic::TwoFlagsLast];
                self.done(severity, "two_flags.by_period", &topics)
            }
            TwoFlags::DrawInAnyOrder => {
                let call = if table::may_announce_two_flags(self.rules.edition) {
                    "arbiter"
                } else {
                    "players"
                };
                let draft = self.with("call", call);
                draft.done(severity, "two_flags.draw_in_any_order", &[Topic::TwoFlagsLast])
            }
        }
    }

    /// Adds whether the setting of the clock may still be changed.
    pub(super) fn clock_setting(self, moves: u32) -> Self {
        let limit = self.rules.start_limit();
        let too_late = limit.is_some_and(|limit| moves >= limit);
        let setting = match too_late {
            false => "open",
            true if table::limit_bars_claims(self.rules.edition) => "claims_barred",
            true => "closed",
        };
        let wrong_time = if too_late { "closed" } else { "open" };
        self.with("setting", setting)
            .with("increment", setting)
            .with("wrong_time", wrong_time)
            .with("limit", limit.unwrap_or_default())
    }

    pub(super) fn inconsistent(
        self,
        missing_s: i64,
        increments_of: Option<ByColor<u32>>,
        should: Option<ByColor<u64>>,
    ) -> Advice {
        let amount = missing_s.unsigned_abs().saturating_mul(1000);
        let closed = self.values.get("wrong_time").is_some_and(|time| time == "closed");
        let draft = self
            .with("amount", clock_text(amount))
            .with("half", clock_text(amount / 2));
        let draft = match should.filter(|_| !closed) {
            Some(should) => draft
                .with("should", "known")
                .with("should_white", clock_text(*should.get(Color::White)))
                .with("should_black", clock_text(*should.get(Color::Black))),
            None => draft.with("should", "unknown"),
        };
        let (draft, case) = match increments_of {
            Some(moves) => (
                draft
                    .with("white_moves", moves.white)
                    .with("black_moves", moves.black),
                "clock_inconsistent.increments_missing",
            ),
            None if missing_s < 0 => (draft, "clock_inconsistent.too_much"),
            None => (draft, "clock_inconsistent.too_little"),
        };
        let topics = [Topic::ClockDefect, Topic::ClockSetting, Topic::ClockSettingLimit];
        let severity = if closed { Severity::Hint } else { Severity::Advice };
        draft.done(severity, case, &topics)
    }

    pub(super) fn time_trouble(self, players: ByColor<bool>) -> Advice {
        let exempt = if self.rules.exempt_for_period() {
            "period"
        } else {
            "clock"
        };
        let (color, case) = match (players.white, players.black) {
            (true, false) => (Some(Color::White), "time_trouble.one"),
            (false, true) => (Some(Color::Black), "time_trouble.one"),
            _ => (None, "time_trouble.both"),
        };
        if !self.rules.players_write() {
            let affected = color.map_or("both", name);
            let mode = self.rules.mode.as_str();
            let draft = self.with("who", affected).with("in_mode", mode).for_player(color);
            return draft.done(Severity::Info, "time_trouble.no_writing", &[Topic::Writing]);
        }
        let draft = self.with("exempt", exempt).for_player(color);
        draft.done(Severity::Advice, case, &[Topic::Writing])
    }

    /// The board cannot see whether the players are present. It only sees that the clock is stopped or that no move was
    /// made.
    pub(super) fn late(self, minutes: u32, default_time: Option<u32>, defaulted: bool) -> Advice {
        let default_time = self.rules.default_minutes(default_time);
        let (default, allowed) = match default_time {
            None => ("unstated", 0),
            Some(0) => ("zero", 0),
            Some(minutes) => ("later", minutes),
        };
        // If the default time is zero, a late player has no time to lose (2023: 6.7.2).
        let counts = allowed > 0 && !self.rules.article(Topic::NobodyThere).is_empty();
        let late_player = self.color;
        let draft = self
            .with("minutes", minutes)
            .with("default", default)
            .with("allowed", allowed)
            .with("nobody", if counts { "white" } else { "none" });
        let nobody_there = counts.then_some(Topic::NobodyThere);
        let topics = |first: &[Topic]| -> Vec<Topic> { first.iter().copied().chain(nobody_there).collect() };
        match (defaulted, late_player) {
            (false, _) => {
                let topics = topics(&[Topic::RoundBegins, Topic::DefaultTime]);
                draft.done(Severity::Hint, ResumableCase::NotRunning.as_str(), &topics)
            }
            (true, None) => {
                let topics = topics(&[Topic::DefaultTime]);
                draft.done(
                    Severity::Advice,
                    ResumableCase::DefaultTimePassed.as_str(),
                    &topics,
                )
            }
            (true, Some(_)) => draft.done(
                Severity::Hint,
                ResumableCase::NoFirstMove.as_str(),
                &[Topic::DefaultTime],
            ),
        }
    }

    /// In most games, the players stop the clock at the end. A stop deserves the arbiter's attention only together with
    /// other observations.
    pub(super) fn clock_stopped(self, why: Option<WhyStopped>) -> Advice {
        let (severity, case) = match why {
            Some(WhyStopped::Promotion) => (Severity::Hint, "clock_stopped.promotion"),
            Some(WhyStopped::Claim) => (Severity::Hint, "clock_stopped.claim"),
            Some(WhyStopped::Irregularity) => (Severity::Hint, "clock_stopped.irregularity"),
            None => (Severity::Info, "clock_stopped.passed"),
        };
        self.done(severity, case, &[Topic::ClockStopped])
    }

    pub(super) fn clock_gone(self) -> Advice {
        self.done(Severity::Advice, "clock_disconnected.gone", &[Topic::ClockDefect])
    }
}
