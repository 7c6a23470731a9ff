//! State of the board's sensors: the contents of each square, when it changed, and the recent changes.
//!
//! `Since` gives the interval of time in which a square changed or, if the change comes from the board's record, its
//! place in the order of changes. A field update is at most one scan late. A dump shows changes from any time since the
//! previous dump.
//!
//! Some pieces are assumed to stand on the board although no sensor reads them: a start position with one or two pieces
//! missing counts as complete. Such a piece stands on its square until the square reads something.
//!
//! A square is weak if it alternates between its piece and nothing from one moment to the next, more often than a hand
//! could lift the piece. The piece of a weak square counts as standing there until the square reads another piece, or
//! until the board reads more pieces of its kind than before, because the piece now stands elsewhere.

use std::collections::VecDeque;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Contents, Dump, Element, Field, Piece as WirePiece};
use shakmaty::{Bitboard, Board, Color, KnownOutcome, Piece, Square};

use crate::clock::Side;
use crate::events::{SensorChange, Since};
use crate::model::{A_FEW, MAX_RECENT, MAX_REPORTS, PASSING, REMEMBERED_PLIES};
use crate::position::fields::{chess_piece, field_of, square_of, wire_piece};
use crate::position::{difference, put};
use crate::tracker::memory;

/// The placement that the sensors report, with its recent changes.
#[derive(Debug, Clone)]
pub(crate) struct Sensors {
    board: Board,
    /// The reported contents, by field number and as codes of the wire protocol.
    fields: Dump,
    result_pieces: [Bitboard; 3],
    changed: [Since; 64],
    dumped_at: Timestamp,
    recent: VecDeque<SensorChange>,
    presses: VecDeque<(Timestamp, Color)>,
    reports: VecDeque<(Field, Contents)>,
    /// Changes reported since the last [`take_changes`](Self::take_changes), oldest first.
    fresh: Vec<SensorChange>,
    readings: [Readings; 64],
    /// Squares whose pieces are assumed although their sensors do not read them.
    unseen: Bitboard,
    /// Whether White sits with the connector on the right. Field i then has the square that field 63-i has otherwise.
    turned: bool,
    known: bool,
}

impl Default for Sensors {
    fn default() -> Self {
        Self {
            board: Board::empty(),
            fields: [None; 64],
            result_pieces: [Bitboard::EMPTY; 3],
            changed: [Since::default(); 64],
            dumped_at: Timestamp::default(),
            recent: VecDeque::with_capacity(MAX_RECENT),
            presses: VecDeque::new(),
            reports: VecDeque::new(),
            fresh: Vec::new(),
            readings: [Readings::default(); 64],
            unseen: Bitboard::EMPTY,
            turned: false,
            known: false,
        }
    }
}

impl Sensors {
    /// Sensors that show `board`, as changed at an unknown time up to `at`.
    pub(crate) fn showing(at: Timestamp, board: &Board, turned: bool) -> Self {
        let mut sensors = Self {
            turned,
            known: true,
            ..Self::default()
        };
        for (square, piece) in board.clone() {
            if let Some(field) = field_of(square, turned) {
                let since = Since::between(Timestamp::from_micros(0), at);
                sensors.set_field(since, field, wire_piece(piece));
            }
        }
        sensors.reports.clear();
        sensors
    }

    pub(crate) fn turned_like(turned: bool) -> Self {
        Self {
            turned,
            ..Self::default()
        }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn fields(&self) -> &Dump {
        &self.fields
    }

    pub(crate) fn known(&self) -> bool {
        self.known
    }

    pub(crate) fn dumped_at(&self) -> Timestamp {
        self.dumped_at
    }

    pub(crate) fn turned(&self) -> bool {
        self.turned
    }

    pub(crate) fn changed_at(&self, square: Square) -> Timestamp {
        self.changed(square).at
    }

    pub(crate) fn changed(&self, square: Square) -> Since {
        self.changed[usize::from(square)]
    }

    pub(crate) fn recent(&self) -> impl DoubleEndedIterator<Item = &SensorChange> {
        self.recent.iter()
    }

    /// Applies a change from other sensors. Returns whether anything changed.
    pub(crate) fn show(&mut self, change: &SensorChange) -> bool {
        let contents = change.after.and_then(wire_piece);
        let field = field_of(change.square, self.turned);
        field.is_some_and(|field| self.set_field(change.when, field, contents))
    }

    /// Reconstructs the sensors as of `at` from the recent changes.
    pub(crate) fn as_of(&self, at: Timestamp) -> Self {
        let mut past = Self {
            changed: [Since::default(); 64],
            fresh: Vec::new(),
            reports: VecDeque::new(),
            ..self.clone()
        };
        while let Some(change) = past.recent.pop_back_if(|change| change.when.at > at) {
            put(&mut past.board, change.square, change.before);
            past.unseen.discard(change.square);
            if let Some(field) = field_of(change.square, past.turned) {
                past.fields[field.index()] = change.before.and_then(wire_piece);
            }
        }
        for change in &past.recent {
            past.changed[usize::from(change.square)] = change.when;
        }
        past.take_presses(self, at);
        past
    }

    /// When the sensors last came to show exactly this placement; `None` if no recent change led to it.
    pub(crate) fn showed(&self, placement: &Board) -> Option<Timestamp> {
        let mut board = self.board.clone();
        let mut changes = self.recent.iter().rev().peekable();
        loop {
            let at = changes.peek().map(|change| change.when.at);
            if board == *placement {
                return at;
            }
            let at = at?;
            while let Some(change) = changes.next_if(|change| change.when.at == at) {
                put(&mut board, change.square, change.before);
            }
        }
    }

    pub(crate) fn pressed(&mut self, at: Timestamp, color: Color) {
        if self.presses.len() == REMEMBERED_PLIES {
            self.presses.pop_front();
        }
        self.presses.push_back((at, color));
    }

    pub(crate) fn take_presses(&mut self, other: &Self, until: Timestamp) {
        self.presses.clone_from(&other.presses);
        self.forget_presses_after(until);
    }

    pub(crate) fn forget_presses_after(&mut self, at: Timestamp) {
        self.presses.retain(|(pressed, _)| *pressed <= at);
    }

    pub(crate) fn presses_of(&self, color: Color) -> impl Iterator<Item = Timestamp> {
        let own = self.presses.iter().filter(move |(_, by)| *by == color);
        own.map(|(at, _)| *at)
    }

    pub(crate) fn has_pressed_since(&self, since: Timestamp, color: Color) -> bool {
        self.presses.iter().any(|(at, by)| *by == color && *at >= since)
    }

    pub(crate) fn has_forgotten_since(&self, since: Timestamp) -> bool {
        self.has_forgotten() && self.recent.front().is_some_and(|first| first.when.at > since)
    }

    /// Whether the list of recent changes is full, so that older changes may have been dropped.
    pub(crate) fn has_forgotten(&self) -> bool {
        self.recent.len() == MAX_RECENT
    }

    pub(crate) fn unseen(&self) -> Bitboard {
        self.unseen
    }

    /// Assumes the pieces of `expected` on `squares` until the board reads a piece there.
    pub(crate) fn believe(&mut self, squares: Bitboard, expected: &Board) {
        for square in squares {
            if let Some(piece) = expected.piece_at(square) {
                self.board.set_piece_at(square, piece);
                self.unseen.add(square);
            }
        }
    }

    pub(crate) fn disbelieve(&mut self) {
        for square in core::mem::take(&mut self.unseen) {
            self.board.discard_piece_at(square);
        }
    }

    /// Replaces the kept field updates by the changes in the board's memory, given oldest first.
    pub(super) fn recorded(&mut self, changes: impl IntoIterator<Item = (Field, Contents)>) {
        self.reports = changes.into_iter().collect();
        let old = self.reports.len().saturating_sub(MAX_REPORTS);
        self.reports.drain(..old);
    }

    /// The part of the board's memory that follows the reports known here; see [`memory::missed`].
    pub(super) fn missed<'e>(
        &self,
        elements: &'e [Element],
        halted: Option<(Side, u32)>,
        cleared: Option<&Dump>,
    ) -> Option<(usize, &'e [Element])> {
        // A dump that shows a change clears the reports, because some of them were lost.
        let reports: Vec<(Field, Contents)> = self.reports.iter().rev().copied().collect();
        memory::missed(elements, &self.fields, &reports, halted, cleared)
    }

    /// Takes the changes reported since the last call, oldest first, with the observations of weak squares.
    pub(crate) fn take_changes(&mut self) -> Vec<SensorChange> {
        core::mem::take(&mut self.fresh)
    }

    pub(crate) fn has_untaken(&self) -> bool {
        !self.fresh.is_empty()
    }

    pub(crate) fn changes_since(&self, since: Timestamp) -> impl DoubleEndedIterator<Item = &SensorChange> {
        let from = self.recent.partition_point(|change| change.when.at <= since);
        self.recent.range(from..)
    }

    /// The next change of the same square; `None` if the square has not changed since.
    pub(crate) fn next_change(&self, change: &SensorChange) -> Option<&SensorChange> {
        let mut later = self.changes_since(change.when.at);
        later.find(|later| later.square == change.square)
    }

    /// When the piece arrived that left its square by this change; `None` if the arrival is not among the recent
    /// changes.
    pub(crate) fn arrived_before(&self, left: &SensorChange) -> Option<Timestamp> {
        let to = self
            .recent
            .partition_point(|change| change.when.at < left.when.at);
        let mut earlier = self.recent.range(..to).rev();
        let arrived = earlier.find(|change| change.square == left.square)?;
        (arrived.after == left.before).then_some(arrived.when.at)
    }

    pub(crate) fn touched_since(&self, since: Timestamp) -> Bitboard {
        self.changes_since(since).map(|change| change.square).collect()
    }

    pub(crate) fn differing(&self, expected: &Board) -> Bitboard {
        difference(&self.board, expected) | self.result_squares().without(expected.occupied())
    }

    /// The pieces of `expected` on squares that read empty, with their field indices, in the order of lifting.
    pub(crate) fn lifted(&self, expected: &Board) -> Vec<(usize, WirePiece)> {
        let nothing = expected.occupied().without(self.board.occupied());
        let mut squares: Vec<Square> = nothing.without(self.result_squares()).into_iter().collect();
        squares.sort_by_key(|square| self.changed_at(*square));
        let lifted = squares.into_iter().filter_map(|square| {
            let piece = wire_piece(expected.piece_at(square)?)?;
            Some((field_of(square, self.turned)?.index(), piece))
        });
        lifted.collect()
    }

    pub(crate) fn result_squares(&self) -> Bitboard {
        self.result_pieces[0] | self.result_pieces[1] | self.result_pieces[2]
    }

    /// The result shown by the result pieces; `None` if there are none or they disagree.
    pub(crate) fn shown_result(&self) -> Option<KnownOutcome> {
        match self.result_pieces.map(Bitboard::any) {
            [true, false, false] => Some(KnownOutcome::Draw),
            [false, true, false] => Some(KnownOutcome::Decisive { winner: Color::White }),
            [false, false, true] => Some(KnownOutcome::Decisive { winner: Color::Black }),
            _ => None,
        }
    }

    /// Processes a field update. Returns whether the board changed.
    pub(crate) fn set_field(&mut self, when: impl Into<Since>, field: Field, contents: Contents) -> bool {
        let before = core::mem::replace(&mut self.fields[field.index()], contents);
        if before != contents {
            if self.reports.len() == MAX_REPORTS {
                self.reports.pop_front();
            }
            self.reports.push_back((field, contents));
        }
        self.set(when.into(), square_of(field, self.turned), contents)
    }

    /// Handles a repeated report. Boards report only changes, so the report of a change in between was lost.
    pub(crate) fn repeated(&mut self, at: Timestamp, field: Field) {
        self.changed[usize::from(square_of(field, self.turned))] = Since::at(at);
    }

    /// Processes a dump. Returns whether anything changed; always true for the first dump.
    pub(crate) fn set_all(&mut self, at: Timestamp, dump: &Dump) -> bool {
        let mut changed = !self.known;
        self.known = true;
        for (field, contents) in Field::all().zip(dump) {
            let square = square_of(field, self.turned);
            // If the contents differ, the field update was lost, at some time after the square was last known to show
            // its earlier contents.
            let from = self.changed_at(square).max(self.dumped_at);
            changed |= self.set_field(Since::between(from, at), field, *contents);
        }
        self.dumped_at = at;
        if changed {
            self.reports.clear();
        }
        changed
    }

    /// Rotates the board: from now on, the fields are read from the other side.
    pub(crate) fn turn(&mut self) {
        self.turned = !self.turned;
        self.board.rotate_180();
        self.unseen = self.unseen.rotate_180();
        for result_piece in &mut self.result_pieces {
            *result_piece = result_piece.rotate_180();
        }
        self.changed.reverse();
        self.readings.reverse();
        for change in &mut self.recent {
            change.square = change.square.rotate_180();
        }
    }

    fn set(&mut self, when: Since, square: Square, contents: Contents) -> bool {
        let (piece, result_piece) = match contents {
            None => (None, None),
            Some(WirePiece::DrawToken) => (None, Some(0)),
            Some(WirePiece::WhiteWinsToken) => (None, Some(1)),
            Some(WirePiece::BlackWinsToken) => (None, Some(2)),
            Some(piece) => (chess_piece(piece), None),
        };
        if self.is_read_weakly(when, square, piece) {
            return false;
        }
        let had = self
            .result_pieces
            .iter()
            .position(|squares| squares.contains(square));
        if self.unseen.contains(square) {
            if contents.is_none() {
                return false;
            }
            self.unseen.discard(square);
        } else if self.board.piece_at(square) == piece && had == result_piece {
            return false;
        }
        for (kind, squares) in self.result_pieces.iter_mut().enumerate() {
            squares.set(square, result_piece == Some(kind));
        }
        let before = self.board.piece_at(square);
        put(&mut self.board, square, piece);
        self.changed[usize::from(square)] = when;
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        let change = SensorChange {
            when,
            square,
            before,
            after: piece,
        };
        self.recent.push_back(change);
        self.note_fresh(change);
        if let Some(piece) = piece {
            self.leave_weak_square(when, square, piece);
        }
        true
    }

    fn note_fresh(&mut self, change: SensorChange) {
        if self.fresh.len() < MAX_RECENT {
            self.fresh.push(change);
        }
    }

    /// Counts an observation. Returns whether the square is weak, so that its piece still counts as standing there.
    fn is_read_weakly(&mut self, when: Since, square: Square, piece: Option<Piece>) -> bool {
        let shown = self.board.piece_at(square);
        let own = &mut self.readings[usize::from(square)];
        if when.recorded || when.is_late() || self.unseen.contains(square) {
            return own.is_weak() && piece.is_none() && own.piece == shown && shown.is_some();
        }
        let read = own.read;
        if read == piece {
            return own.is_weak()
                && shown.is_some()
                && shown == own.piece
                && piece.is_none_or(|piece| Some(piece) == shown);
        }
        let of = piece.or(read);
        if of != own.piece || (piece.is_some() && read.is_some()) {
            *own = Readings {
                piece: of,
                ..Readings::default()
            };
        }
        let lasted = when.at.saturating_duration_since(own.at);
        if lasted <= PASSING {
            own.short += 1;
        } else if !own.is_weak() {
            own.short = 0;
        }
        (own.read, own.at) = (piece, when.at);
        let count = count_of(&self.board, of) + usize::from(shown != of);
        // A piece that is drawn across the board is read on two squares for a moment, which must not raise the count.
        if own.short == 0 || count < own.count {
            own.count = count;
        }
        // If the board now reads more pieces of this kind, the piece has left this square and is read on another.
        let believed = own.is_weak() && shown.is_some() && shown == own.piece && count <= own.count;
        if believed {
            self.note_fresh(SensorChange {
                when,
                square,
                before: read,
                after: piece,
            });
        }
        believed
    }

    /// Empties a weak square whose piece has come to stand on `to`, if the board now reads more of its kind.
    fn leave_weak_square(&mut self, when: Since, to: Square, piece: Piece) {
        let count = count_of(&self.board, Some(piece));
        let left = Square::ALL.into_iter().find(|square| {
            let own = &self.readings[usize::from(*square)];
            *square != to
                && own.is_weak()
                && own.read.is_none()
                && own.piece == Some(piece)
                && self.board.piece_at(*square) == Some(piece)
                && !self.unseen.contains(*square)
                && count > own.count
        });
        if let Some(square) = left {
            self.readings[usize::from(square)] = Readings::default();
            self.set(when, square, None);
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Readings {
    /// The piece that the square reads at times.
    piece: Option<Piece>,
    read: Option<Piece>,
    at: Timestamp,
    /// Number of successive observations, of the piece or of nothing, that each lasted at most [`PASSING`].
    short: usize,
    /// Number of pieces of this kind on the board at the last steady observation; lowered if the board reads fewer.
    count: usize,
}

impl Readings {
    const fn is_weak(&self) -> bool {
        self.short >= A_FEW
    }
}

fn count_of(board: &Board, piece: Option<Piece>) -> usize {
    piece.map_or(0, |piece| board.by_piece(piece).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_micros(1_000_000_000 + millis * 1000)
    }

    #[test]
    fn reports_within_a_scan_have_no_order() {
        assert!(!Since::at(at(0)).precedes(Since::at(at(200))));
        assert!(Since::at(at(0)).precedes(Since::at(at(400))));
        assert!(!Since::at(at(400)).precedes(Since::at(at(0))));
    }

    #[test]
    fn changes_in_a_dump_have_no_order_and_changes_in_a_record_do() {
        let report = Since::at(at(1000));
        let (dumped, recorded) = (Since::between(at(0), at(9000)), Since::recorded(at(0), at(9000)));
        assert!(!report.precedes(dumped));
        assert!(report.precedes(recorded));
        assert!(dumped.is_late() && !recorded.is_late() && !report.is_late());
    }

    #[test]
    fn the_later_of_two_changes_dates_both() {
        let (recorded, report) = (Since::recorded(at(0), at(1000)), Since::at(at(2000)));
        assert_eq!(recorded.and(report), report);
        let recorded = Since::recorded(at(0), at(3000));
        assert_eq!(report.and(recorded), Since::recorded(at(2000), at(3000)));
    }

    #[test]
    fn a_dump_dates_a_change_from_the_dump_before_and_from_the_last_change_of_its_square() {
        let mut sensors = Sensors::showing(at(0), &Board::new(), false);
        let mut fields = *sensors.fields();
        sensors.set_all(at(1000), &fields);
        let e2 = field_of(Square::E2, false).expect("a field");
        sensors.set_field(at(2000), e2, None);
        for square in [Square::E2, Square::D2] {
            let field = field_of(square, false).expect("a field");
            fields[field.index()] = Some(WirePiece::WhiteQueen);
        }
        sensors.set_all(at(5000), &fields);
        let from = [Square::D2, Square::E2].map(|square| sensors.changed(square));
        assert_eq!(
            from,
            [
                Since::between(at(1000), at(5000)),
                Since::between(at(2000), at(5000))
            ]
        );
    }
}
