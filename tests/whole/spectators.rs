//! Spectators get games with a delay: `kiebitz run` is killed and stopped while moves are held back.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kiebitz_game::events::{Event, EventKind};
use kiebitz_hardware::Timestamp;
use rumqttc::v5::mqttbytes::v5::Publish;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::mosquitto::Mosquitto;
use crate::mqtt_world::{Listener, json, topic};

/// The delay in the configuration below.
const DELAY: Duration = Duration::from_secs(5);
/// Tolerance for the difference between the clocks of two processes. Each reads the system's clock once, at its start.
const ACCURACY: Duration = Duration::from_millis(100);
const GAME: &str = "1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 \
                    9. Bg5 b5 10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 \
                    15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8#";

/// A running kiebitz command. Killed when it is dropped.
pub(crate) struct Program {
    child: Child,
    /// The directory with the links to emulated ports.
    links: Option<PathBuf>,
}

impl Program {
    pub(crate) fn start(directory: &Path, args: &[&str]) -> Self {
        let log = File::options()
            .append(true)
            .create(true)
            .open(directory.join("log"));
        let child = Command::new(crate::program())
            .args(args)
            .current_dir(directory)
            .env_remove("KIEBITZ_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log.expect("a log"))
            .spawn();
        let is_links = |pair: &&[&str]| pair[0] == "--links";
        Self {
            child: child.expect("kiebitz runs"),
            links: args.windows(2).find(is_links).map(|pair| directory.join(pair[1])),
        }
    }

    /// Types a line into the program, for example a fault for emulated boards.
    pub(crate) fn type_line(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("a pipe");
        writeln!(stdin, "{line}").expect("it reads");
    }

    /// Resident memory in bytes, without mapped files such as the program itself, which is large without optimization.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a status");
        let resident = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kibibytes = resident.and_then(|text| text.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        kibibytes.expect("a size") << 10
    }

    /// Sends SIGSTOP or SIGCONT.
    pub(crate) fn freeze(&self, frozen: bool) {
        let signal = if frozen { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// Makes the program reload its configuration.
    fn hang_up(&self) {
        let sent = Command::new("kill")
            .args(["-HUP", &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    /// Sends SIGTERM, and waits until the program has stopped with code 0.
    pub(crate) fn stop(mut self) {
        let sent = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(sent.expect("kill runs").success());
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Removes the links before the pseudo-terminals are closed: another test may get their numbers at once, and the
        // daemon of this test would follow the links to the boards of that test.
        let links = self.links.as_ref().and_then(|links| links.read_dir().ok());
        for link in links.into_iter().flatten().flatten() {
            if link.path().is_symlink() {
                let _ = std::fs::remove_file(link.path());
            }
        }
        // Fails if the program has already ended, which is the normal case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes the configuration. `board` is added to the settings of the board.
fn configure(directory: &Path, broker: SocketAddr, board: &str) -> PathBuf {
    let (state, port) = (directory.join("state"), directory.join("links/board-1"));
    let config = format!(
        "[daemon]\nname = \"hall\"\nstate_directory = {state:?}\n\
         [mqtt]\nurl = \"mqtt://{broker}\"\npublic_delay = \"5 s\"\n[ports]\nusb = false\n\
         [[port]]\npath = {port:?}\nmode = \"single\"\n[[board]]\nport = {port:?}\nname = \"board-1\"\n{board}"
    );
    let file = directory.join("kiebitz.toml");
    std::fs::write(&file, config).expect("a configuration");
    file
}

#[tokio::test]
async fn spectators_get_everything_and_nothing_early_across_restarts() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let broker = Mosquitto::start().await;
    let listener = Listener::start("spectators", broker.address()).await;
    let pgn = format!("[White \"Morphy\"]\n[Black \"Allies\"]\n\n{GAME} 1-0\n");
    std::fs::write(directory.path().join("game.pgn"), pgn).expect("a game");
    let emulate = [
        "emulate", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
    ];
    let config = configure(directory.path(), broker.address(), "");
    let run = ["run", "--config", config.to_str().expect("UTF-8")];

    let _boards = Program::start(directory.path(), &emulate);
    let daemon = Program::start(directory.path(), &run);
    listener
        .until("four plies", |inbox| plies_published(inbox) >= 4)
        .await;
    // SIGKILL, with plies that spectators do not have yet.
    drop(daemon);
    assert!(plies_seen(&listener.inbox()) < plies_published(&listener.inbox()));
    let daemon = Program::start(directory.path(), &run);
    listener
        .until("ten plies", |inbox| plies_published(inbox) >= 10)
        .await;
    daemon.stop();
    let (seen, published) = (plies_seen(&listener.inbox()), plies_published(&listener.inbox()));
    assert!(
        seen < published,
        "what is held does not go out with the last words"
    );
    let daemon = Program::start(directory.path(), &run);
    listener
        .until("twenty plies", |inbox| plies_published(inbox) >= 20)
        .await;
    listener
        .until("twenty plies seen", |inbox| plies_seen(inbox) >= 20)
        .await;
    let has_ended = |inbox: &[Publish]| events(inbox).iter().any(|event| is_end(&event.kind));
    listener.until("the end of the game", has_ended).await;
    let seen = |inbox: &[Publish]| public_games(inbox).iter().any(|game| game["ended"].is_string());
    listener.until("its end for spectators", seen).await;
    daemon.stop();

    let inbox = listener.timed_inbox();
    assert_nothing_came_early(&inbox);
    let all: Vec<Publish> = inbox.into_iter().map(|(_, publish)| publish).collect();
    assert_revisions_grow(&all);
    let games = public_games(&all);
    let last = games
        .iter()
        .rfind(|game| game["ended"].is_string())
        .expect("it ended");
    let of_arbiter: Vec<Value> = on(&all, "boards/board-1/game").map(json).collect();
    let of_arbiter = of_arbiter
        .iter()
        .rfind(|game| game["game"] == last["game"] && game["ended"].is_string());
    let of_arbiter = of_arbiter.expect("the arbiter has it as well");
    assert_eq!(moves(last), moves(of_arbiter));
    assert_eq!((&last["result"], moves(last).len()), (&"1-0".into(), 33));
}

#[tokio::test]
async fn another_delay_applies_at_once() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let broker = Mosquitto::start().await;
    let listener = Listener::start("spectators", broker.address()).await;
    let delayed = "public_delay = \"2 h\"\n";
    let config = configure(directory.path(), broker.address(), delayed);
    let _boards = Program::start(
        directory.path(),
        &["emulate", "--hands", "blitz", "--links", "links"],
    );
    let daemon = Program::start(
        directory.path(),
        &["run", "--config", config.to_str().expect("UTF-8")],
    );
    listener
        .until("four plies", |inbox| plies_published(inbox) >= 4)
        .await;
    assert!(public_games(&listener.inbox()).is_empty());

    configure(directory.path(), broker.address(), "public_delay = \"0 s\"\n");
    daemon.hang_up();
    listener
        .until("four plies seen", |inbox| plies_seen(inbox) >= 4)
        .await;

    configure(directory.path(), broker.address(), delayed);
    daemon.hang_up();
    let log = || std::fs::read_to_string(directory.path().join("log")).unwrap_or_default();
    let reloaded = async {
        while log().matches("delays for spectators of single boards").count() < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let reloaded = tokio::time::timeout(Duration::from_secs(300), reloaded).await;
    assert!(reloaded.is_ok(), "{}", log());
    // Messages already on their way arrive before those of later plies.
    let two_more = plies_published(&listener.inbox()) + 2;
    listener
        .until("more plies", |inbox| plies_published(inbox) >= two_more)
        .await;
    let seen = plies_seen(&listener.inbox());
    listener
        .until("still more", |inbox| plies_published(inbox) >= two_more + 4)
        .await;
    assert_eq!(plies_seen(&listener.inbox()), seen);
}

/// Checks that no move, result or clock reading was published before its delay had passed.
fn assert_nothing_came_early(inbox: &[(Timestamp, Publish)]) {
    let all: Vec<Publish> = inbox.iter().map(|(_, publish)| publish.clone()).collect();
    let events = events(&all);
    let (mut games, mut clocks) = (0, 0);
    for (at, publish) in inbox {
        let due = |published: Timestamp| published + DELAY <= *at + ACCURACY;
        match topic(publish).as_str() {
            "public/boards/board-1/game" => {
                games += 1;
                let game = json(publish);
                for (ply, uci) in moves(&game) {
                    let made = |event: &&Event| {
                        event.game.as_deref() == game["game"].as_str()
                            && matches!(
                                &event.kind,
                                EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. }
                                    if played.ply == ply && played.uci == uci
                            )
                    };
                    let made = events.iter().find(made).expect("it was published before");
                    assert!(due(made.ts), "{uci:?} of {:?} at {at:?}", made.ts);
                }
                let ended = events.iter().find(|event| is_end(&event.kind));
                assert!(game["ended"].is_null() || ended.is_some_and(|ended| due(ended.ts)));
            }
            "public/boards/board-1/clock" => {
                clocks += 1;
                let clock = json(publish);
                assert_eq!(clock["delay_ms"], 5000);
                let read = clock["as_of"]
                    .as_str()
                    .map(|read| read.parse::<jiff::Timestamp>());
                let read = read.map(|read| Timestamp::from_micros(read.expect("a time").as_microsecond()));
                assert!(read.is_none_or(due), "{clock} at {at:?}");
            }
            _ => {}
        }
    }
    assert!(games > 30 && clocks > 20, "{games} games, {clocks} clocks");
}

/// Checks that revisions never decrease. A revision that is published again after a restart must not have changed.
fn assert_revisions_grow(inbox: &[Publish]) {
    let mut revisions: BTreeMap<String, (u64, Value)> = BTreeMap::new();
    for game in public_games(inbox) {
        let revision = game["revision"].as_u64().expect("a number");
        let id = game["game"].as_str().expect("an id").to_owned();
        if let Some((before, earlier)) = revisions.insert(id, (revision, game.clone())) {
            assert!(revision > before || earlier == game, "{earlier} and then {game}");
        }
    }
}

fn on<'h>(inbox: &'h [Publish], wanted: &str) -> impl DoubleEndedIterator<Item = &'h Publish> {
    inbox.iter().filter(move |publish| topic(publish) == wanted)
}

fn public_games(inbox: &[Publish]) -> Vec<Value> {
    on(inbox, "public/boards/board-1/game").map(json).collect()
}

fn events(inbox: &[Publish]) -> Vec<Event> {
    let events = on(inbox, "boards/board-1/events");
    events
        .map(|publish| serde_json::from_slice(&publish.payload).expect("an event"))
        .collect()
}

fn is_end(kind: &EventKind) -> bool {
    matches!(kind, EventKind::GameEnded { .. })
}

fn moves(game: &Value) -> Vec<(u32, Option<String>)> {
    let moves = game["moves"].as_array().expect("moves").iter();
    moves
        .map(|entry| {
            let ply = entry["ply"].as_u64().expect("a number");
            let uci = entry["uci"].as_str().map(str::to_owned);
            (u32::try_from(ply).expect("a ply"), uci)
        })
        .collect()
}

/// Number of plies in the last game message for the arbiter.
fn plies_published(inbox: &[Publish]) -> usize {
    on(inbox, "boards/board-1/game")
        .next_back()
        .map_or(0, |game| moves(&json(game)).len())
}

/// Number of plies in the last game message for spectators.
fn plies_seen(inbox: &[Publish]) -> usize {
    public_games(inbox).last().map_or(0, |game| moves(game).len())
}
