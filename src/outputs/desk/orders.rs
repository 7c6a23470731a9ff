//! Commands from logged-in users, passed to the task that owns the boards.

use core::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use kiebitz_game::command::{Answer, Command};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::door::{SharedDesk, not_logged_in, refused};
use super::sessions::Guest;
use super::users::Role;
use crate::outputs::shared::to_hall::{Request, Unanswered};

/// Timeout for an answer to a command. A hub takes up to seven seconds to report that a daemon does not answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
pub(super) struct CommandForm {
    board: String,
    command: Map<String, Value>,
}

pub(super) async fn command(
    State(state): SharedDesk,
    headers: HeaderMap,
    Json(form): Json<CommandForm>,
) -> Response {
    let Some(guest) = state.guest(&headers) else {
        return not_logged_in();
    };
    let id = form.command.get("id").and_then(Value::as_str).map(str::to_owned);
    let parsed = Command::parse(&Value::Object(form.command).to_string());
    let command = match parsed {
        Ok(command) => Command {
            by: guest.name.clone(),
            ..command
        },
        Err(error) => {
            return Json(Answer {
                id,
                ok: false,
                note: None,
                error: Some(error.to_string()),
                standing: None,
                kept: true,
            })
            .into_response();
        }
    };
    if !guest.role.may(command.action) {
        let Guest { name, role } = &guest;
        let why = match role {
            Role::Viewer => format!("{name} has the role viewer and may not change anything"),
            Role::Arbiter | Role::Operator => format!("{} is only for operators", command.action),
        };
        return refused(StatusCode::FORBIDDEN, &why);
    }
    let (sender, answer) = oneshot::channel();
    let request = Request {
        board: form.board,
        command,
        answer: sender,
    };
    let carried_out = async {
        state.hall.requests.send(request).await.ok()?;
        answer.await.ok()
    };
    match tokio::time::timeout(PATIENCE, carried_out).await {
        Ok(Some(Ok(answer))) => Json(answer).into_response(),
        Ok(Some(Err(unanswered))) => no_answer(&unanswered),
        Ok(None) | Err(_) => refused(StatusCode::SERVICE_UNAVAILABLE, "kiebitz does not answer"),
    }
}

/// Response of a hub to a command that got no answer.
fn no_answer(unanswered: &Unanswered) -> Response {
    let body = json!({
        "error": unanswered.to_string(),
        "why": unanswered.why(),
        "daemon": unanswered.daemon(),
    });
    (StatusCode::GATEWAY_TIMEOUT, Json(body)).into_response()
}
