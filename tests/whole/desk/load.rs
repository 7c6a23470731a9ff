//! What a fresh browser loads from the desk.

use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::setup::configure_with_operator;
use crate::mosquitto::free_port;
use crate::npm::scripts;
use crate::spectators::Program;

/// The desk loads less than 100 kB until the list is usable. If another part cannot be loaded, the page says so and
/// loads it on request.
#[test]
fn a_browser_loads_little_and_the_rest_on_demand() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure_with_operator(folder, port);
    let pairings = folder.join("rounds.csv");
    std::fs::write(&pairings, "round,board,white,black\n1,1,Adler,Berg\n").expect("pairings");
    let config = File::options().append(true).open(folder.join("kiebitz.toml"));
    let event = format!("[event]\npairings = [{pairings:?}]\n");
    let written = config.and_then(|mut config| config.write_all(event.as_bytes()));
    written.expect("a configuration");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let players = Program::start(
        folder,
        &[
            "emulate", "--boards", "2", "--pgn", "game.pgn", "--links", "links", "--wait",
        ],
    );
    let browsed = Command::new("node")
        .args(["load.mjs", &format!("http://127.0.0.1:{port}/")])
        .args(["chief", "operate-it"])
        .arg(folder.join("profile"))
        .current_dir(scripts())
        .stdin(Stdio::null())
        .status()
        .expect("node: install it, or let tests/run do so");
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(browsed.success(), "what the script says is above\n{log}");
    drop(players);
    daemon.stop();
}
