//! A board in play, the program that watches it, a broker, and a subscriber.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kiebitz::journal::Journal;
use kiebitz::system_time::LiveTime;
use kiebitz::tools::emulate::EmulatedPort;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::Chance;
use rumqttc::v5::mqttbytes::v5::Publish;
use serde_json::Value;
use tempfile::TempDir;

use super::disk::Shim;
use crate::mosquitto::Mosquitto;
use crate::mqtt_world::{Listener, json, topic};
use kiebitz_workbench::soak::table::{self, Pace, Table};

/// An event as the subscriber received it.
pub(crate) struct Published {
    pub(crate) at: Timestamp,
    pub(crate) event: Event,
    pub(crate) payload: String,
    /// Whether the journal had the event when it was published.
    pub(crate) kept: bool,
}

/// The board, program, broker and subscriber of a test. Play goes on during every wait.
pub(crate) struct World {
    pub(crate) directory: TempDir,
    pub(crate) shim: Option<Shim>,
    /// Whether the system provides a directory in memory that outlives the program (`$RUNTIME_DIRECTORY`).
    pub(crate) has_memory: bool,
    _broker: Mosquitto,
    listener: Listener,
    table: Table,
    port: EmulatedPort,
    time: LiveTime,
    child: Option<Child>,
}

/// Fast players, and long games.
const PACE: Pace = Pace {
    thinking: 1..2,
    plies: 60..80,
};
/// Number of the table. It selects hurried players.
const NTH: usize = 2;
/// Timeout. Only failing tests wait this long.
const PATIENCE: Duration = Duration::from_secs(300);
/// Maximum time for an orderly shutdown, whatever the disk does.
const END: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(4);
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

impl World {
    pub(crate) async fn new(seed: u64) -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let broker = Mosquitto::start().await;
        let listener = Listener::start("listener", broker.address()).await;
        let time = LiveTime::start();
        let link = directory.path().join("port");
        let config = format!(
            "[daemon]\nname = \"pi\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{}\"\n[ports]\nusb = false\n\
             [[port]]\npath = {link:?}\nmode = \"single\"\n[[board]]\nserial = \"{}\"\nname = \"b\"\n",
            directory.path().join("state"),
            broker.address(),
            table::serial(NTH),
        );
        fs::write(directory.path().join("kiebitz.toml"), config).unwrap();
        Self {
            table: Table::new(time.now(), NTH, PACE, true, &mut Chance::new(seed)),
            port: EmulatedPort::open(Some(&link)).unwrap(),
            shim: None,
            has_memory: true,
            directory,
            _broker: broker,
            listener,
            time,
            child: None,
        }
    }

    /// Adds lines to the configuration: `of_mqtt` in the table `[mqtt]`, `more` at the end.
    pub(crate) fn configure(&self, of_mqtt: &str, more: &str) {
        let file = self.directory.path().join("kiebitz.toml");
        let config = fs::read_to_string(&file).unwrap();
        let config = config.replacen("[ports]", &format!("{of_mqtt}\n[ports]"), 1);
        fs::write(&file, format!("{config}\n{more}\n")).unwrap();
    }

    /// Last message on a topic, as JSON; `None` if there was none.
    pub(crate) fn last(&self, wanted: &str) -> Option<Value> {
        let inbox = self.listener.inbox();
        inbox.iter().rfind(|publish| topic(publish) == wanted).map(json)
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.state().join("journal.sqlite")
    }

    pub(crate) fn set_disk(&self, how: &str) {
        self.shim.as_ref().unwrap().set_disk(how);
    }

    pub(crate) fn start(&mut self) {
        let log = File::options()
            .append(true)
            .create(true)
            .open(self.directory.path().join("log"))
            .unwrap();
        let mut command = self.program();
        self.child = Some(command.stderr(log).spawn().unwrap());
    }

    /// The command to run the program with this state directory.
    pub(crate) fn program(&self) -> Command {
        let mut command = Command::new(crate::program());
        command
            .args(["run", "--config"])
            .arg(self.directory.path().join("kiebitz.toml"))
            .env_remove("KIEBITZ_LOG")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("RUNTIME_DIRECTORY")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if self.has_memory {
            command.env("RUNTIME_DIRECTORY", self.directory.path());
        }
        if let Some(shim) = &self.shim {
            shim.load(&self.state(), &mut command);
        }
        command
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends SIGKILL, like a power cut.
    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends SIGTERM. Checks that the program ends with code 0 and in time.
    pub(crate) async fn stop(&mut self) {
        let mut child = self.child.take().unwrap();
        let began = self.time.now();
        let sent = Command::new("kill").arg(child.id().to_string()).status().unwrap();
        assert!(sent.success());
        let mut ended = None;
        while ended.is_none() && self.time.now() < began + END * 2 {
            self.play_on().await;
            ended = child.try_wait().unwrap();
        }
        let took = self.time.now().saturating_duration_since(began);
        if ended.is_none() {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let code = ended.and_then(|status| status.code());
        assert!(
            code == Some(0) && took < END,
            "ended with {code:?} after {took:?}\n{}",
            self.log()
        );
    }

    /// Advances board and players for a moment.
    async fn play_on(&mut self) {
        let now = self.time.now();
        self.play(now);
        let mut buffer = [0; 64];
        while let Poll::Ready(read) = poll_fn(|cx| Poll::Ready(self.port.poll_read(cx, &mut buffer))).await {
            let count = read.unwrap();
            self.table.player.handle_bytes(now, &buffer[..count]);
        }
        self.play(now);
        self.port.maintain(now).unwrap();
        self.time.until(now + TICK).await;
    }

    fn play(&mut self, now: Timestamp) {
        self.table.due = self.table.player.poll_deadline();
        while let Some(due) = self.table.due.filter(|due| *due <= now) {
            while let Some((_, bytes)) = self.table.player.poll_transmit(due) {
                self.port.send(&bytes).unwrap();
            }
            self.table.follow(due, Timestamp::from_micros(i64::MAX));
        }
    }

    /// Plays until `wanted` holds. Fails if the program ends meanwhile, or after the timeout.
    pub(crate) async fn until(&mut self, goal: &str, mut wanted: impl FnMut(&Self) -> bool) {
        let end = self.time.now() + PATIENCE;
        let mut next_check = self.time.now();
        loop {
            self.play_on().await;
            let now = self.time.now();
            if now < next_check {
                continue;
            }
            if wanted(self) {
                return;
            }
            next_check = now + CHECK_INTERVAL;
            let ended = self
                .child
                .as_mut()
                .is_some_and(|child| child.try_wait().unwrap().is_some());
            assert!(
                now < end && !ended,
                "not in time: {goal}\n{}\n{}",
                self.daemon_state(),
                self.log()
            );
        }
    }

    /// Plays until `count` more moves are published with this value of `kept`.
    pub(crate) async fn until_moves(&mut self, goal: &str, count: usize, kept: bool) {
        let before = self.published().len();
        let wanted = |published: &Published| {
            published.kept == kept && matches!(published.event.kind, EventKind::MoveMade(_))
        };
        self.until(goal, |world| {
            world.published()[before..]
                .iter()
                .filter(|published| wanted(published))
                .count()
                >= count
        })
        .await;
    }

    /// Received events, in order of arrival.
    pub(crate) fn published(&self) -> Vec<Published> {
        let inbox = self.listener.timed_inbox();
        let events = inbox
            .iter()
            .filter(|(_, publish)| topic(publish) == "boards/b/events");
        let event = |(at, publish): &(Timestamp, Publish)| {
            let payload = String::from_utf8(publish.payload.to_vec()).unwrap();
            let properties = publish.properties.clone().unwrap_or_default().user_properties;
            Published {
                at: *at,
                event: serde_json::from_str(&payload).unwrap(),
                payload,
                kept: !properties.contains(&("kept".to_owned(), "false".to_owned())),
            }
        };
        events.map(event).collect()
    }

    /// Last published state of the daemon.
    pub(crate) fn daemon_state(&self) -> Value {
        let inbox = self.listener.inbox();
        let mut states = inbox
            .iter()
            .filter(|publish| topic(publish) == "daemons/pi/state");
        states.next_back().map_or(Value::Null, json)
    }

    /// Number and payload of the events in the journal.
    pub(crate) fn journaled(&self) -> Vec<(u64, String)> {
        let events = Journal::open_to_read(&self.file())
            .and_then(|journal| journal.events_after("live", "b", 0, usize::MAX >> 1));
        let events = events.unwrap_or_default().into_iter();
        events.map(|event| (event.seq, event.payload)).collect()
    }

    pub(crate) fn log(&self) -> String {
        log(self.directory.path())
    }
}

fn log(directory: &Path) -> String {
    fs::read_to_string(directory.join("log")).unwrap_or_default()
}

impl Drop for World {
    fn drop(&mut self) {
        // Fails if the program has already ended, which is the normal case.
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
