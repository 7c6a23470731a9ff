use crate::events::{CompletedBy, SettledBy};
use crate::laws::{Edition, Mode, OpenPoints, Rules};
use crate::referee::tests::table::{Table, rules};
use crate::tracker::Finding;

const KNIGHTS: &str = "Nf3 Nf6 Ng1 Ng8";

fn claims(table: &mut Table) -> Vec<String> {
    let mut published = table.published();
    published.retain(|claim| claim.contains("threefold") || claim.contains("fifty_moves"));
    published
}

/// Claims for the position on the board, without an announced move.
fn standing(table: &mut Table) -> Vec<String> {
    let mut claims_now = claims(table);
    claims_now.retain(|claim| !claim.contains(" with "));
    claims_now
}

/// Laws part 5, vector (i); Art. 9.2.1, 9.2.2: claimable after 4...Ng8, the third occurrence, and before by announcing
/// that move.
#[test]
fn a_third_occurrence_is_claimable_and_lists_all_occurrences() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays(KNIGHTS).plays("Nf3 Nf6 Ng1");
    assert_eq!(
        claims(&mut table),
        ["black after 7: threefold [0, 4] with Ng8 (9.2.1)"]
    );
    table.plays("Ng8");
    let found = claims(&mut table);
    assert_eq!(
        found,
        [
            "white after 8: threefold [0, 4, 8] (9.2.2)",
            "white after 8: threefold [1, 5] with Nf3 (9.2.1)",
        ]
    );
    // The fourth occurrence is claimable again.
    table.plays(KNIGHTS);
    assert!(claims(&mut table).contains(&"white after 12: threefold [0, 4, 8, 12] (9.2.2)".to_owned()));
}

#[test]
fn a_claim_names_the_article_of_its_edition() {
    for (edition, article) in [
        (Edition::Fide1997, "9.2"),
        (Edition::Fide2014, "9.2"),
        (Edition::Fide2018, "9.2.1.2"),
        (Edition::Fide2023, "9.2.2"),
    ] {
        let mut table = Table::new(edition);
        table.repeats(KNIGHTS, 2);
        let found = standing(&mut table);
        assert_eq!(found, [format!("white after 8: threefold [0, 4, 8] ({article})")]);
    }
}

/// Laws part 5, vector (ii); Art. 9.2.3: exd6 was possible in the first of the three positions.
#[test]
fn a_capture_en_passant_makes_another_position() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("Nf3 Nf6 e4 a6 e5 d5 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8 Nf3 Nf6");
    assert_eq!(standing(&mut table), [""; 0]);
    // One more round makes the third occurrence without the capture.
    table.plays("Ng1 Ng8 Nf3 Nf6");
    assert!(standing(&mut table).contains(&"white after 18: threefold [10, 14, 18] (9.2.2)".to_owned()));
}

/// A pinned pawn beside a pawn that has advanced two squares cannot capture, so the positions are the same.
#[test]
fn a_pinned_pawn_does_not_make_another_position() {
    let fen = "4r2k/3p4/8/4P3/8/8/8/4K1N1 b - - 0 1";
    let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Standard, true));
    table.plays("d5 Nf3 Kg8 Ng1 Kh8 Nf3 Kg8 Ng1 Kh8");
    assert_eq!(
        standing(&mut table),
        ["white after 9: threefold [1, 5, 9] (9.2.2)"]
    );
}

/// Laws part 5, vector (iii); Art. 9.2.3.2: the start does not count, because castling was possible then.
#[test]
fn a_right_to_castle_makes_another_position() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Standard, true));
    table.repeats("Rb1 Rb8 Ra1 Ra8", 2);
    assert_eq!(standing(&mut table), [""; 0]);
    table.plays("Rb1 Rb8 Ra1");
    let found = standing(&mut table);
    assert!(
        !found.iter().any(|claim| claim.starts_with("white after 12")),
        "{found:?}"
    );
    table.plays("Ra8");
    assert!(standing(&mut table).contains(&"white after 12: threefold [4, 8, 12] (9.2.2)".to_owned()));
}

/// Art. 9.2 of 1997: a castling right that the king's forced next move loses does not count. Since 2009 the right is
/// lost only when the king has moved.
#[test]
fn a_king_that_must_move_has_no_future_right_in_1997() {
    for (edition, claimable) in [(Edition::Fide1997, true), (Edition::Fide2009, false)] {
        let fen = "4k3/4b3/8/8/8/8/8/4K2R b K - 0 1";
        let mut table = Table::of(fen, rules(edition, Mode::Standard, true));
        table.plays("Bb4+ Kd1 Be7 Ke1 Bb4+ Kd1 Be7 Ke1 Bb4+");
        let found = standing(&mut table);
        assert_eq!(
            found.iter().any(|claim| claim.starts_with("white after 9")),
            claimable,
            "{edition}: {found:?}"
        );
    }
}

/// A claim is published once the ply is settled, and not for a ply that was corrected before.
#[test]
fn a_corrected_move_does_not_allow_a_claim() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays(KNIGHTS).plays("Nf3 Nf6 Ng1");
    claims(&mut table);
    table.makes("Ng8");
    assert_eq!(claims(&mut table), [""; 0]);
    table.takes_back().plays("Nd5");
    assert_eq!(claims(&mut table), [""; 0]);
    table.makes("Nf3").makes("Nf6").makes("Ng1").makes("Ng8");
    assert_eq!(claims(&mut table), [""; 0]);
}

fn fifty(edition: Edition, moves: u32) -> Table {
    let fen = format!("7k/7p/8/8/8/8/7P/R6K w - - {} 60", 2 * moves);
    Table::of(&fen, rules(edition, Mode::Standard, true))
}

/// Art. 9.3.1, 9.3.2: claimable by announcing the fiftieth move, or after its completion; once for each player.
#[test]
fn fifty_moves_are_claimable_once_for_each_player() {
    let mut table = fifty(Edition::Fide2023, 49);
    table.plays("Ra2");
    let found = claims(&mut table);
    assert_eq!(found, ["black after 1: fifty_moves [0] with Kg7 Kg8 (9.3.1)"]);
    table.makes("Kg7").settles();
    assert_eq!(claims(&mut table), [""; 0]);
    table.completes(2, CompletedBy::Press);
    assert_eq!(claims(&mut table), ["white after 2: fifty_moves [0] (9.3.2)"]);
    table.plays("Ra1 Kg8 Ra3 Kg7");
    assert_eq!(claims(&mut table), ["black after 3: fifty_moves [0] (9.3.2)"]);
}

/// Castling is not a pawn move; captures and pawn moves restart the count. A reply completes a move without an observed
/// press.
#[test]
fn fifty_moves_restart_with_a_pawn_move_or_capture() {
    let mut table = fifty(Edition::Fide2018, 49);
    table.plays("h4 Kg7");
    assert_eq!(claims(&mut table), [""; 0]);

    let fen = "4k3/p7/8/8/8/8/P7/4K2R w K - 98 60";
    let mut table = Table::of(fen, rules(Edition::Fide2018, Mode::Standard, true));
    table.plays("O-O").makes("Ke7");
    claims(&mut table);
    let (ply, by) = (2, SettledBy::Reply);
    let odds = None;
    table.finds(Finding::Settled { ply, by, odds });
    assert_eq!(claims(&mut table), [""; 0]);
    table.makes("Rb1").settles();
    assert_eq!(claims(&mut table), ["white after 2: fifty_moves [0] (9.3.2)"]);
}

/// A position that the arbiter put back is not a new occurrence, unless the regulations of the event say so.
#[test]
fn a_position_put_back_is_not_a_new_occurrence() {
    for (counts, occurrences) in [(false, "[0, 4, 8]"), (true, "[0, 4, 4, 8]")] {
        let points = OpenPoints {
            reinstated_counts: counts,
            ..OpenPoints::default()
        };
        let mut table = Table::of(
            crate::referee::tests::table::STANDARD,
            Rules {
                points,
                ..Rules::default()
            },
        );
        table.plays(KNIGHTS).plays("e4 e5");
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3";
        assert_eq!(
            table.command(&format!(r#""do":"set_position","fen":"{fen}""#)),
            ""
        );
        table.plays(KNIGHTS);
        let found = standing(&mut table);
        let expected = format!("white after 8: threefold {occurrences} (9.2.2)");
        assert!(found.contains(&expected), "{found:?}");
    }
}
