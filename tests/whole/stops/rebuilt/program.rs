//! Rebuilding with the built program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kiebitz::journal::SeqFile;
use kiebitz::restart::{self, KnownSeqs, Sources};
use kiebitz_game::hall::LastSeqs;
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::eventually::eventually;
use crate::mosquitto::free_port;

impl DaemonFiles {
    fn command(&self, args: &[&str]) -> Command {
        self.command_with(args, "")
    }

    /// The command with further tables in the configuration.
    fn command_with(&self, args: &[&str], tables: &str) -> Command {
        let file = self.directory.path().join("kiebitz.toml");
        let state = self.directory.path().display().to_string();
        let settings = format!(
            "[daemon]\nstate_directory = {state:?}\n[ports]\nusb = false\n{tables}{}",
            self.config.of_boards
        );
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(crate::program());
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

    fn journaled(&self) -> Payloads {
        payloads(&Journal::open_to_read(&self.file()).unwrap())
    }
}

/// Starts a daemon and waits until it watches the boards.
fn daemon(files: &DaemonFiles) -> Child {
    let mut daemon = files.command(&["run"]).stderr(Stdio::piped()).spawn().unwrap();
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
    let files = DaemonFiles::by_round(8, Wiring::Auto);
    let folder = files.recordings();
    let printed = files.printed(&["replay", "--json", "--stream", "live", folder.to_str().unwrap()]);
    for (board, original) in &files.original {
        let own = format!("\"board\":\"{board}\"");
        let lines: Vec<&str> = printed.lines().filter(|line| line.contains(&own)).collect();
        assert!(original.values().eq(lines), "{board}");
    }
    let events: usize = files.original.values().map(BTreeMap::len).sum();
    assert_eq!(printed.lines().count(), events);
    let sheet = files.printed(&["replay", folder.to_str().unwrap()]);
    assert_eq!(sheet.matches("recordings\n====").count(), 1);

    let none = files.directory.path().join("none");
    std::fs::create_dir(&none).unwrap();
    let refused = files.run(&["replay", none.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(errors.contains("contains no recordings"), "{errors}");
    std::fs::remove_dir_all(folder).unwrap();
    let refused = files.run(&["rebuild"]);
    assert_eq!(refused.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(errors.contains("there are no recordings in"), "{errors}");
}

#[test]
fn rebuild_reports_its_changes_and_makes_none_in_a_dry_run() {
    let files = DaemonFiles::by_round(8, Wiring::Single);
    files.change("DELETE FROM event WHERE seq BETWEEN 20 AND 40");
    files.change("UPDATE event SET payload = replace(payload, '\"v\":1', '\"v\":1,\"w\":1') WHERE board = 'board-2' AND seq = 50");
    let before = files.journaled();
    let words = "board-2: nothing was filled in; event 50 differs between the recording and the journal; missing: 20-40\n";
    let dry = files.printed(&["rebuild", "--dry-run"]);
    assert!(files.journaled() == before);
    assert!(!files.directory.path().join("journal.rehearsal").exists());
    assert!(dry.starts_with("the recordings begin at 2026-11-21T"), "{dry}");
    assert!(
        dry.contains("board-1: 21 events would be filled in; no event is missing\n"),
        "{dry}"
    );
    assert!(
        dry.contains(&words.replace("was filled", "would be filled")),
        "{dry}"
    );
    let done = files.printed(&["rebuild"]);
    assert!(
        done.contains("board-1: 21 events were filled in; no event is missing\n"),
        "{done}"
    );
    assert!(done.contains(words), "{done}");
    let journaled = files.journaled();
    assert!(journaled["board-1"] == files.original["board-1"] && journaled["board-2"] == before["board-2"]);
    let again = files.printed(&["rebuild"]);
    assert!(
        again.contains("board-1: nothing was filled in; no event is missing\n"),
        "{again}"
    );
}

#[test]
fn a_running_daemon_is_not_disturbed() {
    let files = DaemonFiles::by_round(9, Wiring::Single);
    files.change("DELETE FROM event WHERE seq BETWEEN 20 AND 40");
    let mut daemon = daemon(&files);
    let before = files.journaled();
    for args in [&["rebuild"][..], &["rebuild", "--dry-run"]] {
        let refused = files.run(args);
        assert_eq!(refused.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            errors.contains("another kiebitz is using") && errors.contains("process"),
            "{errors}"
        );
    }
    assert!(files.journaled() == before);
    kill_process(Pid::from_child(&daemon), Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success());
    files.printed(&["rebuild"]);
    assert!(files.journaled() == files.original);
}

/// The daemon gets a tenth of a core, so that the replay takes far longer than the timeout for a disk.
#[test]
fn a_slow_start_completes_and_the_outputs_go_on() {
    let files = DaemonFiles::by_round(11, Wiring::Single);
    let mut numbers = SeqFile::open(&files.directory.path().join("numbers"), "").unwrap();
    let lasts = files.original.iter();
    let lasts = lasts.filter_map(|(board, events)| Some((board.as_str(), *events.last_key_value()?.0)));
    numbers.note(lasts).unwrap();
    numbers.complete(0).unwrap();
    drop(numbers);
    let port = free_port();
    let publish = format!("[publish]\nlisten = \"127.0.0.1:{port}\"\n");
    let mut daemon = files
        .command_with(&["run"], &publish)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let held = Pid::from_child(&daemon);
    let is_held = AtomicBool::new(true);
    let (shown, lines) = thread::scope(|scope| {
        scope.spawn(|| {
            while is_held.load(Ordering::Relaxed) {
                for (signal, millis) in [(Signal::STOP, 180), (Signal::CONT, 20)] {
                    kill_process(held, signal).unwrap();
                    thread::sleep(Duration::from_millis(millis));
                }
            }
        });
        // Watches the served list of games until the restart is over.
        let shown = scope.spawn(|| {
            let mut shown = false;
            while is_held.load(Ordering::Relaxed) {
                shown |= get(port, "/wall.json").is_some_and(|list| list.contains("\"restarts\":true"));
                thread::sleep(Duration::from_millis(20));
            }
            shown
        });
        let mut lines = Vec::new();
        for line in BufReader::new(daemon.stderr.take().unwrap()).lines() {
            lines.push(line.unwrap());
            if lines.last().unwrap().contains("is watching") {
                break;
            }
        }
        is_held.store(false, Ordering::Relaxed);
        (shown.join().unwrap(), lines)
    });
    eventually("the restart is over", || {
        get(port, "/wall.json").is_some_and(|list| !list.contains("restarts"))
    });
    kill_process(held, Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success());
    let log = lines.join("\n");
    assert!(shown, "the games are served while they are taken up\n{log}");
    assert!(!log.contains("does not answer"), "{log}");
    assert!(files.journaled() == files.original, "{log}");
    let journal = Journal::open_to_read(&files.file()).unwrap();
    let run = journal.all_runs().unwrap().pop().unwrap();
    assert_eq!(run.others, 0, "new boards count from 1\n{log}");
}

/// Body of the response; `None` if there is none or its status is not 200.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200").then_some(answer)
}

/// Event numbers are never reused: the file of numbers has higher ones than the recordings can restore.
#[test]
fn counting_goes_on_after_a_journal_that_was_lost_or_damaged() {
    let files = DaemonFiles::by_round(10, Wiring::Single);
    let numbers = files.directory.path().join("numbers");
    let lasts = files.original.iter().map(|(board, events)| {
        let further = if board == "board-1" { 10 } else { 0 };
        (
            board.as_str(),
            events.last_key_value().map_or(0, |(seq, _)| *seq) + further,
        )
    });
    let lasts: BTreeMap<&str, u64> = lasts.collect();
    let mut file = SeqFile::open(&numbers, "").unwrap();
    file.note(lasts.iter().map(|(board, last)| (*board, *last)))
        .unwrap();
    files.remove_journal();
    let dry = files.printed(&["rebuild", "--dry-run"]);
    assert!(!files.file().exists());
    let done = files.printed(&["rebuild"]);
    assert_eq!(done, dry.replace("would be", "were"));
    let given = lasts["board-1"];
    assert!(
        done.contains(&format!("; missing: {}-{given}\n", given - 9)),
        "{done}"
    );
    assert!(files.journaled() == files.original);

    let journal = Journal::open(&files.file()).unwrap();
    let known = KnownSeqs {
        numbers: LastSeqs {
            boards: SeqFile::lasts_in(&numbers, None).unwrap(),
            others: 0,
        },
        ..KnownSeqs::default()
    };
    let sources = Sources {
        journal: &journal,
        recordings: Some(&files.recordings()),
        zone: &TimeZone::UTC,
        stream: "live",
        config: &files.config,
        numbers: &known,
        progress: None,
    };
    let taken = restart::begin_anew(&sources).unwrap();
    assert_eq!(taken.events, []);
    let now = taken.until + Duration::from_secs(1);
    let (_, run) = taken.settle(&sources, now).unwrap();
    assert_eq!(run.boards["board-1"], given);
    drop(journal);

    let mut bytes = std::fs::read(files.file()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 5000].fill(0x5a);
    std::fs::write(files.file(), bytes).unwrap();
    let dry = files.run(&["rebuild", "--dry-run"]);
    assert_eq!(dry.status.code(), Some(1), "it cannot be copied");
    let done = files.run(&["rebuild"]);
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        errors.contains("is damaged") && errors.contains("events were copied into a new journal"),
        "{errors}"
    );
    assert!(files.journaled() == files.original);
}
