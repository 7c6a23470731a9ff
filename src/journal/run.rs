//! The starts of the daemon and the reloads of its configuration. Replaying the recordings from a start on reproduces
//! the daemon's state at its end.

use std::collections::BTreeMap;

use kiebitz_game::events::Event;
use kiebitz_hardware::Timestamp;
use rusqlite::{OptionalExtension, Transaction, params};
use serde::{Deserialize, Serialize};

use super::{Journal, JournalError, error};

/// A start of the daemon, or a reloaded configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Time of the start. Later recordings belong to this run.
    pub began: Timestamp,
    /// Text of the configuration, as far as it affects the names of boards and their games.
    pub config: String,
    /// No board continued earlier recordings.
    pub whole: bool,
    /// Boards that continued from the journal alone, with the seq of the event from which each continued.
    pub boards: BTreeMap<String, u64>,
    /// Last seqs given before this run, by board; numbering continued after them.
    pub numbers: BTreeMap<String, u64>,
    /// The number after which boards without an entry in `numbers` count.
    pub others: u64,
    /// The daemon was not started: only the configuration changed.
    pub reloaded: bool,
    /// Seqs that this start skipped, by board: after the event with the first seq follows the one after the second seq.
    pub jumps: BTreeMap<String, (u64, u64)>,
}

impl Run {
    /// A reload of the configuration at the time `began`.
    #[must_use]
    pub fn reloaded(began: Timestamp, config: &str) -> Self {
        Self {
            began,
            config: config.to_owned(),
            whole: false,
            boards: BTreeMap::new(),
            numbers: BTreeMap::new(),
            others: 0,
            reloaded: true,
            jumps: BTreeMap::new(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredRun {
    began: i64,
    config: String,
    whole: bool,
    #[serde(flatten)]
    numbered: Numbered,
}

impl StoredRun {
    pub(super) fn of(run: &Run) -> Self {
        Self {
            began: run.began.as_micros(),
            config: run.config.clone(),
            whole: run.whole,
            numbered: Numbered::of(run),
        }
    }

    pub(super) fn into_run(self) -> Run {
        let Numbered {
            boards,
            numbers,
            others,
            reloaded,
            jumps,
        } = self.numbered;
        Run {
            began: Timestamp::from_micros(self.began),
            config: self.config,
            whole: self.whole,
            boards,
            numbers,
            others,
            reloaded,
            jumps,
        }
    }
}

/// A row of the table `run`: start, configuration, `whole`, and the rest as JSON.
pub(super) type RunRow = (i64, String, bool, String);

pub(super) fn insert(transaction: &Transaction<'_>, row: &RunRow) -> rusqlite::Result<usize> {
    let sql = "INSERT INTO run (began, config, whole, numbered) VALUES (?1, ?2, ?3, ?4)";
    let (began, config, whole, numbered) = row;
    transaction.execute(sql, params![began, config, whole, numbered])
}

/// The JSON in the column `numbered`.
#[derive(Debug, Serialize, Deserialize)]
struct Numbered {
    boards: BTreeMap<String, u64>,
    numbers: BTreeMap<String, u64>,
    others: u64,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    reloaded: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    jumps: BTreeMap<String, (u64, u64)>,
}

impl Numbered {
    fn of(run: &Run) -> Self {
        Self {
            boards: run.boards.clone(),
            numbers: run.numbers.clone(),
            others: run.others,
            reloaded: run.reloaded,
            jumps: run.jumps.clone(),
        }
    }
}

impl Journal {
    pub(super) fn row_of(&self, run: &Run) -> Result<RunRow, JournalError> {
        let numbered = serde_json::to_string(&Numbered::of(run));
        let numbered = numbered.map_err(|error| error::damaged(self.path.clone(), &error))?;
        Ok((run.began.as_micros(), run.config.clone(), run.whole, numbered))
    }

    /// Records a start of the daemon. Keeps earlier starts as long as the journal has events of them, as a rebuild of
    /// lost events needs them.
    pub fn begin_run(&mut self, run: &Run) -> Result<(), JournalError> {
        let row = self.row_of(run)?;
        self.write(|transaction, path| {
            if run.whole {
                transaction
                    .execute(DROP_OLDEST, [MAX_RUNS])
                    .map_err(error::of(path))?;
            }
            insert(transaction, &row).map_err(error::of(path))?;
            Ok(())
        })
    }

    /// The starts of the daemon since the last one at which no board continued earlier recordings, beginning with that
    /// one; empty if it is unknown.
    pub fn runs(&self) -> Result<Vec<Run>, JournalError> {
        self.runs_by(SINCE_WHOLE)
    }

    /// All known starts of the daemon, in order.
    pub fn all_runs(&self) -> Result<Vec<Run>, JournalError> {
        self.runs_by(ALL)
    }

    fn runs_by(&self, sql: &str) -> Result<Vec<Run>, JournalError> {
        if !self.has_table("run")? {
            return Ok(Vec::new());
        }
        let mut select = self.connection.prepare(sql).map_err(self.error())?;
        let rows = select.query_map([], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, bool>(2)?,
                row.get::<_, String>(3)?,
            ))
        });
        let rows: Vec<_> = rows.and_then(Iterator::collect).map_err(self.error())?;
        let run = |(began, config, whole, numbered): RunRow| {
            let numbered: Numbered =
                serde_json::from_str(&numbered).map_err(|error| error::damaged(self.path.clone(), &error))?;
            let stored_run = StoredRun {
                began,
                config,
                whole,
                numbered,
            };
            Ok(stored_run.into_run())
        };
        rows.into_iter().map(run).collect()
    }

    /// The commands that a board took after its event with seq `after`.
    pub fn commands(&self, stream: &str, board: &str, after: u64) -> Result<Vec<Event>, JournalError> {
        let sql = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq > ?3
            AND type = 'command.taken' ORDER BY seq";
        let mut select = self.connection.prepare(sql).map_err(self.error())?;
        let rows = select.query_map(params![stream, board, after], super::journaled);
        let rows: Vec<_> = rows.and_then(Iterator::collect).map_err(self.error())?;
        rows.iter().map(|row| row.decoded(&self.path)).collect()
    }

    /// Ranges of seqs that are missing between a board's events, first and last seq included. Their events were
    /// published but could not be stored, or were lost with a damaged journal.
    pub fn missing(&self, stream: &str, board: &str) -> Result<Vec<(u64, u64)>, JournalError> {
        let mut select = self.connection.prepare(HOLES).map_err(self.error())?;
        let rows = select.query_map([stream, board], |row| Ok((row.get(0)?, row.get(1)?)));
        rows.and_then(Iterator::collect).map_err(self.error())
    }

    fn has_table(&self, name: &str) -> Result<bool, JournalError> {
        let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
        let found = self.connection.query_row(sql, [name], |_| Ok(()));
        Ok(found.optional().map_err(self.error())?.is_some())
    }
}

/// Forgets the starts that only events from before the time `before` need.
pub(super) fn forget_before(transaction: &Transaction<'_>, before: Timestamp) -> rusqlite::Result<()> {
    let sql = "DELETE FROM run WHERE number < (SELECT max(number) FROM run WHERE whole AND began < ?1)";
    transaction.execute(sql, [before.as_micros()]).map(drop)
}

/// Upper bound for the number of stored starts, so that a daemon that keeps failing at its start does not fill the
/// disk.
const MAX_RUNS: i64 = 10_000;
const DROP_OLDEST: &str = "DELETE FROM run WHERE number <= (SELECT max(number) FROM run) - ?1";
const ALL: &str = "SELECT began, config, whole, numbered FROM run ORDER BY number";
const SINCE_WHOLE: &str = "SELECT began, config, whole, numbered FROM run
    WHERE number >= (SELECT max(number) FROM run WHERE whole) ORDER BY number";
/// Ranges between consecutive events whose seqs are not consecutive. Forgotten events leave no such range, as they
/// precede the first event.
const HOLES: &str = "SELECT before + 1, seq - 1 FROM (
        SELECT seq, lag(seq) OVER (ORDER BY seq) AS before FROM event WHERE stream = ?1 AND board = ?2
    ) WHERE before < seq - 1 ORDER BY seq";
