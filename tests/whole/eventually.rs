//! Waiting for something that another process does.

use core::time::Duration;
use std::thread;

use kiebitz::system_time::LiveTime;

/// Returns as soon as the condition holds; panics when it has not after `PATIENCE`.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let time = LiveTime::start();
    let end = time.now() + PATIENCE;
    while !holds() {
        assert!(time.now() < end, "not within {PATIENCE:?}: {what}");
        thread::sleep(PAUSE);
    }
}

/// Far longer than anything takes on a machine that has other things to do: only a failing test waits this long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);
