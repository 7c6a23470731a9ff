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
        table.completes(table.last(), CompletedBy::Press);
        if gap_after == Some(nth) {
            table.finds(Finding::Away);
            table.passes(120);
        }
    }
    let events = table.referee.take_events();
    events.iter().filter_map(|said| short(&said.event.kind)).collect()
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

/// A clock, and how it is told to count.
struct Clockwork {
    control: &'static str,
    /// What it takes off for a move of so many seconds.
    takes: fn(u64) -> u64,
    /// The time of the next period, in seconds, and whether it comes with the move that reaches it, else at zero.
    next: Option<(u64, bool)>,
}

/// A game in which the nth ply takes `thinks(n)` seconds: what is reported of the clock, with the seconds that it lacks.
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
        // The move itself takes one of the seconds.
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
    let lacks = events.iter().filter_map(|said| match &said.event.kind {
        EventKind::IncidentOpened(incident) => {
            let case = incident.case.strip_prefix("clock_inconsistent.")?;
            let amount = incident.evidence.values.get("amount")?.as_str()?;
            Some(format!("{case} {amount}"))
        }
        _ => None,
    });
    lacks.collect()
}

/// 6.3.1 and 6.10 of 2023: the time of the second period comes with the fourth move, or when the first is used up. Both
/// are right; five minutes too few are not.
#[test]
fn the_second_period_is_reckoned_with() {
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

/// 6.3.2 and 6.10 of 2023: a delay of 30 seconds costs nothing for moves of 10 seconds, and takes 20 off those of 50. A
/// clock that has no delay, or gives the 30 seconds like an increment, is told.
#[test]
fn a_delay_is_reckoned_move_by_move() {
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

/// 6.10: a press without a move may have brought an increment, and a clock that gave it is right.
#[test]
fn a_press_without_a_move_is_no_fault_of_the_clock() {
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
