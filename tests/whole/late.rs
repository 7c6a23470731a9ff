//! A game that starts later than its round, through the whole program.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::Command;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureReader, CaptureWriter, Packet};
use serde_json::Value;

/// A game whose clock is started at 07:28:00. Pieces and clock are ready from 07:27:56 on.
const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/game.pcapng");
/// 07:27:59 on that day.
const READY: Timestamp = Timestamp::from_micros(1_785_914_879_000_000);

fn scratch(name: &str, content: &[u8]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("late");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, content).expect("a scratch file");
    path
}

/// The game with all packets after [`READY`] five minutes later: its clock is started at 07:33:00.
fn five_minutes_late(name: &str) -> PathBuf {
    let capture = std::fs::read(CAPTURE).expect("the capture");
    let mut reader = CaptureReader::new(capture.as_slice()).expect("a capture");
    let mut writer = CaptureWriter::new(Vec::new()).expect("memory is there");
    let mut described = 0;
    while let Some(packet) = reader.next_packet().expect("the capture is whole") {
        for interface in &reader.interfaces()[described..] {
            writer.add_interface(interface).expect("memory is there");
        }
        described = reader.interfaces().len();
        let waited = Duration::from_secs(if packet.at < READY { 0 } else { 300 });
        let packet = Packet {
            at: packet.at + waited,
            ..packet
        };
        writer.write(&packet).expect("memory is there");
    }
    scratch(&format!("{name}.pcapng"), &writer.into_inner())
}

fn printed(arguments: &[&str], files: &[(&str, &Path)]) -> String {
    let mut kiebitz = Command::new(crate::program());
    kiebitz.args(arguments).env("TZ", "UTC");
    for (option, path) in files {
        kiebitz
            .args(Some(option).filter(|option| !option.is_empty()))
            .arg(path);
    }
    let output = kiebitz.output().expect("kiebitz runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Incidents of late starts: time of opening or closing, with the case or the way it was closed.
fn late(lines: &str) -> Vec<String> {
    let late_start = |event: Value| {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let detail = match text("type").as_str() {
            "incident.closed" => format!("-{} by {}", text("reason"), text("by")),
            _ => text("case"),
        };
        (event["kind"] == "late_start").then(|| format!("{} {detail}", &text("ts")[11..19]))
    };
    lines
        .lines()
        .filter_map(|line| late_start(serde_json::from_str(line).expect("JSON")))
        .collect()
}

const CONFIG: &[u8] = br#"
[event]
name = "Club championship"
site = "Bremen"
rounds = [2026-08-05T09:20:00+02:00]
default_time = "11 min"
"#;

#[test]
fn a_round_of_the_configuration_is_watched_for() {
    let capture = five_minutes_late("configured");
    let config = scratch("kiebitz.toml", CONFIG);
    let json = printed(&["replay", "--json"], &[("--config", &config), ("", &capture)]);
    assert_eq!(
        late(&json),
        [
            "07:29:55 late_start.not_running",
            "07:31:00 late_start.default_time",
            "07:33:00 -passed by clock"
        ]
    );
    // There is no incident if the game starts in time: White's clock runs, and moves follow.
    let in_time = printed(
        &["replay", "--json"],
        &[("--config", &config), ("", Path::new(CAPTURE))],
    );
    assert_eq!(late(&in_time), [""; 0]);
}

#[test]
fn the_event_is_named_in_pgn_and_report() {
    let capture = five_minutes_late("named");
    let config = scratch("named.toml", CONFIG);
    let pgn = printed(&["replay", "--pgn"], &[("--config", &config), ("", &capture)]);
    assert!(
        pgn.starts_with("[Event \"Club championship\"]\n[Site \"Bremen\"]\n"),
        "{pgn}"
    );
    let report = printed(&["report", "--text"], &[("--config", &config), ("", &capture)]);
    for part in ["Club championship", "Bremen", "the default time has passed"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn a_round_that_the_arbiter_starts_is_watched_for() {
    let capture = five_minutes_late("commanded");
    let commands = |name: &str, begins: &str| {
        let text = format!(
            "{{\"id\":\"1\",\"do\":\"start_round\"{begins},\"board\":\"board-1\",\"at\":\"2026-08-05T07:27:58Z\"}}\n"
        );
        scratch(name, text.as_bytes())
    };
    let late_starts = |commands: &Path| {
        let files = [("--commands", commands), ("", &*capture)];
        let json = printed(&["replay", "--json"], &files);
        assert!(json == printed(&["replay", "--json"], &files));
        late(&json)
    };
    // Since 2009 there is no default time unless the event allows one.
    let now = late_starts(&commands("now.jsonl", ""));
    assert_eq!(
        now,
        ["07:29:58 late_start.default_time", "07:33:00 -passed by clock"]
    );
    let later = commands("later.jsonl", ",\"begins\":\"2026-08-05T07:32:30Z\"");
    assert_eq!(late_starts(&later), [""; 0]);
    let sheet = printed(&["replay"], &[("--commands", &later), ("", &capture)]);
    assert!(sheet.contains("arbiter set the start of the round"), "{sheet}");
    assert_eq!(late(&printed(&["replay", "--json"], &[("", &capture)])), [""; 0]);
}
