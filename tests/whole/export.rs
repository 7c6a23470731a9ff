//! `kiebitz export`.

use kiebitz::journal::Journal;

use crate::games::{GAP, Kept, MATE};

fn lines(kept: &Kept, board: &str) -> String {
    let journal = Journal::open_to_read(&kept.journal()).expect("a journal");
    let events = journal.events_after("live", board, 0, 100_000).expect("events");
    events.into_iter().map(|event| event.payload + "\n").collect()
}

#[test]
fn export_equals_the_journal_byte_for_byte() {
    let kept = Kept::three("export");
    let boards = ["board-1", "board-2", "board-3"].map(|board| lines(&kept, board));
    assert!(kept.printed(&["export"]) == boards.concat());
    let two = kept.printed(&["export", "--board", "board-3", "--board", "board-2"]);
    assert!(two == boards[1..].concat());
    let file = kept.directory.join("all.jsonl");
    assert_eq!(
        kept.printed(&["export", "--output", file.to_str().expect("UTF-8")]),
        ""
    );
    assert!(std::fs::read_to_string(file).expect("written") == boards.concat());
}

#[test]
fn only_events_of_the_period_are_exported() {
    let kept = Kept::three("export-period");
    let all = kept.printed(&["export"]);
    let of_day = |day: &str| -> String {
        let stamp = format!("\"ts\":\"{day}");
        all.split_inclusive('\n')
            .filter(|line| line.contains(&stamp))
            .collect()
    };
    let day = of_day("2026-08-05");
    assert!(!day.is_empty() && day.len() < all.len());
    assert!(kept.printed(&["export", "--date", "2026-08-05"]) == day);
    let minute = kept.printed(&[
        "export",
        "--since",
        "2026-08-05T07:29",
        "--until",
        "2026-08-05T07:29:59.999999",
    ]);
    assert!(minute == of_day("2026-08-05T07:29"), "{minute}");
    let none = kept.run(&["export", "--board", "board-9"]);
    assert_eq!((none.status.code(), none.stdout.as_slice()), (Some(0), &b""[..]));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no such events in the journal"));
}

#[test]
fn games_are_exported_by_their_ids_in_the_order_given() {
    let kept = Kept::three("export-games");
    let of_game = |board: &str, game: &str| -> String {
        let text = lines(&kept, board);
        let own = format!("\"game\":\"{game}\"");
        text.split_inclusive('\n')
            .filter(|line| line.contains(&own))
            .collect()
    };
    let (mate, gap) = (of_game("board-1", MATE), of_game("board-2", GAP));
    assert!(!mate.is_empty() && !gap.is_empty());
    assert!(kept.printed(&["export", MATE, GAP]) == format!("{mate}{gap}"));

    let output = kept.run(&["export", "2026-08-05-board-1-7", GAP]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout == gap.as_bytes());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("there is no game 2026-08-05-board-1-7"),
        "{errors}"
    );
    assert_eq!(
        kept.run(&["export", MATE, "--date", "today"]).status.code(),
        Some(2)
    );

    let file = kept.directory.join("game.jsonl");
    std::fs::write(&file, mate).expect("room");
    let report = kept.printed(&["report", "--text", file.to_str().expect("UTF-8")]);
    assert!(
        report.contains("Adams, A.") && report.contains("Qc7#"),
        "{report}"
    );
}

#[test]
fn missing_journals_and_folders_are_reported() {
    let kept = Kept::new("export-none");
    let errors = kept.refused(&["export"]);
    assert!(
        errors.contains("there is no journal") && errors.contains("--config"),
        "{errors}"
    );
    let kept = Kept::three("export-nowhere");
    let errors = kept.refused(&["export", "-o", "/nowhere/all.jsonl"]);
    assert!(
        errors.contains("cannot write /nowhere/all.jsonl") && errors.contains("Check the name"),
        "{errors}"
    );
}
