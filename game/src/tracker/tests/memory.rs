//! Tests of gaps that the board's memory fills, and of lost reports that it replaces.

use kiebitz_hardware::Observation;
use kiebitz_protocol::Element;
use shakmaty::CastlingMode;

use super::gaps::{elements, journaled};
use super::polled::listed_at_power_up;
use super::{START, World, wire};
use crate::events::DoubtfulPlies;
use crate::position::State;
use crate::tracker::memory;
use crate::tracker::node::PlyStatus;

/// Black's reply was announced but not confirmed when the daemon was stopped. The memory shows that it stood.
#[test]
fn the_memory_confirms_the_last_announced_ply() {
    let mut world = World::new(START);
    let (start, [e4, e5]) = journaled(&world, ["e2e4", "e7e5"]);
    let plies = [(&e4, true), (&e5, false)];
    world.tracker.resume(world.now, &start, plies, None);
    change_unreported(&mut world, "e2. e4P e7. e5p g1. f3N");
    world.wait(20_000).observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
    memory_comes(&mut world, "e2. e4P e7. e5p g1. f3N");
    world.has_announced("Memory: Nf3");
}

#[test]
fn a_game_that_began_before_the_board_was_heard_is_read_from_the_memory() {
    let mut world = World::new("rnbqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R");
    memory_comes(&mut world, "e2. e4P e7. e5p g1. f3N");
    world.has_announced("e4 e5 Nf3");
}

/// The board was heard for too short a time to find a game on it, and had no power before.
#[test]
fn a_memory_of_a_game_that_is_not_known_is_undecidable() {
    let mut world = World::new("rnbqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R");
    let elements = [listed_at_power_up(&world.fields), elements("d7. d6p")].concat();
    comes_back(&mut world, 5000, "d7. d6p");
    world.observe(Observation::Memory { elements });
    world.has_announced("Undecidable:");
}

#[test]
fn reports_held_back_by_the_memory_are_announced_in_order() {
    let mut world = World::new(START);
    world.misses("rnbqkbnrpppppppp....................P...........PPPP.PPPRNBQKBNR");
    world.announced.clear();
    comes_back(&mut world, 20_000, "");
    world.wait(4000);
    memory_comes(&mut world, "e2. e4P");
    // The plies took twelve seconds, and are reported within a tenth of a second.
    world
        .shows("e7. e5p g1. f3N b8. c6n")
        .has_announced("Memory: e5 Nf3 Nc6");
}

/// Reports that were held back arrive within one scan. Moves back and forth among them count once.
#[test]
fn moves_back_and_forth_that_are_reported_late_are_made_once() {
    let mut world = World::new(START);
    world.misses("rnbqkbnrpppppppp....................P...........PPPP.PPPRNBQKBNR");
    world.announced.clear();
    comes_back(&mut world, 20_000, "");
    world.wait(12_000);
    memory_comes(&mut world, "e2. e4P");
    world.shows("g8. f6n g1. f3N f6. g8n f3. g1N e7.");
    world.wait(350).shows("e6p").wait(1000);
    world.has_announced("Memory: Nf6 Nf3 Ng8 Ng1 e6");
}

/// The board sends its memory for 8 s, with five plies and the clock reading after each of them.
#[test]
fn reports_held_back_are_spread_over_the_wait_with_their_clock_readings() {
    let mut world = resting();
    let requested_at = world.now;
    world.wait(8000);
    memory_comes(&mut world, "e2. e4P");
    let plies = ["g8. f6n", "g1. f3N", "f6. g8n", "f3. g1N", "e7. e6p"];
    let times = [[198, 190], [197, 190], [197, 189], [196, 189], [196, 188]];
    for (nth, (squares, times)) in plies.into_iter().zip(times).enumerate() {
        world.shows(squares).times(nth % 2 == 0, true, times);
    }
    world.has_announced("Memory: Nf6 Nf3 Ng8 Ng1 e6");
    let completed = (2..).zip(times.map(|times| Some(times.map(u64::from))));
    assert_eq!(world.completion_times, completed.collect::<Vec<_>>());
    let earlier = core::iter::once(requested_at).chain(world.stood.iter().copied());
    for (before, stood) in earlier.zip(&world.stood) {
        let passed = stood.saturating_duration_since(before);
        assert!(passed.as_millis().abs_diff(1350) < 300, "{passed:?}");
    }
}

#[test]
fn a_dump_or_a_closed_port_ends_the_burst_of_reports() {
    let closed = || Observation::Closed {
        reason: "unplugged".to_owned(),
    };
    for closes in [false, true] {
        let mut world = resting();
        world.wait(8000);
        memory_comes(&mut world, "e2. e4P");
        world.shows("g8. f6n g1. f3N");
        assert_eq!(world.announced.join(" "), "Memory:");
        if closes {
            world.observe(closed());
        } else {
            world.dump().wait(60);
        }
        assert_eq!(world.announced.join(" "), "Memory: Nf6 Nf3");
    }
}

#[test]
fn a_report_after_the_burst_is_announced_as_usual() {
    let mut world = resting();
    world.wait(8000);
    memory_comes(&mut world, "e2. e4P");
    world.shows("g8. f6n").wait(230).shows("g1. f3N").wait(60);
    assert_eq!(world.announced.join(" "), "Memory: Nf6 Nf3");
    let passed = world.now.saturating_duration_since(world.stood[1]);
    assert!(passed.as_millis() < 100, "{passed:?}");
}

/// White has played e4 before a gap without further plies, and the board's memory has just been requested.
fn resting() -> World {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world.wait(1000).shows("e2. e4P").wait(1000);
    world.times(false, true, [198, 200]).wait(1000);
    comes_back(&mut world, 20_000, "");
    world.times(false, true, [198, 195]).announced.clear();
    world.completion_times.clear();
    world.stood.clear();
    world
}

/// White draws the bishop over e2. The reports were held back, so the press seems to come while the bishop stands on
/// e2, and its resting time is not known.
#[test]
fn a_piece_that_is_drawn_in_late_reports_has_not_rested() {
    let mut world = World::new(START);
    world.clock(true, true).wait(2000).shows("e2. e4P").wait(1000);
    world.clock(false, true).wait(1000);
    comes_back(&mut world, 20_000, "");
    world.wait(9000);
    memory_comes(&mut world, "e2. e4P");
    world.shows("e7. e6p").clock(true, true);
    world.shows("f1. e2B").clock(false, true);
    world.shows("e2. c4B a7. a6p").clock(true, true);
    world.wait(3000).has_announced("e4 Memory: e6 Bc4 a6");
}

/// Bytes of the memory were lost on the serial line, so it lacks Nf3. The board still shows the knight.
#[test]
fn a_damaged_memory_does_not_undo_a_ply_that_stands() {
    let mut world = World::new(START);
    for squares in ["e2. e4P", "e7. e5p", "g1. f3N", "b8. c6n", "f1. c4B"] {
        world.shows(squares).wait(4000);
    }
    world.announced.clear();
    comes_back(&mut world, 20_000, "");
    memory_comes(&mut world, "e2. e4P e7. e5p b8. c6n f1. c4B");
    world.wait(3000).has_announced("Memory:");
}

/// The board falls silent seven seconds before its port closes. The clock runs, so the plies had those seconds.
#[test]
fn the_silence_before_the_port_closes_is_time_for_plies() {
    let mut world = given("2bqkb1r/2pp1N2/PpnP2p1/4ppn1/p4P1p/N7/P1PKP1PP/R1B1QB1R b k - 0 14");
    let before = listed_at_power_up(&world.fields);
    world.clock(false, true).wait(7000);
    let played = "c6. b4n e5. f4. e5P g5. f7n c1. b2B d8. g5q e2. e3P h4. h3p e1. b1Q";
    comes_back(&mut world, 300, played);
    world.wait(2000);
    let elements = [before, elements(played), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.has_announced("Inferred: Nb4 fxe5 Nxf7 Bb2 Qg5+ e3 h3 Qb1");
}

/// White's bishop goes to f2 in one gap and on to d4 in the next. Between them, Black's knight left d4 for f5 and stood
/// there for long. When this knight is lifted again, it is not a piece that the bishop captured on d4.
#[test]
fn a_piece_that_stood_for_long_was_not_captured_before() {
    let mut world = given("r1kqr1b1/p1ppp3/4nPpp/1P6/1P1nP3/2b5/2PP2PP/RNK1RNBB w - - 0 11");
    let listed = listed_at_power_up(&world.fields);
    let goes_on = |world: &mut World, before: &str, played: &str| {
        comes_back(world.wait(3000), 20_000, played);
        let elements = [&listed[..], &elements(before), &elements(played), &[Element::End]].concat();
        world.observe(Observation::Memory { elements });
    };
    goes_on(&mut world, "", "g1. f2B");
    world.wait(3000).shows("d4. f5n").wait(15_000);
    goes_on(&mut world, "g1. f2B d4. f5n", "f2. e3B e3. d4B");
    world.wait(3000).shows("f5.").wait(600).shows("h4n");
    world.has_announced("Undecidable: Bf2 Nf5 Memory: Bd4 Nh4");
}

/// White's bishop may still be moving when the last late report comes, so its move is not beyond doubt.
#[test]
fn a_ply_that_is_reported_late_is_not_confirmed_at_once() {
    let mut world = World::new(START);
    comes_back(&mut world, 20_000, "e2. e4P e7. e5p");
    world.wait(4000);
    let elements = vec![Element::PowerUp, Element::End];
    world.observe(Observation::Memory { elements });
    world.shows("f1. c4B").wait(1800);
    assert_eq!(world.announced.join(" "), "Inferred: e4 e5 Bc4");
    let tip = |world: &World| {
        let tree = &world.tracker.line.as_ref().expect("a line").tree;
        tree.node(tree.tip()).standing
    };
    assert_eq!(tip(&world), PlyStatus::Announced);
    world.wait(3000);
    assert_eq!(tip(&world), PlyStatus::Confirmed);
}

/// A board on which an arbiter has set the position `fen`.
pub(super) fn given(fen: &str) -> World {
    let placement = fen.split_whitespace().next().unwrap_or_default();
    let squares = placement.chars().filter(|letter| *letter != '/');
    let squares = squares.map(|letter| match letter.to_digit(10) {
        Some(empty) => ".".repeat(empty as usize),
        None => letter.to_string(),
    });
    let mut world = World::new(&squares.collect::<String>());
    let state = State::from_fen(fen, CastlingMode::Standard).expect("a FEN");
    world.tracker.set_position(world.now, state);
    world
}

/// Closes the port for `millis` ms while `squares` change without reports, then requests the memory.
fn comes_back(world: &mut World, millis: u64, squares: &str) {
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    change_unreported(world, squares);
    world.wait(millis).observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
}

pub(super) fn change_unreported(world: &mut World, squares: &str) {
    for (field, contents) in memory::changes(&elements(squares)) {
        world.fields[field.index()] = contents;
    }
}

/// Sends a memory with the changes `played` since the start position.
fn memory_comes(world: &mut World, played: &str) {
    let elements = [&[Element::StartPosition][..], &elements(played), &[Element::End]].concat();
    world.observe(Observation::Memory { elements });
}

/// A gap in which `played` happens. The memory has the changes `before` and `played`.
fn remembers(world: &mut World, before: &str, played: &str) {
    world.announced.clear();
    world.settled = 0;
    comes_back(world, 12_000, played);
    memory_comes(world, &format!("{before} {played}"));
}

/// The memory has Black's time at the press. White's time had not run since White's own press, whatever the clock shows
/// now.
#[test]
fn the_time_of_the_other_side_at_a_recorded_press_is_the_one_before_the_gap() {
    let mut world = World::new(START);
    world.times(true, false, [200, 200]).times(true, true, [200, 200]);
    world.wait(1000).shows("e2. e4P").wait(1000);
    world
        .times(false, true, [198, 200])
        .wait(1000)
        .times(false, true, [198, 199]);
    let played = "e7. e5p L g1. f3N b8. c6n";
    comes_back(&mut world, 12_000, played);
    world
        .times(true, true, [190, 196])
        .wait(1000)
        .times(true, true, [189, 196]);
    memory_comes(&mut world, &format!("e2. e4P {played}"));
    world.wait(4000);
    assert_eq!(
        world.completion_times[..2],
        [(1, Some([198, 200])), (2, Some([198, 290]))]
    );
}

/// A line was inferred before the daemon was stopped. Black's next move contradicts it, and several other lines fit.
#[test]
fn an_inferred_line_is_withdrawn_if_another_fits_as_well() {
    let mut world = World::new(START);
    let plies = ["g2g4", "h7h6", "h2h3", "b7b5", "c2c4", "g8f6"];
    let (start, plies) = journaled(&world, plies);
    let doubt = DoubtfulPlies {
        from: world.now,
        first: 2,
        last: 6,
    };
    let plies = plies.iter().map(|ply| (ply, ply.number < 6));
    world.tracker.resume(world.now, &start, plies, Some(doubt));
    let stands = "rnbqkb.rp.ppppp......n.p.p........P...P........PPP.PPP..RNBQKBNR";
    for (field, letter) in world.fields.iter_mut().zip(stands.chars()) {
        *field = wire(letter);
    }
    world.wait(20_000).observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
    let elements = [listed_at_power_up(&world.fields), vec![Element::End]].concat();
    world.wait(2000).observe(Observation::Memory { elements });
    world.wait(300).shows("d7. d6p").wait(6000);
    world.has_announced("Inferred: withdrawn Undecidable:");
}

/// The memory has no times, so a queen that is drawn over squares looks like two moves, and a captured pawn that is
/// laid aside looks like one.
#[test]
fn a_captured_piece_that_is_taken_away_has_not_moved() {
    let mut world = World::new(START);
    let before = ["e2. e3P", "a7. a6p", "d1. f3Q", "g8. f6n"];
    for squares in before {
        world.shows(squares).wait(4000);
    }
    let played = "d5Q' f3.' b7.' b6p' d5.' b7Q' b6. a6. a5p' g2. g3P' h7. h6p'";
    remembers(&mut world, &before.join(" "), played);
    world.has_announced("Memory: Qxb7 a5 g3 h6");
}

/// Black captures the bishop before its square is scanned, so the memory lacks Bc4. The memory does not show for how
/// long the bishop was gone either, so an unread square is not considered.
#[test]
fn a_ply_that_the_memory_lacks_is_announced_at_once() {
    let mut world = World::new(START);
    let before = ["e2. e4P", "b8. c6n", "a2. a3P", "c6. a5n"];
    for squares in before {
        world.shows(squares).wait(4000);
    }
    remembers(&mut world, &before.join(" "), "f1. a5. c4n");
    world.has_announced("Memory: Bc4 Nxc4");
}

/// The dump comes while Black draws a bishop over b2. The rest of its way is reported late, after a memory that lacks
/// the plies of the gap.
#[test]
fn a_piece_that_a_dump_shows_on_its_way_has_not_stood_there() {
    let mut world = given("4k3/8/8/8/8/b4K2/8/2B5 w - - 0 1");
    world.wait(3000);
    comes_back(&mut world, 20_000, "f3. g4K a3. c1. b2b");
    world.wait(3000);
    let elements = vec![Element::PowerUp, Element::End];
    world.observe(Observation::Memory { elements });
    world.shows("b2. c1b").has_announced("Inferred: Kg4 Bxc1");
}

/// A bishop is drawn to its capture on f2. The memory does not mark every change as quick, as if the bishop had paused.
#[test]
fn a_piece_that_goes_on_to_a_capture_has_not_moved_before() {
    let mut world = World::new(START);
    let before = [
        "g2. g3P",
        "e7. e5p",
        "b2. b4P",
        "f8. d6b",
        "f1. g2B",
        "d6. b4. b4b",
        "c1. a3B",
        "b4. c5b",
        "d1. c1Q",
    ];
    world.clock(true, true);
    for (squares, whites_turn) in before.into_iter().zip([false, true].into_iter().cycle()) {
        world
            .shows(squares)
            .wait(2000)
            .clock(whites_turn, true)
            .wait(2000);
    }
    remembers(&mut world, &before.join(" "), "c5. d4.' e3b' f2. e3. f2b' L");
    assert_eq!(
        (world.announced.join(" "), world.settled),
        ("Memory: Bxf2+".to_owned(), 1)
    );
}

/// The last placement also fits a shorter line: White's bishop has moved twice.
#[test]
fn reports_while_a_memory_is_awaited_in_vain_count_as_watched() {
    let mut world = World::new(START);
    comes_back(&mut world, 20_000, "e2. e4P");
    for reports in ["e7. e5p", "f1. c4B", "a7. a6p", "c4. b5B"] {
        world.wait(1500).shows(reports);
    }
    world.wait(60_000).has_announced("Inferred: e4 e5 Bc4 a6 Bb5");
}

#[test]
fn a_port_that_closes_again_before_the_memory_comes_is_the_same_gap() {
    let mut world = World::new(START);
    let unplugged = || Observation::Closed {
        reason: "unplugged".to_owned(),
    };
    world.shows("e2. e4P").wait(4000).observe(unplugged());
    world.wait(20_000);
    change_unreported(&mut world, "e7. e5p");
    world.observe(Observation::Opened);
    world.dump().wait(300).observe(unplugged());
    world.wait(20_000);
    change_unreported(&mut world, "g1. f3N");
    world.observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
    memory_comes(&mut world, "e2. e4P e7. e5p g1. f3N");
    world.has_announced("e4 Memory: e5 Nf3");
}

/// White's move was not reported, but Black's reply was. The memory has both, in order.
#[test]
fn lost_reports_are_read_from_the_memory_and_the_line_is_followed_again() {
    let mut world = World::new(START);
    let known_until = world.dump().now;
    change_unreported(world.wait(4000), "e2. e4P");
    world.shows("e7. e5p").wait(1000).dump();
    world.wait(300).observe(Observation::MemoryAsked);
    assert_eq!(world.tracker.silent_since(), Some(known_until));
    memory_comes(&mut world, "e2. e4P e7. e5p");
    assert_eq!(world.tracker.silent_since(), None);
    world.wait(3000).has_announced("e4 e5 Memory:");
}

/// Play has refuted an inferred line. The memory begins after that line.
#[test]
fn an_inferred_line_that_was_refuted_does_not_come_back() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    world.misses("rnbqkbnrpppp.ppp............p.......P...........PPPP.PPPRNBQKBNR");
    world.wait(300).dump();
    let listed = listed_at_power_up(&world.fields);
    world.shows("d7. d6p").wait(6000);
    world.observe(Observation::MemoryAsked);
    let elements = [listed, elements("d7. d6p"), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.has_announced("e4 Inferred: e5 withdrawn Undecidable:");
}

/// A memory that begins when the power comes back does not cover the time without power. White's d3 may be the reply to
/// an unrecorded ply of Black's.
#[test]
fn a_position_listed_at_power_up_may_have_been_reached_again() {
    let mut world = World::new(START);
    let (out, back) = (
        ["g1. f3N", "b8. c6n", "b1. c3N", "g8. f6n"],
        ["f3. g1N", "f6. g8n", "c3. b1N"],
    );
    for squares in [&["e2. e4P", "e7. e5p"][..], &out, &back].concat() {
        world.shows(squares).wait(4000);
    }
    change_unreported(&mut world, "c6. b8n");
    let listed = listed_at_power_up(&world.fields);
    comes_back(&mut world, 20_000, "d2. d3P");
    let elements = [listed, elements("d2. d3P"), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.has_announced("e4 e5 Nf3 Nc6 Nc3 Nf6 Ng1 Ng8 Nb1 Inferred: Nb8 d3");
}

/// The same start position stands before and after a time without power, which the memory does not cover.
#[test]
fn a_time_without_power_at_a_start_position_is_undecidable() {
    let mut world = World::new(START);
    comes_back(&mut world, 20_000, "");
    let elements = [listed_at_power_up(&world.fields), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.has_announced("Undecidable:");
}

/// Four of White's pawns have gone one square each, between moves of a knight out and back. None of it was reported.
#[test]
fn lost_reports_that_look_like_a_jolt_are_read_from_the_memory() {
    let mut world = World::new(START);
    world.dump().wait(4000);
    let played = "a2. a3P b8. c6n b2. b3P c6. b8n c2. c3P b8. c6n d2. d3P c6. b8n";
    change_unreported(&mut world, played);
    world.dump().wait(300).observe(Observation::MemoryAsked);
    memory_comes(&mut world, played);
    world.has_announced("a3 Nc6 b3 Nb8 c3 Nc6 d3 Memory: Nb8");
}

/// Black's move between two moves of White's was not reported, so White's knight seems to have been put back.
#[test]
fn a_ply_that_was_withdrawn_wrongly_is_announced_again() {
    let mut world = World::new(START);
    world.shows("g1. f3N").wait(4000).dump().wait(4000);
    change_unreported(&mut world, "e7. e5p");
    world.shows("f3. g1N").wait(3000).dump();
    world.wait(300).observe(Observation::MemoryAsked);
    memory_comes(&mut world, "g1. f3N e7. e5p f3. g1N");
    world.has_announced("Nf3 taken back Nf3 e5 Ng1 Memory:");
}

/// The dump after a gap shows unreported changes, which does not mean that reports were lost.
#[test]
fn reports_lost_soon_after_a_gap_are_read_from_the_memory_as_well() {
    let mut world = World::new(START);
    comes_back(world.shows("e2. e4P").wait(4000), 20_000, "e7. e5p");
    memory_comes(&mut world, "e2. e4P e7. e5p");
    world.wait(3000);
    // The knights' moves are not reported. The pawns that follow could have moved before them.
    change_unreported(&mut world, "g1. f3N b8. c6n");
    world.shows("d2. d3P d7. d6p").wait(300).dump();
    world.wait(300).observe(Observation::MemoryAsked);
    memory_comes(&mut world, "e2. e4P e7. e5p g1. f3N b8. c6n d2. d3P d7. d6p");
    world.has_announced("e4 Memory: e5 d3 d6 no, Nf3 Nc6 d3 Memory: d6");
}

/// The daemon was restarted, and the memory did not come. From the first dump on, the placement is known.
#[test]
fn reports_lost_after_a_gap_without_a_memory_are_read_from_it() {
    let mut world = World::new(START);
    let (start, [e4]) = journaled(&world, ["e2e4"]);
    world.tracker.resume(world.now, &start, [(&e4, true)], None);
    world.wait(60_000).observe(Observation::Opened);
    change_unreported(&mut world, "e2. e4P e7. e5p");
    world.dump().wait(3000);
    change_unreported(&mut world, "g1. f3N b8. c6n");
    world.shows("d2. d3P d7. d6p").wait(300).dump().wait(300);
    world.observe(Observation::MemoryAsked);
    world.wait(3000);
    memory_comes(&mut world, "e2. e4P e7. e5p g1. f3N b8. c6n d2. d3P d7. d6p");
    world.has_announced("Inferred: e5 d3 d6 no, Nf3 Nc6 d3 Memory: d6");
}

/// The memory holds nothing of the gap, after which the start position stands. The first ply came while the memory was
/// being sent. The next two were not reported.
#[test]
fn reports_lost_soon_after_a_game_began_are_read_from_the_memory() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000).observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    world.wait(60_000).observe(Observation::Opened);
    world.fields = World::new(START).fields;
    world.dump().wait(200).observe(Observation::MemoryAsked);
    world.wait(8000).observe(Observation::Memory {
        elements: vec![Element::End],
    });
    world.shows("d2. d3P").wait(3000);
    change_unreported(&mut world, "b8. c6n g1. f3N");
    world.shows("e7. e5p").wait(300).dump().wait(300);
    world.observe(Observation::MemoryAsked);
    world.wait(3000);
    memory_comes(&mut world, "d2. d3P b8. c6n g1. f3N e7. e5p");
    world.has_announced("e4 Undecidable: d3 e5 no, Nc6 Nf3 e5 Memory:");
}

/// The repeated report of e4 shows that an earlier report was lost, so the gap begins before it.
#[test]
fn a_gap_begins_at_the_last_complete_observation() {
    let mut world = World::new(START);
    let known = world.now;
    world.shows("e2. e4P").wait(4000).shows("e4P").wait(1000);
    world.observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    assert!(world.tracker.gap_since.is_some_and(|since| since <= known));
}

#[test]
fn reports_lost_before_a_gap_are_read_from_the_memory_with_it() {
    let mut world = World::new(START);
    world.dump().wait(4000);
    change_unreported(&mut world, "g1. f3N b8. c6n d2. d3P");
    comes_back(world.dump().wait(50), 20_000, "");
    memory_comes(&mut world, "d2. d3P b8. c6n g1. f3N");
    world.has_announced("d3 Nc6 Nf3 Memory:");
}

/// The daemon was stopped before it noticed a lost report, and had announced a wrong last ply.
#[test]
fn a_journal_that_contradicts_the_memory_is_corrected() {
    let cases = [
        ("e7e5", "e2. e4P d7. d6p g1. f3N", "no, d6 Nf3 Memory:"),
        // The pawn went on while the serial line was silent.
        ("d7d6", "e2. e4P d7. d6p d6. d5p g1. f3N", "Memory: no, d5 Nf3"),
    ];
    for (last, memory, expected) in cases {
        let mut world = World::new(START);
        let (start, plies) = journaled(&world, ["e2e4", last]);
        let settled = plies.iter().map(|ply| (ply, true));
        world.tracker.resume(world.now, &start, settled, None);
        change_unreported(&mut world, memory);
        world.wait(20_000).observe(Observation::Opened);
        world.dump().observe(Observation::MemoryAsked);
        memory_comes(&mut world, memory);
        world.has_announced(expected);
    }
}

/// The board had no power while many plies were played, and soon after goes away again. Its memory of the second gap
/// does not cover the first.
#[test]
fn a_memory_of_a_later_gap_does_not_close_an_earlier_one() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(2000);
    world.misses("r..q.rk..pp.bpppp.np.n......p.......P.b...NP.N.PPPP.BPP.R.BQ.RK.");
    let before = [vec![Element::PowerUp], listed_at_power_up(&world.fields)].concat();
    // The memory was not requested.
    world.wait(4000).observe(Observation::Closed {
        reason: "no answer".to_owned(),
    });
    change_unreported(&mut world, "h3. h4P");
    world.wait(3000).observe(Observation::Opened);
    world.dump().observe(Observation::MemoryAsked);
    let elements = [before, elements("h3. h4P"), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.has_announced("e4");
    world.wait(15_000).has_announced("e4 Undecidable:");
}

#[test]
fn pieces_put_home_in_a_gap_while_the_clock_is_stopped_are_not_moves() {
    let mut world = World::new(START);
    world.clock(true, false).clock(true, true).wait(2000);
    world.shows("e2. e4P").wait(1500).clock(false, true).wait(1500);
    world.shows("b8. c6n").wait(1500).clock(true, true).wait(1500);
    world.shows("g1. f3N").wait(1500).clock(false, true).wait(1500);
    world.clock(false, false).wait(2000).observe(Observation::Closed {
        reason: "unplugged".to_owned(),
    });
    change_unreported(&mut world, "c6. b8n f3. g1N");
    world.wait(20_000).observe(Observation::Opened);
    world.clock(false, false);
    world.dump().observe(Observation::MemoryAsked);
    memory_comes(&mut world, "e2. e4P b8. c6n g1. f3N c6. b8n f3. g1N");
    assert_eq!(world.announced.join(" "), "e4 Nc6 Nf3 Memory:");
}

/// The king captures the promoted piece before its square is scanned, so the memory has a second empty square instead.
#[test]
fn a_promoted_piece_that_is_captured_at_once_is_read_from_the_memory() {
    let mut world = World::new("rnbqkb.rppp.P.pp................................PPP..PPPRNBQKBNR");
    world
        .wait(3000)
        .shows("a2. a3P")
        .wait(3000)
        .shows("a7. a6p")
        .wait(3000);
    world.has_announced("a3 a6");
    let before = listed_at_power_up(&world.fields);
    let played = "f8. e7. f8. f8k e8. a3. a4P";
    comes_back(&mut world, 20_000, played);
    let elements = [before, elements("a7. a6p"), elements(played), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.wait(3000).has_announced("a3 a6 Memory: exf8=Q+ Kxf8 a4");
}

/// The board comes back with its power while White's knight is in the air. Its list of pieces at power-up, and the
/// changes after it, show the plies.
#[test]
fn pieces_listed_at_power_up_are_read_before_the_first_dump() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    change_unreported(&mut world, "e7. e5p");
    let listed = listed_at_power_up(&world.fields);
    comes_back(&mut world, 20_000, "g1.");
    world.wait(3000);
    let elements = [listed, elements("g1."), vec![Element::End]].concat();
    world.observe(Observation::Memory { elements });
    world.shows("f3N b8. c6n");
    world.has_announced("e4 Inferred: e5 Nf3 Nc6");
}

/// The memory holds nothing of the gap. The reports that the board held back continue from the placement of the dump.
#[test]
fn reports_held_back_by_a_memory_without_the_gap_continue_from_the_first_dump() {
    let mut world = World::new(START);
    world.shows("e2. e4P").wait(4000);
    comes_back(&mut world, 20_000, "e7. e5p");
    world.wait(200).announced.clear();
    world.observe(Observation::Memory {
        elements: vec![Element::PowerUp, Element::End],
    });
    world.shows("g1. f3N b8. c6n f3. g1N c6. b8n");
    world.has_announced("Inferred: e5 Nf3 Nc6 Ng1 Nb8");
}

/// The port closes while the pieces are set up. The board lists the start position when its power comes back, and White
/// has moved before the first dump.
#[test]
fn a_start_position_listed_at_power_up_begins_a_game() {
    let mut world = World::new(START);
    for squares in ["e2. e4P", "e7. e5p", "g1. f3N", "b8. c6n", "f1. c4B", "f8. c5b"] {
        world.shows(squares).wait(4000);
    }
    world.announced.clear();
    let listed = listed_at_power_up(&World::new(START).fields);
    world.fields = World::new(START).fields;
    comes_back(&mut world, 20_000, "d2. d4P");
    world.wait(3000);
    let elements = [
        listed,
        vec![Element::StartPosition],
        elements("d2. d4P"),
        vec![Element::End],
    ];
    world.observe(Observation::Memory {
        elements: elements.concat(),
    });
    world.shows("d7. d5p").has_announced("Undecidable: d4 d5");
}
