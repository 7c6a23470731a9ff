//! Refused requests for past games.

use core::time::Duration;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kiebitz_hardware::capture::CaptureError;
use serde_json::json;

use super::super::door::{IN_HALL, retry_after};
use crate::kept::Unrecorded;

/// Time after which a client may try again if too many recordings are being downloaded.
const RETRY_BUSY: Duration = Duration::from_secs(10);

/// Reason why a request is refused.
#[derive(Debug)]
pub(super) enum ReviewRefusal {
    /// This is a hub; the journal is in the hall.
    InHall,
    /// The journal does not have the game.
    NoGame,
    /// The journal has only the end of the game.
    NoBeginning,
    /// The search has an invalid value. The text describes the expected one.
    Nonsense(&'static str),
    /// The game has no usable recording.
    Unrecorded(Unrecorded),
    /// The recording cannot be read.
    Damaged(anyhow::Error),
    /// Too many recordings are being downloaded.
    Busy,
    /// Any other failure, which is also logged.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for ReviewRefusal {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<Unrecorded>() {
            Ok(unrecorded) => Self::Unrecorded(unrecorded),
            Err(error) if error.chain().any(|cause| cause.is::<CaptureError>()) => Self::Damaged(error),
            Err(error) => Self::Failed(error),
        }
    }
}

impl IntoResponse for ReviewRefusal {
    fn into_response(self) -> Response {
        let (status, why, error) = match self {
            Self::InHall => (StatusCode::NOT_FOUND, "in_hall", IN_HALL.to_owned()),
            Self::NoGame => (
                StatusCode::NOT_FOUND,
                "no_game",
                "there is no such game in the journal".to_owned(),
            ),
            Self::NoBeginning => (
                StatusCode::NOT_FOUND,
                "no_beginning",
                "the beginning of the game is not in the journal".to_owned(),
            ),
            Self::Nonsense(what) => (StatusCode::BAD_REQUEST, "nonsense", what.to_owned()),
            Self::Unrecorded(why) => {
                let code = match why {
                    Unrecorded::NoPort { .. } => "no_port",
                    Unrecorded::Moved { .. } => "moved",
                    Unrecorded::Gone { .. } => "gone",
                    Unrecorded::NotShown { .. } => "not_shown",
                    Unrecorded::TooLarge { .. } => "too_large",
                };
                (StatusCode::NOT_FOUND, code, why.to_string())
            }
            Self::Busy => {
                let why = "other recordings are being downloaded: try again in a moment";
                let response = refused(StatusCode::SERVICE_UNAVAILABLE, "busy", why);
                return retry_after(RETRY_BUSY, response);
            }
            Self::Damaged(error) => (StatusCode::NOT_FOUND, "damaged", format!("{error:#}")),
            Self::Failed(error) => {
                tracing::warn!("[desk]: cannot show a past game: {error:#}");
                (StatusCode::SERVICE_UNAVAILABLE, "failed", format!("{error:#}"))
            }
        };
        refused(status, why, &error)
    }
}

fn refused(status: StatusCode, why: &str, error: &str) -> Response {
    (status, Json(json!({ "error": error, "why": why }))).into_response()
}
