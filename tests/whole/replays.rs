//! The program and the library give the same events for every capture.

use std::fs;
use std::path::Path;
use std::process::Command;

use kiebitz::replay::Replay;

#[test]
fn program_prints_the_events_of_the_library() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures");
    let mut captures = 0;
    for entry in fs::read_dir(folder).expect("tests/captures is there") {
        let path = entry.expect("an entry of tests/captures").path();
        if path.extension().is_none_or(|extension| extension != "pcapng") {
            continue;
        }
        captures += 1;
        let replay = Command::new(crate::program())
            .arg("replay")
            .arg(&path)
            .arg("--json")
            .output();
        let replay = replay.expect("the program runs");
        let errors = String::from_utf8_lossy(&replay.stderr);
        assert!(replay.status.success(), "{}: {errors}", path.display());
        let printed = String::from_utf8(replay.stdout).expect("UTF-8");
        assert!(
            printed == library(&path),
            "{}: the program prints other events",
            path.display()
        );
    }
    assert!(captures > 0, "tests/captures holds no capture");
}

#[test]
fn an_unknown_board_is_refused_with_the_names_of_the_others() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures/castling-rook-first.pcapng");
    let replay = |board: &str| {
        let mut replay = Command::new(crate::program());
        replay.args(["replay", "--json", "--board", board]).arg(&path);
        replay.output().expect("the program runs")
    };
    let found = replay("board-1");
    assert!(found.status.success());
    assert_eq!(String::from_utf8(found.stdout).expect("UTF-8"), library(&path));
    let missing = replay("board-9");
    assert_eq!((missing.status.code(), missing.stdout.len()), (Some(1), 0));
    let errors = String::from_utf8_lossy(&missing.stderr);
    assert!(
        errors.contains("there is no board board-9 in the captures, only board-1"),
        "{errors}"
    );
}

/// The events of a replay by the library, one on each line.
fn library(path: &Path) -> String {
    let mut replay = Replay::open(path, "replay").expect("a capture");
    let mut lines = String::new();
    while replay.next_at().is_some() {
        for explained in replay.step().expect("the capture is whole") {
            lines += &serde_json::to_string(&explained.event).expect("events have a JSON form");
            lines.push('\n');
        }
    }
    lines
}
