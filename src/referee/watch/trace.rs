//! The recent history of the squares, for the watchers.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Board, Color, Piece, Square};

use crate::events::SquareChange;
use crate::tracker::Snapshot;

/// One square that came to show something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    /// When the board reported it.
    pub(super) at: Timestamp,
    pub(super) square: Square,
    pub(super) before: Option<Piece>,
    pub(super) after: Option<Piece>,
    /// A dump showed it, so it happened some time before.
    pub(super) dumped: bool,
}

/// The squares with their recent changes.
#[derive(Debug)]
pub(super) struct Trace {
    board: Board,
    changed: [Timestamp; 64],
    recent: VecDeque<Shown>,
    /// Squares whose pieces are not read, and taken to stand there all the same.
    pub(super) unseen: Bitboard,
    /// The board was away, or its memory was read, and what it shows has not been explained since.
    pub(super) blind: bool,
    /// When the board was last away: only a dump after this shows all squares.
    pub(super) away_at: Timestamp,
    dumped_at: Timestamp,
    pub(super) quiet_since: Timestamp,
}

/// Enough for a long turn with a flickering square.
const MAX_RECENT_CHANGES: usize = 160;

impl Default for Trace {
    fn default() -> Self {
        Self {
            board: Board::empty(),
            changed: [Timestamp::from_micros(0); 64],
            recent: VecDeque::new(),
            unseen: Bitboard::EMPTY,
            blind: true,
            away_at: Timestamp::from_micros(0),
            dumped_at: Timestamp::from_micros(0),
            quiet_since: Timestamp::from_micros(0),
        }
    }
}

impl Trace {
    pub(super) fn update(&mut self, now: Timestamp, snapshot: &Snapshot) {
        if snapshot.changes.is_empty() && snapshot.board != self.board {
            // The board is read the other way round: earlier changes are of no use.
            self.recent.clear();
            self.changed = [now; 64];
        }
        for change in &snapshot.changes {
            let before = self.board.piece_at(change.square);
            match change.after {
                Some(piece) => self.board.set_piece_at(change.square, piece),
                None => self.board.discard_piece_at(change.square),
            }
            self.changed[usize::from(change.square)] = change.at;
            if self.recent.len() == MAX_RECENT_CHANGES {
                self.recent.pop_front();
            }
            self.recent.push_back(Shown {
                at: change.at,
                square: change.square,
                before,
                after: change.after,
                dumped: snapshot.dumped_at == now,
            });
        }
        self.board = snapshot.board.clone();
        self.unseen = snapshot.unseen;
        self.quiet_since = now;
        self.dumped_at = snapshot.dumped_at;
        if !snapshot.watched {
            self.recent.clear();
            self.blind = true;
        }
    }

    /// Whether a dump has shown every square since the board was away.
    pub(super) fn is_whole(&self) -> bool {
        self.dumped_at > self.away_at
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
    pub(super) fn since(&self, since: Timestamp) -> impl DoubleEndedIterator<Item = &Shown> {
        let from = self.recent.partition_point(|shown| shown.at < since);
        self.recent.range(from..)
    }

    /// How often this square changed since then.
    pub(super) fn changes_of(&self, square: Square, since: Timestamp) -> usize {
        self.since(since).filter(|shown| shown.square == square).count()
    }

    /// Pieces of `color` that left their square and came back to it, with no other piece shown there in between.
    pub(super) fn absences(&self, since: Timestamp, color: Color) -> Vec<Absence> {
        let mut open: Vec<(Square, Piece, Timestamp)> = Vec::new();
        let mut absences = Vec::new();
        for shown in self.since(since) {
            let known = open.iter().position(|(square, _, _)| *square == shown.square);
            match (known, shown.before, shown.after) {
                (None, Some(piece), None) if piece.color == color => {
                    open.push((shown.square, piece, shown.at));
                }
                (Some(at), _, Some(after)) => {
                    let (square, piece, from) = open.swap_remove(at);
                    if after == piece && !shown.dumped {
                        absences.push(Absence {
                            square,
                            piece,
                            from,
                            to: shown.at,
                        });
                    }
                }
                _ => {}
            }
        }
        absences.sort_by_key(|absence| absence.from);
        absences
    }

    /// The last changes from `since` on, for the evidence of an incident.
    pub(super) fn evidence_since(&self, since: Timestamp) -> Vec<SquareChange> {
        let all: Vec<&Shown> = self.since(since).collect();
        all.iter()
            .skip(all.len().saturating_sub(MAX_EVIDENCE_CHANGES))
            .map(|shown| SquareChange {
                at: shown.at,
                square: shown.square.to_string(),
                piece: shown.after.map(|piece| piece.char().to_string()),
            })
            .collect()
    }
}

/// At most this many changes are kept as evidence.
const MAX_EVIDENCE_CHANGES: usize = 32;

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
