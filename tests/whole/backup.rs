//! `kiebitz backup`.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use kiebitz::journal::Journal;
use kiebitz_game::events::{Event, EventKind};

use crate::games::{Kept, MATE};

/// An event of board-1 with this number.
fn battery(seq: u64) -> Event {
    let text = r#"{"v":1,"stream":"live","seq":1,"ts":"2026-08-06T10:00:00Z","board":"board-1","type":"clock.battery_low"}"#;
    let event: Event = serde_json::from_str(text).expect("an event");
    assert!(matches!(event.kind, EventKind::ClockBatteryLow {}));
    Event { seq, ..event }
}

#[test]
fn backup_taken_while_events_are_stored_is_complete() {
    let kept = Kept::three("backup");
    let mut journal = Journal::open(&kept.journal()).expect("a journal");
    let first = journal.last_seq("live", "board-1").expect("a number") + 1;
    let file = kept.directory.join("copy/journal.sqlite");
    fs::create_dir_all(file.parent().expect("a directory")).expect("room");
    let stop = AtomicBool::new(false);
    let printed = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for seq in first.. {
                journal.append([&battery(seq)]).expect("nobody holds it up");
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let printed = kept.printed(&["backup", file.to_str().expect("UTF-8")]);
        stop.store(true, Ordering::Relaxed);
        writer.join().expect("it wrote");
        printed
    });
    assert!(printed.starts_with(&format!("{}: ", file.display())), "{printed}");
    assert!(
        printed.contains(" events of 3 boards, ") && printed.lines().count() == 1,
        "{printed}"
    );
    let names = fs::read_dir(file.parent().expect("a directory")).expect("a directory");
    assert_eq!(names.count(), 1);

    // A daemon could use the copy in place of the journal.
    let copy = Journal::open(&file).expect("a journal");
    copy.check(true).expect("whole");
    let (original, copy) = (Journal::open_to_read(&kept.journal()).expect("a journal"), copy);
    for (board, last) in copy.boards("live").expect("boards") {
        let all = |journal: &Journal| {
            let events = journal.events_after("live", &board, 0, usize::try_from(last).expect("few"));
            events.expect("events")
        };
        assert!(all(&copy) == all(&original), "{board}");
    }
    drop(copy);
    let settings = format!(
        "[daemon]\nstate_directory = {:?}\n",
        file.parent().expect("a directory")
    );
    fs::write(kept.directory.join("kiebitz.toml"), settings).expect("room");
    assert!(kept.printed(&["pgn", MATE]).contains("Qc7#"));
}

#[test]
fn backup_overwrites_only_with_replace() {
    let kept = Kept::three("backup-twice");
    let file = kept.directory.join("copy.sqlite");
    let name = file.to_str().expect("UTF-8");
    fs::write(&file, "precious").expect("room");
    let errors = kept.refused(&["backup", name]);
    assert!(
        errors.contains("already exists: name another file, or use --replace"),
        "{errors}"
    );
    assert_eq!(fs::read(&file).expect("a file"), b"precious");
    kept.printed(&["backup", "--replace", name]);
    Journal::open_to_read(&file).expect("a journal");

    let journal = kept.journal();
    let errors = kept.refused(&["backup", "--replace", journal.to_str().expect("UTF-8")]);
    assert!(
        errors.contains("is the journal itself: write its backup to another file"),
        "{errors}"
    );
    let directory = kept.directory.to_str().expect("UTF-8");
    let errors = kept.refused(&["backup", directory]);
    assert!(errors.contains("is a directory: name a file in it"), "{errors}");
    let errors = kept.refused(&["backup", &format!("{directory}/none/copy.sqlite")]);
    assert!(
        errors.contains("cannot write the backup") && errors.contains("Check the name"),
        "{errors}"
    );
    Journal::open_to_read(&journal).expect("a journal");
}

#[test]
fn without_a_journal_there_is_no_backup() {
    let kept = Kept::new("backup-none");
    let file = kept.directory.join("copy.sqlite");
    let errors = kept.refused(&["backup", file.to_str().expect("UTF-8")]);
    assert!(
        errors.contains("there is no journal") && errors.contains("--config"),
        "{errors}"
    );
    assert!(!file.exists() && !kept.journal().exists());
}
