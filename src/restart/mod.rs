//! A restart is a replay: what the daemon knew when it ended follows from what it was told, and all of that is recorded.
//!
//! The recordings of all ports are taken through a hall once more, from where boards last went on from the journal alone,
//! and with the arbiter's commands at their times. So lines, boards and games are as they were, to the last byte. What
//! that gives is held against the journal. What it has is recognised; what it lacks was lost with the process, and is
//! kept now. A board whose recordings do not bear out its journal, because they are damaged, or were made by a kiebitz that
//! saw things differently, goes on from the journal alone, as all do where nothing was recorded.

mod boards;
mod compare;
mod inputs;
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

/// What a restart is made from.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'s> {
    /// The journal.
    pub journal: &'s Journal,
    /// Where the recordings are; `None`: nothing is recorded.
    pub recordings: Option<&'s Path>,
    /// Decides when a day ends.
    pub zone: &'s TimeZone,
    /// The stream of the daemon's events.
    pub stream: &'s str,
    /// The configuration now.
    pub config: &'s Config,
    /// The numbers that events are known to have been given.
    pub numbers: &'s KnownSeqs,
    /// Counts the steps of the replay; `None` if nobody waits for it.
    pub progress: Option<&'s Progress>,
}

/// What is known, beside the journal, of the numbers that have left the process.
#[derive(Debug, Clone, Default)]
pub struct KnownSeqs {
    /// The last number of each board that may have left the process.
    pub numbers: LastSeqs,
    /// The same if journal and numbers file turn out to be older copies.
    pub reserved: LastSeqs,
    /// A number of each board, with the [`digest`](crate::journal::digest) of the event that had it.
    pub digests: BTreeMap<String, (u64, u64)>,
}

impl KnownSeqs {
    /// The last number of a board that may have left the process.
    fn of(&self, board: &str) -> u64 {
        self.numbers.boards.get(board).copied().unwrap_or(0)
    }
}

/// What a daemon that is started goes on with. Its events have to be kept, and then it is to be
/// [settled](Self::settle).
#[derive(Debug)]
pub struct TakenUp {
    /// What the journal lacks.
    pub events: Vec<Event>,
    /// What the recordings lack: that these ports were closed, which [`CUT_OFF`] says why.
    pub closed: Vec<(Timestamp, Interface)>,
    /// What happens from here on is later.
    pub until: Timestamp,
    /// The boards that go on from the journal alone, each with the reason.
    pub alone: BTreeMap<String, Alone>,
    /// The boards with all lines closed.
    hall: Hall,
    /// No board goes on with what was recorded.
    whole: bool,
    /// The numbers that may have left the process.
    numbers: LastSeqs,
    /// The numbers that are left out for events from before this start, see [`Run::jumps`].
    jumps: BTreeMap<String, (u64, u64)>,
}

/// Why a board goes on from the journal alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Alone {
    /// Nothing that could be played back was recorded.
    #[error("there is no recording to resume from")]
    NotRecorded,
    /// The recording gives something else than the journal has.
    #[error("the recording does not lead to event {0} of the journal")]
    Differs(u64),
    /// The recording ends before the journal does.
    #[error("the recording ends before event {0} of the journal")]
    Short(u64),
    /// Nothing that was known of lines and hands is of use any more.
    #[error("the board was last watched long ago")]
    LongAgo,
}

/// Why ports were closed that nobody closed.
pub const CUT_OFF: &str = "kiebitz was cut off";
/// The same for boards whose recordings cannot be played back.
const NOT_BORNE_OUT: &str = "kiebitz was cut off, and the recording cannot be used";
/// After a pause of this length a daemon begins anew, so that no restart has to play back more than a day.
const LONG_AGO: Duration = Duration::from_secs(6 * 3600);
/// The smallest step of time.
const MOMENT: Duration = Duration::from_micros(1);

/// Takes up, at `now`, what the daemon knew when it last ended.
///
/// # Errors
///
/// Fails if the journal cannot be read.
pub fn take_up(sources: &Sources<'_>, now: Timestamp) -> Result<TakenUp, JournalError> {
    let runs = match sources.recordings {
        // What the table says of them may be damaged: that alone is no reason to give the journal up.
        Some(_) => sources.journal.runs().unwrap_or_default(),
        None => Vec::new(),
    };
    let until = last_ts(sources.journal, sources.stream)?;
    let mut taken = match (sources.recordings, runs.is_empty()) {
        (Some(folder), false) => TakingUp::new(sources, folder, runs)?.play(until)?,
        _ => from_journal(sources, until, Alone::NotRecorded)?,
    };
    if now.saturating_duration_since(taken.until) >= LONG_AGO {
        taken.hall = Hall::new(sources.stream, names(sources.config));
        taken.whole = true;
        for (board, _) in sources.journal.boards(sources.stream)? {
            taken.alone.entry(board).or_insert(Alone::LongAgo);
        }
    }
    Ok(taken)
}

/// Begins anew, with all boards closed before: what was recorded so far is not needed any more.
///
/// # Errors
///
/// Fails if the journal cannot be read.
pub fn begin_anew(sources: &Sources<'_>) -> Result<TakenUp, JournalError> {
    from_journal(sources, last_ts(sources.journal, sources.stream)?, Alone::LongAgo)
}

/// When the last event of a stream was.
pub(crate) fn last_ts(journal: &Journal, stream: &str) -> Result<Timestamp, JournalError> {
    let mut until = Timestamp::from_micros(0);
    for (board, _) in journal.boards(stream)? {
        let last = journal.all_of(stream, &board).last_ts()?;
        until = last.map_or(until, |last| until.max(last));
    }
    Ok(until)
}

/// All boards go on from the journal alone.
fn from_journal(sources: &Sources<'_>, until: Timestamp, why: Alone) -> Result<TakenUp, JournalError> {
    let mut taken = TakenUp {
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
        let number = after_all_given(&taken.numbers, &board, last) + 1;
        taken
            .events
            .extend(disconnection(sources, &board, number, until)?);
        taken.alone.insert(board, why);
    }
    Ok(taken)
}

/// The number of a board's last event: that of the journal, or a later one that was given as well.
fn after_all_given(numbers: &LastSeqs, board: &str, last: u64) -> u64 {
    last.max(numbers.boards.get(board).copied().unwrap_or(0))
}

/// What the journal lacks of a board that is connected by its journal: that the daemon was cut off.
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
    /// The numbers that may have left the process.
    #[must_use]
    pub fn numbers(&self) -> &LastSeqs {
        &self.numbers
    }

    /// Makes the boards that go on from the journal alone, now that it has the events, and says what is to be noted
    /// of this start.
    ///
    /// # Errors
    ///
    /// Fails if the journal cannot be read.
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
        Ok((hall, run))
    }
}

/// What boards are called and what is played on them, by a daemon's configuration.
pub(crate) fn names(config: &Config) -> Names {
    Names::Configured(config.roster())
}
