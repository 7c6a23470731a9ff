//! The task that makes the files from events.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kiebitz_hardware::Timestamp;
use tokio::sync::{mpsc, watch};

use super::files::Files;
use super::page;
use super::projection::relayed::RelayedEvent;
use super::projection::{Broadcast, EventFacts};
use super::server;
use super::settings::{Publish, Target};
use super::store::{self, TargetFiles};
use super::web;
use crate::outputs::feeds::{FeedInput, Output, Starting};
use crate::outputs::mqtt::tls::Tls;
use crate::outputs::shared::trial::Trial;

pub(in crate::outputs) type Snapshot = watch::Receiver<Arc<Files>>;

/// The event for sites with pages of their own.
pub(in crate::outputs) type RelayedSnapshot = watch::Receiver<Arc<RelayedEvent>>;

/// Waiting time for further input after a change, so that everything about one move is published together.
const BATCH_TIME: Duration = Duration::from_millis(150);

impl Output for Publish {
    fn start(&self, starting: &mut Starting) {
        if self.page {
            starting.bring_page(self.delay, self.address.clone());
        }
        let files = starting.files(self.delay);
        let reports = starting.reports.clone();
        for target in &self.to {
            let target_files = TargetFiles::new(target.clone(), self.clone());
            starting.spawn(target_files.follow(files.clone(), reports.clone()));
        }
        if let Some(address) = self.listen {
            // Serves until the program ends, so shutdown does not wait for it.
            tokio::spawn(web::serve(address, files));
        }
    }

    fn secrets(&self) -> Vec<&Path> {
        let files = [
            &self.s3_key_file,
            &self.webdav_login_file,
            &self.ftp_login_file,
            &self.sftp_login_file,
            &self.sftp_key_file,
        ];
        files.into_iter().flatten().map(PathBuf::as_path).collect()
    }

    fn file_problems(&self) -> Vec<String> {
        let files = [
            ("s3_key_file", &self.s3_key_file),
            ("webdav_login_file", &self.webdav_login_file),
            ("ftp_login_file", &self.ftp_login_file),
            ("sftp_login_file", &self.sftp_login_file),
        ];
        let problem = |(key, file): (&str, &Option<PathBuf>)| {
            let error = store::two_lines(file.as_deref()?).err()?;
            Some(format!("{error:#}: correct `{key}`, or that file"))
        };
        let ca = self.ca_file.as_ref().and_then(|file| {
            let tls = Tls {
                ca_file: Some(file.clone()),
                client: None,
            };
            let error = tls.client_config().err()?;
            Some(format!("{error}: correct `ca_file`, or that file"))
        });
        let of_servers = server::setting_problems(self);
        let of_files = files.into_iter().filter_map(problem);
        of_files.chain(of_servers).chain(ca).collect()
    }

    fn trials(&self) -> Vec<Trial> {
        let trial = |target: &Target| {
            let (name, target, settings) = (target.to_string(), target.clone(), self.clone());
            Trial::new(name, move || {
                let tried = store::try_out(target.clone(), settings.clone());
                async move {
                    let tried = tried.await.map_err(|error| format!("{error:#}"));
                    tried.map(|()| String::new())
                }
            })
        };
        self.to.iter().map(trial).collect()
    }
}

/// Makes the files from events, once for each delay that an output uses.
#[derive(Debug)]
pub(in crate::outputs) struct Follower {
    inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
    shows: BTreeMap<Duration, Show>,
    facts: EventFacts,
    /// Whether pairings have arrived. Until then, a round would have only some of its games.
    paired: bool,
}

/// The broadcast with one delay, and its subscribers.
#[derive(Debug)]
struct Show {
    broadcast: Broadcast,
    files: watch::Sender<Arc<Files>>,
    relayed: watch::Sender<Arc<RelayedEvent>>,
}

impl Follower {
    pub(in crate::outputs) fn new(
        inputs: mpsc::UnboundedReceiver<(Timestamp, Arc<FeedInput>)>,
        facts: EventFacts,
    ) -> Self {
        Self {
            inputs,
            shows: BTreeMap::new(),
            facts,
            paired: false,
        }
    }

    pub(in crate::outputs) fn subscribe(&mut self, delay: Duration) -> Snapshot {
        self.show(delay).files.subscribe()
    }

    pub(in crate::outputs) fn subscribe_relayed(&mut self, delay: Duration) -> RelayedSnapshot {
        self.show(delay).relayed.subscribe()
    }

    /// Adds the web page to the files with this delay, immediately, so that it is served before there are games.
    /// `address` is the public address of the page.
    pub(in crate::outputs) fn bring_page(&mut self, delay: Duration, address: Option<String>) {
        let show = self.show(delay);
        show.broadcast.bring_page(address);
        show.files.send_replace(Arc::new(page::files()));
    }

    fn show(&mut self, delay: Duration) -> &mut Show {
        let facts = &self.facts;
        self.shows.entry(delay).or_insert_with(|| Show {
            broadcast: Broadcast::new(delay, facts.clone()),
            files: watch::channel(Arc::default()).0,
            relayed: watch::channel(Arc::default()).0,
        })
    }

    pub(in crate::outputs) async fn work(mut self) {
        while let Some((now, input)) = self.inputs.recv().await {
            let mut now = now;
            self.apply_input(now, &input);
            if self.advance(now) {
                // Further input that is already waiting is often about the same move.
                tokio::time::sleep(BATCH_TIME).await;
                while let Ok((at, input)) = self.inputs.try_recv() {
                    now = now.max(at);
                    self.apply_input(at, &input);
                }
            }
            for show in self.shows.values_mut() {
                if show.broadcast.advance(now) && self.paired {
                    show.files.send_replace(Arc::new(show.broadcast.files().clone()));
                    if !show.relayed.is_closed() {
                        show.relayed.send_replace(Arc::new(show.broadcast.relayed()));
                    }
                }
            }
        }
    }

    /// Applies everything that is due by `now`. Returns whether any files have changed.
    fn advance(&mut self, now: Timestamp) -> bool {
        self.shows.values_mut().any(|show| show.broadcast.advance(now))
    }

    fn apply_input(&mut self, now: Timestamp, input: &FeedInput) {
        self.paired |= matches!(input, FeedInput::Pairings(_));
        for Show { broadcast: show, .. } in self.shows.values_mut() {
            match input {
                FeedInput::Events(events) => events.iter().for_each(|event| show.take(now, event)),
                FeedInput::Clock(board, clock) => show.take_clock(now, board, clock),
                FeedInput::Serial(board, serial) => show.know(board, serial),
                FeedInput::Past(board, events) => show.resume(now, board, events),
                FeedInput::Pairings(Some(tournament)) => show.pair(Arc::clone(tournament)),
                FeedInput::Facts(facts) => show.rename(facts.clone()),
                FeedInput::SetForward(by) => show.set_forward(*by),
                FeedInput::Restart(restarts) => show.restart(*restarts),
                FeedInput::Pairings(None)
                | FeedInput::Round(_)
                | FeedInput::Status(_)
                | FeedInput::Kept(_)
                | FeedInput::Journals(_)
                | FeedInput::Tick => {}
            }
        }
    }
}
