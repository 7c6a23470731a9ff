//! Captures with their expected events.

pub mod reduced;
pub mod scenes;

use std::path::{Path, PathBuf};

use crate::hands::{hall, verdict};
use reduced::{difference, reduced};
use scenes::SCENES;

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures")
}

/// Returns the files with expected events, each of which has a capture beside it.
fn expectations() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "events"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn every_capture_gives_its_events() {
    let mut wrong = String::new();
    for events in expectations() {
        let capture = std::fs::read(events.with_extension("pcapng")).unwrap();
        let expected = std::fs::read_to_string(&events).unwrap();
        if let Some(shown) = difference(&expected, &reduced(&verdict::events(&capture))) {
            wrong.push_str(&format!(
                "\n{} (- expected, + published):\n{shown}",
                events.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Each of these games was once published wrongly: captured pieces were pushed to squares where they could have moved,
/// a promotion was replaced by a guess, a press was reported between the rook and the king of a castling, and the line
/// of play stayed wrong after that.
#[test]
fn games_once_misread_are_published_as_played() {
    let mut games = 0;
    for entry in std::fs::read_dir(folder().join("games")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "moves") {
            continue;
        }
        games += 1;
        let played = std::fs::read_to_string(&path).unwrap();
        let capture = std::fs::read(path.with_extension("pcapng")).unwrap();
        let published = verdict::moves_published(&verdict::events(&capture));
        assert_eq!(published.join(" "), played.trim_end(), "{}", path.display());
    }
    assert!(games >= 10, "the games are gone");
}

/// Situations in which hands or sensors temporarily mislead the tracker. In the end the record is correct, and no
/// incident accuses a player wrongly. The lines of a `.moves` file are the moves, the kinds of incidents, and the
/// result shown on the board.
#[test]
fn misleading_situations_end_with_a_correct_record() {
    let mut situations = 0;
    for entry in std::fs::read_dir(folder().join("situations")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "moves") {
            continue;
        }
        situations += 1;
        let truth = std::fs::read_to_string(&path).unwrap();
        let capture = std::fs::read(path.with_extension("pcapng")).unwrap();
        let events = verdict::events(&capture);
        let shown = format!(
            "{}\n{}\n{}\n",
            verdict::moves_published(&events).join(" "),
            verdict::accusations(&events).join(" "),
            verdict::result(&events)
        );
        assert_eq!(shown, truth, "{}", path.display());
    }
    assert!(situations >= 19, "the situations are gone");
}

#[test]
fn every_scene_gives_its_committed_recording() {
    for (name, play) in SCENES {
        let committed = std::fs::read(folder().join(name).with_extension("pcapng"));
        let recorded = hall::record(&play());
        assert!(
            committed.is_ok_and(|committed| committed == recorded),
            "{} is not what the scene gives: `cargo run -p kiebitz-workbench -- captures regenerate` writes it anew; look \
             at the events",
            name
        );
        assert!(
            folder().join(name).with_extension("events").exists(),
            "{} expects nothing",
            name
        );
    }
}

#[test]
fn the_same_bytes_give_the_same_events() {
    for (name, play) in SCENES {
        let capture = hall::record(&play());
        assert_eq!(verdict::events(&capture), verdict::events(&capture), "{}", name);
    }
}
