//! The board's memory as a record: where in it a gap begins, and what stood on the board then.

use kiebitz_hardware::Timestamp;
use kiebitz_protocol::{Contents, Dump, Element, Field, Piece, START_POSITION};

use super::clock::Side;
use super::model::A_FEW;
use super::pace;
use super::sensors::{self, Sensors};
use super::start;

/// The elements after the moment when the board showed what `sensors` do, and the number of squares on which the memory
/// differs at that moment. `None` if the memory never shows that placement, or if the board has lost power since.
///
/// `halted` is the side whose clock was not running at that moment, and its time in seconds.
pub(super) fn missed<'a>(
    elements: &'a [Element],
    sensors: &Sensors,
    halted: Option<(Side, u32)>,
) -> Option<(usize, &'a [Element])> {
    let before = sensors.fields();
    let reports: Vec<(Field, Contents)> = sensors.reports().collect();
    let mut fields: Dump = [None; 64];
    let mut known = [false; 64];
    let mut time = None;
    let mut best = None;
    for (at, element) in elements.iter().enumerate() {
        match *element {
            Element::PieceChange { contents, field, .. } => {
                fields[usize::from(field.number())] = contents;
                known[usize::from(field.number())] = true;
            }
            Element::ClockTime {
                left,
                hours,
                minutes,
                seconds,
            } => {
                let side = if left { Side::Left } else { Side::Right };
                time = Some((side, sensors::seconds(hours, minutes, seconds)));
            }
            Element::StartPosition
            | Element::StartPositionTurned
            | Element::EmptyBoard
            | Element::PowerUp => {
                fields = tagged(*element);
                known = [true; 64];
                // The clock may have been set again; the memory does not record that.
                time = None;
            }
            _ => continue,
        }
        let off = (0..64).filter(|i| !known[*i] || fields[*i] != before[*i]).count();
        // Of equal fits, take the one that follows the last reports, then one that stood for a while, then the latest.
        let again = usize::MAX - reports_matched(&reports, &elements[..=at]);
        let then = elements.get(at + 1);
        let passing = matches!(then, Some(Element::PieceChange { quick: true, .. }));
        let rank = (off, contradicts(time, halted), again, passing);
        if best.is_none_or(|(best, _)| rank <= best) {
            best = Some((rank, at + 1));
        }
    }
    // The memory merges the flickering of a piece into one change.
    let ((off, ..), from) = best.filter(|((off, ..), _)| *off <= A_FEW)?;
    let missed = elements.get(from..)?;
    (!missed.contains(&Element::PowerUp)).then_some((off, missed))
}

/// The pieces that a board listed when its power came back for the last time, in any order, and what has changed since.
pub(super) fn found(elements: &[Element]) -> (Dump, &[Element]) {
    let mut fields: Dump = [None; 64];
    let power_up = elements.iter().rposition(|element| *element == Element::PowerUp);
    let listed = power_up.map_or(0, |power_up| power_up + 1);
    for (at, element) in elements.iter().enumerate().skip(listed) {
        match *element {
            Element::PieceChange { contents, field, .. }
                if contents.is_some() && fields[field.index()].is_none() =>
            {
                fields[field.index()] = contents;
            }
            _ => return (fields, &elements[at..]),
        }
    }
    (fields, &[])
}

/// How many of the last reports, the latest first, the elements end with as well. Of a piece that flickers they have one
/// change.
fn reports_matched(reports: &[(Field, Contents)], elements: &[Element]) -> usize {
    let mut changes = changes(elements).rev().peekable();
    let mut matched = 0;
    let mut last = None;
    for report in reports {
        if changes.next_if_eq(report).is_some() {
            matched += 1;
        } else if last != Some(report.0) {
            break;
        }
        last = Some(report.0);
    }
    matched
}

/// The changes among the elements.
pub(super) fn changes(elements: &[Element]) -> impl DoubleEndedIterator<Item = (Field, Contents)> {
    elements.iter().filter_map(|element| match *element {
        Element::PieceChange { field, contents, .. } => Some((field, contents)),
        _ => None,
    })
}

/// Whether two readings of the halted side's time are from different moments; a missing one contradicts nothing.
fn contradicts(a: Option<(Side, u32)>, b: Option<(Side, u32)>) -> bool {
    a.zip(b)
        .is_some_and(|((side, a), (other, b))| side != other || a.abs_diff(b) > 1)
}

/// The last start position that stood after `before`: the index of its element, and the placement.
pub(super) fn last_start(before: &Dump, elements: &[Element]) -> Option<(usize, Dump)> {
    starts(before, elements).pop()
}

/// The start positions that stood after `before`, each with the index of its element. Where pieces were only put right
/// between two, it is one, and the last counts.
pub(super) fn starts(before: &Dump, elements: &[Element]) -> Vec<(usize, Dump)> {
    let mut fields = *before;
    let mut starts: Vec<(usize, Dump)> = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let known = starts.len();
        match *element {
            Element::PieceChange { field, contents, .. } => {
                fields[field.index()] = contents;
                // The board does not tag a start position again that is reached by putting a piece or two right.
                if let Some((begun, start)) = starts.last_mut()
                    && *start != fields
                    && is_usual_start(&fields)
                    && !moved(&elements[*begun..=at], &fields)
                {
                    (*begun, *start) = (at, fields);
                }
            }
            Element::PowerUp | Element::EmptyBoard => fields = tagged(*element),
            Element::StartPosition | Element::StartPositionTurned => {
                fields = tagged(*element);
                starts.push((at, fields));
            }
            // A Chess960 position, if it is a start position at all.
            Element::FourRowsFilled if is_start_position(&fields) => starts.push((at, fields)),
            _ => {}
        }
        if let [.., (before, start), _] = &starts[..]
            && starts.len() > known
            && !moved(&elements[*before..at], start)
        {
            starts.remove(known - 1);
        }
    }
    starts
}

/// Whether a piece comes to a square that is not its own in a start position.
pub(super) fn moved(elements: &[Element], start: &Dump) -> bool {
    elements.iter().any(|element| match *element {
        Element::PieceChange { contents, field, .. } => {
            contents.is_some() && contents != start[field.index()]
        }
        _ => false,
    })
}

fn is_usual_start(fields: &Dump) -> bool {
    let usual = [Element::StartPosition, Element::StartPositionTurned].map(tagged);
    usual.contains(fields)
}

fn is_start_position(fields: &Dump) -> bool {
    let mut sensors = Sensors::new();
    sensors.set_all(Timestamp::from_micros(0), fields);
    let board = sensors.board();
    let mut turned = board.clone();
    turned.rotate_180();
    start::recognise(board).is_some() || start::recognise(&turned).is_some()
}

/// The elements, with changes added for pieces that stood somewhere too briefly to be recorded: of two changes of a field
/// in quick succession, the memory keeps the second. A field that is emptied although it was empty has held the piece
/// that was in a hand.
///
/// `in_hand` are the pieces that were in the air before, each with the field that it was lifted from, in that order.
pub(super) fn unmerged(
    elements: &[Element],
    before: &Dump,
    mut in_hand: Vec<(usize, Piece)>,
) -> Vec<Element> {
    let mut fields = *before;
    let mut all = Vec::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        if let Element::PieceChange { contents, field, .. } = *element {
            let was = core::mem::replace(&mut fields[field.index()], contents);
            match (was, contents) {
                (None, None) => {
                    let held = held(&in_hand, field).or_else(|| lifted_next(&elements[at + 1..], &fields));
                    all.extend(held.map(|piece| Element::PieceChange {
                        contents: Some(piece),
                        field,
                        quick: false,
                    }));
                }
                (Some(was), None) => in_hand.push((field.index(), was)),
                (_, Some(piece)) => in_hand.retain(|(from, other)| {
                    *from != field.index() && pace::is_white(*other) != pace::is_white(piece)
                }),
            }
        }
        all.push(*element);
    }
    all
}

/// The piece in a hand that was on the field for a moment: the one that was lifted last, unless it was captured there.
fn held(in_hand: &[(usize, Piece)], field: Field) -> Option<Piece> {
    let taken = in_hand.iter().rfind(|(from, _)| *from == field.index());
    let takes = |other: Piece| taken.is_none_or(|(_, taken)| pace::is_white(*taken) != pace::is_white(other));
    let held = in_hand.iter().rfind(|(_, other)| takes(*other));
    held.map(|(_, piece)| *piece)
}

/// The piece that is lifted next, if nothing is put down before.
fn lifted_next(then: &[Element], fields: &Dump) -> Option<Piece> {
    then.iter().find_map(|element| match *element {
        Element::PieceChange { contents, field, .. } => {
            Some(fields[field.index()].filter(|_| contents.is_none()))
        }
        _ => None,
    })?
}

/// What stands on the board when the memory records a whole placement in one byte.
pub(super) fn tagged(element: Element) -> Dump {
    match element {
        Element::StartPosition => START_POSITION,
        Element::StartPositionTurned => {
            let mut fields = START_POSITION;
            fields.reverse();
            fields
        }
        _ => [None; Field::COUNT],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(field: u8, contents: Contents) -> Element {
        let field = Field::new(field).expect("a field");
        Element::PieceChange {
            contents,
            field,
            quick: false,
        }
    }

    fn showing(fields: &Dump) -> Sensors {
        let mut sensors = Sensors::new();
        sensors.set_all(Timestamp::from_micros(0), fields);
        sensors
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
        let mut before = showing(&tagged(Element::StartPosition));
        for (millis, contents) in [(1, None), (2, pawn)] {
            before.set_field(
                Timestamp::from_micros(millis),
                Field::new(e2).expect("a field"),
                contents,
            );
        }
        assert_eq!(missed(&elements, &before, None), Some((0, &elements[3..])));
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

    /// The same opening in one game after the other: the pieces were set up in another order.
    #[test]
    fn a_game_that_begins_like_the_next_is_told_from_it() {
        let pawn = Some(Piece::WhitePawn);
        let set_up = |first: u8, second: u8| {
            let both = [first, second].map(|field| [change(field, None), change(field, pawn)]);
            [both.concat(), vec![Element::StartPosition]].concat()
        };
        // Six pawns go two squares each, as in both games.
        let opening: Vec<Element> = (50..56)
            .flat_map(|from| [change(from, None), change(from - 16, pawn)])
            .collect();
        let between = [set_up(48, 49), opening.clone()].concat();
        let next = [set_up(49, 48), opening.clone()].concat();
        let mut before = showing(&tagged(Element::StartPosition));
        let mut at = 0;
        for element in [set_up(50, 51), between.clone()].concat() {
            if let Element::PieceChange { field, contents, .. } = element {
                at += 1;
                before.set_field(Timestamp::from_micros(at), field, contents);
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
        let missed = missed(&elements, &before, None).map(|(_, missed)| missed.len());
        assert_eq!(missed, Some(next.len() + 1));
    }

    /// Two pieces change places, and the board does not tag the start position that stands then.
    #[test]
    fn a_start_that_is_put_right_begins_the_game() {
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

    /// A bishop that goes home crosses the square on which it stood when the gap began.
    #[test]
    fn a_placement_that_stood_is_told_from_one_in_passing() {
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
            missed(&elements, &showing(&before), None),
            Some((0, &elements[3..]))
        );
    }

    #[test]
    fn what_follows_the_last_known_placement_was_missed() {
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
        let before = showing(&before);
        assert_eq!(missed(&elements, &before, None), Some((0, &elements[3..])));
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

    #[test]
    fn a_board_that_lost_power_remembers_nothing() {
        let elements = [
            Element::StartPosition,
            change(52, None),
            Element::PowerUp,
            Element::End,
        ];
        let before = showing(&tagged(Element::StartPosition));
        assert_eq!(missed(&elements, &before, None), None);
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
        let before = showing(&tagged(Element::StartPosition));
        assert_eq!(
            missed(&elements, &before, Some((Side::Left, 110))),
            Some((0, &elements[4..]))
        );
    }
}
