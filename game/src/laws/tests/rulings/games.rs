//! The start and end of games, and the clocks.

use shakmaty::{ByColor, Color};

use super::*;
use crate::laws::Severity;

/// 1997, B.4: three moves; 2014, A.4a, 2018, A.4.1, 2023, A.5.1: ten moves completed by each player. Supervised: at any
/// time.
#[test]
fn wrong_start_is_void_up_to_the_limit() {
    let wrong = |moves| Situation::WrongStart {
        drawn: DrawnStart::Standard,
        moves,
    };
    for (edition, play, limit) in [
        (Edition::Fide1997, Play::Rs, Some(3)),
        (Edition::Fide2009, Play::Bu, Some(3)),
        (Edition::Fide2009, Play::Rs, None),
        (Edition::Fide2014, Play::Ru, Some(10)),
        (Edition::Fide2018, Play::Bu, Some(10)),
        (Edition::Fide2023, Play::Ru, Some(10)),
        (Edition::Fide2023, Play::Bs, None),
        (Edition::Fide2023, Play::S, None),
    ] {
        let rules = rules(edition, play);
        assert_eq!(rules.start_limit(), limit, "{edition} {play:?}");
        for moves in 1..40 {
            let goes_on = rules.advise(&wrong(moves), None).case == "wrong_start_position.goes_on";
            assert_eq!(
                goes_on,
                limit.is_some_and(|limit| moves >= limit),
                "{edition} {play:?} {moves}"
            );
        }
    }
    // A knight that began on c1 has moved from there legally; a king that began on a wrong square may not castle.
    let advice = rules(Edition::Fide2018, Play::Ru).advise(&wrong(10), None);
    let advised = english(&advice);
    assert!(
        advised.contains("move legally from the squares they began on"),
        "{advised}"
    );
    assert!(
        advised.contains("A king that began on a wrong square may not castle"),
        "{advised}"
    );
    assert_eq!(advice.article, "7.2.1, A.4.1");
}

/// 1997, 7.1(b): the position may be transferred; since 2009, 7.1b, 7.2.2: it must be.
#[test]
fn a_turned_board_must_be_corrected_since_2009() {
    for &edition in Edition::ALL {
        let situation = Situation::BoardRotated {
            quarter: true,
            moves: 5,
        };
        let case = rules(edition, Play::S).advise(&situation, None).case;
        let expected = if edition == Edition::Fide1997 {
            "board_rotated.may_transfer"
        } else {
            "board_rotated.transfer"
        };
        assert_eq!(case, expected, "{edition}");
    }
    let late = Situation::BoardRotated {
        quarter: true,
        moves: 10,
    };
    assert_eq!(
        rules(Edition::Fide2023, Play::Bu).advise(&late, None).case,
        "board_rotated.goes_on"
    );
}

/// Since 2017, 7.3: a new game if fewer than ten moves were made by both players; before: play continues unless the
/// arbiter rules otherwise.
#[test]
fn reversed_colours_are_a_new_game_up_to_ten_moves() {
    let both = |white, black| ByColor { white, black };
    let mut rules = rules(Edition::Fide2023, Play::S);
    assert!(rules.reversed_is_void(both(9, 9)) && rules.reversed_is_void(both(10, 9)));
    assert!(!rules.reversed_is_void(both(10, 10)));
    rules.points.reversed_limit = ReversedLimit::Either;
    assert!(!rules.reversed_is_void(both(10, 9)));
    rules.edition = Edition::Fide2014;
    assert!(!rules.reversed_is_void(both(1, 1)));
    let case = rules.advise(&Situation::ColorsReversed { moves: 1 }, None).case;
    assert_eq!(case, "colors_reversed.unless_you_rule");
}

/// 2014, 9.6a and 9.6b; since 2017, 9.6.1 and 9.6.2; not before 2014.
#[test]
fn automatic_draws_came_in_2014() {
    use Edition::{Fide1997, Fide2009, Fide2014, Fide2017, Fide2023};
    let draws = |edition| {
        let rules = rules(edition, Play::S);
        (rules.fivefold(), rules.seventy_five())
    };
    assert_eq!([draws(Fide1997), draws(Fide2009)], [(None, None); 2]);
    assert_eq!(
        draws(Fide2014),
        (Some(Fivefold::Consecutive), Some(SeventyFive::Completed))
    );
    for edition in [Fide2017, Fide2023] {
        assert_eq!(
            draws(edition),
            (Some(Fivefold::AnyOrder), Some(SeventyFive::Made))
        );
    }
    assert_eq!(rules(Fide2009, Play::S).article(Topic::Fivefold), "");
    assert_eq!(rules(Fide2014, Play::S).article(Topic::SeventyFive), "9.6b");
}

/// 5.1.2: only since 2023 is a resignation a draw if the opponent cannot mate.
#[test]
fn resignation_against_a_side_that_cannot_mate_is_a_draw_since_2023() {
    let sparing: Vec<_> = Edition::ALL
        .iter()
        .filter(|edition| rules(**edition, Play::S).resignation_spares())
        .collect();
    assert_eq!(sparing, [&Edition::Fide2023]);
}

fn flag(completed: u32, required: Option<u32>, last_period: bool) -> Situation {
    Situation::FlagFall {
        completed,
        required,
        last_period,
        opponent_can_mate: Some(true),
        opponent_broke: None,
        next_period_missing: false,
    }
}

/// 6.2.1, 6.9: two hours for forty moves. The fortieth move was made, but its press came before the opponent's own and
/// was void, so that the move is not completed.
#[test]
fn fortieth_move_must_be_completed_before_the_flag() {
    let rules = rules(Edition::Fide2018, Play::S);
    let short = rules.advise(&flag(39, Some(40), false), Some(Color::Black));
    assert_eq!(
        (short.severity, short.article.as_str()),
        (Severity::Advice, "6.8, 6.9")
    );
    let advised = english(&short);
    assert!(
        advised.contains("39 of 40 moves are completed") && advised.contains("Black has lost"),
        "{advised}"
    );
    let made = rules.advise(&flag(40, Some(40), false), Some(Color::Black));
    assert_eq!(
        (made.severity, made.case),
        (Severity::Info, "flag_fall.moves_made")
    );
}

/// 1997, B.6; 2009, A4d: only a player's claim counts, and the arbiter does not intervene. 2018, A.4.5; 2023, A.5.5:
/// the arbiter calls the flag.
#[test]
fn the_arbiter_calls_the_flag_if_the_edition_allows_it() {
    for (edition, play, case) in [
        (Edition::Fide1997, Play::S, "flag_fall.fallen"),
        (Edition::Fide1997, Play::Rs, "flag_fall.silent"),
        (Edition::Fide1997, Play::Bu, "flag_fall.silent"),
        (Edition::Fide2009, Play::Ru, "flag_fall.silent"),
        (Edition::Fide2009, Play::Rs, "flag_fall.fallen"),
        (Edition::Fide2014, Play::Bu, "flag_fall.fallen"),
        (Edition::Fide2018, Play::Ru, "flag_fall.fallen"),
        (Edition::Fide2023, Play::Bu, "flag_fall.fallen"),
    ] {
        let advice = rules(edition, play).advise(&flag(30, None, true), WHITE);
        assert_eq!(advice.case, case, "{edition} {play:?}");
    }
}

/// 6.8: a mate that was on the board before anybody noticed the flag wins; the advice says to check that first.
#[test]
fn mate_before_the_flag_is_noticed_stands() {
    let advice = rules(Edition::Fide2023, Play::S).advise(&flag(52, None, true), WHITE);
    let advised = english(&advice);
    assert!(
        advised.contains("If the game had ended before anybody noticed the flag, that result stands"),
        "{advised}"
    );
}

/// 6.11, 10.4, B.8 of 1997; A4d3 of 2009; III.3.1 since 2017; 6.9 if the first flag is known.
#[test]
fn two_flags_are_settled_by_the_first_or_the_period() {
    let now = rules(Edition::Fide2023, Play::S);
    assert_eq!(now.two_flags(WHITE, Some(true)), TwoFlags::Loses(Color::White));
    assert_eq!(now.two_flags(None, Some(false)), TwoFlags::PlayOn);
    assert_eq!(now.two_flags(None, Some(true)), TwoFlags::Draw);
    assert_eq!(now.two_flags(None, None), TwoFlags::ByPeriod);
    for (edition, play) in [
        (Edition::Fide1997, Play::Rs),
        (Edition::Fide1997, Play::Bu),
        (Edition::Fide2009, Play::Ru),
    ] {
        let both = rules(edition, play).two_flags(WHITE, Some(false));
        assert_eq!(both, TwoFlags::DrawInAnyOrder);
    }
    let draw = now.advise(
        &Situation::TwoFlags {
            first: None,
            last_period: Some(true),
            broke: None,
        },
        None,
    );
    assert_eq!(draw.article, "III.3.1.2");
}

/// 8.4 since 2017, "at any stage" of the period: two more minutes do not restore the duty to write.
#[test]
fn extra_time_does_not_restore_the_duty_to_write() {
    let players = ByColor {
        white: true,
        black: false,
    };
    let advised =
        |edition| english(&rules(edition, Play::S).advise(&Situation::TimeTrouble { players }, None));
    assert!(advised(Edition::Fide2018).contains("even if time is added"));
    assert!(advised(Edition::Fide1997).contains("as long as the time is below five minutes"));
    assert!(advised(Edition::Fide2018).starts_with("White has less than five minutes"));
}
