//! A node of the tree: a state that a credible line of play reaches, and how the sensors have shown it.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Color, Move, Square};

use super::sensors::{Sensors, Since};
use super::state::{Footprint, PossibleMove, State};

/// Index of a node in its tree.
pub(crate) type NodeId = usize;

/// A state that a credible line of play reaches.
#[derive(Debug, Clone)]
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
    /// The squares on which the sensors differ from this state.
    pub(crate) differs: Bitboard,
    pub(crate) standing: Standing,
    /// The longest time for which its squares showed it without a break.
    pub(crate) stood: Duration,
    /// Its squares never showed it: the reply came before they were scanned.
    pub(crate) hidden: bool,
    /// The whole board has shown exactly this state at some time.
    pub(crate) exact: bool,
    /// The whole board has shown exactly this state for a while without any change: no piece was just on its way.
    pub(super) stable: bool,
    /// The ply that follows is beyond doubt: no further candidates are added.
    pub(super) closed: bool,
    /// Whether the ply is completed in the sense of the Laws.
    pub(crate) completed: bool,
    /// An irregular move that a press or a reply speaks for. Without that it is nothing but a suspicion.
    pub(crate) backed: bool,
    /// Reconstructed over a gap, not observed.
    pub(crate) inferred: bool,
    /// Reconstructed with other plies that may have been played in another order.
    pub(crate) any_order: bool,
}

/// How a node was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Played {
    /// The tree begins here.
    Root,
    /// By a legal move.
    Move(Move),
    /// By irregular play, with the origin and destination where a single piece moved, and the king's in castling.
    Irregular(Option<(Square, Square)>),
}

/// How far a node's ply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// One reading among others.
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
            footprint: None,
            lifted_at: at,
            since: at,
            landed: Since::at(at),
            shown: false,
            differs: Bitboard::EMPTY,
            standing: Standing::Candidate,
            stood: Duration::ZERO,
            hidden: false,
            exact: false,
            stable: false,
            closed: false,
            completed: false,
            backed: false,
            inferred: false,
            any_order: false,
        }
    }

    /// Whether no legal move led here.
    pub(crate) fn is_irregular(&self) -> bool {
        matches!(self.played, Played::Irregular(_))
    }

    /// Who made the ply that led here.
    pub(crate) fn mover(&self) -> Color {
        !self.state.turn()
    }

    /// Compares the state with what the sensors show now.
    pub(super) fn measure(&mut self, sensors: &Sensors, now: Timestamp) {
        self.differs = sensors.differing(self.state.board());
        let met = self
            .footprint
            .is_none_or(|footprint| footprint.fits(sensors.board()));
        if self.shown {
            self.stood = self.stood.max(now.saturating_duration_since(self.since));
        } else if met {
            self.since = now;
        }
        self.hidden &= !met;
        self.exact |= met && self.differs.is_empty();
        self.shown = met;
    }
}

/// When the first of the mover's pieces left its square for this move.
pub(super) fn lifted_at(
    parent: &Node,
    footprint: Option<&Footprint>,
    sensors: &Sensors,
    now: Timestamp,
) -> Timestamp {
    let mover = parent.state.turn();
    footprint
        .into_iter()
        .flat_map(Footprint::iter)
        .filter(|(square, after)| after.is_none() && parent.state.board().color_at(*square) == Some(mover))
        .map(|(square, _)| sensors.changed_at(square))
        .min()
        .unwrap_or(now)
}

/// When the last of those squares that show the move came to do so.
pub(super) fn landed(footprint: &Footprint, sensors: &Sensors) -> Since {
    let met = footprint
        .iter()
        .filter(|(square, piece)| sensors.board().piece_at(*square) == *piece);
    met.map(|(square, _)| sensors.changed(square))
        .reduce(Since::and)
        .unwrap_or(Since::at(Timestamp::from_micros(0)))
}
