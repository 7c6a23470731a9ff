//! The desk that every watcher works at.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor, Color};

use super::act::{self, Act};
use super::book::{Book, Number, Offences, Report};
use super::status::GameStatus;
use super::trace::Trace;
use crate::events::{Clock, IncidentEnd};
use crate::laws::{ClockReadings, Situation};
use crate::referee::LineEntry;
use crate::referee::result::{MAX_NODES_IN_PLAY, may_win};
use crate::tracker::{State, difference};

/// In castling, the king is lifted at most this long after the rook was put down.
const MAX_KING_AFTER_ROOK: Duration = Duration::from_secs(3);

/// The desk that every watcher works at: what is known, and where incidents are entered.
pub(super) struct Desk<'a> {
    pub(super) game: &'a GameStatus<'a>,
    pub(super) trace: &'a Trace,
    pub(super) book: &'a mut Book,
    pub(super) offences: &'a mut Offences,
    /// Squares that other watchers account for: displaced pieces, faulty sensors.
    pub(super) set_aside: Bitboard,
    /// The record has lost the game: what looks wrong is the record.
    pub(super) lost: bool,
    /// It had, and nothing has proved yet that it has found the game again.
    pub(super) unproved: bool,
    /// What the clock showed before its last press, and what that press added to the presser's time.
    pub(super) pressed_times: Option<(ByColor<u64>, u64)>,
}

impl Desk<'_> {
    pub(super) fn now(&self) -> Timestamp {
        self.game.now
    }

    /// Where the board differs from the line's last position, except for squares that are set aside.
    pub(super) fn differs(&self) -> Bitboard {
        let Some(tip) = self.game.tip() else {
            return Bitboard::EMPTY;
        };
        difference(self.trace.board(), tip.board()) & !self.set_aside
    }

    /// Illegal castling whose rook move the tracker found as a move of its own.
    pub(super) fn castled_behind_rook(&self) -> Option<Act> {
        let tip = self.game.tip()?;
        let last = self.game.last_before()?;
        let rook = self.game.line.last()?;
        let moved = difference(last.board(), tip.board()) | difference(self.trace.board(), tip.board());
        act::castling_behind_rook(last, self.trace, moved & !self.set_aside)
            .filter(|act| self.trace.changed_at(act.from) <= rook.ply.stood_at + MAX_KING_AFTER_ROOK)
    }

    /// Whether what the squares show can be compared with the line of play.
    pub(super) fn sees_play(&self) -> bool {
        self.game.in_play() && !self.trace.blind && !self.lost
    }

    pub(super) fn open(&mut self, report: Report) -> Number {
        self.book.open(self.game.now, self.game.regulations, report)
    }

    pub(super) fn update(&mut self, number: Number, report: Report) {
        self.book
            .update(self.game.now, self.game.regulations, number, report);
    }

    pub(super) fn open_and_close(&mut self, report: Report, reason: IncidentEnd) {
        self.book
            .open_and_close(self.game.now, self.game.regulations, report, reason);
    }

    pub(super) fn report(&self, situation: Situation, from: Timestamp) -> Report {
        Report::new(self.game, self.trace, situation, from)
    }

    /// Whether the opponent of `player` can mate from there, as far as the Laws ask for it (Art. 6.9, 7.5.5); `None`: not
    /// known.
    pub(super) fn opponent_can_mate(&self, from: Option<&State>, player: Color) -> Option<bool> {
        may_win(
            from?.position()?,
            !player,
            &self.game.regulations.rules,
            MAX_NODES_IN_PLAY,
        )
    }

    /// What the clocks showed around an irregularity at that ply: when the ply before it was completed, and now.
    pub(super) fn clock_times(&self, ply: u32) -> Option<ClockReadings> {
        let now = self.game.face?;
        let earlier = self.game.line.iter().rev().filter(|entry| entry.ply.number < ply);
        let completed = |entry: &LineEntry| entry.completed.and_then(|(_, clock, _)| clock);
        let before = earlier.into_iter().find_map(completed);
        let sides = |clock: Clock| ByColor {
            white: clock.white_ms,
            black: clock.black_ms,
        };
        Some(ClockReadings {
            before: before.map_or_else(|| sides(now), sides),
            now: sides(now),
            undue: self.pressed_times.map_or(0, |(_, undue)| undue),
        })
    }
}
