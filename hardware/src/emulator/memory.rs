//! The board's memory (EEPROM), a ring buffer of the changes that the board has scanned.

use std::collections::VecDeque;

use kiebitz_protocol::{ClockTimes, Contents, Dump, Element, Field, START_POSITION};

use crate::facts::{MEMORY_SIZE, QUICK_CHANGE};
use crate::time::Timestamp;

/// A ring buffer of elements, in which the oldest bytes are overwritten.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    ring: VecDeque<u8>,
    /// The last element of the ring, if it is a piece change.
    last: Option<LastChange>,
    changed_at: Option<Timestamp>,
    /// Whether more than two pieces have left the start position since it was recorded.
    left_start: bool,
    /// Number of bytes at the end of the ring that have not been reported on a bus.
    unreported_bytes: usize,
    /// The last answer to a query for changes.
    last_changes: Vec<u8>,
    /// Number of bytes from the last start tag to the end of the ring. `None` without a tag.
    since_start: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct LastChange {
    field: Field,
    before: Contents,
    after: Contents,
    /// Size of the element at the end of the ring.
    bytes: usize,
}

impl Memory {
    /// Records a power-up and the pieces found. The board forgets which changes it has reported on the bus.
    pub(super) fn power_up(&mut self, now: Timestamp, found: &Dump) {
        self.unreported_bytes = 0;
        self.last_changes.clear();
        for _ in 0..3 {
            self.record(Element::Nothing);
        }
        self.record(Element::PowerUp);
        self.left_start = true;
        self.record_pieces(now, found);
        self.record_start(found);
    }

    pub(super) fn start_tag(&mut self, now: Timestamp, found: &Dump) {
        self.since_start = Some(0);
        self.record(Element::StartTag);
        self.record_pieces(now, found);
    }

    /// Records the change of a square. `seen` is the scanned contents of all squares.
    pub(super) fn piece_change(&mut self, now: Timestamp, field: Field, before: Contents, seen: &Dump) {
        self.change(now, field, before, seen[field.index()]);
        self.record_start(seen);
    }

    /// Records a press with the time of the stopped side.
    pub(super) fn lever_change(&mut self, times: &ClockTimes) {
        let left = times.lever_right_high;
        let side = if left { times.left } else { times.right };
        let (hours, minutes, seconds) = (side.hours, side.minutes, side.seconds);
        self.record(Element::ClockTime {
            left,
            hours,
            minutes,
            seconds,
        });
    }

    /// Returns the data of EE_MOVES, oldest first. Then records the download itself.
    pub(super) fn read(&mut self) -> Vec<u8> {
        let mut data: Vec<u8> = self.ring.iter().copied().collect();
        Element::End.encode(&mut data);
        self.record(Element::Downloaded);
        data
    }

    /// Returns the changes since the last call.
    pub(super) fn changes(&mut self) -> Vec<u8> {
        // A reported change must not be overwritten.
        self.last = None;
        let reported = self.ring.len().saturating_sub(self.unreported_bytes);
        self.unreported_bytes = 0;
        self.last_changes = self.ring.iter().skip(reported).copied().collect();
        self.last_changes.clone()
    }

    pub(super) fn last_changes(&self) -> &[u8] {
        &self.last_changes
    }

    /// Returns the elements from the last start tag on, without unreported changes. Empty without a tag.
    pub(super) fn since_start_tag(&self) -> Vec<u8> {
        let bytes = self.since_start.unwrap_or(0);
        let begin = self.ring.len().saturating_sub(bytes);
        let data = self.ring.iter().skip(begin).copied();
        data.take(bytes.saturating_sub(self.unreported_bytes)).collect()
    }

    fn record_pieces(&mut self, now: Timestamp, found: &Dump) {
        for (field, contents) in Field::all().zip(found).filter(|(_, contents)| contents.is_some()) {
            self.change(now, field, None, *contents);
        }
    }

    fn change(&mut self, now: Timestamp, field: Field, before: Contents, contents: Contents) {
        let quick = self
            .changed_at
            .is_some_and(|last| now.saturating_duration_since(last) < QUICK_CHANGE);
        self.changed_at = Some(now);
        // If a piece flickers on its square, the last change is overwritten.
        let flickers = self
            .last
            .filter(|last| quick && last.field == field && last.before == contents);
        let first_before = match flickers {
            Some(last) => {
                self.ring.truncate(self.ring.len().saturating_sub(last.bytes));
                self.unreported_bytes = self.unreported_bytes.saturating_sub(last.bytes);
                self.since_start = self.since_start.map(|since| since.saturating_sub(last.bytes));
                last.after
            }
            None => before,
        };
        let bytes = self.record(Element::PieceChange {
            contents,
            field,
            quick,
        });
        self.last = Some(LastChange {
            field,
            before: first_before,
            after: contents,
            bytes,
        });
    }

    /// Records a start position or an empty board when it appears, but not if at most two pieces had left the start
    /// position since.
    fn record_start(&mut self, seen: &Dump) {
        if seen.iter().all(Option::is_none) {
            if self.left_start {
                self.record(Element::EmptyBoard);
                self.left_start = false;
            }
            return;
        }
        let differences = start_differences(seen);
        let tag = match differences {
            (0, _) => Element::StartPosition,
            (_, 0) => Element::StartPositionTurned,
            _ if four_rows_filled(seen) => Element::FourRowsFilled,
            (normal, turned) => {
                self.left_start |= normal.min(turned) > 2;
                return;
            }
        };
        if self.left_start {
            self.record(tag);
            self.left_start = false;
        }
    }

    fn record(&mut self, element: Element) -> usize {
        let mut bytes = Vec::new();
        element.encode(&mut bytes);
        self.ring.extend(&bytes);
        self.last = None;
        let surplus = self.ring.len().saturating_sub(MEMORY_SIZE);
        self.ring.drain(..surplus);
        self.unreported_bytes = (self.unreported_bytes + bytes.len()).min(self.ring.len());
        self.since_start = self
            .since_start
            .map(|since| (since + bytes.len()).min(self.ring.len()));
        bytes.len()
    }
}

/// Counts the squares that differ from the start position, for both orientations of the board.
fn start_differences(seen: &Dump) -> (usize, usize) {
    let missing = |turned: bool| {
        Field::all()
            .filter(|field| {
                let at = if turned { field.turned() } else { *field };
                START_POSITION[field.index()] != seen[at.index()]
            })
            .count()
    };
    (missing(false), missing(true))
}

/// Returns whether the two rows of each player are filled, with any pieces, and the rows between are empty.
fn four_rows_filled(seen: &Dump) -> bool {
    Field::all().all(|field| (2..6).contains(&(field.number() / 8)) == seen[field.index()].is_none())
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use kiebitz_protocol::{Piece, eeprom};

    const START: Timestamp = Timestamp::from_micros(1_000_000);

    fn elements(memory: &mut Memory) -> Vec<Element> {
        eeprom::elements(&memory.read()).map(Result::unwrap).collect()
    }

    #[test]
    fn power_up_is_followed_by_the_pieces_found_and_the_start_tag() {
        let mut memory = Memory::default();
        memory.power_up(START, &START_POSITION);
        let elements = elements(&mut memory);
        assert_eq!(
            elements[..4],
            [
                Element::Nothing,
                Element::Nothing,
                Element::Nothing,
                Element::PowerUp
            ]
        );
        assert_eq!(elements.len(), 4 + 32 + 2);
        assert_eq!(elements[36..], [Element::StartPosition, Element::End]);
    }

    #[test]
    fn a_start_position_left_by_one_piece_is_not_recorded_again() {
        let mut memory = Memory::default();
        let mut board = START_POSITION;
        memory.power_up(START, &board);
        let e2 = Field::new(52).unwrap();
        for (millis, contents) in [(1000, None), (3000, Some(Piece::WhitePawn))] {
            let before = board[52];
            board[52] = contents;
            memory.piece_change(START + Duration::from_millis(millis), e2, before, &board);
        }
        let elements = elements(&mut memory);
        let tags = elements
            .iter()
            .filter(|element| **element == Element::StartPosition)
            .count();
        assert_eq!(tags, 1);
    }

    #[test]
    fn a_flickering_piece_overwrites_its_last_change() {
        let mut memory = Memory::default();
        let mut board = [None; Field::COUNT];
        board[0] = Some(Piece::BlackKing);
        let field = Field::new(20).unwrap();
        for flicker in 0..41_u64 {
            let before = board[20];
            board[20] = if flicker % 2 == 0 {
                Some(Piece::BlackRook)
            } else {
                None
            };
            memory.piece_change(
                START + Duration::from_millis(100 * flicker),
                field,
                before,
                &board,
            );
        }
        let changes: Vec<Element> = elements(&mut memory);
        let last = Element::PieceChange {
            contents: Some(Piece::BlackRook),
            field,
            quick: true,
        };
        assert!(changes.len() <= 3 && changes.contains(&last), "{changes:?}");
    }

    #[test]
    fn the_oldest_bytes_are_overwritten() {
        let mut memory = Memory::default();
        let times = ClockTimes::default();
        for _ in 0..5000 {
            memory.lever_change(&times);
        }
        assert_eq!(memory.read().len(), MEMORY_SIZE + 1);
    }
}
