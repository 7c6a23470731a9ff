//! The recording of a stored game: its files, and the selection of the game's events from a replay.

use core::time::Duration;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Take};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kiebitz_game::events::{EventKind, ExplainedEvent};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::CaptureReader;
use kiebitz_hardware::recorder::recorded_days;

use super::{KeptGame, KeptGames};
use crate::system_time;

#[derive(Debug)]
pub(crate) struct Recorded {
    /// The files in order, from the day on which the board was connected to the last day of the game.
    files: Vec<PathBuf>,
    pub(super) connected: Timestamp,
    pub(crate) stretch: GameStretch,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unrecorded {
    #[error("the journal does not say on which port {game} was played")]
    NoPort { game: String },
    #[error(
        "the board changed ports during {game} ({ports}): replay the recordings of these ports in {folder} one by one"
    )]
    Moved {
        game: String,
        ports: String,
        folder: String,
    },
    #[error(
        "there is no {file} in {folder}, so {game} cannot be replayed: recording was off, or the file was \
         removed to stay within the budget"
    )]
    Gone {
        game: String,
        file: String,
        folder: String,
    },
    #[error(
        "the recording does not show that {game} began on {board}: the board had another name then, or bytes \
         are missing"
    )]
    NotShown { game: String, board: String },
    #[error("the recording has more than {mebibytes} MiB: copy it from the recordings on kiebitz's computer")]
    TooLarge { mebibytes: usize },
}

/// The part of a recording that belongs to a game.
#[derive(Debug, Clone)]
pub(crate) struct GameStretch {
    board: String,
    /// The game's id in the journal.
    game: String,
    started: Timestamp,
    /// Start time of the board's previous game.
    after: Timestamp,
    until: Timestamp,
    /// The game's id in the replay, which numbers games anew; `None` until the game has started.
    replayed_as: Option<String>,
    ended: bool,
}

/// Tolerance for the start time of the game in a replay. The same bytes give the same times, but a daemon that was
/// restarted during the game had fewer bytes.
const SAME_START: Duration = Duration::from_secs(10);
/// Time after the end of a game whose events still concern it.
const AFTERMATH: Duration = Duration::from_secs(60);
/// Time before the start of a game from which on a replay runs at the requested speed.
const RUN_UP: Duration = Duration::from_secs(5);

impl Recorded {
    pub(crate) fn of(kept: &KeptGames, game: &KeptGame) -> Result<Self> {
        let id = &game.entry.game;
        let (after, next) = kept.neighbours(game)?;
        let events = kept.events(game)?;
        let last = events.last().map_or(game.entry.started, |event| event.ts);
        // A decision about the game may come after the next one.
        let before_next = |at: Timestamp| next.map_or(at, |next| at.min(next));
        let end = before_next(game.entry.ended.unwrap_or(last));
        let until = game
            .entry
            .ended
            .map_or(Timestamp::from_micros(i64::MAX), |ended| {
                before_next(ended) + AFTERMATH
            });
        let connected = kept
            .connections(game, end)?
            .ok_or_else(|| Unrecorded::NoPort { game: id.clone() })?;
        let folder = kept.recordings();
        if connected.ports.len() > 1 {
            return Err(Unrecorded::Moved {
                game: id.clone(),
                ports: connected.ports.join(", "),
                folder: folder.display().to_string(),
            }
            .into());
        }
        let port = connected.ports.first().map(String::as_str).unwrap_or_default();
        let zone = system_time::local_zone();
        for day in recorded_days(folder, port, game.entry.started, end, &zone) {
            if day.files.is_empty() {
                return Err(Unrecorded::Gone {
                    game: id.clone(),
                    file: day.name,
                    folder: folder.display().to_string(),
                }
                .into());
            }
        }
        let days = recorded_days(folder, port, connected.since, end, &zone);
        Ok(Self {
            files: days.into_iter().flat_map(|day| day.files).collect(),
            connected: connected.since,
            stretch: GameStretch {
                board: game.board.clone(),
                game: id.clone(),
                started: game.entry.started,
                after: after.unwrap_or(Timestamp::from_micros(i64::MIN)),
                until: next.map_or(until, |next| next.min(until)),
                replayed_as: None,
                ended: false,
            },
        })
    }

    /// Reads the bytes of the files one after the other.
    pub(crate) fn open(&self) -> Result<BufReader<Chain>> {
        let files = self.files.iter().map(|path| {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            let whole = whole_length(path)?;
            anyhow::Ok(file.take(whole))
        });
        let files: Result<VecDeque<Take<File>>> = files.collect();
        Ok(BufReader::new(Chain { files: files? }))
    }
}

/// Length of a capture up to its last complete block: after a power failure, the next file could not be read otherwise.
fn whole_length(path: &Path) -> Result<u64> {
    let cannot = || format!("cannot replay {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    let size = file.metadata().with_context(cannot)?.len();
    let mut reader = CaptureReader::new(BufReader::new(file)).with_context(cannot)?;
    while reader.next_packet().with_context(cannot)?.is_some() {}
    Ok(reader.truncated().unwrap_or(size))
}

#[derive(Debug)]
pub(crate) struct Chain {
    files: VecDeque<Take<File>>,
}

impl Chain {
    /// A single file, to its end.
    pub(crate) fn one(file: File) -> Self {
        Self {
            files: VecDeque::from([file.take(u64::MAX)]),
        }
    }
}

impl Read for Chain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(file) = self.files.front_mut() {
            let read = file.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.files.pop_front();
        }
        Ok(0)
    }
}

impl GameStretch {
    /// Whether a step at this time is shown at the requested speed instead of being skipped.
    pub(crate) fn shows(&self, at: Timestamp) -> bool {
        at + RUN_UP >= self.started
    }

    pub(crate) fn is_of(&self, board: &str) -> bool {
        self.board == board
    }

    pub(crate) fn is_over(&self, at: Timestamp) -> bool {
        at > self.until
    }

    /// Selects the events of the game, under its id in the journal, and those of its board that belong to no game.
    pub(crate) fn select(&mut self, mut events: Vec<ExplainedEvent>) -> Vec<ExplainedEvent> {
        events.retain_mut(|explained| {
            let event = &mut explained.event;
            if event.board != self.board {
                return false;
            }
            if let EventKind::GameStarted { .. } = &event.kind
                && is_near(event.ts, self.started)
            {
                self.replayed_as.clone_from(&event.game);
            }
            match &event.game {
                Some(game) if Some(game) == self.replayed_as.as_ref() => {
                    match event.kind {
                        EventKind::GameEnded { .. } => self.ended = true,
                        EventKind::GameResumed { .. } => self.ended = false,
                        _ => {}
                    }
                    event.game = Some(self.game.clone());
                    true
                }
                Some(_) => false,
                // A score sheet needs the connections of board and clock, however old they are.
                None => {
                    let connects = matches!(
                        event.kind,
                        EventKind::BoardConnected { .. } | EventKind::ClockConnected {}
                    );
                    !self.ended && (event.ts > self.after || connects)
                }
            }
        });
        events
    }

    /// Fails if the game was not found in the recording.
    pub(crate) fn check(&self) -> Result<(), Unrecorded> {
        if self.replayed_as.is_none() {
            return Err(Unrecorded::NotShown {
                game: self.game.clone(),
                board: self.board.clone(),
            });
        }
        Ok(())
    }
}

fn is_near(one: Timestamp, other: Timestamp) -> bool {
    one.saturating_duration_since(other) <= SAME_START && other.saturating_duration_since(one) <= SAME_START
}
