//! Queries about games and boards.

use core::time::Duration;

use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::events::pairing::MIN_PLIES;
use kiebitz_game::events::{Event, EventKind, ResumableGame};
use kiebitz_hardware::Timestamp;
use rusqlite::{Connection, OptionalExtension, Statement, params};

use super::{Journal, JournalError, JournaledEvent, journaled};

/// A game of a board, without its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GameEntry {
    /// The game's id, as in the events.
    pub game: String,
    /// Time at which the game started.
    pub started: Timestamp,
    /// Time at which the game ended; `None` if it is in play, was in play when kiebitz stopped, or was continued by the
    /// arbiter.
    pub ended: Option<Timestamp>,
}

impl Journal {
    /// The games of a board, oldest first.
    pub fn games(&self, stream: &str, board: &str) -> Result<Vec<GameEntry>, JournalError> {
        let mut select = self.connection.prepare(EDGES).map_err(self.error())?;
        let edges = select.query_map([stream, board], |row| {
            let at = Timestamp::from_micros(row.get(2)?);
            Ok((
                row.get::<_, bool>(0)?,
                row.get::<_, String>(1)?,
                at,
                row.get::<_, bool>(3)?,
            ))
        });
        let edges: Vec<_> = edges.and_then(Iterator::collect).map_err(self.error())?;
        let mut games: Vec<GameEntry> = Vec::new();
        for (starts, game, at, over) in edges {
            if starts {
                games.push(GameEntry {
                    game,
                    started: at,
                    ended: None,
                });
            } else if let Some(entry) = games.iter_mut().rfind(|entry| entry.game == game) {
                entry.ended = over.then(|| entry.ended.unwrap_or(at));
            }
        }
        Ok(games)
    }

    /// Start, in UTC, of the third-last day on which a game started, up to `now`; of the first such day if there are
    /// fewer than three; `None` if there is no game.
    ///
    /// The age of events is measured from this day and not from the computer's clock, which may be wrong by a year:
    /// games are played on at most two days before somebody notices a wrong clock.
    pub fn played_until(&self, stream: &str, now: Timestamp) -> Result<Option<Timestamp>, JournalError> {
        let sql = "SELECT min(day) FROM (
            SELECT DISTINCT ts / 86400000000 AS day FROM event
            WHERE stream = ?1 AND type = 'game.started' AND ts <= ?2 ORDER BY day DESC LIMIT 3)";
        let day: Option<i64> = self
            .connection
            .query_row(sql, params![stream, now.as_micros()], |row| row.get(0))
            .map_err(self.error())?;
        Ok(day.map(|day| Timestamp::from_micros(day * 86_400_000_000)))
    }

    /// The events of a game, in order; empty if there is no such game.
    pub fn game_events(
        &self,
        stream: &str,
        board: &str,
        game: &str,
    ) -> Result<Vec<JournaledEvent>, JournalError> {
        let events = game_events(&self.connection, stream, board, game, ALL);
        events.map_err(self.error())
    }

    /// The decoded events of a game, in order.
    pub fn game(&self, stream: &str, board: &str, game: &str) -> Result<Vec<Event>, JournalError> {
        self.decoded_events(stream, board, game)
    }

    /// The events of a game together with those of its board and clock: from the end of the game `before`, or from the
    /// board's first event, to the end of the game.
    pub fn game_with_board(
        &self,
        stream: &str,
        board: &str,
        game: &str,
        before: Option<&str>,
    ) -> Result<Vec<Event>, JournalError> {
        let own = self.decoded_events(stream, board, game)?;
        let started = own.first().map_or(0, |event| event.seq);
        let mut after = match before {
            Some(before) => self
                .game_events(stream, board, before)?
                .iter()
                .rfind(|event| event.seq < started)
                .map_or(0, |event| event.seq),
            None => 0,
        };
        let (mut events, mut ended) = (Vec::new(), false);
        // Adds decisions about the game that were made after the next game began.
        let with_later = |mut events: Vec<Event>| {
            let last = events.last().map_or(0, |event: &Event| event.seq);
            events.extend(own.into_iter().filter(|event| event.seq > last));
            events
        };
        loop {
            let page = self.events_after(stream, board, after, PAGE)?;
            let Some(last) = page.last() else {
                return Ok(with_later(events));
            };
            after = last.seq;
            for journaled in page {
                let event = journaled.decoded(&self.path)?;
                let is_own = event.game.as_deref() == Some(game);
                if matches!(event.kind, EventKind::GameStarted { .. }) && !is_own {
                    return Ok(with_later(events));
                }
                if is_own || (event.game.is_none() && !ended) {
                    match &event.kind {
                        EventKind::GameEnded { .. } => ended = true,
                        EventKind::GameResumed { .. } => ended = false,
                        // A result without a reason: the arbiter has ordered the game to continue.
                        EventKind::GameAmended {
                            result: Some(_),
                            reason,
                            ..
                        } => ended = reason.is_some(),
                        _ => {}
                    }
                    events.push(event);
                }
            }
        }
    }

    /// The events of the board's last game at the time `at` (its first game if there was none yet) and of all later
    /// games, in order.
    pub fn games_from(&self, stream: &str, board: &str, at: Timestamp) -> Result<Vec<Event>, JournalError> {
        let mut select = self.connection.prepare(STARTED_FROM).map_err(self.error())?;
        let games = select.query_map(params![stream, board, at.as_micros()], |row| row.get(0));
        let games: Vec<String> = games.and_then(Iterator::collect).map_err(self.error())?;
        let mut events = Vec::new();
        for game in games {
            events.extend(self.decoded_events(stream, board, &game)?);
        }
        // A decision about a game may come after the start of the next game.
        events.sort_by_key(|event| event.seq);
        Ok(events)
    }

    /// Returns the entries on a board's stream since that time that belong to no game: results for pairings without a
    /// game; commands that start a round, note a signed score sheet, set a bye or send an arbiter to a board; and
    /// incidents before the first move, such as a late start. Such an incident may be closed in the game that follows.
    pub fn round_entries(
        &self,
        stream: &str,
        board: &str,
        since: Timestamp,
    ) -> Result<Vec<Event>, JournalError> {
        let mut select = self.connection.prepare(ROUND_ENTRIES).map_err(self.error())?;
        let rows = select.query_map(params![stream, board, since.as_micros()], journaled);
        let rows: Vec<JournaledEvent> = rows.and_then(Iterator::collect).map_err(self.error())?;
        rows.iter().map(|row| row.decoded(&self.path)).collect()
    }

    /// Seq of the event that starts the first game of a board since that time; `None` if there is none.
    pub fn first_started_since(
        &self,
        stream: &str,
        board: &str,
        since: Timestamp,
    ) -> Result<Option<u64>, JournalError> {
        let mut select = self.connection.prepare(FIRST_STARTED).map_err(self.error())?;
        let first = select.query_row(params![stream, board, since.as_micros()], |row| row.get(0));
        first.map_err(self.error())
    }

    /// The history of a board up to the event with seq `until`.
    #[must_use]
    pub fn past<'j>(&'j self, stream: &'j str, board: &'j str, until: u64) -> BoardHistory<'j> {
        BoardHistory {
            journal: self,
            stream,
            board,
            until: until.min(ALL),
        }
    }

    /// The whole history of a board.
    #[must_use]
    pub fn all_of<'j>(&'j self, stream: &'j str, board: &'j str) -> BoardHistory<'j> {
        self.past(stream, board, ALL)
    }

    fn decoded_events(&self, stream: &str, board: &str, game: &str) -> Result<Vec<Event>, JournalError> {
        let events = self.game_events(stream, board, game)?;
        events.iter().map(|event| event.decoded(&self.path)).collect()
    }
}

/// Queries about one board up to a given event.
#[derive(Debug, Clone, Copy)]
pub struct BoardHistory<'j> {
    journal: &'j Journal,
    stream: &'j str,
    board: &'j str,
    until: u64,
}

impl BoardHistory<'_> {
    /// Time at which the board was last known to be observed: the time of its last event or, if a gap has no
    /// `board.recovered` yet, the start of that gap. `None` if the board has no events.
    pub fn last_followed(&self) -> Result<Option<Timestamp>, JournalError> {
        let mut select = self.prepare(LAST_FOLLOWED)?;
        let at = select.query_row(self.params(), |row| row.get::<_, i64>(0));
        let at = at.optional().map_err(self.journal.error())?;
        Ok(at.map(Timestamp::from_micros))
    }

    /// Time of the board's last event; `None` if it has none.
    pub fn last_ts(&self) -> Result<Option<Timestamp>, JournalError> {
        let mut select = self.prepare(LAST_TS)?;
        let at = select.query_row(self.params(), |row| row.get::<_, i64>(0));
        let at = at.optional().map_err(self.journal.error())?;
        Ok(at.map(Timestamp::from_micros))
    }

    /// The board's incidents.
    pub fn incidents(&self) -> Result<Incidents, JournalError> {
        let mut incidents = Incidents::default();
        for event in self.events(INCIDENTS)? {
            incidents.apply(&event);
        }
        Ok(incidents)
    }

    /// The events that announce the board's next game and its round, in order.
    pub fn announcements(&self) -> Result<Vec<Event>, JournalError> {
        self.events(ANNOUNCED)
    }

    /// The events that determine which of the board's games count for which pairings, in order: its announcements, and
    /// of the plies the first one and the one at which [a game counts](kiebitz_game::events::pairing::MIN_PLIES). No
    /// event lasts longer than `span`, so plies older than the last event by more than that are left out.
    pub fn paired(&self, span: Duration) -> Result<Vec<Event>, JournalError> {
        let since = self.last_ts()?.unwrap_or(Timestamp::from_micros(0));
        let since = since.saturating_sub(span).as_micros();
        let mut select = self.prepare(PAIRED)?;
        let rows = select.query_map(
            params![self.stream, self.board, self.until, since, MIN_PLIES],
            journaled,
        );
        let rows: Vec<JournaledEvent> = rows.and_then(Iterator::collect).map_err(self.journal.error())?;
        self.decoded(&rows)
    }

    /// The board's last connection or disconnection; `None` if it was never connected.
    pub fn presence(&self) -> Result<Option<Event>, JournalError> {
        Ok(self.events(PRESENCE)?.pop())
    }

    /// The board's last `board.connected`; `None` if it has none.
    pub fn last_connected(&self) -> Result<Option<Event>, JournalError> {
        Ok(self.events(CONNECTED)?.pop())
    }

    /// The board's last game, ended or not; `None` if it has none.
    pub fn last_game(&self) -> Result<Option<ResumableGame>, JournalError> {
        self.game_before_last(0)
    }

    /// The game that started `games` games before the last one; `None` if there are not that many.
    pub fn game_before_last(&self, games: u32) -> Result<Option<ResumableGame>, JournalError> {
        let mut select = self.prepare(STARTED_LAST)?;
        let params = params![self.stream, self.board, self.until, games];
        let game = select.query_row(params, |row| row.get::<_, String>(0));
        match game.optional().map_err(self.journal.error())? {
            Some(game) => self.game(&game),
            None => Ok(None),
        }
    }

    /// The game with this id; `None` if the board has no such game.
    pub fn game(&self, game: &str) -> Result<Option<ResumableGame>, JournalError> {
        let connection = &self.journal.connection;
        let events = game_events(connection, self.stream, self.board, game, self.until);
        let events = events.map_err(self.journal.error())?;
        Ok(ResumableGame::of(&self.decoded(&events)?))
    }

    fn events(&self, sql: &str) -> Result<Vec<Event>, JournalError> {
        let mut select = self.prepare(sql)?;
        let rows = select.query_map(self.params(), journaled);
        let rows: Vec<JournaledEvent> = rows.and_then(Iterator::collect).map_err(self.journal.error())?;
        self.decoded(&rows)
    }

    fn decoded(&self, rows: &[JournaledEvent]) -> Result<Vec<Event>, JournalError> {
        rows.iter().map(|row| row.decoded(&self.journal.path)).collect()
    }

    fn prepare(&self, sql: &str) -> Result<Statement<'_>, JournalError> {
        self.journal.connection.prepare(sql).map_err(self.journal.error())
    }

    fn params(&self) -> (&str, &str, u64) {
        (self.stream, self.board, self.until)
    }
}

/// An upper bound for every seq.
const ALL: u64 = i64::MAX as u64;

/// Number of events that are read at a time.
pub(super) const PAGE: usize = 1000;

/// Lowers `keep`, the first seq that is kept, so that no game is cut in two.
pub(super) fn whole_games(
    connection: &Connection,
    stream: &str,
    board: &str,
    keep: u64,
) -> rusqlite::Result<u64> {
    let edge = connection.query_row(EDGE_BEFORE, params![stream, board, keep], |row| {
        Ok((
            row.get::<_, bool>(0)?,
            row.get::<_, u64>(1)?,
            row.get::<_, String>(2)?,
        ))
    });
    Ok(match edge.optional()? {
        Some((true, started, _)) => started,
        Some((false, ended, game)) => {
            let over = connection.query_row(OVER_AFTER, params![stream, board, ended, keep, game], |row| {
                row.get(0)
            });
            if over.optional()?.unwrap_or(true) {
                return Ok(keep);
            }
            let started = connection.query_row(STARTED, [stream, board, &game], |row| row.get(0));
            started.optional()?.unwrap_or(keep)
        }
        None => keep,
    })
}

fn game_events(
    connection: &Connection,
    stream: &str,
    board: &str,
    game: &str,
    until: u64,
) -> rusqlite::Result<Vec<JournaledEvent>> {
    let started = connection.query_row(STARTED, [stream, board, game], |row| row.get(0));
    let Some(started) = started.optional()? else {
        return Ok(Vec::new());
    };
    let started: u64 = started;
    let next = connection.query_row(NEXT_STARTED, params![stream, board, started], |row| row.get(0));
    let next: Option<u64> = next.optional()?;
    let end = until.saturating_add(1).min(ALL);
    let mut select = connection.prepare(EVENTS)?;
    let mut between = |from: u64, to: u64| -> rusqlite::Result<Vec<JournaledEvent>> {
        let rows = select.query_map(params![stream, board, from, to.min(end), game], journaled)?;
        rows.collect()
    };
    // All later events with the game's id are included if no other game follows.
    let mut events = between(started, next.unwrap_or(ALL))?;
    if let Some(next) = next {
        let amended = params![stream, board, next, end, game];
        let amended: Option<u64> = connection.query_row(LAST_AMENDED, amended, |row| row.get(0))?;
        if let Some(amended) = amended {
            events.extend(between(next, amended.saturating_add(MAX_AMENDED))?);
        }
    }
    Ok(events)
}

/// Upper bound for the events that follow an amendment of a game: those of its moves, three for each.
const MAX_AMENDED: u64 = 5000;

/// Starts, ends and continuations of games. An amendment with a result but without a reason continues the game.
const EDGES: &str = "SELECT type = 'game.started', game, ts,
        type = 'game.ended' OR (type = 'game.amended' AND payload ->> 'reason' IS NOT NULL) FROM event
    WHERE stream = ?1 AND board = ?2 AND (type IN ('game.started', 'game.ended', 'game.resumed')
    OR (type = 'game.amended' AND payload ->> 'result' IS NOT NULL)) ORDER BY seq";
/// Whether a game with an end is over, by its last amended result or because play resumed.
const OVER_AFTER: &str = "SELECT type = 'game.amended' AND payload ->> 'reason' IS NOT NULL FROM event
    WHERE stream = ?1 AND board = ?2 AND seq > ?3 AND seq < ?4 AND game = ?5
    AND (type = 'game.resumed' OR (type = 'game.amended' AND payload ->> 'result' IS NOT NULL))
    ORDER BY seq DESC LIMIT 1";
// SQLite would not choose the index by itself, as it cannot know how few events the index holds.
const EDGE_BEFORE: &str = "SELECT type = 'game.started', seq, game FROM event INDEXED BY game_edge
    WHERE stream = ?1 AND board = ?2 AND seq < ?3 AND type IN ('game.started', 'game.ended')
    ORDER BY seq DESC LIMIT 1";
const STARTED: &str = "SELECT seq FROM event INDEXED BY game_edge
    WHERE stream = ?1 AND board = ?2 AND type IN ('game.started', 'game.ended')
    AND type = 'game.started' AND game = ?3 ORDER BY seq DESC LIMIT 1";
const STARTED_LAST: &str = "SELECT game FROM event INDEXED BY game_edge
    WHERE stream = ?1 AND board = ?2 AND type IN ('game.started', 'game.ended')
    AND type = 'game.started' AND seq <= ?3 ORDER BY seq DESC LIMIT 1 OFFSET ?4";
const STARTED_FROM: &str = "SELECT game FROM event INDEXED BY game_edge
    WHERE stream = ?1 AND board = ?2 AND type IN ('game.started', 'game.ended') AND type = 'game.started'
    AND seq >= ifnull((SELECT seq FROM event INDEXED BY game_edge
        WHERE stream = ?1 AND board = ?2 AND type IN ('game.started', 'game.ended') AND type = 'game.started'
        AND ts <= ?3 ORDER BY seq DESC LIMIT 1), 0)
    ORDER BY seq";
const FIRST_STARTED: &str = "SELECT min(seq) FROM event INDEXED BY game_edge
    WHERE stream = ?1 AND board = ?2 AND type IN ('game.started', 'game.ended') AND type = 'game.started' AND ts >= ?3";
/// A gap begins when a board is disconnected, or connected again after the daemon was not running, and lasts until
/// `board.recovered`; the first connection of a board begins none. Other events in a gap are no proof that the board
/// was observed. The gap therefore starts at the disconnection or, if the daemon was not running, after the last event
/// of its previous run.
const LAST_FOLLOWED: &str = "WITH
    known (seq, type, ts) AS NOT MATERIALIZED (SELECT seq, type, ts FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3),
    recovered (seq) AS (SELECT COALESCE(
        (SELECT MAX(seq) FROM known WHERE type = 'board.recovered'), (SELECT MIN(seq) FROM known))),
    gap (seq, type) AS (SELECT seq, type FROM known
        WHERE seq > (SELECT seq FROM recovered) AND type IN ('board.connected', 'board.disconnected')
        ORDER BY seq LIMIT 1),
    followed (seq) AS (SELECT seq - (type = 'board.connected') FROM gap)
    SELECT ts FROM known WHERE seq <= COALESCE((SELECT seq FROM followed), ?3) ORDER BY seq DESC LIMIT 1";
const LAST_TS: &str =
    "SELECT ts FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3 ORDER BY seq DESC LIMIT 1";
const PRESENCE: &str = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3
    AND type IN ('board.connected', 'board.disconnected') ORDER BY seq DESC LIMIT 1";
const CONNECTED: &str = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3
    AND type = 'board.connected' ORDER BY seq DESC LIMIT 1";
const NEXT_STARTED: &str = "SELECT seq FROM event INDEXED BY game_edge
    WHERE stream = ?1 AND board = ?2 AND seq > ?3 AND type IN ('game.started', 'game.ended')
    AND type = 'game.started' ORDER BY seq LIMIT 1";
const ROUND_ENTRIES: &str = "SELECT seq, payload FROM event
    WHERE stream = ?1 AND board = ?2 AND ts >= ?3 AND (type = 'table.result' OR (type = 'command.taken'
        AND payload ->> 'error' IS NULL AND (payload ->> 'do' IN ('start_round', 'set_bye', 'attend') OR (payload ->> 'do' = 'set_result'
            AND payload -> 'arguments' ->> 'signed' IS NOT NULL))) OR type = 'incident.closed'
        OR (type IN ('incident.opened', 'incident.updated') AND game IS NULL)) ORDER BY seq";
/// The last amendment of a game after the start of the next game.
const LAST_AMENDED: &str = "SELECT max(seq) FROM event
    WHERE stream = ?1 AND board = ?2 AND seq >= ?3 AND seq < ?4 AND type = 'game.amended' AND game = ?5";
const INCIDENTS: &str = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3
    AND type IN ('incident.opened', 'incident.updated', 'incident.closed', 'game.started') ORDER BY seq";
const ANNOUNCED: &str = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3
    AND (type IN ('command.taken', 'game.started', 'game.amended', 'game.ended') OR
    (type IN ('incident.opened', 'incident.closed') AND payload ->> 'kind' = 'colors_reversed')) ORDER BY seq";
const PAIRED: &str = "SELECT seq, payload FROM event WHERE stream = ?1 AND board = ?2 AND seq <= ?3
    AND (type IN ('command.taken', 'game.started', 'game.amended', 'game.ended', 'game.resumed', 'table.result')
        OR (type = 'move.made' AND ts >= ?4 AND payload ->> 'ply' IN (1, ?5))
        OR (type IN ('incident.opened', 'incident.closed') AND payload ->> 'kind' = 'colors_reversed'))
    ORDER BY seq";
const EVENTS: &str = "SELECT seq, payload FROM event
    WHERE stream = ?1 AND board = ?2 AND seq >= ?3 AND seq < ?4 AND game = ?5 ORDER BY seq";
