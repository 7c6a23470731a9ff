//! Runs the desk. One task follows the event feed and sends updates to each open page. It drops a page that does not
//! keep up; the page then reconnects and gets the full state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Bytes;
use kiebitz_game::laws::Language;
use kiebitz_hardware::Timestamp;
use tokio::sync::{mpsc, watch};

use super::door;
use super::projection::{Desk, DeskUpdate};
use super::settings::DeskSettings as Settings;
use super::squares::{self, SquareTests};
use super::users;
use crate::kept::Archive;
use crate::outputs::feeds::{FeedInput, Output, Starting};
use crate::outputs::shared::address::read_token;
use crate::outputs::shared::http;
use crate::outputs::shared::to_hall::ToHall;
use crate::outputs::shared::trial::Trials;
use crate::tournament::files::PairingFiles;

pub(super) type PageSender = mpsc::Sender<Bytes>;

/// Capacity of the queue of newly opened pages.
const NEW_PAGES: usize = 16;
/// Capacity of a page's queue of updates: room for one change of every board in a large hall.
pub(super) const PAGE_QUEUE: usize = 512;

/// Names of the files with sessions. A hub and a daemon may share a state directory.
const LOGINS: &str = "desk-logins.json";
const LOGINS_OF_HUB: &str = "hub-desk-logins.json";
/// Name of the file with the tests of squares, which only a daemon has.
const SQUARES: &str = "desk-squares.json";

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
        let context = DeskContext {
            in_hall: self.in_hall.clone(),
            trials: starting.trials.clone(),
            language: starting.language,
            hall: starting.hall.clone(),
            logins: starting.notes.join(match &self.in_hall {
                Some(_) => LOGINS,
                None => LOGINS_OF_HUB,
            }),
            squares: self.in_hall.is_some().then(|| starting.notes.join(SQUARES)),
        };
        start(self.settings.clone(), context, inputs);
    }

    fn secrets(&self) -> Vec<&Path> {
        let secret = self.settings.proxy_secret_file.as_deref();
        let users: &Path = &self.settings.users_file;
        [users].into_iter().chain(secret).collect()
    }

    fn file_problems(&self) -> Vec<String> {
        let users = users::problem(&self.settings.users_file, self.settings.user_header.is_some());
        let secret = self.settings.proxy_secret_file.as_deref();
        let secret = secret.and_then(|file| read_token(file).err());
        let secret = secret.map(|error| {
            format!("{error:#}: correct `proxy_secret_file`, or write the secret of the proxy to that file")
        });
        users.into_iter().chain(secret).collect()
    }
}

/// Data for requests, besides the live boards.
pub(super) struct DeskContext {
    pub(super) in_hall: Option<InHall>,
    pub(super) trials: Trials,
    /// Language of the event.
    pub(super) language: Language,
    pub(super) hall: ToHall,
    /// File with sessions and the key of known devices.
    pub(super) logins: PathBuf,
    /// File with the tests of squares; `None` at a hub.
    pub(super) squares: Option<PathBuf>,
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
    let (test_restarts, restarts) = mpsc::channel(NEW_PAGES);
    let squares = context.squares.clone();
    let task = DeskTask {
        desk: Desk::default(),
        pages: Vec::new(),
        pairings: None,
        rounds: None,
        tests: watch::Sender::default(),
    };
    // Both run until the program ends; nothing has to be finished at shutdown.
    http::spawn(task.work(squares, inputs, opened, restarts));
    http::spawn(door::serve(settings, context, pages, test_restarts));
}

/// Task that owns the projection.
struct DeskTask {
    desk: Desk,
    pages: Vec<PageSender>,
    /// The messages with the pairings of the round and with all rounds, which all pages share. `None` after a change.
    pairings: Option<Bytes>,
    rounds: Option<Bytes>,
    /// The tests of squares to store.
    tests: watch::Sender<SquareTests>,
}

impl DeskTask {
    async fn work(
        mut self,
        squares: Option<PathBuf>,
        mut inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
        mut opened: mpsc::Receiver<PageSender>,
        mut restarts: mpsc::Receiver<String>,
    ) {
        if let Some(file) = squares {
            self.desk.resume_tests(squares::read(file.clone()).await);
            tokio::spawn(squares::keep(file, self.tests.subscribe()));
        }
        loop {
            tokio::select! {
                biased;
                input = inputs.recv() => {
                    let Some((now, input)) = input else { return };
                    self.apply(now, &input);
                    // Queued inputs probably belong to the same move, so they go into the same update.
                    while let Ok((now, input)) = inputs.try_recv() {
                        self.apply(now, &input);
                    }
                }
                Some(board) = restarts.recv() => self.desk.restart_test(&board),
                Some(page) = opened.recv() => {
                    let all = message("all", &self.desk.all());
                    let pairings = self
                        .pairings
                        .get_or_insert_with(|| message("pairings", &self.desk.pairings()));
                    let rounds = self.rounds.get_or_insert_with(|| message("rounds", &self.desk.rounds()));
                    let first = [all, pairings.clone(), rounds.clone()];
                    if first.into_iter().all(|part| page.try_send(part).is_ok()) {
                        self.pages.push(page);
                    }
                }
            }
            self.send_changes();
            if let Some(tests) = self.desk.poll_tests() {
                self.tests.send_replace(tests);
            }
        }
    }

    fn apply(&mut self, now: Timestamp, input: &FeedInput) {
        match input {
            FeedInput::Events(events) => events.iter().for_each(|event| self.desk.apply(event)),
            FeedInput::Past(_, events) => self.desk.resume(events),
            FeedInput::Status(status) => self.desk.set_status(now, (**status).clone()),
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
                DeskUpdate::Pairings(pairings) => {
                    self.pairings = None;
                    message("pairings", &pairings)
                }
                DeskUpdate::Round(round) => {
                    self.rounds = None;
                    message("round", &round)
                }
                DeskUpdate::Kept(kept) => message("kept", &kept),
            };
            self.pages.retain(|page| page.try_send(message.clone()).is_ok());
        }
    }
}

/// Formats a server-sent event. `data` is JSON, which has no line breaks.
fn message(event: &str, data: &str) -> Bytes {
    format!("event: {event}\ndata: {data}\n\n").into()
}
