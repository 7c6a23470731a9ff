//! shim: the incidents come from elsewhere
use kiebitz_hardware::Timestamp;

use super::Referee;
use crate::command::CloseIncident;

impl Referee {
    pub(super) fn has_open_incident(&self, _incident: u64) -> bool {
        false
    }
    pub(super) fn close_incident(&mut self, _now: Timestamp, _by: &str, _close: &CloseIncident) {}
}
