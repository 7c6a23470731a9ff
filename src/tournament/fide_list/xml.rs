//! Reads the list as XML, player by player:
//!
//! ```xml
//! <playerslist>
//!   <player><fideid>4600001</fideid><name>Adler, Jonas</name><country>GER</country><sex>M</sex><title>FM</title>
//!     <w_title></w_title><rating>2310</rating><birthday>1990</birthday></player>
//! </playerslist>
//! ```

use std::io::{BufRead, Take};

use quick_xml::Reader;
use quick_xml::events::{BytesRef, Event};

use super::super::text;
use super::{FideEntry, ListError};

/// Limit of a tag, or of a text between two tags, in bytes. It bounds the memory for a file of any size.
const MAX_EVENT: u64 = 64 << 10;

/// Limit of nested elements, because the reader keeps the name of each open element. The list has three levels.
const MAX_DEPTH: usize = 8;

/// Passes each player with an id to `each`, and returns their number.
///
/// # Errors
///
/// Fails if the file cannot be read, or breaks off after the first player.
pub(super) fn read(
    file: &str,
    list: impl BufRead,
    mut each: impl FnMut(FideEntry),
) -> Result<usize, ListError> {
    let mut reader = Reader::from_reader(list.take(MAX_EVENT));
    let mut buffer = Vec::new();
    let mut players = 0;
    let mut player: Option<XmlPlayer> = None;
    // Number of elements that are open.
    let mut depth = 0_usize;
    loop {
        buffer.clear();
        reader.get_mut().set_limit(MAX_EVENT);
        let event = reader.read_event_into(&mut buffer);
        let damage = match event {
            Ok(Event::Start(tag)) => {
                depth += 1;
                match &mut player {
                    Some(player) => player.open(tag.local_name().as_ref()),
                    None if tag.local_name().as_ref() == b"player" => player = Some(XmlPlayer::default()),
                    None => {}
                }
                if depth <= MAX_DEPTH {
                    continue;
                }
                "elements are nested too deeply".to_owned()
            }
            Ok(Event::End(tag)) => {
                depth = depth.saturating_sub(1);
                if tag.local_name().as_ref() == b"player" {
                    let entry = player.take().and_then(XmlPlayer::entry);
                    players += usize::from(entry.is_some());
                    entry.into_iter().for_each(&mut each);
                } else if let Some(player) = &mut player {
                    player.field = None;
                }
                continue;
            }
            Ok(Event::Text(text)) => {
                player.iter_mut().for_each(|player| player.add(&text));
                continue;
            }
            Ok(Event::CData(text)) => {
                player.iter_mut().for_each(|player| player.add(&text));
                continue;
            }
            Ok(Event::GeneralRef(reference)) => {
                player.iter_mut().for_each(|player| player.refer(&reference));
                continue;
            }
            Ok(Event::Eof) if is_used_up(&mut reader) => "a tag or text is too long".to_owned(),
            Ok(Event::Eof) if depth == 0 => return Ok(players),
            Ok(Event::Eof) => "the file ends too early".to_owned(),
            Ok(_) => continue,
            Err(quick_xml::Error::Io(error)) => {
                return Err(ListError::Unreadable {
                    file: file.to_owned(),
                    source: std::io::Error::new(error.kind(), error.to_string()),
                });
            }
            Err(error) => error.to_string(),
        };
        // A page in HTML, or any other file, is not a damaged list.
        return match players {
            0 => Ok(0),
            _ => Err(ListError::Broken {
                file: file.to_owned(),
                players,
                byte: reader.buffer_position(),
                reason: damage,
            }),
        };
    }
}

fn is_used_up<R>(reader: &mut Reader<Take<R>>) -> bool {
    reader.get_mut().limit() == 0
}

/// A player whose element is open.
#[derive(Debug, Default)]
struct XmlPlayer {
    /// Index of the open field.
    field: Option<usize>,
    /// Texts of the fields, in the order of [`FIELDS`].
    texts: [Vec<u8>; FIELDS.len()],
}

/// The elements that are read.
const FIELDS: [&[u8]; 7] = [
    b"fideid",
    b"name",
    b"country",
    b"title",
    b"w_title",
    b"rating",
    b"birthday",
];

/// Limit of a field, in bytes. The rest of a longer field is dropped.
const MAX_FIELD: usize = 1 << 10;

impl XmlPlayer {
    fn open(&mut self, name: &[u8]) {
        self.field = FIELDS.iter().position(|field| *field == name);
    }

    fn add(&mut self, text: &[u8]) {
        let field = self.field.and_then(|field| self.texts.get_mut(field));
        if let Some(field) = field {
            let room = MAX_FIELD.saturating_sub(field.len());
            field.extend(text.iter().take(room));
        }
    }

    /// Adds the character that a reference such as `&amp;` or `&#39;` stands for.
    fn refer(&mut self, reference: &BytesRef<'_>) {
        let named = match &**reference {
            b"amp" => Some('&'),
            b"lt" => Some('<'),
            b"gt" => Some('>'),
            b"quot" => Some('"'),
            b"apos" => Some('\''),
            _ => None,
        };
        let character = named.or_else(|| reference.resolve_char_ref().ok().flatten());
        if let Some(character) = character {
            self.add(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Returns the entry, or `None` if the player has no id.
    fn entry(self) -> Option<FideEntry> {
        let [id, name, federation, title, womens_title, rating, born] =
            self.texts.map(|text| text::line(&text).trim().to_owned());
        let known = |text: String| Some(text).filter(|text| !text.is_empty());
        let year = born
            .split(|c: char| !c.is_ascii_digit())
            .find(|part| part.len() == 4);
        Some(FideEntry {
            id: id.parse().ok()?,
            name,
            federation: known(federation),
            title: known(title).or_else(|| known(womens_title)),
            rating: rating.parse().ok().filter(|rating| *rating > 0),
            born: year.and_then(|year| year.parse().ok()).filter(|year| *year > 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: impl BufRead) -> (Result<usize, ListError>, Vec<FideEntry>) {
        let mut found = Vec::new();
        let result = read("l.xml", list, |entry| found.push(entry));
        (result, found)
    }

    const LIST: &str = "<?xml version=\"1.0\"?>\n<playerslist>\n\
        <player>\n<fideid>4600001</fideid>\n<name>O&apos;Neil &amp; Br&#246;der, J</name>\n<country>GER</country>\n\
        <sex>M</sex>\n<title>FM</title>\n<w_title></w_title>\n<o_title>IA</o_title>\n<foa_title/>\n\
        <rating>2310</rating>\n<games>0</games>\n<k>20</k>\n<rapid_rating>2200</rapid_rating>\n\
        <birthday>1990</birthday>\n<flag></flag>\n</player>\n\
        <player><fideid>4600002</fideid><name>Berg, Ina</name><country>AUT</country><sex>F</sex><title/>\
        <w_title>WFM</w_title><rating>0</rating><birthday>0000</birthday></player>\n\
        <player><fideid></fideid><name>Nobody</name></player>\n\
        </playerslist>\n";

    #[test]
    fn players_are_read_with_their_facts() {
        let (result, found) = entries(LIST.as_bytes());
        assert_eq!(result.expect("a list"), 2);
        assert_eq!(
            found,
            [
                FideEntry {
                    id: 4_600_001,
                    name: "O'Neil & Bröder, J".to_owned(),
                    federation: Some("GER".to_owned()),
                    title: Some("FM".to_owned()),
                    rating: Some(2310),
                    born: Some(1990),
                },
                FideEntry {
                    id: 4_600_002,
                    name: "Berg, Ina".to_owned(),
                    federation: Some("AUT".to_owned()),
                    title: Some("WFM".to_owned()),
                    rating: None,
                    born: None,
                },
            ]
        );
    }

    #[test]
    fn a_list_that_breaks_off_is_refused_wherever_it_ends() {
        let first = LIST.find("</player>").unwrap() + "</player>".len();
        let end = LIST.find("</playerslist>").unwrap();
        for cut in [first, end - 3, end] {
            let (result, _) = entries(&LIST.as_bytes()[..cut]);
            let error = result.expect_err("a part of a list").to_string();
            assert!(error.starts_with("l.xml: the list breaks off after "), "{error}");
        }
        let (result, _) = entries(LIST.replace("<k>20</k>", "<k>20</j>").as_bytes());
        assert_eq!(result.expect("without players before the damage"), 0);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let begin = LIST.trim_end().strip_suffix("</playerslist>").unwrap();
        let (result, _) = entries(format!("{begin}{}", "<a>".repeat(100)).as_bytes());
        let error = result.expect_err("nested elements").to_string();
        assert!(error.contains("nested too deeply"), "{error}");
    }

    /// A reader of endless text, which fails the test if more of it is read than a bounded memory can hold.
    struct Endless(usize);

    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            self.0 += buffer.len();
            assert!(self.0 < 1 << 20, "too much is read");
            Ok(buffer.len())
        }
    }

    #[test]
    fn endless_tags_and_texts_are_refused() {
        let begin = LIST.trim_end().strip_suffix("</playerslist>").unwrap();
        for opened in ["<player><name>", "<player><", "<!-- ", "<player><name a=\""] {
            let list = format!("{begin}{opened}");
            let endless = std::io::BufReader::new(Endless(0));
            let (result, _) = entries(std::io::Read::chain(list.as_bytes(), endless));
            let error = result.expect_err("an endless list").to_string();
            assert!(error.contains("breaks off after 2 players"), "{opened}: {error}");
        }
    }
}
