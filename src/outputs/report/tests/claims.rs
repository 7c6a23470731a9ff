//! Positions and counts of Art. 9.2 and 9.3.

use super::super::claims::{Claims, Difference};
use super::*;
use kiebitz_game::events::ClaimReason;
use kiebitz_game::laws::{Edition, Severity};
use shakmaty::Color;

fn claims(start_fen: &str, moves: &str) -> Claims {
    Story::new(start_fen).play(moves).game().claims
}

fn plies(claims: &Claims) -> Vec<Vec<u32>> {
    claims
        .sheets
        .iter()
        .map(|sheet| sheet.occurrences.iter().map(|entry| entry.ply).collect())
        .collect()
}

#[test]
fn start_position_counts_as_an_occurrence() {
    let claims = claims(STANDARD, "Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8");
    assert_eq!(plies(&claims), [[0, 4, 8]]);
    assert_eq!(claims.sheets[0].fen.split(' ').next(), STANDARD.split(' ').next());
    // Every other position occurred twice.
    assert_eq!(claims.repeated.len(), 4);
    assert_eq!(claims.repeated[0].plies, [0, 4, 8]);
}

#[test]
fn possible_capture_en_passant_makes_a_different_position() {
    let moves = "Nf3 Nf6 e4 a6 e5 d5 Ng1 Ng8 Nf3 Nf6 Ng1 Ng8 Nf3 Nf6";
    let before = claims(STANDARD, moves);
    // 9.2.3.1: exd6 e.p. was possible at the first occurrence.
    assert!(
        plies(&before).iter().all(|plies| !plies.contains(&14)),
        "{before:?}"
    );
    let claims = claims(STANDARD, &format!("{moves} Ng1 Ng8 Nf3 Nf6"));
    let sheet = claims
        .sheets
        .iter()
        .find(|sheet| sheet.occurrences.iter().any(|entry| entry.ply == 18))
        .expect("the third time");
    let near: Vec<_> = sheet
        .near
        .iter()
        .map(|near| (near.ply, near.differences.clone()))
        .collect();
    let possible = Difference::EnPassant {
        had: Some("d6".to_owned()),
    };
    assert_eq!(near, [(6, vec![possible])]);
}

#[test]
fn lost_castling_right_makes_a_different_position() {
    let start = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let round = "Rb1 Rb8 Ra1 Ra8";
    let claims = claims(start, &[round; 3].join(" "));
    let sheet = claims
        .sheets
        .iter()
        .find(|sheet| sheet.occurrences.last().is_some_and(|entry| entry.ply == 12))
        .expect("the third ...Ra8");
    assert_eq!(
        sheet
            .occurrences
            .iter()
            .map(|entry| entry.ply)
            .collect::<Vec<_>>(),
        [4, 8, 12]
    );
    assert_eq!(sheet.occurrences[0].castling, "Kk");
    let had = Difference::Castling {
        had: "KQkq".to_owned(),
    };
    assert_eq!((sheet.near[0].ply, &sheet.near[0].differences), (0, &vec![had]));
}

#[test]
fn claim_with_a_move_to_be_announced_has_the_position_after_it() {
    let mut story = Story::new(STANDARD).play("Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 Ng1");
    let available = |intended: Option<&str>| EventKind::ClaimAvailable {
        color: Color::Black,
        ply: 7,
        reason: ClaimReason::Threefold,
        occurrences: vec![0, 4],
        intended: intended.map(str::to_owned),
        severity: Severity::Info,
        article: "9.2.1".to_owned(),
        edition: Edition::Fide2023,
    };
    story.publish(available(Some("Ng8")));
    let report = story.report();
    let sheet = &report.games[0].claims.sheets[0];
    assert_eq!(
        sheet
            .occurrences
            .iter()
            .map(|entry| entry.ply)
            .collect::<Vec<_>>(),
        [0, 4]
    );
    assert_eq!((sheet.article.as_deref(), sheet.offers.len()), (Some("9.2.1"), 1));
    let text = text(&report, &manner(Language::German));
    assert!(
        text.contains("Schwarz konnte nach 4.Sg1 (") && text.contains("dazu 4...Sg8 ankündigen."),
        "{text}"
    );
    assert!(
        text.contains("Vorkommen in der Aufzeichnung: 2, nach dem angekündigten Zug"),
        "{text}"
    );

    // An intended move that cannot be played adds no sheet.
    story.publish(available(Some("Qxh7")));
    story.publish(available(Some("nonsense")));
    assert_eq!(story.game().claims.sheets.len(), 1);
}

#[test]
fn fifty_moves_are_counted_from_the_last_capture_or_pawn_move() {
    let quiet = claims("6k1/8/8/8/8/8/4p3/K7 w - - 0 60", "Kb1 e1=Q+ Ka2 Kg7");
    assert_eq!((quiet.countdown.half_moves, quiet.countdown.last_ply), (2, 2));
    assert_eq!(quiet.countdown.last, Some(Irreversible::PawnMove));

    let (start, round) = ("6k1/8/8/8/8/8/4p3/K7 w - - 0 60", "Kb1 Kg7 Ka1 Kg8");
    let story = Story::new(start).play(&[round; 25].join(" "));
    let claims = story.game().claims;
    let sheet = claims
        .sheets
        .iter()
        .find(|sheet| sheet.reason == ClaimReason::FiftyMoves);
    let sheet = sheet.expect("a hundred half-moves");
    assert_eq!((sheet.countdown.half_moves, sheet.countdown.last_ply), (100, 0));
    let text = text(&story.report(), &manner(Language::English));
    assert!(
        text.contains("The record shows 100 half-moves: 50 moves by each player."),
        "{text}"
    );

    let shorter = Story::new(start).play(&[round; 24].join(" ")).game().claims;
    assert!(
        shorter
            .sheets
            .iter()
            .all(|sheet| sheet.reason == ClaimReason::Threefold)
    );
}
