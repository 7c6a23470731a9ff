//! Runs work that may block on a disk, and limits the time for which the program waits for the result.

use core::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use crate::exit::Stop;
use crate::progress::Progress;

#[derive(Debug)]
pub(super) enum Waited<T> {
    Done(T),
    /// The work takes too long. The program continues, and receives the result here later.
    Late(oneshot::Receiver<T>),
    Stopped,
}

/// Interval at which the progress of the work is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Silence of the disk after which a warning is logged.
const SLOW: Duration = Duration::from_secs(3);
/// Interval between log lines about work in progress.
const LOG_INTERVAL: Duration = Duration::from_secs(15);
/// Extension of the start timeout that is requested from systemd while the work goes on.
const EXTENSION: Duration = Duration::from_secs(60);
/// Maximum time without progress before the program continues without the disk. Boards wait for it at most twice.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(8);

/// Runs work that may block on a disk on its own thread, because the runtime would wait for its blocking threads at the
/// end of the program.
pub(super) fn spawn_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let (done, outcome) = oneshot::channel();
    let work = move || {
        // The receiver is gone if the work took too long.
        let _ = done.send(work());
    };
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.with_context(|| format!("cannot start the thread {name}"))?;
    Ok(outcome)
}

/// Waits for work with the disk. Only time without `progress` counts towards the limit `at_most`, which therefore ends
/// the wait for a silent disk but not for a slow computer.
pub(super) async fn wait<T>(
    stop: &mut Stop,
    mut outcome: oneshot::Receiver<T>,
    at_most: Duration,
    progress: &Progress,
) -> Result<Waited<T>> {
    let mut checks = tokio::time::interval(CHECK_INTERVAL);
    // After a suspension of the whole process, check once instead of once for each missed tick.
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silence = Silence::new(progress.steps());
    let mut log_at = LOG_INTERVAL;
    loop {
        tokio::select! {
            biased;
            _ = stop.come() => return Ok(Waited::Stopped),
            done = &mut outcome => return done.map(Waited::Done).context("cannot start"),
            _ = checks.tick() => match silence.check(progress.steps(), at_most) {
                DiskProgress::GivenUp => return Ok(Waited::Late(outcome)),
                DiskProgress::Slow => {
                    tracing::warn!("the disk is slow to answer; in a few seconds, boards are watched without it");
                }
                DiskProgress::Working(worked) => {
                    extend();
                    if worked >= log_at {
                        log_at = worked + LOG_INTERVAL;
                        tracing::info!(
                            "still restoring games from the recordings, for {} s so far; boards are watched \
                             after that",
                            worked.as_secs()
                        );
                    }
                }
                DiskProgress::Silent => {}
            }
        }
    }
}

/// Asks systemd for more time to start. Outside systemd this does nothing.
fn extend() {
    let micros = u32::try_from(EXTENSION.as_micros()).unwrap_or(u32::MAX);
    let _ = sd_notify::notify(&[
        sd_notify::NotifyState::ExtendTimeoutUsec(micros),
        sd_notify::NotifyState::Watchdog,
    ]);
}

/// Measures the time without progress, counted in checks.
#[derive(Debug)]
struct Silence {
    steps: u64,
    /// Number of checks, and number of the latest consecutive checks without progress.
    checks: u32,
    silent: u32,
    warned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskProgress {
    /// The work has made progress. Contains the time since its start.
    Working(Duration),
    Silent,
    /// The work has made no progress for [`SLOW`]; returned once.
    Slow,
    /// The work has made no progress for the whole limit.
    GivenUp,
}

impl Silence {
    const fn new(steps: u64) -> Self {
        Self {
            steps,
            checks: 0,
            silent: 0,
            warned: false,
        }
    }

    fn check(&mut self, steps: u64, at_most: Duration) -> DiskProgress {
        // The first check comes immediately, at time zero.
        let before = self.checks;
        self.checks += 1;
        if self.steps != steps {
            (self.steps, self.silent) = (steps, 0);
            return DiskProgress::Working(CHECK_INTERVAL * before);
        }
        self.silent += u32::from(before > 0);
        let silent = CHECK_INTERVAL * self.silent;
        if silent >= at_most {
            DiskProgress::GivenUp
        } else if silent >= SLOW && !self.warned {
            self.warned = true;
            DiskProgress::Slow
        } else {
            DiskProgress::Silent
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_without_progress_counts() {
        let mut silence = Silence::new(0);
        for steps in 0..10_000 {
            assert_ne!(
                silence.check(steps / 20, MAX_WAIT),
                DiskProgress::GivenUp,
                "a step in five seconds"
            );
        }
        let silent = (0..).take_while(|_| silence.check(10_000, MAX_WAIT) != DiskProgress::GivenUp);
        assert_eq!(CHECK_INTERVAL * silent.count() as u32, MAX_WAIT);
    }

    #[test]
    fn a_silent_disk_is_reported_once_and_given_up() {
        let mut silence = Silence::new(7);
        let checks: Vec<DiskProgress> = (0..=MAX_WAIT.as_millis() / CHECK_INTERVAL.as_millis())
            .map(|_| silence.check(7, MAX_WAIT))
            .collect();
        assert_eq!(
            checks
                .iter()
                .filter(|check| **check == DiskProgress::Slow)
                .count(),
            1
        );
        assert_eq!(
            checks.iter().position(|check| *check == DiskProgress::GivenUp),
            Some(checks.len() - 1)
        );
        assert_eq!(Silence::new(0).check(0, Duration::ZERO), DiskProgress::GivenUp);
    }
}
