//! Logins at the desk against hostile clients.

use reqwest::StatusCode;
use reqwest::header::RETRY_AFTER;
use serde_json::json;

use super::{Guest, configure, sent};
use crate::mosquitto::free_port;
use crate::spectators::Program;

/// Upper bound for the resident memory of the program, in bytes.
const MAX_MEMORY: u64 = 80 << 20;

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
    let guest = Guest::new(port);
    guest.wait().await;
    let mut checked = 0;
    for round in 0..6 {
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
