//! Positions that no legal play can reach, and play after the end of the game.

use shakmaty::{Bitboard, Board, Color, Rank};

use super::book::{Number, ResumedIncident};
use super::{Context, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Watches for illegal positions after irregular moves, and for play after the end of the game.
#[derive(Debug, Default)]
pub(super) struct Positions {
    open: Option<Number>,
    /// Number of plies of the line at the end of the game.
    over_at: Option<usize>,
}

impl Positions {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(known.number);
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Started => *self = Self::default(),
            News::Over => {
                self.open = None;
                self.over_at = Some(context.game.line.len());
            }
            News::Played(ply, _) if context.game.over => self.played_on(context, *ply),
            News::Played(ply, _) => self.played(context, *ply),
            News::Retracted(..) => self.inspect(context),
            _ => {}
        }
    }

    /// Reports a move made with a running clock after the Laws or the arbiter ended the game.
    fn played_on(&mut self, context: &mut Context<'_>, ply: u32) {
        let after = self
            .over_at
            .is_some_and(|plies| usize::try_from(ply).is_ok_and(|ply| ply > plies));
        if after && context.game.clock.running && !context.game.shown {
            self.over_at = None;
            let report = context
                .report(Situation::ContinuedAfterEnd, context.now())
                .at_ply(ply);
            context.open_and_close(report, IncidentEnd::Passed);
        }
    }

    /// Handles a reply to an irregular move, after which the position may be illegal.
    fn played(&mut self, context: &mut Context<'_>, ply: u32) {
        let answered = ply
            .checked_sub(1)
            .and_then(|before| context.game.entry(before))
            .is_some_and(|before| before.ply.played.is_none());
        if self.open.is_some() {
            self.inspect(context);
        } else if answered && let Some(tip) = context.game.tip() {
            let Some((kings, squares)) = illegal(tip.board()) else {
                return;
            };
            let report = context
                .report(Situation::IllegalPosition { kings }, context.now())
                .at_ply(ply)
                .on(squares);
            self.open = Some(context.open(report));
        }
    }

    fn inspect(&mut self, context: &mut Context<'_>) {
        let legal = context
            .game
            .tip()
            .is_none_or(|tip| illegal(tip.board()).is_none());
        if let Some(number) = self.open.take_if(|_| legal) {
            context
                .book
                .close(context.game.now, number, ClosedBy::Board, IncidentEnd::Passed);
        }
    }
}

/// Squares of an illegal placement, with true if both kings are in check (as kings on adjacent squares are), and false
/// if pawns are on the first or last rank.
fn illegal(board: &Board) -> Option<(bool, Bitboard)> {
    let in_check = |color: Color| {
        board
            .king_of(color)
            .is_some_and(|king| board.attacks_to(king, !color, board.occupied()).any())
    };
    if Color::ALL.into_iter().all(in_check) {
        return Some((true, board.kings()));
    }
    let pawns = board.pawns() & (Bitboard::from(Rank::First) | Bitboard::from(Rank::Eighth));
    pawns.any().then_some((false, pawns))
}
