//! Reads pairings or a list of players from CSV. A line names the columns; the lines above it are titles.
//!
//! Fields are separated by commas, semicolons or tabs. Names that contain the separator must be quoted.

mod header;
mod titles;

use std::collections::BTreeMap;

use ::csv::{ReaderBuilder, StringRecord};

use kiebitz_game::events::PlayerFacts;

use super::doubt::{DoubtKind, Doubts, FileError};
use super::games::{self, ListedPairing};
use super::values::{self, ImplausibleValue};
use super::{Pairing, Player, ReadError, Tournament, UnplayedRound, names};
use header::{Column, Fact, Side};
use titles::Titles;

/// Returns whether a text is a table: its first line declares the separator, or one of its first lines is a header.
pub(super) fn is_table(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let begins_declaration = lines.next().is_some_and(|first| declared(first).is_some());
    begins_declaration || first_lines(text).any(|(_, line)| is_header(line))
}

/// Returns whether a line is the header of pairings or of a list of players.
fn is_header(line: &str) -> bool {
    let is_complete = |columns: &BTreeMap<Column, usize>| Kind::of(columns).is_some();
    header::team_match(fields(line)).is_some()
        || header::columns(fields(line)).is_ok_and(|columns| is_complete(&columns))
}

/// Returns the number of columns that a line names; a line that names one of them twice names at least two.
fn named_columns(line: &str) -> usize {
    header::columns(fields(line)).map_or(2, |columns| columns.len())
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    let fields = line.split(char::from(separator(line)));
    fields.map(|field| field.trim_matches('"'))
}

pub(super) fn has_separator(line: &str) -> bool {
    line.contains(char::from(separator(line)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pairings,
    Players,
}

impl Kind {
    fn of(columns: &BTreeMap<Column, usize>) -> Option<Self> {
        let has = |side, fact| columns.contains_key(&Column::Of(side, fact));
        let has_name = |side| has(side, Fact::Name) || has(side, Fact::Last);
        if has_name(Side::White) && has_name(Side::Black) {
            return Some(Self::Pairings);
        }
        let facts = [
            Fact::FideId,
            Fact::Title,
            Fact::Rating,
            Fact::Federation,
            Fact::Team,
        ];
        let is_list = has_name(Side::Listed) && facts.iter().any(|fact| has(Side::Listed, *fact));
        is_list.then_some(Self::Players)
    }
}

#[derive(Debug)]
struct CsvHeader {
    kind: Kind,
    columns: BTreeMap<Column, usize>,
    /// Names of the left and of the right team, if the lines below are the boards of a match.
    teams: Option<[String; 2]>,
    fields: usize,
    /// Text of the line, which may be repeated above each part of the table.
    record: StringRecord,
}

/// A line of a file, with the positions of its fields.
struct CsvLine<'t> {
    header: &'t CsvHeader,
    record: &'t StringRecord,
    number: usize,
    /// Column at which each field begins, counted from 1.
    begins: Vec<usize>,
    titles: &'t Titles,
}

/// Reads a file. Pairings without a round number belong to the round `assumed`.
pub(super) fn read(text: String, assumed: u32, doubts: &mut Doubts) -> Result<Tournament, ReadError> {
    let file = doubts.place(1, 1).file;
    super::text::check_lines(&text, &file)?;
    let (separator, from) = find_header(&text);
    let mut titles = Titles::default();
    let above = text.get(..from).unwrap_or_default();
    for line in above.lines() {
        let is_outside = |c: char| c == char::from(separator) || c == '"' || c.is_whitespace();
        titles.line(&line.trim_matches(is_outside).replace("\"\"", "\""));
    }
    let mut places = FilePositions::new(&text, from, separator);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text.get(from..).unwrap_or_default().as_bytes());
    let mut header = None;
    let mut rows = Rows::default();
    let mut record = StringRecord::new();
    loop {
        let at = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
        // Reading cannot fail: the text is UTF-8, and the number of fields may vary.
        if !reader.read_record(&mut record).unwrap_or(false) {
            break;
        }
        let (number, begins) = places.next(from.saturating_add(at));
        if let Some(field) = record.iter().position(|field| field.contains('\n')) {
            let column = begins.get(field).copied().unwrap_or(1);
            return Err(FileError::OpenQuote.at(&file, number, column));
        }
        if record.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        if record.iter().any(|field| field.starts_with('=')) {
            record = record.iter().map(without_formula).collect();
        }
        if let Some(opened) = CsvHeader::of_match(&record).or_else(|| CsvHeader::of_next_table(&record)) {
            header = Some(opened);
            continue;
        }
        let Some(header) = &header else {
            header = Some(parse_header(&record, number, &begins, &file)?);
            continue;
        };
        if record == header.record {
            continue;
        }
        if let Some(title) = header.title(&record) {
            titles.line(title);
            continue;
        }
        let line = CsvLine {
            header,
            record: &record,
            number,
            begins,
            titles: &titles,
        };
        doubts.add_entries(1, number)?;
        rows.line(&line, doubts);
    }
    if rows.games.is_empty() && rows.players.is_empty() {
        return Err(FileError::Nothing("pairing or player").at(&file, 1, 1));
    }
    drop(text);
    Ok(Tournament {
        name: rows.name.or_else(|| titles.event.clone()),
        site: rows.site,
        players: rows.players,
        rounds: games::rounds(rows.games, assumed, doubts)?,
        ..Tournament::default()
    })
}

/// Parses the header. Fails if a column appears twice, or if required columns are missing.
fn parse_header(
    record: &StringRecord,
    number: usize,
    begins: &[usize],
    file: &str,
) -> Result<CsvHeader, ReadError> {
    let columns = header::columns(record.iter()).map_err(|duplicate| {
        let name = record.get(duplicate).unwrap_or_default().to_owned();
        let column = begins.get(duplicate).copied().unwrap_or(1);
        FileError::SameColumn(name).at(file, number, column)
    })?;
    if let Some(header) = CsvHeader::of_table(&columns, record) {
        return Ok(header);
    }
    let found = columns.values().filter_map(|place| record.get(*place));
    let found: Vec<String> = found.map(|name| format!("{name:?}")).collect();
    let found = match found.is_empty() {
        true => "nothing".to_owned(),
        false => found.join(", "),
    };
    Err(FileError::Columns { found }.at(file, number, 1))
}

impl CsvHeader {
    /// Parses a line that opens a match of teams. Returns `None` for any other line.
    fn of_match(record: &StringRecord) -> Option<Self> {
        let opened = header::team_match(record.iter())?;
        Some(Self {
            kind: Kind::Pairings,
            columns: opened.columns,
            teams: Some(opened.teams),
            fields: record.len(),
            record: record.clone(),
        })
    }

    /// Builds the header of a table; `None` if required columns are missing.
    fn of_table(columns: &BTreeMap<Column, usize>, record: &StringRecord) -> Option<Self> {
        Some(Self {
            kind: Kind::of(columns)?,
            columns: columns.clone(),
            teams: None,
            fields: record.len(),
            record: record.clone(),
        })
    }

    /// Parses the header of a table below another one, such as pairings below standings. Returns `None` for any other
    /// line.
    fn of_next_table(record: &StringRecord) -> Option<Self> {
        // Rows have numbers, and there may be many of them.
        let is_number = |field: &str| field.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if record.iter().any(is_number) {
            return None;
        }
        Self::of_table(&header::columns(record.iter()).ok()?, record)
    }

    /// Returns the text of a title line among the rows: text of several words, alone in a column without names.
    fn title<'r>(&self, record: &'r StringRecord) -> Option<&'r str> {
        let mut filled = (0..)
            .zip(record)
            .map(|(place, text)| (place, text.trim()))
            .filter(|(_, text)| !text.is_empty());
        let (place, text) = filled.next()?;
        let is_name = |fact| matches!(fact, Fact::Name | Fact::First | Fact::Last);
        let mut columns = self.columns.iter().filter(|(_, column)| **column == place);
        let may_be_name = columns.any(|(column, _)| matches!(column, Column::Of(_, fact) if is_name(*fact)));
        let is_title = filled.next().is_none() && !may_be_name && text.split_whitespace().count() > 1;
        is_title.then_some(text)
    }
}

#[derive(Debug, Default)]
struct Rows {
    name: Option<String>,
    site: Option<String>,
    games: Vec<ListedPairing>,
    players: Vec<Player>,
}

impl Rows {
    fn line(&mut self, line: &CsvLine<'_>, doubts: &mut Doubts) {
        let beyond = (0..).zip(line.record).skip(line.header.fields);
        if let Some((field, _)) = { beyond }.find(|(_, text)| !text.trim().is_empty()) {
            let text = format!(
                "this line has more fields than the {} columns of the line that names them, and is left out: quote names \
                 that contain the separator",
                line.header.fields
            );
            return doubts.lost(DoubtKind::Unclear, line.place_of(field), text);
        }
        match line.header.kind {
            Kind::Players => self.players.extend(line.player(Side::Listed, doubts)),
            Kind::Pairings => self.games.extend(line.game(doubts)),
        }
        if line.header.kind == Kind::Pairings {
            let text = |column| {
                line.get(column)
                    .and_then(|(text, _)| values::known(text))
                    .map(str::to_owned)
            };
            self.name = self.name.take().or_else(|| text(Column::Event));
            self.site = self.site.take().or_else(|| text(Column::Site));
        }
    }
}

impl CsvLine<'_> {
    fn place_of(&self, field: usize) -> (usize, usize) {
        let column = self.begins.get(field).or_else(|| self.begins.last()).copied();
        (self.number, column.unwrap_or(1))
    }

    /// Returns the text of a column and its position. `None` if there is no such column, or the line is too short.
    fn get(&self, column: Column) -> Option<(&str, (usize, usize))> {
        let field = *self.header.columns.get(&column)?;
        Some((self.record.get(field)?, self.place_of(field)))
    }

    fn game(&self, doubts: &mut Doubts) -> Option<ListedPairing> {
        let (white, black) = (self.player(Side::White, doubts), self.player(Side::Black, doubts));
        let place = self.place_of(
            self.header
                .columns
                .get(&Column::Of(Side::White, Fact::Name))
                .copied()
                .unwrap_or(0),
        );
        let has = |side| {
            self.get(Column::Of(side, Fact::Name))
                .or_else(|| self.get(Column::Of(side, Fact::Last)))
        };
        if has(Side::White).is_none() || has(Side::Black).is_none() {
            let text = "this line ends before both players are named: complete it";
            doubts.lost(DoubtKind::Unclear, (self.number, 1), text);
        } else if white.is_none() && black.is_none() {
            doubts.note(
                DoubtKind::Bye,
                place,
                "this pairing has no players, and is left out",
            );
        }
        if white.is_none() && black.is_none() {
            return None;
        }
        let mut round = self
            .value(Column::Round, DoubtKind::Round, values::round, doubts)
            .unwrap_or_default();
        let board = self
            .value(Column::Table, DoubtKind::Table, values::table, doubts)
            .unwrap_or_default();
        let mut within: Vec<u32> = round.drain(1.min(round.len())..).collect();
        // A board number such as "2.1" is the match and the board in the match.
        if board.len() == 2 && within.is_empty() {
            within.clone_from(&board);
        }
        let board_of_match = within.get(1).copied().filter(|_| self.header.teams.is_some());
        let text = |column| self.get(column).and_then(|(text, _)| values::known(text));
        // Without an opponent, the result is the points of the bye.
        let written = self.get(Column::Result).map(|(text, _)| text);
        let (result, unplayed) = match (&white, &black) {
            (Some(_), Some(_)) => (
                self.value(Column::Result, DoubtKind::Value, values::result, doubts),
                written
                    .filter(|text| values::is_forfeit(text))
                    .map(|_| UnplayedRound::Forfeit),
            ),
            (white, _) => {
                let is_white = white.is_some();
                let read = |text: &str| values::bye(text, is_white);
                let result = self.value(Column::Result, DoubtKind::Value, read, doubts);
                (result, written.and_then(values::reason_of_bye))
            }
        };
        let mut pairing = Pairing {
            table: None,
            hall: text(Column::Hall).map(str::to_owned),
            board: None,
            white,
            black,
            result: result.flatten(),
            unplayed,
            place: doubts.place(place.0, place.1),
        };
        // The left side of a match has White on odd boards.
        if board_of_match.is_some_and(|board| board.is_multiple_of(2)) {
            pairing = pairing.with_colors_swapped();
        }
        Some(ListedPairing {
            round: round.first().copied().or(self.titles.round),
            within,
            board: if board.len() == 1 {
                board.first().copied()
            } else {
                None
            },
            pairing: Box::new(pairing),
            date: text(Column::Date)
                .and_then(values::date)
                .or_else(|| self.titles.date.clone()),
            time_control: self
                .get(Column::TimeControl)
                .and_then(|(text, _)| values::time_control(text))
                .map(str::to_owned),
        })
    }

    /// Reads the player of a side; `None` if the field is empty or stands for a bye.
    fn player(&self, side: Side, doubts: &mut Doubts) -> Option<Player> {
        let field = |fact| self.get(Column::Of(side, fact));
        let known = |fact| field(fact).and_then(|(text, _)| values::known(text));
        let (name, place) = match (field(Fact::Name), field(Fact::Last)) {
            (Some((name, place)), _) if !name.trim().is_empty() => (name.trim().to_owned(), place),
            (_, Some((last, place))) => match known(Fact::First) {
                Some(first) => (format!("{}, {first}", last.trim()), place),
                None => (last.trim().to_owned(), place),
            },
            _ => return None,
        };
        if names::is_nobody(&name) {
            return None;
        }
        let (bare, title) = names::without_title(&name);
        let id = self.value(
            Column::Of(side, Fact::FideId),
            DoubtKind::FideId,
            values::fide_id,
            doubts,
        );
        let id = id.flatten();
        if let (Some((_, Some(problem))), Some((_, place))) = (&id, field(Fact::FideId)) {
            doubts.note(DoubtKind::FideId, place, problem.to_string());
        }
        let rating = self.value(
            Column::Of(side, Fact::Rating),
            DoubtKind::Value,
            values::rating,
            doubts,
        );
        let team_of_match = || match (&self.header.teams, side) {
            (Some([left, _]), Side::White) => values::known(left),
            (Some([_, right]), Side::Black) => values::known(right),
            _ => None,
        };
        Some(Player {
            name: doubts.name(bare, place),
            facts: PlayerFacts {
                fide_id: id.map(|(id, _)| id),
                title: known(Fact::Title).or(title).and_then(values::title),
                rating: rating.flatten(),
                federation: known(Fact::Federation).map(str::to_owned),
                team: known(Fact::Team).or_else(team_of_match).map(str::to_owned),
            },
            place: doubts.place(place.0, place.1),
        })
    }

    /// Parses the value of a column and reports an error. Wrong ratings and results are reported as information only.
    fn value<T>(
        &self,
        column: Column,
        about: DoubtKind,
        read: impl Fn(&str) -> Result<T, ImplausibleValue>,
        doubts: &mut Doubts,
    ) -> Option<T> {
        let (text, place) = self.get(column)?;
        match read(text) {
            Ok(value) => Some(value),
            Err(problem) => {
                match about {
                    DoubtKind::Value => doubts.note(about, place, problem.to_string()),
                    _ => doubts.lost(about, place, problem.to_string()),
                }
                None
            }
        }
    }
}

/// Strips the formula with which programs keep spreadsheets from converting a value: `="1-0"` or `=4600001`.
fn without_formula(field: &str) -> &str {
    let formula = field.strip_prefix('=').map(str::trim);
    let quoted = formula.and_then(|formula| formula.strip_prefix('"')?.strip_suffix('"'));
    let number = formula.filter(|formula| formula.starts_with(|c: char| c.is_ascii_digit()));
    quoted.or(number).unwrap_or(field)
}

/// Tracks the positions of lines and fields, which the CSV reader does not provide.
struct FilePositions<'t> {
    text: &'t str,
    separator: char,
    /// Byte offset up to which lines have been counted.
    counted: usize,
    line: usize,
}

impl<'t> FilePositions<'t> {
    fn new(text: &'t str, from: usize, separator: u8) -> Self {
        let before = text.get(..from).unwrap_or_default();
        Self {
            text,
            separator: char::from(separator),
            counted: from,
            line: before.matches('\n').count() + 1,
        }
    }

    /// Returns the line number of the record that begins at byte `from`, after any empty lines, and the columns at
    /// which its fields begin.
    fn next(&mut self, from: usize) -> (usize, Vec<usize>) {
        let rest = self.text.get(from..).unwrap_or_default();
        let begin = from + (rest.len() - rest.trim_start_matches('\n').len());
        let passed = self.text.get(self.counted..begin).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.counted = begin;
        let line = self.text.get(begin..).unwrap_or_default();
        let mut begins = vec![1];
        let (mut quoted, mut first) = (false, true);
        for (column, c) in (1..).zip(line.chars().take_while(|c| *c != '\n')) {
            match c {
                // A quotation mark in the middle of an unquoted field is plain text.
                '"' if first || quoted => quoted = !quoted,
                c if c == self.separator && !quoted => begins.push(column + 1),
                _ => {}
            }
            first = c == self.separator && !quoted;
        }
        (self.line, begins)
    }
}

/// Returns the separator and the byte offset of the header: the first line that names the required columns, else the
/// line that names most columns. Spreadsheets may declare the separator in a line "sep=;" before the header.
fn find_header(text: &str) -> (u8, usize) {
    let mut lines = first_lines(text)
        .filter(|(_, line)| !line.trim().is_empty())
        .peekable();
    let declaration = lines.next_if(|(_, line)| declared(line).is_some());
    let declaration = declaration.and_then(|(_, line)| declared(line));
    let lines: Vec<(usize, &str)> = lines.collect();
    let header = lines.iter().find(|(_, line)| is_header(line));
    // `max_by_key` returns the last of several.
    let header = header.or_else(|| lines.iter().rev().max_by_key(|(_, line)| named_columns(line)));
    let (from, line) = header.copied().unwrap_or((text.len(), ""));
    (declaration.unwrap_or_else(|| separator(line)), from)
}

/// Returns the separator that a line such as "sep=;" declares.
fn declared(line: &str) -> Option<u8> {
    let is_declaration = |prefix: &str| prefix.eq_ignore_ascii_case("sep=");
    line.get(..4).filter(|prefix| is_declaration(prefix))?;
    let separator = line.as_bytes().get(4).copied();
    let separator = separator.filter(|byte| byte.is_ascii_punctuation() && *byte != b'"');
    Some(separator.unwrap_or(b'\t'))
}

/// Iterates over the lines among which the header is searched, each with its byte offset.
fn first_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.split_inclusive('\n').scan(0, |at, line| {
        let from = *at;
        *at += line.len();
        Some((from, line.trim_end_matches('\n')))
    });
    lines.take(SEARCHED_LINES)
}

/// Guesses the separator of a line: the most frequent candidate.
fn separator(line: &str) -> u8 {
    let count = |candidate: &u8| line.bytes().filter(|byte| byte == candidate).count();
    let mut best = b',';
    for candidate in [b';', b'\t'] {
        if count(&candidate) > count(&best) {
            best = candidate;
        }
    }
    best
}

/// Number of lines in which the header is searched. Standings may come first.
const SEARCHED_LINES: usize = 2000;

#[cfg(test)]
mod tests;
