//! The daemon's log: to systemd's journal if systemd started it, else to stderr.

use tracing::{debug, info, warn};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::events::{Event, EventKind};
use crate::laws::Severity;

/// Starts to log.
pub(crate) fn start(targets: Targets) {
    let registry = tracing_subscriber::registry().with(targets);
    // systemd sets this variable when stderr is its journal.
    let journald = std::env::var_os("JOURNAL_STREAM").and_then(|_| tracing_journald::layer().ok());
    // A process has one subscriber; the first stays.
    let _ = match journald {
        Some(journald) => registry.with(journald).try_init(),
        None => {
            // The text of each line names the board already; its span would repeat it.
            let words = filter_fn(|data| data.is_event());
            let stderr = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
            registry.with(stderr.with_filter(words)).try_init()
        }
    };
}

/// Logs an event in its board's span: connections and games at info, moves at debug. The text of each line names the
/// board, since systemd's journal shows the text alone; the fields are for programs.
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
        EventKind::ClockBatteryLow {} => warn!("{board}: the clock's battery is low"),
        EventKind::GameStarted { variant, .. } => {
            info!(game, variant = variant.as_str(), "{board}: game {game} started")
        }
        EventKind::GameEnded { result, reason, .. } => {
            info!(
                game,
                result = result.as_str(),
                reason = reason.as_str(),
                "{board}: game {game} ended, {result}, {reason}"
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
            "{board}: {kind} is over"
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
