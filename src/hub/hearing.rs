//! What is heard of one board: its events in order, each once, whatever of them comes late, twice or not at all.

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_game::events::{Event, time_text};
use kiebitz_hardware::Timestamp;
use serde::Deserialize;

use crate::system_time::Moment;

/// Puts the events of a board in order.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// The number of the last event that was handed on; `None`: none was.
    last: Option<u64>,
    /// Events that came before those that are missing.
    early: BTreeMap<u64, Event>,
    /// What was asked for, and when; and how often without an answer.
    asked: Option<(Moment, u32)>,
    /// Something may be missing.
    behind: bool,
}

/// A page of events that were asked for.
#[derive(Debug, Deserialize)]
pub(super) struct EventPage {
    after: u64,
    /// It was asked for by a time, so that it has the first there is to know.
    since: Option<String>,
    events: Vec<Event>,
}

/// Until what got no answer is asked for again.
const PATIENCE: Duration = Duration::from_secs(5);
/// After so many questions without an answer there is nobody who could answer: what comes is taken as it comes.
const MAX_ASKED: u32 = 6;
/// Events that wait for those before them are no more than this: they are asked for again.
const MAX_EARLY: usize = 2000;

impl Hearing {
    /// Something may have been missed.
    pub(super) fn doubt(&mut self) {
        (self.behind, self.asked) = (true, None);
    }

    /// Takes in an event, and returns those that come next.
    pub(super) fn hear(&mut self, event: Event) -> Vec<Event> {
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

    /// Takes in a page, and returns the events that come next.
    pub(super) fn read(&mut self, page: EventPage) -> Vec<Event> {
        // Somebody else may have asked, for what is of no use here.
        if self
            .last
            .map_or_else(|| page.since.is_some(), |last| page.after <= last)
        {
            self.last = self.last.or(Some(page.after));
            self.asked = None;
            // An empty page is the end: what is known is all there is.
            self.behind = !page.events.is_empty();
            self.early
                .extend(page.events.into_iter().map(|event| (event.seq, event)));
        }
        let next = self.in_order();
        if !self.behind && !self.early.is_empty() {
            // The journal itself lacks what is between.
            return self.give_up(next);
        }
        next
    }

    /// What is to be asked for at `now`, as JSON; `None`: nothing. `since`: when the event began.
    pub(super) fn poll_question(&mut self, now: Moment, since: Timestamp) -> Option<String> {
        if !self.behind {
            return None;
        }
        let times = match self.asked {
            Some((at, _)) if now < at + PATIENCE => return None,
            Some((_, times)) => times + 1,
            None => 1,
        };
        self.asked = Some((now, times));
        Some(match self.last {
            Some(last) => format!("{{\"after\":{last}}}"),
            None => format!("{{\"since\":\"{}\"}}", time_text(since)),
        })
    }

    /// What comes next where nobody answers.
    pub(super) fn poll_unanswered(&mut self) -> Vec<Event> {
        if self.behind && self.asked.is_some_and(|(_, times)| times > MAX_ASKED) {
            self.behind = false;
            return self.give_up(Vec::new());
        }
        Vec::new()
    }

    /// Goes on after what is missing.
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

    fn some(seq: u64) -> Event {
        event(seq, EventKind::ClockConnected {})
    }

    /// The events after one number, up to another one; the first page is one that was asked for by a time.
    fn page(after: u64, last: u64, is_first: bool) -> EventPage {
        EventPage {
            after,
            since: is_first.then(String::new),
            events: (after + 1..=last).map(some).collect(),
        }
    }

    fn seqs(events: &[Event]) -> Vec<u64> {
        events.iter().map(|event| event.seq).collect()
    }

    #[test]
    fn what_was_before_is_asked_for_and_comes_first() {
        let mut hearing = Hearing::default();
        hearing.doubt();
        assert!(
            hearing
                .poll_question(at(0), SINCE)
                .expect("a question")
                .contains("since")
        );
        assert_eq!(hearing.poll_question(at(1), SINCE), None);
        assert!(hearing.hear(some(203)).is_empty());
        // What another hub has asked for may begin in the middle.
        assert!(hearing.read(page(90, 95, false)).is_empty());
        assert_eq!(seqs(&hearing.read(page(0, 200, true))).len(), 200);
        assert_eq!(
            hearing.poll_question(at(1), SINCE).as_deref(),
            Some("{\"after\":200}")
        );
        assert_eq!(seqs(&hearing.read(page(200, 202, false))), [201, 202, 203]);
        assert_eq!(
            hearing.poll_question(at(1), SINCE).as_deref(),
            Some("{\"after\":203}")
        );
        assert!(hearing.read(page(203, 203, false)).is_empty());
        assert_eq!(hearing.poll_question(at(9), SINCE), None);
        assert_eq!(seqs(&hearing.hear(some(204))), [204]);
    }

    #[test]
    fn a_gap_is_filled_and_nothing_comes_twice() {
        let mut hearing = Hearing::default();
        hearing.doubt();
        hearing.read(page(4, 5, true));
        hearing.read(page(5, 5, false));
        assert!(hearing.hear(some(5)).is_empty());
        assert!(hearing.hear(some(8)).is_empty());
        assert_eq!(
            hearing.poll_question(at(0), SINCE).as_deref(),
            Some("{\"after\":5}")
        );
        // No answer: it is asked again.
        assert!(hearing.poll_question(at(6), SINCE).is_some());
        assert_eq!(seqs(&hearing.read(page(5, 8, false))), [6, 7, 8]);
        assert!(hearing.read(page(5, 8, false)).is_empty());
    }

    #[test]
    fn what_nobody_has_is_not_waited_for() {
        let mut hearing = Hearing::default();
        hearing.doubt();
        hearing.read(page(4, 5, true));
        assert!(hearing.hear(some(9)).is_empty());
        // The journal itself has a jump in its numbers.
        assert_eq!(seqs(&hearing.read(page(5, 5, false))), [9]);
        let mut silent = Hearing::default();
        silent.doubt();
        assert!(silent.hear(some(7)).is_empty());
        for second in 0..=MAX_ASKED {
            assert!(silent.poll_unanswered().is_empty());
            assert!(silent.poll_question(at(u64::from(second) * 6), SINCE).is_some());
        }
        assert_eq!(seqs(&silent.poll_unanswered()), [7]);
        assert_eq!(seqs(&silent.hear(some(8))), [8]);
    }
}
