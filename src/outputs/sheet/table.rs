//! The moves in two columns, as on a score sheet.

use std::io::{self, Write};

use super::{GameSheet, words};
use crate::clock;
use crate::outputs::shared::numbering::Numbering;
use kiebitz_game::events::record::{GameRecord, MoveRecord};
use shakmaty::Color;

/// Writes the moves, with the mover's clock after each and the time taken.
pub(super) fn write(out: &mut impl Write, game: &GameSheet) -> io::Result<()> {
    let record = &game.record;
    if record.moves.is_empty() {
        return writeln!(out, "  No moves.");
    }
    let has_clocks = record.moves.iter().any(|entry| entry.clock.is_some());
    let rest = if has_clocks { CLOCK_HEADING } else { "" };
    let white = format!("{:<PLAYED$}{rest}", "White");
    writeln!(
        out,
        "{}",
        format!("       {white}   {:<PLAYED$}{rest}", "Black").trim_end()
    )?;
    let mut moves = record.moves.iter().peekable();
    while let Some(entry) = moves.next() {
        let (number, color) = game.numbering.number(entry.ply);
        let (white, black) = if color.is_black() {
            (blank(has_clocks), Some(entry))
        } else {
            (
                cell(entry, has_clocks),
                moves.next_if(|next| next.ply == entry.ply + 1),
            )
        };
        let black = black.map(|entry| cell(entry, has_clocks)).unwrap_or_default();
        writeln!(out, "{}", format!("{number:>4}.  {white}   {black}").trim_end())?;
    }
    if record.moves.iter().any(|entry| entry.inferred) {
        writeln!(
            out,
            "\n  ~ not observed: reconstructed from the positions before and after"
        )?;
    }
    if record.moves.iter().any(|entry| !entry.legal) {
        writeln!(out, "\n  [ ] irregular")?;
    }
    Ok(())
}

/// The moves without has_clocks, one line for each move number.
pub(super) fn rows(record: &GameRecord) -> Vec<String> {
    let numbering = Numbering::of(&record.start_fen);
    let mut rows: Vec<String> = Vec::new();
    for entry in &record.moves {
        let (number, color) = numbering.number(entry.ply);
        let black = color.is_black();
        let played = words::played(entry.san.as_deref(), entry.uci.as_deref());
        match rows.last_mut().filter(|_| black) {
            Some(row) => row.push_str(&played),
            None if black => rows.push(format!("{number:>3}. {:<PLAYED$}{played}", "...")),
            None => rows.push(format!("{number:>3}. {played:<PLAYED$}")),
        }
    }
    rows
}

fn cell(entry: &MoveRecord, has_clocks: bool) -> String {
    let mark = if entry.inferred { "~" } else { "" };
    let played = format!(
        "{}{mark}",
        words::played(entry.san.as_deref(), entry.uci.as_deref())
    );
    if !has_clocks {
        return format!("{played:<PLAYED$}");
    }
    let left = entry.clock.map(|clock| {
        if entry.color == Color::White {
            clock.white_ms
        } else {
            clock.black_ms
        }
    });
    let left = left.map(clock::shown).unwrap_or_default();
    let took = entry.elapsed_ms.map(took).unwrap_or_default();
    format!("{played:<PLAYED$}{left:>8}{took:>8}")
}

fn blank(has_clocks: bool) -> String {
    let width = if has_clocks {
        PLAYED + CLOCK_HEADING.len()
    } else {
        PLAYED
    };
    format!("{:<width$}", "...")
}

/// Formats the time taken: whole seconds, or minutes and seconds from a minute on.
fn took(ms: u64) -> String {
    let seconds = clock::taken_seconds(ms);
    if seconds < 60 {
        format!("{seconds} s")
    } else {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}

/// Width of a move, in columns: the longest SAN, such as "Qa1xb2+", and a mark.
const PLAYED: usize = 9;
const CLOCK_HEADING: &str = "   clock    took";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_taken_is_in_minutes_from_a_minute_on() {
        assert_eq!(took(1_499), "1 s");
        assert_eq!(took(59_400), "59 s");
        assert_eq!(took(754_000), "12:34");
    }
}
