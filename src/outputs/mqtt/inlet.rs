//! Commands from the broker.

use std::sync::Arc;

use bytes::Bytes;
use kiebitz_game::command::Answer;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Filter, Publish, RetainForwardRule};

use super::message::Message;
use super::topics::{CommandTopic, Prefix};

/// A command or resend request as received, not yet checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The board's level in the topic. It is derived from the board's name.
    pub board: String,
    /// The login to which the topic belongs, if any. The broker's access list must ensure that only this login can
    /// publish there.
    pub login: Option<String>,
    /// The name that the sender claims, from the user property `by`.
    pub by: Option<String>,
    /// The payload, not yet checked.
    pub text: Bytes,
    /// Whether the broker had retained the message. A retained command is not carried out, since every later subscriber
    /// would receive it again.
    pub retained: bool,
    /// The destination of the answer.
    pub reply: Reply,
    /// Whether the message requests that events are sent again, and is not a command.
    pub is_resend: bool,
}

/// The destination of the answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    topic: Arc<str>,
    correlation: Option<Bytes>,
}

impl Received {
    /// Parses a message from the broker; `None` if its topic is not a command or resend topic.
    pub(crate) fn read(prefix: &Prefix, publish: &Publish) -> Option<Self> {
        let topic = core::str::from_utf8(&publish.topic).ok()?;
        let CommandTopic {
            board,
            login,
            is_resend,
        } = prefix.command_topic(topic)?;
        let properties = publish.properties.as_ref();
        let by = properties.and_then(|properties| {
            let mut named = properties.user_properties.iter();
            named.find_map(|(name, value)| (name == "by" && !value.is_empty()).then(|| value.clone()))
        });
        let response_topic = properties.and_then(|properties| properties.response_topic.as_deref());
        let reply = Reply {
            correlation: properties.and_then(|properties| properties.correlation_data.clone()),
            ..Reply::to(&prefix.answer(&board, response_topic))
        };
        Some(Self {
            board,
            login,
            by,
            text: publish.payload.clone(),
            retained: publish.retain,
            reply,
            is_resend,
        })
    }
}

impl Received {
    /// Parses a message from a broker that supports only MQTT 3.1.1, without properties.
    pub(crate) fn read_old(prefix: &Prefix, topic: &str, text: Bytes, retained: bool) -> Option<Self> {
        let CommandTopic {
            board,
            login,
            is_resend,
        } = prefix.command_topic(topic)?;
        Some(Self {
            is_resend,
            reply: Reply::to(&prefix.answer(&board, None)),
            board,
            login,
            by: None,
            text,
            retained,
        })
    }
}

impl Reply {
    /// Creates a destination without correlation data.
    #[must_use]
    pub fn to(topic: &str) -> Self {
        Self {
            topic: topic.into(),
            correlation: None,
        }
    }

    /// Creates the message with an answer.
    #[must_use]
    pub fn message(&self, answer: &Answer) -> Message {
        Message::answer(&self.topic, self.correlation.clone(), answer)
    }
}

/// Creates subscription filters that exclude retained messages. The quality of service is 0: with 1, a broker that
/// resumes the session after an outage would deliver commands whose senders gave up long ago.
pub(crate) fn filters(topics: Vec<String>) -> impl Iterator<Item = Filter> {
    topics.into_iter().map(|topic| Filter {
        preserve_retain: true,
        retain_forward_rule: RetainForwardRule::Never,
        ..Filter::new(topic, QoS::AtMostOnce)
    })
}

#[cfg(test)]
mod tests {
    use rumqttc::v5::mqttbytes::v5::PublishProperties;

    use super::*;
    use crate::outputs::mqtt::Delivery;

    fn receive(topic: &str, properties: Option<PublishProperties>) -> Option<Received> {
        let publish = Publish::new(topic, QoS::AtLeastOnce, "{}", properties);
        Received::read(&Prefix::live(), &publish)
    }

    fn answer_topic(response_topic: &str) -> String {
        let properties = PublishProperties {
            response_topic: Some(response_topic.to_owned()),
            correlation_data: Some("7".into()),
            ..PublishProperties::default()
        };
        let received = receive("kiebitz/boards/board-1/command", Some(properties)).expect("a command");
        let answer = Answer {
            id: Some("1".to_owned()),
            ok: true,
            note: None,
            error: None,
            standing: None,
            kept: true,
        };
        let message = received.reply.message(&answer);
        let correlation = Some("7".into());
        assert_eq!(message.delivery, Delivery::Answer { correlation });
        message.topic.to_string()
    }

    #[test]
    fn topics_name_the_board_and_the_login() {
        let plain = receive("kiebitz/boards/board-1/command", None).expect("a command");
        assert_eq!((&*plain.board, plain.login), ("board-1", None));
        let own = receive("kiebitz/boards/board-1/command/meier", None).expect("a command");
        assert_eq!(own.login.as_deref(), Some("meier"));
        for other in [
            "kiebitz/boards/board-1/events",
            "kiebitz/boards/board-1/command/meier/2",
            "kiebitz/boards/board-1/command/",
            "kiebitz/boards//command",
            "club/boards/board-1/command",
            "kiebitz/boards/a/b/command",
        ] {
            assert_eq!(receive(other, None), None, "{other}");
        }
    }

    #[test]
    fn answers_go_to_the_requested_topic_but_to_no_other_topic_of_kiebitz() {
        let own = "kiebitz/boards/board-1/answer";
        assert_eq!(answer_topic("desk/answers"), "desk/answers");
        assert_eq!(
            answer_topic("kiebitz/boards/board-1/answer/desk"),
            "kiebitz/boards/board-1/answer/desk"
        );
        for forbidden in [
            "kiebitz/boards/board-1/game",
            "kiebitz/public/boards/board-1/game",
            "kiebitz",
            "$SYS/broker",
            "desk/+",
            "desk/\u{7}",
            "",
        ] {
            assert_eq!(answer_topic(forbidden), own, "{forbidden:?}");
        }
    }
}
