//! Results and byes of a round in a hall without any board.

use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Command, Stdio};

use super::setup::configure_with_operator;
use crate::mosquitto::free_port;
use crate::npm::scripts;
use crate::spectators::Program;

const PAIRINGS: &str = "round,board,white,black,result\n1,1,Adler,Berg,\n1,2,Clausen,Dorn,\n1,,Zorn,,1\n\
                        2,1,Adler,Clausen,\n2,2,Berg,Zorn,\n";
const RUN: [&str; 3] = ["run", "--config", "kiebitz.toml"];

/// Results, forfeits and byes are entered, count in the standings, and are the same after a restart.
#[test]
fn results_and_byes_are_entered_without_a_board() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port, wall) = (directory.path(), free_port(), free_port());
    // The users are those of the other tests; the boards are left out.
    configure_with_operator(folder, port);
    let pairings = folder.join("rounds.csv");
    std::fs::write(&pairings, PAIRINGS).expect("pairings");
    let config = format!(
        "[daemon]\nstate_directory = {:?}\n[desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {:?}\n[ports]\nusb = \
         false\n[publish]\nlisten = \"127.0.0.1:{wall}\"\n[event]\nname = \"Open\"\npairings = [{pairings:?}]\n",
        folder.join("state"),
        folder.join("users"),
    );
    let written = File::create(folder.join("kiebitz.toml"));
    let written = written.and_then(|mut file| file.write_all(config.as_bytes()));
    written.expect("a configuration");
    let mut daemon = Program::start(folder, &RUN);
    let mut script = Command::new("node")
        .arg("paper.mjs")
        .args([port, wall].map(|port| format!("http://127.0.0.1:{port}/")))
        .args(["chief", "operate-it"])
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
    daemon.stop();
}
