use tokio::time::Instant;

/// Sleeps until `at`. Never returns for `None`, so that a `select!` arm without a deadline stays pending.
pub(crate) async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => core::future::pending().await,
    }
}
