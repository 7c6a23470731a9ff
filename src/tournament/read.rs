//! Reads files: detects their formats by the content, and combines them into one event.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::doubt::{Doubts, FileError, MAX_ENTRIES, MAX_PAIRINGS};
use super::engine::{self, EnginePair};
use super::{Doubt, Player, ReadError, Tournament};
use super::{csv, merge, pgn, text, trf};
use crate::text_file;

/// Reads files of pairing programs as one event: PGN, the lists of pairing engines, FIDE's report (TRF16 and TRF26) and
/// CSV.
///
/// Players are joined by FIDE id, or else by name. The formats take precedence in this order, and among files of one
/// format the one that is named first; the other files add missing data.
///
/// # Errors
///
/// Fails if a file cannot be read or has none of these formats. The message names file, line and column.
pub fn read(paths: &[PathBuf]) -> Result<(Tournament, Vec<Doubt>), ReadError> {
    read_round(paths, 1)
}

/// Works like [`read`], but pairings of a file without round numbers belong to `round`.
///
/// # Errors
///
/// Fails like [`read`].
pub fn read_round(paths: &[PathBuf], round: u32) -> Result<(Tournament, Vec<Doubt>), ReadError> {
    let mut files = Vec::new();
    for path in paths {
        add(&mut files, file(path, round)?)?;
    }
    merged(files)
}

/// Reads the content of one file like [`read`]. `name` is the file name in the positions of doubts and errors.
///
/// # Errors
///
/// Fails like [`read`].
pub fn read_bytes(name: &str, bytes: &[u8]) -> Result<(Tournament, Vec<Doubt>), ReadError> {
    let file = parse_bytes(name, bytes.to_vec(), 1)?;
    merged(vec![file])
}

/// Reads a file that is about to be stored under `name`, followed by the existing files. Fails like [`read`].
pub(crate) fn read_with(
    name: &str,
    bytes: impl Into<Vec<u8>>,
    paths: &[PathBuf],
) -> Result<(Tournament, Vec<Doubt>), ReadError> {
    let mut files = vec![parse_bytes(name, bytes.into(), 1)?];
    for path in paths {
        add(&mut files, file(path, 1)?)?;
    }
    merged(files)
}

/// Combines files into one event. Fails if a round has more pairings than any event.
fn merged(files: Vec<ParsedFile>) -> Result<(Tournament, Vec<Doubt>), ReadError> {
    let (tournament, doubts) = merge::merge(engine::resolve(files)?);
    let mut rounds = tournament.rounds.values();
    if let Some(pairing) = rounds.find_map(|round| round.pairings.get(MAX_PAIRINGS)) {
        return Err(ReadError::Wrong {
            place: pairing.place.clone(),
            error: FileError::TooManyInRound,
        });
    }
    // Takes long for many players, so it is done here and not by the event loop.
    tournament.fold_names();
    Ok((tournament, doubts))
}

/// Adds a file to those of an event. Fails if all of them together have more entries than any event.
fn add(files: &mut Vec<ParsedFile>, file: ParsedFile) -> Result<(), ReadError> {
    let entries = files.iter().map(|file| file.entries).sum::<usize>() + file.entries;
    if entries > MAX_ENTRIES {
        return Err(FileError::TooMany.at(&file.name, 1, 1));
    }
    files.push(file);
    Ok(())
}

#[derive(Debug)]
pub(super) struct ParsedFile {
    pub(super) name: String,
    /// Number of players and pairings.
    entries: usize,
    pub(super) format: Format,
    pub(super) tournament: Tournament,
    pub(super) doubts: Vec<Doubt>,
    /// Players of a report by their starting numbers.
    pub(super) numbered: BTreeMap<u32, Player>,
    /// Pairings of an engine. The report has the players.
    pub(super) pairs: Vec<EnginePair>,
}

/// Format of a file, in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Format {
    Pgn,
    Engine,
    Trf,
    Csv,
}

fn file(path: &Path, round: u32) -> Result<ParsedFile, ReadError> {
    let name = path.display().to_string();
    let bytes = bytes(path).map_err(|error| ReadError::unreadable(&name, error))?;
    parse_bytes(&name, bytes, round)
}

fn parse_bytes(name: &str, bytes: Vec<u8>, round: u32) -> Result<ParsedFile, ReadError> {
    if PACKED.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(FileError::Packed.at(name, 1, 1));
    }
    if FIDE_LIST.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(FileError::FideList.at(name, 1, 1));
    }
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(FileError::TooLong.at(name, 1, 1));
    }
    let text = text::decoded(bytes).map_err(|cause| ReadError::no_text(name, cause))?;
    let format = format(&text, extension(name)).map_err(|(wrong, line)| wrong.at(name, line, 1))?;
    let mut doubts = Doubts::about(name);
    let (mut numbered, mut pairs) = (BTreeMap::new(), Vec::new());
    let tournament = match format {
        Format::Pgn => pgn::read(text, round, &mut doubts)?,
        Format::Engine => {
            pairs = engine::read(&text, &mut doubts)?;
            Tournament::default()
        }
        Format::Trf => {
            let (tournament, players) = trf::read(&text, &mut doubts)?;
            numbered = players;
            tournament
        }
        Format::Csv => csv::read(text, round, &mut doubts)?,
    };
    Ok(ParsedFile {
        name: name.to_owned(),
        entries: doubts.entries(),
        format,
        tournament,
        doubts: doubts.finish(),
        numbered,
        pairs,
    })
}

/// Detects the format by the content. The file extension decides only if the content is ambiguous.
fn format(text: &str, extension: Option<&str>) -> Result<Format, (FileError, usize)> {
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((number, first)) = lines.next() else {
        return Err((FileError::Empty, 1));
    };
    if first.trim_start().starts_with('<') {
        return Err((FileError::Markup, number));
    }
    if engine::is_list(text) {
        return Ok(Format::Engine);
    }
    if trf::is_report(text) {
        return Ok(Format::Trf);
    }
    let begins_tag = text.lines().take(SEARCHED_LINES).any(pgn::is_tag_line);
    if !begins_tag && csv::is_table(text) {
        return Ok(Format::Csv);
    }
    match extension {
        _ if begins_tag => Ok(Format::Pgn),
        Some("csv" | "tsv") => Ok(Format::Csv),
        Some("trf" | "trfx") => Ok(Format::Trf),
        _ if csv::has_separator(first) => Ok(Format::Csv),
        _ => Err((FileError::Unknown, number)),
    }
}

fn extension(name: &str) -> Option<&str> {
    Path::new(name).extension()?.to_str()
}

/// Reads a file up to one byte more than the size limit. Fails if it cannot be read, or is not a regular file.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = text_file::open(path)?;
    let length = file.metadata()?.len().min(MAX_FILE_BYTES);
    // A buffer that grows may take twice the size of the file.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Size limit of a file, in bytes. A season of a large league has 3 MB.
pub(crate) const MAX_FILE_BYTES: u64 = 8 << 20;
/// Number of lines in which the first tag is searched.
const SEARCHED_LINES: usize = 50;
/// Signatures of zip (also of current spreadsheets), gzip and old spreadsheets.
const PACKED: [&[u8]; 3] = [b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0"];
const FIDE_LIST: [&[u8]; 2] = [b"ID Number", b"ID number"];

#[cfg(test)]
mod tests;
