//! Distinguishes pieces carried through the air from pieces drawn across the squares between.
//!
//! A piece that is drawn is read on squares that it crosses, where it may pause. The tracker counts for each player how
//! many moves were made in each way, and waits longer (see `patience`) for players who draw pieces.

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{ByColor, Color, Move, attacks};

use super::node::{Node, Played};
use super::sensors::Sensors;
use crate::model::{Model, RARE_ONE_IN, REMEMBERED_PLIES, SEVERAL};

/// How often each player draws pieces over the squares.
#[derive(Debug, Default)]
pub(super) struct Habits {
    tallies: ByColor<Tally>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    drawn: u8,
    carried: u8,
}

impl Habits {
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
        // Halves the counts, so that the latest moves count most.
        if usize::from(tally.drawn + tally.carried) >= 2 * REMEMBERED_PLIES {
            tally.drawn /= 2;
            tally.carried /= 2;
        }
    }

    pub(super) fn may_be_drawn(&self, m: Move, node: &Node, sensors: &Sensors, model: &Model) -> bool {
        let quick = || flight(m, sensors).is_none_or(|flight| flight <= model.pause);
        crossed(m, node, sensors).unwrap_or_else(quick) && self.may_draw(node.mover())
    }

    /// Whether to expect that this player draws a piece: true until [`SEVERAL`] moves have been seen, and after that if
    /// at least one move in [`RARE_ONE_IN`] was drawn.
    fn may_draw(&self, color: Color) -> bool {
        let tally = self.tallies[color];
        let total = tally.drawn + tally.carried;
        usize::from(total) < SEVERAL || RARE_ONE_IN * tally.drawn >= total
    }
}

/// Time from the piece's departure to its arrival; `None` if the move has no origin.
pub(super) fn flight(m: Move, sensors: &Sensors) -> Option<Duration> {
    let from = m.from()?;
    Some(
        sensors
            .changed_at(m.to())
            .saturating_duration_since(sensors.changed_at(from)),
    )
}

/// Whether a square between origin and destination showed the piece; `None` if there is no such square.
fn crossed(m: Move, node: &Node, sensors: &Sensors) -> Option<bool> {
    let from = m.from().filter(|_| !m.is_castle())?;
    let between = attacks::between(from, m.to());
    if between.is_empty() {
        return None;
    }
    let piece = m.promotion().unwrap_or_else(|| m.role()).of(node.mover());
    // A drawn piece may be shown on the next square before its origin is scanned as empty.
    let crossed = sensors
        .recent()
        .rev()
        .take_while(|change| change.when.at + ONE_SCAN_APART >= node.lifted_at)
        .any(|change| between.contains(change.square) && change.after == Some(piece));
    Some(crossed)
}
