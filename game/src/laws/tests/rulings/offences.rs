//! Illegal moves, touched pieces, and offences that the Laws treat like them.

use shakmaty::{ByColor, Role, Square};

use super::*;
use crate::laws::Severity;

fn illegal(stage: Stage, offence: u32, opponent_can_mate: Option<bool>) -> Situation {
    Situation::IllegalMove {
        fault: Fault::KingInCheck,
        stage,
        offence,
        opponent_can_mate,
        times: None,
    }
}

/// The penalty for a completed offence of White's, abbreviated.
fn cost(edition: Edition, play: Play, offence: u32) -> String {
    let advice = rules(edition, play).advise(&illegal(Stage::Completed, offence, Some(true)), WHITE);
    let minutes = advice.values.get("minutes").map(ToString::to_string);
    match (advice.case, minutes) {
        ("illegal_move.lost", _) => "lost".to_owned(),
        ("illegal_move.claim_win", _) => "claim wins".to_owned(),
        ("illegal_move.claim_penalty", Some(minutes)) => format!("claim +{minutes}"),
        (_, Some(minutes)) if advice.values["penalty"] == "quickplay_finish" => format!("finish +{minutes}"),
        (_, Some(minutes)) => format!("+{minutes}"),
        (case, None) => case.to_owned(),
    }
}

/// 1997: 10.3, C.3. 2009: 7.4b, A4c, B3c. 2014: 7.5b, A.4b, B.2. 2017: A.4.2. 2018: 7.5.5, B.2. 2023: 7.5.5, A.3.
#[test]
fn the_penalty_for_an_illegal_move_follows_edition_and_mode() {
    use Edition::{Fide1997, Fide2009, Fide2014, Fide2017, Fide2018, Fide2023};
    use Play::{Bs, Bu, Rs, Ru, S};
    for (edition, play, first, second, third) in [
        (Fide1997, S, "finish +2", "finish +2", "finish +2"),
        (Fide1997, Ru, "finish +2", "finish +2", "finish +2"),
        (Fide1997, Bs, "claim wins", "claim wins", "claim wins"),
        (Fide1997, Bu, "claim wins", "claim wins", "claim wins"),
        (Fide2009, S, "+2", "+2", "lost"),
        (Fide2009, Rs, "+2", "+2", "lost"),
        (Fide2009, Ru, "claim +2", "claim +2", "claim +2"),
        (Fide2009, Bs, "+2", "+2", "lost"),
        (Fide2009, Bu, "claim wins", "claim wins", "claim wins"),
        (Fide2014, S, "+2", "lost", "lost"),
        (Fide2014, Rs, "+2", "lost", "lost"),
        (Fide2014, Ru, "lost", "lost", "lost"),
        (Fide2014, Bs, "+1", "lost", "lost"),
        (Fide2014, Bu, "lost", "lost", "lost"),
        (Fide2017, Rs, "+2", "lost", "lost"),
        (Fide2017, Ru, "lost", "lost", "lost"),
        (Fide2017, Bu, "lost", "lost", "lost"),
        (Fide2018, S, "+2", "lost", "lost"),
        (Fide2018, Rs, "+2", "lost", "lost"),
        (Fide2018, Ru, "+2", "lost", "lost"),
        (Fide2018, Bs, "+1", "lost", "lost"),
        (Fide2018, Bu, "+1", "lost", "lost"),
        (Fide2023, S, "+2", "lost", "lost"),
        (Fide2023, Rs, "+1", "lost", "lost"),
        (Fide2023, Ru, "+1", "lost", "lost"),
        (Fide2023, Bs, "+1", "lost", "lost"),
        (Fide2023, Bu, "+1", "lost", "lost"),
    ] {
        let costs = [1, 2, 3].map(|offence| cost(edition, play, offence));
        assert_eq!(costs, [first, second, third], "{edition} {play:?}");
    }
}

/// 2023, B.2 and A.3: the penalty in supervised blitz is an open point; so is the scope of 10.3 in 1997.
#[test]
fn open_points_decide_penalties() {
    let mut blitz = rules(Edition::Fide2023, Play::Bs);
    blitz.points.blitz_2023_minutes = 2;
    assert_eq!(
        blitz.penalty(),
        Penalty::Minutes {
            minutes: 2,
            loses_at: 2
        }
    );
    let mut old = rules(Edition::Fide1997, Play::S);
    old.points.penalties_1997 = Penalties1997::Always;
    assert_eq!(
        old.penalty(),
        Penalty::Minutes {
            minutes: 2,
            loses_at: 3
        }
    );
    let third = old.advise(&illegal(Stage::Completed, 3, Some(false)), WHITE);
    // 10.3 has no draw in place of the loss.
    assert!(
        english(&third).ends_with("White has lost."),
        "{}",
        english(&third)
    );
}

/// 2018 and 2023, 7.5.5: the opponent gets two minutes; the second offence loses, or draws if the opponent cannot mate.
#[test]
fn second_offence_loses_unless_the_opponent_cannot_mate() {
    let standard = rules(Edition::Fide2023, Play::S);
    let first = standard.advise(&illegal(Stage::Completed, 1, None), WHITE);
    assert_eq!(
        (first.severity, first.article.as_str()),
        (Severity::Violation, "7.5.1, 7.5.5")
    );
    assert!(
        english(&first).contains("Black gets two minutes more"),
        "{}",
        english(&first)
    );
    for (can_mate, expected) in [
        (Some(true), "White has lost; Black could still checkmate."),
        (Some(false), "It is a draw: Black cannot checkmate"),
        (None, "White has lost, unless Black cannot checkmate"),
    ] {
        let second = standard.advise(&illegal(Stage::Completed, 2, can_mate), WHITE);
        assert!(english(&second).contains(expected), "{}", english(&second));
    }
}

/// 2018, 6.2.1 and A.4.2: as long as the clock is not pressed, the player may correct the move, and no claim is
/// possible.
#[test]
fn uncompleted_illegal_move_costs_nothing() {
    for edition in [Edition::Fide2018, Edition::Fide2023] {
        for play in [Play::S, Play::Rs, Play::Ru, Play::Bs, Play::Bu] {
            let advice = rules(edition, play).advise(&illegal(Stage::Made, 0, None), WHITE);
            assert_eq!(
                (advice.severity, advice.case),
                (Severity::Advice, "illegal_move.made")
            );
            assert!(!advice.values.contains_key("minutes"));
        }
    }
    let mut later = rules(Edition::Fide2023, Play::S);
    later.points.illegal_move_told = IllegalMoveReport::Completed;
    let advice = later.advise(&illegal(Stage::Made, 0, None), WHITE);
    assert_eq!(
        (advice.severity, advice.case),
        (Severity::Info, "illegal_move.made_wait")
    );
}

/// 1997, C.3; 2014, A.4b; 2018, A.4.2; 2023, A.5.2: a mate after an unnoticed illegal move stands in unsupervised
/// blitz, because the opponent loses the right to complain with the next move.
#[test]
fn answered_illegal_move_stands_in_unsupervised_rapid_and_blitz() {
    for (edition, play, stands) in [
        (Edition::Fide1997, Play::Ru, false),
        (Edition::Fide1997, Play::Bs, true),
        (Edition::Fide2009, Play::Ru, false),
        (Edition::Fide2009, Play::Bs, false),
        (Edition::Fide2009, Play::Bu, true),
        (Edition::Fide2014, Play::Ru, true),
        (Edition::Fide2018, Play::Bu, true),
        (Edition::Fide2018, Play::Bs, false),
        (Edition::Fide2023, Play::Ru, true),
        (Edition::Fide2023, Play::S, false),
    ] {
        let rules = rules(edition, play);
        assert_eq!(rules.stands_once_answered(), stands, "{edition} {play:?}");
        let case = rules.advise(&illegal(Stage::Answered, 1, None), WHITE).case;
        assert_eq!(case == "illegal_move.stands", stands, "{edition} {play:?} {case}");
    }
}

/// 2018, 7.5.5, supervised: an earlier illegal move that nobody noticed is still an offence; the second one loses.
#[test]
fn overlooked_offence_counts_in_standard_play() {
    let advice = rules(Edition::Fide2018, Play::S).advise(&illegal(Stage::Answered, 2, Some(true)), WHITE);
    assert_eq!(
        (advice.severity, advice.case),
        (Severity::Violation, "illegal_move.found_later")
    );
    assert!(
        english(&advice).contains("White has lost; Black could still checkmate."),
        "{}",
        english(&advice)
    );
}

/// No edition has a rule: an illegal move that stands is an offence if the arbiter decides so.
#[test]
fn standing_move_counts_if_the_arbiter_decides_so() {
    let mut rules = rules(Edition::Fide2023, Play::Bu);
    let advice = rules.advise(&illegal(Stage::Answered, 1, None), WHITE);
    assert!(english(&advice).ends_with("you decide."), "{}", english(&advice));
    rules.points.standing_move_counts = true;
    let advice = rules.advise(&illegal(Stage::Answered, 1, None), WHITE);
    assert!(
        english(&advice).ends_with("It counts as White's first offence."),
        "{}",
        english(&advice)
    );
}

/// 2009, A4c: only a claim before the claimant's own move counts; 1997, B.5: penalties are given on request.
#[test]
fn arbiter_waits_for_claims_in_old_rapid_games() {
    let silent = rules(Edition::Fide2009, Play::Ru);
    assert!(!silent.acts_on_illegal_moves());
    assert_eq!(
        silent.advise(&illegal(Stage::Made, 0, None), WHITE).severity,
        Severity::Info
    );
    assert_eq!(
        silent.advise(&illegal(Stage::Answered, 1, None), WHITE).case,
        "illegal_move.claim_lapsed"
    );
    let request = rules(Edition::Fide1997, Play::Rs);
    let advice = request.advise(&illegal(Stage::Completed, 1, None), WHITE);
    assert_eq!(advice.article, "7.4, 10.3, B.5");
    assert!(
        english(&advice).contains("Rule on it only if a player asks you to."),
        "{}",
        english(&advice)
    );
}

/// 1997, C.4: a win in blitz needs mating material.
#[test]
fn win_in_blitz_of_1997_needs_mating_material() {
    for (has_material, expected) in [
        (Some(true), "Black wins, having mating material."),
        (Some(false), "It is a draw: Black has no mating material"),
        (None, "Black wins with mating material"),
    ] {
        let advice =
            rules(Edition::Fide1997, Play::Bu).advise(&illegal(Stage::Completed, 1, has_material), WHITE);
        assert!(english(&advice).contains(expected), "{}", english(&advice));
        assert_eq!(advice.article, "C.3, C.4");
    }
}

fn pawn(stage: Stage) -> Situation {
    Situation::PromotionNotReplaced {
        square: Square::E8,
        stage,
        offence: 1,
        opponent_can_mate: None,
        times: None,
    }
}

/// 2014, 7.5a; 2018 and 2023, 7.5.2: the pawn becomes a queen. 1997 and 2009, 7.4: the position before is restored.
#[test]
fn pawn_left_on_the_last_rank_becomes_a_queen_since_2014() {
    for &edition in Edition::ALL {
        let advice = rules(edition, Play::S).advise(&pawn(Stage::Completed), WHITE);
        let queen = english(&advice).contains("becomes a queen");
        assert_eq!(queen, edition >= Edition::Fide2014, "{edition}");
    }
    let advice = rules(Edition::Fide2018, Play::S).advise(&pawn(Stage::Completed), WHITE);
    assert_eq!(advice.article, "7.5.2, 7.5.5");
}

/// 2009, A4c: intervene if possible; 2014, A.4d, 2018, A.4.4, 2023, A.5.4: wait for the next move, then it is a draw.
#[test]
fn illegal_position_that_stands_waits_for_the_next_move() {
    for (edition, play, case) in [
        (Edition::Fide1997, Play::Ru, "illegal_position.go_back"),
        (Edition::Fide1997, Play::Bu, "illegal_position.stands"),
        (Edition::Fide2009, Play::Ru, "illegal_position.intervene"),
        (Edition::Fide2014, Play::Bu, "illegal_position.wait"),
        (Edition::Fide2018, Play::Ru, "illegal_position.wait"),
        (Edition::Fide2023, Play::Bu, "illegal_position.wait"),
        (Edition::Fide2023, Play::Bs, "illegal_position.go_back"),
        (Edition::Fide2023, Play::S, "illegal_position.go_back"),
    ] {
        let advice = rules(edition, play).advise(&Situation::IllegalPosition { kings: true }, None);
        assert_eq!(advice.case, case, "{edition} {play:?}");
    }
    let advice = rules(Edition::Fide2014, Play::Ru).advise(&Situation::IllegalPosition { kings: true }, None);
    // A public case of 2016: 1. Re5+ Qc5+ is illegal, 2. Rxc5 mates by a legal move, and that wins.
    assert!(
        english(&advice).contains("A checkmate by a legal move before that wins."),
        "{}",
        english(&advice)
    );
    assert_eq!(advice.article, "3.10c, A.4d");
}

/// 2018 and 2023, 7.5.3 (2017: 7.8): as an illegal move; 2014, 12.9: at discretion; before: no rule.
#[test]
fn press_without_a_move_is_an_offence_since_2017() {
    let situation = Situation::PressedWithoutMove {
        offence: 1,
        opponent_can_mate: None,
        times: None,
    };
    for (edition, severity, article) in [
        (Edition::Fide1997, Severity::Hint, "7.3"),
        (Edition::Fide2009, Severity::Hint, "13.4"),
        (Edition::Fide2014, Severity::Advice, "12.9, 6.2d"),
        (Edition::Fide2017, Severity::Violation, "7.8, 7.5.3"),
        (Edition::Fide2018, Severity::Violation, "7.5.3, 7.5.5"),
        (Edition::Fide2023, Severity::Violation, "7.5.3, 7.5.5"),
    ] {
        let advice = rules(edition, Play::S).advise(&situation, WHITE);
        assert_eq!(
            (advice.severity, advice.article.as_str()),
            (severity, article),
            "{edition}"
        );
    }
}

/// 1997, B.5; 2009, A4b: Art. 4 applies on request only. 4.5: if the touched piece has no legal move, any move is
/// allowed.
#[test]
fn touched_piece_is_never_more_than_a_hint() {
    let touch = |due: &[&str]| Situation::TouchedNotMoved {
        touch: Touch::Own { square: Square::E2 },
        due: due.iter().map(|san| (*san).to_owned()).collect(),
        played: "Nf3".to_owned(),
    };
    let old = rules(Edition::Fide1997, Play::Ru).advise(&touch(&["e3", "e4"]), WHITE);
    assert_eq!(
        (old.severity, old.article.as_str()),
        (Severity::Hint, "4.3, 4.6, B.5")
    );
    assert!(
        english(&old).ends_with("Rule on it only if a player asks you to."),
        "{}",
        english(&old)
    );
    let now = rules(Edition::Fide2023, Play::S).advise(&touch(&["e3", "e4"]), WHITE);
    assert_eq!(now.article, "4.3.1, 4.8");
    assert!(
        english(&now).ends_with("the player had to play e3, e4."),
        "{}",
        english(&now)
    );
    let free = rules(Edition::Fide2023, Play::S).advise(&touch(&[]), WHITE);
    assert!(
        english(&free).ends_with("so any move was free."),
        "{}",
        english(&free)
    );
}

/// 2023, 4.7: a released piece must stay on its square and may make no other move.
#[test]
fn a_released_piece_has_one_move() {
    let released = Situation::TouchedNotMoved {
        touch: Touch::Released { square: Square::F3 },
        due: vec!["Nf3".to_owned()],
        played: "Nh3".to_owned(),
    };
    let advice = rules(Edition::Fide2023, Play::S).advise(&released, WHITE);
    assert_eq!(advice.article, "4.7, 4.8");
    let text = english(&advice);
    assert!(text.ends_with("If you saw that, Nf3 must be played."), "{text}");
}

/// 2018, 4.4.4 (2009: 4.4d): the choice of a promotion piece is final once it has touched the square. Before the press,
/// only the board has evidence of the exchange; after it, the exchange must be undone.
#[test]
fn a_placed_promotion_piece_is_final() {
    let exchanged = |pressed| Situation::PromotionExchanged {
        square: Square::B8,
        stood: Role::Queen,
        now: Role::Knight,
        pressed,
    };
    for (edition, before, after) in [
        (Edition::Fide1997, "4.7", "4.7, 13.4"),
        (Edition::Fide2009, "4.4d", "4.4d, 13.4"),
        (Edition::Fide2018, "4.4.4", "4.4.4, 12.9"),
        (Edition::Fide2023, "4.4.4", "4.4.4, 12.9"),
    ] {
        let rules = rules(edition, Play::S);
        let [hint, advice] = [false, true].map(|pressed| rules.advise(&exchanged(pressed), WHITE));
        assert_eq!(
            (hint.severity, hint.article.as_str()),
            (Severity::Hint, before),
            "{edition}"
        );
        assert_eq!(
            (advice.severity, advice.article.as_str()),
            (Severity::Advice, after),
            "{edition}"
        );
        assert!(english(&advice).contains("have a queen put back on b8"));
    }
}

/// 2018, 6.2.4: the clock must not be pressed before the move is made. This is a matter of discretion (12.9), and a
/// hint at most.
#[test]
fn a_press_before_the_move_is_improper() {
    for (edition, article) in [
        (Edition::Fide2014, "6.2d, 12.9"),
        (Edition::Fide2018, "6.2.4, 12.9"),
        (Edition::Fide2023, "6.2.4, 12.9"),
    ] {
        let advice = rules(edition, Play::S).advise(&Situation::PressedBeforeRelease, WHITE);
        assert_eq!(
            (advice.severity, advice.article.as_str()),
            (Severity::Hint, article)
        );
    }
}

/// 2018, 7.5.4: two hands are an offence if the arbiter saw them; 2014: a matter of discretion.
#[test]
fn two_hands_are_an_offence_since_2017_if_they_were_seen() {
    let hands = Situation::TwoHandsSuspected {
        pieces: TwoPieces::Castling,
    };
    let now = rules(Edition::Fide2018, Play::S).advise(&hands, WHITE);
    assert_eq!(
        (now.case, now.article.as_str()),
        ("two_hands_suspected.as_illegal", "4.1, 7.5.4, 7.5.5")
    );
    let before_2017 = rules(Edition::Fide2014, Play::S).advise(&hands, WHITE);
    assert_eq!(
        (before_2017.case, before_2017.article.as_str()),
        ("two_hands_suspected.discretion", "4.1, 12.9")
    );
}

/// 2018, 7.1 and 7.5.5: the advice contains the times to set, with the two minutes for the opponent.
#[test]
fn advice_names_the_times_to_set() {
    let ms = |hours: u64, minutes: u64, seconds: u64| ((hours * 60 + minutes) * 60 + seconds) * 1000;
    let situation = Situation::IllegalMove {
        fault: Fault::KingInCheck,
        stage: Stage::Completed,
        offence: 1,
        opponent_can_mate: None,
        times: Some(ClockReadings {
            before: ByColor {
                white: ms(1, 8, 40),
                black: ms(1, 1, 5),
            },
            now: ByColor {
                white: ms(1, 6, 10),
                black: ms(1, 0, 20),
            },
            undue: ms(0, 0, 30),
        }),
    };
    let advice = rules(Edition::Fide2018, Play::S).advise(&situation, WHITE);
    let expected = english(&advice);
    assert!(expected.contains("White 1:08:40, Black 1:03:05"), "{expected}");
    assert!(expected.contains("White 1:05:40, Black 1:02:20"), "{expected}");
    assert!(
        advice.checked
            && !rules(Edition::Fide2014, Play::Bs)
                .advise(&situation, WHITE)
                .checked
    );
}
