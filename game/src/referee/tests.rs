//! Shared helpers of the referee's tests, and tests of the referee as a whole.

pub(super) mod table;

use shakmaty::{CastlingMode, Color};

use crate::clock::{Clock, ClockChange, Side};
use crate::events::{CompletedBy, EventKind, Recovery};
use crate::laws::{Edition, Mode};
use crate::position::State;
use crate::tracker::Finding;
use table::{STANDARD, Table, rules};

/// Number of moves that were published since the last call.
fn moves_made(table: &mut Table) -> usize {
    let events = table.referee.take_events().into_iter();
    let made = events.filter(|explained| matches!(explained.event.kind, EventKind::MoveMade(_)));
    made.count()
}

#[test]
fn whites_side_of_the_clock_is_published_when_a_press_shows_it() {
    let mut table = Table::new(Edition::Fide2023);
    let sides = |table: &mut Table| {
        let events = table.referee.take_events().into_iter();
        let sides = events.filter_map(|explained| match explained.event.kind {
            EventKind::GameStarted { white_side, .. } => Some((white_side, false)),
            EventKind::ClockSides { white_side } => Some((Some(white_side), explained.event.game.is_some())),
            _ => None,
        });
        sides.collect::<Vec<_>>()
    };
    table.plays("e4");
    assert_eq!(sides(&mut table), [(None, false)]);
    for side in [Side::Left, Side::Left, Side::Right] {
        table.finds(Finding::WhiteSide(side));
    }
    assert_eq!(
        sides(&mut table),
        [(Some(Side::Left), true), (Some(Side::Right), true)]
    );
    // If the side is known before the start, game.started contains it.
    let mut table = Table::new(Edition::Fide2023);
    table.finds(Finding::WhiteSide(Side::Left)).plays("e4");
    assert_eq!(sides(&mut table), [(Some(Side::Left), false)]);
}

/// Moves made while the clock was stopped are published when it runs again. If the board was disconnected in between,
/// its recovery comes first.
#[test]
fn moves_seen_before_a_disconnection_wait_for_the_recovery() {
    let played = |by: Recovery| {
        let mut table = Table::new(Edition::Fide2023);
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started)).plays("e4");
        table.passes(5).finds(Finding::Clock(ClockChange::Stopped));
        table.makes("e5").passes(5).finds(Finding::Away);
        table.passes(5).finds(Finding::Clock(ClockChange::Started));
        let (from, to) = (table.now, table.now);
        let before = moves_made(&mut table);
        table.finds(Finding::Recovered {
            by,
            changes: 0,
            from,
            to,
        });
        (before, moves_made(&mut table))
    };
    assert_eq!(played(Recovery::Inferred), (1, 1));
    assert_eq!(played(Recovery::Undecidable), (1, 0));
}

/// The clock was stopped when the board was last heard. Its memory contains presses of the next game, so the clock was
/// started in between.
#[test]
fn a_press_in_the_memory_shows_that_the_clock_ran() {
    let made = |pressed: bool| {
        let mut table = Table::new(Edition::Fide2023);
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started));
        let start = State::from_fen(STANDARD, CastlingMode::Standard).expect("a FEN");
        table.set_up(start);
        table.passes(5).finds(Finding::Clock(ClockChange::Stopped));
        table.passes(5).finds(Finding::Away).passes(60);
        let (by, from, to) = (Recovery::Memory, table.now, table.now);
        table.finds(Finding::Recovered {
            by,
            changes: 4,
            from,
            to,
        });
        for name in ["e4", "e5"] {
            table.recalls(name);
            if pressed {
                table.completes(table.last(), CompletedBy::Press);
            }
        }
        moves_made(&mut table)
    };
    assert_eq!((made(true), made(false)), (2, 0));
}

/// A dump shows a move, lost during a silence, after the clock has been stopped. The memory contains its press.
#[test]
fn a_pressed_ply_was_made_while_the_clock_ran() {
    let made = |by: CompletedBy| {
        let mut table = Table::new(Edition::Fide2023);
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started)).plays("e4");
        table.passes(5).finds(Finding::Clock(ClockChange::Stopped));
        table.passes(5).makes("e5");
        table.completes(table.last(), by);
        moves_made(&mut table)
    };
    assert_eq!((made(CompletedBy::Press), made(CompletedBy::OwnNextMove)), (2, 1));
}

/// A ply is inferred over a gap, with the times that the clock showed afterwards. Then its press is found in the
/// board's memory.
#[test]
fn better_times_of_a_press_are_published_again() {
    let mut table = Table::new(Edition::Fide2023);
    table.plays("e4").makes("e5");
    let pressed = |white_ms: u64| Finding::Completed {
        ply: 2,
        by: CompletedBy::Press,
        clock: Some(Clock {
            white_ms,
            black_ms: 300_000,
            running: Some(Color::White),
            flag: None,
        }),
        elapsed: None,
    };
    for white_ms in [280_000, 290_000, 290_000] {
        table.finds(pressed(white_ms));
    }
    let events = table.referee.take_events().into_iter();
    let times = events.filter_map(|explained| match explained.event.kind {
        EventKind::MoveCompleted { ply: 2, clock, .. } => clock.map(|clock| clock.white_ms),
        _ => None,
    });
    assert_eq!(times.collect::<Vec<_>>(), [280_000, 290_000]);
}

/// The queen hovers over a square on which she would stalemate and moves on. If the clock was pressed, the game is
/// over.
#[test]
fn a_game_ended_by_the_laws_is_resumed_if_its_last_ply_goes_on() {
    let resumed = |pressed: bool, seconds: u64| {
        let mut table = Table::of(
            "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1",
            rules(Edition::Fide2023, Mode::Rapid, true),
        );
        table.makes("Qf7");
        if pressed {
            table.completes(1, CompletedBy::Press);
        }
        let lifted_at = table.now;
        table.settles().passes(seconds);
        let ended = table.published().join(", ");
        assert!(ended.contains("stalemate"), "{ended}");
        table.goes_on("Qe1", lifted_at);
        let mut events = table.referee.take_events().into_iter();
        events.any(|explained| matches!(explained.event.kind, EventKind::GameResumed { .. }))
    };
    assert!(resumed(false, 2));
    assert!(!resumed(true, 2));
    assert!(!resumed(false, 10));
}
