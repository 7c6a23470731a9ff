//! Limits on login attempts. They slow down guessing without locking anybody out: attempts from one source do not count
//! for others.

use core::time::Duration;
use std::collections::VecDeque;
use std::net::IpAddr;

use super::secrets::{Digest, digest};
use crate::limits::network;
use crate::system_time::Moment;

/// Origin of a login attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A browser in which the user has logged in before, by the id in its signed cookie.
    Device([u8; 16]),
    /// A [network] that belongs to one client.
    Network(IpAddr),
}

impl Source {
    pub(super) fn of_address(address: IpAddr) -> Self {
        Self::Network(network(address))
    }

    pub(super) const fn is_device(self) -> bool {
        matches!(self, Self::Device(_))
    }
}

/// Recent login attempts that have not succeeded: at most [`MAX_NETWORKS`] from networks, and at most [`MAX_DEVICES`] for
/// each user from devices.
#[derive(Debug, Default)]
pub(super) struct AttemptLimits(VecDeque<Attempt>);

#[derive(Debug)]
struct Attempt {
    at: Moment,
    source: Source,
    /// Digest of the user's name, which may be long.
    name: Digest,
}

/// Time for which an attempt counts.
const WITHIN: Duration = Duration::from_secs(60);
/// Limits on attempts: for one name from one source, and for all names from one source.
const MAX_PAIR: usize = 5;
const MAX_SOURCE: usize = 20;
/// Limit on attempts from all networks, which bounds the work of checking passwords.
const MAX_NETWORKS: usize = 120;
/// Limit on attempts for one name from all its devices. The signature of a device's cookie proves the name, so users
/// with many devices limit only themselves.
const MAX_DEVICES: usize = 30;

impl AttemptLimits {
    /// Counts a login attempt at `now` for the first of `sources` that has not reached a limit, and returns this
    /// source. Fails with the shortest time to wait if all have reached one.
    pub(super) fn begin_any(
        &mut self,
        now: Moment,
        sources: impl IntoIterator<Item = Source>,
        name: &str,
    ) -> Result<Source, Duration> {
        let mut shortest = WITHIN;
        for source in sources {
            match self.begin(now, source, name) {
                Ok(()) => return Ok(source),
                Err(wait) => shortest = shortest.min(wait),
            }
        }
        Err(shortest)
    }

    /// Counts a login attempt at `now`. Fails with the time to wait if there were too many.
    pub(super) fn begin(&mut self, now: Moment, source: Source, name: &str) -> Result<(), Duration> {
        self.0.retain(|attempt| attempt.at + WITHIN > now);
        let name = digest(name);
        let of_pair = |attempt: &Attempt| attempt.source == source && attempt.name == name;
        self.limit(now, MAX_PAIR, of_pair)?;
        self.limit(now, MAX_SOURCE, |attempt| attempt.source == source)?;
        match source {
            Source::Device(_) => self.limit(now, MAX_DEVICES, |attempt| {
                attempt.source.is_device() && attempt.name == name
            })?,
            Source::Network(_) => self.limit(now, MAX_NETWORKS, |attempt| !attempt.source.is_device())?,
        }
        // Counted until the login succeeds, as attempts may run at the same time.
        self.0.push_back(Attempt {
            at: now,
            source,
            name,
        });
        Ok(())
    }

    /// Removes an attempt whose password was not checked.
    pub(super) fn withdraw(&mut self, source: Source, name: &str) {
        let name = digest(name);
        let mut attempts = self.0.iter();
        let last = attempts.rposition(|attempt| attempt.source == source && attempt.name == name);
        last.and_then(|last| self.0.remove(last));
    }

    /// Forgets the attempts of a user who has logged in.
    pub(super) fn succeed(&mut self, source: Source, name: &str) {
        let name = digest(name);
        self.0
            .retain(|attempt| attempt.source != source || attempt.name != name);
    }

    /// Fails if `max` attempts match, with the time until one of them no longer counts.
    fn limit(&self, now: Moment, max: usize, matches: impl Fn(&Attempt) -> bool) -> Result<(), Duration> {
        // The oldest attempts come first.
        let mut matching = self.0.iter().filter(|attempt| matches(attempt));
        let oldest = matching.next().map(|attempt| attempt.at);
        match oldest {
            Some(oldest) if 1 + matching.count() >= max => Err((oldest + WITHIN).since(now)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Moment {
        Moment::after(Duration::from_secs(second))
    }

    fn from(address: &str) -> Source {
        Source::of_address(address.parse().expect("an address"))
    }

    #[test]
    fn wrong_passwords_do_not_lock_out_the_user_elsewhere() {
        let mut limits = AttemptLimits::default();
        let attacker = from("192.0.2.1");
        let tries = (0..200).map(|number| limits.begin(at(number / 10), attacker, "meier"));
        assert_eq!(tries.filter(Result::is_ok).count(), MAX_PAIR);
        assert_eq!(
            limits.begin(at(20), attacker, "meier"),
            Err(Duration::from_secs(40))
        );
        assert_eq!(limits.begin(at(20), from("192.0.2.2"), "meier"), Ok(()));
        assert_eq!(limits.begin(at(20), Source::Device([1; 16]), "meier"), Ok(()));
        assert_eq!(limits.begin(at(20), attacker, "adler"), Ok(()));
        assert_eq!(limits.begin(at(60), attacker, "meier"), Ok(()));
    }

    #[test]
    fn a_source_that_tries_many_names_is_limited() {
        let mut limits = AttemptLimits::default();
        let mut begin = |address: &str, name: usize| limits.begin(at(0), from(address), &name.to_string());
        for name in 0..MAX_SOURCE {
            // All addresses are in the same /64.
            assert_eq!(begin(&format!("2001:db8::{name:x}"), name), Ok(()));
        }
        assert!(begin("2001:db8::ffff", 99).is_err());
        assert_eq!(begin("2001:db8:0:1::1", 99), Ok(()));
        assert_eq!(from("::ffff:192.0.2.1"), from("192.0.2.1"));
    }

    #[test]
    fn attempts_of_all_networks_are_bounded_and_known_devices_pass() {
        let mut limits = AttemptLimits::default();
        for number in 0..10_000_u32 {
            let source = Source::of_address(std::net::Ipv4Addr::from_bits(number).into());
            let begun = limits.begin(at(0), source, "meier");
            assert_eq!(begun.is_ok(), (number as usize) < MAX_NETWORKS, "{number}");
            assert!(limits.0.len() <= MAX_NETWORKS);
        }
        let device = Source::Device([7; 16]);
        assert_eq!(limits.begin(at(1), device, "meier"), Ok(()));
        // A device is limited as well: its cookie may have been copied.
        for _ in 1..MAX_PAIR {
            assert_eq!(limits.begin(at(1), device, "meier"), Ok(()));
        }
        assert!(limits.begin(at(1), device, "meier").is_err());
        for device in 0..=255 {
            let _ = limits.begin(at(1), Source::Device([device; 16]), "meier");
        }
        assert_eq!(limits.0.len(), MAX_NETWORKS + MAX_DEVICES);
    }

    #[test]
    fn devices_of_one_user_do_not_limit_those_of_another() {
        let mut limits = AttemptLimits::default();
        for device in 0..24 {
            for _ in 0..MAX_PAIR {
                let _ = limits.begin(at(0), Source::Device([device; 16]), "hall");
            }
        }
        assert_eq!(
            limits.begin(at(30), Source::Device([24; 16]), "hall"),
            Err(Duration::from_secs(30)),
            "all devices of the user"
        );
        assert_eq!(limits.begin(at(30), Source::Device([99; 16]), "meier"), Ok(()));
    }

    #[test]
    fn a_limited_device_may_log_in_by_its_address() {
        let mut limits = AttemptLimits::default();
        let (device, address) = (Source::Device([1; 16]), from("192.0.2.1"));
        let mut begin = |second: u64| limits.begin_any(at(second), [device, address], "meier");
        for _ in 0..MAX_PAIR {
            assert_eq!(begin(0), Ok(device));
        }
        for _ in 0..MAX_PAIR {
            assert_eq!(begin(10), Ok(address));
        }
        assert_eq!(begin(20), Err(Duration::from_secs(40)), "the shorter time");
        assert_eq!(begin(60), Ok(device));
    }

    #[test]
    fn an_attempt_that_was_not_checked_does_not_count() {
        let mut limits = AttemptLimits::default();
        let source = from("192.0.2.1");
        for _ in 1..MAX_PAIR {
            assert_eq!(limits.begin(at(0), source, "meier"), Ok(()));
        }
        for _ in 0..3 {
            assert_eq!(limits.begin(at(1), source, "meier"), Ok(()));
            limits.withdraw(source, "meier");
            limits.withdraw(source, "adler");
        }
        assert_eq!(limits.begin(at(1), source, "meier"), Ok(()));
        assert!(limits.begin(at(1), source, "meier").is_err());
    }

    #[test]
    fn a_login_forgets_the_attempts_before_it() {
        let mut limits = AttemptLimits::default();
        let source = from("192.0.2.1");
        for _ in 0..3 * MAX_PAIR {
            assert_eq!(limits.begin(at(0), source, "meier"), Ok(()));
            limits.succeed(source, "meier");
        }
        for _ in 0..MAX_PAIR {
            assert_eq!(limits.begin(at(0), source, "adler"), Ok(()));
        }
        limits.succeed(source, "meier");
        limits.succeed(from("192.0.2.2"), "adler");
        assert!(limits.begin(at(0), source, "adler").is_err());
    }
}
