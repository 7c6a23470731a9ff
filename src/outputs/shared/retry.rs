//! Waits before another attempt.

use tokio::time::Instant;

/// Lets other tasks work until `at`; with `None` it never ends, for an arm of a `select!` that has nothing to wait for.
pub(crate) async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => core::future::pending().await,
    }
}
