//! Decides when to connect again, and which failures to log.

use core::time::Duration;

use kiebitz_hardware::Timestamp;

use crate::outputs::mqtt::lost::LostReason;
use crate::system_time::LiveTime;

/// History of failed attempts and lost connections.
#[derive(Debug)]
pub(super) struct Attempts {
    failed: u32,
    pause: Duration,
    /// Start of the current connection.
    connected_since: Option<(LiveTime, Timestamp)>,
    /// Number of consecutive brief connections, which were closed without a reason soon after they were accepted.
    brief: u32,
    /// Number of consecutive connections that ended soon after they were accepted, for any reason.
    short: u32,
    logged: Vec<String>,
}

#[derive(Debug)]
pub(super) struct ConnectionFailure {
    pub(super) reason: LostReason,
    pub(super) failed: u32,
    /// Whether to log the failure as a warning.
    pub(super) is_news: bool,
    pub(super) pause: Duration,
    /// Whether there was a connection, and it did not end soon after it was accepted.
    pub(super) lasted: bool,
}

/// Pause after the first failed attempt. It doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Longest pause while the broker may return at any time. Viewers would notice a longer one.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause if only a person can correct the failure, or if several connections in a row were short.
const MAX_PAUSE_FOR_PEOPLE: Duration = Duration::from_secs(15);
/// A shorter connection counts as short, and as brief if it is closed without a reason. Two brief ones in a row suggest
/// that another client uses the same id.
const BRIEF: Duration = Duration::from_secs(5);
/// After a connection that lasted longer, all failures are logged again.
const LASTING: Duration = Duration::from_secs(60);
const MAX_LOGGED: usize = 20;

impl Attempts {
    pub(super) fn new() -> Self {
        Self {
            failed: 0,
            pause: FIRST_PAUSE,
            connected_since: None,
            brief: 0,
            short: 0,
            logged: Vec::new(),
        }
    }

    /// Records a new connection. Returns the number of failures before it.
    pub(super) fn connected(&mut self) -> u32 {
        let time = LiveTime::start();
        let since = time.now();
        self.connected_since = Some((time, since));
        core::mem::take(&mut self.failed)
    }

    /// Records that the cause of a lost connection is found and removed, which resets the pause.
    pub(super) fn explained(&mut self) {
        self.pause = FIRST_PAUSE;
        self.short = 0;
    }

    /// Records that the connection failed or was lost. `client_id` is the id that it used.
    pub(super) fn lost(&mut self, reason: LostReason, client_id: &str) -> ConnectionFailure {
        let stood = self.connected_since.take();
        let stood = stood.map(|(time, since)| time.now().saturating_duration_since(since));
        self.lost_after(stood, reason, client_id)
    }

    /// Like [`lost`](Self::lost), for a connection that lasted `stood`; `None` if there was no connection.
    fn lost_after(
        &mut self,
        stood: Option<Duration>,
        reason: LostReason,
        client_id: &str,
    ) -> ConnectionFailure {
        let lasted = stood.is_some_and(|stood| stood >= BRIEF);
        let short = stood.is_some() && !lasted;
        let brief = short && matches!(reason, LostReason::Closed);
        self.brief = if brief { self.brief + 1 } else { 0 };
        self.short = if short { self.short + 1 } else { 0 };
        if lasted {
            self.pause = FIRST_PAUSE;
        }
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
            lasted,
            reason,
        }
    }

    fn is_news(&mut self, stood: Option<Duration>, reason: &LostReason) -> bool {
        if stood.is_some_and(|stood| stood > LASTING) || self.logged.len() >= MAX_LOGGED {
            self.logged.clear();
        }
        let text = reason.to_string();
        if self.logged.contains(&text) {
            // The loss of a connection is always logged, unless two clients disconnect each other in turn, or the broker
            // ends every connection.
            return stood.is_some() && !reason.must_wait();
        }
        self.logged.push(text);
        true
    }

    fn next_pause(&mut self, reason: &LostReason) -> Duration {
        let longest = match reason.needs_people() || self.short > 1 {
            true => MAX_PAUSE_FOR_PEOPLE,
            false => MAX_PAUSE,
        };
        let pause = match reason.must_wait() {
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
    use crate::outputs::mqtt::lost::Refusal;

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
    fn pauses_grow_while_connections_are_short() {
        let mut attempts = Attempts::new();
        let mut pause = |stood| {
            let refused = lost(&mut attempts, stood, LostReason::TooLarge);
            refused.pause.as_millis()
        };
        let pauses: Vec<u128> = (0..8).map(|_| pause(SHORT)).collect();
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
        assert_eq!(pause(LONG), 250);
        pause(SHORT);
        pause(SHORT);
        attempts.explained();
        let next = lost(&mut attempts, SHORT, LostReason::TooLarge);
        assert_eq!(next.pause, FIRST_PAUSE, "the refused message is kept back");
    }

    #[test]
    fn each_reason_is_logged_once() {
        let mut attempts = Attempts::new();
        let mut is_news = |stood, reason| lost(&mut attempts, stood, reason).is_news;
        assert!(is_news(None, refused()));
        assert!(!is_news(None, refused()));
        assert!(is_news(None, LostReason::NoAnswer), "another one");
        assert!(!is_news(None, refused()));
        assert!(is_news(LONG, LostReason::Closed));
        assert!(is_news(None, refused()), "that was long ago");
        assert!(is_news(SHORT, LostReason::NoAnswer));
        assert!(
            is_news(SHORT, LostReason::NoAnswer),
            "a connection was lost again"
        );
    }

    #[test]
    fn broker_that_refuses_is_left_alone_for_a_while() {
        let mut attempts = Attempts::new();
        for stood in [None, SHORT, None, LONG] {
            let failure = lost(&mut attempts, stood, Refusal::Banned.into());
            assert_eq!(failure.pause, MAX_PAUSE_FOR_PEOPLE, "{stood:?}");
        }
        assert!(!lost(&mut attempts, SHORT, Refusal::Banned.into()).is_news);
    }

    #[test]
    fn takeover_without_a_reason_is_recognised() {
        let mut attempts = Attempts::new();
        let first = lost(&mut attempts, SHORT, LostReason::Closed);
        assert!(matches!(first.reason, LostReason::Closed), "{:?}", first.reason);
        let second = lost(&mut attempts, SHORT, LostReason::Closed);
        let text = second.reason.to_string();
        assert!(
            text.contains("another program uses the client id kiebitz-pi-1"),
            "{text}"
        );
        assert!(second.is_news);
        assert_eq!(second.pause, MAX_PAUSE_FOR_PEOPLE);
        assert!(
            !lost(&mut attempts, SHORT, LostReason::Closed).is_news,
            "in turns"
        );
    }

    #[test]
    fn broker_that_restarts_is_not_taken_for_a_takeover() {
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
