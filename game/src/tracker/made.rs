//! Determines when a ply was made, as far as the reports show, and the cost of its timing.
//!
//! | timing | cost |
//! | --- | --- |
//! | the ply landed more than a scan before the answered ply's piece was lifted (wrong order) | **reversed** |
//! | its piece was lifted before the answered ply stood | **odd** |
//! | its piece was lifted before that of the answered ply | **odd** more |
//! | its piece was lifted before that of the same player's previous ply | **unlikely** |
//!
//! Changes within one scan have no order. A record of the board has an order but no times; there only **reversed**
//! applies.

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::{ONE_SCAN_APART, SCAN};
use shakmaty::{Piece, Square};

use super::node::Node;
use super::sensors::Sensors;
use crate::events::Since;
use crate::model::{Cost, Model};
use crate::position::Footprint;

#[derive(Debug, Clone, Copy)]
pub(super) struct Timing {
    pub(super) lifted_at: Timestamp,
    /// When its last square came to show the ply.
    pub(super) landed: Since,
}

impl Timing {
    /// Cost of answering `before` if only the order of the reports is known.
    pub(super) fn after_undated(self, before: Self, model: &Model) -> Cost {
        usize::from(self.landed.precedes(before.landed)) * model.reversed
    }

    /// Cost of answering `before`.
    pub(super) fn after_reply(self, before: Self, model: &Model) -> Cost {
        if self.landed.at + ONE_SCAN_APART < before.lifted_at {
            return model.reversed;
        }
        let early = self.lifted_at + ONE_SCAN_APART < before.landed.from;
        let lifted_first = self.lifted_at + ONE_SCAN_APART < before.lifted_at;
        (usize::from(early) + usize::from(lifted_first)) * model.odd
    }

    /// Cost of following the player's previous ply `before`. `hides` is true if the ply hides the opponent's reply in
    /// between. If the ply also lands within a scan of `before`, it was probably not a second move: in that time, a
    /// hand can only draw a piece on to the next square.
    pub(super) fn after_own(self, before: Self, hides: bool, model: &Model) -> Cost {
        let drawn_on = hides && self.landed.at < before.landed.from + SCAN;
        usize::from(drawn_on || self.lifted_at < before.lifted_at) * model.unlikely
    }
}

impl Timing {
    /// Timing after `parent`. A square that no longer shows the ply counts from when it last came to show it.
    pub(super) fn of(parent: &Node, footprint: &Footprint, sensors: &Sensors, now: Timestamp) -> Self {
        let start = Since::at(Timestamp::from_micros(0));
        let shown = footprint
            .iter()
            .filter_map(|(square, piece)| shown_since(square, piece, parent, sensors));
        let landed = shown.reduce(Since::and).unwrap_or(start);
        let mover = parent.state.turn();
        let before = parent.state.board();
        let lifted = footprint.iter().filter_map(|(square, after)| {
            let piece = before
                .piece_at(square)
                .filter(|piece| piece.color == mover && after.is_none())?;
            // If the origin does not read its piece, the time of its departure is unknown.
            let unread = parent.unread.contains(square);
            Some(if unread {
                landed.at
            } else {
                left_at(square, piece, landed.at, sensors)
            })
        });
        let lifted_at = lifted.min().unwrap_or(now);
        Self { lifted_at, landed }.no_earlier_than(parent.timing())
    }

    /// Bounds the timing of a ply that only a dump shows: not before the ply that it answers.
    fn no_earlier_than(mut self, before: Self) -> Self {
        if self.landed.is_late() {
            let from = self.landed.from.max(before.landed.not_before());
            self.landed.from = from.min(self.landed.at);
            self.lifted_at = self.lifted_at.min(self.landed.from);
        }
        self
    }
}

/// Whether each square of a footprint shows the ply or has shown it after `parent`.
pub(super) fn was_shown(parent: &Node, footprint: &Footprint, sensors: &Sensors) -> bool {
    let mut squares = footprint.iter();
    squares.all(|(square, piece)| shown_since(square, piece, parent, sensors).is_some())
}

/// When a square came to show `piece`, now or last after `parent`; `None` if it has not.
fn shown_since(square: Square, piece: Option<Piece>, parent: &Node, sensors: &Sensors) -> Option<Since> {
    if sensors.board().piece_at(square) == piece {
        return Some(sensors.changed(square));
    }
    let since = parent.lifted_at.saturating_sub(ONE_SCAN_APART);
    let mut changes = sensors.changes_since(since).rev();
    let shown = changes.find(|change| change.square == square && change.after == piece)?;
    Some(shown.when)
}

/// When a piece last left a square, no later than a scan after `landed_at`. If this is unknown, because no report or dump
/// has ever shown the piece there, it counts as lifted when its ply landed.
fn left_at(square: Square, piece: Piece, landed_at: Timestamp, sensors: &Sensors) -> Timestamp {
    let mut changes = sensors.recent().rev();
    let left = changes.find(|change| {
        change.square == square
            && change.before == Some(piece)
            && change.when.at <= landed_at + ONE_SCAN_APART
    });
    let changed = || Some(sensors.changed_at(square)).filter(|at| *at > Timestamp::default());
    left.map(|left| left.when.at)
        .or_else(changed)
        .unwrap_or(landed_at)
}
