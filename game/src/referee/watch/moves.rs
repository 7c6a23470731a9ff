//! Illegal moves and unpromoted pawns, from the making of the move until it is put right.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Color};

use super::book::{Closing, Number, Report, ResumedIncident};
use super::fault::fault;
use super::{Context, News};
use crate::acts::Irregular;
use crate::clock::ClockChange;
use crate::events::{ClosedBy, CompletedBy, CorrectionReason, IncidentEnd};
use crate::laws::{Edition, Fault, Situation, Stage};
use crate::position::State;

/// Watches irregular moves from their making until they are resolved.
#[derive(Debug, Default)]
pub(super) struct IrregularMoves {
    pending: Vec<Pending>,
    open: Vec<OpenIrregularMove>,
    /// Time at which a move without an earlier report was last put right.
    put_right_at: Option<Timestamp>,
    /// Closed incidents whose act is still on the board. They must not be reported again.
    decided: Vec<OpenIrregularMove>,
    /// Incidents open since before a restart, each with its ply. The position before the act is unknown.
    resumed: Vec<(Number, u32)>,
    wake: Option<Timestamp>,
}

/// An irregular act without a report yet. It may be put right, or the tracker may still find a line that explains it.
#[derive(Debug, Clone, Copy)]
struct Pending {
    act: Irregular,
    ply: u32,
    /// Whether the act is a ply of the line. At most one act is not: it is on the board in place of the next ply.
    recorded: bool,
    /// Time at which its pieces left their squares.
    left_at: Option<Timestamp>,
    pressed_at: Option<Timestamp>,
    answered_at: Option<Timestamp>,
    /// Whether its player has moved again without a press.
    moved_on: bool,
    /// Whether the clock was stopped, which means that somebody objects.
    stopped: bool,
}

impl Pending {
    fn new(act: Irregular, ply: u32, recorded: bool) -> Self {
        Self {
            act,
            ply,
            recorded,
            left_at: None,
            pressed_at: None,
            answered_at: None,
            moved_on: false,
            stopped: false,
        }
    }

    fn stage(&self) -> Stage {
        match self.pressed_at {
            Some(_) => Stage::Completed,
            None => Stage::Made,
        }
    }

    /// Time at which the act is certain enough for a report. If the opponent has replied, they saw nothing wrong, and
    /// the piece may yet be moved to the intended square.
    fn due(&self, context: &Context<'_>) -> Option<Timestamp> {
        match self.answered_at {
            _ if self.stopped => Some(context.now()),
            Some(answered_at) => Some(answered_at + context.acts.model().put_right),
            None => context.acts.certain_at(&self.act, self.pressed_at, self.recorded),
        }
    }
}

#[derive(Debug)]
struct OpenIrregularMove {
    number: Number,
    act: Irregular,
    ply: u32,
    /// The position to restore.
    before: State,
    stage: Stage,
    offence: u32,
    /// Time since which that position is back on the board.
    restored_at: Option<Timestamp>,
}

impl IrregularMoves {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.resumed.push((known.number, known.ply));
    }

    /// Moves an incident to the closed ones, because the arbiter has decided it or the move stands.
    pub(super) fn forget(&mut self, number: Number) {
        let closed = self.open.extract_if(.., |open| open.number == number);
        self.decided.extend(closed);
        self.resumed.retain(|(resumed, _)| *resumed != number);
    }

    /// Drops an incident that was wrong because the record was.
    pub(super) fn withdraw(&mut self, number: Number) {
        self.open.retain(|open| open.number != number);
        self.resumed.retain(|(resumed, _)| *resumed != number);
    }

    /// Whether an irregularity near this ply is being put right, so that pressing the clock back is not an offence.
    pub(super) fn concerns(&self, ply: u32) -> bool {
        self.open.iter().any(|open| open.ply.abs_diff(ply) <= 1) || !self.pending.is_empty()
    }

    /// Whether pieces are being lifted to put a move right, or were lifted for that at `now`.
    pub(super) fn is_put_right(&self, now: Timestamp) -> bool {
        !self.open.is_empty() || self.put_right_at == Some(now)
    }

    pub(super) fn open_squares(&self) -> Bitboard {
        let open = self.open.iter().map(|open| open.act.squares);
        open.fold(Bitboard::EMPTY, |all, squares| all | squares)
    }

    /// Squares of irregular acts without a report yet.
    pub(super) fn pending_squares(&self) -> Bitboard {
        let pending = self.pending.iter().map(|pending| pending.act.squares);
        pending.fold(Bitboard::EMPTY, |all, squares| all | squares)
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        match news {
            News::Started | News::Over => {
                self.pending.clear();
                self.decided.clear();
                self.resumed.clear();
                for open in self.open.drain(..) {
                    context.book.close(
                        context.game.now,
                        open.number,
                        ClosedBy::Laws,
                        IncidentEnd::GameOver,
                    );
                }
            }
            News::Played(ply, _) => self.played(context, *ply),
            News::Retracted(ply, reason, _) => self.retracted(context, *ply, *reason),
            News::Completed(ply, CompletedBy::Press) => self.completed(context, *ply),
            News::Completed(ply, CompletedBy::OwnNextMove) => self.completed_unpressed(context, *ply),
            News::Pressed(color) => self.pressed(context, *color),
            News::Clock(ClockChange::Stopped) => {
                for pending in &mut self.pending {
                    pending.stopped = pending.pressed_at.is_some();
                }
            }
            News::Away => self.pending.clear(),
            News::Time => {
                self.wake = None;
                if context.sees_play() {
                    self.inspect(context);
                }
                self.judge(context);
                self.follow_open(context);
            }
            _ => {}
        }
    }

    fn inspect(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(standing) = context.standing() else {
            return;
        };
        let differs = standing.differs();
        let before = self.pending.extract_if(.., |pending| !pending.recorded).next();
        let reported = self.open.iter().chain(&self.decided).map(|open| open.act.squares);
        let recorded = self.pending.iter().map(|pending| pending.act.squares);
        let mut known = reported.chain(recorded);
        let act = standing
            .irregular()
            .filter(|act| !known.any(|squares| squares == act.squares));
        self.pending.extend(match (before, act) {
            (Some(pending), Some(act)) if pending.act.is(&act) => Some(Pending {
                left_at: None,
                ..pending
            }),
            (_, Some(act)) => {
                let on_move =
                    act.out_of_turn || context.game.tip().is_some_and(|tip| tip.turn() == act.color);
                Some(Pending::new(act, context.game.due() - u32::from(!on_move), false))
            }
            (Some(pending), None) if pending.act.squares.is_superset(differs) => Some(Pending {
                left_at: pending.left_at.or(Some(now)),
                ..pending
            }),
            (_, None) => None,
        });
    }

    /// Reports the acts that are certain, and drops the ones that were put right.
    fn judge(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        for pending in core::mem::take(&mut self.pending) {
            let (act, ply) = (pending.act, pending.ply);
            if let Some(left_at) = pending.left_at {
                if context.differs().any() {
                    self.pending.push(pending);
                } else if pending.pressed_at.is_none() && context.acts.was_made(&act, left_at) {
                    self.put_right(context, &pending);
                }
                continue;
            }
            let due = pending.due(context);
            let at = due.and_then(|due| context.acts.waits(now, due));
            if due.is_none() || at.is_some() {
                self.wake = [self.wake, at].into_iter().flatten().min();
                self.pending.push(pending);
                continue;
            }
            self.open(context, act, ply, pending.stage());
            if pending.answered_at.is_some() {
                self.answer(context, ply);
            }
            if pending.moved_on {
                self.completed_unpressed(context, ply);
            }
        }
    }

    fn open(&mut self, context: &mut Context<'_>, act: Irregular, ply: u32, stage: Stage) {
        if context.lost || context.unproved {
            return;
        }
        let is_same = |open: &OpenIrregularMove| open.ply == ply && open.act.color == act.color;
        if self.decided.iter().any(is_same) {
            return;
        }
        let same = |open: &&mut OpenIrregularMove| is_same(open);
        if let Some(open) = self.open.iter_mut().find(same) {
            // The same move has gone further, for example the rook has followed the king. One act is one offence (Art.
            // 7.5.5).
            open.act = act;
            let (number, reached) = (open.number, open.stage);
            self.advance(
                context,
                number,
                if stage == Stage::Made { reached } else { stage },
            );
            return;
        }
        let Some(before) = context.game.before(ply).cloned() else {
            return;
        };
        let offence = match stage {
            Stage::Completed => context.offences.count(act.color),
            Stage::Made | Stage::Answered => 0,
        };
        let mut report = report(context, &act, ply, stage, offence);
        report.fen = Some(before.fen());
        let number = context.open(report);
        self.open.push(OpenIrregularMove {
            number,
            act,
            ply,
            before,
            stage,
            offence,
            restored_at: None,
        });
    }

    /// Handles a press that completed none of the player's known plies.
    fn pressed(&mut self, context: &mut Context<'_>, color: Color) {
        let now = context.now();
        let mut pending = self.pending.iter_mut();
        if let Some(pending) = pending.find(|pending| pending.act.color == color) {
            pending.pressed_at.get_or_insert(now);
            return;
        }
        let made = |open: &&OpenIrregularMove| open.stage == Stage::Made && open.act.color == color;
        let made = self.open.iter().find(made).map(|open| (open.number, open.ply));
        if let Some((number, _)) = made {
            self.advance(context, number, Stage::Completed);
        }
    }

    fn completed(&mut self, context: &mut Context<'_>, ply: u32) {
        for pending in self.pending.iter_mut().filter(|pending| pending.ply == ply) {
            pending.pressed_at.get_or_insert(context.game.now);
        }
        let made = |open: &&OpenIrregularMove| open.stage == Stage::Made && open.ply == ply;
        if let Some(number) = self.open.iter().find(made).map(|open| open.number) {
            self.advance(context, number, Stage::Completed);
        }
    }

    /// Handles the next move of the player of an answered illegal move. Without a press, that move has completed the
    /// illegal one (since 2014: Art. 6.2.1.2), which is an offence.
    fn completed_unpressed(&mut self, context: &mut Context<'_>, ply: u32) {
        if context.game.regulations.rules.edition < Edition::Fide2014 {
            return;
        }
        for pending in self.pending.iter_mut().filter(|pending| pending.ply == ply) {
            pending.moved_on = pending.pressed_at.is_none();
        }
        let answered = |open: &&mut OpenIrregularMove| {
            open.ply == ply && open.stage == Stage::Answered && open.offence == 0
        };
        if let Some(open) = self.open.iter_mut().find(answered) {
            open.offence = context.offences.count(open.act.color);
            let number = open.number;
            self.advance(context, number, Stage::Answered);
        }
    }

    fn advance(&mut self, context: &mut Context<'_>, number: Number, stage: Stage) {
        let Some(open) = self.open.iter_mut().find(|open| open.number == number) else {
            return;
        };
        open.stage = stage;
        if stage == Stage::Completed && open.offence == 0 {
            open.offence = context.offences.count(open.act.color);
        }
        let mut report = report(context, &open.act, open.ply, stage, open.offence);
        report.fen = Some(open.before.fen());
        context.update(number, report);
    }

    /// Handles a ply of the tracker. It replaces or answers an irregular act, or is irregular itself.
    fn played(&mut self, context: &mut Context<'_>, ply: u32) {
        let Some(entry) = context.game.entry(ply) else {
            return;
        };
        let legal = entry.ply.played.is_some();
        let now = context.now();
        let color = entry.ply.color;
        // The ply is the act on the board, or it explains that act.
        let unrecorded = self.pending.extract_if(.., |pending| !pending.recorded).next();
        self.pending.retain(|pending| pending.ply < ply);
        for pending in self.pending.iter_mut().filter(|pending| pending.ply + 1 == ply) {
            pending.answered_at.get_or_insert(now);
        }
        if legal {
            let replaced = self.open.iter().filter(|open| open.ply == ply);
            let replaced: Vec<Number> = replaced.map(|open| open.number).collect();
            for number in replaced {
                context
                    .book
                    .close(now, number, ClosedBy::Board, IncidentEnd::Replaced);
            }
            self.open.retain(|open| open.ply != ply);
            self.decided.retain(|open| open.ply != ply);
            for (number, _) in self.resumed.extract_if(.., |(_, of)| *of == ply) {
                context
                    .book
                    .close(now, number, ClosedBy::Board, IncidentEnd::Replaced);
            }
        } else if !self.open.iter().any(|open| open.ply == ply) {
            let unrecorded =
                unrecorded.filter(|unrecorded| unrecorded.act.color == color && unrecorded.ply == ply);
            let recorded = |unrecorded| Pending {
                recorded: true,
                left_at: None,
                ..unrecorded
            };
            let between = || {
                let act = context
                    .acts
                    .between(context.game.before(ply)?, entry.ply.after.board())?;
                Some(Pending::new(act, ply, true))
            };
            self.pending.extend(unrecorded.map(recorded).or_else(between));
        }
        self.answer(context, ply.saturating_sub(1));
    }

    /// Handles the reply to a ply, which may be irregular.
    fn answer(&mut self, context: &mut Context<'_>, ply: u32) {
        let answered = |open: &&OpenIrregularMove| open.ply == ply && open.stage != Stage::Answered;
        if let Some(number) = self.open.iter().find(answered).map(|open| open.number) {
            self.advance(context, number, Stage::Answered);
            if context.game.regulations.rules.stands_once_answered() {
                self.close_standing_move(context, number);
            }
        }
    }

    /// Handles the withdrawal of plies from `ply` on. An irregular ply counts as made if it was pressed, or if it was
    /// on the board for long before it was put right.
    fn retracted(&mut self, context: &mut Context<'_>, ply: u32, reason: CorrectionReason) {
        use CorrectionReason::{IllegalRestored, Takeback};
        if reason == Takeback {
            self.decided.retain(|open| open.ply < ply);
        }
        let withdrawn: Vec<_> = self
            .pending
            .extract_if(.., |pending| pending.ply >= ply)
            .collect();
        let restored = matches!(reason, IllegalRestored | Takeback);
        for pending in withdrawn.iter().filter(|pending| pending.recorded && restored) {
            if pending.pressed_at.is_some() {
                self.open(context, pending.act, pending.ply, Stage::Completed);
            } else if context.acts.was_made(&pending.act, context.now()) {
                self.put_right(context, pending);
            }
        }
    }

    /// Reports an act that has already been put right.
    fn put_right(&mut self, context: &mut Context<'_>, pending: &Pending) {
        self.put_right_at = Some(context.now());
        if (pending.act.squares & context.set_aside).is_empty() {
            let report = report(context, &pending.act, pending.ply, Stage::Made, 0);
            context.open_and_close(report, IncidentEnd::Restored);
        }
    }

    /// Closes the incident of a move that can no longer be put right (2023: A.5.2). Whether such a move counts as an
    /// offence is an open point of the Laws.
    fn close_standing_move(&mut self, context: &mut Context<'_>, number: Number) {
        let discounted = !context.game.regulations.rules.standing_counts() && context.book.counts(number);
        let open = self.open.iter().find(|open| open.number == number);
        if let Some(open) = open.filter(|_| discounted) {
            context.offences.discount(open.act.color);
        }
        let closed = Closing {
            by: ClosedBy::Laws,
            reason: IncidentEnd::Stands,
            counts: discounted.then_some(false),
            decision: None,
            decided: None,
        };
        context.book.close_as(context.game.now, number, closed);
        self.forget(number);
    }

    /// Closes incidents whose move was put back. After a press, the incident stays open until another move is made.
    fn follow_open(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let mut over = Vec::new();
        let standing = context.standing();
        let is_back = |open: &OpenIrregularMove| {
            standing
                .as_ref()
                .is_some_and(|standing| standing.is_as_in(open.act.squares, open.before.board()))
        };
        // From that position, the same move would be another offence.
        self.decided.retain(|open| !is_back(open));
        for open in &mut self.open {
            if !is_back(open) {
                open.restored_at = None;
                continue;
            }
            let since = *open.restored_at.get_or_insert(now);
            if open.stage != Stage::Made {
                continue;
            }
            if now >= since + context.acts.model().pause {
                over.push(open.number);
            } else {
                let at = since + context.acts.model().pause;
                self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
            }
        }
        for number in over {
            context
                .book
                .close(now, number, ClosedBy::Board, IncidentEnd::Restored);
            self.open.retain(|open| open.number != number);
        }
    }
}

fn report(context: &Context<'_>, act: &Irregular, ply: u32, stage: Stage, offence: u32) -> Report {
    let times = context.clock_times(ply).filter(|_| stage != Stage::Made);
    let before = context.game.before(ply).filter(|_| stage != Stage::Made);
    let opponent_can_mate = context.opponent_can_mate(before, act.color);
    let situation = if act.unpromoted {
        Situation::PromotionNotReplaced {
            square: act.to,
            stage,
            offence,
            opponent_can_mate,
            times,
        }
    } else {
        Situation::IllegalMove {
            fault: context
                .game
                .before(ply)
                .map_or(Fault::Several, |before| fault(before, act)),
            stage,
            offence,
            opponent_can_mate,
            times,
        }
    };
    context
        .report(situation, act.since)
        .of(act.color)
        .at_ply(ply)
        .on(act.squares)
}
