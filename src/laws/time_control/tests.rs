use proptest::prelude::*;

use super::*;

fn control(text: &str) -> TimeControl {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn period(moves: Option<u32>, seconds: u32, bonus: Bonus) -> Period {
    Period {
        moves,
        seconds,
        bonus,
    }
}

#[test]
fn handbooks_time_controls_in_both_ways_of_writing() {
    for (words, pgn, hours) in [
        ("90 min/40 + 30 min, 30 s from move 1", "40/5400+30:1800+30", 5.0),
        (
            "100 min/40 + 50 min/20 + 30 min, 30 s from move 1",
            "40/6000+30:20/3000+30:1800+30",
            7.0,
        ),
        ("100 min/40 + 50 min, 30 s from move 1", "40/6000+30:3000+30", 6.0),
        ("2 h/40 + 1 h/20 + 30 min", "40/7200:20/3600:1800", 7.0),
        (
            "2 h/40 + 30 min, 30 s from move 41",
            "40/7200:1800+30",
            5.0 + 1.0 / 3.0,
        ),
        ("1 h/40 + 30 min", "40/3600:1800", 3.0),
        ("90+30", "5400+30", 4.0),
        ("15+10", "900+10", 50.0 / 60.0),
        ("3+2", "180+2", 10.0 / 60.0),
        ("2 h", "7200", 4.0),
        ("1 min 30 s", "90", 0.05),
    ] {
        let read = control(words);
        assert_eq!(read.to_string(), words);
        assert_eq!(read.pgn().as_deref(), Some(pgn));
        assert_eq!(TimeControl::from_pgn(pgn), Ok(read.clone()));
        assert!(
            (read.game_seconds() as f64 / 3600.0 - hours).abs() < 1e-9,
            "{words}"
        );
    }
}

#[test]
fn the_same_can_be_written_in_other_ways() {
    for (one, other) in [
        (
            "90 min/40 + 30 min + 30 s",
            "90 min/40 + 30 min, 30 s from move 1",
        ),
        (
            "90 Min./40 + 30 Min., 30 s ab Zug 1",
            "90 min/40 + 30 min, 30 s from move 1",
        ),
        ("100/40 + 50, 30 s", "100 min/40 + 50 min, 30 s from move 1"),
        ("1 h 30 min + 30 s per move", "90+30"),
        ("90 min + 30 s/move", "90+30"),
        (" 90 + 30 ", "90+30"),
        ("300+2", "5+2"),
        ("180+2", "3+2"),
        ("90", "90 min"),
        ("5", "5 min"),
        ("7200", "2 h"),
        ("15+0", "15 min"),
        ("40/7200:3600", "2 h/40 + 1 h"),
        ("90 min, delay 10 s", "90 min, delay 10 s from move 1"),
        ("90 min, 10 s delay a move", "90 min, delay 10 s from move 1"),
    ] {
        assert_eq!(control(one).to_string(), control(other).to_string(), "{one}");
        assert_eq!(control(one), control(other), "{one}");
    }
}

#[test]
fn what_is_no_time_control_is_refused_with_the_place() {
    for (text, expected) in [
        ("", "written as in"),
        ("fast", "\"fast\" where a time belongs"),
        ("90 min/40 +", "\"the end\" where a time belongs"),
        ("90 min/", "\"the end\" where a number of moves belongs"),
        ("90 min; 30 s", "\";\" where"),
        ("40/", "\"the end\" where a number of seconds belongs"),
        ("100 min + 50 min, 30 s", "only the last period"),
        (
            "90 min/40 + 30 min, 30 s from move 12",
            "begins with the first move of a period",
        ),
        ("90 min, 1 min from move 1", "written in seconds"),
        ("0+30", "more than 0"),
        ("90 min/0 + 30 min", "more than 0"),
        ("99999999999 min", "too large"),
        ("4294967295 h", "too large"),
        ("*180", "sand clock"),
        ("?", "sand clock"),
        ("-", "sand clock"),
    ] {
        let error = text.parse::<TimeControl>().expect_err(text);
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn moves_fall_into_periods() {
    let control = control("2 h/40 + 1 h/20 + 30 min");
    let standing = |completed| {
        let standing = control.standing(completed);
        (standing.period, standing.moves_left)
    };
    assert_eq!(standing(0), (0, Some(40)));
    assert_eq!(standing(39), (0, Some(1)));
    assert_eq!(standing(40), (1, Some(20)));
    assert_eq!(standing(60), (2, None));
    assert_eq!(
        [0, 1, 2].map(|period| control.required(period)),
        [Some(40), Some(60), None]
    );
    assert!(!control.is_last(1) && control.is_last(2) && control.is_last(9));
    assert_eq!(control.credited_ms(2), 3 * 3_600_000);
}

#[test]
fn last_period_with_moves_repeats() {
    let control = control("2 h/40 + 1 h/20");
    assert_eq!(
        control.standing(85),
        Reached {
            period: 3,
            moves_left: Some(15)
        }
    );
    assert_eq!(control.required(3), Some(100));
    assert!(!control.is_last(7));
    assert_eq!(control.credited_ms(3), 4 * 3_600_000);
}

#[test]
fn increment_may_begin_with_a_later_period() {
    let control = control("2 h/40 + 30 min, 30 s from move 41");
    assert_eq!(
        (control.bonus(40), control.bonus(41)),
        (Bonus::None, Bonus::Fischer(30))
    );
    assert_eq!(control.increments_ms(42), Some(60_000));
    assert!(!control.keeps_writing(0) && control.keeps_writing(1));
}

#[test]
fn delay_is_neither_pgn_nor_a_sum() {
    let control = control("90 min, delay 10 s");
    assert_eq!((control.pgn(), control.increments_ms(5)), (None, None));
    assert_eq!(control.player_seconds(), 6000);
}

/// Laws 2023, A.1 and B.1; 2009, A1 and B1; 1997, B.1 and C.1.
#[test]
fn mode_follows_from_the_time_of_sixty_moves() {
    for (text, edition, mode) in [
        ("60 min", Edition::Fide2023, Mode::Standard),
        ("59 min", Edition::Fide2023, Mode::Rapid),
        ("60 min", Edition::Fide1997, Mode::Rapid),
        ("60 min", Edition::Fide2009, Mode::Standard),
        ("15+10", Edition::Fide2023, Mode::Rapid),
        ("10 min", Edition::Fide2023, Mode::Blitz),
        ("8+2", Edition::Fide2023, Mode::Blitz),
        ("8+3", Edition::Fide2023, Mode::Rapid),
        ("10+1", Edition::Fide2014, Mode::Rapid),
        ("14 min", Edition::Fide2009, Mode::Blitz),
        ("15 min", Edition::Fide2009, Mode::Rapid),
        ("14 min", Edition::Fide1997, Mode::Blitz),
        ("90+30", Edition::Fide2018, Mode::Standard),
    ] {
        assert_eq!(control(text).mode(edition), mode, "{text} {edition}");
    }
}

fn bonuses() -> impl Strategy<Value = Bonus> {
    prop_oneof![
        Just(Bonus::None),
        (1..=120_u32).prop_map(Bonus::Fischer),
        (1..=120_u32).prop_map(Bonus::Delay),
    ]
}

fn controls() -> impl Strategy<Value = TimeControl> {
    let numbered = (1..=200_u32, 1..=20_000_u32, bonuses())
        .prop_map(|(moves, seconds, bonus)| period(Some(moves), seconds, bonus));
    let last = (proptest::option::of(1..=200_u32), 1..=20_000_u32, bonuses())
        .prop_map(|(moves, seconds, bonus)| period(moves, seconds, bonus));
    (proptest::collection::vec(numbered, 0..4), last).prop_map(|(mut periods, last)| {
        periods.push(last);
        TimeControl::new(periods).expect("sensible periods")
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(control in controls()) {
        let words = control.to_string();
        prop_assert_eq!(words.parse(), Ok(control.clone()), "{}", words);
        if let Some(pgn) = control.pgn() {
            prop_assert_eq!(TimeControl::from_pgn(&pgn), Ok(control), "{}", pgn);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9a-z/+:, *?.-]{0,24}|.{0,12}") {
        if let Ok(control) = text.parse::<TimeControl>() {
            prop_assert_eq!(control.to_string().parse::<TimeControl>(), Ok(control));
        }
    }

    #[test]
    fn every_move_is_in_its_period(control in controls(), completed in 0..2000_u32) {
        let standing = control.standing(completed);
        match (control.required(standing.period), standing.moves_left) {
            (Some(required), Some(left)) => prop_assert_eq!(completed + left, required),
            (required, left) => prop_assert_eq!((required, left), (None, None)),
        }
    }
}
