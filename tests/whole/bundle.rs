//! `kiebitz bundle`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::games::{Kept, MATE};

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
    let output = kept.run(&[&["bundle", "-o", archive_name], args].concat());
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
