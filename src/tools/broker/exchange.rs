//! Who has subscribed to what, and the messages that are retained.

use std::collections::{BTreeMap, HashMap};

use rumqttc::v5::mqttbytes::v5::{
    DisconnectReasonCode, Filter, Publish, RetainForwardRule, SubscribeReasonCode,
};
use rumqttc::v5::mqttbytes::{QoS, valid_filter};
use tokio::sync::mpsc;

/// All clients and retained messages.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// By client id.
    clients: HashMap<String, Client>,
    /// By topic.
    retained: BTreeMap<String, Publish>,
    /// Connections so far.
    connections: u64,
}

#[derive(Debug)]
struct Client {
    connection: u64,
    queue: mpsc::Sender<Outgoing>,
    subscriptions: Vec<Filter>,
}

/// What a connection has to send to its client.
#[derive(Debug)]
pub(super) enum Outgoing {
    Publish(Box<Publish>),
    /// The end of the connection.
    Close(DisconnectReasonCode),
}

/// A place in the exchange, for one connection.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) id: String,
    pub(super) connection: u64,
    /// Ends if the client is [`QUEUE`] messages behind.
    pub(super) queue: mpsc::Receiver<Outgoing>,
}

/// Messages that wait for a client. One that is further behind is disconnected.
const QUEUE: usize = 1 << 16;

impl Exchange {
    /// Adds a client. A connection with the same client id is closed; an empty id is replaced by one of the broker's.
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

    /// Removes a client, unless another connection has taken over its id.
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

    /// Adds a subscription, or replaces the one with the same filter, and sends what is retained. At most QoS 1 is granted.
    pub(super) fn subscribe(&mut self, id: &str, connection: u64, mut filter: Filter) -> SubscribeReasonCode {
        if filter.path.starts_with("$share/") {
            return SubscribeReasonCode::SharedSubscriptionsNotSupported;
        }
        if !valid_filter(&filter.path) {
            return SubscribeReasonCode::TopicFilterInvalid;
        }
        filter.qos = at_most_once_acknowledged(filter.qos);
        let retained: Vec<Publish> = self
            .retained
            .iter()
            .filter(|(topic, _)| matches(topic, &filter.path))
            .map(|(_, publish)| publish.clone())
            .collect();
        // Taken over or closed meanwhile: nobody reads the answer.
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
        let mut keeps_up = true;
        for mut publish in retained.into_iter().take_while(|_| sends_retained) {
            publish.qos = lower(publish.qos, granted);
            keeps_up &= client
                .queue
                .try_send(Outgoing::Publish(Box::new(publish)))
                .is_ok();
        }
        if !keeps_up {
            self.clients.remove(id);
        }
        SubscribeReasonCode::Success(granted)
    }

    /// Removes a subscription; returns whether there was one.
    pub(super) fn unsubscribe(&mut self, id: &str, connection: u64, filter: &str) -> bool {
        let Some(client) = self.client(id, connection) else {
            return false;
        };
        let before = client.subscriptions.len();
        client.subscriptions.retain(|held| held.path != filter);
        client.subscriptions.len() < before
    }

    /// Hands a message to every client with a subscription for its topic, once each, and retains it if it says so.
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

fn at_most_once_acknowledged(qos: QoS) -> QoS {
    lower(qos, QoS::AtLeastOnce)
}

fn lower(one: QoS, other: QoS) -> QoS {
    if (one as u8) < (other as u8) { one } else { other }
}

/// Whether a topic matches a valid filter. A wildcard at the first level does not match topics that begin with `$`.
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

    /// The payloads that wait for a client, each with whether it is marked as retained.
    fn waiting(client: &mut Attached) -> Vec<(String, bool)> {
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
    fn retained_message_is_kept_until_an_empty_one_comes() {
        let mut exchange = Exchange::default();
        let mut client = attached(&mut exchange, "a");
        exchange.publish("b", "a", &retained("one"));
        exchange.publish("b", "a", &retained("two"));
        let filter = Filter::new("a", QoS::ExactlyOnce);
        let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
        assert_eq!(subscribed(&mut exchange, &client, filter.clone()), granted);
        assert_eq!(waiting(&mut client), [("two".to_owned(), true)]);
        exchange.publish("b", "a", &retained("three"));
        exchange.publish("b", "a", &retained(""));
        assert_eq!(
            waiting(&mut client),
            [("three".to_owned(), false), (String::new(), false)],
            "not marked for one who has subscribed before"
        );
        assert_eq!(subscribed(&mut exchange, &client, filter), granted);
        assert_eq!(waiting(&mut client), []);
    }

    #[test]
    fn options_of_a_subscription_are_kept_to() {
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
        assert_eq!(waiting(&mut client), [("before".to_owned(), true)], "once");
        exchange.publish("a", "a", &retained("own"));
        exchange.publish("b", "a", &retained("other's"));
        assert_eq!(waiting(&mut client), [("other's".to_owned(), true)]);
        subscribed(
            &mut exchange,
            &client,
            Filter {
                retain_forward_rule: RetainForwardRule::Never,
                ..filter
            },
        );
        assert_eq!(waiting(&mut client), []);
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
        assert_eq!(waiting(&mut client), []);
        for filter in ["a", "+", "#"] {
            assert!(exchange.unsubscribe(&client.id, client.connection, filter));
            assert!(!exchange.unsubscribe(&client.id, client.connection, filter));
        }
        exchange.publish("b", "a", &Publish::new("a", QoS::AtLeastOnce, "two", None));
        assert_eq!(waiting(&mut client), []);
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
        // What the first still does has no effect on the second.
        let all = || Filter::new("#", QoS::AtMostOnce);
        subscribed(&mut exchange, &first, all());
        exchange.detach(&first.id, first.connection);
        subscribed(&mut exchange, &second, all());
        exchange.publish("b", "a", &retained("one"));
        assert_eq!(waiting(&mut second), [("one".to_owned(), false)]);
    }

    #[test]
    fn client_that_is_too_far_behind_is_let_go() {
        let mut exchange = Exchange::default();
        let mut slow = attached(&mut exchange, "slow");
        subscribed(&mut exchange, &slow, Filter::new("#", QoS::AtMostOnce));
        for _ in 0..=QUEUE {
            exchange.publish("b", "a", &Publish::new("a", QoS::AtMostOnce, "", None));
        }
        assert_eq!(waiting(&mut slow).len(), QUEUE);
        assert!(slow.queue.is_closed());
    }
}
