use shakmaty::Color;

use super::{MAX_NODES_FOR_RESULT, can_mate};
use crate::events::CompletedBy;
use crate::laws::{Edition, Mode};
use crate::referee::tests::table::{Table, rules};

/// Whether the opponent of `player` can mate from the last legal position of the game.
fn opponent_can_mate(table: &Table, player: Color) -> Option<bool> {
    let game = table.referee.game.as_ref()?;
    can_mate(game.last_legal()?, !player, MAX_NODES_FOR_RESULT)
}

/// Laws part 10, case 6 (constructed); Art. 6.9: White's flag falls after Rxa7+, which forces Qxa7, which forces Qxa7
/// mate. Black can never mate, in spite of a queen and a pawn.
#[test]
fn a_side_that_is_forced_to_be_mated_cannot_mate() {
    let fen = "kq6/p7/8/8/8/R7/QP2p1PP/R5KB w - - 0 1";
    let mut table = Table::of(fen, rules(Edition::Fide2018, Mode::Standard, true));
    table.makes("Rxa7+").settles();
    assert_eq!(opponent_can_mate(&table, Color::White), Some(false));
    let note = table.command(r#""do":"set_result","result":"0-1","reason":"flag""#);
    assert_eq!(
        note,
        "a draw: Black cannot mate by any series of legal moves (Art. 6.9): every line of play ends or repeats without a \
         mate"
    );
    assert_eq!(table.published(), ["1/2-1/2 flag by arbiter"]);
}

/// Laws part 10, case 18; Art. 6.9: a bishop alone can win on time against a rook and a pawn, and a knight against a
/// rook's pawn. A knight against a queen, a bishop against a rook and a bare king cannot.
#[test]
fn little_material_wins_on_time_against_more() {
    for (fen, can) in [
        ("4k3/8/8/2b5/8/8/4P3/R3K3 w - - 0 1", true),
        ("4k3/8/8/2n5/8/8/P7/4K3 w - - 0 1", true),
        ("4k3/8/8/2n5/8/8/8/Q3K3 w - - 0 1", false),
        ("4k3/8/8/2b5/8/8/8/R3K3 w - - 0 1", false),
        ("4k3/8/8/8/8/8/P7/R3K3 w - - 0 1", false),
    ] {
        let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Blitz, true));
        table.plays("Kd1");
        assert_eq!(opponent_can_mate(&table, Color::White), Some(can), "{fen}");
    }
}

/// 1997, C.4: in blitz a win on time or by an illegal move needs mating material. Two knights against a king do not
/// suffice; a rook against a knight does, and so does a knight against a rook's pawn if the pawn must lock in its own
/// king.
#[test]
fn blitz_of_1997_is_won_with_mating_material_only() {
    let drawn = |article| format!("a draw: Black has no mating material (Art. {article})");
    let set = |fen, first, edition, reason| {
        let mut table = Table::of(fen, rules(edition, Mode::Blitz, true));
        table.plays(first);
        let note = table.command(&format!(
            r#""do":"set_result","result":"0-1","reason":"{reason}""#
        ));
        (table.published().pop().unwrap_or_default(), note)
    };
    let knights = "4k3/8/8/2nn4/8/8/8/4K3 w - - 0 1";
    for (reason, article) in [("flag", "B.6, C.4"), ("illegal_moves", "C.3, C.4")] {
        let outcome = set(knights, "Kd1", Edition::Fide1997, reason);
        assert_eq!(
            outcome,
            (format!("1/2-1/2 {reason} by arbiter"), drawn(article)),
            "{reason}"
        );
    }
    let won = |by| (format!("0-1 {by} by arbiter"), String::new());
    assert_eq!(set(knights, "Kd1", Edition::Fide2009, "flag"), won("flag"));
    let rook = "4k3/8/8/2r5/8/8/8/4K1N1 w - - 0 1";
    assert_eq!(set(rook, "Kd1", Edition::Fide1997, "flag"), won("flag"));
    let locked = "7K/5k2/4n2P/8/8/8/8/8 b - - 0 1";
    assert_eq!(set(locked, "Nf8", Edition::Fide1997, "flag"), won("flag"));
}

/// Illegal moves are undone before the check who can mate (Art. 7.5.1).
#[test]
fn the_last_legal_position_counts() {
    let fen = "4k3/8/8/2q5/8/8/P7/4K3 w - - 0 1";
    let mut table = Table::of(fen, rules(Edition::Fide2023, Mode::Standard, true));
    table.makes("a2c5");
    assert_eq!(opponent_can_mate(&table, Color::White), Some(true));
}

/// Laws part 10, case 2; Art. 6.2.1, 6.2.2, 6.9: a move that was made but not pressed is not completed.
#[test]
fn a_move_made_and_not_pressed_is_not_completed() {
    let mut table = Table::new(Edition::Fide2018);
    table.plays("e4 e5").makes("Nf3").makes("Nc6");
    let moves = |table: &Table, color| {
        let referee = &table.referee;
        let completed = referee.count(|entry| entry.ply.color == color && entry.completed.is_some());
        (referee.moves_made(color), completed)
    };
    // Black's press came before White's and was void; then White pressed.
    table.completes(3, CompletedBy::Press);
    assert_eq!(moves(&table, Color::White), (2, 2));
    assert_eq!(moves(&table, Color::Black), (2, 1));
    table.completes(4, CompletedBy::Press);
    assert_eq!(moves(&table, Color::Black), (2, 2));
}

/// Arbiters' manual of 2018 on Art. 3.4: an illegal last move does not win on time. The result stands as entered, with
/// a question to the arbiter.
#[test]
fn a_win_on_time_after_an_illegal_move_is_questioned() {
    for (illegal, questioned) in [("a7a4", true), ("a7a5", false)] {
        let mut table = Table::new(Edition::Fide2023);
        table.plays("e4 e5 Nf3");
        table.makes(illegal).settles();
        table.completes(table.last(), CompletedBy::Press);
        let note = table.command(r#""do":"set_result","result":"0-1","reason":"flag""#);
        assert_eq!(note.contains("last move was illegal"), questioned, "{note}");
        let published = table.published();
        assert_eq!(published.last().map(String::as_str), Some("0-1 flag by arbiter"));
    }
}
