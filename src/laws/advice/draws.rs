//! Draws and results: what players claim, and what they show.

use super::{Advice, Draft, Severity};
use crate::laws::articles::Topic;
use crate::laws::table::{self, ClaimCost};

impl Draft<'_> {
    pub(super) fn claimable(self, fifty_moves: bool, intended: Option<&str>) -> Advice {
        let (case, topic) = match (fifty_moves, intended) {
            (false, None) => ("draw_claimable.threefold", Topic::Threefold),
            (false, Some(_)) => ("draw_claimable.threefold_intended", Topic::ThreefoldIntended),
            (true, None) => ("draw_claimable.fifty_moves", Topic::FiftyMoves),
            (true, Some(_)) => ("draw_claimable.fifty_moves_intended", Topic::FiftyMovesIntended),
        };
        let lost = if self.rules.touch_ends_claim() {
            "touched"
        } else {
            "moved"
        };
        let draft = self
            .with("played", intended.unwrap_or_default())
            .with("lost", lost);
        let draft = match draft.rules.wrong_claim() {
            ClaimCost::HalfHisTime => draft.with("wrong", "half").with("minutes", 3),
            ClaimCost::Minutes(minutes) => draft.with("wrong", "minutes").with("minutes", minutes),
        };
        draft.is(
            Severity::Info,
            case,
            &[topic, Topic::WrongClaim, Topic::ClaimLost],
        )
    }

    pub(super) fn automatic_draw(self, seventy_five_moves: bool) -> Advice {
        let topic = if seventy_five_moves {
            Topic::SeventyFive
        } else {
            Topic::Fivefold
        };
        if self.rules.fivefold().is_none() {
            let claim = if seventy_five_moves {
                Topic::FiftyMoves
            } else {
                Topic::Threefold
            };
            return self.is(Severity::Info, "automatic_draw.claim_only", &[claim]);
        }
        let case = if seventy_five_moves {
            "automatic_draw.seventy_five_moves"
        } else {
            "automatic_draw.fivefold"
        };
        self.is(Severity::Advice, case, &[topic])
    }

    pub(super) fn quickplay(self) -> Advice {
        let Some(decision) = table::quickplay(self.rules.edition, self.rules.play()) else {
            return self.is(
                Severity::Advice,
                "quickplay_finish_request.not_here",
                &[Topic::Quickplay],
            );
        };
        let case = match decision {
            table::Quickplay::Decide => "quickplay_finish_request.decide",
            table::Quickplay::DecideOrIncrement => "quickplay_finish_request.decide_or_increment",
        };
        self.is(Severity::Advice, case, &[Topic::Quickplay])
    }

    pub(super) fn result_signal(self, result: &str) -> Advice {
        let spares = if self.rules.resignation_spares() {
            "draw"
        } else {
            "none"
        };
        let draft = self.with("result", result).with("resignation", spares);
        draft.is(
            Severity::Hint,
            "result_signal.shown",
            &[Topic::Result, Topic::Resignation],
        )
    }
}
