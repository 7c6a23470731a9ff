//! `kiebitz games`, and the commands that accept game ids: `pgn`, `report`, `replay`.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use kiebitz::journal::Journal;
use kiebitz::replay::Replay;
use kiebitz::replay::read_commands;
use kiebitz_game::events::{Event, EventKind};

pub(crate) const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/game.pcapng");
const UNFINISHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../captures/gap-read-back.pcapng");
const ILLEGAL: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../captures/king-left-in-check-pressed.pcapng"
);

/// A state directory as the daemon leaves it: a journal of three boards, and the recording of one.
pub(crate) struct Kept {
    pub(crate) directory: PathBuf,
}

impl Kept {
    pub(crate) fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("games").join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(directory.join("state/recordings")).expect("directories");
        let kept = Self { directory };
        let settings = format!(
            "[daemon]\nstate_directory = {:?}\n",
            kept.directory.join("state").display().to_string()
        );
        std::fs::write(kept.directory.join("kiebitz.toml"), settings).expect("a configuration");
        kept
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.directory.join("state/journal.sqlite")
    }

    /// Stores the events of a capture under the name of a board.
    pub(crate) fn keep(&self, capture: &str, board: &str, commands: &str) {
        let file = self.directory.join("commands.jsonl");
        std::fs::write(&file, commands).expect("commands");
        let commands = read_commands(&file).expect("commands");
        let replay = Replay::open(capture.as_ref(), "live").expect("a capture");
        let mut replay = replay.with_commands(commands.commands());
        let mut journal = Journal::open(&self.journal()).expect("a journal");
        while replay.next_at().is_some() {
            let mut events: Vec<Event> = Vec::new();
            events.extend(
                replay
                    .step()
                    .expect("whole")
                    .into_iter()
                    .map(|explained| explained.event),
            );
            for event in &mut events {
                event.board = board.to_owned();
                event.game = event.game.take().map(|game| game.replace("board-1", board));
                if let EventKind::BoardConnected { port, .. } = &mut event.kind {
                    *port = "ttyACM0".to_owned();
                }
            }
            journal.append(&events).expect("kept");
        }
    }

    pub(crate) fn three(name: &str) -> Self {
        let kept = Self::new(name);
        let players = r#"{"id":"1","do":"set_players","white":"Adams, A.","black":"Béla, B.","board":"board-1","at":"2026-08-05T07:28:05Z"}"#;
        kept.keep(DEMO, "board-1", players);
        kept.keep(UNFINISHED, "board-2", "");
        kept.keep(ILLEGAL, "board-3", "");
        kept
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("kiebitz runs")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(crate::program());
        command
            .args(args)
            .arg("--config")
            .arg(self.directory.join("kiebitz.toml"))
            .env("TZ", "UTC")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn printed(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{errors}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    pub(crate) fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    }

    fn ids(&self, filters: &[&str]) -> Vec<String> {
        let args = [&["games", "--ids"], filters].concat();
        let output = self.run(&args);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        text.lines().map(str::to_owned).collect()
    }
}

pub(crate) const MATE: &str = "2026-08-05-board-1-1";
pub(crate) const GAP: &str = "2026-07-12-board-2-1";

#[test]
fn games_are_listed_one_per_line_with_result_and_findings() {
    let kept = Kept::three("listed");
    let text = kept.printed(&["games"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    let of = |id: &str| {
        let line = lines.iter().find(|line| line.starts_with(&format!("{id}  ")));
        line.unwrap_or_else(|| panic!("{id} in {text}"))
    };
    for part in [
        "  2026-08-05 07:28-07:32  ",
        "Adams, A. - Béla, B.",
        "1-0 checkmate",
        "17 moves",
    ] {
        assert!(of(MATE).contains(part), "{part} in {text}");
    }
    for part in ["? - ?", "not finished", "14 moves", "1 advice"] {
        assert!(of(GAP).contains(part), "{part} in {text}");
    }
    // The oldest game comes first.
    assert!(lines[0].starts_with(GAP), "{text}");
}

#[test]
fn filters_leave_the_matching_games() {
    let kept = Kept::three("filtered");
    let all = kept.ids(&[]);
    assert_eq!(all.len(), 3);
    let illegal: Vec<String> = all.iter().filter(|id| id.contains("board-3")).cloned().collect();
    assert_eq!(kept.ids(&["--violations"]), illegal);
    assert_eq!(kept.ids(&["--board", "board-3"]), illegal);
    assert_eq!(kept.ids(&["--date", "2026-08-05"]), [MATE]);
    assert_eq!(kept.ids(&["--player", "béla"]), [MATE]);
    assert_eq!(kept.ids(&["--result", "1-0", "--board", "board-1"]), [MATE]);
    assert_eq!(kept.ids(&["--until", "2026-07-12"]), [GAP]);
    assert!(
        kept.ids(&["--since", "2026-08-05T07:28"])
            .contains(&MATE.to_owned())
    );
    assert!(
        !kept
            .ids(&["--since", "2026-08-05T07:29"])
            .contains(&MATE.to_owned())
    );
    assert!(kept.ids(&["--unfinished"]).contains(&GAP.to_owned()));
    assert!(!kept.ids(&["--unfinished"]).contains(&MATE.to_owned()));
    assert_eq!(kept.ids(&["--unfinished", "--result", "1-0"]), [""; 0]);

    let output = kept.run(&["games", "--player", "nobody"]);
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b""[..])
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such games"));
    let wrong = kept.run(&["games", "--date", "soon"]);
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn list_is_json_for_programs() {
    let kept = Kept::three("json");
    let text = kept.printed(&["games", "--json", "--date", "2026-08-05"]);
    let game: serde_json::Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(game["game"], MATE);
    assert_eq!(
        (&game["white"], &game["result"]),
        (&"Adams, A.".into(), &"1-0".into())
    );
    assert_eq!((&game["plies"], &game["violations"]), (&33.into(), &0.into()));
    assert_eq!(
        game["started"]
            .as_str()
            .map(|at| at.starts_with("2026-08-05T07:28")),
        Some(true)
    );
}

/// The daemon has the journal open and in use.
#[test]
fn journal_is_read_while_the_daemon_writes_it() {
    let kept = Kept::three("written");
    let mut journal = Journal::open(&kept.journal()).expect("a journal");
    journal
        .acknowledge("mqtt", "live", [("board-1", 1)])
        .expect("written");
    let before = std::fs::read(kept.journal()).expect("the file");
    assert_eq!(kept.ids(&[]).len(), 3);
    assert_eq!(std::fs::read(kept.journal()).expect("the file"), before);
    journal
        .acknowledge("mqtt", "live", [("board-1", 2)])
        .expect("written");
}

#[test]
fn games_are_written_as_pgn() {
    let kept = Kept::three("pgn");
    let text = kept.printed(&["pgn", MATE, GAP]);
    assert_eq!(text.matches("[Event \"").count(), 2, "{text}");
    for part in ["[White \"Adams, A.\"]", "[Board \"2\"]", "Qc7#", "\n\n[Event"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let file = kept.directory.join("round.pgn");
    let file = file.to_str().expect("UTF-8");
    assert_eq!(kept.printed(&["pgn", "--output", file, MATE, GAP]), "");
    assert_eq!(std::fs::read_to_string(file).expect("written"), text);

    let output = kept.run(&["pgn", "2026-08-05-board-1-7", MATE]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Qc7#"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("there is no game 2026-08-05-board-1-7 in the journal") && errors.contains(MATE),
        "{errors}"
    );
}

#[test]
fn a_missing_journal_is_named_and_not_created() {
    let kept = Kept::new("none");
    for args in [
        &["games"][..],
        &["pgn", MATE],
        &["report", MATE],
        &["replay", MATE],
    ] {
        let errors = kept.refused(args);
        assert!(
            errors.contains("there is no journal") && errors.contains("journal.sqlite"),
            "{errors}"
        );
    }
    assert!(!kept.journal().exists());
}

/// The demo's game, recorded by the daemon after another game on the same port and day.
pub(crate) fn recorded(name: &str) -> Kept {
    let kept = Kept::three(name);
    let recording = kept.directory.join("state/recordings/2026-08-05-ttyACM0.pcapng");
    std::fs::copy(DEMO, recording).expect("copied");
    let config = kept.directory.join("kiebitz.toml");
    let mut settings = std::fs::read_to_string(&config).expect("a configuration");
    settings.push_str("[[board]]\nserial = \"0000011608\"\nname = \"board-1\"\n");
    std::fs::write(config, settings).expect("a configuration");
    kept
}

#[test]
fn recording_of_a_game_is_replayed_under_its_id() {
    let kept = recorded("replayed");
    let sheet = kept.printed(&["replay", MATE]);
    assert!(
        sheet.contains(&format!("Game {MATE}")) && sheet.contains("1-0: checkmate"),
        "{sheet}"
    );
    let events = kept.printed(&["replay", "--json", MATE]);
    assert!(events.contains(&format!("\"game\":\"{MATE}\"")), "{events}");
    assert!(kept.printed(&["replay", "--pgn", MATE]).contains("Qc7#"));
}

#[test]
fn a_missing_recording_is_named() {
    let kept = recorded("missing");
    std::fs::remove_file(kept.directory.join("state/recordings/2026-08-05-ttyACM0.pcapng")).expect("removed");
    let errors = kept.refused(&["replay", MATE]);
    assert!(
        errors.contains("there is no 2026-08-05-ttyACM0.pcapng in") && errors.contains("recording was off"),
        "{errors}"
    );
    // A recording of another day under this name.
    let recording = kept.directory.join("state/recordings/2026-08-05-ttyACM0.pcapng");
    std::fs::copy(UNFINISHED, recording).expect("copied");
    let errors = kept.refused(&["replay", MATE]);
    assert!(
        errors.contains(&format!("does not show that {MATE} began")),
        "{errors}"
    );
    let errors = kept.refused(&["replay", "2026-08-05-board-1-7"]);
    assert!(
        errors.contains("there is no game 2026-08-05-board-1-7"),
        "{errors}"
    );
}
