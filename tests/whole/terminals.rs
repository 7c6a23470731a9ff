//! Every command on a terminal with colours: its own styles take effect, and control characters in foreign text are
//! escaped.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::process::Command;

use kiebitz::journal::Journal;
use rustix::pty::OpenptFlags;
use tempfile::TempDir;

use crate::cli::kiebitz;
use crate::shown::{OBEYED, SHOWN, foreign, toml_text};

/// Output of a command on a terminal with colours, with line breaks as the program writes them.
pub(crate) fn in_terminal(command: Command) -> String {
    until_interrupted(command, None).0
}

/// Runs a command on a terminal, and sends SIGINT once it has printed `interrupt_at`. Returns output and exit code.
fn until_interrupted(mut command: Command, interrupt_at: Option<&str>) -> (String, Option<i32>) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let terminal = rustix::pty::openpt(flags).unwrap();
    rustix::pty::grantpt(&terminal).unwrap();
    rustix::pty::unlockpt(&terminal).unwrap();
    let path = rustix::pty::ptsname(&terminal, Vec::new()).unwrap();
    let inside = File::options()
        .read(true)
        .write(true)
        .open(path.to_str().unwrap())
        .unwrap();
    command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
    command.stdout(inside.try_clone().unwrap()).stderr(inside);
    let mut child = command.spawn().unwrap();
    // `command` holds the other side of the terminal. Reading does not end while it is open.
    drop(command);
    let (mut terminal, mut shown, mut chunk) = (File::from(terminal), Vec::new(), [0; 4096]);
    let mut interrupt_at = interrupt_at;
    // Reading fails when the other side is closed.
    while let Ok(read @ 1..) = terminal.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..read]);
        if interrupt_at.is_some_and(|text| String::from_utf8_lossy(&shown).contains(text)) {
            interrupt_at = None;
            let pid = child.id().to_string();
            let interrupted = Command::new("kill").args(["-INT", &pid]).status().unwrap();
            assert!(interrupted.success());
        }
    }
    let code = child.wait().unwrap().code();
    let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    assert_eq!(interrupt_at, None, "it was never shown: {shown}");
    (shown, code)
}

/// The visible text of the output. Panics at a control sequence that the program does not use itself.
fn read(shown: &str) -> String {
    let mut parts = shown.split('\u{1b}');
    let mut read = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let parameters = part.strip_prefix('[').expect(part);
        let end = parameters.find(|c: char| c.is_ascii_alphabetic()).expect(part);
        let (sequence, text) = parameters.split_at(end);
        let own = |c: char| c.is_ascii_digit() || matches!(c, ';' | '?');
        assert!(sequence.chars().all(own), "{part:?}");
        read.push_str(&text[1..]);
    }
    let text = read.replace('\r', "");
    let control = text.find(|c: char| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(control, None, "{text:?}");
    text
}

/// A state directory with an empty journal, other files, and a configuration, with control sequences in all names.
struct World {
    folder: TempDir,
    config: String,
    capture: String,
    commands: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (capture, commands) = foreign(&folder);
        let state = folder.path().join(OBEYED);
        std::fs::create_dir(&state).unwrap();
        Journal::open(&state.join("journal.sqlite")).unwrap();
        let config = folder.path().join("kiebitz.toml");
        let settings = format!(
            "[daemon]\nstate_directory = {}\n[ports]\nusb = false\n[[port]]\npath = {}\n",
            toml_text(state.to_str().unwrap()),
            toml_text(&format!("/dev/{OBEYED}"))
        );
        std::fs::write(&config, settings).unwrap();
        Self {
            config: config.display().to_string(),
            capture: capture.display().to_string(),
            commands: commands.display().to_string(),
            folder,
        }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

/// [`OBEYED`] as the logging library escapes it.
const LOGGED: &str = "a\\x1b]0;mine\\x07\\x1b[2J\\u{9b}2Jb";

/// Arguments of a command, and the text at which it is interrupted.
type Run<'a> = (Vec<&'a str>, Option<&'a str>);

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn no_command_prints_foreign_escape_sequences() {
    let world = World::new();
    let (config, capture) = (world.config.as_str(), world.capture.as_str());
    let missing = world.file(OBEYED);
    let (copy, recording, links) = (world.file("copy"), world.file("new.pcapng"), world.file("links"));
    let bundle = world.file("bundle.tar.gz");
    let runs: Vec<Run<'_>> = vec![
        (vec!["backup", &copy, "--config", config], None),
        (vec!["boards", "--config", config, "--port", &missing], None),
        (vec!["bundle", "--config", config, "-o", &bundle], None),
        (vec!["check-config", config], None),
        (words("demo --speed max"), Some("Ctrl-C")),
        (words("demo --speed max --ascii"), Some("Ctrl-C")),
        (vec!["emulate", "--links", &links], Some("board-1")),
        (vec!["event", "check", &missing], None),
        (vec!["export", "--config", config], None),
        (vec!["games", "--config", config], None),
        (vec!["hub", "--config", config], None),
        (vec!["laws"], None),
        (vec!["laws", "illegal_move"], None),
        (vec!["pgn", capture], None),
        (vec!["rebuild", "--dry-run", "--config", config], None),
        (vec!["record", &missing, &recording, "--seconds", "1"], None),
        (vec!["replay", capture, "--commands", &world.commands], None),
        (vec!["replay", "--explain", capture], None),
        (
            vec!["replay", "--json", "--commands", &world.commands, capture],
            None,
        ),
        (
            vec!["replay", "--pgn", "--commands", &world.commands, capture],
            None,
        ),
        (
            vec!["report", "--text", "--commands", &world.commands, capture],
            None,
        ),
        (
            vec!["run", "--config", config],
            Some("is configured but does not exist"),
        ),
        (vec!["setup", "--port", &missing], None),
        (vec!["status", "--config", config], None),
        (vec!["user", OBEYED], None),
    ];
    let all: BTreeSet<String> = kiebitz::cli::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    let tried: BTreeSet<String> = runs.iter().map(|(args, _)| args[0].to_owned()).collect();
    assert_eq!(tried, all, "every command is tried");
    for (args, interrupt_at) in &runs {
        let (shown, _) = until_interrupted(kiebitz(args), *interrupt_at);
        let text = read(&shown);
        assert!(!text.trim().is_empty(), "{args:?} prints nothing");
        // Only the names may contain escaped control characters.
        let rest = [SHOWN, LOGGED]
            .iter()
            .fold(text.clone(), |text, name| text.replace(name, ""));
        let escape = ["\\u", "\\x"].iter().find(|escape| rest.contains(**escape));
        assert_eq!(escape, None, "{args:?}: {text}");
    }
}

#[test]
fn help_has_colours() {
    let commands = kiebitz::cli::command();
    let names = commands.get_subcommands().map(|command| command.get_name());
    for args in names.map(|name| vec![name, "--help"]).chain([vec!["--help"]]) {
        let shown = in_terminal(kiebitz(&args));
        assert!(shown.contains("\u{1b}["), "{args:?} has colours");
        assert!(!read(&shown).contains("\\u"), "{args:?}: {shown}");
    }
}

/// Checks the statements of the README about the demo.
#[test]
fn demo_in_a_terminal_has_colours_and_runs_until_interrupted() {
    let (shown, code) = until_interrupted(kiebitz(["demo", "--speed", "max"]), Some("until Ctrl-C"));
    assert_eq!(code, Some(130));
    let (_, stays) = shown.split_once("\u{1b}[?1049l").expect("the first screen again");
    let text = read(stays);
    assert!(
        stays.contains("\u{1b}[1m\u{1b}[38;5;16m\u{1b}[48;5;"),
        "{stays:?}"
    );
    assert!(text.starts_with("    a  b  c  d  e  f  g  h"), "{text}");
    assert!(text.contains("1-0: checkmate, in 17 moves."), "{text}");
    assert!(text.contains("The pages stay until Ctrl-C"), "{text}");
}
