//! Checks that advice exists for every edition, mode of play and situation, with a text and the values of its
//! placeholders.

mod rulings;

use std::collections::BTreeSet;

use shakmaty::Color;

use super::examples::examples;
use super::*;

/// All combinations of rules.
fn all_rules() -> Vec<Rules> {
    let points = [
        OpenPoints::default(),
        OpenPoints {
            blitz_2023_minutes: 2,
            penalties_1997: Penalties1997::Always,
            illegal_move_told: IllegalMoveReport::Completed,
            standing_move_counts: true,
            reversed_limit: ReversedLimit::Either,
            reinstated_counts: true,
        },
    ];
    let mut all = Vec::new();
    for &edition in Edition::ALL {
        for &mode in Mode::ALL {
            for supervised in [true, false] {
                all.extend(points.map(|points| Rules {
                    edition,
                    mode,
                    supervised,
                    points,
                }));
            }
        }
    }
    all
}

#[test]
fn every_advice_has_a_text_with_all_its_values_in_every_language() {
    for rules in all_rules() {
        for (situation, color) in examples() {
            for color in [color, None, Some(Color::Black)] {
                let advice = rules.advise(&situation, color);
                assert_eq!(advice.case.split('.').next(), Some(situation.kind().as_str()));
                for language in Language::ALL {
                    let text = text(*language, advice.case, &advice.values);
                    assert!(text.len() > 20, "{rules:?} {situation:?} {}: {text}", advice.case);
                    assert!(
                        !text.contains(['{', '}']),
                        "{rules:?} {situation:?} {}: {text}",
                        advice.case
                    );
                }
            }
        }
    }
}

#[test]
fn every_advice_cites_an_article_except_on_board_faults_and_pairings() {
    for rules in all_rules() {
        for (situation, color) in examples() {
            let advice = rules.advise(&situation, color);
            let fault = matches!(
                situation,
                Situation::SensorFault { .. } | Situation::PieceNotSeen { .. } | Situation::SecondGame { .. }
            );
            assert_eq!(advice.article.is_empty(), fault, "{rules:?} {situation:?}");
            assert!(!advice.article.contains('†'), "{}", advice.article);
        }
    }
}

#[test]
fn every_text_belongs_to_a_possible_case() {
    let mut possible = BTreeSet::new();
    for rules in all_rules() {
        for (situation, color) in examples() {
            possible.insert(rules.advise(&situation, color).case.to_owned());
        }
    }
    let written: BTreeSet<String> = catalogue::cases(Language::English).collect();
    assert_eq!(possible, written);
}

#[test]
fn an_unobservable_offence_is_a_hint_at_most() {
    for rules in all_rules() {
        for (situation, color) in examples() {
            let unseen = matches!(
                situation.kind(),
                IncidentKind::PieceTouchedNotMoved
                    | IncidentKind::CastlingRookFirst
                    | IncidentKind::TwoHandsSuspected
                    | IncidentKind::PressedBeforeRelease
                    | IncidentKind::AdjustedOffTurn
            );
            let severity = rules.advise(&situation, color).severity;
            assert!(
                !unseen || severity <= Severity::Hint,
                "{situation:?}: {severity:?}"
            );
        }
    }
}

#[test]
fn every_kind_has_a_title_and_is_explained() {
    let shown: BTreeSet<IncidentKind> = examples().iter().map(|(situation, _)| situation.kind()).collect();
    assert_eq!(shown.len(), IncidentKind::ALL.len());
    for &kind in IncidentKind::ALL {
        for language in Language::ALL {
            assert_ne!(title(*language, kind), kind.as_str());
        }
        for rules in all_rules() {
            assert!(!rules.explain(kind).is_empty());
        }
    }
    assert!("no_such_kind".parse::<IncidentKind>().is_err());
}
