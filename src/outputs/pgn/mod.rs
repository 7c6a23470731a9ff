//! Writes a game as PGN in export format: tags, SAN with the clock after each move, lines of at most 79 characters.
//!
//! The moves end at the first irregular ply, because readers could not follow it or the plies after it. The rest of the
//! game follows in a comment, in UCI.
//!
//! The output suits strict readers: chess.js accepts at most one comment after a move, no quotation mark in a tag's
//! value, and only the results of the standard.

mod main_line;
mod tags;

use core::fmt::Write;
use std::borrow::Cow;

use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::events::{EndReason, GameResult, Players};
use kiebitz_game::position::Variant;
use kiebitz_hardware::Timestamp;
use shakmaty::Color;
use shakmaty::fen::Fen;

use crate::clock::{self, ClockView};
use main_line::MainLine;
use tags::Heading;

/// Writes a game with the mover's clock (`%clk`) and, if known, the time taken (`%emt`) for each move.
///
/// Unknown tags of the Seven Tag Roster are "?". The result of a game in progress is `*`.
#[must_use]
pub fn pgn(record: &GameRecord) -> String {
    write(record, Comments::ClockAndElapsed)
}

/// Writes a game for spectators: moves and clocks, without the time taken.
#[must_use]
pub fn public_pgn(record: &GameRecord) -> String {
    write(record, Comments::Clock)
}

/// Facts about a game of a round that its record does not have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRound<'b> {
    /// Round and table.
    pub(crate) place: (u32, u32),
    /// Id that stays the same before, during and after the game.
    pub(crate) id: &'b str,
    /// Name of the event, used if the record has none.
    pub(crate) event: Option<&'b str>,
    /// Site of the event, used if the record has none.
    pub(crate) site: Option<&'b str>,
    /// Display of the clock, and its time as published to the readers. Ignored before the first and after the last
    /// move.
    pub(crate) clock: Option<(ClockView, Timestamp)>,
}

/// A game without moves: not yet played, or decided without play.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unplayed<'u> {
    pub(crate) players: &'u Players,
    pub(crate) result: GameResult,
    /// Reason for the result; ignored if the result is unknown.
    pub(crate) reason: EndReason,
    /// Day of the game, as in "2026-11-23".
    pub(crate) date: Option<&'u str>,
    /// Time control in PGN notation.
    pub(crate) time_control: Option<&'u str>,
    /// Start position that was drawn for the game, in Chess960.
    pub(crate) start_fen: Option<&'u str>,
}

/// Writes a game of a round for broadcasters.
pub(crate) fn broadcast_pgn(record: &GameRecord, known: OfRound<'_>) -> String {
    let line = MainLine::of(record);
    let of_game = Heading::of(record, line.has_start);
    let heading = Heading {
        event: of_game.event.or(known.event),
        site: of_game.site.or(known.site),
        place: (Some(known.place.0), Some(known.place.1)),
        id: Some(known.id),
        clock: known
            .clock
            .filter(|_| record.ended.is_none() && !record.moves.is_empty()),
        ..of_game
    };
    with_moves(&heading, record, line, Comments::ClockAndElapsed)
}

/// Writes a game of a round in which no move was played.
pub(crate) fn unplayed_pgn(game: Unplayed<'_>, known: OfRound<'_>) -> String {
    let heading = Heading {
        event: known.event,
        site: known.site,
        date: game.date.map(str::to_owned),
        place: (Some(known.place.0), Some(known.place.1)),
        players: Some(game.players),
        result: game.result,
        reason: (game.result != GameResult::Unknown).then_some(game.reason),
        board: None,
        started: None,
        time_control: game.time_control,
        variant: game.start_fen.map(|_| Variant::Chess960),
        start_fen: game.start_fen,
        id: Some(known.id),
        clock: None,
    };
    format!("{}\n{}\n", heading.text(), result(game.result))
}

/// The moves that every reader can play: those before the first irregular one.
pub(crate) fn regular_moves(record: &GameRecord) -> &[MoveRecord] {
    record.moves.get(..MainLine::of(record).moves).unwrap_or_default()
}

/// Contents of the comment after each move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comments {
    Clock,
    ClockAndElapsed,
}

fn write(record: &GameRecord, comments: Comments) -> String {
    let line = MainLine::of(record);
    with_moves(&Heading::of(record, line.has_start), record, line, comments)
}

fn with_moves(heading: &Heading<'_>, record: &GameRecord, line: MainLine, comments: Comments) -> String {
    let mut pgn = heading.text();
    pgn.push('\n');
    let mut lines = WrappedText::default();
    movetext(record, line, comments, &mut lines);
    lines.word(result(record.result));
    pgn.push_str(&lines.finish());
    pgn
}

fn movetext(record: &GameRecord, line: MainLine, comments: Comments, lines: &mut WrappedText) {
    let (regular, rest) = record.moves.split_at(line.moves.min(record.moves.len()));
    let mut last = irregular_text(record, line, rest);
    let mut leading: Vec<String> = result_comment(record)
        .iter()
        .flat_map(|explained| explained.split(' '))
        .map(str::to_owned)
        .collect();
    if regular.is_empty() {
        leading.append(&mut last);
    }
    lines.comment(&leading);
    let (mut number, mut turn) = first_turn(&record.start_fen);
    let mut number_due = true;
    for (at, entry) in (1..).zip(regular) {
        if turn == Color::White {
            lines.word(&format!("{number}."));
        } else if number_due {
            lines.word(&format!("{number}..."));
        }
        lines.word(entry.san.as_deref().unwrap_or_default());
        let mut comment: Vec<String> = clock_comment(entry, comments).into_iter().collect();
        if at == regular.len() {
            comment.append(&mut last);
        }
        // A comment before Black's move requires the move number again.
        number_due = !comment.is_empty();
        lines.comment(&comment);
        if turn == Color::Black {
            number += 1;
        }
        turn = !turn;
    }
}

/// Words of the comment with the parts that cannot be among the moves: an illegal start position, and the moves from
/// the first irregular one on.
fn irregular_text(record: &GameRecord, line: MainLine, rest: &[MoveRecord]) -> Vec<String> {
    let mut text = String::new();
    if !line.has_start {
        let _ = write!(text, "Irregular start FEN {} ; ", record.start_fen);
    }
    if !rest.is_empty() {
        let moves = rest.iter().map(|entry| entry.uci.as_deref().unwrap_or(UNKNOWN));
        let moves: Vec<&str> = moves.collect();
        let _ = write!(
            text,
            "Irregular from here on; in UCI: {} ; FEN {} ",
            moves.join(" "),
            record.fen
        );
    }
    text.split_whitespace()
        .map(|word| word.replace(['{', '}'], ""))
        .collect()
}

/// Comment with the mover's clock after the move. It counts as a single word, so that no line break replaces the space
/// that the patterns of many readers expect in it.
fn clock_comment(entry: &MoveRecord, comments: Comments) -> Option<String> {
    let mut text = String::new();
    if let Some(shown) = entry.clock {
        let left_ms = shown.times_ms()[entry.color];
        let _ = write!(text, "[%clk {}]", clock::shown(left_ms));
    }
    if let (Comments::ClockAndElapsed, Some(elapsed_ms)) = (comments, entry.elapsed_ms) {
        let _ = write!(text, "[%emt {}]", clock::taken(elapsed_ms));
    }
    (!text.is_empty()).then_some(text)
}

/// Number of the first move, and the side that makes it.
fn first_turn(start_fen: &str) -> (u32, Color) {
    start_fen.parse::<Fen>().map_or((1, Color::White), |fen| {
        let setup = fen.into_setup();
        (setup.fullmoves.get(), setup.turn)
    })
}

/// Move number of a ply. Plies count from 1.
pub(crate) fn move_number(start_fen: &str, ply: u32) -> u32 {
    let (first, turn) = first_turn(start_fen);
    let before = ply.saturating_sub(1).saturating_add(u32::from(turn.is_black()));
    first.saturating_add(before / 2)
}

/// Result in PGN; `*` if both players lose, or if one loses and the other draws, which PGN cannot express.
pub(crate) const fn result(result: GameResult) -> &'static str {
    match result {
        GameResult::BothLose | GameResult::HalfForWhite | GameResult::HalfForBlack => {
            GameResult::Unknown.as_str()
        }
        result => result.as_str(),
    }
}

/// Writes a result that PGN cannot express into the tag `Result` of a game, for readers that accept it there. The
/// movetext still ends with `*`, because `0-0` among the moves is castling.
pub(crate) fn with_penalty(pgn: &str, result: GameResult) -> Cow<'_, str> {
    if !result.is_penalty() {
        return pgn.into();
    }
    // The value of a tag has no quotation marks, so the first match is the tag.
    pgn.replacen(
        &format!("[Result \"{}\"]", GameResult::Unknown),
        &format!("[Result \"{result}\"]"),
        1,
    )
    .into()
}

/// Comment with the result in words, before the moves, if PGN cannot express it.
fn result_comment(record: &GameRecord) -> Option<String> {
    let of_result = match record.result {
        GameResult::BothLose => "both players lose",
        GameResult::HalfForWhite => "Black loses, and White gets half a point",
        GameResult::HalfForBlack => "White loses, and Black gets half a point",
        GameResult::WhiteWins | GameResult::BlackWins if record.reason == Some(EndReason::Default) => {
            "by default"
        }
        GameResult::WhiteWins | GameResult::BlackWins | GameResult::Draw | GameResult::Unknown => {
            return None;
        }
    };
    Some(format!("{}: {of_result}", record.result))
}

#[derive(Default)]
struct WrappedText {
    text: String,
    width: usize,
}

impl WrappedText {
    fn word(&mut self, word: &str) {
        let width = word.chars().count();
        if self.width > 0 {
            let breaks = self.width + 1 + width > WIDTH;
            self.text.push(if breaks { '\n' } else { ' ' });
            self.width = if breaks { 0 } else { self.width + 1 };
        }
        self.text.push_str(word);
        self.width += width;
    }

    /// Appends a comment, if there are words.
    fn comment(&mut self, words: &[String]) {
        let last = words.len().saturating_sub(1);
        for (at, word) in words.iter().enumerate() {
            let open = if at == 0 { "{" } else { "" };
            let close = if at == last { "}" } else { "" };
            self.word(&format!("{open}{word}{close}"));
        }
    }

    fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }
}

/// Maximum line length of the export format, in characters.
const WIDTH: usize = 79;
const UNKNOWN: &str = "?";
/// Standard start position.
pub(crate) const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[cfg(test)]
mod tests;
