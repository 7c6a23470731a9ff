//! Listens on a port, and answers over HTTP. The broadcast, the desk, the boards for programs and the status are served so.

use core::time::Duration;
use std::net::SocketAddr;
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

/// Who sends no request within this time is hung up on.
const PATIENCE: Duration = Duration::from_secs(15);
/// A connection does not last longer, however slowly it reads.
const LONGEST: Duration = Duration::from_secs(120);
/// The same for one on which a page is told what changes. A browser comes again, and misses nothing.
const LONGEST_STAY: Duration = Duration::from_secs(3600);
/// Pause before a port that is taken is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(10);

/// A connection, as those see it who answer on it.
#[derive(Debug, Clone)]
pub(in crate::outputs) struct WebConnection(Arc<HeldConnection>);

#[derive(Debug)]
struct HeldConnection {
    /// It counts among those that may be open.
    permit: Mutex<Option<OwnedSemaphorePermit>>,
    stays: AtomicBool,
}

impl WebConnection {
    pub(in crate::outputs) fn new(permit: Option<OwnedSemaphorePermit>) -> Self {
        Self(Arc::new(HeldConnection {
            permit: Mutex::new(permit),
            stays: AtomicBool::new(false),
        }))
    }

    /// It may last, and others may come meanwhile: whoever says so counts such connections.
    pub(in crate::outputs) fn stay(&self) {
        self.0.stays.store(true, Ordering::Relaxed);
        let mut permit = self.0.permit.lock().unwrap_or_else(PoisonError::into_inner);
        drop(permit.take());
    }

    fn stays(&self) -> bool {
        self.0.stays.load(Ordering::Relaxed)
    }
}

/// Answers who comes, so many connections at a time. One that becomes a WebSocket or a stream is none of them any more.
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
                    let answered = tokio::time::timeout(LONGEST, &mut answering).await;
                    if answered.is_err() && connection.stays() {
                        let _ = tokio::time::timeout(LONGEST_STAY, answering).await;
                    }
                });
            }
            // Too many open files, for instance: some are closed in a moment.
            Err(error) => {
                tracing::debug!("HTTP: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Takes a port, as soon as it is free. `table` is where the configuration names it.
pub(in crate::outputs) async fn listen(address: SocketAddr, table: &str) -> TcpListener {
    let mut said = false;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            Err(error) if said => tracing::debug!("cannot serve http://{address}/: {error}"),
            Err(error) => {
                tracing::warn!("cannot serve http://{address}/: {error}; set another `listen` under {table}");
                said = true;
            }
        }
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}

pub(in crate::outputs) async fn answer(stream: TcpStream, router: Router, connection: WebConnection) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(connection.clone());
        router.call(request)
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    // Who hangs up in between has what they wanted, or comes again.
    let connection = http.serve_connection(TokioIo::new(stream), service);
    let _ = connection.with_upgrades().await;
}
