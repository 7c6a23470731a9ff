//! Pieces on squares to which no move has brought them.

use kiebitz_hardware::Timestamp;
use shakmaty::Bitboard;

use super::book::{Number, ResumedIncident};
use super::moves::IrregularMoves;
use super::{Context, News};
use crate::acts::Astray;
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Watches displaced pieces until they are back on their squares.
#[derive(Debug, Default)]
pub(super) struct Displaced {
    open: Option<OpenDisplacement>,
    /// Squares that differed before a move was made and still do, with the ply and the time of the discovery.
    found: Option<(Bitboard, u32, Timestamp)>,
    /// Pieces that look displaced, and the time since when.
    suspected: Option<(Astray, Timestamp)>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct OpenDisplacement {
    number: Number,
    squares: Bitboard,
    ply: u32,
    from: Timestamp,
    found_later: bool,
}

impl Displaced {
    pub(super) fn squares(&self) -> Bitboard {
        self.open.as_ref().map_or(Bitboard::EMPTY, |open| open.squares)
    }

    /// Closes the incident if another one accounts for one of its squares: two incidents must not contradict each
    /// other.
    pub(super) fn supersede_on(&mut self, context: &mut Context<'_>, squares: Bitboard) {
        if let Some(open) = self.open.take_if(|open| (open.squares & squares).any()) {
            context.supersede(open.number);
        }
    }

    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.open = Some(OpenDisplacement {
            number: known.number,
            squares: known.squares,
            ply: known.ply,
            from: known.from,
            found_later: false,
        });
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News, moves: &IrregularMoves) {
        match news {
            News::Played(ply, _) => self.played(context, *ply),
            News::Started | News::Over => {
                self.found = None;
                if let Some(open) = self.open.take() {
                    context.book.close(
                        context.game.now,
                        open.number,
                        ClosedBy::Laws,
                        IncidentEnd::GameOver,
                    );
                }
            }
            News::Away => self.found = None,
            News::Time => self.compare(context, moves),
            _ => {}
        }
    }

    fn compare(&mut self, context: &mut Context<'_>, moves: &IrregularMoves) {
        self.wake = None;
        let Some(all) = context.standing().map(|standing| standing.differs_anywhere()) else {
            return;
        };
        if let Some(open) = self.open.take_if(|open| (open.squares & all).is_empty()) {
            context.book.close(
                context.game.now,
                open.number,
                ClosedBy::Board,
                IncidentEnd::Restored,
            );
        }
        if context.sees_play() {
            let differs = all & !context.set_aside & !moves.open_squares();
            self.inspect(context, differs);
        }
    }

    /// Handles a move made before displaced pieces were put right.
    fn played(&mut self, context: &mut Context<'_>, ply: u32) {
        let Some(entry) = context.game.entry(ply) else {
            return;
        };
        if let Some(open) = self.open.as_mut().filter(|open| !open.found_later) {
            open.found_later = true;
            let report = context
                .report(Situation::DisplacedPieces { found_later: true }, open.from)
                .at_ply(open.ply)
                .on(open.squares);
            context.update(open.number, report);
        }
        if entry.ply.inferred || self.found.is_some() {
            return;
        }
        let squares = context.standing().map_or(Bitboard::EMPTY, |standing| {
            standing.displaced_before(entry.ply.lifted_at, self.squares())
        });
        if !squares.is_empty() {
            self.found = Some((squares, ply, context.now()));
        }
    }

    fn inspect(&mut self, context: &mut Context<'_>, differs: Bitboard) {
        let now = context.now();
        let Some(standing) = context.standing() else {
            return;
        };
        if let Some((squares, ply, found_at)) = self.found {
            match standing.still_displaced(squares & differs) {
                None => self.found = None,
                Some(astray) => match context.acts.waits(now, found_at + astray.grace) {
                    Some(at) => self.wake_at(at),
                    None if context.may_be_lost => {}
                    None => {
                        self.found = None;
                        self.open(context, astray.squares, ply, true);
                        return;
                    }
                },
            }
        }
        let Some(astray) = standing.displaced(differs & !self.squares()) else {
            self.suspected = None;
            return;
        };
        let since = match self.suspected {
            Some((known, since)) if known == astray => since,
            _ => standing.displaced_since(astray.squares),
        };
        self.suspected = Some((astray, since));
        if let Some(at) = context.acts.waits(now, since + astray.grace) {
            self.wake_at(at);
            return;
        }
        if context.may_be_lost {
            return;
        }
        let ply = context.game.due();
        self.open(context, astray.squares, ply, false);
    }

    fn open(&mut self, context: &mut Context<'_>, squares: Bitboard, ply: u32, found_later: bool) {
        // Without a time, the line of play has changed rather than the board.
        let since = context
            .standing()
            .and_then(|standing| standing.stood_since(squares));
        let from = since.unwrap_or_else(|| context.now());
        if let Some(open) = &mut self.open {
            open.squares |= squares;
            let report = context
                .report(
                    Situation::DisplacedPieces {
                        found_later: open.found_later,
                    },
                    open.from,
                )
                .at_ply(open.ply)
                .on(open.squares);
            context.update(open.number, report);
            return;
        }
        let report = context
            .report(Situation::DisplacedPieces { found_later }, from)
            .at_ply(ply)
            .on(squares);
        let number = context.open(report);
        self.open = Some(OpenDisplacement {
            number,
            squares,
            ply,
            from,
            found_later,
        });
    }

    fn wake_at(&mut self, at: Timestamp) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }
}
