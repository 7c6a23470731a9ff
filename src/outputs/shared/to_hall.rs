//! Channels for requests and status questions to the task that owns the boards: the daemon's event loop, or the task
//! of a hub that talks to its broker.

use kiebitz_game::command::{Answer, Command};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::outputs::status::Question;

/// Senders for requests and questions.
#[derive(Debug, Clone)]
pub(crate) struct ToHall {
    pub(crate) requests: mpsc::Sender<Request>,
    /// For questions about the daemon's status.
    pub(crate) questions: mpsc::Sender<Question>,
}

impl ToHall {
    /// Creates a handle for requests only; questions get no answer.
    pub(crate) fn of_commands(requests: mpsc::Sender<Request>) -> Self {
        let questions = mpsc::channel(1).0;
        Self { requests, questions }
    }
}

/// A command with its reply channel.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) board: String,
    pub(crate) command: Command,
    /// If the receiver was dropped, nobody waits for the answer and the command must not be carried out.
    pub(crate) answer: oneshot::Sender<RequestOutcome>,
}

/// Answer to a command, or the reason why there is none.
pub(crate) type RequestOutcome = Result<Answer, Unanswered>;

/// Reason why a command has no answer. Only a hub, whose boards belong to daemons elsewhere, returns one.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unanswered {
    /// The daemon did not answer in time. Whether it carried out the command is unknown.
    #[error(
        "the daemon {daemon} did not answer; the board's status shows whether the command was carried out. If \
         the daemon never answers, check that it has `commands = true` under [mqtt], and that the brokers pass \
         on {topic} and the answers"
    )]
    Silent {
        daemon: String,
        /// Topic to which the command was sent.
        topic: String,
    },
    /// The daemon is offline. The command was not sent.
    #[error("the daemon {daemon} is not connected; nothing was sent")]
    Away { daemon: String },
    /// The broker is not connected. The command was not sent.
    #[error("the hub is not connected to its broker; nothing was sent")]
    NoBroker,
}

impl Unanswered {
    /// Code of the reason, for programs.
    pub(crate) const fn why(&self) -> &'static str {
        match self {
            Self::Silent { .. } => "silent",
            Self::Away { .. } => "away",
            Self::NoBroker => "no_broker",
        }
    }

    /// The daemon that the command was meant for.
    pub(crate) fn daemon(&self) -> Option<&str> {
        match self {
            Self::Silent { daemon, .. } | Self::Away { daemon } => Some(daemon),
            Self::NoBroker => None,
        }
    }
}
