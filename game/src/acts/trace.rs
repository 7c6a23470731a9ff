//! What the squares have shown lately.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::ONE_SCAN_APART;
use shakmaty::{Bitboard, Board, Color, Piece, Square};

use crate::events::SensorChange;
use crate::model::Model;
use crate::tracker::Snapshot;

/// The squares with their recent changes.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) model: &'static Model,
    board: Board,
    /// Whether White sits with the connector on the right, once that has been said.
    turned: Option<bool>,
    changed: [Timestamp; 64],
    recent: VecDeque<SensorChange>,
    pub(super) quiet_since: Timestamp,
    /// What each square showed before it changed last.
    before: Board,
    /// The squares that last showed what they had shown a moment before, each once, and when.
    blinks: VecDeque<(Square, Timestamp)>,
}

/// Enough for a long turn with a flickering square.
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
            // Earlier changes are of no use.
            self.recent.clear();
            self.changed = [now; 64];
        }
        for change in &snapshot.changes {
            let before = self.board.piece_at(change.square);
            let seen = change.after.filter(|_| !change.when.is_late());
            self.note_blink(change.when.at, change.square, seen);
            set(&mut self.before, change.square, before);
            set(&mut self.board, change.square, change.after);
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

    /// A square that shows another piece, or none, and then the same piece again a moment later was misread, or a hand
    /// adjusted the piece.
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

    /// Whether so many squares are misread that one which is empty for a moment says little.
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

    /// When the last of these squares changed.
    pub(super) fn stood_since(&self, squares: Bitboard) -> Timestamp {
        let at = squares.into_iter().map(|square| self.changed_at(square)).max();
        at.unwrap_or(Timestamp::from_micros(0))
    }

    /// The changes from `since` on, oldest first.
    pub(super) fn since(&self, since: Timestamp) -> impl DoubleEndedIterator<Item = &SensorChange> {
        let from = self.recent.partition_point(|shown| shown.when.at < since);
        self.recent.range(from..)
    }

    /// How often this square changed since then.
    pub(super) fn changes_of(&self, square: Square, since: Timestamp) -> usize {
        self.since(since).filter(|shown| shown.square == square).count()
    }

    /// Whether a square that has been touched since then changed no more often than players do it, so that its sensor is
    /// not at fault.
    pub(super) fn is_steady(&self, square: Square, from: Timestamp) -> bool {
        self.changes_of(square, from.saturating_sub(self.model.put_right)) <= MAX_CHANGES
    }

    /// Pieces of `color` that left their square and came back to it, with no other piece shown there in between.
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

    /// When a piece left its square for good, from `since` on; `None` where only a dump showed it.
    pub(super) fn left(&self, square: Square, piece: Piece, since: Timestamp) -> Option<Timestamp> {
        let mut shown = self.since(since).filter(|shown| shown.square == square);
        let left = shown.rfind(|shown| shown.before == Some(piece))?;
        (!left.when.is_late()).then_some(left.when.at)
    }

    /// When a piece came to stand on its square for good, from `since` on; `None` where only a dump showed it.
    pub(super) fn landed(&self, square: Square, piece: Piece, since: Timestamp) -> Option<Timestamp> {
        let mut shown = self.since(since).filter(|shown| shown.square == square);
        let landed = shown.rfind(|shown| shown.after == Some(piece))?;
        (!landed.when.is_late()).then_some(landed.when.at)
    }

    /// Where a piece of this kind came to stand from `since` on and left again, oldest first. A square that loses it for
    /// no longer than a scan was misread. One that still shows it when it has gone on elsewhere did not report that it
    /// left: it is left out.
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
        // Another piece of its kind that is back on its own square is not this one.
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

fn set(board: &mut Board, square: Square, piece: Option<Piece>) {
    match piece {
        Some(piece) => board.set_piece_at(square, piece),
        None => board.discard_piece_at(square),
    }
}

/// From this many squares within [`DISTURBED_FOR`] on, it is the line. Players adjust fewer pieces, and one sensor at
/// fault is one square.
const MIN_BLINKS: usize = 4;
const DISTURBED_FOR: Duration = Duration::from_secs(120);
/// A square that is lifted from twice changes this often; with more changes its sensor is at fault.
const MAX_CHANGES: usize = 4;

/// A piece was off its square for a while.
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

/// A piece stood on a square for a while and left it.
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
