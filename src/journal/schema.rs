//! The tables of a journal, their versions, and the check that a file has them.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::{self, JournalError};

/// Application ID in the file's header: "kieb".
const APPLICATION: i32 = 0x6b69_6562;
/// Version of the tables and of the payloads. A new type of event raises it, as an older kiebitz cannot read unknown
/// types.
const VERSION: i32 = 3;
/// The first version, which lacks the table `run`.
const FIRST: i32 = 1;

/// The first tables. `event` repeats the fields of the payload that queries need. Its index holds the starts and ends
/// of games, from which all queries about games proceed; it is small.
///
/// `delivered` has the last event that each output has delivered, `output` all outputs that ever existed.
const TABLES: &str = "
CREATE TABLE event (
    stream TEXT NOT NULL,
    board TEXT NOT NULL,
    seq INTEGER NOT NULL,
    ts INTEGER NOT NULL, -- microseconds since 1970
    game TEXT,
    type TEXT NOT NULL,
    payload TEXT NOT NULL, -- JSON
    PRIMARY KEY (stream, board, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX game_edge ON event (stream, board, seq) WHERE type IN ('game.started', 'game.ended');
CREATE TABLE output (
    name TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE delivered (
    output TEXT NOT NULL,
    stream TEXT NOT NULL,
    board TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (output, stream, board)
) STRICT, WITHOUT ROWID;
";

/// The number after which boards count. Older files lack this table and count from 1.
const BEGUN: &str = "CREATE TABLE begun (after INTEGER NOT NULL) STRICT";

/// Since version 2: the starts of the daemon. Version 3 added the event `table.result`.
const RUNS: &str = "
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    began INTEGER NOT NULL, -- microseconds since 1970
    config TEXT NOT NULL, -- what applied to the boards
    whole INTEGER NOT NULL, -- no board went on with what was recorded before
    numbered TEXT NOT NULL -- JSON: with which numbers boards went on
) STRICT;
";

/// Index of amendments, which may come long after their games.
const AMENDED: &str =
    "CREATE INDEX IF NOT EXISTS game_amended ON event (stream, board, game, seq) WHERE type = 'game.amended'";

/// Creates the tables in an empty file, upgrades older ones, and rejects files of other programs.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), JournalError> {
    let (application, version) = header(connection).map_err(error::of(path))?;
    if (application, version) != (0, 0) || !is_empty(connection).map_err(error::of(path))? {
        check(connection, path)?;
    }
    let ready = connection
        // Network file systems do not support WAL; SQLite then stays in a mode that is equally safe.
        .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))
        .and_then(|()| synchronise(connection, true))
        .and_then(|()| match (application, version) {
            (0, _) => create(connection, super::put_aside_at(path)),
            (_, FIRST) => add_runs(connection),
            (_, VERSION) => Ok(()),
            _ => connection.pragma_update(None, "user_version", VERSION),
        })
        .and_then(|()| connection.execute_batch(AMENDED));
    ready.map_err(error::of(path))
}

/// Fails if the file lacks the tables or has an unknown version.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let (application, version) = header(connection).map_err(error::of(path))?;
    let has_tables = has_tables(connection).map_err(error::of(path))?;
    let inconsistent = |detail: &str| Err(error::damaged(path.to_owned(), &detail));
    match (application == APPLICATION, has_tables, version) {
        (true, true, FIRST..=VERSION) => Ok(()),
        (true, true, 0 | ..0) => inconsistent("the version is missing"),
        (true, true, newer) => Err(JournalError::Newer {
            path: path.to_owned(),
            found: newer,
            known: VERSION,
        }),
        (true, false, _) => inconsistent("a table is missing"),
        (false, true, _) => inconsistent("the header is not that of a journal"),
        (false, false, _) => Err(JournalError::Foreign {
            path: path.to_owned(),
        }),
    }
}

/// Whether the file has the tables that are common to all versions.
fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) = 3 FROM sqlite_schema WHERE type = 'table' AND name IN ('event', 'output', 'delivered')";
    connection.query_row(sql, [], |row| row.get(0))
}

pub(super) fn synchronise(connection: &Connection, wait: bool) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", if wait { "full" } else { "normal" })
}

pub(super) fn header(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let value = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((value("application_id")?, value("user_version")?))
}

pub(super) fn begins_after(connection: &Connection) -> rusqlite::Result<u64> {
    let known = "SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'begun'";
    if !connection.query_row(known, [], |row| row.get::<_, bool>(0))? {
        return Ok(0);
    }
    connection.query_row("SELECT ifnull(max(after), 0) FROM begun", [], |row| row.get(0))
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Uses one transaction, so that a power cut leaves an empty file.
fn create(connection: &mut Connection, after: u64) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(BEGUN)?;
    transaction.execute_batch(RUNS)?;
    transaction.execute("INSERT INTO begun (after) VALUES (?1)", [after])?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

fn add_runs(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(RUNS)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
