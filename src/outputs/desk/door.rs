//! HTTP interface of the desk: routes, sessions and access checks.

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
use super::task::{DeskContext, PAGE_QUEUE, PageSender};
use super::users::{self, Role};
use crate::outputs::broadcast::{PublishedFile, page as wall};
use crate::outputs::shared::http::{self, WebConnection};
use crate::outputs::shared::to_hall::ToHall;
use crate::system_time::moment;
use crate::tournament::files::PairingFiles;

/// Limits on concurrent requests and on open pages: enough for the arbiters of one event.
const MAX_CONNECTIONS: usize = 64;
const MAX_PAGES: usize = 64;
/// Concurrent password checks. Each Argon2 run takes 19 MiB.
const PASSWORDS_AT_ONCE: usize = 2;
/// Limit for request bodies, in bytes. The longest body is a command with the moves of a game, about 10,000 bytes.
const MAX_BODY: usize = 64 << 10;
/// Interval of keep-alive messages: a page cannot notice otherwise that its connection is dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
pub(super) const LOG_IN_FIRST: &str = "log in first";
/// Error message of a hub for requests about the journal, recordings and pairings, which only daemons have.
pub(super) const IN_HALL: &str = "not available at a hub: use the desk of the hall";
/// Cookie with the session's secret.
const COOKIE: &str = "kiebitz-desk";
/// Header of requests that change something. Pages of other sites cannot send it, so it prevents CSRF.
const CSRF_HEADER: HeaderName = HeaderName::from_static("kiebitz-desk");

/// State that all requests share.
#[derive(Debug)]
pub(super) struct DeskState {
    pub(super) settings: DeskSettings,
    sessions: Mutex<Sessions>,
    pages: mpsc::Sender<PageSender>,
    pub(super) hall: ToHall,
    /// `None` at a hub: pairings are managed in the hall of each board. The lock admits one request at a time.
    pub(super) pairings: Option<Arc<sync::Mutex<PairingFiles>>>,
    page_permits: Arc<Semaphore>,
    pub(super) password_permits: Arc<Semaphore>,
    pub(super) first: FirstUserCode,
    pub(super) outputs: Outputs,
    pub(super) reading: GameReader,
}

pub(super) type SharedDesk = State<Arc<DeskState>>;

/// Runs the server until the program ends.
pub(super) async fn serve(settings: DeskSettings, context: DeskContext, pages: mpsc::Sender<PageSender>) {
    let DeskContext {
        in_hall,
        trials,
        language,
        hall,
    } = context;
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
        page_permits: Arc::new(Semaphore::new(MAX_PAGES)),
        password_permits: Arc::new(Semaphore::new(PASSWORDS_AT_ONCE)),
        outputs: Outputs::of(trials),
        reading: GameReader::of(archive, language),
    });
    http::accept(&listener, &router, MAX_CONNECTIONS).await;
}

fn router(state: DeskState) -> Router {
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
        .route("/session", get(session).post(log_in).delete(log_out))
        .route("/first", axum::routing::post(first::create))
        .route("/stream", get(stream_updates))
        .route("/command", axum::routing::post(orders::command))
        .merge(review::routes())
        .route("/pairings", get(pairings::list))
        .route(
            "/pairings/{name}",
            get(pairings::file).put(pairings::upload).delete(pairings::remove),
        )
        .route("/status", get(status))
        .route("/outputs", get(outputs::list).post(outputs::test))
        .route("/alarms", get(outputs::alarms).post(outputs::test_alarms))
        .fallback(async || StatusCode::NOT_FOUND)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Arc::new(state))
        .layer(middleware::from_fn(guard))
}

/// Refuses changes from pages of other sites, and adds headers that forbid caching, content of other sites and framing.
async fn guard(request: Request, next: Next) -> Response {
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && !request.headers().contains_key(CSRF_HEADER) {
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
        // Reports have a content security policy of their own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

pub(super) fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

/// Serves a file of the page. None of them is private, so no session is needed.
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
    pub(super) fn sessions<T>(&self, operation: impl FnOnce(&mut Sessions) -> T) -> T {
        operation(&mut self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The user of the request's session; `None` if there is no valid one.
    pub(super) fn guest(&self, headers: &HeaderMap) -> Option<Guest> {
        let secret = secret(headers)?;
        let guest = self.sessions(|all| all.guest(moment(), secret))?;
        // A different user may have logged in at the proxy since.
        let is_same = match self.proxy_user(headers) {
            ProxyUser::NoProxy => true,
            ProxyUser::Invalid => false,
            ProxyUser::User(name) => name == guest.name,
        };
        is_same.then_some(guest)
    }

    /// Returns the user that the proxy's header names.
    fn proxy_user<'h>(&self, headers: &'h HeaderMap) -> ProxyUser<'h> {
        let Some(header) = &self.settings.user_header else {
            return ProxyUser::NoProxy;
        };
        let mut names = headers.get_all(header.as_str()).iter();
        // If the header occurs twice, one of them may come from the client instead of the proxy.
        match (names.next().map(HeaderValue::to_str), names.next()) {
            (Some(Ok(name)), None) if !name.is_empty() => ProxyUser::User(name),
            _ => ProxyUser::Invalid,
        }
    }

    /// Name and role of a user as JSON, and whether this is a hub.
    fn session_info(&self, guest: &Guest) -> Json<Value> {
        let mut info = json!({ "user": guest.name, "role": guest.role });
        if self.pairings.is_none() {
            info["hub"] = true.into();
        }
        Json(info)
    }

    /// Begins a session and sets its cookie.
    pub(super) fn begin_session(&self, headers: &HeaderMap, guest: Guest) -> Response {
        let mut random = [0; 32];
        if let Err(error) = getrandom::fill(&mut random) {
            return login_unavailable(&error.into());
        }
        let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        // If the proxy is reached over HTTPS, the browser must not send the cookie in the clear.
        let is_encrypted = headers
            .get("x-forwarded-proto")
            .is_some_and(|protocol| protocol == "https");
        let secure = if is_encrypted { "; Secure" } else { "" };
        let cookie = format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}");
        tracing::info!("[desk]: {} logged in as {}", guest.name, guest.role);
        let answer = self.session_info(&guest);
        self.sessions(|all| all.begin(moment(), secret, guest));
        ([(header::SET_COOKIE, cookie)], answer).into_response()
    }
}

/// User that the request's headers name, if a proxy checks passwords.
enum ProxyUser<'h> {
    /// No proxy is configured; the desk checks passwords itself.
    NoProxy,
    /// The proxy names this user.
    User(&'h str),
    /// The proxy does not name exactly one user.
    Invalid,
}

fn login_unavailable(error: &anyhow::Error) -> Response {
    tracing::warn!("[desk]: nobody can log in: {error:#}");
    refused(
        StatusCode::SERVICE_UNAVAILABLE,
        "nobody can log in; the log says why",
    )
}

/// Extracts the session's user, of any role. Rejects requests without a session.
impl FromRequestParts<Arc<DeskState>> for Guest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<DeskState>) -> Result<Self, Response> {
        state.guest(&parts.headers).ok_or_else(not_logged_in)
    }
}

/// Extracts the session's user and rejects all roles except operator.
#[derive(Debug)]
pub(super) struct Operator(pub(super) Guest);

impl FromRequestParts<Arc<DeskState>> for Operator {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<DeskState>) -> Result<Self, Response> {
        let guest = Guest::from_request_parts(parts, state).await?;
        match guest.role {
            Role::Operator => Ok(Self(guest)),
            Role::Viewer | Role::Arbiter => Err(refused(StatusCode::FORBIDDEN, "only operators may do this")),
        }
    }
}

pub(super) fn not_logged_in() -> Response {
    refused(StatusCode::UNAUTHORIZED, LOG_IN_FIRST)
}

/// The session's secret from the cookie.
fn secret(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|cookie| cookie.to_str().ok());
    let mut pairs = cookies.flat_map(|cookie| cookie.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

async fn session(State(state): SharedDesk, headers: HeaderMap) -> Response {
    if let Some(guest) = state.guest(&headers) {
        return state.session_info(&guest).into_response();
    }
    let ProxyUser::User(name) = state.proxy_user(&headers) else {
        if state.first.is_offered().await {
            let body = json!({ "error": LOG_IN_FIRST, "first": true });
            return (StatusCode::UNAUTHORIZED, Json(body)).into_response();
        }
        return not_logged_in();
    };
    let (file, name) = (state.settings.users_file.clone(), name.to_owned());
    let found = tokio::task::spawn_blocking(move || Ok((users::role_by_proxy(&file, &name)?, name)));
    match found.await.context("interrupted").and_then(|found| found) {
        Ok((Some(role), name)) => state.begin_session(&headers, Guest { name, role }),
        Ok((None, name)) => {
            let users = state.settings.users_file.display();
            tracing::warn!("[desk]: the proxy names the user {name:?}, who is not listed in {users}");
            refused(
                StatusCode::FORBIDDEN,
                "your name is not listed for this desk: ask an operator to add it",
            )
        }
        Err(error) => login_unavailable(&error),
    }
}

pub(super) fn too_many_tries(wait: Duration) -> Response {
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

async fn log_in(State(state): SharedDesk, headers: HeaderMap, Json(login): Json<LoginForm>) -> Response {
    if state.settings.user_header.is_some() {
        return refused(StatusCode::FORBIDDEN, "log in at the proxy in front of this page");
    }
    let now = moment();
    if let Err(wait) = state.sessions(|all| all.may_try(now, &login.user)) {
        return too_many_tries(wait);
    }
    let permit = Arc::clone(&state.password_permits).acquire_owned().await;
    let file = state.settings.users_file.clone();
    let name = login.user.clone();
    // Argon2 is slow on purpose. The check runs to its end even if the client hangs up.
    let checked = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        users::role_of(&file, &login.user, &login.password)
    });
    let role = match checked.await.context("interrupted").and_then(|role| role) {
        Ok(Some(role)) => role,
        Ok(None) => {
            tracing::warn!("[desk]: a login failed: wrong name or password");
            return refused(StatusCode::UNAUTHORIZED, "wrong name or password");
        }
        Err(error) => return login_unavailable(&error),
    };
    state.begin_session(&headers, Guest { name, role })
}

async fn log_out(State(state): SharedDesk, headers: HeaderMap) -> Response {
    if let Some(secret) = secret(&headers) {
        state.sessions(|all| all.end(secret));
    }
    let expired = format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, expired)]).into_response()
}

/// State of an open page's stream of updates.
struct DeskViewer {
    state: Arc<DeskState>,
    secret: String,
    updates: mpsc::Receiver<Bytes>,
    _permit: OwnedSemaphorePermit,
}

async fn stream_updates(
    State(state): SharedDesk,
    Extension(connection): Extension<WebConnection>,
    headers: HeaderMap,
) -> Response {
    if state.guest(&headers).is_none() {
        return not_logged_in();
    }
    let Ok(permit) = Arc::clone(&state.page_permits).try_acquire_owned() else {
        return refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are open: close some",
        );
    };
    let (page, updates) = mpsc::channel(PAGE_QUEUE);
    if state.pages.send(page).await.is_err() {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "kiebitz is stopping");
    }
    connection.stay();
    let viewer = DeskViewer {
        secret: secret(&headers).unwrap_or_default().to_owned(),
        state,
        updates,
        _permit: permit,
    };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        // Keeps nginx from buffering messages.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (
        headers,
        Body::from_stream(stream::unfold(viewer, DeskViewer::next_message)),
    )
        .into_response()
}

impl DeskViewer {
    async fn next_message(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        match tokio::time::timeout(KEEP_ALIVE, self.updates.recv()).await {
            Ok(Some(message)) => Some((Ok(message), self)),
            Ok(None) => None,
            Err(_) => {
                // Ends the stream of a page whose session has ended. An open page counts as activity, so the check
                // prolongs the session.
                let is_known = self.state.sessions(|all| all.guest(moment(), &self.secret));
                is_known.map(|_| (Ok(Bytes::from_static(b"event: here\ndata: {}\n\n")), self))
            }
        }
    }
}

/// A logged-in user who may give commands. Refuses others.
pub(super) struct Decider(pub(super) Guest);

impl FromRequestParts<Arc<DeskState>> for Decider {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<DeskState>) -> Result<Self, Self::Rejection> {
        let guest = state.guest(&parts.headers).ok_or_else(not_logged_in)?;
        match guest.role {
            Role::Operator | Role::Arbiter => Ok(Self(guest)),
            Role::Viewer => Err(refused(
                StatusCode::FORBIDDEN,
                &format!("{} has the role viewer and may not do this", guest.name),
            )),
        }
    }
}

async fn status(State(state): SharedDesk, _operator: Operator) -> Result<Response, PairingsRefusal> {
    pairings::in_hall(&state)?;
    let (question, answer) = oneshot::channel();
    let answered = async {
        state.hall.questions.send(question).await.ok()?;
        answer.await.ok()
    };
    match tokio::time::timeout(PATIENCE, answered).await {
        Ok(Some(status)) => Ok(Json(status).into_response()),
        Ok(None) | Err(_) => Err(PairingsRefusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "kiebitz does not answer",
        )),
    }
}
