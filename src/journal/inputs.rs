//! A second copy of the daemon's inputs that are not in the recordings: its starts and the arbiters' commands.
//!
//! The recordings have every byte of the boards. Together with this file they suffice to rebuild a journal that is
//! damaged, lost or replaced by an older copy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use kiebitz_game::events::{Event, EventKind};
use serde::{Deserialize, Serialize};

use super::payload::digest;
use super::run::StoredRun;
use super::{Journal, JournalError, Run, error};

/// An input that did not come through a port.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A start of the daemon, or a reloaded configuration.
    Run(Run),
    /// A command, as the `command.taken` event of the board.
    Command(Box<Event>),
}

impl Input {
    /// Extracts the commands from events.
    pub fn commands<'e>(events: impl IntoIterator<Item = &'e Event>) -> impl Iterator<Item = Self> {
        let commands = events
            .into_iter()
            .filter(|event| matches!(event.kind, EventKind::CommandTaken { .. }));
        commands.map(|event| Self::Command(Box::new(event.clone())))
    }
}

/// A text file with one line per input: a checksum, a space, and JSON. The daemon only appends to it, and replaces it
/// by a shorter file at its start. Readers skip damaged lines.
#[derive(Debug)]
pub struct InputsFile {
    file: File,
    path: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InputLine {
    Run(StoredRun),
    Command(Box<Event>),
}

impl InputsFile {
    /// Opens the file for appending; creates it if it does not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        // The last line may be incomplete if the writing process was killed: start a new line.
        if file.metadata()?.len() > 0 {
            file.write_all(b"\n")?;
        }
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Whether the file still exists at its path.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.path.exists()
    }

    /// Reads the inputs of a file, skipping damaged lines.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read. A file that does not exist has no inputs.
    pub fn read(path: &Path) -> io::Result<Vec<Input>> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read?,
        };
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines
            .filter_map(|line| parse(core::str::from_utf8(line).ok()?))
            .collect())
    }

    /// Appends inputs and waits for the disk.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be written; some of them may have been written.
    pub fn append<'i>(&mut self, inputs: impl IntoIterator<Item = &'i Input>) -> io::Result<()> {
        let text = text(inputs)?;
        if text.is_empty() {
            return Ok(());
        }
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()
    }

    /// Replaces the file by one with `inputs`.
    ///
    /// # Errors
    ///
    /// Fails if the new file cannot be written; the old one is unchanged.
    pub fn replace<'i>(path: &Path, inputs: impl IntoIterator<Item = &'i Input>) -> io::Result<()> {
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(text(inputs)?.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&new, path)
    }
}

fn text<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> io::Result<String> {
    let mut text = String::new();
    for input in inputs {
        let line = match input {
            Input::Run(run) => InputLine::Run(StoredRun::of(run)),
            Input::Command(event) => InputLine::Command(event.clone()),
        };
        let json = serde_json::to_string(&line)?;
        text.push_str(&format!("{:016x} {json}\n", digest(&json)));
    }
    Ok(text)
}

fn parse(line: &str) -> Option<Input> {
    let (check, json) = line.split_once(' ')?;
    if check != format!("{:016x}", digest(json)) {
        return None;
    }
    Some(match serde_json::from_str(json).ok()? {
        InputLine::Run(stored_run) => Input::Run(stored_run.into_run()),
        InputLine::Command(event) => Input::Command(event),
    })
}

impl Journal {
    /// Adds the inputs that the journal lacks and returns their number. If the journal may have `lost` events, all
    /// missing inputs are added. Otherwise inputs from before the first run and commands from before their board's
    /// first event are skipped, as the journal has forgotten them with the games of that time.
    pub fn restore(&mut self, stream: &str, inputs: &[Input], lost: bool) -> Result<usize, JournalError> {
        let mut firsts = BTreeMap::new();
        for (board, _) in self.boards(stream)? {
            let first = self.events_after(stream, &board, 0, 1)?;
            firsts.insert(board, first.first().map_or(0, |event| event.seq));
        }
        let mut commands = Vec::new();
        let mut runs = self.all_runs().unwrap_or_default();
        let known: BTreeSet<i64> = runs.iter().map(|run| run.began.as_micros()).collect();
        let first_run = runs.first().map(|run| run.began);
        let known_runs = runs.len();
        for input in inputs {
            match input {
                Input::Command(event) if event.stream == stream => {
                    let first = firsts.get(&event.board);
                    if lost || first.is_some_and(|first| event.seq > *first) {
                        commands.push(&**event);
                    }
                }
                Input::Command(_) => {}
                Input::Run(run) => {
                    let is_old = first_run.is_some_and(|first| run.began < first);
                    if !known.contains(&run.began.as_micros()) && (lost || !is_old) {
                        runs.push(run.clone());
                    }
                }
            }
        }
        let added = runs.len() - known_runs;
        if added > 0 {
            runs.sort_by_key(|run| run.began);
            runs.dedup_by_key(|run| run.began);
            self.replace_runs(&runs)?;
        }
        Ok(added + self.fill(commands)?)
    }

    /// The inputs for the second copy: all starts, the commands since the last start at which no board continued
    /// earlier recordings, and those of the `copied` inputs that the journal has not forgotten. Older commands are not
    /// searched for, as the journal may have the events of a year.
    pub fn inputs(&self, stream: &str, copied: &[Input]) -> Result<Vec<Input>, JournalError> {
        let mut inputs: Vec<Input> = self.all_runs()?.into_iter().map(Input::Run).collect();
        let since = self.runs()?.into_iter().next();
        let since = since.map(|run| run.boards).unwrap_or_default();
        let mut commands = BTreeMap::new();
        for (board, _) in self.boards(stream)? {
            let first = self.events_after(stream, &board, 0, 1)?;
            let first = first.first().map_or(0, |event| event.seq);
            for input in copied {
                if let Input::Command(event) = input
                    && event.board == board
                    && event.stream == stream
                    && event.seq >= first
                {
                    commands.insert((board.clone(), event.seq), event.clone());
                }
            }
            let after = since.get(&board).copied().unwrap_or(0);
            for event in self.commands(stream, &board, after)? {
                commands.insert((board.clone(), event.seq), Box::new(event));
            }
        }
        inputs.extend(commands.into_values().map(Input::Command));
        Ok(inputs)
    }

    fn replace_runs(&mut self, runs: &[Run]) -> Result<(), JournalError> {
        let rows: Result<Vec<_>, JournalError> = runs.iter().map(|run| self.row_of(run)).collect();
        let rows = rows?;
        self.write(|transaction, path| {
            let emptied = transaction.execute("DELETE FROM run", []);
            emptied.map_err(error::of(path))?;
            for row in &rows {
                super::run::insert(transaction, row).map_err(error::of(path))?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiebitz_game::events::Action;
    use kiebitz_game::events::samples::event;
    use kiebitz_hardware::Timestamp;

    fn command(seq: u64) -> Event {
        let kind = EventKind::CommandTaken {
            id: seq.to_string(),
            action: Action::Annotate,
            by: "arbiter".to_owned(),
            arguments: serde_json::json!({"text": "a note"}),
            error: None,
            note: None,
        };
        event(seq, kind)
    }

    #[test]
    fn a_damaged_line_does_not_affect_other_lines() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("inputs.jsonl");
        assert_eq!(InputsFile::read(&path).expect("no file"), []);
        let inputs = [
            Input::Run(Run::reloaded(Timestamp::from_micros(5), "[event]\n")),
            Input::Command(Box::new(command(7))),
            Input::Command(Box::new(command(9))),
        ];
        InputsFile::open(&path)
            .expect("a file")
            .append(&inputs)
            .expect("room");
        assert_eq!(InputsFile::read(&path).expect("a file"), inputs);
        let whole = std::fs::read(&path).expect("a file");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x01;
            std::fs::write(&path, &damaged).expect("room");
            let read = InputsFile::read(&path).expect("a file");
            assert!(
                !read.is_empty() && read.iter().all(|input| inputs.contains(input)),
                "{at}"
            );
            std::fs::write(&path, &whole[..at]).expect("room");
            InputsFile::open(&path)
                .expect("a file")
                .append(&inputs[2..])
                .expect("room");
            let read = InputsFile::read(&path).expect("a file");
            assert_eq!(
                read.last(),
                Some(&inputs[2]),
                "what comes after a line that is cut off"
            );
        }
    }

    #[test]
    fn a_journal_regains_lost_inputs_but_not_forgotten_ones() {
        let place = tempfile::tempdir().expect("a directory");
        let mut journal = Journal::open(&place.path().join("journal.sqlite")).expect("a journal");
        journal.append([&command(5), &command(6)]).expect("room");
        let run = Run {
            reloaded: false,
            whole: true,
            ..Run::reloaded(Timestamp::from_micros(5), "")
        };
        let inputs = [
            Input::Run(run),
            Input::Command(Box::new(command(3))),
            Input::Command(Box::new(command(7))),
        ];
        let stream = &command(1).stream;
        assert_eq!(journal.restore(stream, &inputs, false).expect("room"), 2);
        assert_eq!(journal.restore(stream, &inputs, false).expect("room"), 0);
        let seqs = |journal: &Journal| {
            let commands = journal.commands(stream, &command(1).board, 0).expect("readable");
            commands.iter().map(|event| event.seq).collect::<Vec<_>>()
        };
        assert_eq!(seqs(&journal), [5, 6, 7]);
        assert_eq!(journal.restore(stream, &inputs, true).expect("room"), 1);
        assert_eq!(seqs(&journal), [3, 5, 6, 7]);
        assert_eq!(journal.inputs(stream, &inputs).expect("readable").len(), 5);
    }
}
