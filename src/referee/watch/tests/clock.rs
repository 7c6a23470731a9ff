//! The clock's times against the time that has passed (2023: 6.10).

use super::*;
use crate::laws::Edition;
use shakmaty::Color;

/// A game of 90 minutes and 30 seconds a move, each taking 25 seconds, on a clock that gives `increment` seconds; the
/// board is away for two minutes after the move of that number.
fn plays(increment: u64, gap_after: Option<usize>) -> Vec<String> {
    let mut table = Table::new(Edition::Fide2023);
    table.referee.regulations.time_control = "90+30".parse().ok();
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    let mut left = ByColor::new_with(|_| 5400_u64);
    reads(&mut table, left.white, left.black, Some(Color::White));
    for (nth, name) in MOVES.split(' ').enumerate() {
        let color = if nth.is_multiple_of(2) {
            Color::White
        } else {
            Color::Black
        };
        // The move itself takes one of the seconds.
        table.passes(24);
        left[color] -= 24;
        reads(&mut table, left.white, left.black, Some(color));
        table.makes(name).settles();
        left[color] = left[color] - 1 + increment;
        reads(&mut table, left.white, left.black, Some(!color));
        table.completes(table.last(), Completion::Press);
        if gap_after == Some(nth) {
            table.finds(Finding::Away);
            table.passes(120);
        }
    }
    let rulings = table.referee.take_rulings();
    rulings.iter().filter_map(|ruling| short(&ruling.event)).collect()
}

/// What is reported of the clock: how, and how many moves of each lack their increments.
fn short(event: &EventKind) -> Option<String> {
    let (how, incident) = match event {
        EventKind::IncidentOpened(incident) => ("opened", incident),
        EventKind::IncidentUpdated(incident) => ("updated", incident),
        _ => return None,
    };
    let values = &incident.evidence.values;
    let moves = |name: &str| values.get(name).and_then(serde_json::Value::as_u64);
    let case = incident.case.strip_prefix("clock_inconsistent.")?;
    let (white, black) = (moves("white_moves")?, moves("black_moves")?);
    Some(format!("{how} {case} {white} {black}"))
}

/// Increments are not missed at the first check, but at the second in a row; there is one incident all through the game.
#[test]
fn a_clock_without_increments_is_told_once() {
    let all = plays(0, None);
    assert_eq!(
        all.first().map(String::as_str),
        Some("opened increments_missing 1 1")
    );
    assert_eq!(
        all.last().map(String::as_str),
        Some("updated increments_missing 11 11")
    );
    let opened = all.iter().filter(|reports| reports.starts_with("opened")).count();
    assert_eq!(opened, 1, "{all:?}");
}

#[test]
fn a_right_clock_is_never_doubted() {
    assert_eq!(plays(30, None), [""; 0]);
}

/// What passed while the board was away is not known: neither a right clock nor a wrong one is judged by it.
#[test]
fn nothing_is_reckoned_over_a_gap() {
    for increment in [0, 30] {
        assert_eq!(plays(increment, Some(0)), [""; 0], "{increment}");
    }
}
