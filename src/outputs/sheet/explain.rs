//! Explains a move: the observations behind it, the reason for publishing it, and the rejected alternatives.

use core::fmt::Write;

use kiebitz_game::events::{
    Caution, EventKind, Evidence, ExplainedEvent, Grounds, Move, Ply, Rival, SensorChange, SettledBy,
};
use shakmaty::{Piece, Role};

use super::words::{LocalTime, played};
use crate::outputs::shared::numbering::Numbering;

/// Explanation of a move that was published, corrected or withdrawn, or of a closed gap; `None` for other events.
pub(super) fn explain(explained: &ExplainedEvent, numbering: Numbering, local: &LocalTime) -> Option<String> {
    let event = &explained.event;
    let time = local.time_exactly(event.ts);
    match &event.kind {
        EventKind::MoveMade(entry) => {
            let heading = heading(&name(entry, numbering), &time, explained.ply.as_deref(), "");
            Some(heading + &observations_text(explained.ply.as_deref(), numbering, local))
        }
        EventKind::MoveAmended {
            played: entry,
            replaces,
            reason,
        } => {
            let replaced = format!(", instead of {} ({reason})", played(None, replaces.as_deref()));
            let heading = heading(
                &name(entry, numbering),
                &time,
                explained.ply.as_deref(),
                &replaced,
            );
            Some(heading + &observations_text(explained.ply.as_deref(), numbering, local))
        }
        EventKind::MoveRetracted { ply, reason } => Some(format!(
            "  {time}  withdrawn from {} on ({reason}{})\n",
            numbering.name(*ply, "").trim_end(),
            odds(explained.odds, "; ", " against it")
        )),
        EventKind::MoveSettled { ply, by } => Some(format!(
            "      {time}  {} is certain: {}{}\n",
            numbering.name(*ply, "").trim_end(),
            settled(*by),
            odds(explained.odds, ", ", " for it")
        )),
        EventKind::BoardRecovered { by, from, .. } => Some(format!(
            "  {time}  the gap since {} is closed: {by}\n",
            local.time_exactly(*from)
        )),
        _ => None,
    }
}

/// Log-odds, as in "; log-odds 10.5 against it"; empty if they are unknown.
fn odds(hundredths: Option<i64>, before: &str, after: &str) -> String {
    hundredths.map_or_else(String::new, |odds| {
        format!("{before}log-odds {:.1}{after}", odds as f64 / 100.0)
    })
}

const fn settled(by: SettledBy) -> &'static str {
    match by {
        SettledBy::Press => "the mover has pressed the clock",
        SettledBy::Reply => "the opponent has replied",
        SettledBy::Shape => "the piece came to rest, and no other move can follow from there",
        SettledBy::Arbiter => "the arbiter has entered it",
    }
}

fn heading(name: &str, time: &str, ply: Option<&Ply>, replaced: &str) -> String {
    let grounds = ply.and_then(|ply| Some((ply.evidence.grounds?, ply.color)));
    let decided = match grounds {
        Some((Grounds::Press, color)) => format!(": {} pressed the clock", color.fold_wb("White", "Black")),
        Some((Grounds::Reply, color)) => format!(": {} began to reply", color.fold_wb("Black", "White")),
        Some((Grounds::Stood(rest, caution), _)) => {
            format!(
                ": the piece had stood for {:.2} s, {}",
                rest.as_secs_f64(),
                reason_of_rest(caution)
            )
        }
        Some((Grounds::OnlyLine, _)) => {
            ": no other sequence of moves leads to the position on the board".to_owned()
        }
        None => String::new(),
    };
    format!("  {name:<14}published {time}{decided}{replaced}\n")
}

/// Reason why the piece had stood for long enough.
fn reason_of_rest(caution: Caution) -> &'static str {
    match caution {
        Caution::NothingFollows => "and no other move could follow",
        Caution::MayGoBack => "longer than a piece that is put back",
        Caution::MayGoOn => "longer than a piece that pauses and moves on",
        Caution::MayBeDrawn => "longer than a piece that is dragged over the squares",
        Caution::MayCastle => "longer than castling takes",
    }
}

fn observations_text(ply: Option<&Ply>, numbering: Numbering, local: &LocalTime) -> String {
    let mut text = String::new();
    let Some(ply) = ply else { return text };
    let Evidence {
        changes,
        differs,
        others,
        ..
    } = &ply.evidence;
    for change in changes {
        let _ = writeln!(
            text,
            "      {}  {}",
            local.time_exactly(change.when.at),
            observed(change)
        );
    }
    if changes.is_empty() {
        text.push_str("      no change of a square was reported\n");
    }
    if !differs.is_empty() {
        let squares: Vec<String> = differs.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "      still different when published: {}",
            squares.join(", ")
        );
    }
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|rival| rival_text(rival, numbering)).collect();
        let _ = writeln!(text, "      other readings: {}", others.join("; "));
    }
    text
}

fn observed(change: &SensorChange) -> String {
    match change.after {
        Some(piece) => format!("{}  {}", change.square, piece_name(piece)),
        None => format!("{}  empty", change.square),
    }
}

/// A rejected line of play with its costs, the most important first.
fn rival_text(rival: &Rival, numbering: Numbering) -> String {
    let name = match &rival.name {
        Some(name) => numbering.name(rival.ply, name),
        None => "no move yet".to_owned(),
    };
    let count = |count: usize, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {more}"),
    };
    let mut costs = vec![
        odds(Some(rival.against), "", " against it"),
        count(rival.differs, "square differs", "squares differ"),
    ];
    if rival.withdraws > 0 {
        costs.push(count(rival.withdraws, "move withdrawn", "moves withdrawn"));
    }
    if rival.name.is_some() {
        costs.push(format!("stood {:.2} s", rival.stood.as_secs_f64()));
    }
    format!("{name} ({})", costs.join(", "))
}

fn name(entry: &Move, numbering: Numbering) -> String {
    numbering.name(entry.ply, &played(entry.san.as_deref(), entry.uci.as_deref()))
}

/// Name of a piece, as in "white pawn".
pub(crate) fn piece_name(piece: Piece) -> String {
    let role = match piece.role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    };
    format!("{} {role}", piece.color.fold_wb("white", "black"))
}
