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

use super::door::{Operator, Shared, refused};
use crate::config::{Config, Lichess, Publish, Target};
use crate::feeds::{lichess, store};
use crate::output::mqtt::{self, MqttConfig};
use crate::output::reports::BROKER;

/// What takes longer is not there.
const PATIENCE: Duration = Duration::from_secs(40);

/// The outputs that can be tried out, one at a time.
#[derive(Debug)]
pub(super) struct Outputs {
    broker: Option<MqttConfig>,
    lichess: Option<Lichess>,
    publish: Option<Publish>,
    turn: Mutex<()>,
}

/// One of them.
enum Output {
    Broker(MqttConfig),
    Lichess(Lichess),
    Place(Target, Publish),
}

impl Outputs {
    /// Those of a configuration; a hub's are not offered.
    pub(super) fn of(config: Option<&Config>) -> Self {
        Self {
            broker: config.and_then(|config| config.mqtt.clone()),
            lichess: config.and_then(|config| config.lichess.clone()),
            publish: config.and_then(|config| config.publish.clone()),
            turn: Mutex::default(),
        }
    }

    /// All, by the names that they have in the status.
    fn all(&self) -> Vec<(String, Output)> {
        let broker = self.broker.clone();
        let broker = broker.map(|broker| (BROKER.to_owned(), Output::Broker(broker)));
        let lichess = self.lichess.clone();
        let lichess = lichess.map(|settings| (lichess::OUTPUT.to_owned(), Output::Lichess(settings)));
        let places = self.publish.iter().flat_map(|publish| {
            let targets = publish.to.iter();
            targets.map(|target| (target.to_string(), Output::Place(target.clone(), publish.clone())))
        });
        broker.into_iter().chain(lichess).chain(places).collect()
    }
}

impl Output {
    /// Why what is sent does not get there.
    async fn try_out(self) -> Result<(), String> {
        match self {
            Self::Broker(config) => mqtt::try_out(&config).await,
            Self::Lichess(settings) => lichess::try_out(settings).await,
            Self::Place(target, settings) => {
                let tried = store::try_out(target, settings).await;
                tried.map_err(|error| format!("{error:#}"))
            }
        }
    }
}

/// The names of those that can be tried out.
pub(super) async fn list(State(door): Shared, _operator: Operator) -> Response {
    let names: Vec<String> = door.outputs.all().into_iter().map(|(name, _)| name).collect();
    Json(json!({ "outputs": names })).into_response()
}

#[derive(Deserialize)]
pub(super) struct Asked {
    output: String,
}

/// Tries one out.
pub(super) async fn test(
    State(door): Shared,
    Operator(guest): Operator,
    Json(asked): Json<Asked>,
) -> Response {
    let found = door
        .outputs
        .all()
        .into_iter()
        .find(|(name, _)| *name == asked.output);
    let Some((name, output)) = found else {
        return refused(StatusCode::NOT_FOUND, "there is no such output to test");
    };
    // It goes on when nobody waits for it any more: a file that was put there is taken away again.
    let tried = tokio::spawn(async move {
        let outputs = Arc::clone(&door);
        let _turn = outputs.outputs.turn.lock().await;
        let tried = tokio::time::timeout(PATIENCE, output.try_out()).await;
        tried.unwrap_or_else(|_| Err("no answer".to_owned()))
    });
    let tried = tried.await.unwrap_or_else(|error| Err(error.to_string()));
    match &tried {
        Ok(()) => tracing::info!("[desk]: {} tested {name}: it works", guest.name),
        Err(error) => tracing::warn!("[desk]: {} tested {name}: {error}", guest.name),
    }
    Json(json!({ "ok": tried.is_ok(), "error": tried.err() })).into_response()
}
