//! Sessions and the key of known devices, kept in the state directory so that they outlast a restart. Follows the file
//! of users, so that a removed or changed line ends the sessions of its user.

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use super::secrets::DeviceKey;
use super::sessions::{KeptSession, Sessions};
use super::users;
use crate::outputs::shared::notes;
use crate::system_time::{Now, moment, wall_time};

/// Interval at which the file of users is read while somebody is logged in. A user's sessions end if two successive
/// readings do not have the user's line, which takes less than a second.
const INTERVAL: Duration = Duration::from_millis(400);
/// Maximum age of the times of last activity in the file.
const MAX_AGE: Duration = Duration::from_secs(600);
/// Pause after a failed write.
const RETRY_PAUSE: Duration = Duration::from_secs(3);
/// Timeout for reading the file at startup, and for storing a change before the client gets its response.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Logins {
    file: PathBuf,
    users_file: PathBuf,
    /// Signs the cookies of known devices.
    pub(super) key: DeviceKey,
    sessions: Mutex<Sessions>,
    /// Number of changes of the sessions.
    changes: watch::Sender<u64>,
    /// Number of changes that the last attempt to store them included.
    tried: watch::Sender<u64>,
}

/// Content of the file with the logins.
#[derive(Serialize, Deserialize)]
struct KeptLogins {
    device_key: DeviceKey,
    sessions: Vec<KeptSession>,
}

impl KeptLogins {
    /// Reads the file. `None` if it does not exist or cannot be used.
    fn read(file: &Path) -> Option<Self> {
        let read = crate::text_file::read(file);
        let read = read.and_then(|text| serde_json::from_str(&text).map_err(io::Error::from));
        match read {
            Ok(kept) => Some(kept),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(
                    "[desk]: everybody has to log in again: cannot read {}: {error}",
                    file.display()
                );
                None
            }
        }
    }
}

impl Logins {
    /// Continues the sessions in `file` whose users are still in `users_file`.
    pub(super) async fn open(file: PathBuf, users_file: PathBuf) -> Result<Self> {
        let (kept_file, listed_file) = (file.clone(), users_file.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let kept = KeptLogins::read(&kept_file)?;
            let mut sessions = Sessions::of_kept(kept.sessions, present());
            // If the file cannot be read, users may have been removed from it.
            let lines = users::listed(&listed_file).unwrap_or_else(|error| {
                let file = listed_file.display();
                tracing::warn!("[desk]: everybody has to log in again: cannot read {file}: {error}");
                Vec::new()
            });
            sessions.end_unlisted(&lines);
            Some((kept.device_key, sessions))
        });
        let read = tokio::time::timeout(PATIENCE, reading).await;
        let (key, sessions) = match read {
            Ok(Ok(Some(read))) => read,
            Ok(Ok(None) | Err(_)) => (DeviceKey::new()?, Sessions::default()),
            Err(_) => {
                let file = file.display();
                tracing::warn!("[desk]: everybody has to log in again: the disk with {file} does not answer");
                (DeviceKey::new()?, Sessions::default())
            }
        };
        Ok(Self {
            file,
            users_file,
            key,
            changes: watch::Sender::new(sessions.changes()),
            tried: watch::Sender::new(sessions.changes()),
            sessions: Mutex::new(sessions),
        })
    }

    pub(super) fn sessions<T>(&self, operation: impl FnOnce(&mut Sessions) -> T) -> T {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let done = operation(&mut sessions);
        let changes = sessions.changes();
        self.changes
            .send_if_modified(|known| core::mem::replace(known, changes) != changes);
        done
    }

    /// Waits until all changes are stored, or storing them has failed.
    pub(super) async fn until_stored(&self) {
        let changes = *self.changes.borrow();
        let mut tried = self.tried.subscribe();
        let waiting = tried.wait_for(|tried| *tried >= changes);
        // If the disk does not answer in time, the change is in effect, but may be lost at the next start.
        let _ = tokio::time::timeout(PATIENCE, waiting).await;
    }

    /// Ends expired and unlisted sessions and stores all changes until the program ends.
    pub(super) async fn keep(self: Arc<Self>) {
        self.keep_with(RETRY_PAUSE, notes::write_secret).await;
    }

    /// Implements [`keep`](Self::keep). Tests shorten the pause after failures and replace the function that writes the
    /// file.
    async fn keep_with(
        self: Arc<Self>,
        retry_pause: Duration,
        write: impl Fn(&Path, &KeptLogins) -> io::Result<()> + Clone + Send + 'static,
    ) {
        // These run concurrently, so that removed users lose their sessions even while the disk hangs.
        tokio::join!(self.follow_users(), self.store_changes(retry_pause, write));
    }

    /// Ends the sessions that have expired, and those whose users were removed or changed.
    async fn follow_users(&self) {
        let mut changes = self.changes.subscribe();
        let mut trouble = Trouble::default();
        let mut tick = tokio::time::interval(INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if self.sessions(|sessions| sessions.is_empty()) {
                if changes.changed().await.is_err() {
                    return;
                }
                continue;
            }
            tick.tick().await;
            let file = self.users_file.clone();
            let read = tokio::task::spawn_blocking(move || users::listed(&file)).await;
            let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
            self.sessions(|sessions| match &read {
                Ok(lines) => sessions.keep_listed(lines),
                Err(_) => sessions.end_if_unreadable(),
            });
            trouble.report(read.err().map(|error| {
                let file = self.users_file.display();
                format!(
                    "cannot read {file}: {error}; if this lasts for a minute, everybody has to log in again"
                )
            }));
            self.sessions(|sessions| sessions.expire(moment()));
        }
    }

    /// Stores each change, and the times of last activity every [`MAX_AGE`]. Repeats a failed write after a pause, even if
    /// nobody is logged in: the file may still have sessions that have ended.
    async fn store_changes(
        &self,
        retry_pause: Duration,
        write: impl Fn(&Path, &KeptLogins) -> io::Result<()> + Clone + Send + 'static,
    ) {
        let mut changes = self.changes.subscribe();
        let mut trouble = Trouble::default();
        loop {
            let tried = *self.tried.borrow();
            let is_idle = self.sessions(|sessions| sessions.is_empty());
            let has_failed = trouble.is_open();
            let pause = if has_failed { retry_pause } else { MAX_AGE };
            let changed = async { changes.wait_for(|number| *number != tried).await.is_ok() };
            tokio::select! {
                is_open = changed => if !is_open { return },
                () = tokio::time::sleep(pause), if has_failed || !is_idle => {}
            }
            let (kept_changes, kept) = self.to_keep();
            let (file, write) = (self.file.clone(), write.clone());
            let written = tokio::task::spawn_blocking(move || write(&file, &kept)).await;
            let written = written.unwrap_or_else(|error| Err(io::Error::other(error)));
            if has_failed && written.is_ok() {
                tracing::info!("[desk]: the log-ins are stored in {} again", self.file.display());
            }
            trouble.report(written.err().map(|error| {
                let file = self.file.display();
                format!(
                    "cannot write {file}: {error}; trying again every few seconds. If kiebitz restarts before that \
                     succeeds, it has the log-ins that the file had before"
                )
            }));
            self.tried.send_replace(kept_changes);
        }
    }

    /// Returns the number of changes so far, and the content to store.
    fn to_keep(&self) -> (u64, KeptLogins) {
        let (changes, sessions) = self.sessions(|sessions| (sessions.changes(), sessions.to_keep(present())));
        let kept = KeptLogins {
            device_key: self.key.clone(),
            sessions,
        };
        (changes, kept)
    }
}

fn present() -> Now {
    Now {
        time: wall_time(),
        moment: moment(),
    }
}

/// Last logged problem of a file, so that each problem is logged once.
#[derive(Debug, Default)]
struct Trouble(Option<String>);

impl Trouble {
    /// Logs a new problem. `None` if the last operation succeeded.
    fn report(&mut self, problem: Option<String>) {
        if let Some(problem) = problem
            .as_ref()
            .filter(|problem| self.0.as_ref() != Some(*problem))
        {
            tracing::warn!("[desk]: {problem}");
        }
        self.0 = problem;
    }

    const fn is_open(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::mpsc;

    use super::super::users::User;
    use super::*;

    const LINES: &str = "meier arbiter -\nhall viewer -\n";

    async fn opened(folder: &Path) -> Arc<Logins> {
        let logins = Logins::open(folder.join("logins"), folder.join("users")).await;
        Arc::new(logins.expect("randomness"))
    }

    fn begin(logins: &Logins, secret: &str, line: &str) {
        let user = User::read(line).expect("a user");
        logins.sessions(|all| all.begin(moment(), secret, &user));
    }

    fn names(logins: &Logins) -> Vec<String> {
        let guests = ["m", "h"].map(|secret| logins.sessions(|all| all.guest(moment(), secret)));
        guests.into_iter().flatten().map(|guest| guest.name).collect()
    }

    #[tokio::test]
    async fn sessions_and_devices_outlast_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("users"), LINES).expect("users");
        let logins = opened(folder.path()).await;
        let keeper = tokio::spawn(Arc::clone(&logins).keep());
        begin(&logins, "m", "meier arbiter -");
        begin(&logins, "h", "hall viewer -");
        logins.until_stored().await;
        keeper.abort();
        let mode = std::fs::metadata(folder.path().join("logins"))
            .expect("a file")
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);

        let again = opened(folder.path()).await;
        assert_eq!(names(&again), ["meier", "hall"]);
        let cookie = logins.key.issue("meier", "").expect("randomness");
        let mut headers = axum::http::HeaderMap::new();
        headers.insert(
            "cookie",
            cookie.split(';').next().expect("a pair").parse().expect("text"),
        );
        assert!(again.key.device(&headers, "meier").is_some());

        std::fs::write(folder.path().join("users"), "hall viewer -\n").expect("users");
        let again = opened(folder.path()).await;
        assert_eq!(
            names(&again),
            ["hall"],
            "meier was removed while kiebitz was stopped"
        );
        std::fs::write(folder.path().join("logins"), "{\"device_key\":[1]}").expect("a file");
        let again = opened(folder.path()).await;
        assert_eq!(names(&again), [""; 0], "a damaged file");
    }

    #[tokio::test]
    async fn a_removed_or_changed_line_ends_sessions() {
        let folder = tempfile::tempdir().expect("a folder");
        let users = folder.path().join("users");
        std::fs::write(&users, LINES).expect("users");
        let logins = opened(folder.path()).await;
        tokio::spawn(Arc::clone(&logins).keep());
        begin(&logins, "m", "meier arbiter -");
        begin(&logins, "h", "hall viewer -");
        let mut stream = logins.sessions(|all| all.follow("m")).expect("a session");
        std::fs::write(&users, "meier operator -\nhall viewer -\n").expect("users");
        assert!(stream.changed().await.is_err(), "the stream ends");
        assert_eq!(names(&logins), ["hall"]);
        let mut stream = logins.sessions(|all| all.follow("h")).expect("a session");
        std::fs::remove_file(&users).expect("users");
        assert!(stream.changed().await.is_err(), "the stream ends");
        assert_eq!(names(&logins), [""; 0]);
    }

    /// Returns the users in the file of sessions; `None` if it cannot be read.
    fn stored(folder: &Path) -> Option<Vec<String>> {
        let kept = KeptLogins::read(&folder.join("logins"))?;
        let sessions = serde_json::to_value(kept.sessions).expect("JSON");
        let sessions = sessions.as_array().expect("a list");
        Some(
            sessions
                .iter()
                .map(|session| session["user"].as_str().expect("a name").to_owned())
                .collect(),
        )
    }

    #[tokio::test]
    async fn a_failed_write_is_repeated_after_the_last_user_has_logged_out() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("users"), LINES).expect("users");
        let logins = opened(folder.path()).await;
        let (results, next) = mpsc::channel::<bool>();
        let next = Arc::new(Mutex::new(next));
        let write = move |file: &Path, kept: &KeptLogins| {
            // Succeeds once all queued results are used up.
            match next.lock().expect("no panic").try_recv() {
                Ok(false) => Err(io::Error::other("the disk is full")),
                Ok(true) | Err(_) => notes::write_secret(file, kept),
            }
        };
        tokio::spawn(Arc::clone(&logins).keep_with(Duration::from_millis(1), write));
        begin(&logins, "m", "meier arbiter -");
        logins.until_stored().await;
        assert_eq!(stored(folder.path()), Some(vec!["meier".to_owned()]));
        for _ in 0..3 {
            results.send(false).expect("a writer");
        }
        logins.sessions(|all| all.end("m"));
        let emptied = async {
            while stored(folder.path()) != Some(Vec::new()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let emptied = tokio::time::timeout(Duration::from_secs(60), emptied).await;
        assert!(emptied.is_ok(), "a restart would resume the session");
    }

    #[tokio::test]
    async fn removed_users_lose_their_sessions_although_the_disk_hangs() {
        let folder = tempfile::tempdir().expect("a folder");
        let users = folder.path().join("users");
        std::fs::write(&users, LINES).expect("users");
        let logins = opened(folder.path()).await;
        let (end, ends) = mpsc::channel::<()>();
        let (started, mut starts) = tokio::sync::mpsc::unbounded_channel();
        let ends = Arc::new(Mutex::new(ends));
        let write = move |_: &Path, _: &KeptLogins| {
            let _ = started.send(());
            let _ = ends.lock().expect("no panic").recv();
            Ok(())
        };
        tokio::spawn(Arc::clone(&logins).keep_with(RETRY_PAUSE, write));
        begin(&logins, "m", "meier arbiter -");
        starts.recv().await.expect("a write");
        let mut stream = logins.sessions(|all| all.follow("m")).expect("a session");
        std::fs::write(&users, "hall viewer -\n").expect("users");
        let ended = tokio::time::timeout(Duration::from_secs(60), stream.changed()).await;
        drop(end);
        assert!(ended.is_ok_and(|changed| changed.is_err()), "the session ends");
    }
}
