//! A game as PGN, export format: tags, SAN with the clock after every move, lines of at most 79 characters.
//!
//! Where a game has an irregular ply, moves end there: no reader could follow it, nor what is legal only after it. What
//! was played from there on stands in a comment as UCI, so that nothing is lost.
//!
//! Readers differ in what they take. chess.js takes one comment after a move and no more, no quotation mark in a tag's
//! value, and results only that the standard has.

mod main_line;

use core::fmt::Write;

use shakmaty::Color;
use shakmaty::fen::Fen;

use crate::events::record::{GameRecord, MoveRecord};
use crate::events::{EndReason, GameResult, time_text};
use crate::laws::TimeControl;
use crate::output::clock;
use crate::tournament::number_in;
use crate::tracker::Variant;
use main_line::MainLine;

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

/// What follows each move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comments {
    Clock,
    ClockAndElapsed,
}

fn write(record: &GameRecord, comments: Comments) -> String {
    let line = MainLine::of(record);
    let mut pgn = tags(record, line);
    pgn.push('\n');
    let mut lines = Lines::default();
    movetext(record, line, comments, &mut lines);
    lines.word(result(record.result));
    pgn.push_str(&lines.finish());
    pgn
}

fn tags(record: &GameRecord, line: MainLine) -> String {
    let name = |of: Option<&String>| of.cloned().unwrap_or_else(|| UNKNOWN.to_owned());
    let players = record.players.as_ref();
    let round = record
        .round
        .map_or_else(|| UNKNOWN.to_owned(), |round| round.to_string());
    let mut tags = vec![
        ("Event", name(record.event.as_ref())),
        ("Site", name(record.site.as_ref())),
        ("Date", date(record)),
        ("Round", round),
        ("White", name(players.and_then(|players| players.white.as_ref()))),
        ("Black", name(players.and_then(|players| players.black.as_ref()))),
        ("Result", result(record.result).to_owned()),
        ("Board", board(&record.board).to_owned()),
    ];
    tags.push(("UTCDate", date(record)));
    tags.push(("UTCTime", time(record)));
    if let Some(control) = &record.time_control {
        // What PGN cannot say is unknown to its readers.
        let known = TimeControl::from_pgn(control).is_ok();
        tags.push(("TimeControl", if known { control } else { UNKNOWN }.to_owned()));
    }
    if let Some(termination) = record.reason.map(termination) {
        tags.push(("Termination", termination.to_owned()));
    }
    if matches!(record.variant, Variant::Chess960 | Variant::WrongStart) {
        tags.push(("Variant", "Chess960".to_owned()));
    }
    if line.has_start && record.start_fen != STANDARD {
        tags.push(("SetUp", "1".to_owned()));
        tags.push(("FEN", record.start_fen.clone()));
    }
    tags.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "[{name} \"{}\"]", quoted(value));
        text
    })
}

/// The board's number where its name ends in one, as in "board-7"; else its name.
fn board(name: &str) -> &str {
    number_in(name).unwrap_or(name)
}

fn movetext(record: &GameRecord, line: MainLine, comments: Comments, lines: &mut Lines) {
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

/// The day on which the game was started, UTC.
fn date(record: &GameRecord) -> String {
    let started = time_text(record.started);
    started
        .split('T')
        .next()
        .map_or_else(|| "????.??.??".to_owned(), |day| day.replace('-', "."))
}

fn time(record: &GameRecord) -> String {
    let started = time_text(record.started);
    started.split_once('T').map_or_else(
        || "??:??:??".to_owned(),
        |(_, time)| time.chars().take(8).collect(),
    )
}

/// The result as PGN can say it: it has no word for a game that both lose, or that one loses and the other draws.
const fn result(result: GameResult) -> &'static str {
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

/// The PGN standard's word for what ended the game.
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

/// A tag's value: backslashes escaped, line breaks and other control characters left out. A quotation mark becomes an
/// apostrophe: the standard has an escape for it, but not every reader.
fn quoted(value: &str) -> String {
    value
        .chars()
        .filter(|c| !c.is_control())
        .fold(String::new(), |mut text, c| {
            match c {
                '"' => text.push('\''),
                '\\' => text.push_str("\\\\"),
                c => text.push(c),
            }
            text
        })
}

/// Words filled into lines.
#[derive(Default)]
struct Lines {
    text: String,
    width: usize,
}

impl Lines {
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
const STANDARD: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[cfg(test)]
mod tests;
