//! Keeps the recent changes of the squares, and finds pieces that left and came back or rested on their way.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Piece, Square};

use crate::events::SensorChange;
use crate::model::Model;
use crate::position::put;
use crate::tracker::Snapshot;

#[derive(Debug)]
pub(super) struct Trace {
    pub(super) model: &'static Model,
    board: Board,
    /// Whether White sits with the connector on the right; `None` before the first snapshot.
    turned: Option<bool>,
    changed: [Timestamp; 64],
    recent: VecDeque<SensorChange>,
    pub(super) quiet_since: Timestamp,
    /// Content of each square before its last change.
    before: Board,
    /// The last squares that missed their piece for a moment and then read it again, with the time of its return. Each
    /// square is listed once.
    blinks: VecDeque<(Square, Timestamp)>,
}

/// Maximum number of stored changes; enough for a long turn with a flickering square.
const MAX_RECENT_CHANGES: usize = 160;

impl Default for Trace {
    fn default() -> Self {
        Self {
            model: &Model::FITTED,
            board: Board::empty(),
            turned: None,
            changed: [Timestamp::from_micros(0); 64],
            recent: VecDeque::new(),
            quiet_since: Timestamp::from_micros(0),
            before: Board::empty(),
            blinks: VecDeque::new(),
        }
    }
}

impl Trace {
    pub(super) fn update(&mut self, now: Timestamp, snapshot: &Snapshot) {
        let before = self.turned.replace(snapshot.turned);
        if before.is_some_and(|turned| turned != snapshot.turned) {
            // In the new orientation, the earlier changes belong to other squares.
            self.recent.clear();
            self.changed = [now; 64];
        }
        for change in &snapshot.changes {
            let before = self.board.piece_at(change.square);
            let seen = change.after.filter(|_| !change.when.is_late());
            self.note_blink(change.when.at, change.square, seen);
            put(&mut self.before, change.square, before);
            put(&mut self.board, change.square, change.after);
            self.changed[usize::from(change.square)] = change.when.at;
            if self.recent.len() == MAX_RECENT_CHANGES {
                self.recent.pop_front();
            }
            self.recent.push_back(SensorChange { before, ..*change });
        }
        self.board = snapshot.board.clone();
        self.quiet_since = now;
        if !snapshot.watched {
            self.recent.clear();
        }
    }

    /// Notes a square that reads its piece again after a moment: the square was misread, or a hand adjusted the piece.
    fn note_blink(&mut self, at: Timestamp, square: Square, after: Option<Piece>) {
        let back = after.is_some() && after == self.before.piece_at(square);
        if back && at.saturating_duration_since(self.changed_at(square)) <= self.model.rest {
            self.blinks.retain(|(other, _)| *other != square);
            if self.blinks.len() == MIN_BLINKS {
                self.blinks.pop_front();
            }
            self.blinks.push_back((square, at));
        }
    }

    /// Whether [`MIN_BLINKS`] squares were misread within [`DISTURBED_FOR`], so that another misread square proves
    /// little.
    pub(super) fn is_disturbed(&self, now: Timestamp) -> bool {
        let first = self.blinks.front();
        self.blinks.len() == MIN_BLINKS && first.is_some_and(|(_, first)| *first + DISTURBED_FOR >= now)
    }

    pub(super) fn board(&self) -> &Board {
        &self.board
    }

    pub(super) fn changed_at(&self, square: Square) -> Timestamp {
        self.changed[usize::from(square)]
    }

    pub(super) fn stood_since(&self, squares: Bitboard) -> Timestamp {
        let at = squares.into_iter().map(|square| self.changed_at(square)).max();
        at.unwrap_or(Timestamp::from_micros(0))
    }

    pub(super) fn since(&self, since: Timestamp) -> impl DoubleEndedIterator<Item = &SensorChange> {
        let from = self.recent.partition_point(|shown| shown.when.at < since);
        self.recent.range(from..)
    }

    pub(super) fn changes_of(&self, square: Square, since: Timestamp) -> usize {
        self.since(since).filter(|shown| shown.square == square).count()
    }

    /// Whether a square touched at `from` has changed no more often than hands change it, so that its sensor is sound.
    pub(super) fn is_steady(&self, square: Square, from: Timestamp) -> bool {
        self.changes_of(square, from.saturating_sub(self.model.put_right)) <= MAX_CHANGES
    }

    /// Pieces of `color` that left their square and came back to it, if the square read no other piece in between.
    pub(super) fn absences(&self, since: Timestamp, color: Color) -> Vec<Absence> {
        let mut open: Vec<(Square, Piece, Timestamp)> = Vec::new();
        let mut absences = Vec::new();
        for shown in self.since(since) {
            let known = open.iter().position(|(square, _, _)| *square == shown.square);
            match (known, shown.before, shown.after) {
                (None, Some(piece), None) if piece.color == color => {
                    open.push((shown.square, piece, shown.when.at));
                }
                (Some(at), _, Some(after)) => {
                    let (square, piece, from) = open.swap_remove(at);
                    if after == piece && !shown.when.is_late() {
                        absences.push(Absence {
                            square,
                            piece,
                            from,
                            to: shown.when.at,
                        });
                    }
                }
                _ => {}
            }
        }
        absences.sort_by_key(|absence| absence.from);
        absences
    }

    /// Time of the last departure of `piece` from `square` at or after `since`; `None` if there was none, or only a
    /// dump showed it.
    pub(super) fn left(&self, square: Square, piece: Piece, since: Timestamp) -> Option<Timestamp> {
        self.last(square, since, |shown| shown.before == Some(piece))
    }

    /// Like [`left`](Self::left), for the last arrival of `piece` on `square`.
    pub(super) fn landed(&self, square: Square, piece: Piece, since: Timestamp) -> Option<Timestamp> {
        self.last(square, since, |shown| shown.after == Some(piece))
    }

    fn last(
        &self,
        square: Square,
        since: Timestamp,
        matches: impl Fn(&SensorChange) -> bool,
    ) -> Option<Timestamp> {
        let mut shown = self.since(since);
        let last = shown.rfind(|shown| shown.square == square && matches(shown))?;
        (!last.when.is_late()).then_some(last.when.at)
    }

    /// Stays of `piece` on squares that it left again, from `since` on, oldest first. A stay continues if the square
    /// misses the piece for at most a scan. A stay does not count if the piece came to another square more than a scan
    /// before the stay ended: its own square did not report the departure.
    pub(super) fn stays(&self, since: Timestamp, piece: Piece) -> Vec<Stay> {
        let mut stays: Vec<Stay> = Vec::new();
        let mut open: Vec<(Square, Timestamp)> = Vec::new();
        for shown in self.since(since) {
            let known = open.iter().position(|(square, _)| *square == shown.square);
            match (known, shown.after == Some(piece)) {
                (None, true) => {
                    let misread = stays.iter().position(|stay| {
                        stay.square == shown.square
                            && shown.when.at.saturating_duration_since(stay.to) <= ONE_SCAN_APART
                    });
                    let from = misread.map_or(shown.when.at, |at| stays.swap_remove(at).from);
                    open.push((shown.square, from));
                }
                (Some(at), false) => {
                    let (square, from) = open.swap_remove(at);
                    let to = shown.when.at;
                    if !shown.when.is_late() {
                        stays.push(Stay { square, from, to });
                    }
                }
                _ => {}
            }
        }
        // A piece that comes back to its own square is another piece of the same kind.
        let came = |shown: &SensorChange| {
            let mut earlier = self
                .since(since)
                .take_while(|before| before.when.at <= shown.when.at);
            shown.after == Some(piece)
                && !earlier.any(|before| before.square == shown.square && before.before == Some(piece))
        };
        let went_on = |stay: &Stay| {
            let mut later = self
                .since(stay.from)
                .take_while(|shown| shown.when.at + ONE_SCAN_APART < stay.to);
            later.any(|shown| shown.square != stay.square && came(shown))
        };
        stays.retain(|stay| !went_on(stay));
        stays.sort_by_key(|stay| stay.from);
        stays
    }
}

/// Number of misread squares from which the serial line counts as disturbed. Players adjust fewer pieces, and a faulty
/// sensor is a single square.
const MIN_BLINKS: usize = 4;
const DISTURBED_FOR: Duration = Duration::from_secs(120);
/// Maximum number of changes of a sound square: two lifts and two returns.
const MAX_CHANGES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Absence {
    pub(super) square: Square,
    pub(super) piece: Piece,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Absence {
    pub(super) fn lasted(&self) -> Duration {
        self.to.saturating_duration_since(self.from)
    }
}

/// Period in which a piece stood on a square before leaving it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stay {
    pub(super) square: Square,
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Stay {
    pub(super) fn lasted(&self) -> Duration {
        self.to.saturating_duration_since(self.from)
    }
}
