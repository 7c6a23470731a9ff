//! When the next attempt to connect is made, and which failures are worth a line in the log.

use core::time::Duration;

use kiebitz_hardware::Timestamp;

use crate::outputs::mqtt::lost::LostReason;
use crate::system_time::LiveTime;

/// Counts attempts that failed, and connections that did not last.
#[derive(Debug)]
pub(super) struct Attempts {
    failed: u32,
    /// Before the next attempt.
    pause: Duration,
    /// Since when a connection stands.
    stands: Option<(LiveTime, Timestamp)>,
    /// How many connections in a row were closed without a word as soon as they stood.
    brief: u32,
    /// Which reasons are in the log already.
    told: Vec<String>,
}

/// A connection that is lost, or could not be made.
#[derive(Debug)]
pub(super) struct ConnectionFailure {
    pub(super) reason: LostReason,
    /// How many attempts have failed in a row.
    pub(super) failed: u32,
    /// Whether the log does not say so yet.
    pub(super) is_news: bool,
    /// Before the next attempt.
    pub(super) pause: Duration,
}

/// The pause after the first failed attempt; every further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause before a broker is tried that may be back at any time: whoever watches notices no longer one.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause where the broker is there and people have to do something first.
const MAX_PAUSE_FOR_PEOPLE: Duration = Duration::from_secs(15);
/// A broker that closes a connection sooner after it accepted it, without a word, has given the client id to another.
const BRIEF: Duration = Duration::from_secs(5);
/// A connection that has lasted so long makes all earlier trouble an old story.
const LASTING: Duration = Duration::from_secs(60);
/// So many different reasons are remembered.
const MAX_TOLD: usize = 20;

impl Attempts {
    pub(super) fn new() -> Self {
        Self {
            failed: 0,
            pause: FIRST_PAUSE,
            stands: None,
            brief: 0,
            told: Vec::new(),
        }
    }

    /// Notes a connection. Returns how many attempts failed before.
    pub(super) fn connected(&mut self) -> u32 {
        let time = LiveTime::start();
        let since = time.now();
        self.stands = Some((time, since));
        core::mem::take(&mut self.failed)
    }

    /// Notes that messages arrive.
    pub(super) fn delivered(&mut self) {
        self.pause = FIRST_PAUSE;
    }

    /// Notes that there is no connection any more; `client_id` is what the broker knows it by.
    pub(super) fn lost(&mut self, reason: LostReason, client_id: &str) -> ConnectionFailure {
        let stood = self.stands.take();
        let stood = stood.map(|(time, since)| time.now().saturating_duration_since(since));
        self.lost_after(stood, reason, client_id)
    }

    /// The same for a connection that has stood so long; `None`: it could not be made.
    fn lost_after(
        &mut self,
        stood: Option<Duration>,
        reason: LostReason,
        client_id: &str,
    ) -> ConnectionFailure {
        let brief = stood.is_some_and(|stood| stood < BRIEF) && matches!(reason, LostReason::Closed);
        self.brief = if brief { self.brief + 1 } else { 0 };
        let reason = match reason {
            LostReason::Closed if self.brief > 1 => LostReason::ProbablyTakenOver {
                client_id: client_id.to_owned(),
            },
            reason => reason,
        };
        self.failed += 1;
        ConnectionFailure {
            failed: self.failed,
            is_news: self.is_news(stood, &reason),
            pause: self.next_pause(&reason),
            reason,
        }
    }

    fn is_news(&mut self, stood: Option<Duration>, reason: &LostReason) -> bool {
        if stood.is_some_and(|stood| stood > LASTING) || self.told.len() >= MAX_TOLD {
            self.told.clear();
        }
        let said = reason.to_string();
        if self.told.contains(&said) {
            // That a connection is lost is always news, unless two programs take it from each other in turns.
            return stood.is_some() && !reason.is_taken_over();
        }
        self.told.push(said);
        true
    }

    fn next_pause(&mut self, reason: &LostReason) -> Duration {
        let longest = match reason.needs_people() {
            true => MAX_PAUSE_FOR_PEOPLE,
            false => MAX_PAUSE,
        };
        let pause = match reason.is_taken_over() {
            true => longest,
            false => self.pause.min(longest),
        };
        self.pause = (pause * 2).min(longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Option<Duration> = Some(Duration::from_millis(200));
    const LONG: Option<Duration> = Some(Duration::from_secs(3600));

    fn lost(attempts: &mut Attempts, stood: Option<Duration>, reason: LostReason) -> ConnectionFailure {
        attempts.lost_after(stood, reason, "kiebitz-pi-1")
    }

    fn refused() -> LostReason {
        let user = "club".to_owned();
        LostReason::LoginRefused { user }
    }

    #[test]
    fn broker_that_may_be_back_is_tried_every_second() {
        let mut attempts = Attempts::new();
        let pauses: Vec<u128> = (0..6)
            .map(|_| lost(&mut attempts, None, LostReason::NoAnswer).pause.as_millis())
            .collect();
        assert_eq!(pauses, [250, 500, 1000, 1000, 1000, 1000]);
        attempts.connected();
        attempts.delivered();
        assert_eq!(lost(&mut attempts, LONG, LostReason::Closed).pause, FIRST_PAUSE);
    }

    #[test]
    fn broker_that_refuses_is_left_alone_for_longer() {
        let mut attempts = Attempts::new();
        let last = (0..10).map(|_| lost(&mut attempts, None, refused()).pause).last();
        assert_eq!(last, Some(MAX_PAUSE_FOR_PEOPLE));
        assert_eq!(
            lost(&mut attempts, None, LostReason::NoAnswer).pause,
            MAX_PAUSE,
            "it is restarted, perhaps to be mended"
        );
    }

    #[test]
    fn one_reason_is_told_once() {
        let mut attempts = Attempts::new();
        let mut news = |stood, reason| lost(&mut attempts, stood, reason).is_news;
        assert!(news(None, refused()));
        assert!(!news(None, refused()));
        assert!(news(None, LostReason::NoAnswer), "another one");
        assert!(!news(None, refused()));
        assert!(news(LONG, LostReason::Closed));
        assert!(news(None, refused()), "that was long ago");
        assert!(news(SHORT, LostReason::NoAnswer));
        assert!(news(SHORT, LostReason::NoAnswer), "a connection was lost again");
    }

    #[test]
    fn silent_taking_over_is_recognised() {
        let mut attempts = Attempts::new();
        let first = lost(&mut attempts, SHORT, LostReason::Closed);
        assert!(matches!(first.reason, LostReason::Closed), "{:?}", first.reason);
        let second = lost(&mut attempts, SHORT, LostReason::Closed);
        let said = second.reason.to_string();
        assert!(
            said.contains("another program uses the client id kiebitz-pi-1"),
            "{said}"
        );
        assert!(second.is_news);
        assert_eq!(second.pause, MAX_PAUSE_FOR_PEOPLE);
        assert!(
            !lost(&mut attempts, SHORT, LostReason::Closed).is_news,
            "in turns"
        );
    }

    #[test]
    fn broker_that_is_restarted_takes_nothing_over() {
        let mut attempts = Attempts::new();
        for _ in 0..3 {
            let failure = lost(&mut attempts, SHORT, LostReason::Closed);
            assert!(!failure.reason.is_taken_over());
            lost(&mut attempts, None, LostReason::NoAnswer);
        }
        for _ in 0..3 {
            assert!(
                !lost(&mut attempts, LONG, LostReason::Closed)
                    .reason
                    .is_taken_over()
            );
        }
    }
}
