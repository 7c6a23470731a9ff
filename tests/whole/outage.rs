//! The broker is down for more events than the outbox can hold. The outbox then reads the rest from the journal.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::Result;
use kiebitz::journal::Journal;
use kiebitz::outputs::mqtt::{Backlog, BacklogEvent, ConnectionState, Message, Prefix};
use kiebitz::system_time::LiveTime;
use kiebitz_game::events::{Event, EventKind};
use rumqttc::v5::mqttbytes::v5::Publish;

use crate::mosquitto::{Mosquitto, Proxy, ProxyState};
use crate::mqtt_world::{Listener, Publisher, in_time, json, topic};

const BOARDS: [&str; 3] = ["a", "b", "c"];

/// Boards, their journal, and the outbox.
struct Hall {
    journal: Journal,
    publisher: Publisher,
    time: LiveTime,
    /// Number of the last event of every board.
    last: u64,
}

/// Lets the outbox read the events that the test has written.
#[derive(Debug)]
struct Kept(PathBuf);

impl Backlog for Kept {
    fn events_after(&self, board: &str, seq: u64, limit: usize) -> Result<Vec<BacklogEvent>> {
        let events = Journal::open_to_read(&self.0)?.events_after("live", board, seq, limit)?;
        let events = events.into_iter().map(|event| BacklogEvent {
            seq: event.seq,
            payload: event.payload.into(),
        });
        Ok(events.collect())
    }
}

impl Hall {
    fn publishing_to(proxy: &Proxy, directory: &Path) -> Self {
        let file = directory.join("journal.sqlite");
        Self {
            journal: Journal::open(&file).unwrap(),
            publisher: Publisher::with_backlog(proxy.address(), Some(Arc::new(Kept(file)))),
            time: LiveTime::start(),
            last: 0,
        }
    }

    /// Stores and publishes this many new events on every board, with a state message after each.
    fn publish_new(&mut self, events: u64) {
        let new: Vec<u64> = (self.last + 1..=self.last + events).collect();
        for seqs in new.chunks(100) {
            let mut messages = Vec::new();
            for board in BOARDS {
                let events = new_events(&self.time, board, seqs.iter().copied());
                self.journal.append(&events).unwrap();
                let topics = Prefix::live().board(board).unwrap();
                for event in events {
                    messages.push(Message::event(&topics.events().into(), &event));
                    messages.push(Message::retained(&topics.state().into(), &event.seq));
                }
            }
            self.publisher.outbox.publish(messages);
        }
        self.last += events;
    }
}

fn new_events(time: &LiveTime, board: &str, seqs: impl Iterator<Item = u64>) -> Vec<Event> {
    let event = |seq| Event {
        v: 1,
        stream: "live".to_owned(),
        seq,
        ts: time.now(),
        at: None,
        board: board.to_owned(),
        game: None,
        kind: EventKind::ClockConnected {},
    };
    seqs.map(event).collect()
}

/// Last event number of each board, ignoring repetitions. Panics if an event is missing.
fn kept_by_seq(inbox: &[Publish]) -> BTreeMap<String, u64> {
    let mut kept = BTreeMap::new();
    for publish in inbox.iter().filter(|publish| topic(publish).ends_with("/events")) {
        let event = json(publish);
        let seq = event["seq"].as_u64().unwrap();
        let board = event["board"].as_str().unwrap().to_owned();
        let last = kept.entry(board).or_insert(0);
        assert!(seq <= *last + 1, "{seq} comes after {last}");
        *last = seq.max(*last);
    }
    kept
}

fn all_boards_at(last: u64) -> BTreeMap<String, u64> {
    BOARDS.iter().map(|board| ((*board).to_owned(), last)).collect()
}

#[tokio::test]
async fn an_outage_beyond_the_outbox_loses_no_event() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let proxy = Proxy::to(broker.address()).await;
    let listener = Listener::start("listener", broker.address()).await;
    let mut hall = Hall::publishing_to(&proxy, directory.path());
    hall.publish_new(50);
    hall.publisher.drained().await;
    let mut progress = hall.publisher.outbox.progress();

    close(&proxy, &hall).await;
    hall.publish_new(1500);
    let behind = progress.wait_for(|progress| progress.behind == BOARDS.len());
    in_time("no more room", behind).await.unwrap();
    let room = progress.wait_for(|progress| progress.queued < 2100);
    in_time("memory is bounded", room).await.unwrap();

    // The connection is lost again before everything is delivered, and more events are published meanwhile.
    for _ in 0..2 {
        let before = progress.borrow().acknowledged["a"];
        proxy.set(ProxyState::Open);
        let progressed = progress.wait_for(|progress| progress.acknowledged["a"] > before + 200);
        in_time("some of it", progressed).await.unwrap();
        hall.publish_new(10);
        assert!(progress.borrow().behind > 0, "there is more to come");
        close(&proxy, &hall).await;
        hall.publish_new(100);
    }
    proxy.set(ProxyState::Open);
    hall.publisher.drained().await;
    hall.publish_new(10);
    hall.publisher.drained().await;

    let late = Listener::start("late", broker.address()).await;
    for board in BOARDS {
        late.has(&format!("boards/{board}/state")).await;
        let state = &late.retained()[&format!("boards/{board}/state")];
        assert_eq!(json(state).as_u64(), Some(hall.last));
        assert_eq!(progress.borrow().acknowledged.get(board), Some(&hall.last));
    }
    let all = all_boards_at(hall.last);
    listener
        .until("all of it", |inbox| kept_by_seq(inbox) == all)
        .await;
    hall.publisher.stop().await;
}

#[tokio::test]
async fn offline_comes_after_the_events_read_at_the_end() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let proxy = Proxy::to(broker.address()).await;
    let listener = Listener::start("listener", broker.address()).await;
    proxy.set(ProxyState::Shut);
    let mut hall = Hall::publishing_to(&proxy, directory.path());
    hall.publish_new(1000);
    let mut progress = hall.publisher.outbox.progress();
    let behind = progress.wait_for(|progress| progress.behind == BOARDS.len());
    in_time("no more room", behind).await.unwrap();
    proxy.set(ProxyState::Open);
    let mut connection = hall.publisher.outbox.connection();
    let connected = connection.wait_for(|state| *state == ConnectionState::Connected);
    in_time("a connection", connected).await.unwrap();
    hall.publisher.stop().await;
    listener.until("offline", is_offline).await;
    assert_eq!(kept_by_seq(&listener.inbox()), all_boards_at(1000));
}

/// Whether offline was the last message.
fn is_offline(inbox: &[Publish]) -> bool {
    inbox.last().is_some_and(|last| json(last)["state"] == "offline")
}

/// Cuts the connection and waits until the outbox notices.
async fn close(proxy: &Proxy, hall: &Hall) {
    proxy.set(ProxyState::Shut);
    let mut connection = hall.publisher.outbox.connection();
    let lost = connection.wait_for(|state| *state != ConnectionState::Connected);
    in_time("the loss is noticed", lost).await.unwrap();
}

/// `kiebitz run`. Killed when it is dropped.
pub(crate) struct Program(Child);

impl Program {
    /// Starts the program with the configuration and log file in this directory.
    pub(crate) fn start(directory: &Path) -> Self {
        Self::start_with(directory, &[])
    }

    /// Like [`start`](Self::start), with environment variables.
    pub(crate) fn start_with(directory: &Path, variables: &[(&str, &Path)]) -> Self {
        let log = File::options()
            .append(true)
            .create(true)
            .open(directory.join("log"))
            .unwrap();
        let child = Command::new(crate::program())
            .args(["run", "--config", "kiebitz.toml"])
            .current_dir(directory)
            .env_remove("KIEBITZ_LOG")
            .env_remove("CREDENTIALS_DIRECTORY")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Fails if the program has already ended, which is the normal case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_program_reads_missed_events_from_its_journal() {
    const EVENTS: u64 = 2000;
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let broker = Mosquitto::start().await;
    let config = format!(
        "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{}\"\n[ports]\nusb = false\n",
        directory.path().join("state"),
        broker.address()
    );
    std::fs::write(directory.path().join("kiebitz.toml"), config).unwrap();
    let file = directory.path().join("state/journal.sqlite");
    let mut journal = Journal::open(&file).unwrap();
    let time = LiveTime::start();
    for board in BOARDS {
        journal.append(&new_events(&time, board, 1..=EVENTS)).unwrap();
    }
    journal
        .acknowledge("mqtt", "live", BOARDS.map(|board| (board, 0)))
        .unwrap();

    let listener = Listener::start("listener", broker.address()).await;
    let inbox = |inbox: &[Publish]| {
        inbox
            .iter()
            .filter(|publish| topic(publish).ends_with("/events"))
            .count()
    };
    let killed = Program::start(directory.path());
    listener
        .until("some of it", |publishes| inbox(publishes) > EVENTS as usize / 2)
        .await;
    drop(killed);
    listener.until("the last will", is_offline).await;
    let before = listener.inbox().len();
    let mut program = Program::start(directory.path());
    let is_online = |publish: &Publish| json(publish)["state"] == "online";
    listener
        .until("online again", |inbox| inbox[before..].iter().any(is_online))
        .await;
    let all = all_boards_at(EVENTS);
    listener
        .until("all of it", |inbox| kept_by_seq(inbox) == all)
        .await;
    let sent = Command::new("kill").arg(program.0.id().to_string()).status();
    assert!(sent.unwrap().success());
    assert_eq!(program.0.wait().unwrap().code(), Some(0));
    listener.until("offline", is_offline).await;
    assert_eq!(journal.unsent("mqtt", "live").unwrap(), []);
}
