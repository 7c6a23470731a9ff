//! `kiebitz status`: shows the state of a running kiebitz and its boards in a terminal.

use core::time::Duration;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::Exit;
use crate::config::Config;

#[derive(Debug)]
pub(super) struct StatusRequest {
    pub(super) config: Option<std::path::PathBuf>,
    pub(super) json: bool,
}

/// Timeout of the request. A daemon that needs longer is not working.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Part of the daemon's answer that is printed.
#[derive(Debug, Deserialize)]
struct Answer {
    ok: bool,
    problems: Vec<String>,
    host: String,
    broker: Option<bool>,
    #[serde(default)]
    outputs: std::collections::BTreeMap<String, StatusOutput>,
    boards: Vec<StatusBoard>,
}

#[derive(Debug, Deserialize)]
struct StatusOutput {
    ok: bool,
    #[serde(default)]
    did: String,
    last: Option<jiff_time::Time>,
}

#[derive(Debug, Deserialize)]
struct StatusBoard {
    board: String,
    connected: bool,
    game: Option<StatusGame>,
    times: Option<StatusTimes>,
}

#[derive(Debug, Deserialize)]
struct StatusGame {
    round: Option<u32>,
    table: Option<u32>,
    white: Option<String>,
    black: Option<String>,
    last_move: String,
    result: Option<String>,
}

#[derive(Debug, Deserialize)]
struct StatusTimes {
    white_ms: u64,
    black_ms: u64,
    running: Option<String>,
}

mod jiff_time {
    use serde::{Deserialize, Deserializer};

    /// Local time of day, as text.
    #[derive(Debug)]
    pub(super) struct Time(pub(super) String);

    impl<'de> Deserialize<'de> for Time {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            let at: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
            let here = at.to_zoned(crate::system_time::local_zone());
            Ok(Self(here.strftime("%H:%M:%S").to_string()))
        }
    }
}

/// Queries the daemon and prints its state. The exit code shows whether something needs attention.
pub(super) fn run(request: &StatusRequest, out: &mut impl Write) -> Result<Exit> {
    let config = Config::read_or_default(request.config.as_deref())?;
    let text = health(&config, request.config.as_deref())?;
    let answer: Answer = serde_json::from_str(&text).context(
        "cannot parse the answer: check that no other program uses this \
            address",
    )?;
    if request.json {
        writeln!(out, "{text}")?;
    } else {
        print(&answer, out)?;
    }
    Ok(if answer.ok { Exit::Fine } else { Exit::Failed })
}

/// Returns the state of the running daemon, as JSON. `path` is the named file of the configuration.
pub(super) fn health(config: &Config, path: Option<&Path>) -> Result<String> {
    let Some(address) = config.http else {
        let file = Config::file(path).unwrap_or_else(|| Path::new(crate::config::USUAL_FILE));
        bail!(
            "the status has no address: add `[http]` and `listen = \"127.0.0.1:8037\"` to {}, and restart kiebitz",
            file.display()
        );
    };
    ask(&format!("http://{address}/health")).with_context(|| {
        format!(
            "kiebitz does not answer at http://{address}/: check with `systemctl status kiebitz` that it is running"
        )
    })
}

fn ask(url: &str) -> Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // reqwest needs a provider even for plain HTTP. This fails if one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .timeout(REQUEST_TIMEOUT)
            .no_proxy()
            .build()?;
        Ok(client.get(url).send().await?.text().await?)
    })
}

fn print(answer: &Answer, out: &mut impl Write) -> Result<()> {
    let state = if answer.ok {
        "all is well"
    } else {
        "needs attention"
    };
    writeln!(out, "kiebitz on {}: {state}", answer.host)?;
    for problem in &answer.problems {
        writeln!(out, "! {problem}")?;
    }
    let rows: Vec<[String; 5]> = answer.boards.iter().map(StatusBoard::row).collect();
    for row in &rows {
        writeln!(out, "{}", in_columns(row, &rows))?;
    }
    if let Some(connected) = answer.broker {
        writeln!(
            out,
            "broker: {}",
            if connected { "connected" } else { "not connected" }
        )?;
    }
    for (name, output) in &answer.outputs {
        let last = match &output.last {
            Some(at) => format!("{} at {}", output.did, at.0),
            None => "nothing yet".to_owned(),
        };
        writeln!(
            out,
            "{name}: {}{last}",
            if output.ok { "" } else { "needs attention; " }
        )?;
    }
    Ok(())
}

impl StatusBoard {
    fn row(&self) -> [String; 5] {
        let game = self.game.as_ref();
        [
            self.board.clone(),
            if self.connected {
                "connected"
            } else {
                "not connected"
            }
            .to_owned(),
            game.map(StatusGame::title).unwrap_or_default(),
            game.map(StatusGame::stage).unwrap_or_default(),
            self.times.as_ref().map(StatusTimes::text).unwrap_or_default(),
        ]
    }
}

impl StatusGame {
    fn title(&self) -> String {
        let place = match (self.round, self.table) {
            (Some(round), Some(table)) => format!("{round}.{table} "),
            _ => String::new(),
        };
        let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
        format!("{place}{} - {}", name(&self.white), name(&self.black))
    }

    fn stage(&self) -> String {
        let result = self.result.as_deref().unwrap_or_default();
        format!("{} {result}", self.last_move).trim().to_owned()
    }
}

impl StatusTimes {
    /// Formats both times, with a star at the side whose time runs.
    fn text(&self) -> String {
        let side = |ms: u64, name: &str| {
            let star = if self.running.as_deref() == Some(name) {
                "*"
            } else {
                ""
            };
            let seconds = ms / 1000;
            format!(
                "{}:{:02}:{:02}{star}",
                seconds / 3600,
                seconds / 60 % 60,
                seconds % 60
            )
        };
        format!(
            "{} / {}",
            side(self.white_ms, "white"),
            side(self.black_ms, "black")
        )
    }
}

fn in_columns(row: &[String; 5], rows: &[[String; 5]]) -> String {
    let cells = row.iter().enumerate().map(|(column, cell)| {
        let widths = rows
            .iter()
            .filter_map(|row| Some(row.get(column)?.chars().count()));
        let width = widths.max().unwrap_or_default();
        format!("{cell:<width$}")
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}
