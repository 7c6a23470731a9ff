//! Tag pairs of a game.

use core::fmt::Write;

use kiebitz_game::command::marks;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{EndReason, GameResult, Players, time_text};
use kiebitz_game::laws::TimeControl;
use kiebitz_game::position::Variant;
use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::{STANDARD, UNKNOWN, result};
use crate::clock::{self, ClockView};
use crate::tournament::number_in;

/// Values of a game's tags, as far as they are known.
#[derive(Debug)]
pub(super) struct Heading<'h> {
    pub(super) event: Option<&'h str>,
    pub(super) site: Option<&'h str>,
    /// Day, as in "2026-11-23".
    pub(super) date: Option<String>,
    /// Round and table.
    pub(super) place: (Option<u32>, Option<u32>),
    pub(super) players: Option<&'h Players>,
    pub(super) result: GameResult,
    pub(super) reason: Option<EndReason>,
    pub(super) board: Option<&'h str>,
    pub(super) started: Option<Timestamp>,
    pub(super) time_control: Option<&'h str>,
    pub(super) variant: Option<Variant>,
    /// Start position; `None` if it is not a legal position, which readers reject.
    pub(super) start_fen: Option<&'h str>,
    /// Id that stays the same before, during and after the game.
    pub(super) id: Option<&'h str>,
    /// Display of the clock, and its time as published to the readers.
    pub(super) clock: Option<(ClockView, Timestamp)>,
}

impl<'h> Heading<'h> {
    /// Collects the tags of a game that has started. `has_start` is whether the start position is legal.
    pub(super) fn of(record: &'h GameRecord, has_start: bool) -> Self {
        let started = time_text(record.started);
        let players = record.players.as_ref();
        let (round, table) = players
            .map(|players| (players.round, players.table))
            .unwrap_or_default();
        Self {
            event: record.event.as_deref(),
            site: record.site.as_deref(),
            date: started.split('T').next().map(str::to_owned),
            place: (round.or(record.round), table),
            players,
            result: record.result,
            reason: record.reason,
            board: Some(&record.board),
            started: Some(record.started),
            time_control: record.time_control.as_deref(),
            variant: Some(record.variant),
            start_fen: has_start.then_some(&*record.start_fen),
            id: None,
            clock: None,
        }
    }

    /// The tags, one on each line.
    pub(super) fn text(&self) -> String {
        let tags = [
            self.roster(),
            self.players_tags(),
            self.game_tags(),
            self.clock_tags(),
        ];
        tags.iter()
            .flatten()
            .fold(String::new(), |mut text, (name, value)| {
                let _ = writeln!(text, "[{name} \"{}\"]", quoted(value));
                text
            })
    }

    /// The Seven Tag Roster, which every game has, and the board.
    fn roster(&self) -> Vec<(&'static str, String)> {
        let or_unknown = |value: Option<&str>| value.unwrap_or(UNKNOWN).to_owned();
        let (round, table) = self.place;
        let round = match (round, table) {
            (Some(round), Some(table)) => format!("{round}.{table}"),
            (Some(round), None) => round.to_string(),
            (None, _) => UNKNOWN.to_owned(),
        };
        let name = |color| or_unknown(self.players.and_then(|players| players.name(color)));
        let date = self.date.as_deref();
        let mut tags = vec![
            ("Event", or_unknown(self.event)),
            ("Site", or_unknown(self.site)),
            (
                "Date",
                date.map_or_else(|| NO_DATE.to_owned(), |date| date.replace('-', ".")),
            ),
            ("Round", round),
            ("White", name(Color::White)),
            ("Black", name(Color::Black)),
            ("Result", result(self.result).to_owned()),
        ];
        let board = self.board.map(|name| number_in(name).unwrap_or(name).to_owned());
        let board = table.map(|table| table.to_string()).or(board);
        tags.extend(board.map(|board| ("Board", board)));
        tags
    }

    /// Titles, ratings, FIDE numbers and teams of the players.
    fn players_tags(&self) -> Vec<(&'static str, String)> {
        let facts = |color| self.players.and_then(|players| players.facts(color));
        let (white, black) = (facts(Color::White), facts(Color::Black));
        let tags = [
            ("WhiteTitle", white.and_then(|facts| facts.title.clone())),
            ("BlackTitle", black.and_then(|facts| facts.title.clone())),
            (
                "WhiteElo",
                white.and_then(|facts| Some(facts.rating?.to_string())),
            ),
            (
                "BlackElo",
                black.and_then(|facts| Some(facts.rating?.to_string())),
            ),
            (
                "WhiteFideId",
                white.and_then(|facts| Some(facts.fide_id?.to_string())),
            ),
            (
                "BlackFideId",
                black.and_then(|facts| Some(facts.fide_id?.to_string())),
            ),
            ("WhiteTeam", white.and_then(|facts| facts.team.clone())),
            ("BlackTeam", black.and_then(|facts| facts.team.clone())),
        ];
        let known = tags.into_iter().filter_map(|(name, value)| Some((name, value?)));
        known.collect()
    }

    fn game_tags(&self) -> Vec<(&'static str, String)> {
        let mut tags = Vec::new();
        if let Some(started) = self.started {
            let text = time_text(started);
            let (day, time) = text.split_once('T').unwrap_or_default();
            tags.push(("UTCDate", day.replace('-', ".")));
            tags.push(("UTCTime", time.chars().take(8).collect()));
        }
        if let Some(control) = self.time_control {
            // A time control that does not follow the PGN standard is "?".
            let known = TimeControl::from_pgn(control).is_ok();
            tags.push(("TimeControl", if known { control } else { UNKNOWN }.to_owned()));
        }
        if let Some(termination) = self.reason.map(termination) {
            tags.push(("Termination", termination.to_owned()));
        }
        if matches!(self.variant, Some(Variant::Chess960 | Variant::WrongStart)) {
            tags.push(("Variant", "Chess960".to_owned()));
        }
        if let Some(fen) = self.start_fen.filter(|fen| *fen != STANDARD) {
            tags.push(("SetUp", "1".to_owned()));
            tags.push(("FEN", fen.to_owned()));
        }
        tags.extend(self.id.map(|id| ("GameId", id.to_owned())));
        tags
    }

    /// Clock tags for a game in progress: the time left for each side and, if a clock is running, its side and the time
    /// of the reading.
    fn clock_tags(&self) -> Vec<(&'static str, String)> {
        let Some((shown, since)) = self.clock else {
            return Vec::new();
        };
        let side = |left: Option<u64>| left.map(clock::shown_in_full);
        let mut tags = Vec::new();
        tags.extend(side(shown.white_ms).map(|time| ("WhiteClock", time)));
        tags.extend(side(shown.black_ms).map(|time| ("BlackClock", time)));
        if let Some(running) = shown.running {
            let text = time_text(since);
            let side = running.fold_wb("W", "B");
            tags.push(("ReferenceTime", format!("{side}/{text}")));
        }
        tags
    }
}

/// Termination in the words of the PGN standard.
const fn termination(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Arbiter => "adjudication",
        EndReason::Flag => "time forfeit",
        EndReason::IllegalMoves | EndReason::Default | EndReason::Conduct => "rules infraction",
        EndReason::Reset | EndReason::Adjourned | EndReason::Void => "unterminated",
        EndReason::Checkmate
        | EndReason::Stalemate
        | EndReason::DeadPosition
        | EndReason::Fivefold
        | EndReason::SeventyFiveMoves
        | EndReason::Kings
        | EndReason::ResultPiece
        | EndReason::Gap
        | EndReason::Resignation
        | EndReason::Agreement
        | EndReason::Claim
        | EndReason::Quickplay => "normal",
    }
}

/// Escapes a tag's value: backslashes are escaped, control characters such as line breaks and [marks] removed. A
/// quotation mark becomes an apostrophe, as not every reader knows the escape of the standard.
fn quoted(value: &str) -> String {
    value
        .chars()
        .filter(|c| !c.is_control() && !marks::is_mark(*c))
        .fold(String::new(), |mut text, c| {
            match c {
                '"' => text.push('\''),
                '\\' => text.push_str("\\\\"),
                c => text.push(c),
            }
            text
        })
}

const NO_DATE: &str = "????.??.??";
