//! What the board's sensors show, and what they have shown of late.

use std::collections::VecDeque;

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Contents, Dump, Field, Piece as WirePiece};
use shakmaty::{Bitboard, Board, Color, KnownOutcome, Piece, Role, Square};

/// The physical placement as reported, with the recent changes.
#[derive(Debug, Clone)]
pub(crate) struct Sensors {
    board: Board,
    /// The same as the board numbers and codes it.
    fields: Dump,
    /// Squares with a result piece: draw, White wins, Black wins.
    tokens: [Bitboard; 3],
    changed: [Since; 64],
    /// The last dump came then.
    dumped_at: Timestamp,
    recent: VecDeque<Change>,
    /// The last reports of fields.
    heard: VecDeque<(Field, Contents)>,
    /// How many of the recent changes were not taken by [`take_changes`](Self::take_changes) yet.
    fresh: usize,
    turned: bool,
    known: bool,
}

/// When something came to be so: at a time between these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since {
    pub(crate) from: Timestamp,
    /// It was reported then.
    pub(crate) at: Timestamp,
}

impl Since {
    pub(crate) const fn at(at: Timestamp) -> Self {
        Self { from: at, at }
    }

    /// When both of two things have come to be so.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            from: self.from.max(other.from),
            at: self.at.max(other.at),
        }
    }
}

/// One square that came to show something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Arrival of the report.
    pub at: Timestamp,
    /// The square.
    pub square: Square,
    /// What the sensors show there from now on; a result piece counts as nothing.
    pub after: Option<Piece>,
}

/// Enough for the longest scramble between two settled plies; a bound, so that a flickering square costs nothing.
const RECENT: usize = 96;

/// So many of the last reports tell one moment from another at which the same stood on the board.
const HEARD: usize = 12;

impl Sensors {
    pub(crate) fn new() -> Self {
        Self {
            board: Board::empty(),
            fields: [None; 64],
            tokens: [Bitboard::EMPTY; 3],
            changed: [Since::at(Timestamp::from_micros(0)); 64],
            dumped_at: Timestamp::from_micros(0),
            recent: VecDeque::with_capacity(RECENT),
            heard: VecDeque::with_capacity(HEARD),
            fresh: 0,
            turned: false,
            known: false,
        }
    }

    /// Sensors as they must have been when that stood on the board.
    pub(crate) fn showing(at: Timestamp, board: &Board, turned: bool) -> Self {
        let mut sensors = Self {
            turned,
            known: true,
            ..Self::new()
        };
        for (square, piece) in board.clone() {
            let field = Field::new(square.flip_vertical() as u8);
            let field = field.map(|field| if turned { field.turned() } else { field });
            if let Some(field) = field {
                sensors.set_field(at, field, wire_piece(piece));
            }
        }
        sensors.heard.clear();
        sensors
    }

    /// Sensors that have not shown anything yet on a board that stands so.
    pub(crate) fn turned_like(turned: bool) -> Self {
        Self {
            turned,
            ..Self::new()
        }
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn fields(&self) -> &Dump {
        &self.fields
    }

    /// Whether a dump has told every square.
    pub(crate) fn known(&self) -> bool {
        self.known
    }

    /// When the last dump came.
    pub(crate) fn dumped_at(&self) -> Timestamp {
        self.dumped_at
    }

    /// Whether White sits with the connector on the right, so that field i is 63-i.
    pub(crate) fn turned(&self) -> bool {
        self.turned
    }

    /// When the change of a square was reported.
    pub(crate) fn changed_at(&self, square: Square) -> Timestamp {
        self.changed(square).at
    }

    /// Since when a square shows what it does.
    pub(crate) fn changed(&self, square: Square) -> Since {
        self.changed[usize::from(square)]
    }

    /// The recent changes, oldest first.
    pub(crate) fn recent(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.recent.iter()
    }

    /// Whether the piece on a field is the one that was put down last.
    pub(crate) fn put_last(&self, field: Field) -> bool {
        let mut put = self.recent.iter().rev().filter(|change| change.after.is_some());
        put.next()
            .is_some_and(|change| change.square == square_of(field, self.turned))
    }

    /// What was reported of the fields, the latest first, as far as it is remembered: since a dump showed something else.
    pub(crate) fn heard(&self) -> impl Iterator<Item = (Field, Contents)> {
        self.heard.iter().rev().copied()
    }

    /// The changes since this was asked last, oldest first, as far as they are remembered.
    pub(crate) fn take_changes(&mut self) -> Vec<Change> {
        let from = self.recent.len().saturating_sub(core::mem::take(&mut self.fresh));
        self.recent.range(from..).copied().collect()
    }

    /// The changes after `since`, oldest first.
    pub(crate) fn changes_since(&self, since: Timestamp) -> impl DoubleEndedIterator<Item = &Change> {
        let from = self.recent.partition_point(|change| change.at <= since);
        self.recent.range(from..)
    }

    /// Squares that changed after `since`.
    pub(crate) fn touched_since(&self, since: Timestamp) -> Bitboard {
        self.changes_since(since).map(|change| change.square).collect()
    }

    /// Squares that show something else than `expected`.
    pub(crate) fn differing(&self, expected: &Board) -> Bitboard {
        difference(&self.board, expected) | self.token_squares().without(expected.occupied())
    }

    pub(crate) fn token_squares(&self) -> Bitboard {
        self.tokens[0] | self.tokens[1] | self.tokens[2]
    }

    /// The result that result pieces show, if they show just one.
    pub(crate) fn token_result(&self) -> Option<KnownOutcome> {
        match self.tokens.map(Bitboard::any) {
            [true, false, false] => Some(KnownOutcome::Draw),
            [false, true, false] => Some(KnownOutcome::Decisive { winner: Color::White }),
            [false, false, true] => Some(KnownOutcome::Decisive { winner: Color::Black }),
            _ => None,
        }
    }

    /// One field's contents. Returns whether anything changed.
    pub(crate) fn set_field(&mut self, at: Timestamp, field: Field, contents: Contents) -> bool {
        let before = core::mem::replace(&mut self.fields[field.index()], contents);
        if before != contents {
            if self.heard.len() == HEARD {
                self.heard.pop_front();
            }
            self.heard.push_back((field, contents));
        }
        self.set(at, square_of(field, self.turned), contents)
    }

    /// A dump. Returns whether anything changed.
    pub(crate) fn set_all(&mut self, at: Timestamp, dump: &Dump) -> bool {
        let mut changed = !self.known;
        self.known = true;
        for (field, contents) in Field::all().zip(dump) {
            let square = square_of(field, self.turned);
            let before = self.changed_at(square);
            if self.set_field(at, field, *contents) {
                // Its report was lost, at any time since it was known to be otherwise.
                self.changed[usize::from(square)].from = before.max(self.dumped_at);
                changed = true;
            }
        }
        self.dumped_at = at;
        if changed {
            self.heard.clear();
        }
        changed
    }

    /// Reads the fields the other way round from now on.
    pub(crate) fn turn(&mut self) {
        self.turned = !self.turned;
        self.board.rotate_180();
        for token in &mut self.tokens {
            *token = token.rotate_180();
        }
        self.changed.reverse();
        for change in &mut self.recent {
            change.square = change.square.rotate_180();
        }
    }

    fn set(&mut self, at: Timestamp, square: Square, contents: Contents) -> bool {
        let (piece, token) = match contents {
            None => (None, None),
            Some(WirePiece::DrawToken) => (None, Some(0)),
            Some(WirePiece::WhiteWinsToken) => (None, Some(1)),
            Some(WirePiece::BlackWinsToken) => (None, Some(2)),
            Some(piece) => (chess_piece(piece), None),
        };
        let had = self.tokens.iter().position(|squares| squares.contains(square));
        if self.board.piece_at(square) == piece && had == token {
            return false;
        }
        for (kind, squares) in self.tokens.iter_mut().enumerate() {
            squares.set(square, token == Some(kind));
        }
        match piece {
            Some(piece) => self.board.set_piece_at(square, piece),
            None => self.board.discard_piece_at(square),
        }
        self.changed[usize::from(square)] = Since::at(at);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Change {
            at,
            square,
            after: piece,
        });
        self.fresh = (self.fresh + 1).min(RECENT);
        true
    }
}

/// A clock's time in seconds.
pub(crate) fn seconds(hours: u8, minutes: u8, seconds: u8) -> u32 {
    (u32::from(hours) * 60 + u32::from(minutes)) * 60 + u32::from(seconds)
}

/// Squares on which two placements differ.
pub(crate) fn difference(a: &Board, b: &Board) -> Bitboard {
    let colors = Color::ALL.into_iter().map(|c| a.by_color(c) ^ b.by_color(c));
    let roles = Role::ALL.into_iter().map(|r| a.by_role(r) ^ b.by_role(r));
    colors
        .chain(roles)
        .fold(Bitboard::EMPTY, |all, differ| all | differ)
}

/// Field 0 is a8 and 63 is h1 with the connector on White's left; the board does not turn its numbering.
fn square_of(field: Field, turned: bool) -> Square {
    let field = if turned { field.turned() } else { field };
    Square::new(u32::from(field.number())).flip_vertical()
}

fn wire_piece(piece: Piece) -> Option<WirePiece> {
    WirePiece::from_fen(piece.char())
}

fn chess_piece(piece: WirePiece) -> Option<Piece> {
    piece.fen().and_then(Piece::from_char)
}
