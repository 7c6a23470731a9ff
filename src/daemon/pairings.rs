//! The pairings: read from their files, and again whenever those change, and said to the boards.

use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result};
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use crate::config::Config;
use crate::events::{Event, LIVE_STREAM};
use crate::hall::Hall;
use crate::journal::{Journal, JournalError};
use crate::tournament::seating::{Seating, View};
use crate::tournament::{self, Doubt, ReadError, Tournament};
use crate::tracker::is_chess960;

/// What the files say, and who has been told.
#[derive(Debug)]
pub(super) struct Pairings {
    config: Config,
    /// `None`: there are no files.
    read: Option<mpsc::Receiver<Read>>,
    seating: Seating,
}

/// What came of reading the files.
pub(super) type Read = Result<(Tournament, Vec<Doubt>), ReadError>;

/// How often it is looked whether the files have changed.
const LOOK: Duration = Duration::from_secs(2);
/// So many doubts are logged; `kiebitz event check` shows all.
const TOLD: usize = 5;

impl Pairings {
    /// Begins to read.
    pub(super) fn start(config: &Config) -> Result<Self> {
        let read = match config.pairings.as_slice() {
            [] => None,
            paths => {
                let (sender, read) = mpsc::channel(1);
                let paths = paths.to_vec();
                std::thread::Builder::new()
                    .name("pairings".to_owned())
                    .spawn(move || watch(&paths, &sender))
                    .context("cannot read pairings")?;
                Some(read)
            }
        };
        Ok(Self {
            config: config.clone(),
            read,
            seating: Seating::default(),
        })
    }

    /// Whether nothing is to be waited for.
    pub(super) const fn are_none(&self) -> bool {
        self.read.is_none()
    }

    /// Goes on with what the journal has. What a journal that fails does not give is said to boards once more.
    pub(super) fn go_on(&mut self, journal: &Journal) {
        if let Err(error) = self.resume(journal) {
            tracing::warn!(
                "boards are told their pairings again: {:#}",
                anyhow::Error::from(error)
            );
        }
    }

    fn resume(&mut self, journal: &Journal) -> Result<(), JournalError> {
        if self.are_none() {
            return Ok(());
        }
        for (board, _) in journal.boards(LIVE_STREAM)? {
            let all = journal.all_of(LIVE_STREAM, &board);
            let plies = all.last_game()?.map_or(0, |game| game.record.moves.len());
            let plies = u32::try_from(plies).unwrap_or(u32::MAX);
            self.seating.resume(&board, &all.announcements()?, plies);
        }
        Ok(())
    }

    /// Another configuration applies from now on.
    pub(super) fn configure(&mut self, config: &Config) {
        self.config = config.clone();
    }

    /// What the files say now. May be dropped and called again.
    pub(super) async fn next(&mut self) -> Read {
        if let Some(read) = &mut self.read
            && let Some(read) = read.recv().await
        {
            return read;
        }
        core::future::pending().await
    }

    /// Takes in what the files say. Returns the pairings that hold from now on; `None`: those before.
    pub(super) fn take(&mut self, read: Read) -> Option<Arc<Tournament>> {
        let (tournament, doubts) = match read {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("pairings are not read: {error}; those before hold");
                return None;
            }
        };
        let pairings: usize = tournament.rounds.values().map(|round| round.pairings.len()).sum();
        tracing::info!(
            "pairings were read: {pairings} in {} rounds",
            tournament.rounds.len()
        );
        for doubt in doubts.iter().take(TOLD) {
            tracing::warn!("{doubt}");
        }
        if doubts.len() > TOLD {
            let more = doubts.len() - TOLD;
            tracing::warn!("{more} more things to look at in the pairings: `kiebitz event check` shows them");
        }
        let tournament = Arc::new(tournament);
        self.seating.pair(Arc::clone(&tournament));
        Some(tournament)
    }

    /// Takes in the next event of a board.
    pub(super) fn hear(&mut self, event: &Event) {
        if !self.are_none() {
            self.seating.apply(event);
        }
    }

    /// Says to boards what is to be said at `now`.
    pub(super) fn look(&mut self, now: Timestamp, hall: &mut Hall) {
        if self.are_none() {
            return;
        }
        let names = hall.names_of_boards();
        let tables = names.iter().map(|name| (&**name, self.config.table(name)));
        self.seating.place(tables);
        let view = |name: &str| View {
            set_up: hall
                .board(name)
                .is_some_and(|board| board.is_connected() && is_chess960(board.tracker().placement())),
            has_time_control: self.config.regulations(name).time_control.is_some(),
        };
        for (board, command) in self.seating.look(now, &self.config.event.rounds, view) {
            let answer = hall.command(now, &board, &command);
            match answer.error {
                None => tracing::info!(board, "{board}: {} of {}", command.action, command.id),
                Some(error) => {
                    tracing::warn!(board, "{board}: {} of {}: {error}", command.action, command.id)
                }
            }
        }
    }
}

/// What a file is like without reading it; `None`: it is not there.
type Stamp = Option<(SystemTime, u64)>;

/// Reads the files, and again when they have changed and are not being written any more. Ends when nobody listens.
fn watch(paths: &[PathBuf], sender: &mpsc::Sender<Read>) {
    let stamp = |path: &PathBuf| {
        let known = std::fs::metadata(path).ok()?;
        Some((known.modified().ok()?, known.len()))
    };
    let stamps = || -> Vec<Stamp> { paths.iter().map(stamp).collect() };
    let (mut read, mut before) = (None, stamps());
    while !sender.is_closed() {
        let now = stamps();
        if read.as_ref() != Some(&now) && now == before {
            let told = sender.blocking_send(tournament::read(paths));
            if told.is_err() {
                return;
            }
            read = Some(now.clone());
        }
        before = now;
        std::thread::sleep(LOOK);
    }
}
