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
use crate::outputs::shared::http;
use crate::outputs::shared::trial::Trial;
use crate::system_time::{Moment, moment};

pub(in crate::outputs) type Snapshot = watch::Receiver<Arc<Files>>;

/// The event for sites with pages of their own.
pub(in crate::outputs) type RelayedSnapshot = watch::Receiver<Arc<RelayedEvent>>;

/// Time to wait for further input after a change, so that everything about one move is published together.
const BATCH_TIME: Duration = Duration::from_millis(150);

/// Time to wait after making files, as a multiple of the time that this took. In an event with thousands of pairings, the
/// files would otherwise take all the time of a core.
const PAUSES_PER_WORK: u32 = 4;

impl Output for Publish {
    fn start(&self, starting: &mut Starting) {
        if self.page {
            starting.bring_page(self.delay, self.address.clone());
        }
        let files = starting.files(self.delay);
        let reports = starting.reports.clone();
        for target in &self.to {
            let target_files = TargetFiles::new(target.clone(), self.clone());
            starting.spawn_with_files(target_files.follow(files.clone(), reports.clone()));
        }
        if let Some(address) = self.listen {
            // This task serves until the program ends. Shutdown does not wait for it.
            http::spawn(web::serve(address, self.proxies.clone(), files));
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
    by_delay: BTreeMap<Duration, DelayedBroadcast>,
    facts: EventFacts,
    /// Whether pairings have arrived. Nothing is published before: a round would have only some of its games.
    paired: bool,
}

/// The broadcast with one delay, and its subscribers.
#[derive(Debug)]
struct DelayedBroadcast {
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
            by_delay: BTreeMap::new(),
            facts,
            paired: false,
        }
    }

    pub(in crate::outputs) fn subscribe(&mut self, delay: Duration) -> Snapshot {
        let entry = self.entry(delay);
        entry.broadcast.set_only_pgn(false);
        entry.files.subscribe()
    }

    /// Subscribes to the files, of which only `games.pgn` of each round is needed.
    pub(in crate::outputs) fn subscribe_pgn(&mut self, delay: Duration) -> Snapshot {
        self.entry(delay).files.subscribe()
    }

    pub(in crate::outputs) fn subscribe_relayed(&mut self, delay: Duration) -> RelayedSnapshot {
        self.entry(delay).relayed.subscribe()
    }

    /// Adds the web page to the files with this delay, and publishes it immediately, before there are games. `address`
    /// is the public address of the page.
    pub(in crate::outputs) fn bring_page(&mut self, delay: Duration, address: Option<String>) {
        let entry = self.entry(delay);
        entry.broadcast.set_only_pgn(false);
        entry.broadcast.bring_page(address);
        entry.files.send_replace(Arc::new(page::files()));
    }

    fn entry(&mut self, delay: Duration) -> &mut DelayedBroadcast {
        let facts = &self.facts;
        self.by_delay.entry(delay).or_insert_with(|| {
            let mut broadcast = Broadcast::new(delay, facts.clone());
            // Until an output needs more.
            broadcast.set_only_pgn(true);
            DelayedBroadcast {
                broadcast,
                files: watch::channel(Arc::default()).0,
                relayed: watch::channel(Arc::default()).0,
            }
        })
    }

    pub(in crate::outputs) async fn work(self) {
        self.work_with(moment, tokio::time::sleep).await;
    }

    /// Like [`work`](Self::work), with the function that measures the time, and the one that waits.
    async fn work_with<S>(mut self, moment: impl Fn() -> Moment + Send, wait: impl Fn(Duration) -> S + Send)
    where
        S: Future<Output = ()> + Send,
    {
        let mut pause = BATCH_TIME;
        while let Some((now, input)) = self.inputs.recv().await {
            let mut now = now;
            self.apply_input(now, &input);
            if self.advance(now) {
                wait(pause).await;
                while let Ok((at, input)) = self.inputs.try_recv() {
                    now = now.max(at);
                    self.apply_input(at, &input);
                }
            }
            let begun = moment();
            for entry in self.by_delay.values_mut() {
                if entry.broadcast.advance(now) && self.paired {
                    entry.files.send_replace(Arc::clone(entry.broadcast.files()));
                    if !entry.relayed.is_closed() {
                        entry.relayed.send_replace(Arc::new(entry.broadcast.relayed()));
                    }
                }
            }
            pause = BATCH_TIME.max(PAUSES_PER_WORK * moment().since(begun));
        }
    }

    /// Applies everything that is due by `now`. Returns whether any files have changed.
    fn advance(&mut self, now: Timestamp) -> bool {
        self.by_delay
            .values_mut()
            .any(|entry| entry.broadcast.advance(now))
    }

    fn apply_input(&mut self, now: Timestamp, input: &FeedInput) {
        self.paired |= matches!(input, FeedInput::Pairings(_));
        for DelayedBroadcast {
            broadcast: projection,
            ..
        } in self.by_delay.values_mut()
        {
            match input {
                FeedInput::Events(events) => events.iter().for_each(|event| projection.queue(now, event)),
                FeedInput::Clock(board, clock) => projection.queue_clock(now, board, clock),
                FeedInput::Serial(board, serial) => projection.set_serial(board, serial),
                FeedInput::Past(board, events) => projection.resume(now, board, events),
                FeedInput::Pairings(Some(tournament)) => projection.pair(Arc::clone(tournament)),
                FeedInput::Facts(facts) => projection.set_facts(facts.clone()),
                FeedInput::SetForward(by) => projection.set_forward(*by),
                FeedInput::Restart(restarts) => projection.set_restarting(*restarts),
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    /// The work of a follower whose files seem to take a second each time, and whose pauses end when the test says so.
    struct SlowWork {
        inputs: mpsc::UnboundedSender<(Timestamp, Arc<FeedInput>)>,
        files: Snapshot,
        pauses: Arc<Mutex<Vec<Duration>>>,
        ends: Arc<Semaphore>,
    }

    impl SlowWork {
        fn start() -> Self {
            let (inputs, receiver) = mpsc::unbounded_channel();
            let mut follower = Follower::new(receiver, EventFacts::default());
            let files = follower.subscribe(Duration::ZERO);
            let (pauses, ends) = (
                Arc::<Mutex<Vec<Duration>>>::default(),
                Arc::new(Semaphore::new(0)),
            );
            let seconds = AtomicU64::new(0);
            let moment = move || Moment::after(Duration::from_secs(seconds.fetch_add(1, Ordering::Relaxed)));
            let (begun, ended) = (Arc::clone(&pauses), Arc::clone(&ends));
            let wait = move |pause| {
                begun.lock().expect("no panic").push(pause);
                let ended = Arc::clone(&ended);
                async move { ended.acquire().await.expect("it is open").forget() }
            };
            tokio::spawn(follower.work_with(moment, wait));
            Self {
                inputs,
                files,
                pauses,
                ends,
            }
        }

        fn send(&self, input: FeedInput) {
            let input = (Timestamp::default(), Arc::new(input));
            self.inputs.send(input).expect("it works");
        }

        fn name(&self, name: &str) {
            self.send(FeedInput::Facts(EventFacts {
                name: Some(name.to_owned()),
                ..EventFacts::default()
            }));
        }

        /// Waits until the pause with this number has begun. Returns its length.
        async fn pause(&self, number: usize) -> Duration {
            loop {
                if let Some(pause) = self.pauses.lock().expect("no panic").get(number) {
                    return *pause;
                }
                tokio::task::yield_now().await;
            }
        }

        /// Ends a pause. Returns the next files' list of rounds.
        async fn files_after_pause(&mut self) -> String {
            self.ends.add_permits(1);
            self.files.changed().await.expect("it works");
            let files = self.files.borrow_and_update();
            String::from_utf8_lossy(&files["wall.json"].content).into_owned()
        }
    }

    #[tokio::test]
    async fn the_broadcast_pauses_four_times_as_long_as_its_files_took() {
        let mut work = SlowWork::start();
        work.send(FeedInput::Pairings(Some(Arc::default())));
        assert_eq!(work.pause(0).await, BATCH_TIME, "no files have been made yet");
        work.name("first");
        assert!(work.files_after_pause().await.contains("first"));
        work.name("second");
        assert_eq!(work.pause(1).await, Duration::from_secs(4));
        work.name("third");
        work.name("fourth");
        tokio::task::yield_now().await;
        assert!(!work.files.has_changed().expect("it works"), "it is pausing");
        assert!(work.files_after_pause().await.contains("fourth"));
        work.name("fifth");
        assert_eq!(work.pause(2).await, Duration::from_secs(4));
        assert!(work.files_after_pause().await.contains("fifth"));
        assert_eq!(
            work.pauses.lock().expect("no panic").len(),
            3,
            "one for each batch"
        );
    }
}
