//! The files of a broadcast: what they are called, and for how long who has one may keep it.

use std::collections::BTreeMap;
use std::sync::Arc;

/// All files, by their paths as in "round-1/games.pgn".
pub(crate) type Files = BTreeMap<Arc<str>, File>;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) content: Arc<[u8]>,
    pub(crate) life: Life,
}

/// For how long somebody who has a file may show it without asking again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It changes with every move.
    Changing,
    /// Its game is over, and so is its round.
    Finished,
    /// It changes with the program.
    Program,
}

impl File {
    pub(crate) fn new(content: impl Into<Vec<u8>>, life: Life) -> Self {
        Self {
            content: content.into().into(),
            life,
        }
    }

    /// The media type of a file with that path.
    pub(crate) fn media_type(path: &str) -> &'static str {
        match path.rsplit_once('.') {
            Some((_, "json")) => "application/json",
            Some((_, "pgn")) => "application/vnd.chess-pgn; charset=utf-8",
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            _ => "application/octet-stream",
        }
    }
}

impl Life {
    /// For the header Cache-Control. Three seconds spare a server most of those who ask every second or two, and nobody
    /// sees a move later for it than with the next question.
    pub(crate) const fn cache_control(self) -> &'static str {
        match self {
            Self::Changing => "public, max-age=3",
            // What an arbiter corrects in the evening is to be seen the next day.
            Self::Finished => "public, max-age=43200, immutable",
            Self::Program => "public, max-age=300",
        }
    }
}
