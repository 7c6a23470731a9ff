//! The queue of messages to the broker.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::message::{Delivery, Message};

/// Messages from their publication until the broker has acknowledged them.
///
/// Events stay in order. Only the latest retained message of a topic counts: it replaces one that is still waiting and
/// goes to the end of the queue, after the events that it reflects. The latest retained message of every topic is kept
/// permanently, because a broker that restarts may have lost it.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue {
    entries: VecDeque<QueueEntry>,
    /// Ticket of the first entry.
    first: Ticket,
    /// Ticket of the next entry to send on this connection.
    next: Ticket,
    /// Number of entries that contain a message.
    held: usize,
    /// Count and bytes of the events in the queue.
    events: Events,
    /// Number of entries sent since the oldest unacknowledged one.
    window: usize,
    retained: BTreeMap<Arc<str>, Message>,
    /// Tickets of the retained messages that wait to be sent, by topic.
    waiting: HashMap<Arc<str>, Ticket>,
}

/// Position of a message in the queue. Not reused on the same connection.
pub(crate) type Ticket = i64;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Events {
    pub(crate) count: usize,
    /// Sum of the sizes of their payloads.
    pub(crate) bytes: usize,
}

/// Maximum number of empty entries. Compacting fewer is not worthwhile.
const MAX_SPARE: usize = 256;

#[derive(Debug)]
struct QueueEntry {
    /// `None` if the message was acknowledged, or replaced by a later retained message.
    message: Option<Message>,
    sent: bool,
}

impl MessageQueue {
    pub(crate) fn len(&self) -> usize {
        self.held
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }

    pub(crate) fn events(&self) -> Events {
        self.events
    }

    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// The message under way, if there is exactly one.
    pub(crate) fn only_sent(&self) -> Option<(Ticket, &Message)> {
        let oldest = self.entries.front().filter(|_| self.window == 1)?;
        oldest.message.as_ref().map(|message| (self.first, message))
    }

    /// Number of topics with a retained message.
    pub(crate) fn retained_topics(&self) -> usize {
        self.retained.len()
    }

    pub(crate) fn retained(&self, topic: &str) -> Option<&Message> {
        self.retained.get(topic)
    }

    pub(crate) fn push(&mut self, message: Message) {
        if message.is_retained() {
            self.retained.insert(Arc::clone(&message.topic), message.clone());
            let ticket = self.first + self.entries.len() as Ticket;
            if let Some(replaced) = self.waiting.insert(Arc::clone(&message.topic), ticket) {
                self.take(replaced);
            }
        }
        self.held += 1;
        self.events.add(&message);
        self.entries.push_back(QueueEntry {
            message: Some(message),
            sent: false,
        });
        // Retained messages that change for hours without a broker must not pile up.
        if self.entries.len() > 2 * self.held + MAX_SPARE {
            self.compact();
        }
    }

    /// Removes the empty entries that were not sent. No ticket refers to them.
    fn compact(&mut self) {
        let sent = usize::try_from(self.next - self.first).unwrap_or_default();
        let unsent = self.entries.split_off(sent.min(self.entries.len()));
        for entry in unsent {
            let Some(message) = &entry.message else { continue };
            if let Some(waiting) = self.waiting.get_mut(&message.topic) {
                *waiting = self.first + self.entries.len() as Ticket;
            }
            self.entries.push_back(entry);
        }
    }

    /// The next message to send. Marks it as sent.
    pub(crate) fn send_next(&mut self) -> Option<(Ticket, &Message)> {
        loop {
            let ticket = self.next;
            let place = usize::try_from(ticket - self.first).ok()?;
            let entry = self.entries.get_mut(place)?;
            self.next += 1;
            let Some(message) = &entry.message else { continue };
            entry.sent = true;
            self.window += 1;
            if self.waiting.get(&message.topic) == Some(&ticket) {
                self.waiting.remove(&message.topic);
            }
            return self.entries[place]
                .message
                .as_ref()
                .map(|message| (ticket, message));
        }
    }

    /// Marks a message as acknowledged. Returns `None` if it was acknowledged already.
    pub(crate) fn acknowledge(&mut self, ticket: Ticket) -> Option<Message> {
        let message = self.take(ticket);
        while self.entries.front().is_some_and(|entry| entry.message.is_none()) {
            if self.entries.pop_front().is_some_and(|entry| entry.sent) {
                self.window -= 1;
            }
            self.first += 1;
        }
        self.next = self.next.max(self.first);
        message
    }

    /// Prepares for a new connection. Queues `greeting` first, if given, then the latest retained messages of all
    /// topics that have no message in the queue, and then all unacknowledged messages again, in order.
    pub(crate) fn restart(&mut self, greeting: Option<Message>) {
        self.rewind();
        if let Some(outdated) = greeting
            .as_ref()
            .and_then(|message| self.waiting.remove(&message.topic))
        {
            self.take(outdated);
        }
        let greeted = greeting.as_ref().map(|message| &message.topic);
        let on_the_way = |topic| self.waiting.contains_key(topic) || greeted == Some(topic);
        let forgotten: Vec<_> = self
            .retained
            .values()
            .filter(|retained| !on_the_way(&retained.topic))
            .cloned()
            .collect();
        for message in forgotten.into_iter().rev().chain(greeting) {
            self.entries.push_front(QueueEntry {
                message: Some(message),
                sent: false,
            });
        }
        self.renumber();
    }

    /// Resets after a lost connection: no message counts as sent, and earlier tickets become invalid.
    pub(crate) fn rewind(&mut self) {
        let mut seen = HashSet::new();
        let mut kept = VecDeque::with_capacity(self.held);
        for entry in self.entries.drain(..).rev() {
            let Some(message) = entry.message else { continue };
            if !message.is_retained() || seen.insert(Arc::clone(&message.topic)) {
                kept.push_front(QueueEntry {
                    message: Some(message),
                    sent: false,
                });
            }
        }
        self.entries = kept;
        self.renumber();
    }

    fn renumber(&mut self) {
        self.first = 0;
        self.next = 0;
        self.window = 0;
        (self.held, self.events) = (0, Events::default());
        for message in self.entries.iter().filter_map(|entry| entry.message.as_ref()) {
            self.held += 1;
            self.events.add(message);
        }
        self.waiting = (0..)
            .zip(&self.entries)
            .filter_map(|(ticket, entry)| Some((ticket, entry.message.as_ref()?)))
            .filter(|(_, message)| message.is_retained())
            .map(|(ticket, message)| (Arc::clone(&message.topic), ticket))
            .collect();
    }

    fn take(&mut self, ticket: Ticket) -> Option<Message> {
        let place = usize::try_from(ticket - self.first).ok()?;
        let message = self.entries.get_mut(place)?.message.take()?;
        self.held -= 1;
        self.events.remove(&message);
        Some(message)
    }
}

impl Events {
    fn add(&mut self, message: &Message) {
        if let Delivery::Event { .. } = message.delivery {
            self.count += 1;
            self.bytes += message.payload.len();
        }
    }

    fn remove(&mut self, message: &Message) {
        if let Delivery::Event { .. } = message.delivery {
            self.count -= 1;
            self.bytes -= message.payload.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::mqtt::message::MediaType;

    fn event(seq: u64) -> Message {
        let delivery = Delivery::Event {
            board: "b".into(),
            seq,
        };
        Message {
            topic: "events".into(),
            payload: seq.to_string().into(),
            media_type: MediaType::Json,
            delivery,
            kept: true,
            happened: None,
        }
    }

    fn retained(topic: &str, payload: &'static str) -> Message {
        let delivery = Delivery::Retained;
        Message {
            topic: topic.into(),
            payload: payload.into(),
            media_type: MediaType::Json,
            delivery,
            kept: true,
            happened: None,
        }
    }

    fn queue(messages: impl IntoIterator<Item = Message>) -> MessageQueue {
        let mut queue = MessageQueue::default();
        messages.into_iter().for_each(|message| queue.push(message));
        queue
    }

    fn send_all(queue: &mut MessageQueue) -> Vec<(Ticket, String)> {
        let mut sent = Vec::new();
        while let Some((ticket, message)) = queue.send_next() {
            sent.push((ticket, String::from_utf8_lossy(&message.payload).into_owned()));
        }
        sent
    }

    fn payloads(sent: &[(Ticket, String)]) -> Vec<&str> {
        sent.iter().map(|(_, payload)| payload.as_str()).collect()
    }

    #[test]
    fn only_the_latest_waiting_retained_message_is_sent_after_its_events() {
        let mut queue = queue([event(1), retained("game", "a"), event(2), retained("game", "b")]);
        assert_eq!(queue.len(), 3);
        assert_eq!(payloads(&send_all(&mut queue)), ["1", "2", "b"]);
        assert_eq!(queue.window(), 3);
    }

    #[test]
    fn retained_message_under_way_is_followed_by_the_later_one() {
        let mut queue = queue([retained("game", "a")]);
        let sent = send_all(&mut queue);
        queue.push(retained("game", "b"));
        queue.acknowledge(sent[0].0);
        assert_eq!(payloads(&send_all(&mut queue)), ["b"]);
    }

    #[test]
    fn unacknowledged_events_are_sent_again_in_order() {
        let mut queue = queue([event(1), event(2), event(3)]);
        let sent = send_all(&mut queue);
        queue.acknowledge(sent[0].0);
        queue.push(event(4));
        queue.restart(None);
        assert_eq!(queue.window(), 0);
        assert_eq!(payloads(&send_all(&mut queue)), ["2", "3", "4"]);
    }

    #[test]
    fn window_counts_from_the_oldest_unacknowledged() {
        let mut queue = queue([event(1), event(2), event(3)]);
        let sent = send_all(&mut queue);
        queue.acknowledge(sent[1].0);
        assert_eq!((queue.window(), queue.len()), (3, 2));
        queue.acknowledge(sent[0].0);
        assert_eq!((queue.window(), queue.len()), (1, 1));
        assert!(queue.acknowledge(sent[0].0).is_none());
        queue.acknowledge(sent[2].0);
        assert!(queue.is_empty() && queue.window() == 0);
    }

    #[test]
    fn all_retained_messages_are_sent_again_before_the_remaining_events() {
        let mut queue = queue([retained("clock", "c"), retained("game", "a"), event(1)]);
        for (ticket, _) in send_all(&mut queue) {
            queue.acknowledge(ticket);
        }
        assert!(queue.is_empty());
        queue.push(event(2));
        queue.push(retained("game", "b"));
        queue.restart(Some(retained("state", "online")));
        let sent = send_all(&mut queue);
        assert_eq!(payloads(&sent), ["online", "c", "2", "b"]);
        for (ticket, _) in sent {
            assert!(queue.acknowledge(ticket).is_some());
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn outdated_retained_message_under_way_is_not_sent_again() {
        let mut queue = queue([retained("game", "a"), event(1)]);
        send_all(&mut queue);
        queue.push(retained("game", "b"));
        queue.restart(None);
        assert_eq!(payloads(&send_all(&mut queue)), ["1", "b"]);
    }

    #[test]
    fn changing_retained_messages_do_not_pile_up_without_a_broker() {
        let mut queue = queue([event(1)]);
        for _ in 0..10 * MAX_SPARE {
            queue.push(retained("placement", "p"));
        }
        queue.push(event(2));
        assert!(queue.entries.len() < 2 * MAX_SPARE);
        assert_eq!(payloads(&send_all(&mut queue)), ["1", "p", "2"]);
    }

    #[test]
    fn changing_retained_messages_do_not_pile_up_without_acknowledgements() {
        let mut queue = queue([event(1), retained("game", "a")]);
        let sent = send_all(&mut queue);
        queue.push(event(2));
        for _ in 0..10 * MAX_SPARE {
            queue.push(retained("placement", "p"));
            queue.push(retained("game", "b"));
        }
        queue.push(event(3));
        assert!(queue.entries.len() < 2 * MAX_SPARE);
        for (ticket, _) in sent {
            assert!(queue.acknowledge(ticket).is_some());
        }
        assert_eq!(payloads(&send_all(&mut queue)), ["2", "p", "b", "3"]);
    }

    #[test]
    fn events_are_counted_until_they_are_acknowledged() {
        let mut queue = queue([event(1), retained("game", "a"), event(10)]);
        assert_eq!(queue.events(), Events { count: 2, bytes: 3 });
        queue.restart(Some(retained("state", "online")));
        assert_eq!(queue.events(), Events { count: 2, bytes: 3 });
        for (ticket, _) in send_all(&mut queue) {
            queue.acknowledge(ticket);
        }
        assert_eq!(queue.events(), Events::default());
    }

    #[test]
    fn message_replaced_before_the_first_connection_leaves_no_gap() {
        let mut queue = queue([retained("game", "a"), retained("game", "b")]);
        let sent = send_all(&mut queue);
        assert_eq!(payloads(&sent), ["b"]);
        queue.acknowledge(sent[0].0);
        assert!(queue.is_empty() && queue.entries.is_empty());
    }
}
