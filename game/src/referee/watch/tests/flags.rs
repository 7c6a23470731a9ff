//! Flags of finished periods, and flags that lose the game.

use super::*;
use crate::laws::{Edition, Mode};

/// 90 minutes for four moves and then 30 minutes. The second period is the last one.
const TWO_PERIODS: &str = "90 min/4 + 30 min";

/// Lets the clock report `seconds` for `player`, who is to move, and ten minutes for the opponent.
fn thinks(table: &mut Table, player: Color, seconds: u64, flags: &[Color]) {
    let mut times = ByColor::new_with(|_| 600);
    times[player] = seconds;
    reads_flags(table, times.white, times.black, Some(player), flags);
    table.passes(1);
}

/// DGT 3000 and 2500: the flag of a finished period is shown for five minutes beside the time of the next period. It is
/// reported once, as the end of that period. The flag at the end of the last period loses the game.
#[test]
fn the_flag_of_a_finished_period_does_not_lose() {
    for player in Color::ALL {
        for (moves, expected) in [(4, vec!["moves_made", "-passed"]), (3, vec!["fallen"])] {
            let mut table = timed(Some(TWO_PERIODS), moves);
            thinks(&mut table, player, 1, &[]);
            for second in 0..300 {
                thinks(&mut table, player, 1800 - second, &[player]);
            }
            for second in 300..1800 {
                thinks(&mut table, player, 1800 - second, &[]);
            }
            assert_eq!(reports(&mut table, "flag_fall"), expected, "{player} {moves}");
            thinks(&mut table, player, 0, &[player]);
            assert_eq!(reports(&mut table, "flag_fall"), ["fallen"], "{player} {moves}");
        }
    }
}

/// The clock does not report the number of periods. Without a time control, a flag beside remaining time is that of a
/// period.
#[test]
fn the_flag_of_a_period_is_reported_once_without_a_time_control() {
    let mut table = timed(None, 4);
    thinks(&mut table, Color::White, 1, &[]);
    for second in 0..300 {
        thinks(&mut table, Color::White, 1800 - second, &[Color::White]);
    }
    assert_eq!(reports(&mut table, "flag_fall"), ["fallen", "-passed"]);
}

/// Some clocks show zero for a second, with or without a flag, before they add the time of the next period. A jump of
/// the time is believed only at its second reading.
#[test]
fn zero_before_the_next_period_does_not_lose() {
    for control in [Some(TWO_PERIODS), None] {
        for flags in [&[][..], &[Color::Black]] {
            let mut table = timed(control, 4);
            thinks(&mut table, Color::Black, 1, &[]);
            thinks(&mut table, Color::Black, 0, flags);
            table.passes(2);
            assert_eq!(reports(&mut table, "flag_fall"), [""; 0], "{control:?} {flags:?}");
            thinks(&mut table, Color::Black, 1798, flags);
            thinks(&mut table, Color::Black, 1797, flags);
            let case = if control.is_some() { "moves_made" } else { "fallen" };
            assert_eq!(
                reports(&mut table, "flag_fall"),
                [case, "-passed"],
                "{control:?} {flags:?}"
            );
        }
    }
}

/// Clock readings around zero were lost. The time that ran in between shows that the period is over.
#[test]
fn a_period_that_ended_between_two_readings_is_over() {
    let mut table = timed(Some(TWO_PERIODS), 3);
    reads(&mut table, 3, 600, Some(Color::White));
    table.passes(5);
    reads(&mut table, 1798, 2400, Some(Color::White));
    assert_eq!(reports(&mut table, "flag_fall"), ["fallen"]);
}

/// The clock gives both players the time when one of them has used up theirs. The other player's period does not end by
/// that.
#[test]
fn the_opponents_period_does_not_end() {
    let mut table = timed(Some(TWO_PERIODS), 4);
    reads(&mut table, 1, 1, Some(Color::White));
    reads(&mut table, 1800, 1801, Some(Color::White));
    let opened: Vec<Option<Color>> = table
        .referee
        .take_events()
        .into_iter()
        .filter_map(|explained| match explained.event.kind {
            EventKind::IncidentOpened(incident) if incident.kind.as_str() == "flag_fall" => {
                Some(incident.color)
            }
            _ => None,
        })
        .collect();
    assert_eq!(opened, [Some(Color::White)]);
}

/// The clock was disconnected when the period ended. Its flag shows the end.
#[test]
fn a_period_that_ended_unseen_is_reported_by_its_flag() {
    let mut table = timed(Some(TWO_PERIODS), 4);
    thinks(&mut table, Color::White, 100, &[]);
    table.finds(Finding::Clock(ClockChange::Disconnected)).passes(120);
    thinks(&mut table, Color::White, 1780, &[Color::White]);
    table.finds(Finding::Clock(ClockChange::Connected));
    table.finds(Finding::Clock(ClockChange::Started));
    thinks(&mut table, Color::White, 1779, &[Color::White]);
    assert_eq!(reports(&mut table, "flag_fall"), ["moves_made", "-passed"]);
}

/// The clock was set to the first period only. The player has not lost, and the clock must be set.
#[test]
fn a_clock_without_the_next_period_is_reported() {
    let mut table = timed(Some(TWO_PERIODS), 4);
    thinks(&mut table, Color::White, 1, &[]);
    reads_flags(&mut table, 0, 600, None, &[Color::White]);
    table.finds(Finding::Clock(ClockChange::Stopped)).passes(4);
    assert_eq!(reports(&mut table, "flag_fall"), ["next_period_missing"]);
    // The arbiter sets the clock, and play continues.
    reads(&mut table, 1800, 2400, None);
    table.finds(Finding::Clock(ClockChange::Started));
    thinks(&mut table, Color::White, 1799, &[]);
    assert_eq!(reports(&mut table, "flag_fall"), ["-passed"]);
}

/// A clock stops itself at zero in the last period.
#[test]
fn a_clock_that_stops_itself_in_the_last_period_is_down_at_once() {
    let mut table = timed(Some("90+30"), 2);
    thinks(&mut table, Color::White, 1, &[]);
    reads_flags(&mut table, 0, 600, None, &[Color::White]);
    assert_eq!(reports(&mut table, "flag_fall"), ["fallen"]);
}

/// After kings put in the centre by mistake, or a restart, play continues in the same period with its flag still shown.
#[test]
fn the_flag_of_a_finished_period_survives_an_end_and_a_restart() {
    let mut table = timed(Some(TWO_PERIODS), 4);
    let mut incidents = Incidents::default();
    thinks(&mut table, Color::White, 1, &[]);
    thinks(&mut table, Color::White, 1800, &[Color::White]);
    journaled(&mut table, &mut incidents);
    let mut times = crate::referee::watch::times::Times::default();
    core::mem::swap(&mut table.referee.watch.times, &mut times);
    table.referee.resume_incidents(&incidents);
    table.referee.watch.times.resume_game();
    thinks(&mut table, Color::White, 1799, &[Color::White]);
    assert_eq!(reports(&mut table, "flag_fall"), [""; 0], "restart");
    thinks(&mut table, Color::White, 0, &[Color::White]);
    assert_eq!(reports(&mut table, "flag_fall"), ["fallen"], "restart");

    let mut table = timed(Some(TWO_PERIODS), 4);
    thinks(&mut table, Color::White, 1, &[]);
    thinks(&mut table, Color::White, 1800, &[Color::White]);
    assert_eq!(reports(&mut table, "flag_fall"), ["moves_made", "-passed"]);
    table.shows(crate::referee::tests::table::WHITE_WINS);
    table.plays("d4");
    thinks(&mut table, Color::White, 1799, &[Color::White]);
    assert_eq!(reports(&mut table, "flag_fall"), [""; 0], "play goes on");
}

/// Each of the two flags names a different loser. When both are down, only one incident is open. When one player gets
/// the time of the next period, the incident is about the other player again.
#[test]
fn both_flags_leave_one_incident_open() {
    let open = |table: &Table| {
        let open = table.referee.open_incidents();
        let flags = open.filter(|incident| incident.kind.as_str().contains("flag"));
        flags
            .map(|incident| (incident.kind.as_str(), incident.color))
            .collect::<Vec<_>>()
    };
    let mut table = timed(Some("90+30"), 2);
    reads(&mut table, 0, 5, Some(Color::White));
    assert_eq!(open(&table), [("flag_fall", Some(Color::White))]);
    reads(&mut table, 0, 0, Some(Color::Black));
    assert_eq!(open(&table), [("two_flags", None)]);
    assert_eq!(
        reports(&mut table, "flag_fall"),
        ["fallen", "fallen", "-superseded", "-superseded"]
    );
    reads(&mut table, 300, 0, Some(Color::Black));
    assert_eq!(open(&table), [("flag_fall", Some(Color::Black))]);
    reads(&mut table, 300, 300, Some(Color::Black));
    assert_eq!(open(&table), []);
}

#[test]
fn both_flags_are_reported_once_over_a_restart() {
    let mut table = timed(Some("90+30"), 2);
    let mut incidents = Incidents::default();
    reads(&mut table, 0, 5, Some(Color::White));
    reads(&mut table, 0, 0, Some(Color::Black));
    journaled(&mut table, &mut incidents);
    let mut times = crate::referee::watch::times::Times::default();
    core::mem::swap(&mut table.referee.watch.times, &mut times);
    table.referee.resume_incidents(&incidents);
    table.referee.watch.times.resume_game();
    reads(&mut table, 0, 0, Some(Color::Black));
    assert_eq!(reports(&mut table, "flag_fall"), [""; 0]);
    assert_eq!(reports(&mut table, "two_flags"), [""; 0]);
}

/// Art. 8.4: the report about one player is replaced when it applies to both, and changes when the next period adds
/// time.
#[test]
fn time_trouble_is_one_incident() {
    let mut table = timed(Some(TWO_PERIODS), 4);
    reads(&mut table, 299, 600, Some(Color::White));
    reads(&mut table, 299, 299, Some(Color::Black));
    assert_eq!(
        reports(&mut table, "time_trouble"),
        ["one", "-superseded", "both"]
    );
    reads(&mut table, 1, 299, Some(Color::White));
    reads(&mut table, 1800, 2099, Some(Color::White));
    assert_eq!(
        reports(&mut table, "time_trouble"),
        ["-superseded", "one", "-passed"]
    );
}

/// Arbiters' manual of 2018 on Art. 3.4: a last move that broke Article 3 or 4 does not win on time.
#[test]
fn an_illegal_last_move_does_not_win_on_time() {
    for (edition, mode, supervised, after, plain) in [
        (Edition::Fide2023, Mode::Standard, true, "after_offence", "fallen"),
        (Edition::Fide2023, Mode::Blitz, false, "after_offence", "fallen"),
        (
            Edition::Fide1997,
            Mode::Rapid,
            false,
            "silent_after_offence",
            "silent",
        ),
    ] {
        let mut table = Table::of(STANDARD, rules(edition, mode, supervised));
        table.referee.regulations.time_control = "10 min".parse().ok();
        table.finds(Finding::Clock(ClockChange::Connected));
        table.finds(Finding::Clock(ClockChange::Started));
        reads(&mut table, 600, 600, Some(Color::White));
        table.plays("e4 e5 Nf3");
        table.makes("a7a4").settles();
        table.completes(table.last(), CompletedBy::Press);
        thinks(&mut table, Color::White, 0, &[Color::White]);
        assert_eq!(reports(&mut table, "flag_fall"), [after], "{edition} {mode:?}");
        // After a decision on the illegal move, the flag counts.
        let number = number_of(&table, "illegal_move");
        let decided = format!(r#""do":"close_incident","incident":{number}"#);
        assert_eq!(table.command(&decided), "");
        thinks(&mut table, Color::White, 0, &[Color::White]);
        assert_eq!(reports(&mut table, "flag_fall"), [plain], "{edition} {mode:?}");
    }
}

/// An earlier illegal move followed by legal ones changes nothing, nor does one of the player whose flag is down.
#[test]
fn an_illegal_move_that_was_not_the_opponents_last_changes_nothing() {
    for illegal in [Color::White, Color::Black] {
        let mut table = timed(Some("10 min"), 2);
        if illegal.is_black() {
            table.plays("c3");
        }
        table.makes(illegal.fold_wb("h1h4", "h8h5")).settles();
        table.completes(table.last(), CompletedBy::Press);
        if illegal.is_black() {
            table.plays("d3 d6");
        }
        let turn = Color::White;
        thinks(&mut table, turn, 0, &[turn]);
        let fallen = reports(&mut table, "flag_fall");
        assert_eq!(fallen, ["fallen"], "{illegal}");
    }
}
