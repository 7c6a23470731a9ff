//! Serves the desk: a page for arbiters, who log in, see every board without delay, and give commands.
//!
//! One task follows what happens. Each page has a stream of its own: one that does not take what it is told is hung up on,
//! comes again and begins with everything.

use std::path::Path;
use std::sync::Arc;

use axum::body::Bytes;
use kiebitz_game::laws::Language;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use super::door;
use super::projection::{Desk, DeskUpdate};
use super::settings::DeskSettings as Settings;
use crate::kept::Archive;
use crate::outputs::feeds::{FeedInput, Output, Starting};
use crate::outputs::shared::to_hall::ToHall;
use crate::outputs::shared::trial::Trial;
use crate::tournament::files::PairingFiles;

/// Where a page is told what happens.
pub(super) type PageSender = mpsc::Sender<Bytes>;

/// So many pages may wait to be let in.
const ASKS: usize = 16;
/// So much may wait for a page: what all boards of a large hall do at once.
pub(super) const WAITING: usize = 512;

/// The desk, with what it has of the hall.
#[derive(Debug, Clone)]
pub(crate) struct DeskOutput {
    /// Where it is served, and to whom.
    pub(crate) settings: Settings,
    /// `None` at a hub, which has the boards elsewhere, and so journal, recordings and pairings.
    pub(crate) in_hall: Option<InHall>,
}

/// What a desk in the hall offers besides what happens there.
#[derive(Debug, Clone)]
pub(crate) struct InHall {
    /// Where pairings are read from, and may be dropped in.
    pub(crate) pairings: PairingFiles,
    /// Past games.
    pub(crate) archive: Archive,
}

impl InHall {
    /// What there is by a configuration.
    pub(crate) const fn new(pairings: PairingFiles, archive: Archive) -> Self {
        Self { pairings, archive }
    }
}

impl Output for DeskOutput {
    fn start(&self, starting: &mut Starting) {
        starting.want_statuses();
        let inputs = starting.follow();
        // A hub's outputs are not offered to be tried out.
        let trials = match &self.in_hall {
            Some(_) => starting.trials.clone(),
            None => Vec::new(),
        };
        let around = DeskContext {
            in_hall: self.in_hall.clone(),
            trials,
            language: starting.language,
            hall: starting.hall.clone(),
        };
        start(self.settings.clone(), around, inputs);
    }

    fn secrets(&self) -> Vec<&Path> {
        vec![&self.settings.users_file]
    }
}

/// What pages are answered from, besides what happens.
pub(super) struct DeskContext {
    pub(super) in_hall: Option<InHall>,
    pub(super) trials: Vec<Trial>,
    /// Of the event.
    pub(super) language: Language,
    pub(super) hall: ToHall,
}

/// Starts the tasks. Must be called within a runtime.
fn start(
    settings: Settings,
    around: DeskContext,
    inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
) {
    if settings.is_open() {
        tracing::info!(
            "[desk]: {} is not encrypted: unless the network is trusted, put a proxy with TLS in front of it",
            settings.listen
        );
    }
    let (pages, opened) = mpsc::channel(ASKS);
    let host = DeskTask {
        desk: Desk::default(),
        pages: Vec::new(),
    };
    // They work as long as the program runs, and there is nothing to finish.
    tokio::spawn(host.work(inputs, opened));
    tokio::spawn(door::serve(settings, around, pages));
}

/// Has what is shown.
struct DeskTask {
    desk: Desk,
    pages: Vec<PageSender>,
}

impl DeskTask {
    async fn work(
        mut self,
        mut inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
        mut opened: mpsc::Receiver<PageSender>,
    ) {
        loop {
            tokio::select! {
                biased;
                input = inputs.recv() => {
                    let Some((_, input)) = input else { return };
                    self.hear(&input);
                    // What is on its way belongs to the same move.
                    while let Ok((_, input)) = inputs.try_recv() {
                        self.hear(&input);
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

    fn hear(&mut self, input: &FeedInput) {
        match input {
            FeedInput::Events(events) => events.iter().for_each(|event| self.desk.take(event)),
            FeedInput::Past(_, events) => self.desk.resume(events),
            FeedInput::Status(status) => self.desk.see((**status).clone()),
            FeedInput::Pairings(Some(tournament)) => self.desk.pair(Arc::clone(tournament)),
            FeedInput::Round(round) => self.desk.set_round(*round),
            FeedInput::Kept(kept) | FeedInput::Journals(kept) => self.desk.keep(*kept),
            // The clock is part of what is seen of a board, and nothing is held.
            FeedInput::Clock(..)
            | FeedInput::Serial(..)
            | FeedInput::Pairings(None)
            | FeedInput::Facts(_)
            | FeedInput::SetForward(_)
            | FeedInput::Restart(_)
            | FeedInput::Tick => {}
        }
    }

    fn tell(&mut self) {
        for change in self.desk.poll_changes() {
            let message = match change {
                DeskUpdate::Board(input) => message("board", &input),
                DeskUpdate::Gone(board) => message("gone", &board),
                DeskUpdate::Pairings(pairings) => message("pairings", &pairings),
                DeskUpdate::Kept(kept) => message("kept", &kept),
            };
            self.pages.retain(|page| page.try_send(message.clone()).is_ok());
        }
    }
}

/// A server-sent event. JSON has no line breaks.
fn message(event: &str, data: &str) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}
