//! The same with the program.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use kiebitz::hall::Numbers;
use kiebitz::journal::NumbersFile;
use kiebitz::restart::{self, Sources};
use rustix::process::{Pid, Signal, kill_process};

use super::*;

impl Left {
    fn command(&self, args: &[&str]) -> Command {
        let file = self.directory.path().join("kiebitz.toml");
        let state = self.directory.path().display().to_string();
        let settings = format!(
            "[daemon]\nstate_directory = {state:?}\n[ports]\nusb = false\n{}",
            self.config.of_boards
        );
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kiebitz"));
        command.args(args).arg("--config").arg(file);
        command.env("TZ", "UTC").stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn printed(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn has(&self) -> Payloads {
        payloads(&Journal::open_to_read(&self.file()).unwrap())
    }
}

/// A daemon, with the lines of its log that have been read.
fn daemon(left: &Left) -> Child {
    let mut daemon = left.command(&["run"]).stderr(Stdio::piped()).spawn().unwrap();
    let log = BufReader::new(daemon.stderr.take().unwrap());
    let watching = log
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("is watching"));
    assert!(watching);
    daemon
}

#[test]
fn a_folder_of_recordings_is_replayed_as_one() {
    let left = Left::by_round(8, Wiring::Auto);
    let folder = left.recordings();
    let printed = left.printed(&["replay", "--json", "--stream", "live", folder.to_str().unwrap()]);
    for (board, had) in &left.had {
        let own = format!("\"board\":\"{board}\"");
        let lines: Vec<&str> = printed.lines().filter(|line| line.contains(&own)).collect();
        assert!(had.values().eq(lines), "{board}");
    }
    let events: usize = left.had.values().map(BTreeMap::len).sum();
    assert_eq!(printed.lines().count(), events);
    let sheet = left.printed(&["replay", folder.to_str().unwrap()]);
    assert_eq!(sheet.matches("recordings\n====").count(), 1);

    let none = left.directory.path().join("none");
    std::fs::create_dir(&none).unwrap();
    let refused = left.run(&["replay", none.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(errors.contains("there is nothing in"), "{errors}");
    std::fs::remove_dir_all(folder).unwrap();
    let refused = left.run(&["rebuild"]);
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(errors.contains("there are no recordings in"), "{errors}");
}

#[test]
fn rebuild_says_what_it_does_and_does_nothing_in_a_dry_run() {
    let left = Left::by_round(8, Wiring::Single);
    left.change("DELETE FROM event WHERE seq BETWEEN 20 AND 40");
    left.change("UPDATE event SET payload = replace(payload, '\"v\":1', '\"v\":1,\"w\":1') WHERE board = 'board-2' AND seq = 50");
    let before = left.has();
    let words = "board-2: nothing was filled in; its recording gives another event 50 than the journal has; missing: 20-40\n";
    let dry = left.printed(&["rebuild", "--dry-run"]);
    assert!(left.has() == before);
    assert!(!left.directory.path().join("journal.rehearsal").exists());
    assert!(dry.starts_with("the recordings begin at 2026-11-21T"), "{dry}");
    assert!(
        dry.contains("board-1: 21 events would be filled in; no number is missing\n"),
        "{dry}"
    );
    assert!(
        dry.contains(&words.replace("was filled", "would be filled")),
        "{dry}"
    );
    let done = left.printed(&["rebuild"]);
    assert!(
        done.contains("board-1: 21 events were filled in; no number is missing\n"),
        "{done}"
    );
    assert!(done.contains(words), "{done}");
    let has = left.has();
    assert!(has["board-1"] == left.had["board-1"] && has["board-2"] == before["board-2"]);
    let again = left.printed(&["rebuild"]);
    assert!(
        again.contains("board-1: nothing was filled in; no number is missing\n"),
        "{again}"
    );
}

#[test]
fn a_daemon_that_runs_is_not_disturbed() {
    let left = Left::by_round(9, Wiring::Single);
    left.change("DELETE FROM event WHERE seq BETWEEN 20 AND 40");
    let mut daemon = daemon(&left);
    let before = left.has();
    for args in [&["rebuild"][..], &["rebuild", "--dry-run"]] {
        let refused = left.run(args);
        assert_eq!(refused.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            errors.contains("another kiebitz has") && errors.contains("process"),
            "{errors}"
        );
    }
    assert!(left.has() == before);
    kill_process(Pid::from_child(&daemon), Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success());
    left.printed(&["rebuild"]);
    assert!(left.has() == left.had);
}

/// Numbers that were given once are not given again: the file of numbers knows of more than could be made again.
#[test]
fn counting_goes_on_after_a_journal_that_was_lost_or_damaged() {
    let left = Left::by_round(10, Wiring::Single);
    let numbers = left.directory.path().join("numbers");
    let lasts = left.had.iter().map(|(board, events)| {
        let further = if board == "board-1" { 10 } else { 0 };
        (
            board.as_str(),
            events.last_key_value().map_or(0, |(seq, _)| *seq) + further,
        )
    });
    let lasts: BTreeMap<&str, u64> = lasts.collect();
    let mut file = NumbersFile::open(&numbers, "").unwrap();
    file.note(lasts.iter().map(|(board, last)| (*board, *last)))
        .unwrap();
    left.lose();
    let dry = left.printed(&["rebuild", "--dry-run"]);
    assert!(!left.file().exists());
    let done = left.printed(&["rebuild"]);
    assert_eq!(done, dry.replace("would be", "were"));
    let given = lasts["board-1"];
    assert!(
        done.contains(&format!("; missing: {}-{given}\n", given - 9)),
        "{done}"
    );
    assert!(left.has() == left.had);

    let journal = Journal::open(&left.file()).unwrap();
    let known = Numbers {
        boards: NumbersFile::lasts_in(&numbers, None).unwrap(),
        others: 0,
    };
    let sources = Sources {
        journal: &journal,
        recordings: Some(&left.recordings()),
        zone: &TimeZone::UTC,
        stream: "live",
        config: &left.config,
        numbers: &known,
    };
    let taken = restart::begin_anew(&sources).unwrap();
    assert_eq!(taken.events, []);
    let now = taken.until + Duration::from_secs(1);
    let (_, run) = taken.settle(&sources, now).unwrap();
    assert_eq!(run.boards["board-1"], given);
    drop(journal);

    let mut bytes = std::fs::read(left.file()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 5000].fill(0x5a);
    std::fs::write(left.file(), bytes).unwrap();
    let dry = left.run(&["rebuild", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(1), "it cannot be copied");
    let done = left.run(&["rebuild"]);
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        errors.contains("is damaged") && errors.contains("events of it are in a new one"),
        "{errors}"
    );
    assert!(left.has() == left.had);
}
