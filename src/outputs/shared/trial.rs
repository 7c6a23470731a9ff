//! Tests whether deliveries of an output reach their destination. Operators run them before a round.

use core::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// A test of one output.
#[derive(Clone)]
pub(crate) struct Trial {
    /// Name of the output in the status.
    name: String,
    /// Whether the output is an alarm, which arbiters may test too.
    is_alarm: bool,
    begin: Arc<dyn Fn() -> TrialFuture + Send + Sync>,
}

/// The recipient's answer, which is empty if recipients only accept or reject; or the reason why the delivery failed.
pub(crate) type TrialResult = Result<String, String>;

type TrialFuture = Pin<Box<dyn Future<Output = TrialResult> + Send>>;

/// The tests of all outputs. Outputs may add theirs when they start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trials(Arc<Mutex<Vec<Trial>>>);

impl Trials {
    pub(in crate::outputs) fn add(&self, trials: impl IntoIterator<Item = Trial>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(trials);
    }

    pub(in crate::outputs) fn alarms(&self) -> Vec<Trial> {
        let mut all = self.all();
        all.retain(|trial| trial.is_alarm);
        all
    }

    pub(in crate::outputs) fn all(&self) -> Vec<Trial> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Trial {
    /// Creates a test, which `begin` starts.
    pub(in crate::outputs) fn new<F: Future<Output = TrialResult> + Send + 'static>(
        name: String,
        begin: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            is_alarm: false,
            begin: Arc::new(move || Box::pin(begin())),
        }
    }

    pub(in crate::outputs) fn of_alarm(self) -> Self {
        Self {
            is_alarm: true,
            ..self
        }
    }

    pub(in crate::outputs) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::outputs) fn is_alarm(&self) -> bool {
        self.is_alarm
    }

    pub(in crate::outputs) async fn try_out(&self) -> TrialResult {
        (self.begin)().await
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trial").field(&self.name).finish()
    }
}
