//! Tests of the watchers, by way of the referee's test table.

mod arbiter;
mod board;
mod clock;
mod flags;
mod late;
mod lost;

use core::time::Duration;

use serde_json::json;
use shakmaty::{Board, ByColor, CastlingMode, Color};

use crate::clock::{Clock, ClockChange, Flag, Side};
use crate::events::incidents::Incidents;
use crate::events::{CompletedBy, EventKind, ExplainedEvent, SensorChange, Since};
use crate::laws::{Edition, Mode};
use crate::position::{State, Variant, difference};
use crate::referee::tests::table::{STANDARD, Table, rules};
use crate::tracker::{Finding, Snapshot, Start};

/// Start position with the king and queen of Black on each other's squares.
const SWAPPED: &str = "rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";
/// Eleven moves of each player.
const MOVES: &str = "a3 a6 b3 b6 c3 c6 d3 d6 e3 e6 f3 f6 g3 g6 h3 h6 a4 a5 b4 b5 c4 c5";

/// The first `moves` moves of each player.
fn first(moves: usize) -> String {
    let names: Vec<&str> = MOVES.split(' ').take(2 * moves).collect();
    names.join(" ")
}

fn state(fen: &str) -> State {
    State::from_fen(fen, CastlingMode::Standard).expect("a FEN")
}

/// Lets the board report this placement.
fn shows(table: &mut Table, board: &Board) {
    let snapshot = Snapshot {
        board: board.clone(),
        changes: Vec::new(),
        watched: true,
        unseen: shakmaty::Bitboard::EMPTY,
        turned: false,
        dumped_at: table.now,
    };
    table.finds(Finding::Squares(Box::new(snapshot)));
}

fn board(placement: &str) -> Board {
    placement.parse().expect("a placement")
}

/// Lets the board report the changes from `before` to `after`.
fn changes(table: &mut Table, before: &Board, after: &Board) {
    let changes = difference(before, after).into_iter().map(|square| SensorChange {
        before: before.piece_at(square),
        when: Since::at(table.now),
        square,
        after: after.piece_at(square),
    });
    let snapshot = Snapshot {
        board: after.clone(),
        changes: changes.collect(),
        watched: true,
        unseen: shakmaty::Bitboard::EMPTY,
        turned: false,
        dumped_at: table.now.saturating_sub(Duration::from_secs(1)),
    };
    table.finds(Finding::Squares(Box::new(snapshot)));
}

/// The events since the last call about incidents of a kind: "void 1" for a case and a number of moves or an offence,
/// "-restored" for a closing.
fn reports(table: &mut Table, kind: &str) -> Vec<String> {
    let events = table.referee.take_events();
    let short = |event: &EventKind| match event {
        EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident)
            if incident.kind.as_str() == kind =>
        {
            let case = incident.case.rsplit('.').next().unwrap_or_default();
            let values = &incident.evidence.values;
            let number = values.get("moves").or_else(|| values.get("offence"));
            let number = number.and_then(serde_json::Value::as_u64);
            Some(number.map_or_else(|| case.to_owned(), |number| format!("{case} {number}")))
        }
        EventKind::IncidentClosed {
            kind: closed,
            reason,
            counts,
            ..
        } if closed.as_str() == kind => Some(match counts {
            Some(counts) => format!("-{reason} counts {counts}"),
            None => format!("-{reason}"),
        }),
        _ => None,
    };
    events
        .iter()
        .filter_map(|explained| short(&explained.event.kind))
        .collect()
}

/// Applies all events to the incidents, as the journal does.
fn journaled(table: &mut Table, incidents: &mut Incidents) {
    for event in table.journaled() {
        incidents.apply(&event);
    }
}

/// Number of the last opened incident of a kind.
fn number_of(table: &Table, kind: &str) -> u64 {
    let kind = kind.parse().expect("a kind of incident");
    let all = table.referee.watch.book.open_of(&[kind]);
    *all.last().expect("an open incident")
}

fn swapped_table(mode: Mode, supervised: bool) -> Table {
    let mut table = Table::of(STANDARD, rules(Edition::Fide2023, mode, supervised));
    shows(&mut table, state(SWAPPED).board());
    table.set_up_as(Variant::WrongStart, state(SWAPPED));
    assert_eq!(reports(&mut table, "wrong_start_position"), ["at_the_start 0"]);
    table
}

/// Art. 7.2.1 of 2023, A.5.1.2: the game is void until both players have completed ten moves, and then goes on. The
/// watcher reports the start of play and the limit, but not every move.
#[test]
fn a_wrong_start_goes_on_after_ten_moves_in_rapid_without_supervision() {
    let mut table = swapped_table(Mode::Rapid, false);
    for (ply, name) in (1..).zip(MOVES.split(' ')) {
        table.plays(name);
        let reports = reports(&mut table, "wrong_start_position");
        match ply {
            2 => assert_eq!(reports, ["void_so_far 1"]),
            20 => assert_eq!(reports, ["goes_on 10"]),
            _ => assert_eq!(reports, [""; 0], "{ply}"),
        }
    }
}

/// Art. 7.2.1: void whenever the wrong position is found during the game.
#[test]
fn a_wrong_start_is_void_for_the_whole_game_under_supervision() {
    let mut table = swapped_table(Mode::Standard, true);
    table.plays(MOVES);
    assert_eq!(reports(&mut table, "wrong_start_position"), ["void 1"]);
    shows(&mut table, &Board::empty());
    table.shows(crate::referee::tests::table::WHITE_WINS);
    table.passes(1);
    assert_eq!(reports(&mut table, "wrong_start_position"), ["-game_over"]);
}

/// After the position is put right, nothing more is reported.
#[test]
fn a_corrected_wrong_start_is_closed() {
    let mut table = swapped_table(Mode::Rapid, false);
    shows(&mut table, &Board::new());
    table.set_up(state(STANDARD));
    assert_eq!(reports(&mut table, "wrong_start_position"), ["-restored"]);
    table.plays(MOVES);
    assert_eq!(reports(&mut table, "wrong_start_position"), [""; 0]);
}

fn turned(table: &mut Table) {
    let start = Start {
        variant: Variant::Standard,
        state: state(STANDARD),
        turned: true,
        goes_on: false,
    };
    table.finds(Finding::Start(start));
}

/// On a board turned by a half, only the coordinates at the edges are wrong. One report, whatever the number of moves.
#[test]
fn a_board_turned_by_a_half_is_reported_once() {
    let mut table = Table::of(STANDARD, rules(Edition::Fide2023, Mode::Blitz, false));
    turned(&mut table);
    table.plays(&first(9)).plays("b4 b5 c4 c5");
    assert_eq!(reports(&mut table, "board_rotated"), ["half"]);
    turned(&mut table);
    assert_eq!(reports(&mut table, "board_rotated"), [""; 0]);
}

/// On a board turned by a quarter, no move can be read. The presses show the number of moves.
#[test]
fn a_board_turned_by_a_quarter_counts_presses() {
    let mut table = Table::of(STANDARD, rules(Edition::Fide2023, Mode::Rapid, false));
    let mut board = Board::new();
    board.rotate_90();
    shows(&mut table, &board);
    table.passes(4);
    assert_eq!(reports(&mut table, "board_rotated"), ["transfer 0"]);
    table.finds(Finding::Clock(ClockChange::Connected));
    for _ in 0..9 {
        table
            .passes(5)
            .finds(Finding::Clock(ClockChange::Pressed(Side::Left)));
        table
            .passes(5)
            .finds(Finding::Clock(ClockChange::Pressed(Side::Right)));
    }
    table.finds(Finding::Clock(ClockChange::Pressed(Side::Left)));
    assert_eq!(reports(&mut table, "board_rotated"), [""; 0]);
    table.finds(Finding::Clock(ClockChange::Pressed(Side::Right)));
    assert_eq!(reports(&mut table, "board_rotated"), ["goes_on 10"]);
}

/// Lets the clock report these times.
fn reads(table: &mut Table, white_s: u64, black_s: u64, running: Option<Color>) {
    reads_flags(table, white_s, black_s, running, &[]);
}

/// Lets the clock report these times with the flags of these players.
fn reads_flags(table: &mut Table, white_s: u64, black_s: u64, running: Option<Color>, flags: &[Color]) {
    let clock = Clock {
        white_ms: white_s * 1000,
        black_ms: black_s * 1000,
        running,
        flag: Flag::of(ByColor::new_with(|color| flags.contains(&color))),
    };
    table.finds(Finding::Times { clock, sure: true });
}

/// A game with a running clock and `moves` moves of each player.
fn timed(control: Option<&str>, moves: usize) -> Table {
    let mut table = Table::new(Edition::Fide2023);
    table.referee.regulations.time_control = control.map(|text| text.parse().expect("a time control"));
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    reads(&mut table, 600, 600, Some(Color::White));
    table.plays(&first(moves));
    table
}

/// Laws part 10, case 21, the arbiter's handbook on Art. 6.3: the clock shows 0:01 and 0:00, and the flag has fallen
/// only when the 30 minutes of the next period appear. The flag matters only if moves are missing.
#[test]
fn a_flag_falls_when_the_time_of_the_next_period_appears() {
    for (moves, case) in [(2, "fallen"), (4, "moves_made")] {
        let mut table = timed(Some("90 min/4 + 30 min"), moves);
        for seconds in [1, 0] {
            reads(&mut table, seconds, 600, Some(Color::White));
            table.passes(1);
            assert_eq!(reports(&mut table, "flag_fall"), [""; 0], "{seconds}");
        }
        reads(&mut table, 1800, 600, Some(Color::White));
        let all = reports(&mut table, "flag_fall");
        let closed = (case == "moves_made").then_some("-passed");
        let expected: Vec<&str> = [case].into_iter().chain(closed).collect();
        assert_eq!(all, expected, "{moves}");
        reads(&mut table, 0, 600, Some(Color::White));
        assert_eq!(reports(&mut table, "flag_fall").len(), 1, "{moves}");
    }
}

/// No further time appears: the clock was set to one period only.
#[test]
fn a_clock_that_stays_at_zero_has_run_out() {
    let mut table = timed(Some("90 min/4 + 30 min"), 2);
    reads(&mut table, 0, 600, Some(Color::White));
    table.passes(3);
    assert_eq!(reports(&mut table, "flag_fall"), [""; 0]);
    table.passes(1);
    assert_eq!(reports(&mut table, "flag_fall"), ["fallen"]);
}

/// 2023, III.3.1: both flags are down and the first one is unknown. In the last period, the game is drawn; in an
/// earlier one, it goes on. Without a time control, the period is unknown. If the clock shows the first flag, that one
/// counts (6.9).
#[test]
fn two_flags_in_one_reading_are_settled_by_the_period() {
    for (control, case) in [
        (None, "by_period"),
        (Some("90+30"), "draw"),
        (Some("90 min/40 + 30 min"), "goes_on"),
    ] {
        let mut table = timed(control, 2);
        reads_flags(&mut table, 0, 0, Some(Color::White), &Color::ALL);
        // The time of a following period might still appear.
        table.passes(4);
        assert_eq!(reports(&mut table, "two_flags"), [case], "{control:?}");
    }
    let mut table = timed(Some("90+30"), 2);
    reads(&mut table, 0, 5, Some(Color::White));
    reads(&mut table, 0, 0, Some(Color::Black));
    assert_eq!(reports(&mut table, "two_flags"), ["first_known"]);
}
