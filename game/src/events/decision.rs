//! Author and time of a decision.

use kiebitz_hardware::Timestamp;
use serde::Serialize;

use super::rfc3339;

/// Author and time of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Name of the arbiter, as in the command.
    pub by: String,
    /// Arrival of the command.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
}
