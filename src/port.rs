//! Serves a port for all parts of the program: opens it, reads, writes, and opens it again after a failure.

use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{Content, Direction};
use kiebitz_hardware::port::{Backoff, PortError, SerialPort};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::system_time::LiveTime;

/// Activity on a port, in the form in which it is recorded, or the reason why the port cannot be opened. Closed and
/// unavailable ports are retried; a persistent error is reported once.
pub(crate) type PortInput = Result<Content, PortError>;

/// An order to a port. Orders to a closed port are dropped, as they were for the previous device.
#[derive(Debug)]
pub(crate) enum PortOrder {
    Write(Vec<u8>),
    /// Close for this reason, and reopen after a pause.
    Close(String),
}

/// A port that a task keeps open until this handle is dropped.
#[derive(Debug)]
pub(crate) struct Port {
    orders: mpsc::UnboundedSender<PortOrder>,
    task: JoinHandle<()>,
}

impl Port {
    /// Starts serving a device. Its inputs are sent to `inputs` with this key.
    pub(crate) fn serve<K>(key: K, device: &Path, inputs: mpsc::Sender<(K, PortInput)>) -> Self
    where
        K: Copy + Send + Sync + 'static,
    {
        let (orders, taken) = mpsc::unbounded_channel();
        let service = Service {
            key,
            device: device.to_owned(),
            inputs,
            orders: taken,
        };
        let task = tokio::spawn(async {
            // The task ends when the receiver of inputs is dropped.
            let _ = service.run().await;
        });
        Self { orders, task }
    }

    pub(crate) fn order(&self, order: PortOrder) {
        // Fails only if the task has ended because the receiver of inputs was dropped.
        let _ = self.orders.send(order);
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task of a [`Port`].
#[derive(Debug)]
struct Service<K> {
    key: K,
    device: PathBuf,
    inputs: mpsc::Sender<(K, PortInput)>,
    orders: mpsc::UnboundedReceiver<PortOrder>,
}

/// The receiver of inputs was dropped.
struct InputsClosed;

impl<K: Copy> Service<K> {
    async fn run(mut self) -> Result<(), InputsClosed> {
        let time = LiveTime::start();
        let mut backoff = Backoff::new(time.now());
        let mut reported: Option<PortError> = None;
        loop {
            if let Some(at) = backoff.poll_deadline() {
                time.until(at).await;
            }
            match SerialPort::open(&self.device) {
                Ok(mut port) => {
                    reported = None;
                    backoff.handle_opened(time.now());
                    while self.orders.try_recv().is_ok() {}
                    self.report(Ok(Content::Opened)).await?;
                    let reason = self.transfer(&mut port, &time).await?;
                    drop(port);
                    backoff.handle_failed(time.now());
                    self.report(Ok(Content::Closed { reason })).await?;
                }
                Err(error) => {
                    backoff.handle_failed(time.now());
                    // A device gets its permissions shortly after it is plugged in, so the first refusal is not
                    // reported.
                    let early = matches!(error, PortError::Denied { .. }) && backoff.failures() < 2;
                    if !early && reported.as_ref() != Some(&error) {
                        reported = Some(error.clone());
                        self.report(Err(error)).await?;
                    }
                }
            }
        }
    }

    /// Reads and writes until the port fails or has to be closed, and returns the reason.
    async fn transfer(&mut self, port: &mut SerialPort, time: &LiveTime) -> Result<String, InputsClosed> {
        let mut buffer = vec![0; MAX_CHUNK];
        let mut flow = Flow::new(time.now());
        loop {
            let content = tokio::select! {
                read = port.read(&mut buffer) => match read {
                    Ok(length) if flow.is_a_flood(time.now(), length) => return Ok(FLOODS.to_owned()),
                    Ok(length) => Content::Bytes {
                        direction: Direction::Inbound,
                        bytes: buffer.get(..length).unwrap_or_default().to_vec(),
                    },
                    Err(error) => return Ok(error.to_string()),
                },
                order = self.orders.recv() => match order.ok_or(InputsClosed)? {
                    PortOrder::Write(bytes) => match write(port, &bytes).await {
                        Ok(()) => Content::Bytes {
                            direction: Direction::Outbound,
                            bytes,
                        },
                        Err(error) => return Ok(error.to_string()),
                    },
                    PortOrder::Close(reason) => return Ok(reason),
                },
            };
            self.report(Ok(content)).await?;
        }
    }

    async fn report(&self, input: PortInput) -> Result<(), InputsClosed> {
        self.inputs
            .send((self.key, input))
            .await
            .map_err(|_| InputsClosed)
    }
}

/// The number of bytes in the current interval of [`FLOW_TIME`].
#[derive(Debug)]
struct Flow {
    since: Timestamp,
    bytes: usize,
}

impl Flow {
    fn new(now: Timestamp) -> Self {
        Self { since: now, bytes: 0 }
    }

    /// Counts received bytes. Returns whether they exceed the maximum of a board.
    fn is_a_flood(&mut self, now: Timestamp, bytes: usize) -> bool {
        if now.saturating_duration_since(self.since) >= FLOW_TIME {
            *self = Self::new(now);
        }
        self.bytes += bytes;
        self.bytes > MAX_FLOW
    }
}

async fn write(port: &mut SerialPort, bytes: &[u8]) -> io::Result<()> {
    match tokio::time::timeout(MAX_WRITE_TIME, port.write_all(bytes)).await {
        Ok(written) => written,
        Err(_) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the port accepts no bytes",
        )),
    }
}

/// Maximum number of bytes per read: more than a converter delivers at once, and about one second of continuous traffic
/// at 9600 baud.
const MAX_CHUNK: usize = 1024;
/// Interval in which bytes are counted. A device that sends more than [`MAX_FLOW`] in one is not a board, and would
/// fill the disk.
const FLOW_TIME: Duration = Duration::from_secs(10);
/// Maximum number of bytes per interval. A line at 115,200 baud, the fastest of a board, carries 115 kB in that time.
/// The memory of a board adds 60 kB at most when it is read back.
const MAX_FLOW: usize = 512 * 1024;
/// Reason for closing a port with too much traffic.
const FLOODS: &str = "the device sends more than any board does: check what is plugged in there";
/// Time after which a write has failed. A session writes at most 10 bytes at once, which take 10 ms on the line.
const MAX_WRITE_TIME: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};

    use rustix::pty::OpenptFlags;

    use super::*;

    /// Opens a pseudo-terminal: the board's end, and the path of the host's end.
    fn pseudo_terminal() -> (File, PathBuf) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let board = rustix::pty::openpt(flags).unwrap();
        rustix::pty::grantpt(&board).unwrap();
        rustix::pty::unlockpt(&board).unwrap();
        let path = rustix::pty::ptsname(&board, Vec::new()).unwrap();
        (File::from(board), path.into_string().unwrap().into())
    }

    fn bytes(direction: Direction, bytes: &[u8]) -> Content {
        Content::Bytes {
            direction,
            bytes: bytes.to_vec(),
        }
    }

    #[tokio::test]
    async fn a_port_is_read_written_closed_and_opened_again() {
        let (mut board, path) = pseudo_terminal();
        let (inputs, mut received) = mpsc::channel(8);
        let port = Port::serve(7, &path, inputs);
        assert!(matches!(received.recv().await, Some((7, Ok(Content::Opened)))));

        board.write_all(b"abc").unwrap();
        let Some((_, Ok(read))) = received.recv().await else {
            panic!("nothing is read");
        };
        assert_eq!(read, bytes(Direction::Inbound, b"abc"));

        port.order(PortOrder::Write(b"xyz".to_vec()));
        let Some((_, Ok(written))) = received.recv().await else {
            panic!("nothing is written");
        };
        assert_eq!(written, bytes(Direction::Outbound, b"xyz"));
        let mut buffer = [0; 3];
        board.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"xyz");

        port.order(PortOrder::Close("for a while".to_owned()));
        let closed = received.recv().await;
        assert!(matches!(closed, Some((_, Ok(Content::Closed { reason }))) if reason == "for a while"));
        assert!(matches!(received.recv().await, Some((_, Ok(Content::Opened)))));
    }

    #[tokio::test]
    async fn a_device_that_floods_is_closed() {
        let (mut board, path) = pseudo_terminal();
        let (inputs, mut received) = mpsc::channel(8);
        let _port = Port::serve((), &path, inputs);
        assert!(matches!(received.recv().await, Some(((), Ok(Content::Opened)))));
        std::thread::spawn(move || while board.write_all(&[0x55; 4096]).is_ok() {});
        let mut bytes = 0;
        let reason = loop {
            match received.recv().await {
                Some(((), Ok(Content::Bytes { bytes: chunk, .. }))) => bytes += chunk.len(),
                Some(((), Ok(Content::Closed { reason }))) => break reason,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(reason, FLOODS);
        assert!(bytes <= MAX_FLOW, "{bytes}");
    }

    #[tokio::test]
    async fn an_error_that_persists_is_reported_once() {
        let (inputs, mut received) = mpsc::channel(8);
        let _port = Port::serve((), Path::new("/dev/ttyKIEBITZ"), inputs);
        let refused = received.recv().await;
        assert!(matches!(refused, Some(((), Err(PortError::Missing { .. })))));
        let more = tokio::time::timeout(Duration::from_millis(3500), received.recv()).await;
        assert!(more.is_err());
    }
}
