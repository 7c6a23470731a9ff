//! Advice about illegal moves, and about offences that the Laws treat like them.

use shakmaty::Color;

use super::{Advice, Draft, Severity, clock_text};
use crate::laws::articles::Topic;
use crate::laws::points::IllegalMoveReport;
use crate::laws::situation::{ClockReadings, Stage, TwoPieces};
use crate::laws::table::{IllegalPositionRemedy, Penalty, PressWithoutMove};

/// Facts common to all offences.
#[derive(Clone, Copy)]
pub(super) struct Offence {
    number: u32,
    opponent_can_mate: Option<bool>,
    times: Option<ClockReadings>,
}

impl Offence {
    pub(super) const fn new(
        number: u32,
        opponent_can_mate: Option<bool>,
        times: Option<ClockReadings>,
    ) -> Self {
        Self {
            number,
            opponent_can_mate,
            times,
        }
    }
}

/// The times to which the clocks may be set.
#[derive(Clone, Copy)]
enum Reset {
    /// The times before the irregularity, because play went on after it.
    Before,
    /// The times before the irregularity, or the present ones without the time added by the press.
    BeforeOrNow,
    /// The present times without the time added by the press, because no move is taken back.
    Now,
}

impl Reset {
    const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::BeforeOrNow => "before_or_now",
            Self::Now => "now",
        }
    }
}

impl Draft<'_> {
    pub(super) fn illegal_move(self, stage: Stage, offence: Offence) -> Advice {
        let stands = self.rules.stands_once_answered();
        match stage {
            Stage::Made => self.illegal_move_made(),
            Stage::Completed => self.illegal_move_completed(offence),
            Stage::Answered if stands => self.illegal_move_stands(offence),
            Stage::Answered if matches!(self.rules.penalty(), Penalty::OnClaim { .. }) => {
                self.done(Severity::Hint, "illegal_move.claim_lapsed", &[Topic::Window])
            }
            Stage::Answered => {
                let topics = [Topic::IllegalMove, Topic::Penalty, Topic::Reset];
                let lost = self.loses(offence);
                let draft = self.penalty(offence, Reset::Before);
                let draft = draft.with("remedy", if lost { "none" } else { "back" });
                draft.done(Severity::Violation, "illegal_move.found_later", &topics)
            }
        }
    }

    fn illegal_move_stands(self, offence: Offence) -> Advice {
        let counts = match self.rules.penalty() {
            // If the first offence decides the game, there is nothing to count.
            Penalty::LosesAtOnce | Penalty::WinOnClaim => "none",
            // The opponent answered the move before it was completed.
            _ if offence.number == 0 => "none",
            _ if self.rules.standing_counts() => "yes",
            _ => "ask",
        };
        let agreement = if self.rules.players_may_agree() {
            "yes"
        } else {
            "none"
        };
        self.with("counts", counts)
            .with("agreement", agreement)
            .with("offence", offence.number)
            .done(Severity::Hint, "illegal_move.stands", &[Topic::Window])
    }

    fn illegal_move_made(self) -> Advice {
        let topics = [Topic::IllegalMove, Topic::MoveCompleted];
        if !self.rules.acts_on_illegal_moves() {
            return self.done(Severity::Info, "illegal_move.made_silent", &topics);
        }
        match self.rules.points.illegal_move_told {
            IllegalMoveReport::Made => self.done(Severity::Advice, "illegal_move.made", &topics),
            IllegalMoveReport::Completed => self.done(Severity::Info, "illegal_move.made_wait", &topics),
        }
    }

    fn illegal_move_completed(self, offence: Offence) -> Advice {
        let topics = [Topic::IllegalMove, Topic::Penalty, Topic::Window];
        let (severity, case) = match self.rules.penalty() {
            Penalty::OnClaim { .. } => (Severity::Hint, "illegal_move.claim_penalty"),
            Penalty::WinOnClaim => (Severity::Hint, "illegal_move.claim_win"),
            _ if self.loses(offence) => (Severity::Violation, "illegal_move.lost"),
            _ => (Severity::Violation, "illegal_move.completed"),
        };
        self.penalty(offence, Reset::BeforeOrNow)
            .done(severity, case, &topics)
    }

    pub(super) fn promotion(self, stage: Stage, offence: Offence) -> Advice {
        let queen = if self.rules.becomes_queen() {
            "becomes"
        } else {
            "goes_back"
        };
        let draft = self.with("queen", queen);
        match stage {
            Stage::Made => draft.promotion_made(),
            Stage::Completed => draft.promotion_completed(offence),
            Stage::Answered => draft.promotion_answered(offence),
        }
    }

    fn promotion_made(self) -> Advice {
        let topics = [Topic::Promotion, Topic::MoveCompleted];
        if self.rules.penalty() == Penalty::WinOnClaim {
            return self.done(Severity::Info, "promotion_not_replaced.made_silent", &topics);
        }
        match self.rules.points.illegal_move_told {
            IllegalMoveReport::Made => self.done(Severity::Advice, "promotion_not_replaced.made", &topics),
            IllegalMoveReport::Completed => {
                self.done(Severity::Info, "promotion_not_replaced.made_wait", &topics)
            }
        }
    }

    fn promotion_completed(self, offence: Offence) -> Advice {
        let topics = [Topic::Promotion, Topic::Penalty, Topic::Window];
        let (severity, case) = match self.rules.penalty() {
            // A4c of 2009 mentions the pawn left on the last rank: the arbiter need not wait for a claim.
            Penalty::OnClaim { .. } => (Severity::Violation, "promotion_not_replaced.intervene"),
            Penalty::WinOnClaim => (Severity::Hint, "promotion_not_replaced.claim_win"),
            _ if self.loses(offence) => (Severity::Violation, "promotion_not_replaced.lost"),
            _ => (Severity::Violation, "promotion_not_replaced.completed"),
        };
        let reset = if self.rules.becomes_queen() {
            Reset::Now
        } else {
            Reset::BeforeOrNow
        };
        self.penalty(offence, reset).done(severity, case, &topics)
    }

    fn promotion_answered(self, offence: Offence) -> Advice {
        let standing = [Topic::Window, Topic::IllegalPosition];
        match self.rules.illegal_position() {
            IllegalPositionRemedy::GoBack => {
                let topics = [Topic::Promotion, Topic::Penalty, Topic::Reset];
                let remedy = match (self.loses(offence), self.rules.becomes_queen()) {
                    (true, _) => "none",
                    (false, true) => "queen",
                    (false, false) => "back",
                };
                let draft = self.penalty(offence, Reset::Before).with("remedy", remedy);
                draft.done(Severity::Violation, "promotion_not_replaced.found_later", &topics)
            }
            IllegalPositionRemedy::Intervene => {
                self.done(Severity::Advice, "promotion_not_replaced.still_there", &standing)
            }
            IllegalPositionRemedy::WaitThenDraw => {
                self.done(Severity::Advice, "promotion_not_replaced.wait", &standing)
            }
            IllegalPositionRemedy::Leave => {
                self.done(Severity::Hint, "promotion_not_replaced.stands", &standing)
            }
        }
    }

    pub(super) fn pressed(self, offence: Offence) -> Advice {
        let own = [Topic::PressedWithoutMove];
        let topics = [Topic::PressedWithoutMove, Topic::Penalty];
        let lost = self.loses(offence);
        match self.rules.pressed_without_move() {
            PressWithoutMove::NoRule => self.done(Severity::Hint, "clock_pressed_without_move.no_rule", &own),
            PressWithoutMove::Discretion => {
                let draft = self.clocks(offence, Reset::Now, 0);
                draft.done(Severity::Advice, "clock_pressed_without_move.discretion", &own)
            }
            PressWithoutMove::AsIllegal if lost => {
                let draft = self.penalty(offence, Reset::Now);
                draft.done(Severity::Violation, "clock_pressed_without_move.lost", &topics)
            }
            PressWithoutMove::AsIllegal => {
                let draft = self.penalty(offence, Reset::Now);
                draft.done(
                    Severity::Violation,
                    "clock_pressed_without_move.as_illegal",
                    &topics,
                )
            }
        }
    }

    pub(super) fn pressed_early(self) -> Advice {
        let topics = [Topic::PressedEarly, Topic::Discretion];
        self.done(Severity::Hint, "pressed_before_release.in_hand", &topics)
    }

    pub(super) fn two_hands(self, pieces: TwoPieces) -> Advice {
        self.with("pieces", pieces.name()).two_hands_seen()
    }

    fn two_hands_seen(self) -> Advice {
        if !self.rules.two_hands_as_illegal() {
            let topics = [Topic::TwoHands, Topic::Discretion];
            return self.done(Severity::Hint, "two_hands_suspected.discretion", &topics);
        }
        let topics = [Topic::TwoHands, Topic::Penalty];
        let draft = match self.rules.penalty() {
            Penalty::Minutes { minutes, loses_at } => self
                .with("tariff", "minutes")
                .with("minutes", minutes)
                .with("loses_at", loses_at)
                .open_minutes(),
            _ => self.with("tariff", "at_once"),
        };
        draft.done(Severity::Hint, "two_hands_suspected.as_illegal", &topics)
    }

    /// Whether the offence ends the game, as a loss or a draw.
    fn loses(&self, offence: Offence) -> bool {
        match self.rules.penalty() {
            Penalty::Minutes { loses_at, .. } => offence.number >= loses_at,
            Penalty::LosesAtOnce => true,
            _ => false,
        }
    }

    /// Adds the penalty for the offence, and the times to set.
    fn penalty(self, offence: Offence, reset: Reset) -> Self {
        let rules = self.rules;
        let lost = self.loses(offence);
        let spares = if rules.penalty_spares() { "yes" } else { "no" };
        let request = if rules.penalty_on_request() { "yes" } else { "no" };
        let window = if rules.stands_once_answered() {
            "before_reply"
        } else {
            "none"
        };
        let draft = self
            .mate(offence.opponent_can_mate, rules.penalty_spares())
            .with("offence", offence.number)
            .with("spares", spares)
            .with("request", request)
            .with("window", window)
            .open_minutes();
        match rules.penalty() {
            // The opponent answered before the clock was pressed, so the move was never completed.
            _ if offence.number == 0 => draft.with("penalty", "uncompleted").clocks(offence, reset, 0),
            Penalty::LosesAtOnce => draft.with("penalty", "at_once").with("times", "none"),
            Penalty::Minutes { .. } if lost => draft.with("penalty", "lost").with("times", "none"),
            Penalty::Minutes { minutes, loses_at } => draft
                .with("penalty", "minutes")
                .with("minutes", minutes)
                .with("loses_at", loses_at)
                .clocks(offence, reset, minutes),
            // It is unknown which of the earlier offences were claimed.
            Penalty::OnClaim { minutes, loses_at } => draft
                .with("penalty", "claimed")
                .with("minutes", minutes)
                .with("loses_at", loses_at)
                .clocks(offence, reset, minutes),
            Penalty::QuickplayFinish { minutes, loses_at } => draft
                .with("penalty", "quickplay_finish")
                .with("minutes", minutes)
                .with("loses_at", loses_at)
                .clocks(offence, reset, 0),
            Penalty::WinOnClaim | Penalty::OpenMinutes => draft.with("penalty", "none").with("times", "none"),
        }
    }

    /// Adds whether the Laws leave the number of minutes open.
    fn open_minutes(self) -> Self {
        let open = if self.rules.penalty_is_open() { "yes" } else { "no" };
        self.with("open", open)
    }

    /// Adds whether the opponent can mate. If not, some rules turn the loss into a draw.
    pub(super) fn mate(self, opponent_can_mate: Option<bool>, spares: bool) -> Self {
        let material = self.rules.needs_mating_material();
        let mate = match opponent_can_mate {
            Some(true) if material => "material",
            Some(false) if material => "no_material",
            None if material => "unknown_material",
            _ if !spares => "plain",
            Some(true) => "can",
            Some(false) => "cannot",
            None => "unknown",
        };
        self.with("mate", mate)
    }

    /// Adds the times that the arbiter may set (2023: 7.1), with `minutes` more for the opponent.
    fn clocks(self, offence: Offence, reset: Reset, minutes: u8) -> Self {
        let Some((times, offender)) = offence.times.zip(self.color) else {
            return self.with("times", "none");
        };
        let bonus = u64::from(minutes) * 60_000;
        let (exact, keep) = (times.exact(offender, bonus), times.keep(offender, bonus));
        self.with("times", reset.name())
            .with("included", if minutes > 0 { "yes" } else { "no" })
            .with("exact_white", clock_text(*exact.get(Color::White)))
            .with("exact_black", clock_text(*exact.get(Color::Black)))
            .with("keep_white", clock_text(*keep.get(Color::White)))
            .with("keep_black", clock_text(*keep.get(Color::Black)))
    }
}
