//! Tests of boards on a bus, which report changes only when they are polled.

use core::time::Duration;

use kiebitz_hardware::{Observation, Timestamp};
use kiebitz_protocol::{Dump, Element, Field};

use super::gaps::elements;
use super::{START, World};

/// Answers a poll with the changes since `since`. Returns the time of the poll.
fn answers(world: &mut World, since: Timestamp, elements: Vec<Element>) -> Timestamp {
    let asked = world.now;
    world.observe(Observation::Changes {
        elements,
        not_before: since,
        not_after: asked,
        from_before: false,
    });
    asked
}

/// The elements with which a board lists its pieces after a loss of power.
pub(super) fn listed_at_power_up(fields: &Dump) -> Vec<Element> {
    let pieces = (0..64).rev().filter_map(|field| {
        Some(Element::PieceChange {
            contents: Some(fields[usize::from(field)]?),
            field: Field::new(field)?,
            quick: false,
        })
    });
    core::iter::once(Element::PowerUp).chain(pieces).collect()
}

/// Closes the port, and opens it ten seconds later.
fn goes_away(world: &mut World) {
    let reason = "the board does not answer".to_owned();
    world.observe(Observation::Closed { reason });
    world.wait(10_000).observe(Observation::Opened);
}

#[test]
fn a_polled_board_reports_the_changes_since_the_last_poll() {
    let mut world = World::new(START);
    world.clock(true, true);
    let since = world.now;
    world.wait(3000);
    answers(&mut world, since, elements("e2. e4P R e7. e5p L"));
    assert_eq!(world.announced.join(" "), "e4 e5");
    assert_eq!(
        world.tracker.clock().map(|face| face.clock.white_ms),
        Some(290_000)
    );
    world.has_announced("e4 e5");
}

/// Plies before the loss of power were recorded. Plies without power are inferred.
#[test]
fn a_polled_board_that_lost_its_power_has_a_gap() {
    let mut world = World::new(START);
    world.clock(true, true);
    let since = world.now;
    // Without power, 1...e5 2.Nf3 were played. Black's knight is in a hand.
    let fields = World::new("r.bqkbnrpppp.ppp............p.......P........N..PPPP.PPPRNBQKB.R").fields;
    let recorded = [
        elements("e2. e4P R"),
        listed_at_power_up(&fields),
        elements("c6n L"),
    ]
    .concat();
    world.wait(6000);
    let since = answers(&mut world, since, recorded);
    world.fields = World::new("r.bqkbnrpppp.ppp..n.........p.......P........N..PPPP.PPPRNBQKB.R").fields;
    world.dump().wait(2000);
    answers(&mut world, since, Vec::new());
    world.has_announced("e4 Inferred: e5 Nf3 Nc6");
}

/// After a gap, the board answers a poll sent before the gap. Only the next poll covers the gap.
#[test]
fn a_repeated_answer_from_before_a_gap_does_not_cover_the_gap() {
    for (from_before, then) in [("", "e7. e5p"), ("e7.", "e5p"), ("e7. e5p", "")] {
        let mut world = World::new(START);
        world.shows("e2. e4P").wait(4000);
        let closed = world.now;
        goes_away(&mut world);
        for (text, asked, from_before) in [(from_before, closed, true), (then, world.now, false)] {
            world.wait(30).observe(Observation::Changes {
                elements: elements(text),
                not_before: closed,
                not_after: asked + Duration::from_millis(20),
                from_before,
            });
        }
        world.fields =
            World::new("rnbqkbnrpppp.ppp............p.......P...............PPPP.PPPRNBQKBNR").fields;
        world.dump();
        world.has_announced("e4 Memory: e5");
    }
}

#[test]
fn an_answer_that_came_late_covers_the_time_until_its_poll() {
    let mut world = World::new(START);
    world.clock(true, true);
    let asked = world.now;
    let after = |seconds| asked + Duration::from_secs(seconds);
    // The first answer was damaged, and the board repeated it late. The next poll follows at once.
    let answers = [
        (6000, "e2. e4P R", 2),
        (
            50,
            "g8. f6n b1. c3N f6. g8n c3. b1N b8. c6n g1. f3N c6. b8n f3. g1N R",
            6,
        ),
        (2000, "", 8),
    ];
    for (waited, text, seconds) in answers {
        world.wait(waited).observe(Observation::Changes {
            elements: elements(text),
            not_before: after(seconds).saturating_sub(Duration::from_secs(4)),
            not_after: after(seconds),
            from_before: false,
        });
    }
    world.has_announced("e4 Nf6 Nc3 Ng8 Nb1 Nc6 Nf3 Nb8 Ng1");
}

/// The dump comes before the changes that led to its placement, and does not show their order.
#[test]
fn a_dump_between_two_answers_does_not_hide_the_order_of_moves() {
    for (changes, moves) in [
        ("d2. d4P R e7. e5p L e2. e4P R", "d4 e5 e4"),
        ("e2. e4P R e7. e5p L d2. d4P R", "e4 e5 d4"),
    ] {
        let mut world = World::new(START);
        world.clock(true, true);
        let since = world.now;
        world.wait(2000);
        let since = answers(&mut world, since, Vec::new());
        world.wait(3500);
        world.fields = World::new("rnbqkbnrpppp.ppp............p......PP...........PPP..PPPRNBQKBNR").fields;
        world.dump().wait(500);
        answers(&mut world, since, elements(changes));
        world.has_announced(moves);
    }
}

/// Changes that the next answer does not list were lost, so the dump decides.
#[test]
fn a_dump_shows_changes_that_no_answer_lists() {
    let mut world = World::new(START);
    world.clock(true, true);
    let since = world.now;
    world.wait(2000);
    let since = answers(&mut world, since, Vec::new());
    world.wait(2000);
    world.fields = World::new("rnbqkbnrpppppppp....................P...........PPPP.PPPRNBQKBNR").fields;
    world.dump().wait(500);
    let since = answers(&mut world, since, Vec::new());
    world.wait(2000);
    answers(&mut world, since, elements("e7. e5p L"));
    world.has_announced("e4 e5");
}

/// A pawn stood on h3 when the board was last heard. A line with h2-h4 instead of h2-h3 leads to the same placement,
/// and is wrong.
#[test]
fn a_line_over_a_gap_contains_the_observations_before_it() {
    let mut world = World::new(START);
    let since = world.now;
    world.wait(3000);
    let since = answers(&mut world, since, elements("h2. h3P"));
    // Without power, 1...c6 2.h4 e5 3.Rh2 were played.
    let fields = World::new("rnbqkbnrpp.p.ppp..p.........p..........P........PPPPPPPRRNBQKBN.").fields;
    world.wait(3000);
    world.fields = fields;
    let since = answers(&mut world, since, listed_at_power_up(&fields));
    world.dump().wait(2000);
    answers(&mut world, since, Vec::new());
    world.wait(4000);
    assert!(
        !world.announced.contains(&"h4".to_owned()),
        "{:?}",
        world.announced
    );
}

/// Plays a game of six plies and puts its pieces back. Returns the time of the last poll.
fn sets_up_again(world: &mut World) -> Timestamp {
    world.clock(true, true);
    let since = world.now;
    world.wait(8000);
    let moves = "e2. e4P R e7. e5p L g1. f3N R b8. c6n L f1. c4B R f8. c5b L";
    let since = answers(world, since, elements(moves));
    world.wait(5000).clock(true, false).wait(5000);
    let mut home = elements("c4. f1B c5. f8b f3. g1N c6. b8n e4. e2P e5. e7p");
    home.push(Element::StartPosition);
    let since = answers(world, since, home);
    world.announced.clear();
    since
}

/// The pieces for the next game stood when the board was last heard. The plies while it was away were not observed.
#[test]
fn plies_in_a_gap_after_the_pieces_were_set_up_are_undecidable() {
    let mut world = World::new(START);
    let since = sets_up_again(&mut world);
    world.wait(8000);
    goes_away(&mut world);
    let fields = World::new("r.bqkbnrppppppppn...................P........N..PPPP.PPPRNBQKB.R").fields;
    world.fields = fields;
    answers(&mut world, since, listed_at_power_up(&fields));
    let since = world.now;
    world.dump().wait(2000);
    let since = answers(&mut world, since, Vec::new());
    world.wait(14_000);
    answers(&mut world, since, Vec::new());
    world.has_announced("withdrawn Undecidable:");
}

/// Kings are put in the centre before the first dump after a gap, so the moves in the gap stay unknown.
#[test]
fn a_result_shown_in_a_gap_does_not_reveal_moves() {
    let mut world = World::new(START);
    world.clock(true, true);
    let since = world.now;
    world.wait(3000);
    let since = answers(&mut world, since, elements("e2. e4P R"));
    world.wait(8000);
    goes_away(&mut world);
    let fields = World::new("rnbqkbnrpp.ppppp..........p.........P........N..PPPP.PPPRNBQKB.R").fields;
    let since = answers(&mut world, since, listed_at_power_up(&fields));
    world.observe(Observation::Disturbed { bytes: 1 });
    world.wait(3000);
    let since = answers(&mut world, since, elements("e1. d4K e8. e5k"));
    world.wait(4000);
    answers(&mut world, since, Vec::new());
    world.has_announced("e4 0-1");
}

/// If one answer ends with the start position, that position has stood for a moment, even if the next answer contains
/// many plies.
#[test]
fn a_game_begins_with_the_next_answer() {
    let mut world = World::new(START);
    let since = sets_up_again(&mut world);
    world.clock(true, true).wait(13_000);
    let out_and_back = " g1. f3N R b8. c6n L f3. g1N R c6. b8n L".repeat(5);
    let since = answers(
        &mut world,
        since,
        elements(&format!("e2. e4P R e7. e5p L{out_and_back}")),
    );
    world.wait(1000);
    answers(&mut world, since, Vec::new());
    // Putting pieces home after the clock was stopped is not a move.
    world.has_announced(&format!("set up from 10 e4 e5{}", " Nf3 Nc6 Ng1 Nb8".repeat(5)));
}

/// The queen passed c2 on her way to c1, and moves to c2 with the next move.
#[test]
fn a_square_passed_in_one_move_can_be_reached_by_the_next() {
    let mut world = World::new(START);
    world.clock(true, true);
    let since = world.now;
    world.wait(9000);
    let moves = "d2. d4P R d7. d5p L c1. f4B R c8. f5b L c2. c3P R c7. c6p L";
    let since = answers(&mut world, since, elements(moves));
    world.wait(2200);
    let since = answers(&mut world, since, elements("d1. c2.' c1Q b8."));
    world.announced.clear();
    world.wait(2100);
    let since = answers(&mut world, since, elements("d7n c1. R c2Q"));
    world.wait(2300);
    answers(&mut world, since, Vec::new());
    world.has_announced("Nd7 Qc2");
}
