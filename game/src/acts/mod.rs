//! Finds acts of the hands other than moves: pieces touched, displaced or moved against the Laws, castling with the
//! rook first, the clock pressed with the piece in the hand.
//!
//! The watchers of the referee ask for such acts, and the Laws decide their consequences. The later stations do not
//! read squares and cannot check an act, so it is reported only once it is certain enough to be published.

mod castled;
mod displaced;
mod flicker;
mod irregular;
mod missing;
mod pressed;
mod promoted;
mod standing;
mod touched;
mod trace;
mod turn;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, File, Piece, Rank, Square};

use crate::events::SensorChange;
use crate::model::Model;
use crate::position::{State, difference};
use crate::tracker::Snapshot;
pub(crate) use displaced::Astray;
pub(crate) use irregular::{Irregular, Kind};
pub(crate) use promoted::Exchanged;
pub(crate) use standing::{BoardComparison, Last};
pub(crate) use touched::{How, Touched};
use trace::Trace;
pub(crate) use turn::Turn;

/// The recent observations of one board, from which acts are derived.
#[derive(Debug, Default)]
pub(crate) struct Acts {
    trace: Trace,
    /// Squares with a piece on the line of play that the sensors do not read.
    unseen: Bitboard,
    visibility: Visibility,
    /// Time until which a polled board's changes are known. `None` for a board that reports changes at once.
    polled_until: Option<Timestamp>,
}

/// Whether the squares can be compared with the line of play.
#[derive(Debug)]
struct Visibility {
    /// Whether the board was away, or its memory was read, and its placement has not been explained since.
    blind: bool,
    /// Time at which the board last went away. Only a later dump shows all squares.
    away_at: Timestamp,
    dumped_at: Timestamp,
}

impl Default for Visibility {
    fn default() -> Self {
        let never = Timestamp::from_micros(0);
        Self {
            blind: true,
            away_at: never,
            dumped_at: never,
        }
    }
}

impl Acts {
    /// Sets the model. Call before the first snapshot.
    pub(crate) fn follow(&mut self, model: &'static Model) {
        self.trace.model = model;
    }

    pub(crate) fn model(&self) -> &'static Model {
        self.trace.model
    }

    /// Time at which an act made at `done` can be judged. By then, its reports are complete, faulty squares are
    /// recognised, and slips are put right.
    pub(crate) fn judged_at(&self, done: Timestamp) -> Timestamp {
        done + self.model().doubt
    }

    pub(crate) fn see(&mut self, now: Timestamp, snapshot: &Snapshot) {
        self.trace.update(now, snapshot);
        self.unseen = snapshot.unseen;
        self.visibility.dumped_at = snapshot.dumped_at;
        self.visibility.blind |= !snapshot.watched;
        // Changes are known up to the last one; the rest of the poll's answer follows in further snapshots.
        let last = snapshot.changes.last().map(|change| change.when.at);
        self.polled_until = self.polled_until.map(|until| last.unwrap_or(until));
    }

    pub(crate) fn polled(&mut self, until: Option<Timestamp>) {
        self.polled_until = until;
    }

    /// Time at which to look again at a conclusion due at `due`. `None` if it can be drawn now. On a polled board,
    /// silence proves nothing before the next answer.
    pub(crate) fn waits(&self, now: Timestamp, due: Timestamp) -> Option<Timestamp> {
        if now < due {
            return Some(due);
        }
        let unknown = self.polled_until.is_some_and(|until| until < due);
        unknown.then(|| now + self.model().rest)
    }

    pub(crate) fn lose_visibility(&mut self, now: Timestamp) {
        self.visibility.blind = true;
        self.visibility.away_at = now;
    }

    /// Ends blindness when a line of play begins, unless a dump shows another placement: a line that is joined after a gap
    /// begins with an earlier one, and its plies follow.
    pub(crate) fn regain_visibility(&mut self, start: Option<&State>) {
        let shown = start.is_some_and(|start| self.shows(start.board()));
        self.visibility.blind &= self.is_whole() && !shown;
    }

    /// Ends blindness if a dump has shown all squares and the board shows `tip`, the line's last position.
    pub(crate) fn trust_again(&mut self, tip: Option<&State>) {
        if self.visibility.blind && self.is_whole() && tip.is_some_and(|tip| self.shows(tip.board())) {
            self.visibility.blind = false;
        }
    }

    pub(crate) fn is_blind(&self) -> bool {
        self.visibility.blind
    }

    /// Whether a dump has shown every square since the board was away.
    pub(crate) fn is_whole(&self) -> bool {
        self.visibility.dumped_at > self.visibility.away_at
    }

    /// Whether several squares were misread lately, so that another misread square proves little.
    pub(crate) fn is_disturbed(&self, now: Timestamp) -> bool {
        self.trace.is_disturbed(now)
    }

    pub(crate) fn shows(&self, placement: &Board) -> bool {
        self.trace.board() == placement
    }

    /// Number of squares on which the board differs from `placement`.
    pub(crate) fn off(&self, placement: &Board) -> usize {
        difference(self.trace.board(), placement).count()
    }

    pub(crate) fn unseen(&self) -> Bitboard {
        self.unseen
    }

    /// The piece on a square, including pieces that the sensors do not read.
    pub(crate) fn piece_at(&self, square: Square) -> Option<Piece> {
        self.trace.board().piece_at(square)
    }

    /// Squares on which `piece` was newly read, from `since` on.
    pub(crate) fn read_since(&self, since: Timestamp, piece: Piece) -> Bitboard {
        let shown = self.trace.since(since);
        let read = shown.filter(|shown| shown.after == Some(piece));
        read.map(|shown| shown.square).collect()
    }

    pub(crate) fn quiet_since(&self) -> Timestamp {
        self.trace.quiet_since
    }

    /// Time since which the usual start position has stood turned by 90 degrees; `None` if it does not stand so.
    pub(crate) fn turned_by_a_quarter(&self) -> Option<Timestamp> {
        let rotated = |square: Square| {
            Square::from_coords(
                File::new(u32::from(square.rank())),
                Rank::new(7 - u32::from(square.file())),
            )
        };
        let standard = Board::new();
        let fits = |flip: bool| {
            Square::ALL.into_iter().all(|square| {
                let on = rotated(square);
                let on = if flip { on.rotate_180() } else { on };
                standard.piece_at(square) == self.trace.board().piece_at(on)
            })
        };
        (fits(false) || fits(true)).then_some(self.trace.quiet_since)
    }

    /// The last [`MAX_EVIDENCE_CHANGES`] changes from `since` on, as evidence of an incident.
    pub(crate) fn evidence_since(&self, since: Timestamp) -> Vec<SensorChange> {
        let all: Vec<SensorChange> = self.trace.since(since).copied().collect();
        let old = all.len().saturating_sub(MAX_EVIDENCE_CHANGES);
        all[old..].to_vec()
    }
}

const MAX_EVIDENCE_CHANGES: usize = 32;

fn in_one_scan(times: impl Iterator<Item = Timestamp> + Clone) -> bool {
    let (first, last) = (times.clone().min(), times.max());
    first
        .zip(last)
        .is_some_and(|(first, last)| last.saturating_duration_since(first) <= ONE_SCAN_APART)
}
