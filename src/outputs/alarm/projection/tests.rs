use kiebitz_game::events::samples::{event, started};
use kiebitz_game::events::{ClosedBy, EventKind, IncidentEnd};
use kiebitz_game::position::Variant;

use super::*;
use crate::tournament::EventHall;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Time in seconds after the first event.
fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(1_789_000_000_000_000) + Duration::from_secs(seconds)
}

fn no_alarms() -> Alarms {
    Alarms::new(Language::English, &[], BTreeMap::new())
}

fn incident(number: u64, severity: Severity) -> Incident {
    let mut lines = kiebitz_game::events::samples::EVERY
        .lines()
        .filter(|line| line.contains("\"incident.opened\""));
    let line = lines
        .find(|line| line.contains("\"kind\":\"illegal_move\""))
        .expect("an incident");
    let event: Event = serde_json::from_str(line).expect("an event");
    match event.kind {
        EventKind::IncidentOpened(mut incident) => {
            (incident.incident, incident.severity) = (number, severity);
            *incident
        }
        _ => panic!("it was opened"),
    }
}

fn opened(seq: u64, number: u64, severity: Severity) -> Event {
    event(
        seq,
        EventKind::IncidentOpened(Box::new(incident(number, severity))),
    )
}

fn closed(seq: u64, incident: u64) -> Event {
    event(
        seq,
        EventKind::IncidentClosed {
            incident,
            kind: IncidentKind::IllegalMove,
            by: ClosedBy::Arbiter,
            reason: IncidentEnd::Decided,
            counts: None,
            decision: None,
            decided_by: None,
        },
    )
}

/// Returns the changes at `now` as texts, and marks them as sent.
fn noted_changes(alarms: &mut Alarms, now: Timestamp) -> Vec<String> {
    let changes = alarms.changes(now);
    let text = |change: &AlarmChange| {
        let sign = if matches!(change, AlarmChange::Raised(..)) {
            '+'
        } else {
            '-'
        };
        format!("{sign}{}", change.alarm().0)
    };
    let texts = changes.iter().map(text).collect();
    changes.into_iter().for_each(|change| alarms.note(change));
    texts
}

#[test]
fn the_title_at_a_hub_has_the_name_of_the_hall() {
    let halls = ["North", "South"].map(|name| EventHall {
        prefix: format!("{}/kiebitz", name.to_lowercase()),
        name: Some(name.to_owned()),
    });
    let mut alarms = no_alarms();
    alarms.pair(Arc::new(Tournament::default().at_hub(&halls)));
    for event in [
        event(1, started(START, Variant::Standard)),
        opened(2, 7, Severity::Violation),
    ] {
        alarms.apply(&Event {
            board: "south/kiebitz/board-1".to_owned(),
            ..event
        });
    }
    let changes = alarms.changes(at(1));
    let (_, alarm) = changes.first().expect("an alarm").alarm();
    assert_eq!(
        (alarm.title.as_str(), alarm.table),
        ("Table South 1: Illegal move", Some(2001))
    );
}

#[test]
fn an_incident_is_raised_once_and_cleared_once() {
    let mut alarms = no_alarms();
    alarms.apply(&event(1, started(START, Variant::Standard)));
    alarms.apply(&opened(2, 7, Severity::Advice));
    alarms.apply(&opened(3, 8, Severity::Hint));
    alarms.apply(&opened(4, 9, Severity::Violation));
    let changes = alarms.changes(at(1));
    let (key, alarm) = changes[0].alarm();
    assert_eq!((&**key, &*alarm.title), ("b 9", "Board b: Illegal move"));
    assert!(!alarm.text.is_empty() && alarm.since == at(0) + Duration::from_micros(4));
    assert_eq!(
        noted_changes(&mut alarms, at(1)),
        ["+b 9", "+b 7"],
        "the gravest first, and no hints"
    );
    assert!(noted_changes(&mut alarms, at(2)).is_empty());
    // An incident that grows from a hint to advice is an alarm.
    let graver = incident(8, Severity::Advice);
    alarms.apply(&event(5, EventKind::IncidentUpdated(Box::new(graver))));
    alarms.apply(&closed(6, 9));
    assert_eq!(noted_changes(&mut alarms, at(3)), ["-b 9", "+b 8"]);
    assert_eq!(alarms.raised().len(), 2);
}

#[test]
fn alarms_sent_before_a_restart_are_not_sent_again() {
    let mut before = no_alarms();
    before.apply(&opened(1, 1, Severity::Advice));
    before.apply(&opened(2, 2, Severity::Advice));
    assert_eq!(noted_changes(&mut before, at(1)).len(), 2);
    let noted = serde_json::to_string(before.raised()).expect("JSON");
    let noted = serde_json::from_str(&noted).expect("what was noted");
    let mut after = Alarms::new(Language::English, &[], noted);
    assert!(
        noted_changes(&mut after, at(5)).is_empty(),
        "nothing is known of the board yet"
    );
    let journal = [
        opened(1, 1, Severity::Advice),
        opened(2, 2, Severity::Advice),
        closed(3, 2),
        opened(4, 3, Severity::Violation),
    ];
    after.resume("b", &journal);
    assert_eq!(noted_changes(&mut after, at(6)), ["-b 2", "+b 3"]);
    // Old alarms are not sent if there are no notes from before the restart.
    let mut new = no_alarms();
    new.resume("b", &journal);
    assert!(noted_changes(&mut new, at(24 * 3600)).is_empty());
    new.apply(&event(5, started(START, Variant::Standard)));
    assert!(noted_changes(&mut new, at(24 * 3600 + 1)).is_empty());
}

#[test]
fn only_chosen_kinds_are_sent() {
    let kinds = [AlarmKind::Draw, AlarmKind::Output];
    let mut alarms = Alarms::new(Language::German, &kinds, BTreeMap::new());
    alarms.apply(&event(1, started(START, Variant::Standard)));
    alarms.apply(&opened(2, 1, Severity::Violation));
    alarms.apply(&event(
        3,
        EventKind::GameEnded {
            result: GameResult::Draw,
            reason: EndReason::Fivefold,
            by: DecidedBy::Laws,
            confirmed: true,
            end_certain: true,
            decided_by: None,
        },
    ));
    let changes = alarms.changes(at(1));
    let [AlarmChange::Raised(key, alarm)] = &changes[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(
        (&**key, &*alarm.title),
        ("b draw g", "Brett b: Remis nach den Regeln")
    );
    assert_eq!(noted_changes(&mut alarms, at(1)), ["+b draw g"]);
    assert_eq!(
        noted_changes(&mut alarms, at(0) + DRAWN + Duration::from_secs(1)),
        ["-b draw g"]
    );
}

#[test]
fn a_lasting_output_failure_raises_an_alarm() {
    let mut alarms = no_alarms();
    let reports = |ok: bool| {
        let problems = vec!["it says 500".to_owned()];
        let report = OutputReport {
            ok,
            problems: if ok { Vec::new() } else { problems },
            ..OutputReport::default()
        };
        BTreeMap::from([("Lichess".to_owned(), report)])
    };
    alarms.update_outputs(at(0), &reports(false));
    assert!(
        noted_changes(&mut alarms, at(59)).is_empty(),
        "it may help itself"
    );
    alarms.update_outputs(at(60), &reports(false));
    let changes = alarms.changes(at(60));
    assert_eq!(changes[0].alarm().1.text, "it says 500");
    assert_eq!(noted_changes(&mut alarms, at(60)), ["+output Lichess"]);
    alarms.update_outputs(at(61), &reports(true));
    assert!(noted_changes(&mut alarms, at(61)).is_empty(), "it may fail again");
    assert_eq!(noted_changes(&mut alarms, at(121)), ["-output Lichess"]);
    alarms.update_outputs(at(122), &reports(false));
    assert!(noted_changes(&mut alarms, at(170)).is_empty(), "it begins anew");
}

/// When the second flag falls, an incident about both flags replaces the incident about the first one. Recipients of
/// flag falls must get it too.
#[test]
fn an_alarm_for_one_flag_includes_both_flags() {
    let flag = AlarmKind::Incident(IncidentKind::FlagFall);
    let mut alarms = Alarms::new(Language::English, &[flag], BTreeMap::new());
    alarms.apply(&event(1, started(START, Variant::Standard)));
    for (number, kind) in [(7, IncidentKind::TwoFlags), (8, IncidentKind::IllegalMove)] {
        let incident = Incident {
            kind,
            ..incident(number, Severity::Advice)
        };
        alarms.apply(&event(number, EventKind::IncidentOpened(Box::new(incident))));
    }
    assert_eq!(noted_changes(&mut alarms, at(5)).len(), 1);
}

#[test]
fn a_step_of_the_clock_does_not_count_as_passed_time() {
    let step = Duration::from_secs(93_600);
    let mut alarms = no_alarms();
    let report = OutputReport {
        ok: false,
        ..OutputReport::default()
    };
    let fails = BTreeMap::from([("Lichess".to_owned(), report)]);
    alarms.apply(&event(1, started(START, Variant::Standard)));
    alarms.apply(&event(
        2,
        EventKind::GameEnded {
            result: GameResult::Draw,
            reason: EndReason::Fivefold,
            by: DecidedBy::Laws,
            confirmed: true,
            end_certain: true,
            decided_by: None,
        },
    ));
    alarms.update_outputs(at(0), &fails);
    assert_eq!(noted_changes(&mut alarms, at(1)), ["+b draw g"]);
    for nth in 1..=3 {
        // A step must not shorten the waiting times.
        alarms.set_forward(at(nth) + step * u32::try_from(nth - 1).expect("few"), step);
    }
    let ahead = |seconds| at(seconds) + step * 3;
    assert!(noted_changes(&mut alarms, ahead(59)).is_empty());
    assert_eq!(noted_changes(&mut alarms, ahead(60)), ["+output Lichess"]);
    assert!(noted_changes(&mut alarms, ahead(299)).is_empty());
    assert_eq!(noted_changes(&mut alarms, ahead(301)), ["-b draw g"]);
}

/// Returns the event that opens an incident about a missing board.
fn missing(seq: u64, number: u64, since: Timestamp) -> Event {
    let incident = Incident {
        kind: IncidentKind::BoardDisconnected,
        ..incident(number, Severity::Advice)
    };
    Event {
        ts: since,
        ..event(seq, EventKind::IncidentOpened(Box::new(incident)))
    }
}

/// Each restart closes the ports, and a failing output needs some time to detect its failure again.
#[test]
fn many_restarts_send_one_message_for_each_alarm() {
    let failing = OutputReport {
        ok: false,
        ..OutputReport::default()
    };
    let failing = BTreeMap::from([("Lichess".to_owned(), failing)]);
    let minutes = |minutes: u64| 60 * minutes;
    let mut sent = Vec::new();
    let mut noted = BTreeMap::new();
    let mut journal = vec![event(1, started(START, Variant::Standard)), missing(2, 1, at(0))];
    for restart in 0..60 {
        let mut alarms = Alarms::new(Language::English, &[], noted);
        alarms.resume("b", &journal);
        let begun = minutes(restart);
        for second in 0..60 {
            // The output notices its failure in the middle of each run.
            if second == 30 {
                alarms.update_outputs(at(begun + second), &failing);
            }
            sent.extend(noted_changes(&mut alarms, at(begun + second)));
        }
        noted = alarms.raised().clone();
        // The board comes back at the end of the run, and is missing again.
        journal.push(closed(2 * restart + 3, restart + 1));
        journal.push(missing(2 * restart + 4, restart + 2, at(begun + 60)));
    }
    assert_eq!(sent, ["+b 1"], "no run lasts until the output is an alarm");

    let mut alarms = Alarms::new(Language::English, &[], noted);
    alarms.resume("b", &journal);
    alarms.update_outputs(at(minutes(60)), &failing);
    assert!(noted_changes(&mut alarms, at(minutes(60))).is_empty());
    assert_eq!(noted_changes(&mut alarms, at(minutes(61))), ["+output Lichess"]);
    alarms.apply(&closed(200, 61));
    alarms.update_outputs(at(minutes(62)), &failing);
    assert!(noted_changes(&mut alarms, at(minutes(62))).is_empty());
    assert_eq!(noted_changes(&mut alarms, at(minutes(63))), ["-b 1"]);
    // After another restart, the output still fails and then recovers.
    let mut again = Alarms::new(Language::English, &[], alarms.raised().clone());
    assert!(noted_changes(&mut again, at(minutes(64))).is_empty());
    again.update_outputs(at(minutes(64) + 50), &failing);
    assert!(noted_changes(&mut again, at(minutes(66))).is_empty());
    again.update_outputs(at(minutes(66)), &BTreeMap::new());
    assert!(noted_changes(&mut again, at(minutes(66))).is_empty());
    assert_eq!(noted_changes(&mut again, at(minutes(67))), ["-output Lichess"]);
}

#[test]
fn a_briefly_missing_board_raises_no_alarm() {
    let mut alarms = no_alarms();
    alarms.apply(&event(1, started(START, Variant::Standard)));
    alarms.apply(&missing(2, 1, at(0)));
    assert!(noted_changes(&mut alarms, at(29)).is_empty());
    alarms.apply(&closed(3, 1));
    assert!(noted_changes(&mut alarms, at(120)).is_empty());
    // Two offences are two alarms, however soon the second one follows.
    alarms.apply(&opened(4, 2, Severity::Violation));
    assert_eq!(noted_changes(&mut alarms, at(121)), ["+b 2"]);
    alarms.apply(&closed(5, 2));
    alarms.apply(&opened(6, 3, Severity::Violation));
    assert_eq!(noted_changes(&mut alarms, at(122)), ["-b 2", "+b 3"]);
}
