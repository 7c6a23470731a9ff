//! The shape of a motion: carried through the air, or drawn over the squares.

use core::time::Duration;

use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{ByColor, Color, Move, attacks};

use super::sensors::Sensors;
use super::tree::{Node, Played};

/// Which players are in the habit of drawing their pieces over the squares.
#[derive(Debug, Default)]
pub(super) struct Habits {
    seen: ByColor<Seen>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Seen {
    drawn: u8,
    carried: u8,
}

/// Habits are judged by about so many of the last telling moves.
const MEMORY: u8 = 24;
/// Fewer moves than this say nothing about a player.
const ACQUAINTED: u8 = 4;
/// Who draws less than one in so many of his pieces carries them.
const RARELY: u8 = 8;
/// A step to the neighbouring square takes longer through the air.
const CARRIED: Duration = Duration::from_millis(350);

impl Habits {
    /// Notes how the move of a node was made, if that shows.
    pub(super) fn note(&mut self, node: &Node, sensors: &Sensors) {
        let Played::Move(m) = node.played else { return };
        let Some(crossed) = crossed(m, node, sensors) else {
            return;
        };
        let seen = &mut self.seen[node.mover()];
        if crossed {
            seen.drawn += 1;
        } else {
            seen.carried += 1;
        }
        if seen.drawn + seen.carried >= MEMORY {
            seen.drawn /= 2;
            seen.carried /= 2;
        }
    }

    /// Whether the piece of a node may be on its way over the squares.
    pub(super) fn may_be_drawn(&self, m: Move, node: &Node, sensors: &Sensors) -> bool {
        match crossed(m, node, sensors) {
            Some(crossed) => crossed,
            None => flight(m, sensors).is_none_or(|flight| flight <= CARRIED) && self.may_draw(node.mover()),
        }
    }

    /// Whether this player may be drawing a piece that shows no sign either way: until he has been seen to carry
    /// his pieces.
    fn may_draw(&self, color: Color) -> bool {
        let seen = self.seen[color];
        let total = seen.drawn + seen.carried;
        total < ACQUAINTED || RARELY * seen.drawn >= total
    }
}

/// From where the piece left its square to where it stood on the other.
fn flight(m: Move, sensors: &Sensors) -> Option<Duration> {
    let from = m.from()?;
    Some(
        sensors
            .changed_at(m.to())
            .saturating_duration_since(sensors.changed_at(from)),
    )
}

/// Whether the piece was seen on a square between where it came from and where it stands; `None` where there is no
/// such square.
fn crossed(m: Move, node: &Node, sensors: &Sensors) -> Option<bool> {
    let from = m.from().filter(|_| !m.is_castle())?;
    let between = attacks::between(from, m.to());
    if between.is_empty() {
        return None;
    }
    let piece = m.promotion().unwrap_or_else(|| m.role()).of(node.mover());
    // A piece slid off its square may be seen on the next one before its own is read as empty.
    let crossed = sensors
        .recent()
        .rev()
        .take_while(|change| change.at + ONE_SCAN_APART >= node.lifted_at)
        .any(|change| between.contains(change.square) && change.after == Some(piece));
    Some(crossed)
}
