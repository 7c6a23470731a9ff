//! Tracks which daemons are running, by their published states, and the current round.

use core::time::Duration;
use std::collections::BTreeMap;

use anyhow::Result;
use kiebitz_game::events::some_time;
use kiebitz_hardware::Timestamp;
use serde::Deserialize;

use super::check_room;
use super::clocks::Clocks;
use crate::outputs::desk::web_address;
use crate::system_time::{Moment, Now};

#[derive(Debug, Default)]
pub(super) struct Daemons {
    /// By hall and host.
    known: BTreeMap<(usize, String), KnownDaemon>,
    /// Time since which the broker is disconnected; `None` while it is connected.
    cut_off: Option<Moment>,
    /// Round that was started last.
    round: Option<u32>,
    pub(super) clocks: Clocks,
}

#[derive(Debug)]
struct KnownDaemon {
    is_online: bool,
    last_message: Moment,
    round: Option<u32>,
    stores_events: bool,
    /// Address of its desk; `None` until announced.
    desk: Option<String>,
}

/// The used fields of `daemons/HOST/state`.
#[derive(Debug, Deserialize)]
struct ReportedDaemon {
    state: String,
    host: String,
    #[serde(default, deserialize_with = "some_time")]
    as_of: Option<Timestamp>,
    round: Option<u32>,
    journal: Option<ReportedJournal>,
    desk: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ReportedJournal {
    ok: bool,
}

/// Time without a message after which a daemon counts as away. Daemons publish their state every minute.
const SILENCE: Duration = Duration::from_secs(125);
/// Time after which a lost connection to the broker counts. Short interruptions are normal.
const CUT_OFF: Duration = Duration::from_secs(10);

impl Daemons {
    /// Applies the published state of a daemon in a hall. `retained` is true if the broker had stored the state.
    pub(super) fn update(&mut self, now: Now, hall: usize, payload: &[u8], retained: bool) -> Result<()> {
        if payload.is_empty() {
            return Ok(());
        }
        let report: ReportedDaemon = serde_json::from_slice(payload)?;
        // The daemon's clock may be wrong: a live message counts as current.
        let age = report.as_of.filter(|_| retained);
        let age = age.map(|at| now.time.saturating_duration_since(at));
        let last_message = now.moment.before(age.unwrap_or_default());
        let host = (hall, report.host.clone());
        check_room(&self.known, &host)?;
        match report.as_of {
            Some(at) if retained => self.clocks.update(now.time, host, at, false),
            Some(at) => self.clocks.set(now.time, host, at),
            None => self.clocks.forget(&host),
        }
        let daemon = self.known.entry((hall, report.host)).or_insert(KnownDaemon {
            is_online: false,
            last_message,
            round: None,
            stores_events: true,
            desk: None,
        });
        daemon.is_online = report.state == "online";
        daemon.last_message = last_message;
        // The last will has no address, but the desk may be reached when only its broker is not.
        if let Some(desk) = report.desk.as_deref().and_then(web_address) {
            daemon.desk = Some(desk);
        }
        daemon.stores_events = report.journal.is_none_or(|journal| journal.ok);
        if report.round.is_some() && report.round != daemon.round {
            daemon.round = report.round;
            // Retained states arrive in any order; the highest round counts.
            self.round = if retained {
                self.round.max(report.round)
            } else {
                report.round
            };
        }
        Ok(())
    }

    pub(super) fn connect(&mut self, now: Moment, is_connected: bool) {
        self.cut_off = match (is_connected, self.cut_off) {
            (true, _) => None,
            (false, since) => since.or(Some(now)),
        };
    }

    pub(super) const fn are_connected(&self) -> bool {
        self.cut_off.is_none()
    }

    /// Sets the round whose pairings are assigned to the boards.
    pub(super) fn begin(&mut self, round: u32) {
        self.round = Some(round);
    }

    /// Whether a daemon counts as running at the time `now`. A daemon that has published no state does.
    pub(super) fn is_there(&self, now: Moment, hall: usize, host: &str) -> bool {
        let is_cut_off = self.cut_off.is_some_and(|since| now >= since + CUT_OFF);
        let daemon = self.known.get(&(hall, host.to_owned()));
        let is_heard = daemon.is_none_or(|daemon| daemon.is_online && now < daemon.last_message + SILENCE);
        is_heard && !is_cut_off
    }

    /// Whether a daemon has published that it is offline, or the broker has done so on its behalf.
    pub(super) fn is_gone(&self, hall: usize, host: &str) -> bool {
        let daemon = self.known.get(&(hall, host.to_owned()));
        daemon.is_some_and(|daemon| !daemon.is_online)
    }

    /// Address of a daemon's desk; `None` if it has announced none.
    pub(super) fn desk(&self, hall: usize, host: &str) -> Option<&str> {
        self.known.get(&(hall, host.to_owned()))?.desk.as_deref()
    }

    /// Whether the journals of all online daemons store events, according to their states.
    pub(super) fn all_store_events(&self) -> bool {
        self.known
            .values()
            .all(|daemon| daemon.stores_events || !daemon.is_online)
    }

    /// The round whose pairings are assigned to the boards; `None` until a daemon has reported one.
    pub(super) const fn round(&self) -> Option<u32> {
        self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Moment {
        Moment::after(Duration::from_secs(seconds))
    }

    fn now(seconds: u64) -> Now {
        Now {
            time: Timestamp::from_micros(1_795_269_600_000_000) + Duration::from_secs(seconds),
            moment: at(seconds),
        }
    }

    fn online(round: u32) -> Vec<u8> {
        let as_of = kiebitz_game::events::time_text(now(0).time);
        format!("{{\"state\":\"online\",\"host\":\"pi\",\"version\":\"0.1.0\",\"as_of\":\"{as_of}\",\"round\":{round}}}")
            .into_bytes()
    }

    const OFFLINE: &[u8] = br#"{"state":"offline","host":"pi","version":"0.1.0"}"#;

    fn world() -> Daemons {
        let mut daemons = Daemons::default();
        daemons.connect(at(0), true);
        daemons
    }

    #[test]
    fn a_daemon_is_running_until_it_goes_offline_or_silent() {
        let mut daemons = world();
        assert!(
            daemons.is_there(at(0), 0, "pi"),
            "one that says nothing of itself"
        );
        daemons.update(now(60), 0, &online(1), false).expect("understood");
        assert!(daemons.is_there(at(184), 0, "pi"));
        assert!(!daemons.is_there(at(185), 0, "pi"));
        assert!(!daemons.is_gone(0, "pi"), "it may be there all the same");
        daemons
            .update(now(190), 0, &online(1), false)
            .expect("understood");
        daemons.update(now(191), 0, OFFLINE, false).expect("understood");
        assert!(!daemons.is_there(at(191), 0, "pi") && daemons.is_gone(0, "pi"));
        assert!(daemons.is_there(at(191), 1, "pi"), "another hall's");
        daemons
            .update(now(192), 0, br#"{"state":"online","host":"pi"}"#, false)
            .expect("understood");
        assert!(daemons.is_there(at(192), 0, "pi"));
    }

    #[test]
    fn a_limited_number_of_daemons_is_known() {
        let mut daemons = world();
        let state = |host: usize| format!(r#"{{"state":"online","host":"pi-{host}"}}"#);
        for host in 0..5_000 {
            let is_known = daemons.update(now(0), 0, state(host).as_bytes(), false).is_ok();
            assert_eq!(is_known, host < 2_000, "{host}");
        }
        assert_eq!(daemons.known.len(), 2_000);
        daemons
            .update(now(1), 0, state(7).as_bytes(), false)
            .expect("a known one");
    }

    #[test]
    fn a_failing_journal_counts_until_it_recovers_or_its_daemon_is_offline() {
        let mut daemons = world();
        daemons.update(now(0), 0, &online(1), false).expect("understood");
        assert!(daemons.all_store_events());
        for rest in [r#""ok":true"#, r#""ok":false,"problem":"full""#] {
            let state = format!(r#"{{"state":"online","host":"pi","journal":{{{rest}}}}}"#);
            daemons
                .update(now(1), 0, state.as_bytes(), false)
                .expect("understood");
            assert_eq!(daemons.all_store_events(), rest.contains("true"));
        }
        daemons.update(now(2), 0, OFFLINE, false).expect("understood");
        assert!(daemons.all_store_events());
    }

    #[test]
    fn address_of_a_desk_stays_known_while_its_daemon_is_offline() {
        let mut daemons = world();
        let state = |desk: &str| format!(r#"{{"state":"online","host":"pi","desk":"{desk}"}}"#);
        daemons
            .update(now(0), 0, state("javascript:alert(1)").as_bytes(), true)
            .expect("understood");
        assert_eq!(daemons.desk(0, "pi"), None, "not a page");
        daemons
            .update(now(0), 0, state("http://pi:8038/").as_bytes(), true)
            .expect("understood");
        daemons.update(now(1), 0, OFFLINE, false).expect("understood");
        assert_eq!(daemons.desk(0, "pi"), Some("http://pi:8038/"));
        assert_eq!(daemons.desk(1, "pi"), None, "another hall's");
    }

    #[test]
    fn retained_states_are_as_old_as_they_say() {
        let mut daemons = world();
        daemons
            .update(now(3600), 0, &online(1), true)
            .expect("understood");
        assert!(!daemons.is_there(at(3600), 0, "pi"));
        // A live message counts as current, whatever the daemon's clock says.
        daemons
            .update(now(3601), 0, &online(1), false)
            .expect("understood");
        assert!(daemons.is_there(at(3601), 0, "pi"));
    }

    #[test]
    fn daemons_are_away_soon_after_the_broker_is_lost() {
        let mut daemons = world();
        daemons.update(now(0), 0, &online(1), false).expect("understood");
        daemons.connect(at(20), false);
        daemons.connect(at(25), false);
        assert!(!daemons.are_connected());
        assert!(daemons.is_there(at(29), 0, "pi"));
        assert!(!daemons.is_there(at(30), 0, "pi"));
        daemons.connect(at(31), true);
        assert!(daemons.is_there(at(31), 0, "pi"));
    }

    #[test]
    fn the_last_begun_round_counts() {
        let mut daemons = world();
        assert_eq!(daemons.round(), None);
        daemons.update(now(0), 0, &online(4), true).expect("understood");
        daemons.update(now(0), 1, &online(3), true).expect("understood");
        assert_eq!(daemons.round(), Some(4));
        daemons.update(now(9), 1, &online(3), false).expect("understood");
        assert_eq!(daemons.round(), Some(4), "nothing was begun");
        daemons.update(now(10), 1, &online(2), false).expect("understood");
        assert_eq!(daemons.round(), Some(2));
        daemons.update(now(11), 1, OFFLINE, false).expect("understood");
        assert_eq!(daemons.round(), Some(2));
        daemons.begin(3);
        assert_eq!(daemons.round(), Some(3));
    }
}
