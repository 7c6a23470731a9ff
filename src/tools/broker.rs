//! An MQTT broker inside the program, so that a demonstration needs no other software.
//!
//! The broker speaks MQTT 5 and 3.1.1 on one port, with QoS 0 and 1, wildcards, wills and retained messages. It keeps
//! retained messages in memory only, and a session ends with its connection. Clients are not authenticated, so bind the
//! broker to the loopback interface.

mod connection;
mod exchange;
#[cfg(test)]
mod tests;
mod wire;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread::JoinHandle;

use tokio::runtime::{self, Runtime};
use tokio::sync::oneshot;

use crate::limits::{Listener, Places};
use connection::SharedExchange;

/// A broker that runs on its own thread until it is dropped.
///
/// ```
/// use kiebitz::tools::broker::Broker;
///
/// let broker = Broker::start(([127, 0, 0, 1], 0).into())?;
/// assert_ne!(broker.addr().port(), 0);
/// # Ok::<(), kiebitz::tools::broker::BrokerError>(())
/// ```
#[derive(Debug)]
pub struct Broker {
    addr: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Reason why the broker did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// Listening on the address failed.
    #[error("cannot listen for MQTT on {addr}: {source}")]
    Listen {
        /// Address on which the broker was to listen.
        addr: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The thread or its async runtime could not be started.
    #[error("cannot start a thread for the broker: {0}")]
    Thread(#[from] io::Error),
}

impl Broker {
    /// Starts a broker that listens on `addr`; port 0 picks a free port.
    ///
    /// # Errors
    ///
    /// Returns [`BrokerError`] if listening on the address fails or the thread cannot be started.
    pub fn start(addr: SocketAddr) -> Result<Self, BrokerError> {
        let listen = || {
            let listener = TcpListener::bind(addr)?;
            listener.set_nonblocking(true)?;
            let addr = listener.local_addr()?;
            Ok((listener, addr))
        };
        let (listener, addr) = listen().map_err(|source| BrokerError::Listen { addr, source })?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("mqtt-broker".to_owned())
            .spawn(move || run(runtime, &listener, stopped))?;
        Ok(Self {
            addr,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the address on which the broker listens, with its real port.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        // The receiver wakes when the sender is dropped.
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves clients until `stopped` resolves. The clients' tasks end with the runtime.
fn run(runtime: Runtime, listener: &tokio::net::TcpListener, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async {
        tokio::select! {
            () = accept(listener) => {}
            _ = stopped => {}
        }
    });
    runtime.shutdown_background();
}

async fn accept(listener: &tokio::net::TcpListener) {
    let exchange = SharedExchange::default();
    let places = Places::of(Listener::DemoBroker);
    loop {
        let (stream, place) = places.accept(listener).await;
        let exchange = exchange.clone();
        drop(tokio::spawn(connection::serve(stream, place, exchange)));
    }
}
