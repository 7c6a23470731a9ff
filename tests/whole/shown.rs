//! Control sequences in text from files and other people are escaped on a terminal, not executed.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use tempfile::TempDir;

use crate::cli::kiebitz;
use crate::terminals::in_terminal;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/game.pcapng");
/// Text that would set the window title and clear the screen, the latter with both forms of the control sequence
/// introducer.
pub(crate) const OBEYED: &str = "a\u{1b}]0;mine\u{7}\u{1b}[2J\u{9b}2Jb";
pub(crate) const SHOWN: &str = "a\\u001b]0;mine\\u0007\\u001b[2J\\u009b2Jb";

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A capture with control sequences in its name, and a file of commands that gives a player such a name.
pub(crate) fn foreign(folder: &TempDir) -> (PathBuf, PathBuf) {
    let capture = folder.path().join(format!("{OBEYED}.pcapng"));
    std::fs::copy(DEMO, &capture).unwrap();
    let players = format!(
        r#"{{"id":"1","do":"set_players","white":{},"black":"B","board":"board-1","at":"2026-08-05T07:28:05Z"}}"#,
        serde_json::to_string(OBEYED).unwrap()
    );
    let commands = folder.path().join("arbiter.jsonl");
    std::fs::write(&commands, players).unwrap();
    (capture, commands)
}

#[test]
fn a_terminal_gets_escaped_text_and_a_file_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let (capture, commands) = foreign(&folder);
    let sheet = || {
        let mut command = kiebitz(["replay"]);
        command.arg(&capture).arg("--commands").arg(&commands);
        command
    };
    let Output { stdout, .. } = sheet().output().unwrap();
    assert!(text(&stdout).contains(OBEYED), "{}", text(&stdout));
    let shown = in_terminal(sheet());
    assert!(shown.contains(SHOWN), "{shown}");
    // Everything else is the same, including the underline, which is as long as the unescaped name.
    assert_eq!(shown, text(&stdout).replace(OBEYED, SHOWN));
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}']));
}

/// Control characters are escaped as in JSON, so that events stay valid.
#[test]
fn events_on_a_terminal_are_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    let (capture, commands) = foreign(&folder);
    let events = || {
        let mut command = kiebitz(["replay", "--json"]);
        command.arg(&capture).arg("--commands").arg(&commands);
        command
    };
    let Output { stdout, .. } = events().output().unwrap();
    // JSON does not escape the C1 control characters.
    assert!(text(&stdout).contains('\u{9b}'), "{}", text(&stdout));
    let shown = in_terminal(events());
    assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown}");
    let read = |text: &str| -> Vec<serde_json::Value> {
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(read(&shown), read(text(&stdout)));
}

#[test]
fn errors_escape_the_names_in_them() {
    let missing = format!("{OBEYED}.pcapng");
    let option = format!("--{OBEYED}");
    // The argument parser removes known sequences.
    for (args, shown) in [(["replay", &missing], SHOWN), (["replay", &option], "\\u009b2Jb")] {
        let Output { stdout, stderr, .. } = kiebitz(args).output().unwrap();
        assert!(stdout.is_empty());
        assert!(text(&stderr).contains(shown), "{}", text(&stderr));
        assert!(!text(&stderr).contains(['\u{1b}', '\u{7}', '\u{9b}']));
        assert_eq!(in_terminal(kiebitz(args)), text(&stderr));
    }
}

fn line_with(child: &mut Child, words: &str) -> String {
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut lines = log.lines().map(Result::unwrap);
    lines.find(|line| line.contains(words)).expect(words)
}

#[test]
fn log_lines_escape_the_names_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("kiebitz.toml");
    let port = format!("/dev/{OBEYED}\nkiebitz: all is well");
    let settings = format!(
        "[daemon]\nstate_directory = {:?}\n[ports]\nusb = false\n[[port]]\npath = {}\n",
        folder.path().join("state"),
        toml_text(&port)
    );
    std::fs::write(&config, settings).unwrap();
    let mut daemon = kiebitz(["run", "--config"])
        .arg(&config)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = line_with(&mut daemon, "is configured but does not exist");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(!line.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{line}");
    assert!(
        line.contains("]0;mine") && line.contains("kiebitz: all is well"),
        "{line}"
    );
}

/// Text as a TOML string with all control characters escaped.
pub(crate) fn toml_text(text: &str) -> String {
    let escaped = text.chars().map(|character| match character {
        character if character.is_control() => format!("\\u{:04X}", u32::from(character)),
        character => character.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
