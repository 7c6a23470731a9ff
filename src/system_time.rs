//! Reads the system's clocks and time zone, and waits for times. No other module does.
//!
//! All other code gets the time as an argument, so that a replay yields the same events as the live run.

use core::fmt;
use core::ops::Add;
use core::str::FromStr;
use core::task::Poll;
use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;
use thiserror::Error;

/// The speed of a replay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// Multiple of the recorded speed; 1 is real time.
    Times(f64),
    /// As fast as the machine allows.
    Max,
}

/// Error for a text that is not a speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected `realtime`, `max` or a factor such as 10 (ten times as fast as recorded)")]
pub struct NoSpeed;

/// Paces a replay by the system's monotonic clock.
#[derive(Debug, Clone)]
pub struct Pace {
    speed: Speed,
    /// Recorded time of the first step, and the instant at which it was taken.
    began: Option<(Timestamp, Instant)>,
}

/// Longest wait for a single step in seconds, about eleven days. A longer wait results from a typing error or a wrong
/// clock in the capture, and might overflow an [`Instant`].
const LONGEST_WAIT: f64 = 1e6;
/// The slowest speed: replaying a day takes a month.
const SLOWEST: f64 = 1.0 / 32.0;

impl FromStr for Speed {
    type Err = NoSpeed;

    fn from_str(text: &str) -> Result<Self, NoSpeed> {
        match text {
            "max" => Ok(Self::Max),
            "realtime" => Ok(Self::Times(1.0)),
            _ => {
                let times = text.trim_end_matches(['x', '×']).parse().map_err(|_| NoSpeed)?;
                let plausible = (SLOWEST..=f64::MAX).contains(&times);
                plausible.then_some(Self::Times(times)).ok_or(NoSpeed)
            }
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(1.0) => f.write_str("realtime"),
            Self::Times(times) => write!(f, "{times}"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl Pace {
    /// Creates a pace that begins with its first step.
    #[must_use]
    pub fn new(speed: Speed) -> Self {
        Self { speed, began: None }
    }

    /// Time from now until the step recorded at `at` is due; zero if it is already due.
    pub fn until(&mut self, at: Timestamp) -> Duration {
        let Speed::Times(times) = self.speed else {
            return Duration::ZERO;
        };
        let now = now();
        let (first, began) = *self.began.get_or_insert((at, now));
        let recorded = at.saturating_duration_since(first).as_secs_f64();
        let due = began + Duration::from_secs_f64((recorded / times).min(LONGEST_WAIT));
        due.saturating_duration_since(now)
    }

    /// Waits asynchronously until the step recorded at `at` is due.
    pub async fn pass(&mut self, at: Timestamp) {
        let wait = self.until(at);
        if wait.is_zero() {
            // Even the shortest sleep lasts for a tick of the runtime's clock, which is a millisecond.
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(wait).await;
        }
    }

    /// Blocks the thread until the step recorded at `at` is due.
    pub fn wait(&mut self, at: Timestamp) {
        let wait = self.until(at);
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
    }
}

/// The time of live operation: the wall clock at the start, continued by the monotonic clock, so that setting the
/// system's clock back does not change the order of moves. Clones give the same time.
#[derive(Debug, Clone)]
pub struct LiveTime {
    wall: Timestamp,
    began: Instant,
    steps: Arc<Steps>,
}

/// The steps of the wall clock since the start, in microseconds.
#[derive(Debug, Default)]
struct Steps {
    /// Sum of the forward steps that this time has followed.
    ahead: AtomicU64,
    /// Current lag of the wall clock behind this time after it was set back.
    behind: AtomicU64,
}

/// A time on the monotonic clock of this process, for waiting and expiry. Steps of the computer's clock do not affect
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

/// The present time on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The time that dates events.
    pub time: Timestamp,
    /// The time that measures waiting.
    pub moment: Moment,
}

/// Instant of the first call for a [`Moment`].
static FIRST: OnceLock<Instant> = OnceLock::new();
/// Value of the first moment, large enough that moments before it are possible.
const FIRST_MOMENT: Duration = Duration::from_secs(1 << 36);

impl Moment {
    /// The moment `first` after the first moment of the process.
    #[must_use]
    pub const fn after(first: Duration) -> Self {
        Self(FIRST_MOMENT.saturating_add(first))
    }

    /// The moment `time` before this one.
    #[must_use]
    pub const fn before(self, time: Duration) -> Self {
        Self(self.0.saturating_sub(time))
    }

    /// Time since an earlier moment; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Waits asynchronously until this moment.
    pub async fn reached(self) {
        let wait = self.0.saturating_sub(FIRST_MOMENT);
        let due = *FIRST.get_or_init(now) + wait.min(Duration::from_secs_f64(LONGEST_WAIT));
        tokio::time::sleep_until(due.into()).await;
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }
}

/// The present moment.
#[must_use]
pub fn moment() -> Moment {
    let first = *FIRST.get_or_init(now);
    Moment::after(now().saturating_duration_since(first))
}

/// A step of the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// Time just before the step.
    pub at: Timestamp,
    /// Size of the step in microseconds, negative if the clock was set back.
    pub micros: i64,
}

/// Deviation of the wall clock that counts as a step; less is drift.
const SET: Duration = Duration::from_secs(2);

impl LiveTime {
    /// Starts at the wall clock's time.
    #[must_use]
    pub fn start() -> Self {
        Self::after(Timestamp::from_micros(i64::MIN))
    }

    /// Starts at the wall clock's time, but after `until` even if the wall clock was set back since.
    #[must_use]
    pub fn after(until: Timestamp) -> Self {
        let (wall, first) = (wall_time(), until + Duration::from_micros(1));
        let behind = first.saturating_duration_since(wall);
        let steps = Steps {
            ahead: AtomicU64::new(0),
            behind: AtomicU64::new(micros(behind)),
        };
        Self {
            wall: wall.max(first),
            began: now(),
            steps: Arc::new(steps),
        }
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.wall + now().saturating_duration_since(self.began) + self.ahead()
    }

    /// The current time on both clocks.
    #[must_use]
    pub fn present(&self) -> Now {
        Now {
            time: self.now(),
            moment: moment(),
        }
    }

    /// Follows the system's clock if it was set forward, as on a computer without a battery-backed clock once it has a
    /// network, and detects if it was set back. Returns the step.
    pub fn keep_up(&self) -> Option<ClockStep> {
        self.keep_up_with(wall_time())
    }

    fn keep_up_with(&self, wall: Timestamp) -> Option<ClockStep> {
        let at = self.now();
        let behind = Duration::from_micros(self.steps.behind.load(Ordering::Relaxed));
        let expected = at.saturating_sub(behind);
        let back = expected.saturating_duration_since(wall);
        if back >= SET {
            self.steps.behind.fetch_add(micros(back), Ordering::Relaxed);
            let micros = i64::try_from(micros(back)).ok()?;
            return Some(ClockStep { at, micros: -micros });
        }
        let forward = wall.saturating_duration_since(expected);
        if forward < SET {
            return None;
        }
        // After a step back, a forward step first catches up with this time.
        let caught_up = forward.min(behind);
        self.steps.behind.fetch_sub(micros(caught_up), Ordering::Relaxed);
        let forward = micros(forward.saturating_sub(caught_up));
        self.steps.ahead.fetch_add(forward, Ordering::Relaxed);
        let micros = i64::try_from(forward).ok().filter(|micros| *micros > 0)?;
        Some(ClockStep { at, micros })
    }

    /// Waits asynchronously until the time `at`.
    pub async fn until(&self, at: Timestamp) {
        let wait = at.saturating_duration_since(self.wall + self.ahead());
        let due = self.began + wait.min(Duration::from_secs_f64(LONGEST_WAIT));
        tokio::time::sleep_until(due.into()).await;
    }

    /// Is ready if the task is polled after the time `at`. Does not wake the task.
    pub async fn is_past(&self, at: Timestamp) {
        core::future::poll_fn(|_| match self.now() > at {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    fn ahead(&self) -> Duration {
        Duration::from_micros(self.steps.ahead.load(Ordering::Relaxed))
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The wall clock, for times outside the stream of events, such as the start of the daemon.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "the one reading of the system's wall clock"
)]
pub fn wall_time() -> Timestamp {
    let since_1970 = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::from_micros(0) + since_1970
}

/// The time zone of this computer, for texts that people read.
#[must_use]
pub fn local_zone() -> TimeZone {
    TimeZone::system()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one reading of the system's monotonic clock"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_words_or_numbers() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("realtime".parse(), Ok(Speed::Times(1.0)));
        assert_eq!("10".parse(), Ok(Speed::Times(10.0)));
        assert_eq!("2.5x".parse(), Ok(Speed::Times(2.5)));
    }

    #[test]
    fn endless_and_invalid_speeds_are_rejected() {
        for text in ["0", "-1", "1e-9", "inf", "NaN", "", "x", "fast"] {
            assert_eq!(text.parse::<Speed>(), Err(NoSpeed), "{text}");
        }
    }

    #[test]
    fn time_follows_a_clock_that_is_set_forward_and_not_one_that_is_set_back() {
        let time = LiveTime::start();
        let seconds = Duration::from_secs;
        let wall = |at: Timestamp| time.keep_up_with(at).map(|step| step.micros / 1_000_000);
        assert_eq!(wall(time.now()), None);
        // Tolerance of one second, as the test itself takes time.
        let near = |step: Option<i64>, by: i64| step.is_some_and(|step| (step - by).abs() <= 1);
        let before = time.now();
        assert!(near(wall(before.saturating_sub(seconds(3600))), -3600));
        assert!(time.now() >= before, "it does not go back");
        assert_eq!(wall(time.now().saturating_sub(seconds(3600))), None, "told once");
        assert_eq!(wall(time.now()), None, "it has caught up");
        assert!(near(wall(time.now() + seconds(7200)), 7200));
        assert!(time.now() >= before + seconds(7199));
    }

    #[test]
    fn time_follows_steps_of_any_size_and_never_goes_back() {
        let time = LiveTime::start();
        let (mut wall, mut before) = (time.now(), time.now());
        let day = 86_400;
        let steps = [
            3_i64,
            -3,
            60,
            -7200,
            26 * 3600,
            -26 * 3600,
            40 * 365 * day,
            -41 * 365 * day,
            365 * day,
        ];
        for step in steps {
            let by = Duration::from_secs(step.unsigned_abs());
            wall = if step < 0 {
                wall.saturating_sub(by)
            } else {
                wall + by
            };
            let ahead = wall.saturating_duration_since(before);
            let reported = time.keep_up_with(wall);
            let now = time.now();
            assert!(now >= before && now >= wall, "{step} s");
            let followed = reported.map_or(0, |reported| reported.micros.max(0) / 1_000_000);
            let expected = i64::try_from(ahead.as_secs()).expect("years");
            assert!(
                (followed - expected).abs() <= 1,
                "{step} s: {followed} s, not {expected} s"
            );
            assert_eq!(time.keep_up_with(wall), None, "told once");
            before = now;
        }
    }

    #[test]
    fn moments_have_distances_that_no_step_changes() {
        let seconds = Duration::from_secs;
        let at = |second| Moment::after(seconds(second));
        assert_eq!(at(5).since(at(2)), seconds(3));
        assert_eq!(at(2).since(at(5)), Duration::ZERO);
        assert_eq!(at(2) + seconds(3), at(5));
        assert!(at(0).before(seconds(3)) < at(0));
        assert_eq!(at(0).before(seconds(3)) + seconds(3), at(0));
        assert!(moment() <= moment());
    }

    #[test]
    fn live_time_begins_after_the_last_known_time() {
        let later = wall_time() + Duration::from_secs(400 * 86_400);
        let time = LiveTime::after(later);
        assert!(time.now() > later);
        assert_eq!(time.keep_up(), None);
    }

    #[test]
    fn at_full_speed_no_step_waits() {
        let mut pace = Pace::new(Speed::Max);
        assert_eq!(pace.until(Timestamp::from_micros(0)), Duration::ZERO);
        assert_eq!(pace.until(Timestamp::from_micros(i64::MAX)), Duration::ZERO);
    }

    #[test]
    fn steps_are_due_at_their_distance_from_the_first() {
        let mut pace = Pace::new(Speed::Times(10.0));
        let first = Timestamp::from_micros(1_789_000_000_000_000);
        assert_eq!(pace.until(first), Duration::ZERO);
        let wait = pace.until(first + Duration::from_secs(100));
        assert!(
            wait <= Duration::from_secs(10) && wait > Duration::from_secs(8),
            "{wait:?}"
        );
        assert_eq!(
            pace.until(first.saturating_sub(Duration::from_secs(5))),
            Duration::ZERO
        );
    }

    #[test]
    fn absurd_distances_do_not_overflow() {
        let mut pace = Pace::new(Speed::Times(SLOWEST));
        pace.until(Timestamp::from_micros(i64::MIN));
        assert!(pace.until(Timestamp::from_micros(i64::MAX)) <= Duration::from_secs(1_000_000));
    }
}
