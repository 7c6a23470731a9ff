//! A round of twelve tables goes to two brokers, a folder, S3, WebDAV, FTP, SFTP and Lichess at once. In mid-round each
//! of them is killed, then refuses what it gets, and loses what it had. In the end all are equal to the journal.

use core::fmt::Write;
use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_servers::{Kind, PASSWORD, Server, tree};
use super::lichess::{self, Chapter, Lichess};
use super::{Hall, bucket, until, webdav};
use crate::encrypted::make_users;
use crate::mosquitto::{Mosquitto, Proxy, ProxyState};
use crate::mqtt_world::Listener;
use crate::spectators::Program;

const TABLES: usize = 12;
/// Moves of all games, long enough that no game ends before the players are stopped.
const MOVES: &str = "1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 h6 7. Bh4 b6 8. cxd5 Nxd5 9. Bxe7 Qxe7 \
                     10. Nxd5 exd5 11. Rc1 Be6 12. Qa4 c5 13. Qa3 Rc8 14. Bb5 a6 15. dxc5 bxc5 16. O-O Ra7 17. Be2 Nd7 \
                     18. Nd4 Qf8 19. Nxe6 fxe6 20. e4 d4 21. f4 Qe7 22. e5 Rb8 23. Bc4 Kh8 24. Qh3 Nf8 25. b3 a5 26. f5 \
                     exf5 27. Rxf5 Nh7 28. Rcf1 Qd8 29. Qg3 Re7 30. h4 Rbb7 31. e6 Rbc7 32. Qe5 Qe8 33. a4 Qd8 *";
/// Login at the broker of the hall. The password is that of [`Listener::with_login`].
const USER: &str = "kiebitz";
const MQTT_PASSWORD: &str = "secret";

/// The servers of a round, with the folders of their files.
struct Servers {
    ftp: Server,
    ssh: Server,
    /// Folder of the files on the WebDAV server, and whether its disk is full.
    dav: PathBuf,
    is_dav_full: Arc<AtomicBool>,
    dav_proxy: Proxy,
    /// Folder of the buckets, and whether their server answers 503.
    buckets: PathBuf,
    is_bucket_busy: Arc<AtomicBool>,
    bucket_proxy: Proxy,
    lichess: Lichess,
    lichess_proxy: Proxy,
    /// The broker in the hall, and its users.
    hall_broker: Mosquitto,
    users: PathBuf,
    /// The broker to which that of the hall forwards everything.
    centre: Mosquitto,
}

impl Servers {
    async fn start(folder: &Path) -> Self {
        let mut ftp = Server::new(Kind::Ftp, folder.join("ftp"));
        let mut ssh = Server::new(Kind::Ssh, folder.join("ssh"));
        ftp.start();
        ssh.start();
        fs::write(ftp.directory.join("login"), format!("club\n{PASSWORD}\n")).expect("a login");
        let (dav, is_dav_full) = (folder.join("dav"), Arc::new(AtomicBool::new(false)));
        let (buckets, is_bucket_busy) = (folder.join("buckets"), Arc::new(AtomicBool::new(false)));
        fs::create_dir_all(&dav).expect("a folder");
        fs::create_dir_all(buckets.join("chess")).expect("a bucket");
        let dav_address = webdav::serve(dav.clone(), Arc::clone(&is_dav_full)).await;
        let (bucket_address, _) =
            bucket::serve(&buckets, ([127, 0, 0, 1], 0).into(), Arc::clone(&is_bucket_busy)).await;
        let lichess = Lichess::start([]).await;
        let centre = Mosquitto::start().await;
        let users = folder.join("mqtt-users");
        make_users(&users, &[USER], MQTT_PASSWORD);
        let hall_broker = Mosquitto::configured(|port| {
            format!(
                "listener {port} 127.0.0.1\nallow_anonymous false\npassword_file {}\nconnection centre\naddress {}\n\
                 bridge_protocol_version mqttv50\ncleansession false\nlocal_username {USER}\n\
                 local_password {MQTT_PASSWORD}\nrestart_timeout 1\ntopic # out 1\n",
                users.display(),
                centre.address()
            )
        })
        .await;
        Self {
            ftp,
            ssh,
            dav_proxy: Proxy::to(dav_address).await,
            dav,
            is_dav_full,
            bucket_proxy: Proxy::to(bucket_address).await,
            buckets,
            is_bucket_busy,
            lichess_proxy: Proxy::to(lichess.address).await,
            lichess,
            hall_broker,
            users,
            centre,
        }
    }

    /// The tables of the configuration.
    fn settings(&self, folder: &Path) -> String {
        let path = |name: &str| folder.join(name);
        fs::write(path("dav-login"), format!("club\n{PASSWORD}\n")).expect("a login");
        let (key, secret) = bucket::KEY;
        fs::write(path("s3-key"), format!("{key}\n{secret}\n")).expect("a key");
        fs::write(path("mqtt-password"), MQTT_PASSWORD).expect("a password");
        format!(
            "[mqtt]\nurl = \"mqtt://{}\"\nuser = \"{USER}\"\npassword_file = {:?}\n[publish]\n\
             s3_endpoint = \"http://{}\"\ns3_region = \"eu-central-1\"\ns3_key_file = {:?}\n\
             webdav_login_file = {:?}\nsftp_host_key = \"{}\"\n{}{}\
             to = [\"s3://chess/open\", \"http://{}/open\", {:?}, {:?}, ",
            self.hall_broker.address(),
            path("mqtt-password"),
            self.bucket_proxy.address(),
            path("s3-key"),
            path("dav-login"),
            self.ssh.fingerprint(),
            self.ftp.settings(),
            self.ssh.settings(),
            self.dav_proxy.address(),
            self.ftp.target(),
            self.ssh.target(),
        )
    }

    /// Folders that must have the files of the broadcast.
    fn folders(&self) -> [PathBuf; 4] {
        [
            self.buckets.join("chess/open"),
            self.dav.join("open"),
            self.ftp.root().join("live/2026"),
            self.ssh.root().join("live/2026"),
        ]
    }

    fn kill(&mut self) {
        self.ftp.kill();
        self.ssh.kill();
        self.set_proxies(ProxyState::Shut);
        self.hall_broker.kill();
        self.centre.kill();
    }

    /// Starts the killed servers again. They have lost everything, and refuse what they get.
    async fn start_refusing(&mut self) {
        for folder in self.folders() {
            fs::remove_dir_all(folder).expect("files");
        }
        self.lichess.delete_broadcast();
        self.ftp.allow(false);
        self.ftp.start();
        self.ssh.set_read_only(true);
        self.ssh.start();
        self.set_refusing(true);
        self.set_proxies(ProxyState::Open);
        make_users(&self.users, &[USER], "another");
        self.hall_broker.start_again().await;
        self.centre.start_again().await;
    }

    async fn accept(&mut self) {
        self.ftp.allow(true);
        self.ssh.kill();
        self.ssh.set_read_only(false);
        self.ssh.start();
        self.set_refusing(false);
        make_users(&self.users, &[USER], MQTT_PASSWORD);
        self.hall_broker.kill();
        self.hall_broker.start_again().await;
    }

    fn set_refusing(&self, refusing: bool) {
        self.is_dav_full.store(refusing, Ordering::Relaxed);
        self.is_bucket_busy.store(refusing, Ordering::Relaxed);
        self.lichess.held.lock().expect("no panic").is_unavailable = refusing;
    }

    fn set_proxies(&self, state: ProxyState) {
        for proxy in [&self.dav_proxy, &self.bucket_proxy, &self.lichess_proxy] {
            proxy.set(state);
        }
    }
}

/// Lets the players make moves until every game has more of them, and stops the players.
async fn play(hall: &Hall, players: &mut Program, plies: usize) {
    players.type_line("");
    until("moves at every table", hall, async || {
        let mut plies_of = Vec::new();
        for table in 1..=TABLES {
            let game = hall.served(&format!("round-3/game-{table}.pgn")).await;
            plies_of.push(lichess::read(&game).expect("legal moves").moves.len());
        }
        plies_of.iter().all(|of_game| *of_game >= plies)
    })
    .await;
    players.type_line("wait all");
}

/// The games of a file of a round, by round and table.
fn chapters(pgn: &str) -> BTreeMap<String, Chapter> {
    let games = pgn.split("[Event ").skip(1);
    let read = games.map(|game| lichess::read(&format!("[Event {game}")).expect("legal moves"));
    read.map(|chapter| (chapter.tags["Round"].clone(), chapter))
        .collect()
}

type Played<'c> = BTreeMap<&'c str, (&'c [String], &'c [Option<String>])>;

/// Moves and clocks of games by round and table.
fn played(chapters: &BTreeMap<String, Chapter>) -> Played<'_> {
    let games = chapters.iter();
    games
        .map(|(table, chapter)| (&**table, (&*chapter.moves, &*chapter.clocks)))
        .collect()
}

/// The retained messages of a broker about the boards, by topic.
async fn retained(broker: &Mosquitto, user: Option<&str>) -> BTreeMap<String, Vec<u8>> {
    let listener = Listener::with_login("late", broker.address(), user, "kiebitz/#").await;
    let of_boards = || {
        let all = listener.retained().into_iter();
        all.filter(|(topic, _)| topic.contains("boards/"))
            .map(|(topic, publish)| (topic, publish.payload.to_vec()))
            .collect::<BTreeMap<_, _>>()
    };
    let has_games = || of_boards().keys().filter(|topic| topic.ends_with("/pgn")).count() == 2 * TABLES;
    listener.until("the games of all boards", |_| has_games()).await;
    of_boards()
}

fn log_has(hall: &Hall, sentences: &[&str]) -> bool {
    let log = hall.log();
    sentences.iter().all(|sentence| log.contains(sentence))
}

#[tokio::test]
async fn all_targets_of_a_round_are_equal_to_the_journal_after_all_troubles() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let mut servers = Servers::start(directory.path()).await;
    let mut lichess = servers.lichess.clone();
    lichess.address = servers.lichess_proxy.address();
    let hall = Hall::open(TABLES, &lichess, "");
    let config_file = hall.path().join("kiebitz.toml");
    let config = fs::read_to_string(&config_file).expect("a configuration");
    let config = config
        .replace("[publish]\nto = ", &servers.settings(directory.path()))
        .replace("/live\"\n", "/live\"]\n");
    fs::write(&config_file, config).expect("a configuration");
    let mut pairings = "round,board,white,black\n".to_owned();
    for table in 1..=TABLES {
        let _ = writeln!(pairings, "3,{table},White {table},Black {table}");
    }
    fs::write(hall.path().join("round.csv"), pairings).expect("pairings");
    let pgn = format!("[White \"a\"]\n[Black \"b\"]\n\n{MOVES}\n");
    fs::write(hall.path().join("game.pgn"), pgn).expect("games");
    let daemon = hall.daemon();
    let tables = TABLES.to_string();
    let emulate = [
        "emulate", "--boards", &*tables, "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
        "--wait",
    ];
    let mut players = Program::start(hall.path(), &emulate);
    let live = hall.path().join("live");
    let are_equal = |servers: &Servers| {
        let files = tree(&live);
        files.contains_key(Path::new("round-3/games.pgn"))
            && servers.folders().iter().all(|folder| tree(folder) == files)
    };
    play(&hall, &mut players, 2).await;
    until("the files on all servers", &hall, async || are_equal(&servers)).await;

    servers.kill();
    play(&hall, &mut players, 4).await;
    let names = [
        "s3://chess/open",
        "http://127.0.0.1",
        "ftp://127.0.0.1",
        "sftp://",
        "Lichess",
    ];
    let mut reports = names.map(|name| format!("cannot update {name}")).to_vec();
    reports.push("no connection to the MQTT broker".to_owned());
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    until("the dead servers are reported", &hall, async || {
        log_has(&hall, &reports)
    })
    .await;

    servers.start_refusing().await;
    // The daemon may write a file meanwhile.
    until("a file in place of the folder", &hall, async || {
        let _ = fs::remove_dir_all(&live);
        fs::write(&live, "in the way").is_ok()
    })
    .await;
    play(&hall, &mut players, 6).await;
    let reports = [
        "s3://chess/open: cannot write",
        "the server has no space left: delete files there",
        "the server rejects the login",
        "the login has no permission to change the folder",
        "Lichess answered 503",
        "the broker rejects the user",
        "/live: cannot create",
    ];
    until("all refusals are reported", &hall, async || {
        log_has(&hall, &reports)
    })
    .await;

    servers.accept().await;
    fs::remove_file(&live).expect("a file");
    play(&hall, &mut players, 8).await;
    // The clocks of the last positions would run on.
    drop(players);
    until("all boards are unplugged", &hall, async || {
        hall.log().matches("disconnected: unplugged").count() == TABLES
    })
    .await;
    until("the files on all servers after all troubles", &hall, async || {
        let games = chapters(&hall.on_disk("round-3/games.pgn"));
        played(&games) == played(&hall.played()) && are_equal(&servers)
    })
    .await;
    let journal = hall.played();
    assert_eq!(journal.len(), TABLES);
    for (path, content) in tree(&live) {
        let path = path.to_str().expect("UTF-8");
        if !path.ends_with(".png") {
            assert_eq!(hall.served(path).await.into_bytes(), content, "{path}");
        }
    }
    until("the games on Lichess", &hall, async || {
        let round = lichess
            .see(|held| held.rounds.get("Round 3").cloned())
            .unwrap_or_default();
        let games = round
            .into_iter()
            .map(|chapter| (chapter.tags["Round"].clone(), chapter));
        played(&games.collect()) == played(&journal)
    })
    .await;
    until("the retained messages of both brokers", &hall, async || {
        let of_hall = retained(&servers.hall_broker, Some(USER)).await;
        let games = (1..=TABLES).map(|table| {
            let pgn = String::from_utf8_lossy(&of_hall[&format!("boards/board-{table}/pgn")]);
            (format!("3.{table}"), lichess::read(&pgn).expect("legal moves"))
        });
        played(&games.collect()) == played(&journal) && retained(&servers.centre, None).await == of_hall
    })
    .await;
    lichess.see(|held| assert!(held.refused.is_empty(), "{:?}", held.refused));
    daemon.stop();
}
