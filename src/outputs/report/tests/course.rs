//! Incidents, corrections, gaps, decisions and adjournment.

use kiebitz_hardware::capture::{CaptureWriter, Direction, Interface, LineMode};

use super::*;
use crate::outputs::report::model::{Amendment, Note, Open};
use crate::outputs::report::words::Words;
use kiebitz_game::events::{
    Action, ClosedBy, CorrectionReason, DecidedBy, EndReason, GameResult, IncidentEnd, Recovery,
};
use kiebitz_game::laws::{IncidentKind, Severity};
use shakmaty::Color;

fn closed(incident: u64) -> EventKind {
    EventKind::IncidentClosed {
        incident,
        kind: IncidentKind::IllegalMove,
        by: ClosedBy::Board,
        reason: IncidentEnd::Replaced,
        counts: None,
        decision: None,
        decided_by: None,
    }
}

/// A game with an illegal move that is published, becomes an offence, and is replaced.
fn irregular() -> Story {
    let mut story = Story::new(STANDARD).play("e4");
    let incident = illegal_move(&story, 7, Severity::Advice);
    story.publish(EventKind::IncidentOpened(Box::new(incident)));
    let incident = illegal_move(&story, 7, Severity::Violation);
    story.publish(EventKind::IncidentUpdated(Box::new(incident)));
    story.publish(closed(7));
    story.play("e5 Nf3")
}

#[test]
fn incident_has_its_steps_and_is_marked_in_the_score_sheet() {
    let game = irregular().game();
    let [incident] = game.incidents.as_slice() else {
        panic!("one incident: {:?}", game.incidents)
    };
    assert_eq!(incident.incident.severity, Severity::Violation);
    assert_eq!(incident.steps.len(), 1);
    let reasons: Vec<IncidentEnd> = incident.closed.iter().map(|closing| closing.reason).collect();
    assert_eq!(reasons, [IncidentEnd::Replaced]);
    assert!(incident.opened < incident.steps[0].ts);
    assert_eq!(incident.port.as_deref(), Some("ttyACM0"));
    assert_eq!(game.plies[1].incidents, [7]);
    assert!(game.plies[0].incidents.is_empty());
}

#[test]
fn incident_before_a_game_belongs_to_it_and_a_later_one_to_none() {
    let mut story = Story::new(STANDARD);
    let mut start = illegal_move(&story, 1, Severity::Advice);
    start.ply = Some(0);
    story.events.truncate(2);
    story.publish_outside_game(EventKind::IncidentOpened(Box::new(start)));
    let began = Story::new(STANDARD).events.remove(2);
    story.publish(began.kind);
    let mut story = story.play("e4");
    story.publish(EventKind::GameEnded {
        result: GameResult::WhiteWins,
        reason: EndReason::Kings,
        by: DecidedBy::Board,
        confirmed: false,
        end_certain: true,
        decided_by: None,
    });
    let late = illegal_move(&story, 2, Severity::Hint);
    story.publish_outside_game(EventKind::IncidentOpened(Box::new(late)));
    let report = story.report();
    let numbers = |incidents: &[IncidentReport]| -> Vec<u64> {
        incidents
            .iter()
            .map(|incident| incident.incident.incident)
            .collect()
    };
    assert_eq!(numbers(&report.games[0].incidents), [1]);
    assert_eq!(numbers(&report.outside), [2]);
    let text = text(&report, &manner(Language::English));
    assert!(text.contains("#1 Illegal move: Black, before the game"), "{text}");
    assert!(text.contains("Incidents outside games"), "{text}");
}

#[test]
fn evidence_points_to_packets_and_bytes_of_its_port() {
    let story = irregular();
    let mut report = story.report();
    let evidence = report.games[0].incidents[0].incident.evidence.clone();
    let mut writer = CaptureWriter::new(Vec::new()).expect("a capture");
    let port = |name: &str| Interface {
        name: name.to_owned(),
        mode: LineMode::Single,
    };
    let board = writer.add_interface(&port("ttyACM0")).expect("a port");
    let other = writer.add_interface(&port("ttyACM1")).expect("a port");
    let at = |micros: i64| Timestamp::from_micros(evidence.to.as_micros() + micros);
    writer.write_opened(at(-9_000_000), board).expect("packet 1");
    for (port, direction, micros) in [
        (board, Direction::Inbound, -2_000_000), // 2: e7 goes empty
        (other, Direction::Inbound, -1_500_000), // 3: another board
        (board, Direction::Inbound, -1_000_000), // 4: e4
        (board, Direction::Outbound, -500_000),  // 5: a query
        (board, Direction::Inbound, 0),          // 6: the press
        (board, Direction::Inbound, 4_000_000),  // 7: later
    ] {
        writer
            .write_bytes(at(micros), port, direction, &[0x8e, 0])
            .expect("a packet");
    }
    let capture = writer.into_inner();
    report.locate(&Frames::read(capture.as_slice()).expect("a capture"));

    let incident = &report.games[0].incidents[0];
    let span = incident.frames.expect("packets");
    assert_eq!((span.first.number, span.last.number), (2, 6));
    let offset = usize::try_from(span.first.offset).expect("a small file");
    assert_eq!(
        capture[offset..offset + 4],
        [6, 0, 0, 0],
        "an enhanced packet block begins there"
    );
    let frames = incident
        .changes
        .iter()
        .map(|change| change.frame.map(|frame| frame.number));
    assert_eq!(frames.collect::<Vec<_>>(), [Some(2), Some(4)]);
}

#[test]
fn corrections_list_the_withdrawn_moves() {
    let mut story = Story::new(STANDARD).play("e4 e5 Nf3");
    let mut instead = Story::new(STANDARD).play("e4").make_move("c5");
    instead.clock = None;
    story.publish(EventKind::MoveAmended {
        played: instead,
        replaces: Some("e7e5".to_owned()),
        reason: CorrectionReason::Recovered,
    });
    story.publish(EventKind::MoveRetracted {
        ply: 2,
        reason: CorrectionReason::Takeback,
    });
    let report = story.report();
    let text = text(&report, &manner(Language::German));
    assert!(
        text.contains("Gestrichen: 1...e5, 2.Sf3, Stattdessen: 1...c5. Grund: spätere Belege zeigten"),
        "{text}"
    );
    assert!(
        text.contains("Gestrichen: 1...c5. Grund: zurückgenommen"),
        "{text}"
    );
    assert_eq!(report.games[0].record.moves.len(), 1);
}

#[test]
fn gaps_and_lost_clocks_are_noted_with_the_move_before() {
    let mut story = Story::new(STANDARD).play("e4");
    story.publish_outside_game(EventKind::BoardDisconnected {
        reason: "unplugged".to_owned(),
    });
    let (from, to) = (story.now(), story.now());
    story.publish_outside_game(EventKind::BoardConnected {
        port: "ttyACM1".to_owned(),
        serial: None,
        version: None,
        orientation: None,
    });
    story.publish(EventKind::BoardRecovered {
        by: Recovery::Memory,
        changes: 4,
        from,
        to,
    });
    story.publish_outside_game(EventKind::ClockDisconnected {});
    let game = story.game();
    let names: Vec<&str> = game
        .notes
        .iter()
        .map(|note| match note {
            Note::BoardDisconnected { after_ply: 1, .. } => "gone",
            Note::BoardConnected { after_ply: 1, .. } => "back",
            Note::Gap {
                by: Recovery::Memory,
                changes: 4,
                ..
            } => "gap",
            Note::ClockDisconnected { .. } => "no clock",
            _ => "something else",
        })
        .collect();
    // The first connection is not noted.
    assert_eq!(names, ["gone", "back", "gap", "no clock"]);
}

#[test]
fn arbiters_result_is_confirmed_and_names_the_person() {
    let mut story = Story::new(STANDARD).play("e4 e5");
    story.publish(EventKind::CommandTaken {
        id: "1".to_owned(),
        action: Action::SetResult,
        by: "A. Rbiter".to_owned(),
        arguments: serde_json::json!({"result": "0-1"}),
        note: None,
        error: None,
    });
    story.publish(EventKind::GameAmended {
        by: "A. Rbiter".to_owned(),
        result: Some(GameResult::BlackWins),
        reason: Some(EndReason::Resignation),
        players: None,
        time_control: None,
        time_control_typed: None,
        mode: None,
        moves: None,
        position: None,
        note: Some("White left.".to_owned()),
        assigned: false,
    });
    let report = story.report();
    let game = &report.games[0];
    assert_eq!(
        (game.record.result.as_str(), game.record.confirmed),
        ("0-1", true)
    );
    assert_eq!(game.decided_by.as_deref(), Some("A. Rbiter"));
    assert_eq!(game.adjournment, None);
    assert!(matches!(
        game.amendments.as_slice(),
        [Amendment::Command { .. }, Amendment::Game { .. }]
    ));
    let text = text(&report, &manner(Language::English));
    assert!(
        text.contains("0-1: resignation; by the arbiter (A. Rbiter)"),
        "{text}"
    );
    assert!(text.contains("Note: White left."), "{text}");
}

#[test]
fn envelope_has_the_data_of_the_laws_and_blanks_for_the_rest() {
    let mut story = Story::new(STANDARD).play("e4 e5 Nf3 Nc6 Bb5");
    story.publish(EventKind::CommandTaken {
        id: "1".to_owned(),
        action: Action::Annotate,
        by: "A. Rbiter".to_owned(),
        arguments: serde_json::json!({"note": "Black seals 3...a6"}),
        note: None,
        error: None,
    });
    let report = story.report();
    let adjournment = report.games[0].adjournment.as_ref().expect("a game in play");
    assert_eq!((adjournment.color, adjournment.move_number), (Color::Black, 3));
    assert!(
        adjournment
            .fen
            .starts_with("r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b")
    );
    assert_eq!(
        (adjournment.white.used_ms, adjournment.white.untimed),
        (60_000, 0)
    );
    assert_eq!(adjournment.black.used_ms, 40_000);
    assert_eq!(adjournment.white.left_ms, Some(5_300_000));
    assert_eq!(adjournment.half_moves, 3);

    let text = text(&report, &manner(Language::German));
    let (_, envelope) = text
        .split_once("Für den Fall einer Vertagung")
        .expect("the envelope");
    for line in [
        "Gibt den Zug ab: Schwarz",
        "Nummer des Abgabezugs: 3 (Schwarz)",
        "Bedenkzeit: 40/5400+30:1800+30",
        "Offenes Remisangebot: ____",
        "Tag, Zeit und Ort der Wiederaufnahme: ____",
        "Verbrauchte Zeit, Weiß: 0:01:00",
    ] {
        assert!(envelope.contains(line), "{line}: {envelope}");
    }
    // The sealed move must not be on the envelope, even if somebody noted it.
    assert!(!envelope.contains("a6"), "{envelope}");
}

#[test]
fn games_of_two_streams_and_boards_are_kept_apart() {
    let first = irregular();
    let mut second = irregular();
    for event in &mut second.events {
        event.stream = "replay-2".to_owned();
    }
    let report = Report::from_events(first.events.iter().chain(&second.events));
    assert_eq!(report.games.len(), 2);
    assert!(
        report
            .games
            .iter()
            .all(|game| game.incidents.len() == 1 && game.record.moves.len() == 3)
    );
}

/// The report has the answer to the arbiter's command (E23 9.1.1) and, for a claim in the last two minutes, the moves
/// (E23 III.5).
#[test]
fn answers_and_claims_of_the_last_two_minutes_are_shown() {
    let mut story = Story::new(STANDARD).play("e4 e5 Nf3 Nf6");
    let mut claim = illegal_move(&story, 1, Severity::Advice);
    claim.kind = IncidentKind::TwoMinuteClaim;
    claim.case = "two_minute_claim.not_here".to_owned();
    claim.evidence.values = [
        ("color".to_owned(), "white".into()),
        ("moves".to_owned(), "1. e4 e5 2. Nf3 Nf6".into()),
    ]
    .into();
    story.publish(EventKind::IncidentOpened(Box::new(claim)));
    story.publish(EventKind::CommandTaken {
        id: "1".to_owned(),
        action: Action::DecideClaim,
        by: "arbiter".to_owned(),
        arguments: serde_json::json!({"ruling": "postpone"}),
        note: Some("zwei Minuten".to_owned()),
        error: None,
    });
    let text = text(&story.report(), &manner(Language::German));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "Die letzten Züge: 1. e4 e5 2. Sf3 Sf6.",
        "Entscheidung über einen Antrag; Entscheidung: aufgeschoben; Antwort: zwei Minuten",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

fn ended(reason: EndReason, result: GameResult) -> EventKind {
    EventKind::GameEnded {
        result,
        reason,
        by: DecidedBy::Board,
        confirmed: false,
        end_certain: true,
        decided_by: None,
    }
}

#[test]
fn summary_lists_violations_open_matters_and_gaps() {
    let mut story = irregular();
    let open = Incident {
        ply: Some(3),
        ..illegal_move(&story, 8, Severity::Advice)
    };
    story.publish(EventKind::IncidentOpened(Box::new(open)));
    let hint = illegal_move(&story, 9, Severity::Hint);
    story.publish(EventKind::IncidentOpened(Box::new(hint)));
    for by in [Recovery::Memory, Recovery::Undecidable] {
        let (from, to) = (story.now(), story.now());
        story.publish(EventKind::BoardRecovered {
            by,
            changes: 4,
            from,
            to,
        });
    }
    story.publish(ended(EndReason::Kings, GameResult::Draw));
    let report = story.report();
    let summary = &report.games[0].summary;
    assert_eq!(
        (&summary.violations, &summary.advice, &summary.hints),
        (&vec![7], &vec![8], &vec![9])
    );
    assert_eq!(summary.open, [Open::Confirmation, Open::Incident { incident: 8 }]);
    assert_eq!((summary.gaps, summary.undecided_gaps), (2, 1));

    for (language, lines) in [
        (
            Language::English,
            [
                "1/2-1/2: the kings were put in the centre",
                "  #7 Illegal move: Black, move 1 (replaced by a legal move)",
                "  The arbiter has not confirmed the result.\n  #8 Illegal move: Black, move 2 (White) (open)",
                "after 2.Nf3: moves are missing\n",
            ],
        ),
        (
            Language::German,
            [
                "1/2-1/2: die Könige wurden in die Mitte gestellt",
                "  #7 Regelwidriger Zug: Schwarz, Zug 1 (durch einen regelgemäßen Zug ersetzt)",
                "  Der Schiedsrichter hat das Ergebnis noch nicht bestätigt.\n  #8 Regelwidriger Zug",
                "nach 2.Sf3: Züge fehlen\n",
            ],
        ),
    ] {
        let text = text(&report, &manner(language));
        let sheet = Words::of(language).score;
        let (summary, rest) = text.split_once(&format!("\n\n{sheet}\n")).expect("a score sheet");
        for line in lines {
            assert!(summary.contains(line), "{line}: {summary}");
        }
        assert!(
            !summary.contains("#9") && rest.contains("#9"),
            "hints come later: {text}"
        );
    }
}

#[test]
fn missing_names_and_decisions_have_blanks() {
    let mut story = irregular();
    for event in &mut story.events {
        if let EventKind::GameStarted { players, .. } = &mut event.kind {
            *players = None;
        }
    }
    let text = text(&story.report(), &manner(Language::English));
    assert!(
        text.contains("White: ____") && text.contains("Black: ____"),
        "{text}"
    );
    assert_eq!(text.matches("Arbiter's decision: ____").count(), 1, "{text}");
    let (_, signatures) = text.split_once("\nSignatures\n").expect("lines to sign on");
    assert!(
        signatures.contains("Arbiter:  ") && signatures.contains("Date, time:  "),
        "{signatures}"
    );
}

#[test]
fn time_control_is_shown_as_typed() {
    let mut story = Story::new(STANDARD);
    if let EventKind::GameStarted {
        time_control_typed, ..
    } = &mut story.events[2].kind
    {
        *time_control_typed = Some("90'/40 + 30', 30\" a move".to_owned());
    }
    let shown = |story: &Story| text(&story.report(), &manner(Language::English));
    assert!(shown(&story).contains("Time control: 90'/40 + 30', 30\" a move\n"));
    story.publish(EventKind::GameAmended {
        by: "arbiter".to_owned(),
        result: None,
        reason: None,
        players: None,
        time_control: Some("3600+30".to_owned()),
        time_control_typed: Some("G/60+30".to_owned()),
        mode: None,
        moves: None,
        position: None,
        note: None,
        assigned: false,
    });
    assert!(
        shown(&story).contains("Time control: G/60+30\n"),
        "{}",
        shown(&story)
    );
}

#[test]
fn adjournment_is_shown_for_adjourned_games_and_on_request() {
    let mut story = Story::new(STANDARD).play("e4 e5");
    let has_envelope = |story: &Story, adjournment: bool| {
        let manner = Manner {
            adjournment,
            ..manner(Language::English)
        };
        let report = story.report();
        let text = text(&report, &manner).contains("If the game is adjourned");
        assert_eq!(html(&report, &manner).contains("class=\"part envelope\""), text);
        text
    };
    assert_eq!(
        (has_envelope(&story, false), has_envelope(&story, true)),
        (false, true)
    );
    story.publish(ended(EndReason::Adjourned, GameResult::Unknown));
    assert_eq!(
        (has_envelope(&story, false), has_envelope(&story, true)),
        (true, true)
    );
    story.publish(ended(EndReason::Kings, GameResult::Draw));
    assert_eq!(
        (has_envelope(&story, false), has_envelope(&story, true)),
        (false, false)
    );
}

/// An incident that is updated every few seconds must not fill a page.
#[test]
fn many_updates_are_shown_in_one_line() {
    let mut story = irregular();
    for _ in 0..40 {
        let incident = illegal_move(&story, 7, Severity::Violation);
        story.publish(EventKind::IncidentUpdated(Box::new(incident)));
    }
    let text = text(&story.report(), &manner(Language::English));
    assert_eq!(text.matches("Changed").count(), 1, "{text}");
    assert!(text.contains("Changed 41 times, last at "), "{text}");
}

/// If two arbiters decide one after the other, the report has both decisions with their authors.
#[test]
fn every_decision_stays_with_its_author() {
    let mut story = irregular();
    for (by, words) in [("Anna", "two minutes"), ("Berta", "no offence")] {
        story.publish(EventKind::IncidentClosed {
            incident: 7,
            kind: IncidentKind::IllegalMove,
            by: ClosedBy::Arbiter,
            reason: IncidentEnd::Decided,
            counts: None,
            decision: Some(words.to_owned()),
            decided_by: Some(by.to_owned()),
        });
    }
    let text = text(&story.report(), &manner(Language::English));
    for decision in ["(Anna): two minutes", "(Berta): no offence"] {
        assert!(text.contains(decision), "{text}");
    }
}
