use core::time::Duration;

use crate::events::EventKind;
use crate::laws::{Edition, Mode};
use crate::referee::tests::table::{Table, WHITE_WINS, rules};

/// Time for a move that needs no thought.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Black's last pawn move locks all pawns, and neither king can get past them.
const TO_BE_LOCKED: &str = "8/2k3p1/8/1p1p4/1P1P2P1/8/2K5/8 b - - 0 1";
/// The queen gives check next to the king, whose only move is to capture her.
const TO_BE_FORCED: &str = "6k1/8/8/8/8/8/q7/7K b - - 0 1";
/// The two remaining pawns are locked, and either side can still be mated after losing its pawn. Only a search shows
/// that.
const OPEN: &str = "4k3/8/8/3p4/3P4/8/8/4K2R w - - 0 1";

fn blitz(fen: &str) -> Table {
    Table::of(fen, rules(Edition::Fide2023, Mode::Blitz, true))
}

/// Makes moves in quick succession; each one settles the previous one.
fn rushes(table: &mut Table, names: &str) {
    for name in names.split(' ') {
        table.makes_after(name, AT_ONCE).settles();
    }
}

/// Returns the ply that ended the game, identified by its time, and the published ends and withdrawals.
fn end(table: &mut Table, made: &[kiebitz_hardware::Timestamp]) -> (Option<usize>, Vec<String>) {
    let events = table.referee.take_events();
    let end = events
        .iter()
        .find(|explained| matches!(explained.event.kind, EventKind::GameEnded { .. }));
    let at = end.map(|explained| explained.event.at.unwrap_or(explained.event.ts));
    let ply = at.and_then(|at| made.iter().position(|made| *made == at));
    let published = events.iter().filter_map(|explained| match &explained.event.kind {
        EventKind::GameEnded {
            reason, confirmed, ..
        } => Some(format!("{reason} {confirmed}")),
        EventKind::MoveRetracted { ply, reason } => Some(format!("not {ply}: {reason}")),
        _ => None,
    });
    (ply.map(|ply| ply + 1), published.collect())
}

/// Art. 5.2.2 without a search: nothing but a wall of pawns. The end is a proposal to the arbiter.
#[test]
fn a_blocked_position_is_proposed_as_dead() {
    let fen = "4k3/8/8/p1p1p1p1/PpPpPpPp/1P1P1P1P/8/4K3 w - - 0 1";
    let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Standard, true));
    table.plays("Kd2");
    assert_eq!(
        table.published(),
        ["1 completed by game_end", "1/2-1/2 dead_position by laws?"]
    );
    assert_eq!(table.command(r#""do":"set_result","result":"1/2-1/2""#), "");
    assert_eq!(table.published(), ["arbiter: 1/2-1/2 dead_position"]);
}

/// Art. 5.2.2, 9.7 of 2014, 1.5: the game is over with the move that leaves a dead position, also in blitz, where no
/// position stands for a second. Later moves do not count.
#[test]
fn the_move_that_leaves_a_dead_position_ends_the_game_in_fast_play() {
    for edition in [Edition::Fide2014, Edition::Fide2018, Edition::Fide2023] {
        for (fen, moves, dead) in [
            (TO_BE_LOCKED, "Kd6 Kd2 g5 Ke3 Ke6 Kf3 Kd6 Ke3", 3),
            (TO_BE_FORCED, "Qb2 Kg1 Qa2 Kh1 Qg2+ Kxg2", 5),
        ] {
            let mut table = Table::of(fen, rules(edition, Mode::Blitz, false));
            let mut made = Vec::new();
            for name in moves.split(' ') {
                table.makes_after(name, AT_ONCE);
                made.push(table.now);
                table.settles();
            }
            table.passes(5);
            let (ply, published) = end(&mut table, &made);
            assert_eq!(ply, Some(dead), "{edition} {fen}: {published:?}");
            assert_eq!(published.last().map(String::as_str), Some("dead_position false"));
        }
    }
}

/// Moves after the end that a search finds are withdrawn: the capture of the queen was forced, but the game was over.
#[test]
fn moves_after_a_dead_position_are_withdrawn() {
    let mut table = blitz(TO_BE_FORCED);
    table.makes_after("Qg2+", AT_ONCE);
    let made = [table.now];
    table.settles().makes_after("Kxg2", AT_ONCE).settles();
    let (ply, published) = end(&mut table, &made);
    assert_eq!(ply, Some(1));
    assert_eq!(published, ["not 2: after_end", "dead_position false"]);
}

/// As long as there is a queen, one check covers the plies of ten seconds.
#[test]
fn a_position_with_a_queen_is_checked_within_ten_seconds() {
    let mut table = blitz(TO_BE_FORCED);
    table.makes_after("Qg2+", AT_ONCE).settles();
    let made = [table.now.saturating_sub(AT_ONCE)];
    table.passes(5);
    assert_eq!(end(&mut table, &made).1, [""; 0]);
    table.passes(6);
    assert_eq!(end(&mut table, &made).1, ["dead_position false"]);
}

/// Art. 5.2.2: the first end counts, even if the players show another result before the search.
#[test]
fn a_result_shown_in_a_dead_position_comes_too_late() {
    let mut table = blitz(TO_BE_FORCED);
    table.makes_after("Qg2+", AT_ONCE).settles();
    table.waits(AT_ONCE).shows(WHITE_WINS);
    let made = [table.now.saturating_sub(AT_ONCE)];
    assert_eq!(
        end(&mut table, &made),
        (Some(1), vec!["dead_position false".to_owned()])
    );
}

#[test]
fn fast_play_with_mating_material_goes_on() {
    let mut table = blitz(OPEN);
    for _ in 0..6 {
        rushes(&mut table, "Rh8+ Kd7 Rh1 Ke8");
    }
    table.passes(5);
    let ended = table.published();
    assert!(
        ended.iter().all(|event| !event.contains("dead_position")),
        "{ended:?}"
    );
}

/// Art. 5.2.2: a move that is not in accord with Article 3 does not end the game. The next legal one does.
#[test]
fn an_illegal_move_does_not_end_the_game() {
    let mut table = blitz("8/2k5/6p1/1p1p4/1P1P2P1/8/2K5/8 w - - 0 1");
    // White moves a pawn of Black, which locks all pawns.
    table.makes_after("g6g5", AT_ONCE).settles().passes(5);
    assert_eq!(end(&mut table, &[]).1, [""; 0]);
    table.makes_after("Kd6", AT_ONCE).settles().passes(5);
    assert_eq!(end(&mut table, &[]).1, ["dead_position false"]);
}

/// The arbiter has looked at the board and let the game continue, so the end is not proposed again.
#[test]
fn the_arbiter_may_let_the_game_continue() {
    let mut table = blitz(TO_BE_LOCKED);
    rushes(&mut table, "g5 Kd2");
    table.published();
    assert_eq!(table.command(r#""do":"set_result","result":"*""#), "");
    table.published();
    rushes(&mut table, "Kd6 Ke3");
    table.passes(5);
    assert!(!table.published().iter().any(|event| event.contains("dead")));
}
