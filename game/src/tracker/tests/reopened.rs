//! Tests of certain plies that later evidence replaces.

use proptest::prelude::*;
use shakmaty::{Chess, Position};

use super::*;

/// A game before White's third move.
fn opening() -> World {
    let mut world = World::new(START);
    world.clock(true, true);
    let plies = ["e2. e4P", "e7. e5p", "g1. f3N", "b8. c6n"];
    for (squares, whites_turn) in plies.into_iter().zip([false, true, false, true]) {
        world.wait(1200).shows(squares).wait(600).clock(whites_turn, true);
    }
    world.wait(1200);
    assert_eq!(world.announced.join(" "), "e4 e5 Nf3 Nc6");
    world.announced.clear();
    world
}

#[test]
fn a_ply_taken_back_after_the_press_is_replaced_by_the_next_one() {
    let mut world = opening();
    world.shows("d2. d3P").wait(600).clock(false, true).wait(1500);
    world.shows("d3. d2P").wait(700).shows("f1. b5B").wait(2200);
    world.shows("a7. a6p").wait(600).clock(true, true);
    world.has_announced("d3 no, Bb5 a6");
}

#[test]
fn a_piece_that_moves_on_after_the_press_amends_its_ply() {
    let mut world = opening();
    world
        .shows("f1. c4B")
        .wait(1500)
        .shows("c4.")
        .wait(60)
        .clock(false, true);
    world.wait(600).shows("b5B").wait(1500).shows("a7. a6p");
    world.has_announced("Bc4 no, Bb5 a6");
}

/// The knight is read on h3, and is pushed to f3 only after the reply.
#[test]
fn a_piece_pushed_to_its_square_after_the_reply_was_played_there() {
    let mut world = World::new(START);
    world.clock(true, true);
    world
        .wait(1200)
        .shows("g1. h3N")
        .wait(600)
        .clock(false, true)
        .wait(3000);
    world
        .shows("e7. e5p")
        .wait(100)
        .shows("h3. f3N")
        .wait(600)
        .clock(true, true);
    for (squares, whites_turn) in [("d2. d4P", false), ("d7. d6p", true), ("c2. c4P", false)] {
        world.wait(1200).shows(squares).wait(600).clock(whites_turn, true);
    }
    world.has_announced("Nh3 e5 no, Nf3 e5 d4 d6 c4");
}

/// The knight stands on c6, which reads it only for moments.
#[test]
fn a_square_that_reads_its_piece_for_moments_is_believed() {
    let mut world = World::new(START);
    world.clock(true, true);
    world
        .wait(1200)
        .shows("e2. e4P")
        .wait(600)
        .clock(false, true)
        .wait(1200);
    world.shows("b8.").wait(300);
    for _ in 0..3 {
        world.shows("c6n").wait(200).shows("c6.").wait(200);
    }
    world.clock(true, true).wait(3000);
    world.shows("f1. b5B").wait(600).clock(false, true).wait(5000);
    world.shows("g8. f6n").wait(600).clock(true, true).wait(1200);
    world.shows("e1. e2K").wait(600).clock(false, true).wait(1200);
    world.shows("d4n").wait(600).clock(true, true);
    world.has_announced("e4 Nc6 Bb5 Nf6 Ke2 Nd4+");
}

/// The king or the rook comes to a square that does not read it. The other piece and the press speak for castling.
#[test]
fn castling_is_found_if_one_piece_is_not_read() {
    for squares in ["e1. h1. f1R", "e1. g1K h1."] {
        let mut world = castling();
        world.clock(true, true).wait(1200);
        world.shows(squares).wait(600).clock(false, true).wait(1200);
        world.shows("d7. d6p").wait(600).clock(true, true);
        world.has_announced("O-O d6");
    }
}

/// In a bullet game, a pawn passes over c5, which does not read it, and is taken on d4. White then plays on with the queen
/// and back. One White ply fewer would explain all squares, but not the presses.
#[test]
fn presses_speak_for_plies_that_lead_back() {
    let mut world = World::new(START);
    world
        .clock(true, true)
        .wait(1200)
        .shows("d2.")
        .wait(150)
        .shows("d4P")
        .wait(80);
    world
        .clock(false, true)
        .wait(40)
        .shows("c7.")
        .wait(280)
        .clock(true, true);
    world
        .wait(60)
        .shows("c2.")
        .wait(180)
        .shows("c3P")
        .wait(100)
        .clock(false, true);
    world
        .wait(500)
        .shows("d4.")
        .wait(430)
        .shows("d4p")
        .wait(100)
        .clock(true, true);
    world
        .wait(550)
        .shows("d4.")
        .wait(290)
        .shows("d1.")
        .wait(120)
        .shows("d4Q")
        .wait(100);
    for (squares, whites_turn) in [
        ("d7. d5p", true),
        ("d4. d1Q", false),
        ("b8. c6n", true),
        ("f2. f3P", false),
    ] {
        world.clock(!whites_turn, true).wait(600).shows(squares).wait(150);
        world.clock(whites_turn, true);
    }
    for (squares, whites_turn) in [("g8. f6n", true), ("e2. e3P", false), ("c8. f5b", true)] {
        world.wait(700).shows(squares).wait(150).clock(whites_turn, true);
    }
    world.has_announced("d4 c7d4 c3 d5 no, c5 c3 cxd4 Qxd4 d5 Qd1 Nc6 f3 Nf6 e3 Bf5");
}

/// The players take two plies back, one of them a capture. If White begins, both could also have been played backwards,
/// but not with the captured pawn on the board again.
#[test]
fn two_plies_are_taken_back_in_any_order() {
    for (back, announced) in [
        ("g5. f3N d4. c6n d4P", "Nf3 Nc6 taken back"),
        ("d4. c6n d4P g5. f3N", "taken back"),
    ] {
        let mut world = opening();
        world.shows("d2. d4P").wait(600).clock(false, true).wait(1500);
        world.shows("a7. a6p").wait(600).clock(true, true).wait(1500);
        world.shows("f3. g5N").wait(600).clock(false, true).wait(1500);
        world.shows("c6. d4. d4n").wait(600).clock(true, true).wait(2000);
        for square in back.split_whitespace() {
            world.shows(square).wait(400);
        }
        world.wait(3000);
        world.shows("d4. e5. e5P").wait(600).clock(false, true);
        world.has_announced(&format!("d4 a6 Ng5 Nxd4 {announced} dxe5"));
    }
}

/// The queen rests on d7 before she goes to e1, and much later she is held in the air. Her capture on d7 would explain
/// the empty e1 as well, but not where she has stood.
#[test]
fn a_piece_in_a_hand_does_not_undo_where_it_stood() {
    let mut world = memory::given("rnbq1rk1/ppp2ppp/8/4p3/8/8/PPPQBPPP/6K1 w - - 0 1");
    world.clock(true, true).wait(5000).shows("d2. d7Q").wait(1400);
    world.shows("d7.").wait(700).shows("e1Q").wait(300);
    world.clock(false, true).wait(6000).shows("d8. g5q").wait(1400);
    world.shows("g5.").wait(400).shows("e7q").wait(300);
    world.clock(true, true).wait(7000);
    for (squares, whites_turn) in [("e2. c4B", false), ("b8. d7n", true), ("a2. a4P", false)] {
        world.shows(squares).wait(400).clock(whites_turn, true).wait(5000);
    }
    world.shows("d7.").wait(3000).shows("f6n").wait(300);
    world.clock(true, true).wait(2400).shows("e1.").wait(4500);
    world.shows("c3Q").wait(600).clock(false, true);
    world.has_announced("Qd7 no, Qe1 Qg5 no, Qe7 Bc4 Nd7 a4 Nf6 Qc3");
}

/// Without a gap, unobserved plies are not inferred: the bishop is read only later.
#[test]
fn no_ply_is_inferred_without_a_gap() {
    let mut world = memory::given("rnbq1rk1/ppppbppp/4p3/3nP3/3P4/3B1N2/PPP2PPP/RNBQK2R w KQ - 0 6");
    world
        .wait(1200)
        .shows("h7. g6p")
        .wait(400)
        .shows("d3.")
        .wait(1900)
        .shows("h7B");
    world.wait(900).shows("g6.").wait(900).shows("g8. h7k");
    world.has_announced("Bxh7+ Kxh7");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever the game and the speed of the hands, the record ends with the game's last move, and the tree that grew
    /// with the game has the same best line as a tree built from all observations at once.
    #[test]
    fn a_tree_that_grew_with_the_game_has_the_best_line_of_a_new_one(
        choices in prop::collection::vec((any::<prop::sample::Index>(), 60_u64..1500, 90_u64..2500), 2..24)
    ) {
        let mut world = World::new(START);
        let mut position = Chess::default();
        let mut played = Vec::new();
        for (choice, lift, land) in choices {
            let moves = position.legal_moves();
            // Castling, en passant and promotion have tests of their own.
            let simple: Vec<_> = moves.into_iter()
                .filter(|m| !m.is_castle() && !m.is_en_passant() && !m.is_promotion())
                .collect();
            if simple.is_empty() {
                break;
            }
            let m = *choice.get(&simple);
            played.push(shakmaty::san::SanPlus::from_move(position.clone(), m).to_string());
            let from = m.from().expect("a piece of the board");
            if m.is_capture() {
                world.shows(&format!("{}.", m.to())).wait(lift);
            }
            world.wait(lift).shows(&format!("{from}.")).wait(lift);
            position.play_unchecked(m);
            let piece = position.board().piece_at(m.to()).expect("the piece");
            world.shows(&format!("{}{}", m.to(), piece.char())).wait(land);
        }
        world.wait(4000);
        let record: Vec<&str> = world.announced.iter().map(String::as_str).collect();
        prop_assert_eq!(record.last().map(|last| last.trim_start_matches("no, ")), played.last().map(String::as_str));
        let (ply, grown, again) = world.tracker.best_lines(world.now).expect("the board showed it");
        prop_assert_eq!(ply as usize + grown.len(), played.len());
        prop_assert_eq!(grown, again);
    }
}
