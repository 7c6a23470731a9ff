//! What the broker is to get: messages in memory, and events that are read when there is room for them.

use std::sync::Arc;

use super::backlog::BacklogEvent;
use super::behind::{BacklogPage, Behind};
use super::ledger::Ledger;
use super::message::{Delivery, MediaType, Message};
use super::queue::{Events, MessageQueue, Ticket};

/// Messages for the broker, of which only so many are in memory.
///
/// An event for which there is no room is not kept, and its board is *behind* from then on: its events come from a
/// backlog, in order, until none is left there. Pictures always have room, for there is one of each topic.
#[derive(Debug)]
pub(crate) struct OutboxStore {
    queue: MessageQueue,
    ledger: Ledger,
    behind: Behind,
    /// The events in memory; `None`: as many as there are, for there is no backlog.
    room: Option<Events>,
}

/// The most events in memory; a board has some thousand a day.
pub(crate) const MAX_EVENTS: Events = Events {
    count: 2000,
    bytes: 2 << 20,
};

/// What became of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageOutcome {
    /// Something of it is in memory now, or it was not needed.
    Some,
    /// The events that come next were not in it.
    Nothing {
        /// Whether that was so before.
        again: bool,
    },
}

/// A message that the broker has.
#[derive(Debug)]
pub(crate) struct Acknowledged {
    pub(crate) message: Message,
    /// Its board, and the last event up to which the broker has all of that board, where that has changed.
    pub(crate) all: Option<(Arc<str>, u64)>,
}

impl OutboxStore {
    /// With room for so many events; `None`: for all.
    pub(crate) fn new(room: Option<Events>) -> Self {
        Self {
            queue: MessageQueue::default(),
            ledger: Ledger::default(),
            behind: Behind::default(),
            room,
        }
    }

    /// The messages in memory.
    pub(crate) fn queue(&self) -> &MessageQueue {
        &self.queue
    }

    /// How many boards have events that are not in memory.
    pub(crate) fn behind(&self) -> usize {
        self.behind.len()
    }

    /// Whether the broker has everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.behind() == 0
    }

    pub(crate) fn push(&mut self, message: Message) {
        if let Delivery::Event { board, seq } = &message.delivery {
            if self.behind.raise(board, *seq) {
                return;
            }
            if !self.has_room(message.payload.len()) {
                // The board is not behind: all before this event were in memory.
                let after = seq.saturating_sub(1);
                self.behind.add(board, &message.topic, after, *seq);
                return;
            }
            self.ledger.add(board, *seq);
        }
        self.queue.push(message);
    }

    /// A board's events after one number and up to another are to be read. None of the board may be in memory.
    pub(crate) fn leave_behind(&mut self, board: &Arc<str>, topic: &Arc<str>, after: u64, last: u64) {
        self.behind.add(board, topic, after, last);
    }

    /// What to read, if half of the memory is free.
    pub(crate) fn next_page(&mut self) -> Option<BacklogPage> {
        let (room, used) = (self.room?, self.queue.events());
        let low = used.count <= room.count / 2 && used.bytes <= room.bytes / 2;
        if low { self.behind.next_page() } else { None }
    }

    /// Takes in what was read, as far as there is room for it.
    pub(crate) fn take_in(&mut self, page: &BacklogPage, events: Vec<BacklogEvent>) -> PageOutcome {
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
            // What was not handed over yet will be.
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

    /// A page could not be read.
    pub(crate) fn put_off(&mut self, page: &BacklogPage) {
        if let Some(cursor) = self.behind.cursor(page) {
            cursor.rest();
        }
    }

    fn read_up_to(&mut self, page: &BacklogPage, after: u64, full: bool) -> PageOutcome {
        let Some(cursor) = self.behind.cursor(page) else {
            return PageOutcome::Some;
        };
        if after == page.after && !full {
            cursor.rest();
            let again = core::mem::replace(&mut cursor.missed, true);
            return PageOutcome::Nothing { again };
        }
        cursor.after = after;
        cursor.missed = false;
        self.behind.settle(&page.board);
        PageOutcome::Some
    }

    /// Whether a board waits for the end of the pause.
    pub(crate) fn rests(&self) -> bool {
        self.behind.rests()
    }

    /// The pause is over: events that could not be read are asked for again.
    pub(crate) fn wake(&mut self) {
        self.behind.wake();
    }

    /// The next message to send, marked as sent.
    pub(crate) fn send_next(&mut self) -> Option<(Ticket, &Message)> {
        self.queue.send_next()
    }

    /// The broker has a message, which is returned unless it was acknowledged before.
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

    /// A new connection, see [`MessageQueue::restart`].
    pub(crate) fn restart(&mut self, greeting: Option<Message>) {
        self.queue.restart(greeting);
    }

    /// The connection is lost, see [`MessageQueue::rewind`].
    pub(crate) fn rewind(&mut self) {
        self.queue.rewind();
    }

    /// An event that is larger than all memory has its turn when there is no other.
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
