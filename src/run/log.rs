//! The daemon's log: to the journal of systemd where that started it, else to stderr.

use tracing::{debug, info, warn};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::event::{Event, EventKind};

/// Logs from now on.
pub(crate) fn start(targets: Targets) {
    let registry = tracing_subscriber::registry().with(targets);
    // systemd says so when stderr is its journal.
    let journald = std::env::var_os("JOURNAL_STREAM").and_then(|_| tracing_journald::layer().ok());
    // Only one can be set for a process; the first stays.
    let _ = match journald {
        Some(journald) => registry.with(journald).try_init(),
        None => {
            let stderr = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
            registry.with(stderr).try_init()
        }
    };
}

/// Logs an event in its board's span: comings, goings and games; moves for those who want to know more.
pub(super) fn event(event: &Event) {
    let _span = tracing::info_span!("board", name = %event.board).entered();
    match &event.kind {
        EventKind::BoardConnected { port, serial, .. } => {
            info!(port, serial, "connected");
        }
        EventKind::BoardDisconnected { reason } => warn!("disconnected: {reason}"),
        EventKind::BoardRecovered { by, changes, .. } => info!(by, changes, "a gap is closed"),
        EventKind::ClockConnected {} => info!("clock connected"),
        EventKind::ClockDisconnected {} => info!("clock disconnected"),
        EventKind::ClockBatteryLow {} => warn!("the clock's battery is low"),
        EventKind::GameStarted { variant, .. } => info!(game = event.game, variant, "a game has started"),
        EventKind::GameEnded { result, reason, .. } => {
            info!(game = event.game, result, reason, "the game has ended");
        }
        EventKind::MoveMade(played) => debug!(ply = played.ply, san = played.san, uci = played.uci),
        EventKind::MoveAmended { played, reason, .. } => {
            info!(
                ply = played.ply,
                san = played.san,
                reason,
                "a move was another one"
            );
        }
        EventKind::MoveRetracted { ply, reason } => info!(ply, reason, "withdrawn from this ply on"),
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
            let (kind, ply, advice) = (incident.kind, incident.ply, &incident.advice);
            match incident.severity {
                "advice" | "violation" => warn!(kind, ply, "{advice}"),
                _ => debug!(kind, ply, "{advice}"),
            }
        }
        EventKind::IncidentClosed { kind, reason, .. } => debug!(kind, reason, "over"),
        EventKind::CommandTaken {
            action, by, error, ..
        } => info!(action, by, error, "a command"),
        EventKind::GameAmended { by, .. } => info!(game = event.game, by, "the game was amended"),
        EventKind::ClaimAvailable { .. }
        | EventKind::MoveSettled { .. }
        | EventKind::MoveCompleted { .. } => {}
    }
}
