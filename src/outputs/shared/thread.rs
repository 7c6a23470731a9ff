//! Threads for work that the event loop of the boards must not wait for.

use std::io;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle};
use tokio::task::JoinSet;

/// A thread with a runtime of its own. It starts with its first task, and runs until the program ends.
#[derive(Debug)]
pub(in crate::outputs) struct Thread {
    name: &'static str,
    runtime: OnceLock<Option<Handle>>,
}

/// The thread of all web servers. The event loop therefore never waits for web clients, whatever they do.
pub(in crate::outputs) static WEB: Thread = Thread::named("web");
/// The thread that makes the files of the broadcast. Those of an event with thousands of pairings take seconds on a small
/// computer.
pub(in crate::outputs) static BROADCAST: Thread = Thread::named("broadcast");

impl Thread {
    const fn named(name: &'static str) -> Self {
        Self {
            name,
            runtime: OnceLock::new(),
        }
    }

    /// Runs a task on the thread, or else on the caller's. The task ends with the caller's runtime. Returns a task that
    /// ends with it.
    pub(in crate::outputs) fn spawn(
        &self,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> tokio::task::JoinHandle<()> {
        let runtime = self.runtime.get_or_init(|| {
            let started = start_runtime(self.name);
            if let Err(error) = &started {
                let name = self.name;
                tracing::warn!(
                    "boards may have to wait, because the thread \"{name}\" cannot start: {error}"
                );
            }
            started.ok()
        });
        let mut running = JoinSet::new();
        match runtime {
            Some(runtime) => running.spawn_on(task, runtime),
            None => running.spawn(task),
        };
        tokio::spawn(async move {
            running.join_next().await;
        })
    }
}

fn start_runtime(name: &str) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let work = move || runtime.block_on(core::future::pending::<()>());
    std::thread::Builder::new().name(name.to_owned()).spawn(work)?;
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use tokio::sync::{mpsc, oneshot};

    use super::*;

    static TESTED: Thread = Thread::named("tested");

    #[tokio::test]
    async fn a_task_that_blocks_its_thread_holds_up_no_other_thread() {
        static BLOCKED: Thread = Thread::named("blocked");
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (begin, begun) = oneshot::channel();
        let blocking = BLOCKED.spawn(async move {
            let name = std::thread::current().name().map(str::to_owned);
            let _ = begin.send(name);
            // Ends when the sender is dropped.
            let _ = released.recv();
        });
        assert_eq!(begun.await.expect("it runs").as_deref(), Some("blocked"));
        assert!(!blocking.is_finished());
        // If the task were on this thread, it would block it before the sender is dropped.
        let (sender, mut receiver) = mpsc::unbounded_channel();
        TESTED.spawn(async move {
            let _ = sender.send(());
        });
        assert_eq!(receiver.recv().await, Some(()), "another thread works");
        assert!(!blocking.is_finished());
        drop(release);
        blocking.await.expect("no panic");
    }

    #[test]
    fn a_task_ends_with_the_runtime_of_its_caller() {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let (begin, begun) = oneshot::channel();
        runtime.block_on(async {
            TESTED.spawn(async move {
                let _alive = alive;
                let _ = begin.send(());
                core::future::pending::<()>().await;
            });
            begun.await.expect("it runs");
        });
        assert!(
            ended
                .try_recv()
                .is_err_and(|error| error == mpsc::error::TryRecvError::Empty)
        );
        drop(runtime);
        assert_eq!(ended.blocking_recv(), None, "the task was dropped");
    }
}
