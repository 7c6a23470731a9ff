//! Pairing files that operators upload at the desk. A file is checked first and then stored in a folder; the task that
//! reads pairings finds it there.

use std::io;
use std::sync::Arc;

use anyhow::Error;
use axum::Json;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{AcquireError, Mutex};

use super::door::{DeskState, IN_HALL, Operator, SharedDesk, refused};
use crate::tournament::files::{FileName, NoFileName, PairingFiles};
use crate::tournament::{self, Change, Check, ReadError, Totals, Tournament};

/// Maximum number of uploads whose bodies are in memory at the same time; others wait. A body may have 8 MB.
pub(super) const UPLOADS_AT_ONCE: usize = 2;

type PairingsResponse = Result<Response, PairingsRefusal>;

#[derive(Debug)]
pub(super) struct PairingsRefusal(StatusCode, String);

impl PairingsRefusal {
    pub(super) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self(status, why.into())
    }
}

impl IntoResponse for PairingsRefusal {
    fn into_response(self) -> Response {
        refused(self.0, &self.1)
    }
}

/// Returns the pairing files. Fails at a hub, which has none.
pub(super) fn in_hall(state: &DeskState) -> Result<&Arc<Mutex<PairingFiles>>, PairingsRefusal> {
    let not_in_hall = || PairingsRefusal::new(StatusCode::NOT_FOUND, IN_HALL);
    state.pairings.as_ref().ok_or_else(not_in_hall)
}

/// Lists uploaded and configured files, with the findings of a check of all of them.
pub(super) async fn list(State(state): SharedDesk, _operator: Operator) -> PairingsResponse {
    let ids_optional = !state.outputs.has_broadcast();
    with_files(&state, move |files| {
        let uploaded = files.dropped()?.into_iter().map(|file| {
            let changed = Timestamp::try_from(file.changed).ok();
            json!({
                "name": file.name.as_str(),
                "bytes": file.bytes,
                "changed": changed.map(|changed| changed.to_string()),
            })
        });
        let uploaded: Vec<Value> = uploaded.collect();
        let mut answer = match check_report(tournament::read(&files.all()), ids_optional) {
            Ok(report) => report,
            Err(wrong) => wrong,
        };
        if let Some(fields) = answer.as_object_mut() {
            fields.insert("files".to_owned(), json!(uploaded));
            fields.insert("configured".to_owned(), json!(files.configured()));
        }
        Ok(Json(answer).into_response())
    })
    .await
}

/// Serves an uploaded file.
pub(super) async fn file(
    State(state): SharedDesk,
    _operator: Operator,
    Path(name): Path<String>,
) -> PairingsResponse {
    let name = file_name(&name)?;
    with_files(&state, move |files| {
        let Some(content) = files.content(&name)? else {
            return Ok(missing());
        };
        let headers = [
            (header::CONTENT_TYPE, "application/octet-stream"),
            (header::CONTENT_DISPOSITION, "attachment"),
        ];
        Ok((headers, content).into_response())
    })
    .await
}

/// Checks a file. Without `?check`, a file that can be read is also stored and used from then on.
pub(super) async fn upload(
    State(state): SharedDesk,
    Operator(guest): Operator,
    Path(name): Path<String>,
    request: Request,
) -> PairingsResponse {
    in_hall(&state)?;
    let name = file_name(&name)?;
    let only_checked = request.uri().query() == Some("check");
    // The body is read after the checks above, as only operators may send large ones.
    let _upload = state.uploads.acquire().await.map_err(closed)?;
    let content = Bytes::from(read_body(request.into_body()).await?);
    let stored = (!only_checked).then(|| content.clone());
    let ids_optional = !state.outputs.has_broadcast();
    with_files(&state, move |files| {
        let others = files.others_than(Some(&name));
        let read = tournament::read_with(name.as_str(), content, &others);
        let changes = read.as_ref().ok().map(|(after, _)| changes(files, after));
        let mut report = match check_report(read, ids_optional) {
            Ok(report) => report,
            Err(wrong) => return Ok((StatusCode::UNPROCESSABLE_ENTITY, Json(wrong)).into_response()),
        };
        if let Some(fields) = report.as_object_mut() {
            let (listed, others) = changes.unzip();
            fields.insert("changes".to_owned(), json!(listed));
            fields.insert("more_changes".to_owned(), json!(others.unwrap_or_default()));
        }
        if let Some(content) = stored {
            files.keep(&name, &content)?;
            tracing::info!("[desk]: {} uploaded the pairing file {name}", guest.name);
        }
        Ok(Json(report).into_response())
    })
    .await
}

pub(super) async fn remove(
    State(state): SharedDesk,
    Operator(guest): Operator,
    Path(name): Path<String>,
) -> PairingsResponse {
    let name = file_name(&name)?;
    with_files(&state, move |files| {
        if !files.remove(&name)? {
            return Ok(missing());
        }
        tracing::info!("[desk]: {} removed the pairing file {name}", guest.name);
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

fn file_name(name: &str) -> Result<FileName, PairingsRefusal> {
    let name = name.parse();
    name.map_err(|error: NoFileName| PairingsRefusal::new(StatusCode::BAD_REQUEST, error.to_string()))
}

fn missing() -> Response {
    refused(StatusCode::NOT_FOUND, "there is no uploaded file of this name")
}

/// The semaphore is never closed.
fn closed(error: AcquireError) -> PairingsRefusal {
    PairingsRefusal::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}

/// Reads a body part by part. To collect the parts first would take its memory twice.
async fn read_body(body: Body) -> Result<Vec<u8>, PairingsRefusal> {
    let too_large = || {
        PairingsRefusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            tournament::FileError::TooLong.to_string(),
        )
    };
    let limit = usize::try_from(tournament::MAX_FILE_BYTES).unwrap_or(usize::MAX);
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut content = Vec::with_capacity(announced.min(limit));
    let mut parts = body.into_data_stream();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| too_large())?;
        if part.len() > limit - content.len() {
            return Err(too_large());
        }
        content.extend_from_slice(&part);
    }
    Ok(content)
}

/// Runs an operation on the files, one request at a time, on a thread that may block. Reading large files takes as much
/// memory as checking a password, so an operation takes the place of a check.
async fn with_files(
    state: &Arc<DeskState>,
    operation: impl FnOnce(&PairingFiles) -> io::Result<Response> + Send + 'static,
) -> PairingsResponse {
    let files = Arc::clone(in_hall(state)?).lock_owned().await;
    let run = state.passwords.instead().await;
    let run =
        run.map_err(|error| PairingsRefusal::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()))?;
    let done = tokio::task::spawn_blocking(move || {
        let _run = run;
        operation(&files)
    })
    .await;
    let done = done
        .map_err(Error::from)
        .and_then(|done| done.map_err(Error::from));
    done.map_err(|error| {
        tracing::warn!("[desk]: cannot change the pairing files: {error:#}");
        PairingsRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}"))
    })
}

/// Returns the changes that a new file makes to the pairings in use, and the number of those that are not listed.
/// Pairings that cannot be read are not in use.
fn changes(files: &PairingFiles, after: &Tournament) -> (Vec<Change>, usize) {
    let before = tournament::read(&files.all()).map(|(before, _)| before);
    tournament::changes(&before.unwrap_or_default(), after)
}

/// Returns the report of `kiebitz event check`, or the error with its line and column. With `ids_optional`, missing FIDE
/// ids are notes.
fn check_report(
    read: Result<(Tournament, Vec<tournament::Doubt>), ReadError>,
    ids_optional: bool,
) -> Result<Value, Value> {
    match read {
        Ok((event, _)) if event == Tournament::default() => Ok(tournament::report(&[], Totals::default())),
        Ok((event, doubts)) => {
            // Checked without boards: the page itself knows which boards exist and at which tables they stand.
            let check = Check {
                ids_optional,
                ..Check::default()
            };
            let findings = check.findings(&event, doubts);
            Ok(tournament::report(&findings, Totals::of(&event)))
        }
        Err(ReadError::Wrong { place, error }) => Err(json!({
            "error": error.to_string(),
            "file": &*place.file,
            "line": place.line,
            "column": place.column,
        })),
        Err(error) => Err(json!({ "error": format!("{:#}", Error::from(error)) })),
    }
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;
    use core::pin::Pin;

    use futures_util::{FutureExt, stream};
    use tokio::sync::mpsc;

    use super::*;
    use crate::outputs::desk::door::tests::desk_state;
    use crate::outputs::desk::sessions::Guest;
    use crate::outputs::desk::users::Role;

    const PAIRINGS: &str = "round,board,white,black\n1,1,Adler,Berg\n";

    /// A check of an upload, and the sender of its body.
    struct SlowUpload {
        response: Pin<Box<dyn Future<Output = PairingsResponse>>>,
        body: mpsc::UnboundedSender<&'static str>,
        /// Receives a message when the body is read for the first time.
        read: mpsc::UnboundedReceiver<()>,
    }

    impl SlowUpload {
        fn begin(state: &Arc<DeskState>) -> Self {
            let (body, parts) = mpsc::unbounded_channel::<&'static str>();
            let (is_read, read) = mpsc::unbounded_channel();
            let parts = stream::unfold(parts, |mut parts| async move {
                let part = parts.recv().await?;
                Some((Ok::<_, Infallible>(part), parts))
            });
            let begin = stream::once(async move {
                let _ = is_read.send(());
                Ok("")
            });
            let request = Request::builder()
                .uri("/pairings/round-1.csv?check")
                .body(Body::from_stream(begin.chain(parts)))
                .expect("a request");
            let operator = Operator(Guest {
                name: "chief".to_owned(),
                role: Role::Operator,
            });
            let name = Path("round-1.csv".to_owned());
            Self {
                response: Box::pin(upload(State(Arc::clone(state)), operator, name, request)),
                body,
                read,
            }
        }

        /// Lets the upload proceed until it waits. Returns whether its body has been read since the last call.
        fn proceed(&mut self) -> bool {
            assert!(
                (&mut self.response).now_or_never().is_none(),
                "the body has not ended"
            );
            self.read.try_recv().is_ok()
        }

        /// Sends the body, and returns the status of the response.
        async fn finish(self) -> StatusCode {
            self.body.send(PAIRINGS).expect("a receiver");
            drop(self.body);
            self.response.await.into_response().status()
        }
    }

    #[tokio::test]
    async fn the_bodies_of_two_uploads_are_read_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = PairingFiles::new(Vec::new(), Some(folder.path().join("pairings")));
        let mut state = desk_state(folder.path(), "", mpsc::channel(1).0).await;
        state.pairings = Some(Arc::new(Mutex::new(files)));
        let state = Arc::new(state);
        let mut waiting: Vec<SlowUpload> = (0..5).map(|_| SlowUpload::begin(&state)).collect();
        let read = |uploads: &mut [SlowUpload]| -> Vec<bool> {
            uploads.iter_mut().map(SlowUpload::proceed).collect()
        };
        assert_eq!(read(&mut waiting), [true, true, false, false, false]);
        assert_eq!(read(&mut waiting), [false; 5], "the others still wait");
        assert_eq!(waiting.remove(1).finish().await, StatusCode::OK);
        assert_eq!(read(&mut waiting), [false, true, false, false]);
        // A client that hangs up makes room, too.
        drop(waiting.remove(0));
        assert_eq!(read(&mut waiting), [false, true, false]);
        for upload in waiting.drain(..2) {
            assert_eq!(upload.finish().await, StatusCode::OK);
        }
        assert_eq!(read(&mut waiting), [true]);
    }
}
