//! A game as PGN, export format: tags, SAN with the clock after every move, lines of at most 79 characters.
//!
//! Where a game has an irregular ply, moves end there: no reader could follow it. What was played from there on
//! stands in a comment as UCI, so that nothing is lost.

use core::fmt::Write;

use shakmaty::Color;
use shakmaty::fen::Fen;

use crate::events::record::{GameRecord, MoveRecord};
use crate::events::{EndReason, GameResult, time_text};
use crate::laws::TimeControl;
use crate::tracker::Variant;

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
    let mut pgn = tags(record);
    pgn.push('\n');
    let mut lines = Lines::default();
    if let Some(result) = explained(record) {
        lines.words(&format!("{{{result}}}"));
    }
    movetext(record, comments, &mut lines);
    lines.word(result(record.result));
    pgn.push_str(&lines.finish());
    pgn
}

fn tags(record: &GameRecord) -> String {
    let name = |of: Option<&String>| of.cloned().unwrap_or_else(|| UNKNOWN.to_owned());
    let players = record.players.as_ref();
    let mut tags = vec![
        ("Event", name(record.event.as_ref())),
        ("Site", name(record.site.as_ref())),
        ("Date", date(record)),
        ("Round", UNKNOWN.to_owned()),
        ("White", name(players.and_then(|players| players.white.as_ref()))),
        ("Black", name(players.and_then(|players| players.black.as_ref()))),
        ("Result", result(record.result).to_owned()),
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
    if record.start_fen != STANDARD {
        tags.push(("SetUp", "1".to_owned()));
        tags.push(("FEN", record.start_fen.clone()));
    }
    tags.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "[{name} \"{}\"]", quoted(value));
        text
    })
}

fn movetext(record: &GameRecord, comments: Comments, lines: &mut Lines) {
    let (mut number, mut turn) = first_turn(&record.start_fen);
    let regular = record
        .moves
        .iter()
        .take_while(|entry| entry.legal && entry.san.is_some())
        .take_while(|entry| !is_set_before(record, entry))
        .count();
    let mut number_due = true;
    for entry in &record.moves[..regular] {
        if turn == Color::White {
            lines.word(&format!("{number}."));
        } else if number_due {
            lines.word(&format!("{number}..."));
        }
        lines.word(entry.san.as_deref().unwrap_or_default());
        let comment = comment(entry, comments);
        // After a comment Black's move needs its number again.
        number_due = comment.is_some();
        if let Some(comment) = comment {
            lines.word(&comment);
        }
        if turn == Color::Black {
            number += 1;
        }
        turn = !turn;
    }
    let rest = &record.moves[regular..];
    if !rest.is_empty() {
        lines.word("{Irregular");
        lines.words("from here on; in UCI:");
        for entry in rest {
            lines.word(entry.uci.as_deref().unwrap_or(UNKNOWN));
        }
        lines.words(&format!("; FEN {}}}", record.fen.replace(['{', '}'], "")));
    }
}

/// Whether the arbiter set another position before this ply.
fn is_set_before(record: &GameRecord, entry: &MoveRecord) -> bool {
    record.positions.iter().any(|set| set.ply + 1 == entry.ply)
}

/// The mover's clock after their move. One word, never broken over two lines: many readers look for it with a
/// pattern that has a space in it.
fn comment(entry: &MoveRecord, comments: Comments) -> Option<String> {
    let mut text = String::new();
    if let Some(clock) = entry.clock {
        let left_ms = if entry.color == Color::White {
            clock.white_ms
        } else {
            clock.black_ms
        };
        let _ = write!(text, "[%clk {}]", hours(left_ms));
    }
    if let (Comments::ClockAndElapsed, Some(elapsed_ms)) = (comments, entry.elapsed_ms) {
        let _ = write!(text, "[%emt {}]", hours(elapsed_ms));
    }
    (!text.is_empty()).then(|| format!("{{{text}}}"))
}

/// The number of the first move and who makes it.
fn first_turn(start_fen: &str) -> (u32, Color) {
    start_fen.parse::<Fen>().map_or((1, Color::White), |fen| {
        let setup = fen.into_setup();
        (setup.fullmoves.get(), setup.turn)
    })
}

/// H:MM:SS; a part of a second that is left is not shown, as on the clock.
fn hours(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
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

/// A tag's value: quotes and backslashes escaped, line breaks and other control characters left out.
fn quoted(value: &str) -> String {
    value
        .chars()
        .filter(|c| !c.is_control())
        .fold(String::new(), |mut text, c| {
            if matches!(c, '"' | '\\') {
                text.push('\\');
            }
            text.push(c);
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

    fn words(&mut self, words: &str) {
        words.split(' ').for_each(|word| self.word(word));
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
