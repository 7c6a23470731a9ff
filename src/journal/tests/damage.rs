//! Power cuts, damaged files, other programs' files, full disks.

use std::collections::BTreeMap;
use std::fs;

use kiebitz_game::events::samples::{event, started};
use kiebitz_game::events::{CorrectionReason, EventKind};
use kiebitz_game::position::Variant;

use super::*;
use crate::progress::Progress;

impl Place {
    /// Creates the journal's file with these bytes.
    fn with(bytes: &[u8]) -> Self {
        let place = Self::new();
        fs::create_dir(place.path().parent().expect("a directory")).expect("a directory");
        fs::write(place.path(), bytes).expect("a file");
        place
    }

    fn refusal(&self) -> JournalError {
        Journal::open(&self.path()).expect_err("no journal")
    }
}

#[test]
fn reading_a_journal_neither_creates_nor_changes_it() {
    let place = Place::new();
    let missing = Journal::open_to_read(&place.path()).expect_err("no journal");
    assert!(matches!(missing, JournalError::Unopenable { .. }), "{missing}");
    assert!(!place.path().exists());

    let mut writer = place.open();
    writer.append(&two_games()).expect("room");
    let reader = Journal::open_to_read(&place.path()).expect("a journal");
    assert_eq!(reader.games("live", "b").expect("readable").len(), 2);
    let begun = reader.game("live", "b", "day-b-2").expect("readable");
    assert_eq!(begun.len(), 3);
    // The reader sees events that are stored while it is open.
    let later = event(8, EventKind::ClockBatteryLow {});
    writer.append([&later]).expect("room");
    assert_eq!(reader.last_seq("live", "b").expect("a number"), 8);
    let mut reader = reader;
    let refused = reader.append([&later]).expect_err("it is only read");
    assert!(matches!(refused, JournalError::ReadOnly { .. }), "{refused}");

    for foreign in [Place::with(b""), Place::with(b"not a database at all, but text")] {
        assert!(Journal::open_to_read(&foreign.path()).is_err());
    }
}

/// Copies the files of an open journal as after a power cut, with the first `log` bytes of the write-ahead log.
fn cut_off(place: &Place, log: usize) -> Place {
    let cut = Place::with(&fs::read(place.path()).expect("the file"));
    let mut bytes = fs::read(with_suffix(&place.path(), "-wal")).expect("the log");
    bytes.truncate(log);
    fs::write(with_suffix(&cut.path(), "-wal"), bytes).expect("a file");
    cut
}

#[test]
fn power_cut_leaves_only_complete_commits() {
    let place = Place::new();
    let mut journal = place.open();
    let mut seq = 0;
    let mut commits = Vec::new();
    let log = with_suffix(&place.path(), "-wal");
    for size in [1, 3, 2, 30, 1] {
        let events: Vec<Event> = (0..size)
            .map(|n| event(seq + 1 + n, EventKind::ClockConnected {}))
            .collect();
        journal.append(&events).expect("room");
        seq += size;
        commits.push((fs::metadata(&log).expect("the log").len() as usize, seq));
    }
    let (made, _) = commits[0];
    for cut in (made..=commits[4].0).step_by(500).chain([commits[4].0]) {
        let whole = commits
            .iter()
            .rev()
            .find(|(length, _)| *length <= cut)
            .expect("a commit")
            .1;
        let mut found = cut_off(&place, cut).open();
        assert_eq!(
            found.last_seq("live", "b").expect("a number"),
            whole,
            "cut at {cut}"
        );
        found
            .append([&event(whole + 1, EventKind::ClockConnected {})])
            .expect("room");
    }
}

#[test]
fn file_left_empty_by_a_power_cut_becomes_a_journal() {
    let place = Place::with(b"");
    place.open().append(&two_games()).expect("room");
    assert_eq!(place.open().last_seq("live", "b").expect("a number"), 7);
}

#[test]
fn damaged_file_is_reported_and_can_be_put_aside() {
    let place = Place::with(&b"no database at all, and long enough to have a header".repeat(40));
    let error = place.refusal();
    assert!(error.is_damaged());
    let path = place.path();
    assert_eq!(
        error.to_string(),
        format!(
            "the journal {} is damaged (file is not a database): move it away, together with the files beside it whose names begin the same, and kiebitz begins a new one",
            path.display()
        )
    );
    fs::write(with_suffix(&path, "-wal"), "left").expect("a file");
    let aside = Journal::put_aside(&path, Timestamp::from_micros(77_000)).expect("renamed");
    assert_eq!(aside, with_suffix(&path, ".damaged-77000"));
    assert_eq!(fs::read(with_suffix(&aside, "-wal")).expect("the log"), b"left");
    assert_eq!(place.open().last_seq("live", "b").expect("a number"), 0);
}

#[test]
fn numbers_of_a_damaged_journal_are_never_given_again() {
    let place = Place::with(&b"no database at all, and long enough to have a header".repeat(40));
    let path = place.path();
    for micros in [5_000_000, 7_000_000, 6_000_000] {
        fs::write(
            with_suffix(&path, &format!(".damaged-{micros}")),
            "left by others",
        )
        .expect("a file");
    }
    let aside = Journal::put_aside(&path, Timestamp::from_micros(9_000_000)).expect("renamed");
    // The log of the damaged journal.
    fs::write(with_suffix(&aside, "-wal"), "left").expect("a file");
    assert_eq!(place.open().begins_after().expect("a number"), 9000);
    // The number stays when somebody has removed the damaged journal.
    fs::remove_file(aside).expect("there");
    assert_eq!(place.open().begins_after().expect("a number"), 9000);
}

#[test]
fn first_journal_begins_with_one() {
    let place = Place::new();
    let journal = place.open();
    assert_eq!(journal.begins_after().expect("a number"), 0);
    // The file of an older kiebitz.
    journal
        .connection
        .execute_batch("DROP TABLE begun")
        .expect("there");
    assert_eq!(place.open().begins_after().expect("a number"), 0);
}

#[test]
fn no_damage_causes_a_panic() {
    let place = Place::new();
    place.open().append(&two_games()).expect("room");
    let whole = fs::read(place.path()).expect("the file");
    let mut refused = 0;
    for at in (0..100).step_by(3).chain((100..whole.len()).step_by(331)) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        let damaged = Place::with(&bytes);
        refused += usize::from(use_all(&damaged).is_err());
    }
    for length in (1..whole.len()).step_by(1009) {
        refused += usize::from(use_all(&Place::with(&whole[..length])).is_err());
    }
    assert!(refused > 20);
}

fn use_all(place: &Place) -> Result<(), JournalError> {
    let mut journal = Journal::open(&place.path())?;
    journal.last_seq("live", "b")?;
    journal.games("live", "b")?;
    journal.all_of("live", "b").last_game()?;
    journal.unsent("mqtt", "live")?;
    journal.append([&event(8, ended())])?;
    journal.acknowledge("mqtt", "live", [("b", 8)])?;
    journal.events_after("live", "b", 0, 99)?;
    journal.forget_before("live", Timestamp::from_micros(i64::MAX))?;
    Ok(())
}

#[test]
fn journal_of_a_newer_kiebitz_is_left_alone() {
    let place = Place::new();
    place
        .open()
        .connection
        .pragma_update(None, "user_version", 7)
        .expect("written");
    let path = place.path();
    assert_eq!(
        place.refusal().to_string(),
        format!(
            "the journal {} was written by a newer kiebitz (format 7; this one knows 3): install the newer one again, or move the journal away",
            path.display()
        )
    );
}

#[test]
fn database_of_another_program_is_left_alone() {
    let place = Place::with(b"");
    let other = Connection::open(place.path()).expect("a database");
    other
        .execute_batch("CREATE TABLE photos (name TEXT)")
        .expect("a table");
    drop(other);
    let error = place.refusal();
    assert!(matches!(error, JournalError::Foreign { .. }), "{error}");
}

#[test]
fn unwritable_directory_is_reported_with_the_systems_reason() {
    let place = Place::new();
    fs::create_dir_all(place.path()).expect("a directory");
    let error = place.refusal();
    assert_eq!(
        error.to_string(),
        format!("cannot open the journal {}", place.path().display())
    );
    let source = std::error::Error::source(&error).expect("a reason");
    assert!(source.to_string().contains("directory"), "{source}");
}

#[test]
fn full_disk_loses_no_stored_event_and_stores_the_rest_later() {
    let place = Place::new();
    let mut journal = place.open();
    let pages: u32 = journal
        .connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .expect("pages");
    let limit = |journal: &Journal, pages: u32| {
        let set = journal
            .connection
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        set.expect("a limit");
    };
    limit(&journal, pages + 2);
    let batch = |number: u64| -> Vec<Event> {
        (0..10)
            .map(|n| event(number * 10 + n + 1, EventKind::ClockConnected {}))
            .collect()
    };
    let full = (0..)
        .find(|number| journal.append(&batch(*number)).is_err())
        .expect("a full disk");
    let error = journal.append(&batch(full)).expect_err("a full disk");
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    assert_eq!(journal.last_seq("live", "b").expect("a number"), full * 10);
    limit(&journal, 1000);
    journal.append(&batch(full)).expect("room");
    assert_eq!(journal.last_seq("live", "b").expect("a number"), full * 10 + 10);
}

#[test]
fn journal_that_another_program_writes_to_is_busy() {
    let place = Place::new();
    let mut journal = place.open();
    journal
        .connection
        .busy_timeout(core::time::Duration::ZERO)
        .expect("set");
    let other = place.open();
    other
        .connection
        .execute_batch("BEGIN IMMEDIATE")
        .expect("the lock");
    let error = journal.append(&two_games()).expect_err("the file is held");
    assert!(matches!(error, JournalError::Busy { .. }), "{error}");
}

/// The event stays unchanged, and the journal is not put aside: the newer kiebitz can read it.
#[test]
fn unknown_word_of_a_newer_kiebitz_is_named_and_is_not_damage() {
    let place = Place::new();
    let mut journal = place.open();
    let taken_back = EventKind::MoveRetracted {
        ply: 1,
        reason: CorrectionReason::Takeback,
    };
    let kinds = [started("start", Variant::Standard), taken_back];
    let events: Vec<Event> = (1..).zip(kinds).map(|(seq, kind)| event(seq, kind)).collect();
    journal.append(&events).expect("room");
    let newer = "UPDATE event SET payload = replace(payload, '\"takeback\"', '\"swapped\"')";
    journal.connection.execute(newer, []).expect("an update");
    let error = journal
        .all_of("live", "b")
        .last_game()
        .expect_err("an unknown word");
    assert!(
        matches!(error, JournalError::NewerEvent { seq: 2, .. }),
        "{error}"
    );
    assert!(!error.is_damaged());
    let message = error.to_string();
    let named = "(event 2, move.retracted: unknown reason of a correction \"swapped\"";
    assert!(message.contains(named), "{message}");
    let kept = journal.game_events("live", "b", "g").expect("readable");
    assert!(kept[1].payload.contains("\"swapped\""), "{}", kept[1].payload);
    drop(journal);
    place.open();
}

#[test]
fn event_that_is_not_json_is_damage() {
    let place = Place::new();
    let mut journal = place.open();
    journal
        .append([&event(1, started("start", Variant::Standard))])
        .expect("room");
    for payload in ["substr(payload, 1, 40)", "'{}'"] {
        let cut = format!("UPDATE event SET payload = {payload}");
        journal.connection.execute(&cut, []).expect("an update");
        let error = journal.all_of("live", "b").last_game().expect_err("no event");
        assert!(error.is_damaged(), "{error}");
    }
}

/// Events of two boards, enough for some dozen pages.
fn many() -> Vec<Event> {
    let one = |board: &str, seq: u64| Event {
        board: board.to_owned(),
        ..event(seq, started(&format!("start {seq}"), Variant::Standard))
    };
    (1..=300).flat_map(|seq| [one("b", seq), one("c", seq)]).collect()
}

fn lasts() -> BTreeMap<String, u64> {
    ["b", "c"].map(|board| (board.to_owned(), 300)).into()
}

/// Whichever byte is damaged, the new journal has all readable events of the old one.
#[test]
fn readable_events_of_a_damaged_journal_are_carried_over() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&many()).expect("room");
    journal.acknowledge("mqtt", "live", [("b", 299)]).expect("room");
    let run = Run {
        began: Timestamp::from_micros(5),
        config: "[event]".to_owned(),
        whole: true,
        boards: lasts(),
        numbers: lasts(),
        others: 0,
        reloaded: false,
        jumps: BTreeMap::new(),
    };
    journal.begin_run(&run).expect("room");
    drop(journal);
    let whole = fs::read(place.path()).expect("the file");
    let (mut carried, mut found) = (Vec::new(), 0);
    for at in (0..whole.len()).step_by(1021) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        let damaged = Place::with(&bytes);
        let opened = Journal::open(&damaged.path()).and_then(|journal| journal.check(true));
        if opened.is_ok() {
            // The byte is in an unused page, or yields another valid time or name: undetectable.
            continue;
        }
        found += 1;
        let now = Timestamp::from_micros(77_000);
        let recovered =
            Journal::recover(&damaged.path(), now, &lasts(), &Progress::default()).expect("a journal");
        assert!(recovered.aside.exists());
        let kept = ["b", "c"].map(|board| {
            let kept = recovered
                .journal
                .events_after("live", board, 0, 1000)
                .expect("readable");
            for event in &kept {
                assert_eq!(event.decoded(&place.path()).expect("an event").seq, event.seq);
            }
            kept.len()
        });
        assert_eq!(kept.iter().sum::<usize>(), recovered.events);
        carried.push(recovered.events);
        recovered.journal.check(true).expect("whole");
    }
    assert!(found > 20, "{found}");
    // A page has about fifteen events.
    let most = carried.iter().filter(|events| **events >= 560).count();
    assert!(most * 10 >= carried.len() * 7, "{carried:?}");
}

#[test]
fn events_around_a_damaged_page_are_found_one_by_one() {
    let place = Place::new();
    place.open().append(&many()).expect("room");
    let mut bytes = fs::read(place.path()).expect("the file");
    let payload = br#""seq":150,"#;
    let at = bytes
        .windows(payload.len())
        .position(|window| window == payload)
        .expect("event 150");
    let page = at / 4096 * 4096;
    bytes[page..page + 4096].fill(0xa5);
    let damaged = Place::with(&bytes);
    let recovered = Journal::recover(
        &damaged.path(),
        Timestamp::from_micros(1),
        &lasts(),
        &Progress::default(),
    )
    .expect("a journal");
    assert!((560..600).contains(&recovered.events), "{}", recovered.events);
    let missing = ["b", "c"].map(|board| recovered.journal.missing("live", board).expect("readable"));
    let stretches: Vec<_> = missing.iter().flatten().collect();
    assert_eq!(stretches.len(), 1, "{stretches:?}");
    let count = stretches
        .iter()
        .map(|(first, last)| last - first + 1)
        .sum::<u64>();
    assert_eq!(count as usize + recovered.events, 600);
}

#[test]
fn missing_table_is_damage_and_the_others_are_carried_over() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&many()).expect("room");
    journal
        .connection
        .execute_batch("DROP TABLE delivered")
        .expect("there");
    drop(journal);
    assert!(place.refusal().is_damaged());
    let recovered = Journal::recover(
        &place.path(),
        Timestamp::from_micros(1),
        &lasts(),
        &Progress::default(),
    )
    .expect("a journal");
    assert_eq!(recovered.events, 600);
}

#[test]
fn a_copy_is_a_journal_in_one_file() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&two_games()).expect("room");
    let copy = place.0.path().join("copy.sqlite");
    journal.copy_to(&copy).expect("room");
    journal.append([&event(8, ended())]).expect("room");
    assert!(!with_suffix(&copy, "-wal").exists());
    let read = Journal::open_to_read(&copy).expect("a journal");
    assert_eq!(read.last_seq("live", "b").expect("a number"), 7);
    read.check(true).expect("whole");
}

#[test]
fn a_journal_of_the_first_version_is_upgraded() {
    let place = Place::new();
    let mut journal = place.open();
    journal.append(&two_games()).expect("room");
    journal
        .connection
        .execute_batch("DROP TABLE run; PRAGMA user_version = 1")
        .expect("there");
    assert_eq!(journal.runs().expect("readable"), []);
    drop(journal);
    let mut journal = place.open();
    assert_eq!(journal.last_seq("live", "b").expect("a number"), 7);
    let run = |began, whole| Run {
        began: Timestamp::from_micros(began),
        config: String::new(),
        whole,
        boards: if whole { lasts() } else { BTreeMap::new() },
        numbers: lasts(),
        others: 3,
        reloaded: false,
        jumps: BTreeMap::new(),
    };
    journal.begin_run(&run(1, false)).expect("room");
    assert_eq!(
        journal.runs().expect("readable"),
        [],
        "nothing is known of what was before"
    );
    let runs = [run(2, true), run(3, false), run(4, false)];
    for run in &runs {
        journal.begin_run(run).expect("room");
    }
    assert_eq!(journal.runs().expect("readable"), runs);
    journal.begin_run(&run(5, true)).expect("room");
    assert_eq!(journal.runs().expect("readable"), [run(5, true)]);
    assert_eq!(journal.all_runs().expect("readable").len(), 5);
    let forgets = |journal: &mut Journal, before| {
        let before = Timestamp::from_micros(before);
        journal.forget_before("live", before).expect("room");
        let began = |run: Run| run.began.as_micros();
        let known = journal.all_runs().expect("readable").into_iter().map(began);
        known.collect::<Vec<_>>()
    };
    assert_eq!(forgets(&mut journal, 2), [1, 2, 3, 4, 5]);
    assert_eq!(forgets(&mut journal, 4), [2, 3, 4, 5], "events of 3 and 4 need 2");
    assert_eq!(forgets(&mut journal, 6), [5]);
}
