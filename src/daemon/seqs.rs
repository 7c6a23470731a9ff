//! A thread that records on disk which seqs were given to events.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Context, Result};
use tokio::sync::{oneshot, watch};

use crate::journal::{SeqFile, this_boot};

/// Passes notes to the thread without blocking. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct SeqNotes {
    notes: Sender<SeqNote>,
    unkept: watch::Receiver<bool>,
    /// See [`Config::spare_seqs_file`](crate::config::Config::spare_seqs_file).
    spare: Option<PathBuf>,
}

#[derive(Debug)]
enum SeqNote {
    /// Last seqs of boards. Each has the digest of its event if the journal has stored it.
    Given(BTreeMap<String, (u64, Option<u64>)>),
    /// Whether events are published before the journal has stored them.
    Unkept(bool),
    /// No more seqs will be given. The sender is dropped once this is on disk.
    Ended(oneshot::Sender<()>),
    /// The file, once it is available; `None` if it could not be opened.
    File(Option<SeqFile>),
}

impl SeqNotes {
    /// Starts the thread. It has no file until it is [given one](Self::take_file). Boards that are not in the file
    /// count after `others`.
    pub(super) fn start(path: PathBuf, spare: Option<PathBuf>, others: u64) -> Result<Self> {
        let (notes, receiver) = channel();
        let (noted, unkept) = watch::channel(false);
        let thread = SeqThread {
            path,
            is_opening: true,
            file: None,
            given: BTreeMap::new(),
            others,
            unkept: false,
            ended: None,
            noted,
            failed: false,
        };
        std::thread::Builder::new()
            .name("numbers".to_owned())
            .spawn(move || thread.work(&receiver))
            .context("cannot start storing event numbers")?;
        Ok(Self { notes, unkept, spare })
    }

    /// Passes the file to the thread; `None` if it could not be opened, which is retried.
    pub(super) fn take_file(&self, file: Option<SeqFile>) {
        let _ = self.notes.send(SeqNote::File(file));
    }

    pub(super) fn given(&self, lasts: BTreeMap<String, u64>) {
        let lasts = lasts.into_iter().map(|(board, last)| (board, (last, None)));
        // The thread lives as long as any clone of this handle.
        let _ = self.notes.send(SeqNote::Given(lasts.collect()));
    }

    /// Records the last seqs of boards whose events the journal has stored, with the digests of these events.
    pub(super) fn kept(&self, lasts: BTreeMap<String, (u64, Option<u64>)>) {
        let _ = self.notes.send(SeqNote::Given(lasts));
    }

    /// Records whether events are published before the journal has stored them.
    pub(super) fn unkept(&self, unkept: bool) {
        let _ = self.notes.send(SeqNote::Unkept(unkept));
        if let (false, Some(spare)) = (unkept, &self.spare) {
            // The spare file exists only if the disk failed. The journal has its seqs now.
            let _ = std::fs::remove_file(spare);
        }
    }

    /// Records last seqs in the spare file, for the case that they never reach the journal or the disk. The spare file
    /// is in memory, so this does not block.
    pub(super) fn spare(&self, lasts: &BTreeMap<String, u64>) {
        let Some(spare) = &self.spare else { return };
        let noted = SeqFile::open(spare, &this_boot()).and_then(|mut file| {
            file.note(lasts.iter().map(|(board, last)| (board.as_str(), *last)))?;
            file.mark_unkept(true)
        });
        if let Err(error) = noted {
            tracing::warn!("cannot write {}: {error}", spare.display());
        }
    }

    /// Records that no more seqs will be given and that the journal has stored all events. The returned channel closes
    /// once this is on disk.
    pub(super) fn ended(&self) -> oneshot::Receiver<()> {
        let (noted, done) = oneshot::channel();
        let _ = self.notes.send(SeqNote::Ended(noted));
        done
    }

    /// Whether the disk has recorded that events are published before they are stored.
    pub(super) fn is_noted(&self) -> bool {
        *self.unkept.borrow()
    }

    /// Receives changes of [`is_noted`](Self::is_noted).
    pub(super) fn noted(&self) -> watch::Receiver<bool> {
        self.unkept.clone()
    }
}

struct SeqThread {
    path: PathBuf,
    /// Whether another thread is still opening the file.
    is_opening: bool,
    file: Option<SeqFile>,
    /// All known seqs, in case the file must be created again.
    given: BTreeMap<String, (u64, Option<u64>)>,
    /// Boards that are not in the file count after this number.
    others: u64,
    unkept: bool,
    ended: Option<oneshot::Sender<()>>,
    noted: watch::Sender<bool>,
    failed: bool,
}

impl SeqThread {
    fn work(mut self, notes: &Receiver<SeqNote>) {
        while let Ok(note) = notes.recv() {
            self.take(note);
            for note in notes.try_iter() {
                self.take(note);
            }
            if self.is_opening {
                continue;
            }
            match self.write() {
                Ok(()) => {
                    self.failed = false;
                    self.noted.send_replace(self.unkept);
                }
                Err(error) => {
                    if !self.failed {
                        tracing::error!("cannot write {}: {error}", self.path.display());
                    }
                    self.failed = true;
                    self.file = None;
                }
            }
        }
    }

    fn take(&mut self, note: SeqNote) {
        match note {
            SeqNote::Given(lasts) => {
                for (board, last) in lasts {
                    let known = self.given.entry(board).or_default();
                    // Of two entries with the same seq, the one with a digest is greater.
                    *known = last.max(*known);
                }
            }
            SeqNote::Unkept(unkept) => self.unkept = unkept,
            SeqNote::File(file) => (self.file, self.is_opening) = (file, false),
            SeqNote::Ended(noted) => self.ended = Some(noted),
        }
    }

    fn write(&mut self) -> std::io::Result<()> {
        let file = match self.file.take().filter(SeqFile::is_there) {
            Some(file) => self.file.insert(file),
            None => {
                if let Some(directory) = self.path.parent() {
                    crate::folder::create(directory)?;
                }
                let file = self.file.insert(SeqFile::open(&self.path, &this_boot())?);
                file.complete(self.others)?;
                file
            }
        };
        let given = self.given.iter();
        file.note_kept(given.map(|(board, (last, digest))| (board.as_str(), *last, *digest)))?;
        file.mark_unkept(self.unkept)?;
        // Dropping the sender signals the receiver, which must not happen before the write.
        let ended = self.ended.take();
        if ended.is_some() {
            file.mark_ended()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(numbers: &SeqNotes, unkept: bool) {
        while numbers.is_noted() != unkept {
            std::thread::yield_now();
        }
    }

    #[test]
    fn given_seqs_are_in_the_file_once_noted() {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("state").join("numbers");
        let numbers = SeqNotes::start(path.clone(), None, 0).expect("a thread");
        numbers.given(BTreeMap::from([("b".to_owned(), 7)]));
        numbers.take_file(None);
        numbers.unkept(true);
        wait(&numbers, true);
        let unkept = SeqFile::lasts_in(&path, None).expect("a file");
        assert!(unkept["b"] > 7, "numbers are reserved: {unkept:?}");
        // The directory disappears: everything is recorded again.
        std::fs::remove_dir_all(place.path().join("state")).expect("a directory");
        numbers.unkept(false);
        wait(&numbers, false);
        assert_eq!(
            SeqFile::lasts_in(&path, None).expect("a file"),
            BTreeMap::from([("b".to_owned(), 7)])
        );
        let after_a_power_cut = || SeqFile::lasts_in(&path, Some("another boot")).expect("a file");
        assert!(
            after_a_power_cut()["b"] > 7,
            "the journal may have less than it had"
        );
        // The channel closes once the end is recorded.
        let _ = numbers.ended().blocking_recv();
        assert_eq!(after_a_power_cut(), BTreeMap::from([("b".to_owned(), 7)]));
    }
}
