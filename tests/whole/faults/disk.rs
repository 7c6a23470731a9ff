//! Failing disks, and other faults of files in use.

use core::time::Duration;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;

/// A preloaded library (disk.c) that makes the program's file operations in its state directory fail.
pub(crate) struct Shim {
    library: PathBuf,
    state_file: PathBuf,
    clock: PathBuf,
}

impl Shim {
    /// `None` if there is no C compiler.
    #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
    pub(crate) fn build(directory: &Path) -> Option<Self> {
        let library = directory.join("disk.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("faults/disk.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .args([&library, &source])
            .status();
        match built {
            Ok(status) => assert!(status.success(), "the shim compiles"),
            Err(error) => {
                eprintln!("skipped: there is no cc ({error})");
                return None;
            }
        }
        let shim = Self {
            library,
            state_file: directory.join("disk"),
            clock: directory.join("clock"),
        };
        shim.set_disk("well");
        shim.set_clock(0);
        Some(shim)
    }

    /// Sets the behaviour of the disk. disk.c lists the values of `how`.
    pub(crate) fn set_disk(&self, how: &str) {
        put(&self.state_file, how);
    }

    /// Sets the computer's clock to this many seconds ahead of the right time.
    pub(crate) fn set_clock(&self, seconds: i64) {
        put(&self.clock, &seconds.to_string());
    }

    pub(crate) fn load(&self, state: &Path, program: &mut Command) {
        program
            .env("LD_PRELOAD", &self.library)
            .env("FAULTS_IN", state)
            .env("FAULTS_SAID", &self.state_file)
            .env("FAULTS_CLOCK", &self.clock);
    }
}

/// Replaces the file atomically, as the program may read it at any time.
fn put(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, file).unwrap();
}

/// A small disk in memory, mounted at a path.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` if this user may not mount anything.
    #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
    pub(crate) fn mount(at: &Path) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"])
            .arg(at)
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("skipped: only root can mount a small disk");
        None
    }

    pub(crate) fn fill(&self) {
        let mut file = File::create(self.0.join("filling")).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            while file.write(&vec![1; size]).is_ok_and(|written| written > 0) {}
        }
    }

    pub(crate) fn free(&self) {
        fs::remove_file(self.0.join("filling")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Another program that locks the journal.
pub(crate) struct Holder(Option<Connection>);

impl Holder {
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    pub(crate) fn hold(&mut self, journal: &Path) {
        let connection = Connection::open(journal).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
        self.0 = Some(connection);
    }

    pub(crate) fn let_go(&mut self) {
        self.0 = None;
    }
}

/// Drops the table of events, as a user of another program might do by mistake.
pub(crate) fn drop_table(journal: &Path) {
    let connection = Connection::open(journal).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection.execute_batch("DROP TABLE event").unwrap();
}
