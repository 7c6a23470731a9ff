//! Holds queries to boards and events until the recorder has stored the input that led to them. A query makes a board
//! discard the changes that it has reported, so its last answer must be stored first.

use core::time::Duration;
use std::collections::VecDeque;

use crate::system_time::Moment;

/// A queue of items, each of which waits until the recorder has written a given number of chunks.
#[derive(Debug)]
pub(super) struct WriteAhead<T> {
    waiting: VecDeque<Waiting<T>>,
    /// Number of chunks up to which the recorder is no longer waited for; `None` once it has written them.
    given_up_until: Option<u64>,
}

#[derive(Debug)]
struct Waiting<T> {
    since: Moment,
    after: u64,
    item: T,
}

/// Time after which an item no longer waits for the recorder.
const MAX_WAIT: Duration = Duration::from_millis(250);

impl<T> Default for WriteAhead<T> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            given_up_until: None,
        }
    }
}

impl<T> WriteAhead<T> {
    /// Adds an item that waits until the recorder has written `after` chunks.
    pub(super) fn hold(&mut self, now: Moment, after: u64, item: T) {
        self.waiting.push_back(Waiting {
            since: now,
            after,
            item,
        });
    }

    pub(super) fn retain(&mut self, holds: impl Fn(&T) -> bool) {
        self.waiting.retain(|waiting| holds(&waiting.item));
    }

    /// Time at which the first item stops waiting for the recorder.
    pub(super) fn poll_deadline(&self) -> Option<Moment> {
        self.waiting.front().map(|waiting| waiting.since + MAX_WAIT)
    }

    /// The next item that need not wait any more. `written` is the number of chunks that the recorder has written.
    pub(super) fn poll(&mut self, now: Moment, written: u64) -> Option<T> {
        let first = self.waiting.front()?;
        if self.given_up_until.is_some_and(|until| written >= until) {
            self.given_up_until = None;
        }
        if written < first.after {
            if now < first.since + MAX_WAIT && self.given_up_until.is_none() {
                return None;
            }
            self.given_up_until = Some(first.after);
        }
        self.waiting.pop_front().map(|waiting| waiting.item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::after(Duration::from_millis(ms))
    }

    #[test]
    fn each_item_waits_for_the_chunks_before_it() {
        let mut ahead = WriteAhead::default();
        ahead.hold(at(0), 2, "a");
        ahead.hold(at(0), 2, "b");
        ahead.hold(at(1), 3, "c");
        assert_eq!(ahead.poll(at(1), 1), None);
        assert_eq!(ahead.poll(at(1), 2), Some("a"));
        assert_eq!(ahead.poll(at(1), 2), Some("b"));
        assert_eq!(ahead.poll(at(1), 2), None);
        assert_eq!(ahead.poll(at(2), 9), Some("c"));
        assert_eq!((ahead.poll(at(2), 9), ahead.poll_deadline()), (None, None));
    }

    #[test]
    fn a_hanging_disk_delays_only_one_item() {
        let mut ahead = WriteAhead::default();
        ahead.hold(at(0), 2, "a");
        assert_eq!(ahead.poll_deadline(), Some(at(250)));
        assert_eq!(ahead.poll(at(249), 1), None);
        assert_eq!(ahead.poll(at(250), 1), Some("a"));
        ahead.hold(at(300), 5, "b");
        assert_eq!(ahead.poll(at(300), 1), Some("b"), "it still hangs");
        ahead.hold(at(400), 6, "c");
        assert_eq!(ahead.poll(at(400), 5), None, "it has answered");
        assert_eq!(ahead.poll(at(401), 6), Some("c"));
    }
}
