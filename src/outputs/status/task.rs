//! Serves the status on a port of this computer, as page, JSON and metrics. Read-only.

use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{mpsc, oneshot};

use super::{Question, Status};
use crate::limits::{Listener, Places};
use crate::outputs::shared::host_header::is_own_name;
use crate::outputs::shared::http;
use crate::outputs::status;

/// Capacity of the queue of status requests to the daemon.
pub(crate) const WAITING: usize = 16;
/// Response during the start of the program.
const STARTING: &str =
    "kiebitz is starting: it restores games from its recordings, and then watches the boards\n";
/// Timeout for the daemon's answer, which can wait up to 3 s for the disk.
const PATIENCE: Duration = Duration::from_secs(4);

/// Serves the status at `address` in a task of its own. While `is_starting` is true, the daemon does not answer
/// `questions`.
pub(crate) fn serve(address: SocketAddr, questions: mpsc::Sender<Question>, is_starting: Arc<AtomicBool>) {
    http::spawn(async move {
        let listener = http::listen(address, "[http]").await;
        tracing::info!("serving the status at http://{address}/");
        let router = Router::new()
            .route("/", get(page))
            .route("/health", get(health))
            .route("/metrics", get(metrics))
            .with_state(StatusSource {
                questions,
                is_starting,
            })
            .layer(middleware::from_fn(only_own_names));
        http::accept(&listener, &router, &Places::of(Listener::Status)).await;
    });
}

async fn only_own_names(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_own_name(host) {
        next.run(request).await
    } else {
        let words = "only this computer may ask: use http://127.0.0.1/ with the port\n";
        (StatusCode::FORBIDDEN, words).into_response()
    }
}

#[derive(Debug, Clone)]
struct StatusSource {
    questions: mpsc::Sender<Question>,
    is_starting: Arc<AtomicBool>,
}

type Questions = State<StatusSource>;

async fn request_status(
    State(StatusSource {
        questions,
        is_starting,
    }): Questions,
) -> Result<Status, Response> {
    if is_starting.load(Ordering::Relaxed) {
        return Err((StatusCode::SERVICE_UNAVAILABLE, STARTING).into_response());
    }
    let (question, answer) = oneshot::channel();
    let answer = async {
        questions.send(question).await.ok()?;
        answer.await.ok()
    };
    let answered = tokio::time::timeout(PATIENCE, answer).await.ok().flatten();
    answered.ok_or_else(|| (StatusCode::SERVICE_UNAVAILABLE, "kiebitz does not answer\n").into_response())
}

async fn page(questions: Questions) -> Result<Response, Response> {
    Ok(plain(
        "text/html; charset=utf-8",
        status::page(&request_status(questions).await?),
    ))
}

/// Returns the status as JSON, with code 503 if there are problems, for programs that check only the code.
async fn health(questions: Questions) -> Result<Response, Response> {
    let status = request_status(questions).await?;
    let code = if status.ok {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let text = serde_json::to_string(&status);
    let text =
        text.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response())?;
    Ok((code, plain("application/json", text)).into_response())
}

async fn metrics(questions: Questions) -> Result<Response, Response> {
    let status = request_status(questions).await?;
    Ok(plain(status::MEDIA_TYPE, status::metrics(&status)))
}

fn plain(media_type: &'static str, content: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
        ),
    ];
    (headers, content).into_response()
}
