//! Invents plausible times for the elements of the board's memory, which have none.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::QUICK_CHANGE;
use kiebitz_protocol::{Dump, Element};

use super::{is_start_position, is_white};
use crate::model::Model;

/// Returns times between `from` and `to`. Motions take the time that hands need; the remaining time is thinking time,
/// which passes before the other side's pieces are touched. If the time is too short, all steps are shortened alike.
///
/// `touched` says whether the last piece touched was White's, and is updated; `None` if another element, such as a
/// press, came since.
pub(crate) fn times(
    model: &Model,
    (from, to): (Timestamp, Timestamp),
    elements: &[Element],
    before: &Dump,
    touched: &mut Option<bool>,
) -> Vec<Timestamp> {
    let mut fields = *before;
    let goes_on = touched.is_some();
    let mut set_up = is_start_position(before);
    // A motion must go on before the tracker stops waiting for it (**pause**), and thinking must take longer
    // (**rest**).
    let (going_on, thinking) = (model.pause * 9 / 10, model.rest * 5 / 4);
    let step = |element: &Element| match *element {
        Element::PieceChange {
            contents,
            field,
            quick,
        } => {
            let was = core::mem::replace(&mut fields[field.index()], contents);
            let white = contents.or(was).is_some_and(is_white);
            match (quick, touched.replace(white) == Some(white)) {
                // Nobody moves a piece as soon as all have been set up.
                _ if core::mem::take(&mut set_up) => (model.doubt, true),
                (true, _) => (QUICK_CHANGE / 3, false),
                (false, true) => (going_on, false),
                (false, false) => (thinking, true),
            }
        }
        _ => {
            *touched = None;
            match element {
                Element::ClockTime { .. } => (going_on, false),
                // The clock was stopped.
                Element::Nothing => (thinking, true),
                _ => (Duration::ZERO, false),
            }
        }
    };
    let steps: Vec<(Duration, bool)> = elements.iter().map(step).collect();
    let needed: Duration = steps.iter().map(|(length, _)| *length).sum();
    let span = to.saturating_duration_since(from);
    let shortened = (span.as_secs_f64() / needed.as_secs_f64()).min(1.0);
    let spare = span.saturating_sub(needed);
    let thoughts = steps.iter().filter(|(_, thinks)| *thinks).count() as u32;
    // The last change may begin a motion, so little time is left after it.
    let after_last = (spare / (thoughts + 1)).min(model.pause);
    let each = (spare - after_last) / thoughts.max(1);
    // A record without thinking time is a single motion. Unless it continues an earlier motion, it is placed late.
    let late = thoughts == 0 && !goes_on;
    let mut passed = if late { spare - after_last } else { Duration::ZERO };
    let at = steps.into_iter().map(|(length, thinks)| {
        passed += length.mul_f64(shortened) + if thinks { each } else { Duration::ZERO };
        from + passed.min(span)
    });
    at.collect()
}

#[cfg(test)]
mod tests {
    use kiebitz_protocol::{Contents, Field, Piece};

    use super::*;

    fn change(field: u8, contents: Contents, quick: bool) -> Element {
        Element::PieceChange {
            contents,
            field: Field::new(field).expect("a field"),
            quick,
        }
    }

    fn seconds(span: u64, elements: &[Element], before: &Dump) -> Vec<f64> {
        let from = Timestamp::from_micros(1_000_000_000);
        let times = times(
            &Model::FITTED,
            (from, from + Duration::from_secs(span)),
            elements,
            before,
            &mut None,
        );
        times
            .iter()
            .map(|at| at.saturating_duration_since(from).as_secs_f64())
            .collect()
    }

    #[test]
    fn a_drawn_piece_does_not_rest_on_its_way() {
        let (f2, f3, f4, e7) = (53, 45, 37, 12);
        let mut before = [None; 64];
        before[f2] = Some(Piece::WhitePawn);
        before[e7] = Some(Piece::BlackPawn);
        let pawn = Some(Piece::WhitePawn);
        let drawn = [
            change(f2 as u8, None, false),
            change(f3, pawn, true),
            change(f4, pawn, false),
            change(f3, None, true),
            change(e7 as u8, None, false),
        ];
        let at = seconds(80, &drawn, &before);
        assert!(at[3] - at[0] < 0.6, "{at:?}");
        assert!(at[4] - at[3] > 20.0, "the rest is thinking: {at:?}");
    }

    #[test]
    fn an_unfinished_motion_continues_before_the_other_side_thinks() {
        let (e7, e6, e5) = (12, 20, 28);
        let mut before = [None; 64];
        before[e7] = Some(Piece::BlackPawn);
        let pawn = Some(Piece::BlackPawn);
        let mut touched = None;
        let from = Timestamp::from_micros(1_000_000_000);
        let first = [change(e7 as u8, None, false), change(e6, pawn, true)];
        times(
            &Model::FITTED,
            (from, from + Duration::from_secs(2)),
            &first,
            &before,
            &mut touched,
        );
        before[e7] = None;
        before[usize::from(e6)] = pawn;
        let press = Element::ClockTime {
            left: true,
            hours: 1,
            minutes: 59,
            seconds: 32,
        };
        let then = [change(e5, pawn, false), change(e6, None, true), press];
        let at = times(
            &Model::FITTED,
            (from, from + Duration::from_secs(8)),
            &then,
            &before,
            &mut touched,
        );
        assert!(
            at[2].saturating_duration_since(from) < Duration::from_secs(2),
            "{at:?}"
        );
    }

    #[test]
    fn a_game_begins_with_thinking_time() {
        let (a7, a6, f1) = (8, 16, 61);
        let mut before = [None; 64];
        before[usize::from(f1)] = Some(Piece::WhiteRook);
        let rook = change(f1, None, false);
        let set_up = [change(a6, None, false), change(a7, Some(Piece::WhitePawn), false)];
        let at = |between: Option<Element>| {
            let elements: Vec<Element> = set_up.into_iter().chain(between).chain([rook]).collect();
            let at = seconds(20, &elements, &before);
            at[elements.len() - 1] - at[1]
        };
        assert!(at(None) < 0.5, "the same hand goes on");
        assert!(at(Some(Element::FourRowsFilled)) > 1.5);
        assert!(at(Some(Element::Nothing)) > 1.5, "the clock was stopped");
    }

    #[test]
    fn a_king_that_follows_its_rook_castles_at_once() {
        let (e1, f1, g1, h1) = (60, 61, 62, 63);
        let mut before = [None; 64];
        (before[e1], before[h1]) = (Some(Piece::WhiteKing), Some(Piece::WhiteRook));
        let castled = [
            change(h1 as u8, None, false),
            change(f1 as u8, Some(Piece::WhiteRook), false),
            change(e1 as u8, None, false),
            change(g1 as u8, Some(Piece::WhiteKing), false),
        ];
        let at = seconds(40, &castled, &before);
        assert!(at[3] - at[0] < 1.5, "{at:?}");
    }

    #[test]
    fn too_many_elements_are_squeezed_in_order() {
        let elements: Vec<Element> = (0..40).map(|field| change(field, None, false)).collect();
        let at = seconds(2, &elements, &[None; 64]);
        assert!(
            at.windows(2).all(|pair| pair[0] <= pair[1]) && at[39] <= 2.0,
            "{at:?}"
        );
    }
}
