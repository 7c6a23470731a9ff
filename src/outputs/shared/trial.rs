//! What operators try out before a round: whether what is sent gets to where it belongs.

use core::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// Something that can be tried out.
#[derive(Clone)]
pub(crate) struct Trial {
    /// What it is called in the status.
    name: String,
    begin: Arc<dyn Fn() -> Trying + Send + Sync>,
}

type Trying = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

impl Trial {
    /// Of what `begin` tries out, which says why what is sent does not get there.
    pub(in crate::outputs) fn new<F: Future<Output = Result<(), String>> + Send + 'static>(
        name: String,
        begin: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            begin: Arc::new(move || Box::pin(begin())),
        }
    }

    /// What it is called in the status.
    pub(in crate::outputs) fn name(&self) -> &str {
        &self.name
    }

    /// Why what is sent does not get there.
    pub(in crate::outputs) async fn try_out(&self) -> Result<(), String> {
        (self.begin)().await
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trial").field(&self.name).finish()
    }
}
