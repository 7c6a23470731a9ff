//! The arbiter's word on incidents.

use super::*;
use crate::laws::{Edition, Mode};
use shakmaty::Color;

const KIND: &str = "illegal_move";

/// White's illegal move is made and pressed; Black's next ones are legal.
fn offends(table: &mut Table) {
    table.makes("f1d6").settles();
    table.completes(table.last(), Completion::Press);
}

/// After a restart the referee gets what the journal has of the incidents.
fn restarted(table: &mut Table, incidents: &mut Incidents) {
    journaled(table, incidents);
    table.referee.resume_incidents(incidents);
}

fn decides(table: &mut Table, number: u64, counts: bool) -> String {
    table.command(&format!(
        r#""do":"close_incident","incident":{number},"counts":{counts}"#
    ))
}

/// What does not count is taken off: the next one is again the first.
#[test]
fn an_offence_that_does_not_count_is_none() {
    for restart in [false, true] {
        let mut table = Table::new(Edition::Fide2023);
        let mut incidents = Incidents::default();
        table.plays("e4 e5");
        offends(&mut table);
        let number = number_of(&table, KIND);
        assert_eq!(table.referee.watch.offences.completed[Color::White], 1);
        assert_eq!(decides(&mut table, number, false), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
        assert_eq!(
            decides(&mut table, 77, false),
            "there is no incident 77 in the game on board-1"
        );
        if restart {
            restarted(&mut table, &mut incidents);
            assert_eq!(table.referee.watch.offences.completed, incidents.offences());
        } else {
            assert_eq!(
                reports(&mut table, KIND),
                ["made", "completed 1", "-decided counts false"]
            );
        }
        table.takes_back().plays("Nf3 Nc6");
        offends(&mut table);
        assert_eq!(reports(&mut table, KIND), ["made", "completed 1"], "{restart}");
    }
}

/// What counts stays counted, and the next offence is the second.
#[test]
fn an_offence_that_is_decided_without_a_word_on_it_counts() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5");
    offends(&mut table);
    let number = number_of(&table, KIND);
    let command = format!(r#""do":"close_incident","incident":{number},"decision":"two minutes""#);
    assert_eq!(table.command(&command), "");
    assert_eq!(reports(&mut table, KIND), ["made", "completed 1", "-decided"]);
    table.takes_back().plays("Nf3 Nc6");
    offends(&mut table);
    assert_eq!(reports(&mut table, KIND), ["made", "lost 2"]);
}

/// 2023: A.5.2, B.3: once answered it stands; whether it counts all the same is for the arbiter, also after a restart.
#[test]
fn what_stands_counts_when_the_arbiter_says_so() {
    for restart in [false, true] {
        let mut table = Table::of(STANDARD, rules(Edition::Fide2023, Mode::Blitz, false));
        let mut incidents = Incidents::default();
        table.plays("e4 e5");
        offends(&mut table);
        let number = number_of(&table, KIND);
        table.plays("Nc6");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
        if restart {
            restarted(&mut table, &mut incidents);
            assert_eq!(incidents.offences(), ByColor::default());
        }
        assert_eq!(decides(&mut table, number, true), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 1);
        if restart {
            restarted(&mut table, &mut incidents);
            assert_eq!(incidents.offences(), ByColor { white: 1, black: 0 });
        }
        // Arbiters may change their minds.
        assert_eq!(decides(&mut table, number, false), "");
        assert_eq!(table.referee.watch.offences.completed[Color::White], 0);
    }
}

/// Art. 7.5.1: the position before it is gone back to. The offence stays counted.
#[test]
fn the_position_set_by_the_arbiter_ends_what_was_irregular() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4 e5");
    offends(&mut table);
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    assert_eq!(
        table.command(&format!(r#""do":"set_position","fen":"{fen}""#)),
        ""
    );
    assert_eq!(reports(&mut table, KIND), ["made", "completed 1", "-decided"]);
    table.plays("Nf3 Nc6");
    offends(&mut table);
    assert_eq!(reports(&mut table, KIND), ["made", "lost 2"]);
}

/// 2023: 7.3. Only a person can know: they exchange the names. Under ten moves by both it is a new game.
#[test]
fn names_exchanged_during_a_game_are_colours_reversed() {
    for (moves, case) in [(8, "new_game 8"), (10, "goes_on 10")] {
        let mut table = Table::new(Edition::Fide2023);
        table.plays(&first(moves));
        let names = |white, black| format!(r#""do":"set_players","white":"{white}","black":"{black}""#);
        assert_eq!(table.command(&names("A", "B")), "");
        assert_eq!(
            reports(&mut table, "colors_reversed"),
            [""; 0],
            "named for the first time"
        );
        assert_eq!(table.command(&names("A", "C")), "");
        assert_eq!(reports(&mut table, "colors_reversed"), [""; 0], "corrected");
        assert_eq!(table.command(&names("C", "A")), "");
        assert_eq!(reports(&mut table, "colors_reversed"), [case]);
    }
}
