//! The report as HTML and as text.

use proptest::prelude::*;

use super::super::words::{Words, fill};
use super::*;
use kiebitz_game::events::{ClaimReason, Flag};
use kiebitz_game::laws::{Edition, Severity};
use shakmaty::Color;

fn irregular() -> Report {
    let mut story = Story::new(STANDARD).play("e4");
    let incident = illegal_move(&story, 7, Severity::Violation);
    story.publish(EventKind::IncidentOpened(Box::new(incident)));
    let mut played = story.make_move("Nf6");
    played.inferred = true;
    played.order_certain = false;
    story.publish(EventKind::MoveMade(played));
    let mut report = story.report();
    report.source = Some(SourceFile {
        file: "round 5/\"board\".pcapng".to_owned(),
        cut_at: Some(77),
    });
    report
}

#[test]
fn page_escapes_text_from_outside() {
    for language in Language::ALL {
        let page = html(&irregular(), &manner(*language));
        assert!(!page.contains("<script") && !page.contains("<b>&"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(page.contains("Nadia &lt;b&gt;&amp; Söhne&lt;/b&gt;"));
        assert!(page.contains("Stop the clock &amp; go back &lt;at once&gt;."));
        assert!(page.contains("&quot;board&quot;.pcapng"));
    }
}

#[test]
fn page_loads_nothing() {
    let page = html(&irregular(), &manner(Language::English));
    for outside in [
        "http:",
        "https:",
        "src=",
        "@import",
        "url(",
        "<link",
        "<script",
        "javascript:",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
}

#[test]
fn page_has_the_chosen_language_and_piece_letters() {
    let mut manner = manner(Language::German);
    manner.letters = Letters::of("fr").expect("in the table");
    let report = irregular();
    let page = html(&report, &manner);
    assert!(
        page.contains("lang=\"de\"") && page.contains("Vorfälle") && page.contains("Cf6"),
        "{page}"
    );
    assert!(text(&report, &manner).contains("1. e4"));
}

#[test]
fn diagram_has_a_caption_and_marks_the_squares() {
    let page = html(&irregular(), &manner(Language::English));
    let title = "Reference position. Black to move. White: Ke1, Qd1, Ra1, Rh1, Bc1, Bf1, Nb1, Ng1, a2,";
    assert!(page.contains(title), "{page}");
    assert_eq!(page.matches("fill=\"#ffd84d\"").count(), 2);
    assert_eq!(page.matches("<use href=\"#bq\"").count(), 2, "in two diagrams");
}

#[test]
fn both_languages_have_the_same_keys() {
    let lists = |words: &'static Words| {
        let lists = [
            words.modes,
            words.closers,
            words.closings,
            words.withdrawals,
            words.actions,
            words.arguments,
            words.people,
        ];
        lists.map(|list| list.iter().map(|(word, _)| *word).collect::<Vec<_>>())
    };
    assert_eq!(
        lists(Words::of(Language::English)),
        lists(Words::of(Language::German))
    );
}

#[test]
fn values_are_not_searched_for_placeholders() {
    assert_eq!(fill("{a} and {b}", &[("a", "{b}"), ("b", "2")]), "{b} and 2");
    assert_eq!(fill("no { end {a}", &[("a", "1")]), "no ");
    assert_eq!(fill("{unknown}!", &[]), "!");
}

#[test]
fn advice_of_an_unknown_case_is_shown_as_in_the_event() {
    let text = text(&irregular(), &manner(Language::German));
    assert!(
        text.contains("Empfehlung: Stop the clock & go back <at once>."),
        "{text}"
    );
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        Just("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned()),
        Just("8/8/8/8/8/8/8/8 b - - 4294967295 4294967295".to_owned()),
        "[NBRQKa-h1-8x=+#O-]{1,7}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_events_never_cause_a_panic(
        plies in prop::collection::vec((0_u32.., word(), word(), word(), any::<bool>(), any::<(u64, u64)>()), 0..12),
        start in word(),
        squares in prop::collection::vec(word(), 0..4),
        times in any::<(i64, i64)>(),
    ) {
        let mut story = Story::new(STANDARD);
        if let EventKind::GameStarted { start_fen, .. } = &mut story.events[2].kind {
            *start_fen = start;
        }
        for (ply, uci, san, fen, legal, (white_ms, black_ms)) in plies {
            let played = Move {
                ply,
                color: if ply % 2 == 1 { Color::White } else { Color::Black },
                uci: Some(uci),
                san: legal.then_some(san.clone()),
                fen: fen.clone(),
                captured: None,
                clock: Some(Clock { white_ms, black_ms, running: None, flag: Some(Flag::Both) }),
                legal,
                inferred: !legal,
                order_certain: false,
            };
            story.publish(EventKind::MoveMade(played));
            let mut incident = illegal_move(&story, u64::from(ply), Severity::Hint);
            incident.ply = Some(ply);
            incident.squares.clone_from(&squares);
            incident.evidence.fen = Some(fen);
            incident.evidence.from = Timestamp::from_micros(times.0);
            incident.evidence.to = Timestamp::from_micros(times.1);
            story.publish(EventKind::IncidentOpened(Box::new(incident)));
            story.publish(EventKind::ClaimAvailable {
                color: Color::White, ply, reason: ClaimReason::Threefold, occurrences: vec![], intended: Some(san),
                severity: Severity::Info, article: String::new(), edition: Edition::Fide2023,
            });
        }
        let report = story.report();
        for language in Language::ALL {
            let _ = html(&report, &manner(*language));
            let _ = text(&report, &manner(*language));
        }
    }
}
