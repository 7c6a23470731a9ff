//! Input and output of the watchers.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor, Color};

use super::book::{Book, Number, Offences, Report};
use super::status::GameStatus;
use crate::acts::{Acts, BoardComparison, Turn};
use crate::events::{Clock, ClosedBy, IncidentEnd};
use crate::laws::{Broken, ClockReadings, IncidentKind, Situation};
use crate::model::REMEMBERED_PLIES;
use crate::position::State;
use crate::referee::LineEntry;
use crate::referee::result::{MAX_NODES_IN_PLAY, may_win};

/// Facts that a watcher may use, and the book in which it enters incidents.
pub(super) struct Context<'a> {
    pub(super) game: &'a GameStatus<'a>,
    pub(super) acts: &'a Acts,
    pub(super) book: &'a mut Book,
    pub(super) offences: &'a mut Offences,
    /// Squares that other watchers account for: displaced pieces and faulty sensors.
    pub(super) set_aside: Bitboard,
    /// Whether the record no longer matches the game. Differences on the board are then errors of the record.
    pub(super) lost: bool,
    /// Whether the record may no longer match the game, or rests on reconstruction. Later observations decide.
    pub(super) may_be_lost: bool,
    /// Whether the record stopped matching the game and has not been confirmed since.
    pub(super) unproved: bool,
    /// Times of the clock before its last press, and the amount that this press added to the presser's time.
    pub(super) pressed_times: Option<(ByColor<u64>, u64)>,
}

impl Context<'_> {
    pub(super) fn now(&self) -> Timestamp {
        self.game.now
    }

    /// Compares the board with the last position of the line, except for squares set aside; `None` without a line.
    pub(super) fn standing(&self) -> Option<BoardComparison<'_>> {
        let tip = self.game.tip()?;
        Some(self.acts.standing(tip, self.game.last(), self.set_aside))
    }

    /// Squares on which the board differs from the last position of the line, except for squares set aside.
    pub(super) fn differs(&self) -> Bitboard {
        let standing = self.standing();
        standing.map_or(Bitboard::EMPTY, |standing| standing.differs())
    }

    /// The turn that ended with a ply, from its start or from `since` on, if that is later; `None` if the ply was not
    /// observed.
    pub(super) fn turn(&self, ply: u32, since: Option<Timestamp>) -> Option<Turn<'_>> {
        let entry = self.game.entry(ply).filter(|entry| !entry.ply.inferred)?;
        let began = self.game.turn_began(ply)?;
        let since = since.map_or(began, |since| since.max(began));
        let before = self.game.before(ply)?;
        Some(self.acts.turn(&entry.ply, before, since, self.set_aside))
    }

    /// Whether a ply of the record was reconstructed and not confirmed yet.
    pub(super) fn rests_on_inference(&self) -> bool {
        let inferred = |entry: &LineEntry| entry.ply.inferred && entry.settled.is_none();
        self.game.line.iter().rev().take(REMEMBERED_PLIES).any(inferred)
    }

    /// Whether the squares can be compared with the line of play.
    pub(super) fn sees_play(&self) -> bool {
        self.game.in_play() && !self.acts.is_blind() && !self.lost
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

    /// Closes an incident that another one replaces.
    pub(super) fn supersede(&mut self, number: Number) {
        let (by, reason) = (ClosedBy::Laws, IncidentEnd::Superseded);
        self.book.close(self.game.now, number, by, reason);
    }

    pub(super) fn report(&self, situation: Situation, from: Timestamp) -> Report {
        Report::new(self.game, self.acts, situation, from)
    }

    /// Whether the opponent of `player` can win from a position, as the Laws require (Art. 6.9, 7.5.5); `None` if
    /// unknown.
    pub(super) fn opponent_can_mate(&self, from: Option<&State>, player: Color) -> Option<bool> {
        may_win(
            from?.position()?,
            !player,
            &self.game.regulations.rules,
            MAX_NODES_IN_PLAY,
        )
    }

    /// The rule that the last move of `player` broke according to an open incident. Such a move does not win on time.
    pub(super) fn broken_by(&self, player: Color) -> Option<Broken> {
        let mut plies = self.game.line.iter().rev();
        let last = plies.find(|entry| {
            entry.ply.color == player && entry.completed.is_some() && entry.ply.played.is_some()
        });
        let last_legal = last.map_or(0, |entry| entry.ply.number);
        let mut touched = None;
        for incident in self.book.all_open().filter(|open| open.color == Some(player)) {
            let ply = incident.ply.unwrap_or_default();
            let broken = match incident.kind {
                IncidentKind::IllegalMove => Broken::IllegalMove,
                IncidentKind::PromotionNotReplaced => Broken::Promotion,
                IncidentKind::ClockPressedWithoutMove => Broken::PressedWithoutMove,
                IncidentKind::PieceTouchedNotMoved => Broken::Touch,
                _ => continue,
            };
            if broken == Broken::Touch {
                if ply >= last_legal {
                    touched = Some(broken);
                }
            } else if ply > last_legal && self.book.counts(incident.incident) {
                return Some(broken);
            }
        }
        touched
    }

    /// Times of the clocks around an irregularity at a ply: at the completion of the previous ply, and now.
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
