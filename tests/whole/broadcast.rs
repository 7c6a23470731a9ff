//! A round from the pairing file to the public: emulated boards, the built program, and the destinations of its
//! broadcast.

mod alarm;
mod all_targets;
mod bucket;
mod file_servers;
pub(crate) mod lichess;
mod webdav;
mod webhook;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use kiebitz_game::events::record::GameRecord;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::eventually::PATIENCE;
use crate::long_games::long_games;
use crate::mosquitto::free_port;
use crate::readers::{pages_play, pgn_extract_plays};
use crate::spectators::Program;
use lichess::{Chapter, Lichess, TOKEN, Trouble};

const MATE: &str = "1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7#";
const ENDLESS: &str = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6";

/// A hall with boards and the broadcast's settings.
struct Hall {
    directory: tempfile::TempDir,
    port: u16,
}

impl Hall {
    fn open(boards: usize, lichess: &Lichess, settings: &str) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
        let (path, port) = (directory.path(), free_port());
        let mut config = format!(
            "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[event]\nname = \"Kiebitz Open\"\npairings = [{:?}]\n\
             {settings}\n[publish]\nto = {:?}\nlisten = \"127.0.0.1:{port}\"\n\
             [lichess]\nserver = \"http://{}\"\ntoken_file = {:?}\n[ports]\nusb = false\n",
            path.join("state"),
            path.join("round.csv"),
            path.join("live"),
            lichess.address,
            path.join("token"),
        );
        for board in 1..=boards {
            let link = path.join(format!("links/board-{board}"));
            let _ = write!(
                config,
                "[[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nport = {link:?}\nname = \"board-{board}\"\n"
            );
        }
        std::fs::write(path.join("kiebitz.toml"), config).expect("a configuration");
        std::fs::write(path.join("token"), format!("{TOKEN}\n")).expect("a token");
        Self { directory, port }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn daemon(&self) -> Program {
        Program::start(self.path(), &["run", "--config", "kiebitz.toml"])
    }

    /// The content that the broadcast's server returns for a path.
    async fn served(&self, path: &str) -> String {
        let ask = async {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
            let request = format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.ok()?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.ok()?;
            let (_, content) = answer.split_once("\r\n\r\n")?;
            Some(content.to_owned())
        };
        ask.await.unwrap_or_default()
    }

    fn on_disk(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join("live").join(path)).unwrap_or_default()
    }

    fn played(&self) -> BTreeMap<String, Chapter> {
        played(self.path(), "kiebitz.toml")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.path().join("log")).unwrap_or_default()
    }
}

fn stdout_of(folder: &Path, config: &str, args: &[&str]) -> String {
    let output = Command::new(crate::program())
        .args(args)
        .args(["--config", config])
        .current_dir(folder)
        .output()
        .expect("kiebitz runs");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Output of a command about all games of a journal.
fn of_all_games(folder: &Path, config: &str, command: &str) -> String {
    let ids = stdout_of(folder, config, &["games", "--ids"]);
    stdout_of(
        folder,
        config,
        &[command].into_iter().chain(ids.lines()).collect::<Vec<_>>(),
    )
}

/// Games of a journal, from their events.
pub(crate) fn recorded(folder: &Path, config: &str) -> Vec<GameRecord> {
    let mut games: Vec<GameRecord> = Vec::new();
    for line in of_all_games(folder, config, "export").lines() {
        let event = serde_json::from_str(line).expect("an event");
        match (GameRecord::from_started(&event), games.last_mut()) {
            (Some(started), _) => games.push(started),
            (None, Some(game)) => {
                game.apply(&event);
            }
            // An event between games.
            (None, None) => {}
        }
    }
    games
}

/// Games of a journal by round and table, as chapters.
pub(crate) fn played(folder: &Path, config: &str) -> BTreeMap<String, Chapter> {
    let text = of_all_games(folder, config, "pgn");
    let games = text.split("\n\n[Event").filter(|game| !game.trim().is_empty());
    let games = games.map(|game| {
        if game.starts_with('[') {
            game.to_owned()
        } else {
            format!("[Event{game}")
        }
    });
    games
        .filter_map(|game| {
            let chapter = lichess::read(&game).expect("legal moves");
            // A game that began after the round has no number.
            Some((chapter.tags.get("Round")?.clone(), chapter))
        })
        .collect()
}

/// Waits until `wanted` holds; `goal` names it in the failure message.
async fn until(goal: &str, hall: &Hall, wanted: impl AsyncFn() -> bool) {
    let waiting = async {
        while !wanted().await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    assert!(waited.is_ok(), "not in time: {goal}\n{}", hall.log());
}

#[tokio::test]
async fn a_round_is_published_on_lichess_on_disk_and_on_the_web() {
    let lichess = Lichess::start([(2, Trouble::Forgets), (3, Trouble::HangsUp)]).await;
    let hall = Hall::open(2, &lichess, "");
    let pairings = "board,round,white,white_fide_id,black,black_team\n\
                    2,3,\"Clausen, Per\",,\"Dorn, Uta\",SK Kiebitz\n1,3,\"Adler, Jonas\",4611111,\"Berg, Ines\",\n";
    std::fs::write(hall.path().join("round.csv"), pairings).expect("pairings");
    let pgn = format!(
        "[White \"a\"]\n[Black \"b\"]\n\n{MATE} 1-0\n\n[White \"c\"]\n[Black \"d\"]\n\n{ENDLESS} *\n"
    );
    std::fs::write(hall.path().join("game.pgn"), pgn).expect("games");
    let daemon = hall.daemon();
    let before = async || {
        let games = hall.served("round-3/games.pgn").await;
        games.contains("[White \"Adler, Jonas\"]") && games.contains("[White \"Clausen, Per\"]")
    };
    until("the pairings are public before the round", &hall, before).await;
    // As a reader of livechesscloud does: the meta data, the event, a round, and every game in its list.
    let json = async |path: &str| -> Value {
        serde_json::from_str(&hall.served(path).await).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    assert_eq!(json("meta/open").await["format"], "1");
    let event = json("get/open/tournament.json").await;
    assert_eq!(event["chess960"], "STANDARD");
    let rounds = event["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 3);
    for (round, listed) in (1..).zip(rounds) {
        let index = json(&format!("get/open/round-{round}/index.json")).await;
        let pairings = index["pairings"].as_array().expect("pairings");
        assert_eq!(listed["count"], pairings.len(), "round {round}");
    }
    let listed = json("get/open/round-3/index.json").await;
    assert_eq!(listed["pairings"].as_array().map(Vec::len), Some(2));
    for nth in 1..=2 {
        let game = json(&format!("get/open/round-3/game-{nth}.json")).await;
        assert_eq!(
            (&game["live"], &game["moves"]),
            (&false.into(), &Value::Array(Vec::new()))
        );
    }

    let emulate = [
        "emulate", "--boards", "2", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
    ];
    let _boards = Program::start(hall.path(), &emulate);
    until("two moves", &hall, async || {
        hall.served("round-3/game-2.json").await.matches(' ').count() >= 2
    })
    .await;
    // Kills the daemon while some moves are not published yet.
    drop(daemon);
    let _daemon = hall.daemon();
    let mated = async || {
        let index: Value = serde_json::from_str(&hall.served("round-3/index.json").await).unwrap_or_default();
        index["pairings"][0]["result"] == "1-0"
    };
    until("the mate", &hall, mated).await;
    let all = async || hall.on_disk("round-3/game-2.pgn").contains("b6");
    until("all moves", &hall, all).await;
    let is_there = async || {
        lichess.see(|held| {
            let boards = held.rounds.get("Round 3");
            boards.is_some_and(|boards| {
                boards.len() == 2 && boards[1].moves.len() == 14 && boards[0].moves.len() == 7
            })
        })
    };
    until("all moves on Lichess", &hall, is_there).await;

    let game: Value = serde_json::from_str(&hall.served("get/open/round-3/game-1.json").await).expect("JSON");
    assert_eq!(
        (&game["result"], &game["live"]),
        (&"WHITEWIN".into(), &Value::Bool(false))
    );
    assert_eq!(
        hall.on_disk("round-3/game-1.pgn"),
        hall.served("round-3/game-1.pgn").await
    );
    let leftovers = std::fs::read_dir(hall.path().join("live/round-3")).expect("a folder");
    let mut names: Vec<String> = leftovers
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let expected = [
        "board-1.json",
        "board-2.json",
        "game-1.json",
        "game-1.pgn",
        "game-2.json",
        "game-2.pgn",
        "games.pgn",
        "index.json",
        "wall.json",
    ];
    assert_eq!(names, expected, "and nothing half written");
    lichess.see(|held| {
        assert_eq!(
            held.broadcasts,
            ["Kiebitz Open"],
            "created once, over the restart"
        );
        assert!(!held.crowded && held.refused.is_empty(), "{:?}", held.refused);
        let first = &held.rounds["Round 3"][0];
        assert_eq!(first.tags["WhiteFideId"], "4611111");
        assert_eq!((&*first.tags["Round"], &*first.tags["Result"]), ("3.1", "1-0"));
        assert_eq!(held.rounds["Round 3"][1].tags["BlackTeam"], "SK Kiebitz");
        let played = hall.played();
        for chapter in &held.rounds["Round 3"] {
            let of_journal = &played[&chapter.tags["Round"]];
            assert_eq!(
                (&chapter.moves, &chapter.clocks),
                (&of_journal.moves, &of_journal.clocks)
            );
        }
    });
}

/// The facts of the event, the start of the round and penalties go to Lichess, and follow the pairings and the
/// configuration.
#[tokio::test]
async fn broadcast_and_round_on_lichess_follow_the_event() {
    let lichess = Lichess::start([]).await;
    let settings = "site = \"Köln\"\ntime_control = \"90+30\"\nrounds = [2026-11-21T14:00:00+01:00]";
    let hall = Hall::open(1, &lichess, settings);
    let header = "board,round,white,black,result";
    let rows = "1,1,Adler,Berg,0-0\n2,1,Clausen,Dorn,1/2-0\n3,1,Ebert,Falk,1-0\n";
    std::fs::write(hall.path().join("round.csv"), format!("{header}\n{rows}")).expect("pairings");
    let daemon = hall.daemon();
    let results = || {
        lichess.see(|held| {
            let boards = held.rounds.get("Round 1").into_iter().flatten();
            boards
                .map(|board| board.tags["Result"].clone())
                .collect::<Vec<_>>()
        })
    };
    until("the round", &hall, async || results().len() == 3).await;
    assert_eq!(results(), ["0-0", "1/2-0", "1-0"]);
    let on_disk = hall.on_disk("round-1/games.pgn");
    assert_eq!(on_disk.matches("[Result \"*\"]").count(), 2, "{on_disk}");
    let field = |name: &str| lichess.see(|held| held.tour[name].clone());
    lichess.see(|held| {
        let round = &held.forms["Round 1"];
        assert_eq!((&*round["status"], &*round["startsAt"]), ("new", "1795266000000"));
    });
    let facts = ["name", "info.tc", "info.location", "showScores", "teamTable"].map(field);
    assert_eq!(facts, ["Kiebitz Open", "90+30", "Köln", "true", "false"]);
    assert_eq!(lichess.see(|held| held.edits), 0);
    // Somebody adds a description on Lichess.
    let add = |held: &mut lichess::Held| held.tour.insert("markdown".to_owned(), "Open to all".to_owned());
    add(&mut lichess.held.lock().expect("no panic"));

    let rows = rows.replace(",0-0\n", ",0-0,SK Nord,SK Süd\n");
    let rows = rows.replace("2-0\n", "2-0,,\n").replace("1-0\n", "1-0,,\n");
    let teams = format!("{header},white_team,black_team\n{rows}");
    std::fs::write(hall.path().join("round.csv"), teams).expect("pairings");
    until("the table of teams", &hall, async || field("teamTable") == "true").await;
    assert_eq!(field("markdown"), "Open to all");

    // A refused edit is reported once and does not hold back the games.
    lichess.held.lock().expect("no panic").refuses_edits = true;
    let without_teams = format!("{header}\n1,1,Adler,Berg,0-0\n2,1,Clausen,Dorn,1/2-0\n3,1,Ebert,Frey,1-0\n");
    std::fs::write(hall.path().join("round.csv"), &without_teams).expect("pairings");
    let black = || lichess.see(|held| held.rounds["Round 1"][2].tags["Black"].clone());
    until("the refusal and the name", &hall, async || {
        hall.log()
            .contains("cannot update the broadcast: Lichess answered 400")
            && black() == "Frey"
    })
    .await;
    let corrected = without_teams.replace("Frey", "Fuchs");
    std::fs::write(hall.path().join("round.csv"), corrected).expect("pairings");
    until("the next name", &hall, async || black() == "Fuchs").await;
    daemon.stop();
    lichess.held.lock().expect("no panic").refuses_edits = false;

    let file = hall.path().join("kiebitz.toml");
    let config = std::fs::read_to_string(&file).expect("a configuration");
    std::fs::write(&file, config.replace("T14:00", "T15:00").replace("Köln", "Bonn"))
        .expect("a configuration");
    let daemon = hall.daemon();
    let starts = || lichess.see(|held| held.forms["Round 1"]["startsAt"].clone());
    until("the new start and place", &hall, async || {
        starts() == "1795269600000" && field("info.location") == "Bonn"
    })
    .await;
    lichess.see(|held| {
        assert_eq!(held.broadcasts.len(), 1, "created once, over the restart");
        assert_eq!(held.edits, 3);
        assert_eq!(held.forms["Round 1"]["name"], "Round 1");
        assert_eq!(held.refused_forms, ["edit"], "not sent again");
    });
    daemon.stop();
}

/// Four boards of a Chess960 round. On the third, a knight makes an illegal move, and nobody objects.
#[tokio::test]
async fn a_chess960_round_with_an_illegal_move_that_stands_is_right_on_lichess() {
    const START: &str = "bbqrkrnn/pppppppp/8/8/8/8/PPPPPPPP/BBQRKRNN w KQkq - 0 1";
    const GAMES: [&str; 4] = [
        "1. Nf3 Nf6 2. Ng3 Ng6 3. O-O e6 4. e3 d5 5. d4 Nd7 1/2-1/2",
        "1. e4 e5 2. Ng3 Ng6 3. Nf3 Nf6 4. d3 d6 5. O-O h6 6. h3 c6 1-0",
        "1. Nf3 Nf6 2. Ng3 Ng6 3. e3 e6 4. Nf3f5 d5 5. d4 Nd7 6. h3 h6 1-0",
        "1. d4 d5 2. Nf3 Nf6 3. Ng3 Ng6 4. e3 e6 5. O-O O-O 6. a3 a6 0-1",
    ];
    let lichess = Lichess::start([(4, Trouble::Forgets)]).await;
    let hall = Hall::open(GAMES.len(), &lichess, "start = \"bbqrkrnn\"");
    let (mut pairings, mut pgn) = ("round,board,white,black\n".to_owned(), String::new());
    for (table, moves) in (1..).zip(GAMES) {
        let _ = writeln!(pairings, "5,{table},White {table},Black {table}");
        let _ = write!(
            pgn,
            "[White \"a\"]\n[Black \"b\"]\n[Variant \"Chess960\"]\n[SetUp \"1\"]\n[FEN \"{START}\"]\n\n{moves}\n\n"
        );
    }
    std::fs::write(hall.path().join("round.csv"), pairings).expect("pairings");
    std::fs::write(hall.path().join("game.pgn"), pgn).expect("games");
    let daemon = hall.daemon();
    let emulate = [
        "emulate", "--boards", "4", "--hands", "calm", "--pgn", "game.pgn", "--links", "links", "--speed",
        "8",
    ];
    let _boards = Program::start(hall.path(), &emulate);
    let is_over = async || {
        lichess.see(|held| {
            let boards = held.rounds.get("Round 5");
            let results = boards.into_iter().flatten().map(|board| &*board.tags["Result"]);
            results.filter(|result| *result != "*").count() == GAMES.len()
        })
    };
    until("all results", &hall, is_over).await;
    let games = hall.played();
    lichess.see(|held| {
        assert!(!held.crowded && held.refused.is_empty(), "{:?}", held.refused);
        assert!(held.premature.is_empty(), "{:?}", held.premature);
        let boards = &held.rounds["Round 5"];
        assert_eq!(boards.len(), GAMES.len());
        for (table, (chapter, acted)) in (1..).zip(boards.iter().zip(GAMES)) {
            let tag = |name: &str| chapter.tags[name].as_str();
            assert_eq!(
                (tag("White"), tag("Variant")),
                (&*format!("White {table}"), "Chess960")
            );
            assert_eq!(
                tag("Result"),
                acted.rsplit(' ').next().expect("a result"),
                "{table}"
            );
            let legal = acted.split(" 4. Nf3f5").next().expect("moves");
            let legal: Vec<&str> = legal
                .split(' ')
                .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == 'O'))
                .collect();
            assert_eq!(chapter.moves, legal, "{table}");
            assert_eq!(chapter.clocks, games[tag("Round")].clocks, "{table}");
            assert!(
                chapter.clocks.iter().all(Option::is_some),
                "{table}: {:?}",
                chapter.clocks
            );
        }
    });
    daemon.stop();
}

/// Whether a game has more than `plies` half-moves, or is over.
fn has_moves(chapter: &Chapter, plies: usize) -> bool {
    let result = chapter.tags.get("Result");
    chapter.moves.len() > plies || result.is_some_and(|result| result != "*")
}

/// Sixty boards with players of mixed temperaments, and a Lichess server that fails at times.
#[tokio::test]
async fn sixty_boards_are_right_on_an_unreliable_lichess() {
    const BOARDS: usize = 60;
    let troubles = [
        (3, Trouble::Forgets),
        (5, Trouble::HangsUp),
        (8, Trouble::TooMany),
        (9, Trouble::HangsUp),
        (12, Trouble::Forgets),
    ];
    let lichess = Lichess::start(troubles).await;
    let hall = Hall::open(BOARDS, &lichess, "");
    let mut pairings = "round,board,white,black\n".to_owned();
    for board in 1..=BOARDS {
        let _ = writeln!(pairings, "1,{board},\"White {board}, W.\",\"Black {board}, B.\"");
    }
    std::fs::write(hall.path().join("round.csv"), &pairings).expect("pairings");
    let daemon = hall.daemon();
    let boards = BOARDS.to_string();
    let emulate = [
        "emulate", "--boards", &*boards, "--hands", "mixed", "--pgn", "game.pgn", "--links", "links",
    ];
    std::fs::write(hall.path().join("game.pgn"), long_games(3)).expect("games");
    let players = Program::start(hall.path(), &emulate);
    until("all games are there", &hall, async || {
        lichess.see(|held| {
            held.rounds
                .get("Round 1")
                .is_some_and(|boards| boards.len() == BOARDS)
        })
    })
    .await;
    let all_have = async |plies: usize| {
        lichess.see(|held| {
            let boards = &held.rounds["Round 1"];
            boards.iter().all(|chapter| has_moves(chapter, plies))
        })
    };
    until("moves in every game", &hall, async || all_have(4).await).await;
    // A name is corrected during the round.
    let corrected = pairings.replace("White 7, W.", "White 7, Wilma");
    std::fs::write(hall.path().join("round.csv"), corrected).expect("pairings");
    let is_corrected =
        async || lichess.see(|held| held.rounds["Round 1"][6].tags["White"] == "White 7, Wilma");
    until("the corrected name", &hall, is_corrected).await;
    until("more moves in every game", &hall, async || all_have(10).await).await;
    drop(players);
    let is_still = async || {
        let games = hall.played();
        lichess.see(|held| {
            held.rounds["Round 1"].iter().all(|chapter| {
                let played = games.get(&chapter.tags["Round"]);
                played.is_some_and(|played| {
                    (&played.moves, &played.clocks) == (&chapter.moves, &chapter.clocks)
                })
            })
        })
    };
    until("every game is right, with every clock", &hall, is_still).await;
    lichess.see(|held| {
        assert!(!held.crowded && held.refused.is_empty(), "{:?}", held.refused);
        let boards = &held.rounds["Round 1"];
        assert_eq!(boards.len(), BOARDS, "no game got a board of another one");
        for (nth, chapter) in (1..).zip(boards) {
            assert_eq!(chapter.tags["Round"], format!("1.{nth}"), "in its place");
            assert_eq!(chapter.tags["Black"], format!("Black {nth}, B."));
            assert!(has_moves(chapter, 10), "{nth}: {} moves", chapter.moves.len());
        }
        assert_eq!(boards[6].tags["White"], "White 7, Wilma");
    });
    let games = hall.on_disk("round-1/games.pgn");
    // If the boards are unplugged right after a mate, it is published but never settled. pgn-extract rejects such a
    // game, whose result is "*".
    let games_of = games.split("[Event ").skip(1);
    let settled = games_of.filter(|game| !(game.contains("#") && game.contains("[Result \"*\"]")));
    let settled: String = settled.map(|game| format!("[Event {game}")).collect();
    pgn_extract_plays(&settled);
    let plies = lichess.see(|held| {
        let boards = held.rounds["Round 1"].iter();
        boards.map(|chapter| chapter.moves.len()).collect::<Vec<_>>()
    });
    let read = pages_play(&games);
    assert_eq!(
        (&read["chessops"], &read["chessjs"]),
        (&plies.clone().into(), &plies.into())
    );
    drop(daemon);
}
