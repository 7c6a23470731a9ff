//! What was recorded of a game in the journal: the files, and which of their events are the game's.

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

/// The recording of a game in the journal.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The files, in their order: those of the days of the game, and before them those since the board was connected.
    files: Vec<PathBuf>,
    /// Since when the board was connected.
    pub(super) connected: Timestamp,
    pub(crate) stretch: GameStretch,
}

/// Why there is no recording of a game.
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

/// Which part of a recording is a game.
#[derive(Debug, Clone)]
pub(crate) struct GameStretch {
    board: String,
    /// Its id in the journal.
    game: String,
    started: Timestamp,
    /// When the board's game before it was started.
    after: Timestamp,
    /// Nothing of it comes later.
    until: Timestamp,
    /// Its id in the replay, where games are counted anew.
    replayed_as: Option<String>,
    ended: bool,
}

/// The same bytes give the same times, but a daemon that was started again during the game had fewer.
const SAME_START: Duration = Duration::from_secs(10);
/// What comes so long after the end of a game still says something about it.
const AFTERMATH: Duration = Duration::from_secs(60);
/// From so long before its first event on a game is played back at the speed asked for.
const RUN_UP: Duration = Duration::from_secs(5);

impl Recorded {
    /// What there is of a game.
    pub(crate) fn of(kept: &KeptGames, game: &KeptGame) -> Result<Self> {
        let id = &game.entry.game;
        let (after, next) = kept.neighbours(game)?;
        let events = kept.events(game)?;
        let last = events.last().map_or(game.entry.started, |event| event.ts);
        // A decision about it may be later than the next game.
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

    /// Its bytes, file after file.
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

/// Where the last whole block of a capture ends: after a power failure the next file cannot be read from its middle.
fn whole_length(path: &Path) -> Result<u64> {
    let cannot = || format!("cannot replay {}", path.display());
    let file = File::open(path).with_context(cannot)?;
    let size = file.metadata().with_context(cannot)?.len();
    let mut reader = CaptureReader::new(BufReader::new(file)).with_context(cannot)?;
    while reader.next_packet().with_context(cannot)?.is_some() {}
    Ok(reader.truncated().unwrap_or(size))
}

/// Files that are read one after the other.
#[derive(Debug)]
pub(crate) struct Chain {
    files: VecDeque<Take<File>>,
}

impl Chain {
    /// One file, to its end.
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
    /// Whether a step at that time is played at the speed asked for, and not passed over.
    pub(crate) fn shows(&self, at: Timestamp) -> bool {
        at + RUN_UP >= self.started
    }

    /// Whether that is the name of its board.
    pub(crate) fn is_of(&self, board: &str) -> bool {
        self.board == board
    }

    /// Whether what is recorded from that time on is of no interest.
    pub(crate) fn is_over(&self, at: Timestamp) -> bool {
        at > self.until
    }

    /// The events that are the game's, under its id in the journal, and those of its board that belong to no game.
    pub(crate) fn select(&mut self, mut said: Vec<ExplainedEvent>) -> Vec<ExplainedEvent> {
        said.retain_mut(|said| {
            let event = &mut said.event;
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
                // A sheet needs to know that there are a board and a clock, however long ago they were connected.
                None => {
                    let connects = matches!(
                        event.kind,
                        EventKind::BoardConnected { .. } | EventKind::ClockConnected {}
                    );
                    !self.ended && (event.ts > self.after || connects)
                }
            }
        });
        said
    }

    /// Refuses a recording in which the game was not found.
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
