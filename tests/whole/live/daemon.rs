//! `kiebitz run` as a process that is killed and started again.

use core::time::Duration;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kiebitz_workbench::soak::table;

/// The program, running or not.
pub(super) struct Daemon {
    directory: PathBuf,
    child: Option<Child>,
    starts: usize,
    /// Length of the log at the last start, in bytes.
    log_before: usize,
    /// Number of runs of the program that had published events before the journal had stored them.
    pub(super) outages: usize,
    /// Peak memory, in KiB.
    pub(super) peak_memory: u64,
    /// Peak number of threads.
    peak_threads: usize,
}

impl Daemon {
    /// Writes the configuration to the directory. Does not start the program.
    pub(super) fn new(directory: &Path, broker: SocketAddr, boards: usize) -> Self {
        let mut config = format!(
            "[daemon]\nname = \"soak\"\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://{broker}\"\n[ports]\nusb = false\n",
            directory.join("state")
        );
        for nth in 0..boards {
            let (name, serial, path) = (table::name(nth), table::serial(nth), link(directory, nth));
            write!(
                config,
                "[[port]]\npath = {path:?}\nmode = \"single\"\n[[board]]\nserial = \"{serial}\"\nname = \"{name}\"\n"
            )
            .unwrap();
        }
        fs::write(directory.join("kiebitz.toml"), config).unwrap();
        Self {
            directory: directory.to_owned(),
            child: None,
            starts: 0,
            log_before: 0,
            outages: 0,
            peak_memory: 0,
            peak_threads: 0,
        }
    }

    pub(super) fn start(&mut self) {
        self.log_before = self.log().len();
        let log = File::options()
            .append(true)
            .create(true)
            .open(self.directory.join("log"))
            .unwrap();
        let child = Command::new(crate::program())
            .args(["run", "--config"])
            .arg(self.directory.join("kiebitz.toml"))
            .env_remove("KIEBITZ_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
        self.starts += 1;
    }

    /// Sends SIGKILL, like a power cut.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
            self.note_outage();
        }
    }

    /// Sends SIGTERM. Returns the exit code, if the process has one.
    pub(super) fn stop(&mut self) -> Option<i32> {
        let mut child = self.child.take()?;
        let sent = Command::new("kill").arg(child.id().to_string()).status().unwrap();
        assert!(sent.success());
        let status = child.wait().unwrap();
        self.note_outage();
        status.code()
    }

    fn note_outage(&mut self) {
        let log = self.log();
        let run = log.get(self.log_before..).unwrap_or_default();
        self.outages += usize::from(run.contains("events are published before they are stored"));
    }

    /// Like [`stop`](Self::stop), without blocking, as the proxy to the broker may run in this process.
    pub(super) async fn end(&mut self) -> Option<i32> {
        let mut child = self.child.take()?;
        let sent = Command::new("kill").arg(child.id().to_string()).status().unwrap();
        assert!(sent.success());
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Updates the peak figures. Fails if the process has ended by itself.
    pub(super) fn measure(&mut self) {
        let Some(child) = &mut self.child else { return };
        assert!(
            child.try_wait().unwrap().is_none(),
            "kiebitz has ended: {}",
            self.log_tail()
        );
        let Some(status) = self.proc("status").and_then(|path| fs::read_to_string(path).ok()) else {
            return;
        };
        let figure = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        };
        self.peak_memory = self.peak_memory.max(figure("VmRSS:").unwrap_or(0));
        self.peak_threads = self.peak_threads.max(figure("Threads:").unwrap_or(0) as usize);
    }

    /// Open ports of the process. False for a port whose device is gone.
    pub(super) fn ports_open(&self) -> Vec<bool> {
        let Some(folder) = self.proc("fd") else {
            return Vec::new();
        };
        let links = fs::read_dir(folder)
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        let ports = links.filter(|link| link.starts_with("/dev/pts"));
        ports.map(|port| port.exists()).collect()
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.directory.join("state/journal.sqlite")
    }

    pub(super) fn report(&self) -> String {
        let (starts, memory, threads) = (self.starts, self.peak_memory / 1024, self.peak_threads);
        format!("{starts} starts, at most {memory} MB and {threads} threads")
    }

    /// The last lines of the log.
    pub(super) fn log_tail(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    fn proc(&self, file: &str) -> Option<PathBuf> {
        let child = self.child.as_ref()?;
        Some(format!("/proc/{}/{file}", child.id()).into())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Fails if the process has already ended, which is the normal case.
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Path of the link to a board's port.
pub(super) fn link(directory: &Path, nth: usize) -> PathBuf {
    directory.join(format!("port-{}", nth + 1))
}
