//! Progress of long work. Tasks that wait for the work use it to distinguish slow work from a hanging disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter of steps, shared by its clones.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Counts a step.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of steps so far.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
