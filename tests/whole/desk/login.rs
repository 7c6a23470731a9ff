//! Logins at the desk against hostile clients.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reqwest::header::RETRY_AFTER;
use reqwest::{Response, StatusCode};
use serde_json::json;

use super::{Guest, configure, sent};
use crate::eventually::PATIENCE;
use crate::mosquitto::free_port;
use crate::spectators::Program;

/// Upper bound for the resident memory of the program, in bytes. 38 MiB are for checking passwords.
const MAX_MEMORY: u64 = 64 << 20;

/// Sends wrong passwords for different names at the same time. Returns the status of each answer, and whether it says
/// when to try again.
async fn burst(guest: &Guest, names: impl Iterator<Item = String>) -> Vec<(StatusCode, bool)> {
    let tries = names.map(|name| {
        let guest = guest.clone();
        tokio::spawn(async move {
            let login = json!({"user": name, "password": "guessing"});
            let answer = sent(guest.post("session", &login)).await;
            (answer.status(), answer.headers().contains_key(RETRY_AFTER))
        })
    });
    let mut answers = Vec::new();
    for answer in tries.collect::<Vec<_>>() {
        answers.push(answer.await.expect("a task"));
    }
    answers
}

#[tokio::test]
async fn bursts_of_wrong_passwords_take_no_memory() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    Guest::new(port).wait().await;
    let mut checked = 0;
    for round in 1..=6 {
        let guest = Guest::at([127, 0, 0, round], port);
        let names = (0..40).map(|number| format!("guest-{round}-{number}"));
        for (status, says_when) in burst(&guest, names).await {
            match status.as_u16() {
                401 => checked += 1,
                429 | 503 => assert!(says_when, "{status}"),
                _ => panic!("{status}"),
            }
        }
    }
    assert!(checked >= 2, "{checked}");
    let memory = daemon.memory();
    assert!(memory < MAX_MEMORY, "{} MiB", memory >> 20);
    daemon.stop();
}

/// Sends wrong passwords for a user until the answer is that there were too many.
async fn guess(attacker: &mut Guest, name: &str) {
    for _ in 0..200 {
        if attacker.log_in(name, "guessing").await == StatusCode::TOO_MANY_REQUESTS {
            return;
        }
    }
    panic!("{name}: the number of attempts is not limited");
}

#[tokio::test]
async fn wrong_passwords_lock_out_neither_other_addresses_nor_known_devices() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let mut arbiter = Guest::new(port);
    arbiter.wait().await;
    assert_eq!(arbiter.log_in("meier", "rook-on-a1").await, 200);
    let first_session = arbiter.cookie.clone();

    guess(&mut Guest::new(port), "meier").await;
    assert_eq!(arbiter.log_in("meier", "rook-on-a1").await, 200, "a known device");
    assert_ne!(arbiter.cookie, first_session);
    let mut other = Guest::at([127, 0, 0, 2], port);
    assert_eq!(other.log_in("meier", "rook-on-a1").await, 200, "another address");
    assert_eq!(
        Guest::new(port).log_in("ott", "rook-on-h1").await,
        200,
        "another name"
    );
    daemon.stop();

    // The key that signs the cookies of devices outlasts a restart.
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    arbiter.wait().await;
    guess(&mut Guest::new(port), "meier").await;
    assert_eq!(arbiter.log_in("meier", "rook-on-a1").await, 200, "a known device");
    daemon.stop();
}

/// Reads a stream to its end. Returns whether the last message says that the session is over.
async fn is_over(mut stream: Response) -> bool {
    let mut text = String::new();
    let reading = async {
        while let Some(chunk) = stream.chunk().await.expect("a stream") {
            text.push_str(core::str::from_utf8(&chunk).expect("UTF-8"));
        }
    };
    let ended = tokio::time::timeout(PATIENCE, reading).await;
    ended.is_ok() && text.ends_with("event: over\ndata: {}\n\n")
}

/// Removes two users, makes an arbiter a viewer, and logs the latter out. The streams of all three end, and only theirs.
async fn sessions_end(folder: &Path, port: u16) {
    let users = std::fs::read_to_string(folder.join("users")).expect("users");
    let chief = super::user("chief", "operator", "operate-it");
    std::fs::write(folder.join("users"), format!("{users}{chief}")).expect("users");
    let log_in = async |name: &str, password: &str| {
        let mut guest = Guest::new(port);
        guest.wait().await;
        assert_eq!(guest.log_in(name, password).await, 200, "{name}");
        let stream = sent(guest.get("stream")).await;
        assert_eq!(stream.status(), 200);
        (guest, stream)
    };
    let (meier, of_meier) = log_in("meier", "rook-on-a1").await;
    let (ott, of_ott) = log_in("ott", "rook-on-h1").await;
    let (chief, of_chief) = log_in("chief", "operate-it").await;
    let (hall, mut of_hall) = log_in("hall", "look-at-it").await;
    let changed: String = users
        .lines()
        .filter(|line| !line.starts_with("ott "))
        .map(|line| line.replace("meier arbiter", "meier viewer") + "\n")
        .collect();
    std::fs::write(folder.join("users"), changed).expect("users");
    for (guest, stream) in [(&meier, of_meier), (&ott, of_ott), (&chief, of_chief)] {
        assert!(is_over(stream).await);
        assert_eq!(sent(guest.get("session")).await.status(), 401);
    }
    let (meier, of_meier) = log_in("meier", "rook-on-a1").await;
    let table = meier
        .command(json!({"id": "1", "do": "annotate", "text": "a viewer"}))
        .await;
    assert_eq!(table.0, 403, "{}", table.1);
    meier.log_out().await;
    assert!(is_over(of_meier).await);
    assert_eq!(sent(hall.get("session")).await.status(), 200);
    assert!(of_hall.chunk().await.expect("a stream").is_some());
}

#[tokio::test]
async fn changes_of_users_and_logouts_end_open_streams() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    sessions_end(folder, port).await;
    daemon.stop();
}

#[tokio::test]
async fn changes_of_users_and_logouts_end_open_streams_at_a_hub() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    // No broker runs at this address.
    let hub = format!(
        "[daemon]\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://127.0.0.1:{}\"\n\
         [desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {:?}\n",
        folder.join("state"),
        free_port(),
        folder.join("users"),
    );
    std::fs::write(folder.join("hub.toml"), hub).expect("a configuration");
    let start = || Program::start(folder, &["hub", "--config", "hub.toml"]);
    let hub = start();
    sessions_end(folder, port).await;
    let mut guest = Guest::new(port);
    assert_eq!(guest.log_in("hall", "look-at-it").await, 200);
    hub.stop();
    let hub = start();
    guest.wait().await;
    assert_eq!(sent(guest.get("session")).await.status(), 200, "after a restart");
    hub.stop();
}

#[tokio::test]
async fn sessions_survive_a_restart_until_the_logout() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    let start = || Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let daemon = start();
    let (mut meier, mut ott) = (Guest::new(port), Guest::new(port));
    meier.wait().await;
    assert_eq!(meier.log_in("meier", "rook-on-a1").await, 200);
    assert_eq!(ott.log_in("ott", "rook-on-h1").await, 200);
    let file = folder.join("state/desk-logins.json");
    let mode = std::fs::metadata(&file)
        .expect("the file of sessions")
        .permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    ott.log_out().await;
    // Killed: answered log-ins and log-outs are stored.
    drop(daemon);
    let daemon = start();
    meier.wait().await;
    assert_eq!(sent(meier.get("stream")).await.status(), 200);
    assert_eq!(sent(ott.get("stream")).await.status(), 401);
    daemon.stop();
}
