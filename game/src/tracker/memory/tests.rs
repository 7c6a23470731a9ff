use shakmaty::Board;

use super::*;
use crate::position::fields::{field_of, wire_piece};

fn change(field: u8, contents: Contents) -> Element {
    let field = Field::new(field).expect("a field");
    Element::PieceChange {
        contents,
        field,
        quick: false,
    }
}

struct Heard {
    fields: Dump,
    /// Latest first.
    reports: Vec<(Field, Contents)>,
}

impl Heard {
    fn showing(fields: &Dump) -> Self {
        Self {
            fields: *fields,
            reports: Vec::new(),
        }
    }

    fn report(&mut self, field: Field, contents: Contents) {
        self.fields[field.index()] = contents;
        self.reports.insert(0, (field, contents));
    }

    fn missed<'e>(
        &self,
        elements: &'e [Element],
        halted: Option<(Side, u32)>,
        cleared: Option<&Dump>,
    ) -> Option<(usize, &'e [Element])> {
        missed(elements, &self.fields, &self.reports, halted, cleared)
    }
}

#[test]
fn last_reports_distinguish_the_first_game_from_the_next() {
    let (e2, pawn) = (52, Some(Piece::WhitePawn));
    let elements = [
        change(e2, None),
        change(e2, pawn),
        Element::StartPosition,
        change(55, None),
        change(39, pawn),
        change(39, None),
        change(55, pawn),
        Element::StartPosition,
        Element::End,
    ];
    let mut before = Heard::showing(&tagged(Element::StartPosition));
    for contents in [None, pawn] {
        before.report(Field::new(e2).expect("a field"), contents);
    }
    assert_eq!(before.missed(&elements, None, None), Some((0, &elements[3..])));
}

#[test]
fn a_piece_that_flickers_is_in_the_memory_once() {
    let field = |number: u8| Field::new(number).expect("a field");
    let (e2, e4, pawn) = (52, 36, Some(Piece::WhitePawn));
    let reports = [
        (field(e4), pawn),
        (field(e4), None),
        (field(e4), pawn),
        (field(e2), None),
    ];
    let elements = [change(e2, None), change(e4, pawn)];
    assert_eq!(reports_matched(&reports, &elements), 2);
    let elements = [change(e2, pawn), change(e4, pawn)];
    assert_eq!(reports_matched(&reports, &elements), 1);
}

/// The queen slides across e4. The memory records that she left e4, but not that she was there.
#[test]
fn a_gap_begins_before_a_piece_seen_on_its_way_leaves() {
    let queen = Some(Piece::WhiteQueen);
    let (a8, e4, f3) = (0, 36, 45);
    let mut fields = tagged(Element::StartPosition);
    fields[a8] = queen;
    let set_up = change(0, queen);
    let passed = [change(0, None), change(36, None), change(45, queen)];
    let elements = [&[Element::StartPosition, set_up][..], &passed, &[Element::End]].concat();
    fields[a8] = None;
    fields[e4] = queen;
    assert_ne!(fields[f3], queen);
    let before = Heard::showing(&fields);
    assert_eq!(before.missed(&elements, None, None), Some((1, &elements[3..])));
}

/// Two games in a row have the same opening; only the order in which the pieces were set up differs.
#[test]
fn two_games_with_the_same_opening_are_distinguished() {
    let pawn = Some(Piece::WhitePawn);
    let set_up = |first: u8, second: u8| {
        let both = [first, second].map(|field| [change(field, None), change(field, pawn)]);
        [both.concat(), vec![Element::StartPosition]].concat()
    };
    // Six pawns go two squares each, in both games.
    let opening: Vec<Element> = (50..56)
        .flat_map(|from| [change(from, None), change(from - 16, pawn)])
        .collect();
    let between = [set_up(48, 49), opening.clone()].concat();
    let next = [set_up(49, 48), opening.clone()].concat();
    let mut before = Heard::showing(&tagged(Element::StartPosition));
    for element in [set_up(50, 51), between.clone()].concat() {
        if let Element::PieceChange { field, contents, .. } = element {
            before.report(field, contents);
        }
    }
    let elements = [
        &[Element::StartPosition][..],
        &set_up(50, 51),
        &between,
        &next,
        &[Element::End],
    ]
    .concat();
    let missed = before
        .missed(&elements, None, None)
        .map(|(_, missed)| missed.len());
    assert_eq!(missed, Some(next.len() + 1));
}

/// After a restart, the journal has only the final placement of the previous game and the start of the next one.
#[test]
fn the_gap_begins_at_the_start_position_after_the_known_game() {
    let pawn = Some(Piece::WhitePawn);
    // Three pawns go two squares each, and home again.
    let game = |files: [u8; 3]| {
        files
            .map(|file| [change(48 + file, None), change(32 + file, pawn)])
            .concat()
    };
    let home = |files: [u8; 3]| {
        files
            .map(|file| [change(32 + file, None), change(48 + file, pawn)])
            .concat()
    };
    let (first, second) = ([0, 1, 2], [5, 6, 7]);
    let start = [Element::StartPosition];
    let elements = [
        &start[..],
        &game(first),
        &home(first),
        &start,
        &game(second),
        &home(second),
        &start,
    ]
    .concat();
    let known = Heard::showing(&tagged(Element::StartPosition));
    assert_eq!(known.missed(&elements, None, None), Some((0, &elements[27..])));
    let mut ended = tagged(Element::StartPosition);
    for file in first {
        ended.swap(usize::from(48 + file), usize::from(32 + file));
    }
    let found = known.missed(&elements, None, Some(&ended));
    assert_eq!(found, Some((0, &elements[14..])));
}

/// Black's king replaces another piece on its square, after the four rows were full.
#[test]
fn the_gap_begins_at_a_corrected_start_position_after_the_known_game() {
    let (pawn, king) = (Some(Piece::WhitePawn), tagged(Element::StartPosition)[4]);
    let elements = [
        Element::StartPosition,
        change(52, None),
        change(36, pawn),
        change(4, None),
        change(36, None),
        change(52, pawn),
        change(4, Some(Piece::BlackQueen)),
        Element::FourRowsFilled,
        change(4, king),
    ];
    let mut ended = tagged(Element::StartPosition);
    ended.swap(52, 36);
    let known = Heard::showing(&tagged(Element::StartPosition));
    assert_eq!(known.missed(&elements, None, Some(&ended)), Some((0, &[][..])));
}

#[test]
fn a_start_position_found_with_the_power_begins_another_game() {
    let usual = tagged(Element::StartPosition);
    let found = (0..64).filter(|field| usual[usize::from(*field)].is_some());
    let found: Vec<Element> = found
        .map(|field| change(field, usual[usize::from(field)]))
        .collect();
    let start = [Element::StartPosition];
    let elements = [&start[..], &[Element::PowerUp], &found, &start].concat();
    let starts = starts(&[None; Field::COUNT], &elements);
    assert_eq!(starts, [(0, usual), (elements.len() - 1, usual)]);
}

#[test]
fn castling_with_the_first_move_is_not_another_start_position() {
    let placed = |fen: &str| -> Dump {
        let board = Board::from_ascii_board_fen(fen.as_bytes()).expect("a placement");
        let mut fields = [None; 64];
        for (square, piece) in board {
            let field = field_of(square, false).expect("a field");
            fields[field.index()] = wire_piece(piece);
        }
        fields
    };
    let start = placed("bnrknrqb/pppppppp/8/8/8/8/PPPPPPPP/BNRKNRQB");
    let castled = placed("bnrknrqb/pppppppp/8/8/8/8/PPPPPPPP/BNKRNRQB");
    let changed = (0..64).filter(|field| start[usize::from(*field)] != castled[usize::from(*field)]);
    let castling: Vec<Element> = changed
        .map(|field| change(field, castled[usize::from(field)]))
        .collect();
    let elements = [
        &[Element::FourRowsFilled][..],
        &castling,
        &[Element::FourRowsFilled],
    ]
    .concat();
    assert_eq!(starts(&start, &elements), [(0, start)]);
}

/// Two pieces change places, and the board does not tag the resulting start position.
#[test]
fn a_corrected_start_position_begins_the_game() {
    let usual = tagged(Element::StartPosition);
    let mut wrong = usual;
    wrong.swap(61, 62);
    let put_right = [
        change(61, None),
        change(62, None),
        change(62, usual[62]),
        change(61, usual[61]),
    ];
    let filled = (0..64).filter(|field| wrong[usize::from(*field)].is_some());
    let set_up: Vec<Element> = filled
        .map(|field| change(field, wrong[usize::from(field)]))
        .collect();
    let elements = [&set_up[..], &[Element::FourRowsFilled], &put_right].concat();
    let begun = elements.len() - 1;
    assert_eq!(starts(&[None; Field::COUNT], &elements), [(begun, usual)]);
}

/// A bishop on its way home crosses the square on which it stood when the gap began.
#[test]
fn a_placement_that_stood_is_preferred_to_one_in_passing() {
    let (bishop, king) = (Some(Piece::WhiteBishop), Some(Piece::WhiteKing));
    let quick = |field: u8, contents: Contents| {
        let field = Field::new(field).expect("a field");
        Element::PieceChange {
            contents,
            field,
            quick: true,
        }
    };
    let mut before = [None; 64];
    (before[49], before[60]) = (bishop, king);
    let elements = [
        Element::EmptyBoard,
        change(60, king),
        change(49, bishop),
        change(49, None),
        quick(56, bishop),
        change(56, None),
        quick(49, bishop),
        quick(28, bishop),
        quick(49, None),
    ];
    assert_eq!(
        Heard::showing(&before).missed(&elements, None, None),
        Some((0, &elements[3..]))
    );
}

#[test]
fn elements_after_the_last_known_placement_are_missed() {
    let (e2, e4, e7) = (52, 36, 12);
    let elements = [
        Element::StartPosition,
        change(e2, None),
        change(e4, Some(Piece::WhitePawn)),
        change(e7, None),
        Element::End,
    ];
    let mut before = tagged(Element::StartPosition);
    before[52] = None;
    before[36] = Some(Piece::WhitePawn);
    let before = Heard::showing(&before);
    assert_eq!(before.missed(&elements, None, None), Some((0, &elements[3..])));
}

#[test]
fn a_piece_that_was_captured_at_once_is_restored() {
    let (d7, b5, c4) = (11, 25, 34);
    let (bishop, pawn) = (Some(Piece::BlackBishop), Some(Piece::WhitePawn));
    let mut before = [None; 64];
    (before[usize::from(d7)], before[usize::from(c4)]) = (bishop, pawn);
    let [lifted, emptied] = [change(d7, None), change(b5, None)];
    let taken = [change(c4, None), change(b5, pawn)];
    let stood = change(b5, bishop);
    for order in [[lifted, emptied], [emptied, lifted]] {
        let restored = unmerged(&[&order[..], &taken[..]].concat(), &before, Vec::new());
        let mut expected = [&order[..], &taken[..]].concat();
        let at = expected.iter().position(|element| *element == emptied);
        expected.insert(at.expect("b5 is emptied"), stood);
        assert_eq!(restored, expected);
    }
}

/// A knight takes a pawn, and another pawn retakes at once.
#[test]
fn a_captor_that_was_captured_at_once_by_the_same_kind_of_piece_is_restored() {
    let (h6, g4, f3) = (23, 38, 45);
    let (knight, pawn) = (Some(Piece::BlackKnight), Some(Piece::WhitePawn));
    let mut before = [None; 64];
    before[usize::from(h6)] = knight;
    (before[usize::from(g4)], before[usize::from(f3)]) = (pawn, pawn);
    let recorded = [change(h6, None), change(g4, pawn), change(f3, None)];
    let restored = unmerged(&recorded, &before, Vec::new());
    let [lifted, retaken, left] = recorded;
    assert_eq!(restored, [lifted, change(g4, knight), retaken, left]);
    // A pawn that is nudged has not been captured.
    let nudged = [change(g4, pawn)];
    assert_eq!(unmerged(&nudged, &before, Vec::new()), nudged);
}

#[test]
fn a_board_that_lost_power_remembers_nothing() {
    let elements = [
        Element::StartPosition,
        change(52, None),
        Element::PowerUp,
        Element::End,
    ];
    let before = Heard::showing(&tagged(Element::StartPosition));
    assert_eq!(before.missed(&elements, None, None), None);
}

#[test]
fn the_clock_distinguishes_a_repeated_placement() {
    let time = |seconds| Element::ClockTime {
        left: true,
        hours: 0,
        minutes: 1,
        seconds,
    };
    let elements = [
        Element::StartPosition,
        time(50),
        change(52, None),
        change(52, Some(Piece::WhitePawn)),
        time(40),
        Element::End,
    ];
    let before = Heard::showing(&tagged(Element::StartPosition));
    assert_eq!(
        before.missed(&elements, Some((Side::Left, 110)), None),
        Some((0, &elements[4..]))
    );
}
