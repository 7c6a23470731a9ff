//! Who decided.

use kiebitz_hardware::Timestamp;
use serde::Serialize;

use super::rfc3339;

/// Who decided something, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The name of the arbiter, as in the command.
    pub by: String,
    /// When the command came in.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
}
