use crate::command::Refusal;
use crate::events::{EventKind, GameResult, ResumableGame};
use crate::laws::{Edition, Language, Mode};
use crate::position::State;
use crate::referee::tests::table::{STANDARD, Table, WHITE_WINS, rules};
use crate::referee::{Referee, Resumed};
use shakmaty::{CastlingMode, Color};

fn table() -> Table {
    Table::new(Edition::Fide2023)
}

#[test]
fn a_command_without_its_game_is_refused() {
    let mut table = table();
    for (command, error) in [
        (
            r#""do":"set_result","result":"1-0""#,
            "there is no game on board-1 to change",
        ),
        (r#""do":"end_game""#, "no game is being played on board-1"),
        (
            r#""do":"annotate","text":"x""#,
            "there is no game on board-1 to change",
        ),
        (
            r#""do":"correct_moves","moves":[]"#,
            "there is no game on board-1 to change",
        ),
        (
            r#""do":"close_incident","incident":3"#,
            "there is no incident 3 in the game on board-1",
        ),
        (
            r#""do":"set_players","white":"A","game":"g""#,
            "the game g is neither on board-1 nor in the journal",
        ),
        (
            r#""do":"set_time_control","time_control":"soon""#,
            "time control \"soon\"",
        ),
    ] {
        let answer = table.command(command);
        assert!(answer.starts_with(error), "{command}: {answer}");
    }
    assert_eq!(table.published(), [""; 0]);
    table.plays("e4");
    assert_eq!(
        table.command(r#""do":"identify""#),
        "a game is being played on board-1"
    );
}

#[test]
fn the_arbiter_is_answered_in_their_language() {
    let mut table = table();
    table.referee.regulations.language = Language::German;
    assert_eq!(
        table.command(r#""do":"end_game""#),
        "an board-1 wird keine Partie gespielt"
    );
    assert_eq!(
        table.command(r#""do":"set_position","fen":"4k3""#),
        "\"4k3\" ist keine Stellung, aus der eine Partie weitergehen kann: Es ist kein FEN"
    );
    let every = [
        Refusal::UnknownBoard {
            board: "b".to_owned(),
            boards: vec!["c".to_owned()],
        },
        Refusal::SameMoves,
    ];
    for refusal in every {
        assert_ne!(refusal.text(Language::German), refusal.text(Language::English));
    }
}

#[test]
fn players_named_before_the_game_play_it() {
    let mut table = table();
    table.command(r#""do":"set_players","white":"Adams","black":"Baker""#);
    table.command(r#""do":"set_time_control","time_control":"90+30""#);
    assert_eq!(table.published(), [""; 0]);
    table.plays("e4");
    let players = table.referee.game.as_ref().and_then(|game| game.players.clone());
    assert_eq!(
        players.and_then(|players| players.black).as_deref(),
        Some("Baker")
    );
    table.command(r#""do":"set_players","white":"Adams","black":"Becker""#);
    table.command(r#""do":"set_time_control","time_control":"60+30""#);
    assert_eq!(
        table.published(),
        [r#"arbiter: "Adams"-"Becker""#, "arbiter: 3600+30"]
    );
}

#[test]
fn a_result_of_the_arbiter_ends_the_game_and_stands() {
    let mut table = table();
    table.plays("e4 e5");
    assert_eq!(
        table.command(r#""do":"set_result","by":"A. Meier","result":"1/2-1/2","reason":"agreement""#),
        ""
    );
    table.shows(WHITE_WINS).plays("d4");
    assert_eq!(table.published(), ["1/2-1/2 agreement by arbiter"]);
    // The result was entered wrongly (Art. 8.7: unless the arbiter decides otherwise).
    table.command(r#""do":"set_result","by":"A. Meier","result":"0-1","reason":"resignation""#);
    assert_eq!(table.published(), ["A. Meier: 0-1 resignation"]);
}

#[test]
fn a_result_and_its_reason_must_be_valid() {
    let mut table = table();
    table.plays("e4 e5");
    for (command, error) in [
        (
            r#""result":"2-0""#,
            "\"2-0\" is not a result; expected 1-0, 0-1, 1/2-1/2, 0-0, 1/2-0, 0-1/2, a forfeit as in +/-, or *",
        ),
        (
            r#""result":"1-0","reason":"boredom""#,
            "\"boredom\" is not a reason for the end of a game; expected one of resignation,",
        ),
        (
            r#""result":"1-0","reason":"agreement""#,
            "the reason agreement does not fit the result 1-0",
        ),
        (
            r#""result":"1-0","reason":"void""#,
            "the reason void does not fit the result 1-0",
        ),
        (r#""result":"*""#, "a game is being played on board-1"),
    ] {
        let answer = table.command(&format!(r#""do":"set_result",{command}"#));
        assert!(answer.starts_with(error), "{command}: {answer}");
    }
}

#[test]
fn a_result_shown_on_the_board_is_confirmed_or_withdrawn() {
    let mut table = table();
    table.plays("e4 e5").shows(WHITE_WINS);
    table.command(r#""do":"set_result","result":"1-0""#);
    assert_eq!(table.published(), ["1-0 kings by board?", "arbiter: 1-0 kings"]);
    // The players had not meant to show a result. The game continues, and the plies played since then belong to it.
    table.plays("d4");
    assert_eq!(table.command(r#""do":"set_result","result":"*""#), "");
    table.plays("d5");
    let moves = table.referee.game.as_ref().map(|game| game.published.len());
    assert_eq!(
        (table.published(), moves),
        (vec!["arbiter: * goes on".to_owned()], Some(4))
    );
}

/// Since 2023, a resignation against a player who cannot mate is a draw (Art. 5.1.2); before, it lost.
#[test]
fn a_resignation_against_a_bare_king_is_a_draw() {
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for (edition, result) in [(Edition::Fide2018, "0-1"), (Edition::Fide2023, "1/2-1/2")] {
        let mut table = Table::of(fen, rules(edition, Mode::Standard, true));
        table.plays("e4");
        let note = table.command(r#""do":"set_result","result":"0-1","reason":"resignation""#);
        let expected = "a draw: Black cannot mate by any series of legal moves (Art. 5.1.2): the pieces do not suffice in any position";
        assert_eq!(
            note,
            if edition == Edition::Fide2023 {
                expected
            } else {
                ""
            }
        );
        assert_eq!(table.published(), [format!("{result} resignation by arbiter")]);
    }
}

/// Art. 6.9, 7.5.5: a flag and the last illegal move lose, unless the opponent cannot mate. The arbiter may overrule.
#[test]
fn a_flag_against_a_bare_king_is_a_draw() {
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for (reason, result, article) in [
        ("flag", "1/2-1/2", "6.9"),
        ("illegal_moves", "1/2-1/2", "7.5.5"),
        ("default", "0-1", ""),
        ("arbiter", "0-1", ""),
    ] {
        let mut table = Table::of(fen, rules(Edition::Fide2018, Mode::Standard, true));
        table.plays("e4");
        let note = table.command(&format!(
            r#""do":"set_result","result":"0-1","reason":"{reason}""#
        ));
        assert!(note.contains(article), "{note}");
        assert_eq!(table.published(), [format!("{result} {reason} by arbiter")]);
    }
}

#[test]
fn moves_are_corrected_from_the_first_wrong_one() {
    let mut table = table();
    table.plays("e4 e5 Nf3 Nc6 Bb5");
    assert_eq!(
        table.command(r#""do":"correct_moves","moves":["e4","e5","g1f3","d6","Bc4","Be7"]"#),
        ""
    );
    assert_eq!(
        table.published(),
        [
            "arbiter: e2e4 e7e5 g1f3 d7d6 f1c4 f8e7",
            "d6 for b8c6: arbiter",
            "4 completed by arbiter",
            "5 completed by arbiter",
            "6 completed by arbiter",
        ]
    );
    table.plays("O-O");
    assert_eq!(
        table.referee.game.as_ref().map(|game| game.published.len()),
        Some(7)
    );
    assert_eq!(table.command(r#""do":"correct_moves","from":7,"moves":[]"#), "");
    assert_eq!(
        table.published().last().map(String::as_str),
        Some("not 7: arbiter")
    );
    for (command, error) in [
        (
            r#""moves":["e4","e5","Nf6"]"#,
            "\"Nf6\", ply 3, is not a legal move in ",
        ),
        (r#""from":9,"moves":[]"#, "the game has 6 plies: moves from ply 9"),
        (r#""from":0,"moves":[]"#, "the game has 6 plies: moves from ply 0"),
        (
            r#""from":6,"moves":["Be7"]"#,
            "nothing to change: the game already has these moves",
        ),
    ] {
        let answer = table.command(&format!(r#""do":"correct_moves",{command}"#));
        assert!(answer.starts_with(error), "{command}: {answer}");
    }
}

/// Added moves that mate end the game (Art. 5.1.1).
#[test]
fn moves_that_mate_end_the_game() {
    let mut table = table();
    table.plays("f3 e5 g4");
    table.command(r#""do":"correct_moves","from":4,"moves":["Qh4"]"#);
    assert_eq!(
        table.published().last().map(String::as_str),
        Some("0-1 checkmate by laws")
    );
}

/// Art. 7.5.1: the position before the illegal move is set. It has occurred in the game, so the later moves are
/// withdrawn.
#[test]
fn setting_an_earlier_position_withdraws_the_later_moves() {
    let mut table = table();
    table.plays("e4 e5 Nf3 b8b6");
    table.published();
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    assert_eq!(
        table.command(&format!(r#""do":"set_position","fen":"{fen}""#)),
        ""
    );
    assert_eq!(
        table.published(),
        [format!("arbiter: {fen}"), "not 4: arbiter".to_owned()]
    );
    table.plays("Nc6");
    assert_eq!(
        table.referee.game.as_ref().map(|game| game.published.len()),
        Some(4)
    );
}

#[test]
fn play_continues_from_a_position_that_never_occurred() {
    let mut table = table();
    table.plays("e4 e5");
    let fen = "rnbqkbnr/ppppp1pp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    assert_eq!(
        table.command(&format!(r#""do":"set_position","fen":"{fen}""#)),
        ""
    );
    table.plays("Qh5+ g6");
    assert_eq!(table.published(), [format!("arbiter: {fen}")]);
    for (fen, why) in [
        ("rnbqkbnr", "it is not a FEN"),
        ("4k3/8/8/8/8/8/8/4K2Q b - - 0 1", ""),
        (
            "4k2Q/8/8/8/8/8/8/4K3 w - - 0 1",
            "no legal play leads to this position",
        ),
    ] {
        let answer = table.command(&format!(r#""do":"set_position","fen":"{fen}""#));
        assert!(answer.ends_with(why), "{answer}");
    }
}

/// Laws part 10, case 20; Art. 7.5, 5.1.1: an illegal move is put right while the game is in progress, also while a
/// claim is examined. After mate or a resignation it is too late.
#[test]
fn a_game_is_set_back_only_while_in_progress() {
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    let back = format!(r#""do":"set_position","fen":"{fen}""#);
    let mut table = table();
    table.plays("e4 e5 f1d6 d8e7");
    table.command(r#""do":"set_result","result":"0-1","reason":"resignation""#);
    assert_eq!(
        table.command(&back),
        "the game is over with 0-1 by resignation; to go on with it, set its result to \"*\" first"
    );
    let mut table = Table::new(Edition::Fide2018);
    table.plays("e4 e5 f1d6 d8e7");
    assert_eq!(table.command(&back), "");
}

#[test]
fn the_last_game_can_be_changed_until_the_next_game_begins() {
    let mut table = table();
    table.plays("e4 e5").shows(WHITE_WINS);
    table.set_up(State::from_fen(STANDARD, CastlingMode::Standard).expect("a FEN"));
    table.published();
    table.command(r#""do":"set_result","result":"1-0","reason":"resignation""#);
    table.command(r#""do":"correct_moves","from":3,"moves":["Nf3"]"#);
    assert_eq!(
        table.published(),
        [
            "arbiter: 1-0 resignation",
            "arbiter: e2e4 e7e5 g1f3",
            "3 completed by arbiter"
        ]
    );
    table.command(r#""do":"set_players","white":"Next""#);
    assert_eq!(table.published(), [""; 0]);
    table.plays("d4");
    let game = table.referee.game().map(|game| game.id.clone()).expect("a game");
    assert!(game.ends_with("board-1-2"), "{game}");
    let answer = table.command(r#""do":"set_result","result":"0-1","game":"2026-09-09-board-1-1""#);
    assert!(
        answer.contains("is neither on board-1 nor in the journal"),
        "{answer}"
    );
}

/// Art. 7.2.1: the game from a wrong start position is void, and the same players play a new one.
#[test]
fn a_new_game_makes_the_old_one_void() {
    let mut table = table();
    table.command(r#""do":"set_players","white":"Adams""#);
    table.plays("e4");
    assert_eq!(table.command(r#""do":"new_game""#), "");
    assert_eq!(table.published(), ["* void by arbiter"]);
    table.plays("d4");
    let game = table.referee.game.as_ref().expect("a game");
    assert_eq!(game.published.len(), 1);
    assert_eq!(
        game.players.as_ref().and_then(|players| players.white.as_deref()),
        Some("Adams")
    );
    table.command(r#""do":"end_game","reason":"adjourned""#);
    assert_eq!(table.published(), ["* adjourned by arbiter"]);
}

/// An arbiter corrects the spelling of a name. Round, table and the data of the players stay.
#[test]
fn data_of_players_stay_with_their_names() {
    let mut table = table();
    table.command(
        r#""do":"set_players","white":"Adams","black":"Baker","round":3,"table":7,
           "white_player":{"fide_id":1,"title":"GM"},"black_player":{"rating":2100}"#,
    );
    table.command(r#""do":"set_players","white":"Adams","black":"Becker""#);
    table.plays("e4");
    let players = table.referee.game.as_ref().and_then(|game| game.players.clone());
    let players = players.expect("they were named");
    assert_eq!((players.round, players.table), (Some(3), Some(7)));
    let white = players.facts(Color::White).expect("still the same");
    assert_eq!((white.fide_id, white.title.as_deref()), (Some(1), Some("GM")));
    let black = players.facts(Color::Black).expect("still the same");
    assert_eq!(black.rating, Some(2100));
}

/// The first move from a drawn or adjourned start position begins a game.
#[test]
fn a_game_begins_from_a_given_position() {
    let mut table = table();
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 40";
    table.command(&format!(r#""do":"new_game","fen":"{fen}""#));
    table.plays("e4");
    assert_eq!(table.referee.moves_made(Color::White), 1);
}

#[test]
fn a_note_is_kept_with_the_game() {
    let mut table = table();
    table.plays("e4");
    table.command(r#""do":"annotate","by":"A. Meier","text":"White asked for water""#);
    assert_eq!(table.published(), ["A. Meier: White asked for water"]);
}

/// 2023, B.1, A.1: the mode follows from the time control, unless another one is configured. The note reports the mode
/// and the reading of the time control.
#[test]
fn the_mode_that_follows_from_a_time_control_is_reported() {
    let mut table = table();
    table.plays("e4");
    let set = |table: &mut Table, text: &str| {
        table.command(&format!(r#""do":"set_time_control","time_control":"{text}""#))
    };
    assert_eq!(set(&mut table, "90' + 30''"), "read as 90+30: standard play");
    assert_eq!(set(&mut table, "3|2"), "read as 3+2: blitz (Art. B.1)");
    assert_eq!(table.referee.regulations.rules.mode, Mode::Blitz);
    assert_eq!(table.published(), ["arbiter: 5400+30", "arbiter: 180+2, blitz"]);
    table.referee.regulations.mode_is_named = true;
    assert_eq!(
        set(&mut table, "15+10"),
        "read as 15+10: its time means rapid, but blitz is configured for this board and stays in force"
    );
    assert_eq!(table.referee.regulations.rules.mode, Mode::Blitz);
    assert_eq!(
        set(&mut table, "90/30"),
        "\"90/30\" is ambiguous; write one of \"90 min, 30 s from move 1\", \"90 min/30 moves\""
    );
    table.referee.regulations.language = Language::German;
    assert!(set(&mut table, "40/90").starts_with("\"40/90\" lässt mehrere Lesarten zu"));
    assert_eq!(table.published(), ["arbiter: 900+10"]);
}

/// 2023: 11.8 and 12.9.6; 1997: 12.7 and 13.4: both players may lose, and the arbiter decides the score of the
/// opponent.
#[test]
fn points_that_do_not_add_up_to_one_are_the_arbiters_decision() {
    for (edition, result, reason, note) in [
        (
            Edition::Fide2023,
            "0-0",
            "conduct",
            "both players lose: if both break the rules of conduct, both lose the game (Art. 11.8)",
        ),
        (
            Edition::Fide2023,
            "½-0",
            "conduct",
            "Black loses; you decide the score of White (Art. 11.7, 12.9.6)",
        ),
        (
            Edition::Fide1997,
            "0 : 1/2",
            "arbiter",
            "White loses; you decide the score of Black (Art. 12.7, 13.4)",
        ),
        (
            Edition::Fide2023,
            "-/-",
            "default",
            "both players lose: neither came in time (Art. 6.7.1)",
        ),
        (
            Edition::Fide2023,
            "0-1",
            "conduct",
            "White loses; you decide the score of Black (Art. 11.7, 12.9.6)",
        ),
        (Edition::Fide2023, "0-1 forfeit", "default", ""),
    ] {
        let mut table = Table::new(edition);
        table.plays("e4 e5");
        let command = format!(r#""do":"set_result","result":"{result}","reason":"{reason}""#);
        assert_eq!(table.command(&command), note, "{result}");
    }
    let mut table = table();
    table.plays("e4 e5");
    for (result, reason) in [
        ("0-0", "resignation"),
        ("1/2-0", "default"),
        ("1/2-0", "agreement"),
        ("+/-", "conduct"),
        ("1/2-1/2", "default"),
    ] {
        let command = format!(r#""do":"set_result","result":"{result}","reason":"{reason}""#);
        let answer = table.command(&command);
        assert!(
            answer.starts_with(&format!("the reason {reason} does not fit")),
            "{answer}"
        );
    }
    for result in ["+/+", "½-½ forfeit", "1/4-3/4", ""] {
        let answer = table.command(&format!(r#""do":"set_result","result":"{result}""#));
        assert!(answer.contains("is not a result; expected "), "{answer}");
    }
    table.command(r#""do":"set_result","result":"- - +""#);
    assert_eq!(table.published(), ["0-1 default by arbiter"]);
}

/// 2023: 6.7.1: the clock was never started, so the game that was due is lost by default. The last game stays unchanged
/// unless the command names it.
#[test]
fn a_forfeit_ends_the_game_that_was_due() {
    let mut table = table();
    table.command(r#""do":"set_players","white":"Adams","black":"Baker""#);
    assert_eq!(table.command(r#""do":"set_result","result":"+/-""#), "");
    assert_eq!(table.published(), ["1-0 default by arbiter"]);
    let game = table.referee.game.as_ref().expect("the game that was due");
    let black = game.players.as_ref().and_then(|players| players.black.as_deref());
    assert_eq!((game.published.len(), black), (0, Some("Baker")));
    let id = game.id.id.clone();

    table.set_up(State::default());
    table.command(r#""do":"set_result","result":"-/+""#);
    assert_eq!(table.published(), ["0-1 default by arbiter"]);
    assert_ne!(table.referee.game.as_ref().map(|game| &game.id.id), Some(&id));
    table.set_up(State::default());
    table.command(r#""do":"set_result","result":"1-0","reason":"arbiter""#);
    assert_eq!(table.published(), ["arbiter: 1-0 arbiter"]);
}

/// 2023: 9.1.1: a draw was agreed before the regulations allow it. The arbiter gets a note, and their decision stands.
/// The Laws of 1997 have no such article.
#[test]
fn a_draw_agreed_before_the_events_limit_is_reported() {
    let draws = |edition, limit, moves: &str, reason: &str| {
        let mut table = Table::new(edition);
        table.referee.regulations.no_draw_before_move = Some(limit);
        table.plays(moves);
        let command = format!(r#""do":"set_result","result":"1/2-1/2","reason":"{reason}""#);
        let note = table.command(&command);
        (note, table.published())
    };
    let drawn = |reason: &str| vec![format!("1/2-1/2 {reason} by arbiter")];
    let (note, published) = draws(Edition::Fide2023, 3, "e4 e5 Nf3 Nc6 d4", "agreement");
    assert_eq!(
        note,
        "draw agreed after 2 moves of each player; the event (Art. 9.1.1) allows that only from move 3 on, unless you \
         consent. It is recorded as you entered it"
    );
    assert_eq!(published, drawn("agreement"));
    let (note, _) = draws(Edition::Fide1997, 30, "e4 e5", "agreement");
    assert!(
        note.contains("; the event allows that only from move 30 on"),
        "{note}"
    );
    let (note, _) = draws(Edition::Fide2023, 2, "e4 e5 Nf3 Nc6 d4", "agreement");
    assert_eq!(note, "", "both have made two moves");
    let (note, _) = draws(Edition::Fide2023, 30, "e4 e5", "claim");
    assert_eq!(note, "", "a claim is no agreement");
    // A draw shown by the kings and confirmed without a reason counts as an agreement, too.
    let mut table = table();
    table.referee.regulations.no_draw_before_move = Some(30);
    table.plays("e4 e5").shows(shakmaty::KnownOutcome::Draw);
    let incidents = |table: &mut Table| {
        let events = table.referee.take_events().into_iter();
        let short = events.filter_map(|explained| match explained.event.kind {
            EventKind::IncidentOpened(incident) => {
                Some(format!("{} ({})", incident.advice, incident.article))
            }
            EventKind::IncidentClosed { by, reason, .. } => Some(format!("closed by {by}: {reason}")),
            _ => None,
        });
        short.collect::<Vec<String>>()
    };
    assert_eq!(
        incidents(&mut table),
        [
            "A draw is shown on the board after one move of each player. Before move 30 players may agree to a draw only with \
             your consent (Art. 9.1.1 and the rules of the event). Ask them how the game ended: a draw by a claim or by the \
             position needs no consent. (9.1.1, 5.2.3)"
        ]
    );
    let note = table.command(r#""do":"set_result","result":"½-½""#);
    assert_eq!(incidents(&mut table), ["closed by arbiter: decided"]);
    assert!(
        note.starts_with("draw agreed after one move of each player;"),
        "{note}"
    );
}

/// Other games have begun on the board since the corrected one.
#[test]
fn an_earlier_game_is_corrected_like_the_last_one() {
    let mut table = table();
    table.plays("e4 e5").shows(WHITE_WINS);
    let game = ResumableGame::of(&table.journaled()).expect("a game");
    let mut table = self::table();
    table.plays("d4 d5");
    table.published();
    let id = &game.record.game;
    let unknown = format!(r#""do":"set_result","result":"0-1","reason":"resignation","game":"{id}""#);
    assert_eq!(
        table.command(&unknown),
        format!("the game {id} is neither on board-1 nor in the journal")
    );
    for (fields, published) in [
        (r#""do":"set_result","result":"0-1""#, "arbiter: 0-1 arbiter"),
        (r#""do":"set_players","white":"Adler""#, "arbiter: \"Adler\"-\"\""),
        (r#""do":"annotate","text":"late""#, "arbiter: late"),
    ] {
        table.referee.recall(Some(&game));
        assert_eq!(table.command(&format!(r#"{fields},"game":"{id}""#)), "");
        let events = table.referee.take_events();
        assert!(
            events
                .iter()
                .all(|explained| explained.event.game.as_ref() == Some(id))
        );
        table.referee.events = events;
        assert_eq!(table.published(), [published]);
    }
    assert_eq!(
        table.referee.game().map(|game| game.number),
        Some(1),
        "play goes on"
    );
}

#[test]
fn a_table_without_a_game_gets_a_result() {
    let mut table = table();
    table.plays("e4");
    table.published();
    assert_eq!(
        table.command(r#""do":"set_result","round":2,"table":9,"result":"+/-""#),
        ""
    );
    let events = table.referee.take_events();
    assert!(
        events.iter().all(|explained| explained.event.game.is_none()),
        "of no game"
    );
    table.referee.events = events;
    assert_eq!(table.published(), ["round 2, table 9: 1-0 default by arbiter"]);
}

fn restart_from_journal(table: &mut Table) {
    let game = ResumableGame::of(&table.journaled()).expect("a game");
    let regulations = table.referee.regulations.clone();
    table.referee = Referee::new("board-1", regulations);
    table.referee.resume(Resumed::new(&game).expect("positions"));
}

#[test]
fn another_arbiters_result_is_replaced_only_on_request() {
    for (restart, decides_first) in [(false, true), (true, true), (true, false)] {
        let mut table = table();
        table.plays("e4 e5 Nf3");
        let sets = |by: &str, result: &str, more: &str| {
            format!(r#""do":"set_result","by":"{by}","result":"{result}"{more}"#)
        };
        if decides_first {
            table.command(&sets("Anna", "1-0", r#","reason":"resignation""#));
        } else {
            table.shows(shakmaty::KnownOutcome::Draw);
            table.command(&sets("Anna", "1-0", r#","reason":"resignation""#));
        }
        if restart {
            restart_from_journal(&mut table);
        }
        for other in ["0-1", "*"] {
            let refused = table.command(&sets("Berta", other, ""));
            assert!(
                refused.starts_with("Anna set the result at 20")
                    && refused.contains(r#": "1-0 resignation". To replace it"#),
                "{refused}"
            );
        }
        assert_eq!(table.command(&sets("Berta", "1-0", "")), "", "it is the same");
        let refused = table.command(&sets("Berta", "1-0", r#","reason":"flag""#));
        assert!(refused.starts_with("Anna set"), "{refused}");
        assert_eq!(
            table.command(&sets("Anna", "1/2-1/2", r#","reason":"agreement""#)),
            "",
            "her own"
        );
        assert_eq!(table.command(&sets("Berta", "0-1", r#","replace":true"#)), "");
        let refused = table.command(&sets("Anna", "1-0", ""));
        assert!(refused.starts_with("Berta set"), "{refused}");
    }
}

#[test]
fn a_result_without_an_arbiter_can_be_replaced() {
    let mut table = table();
    table.plays("e4 e5").shows(shakmaty::KnownOutcome::Draw);
    assert_eq!(
        table.command(r#""do":"set_result","by":"Anna","result":"1-0""#),
        ""
    );
    assert_eq!(table.command(r#""do":"set_result","by":"Anna","result":"*""#), "");
    assert_eq!(
        table.command(r#""do":"set_result","by":"Berta","result":"0-1""#),
        ""
    );
}

/// Another arbiter cannot accept a rejected claim, nor replace the first arbiter's result with the draw of a claim.
#[test]
fn another_arbiters_ruling_is_replaced_only_on_request() {
    let mut table = table();
    table.plays("e4 e5");
    let claim = r#""do":"claim","kind":"fifty_moves","color":"white""#;
    table.command(claim);
    let number = table
        .referee
        .watch
        .open_incidents()
        .last()
        .expect("a claim")
        .incident;
    let rules = |by: &str, ruling: &str, more: &str| {
        format!(r#""do":"decide_claim","by":"{by}","incident":{number},"ruling":"{ruling}"{more}"#)
    };
    table.command(&rules("Anna", "reject", ""));
    let refused = table.command(&rules("Berta", "accept", ""));
    assert!(refused.starts_with("Anna decided incident"), "{refused}");
    assert!(table.referee.game().is_some());
    table.command(r#""do":"set_result","by":"Anna","result":"1-0""#);
    let accepts = rules("Anna", "accept", "");
    assert!(!table.command(&accepts).contains("To replace"), "both were hers");
    table.command(r#""do":"set_result","by":"Anna","result":"1-0""#);
    let refused = table.command(&rules("Berta", "accept", ""));
    assert!(refused.contains("Anna decided"), "{refused}");
    assert!(
        !table
            .command(&rules("Berta", "accept", r#","replace":true"#))
            .contains("To replace")
    );
    let verdict = table
        .referee
        .game
        .as_ref()
        .and_then(|game| game.verdict.clone())
        .expect("a verdict");
    assert_eq!(
        (verdict.result, verdict.decided.expect("a decision").by),
        (GameResult::Draw, "Berta".to_owned())
    );
}

#[test]
fn a_corrected_name_keeps_the_players_data() {
    let mut table = table();
    table.command(r#""do":"set_players","white":"Adler, Jonas","black":"Becker","white_player":{"title":"FM","rating":2301}"#);
    table.plays("e4");
    let note = table.command(r#""do":"set_players","white":"Adler, Jonas-Paul""#);
    assert_eq!(
        note,
        "treated as a correction of the name Adler, Jonas: title, rating, FIDE id, federation and team of White stay as they were. \
         For another player, send white_player with the known data, or null"
    );
    let players = table
        .referee
        .game
        .as_ref()
        .and_then(|game| game.players.clone())
        .expect("players");
    assert_eq!(
        (players.white.as_deref(), players.black.as_deref()),
        (Some("Adler, Jonas-Paul"), Some("Becker"))
    );
    let facts = players.white_player.expect("facts");
    assert_eq!((facts.title.as_deref(), facts.rating), (Some("FM"), Some(2301)));
}

#[test]
fn another_arbiters_moves_are_replaced_only_on_request() {
    for restart in [false, true] {
        let mut table = table();
        table.plays("e4 e5 Nf3 Nc6");
        let corrects = |by: &str, from: u32, moves: &str, more: &str| {
            format!(r#""do":"correct_moves","by":"{by}","from":{from},"moves":{moves}{more}"#)
        };
        assert_eq!(table.command(&corrects("Anna", 3, r#"["Nc3","Nc6"]"#, "")), "");
        if restart {
            restart_from_journal(&mut table);
        }
        assert_eq!(
            table.command(&corrects("Berta", 4, r#"["Nf6"]"#, r#","replace":true"#)),
            ""
        );
        let refused = table.command(&corrects("Berta", 3, r#"["d4"]"#, ""));
        assert!(
            refused.starts_with("Anna entered ply 3 at 20") && refused.contains("Nc3"),
            "{refused}"
        );
        let before = r#""do":"set_position","by":"Berta","fen":"rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2""#;
        assert!(table.command(before).starts_with("Anna entered ply 3"));
        let refused = table.command(&corrects("Anna", 4, r#"["d6"]"#, ""));
        assert!(refused.starts_with("Berta entered ply 4"), "{refused}");
        assert_eq!(
            table.command(&corrects("Berta", 5, r#"["d4"]"#, "")),
            "",
            "it changes none of hers"
        );
        assert_eq!(
            table.command(&corrects("Berta", 2, r#"["c5"]"#, r#","replace":true"#)),
            ""
        );
    }
}
