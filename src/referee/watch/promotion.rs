//! Promotion pieces that are exchanged after they stood: the choice is final when the piece touches the square.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{ByColor, Piece, Role, Square};

use super::book::Number;
use super::trace::Trace;
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;
use crate::referee::LineEntry;
use crate::tracker::Completion;

/// A piece that stood for at least this long was not misread, and not only held over the square.
const MIN_STOOD: Duration = Duration::from_millis(800);
/// Another piece that stands for this long after the press stays, and the ply is not going to be corrected.
const STAYS_AFTER: Duration = Duration::from_secs(2);
/// How many of the last plies are watched: a player changes their mind soon, or not at all.
const WATCHED_PLIES: usize = 3;

/// Follows promotions: when they are found, when they are found to be others, and for a few plies after that.
#[derive(Debug, Default)]
pub(super) struct Promotions {
    /// What was reported last: the ply, and the first piece.
    told: Option<(u32, Role)>,
    open: Option<Open>,
    pressed_at: ByColor<Option<Timestamp>>,
    wake: Option<Timestamp>,
}

/// An exchange after the press, until the first piece is back.
#[derive(Debug, Clone, Copy)]
struct Open {
    number: Number,
    square: Square,
    first: Piece,
}

/// A piece that stood on the square of promotion before the one that stands there now.
#[derive(Debug, Clone, Copy)]
struct Exchanged {
    square: Square,
    stood: Role,
    stood_at: Timestamp,
    /// The other piece, and when it came.
    now: Role,
    at: Timestamp,
}

impl Promotions {
    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        self.wake = None;
        match news {
            News::Started | News::Over => *self = Self::default(),
            News::Pressed(color) => self.pressed_at[*color] = Some(desk.now()),
            News::Completed(ply, Completion::Press) => {
                if let Some(entry) = desk.game.entry(*ply) {
                    self.pressed_at[entry.ply.color] = Some(desk.now());
                }
            }
            News::Played(ply, _) => self.played(desk, *ply),
            _ => {}
        }
        let back = |open: &mut Open| desk.trace.board().piece_at(open.square) == Some(open.first);
        if let Some(open) = self.open.take_if(back) {
            desk.book
                .close(desk.game.now, open.number, ClosedBy::Board, IncidentEnd::Restored);
            self.told = None;
        }
        if desk.sees_play() {
            self.watch(desk);
        }
    }

    /// A promotion is found, or found to be another one.
    fn played(&mut self, desk: &mut Desk<'_>, ply: u32) {
        let Some((entry, began)) = desk.game.entry(ply).zip(desk.game.turn_began(ply)) else {
            return;
        };
        let role = entry.ply.played.and_then(|m| m.promotion());
        if entry.ply.inferred || !desk.sees_play() {
            return;
        }
        if let Some(exchanged) = role.and_then(|role| exchanged(desk.trace, entry, role, began)) {
            self.report(desk, ply, exchanged);
        }
    }

    /// The ply stays as it is known, and another piece stands on its square.
    fn watch(&mut self, desk: &mut Desk<'_>) {
        let game = desk.game;
        let Some(tip) = game.tip() else { return };
        for entry in game.line.iter().rev().take(WATCHED_PLIES) {
            let Some((first, to)) = entry.ply.played.and_then(|m| Some((m.promotion()?, m.to()))) else {
                continue;
            };
            let shown = desk.trace.board().piece_at(to);
            let other = shown.filter(|piece| piece.color == entry.ply.color && piece.role != first);
            let stays = tip.board().piece_at(to) == Some(first.of(entry.ply.color));
            let (Some(other), true) = (other, stays && entry.is_pressed() && !entry.ply.inferred) else {
                continue;
            };
            let due = desk.trace.changed_at(to) + STAYS_AFTER;
            if game.now < due {
                self.wake = Some(due);
                continue;
            }
            let began = game.turn_began(entry.ply.number).unwrap_or(entry.ply.lifted_at);
            if let Some(exchanged) = exchanged(desk.trace, entry, other.role, began) {
                self.report(desk, entry.ply.number, exchanged);
            }
        }
    }

    fn report(&mut self, desk: &mut Desk<'_>, ply: u32, exchanged: Exchanged) {
        let Exchanged {
            square,
            stood,
            stood_at,
            now,
            at,
        } = exchanged;
        if self.told == Some((ply, stood)) {
            return;
        }
        self.told = Some((ply, stood));
        let Some(color) = desk.game.entry(ply).map(|entry| entry.ply.color) else {
            return;
        };
        let pressed = self.pressed_at[color].is_some_and(|pressed| stood_at < pressed && pressed < at);
        let situation = Situation::PromotionExchanged {
            square,
            stood,
            now,
            pressed,
        };
        let mut report = desk.report(situation, stood_at).of(color).at_ply(ply).on(square);
        report.fen = desk.game.before(ply).map(|before| before.fen());
        if pressed {
            let (number, first) = (desk.open(report), stood.of(color));
            self.open = Some(Open {
                number,
                square,
                first,
            });
        } else {
            desk.open_and_close(report, IncidentEnd::Passed);
        }
    }
}

/// The piece that stood before the one of the kind `now`. The square was seen empty between the two: a piece that is
/// another one from one scan to the next was misread.
fn exchanged(trace: &Trace, entry: &LineEntry, now: Role, began: Timestamp) -> Option<Exchanged> {
    let (square, color) = (entry.ply.played?.to(), entry.ply.color);
    let mut standing: Option<(Role, Timestamp)> = None;
    let mut left: Option<(Role, Timestamp)> = None;
    let mut found = None;
    for shown in trace.since(began).filter(|shown| shown.square == square) {
        let own = |piece: &Piece| piece.color == color && !matches!(piece.role, Role::Pawn | Role::King);
        match shown.after.filter(own) {
            Some(piece) => {
                if let Some((stood, stood_at)) = left.take().filter(|_| piece.role == now) {
                    found = (stood != now).then_some(Exchanged {
                        square,
                        stood,
                        stood_at,
                        now,
                        at: shown.at,
                    });
                }
                standing = Some((piece.role, shown.at));
            }
            None => {
                let stood = standing
                    .take()
                    .filter(|(_, since)| *since + MIN_STOOD <= shown.at);
                left = stood.filter(|_| shown.after.is_none()).or(left);
            }
        }
    }
    found
}
