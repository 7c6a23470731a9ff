//! Commands from the desk while the journal is locked, and kills at any moment between a command and its answer.

use core::time::Duration;
use std::fs;

use kiebitz::journal::Journal;
use kiebitz_game::events::EventKind;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

use super::disk::Holder;
use super::world::World;
use crate::mosquitto::free_port;

/// An arbiter whom a proxy has logged in.
#[derive(Clone)]
struct Arbiter {
    http: Client,
    port: u16,
    cookie: String,
}

impl Arbiter {
    fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.header("remote-user", "meier").header("kiebitz-desk", "1");
        request.header(COOKIE, &self.cookie)
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Begins a session, as soon as the desk is served.
    async fn log_in(port: u16, world: &World) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut arbiter = Self {
            http: Client::new(),
            port,
            cookie: String::new(),
        };
        let welcome = async {
            loop {
                let answer = arbiter
                    .authorized(arbiter.http.get(arbiter.url("session")))
                    .send()
                    .await;
                match answer {
                    Ok(answer) if answer.status().is_success() => return answer,
                    _ => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let Ok(welcome) = tokio::time::timeout(Duration::from_secs(300), welcome).await else {
            panic!("the desk is not served\n{}", world.log());
        };
        let cookie = welcome.headers()[SET_COOKIE].to_str().unwrap();
        arbiter.cookie = cookie.split(';').next().unwrap().to_owned();
        arbiter
    }

    /// Sends a command and returns the answer. `None` if the request fails.
    async fn click(self, id: String) -> Option<Value> {
        let command = json!({"id": id, "do": "annotate", "text": format!("note {id}")});
        let body = json!({"board": "b", "command": command}).to_string();
        let request = self.authorized(self.http.post(self.url("command")));
        let request = request.header("content-type", "application/json").body(body);
        let answer = request.send().await.ok()?;
        let status = answer.status();
        let text = answer.text().await.ok()?;
        let answer: Value = serde_json::from_str(&text).ok()?;
        assert!(status.is_success() && answer["ok"] == true, "{status}: {answer}");
        Some(answer)
    }
}

/// Ids of the commands in the journal.
fn stored(world: &World) -> Vec<String> {
    let journal = Journal::open_to_read(&world.file()).unwrap();
    let taken = journal.commands("live", "b", 0).unwrap().into_iter();
    let id = |kind| match kind {
        EventKind::CommandTaken { id, .. } => Some(id),
        _ => None,
    };
    taken.filter_map(|event| id(event.kind)).collect()
}

async fn world_with_desk(seed: u64) -> (World, u16) {
    let world = World::new(seed).await;
    let (port, users) = (free_port(), world.directory.path().join("users"));
    fs::write(&users, "meier arbiter -\n").unwrap();
    let desk = format!(
        "[desk]\nlisten = \"127.0.0.1:{port}\"\nusers_file = {users:?}\nuser_header = \"Remote-User\"\nproxies = [\"127.0.0.1\"]"
    );
    world.configure("", &desk);
    (world, port)
}

/// An answered command is in the journal, no matter when the program was killed, unless the answer reported that it was
/// not stored.
#[tokio::test]
async fn a_click_that_was_answered_is_stored_whenever_the_program_is_killed() {
    let (mut world, port) = world_with_desk(51).await;
    world.start();
    world.until_moves("moves", 1, true).await;
    let mut confirmed = Vec::new();
    for nth in 0..24_u64 {
        let arbiter = Arbiter::log_in(port, &world).await;
        // In turn: without a lock, with a lock that ends before the kill, and with a lock that does not.
        let mut holder = Holder::new();
        if nth % 3 > 0 {
            holder.hold(&world.file());
        }
        let id = format!("click-{nth}");
        let click = tokio::spawn(arbiter.clone().click(id.clone()));
        tokio::time::sleep(Duration::from_millis(nth * 7 % 90)).await;
        if nth % 3 == 1 {
            holder.let_go();
        }
        tokio::time::sleep(Duration::from_millis(nth * 11 % 60)).await;
        world.kill();
        holder.let_go();
        let answer = click.await.unwrap();
        if answer.is_some_and(|answer| answer.get("kept").is_none()) {
            confirmed.push(id);
        }
        let stored = stored(&world);
        let lost: Vec<_> = confirmed.iter().filter(|id| !stored.contains(id)).collect();
        assert!(lost.is_empty(), "lost: {lost:?}\n{}", world.log());
        world.start();
    }
    // A client that waits for the answer gets it.
    let arbiter = Arbiter::log_in(port, &world).await;
    let answer = arbiter.click("last".to_owned()).await.unwrap();
    world.kill();
    assert_eq!(answer.get("kept"), None, "{answer}");
    assert!(stored(&world).contains(&"last".to_owned()), "{answer}");
}

/// While the journal is locked, answers report that the command is not stored.
#[tokio::test]
async fn a_click_during_a_journal_lock_is_answered_as_not_stored() {
    let (mut world, port) = world_with_desk(52).await;
    world.start();
    world.until_moves("moves", 1, true).await;
    let arbiter = Arbiter::log_in(port, &world).await;
    let mut holder = Holder::new();
    holder.hold(&world.file());
    for id in ["first", "second"] {
        let answer = arbiter.clone().click(id.to_owned()).await.unwrap();
        assert_eq!(answer["kept"], false, "{answer}");
        assert_eq!(
            answer["note"],
            "done, but not stored yet: the disk does not answer"
        );
    }
    // Repeating the same command has no further effect.
    let again = arbiter.clone().click("first".to_owned()).await.unwrap();
    assert_eq!(again["kept"], false, "{again}");
    holder.let_go();
    world
        .until("the journal has both", |world| {
            let stored = stored(world);
            ["first", "second"]
                .iter()
                .all(|id| stored.contains(&(*id).to_owned()))
        })
        .await;
    world.until("it is well", super::is_well).await;
    let again = arbiter.click("first".to_owned()).await.unwrap();
    assert_eq!(again.get("kept"), None, "{again}");
    world.stop().await;
}
