use super::*;
use crate::outputs::livechess::projection::tests::{START, fens, game, played};

fn plan(record: Option<&GameRecord>, fen: &str, may_set_up: bool) -> Option<SetupPlan> {
    plan_after(record, fen, may_set_up, None)
}

fn plan_after(
    record: Option<&GameRecord>,
    fen: &str,
    may_set_up: bool,
    before: Option<&Anchor>,
) -> Option<SetupPlan> {
    let shown = record.and_then(|record| Position::read(&record.fen));
    let shown = shown.map_or_else(Board::default, |position| position.board);
    let circumstances = Circumstances {
        current: record,
        shown: &shown,
        before,
        may_set_up,
    };
    SetupPlan::make(Position::read(fen).expect("a position"), fen, circumstances)
}

fn counted(plan: Option<SetupPlan>) -> Anchor {
    match plan {
        Some(SetupPlan::Count(anchor)) => anchor,
        other => panic!("{other:?}"),
    }
}

/// The moves since an anchor whose game is on the board.
fn line_of(anchor: &mut Anchor, record: Option<&GameRecord>) -> AnchoredMoves {
    anchor.line(record).expect("the game of the anchor")
}

const FIVE: &str = "e4 e5 Nf3 Nc6 Bb5";

#[test]
fn moves_are_counted_from_the_position_of_a_client() {
    let record = game("one", FIVE);
    let fens = fens(FIVE);
    for (ply, san) in [(5, ""), (4, "Bb5"), (3, "Nc6 Bb5"), (2, "Nf3 Nc6 Bb5")] {
        let mut anchor = counted(plan(Some(&record), &fens[ply], false));
        let line = line_of(&mut anchor, Some(&record));
        assert_eq!(line.san.join(" "), san);
        assert_eq!(line.start, fens[ply]);
        assert!(line.leads_to(&Position::read(&fens[5]).expect("a position").board));
    }
}

/// A viewing program sends the start position when it connects, and needs the game from its beginning. A playing page
/// sends the start position when it begins a new game, and must not get the moves of the last one.
#[test]
fn a_start_position_means_the_current_game_or_the_next_one() {
    let record = game("one", FIVE);
    let mut whole = counted(plan(Some(&record), START, false));
    assert_eq!(line_of(&mut whole, Some(&record)).san.len(), 5);
    let again = plan_after(Some(&record), START, false, Some(&whole));
    let at_home = plan(Some(&record), START, true);
    let mut over = game("one", FIVE);
    over.ended = Some(over.started);
    let after_end = plan(Some(&over), START, false);
    for next in [again, at_home, after_end] {
        let mut anchor = counted(next);
        assert!(line_of(&mut anchor, Some(&record)).san.is_empty());
        let line = line_of(&mut anchor, Some(&game("two", "d4 d5")));
        assert_eq!(
            (line.start.as_str(), line.san.join(" ")),
            (START, "d4 d5".to_owned())
        );
    }
}

#[test]
fn an_anchor_stays_in_its_game() {
    let (one, two) = (game("one", FIVE), game("two", "d4 d5"));
    let mut within = counted(plan(Some(&one), START, false));
    assert_eq!(line_of(&mut within, Some(&one)).san.len(), 5);
    assert!(within.line(Some(&two)).is_none());
    assert!(
        within.line(Some(&game("two", ""))).is_none(),
        "even if its moves are withdrawn"
    );
    assert!(within.line(Some(&game("three", "e4"))).is_none());
    // The client that sets up again gets the game that is being played.
    let mut again = counted(plan_after(Some(&two), START, false, Some(&within)));
    assert_eq!(line_of(&mut again, Some(&two)).san, ["d4", "d5"]);
    // A client that waits for the next game gets the first one.
    let mut over = game("one", FIVE);
    over.ended = Some(over.started);
    let mut waits = counted(plan(Some(&over), START, false));
    assert_eq!(line_of(&mut waits, Some(&two)).san.len(), 2);
    assert!(waits.line(Some(&game("three", "e4"))).is_none());
}

/// Pieces that are still being set up may look like a game.
#[test]
fn a_game_without_moves_does_not_count() {
    let mut waits = counted(plan(None, START, false));
    assert!(line_of(&mut waits, Some(&game("one", ""))).san.is_empty());
    assert_eq!(line_of(&mut waits, Some(&game("two", "e4"))).san, ["e4"]);
    assert!(waits.line(Some(&game("three", "e4"))).is_none());

    let other = |moves| {
        let mut other = game("other", moves);
        other.start_fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1".to_owned();
        other
    };
    let mut waits = counted(plan(None, START, false));
    assert!(waits.line(Some(&other(""))).is_none());
    assert_eq!(line_of(&mut waits, Some(&game("next", "e4"))).san, ["e4"]);
    let mut waits = counted(plan(None, START, false));
    assert!(waits.line(Some(&other("e4"))).is_none());
    assert!(
        waits.line(Some(&game("next", "e4"))).is_none(),
        "another game was played"
    );
}

#[test]
fn a_client_may_know_a_move_that_is_not_on_the_board_yet() {
    let record = game("one", FIVE);
    let ahead = fens("e4 e5 Nf3 Nc6 Bb5 a6");
    let mut anchor = counted(plan(Some(&record), &ahead[6], false));
    let line = line_of(&mut anchor, Some(&record));
    assert!(line.san.is_empty() && line.start == ahead[6]);
    assert!(!line.leads_to(&Position::read(&ahead[5]).expect("a position").board));
    let line = line_of(&mut anchor, Some(&game("one", "e4 e5 Nf3 Nc6 Bb5 a6 Ba4")));
    assert_eq!(line.san, ["Ba4"]);
    // A client whose expected move was not played gets no moves.
    let line = line_of(&mut anchor, Some(&game("one", "e4 e5 Nf3 Nc6 Bb5 d6 d4")));
    assert!(line.san.is_empty());
}

#[test]
fn a_position_changes_the_game_only_if_setup_is_allowed() {
    let record = game("one", FIVE);
    let other = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for record in [Some(&record), None] {
        assert!(plan(record, other, false).is_none());
        assert!(matches!(plan(record, other, true), Some(SetupPlan::Begin(_))));
    }
    let back = fens(FIVE)[1].clone();
    assert!(matches!(
        plan(Some(&record), &back, true),
        Some(SetupPlan::TakeBack(_))
    ));
    // kiebitz expects a Chess960 start position without a command.
    let drawn = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1";
    counted(plan(None, drawn, false));
}

#[test]
fn moves_are_withdrawn_and_end_before_an_illegal_one() {
    let mut record = game("one", FIVE);
    let mut anchor = counted(plan(Some(&record), START, false));
    record.moves[3].legal = false;
    assert_eq!(line_of(&mut anchor, Some(&record)).san, ["e4", "e5", "Nf3"]);
    record.moves.truncate(1);
    assert_eq!(line_of(&mut anchor, Some(&record)).san, ["e4"]);
    // The arbiter sets a different position.
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1".to_owned();
    record
        .positions
        .push(kiebitz_game::events::record::PositionRecord { ply: 1, fen });
    let line = line_of(&mut anchor, Some(&record));
    assert!(line.san.is_empty() && line.start.starts_with("4k3"));
    assert_eq!(played("e4")[0].1, "e4");
}
