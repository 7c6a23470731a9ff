//! A node of the tree: a position that a candidate line reaches, and how the sensors have shown it.
//!
//! Two kings in the centre show a result and are no move. Every node compares the board without such kings and charges
//! for them, so that the plies before a result are announced or withdrawn by their costs like any others.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square};

use super::made::Timing;
use super::sensors::Sensors;
use crate::events::{SensorChange, Since};
use crate::model::{Cost, Model, PASSING};
use crate::position::{Footprint, PossibleMove, State, outcome_of_kings};

/// Index of a node in its tree.
pub(crate) type NodeId = usize;

/// A state that a credible line of play reaches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    pub(crate) parent: Option<NodeId>,
    /// Number of the ply that led here; 0 at the start of the line.
    pub(crate) ply: u32,
    pub(crate) played: Played,
    pub(crate) state: State,
    /// The moves that may follow.
    pub(super) possible_moves: Vec<PossibleMove>,
    /// The squares of the move; `None` for the root, and for moves found without their squares.
    pub(super) footprint: Option<Footprint>,
    /// When the mover's piece left its square.
    pub(crate) lifted_at: Timestamp,
    /// Since when the squares of the move have shown it. Where they do not show it now: since when they last did.
    pub(crate) since: Timestamp,
    /// When the last square of the move came to show it.
    pub(crate) landed: Since,
    /// Whether all squares of the move show it now.
    pub(crate) shown: bool,
    /// The squares on which the sensors differ from this state, but for kings that show a result.
    pub(crate) differs: Bitboard,
    /// What it costs that both kings stand in the centre, where this state does not have them.
    pub(super) result: Option<Cost>,
    /// For each square that differs: since when it has shown what it does, and the piece on it if this state has none there.
    pub(super) unexplained: Vec<(Timestamp, Option<Piece>)>,
    pub(crate) standing: PlyStatus,
    /// The longest time for which its squares showed it without a break.
    pub(crate) stood: Duration,
    /// Its squares never showed it: the reply came before they were scanned.
    pub(crate) hidden: bool,
    /// What it costs that its piece was shown elsewhere before it came to stand on its square.
    pub(super) stray: Cost,
    /// Squares that show nothing, whatever this state has there.
    pub(super) unread: Bitboard,
    /// Those of them that have read their piece for a moment.
    pub(super) witnessed: Bitboard,
    /// The piece that was captured.
    pub(super) captured: Option<Piece>,
    /// The whole board has shown exactly this state at some time.
    pub(crate) exact: bool,
    /// All that had changed since its piece was lifted was its own squares, and all of them are read and have shown it.
    pub(super) clear: bool,
    /// The whole board has shown exactly this state for a while without any change: no piece was just on its way.
    pub(super) stable: bool,
    /// When its piece went back to where it came from.
    pub(super) back: Option<Timestamp>,
    /// The ply that follows is beyond doubt, or lies too far back: no further candidates are added.
    pub(super) closed: bool,
    /// Whether the ply is completed in the sense of the Laws.
    pub(crate) completed: bool,
    /// Whether its player has pressed the clock after it.
    pub(super) pressed: bool,
    /// An irregular move that a press speaks for. Without that it is a suspicion until it has a reply.
    pub(crate) backed: bool,
    /// Told although others were as credible.
    pub(super) ambiguous: bool,
    /// Reconstructed over a gap, not observed.
    pub(crate) inferred: bool,
    /// Reconstructed with other plies that may have been played in another order.
    pub(crate) any_order: bool,
}

/// How a node was reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Played {
    /// The tree begins here.
    #[default]
    Root,
    /// By a legal move.
    Move(Move),
    /// By irregular play, with the origin and destination where a single piece moved, and the king's in castling.
    Irregular(Option<(Square, Square)>),
}

/// How far a node's ply has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PlyStatus {
    /// One reading among others.
    #[default]
    Candidate,
    /// Reported to the referee as made; it may still be withdrawn or amended.
    Announced,
    /// Announced, and beyond doubt.
    Confirmed,
}

impl Node {
    pub(super) fn new(parent: Option<NodeId>, ply: u32, played: Played, state: State, at: Timestamp) -> Self {
        Self {
            parent,
            ply,
            played,
            possible_moves: state.moves(),
            state,
            lifted_at: at,
            since: at,
            landed: Since::at(at),
            ..Self::default()
        }
    }

    /// Whether no legal move led here.
    pub(crate) fn is_irregular(&self) -> bool {
        matches!(self.played, Played::Irregular(_))
    }

    /// Whether its ply came to a square that does not show it.
    pub(super) fn is_unread(&self) -> bool {
        self.footprint.is_some_and(|footprint| {
            let arrived = footprint.squares() & self.state.board().occupied();
            (arrived & self.unread).any()
        })
    }

    /// When its ply was made.
    pub(super) const fn timing(&self) -> Timing {
        Timing {
            lifted_at: self.lifted_at,
            landed: self.landed,
        }
    }

    /// Who made the ply that led here.
    pub(crate) fn mover(&self) -> Color {
        !self.state.turn()
    }

    /// Compares the state with what the sensors show now.
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
            (sensors.changed_at(square), stranger)
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

    /// Whether another piece has stood on the square of its ply since.
    pub(super) fn was_captured(&self, sensors: &Sensors) -> bool {
        let Played::Move(m) = self.played else {
            return false;
        };
        let taken = |change: &SensorChange| {
            change.square == m.to() && change.after.is_some_and(|piece| piece.color != self.mover())
        };
        sensors.changes_since(self.landed.at).any(taken)
    }

    /// When its piece came to stand again where it came from, if it does.
    fn went_back(&self, sensors: &Sensors) -> Option<Timestamp> {
        let Played::Move(m) = self.played else { return None };
        let from = m.from()?;
        let stands = sensors.board().piece_at(from) == Some(m.role().of(self.mover()));
        stands.then(|| sensors.changed_at(from))
    }

    /// Takes note of unread squares that read their piece after all: for a moment if the square is weak, for longer if a hand
    /// has pushed the piece home.
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
            // What stood until now was not read as a whole.
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

/// The squares from which both kings were put in the centre, and those where they stand there: none where they do not. They
/// show the result; it cannot arise in play.
pub(super) fn put_in_the_centre(expected: &Board, shown: &Board) -> Bitboard {
    if outcome_of_kings(shown).is_none() {
        return Bitboard::EMPTY;
    }
    let left = expected.kings().without(shown.occupied());
    let arrived = |square: &Square| shown.piece_at(*square) != expected.piece_at(*square);
    left | shown.kings().into_iter().filter(arrived).collect::<Bitboard>()
}

/// What the result costs that both kings show. A king that rested elsewhere after the ply of a state had landed was moved
/// there before. They are put in the centre in one go: where nothing happened for long after the first one, that was a ply.
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
