//! Problems of a file, with their positions: doubts, which do not prevent reading the rest of the file, and errors,
//! which do.
//!
//! A file may have as many problems as lines. [`Capped`] lists the first of each kind and only counts the others, so
//! that memory and answers stay small.

use core::fmt;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use kiebitz_game::vocabulary;
use thiserror::Error;

use super::{FilePosition, values};
use crate::text_file::NoText;

vocabulary! {
    "severity"
    /// Severity of a doubt.
    pub enum Severity {
        /// Data will be missing or wrong unless somebody fixes the problem.
        Lost = "lost",
        /// For information only.
        Note = "note",
    }
}

vocabulary! {
    "kind of finding"
    /// Kind of a doubt.
    pub enum DoubtKind {
        /// A part of a file cannot be interpreted, or only by a guess.
        Unclear = "unclear",
        /// A rating, a result or a date is not valid.
        Value = "value",
        /// A FIDE id is not valid.
        FideId = "fide_id",
        /// A pairing has no round.
        Round = "round",
        /// A pairing has no table, or two pairings have the same table.
        Table = "table",
        /// A player or a pairing appears twice in a round.
        Twice = "twice",
        /// Two positions contradict each other.
        Contradiction = "contradiction",
        /// A name may belong to several players.
        Ambiguous = "ambiguous",
        /// A player has no FIDE id.
        NoFideId = "no_fide_id",
        /// The FIDE list does not contain an id.
        UnknownId = "unknown_id",
        /// The FIDE list has a different name for an id.
        OtherName = "other_name",
        /// The FIDE list does not contain a name.
        UnknownName = "unknown_name",
        /// A title or a federation differs from the FIDE list.
        OtherFacts = "other_facts",
        /// A pairing has no board.
        NoBoard = "no_board",
        /// A board has no pairing.
        NoPairing = "no_pairing",
        /// A player has no opponent.
        Bye = "bye",
        /// A time control cannot be parsed.
        TimeControl = "time_control",
    }
}

/// A problem in a file that a person should check. The unambiguous parts of the affected data are still read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Severity of the doubt.
    pub severity: Severity,
    /// Kind of the doubt.
    pub about: DoubtKind,
    /// Position in the file.
    pub place: FilePosition,
    /// A sentence, with the next step if there is one.
    pub text: String,
    /// Number of problems that this doubt represents: 1, unless it summarises further problems of its kind.
    pub count: usize,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.text)
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Reason why a file cannot be read at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}")]
    Unreadable {
        /// Name of the file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The content is not a valid pairing file.
    #[error("{place}: {error}")]
    Wrong {
        /// Position of the error.
        place: FilePosition,
        /// The error, with advice.
        error: FileError,
    },
}

/// Error in a refused file, with advice.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file is not a text file. The string has the reason and the advice.
    #[error("{0}")]
    NoText(String),
    /// The file is empty.
    #[error("the file is empty: pair the round, and export it again")]
    Empty,
    /// The file is larger than 8 MB.
    #[error("the file is larger than 8 MB: check that it is a pairing file")]
    TooLong,
    /// The file, or the file together with the others, has more players and pairings than any event.
    #[error(
        "there are more than {MAX_ENTRIES} players and pairings in all files: export a single event, and remove \
         files that are not needed"
    )]
    TooMany,
    /// The round of this pairing has more pairings than any event.
    #[error(
        "there are more than {MAX_PAIRINGS} pairings in this round: export a single event, and check the round numbers"
    )]
    TooManyInRound,
    /// A line of a table is longer than any table needs.
    #[error("this line is longer than 64 kB: check that the file is a table of pairings or players")]
    LongLine,
    /// The file is a zip archive.
    #[error(
        "this is a zip file: unpack it; if it is a spreadsheet, save it as CSV in the program that wrote it"
    )]
    Packed,
    /// The file is the FIDE rating list.
    #[error("this is the FIDE rating list: name it with --fide-list")]
    FideList,
    /// The file is HTML or XML.
    #[error("this is HTML or XML: export the pairings as PGN, as a FIDE report (TRF) or as CSV")]
    Markup,
    /// The file is a report in Vega's own format.
    #[error("the fields are separated by |, as in Vega's own reports: export the FIDE report (TRF16)")]
    Divided,
    /// The file has none of the known formats.
    #[error(
        "this is neither PGN nor a FIDE report (TRF) nor CSV: PGN begins with a tag as [Event \"...\"], TRF with 012 \
         or 001, and CSV with a line that names its columns, as in board,white,black"
    )]
    Unknown,
    /// The number of pairings in the list of a pairing engine differs from the number in its first line.
    #[error(
        "the list has {found} of {expected} pairings: if it is still being written, wait; otherwise let the pairing \
         engine write it again"
    )]
    Incomplete {
        /// Number of pairings in the first line.
        expected: u32,
        /// Number of pairings in the file.
        found: usize,
    },
    /// The list of a pairing engine is read without a report.
    #[error(
        "this is a list of pairings by starting numbers: add the FIDE report (TRF) from which the pairing engine made it"
    )]
    NoReport,
    /// The file has no readable entry of this kind.
    #[error("the file has no readable {0}: export it again, and check it with an editor")]
    Nothing(&'static str),
    /// No line of a CSV file names the required columns.
    #[error(
        "this line has too few column names: found {found}; expected for example board,white,black or \
         name,fide_id"
    )]
    Columns {
        /// The known column names.
        found: String,
    },
    /// Two columns of a CSV file have the same meaning.
    #[error("{0:?} names the same column as an earlier heading: remove one of them")]
    SameColumn(String),
    /// A quotation mark is not closed.
    #[error("this quotation mark is not closed on its line: close it, or remove it")]
    OpenQuote,
    /// A player has several pairings in a file without round numbers.
    #[error(
        "{0:?} plays a second game here, but the file gives no round numbers: export a single round, or include \
         the rounds"
    )]
    NoRounds(String),
}

impl FileError {
    pub(super) fn at(self, file: &str, line: usize, column: usize) -> ReadError {
        let place = FilePosition {
            file: file.into(),
            line,
            column,
        };
        ReadError::Wrong { place, error: self }
    }
}

impl ReadError {
    pub(super) fn unreadable(file: &str, source: io::Error) -> Self {
        let cause = source.get_ref().and_then(|cause| cause.downcast_ref());
        match cause {
            Some(cause) => Self::no_text(file, *cause),
            None => Self::Unreadable {
                file: file.to_owned(),
                source,
            },
        }
    }

    pub(super) fn no_text(file: &str, cause: NoText) -> Self {
        let line = match cause {
            NoText::OtherBytes { line } | NoText::Binary { line } => line,
            NoText::Folder | NoText::NotAFile | NoText::TooLarge | NoText::Utf16 => 1,
        };
        FileError::NoText(cause.to_string()).at(file, line, 1)
    }
}

/// Maximum number of players and pairings of an event. A season of a large league has 10,000, and an open of eleven
/// rounds with 1,500 tables 20,000.
pub(super) const MAX_ENTRIES: usize = 25_000;
/// Maximum number of pairings of a round. The largest opens have 1,500 tables.
pub(super) const MAX_PAIRINGS: usize = 4_000;
/// Number of problems of one kind that are listed.
const LISTED: usize = 100;
/// Maximum length of the text of a doubt, in characters. It may quote a line of the file.
const LONGEST_TEXT: usize = 1000;

/// A problem that [`Capped`] collects.
pub(super) trait Problem {
    fn kind(&self) -> (Severity, DoubtKind);
    /// Number of problems that this one represents.
    fn count(&self) -> usize;
    /// Turns the problem into a summary of `count` problems of its kind, described by `text`.
    fn summarize(&mut self, count: usize, text: String);
}

/// A list of problems with at most [`LISTED`] of each kind, and one more that counts the others.
#[derive(Debug)]
pub(super) struct Capped<P> {
    list: Vec<P>,
    listed: BTreeMap<(Severity, DoubtKind), usize>,
    /// The first problem of a kind that is not listed, and the number of such problems.
    others: BTreeMap<(Severity, DoubtKind), (P, usize)>,
}

impl<P: Problem> Default for Capped<P> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            listed: BTreeMap::new(),
            others: BTreeMap::new(),
        }
    }
}

impl<P: Problem> Capped<P> {
    pub(super) fn push(&mut self, problem: P) {
        let kind = problem.kind();
        let count = problem.count();
        let listed = self.listed.entry(kind).or_default();
        if *listed < LISTED && count == 1 {
            *listed += 1;
            self.list.push(problem);
            return;
        }
        let (_, others) = self.others.entry(kind).or_insert((problem, 0));
        *others = others.saturating_add(count);
    }

    /// Returns the problems in the order in which they were found, followed by the summaries.
    pub(super) fn finish(self) -> Vec<P> {
        let mut list = self.list;
        list.extend(self.others.into_values().map(|(mut first, count)| {
            if count > 1 {
                first.summarize(count, format!("and {count} more of this kind, from here on"));
            }
            first
        }));
        list
    }
}

impl<P: Problem> Extend<P> for Capped<P> {
    fn extend<I: IntoIterator<Item = P>>(&mut self, problems: I) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}

impl Problem for Doubt {
    fn kind(&self) -> (Severity, DoubtKind) {
        (self.severity, self.about)
    }

    fn count(&self) -> usize {
        self.count
    }

    fn summarize(&mut self, count: usize, text: String) {
        self.count = count;
        self.text = text;
    }
}

/// Collects the doubts about one file while it is read.
#[derive(Debug)]
pub(super) struct Doubts {
    file: Arc<str>,
    list: Capped<Doubt>,
    /// Number of players and pairings so far.
    entries: usize,
}

impl Doubts {
    pub(super) fn about(file: &str) -> Self {
        Self {
            file: file.into(),
            list: Capped::default(),
            entries: 0,
        }
    }

    pub(super) fn finish(self) -> Vec<Doubt> {
        self.list.finish()
    }

    pub(super) const fn entries(&self) -> usize {
        self.entries
    }

    /// Counts players and pairings that a line adds. Fails if there are more than any event has.
    pub(super) fn add_entries(&mut self, added: usize, line: usize) -> Result<(), ReadError> {
        self.entries = self.entries.saturating_add(added);
        if self.entries > MAX_ENTRIES {
            return Err(FileError::TooMany.at(&self.file, line, 1));
        }
        Ok(())
    }

    /// Returns a name, cut if it is too long for pages and lists.
    pub(super) fn name(&mut self, name: &str, place: (usize, usize)) -> String {
        let cut = values::shortened(name);
        if cut.len() < name.len() {
            let text = format!("this name is very long, and is cut after {cut:?}: correct it");
            self.note(DoubtKind::Value, place, text);
        }
        cut.to_owned()
    }

    pub(super) fn place(&self, line: usize, column: usize) -> FilePosition {
        FilePosition {
            file: Arc::clone(&self.file),
            line,
            column,
        }
    }

    pub(super) fn lost(&mut self, about: DoubtKind, (line, column): (usize, usize), text: impl Into<String>) {
        let place = self.place(line, column);
        self.list.push(Doubt::new(Severity::Lost, about, place, text));
    }

    pub(super) fn note(&mut self, about: DoubtKind, (line, column): (usize, usize), text: impl Into<String>) {
        let place = self.place(line, column);
        self.list.push(Doubt::new(Severity::Note, about, place, text));
    }
}

impl Doubt {
    pub(super) fn new(
        severity: Severity,
        about: DoubtKind,
        place: FilePosition,
        text: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            about,
            place,
            text: shortened(text.into()),
            count: 1,
        }
    }
}

/// Cuts the text of a problem to [`LONGEST_TEXT`].
pub(super) fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(end);
        text.push('…');
    }
    text
}
