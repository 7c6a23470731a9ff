//! Tests of outputs, which operators run before a round: whether a delivery reaches its destination.

use core::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// A test of one output.
#[derive(Clone)]
pub(crate) struct Trial {
    /// Name of the output in the status.
    name: String,
    begin: Arc<dyn Fn() -> Trying + Send + Sync>,
}

type Trying = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

impl Trial {
    /// Creates a test. `begin` runs it; its error is the reason why a delivery fails.
    pub(in crate::outputs) fn new<F: Future<Output = Result<(), String>> + Send + 'static>(
        name: String,
        begin: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            begin: Arc::new(move || Box::pin(begin())),
        }
    }

    pub(in crate::outputs) fn name(&self) -> &str {
        &self.name
    }

    /// Runs the test. The error is the reason why a delivery fails.
    pub(in crate::outputs) async fn try_out(&self) -> Result<(), String> {
        (self.begin)().await
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trial").field(&self.name).finish()
    }
}
