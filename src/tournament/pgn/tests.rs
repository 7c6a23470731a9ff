use kiebitz_game::events::GameResult;

use super::super::read_bytes;
use super::super::{Pairing, Tournament};
use super::*;
use crate::tournament::Severity;

/// Reads a file. Returns the event and the doubts, as in "1:2 text".
fn read_text(text: &str) -> (Tournament, Vec<String>) {
    let (tournament, doubts) = read_bytes("r.pgn", text.as_bytes()).expect("pairings");
    let doubts = doubts.iter().map(|doubt| {
        let mark = if doubt.severity == Severity::Lost { "!" } else { "" };
        format!("{mark}{}:{} {}", doubt.place.line, doubt.place.column, doubt.text)
    });
    (tournament, doubts.collect())
}

fn names(pairing: &Pairing) -> String {
    let name = |player: &Option<Player>| {
        player
            .as_ref()
            .map_or_else(|| "nobody".to_owned(), |player| player.name.clone())
    };
    format!("{} - {}", name(&pairing.white), name(&pairing.black))
}

/// Returns the pairings of a round, as in "1 Adler, Jonas - Berg, Ina".
fn round(tournament: &Tournament, number: u32) -> Vec<String> {
    let pairings = &tournament.rounds[&number].pairings;
    let line = |pairing: &Pairing| {
        let table = pairing
            .table
            .map_or_else(|| "?".to_owned(), |table| table.to_string());
        format!("{table} {}", names(pairing))
    };
    pairings.iter().map(line).collect()
}

#[test]
fn all_tags_of_an_export_are_read() {
    let text = r#"[Event "Club Open 2026"]
[Site "Testtown"]
[Date "2026.11.23"]
[Round "3.2"]
[White "Adler, Jonas"]
[Black "Berg, Ina"]
[Result "*"]
[WhiteTitle "FM"]
[BlackTitle ""]
[WhiteElo "2310"]
[BlackElo "-"]
[WhiteFideId "4600001"]
[BlackFideId " 04600002 "]
[WhiteFed "GER"]
[BlackTeam "Rook's Rest"]
[TimeControl "5400+30"]

*

[Event "Club Open 2026"]
[Round "3.1"]
[White "Cohn, Eva"]
[Black "Dorn, Max"]
[Result "1-0"]

1. e4 {a comment with [Event "x"] in it
[Event "y"] and a second line} e5 (1... c5 {[%clk 1:00:00]
[%emt 0:00:05]}) 2. Nf3 ; the rest { of the line
1-0
"#;
    let (tournament, doubts) = read_text(text);
    assert!(doubts.is_empty(), "{doubts:?}");
    assert_eq!(tournament.name.as_deref(), Some("Club Open 2026"));
    assert_eq!(tournament.site.as_deref(), Some("Testtown"));
    assert_eq!(
        round(&tournament, 3),
        ["1 Cohn, Eva - Dorn, Max", "2 Adler, Jonas - Berg, Ina"]
    );
    let read = &tournament.rounds[&3];
    assert_eq!(
        (read.date.as_deref(), tournament.time_control(3)),
        (Some("2026-11-23"), Some("5400+30"))
    );
    assert_eq!(read.pairings[0].result, Some(GameResult::WhiteWins));
    let white = read.pairings[1].white.as_ref().expect("a player");
    let facts = PlayerFacts {
        fide_id: Some(4_600_001),
        title: Some("FM".to_owned()),
        rating: Some(2310),
        federation: Some("GER".to_owned()),
        team: None,
    };
    assert_eq!(white.facts, facts);
    assert_eq!((white.place.line, white.place.column), (5, 9));
    let black = &read.pairings[1].black.as_ref().expect("a player").facts;
    assert_eq!((black.fide_id, black.rating), (Some(4_600_002), None));
    assert_eq!(black.team.as_deref(), Some("Rook's Rest"));
}

#[test]
fn missing_quotes_and_brackets_are_tolerated() {
    let text = r#"[Round "1.1"]
[White "Adler, Jonas "Jojo""] [Black "Berg, \"Ina\""]
[WhiteElo "2000]
[BlackElo "1900] [BlackTitle "WFM"]
[Event "The [big] cup"
[WhiteTeam “Rooks”]
[Site Testtown]
[BlackTeam "Knights
"#;
    let (tournament, doubts) = read_text(text);
    assert_eq!(round(&tournament, 1), [r#"1 Adler, Jonas "Jojo" - Berg, "Ina""#]);
    let pairing = &tournament.rounds[&1].pairings[0];
    let (white, black) = (
        pairing.white.as_ref().expect("one"),
        pairing.black.as_ref().expect("one"),
    );
    assert_eq!((white.facts.rating, black.facts.rating), (Some(2000), Some(1900)));
    assert_eq!(black.facts.title.as_deref(), Some("WFM"));
    assert_eq!(white.facts.team.as_deref(), Some("Rooks"));
    assert_eq!(tournament.name.as_deref(), Some("The [big] cup"));
    assert_eq!(tournament.site.as_deref(), Some("Testtown"));
    let places: Vec<&str> = doubts
        .iter()
        .filter_map(|doubt| doubt.split(' ').next())
        .collect();
    assert_eq!(places, ["3:12", "4:12", "5:9", "7:7", "!8:13"], "{doubts:?}");
}

#[test]
fn placeholders_are_not_players() {
    let text = "[Round \"2.1\"]\n[White \"Adler, Jonas\"]\n[Black \"BYE\"]\n\n*\n\n\
                [Round \"2.2\"]\n[White \"spielfrei\"]\n[Black \"Berg, Ina\"]\n\n*\n\n\
                [Round \"2.3\"]\n[White \"NN, NN\"]\n[Black \"?\"]\n\n*\n\n\
                [Round \"2.4\"]\n[White \"Cohn, Eva\"]\n\n*\n";
    let (tournament, doubts) = read_text(text);
    assert_eq!(
        round(&tournament, 2),
        [
            "1 Adler, Jonas - nobody",
            "2 nobody - Berg, Ina",
            "4 Cohn, Eva - nobody"
        ]
    );
    assert_eq!(
        doubts,
        [
            "13:9 this pairing has no players, and is left out",
            "!19:9 the game that begins here has no tag for black's name: add it"
        ]
    );
}

#[test]
fn invalid_values_are_reported_with_their_positions() {
    let text = "[Round \"1.1\"]\n[White \"Adler, Jonas\"]\n[Black \"Berg, Ina\"]\n[WhiteFideId \"1989-04-12\"]\n\
                [BlackFideId \"19890412\"]\n[WhiteElo \"GER\"]\n[Result \"won\"]\n\n\
                [Round \"final\"]\n[White \"Cohn, Eva\"]\n[Black \"Dorn, Max\"]\n";
    let (_, doubts) = read_text(text);
    let places: Vec<&str> = doubts
        .iter()
        .filter_map(|doubt| doubt.split(' ').next())
        .collect();
    assert_eq!(
        places,
        ["!4:15", "6:12", "5:15", "7:10", "!9:9", "!10:9"],
        "{doubts:?}"
    );
}

#[test]
fn games_are_separated_without_empty_lines_and_moves() {
    let text = "\u{feff}[Event \"a\"]\r\n[Round \"1\"]\r\n[Board \"1\"]\r\n[White \"A, A\"]\r\n[Black \"B, B\"]\r\n\
                [Event \"a\"]\r\n[Round \"1\"]\r\n[Board \"2\"]\r\n[White \"C, C\"]\r\n[Black \"D, D\"]\r\n1. e4 *\r\n\
                [Round \"1\"]\r\n[Board \"3\"]\r\n[White \"E, E\"]\r\n[White \"X, X\"]\r\n[Black \"F, F\"]\r\n\r\n\
                1. e4 {not closed\r\n\r\n[Event \"a\"]\r\n[Round \"1\"]\r\n[Board \"4\"]\r\n[White \"G, G\"]\r\n[Black \"H, H\"]";
    let (tournament, doubts) = read_text(text);
    assert_eq!(
        round(&tournament, 1),
        ["1 A, A - B, B", "2 C, C - D, D", "3 E, E - F, F", "4 G, G - H, H"]
    );
    assert_eq!(doubts, ["15:9 a second white in one game: the first one is used"]);
}

#[test]
fn text_between_tags_is_reported() {
    let text =
        "Pairings of round 1\n[Round \"1.1\"]\n[White \"A, A\"]\ngarbage\n[Black \"B, B\"] and more\n\n*\n";
    let (tournament, doubts) = read_text(text);
    assert_eq!(round(&tournament, 1), ["1 A, A - B, B"]);
    let places: Vec<&str> = doubts
        .iter()
        .filter_map(|doubt| doubt.split(' ').next())
        .collect();
    assert_eq!(places, ["1:1", "4:1", "5:16"], "{doubts:?}");
}

#[test]
fn file_without_players_is_refused() {
    let error = read_bytes("r.pgn", b"[Event \"a\"]\n[Round \"1\"]\n").expect_err("no players");
    assert!(
        error
            .to_string()
            .starts_with("r.pgn:1:1: the file has no readable pairing with White and Black"),
        "{error}"
    );
}
