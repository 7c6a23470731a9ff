use super::*;

fn field(name: &str) -> Field {
    let name = name.as_bytes();
    Field::new((b'8' - name[1]) * 8 + name[0] - b'a').unwrap()
}

fn name(field: Field) -> String {
    format!(
        "{}{}",
        char::from(b'a' + field.number() % 8),
        8 - field.number() / 8
    )
}

/// Parses pieces as letters with their squares, as in "Pe2 pd7".
fn placement(text: &str) -> Dump {
    let mut dump = [None; Field::COUNT];
    for word in text.split_whitespace() {
        let piece = Piece::ALL["PRNBKQprnbkq".find(&word[..1]).unwrap()];
        dump[field(&word[1..]).index()] = Some(piece);
    }
    dump
}

fn letter(piece: Piece) -> char {
    "PRNBKQprnbkq".chars().nth(usize::from(piece.code()) - 1).unwrap()
}

/// Formats steps as in "-e2 Pe4": the pawn is lifted from e2 and put on e4.
fn format_deeds(steps: &[Step]) -> String {
    let words = steps.iter().map(|step| match step.deed {
        Deed::Stands(field, None) => format!("-{}", name(field)),
        Deed::Stands(field, Some(piece)) => format!("{}{}", letter(piece), name(field)),
        other => format!("{other:?}"),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn ply(from: &str, to: &str) -> Ply {
    Ply::quiet(Color::White, field(from), field(to))
}

fn capture(from: &str, to: &str) -> Ply {
    Ply {
        captured: Some(field(to)),
        ..ply(from, to)
    }
}

fn made(standing: &str, ply: &Ply, manner: Manner) -> String {
    let mut hand = Hand::new(placement(standing), Chance::new(3));
    hand.make(ply, &manner);
    format_deeds(&hand.take_steps())
}

const PLAIN: Manner = Manner::PLAIN;

#[test]
fn a_drawn_piece_shows_on_every_field_of_its_way() {
    let drawn = Manner {
        path: Path::Drawn,
        ..PLAIN
    };
    let steps_made = made("Ra1", &ply("a1", "a4"), drawn);
    let order: Vec<&str> = steps_made
        .split(' ')
        .filter(|word| word.starts_with('R'))
        .collect();
    assert_eq!(order, ["Ra2", "Ra3", "Ra4"]);
    let lifted: Vec<&str> = steps_made
        .split(' ')
        .filter(|word| word.starts_with('-'))
        .collect();
    assert_eq!(lifted, ["-a1", "-a2", "-a3"]);
    // If another piece stands in between, the piece is carried.
    assert_eq!(made("Ra1 Pa2", &ply("a1", "a4"), drawn), "-a1 Ra4");
}

#[test]
fn a_drawn_piece_may_rest_on_its_way() {
    let rest = Manner {
        path: Path::DrawnWithRest,
        ..PLAIN
    };
    let mut hand = Hand::new(placement("Qd1"), Chance::new(5));
    hand.make(&ply("d1", "h5"), &rest);
    let steps = hand.take_steps();
    let longest = steps.windows(2).map(|pair| pair[1].at - pair[0].at).max();
    assert!(longest >= Some(Duration::from_millis(300)), "{longest:?}");
}

#[test]
fn a_hovering_piece_shows_once_on_a_field_under_its_way() {
    let hovering = Manner {
        path: Path::Hovering,
        ..PLAIN
    };
    for (from, to, under) in [("d1", "d4", &["d2", "d3"][..]), ("g1", "f3", &["f2", "g2"])] {
        let steps_made = made(&format!("Q{from}"), &ply(from, to), hovering);
        let words: Vec<&str> = steps_made.split(' ').collect();
        assert_eq!(words.len(), 4, "{steps_made}");
        assert_eq!((words[0], words[3]), (&*format!("-{from}"), &*format!("Q{to}")));
        assert!(
            under.contains(&&words[1][1..]) && words[2][1..] == words[1][1..],
            "{steps_made}"
        );
    }
}

#[test]
fn captured_pieces_leave_the_board_in_every_order() {
    for (taking, expected) in [
        (Taking::VictimFirst, "-d5 -e4 Pd5"),
        (Taking::MoverFirst, "-e4 -d5 Pd5"),
        (Taking::InOneGo, "-e4 Pd5"),
    ] {
        let manner = Manner { taking, ..PLAIN };
        assert_eq!(made("Pe4 pd5", &capture("e4", "d5"), manner), expected);
    }
    let aside = Manner {
        taking: Taking::PushedAside,
        ..PLAIN
    };
    let steps_made = made("Pe4 pd5", &capture("e4", "d5"), aside);
    let words: Vec<&str> = steps_made.split(' ').collect();
    assert_eq!(
        (&words[..2], words[3]),
        (&["-e4", "-d5"][..], "Pd5"),
        "{steps_made}"
    );
    assert_eq!(words[2][..1], *"p");
    assert_eq!(words[4], format!("-{}", &words[2][1..]));
}

#[test]
fn a_drawn_piece_stops_before_its_victim() {
    let drawn = Manner {
        path: Path::Drawn,
        taking: Taking::MoverFirst,
        ..PLAIN
    };
    let steps_made = made("Ra1 ra3", &capture("a1", "a3"), drawn);
    let (a2, taken) = (steps_made.find("Ra2").unwrap(), steps_made.find("-a3").unwrap());
    assert!(
        a2 < taken && taken < steps_made.find("Ra3").unwrap(),
        "{steps_made}"
    );
}

#[test]
fn the_pawn_captured_en_passant_leaves_first_between_or_last() {
    let take = Ply {
        captured: Some(field("d5")),
        ..ply("e5", "d6")
    };
    assert!(take.is_en_passant() && !capture("e5", "d6").is_en_passant());
    for (en_passant, expected) in [
        (EnPassant::PawnFirst, "-d5 -e5 Pd6"),
        (EnPassant::PawnBetween, "-e5 -d5 Pd6"),
        (EnPassant::PawnLast, "-e5 Pd6 -d5"),
    ] {
        let manner = Manner { en_passant, ..PLAIN };
        assert_eq!(made("Pe5 pd5", &take, manner), expected);
    }
}

fn castle(king: &str, king_to: &str, rook: &str, rook_to: &str) -> Ply {
    Ply {
        rook: Some((field(rook), field(rook_to))),
        ..ply(king, king_to)
    }
}

#[test]
fn castling_is_done_in_every_order() {
    let short = castle("e1", "g1", "h1", "f1");
    for (castling, expected) in [
        (Castling::KingFirst, "-e1 Kg1 -h1 Rf1"),
        (Castling::RookFirst, "-h1 Rf1 -e1 Kg1"),
    ] {
        let manner = Manner { castling, ..PLAIN };
        assert_eq!(made("Ke1 Rh1", &short, manner), expected);
    }
    let both = Manner {
        castling: Castling::BothAtOnce,
        ..PLAIN
    };
    let steps_made = made("Ke1 Rh1", &short, both);
    assert!(
        ["-e1 -h1 Kg1 Rf1", "-h1 -e1 Kg1 Rf1"].contains(&steps_made.as_str()),
        "{steps_made}"
    );
}

#[test]
fn in_chess960_a_piece_may_stay_or_go_to_the_others_origin() {
    let steps_made = made("Kf1 Rg1", &castle("f1", "g1", "g1", "f1"), PLAIN);
    assert!(
        ["-f1 -g1 Kg1 Rf1", "-g1 -f1 Kg1 Rf1"].contains(&steps_made.as_str()),
        "{steps_made}"
    );
    assert_eq!(made("Kb1 Rd1", &castle("b1", "c1", "d1", "d1"), PLAIN), "-b1 Kc1");
    assert_eq!(made("Kg1 Rh1", &castle("g1", "g1", "h1", "f1"), PLAIN), "-h1 Rf1");
}

#[test]
fn a_pawn_is_exchanged_in_every_order() {
    let queen = Ply {
        promoted: Some(Piece::WhiteQueen),
        ..ply("b7", "b8")
    };
    let takes = Ply {
        captured: Some(field("a8")),
        promoted: Some(Piece::WhiteQueen),
        ..ply("b7", "a8")
    };
    for (promoting, expected, expected_taking) in [
        (Promoting::PawnFirst, "-b7 Pb8 -b8 Qb8", "-a8 -b7 Pa8 -a8 Qa8"),
        (Promoting::PieceFirst, "Qb8 -b7", "-a8 Qa8 -b7"),
        (Promoting::InTheHand, "-b7 Qb8", "-b7 -a8 Qa8"),
    ] {
        let manner = Manner { promoting, ..PLAIN };
        assert_eq!(made("Pb7 ra8", &queen, manner), expected);
        assert_eq!(made("Pb7 ra8", &takes, manner), expected_taking);
    }
}

#[test]
fn every_temperament_puts_the_pieces_on_their_squares() {
    let before = "Ke1 Rh1 Pb7 Pe5 Qd1 ra8 pd5 ke8";
    let en_passant = Ply {
        captured: Some(field("d5")),
        ..ply("e5", "d6")
    };
    let promotion = Ply {
        captured: Some(field("a8")),
        promoted: Some(Piece::WhiteKnight),
        ..ply("b7", "a8")
    };
    let cases = [
        (castle("e1", "g1", "h1", "f1"), "Kg1 Rf1 Pb7 Pe5 Qd1 ra8 pd5 ke8"),
        (en_passant, "Ke1 Rh1 Pb7 Pd6 Qd1 ra8 ke8"),
        (promotion, "Ke1 Rh1 Na8 Pe5 Qd1 pd5 ke8"),
        (capture("d1", "d5"), "Ke1 Rh1 Pb7 Pe5 Qd5 ra8 ke8"),
        (ply("d1", "h5"), "Ke1 Rh1 Pb7 Pe5 Qh5 ra8 pd5 ke8"),
    ];
    for temperament in Temperament::ALL {
        for seed in 0..200 {
            for (ply, after) in cases {
                let mut chance = Chance::new(seed);
                let mut pair = Opponents::sit_down(placement(before), Duration::ZERO, Chance::new(seed));
                pair.play(&ply, temperament, 100, &mut chance);
                assert_eq!(
                    *pair.hand().standing(),
                    placement(after),
                    "{temperament:?} {seed}"
                );
                let mut acted_out = placement(before);
                pair.hand().tidy_up();
                for step in pair.hand().take_steps() {
                    if let Deed::Stands(field, contents) = step.deed {
                        acted_out[field.index()] = contents;
                    }
                }
                assert_eq!(acted_out, placement(after), "{temperament:?} {seed}");
            }
        }
    }
}

#[test]
fn a_player_who_adjusts_lifts_another_piece_and_puts_it_back() {
    let manner = Manner {
        adjusts: true,
        ..PLAIN
    };
    let mut pair = Opponents::sit_down(placement("Pe2 Nb1 pe7"), Duration::ZERO, Chance::new(1));
    let made = pair.make(&ply("e2", "e4"), &manner);
    let steps = pair.hand().take_steps();
    assert_eq!(format_deeds(&steps), "-b1 Nb1 -e2 Pe4 Press(White)");
    assert!(steps[1].at < made.begun && made.begun <= steps[2].at);
    assert_eq!(made.landed, steps[3].at);
}

#[test]
fn a_player_who_forgets_the_clock_does_not_press() {
    let manner = Manner {
        press: Press::Forgotten,
        ..PLAIN
    };
    let mut pair = Opponents::sit_down(placement("Pe2"), Duration::ZERO, Chance::new(1));
    pair.make(&ply("e2", "e4"), &manner);
    assert_eq!(format_deeds(&pair.hand().take_steps()), "-e2 Pe4");
}

#[test]
fn an_answer_may_precede_the_press_but_its_own_press_does_not() {
    let hasty = Manner {
        answered_at_once: true,
        pace: Pace {
            think: ms(0, 0),
            press: ms(900, 1000),
            ..Pace::BLITZ
        },
        ..PLAIN
    };
    let mut pair = Opponents::sit_down(placement("Pe2 pe7"), Duration::ZERO, Chance::new(1));
    let first = pair.make(&ply("e2", "e4"), &hasty);
    let answer = Ply {
        color: Color::Black,
        ..ply("e7", "e5")
    };
    let second = pair.make(&answer, &hasty);
    let steps = pair.hand().take_steps();
    let press = |color| {
        steps
            .iter()
            .find(|step| step.deed == Deed::Press(color))
            .unwrap()
            .at
    };
    assert!(first.landed < second.begun && second.begun < press(Color::White));
    assert!(press(Color::Black) >= press(Color::White) + Duration::from_millis(150));
}

#[test]
fn the_thinking_factor_scales_thinking_but_not_hand_motions() {
    let time = |thinking| {
        let mut pair = Opponents::sit_down(placement("Pe2"), Duration::ZERO, Chance::new(1));
        let mut chance = Chance::new(2);
        pair.play(&ply("e2", "e4"), Temperament::Calm, thinking, &mut chance)
    };
    let (usual, quick, slow) = (time(100), time(0), time(1000));
    assert!(usual.begun >= Duration::from_millis(700) && usual.begun <= Duration::from_millis(3500));
    assert_eq!(quick.begun, Duration::from_millis(350));
    assert!(slow.begun >= Duration::from_secs(7));
    assert_eq!(
        usual.landed - usual.begun,
        quick.landed - quick.begun,
        "hands take their time"
    );
}

#[test]
fn setting_up_reuses_pieces_and_removes_surplus_ones() {
    let start = placement("Ke1 Ra1 ke8");
    for seed in 0..100 {
        let mut hand = Hand::new(placement("Ka1 ke1 Qd4 Ph8"), Chance::new(seed));
        hand.set_up(&start);
        assert_eq!(*hand.standing(), start);
    }
    let mut hand = Hand::new(start, Chance::new(1));
    hand.set_up(&start);
    assert_eq!(hand.take_steps(), []);
}
