//! The daemon's log: to the journal of systemd where that started it, else to stderr.

use tracing::{debug, info, warn};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::events::{Event, EventKind};
use crate::laws::Severity;

/// Logs from now on.
pub(crate) fn start(targets: Targets) {
    let registry = tracing_subscriber::registry().with(targets);
    // systemd says so when stderr is its journal.
    let journald = std::env::var_os("JOURNAL_STREAM").and_then(|_| tracing_journald::layer().ok());
    // Only one can be set for a process; the first stays.
    let _ = match journald {
        Some(journald) => registry.with(journald).try_init(),
        None => {
            // The words name the board as its span does.
            let words = filter_fn(|data| data.is_event());
            let stderr = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
            registry.with(stderr.with_filter(words)).try_init()
        }
    };
}

/// Logs an event in its board's span: comings, goings and games; moves for those who want to know more. A line says in
/// words which board it is about, since the journal of systemd shows words alone; the fields are for programs.
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
            info!(by = by.as_str(), changes, "{board}: a gap is closed")
        }
        EventKind::ClockConnected {} => info!("{board}: clock connected"),
        EventKind::ClockDisconnected {} => info!("{board}: clock disconnected"),
        EventKind::ClockBatteryLow {} => warn!("{board}: the clock's battery is low"),
        EventKind::GameStarted { variant, .. } => info!(
            game,
            variant = variant.as_str(),
            "{board}: game {game} has started"
        ),
        EventKind::GameEnded { result, reason, .. } => {
            info!(
                game,
                result = result.as_str(),
                reason = reason.as_str(),
                "{board}: game {game} has ended, {result}, {reason}"
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
                "{board}: ply {ply} was another move, {uci}"
            );
        }
        EventKind::MoveRetracted { ply, reason } => {
            info!(
                ply,
                reason = reason.as_str(),
                "{board}: withdrawn from ply {ply} on, {reason}"
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
        } => info!(
            action = action.as_str(),
            by, error, "{board}: the command {action}"
        ),
        EventKind::GameAmended { by, .. } => info!(game, by, "{board}: game {game} was amended"),
        EventKind::ClaimAvailable { .. }
        | EventKind::MoveSettled { .. }
        | EventKind::MoveCompleted { .. } => {}
    }
}
