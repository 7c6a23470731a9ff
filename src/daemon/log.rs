//! The daemon's log: to systemd's journal if systemd started the daemon, else to stderr.

mod repeats;

use std::sync::OnceLock;

use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::laws::{Regulations, Severity};
use tracing::{debug, info, warn};
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload::Handle;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::config::Config;
use crate::outputs::status;
use crate::shown::LogLines;
use repeats::RepeatFilter;
pub(crate) use repeats::{report as report_repeats, report_rest};

/// Changes the filter at runtime; empty in a process that does not log.
static LOGGED: OnceLock<Handle<Targets, Registry>> = OnceLock::new();

pub(crate) fn start(targets: Targets) {
    let (targets, handle) = tracing_subscriber::reload::Layer::new(targets);
    let _ = LOGGED.set(handle);
    let registry = tracing_subscriber::registry().with(targets).with(RepeatFilter);
    // systemd sets this variable if stderr is connected to its journal.
    let journald = std::env::var_os("JOURNAL_STREAM").and_then(|_| tracing_journald::layer().ok());
    // A process has only one subscriber: if one is set already, it stays.
    let _ = match journald {
        Some(journald) => registry.with(journald).try_init(),
        None => {
            // The text of each line already names the board, so the span is left out.
            let events_only = filter_fn(|data| data.is_event());
            let stderr = tracing_subscriber::fmt::layer().with_writer(LogLines::default);
            registry.with(stderr.with_filter(events_only)).try_init()
        }
    };
}

pub(super) fn change(targets: &Targets) {
    if let Some(handle) = LOGGED.get()
        && let Err(error) = handle.reload(targets.clone())
    {
        warn!("cannot change the log level: {error}");
    }
}

/// Logs the event's time control with its mode of play, and those of boards with another time control.
pub(super) fn modes(config: &Config) {
    let all = mode(&config.event).map(|mode| format!("time control {mode}"));
    let boards = config.boards.iter();
    let own = boards.filter(|board| board.regulations.time_control != config.event.time_control);
    let own = own.filter_map(|board| {
        Some(format!(
            "{}: time control {}",
            board.name.as_str(),
            mode(&board.regulations)?
        ))
    });
    for line in all.into_iter().chain(own) {
        info!("{line}");
    }
}

/// Formats a time control with its mode of play; `None` without a time control.
fn mode(regulations: &Regulations) -> Option<String> {
    let control = regulations.time_control.as_ref()?;
    let (by_time, _) = regulations.mode_of_time()?;
    let configured = regulations.rules.mode;
    let edition = regulations.rules.edition;
    Some(if configured == by_time {
        format!("{control}: {configured} ({edition})")
    } else {
        format!("{control}: {by_time} by its time ({edition}), but {configured} is configured")
    })
}

/// Warns if other boards report the same serial number as `board`, which has just been connected.
pub(super) fn same_number<'n>(board: &str, others: impl Iterator<Item = &'n str>) {
    let others: Vec<String> = others.map(str::to_owned).collect();
    if !others.is_empty() {
        warn!("{}", status::same_number(board, &others));
    }
}

/// Logs an event in its board's span: connections and games at level info, moves at debug. The text names the board
/// because systemd's journal shows only the text; the fields are for programs.
pub(super) fn event(event: &Event) {
    let board = &*event.board;
    let game = event.game.as_deref().unwrap_or_default();
    let _span = tracing::info_span!("board", name = board).entered();
    match &event.kind {
        EventKind::BoardConnected { port, serial, .. } => {
            info!(port, serial, "{board}: connected");
        }
        EventKind::BoardDisconnected { reason } => warn!("{board}: disconnected: {reason}"),
        EventKind::BoardRecovered { by, changes, .. } => {
            info!(by = by.as_str(), changes, "{board}: recovered after a gap")
        }
        EventKind::ClockConnected {} => info!("{board}: clock connected"),
        EventKind::ClockDisconnected {} => info!("{board}: clock disconnected"),
        // Every board has this event, but the daemon logs the step only once.
        EventKind::TimeSet { .. } => {}
        EventKind::ClockBatteryLow {} => warn!("{board}: the clock's battery is low"),
        EventKind::ClockSides { white_side } => {
            debug!(game, "{board}: White's side of the clock is the {white_side}")
        }
        EventKind::GameStarted {
            variant,
            mode,
            time_control,
            ..
        } => {
            let mode = mode.map(|mode| mode.as_str()).unwrap_or_default();
            info!(
                game,
                variant = variant.as_str(),
                mode,
                time_control,
                "{board}: game {game} started, {mode}"
            )
        }
        EventKind::GameEnded {
            result,
            reason,
            end_certain,
            ..
        } => {
            let doubt = if *end_certain {
                ""
            } else {
                "; its end was not watched, so its last moves are uncertain"
            };
            info!(
                game,
                result = result.as_str(),
                reason = reason.as_str(),
                "{board}: game {game} ended, {result}, {reason}{doubt}"
            );
        }
        EventKind::TableResult {
            round,
            table,
            result,
            by,
            ..
        } => {
            let result = result.as_str();
            info!(
                round,
                table, result, "round {round}, table {table}: {by} entered {result}"
            );
        }
        EventKind::GameResumed { result, .. } => {
            let result = result.as_str();
            warn!(
                game,
                result, "{board}: game {game} goes on; {result} is withdrawn"
            );
        }
        EventKind::MoveMade(played) => {
            let (ply, uci) = (played.ply, played.uci.as_deref().unwrap_or_default());
            debug!(ply, uci, san = played.san, "{board}: ply {ply} {uci}");
        }
        EventKind::MoveAmended { played, reason, .. } => {
            let (ply, uci) = (played.ply, played.uci.as_deref().unwrap_or_default());
            info!(
                ply,
                uci,
                san = played.san,
                reason = reason.as_str(),
                "{board}: ply {ply} corrected to {uci}"
            );
        }
        EventKind::MoveRetracted { ply, reason } => {
            info!(
                ply,
                reason = reason.as_str(),
                "{board}: moves retracted from ply {ply} on, {reason}"
            );
        }
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
            let (kind, ply, advice) = (incident.kind.as_str(), incident.ply, &incident.advice);
            match incident.severity {
                Severity::Advice | Severity::Violation => warn!(kind, ply, "{board}: {advice}"),
                Severity::Info | Severity::Hint => debug!(kind, ply, "{board}: {advice}"),
            }
        }
        EventKind::IncidentClosed { kind, reason, .. } => debug!(
            kind = kind.as_str(),
            reason = reason.as_str(),
            "{board}: {kind} closed"
        ),
        EventKind::CommandTaken {
            action, by, error, ..
        } => info!(action = action.as_str(), by, error, "{board}: command {action}"),
        EventKind::GameAmended { by, .. } => info!(game, by, "{board}: game {game} amended"),
        EventKind::ClaimAvailable { .. }
        | EventKind::MoveSettled { .. }
        | EventKind::MoveCompleted { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023: A.1, B.1: the start logs the time control as parsed and the resulting mode.
    #[test]
    fn the_mode_of_the_time_control_is_described() {
        let mode_of = |text: &str| {
            let text = format!("[event]\n{text}");
            let config = Config::parse("kiebitz.toml".as_ref(), &text).expect("a configuration");
            mode(&config.event)
        };
        assert_eq!(
            mode_of("time_control = \"90'+30''\"").as_deref(),
            Some("90+30: standard (fide-2023)")
        );
        assert_eq!(
            mode_of("time_control = \"60 min\"\nlaws = \"fide-1997\"").as_deref(),
            Some("1 h: rapid (fide-1997)")
        );
        assert_eq!(
            mode_of("time_control = \"3+2\"\nmode = \"rapid\"").as_deref(),
            Some("3+2: blitz by its time (fide-2023), but rapid is configured")
        );
        assert_eq!(mode_of(""), None);
    }
}
