//! Where the daemon's files are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Config;
use crate::tournament::files::PairingFiles;

/// What the process was started with that says where its files are.
#[derive(Debug, Clone, Default)]
pub(super) struct Environment {
    /// `$STATE_DIRECTORY`, which systemd sets.
    pub(super) systemd: Option<OsString>,
    /// Whether this user is an ordinary one, whose files are in a directory of their own; root's are the computer's.
    pub(super) is_ordinary_user: bool,
    /// `$XDG_STATE_HOME`.
    pub(super) state_home: Option<OsString>,
    /// `$HOME`.
    pub(super) home: Option<OsString>,
}

/// Where the files of the computer's daemon are, if nothing else says so.
pub(super) const SYSTEM: &str = "/var/lib/kiebitz";
/// The directory among those of other programs.
const OWN: &str = "kiebitz";
/// Where programs of a user keep their state, if `$XDG_STATE_HOME` does not say so.
const STATE_HOME: &str = ".local/state";
const JOURNAL: &str = "journal.sqlite";
const NUMBERS: &str = "numbers";
const INPUTS: &str = "inputs.jsonl";
const RECORDINGS: &str = "recordings";
const PAIRINGS: &str = "pairings";

impl Config {
    /// Where the daemon's files are: as configured, else where systemd says (`$STATE_DIRECTORY`), else for an ordinary
    /// user in `$XDG_STATE_HOME/kiebitz` (~/.local/state/kiebitz), else in /var/lib/kiebitz.
    #[must_use]
    pub fn state_directory(&self) -> PathBuf {
        self.state_directory_in(&Environment::of_process())
    }

    /// The journal's file.
    #[must_use]
    pub fn journal_file(&self) -> PathBuf {
        self.state_directory().join(JOURNAL)
    }

    /// The file of the numbers that events have been given.
    #[must_use]
    pub fn seqs_file(&self) -> PathBuf {
        self.state_directory().join(NUMBERS)
    }

    /// The second copy of starts and commands.
    #[must_use]
    pub fn inputs_file(&self) -> PathBuf {
        self.state_directory().join(INPUTS)
    }

    /// Where the numbers are noted while the disk takes no notes: in memory that outlives the process, which systemd
    /// (`$RUNTIME_DIRECTORY`) or the user's session (`$XDG_RUNTIME_DIR`) provides, or else in /dev/shm. It is one file for
    /// each state directory.
    #[must_use]
    pub fn spare_seqs_file(&self) -> Option<PathBuf> {
        let named = ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"].map(std::env::var_os);
        let directory = named
            .into_iter()
            .flatten()
            .map(PathBuf::from)
            .find(|path| path.is_absolute())
            .or_else(own_memory)?;
        let state = self.state_directory();
        let name = state.to_string_lossy().replace('/', "-");
        Some(directory.join(format!("{OWN}{name}.{NUMBERS}")))
    }

    /// Where pairings are read from. Where there is a desk, files may be dropped in: those are in "pairings" in the state
    /// directory.
    pub(crate) fn pairing_files(&self) -> PairingFiles {
        let folder = self.desk.is_some().then(|| self.state_directory().join(PAIRINGS));
        PairingFiles::new(self.pairings.clone(), folder)
    }

    /// The directory of the recordings: as configured, else "recordings" in the state directory.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        let configured = self.recorder.directory.clone();
        configured.unwrap_or_else(|| self.state_directory().join(RECORDINGS))
    }

    /// The same for one who only reads: an ordinary user whose own state directory has no journal looks into
    /// /var/lib/kiebitz if there is one, for they will want to see what the computer's daemon keeps.
    #[must_use]
    pub fn for_reading(&self) -> Self {
        let mut config = self.clone();
        // What cannot be looked into may well be there, and the attempt to open it says what is wrong.
        let has_journal = |directory: &Path| !matches!(directory.join(JOURNAL).try_exists(), Ok(false));
        config.daemon.state_directory =
            Some(self.state_directory_to_read(&Environment::of_process(), has_journal));
        config
    }

    /// Makes the state directory of an ordinary user where there is none. Nobody else may look into it: what the arbiter
    /// is told is theirs alone.
    #[cfg(target_os = "linux")]
    pub(crate) fn make_own_state_directory(&self) -> std::io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;

        let directory = self.state_directory();
        if Environment::of_process().own() != Some(directory.clone()) {
            return Ok(());
        }
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(directory)
    }

    pub(super) fn state_directory_in(&self, surroundings: &Environment) -> PathBuf {
        self.named_directory(surroundings)
            .or_else(|| surroundings.own())
            .unwrap_or_else(|| SYSTEM.into())
    }

    pub(super) fn state_directory_to_read(
        &self,
        surroundings: &Environment,
        has_journal: impl Fn(&Path) -> bool,
    ) -> PathBuf {
        let system = Path::new(SYSTEM);
        let own = surroundings
            .own()
            .filter(|own| has_journal(own) || !has_journal(system));
        self.named_directory(surroundings)
            .or(own)
            .unwrap_or_else(|| system.to_owned())
    }

    /// The directory that the configuration or systemd names.
    fn named_directory(&self, surroundings: &Environment) -> Option<PathBuf> {
        let configured = self.daemon.state_directory.clone();
        let systemd = surroundings.systemd.clone();
        let systemd = systemd.filter(|directory| !directory.is_empty());
        configured.or_else(|| systemd.map(PathBuf::from))
    }
}

impl Environment {
    fn of_process() -> Self {
        let variable = |name| std::env::var_os(name);
        Self {
            systemd: variable("STATE_DIRECTORY"),
            is_ordinary_user: is_ordinary_user(),
            state_home: variable("XDG_STATE_HOME"),
            home: variable("HOME"),
        }
    }

    /// An ordinary user's own directory, by the XDG base directory specification: paths that are not absolute count for
    /// nothing.
    fn own(&self) -> Option<PathBuf> {
        let absolute =
            |path: &Option<OsString>| path.clone().map(PathBuf::from).filter(|path| path.is_absolute());
        // One who is at home where the daemon's files are is the daemon's user, started by hand.
        let elsewhere = |home: &PathBuf| home != Path::new(SYSTEM);
        let home = || {
            let home = absolute(&self.home).filter(elsewhere);
            home.map(|home| home.join(STATE_HOME))
        };
        let state_home = absolute(&self.state_home).or_else(home);
        state_home
            .filter(|_| self.is_ordinary_user)
            .map(|state_home| state_home.join(OWN))
    }
}

#[cfg(unix)]
fn is_ordinary_user() -> bool {
    !rustix::process::geteuid().is_root()
}

/// Elsewhere there is no daemon, and nothing to tell users apart.
#[cfg(not(unix))]
fn is_ordinary_user() -> bool {
    false
}
/// A directory in memory that no other user can write to.
#[cfg(target_os = "linux")]
fn own_memory() -> Option<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};

    /// Others may not write to it.
    const OF_OTHERS: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    let directory = Path::new("/dev/shm").join(format!("{OWN}-{user}"));
    // It may be there already, and then be somebody else's.
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let about = std::fs::symlink_metadata(&directory).ok()?;
    let is_own = about.is_dir() && about.uid() == user && about.mode() & OF_OTHERS == 0;
    is_own.then_some(directory)
}

#[cfg(not(target_os = "linux"))]
fn own_memory() -> Option<PathBuf> {
    None
}
