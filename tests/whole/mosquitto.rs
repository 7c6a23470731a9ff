//! A mosquitto for a test, and a proxy in front of it.

use core::ops::Range;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A broker on a port of its own. Killed when it is dropped.
pub(crate) struct Mosquitto {
    port: u16,
    directory: PathBuf,
    child: Option<Child>,
}

impl Mosquitto {
    pub(crate) async fn start() -> Self {
        Self::start_with("").await
    }

    /// Starts the broker with another listener, given by its lines in the configuration.
    pub(crate) async fn start_with(listener: &str) -> Self {
        Self::configured(|port| {
            format!("per_listener_settings true\nlistener {port} 127.0.0.1\nallow_anonymous true\n{listener}")
        })
        .await
    }

    /// Starts the broker with a configuration for its port.
    pub(crate) async fn configured(config: impl FnOnce(u16) -> String) -> Self {
        let port = free_port();
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("mosquitto-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory for the broker");
        // With `max_queued_messages 0` the broker never drops messages that a listener has not received yet.
        let own = "persistence false\nuser root\nlog_dest none\nmax_queued_messages 0\n";
        let config = format!("{own}{}", config(port));
        std::fs::write(directory.join("mosquitto.conf"), config).expect("the broker's configuration");
        let mut broker = Self {
            port,
            directory,
            child: None,
        };
        broker.start_again().await;
        broker
    }

    pub(crate) fn address(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Sends SIGKILL: the broker closes no connection and stores nothing.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("the broker can be killed");
            child.wait().expect("the broker is gone");
        }
    }

    /// Sends SIGSTOP or SIGCONT: a frozen broker keeps its connections but does nothing.
    #[cfg(target_os = "linux")]
    pub(crate) fn freeze(&self, frozen: bool) {
        use rustix::process::{Pid, Signal, kill_process};

        let child = self.child.as_ref().expect("the broker runs");
        let signal = if frozen { Signal::STOP } else { Signal::CONT };
        kill_process(Pid::from_child(child), signal).expect("the broker is there");
    }

    /// Starts the broker again on the same port, without stored messages.
    pub(crate) async fn start_again(&mut self) {
        let child = Command::new(program())
            .arg("-c")
            .arg(self.directory.join("mosquitto.conf"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("mosquitto starts");
        self.child = Some(child);
        let address = self.address();
        let answers = async {
            while TcpStream::connect(address).await.is_err() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(crate::eventually::PATIENCE, answers)
            .await
            .expect("mosquitto answers");
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// A free port. It is outside the range that the system uses for outgoing connections, above all ports that browsers
/// refuse, and concurrent test processes begin their search at different ports.
pub(crate) fn free_port() -> u16 {
    const PORTS: Range<u16> = 10_100..30_000;
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let count = u32::from(PORTS.end - PORTS.start);
    for _ in 0..count {
        let nth = std::process::id()
            .wrapping_mul(16)
            .wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed))
            % count;
        let port = PORTS.start + u16::try_from(nth).expect("a port");
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port of {PORTS:?} is free");
}

/// Path of mosquitto. Debian installs servers in directories that are not in a user's `PATH`.
fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/usr/local/sbin".into()])
        .map(|directory| directory.join("mosquitto"))
        .find(|program| program.is_file())
        .expect("these tests need mosquitto, which is not installed: run tests/run")
}

static STARTED: AtomicU32 = AtomicU32::new(0);

/// A proxy in front of a broker that can cut connections silently.
pub(crate) struct Proxy {
    address: SocketAddr,
    state: watch::Sender<ProxyState>,
    acceptor: JoinHandle<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyState {
    Open,
    /// Answers of the broker are lost.
    OneWay,
    /// Existing connections are closed, and new ones refused.
    Shut,
}

impl Proxy {
    pub(crate) async fn to(broker: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let (state, seen) = watch::channel(ProxyState::Open);
        let acceptor = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.expect("a client");
                if *seen.borrow() != ProxyState::Shut {
                    tokio::spawn(pass(client, broker, seen.clone()));
                }
            }
        });
        Self {
            address,
            state,
            acceptor,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set(&self, state: ProxyState) {
        self.state.send_replace(state);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.acceptor.abort();
    }
}

async fn pass(client: TcpStream, broker: SocketAddr, mut state: watch::Receiver<ProxyState>) {
    let Ok(broker) = TcpStream::connect(broker).await else {
        return;
    };
    let (mut client_in, mut client_out) = client.into_split();
    let (mut broker_in, mut broker_out) = broker.into_split();
    let answers = state.clone();
    tokio::select! {
        _ = copy(&mut client_in, &mut broker_out) => {}
        () = answer(&mut broker_in, &mut client_out, &answers) => {}
        _ = state.wait_for(|state| *state == ProxyState::Shut) => {}
    }
}

async fn answer(
    broker: &mut (impl AsyncReadExt + Unpin),
    client: &mut (impl AsyncWriteExt + Unpin),
    state: &watch::Receiver<ProxyState>,
) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = broker.read(&mut buffer).await {
        let open = *state.borrow() == ProxyState::Open;
        if open && client.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
