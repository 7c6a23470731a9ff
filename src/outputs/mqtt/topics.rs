//! The topic tree, one function for each topic.

use core::fmt;
use core::str::FromStr;

/// The first levels of all topics, for example "kiebitz" or "club/kiebitz".
///
/// ```
/// use kiebitz::outputs::mqtt::Prefix;
///
/// let prefix: Prefix = "club/kiebitz".parse()?;
/// assert_eq!(prefix.board("board-1")?.events(), "club/kiebitz/boards/board-1/events");
/// assert!("club/#".parse::<Prefix>().is_err());
/// # Ok::<(), kiebitz::outputs::mqtt::TopicError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefix(String);

/// The topics of one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardTopics {
    own: String,
    public: String,
}

/// The topics of a game's single values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefTopics {
    base: String,
}

impl BriefTopics {
    /// Last move, turn, result, White, Black.
    #[must_use]
    pub fn all(&self) -> [String; 5] {
        ["last_move", "turn", "result", "white", "black"].map(|word| format!("{}/{word}", self.base))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandTopic {
    /// The level that stands for the board.
    pub(crate) board: String,
    /// The login to which the topic belongs; `None` for the common topic.
    pub(crate) login: Option<String>,
    /// Whether the topic is for requests to send events again, not for commands.
    pub(crate) is_resend: bool,
}

/// Why a name cannot be part of a topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopicError {
    /// The name, or one of its levels, is empty.
    #[error("{name:?} leaves a level of an MQTT topic empty")]
    Empty {
        /// The name.
        name: String,
    },
    /// The name contains a wildcard or a control character.
    #[error("{name:?} contains {character:?}, which MQTT topics cannot contain")]
    Character {
        /// The name.
        name: String,
        /// The first such character.
        character: char,
    },
    /// The name begins with a dollar sign. Such topics belong to the broker.
    #[error("{name:?} begins with \"$\", which is reserved for topics of the broker itself")]
    Reserved {
        /// The name.
        name: String,
    },
    /// The name exceeds the limit for readable topics.
    #[error("{name:?} has {bytes} bytes; an MQTT topic can have at most {MAX_BYTES}")]
    TooLong {
        /// The name.
        name: String,
        /// Its length in bytes.
        bytes: usize,
    },
}

/// Maximum length of a prefix or name in bytes.
const MAX_BYTES: usize = 200;

impl Prefix {
    /// The default prefix of live boards, "kiebitz".
    #[must_use]
    pub fn live() -> Self {
        Self("kiebitz".to_owned())
    }

    /// The default prefix of replays, "kiebitz/replay".
    #[must_use]
    pub fn replay() -> Self {
        Self("kiebitz/replay".to_owned())
    }

    /// The state of a daemon, and its last will. Retained.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the host name cannot be part of a topic.
    pub fn daemon_state(&self, host: &str) -> Result<String, TopicError> {
        Ok(format!("{self}/daemons/{}/state", level(host)?))
    }

    /// The summary of the round on a daemon's boards. Retained.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the host name cannot be part of a topic.
    pub fn daemon_round(&self, host: &str) -> Result<String, TopicError> {
        Ok(format!("{self}/daemons/{}/round", level(host)?))
    }

    /// A topic to test whether the broker accepts messages. The content has no meaning.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the host name cannot be part of a topic.
    pub(crate) fn daemon_test(&self, host: &str) -> Result<String, TopicError> {
        Ok(format!("{self}/daemons/{}/test", level(host)?))
    }

    /// The topics of a board. A `/` in the board's name, such as in the name of a port, becomes a `-`.
    ///
    /// # Errors
    ///
    /// Fails with [`TopicError`] if the name cannot be part of a topic.
    pub fn board(&self, name: &str) -> Result<BoardTopics, TopicError> {
        let level = level(name)?;
        Ok(BoardTopics {
            own: format!("{self}/boards/{level}"),
            public: format!("{self}/public/boards/{level}"),
        })
    }

    /// Filters for the commands to all boards: the common topic, and one topic for each login, which the broker's
    /// access list can protect.
    pub(crate) fn commands(&self) -> [String; 2] {
        ["", "/+"].map(|login| format!("{self}/boards/+/command{login}"))
    }

    /// The command topic of a board, given the level of its name: the login's own topic if there is a login that can be
    /// a level, or else the common topic.
    pub(crate) fn command(&self, board: &str, login: Option<&str>) -> String {
        let own = login.filter(|login| check(login).is_ok() && !login.is_empty() && !login.contains('/'));
        let own = own.map(|login| format!("/{login}")).unwrap_or_default();
        format!("{self}/boards/{board}/command{own}")
    }

    /// Filter for requests to send events of any board again.
    pub(crate) fn resend(&self) -> String {
        format!("{self}/boards/+/resend")
    }

    /// Parses a topic that matches one of [`commands`](Self::commands) or [`resend`](Self::resend); `None` for any
    /// other topic.
    pub(crate) fn command_topic(&self, topic: &str) -> Option<CommandTopic> {
        let levels: Vec<&str> = topic
            .strip_prefix(&format!("{self}/boards/"))?
            .split('/')
            .collect();
        let (board, login, is_resend) = match levels[..] {
            [board, "command"] => (board, None, false),
            [board, "resend"] => (board, None, true),
            [board, "command", login] if !login.is_empty() => (board, Some(login.to_owned()), false),
            _ => return None,
        };
        (!board.is_empty()).then(|| CommandTopic {
            board: board.to_owned(),
            login,
            is_resend,
        })
    }

    /// The topic for the answer to a command: the `requested` topic, or else the board's answer topic. Other topics of
    /// kiebitz are refused, so that a sender cannot make kiebitz write to topics to which only kiebitz may write.
    pub(crate) fn answer(&self, board: &str, requested: Option<&str>) -> String {
        let own = format!("{self}/boards/{board}/answer");
        let may = |requested: &str| {
            let foreign = requested != self.0 && !requested.starts_with(&format!("{self}/"));
            let answers = requested == own || requested.starts_with(&format!("{own}/"));
            !requested.is_empty()
                && !requested.starts_with('$')
                && check(requested).is_ok()
                && (foreign || answers)
        };
        let requested = requested.filter(|requested| may(requested)).map(str::to_owned);
        requested.unwrap_or(own)
    }
}

/// Whether a board named `name` has the level `at` in its topics.
#[must_use]
pub fn is_level_of(at: &str, name: &str) -> bool {
    level(name).is_ok_and(|level| level == at)
}

impl FromStr for Prefix {
    type Err = TopicError;

    fn from_str(prefix: &str) -> Result<Self, TopicError> {
        if prefix.starts_with('$') {
            return Err(TopicError::Reserved {
                name: prefix.to_owned(),
            });
        }
        check(prefix)?;
        if prefix.split('/').any(str::is_empty) {
            return Err(TopicError::Empty {
                name: prefix.to_owned(),
            });
        }
        Ok(Self(prefix.to_owned()))
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl BoardTopics {
    /// Connection, serial number, version, orientation. Retained.
    #[must_use]
    pub fn state(&self) -> String {
        format!("{}/state", self.own)
    }

    /// The pieces on the board, and the squares that differ from the game. Retained.
    #[must_use]
    pub fn placement(&self) -> String {
        format!("{}/placement", self.own)
    }

    /// The clock. Retained.
    #[must_use]
    pub fn clock(&self) -> String {
        format!("{}/clock", self.own)
    }

    /// The whole current game. Retained.
    #[must_use]
    pub fn game(&self) -> String {
        format!("{}/game", self.own)
    }

    /// The current game as PGN. Retained.
    #[must_use]
    pub fn pgn(&self) -> String {
        format!("{}/pgn", self.own)
    }

    /// Every event, in order. Not retained.
    #[must_use]
    pub fn events(&self) -> String {
        format!("{}/events", self.own)
    }

    /// Events sent again at the request of a hub. Not retained.
    #[must_use]
    pub fn resent(&self) -> String {
        format!("{}/resent", self.own)
    }

    /// Requests of hubs to send events again.
    #[must_use]
    pub fn resend(&self) -> String {
        format!("{}/resend", self.own)
    }

    /// The open incidents. Retained.
    #[must_use]
    pub fn incidents(&self) -> String {
        format!("{}/incidents", self.own)
    }

    /// Whether the board needs a person, and why. Retained.
    #[must_use]
    pub fn health(&self) -> String {
        format!("{}/health", self.own)
    }

    /// The game in single values. Retained.
    #[must_use]
    pub fn brief(&self) -> BriefTopics {
        BriefTopics {
            base: self.own.clone(),
        }
    }

    /// The game in single values, for spectators. Retained.
    #[must_use]
    pub fn public_brief(&self) -> BriefTopics {
        BriefTopics {
            base: self.public.clone(),
        }
    }

    /// Whether the board is connected, for spectators. Retained.
    #[must_use]
    pub fn public_state(&self) -> String {
        format!("{}/state", self.public)
    }

    /// The pieces after the last move, for spectators. Retained.
    #[must_use]
    pub fn public_placement(&self) -> String {
        format!("{}/placement", self.public)
    }

    /// Commands for the board.
    #[must_use]
    pub fn command(&self) -> String {
        format!("{}/command", self.own)
    }

    /// The current game for spectators. Retained.
    #[must_use]
    pub fn public_game(&self) -> String {
        format!("{}/game", self.public)
    }

    /// The current game as PGN for spectators. Retained.
    #[must_use]
    pub fn public_pgn(&self) -> String {
        format!("{}/pgn", self.public)
    }

    /// The clock, for spectators. Retained.
    #[must_use]
    pub fn public_clock(&self) -> String {
        format!("{}/clock", self.public)
    }
}

/// Turns a name into one level of a topic.
fn level(name: &str) -> Result<String, TopicError> {
    check(name)?;
    let level = name.trim_matches('/').replace('/', "-");
    if level.is_empty() {
        Err(TopicError::Empty {
            name: name.to_owned(),
        })
    } else {
        Ok(level)
    }
}

fn check(name: &str) -> Result<(), TopicError> {
    if name.len() > MAX_BYTES {
        return Err(TopicError::TooLong {
            name: name.to_owned(),
            bytes: name.len(),
        });
    }
    match name.chars().find(|c| matches!(c, '+' | '#') || c.is_control()) {
        Some(character) => Err(TopicError::Character {
            name: name.to_owned(),
            character,
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_names_become_one_level() {
        let topics = Prefix::live().board("/dev/serial/by-id/usb-DGT").expect("a name");
        assert_eq!(topics.state(), "kiebitz/boards/dev-serial-by-id-usb-DGT/state");
        assert_eq!(
            topics.public_pgn(),
            "kiebitz/public/boards/dev-serial-by-id-usb-DGT/pgn"
        );
    }

    #[test]
    fn a_command_goes_to_the_topic_of_its_login() {
        let prefix: Prefix = "north/kiebitz".parse().expect("a prefix");
        let topic = |login| prefix.command("board-1", login);
        assert_eq!(topic(Some("hub")), "north/kiebitz/boards/board-1/command/hub");
        let read = prefix.command_topic(&topic(Some("hub"))).expect("a topic");
        assert_eq!((&*read.board, read.login.as_deref()), ("board-1", Some("hub")));
        for none in [None, Some(""), Some("a/b"), Some("a+"), Some("#")] {
            assert_eq!(topic(none), "north/kiebitz/boards/board-1/command", "{none:?}");
        }
    }

    #[test]
    fn wildcards_and_nul_are_refused() {
        for name in ["board+1", "#", "a\0b", "a\nb"] {
            assert!(
                matches!(Prefix::live().board(name), Err(TopicError::Character { .. })),
                "{name:?}"
            );
            assert!(
                matches!(name.parse::<Prefix>(), Err(TopicError::Character { .. })),
                "{name:?}"
            );
            assert!(Prefix::live().daemon_state(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn empty_levels_are_refused() {
        for prefix in ["", "/", "/kiebitz", "kiebitz/", "a//b"] {
            assert!(
                matches!(prefix.parse::<Prefix>(), Err(TopicError::Empty { .. })),
                "{prefix:?}"
            );
        }
        for name in ["", "/", "//"] {
            assert!(
                matches!(Prefix::live().board(name), Err(TopicError::Empty { .. })),
                "{name:?}"
            );
        }
    }

    #[test]
    fn topics_of_the_broker_are_refused() {
        assert!(matches!(
            "$SYS/kiebitz".parse::<Prefix>(),
            Err(TopicError::Reserved { .. })
        ));
    }

    #[test]
    fn no_topic_is_longer_than_mqtt_allows() {
        let long = "ü".repeat(MAX_BYTES / 2);
        assert!(long.parse::<Prefix>().is_ok());
        assert!(matches!(
            format!("{long}.").parse::<Prefix>(),
            Err(TopicError::TooLong { .. })
        ));
    }
}
