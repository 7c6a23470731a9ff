//! Reads the title lines above a table, as in the exports of chess-results.com.

use super::super::{names, values};
use super::header;

/// Facts from the title lines that have been read so far.
#[derive(Debug, Default)]
pub(super) struct Titles {
    /// Name of the event: the line after the name of the site that exported the table.
    pub(super) event: Option<String>,
    /// Round of the rows below, as in "Round 3 on 2026/11/29 at 14:00" or "3. Runde".
    pub(super) round: Option<u32>,
    /// Date of that round.
    pub(super) date: Option<String>,
    names_event: bool,
}

impl Titles {
    /// Reads a line.
    pub(super) fn line(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let names_event = core::mem::replace(&mut self.names_event, false);
        if text.to_lowercase().contains(EXPORTER) {
            self.names_event = self.event.is_none();
            return;
        }
        if let Some(round) = round(text) {
            self.round = Some(round);
            self.date = text.split_whitespace().find_map(values::date);
        } else if names_event {
            self.event = Some(text.to_owned());
        }
    }
}

/// Returns the number of the round that a title line begins with.
fn round(text: &str) -> Option<u32> {
    let folded = names::folded(text);
    let mut words = folded
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let (first, second) = (words.next()?, words.next()?);
    let number = match (header::is_round(first), header::is_round(second)) {
        (true, false) => second,
        (false, true) => first,
        _ => return None,
    };
    values::round(number).ok()?.first().copied()
}

/// Address in the first title line of an export.
const EXPORTER: &str = "chess-results";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_is_read_from_its_title_only() {
        for (text, number) in [
            ("Round 3 on 2026/11/29 at 14:00", Some(3)),
            ("Runde 12 am 29.11.2026", Some(12)),
            ("3. Runde", Some(3)),
            ("Rd. 4", Some(4)),
            ("Club Open 2026", None),
            ("Final ranking after 5 rounds", None),
            ("Round robin 2026", None),
            ("Round", None),
        ] {
            assert_eq!(round(text), number, "{text}");
        }
    }
}
