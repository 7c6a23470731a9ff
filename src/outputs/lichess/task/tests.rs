use super::*;

const ROUND: &str = "[Event \"Open\"]\n[Round \"3.1\"]\n[White \"Adler, J.\"]\n[Black \"Berg, I.\"]\n\n\
    {0-0: both\nplayers lose} 1. e4 {[%clk 0:10:00][%emt 0:00:01]} 1... e5\n{[%clk 0:10:00]} 2. O-O {[%emt 0:00:02]} *\n\
    \n[Event \"Open\"]\n[Round \"3.2\"]\n[White \"Clausen, P.\"]\n[Black \"Dorn, U.\"]\n\n*\n";

#[test]
fn a_round_is_known_by_the_number_in_its_name() {
    let numbers = ["Round 3", "Runde 12", "2026: Round 4", "Final", ""].map(number_of);
    assert_eq!(numbers, [Some(3), Some(12), Some(4), None, None]);
}

#[test]
fn incomplete_and_rejected_games_are_noticed() {
    let text = RoundText::of(ROUND);
    assert_eq!(text.text, ROUND);
    let known: Vec<(&str, usize)> = text.games.iter().map(|game| (&*game.name, game.plies)).collect();
    assert_eq!(
        known,
        [
            ("3.1, Adler, J. - Berg, I.", 3),
            ("3.2, Clausen, P. - Dorn, U.", 0)
        ]
    );
    let (whole, problems) = text.compare(&[Pushed::Moves(3), Pushed::Moves(0)]);
    assert!(whole && problems.is_empty());
    let (whole, _) = text.compare(&[Pushed::Moves(2), Pushed::Moves(0)]);
    assert!(!whole, "a move is missing");
    let (whole, problems) = text.compare(&[Pushed::Moves(3)]);
    assert!(!whole && problems == ["Lichess has read only 1 of 2 games"]);
    let (whole, problems) =
        text.compare(&[Pushed::Refused("Cannot parse moves".to_owned()), Pushed::Moves(0)]);
    // Counts as complete, since pushing a rejected game again would not help.
    assert!(whole && problems == ["Lichess rejected 3.1, Adler, J. - Berg, I.: Cannot parse moves"]);
}

#[test]
fn a_round_beyond_the_limits_is_cut_and_reported() {
    let many = vec![ROUND; 60].join("\n");
    let text = RoundText::of(&many);
    assert_eq!(text.games.len(), 100);
    assert_eq!(
        text.problems,
        ["Lichess accepts at most 100 games in a round: the last 20 are left out"]
    );
    assert_eq!(text.text.matches("[Event ").count(), 100);
    let long = ROUND.replace("1... e5", &"1... e5 {[%emt 0:00:05]} ".repeat(10_000));
    let text = RoundText::of(&vec![long; 3].join("\n"));
    assert!(!text.text.contains("%emt") && text.text.len() < MAX_TEXT && text.problems.is_empty());
}

#[test]
fn notes_of_the_first_version_are_read() {
    let read = |text: &str| LichessNotes::from(serde_json::from_str::<NotesFile>(text).expect("notes"));
    let first = read(r#"{"Open 2026":"QYiOYnl1"}"#);
    assert_eq!(first.broadcasts["Open 2026"].id, "QYiOYnl1");
    let written = serde_json::to_string(&first).expect("JSON");
    assert_eq!(read(&written), first);
    assert_eq!(read("{}"), LichessNotes::default());
}
