//! How a piece was moved: carried through the air, or drawn over the squares between.
//!
//! A piece that is drawn is read on squares that it crosses, where it may pause. The tracker counts for each player how
//! many moves were made in each way, and waits longer (see `patience`) for players who draw pieces.

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{ByColor, Color, Move, attacks};

use super::node::{Node, Played};
use super::sensors::Sensors;
use crate::model::{Model, RARE_ONE_IN, REMEMBERED_PLIES, SEVERAL};

/// Which players tend to draw their pieces over the squares.
#[derive(Debug, Default)]
pub(super) struct Habits {
    tallies: ByColor<Tally>,
}

/// How many of a player's moves were made in each way.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    drawn: u8,
    carried: u8,
}

impl Habits {
    /// Counts how the move of a node was made, where that can be seen.
    pub(super) fn note(&mut self, node: &Node, sensors: &Sensors) {
        let Played::Move(m) = node.played else { return };
        let Some(crossed) = crossed(m, node, sensors) else {
            return;
        };
        let tally = &mut self.tallies[node.mover()];
        if crossed {
            tally.drawn += 1;
        } else {
            tally.carried += 1;
        }
        // The latest moves count most.
        if usize::from(tally.drawn + tally.carried) >= 2 * REMEMBERED_PLIES {
            tally.drawn /= 2;
            tally.carried /= 2;
        }
    }

    /// Whether the piece of a node may still be on its way over the squares.
    pub(super) fn may_be_drawn(&self, m: Move, node: &Node, sensors: &Sensors, model: &Model) -> bool {
        match crossed(m, node, sensors) {
            Some(crossed) => crossed,
            None => {
                flight(m, sensors).is_none_or(|flight| flight <= model.pause) && self.may_draw(node.mover())
            }
        }
    }

    /// Whether this player may be drawing a piece where it cannot be seen. A new player may, until they have been seen to
    /// carry their pieces.
    fn may_draw(&self, color: Color) -> bool {
        let tally = self.tallies[color];
        let total = tally.drawn + tally.carried;
        usize::from(total) < SEVERAL || RARE_ONE_IN * tally.drawn >= total
    }
}

/// The time from when the piece left its square to when it stood on the other.
pub(super) fn flight(m: Move, sensors: &Sensors) -> Option<Duration> {
    let from = m.from()?;
    Some(
        sensors
            .changed_at(m.to())
            .saturating_duration_since(sensors.changed_at(from)),
    )
}

/// Whether the piece was seen on a square between its origin and its destination; `None` if there is no such square.
fn crossed(m: Move, node: &Node, sensors: &Sensors) -> Option<bool> {
    let from = m.from().filter(|_| !m.is_castle())?;
    let between = attacks::between(from, m.to());
    if between.is_empty() {
        return None;
    }
    let piece = m.promotion().unwrap_or_else(|| m.role()).of(node.mover());
    // A piece slid off its square may be shown on the next one before its own is scanned as empty.
    let crossed = sensors
        .recent()
        .rev()
        .take_while(|change| change.when.at + ONE_SCAN_APART >= node.lifted_at)
        .any(|change| between.contains(change.square) && change.after == Some(piece));
    Some(crossed)
}
