//! Sessions of the desk.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::secrets::{Digest, digest};
use super::users::{Role, User};
use crate::system_time::{Moment, Now};

/// A logged-in user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) role: Role,
}

/// All sessions, by the digest of the secret in the browser's cookie.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: BTreeMap<Digest, Session>,
    /// Number of sessions that have begun or ended.
    changes: u64,
    /// Successive failed readings of the file of users.
    unreadable: u32,
}

#[derive(Debug)]
struct Session {
    guest: Guest,
    /// Digest of the user's line in the file of users at the log-in.
    line: Digest,
    last_activity: Moment,
    /// Successive readings of the file of users that did not have the line.
    unlisted: u8,
    /// Dropped when the session ends, which ends the streams of its pages.
    alive: watch::Sender<()>,
}

/// A session in the state directory. It does not contain the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptSession {
    secret: Digest,
    user: String,
    role: Role,
    line: Digest,
    last_activity: Timestamp,
}

/// Period of inactivity after which a session ends.
const LASTS: Duration = Duration::from_secs(12 * 3600);
/// Maximum number of sessions of one user, and of all users. A new session ends the one that was inactive for longest.
const MAX_OF_USER: usize = 16;
const MAX_SESSIONS: usize = 256;
/// Number of successive readings of the file of users without a user's line that end the user's sessions. A single one
/// may have read the file while an editor was writing it.
const MAX_UNLISTED: u8 = 2;
/// Number of successive failed readings of the file of users, about a minute, after which all sessions end: users may have
/// been removed. A network disk may fail for shorter.
const MAX_UNREADABLE: u32 = 150;

impl Sessions {
    pub(super) fn begin(&mut self, now: Moment, secret: &str, user: &User) {
        let guest = Guest {
            name: user.name.clone(),
            role: user.role,
        };
        // The times of sessions with an open page may be out of date.
        self.expire(now);
        self.make_room(MAX_OF_USER, |session| session.guest.name == guest.name);
        self.make_room(MAX_SESSIONS, |_| true);
        self.changes += 1;
        self.open
            .insert(digest(secret), Session::new(guest, user.line_digest(), now));
    }

    /// Ends the sessions that were inactive for longest, so that fewer than `max` match.
    fn make_room(&mut self, max: usize, matches: impl Fn(&Session) -> bool) {
        loop {
            let matching = self.open.iter().filter(|(_, session)| matches(session));
            let oldest = matching.clone().min_by_key(|(_, session)| session.last_activity);
            let Some((oldest, _)) = oldest.filter(|_| matching.count() >= max) else {
                return;
            };
            let oldest = *oldest;
            self.remove(&oldest);
        }
    }

    /// Returns the user of a session and records activity at `now`; `None` if the session does not exist or has ended.
    pub(super) fn guest(&mut self, now: Moment, secret: &str) -> Option<Guest> {
        self.expire(now);
        let session = self.open.get_mut(&digest(secret))?;
        session.last_activity = now;
        Some(session.guest.clone())
    }

    /// Returns a receiver that fails when the session has ended. As long as the receiver exists, the session counts as
    /// active. `None` if the session does not exist.
    pub(super) fn follow(&self, secret: &str) -> Option<watch::Receiver<()>> {
        Some(self.open.get(&digest(secret))?.alive.subscribe())
    }

    pub(super) fn end(&mut self, secret: &str) {
        self.remove(&digest(secret));
    }

    /// Ends the sessions of users whose line in the file of users was removed or changed. `lines` has the digests of the
    /// valid lines that apply.
    pub(super) fn keep_listed(&mut self, lines: &[Digest]) {
        self.unreadable = 0;
        for session in self.open.values_mut() {
            let is_listed = lines.contains(&session.line);
            session.unlisted = if is_listed {
                0
            } else {
                session.unlisted.saturating_add(1)
            };
        }
        for guest in self.remove_if(|session| session.unlisted >= MAX_UNLISTED) {
            tracing::info!(
                "[desk]: ended a session of {}, whose line in the file of users was removed or changed",
                guest.name
            );
        }
    }

    /// Notes a failed reading of the file of users. Ends all sessions after [`MAX_UNREADABLE`] successive ones.
    pub(super) fn end_if_unreadable(&mut self) {
        self.unreadable = self.unreadable.saturating_add(1);
        if self.unreadable >= MAX_UNREADABLE && !self.remove_if(|_| true).is_empty() {
            tracing::warn!(
                "[desk]: everybody has to log in again, because the file of users cannot be read, so removed users are \
                 unknown: correct the file, or its permissions"
            );
        }
    }

    /// Ends the sessions of users without a line at once, without waiting for a second reading.
    pub(super) fn end_unlisted(&mut self, lines: &[Digest]) {
        self.remove_if(|session| !lines.contains(&session.line));
    }

    pub(super) fn expire(&mut self, now: Moment) {
        for session in self.open.values_mut() {
            if session.alive.receiver_count() > 0 {
                session.last_activity = now;
            }
        }
        self.remove_if(|session| session.last_activity + LASTS <= now);
    }

    fn remove(&mut self, secret: &Digest) {
        if self.open.remove(secret).is_some() {
            self.changes += 1;
        }
    }

    fn remove_if(&mut self, ends: impl Fn(&Session) -> bool) -> Vec<Guest> {
        let ended = self.open.extract_if(.., |_, session| ends(session));
        let ended: Vec<Guest> = ended.map(|(_, session)| session.guest).collect();
        self.changes += ended.len() as u64;
        ended
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) const fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn to_keep(&self, now: Now) -> Vec<KeptSession> {
        let sessions = self.open.iter().map(|(secret, session)| KeptSession {
            secret: *secret,
            user: session.guest.name.clone(),
            role: session.guest.role,
            line: session.line,
            last_activity: now.time.saturating_sub(now.moment.since(session.last_activity)),
        });
        sessions.collect()
    }

    /// Continues stored sessions. If the computer's clock was set back since, they count as active now.
    pub(super) fn of_kept(kept: Vec<KeptSession>, now: Now) -> Self {
        let sessions = kept.into_iter().take(MAX_SESSIONS).map(|kept| {
            let inactive = now.time.saturating_duration_since(kept.last_activity);
            let guest = Guest {
                name: kept.user,
                role: kept.role,
            };
            let session = Session::new(guest, kept.line, now.moment.before(inactive));
            (kept.secret, session)
        });
        let mut sessions = Self {
            open: sessions.collect(),
            ..Self::default()
        };
        sessions.expire(now.moment);
        sessions
    }
}

impl Session {
    fn new(guest: Guest, line: Digest, last_activity: Moment) -> Self {
        Self {
            guest,
            line,
            last_activity,
            unlisted: 0,
            alive: watch::Sender::new(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;

    fn at(second: u64) -> Moment {
        Moment::after(Duration::from_secs(second))
    }

    fn present(second: u64) -> Now {
        Now {
            time: Timestamp::from_micros(1_700_000_000_000_000) + Duration::from_secs(second),
            moment: at(second),
        }
    }

    fn user(name: &str) -> User {
        User::read(&format!("{name} arbiter -")).expect("a user")
    }

    fn begun(secrets: &[&str]) -> Sessions {
        let mut sessions = Sessions::default();
        for secret in secrets {
            sessions.begin(at(0), secret, &user("meier"));
        }
        sessions
    }

    fn is_open(sessions: &mut Sessions, second: u64, secret: &str) -> bool {
        let guest = sessions.guest(at(second), secret);
        assert!(
            guest
                .as_ref()
                .is_none_or(|guest| (guest.name.as_str(), guest.role) == ("meier", Role::Arbiter))
        );
        guest.is_some()
    }

    #[test]
    fn a_session_ends_by_inactivity_or_logout() {
        let mut sessions = begun(&["a"]);
        assert!(is_open(&mut sessions, 12 * HOUR - 1, "a"));
        assert!(is_open(&mut sessions, 24 * HOUR - 2, "a"));
        assert!(!is_open(&mut sessions, 36 * HOUR - 2, "a"));
        let mut sessions = begun(&["b", "c"]);
        let before = sessions.changes();
        sessions.end("b");
        assert!(!is_open(&mut sessions, 0, "b") && is_open(&mut sessions, 0, "c"));
        assert_eq!(sessions.changes(), before + 1);
    }

    #[test]
    fn a_user_with_many_sessions_ends_only_their_own() {
        let mut sessions = begun(&["a"]);
        for number in 0..=MAX_OF_USER {
            sessions.begin(at(1 + number as u64), &number.to_string(), &user("hall"));
        }
        assert!(is_open(&mut sessions, 100, "a"));
        assert!(sessions.guest(at(100), "0").is_none());
        assert!(sessions.guest(at(100), "1").is_some());
        for number in 0..MAX_SESSIONS {
            sessions.begin(at(200), &format!("more {number}"), &user(&number.to_string()));
        }
        assert_eq!(sessions.open.len(), MAX_SESSIONS);
    }

    #[test]
    fn an_open_stream_keeps_the_session_and_ends_with_it() {
        let mut sessions = begun(&["a"]);
        let stream = sessions.follow("a").expect("a session");
        sessions.expire(at(13 * HOUR));
        assert!(is_open(&mut sessions, 24 * HOUR, "a"));
        assert!(stream.has_changed().is_ok());
        sessions.end("a");
        assert!(stream.has_changed().is_err(), "the stream has to end");
        assert!(sessions.follow("a").is_none());
    }

    #[test]
    fn new_sessions_do_not_end_that_of_an_open_page() {
        let mut sessions = begun(&["page"]);
        let stream = sessions.follow("page").expect("a session");
        for number in 0..=MAX_OF_USER {
            sessions.begin(at(1 + number as u64), &number.to_string(), &user("meier"));
        }
        assert!(is_open(&mut sessions, 100, "page"));
        assert!(
            !is_open(&mut sessions, 100, "0"),
            "it has no page and is the oldest"
        );
        assert!(stream.has_changed().is_ok());
    }

    #[test]
    fn sessions_end_if_the_users_cannot_be_read_for_long() {
        let mut sessions = begun(&["a"]);
        for _ in 1..MAX_UNREADABLE {
            sessions.end_if_unreadable();
        }
        assert!(is_open(&mut sessions, 1, "a"));
        sessions.keep_listed(&[user("meier").line_digest()]);
        for _ in 0..MAX_UNREADABLE {
            assert!(is_open(&mut sessions, 1, "a"));
            sessions.end_if_unreadable();
        }
        assert!(!is_open(&mut sessions, 1, "a"));
    }

    #[test]
    fn sessions_of_changed_or_removed_lines_end() {
        let hall = user("hall");
        let mut sessions = begun(&["a"]);
        sessions.begin(at(0), "h", &hall);
        let stream = sessions.follow("a").expect("a session");
        let changed = User::read("meier operator -").expect("a user");
        // A file that is being written is not complete at first.
        sessions.keep_listed(&[]);
        let all = [user("meier").line_digest(), hall.line_digest()];
        sessions.keep_listed(&all);
        assert!(is_open(&mut sessions, 1, "a"));
        for _ in 0..MAX_UNLISTED {
            assert!(is_open(&mut sessions, 1, "a"));
            sessions.keep_listed(&[changed.line_digest(), hall.line_digest()]);
        }
        assert!(!is_open(&mut sessions, 1, "a"));
        assert!(stream.has_changed().is_err());
        assert!(sessions.guest(at(1), "h").is_some());
    }

    #[test]
    fn stored_sessions_resume_with_their_age() {
        let mut sessions = begun(&["a", "b"]);
        assert!(is_open(&mut sessions, 5 * HOUR, "b"));
        let kept = sessions.to_keep(present(6 * HOUR));
        let text = serde_json::to_string(&kept).expect("JSON");
        assert!(!text.contains("\"a\""), "secrets are not stored: {text}");
        let kept: Vec<KeptSession> = serde_json::from_str(&text).expect("what was written");
        let mut restored = Sessions::of_kept(kept.clone(), present(12 * HOUR));
        assert!(!is_open(&mut restored, 12 * HOUR, "a"));
        assert!(is_open(&mut restored, 12 * HOUR, "b"));
        assert_eq!(
            restored.to_keep(present(12 * HOUR))[0].line,
            user("meier").line_digest()
        );
        // The clock was set back: nothing expires earlier than usual.
        let mut restored = Sessions::of_kept(kept.clone(), present(0));
        assert!(is_open(&mut restored, 12 * HOUR - 1, "a"));
        let many = vec![kept[0].clone(); 10 * MAX_SESSIONS];
        assert!(Sessions::of_kept(many, present(0)).open.len() <= MAX_SESSIONS);
    }
}
