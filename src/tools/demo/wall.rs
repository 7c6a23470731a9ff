//! The demonstration's board in a browser.

#[cfg(target_os = "linux")]
use {
    crate::events::Event,
    crate::feeds::{FeedSettings, Feeds, ToHall},
    crate::output::broadcast::EventFacts,
    crate::output::mqtt::payload::ClockPicture,
    crate::system_time::wall_time,
    std::net::{Ipv4Addr, SocketAddr, TcpListener},
    std::sync::Arc,
};

use crate::events::ExplainedEvent;
use crate::hall::Board;

/// Serves the wall until it is dropped.
#[derive(Debug)]
pub(super) struct Wall {
    #[cfg(target_os = "linux")]
    feeds: Feeds,
    /// Where it is; `None`: nowhere.
    address: Option<String>,
}

#[cfg(target_os = "linux")]
impl Wall {
    /// Starts it on a port of the loopback interface: 8080 if that is free, else any. Must be called within a runtime.
    pub(super) fn start() -> Self {
        let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).and_then(|port| port.local_addr());
        let address: Option<SocketAddr> = free(USUAL).or_else(|_| free(0)).ok();
        let settings = address.map_or_else(FeedSettings::default, FeedSettings::serving);
        let facts = EventFacts {
            name: Some("kiebitz demo".to_owned()),
            ..EventFacts::default()
        };
        let (feeds, _) = Feeds::start(settings, &facts, ToHall::nobody());
        feeds.pair(wall_time(), Arc::default());
        let address = address.map(|address| format!("http://{address}/"));
        Self { feeds, address }
    }

    /// Shows what came of a step of a recording, as if it happened now.
    pub(super) fn show(&mut self, stream: &str, said: &[ExplainedEvent], board: &Board) {
        let now = wall_time();
        let events = said.iter().map(|said| Event {
            ts: now,
            at: None,
            // The recordings were made on the same day, and their games are called the same.
            game: said.event.game.as_ref().map(|game| format!("{stream}-{game}")),
            ..said.event.clone()
        });
        let events: Vec<Event> = events.collect();
        let clock = ClockPicture {
            as_of: Some(now),
            ..ClockPicture::new(board.tracker().clock())
        };
        self.feeds.take(now, &events);
        self.feeds.take_clock(now, board.name(), clock);
    }
}

#[cfg(not(target_os = "linux"))]
impl Wall {
    pub(super) fn start() -> Self {
        Self { address: None }
    }

    #[expect(clippy::unused_self, reason = "as where it is served")]
    pub(super) fn show(&mut self, _: &str, _: &[ExplainedEvent], _: &Board) {}
}

impl Wall {
    /// Its address; `None`: it is served nowhere.
    pub(super) fn address(&self) -> Option<String> {
        self.address.clone()
    }
}

/// The port that a broadcast mostly has.
#[cfg(target_os = "linux")]
const USUAL: u16 = 8080;
