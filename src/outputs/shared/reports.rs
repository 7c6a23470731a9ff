//! Health reports of the outputs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kiebitz_game::events::rfc3339_option;
use kiebitz_hardware::Timestamp;
use serde::Serialize;

/// Name of the connection to the MQTT broker among the outputs.
pub(crate) const BROKER: &str = "broker";

/// Last action and problems of each output, by its name. Clones share one table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reports {
    outputs: Arc<Mutex<BTreeMap<String, OutputReport>>>,
}

/// Health of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OutputReport {
    /// Whether the output works without intervention.
    pub ok: bool,
    /// Time of the last successful delivery.
    #[serde(serialize_with = "rfc3339_option")]
    pub last: Option<Timestamp>,
    /// The last successful action, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub did: String,
    /// Problems that need somebody's attention.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Reports {
    /// Registers an output before its first delivery.
    pub(crate) fn expect(&self, output: &str) {
        self.update(output, |report| report.ok = true);
    }

    /// Reports a successful delivery. Returns whether the output had failed before.
    pub(crate) fn done(&self, output: &str, at: Timestamp, did: String) -> bool {
        self.update(output, |report| {
            (report.last, report.did) = (Some(at), did);
            !core::mem::replace(&mut report.ok, true) | !core::mem::take(&mut report.problems).is_empty()
        })
    }

    /// Reports the problems of an output; an empty list means that it works. Returns whether they are new.
    pub(crate) fn problems(&self, output: &str, problems: Vec<String>) -> bool {
        self.update(output, |report| {
            let is_new = report.problems != problems;
            report.ok = problems.is_empty();
            report.problems = problems;
            is_new
        })
    }

    pub(crate) fn all(&self) -> BTreeMap<String, OutputReport> {
        self.outputs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn update<T>(&self, output: &str, update: impl FnOnce(&mut OutputReport) -> T) -> T {
        let mut outputs = self.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        update(outputs.entry(output.to_owned()).or_default())
    }
}
