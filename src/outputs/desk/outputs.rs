//! Tests of outputs, which operators run before a round: whether a delivery reaches its destination, and why not.

use core::time::Duration;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::door::{Decider, Operator, SharedDesk, refused};
use crate::outputs::shared::reports::BROKER;
use crate::outputs::shared::trial::{Trial, TrialResult, Trials};

/// Timeout of a test.
const PATIENCE: Duration = Duration::from_secs(40);

/// The outputs that can be tested, one at a time; alarms also together.
#[derive(Debug)]
pub(super) struct Outputs {
    trials: Trials,
    turn: Arc<Mutex<()>>,
}

impl Outputs {
    pub(super) fn of(trials: Trials) -> Self {
        Self {
            trials,
            turn: Arc::default(),
        }
    }

    /// Returns whether games are broadcast to Lichess or a target, where players are known by their FIDE ids.
    pub(super) fn has_broadcast(&self) -> bool {
        let trials = self.trials.all();
        trials
            .iter()
            .any(|trial| !trial.is_alarm() && trial.name() != BROKER)
    }

    /// Returns the tests that operators may run one by one: all tests in the hall, none at a hub.
    fn trials_of(&self, in_hall: bool) -> Vec<Trial> {
        if in_hall { self.trials.all() } else { Vec::new() }
    }
}

pub(super) async fn list(State(state): SharedDesk, _operator: Operator) -> Response {
    let trials = state.outputs.trials_of(state.pairings.is_some());
    let names: Vec<&str> = trials.iter().map(Trial::name).collect();
    Json(json!({ "outputs": names })).into_response()
}

pub(super) async fn alarms(State(state): SharedDesk, _decider: Decider) -> Response {
    let trials = state.outputs.trials.alarms();
    let names: Vec<&str> = trials.iter().map(Trial::name).collect();
    Json(json!({ "alarms": names })).into_response()
}

/// Sends a test message through every alarm and returns the answer of each.
pub(super) async fn test_alarms(State(state): SharedDesk, Decider(guest): Decider) -> Response {
    let trials = state.outputs.trials.alarms();
    let tested = trials.into_iter().map(|trial| {
        let by = guest.name.clone();
        async move {
            let (name, tested) = run(trial, by, async {}).await;
            json!({
                "name": name,
                "ok": tested.is_ok(),
                "answer": tested.as_ref().ok(),
                "error": tested.as_ref().err(),
            })
        }
    });
    let tested: Vec<Value> = join_all(tested).await;
    Json(json!({ "alarms": tested })).into_response()
}

/// Runs a test once `turn` is ready, even if the client hangs up, so that a file that the test uploads is also removed.
/// Returns the name of the output with the result.
async fn run<T: Send>(
    trial: Trial,
    by: String,
    turn: impl Future<Output = T> + Send + 'static,
) -> (String, TrialResult) {
    let name = trial.name().to_owned();
    let tested = tokio::spawn(async move {
        let _turn = turn.await;
        let tested = tokio::time::timeout(PATIENCE, trial.try_out()).await;
        tested.unwrap_or_else(|_| Err("no answer".to_owned()))
    });
    let tested = tested.await.unwrap_or_else(|error| Err(error.to_string()));
    match &tested {
        Ok(_) => tracing::info!("[desk]: {by} tested {name}: it works"),
        Err(error) => tracing::warn!("[desk]: {by} tested {name}: {error}"),
    }
    (name, tested)
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
    let trials = state.outputs.trials_of(state.pairings.is_some());
    let Some(trial) = trials.into_iter().find(|trial| trial.name() == form.output) else {
        return refused(StatusCode::NOT_FOUND, "there is no such output to test");
    };
    let turn = async move { Arc::clone(&state.outputs.turn).lock_owned().await };
    let (_, tested) = run(trial, guest.name, turn).await;
    let answer = tested.as_ref().ok().filter(|answer| !answer.is_empty());
    Json(json!({ "ok": tested.is_ok(), "answer": answer, "error": tested.as_ref().err() })).into_response()
}
