use kiebitz_hardware::Timestamp;
use shakmaty::{CastlingMode, KnownOutcome};

use crate::clock::ClockChange;
use crate::events::{CompletedBy, Recovery};
use crate::laws::{Edition, Mode};
use crate::position::State;
use crate::referee::tests::table::{STANDARD, Table, WHITE_WINS, rules};
use crate::tracker::Finding;

const KNIGHTS: &str = "Nf3 Nf6 Ng1 Ng8";

fn ends(table: &mut Table) -> Vec<String> {
    let mut published = table.published();
    published.retain(|event| event.contains(" by laws"));
    published
}

/// Art. 5.1.1: making the mating move ends the game; the press is not needed.
#[test]
fn mate_ends_the_game_when_it_is_made() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("f3 e5 g4").makes("Qh4#").settles();
    assert_eq!(
        table.published(),
        ["4 completed by game_end", "0-1 checkmate by laws"]
    );
}

/// Laws part 10, case 3; Art. 5.1.1, 6.8: a flag that falls after the mate, but before the mate is settled, changes
/// nothing; nor does a shown result, a resignation or a move.
#[test]
fn events_after_mate_change_nothing() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("f3 e5 g4").makes("Qh4#");
    let made = table.now;
    table.passes(2).settles();
    let ended = table.referee.take_events().pop().expect("the end").event;
    assert_eq!((ended.at, ended.ts), (Some(made), table.now));
    table.shows(WHITE_WINS).makes("a2a3").settles();
    for reason in ["flag", "resignation", "agreement"] {
        let result = if reason == "agreement" { "1/2-1/2" } else { "1-0" };
        let error = table.command(&format!(
            r#""do":"set_result","result":"{result}","reason":"{reason}""#
        ));
        assert!(
            error.starts_with("the game was over with 0-1 by checkmate"),
            "{error}"
        );
    }
    assert_eq!(table.published(), [""; 0]);
}

/// Art. 5.1.1: the pieces are set up again, or a result is shown, before the mate is settled.
#[test]
fn mate_ends_the_game_although_the_pieces_are_set_up_at_once() {
    for last in ["Qh4#", "Qg5"] {
        let mut table = Table::new(Edition::Fide2023);
        table.plays("f3 e5 g4").makes(last);
        let start = State::from_fen(STANDARD, CastlingMode::Standard).expect("a FEN");
        table.set_up(start);
        let mates = last.ends_with('#');
        let end: &[_] = if mates {
            &["4 completed by game_end", "0-1 checkmate by laws"]
        } else {
            &["* reset by board?"]
        };
        assert_eq!(table.published(), end);
    }
    let mut table = Table::new(Edition::Fide2023);
    table.plays("f3 e5 g4").makes("Qh4#").shows(WHITE_WINS);
    assert_eq!(ends(&mut table), ["0-1 checkmate by laws"]);
}

/// Laws part 10, case 1 (constructed); Art. 5.1.1, A.5.2: a king stays in check, and the opponent answers with mate.
#[test]
fn mate_that_answers_an_unnoticed_illegal_move_stands() {
    for edition in [Edition::Fide2018, Edition::Fide2023] {
        let mut table = Table::of(
            "8/3k4/8/3K4/8/8/8/7R w - - 0 1",
            rules(edition, Mode::Blitz, false),
        );
        table.plays("Rh8 d7d8 Kd6#");
        assert_eq!(ends(&mut table), ["1-0 checkmate by laws"]);
    }
}

/// Laws part 10, case 24; Art. 5.1.1, A.4d: both kings are in check, and a legal move mates.
#[test]
fn mate_out_of_an_illegal_position_stands() {
    let fen = "5K2/8/1q6/1N1k4/8/8/8/2R1R3 w - - 1 1";
    let mut table = Table::of(fen, rules(Edition::Fide2014, Mode::Rapid, false));
    table.plays("Re5+ b6c5 Rxc5#");
    assert_eq!(ends(&mut table), ["1-0 checkmate by laws"]);
}

/// Art. 5.1.1: an illegal move that mates does not end the game.
#[test]
fn an_illegal_move_that_mates_does_not_end_the_game() {
    let mut table = Table::of(
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        rules(Edition::Fide2023, Mode::Standard, true),
    );
    // The rook jumps to e8, from where it would mate.
    table.plays("d1e8");
    assert_eq!(table.published(), [""; 0]);
    let mut table = Table::of(
        "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1",
        rules(Edition::Fide2023, Mode::Standard, true),
    );
    table.plays("Re8#");
    assert_eq!(ends(&mut table), ["1-0 checkmate by laws"]);
}

/// Art. 5.2.1.
#[test]
fn stalemate_is_a_draw() {
    let mut table = Table::of(
        "7k/8/5Q2/8/8/8/8/K7 b - - 0 1",
        rules(Edition::Fide1997, Mode::Standard, true),
    );
    table.plays("Kg8 Qe7 Kh8 Qf7");
    assert_eq!(ends(&mut table), ["1/2-1/2 stalemate by laws"]);
}

/// Art. 5.2.2; laws part 4: material that cannot mate at all.
#[test]
fn insufficient_material_is_a_dead_position() {
    for (fen, last) in [
        ("8/8/4k3/8/8/3K4/4p3/8 w - - 0 1", "Kxe2"),
        ("8/8/4k3/8/8/3K1N2/4p3/8 w - - 0 1", "Kxe2"),
        ("8/8/4k3/8/8/3K1B2/4p3/8 w - - 0 1", "Kxe2"),
        // Both bishops are on squares of one colour.
        ("8/8/4k3/2b5/8/3K4/4p3/4B3 w - - 0 1", "Kxe2"),
    ] {
        for edition in [Edition::Fide1997, Edition::Fide2023] {
            let mut table = Table::of(fen, rules(edition, Mode::Standard, true));
            table.plays(last);
            let dead = ends(&mut table) == ["1/2-1/2 dead_position by laws"];
            let one_colour = !fen.contains('b') || fen.contains("2b5");
            assert_eq!(dead, one_colour, "{fen}");
        }
    }
    let mut table = Table::of(
        "8/8/4k3/2b5/8/3K4/4p3/5B2 w - - 0 1",
        rules(Edition::Fide2023, Mode::Standard, true),
    );
    table.plays("Kxe2").passes(5);
    assert_eq!(ends(&mut table), [""; 0]);
}

/// Laws part 5, vector (i); Art. 9.6.1, 9.6a: the fifth occurrence is after 8...Ng8.
#[test]
fn a_fifth_occurrence_ends_the_game_if_the_edition_says_so() {
    for (edition, ended) in [
        (Edition::Fide1997, false),
        (Edition::Fide2009, false),
        (Edition::Fide2014, true),
        (Edition::Fide2017, true),
        (Edition::Fide2018, true),
        (Edition::Fide2023, true),
    ] {
        let mut table = Table::new(edition);
        table.repeats(KNIGHTS, 3).plays("Nf3 Nf6 Ng1");
        assert_eq!(ends(&mut table), [""; 0]);
        table.plays("Ng8");
        let published = ends(&mut table);
        assert_eq!(
            published.iter().any(|event| event == "1/2-1/2 fivefold by laws"),
            ended,
            "{edition}"
        );
    }
}

/// Art. 9.6a of 2014 requires five consecutive alternate moves; since 2017 (9.6.1) any order counts.
#[test]
fn five_times_in_any_order_ends_the_game_since_2017() {
    for (edition, ended) in [(Edition::Fide2014, false), (Edition::Fide2017, true)] {
        let mut table = Table::new(edition);
        table.repeats(KNIGHTS, 2).plays("Nc3 Nc6 Na4 Na5 Nc3 Nc6 Nb1 Nb8");
        table.plays("Nf3 Nf6 Ng1");
        assert_eq!(ends(&mut table), [""; 0]);
        table.plays("Ng8");
        assert_eq!(!ends(&mut table).is_empty(), ended, "{edition}");
    }
}

/// Moves kings and rooks without repeating a position five times.
fn shuffle(table: &mut Table, plies: usize) {
    // White's rook walks over all squares of its half, and Black's king moves to and fro: 2 x 24 positions.
    let mut squares = Vec::new();
    for rank in 1..=4 {
        let files: Vec<char> = if rank % 2 == 1 {
            "abcdef".chars().collect()
        } else {
            "fedcba".chars().collect()
        };
        squares.extend(files.into_iter().map(|file| format!("{file}{rank}")));
    }
    let back: Vec<String> = squares.iter().rev().skip(1).cloned().collect();
    let walk: Vec<String> = squares.into_iter().skip(1).chain(back).collect();
    for nth in 0..plies {
        if nth % 2 == 0 {
            let square = &walk[nth / 2 % walk.len()];
            table.plays(&format!("R{square}"));
        } else {
            let king = if nth / 2 % 2 == 0 { "Kg8" } else { "Kh8" };
            table.plays(king);
        }
    }
}

const ROOK: &str = "7k/7p/8/8/8/8/7P/R6K w - - 0 1";

/// Art. 9.6.2: since 2017 with the making of the last move; not in 1997 and 2009.
#[test]
fn seventy_five_moves_end_the_game() {
    for (edition, ended) in [
        (Edition::Fide2009, false),
        (Edition::Fide2017, true),
        (Edition::Fide2023, true),
    ] {
        let mut table = Table::of(ROOK, rules(edition, Mode::Standard, true));
        shuffle(&mut table, 149);
        assert_eq!(ends(&mut table), [""; 0], "{edition}");
        let before = table.last();
        table.makes("Kg8");
        assert_eq!(before, 149);
        table.settles();
        assert_eq!(!ends(&mut table).is_empty(), ended, "{edition}");
    }
}

/// Art. 9.6b of 2014: each player must have completed the moves, so the press counts.
#[test]
fn seventy_five_moves_must_be_completed_in_2014() {
    let mut table = Table::of(ROOK, rules(Edition::Fide2014, Mode::Standard, true));
    shuffle(&mut table, 149);
    table.makes("Kg8").settles();
    assert_eq!(ends(&mut table), [""; 0]);
    table.completes(150, CompletedBy::Press);
    assert_eq!(ends(&mut table), ["1/2-1/2 seventy_five_moves by laws"]);

    // Without an observed press, the player's next move completes the move (Art. 6.2a).
    let mut table = Table::of(ROOK, rules(Edition::Fide2014, Mode::Standard, true));
    shuffle(&mut table, 149);
    table.makes("Kg8").settles().plays("Kg1");
    assert_eq!(ends(&mut table), [""; 0]);
    table.completes(150, CompletedBy::OwnNextMove);
    assert_eq!(ends(&mut table), ["1/2-1/2 seventy_five_moves by laws"]);
}

/// Art. 9.6.2: a 75th move that mates is mate.
#[test]
fn mate_comes_before_seventy_five_moves() {
    let fen = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 149 100";
    let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Standard, true));
    table.plays("Re8#");
    assert_eq!(ends(&mut table), ["1-0 checkmate by laws"]);
}

/// A ply after the end, published before the end was settled, is withdrawn.
#[test]
fn a_reply_after_the_end_is_not_part_of_the_game() {
    let mut table = Table::new(Edition::Fide2023);
    table.repeats(KNIGHTS, 3).plays("Nf3 Nf6 Ng1");
    table.makes("Ng8").makes("e4");
    table.published();
    let (ply, by) = (16, crate::events::SettledBy::Reply);
    let odds = Some(1000);
    table.finds(Finding::Settled { ply, by, odds });
    // Evidence for the end of the game is not evidence against the reply.
    let odds: Vec<_> = table
        .referee
        .events
        .iter()
        .map(|explained| explained.odds)
        .collect();
    assert_eq!(odds, [Some(1000), None, None, None, None]);
    let published = table.published();
    assert_eq!(
        published,
        [
            "not 17: after_end",
            "16 completed by game_end",
            "1/2-1/2 fivefold by laws"
        ]
    );
}

/// A result shown before the first move does not count. The kings can be corrected until the arbiter has confirmed the
/// result.
#[test]
fn a_result_shown_by_kings_is_a_proposal_until_confirmed() {
    let mut table = Table::of(STANDARD, rules(Edition::Fide2023, Mode::Standard, true));
    table
        .shows(KnownOutcome::Draw)
        .plays("e4 e5")
        .shows(KnownOutcome::Draw)
        .shows(KnownOutcome::Draw)
        .shows(WHITE_WINS);
    assert_eq!(
        table.published(),
        ["1/2-1/2 kings by board?", "1-0 kings by board?"]
    );
    assert_eq!(table.command(r#""do":"set_result","result":"1-0""#), "");
    table.shows(KnownOutcome::Draw);
    assert_eq!(table.published(), ["arbiter: 1-0 kings"]);
}

/// In the board's memory, the last moves of a game cannot be told from hands that put the pieces back.
#[test]
fn an_unobserved_end_is_published_as_uncertain() {
    let after_a_gap = || {
        let mut table = Table::new(Edition::Fide2023);
        table.plays("e4 e5");
        table.finds(Finding::Recovered {
            by: Recovery::Memory,
            changes: 4,
            from: Timestamp::from_micros(0),
            to: Timestamp::from_micros(1),
        });
        table
    };
    let in_doubt = "1-0 kings by board?, end not watched";
    let mut table = after_a_gap();
    table.shows(WHITE_WINS);
    assert_eq!(table.published(), [in_doubt]);
    // The observed motion may have been a hand that puts pieces back.
    let mut table = after_a_gap();
    table.makes("Nf3").shows(WHITE_WINS);
    assert_eq!(table.published(), [in_doubt]);
    let mut table = after_a_gap();
    table.plays("Nf3").shows(WHITE_WINS);
    assert_eq!(table.published(), ["1-0 kings by board?"]);
    // A ply that follows only from the placement on the board was not observed either, even if it is taken back.
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5").recalls("Nf3").takes_back().published();
    table.shows(WHITE_WINS);
    assert_eq!(table.published(), [in_doubt]);
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5").finds(Finding::Recovered {
        by: Recovery::Undecidable,
        changes: 0,
        from: Timestamp::from_micros(0),
        to: Timestamp::from_micros(1),
    });
    table.shows(WHITE_WINS);
    assert_eq!(table.published(), [in_doubt]);
    // A result set by the arbiter does not depend on the board.
    let mut table = after_a_gap();
    assert_eq!(
        table.command(r#""do":"set_result","result":"1-0","reason":"resignation""#),
        ""
    );
    assert_eq!(table.published(), ["1-0 resignation by arbiter"]);
}

/// A result shown on the board is withdrawn by a later move with a press, or without a clock by three moves in quick
/// succession. Moves with a stopped clock are analysis, and an end by the Laws or the arbiter is final (Art. 5.1.1).
#[test]
fn continued_play_withdraws_a_result_shown_on_the_board() {
    let shown = || {
        let mut table = Table::new(Edition::Fide2023);
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started));
        table.plays("e4 e5").shows(WHITE_WINS);
        table.published();
        table
    };
    let mut table = shown();
    table.makes("Nf3").settles();
    assert_eq!(table.published(), [""; 0]);
    table.completes(3, CompletedBy::Press);
    assert_eq!(table.published(), ["not 1-0 kings"]);
    table.plays("Nc6").shows(KnownOutcome::Draw);
    assert_eq!(table.published(), ["1/2-1/2 kings by board?"]);
    let mut table = shown();
    table
        .finds(Finding::Clock(ClockChange::Stopped))
        .plays("Nf3 Nc6 Bc4");
    assert_eq!(table.published(), [""; 0]);
    let mut table = shown();
    table.command(r#""do":"set_result","result":"1-0""#);
    table.plays("Nf3 Nc6 Bc4");
    assert_eq!(table.published(), ["arbiter: 1-0 kings"]);
    for (waits, expected) in [
        (1, &["1-0 kings by board?", "not 1-0 kings"][..]),
        (60, &["1-0 kings by board?"]),
    ] {
        let mut table = Table::new(Edition::Fide2023);
        table
            .plays("e4 e5 a3 a6")
            .shows(WHITE_WINS)
            .passes(waits)
            .plays("Nf3 Nc6 Bc4");
        assert_eq!(table.published(), expected);
    }
}
