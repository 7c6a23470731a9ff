//! The files of a broadcast, with their media types and caching rules.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The Cache-Control header of every file.
///
/// The content of every path may change: a result may be corrected days after its round, and the page changes with the
/// program. Therefore browsers revalidate each time. Shared caches may keep a file for three seconds, which saves the
/// server most requests of viewers that poll every second or two.
pub(crate) const CACHE_CONTROL: &str = "public, max-age=0, must-revalidate, s-maxage=3";

/// All files by path, such as "round-1/games.pgn".
pub(crate) type Files = BTreeMap<Arc<str>, PublishedFile>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublishedFile {
    pub(crate) content: Arc<[u8]>,
}

impl PublishedFile {
    pub(crate) fn new(content: impl Into<Vec<u8>>) -> Self {
        Self {
            content: content.into().into(),
        }
    }

    pub(crate) fn media_type(path: &str) -> &'static str {
        match path.rsplit_once('.') {
            Some((_, "json")) => "application/json",
            Some((_, "pgn")) => "application/vnd.chess-pgn; charset=utf-8",
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "png")) => "image/png",
            Some((_, "svg")) => "image/svg+xml",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            _ => "application/octet-stream",
        }
    }
}
