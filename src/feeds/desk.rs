//! Serves the desk: a page for arbiters, who log in, see every board without delay, and give commands.
//!
//! One task follows what happens. Each page has a stream of its own: one that does not take what it is told is hung up on,
//! comes again and begins with everything.

mod door;
mod first;
mod orders;
mod outputs;
mod pairings;
mod review;
mod sessions;
pub(super) mod users;

use std::sync::Arc;

use axum::body::Bytes;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use super::{News, ToHall};
use crate::config::{self, Config};
use crate::output::desk::{Change, Desk};

/// Where a page is told what happens.
type Page = mpsc::Sender<Bytes>;

/// So many pages may wait to be let in.
const ASKS: usize = 16;
/// So much may wait for a page: what all boards of a large hall do at once.
const WAITING: usize = 512;

/// Starts the tasks; the configuration says where the games are, unless the boards are those of a hub. Must be called within
/// a runtime.
pub(super) fn start(
    (settings, config, is_hub): (config::Desk, Config, bool),
    told: mpsc::UnboundedReceiver<(Timestamp, Arc<News>)>,
    hall: ToHall,
) {
    if settings.is_open() {
        tracing::info!(
            "[desk]: {} is not encrypted: unless the network is trusted, put a proxy with TLS in front of it",
            settings.listen
        );
    }
    let (pages, opened) = mpsc::channel(ASKS);
    let host = Host {
        desk: Desk::default(),
        pages: Vec::new(),
    };
    // They work as long as the program runs, and there is nothing to finish.
    tokio::spawn(host.work(told, opened));
    tokio::spawn(door::serve(settings, (!is_hub).then_some(config), pages, hall));
}

/// Has what is shown.
struct Host {
    desk: Desk,
    pages: Vec<Page>,
}

impl Host {
    async fn work(
        mut self,
        mut told: mpsc::UnboundedReceiver<(Timestamp, Arc<News>)>,
        mut opened: mpsc::Receiver<Page>,
    ) {
        loop {
            tokio::select! {
                biased;
                news = told.recv() => {
                    let Some((_, news)) = news else { return };
                    self.hear(&news);
                    // What is on its way belongs to the same move.
                    while let Ok((_, news)) = told.try_recv() {
                        self.hear(&news);
                    }
                }
                Some(page) = opened.recv() => {
                    let all = message("all", &self.desk.all());
                    let pairings = message("pairings", &self.desk.pairings());
                    if page.try_send(all).is_ok() && page.try_send(pairings).is_ok() {
                        self.pages.push(page);
                    }
                }
            }
            self.tell();
        }
    }

    fn hear(&mut self, news: &News) {
        match news {
            News::Events(events) => events.iter().for_each(|event| self.desk.take(event)),
            News::Past(_, events) => self.desk.resume(events),
            News::Sight(sight) => self.desk.see((**sight).clone()),
            News::Pairings(Some(tournament)) => self.desk.pair(Arc::clone(tournament)),
            News::Round(round) => self.desk.seat(*round),
            News::Kept(kept) | News::Journals(kept) => self.desk.keep(*kept),
            // The clock is part of what is seen of a board, and nothing is held.
            News::Clock(..)
            | News::Serial(..)
            | News::Pairings(None)
            | News::Facts(_)
            | News::SetForward(_)
            | News::Restart(_)
            | News::Tick => {}
        }
    }

    fn tell(&mut self) {
        for change in self.desk.poll_changes() {
            let message = match change {
                Change::Board(news) => message("board", &news),
                Change::Gone(board) => message("gone", &board),
                Change::Pairings(pairings) => message("pairings", &pairings),
                Change::Kept(kept) => message("kept", &kept),
            };
            self.pages.retain(|page| page.try_send(message.clone()).is_ok());
        }
    }
}

/// A server-sent event. JSON has no line breaks.
fn message(event: &str, data: &str) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}
