//! Statements that the texts may or must not make, by the articles of each edition.

use shakmaty::ByColor;

use super::*;
use crate::laws::examples::examples;
use crate::laws::{Severity, TwoPieces};

const PLAYS: [Play; 5] = [Play::S, Play::Rs, Play::Ru, Play::Bs, Play::Bu];

fn german(advice: &Advice) -> String {
    text(Language::German, advice.case, &advice.values)
}

fn illegal(stage: Stage, offence: u32) -> Situation {
    Situation::IllegalMove {
        fault: Fault::KingInCheck,
        stage,
        offence,
        opponent_can_mate: None,
        times: None,
    }
}

/// 1997, B.3; 2009, A2; since 2014, A.2: in rapid and blitz, players need not write, whether in time trouble or not.
/// 8.4 is about standard play.
#[test]
fn players_need_not_write_in_rapid_and_blitz() {
    for &edition in Edition::ALL {
        for play in PLAYS {
            for (white, black) in [(true, false), (false, true), (true, true)] {
                let players = ByColor { white, black };
                let advice = rules(edition, play).advise(&Situation::TimeTrouble { players }, None);
                let advised = english(&advice);
                let writes = play == Play::S;
                assert_eq!(
                    advised.contains("go on writing"),
                    writes && white != black,
                    "{advised}"
                );
                assert_eq!(
                    advice.case == "time_trouble.no_writing",
                    !writes,
                    "{edition} {play:?}"
                );
                assert_eq!(advice.severity == Severity::Info, !writes, "{edition} {play:?}");
            }
        }
    }
    let both = Situation::TimeTrouble {
        players: ByColor::new_with(|_| true),
    };
    for (edition, play, article) in [
        (Edition::Fide1997, Play::Bu, "B.3"),
        (Edition::Fide2009, Play::Ru, "A2"),
        (Edition::Fide2023, Play::Rs, "A.2"),
        (Edition::Fide2023, Play::S, "8.4"),
    ] {
        assert_eq!(rules(edition, play).advise(&both, None).article, article);
    }
}

fn inconsistent(increments: bool, moves: u32) -> Situation {
    Situation::ClockInconsistent {
        missing_s: 600,
        increments_of: increments.then(|| ByColor::new_with(|_| moves)),
        should: increments.then(|| ByColor::new_with(|_| 3_600_000)),
        moves,
    }
}

/// 2023, A.5.1.1, 2018, A.4.1.1, 2014, A.4a: the setting of the clock is not changed after ten moves completed by each
/// player; 2009, A4a, and 1997, B.4: after three. Under supervision and in standard play it is changed.
#[test]
fn the_setting_of_the_clock_is_not_changed_after_the_limit() {
    for (edition, play, limit, article) in [
        (Edition::Fide1997, Play::Rs, 3, "6.10, B.4"),
        (Edition::Fide1997, Play::Bu, 3, "6.10, B.4"),
        (Edition::Fide2009, Play::Ru, 3, "6.10a, 6.10b, A4a"),
        (Edition::Fide2014, Play::Ru, 10, "6.10a, 6.10b, A.4a"),
        (Edition::Fide2018, Play::Ru, 10, "6.10.1, 6.10.2, A.4.1.1"),
        (Edition::Fide2018, Play::Bu, 10, "6.10.1, 6.10.2, A.4.1.1, B.4"),
        (Edition::Fide2023, Play::Ru, 10, "6.10.1, 6.10.2, A.5.1.1"),
        (Edition::Fide2023, Play::Bu, 10, "6.10.1, 6.10.2, A.5.1.1, B.3"),
    ] {
        let rules = rules(edition, play);
        for increments in [true, false] {
            let before = rules.advise(&inconsistent(increments, limit - 1), None);
            assert_eq!(before.article, article, "{edition} {play:?}");
            assert_eq!(before.severity, Severity::Advice);
            assert!(
                english(&before).contains("Stop the clocks"),
                "{}",
                english(&before)
            );
            let after = rules.advise(&inconsistent(increments, limit), None);
            assert_eq!(after.severity, Severity::Hint, "{edition} {play:?}");
            for advised in [english(&after), german(&after)] {
                assert!(
                    !advised.contains("Stop the clocks") && !advised.contains("Uhren anhalten"),
                    "{advised}"
                );
            }
            // Only the setting stays unchanged; a defective clock is replaced at any time.
            assert!(
                increments || english(&after).contains("replace it"),
                "{}",
                english(&after)
            );
        }
    }
    for play in [Play::S, Play::Rs, Play::Bs] {
        let advice = rules(Edition::Fide2023, play).advise(&inconsistent(true, 40), None);
        assert_eq!(
            (advice.severity, advice.article.as_str()),
            (Severity::Advice, "6.10.1, 6.10.2")
        );
        assert!(
            english(&advice).contains("set the increment"),
            "{}",
            english(&advice)
        );
    }
}

/// 2023, A.5.3, and 2018, A.4.3: the claimant may stop the clocks, and the claimant's own time does not matter. 2014,
/// A.4c: the claimant must stop the clocks and have time left. 1997, B.7: the claimant's own flag must be up.
#[test]
fn own_time_of_the_claimant_matters_up_to_2014() {
    let flag = Situation::FlagFall {
        completed: 30,
        required: None,
        last_period: true,
        opponent_can_mate: Some(true),
        opponent_broke: None,
        next_period_missing: false,
    };
    let advised = |edition, play| english(&rules(edition, play).advise(&flag, WHITE));
    for edition in [Edition::Fide2017, Edition::Fide2018, Edition::Fide2023] {
        for play in [Play::Ru, Play::Bu] {
            let advised = advised(edition, play);
            assert!(
                advised.ends_with("A player who claims it may stop the clocks."),
                "{advised}"
            );
            assert!(!advised.contains("time left"), "{advised}");
        }
    }
    let advised_2014 = advised(Edition::Fide2014, Play::Ru);
    assert!(
        advised_2014.ends_with("must stop the clocks and still have time left."),
        "{advised_2014}"
    );
    let advised_1997 = advised(Edition::Fide1997, Play::Ru);
    assert!(advised_1997.contains("Black's own flag is up"), "{advised_1997}");
}

/// 2017, 7.5.3; 2018 and 2023, 7.5.5; 2014, 7.5b; 2009, 7.4b; 1997, 10.3.
#[test]
fn penalty_has_its_article_in_every_edition() {
    let articles: Vec<&str> = Edition::ALL
        .iter()
        .map(|edition| rules(*edition, Play::S).article(Topic::Penalty))
        .collect();
    assert_eq!(articles, ["10.3", "7.4b", "7.5b", "7.5.3", "7.5.5", "7.5.5"]);
    assert_eq!(
        rules(Edition::Fide2017, Play::Bs).article(Topic::Penalty),
        "7.5.3, B.2"
    );
}

/// 1997, C.3, and 2009, B3c, do not let players agree to correct an illegal move that stands; 2014, A.4b, does. If the
/// first illegal move decides the game, there is none to count.
#[test]
fn players_may_agree_to_correct_a_move_since_2014() {
    for (edition, play, agree, counts) in [
        (Edition::Fide1997, Play::Bs, false, false),
        (Edition::Fide1997, Play::Bu, false, false),
        (Edition::Fide2009, Play::Bu, false, false),
        (Edition::Fide2014, Play::Ru, true, false),
        (Edition::Fide2017, Play::Bu, true, false),
        (Edition::Fide2018, Play::Ru, true, true),
        (Edition::Fide2023, Play::Bu, true, true),
    ] {
        let rules = rules(edition, play);
        let advised = english(&rules.advise(&illegal(Stage::Answered, 1), WHITE));
        assert_eq!(advised.contains("agree"), agree, "{edition} {play:?}: {advised}");
        assert_eq!(
            advised.contains("offence"),
            counts,
            "{edition} {play:?}: {advised}"
        );
        let pawn = Situation::IllegalPosition { kings: false };
        let advised = english(&rules.advise(&pawn, None));
        assert!(!advised.contains("agree"), "{edition} {play:?}: {advised}");
    }
}

/// 1997, 7.3, has no penalty for displacing pieces; 2009, 7.3, and 2023, 7.4, do.
#[test]
fn displacing_pieces_may_be_penalised_since_2009() {
    for &edition in Edition::ALL {
        let advice = rules(edition, Play::S).advise(&Situation::DisplacedPieces { found_later: false }, None);
        let advised = english(&advice);
        assert_eq!(
            advised.contains("penalise"),
            edition >= Edition::Fide2009,
            "{advised}"
        );
        assert_eq!(
            advised.contains("may start that player's clock"),
            edition == Edition::Fide1997,
            "{advised}"
        );
    }
}

/// 2023, III.3.1: the text names the two deciding facts, and claims neither if one of them is unknown. 1997, B.8, and
/// 2009, A4d: a draw in any order, which the arbiter of 1997 does not announce.
#[test]
fn advice_on_two_flags_states_only_known_facts() {
    let advised = |edition, play, first, last_period| {
        let both = Situation::TwoFlags {
            first,
            last_period,
            broke: None,
        };
        english(&rules(edition, play).advise(&both, None))
    };
    let now = |first, last_period| advised(Edition::Fide2023, Play::S, first, last_period);
    let draw = now(None, Some(true));
    assert!(
        draw.contains("last period") && draw.contains("nobody knows which was first"),
        "{draw}"
    );
    let play_on = now(None, Some(false));
    assert!(
        play_on.contains("not the last period") && play_on.contains("nobody knows which was first"),
        "{play_on}"
    );
    assert!(now(None, None).contains("In the last period the game is drawn; in any other it goes on."));
    assert!(now(WHITE, Some(true)).contains("White's was down first"));
    let rapid = |edition| advised(edition, Play::Ru, WHITE, Some(true));
    assert!(rapid(Edition::Fide1997).ends_with("Say nothing until a player claims it."));
    assert!(rapid(Edition::Fide2009).ends_with("You may announce it."));
}

/// 2023: A.3 has one minute, but B.2 leads supervised blitz to 7.5.5, which has two. Other rules leave nothing open.
#[test]
fn minutes_in_supervised_blitz_of_2023_are_an_open_point() {
    for &edition in Edition::ALL {
        for play in PLAYS {
            let rules = rules(edition, play);
            let open = edition == Edition::Fide2023 && play == Play::Bs;
            for situation in [
                illegal(Stage::Completed, 1),
                Situation::TwoHandsSuspected {
                    pieces: TwoPieces::Castling,
                },
            ] {
                let advised = english(&rules.advise(&situation, WHITE));
                assert_eq!(
                    advised.contains("open point"),
                    open,
                    "{edition} {play:?}: {advised}"
                );
            }
            // The second offence loses either way.
            let second = english(&rules.advise(&illegal(Stage::Completed, 2), WHITE));
            assert!(!second.contains("open point"), "{second}");
        }
    }
}

/// Guidelines II: only the texts for a game of Chess960 mention it.
#[test]
fn advice_on_a_standard_game_does_not_mention_chess960() {
    for &edition in Edition::ALL {
        for play in PLAYS {
            for &kind in IncidentKind::ALL {
                for advice in rules(edition, play).explain(kind) {
                    assert!(
                        !english(&advice).contains("Chess960"),
                        "{kind:?}: {}",
                        english(&advice)
                    );
                }
            }
        }
    }
    let drawn = DrawnStart::Chess960(None);
    let advice = rules(Edition::Fide2023, Play::S).advise(&Situation::WrongStart { drawn, moves: 0 }, None);
    assert!(english(&advice).contains("a start position of Chess960"));
}

/// 7.5.3 and 7.5.2 of 2023: no move is taken back, so the clocks are not set back either; 7.5.1: they may be. The times
/// include the penalty, and the text says so only if there is one.
#[test]
fn clocks_are_set_back_only_if_a_move_is_taken_back() {
    let times = Some(ClockReadings {
        before: ByColor {
            white: 3_600_000,
            black: 3_500_000,
        },
        now: ByColor {
            white: 3_400_000,
            black: 3_490_000,
        },
        undue: 30_000,
    });
    let standard = rules(Edition::Fide2023, Play::S);
    let illegal_move = |stage| Situation::IllegalMove {
        fault: Fault::Geometry,
        stage,
        offence: 1,
        opponent_can_mate: None,
        times,
    };
    let pressed = Situation::PressedWithoutMove {
        offence: 1,
        opponent_can_mate: None,
        times,
    };
    let pawn = Situation::PromotionNotReplaced {
        square: shakmaty::Square::E8,
        stage: Stage::Completed,
        offence: 1,
        opponent_can_mate: None,
        times,
    };
    for (situation, before, now) in [
        (illegal_move(Stage::Completed), true, true),
        (illegal_move(Stage::Answered), true, false),
        (pressed, false, true),
        (pawn, false, true),
    ] {
        let advised = english(&standard.advise(&situation, WHITE));
        assert_eq!(
            advised.contains("White 1:00:00, Black 1:00:20"),
            before,
            "{advised}"
        );
        assert_eq!(advised.contains("White 0:56:10, Black 1:00:10"), now, "{advised}");
        assert!(advised.contains("The penalty time is included."), "{advised}");
    }
    let old = english(&rules(Edition::Fide1997, Play::S).advise(&illegal_move(Stage::Completed), WHITE));
    assert!(
        old.contains("White 1:00:00, Black 0:58:20") && !old.contains("included"),
        "{old}"
    );
}

/// 2009, A4c: only claimed offences are penalised, and the board cannot know which earlier offences were claimed.
#[test]
fn claimed_penalties_are_not_numbered() {
    let advice = rules(Edition::Fide2009, Play::Ru).advise(&illegal(Stage::Completed, 3), WHITE);
    let advised = english(&advice);
    assert!(
        advised.contains("the third offence claimed loses the game"),
        "{advised}"
    );
    assert!(!advised.contains("White's third offence"), "{advised}");
}

/// English texts avoid "he" for players and pieces; German texts use the German Laws' word for rule violations.
#[test]
fn texts_are_in_plain_words() {
    for &edition in Edition::ALL {
        for play in PLAYS {
            for (situation, color) in examples() {
                let advice = rules(edition, play).advise(&situation, color);
                let advised = english(&advice);
                let mut words = advised.split(|letter: char| !letter.is_alphabetic());
                let he = words
                    .find(|word| ["he", "his", "him", "himself"].contains(&word.to_lowercase().as_str()));
                assert_eq!(he, None, "{advised}");
                assert!(!advised.contains("offence no."), "{advised}");
                let advised = german(&advice);
                assert!(!advised.contains("Verstoß verliert"), "{advised}");
            }
        }
    }
}
