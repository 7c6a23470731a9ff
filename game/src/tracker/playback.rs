//! Plays back recorded changes as if they happened now, at times that suit the pace of hands.
//!
//! The records are the board's memory after a gap, the answers of a board on a bus, and reports that came late. The
//! memory has no times, so `memory/pace.rs` invents plausible ones. A ply is not confirmed by an invented pause, and a
//! square does not count as dead because of one.
//!
//! In a long record, games end and begin. `memory/game_end.rs` separates play from the kings in the centre and the
//! set-up that follow it.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Dump, Element, Piece};

use super::Tracker;
use crate::events::Since;
use crate::model::IN_HANDS;
use crate::tracker::memory::{self, game_end, pace, press, starts, tagged, unmerged};

#[derive(Debug, Clone, Copy)]
pub(super) struct Playback {
    /// Time at which the record arrived. The findings of its playback have this time.
    pub(super) known_at: Timestamp,
    /// Whether the record is the board's memory of a gap, and not reports or answers while the port was open.
    pub(super) recovered: bool,
    /// Whether more changes of the record follow. Until its end a rest is no evidence, because the time between
    /// recorded changes is unknown.
    pub(super) goes_on: bool,
}

impl Playback {
    pub(super) const fn new(known_at: Timestamp, recovered: bool) -> Self {
        Self {
            known_at,
            recovered,
            goes_on: false,
        }
    }
}

/// Time between two events of which only the order is known.
const MOMENT: Duration = Duration::from_millis(1);

impl Tracker {
    /// Plays back a record of the time from `from` until `until`, one game after another. The clock has been stopped
    /// since `stopped_since`; `None` if it may run.
    pub(super) fn play_back_games(
        &mut self,
        from: Timestamp,
        until: Timestamp,
        missed: &[Element],
        stopped_since: Option<Timestamp>,
        with_clock: bool,
    ) {
        let starts = starts(self.sensors.fields(), missed);
        let is_press = |element: &Element| matches!(element, Element::ClockTime { .. });
        let last_game = starts.last().map_or(missed, |(start, _)| &missed[*start..]);
        let span = stopped_since.unwrap_or(until).saturating_duration_since(from);
        // A clock that was not pressed after the last start position has been stopped since the game before it.
        let ended_before = stopped_since.filter(|_| !starts.is_empty() && !last_game.iter().any(is_press));
        let stopped_since = stopped_since.filter(|_| ended_before.is_none());
        let (mut begun, mut at) = (0, from);
        for (nth, (start, placement)) in starts.iter().enumerate() {
            // Setting up pieces for the next game looks like moves of the previous game.
            let game = &missed[begun..*start];
            let played = game_end::played(game, self.sensors.fields(), placement, with_clock);
            let share = span.mul_f64((*start + 1) as f64 / missed.len().max(1) as f64);
            let over = ended_before.filter(|_| nth + 1 == starts.len());
            let ended = over.map_or(from + share, |over| match memory::moved(last_game, placement) {
                // The next game has begun, but its first moves were made without a press.
                true => over + until.saturating_duration_since(over) / 2,
                false => until,
            });
            let stood = ended.saturating_sub(self.model.doubt).max(at);
            let ended = ended.max((stood + self.model.doubt).min(until));
            let over = over.map_or(stood, |over| over.saturating_sub(MOMENT));
            let (play, then) = game.split_at(played);
            self.play_with_result(at, over, play, then);
            self.sensors.set_all(stood, placement);
            self.squares_changed(stood);
            self.decide(ended);
            (begun, at) = (*start, ended);
        }
        let usual = self.usual_start();
        let before = self.sensors.fields();
        let played = match stopped_since {
            Some(_) => game_end::played(last_game, before, &usual, true),
            None => game_end::until_set_up(last_game, before, &usual, with_clock),
        };
        let (play, then) = last_game.split_at(played);
        match stopped_since {
            Some(since) => {
                self.play_to_the_end(at, since.saturating_sub(MOMENT), play);
                self.show_result(since + MOMENT, until, then);
            }
            None if then.is_empty() => self.play_back(at, until, play),
            None => self.play_with_result(at, until, play, then),
        }
        for (field, contents) in memory::changes(then) {
            self.sensors.set_field(until, field, contents);
        }
    }

    fn play_with_result(&mut self, from: Timestamp, to: Timestamp, play: &[Element], then: &[Element]) {
        let shown = to.saturating_sub((to.saturating_duration_since(from) / 2).min(self.model.patience));
        self.play_to_the_end(from, shown, play);
        self.show_result(shown, to, then);
    }

    /// Plays back `then` up to the final result that kings show. The board then rests until `to`, so that only this
    /// result stands long enough to count.
    fn show_result(&mut self, from: Timestamp, to: Timestamp, then: &[Element]) {
        let result = game_end::until_shown(then, self.sensors.fields());
        let stands = from + (to.saturating_duration_since(from) / 2).min(self.model.pause);
        self.play_back(from, stands, &then[..result]);
        self.decide_when_due(to);
    }

    fn usual_start(&self) -> Dump {
        tagged(if self.sensors.turned() {
            Element::StartPositionTurned
        } else {
            Element::StartPosition
        })
    }

    /// Plays back a record with a rest at its end, so that the last move counts as finished.
    fn play_to_the_end(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        let rest = (to.saturating_duration_since(from) / 3).min(self.model.doubt * 2);
        self.play_back(from, to.saturating_sub(rest), missed);
        self.decide_when_due(to);
    }

    pub(super) fn decide_when_due(&mut self, to: Timestamp) {
        while let Some(deadline) = self.wake.filter(|deadline| *deadline <= to) {
            self.decide(deadline);
        }
    }

    pub(super) fn play_back(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        let mut touched = self.touched_before(from);
        self.play_back_by(from, to, missed, &mut touched);
    }

    /// Returns whether the last piece touched before a record was White's, if the record may continue its motion. A
    /// change seen only in a dump does not count, because its time is unknown.
    pub(super) fn touched_before(&self, from: Timestamp) -> Option<bool> {
        let recently = from.saturating_sub(self.model.pause);
        let changes = self.sensors.changes_since(recently);
        let timed = changes.filter(|change| !change.when.is_late());
        let drawn = timed.filter_map(|change| change.after).next_back();
        drawn.map(|piece| piece.color.is_white())
    }

    /// Plays back elements at invented times. `touched` is as in [`times`](pace::times).
    pub(super) fn play_back_by(
        &mut self,
        from: Timestamp,
        to: Timestamp,
        missed: &[Element],
        touched: &mut Option<bool>,
    ) {
        let missed = &unmerged(missed, self.sensors.fields(), self.in_the_air());
        let times = pace::times(self.model, (from, to), missed, self.sensors.fields(), touched);
        self.playback_goes_on(true);
        for (element, now) in missed.iter().zip(times) {
            self.decide_when_due(now);
            match *element {
                Element::PieceChange { field, contents, .. } => {
                    self.sensors
                        .set_field(Since::recorded(from, now), field, contents);
                    self.squares_changed(now);
                }
                _ => {
                    if let Some((side, time)) = press(element) {
                        self.clock.record_press(now, side, time);
                        self.clock_pressed(now, side);
                    }
                }
            }
            self.decide(now);
        }
        self.playback_goes_on(false);
        self.decide_when_due(to);
    }

    fn playback_goes_on(&mut self, goes_on: bool) {
        self.playback = self.playback.map(|playback| Playback { goes_on, ..playback });
    }

    /// Returns the pieces that the line has on squares that are empty, each with its field, in the order in which they
    /// were lifted. During a poll or a gap, hands keep holding them.
    fn in_the_air(&self) -> Vec<(usize, Piece)> {
        let Some(line) = &self.line else {
            return Vec::new();
        };
        let expected = line.tree.node(line.tree.best()).state.board();
        if self.sensors.differing(expected).count() > IN_HANDS {
            // The pieces are being set up, or the line is wrong.
            return Vec::new();
        }
        self.sensors.lifted(expected)
    }
}
