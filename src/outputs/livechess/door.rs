//! The HTTP and WebSocket server: routes, access rules and connections.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::Arc;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::MissedTickBehavior;

use super::projection::Session;
use super::settings::LiveChessSettings;
use super::task::{ClientRequest, Lookup, WAITING};
use crate::limits::{Listener, Places};
use crate::outputs::shared::host_header::is_own_name;
use crate::outputs::shared::http::{self, WebConnection};

/// Maximum size of a client's message in bytes. A call with a position has about 200.
const MAX_MESSAGE: usize = 16 << 10;
/// Maximum time to produce an answer, and for a client to accept a frame.
const PATIENCE: Duration = Duration::from_secs(10);
/// Interval between pings, and maximum number of consecutive pings that a client may leave unanswered.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const MAX_SILENCE: u32 = 3;

/// Serves until the program ends.
pub(super) async fn serve(settings: LiveChessSettings, requests: mpsc::Sender<ClientRequest>) {
    let address = settings.listen;
    let listener = http::listen(address, "[livechess]").await;
    tracing::info!("serving the boards like LiveChess at http://{address}/api/v1.0");
    let router = router(settings, requests);
    http::accept(&listener, &router, &Places::of(Listener::LiveChess)).await;
}

#[derive(Debug, Clone)]
struct LiveChessState {
    requests: mpsc::Sender<ClientRequest>,
    clients: Places,
    last: Arc<AtomicU64>,
}

fn router(settings: LiveChessSettings, requests: mpsc::Sender<ClientRequest>) -> Router {
    let door = LiveChessState {
        requests,
        clients: Listener::LiveChess.stream_places(),
        last: Arc::default(),
    };
    Router::new()
        .route("/api/v1.0", get(socket))
        .route("/api/v1.0/", get(socket))
        .route("/api/v1.0/eboards", get(boards))
        .route("/api/v1.0/tournaments", get(tournaments))
        .route("/api/v1.0/tournament/{uuid}", get(tournament))
        .route("/api/v1.0/round/{uuid}/{index}", get(round))
        .route("/api/v1.0/game/{uuid}", get(game))
        .fallback(async || not_found("no such path; see docs/livechess.md"))
        .with_state(door)
        .layer(middleware::from_fn_with_state(Arc::new(settings), check))
}

/// Checks the origin of a request. Pages need their site in `origins`; programs send no origin and are accepted.
async fn check(State(settings): State<Arc<LiveChessSettings>>, request: Request, next: Next) -> Response {
    let host = text(&request, header::HOST).unwrap_or_default();
    if !settings.is_open() && !is_own_name(&host) {
        return forbidden("only this computer may ask: use 127.0.0.1 with the port");
    }
    let origin = text(&request, header::ORIGIN);
    if let Some(origin) = &origin
        && !settings.origins.contains(origin)
    {
        return forbidden(&format!(
            "pages of {origin} may not see the boards: add the site to `origins` under [livechess]"
        ));
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(&origin).ok()) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    response
}

/// A header in lower case, since host names are case-insensitive; empty if the value is not ASCII text.
fn text(request: &Request, name: HeaderName) -> Option<String> {
    let value = request.headers().get(name)?;
    Some(value.to_str().unwrap_or_default().to_ascii_lowercase())
}

fn forbidden(reason: &str) -> Response {
    (StatusCode::FORBIDDEN, Json(error_body(reason))).into_response()
}

fn not_found(reason: &str) -> Response {
    (StatusCode::NOT_FOUND, Json(error_body(reason))).into_response()
}

fn error_body(reason: &str) -> Value {
    json!({ "message": reason, "stacktrace": "" })
}

async fn boards(State(door): State<LiveChessState>) -> Response {
    door.answer(Lookup::Boards).await
}

async fn tournaments(State(door): State<LiveChessState>) -> Response {
    door.answer(Lookup::Tournaments).await
}

async fn tournament(State(door): State<LiveChessState>, Path(uuid): Path<String>) -> Response {
    door.answer(Lookup::Tournament(uuid)).await
}

async fn round(State(door): State<LiveChessState>, Path((uuid, index)): Path<(String, String)>) -> Response {
    match index.parse() {
        Ok(index) => door.answer(Lookup::Round(uuid, index)).await,
        Err(_) => not_found("rounds are counted from 0"),
    }
}

async fn game(State(door): State<LiveChessState>, Path(uuid): Path<String>) -> Response {
    door.answer(Lookup::Game(uuid)).await
}

async fn socket(
    State(door): State<LiveChessState>,
    Extension(connection): Extension<WebConnection>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    if !connection.stay(&door.clients) {
        let reason = format!("{} clients are connected already", Listener::LiveChess.streams());
        return (StatusCode::SERVICE_UNAVAILABLE, Json(error_body(&reason))).into_response();
    }
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .on_upgrade(move |socket| door.receive(socket, connection))
}

impl LiveChessState {
    async fn answer(&self, lookup: Lookup) -> Response {
        let (sender, answer) = oneshot::channel();
        let answered = async {
            self.requests
                .send(ClientRequest::Look(lookup, sender))
                .await
                .ok()?;
            answer.await.ok()
        };
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Some(Some(value))) => Json(value).into_response(),
            Ok(Some(None)) => not_found("there is no object with this id"),
            Ok(None) | Err(_) => {
                let body = error_body("kiebitz does not answer");
                (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
            }
        }
    }

    /// Serves a WebSocket client until it disconnects, or until a client of another address needs its place.
    async fn receive(self, socket: WebSocket, connection: WebConnection) {
        let session = self.last.fetch_add(1, Ordering::Relaxed);
        let (frames, to_send) = mpsc::channel(WAITING);
        if self
            .requests
            .send(ClientRequest::Open(session, frames))
            .await
            .is_ok()
        {
            tokio::select! {
                () = self.converse(socket, session, to_send) => {}
                () = connection.ended() => {}
            }
            // Sending fails only if the program is ending.
            let _ = self.requests.send(ClientRequest::Close(session)).await;
        }
    }

    async fn converse(&self, mut socket: WebSocket, session: Session, mut to_send: mpsc::Receiver<String>) {
        let mut pings = tokio::time::interval(PING_INTERVAL);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut silence = 0;
        loop {
            let message = tokio::select! {
                biased;
                frame = to_send.recv() => match frame {
                    Some(frame) => Message::Text(frame.into()),
                    None => return,
                },
                message = socket.recv() => match message {
                    Some(Ok(message)) => {
                        silence = 0;
                        if let Message::Text(text) = message {
                            let call = ClientRequest::Call(session, text.as_str().to_owned());
                            if self.requests.send(call).await.is_err() {
                                return;
                            }
                        }
                        continue;
                    }
                    Some(Err(_)) | None => return,
                },
                _ = pings.tick() => {
                    silence += 1;
                    if silence > MAX_SILENCE {
                        return;
                    }
                    Message::Ping(Default::default())
                }
            };
            let sent = tokio::time::timeout(PATIENCE, socket.send(message)).await;
            if !matches!(sent, Ok(Ok(()))) {
                return;
            }
        }
    }
}
