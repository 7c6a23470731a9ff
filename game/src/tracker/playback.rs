//! Plays back recorded changes as if they were happening now, at times that hands can have needed.
//!
//! The records are the board's memory after a gap, the answers of a board on a bus, and reports that came late. The
//! memory has no times, so `memory/pace.rs` invents plausible ones. Pauses between recorded changes are invented as
//! well: they confirm no ply, and do not make a square look dead.
//!
//! In a long record, games end and begin. `memory/game_end.rs` separates play from what follows it: kings in the
//! centre, and pieces being set up.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Dump, Element, Piece};

use super::Tracker;
use crate::events::Since;
use crate::model::IN_HANDS;
use crate::tracker::memory::{self, game_end, pace, press, starts, tagged, unmerged};

/// What is being played back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Playback {
    /// When it became known: its findings are dated then.
    pub(super) known_at: Timestamp,
    /// Whether it comes from the board's memory after a gap; false: from reports or polls while the port was open.
    pub(super) recovered: bool,
    /// More changes follow. A record does not say for how long anything stood between them.
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

/// Keeps what happened before a given time apart from what happened after it.
const MOMENT: Duration = Duration::from_millis(1);

impl Tracker {
    /// Plays back one game after another, in what the memory holds of the time from `from` until `until`. The clock has
    /// been stopped since `stopped_since`.
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
            // Pieces that are set up for the next game look like moves of the game before.
            let game = &missed[begun..*start];
            let played = game_end::played(game, self.sensors.fields(), placement, with_clock);
            let share = span.mul_f64((*start + 1) as f64 / missed.len().max(1) as f64);
            let over = ended_before.filter(|_| nth + 1 == starts.len());
            let ended = over.map_or(from + share, |over| match memory::moved(last_game, placement) {
                // The first moves were made without a press.
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
        self.take_over(until, then);
    }

    /// Plays back a game, and the result that kings show in what follows.
    fn play_with_result(&mut self, from: Timestamp, to: Timestamp, play: &[Element], then: &[Element]) {
        let shown = to.saturating_sub((to.saturating_duration_since(from) / 2).min(self.model.patience));
        self.play_to_the_end(from, shown, play);
        self.show_result(shown, to, then);
    }

    /// Has the kings show, from then on, the result that they come to in what follows a game: what they showed on the way
    /// was put right.
    fn show_result(&mut self, from: Timestamp, to: Timestamp, then: &[Element]) {
        let result = game_end::until_shown(then, self.sensors.fields());
        let stands = from + (to.saturating_duration_since(from) / 2).min(self.model.pause);
        self.play_back(from, stands, &then[..result]);
        self.decide_when_due(to);
    }

    /// Takes over what was shown and set up, without looking for moves in it.
    fn take_over(&mut self, now: Timestamp, elements: &[Element]) {
        for (field, contents) in memory::changes(elements) {
            self.sensors.set_field(now, field, contents);
        }
    }

    /// The start position that the next game most likely begins with.
    fn usual_start(&self) -> Dump {
        tagged(if self.sensors.turned() {
            Element::StartPositionTurned
        } else {
            Element::StartPosition
        })
    }

    /// Plays back what was followed by a pause, so that the last move has come to rest.
    fn play_to_the_end(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        let rest = (to.saturating_duration_since(from) / 3).min(self.model.doubt * 2);
        self.play_back(from, to.saturating_sub(rest), missed);
        self.decide_when_due(to);
    }

    /// Draws the conclusions that are due by `to`.
    pub(super) fn decide_when_due(&mut self, to: Timestamp) {
        while let Some(deadline) = self.wake.filter(|deadline| *deadline <= to) {
            self.decide(deadline);
        }
    }

    /// Plays back elements at times that hands can have needed; the memory holds no times.
    pub(super) fn play_back(&mut self, from: Timestamp, to: Timestamp, missed: &[Element]) {
        // A piece that was put down just before may have been on its way. When those came that a dump shows is not known.
        let drawing = from.saturating_sub(self.model.pause);
        let changes = self.sensors.changes_since(drawing);
        let told = changes.filter(|change| !change.when.is_late());
        let drawn = told.filter_map(|change| change.after).next_back();
        let mut touched = drawn.map(|piece| piece.color.is_white());
        self.play_back_by(from, to, missed, &mut touched);
    }

    /// The same where it is known whose piece was touched last; see [`times`](pace::times).
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

    /// The pieces that the line has on squares which show nothing, each with its field, the one lifted first at the front:
    /// hands do not put down what they hold because a poll or a gap comes between.
    fn in_the_air(&self) -> Vec<(usize, Piece)> {
        let Some(line) = &self.line else {
            return Vec::new();
        };
        let expected = line.tree.node(line.tree.best()).state.board();
        if self.sensors.differing(expected).count() > IN_HANDS {
            // The pieces are being set up, or the line is not what was played.
            return Vec::new();
        }
        self.sensors.lifted(expected)
    }
}
