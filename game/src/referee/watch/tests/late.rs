//! Games that do not begin with their round (2023: 6.6, 6.7).

use super::*;
use crate::laws::{DefaultTime, Edition, Rounds, Severity};
use core::time::Duration;
use kiebitz_hardware::Timestamp;
use shakmaty::Color;

const KIND: &str = "late_start";
/// Seconds from the set-up of the test tables to the start of their round.
const ROUND: u64 = 600;

/// Time `seconds` after the current time of the table.
fn at(table: &Table, seconds: u64) -> Timestamp {
    table.now + Duration::from_secs(seconds)
}

/// A board with pieces and clock ready for a round in ten minutes.
fn ready(edition: Edition, default_time: Option<&str>) -> Table {
    let mut table = Table::new(edition);
    let rounds = [at(&table, ROUND), at(&table, 4 * 3600)];
    table.referee.regulations.rounds = Rounds::planned(rounds);
    table.referee.regulations.default_time = default_time.map(|text| text.parse().expect("a time"));
    stands_ready(&mut table);
    table
}

/// Lets the board report the start position and a stopped clock.
fn stands_ready(table: &mut Table) {
    shows(table, &Board::new());
    table.finds(Finding::Clock(ClockChange::Connected));
}

fn starts_clock(table: &mut Table) {
    table.finds(Finding::Clock(ClockChange::Started));
    reads(table, 600, 600, Some(Color::White));
}

fn late(table: &mut Table) -> Vec<String> {
    reports(table, KIND)
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_stopped_clock_is_reported_two_minutes_after_the_round_began() {
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    table.passes(ROUND + 119);
    assert_eq!(late(&mut table), NOTHING);
    table.passes(1);
    assert_eq!(late(&mut table), ["not_running"]);
    starts_clock(&mut table);
    assert_eq!(late(&mut table), ["-passed"]);
    table.passes(60).plays("e4").passes(60);
    table.plays("e5").passes(3600).plays("Nf3 Nc6");
    assert_eq!(late(&mut table), NOTHING);
}

#[test]
fn a_clock_started_in_time_is_not_reported() {
    for begins in [ROUND - 300, ROUND, ROUND + 100] {
        let mut table = ready(Edition::Fide2023, Some("30 min"));
        table.passes(begins);
        starts_clock(&mut table);
        table.passes(10).plays("e4 e5").passes(1800).plays("Nf3 Nc6");
        assert_eq!(late(&mut table), NOTHING, "{begins}");
    }
}

/// Default time by edition: an hour in 1997; none in 2009 and since 2017, unless the rules of the event specify one;
/// 2014 requires them to.
#[test]
fn default_time_is_that_of_the_event_or_of_the_edition() {
    let first = |edition, default_time, minutes: u64| {
        let mut table = ready(edition, default_time);
        table.passes(ROUND + minutes * 60);
        late(&mut table)
    };
    for edition in Edition::ALL {
        assert_eq!(first(*edition, Some("15 min"), 14), ["not_running"], "{edition}");
        assert_eq!(
            first(*edition, Some("15 min"), 15),
            ["not_running", "default_time"],
            "{edition}"
        );
        assert_eq!(first(*edition, Some("0 min"), 2), ["default_time"], "{edition}");
    }
    for edition in [
        Edition::Fide2009,
        Edition::Fide2017,
        Edition::Fide2018,
        Edition::Fide2023,
    ] {
        assert_eq!(first(edition, None, 1), NOTHING, "{edition}");
        assert_eq!(first(edition, None, 2), ["default_time"], "{edition}");
    }
    assert_eq!(first(Edition::Fide1997, None, 59), ["not_running"]);
    assert_eq!(
        first(Edition::Fide1997, None, 60),
        ["not_running", "default_time"]
    );
    assert_eq!(first(Edition::Fide2014, None, 59), ["not_running"]);
    // An hour after the start of the round, the board is given up.
    assert_eq!(first(Edition::Fide2014, None, 60), ["not_running", "-passed"]);
}

/// 1997: 6.6; 2009: 6.6a; 2014: 6.7; 2018 and 2023: 6.6, 6.7.1 and, if neither player is there, 6.7.2.
#[test]
fn a_late_start_cites_the_articles_of_its_edition() {
    let articles = |edition: Edition| {
        let mut table = ready(edition, Some("30 min"));
        table.passes(ROUND + 1800);
        let events = table.referee.take_events();
        let incident = |event: &EventKind| match event {
            EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident) => {
                assert_eq!(incident.edition, edition);
                Some((incident.severity, incident.article.clone()))
            }
            _ => None,
        };
        let found = events
            .iter()
            .filter_map(|explained| incident(&explained.event.kind));
        found.collect::<Vec<(Severity, String)>>()
    };
    for (edition, stands, passed) in [
        (Edition::Fide1997, "6.5, 6.6", None),
        (Edition::Fide2009, "6.5, 6.6a, 6.6b", Some("6.6a, 6.6b")),
        (Edition::Fide2014, "6.6, 6.7", Some("6.7")),
        (Edition::Fide2017, "6.6, 6.7.1, 6.7.2", Some("6.7.1, 6.7.2")),
        (Edition::Fide2018, "6.6, 6.7.1, 6.7.2", Some("6.7.1, 6.7.2")),
        (Edition::Fide2023, "6.6, 6.7.1, 6.7.2", Some("6.7.1, 6.7.2")),
    ] {
        let passed = passed.unwrap_or("6.6");
        let expected = [
            (Severity::Hint, stands.to_owned()),
            (Severity::Advice, passed.to_owned()),
        ];
        assert_eq!(articles(edition), expected, "{edition}");
    }
}

/// First White's clock runs without a move, then Black's. A player who is still within thinking time is not reported.
#[test]
fn a_first_move_missing_after_the_default_time_is_reported() {
    let mut table = ready(Edition::Fide2023, Some("15 min"));
    table.passes(ROUND);
    starts_clock(&mut table);
    table.passes(15 * 60 - 1);
    assert_eq!(late(&mut table), NOTHING);
    table.passes(1);
    let events = table.referee.take_events();
    let [opened] = events.as_slice() else {
        panic!("one incident: {events:?}")
    };
    let EventKind::IncidentOpened(incident) = &opened.event.kind else {
        panic!("an incident: {opened:?}")
    };
    assert_eq!(incident.case, "late_start.no_first_move");
    assert_eq!((incident.color, incident.ply), (Some(Color::White), Some(1)));
    assert_eq!(
        (incident.severity, incident.article.as_str()),
        (Severity::Hint, "6.7.1")
    );
    assert!(opened.event.game.is_some());
    table.plays("e4");
    assert_eq!(late(&mut table), ["-passed"]);
    // Black's clock runs from now on.
    table.passes(298);
    assert_eq!(late(&mut table), NOTHING);
    table.passes(2);
    assert_eq!(late(&mut table), ["no_first_move"]);
    let number = number_of(&table, KIND);
    assert_eq!(
        table.referee.watch.book.decidable(number).and_then(|i| i.color),
        Some(Color::Black)
    );
    table.plays("e5");
    assert_eq!(late(&mut table), ["-passed"]);
    table.passes(1800).plays("Nf3");
    assert_eq!(late(&mut table), NOTHING);
}

/// With a default time of zero, a player at the board is not reported for thinking.
#[test]
fn a_player_may_think_five_minutes_about_the_first_move() {
    let mut table = ready(Edition::Fide2023, None);
    table.passes(ROUND + 30);
    starts_clock(&mut table);
    table.passes(290).plays("d4").passes(290);
    table.plays("d5").passes(900).plays("c4");
    assert_eq!(late(&mut table), NOTHING);
}

#[test]
fn a_game_ended_before_its_first_move_closes_the_incident() {
    let mut table = ready(Edition::Fide2023, Some("15 min"));
    table.passes(ROUND);
    starts_clock(&mut table);
    table.passes(900);
    assert_eq!(late(&mut table), ["no_first_move"]);
    assert_eq!(
        table.command(r#""do":"set_result","result":"0-1","reason":"default""#),
        ""
    );
    table.passes(60);
    assert_eq!(late(&mut table), ["-game_over"]);
}

#[test]
fn an_unused_board_is_given_up_an_hour_after_the_default_time() {
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    table.passes(ROUND + 90 * 60 - 1);
    assert_eq!(late(&mut table), ["not_running", "default_time"]);
    table.passes(1);
    assert_eq!(late(&mut table), ["-passed"]);
    table.passes(3600);
    assert_eq!(late(&mut table), NOTHING);
}

/// No pieces, pieces in the middle of a game, pieces put away, no clock, no round, or a disconnected board: no game is
/// expected.
#[test]
fn a_board_that_is_not_ready_for_a_game_is_not_reported() {
    let all = |prepare: &dyn Fn(&mut Table)| {
        let mut table = ready(Edition::Fide2023, Some("30 min"));
        prepare(&mut table);
        table.passes(2 * 3600);
        late(&mut table)
    };
    assert_eq!(all(&|_| {}), ["not_running", "default_time", "-passed"]);
    assert_eq!(all(&|table| shows(table, &Board::empty())), NOTHING);
    let middle = state("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    assert_eq!(
        all(&|table| {
            table.set_up(middle.clone());
            shows(table, middle.board());
        }),
        NOTHING
    );
    assert_eq!(
        all(&|table| {
            table.finds(Finding::Clock(ClockChange::Disconnected));
        }),
        NOTHING
    );
    assert_eq!(
        all(&|table| {
            table.finds(Finding::Away);
        }),
        NOTHING
    );
    assert_eq!(
        all(&|table| table.referee.regulations.rounds = Rounds::default()),
        NOTHING
    );
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    table.passes(ROUND + 200);
    assert_eq!(late(&mut table), ["not_running"]);
    shows(&mut table, &Board::empty());
    assert_eq!(late(&mut table), ["-passed"]);
    table.passes(3600);
    assert_eq!(late(&mut table), NOTHING);
}

/// A game from a position set by the arbiter begins like any other.
#[test]
fn a_game_from_a_given_position_may_start_late() {
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    assert_eq!(table.command(&format!(r#""do":"new_game","fen":"{fen}""#)), "");
    shows(&mut table, state(fen).board());
    table.passes(ROUND + 200);
    assert_eq!(late(&mut table), ["not_running"]);
}

/// Pieces set up restarted after a game of this round are not a late start. After a game of the previous round, they are.
#[test]
fn a_game_belongs_to_one_round() {
    for (begins, reports) in [(ROUND + 30, &[][..]), (ROUND - 590, &[]), (0, &["not_running"])] {
        let mut table = Table::new(Edition::Fide2023);
        let round = at(&table, 3600 + ROUND);
        table.referee.regulations.rounds = Rounds::planned([round]);
        table.referee.regulations.default_time = "1 h".parse().ok();
        stands_ready(&mut table);
        let begins = if begins == 0 { 0 } else { 3600 + begins };
        table.passes(begins);
        starts_clock(&mut table);
        table.plays("e4 e5");
        let passed = begins + 2;
        table.passes(3600 + ROUND + 240 - passed);
        table.finds(Finding::Clock(ClockChange::Stopped));
        table.shows(crate::referee::tests::table::WHITE_WINS);
        table.set_up(state(STANDARD));
        shows(&mut table, &Board::new());
        table.passes(1200);
        assert_eq!(late(&mut table), reports, "{begins}");
    }
}

#[test]
fn the_arbiter_sets_the_start_of_the_round() {
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    table.passes(ROUND + 150);
    assert_eq!(late(&mut table), ["not_running"]);
    let begins = crate::events::time_text(at(&table, 600));
    assert_eq!(
        table.command(&format!(r#""do":"start_round","begins":"{begins}""#)),
        ""
    );
    assert_eq!(late(&mut table), ["-passed"]);
    table.passes(718);
    assert_eq!(late(&mut table), NOTHING);
    table.passes(1);
    assert_eq!(late(&mut table), ["not_running"]);
    table.passes(28 * 60);
    assert_eq!(late(&mut table), ["default_time"]);
    // Another round begins now. A start more than a day away is a typing mistake.
    let begins = crate::events::time_text(at(&table, 25 * 3600));
    assert_eq!(
        table.command(&format!(r#""do":"start_round","begins":"{begins}""#)),
        format!("the start of a round must be within a day from now; {begins} is not")
    );
    assert_eq!(table.command(r#""do":"start_round""#), "");
    assert_eq!(late(&mut table), ["-passed"]);
    table.passes(120);
    assert_eq!(late(&mut table), ["not_running"]);
}

#[test]
fn a_round_without_a_schedule_can_be_started() {
    let mut table = Table::new(Edition::Fide2023);
    table.referee.regulations.default_time = "30 min".parse().ok();
    stands_ready(&mut table);
    assert_eq!(table.command(r#""do":"start_round""#), "");
    table.passes(120);
    assert_eq!(late(&mut table), ["not_running"]);
}

#[test]
fn a_closed_late_start_stays_closed_for_its_round() {
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    table.passes(ROUND + 150);
    let number = number_of(&table, KIND);
    assert_eq!(
        table.command(&format!(
            r#""do":"close_incident","incident":{number},"decision":"no game here""#
        )),
        ""
    );
    assert_eq!(late(&mut table), ["not_running", "-decided"]);
    table.passes(7200);
    assert_eq!(late(&mut table), NOTHING);
    // The next round has an incident of its own.
    table.passes(4 * 3600 - 7200 - 150 - ROUND + 200);
    assert_eq!(late(&mut table), ["not_running"]);
}

/// After a restart, a reported incident is not reported restarted and continues; a closed one stays closed.
#[test]
fn a_late_start_continues_after_a_restart() {
    for closed in [false, true] {
        let mut table = ready(Edition::Fide2023, Some("30 min"));
        let regulations = table.referee.regulations.clone();
        table.passes(ROUND + 150);
        if closed {
            let number = number_of(&table, KIND);
            table.command(&format!(r#""do":"close_incident","incident":{number}"#));
        }
        let mut incidents = Incidents::default();
        journaled(&mut table, &mut incidents);
        assert_eq!(incidents.open().count(), usize::from(!closed));

        let now = at(&table, 20);
        let mut restarted = Table::new(Edition::Fide2023);
        restarted.referee.take_events();
        restarted.referee = crate::referee::Referee::new("board-1", regulations);
        restarted.referee.resume_incidents(&incidents);
        restarted.now = now;
        restarted.set_up(state(STANDARD));
        stands_ready(&mut restarted);
        restarted.passes(600);
        assert_eq!(late(&mut restarted), NOTHING, "{closed}");
        restarted.passes(1200);
        let expected: &[&str] = if closed { &[] } else { &["default_time"] };
        assert_eq!(late(&mut restarted), expected, "{closed}");
        starts_clock(&mut restarted);
        let expected: &[&str] = if closed { &[] } else { &["-passed"] };
        assert_eq!(late(&mut restarted), expected, "{closed}");
    }
}

/// After a start in the middle of a round, a stopped clock is reported, but not a default time whose end was not
/// observed.
#[test]
fn a_default_time_that_passed_unobserved_is_not_reported() {
    let mut table = Table::new(Edition::Fide2023);
    let round = table.now.saturating_sub(Duration::from_secs(2400));
    table.referee.regulations.rounds = Rounds::planned([round]);
    table.referee.regulations.default_time = "30 min".parse().ok();
    stands_ready(&mut table);
    table.passes(119);
    assert_eq!(late(&mut table), NOTHING);
    table.passes(600);
    assert_eq!(late(&mut table), ["not_running"]);
}

#[test]
fn the_default_time_is_reported_in_minutes() {
    let mut table = ready(Edition::Fide2023, Some("30 min"));
    table.passes(ROUND + 1800);
    let events = table.referee.take_events();
    let EventKind::IncidentUpdated(incident) = &events.last().expect("an update").event.kind else {
        panic!("an update: {events:?}")
    };
    assert_eq!((incident.color, incident.ply), (None, Some(0)));
    let values = &incident.evidence.values;
    assert_eq!((&values["minutes"], &values["allowed"]), (&json!(30), &json!(30)));
    assert_eq!(DefaultTime::minutes("30 min".parse().expect("a time")), 30);
    assert!(
        incident.advice.contains("The round began 30 minutes ago"),
        "{}",
        incident.advice
    );
    assert!(
        incident
            .advice
            .contains("more than 30 minutes after the beginning of the round loses"),
        "{}",
        incident.advice
    );
}
