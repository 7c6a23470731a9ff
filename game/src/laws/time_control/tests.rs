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
fn time_controls_of_the_handbook_in_both_notations() {
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
fn alternative_notations_are_equal() {
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
fn an_invalid_time_control_is_refused_with_the_place() {
    for (text, expected) in [
        ("", "the time control is empty"),
        ("fast", "\"fast\" where a time belongs"),
        ("90 min/40 +", "\"the end\" where a time belongs"),
        ("90 min/", "\"the end\" where a number of moves belongs"),
        ("90 min: 30 s", "\":\" where"),
        ("1.5 h", "\".\" where"),
        ("40/", "\"the end\" where a number of moves belongs"),
        ("100/90", "cannot be distinguished"),
        ("60/50 + 30 + 30", "which are minutes and which are moves"),
        ("90 + 30 + 10", "one increment or one delay"),
        ("G/90/30", "written separately"),
        ("90 min/40 per move", "written separately"),
        ("100 min + 50 min, 30 s", "only the last period"),
        // Whether the 30 minutes replace the 90 for the first 40 moves or follow them, only the author knows.
        ("90min + 30min/40 moves + 30s/move", "only the last period"),
        (
            "90 min/40 + 30 min, 30 s from move 12",
            "begins with the first move of a period",
        ),
        ("90 min, 1 min from move 1", "written in seconds"),
        ("0+30", "is zero or too large"),
        ("90 min/0 + 30 min", "is zero or too large"),
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

/// Notations of federations, FIDE's handbook, pairing programs and sites.
#[test]
fn time_controls_are_read_as_people_write_them() {
    let fide = "90 min/40 + 30 min, 30 s from move 1";
    for (written, same) in [
        // FIDE, chess-results and pairing programs.
        ("90'+30\"", "90+30"),
        ("90′ + 30″", "90+30"),
        ("90’+30”", "90+30"),
        ("90' + 30''", "90+30"),
        ("90´+30´´", "90+30"),
        ("90'/30''", "90+30"),
        ("90min+30", "90+30"),
        ("90m+30s", "90+30"),
        ("90min+30sec/move", "90+30"),
        ("90 min. + 30 sec. per move", "90+30"),
        ("90 minutes + 30 seconds increment from move 1", "90+30"),
        ("90 minutes with a 30-second increment", "90+30"),
        ("90 minutes plus 30 seconds per move from the first move", "90+30"),
        ("1h30+30", "90+30"),
        ("1h 30min + 30s", "90+30"),
        ("90'/40 + 30' + 30\"", fide),
        ("90'/40 moves + 30'/end + 30\"/move", fide),
        ("90/40+30+30", fide),
        ("40/90+30+30", fide),
        ("90/40+30/End+30", fide),
        ("90 min/40 moves, 30 min/end, 30 sec/move from move 1", fide),
        ("40 moves in 90 min, rest in 30 min, 30 s per move", fide),
        (
            "90 minutes for the first 40 moves followed by 30 minutes for the rest of the game with an addition of 30 seconds \
             per move starting from move one",
            fide,
        ),
        (
            "100/40+50/20+15+30",
            "100 min/40 + 50 min/20 + 15 min, 30 s from move 1",
        ),
        ("2h/40, 1h/20, 30min", "2 h/40 + 1 h/20 + 30 min"),
        ("120/40 + 60", "2 h/40 + 1 h"),
        (
            "2 h/40 + 30 min, 30 s from the 41st move",
            "2 h/40 + 30 min, 30 s from move 41",
        ),
        // The United States.
        ("G/90+30", "90+30"),
        ("G90;+30", "90+30"),
        ("G/90 inc/30", "90+30"),
        ("G/90;inc30", "90+30"),
        ("Game/90; increment 30", "90+30"),
        ("G/90;d5", "90 min, delay 5 s"),
        ("G/60 d/5", "60 min, delay 5 s"),
        ("G/5;d0", "5 min"),
        ("SD/60", "60 min"),
        ("40/90, SD/30; +30", fide),
        ("40/90,SD/30;inc30", fide),
        ("30/60 SD/30 d5", "1 h/30 + 30 min, delay 5 s"),
        ("40/120, SD/60; d5", "2 h/40 + 1 h, delay 5 s"),
        // Sites.
        ("3+2", "3 min, 2 s"),
        ("15|10", "15+10"),
        ("60 | 1", "1 h, 1 s"),
        ("5 min + 3 s/move", "5+3"),
        ("5/3", "5+3"),
        ("15/10", "15+10"),
        // German.
        ("90 Min. / 40 Züge + 30 Min. + 30 Sek./Zug", fide),
        (
            "90 Minuten für 40 Züge, danach 30 Minuten für den Rest der Partie, 30 Sekunden pro Zug ab dem ersten Zug",
            fide,
        ),
        ("90 Min. + 30 Sek. je Zug ab Zug 1", "90+30"),
        ("Bedenkzeit 2 Std. / 40 Züge + 1 Std.", "2 h/40 + 1 h"),
        ("15 Minuten mit 10 Sekunden Zeitgutschrift", "15+10"),
        ("60 min mit 5 s Aufschub", "60 min, delay 5 s"),
        // Others.
        ("1h30 + 30s/coup", "90+30"),
        ("90 minutos + 30 segundos por jugada", "90+30"),
        ("90 minuti + 30 secondi a mossa", "90+30"),
        ("90 min + 30 seg", "90+30"),
        (
            "90 min/40 mov. + 30 min/rest. + 30 sec. incr. p/ mov. desde mov. 1",
            fide,
        ),
        ("90 minutos/40 lances + 30 min/partida + 30 seg por lance", fide),
        (
            "100'x40mm + 50'x20mm + 30\" from move 1",
            "100 min/40 + 50 min/20, 30 s from move 1",
        ),
        ("90' × 40 + 30' + 30\"", fide),
        ("90 min/partia + 30 s/ruch", "90+30"),
        ("90 minut + 30 sekund na tah", "90+30"),
        ("90 perc + 30 mp/lépés", "90+30"),
        ("90 мин + 30 сек", "90+30"),
        ("90 минут на 40 ходов + 30 минут, 30 секунд на ход", fide),
    ] {
        assert_eq!(control(written), control(same), "{written}: {}", control(written));
    }
}

/// With the wrong one of two plausible readings, a game of hours would count as blitz (2023: B.1).
#[test]
fn an_ambiguous_time_control_is_refused_with_its_readings() {
    for (text, readings) in [
        ("90/30", &["90 min, 30 s from move 1", "90 min/30 moves"][..]),
        (
            "60/30",
            &["1 h, 30 s from move 1", "1 h/30 moves", "30 min/60 moves"],
        ),
        ("40/90", &["90 min/40 moves", "1 min 30 s/40 moves"]),
        ("90/40", &["90 min, 40 s from move 1", "90 min/40 moves"]),
        ("40/300", &["5 h/40 moves", "5 min/40 moves"]),
        ("90 min/30", &["90 min/30 moves", "90 min, 30 s from move 1"]),
        (
            "90/40+30",
            &["90 min/40 + 30 min", "90 min/40 moves, 30 s from move 1"],
        ),
        (
            "40/90+30",
            &["90 min/40 + 30 min", "90 min/40 moves, 30 s from move 1"],
        ),
        ("40/90:30", &["90 min/40 + 30 min", "1 min 30 s/40 + 0 min 30 s"]),
        ("60+1", &["1 h, 1 s from move 1", "1 min, 1 s from move 1"]),
        ("120+1", &["2 h, 1 s from move 1", "2 min, 1 s from move 1"]),
        ("180+30", &["3 h, 30 s from move 1", "3 min, 30 s from move 1"]),
        ("300 + 2 s", &["5 h, 2 s from move 1", "5 min, 2 s from move 1"]),
    ] {
        let error = text.parse::<TimeControl>().expect_err(text);
        let InvalidTimeControl::Ambiguous { readings: found, .. } = &error else {
            panic!("{text}: {error}");
        };
        assert_eq!(found, readings, "{text}");
        let means: Vec<TimeControl> = found.iter().map(|reading| control(reading)).collect();
        assert!(
            means.windows(2).all(|two| two[0] != two[1]),
            "{text}: each is another one"
        );
        let written: Vec<String> = means.iter().map(TimeControl::in_words).collect();
        assert_eq!(&written, found, "{text}: each can be written so");
    }
    assert_eq!(
        "90/30"
            .parse::<TimeControl>()
            .expect_err("asked back")
            .to_string(),
        "time control \"90/30\" is ambiguous: write \"90 min, 30 s from move 1\" or \"90 min/30 moves\""
    );
}

/// PGN's numbers stay seconds if they cannot be minutes; an event's time control is never ambiguous.
#[test]
fn pgn_numbers_are_seconds_if_they_cannot_be_minutes() {
    for (text, words) in [
        ("300", "5 min"),
        ("5400+30", "90+30"),
        ("180+2", "3+2"),
        ("40/7200", "2 h/40 moves"),
        ("40/7200:3600", "2 h/40 + 1 h"),
        ("40/6000+30:900+30", "100 min/40 + 15 min, 30 s from move 1"),
        ("90+30", "90+30"),
        ("120+30", "120+30"),
    ] {
        assert_eq!(control(text).to_string(), words, "{text}");
    }
    for (event, words) in [
        ("90", "1 min 30 s"),
        ("60+1", "1+1"),
        ("40/300", "5 min/40 moves"),
        ("90 min, delay 10 s from move 1", "90 min, delay 10 s from move 1"),
    ] {
        let read = TimeControl::from_event(event).map(|control| control.to_string());
        assert_eq!(read.as_deref(), Ok(words), "{event}");
    }
}

#[test]
fn the_typed_text_is_kept() {
    let typed = control(" 90' + 30\" ");
    assert_eq!(typed.typed(), Some("90' + 30\""));
    assert_eq!(typed.pgn().as_deref(), Some("5400+30"));
    assert_eq!(TimeControl::from_pgn("5400+30").expect("PGN").typed(), None);
    assert_eq!(typed, control("90+30"));
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
    assert!(!control.keeps_writing(0) && control.keeps_writing(1));
}

#[test]
fn pgn_cannot_express_a_delay() {
    let control = control("90 min, delay 10 s");
    assert_eq!(control.pgn(), None);
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
    fn a_formatted_time_control_is_parsed_back(control in controls()) {
        let words = control.to_string();
        prop_assert_eq!(words.parse(), Ok(control.clone()), "{}", words);
        prop_assert_eq!(control.in_words().parse(), Ok(control.clone()), "{}", words);
        if let Some(pgn) = control.pgn() {
            prop_assert_eq!(TimeControl::from_pgn(&pgn), Ok(control.clone()), "{}", pgn);
        }
        let event = control.pgn().unwrap_or(words);
        prop_assert_eq!(TimeControl::from_event(&event), Ok(control), "{}", event);
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in "[0-9a-z/+:, *?.'\"|;-]{0,24}|([0-9]{1,3}( ?(min|h|s|'|\"|moves|Züge|end)| )?[/+,;| ]{1,2}(G|SD|d|inc|from move )?){1,5}|.{0,12}") {
        if let Ok(control) = text.parse::<TimeControl>() {
            prop_assert_eq!(control.typed(), Some(text.trim()));
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
