//! Times for what the board's memory holds without any.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::facts::QUICK_CHANGE;
use kiebitz_protocol::{Color, Dump, Element, Field, Piece, PieceKind};

use super::history::is_start_position;
use super::model::{MAX_MOTION, Model};

/// The time from one element to the next.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// What it takes when there is enough time.
    usual: Duration,
    /// The least that it takes.
    least: Duration,
    /// It is spent thinking, and so takes what time is left.
    thought: bool,
}

/// What hands take for each step.
struct Steps {
    /// A quick change by the same hand as the one before, or a press between two quick changes.
    quick: Step,
    /// A quick change by the other player's hand.
    quick_reply: Step,
    /// A change by the same hand that is not quick: a piece was in the air, or is drawn on.
    hand: Step,
    /// From a move to the press.
    press: Step,
    /// A player thinks before the move: usually at least this long, if there is time.
    thinking: Step,
    /// Nobody moves a piece as soon as all have been set up.
    first_move: Step,
}

impl Steps {
    fn of(model: &Model) -> Self {
        let hand = |usual: Duration, least: Duration| Step {
            usual,
            least,
            thought: false,
        };
        // A hand goes on before the tracker has stopped waiting for that, and thinks for longer than that.
        let (settle, going_on) = (model.settle, model.pause * 9 / 10);
        Self {
            quick: hand(QUICK_CHANGE / 3, settle / 2),
            quick_reply: hand(QUICK_CHANGE * 3 / 5, 2 * settle),
            hand: hand(going_on, QUICK_CHANGE),
            press: hand(going_on, 2 * settle),
            thinking: Step {
                thought: true,
                ..hand(model.rest * 5 / 4, QUICK_CHANGE)
            },
            first_move: Step {
                thought: true,
                ..hand(model.doubt, model.rest)
            },
        }
    }
}

/// The times at which the elements may have happened, between `from` and `to`. Motions take the time that hands need; the
/// rest is spent thinking, after a press and before the other side's pieces are touched. `before` is what stood on the
/// board, `hands` what the hands were doing; they are updated.
pub(super) fn times(
    model: &Model,
    from: Timestamp,
    to: Timestamp,
    elements: &[Element],
    before: &Dump,
    hands: &mut Hands,
) -> Vec<Timestamp> {
    let goes_on = hands.last.is_some();
    let steps = steps(model, elements, before, hands);
    let span = to.saturating_duration_since(from);
    let lengths = lengths(&steps, span);
    // The last change may be the start of a motion, so not much time is left after it.
    let spare = span.saturating_sub(lengths.iter().sum());
    let thoughts = steps.iter().filter(|step| step.thought).count() as u32;
    let after_last = (spare / (thoughts + 1)).min(model.pause);
    let each = (spare - after_last) / thoughts.max(1);
    let mut passed = if thoughts == 0 && !goes_on {
        spare - after_last
    } else {
        Duration::ZERO
    };
    lengths
        .iter()
        .zip(&steps)
        .map(|(length, step)| {
            passed += *length;
            if step.thought {
                passed += each;
            }
            from + passed.min(span)
        })
        .collect()
}

/// How long each step took. Together they take at most `span`.
fn lengths(steps: &[Step], span: Duration) -> Vec<Duration> {
    let usual: Duration = steps.iter().map(|step| step.usual).sum();
    if usual <= span {
        return steps.iter().map(|step| step.usual).collect();
    }
    // In time trouble hands are quicker, but only as quick as hands can be; the rest is taken from thinking.
    let quick = span.as_secs_f64() / usual.as_secs_f64();
    let hand = |step: &Step| step.usual.mul_f64(quick).max(step.least);
    let sum = |of: &dyn Fn(&Step) -> Duration, thoughts: bool| -> f64 {
        let steps = steps.iter().filter(|step| step.thought == thoughts);
        steps.map(|step| of(step).as_secs_f64()).sum()
    };
    let (hands, least) = (sum(&hand, false), sum(&|step| step.least, true));
    let longer = sum(&|step| step.usual, true) - least;
    let left = (span.as_secs_f64() - hands - least).max(0.0);
    let share = if longer > 0.0 {
        (left / longer).min(1.0)
    } else {
        0.0
    };
    // If even that is too long, everything is shortened alike.
    let fits = (span.as_secs_f64() / (hands + least)).min(1.0);
    let length = |step: &Step| match step.thought {
        true => step.least + (step.usual - step.least).mul_f64(share),
        false => hand(step),
    };
    steps.iter().map(|step| length(step).mul_f64(fits)).collect()
}

/// What the hands were doing last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hands {
    /// The side that last touched a piece, true for White; `None` if the clock was pressed since.
    last: Option<bool>,
    /// Their piece has been put down.
    landed: bool,
    /// The field of the piece that was put down last, by either side.
    put_on: Option<Field>,
}

impl Hands {
    /// A piece of that colour has just been put down, and may be drawn on.
    pub(super) fn putting_down(white: bool) -> Self {
        Self {
            last: Some(white),
            landed: true,
            put_on: None,
        }
    }
}

/// The step before each element.
fn steps(model: &Model, elements: &[Element], before: &Dump, hands: &mut Hands) -> Vec<Step> {
    let step = Steps::of(model);
    let none = Step {
        usual: Duration::ZERO,
        least: Duration::ZERO,
        thought: false,
    };
    let mut fields = *before;
    let Hands { last, landed, put_on } = hands;
    let mut set_up = is_start_position(before);
    elements
        .iter()
        .enumerate()
        .map(|(at, element)| match *element {
            Element::PieceChange {
                contents,
                field,
                quick,
            } => {
                let then = &elements[at + 1..];
                let drawn_on = put_on.and_then(|on| drawn_from(on, &elements[at..], &fields));
                let was = core::mem::replace(&mut fields[field.index()], contents);
                let white = match (contents, was) {
                    (None, Some(lifted)) => lifted_by_white(lifted, field, then),
                    _ => contents.or(was).is_some_and(is_white),
                };
                // A king that is lifted after its side's own move is to show the result, unless it castles.
                let king = was.filter(|was| *landed && contents.is_none() && is_king(*was));
                let shows = king.is_some_and(|king| !goes_to_an_edge(king, then));
                // A press may be reported before the piece has come to its square.
                let goes_on = drawn_on.is_some_and(|drawn| is_white(drawn) == white);
                let other = !(last.replace(white) == Some(white) || goes_on) || shows;
                if contents.is_some() {
                    *put_on = Some(field);
                }
                *landed = contents.is_some() || (*landed && !other);
                // A field that is emptied twice has held a piece in between; the memory merges flickering.
                let merged = contents == was;
                if core::mem::take(&mut set_up) {
                    return step.first_move;
                }
                match (quick && !merged, other) {
                    (true, true) => step.quick_reply,
                    (true, false) => step.quick,
                    (false, true) => step.thinking,
                    (false, false) => step.hand,
                }
            }
            Element::ClockTime { .. } => {
                *last = None;
                let quick = elements[at + 1..].iter().find_map(|element| match element {
                    Element::PieceChange { quick, .. } => Some(*quick),
                    _ => None,
                });
                if quick == Some(true) {
                    step.quick
                } else {
                    step.press
                }
            }
            Element::StartPosition | Element::StartPositionTurned | Element::FourRowsFilled => {
                *last = None;
                none
            }
            // The clock was stopped.
            Element::Nothing => {
                *last = None;
                step.thinking
            }
            _ => none,
        })
        .collect()
}

/// Whether the piece is next put down on the first or last row, as a castling king is.
fn goes_to_an_edge(piece: Piece, then: &[Element]) -> bool {
    let placed = then.iter().take(MAX_MOTION).find_map(|element| match *element {
        Element::PieceChange {
            contents: Some(placed),
            field,
            ..
        } if placed == piece => Some(field),
        _ => None,
    });
    placed.is_some_and(|field| matches!(field.index() / 8, 0 | 7))
}

/// The piece on a field that is lifted from there by the next change, or shown on another field right before.
fn drawn_from(on: Field, then: &[Element], fields: &Dump) -> Option<Piece> {
    let piece = fields[on.index()]?;
    let change = |at: usize| match then.get(at) {
        Some(Element::PieceChange { field, contents, .. }) => Some((*field, *contents)),
        _ => None,
    };
    let lifted = Some((on, None));
    let shown_first = change(0).is_some_and(|(_, shown)| shown == Some(piece)) && change(1) == lifted;
    (change(0) == lifted || shown_first).then_some(piece)
}

/// Whether White's hand took a piece off its field. It was the opponent's hand if one of their pieces comes there next.
fn lifted_by_white(piece: Piece, field: Field, then: &[Element]) -> bool {
    let own = is_white(piece);
    for element in then.iter().take(MAX_MOTION) {
        match *element {
            Element::PieceChange {
                contents: Some(placed),
                field: on,
                ..
            } if is_white(placed) != own && on == field => return !own,
            Element::PieceChange {
                contents: Some(placed),
                ..
            } if placed == piece => return own,
            Element::ClockTime { .. } => return own,
            _ => {}
        }
    }
    own
}

pub(super) fn is_king(piece: Piece) -> bool {
    piece.kind() == Some(PieceKind::King)
}

pub(super) fn is_white(piece: Piece) -> bool {
    piece.color() == Some(Color::White)
}

#[cfg(test)]
mod tests {
    use kiebitz_protocol::Contents;

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
            from,
            from + Duration::from_secs(span),
            elements,
            before,
            &mut Hands::default(),
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
    fn a_piece_that_is_drawn_on_after_a_press_does_not_rest() {
        let (a8, a4, a3, f4, f6) = (0, 32, 40, 37, 21);
        let mut before = [None; 64];
        before[a8] = Some(Piece::BlackRook);
        before[f4] = Some(Piece::WhiteRook);
        let press = Element::ClockTime {
            left: true,
            hours: 0,
            minutes: 58,
            seconds: 48,
        };
        let drawn = [
            change(a8 as u8, None, false),
            change(a4, Some(Piece::BlackRook), false),
            press,
            change(a4, None, false),
            change(a3, Some(Piece::BlackRook), false),
            change(f4 as u8, None, false),
            change(f6, Some(Piece::WhiteRook), false),
        ];
        let at = seconds(60, &drawn, &before);
        assert!(at[4] - at[1] < 1.2, "{at:?}");
        assert!(at[5] - at[4] > 20.0, "the rest is thinking: {at:?}");
    }

    #[test]
    fn an_unfinished_motion_continues_before_the_other_side_thinks() {
        let (e7, e6, e5) = (12, 20, 28);
        let mut before = [None; 64];
        before[e7] = Some(Piece::BlackPawn);
        let pawn = Some(Piece::BlackPawn);
        let mut hands = Hands::default();
        let from = Timestamp::from_micros(1_000_000_000);
        let first = [change(e7 as u8, None, false), change(e6, pawn, true)];
        times(
            &Model::FITTED,
            from,
            from + Duration::from_secs(2),
            &first,
            &before,
            &mut hands,
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
            from,
            from + Duration::from_secs(8),
            &then,
            &before,
            &mut hands,
        );
        assert!(
            at[2].saturating_duration_since(from) < Duration::from_secs(2),
            "{at:?}"
        );
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
