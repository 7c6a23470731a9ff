//! The checks of the fuzz targets, run without a fuzzer: on their seeds and, for text formats, on random edits of them.

use std::fs;
use std::path::{Path, PathBuf};

use kiebitz::config::Config;
use kiebitz::replay::read_commands;
use kiebitz::tournament::{self, FideList, Tournament};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::root;
use targets::{bus, bus_line, capture, commands, configuration, decoder, eeprom, line, pairings, session};

#[allow(unreachable_pub, reason = "it is a crate of its own in fuzz")]
#[path = "../../fuzz/src/lib.rs"]
mod targets;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 10] = [
    ("bus", bus::run),
    ("bus_line", bus_line::run),
    ("capture", capture::run),
    ("commands", commands::run),
    ("configuration", configuration::run),
    ("decoder", decoder::run),
    ("eeprom", eeprom::run),
    ("line", line::run),
    ("pairings", pairings::run),
    ("session", session::run),
];

#[test]
fn every_target_accepts_its_seeds() {
    for (name, run) in TARGETS {
        for seed in seeds(name) {
            run(&seed);
        }
    }
}

/// Random edits must start from accepted texts.
#[test]
fn only_seeds_called_mistakes_are_refused() {
    for (target, is_accepted) in [
        (
            "configuration",
            (|path: &Path| Config::read(path).is_ok()) as fn(&Path) -> bool,
        ),
        ("commands", |path| read_commands(path).is_ok()),
        ("pairings", |path| {
            let is_list = path.ends_with("fide-xml");
            let nobody = Tournament::default();
            match is_list {
                true => FideList::from_reader("list", &*fs::read(path).unwrap(), &nobody).is_ok(),
                false => tournament::read(&[path.to_owned()]).is_ok(),
            }
        }),
    ] {
        for path in seed_files(target) {
            assert_eq!(
                is_accepted(&path),
                !path.ends_with("mistakes"),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn every_fuzz_target_is_tested_here() {
    let files = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap();
    let name = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut targets: Vec<String> = files.map(|entry| name(entry.unwrap().path())).collect();
    targets.sort();
    assert!(
        targets.iter().eq(TARGETS.map(|(name, _)| name).iter()),
        "{targets:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_configuration_causes_no_panic(text in edited("configuration")) {
        configuration::run(text.as_bytes());
    }

    #[test]
    fn edited_pairings_cause_no_panic(text in edited("pairings")) {
        pairings::run(text.as_bytes());
    }

    #[test]
    fn edited_commands_cause_no_panic(text in edited("commands")) {
        commands::run(text.as_bytes());
    }
}

/// Returns the seed files of a target. The seeds of `capture` are the files in tests/captures.
fn seed_files(target: &str) -> Vec<PathBuf> {
    let folder = match target {
        "capture" => root().join("tests/captures"),
        _ => root().join("fuzz/seeds").join(target),
    };
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{target} has no seeds");
    paths
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let files = seed_files(target);
    files.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// An edit of a text: position, number of characters removed there, and text inserted.
type Edit = (Index, usize, String);

/// Generates seeds of a target with some edits.
fn edited(target: &str) -> impl Strategy<Value = String> {
    let texts: Vec<String> = seeds(target)
        .into_iter()
        .map(|seed| String::from_utf8(seed).unwrap())
        .collect();
    let word = select(WORDS).prop_map(str::to_owned);
    let edit = (
        any::<Index>(),
        0..6usize,
        prop_oneof![word, ".{0,3}", "[0-9]{1,20}"],
    );
    (select(texts), vec(edit, 0..5)).prop_map(|(text, edits)| edits.iter().fold(text, apply_edit))
}

fn apply_edit(text: String, (from, removed, inserted): &Edit) -> String {
    let characters: Vec<char> = text.chars().collect();
    let from = from.index(characters.len() + 1);
    let rest = characters.iter().skip(from + removed);
    characters[..from]
        .iter()
        .copied()
        .chain(inserted.chars())
        .chain(rest.copied())
        .collect()
}

/// Tokens and keywords of the formats, for insertion.
const WORDS: &[&str] = &[
    "",
    "\"",
    "\n",
    "=",
    "[",
    "]",
    "[[board]]\n",
    "{",
    "}",
    ",",
    ":",
    "/",
    "-",
    "+",
    ".",
    "null",
    "true",
    "-1",
    "1e99",
    "\\",
    "%00",
    "\u{feff}",
    "\\u0000",
    "*",
    "1/2",
    "O-O",
    "[White \"",
    "\"]",
    "\n\n",
    "001    1",
    "0000 - U",
    ";",
    "\t",
    "4600001",
    "bye",
    "e9",
    "K",
    "k",
    "w",
    "fide-",
    "2 h",
    "9999999 h",
    "min",
    "GB",
    "Z",
    "+24:00",
];
