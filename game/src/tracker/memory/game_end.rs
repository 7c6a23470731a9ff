//! Finds the end of a game in the board's memory, before kings in the centre and the set-up for the next game.

use kiebitz_protocol::{Dump, Element, Piece, PieceKind};
use shakmaty::Bitboard;

use super::is_white;
use crate::model::{A_FEW, SEVERAL};
use crate::position::{fields::board_of, outcome_of_kings};

/// Returns the number of elements that are play. `next` is the placement set up after the game.
///
/// With a clock, play lasts until the last press and a few more moves whose presses were not recorded, or until kings
/// show the result. Pieces that go one after the other to their squares in `next` are being set up.
pub(crate) fn played(elements: &[Element], before: &Dump, next: &Dump, with_clock: bool) -> usize {
    let pressed = pressed(elements, with_clock);
    let landings = landings(elements, before);
    let in_hand = elements[..pressed]
        .iter()
        .rposition(|element| matches!(element, Element::PieceChange { .. }));
    if pressed == 0 && shows_result(before) {
        // The result was shown before these elements.
        return 0;
    }
    let shown = shown(&landings, pressed);
    let end = shown.unwrap_or(landings.len());
    let is_play = |landing: &Landing| {
        let from_the_hand = landing.lifted.is_some() && landing.lifted == in_hand;
        shown.is_some() || from_the_hand || next[landing.field] != Some(landing.piece)
    };
    let after = landings[..end].iter().filter(|landing| landing.at >= pressed);
    let moves: Vec<&Landing> = after.collect();
    let play = moves.iter().rposition(|landing| is_play(landing));
    let next_move = play.map_or(0, |last| last + 1);
    let home = moves
        .get(next_move)
        .filter(|landing| rests(landing, elements, with_clock));
    let Some(last) = home.map(|_| next_move).or(play) else {
        return pressed;
    };
    // A piece that slides over the board lands more than once, and an adjusted piece has not moved.
    let mut motions: Vec<&Landing> = moves[..=last]
        .iter()
        .copied()
        .filter(|landing| is_play(landing) && !is_put_back(landing, elements))
        .collect();
    motions.dedup_by_key(|landing| landing.piece);
    // Players may forget the last presses, and the board does not record all presses of a scramble. More moves without
    // a press are analysis.
    let in_turn = motions
        .windows(2)
        .all(|pair| is_white(pair[0].piece) != is_white(pair[1].piece));
    motions.retain(|landing| !(in_turn && is_quick(landing, elements)));
    if with_clock && shown.is_none() && motions.len() > SEVERAL {
        return pressed;
    }
    moves[last].until
}

/// Like [`played`], for a clock that may still have been running. The game is over if kings show a result, or if more
/// pieces in a row go to their squares in `next` than players would move there.
pub(crate) fn until_set_up(elements: &[Element], before: &Dump, next: &Dump, with_clock: bool) -> usize {
    let landings = landings(elements, before);
    let pressed = pressed(elements, with_clock);
    let home = |landing: &&Landing| landing.at >= pressed && next[landing.field] == Some(landing.piece);
    let set_up = landings.iter().rev().take_while(home).count() >= SEVERAL;
    if set_up || with_clock && shown(&landings, pressed).is_some() {
        played(elements, before, next, with_clock)
    } else {
        elements.len()
    }
}

/// Returns the number of elements up to the last press; 0 without a clock.
fn pressed(elements: &[Element], with_clock: bool) -> usize {
    let press = |element: &Element| matches!(element, Element::ClockTime { .. });
    let last = elements.iter().rposition(press).filter(|_| with_clock);
    last.map_or(0, |press| press + 1)
}

fn is_put_back(landing: &Landing, elements: &[Element]) -> bool {
    let lifted = landing.lifted.and_then(|at| elements.get(at));
    matches!(lifted, Some(Element::PieceChange { field, .. }) if field.index() == landing.field)
}

fn is_quick(landing: &Landing, elements: &[Element]) -> bool {
    matches!(elements[landing.at], Element::PieceChange { quick, .. } if quick)
}

/// Whether hands rest after a piece went to its square in the next placement. If so, the piece may have made a move,
/// because pieces are set up without a rest. A read of the memory counts as a rest, because it rarely falls in the
/// middle of setting up. Without a clock, hands also rest if the next change is not a quick one.
fn rests(landing: &Landing, elements: &[Element], with_clock: bool) -> bool {
    let mut then = elements[landing.until..].iter();
    let next = then.find(|element| matches!(element, Element::PieceChange { .. } | Element::Downloaded));
    match next {
        Some(Element::Downloaded) => true,
        Some(Element::PieceChange { quick, .. }) => !with_clock && !quick,
        _ => false,
    }
}

/// Returns the number of elements until kings show the result; 0 if they do not. Includes further moves of the kings
/// within the centre.
pub(crate) fn until_shown(elements: &[Element], before: &Dump) -> usize {
    let landings = landings(elements, before);
    let shows = |landing: &&Landing| landing.kings && is_king(landing.piece);
    let shown = landings.iter().skip_while(|landing| !shows(landing));
    let last = shown.take_while(shows).last();
    last.map_or(0, |landing| landing.at + 1)
}

#[derive(Debug)]
struct Landing {
    at: usize,
    field: usize,
    piece: Piece,
    /// Index of the element that lifted the piece; `None` if it was not lifted since the landing before.
    lifted: Option<usize>,
    /// Index after the last element of the motion.
    until: usize,
    /// Whether both kings then stand in the centre.
    kings: bool,
}

fn landings(elements: &[Element], before: &Dump) -> Vec<Landing> {
    let mut fields = *before;
    let mut landings: Vec<Landing> = Vec::new();
    let mut lifted: Vec<(usize, Piece)> = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let Element::PieceChange { field, contents, .. } = *element else {
            continue;
        };
        let field = field.index();
        let was = core::mem::replace(&mut fields[field], contents);
        match (contents, was) {
            (Some(piece), _) => {
                let own = lifted
                    .iter()
                    .find(|(_, other)| *other == piece)
                    .map(|(at, _)| *at);
                lifted.clear();
                landings.push(Landing {
                    at,
                    field,
                    piece,
                    lifted: own,
                    until: at + 1,
                    kings: shows_result(&fields),
                });
            }
            (None, Some(was)) => {
                // A piece that slides over the board is reported on the fields on its way, perhaps as another piece.
                let own = landings.last().map(|landing| is_white(landing.piece));
                let mut before = landings.iter().rev().skip(1).take(A_FEW);
                let crossed =
                    before.any(|crossed| crossed.field == field && own == Some(is_white(crossed.piece)));
                let then = elements.get(at + 1);
                let belongs = |landing: &&mut Landing| {
                    let elsewhere = landing.until == at && landing.field != field;
                    elsewhere && (crossed || leaves_with(landing, field, was, then))
                };
                match landings.last_mut().filter(belongs) {
                    Some(landing) => landing.until = at + 1,
                    None => lifted.push((at, was)),
                }
            }
            (None, None) => {}
        }
    }
    landings
}

/// Whether a field that is emptied after a landing belongs to the same move: it is the origin of the piece, scanned
/// late, or the field of a pawn captured en passant.
fn leaves_with(landing: &Landing, field: usize, was: Piece, then: Option<&Element>) -> bool {
    if was == landing.piece {
        return landing.lifted.is_none();
    }
    let passed = field.abs_diff(landing.field) == 8;
    // If two pawns differ, they have different colours.
    let pawns = [landing.piece, was].map(Piece::kind) == [Some(PieceKind::Pawn); 2];
    let another = matches!(then, Some(Element::PieceChange { contents: Some(_), field: on, .. }) if on.index() == field);
    pawns && passed && !another
}

/// Returns the index of the landing with which kings begin to show the result after the last press.
fn shown(landings: &[Landing], pressed: usize) -> Option<usize> {
    let complete = landings
        .iter()
        .position(|landing| landing.at >= pressed && landing.kings && is_king(landing.piece))?;
    let arrives =
        |landing: &&Landing| landing.at >= pressed && is_king(landing.piece) && in_centre(landing.field);
    let others = landings[..complete].iter().rev().take_while(arrives).count();
    Some(complete - others)
}

/// Fields and squares are numbered from different corners, but the centre has the same four numbers in both.
fn in_centre(field: usize) -> bool {
    Bitboard::CENTER
        .into_iter()
        .any(|square| usize::from(square) == field)
}

fn is_king(piece: Piece) -> bool {
    piece.kind() == Some(PieceKind::King)
}

fn shows_result(fields: &Dump) -> bool {
    outcome_of_kings(&board_of(fields, false)).is_some()
}

#[cfg(test)]
mod tests {
    use kiebitz_protocol::Field;

    use super::super::tagged;
    use super::*;

    const PRESS: Element = Element::ClockTime {
        left: true,
        hours: 1,
        minutes: 0,
        seconds: 0,
    };

    /// Decodes "e2." as a field that is emptied, "e4P" as a pawn put on it, "e4P'" as the same but quick, "|" as a
    /// press, and "READ" as a read of the memory.
    fn elements(words: &str) -> Vec<Element> {
        let change = |word: &str| {
            let [file, rank, letter, ref rest @ ..] = *word.as_bytes() else {
                return PRESS;
            };
            if word == "READ" {
                return Element::Downloaded;
            }
            let at = ".PRNBKQprnbkq".find(char::from(letter)).expect("a piece");
            let field = Field::new((b'8' - rank) * 8 + (file - b'a'));
            Element::PieceChange {
                contents: u8::try_from(at).ok().and_then(Piece::from_code).flatten(),
                field: field.expect("a field"),
                quick: !rest.is_empty(),
            }
        };
        words.split_whitespace().map(change).collect()
    }

    fn after(words: &str) -> Dump {
        let mut fields = start();
        for element in elements(words) {
            if let Element::PieceChange { field, contents, .. } = element {
                fields[field.index()] = contents;
            }
        }
        fields
    }

    fn start() -> Dump {
        tagged(Element::StartPosition)
    }

    #[track_caller]
    fn is_play(before: &str, play: &str, then: &str) {
        let all = elements(&format!("{play} {then}"));
        let played = played(&all, &after(before), &start(), true);
        assert_eq!(all[..played], elements(play)[..], "{play} before {then}");
    }

    const TWO_KNIGHTS: &str = "e2. e4P g1. f3N b8. c6n";
    const PUT_HOME: &str = "c6. b8n f3. g1N e4. e2P";

    #[test]
    fn pieces_put_home_after_the_last_press_are_not_moves() {
        is_play(TWO_KNIGHTS, "f3. e5N |", "c6. b8n e5. g1N e4. e2P");
        is_play(TWO_KNIGHTS, "", PUT_HOME);
    }

    #[test]
    fn a_last_move_without_a_press_is_play() {
        is_play(TWO_KNIGHTS, "d2. d4P | c6. d4. d4n", "d4. b8n f3. g1N e4. e2P");
        // A knight that goes home with the last press is lifted before it and lands after it.
        is_play(TWO_KNIGHTS, "f3. | g1N", "c6. b8n e4. e2P");
        // A square that is emptied late belongs to the move.
        is_play(TWO_KNIGHTS, "d2. d4P | e5n c6.", "e5. b8n f3. g1N e4. e2P");
    }

    #[test]
    fn an_adjusted_piece_is_not_a_move() {
        // Four quick moves without recorded presses, and a pawn adjusted between them.
        let quick = "d2. d4P d7. d5p e4. e4P h2. h3P h7. h6p";
        is_play(
            TWO_KNIGHTS,
            &format!("a2. a3P | {quick}"),
            "c6. b8n f3. g1N e4. e2P",
        );
    }

    #[test]
    fn analysis_after_the_last_press_is_not_play() {
        let analysis = "c6. d4n f3. d4. d4N c7. c5p d4. f5N g7. g6p";
        is_play(TWO_KNIGHTS, "d2. d3P |", analysis);
    }

    #[test]
    fn quick_moves_without_presses_are_play() {
        let haste = "g8. f6n' f3. g5N' c6. d4n g5. f7N' d4. f3n' d1. f3Q'";
        is_play(
            TWO_KNIGHTS,
            &format!("d2. d3P | {haste}"),
            "f3. d1Q' f6. g8n d3. d2P e4. e2P'",
        );
    }

    #[test]
    fn a_piece_adjusted_after_the_reply_does_not_belong_to_the_reply() {
        let play = "f3. g5N | d7. d5p g5. g5N d2. d3P a7. a6p a2. a3P";
        is_play(TWO_KNIGHTS, play, "a3. a2P a6. a7p d3. d2P d5. d7p g5. g1N");
    }

    #[test]
    fn kings_in_the_centre_end_the_game() {
        let kings = "e1. e4. e4K e8. d5k";
        is_play(TWO_KNIGHTS, "d2. d3P |", &format!("{kings} {PUT_HOME}"));
        // A move home without a press is play if a result is shown after it.
        is_play(TWO_KNIGHTS, "d2. d3P | c6. b8n", kings);
    }

    #[test]
    fn a_pawn_captured_en_passant_may_be_scanned_late() {
        let before = "e2. e4P e4. e5P d7. d5p";
        is_play(before, "a7. a6p | e5. d6P d5.", "d6. e2P d7p a6. a7p");
        // A square to which another piece comes does not belong to the move.
        is_play(before, "a7. a6p | e5. d6P", "d5. d5K e1. e8. e4k");
    }

    #[test]
    fn without_a_clock_many_pieces_put_home_are_not_moves() {
        let until = |words: &str| until_set_up(&elements(words), &after(TWO_KNIGHTS), &start(), false);
        let three = "d2. d3P c6. b8n f3.' g1N e4. e2P";
        assert_eq!(until(three), elements(three).len());
        assert_eq!(until(&format!("{three} d3. d2P")), 2);
    }

    #[test]
    fn a_result_ends_a_game_whose_clock_is_not_known_to_have_been_stopped() {
        let until = |words: &str| until_set_up(&elements(words), &after(TWO_KNIGHTS), &start(), true);
        let kings = "e1. e4. e4K e8. d5k";
        assert_eq!(until(&format!("d2. d3P | {kings} c6. b8n")), 3);
        assert_eq!(until("d2. d3P | c6. d4n f3. d4N"), 7);
    }

    #[test]
    fn a_move_home_is_recognised_by_the_rest_after_it() {
        let until = |words: &str| until_set_up(&elements(words), &after(TWO_KNIGHTS), &start(), false);
        assert_eq!(until("d2. d3P c6. b8n f3. g1N e4. e2P d3. d2P"), 4);
        let set_up = "f3. g1N e4. e2P d3. d2P";
        is_play(TWO_KNIGHTS, "d2. d3P | c6. b8n", &format!("READ {set_up}"));
        is_play(TWO_KNIGHTS, "d2. d3P |", &format!("c6. b8n {set_up} READ"));
    }

    #[test]
    fn nothing_is_played_after_a_result_is_shown() {
        let shown = format!("{TWO_KNIGHTS} e1. e3K e8. d5k e3. e5K");
        is_play(&shown, "", "e5. e1K d5. c5k c5. e8k c6. b8n");
        let kings = elements("e1. e4. e4K e8. d5k e4. e1K");
        assert_eq!(until_shown(&kings, &after(TWO_KNIGHTS)), 5);
    }
}
