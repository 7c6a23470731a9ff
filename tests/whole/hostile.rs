//! Clients that hold connections of `kiebitz run` do not keep others out, and take no files from boards and journal.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kiebitz::system_time::LiveTime;

use crate::desk::{Guest, user};
use crate::eventually::eventually;
use crate::mosquitto::{Mosquitto, free_port};
use crate::mqtt_world::{Listener, json, topic};
use crate::spectators::Program;

const PART_OF_BODY: &str = "POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nKiebitz-Desk: 1\r\n\
                            Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
/// Soft limit of open files at the start: the daemon must raise it.
const SOFT_LIMIT: usize = 200;

/// A daemon, killed when it is dropped.
struct Daemon(Child);

impl Daemon {
    fn start(folder: &Path) -> Self {
        let command = format!("ulimit -Sn {SOFT_LIMIT}; exec \"$0\" run --config kiebitz.toml");
        let child = Command::new("sh")
            .args(["-c", &command])
            .arg(crate::program())
            .current_dir(folder)
            .env_remove("KIEBITZ_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(folder.join("log")).expect("a log"))
            .spawn();
        Self(child.expect("kiebitz runs"))
    }

    fn open_files(&self) -> usize {
        let files = fs::read_dir(format!("/proc/{}/fd", self.0.id()));
        files.expect("the files of the daemon").count()
    }

    /// Returns the CPU times of the thread of the web servers and of the main thread, in clock ticks.
    fn cpu_times(&self) -> [u64; 2] {
        let folder = format!("/proc/{}/task", self.0.id());
        let threads = fs::read_dir(&folder).expect("threads");
        let stats = threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("stat")).ok());
        let web = stats
            .filter(|stat| stat.contains(" (web) "))
            .find_map(|stat| ticks(&stat));
        let main = fs::read_to_string(format!("{folder}/{}/stat", self.0.id())).expect("the main thread");
        [web, ticks(&main)].map(|ticks| ticks.expect("a thread"))
    }

    /// Makes the daemon reload its configuration.
    fn hang_up(&self) {
        let sent = Command::new("kill")
            .args(["-HUP", &self.0.id().to_string()])
            .status();
        assert!(sent.expect("kill runs").success());
    }

    fn soft_limit(&self) -> usize {
        let limits = fs::read_to_string(format!("/proc/{}/limits", self.0.id())).expect("limits");
        let line = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"));
        let soft = line.and_then(|line| line.split_whitespace().next());
        soft.expect("a limit").parse().expect("a number")
    }
}

/// Returns the CPU time of a thread, as the kernel shows its state.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields
        .split(' ')
        .skip(11)
        .map_while(|field| field.parse::<u64>().ok());
    Some(times.next()? + times.next()?)
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn connections(port: u16, count: usize, request: &str) -> Vec<TcpStream> {
    let connect = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
        // Fails if the daemon has already closed the connection.
        let _ = stream.write_all(request.as_bytes());
        stream
    };
    (0..count).map(connect).collect()
}

fn fetch(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a server");
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    )
    .expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[tokio::test]
async fn connections_that_are_held_keep_nobody_out_and_leave_files() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    let (status, desk, wall) = (free_port(), free_port(), free_port());
    let config = format!(
        "[daemon]\nstate_directory = {:?}\n[ports]\nusb = false\n[http]\nlisten = \"127.0.0.1:{status}\"\n\
         [desk]\nlisten = \"127.0.0.1:{desk}\"\nusers_file = {:?}\n[publish]\nlisten = \"127.0.0.1:{wall}\"\n",
        folder.join("state"),
        folder.join("users"),
    );
    fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
    fs::write(
        folder.join("users"),
        user("meier", "operator", "correct horse battery"),
    )
    .expect("users");
    let daemon = Daemon::start(folder);
    Guest::new(desk).wait().await;
    assert!(daemon.soft_limit() > SOFT_LIMIT, "the limit is raised");

    let idle = connections(status, 500, "");
    let dripping = connections(desk, 100, PART_OF_BODY);
    let waiting = connections(wall, 500, "GET /wall.json HTTP/1.1\r\n");

    let mut meier = Guest::new(desk);
    assert_eq!(meier.log_in("meier", "correct horse battery").await, 200);
    assert_eq!(meier.log_in("meier", "wrong").await, 401);
    assert!(fetch(status, "/metrics").starts_with("HTTP/1.1 200"));
    assert!(fetch(wall, "/wall.json").starts_with("HTTP/1.1"));
    // 32, 64 and 256 connections, and the daemon's own files.
    let open_files = daemon.open_files();
    assert!(open_files < 500, "{open_files} open files");
    drop((idle, dripping, waiting));
}

/// Clients of the desk keep the thread of the web servers busy, but not the event loop with its boards.
#[tokio::test]
async fn answers_that_nobody_reads_do_not_delay_boards() {
    const REQUEST: &str = "GET /desk/desk.css HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n";
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    let (status, desk) = (free_port(), free_port());
    let config = format!(
        "[daemon]\nstate_directory = {:?}\n[ports]\nusb = false\n[http]\nlisten = \"127.0.0.1:{status}\"\n\
         [desk]\nlisten = \"127.0.0.1:{desk}\"\nusers_file = {:?}\n",
        folder.join("state"),
        folder.join("users"),
    );
    fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
    let daemon = Daemon::start(folder);
    Guest::new(desk).wait().await;
    let answers = || fetch(status, "/metrics").starts_with("HTTP/1.1 200");
    eventually("the daemon has started", answers);

    let before = daemon.cpu_times();
    let unread = connections(desk, 12, &REQUEST.repeat(900));
    eventually("the requests are served", || {
        daemon.cpu_times()[0] > before[0] + 5
    });
    eventually("the status is answered", answers);
    let after = daemon.cpu_times();
    let [web, boards] = [0, 1].map(|thread| after[thread] - before[thread]);
    assert!(boards < web, "{boards} ticks for boards, {web} for web clients");
    drop(unread);
}

/// Starts a daemon with this configuration, and returns it once the status is served.
async fn with_status(folder: &Path, status: u16) -> Daemon {
    let config = format!(
        "[daemon]\nstate_directory = {:?}\n[ports]\nusb = false\n[http]\nlisten = \"127.0.0.1:{status}\"\n",
        folder.join("state")
    );
    fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
    let daemon = Daemon::start(folder);
    Guest::new(status).wait().await;
    daemon
}

#[tokio::test]
async fn a_configuration_that_became_empty_or_a_pipe_is_refused_on_reload() {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    let status = free_port();
    let daemon = with_status(folder, status).await;
    let log = || fs::read_to_string(folder.join("log")).expect("a log");
    let file = folder.join("kiebitz.toml");

    fs::write(&file, "").expect("room");
    daemon.hang_up();
    eventually("the empty file is refused", || {
        log().contains("has no settings any more, which may be a mistake; the old configuration stays")
    });
    fs::remove_file(&file).expect("it is there");
    let made = Command::new("mkfifo").arg(&file).status();
    assert!(made.expect("mkfifo runs").success());
    daemon.hang_up();
    eventually("the pipe is refused", || {
        log().contains("this is a pipe or a device, not a file")
    });
    assert!(fetch(status, "/metrics").starts_with("HTTP/1.1 200"));
}

/// Every line in the log wears the memory card.
#[tokio::test]
async fn refused_commands_are_counted_in_the_log() {
    const COMMANDS: usize = 1_000;
    const BATCH: usize = 10;
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let folder = directory.path();
    let broker = Mosquitto::start().await;
    let listener = Listener::start("listener", broker.address()).await;
    let config = format!(
        "[daemon]\nname = \"hall\"\nstate_directory = {:?}\n[ports]\nusb = false\n\
         [mqtt]\nurl = \"mqtt://{}\"\ncommands = true\n",
        folder.join("state"),
        broker.address(),
    );
    fs::write(folder.join("kiebitz.toml"), config).expect("a configuration");
    let daemon = Program::start(folder, &["run", "--config", "kiebitz.toml"]);
    listener
        .until("the daemon is online", |inbox| {
            let mut states = inbox
                .iter()
                .filter(|publish| topic(publish) == "daemons/hall/state");
            states.any(|publish| json(publish)["state"] == "online")
        })
        .await;
    let time = LiveTime::start();
    let begun = time.now();
    for sent in (BATCH..=COMMANDS).step_by(BATCH) {
        for command in 0..BATCH {
            let text = format!(r#"{{"id":"{sent}-{command}","do":"wave"}}"#);
            listener.send("kiebitz/boards/nobody/command", &text, false, None);
        }
        listener
            .until("the commands are refused", |inbox| {
                let answers = inbox
                    .iter()
                    .filter(|publish| topic(publish) == "boards/nobody/answer");
                answers.count() >= sent
            })
            .await;
    }
    daemon.stop();

    let log = fs::read_to_string(folder.join("log")).expect("a log");
    let left_out = log.lines().filter_map(|line| {
        let (before, _) = line.split_once(" more lines were left out of the log")?;
        before.split_whitespace().next_back()?.parse::<usize>().ok()
    });
    let left_out: usize = left_out.sum();
    let is_refusal = |line: &&str| line.contains("command refused") && !line.contains("were left out");
    let logged = log.lines().filter(is_refusal).count();
    assert_eq!(logged + left_out, COMMANDS, "{logged} lines");
    // 300 lines in each window of a minute, of which there were at most this many.
    let windows =
        usize::try_from(time.now().saturating_duration_since(begun).as_secs() / 60).expect("minutes") + 2;
    assert!(logged <= 300 * windows, "{logged} lines in {windows} windows");
}
