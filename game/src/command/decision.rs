//! Arbiters' decisions. An arbiter must not replace another arbiter's decision by accident.

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};

use crate::events::{Decision, rfc3339, time};

/// A decision by another arbiter that blocks a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingDecision {
    /// The arbiter who decided.
    pub by: String,
    /// Time of the decision.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub at: Timestamp,
    /// The decision, in words.
    pub decision: String,
}

impl StandingDecision {
    /// The decision that a command of `by` would replace; `None` if there is none, or if the command sets `replace`.
    #[must_use]
    pub fn against(
        decided: Option<&Decision>,
        by: &str,
        replace: bool,
        decision: impl Into<String>,
    ) -> Option<Self> {
        let decided = decided.filter(|decided| !replace && decided.by != by)?;
        Some(Self {
            by: decided.by.clone(),
            at: decided.at,
            decision: decision.into(),
        })
    }
}
