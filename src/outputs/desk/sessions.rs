//! Who is logged in, and how often somebody may try.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use super::users::Role;
use crate::system_time::Moment;

/// Somebody who is logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) role: Role,
}

/// Everybody who is logged in.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// By the secret that their browsers have.
    open: BTreeMap<String, (Guest, Moment)>,
    /// When somebody last tried a wrong password, by name.
    failures: BTreeMap<String, VecDeque<Moment>>,
}

/// Who does nothing for this long has to log in again.
const LASTS: Duration = Duration::from_secs(12 * 3600);
/// So many may be logged in at a time; the one who did nothing for longest is logged out.
const MAX_SESSIONS: usize = 64;
/// So many wrong passwords may be tried for a name within this time, and for all names together.
const MAX_FAILURES: usize = 5;
const MAX_FAILURES_OF_ALL: usize = 30;
const WITHIN: Duration = Duration::from_secs(60);

impl Sessions {
    /// Whether somebody may try to log in at `now`; else how long they have to wait.
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
        // It counts as wrong until it turns out to be right: many may be tried at once.
        self.failures.entry(name.to_owned()).or_default().push_back(now);
        Ok(())
    }

    /// Somebody is logged in from `now` on, with that secret.
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

    /// Who has that secret at `now`.
    pub(super) fn guest(&mut self, now: Moment, secret: &str) -> Option<Guest> {
        self.open.retain(|_, (_, last)| *last + LASTS > now);
        let (guest, last) = self.open.get_mut(secret)?;
        *last = now;
        Some(guest.clone())
    }

    /// Logs somebody out.
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
    fn a_session_ends_when_nothing_is_done_or_by_hand() {
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
    fn passwords_cannot_be_tried_for_long() {
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
