//! HTTP servers of the outputs: broadcast, desk, LiveChess and status.

use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::limits::{Client, Place, Places};
use crate::outputs::shared::thread::WEB;

/// Runs a task of a web server on the [thread](WEB) that all of them share. The task ends with the caller's runtime.
pub(in crate::outputs) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    WEB.spawn(task);
}

#[derive(Debug, Clone, Copy)]
pub(in crate::outputs) struct Deadlines {
    /// Timeout for the header of a request.
    header: Duration,
    /// Timeout for the body of a request, from the end of its header.
    body: Duration,
    /// Timeout for the body of a request of a known client, which may upload files over a slow network.
    known_body: Duration,
    /// Time after which a connection takes no further requests.
    connection: Duration,
    /// Timeout for the end of the last request, however slowly the client reads.
    last_request: Duration,
    /// Longest duration of a connection that streams updates. Browsers then reconnect without missing an update.
    stream: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            header: Duration::from_secs(15),
            body: Duration::from_secs(15),
            known_body: Duration::from_secs(110),
            connection: Duration::from_secs(120),
            last_request: Duration::from_secs(120),
            stream: Duration::from_secs(3600),
        }
    }
}

/// Limit for the header of a request, in bytes.
const MAX_HEADER: usize = 64 << 10;
/// Pause between attempts to bind a port that is in use.
const RETRY_PAUSE: Duration = Duration::from_secs(10);
const BODY_TOO_SLOW: &str = "the rest of the request did not arrive in time: send it again\n";

/// Handle with which a request handler controls its connection.
#[derive(Debug, Clone)]
pub(in crate::outputs) struct WebConnection(Arc<HeldConnection>);

/// Address of the client, or of the proxy in front of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::outputs) struct Peer(pub(in crate::outputs) IpAddr);

#[derive(Debug)]
struct HeldConnection {
    place: Place,
    is_long_lived: AtomicBool,
    /// Whether the body of the current request exceeded its deadline.
    is_body_late: AtomicBool,
}

impl WebConnection {
    fn new(place: Place) -> Self {
        Self(Arc::new(HeldConnection {
            place,
            is_long_lived: AtomicBool::new(false),
            is_body_late: AtomicBool::new(false),
        }))
    }

    /// Makes the connection long-lived and moves it to a place of `streams`. Returns false if there is no room.
    pub(in crate::outputs) fn stay(&self, streams: &Places) -> bool {
        let has_room = self.0.place.move_to(streams);
        self.0.is_long_lived.fetch_or(has_room, Ordering::Relaxed);
        has_room
    }

    /// Resolves when the connection must end because another one needs its place. Only the handler of a WebSocket has
    /// to wait for this; HTTP connections are ended without its help.
    pub(in crate::outputs) async fn ended(&self) {
        self.0.place.ended().await;
    }

    /// Sets the client of the current request. Until then, the address of the connection counts. If places run out,
    /// connections of users end last.
    pub(in crate::outputs) fn set_client(&self, client: Client) {
        self.0.place.set_client(client);
    }

    #[cfg(test)]
    pub(in crate::outputs) fn is_known(&self) -> bool {
        self.0.place.is_known()
    }

    fn is_long_lived(&self) -> bool {
        self.0.is_long_lived.load(Ordering::Relaxed)
    }
}

/// Accepts and serves connections, at most one per place. Connections that called [`WebConnection::stay`] have left
/// their place.
pub(in crate::outputs) async fn accept(listener: &TcpListener, router: &Router, places: &Places) {
    accept_with(listener, router, places, Deadlines::default()).await;
}

/// Works like [`accept`], with other deadlines.
pub(in crate::outputs) async fn accept_with(
    listener: &TcpListener,
    router: &Router,
    places: &Places,
    deadlines: Deadlines,
) {
    loop {
        let (stream, place) = places.accept(listener).await;
        let router = router.clone();
        tokio::spawn(async move {
            let connection = WebConnection::new(place);
            serve(stream, router, connection, deadlines).await;
        });
    }
}

/// Serves a connection to its end, or until another one needs its place.
async fn serve(stream: TcpStream, router: Router, connection: WebConnection, deadlines: Deadlines) {
    tokio::select! {
        () = answer(stream, router, connection.clone(), deadlines) => {}
        () = connection.ended() => {}
    }
}

/// Binds a port, and retries until it succeeds. `table` is the configuration table that has the address.
pub(in crate::outputs) async fn listen(address: SocketAddr, table: &str) -> TcpListener {
    let mut warned = false;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) if warned => tracing::debug!("cannot serve http://{address}/: {error}"),
            Err(error) => {
                tracing::warn!("cannot serve http://{address}/: {error}; set another `listen` under {table}");
                warned = true;
            }
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

/// Answers the requests of a connection until its deadline.
async fn answer(stream: TcpStream, router: Router, connection: WebConnection, deadlines: Deadlines) {
    // Fails only if the client has hung up, in which case the address does not matter.
    let peer = stream.peer_addr().map(|peer| peer.ip().to_canonical());
    let peer = peer.unwrap_or_else(|_| Ipv4Addr::UNSPECIFIED.into());
    let peer = Peer(peer);
    let router = TowerToHyperService::new(router);
    let held = connection.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let connection = connection.clone();
        request.extensions_mut().insert(connection.clone());
        request.extensions_mut().insert(peer);
        let request = request.map(|body| RequestBody::new(body, connection.clone(), deadlines));
        let answered = router.call(request);
        async move {
            let response: Response = answered.await?;
            // A client may send many requests without reading an answer. Other clients must not wait for all of them.
            tokio::task::yield_now().await;
            let response = if connection.0.is_body_late.swap(false, Ordering::Relaxed) {
                let close = [(header::CONNECTION, HeaderValue::from_static("close"))];
                (StatusCode::REQUEST_TIMEOUT, close, BODY_TOO_SLOW).into_response()
            } else {
                response
            };
            Ok::<_, core::convert::Infallible>(response.map(|body| ResponseBody { body, connection }))
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(deadlines.header)
        .max_buf_size(MAX_HEADER);
    let serving = http.serve_connection(TokioIo::new(stream), service);
    let serving = serving.with_upgrades();
    tokio::pin!(serving);
    // An error of `serving` means that the client has hung up: it has its answer, or will retry.
    if tokio::time::timeout(deadlines.connection, &mut serving)
        .await
        .is_ok()
    {
        return;
    }
    // Ends an idle connection at once, and a busy one after the request in progress.
    serving.as_mut().graceful_shutdown();
    let last = tokio::time::timeout(deadlines.last_request, &mut serving).await;
    if last.is_err() && held.is_long_lived() {
        let _ = tokio::time::timeout(deadlines.stream, serving).await;
    }
}

/// The body of a request. Reading it fails after the deadline.
struct RequestBody {
    body: Incoming,
    connection: WebConnection,
    begin: Instant,
    deadlines: Deadlines,
    /// `None` until the first read that has to wait.
    deadline: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug, Error)]
enum BodyError {
    #[error("the body did not arrive in time")]
    Late,
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

impl RequestBody {
    fn new(body: Incoming, connection: WebConnection, deadlines: Deadlines) -> Self {
        Self {
            body,
            connection,
            begin: Instant::now(),
            deadlines,
            deadline: None,
        }
    }

    fn current_deadline(&self) -> Instant {
        let is_known = self.connection.0.place.is_known();
        self.begin
            + if is_known {
                self.deadlines.known_body
            } else {
                self.deadlines.body
            }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let latest = self.current_deadline();
        let body = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut body.body).poll_frame(context) {
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::from)));
        }
        let deadline = body
            .deadline
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(latest)));
        if deadline.deadline() != latest {
            deadline.as_mut().reset(latest);
        }
        if deadline.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        body.connection.0.is_body_late.store(true, Ordering::Relaxed);
        Poll::Ready(Some(Err(BodyError::Late)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        // The handler has read the request and is answering it.
        self.connection.0.place.set_served(true);
    }
}

/// The body of a response. The connection is served until this is dropped.
struct ResponseBody {
    body: Body,
    connection: WebConnection,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.connection.0.place.set_served(false);
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::Extension;
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const SLOW: Duration = Duration::from_millis(60);

    /// Serves `/`, which returns the body, `/session`, which makes the client known, `/slow`, which takes the time
    /// [`SLOW`], and `/never`, which does not end.
    fn router() -> Router {
        let known = async |Extension(connection): Extension<WebConnection>| {
            connection.set_client(Client::User("meier".to_owned()));
            "known"
        };
        let slow = async || {
            tokio::time::sleep(SLOW).await;
            "slow"
        };
        Router::new()
            .route("/", post(async |body: Bytes| body))
            .route("/session", get(known))
            .route("/slow", get(slow))
            .route("/never", get(core::future::pending::<&'static str>))
    }

    async fn start_server(places: usize, deadlines: Deadlines) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move { accept_with(&listener, &router(), &Places::new(places), deadlines).await });
        address
    }

    async fn send_request(address: SocketAddr, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("a server");
        stream.write_all(request.as_bytes()).await.expect("it listens");
        stream
    }

    /// Reads everything that the server sends until it closes the connection.
    async fn read_answer(mut stream: TcpStream) -> String {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn read_until(stream: &mut TcpStream, end: &str) {
        let mut answer = Vec::new();
        while !answer.ends_with(end.as_bytes()) {
            answer.push(stream.read_u8().await.expect("it answers"));
        }
    }

    const PART_OF_BODY: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\ndrip";
    const PART_OF_HEADER: &str = "POST / HTTP/1.1\r\nHost: a\r\n";
    const WHOLE: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

    #[tokio::test]
    async fn clients_that_send_slowly_do_not_keep_others_out() {
        let address = start_server(8, Deadlines::default()).await;
        let mut known = send_request(address, "GET /session HTTP/1.1\r\nHost: a\r\n\r\n").await;
        read_until(&mut known, "known").await;
        let mut slow = Vec::new();
        for number in 0..64 {
            let part = [PART_OF_BODY, PART_OF_HEADER][number % 2];
            slow.push(send_request(address, part).await);
        }
        let answer = read_answer(send_request(address, WHOLE).await).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"),
            "{answer}"
        );
        // The known connection is the oldest, but has kept its place.
        known.write_all(WHOLE.as_bytes()).await.expect("it is open");
        assert!(read_answer(known).await.ends_with("ok"));
    }

    #[tokio::test]
    async fn the_caller_and_web_servers_do_not_wait_for_each_other() {
        const LIMIT: Duration = Duration::from_secs(60);
        let (release, released) = std::sync::mpsc::channel();
        let (done, thread) = std::sync::mpsc::channel();
        spawn(async move {
            // Blocks the thread of the web servers.
            let _ = released.recv_timeout(LIMIT);
            let _ = done.send(std::thread::current().name().map(str::to_owned));
        });
        tokio::task::yield_now().await;
        release.send(()).expect("the task waits");
        // Blocks the thread of the caller.
        let thread = thread.recv_timeout(LIMIT).expect("the task ends");
        assert_eq!(thread.as_deref(), Some("web"));
    }

    #[tokio::test]
    async fn a_client_with_many_requests_takes_turns_with_others() {
        const REQUESTS: usize = 40;
        let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
        let handler = async move |request: axum::extract::Request| {
            let _ = answered.send(request.uri().path().to_owned());
        };
        let router = Router::new().route("/{client}", get(handler));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut clients = Vec::new();
        for path in ["/one", "/other"] {
            let requests = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n").repeat(REQUESTS);
            clients.push(send_request(address, &requests).await);
        }
        tokio::spawn(async move { accept(&listener, &router, &Places::new(8)).await });
        let mut order = Vec::new();
        while order.len() < 2 * REQUESTS {
            order.push(answers.recv().await.expect("a request"));
        }
        let longest = order.chunk_by(|one, next| one == next).map(<[_]>::len).max();
        // The first connection is alone until the second one is accepted, and at the end.
        assert!(longest.is_some_and(|longest| longest <= 5), "{order:?}");
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_is_answered_with_408() {
        let body = Duration::from_millis(20);
        let deadlines = Deadlines {
            body,
            ..Deadlines::default()
        };
        let address = start_server(8, deadlines).await;
        let answer = read_answer(send_request(address, PART_OF_BODY).await).await;
        assert!(
            answer.starts_with("HTTP/1.1 408") && answer.contains("connection: close"),
            "{answer}"
        );
    }

    /// Sends a request before the server starts, so that it is read before any deadline. Returns everything that the
    /// server sends until it closes the connection.
    async fn answer_with(deadlines: Deadlines, path: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let stream = send_request(address, &format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        tokio::spawn(async move { accept_with(&listener, &router(), &Places::new(8), deadlines).await });
        read_answer(stream).await
    }

    #[tokio::test]
    async fn a_connection_ends_after_the_request_in_progress() {
        let deadlines = Deadlines {
            connection: SLOW / 3,
            ..Deadlines::default()
        };
        let answer = answer_with(deadlines, "/slow").await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("slow"),
            "{answer}"
        );
        let idle = answer_with(deadlines, "/session").await;
        assert!(idle.ends_with("known"), "{idle}");
        let deadlines = Deadlines {
            last_request: SLOW / 3,
            ..deadlines
        };
        assert_eq!(answer_with(deadlines, "/never").await, "", "the last deadline");
    }

    #[tokio::test]
    async fn a_header_that_does_not_arrive_or_is_endless_ends_the_connection() {
        let header = Duration::from_millis(20);
        let deadlines = Deadlines {
            header,
            ..Deadlines::default()
        };
        let address = start_server(8, deadlines).await;
        let answer = read_answer(send_request(address, PART_OF_HEADER).await).await;
        assert!(!answer.contains("200"), "{answer}");
        let address = start_server(8, Deadlines::default()).await;
        let mut stream = send_request(address, PART_OF_HEADER).await;
        let line = format!("X-Filler: {}\r\n", "x".repeat(MAX_HEADER));
        let _ = stream.write_all(line.repeat(2).as_bytes()).await;
        let answer = read_answer(stream).await;
        assert!(!answer.contains("200"), "{answer}");
    }
}
