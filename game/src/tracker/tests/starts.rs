//! Tests of the start and the end of a game: start positions, results on the board, games in progress and positions set
//! up by hand.

use kiebitz_hardware::Observation;
use kiebitz_protocol::{Element, Field};
use shakmaty::{CastlingMode, Position};

use super::{CASTLING, START, World, castling, wire};
use crate::position::start::Drawn;
use crate::position::{Orientation, State};

#[test]
fn kings_in_the_centre_are_the_result_and_not_moves() {
    castling().shows("e1. e4K e8. d5k").has_announced("1-0");
    castling()
        .shows("e8. e5k")
        .wait(300)
        .shows("e1. d4K")
        .has_announced("0-1");
    castling()
        .shows("e8. e5k")
        .wait(300)
        .shows("e4. e1. e4K")
        .has_announced("1/2-1/2");
}

#[test]
fn a_result_piece_is_the_result() {
    castling().shows("d5=").has_announced("1/2-1/2");
    // A result piece that is read on the square of another piece may be that piece, misread.
    castling().shows("e4. e4=").wait(4000).has_announced("");
    castling().shows("e4. e4=").wait(8000).has_announced("1/2-1/2");
}

/// A square may be misread in up to three scans. A result must be read for longer.
#[test]
fn a_result_in_three_scans_only_is_ignored() {
    castling().shows("d5=").wait(750).shows("d5.").has_announced("");
    castling()
        .shows("e1. e4. e4K e8. d5k")
        .wait(750)
        .shows("d5. e8k e4. e1K e4P")
        .has_announced("");
}

/// A king that is taken to the centre to show the result makes no move, although its path can look like one. A king
/// that rested elsewhere had moved there before.
#[test]
fn a_king_makes_no_move_on_its_way_to_show_the_result() {
    let ending = || {
        let mut world = World::new(ENDING_SET_UP);
        world.wait(3000).shows("d3. d4P").wait(2000).shows("e6. d6k");
        world.has_announced("d4 Kd6");
        world
    };
    ending()
        .shows("e3. e4K")
        .wait(1500)
        .shows("d6. d5k")
        .has_announced("d4 Kd6 Ke4 withdrawn 1-0");
    // A pawn is pushed aside for the other king.
    ending()
        .shows("e3. e4K")
        .wait(1500)
        .shows("d4. a4P")
        .wait(3000)
        .shows("d6. d5k")
        .has_announced("d4 Kd6 Ke4 withdrawn 1-0");
    // The king rested for three seconds, so it had moved.
    ending()
        .shows("e3. e4K")
        .wait(3000)
        .shows("d6. d5k")
        .has_announced("d4 Kd6 Ke4 1-0");
    // The square that the king left is scanned after its destination.
    ending()
        .shows("e4K")
        .wait(150)
        .shows("e3.")
        .wait(3000)
        .shows("d6. d5k")
        .has_announced("d4 Kd6 Ke4 1-0");
    ending()
        .shows("e3. f3K")
        .wait(300)
        .shows("f3. e4K d6. d5k")
        .has_announced("d4 Kd6 Kf3 1-0");
    ending()
        .shows("e3. e4K")
        .wait(3000)
        .shows("e4. e5K d6. d5k")
        .has_announced("d4 Kd6 Ke4 1/2-1/2");
}

/// White resigns after a capture in the centre, and the kings come to both squares of the capture.
#[test]
fn a_last_move_is_not_taken_back_if_the_kings_cover_its_squares() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "d7. d5p", "a2. a3P", "e4. d5. e4p"] {
        world.shows(ply).wait(3000);
    }
    world.shows("e8.").wait(500).shows("d5k").wait(500);
    world.shows("e4.").wait(500).shows("e1.").wait(500).shows("e4K");
    world.has_announced("e4 d5 a3 dxe4 1-0");
}

/// The pieces go back to the squares from which they came, as if the plies were taken back.
#[test]
fn a_start_position_after_the_end_is_the_next_games() {
    let mut world = World::new(START);
    for ply in ["e2. e4P", "h7. h5p", "a2. a3P"] {
        world.shows(ply).wait(1000);
    }
    world.shows("e8. d5k e4. e1. e4K").has_announced("e4 h5 a3 1-0");
    world.tracker.set_ended(true);
    for squares in ["a3. e2P", "h5. h7p a2P", "e4. e1K", "d5. e8k"] {
        world.shows(squares).wait(300);
    }
    world.wait(4000);
    assert!(!world.tracker.ended, "another line has begun");
    world.shows("e2. e4P").wait(1000).shows("c7. c5p");
    world.has_announced("e4 h5 a3 1-0 withdrawn e4 c5");
}

/// White had castled before the kings were put in the centre. A move of the rook alone would explain as many squares.
#[test]
fn castling_before_the_result_is_castling() {
    castling()
        .shows("e1. g1K h1. f1R")
        .wait(300)
        .shows("g1. d4K e8. e5k")
        .has_announced("O-O 0-1");
}

#[test]
fn a_king_that_is_put_right_shows_another_result() {
    castling()
        .shows("e1. e4. e4K e8. d4k")
        .wait(3000)
        .shows("d4. d5k")
        .has_announced("1/2-1/2 1-0");
}

#[test]
fn a_game_in_progress_is_followed() {
    let mut world = World::new(CASTLING);
    world.wait(3000).shows("e8. g8k h8. f8r").has_announced("O-O");
}

/// White lays the captured pawn down on the origin of the capture. For a moment, Black seems to have captured there.
#[test]
fn a_game_in_progress_is_not_followed_from_the_middle_of_a_capture() {
    let mut world = World::new("rnbqkbnrpppp.ppp............p........P..........PPPPP.PPRNBQKBNR");
    world.wait(3000).shows("e5. f4p").wait(150).shows("e5P f4.");
    world.wait(3000).has_announced("fxe5");
}

/// Before a game is known, the report of e6 is lost. White's reply is reported before a dump shows e6.
#[test]
fn a_game_in_progress_is_not_followed_from_a_placement_with_lost_reports() {
    let mut world = World::new("rnbqkbnrpppppppp..........................P.....PP.PPPPPRNBQKBNR");
    world.wait(3000).shows("e7.").wait(8000);
    world.fields[20] = wire('p');
    world.observe(Observation::MemoryAsked);
    world
        .wait(200)
        .observe(Observation::Memory { elements: Vec::new() });
    world.shows("g2. g4P").wait(1000).dump().wait(3000);
    world.shows("f8. a3b").wait(3000).dump().has_announced("Ba3");
}

/// A touched bishop stands on its square again, which only a dump shows.
#[test]
fn a_game_in_progress_is_followed_from_a_dump() {
    let mut world = World::new(CASTLING);
    world.wait(3000).shows("c8.").wait(3000).shows("e8. g8k h8. f8r");
    world.wait(2500).dump();
    assert_eq!(world.announced.join(" "), "O-O");
}

/// The first answer comes just before a move. Because all pieces rest after the move, none of them was in a hand when
/// the answer came.
#[test]
fn a_game_in_progress_is_followed_from_the_first_answer() {
    let mut world = World::new(CASTLING);
    world.shows("e8. g8k h8. f8r").wait(1900).listen();
    assert!(world.tracker.line.is_none());
    world.has_announced("O-O");
    // A rook comes down from a hand. Play goes on from the placement with it.
    let mut world = World::new(&CASTLING.replace("K..R", "K..."));
    world.shows("h1R").wait(3000).shows("e8. g8k h8. f8r");
    world.wait(3000).dump().has_announced("O-O");
    let line = world.tracker.line.as_ref().expect("a line");
    assert_eq!(line.passed.len(), 0);
    assert!(
        line.tree
            .node(line.tree.root())
            .state
            .board()
            .piece_at(shakmaty::Square::H1)
            .is_some()
    );
}

/// White sits with the connector on the right: the board's d1 and a1 are Black's e8 and h8.
#[test]
fn a_game_in_progress_shows_the_orientation_of_the_board() {
    let turned: String = CASTLING.chars().rev().collect();
    let mut world = World::new(&turned);
    world.wait(3000).shows("d1. b1k a1. c1r").has_announced("O-O");
    assert_eq!(world.tracker.orientation(), Some(Orientation::Turned));
}

const ENDING: &str = "8/8/4k3/8/8/3PK3/8/8 w - - 0 1";

#[test]
fn the_board_may_take_time_to_show_a_position_that_was_given() {
    let mut world = World::new(START);
    let state = State::from_fen(ENDING, CastlingMode::Standard).expect("a FEN");
    let now = world.now;
    world.tracker.set_position(now, state);
    world.wait(5000).listen();
    let (line, expected) = (world.tracker.line.is_some(), world.tracker.expected());
    assert!(line && expected.is_some_and(|(board, _)| board.occupied().count() == 3));
    for (field, letter) in world.fields.iter_mut().zip(ENDING_SET_UP.chars()) {
        *field = wire(letter);
    }
    world
        .dump()
        .wait(1000)
        .shows("d3. d4P")
        .wait(2000)
        .shows("e6. d5k");
    world.has_announced("d4 Kd5");
}

/// Pawns that have gone far make a normally oriented board look turned at first. A position given by an arbiter shows
/// the orientation. Its pieces may stand already, one of them may stand beside its square, or they may be set up later.
#[test]
fn a_given_position_shows_the_orientation_of_the_board() {
    const FAR: &str = ".......k....P........K................................pp........";
    const FEN: &str = "7k/4P3/5K2/8/8/8/6pp/8 w - - 0 1";
    let state = || State::from_fen(FEN, CastlingMode::Standard).expect("a FEN");
    let turned: String = FAR.chars().rev().collect();
    for (placement, orientation) in [(FAR, Orientation::Normal), (&*turned, Orientation::Turned)] {
        let mut world = World::new(placement);
        world.wait(3000);
        let now = world.now;
        world.tracker.set_position(now, state());
        assert_eq!(world.tracker.orientation(), Some(orientation), "{placement}");
        assert!(
            world
                .tracker
                .expected()
                .is_some_and(|(_, differs)| differs.is_empty())
        );

        let mut world = World::new(START);
        world.wait(3000);
        let now = world.now;
        world.tracker.set_position(now, state());
        assert_eq!(world.tracker.orientation(), Some(Orientation::Normal));
        for (field, letter) in world.fields.iter_mut().zip(placement.chars()) {
            *field = wire(letter);
        }
        world.dump().wait(1000).dump();
        assert_eq!(world.tracker.orientation(), Some(orientation), "{placement}");
        assert!(
            world
                .tracker
                .expected()
                .is_some_and(|(_, differs)| differs.is_empty())
        );
    }
    let mut world = World::new(FAR);
    world.shows("e7. d7P").wait(3000);
    let now = world.now;
    world.tracker.set_position(now, state());
    assert_eq!(
        world.tracker.orientation(),
        Some(Orientation::Normal),
        "beside its square"
    );
}

const ENDING_SET_UP: &str = "....................k......................PK...................";

#[test]
fn a_start_position_with_a_result_piece_is_not_a_start() {
    World::new("rnbqkbnrpppppppp....=...........................PPPPPPPPRNBQKBNR")
        .shows("e2. e4P")
        .has_announced("");
}

#[test]
fn a_first_move_is_announced_while_the_other_side_adjusts() {
    let mut world = World::new(START);
    world
        .shows("b8.")
        .wait(300)
        .shows("e2. e4P")
        .wait(400)
        .shows("b8n");
    world.has_announced("e4");
}

#[test]
fn all_start_positions_are_recognised_either_way_round() {
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..960 {
        let rank = start_rank(number);
        seen.insert(rank.clone());
        let black = rank.to_lowercase();
        let start = format!("{black}pppppppp{}PPPPPPPP{rank}", ".".repeat(32));
        let turned: String = start.chars().rev().collect();
        for (placement, turned) in [(start, Orientation::Normal), (turned, Orientation::Turned)] {
            let mut world = World::expecting(Drawn::Chess960, &placement);
            // A placement with one or two swaps from the usual start may be unfinished.
            world.wait(2000);
            assert_eq!(world.tracker.orientation(), Some(turned), "{placement}");
            let line = world.tracker.line.as_ref().expect("a line");
            let position = line.tree.node(0).state.position().expect("a position");
            assert_eq!(position.castles().castling_rights().count(), 4, "{placement}");
        }
    }
    assert_eq!(seen.len(), 960);
}

/// The back rank with a number in the usual numbering of the 960 positions.
fn start_rank(number: usize) -> String {
    let mut rank = ['.'; 8];
    rank[2 * (number % 4) + 1] = 'B';
    rank[2 * (number / 4 % 4)] = 'B';
    let free = |rank: &[char; 8], nth: usize| {
        let empty = (0..8).filter(|file| rank[*file] == '.').nth(nth);
        empty.expect("an empty square")
    };
    rank[free(&rank, number / 16 % 6)] = 'Q';
    let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (a, b)));
    let (a, b) = pairs.clone().nth(number / 96).expect("one of ten pairs");
    let (a, b) = (free(&rank, a), free(&rank, b));
    (rank[a], rank[b]) = ('N', 'N');
    for piece in ['R', 'K', 'R'] {
        rank[free(&rank, 0)] = piece;
    }
    rank.iter().collect()
}

/// White castled before the board was heard. If the clock does not run, king and rook are set up wrongly instead.
#[test]
fn castling_before_the_board_is_heard_is_not_a_wrong_start() {
    let castled = format!("nrbqnkrbpppppppp{}PPPPPPPPNRBQNRKB", ".".repeat(32));
    for (runs, seen, announced) in [(true, "", "O-O"), (false, "", ""), (true, "g1. g1K", "")] {
        let mut world = World::new(&castled);
        world.clock(false, runs).shows(seen).wait(3000);
        world.has_announced(announced);
        let line = world.tracker.line.as_ref().expect("a line");
        let castles = line.tree.path(line.tree.best());
        let inferred = castles.iter().filter(|id| line.tree.node(**id).inferred);
        assert_eq!(
            inferred.count(),
            usize::from(!announced.is_empty()),
            "{runs} {seen}"
        );
    }
}

/// Art. 7.2.1. Bishop and knight, bishop and queen, and on both sides king and queen have changed places.
#[test]
fn a_game_is_followed_from_a_wrong_start() {
    for (black, white, moves, announced) in [
        ("rnbqkbnr", "RBNQKBNR", "b2. b3P", "b3"),
        ("rnbqkbnr", "RNQBKBNR", "e2. e4P", "e4"),
        ("rnbkqbnr", "RNBKQBNR", "e2. e4P", "e4"),
    ] {
        let start = format!("{black}pppppppp{}PPPPPPPP{white}", ".".repeat(32));
        let mut world = World::new(&start);
        world.wait(3000).shows(moves).has_announced(announced);
        let line = world.tracker.line.as_ref().expect("a line");
        assert_eq!(line.tree.node(0).state.mode(), CastlingMode::Chess960, "{start}");
    }
}

/// Laws of 2023, A.5.1.2: a swapped king may castle only if the position was drawn for Chess960, not if the usual
/// position should have been set up.
#[test]
fn a_swapped_king_castles_only_in_chess960() {
    let start = format!("rnbkqbnrpppppppp{}PPPPPPPPRNBKQBNR", ".".repeat(32));
    for (drawn, castles) in [
        (Drawn::Any, false),
        (Drawn::Usual, false),
        (Drawn::Chess960, true),
    ] {
        let mut world = World::expecting(drawn.clone(), &start);
        world.wait(3000);
        for squares in ["b1. c3N", "b8. c6n", "d2. d3P", "d7. d6p", "c1. e3B", "c8. e6b"] {
            world.shows(squares).wait(2000);
        }
        world.announced.clear();
        world.shows("d1. c1K a1. d1R").wait(4000).listen();
        let castled = world.announced.iter().any(|san| san == "O-O-O");
        assert_eq!(castled, castles, "{drawn:?}: {:?}", world.announced);
    }
}

/// In Chess960, the king may stand on its square after castling already, so that only the rook moves.
#[test]
fn castling_without_a_move_of_the_king_is_found() {
    let start = format!("rnbqnbkrpppppppp{}PPPPPPPPRNBQNBKR", ".".repeat(32));
    let mut world = World::expecting(Drawn::Chess960, &start);
    world.wait(3000);
    for squares in ["g2. g3P", "g7. g6p", "f1. g2B", "f8. g7b", "h1. f1R"] {
        world.shows(squares).wait(2000);
    }
    world.has_announced("g3 g6 Bg2 Bg7 O-O");
}

/// The coil in the piece or under its square is dead.
#[test]
fn a_piece_that_is_not_read_is_assumed_on_its_square() {
    let mut start = START.to_owned();
    start.replace_range(49..50, "."); // b2
    let mut world = World::new(&start);
    world.wait(3000);
    let line = world.tracker.line.as_ref().expect("a line");
    assert_eq!(line.tree.node(0).state.board(), &shakmaty::Board::new());
    world.shows("e2. e4P").wait(2000).shows("e7. e5p").wait(2000);
    world
        .dump()
        .wait(2000)
        .shows("b1. c3N")
        .has_announced("e4 e5 Nc3");
    // The square reads another piece, so the pawn was captured.
    world.shows("f8. a3b").wait(2000).shows("h2. h4P").wait(2000);
    world.shows("a3. b2b").has_announced("e4 e5 Nc3 Ba3 h4 Bxb2");
}

/// After a complete start position, an empty square shows that its piece is in a hand.
#[test]
fn a_piece_in_the_hand_before_the_first_move_is_not_unseen() {
    let mut world = World::new(START);
    world.shows("b1.").wait(10_000).shows("a3N").has_announced("Na3");
}

/// Parses changes of squares: "e2." for an emptied square, "e4P" for a pawn, any other word for four filled rows.
fn remembered(words: &str) -> Vec<Element> {
    let change = |word: &str| {
        let [file, rank, letter] = *word.as_bytes() else {
            return Element::FourRowsFilled;
        };
        Element::PieceChange {
            contents: wire(char::from(letter)),
            field: Field::new((b'8' - rank) * 8 + (file - b'a')).expect("a field"),
            quick: false,
        }
    };
    words.split_whitespace().map(change).collect()
}

/// A board that was away for eight seconds after 1. e4, with these changes in its memory.
fn back_with(words: &str) -> World {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000).observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    let changes = remembered(words);
    for element in &changes {
        if let Element::PieceChange { field, contents, .. } = *element {
            world.fields[field.index()] = contents;
        }
    }
    world.wait(8000).observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
    let before = [&[Element::StartPosition][..], &remembered("e2. e4P")].concat();
    let elements = [&before[..], &changes, &[Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world
}

/// The start position is two swaps from the usual one, as in Chess960. A piece is put right before the first move.
#[test]
fn a_start_that_might_be_wrong_is_found_in_the_memory() {
    let swapped = "a8. c8. a8b c8r a1. c1. a1B c1R e4. e2P filled";
    let mut world = back_with(&format!("{swapped} g1. g1N filled d2. d4P e7. e5p"));
    world.has_announced("e4 Memory: d4 e5");
}

fn set_up_endgame(world: &mut World) {
    let kept = ["a1", "e1", "e8", "a2", "b2", "h7", "g7"];
    for number in 0..START.len() {
        let square = format!("{}{}", char::from(b'a' + (number % 8) as u8), 8 - number / 8);
        if world.fields[number].is_some() && !kept.contains(&square.as_str()) {
            world.shows(&format!("{square}.")).wait(300);
        }
    }
    world.wait(5000);
}

const ENDGAME_PLIES: [&str; 5] = ["a2. a4P", "g7. g5p", "e1. e2K", "h7. h6p", "a4. a5P"];

#[test]
fn a_position_that_is_set_up_is_followed() {
    let mut world = World::new(START);
    world.wait(3000);
    set_up_endgame(&mut world);
    for ply in ENDGAME_PLIES {
        world.shows(ply).wait(3000);
    }
    world.has_announced("a4 g5 Ke2 h6 a5");
}

/// During a game, plies from a position set up by hand count as play only while the clock runs.
#[test]
fn a_game_goes_on_from_another_position_while_the_clock_runs() {
    for (running, announced) in [(true, "e4 Undecidable: goes on: a4 g5 Ke2 h6 a5"), (false, "e4")] {
        let mut world = World::new(START);
        world.clock(true, true).wait(1000).shows("e2. e4P").wait(1000);
        world.clock(false, running).wait(2000);
        set_up_endgame(&mut world);
        for (ply, whites_turn) in ENDGAME_PLIES.iter().zip([false, true, false, true, false]) {
            world.shows(ply).wait(1000).clock(whites_turn, running).wait(2000);
        }
        world.has_announced(announced);
    }
}
