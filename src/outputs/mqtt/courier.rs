//! An outbox with its task at work.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::backlog::Backlog;
use super::inlet::Received;
use super::outbox::Outbox;
use super::settings::MqttConfig;
use super::topics::TopicError;

/// An [`Outbox`] whose task delivers to the broker until it is [stopped](Self::stop), or this is dropped.
#[derive(Debug)]
pub struct Courier {
    outbox: Outbox,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Courier {
    /// Starts to deliver, in a task of its own; see [`Outbox::connect`]. Needs a tokio runtime around it. Commands that the
    /// broker has for the boards go to `commands`; without it they are not asked for.
    ///
    /// # Errors
    ///
    /// [`TopicError`] when the daemon's host name cannot be part of a topic.
    pub fn start(
        config: MqttConfig,
        backlog: Option<Arc<dyn Backlog>>,
        commands: Option<mpsc::Sender<Received>>,
    ) -> Result<Self, TopicError> {
        let (outbox, task) = Outbox::connect(config, backlog)?;
        let task = task.with_commands(commands);
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(task.run(async {
            // Dropping the sender stops it as well.
            let _ = stopped.await;
        }));
        Ok(Self { outbox, stop, task })
    }

    /// Where messages are handed over.
    #[must_use]
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Delivers what is left, as far as the broker takes it, publishes that the daemon is offline, and disconnects.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        // The task has logged what went wrong.
        let _ = self.task.await;
    }
}
