//! Rendering that the page and the text of a report share: times, moves, names.

mod amendments;
mod claims;
mod forms;
mod incidents;
mod standings;
mod summary;

use jiff::tz::TimeZone;
use kiebitz_game::events::record::MoveRecord;
use kiebitz_game::events::{Clock, CompletedBy, DecidedBy, Flag, GameResult, Players};
use kiebitz_game::laws::{END_REASON, Edition, Language, word};
use kiebitz_hardware::Timestamp;
use shakmaty::san::SanPlus;
use shakmaty::{Board, Color, Role};

use super::model::{GameReport, IncidentReport, LocatedChange, TimeUsed, Withdrawn};
use super::position::{en_passant_text, fen_before, is_en_passant, setup};
use super::words::{Words, fill};
pub(super) use crate::clock::shown as clock;
use crate::clock::{taken, taken_seconds};
use crate::outputs::shared::notation::{Letters, MateSign, Notation};
use crate::outputs::shared::numbering::Numbering;

/// Language and options of a report.
#[derive(Debug, Clone)]
pub struct Manner {
    /// Language of the text.
    pub language: Language,
    /// Piece letters of the moves.
    pub letters: &'static Letters,
    /// Time zone of the times.
    pub zone: TimeZone,
    /// Whether to add the data for an adjournment even if the game was not adjourned.
    pub adjournment: bool,
}

/// Renders parts of a report.
#[derive(Clone, Copy)]
pub(super) struct Renderer<'v> {
    pub(super) words: &'static Words,
    pub(super) manner: &'v Manner,
}

/// Renders parts of one game.
#[derive(Clone, Copy)]
pub(super) struct GameRenderer<'v> {
    pub(super) view: Renderer<'v>,
    pub(super) game: &'v GameReport,
    pub(super) notation: Notation,
    pub(super) numbering: Numbering,
}

/// Contents reported at the same time.
pub(super) enum Reported {
    /// Many squares, as in a dump of the board: a text with their number.
    AtOnce(String),
    /// A single square: its piece, or that it is empty.
    One(String),
}

/// Minimum number of changes at the same time that are shown in one line, because they come from a dump of the board
/// and not from a move.
const MIN_AT_ONCE: usize = 12;

impl<'v> Renderer<'v> {
    /// Returns the changes of squares that are the evidence for an incident. A dump of the board takes one line.
    pub(super) fn changes(self, entry: &IncidentReport) -> Vec<(&LocatedChange, Reported)> {
        let count_at = |at| {
            entry
                .changes
                .iter()
                .filter(|change| change.change.at == at)
                .count()
        };
        let mut shown: Vec<(&LocatedChange, Reported)> = Vec::new();
        for change in &entry.changes {
            let at = change.change.at;
            let squares = count_at(at);
            if squares < MIN_AT_ONCE {
                let piece = self.piece(change.change.piece.as_deref());
                shown.push((change, Reported::One(piece)));
            } else if shown.last().is_none_or(|(last, _)| last.change.at != at) {
                let squares = fill(self.words.squares_at_once, &[("n", &squares.to_string())]);
                shown.push((change, Reported::AtOnce(squares)));
            }
        }
        shown
    }

    pub(super) fn new(manner: &'v Manner) -> Self {
        Self {
            words: Words::of(manner.language),
            manner,
        }
    }

    /// Returns the reason of a result in words; an unknown reason is returned unchanged.
    pub(super) fn end_reason(self, reason: &str) -> &str {
        word(self.manner.language, END_REASON, reason)
    }

    pub(super) fn game(self, game: &'v GameReport) -> GameRenderer<'v> {
        let mate = game.record.laws.map_or(MateSign::Hash, MateSign::of);
        GameRenderer {
            view: self,
            game,
            notation: Notation::new(self.manner.letters, mate),
            numbering: Numbering::of(&game.record.start_fen),
        }
    }

    /// Formats a local time as HH:MM:SS.
    pub(super) fn time(self, at: Timestamp) -> String {
        self.strftime(at, "%H:%M:%S")
    }

    /// Formats a local time as HH:MM:SS with milliseconds.
    pub(super) fn time_exactly(self, at: Timestamp) -> String {
        self.strftime(at, "%H:%M:%S%.3f")
    }

    pub(super) fn day(self, at: Timestamp) -> String {
        let month: Option<usize> = self.strftime(at, "%-m").parse().ok();
        let month = month.and_then(|month| self.words.months.get(month.checked_sub(1)?));
        let values = [
            ("day", self.strftime(at, "%-d")),
            ("year", self.strftime(at, "%Y")),
        ];
        let [day, year] = &values;
        fill(
            self.words.day,
            &[
                (day.0, &day.1),
                ("month", month.copied().unwrap_or("?")),
                (year.0, &year.1),
            ],
        )
    }

    pub(super) fn zone_name(self, at: Timestamp) -> String {
        self.strftime(at, "%Z")
    }

    fn strftime(self, at: Timestamp, format: &str) -> String {
        // A capture may contain any time; one outside the calendar is shown as "?".
        jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(
            |_| "?".to_owned(),
            |at| at.to_zoned(self.manner.zone.clone()).strftime(format).to_string(),
        )
    }

    /// Formats the name of an edition: "FIDE 2023" for "fide-2023".
    pub(super) fn edition(self, edition: Edition) -> String {
        match edition.as_str().strip_prefix("fide-") {
            Some(year) => format!("FIDE {year}"),
            None => edition.to_string(),
        }
    }

    pub(super) fn clock_sentence(self, shown: Clock) -> String {
        let words = self.words;
        let mut state = match shown.running {
            Some(color) => fill(words.runs, &[("color", words.color(color))]),
            None => words.stands.to_owned(),
        };
        let flag = shown.flag.map(|flag| match flag {
            Flag::Both => words.both_flags.to_owned(),
            Flag::White => fill(words.flag, &[("color", words.white)]),
            Flag::Black => fill(words.flag, &[("color", words.black)]),
        });
        if let Some(flag) = flag {
            state = format!("{state}, {flag}");
        }
        let (white, black) = (clock(shown.white_ms), clock(shown.black_ms));
        fill(
            words.clock_showed,
            &[("white", &white), ("black", &black), ("state", &state)],
        )
    }

    pub(super) fn players(self, players: Option<&Players>) -> (String, String) {
        let name = |name: Option<&String>| name.cloned().unwrap_or_else(|| self.words.not_given.to_owned());
        (
            name(players.and_then(|players| players.white.as_ref())),
            name(players.and_then(|players| players.black.as_ref())),
        )
    }

    /// Names the piece of a FEN letter, as in "pawn, White"; "empty" for `None`.
    pub(super) fn piece(self, letter: Option<&str>) -> String {
        let piece = letter.and_then(|letter| shakmaty::Piece::from_char(letter.chars().next()?));
        match piece {
            Some(piece) => {
                let role = usize::from(piece.role).checked_sub(1);
                let role = role.and_then(|role| self.words.roles.get(role));
                let color = piece.color.fold_wb(self.words.white, self.words.black);
                format!("{}, {color}", role.copied().unwrap_or_default())
            }
            None => letter.unwrap_or(self.words.empty).to_owned(),
        }
    }

    /// Lists all pieces of a position, for readers who cannot see the diagram.
    pub(super) fn pieces(self, board: &Board) -> String {
        let side = |color: Color| {
            let roles = Role::ALL.into_iter().rev();
            let placed = roles.flat_map(|role| {
                let letter = self.manner.letters.letter(role);
                (board.by_role(role) & board.by_color(color))
                    .into_iter()
                    .map(move |square| format!("{letter}{square}"))
            });
            let placed: Vec<String> = placed.collect();
            format!(
                "{}: {}",
                color.fold_wb(self.words.white, self.words.black),
                placed.join(", ")
            )
        };
        format!("{}. {}.", side(Color::White), side(Color::Black))
    }

    pub(super) fn to_move(self, fen: &str) -> &'static str {
        match setup(fen) {
            Some(setup) if setup.turn.is_black() => self.words.to_move_black,
            _ => self.words.to_move_white,
        }
    }

    pub(super) fn time_used(self, used: &TimeUsed) -> String {
        let mut text = clock(used.used_ms);
        if used.untimed > 0 {
            let untimed = fill(self.words.untimed, &[("n", &used.untimed.to_string())]);
            text = format!("{text} {untimed}");
        }
        text
    }
}

impl GameRenderer<'_> {
    /// Prefixes a move with its number: "12.Nf3" or "12...Nf6".
    pub(super) fn numbered(self, ply: u32, text: &str) -> String {
        let (number, color) = self.numbering.number(ply);
        format!("{number}{}{text}", color.fold_wb(".", "..."))
    }

    /// Formats the number and the move of a ply; only the number if the game no longer has the ply.
    pub(super) fn name(self, ply: u32) -> String {
        if ply == 0 {
            return self.view.words.starts.to_owned();
        }
        let entry = self.game.record.moves.iter().find(|entry| entry.ply == ply);
        match entry {
            Some(entry) => self.numbered(ply, &self.played(entry)),
            None => self.numbered(ply, ""),
        }
    }

    pub(super) fn names(self, plies: &[u32]) -> String {
        let names: Vec<String> = plies.iter().map(|ply| self.name(*ply)).collect();
        names.join(", ")
    }

    /// Formats the move of a ply, without number.
    pub(super) fn played(self, entry: &MoveRecord) -> String {
        let san = entry.san.as_deref();
        let en_passant = san.is_some_and(|san| is_en_passant(san, fen_before(&self.game.record, entry.ply)));
        self.text(san, entry.uci.as_deref(), en_passant)
    }

    pub(super) fn withdrawn(self, entry: &Withdrawn) -> String {
        let text = self.text(entry.san.as_deref(), entry.uci.as_deref(), entry.en_passant);
        self.numbered(entry.ply, &text)
    }

    /// Renders a move from its English SAN, or irregular play in brackets.
    pub(super) fn text(self, san: Option<&str>, uci: Option<&str>, en_passant: bool) -> String {
        match (san, uci) {
            (Some(san), _) => match san.parse::<SanPlus>() {
                Ok(parsed) => self.notation.san(&parsed, en_passant),
                Err(_) => san.to_owned(),
            },
            (None, Some(uci)) => match (uci.get(..2), uci.get(2..)) {
                (Some(from), Some(to)) => format!("[{from}-{to}]"),
                _ => format!("[{uci}]"),
            },
            (None, None) => "[?]".to_owned(),
        }
    }

    /// Formats the result with its reason and its source.
    pub(super) fn result(self) -> String {
        match self.outcome() {
            (Some(result), explanation) => format!("{result}: {explanation}"),
            (None, explanation) => explanation,
        }
    }

    /// Returns the result, `None` if the game has none, and the text of its reason and source.
    pub(super) fn outcome(self) -> (Option<&'static str>, String) {
        let (record, words) = (&self.game.record, self.view.words);
        let Some(reason) = record.reason else {
            return (None, words.no_result.to_owned());
        };
        let mut parts = vec![self.view.end_reason(reason.as_str()).to_owned()];
        parts.extend(record.by.map(|by| match (by, &self.game.decided_by) {
            (DecidedBy::Arbiter, Some(person)) if person != "arbiter" => {
                format!("{} ({person})", words.by_arbiter)
            }
            (DecidedBy::Arbiter, _) => words.by_arbiter.to_owned(),
            (DecidedBy::Laws, _) => words.by_laws.to_owned(),
            (DecidedBy::Board, _) => words.by_board.to_owned(),
        }));
        if !record.confirmed && record.result != GameResult::Unknown {
            parts.push(words.unconfirmed.to_owned());
        }
        let explanation = parts.join("; ");
        match record.result {
            GameResult::Unknown => (None, format!("{}: {explanation}", words.without_result)),
            result => (Some(result.as_str()), explanation),
        }
    }

    pub(super) fn played_at(self) -> String {
        let (record, view) = (&self.game.record, self.view);
        let end = record
            .ended
            .or_else(|| self.game.plies.last().map(|note| note.made))
            .unwrap_or(record.started);
        let day = view.day(record.started);
        let to = format!("{} {}", view.time(end), view.zone_name(record.started));
        fill(
            view.words.from_to,
            &[("day", &day), ("from", &view.time(record.started)), ("to", &to)],
        )
    }

    /// Returns the number of the move that was due at the time of an incident. The move itself may have been made
    /// later.
    pub(super) fn place(self, incident: &IncidentReport) -> String {
        match incident.incident.ply {
            Some(0) => self.view.words.before_game.to_owned(),
            Some(ply) => {
                let (number, color) = self.numbering.number(ply);
                let place = fill(self.view.words.at_ply, &[("number", &number.to_string())]);
                if incident.incident.color == Some(color) {
                    return place;
                }
                let words = self.view.words;
                format!("{place} ({})", color.fold_wb(words.white, words.black))
            }
            None => String::new(),
        }
    }

    /// Returns the marks after a move in the score sheet.
    pub(super) fn marks(self, entry: &MoveRecord) -> Vec<PlyMark> {
        let note = self.game.plies.iter().find(|note| note.ply == entry.ply);
        let last = self.game.record.moves.last().map(|last| last.ply) == Some(entry.ply);
        let has_clock = entry.clock.is_some();
        let pressed = matches!(entry.completed, Some(CompletedBy::Press | CompletedBy::GameEnd));
        let mut marks = Vec::new();
        if entry.inferred {
            marks.push(if note.is_some_and(|note| !note.order_certain) {
                PlyMark::Order
            } else {
                PlyMark::Inferred
            });
        } else if has_clock && !pressed && !last {
            marks.push(PlyMark::Unpressed);
        }
        if entry.settled.is_none() && last && self.game.record.ended.is_none() {
            marks.push(PlyMark::Unsettled);
        }
        if !entry.legal {
            marks.push(PlyMark::Irregular);
        }
        let incidents = note.map(|note| note.incidents.as_slice()).unwrap_or_default();
        marks.extend(incidents.iter().map(|number| PlyMark::Incident(*number)));
        marks
    }

    /// Returns the marks that occur in the score sheet, with their meanings.
    pub(super) fn legend(self) -> Vec<(&'static str, &'static str)> {
        let used: Vec<PlyMark> = self
            .game
            .record
            .moves
            .iter()
            .flat_map(|entry| self.marks(entry))
            .collect();
        let words = self.view.words;
        let all = [
            (PlyMark::Inferred, words.mark_inferred),
            (PlyMark::Order, words.mark_order),
            (PlyMark::Unpressed, words.mark_unpressed),
            (PlyMark::Unsettled, words.mark_unsettled),
            (PlyMark::Irregular, words.mark_irregular),
            (PlyMark::Incident(0), words.mark_incident),
        ];
        let is_used = |mark: PlyMark| {
            used.iter()
                .any(|used| core::mem::discriminant(used) == core::mem::discriminant(&mark))
        };
        all.into_iter()
            .filter(|(mark, _)| is_used(*mark))
            .map(|(mark, meaning)| (mark.sign(), meaning))
            .collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlyMark {
    Inferred,
    Order,
    Unpressed,
    Unsettled,
    /// Shown by the brackets around the move.
    Irregular,
    Incident(u64),
}

impl PlyMark {
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Inferred => "~",
            Self::Order => "~?",
            Self::Unpressed => "°",
            Self::Unsettled => "?",
            Self::Irregular => "[ ]",
            Self::Incident(_) => "#",
        }
    }
}

/// Formats the time taken for a move, as m:ss, or as h:mm:ss from an hour on.
pub(super) fn took(ms: u64) -> String {
    let seconds = taken_seconds(ms);
    if seconds < 3600 {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    } else {
        taken(ms)
    }
}

/// Returns the mover's time after their move, in milliseconds.
pub(super) fn own_clock(entry: &MoveRecord) -> Option<u64> {
    Some(entry.clock?.times_ms()[entry.color])
}

/// Describes castling rights and en passant square, which a diagram does not show.
pub(super) fn rights<'w>(words: &'w Words, fen: &'w str) -> String {
    let castling = words.or_none(super::position::castling_text(fen));
    let en_passant = en_passant_text(fen).unwrap_or(words.none);
    format!(
        "{}: {castling}; {}: {en_passant}",
        words.castling, words.en_passant
    )
}

/// Returns the rows of the score sheet: move number, White's ply, Black's ply.
pub(super) fn rows(game: GameRenderer<'_>) -> Vec<(u32, Option<&MoveRecord>, Option<&MoveRecord>)> {
    let mut rows: Vec<(u32, Option<&MoveRecord>, Option<&MoveRecord>)> = Vec::new();
    for entry in &game.game.record.moves {
        let (number, color) = game.numbering.number(entry.ply);
        let black = color.is_black();
        match rows.last_mut().filter(|(last, ..)| *last == number && black) {
            Some((.., slot)) => *slot = Some(entry),
            None if black => rows.push((number, None, Some(entry))),
            None => rows.push((number, Some(entry), None)),
        }
    }
    rows
}
