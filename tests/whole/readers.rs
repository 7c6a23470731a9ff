//! The games of all captures are readable for other programs that read PGN.
//!
//! python-chess is not among them because the tests install nothing from PyPI. src/outputs/pgn/tests checks every PGN
//! against the requirements of the strictest reader.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use serde_json::Value;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess, Position};

use crate::npm::scripts;

/// All games of all captures in one file, as `kiebitz replay --pgn` prints them.
fn games() -> String {
    let captures = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../captures"));
    let captures = captures
        .expect("captures")
        .map(|file| file.expect("a file").path());
    let is_capture = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "pcapng");
    let mut captures: Vec<PathBuf> = captures.filter(is_capture).collect();
    captures.sort();
    let output = Command::new(crate::program())
        .args(["replay", "--pgn"])
        .args(&captures)
        .stdin(Stdio::null())
        .output()
        .expect("kiebitz runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn number_of(games: &str) -> usize {
    let number = games.matches("[Event \"").count();
    assert!(number > 20, "{number} games");
    number
}

#[test]
fn pgn_extract_plays_every_game() {
    pgn_extract_plays(&games());
}

/// Checks that pgn-extract plays all games of a text without a complaint.
pub(crate) fn pgn_extract_plays(games: &str) {
    let mut child = Command::new(program())
        .arg("-r")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("pgn-extract starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(games.as_bytes()).expect("it reads all games");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let messages = String::from_utf8_lossy(&output.stderr);
    let number = number_of(games);
    assert!(
        messages.contains(&format!("{number} games matched out of {number}.")),
        "{messages}"
    );
    assert!(
        !messages.contains("Failed") && !messages.contains("Line number"),
        "{messages}"
    );
}

/// Path of pgn-extract. Debian installs it in /usr/games, which is not in every user's `PATH`.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/games".into()])
        .map(|directory| directory.join("pgn-extract"))
        .find(|program| program.is_file())
        .expect("this test needs the package pgn-extract, which is not installed: run tests/run")
}

#[test]
fn chess_js_and_chessops_play_every_game() {
    let games = games();
    let plies = pages_play(&games);
    assert_eq!(
        plies["chessops"].as_array().map(Vec::len),
        Some(number_of(&games))
    );
    let chess960 = games.matches("[Variant \"Chess960\"]").count();
    let known = number_of(&games) - chess960;
    assert_eq!(plies["chessjs"].as_array().map(Vec::len), Some(known));
}

/// The number of plies that chess.js and chessops play of each game of a text. Web pages use these libraries.
pub(crate) fn pages_play(games: &str) -> Value {
    let mut child = Command::new("node")
        .arg("read.mjs")
        .current_dir(scripts())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(games.as_bytes()).expect("it reads all games");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "what could not be played is above");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn pgn_reader_plays_every_game() {
    let games = games();
    let mut reader = Reader::new(games.as_bytes());
    let mut read = 0;
    while let Some(refused) = reader.read_game(&mut Player).expect("PGN") {
        read += 1;
        assert_eq!(refused, None, "game {read}");
    }
    assert_eq!(read, number_of(&games));
}

/// Plays through a game. The output is the first invalid FEN or move, if there is one.
struct Player;

#[derive(Default)]
struct Tags {
    fen: Option<String>,
    chess960: bool,
}

impl Visitor for Player {
    type Tags = Tags;
    type Movetext = (Chess, Option<String>);
    type Output = Option<String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        let value = value.decode_utf8_lossy().into_owned();
        match name {
            b"FEN" => tags.fen = Some(value),
            b"Variant" => tags.chess960 = value == "Chess960",
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        let mode = CastlingMode::from_chess960(tags.chess960);
        let start = tags.fen.map(|fen| {
            let parsed = fen.parse::<Fen>().ok();
            parsed
                .and_then(|parsed| parsed.into_position(mode).ok())
                .ok_or(fen)
        });
        match start.transpose() {
            Ok(start) => ControlFlow::Continue((start.unwrap_or_default(), None)),
            Err(fen) => ControlFlow::Break(Some(fen)),
        }
    }

    fn san(&mut self, (position, refused): &mut Self::Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        match san.san.to_move(position) {
            Ok(played) => position.play_unchecked(played),
            Err(_) => *refused = refused.take().or_else(|| Some(san.to_string())),
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, (_, refused): Self::Movetext) -> Self::Output {
        refused
    }
}
