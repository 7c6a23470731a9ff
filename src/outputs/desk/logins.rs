//! Sessions and the key of known devices, kept in the state directory so that they outlast a restart. Follows the file
//! of users, so that a removed or changed line ends the sessions of its user.

use core::time::Duration;
use std::collections::BTreeMap;
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
/// Timeout for reading the file at startup, and for storing a change before the client gets its response.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Logins {
    file: PathBuf,
    users_file: PathBuf,
    /// Signs the cookies of known devices.
    pub(super) key: DeviceKey,
    sessions: Mutex<Sessions>,
    /// Number of changes of the sessions, and number of changes that were stored or could not be stored.
    changes: watch::Sender<u64>,
    stored: watch::Sender<u64>,
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
            if let Ok(lines) = users::listed(&listed_file) {
                sessions.end_unlisted(&lines);
            }
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
            stored: watch::Sender::new(sessions.changes()),
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
        let mut stored = self.stored.subscribe();
        let waiting = stored.wait_for(|stored| *stored >= changes);
        // If the disk does not answer in time, the change is in effect, but may be lost at the next start.
        let _ = tokio::time::timeout(PATIENCE, waiting).await;
    }

    /// Ends expired and unlisted sessions and stores all changes until the program ends.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut changes = self.changes.subscribe();
        let mut troubles = Troubles::default();
        let mut stored_at = moment();
        let mut tick = tokio::time::interval(INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let is_idle = self.sessions(|sessions| sessions.is_empty());
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                _ = tick.tick(), if !is_idle => {
                    self.follow_users(&mut troubles).await;
                    self.sessions(|sessions| sessions.expire(moment()));
                }
            }
            let is_old = !is_idle && moment().since(stored_at) >= MAX_AGE;
            if *self.changes.borrow() != *self.stored.borrow() || is_old {
                self.store(&mut troubles).await;
                stored_at = moment();
            }
        }
    }

    async fn follow_users(&self, troubles: &mut Troubles) {
        let file = self.users_file.clone();
        let read = tokio::task::spawn_blocking(move || users::listed(&file)).await;
        let read = read.unwrap_or_else(|error| Err(io::Error::other(error)));
        if let Ok(lines) = &read {
            self.sessions(|sessions| sessions.keep_listed(lines));
        }
        troubles.report(&self.users_file, read.err(), |file, error| {
            format!("cannot read {file}: {error}; whoever is logged in stays so")
        });
    }

    async fn store(&self, troubles: &mut Troubles) {
        let (changes, sessions) = self.sessions(|sessions| (sessions.changes(), sessions.to_keep(present())));
        let kept = KeptLogins {
            device_key: self.key.clone(),
            sessions,
        };
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || notes::write_secret(&file, &kept)).await;
        let written = written.unwrap_or_else(|error| Err(io::Error::other(error)));
        troubles.report(&self.file, written.err(), |file, error| {
            format!("cannot write {file}: {error}; at the next start everybody has to log in again")
        });
        self.stored.send_replace(changes);
    }
}

fn present() -> Now {
    Now {
        time: wall_time(),
        moment: moment(),
    }
}

/// Last logged problem of each file, so that each problem is logged once.
#[derive(Debug, Default)]
struct Troubles(BTreeMap<PathBuf, String>);

impl Troubles {
    fn report(
        &mut self,
        file: &Path,
        error: Option<io::Error>,
        text: impl Fn(&dyn core::fmt::Display, &io::Error) -> String,
    ) {
        let Some(error) = error else {
            self.0.remove(file);
            return;
        };
        let text = text(&file.display(), &error);
        if self.0.get(file) != Some(&text) {
            tracing::warn!("[desk]: {text}");
            self.0.insert(file.to_owned(), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
}
