//! Keeps back messages that the broker does not accept.

use std::collections::HashSet;
use std::sync::Arc;

use tracing::error;

use crate::outputs::mqtt::link::Limits;
use crate::outputs::mqtt::lost::LostReason;
use crate::outputs::mqtt::message::{Delivery, Message};
use crate::outputs::mqtt::queue::{MessageQueue, Ticket};

/// Messages that the broker does not accept.
///
/// A broker with a size limit that it has not announced ends the connection when a message exceeds the limit. The lost
/// connection does not show which message that was, so the next one sends messages one at a time until the messages
/// under way at the loss are through. The message on which that connection ends is kept back, together with all
/// messages that are as large.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Number of acknowledgements until several messages may be under way again.
    one_by_one: usize,
    /// Size of the largest message acknowledged on this connection.
    largest_accepted: usize,
    suspect: Option<Suspect>,
    /// Size of the smallest message that the broker has refused for its size.
    smallest_refused: Option<usize>,
    /// Topics with a refused message in the log.
    logged: HashSet<Arc<str>>,
}

/// A message on which the broker has closed the connection without giving a reason.
#[derive(Debug)]
struct Suspect {
    topic: Arc<str>,
    delivery: Delivery,
    /// Number of consecutive connections that ended on this message.
    times: u32,
}

/// Number of connections that must end on a message before it is kept back if the broker gives no reason. A broker that
/// restarts also closes connections without a reason, and no event may be lost to a restart.
const MIN_CLOSED: u32 = 3;
/// Upper estimate for the size of a packet without topic, payload and correlation data, in bytes.
const PACKET_OVERHEAD: usize = 72;

impl Refusals {
    /// Maximum number of unacknowledged messages.
    pub(super) fn window(&self, limits: Limits) -> usize {
        match self.one_by_one {
            0 => limits.window,
            _ => 1,
        }
    }

    /// Whether the broker would refuse a message. Logs the message if it is the first refused one of its topic, since a
    /// game that exceeds the limit keeps growing.
    pub(super) fn keeps_back(&mut self, message: &Message, limits: Limits) -> bool {
        let bytes = size(message);
        if bytes > limits.packet_bytes {
            let limit = limits.packet_bytes;
            self.log_once(
                message,
                &format!("has {bytes} bytes, but the broker accepts at most {limit}"),
            );
            return true;
        }
        if self.smallest_refused.is_some_and(|refused| bytes >= refused) {
            self.log_too_large(message);
            return true;
        }
        false
    }

    /// Records an acknowledgement.
    pub(super) fn accepted(&mut self, message: &Message) {
        self.one_by_one = self.one_by_one.saturating_sub(1);
        self.largest_accepted = self.largest_accepted.max(size(message));
    }

    /// Logs a message that the broker has rejected for the given reason, once for each topic.
    pub(super) fn rejected(&mut self, message: &Message, reason: &str) {
        if self.logged.insert(Arc::clone(&message.topic)) {
            let topic = &*message.topic;
            error!(
                topic,
                reason, "the MQTT broker rejects a message to {topic}: {reason}"
            );
        }
    }

    /// Records the loss of a connection. `queue` has the messages that were under way. Returns the reason, more
    /// specific if possible, and the message to keep back from now on.
    pub(super) fn lost(&mut self, reason: LostReason, queue: &MessageQueue) -> (LostReason, Option<Ticket>) {
        let largest_accepted = core::mem::take(&mut self.largest_accepted);
        let is_certain = matches!(reason, LostReason::TooLarge);
        if queue.window() == 0 || !(is_certain || matches!(reason, LostReason::Closed)) {
            return (reason, None);
        }
        // The messages under way come after the greeting and the retained messages that are published again.
        self.one_by_one = queue.window() + queue.retained_topics() + 1;
        let Some((ticket, message)) = queue.only_sent() else {
            return (reason, None);
        };
        if !is_certain {
            // A message that is not larger than an accepted one was not refused for its size.
            if largest_accepted == 0 || size(message) <= largest_accepted {
                self.suspect = None;
                return (reason, None);
            }
            if self.suspect(message) < MIN_CLOSED {
                let topic = Arc::clone(&message.topic);
                return (LostReason::ClosedOn { topic }, None);
            }
        }
        self.suspect = None;
        let smallest = self.smallest_refused.unwrap_or(usize::MAX);
        self.smallest_refused = Some(size(message).min(smallest));
        self.log_too_large(message);
        (LostReason::TooLarge, Some(ticket))
    }

    /// Forgets the size limit. Call when the broker may have been configured anew.
    pub(super) fn forget_limit(&mut self) {
        self.smallest_refused = None;
    }

    /// Counts a connection that ended on this message.
    fn suspect(&mut self, message: &Message) -> u32 {
        let before = self.suspect.take();
        let before = before
            .filter(|suspect| suspect.topic == message.topic && suspect.delivery == message.delivery)
            .map_or(0, |suspect| suspect.times);
        let times = before + 1;
        self.suspect = Some(Suspect {
            topic: Arc::clone(&message.topic),
            delivery: message.delivery.clone(),
            times,
        });
        times
    }

    fn log_too_large(&mut self, message: &Message) {
        let bytes = size(message);
        self.log_once(
            message,
            &format!("has {bytes} bytes, and the broker refuses messages of this size"),
        );
    }

    fn log_once(&mut self, message: &Message, problem: &str) {
        if !self.logged.insert(Arc::clone(&message.topic)) {
            return;
        }
        let (topic, bytes) = (&*message.topic, size(message));
        let effect = match message.delivery {
            Delivery::Event { .. } => "the event is only in the journal",
            Delivery::Retained => "the retained message there is out of date",
            Delivery::Answer { .. } => "the command is not answered",
        };
        error!(
            topic,
            bytes,
            "a message to {topic} {problem}: {effect}; raise the broker's limit (max_packet_size or \
             message_size_limit of mosquitto)"
        );
    }
}

/// Upper estimate for the size of a message's packet, in bytes.
fn size(message: &Message) -> usize {
    let correlation = match &message.delivery {
        Delivery::Answer {
            correlation: Some(data),
        } => data.len(),
        Delivery::Answer { correlation: None } | Delivery::Event { .. } | Delivery::Retained => 0,
    };
    message.topic.len() + message.payload.len() + correlation + PACKET_OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::mqtt::link::MissingFeatures;

    const LIMITS: Limits = Limits {
        window: 64,
        packet_bytes: usize::MAX,
        missing: MissingFeatures {
            retain: false,
            acknowledgements: false,
        },
    };

    fn message(topic: &str, bytes: usize) -> Message {
        Message::text(&topic.into(), "x".repeat(bytes))
    }

    fn event(seq: u64, bytes: usize) -> Message {
        Message {
            delivery: Delivery::Event {
                board: "b".into(),
                seq,
            },
            ..message("events", bytes)
        }
    }

    /// Sends what may be sent until the broker, which refuses payloads of `limit` bytes, ends the connection. Returns
    /// the topics that it acknowledges, and whether the connection was lost.
    fn connection(
        refusals: &mut Refusals,
        queue: &mut MessageQueue,
        limit: usize,
        reason: fn() -> LostReason,
    ) -> (Vec<String>, bool) {
        queue.restart(Some(message("state", 10)));
        let mut accepted = Vec::new();
        loop {
            let mut under_way = Vec::new();
            while queue.window() < refusals.window(LIMITS)
                && let Some((ticket, message)) = queue.send_next()
            {
                match refusals.keeps_back(message, LIMITS) {
                    true => drop(queue.acknowledge(ticket)),
                    false => under_way.push((ticket, message.clone())),
                }
            }
            if under_way.is_empty() {
                return (accepted, false);
            }
            for (ticket, message) in under_way {
                if message.payload.len() >= limit {
                    if let (_, Some(ticket)) = refusals.lost(reason(), queue) {
                        queue.acknowledge(ticket);
                    }
                    queue.rewind();
                    return (accepted, true);
                }
                queue.acknowledge(ticket);
                refusals.accepted(&message);
                accepted.push(message.topic.to_string());
            }
        }
    }

    fn losses(reason: fn() -> LostReason) -> usize {
        let (mut refusals, mut queue) = (Refusals::default(), MessageQueue::default());
        queue.push(event(1, 5));
        queue.push(message("game", 100));
        queue.push(event(2, 5));
        let mut losses = 0;
        while connection(&mut refusals, &mut queue, 50, reason).1 {
            losses += 1;
            assert!(losses < 20, "this does not end");
        }
        assert!(queue.is_empty());
        queue.push(message("game", 101));
        queue.push(event(3, 5));
        let (accepted, lost) = connection(&mut refusals, &mut queue, 50, reason);
        assert!(!lost, "a larger message is kept back as well");
        assert!(accepted.contains(&"events".to_owned()), "{accepted:?}");
        refusals.forget_limit();
        assert!(connection(&mut refusals, &mut queue, 50, reason).1);
        losses
    }

    #[test]
    fn refused_message_is_found_and_kept_back() {
        assert_eq!(losses(|| LostReason::TooLarge), 2);
        assert_eq!(losses(|| LostReason::Closed), 1 + MIN_CLOSED as usize);
    }

    #[test]
    fn the_size_of_an_answer_includes_its_correlation_data() {
        let answer = |correlation: usize| Message {
            delivery: Delivery::Answer {
                correlation: Some(vec![0; correlation].into()),
            },
            ..message("answer", 10)
        };
        let limits = Limits {
            packet_bytes: 1000,
            ..LIMITS
        };
        let mut refusals = Refusals::default();
        assert!(!refusals.keeps_back(&answer(100), limits));
        assert!(refusals.keeps_back(&answer(1000), limits));
    }

    #[test]
    fn no_message_is_kept_back_because_the_broker_goes_away() {
        let (mut refusals, mut queue) = (Refusals::default(), MessageQueue::default());
        for _ in 0..10 {
            queue.restart(Some(message("state", 10)));
            queue.send_next();
            assert_eq!(refusals.lost(LostReason::Closed, &queue).1, None);
            queue.rewind();
        }
        queue.push(event(1, 100));
        for reason in [LostReason::NoAnswer, LostReason::Stopped, LostReason::Closed] {
            queue.restart(Some(message("state", 10)));
            let (ticket, greeting) = queue.send_next().expect("the greeting");
            refusals.accepted(&greeting.clone());
            queue.acknowledge(ticket);
            queue.send_next();
            assert_eq!(refusals.lost(reason, &queue).1, None);
            queue.rewind();
        }
    }
}
