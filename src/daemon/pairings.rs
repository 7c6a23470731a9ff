//! Reads pairing files, again after each change, and derives commands for the boards from them.

use std::sync::Arc;

use anyhow::{Context, Result};
use kiebitz_game::command::Command;
use kiebitz_game::events::pairing::EVENT_SPAN;
use kiebitz_game::events::{Event, LIVE_STREAM};
use kiebitz_game::hall::Hall;
use kiebitz_game::position::is_chess960;
use kiebitz_hardware::Timestamp;
use tokio::sync::mpsc;

use crate::config::Config;
use crate::journal::{Journal, JournalError};
use crate::tournament::Tournament;
use crate::tournament::seating::{Seating, View};
use crate::tournament::watch::{self, ReadOutcome};

/// The pairings, and which boards have got theirs.
#[derive(Debug)]
pub(super) struct Pairings {
    config: Config,
    /// `None` without pairing files.
    read: Option<mpsc::Receiver<ReadOutcome>>,
    seating: Seating,
}

impl Pairings {
    pub(super) fn start(config: &Config) -> Result<Self> {
        Ok(Self {
            config: config.clone(),
            read: watch::start(config.pairing_files()).context("cannot start reading pairings")?,
            seating: Seating::default(),
        })
    }

    /// Whether no pairing files are configured.
    pub(super) const fn are_none(&self) -> bool {
        self.read.is_none()
    }

    /// Restores from the journal which boards have got their pairings. If this fails, boards get them again.
    pub(super) fn restore(&mut self, journal: &Journal) {
        if let Err(error) = self.resume(journal) {
            tracing::warn!(
                "cannot read from the journal which boards have their pairings; they get them again: {:#}",
                anyhow::Error::from(error)
            );
        }
    }

    fn resume(&mut self, journal: &Journal) -> Result<(), JournalError> {
        for (board, _) in journal.boards(LIVE_STREAM)? {
            for event in journal.all_of(LIVE_STREAM, &board).paired(EVENT_SPAN)? {
                self.seating.apply(&event);
            }
        }
        Ok(())
    }

    pub(super) fn configure(&mut self, config: &Config) {
        self.config = config.clone();
    }

    /// Waits until the files were read again. Cancel safe.
    pub(super) async fn next(&mut self) -> ReadOutcome {
        watch::next(&mut self.read).await
    }

    /// Applies the outcome of reading the files. Returns the new pairings; `None` if the old ones stay.
    pub(super) fn take(&mut self, read: ReadOutcome) -> Option<Arc<Tournament>> {
        let tournament = watch::log_outcome(read)?;
        let hall = self.config.hall.as_deref();
        let tournament = Arc::new(Arc::unwrap_or_clone(tournament).of_hall(hall));
        if hall.is_none() && tournament.lacks_hall() {
            tracing::warn!(
                "the pairings name several halls, and their equal tables get no pairing here: name this hall with `hall` \
                 under [event]"
            );
        }
        self.seating.pair(Arc::clone(&tournament));
        Some(tournament)
    }

    pub(super) const fn seating(&self) -> &Seating {
        &self.seating
    }

    /// The round whose pairings the boards get; `None` if there is none.
    pub(super) const fn round(&self) -> Option<u32> {
        self.seating.round()
    }

    /// The table on which a board stands; `None` if the board has no number.
    pub(super) fn table(&self, board: &str) -> Option<u32> {
        self.seating.table_of(board).or_else(|| self.config.table(board))
    }

    /// The board and the game that counts for a pairing; `None` if no such game has begun.
    pub(super) fn game_of(&self, round: u32, table: u32) -> Option<(&str, &str)> {
        let (board, game) = self.seating.game_of(round, table)?;
        Some((board, game.game()))
    }

    /// The board of a game; `None` if no board has had a game with this id.
    pub(super) fn board_of(&self, game: &str) -> Option<&str> {
        self.seating.board_of(game)
    }

    /// Whether the files have a game between two players at this table in this round.
    pub(super) fn has_pairing(&self, round: u32, table: u32) -> bool {
        self.seating.has_pairing(round, table)
    }

    pub(super) fn apply(&mut self, event: &Event) {
        self.seating.apply(event);
    }

    /// The commands for boards that follow from the pairings at the time `now`, in the order in which to carry them
    /// out.
    pub(super) fn commands_due(&mut self, now: Timestamp, hall: &Hall) -> Vec<(String, Command)> {
        if self.are_none() {
            return Vec::new();
        }
        let names = hall.names_of_boards();
        let tables = names.iter().map(|name| (&**name, self.config.table(name)));
        self.seating.place(tables);
        let view = |name: &str| View {
            set_up: hall
                .board(name)
                .is_some_and(|board| board.is_connected() && is_chess960(board.placement())),
            has_time_control: self.config.regulations(name).time_control.is_some(),
        };
        self.seating.due_commands(now, &self.config.event.rounds, view)
    }
}
