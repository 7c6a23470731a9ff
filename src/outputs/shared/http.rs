//! HTTP servers of the outputs: broadcast, desk, LiveChess and status.

use core::time::Duration;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Timeout for the header of a request.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest duration of a connection, however slowly the client reads.
const MAX_DURATION: Duration = Duration::from_secs(120);
/// Longest duration of a connection that streams updates. Browsers then reconnect without missing any.
const MAX_STREAM_DURATION: Duration = Duration::from_secs(3600);
/// Pause between attempts to bind a port that is in use.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// Handle with which a request handler controls its connection.
#[derive(Debug, Clone)]
pub(in crate::outputs) struct WebConnection(Arc<HeldConnection>);

/// Address of the client, or of the proxy in front of it.
#[derive(Debug, Clone, Copy)]
pub(in crate::outputs) struct Peer(pub(in crate::outputs) IpAddr);

#[derive(Debug)]
struct HeldConnection {
    /// Permit that counts the connection towards the limit; `None` once it was returned.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    is_long_lived: AtomicBool,
}

impl WebConnection {
    pub(in crate::outputs) fn new(permit: Option<OwnedSemaphorePermit>) -> Self {
        Self(Arc::new(HeldConnection {
            permit: Mutex::new(permit),
            is_long_lived: AtomicBool::new(false),
        }))
    }

    /// Lets the connection last up to [`MAX_STREAM_DURATION`] and returns its permit. The caller must limit such
    /// connections itself.
    pub(in crate::outputs) fn stay(&self) {
        self.0.is_long_lived.store(true, Ordering::Relaxed);
        let mut permit = self.0.permit.lock().unwrap_or_else(PoisonError::into_inner);
        drop(permit.take());
    }

    fn is_long_lived(&self) -> bool {
        self.0.is_long_lived.load(Ordering::Relaxed)
    }
}

/// Accepts and serves connections, at most `connections` at a time. WebSockets and streams that called
/// [`WebConnection::stay`] are not counted.
pub(in crate::outputs) async fn accept(listener: &TcpListener, router: &Router, connections: usize) {
    let connections = Arc::new(Semaphore::new(connections));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = router.clone();
                let connection = WebConnection::new(Some(permit));
                tokio::spawn(async move {
                    let answering = answer(stream, router, connection.clone());
                    tokio::pin!(answering);
                    let answered = tokio::time::timeout(MAX_DURATION, &mut answering).await;
                    if answered.is_err() && connection.is_long_lived() {
                        let _ = tokio::time::timeout(MAX_STREAM_DURATION, answering).await;
                    }
                });
            }
            // The limit of open files may be reached, for example. Retry, as other connections are closed soon.
            Err(error) => {
                tracing::debug!("HTTP: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
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

pub(in crate::outputs) async fn answer(stream: TcpStream, router: Router, connection: WebConnection) {
    // The address is unknown if the client has hung up by now, and does not matter then.
    let peer = stream.peer_addr().map(|peer| peer.ip().to_canonical());
    let peer = peer.unwrap_or_else(|_| Ipv4Addr::UNSPECIFIED.into());
    let peer = Peer(peer);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // An error means that the client hung up. It has its answer, or will retry.
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let _ = connection.with_upgrades().await;
}
