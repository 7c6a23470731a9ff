//! Runs the desk. One task follows the event feed and sends updates to each open page. It drops a page that does not
//! keep up; the page then reconnects and gets the full state.

use std::path::Path;
use std::sync::Arc;

use axum::body::Bytes;
use kiebitz_game::laws::Language;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use super::door;
use super::projection::{Desk, DeskUpdate};
use super::settings::DeskSettings as Settings;
use super::users;
use crate::kept::Archive;
use crate::outputs::feeds::{FeedInput, Output, Starting};
use crate::outputs::shared::to_hall::ToHall;
use crate::outputs::shared::trial::Trial;
use crate::tournament::files::PairingFiles;

pub(super) type PageSender = mpsc::Sender<Bytes>;

/// Capacity of the queue of newly opened pages.
const NEW_PAGES: usize = 16;
/// Capacity of a page's queue of updates: room for one change of every board in a large hall.
pub(super) const PAGE_QUEUE: usize = 512;

#[derive(Debug, Clone)]
pub(crate) struct DeskOutput {
    pub(crate) settings: Settings,
    /// `None` at a hub, which has neither journal nor recordings nor pairings.
    pub(crate) in_hall: Option<InHall>,
}

/// Data that a desk in the hall offers besides the live boards.
#[derive(Debug, Clone)]
pub(crate) struct InHall {
    /// Pairing files, configured and uploaded.
    pub(crate) pairings: PairingFiles,
    pub(crate) archive: Archive,
}

impl InHall {
    pub(crate) const fn new(pairings: PairingFiles, archive: Archive) -> Self {
        Self { pairings, archive }
    }
}

impl Output for DeskOutput {
    fn start(&self, starting: &mut Starting) {
        starting.want_statuses();
        let inputs = starting.follow();
        // A hub does not offer tests of its outputs.
        let trials = match &self.in_hall {
            Some(_) => starting.trials.clone(),
            None => Vec::new(),
        };
        let context = DeskContext {
            in_hall: self.in_hall.clone(),
            trials,
            language: starting.language,
            hall: starting.hall.clone(),
        };
        start(self.settings.clone(), context, inputs);
    }

    fn secrets(&self) -> Vec<&Path> {
        vec![&self.settings.users_file]
    }

    fn file_problems(&self) -> Vec<String> {
        users::problem(&self.settings.users_file).into_iter().collect()
    }
}

/// Data for requests, besides the live boards.
pub(super) struct DeskContext {
    pub(super) in_hall: Option<InHall>,
    pub(super) trials: Vec<Trial>,
    /// Language of the event.
    pub(super) language: Language,
    pub(super) hall: ToHall,
}

/// Starts the tasks. Must be called within a Tokio runtime.
fn start(
    settings: Settings,
    context: DeskContext,
    inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
) {
    if settings.is_open() {
        tracing::info!(
            "[desk]: {} is not encrypted: unless the network is trusted, put a proxy with TLS in front of it",
            settings.listen
        );
    }
    let (pages, opened) = mpsc::channel(NEW_PAGES);
    let task = DeskTask {
        desk: Desk::default(),
        pages: Vec::new(),
    };
    // Both run until the program ends; nothing has to be finished at shutdown.
    tokio::spawn(task.work(inputs, opened));
    tokio::spawn(door::serve(settings, context, pages));
}

/// Task that owns the projection.
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
                    self.apply(&input);
                    // Queued inputs probably belong to the same move, so they go into the same update.
                    while let Ok((_, input)) = inputs.try_recv() {
                        self.apply(&input);
                    }
                }
                Some(page) = opened.recv() => {
                    let all = message("all", &self.desk.all());
                    let pairings = message("pairings", &self.desk.pairings());
                    let rounds = message("rounds", &self.desk.rounds());
                    let first = [all, pairings, rounds];
                    if first.into_iter().all(|part| page.try_send(part).is_ok()) {
                        self.pages.push(page);
                    }
                }
            }
            self.send_changes();
        }
    }

    fn apply(&mut self, input: &FeedInput) {
        match input {
            FeedInput::Events(events) => events.iter().for_each(|event| self.desk.take(event)),
            FeedInput::Past(_, events) => self.desk.resume(events),
            FeedInput::Status(status) => self.desk.set_status((**status).clone()),
            FeedInput::Pairings(Some(tournament)) => self.desk.set_pairings(Arc::clone(tournament)),
            FeedInput::Round(round) => self.desk.set_round(*round),
            FeedInput::Kept(kept) | FeedInput::Journals(kept) => self.desk.set_kept(*kept),
            // Board statuses include the clock, and the desk has no delay.
            FeedInput::Clock(..)
            | FeedInput::Serial(..)
            | FeedInput::Pairings(None)
            | FeedInput::Facts(_)
            | FeedInput::SetForward(_)
            | FeedInput::Restart(_)
            | FeedInput::Tick => {}
        }
    }

    fn send_changes(&mut self) {
        for change in self.desk.poll_changes() {
            let message = match change {
                DeskUpdate::Board(input) => message("board", &input),
                DeskUpdate::Gone(board) => message("gone", &board),
                DeskUpdate::Pairings(pairings) => message("pairings", &pairings),
                DeskUpdate::Round(round) => message("round", &round),
                DeskUpdate::Kept(kept) => message("kept", &kept),
            };
            self.pages.retain(|page| page.try_send(message.clone()).is_ok());
        }
    }
}

/// Formats a server-sent event. JSON has no line breaks.
fn message(event: &str, data: &str) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}
