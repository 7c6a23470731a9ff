//! A daemon that cannot run for seconds, as on a computer that is too busy, and then reads all that the boards have
//! reported meanwhile.

use core::time::Duration;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::broadcast::recorded;
use crate::eventually::eventually;
use crate::long_games::long_games;
use crate::spectators::Program;

const BOARDS: usize = 6;
/// Long enough for several plies on every board.
const FROZEN: Duration = Duration::from_secs(6);

fn configure(folder: &Path) {
    let mut config = format!(
        "[daemon]\nstate_directory = {:?}\n[ports]\nusb = false\n",
        folder.join("state")
    );
    for board in 1..=BOARDS {
        let link = folder.join(format!("links/board-{board}"));
        let _ = write!(
            config,
            "[[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-{board}\"\n"
        );
    }
    fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
}

#[test]
fn plies_made_while_the_daemon_cannot_run_are_right() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    configure(folder);
    let pgn = long_games(1);
    fs::write(folder.join("game.pgn"), &pgn).expect("a game");
    let played: Vec<&str> = pgn
        .lines()
        .flat_map(str::split_whitespace)
        .filter(|word| word.as_bytes().get(1).is_some_and(u8::is_ascii_digit))
        .collect();
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let boards = BOARDS.to_string();
    let emulate = [
        "emulate", "--boards", &*boards, "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
    ];
    let players = Program::start(folder, &emulate);
    let games = || recorded(folder, "kiebitz.toml");
    let all_have = |plies: usize| {
        let games = games();
        games.len() == BOARDS && games.iter().all(|game| game.moves.len() >= plies)
    };
    eventually("first plies", || all_have(4));
    for _ in 0..3 {
        daemon.freeze(true);
        std::thread::sleep(FROZEN);
        daemon.freeze(false);
        let plies = games()
            .iter()
            .map(|game| game.moves.len())
            .max()
            .unwrap_or_default();
        eventually("plies after the stop", || all_have(plies + 2));
    }
    drop(players);
    daemon.stop();
    let log = fs::read_to_string(folder.join("log")).expect("a log");
    assert!(log.contains("could not run for"), "{log}");
    for game in games() {
        let recorded: Vec<_> = game.moves.iter().filter_map(|ply| ply.uci.as_deref()).collect();
        assert_eq!(recorded, played[..game.moves.len()], "{}\n{log}", game.board);
    }
}
