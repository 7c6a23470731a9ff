//! Checks of the clock's times against the elapsed time (2023: 6.10).

use super::*;
use crate::laws::Edition;
use shakmaty::Color;

/// Plays a game of 90 minutes and 30 seconds a move, with 25 seconds for each move, on a clock that adds `increment`
/// seconds. The board is disconnected for two minutes after the ply with index `gap_after`.
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
        // The move itself takes one second.
        table.passes(24);
        left[color] -= 24;
        reads(&mut table, left.white, left.black, Some(color));
        table.makes(name).settles();
        left[color] = left[color] - 1 + increment;
        reads(&mut table, left.white, left.black, Some(!color));
        table.completes(table.last(), CompletedBy::Press);
        if gap_after == Some(nth) {
            table.finds(Finding::Away);
            table.passes(120);
        }
    }
    let events = table.referee.take_events();
    events
        .iter()
        .filter_map(|explained| short(&explained.event.kind))
        .collect()
}

/// Short form of a report about the clock: its case, and the number of moves of each player without their increments.
fn short(event: &EventKind) -> Option<String> {
    let (verb, incident) = match event {
        EventKind::IncidentOpened(incident) => ("opened", incident),
        EventKind::IncidentUpdated(incident) => ("updated", incident),
        _ => return None,
    };
    let values = &incident.evidence.values;
    let moves = |name: &str| values.get(name).and_then(serde_json::Value::as_u64);
    let case = incident.case.strip_prefix("clock_inconsistent.")?;
    let (white, black) = (moves("white_moves")?, moves("black_moves")?);
    Some(format!("{verb} {case} {white} {black}"))
}

/// Missing increments are reported at the second failed check in a row. One incident covers the whole game.
#[test]
fn a_clock_without_increments_is_reported_once() {
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
fn a_right_clock_is_not_reported() {
    assert_eq!(plays(30, None), [""; 0]);
}

/// Time that passes while the board is disconnected is unknown, so the check stops, whether the clock is right or
/// wrong.
#[test]
fn a_gap_stops_the_check_of_the_clock() {
    for increment in [0, 30] {
        assert_eq!(plays(increment, Some(0)), [""; 0], "{increment}");
    }
}

/// A kind of clock.
struct Clockwork {
    control: &'static str,
    /// Time that the clock takes off for a move, by its duration, in seconds.
    takes: fn(u64) -> u64,
    /// Time of the next period in seconds, and whether the clock adds it with the last move of the period rather than at
    /// zero.
    next: Option<(u64, bool)>,
}

/// Plays a game in which the nth ply takes `thinks(n)` seconds. Returns the reports about the clock with the missing
/// time.
fn reported(clock: &Clockwork, thinks: fn(usize) -> u64) -> Vec<String> {
    let mut table = Table::new(Edition::Fide2023);
    let control: crate::laws::TimeControl = clock.control.parse().expect("a time control");
    let mut left = ByColor::new_with(|_| control.credited_ms(1) / 1000);
    let reached = control.required(0).unwrap_or(u32::MAX);
    table.referee.regulations.time_control = Some(control);
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    reads(&mut table, left.white, left.black, Some(Color::White));
    let mut given = ByColor::new_with(|_| false);
    for (nth, name) in MOVES.split(' ').enumerate() {
        let color = if nth.is_multiple_of(2) {
            Color::White
        } else {
            Color::Black
        };
        let (took, taken) = (thinks(nth), (clock.takes)(thinks(nth)));
        table.passes(took - 1);
        let completed = u32::try_from(nth / 2 + 1).expect("a number");
        let runs_out = taken > left[color];
        if let Some((seconds, with_the_move)) = clock.next
            && !given[color]
            && (runs_out || with_the_move && completed == reached)
        {
            given[color] = true;
            left[color] += seconds;
        }
        left[color] -= taken;
        table.makes(name).settles();
        reads(&mut table, left.white, left.black, Some(!color));
        table.completes_after(table.last(), took);
    }
    let events = table.referee.take_events();
    let lacks = events.iter().filter_map(|explained| match &explained.event.kind {
        EventKind::IncidentOpened(incident) => {
            let case = incident.case.strip_prefix("clock_inconsistent.")?;
            let amount = incident.evidence.values.get("amount")?.as_str()?;
            Some(format!("{case} {amount}"))
        }
        _ => None,
    });
    lacks.collect()
}

/// 6.3.1 and 6.10 of 2023: the time of the second period comes with the fourth move, or when the first period is used
/// up. Both are right; five minutes too few are wrong.
#[test]
fn the_second_period_is_taken_into_account() {
    let clock = |next, with_the_move| Clockwork {
        control: "8 min/4 + 20 min",
        takes: |took| took,
        next: Some((next, with_the_move)),
    };
    for with_the_move in [true, false] {
        assert_eq!(
            reported(&clock(1200, with_the_move), |_| 115),
            [""; 0],
            "{with_the_move}"
        );
        let wrong = reported(&clock(900, with_the_move), |_| 115);
        assert_eq!(wrong, ["too_little 0:10:00"], "{with_the_move}");
    }
}

/// 6.3.2 and 6.10 of 2023: with a delay of 30 seconds, moves of 10 seconds cost nothing, and moves of 50 cost 20. A
/// clock without the delay, or with a larger one, is reported.
#[test]
fn a_delay_is_taken_into_account_move_by_move() {
    let clock = |takes| Clockwork {
        control: "30 min, delay 30 s",
        takes,
        next: None,
    };
    let thinks = |nth: usize| if nth % 4 < 2 { 10 } else { 50 };
    assert_eq!(reported(&clock(|took| took.saturating_sub(30)), thinks), [""; 0]);
    let without = reported(&clock(|took| took), thinks);
    assert_eq!(without.len(), 1, "{without:?}");
    assert!(without[0].starts_with("too_little"), "{without:?}");
    let with_more = reported(&clock(|took| took.saturating_sub(40)), thinks);
    assert!(with_more[0].starts_with("too_much"), "{with_more:?}");
}

/// 6.10: a press without a move may have added an increment, and a clock that did so is right.
#[test]
fn a_press_without_a_move_is_not_a_fault_of_the_clock() {
    let mut table = Table::new(Edition::Fide2023);
    table.referee.regulations.time_control = "90+30".parse().ok();
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    let side = |color: Color| color.fold_wb(Side::Left, Side::Right);
    let mut left = ByColor::new_with(|_| 5400_u64);
    reads(&mut table, left.white, left.black, Some(Color::White));
    // White presses, and Black presses back.
    for color in Color::ALL {
        table.passes(5);
        left[color] = left[color] - 5 + 30;
        reads(&mut table, left.white, left.black, Some(!color));
        table.finds(Finding::Clock(ClockChange::Pressed(side(color))));
    }
    for (nth, name) in MOVES.split(' ').enumerate() {
        let color = if nth.is_multiple_of(2) {
            Color::White
        } else {
            Color::Black
        };
        table.passes(24);
        table.makes(name).settles();
        left[color] = left[color] - 25 + 30;
        reads(&mut table, left.white, left.black, Some(!color));
        table.completes(table.last(), CompletedBy::Press);
        table.finds(Finding::Clock(ClockChange::Pressed(side(color))));
    }
    assert_eq!(reports(&mut table, "clock_inconsistent"), [""; 0]);
}
