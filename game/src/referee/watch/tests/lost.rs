//! No player is accused while the record does not match the game.

use super::*;
use crate::events::Recovery;
use crate::laws::Edition;

const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR";
const AFTER_E5: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR";
const AFTER_NF3: &str = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R";

/// The record misses a move. After 1.e4 on board and line, the board shows 1...e5 and 2.Nf3, but the line has 1...a6
/// and 2.Nf3.
fn lost() -> Table {
    let mut table = Table::new(Edition::Fide2023);
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    table.passes(1);
    shows(&mut table, &Board::new());
    table.passes(5);
    changes(&mut table, &Board::new(), &board(AFTER_E4));
    table.plays("e4").passes(5);
    // The tracker misreads the pawn's double step as a step on the other wing.
    changes(&mut table, &board(AFTER_E4), &board(AFTER_E5));
    table.passes(1);
    changes(&mut table, &board(AFTER_E5), &board(AFTER_NF3));
    table.plays("a6 Nf3");
    table
}

/// Art. 8.1, 6.12.2: the score sheets are the evidence, and the incident says that the record is not.
#[test]
fn a_record_that_misses_a_move_is_reported_and_accuses_nobody() {
    let mut table = lost();
    table.passes(2);
    // This move would be illegal in the record.
    let taken = board("rnbqkbnr/pppp1ppp/8/8/4p3/5N2/PPPP1PPP/RNBQKB1R");
    changes(&mut table, &board(AFTER_NF3), &taken);
    table.passes(5);
    table.finds(Finding::Clock(ClockChange::Pressed(Side::Left)));
    table.passes(20);
    let events = table.referee.take_events();
    let opened: Vec<&str> = events
        .iter()
        .filter_map(|explained| match &explained.event.kind {
            EventKind::IncidentOpened(incident) => Some(incident.kind.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(opened, ["record_uncertain"]);
}

/// The incident closes when the board shows the last position of the record.
#[test]
fn the_incident_closes_when_record_and_board_agree() {
    let mut table = lost();
    table.passes(2);
    let expected = board("rnbqkbnr/1ppppppp/p7/8/4P3/5N2/PPPP1PPP/RNBQKB1R");
    changes(&mut table, &board(AFTER_NF3), &expected);
    assert_eq!(reports(&mut table, "record_uncertain"), ["missing", "-passed"]);
}

/// The agreement of board and record may be an accident. The next move opens no incident, a later one does.
#[test]
fn a_record_that_did_not_match_accuses_nobody_until_confirmed() {
    let expected = board("rnbqkbnr/1ppppppp/p7/8/4P3/5N2/PPPP1PPP/RNBQKB1R");
    for (played, reported) in [("", &[][..]), ("h6 g3", &["made"][..])] {
        let mut table = lost();
        table.passes(2);
        changes(&mut table, &board(AFTER_NF3), &expected);
        table.passes(2);
        let mut stands = expected.clone();
        if !played.is_empty() {
            stands = board("rnbqkbnr/1pppppp1/p6p/8/4P3/5NP1/PPPP1P1P/RNBQKB1R");
            changes(&mut table, &expected, &stands);
            table.plays(played).passes(2);
        }
        // A rook jumps over a pawn.
        let mut illegal = stands.clone();
        let rook = illegal.remove_piece_at(shakmaty::Square::A8).expect("a rook");
        illegal.set_piece_at(shakmaty::Square::A5, rook);
        changes(&mut table, &stands, &illegal);
        table.passes(5);
        table.finds(Finding::Clock(ClockChange::Pressed(Side::Left)));
        table.passes(5);
        assert_eq!(reports(&mut table, "illegal_move"), reported, "after {played:?}");
    }
}

/// A game after 1.e4 e5, without a clock.
fn after_e5() -> Table {
    let mut table = Table::new(Edition::Fide2023);
    let placements = [Board::empty(), Board::new(), board(AFTER_E4), board(AFTER_E5)];
    for (pair, name) in placements.windows(2).zip(["", "e4", "e5"]) {
        changes(&mut table, &pair[0], &pair[1]);
        table.plays(name).passes(5);
    }
    table
}

/// Without a clock: the knight has gone to a square that does not read it, and Black has replied. No piece is
/// displaced.
#[test]
fn a_piece_missing_since_before_a_reply_was_not_displaced() {
    let mut table = after_e5();
    let gone = board("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/R1BQKBNR");
    let replied = board("rnbqkbnr/ppp2ppp/3p4/4p3/4P3/8/PPPP1PPP/R1BQKBNR");
    changes(&mut table, &board(AFTER_E5), &gone);
    table.passes(5);
    changes(&mut table, &gone, &replied);
    table.passes(10);
    let events = table.referee.take_events();
    let opened = events.iter().filter_map(|explained| match &explained.event.kind {
        EventKind::IncidentOpened(incident) => Some(incident.kind.as_str()),
        _ => None,
    });
    assert_eq!(opened.collect::<Vec<_>>(), ["record_uncertain"]);
}

/// An unread knight may be on f3 or on h3. Until that is known, the record may be the error.
#[test]
fn nobody_is_accused_while_the_record_is_uncertain() {
    let mut table = Table::new(Edition::Fide2023);
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    table.finds(Finding::WhiteSide(Side::Left)).passes(1);
    table.plays("e4 e5").recalls("Nf3");
    table.completes(3, CompletedBy::Press);
    changes(&mut table, &Board::new(), &board(AFTER_NF3));
    reads(&mut table, 60, 60, Some(Color::White));
    table.finds(Finding::Clock(ClockChange::Pressed(Side::Right)));
    table.passes(5);
    assert_eq!(reports(&mut table, "clock_pressed_without_move"), [""; 0]);
    let pushed = board("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N1P/PPPP1PP1/RNBQKB1R");
    changes(&mut table, &board(AFTER_NF3), &pushed);
    table.passes(20);
    assert_eq!(reports(&mut table, "displaced_pieces"), [""; 0]);
    table.settles().passes(1);
    assert_eq!(reports(&mut table, "displaced_pieces"), ["at_once"]);
}

/// The record has 1...e5 in a gap, but Black may have played another move. A rook jumps over a pawn.
#[test]
fn nobody_is_accused_of_a_move_soon_after_a_reconstructed_one() {
    let accused = |played: &str, stands: &str, illegal: &str| {
        let mut table = Table::new(Edition::Fide2023);
        table.plays("e4").reconstructs("e5").plays(played).passes(2);
        changes(&mut table, &Board::new(), &board(stands));
        table.passes(2);
        changes(&mut table, &board(stands), &board(illegal));
        table.passes(5);
        reports(&mut table, "illegal_move")
    };
    let none = [""; 0];
    let illegal = "rnbqkbnr/pppp1ppp/8/4p2R/4P3/8/PPPP1PPP/RNBQKBN1";
    assert_eq!(accused("", AFTER_E5, illegal), none);
    let proved = "rnbqkbnr/ppp2ppp/3p4/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R";
    let illegal = "rnbqkbnr/ppp2ppp/3p4/4p2R/4P3/5N2/PPPP1PPP/RNBQKB2";
    assert_eq!(accused("Nf3 d6", proved, illegal), ["made"]);
}

/// If plies over a gap turn out to be wrong and are given up, a piece on another square was moved in the gap: it is not
/// displaced (Art. 7.4).
#[test]
fn pieces_moved_in_a_gap_that_was_given_up_are_not_displaced() {
    for given_up in [false, true] {
        let mut table = Table::new(Edition::Fide2023);
        shows(&mut table, &Board::new());
        table.passes(5);
        changes(&mut table, &Board::new(), &board(AFTER_E4));
        table.plays("e4").passes(5);
        let moved = board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPPKPPP/RNBQ1BNR");
        changes(&mut table, &board(AFTER_E4), &moved);
        if given_up {
            table.finds(Finding::Recovered {
                by: Recovery::Undecidable,
                changes: 0,
                from: table.now,
                to: table.now,
            });
        }
        table.passes(60);
        assert_eq!(reports(&mut table, "displaced_pieces").is_empty(), given_up);
    }
}
