//! A round at the desk: all results on one page, with a board or without, and the start of the next round.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use super::setup::configure_with_operator;
use crate::mosquitto::free_port;
use crate::npm::scripts;
use crate::spectators::Program;

/// Two games on one board: when the second is set up, the first one is over without a result.
const GAMES: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 *\n\n\
    1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6 *\n";
const TABLES: u32 = 12;
const RUN: [&str; 3] = ["run", "--config", "kiebitz.toml"];

fn configure(folder: &Path, port: u16) {
    configure_with_operator(folder, port);
    let pairings = folder.join("rounds.csv");
    let mut rounds =
        "round,board,white,black\n1,1,\"Adler, Jonas\",\"Berg, Ines\"\n1,,\"Zorn, Ute\",\n".to_owned();
    for (round, first) in [(1, 2), (2, 1)] {
        for table in first..=TABLES {
            let _ = writeln!(rounds, "{round},{table},White {table},Black {table}");
        }
    }
    std::fs::write(&pairings, rounds).expect("pairings");
    let config = File::options().append(true).open(folder.join("kiebitz.toml"));
    let event = format!("[event]\nname = \"Open\"\npairings = [{pairings:?}]\n");
    let written = config.and_then(|mut config| config.write_all(event.as_bytes()));
    written.expect("a configuration");
    std::fs::write(folder.join("game.pgn"), GAMES).expect("games");
}

/// Twelve results with twelve taps, of which eleven are for tables without a board; the same after a restart.
#[test]
fn the_results_of_a_round_are_entered_in_a_browser() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let mut daemon = Program::start(folder, &RUN);
    let players = Program::start(
        folder,
        &[
            "emulate", "--hands", "blitz", "--speed", "4", "--pgn", "game.pgn", "--links", "links",
        ],
    );
    let mut script = Command::new("node")
        .args(["round.mjs", &format!("http://127.0.0.1:{port}/")])
        .args(["chief", "operate-it", "hall", "look-at-it"])
        .arg(folder.join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node: install it, or let tests/run do so");
    for line in BufReader::new(script.stdout.take().expect("a pipe")).lines() {
        assert_eq!(line.expect("text"), "restart");
        drop(daemon);
        daemon = Program::start(folder, &RUN);
    }
    let entered = script.wait().expect("it ends");
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(entered.success(), "what the script says is above\n{log}");
    drop(players);
    daemon.stop();
}
