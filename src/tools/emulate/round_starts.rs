//! Detects that a round was begun at the desk of a daemon, from the daemon's journal.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use kiebitz_game::events::{Action, EventKind, LIVE_STREAM};
use kiebitz_hardware::Timestamp;
use serde_json::Value;

use crate::journal::{Journal, JournalError};

/// The rounds that are begun after a point in time.
#[derive(Debug)]
pub(super) struct RoundStarts {
    journal: PathBuf,
    since: Timestamp,
    /// Last start that counted: its time, and the number of the round if it was given.
    last: Option<(Timestamp, Option<u64>)>,
    /// Last seq that was read of each board.
    read: BTreeMap<String, u64>,
    /// Text of the last error. The same error is returned once.
    failure: Option<String>,
}

impl RoundStarts {
    /// Creates a reader for the rounds that are begun after `since`. The journal need not exist yet.
    pub(super) fn since(since: Timestamp, journal: PathBuf) -> Self {
        Self {
            journal,
            since,
            last: None,
            read: BTreeMap::new(),
            failure: None,
        }
    }

    /// Reads the journal. Returns whether a round was begun since the last call. Fails if the journal cannot be read;
    /// returns each failure once, until reading succeeds.
    pub(super) fn poll(&mut self) -> Result<bool, JournalError> {
        if !self.journal.exists() {
            return Ok(false);
        }
        match self.read_starts() {
            Ok(begun) => {
                self.failure = None;
                Ok(begun)
            }
            Err(error) if self.failure.as_ref() == Some(&error.to_string()) => Ok(false),
            Err(error) => {
                self.failure = Some(error.to_string());
                Err(error)
            }
        }
    }

    fn read_starts(&mut self) -> Result<bool, JournalError> {
        // Opened anew each time: the daemon may have replaced a damaged journal.
        let journal = Journal::open_to_read(&self.journal)?;
        let mut starts = Vec::new();
        for (board, last) in journal.boards(LIVE_STREAM)? {
            let read = self.read.entry(board.clone()).or_default();
            if *read >= last {
                continue;
            }
            for event in journal.commands(LIVE_STREAM, &board, *read)? {
                if let EventKind::CommandTaken {
                    action: Action::StartRound,
                    arguments,
                    error: None,
                    ..
                } = &event.kind
                    && event.ts >= self.since
                {
                    starts.push((event.ts, arguments.get("round").and_then(Value::as_u64)));
                }
            }
            *read = last;
        }
        starts.sort_unstable();
        let mut begun = false;
        for (at, round) in starts {
            let is_known = self.last.is_some_and(|(last, of_round)| {
                of_round == round && at.saturating_duration_since(last) < SAME_START
            });
            if !is_known {
                begun = true;
                self.last = Some((at, round));
            }
        }
        Ok(begun)
    }
}

/// Period within which commands with the same round, for several boards, are one start.
const SAME_START: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use kiebitz_game::events::Event;
    use kiebitz_game::events::samples::event;

    use super::*;

    fn command(seq: u64, seconds: i64, action: Action, error: Option<&str>) -> Event {
        command_of(2, seq, seconds, action, error)
    }

    fn command_of(round: u32, seq: u64, seconds: i64, action: Action, error: Option<&str>) -> Event {
        let kind = EventKind::CommandTaken {
            id: seq.to_string(),
            action,
            by: "chief".to_owned(),
            arguments: serde_json::json!({ "round": round }),
            error: error.map(str::to_owned),
            note: None,
        };
        Event {
            game: None,
            ts: Timestamp::from_micros(seconds * 1_000_000),
            ..event(seq, kind)
        }
    }

    #[test]
    fn a_round_is_begun_once_by_a_command_after_the_start() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("journal.sqlite");
        let mut starts = RoundStarts::since(Timestamp::from_micros(100_000_000), path.clone());
        let mut begun = || starts.poll().expect("a journal, or none yet");
        assert!(!begun(), "there is no journal");
        let mut journal = Journal::open(&path).expect("a journal");
        for (taken, is_start) in [
            (command(1, 99, Action::StartRound, None), false),
            (command(2, 101, Action::Annotate, None), false),
            (command(3, 102, Action::StartRound, Some("refused")), false),
            (command(4, 103, Action::StartRound, None), true),
            (command(5, 104, Action::Annotate, None), false),
            (command(6, 105, Action::StartRound, None), false),
            (command_of(3, 7, 106, Action::StartRound, None), true),
            (command_of(3, 8, 166, Action::StartRound, None), true),
        ] {
            journal.append([&taken]).expect("room");
            assert_eq!(begun(), is_start, "{taken:?}");
            assert!(!begun(), "each start counts once");
        }
    }

    #[test]
    fn an_unreadable_journal_is_reported_once() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("journal.sqlite");
        std::fs::write(
            &path,
            "not a journal, but longer than the header of a database\n".repeat(9),
        )
        .expect("a file");
        let mut starts = RoundStarts::since(Timestamp::default(), path.clone());
        assert!(starts.poll().is_err());
        assert_eq!(starts.poll().ok(), Some(false));
        std::fs::remove_file(&path).expect("the file");
        let mut journal = Journal::open(&path).expect("a journal");
        journal
            .append([&command(1, 1, Action::StartRound, None)])
            .expect("room");
        assert_eq!(starts.poll().ok(), Some(true));
    }
}
