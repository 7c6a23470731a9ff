//! The messages for the broker: those in memory, and the boards with events that must be read from the backlog.

use std::sync::Arc;

use super::backlog::BacklogEvent;
use super::behind::{BacklogPage, Behind};
use super::ledger::Ledger;
use super::message::{Delivery, MediaType, Message};
use super::queue::{Events, MessageQueue, Ticket};

/// The messages for the broker, with a limit on the events in memory.
///
/// If there is no room for an event, its board is *behind*: this event and all later ones are read from the backlog, in
/// order, until the backlog has no more. There is always room for retained messages, since at most one is waiting for
/// each topic.
#[derive(Debug)]
pub(crate) struct OutboxStore {
    queue: MessageQueue,
    ledger: Ledger,
    behind: Behind,
    /// Limit for events in memory; `None` without a backlog, so that all events are in memory.
    room: Option<Events>,
}

/// Limit for events in memory. A board has about a thousand events a day.
pub(crate) const MAX_EVENTS: Events = Events {
    count: 2000,
    bytes: 2 << 20,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageOutcome {
    /// Some events of the page are in memory now, or the page was no longer needed.
    Some,
    /// The page lacked the next events.
    Nothing {
        /// Whether the board's previous page lacked them too.
        again: bool,
    },
}

#[derive(Debug)]
pub(crate) struct Acknowledged {
    pub(crate) message: Message,
    /// The board, and the seq up to which all its events are acknowledged, if that has advanced.
    pub(crate) all: Option<(Arc<str>, u64)>,
}

impl OutboxStore {
    pub(crate) fn new(room: Option<Events>) -> Self {
        Self {
            queue: MessageQueue::default(),
            ledger: Ledger::default(),
            behind: Behind::default(),
            room,
        }
    }

    pub(crate) fn queue(&self) -> &MessageQueue {
        &self.queue
    }

    /// Number of boards that are behind.
    pub(crate) fn behind(&self) -> usize {
        self.behind.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.behind() == 0
    }

    pub(crate) fn push(&mut self, message: Message) {
        if let Delivery::Event { board, seq } = &message.delivery {
            if self.behind.extend(board, *seq) {
                return;
            }
            if !self.has_room(message.payload.len()) {
                // The board is not behind, so all earlier events have been in memory.
                let after = seq.saturating_sub(1);
                self.behind.add(board, &message.topic, after, *seq);
                return;
            }
            self.ledger.add(board, *seq);
        }
        self.queue.push(message);
    }

    /// Adds the events of a board after `after`, up to `last`, which must be read from the backlog. None of the board's
    /// events may be in memory.
    pub(crate) fn leave_behind(&mut self, board: &Arc<str>, topic: &Arc<str>, after: u64, last: u64) {
        self.behind.add(board, topic, after, last);
    }

    /// The next page to read, if at least half of the memory is free.
    pub(crate) fn next_page(&mut self) -> Option<BacklogPage> {
        let (room, used) = (self.room?, self.queue.events());
        let low = used.count <= room.count / 2 && used.bytes <= room.bytes / 2;
        if low { self.behind.next_page() } else { None }
    }

    /// Queues the events of a page as far as there is room.
    pub(crate) fn load_page(&mut self, page: &BacklogPage, events: Vec<BacklogEvent>) -> PageOutcome {
        let Some(cursor) = self.behind.cursor(page) else {
            return PageOutcome::Some;
        };
        let (topic, last) = (Arc::clone(&cursor.topic), cursor.last);
        let mut after = page.after;
        let mut full = false;
        for event in events {
            if event.seq <= after {
                continue;
            }
            // The journal already has later events, but they will also be passed to `push`.
            if event.seq > last {
                break;
            }
            full = !self.has_room(event.payload.len());
            if full {
                break;
            }
            after = event.seq;
            self.ledger.add(&page.board, event.seq);
            self.queue.push(message(&page.board, &topic, event));
        }
        self.read_up_to(page, after, full)
    }

    /// Postpones a page that could not be read until the end of the pause.
    pub(crate) fn postpone(&mut self, page: &BacklogPage) {
        if let Some(cursor) = self.behind.cursor(page) {
            cursor.postpone();
        }
    }

    fn read_up_to(&mut self, page: &BacklogPage, after: u64, full: bool) -> PageOutcome {
        let Some(cursor) = self.behind.cursor(page) else {
            return PageOutcome::Some;
        };
        if after == page.after && !full {
            cursor.postpone();
            let again = core::mem::replace(&mut cursor.missed, true);
            return PageOutcome::Nothing { again };
        }
        cursor.after = after;
        cursor.missed = false;
        self.behind.settle(&page.board);
        PageOutcome::Some
    }

    /// Whether any board waits for the end of the pause.
    pub(crate) fn is_waiting(&self) -> bool {
        self.behind.is_waiting()
    }

    pub(crate) fn end_pause(&mut self) {
        self.behind.end_pause();
    }

    /// The next message to send. Marks it as sent.
    pub(crate) fn send_next(&mut self) -> Option<(Ticket, &Message)> {
        self.queue.send_next()
    }

    /// Marks a message as acknowledged. Returns `None` if it was acknowledged already.
    pub(crate) fn acknowledge(&mut self, ticket: Ticket) -> Option<Acknowledged> {
        let message = self.queue.acknowledge(ticket)?;
        let all = match &message.delivery {
            Delivery::Event { board, seq } => {
                let all = self.ledger.acknowledge(board, *seq);
                all.map(|seq| (Arc::clone(board), seq))
            }
            Delivery::Retained | Delivery::Answer { .. } => None,
        };
        Some(Acknowledged { message, all })
    }

    pub(crate) fn restart(&mut self, greeting: Option<Message>) {
        self.queue.restart(greeting);
    }

    pub(crate) fn rewind(&mut self) {
        self.queue.rewind();
    }

    /// Whether an event of this size fits in memory. Any size fits if no other event is in memory.
    fn has_room(&self, bytes: usize) -> bool {
        let used = self.queue.events();
        self.room.is_none_or(|room| {
            used.count == 0 || (used.count < room.count && used.bytes + bytes <= room.bytes)
        })
    }
}

fn message(board: &Arc<str>, topic: &Arc<str>, event: BacklogEvent) -> Message {
    Message {
        topic: Arc::clone(topic),
        payload: event.payload,
        media_type: MediaType::Json,
        delivery: Delivery::Event {
            board: Arc::clone(board),
            seq: event.seq,
        },
        kept: true,
        happened: None,
    }
}

#[cfg(test)]
mod tests;
