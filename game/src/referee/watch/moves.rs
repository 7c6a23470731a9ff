//! Illegal moves, and pawns left on the last rank, from the making of the move until it is put right.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Color};

use super::book::{Closing, Number, Report, ResumedIncident};
use super::fault::fault;
use super::{Desk, News};
use crate::acts::Irregular;
use crate::events::{ClosedBy, CompletedBy, CorrectionReason, IncidentEnd};
use crate::laws::{Edition, Fault, Situation, Stage};
use crate::position::State;

/// Follows irregular moves from when they are made until they are dealt with.
#[derive(Debug, Default)]
pub(super) struct Moves {
    pending: Option<Pending>,
    open: Vec<Open>,
    /// Closed, and still on the board: it is not reported once more.
    decided: Vec<Open>,
    /// Open since before a restart, with the ply of each: the position before it is not known.
    resumed: Vec<(Number, u32)>,
    wake: Option<Timestamp>,
}

/// An act that stands on the board and is not reported yet.
#[derive(Debug)]
struct Pending {
    act: Irregular,
    ply: u32,
    /// When its pieces left the squares where they stood.
    left_at: Option<Timestamp>,
    /// When its player pressed the clock.
    pressed_at: Option<Timestamp>,
}

#[derive(Debug)]
struct Open {
    number: Number,
    act: Irregular,
    ply: u32,
    /// The position to go back to.
    before: State,
    stage: Stage,
    offence: u32,
    /// Since when that position is back on the board.
    restored_at: Option<Timestamp>,
}

impl Moves {
    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        self.resumed.push((known.number, known.ply));
    }

    /// It is closed: the arbiter has decided it, or it stands.
    pub(super) fn forget(&mut self, number: Number) {
        let closed = self.open.extract_if(.., |open| open.number == number);
        self.decided.extend(closed);
        self.resumed.retain(|(resumed, _)| *resumed != number);
    }

    /// Whether something near this ply is being put right, so that pressing the clock back is no offence.
    pub(super) fn concerns(&self, ply: u32) -> bool {
        self.open.iter().any(|open| open.ply.abs_diff(ply) <= 1) || self.pending.is_some()
    }

    /// The squares of open incidents.
    pub(super) fn open_squares(&self) -> Bitboard {
        let open = self.open.iter().map(|open| open.act.squares);
        open.fold(Bitboard::EMPTY, |all, squares| all | squares)
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        self.wake = None;
        match news {
            News::Started | News::Over => {
                self.pending = None;
                self.decided.clear();
                self.resumed.clear();
                for open in self.open.drain(..) {
                    desk.book
                        .close(desk.game.now, open.number, ClosedBy::Laws, IncidentEnd::GameOver);
                }
            }
            News::Played(ply, _) => self.played(desk, *ply),
            News::Retracted(ply, CorrectionReason::Takeback, _) => {
                self.decided.retain(|open| open.ply < *ply)
            }
            News::Completed(ply, CompletedBy::Press) => self.completed(desk, *ply),
            News::Completed(ply, CompletedBy::OwnNextMove) => self.completed_unpressed(desk, *ply),
            News::Pressed(color) => self.pressed(desk, *color),
            News::Away => self.pending = None,
            _ => {}
        }
        if desk.sees_play() {
            self.inspect(desk);
        }
        self.follow_open(desk);
    }

    /// Compares the board with the line's last position.
    fn inspect(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let Some(standing) = desk.standing() else { return };
        let differs = standing.differs();
        let mut known = self.open.iter().chain(&self.decided);
        let act = standing
            .irregular()
            .filter(|act| !known.any(|open| open.act.squares == act.squares));
        match (&mut self.pending, act) {
            (Some(pending), Some(act)) if pending.act.is(&act) => pending.left_at = None,
            (_, Some(act)) => {
                let on_move = act.out_of_turn || desk.game.tip().is_some_and(|tip| tip.turn() == act.color);
                self.pending = Some(Pending {
                    act,
                    ply: desk.game.due() - u32::from(!on_move),
                    left_at: None,
                    pressed_at: None,
                });
            }
            (Some(pending), None) if pending.act.squares.is_superset(differs) => {
                pending.left_at.get_or_insert(now);
            }
            (_, None) => self.pending = None,
        }
        self.judge(desk, differs);
    }

    /// Reports the pending act when it is certain, or drops it when it has been put right.
    fn judge(&mut self, desk: &mut Desk<'_>, differs: Bitboard) {
        let now = desk.now();
        let Some(pending) = &self.pending else { return };
        let (act, ply) = (pending.act, pending.ply);
        if let Some(left_at) = pending.left_at {
            if differs.any() {
                return;
            }
            let certain = desk.acts.was_made(&act, left_at) && pending.pressed_at.is_none();
            self.pending = None;
            if certain && !(act.squares & desk.set_aside).any() {
                let report = report(desk, &act, ply, Stage::Made, 0);
                desk.open_and_close(report, IncidentEnd::Restored);
            }
            return;
        }
        let Some(due) = desk
            .acts
            .certain_at(&act, pending.pressed_at, desk.rests_on_a_guess())
        else {
            return;
        };
        if let Some(at) = desk.acts.waits(now, due) {
            self.wake = Some(at);
            return;
        }
        let stage = match pending.pressed_at {
            Some(_) => Stage::Completed,
            None => Stage::Made,
        };
        self.pending = None;
        self.open(desk, act, ply, stage);
    }

    fn open(&mut self, desk: &mut Desk<'_>, act: Irregular, ply: u32, stage: Stage) {
        if desk.lost || desk.unproved {
            return;
        }
        let is_same = |open: &Open| open.ply == ply && open.act.color == act.color;
        if self.decided.iter().any(is_same) {
            return;
        }
        let same = |open: &&mut Open| is_same(open);
        if let Some(open) = self.open.iter_mut().find(same) {
            // The same move has gone further: the rook has followed the king. One act is one offence (Art. 7.5.5).
            open.act = act;
            let (number, reached) = (open.number, open.stage);
            self.advance(desk, number, if stage == Stage::Made { reached } else { stage });
            return;
        }
        let Some(before) = desk.game.before(ply).cloned() else {
            return;
        };
        let offence = match stage {
            Stage::Completed => desk.offences.count(act.color),
            Stage::Made | Stage::Answered => 0,
        };
        let mut report = report(desk, &act, ply, stage, offence);
        report.fen = Some(before.fen());
        let number = desk.open(report);
        self.open.push(Open {
            number,
            act,
            ply,
            before,
            stage,
            offence,
            restored_at: None,
        });
    }

    /// A player pressed their clock, and that completed none of their known plies.
    fn pressed(&mut self, desk: &mut Desk<'_>, color: Color) {
        let now = desk.now();
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.act.color == color) {
            pending.pressed_at.get_or_insert(now);
            return;
        }
        let made = |open: &&Open| open.stage == Stage::Made && open.act.color == color;
        let made = self.open.iter().find(made).map(|open| (open.number, open.ply));
        if let Some((number, _)) = made {
            self.advance(desk, number, Stage::Completed);
        }
    }

    fn completed(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let pending = self.pending.as_mut().filter(|pending| pending.ply == ply);
        if let Some(pending) = pending {
            pending.pressed_at.get_or_insert(desk.game.now);
        }
        let made = |open: &&Open| open.stage == Stage::Made && open.ply == ply;
        if let Some(number) = self.open.iter().find(made).map(|open| open.number) {
            self.advance(desk, number, Stage::Completed);
        }
    }

    /// The player of an answered illegal move has moved again: without a press, that has completed it (since 2014:
    /// Art. 6.2.1.2), and it is an offence.
    fn completed_unpressed(&mut self, desk: &mut Desk<'_>, ply: u32) {
        if desk.game.regulations.rules.edition < Edition::Fide2014 {
            return;
        }
        let answered =
            |open: &&mut Open| open.ply == ply && open.stage == Stage::Answered && open.offence == 0;
        if let Some(open) = self.open.iter_mut().find(answered) {
            open.offence = desk.offences.count(open.act.color);
            let number = open.number;
            self.advance(desk, number, Stage::Answered);
        }
    }

    fn advance(&mut self, desk: &mut Desk<'_>, number: Number, stage: Stage) {
        let Some(open) = self.open.iter_mut().find(|open| open.number == number) else {
            return;
        };
        open.stage = stage;
        if stage == Stage::Completed && open.offence == 0 {
            open.offence = desk.offences.count(open.act.color);
        }
        let mut report = report(desk, &open.act, open.ply, stage, open.offence);
        report.fen = Some(open.before.fen());
        desk.update(number, report);
    }

    /// The tracker found a ply: it replaces or answers what was irregular, or is irregular itself.
    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let Some(entry) = desk.game.entry(ply) else { return };
        let legal = entry.ply.played.is_some();
        let now = desk.now();
        if let Some(pending) = self.pending.take() {
            let same = entry.ply.color == pending.act.color && pending.ply == ply;
            if !legal && same {
                let stage = match pending.pressed_at {
                    Some(_) => Stage::Completed,
                    None => Stage::Made,
                };
                self.open(desk, pending.act, ply, stage);
            }
        }
        if legal {
            let replaced = self.open.iter().filter(|open| open.ply == ply);
            let replaced: Vec<Number> = replaced.map(|open| open.number).collect();
            for number in replaced {
                desk.book
                    .close(now, number, ClosedBy::Board, IncidentEnd::Replaced);
            }
            self.open.retain(|open| open.ply != ply);
            self.decided.retain(|open| open.ply != ply);
            for (number, _) in self.resumed.extract_if(.., |(_, of)| *of == ply) {
                desk.book
                    .close(now, number, ClosedBy::Board, IncidentEnd::Replaced);
            }
        } else if !self.open.iter().any(|open| open.ply == ply)
            && let Some(before) = desk.game.before(ply)
            && let Some(act) = desk.acts.between(before, entry.ply.after.board())
        {
            self.open(desk, act, ply, Stage::Made);
        }
        let answered = self
            .open
            .iter()
            .find(|open| open.ply + 1 == ply && open.stage != Stage::Answered);
        if let Some(number) = answered.map(|open| open.number) {
            self.advance(desk, number, Stage::Answered);
            if desk.game.regulations.rules.stands_once_answered() {
                self.stands(desk, number);
            }
        }
    }

    /// It can no longer be put right (2023: A.5.2). Whether it counts is an open point of the Laws.
    fn stands(&mut self, desk: &mut Desk<'_>, number: Number) {
        let discounted = !desk.game.regulations.rules.standing_counts() && desk.book.counts(number);
        let open = self.open.iter().find(|open| open.number == number);
        if let Some(open) = open.filter(|_| discounted) {
            desk.offences.discount(open.act.color);
        }
        let closed = Closing {
            by: ClosedBy::Laws,
            reason: IncidentEnd::Stands,
            counts: discounted.then_some(false),
            decision: None,
            decided: None,
        };
        desk.book.close_as(desk.game.now, number, closed);
        self.forget(number);
    }

    /// A move that is put back is over, unless the clock was pressed: then it is over when another move is made.
    fn follow_open(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let mut over = Vec::new();
        let standing = desk.standing();
        let is_back = |open: &Open| {
            standing
                .as_ref()
                .is_some_and(|standing| standing.is_as_in(open.act.squares, open.before.board()))
        };
        // From there the same move is another offence.
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
            if now >= since + desk.acts.model().pause {
                over.push(open.number);
            } else {
                let at = since + desk.acts.model().pause;
                self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
            }
        }
        for number in over {
            desk.book
                .close(now, number, ClosedBy::Board, IncidentEnd::Restored);
            self.open.retain(|open| open.number != number);
        }
    }
}

fn report(desk: &Desk<'_>, act: &Irregular, ply: u32, stage: Stage, offence: u32) -> Report {
    let times = desk.clock_times(ply).filter(|_| stage != Stage::Made);
    let before = desk.game.before(ply).filter(|_| stage != Stage::Made);
    let opponent_can_mate = desk.opponent_can_mate(before, act.color);
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
            fault: desk
                .game
                .before(ply)
                .map_or(Fault::Several, |before| fault(before, act)),
            stage,
            offence,
            opponent_can_mate,
            times,
        }
    };
    desk.report(situation, act.since)
        .of(act.color)
        .at_ply(ply)
        .on(act.squares)
}
