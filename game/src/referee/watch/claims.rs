//! Claims and draws that wait for the arbiter. They are opened by a command or a result and closed by a decision.

use kiebitz_hardware::Timestamp;

use super::book::{Closing, Report};
use super::{GameStatus, Watch};
use crate::events::{ClosedBy, Decision, Incident, IncidentEnd};
use crate::laws::{ClaimRuling, IncidentKind, Situation};

impl Watch {
    /// Closes the incidents about a draw that the regulations do not allow yet.
    pub(super) fn close_early_draw(&mut self, now: Timestamp, by: ClosedBy, reason: IncidentEnd) {
        for number in self.book.open_of(&[IncidentKind::EarlyDraw]) {
            self.book.close(now, number, by, reason);
        }
    }

    /// Closes the question which pairing the game `decided` counts for, or all such questions when the next round
    /// begins.
    pub(super) fn close_second_game(&mut self, now: Timestamp, decided: Option<&str>) {
        for number in self.book.open_of(&[IncidentKind::SecondGame]) {
            let of_game = |game: &str| {
                let incident = self.book.decidable(number);
                incident.is_some_and(|open| open.evidence.values.get("second") == Some(&game.into()))
            };
            match decided {
                None => self.book.close(now, number, ClosedBy::Board, IncidentEnd::Passed),
                Some(game) if of_game(game) => {
                    self.book
                        .close(now, number, ClosedBy::Arbiter, IncidentEnd::Decided);
                }
                Some(_) => {}
            }
        }
    }

    pub(super) fn rule(
        &mut self,
        game: &GameStatus<'_>,
        number: u64,
        situation: Situation,
        closing: Option<(ClaimRuling, Decision)>,
    ) {
        let Some(claim) = self.book.decidable(number) else {
            return;
        };
        let report = Report {
            color: claim.color,
            ply: claim.ply,
            fen: claim.evidence.fen.clone(),
            from: claim.evidence.from,
            ..Report::new(game, &self.acts, situation, game.now)
        };
        self.book.update(game.now, game.regulations, number, report);
        if let Some((ruling, decided)) = closing {
            let closed = Closing {
                by: ClosedBy::Arbiter,
                reason: IncidentEnd::Decided,
                counts: None,
                decision: Some(ruling.as_str().to_owned()),
                decided: Some(decided),
            };
            self.book.close_as(game.now, number, closed);
        }
    }

    /// A claim that the arbiter can decide: the one with this number, else the last open one.
    pub(in crate::referee) fn claim(&self, number: Option<u64>) -> Option<&Incident> {
        let kinds = [IncidentKind::DrawClaimed, IncidentKind::TwoMinuteClaim];
        let number = number.or_else(|| self.book.open_of(&kinds).last().copied())?;
        self.book
            .decidable(number)
            .filter(|claim| kinds.contains(&claim.kind))
    }
}
