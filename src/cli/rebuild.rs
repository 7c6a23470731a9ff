//! `kiebitz rebuild`.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kiebitz_game::events::{LIVE_STREAM, time_text};
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::recorder::recorded_since;

use super::request::RebuildRequest;
use super::{failure, replay};
use crate::Exit;
use crate::config::Config;
use crate::daemon::lock::StateLock;
use crate::journal::{InputsFile, Journal, Recovered, SeqFile};
use crate::progress::Progress;
use crate::restart::{self, Rebuilt, RebuiltBoard};
use crate::system_time;

/// Restores missing events of the journal, and prints a summary.
pub(super) fn run(request: &RebuildRequest, out: &mut impl Write) -> Result<Exit> {
    let Some(config) = replay::config_of_games(request.config.as_deref()) else {
        return Ok(Exit::Usage);
    };
    let now = system_time::wall_time();
    // Checked before anything is created: without recordings nothing can be restored.
    let recordings = config.recordings();
    if recorded_since(&recordings, Timestamp::from_micros(0), &system_time::local_zone()).is_empty() {
        bail!(
            "there are no recordings in {}: check that recording is on, and that --config names the daemon's \
             configuration",
            recordings.display()
        );
    }
    let _lock = StateLock::require(&config.state_directory(), now)?;
    // An unreadable file counts as empty.
    let last_seqs = SeqFile::lasts_in(&config.seqs_file(), None).unwrap_or_default();
    let mut rebuilt = if request.dry_run {
        rebuild_copy(&config)?
    } else {
        rebuild_journal(&config, now, &last_seqs)?
    };
    add_missing_seqs(&mut rebuilt, &last_seqs);
    for (path, reason) in &rebuilt.damaged {
        failure::warn(path, reason);
    }
    print_summary(&rebuilt, request.dry_run, out)?;
    Ok(Exit::Fine)
}

/// Restores events in the journal. Creates the journal if it does not exist, and replaces it if it is damaged.
fn rebuild_journal(config: &Config, now: Timestamp, last_seqs: &BTreeMap<String, u64>) -> Result<Rebuilt> {
    let path = config.journal_file();
    let opened = Journal::open(&path).and_then(|journal| {
        journal.check(true)?;
        Ok(journal)
    });
    let mut journal = match opened {
        Err(error) if error.is_damaged() => {
            failure::warn(&path, &error);
            let Recovered {
                journal,
                aside,
                events,
            } = Journal::recover(&path, now, last_seqs, &Progress::default())?;
            let text = format!(
                "moved to {}; {events} events were copied into a new journal",
                aside.display()
            );
            failure::warn(&path, &text);
            journal
        }
        opened => opened?,
    };
    let rebuilt = fill(&mut journal, config)?;
    warn_of_owner(&path);
    Ok(rebuilt)
}

/// Restores events in a temporary copy of the journal.
fn rebuild_copy(config: &Config) -> Result<Rebuilt> {
    let copy = JournalCopy(config.journal_file().with_extension("rehearsal"));
    copy.remove();
    let path = config.journal_file();
    if path.try_exists().unwrap_or(true) {
        let journal = Journal::open_to_read(&path)?;
        journal.check(true).context(
            "--dry-run cannot read a damaged journal; without it, all readable events are first copied \
                into a new journal",
        )?;
        journal.copy_to(&copy.0)?;
    }
    fill(&mut Journal::open(&copy.0)?, config)
}

fn fill(journal: &mut Journal, config: &Config) -> Result<Rebuilt> {
    let inputs = config.inputs_file();
    match InputsFile::read(&inputs) {
        Ok(inputs) => drop(journal.restore(LIVE_STREAM, &inputs, true)?),
        Err(error) => failure::warn(&inputs, &error),
    }
    let zone = system_time::local_zone();
    let rebuilt = restart::rebuild(journal, &config.recordings(), &zone, LIVE_STREAM, config);
    rebuilt.with_context(|| format!("cannot rebuild {}", config.journal_file().display()))
}

/// A temporary copy of the journal. Dropping it removes the copy and SQLite's files next to it.
struct JournalCopy(PathBuf);

impl JournalCopy {
    fn remove(&self) {
        for suffix in ["", "-wal", "-shm"] {
            let mut name = self.0.clone().into_os_string();
            name.push(suffix);
            // Ignore errors: the next run overwrites leftovers.
            let _ = std::fs::remove_file(name);
        }
    }
}

impl Drop for JournalCopy {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Warns if the daemon may not be able to write the journal, because root has created it.
fn warn_of_owner(path: &Path) {
    let owner = |path: &Path| {
        std::fs::metadata(path)
            .ok()
            .map(|metadata| (metadata.uid(), metadata.gid()))
    };
    let directory = path.parent().and_then(owner);
    if directory.is_some() && owner(path) != directory {
        failure::warn(
            path,
            &"the owner differs from that of the directory, so the daemon may not be able to write this file: \
                change the owner with chown",
        );
    }
}

/// Adds the seqs between the last event in the journal and the last assigned seq to the missing ones.
fn add_missing_seqs(rebuilt: &mut Rebuilt, last_seqs: &BTreeMap<String, u64>) {
    for (board, last) in last_seqs {
        let result = rebuilt.boards.entry(board.clone()).or_default();
        if result.last < *last {
            result.missing.push((result.last + 1, *last));
        }
    }
}

fn print_summary(rebuilt: &Rebuilt, dry_run: bool, out: &mut impl Write) -> Result<()> {
    if let Some(begins) = rebuilt.begins {
        writeln!(out, "the recordings begin at {}", time_text(begins))?;
    }
    for (board, result) in &rebuilt.boards {
        let name: String = board.chars().filter(|c| !c.is_control()).collect();
        writeln!(out, "{name}: {}", describe(result, dry_run))?;
    }
    Ok(())
}

fn describe(result: &RebuiltBoard, dry_run: bool) -> String {
    let filled = match result.filled {
        0 => "nothing".to_owned(),
        1 => "1 event".to_owned(),
        events => format!("{events} events"),
    };
    let done = match (dry_run, result.filled) {
        (true, _) => "would be filled in",
        (false, 0 | 1) => "was filled in",
        (false, _) => "were filled in",
    };
    let mut words = vec![format!("{filled} {done}")];
    words.extend(result.unfit.iter().map(ToString::to_string));
    words.push(match result.missing.as_slice() {
        [] => "no event is missing".to_owned(),
        missing => format!("missing: {}", ranges(missing)),
    });
    words.join("; ")
}

/// Formats ranges of seqs, as in "12, 60-71".
fn ranges(missing: &[(u64, u64)]) -> String {
    let range = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    missing.iter().map(range).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restart::NotRebuilt;

    #[test]
    fn the_result_for_a_board_is_described_in_one_line() {
        let result = RebuiltBoard {
            filled: 1,
            unfit: vec![NotRebuilt::Differs(57)],
            missing: vec![(12, 12), (60, 71)],
            last: 80,
        };
        assert_eq!(
            describe(&result, false),
            "1 event was filled in; event 57 differs between the recording and the journal; missing: 12, 60-71"
        );
        let result = RebuiltBoard {
            filled: 2,
            ..RebuiltBoard::default()
        };
        assert_eq!(
            describe(&result, true),
            "2 events would be filled in; no event is missing"
        );
        assert_eq!(
            describe(&RebuiltBoard::default(), false),
            "nothing was filled in; no event is missing"
        );
    }
}
