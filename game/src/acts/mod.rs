//! What hands do besides the moves: pieces that are touched, pushed or moved against the Laws, castling with the wrong
//! piece first, a clock that is pressed with the piece in the hand.
//!
//! The watchers ask for such acts, and the Laws say what they mean. What the squares have shown is read here and nowhere
//! after: an act is told once it is sure enough for somebody to be told of it. What happened on the way to a ply is asked
//! of its [`Turn`], and what stands on the board in the place of what the line of play leads to of its [`BoardComparison`].

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

/// What the squares of one board have shown lately, and what hands must have done for it.
#[derive(Debug, Default)]
pub(crate) struct Acts {
    trace: Trace,
    /// Squares whose pieces are not read, and taken to stand there all the same.
    unseen: Bitboard,
    visibility: Visibility,
    /// Of a board that reports changes only when it is polled: until when it is known what happened.
    polled_until: Option<Timestamp>,
}

/// Whether what the squares show can be compared with the line of play.
#[derive(Debug)]
struct Visibility {
    /// The board was away, or its memory was read, and what it shows has not been explained since.
    blind: bool,
    /// When the board was last away: only a dump after this shows all squares.
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
    /// Takes boards and hands to be like that. To be called before anything is seen.
    pub(crate) fn follow(&mut self, model: &'static Model) {
        self.trace.model = model;
    }

    /// What boards and hands are taken to be like.
    pub(crate) fn model(&self) -> &'static Model {
        self.trace.model
    }

    /// When what was done at that time can be judged: the board has reported all of it, a faulty square has shown itself,
    /// and nothing is put right at once any more.
    pub(crate) fn judged_at(&self, done: Timestamp) -> Timestamp {
        done + self.model().doubt
    }

    /// Takes in what a scan of the squares shows.
    pub(crate) fn see(&mut self, now: Timestamp, snapshot: &Snapshot) {
        self.trace.update(now, snapshot);
        self.unseen = snapshot.unseen;
        self.visibility.dumped_at = snapshot.dumped_at;
        self.visibility.blind |= !snapshot.watched;
        // The rest of its answer follows.
        let last = snapshot.changes.last().map(|change| change.when.at);
        self.polled_until = self.polled_until.map(|until| last.unwrap_or(until));
    }

    /// What happened on the board is known until then; `None`: it tells at once.
    pub(crate) fn polled(&mut self, until: Option<Timestamp>) {
        self.polled_until = until;
    }

    /// When to look again at what is due then; `None`: it is due. Before the next answer of a polled board, silence proves
    /// nothing.
    pub(crate) fn waits(&self, now: Timestamp, due: Timestamp) -> Option<Timestamp> {
        if now < due {
            return Some(due);
        }
        let unknown = self.polled_until.is_some_and(|until| until < due);
        unknown.then(|| now + self.model().rest)
    }

    /// The board went away.
    pub(crate) fn lose_visibility(&mut self, now: Timestamp) {
        self.visibility.blind = true;
        self.visibility.away_at = now;
    }

    /// A line of play begins with what the board shows.
    pub(crate) fn regain_visibility(&mut self) {
        self.visibility.blind = false;
    }

    /// The board shows the line's last position: it can be trusted again after a gap.
    pub(crate) fn trust_again(&mut self, tip: Option<&State>) {
        if self.visibility.blind && self.is_whole() && tip.is_some_and(|tip| self.shows(tip.board())) {
            self.visibility.blind = false;
        }
    }

    /// Whether the board was away, or its memory was read, and what it shows has not been explained since.
    pub(crate) fn is_blind(&self) -> bool {
        self.visibility.blind
    }

    /// Whether a dump has shown every square since the board was away.
    pub(crate) fn is_whole(&self) -> bool {
        self.visibility.dumped_at > self.visibility.away_at
    }

    /// Whether so many squares are misread that one which is empty for a moment says little.
    pub(crate) fn is_disturbed(&self, now: Timestamp) -> bool {
        self.trace.is_disturbed(now)
    }

    /// Whether this placement stands on the board.
    pub(crate) fn shows(&self, placement: &Board) -> bool {
        self.trace.board() == placement
    }

    /// On how many squares the board differs from a placement.
    pub(crate) fn off(&self, placement: &Board) -> usize {
        difference(self.trace.board(), placement).count()
    }

    /// Squares whose pieces are not read, and taken to stand there all the same.
    pub(crate) fn unseen(&self) -> Bitboard {
        self.unseen
    }

    /// The piece that stands on a square, or is taken to.
    pub(crate) fn piece_at(&self, square: Square) -> Option<Piece> {
        self.trace.board().piece_at(square)
    }

    /// The squares that came to show this piece from `since` on.
    pub(crate) fn read_since(&self, since: Timestamp, piece: Piece) -> Bitboard {
        let shown = self.trace.since(since);
        let read = shown.filter(|shown| shown.after == Some(piece));
        read.map(|shown| shown.square).collect()
    }

    /// Since when no square has changed.
    pub(crate) fn quiet_since(&self) -> Timestamp {
        self.trace.quiet_since
    }

    /// Since when the pieces of the usual start have stood on files instead of ranks; `None`: they do not.
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

    /// The last changes from `since` on, for the evidence of an incident: at most 32.
    pub(crate) fn evidence_since(&self, since: Timestamp) -> Vec<SensorChange> {
        let all: Vec<SensorChange> = self.trace.since(since).copied().collect();
        let old = all.len().saturating_sub(MAX_EVIDENCE_CHANGES);
        all[old..].to_vec()
    }
}

/// At most this many changes are kept as evidence.
const MAX_EVIDENCE_CHANGES: usize = 32;

/// Whether all these times can belong to one scan.
fn in_one_scan(times: impl Iterator<Item = Timestamp> + Clone) -> bool {
    let (first, last) = (times.clone().min(), times.max());
    first
        .zip(last)
        .is_some_and(|(first, last)| last.saturating_duration_since(first) <= ONE_SCAN_APART)
}
