//! Puts the events of a board in order, each once, although events may arrive late, twice or not at all.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_game::events::{Event, time_text};
use kiebitz_hardware::Timestamp;
use serde::Deserialize;

use crate::system_time::Moment;

/// Receives the events of a board and requests missing ones.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// Seq of the last event that was returned in order; `None` before the first.
    last: Option<u64>,
    /// Events that arrived before missing ones.
    early: BTreeMap<u64, Event>,
    /// Time of the last unanswered request, and number of unanswered requests.
    pending: Option<(Moment, u32)>,
    /// Events may be missing.
    behind: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct EventPage {
    after: u64,
    /// Present if the page was requested by time, so that it begins with the first needed event.
    since: Option<String>,
    events: Vec<Event>,
}

/// Time after which an unanswered request is repeated.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Number of unanswered requests after which missing events are given up.
const MAX_REQUESTS: u32 = 6;
/// Maximum number of events that wait for missing ones. Further events are dropped and requested later.
const MAX_EARLY: usize = 2000;

impl Hearing {
    /// Marks that events may have been missed.
    pub(super) fn mark_behind(&mut self) {
        (self.behind, self.pending) = (true, None);
    }

    /// Adds an event and returns the events that come next.
    pub(super) fn add(&mut self, event: Event) -> Vec<Event> {
        match self.last {
            Some(last) if event.seq <= last => return Vec::new(),
            Some(last) if event.seq == last + 1 => {}
            _ => self.behind = true,
        }
        if self.early.len() < MAX_EARLY {
            self.early.insert(event.seq, event);
        }
        self.in_order()
    }

    /// Adds a page and returns the events that come next.
    pub(super) fn read(&mut self, page: EventPage) -> Vec<Event> {
        // Another hub may have requested the page, from a position that is useless here.
        if self
            .last
            .map_or_else(|| page.since.is_some(), |last| page.after <= last)
        {
            self.last = self.last.or(Some(page.after));
            self.pending = None;
            // An empty page is the end: no more events exist.
            self.behind = !page.events.is_empty();
            self.early
                .extend(page.events.into_iter().map(|event| (event.seq, event)));
        }
        let next = self.in_order();
        if !self.behind && !self.early.is_empty() {
            // The journal itself lacks the events in between.
            return self.give_up(next);
        }
        next
    }

    /// The request that is due at the time `now`, as JSON; `None` if there is none. The first request asks for events
    /// from the time `since`.
    pub(super) fn poll_request(&mut self, now: Moment, since: Timestamp) -> Option<String> {
        if !self.behind {
            return None;
        }
        let times = match self.pending {
            Some((at, _)) if now < at + RETRY_AFTER => return None,
            Some((_, times)) => times + 1,
            None => 1,
        };
        self.pending = Some((now, times));
        Some(match self.last {
            Some(last) => format!("{{\"after\":{last}}}"),
            None => format!("{{\"since\":\"{}\"}}", time_text(since)),
        })
    }

    /// The next events if all requests have remained unanswered.
    pub(super) fn poll_unanswered(&mut self) -> Vec<Event> {
        if self.behind && self.pending.is_some_and(|(_, times)| times > MAX_REQUESTS) {
            self.behind = false;
            return self.give_up(Vec::new());
        }
        Vec::new()
    }

    /// Continues after the missing events.
    fn give_up(&mut self, mut next: Vec<Event>) -> Vec<Event> {
        if let Some(first) = self.early.keys().next() {
            self.last = Some(first.saturating_sub(1));
        }
        next.extend(self.in_order());
        next
    }

    fn in_order(&mut self) -> Vec<Event> {
        let mut next = Vec::new();
        while let (Some(last), Some(first)) = (self.last, self.early.first_entry()) {
            if *first.key() > last + 1 {
                break;
            }
            let (seq, event) = first.remove_entry();
            if seq > last {
                self.last = Some(seq);
                next.push(event);
            }
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::EventKind;
    use kiebitz_game::events::samples::event;

    use super::*;

    const SINCE: Timestamp = Timestamp::from_micros(0);

    fn at(seconds: u64) -> Moment {
        Moment::after(Duration::from_secs(seconds))
    }

    fn sample(seq: u64) -> Event {
        event(seq, EventKind::ClockConnected {})
    }

    /// The events after `after` up to `last`. `is_first` marks a page that was requested by time.
    fn page(after: u64, last: u64, is_first: bool) -> EventPage {
        EventPage {
            after,
            since: is_first.then(String::new),
            events: (after + 1..=last).map(sample).collect(),
        }
    }

    fn seqs(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn earlier_events_are_requested_and_come_first() {
        let mut hearing = Hearing::default();
        hearing.mark_behind();
        assert!(
            hearing
                .poll_request(at(0), SINCE)
                .expect("a question")
                .contains("since")
        );
        assert_eq!(hearing.poll_request(at(1), SINCE), None);
        assert!(hearing.add(sample(203)).is_empty());
        // A page that another hub has requested may begin anywhere.
        assert!(hearing.read(page(90, 95, false)).is_empty());
        assert_eq!(seqs(&hearing.read(page(0, 200, true))).len(), 200);
        assert_eq!(
            hearing.poll_request(at(1), SINCE).as_deref(),
            Some("{\"after\":200}")
        );
        assert_eq!(seqs(&hearing.read(page(200, 202, false))), [201, 202, 203]);
        assert_eq!(
            hearing.poll_request(at(1), SINCE).as_deref(),
            Some("{\"after\":203}")
        );
        assert!(hearing.read(page(203, 203, false)).is_empty());
        assert_eq!(hearing.poll_request(at(9), SINCE), None);
        assert_eq!(seqs(&hearing.add(sample(204))), [204]);
    }

    #[test]
    fn a_gap_is_filled_and_nothing_comes_twice() {
        let mut hearing = Hearing::default();
        hearing.mark_behind();
        hearing.read(page(4, 5, true));
        hearing.read(page(5, 5, false));
        assert!(hearing.add(sample(5)).is_empty());
        assert!(hearing.add(sample(8)).is_empty());
        assert_eq!(
            hearing.poll_request(at(0), SINCE).as_deref(),
            Some("{\"after\":5}")
        );
        // The request is repeated as there was no answer.
        assert!(hearing.poll_request(at(6), SINCE).is_some());
        assert_eq!(seqs(&hearing.read(page(5, 8, false))), [6, 7, 8]);
        assert!(hearing.read(page(5, 8, false)).is_empty());
    }

    #[test]
    fn missing_events_are_skipped_if_no_journal_has_them() {
        let mut hearing = Hearing::default();
        hearing.mark_behind();
        hearing.read(page(4, 5, true));
        assert!(hearing.add(sample(9)).is_empty());
        // The journal itself skips seqs.
        assert_eq!(seqs(&hearing.read(page(5, 5, false))), [9]);
        let mut silent = Hearing::default();
        silent.mark_behind();
        assert!(silent.add(sample(7)).is_empty());
        for second in 0..=MAX_REQUESTS {
            assert!(silent.poll_unanswered().is_empty());
            assert!(silent.poll_request(at(u64::from(second) * 6), SINCE).is_some());
        }
        assert_eq!(seqs(&silent.poll_unanswered()), [7]);
        assert_eq!(seqs(&silent.add(sample(8))), [8]);
    }
}
