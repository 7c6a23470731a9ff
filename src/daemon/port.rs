//! One port: opened, read, written, and opened again.

use std::sync::Arc;

use kiebitz_hardware::port::{Backoff, Candidate, PortError, SerialPort};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use super::ports::PortId;
use crate::system_time::LiveTime;

/// What a port tells the desk.
#[derive(Debug)]
pub(super) enum Input {
    /// It was opened.
    Opened,
    /// Bytes came.
    Received(Vec<u8>),
    /// Bytes were written.
    Written(Vec<u8>),
    /// It is gone.
    Closed(String),
}

/// What the desk tells a port.
#[derive(Debug)]
pub(super) enum Order {
    /// To be written.
    Write(Vec<u8>),
    /// To be closed for this reason, and opened again after a while.
    Close(String),
}

/// A read takes what is there; a board says 960 bytes a second.
const CHUNK: usize = 1024;

/// Serves a port for as long as it is there.
pub(super) async fn serve(
    id: PortId,
    candidate: Candidate,
    inputs: mpsc::Sender<(PortId, Input)>,
    mut orders: mpsc::UnboundedReceiver<Order>,
) {
    let time = LiveTime::start();
    let mut backoff = Backoff::new(time.now());
    let mut told: Option<Arc<PortError>> = None;
    loop {
        if let Some(at) = backoff.poll_deadline() {
            time.until(at).await;
        }
        let mut port = match SerialPort::open(&candidate.device) {
            Ok(port) => port,
            Err(error) => {
                backoff.handle_failed(time.now());
                // udev sets the rights of a device a moment after it was plugged in.
                let early = matches!(error, PortError::Denied { .. }) && backoff.failures() < 2;
                if !early && told.as_deref() != Some(&error) {
                    tracing::warn!("{error}");
                    told = Some(Arc::new(error));
                }
                continue;
            }
        };
        told = None;
        backoff.handle_opened(time.now());
        // What was ordered before is about what was there before.
        while orders.try_recv().is_ok() {}
        if inputs.send((id, Input::Opened)).await.is_err() {
            return;
        }
        let reason = converse(id, &mut port, &inputs, &mut orders).await;
        drop(port);
        backoff.handle_failed(time.now());
        let Some(reason) = reason else { return };
        tracing::info!("{}: {reason}", candidate.device.display());
        if inputs.send((id, Input::Closed(reason))).await.is_err() {
            return;
        }
    }
}

/// Reads and writes until the port fails or is to be closed; says why. `None`: nobody listens any more.
async fn converse(
    id: PortId,
    port: &mut SerialPort,
    inputs: &mpsc::Sender<(PortId, Input)>,
    orders: &mut mpsc::UnboundedReceiver<Order>,
) -> Option<String> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let input = tokio::select! {
            read = port.read(&mut buffer) => match read {
                Ok(length) => Input::Received(buffer.get(..length)?.to_vec()),
                Err(error) => return Some(error.to_string()),
            },
            order = orders.recv() => match order? {
                Order::Write(bytes) => match port.write_all(&bytes).await {
                    Ok(()) => Input::Written(bytes),
                    Err(error) => return Some(error.to_string()),
                },
                Order::Close(reason) => return Some(reason),
            },
        };
        inputs.send((id, input)).await.ok()?;
    }
}
