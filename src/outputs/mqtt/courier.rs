//! An outbox together with its running task.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::backlog::Backlog;
use super::inlet::Received;
use super::outbox::Outbox;
use super::settings::MqttConfig;
use super::topics::TopicError;

/// An [`Outbox`] with a task that delivers to the broker until this handle is [stopped](Self::stop) or dropped.
#[derive(Debug)]
pub struct Courier {
    outbox: Outbox,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Courier {
    /// Starts delivery in a new task, see [`Outbox::connect`]. Commands from the broker go to `commands`; if it is
    /// `None`, the task does not subscribe to commands. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the daemon's host name cannot be part of a topic.
    pub fn start(
        config: MqttConfig,
        backlog: Option<Arc<dyn Backlog>>,
        commands: Option<mpsc::Sender<Received>>,
    ) -> Result<Self, TopicError> {
        let (outbox, task) = Outbox::connect(config, backlog)?;
        let task = task.with_commands(commands);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(task.run(async {
            // Dropping the sender stops the task as well.
            let _ = stopped.await;
        }));
        Ok(Self { outbox, stop, task })
    }

    /// The outbox for messages.
    #[must_use]
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Delivers the remaining messages if the broker accepts them in time, publishes the offline state, and
    /// disconnects.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        // The task has already logged any failure.
        let _ = self.task.await;
    }
}
