//! Backups of the journal.

use core::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::*;

/// The names of a directory's files.
fn files(directory: &Path) -> Vec<String> {
    let files = fs::read_dir(directory).expect("a directory");
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn backup_has_the_events_the_numbering_and_the_deliveries() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&two_games()).expect("room");
    journal.unsent("mqtt", "live").expect("a journal");
    journal.append([&event(8, ended())]).expect("room");
    let read = Journal::open_to_read(&place.path()).expect("a journal");
    let target = tempfile::tempdir().expect("a directory");
    let file = target.path().join("copy.sqlite");
    let backup = read.back_up(&file, false).expect("room");
    assert_eq!((backup.events, backup.boards), (8, 1));
    assert_eq!(backup.bytes, fs::metadata(&file).expect("a file").len());
    assert_eq!(files(target.path()), ["copy.sqlite"]);
    let mut copy = Journal::open(&file).expect("a journal");
    let all = |journal: &Journal| journal.events_after("live", "b", 0, 100).expect("events");
    assert_eq!(all(&copy), all(&journal));
    let unsent = copy.unsent("mqtt", "live").expect("a journal");
    assert_eq!((unsent[0].after, unsent[0].last), (7, 8));
}

#[test]
fn backup_of_a_journal_that_is_being_written_is_whole() {
    let place = Place::new();
    let mut journal = place.open();
    let event = |seq| event(seq, ended());
    let many: Vec<Event> = (1..2000).map(event).collect();
    journal.append(&many).expect("room");
    let stop = AtomicBool::new(false);
    let target = tempfile::tempdir().expect("a directory");
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut seq = 2000;
            while !stop.load(Ordering::Relaxed) {
                journal.append([&event(seq)]).expect("nobody holds it up");
                seq += 1;
            }
        });
        let read = Journal::open_to_read(&place.path()).expect("a journal");
        let last_seq = |journal: &Journal| journal.last_seq("live", "b").expect("a number");
        // Until a backup has events that were written after the first backup.
        let mut first = None;
        for nth in 0.. {
            let file = target.path().join(format!("{nth}.sqlite"));
            let before = last_seq(&read);
            let backup = read.back_up(&file, false).expect("room");
            assert!((before..=last_seq(&read)).contains(&backup.events));
            // The backup has no gaps.
            let copy = Journal::open_to_read(&file).expect("a journal");
            assert_eq!(last_seq(&copy), backup.events);
            if *first.get_or_insert(backup.events) < backup.events {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().expect("it wrote");
    });
}

#[test]
fn existing_file_stays_unless_it_is_to_be_replaced() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&two_games()).expect("room");
    let target = tempfile::tempdir().expect("a directory");
    let file = target.path().join("copy.sqlite");
    fs::write(&file, "precious").expect("room");
    let refused = journal.back_up(&file, false).expect_err("it is there");
    assert!(matches!(refused, BackupError::Exists { .. }), "{refused}");
    assert_eq!(fs::read(&file).expect("a file"), b"precious");
    journal.back_up(&file, true).expect("room");
    assert_eq!(files(target.path()), ["copy.sqlite"]);
    Journal::open_to_read(&file).expect("a journal");

    let directory = journal.back_up(target.path(), true).expect_err("a directory");
    assert!(matches!(directory, BackupError::Directory { .. }), "{directory}");
    for own in [
        "journal.sqlite",
        "journal.sqlite-wal",
        "../state/journal.sqlite-shm",
    ] {
        let own = place.path().with_file_name(own);
        let refused = journal.back_up(&own, true).expect_err("the journal");
        assert!(matches!(refused, BackupError::Itself { .. }), "{refused}");
    }
    let nowhere = target.path().join("none/copy.sqlite");
    let refused = journal.back_up(&nowhere, false).expect_err("no such directory");
    assert!(matches!(refused, BackupError::Unwritable { .. }), "{refused}");
    assert_eq!(journal.last_seq("live", "b").expect("a number"), 7);
}

#[test]
fn incomplete_copy_is_not_a_backup() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&two_games()).expect("room");
    let sql = "UPDATE event SET payload = '{\"v\":1' WHERE seq = 3";
    journal.connection.execute(sql, []).expect("room");
    let target = tempfile::tempdir().expect("a directory");
    let file = target.path().join("copy.sqlite");
    let refused = journal.back_up(&file, false).expect_err("an event is damaged");
    let text = refused.to_string();
    assert!(
        text.contains("event 3 of b") && !text.contains("partial"),
        "{text}"
    );
    assert_eq!(files(target.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn backup_has_the_permissions_of_the_journal() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    let mut journal = place.open();
    journal.append(&two_games()).expect("room");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o400)).expect("its owner");
    let target = tempfile::tempdir().expect("a directory");
    let file = target.path().join("copy.sqlite");
    journal.back_up(&file, false).expect("room");
    let mode = fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
