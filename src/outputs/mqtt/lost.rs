//! Reasons why there is no connection to the broker, as messages for the broker's administrator.

use std::io;
use std::sync::Arc;

use rumqttc::v5::mqttbytes::Error as PacketError;
use rumqttc::v5::mqttbytes::v5::{ConnectReturnCode, DisconnectReasonCode};
use rumqttc::v5::{ConnectionError, StateError, TlsError as ClientTlsError};
use rumqttc::{self as four};

use super::client::Dialect;
use super::link::MissingFeatures;
use super::login::LoginError;
use super::settings::MqttConfig;
use super::tls::{TlsError, TlsRefusal};

#[derive(Debug, thiserror::Error)]
pub(crate) enum LostReason {
    /// Another client has connected with the same id. Reconnecting at once would disconnect that client in turn.
    #[error(
        "another program uses the client id {client_id}: check whether a second kiebitz has the same prefix and \
         the same name"
    )]
    TakenOver { client_id: String },
    /// The broker closed several connections in a row without a reason, each soon after accepting it. MQTT 3.1.1 cannot
    /// report a takeover in another way.
    #[error(
        "the broker closes every connection at once: probably another program uses the client id {client_id}; \
         check whether a second kiebitz has the same prefix and the same name"
    )]
    ProbablyTakenOver { client_id: String },
    #[error(transparent)]
    Login(#[from] LoginError),
    #[error("the broker rejects the user {user:?} or the password")]
    LoginRefused { user: String },
    #[error("the broker requires a user and a password")]
    LoginMissing,
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The broker closed the connection before accepting it.
    #[error("the broker closes the connection during the handshake{}", hint(*.encrypted, *.forced))]
    ClosedEarly {
        encrypted: bool,
        /// The configured version of MQTT.
        forced: Option<Dialect>,
    },
    /// The broker closed the connection after accepting it.
    #[error("the broker has closed the connection without giving a reason")]
    Closed,
    /// The broker closed the connection on a message that was larger than all previous ones.
    #[error("the broker has closed the connection on a message to {topic} without giving a reason")]
    ClosedOn { topic: Arc<str> },
    #[error("the broker refuses a message because of its size")]
    TooLarge,
    #[error("the broker does not answer")]
    NoAnswer,
    /// The broker did not answer the CONNECT of MQTT 5. Some brokers that support only 3.1.1 wait for more bytes
    /// forever.
    #[error(
        "the broker does not answer; if it runs and speaks only MQTT 3.1.1, enter `protocol = \"3.1.1\"` under \
         [mqtt]"
    )]
    NoAnswerToFirst,
    #[error("the server at this address speaks neither MQTT 5 nor 3.1.1")]
    NoMqtt5,
    #[error(
        "the server at this address does not speak MQTT {protocol}: remove `protocol` under [mqtt], or change it"
    )]
    OtherVersion { protocol: Dialect },
    #[error("{0}")]
    Unreachable(io::Error),
    #[error("{0}")]
    Client(Box<ConnectionError>),
    #[error("{0}")]
    OldClient(Box<four::ConnectionError>),
    #[error("the MQTT client has stopped")]
    Stopped,
}

/// The reason that the broker gives for refusing or ending a connection, if it stays until somebody changes the broker
/// or the configuration. Some brokers ban clients that connect often in spite of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "the broker does not allow retained messages: allow them there (`retain_available true` in mosquitto.conf)"
    )]
    NoRetain,
    #[error("the broker allows only messages of QoS 0: allow QoS 1 there (`max_qos 1` in mosquitto.conf)")]
    NoAcknowledgements,
    #[error(
        "the broker has banned this client, its user or its address: end the ban there, and find out what caused it"
    )]
    Banned,
    #[error("a quota of the broker is used up: raise its limits for this client or user there")]
    QuotaExceeded,
    #[error("the broker gets too many new connections: raise its limit of connections per second there")]
    ConnectionRate,
    #[error(
        "the broker gets too many messages from this client: raise its limit of messages per second there"
    )]
    MessageRate,
    #[error(
        "the broker wants its clients to use another server: ask its operator for the address, and enter it as `url` \
         under [mqtt]"
    )]
    OtherServer,
}

impl Refusal {
    fn of(error: &ConnectionError) -> Option<Self> {
        use {ConnectReturnCode as Connect, DisconnectReasonCode as Disconnect};
        Some(match error {
            ConnectionError::ConnectionRefused(code) => match code {
                Connect::RetainNotSupported => Self::NoRetain,
                Connect::QoSNotSupported => Self::NoAcknowledgements,
                Connect::Banned => Self::Banned,
                Connect::QuotaExceeded => Self::QuotaExceeded,
                Connect::ConnectionRateExceeded => Self::ConnectionRate,
                Connect::UseAnotherServer | Connect::ServerMoved => Self::OtherServer,
                _ => return None,
            },
            ConnectionError::MqttState(StateError::ServerDisconnect { reason_code, .. }) => match reason_code
            {
                Disconnect::RetainNotSupported => Self::NoRetain,
                Disconnect::QoSNotSupported => Self::NoAcknowledgements,
                Disconnect::QuotaExceeded => Self::QuotaExceeded,
                Disconnect::ConnectionRateExceeded => Self::ConnectionRate,
                Disconnect::MessageRateTooHigh => Self::MessageRate,
                Disconnect::UseAnotherServer | Disconnect::ServerMoved => Self::OtherServer,
                _ => return None,
            },
            // rumqttc does not know this reason in a DISCONNECT, although EMQX sends it.
            ConnectionError::MqttState(StateError::Deserialization(
                PacketError::InvalidConnectReturnCode(BANNED),
            )) => Self::Banned,
            _ => return None,
        })
    }
}

const BANNED: u8 = 0x8a;
const PACKET_TOO_LARGE: u8 = DisconnectReasonCode::PacketTooLarge as u8;

/// Suggests why a broker may close the connection during the handshake.
fn hint(encrypted: bool, forced: Option<Dialect>) -> String {
    let port = if encrypted {
        "; it may require a client certificate"
    } else {
        "; if this port is for encrypted connections, the URL must begin with mqtts://"
    };
    match forced {
        Some(protocol) => {
            format!("{port}; if it does not speak MQTT {protocol}, remove `protocol` under [mqtt]")
        }
        None => port.to_owned(),
    }
}

impl LostReason {
    /// Translates an error of rumqttc. `accepted` is whether the broker had accepted the connection before the error.
    pub(crate) fn of(error: ConnectionError, config: &MqttConfig, accepted: bool) -> Self {
        if let (Some(tls), Some(error)) = (&config.tls, tls_error(&error)) {
            return TlsError::Refused(tls.refusal(error, &config.host)).into();
        }
        if let Some(refusal) = Refusal::of(&error) {
            return refusal.into();
        }
        match error {
            ConnectionError::MqttState(StateError::ServerDisconnect {
                reason_code: DisconnectReasonCode::SessionTakenOver,
                ..
            }) => Self::TakenOver {
                client_id: config.client_id(),
            },
            ConnectionError::MqttState(
                StateError::ServerDisconnect {
                    reason_code: DisconnectReasonCode::PacketTooLarge,
                    ..
                }
                // rumqttc itself refuses to send a packet above the limit that the broker has announced.
                | StateError::OutgoingPacketTooLarge { .. }
                // mosquitto sends this reason in a PUBACK, although MQTT does not allow it there.
                | StateError::Deserialization(PacketError::InvalidConnectReturnCode(PACKET_TOO_LARGE)),
            ) if accepted => Self::TooLarge,
            ConnectionError::ConnectionRefused(
                ConnectReturnCode::BadUserNamePassword | ConnectReturnCode::NotAuthorized,
            ) => match config.user() {
                Some(user) => Self::LoginRefused {
                    user: user.to_owned(),
                },
                None => Self::LoginMissing,
            },
            // The server sent unencrypted data or closed the connection during the TLS handshake.
            ConnectionError::Tls(ClientTlsError::Io(error)) if is_disconnect(&error) => {
                TlsError::Refused(TlsRefusal::NotTls).into()
            }
            error if is_closed(&error) && accepted => Self::Closed,
            error if is_closed(&error) => Self::ClosedEarly {
                encrypted: config.is_encrypted(),
                forced: config.protocol,
            },
            ConnectionError::ConnectionRefused(
                ConnectReturnCode::RefusedProtocolVersion | ConnectReturnCode::UnsupportedProtocolVersion,
            ) => Self::wrong_version(config),
            ConnectionError::MqttState(StateError::Deserialization(error))
                if !accepted && !matches!(error, PacketError::Io(_)) =>
            {
                Self::wrong_version(config)
            }
            ConnectionError::Timeout(_) if !accepted && config.protocol.is_none() => Self::NoAnswerToFirst,
            ConnectionError::Timeout(_) | ConnectionError::MqttState(StateError::AwaitPingResp) => {
                Self::NoAnswer
            }
            ConnectionError::Io(error) => Self::Unreachable(error),
            error => Self::Client(Box::new(error)),
        }
    }

    pub(crate) fn of_v4(error: four::ConnectionError, config: &MqttConfig, accepted: bool) -> Self {
        use four::{ConnectReturnCode as Code, ConnectionError as Error, StateError as State};
        // Errors that exist in both versions are translated by `of`.
        let error = match error {
            Error::Tls(error) => ConnectionError::Tls(error),
            Error::Io(error) | Error::MqttState(State::Io(error)) => ConnectionError::Io(error),
            Error::MqttState(State::Deserialization(four::mqttbytes::Error::Io(error))) => {
                ConnectionError::Io(error)
            }
            Error::MqttState(State::ConnectionAborted) => {
                ConnectionError::MqttState(StateError::ConnectionAborted)
            }
            Error::MqttState(State::AwaitPingResp) => ConnectionError::MqttState(StateError::AwaitPingResp),
            Error::ConnectionRefused(Code::BadUserNamePassword | Code::NotAuthorized) => {
                ConnectionError::ConnectionRefused(ConnectReturnCode::NotAuthorized)
            }
            Error::ConnectionRefused(Code::RefusedProtocolVersion) => {
                ConnectionError::ConnectionRefused(ConnectReturnCode::RefusedProtocolVersion)
            }
            Error::MqttState(State::Deserialization(four::mqttbytes::Error::OutgoingPacketTooLarge {
                ..
            })) => {
                return Self::TooLarge;
            }
            Error::MqttState(State::Deserialization(_)) | Error::NotConnAck(_) if !accepted => {
                return Self::wrong_version(config);
            }
            Error::NetworkTimeout | Error::FlushTimeout => return Self::NoAnswer,
            error => return Self::OldClient(Box::new(error)),
        };
        Self::of(error, config, accepted)
    }

    fn wrong_version(config: &MqttConfig) -> Self {
        match config.protocol {
            Some(protocol) => Self::OtherVersion { protocol },
            None => Self::NoMqtt5,
        }
    }

    /// Whether the broker possibly lacks MQTT 5: it rejects the version, or closes the connection during the handshake.
    pub(crate) fn may_lack_mqtt5(&self) -> bool {
        matches!(self, Self::NoMqtt5 | Self::ClosedEarly { .. })
    }

    /// Whether only a person can correct the problem.
    pub(crate) fn needs_people(&self) -> bool {
        match self {
            Self::TakenOver { .. }
            | Self::ProbablyTakenOver { .. }
            | Self::LoginRefused { .. }
            | Self::LoginMissing
            | Self::Refused(_)
            | Self::NoMqtt5
            | Self::OtherVersion { .. }
            | Self::Tls(TlsError::Refused(_)) => true,
            Self::Login(_)
            | Self::Tls(_)
            | Self::ClosedEarly { .. }
            | Self::Closed
            | Self::ClosedOn { .. }
            | Self::TooLarge
            | Self::NoAnswer
            | Self::NoAnswerToFirst
            | Self::Unreachable(_)
            | Self::Client(_)
            | Self::OldClient(_)
            | Self::Stopped => false,
        }
    }

    /// Whether the broker ended the connection because of a message.
    pub(crate) fn is_about_a_message(&self) -> bool {
        matches!(self, Self::ClosedOn { .. } | Self::TooLarge)
    }

    /// The features without which the broker accepts the connection.
    pub(crate) fn missing_features(&self) -> MissingFeatures {
        MissingFeatures {
            retain: matches!(self, Self::Refused(Refusal::NoRetain)),
            acknowledgements: matches!(self, Self::Refused(Refusal::NoAcknowledgements)),
        }
    }

    /// Whether the next attempt must wait for a while, because it would disturb another client or cause a ban.
    pub(crate) fn must_wait(&self) -> bool {
        self.is_taken_over() || matches!(self, Self::Refused(_))
    }

    pub(crate) fn is_taken_over(&self) -> bool {
        matches!(self, Self::TakenOver { .. } | Self::ProbablyTakenOver { .. })
    }
}

/// Returns the TLS error inside an error. A TLS alert that arrives while packets are read is wrapped in an I/O error.
fn tls_error(error: &ConnectionError) -> Option<&rustls::Error> {
    match error {
        ConnectionError::Tls(ClientTlsError::TLS(error)) => Some(error),
        error => io_error(error)?.get_ref()?.downcast_ref(),
    }
}

fn io_error(error: &ConnectionError) -> Option<&io::Error> {
    match error {
        ConnectionError::Io(error)
        | ConnectionError::Tls(ClientTlsError::Io(error))
        | ConnectionError::MqttState(
            StateError::Io(error) | StateError::Deserialization(PacketError::Io(error)),
        ) => Some(error),
        _ => None,
    }
}

fn is_closed(error: &ConnectionError) -> bool {
    matches!(error, ConnectionError::MqttState(StateError::ConnectionAborted))
        || io_error(error).is_some_and(is_disconnect)
}

fn is_disconnect(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_the_broker_are_explained() {
        use {ConnectReturnCode as Connect, DisconnectReasonCode as Disconnect};
        let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
        let refused = ConnectionError::ConnectionRefused;
        let ended = |reason_code| {
            ConnectionError::MqttState(StateError::ServerDisconnect {
                reason_code,
                reason_string: None,
            })
        };
        let banned = StateError::Deserialization(PacketError::InvalidConnectReturnCode(0x8a));
        for (errors, words) in [
            (
                vec![
                    refused(Connect::RetainNotSupported),
                    ended(Disconnect::RetainNotSupported),
                ],
                "`retain_available true`",
            ),
            (
                vec![
                    refused(Connect::QoSNotSupported),
                    ended(Disconnect::QoSNotSupported),
                ],
                "`max_qos 1`",
            ),
            (
                vec![refused(Connect::Banned), ConnectionError::MqttState(banned)],
                "end the ban",
            ),
            (
                vec![refused(Connect::QuotaExceeded), ended(Disconnect::QuotaExceeded)],
                "raise its limits",
            ),
            (
                vec![
                    refused(Connect::ConnectionRateExceeded),
                    ended(Disconnect::ConnectionRateExceeded),
                ],
                "connections per second",
            ),
            (vec![ended(Disconnect::MessageRateTooHigh)], "messages per second"),
            (
                vec![
                    refused(Connect::UseAnotherServer),
                    refused(Connect::ServerMoved),
                    ended(Disconnect::UseAnotherServer),
                    ended(Disconnect::ServerMoved),
                ],
                "enter it as `url`",
            ),
        ] {
            for error in errors {
                let reason = LostReason::of(error, &config, true);
                assert!(reason.to_string().contains(words), "{reason}");
                assert!(reason.needs_people() && reason.must_wait(), "{reason}");
            }
        }
    }

    #[test]
    fn a_message_refused_by_rumqttc_is_too_large() {
        let config = MqttConfig::from_url("mqtt://localhost").expect("a URL");
        let state = StateError::OutgoingPacketTooLarge { pkt_size: 2, max: 1 };
        let reason = LostReason::of(ConnectionError::MqttState(state), &config, true);
        assert!(matches!(reason, LostReason::TooLarge), "{reason}");
        let error = four::mqttbytes::Error::OutgoingPacketTooLarge { pkt_size: 2, max: 1 };
        let error = four::ConnectionError::MqttState(four::StateError::Deserialization(error));
        let reason = LostReason::of_v4(error, &config, true);
        assert!(matches!(reason, LostReason::TooLarge), "{reason}");
    }
}
