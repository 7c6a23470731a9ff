//! The pairings: read from their files, and again whenever those change, and said to the boards.

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

/// What the files say, and who has been told.
#[derive(Debug)]
pub(super) struct Pairings {
    config: Config,
    /// `None`: there are no files.
    read: Option<mpsc::Receiver<ReadOutcome>>,
    seating: Seating,
}

impl Pairings {
    /// Begins to read.
    pub(super) fn start(config: &Config) -> Result<Self> {
        Ok(Self {
            config: config.clone(),
            read: watch::start(config.pairing_files()).context("cannot start reading pairings")?,
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

    /// Another configuration applies from now on.
    pub(super) fn configure(&mut self, config: &Config) {
        self.config = config.clone();
    }

    /// What the files say now. May be dropped and called again.
    pub(super) async fn next(&mut self) -> ReadOutcome {
        watch::next(&mut self.read).await
    }

    /// Takes in what the files say. Returns the pairings that hold from now on; `None`: those before.
    pub(super) fn take(&mut self, read: ReadOutcome) -> Option<Arc<Tournament>> {
        let tournament = watch::log_outcome(read)?;
        self.seating.pair(Arc::clone(&tournament));
        Some(tournament)
    }

    /// Who sits where.
    pub(super) const fn seating(&self) -> &Seating {
        &self.seating
    }

    /// The round that boards get pairings of; `None`: there is none.
    pub(super) const fn round(&self) -> Option<u32> {
        self.seating.round()
    }

    /// The table at which a board stands; `None`: it has no number.
    pub(super) fn table(&self, board: &str) -> Option<u32> {
        self.seating.table_of(board).or_else(|| self.config.table(board))
    }

    /// The game that counts for a pairing, with its board; `None`: none was begun.
    pub(super) fn game_of(&self, round: u32, table: u32) -> Option<(&str, &str)> {
        let (board, game) = self.seating.game_of(round, table)?;
        Some((board, game.game()))
    }

    /// The board of a game; `None` if no board has had a game with that id.
    pub(super) fn board_of(&self, game: &str) -> Option<&str> {
        self.seating.board_of(game)
    }

    /// Whether the files have a game between two players at that table of that round.
    pub(super) fn has_pairing(&self, round: u32, table: u32) -> bool {
        self.seating.has_pairing(round, table)
    }

    /// Takes in the next event of a board.
    pub(super) fn hear(&mut self, event: &Event) {
        self.seating.apply(event);
    }

    /// The commands that follow from the pairings at `now`, in this order, each for a board.
    pub(super) fn look(&mut self, now: Timestamp, hall: &Hall) -> Vec<(String, Command)> {
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
        self.seating.look(now, &self.config.event.rounds, view)
    }
}
