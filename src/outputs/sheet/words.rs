//! Formats times, moves and results.

use jiff::tz::TimeZone;
use kiebitz_game::events::GameResult;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::laws::{END_REASON, Language, word};
use kiebitz_hardware::Timestamp;

/// Standard start position.
pub(super) const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Time zone in which times are shown.
#[derive(Debug, Clone)]
pub(super) struct LocalTime {
    zone: TimeZone,
}

impl LocalTime {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone }
    }

    /// Time as HH:MM:SS.
    pub(super) fn time(&self, at: Timestamp) -> String {
        self.format(at, "%H:%M:%S")
    }

    /// Time as HH:MM:SS with milliseconds.
    pub(super) fn time_exactly(&self, at: Timestamp) -> String {
        self.format(at, "%H:%M:%S%.3f")
    }

    /// Start with date, end, and time zone.
    pub(super) fn span(&self, from: Timestamp, to: Option<Timestamp>) -> String {
        let start = self.format(from, "%-d %B %Y, %H:%M:%S");
        let zone = self.format(from, "%Z");
        match to {
            Some(to) => format!("{start} to {} {zone}", self.time(to)),
            None => format!("{start} {zone}"),
        }
    }

    fn format(&self, at: Timestamp, format: &str) -> String {
        // A capture may contain any time; one outside the calendar is shown as "?".
        jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(
            |_| "?".to_owned(),
            |at| at.to_zoned(self.zone.clone()).strftime(format).to_string(),
        )
    }
}

/// Name of a move: SAN, or for irregular play the squares in brackets.
pub(super) fn played(san: Option<&str>, uci: Option<&str>) -> String {
    match (san, uci) {
        (Some(san), _) => san.to_owned(),
        (None, Some(uci)) => format!("[{}]", squares(uci)),
        (None, None) => "[?]".to_owned(),
    }
}

/// "e2-e4" for "e2e4".
fn squares(uci: &str) -> String {
    match (uci.get(..2), uci.get(2..)) {
        (Some(from), Some(to)) => format!("{from}-{to}"),
        _ => uci.to_owned(),
    }
}

/// The result with its reason.
pub(super) fn result(record: &GameRecord) -> String {
    let Some(reason) = record.reason else {
        return "No result: the capture ends before the game does".to_owned();
    };
    let reason = word(Language::English, END_REASON, reason.as_str());
    let doubt = if record.confirmed || record.result == GameResult::Unknown {
        ""
    } else {
        " (not confirmed by the arbiter)"
    };
    let result = if record.result == GameResult::Unknown {
        "No result"
    } else {
        record.result.as_str()
    };
    format!("{result}: {reason}{doubt}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn irregular_play_shows_its_squares() {
        assert_eq!(played(Some("Nf3"), Some("g1f3")), "Nf3");
        assert_eq!(played(None, Some("e2e5")), "[e2-e5]");
        assert_eq!(played(None, None), "[?]");
    }

    #[test]
    fn times_are_those_of_the_hall() {
        let at = Timestamp::from_micros(1_795_269_787_412_345);
        let utc = LocalTime::new(TimeZone::UTC);
        assert_eq!(utc.time_exactly(at), "14:03:07.412");
        assert_eq!(
            utc.span(at, Some(at)),
            "21 November 2026, 14:03:07 to 14:03:07 UTC"
        );
        assert_eq!(utc.time(Timestamp::from_micros(i64::MAX)), "?");
        assert_eq!(
            LocalTime::new(TimeZone::fixed(jiff::tz::offset(1))).time(at),
            "15:03:07"
        );
    }
}
