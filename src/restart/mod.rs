//! A restart is a replay: the state of the daemon follows from its inputs, all of which are recorded.
//!
//! The recordings of all ports go through a hall again, from the time at which boards last continued from the journal
//! alone, with the arbiter's commands at their times. Lines, boards and games are then exactly as before. The resulting
//! events are compared with the journal. Events that the journal lacks were lost with the process and are stored now.
//! If the recordings of a board do not match its journal, because they are damaged or were made by a kiebitz with other
//! rules, the board continues from the journal alone, as do all boards without recordings.

mod boards;
mod compare;
mod inputs;
pub(crate) mod past;
mod rebuild;
mod recordings;
mod rerun;
mod taking_up;

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::Path;

use jiff::tz::TimeZone;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::hall::{Hall, LastSeqs, Names};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::Interface;

use crate::config::Config;
use crate::journal::{Journal, JournalError, Run};
use crate::progress::Progress;
pub use boards::{board, boards};
pub(crate) use inputs::{HallInput, Inputs};
pub use rebuild::{NotRebuilt, Rebuilt, RebuiltBoard, rebuild};
pub use recordings::Recordings;
use taking_up::TakingUp;

/// The sources of a restart.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'s> {
    /// The journal.
    pub journal: &'s Journal,
    /// Directory of the recordings; `None` if recording is off.
    pub recordings: Option<&'s Path>,
    /// Time zone, which determines the ends of the days.
    pub zone: &'s TimeZone,
    /// The stream of the daemon's events.
    pub stream: &'s str,
    /// The current configuration.
    pub config: &'s Config,
    /// The seqs that are known to have been given.
    pub numbers: &'s KnownSeqs,
    /// Advances with the steps of the replay; `None` if nobody waits for it.
    pub progress: Option<&'s Progress>,
}

/// Seqs that may have left the process, as known from elsewhere than the journal.
#[derive(Debug, Clone, Default)]
pub struct KnownSeqs {
    /// Last seq of each board that may have left the process.
    pub numbers: LastSeqs,
    /// Upper bounds of these seqs, used if the journal and the file of seqs turn out to be older copies.
    pub reserved: LastSeqs,
    /// One seq of each board with the [`digest`](crate::journal::digest) of its event.
    pub digests: BTreeMap<String, (u64, u64)>,
}

impl KnownSeqs {
    /// Last seq of a board that may have left the process.
    fn of(&self, board: &str) -> u64 {
        self.numbers.boards.get(board).copied().unwrap_or(0)
    }
}

/// The restored state of the daemon. Store its events, then [settle](Self::settle) it.
#[derive(Debug)]
pub struct TakenUp {
    /// The events that the journal lacks.
    pub events: Vec<Event>,
    /// The closings that the recordings lack: these ports were closed, for the reason [`CUT_OFF`].
    pub closed: Vec<(Timestamp, Interface)>,
    /// Time of the last known input. Later inputs must have later times.
    pub until: Timestamp,
    /// Boards that continue from the journal alone, with the reasons.
    pub alone: BTreeMap<String, Alone>,
    /// The restored boards, with all lines closed.
    hall: Hall,
    /// No board continues earlier recordings.
    whole: bool,
    /// Last seqs that may have left the process.
    numbers: LastSeqs,
    /// Seqs that are skipped for events from before this start, see [`Run::jumps`].
    jumps: BTreeMap<String, (u64, u64)>,
}

/// The reason for which a board continues from the journal alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Alone {
    /// There is no recording that can be replayed.
    #[error("there is no recording to resume from")]
    NotRecorded,
    /// An event of the replay differs from the journal.
    #[error("the recording does not lead to event {0} of the journal")]
    Differs(u64),
    /// The recording ends before the journal.
    #[error("the recording ends before event {0} of the journal")]
    Short(u64),
    /// The last recording is so old that the state of serial lines and hands is obsolete.
    #[error("the board was last watched long ago")]
    LongAgo,
}

/// Reason given for ports that were open when the daemon ended.
pub const CUT_OFF: &str = "kiebitz was cut off";
/// Reason given for boards whose recordings cannot be replayed.
const NOT_BORNE_OUT: &str = "kiebitz was cut off, and the recording cannot be used";
/// Length of the pause after which a daemon creates its boards anew, so that no restart replays more than a day.
const LONG_AGO: Duration = Duration::from_secs(6 * 3600);
/// The resolution of timestamps.
const MOMENT: Duration = Duration::from_micros(1);

/// Restores, at the time `now`, the state in which the daemon ended.
pub fn take_up(sources: &Sources<'_>, now: Timestamp) -> Result<TakenUp, JournalError> {
    let runs = match sources.recordings {
        // The table of runs may be damaged, which is not a reason to give up the journal.
        Some(_) => sources.journal.runs().unwrap_or_default(),
        None => Vec::new(),
    };
    let until = last_ts(sources.journal, sources.stream)?;
    let mut restored = match (sources.recordings, runs.is_empty()) {
        (Some(folder), false) => TakingUp::new(sources, folder, runs)?.play(until)?,
        _ => from_journal(sources, until, Alone::NotRecorded)?,
    };
    if now.saturating_duration_since(restored.until) >= LONG_AGO {
        restored.hall = Hall::new(sources.stream, names(sources.config));
        restored.whole = true;
        for (board, _) in sources.journal.boards(sources.stream)? {
            restored.alone.entry(board).or_insert(Alone::LongAgo);
        }
    }
    Ok(restored)
}

/// Creates all boards anew; all of them must be closed. Later restarts do not need the recordings so far.
pub fn begin_anew(sources: &Sources<'_>) -> Result<TakenUp, JournalError> {
    from_journal(sources, last_ts(sources.journal, sources.stream)?, Alone::LongAgo)
}

/// Time of the last event of a stream; 0 if it has none.
pub(crate) fn last_ts(journal: &Journal, stream: &str) -> Result<Timestamp, JournalError> {
    let mut until = Timestamp::from_micros(0);
    for (board, _) in journal.boards(stream)? {
        let last = journal.all_of(stream, &board).last_ts()?;
        until = last.map_or(until, |last| until.max(last));
    }
    Ok(until)
}

/// Lets all boards continue from the journal alone.
fn from_journal(sources: &Sources<'_>, until: Timestamp, why: Alone) -> Result<TakenUp, JournalError> {
    let mut restored = TakenUp {
        events: Vec::new(),
        closed: Vec::new(),
        until,
        alone: BTreeMap::new(),
        hall: Hall::new(sources.stream, names(sources.config)),
        whole: true,
        numbers: sources.numbers.numbers.clone(),
        jumps: BTreeMap::new(),
    };
    for (board, last) in sources.journal.boards(sources.stream)? {
        let number = after_all_given(&restored.numbers, &board, last) + 1;
        restored
            .events
            .extend(disconnection(sources, &board, number, until)?);
        restored.alone.insert(board, why);
    }
    Ok(restored)
}

/// The seq after which a board continues: the last one in the journal, or a later one that was given as well.
fn after_all_given(numbers: &LastSeqs, board: &str, last: u64) -> u64 {
    last.max(numbers.boards.get(board).copied().unwrap_or(0))
}

/// The missing `board.disconnected` of a board that is connected according to the journal.
fn disconnection(
    sources: &Sources<'_>,
    board: &str,
    seq: u64,
    until: Timestamp,
) -> Result<Option<Event>, JournalError> {
    let past = sources.journal.all_of(sources.stream, board);
    let presence = past.presence()?;
    let connected = presence.filter(|event| matches!(event.kind, EventKind::BoardConnected { .. }));
    if connected.is_none() {
        return Ok(None);
    }
    let game = past.last_game()?.filter(|game| game.record.ended.is_none());
    Ok(Some(Event {
        v: 1,
        stream: sources.stream.to_owned(),
        seq,
        ts: until,
        at: None,
        board: board.to_owned(),
        game: game.map(|game| game.record.game),
        kind: EventKind::BoardDisconnected {
            reason: NOT_BORNE_OUT.to_owned(),
        },
    }))
}

impl TakenUp {
    /// The last seqs that may have left the process.
    #[must_use]
    pub fn numbers(&self) -> &LastSeqs {
        &self.numbers
    }

    /// Restores the boards that continue from the journal alone, once the journal has all events. Returns the hall, and
    /// the run to record for this start.
    pub fn settle(self, sources: &Sources<'_>, now: Timestamp) -> Result<(Hall, Run), JournalError> {
        let Self {
            mut hall,
            until,
            alone,
            whole,
            numbers,
            jumps,
            ..
        } = self;
        hall.begin_after(numbers.clone());
        hall.configure(names(sources.config));
        let mut run = Run {
            began: now.max(until + MOMENT),
            config: sources.config.of_boards.clone(),
            whole,
            boards: BTreeMap::new(),
            numbers: numbers.boards.clone(),
            others: numbers.others,
            reloaded: false,
            jumps,
        };
        for board in alone.into_keys() {
            let last = sources.journal.last_seq(sources.stream, &board)?;
            let last = after_all_given(&numbers, &board, last);
            hall.expect(boards::board(
                sources.journal,
                sources.stream,
                &names(sources.config),
                &board,
                last,
            )?);
            run.boards.insert(board, last);
        }
        hall.count_on_after(&run.numbers);
        // Discards changes of squares from before the restart, which have been shown already.
        for board in hall.names_of_boards() {
            hall.take_seen(&board);
        }
        Ok((hall, run))
    }
}

/// The names and regulations of a daemon's boards, by its configuration.
pub(crate) fn names(config: &Config) -> Names {
    Names::Configured(config.roster())
}
