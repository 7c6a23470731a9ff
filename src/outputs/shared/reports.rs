//! How the outputs fare, for people.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kiebitz_game::events::rfc3339_option;
use kiebitz_hardware::Timestamp;
use serde::Serialize;

/// The broker's name among the outputs.
pub(crate) const BROKER: &str = "broker";

/// What each output did last, by its name; shared by all who say and ask it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reports {
    outputs: Arc<Mutex<BTreeMap<String, OutputReport>>>,
}

/// How an output fares.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct OutputReport {
    /// Nothing about it needs a person.
    pub ok: bool,
    /// When it last got something to where it belongs.
    #[serde(serialize_with = "rfc3339_option")]
    pub last: Option<Timestamp>,
    /// What it did last, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub did: String,
    /// What does need a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Reports {
    /// There is an output of that name, which has done nothing yet.
    pub(crate) fn expect(&self, output: &str) {
        self.update(output, |report| report.ok = true);
    }

    /// An output got something to where it belongs. Returns whether it had failed before.
    pub(crate) fn done(&self, output: &str, at: Timestamp, did: String) -> bool {
        self.update(output, |report| {
            (report.last, report.did) = (Some(at), did);
            !core::mem::replace(&mut report.ok, true) | !core::mem::take(&mut report.problems).is_empty()
        })
    }

    /// An output failed, or needs a person although it did not. Returns whether that is new.
    pub(crate) fn problems(&self, output: &str, problems: Vec<String>) -> bool {
        self.update(output, |report| {
            let is_new = report.problems != problems;
            report.ok = problems.is_empty();
            report.problems = problems;
            is_new
        })
    }

    /// All of them, by name.
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
