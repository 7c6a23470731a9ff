//! Tests of outputs, which operators run before a round: whether a delivery reaches its destination, and why not.

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

/// Timeout of a test.
const PATIENCE: Duration = Duration::from_secs(40);

/// The outputs that can be tested, one at a time.
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

pub(super) async fn list(State(state): SharedDesk, _operator: Operator) -> Response {
    let names: Vec<&str> = state.outputs.trials.iter().map(Trial::name).collect();
    Json(json!({ "outputs": names })).into_response()
}

#[derive(Deserialize)]
pub(super) struct TrialForm {
    output: String,
}

pub(super) async fn test(
    State(state): SharedDesk,
    Operator(guest): Operator,
    Json(form): Json<TrialForm>,
) -> Response {
    let mut trials = state.outputs.trials.iter();
    let Some(trial) = trials.find(|trial| trial.name() == form.output).cloned() else {
        return refused(StatusCode::NOT_FOUND, "there is no such output to test");
    };
    let name = trial.name().to_owned();
    // Runs to its end even if the client hangs up, so that a file that the test uploads is also removed.
    let tested = tokio::spawn(async move {
        let outputs = Arc::clone(&state);
        let _turn = outputs.outputs.turn.lock().await;
        let tested = tokio::time::timeout(PATIENCE, trial.try_out()).await;
        tested.unwrap_or_else(|_| Err("no answer".to_owned()))
    });
    let tested = tested.await.unwrap_or_else(|error| Err(error.to_string()));
    match &tested {
        Ok(()) => tracing::info!("[desk]: {} tested {name}: it works", guest.name),
        Err(error) => tracing::warn!("[desk]: {} tested {name}: {error}", guest.name),
    }
    Json(json!({ "ok": tested.is_ok(), "error": tested.err() })).into_response()
}
