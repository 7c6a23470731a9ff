//! A game as PGN, export format: tags, SAN with the clock after every move, lines of at most 79 characters.
//!
//! Where a game has an irregular ply, moves end there: no reader could follow it, nor what is legal only after it. What
//! was played from there on stands in a comment as UCI, so that nothing is lost.
//!
//! Readers differ in what they take. chess.js takes one comment after a move and no more, no quotation mark in a tag's
//! value, and results only that the standard has.

mod main_line;
mod tags;

use core::fmt::Write;

use kiebitz_game::events::record::{GameRecord, MoveRecord};
use kiebitz_game::events::{EndReason, GameResult, Players};
use kiebitz_game::position::Variant;
use kiebitz_hardware::Timestamp;
use shakmaty::Color;
use shakmaty::fen::Fen;

use crate::clock::{self, ClockView};
use main_line::MainLine;
use tags::Heading;

/// The game as PGN, with every mover's clock (`%clk`) and, where known, the time they took (`%emt`).
///
/// What is not known of the Seven Tag Roster is "?". The result of a game that is being played is `*`.
#[must_use]
pub fn pgn(record: &GameRecord) -> String {
    write(record, Comments::ClockAndElapsed)
}

/// The game as PGN for spectators: moves and clocks, and nothing else about how they came about.
#[must_use]
pub fn public_pgn(record: &GameRecord) -> String {
    write(record, Comments::Clock)
}

/// What is known of a game of a round beside its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OfRound<'b> {
    /// The round and the table.
    pub(crate) place: (u32, u32),
    /// What the game is called from before its first move until long after its last.
    pub(crate) id: &'b str,
    /// The event's name, where the game does not have it.
    pub(crate) event: Option<&'b str>,
    /// Where it takes place.
    pub(crate) site: Option<&'b str>,
    /// What the clock shows, and when it did for those who read this; while the game is played.
    pub(crate) clock: Option<(ClockView, Timestamp)>,
}

/// A game that is to be played, or that was decided without being played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unplayed<'u> {
    /// Who was to play it.
    pub(crate) players: &'u Players,
    /// How it was decided.
    pub(crate) result: GameResult,
    /// Why, if it was decided.
    pub(crate) reason: EndReason,
    /// Its day, as in "2026-11-23".
    pub(crate) date: Option<&'u str>,
    /// As PGN has it.
    pub(crate) time_control: Option<&'u str>,
    /// The position that was drawn for it, in Chess960.
    pub(crate) start_fen: Option<&'u str>,
}

/// A game of a round, for whoever broadcasts it.
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

/// A game of a round of which no move was played.
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

/// The moves that every reader can play: not an irregular one, nor what comes after it.
pub(crate) fn regular_moves(record: &GameRecord) -> &[MoveRecord] {
    record.moves.get(..MainLine::of(record).moves).unwrap_or_default()
}

/// What follows each move.
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
    let mut last = rest_of(record, line, rest);
    let mut leading: Vec<String> = explained(record)
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
        let mut comment: Vec<String> = clocks(entry, comments).into_iter().collect();
        if at == regular.len() {
            comment.append(&mut last);
        }
        // After a comment Black's move needs its number again.
        number_due = !comment.is_empty();
        lines.comment(&comment);
        if turn == Color::Black {
            number += 1;
        }
        turn = !turn;
    }
}

/// What cannot stand among the moves, word by word: play that no reader can follow, and a start that is none.
fn rest_of(record: &GameRecord, line: MainLine, rest: &[MoveRecord]) -> Vec<String> {
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

/// The mover's clock after their move. One word, never broken over two lines: many readers look for it with a
/// pattern that has a space in it.
fn clocks(entry: &MoveRecord, comments: Comments) -> Option<String> {
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

/// The number of the first move and who makes it.
fn first_turn(start_fen: &str) -> (u32, Color) {
    start_fen.parse::<Fen>().map_or((1, Color::White), |fen| {
        let setup = fen.into_setup();
        (setup.fullmoves.get(), setup.turn)
    })
}

/// The number that a ply, counted from 1, has in a score sheet.
pub(crate) fn move_number(start_fen: &str, ply: u32) -> u32 {
    let (first, turn) = first_turn(start_fen);
    let before = ply.saturating_sub(1).saturating_add(u32::from(turn.is_black()));
    first.saturating_add(before / 2)
}

/// The result as PGN can say it: it has no word for a game that both lose, or that one loses and the other draws.
pub(crate) const fn result(result: GameResult) -> &'static str {
    match result {
        GameResult::BothLose | GameResult::HalfForWhite | GameResult::HalfForBlack => {
            GameResult::Unknown.as_str()
        }
        result => result.as_str(),
    }
}

/// What PGN cannot say of the result: a comment before the moves, where no other stands.
fn explained(record: &GameRecord) -> Option<String> {
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

/// Words filled into lines.
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

    /// All in one pair of braces; nothing where there are no words.
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

/// The longest line of the export format, in characters.
const WIDTH: usize = 79;
const UNKNOWN: &str = "?";
/// The usual start position.
pub(crate) const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[cfg(test)]
mod tests;
