//! Tests of the boards' squares: which squares have lost and which have received a piece since the test began. A file
//! in the state directory keeps the tests across restarts, and all open pages show the same state.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use axum::extract::{Path as PathOf, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kiebitz_game::position::Seen;
use kiebitz_hardware::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::door::{IN_HALL, Operator, SharedDesk, refused};
use crate::outputs::shared::notes;

/// Age at which the test of a board expires. Sensors may fail from one day to the next.
const LIFETIME: Duration = Duration::from_secs(18 * 3600);
/// Timeout for reading the file at startup.
const PATIENCE: Duration = Duration::from_secs(2);
/// Minimum interval between two writes.
const INTERVAL: Duration = Duration::from_secs(1);

/// The tests of all boards, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SquareTests(BTreeMap<String, SquareTest>);

/// State of a test: squares as bitboards, and the time of the last change in microseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct SquareTest {
    at: i64,
    emptied: u64,
    filled: u64,
}

impl SquareTests {
    /// Adds the changes of a board's squares at `now`. Returns whether the test of the board has changed.
    pub(super) fn record(&mut self, now: Timestamp, board: &str, seen: Seen) -> bool {
        let known = self.0.get(board).copied();
        let is_old = known
            .is_some_and(|test| now.saturating_duration_since(Timestamp::from_micros(test.at)) > LIFETIME);
        if is_old {
            self.0.remove(board);
        }
        let before = known.filter(|_| !is_old).unwrap_or_default();
        let after = SquareTest {
            emptied: before.emptied | u64::from(seen.emptied),
            filled: before.filled | u64::from(seen.filled),
            ..before
        };
        if after == before {
            return is_old;
        }
        let at = now.as_micros();
        self.0.insert(board.to_owned(), SquareTest { at, ..after });
        true
    }

    /// Restarts the test of a board. Returns whether there was one.
    pub(super) fn restart(&mut self, board: &str) -> bool {
        self.0.remove(board).is_some()
    }

    /// Returns one digit for each square, in the order a1, b1, ..., h8: 1 if the square has lost a piece, 2 if it has
    /// received one, 3 after both, else 0. `None` if no square has changed.
    pub(super) fn of(&self, board: &str) -> Option<String> {
        let test = self.0.get(board)?;
        let digit = |square: u32| {
            let bit = |squares: u64| u8::from((squares >> square) & 1 == 1);
            char::from(b'0' + bit(test.emptied) + 2 * bit(test.filled))
        };
        Some((0..64).map(digit).collect())
    }
}

/// Reads the tests. Returns none if the file is missing or damaged, or if the disk does not answer in time.
pub(super) async fn read(file: PathBuf) -> SquareTests {
    let reading = tokio::task::spawn_blocking(move || notes::read(&file));
    let read = tokio::time::timeout(PATIENCE, reading).await;
    read.map(Result::unwrap_or_default).unwrap_or_default()
}

/// Writes the tests after each change until the program ends.
pub(super) async fn keep(file: PathBuf, mut tests: watch::Receiver<SquareTests>) {
    let mut trouble = None;
    while tests.changed().await.is_ok() {
        let latest = tests.borrow_and_update().clone();
        let to = file.clone();
        let written = tokio::task::spawn_blocking(move || notes::write(&to, &latest)).await;
        let error = written.unwrap_or_else(|error| Err(io::Error::other(error))).err();
        let error = error.map(|error| error.to_string());
        if let Some(error) = error.as_ref().filter(|error| trouble.as_ref() != Some(*error)) {
            report(&file, error);
        }
        trouble = error;
        tokio::time::sleep(INTERVAL).await;
    }
}

fn report(file: &Path, error: &str) {
    tracing::warn!(
        "[desk]: cannot write {}: {error}; after a restart the squares have to be tested again",
        file.display()
    );
}

/// Restarts the test of a board.
pub(super) async fn restart(
    State(state): SharedDesk,
    _: Operator,
    PathOf(board): PathOf<String>,
) -> Response {
    if state.pairings.is_none() {
        return refused(StatusCode::NOT_FOUND, IN_HALL);
    }
    match state.test_restarts.send(board).await {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(_) => refused(StatusCode::SERVICE_UNAVAILABLE, "kiebitz does not answer"),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn seen(emptied: &[Square], filled: &[Square]) -> Seen {
        Seen {
            emptied: emptied.iter().copied().collect(),
            filled: filled.iter().copied().collect(),
        }
    }

    #[test]
    fn a_test_accumulates_until_it_is_restarted_or_expires() {
        let mut tests = SquareTests::default();
        assert!(tests.record(NOW, "b", seen(&[Square::A1, Square::B1], &[])));
        assert!(!tests.record(NOW, "b", seen(&[Square::A1], &[])), "nothing new");
        assert!(tests.record(NOW, "b", seen(&[], &[Square::B1, Square::H8])));
        let shown = tests.of("b").expect("a test");
        assert_eq!((&shown[..3], &shown[63..], shown.len()), ("130", "2", 64));
        assert_eq!(tests.of("c"), None);
        let later = NOW + LIFETIME;
        assert!(!tests.record(later, "b", Seen::default()), "it still holds");
        let expired = later + Duration::from_secs(1);
        assert!(tests.record(expired, "b", seen(&[Square::C1], &[])));
        assert_eq!(
            tests.of("b").map(|shown| shown[..3].to_owned()).as_deref(),
            Some("001")
        );
        assert!(tests.restart("b") && !tests.restart("b"));
        assert_eq!(tests.of("b"), None);
    }

    #[tokio::test]
    async fn tests_outlast_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("squares.json");
        assert_eq!(read(file.clone()).await, SquareTests::default());
        let (sender, receiver) = watch::channel(SquareTests::default());
        let keeper = tokio::spawn(keep(file.clone(), receiver));
        sender.send_modify(|tests| {
            tests.record(NOW, "b", seen(&[Square::E2], &[Square::E2]));
        });
        drop(sender);
        keeper.await.expect("it ends with the desk");
        assert_eq!(
            read(file.clone())
                .await
                .of("b")
                .map(|shown| shown.matches('3').count()),
            Some(1)
        );
        std::fs::write(&file, "{").expect("a damaged file");
        assert_eq!(read(file).await, SquareTests::default());
    }
}
