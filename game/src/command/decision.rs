//! Decisions of arbiters, which another arbiter must not replace unawares.

use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};

use crate::events::{Decision, rfc3339, time};

/// A decision that stands in the way of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingDecision {
    /// Who decided.
    pub by: String,
    /// When.
    #[serde(serialize_with = "rfc3339", deserialize_with = "time")]
    pub at: Timestamp,
    /// What was decided.
    pub decision: String,
}

impl StandingDecision {
    /// The decision that a command of `by` would replace; `None` if there is none, or the command says that it replaces it.
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
