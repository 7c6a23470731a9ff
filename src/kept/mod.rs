//! Past games of the journal and their recordings, found by the game's id. They are read while the daemon may be
//! writing.

#[cfg(target_os = "linux")]
mod capture;
mod listed;
mod stretch;
#[cfg(target_os = "linux")]
mod watched;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{Event, EventKind, LIVE_STREAM};
use kiebitz_game::hall::Roster;
use kiebitz_hardware::Timestamp;

use crate::config::Config;
use crate::journal::{GameEntry, Journal, JournaledEvent};
pub(crate) use listed::Listed;
pub(crate) use stretch::{Chain, GameStretch, Recorded, Unrecorded};

/// Opens the stored games of a configuration any number of times.
#[derive(Debug, Clone)]
pub(crate) struct Archive(Arc<Config>);

#[derive(Debug)]
pub(crate) struct KeptGames {
    journal: Journal,
    file: PathBuf,
    recordings: PathBuf,
    /// Names and regulations of boards for times of which the journal has no configuration.
    roster: Roster,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptGame {
    pub(crate) board: String,
    pub(crate) entry: GameEntry,
    /// Id of the board's previous game.
    before: Option<String>,
}

/// The ports of a board during a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Connections {
    pub(crate) since: Timestamp,
    pub(crate) ports: Vec<String>,
}

/// Number of recent games that the error for an unknown game names.
const NAMED: usize = 5;

impl Archive {
    pub(crate) fn of(config: &Config) -> Self {
        Self(Arc::new(config.clone()))
    }

    pub(crate) fn open(&self) -> Result<KeptGames> {
        KeptGames::open(&self.0)
    }
}

impl KeptGames {
    /// Opens the journal read-only; fails if it does not exist.
    pub(crate) fn open(config: &Config) -> Result<Self> {
        let config = config.for_reading();
        let file = config.journal_file();
        // If the existence cannot be determined, opening the file yields the error.
        if let Ok(false) = file.try_exists() {
            bail!(
                "there is no journal {}: `kiebitz run` creates it; check that --config names the daemon's \
                 configuration",
                file.display()
            );
        }
        let journal = Journal::open_to_read(&file)?;
        let recordings = config.recordings();
        Ok(Self {
            journal,
            file,
            recordings,
            roster: config.roster(),
        })
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn recordings(&self) -> &Path {
        &self.recordings
    }

    /// All games, in order of their starts.
    pub(crate) fn all(&self) -> Result<Vec<KeptGame>> {
        let mut all = Vec::new();
        for (board, _) in self.journal.boards(LIVE_STREAM)? {
            let mut before = None;
            for entry in self.journal.games(LIVE_STREAM, &board)? {
                let id = entry.game.clone();
                all.push(KeptGame {
                    board: board.clone(),
                    entry,
                    before: before.replace(id),
                });
            }
        }
        all.sort_by(|one, other| {
            let key = |game: &KeptGame| (game.entry.started, game.board.clone());
            key(one).cmp(&key(other))
        });
        Ok(all)
    }

    /// The last game with this id; `None` if there is none.
    pub(crate) fn get(&self, id: &str) -> Result<Option<KeptGame>> {
        let mut all = self.all()?;
        let at = all.iter().rposition(|game| game.entry.game == id);
        Ok(at.map(|at| all.swap_remove(at)))
    }

    /// The last game with this id; an error with suggestions if there is none.
    pub(crate) fn find(&self, id: &str) -> Result<KeptGame> {
        if let Some(game) = self.get(id)? {
            return Ok(game);
        }
        let all = self.all()?;
        let last = all.iter().rev().take(NAMED).map(|game| game.entry.game.as_str());
        let last: Vec<&str> = last.collect();
        let hint = match last.as_slice() {
            [] => "the journal has no games".to_owned(),
            last => format!(
                "the last games are {}; `kiebitz games` lists all",
                last.join(", ")
            ),
        };
        bail!(
            "there is no game {id} in the journal {}: {hint}",
            self.file.display()
        )
    }

    /// Start times of the board's games before and after a game.
    pub(crate) fn neighbours(&self, game: &KeptGame) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
        let games = self.journal.games(LIVE_STREAM, &game.board)?;
        let started = |game: &GameEntry| game.started;
        let before = games
            .iter()
            .map(started)
            .filter(|at| *at < game.entry.started)
            .max();
        let after = games
            .iter()
            .map(started)
            .filter(|at| *at > game.entry.started)
            .min();
        Ok((before, after))
    }

    /// The ports of the board during a game that lasted until `end`, and the time since which it was on the first one;
    /// `None` if the board was not connected.
    pub(crate) fn connections(&self, game: &KeptGame, end: Timestamp) -> Result<Option<Connections>> {
        let connected = |at: Timestamp| self.journal.connected_before(LIVE_STREAM, &game.board, at);
        let Some(first) = connected(game.entry.started)? else {
            return Ok(None);
        };
        let mut ports = Vec::new();
        let mut next = connected(end)?;
        while let Some(event) = next {
            if let EventKind::BoardConnected { port, .. } = &event.kind
                && !ports.contains(port)
            {
                ports.insert(0, port.clone());
            }
            if event.ts <= first.ts {
                break;
            }
            next = connected(Timestamp::from_micros(event.ts.as_micros() - 1))?;
        }
        Ok(Some(Connections {
            since: first.ts,
            ports,
        }))
    }

    pub(crate) fn events(&self, game: &KeptGame) -> Result<Vec<Event>> {
        Ok(self.journal.game(LIVE_STREAM, &game.board, &game.entry.game)?)
    }

    /// The game after its last event.
    pub(crate) fn record(&self, game: &KeptGame) -> Result<GameRecord> {
        GameRecord::of(&self.events(game)?)
            .with_context(|| format!("the beginning of {} is not in the journal", game.entry.game))
    }

    /// The events of a game as stored.
    pub(crate) fn journaled(&self, game: &KeptGame) -> Result<Vec<JournaledEvent>> {
        Ok(self
            .journal
            .game_events(LIVE_STREAM, &game.board, &game.entry.game)?)
    }

    /// The events of a game with those of its board and clock before and during it.
    pub(crate) fn events_with_board(&self, game: &KeptGame) -> Result<Vec<Event>> {
        let before = game.before.as_deref();
        Ok(self
            .journal
            .game_with_board(LIVE_STREAM, &game.board, &game.entry.game, before)?)
    }
}
