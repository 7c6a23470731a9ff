//! The report as HTML and as text.

use proptest::prelude::*;

use super::super::words::{Words, fill};
use super::*;
use crate::tournament::TieBreak;
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

/// Returns the story of a game of round 3 on table 7.
fn paired() -> Story {
    let mut story = Story::new(STANDARD).play("e4");
    for event in &mut story.events {
        if let EventKind::GameStarted { players, .. } = &mut event.kind {
            *players = Some(Players {
                white: Some("Adler, Jonas".to_owned()),
                round: Some(3),
                table: Some(7),
                ..Players::default()
            });
        }
    }
    story
}

#[test]
fn heading_has_round_and_table() {
    let report = paired().report();
    for (language, heading) in [
        (Language::English, "Round 3 · Table 7"),
        (Language::German, "Runde 3 · Tisch 7"),
    ] {
        let page = html(&report, &manner(language));
        assert!(page.contains(&format!("<h2>{heading}</h2>")), "{page}");
        assert!(page.contains(&format!(": {heading}</title>")), "{page}");
        assert!(text(&report, &manner(language)).contains(&format!("\n{heading}\n=")));
        assert!(
            page.contains(&report.games[0].record.game),
            "the id is in the page"
        );
    }
}

#[test]
fn arguments_of_commands_are_words_not_json() {
    let mut story = paired();
    story.publish(EventKind::CommandTaken {
        id: "1".to_owned(),
        by: "arbiter".to_owned(),
        action: kiebitz_game::events::Action::SetPlayers,
        arguments: serde_json::json!({
            "white": "Adler, Jonas",
            "white_player": {"fide_id": 4_600_001, "title": null, "more": {"rating": 2510, "moves": ["e4", "e5"]}},
            "table": 7,
            "correction": true,
        }),
        error: None,
        note: None,
    });
    let report = story.report();
    for language in Language::ALL {
        let page = html(&report, &manner(*language));
        let (_, body) = page.split_once("</style>").expect("a style");
        assert!(
            body.contains("4600001") && body.contains("2510") && body.contains("e4 e5"),
            "{body}"
        );
        assert!(!body.contains('{') && !body.contains("&quot;white"), "{body}");
        assert!(!body.contains("null") && !body.contains(": true"), "{body}");
    }
}

#[test]
fn standings_are_a_table() {
    let mut report = paired().report();
    let player = |rank, name: &str, half_points| PlayerStanding {
        rank,
        name: name.to_owned(),
        title: Some("GM".to_owned()),
        rating: Some(2510),
        half_points,
        tie_breaks: vec![Some(12.25), Some(0.5), None],
        games: 3,
    };
    let team = |name: &str| TeamStanding {
        rank: 1,
        name: name.to_owned(),
        match_points: 4,
        half_points: 11,
    };
    report.standings = Some(Standings {
        round: 3,
        open: 2,
        rounds_known: true,
        tie_breaks: vec![
            TieBreak::BuchholzCut1,
            TieBreak::SonnebornBerger,
            TieBreak::DirectEncounter,
        ],
        players: vec![
            player(1, "Adler <b>", 5),
            player(2, "Berg", 1),
            player(2, "Cohn", 1),
        ],
        teams: vec![team("SK Nord")],
    });
    let page = html(&report, &manner(Language::English));
    for part in [
        "<h2>Standings</h2>",
        "After round 3; games without a result: 2.",
        "<td>1</td><td>SK Nord</td><td>4</td><td>5½</td>",
        ">BH-C1</th><th scope=\"col\">SB</th><th scope=\"col\">DE</th>",
        "<td>1</td><td>GM Adler &lt;b&gt;</td><td>2510</td><td>2½</td><td>12¼</td><td>½</td><td></td><td>3</td>",
        "<td>2</td><td>GM Berg</td><td>2510</td><td>½</td><td>12¼</td><td>½</td><td></td><td>3</td>",
        "<td>2</td><td>GM Cohn</td><td>2510</td><td>½</td>",
        "ranked by: Buchholz Cut 1, Sonneborn-Berger, direct encounter.",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let text = text(&report, &manner(Language::German));
    assert!(
        text.contains("    1  GM Adler <b>") && text.contains("2510     2½    12¼      ½ "),
        "{text}"
    );
    assert!(
        text.contains("Bei gleich vielen Punkten entscheiden: Buchholz ohne"),
        "{text}"
    );
    if let Some(standings) = &mut report.standings {
        standings.rounds_known = false;
        standings.tie_breaks.clear();
    }
    let page = html(&report, &manner(Language::English));
    assert!(page.contains("not known game by game"), "{page}");
}
