//! Past games at the desk: the list of games in the journal, and PGN, report, capture and explanation of each.
//!
//! Each request reads journal and recordings anew, on a blocking thread, while the daemon goes on writing them.

mod refusal;
mod search;

use core::convert::Infallible;
use core::fmt::Write as _;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use futures_util::stream;
use kiebitz_game::events::incidents::Incidents;
use kiebitz_game::laws::Language;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::door::{DeskState, SharedDesk};
use super::sessions::Guest;
use crate::kept::{Archive, KeptGame, KeptGames, Recorded};
use crate::outputs::pgn::pgn;
use crate::outputs::report::{GameReport, Manner, Report, html};
use crate::outputs::shared::advice::in_all_languages;
use crate::outputs::shared::notation::Letters;
use crate::system_time::local_zone;
use refusal::ReviewRefusal;
use search::Search;

/// Concurrent readers: few, as the daemon's own work on disk and processor comes first.
const AT_ONCE: usize = 2;
/// Limit for a downloaded capture, in bytes. It is assembled in memory.
const MAX_CAPTURE: usize = 64 << 20;
/// Maximum number of concurrent downloads of captures. Together with [`MAX_CAPTURE`], it bounds their memory.
const CAPTURES: usize = 2;
/// Maximum time that a request waits for other downloads of captures.
const CAPTURE_PATIENCE: Duration = Duration::from_secs(5);
/// Size of the parts in which a capture is sent, in bytes.
const CHUNK: usize = 64 << 10;
/// Content security policy of reports: their inline style, and nothing else.
const POLICY_OF_REPORTS: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

#[derive(Debug)]
pub(super) struct GameReader {
    /// `None` at a hub: the journals are in the halls.
    archive: Option<Archive>,
    /// Language of the event.
    language: Language,
    permits: Arc<Semaphore>,
    capture_permits: Arc<Semaphore>,
}

/// Handle by which a reader finds out whether the client still waits for the answer.
struct StillWanted(Weak<()>);

impl StillWanted {
    fn is_wanted(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl GameReader {
    pub(super) fn of(archive: Option<Archive>, language: Language) -> Self {
        Self {
            archive,
            language,
            permits: Arc::new(Semaphore::new(AT_ONCE)),
            capture_permits: Arc::new(Semaphore::new(CAPTURES)),
        }
    }

    /// Waits for a permit to hold a capture in memory. Fails if none is free within `patience`.
    async fn capture_permit(&self, patience: Duration) -> Result<OwnedSemaphorePermit, ReviewRefusal> {
        let permit = Arc::clone(&self.capture_permits).acquire_owned();
        match tokio::time::timeout(patience, permit).await {
            Ok(Ok(permit)) => Ok(permit),
            Ok(Err(_)) | Err(_) => Err(ReviewRefusal::Busy),
        }
    }

    /// Runs `work` on the journal when a permit is free. `work` can stop early if the client hangs up.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&KeptGames, &StillWanted) -> Result<T, ReviewRefusal> + Send + 'static,
    ) -> Result<T, ReviewRefusal> {
        let archive = self.archive.clone().ok_or(ReviewRefusal::InHall)?;
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let client = Arc::new(());
        let wanted = StillWanted(Arc::downgrade(&client));
        let worked = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&archive.open()?, &wanted)
        });
        let done = worked
            .await
            .map_err(|error| ReviewRefusal::from(anyhow::Error::from(error)));
        drop(client);
        done?
    }

    /// Like [`read`](Self::read), for one game.
    async fn read_game<T: Send + 'static>(
        &self,
        id: String,
        work: impl FnOnce(&KeptGames, &KeptGame, &StillWanted) -> Result<T, ReviewRefusal> + Send + 'static,
    ) -> Result<T, ReviewRefusal> {
        let found = self.read(move |kept, wanted| {
            let game = kept.get(&id)?.ok_or(ReviewRefusal::NoGame)?;
            work(kept, &game, wanted)
        });
        found.await
    }
}

pub(super) fn routes() -> Router<Arc<DeskState>> {
    Router::new()
        .route("/games", get(games))
        .route("/games/{id}", get(game))
        .route("/games/{id}/pgn", get(game_pgn))
        .route("/games/{id}/report", get(report))
        .route("/games/{id}/capture", get(capture))
        .route("/games/{id}/explain", get(explain))
}

async fn games(
    State(state): SharedDesk,
    _guest: Guest,
    Query(search): Query<Search>,
) -> Result<Response, ReviewRefusal> {
    let found = state.reading.read(move |kept, wanted| search.of(kept, wanted));
    Ok(Json(found.await?).into_response())
}

/// A game and all of its data in the journal.
#[derive(Serialize)]
struct Reviewed {
    #[serde(flatten)]
    report: GameReport,
    /// Number of offences that each player has completed.
    offences: PastOffences,
    /// Advice for each incident, by incident number and language code.
    advice_in: BTreeMap<u64, BTreeMap<&'static str, String>>,
}

#[derive(Serialize)]
struct PastOffences {
    white: u32,
    black: u32,
}

impl Reviewed {
    fn of(kept: &KeptGames, game: &KeptGame) -> Result<Self, ReviewRefusal> {
        let events = kept.events_with_board(game)?;
        let report = Report::from_events(&events);
        let mut games = report.games.into_iter();
        let report = games.find(|report| report.record.game == game.entry.game);
        let report = report.ok_or(ReviewRefusal::NoBeginning)?;
        let mut incidents = Incidents::default();
        for event in &events {
            incidents.apply(event);
        }
        let offences = incidents.offences();
        let incidents = report.incidents.iter().map(|entry| &entry.incident);
        let advised = incidents.map(|incident| (incident.incident, in_all_languages(incident)));
        Ok(Self {
            advice_in: advised.collect(),
            report,
            offences: PastOffences {
                white: offences.white,
                black: offences.black,
            },
        })
    }
}

async fn game(
    State(state): SharedDesk,
    _guest: Guest,
    Path(id): Path<String>,
) -> Result<Response, ReviewRefusal> {
    let reviewed = state
        .reading
        .read_game(id, |kept, game, _| Reviewed::of(kept, game));
    Ok(Json(reviewed.await?).into_response())
}

async fn game_pgn(
    State(state): SharedDesk,
    _guest: Guest,
    Path(id): Path<String>,
) -> Result<Response, ReviewRefusal> {
    let name = id.clone();
    let read = state
        .reading
        .read_game(id, |kept, game, _| Ok(pgn(&kept.record(game)?)));
    let pgn = read.await?;
    Ok(download(&name, "pgn", "application/x-chess-pgn", pgn))
}

#[derive(Deserialize)]
struct ReportOptions {
    /// Language code; `None` for the language of the event.
    language: Option<String>,
}

async fn report(
    State(state): SharedDesk,
    _guest: Guest,
    Path(id): Path<String>,
    Query(options): Query<ReportOptions>,
) -> Result<Response, ReviewRefusal> {
    let default_language = state.reading.language;
    let read = state.reading.read_game(id, move |kept, game, _| {
        let code = options.language.as_deref();
        let language = Language::ALL.iter().find(|known| Some(known.code()) == code);
        let language = language.copied().unwrap_or(default_language);
        let manner = Manner {
            language,
            letters: Letters::of(language.code())
                .ok_or_else(|| anyhow::anyhow!("no piece letters are known for this language"))?,
            zone: local_zone(),
            adjournment: false,
        };
        let report = Report::from_events(&kept.events_with_board(game)?);
        Ok(html(&report, &manner))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY_OF_REPORTS),
    ];
    Ok((headers, read.await?).into_response())
}

async fn capture(
    State(state): SharedDesk,
    _guest: Guest,
    Path(id): Path<String>,
) -> Result<Response, ReviewRefusal> {
    let name = id.clone();
    let permit = state.reading.capture_permit(CAPTURE_PATIENCE).await?;
    // The closure owns the permit, because it continues for a while if the client hangs up.
    let read = state.reading.read_game(id, move |kept, game, wanted| {
        let recorded = Recorded::of(kept, game)?;
        let content = recorded.capture(MAX_CAPTURE, || wanted.is_wanted())?;
        Ok(HeldCapture::new(content, permit))
    });
    let capture = read.await?;
    let length = capture.content.len();
    let mut response = download(&name, "pcapng", "application/x-pcapng", capture.into_body());
    response
        .headers_mut()
        .insert(header::CONTENT_LENGTH, length.into());
    Ok(response)
}

/// A capture in memory, and an iterator over its chunks. Dropping it releases the permit.
struct HeldCapture {
    content: Vec<u8>,
    /// Number of bytes that were yielded.
    sent: usize,
    _permit: OwnedSemaphorePermit,
}

impl HeldCapture {
    const fn new(content: Vec<u8>, permit: OwnedSemaphorePermit) -> Self {
        Self {
            content,
            sent: 0,
            _permit: permit,
        }
    }

    fn into_body(self) -> Body {
        Body::from_stream(stream::iter(self))
    }
}

impl Iterator for HeldCapture {
    type Item = Result<Bytes, Infallible>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.content.get(self.sent..)?;
        let chunk = rest.chunks(CHUNK).next()?;
        self.sent += chunk.len();
        // A copy, so that the last chunk in the queue of the connection does not keep the whole content in memory.
        Some(Ok(Bytes::copy_from_slice(chunk)))
    }
}

async fn explain(
    State(state): SharedDesk,
    _guest: Guest,
    Path(id): Path<String>,
) -> Result<Response, ReviewRefusal> {
    let read = state.reading.read_game(id, |kept, game, wanted| {
        Ok(kept.watched(game, || wanted.is_wanted())?)
    });
    Ok(Json(read.await?).into_response())
}

/// Response with a file to download, named after the game.
fn download(game: &str, ending: &str, media_type: &'static str, content: impl IntoResponse) -> Response {
    let named = format!("{game}.{ending}");
    let mut response = content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Ok(disposition) = HeaderValue::from_str(&attachment(&named)) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

/// `Content-Disposition` of a file (RFC 6266): the name in plain ASCII for all programs, and encoded in full.
fn attachment(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let mut encoded = String::new();
    for byte in name.bytes() {
        if is_plain(byte.into()) {
            encoded.push(byte.into());
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use futures_util::StreamExt;

    use super::*;

    #[tokio::test]
    async fn captures_that_nobody_reads_take_a_bounded_amount_of_memory() {
        let reading = GameReader::of(None, Language::English);
        let content: Vec<u8> = (0..=255).cycle().take(3 * CHUNK + 5).collect();
        let permit = async || reading.capture_permit(Duration::ZERO).await;
        let mut bodies = Vec::new();
        for _ in 0..CAPTURES {
            let permit = permit().await.expect("a free one");
            bodies.push(HeldCapture::new(content.clone(), permit).into_body());
        }
        let refused = permit().await.expect_err("all are held").into_response();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.headers().contains_key(header::RETRY_AFTER));

        let mut chunks = bodies.remove(0).into_data_stream();
        let mut received = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.expect("a chunk");
            assert!(chunk.len() <= CHUNK, "{}", chunk.len());
            received.extend_from_slice(&chunk);
            assert!(permit().await.is_err(), "the body still exists");
        }
        assert!(received == content);
        drop(chunks);
        assert!(permit().await.is_ok());
    }

    #[test]
    fn special_characters_in_file_names_are_encoded() {
        assert_eq!(
            attachment("2026-11-21-board-3-2.pgn"),
            "attachment; filename=\"2026-11-21-board-3-2.pgn\"; filename*=UTF-8''2026-11-21-board-3-2.pgn"
        );
        assert_eq!(
            attachment("a\"/\r\nü.pgn"),
            "attachment; filename=\"a_____.pgn\"; filename*=UTF-8''a%22%2F%0D%0A%C3%BC.pgn"
        );
    }
}
