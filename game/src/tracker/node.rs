//! A node of the tree: a position that a candidate line reaches, and how far the sensors have shown it.
//!
//! Two kings in the centre show a result and are not moves. Every node compares the board without such kings and
//! charges a cost for them, so that the plies before a result are announced or withdrawn by their costs like any
//! others.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square};

use super::made::Timing;
use super::sensors::Sensors;
use crate::events::{SensorChange, Since};
use crate::model::{Cost, Model, PASSING};
use crate::position::lines::captured_on;
use crate::position::{Footprint, State, outcome_of_kings};

pub(crate) type NodeId = usize;

#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(crate) parent: Option<NodeId>,
    /// Number of the ply that led here; 0 at the start of the line.
    pub(crate) ply: u32,
    pub(crate) played: Played,
    pub(crate) state: State,
    /// The squares of the ply; `None` for the root, and for plies whose squares are not known.
    pub(super) footprint: Option<Footprint>,
    pub(crate) lifted_at: Timestamp,
    /// When the squares of the ply came to show it; if they do not show it now, when they last came to show it.
    pub(crate) since: Timestamp,
    /// When the last square of the ply came to show it.
    pub(crate) landed: Since,
    pub(crate) shown: bool,
    /// The squares on which the sensors differ from this state, except for kings that show a result.
    pub(crate) differs: Bitboard,
    /// Cost of both kings standing in the centre, if this state does not have them there.
    pub(super) result: Option<Cost>,
    pub(super) unexplained: Vec<Unexplained>,
    /// Cost of the pieces that stood on empty squares of this line while it was played on, and left before this ply
    /// landed.
    pub(super) outlived_before: Cost,
    /// Cost of those that have left since.
    pub(super) outlived: Cost,
    pub(crate) standing: PlyStatus,
    /// Longest time for which the squares of the ply showed it without a break.
    pub(crate) stood: Duration,
    /// Whether the squares of the ply never showed it, because the reply came before they were scanned.
    pub(crate) hidden: bool,
    /// Cost of sightings of the piece on other squares before it landed. Of an unobserved ply, its cost beyond **ply**.
    pub(super) stray: Cost,
    /// Cost of presses before the ply that belong to no ply.
    pub(super) idle_presses: Cost,
    /// Squares that read nothing, whatever piece this state has there.
    pub(super) unread: Bitboard,
    /// Unread squares that have read their piece for a moment.
    pub(super) witnessed: Bitboard,
    pub(super) captured: Option<Piece>,
    /// Whether the whole board has ever shown exactly this state.
    pub(crate) exact: bool,
    /// Whether at some moment all squares of the ply were read and showed it, and no other square had come to differ
    /// since the lift.
    pub(super) clear: bool,
    /// Whether the whole board has shown exactly this state for **rest**, with no piece on its way.
    pub(super) stable: bool,
    /// When the piece of the ply returned to its origin; `None` while it has not.
    pub(super) back: Option<Timestamp>,
    /// Whether no children are added any more, because the next ply is beyond doubt or lies too far back.
    pub(super) closed: bool,
    pub(crate) completed: bool,
    pub(super) pressed: bool,
    /// Whether a press supports this irregular move. Without a press, it is a suspicion until it has a reply.
    pub(crate) backed: bool,
    /// Whether the ply was announced although another one was as credible.
    pub(super) ambiguous: bool,
    /// Whether the ply was reconstructed over a gap, not observed.
    pub(crate) inferred: bool,
    /// Whether the ply was reconstructed with others that may have been played in another order.
    pub(crate) any_order: bool,
}

/// A square that differs from a node's state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unexplained {
    pub(super) square: Square,
    /// When the square last changed.
    pub(super) since: Timestamp,
    /// The piece on the square, if the square is empty in the node's state.
    pub(super) stranger: Option<Piece>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Played {
    #[default]
    Root,
    Move(Move),
    /// An irregular move, with origin and destination if a single piece moved, or those of the king if it castled.
    Irregular(Option<(Square, Square)>),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlyStatus {
    #[default]
    Candidate,
    /// Reported as made; it may still be withdrawn or amended.
    Announced,
    Confirmed,
}

impl Node {
    pub(super) fn new(parent: Option<NodeId>, ply: u32, played: Played, state: State, at: Timestamp) -> Self {
        Self {
            parent,
            ply,
            played,
            state,
            lifted_at: at,
            since: at,
            landed: Since::at(at),
            ..Self::default()
        }
    }

    pub(crate) fn is_irregular(&self) -> bool {
        matches!(self.played, Played::Irregular(_))
    }

    /// Whether the ply's destination does not read its piece.
    pub(super) fn is_unread(&self) -> bool {
        self.footprint.is_some_and(|footprint| {
            let arrived = footprint.squares() & self.state.board().occupied();
            (arrived & self.unread).any()
        })
    }

    pub(super) const fn timing(&self) -> Timing {
        Timing {
            lifted_at: self.lifted_at,
            landed: self.landed,
        }
    }

    /// Where the ply captured a piece; `None` if it did not.
    pub(super) fn captured_on(&self) -> Option<Square> {
        match self.played {
            Played::Move(m) => captured_on(m),
            Played::Irregular(_) | Played::Root => None,
        }
    }

    /// Whether the ply moved this piece.
    pub(super) fn moves(&self, piece: Piece) -> bool {
        let Played::Move(m) = self.played else {
            return false;
        };
        self.mover() == piece.color && (m.role() == piece.role || m.promotion() == Some(piece.role))
    }

    pub(crate) fn mover(&self) -> Color {
        !self.state.turn()
    }

    pub(super) fn measure(&mut self, sensors: &Sensors, now: Timestamp, model: &Model) {
        self.look_at_unread(sensors, now);
        let kings = put_in_the_centre(self.state.board(), sensors.board());
        self.result = kings
            .any()
            .then(|| cost_of_result(self.state.board(), self.landed.at, kings, sensors, model));
        let silent = self.unread.without(sensors.board().occupied());
        self.differs = sensors.differing(self.state.board()).without(silent | kings);
        let empty = !self.state.board().occupied();
        let unexplained = self.differs.into_iter().map(|square| {
            let stranger = sensors
                .board()
                .piece_at(square)
                .filter(|_| empty.contains(square));
            Unexplained {
                square,
                since: sensors.changed_at(square),
                stranger,
            }
        });
        self.unexplained.clear();
        self.unexplained.extend(unexplained);
        let unmet = self.footprint.map(|footprint| footprint.unmet(sensors.board()));
        let met = unmet.is_none_or(|unmet| unmet.without(silent).is_empty());
        if self.shown {
            self.stood = self.stood.max(now.saturating_duration_since(self.since));
        } else if met {
            self.since = now;
        }
        self.back = if met {
            None
        } else {
            self.back.or_else(|| self.went_back(sensors))
        };
        self.hidden &= !met;
        self.exact |= met && self.differs.is_empty();
        let before = |square| sensors.changed_at(square) + ONE_SCAN_APART < self.lifted_at;
        let read = self
            .footprint
            .is_none_or(|footprint| (footprint.squares() & self.unread).is_empty());
        self.clear |= met && read && self.differs.into_iter().all(before);
        self.shown = met;
    }

    /// Whether a piece of the other side has stood on the destination since the ply landed.
    pub(super) fn was_captured(&self, sensors: &Sensors) -> bool {
        let Played::Move(m) = self.played else {
            return false;
        };
        let taken = |change: &SensorChange| {
            change.square == m.to() && change.after.is_some_and(|piece| piece.color != self.mover())
        };
        sensors.changes_since(self.landed.at).any(taken)
    }

    /// When the piece of the ply came to stand on its origin again; `None` if it does not stand there.
    fn went_back(&self, sensors: &Sensors) -> Option<Timestamp> {
        let Played::Move(m) = self.played else { return None };
        let from = m.from()?;
        let stands = sensors.board().piece_at(from) == Some(m.role().of(self.mover()));
        stands.then(|| sensors.changed_at(from))
    }

    /// Records unread squares that read their piece. A weak square reads it only for a moment and stays unread; a
    /// square that reads it for longer than [`PASSING`], because a hand moved the piece, is not unread any more.
    fn look_at_unread(&mut self, sensors: &Sensors, now: Timestamp) {
        for square in self.unread {
            let shown = sensors.board().piece_at(square);
            if shown.is_none() || shown != self.state.board().piece_at(square) {
                continue;
            }
            if now > sensors.changed_at(square) + PASSING {
                self.unread.discard(square);
            }
            if self.witnessed.contains(square) {
                continue;
            }
            self.witnessed.add(square);
            // Until now, the board was not read as a whole.
            self.stable = false;
            let own = self
                .footprint
                .is_some_and(|footprint| footprint.squares().contains(square));
            if own {
                self.landed = self.landed.and(sensors.changed(square));
                self.since = self.since.max(sensors.changed_at(square));
            }
        }
    }
}

/// The squares that both kings left for the centre, and their new squares; empty if no result is shown.
pub(super) fn put_in_the_centre(expected: &Board, shown: &Board) -> Bitboard {
    if outcome_of_kings(shown).is_none() {
        return Bitboard::EMPTY;
    }
    let left = expected.kings().without(shown.occupied());
    let arrived = |square: &Square| shown.piece_at(*square) != expected.piece_at(*square);
    left | shown.kings().into_iter().filter(arrived).collect::<Bitboard>()
}

/// Cost of a result shown by both kings: **odd**, and
///
/// - **unlikely** more if a king rested on another square after the last ply landed, because it was moved before the
///   result was shown,
/// - **odd** more if the kings came to the centre one after the other and the board was quiet for **doubt** after the
///   first one, because that was probably a ply.
fn cost_of_result(
    expected: &Board,
    landed: Timestamp,
    put: Bitboard,
    sensors: &Sensors,
    model: &Model,
) -> Cost {
    let kings = expected.kings() | sensors.board().kings();
    let arrived = (put & sensors.board().kings())
        .into_iter()
        .map(|square| sensors.changed_at(square));
    let first = arrived.clone().min().unwrap_or(landed);
    let next = sensors
        .changes_since(first + ONE_SCAN_APART)
        .next()
        .map(|change| change.when.at);
    let apart = arrived.max() > Some(first) && next.is_some_and(|next| next > first + model.doubt);
    let rested = |change: &SensorChange| {
        let king = change.after.is_some_and(|piece| piece.role == Role::King);
        let left = sensors.next_change(change).map(|left| left.when.at);
        let rested = left.is_some_and(|left| left > landed.max(change.when.at + ONE_SCAN_APART));
        king && rested && !kings.contains(change.square)
    };
    let elsewhere = sensors.recent().any(rested);
    model.odd + usize::from(elsewhere) * model.unlikely + usize::from(apart) * model.odd
}
