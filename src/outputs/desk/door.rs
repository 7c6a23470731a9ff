//! HTTP interface of the desk: routes, sessions and access checks.

use core::convert::Infallible;
use core::time::Duration;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{self, mpsc, oneshot, watch};

use super::first::{self, FirstUserCode};
use super::limits::{AttemptLimits, Source};
use super::logins::Logins;
use super::orders::{self, PATIENCE};
use super::outputs::{self, Outputs};
use super::page;
use super::pairings::{self, PairingsRefusal};
use super::passwords::{PasswordChecks, Unchecked};
use super::proxy::{Proxy, ProxyUser};
use super::review::{self, GameReader};
use super::secrets::{cookie, hex, random};
use super::sessions::Guest;
use super::settings::DeskSettings;
use super::squares;
use super::task::{DeskContext, PAGE_QUEUE, PageSender};
use super::users::{self, Role, User};
use crate::limits::{Client, Listener, Places};
use crate::outputs::shared::http::{self, Peer, WebConnection};
use crate::outputs::shared::to_hall::ToHall;
use crate::system_time::moment;
use crate::tournament::files::PairingFiles;

/// Limit for request bodies, in bytes. The longest body is a command with the moves of a game, about 10,000 bytes.
const MAX_BODY: usize = 64 << 10;
/// Interval of keep-alive messages. Without them, a page cannot detect a dead connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Time after which a client may try again if the queue of password checks is full.
const RETRY_BUSY: Duration = Duration::from_secs(2);
pub(super) const LOG_IN_FIRST: &str = "log in first";
/// Error message of a hub for requests about the journal, recordings and pairings, which only daemons have.
pub(super) const IN_HALL: &str = "not available at a hub: use the desk of the hall";
/// Beginning of the name of the cookie with the session's secret. The id of the desk follows.
const COOKIE: &str = "kiebitz-desk-";
/// Header of requests that change something. Pages of other sites cannot send it, so it prevents CSRF.
const CSRF_HEADER: HeaderName = HeaderName::from_static("kiebitz-desk");

/// State that all requests share.
#[derive(Debug)]
pub(super) struct DeskState {
    pub(super) settings: DeskSettings,
    pub(super) logins: Arc<Logins>,
    proxy: Proxy,
    limits: Mutex<AttemptLimits>,
    pages: mpsc::Sender<PageSender>,
    /// Requests to restart the test of a board's squares, by name.
    pub(super) test_restarts: mpsc::Sender<String>,
    pub(super) hall: ToHall,
    /// `None` at a hub: pairings are managed in the hall of each board. The lock admits one request at a time.
    pub(super) pairings: Option<Arc<sync::Mutex<PairingFiles>>>,
    /// Admits uploads, whose bodies are kept in memory.
    pub(super) uploads: sync::Semaphore,
    page_places: Places,
    pub(super) passwords: Arc<PasswordChecks>,
    pub(super) first: FirstUserCode,
    pub(super) outputs: Outputs,
    pub(super) reading: GameReader,
}

pub(super) type SharedDesk = State<Arc<DeskState>>;

/// Runs the server until the program ends.
pub(super) async fn serve(
    settings: DeskSettings,
    context: DeskContext,
    pages: mpsc::Sender<PageSender>,
    test_restarts: mpsc::Sender<String>,
) {
    let DeskContext {
        in_hall,
        trials,
        language,
        hall,
        logins,
        squares: _,
    } = context;
    let (pairings, archive) = in_hall.map(|in_hall| (in_hall.pairings, in_hall.archive)).unzip();
    let address = settings.listen;
    let logins = match Logins::open(logins, settings.users_file.clone()).await {
        Ok(logins) => Arc::new(logins),
        Err(error) => {
            tracing::error!("[desk]: the desk is not served: {error:#}");
            return;
        }
    };
    tokio::spawn(Arc::clone(&logins).keep());
    let listener = http::listen(address, "[desk]").await;
    tracing::info!("serving the arbiters' desk at http://{address}/");
    let router = router(Arc::new(DeskState {
        first: FirstUserCode::offered(&settings),
        proxy: Proxy::of(&settings),
        settings,
        logins,
        limits: Mutex::default(),
        pages,
        test_restarts,
        hall,
        pairings: pairings.map(|pairings| Arc::new(sync::Mutex::new(pairings))),
        uploads: sync::Semaphore::new(pairings::UPLOADS_AT_ONCE),
        page_places: Listener::Desk.stream_places(),
        passwords: Arc::new(PasswordChecks::new()),
        outputs: Outputs::of(trials),
        reading: GameReader::of(archive, language),
    }));
    http::accept(&listener, &router, &Places::of(Listener::Desk)).await;
}

fn router(state: Arc<DeskState>) -> Router {
    // Only static files are compressed, because the compressed length of an answer could reveal parts of its content.
    let assets = Router::new()
        .route("/", get(async |headers: HeaderMap| asset(page::INDEX, &headers)))
        .route(
            "/desk/{file}",
            get(async |Path(file): Path<String>, headers: HeaderMap| {
                asset(&format!("desk/{file}"), &headers)
            }),
        )
        .route(
            "/page/{*file}",
            get(async |Path(file): Path<String>, headers: HeaderMap| {
                asset(&format!("page/{file}"), &headers)
            }),
        );
    Router::new()
        .merge(assets)
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
        .route("/squares/{board}", axum::routing::delete(squares::restart))
        .route("/status", get(status))
        .route("/outputs", get(outputs::list).post(outputs::test))
        .route("/alarms", get(outputs::alarms).post(outputs::test_alarms))
        .fallback(async || StatusCode::NOT_FOUND)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(Arc::clone(&state))
        .layer(middleware::from_fn_with_state(state, guard))
}

/// Refuses requests that bypass the proxy, and changes from pages of other sites. Assigns the connection to the client.
/// Adds headers that forbid caching, content of other sites and framing.
async fn guard(
    State(state): SharedDesk,
    Extension(Peer(peer)): Extension<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    if let Err(why) = state.proxy.check(peer, request.headers()) {
        tracing::debug!("[desk]: {why}");
        return refused(StatusCode::FORBIDDEN, &why);
    }
    let client = state.proxy.client(peer, request.headers());
    request.extensions_mut().insert(Peer(client));
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD);
    if changes && !request.headers().contains_key(CSRF_HEADER) {
        return refused(StatusCode::FORBIDDEN, "the header Kiebitz-Desk is missing");
    }
    if let Some(connection) = request.extensions().get::<WebConnection>() {
        let guest = state.guest(request.headers());
        // Set for each request, because a proxy sends requests of different clients over the same connection.
        connection
            .set_client(guest.map_or_else(|| Client::of_address(client), |guest| Client::User(guest.name)));
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
fn asset(path: &str, request: &HeaderMap) -> Response {
    page::files().get(path).map_or_else(
        || StatusCode::NOT_FOUND.into_response(),
        |file| file.response(path, request),
    )
}

impl DeskState {
    pub(super) fn limits<T>(&self, operation: impl FnOnce(&mut AttemptLimits) -> T) -> T {
        operation(&mut self.limits.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the user of the request's session; `None` if there is no valid session.
    pub(super) fn guest(&self, headers: &HeaderMap) -> Option<Guest> {
        let secret = self.secret(headers)?;
        let guest = self.logins.sessions(|all| all.guest(moment(), secret))?;
        // A different user may have logged in at the proxy since.
        let is_same = match self.proxy.user(headers) {
            ProxyUser::NoProxy => true,
            ProxyUser::Invalid => false,
            ProxyUser::User(name) => name == guest.name,
        };
        is_same.then_some(guest)
    }

    /// Returns the name of the cookie with the session's secret.
    fn session_cookie(&self) -> String {
        format!("{COOKIE}{}", self.logins.key.desk_id())
    }

    fn secret<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        cookie(headers, &self.session_cookie())
    }

    /// Returns a user's name and role, and whether this is a hub.
    fn session_info(&self, guest: &Guest) -> Json<Value> {
        let mut info = json!({ "user": guest.name, "role": guest.role });
        if self.pairings.is_none() {
            info["hub"] = true.into();
        }
        Json(info)
    }

    /// Begins a session and sets its cookie. A new device also gets a cookie that identifies it later.
    pub(super) async fn begin_session(&self, headers: &HeaderMap, user: &User, source: Source) -> Response {
        // If the proxy is reached over HTTPS, the browser must not send the cookie in the clear.
        let secure = if is_encrypted(headers) { "; Secure" } else { "" };
        let attributes = format!("; Path=/; HttpOnly; SameSite=Strict{secure}");
        let device = match source {
            Source::Network(_) if self.settings.user_header.is_none() => {
                self.logins.key.issue(&user.name, &attributes).map(Some)
            }
            Source::Network(_) | Source::Device(_) => Ok(None),
        };
        let (secret, device) = match random::<32>().and_then(|secret| Ok((hex(&secret), device?))) {
            Ok(created) => created,
            Err(error) => return login_unavailable(&error),
        };
        let session = format!("{}={secret}{attributes}", self.session_cookie());
        tracing::info!("[desk]: {} logged in as {}", user.name, user.role);
        self.limits(|limits| limits.succeed(source, &user.name));
        self.logins.sessions(|all| all.begin(moment(), &secret, user));
        self.logins.until_stored().await;
        let cookies = [Some(session), device].into_iter().flatten();
        let cookies = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
        let guest = Guest {
            name: user.name.clone(),
            role: user.role,
        };
        (cookies, self.session_info(&guest)).into_response()
    }
}

/// Whether the browser uses HTTPS. Each proxy appends the protocol by which it was reached.
fn is_encrypted(headers: &HeaderMap) -> bool {
    let protocols = headers
        .get("x-forwarded-proto")
        .and_then(|protocols| protocols.to_str().ok());
    let first = protocols.and_then(|protocols| protocols.split(',').next());
    first.is_some_and(|protocol| protocol.trim().eq_ignore_ascii_case("https"))
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

async fn session(State(state): SharedDesk, Extension(peer): Extension<Peer>, headers: HeaderMap) -> Response {
    if let Some(guest) = state.guest(&headers) {
        return state.session_info(&guest).into_response();
    }
    let ProxyUser::User(name) = state.proxy.user(&headers) else {
        if state.first.is_offered(&state.settings.users_file).await {
            let body = json!({ "error": LOG_IN_FIRST, "first": true });
            return (StatusCode::UNAUTHORIZED, Json(body)).into_response();
        }
        return not_logged_in();
    };
    // Pages of other sites can make a browser send this request, and many sessions would end others of the user.
    if !headers.contains_key(CSRF_HEADER) {
        return not_logged_in();
    }
    let (file, name) = (state.settings.users_file.clone(), name.to_owned());
    let found = tokio::task::spawn_blocking(move || Ok((users::find(&file, &name)?, name)));
    match found.await.context("interrupted").and_then(|found| found) {
        Ok((Some(user), _)) => {
            state
                .begin_session(&headers, &user, Source::of_address(peer.0))
                .await
        }
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
    // Rounded up, so that the next attempt is not too early.
    let wait = Duration::from_secs(wait.as_secs() + 1);
    let why = format!("too many wrong passwords: try again in {} s", wait.as_secs());
    retry_after(wait, refused(StatusCode::TOO_MANY_REQUESTS, &why))
}

/// Builds the response to a request whose password was not checked.
pub(super) fn try_again(unchecked: &Unchecked) -> Response {
    retry_after(
        RETRY_BUSY,
        refused(StatusCode::SERVICE_UNAVAILABLE, &unchecked.to_string()),
    )
}

pub(super) fn retry_after(wait: Duration, mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::RETRY_AFTER, wait.as_secs().into());
    response
}

#[derive(Deserialize)]
struct LoginForm {
    user: String,
    password: String,
}

async fn log_in(
    State(state): SharedDesk,
    Extension(peer): Extension<Peer>,
    Extension(connection): Extension<WebConnection>,
    headers: HeaderMap,
    Json(login): Json<LoginForm>,
) -> Response {
    if state.settings.user_header.is_some() {
        return refused(StatusCode::FORBIDDEN, "log in at the proxy in front of this page");
    }
    let device = state.logins.key.device(&headers, &login.user);
    let has_device = device.is_some();
    let sources = device.into_iter().chain([Source::of_address(peer.0)]);
    let source = match state.limits(|limits| limits.begin_any(moment(), sources, &login.user)) {
        Ok(source) => source,
        Err(wait) => return too_many_tries(wait),
    };
    let file = state.settings.users_file.clone();
    let name = login.user.clone();
    // A user who was removed may still have the device.
    if has_device && is_listed(file.clone(), name.clone()).await {
        connection.set_client(Client::User(name.clone()));
    }
    let check = move |memory: &mut _| users::by_password(&file, &login.user, &login.password, memory);
    let user = match state.passwords.run(source, check).await {
        Err(unchecked) => {
            state.limits(|limits| limits.withdraw(source, &name));
            return try_again(&unchecked);
        }
        Ok(Ok(Some(user))) => user,
        Ok(Ok(None)) => {
            connection.set_client(Client::of_address(peer.0));
            tracing::warn!("[desk]: a login from {} failed: wrong name or password", peer.0);
            return refused(StatusCode::UNAUTHORIZED, "wrong name or password");
        }
        Ok(Err(error)) => return login_unavailable(&error),
    };
    state.begin_session(&headers, &user, source).await
}

/// Whether the file of users has a user of this name.
async fn is_listed(file: PathBuf, name: String) -> bool {
    let found = tokio::task::spawn_blocking(move || users::find(&file, &name)).await;
    matches!(found, Ok(Ok(Some(_))))
}

async fn log_out(State(state): SharedDesk, headers: HeaderMap) -> Response {
    if let Some(secret) = state.secret(&headers) {
        state.logins.sessions(|all| all.end(secret));
        state.logins.until_stored().await;
    }
    let expired = format!(
        "{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0",
        state.session_cookie()
    );
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, expired)]).into_response()
}

/// State of an open page's stream of updates.
struct DeskViewer {
    /// Fails when the session ends.
    session: watch::Receiver<()>,
    /// `None` after the last message.
    updates: Option<mpsc::Receiver<Bytes>>,
}

async fn stream_updates(
    State(state): SharedDesk,
    Extension(connection): Extension<WebConnection>,
    headers: HeaderMap,
) -> Response {
    let guest = state.guest(&headers);
    let session = guest.and_then(|_| state.logins.sessions(|all| all.follow(state.secret(&headers)?)));
    let Some(session) = session else {
        return not_logged_in();
    };
    if !connection.stay(&state.page_places) {
        return refused(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are open: close some",
        );
    }
    let (page, updates) = mpsc::channel(PAGE_QUEUE);
    if state.pages.send(page).await.is_err() {
        return refused(StatusCode::SERVICE_UNAVAILABLE, "kiebitz is stopping");
    }
    let viewer = DeskViewer {
        session,
        updates: Some(updates),
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
        let updates = self.updates.as_mut()?;
        let message = tokio::select! {
            biased;
            // Fails when the session ends, because its sender is dropped.
            _ = self.session.changed() => {
                self.updates = None;
                Bytes::from_static(b"event: over\ndata: {}\n\n")
            }
            update = tokio::time::timeout(KEEP_ALIVE, updates.recv()) => match update {
                Ok(update) => update?,
                Err(_) => Bytes::from_static(b"event: here\ndata: {}\n\n"),
            },
        };
        Some((Ok(message), self))
    }
}

/// Extracts the session's user and rejects viewers, who may not give commands.
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

#[cfg(test)]
pub(super) mod tests {
    use std::net::SocketAddr;
    use std::path::Path;

    use kiebitz_game::laws::Language;
    use reqwest::RequestBuilder;
    use tempfile::TempDir;
    use tokio::net::TcpListener;

    use super::*;
    use crate::outputs::shared::trial::Trials;

    const PAGES: usize = 4;
    /// Header that [`add_is_known`] adds to each response.
    const IS_KNOWN: &str = "is-known";

    /// A running desk with its real routes.
    struct ServedDesk {
        state: Arc<DeskState>,
        address: SocketAddr,
        http: reqwest::Client,
        _pages: mpsc::Receiver<PageSender>,
        _folder: TempDir,
    }

    /// The state of a desk with its files in `folder`, without pairing files.
    pub(in super::super) async fn desk_state(
        folder: &Path,
        settings: &str,
        pages: mpsc::Sender<PageSender>,
    ) -> DeskState {
        let text = format!("users_file = {:?}\n{settings}", folder.join("users"));
        let settings: DeskSettings = toml::from_str(&text).expect("settings");
        let logins = Logins::open(folder.join("logins"), settings.users_file.clone()).await;
        DeskState {
            first: FirstUserCode::default(),
            proxy: Proxy::of(&settings),
            settings,
            logins: Arc::new(logins.expect("randomness")),
            limits: Mutex::default(),
            pages,
            test_restarts: mpsc::channel(1).0,
            hall: ToHall::of_commands(mpsc::channel(1).0),
            pairings: None,
            uploads: sync::Semaphore::new(pairings::UPLOADS_AT_ONCE),
            page_places: Places::new(PAGES),
            passwords: Arc::new(PasswordChecks::new()),
            outputs: Outputs::of(Trials::default()),
            reading: GameReader::of(None, Language::English),
        }
    }

    impl ServedDesk {
        async fn start(settings: &str) -> Self {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let folder = tempfile::tempdir().expect("a folder");
            let (pages, opened) = mpsc::channel(2 * PAGES);
            let state = Arc::new(desk_state(folder.path(), settings, pages).await);
            tokio::spawn(Arc::clone(&state.logins).keep());
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let router = router(Arc::clone(&state)).layer(middleware::from_fn(add_is_known));
            tokio::spawn(async move { http::accept(&listener, &router, &Places::new(32)).await });
            Self {
                state,
                address,
                // Each request has a connection of its own.
                http: reqwest::Client::builder()
                    .pool_max_idle_per_host(0)
                    .build()
                    .expect("a client"),
                _pages: opened,
                _folder: folder,
            }
        }

        fn request(&self, method: Method, path: &str, cookie: &str) -> RequestBuilder {
            let request = self
                .http
                .request(method, format!("http://{}/{path}", self.address));
            let request = request.header(header::COOKIE, cookie).header(CSRF_HEADER, "1");
            request.header(header::CONTENT_TYPE, "application/json")
        }

        /// Begins a session, and returns its cookie.
        fn session_of(&self, user: &str) -> String {
            let user = User::read(&format!("{user} arbiter -")).expect("a user");
            let secret = format!("secret of {}", user.name).replace(' ', "-");
            self.state
                .logins
                .sessions(|all| all.begin(moment(), &secret, &user));
            format!("{}={secret}", self.state.session_cookie())
        }
    }

    async fn add_is_known(
        Extension(connection): Extension<WebConnection>,
        request: Request,
        next: Next,
    ) -> Response {
        let mut response = next.run(request).await;
        let is_known = if connection.is_known() { "yes" } else { "no" };
        response
            .headers_mut()
            .insert(IS_KNOWN, HeaderValue::from_static(is_known));
        response
    }

    async fn sent(request: RequestBuilder) -> reqwest::Response {
        request.send().await.expect("an answer")
    }

    async fn is_known(request: RequestBuilder) -> bool {
        sent(request).await.headers()[IS_KNOWN] == "yes"
    }

    #[tokio::test]
    async fn every_route_makes_the_connection_of_a_session_known() {
        let desk = ServedDesk::start("").await;
        let session = desk.session_of("meier");
        let command = json!({"board": "board-1", "command": {}}).to_string();
        for (method, path, body) in [
            (Method::GET, "session", ""),
            (Method::GET, "stream", ""),
            (Method::GET, "games", ""),
            (Method::GET, "desk/main.js", ""),
            (Method::POST, "command", &*command),
            (Method::POST, "alarms", ""),
        ] {
            let request = |cookie| desk.request(method.clone(), path, cookie).body(body.to_owned());
            assert!(is_known(request(&session)).await, "{method} {path}");
            assert!(!is_known(request("")).await, "{method} {path} of a stranger");
        }
    }

    #[tokio::test]
    async fn a_login_from_a_known_device_makes_its_connection_known() {
        let desk = ServedDesk::start("").await;
        let users = &desk.state.settings.users_file;
        let lines =
            ["meier", "ott"].map(|name| users::line(name, Role::Arbiter, "rook-on-a1").expect("a line"));
        std::fs::write(users, lines.join("\n")).expect("users");
        let device = desk.state.logins.key.issue("meier", "").expect("randomness");
        let device = device.split(';').next().expect("a pair");
        let log_in = |user: &str, cookie: &str| {
            let login = json!({"user": user, "password": "rook-on-a1"});
            desk.request(Method::POST, "session", cookie)
                .body(login.to_string())
        };
        assert!(is_known(log_in("meier", device)).await);
        assert!(!is_known(log_in("ott", device)).await, "another user");
        assert!(!is_known(log_in("meier", "")).await, "another device");
        let guess = json!({"user": "meier", "password": "guessing"}).to_string();
        let guess = desk.request(Method::POST, "session", device).body(guess);
        assert!(!is_known(guess).await, "a wrong password");
        std::fs::write(users, &lines[1]).expect("users");
        assert!(!is_known(log_in("meier", device)).await, "a removed user");
        assert!(!is_listed(users.clone(), "meier".to_owned()).await);
    }

    #[test]
    fn the_cookie_is_secure_if_the_browser_uses_https() {
        for (protocols, expected) in [
            ("https", true),
            ("HTTPS", true),
            ("https, http", true),
            ("http, https", false),
            ("http", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("x-forwarded-proto"),
                HeaderValue::from_static(protocols),
            )]);
            assert_eq!(is_encrypted(&headers), expected, "{protocols}");
        }
        assert!(!is_encrypted(&HeaderMap::new()));
    }

    #[tokio::test]
    async fn a_request_of_another_site_begins_no_session_at_a_proxy() {
        let desk = ServedDesk::start("user_header = \"Remote-User\"\nproxies = [\"127.0.0.1\"]").await;
        std::fs::write(&desk.state.settings.users_file, "meier arbiter -\n").expect("users");
        let request = || {
            let request = desk.http.get(format!("http://{}/session", desk.address));
            request.header("remote-user", "meier")
        };
        assert_eq!(sent(request()).await.status(), 401);
        assert!(desk.state.logins.sessions(|all| all.is_empty()));
        assert_eq!(sent(request().header(CSRF_HEADER, "1")).await.status(), 200);
    }

    #[tokio::test]
    async fn the_first_operator_is_created_although_the_client_hangs_up() {
        let desk = ServedDesk::start("").await;
        let users = &desk.state.settings.users_file;
        desk.state.first.offer("ABCDE23456").await;
        let is_first = async || {
            let session = sent(desk.request(Method::GET, "session", "")).await;
            let text = session.text().await.expect("an answer");
            text.contains("\"first\":true")
        };
        assert!(is_first().await);
        let create = |user: &str| {
            let form = json!({"code": "ABCDE23456", "user": user, "password": "operate-it"});
            desk.request(Method::POST, "first", "").body(form.to_string())
        };
        let passwords = &desk.state.passwords;
        let pause = passwords.pause();
        let request = tokio::spawn(sent(create("chief")));
        while passwords.running() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        request.abort();
        while passwords.clients() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        drop(pause);
        assert_eq!(sent(create("other")).await.status(), 404);
        assert!(!is_first().await, "the page asks for the log-in");
        let users = std::fs::read_to_string(users).expect("users");
        assert!(
            users.starts_with("chief operator ") && users.lines().count() == 1,
            "{users}"
        );
    }

    #[tokio::test]
    async fn pages_behind_a_proxy_are_divided_among_users() {
        let desk = ServedDesk::start("proxies = [\"127.0.0.1\"]").await;
        let open = async |session: &str| {
            let request = desk.request(Method::GET, "stream", session);
            sent(request.header("x-forwarded-for", "192.0.2.7")).await
        };
        let (hall, meier) = (desk.session_of("hall"), desk.session_of("meier"));
        let mut pages = Vec::new();
        for _ in 0..PAGES {
            let page = open(&hall).await;
            assert_eq!(page.status(), 200);
            pages.push(page);
        }
        assert_eq!(open(&hall).await.status(), 503);
        for _ in 0..PAGES / 2 {
            let page = open(&meier).await;
            assert_eq!(page.status(), 200);
            pages.push(page);
        }
        assert_eq!(open(&meier).await.status(), 503, "both have as many");
    }

    #[tokio::test]
    async fn sessions_of_two_desks_on_one_host_do_not_replace_each_other() {
        let (one, other) = (ServedDesk::start("").await, ServedDesk::start("").await);
        let sessions = [one.session_of("meier"), other.session_of("ott")];
        let names = sessions
            .each_ref()
            .map(|cookie| cookie.split('=').next().expect("a name").to_owned());
        assert_ne!(names[0], names[1]);
        // A browser sends both cookies to both ports.
        for cookies in [sessions.join("; "), [&*sessions[1], &*sessions[0]].join("; ")] {
            for (desk, user) in [(&one, "meier"), (&other, "ott")] {
                let session = sent(desk.request(Method::GET, "session", &cookies)).await;
                let text = session.text().await.expect("an answer");
                assert!(text.contains(user), "{text}");
            }
        }
        let log_out = sent(one.request(Method::DELETE, "session", &sessions.join("; "))).await;
        let removed = log_out.headers()[header::SET_COOKIE].to_str().expect("text");
        assert!(removed.starts_with(&format!("{}=;", names[0])), "{removed}");
    }
}
