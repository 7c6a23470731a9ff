//! Who may come in, and by which path.

use core::convert::Infallible;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{self, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::first::{self, FirstUserCode};
use super::orders::{self, PATIENCE};
use super::outputs::{self, Outputs};
use super::page;
use super::pairings::{self, PairingsRefusal};
use super::review::{self, GameReader};
use super::sessions::{Guest, Sessions};
use super::settings::DeskSettings;
use super::task::{DeskContext, PageSender, WAITING};
use super::users::{self, Role};
use crate::outputs::broadcast::{PublishedFile, page as wall};
use crate::outputs::shared::http::{self, WebConnection};
use crate::outputs::shared::to_hall::ToHall;
use crate::system_time::moment;
use crate::tournament::files::PairingFiles;

/// So many requests are answered at a time, and so many pages may stay: those of one event's arbiters.
const MAX_CONNECTIONS: usize = 64;
const MAX_PAGES: usize = 64;
/// So many passwords are looked at at a time: each takes 19 MiB.
const PASSWORDS_AT_ONCE: usize = 2;
/// What a page sends is a command: one with the moves of the longest game has 10,000 bytes.
const MAX_BODY: usize = 64 << 10;
/// Who is told nothing for this long is told that: a page cannot see otherwise that its line is dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// What is said to who has not logged in.
pub(super) const NOBODY: &str = "log in first";
/// What is said to who asks a hub for what daemons have.
pub(super) const IN_HALL: &str = "not available at a hub: use the desk of the hall";
/// The cookie with the session's secret.
const COOKIE: &str = "kiebitz-desk";
/// What changes something has this header: pages of other sites cannot send it.
const OWN: HeaderName = HeaderName::from_static("kiebitz-desk");

/// What all requests share.
#[derive(Debug)]
pub(super) struct DeskState {
    pub(super) settings: DeskSettings,
    sessions: Mutex<Sessions>,
    pages: mpsc::Sender<PageSender>,
    pub(super) hall: ToHall,
    /// One at a time changes something there. `None`: the boards are those of a hub, and get theirs in their halls.
    pub(super) pairings: Option<Arc<sync::Mutex<PairingFiles>>>,
    places: Arc<Semaphore>,
    /// Whose turn it is to have a password looked at.
    pub(super) turns: Arc<Semaphore>,
    pub(super) first: FirstUserCode,
    pub(super) outputs: Outputs,
    /// Where past games are read.
    pub(super) reading: GameReader,
}

/// Extracts the state of the desk from a request.
pub(super) type SharedDesk = State<Arc<DeskState>>;

/// Serves for as long as the program runs.
pub(super) async fn serve(settings: DeskSettings, around: DeskContext, pages: mpsc::Sender<PageSender>) {
    let DeskContext {
        in_hall,
        trials,
        language,
        hall,
    } = around;
    let (pairings, archive) = in_hall.map(|in_hall| (in_hall.pairings, in_hall.archive)).unzip();
    let address = settings.listen;
    let listener = http::listen(address, "[desk]").await;
    tracing::info!("serving the arbiters' desk at http://{address}/");
    let router = router(DeskState {
        first: FirstUserCode::offered(&settings),
        settings,
        sessions: Mutex::default(),
        pages,
        hall,
        pairings: pairings.map(|pairings| Arc::new(sync::Mutex::new(pairings))),
        places: Arc::new(Semaphore::new(MAX_PAGES)),
        turns: Arc::new(Semaphore::new(PASSWORDS_AT_ONCE)),
        outputs: Outputs::of(trials),
        reading: GameReader::of(archive, language),
    });
    http::accept(&listener, &router, MAX_CONNECTIONS).await;
}

fn router(door: DeskState) -> Router {
    Router::new()
        .route("/", get(async || asset(page::INDEX)))
        .route(
            "/desk/{file}",
            get(async |Path(file): Path<String>| asset(&format!("desk/{file}"))),
        )
        .route(
            "/page/{*file}",
            get(async |Path(file): Path<String>| asset(&format!("page/{file}"))),
        )
        .route("/session", get(who).post(log_in).delete(log_out))
        .route("/first", axum::routing::post(first::make))
        .route("/stream", get(look_on))
        .route("/command", axum::routing::post(orders::command))
        .merge(review::routes())
        .route("/pairings", get(pairings::list))
        .route(
            "/pairings/{name}",
            get(pairings::file)
                .put(pairings::drop_in)
                .delete(pairings::remove),
        )
        .route("/status", get(status))
        .route("/outputs", get(outputs::list).post(outputs::test))
        .fallback(async || StatusCode::NOT_FOUND)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Arc::new(door))
        .layer(middleware::from_fn(guard))
}

/// Nothing is done for a page of another site, nothing is kept, and nothing else may be shown with it.
async fn guard(request: Request, next: Next) -> Response {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && !request.headers().contains_key(OWN) {
        return refused(StatusCode::FORBIDDEN, "the header Kiebitz-Desk is missing");
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, page::CONTENT_SECURITY_POLICY),
    ] {
        // A report has a policy of its own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

pub(super) fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

/// A file of the page. They have nothing in them that is private.
fn asset(path: &str) -> Response {
    let own = page::files().remove(path);
    let Some(file) = own.or_else(|| wall::files().remove(path)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let media_type = HeaderValue::from_static(PublishedFile::media_type(path));
    let content = Bytes::copy_from_slice(&file.content);
    ([(header::CONTENT_TYPE, media_type)], content).into_response()
}

impl DeskState {
    pub(super) fn sessions<T>(&self, look: impl FnOnce(&mut Sessions) -> T) -> T {
        look(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Who asks; `None`: nobody who is logged in.
    pub(super) fn guest(&self, headers: &HeaderMap) -> Option<Guest> {
        let secret = secret(headers)?;
        let guest = self.sessions(|all| all.guest(moment(), secret))?;
        // Somebody else may have logged in at the proxy since.
        let is_same = match self.named(headers) {
            Named::Here => true,
            Named::Nobody => false,
            Named::ByProxy(name) => name == guest.name,
        };
        is_same.then_some(guest)
    }

    /// Whom a proxy has let in.
    fn named<'h>(&self, headers: &'h HeaderMap) -> Named<'h> {
        let Some(header) = &self.settings.user_header else {
            return Named::Here;
        };
        let mut names = headers.get_all(header.as_str()).iter();
        // Two would be one of the proxy's and one of somebody else's.
        match (names.next().map(HeaderValue::to_str), names.next()) {
            (Some(Ok(name)), None) if !name.is_empty() => Named::ByProxy(name),
            _ => Named::Nobody,
        }
    }

    /// Who somebody is, for the page, and whether it is that of a hub.
    fn known(&self, guest: &Guest) -> Json<Value> {
        let mut known = json!({ "user": guest.name, "role": guest.role });
        if self.pairings.is_none() {
            known["hub"] = true.into();
        }
        Json(known)
    }

    /// Logs somebody in.
    pub(super) fn welcome(&self, headers: &HeaderMap, guest: Guest) -> Response {
        let mut random = [0; 32];
        if let Err(error) = getrandom::fill(&mut random) {
            return nobody_can(&error.into());
        }
        let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        // Behind a proxy with encryption the cookie must not go without.
        let is_encrypted = headers
            .get("x-forwarded-proto")
            .is_some_and(|protocol| protocol == "https");
        let secure = if is_encrypted { "; Secure" } else { "" };
        let cookie = format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}");
        tracing::info!("[desk]: {} logged in as {}", guest.name, guest.role);
        let answer = self.known(&guest);
        self.sessions(|all| all.begin(moment(), secret, guest));
        ([(header::SET_COOKIE, cookie)], answer).into_response()
    }
}

/// Who asks, as far as a proxy says it.
enum Named<'h> {
    /// There is no proxy that lets people in.
    Here,
    /// The proxy has let in somebody of that name.
    ByProxy(&'h str),
    /// The proxy does not say who it is.
    Nobody,
}

fn nobody_can(error: &anyhow::Error) -> Response {
    tracing::warn!("[desk]: nobody can log in: {error:#}");
    refused(
        StatusCode::SERVICE_UNAVAILABLE,
        "nobody can log in; the log says why",
    )
}

/// Whoever asks for what only those get who are logged in, whatever their role.
impl FromRequestParts<Arc<DeskState>> for Guest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, door: &Arc<DeskState>) -> Result<Self, Response> {
        door.guest(&parts.headers).ok_or_else(nobody)
    }
}

/// Somebody who looks after the event.
#[derive(Debug)]
pub(super) struct Operator(pub(super) Guest);

impl FromRequestParts<Arc<DeskState>> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, door: &Arc<DeskState>) -> Result<Self, Response> {
        let guest = Guest::from_request_parts(parts, door).await?;
        match guest.role {
            Role::Operator => Ok(Self(guest)),
            Role::Viewer | Role::Arbiter => Err(refused(StatusCode::FORBIDDEN, "only operators may do this")),
        }
    }
}

pub(super) fn nobody() -> Response {
    refused(StatusCode::UNAUTHORIZED, NOBODY)
}

/// The session's secret.
fn secret(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|cookie| cookie.to_str().ok());
    let mut pairs = cookies.flat_map(|cookie| cookie.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

async fn who(State(door): SharedDesk, headers: HeaderMap) -> Response {
    if let Some(guest) = door.guest(&headers) {
        return door.known(&guest).into_response();
    }
    let Named::ByProxy(name) = door.named(&headers) else {
        if door.first.is_offered().await {
            let told = json!({ "error": NOBODY, "first": true });
            return (StatusCode::UNAUTHORIZED, Json(told)).into_response();
        }
        return nobody();
    };
    let (file, name) = (door.settings.users_file.clone(), name.to_owned());
    let asked = tokio::task::spawn_blocking(move || Ok((users::role_of_known(&file, &name)?, name)));
    match asked.await.context("interrupted").and_then(|found| found) {
        Ok((Some(role), name)) => door.welcome(&headers, Guest { name, role }),
        Ok((None, name)) => {
            let users = door.settings.users_file.display();
            tracing::warn!("[desk]: the proxy names the user {name:?}, who is not listed in {users}");
            refused(
                StatusCode::FORBIDDEN,
                "your name is not listed for this desk: ask an operator to add it",
            )
        }
        Err(error) => nobody_can(&error),
    }
}

/// Somebody guesses.
pub(super) fn too_often(wait: Duration) -> Response {
    let why = "too many wrong passwords: wait a minute";
    let mut response = refused(StatusCode::TOO_MANY_REQUESTS, why);
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, wait.as_secs().into());
    response
}

#[derive(Deserialize)]
struct LoginForm {
    user: String,
    password: String,
}

async fn log_in(State(door): SharedDesk, headers: HeaderMap, Json(login): Json<LoginForm>) -> Response {
    if door.settings.user_header.is_some() {
        return refused(StatusCode::FORBIDDEN, "log in at the proxy in front of this page");
    }
    let now = moment();
    if let Err(wait) = door.sessions(|all| all.may_try(now, &login.user)) {
        return too_often(wait);
    }
    let turn = Arc::clone(&door.turns).acquire_owned().await;
    let file = door.settings.users_file.clone();
    let name = login.user.clone();
    // It takes a while, on purpose, and goes on when nobody waits for it any more.
    let asked = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        users::role_of(&file, &login.user, &login.password)
    });
    let role = match asked.await.context("interrupted").and_then(|role| role) {
        Ok(Some(role)) => role,
        Ok(None) => {
            tracing::warn!("[desk]: a login failed: wrong name or password");
            return refused(StatusCode::UNAUTHORIZED, "wrong name or password");
        }
        Err(error) => return nobody_can(&error),
    };
    door.welcome(&headers, Guest { name, role })
}

async fn log_out(State(door): SharedDesk, headers: HeaderMap) -> Response {
    if let Some(secret) = secret(&headers) {
        door.sessions(|all| all.end(secret));
    }
    let gone = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response()
}

/// A page that looks on.
struct DeskViewer {
    door: Arc<DeskState>,
    secret: String,
    told: mpsc::Receiver<Bytes>,
    _place: OwnedSemaphorePermit,
}

async fn look_on(
    State(door): SharedDesk,
    Extension(connection): Extension<WebConnection>,
    headers: HeaderMap,
) -> Response {
    if door.guest(&headers).is_none() {
        return nobody();
    }
    let Ok(place) = Arc::clone(&door.places).try_acquire_owned() else {
        return refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are open: close some",
        );
    };
    let (page, told) = mpsc::channel(WAITING);
    if door.pages.send(page).await.is_err() {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "kiebitz is stopping");
    }
    connection.stay();
    let viewer = DeskViewer {
        secret: secret(&headers).unwrap_or_default().to_owned(),
        door,
        told,
        _place: place,
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        // nginx would gather messages before it hands them on.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (
        headers,
        Body::from_stream(stream::unfold(viewer, DeskViewer::wait)),
    )
        .into_response()
}

impl DeskViewer {
    async fn wait(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        match tokio::time::timeout(KEEP_ALIVE, self.told.recv()).await {
            Ok(Some(message)) => Some((Ok(message), self)),
            Ok(None) => None,
            Err(_) => {
                // Who has logged out sees nothing more. To look on is to be there.
                let is_known = self.door.sessions(|all| all.guest(moment(), &self.secret));
                is_known.map(|_| (Ok(Bytes::from_static(b"event: here\ndata: {}\n\n")), self))
            }
        }
    }
}

/// How everything is, as the daemon's status says it: for operators.
async fn status(State(door): SharedDesk, _operator: Operator) -> Result<Response, PairingsRefusal> {
    pairings::in_hall(&door)?;
    let (question, answer) = oneshot::channel();
    let asked = async {
        door.hall.questions.send(question).await.ok()?;
        answer.await.ok()
    };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Some(status)) => Ok(Json(status).into_response()),
        Ok(None) | Err(_) => Err(PairingsRefusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "kiebitz does not answer",
        )),
    }
}
