use super::super::read_bytes;

/// Returns White's name and the table of each pairing, for games with these tags.
fn tables(games: &[&str]) -> Vec<(String, Option<u32>)> {
    let (tournament, _) = read_bytes("r.pgn", text(games).as_bytes()).expect("pairings");
    let round = tournament.rounds.values().next().expect("a round");
    let name = |white: &super::super::Player| white.name.clone();
    let pairings = round.pairings.iter();
    pairings
        .map(|pairing| {
            (
                pairing.white.as_ref().map(name).unwrap_or_default(),
                pairing.table,
            )
        })
        .collect()
}

fn text(games: &[&str]) -> String {
    let games = (1..).zip(games).map(|(number, tags)| {
        format!("[White \"White{number}, A\"]\n[Black \"Black{number}, B\"]\n{tags}\n\n*\n\n")
    });
    games.collect()
}

fn numbers(games: &[&str]) -> Vec<Option<u32>> {
    tables(games).into_iter().map(|(_, table)| table).collect()
}

#[test]
fn table_comes_from_board_or_round() {
    assert_eq!(
        numbers(&[r#"[Round "3.2"]"#, r#"[Round "3.07"]"#]),
        [Some(2), Some(7)]
    );
    assert_eq!(
        numbers(&[r#"[Round "3"][Board "2"]"#, r#"[Round "3"][Board "board-07"]"#]),
        [Some(2), Some(7)]
    );
    // A Board tag takes precedence.
    assert_eq!(
        numbers(&[r#"[Round "3.1"][Board "11"]"#, r#"[Round "3.2"][Board "12"]"#]),
        [Some(11), Some(12)]
    );
}

#[test]
fn boards_are_numbered_across_matches() {
    let three = [
        r#"[Round "3.1.1"]"#,
        r#"[Round "3.1.2"]"#,
        r#"[Round "3.2.1"]"#,
        r#"[Round "3.2.2"]"#,
    ];
    assert_eq!(numbers(&three), [Some(1), Some(2), Some(3), Some(4)]);
    let with_board = [
        r#"[Round "3.1"][Board "1"]"#,
        r#"[Round "3.1"][Board "2"]"#,
        r#"[Round "3.2"][Board "1"]"#,
        r#"[Round "3.2"][Board "2"]"#,
    ];
    assert_eq!(numbers(&with_board), [Some(1), Some(2), Some(3), Some(4)]);
    // The boards count within each match, and the round counts through all matches.
    let all = [
        r#"[Round "3.1"][Board "1"]"#,
        r#"[Round "3.2"][Board "2"]"#,
        r#"[Round "3.3"][Board "1"]"#,
    ];
    assert_eq!(numbers(&all), [Some(1), Some(2), Some(3)]);
}

#[test]
fn games_without_numbers_are_numbered_in_file_order() {
    assert_eq!(numbers(&[r#"[Round "3"]"#, r#"[Round "3"]"#]), [Some(1), Some(2)]);
    let (tournament, doubts) = read_bytes("r.pgn", text(&["", ""]).as_bytes()).expect("pairings");
    assert!(tournament.pairing(1, 2).is_some());
    let reported: Vec<String> = doubts.iter().map(ToString::to_string).collect();
    assert_eq!(
        reported,
        [
            "r.pgn:1:9: the file gives no round number: it is read as round 1",
            "r.pgn:1:9: round 1 has no table numbers here: tables are numbered in the order of the file"
        ]
    );
}

#[test]
fn a_taken_table_is_reported_and_a_missing_one_is_not_guessed() {
    let games = [r#"[Round "3.1"]"#, r#"[Round "3.1"]"#, r#"[Round "3"]"#];
    assert_eq!(numbers(&games), [Some(1), None, None]);
    let (_, doubts) = read_bytes("r.pgn", text(&games).as_bytes()).expect("pairings");
    assert_eq!(
        doubts[0].to_string(),
        "r.pgn:7:9: table 1 of round 3 belongs to White1, A and Black1, B at r.pgn:1:9, and to White2, A and \
         Black2, B here: correct one of them"
    );
}

#[test]
fn missing_round_numbers_are_not_guessed() {
    let text = "[White \"A, A\"]\n[Black \"B, B\"]\n\n[White \"C, C\"]\n[Black \"A, A\"]\n";
    let error = read_bytes("r.pgn", text.as_bytes()).expect_err("two rounds");
    assert!(
        error
            .to_string()
            .starts_with("r.pgn:5:9: \"A, A\" plays a second game here"),
        "{error}"
    );
    let mixed = self::text(&[r#"[Round "2.1"]"#, r#"[Round "?"]"#]);
    let (tournament, doubts) = read_bytes("r.pgn", mixed.as_bytes()).expect("pairings");
    assert_eq!(tournament.rounds[&2].pairings.len(), 1);
    assert!(
        doubts[0]
            .to_string()
            .starts_with("r.pgn:7:9: this pairing has no round number"),
        "{doubts:?}"
    );
}
