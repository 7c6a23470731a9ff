//! Advice about players' claims of a draw: the evidence in the record, and the penalty for a wrong claim.

use std::collections::BTreeMap;

use serde_json::Value;
use shakmaty::{ByColor, Color};

use super::{Advice, Draft, Severity, clock_text, name};
use crate::laws::articles::Topic;
use crate::laws::claim::{ClaimFault, ClaimKind, ClaimRuling, DrawClaim, Known, TwoMinuteClaim};
use crate::laws::table::{ClaimCost, Quickplay};

/// Minutes that the opponent gets in the last two minutes (2023: III.4, III.5.2, III.5.3).
const QUICKPLAY_MINUTES: u64 = 2;
/// Most minutes that a wrong claim costs the claimant in the edition of 1997, and the minutes that the opponent gets
/// (9.5(b)).
const MINUTES_1997: u64 = 3;
const MINUTE_MS: u64 = 60_000;

impl Draft<'_> {
    pub(super) fn draw_claim(self, claim: &DrawClaim) -> Advice {
        let ground = match (claim.fifty_moves, claim.intended.is_some()) {
            (false, false) => "threefold",
            (false, true) => "threefold_intended",
            (true, false) => "fifty",
            (true, true) => "fifty_intended",
        };
        let topic = match (claim.fifty_moves, claim.intended.is_some()) {
            (false, false) => Topic::Threefold,
            (false, true) => Topic::ThreefoldIntended,
            (true, false) => Topic::FiftyMoves,
            (true, true) => Topic::FiftyMovesIntended,
        };
        let list = if claim.list.is_empty() {
            "none"
        } else {
            &claim.list
        };
        let draft = self
            .with(
                "claim",
                if claim.fifty_moves {
                    ClaimKind::FiftyMoves
                } else {
                    ClaimKind::Threefold
                }
                .as_str(),
            )
            .with("ground", ground)
            .with("count", claim.count)
            .with("stood", claim.count)
            .with("listed", list)
            .with("from_start", if claim.from_start { "yes" } else { "no" })
            .with("intended", claim.intended.clone().unwrap_or_default())
            .wrong_claim_penalty(claim.times);
        match claim.fault {
            None => draft.done(
                Severity::Advice,
                "draw_claimed.right",
                &[topic, Topic::RightClaim],
            ),
            Some(ClaimFault::Count) => draft.done(
                Severity::Advice,
                "draw_claimed.wrong",
                &[topic, Topic::WrongClaim],
            ),
            Some(fault) => {
                let formal = if fault == ClaimFault::NotOnMove {
                    "not_on_move"
                } else {
                    "illegal"
                };
                let topics = [topic, Topic::ClaimLost, Topic::WrongClaim];
                let draft = draft.with("formal", formal);
                draft.done(Severity::Advice, "draw_claimed.formal", &topics)
            }
        }
    }

    pub(super) fn early_draw(self, made: u32, limit: u32) -> Advice {
        let article = self.rules.article(Topic::EarlyDraw);
        let by = if article.is_empty() { "event" } else { "laws" };
        let draft = self
            .with("made", made)
            .with("limit", limit)
            .with("article", article)
            .with("limited_by", by);
        let topics = [Topic::EarlyDraw, Topic::Agreement];
        draft.done(Severity::Advice, "early_draw.shown", &topics)
    }

    /// No article says which game counts for a pairing: the arbiter decides. After a result, a second game is usually
    /// analysis, so it is only a hint.
    pub(super) fn second_game(
        self,
        (round, table): (u32, u32),
        (first, second): (&str, &str),
        has_result: bool,
    ) -> Advice {
        let draft = self
            .with("round", round)
            .with("table", table)
            .with("first", first)
            .with("second", second);
        match has_result {
            true => draft.done(Severity::Hint, "second_game.after_result", &[]),
            false => draft.done(Severity::Advice, "second_game.asked", &[]),
        }
    }

    pub(super) fn two_minute_claim(self, claim: &TwoMinuteClaim) -> Advice {
        let rule = self.rules.quickplay();
        let under = match claim.left {
            None => "unknown",
            Some(left) if self.color.is_some_and(|color| left[color] < 2 * MINUTE_MS) => "yes",
            Some(_) => "no",
        };
        let needs_announcing = rule == Some(Quickplay::DecideOrIncrement);
        let announced = if needs_announcing {
            claim.announced
        } else {
            Known::Yes
        };
        // In 1997, the claimant need not have the move.
        let on_move = claim.on_move || rule == Some(Quickplay::DrawOrPostpone);
        let shown = |color: Color| {
            claim
                .left
                .map_or_else(|| "unknown".to_owned(), |left| clock_text(left[color]))
        };
        let left = self.color.map_or_else(|| "unknown".to_owned(), shown);
        let pace = |color: Color| {
            claim.pace_ms[color].map_or_else(|| "unknown".to_owned(), |ms| (ms / 1000).to_string())
        };
        let last = |name: &Option<String>| name.clone().unwrap_or_else(|| "none".to_owned());
        let draft = self
            .with(
                "claim",
                if claim.asks_increment {
                    ClaimKind::Increment
                } else {
                    ClaimKind::Quickplay
                }
                .as_str(),
            )
            .with("under", under)
            .with("left", left)
            .with("turn", if on_move { "on_move" } else { "not" })
            .with("increments", claim.increment.name())
            .with("period", claim.last_period.name())
            .with("announced", announced.name())
            .with("facts", "known")
            .with("window", claim.window)
            .with("captures", claim.captures)
            .with("pawn_moves", claim.pawn_moves)
            .with("checks", claim.checks)
            .with("last_capture", last(&claim.last_capture))
            .with("last_pawn", last(&claim.last_pawn))
            .with("stood", claim.stood)
            .with("most", claim.most)
            .with("pace_white", pace(Color::White))
            .with("pace_black", pace(Color::Black))
            .with("left_white", shown(Color::White))
            .with("left_black", shown(Color::Black))
            .with("moves", claim.moves.clone())
            .two_minutes_more(claim.left);
        let topics = [Topic::Quickplay, Topic::QuickplayScope];
        let increment = [Topic::QuickplayIncrement, Topic::QuickplayScope];
        match rule {
            None => draft.done(
                Severity::Advice,
                "two_minute_claim.not_here",
                &[Topic::QuickplayScope],
            ),
            Some(Quickplay::DecideOrIncrement) if claim.asks_increment => {
                draft.done(Severity::Advice, "two_minute_claim.increment", &increment)
            }
            Some(_) if claim.asks_increment => {
                draft.done(Severity::Advice, "two_minute_claim.no_increment", &topics)
            }
            Some(Quickplay::DrawOrPostpone) => {
                draft.done(Severity::Advice, "two_minute_claim.postpone_only", &topics)
            }
            Some(Quickplay::Decide) => draft.done(Severity::Advice, "two_minute_claim.decide", &topics),
            Some(Quickplay::DecideOrIncrement) => {
                let topics = [Topic::Quickplay, Topic::QuickplayIncrement, Topic::QuickplayScope];
                draft.done(Severity::Advice, "two_minute_claim.decide_or_increment", &topics)
            }
        }
    }

    /// Advice on the arbiter's ruling. `values` are the values of the advice given for the claim.
    pub(super) fn claim_ruled(
        mut self,
        kind: ClaimKind,
        ruling: ClaimRuling,
        values: &BTreeMap<String, Value>,
        times: Option<ByColor<u64>>,
    ) -> Advice {
        let own = core::mem::take(&mut self.values);
        self.values.clone_from(values);
        self.values.extend(own);
        // The claim's facts stay in the text, because the report has no other record of the claim.
        for name in ["facts", "ground"] {
            self.values
                .entry(name.to_owned())
                .or_insert_with(|| "none".into());
        }
        let reject = if self.rules.quickplay() == Some(Quickplay::DrawOrPostpone) {
            "none"
        } else {
            "minutes"
        };
        match (kind, ruling) {
            (ClaimKind::Threefold | ClaimKind::FiftyMoves, ClaimRuling::Accept) => {
                self.done(Severity::Info, "draw_claimed.accepted", &[Topic::RightClaim])
            }
            (ClaimKind::Threefold | ClaimKind::FiftyMoves, ClaimRuling::Reject | ClaimRuling::Postpone) => {
                let draft = self.wrong_claim_penalty(times);
                draft.done(Severity::Advice, "draw_claimed.rejected", &[Topic::WrongClaim])
            }
            (ClaimKind::Quickplay, ClaimRuling::Accept) => {
                self.done(Severity::Info, "two_minute_claim.accepted", &[Topic::Quickplay])
            }
            (ClaimKind::Quickplay, ClaimRuling::Reject) => {
                let draft = self.with("rejection", reject).two_minutes_more(times);
                draft.done(Severity::Advice, "two_minute_claim.rejected", &[Topic::Quickplay])
            }
            (ClaimKind::Quickplay, ClaimRuling::Postpone) => {
                let draft = self.two_minutes_more(times);
                draft.done(
                    Severity::Advice,
                    "two_minute_claim.postponed",
                    &[Topic::Quickplay],
                )
            }
            (ClaimKind::Increment, ClaimRuling::Accept) => {
                let topics = [Topic::QuickplayIncrement, Topic::QuickplayScope];
                self.two_minutes_more(times)
                    .done(Severity::Advice, "two_minute_claim.granted", &topics)
            }
            (ClaimKind::Increment, ClaimRuling::Reject | ClaimRuling::Postpone) => {
                let topics = [Topic::QuickplayIncrement, Topic::QuickplayScope];
                self.done(Severity::Info, "two_minute_claim.refused", &topics)
            }
        }
    }

    /// Adds the penalty for a wrong claim, and the resulting times.
    fn wrong_claim_penalty(self, times: Option<ByColor<u64>>) -> Self {
        let intended = self
            .values
            .get("intended")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let must = if intended.is_empty() { "none" } else { "move" };
        let claimant = self.color;
        let draft = self.with("must", must);
        match draft.rules.wrong_claim() {
            ClaimCost::Minutes(minutes) => {
                let bonus = u64::from(minutes) * MINUTE_MS;
                let draft = draft.with("wrong", "minutes").with("minutes", minutes);
                draft.set_clocks(times, claimant, 0, bonus)
            }
            ClaimCost::HalfTheTime => {
                let own = times.zip(claimant).map_or(0, |(times, claimant)| times[claimant]);
                let lost = (own / 2).min(MINUTES_1997 * MINUTE_MS);
                let draft = draft.with("wrong", "half").with("minutes", MINUTES_1997);
                draft.set_clocks(times, claimant, lost, MINUTES_1997 * MINUTE_MS)
            }
        }
    }

    /// Adds the times after the opponent has received two minutes.
    fn two_minutes_more(self, times: Option<ByColor<u64>>) -> Self {
        let claimant = self.color;
        self.set_clocks(times, claimant, 0, QUICKPLAY_MINUTES * MINUTE_MS)
    }

    fn set_clocks(self, times: Option<ByColor<u64>>, claimant: Option<Color>, lost: u64, bonus: u64) -> Self {
        let Some((mut times, claimant)) = times.zip(claimant) else {
            return self.with("set", "unknown");
        };
        times[claimant] = times[claimant].saturating_sub(lost);
        times[!claimant] = times[!claimant].saturating_add(bonus);
        let mut draft = self.with("set", "known");
        for color in Color::ALL {
            draft = draft.with(&format!("set_{}", name(color)), clock_text(times[color]));
        }
        draft
    }
}
