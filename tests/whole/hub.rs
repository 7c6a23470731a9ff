//! Two halls of one event: daemons, a broker and a hub that are killed while games are played.

use core::time::Duration;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::Value;

use crate::broadcast::{lichess, played};
use crate::mosquitto::Mosquitto;
use crate::spectators::Program;

/// Number of boards in each hall.
const BOARDS: usize = 2;

fn daemon(folder: &Path, hall: &str, broker: SocketAddr, first: usize) -> String {
    let at = |name: &str| folder.join(name);
    let mut config = format!(
        "[daemon]\nname = {hall:?}\nstate_directory = {:?}\n[event]\nname = \"Two halls\"\npairings = [{:?}]\n\
         [mqtt]\nurl = \"mqtt://{broker}\"\nprefix = \"{hall}/kiebitz\"\nhub = true\n[ports]\nusb = false\n",
        at(&format!("state-{hall}")),
        at("round.csv"),
    );
    for nth in 0..BOARDS {
        let link = at(&format!("{hall}/board-{}", nth + 1));
        let _ = write!(
            config,
            "[[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-{}\"\ntable = {}\n",
            nth + 1,
            first + nth
        );
    }
    let name = format!("{hall}.toml");
    std::fs::write(at(&name), config).expect("a configuration");
    name
}

fn file(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join("live").join(path)).unwrap_or_default()
}

/// Number of public plies of each table.
fn plies(folder: &Path) -> Vec<usize> {
    let of = |table: usize| {
        let game: Value =
            serde_json::from_str(&file(folder, &format!("round-1/game-{table}.json"))).unwrap_or_default();
        game["moves"].as_array().map_or(0, Vec::len)
    };
    (1..=2 * BOARDS).map(of).collect()
}

async fn until(goal: &str, folder: &Path, wanted: impl Fn() -> bool) {
    let waiting = async {
        while !wanted() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(crate::eventually::PATIENCE, waiting).await;
    let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    assert!(
        waited.is_ok(),
        "not in time: {goal}: {:?}\n{}",
        plies(folder),
        log()
    );
}

#[tokio::test]
async fn two_halls_are_one_event_despite_kills() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    let mut broker = Mosquitto::start().await;
    let mut pairings = "round,board,white,black\n".to_owned();
    for table in 1..=2 * BOARDS {
        let _ = writeln!(pairings, "1,{table},\"White {table}\",\"Black {table}\"");
    }
    std::fs::write(folder.join("round.csv"), pairings).expect("pairings");
    let hub = format!(
        "[event]\nname = \"Two halls\"\npairings = [{:?}]\n[mqtt]\nurl = \"mqtt://{}\"\n[publish]\nto = {:?}\n\
         [hub]\nhalls = [\"north/kiebitz\", \"south/kiebitz\"]\n[daemon]\nstate_directory = {:?}\n",
        folder.join("round.csv"),
        broker.address(),
        folder.join("live"),
        folder.join("state-hub"),
    );
    std::fs::write(folder.join("hub.toml"), hub).expect("a configuration");
    let halls = [("north", 1), ("south", 1 + BOARDS)];
    let configs = halls.map(|(hall, first)| daemon(folder, hall, broker.address(), first));
    let daemons = configs
        .each_ref()
        .map(|config| Program::start(folder, &["run", "--config", config]));
    let seeds = ["1", "2"];
    let players: Vec<Program> = halls
        .iter()
        .zip(seeds)
        .map(|((hall, _), seed)| {
            let boards = BOARDS.to_string();
            let args = [
                "emulate", "--boards", &boards, "--hands", "mixed", "--seed", seed, "--speed", "8",
                "--links", hall,
            ];
            Program::start(folder, &args)
        })
        .collect();
    let start_hub = || Program::start(folder, &["hub", "--config", "hub.toml"]);
    let mut hub = start_hub();
    until("four games", folder, || {
        plies(folder).iter().all(|plies| *plies >= 4)
    })
    .await;
    for kill in 1..=4 {
        let before = plies(folder);
        // SIGKILL; the hub keeps no state.
        drop(hub);
        if kill == 2 {
            broker.kill();
        }
        if kill == 3 {
            std::fs::remove_dir_all(folder.join("live")).expect("a folder");
        }
        tokio::time::sleep(Duration::from_secs(3)).await;
        hub = start_hub();
        if kill == 2 {
            broker.start_again().await;
        }
        until("what was there, and more", folder, || {
            plies(folder)
                .iter()
                .zip(&before)
                .all(|(now, before)| now > before || *before > 60)
        })
        .await;
    }
    // A second hub writes to the same folder.
    let other = start_hub();
    tokio::time::sleep(Duration::from_secs(5)).await;
    drop(players);
    let is_all = || {
        let games = configs.iter().flat_map(|config| played(folder, config));
        let mut count = 0;
        let right = games.into_iter().all(|(round, played)| {
            count += 1;
            let table = round.strip_prefix("1.").expect("the round");
            let shown = file(folder, &format!("round-1/game-{table}.pgn"));
            let shown = lichess::read(&shown).expect("legal moves");
            assert_eq!(shown.tags["White"], format!("White {table}"));
            (shown.moves, shown.clocks) == (played.moves, played.clocks)
        });
        right && count == 2 * BOARDS
    };
    until("every game is right", folder, is_all).await;
    for program in [hub, other].into_iter().chain(daemons) {
        program.stop();
    }
}
