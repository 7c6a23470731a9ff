//! Subscriptions and retained messages.

use std::collections::{BTreeMap, HashMap};

use rumqttc::v5::mqttbytes::v5::{
    DisconnectReasonCode, Filter, Publish, RetainForwardRule, SubscribeReasonCode,
};
use rumqttc::v5::mqttbytes::{QoS, valid_filter};
use tokio::sync::mpsc;

#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// Clients by client id.
    clients: HashMap<String, Client>,
    /// Retained messages by topic.
    retained: BTreeMap<String, Publish>,
    /// Number of connections so far; the last one has this number.
    connections: u64,
}

#[derive(Debug)]
struct Client {
    connection: u64,
    queue: mpsc::Sender<Outgoing>,
    subscriptions: Vec<Filter>,
}

#[derive(Debug)]
pub(super) enum Outgoing {
    Publish(Box<Publish>),
    Close(DisconnectReasonCode),
}

/// Registration of one connection with the exchange.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) id: String,
    pub(super) connection: u64,
    /// Send queue. Ends when the client falls [`QUEUE`] messages behind.
    pub(super) queue: mpsc::Receiver<Outgoing>,
}

/// Length of a client's send queue, in messages. A client that falls further behind is disconnected.
const QUEUE: usize = 1 << 16;

impl Exchange {
    /// Adds a client. Closes an older connection with the same client id, and assigns an id if `id` is empty.
    pub(super) fn attach(&mut self, id: String) -> Attached {
        self.connections += 1;
        let connection = self.connections;
        let id = if id.is_empty() {
            format!("auto-{connection}")
        } else {
            id
        };
        let (sender, queue) = mpsc::channel(QUEUE);
        let client = Client {
            connection,
            queue: sender,
            subscriptions: Vec::new(),
        };
        if let Some(before) = self.clients.insert(id.clone(), client) {
            let _ = before
                .queue
                .try_send(Outgoing::Close(DisconnectReasonCode::SessionTakenOver));
        }
        Attached {
            id,
            connection,
            queue,
        }
    }

    /// Removes a client, unless another connection has taken over its client id.
    pub(super) fn detach(&mut self, id: &str, connection: u64) {
        if self.client(id, connection).is_some() {
            self.clients.remove(id);
        }
    }

    fn client(&mut self, id: &str, connection: u64) -> Option<&mut Client> {
        self.clients
            .get_mut(id)
            .filter(|client| client.connection == connection)
    }

    /// Adds a subscription, or replaces the one with the same filter, and queues the matching retained messages. Grants
    /// at most QoS 1.
    pub(super) fn subscribe(&mut self, id: &str, connection: u64, mut filter: Filter) -> SubscribeReasonCode {
        if filter.path.starts_with("$share/") {
            return SubscribeReasonCode::SharedSubscriptionsNotSupported;
        }
        if !valid_filter(&filter.path) {
            return SubscribeReasonCode::TopicFilterInvalid;
        }
        filter.qos = capped_qos(filter.qos);
        let retained: Vec<Publish> = self
            .retained
            .iter()
            .filter(|(topic, _)| matches(topic, &filter.path))
            .map(|(_, publish)| publish.clone())
            .collect();
        // The client was removed meanwhile, so nobody reads the answer.
        let Some(client) = self.client(id, connection) else {
            return SubscribeReasonCode::Failure;
        };
        let others = client.subscriptions.len();
        client.subscriptions.retain(|held| held.path != filter.path);
        let is_new = client.subscriptions.len() == others;
        let granted = filter.qos;
        let sends_retained = match filter.retain_forward_rule {
            RetainForwardRule::OnEverySubscribe => true,
            RetainForwardRule::OnNewSubscribe => is_new,
            RetainForwardRule::Never => false,
        };
        client.subscriptions.push(filter);
        let mut queued_all = true;
        for mut publish in retained.into_iter().take_while(|_| sends_retained) {
            publish.qos = lower(publish.qos, granted);
            queued_all &= client
                .queue
                .try_send(Outgoing::Publish(Box::new(publish)))
                .is_ok();
        }
        if !queued_all {
            self.clients.remove(id);
        }
        SubscribeReasonCode::Success(granted)
    }

    /// Removes a subscription. Returns `false` if there was none with this filter.
    pub(super) fn unsubscribe(&mut self, id: &str, connection: u64, filter: &str) -> bool {
        let Some(client) = self.client(id, connection) else {
            return false;
        };
        let before = client.subscriptions.len();
        client.subscriptions.retain(|held| held.path != filter);
        client.subscriptions.len() < before
    }

    /// Queues a message once for every client with a matching subscription, and stores it if its retain flag is set. A
    /// retained message with an empty payload deletes the stored one.
    pub(super) fn publish(&mut self, from: &str, topic: &str, publish: &Publish) {
        if publish.retain && publish.payload.is_empty() {
            self.retained.remove(topic);
        } else if publish.retain {
            self.retained.insert(topic.to_owned(), publish.clone());
        }
        self.clients.retain(|id, client| {
            let granting: Vec<&Filter> = client
                .subscriptions
                .iter()
                .filter(|held| matches(topic, &held.path) && !(held.nolocal && id == from))
                .collect();
            let Some(qos) = granting
                .iter()
                .map(|held| held.qos)
                .reduce(|one, other| if lower(one, other) == one { other } else { one })
            else {
                return true;
            };
            let copy = Publish {
                qos: lower(publish.qos, qos),
                retain: publish.retain && granting.iter().any(|held| held.preserve_retain),
                ..publish.clone()
            };
            client.queue.try_send(Outgoing::Publish(Box::new(copy))).is_ok()
        });
    }
}

fn capped_qos(qos: QoS) -> QoS {
    lower(qos, QoS::AtLeastOnce)
}

fn lower(one: QoS, other: QoS) -> QoS {
    if (one as u8) < (other as u8) { one } else { other }
}

/// Returns whether a topic matches a valid filter. A wildcard at the first level does not match topics that begin with
/// `$` (MQTT 5, section 4.7.2).
fn matches(topic: &str, filter: &str) -> bool {
    if topic.starts_with('$') && filter.starts_with(['#', '+']) {
        return false;
    }
    let mut levels = topic.split('/');
    for part in filter.split('/') {
        match (part, levels.next()) {
            ("#", _) => return true,
            ("+", Some(_)) => {}
            (part, Some(level)) if part == level => {}
            _ => return false,
        }
    }
    levels.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_match_topics_as_the_standard_says() {
        for (filter, topic, expected) in [
            ("a/b", "a/b", true),
            ("a/b", "a", false),
            ("a/b", "a/b/c", false),
            ("a/+", "a/b", true),
            ("a/+", "a/", true),
            ("a/+", "a", false),
            ("+/+", "/b", true),
            ("+", "/b", false),
            ("a/#", "a", true),
            ("a/#", "a/b/c", true),
            ("a/#", "ab", false),
            ("#", "a/b", true),
            ("#", "$SYS/b", false),
            ("+/b", "$SYS/b", false),
            ("$SYS/#", "$SYS/b", true),
            ("a/+/c", "a/ä/c", true),
            ("ä/#", "ä", true),
        ] {
            assert_eq!(matches(topic, filter), expected, "{filter} {topic}");
        }
    }

    fn attached(exchange: &mut Exchange, id: &str) -> Attached {
        exchange.attach(id.to_owned())
    }

    fn subscribed(exchange: &mut Exchange, client: &Attached, filter: Filter) -> SubscribeReasonCode {
        exchange.subscribe(&client.id, client.connection, filter)
    }

    fn retained(payload: &str) -> Publish {
        Publish {
            retain: true,
            ..Publish::new("a", QoS::AtLeastOnce, payload.to_owned(), None)
        }
    }

    /// Drains the send queue of a client. Returns payloads and retain flags.
    fn drain(client: &mut Attached) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        while let Ok(outgoing) = client.queue.try_recv() {
            let Outgoing::Publish(publish) = outgoing else {
                panic!("{outgoing:?}");
            };
            all.push((
                String::from_utf8(publish.payload.to_vec()).unwrap(),
                publish.retain,
            ));
        }
        all
    }

    #[test]
    fn retained_message_is_kept_until_an_empty_payload_deletes_it() {
        let mut exchange = Exchange::default();
        let mut client = attached(&mut exchange, "a");
        exchange.publish("b", "a", &retained("one"));
        exchange.publish("b", "a", &retained("two"));
        let filter = Filter::new("a", QoS::ExactlyOnce);
        let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
        assert_eq!(subscribed(&mut exchange, &client, filter.clone()), granted);
        assert_eq!(drain(&mut client), [("two".to_owned(), true)]);
        exchange.publish("b", "a", &retained("three"));
        exchange.publish("b", "a", &retained(""));
        assert_eq!(
            drain(&mut client),
            [("three".to_owned(), false), (String::new(), false)],
            "not marked for one who has subscribed before"
        );
        assert_eq!(subscribed(&mut exchange, &client, filter), granted);
        assert_eq!(drain(&mut client), []);
    }

    #[test]
    fn subscription_options_are_respected() {
        let mut exchange = Exchange::default();
        let mut client = attached(&mut exchange, "a");
        exchange.publish("b", "a", &retained("before"));
        let filter = Filter {
            nolocal: true,
            preserve_retain: true,
            retain_forward_rule: RetainForwardRule::OnNewSubscribe,
            ..Filter::new("#", QoS::AtMostOnce)
        };
        subscribed(&mut exchange, &client, filter.clone());
        subscribed(&mut exchange, &client, filter.clone());
        assert_eq!(drain(&mut client), [("before".to_owned(), true)], "once");
        exchange.publish("a", "a", &retained("own"));
        exchange.publish("b", "a", &retained("other's"));
        assert_eq!(drain(&mut client), [("other's".to_owned(), true)]);
        subscribed(
            &mut exchange,
            &client,
            Filter {
                retain_forward_rule: RetainForwardRule::Never,
                ..filter
            },
        );
        assert_eq!(drain(&mut client), []);
    }

    #[test]
    fn overlapping_subscriptions_get_a_message_once_with_the_higher_qos() {
        let mut exchange = Exchange::default();
        let mut client = attached(&mut exchange, "a");
        for (filter, qos) in [
            ("a", QoS::AtMostOnce),
            ("+", QoS::AtLeastOnce),
            ("#", QoS::AtMostOnce),
        ] {
            subscribed(&mut exchange, &client, Filter::new(filter, qos));
        }
        exchange.publish("b", "a", &Publish::new("a", QoS::AtLeastOnce, "one", None));
        let Ok(Outgoing::Publish(publish)) = client.queue.try_recv() else {
            panic!("a message");
        };
        assert_eq!(publish.qos, QoS::AtLeastOnce);
        assert_eq!(drain(&mut client), []);
        for filter in ["a", "+", "#"] {
            assert!(exchange.unsubscribe(&client.id, client.connection, filter));
            assert!(!exchange.unsubscribe(&client.id, client.connection, filter));
        }
        exchange.publish("b", "a", &Publish::new("a", QoS::AtLeastOnce, "two", None));
        assert_eq!(drain(&mut client), []);
    }

    #[test]
    fn filters_that_cannot_be_served_are_refused() {
        let mut exchange = Exchange::default();
        let client = attached(&mut exchange, "a");
        for (filter, reason) in [
            ("$share/a/b", SubscribeReasonCode::SharedSubscriptionsNotSupported),
            ("a/#/b", SubscribeReasonCode::TopicFilterInvalid),
            ("", SubscribeReasonCode::TopicFilterInvalid),
        ] {
            let filter = Filter::new(filter, QoS::AtMostOnce);
            assert_eq!(subscribed(&mut exchange, &client, filter), reason);
        }
    }

    #[test]
    fn second_connection_takes_the_client_id_over() {
        let mut exchange = Exchange::default();
        let mut first = attached(&mut exchange, "a");
        let mut second = attached(&mut exchange, "a");
        assert!(matches!(
            first.queue.try_recv(),
            Ok(Outgoing::Close(DisconnectReasonCode::SessionTakenOver))
        ));
        // Calls on behalf of the first connection must not affect the second.
        let all = || Filter::new("#", QoS::AtMostOnce);
        subscribed(&mut exchange, &first, all());
        exchange.detach(&first.id, first.connection);
        subscribed(&mut exchange, &second, all());
        exchange.publish("b", "a", &retained("one"));
        assert_eq!(drain(&mut second), [("one".to_owned(), false)]);
    }

    #[test]
    fn client_that_is_too_far_behind_is_disconnected() {
        let mut exchange = Exchange::default();
        let mut slow = attached(&mut exchange, "slow");
        subscribed(&mut exchange, &slow, Filter::new("#", QoS::AtMostOnce));
        for _ in 0..=QUEUE {
            exchange.publish("b", "a", &Publish::new("a", QoS::AtMostOnce, "", None));
        }
        assert_eq!(drain(&mut slow).len(), QUEUE);
        assert!(slow.queue.is_closed());
    }
}
