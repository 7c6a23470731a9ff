//! Claims of players, entered and decided by the arbiter.

use kiebitz_hardware::Timestamp;

use super::results::check_standing;
use super::{Checked, Effect, WhichGame};
use crate::command::{DecideClaim, PlayersClaim, Refusal};
use crate::events::{DecidedBy, EndReason, GameResult, Incident};
use crate::laws::{ClaimKind, ClaimRuling, Situation, text};
use crate::referee::watch::News;
use crate::referee::{Referee, Verdict};

/// A decision on a claim that can be carried out.
#[derive(Debug)]
pub(super) struct Ruled {
    number: u64,
    situation: Box<Situation>,
    /// `None` if the claim stays open.
    closing: Option<ClaimRuling>,
    /// End of the game, if the decision makes it a draw.
    drawn: Option<Verdict>,
}

impl Referee {
    /// Checks a claim. The note contains the evidence that the arbiter needs to judge it.
    pub(super) fn check_claim(&self, claim: &PlayersClaim) -> Result<Checked, Refusal> {
        let (color, situation) = self.assess_claim(claim).ok_or_else(|| self.no_game())?;
        let note = self.advice(&situation, Some(color));
        Ok(Checked {
            effect: Effect::Claim(color, Box::new(situation)),
            note: Some(note),
        })
    }

    /// Checks a decision on a claim, which is possible also after a flag has fallen (1997: 10.2(c); 2023: III.5.2). The
    /// note states the cost of the decision.
    pub(super) fn check_ruling(&self, by: &str, decide: &DecideClaim) -> Result<Checked, Refusal> {
        let claim = self.watch.claim(decide.incident);
        let claim = claim.ok_or_else(|| Refusal::UnknownClaim {
            board: self.board.clone(),
        })?;
        let kind = kind(claim);
        self.check_decided(by, claim.incident, decide.replace)?;
        let draws = decide.ruling == ClaimRuling::Accept && kind != ClaimKind::Increment;
        let drawn = if draws {
            Some(self.drawn_by(kind, by, decide.replace)?)
        } else {
            None
        };
        let closing = match (decide.ruling, kind) {
            (ClaimRuling::Postpone, ClaimKind::Quickplay) => None,
            (ClaimRuling::Postpone, _) => return Err(Refusal::NothingToPostpone),
            (ruling, _) => Some(ruling),
        };
        let situation = Situation::ClaimRuled {
            kind,
            ruling: decide.ruling,
            values: claim.evidence.values.clone(),
            times: self.watch.face().map(|face| face.times_ms()),
        };
        let note = self.advice(&situation, claim.color);
        let ruled = Ruled {
            number: claim.incident,
            situation: Box::new(situation),
            closing,
            drawn,
        };
        Ok(Checked {
            effect: Effect::Rule(ruled),
            note: Some(note),
        })
    }

    pub(super) fn rule_on_claim(&mut self, now: Timestamp, by: &str, ruled: Ruled) {
        let Ruled {
            number,
            situation,
            closing,
            drawn,
        } = ruled;
        let closing = closing.map(|ruling| (ruling, self.decision(now, by)));
        self.watch(now, News::Ruled(number, situation, closing));
        if let Some(verdict) = drawn {
            self.set_result(now, by, WhichGame::Current, verdict);
            self.watch(now, News::Time);
        }
    }

    /// The draw that follows from an accepted claim. Fails if the game has ended by the Laws or another arbiter has set
    /// its result.
    fn drawn_by(&self, kind: ClaimKind, by: &str, replace: bool) -> Result<Verdict, Refusal> {
        let reason = match kind {
            ClaimKind::Threefold | ClaimKind::FiftyMoves => EndReason::Claim,
            ClaimKind::Quickplay | ClaimKind::Increment => EndReason::Quickplay,
        };
        let game = self.game.as_ref().ok_or_else(|| self.no_game())?;
        match game
            .verdict
            .as_ref()
            .filter(|over| over.by == DecidedBy::Laws && over.confirmed)
        {
            Some(over) => Err(Refusal::AlreadyOver {
                result: over.result,
                over_by: over.reason,
                reason,
            }),
            None => {
                let standing = game.verdict.as_ref();
                check_standing(standing, (GameResult::Draw, Some(reason)), by, replace)?;
                Ok(Verdict::arbiter(GameResult::Draw, reason))
            }
        }
    }

    fn advice(&self, situation: &Situation, color: Option<shakmaty::Color>) -> String {
        let advice = self.regulations.rules.advise(situation, color);
        text(self.regulations.language, advice.case, &advice.values)
    }
}

/// Kind of a claim, from the values of its advice.
fn kind(claim: &Incident) -> ClaimKind {
    let named = claim
        .evidence
        .values
        .get("claim")
        .and_then(|value| value.as_str());
    let known = ClaimKind::ALL.iter().find(|kind| Some(kind.as_str()) == named);
    known.copied().unwrap_or(ClaimKind::Threefold)
}
