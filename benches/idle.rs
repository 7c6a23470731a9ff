//! Cost of an idle daemon: `cargo bench --bench idle`, or `cargo bench --bench idle -- 1` for one minute.
//!
//! Three daemons (`kiebitz run`, with a broker) run for ten minutes. One has an emulated board without players and with
//! a stopped clock, one a configured port that does not exist, and one a port whose cable was unplugged. On a shared
//! 2-core x86-64 machine, release build, during builds on both cores:
//!
//! | | processor time in 10 minutes | share of a core | resident |
//! | --- | --- | --- | --- |
//! | idle board | 0.28 s | 0.05 % | 15.4 MB |
//! | missing port | 0.13 s | 0.02 % | 14.8 MB |
//! | unplugged port | 0.15 s | 0.03 % | 15.2 MB |
//!
//! The program itself and its libraries take 13 MB of the resident memory. A single board in bus mode is polled
//! continuously; with games in progress it takes 2.2 s in 10 minutes, 0.4 % of a core.

#![expect(clippy::expect_used, reason = "a benchmark of what it made itself may stop")]

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kiebitz::system_time::LiveTime;
use kiebitz::tools::broker::Broker;
use kiebitz::tools::emulate::{EmulatedPort, plies};
use kiebitz_hardware::emulator::{BoardSettings, EmulatedBoard, EmulatedClock};

/// Warm-up time. By its end the board has answered all queries and the cable is unplugged.
const WARM_UP: Duration = Duration::from_secs(30);
const UNPLUGGED: Duration = Duration::from_secs(15);
const MINUTES: u64 = 10;
/// Polling interval of the emulated ports. A line of 9600 baud transfers two bytes in this time.
const TICK: Duration = Duration::from_millis(2);
/// Unit of the processor times in `/proc/PID/stat`, in seconds.
const CLOCK_TICK: f64 = 0.01;

#[expect(clippy::print_stdout, reason = "a benchmark reports")]
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let minutes = std::env::args()
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(MINUTES);
    let measured = Duration::from_secs(60 * minutes);
    let directory = tempfile::tempdir().expect("a directory");
    let broker = Broker::start(([127, 0, 0, 1], 0).into()).expect("a broker");
    let daemons =
        ["idle", "missing", "unplugged"].map(|name| Daemon::start(directory.path(), name, broker.addr()));
    let [mut idle, mut unplugged] =
        ["idle", "unplugged"].map(|name| Table::new(&link(directory.path(), name)));
    let time = LiveTime::start();
    let began = time.now();
    let mut before = None;
    loop {
        let passed = time.now().saturating_duration_since(began);
        if passed >= WARM_UP + measured {
            break;
        }
        if before.is_none() && passed >= WARM_UP {
            before = Some(daemons.each_ref().map(Daemon::processor_s));
        }
        if passed >= UNPLUGGED {
            unplugged.port = None;
        }
        idle.exchange(&time).await;
        unplugged.exchange(&time).await;
        time.until(time.now() + TICK).await;
    }
    let before = before.unwrap_or_default();
    for (daemon, before) in daemons.iter().zip(before) {
        let spent = daemon.processor_s() - before;
        println!(
            "{:<9}  {spent:.2} s of processor time in {minutes} minutes, {:.3} % of a core; {:.1} MB resident",
            daemon.name,
            100.0 * spent / measured.as_secs_f64(),
            daemon.resident_mb()
        );
    }
}

/// A `kiebitz run` process with one port, killed on drop.
struct Daemon {
    name: &'static str,
    child: Child,
}

impl Daemon {
    fn start(directory: &Path, name: &'static str, broker: SocketAddr) -> Self {
        let config = format!(
            "[daemon]\nname = \"{name}\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{broker}\"\n[[port]]\npath = {:?}\nmode = \"single\"\n",
            directory.join(format!("state-{name}")),
            link(directory, name)
        );
        let file = directory.join(format!("{name}.toml"));
        fs::write(&file, config).expect("a configuration");
        let log = File::create(directory.join(format!("{name}.log"))).expect("a log");
        let child = Command::new(env!("CARGO_BIN_EXE_kiebitz"))
            .args(["run", "--config"])
            .arg(file)
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("kiebitz runs");
        Self { name, child }
    }

    /// Returns the processor time in seconds, user and kernel, of all threads.
    fn processor_s(&self) -> f64 {
        let stat = self.proc("stat");
        // The second field, the program's name in parentheses, may contain spaces.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks = fields
            .skip(11)
            .take(2)
            .filter_map(|field| field.parse::<f64>().ok());
        ticks.sum::<f64>() * CLOCK_TICK
    }

    fn resident_mb(&self) -> f64 {
        let status = self.proc("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.unwrap_or_default() * 1024.0 / 1e6
    }

    fn proc(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).expect("kiebitz is there")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Fails if the process has already exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A board in the start position without players. `port` is `None` after the cable is unplugged.
struct Table {
    board: EmulatedBoard,
    port: Option<EmulatedPort>,
}

impl Table {
    fn new(link: &Path) -> Self {
        let now = LiveTime::start().now();
        let placement = plies::dump(&shakmaty::Board::new());
        let mut board = EmulatedBoard::with_pieces(now, BoardSettings::default(), &placement);
        board.plug_clock(now, Some(EmulatedClock::new(Duration::from_secs(5400))));
        let port = Some(EmulatedPort::open(Some(link)).expect("a pseudo-terminal"));
        Self { board, port }
    }

    /// Exchanges pending bytes between the board and its port.
    async fn exchange(&mut self, time: &LiveTime) {
        let Some(port) = &mut self.port else { return };
        let mut buffer = [0; 64];
        if let Poll::Ready(read) = poll_fn(|cx| Poll::Ready(port.poll_read(cx, &mut buffer))).await {
            let read = read.expect("the port works");
            self.board
                .handle_bytes(time.now(), buffer.get(..read).unwrap_or_default());
        }
        while let Some((_, bytes)) = self.board.poll_transmit(time.now()) {
            port.send(&bytes).expect("the port works");
        }
    }
}

fn link(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("port-{name}"))
}
