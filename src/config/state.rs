//! Paths of the daemon's files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::Config;
use crate::tournament::files::PairingFiles;

/// The parts of the process environment that determine the paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Environment {
    /// `$STATE_DIRECTORY`, which systemd sets.
    pub(super) systemd: Option<OsString>,
    /// Whether the process runs as an ordinary user with a state directory of their own. Root uses the system's
    /// directory.
    pub(super) is_ordinary_user: bool,
    pub(super) state_home: Option<OsString>,
    pub(super) home: Option<OsString>,
}

/// State directory of the system's daemon.
pub(super) const SYSTEM: &str = "/var/lib/kiebitz";
/// Name of kiebitz' directory within directories for all programs.
const SUBDIRECTORY: &str = "kiebitz";
/// Default of `$XDG_STATE_HOME`, relative to the home directory.
const STATE_HOME: &str = ".local/state";
const JOURNAL: &str = "journal.sqlite";
const SEQS: &str = "numbers";
const INPUTS: &str = "inputs.jsonl";
const RECORDINGS: &str = "recordings";
const PAIRINGS: &str = "pairings";

impl Config {
    /// Returns the state directory: as configured, else from systemd (`$STATE_DIRECTORY`), else for an ordinary user
    /// `$XDG_STATE_HOME/kiebitz` (~/.local/state/kiebitz), else /var/lib/kiebitz.
    #[must_use]
    pub fn state_directory(&self) -> PathBuf {
        self.state_directory_in(&Environment::of_process())
    }

    /// Returns the path of the journal.
    #[must_use]
    pub fn journal_file(&self) -> PathBuf {
        self.state_directory().join(JOURNAL)
    }

    /// Returns the path of the file with the reserved seqs of events.
    #[must_use]
    pub fn seqs_file(&self) -> PathBuf {
        self.state_directory().join(SEQS)
    }

    /// Returns the path of the second copy of starts and commands.
    #[must_use]
    pub fn inputs_file(&self) -> PathBuf {
        self.state_directory().join(INPUTS)
    }

    /// Returns the path of the file that replaces [`seqs_file`](Self::seqs_file) while the disk cannot be written. It
    /// is in memory that outlives the process, provided by systemd (`$RUNTIME_DIRECTORY`), by the user's session
    /// (`$XDG_RUNTIME_DIR`), or else in /dev/shm. Each state directory has a file of its own.
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
        Some(directory.join(format!("{SUBDIRECTORY}{name}.{SEQS}")))
    }

    /// Returns the sources of pairings. If there is a desk, they include the uploaded files, in "pairings" in the state
    /// directory.
    pub(crate) fn pairing_files(&self) -> PairingFiles {
        let folder = self.desk.is_some().then(|| self.state_directory().join(PAIRINGS));
        PairingFiles::new(self.pairings.clone(), folder)
    }

    /// Returns the directory of the recordings: as configured, else "recordings" in the state directory.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        let configured = self.recorder.directory.clone();
        configured.unwrap_or_else(|| self.state_directory().join(RECORDINGS))
    }

    /// Returns the configuration for commands that only read. If an ordinary user's own state directory has no journal
    /// but /var/lib/kiebitz has one, the latter is used, because the user probably wants to see the games of the
    /// system's daemon.
    #[must_use]
    pub fn for_reading(&self) -> Self {
        let mut config = self.clone();
        // A journal that cannot be checked is assumed to exist, so that opening it reports the error.
        let has_journal = |directory: &Path| !matches!(directory.join(JOURNAL).try_exists(), Ok(false));
        config.daemon.state_directory =
            Some(self.state_directory_to_read(&Environment::of_process(), has_journal));
        config
    }

    /// Creates the state directory if it does not exist. That of an ordinary user is for that user alone. Logs if all
    /// users can look into an existing one.
    #[cfg(target_os = "linux")]
    pub(crate) fn make_state_directory(&self) -> std::io::Result<()> {
        use std::os::unix::fs::DirBuilderExt;

        let directory = self.state_directory();
        if let Some(problem) = crate::folder::exposed(&directory) {
            tracing::warn!("{problem}");
        }
        if Environment::of_process().user_directory() != Some(directory.clone()) {
            return crate::folder::create(&directory);
        }
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(directory)
    }

    pub(super) fn state_directory_in(&self, environment: &Environment) -> PathBuf {
        self.named_directory(environment)
            .or_else(|| environment.user_directory())
            .unwrap_or_else(|| SYSTEM.into())
    }

    pub(super) fn state_directory_to_read(
        &self,
        environment: &Environment,
        has_journal: impl Fn(&Path) -> bool,
    ) -> PathBuf {
        let system = Path::new(SYSTEM);
        let user_directory = environment
            .user_directory()
            .filter(|directory| has_journal(directory) || !has_journal(system));
        self.named_directory(environment)
            .or(user_directory)
            .unwrap_or_else(|| system.to_owned())
    }

    /// Returns the directory that the configuration or systemd sets.
    fn named_directory(&self, environment: &Environment) -> Option<PathBuf> {
        let configured = self.daemon.state_directory.clone();
        let systemd = environment.systemd.clone();
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

    /// Returns an ordinary user's own directory, according to the XDG base directory specification, which ignores paths
    /// that are not absolute.
    fn user_directory(&self) -> Option<PathBuf> {
        let absolute =
            |path: &Option<OsString>| path.clone().map(PathBuf::from).filter(|path| path.is_absolute());
        // A user with /var/lib/kiebitz as home is the daemon's user, who has run the command by hand.
        let elsewhere = |home: &PathBuf| home != Path::new(SYSTEM);
        let home = || {
            let home = absolute(&self.home).filter(elsewhere);
            home.map(|home| home.join(STATE_HOME))
        };
        let state_home = absolute(&self.state_home).or_else(home);
        state_home
            .filter(|_| self.is_ordinary_user)
            .map(|state_home| state_home.join(SUBDIRECTORY))
    }
}

#[cfg(unix)]
fn is_ordinary_user() -> bool {
    !rustix::process::geteuid().is_root()
}

/// Without Unix there is no daemon, and users cannot be distinguished.
#[cfg(not(unix))]
fn is_ordinary_user() -> bool {
    false
}

/// Returns a directory in memory to which no other user can write.
#[cfg(target_os = "linux")]
fn own_memory() -> Option<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};

    /// Permission bits to write for group and others.
    const GROUP_OR_OTHER_WRITE: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    let directory = Path::new("/dev/shm").join(format!("{SUBDIRECTORY}-{user}"));
    // Fails if the directory exists; the checks below refuse one of another user.
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    let metadata = std::fs::symlink_metadata(&directory).ok()?;
    let is_own = metadata.is_dir() && metadata.uid() == user && metadata.mode() & GROUP_OR_OTHER_WRITE == 0;
    is_own.then_some(directory)
}

#[cfg(not(target_os = "linux"))]
fn own_memory() -> Option<PathBuf> {
    None
}
