//! `kiebitz bundle`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::games::{DEMO, Kept, MATE};

/// Unpacks a bundle with the system's tar, and returns its directory.
fn unpacked(archive: &Path) -> PathBuf {
    let folder = archive.parent().expect("a directory");
    let tar = Command::new("tar")
        .arg("-xzf")
        .arg(archive)
        .current_dir(folder)
        .status();
    assert!(tar.expect("tar runs").success());
    folder.join("kiebitz-bundle")
}

/// Runs the command, and returns what it printed and the directory with the files of the bundle.
fn bundle(kept: &Kept, args: &[&str]) -> (String, PathBuf) {
    let archive = kept.directory.join("bundle.tar.gz");
    let _ = fs::remove_file(&archive);
    let _ = fs::remove_dir_all(kept.directory.join("kiebitz-bundle"));
    let archive_name = archive.to_str().expect("UTF-8");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = kept.command(&[&["bundle", "-o", archive_name], args].concat());
    command.env("PATH", format!("{}:{path}", kept.directory.display()));
    let output = command.output().expect("kiebitz runs");
    assert!(output.status.success(), "{output:?}");
    let mode = fs::metadata(&archive).expect("an archive").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "only the owner may read it");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    (printed, unpacked(&archive))
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn with_recording(name: &str) -> Kept {
    let kept = Kept::three(name);
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/game.pcapng");
    let recordings = kept.directory.join("state/recordings");
    fs::copy(demo, recordings.join("2026-08-05-ttyACM0.pcapng")).expect("a copy");
    let file = kept.directory.join("kiebitz.toml");
    let settings = fs::read_to_string(&file).expect("a configuration");
    let outputs = "# The password was geheim.\n[mqtt]\nurl = \"mqtt://kiebitz:geheim@localhost\"\n\
                   [[alarm]]\nname = \"phone\"\nsend = \"ntfy\"\nurl = \"https://ntfy.sh/geheim\"\n";
    fs::write(&file, settings + outputs).expect("a configuration");
    kept
}

#[test]
fn the_bundle_of_a_game_has_its_events_and_a_recording_that_replays() {
    let kept = with_recording("bundle-game");
    let (printed, folder) = bundle(&kept, &[MATE]);
    assert!(printed.contains("bundle.tar.gz: "), "{printed}");
    assert!(printed.contains("names of players"), "{printed}");
    let events = read(&folder, &format!("events-{MATE}.jsonl"));
    assert_eq!(events, kept.printed(&["export", MATE]));
    let recording = folder.join(format!("recordings/{MATE}.pcapng"));
    let replayed = kept.printed(&["replay", recording.to_str().expect("UTF-8")]);
    assert!(replayed.contains("1-0: checkmate"), "{replayed}");
    let configuration = read(&folder, "configuration.toml");
    assert!(configuration.contains("state_directory"), "{configuration}");
    assert!(!configuration.contains("geheim"), "{configuration}");
    assert!(read(&folder, "versions.txt").starts_with("kiebitz "));
    // No daemon runs, so the status is missing.
    let readme = read(&folder, "README.txt");
    assert!(readme.contains("status.json: missing: "), "{readme}");
}

#[test]
fn the_bundle_of_a_period_has_all_of_its_recordings() {
    let kept = with_recording("bundle-period");
    let (_, folder) = bundle(&kept, &["--date", "2026-08-05"]);
    let events = read(&folder, "events.jsonl");
    assert_eq!(events, kept.printed(&["export", "--date", "2026-08-05"]));
    assert!(folder.join("recordings/2026-08-05-ttyACM0.pcapng").exists());
    let (_, folder) = bundle(&kept, &["--date", "2026-08-04"]);
    assert_eq!(read(&folder, "events.jsonl"), "");
    assert!(!folder.join("recordings").exists());
}

/// The names that [`add_names`] adds.
const NAMES: [&str; 11] = [
    "Adams",
    "Béla",
    "Zarge",
    "Wu",
    "Erika",
    "unwohl",
    "Herbstpokal",
    "Ulm",
    "Quast",
    "SF Nord",
    "saal-2",
];

/// Adds names to the settings, the pairings, the log, and the journal of another board.
fn add_names(kept: &Kept) {
    let commands = r#"{"id":"1","do":"set_players","white":"Zarge, Z.","black":"Wu","by":"Erika X.","board":"board-1","at":"2026-08-05T07:28:05Z"}
{"id":"2","do":"annotate","text":"Zarge ist unwohl","by":"Erika X.","board":"board-1","at":"2026-08-05T07:29:00Z"}
"#;
    kept.keep(DEMO, "board-4", commands);
    let pairings = kept.directory.join("pairings.csv");
    fs::write(
        &pairings,
        "board,white,black,white_team\n1,\"Quast, Q.\",\"Zarge, Z.\",SF Nord\n",
    )
    .expect("pairings");
    let file = kept.directory.join("kiebitz.toml");
    let settings = fs::read_to_string(&file).expect("a configuration");
    let named = settings.replace("[daemon]", "[daemon]\nname = \"saal-2\"");
    let event = format!(
        "[event]\nname = \"Herbstpokal\"\nsite = \"Ulm\"\npairings = [{:?}]\n",
        pairings.display().to_string()
    );
    fs::write(&file, named + &event).expect("a configuration");
    // Replaces systemd's journalctl, which has no log of kiebitz here. Prints its arguments first.
    let journalctl = kept.directory.join("journalctl");
    let lines = "Adams, A. - Béla, B.\nZarge, Z. - Wu\nErika X. entered a result for Quast, Q. (SF Nord)\n\
                 saal-2: Herbstpokal, Ulm; the clock has stopped";
    let script = format!("#!/bin/sh\necho \"$@\"\ncat <<'END'\n{lines}\nEND\n");
    fs::write(&journalctl, script).expect("a script");
    fs::set_permissions(&journalctl, fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Returns the texts of all files of an unpacked bundle, by name.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file"));
    let texts = files.filter(|file| file.path().is_file()).map(|file| {
        let name = file.file_name().into_string().expect("UTF-8");
        let text = read(folder, &name);
        (name, text)
    });
    texts.collect()
}

#[test]
fn no_file_of_an_anonymous_bundle_has_names() {
    let kept = with_recording("bundle-many-names");
    add_names(&kept);
    let (_, folder) = bundle(&kept, &[MATE]);
    let plain = texts(&folder);
    for name in ["Adams", "Wu", "Erika", "Herbstpokal", "SF Nord", "saal-2"] {
        let is_there = plain.values().any(|text| text.contains(name));
        assert!(is_there, "{name} is in the bundle with names");
    }
    for selection in [&[MATE][..], &["--date", "2026-08-05"]] {
        let (_, folder) = bundle(&kept, &[selection, &["--anonymous"]].concat());
        let texts = texts(&folder);
        assert!(texts["log.txt"].contains("the clock has stopped"), "{texts:?}");
        for (file, text) in &texts {
            for name in NAMES {
                assert!(!text.contains(name), "{name} in {file}: {text}");
            }
        }
    }
}

#[test]
fn the_log_of_a_game_has_the_time_of_the_game() {
    let kept = with_recording("bundle-log");
    add_names(&kept);
    let (_, folder) = bundle(&kept, &[MATE]);
    let log = read(&folder, "log.txt");
    let seconds = |option: &str| -> i64 {
        let (_, after) = log.split_once(&format!("{option} @")).expect("the option");
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a time")
    };
    let duration = seconds("--until") - seconds("--since");
    assert!((120..1200).contains(&duration), "{log}");
}

#[test]
fn an_anonymous_bundle_has_no_names() {
    let kept = with_recording("bundle-anonymous");
    let (_, folder) = bundle(&kept, &[MATE, "--anonymous"]);
    let events = read(&folder, &format!("events-{MATE}.jsonl"));
    assert!(!events.contains("Adams") && !events.contains("Béla"), "{events}");
    assert!(events.contains(r#""white":"Player "#), "{events}");
    let same_length = kept.printed(&["export", MATE]).lines().count();
    assert_eq!(events.lines().count(), same_length);
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let kept = with_recording("bundle-twice");
    let file = kept.directory.join("bundle.tar.gz");
    fs::write(&file, "of somebody else").expect("a file");
    let errors = kept.refused(&["bundle", "-o", file.to_str().expect("UTF-8"), MATE]);
    assert!(errors.contains("use --output"), "{errors}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), "of somebody else");
}
