//! Tests with an FTP server that imitates the faults of real ones.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::*;
use crate::outputs::broadcast::opened::{Access, OpenedTarget};
use crate::outputs::broadcast::settings::Target;

/// Timeout that is much longer than any operation.
const PATIENCE: Duration = Duration::from_secs(300);

/// An FTP server whose replies contain an address that is not its own, as behind NAT.
#[derive(Debug, Default)]
struct Ftp {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    folders: Mutex<BTreeSet<String>>,
    /// Whether to store only half of each file, and to report a full disk.
    is_full: AtomicBool,
    /// Whether to leave uploads unanswered.
    hangs: AtomicBool,
    /// Answer to NLST. If it is empty, the server sends an endless list.
    listed: Mutex<String>,
    /// Whether to close a connection after a file has been renamed.
    closes: AtomicBool,
}

impl Ftp {
    async fn start() -> (Arc<Self>, SocketAddr) {
        let server = Arc::new(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let serving = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&serving).serve(stream));
            }
        });
        (server, address)
    }

    async fn serve(self: Arc<Self>, stream: TcpStream) {
        let (mut lines, mut writer) = (BufReader::new(stream), None::<TcpListener>);
        let mut renamed = String::new();
        let mut reply = "220-Welcome\r\n220 ready".to_owned();
        loop {
            let sent = lines.get_mut().write_all(format!("{reply}\r\n").as_bytes()).await;
            let mut line = String::new();
            if sent.is_err() || !matches!(lines.read_line(&mut line).await, Ok(1..)) {
                return;
            }
            let line = line.trim_end();
            let (command, argument) = line.split_once(' ').unwrap_or((line, ""));
            reply = match command {
                "USER" => "331 password".to_owned(),
                "PASS" if argument == "open-sesame" => "230 welcome".to_owned(),
                "PASS" => "530-No\r\n530 Wrong password.".to_owned(),
                "TYPE" | "NOOP" => "200 ok".to_owned(),
                "PASV" => {
                    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
                    let port = listener.local_addr().expect("an address").port();
                    writer = Some(listener);
                    format!(
                        "227 Entering Passive Mode (192,0,2,1,{},{})",
                        port / 256,
                        port % 256
                    )
                }
                "STOR" if self.hangs.load(Ordering::Relaxed) => core::future::pending().await,
                "STOR" => {
                    let folder = argument.rsplit_once('/').map_or("", |(folder, _)| folder);
                    if !folder.is_empty() && !self.folders.lock().expect("no panic").contains(folder) {
                        "550 No such directory".to_owned()
                    } else {
                        let opened = lines.get_mut().write_all(b"150 go on\r\n").await;
                        let data = writer.take().expect("PASV before").accept().await;
                        let mut content = Vec::new();
                        let read = data.expect("a connection").0.read_to_end(&mut content).await;
                        opened.and(read).expect("a transfer");
                        let is_full = self.is_full.load(Ordering::Relaxed);
                        if is_full {
                            content.truncate(content.len() / 2);
                        }
                        self.files
                            .lock()
                            .expect("no panic")
                            .insert(argument.to_owned(), content);
                        if is_full {
                            "552 Quota exceeded"
                        } else {
                            "226 stored"
                        }
                        .to_owned()
                    }
                }
                "NLST" => {
                    let opened = lines.get_mut().write_all(b"150 go on\r\n").await;
                    let data = writer.take().expect("PASV before").accept().await;
                    let mut data = data.expect("a connection").0;
                    let listed = self.listed.lock().expect("no panic").clone();
                    match &*listed {
                        "" => while data.write_all(b"file\r\n").await.is_ok() {},
                        listed => opened
                            .and(data.write_all(listed.as_bytes()).await)
                            .expect("a transfer"),
                    }
                    "226 listed".to_owned()
                }
                "MKD" if self.folders.lock().expect("no panic").insert(argument.to_owned()) => {
                    "257 made".to_owned()
                }
                "MKD" => "550 it exists".to_owned(),
                "DELE" if self.files.lock().expect("no panic").remove(argument).is_some() => {
                    "250 gone".to_owned()
                }
                "SIZE" if self.files.lock().expect("no panic").contains_key(argument) => "213 1".to_owned(),
                "RNFR" => {
                    argument.clone_into(&mut renamed);
                    "350 to what?".to_owned()
                }
                "RNTO" => {
                    let mut files = self.files.lock().expect("no panic");
                    if files.contains_key(argument) {
                        "550 it exists".to_owned()
                    } else {
                        let content = files.remove(&renamed).expect("RNFR before");
                        files.insert(argument.to_owned(), content);
                        "250 renamed".to_owned()
                    }
                }
                _ => "550 No such file".to_owned(),
            };
            if command == "RNTO" && self.closes.load(Ordering::Relaxed) {
                let _ = lines.get_mut().write_all(format!("{reply}\r\n").as_bytes()).await;
                return;
            }
        }
    }

    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        self.files.lock().expect("no panic").clone()
    }
}

/// Creates a folder on a server, with a login.
fn open(address: SocketAddr, directory: &Path, password: &str) -> FileServer {
    let login = directory.join("login");
    std::fs::write(&login, format!("club\n{password}\n")).expect("room");
    let mut settings = Publish::serving(([127, 0, 0, 1], 1).into());
    settings.ftp_login_file = Some(login);
    let place = format!("ftp://{address}/chess");
    FileServer::new(place.parse().expect("an address"), &settings).expect("a login")
}

#[tokio::test]
async fn a_file_is_replaced_on_a_server_that_does_not_rename_over_files() {
    let (ftp, address) = Ftp::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let target = open(address, directory.path(), "open-sesame");
    for content in ["old", "new"] {
        target
            .put("round-1/games.pgn", content.as_bytes())
            .await
            .expect("stored");
        let expected = ("chess/round-1/games.pgn".to_owned(), content.as_bytes().to_vec());
        assert_eq!(ftp.files(), BTreeMap::from([expected]));
    }
    assert_eq!(target.has("round-1/games.pgn").await, Ok(true));
    target.delete("round-1/games.pgn").await.expect("deleted");
    assert_eq!(target.has("round-1/games.pgn").await, Ok(false));
    target
        .delete("round-1/games.pgn")
        .await
        .expect("it is already gone");
}

#[tokio::test]
async fn a_connection_that_the_server_has_closed_is_replaced() {
    let (ftp, address) = Ftp::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let target = open(address, directory.path(), "open-sesame");
    ftp.closes.store(true, Ordering::Relaxed);
    for file in ["a", "b", "c"] {
        target.put(file, b"content").await.expect("stored");
    }
    assert_eq!(ftp.files().len(), 3);
}

#[tokio::test]
async fn a_full_disk_is_reported_and_keeps_no_partial_file() {
    let (ftp, address) = Ftp::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let target = open(address, directory.path(), "open-sesame");
    target.put("wall.json", b"old content").await.expect("stored");
    ftp.is_full.store(true, Ordering::Relaxed);
    assert_eq!(
        target.put("wall.json", b"new content").await,
        Err(StorageFailure::Full)
    );
    let expected = BTreeMap::from([("chess/wall.json".to_owned(), b"old content".to_vec())]);
    assert_eq!(ftp.files(), expected);
    ftp.is_full.store(false, Ordering::Relaxed);
    target.put("wall.json", b"new content").await.expect("stored");
    assert_eq!(ftp.files()["chess/wall.json"], b"new content");
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_and_tried_again() {
    let (ftp, address) = Ftp::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let server = Arc::new(open(address, directory.path(), "open-sesame"));
    let target = Target::Server(server.remote.clone());
    let opened = |patience| OpenedTarget::new(target.clone(), Access::Server(Arc::clone(&server)), patience);
    opened(PATIENCE).connect().await.expect("a login");
    ftp.hangs.store(true, Ordering::Relaxed);
    let put = opened(Duration::from_millis(200))
        .put("wall.json", "content".into())
        .await;
    assert_eq!(put, Err(StorageFailure::NoAnswer));
    ftp.hangs.store(false, Ordering::Relaxed);
    let put = opened(PATIENCE).put("wall.json", "content".into()).await;
    assert_eq!(put, Ok(()), "over a new connection, as the old one still waits");
}

#[tokio::test]
async fn a_list_of_too_many_files_is_given_up() {
    let (ftp, address) = Ftp::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let target = open(address, directory.path(), "open-sesame");
    assert_eq!(
        target.list("").await,
        Err(StorageFailure::ListTooLong),
        "a list without end"
    );
    let list = |files: usize| -> String { (0..files).map(|file| format!("chess/{file}\r\n")).collect() };
    *ftp.listed.lock().expect("no panic") = list(MAX_LISTED + 1);
    assert_eq!(target.list("").await, Err(StorageFailure::ListTooLong));
    *ftp.listed.lock().expect("no panic") = list(2);
    let expected = [("0".to_owned(), None), ("1".to_owned(), None)];
    assert_eq!(target.list("").await, Ok(Listing::from(expected)));
}

#[tokio::test]
async fn a_refused_login_names_the_setting_and_the_reason() {
    let (_ftp, address) = Ftp::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let refused = open(address, directory.path(), "wrong").connect().await;
    let sentence = refused.expect_err("a wrong password").to_string();
    assert_eq!(
        sentence,
        "the server rejects the login (Wrong password): correct the file `ftp_login_file` under [publish]"
    );
}

#[test]
fn settings_that_a_server_needs_are_reported_if_they_are_missing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    std::fs::write(path.join("login"), "club\nopen-sesame\n").expect("room");
    std::fs::write(path.join("key"), include_str!("keys/plain.key")).expect("room");
    std::fs::write(path.join("rsa"), include_str!("keys/rsa.key")).expect("room");
    std::fs::write(path.join("locked"), include_str!("keys/locked.key")).expect("room");
    let host_key = "sftp_host_key = \"SHA256:0odfdEQMFxBmigsQg1pLP2SXkdGOMcnmFkYC0RQwWCM\"\n";
    let file = |setting: &str, name: &str| format!("{setting} = {:?}\n", path.join(name));
    for (text, words) in [
        ("to = \"ftps://ftp.example\"\n".to_owned(), "set `ftp_login_file`"),
        (
            "to = \"ftps://ftp.example\"\n".to_owned() + &file("ftp_login_file", "login"),
            "",
        ),
        (
            "to = \"sftp://ssh.example\"\n".to_owned() + host_key,
            "set `sftp_key_file`",
        ),
        (
            "to = \"sftp://ssh.example\"\n".to_owned() + host_key + &file("sftp_key_file", "key"),
            "sftp://USER@ssh.example/chess",
        ),
        (
            "to = \"sftp://ssh.example\"\n".to_owned() + &file("sftp_login_file", "login"),
            "`sftp_host_key` is missing",
        ),
        (
            "to = \"sftp://ssh.example\"\n".to_owned() + host_key + &file("sftp_login_file", "login"),
            "",
        ),
        (
            "to = \"sftp://me@ssh.example\"\n".to_owned() + host_key + &file("sftp_key_file", "key"),
            "",
        ),
        (
            "to = \"sftp://me@ssh.example\"\n".to_owned() + host_key + &file("sftp_key_file", "rsa"),
            "make another key with `ssh-keygen -t ed25519`",
        ),
        (
            "to = \"sftp://me@ssh.example\"\n".to_owned() + host_key + &file("sftp_key_file", "locked"),
            "it has a passphrase",
        ),
        (
            "to = \"sftp://me@ssh.example\"\n".to_owned() + host_key + &file("sftp_key_file", "login"),
            "it must be a private key of OpenSSH",
        ),
    ] {
        let problems = setting_problems(&toml::from_str(&text).expect("settings"));
        match words {
            "" => assert_eq!(problems, Vec::<String>::new(), "{text}"),
            words => assert!(
                matches!(&*problems, [one] if one.contains(words)),
                "{text}: {problems:?}"
            ),
        }
    }
}

#[test]
fn a_path_begins_with_the_folder() {
    for (address, port, path) in [
        ("ftp://ftp.example", 21, "round-1/a.pgn"),
        (
            "ftps://ftp.example:2121/chess/2026/",
            2121,
            "chess/2026/round-1/a.pgn",
        ),
        ("sftp://[2001:db8::1]//srv/chess", 22, "/srv/chess/round-1/a.pgn"),
        ("sftp://ssh.example//", 22, "/round-1/a.pgn"),
    ] {
        let place: ServerFolder = address.parse().expect("an address");
        assert_eq!(
            (place.port(), &*place.path("round-1/a.pgn")),
            (port, path),
            "{address}"
        );
    }
}

#[test]
fn folders_above_a_file_begin_with_the_uppermost() {
    let folders = |path| folders_above(path).collect::<Vec<_>>();
    assert!(folders("wall.json").is_empty());
    assert!(folders("/wall.json").is_empty());
    assert_eq!(folders("a/b/wall.json"), ["a", "a/b"]);
    assert_eq!(folders("/srv/chess/wall.json"), ["/srv", "/srv/chess"]);
}
