use serde_json::json;

use super::*;

fn error(text: &str) -> String {
    Command::parse(text).expect_err("no command").to_string()
}

#[test]
fn a_command_has_a_sender_and_an_order() {
    let text = r#"{"id":"7","do":"set_result","by":"A. Meier","result":"1-0","reason":"resignation"}"#;
    let command = Command::parse(text).expect("a command");
    assert_eq!((command.id.as_str(), command.by.as_str()), ("7", "A. Meier"));
    assert_eq!(
        command.order,
        Order::SetResult(SetResult {
            result: "1-0".to_owned(),
            reason: Some("resignation".to_owned()),
            game: None,
            round: None,
            table: None,
            replace: false,
            signed: None,
        })
    );
    assert_eq!(
        command.arguments.to_string(),
        r#"{"reason":"resignation","result":"1-0"}"#
    );
}

#[test]
fn a_command_without_a_sender_is_the_arbiters() {
    let command = Command::parse(r#"{"id":"7","do":"identify"}"#).expect("a command");
    assert_eq!((command.by.as_str(), command.order), ("arbiter", Order::Identify));
}

#[test]
fn errors_name_the_invalid_part() {
    for (text, expected) in [
        ("", "the command is not a JSON object: EOF"),
        (r#"{"do":"identify"}"#, "\"id\" is missing or not a string"),
        (r#"{"id":7,"do":"identify"}"#, "\"id\" is missing or not a string"),
        (r#"{"id":"7"}"#, "\"do\" is missing or not a string"),
        (
            r#"{"id":"7","do":"dance"}"#,
            "unknown command \"dance\"; expected one of set_players,",
        ),
        (
            r#"{"id":"7","do":"identify","loud":true}"#,
            "identify: unknown field `loud`",
        ),
        (
            r#"{"id":"7","do":"set_result"}"#,
            "set_result: missing field `result`",
        ),
        (
            r#"{"id":"7","do":"set_result","result":1}"#,
            "set_result: invalid type: integer `1`",
        ),
        (
            r#"{"id":"7","do":"sync_clock_sides","white":"top"}"#,
            "sync_clock_sides: \"top\" is not a side of the clock; expected left or right",
        ),
    ] {
        assert!(error(text).starts_with(expected), "{text}: {}", error(text));
    }
}

#[test]
fn every_action_name_is_accepted() {
    for name in Action::ALL {
        let text = format!(r#"{{"id":"7","do":"{name}","nonsense":1}}"#);
        let error = error(&text);
        assert!(
            error.starts_with(&format!("{name}: unknown field `nonsense`")),
            "{error}"
        );
    }
}

#[test]
fn long_ids_senders_and_texts_are_refused() {
    let text = |length: usize| "ä".repeat(length);
    let annotate = |id: usize, by: usize, note: usize| {
        let (id, by, note) = (text(id), text(by), text(note));
        format!(r#"{{"id":"{id}","do":"annotate","by":"{by}","text":"{note}"}}"#)
    };
    assert!(Command::parse(&annotate(120, 120, 2000)).is_ok());
    assert_eq!(
        error(&annotate(121, 1, 1)),
        "\"id\" has more than 120 characters: shorten it"
    );
    assert_eq!(
        error(&annotate(1, 121, 1)),
        "\"by\" has more than 120 characters: shorten it"
    );
    assert_eq!(
        error(&annotate(1, 1, 2001)),
        "\"text\" has more than 2000 characters: shorten it"
    );
    let decision = format!(
        r#"{{"id":"7","do":"close_incident","incident":1,"decision":"{}"}}"#,
        text(2001)
    );
    assert_eq!(
        error(&decision),
        "\"decision\" has more than 2000 characters: shorten it"
    );
    let moves = |count: usize| {
        let moves = vec![r#""e2e4""#; count].join(",");
        format!(r#"{{"id":"7","do":"correct_moves","moves":[{moves}]}}"#)
    };
    assert!(Command::parse(&moves(1200)).is_ok(), "longer than any game");
    let expected = format!(
        "the command has {} bytes; at most 16384 are allowed",
        moves(3000).len()
    );
    assert_eq!(error(&moves(3000)), expected);
}

#[test]
fn long_names_are_refused_wherever_they_are() {
    let name = |length: usize| "ä".repeat(length);
    for (arguments, field) in [
        (format!(r#""do":"set_players","white":"{}""#, name(121)), "white"),
        (
            format!(r#""do":"set_players","black_player":{{"team":"{}"}}"#, name(121)),
            "team",
        ),
        (format!(r#""do":"new_game","black":"{}""#, name(5_000)), "black"),
    ] {
        let expected = format!("\"{field}\" has more than 120 characters: shorten it");
        assert_eq!(error(&format!(r#"{{"id":"7",{arguments}}}"#)), expected);
    }
    let text = format!(r#"{{"id":"7","do":"set_players","white":"{}"}}"#, name(120));
    assert!(Command::parse(&text).is_ok());
}

#[test]
fn names_lose_characters_that_make_them_look_like_others() {
    let text = r#"{"id":"7","do":"set_players","by":"A\u202e. Meier","white":"Ad\u2066ler","black_player":{"team":"\u200bRooks"}}"#;
    let command = Command::parse(text).unwrap();
    let expected = json!({"white": "Adler", "black_player": {"team": "Rooks"}});
    assert_eq!((command.by.as_str(), command.arguments), ("A. Meier", expected));
}
