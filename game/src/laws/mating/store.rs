//! The positions that a search has reached: each once, exact, and in bounded memory.

use shakmaty::{
    Bitboard, Board, ByColor, ByRole, CastlingMode, Chess, Color, FromSetup, Position, PositionError, Rank,
    Setup,
};

/// Code of a rook with which its king may still castle.
const CASTLING_ROOK: u64 = 12;
/// Code of a pawn that may be taken en passant now.
const EN_PASSANT_PAWN: u64 = 13;
/// Code of the king of the side to move.
const KING_TO_MOVE: u64 = 14;

/// A position in 24 bytes: everything on which the legal moves depend, but no move counters.
///
/// Two packed positions are equal exactly if the same continuations are legal in both, so that no proof relies on a
/// hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packed {
    occupied: u64,
    /// Four bits per man, in the order of the squares.
    men: [u64; 2],
}

impl Packed {
    /// `None` if the board has more than 32 men.
    pub(super) fn new(position: &Chess) -> Option<Self> {
        let board = position.board();
        let occupied = board.occupied();
        if occupied.count() > 32 {
            return None;
        }
        let castling = position.castles().castling_rights();
        let taken = position
            .legal_ep_square()
            .and_then(|to| to.offset(if position.turn() == Color::White { -8 } else { 8 }));
        let to_move = board.king_of(position.turn());
        let mut men = [0; 2];
        for (place, square) in occupied.into_iter().enumerate() {
            let code = if castling.contains(square) {
                CASTLING_ROOK
            } else if taken == Some(square) {
                EN_PASSANT_PAWN
            } else if to_move == Some(square) {
                KING_TO_MOVE
            } else {
                let role = board.role_at(square)? as u64 - 1;
                role + if board.white().contains(square) { 0 } else { 6 }
            };
            men[place / 16] |= code << (place % 16 * 4);
        }
        Some(Self {
            occupied: occupied.into(),
            men,
        })
    }

    pub(super) fn unpack(&self) -> Option<Chess> {
        let mut roles = [Bitboard::EMPTY; 6];
        let mut white = Bitboard::EMPTY;
        let mut castling_rights = Bitboard::EMPTY;
        let mut ep_square = None;
        let mut turn_square = None;
        for (place, square) in Bitboard(self.occupied).into_iter().enumerate() {
            let code = self.men[place / 16] >> (place % 16 * 4) & 15;
            let (role, is_white) = match code {
                CASTLING_ROOK => {
                    castling_rights.add(square);
                    (3, square.rank() == Rank::First)
                }
                EN_PASSANT_PAWN => {
                    let is_white = square.rank() == Rank::Fourth;
                    ep_square = square.offset(if is_white { -8 } else { 8 });
                    (0, is_white)
                }
                KING_TO_MOVE => {
                    turn_square = Some(square);
                    (5, false)
                }
                code => ((code % 6) as usize, code < 6),
            };
            roles[role].add(square);
            if is_white {
                white.add(square);
            }
        }
        // The king of the side to move has the opposite colour of the other king.
        let other = roles[5].without(turn_square?);
        let turn = if white.intersects(other) {
            Color::Black
        } else {
            Color::White
        };
        if turn == Color::White {
            white.add(turn_square?);
        }
        let [pawn, knight, bishop, rook, queen, king] = roles;
        let by_role = ByRole {
            pawn,
            knight,
            bishop,
            rook,
            queen,
            king,
        };
        let by_color = ByColor {
            white,
            black: Bitboard(self.occupied).without(white),
        };
        let setup = Setup {
            board: Board::try_from_bitboards(by_role, by_color).ok()?,
            turn,
            castling_rights,
            ep_square,
            ..Setup::empty()
        };
        Chess::from_setup(setup, CastlingMode::Chess960)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .ok()
    }

    fn hash(&self) -> u64 {
        let mut hash = self.occupied.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for part in self.men {
            hash = (hash ^ (hash >> 32) ^ part).wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        hash ^ (hash >> 32)
    }
}

const CHUNK: usize = 1 << 14;
/// Most positions stored: 32 bytes each and a hash table of twice as many slots of 4 bytes, 160 MiB in all.
pub(super) const MAX_POSITIONS: usize = 1 << 22;
/// Upper bound on the number of legal moves of any position.
const MAX_LEGAL_MOVES: usize = 256;
const NONE: u32 = u32::MAX;
const PARENT: u32 = (1 << 22) - 1;

#[derive(Debug, Clone, Copy)]
struct StoredPosition {
    packed: Packed,
    /// Index of the parent (22 bits), whether the move from it was irreversible (1 bit), and the depth (9 bits).
    from: u32,
    /// Index of the next position in the same queue.
    next: u32,
}

/// The move history of a stored position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) parent: u32,
    pub(super) irreversible: bool,
    /// Plies from the root, at most 511.
    pub(super) depth: u32,
}

/// The reached positions, and queues of the positions whose moves have not been examined.
#[derive(Debug)]
pub(super) struct Store {
    chunks: Vec<Vec<StoredPosition>>,
    len: usize,
    table: Vec<u32>,
    /// First and last index of each queue; the queue's number is its cost.
    queues: Vec<(u32, u32)>,
    lowest: usize,
}

impl Store {
    pub(super) fn new() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
            table: vec![NONE; 1 << 8],
            queues: Vec::new(),
            lowest: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.len + MAX_LEGAL_MOVES > MAX_POSITIONS
    }

    fn entry(&self, index: u32) -> Option<&StoredPosition> {
        self.chunks
            .get(index as usize / CHUNK)?
            .get(index as usize % CHUNK)
    }

    pub(super) fn position(&self, index: u32) -> Option<Packed> {
        Some(self.entry(index)?.packed)
    }

    pub(super) fn origin(&self, index: u32) -> Option<Origin> {
        let from = self.entry(index)?.from;
        Some(Origin {
            parent: from & PARENT,
            irreversible: from & 1 << 22 != 0,
            depth: from >> 23,
        })
    }

    /// Stores and queues a position. Returns false if it is already stored.
    pub(super) fn insert(&mut self, packed: Packed, origin: Origin, cost: impl FnOnce() -> usize) -> bool {
        if self.len * 2 >= self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut place = packed.hash() as usize & mask;
        while self.table[place] != NONE {
            if self.position(self.table[place]) == Some(packed) {
                return false;
            }
            place = (place + 1) & mask;
        }
        let index = self.len as u32;
        self.table[place] = index;
        let from =
            origin.parent & PARENT | u32::from(origin.irreversible) << 22 | origin.depth.min(511) << 23;
        if self.len.is_multiple_of(CHUNK) {
            self.chunks
                .push(Vec::with_capacity(if self.len == 0 { 64 } else { CHUNK }));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(StoredPosition {
                packed,
                from,
                next: NONE,
            });
        }
        self.len += 1;
        self.queue(index, cost());
        true
    }

    fn queue(&mut self, index: u32, cost: usize) {
        if self.queues.len() <= cost {
            self.queues.resize(cost + 1, (NONE, NONE));
        }
        let (first, last) = self.queues[cost];
        if first == NONE {
            self.queues[cost] = (index, index);
        } else {
            if let Some(entry) = self
                .chunks
                .get_mut(last as usize / CHUNK)
                .and_then(|chunk| chunk.get_mut(last as usize % CHUNK))
            {
                entry.next = index;
            }
            self.queues[cost].1 = index;
        }
        self.lowest = self.lowest.min(cost);
    }

    /// Removes the oldest queued position with the lowest cost.
    pub(super) fn pop(&mut self) -> Option<u32> {
        while let Some((first, last)) = self.queues.get(self.lowest).copied() {
            if first == NONE {
                self.lowest += 1;
                continue;
            }
            self.queues[self.lowest] = if first == last {
                (NONE, NONE)
            } else {
                (self.entry(first)?.next, last)
            };
            return Some(first);
        }
        None
    }

    fn grow(&mut self) {
        let mut table = vec![NONE; self.table.len() * 2];
        let mask = table.len() - 1;
        for (index, entry) in self.chunks.iter().flatten().enumerate() {
            let mut place = entry.packed.hash() as usize & mask;
            while table[place] != NONE {
                place = (place + 1) & mask;
            }
            table[place] = index as u32;
        }
        self.table = table;
    }
}
