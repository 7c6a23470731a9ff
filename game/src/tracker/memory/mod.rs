//! Reads the board's memory as a record: at which element a gap begins, and which placements stood on the board. This
//! module knows nothing of lines of play.

pub(crate) mod game_end;
pub(crate) mod pace;

use std::collections::BTreeSet;

use kiebitz_protocol::{Color, Contents, Dump, Element, Field, Piece, START_POSITION, SideTime};

use crate::clock::Side;
use crate::model::A_FEW;
use crate::position::{Variant, fields::board_of, start};

/// Finds the moment at which the board showed `before` and had just sent `reports` (latest first). Returns the number
/// of squares on which the memory differs from `before` at that moment, and the elements after it. `None` if the memory
/// never shows that placement, or if the board has lost power since.
///
/// `halted` is the side whose clock was not running, with its time in seconds; `cleared` is the final placement of the
/// game before.
pub(crate) fn missed<'a>(
    elements: &'a [Element],
    before: &Dump,
    reports: &[(Field, Contents)],
    halted: Option<(Side, u32)>,
    cleared: Option<&Dump>,
) -> Option<(usize, &'a [Element])> {
    let mut fields: Dump = [None; 64];
    let mut known = [false; 64];
    let mut time = None;
    let mut best = None;
    // Indices of the changes that complete start positions. The tag of a start position follows the change.
    let completing = |(at, _): (usize, Dump)| match elements.get(at) {
        Some(Element::PieceChange { .. }) => at,
        _ => at.saturating_sub(1),
    };
    let starts = starts(&[None; Field::COUNT], elements).into_iter();
    let starts: BTreeSet<usize> = starts.map(completing).collect();
    let mut games = GamesSince::new(cleared);
    for (at, element) in elements.iter().enumerate() {
        match *element {
            Element::PieceChange { contents, field, .. } => {
                fields[usize::from(field.number())] = contents;
                known[usize::from(field.number())] = true;
                let begins = starts.contains(&at);
                games.follow(begins, &fields);
                if begins {
                    time = None;
                }
            }
            Element::ClockTime { .. } => {
                time = press(element).map(|(side, time)| (side, time.total_seconds()))
            }
            Element::StartPosition
            | Element::StartPositionTurned
            | Element::EmptyBoard
            | Element::PowerUp => {
                fields = tagged(*element);
                known = [true; 64];
                // The clock may have been set again, which the memory does not record.
                time = None;
            }
            _ => continue,
        }
        let off = (0..64).filter(|i| !known[*i] || fields[*i] != before[*i]).count();
        // Among moments that fit equally well, the first of these conditions that only some of them meet decides:
        // - The clock's time agrees.
        // - More of the last reports come right before it.
        // - It is in the first game after `cleared`.
        // - `before` shows its change.
        // - The placement stood for a while.
        // - It is the latest.
        let again = usize::MAX - reports_matched(reports, &elements[..=at]);
        let then = elements.get(at + 1);
        let passing = matches!(then, Some(Element::PieceChange { quick: true, .. }));
        let another_game = games.begun.is_some_and(|begun| begun != 1);
        // If `before` does not show the change, the change came later, and the moment before it fits as well.
        let later = matches!(element, Element::PieceChange { contents, field, .. }
            if before[field.index()] != *contents);
        let rank = (
            off,
            contradicts(time, halted),
            again,
            another_game,
            later,
            passing,
        );
        if best.is_none_or(|(best, _)| rank <= best) {
            best = Some((rank, at + 1));
        }
    }
    // The memory merges the changes of a flickering piece, so a few squares may differ.
    let ((off, ..), from) = best.filter(|((off, ..), _)| *off <= A_FEW)?;
    let missed = elements.get(from..)?;
    (!missed.contains(&Element::PowerUp)).then_some((off, missed))
}

/// Counts the games that have begun since `placement` stood on the board; `begun` is `None` before.
struct GamesSince<'a> {
    placement: Option<&'a Dump>,
    begun: Option<usize>,
}

impl<'a> GamesSince<'a> {
    fn new(placement: Option<&'a Dump>) -> Self {
        Self {
            placement,
            begun: None,
        }
    }

    fn follow(&mut self, begins: bool, fields: &Dump) {
        let Some(placement) = self.placement else { return };
        // A last move may be missing from the record, and kings may show the result, so a few squares may differ.
        let off = (0..64).filter(|i| fields[*i] != placement[*i]).count();
        if begins {
            self.begun = self.begun.map(|begun| begun + 1);
        } else if off <= A_FEW {
            self.begun = Some(0);
        }
    }
}

/// Returns the pieces that the board listed when its power last came back, and the elements after the list.
pub(crate) fn found(elements: &[Element]) -> (Dump, &[Element]) {
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

/// Whether the board lost its power in a gap; `missed` is the result of [`missed`] for the moment before the gap. `None`
/// if the record does not show it, for example because the pieces stood as before the gap when the power last came back.
pub(crate) fn lost_power(elements: &[Element], missed: Option<(usize, &[Element])>) -> Option<bool> {
    let (_, since) = found(elements);
    let powered_up = elements.contains(&Element::PowerUp) && !since.contains(&Element::Downloaded);
    match missed {
        Some((off, missed)) if begins_with_power(elements, missed) => (powered_up && off > 0).then_some(true),
        Some(_) => Some(false),
        None => powered_up.then_some(true),
    }
}

/// Whether the record begins when the power came back, so that it does not cover the time before: no square changed
/// between the list of pieces and `missed`, and the memory was not read during `missed`.
pub(crate) fn begins_with_power(elements: &[Element], missed: &[Element]) -> bool {
    let (_, since) = found(elements);
    let unmoved = &since[..since.len().saturating_sub(missed.len())];
    elements.contains(&Element::PowerUp)
        && !missed.contains(&Element::Downloaded)
        && changes(unmoved).next().is_none()
}

/// Returns how many of `reports`, counted from the latest, stand at the end of `elements`. Reports of a flickering
/// piece count once.
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

pub(crate) fn changes(elements: &[Element]) -> impl DoubleEndedIterator<Item = (Field, Contents)> {
    elements.iter().filter_map(|element| match *element {
        Element::PieceChange { field, contents, .. } => Some((field, contents)),
        _ => None,
    })
}

/// `None` unless the element records a press.
pub(crate) fn press(element: &Element) -> Option<(Side, SideTime)> {
    let Element::ClockTime {
        left,
        hours,
        minutes,
        seconds,
    } = *element
    else {
        return None;
    };
    let time = SideTime {
        hours,
        minutes,
        seconds,
        ..SideTime::default()
    };
    Some((if left { Side::Left } else { Side::Right }, time))
}

/// Whether two times of the halted side contradict each other. An unknown time never does.
fn contradicts(a: Option<(Side, u32)>, b: Option<(Side, u32)>) -> bool {
    a.zip(b)
        .is_some_and(|((side, a), (other, b))| side != other || a.abs_diff(b) > 1)
}

pub(crate) fn last_start(before: &Dump, elements: &[Element]) -> Option<(usize, Dump)> {
    starts(before, elements).pop()
}

/// Returns the start positions after `before`, each with the index of its element. If pieces were only adjusted between
/// several start positions, only the last of them counts.
pub(crate) fn starts(before: &Dump, elements: &[Element]) -> Vec<(usize, Dump)> {
    let mut fields = *before;
    let mut starts: Vec<(usize, Dump)> = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let known = starts.len();
        match *element {
            Element::PieceChange { field, contents, .. } => {
                fields[field.index()] = contents;
                // If a start position is reached by adjusting a piece or two, the board does not tag it again.
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
            // A Chess960 position, or an unfinished one in which a piece or two must still be put right.
            Element::FourRowsFilled => starts.push((at, fields)),
            _ => {}
        }
        if let [.., (before, start), _] = &starts[..]
            && starts.len() > known
            && !moved(&elements[*before..at], start)
            && !elements[*before..at].contains(&Element::PowerUp)
        {
            starts.remove(known - 1);
        }
    }
    starts.retain(|(_, start)| is_start_position(start));
    starts.dedup_by(|(_, next), (_, start)| is_castled(start, next));
    starts
}

fn is_castled(start: &Dump, next: &Dump) -> bool {
    [false, true].into_iter().any(|turned| {
        let from = start::recognise(&board_of(start, turned));
        let valid = from.filter(|(variant, _)| *variant == Variant::Chess960);
        valid.is_some_and(|(_, state)| start::is_castled(&state, &board_of(next, turned)))
    })
}

/// Whether a piece comes to a square that is not its own in `start`.
pub(crate) fn moved(elements: &[Element], start: &Dump) -> bool {
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

pub(crate) fn is_start_position(fields: &Dump) -> bool {
    let boards = [false, true].map(|turned| board_of(fields, turned));
    boards.iter().any(|board| start::recognise(board).is_some())
}

/// Returns the elements with added changes for pieces that stood on a field too briefly to be recorded. Of two changes
/// of a field in quick succession, the memory keeps only the second. So if an empty field is emptied, a piece from a
/// hand had stood there; if a field receives a piece like the one it had, a captor had stood there and was captured.
///
/// `in_hand` has the pieces that were in the air before, with their fields, first lifted first.
pub(crate) fn unmerged(
    elements: &[Element],
    before: &Dump,
    mut in_hand: Vec<(usize, Piece)>,
) -> Vec<Element> {
    let mut fields = *before;
    let mut all = Vec::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        if let Element::PieceChange { contents, field, .. } = *element {
            let was = core::mem::replace(&mut fields[field.index()], contents);
            let between = match (was, contents) {
                (None, None) => held(&in_hand, field).or_else(|| lifted_next(&elements[at + 1..], &fields)),
                (Some(was), Some(piece)) if was == piece => captor(&in_hand, piece),
                _ => None,
            };
            all.extend(between.map(|piece| Element::PieceChange {
                contents: Some(piece),
                field,
                quick: false,
            }));
            match (was, contents) {
                (Some(was), None) => in_hand.push((field.index(), was)),
                (None, None) => {}
                (_, Some(piece)) => in_hand
                    .retain(|(from, other)| *from != field.index() && is_white(*other) != is_white(piece)),
            }
        }
        all.push(*element);
    }
    all
}

/// Returns the piece in a hand that stood on the field for a moment: the last one lifted or, if a piece was lifted from
/// this very field, its captor.
fn held(in_hand: &[(usize, Piece)], field: Field) -> Option<Piece> {
    let taken = in_hand.iter().rfind(|(from, _)| *from == field.index());
    let takes = |other: Piece| taken.is_none_or(|(_, taken)| is_white(*taken) != is_white(other));
    let held = in_hand.iter().rfind(|(_, other)| takes(*other));
    held.map(|(_, piece)| *piece)
}

/// Returns the piece in a hand that captured `captured`: the one of the other side that was lifted last.
fn captor(in_hand: &[(usize, Piece)], captured: Piece) -> Option<Piece> {
    let other = in_hand
        .iter()
        .rfind(|(_, piece)| is_white(*piece) != is_white(captured));
    other.map(|(_, piece)| *piece)
}

fn lifted_next(then: &[Element], fields: &Dump) -> Option<Piece> {
    then.iter().find_map(|element| match *element {
        Element::PieceChange { contents, field, .. } => {
            Some(fields[field.index()].filter(|_| contents.is_none()))
        }
        _ => None,
    })?
}

pub(crate) fn is_white(piece: Piece) -> bool {
    piece.color() == Some(Color::White)
}

/// Returns the placement that a tag records: a start position, or an empty board for every other element.
pub(crate) fn tagged(element: Element) -> Dump {
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
mod tests;
