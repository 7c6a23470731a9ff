//! A straight run for a mate: both sides help, each plays the move that seems best, and only a move that ends the game
//! without a mate is taken back.
//!
//! The sides take men as long as there are any, but never the winner's last heavy piece or the pawn that is to become
//! one. If the winner has only bishops and knights, they spare one of these and the loser's man that helps with the
//! mate. The run ends with a mate on the way, or in an ending that is known to be won (`endings`).

use shakmaty::{Chess, Color, Move, Role};

use super::aims::Aims;
use super::choice;
use super::endings;
use super::men::{Men, Step};

/// Length limit of a run, in plies, including plies that were taken back.
const MAX_PLIES: usize = 120;
/// Plies without a capture or a pawn move after which all moves are compared, instead of playing the first good one.
const PATIENCE: usize = 14;
/// Most alternatives to a move that ended the game too soon.
const MAX_REJECTED: usize = 12;

/// Whether a run reaches a mate by `side`. `false` proves nothing.
pub(super) fn mates(position: &Chess, side: Color) -> bool {
    Men::new(position).is_some_and(|men| {
        [Haste::First, Haste::Best]
            .into_iter()
            .any(|haste| Run::new(men, side, haste).mates(|_, _| {}))
    })
}

/// The moves of a run that reaches a mate by `side`, or an ending in which it can mate.
pub(super) fn line(position: &Chess, side: Color) -> Option<Vec<Move>> {
    let men = Men::new(position)?;
    let mut line: Vec<Move> = Vec::new();
    for haste in [Haste::First, Haste::Best] {
        line.clear();
        let record = |ply, step: Step| {
            line.truncate(ply);
            line.push(step.into());
        };
        if Run::new(men, side, haste).mates(record) {
            return Some(line);
        }
    }
    None
}

/// The effort spent on choosing a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Haste {
    /// Play the first good move.
    First,
    /// Compare all moves.
    Best,
}

struct Run {
    men: Men,
    side: Color,
    haste: Haste,
    ply: usize,
    /// Plies since the last capture or pawn move.
    idle: usize,
    /// The last move of each side.
    before: [Option<Step>; 2],
    /// The position before the last move, and that move.
    past: Option<(Men, Step)>,
    /// Moves that ended the game too soon, and the ply at which they were played.
    rejected: [Option<Step>; MAX_REJECTED],
    rejected_len: usize,
    rejected_ply: usize,
}

impl Run {
    fn new(men: Men, side: Color, haste: Haste) -> Self {
        Self {
            men,
            side,
            haste,
            ply: 0,
            idle: 0,
            before: [None; 2],
            past: None,
            rejected: [None; MAX_REJECTED],
            rejected_len: 0,
            rejected_ply: 0,
        }
    }

    /// Plays the run. `record` is called with each move and its ply; a later call for the same ply replaces the move.
    fn mates(mut self, mut record: impl FnMut(usize, Step)) -> bool {
        for _ in 0..MAX_PLIES {
            let wins = self.men.turn == self.side;
            if wins && endings::is_won(&self.men, self.side) {
                return true;
            }
            if !self.men.of(self.side).more_than_one() {
                return false;
            }
            let aims = Aims::new(&self.men, self.side);
            let first = self.haste == Haste::First && self.idle < PATIENCE && self.tried().is_empty();
            let mut step = if first { aims.capture() } else { None };
            if wins
                && step.is_none()
                && let Some(mate) = aims.mate()
            {
                record(self.ply, mate);
                return true;
            }
            let before = self.before[self.men.turn as usize];
            if first && step.is_none() {
                step = aims.obvious_move(before, self.idle);
            }
            match step.or_else(|| choice::best(&aims, before, self.tried())) {
                Some(step) => {
                    record(self.ply, step);
                    self.play(step);
                }
                None if self.take_back() => {}
                None => return false,
            }
        }
        false
    }

    /// The moves not to be repeated at this ply.
    fn tried(&self) -> &[Option<Step>] {
        if self.rejected_ply == self.ply {
            self.rejected.get(..self.rejected_len).unwrap_or_default()
        } else {
            &[]
        }
    }

    fn play(&mut self, step: Step) {
        self.past = Some((self.men, step));
        self.before[self.men.turn as usize] = Some(step);
        self.men.play(step);
        let is_progress = step.capture.is_some() || step.role == Role::Pawn;
        self.idle = if is_progress { 0 } else { self.idle + 1 };
        self.ply += 1;
    }

    /// Takes back the move that ended the game too soon. Returns false if there is none, or no alternative left.
    fn take_back(&mut self) -> bool {
        let Some((men, rejected)) = self.past.take() else {
            return false;
        };
        self.men = men;
        self.ply -= 1;
        if self.rejected_ply != self.ply {
            self.rejected_ply = self.ply;
            self.rejected_len = 0;
        }
        let Some(place) = self.rejected.get_mut(self.rejected_len) else {
            return false;
        };
        *place = Some(rejected);
        self.rejected_len += 1;
        self.before[self.men.turn as usize] = None;
        true
    }
}
