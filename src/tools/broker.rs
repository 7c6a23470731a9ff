//! A broker inside the program, so that a demonstration needs nothing else installed.
//!
//! It speaks MQTT 5 and 3.1.1 on one port, keeps retained messages in memory and forgets everything at its end. It does
//! not authenticate its clients: bind it to an address that only this machine reaches.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::JoinHandle;

use mqtt5::MqttError;
use mqtt5::broker::MqttBroker;
use mqtt5::broker::config::{BrokerConfig, StorageConfig};
use tokio::sync::oneshot;

/// A broker that runs on a thread of its own until it is dropped.
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

/// Why there is no broker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrokerError {
    /// It cannot listen on the address.
    #[error("cannot listen for MQTT on {addr}: {source}")]
    Listen {
        /// The address wanted.
        addr: SocketAddr,
        /// What the broker says.
        source: Box<MqttError>,
    },
    /// The system gives no thread, or nothing for it to wait with.
    #[error("cannot start a thread for the broker: {0}")]
    Thread(#[from] std::io::Error),
    /// The broker's thread has ended before it listened.
    #[error("the broker stopped before it listened on {addr}")]
    Stopped {
        /// The address wanted.
        addr: SocketAddr,
    },
}

impl Broker {
    /// Starts a broker that listens on `addr`; port 0 takes a free one.
    ///
    /// # Errors
    ///
    /// [`BrokerError`] when it cannot listen on the address, or the system is out of threads.
    pub fn start(addr: SocketAddr) -> Result<Self, BrokerError> {
        let (listening, heard) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("mqtt-broker".to_owned())
            .spawn(move || {
                match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => {
                        runtime.block_on(serve(addr, listening, stopped));
                        // Its clients' tasks end where they are.
                        runtime.shutdown_background();
                    }
                    Err(error) => drop(listening.send(Err(error.into()))),
                }
            })?;
        let addr = heard.recv().map_err(|_| BrokerError::Stopped { addr })??;
        Ok(Self {
            addr,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }
}

/// Ends the broker and all its connections.
impl Drop for Broker {
    fn drop(&mut self) {
        // Dropping the sender stops it as well as a message would.
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn serve(
    addr: SocketAddr,
    listening: mpsc::Sender<Result<SocketAddr, BrokerError>>,
    stopped: oneshot::Receiver<()>,
) {
    let config = BrokerConfig {
        bind_addresses: vec![addr],
        storage_config: StorageConfig {
            enable_persistence: false,
            ..StorageConfig::default()
        },
        sys_topics_enabled: false,
        ..BrokerConfig::default()
    };
    let mut broker = match MqttBroker::with_config(config).await {
        Ok(broker) => broker,
        Err(source) => {
            let _ = listening.send(Err(BrokerError::Listen {
                addr,
                source: Box::new(source),
            }));
            return;
        }
    };
    let _ = listening.send(Ok(broker.local_addr().unwrap_or(addr)));
    tokio::select! {
        result = broker.run() => {
            if let Err(error) = result {
                tracing::error!(%error, "the embedded broker has stopped");
            }
        }
        _ = stopped => {}
    }
}
