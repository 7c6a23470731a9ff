//! Waits for effects of other processes.

use core::time::Duration;
use std::thread;

use kiebitz::system_time::LiveTime;

/// Waits until the condition holds. Panics after `PATIENCE`.
pub(crate) fn eventually(goal: &str, mut holds: impl FnMut() -> bool) {
    let time = LiveTime::start();
    let end = time.now() + PATIENCE;
    while !holds() {
        assert!(time.now() < end, "not within {PATIENCE:?}: {goal}");
        thread::sleep(PAUSE);
    }
}

/// Timeout, far above any expected duration on a busy machine. Only failing tests wait this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
/// Pause between two checks.
const PAUSE: Duration = Duration::from_millis(50);
