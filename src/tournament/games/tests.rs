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

/// ChessBase counts the boards within each match, and does not number the matches.
#[test]
fn matches_are_numbered_by_their_teams() {
    let game = |round: &str, white: &str, black: &str| {
        format!("{round}[WhiteTeam \"{white}\"][BlackTeam \"{black}\"]")
    };
    let tables_of = |games: &[String]| {
        let games: Vec<&str> = games.iter().map(String::as_str).collect();
        tables(&games)
            .into_iter()
            .map(|(white, table)| (white.replace(", A", ""), table))
            .collect::<Vec<_>>()
    };
    let in_order = |whites: &[&str], tables: &[Option<u32>]| -> Vec<(String, Option<u32>)> {
        whites
            .iter()
            .map(ToString::to_string)
            .zip(tables.iter().copied())
            .collect()
    };
    for rounds in [
        [r#"[Round "2.1"]"#, r#"[Round "2.2"]"#],
        [r#"[Round "2"][Board "1"]"#, r#"[Round "2"][Board "2"]"#],
    ] {
        let [first, second] = rounds;
        let games = [
            game(first, "Norway", "Canada"),
            game(second, "Canada", "Norway"),
            game(second, "Peru", "Cuba"),
            game(first, "Cuba", "Peru"),
        ];
        let whites = ["White1", "White2", "White4", "White3"];
        let expected = in_order(&whites, &[Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(tables_of(&games), expected, "{rounds:?}");
    }
    // Only the first boards are in the file; this is not one session of a knock-out.
    let first_boards = [("Norway", "Canada"), ("Peru", "Cuba"), ("Spain", "Italy")]
        .map(|(white, black)| game(r#"[Round "2.1"]"#, white, black));
    let expected = in_order(&["White1", "White2", "White3"], &[Some(1), Some(2), Some(3)]);
    assert_eq!(tables_of(&first_boards), expected);
    // The same board twice in a match is a mistake.
    let twice = [
        game(r#"[Round "2.1"]"#, "Norway", "Canada"),
        game(r#"[Round "2.1"]"#, "Canada", "Norway"),
    ];
    assert_eq!(
        tables_of(&twice),
        in_order(&["White1", "White2"], &[Some(1), None])
    );
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

/// Returns the pairings of all rounds, as in "2.1 B - A".
fn all_rounds(games: &[(&str, &str, &str)]) -> (Vec<String>, Vec<String>) {
    let games = games.iter().map(|(white, black, tags)| {
        format!("[White \"{white}, W\"]\n[Black \"{black}, W\"]\n{tags}\n\n*\n\n")
    });
    let text: String = games.collect();
    let (tournament, doubts) = read_bytes("r.pgn", text.as_bytes()).expect("pairings");
    let mut found = Vec::new();
    for (number, round) in &tournament.rounds {
        for pairing in &round.pairings {
            let name = |player: &Option<super::super::Player>| {
                let player = player.as_ref().expect("a player");
                player.name.replace(", W", "")
            };
            let table = pairing.table.unwrap_or_default();
            found.push(format!(
                "{number}.{table} {} - {}",
                name(&pairing.white),
                name(&pairing.black)
            ));
        }
    }
    (found, doubts.iter().map(ToString::to_string).collect())
}

/// Match 2 goes to the tie-break, with one armageddon game.
#[test]
fn each_game_of_a_knockout_is_a_round() {
    let (found, doubts) = all_rounds(&[
        ("Adler", "Berg", r#"[Round "1.1"]"#),
        ("Cohn", "Dorn", r#"[Round "1.1"]"#),
        ("Berg", "Adler", r#"[Round "1.2"]"#),
        ("Dorn", "Cohn", r#"[Round "1.2"]"#),
        ("Cohn", "Dorn", r#"[Round "1.3"][TimeControl "300"]"#),
        ("Adler", "Cohn", r#"[Round "2.1"]"#),
    ]);
    assert_eq!(
        found,
        [
            "1.1 Adler - Berg",
            "1.2 Cohn - Dorn",
            "2.1 Berg - Adler",
            "2.2 Dorn - Cohn",
            "3.2 Cohn - Dorn",
            "4.1 Adler - Cohn",
        ]
    );
    assert_eq!(
        doubts,
        [
            "r.pgn:1:9: the games of round 1 are read as rounds 1 to 3",
            "r.pgn:31:9: round 2 has one game for each pairing so far, which is read as round 4",
        ]
    );
}

#[test]
fn tables_of_a_knockout_come_from_the_board_or_the_round() {
    let expected = [
        "1.7 Adler - Berg",
        "1.8 Cohn - Dorn",
        "2.7 Berg - Adler",
        "2.8 Dorn - Cohn",
    ];
    for tags in [
        [
            r#"[Round "1.1"][Board "7"]"#,
            r#"[Round "1.1"][Board "8"]"#,
            r#"[Round "1.2"][Board "7"]"#,
            r#"[Round "1.2"][Board "8"]"#,
        ],
        [
            r#"[Round "1.7.1"]"#,
            r#"[Round "1.8.1"]"#,
            r#"[Round "1.7.2"]"#,
            r#"[Round "1.8.2"]"#,
        ],
        [
            r#"[Round "1.1.7"]"#,
            r#"[Round "1.1.8"]"#,
            r#"[Round "1.2.7"]"#,
            r#"[Round "1.2.8"]"#,
        ],
    ] {
        let [one, two, three, four] = tags;
        let (found, _) = all_rounds(&[
            ("Adler", "Berg", one),
            ("Cohn", "Dorn", two),
            ("Berg", "Adler", three),
            ("Dorn", "Cohn", four),
        ]);
        assert_eq!(found, expected, "{tags:?}");
    }
}

#[test]
fn one_session_of_a_knockout_needs_the_rounds_before_it() {
    let session = |round: &str| {
        let tags = format!("[Round \"{round}\"]");
        all_rounds(&[
            ("Adler", "Berg", &tags),
            ("Cohn", "Dorn", &tags),
            ("Ernst", "Falk", &tags),
        ])
    };
    assert_eq!(
        session("1.2").0,
        ["2.1 Adler - Berg", "2.2 Cohn - Dorn", "2.3 Ernst - Falk"]
    );
    let (found, doubts) = session("2.1");
    assert_eq!(found, Vec::<String>::new());
    assert!(
        doubts[0].starts_with("r.pgn:1:9: the games of round 2 are left out"),
        "{doubts:?}"
    );
}

/// A table that is given twice, and a pairing that is listed twice, are mistakes of the file.
#[test]
fn mistakes_are_not_taken_for_a_knockout() {
    let (found, _) = all_rounds(&[
        ("Adler", "Berg", r#"[Round "1.1"]"#),
        ("Cohn", "Dorn", r#"[Round "1.2"]"#),
        ("Adler", "Berg", r#"[Round "1.3"]"#),
    ]);
    assert_eq!(found, ["1.1 Adler - Berg", "1.2 Cohn - Dorn"]);
}

#[test]
fn two_rounds_of_one_day_are_kept_apart() {
    let (found, doubts) = all_rounds(&[
        ("Adler", "Berg", r#"[Round "1.1"][Date "2026.11.29"]"#),
        ("Cohn", "Dorn", r#"[Round "1.2"][Date "2026.11.29"]"#),
        ("Adler", "Cohn", r#"[Round "2.1"][Date "2026.11.29"]"#),
        ("Dorn", "Berg", r#"[Round "2.2"][Date "2026.11.29"]"#),
    ]);
    assert_eq!(doubts, Vec::<String>::new());
    assert_eq!(
        found,
        [
            "1.1 Adler - Berg",
            "1.2 Cohn - Dorn",
            "2.1 Adler - Cohn",
            "2.2 Dorn - Berg"
        ]
    );
}
