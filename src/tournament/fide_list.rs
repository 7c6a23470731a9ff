//! FIDE's rating list, as text with fixed columns: half a million players, of whom only those asked for are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use thiserror::Error;

use super::{Tournament, names, text};

/// What the list has of a player.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FideEntry {
    /// The number that FIDE has given the player.
    pub id: u32,
    /// The name, "Last, First".
    pub name: String,
    /// The federation, in three letters.
    pub federation: Option<String>,
    /// The title, else the women's title.
    pub title: Option<String>,
    /// The standard rating.
    pub rating: Option<u16>,
    /// The year of birth.
    pub born: Option<u16>,
}

/// Those of the list who have an id or a name of an event's players.
#[derive(Debug, Clone, Default)]
pub struct FideList {
    by_id: BTreeMap<u32, FideEntry>,
    /// The ids that go with a name, by its key.
    by_name: BTreeMap<String, Vec<u32>>,
}

/// Why a list cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ListError {
    /// It cannot be opened, or read.
    #[error("cannot read {file}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is packed.
    #[error("{file}: this is a zip file: unpack it with `unzip {file}`, and name the file that was in it")]
    Packed {
        /// The file's name.
        file: String,
    },
    /// It has no players.
    #[error(
        "{file}:1:1: this is not the FIDE rating list as text, which begins with column names from \"ID \
         Number\" on: download the list in TXT format (players_list.zip), and unpack it"
    )]
    Other {
        /// The file's name.
        file: String,
    },
}

impl FideList {
    /// Those of the list in a file who have an id or a name of the event's players.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is no such list.
    pub fn read(path: &Path, event: &Tournament) -> Result<Self, ListError> {
        let file = path.display().to_string();
        let unreadable = |source| ListError::Unreadable {
            file: file.clone(),
            source,
        };
        let opened = File::open(path).map_err(unreadable)?;
        Self::from_reader(&file, BufReader::with_capacity(BUFFER, opened), event)
    }

    /// The same from anywhere; `file` is its name, for the errors.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn from_reader(file: &str, mut list: impl BufRead, event: &Tournament) -> Result<Self, ListError> {
        let wanted = WantedPlayers::of(event);
        let mut found = Self::default();
        let mut columns = ListColumns::default();
        let mut players = 0_usize;
        let mut first = true;
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = Read::take(&mut list, LONGEST_LINE).read_until(b'\n', &mut line);
            let read = read.map_err(|source| ListError::Unreadable {
                file: file.to_owned(),
                source,
            })?;
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
            if wanted.ids.contains(&id) || wanted.names.contains(&key) {
                found.keep(columns.entry(id, name, &line), key);
            }
        }
        match players {
            0 => Err(ListError::Other {
                file: file.to_owned(),
            }),
            _ => Ok(found),
        }
    }

    fn keep(&mut self, entry: FideEntry, key: String) {
        let ids = self.by_name.entry(key).or_default();
        if !ids.contains(&entry.id) {
            ids.push(entry.id);
        }
        self.by_id.insert(entry.id, entry);
    }

    /// The player with an id.
    #[must_use]
    pub fn player(&self, id: u32) -> Option<&FideEntry> {
        self.by_id.get(&id)
    }

    /// The players with a name, however it is spelled.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &FideEntry> {
        let ids = self.by_name.get(&names::key(name));
        ids.into_iter().flatten().filter_map(|id| self.by_id.get(id))
    }
}

/// Whom an event asks for.
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
}

/// Where a column begins and ends, in bytes.
type ColumnSpan = (usize, usize);

/// Where the columns are.
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

/// As the list has them since 2012.
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
    /// The columns that a first line names; `None`: it is no such line. What it does not name is empty.
    fn named(line: &[u8]) -> Option<Self> {
        let line = text::line(line).trim_end().to_lowercase();
        if !line.trim_start().starts_with("id number") || !line.is_ascii() {
            return None;
        }
        // A name that is a part of another is looked for with a blank before it.
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
        ];
        let begin = |name: &str| line.find(name).map(|at| at + usize::from(name.starts_with(' ')));
        let mut begins: Vec<usize> = names.iter().filter_map(|name| begin(name)).collect();
        begins.sort_unstable();
        let span = |name: &str| {
            let from = begin(name)?;
            let to = begins.iter().copied().find(|begin| *begin > from);
            Some((from, to.unwrap_or(from + LAST_WIDTH)))
        };
        let none = (0, 0);
        Some(Self {
            id: span("id number")?,
            name: span("name")?,
            federation: span("fed").unwrap_or(none),
            title: span(" tit").unwrap_or(none),
            womens_title: span("wtit").unwrap_or(none),
            rating: span("srtng").unwrap_or(none),
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

const BUFFER: usize = 1 << 16;
/// In bytes; a line of the list has 162.
const LONGEST_LINE: u64 = 4096;
/// Of the last column, in bytes.
const LAST_WIDTH: usize = 6;

#[cfg(test)]
mod tests {
    use kiebitz_game::events::PlayerFacts;

    use super::super::Player;
    use super::*;

    /// A line of the list.
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
    fn only_who_is_asked_for_is_kept() {
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
    fn columns_are_where_the_first_line_names_them() {
        let text = "ID number Name                              TitlFed  SEP10 GamesBorn  Flag\n \
                    4600001  Other, Name                       f   GER  2310    0  1990\n";
        let list = FideList::from_reader("l.txt", text.as_bytes(), &event()).expect("a list");
        let entry = list.player(4_600_001).expect("an entry");
        assert_eq!((entry.name.as_str(), entry.born), ("Other, Name", Some(1990)));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let refused = |bytes: &[u8]| {
            FideList::from_reader("l.zip", bytes, &event())
                .expect_err("no list")
                .to_string()
        };
        assert!(refused(b"PK\x03\x04").contains("unzip l.zip"));
        assert!(refused(b"<playerslist>").starts_with("l.zip:1:1: this is not the FIDE rating list"));
        assert!(refused(b"").starts_with("l.zip:1:1"));
    }
}
