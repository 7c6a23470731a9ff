//! Streams changes to web pages as server-sent events. Each message is composed once for all viewers.
//!
//! A browser that reconnects sends the id of its last message and gets the messages after it. If those messages are no
//! longer kept, or the id is from another run of the program, the page must read the files again.

use core::convert::Infallible;
use core::fmt::Write;
use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::files::Files;
use super::task::Snapshot;
use crate::limits::Places;
use crate::outputs::shared::http::WebConnection;

/// The header with the URL of the stream, relative to the page. It is sent with the list of rounds.
pub(super) const HEADER: HeaderName = HeaderName::from_static("kiebitz-stream");
/// Path of the list of rounds.
pub(super) const LIST: &str = "wall.json";

/// Interval between keep-alive messages to an idle viewer. Without them, a page cannot notice that its connection is
/// dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Minimum interval between messages. Changes within it are sent together: with a hundred boards, changes are constant,
/// and every page has to process every message.
const BATCH_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum size of the messages kept, in bytes: some minutes of 100 boards at blitz pace.
const MAX_KEPT: usize = 1 << 20;

/// The recent messages, and the places that limit the number of viewers.
#[derive(Debug, Clone)]
pub(super) struct Live {
    recent: watch::Receiver<RecentMessages>,
    places: Places,
}

#[derive(Debug)]
struct RecentMessages {
    /// Random id of this run of the program.
    run: u64,
    next: u64,
    kept: VecDeque<Bytes>,
    /// Size of the messages kept, in bytes.
    size: usize,
}

#[derive(Debug)]
struct StreamViewer {
    recent: watch::Receiver<RecentMessages>,
    /// Number of the viewer's next message; `None` if the page must read the files first.
    next: Option<u64>,
}

#[derive(Deserialize)]
struct StreamedRound<'r> {
    #[serde(borrow)]
    head: &'r RawValue,
    #[serde(borrow)]
    games: Vec<&'r RawValue>,
}

type Fields<'f> = BTreeMap<&'f str, &'f RawValue>;

#[derive(Serialize)]
struct RoundUpdate<'n> {
    round: u32,
    /// The head, if it has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<&'n RawValue>,
    /// The changed fields of games, with the game numbers from 1.
    games: Vec<(usize, Fields<'n>)>,
    /// Whether the page must read the file again, because the number of games has changed.
    anew: bool,
}

/// Collects messages about changes of the files, in a task that ends when the sender of `files` is dropped. The viewers
/// share `places`.
pub(super) fn follow(mut files: Snapshot, places: Places) -> Live {
    let run = std::hash::RandomState::new().build_hasher().finish();
    let (sender, recent) = watch::channel(RecentMessages {
        run,
        next: 1,
        kept: VecDeque::new(),
        size: 0,
    });
    tokio::spawn(async move {
        let mut before = streamed(&files.borrow_and_update());
        while files.changed().await.is_ok() {
            let now = streamed(&files.borrow_and_update());
            let messages = messages(&before, &now);
            if !messages.is_empty() {
                sender.send_modify(|recent| messages.into_iter().for_each(|message| recent.add(&message)));
            }
            before = now;
            tokio::time::sleep(BATCH_INTERVAL).await;
        }
    });
    Live { recent, places }
}

pub(super) async fn open(
    State(live): State<Live>,
    Extension(connection): Extension<WebConnection>,
    headers: HeaderMap,
) -> Response {
    let no_store = (header::CACHE_CONTROL, "no-store");
    if !connection.stay(&live.places) {
        let later = [(header::RETRY_AFTER, "60"), no_store];
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            later,
            "there are too many viewers\n",
        )
            .into_response();
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let next = last.and_then(|id| live.recent.borrow().after(id));
    let mut recent = live.recent;
    recent.mark_changed();
    let viewer = StreamViewer { recent, next };
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        no_store,
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Otherwise nginx would buffer the messages.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (
        headers,
        Body::from_stream(stream::unfold(viewer, StreamViewer::next_message)),
    )
        .into_response()
}

impl StreamViewer {
    async fn next_message(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            if let Some(message) = self.try_next_message() {
                return Some((Ok(message), self));
            }
            match tokio::time::timeout(KEEP_ALIVE, self.recent.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some((Ok(Bytes::from_static(b"event: here\ndata: {}\n\n")), self)),
            }
        }
    }

    fn try_next_message(&mut self) -> Option<Bytes> {
        let recent = self.recent.borrow_and_update();
        match self.next {
            Some(next) if next == recent.next => None,
            Some(next) if next >= recent.first() => {
                let at = usize::try_from(next - recent.first()).ok()?;
                self.next = Some(next + 1);
                recent.kept.get(at).cloned()
            }
            _ => {
                self.next = Some(recent.next);
                let (run, last) = (recent.run, recent.next - 1);
                let anew = format!("retry: 2000\nid: {run:x}-{last}\nevent: anew\ndata: \"{last}\"\n\n");
                Some(anew.into())
            }
        }
    }
}

impl RecentMessages {
    /// Returns the number of the oldest message kept.
    fn first(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// Returns the number of the message after `id`; `None` if that message is no longer kept, or the id is from
    /// another run.
    fn after(&self, id: &str) -> Option<u64> {
        let (run, number) = id.split_once('-')?;
        let number: u64 = number.parse().ok()?;
        let next = number.checked_add(1)?;
        let is_of_run = u64::from_str_radix(run, 16).ok()? == self.run;
        (is_of_run && (self.first()..=self.next).contains(&next)).then_some(next)
    }

    fn add(&mut self, message: &str) {
        let mut text = String::new();
        let _ = write!(text, "id: {:x}-{}\n{message}\n\n", self.run, self.next);
        self.size += text.len();
        self.kept.push_back(text.into());
        self.next += 1;
        while self.size > MAX_KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.size -= oldest.len();
        }
    }
}

/// The files whose changes are streamed. Keeping all of them until the next message would take the memory of all games
/// once more.
fn streamed(files: &Files) -> Files {
    let streamed = { files.iter() }.filter(|(path, _)| &***path == LIST || round_of(path).is_some());
    streamed
        .map(|(path, file)| (Arc::clone(path), file.clone()))
        .collect()
}

fn messages(before: &Files, now: &Files) -> Vec<String> {
    let mut messages = Vec::new();
    for (path, file) in now {
        let known = before.get(path).map(|file| &*file.content);
        if known == Some(&*file.content) {
            continue;
        }
        if &**path == LIST {
            if let Ok(list) = core::str::from_utf8(&file.content) {
                messages.push(format!("event: list\ndata: {list}"));
            }
        } else if let Some(round) = round_of(path)
            && let Some(update) = update(round, known, &file.content)
        {
            messages.push(format!("event: round\ndata: {update}"));
        }
    }
    messages
}

/// Returns the round number of a path `round-N/wall.json`.
fn round_of(path: &str) -> Option<u32> {
    path.strip_prefix("round-")?
        .strip_suffix("/wall.json")?
        .parse()
        .ok()
}

fn update(round: u32, before: Option<&[u8]>, now: &[u8]) -> Option<String> {
    let now: StreamedRound<'_> = serde_json::from_slice(now).ok()?;
    let before: Option<StreamedRound<'_>> = before.and_then(|before| serde_json::from_slice(before).ok());
    let before = before.filter(|before| before.games.len() == now.games.len());
    let update = match &before {
        Some(before) => RoundUpdate {
            round,
            head: (before.head.get() != now.head.get()).then_some(now.head),
            games: (1..)
                .zip(&now.games)
                .zip(&before.games)
                .filter(|((_, now), before)| now.get() != before.get())
                .filter_map(|((number, now), before)| Some((number, changed(before, now)?)))
                .collect(),
            anew: false,
        },
        None => RoundUpdate {
            round,
            head: None,
            games: Vec::new(),
            anew: true,
        },
    };
    serde_json::to_string(&update).ok()
}

/// Returns the changed fields of a game. Most fields describe the players, who rarely change.
fn changed<'n>(before: &RawValue, now: &'n RawValue) -> Option<Fields<'n>> {
    let before: Fields<'_> = serde_json::from_str(before.get()).ok()?;
    let mut fields: Fields<'n> = serde_json::from_str(now.get()).ok()?;
    fields.retain(|name, now| before.get(name).is_none_or(|before| before.get() != now.get()));
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::broadcast::PublishedFile;

    fn files(games: &[&str]) -> Files {
        let round = format!("{{\"head\":{{\"round\":3}},\"games\":[{}]}}", games.join(","));
        Files::from([("round-3/wall.json".into(), PublishedFile::new(round))])
    }

    #[test]
    fn only_changes_are_sent() {
        let unchanged = "{\"a\":1}";
        let one = files(&[unchanged, "{\"a\":2,\"b\":{\"c\":1}}"]);
        let other = files(&[unchanged, "{\"a\":3,\"b\":{\"c\":1}}"]);
        assert_eq!(
            messages(&one, &other),
            ["event: round\ndata: {\"round\":3,\"games\":[[2,{\"a\":3}]],\"anew\":false}"]
        );
        assert!(messages(&one, &one).is_empty());
        let anew = "event: round\ndata: {\"round\":3,\"games\":[],\"anew\":true}";
        assert_eq!(
            messages(&one, &files(&[unchanged])),
            [anew],
            "another number of games"
        );
        assert_eq!(messages(&Files::new(), &one), [anew]);
    }

    fn recent(messages: usize) -> RecentMessages {
        let mut recent = RecentMessages {
            run: 0xab,
            next: 1,
            kept: VecDeque::new(),
            size: 0,
        };
        for _ in 0..messages {
            recent.add(&"x".repeat(MAX_KEPT / 4));
        }
        recent
    }

    #[test]
    fn a_viewer_that_reconnects_gets_the_missed_messages() {
        let recent = recent(5);
        assert_eq!(recent.first(), 3, "older ones are forgotten");
        for (id, next) in [
            ("ab-5", Some(6)),
            ("ab-4", Some(5)),
            ("ab-2", Some(3)),
            ("ab-1", None),
            ("ab-6", None),
            ("ac-5", None),
            ("ab-", None),
            ("", None),
            ("ab-18446744073709551615", None),
        ] {
            assert_eq!(recent.after(id), next, "{id}");
        }
    }

    #[tokio::test]
    async fn a_viewer_reads_the_files_once_and_then_gets_all_messages() {
        let (sender, receiver) = watch::channel(recent(0));
        let viewer = StreamViewer {
            recent: receiver,
            next: None,
        };
        let (message, viewer) = viewer.next_message().await.expect("a message");
        let message = message.expect("it cannot fail");
        assert_eq!(message, "retry: 2000\nid: ab-0\nevent: anew\ndata: \"0\"\n\n");
        sender.send_modify(|recent| ["one", "two"].iter().for_each(|message| recent.add(message)));
        let (message, viewer) = viewer.next_message().await.expect("a message");
        assert_eq!(message.expect("it cannot fail"), "id: ab-1\none\n\n");
        let (message, mut viewer) = viewer.next_message().await.expect("a message");
        assert_eq!(message.expect("it cannot fail"), "id: ab-2\ntwo\n\n");
        assert_eq!(viewer.try_next_message(), None);
        sender.send_modify(|recent| (0..9).for_each(|_| recent.add(&"x".repeat(MAX_KEPT / 4))));
        let late = viewer.try_next_message().expect("a message");
        assert!(
            late.ends_with(b"event: anew\ndata: \"11\"\n\n"),
            "it was too slow"
        );
    }
}
