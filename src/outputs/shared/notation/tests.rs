use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, EnPassantMode, Position, Square};

use super::*;

fn letters(tag: &str) -> &'static Letters {
    Letters::of(tag).expect("in the table")
}

fn position(fen: &str) -> Chess {
    let fen: Fen = fen.parse().expect("a FEN");
    fen.into_position(CastlingMode::Standard).expect("a position")
}

fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

/// The moves of a printed game, each with the "e.p." or "(=)" that follows it.
fn moves(game: &str) -> Vec<String> {
    let mut moves: Vec<String> = Vec::new();
    for word in game.split_whitespace() {
        let number = word.ends_with('.') && word.starts_with(|c: char| c.is_ascii_digit());
        match (word, moves.last_mut()) {
            _ if number => {}
            ("e.p." | "(=)", Some(last)) => *last = format!("{last} {word}"),
            _ => moves.push(word.to_owned()),
        }
    }
    moves
}

/// Plays a printed game. Returns the final position, the moves in the notation of `writer`, and whether a draw was
/// offered.
fn play(game: &str, reader: &'static Letters, writer: Notation) -> (Chess, Vec<String>, bool) {
    let mut position = Chess::new();
    let (mut written, mut offered) = (Vec::new(), false);
    for text in moves(game) {
        let reading = read(&text, reader, &position).unwrap_or_else(|error| panic!("{error}"));
        let offer = if reading.draw_offered { " (=)" } else { "" };
        written.push(writer.write(reading.played, &position) + offer);
        offered |= reading.draw_offered;
        position = position.play(reading.played).expect("a legal move");
    }
    (position, written, offered)
}

/// The sample game of the Laws of 1997, Annex E, German edition.
const ANNEX_1997: &str = "1. d4 Sf6 2. c4 e6 3. Sc3 Lb4 4. Ld2 0-0 5. e4 d5 6. exd5 exd5 7. cxd5 Lxc3 \
    8. Lxc3 Sxd5 9. Sf3 b6 10. Db3 Sxc3 11. bxc3 c5 12. Le2 cxd4 13. Sxd4 Te8 14. 0-0 Sd7 15. a4 Sc5 \
    16. Db4 Lb7 17. a5 (=)";
const ANNEX_1997_ENGLISH: &str = "1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 4. Bd2 O-O 5. e4 d5 6. exd5 exd5 7. cxd5 Bxc3 \
    8. Bxc3 Nxd5 9. Nf3 b6 10. Qb3 Nxc3 11. bxc3 c5 12. Be2 cxd4 13. Nxd4 Re8 14. O-O Nd7 15. a4 Nc5 \
    16. Qb4 Bb7 17. a5 (=)";
const ANNEX_1997_END: &str = "r2qr1k1/pb3ppp/1p6/P1n5/1Q1N4/2P5/4BPPP/R4RK1 b - - 0 17";

#[test]
fn sample_game_of_1997_goes_from_german_to_english_and_back() {
    let (german, english) = (letters("de"), letters("en"));
    let (end, in_english, offered) = play(ANNEX_1997, german, Notation::new(english, MateSign::DoublePlus));
    assert_eq!((fen(&end).as_str(), offered), (ANNEX_1997_END, true));
    let expected: Vec<String> = moves(ANNEX_1997_ENGLISH)
        .iter()
        .map(|text| text.replace('O', "0"))
        .collect();
    assert_eq!(in_english, expected);

    let (end, in_german, offered) = play(
        ANNEX_1997_ENGLISH,
        english,
        Notation::new(german, MateSign::DoublePlus),
    );
    assert_eq!((fen(&end).as_str(), offered), (ANNEX_1997_END, true));
    assert_eq!(in_german, moves(ANNEX_1997));
}

/// The sample game of the Laws of 2023, Appendix C.
const APPENDIX_2023: &str = "1. e4 e5 2. Nf3 Nf6 3. d4 exd4 4. e5 Ne4 5. Qxd4 d5 6. exd6 e.p. Nxd6 7. Bg5 Nc6 \
    8. Qe3+ Be7 9. Nbd2 0-0 10. 0-0-0 Re8 11. Kb1 (=)";
const APPENDIX_2023_BARE: &str = "1. e4 e5 2. Nf3 Nf6 3. d4 ed4 4. e5 Ne4 5. Qd4 d5 6. ed6 Nd6 7. Bg5 Nc6 \
    8. Qe3 Be7 9. Nbd2 0-0 10. 0-0-0 Re8 11. Kb1 (=)";
const APPENDIX_2023_LONG: &str = "1. e2e4 e7e5 2. Ng1f3 Ng8f6 3. d2d4 e5xd4 4. e4e5 Nf6e4 5. Qd1xd4 d7d5 \
    6. e5xd6 e.p. Ne4xd6 7. Bc1g5 Nb8c6 8. Qd4d3 Bf8e7 9. Nb1d2 0-0 10. 0-0-0 Rf8e8 11. Kc1b1 (=)";
const APPENDIX_2023_END: &str = "r1bqr1k1/ppp1bppp/2nn4/6B1/8/4QN2/PPPN1PPP/1K1R1B1R b - - 9 11";

#[test]
fn sample_game_of_2023_is_the_same_in_its_printed_forms() {
    let (english, russian) = (letters("en"), letters("ru"));
    let same = Notation::new(english, MateSign::Hash);
    for printed in [APPENDIX_2023, APPENDIX_2023_BARE] {
        let (end, written, offered) = play(printed, english, same);
        assert_eq!((fen(&end).as_str(), offered), (APPENDIX_2023_END, true));
        assert_eq!(written, moves(APPENDIX_2023));
    }
    let (end, written, _) = play(APPENDIX_2023_LONG, english, same);
    assert_eq!(fen(&end), APPENDIX_2023_END.replace("4QN2", "3Q1N2"));
    assert_eq!(written[14], "Qd3");

    let (_, in_russian, _) = play(APPENDIX_2023, english, Notation::new(russian, MateSign::Hash));
    assert_eq!(&in_russian[14..16], ["Фe3+", "Сe7"]);
    assert_eq!(in_russian.last().map(String::as_str), Some("Крb1 (=)"));
    let (end, written, _) = play(&in_russian.join(" "), russian, same);
    assert_eq!(fen(&end), APPENDIX_2023_END);
    assert_eq!(written, moves(APPENDIX_2023));
}

#[test]
fn same_letter_is_another_piece_in_another_language() {
    // Each white piece can go to a square that no other can reach.
    let position = position("4k3/8/8/8/3Q4/8/8/R1B1K1N1 w Q - 0 1");
    let from = |text: &str, tag| read(text, letters(tag), &position).map(|reading| reading.played.from());
    assert_eq!(from("Ra5", "en"), Ok(Some(Square::A1)));
    assert_eq!(from("Re2", "fr"), Ok(Some(Square::E1)));
    assert_eq!(from("Rf3", "fi"), Ok(Some(Square::G1)));
    assert!(from("Ra5", "fr").is_err() && from("Ra5", "fi").is_err() && from("Re2", "en").is_err());
    assert_eq!(from("Bh6", "en"), Ok(Some(Square::C1)));
    assert_eq!(from("Ba5", "hu"), Ok(Some(Square::A1)));
    assert_eq!(from("Ka5", "tr"), Ok(Some(Square::A1)));
    assert_eq!(from("Кe2", "ru"), Ok(Some(Square::G1)));
    assert_eq!(from("Крe2", "ru"), Ok(Some(Square::E1)));
    assert_eq!(from("Sf3", "de"), Ok(Some(Square::G1)));
    assert_eq!(from("Sh6", "cs"), Ok(Some(Square::C1)));
    assert_eq!(from("Fh6", "tr"), Ok(Some(Square::C1)));
    assert_eq!(from("Af3", "tr"), Ok(Some(Square::G1)));
    assert_eq!(from("Ah6", "es"), Ok(Some(Square::C1)));
}

#[test]
fn letters_of_a_language_are_different_from_each_other() {
    for letters in &LETTERS {
        let all: std::collections::BTreeSet<&str> = letters.all().leak().split(' ').collect();
        assert_eq!(all.len(), 5, "{}", letters.name);
        assert_eq!(Letters::of(letters.tag), Some(letters));
    }
    assert_eq!(Letters::of("de-CH"), Letters::of("DE"));
    assert_eq!(Letters::of(""), None);
}

#[test]
fn promotion_is_written_without_a_sign_and_read_with_one() {
    let position = position("k5n1/5P2/8/8/8/8/8/K7 w - - 0 1");
    let german = letters("de");
    let written = |text: &str| {
        let reading = read(text, german, &position)?;
        Ok::<_, Unread>(Notation::new(german, MateSign::Hash).write(reading.played, &position))
    };
    assert_eq!(written("f8D").as_deref(), Ok("f8D+"));
    assert_eq!(written("f8=D+").as_deref(), Ok("f8D+"));
    assert_eq!(written("fxg8S").as_deref(), Ok("fxg8S"));
    assert_eq!(written("f7-f8=T").as_deref(), Ok("f8T+"));
    // The promotion piece must be given.
    assert!(matches!(written("f8"), Err(Unread::Illegal { .. })));
    assert!(matches!(written("f8K"), Err(Unread::Illegal { .. })));
    assert!(
        matches!(written("g8S"), Err(Unread::Illegal { .. })),
        "the file of a capture"
    );
}

#[test]
fn ambiguous_moves_are_refused_with_the_choices() {
    let position = position("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1");
    let error = read("Sd2", letters("de"), &position).expect_err("two knights");
    assert_eq!(error.to_string(), "\"Sd2\" is ambiguous: Sbd2 or Sfd2");
    assert!(read("Sbd2", letters("de"), &position).is_ok());
    let error = read("Nd2", letters("de"), &position).expect_err("no German letter");
    assert_eq!(
        error.to_string(),
        "\"Nd2\" is not a move in German notation (K D T L S)"
    );
    // Knights on one file are distinguished by their ranks.
    let position = self::position("4k3/8/8/1N6/8/8/8/1N2K3 w - - 0 1");
    let reading = read("Sb1-c3", letters("de"), &position).expect("a move");
    let text = Notation::new(letters("de"), MateSign::Hash).write(reading.played, &position);
    assert_eq!(text, "S1c3");
}

#[test]
fn signs_that_contradict_the_position_are_refused() {
    let position = Chess::new();
    let english = letters("en");
    assert!(read("Nxf3", english, &position).is_err(), "nothing stands there");
    assert!(read("e4 e.p.", english, &position).is_err());
    assert!(
        read("e4+", english, &position).is_ok(),
        "a sign of check is not checked"
    );
    for text in [
        "", " ", "0-0", "e.p.", "(=)", "+", "x", "-e4", "e9", "ee4e", "Кр", "d8=", "\u{0}",
    ] {
        assert!(read(text, english, &position).is_err(), "{text:?}");
    }
}

#[test]
fn mate_has_the_sign_of_the_edition() {
    let before = position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    let english = letters("en");
    let mate = read("Ra8++", english, &before).expect("a move").played;
    let sign = |edition| Notation::new(english, MateSign::of(edition)).write(mate, &before);
    assert_eq!(
        (sign(Edition::Fide1997), sign(Edition::Fide2023)),
        ("Ra8++".to_owned(), "Ra8#".to_owned())
    );
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*", tag in 0..LETTERS.len()) {
        let _ = read(&text, &LETTERS[tag], &Chess::new());
    }

    #[test]
    fn no_text_like_a_move_makes_the_reader_panic(text in "[KDТРрSRa-h1-8x=+#. 0O-]{0,9}(e\\.p\\.)?(\\(=\\))?", tag in 0..LETTERS.len()) {
        let _ = read(&text, &LETTERS[tag], &Chess::new());
    }

    #[test]
    fn every_move_written_is_read_again(choices in prop::collection::vec(any::<prop::sample::Index>(), 0..80), tag in 0..LETTERS.len()) {
        let notation = Notation::new(&LETTERS[tag], MateSign::Hash);
        let mut position = Chess::new();
        for choice in choices {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let played = *choice.get(&moves);
            let text = notation.write(played, &position);
            let reading = read(&text, &LETTERS[tag], &position);
            prop_assert_eq!(reading.map(|reading| reading.played), Ok(played), "{}", text);
            position = position.play(played).expect("a legal move");
        }
    }
}
