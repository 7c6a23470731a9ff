//! Commands that come from the broker.

use std::sync::Arc;

use bytes::Bytes;
use kiebitz_game::command::Answer;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Filter, Publish, RetainForwardRule};

use super::message::Message;
use super::topics::{CommandTopic, Prefix};

/// A command as somebody sent it: nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The board's name, as a level of a topic.
    pub board: String,
    /// Whose topic it came on: the broker has made sure that it is their own.
    pub login: Option<String>,
    /// Who sent it, as the sender says: the user property `by`.
    pub by: Option<String>,
    /// The command.
    pub text: Bytes,
    /// Whoever subscribes later would get it once more. It is not carried out.
    pub retained: bool,
    /// Where the answer goes.
    pub reply: Reply,
    /// It is no command: events are wanted once more.
    pub is_resend: bool,
}

/// Where the answer to a command goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    topic: Arc<str>,
    correlation: Option<Bytes>,
}

impl Received {
    /// A message from the broker; `None`: it is on none of the topics for commands.
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
        let asked = properties.and_then(|properties| properties.response_topic.as_deref());
        let reply = Reply {
            correlation: properties.and_then(|properties| properties.correlation_data.clone()),
            ..Reply::to(&prefix.answer(&board, asked))
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
    /// The same from a broker that speaks MQTT 3.1.1.
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
    /// An answer on that topic.
    #[must_use]
    pub fn to(topic: &str) -> Self {
        Self {
            topic: topic.into(),
            correlation: None,
        }
    }

    /// The answer as a message.
    #[must_use]
    pub fn message(&self, answer: &Answer) -> Message {
        Message::answer(&self.topic, self.correlation.clone(), answer)
    }
}

/// What to subscribe to. The broker is not to send what it has retained.
pub(crate) fn filters(topics: Vec<String>) -> impl Iterator<Item = Filter> {
    topics.into_iter().map(|topic| Filter {
        preserve_retain: true,
        retain_forward_rule: RetainForwardRule::Never,
        ..Filter::new(topic, QoS::AtLeastOnce)
    })
}

#[cfg(test)]
mod tests {
    use rumqttc::v5::mqttbytes::v5::PublishProperties;

    use super::*;
    use crate::outputs::mqtt::Delivery;

    fn sent(topic: &str, properties: Option<PublishProperties>) -> Option<Received> {
        let publish = Publish::new(topic, QoS::AtLeastOnce, "{}", properties);
        Received::read(&Prefix::live(), &publish)
    }

    fn answered_at(asked: &str) -> String {
        let properties = PublishProperties {
            response_topic: Some(asked.to_owned()),
            correlation_data: Some("7".into()),
            ..PublishProperties::default()
        };
        let received = sent("kiebitz/boards/board-1/command", Some(properties)).expect("a command");
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
    fn topics_say_which_board_and_who() {
        let plain = sent("kiebitz/boards/board-1/command", None).expect("a command");
        assert_eq!((&*plain.board, plain.login), ("board-1", None));
        let own = sent("kiebitz/boards/board-1/command/meier", None).expect("a command");
        assert_eq!(own.login.as_deref(), Some("meier"));
        for other in [
            "kiebitz/boards/board-1/events",
            "kiebitz/boards/board-1/command/meier/2",
            "kiebitz/boards/board-1/command/",
            "kiebitz/boards//command",
            "club/boards/board-1/command",
            "kiebitz/boards/a/b/command",
        ] {
            assert_eq!(sent(other, None), None, "{other}");
        }
    }

    #[test]
    fn answers_go_where_they_are_wanted_and_nowhere_else_of_kiebitz() {
        let own = "kiebitz/boards/board-1/answer";
        assert_eq!(answered_at("desk/answers"), "desk/answers");
        assert_eq!(
            answered_at("kiebitz/boards/board-1/answer/desk"),
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
            assert_eq!(answered_at(forbidden), own, "{forbidden:?}");
        }
    }
}
