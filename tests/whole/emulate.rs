//! `kiebitz emulate`, on pseudo-terminals and in real time.

use core::time::Duration;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use kiebitz::system_time::LiveTime;
use kiebitz_game::events::EventKind;
use kiebitz_game::hall::{Hall, Names};
use kiebitz_hardware::capture::LineMode;
use kiebitz_hardware::{Line, LineSettings};
use kiebitz_protocol::{Decoder, Message};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::eventually::eventually;
use kiebitz_workbench::hands::verdict;

/// The running program. Killed if its test fails.
struct Emulation {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    links: PathBuf,
}

impl Emulation {
    fn start(name: &str, args: &[&str]) -> Self {
        let links = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulate").join(name);
        let mut child = Command::new(crate::program())
            .arg("emulate")
            .args(args)
            .arg("--links")
            .arg(&links)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("kiebitz runs");
        let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
        let mut emulation = Self { child, lines, links };
        emulation.wait_for("Ctrl-C ends the emulation");
        emulation
    }

    /// Waits for a printed line that contains `words`.
    fn wait_for(&mut self, words: &str) -> String {
        self.lines
            .by_ref()
            .map_while(Result::ok)
            .find(|line| line.contains(words))
            .unwrap_or_else(|| panic!("kiebitz ended without saying {words:?}"))
    }

    fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("stdin");
        writeln!(stdin, "{line}").expect("kiebitz reads");
    }

    fn link(&self, board: &str) -> PathBuf {
        self.links.join(board)
    }

    /// Opens a port exclusively.
    fn open(&self, board: &str) -> OwnedFd {
        self.try_open(board).expect("the port opens")
    }

    fn try_open(&self, board: &str) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK;
        let port = rustix::fs::open(self.link(board), flags, Mode::empty())?;
        rustix::termios::ioctl_tiocexcl(&port)?;
        Ok(port)
    }

    /// Sends a signal and returns the exit code.
    fn end(mut self, signal: &str) -> Option<i32> {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .expect("kill runs");
        assert!(sent.success());
        self.child.wait().expect("an exit code").code()
    }
}

impl Drop for Emulation {
    fn drop(&mut self) {
        // Fails if the program has already ended, which is the normal case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Bytes that arrive within 20 ms; `None` if the port has hung up.
fn read(port: &OwnedFd) -> Option<Vec<u8>> {
    let mut bytes = [0; 256];
    match rustix::io::read(port, &mut bytes) {
        Ok(0) => None,
        Ok(count) => Some(bytes[..count].to_vec()),
        Err(Errno::AGAIN) => {
            std::thread::sleep(Duration::from_millis(20));
            Some(Vec::new())
        }
        Err(_) => None,
    }
}

fn write(port: &OwnedFd, bytes: &[u8]) {
    assert_eq!(
        rustix::io::write(port, bytes),
        Ok(bytes.len()),
        "the board listens"
    );
}

/// Reads until `done` is true. Panics after `limit`.
fn read_until(port: &OwnedFd, limit: Duration, mut done: impl FnMut(&LiveTime, &[u8]) -> bool) {
    let time = LiveTime::start();
    let end = time.now() + limit;
    while time.now() < end {
        let bytes = read(port).expect("the port stays open");
        if done(&time, &bytes) {
            return;
        }
    }
    panic!("nothing of the kind within {limit:?}");
}

/// Checks that the board answers a request for its contents with the start position.
fn shows_start_position(port: &OwnedFd) {
    write(port, &[0x42]);
    let mut decoder = Decoder::new();
    read_until(port, Duration::from_secs(300), |_, bytes| {
        let mut pieces = None;
        decoder.feed(bytes, |decoded| {
            if let Ok(Message::BoardDump(dump)) = decoded {
                pieces = Some(dump.iter().flatten().count());
            }
        });
        pieces == Some(32)
    });
}

#[test]
fn a_game_on_a_pseudo_terminal_is_read_back() {
    let pgn = Path::new(env!("CARGO_TARGET_TMPDIR")).join("emulated.pgn");
    let game = "[White \"A\"]\n[Black \"B\"]\n\n1. e2e4 e5 2. f1c4 Nc6 3. Qh5 g8-f6 4. Qf7++ 1-0\n";
    std::fs::write(&pgn, game).expect("a PGN file");
    let args = [
        "--boards",
        "2",
        "--speed",
        "20",
        "--pgn",
        pgn.to_str().expect("UTF-8"),
    ];
    let emulation = Emulation::start("game", &args);
    let port = emulation.open("board-2");
    // DGT_SEND_UPDATE_NICE.
    write(&port, &[0x4b]);
    shows_start_position(&port);
    write(&port, &[0x42]);
    let mut hall = Hall::new("emulate", Names::Recorded);
    let line = hall.add("board-2", Line::listening(LineMode::Single));
    let mut events = Vec::new();
    let mut opened = false;
    read_until(&port, Duration::from_secs(120), |time, bytes| {
        if !core::mem::replace(&mut opened, true) {
            hall.open(time.now(), line);
        }
        hall.receive(time.now(), line, bytes);
        events.extend(hall.take_events().into_iter().map(|explained| explained.event));
        let ended = |kind: &EventKind| matches!(kind, EventKind::GameEnded { .. });
        events.iter().any(|event| ended(&event.kind))
    });
    assert_eq!(
        verdict::moves_published(&events),
        ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]
    );
    let links = emulation.links.clone();
    assert!(links.join("board-1").is_symlink());
    assert_eq!(emulation.end("-INT"), Some(130));
    let left: Vec<_> = std::fs::read_dir(&links).expect("the folder stays").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_unplugged_board_hangs_up_and_comes_back_under_its_name() {
    let mut emulation = Emulation::start("unplugged", &["--boards", "2"]);
    let port = emulation.open("board-1");
    shows_start_position(&port);
    emulation.type_line("unplug 1");
    emulation.wait_for("board-1: unplugged");
    while read(&port).is_some() {}
    drop(port);
    assert!(!emulation.link("board-1").is_symlink());
    assert!(emulation.link("board-2").is_symlink());
    emulation.type_line("unplug 1");
    emulation.wait_for("board-1: is unplugged already");
    emulation.type_line("plug 1");
    emulation.wait_for("board-1: plugged in, /dev/");
    shows_start_position(&emulation.open("board-1"));
    emulation.type_line("explode 1");
    emulation.wait_for("\"explode\" is not a fault");
    // The boards stay in use after stdin is closed.
    drop(emulation.child.stdin.take());
    shows_start_position(&emulation.open("board-2"));
    assert_eq!(emulation.end("-TERM"), Some(0));
}

#[test]
fn all_boards_of_a_bus_are_found_on_one_pseudo_terminal() {
    let mut emulation = Emulation::start("bus", &["--bus", "--boards", "4"]);
    let port = emulation.open("bus");
    emulation.type_line("unplug 3");
    emulation.wait_for("board-3: unplugged");
    let mut hall = Hall::new("emulate", Names::Recorded);
    let line = hall.add("bus", Line::keeping(LineSettings::of(LineMode::Bus)));
    let mut opened = false;
    let mut found = BTreeSet::new();
    read_until(&port, Duration::from_secs(300), |time, bytes| {
        let now = time.now();
        if !core::mem::replace(&mut opened, true) {
            hall.open(now, line);
        }
        hall.receive(now, line, bytes);
        hall.advance(now);
        while let Some((line, bytes)) = hall.poll_write(now) {
            write(&port, &bytes);
            hall.sent(now, line, &bytes);
        }
        found.extend(
            hall.take_events()
                .into_iter()
                .map(|explained| explained.event.board),
        );
        found.len() == 3
    });
    assert!(found.iter().eq(&["00001", "00002", "00004"]), "{found:?}");
    assert_eq!(emulation.end("-INT"), Some(130));
}

/// A pseudo-terminal keeps unread bytes when it is closed, and remains exclusive for a while. A real serial port does
/// neither, and the emulated port must behave like a real one.
#[test]
fn a_reopened_port_sends_no_old_bytes() {
    const OLD: u64 = 200;
    let emulation = Emulation::start("reopened", &[]);
    let port = emulation.open("board-1");
    write(&port, &[0x4b]);
    shows_start_position(&port);
    write(&port, &[0x43]);
    let waiting = |port: &OwnedFd| rustix::io::ioctl_fionread(port).expect("the port is open");
    // In update mode the clock reports continuously. The bytes wait for a program that has the port open.
    eventually("the clock speaks", || waiting(&port) > OLD);
    drop(port);
    eventually("what nobody reads is dropped", || {
        let port = emulation.try_open("board-1");
        port.is_ok_and(|port| waiting(&port) < OLD)
    });
    assert_eq!(emulation.end("-INT"), Some(130));
}

#[test]
fn invalid_options_are_refused() {
    let run = |args: &[&str]| {
        let output = Command::new(crate::program())
            .arg("emulate")
            .args(args)
            .stdin(Stdio::null())
            .output()
            .expect("kiebitz runs");
        let errors = String::from_utf8(output.stderr).expect("UTF-8");
        (output.status.code(), errors)
    };
    for (args, expected) in [
        (&["--boards", "0"][..], "0 is not in 1..=256"),
        (
            &["--hands", "wild"],
            "expected calm, drawing, blitz, clumsy, hurried or mixed",
        ),
        (&["--fault", "explode 1"], "\"explode\" is not a fault"),
        (
            &["--bus", "--damaged", "all"],
            "expected a share such as 2% or 0.5%",
        ),
        (&["--damaged", "2%"], "--bus"),
        (
            &["--boards", "3", "--fault", "unplug 4 at 5s"],
            "board-4 does not exist; the last board is board-3",
        ),
    ] {
        let (code, errors) = run(args);
        assert_eq!(code, Some(2), "{errors}");
        assert!(errors.contains(expected), "{errors}");
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-game.pgn");
    std::fs::write(&file, "Nothing of the kind.\n").expect("a file");
    let (code, errors) = run(&["--pgn", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(1));
    assert!(
        errors.contains("there is no game with moves in the file: check that it is a PGN file"),
        "{errors}"
    );
    let (code, errors) = run(&["--pgn", "no-such.pgn"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("cannot play no-such.pgn: "), "{errors}");
    let (code, errors) = run(&["--links", file.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("cannot create "), "{errors}");
}
