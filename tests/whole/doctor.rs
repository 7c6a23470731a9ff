//! `kiebitz boards` and `kiebitz record` with emulated boards on pseudo-terminals.

use core::time::Duration;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use kiebitz::system_time::LiveTime;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::CaptureReader;
use kiebitz_hardware::emulator::{BoardSettings, ClockSide, EmulatedBoard, EmulatedClock};
use kiebitz_protocol::{Dump, Field, Piece};
use rustix::pty::OpenptFlags;
use serde_json::Value;
use tempfile::TempDir;

use crate::cli::kiebitz;
use crate::eventually::eventually;

/// Opens a pseudo-terminal. Returns the board's side, and the path of the host's side.
fn pseudo_terminal() -> (File, PathBuf) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let board = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&board).unwrap();
    rustix::pty::unlockpt(&board).unwrap();
    let path = rustix::pty::ptsname(&board, Vec::new()).unwrap();
    (File::from(board), path.into_string().unwrap().into())
}

/// An action on the board, and its time in milliseconds after the host's first bytes.
pub(crate) type Deed = (u64, Box<dyn FnOnce(&mut EmulatedBoard, Timestamp) + Send>);

/// A board on a pseudo-terminal, in real time, until it is dropped.
pub(crate) struct Plugged {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Plugged {
    pub(crate) fn new(board: impl FnOnce(Timestamp) -> EmulatedBoard, deeds: Vec<Deed>) -> Self {
        let (mut line, path) = pseudo_terminal();
        let stop = Arc::new(AtomicBool::new(false));
        let time = LiveTime::start();
        let mut board = board(time.now());
        let stopped = stop.clone();
        let thread = thread::spawn(move || {
            let mut deeds = deeds.into_iter().peekable();
            let mut first = None;
            while !stopped.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(2));
                let now = time.now();
                if rustix::io::ioctl_fionread(&line).is_ok_and(|waiting| waiting > 0) {
                    let mut buffer = [0; 64];
                    let read = line.read(&mut buffer).unwrap();
                    first.get_or_insert(now);
                    board.handle_bytes(now, &buffer[..read]);
                }
                let since = first.map_or(Duration::ZERO, |first| now.saturating_duration_since(first));
                let due = |deed: &Deed| since >= Duration::from_millis(deed.0);
                while let Some((_, deed)) = deeds.next_if(due) {
                    deed(&mut board, now);
                }
                while let Some((_, bytes)) = board.poll_transmit(now) {
                    line.write_all(&bytes).unwrap();
                }
            }
        });
        Self {
            path,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

impl Drop for Plugged {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn start_position() -> Dump {
    use Piece::*;
    let mut dump = [None; 64];
    let black = [
        BlackRook,
        BlackKnight,
        BlackBishop,
        BlackQueen,
        BlackKing,
        BlackBishop,
        BlackKnight,
        BlackRook,
    ];
    let white = [
        WhiteRook,
        WhiteKnight,
        WhiteBishop,
        WhiteQueen,
        WhiteKing,
        WhiteBishop,
        WhiteKnight,
        WhiteRook,
    ];
    for file in 0..8 {
        (dump[file], dump[file + 8]) = (Some(black[file]), Some(BlackPawn));
        (dump[file + 48], dump[file + 56]) = (Some(WhitePawn), Some(white[file]));
    }
    dump
}

pub(crate) fn board(now: Timestamp) -> EmulatedBoard {
    EmulatedBoard::with_pieces(now, BoardSettings::default(), &start_position())
}

fn set(at: u64, field: u8, piece: Option<Piece>) -> Deed {
    let deed = move |board: &mut EmulatedBoard, now| board.set(now, Field::new(field).unwrap(), piece);
    (at, Box::new(deed))
}

fn press(at: u64, side: ClockSide) -> Deed {
    let deed = move |board: &mut EmulatedBoard, now| assert!(board.clock_mut(now).unwrap().press(now, side));
    (at, Box::new(deed))
}

/// Runs the program. Returns exit code, stdout and stderr.
pub(crate) fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = kiebitz(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Writes a configuration with a port in single mode and a named board. Returns its path.
fn single(folder: &TempDir, port: &str) -> String {
    let path = folder.path().join("kiebitz.toml");
    let text = format!(
        "[ports]\nusb = false\n[[port]]\npath = \"{port}\"\nmode = \"single\"\n\
         [[board]]\nserial = \"42\"\nname = \"board-7\"\n"
    );
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn fits_80_columns(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= 80)
}

/// Sends SIGINT to a process. Returns exit code and stderr.
fn interrupt(mut child: Child) -> (Option<i32>, String) {
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut errors).unwrap();
    }
    (child.wait().unwrap().code(), errors)
}

#[test]
fn a_board_on_an_unknown_port_is_shown_with_its_name_and_position() {
    let plugged = Plugged::new(board, Vec::new());
    let (code, text, _) = run(&["boards", "--port", plugged.path()]);
    let expected = format!(
        "{}: pseudo-terminal, bus with 1 board\n  board 00042 (version 1.8): start position; no clock\n\n\
         1 board on 1 port, all well.\n",
        plugged.path()
    );
    assert_eq!((code, text), (Some(0), expected));
}

#[test]
fn a_configured_board_has_its_name_and_a_clock() {
    let clocked = |now| {
        let mut board = board(now);
        let mut clock = EmulatedClock::new(Duration::from_secs(5400)).with_lever_high(ClockSide::Right);
        clock.start(now);
        board.plug_clock(now, Some(clock));
        board.set(now, Field::new(52).unwrap(), None);
        board
    };
    let plugged = Plugged::new(clocked, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let config = single(&folder, plugged.path());
    let (code, text, _) = run(&["boards", "--config", &config]);
    assert_eq!(code, Some(0), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    let text_in_a_row = words.join(" ");
    assert!(
        text_in_a_row.contains(
            "board-7 (serial number 00042, version 1.8): start position except for e2 (empty); \
             clock left 1:30:00, right 1:"
        ) && text_in_a_row.contains(" running"),
        "{text}"
    );
    assert!(fits_80_columns(&text), "{text}");
}

#[test]
fn json_has_one_object_per_port() {
    let plugged = Plugged::new(board, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let config = single(&folder, plugged.path());
    let (code, text, _) = run(&[
        "boards",
        "--config",
        &config,
        "--json",
        "--port",
        plugged.path(),
        "--port",
        "/no/port",
    ]);
    assert_eq!(code, Some(1));
    let ports: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(ports.len(), 2);
    let found = ports.iter().find(|port| port["port"] == plugged.path()).unwrap();
    assert_eq!(found["mode"], "single");
    assert_eq!(found["kind"], "pseudo_terminal");
    assert_eq!(found["troubles"], Value::Array(Vec::new()));
    let board = &found["boards"][0];
    assert_eq!(board["name"], "board-7");
    assert_eq!(board["serial"], "00042");
    assert_eq!(board["long_serial"], "0000000042");
    assert_eq!(board["version"], "1.8");
    assert_eq!(board["start_position"], true);
    assert_eq!(board["placement"], "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
    assert_eq!(board["clock"]["present"], false);
    assert_eq!(board["battery"], Value::Null);
    let missing = ports.iter().find(|port| port["port"] == "/no/port").unwrap();
    assert_eq!(missing["troubles"][0]["kind"], "missing");
}

#[test]
fn a_port_without_an_answer_gets_advice() {
    let (_line, path) = pseudo_terminal();
    let folder = tempfile::tempdir().unwrap();
    let path = path.to_str().unwrap();
    let config = single(&folder, path);
    let (code, text, _) = run(&["boards", "--config", &config]);
    assert_eq!(code, Some(1));
    let expected = format!(
        "{path}: pseudo-terminal\n  ! no board answers\n    Check that the program that emulates the board is still running.\n\n\
         0 boards on 1 port. Needs attention: {path}\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn missing_ports_busy_ports_and_plain_files_are_distinguished() {
    let (_line, path) = pseudo_terminal();
    let busy = path.to_str().unwrap();
    let holder = File::options().read(true).write(true).open(&path).unwrap();
    holder.try_lock().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let (code, text, _) = run(&[
        "boards",
        "--port",
        busy,
        "--port",
        "/dev/ttyKIEBITZ",
        "--port",
        file,
    ]);
    assert_eq!(code, Some(1));
    assert!(fits_80_columns(&text), "{text}");
    let process = format!("(process {})", std::process::id());
    let used = text.contains("! in use by whole") && text.contains(&process);
    assert!(used && text.contains("Stop that program"), "{text}");
    assert!(
        text.contains("/dev/ttyKIEBITZ: configured port\n  ! there is no such device\n"),
        "{text}"
    );
    assert!(
        text.contains("  ! not a serial port\n    Correct the path;"),
        "{text}"
    );
}

#[test]
fn a_configuration_that_is_wrong_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kiebitz.toml");
    std::fs::write(&path, "[ports]\nusb = 1\n").unwrap();
    let (code, _, errors) = run(&["boards", "--config", path.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("kiebitz.toml:2:"), "{errors}");
}

#[test]
fn without_any_port_the_search_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kiebitz.toml");
    std::fs::write(&path, "[ports]\nusb = false\n").unwrap();
    let (code, text, _) = run(&["boards", "--config", path.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("No board found.") && text.contains("kiebitz boards --port /dev/ttyS0"),
        "{text}"
    );
    assert!(fits_80_columns(&text), "{text}");
}

#[test]
fn watching_prints_every_square_and_the_cable() {
    let deeds = vec![set(2000, 52, None), set(2600, 36, Some(Piece::WhitePawn))];
    let plugged = Plugged::new(board, deeds);
    let folder = tempfile::tempdir().unwrap();
    let config = single(&folder, plugged.path());
    let mut child = kiebitz(["boards", "--watch", "--config", &config])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let port = plugged.path().to_owned();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let line = lines.next().unwrap().unwrap();
        let (time, text) = line.split_once("  ").unwrap();
        assert_eq!(time.len(), 8, "{line}");
        text.to_owned()
    };
    assert_eq!(next(), format!("{port}: pseudo-terminal, plugged in"));
    assert_eq!(next(), format!("{port}: board-7: start position; no clock"));
    assert_eq!(next(), format!("{port}: board-7: e2: empty"));
    assert_eq!(next(), format!("{port}: board-7: e4: white pawn"));
    drop(plugged);
    // Without advice if another test has the pseudo-terminal by now.
    let last = next();
    assert!(last.starts_with(&format!("{port}: unplugged")), "{last}");
    assert_eq!(interrupt(child).0, Some(130));
}

/// 1. e4 e5 2. Nf3, with presses of the clock.
fn opening() -> Vec<Deed> {
    use ClockSide::{Left, Right};
    vec![
        set(2500, 52, None),
        set(3000, 36, Some(Piece::WhitePawn)),
        press(3500, Left),
        set(4000, 12, None),
        set(4500, 28, Some(Piece::BlackPawn)),
        press(5000, Right),
        set(5500, 62, None),
        set(6000, 45, Some(Piece::WhiteKnight)),
        press(6500, Left),
    ]
}

fn clocked(now: Timestamp) -> EmulatedBoard {
    let mut board = board(now);
    let mut clock = EmulatedClock::new(Duration::from_secs(300)).with_lever_high(ClockSide::Left);
    clock.start(now);
    board.plug_clock(now, Some(clock));
    board
}

fn moves(capture: &Path) -> Vec<String> {
    let made = events(capture, "move.made").into_iter();
    made.map(|event| event["san"].as_str().unwrap().to_owned())
        .collect()
}

/// The events of a type that a capture yields.
fn events(capture: &Path, kind: &str) -> Vec<Value> {
    let (code, text, errors) = run(&["replay", "--json", capture.to_str().unwrap()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let events = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["type"] == kind).collect()
}

/// Number of packets in a capture that is still being written.
fn packets(capture: &Path) -> usize {
    let reader = File::open(capture).ok().map(CaptureReader::new);
    // Not a capture yet before its header is written.
    reader
        .and_then(Result::ok)
        .map_or(0, |reader| reader.map(Result::unwrap).count())
}

#[test]
fn a_recording_replays_the_moves() {
    let plugged = Plugged::new(clocked, opening());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("board.pcapng");
    let name = file.to_str().unwrap();
    let (code, _, errors) = run(&[
        "record",
        plugged.path(),
        name,
        "--mode",
        "single",
        "--seconds",
        "9",
    ]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("6 changes on the squares"), "{errors}");
    assert_eq!(moves(&file), ["e4", "e5", "Nf3"]);
}

#[test]
fn a_port_of_unknown_kind_is_recorded_and_shown_as_in_use_meanwhile() {
    let deeds = opening()
        .into_iter()
        .map(|(at, deed)| (at + 8000, deed))
        .collect();
    let plugged = Plugged::new(clocked, deeds);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("board.pcapng");
    let mut record = kiebitz(["record", plugged.path(), file.to_str().unwrap()]);
    let mut child = Running(Some(record.stderr(Stdio::piped()).spawn().unwrap()));
    eventually("the board is recorded", || packets(&file) > 5);

    let (code, text, _) = run(&["boards", "--port", plugged.path()]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains(&format!("kiebitz uses this port (process {})", child.id())),
        "{text}"
    );
    // The file is a valid capture while it is still being written.
    eventually("the presses are recorded", || {
        events(&file, "move.completed").len() == 3
    });
    let (code, errors) = interrupt(child.0.take().unwrap());
    assert_eq!(code, Some(130), "{errors}");
    assert_eq!(moves(&file), ["e4", "e5", "Nf3"]);
}

/// A program that is killed if its test fails. Otherwise it would wait for its port to reappear and could open the
/// terminal of another test under the same name.
struct Running(Option<Child>);

impl Running {
    fn id(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn a_recording_overwrites_nothing_and_needs_its_port() {
    let (_line, path) = pseudo_terminal();
    let port = path.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("games.pcapng");
    std::fs::write(&file, "precious").unwrap();
    let (code, _, errors) = run(&["record", port, file.to_str().unwrap(), "--seconds", "1"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("games.pcapng already exists"), "{errors}");
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");

    let other = folder.path().join("other.pcapng");
    let (code, _, errors) = run(&["record", "/dev/ttyKIEBITZ", other.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("there is no device at /dev/ttyKIEBITZ: plug the board in"),
        "{errors}"
    );
    assert!(!other.exists());
}

#[test]
fn a_low_battery_of_a_clock_needs_attention() {
    let weak = |now| {
        let mut board = board(now);
        let clock = EmulatedClock::new(Duration::from_secs(300)).with_battery_low(true);
        board.plug_clock(now, Some(clock));
        board
    };
    let plugged = Plugged::new(weak, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let config = single(&folder, plugged.path());
    let (code, text, _) = run(&["boards", "--config", &config]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("    ! the clock's battery is low\n      Change the clock's batteries"),
        "{text}"
    );
}
