//! Games in the journal, and what was recorded of them, for those who look at one by its id. They read it beside the daemon
//! that writes it.

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

/// Where the games of a configuration are kept, for those who open it again and again.
#[derive(Debug, Clone)]
pub(crate) struct Archive(Arc<Config>);

/// The games that the journal of a configuration keeps.
#[derive(Debug)]
pub(crate) struct KeptGames {
    journal: Journal,
    file: PathBuf,
    recordings: PathBuf,
    /// What boards are called and what is played on them, where the journal does not say what was then.
    roster: Roster,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeptGame {
    pub(crate) board: String,
    pub(crate) entry: GameEntry,
    /// The id of the board's game before it.
    before: Option<String>,
}

/// Where a board was plugged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Connections {
    pub(crate) since: Timestamp,
    pub(crate) ports: Vec<String>,
}

/// At most this many games are named if the one asked for does not exist.
const NAMED: usize = 5;

impl Archive {
    pub(crate) fn of(config: &Config) -> Self {
        Self(Arc::new(config.clone()))
    }

    /// Opens it, as [`KeptGames::open`] does.
    pub(crate) fn open(&self) -> Result<KeptGames> {
        KeptGames::open(&self.0)
    }
}

impl KeptGames {
    /// Opens the journal to read it; none is made where there is none.
    pub(crate) fn open(config: &Config) -> Result<Self> {
        let config = config.for_reading();
        let file = config.journal_file();
        // One that cannot be looked for may be there: opening it says what is wrong.
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

    /// The journal itself.
    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The journal's file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Where the recordings of its games are.
    pub(crate) fn recordings(&self) -> &Path {
        &self.recordings
    }

    /// All games, in the order in which they were started.
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

    /// The game with that id; `None`: there is none.
    pub(crate) fn get(&self, id: &str) -> Result<Option<KeptGame>> {
        let mut all = self.all()?;
        let at = all.iter().rposition(|game| game.entry.game == id);
        Ok(at.map(|at| all.swap_remove(at)))
    }

    /// The game with that id.
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

    /// When the board's games before and after a game were started.
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

    /// The ports on which the board was during a game that went on until `end`, and since when it was on the first.
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

    /// The events of a game.
    pub(crate) fn events(&self, game: &KeptGame) -> Result<Vec<Event>> {
        Ok(self.journal.game(LIVE_STREAM, &game.board, &game.entry.game)?)
    }

    /// A game as it is after its last event.
    pub(crate) fn record(&self, game: &KeptGame) -> Result<GameRecord> {
        GameRecord::of(&self.events(game)?)
            .with_context(|| format!("the beginning of {} is not in the journal", game.entry.game))
    }

    /// The events of a game as they were kept.
    pub(crate) fn journaled(&self, game: &KeptGame) -> Result<Vec<JournaledEvent>> {
        Ok(self
            .journal
            .game_events(LIVE_STREAM, &game.board, &game.entry.game)?)
    }

    /// The decoded events of a game with those of its board and clock before and during it.
    pub(crate) fn events_with_board(&self, game: &KeptGame) -> Result<Vec<Event>> {
        let before = game.before.as_deref();
        Ok(self
            .journal
            .game_with_board(LIVE_STREAM, &game.board, &game.entry.game, before)?)
    }
}
