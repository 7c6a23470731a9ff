//! What is wrong with a file, at its place: doubts, with which the rest is read all the same, and errors.

use core::fmt;
use std::io;

use kiebitz_game::vocabulary;
use thiserror::Error;

use super::FilePosition;
use crate::text_file::NoText;

vocabulary! {
    "severity"
    /// How much a doubt matters.
    pub enum Severity {
        /// Something will be missed, or wrong, if nobody does anything.
        Lost = "lost",
        /// Only to know.
        Note = "note",
    }
}

vocabulary! {
    "kind of finding"
    /// What a doubt is about.
    pub enum DoubtKind {
        /// A part of a file is not understood, or was understood only by a guess.
        Unclear = "unclear",
        /// A rating, a result or a date cannot be one.
        Value = "value",
        /// What stands for a FIDE id cannot be one.
        FideId = "fide_id",
        /// A pairing has no round.
        Round = "round",
        /// A pairing has no table, or two have the same.
        Table = "table",
        /// A player or a pairing is twice in a round.
        Twice = "twice",
        /// Two places contradict each other.
        Contradiction = "contradiction",
        /// A name may be that of several players.
        Ambiguous = "ambiguous",
        /// A player has no FIDE id.
        NoFideId = "no_fide_id",
        /// The FIDE list has no such id.
        UnknownId = "unknown_id",
        /// The FIDE list has another name for an id.
        OtherName = "other_name",
        /// The FIDE list has no such name.
        UnknownName = "unknown_name",
        /// A title or a federation is not that of the FIDE list.
        OtherFacts = "other_facts",
        /// A pairing has no board.
        NoBoard = "no_board",
        /// A board has no pairing.
        NoPairing = "no_pairing",
        /// A player has nobody to play.
        Bye = "bye",
        /// A time control cannot be read.
        TimeControl = "time_control",
    }
}

/// Something that somebody should look at. What it is about was read as far as it is clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub about: DoubtKind,
    /// Where it is.
    pub place: FilePosition,
    /// A sentence, with the next step where there is one.
    pub text: String,
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

/// Why a file cannot be read at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It cannot be opened, or read.
    #[error("cannot read {file}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// What is in it is no pairing file.
    #[error("{place}: {what}")]
    Wrong {
        /// Where that shows.
        place: FilePosition,
        /// What is wrong, and what to do.
        what: FileError,
    },
}

/// What is wrong with a file that is refused, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is no text; the sentence says what to do.
    #[error("{0}")]
    NoText(String),
    /// It is empty.
    #[error("the file is empty: pair the round, and export it again")]
    Empty,
    /// It is longer than any pairing file.
    #[error("the file is larger than 32 MB: check that it is a pairing file")]
    TooLong,
    /// It is packed.
    #[error(
        "this is a zip file: unpack it; if it is a spreadsheet, save it as CSV in the program that wrote it"
    )]
    Packed,
    /// It is FIDE's rating list.
    #[error("this is the FIDE rating list: name it with --fide-list")]
    FideList,
    /// It is for browsers, or XML.
    #[error("this is HTML or XML: export the pairings as PGN, as a FIDE report (TRF) or as CSV")]
    Markup,
    /// It is a report in Vega's own form.
    #[error("the fields are separated by |, as in Vega's own reports: export the FIDE report (TRF16)")]
    Divided,
    /// It begins like no format that is known.
    #[error(
        "this is neither PGN nor a FIDE report (TRF) nor CSV: PGN begins with a tag as [Event \"...\"], TRF with 012 \
         or 001, and CSV with a line that names its columns, as in board,white,black"
    )]
    Unknown,
    /// It has nothing that could be read.
    #[error("the file has no readable {0}: export it again, and check it with an editor")]
    Nothing(&'static str),
    /// The first line of a CSV file does not name what is needed.
    #[error(
        "the first line has too few column names: found {found}; expected for example board,white,black or \
         name,fide_id"
    )]
    Columns {
        /// The names that are known.
        found: String,
    },
    /// Two columns of a CSV file say the same.
    #[error("{0:?} names the same column as an earlier heading: remove one of them")]
    SameColumn(String),
    /// A quotation mark is not closed.
    #[error("this quotation mark is not closed on its line: close it, or remove it")]
    OpenQuote,
    /// A player is in several pairings of what has no rounds.
    #[error(
        "{0:?} plays a second game here, but the file gives no round numbers: export a single round, or include \
         the rounds"
    )]
    NoRounds(String),
}

impl FileError {
    /// The error, at its place.
    pub(super) fn at(self, file: &str, line: usize, column: usize) -> ReadError {
        let place = FilePosition {
            file: file.to_owned(),
            line,
            column,
        };
        ReadError::Wrong { place, what: self }
    }
}

impl ReadError {
    pub(super) fn no_text(file: &str, why: NoText) -> Self {
        let line = match why {
            NoText::OtherBytes { line } | NoText::Binary { line } => line,
            NoText::Folder | NoText::Utf16 => 1,
        };
        FileError::NoText(why.to_string()).at(file, line, 1)
    }
}

/// The doubts about one file, as it is read.
#[derive(Debug)]
pub(super) struct Doubts {
    file: String,
    pub(super) list: Vec<Doubt>,
}

impl Doubts {
    pub(super) fn about(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            list: Vec::new(),
        }
    }

    pub(super) fn place(&self, line: usize, column: usize) -> FilePosition {
        FilePosition {
            file: self.file.clone(),
            line,
            column,
        }
    }

    /// Something will be missed.
    pub(super) fn lost(&mut self, about: DoubtKind, (line, column): (usize, usize), text: impl Into<String>) {
        let place = self.place(line, column);
        self.list.push(Doubt::new(Severity::Lost, about, place, text));
    }

    /// Something is only to know.
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
            text: text.into(),
        }
    }
}
