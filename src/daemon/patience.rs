//! What may wait for a disk, and how long the program waits for that.

use core::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use crate::exit::Stop;
use crate::progress::Progress;

/// What came of waiting.
#[derive(Debug)]
pub(super) enum Waited<T> {
    Done(T),
    /// It takes too long: the program goes on without it, and gets it here in the end.
    Late(oneshot::Receiver<T>),
    /// The program is to end.
    Stopped,
}

/// Pause between two looks at the progress of the work.
const LOOK: Duration = Duration::from_millis(250);
/// Silence of the disk that is worth a word.
const SLOW: Duration = Duration::from_secs(3);
/// Interval of the log's lines about work that goes on.
const SAY_EVERY: Duration = Duration::from_secs(15);
/// Further time for the start that systemd is asked for while work goes on.
const EXTENSION: Duration = Duration::from_secs(60);
/// Boards wait no longer than that, twice, for a disk that is silent.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(8);

/// Does what may wait for a disk on a thread of its own: not one of the runtime's, which would be waited for.
pub(super) fn beside<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<oneshot::Receiver<T>> {
    let (done, outcome) = oneshot::channel();
    let work = move || {
        // Nobody waits any more if it took too long.
        let _ = done.send(work());
    };
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.with_context(|| format!("cannot start the thread {name}"))?;
    Ok(outcome)
}

/// Waits for work with the disk. The limit counts only the time in which the work makes no `progress`: a disk that is
/// silent is given up, and a slow computer is not.
pub(super) async fn wait<T>(
    stop: &mut Stop,
    mut outcome: oneshot::Receiver<T>,
    at_most: Duration,
    progress: &Progress,
) -> Result<Waited<T>> {
    let mut looks = tokio::time::interval(LOOK);
    // A process that was stopped for a while, or got no time on the processor, looks once, not once for each pause.
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silence = Silence::new(progress.steps());
    let mut say_at = SAY_EVERY;
    loop {
        tokio::select! {
            biased;
            _ = stop.come() => return Ok(Waited::Stopped),
            done = &mut outcome => return done.map(Waited::Done).context("cannot start"),
            _ = looks.tick() => match silence.look(progress.steps(), at_most) {
                DiskProgress::Given => return Ok(Waited::Late(outcome)),
                DiskProgress::Slow => {
                    tracing::warn!("the disk is slow to answer; in a few seconds, boards are watched without it");
                }
                DiskProgress::Working(worked) => {
                    extend();
                    if worked >= say_at {
                        say_at = worked + SAY_EVERY;
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

/// Tells systemd that the start goes on. Outside systemd this does nothing.
fn extend() {
    let micros = u32::try_from(EXTENSION.as_micros()).unwrap_or(u32::MAX);
    let _ = sd_notify::notify(&[
        sd_notify::NotifyState::ExtendTimeoutUsec(micros),
        sd_notify::NotifyState::Watchdog,
    ]);
}

/// How long work has made no progress, counted in looks.
#[derive(Debug)]
struct Silence {
    steps: u64,
    /// How many looks there were, and how many in a row since the last progress.
    looks: u32,
    silent: u32,
    said: bool,
}

/// What is found at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiskProgress {
    /// The work has made progress; it began that long ago.
    Working(Duration),
    /// It has made none, for less than the limit.
    Silent,
    /// The same, for so long that it is worth a word. Once.
    Slow,
    /// It has made none for the limit.
    Given,
}

impl Silence {
    const fn new(steps: u64) -> Self {
        Self {
            steps,
            looks: 0,
            silent: 0,
            said: false,
        }
    }

    fn look(&mut self, steps: u64, at_most: Duration) -> DiskProgress {
        // The first look is at once.
        let before = self.looks;
        self.looks += 1;
        if self.steps != steps {
            (self.steps, self.silent) = (steps, 0);
            return DiskProgress::Working(LOOK * before);
        }
        self.silent += u32::from(before > 0);
        let silent = LOOK * self.silent;
        if silent >= at_most {
            DiskProgress::Given
        } else if silent >= SLOW && !self.said {
            self.said = true;
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
    fn only_silence_counts_however_long_the_work_takes() {
        let mut silence = Silence::new(0);
        for steps in 0..10_000 {
            assert_ne!(
                silence.look(steps / 20, MAX_WAIT),
                DiskProgress::Given,
                "a step in five seconds"
            );
        }
        let silent = (0..).take_while(|_| silence.look(10_000, MAX_WAIT) != DiskProgress::Given);
        assert_eq!(LOOK * silent.count() as u32, MAX_WAIT);
    }

    #[test]
    fn a_disk_that_is_silent_is_named_once_and_given_up() {
        let mut silence = Silence::new(7);
        let looks: Vec<DiskProgress> = (0..=MAX_WAIT.as_millis() / LOOK.as_millis())
            .map(|_| silence.look(7, MAX_WAIT))
            .collect();
        assert_eq!(
            looks.iter().filter(|look| **look == DiskProgress::Slow).count(),
            1
        );
        assert_eq!(
            looks.iter().position(|look| *look == DiskProgress::Given),
            Some(looks.len() - 1)
        );
        assert_eq!(Silence::new(0).look(0, Duration::ZERO), DiskProgress::Given);
    }
}
