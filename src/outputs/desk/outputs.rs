//! Outputs that operators try out before a round: whether what is sent gets there, and else why not.

use core::time::Duration;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;

use super::door::{Operator, SharedDesk, refused};
use crate::outputs::shared::trial::Trial;

/// What takes longer is not there.
const PATIENCE: Duration = Duration::from_secs(40);

/// The outputs that can be tried out, one at a time.
#[derive(Debug)]
pub(super) struct Outputs {
    trials: Vec<Trial>,
    turn: Mutex<()>,
}

impl Outputs {
    pub(super) fn of(trials: Vec<Trial>) -> Self {
        Self {
            trials,
            turn: Mutex::default(),
        }
    }
}

/// The names of those that can be tried out.
pub(super) async fn list(State(door): SharedDesk, _operator: Operator) -> Response {
    let names: Vec<&str> = door.outputs.trials.iter().map(Trial::name).collect();
    Json(json!({ "outputs": names })).into_response()
}

#[derive(Deserialize)]
pub(super) struct TrialForm {
    output: String,
}

/// Tries one out.
pub(super) async fn test(
    State(door): SharedDesk,
    Operator(guest): Operator,
    Json(asked): Json<TrialForm>,
) -> Response {
    let mut trials = door.outputs.trials.iter();
    let Some(trial) = trials.find(|trial| trial.name() == asked.output).cloned() else {
        return refused(StatusCode::NOT_FOUND, "there is no such output to test");
    };
    let name = trial.name().to_owned();
    // It goes on when nobody waits for it any more: a file that was put there is taken away again.
    let tried = tokio::spawn(async move {
        let outputs = Arc::clone(&door);
        let _turn = outputs.outputs.turn.lock().await;
        let tried = tokio::time::timeout(PATIENCE, trial.try_out()).await;
        tried.unwrap_or_else(|_| Err("no answer".to_owned()))
    });
    let tried = tried.await.unwrap_or_else(|error| Err(error.to_string()));
    match &tried {
        Ok(()) => tracing::info!("[desk]: {} tested {name}: it works", guest.name),
        Err(error) => tracing::warn!("[desk]: {} tested {name}: {error}", guest.name),
    }
    Json(json!({ "ok": tried.is_ok(), "error": tried.err() })).into_response()
}
