//! Reads FIDE's rating list, a text with fixed columns or XML. It has almost two million players, so only those of the
//! event are kept.

mod xml;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use thiserror::Error;

use super::{Tournament, names, text};
use crate::text_file;

/// Entry of a player in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FideEntry {
    /// FIDE id.
    pub id: u32,
    /// Name, as "Last, First".
    pub name: String,
    /// Federation, in three letters.
    pub federation: Option<String>,
    /// Title, or else the women's title.
    pub title: Option<String>,
    /// Standard rating.
    pub rating: Option<u16>,
    /// Year of birth.
    pub born: Option<u16>,
}

/// Entries of the list that match an event's players by id or name.
#[derive(Debug, Clone, Default)]
pub struct FideList {
    by_id: BTreeMap<u32, FideEntry>,
    /// Ids by the key of the name.
    by_name: BTreeMap<String, Vec<u32>>,
}

/// Reason why a list cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ListError {
    /// The file cannot be opened or read.
    #[error("cannot read {file}")]
    Unreadable {
        /// Name of the file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file is a zip archive.
    #[error("{file}: this is a zip file: unpack it with `unzip {file}`, and name the file that was in it")]
    Packed {
        /// Name of the file.
        file: String,
    },
    /// The file is a list as XML that ends early or is damaged.
    #[error(
        "{file}: the list breaks off after {players} players, at byte {byte}: {reason}; download it again \
         (players_list_xml.zip), and unpack it"
    )]
    Broken {
        /// Name of the file.
        file: String,
        /// Number of complete players.
        players: usize,
        /// Position of the damage.
        byte: u64,
        /// The damage.
        reason: String,
    },
    /// The file has no players.
    #[error(
        "{file}:1:1: this is not the FIDE rating list as text, which begins with column names from \"ID \
         Number\" on, or as XML: download the list in TXT or XML format (players_list.zip, \
         players_list_xml.zip), and unpack it"
    )]
    Other {
        /// Name of the file.
        file: String,
    },
}

impl FideList {
    /// Reads the entries that match the event's players by id or name.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is not a rating list.
    pub fn read(path: &Path, event: &Tournament) -> Result<Self, ListError> {
        let file = path.display().to_string();
        let unreadable = |source| ListError::Unreadable {
            file: file.clone(),
            source,
        };
        let opened = text_file::open(path).map_err(unreadable)?;
        Self::from_reader(&file, BufReader::with_capacity(BUFFER, opened), event)
    }

    /// Reads the entries like [`read`](Self::read), from any reader. `file` is the file name for error messages.
    ///
    /// # Errors
    ///
    /// Fails like [`read`](Self::read).
    pub fn from_reader(file: &str, mut list: impl BufRead, event: &Tournament) -> Result<Self, ListError> {
        let wanted = WantedPlayers::of(event);
        let mut found = Self::default();
        let unreadable = |source| ListError::Unreadable {
            file: file.to_owned(),
            source,
        };
        let begin = list.fill_buf().map_err(unreadable)?;
        let begin = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
        if begin.trim_ascii_start().starts_with(b"<") {
            let players = xml::read(file, list, |entry| {
                let key = names::key(&entry.name);
                if wanted.has(entry.id, &key) {
                    found.keep(entry, key);
                }
            })?;
            return found.unless_empty(players, file);
        }
        let mut columns = ListColumns::default();
        let mut players = 0_usize;
        let mut first = true;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = Read::take(&mut list, LONGEST_LINE).read_until(b'\n', &mut line);
            let read = read.map_err(unreadable)?;
            if read == 0 {
                break;
            }
            if core::mem::take(&mut first) {
                if line.starts_with(b"PK\x03\x04") {
                    return Err(ListError::Packed {
                        file: file.to_owned(),
                    });
                }
                if let Some(named) = ListColumns::named(&line) {
                    columns = named;
                    continue;
                }
            }
            let Some(id) = columns.id(&line) else { continue };
            players += 1;
            let name = columns.text(columns.name, &line);
            let key = names::key(&name);
            if wanted.has(id, &key) {
                found.keep(columns.entry(id, name, &line), key);
            }
        }
        found.unless_empty(players, file)
    }

    /// Returns the list unless the file has no players.
    fn unless_empty(self, players: usize, file: &str) -> Result<Self, ListError> {
        match players {
            0 => Err(ListError::Other {
                file: file.to_owned(),
            }),
            _ => Ok(self),
        }
    }

    fn keep(&mut self, entry: FideEntry, key: String) {
        let ids = self.by_name.entry(key).or_default();
        if !ids.contains(&entry.id) {
            ids.push(entry.id);
        }
        self.by_id.insert(entry.id, entry);
    }

    /// Returns the player with an id.
    #[must_use]
    pub fn player(&self, id: u32) -> Option<&FideEntry> {
        self.by_id.get(&id)
    }

    /// Returns the players with a name, regardless of its spelling.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &FideEntry> {
        let ids = self.by_name.get(&names::key(name));
        ids.into_iter().flatten().filter_map(|id| self.by_id.get(id))
    }
}

struct WantedPlayers {
    ids: BTreeSet<u32>,
    names: BTreeSet<String>,
}

impl WantedPlayers {
    fn of(event: &Tournament) -> Self {
        Self {
            ids: event
                .everybody()
                .filter_map(|player| player.facts.fide_id)
                .collect(),
            names: event.everybody().map(|player| names::key(&player.name)).collect(),
        }
    }

    fn has(&self, id: u32, name_key: &str) -> bool {
        self.ids.contains(&id) || self.names.contains(name_key)
    }
}

/// Begin and end of a column, in bytes.
type ColumnSpan = (usize, usize);

#[derive(Debug, PartialEq, Eq)]
struct ListColumns {
    id: ColumnSpan,
    name: ColumnSpan,
    federation: ColumnSpan,
    title: ColumnSpan,
    womens_title: ColumnSpan,
    rating: ColumnSpan,
    born: ColumnSpan,
}

/// The positions in lists since 2012.
impl Default for ListColumns {
    fn default() -> Self {
        Self {
            id: (0, 15),
            name: (15, 76),
            federation: (76, 79),
            title: (84, 89),
            womens_title: (89, 94),
            rating: (113, 119),
            born: (152, 158),
        }
    }
}

impl ListColumns {
    /// Derives the positions from the header. Returns `None` if the line is not a header. Columns that the header lacks
    /// are empty.
    fn named(line: &[u8]) -> Option<Self> {
        let line = text::line(line).trim_end().to_lowercase();
        if !line.trim_start().starts_with("id number") || !line.is_ascii() {
            return None;
        }
        // A leading blank prevents a match inside another column name.
        let names = [
            "id number",
            "name",
            "fed",
            "sex",
            " tit",
            "wtit",
            "otit",
            "foa",
            "srtng",
            "sgm",
            " sk",
            "rrtng",
            "rgm",
            "rk",
            "brtng",
            "bgm",
            "bk",
            "b-day",
            "born",
            "flag",
            "games",
            "gms",
        ];
        let begin = |name: &str| line.find(name).map(|at| at + usize::from(name.starts_with(' ')));
        // The list of one kind of play names the column of ratings after its month, as in "SEP26".
        let month = line
            .match_indices(' ')
            .map(|(at, _)| at + 1)
            .find(|at| line.get(*at..).is_some_and(begins_with_month));
        let mut begins: Vec<usize> = names.iter().filter_map(|name| begin(name)).chain(month).collect();
        begins.sort_unstable();
        let span_from = |from: usize| {
            let to = begins.iter().copied().find(|begin| *begin > from);
            (from, to.unwrap_or(from + LAST_WIDTH))
        };
        let span = |name: &str| begin(name).map(span_from);
        let none = (0, 0);
        Some(Self {
            id: span("id number")?,
            name: span("name")?,
            federation: span("fed").unwrap_or(none),
            title: span(" tit").unwrap_or(none),
            womens_title: span("wtit").unwrap_or(none),
            rating: span("srtng").or_else(|| month.map(span_from)).unwrap_or(none),
            born: span("b-day").or_else(|| span("born")).unwrap_or(none),
        })
    }

    fn id(&self, line: &[u8]) -> Option<u32> {
        let (from, to) = self.id;
        let field = line.get(from..to.min(line.len()))?.trim_ascii();
        core::str::from_utf8(field).ok()?.parse().ok()
    }

    fn text(&self, (from, to): ColumnSpan, line: &[u8]) -> String {
        let field = line.get(from..to.min(line.len())).unwrap_or_default();
        text::line(field).trim().to_owned()
    }

    fn entry(&self, id: u32, name: String, line: &[u8]) -> FideEntry {
        let known = |span| Some(self.text(span, line)).filter(|text| !text.is_empty());
        let word = |span| known(span)?.split_whitespace().next().map(str::to_owned);
        FideEntry {
            id,
            name,
            federation: word(self.federation),
            title: word(self.title).or_else(|| word(self.womens_title)),
            rating: known(self.rating)
                .and_then(|text| text.parse().ok())
                .filter(|rating| *rating > 0),
            born: known(self.born)
                .and_then(|text| text.parse().ok())
                .filter(|year| *year > 0),
        }
    }
}

/// Returns whether a text in lower case begins with a word such as "sep26".
fn begins_with_month(text: &str) -> bool {
    let word = text.split(' ').next().unwrap_or_default();
    MONTHS
        .iter()
        .any(|month| word.strip_prefix(month).is_some_and(is_year))
}

fn is_year(text: &str) -> bool {
    text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const BUFFER: usize = 1 << 16;
/// Byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Limit of a line, in bytes; lines of the list have 162.
const LONGEST_LINE: u64 = 4096;
/// Width of the last column, in bytes.
const LAST_WIDTH: usize = 6;

#[cfg(test)]
mod tests {
    use kiebitz_game::events::PlayerFacts;

    use super::super::Player;
    use super::*;

    pub(crate) fn line(id: &str, name: &str, fed: &str, title: &str, rating: &str) -> String {
        format!(
            "{id:<15}{name:<61}{fed:<4}{:<4}{title:<5}{:<24}{rating:<39}1990  \r\n",
            "M", ""
        )
    }

    const HEADER: &str = "ID Number      Name                                                         Fed Sex Tit  WTit OTit           FOA SRtng SGm SK RRtng RGm Rk BRtng BGm BK B-day Flag\r\n";

    fn event() -> Tournament {
        let player = |name: &str, fide_id| Player {
            name: name.to_owned(),
            facts: PlayerFacts {
                fide_id,
                ..PlayerFacts::default()
            },
            ..Player::default()
        };
        Tournament {
            players: vec![player("Adler, Jonas", Some(4_600_001)), player("Ina Berg", None)],
            ..Tournament::default()
        }
    }

    fn list() -> String {
        [
            line("4600001", "Other, Name", "GER", "FM", "2310"),
            line("4600002", "Berg, Ina", "AUT", "", "0"),
            line("4600003", "Cohn, Eva", "GER", "", "1800"),
            line("4600004", "Berg, Ina", "GER", "WFM", "2000"),
        ]
        .concat()
    }

    #[test]
    fn only_players_of_the_event_are_kept() {
        assert_eq!(
            ListColumns::named(HEADER.as_bytes()).map(|columns| columns.name),
            Some((15, 76))
        );
        for text in [format!("{HEADER}{}", list()), list()] {
            let list = FideList::from_reader("l.txt", text.as_bytes(), &event()).expect("a list");
            let entry = list.player(4_600_001).expect("an entry");
            assert_eq!(
                (entry.name.as_str(), entry.title.as_deref()),
                ("Other, Name", Some("FM"))
            );
            assert_eq!(
                (entry.rating, entry.born, entry.federation.as_deref()),
                (Some(2310), Some(1990), Some("GER"))
            );
            let named: Vec<u32> = list.named("BERG Ina").map(|entry| entry.id).collect();
            assert_eq!(named, [4_600_002, 4_600_004]);
            assert_eq!(list.player(4_600_003), None);
        }
    }

    #[test]
    fn columns_follow_the_header() {
        let text = "ID number Name                              TitlFed  SEP10 GamesBorn  Flag\n \
                    4600001  Other, Name                       f   GER  2310    0  1990\n";
        let list = FideList::from_reader("l.txt", text.as_bytes(), &event()).expect("a list");
        let entry = list.player(4_600_001).expect("an entry");
        assert_eq!((entry.name.as_str(), entry.born), ("Other, Name", Some(1990)));
        assert_eq!(
            (entry.rating, entry.federation.as_deref()),
            (Some(2310), Some("GER"))
        );
    }

    /// The list of standard ratings alone names the column after its month.
    #[test]
    fn ratings_may_be_in_the_column_of_a_month() {
        let text = "ID Number      Name                                                         Fed Sex Tit  WTit OTit           FOA SEP26 Gms K  B-day Flag\n\
                    4600001        Other, Name                                                  GER F   WFM  WFM                     2076  13  20 2001  w\n";
        let list = FideList::from_reader("l.txt", text.as_bytes(), &event()).expect("a list");
        let entry = list.player(4_600_001).expect("an entry");
        assert_eq!(
            (entry.rating, entry.born, entry.title.as_deref()),
            (Some(2076), Some(2001), Some("WFM"))
        );
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |bytes: &[u8]| {
            FideList::from_reader("l.zip", bytes, &event())
                .expect_err("no list")
                .to_string()
        };
        assert!(refused(b"PK\x03\x04").contains("unzip l.zip"));
        assert!(refused(b"<playerslist>").starts_with("l.zip:1:1: this is not the FIDE rating list"));
        assert!(refused(b"").starts_with("l.zip:1:1"));
        let page = b"<!DOCTYPE html><html><br><p>Not found</html>";
        assert!(refused(page).starts_with("l.zip:1:1: this is not the FIDE rating list"));
    }
}
