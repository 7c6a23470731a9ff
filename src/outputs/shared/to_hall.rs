//! What people and programs want of the boards, on its way to what has them: the daemon's hall, or a hub's broker.

use kiebitz_game::command::{Answer, Command};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::outputs::status::Question;

/// Where people in the hall are listened to.
#[derive(Debug, Clone)]
pub(crate) struct ToHall {
    /// For their commands.
    pub(crate) requests: mpsc::Sender<Request>,
    /// For what they ask.
    pub(crate) questions: mpsc::Sender<Question>,
}

impl ToHall {
    /// Commands go there; nobody can be asked.
    pub(crate) fn of_commands(requests: mpsc::Sender<Request>) -> Self {
        let questions = mpsc::channel(1).0;
        Self { requests, questions }
    }
}

/// A command from the hall.
#[derive(Debug)]
pub(crate) struct Request {
    /// The board's name.
    pub(crate) board: String,
    /// What is to be done.
    pub(crate) command: Command,
    /// Nobody waits for the answer any more where this is closed: then nothing is to be done.
    pub(crate) answer: oneshot::Sender<RequestOutcome>,
}

/// What comes of a command.
pub(crate) type RequestOutcome = Result<Answer, Unanswered>;

/// Why a command has no answer. Only a hub, which has the boards elsewhere, may say so.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Unanswered {
    /// The daemon said nothing in time; nobody knows what it did.
    #[error(
        "the daemon {daemon} did not answer; the board's status shows whether the command was carried out. If \
         the daemon never answers, check that it has `commands = true` under [mqtt], and that the brokers pass \
         on {topic} and the answers"
    )]
    Silent {
        /// Its name.
        daemon: String,
        /// Where the command went.
        topic: String,
    },
    /// The daemon is known to be away, and was not sent anything.
    #[error("the daemon {daemon} is not connected; nothing was sent")]
    Away {
        /// Its name.
        daemon: String,
    },
    /// So is the broker.
    #[error("the hub is not connected to its broker; nothing was sent")]
    NoBroker,
}

impl Unanswered {
    /// Which it is, for programs.
    pub(crate) const fn why(&self) -> &'static str {
        match self {
            Self::Silent { .. } => "silent",
            Self::Away { .. } => "away",
            Self::NoBroker => "no_broker",
        }
    }

    /// The daemon that was meant.
    pub(crate) fn daemon(&self) -> Option<&str> {
        match self {
            Self::Silent { daemon, .. } | Self::Away { daemon } => Some(daemon),
            Self::NoBroker => None,
        }
    }
}
