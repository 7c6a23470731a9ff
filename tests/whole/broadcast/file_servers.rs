//! Publishes a round to real FTP and SFTP servers, which are killed, refuse the login and lose the files while games
//! are played.

use core::fmt::Write;
use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, getgid, getuid, kill_process};

use super::lichess::{self, Chapter, Lichess};
use super::{ENDLESS, Hall, MATE, until};
use crate::eventually::eventually;
use crate::mosquitto::free_port;
use crate::spectators::Program;

pub(super) const PASSWORD: &str = "open-sesame";

/// What a server speaks, and how one logs in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Refuses to replace files and announces a private address, as behind NAT.
    Ftp,
    Ftps,
    SftpWithPassword,
    /// OpenSSH, with a key for the login.
    Ssh,
}

/// A server with its files. Killed when it is dropped.
pub(super) struct Server {
    kind: Kind,
    pub(super) directory: PathBuf,
    port: u16,
    /// Whether an SSH server allows no changes.
    is_read_only: bool,
    child: Option<Child>,
}

impl Server {
    /// Prepares a server that accepts the login.
    pub(super) fn new(kind: Kind, directory: PathBuf) -> Self {
        fs::create_dir_all(directory.join("root")).expect("a folder");
        let server = Self {
            kind,
            directory,
            port: free_port(),
            is_read_only: false,
            child: None,
        };
        let path = |name: &str| server.directory.join(name);
        for key in ["host", "user"] {
            let file = path(key);
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(file));
        }
        if kind == Kind::Ftps {
            run(Command::new("openssl")
                .args([
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=club",
                ])
                .args([
                    "-addext",
                    "subjectAltName=DNS:localhost",
                    "-addext",
                    "basicConstraints=critical,CA:FALSE",
                ])
                .arg("-keyout")
                .arg(path("tls.key"))
                .arg("-out")
                .arg(path("tls.pem")));
        }
        fs::write(path("conf"), server.config()).expect("a configuration");
        server.allow(true);
        server
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    fn config(&self) -> String {
        let path = |name: &str| self.directory.join(name).display().to_string();
        let port = self.port;
        if self.kind == Kind::Ssh {
            let (host, users, pid) = (path("host"), path("users"), path("pid"));
            let option = if self.is_read_only { " -R" } else { "" };
            return format!(
                "Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nAuthorizedKeysFile {users}\nPidFile {pid}\n\
                 StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
                 Subsystem sftp internal-sftp{option}\n"
            );
        }
        let own = match self.kind {
            Kind::Ftp => "AllowOverwrite off\nMasqueradeAddress 192.0.2.1\n".to_owned(),
            Kind::Ftps => format!(
                "AllowOverwrite on\nLoadModule mod_tls.c\nTLSEngine on\nTLSRequired on\nTLSLog none\n\
                 TLSRSACertificateFile {}\nTLSRSACertificateKeyFile {}\n",
                path("tls.pem"),
                path("tls.key")
            ),
            _ => format!(
                "AllowOverwrite on\nLoadModule mod_sftp.c\nSFTPEngine on\nSFTPHostKey {}\nSFTPLog none\n",
                path("host")
            ),
        };
        let (user, group) = (name("-un"), name("-gn"));
        format!(
            "ServerType standalone\nServerName club\nDefaultServer on\nDefaultAddress 127.0.0.1\nPort {port}\n\
             UseIPv6 off\nUser {user}\nGroup {group}\nAuthPAM off\nAuthOrder mod_auth_file.c\nAuthUserFile {}\n\
             RequireValidShell off\nRootLogin on\nPidFile {}\nScoreboardFile none\nSystemLog {}\nWtmpLog off\n\
             DelayEngine off\nUseReverseDNS off\n{own}",
            path("users"),
            path("pid"),
            path("server-log"),
        )
    }

    /// Sets whether an SSH server allows no changes, from its next start on.
    pub(super) fn set_read_only(&mut self, is_read_only: bool) {
        self.is_read_only = is_read_only;
        fs::write(self.directory.join("conf"), self.config()).expect("a configuration");
    }

    /// The fingerprint of the host key of an SFTP server.
    pub(super) fn fingerprint(&self) -> String {
        let shown = output(
            Command::new("ssh-keygen")
                .arg("-lf")
                .arg(self.directory.join("host.pub")),
        );
        shown.split(' ').nth(1).expect("a fingerprint").to_owned()
    }

    /// Accepts the login from now on, or refuses it.
    pub(super) fn allow(&self, allowed: bool) {
        let file = self.directory.join("users");
        let users = match self.kind {
            Kind::Ssh if allowed => fs::read_to_string(self.directory.join("user.pub")).expect("a key"),
            Kind::Ssh => String::new(),
            _ => {
                let password = if allowed { PASSWORD } else { "another" };
                let hash = output(Command::new("openssl").args(["passwd", "-6", password]));
                let (user, group) = (getuid().as_raw(), getgid().as_raw());
                format!(
                    "club:{}:{user}:{group}::{}:/bin/sh\n",
                    hash.trim(),
                    self.root().display()
                )
            }
        };
        fs::write(&file, users).expect("users");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("own file");
    }

    pub(super) fn start(&mut self) {
        let config = self.directory.join("conf");
        let mut command = match self.kind {
            Kind::Ssh => {
                // Its package creates this directory when the service starts.
                let _ = fs::create_dir_all("/run/sshd");
                let mut command = Command::new(installed("sshd"));
                command.args(["-D", "-e", "-f"]).arg(config);
                command
            }
            _ => {
                let mut command = Command::new(installed("proftpd"));
                command.args(["-n", "-q", "-c"]).arg(config);
                command
            }
        };
        let log = fs::File::options()
            .append(true)
            .create(true)
            .open(self.directory.join("server-out"))
            .expect("a log");
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        self.child = Some(child.expect("the server starts"));
        eventually("the server answers", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// Kills the server and the processes of its connections.
    pub(super) fn kill(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let connections = descendants(child.id());
        child.kill().expect("the server can be killed");
        child.wait().expect("the server is gone");
        for connection in connections {
            let pid = Pid::from_raw(i32::try_from(connection).expect("a process")).expect("a process");
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// The address of the folder `live/2026` in the configuration, which does not exist.
    pub(super) fn target(&self) -> String {
        let port = self.port;
        match self.kind {
            Kind::Ftp => format!("ftp://127.0.0.1:{port}/live/2026"),
            Kind::Ftps => format!("ftps://localhost:{port}/live/2026"),
            Kind::SftpWithPassword => format!("sftp://127.0.0.1:{port}/live/2026"),
            Kind::Ssh => {
                let root = self.root();
                format!(
                    "sftp://{}@127.0.0.1:{port}/{}/live/2026",
                    name("-un"),
                    root.display()
                )
            }
        }
    }

    /// The settings of the login.
    pub(super) fn settings(&self) -> String {
        let path = |name: &str| self.directory.join(name);
        match self.kind {
            Kind::Ftp => format!("ftp_login_file = {:?}\n", path("login")),
            Kind::Ftps => format!(
                "ftp_login_file = {:?}\nca_file = {:?}\n",
                path("login"),
                path("tls.pem")
            ),
            Kind::SftpWithPassword => format!("sftp_login_file = {:?}\n", path("login")),
            Kind::Ssh => format!("sftp_key_file = {:?}\n", path("user")),
        }
    }
}

impl Kind {
    /// The setting that the message about a refused login names.
    const fn login_setting(self) -> &'static str {
        match self {
            Self::Ftp | Self::Ftps => "`ftp_login_file`",
            Self::SftpWithPassword => "`sftp_login_file`",
            Self::Ssh => "`sftp_key_file`",
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Processes that another one has started, and those that they have started.
fn descendants(of: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").expect("processes");
    let parents: Vec<(u32, u32)> = processes
        .filter_map(|process| {
            let process = process.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
            let (_, after_name) = stat.rsplit_once(')')?;
            Some((process, after_name.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = parents
            .iter()
            .filter(|(_, of)| *of == parent)
            .map(|(child, _)| *child);
        found.extend(children);
        next += 1;
    }
    found.split_off(1)
}

/// Path of a server. Debian installs servers in directories that are not in a user's `PATH`.
fn installed(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .map(|directory| directory.join(program))
        .find(|program| program.is_file())
        .unwrap_or_else(|| panic!("these tests need {program}, which is not installed: run tests/run"))
}

fn run(command: &mut Command) {
    let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(done.expect("it is installed").success(), "{command:?}");
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("it is installed");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The name of this user or its group.
fn name(option: &str) -> String {
    output(Command::new("id").arg(option)).trim().to_owned()
}

/// The content of all files below a folder, by path.
pub(super) fn tree(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(content) = fs::read(&path) {
                let relative = path.strip_prefix(folder).expect("it is below").to_owned();
                files.insert(relative, content);
            }
        }
    }
    files
}

/// Reads a round all the time, as a web server does.
struct Reader {
    stop: Arc<AtomicBool>,
    /// The thread, which returns how often it has read the round, or a content that was half written.
    thread: std::thread::JoinHandle<Result<u32, String>>,
}

impl Reader {
    fn start(file: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let is_whole = |text: &str| {
            let results = ["*", "1-0", "0-1", "1/2-1/2"];
            let last = text.split_whitespace().last().unwrap_or_default();
            text.matches("[Event ").count() == 2 && text.ends_with('\n') && results.contains(&last)
        };
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            while !stopped.load(Ordering::Relaxed) {
                match fs::read_to_string(&file) {
                    Ok(text) if !is_whole(&text) => return Err(text),
                    read => count += u32::from(read.is_ok()),
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(count)
        });
        Self { stop, thread }
    }

    /// Returns how often the round was read. Fails with a content that was half written.
    fn stop(self) -> Result<u32, String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("no panic")
    }
}

async fn is_filled_over_all_troubles(kind: Kind) {
    let lichess = Lichess::start([]).await;
    let hall = Hall::open(2, &lichess, "");
    let mut server = Server::new(kind, hall.path().join("server"));
    let (target, root) = (server.target(), server.root());
    let config_file = hall.path().join("kiebitz.toml");
    let config = fs::read_to_string(&config_file).expect("a configuration");
    let config = config
        .replace(
            "[publish]\nto = ",
            &format!("[publish]\n{}to = [{target:?}, ", server.settings()),
        )
        .replace("/live\"\n", "/live\"]\n");
    fs::write(&config_file, &config).expect("a configuration");
    fs::write(server.directory.join("login"), format!("club\n{PASSWORD}\n")).expect("a login");
    let pairings = "board,round,white,black\n1,3,Adler,Berg\n2,3,Clausen,Dorn\n";
    fs::write(hall.path().join("round.csv"), pairings).expect("pairings");
    let mut pgn = String::new();
    for moves in [MATE.to_owned() + " 1-0", ENDLESS.to_owned() + " *"] {
        let _ = write!(pgn, "[White \"a\"]\n[Black \"b\"]\n\n{moves}\n\n");
    }
    fs::write(hall.path().join("game.pgn"), pgn).expect("games");
    server.allow(false);
    server.start();

    let mut daemon = hall.daemon();
    if matches!(kind, Kind::SftpWithPassword | Kind::Ssh) {
        until("the unknown host key is shown", &hall, async || {
            hall.log().contains("the server shows the host key SHA256:")
        })
        .await;
        let log = hall.log();
        let (_, line) = log.split_once("write `sftp_host_key").expect("what to write");
        let (line, _) = line.split_once('`').expect("what to write");
        let with_key = config.replace("[publish]\n", &format!("[publish]\nsftp_host_key{line}\n"));
        fs::write(&config_file, with_key).expect("a configuration");
        daemon.stop();
        daemon = hall.daemon();
    }
    let refusals = || {
        let log = hall.log();
        let lines = log
            .lines()
            .filter(|line| line.contains("the server rejects the login"));
        lines.filter(|line| line.contains(kind.login_setting())).count()
    };
    until("the refused login is reported", &hall, async || refusals() == 1).await;
    assert!(tree(&root).is_empty(), "nothing is written without a login");
    server.allow(true);
    let folder = root.join("live/2026");
    let is_same = async || {
        let files = tree(&folder);
        files.contains_key(Path::new("round-3/games.pgn")) && files == tree(&hall.path().join("live"))
    };
    until("the files in the new folder", &hall, is_same).await;
    let reader = Reader::start(folder.join("round-3/games.pgn"));

    let emulate = [
        "emulate", "--boards", "2", "--hands", "blitz", "--pgn", "game.pgn", "--links", "links",
    ];
    let _boards = Program::start(hall.path(), &emulate);
    let moves_there =
        || fs::read_to_string(folder.join("round-3/game-2.pgn")).is_ok_and(|pgn| pgn.contains("1. d4"));
    until("a move on the server", &hall, async || moves_there()).await;
    server.kill();
    until("the dead server is reported", &hall, async || {
        hall.log().contains("cannot connect: Connection refused")
    })
    .await;
    server.allow(false);
    server.start();
    until("the second refusal is reported", &hall, async || refusals() == 2).await;
    fs::remove_dir_all(root.join("live")).expect("files");
    server.allow(true);
    until("the files after the refusal", &hall, is_same).await;
    fs::remove_dir_all(root.join("live")).expect("files");
    until("the files after the loss", &hall, is_same).await;
    assert!(
        hall.log().contains("files are missing; writing them again"),
        "{}",
        hall.log()
    );

    until("all moves on the disk", &hall, async || {
        hall.on_disk("round-3/game-2.pgn").contains("b6")
            && hall.on_disk("round-3/game-1.pgn").contains("1-0")
    })
    .await;
    until("all moves on the server", &hall, is_same).await;
    let games = fs::read_to_string(folder.join("round-3/games.pgn")).expect("games");
    let games = games
        .split("[Event ")
        .skip(1)
        .map(|game| format!("[Event {game}"));
    let published: Vec<Chapter> = games
        .map(|game| lichess::read(&game).expect("legal moves"))
        .collect();
    let played = hall.played();
    assert_eq!(published.len(), 2);
    for (chapter, plies) in published.iter().zip([7, 14]) {
        let of_journal = &played[&chapter.tags["Round"]];
        assert_eq!(
            (&chapter.moves, &chapter.clocks),
            (&of_journal.moves, &of_journal.clocks)
        );
        assert_eq!(chapter.moves.len(), plies);
    }
    assert!(reader.stop().expect("never half written") > 0, "it was read");
    assert!(!hall.log().contains(PASSWORD));
    daemon.stop();
}

#[tokio::test]
async fn an_ftp_server_that_replaces_no_files_is_filled_over_all_troubles() {
    is_filled_over_all_troubles(Kind::Ftp).await;
}

#[tokio::test]
async fn an_ftp_server_with_encryption_is_filled_over_all_troubles() {
    is_filled_over_all_troubles(Kind::Ftps).await;
}

#[tokio::test]
async fn an_sftp_server_with_a_password_is_filled_over_all_troubles() {
    is_filled_over_all_troubles(Kind::SftpWithPassword).await;
}

#[tokio::test]
async fn an_ssh_server_is_filled_over_all_troubles() {
    is_filled_over_all_troubles(Kind::Ssh).await;
}
