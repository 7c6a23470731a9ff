//! The desk of a computer whose users' file is empty.

use serde_json::{Value, json};

use super::{Guest, configure, sent, user};
use crate::mosquitto::free_port;
use crate::spectators::Program;

#[tokio::test]
async fn the_first_operator_is_created_with_the_code_of_the_log() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    std::fs::remove_file(folder.join("users")).expect("users");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let mut guest = Guest::new(port);
    guest.wait().await;
    let log = std::fs::read_to_string(folder.join("log")).expect("a log");
    let (_, code) = log.split_once("first operator with the code ").expect("a code");
    let code = code.split_whitespace().next().expect("a code");
    assert_eq!(code.len(), 10, "{code}");

    let session = sent(guest.get("session")).await;
    assert_eq!(session.status(), 401);
    let answer: Value = serde_json::from_str(&session.text().await.expect("an answer")).expect("JSON");
    assert_eq!(answer["first"], true);
    let create = |code: &str, user: &str, password: &str| {
        guest.post(
            "first",
            &json!({"code": code, "user": user, "password": password}),
        )
    };
    assert_eq!(
        sent(create("AAAAAAAAAA", "chief", "operate-it")).await.status(),
        401
    );
    let short = sent(create(code, "chief", "short")).await;
    assert_eq!(short.status(), 422);
    assert!(short.text().await.expect("an answer").contains("8 characters"));
    assert!(!folder.join("users").exists(), "nobody is made by that");
    let (begin, end) = code.split_at(5);
    let typed = format!("{}-{}", begin.to_lowercase(), end.to_lowercase());
    let made = sent(create(&typed, "chief", "operate-it")).await;
    assert_eq!(made.status(), 200);
    assert!(made.headers().contains_key("set-cookie"), "they are logged in");
    assert!(made.text().await.expect("an answer").contains("operator"));
    assert_eq!(
        sent(create(code, "other", "operate-it")).await.status(),
        404,
        "it is used up"
    );
    assert_eq!(guest.log_in("chief", "operate-it").await, 200);
    assert_eq!(sent(guest.get("pairings")).await.status(), 200, "as an operator");
    daemon.stop();

    std::fs::write(folder.join("log"), "").expect("a log");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    guest.wait().await;
    let log = std::fs::read_to_string(folder.join("log")).expect("a log");
    assert!(!log.contains("with the code"), "{log}");
    let session = sent(guest.get("session")).await.text().await.expect("an answer");
    assert!(!session.contains("\"first\""), "{session}");
    daemon.stop();
}

/// Users can be added by hand while the desk still offers the code.
#[tokio::test]
async fn after_a_user_was_added_by_hand_the_desk_asks_for_the_login() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let (folder, port) = (directory.path(), free_port());
    configure(folder, port);
    std::fs::write(folder.join("users"), "").expect("users");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    let mut guest = Guest::new(port);
    guest.wait().await;
    let session = sent(guest.get("session")).await.text().await.expect("an answer");
    assert!(session.contains("\"first\":true"), "{session}");
    std::fs::write(folder.join("users"), user("chief", "operator", "operate-it")).expect("a user");
    let session = sent(guest.get("session")).await;
    assert_eq!(session.status(), 401);
    let session = session.text().await.expect("an answer");
    assert!(!session.contains("\"first\""), "{session}");
    assert_eq!(guest.log_in("chief", "operate-it").await, 200);
    daemon.stop();
}
