//! Sessions of the desk, and limits on failed logins.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use super::users::Role;
use crate::system_time::Moment;

/// A logged-in user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) role: Role,
}

/// All sessions, and recent login attempts.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// User and last activity of each session, by the secret in the browser's cookie.
    open: BTreeMap<String, (Guest, Moment)>,
    /// Times of recent failed logins, by user name.
    failures: BTreeMap<String, VecDeque<Moment>>,
}

/// A session ends after twelve hours of inactivity.
const LASTS: Duration = Duration::from_secs(12 * 3600);
/// Limit on sessions; a new one ends the one that was inactive for longest.
const MAX_SESSIONS: usize = 64;
/// Limits on failed logins within [`WITHIN`], for one name and for all names together.
const MAX_FAILURES: usize = 5;
const MAX_FAILURES_OF_ALL: usize = 30;
const WITHIN: Duration = Duration::from_secs(60);

impl Sessions {
    /// Counts a login attempt at `now`. Fails with the time to wait if there were too many.
    pub(super) fn may_try(&mut self, now: Moment, name: &str) -> Result<(), Duration> {
        self.failures.retain(|_, tries| {
            tries.retain(|at| *at + WITHIN > now);
            !tries.is_empty()
        });
        let of_name = self.failures.get(name).map_or(0, VecDeque::len);
        let of_all: usize = self.failures.values().map(VecDeque::len).sum();
        if of_name >= MAX_FAILURES || of_all >= MAX_FAILURES_OF_ALL {
            return Err(WITHIN);
        }
        // Counted as a failure until the login succeeds, as attempts may run at the same time.
        self.failures.entry(name.to_owned()).or_default().push_back(now);
        Ok(())
    }

    /// Begins a session. Clears the user's failed logins.
    pub(super) fn begin(&mut self, now: Moment, secret: String, guest: Guest) {
        self.failures.remove(&guest.name);
        while self.open.len() >= MAX_SESSIONS {
            let oldest = self.open.iter().min_by_key(|(_, (_, last))| *last);
            let Some(oldest) = oldest.map(|(secret, _)| secret.clone()) else {
                break;
            };
            self.open.remove(&oldest);
        }
        self.open.insert(secret, (guest, now));
    }

    /// Returns the user of a session and notes activity at `now`; `None` if the session does not exist or has ended.
    pub(super) fn guest(&mut self, now: Moment, secret: &str) -> Option<Guest> {
        self.open.retain(|_, (_, last)| *last + LASTS > now);
        let (guest, last) = self.open.get_mut(secret)?;
        *last = now;
        Some(guest.clone())
    }

    pub(super) fn end(&mut self, secret: &str) {
        self.open.remove(secret);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Moment {
        Moment::after(Duration::from_secs(second))
    }

    fn guest(name: &str) -> Guest {
        Guest {
            name: name.to_owned(),
            role: Role::Arbiter,
        }
    }

    #[test]
    fn a_session_ends_by_inactivity_or_logout() {
        let mut sessions = Sessions::default();
        sessions.begin(at(0), "a".to_owned(), guest("meier"));
        assert_eq!(sessions.guest(at(12 * 3600 - 1), "a"), Some(guest("meier")));
        assert_eq!(sessions.guest(at(24 * 3600 - 2), "a"), Some(guest("meier")));
        assert_eq!(sessions.guest(at(36 * 3600 - 2), "a"), None);
        sessions.begin(at(0), "b".to_owned(), guest("meier"));
        sessions.end("b");
        assert_eq!(sessions.guest(at(0), "b"), None);
        for number in 0..=MAX_SESSIONS {
            sessions.begin(at(number as u64), number.to_string(), guest("meier"));
        }
        assert_eq!(sessions.guest(at(100), "0"), None);
        assert!(sessions.guest(at(100), "1").is_some());
    }

    #[test]
    fn failed_logins_are_limited() {
        let mut sessions = Sessions::default();
        for _ in 0..MAX_FAILURES {
            assert_eq!(sessions.may_try(at(0), "meier"), Ok(()));
        }
        assert!(sessions.may_try(at(59), "meier").is_err());
        assert_eq!(sessions.may_try(at(59), "adler"), Ok(()));
        assert_eq!(sessions.may_try(at(60), "meier"), Ok(()));
        sessions.begin(at(60), "a".to_owned(), guest("meier"));
        for number in 0..MAX_FAILURES_OF_ALL {
            let _ = sessions.may_try(at(61), &number.to_string());
        }
        assert!(
            sessions.may_try(at(61), "meier").is_err(),
            "whoever tries all names is slowed down"
        );
    }
}
