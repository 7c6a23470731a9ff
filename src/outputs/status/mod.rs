//! Status of the daemon and its boards at a moment: as JSON, as a web page, and as metrics for Prometheus.

mod metrics;
mod page;
mod settings;
#[cfg(target_os = "linux")]
pub(crate) mod task;

use kiebitz_game::events::{Clock, GameResult, rfc3339};
use kiebitz_game::hall::Playing;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use tokio::sync::oneshot;

use crate::outputs::mqtt::{DaemonHealth, LineHealth};
use crate::outputs::shared::numbering::Numbering;
use crate::outputs::shared::reports::BROKER;
pub(crate) use metrics::{MEDIA_TYPE, metrics};
pub(crate) use page::page;
pub(crate) use settings::HttpTable;

/// Request for the daemon's status, by its reply channel.
pub(crate) type Question = oneshot::Sender<Status>;

/// Status of the daemon at a moment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Status {
    /// Whether there are no problems.
    pub(crate) ok: bool,
    /// Problems that need somebody's attention, in words.
    pub(crate) problems: Vec<String>,
    pub(crate) host: String,
    pub(crate) version: &'static str,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) started: Timestamp,
    #[serde(serialize_with = "rfc3339")]
    pub(crate) as_of: Timestamp,
    /// Whether the broker is connected; `None` if none is configured.
    pub(crate) broker: Option<bool>,
    #[serde(flatten)]
    pub(crate) daemon: DaemonHealth,
    pub(crate) boards: Vec<BoardSummary>,
}

/// Status of a board at a moment.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct BoardSummary {
    pub(crate) board: String,
    pub(crate) connected: bool,
    pub(crate) port: String,
    pub(crate) serial: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) playing: bool,
    /// Whether a clock answers.
    pub(crate) clock: bool,
    pub(crate) battery: Option<u8>,
    pub(crate) line: LineHealth,
    /// Last game on the board.
    pub(crate) game: Option<GameStatus>,
    /// Times on the clock in milliseconds, and the side whose time is running.
    pub(crate) times: Option<Clock>,
    /// Open incidents that need an arbiter, in words.
    pub(crate) open: Vec<String>,
    /// Other boards that report the same serial number.
    pub(crate) same_number: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct GameStatus {
    pub(crate) game: String,
    pub(crate) round: Option<u32>,
    pub(crate) table: Option<u32>,
    pub(crate) white: Option<String>,
    pub(crate) black: Option<String>,
    /// Last move, as in "12. Nf3"; empty before the first.
    pub(crate) last_move: String,
    /// Result; `None` while the game goes on.
    pub(crate) result: Option<GameResult>,
}

impl GameStatus {
    pub(crate) fn of(playing: &Playing) -> Self {
        let players = playing.players.clone().unwrap_or_default();
        let (ply, name) = &playing.last;
        let last_move = match ply {
            0 => String::new(),
            ply => Numbering::of(&playing.start_fen).name(*ply, name),
        };
        Self {
            game: playing.game.clone(),
            round: players.round,
            table: players.table,
            white: players.white,
            black: players.black,
            last_move,
            result: playing.ended.map(|(result, _)| result),
        }
    }

    /// Title of the game, as in "3.7 Adler - Berg".
    pub(crate) fn title(&self) -> String {
        let place = match (self.round, self.table) {
            (Some(round), Some(table)) => format!("{round}.{table} "),
            _ => String::new(),
        };
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
        format!("{place}{} - {}", name(&self.white), name(&self.black))
    }
}

/// Advice on boards that report the same serial number.
pub(crate) fn same_number(board: &str, others: &[String]) -> String {
    format!(
        "{board} and {} report the same serial number, and each keeps its name only at its port: do not swap \
         their cables, or name them by port with [[board]] in the configuration",
        others.join(", ")
    )
}

impl Status {
    /// Creates the status and collects the problems of all parts.
    pub(crate) fn new(
        host: &str,
        (started, as_of): (Timestamp, Timestamp),
        broker: Option<bool>,
        daemon: DaemonHealth,
        boards: Vec<BoardSummary>,
    ) -> Self {
        let mut problems = Vec::new();
        for (name, storage) in [
            ("journal", &daemon.storage.journal),
            ("recordings", &daemon.storage.recordings),
        ] {
            let problem = storage.problem.as_deref();
            problems.extend(problem.map(|problem| format!("{name}: {problem}")));
        }
        for (output, report) in &daemon.outputs {
            problems.extend(
                report
                    .problems
                    .iter()
                    .map(|problem| format!("{output}: {problem}")),
            );
        }
        let is_reported = daemon.outputs.get(BROKER).is_some_and(|report| !report.ok);
        if broker == Some(false) && !is_reported {
            problems.push("no connection to the MQTT broker".to_owned());
        }
        for board in &boards {
            problems.extend(board.open.iter().map(|open| format!("{}: {open}", board.board)));
        }
        // Boards with the same number are reported once, with the first by name.
        let first = |board: &&BoardSummary| board.same_number.iter().all(|other| board.board < *other);
        let shared = boards
            .iter()
            .filter(|board| !board.same_number.is_empty())
            .filter(first);
        problems.extend(shared.map(|board| same_number(&board.board, &board.same_number)));
        let disconnected = boards.iter().filter(|board| !board.connected);
        problems.extend(disconnected.map(|board| format!("{} is not connected", board.board)));
        Self {
            ok: problems.is_empty(),
            problems,
            host: host.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            started,
            as_of,
            broker,
            daemon,
            boards,
        }
    }
}

#[cfg(test)]
mod tests;
