use kiebitz_game::events::GameResult;

use super::super::read_bytes;
use super::*;

fn read_text(text: &str) -> (Tournament, Vec<String>) {
    let (tournament, doubts) = read_bytes("r.csv", text.as_bytes()).expect("pairings");
    (tournament, doubts.iter().map(ToString::to_string).collect())
}

fn refused(text: &str) -> String {
    read_bytes("r.csv", text.as_bytes())
        .expect_err("no pairings")
        .to_string()
}

#[test]
fn pairings_are_read_with_all_columns() {
    let text = "Round,Board,White,White_FIDE_ID,White Title,white_elo,Black,black_id,black_fed,black_team,Result\n\
                2,1,\"Adler, Jonas\",4600001,FM,2310,\"Berg, Ina\",,GER,Rooks,1-0\n\
                \n\
                2,2,Eva Cohn,,,,bye,,,,\n";
    let (tournament, doubts) = read_text(text);
    assert!(doubts.is_empty(), "{doubts:?}");
    let pairing = tournament.pairing(2, 1).expect("a pairing");
    let (white, black) = (
        pairing.white.as_ref().expect("one"),
        pairing.black.as_ref().expect("one"),
    );
    assert_eq!(
        (white.name.as_str(), white.facts.fide_id, white.facts.rating),
        ("Adler, Jonas", Some(4_600_001), Some(2310))
    );
    assert_eq!(
        (black.facts.federation.as_deref(), black.facts.team.as_deref()),
        (Some("GER"), Some("Rooks"))
    );
    assert_eq!(pairing.result, Some(GameResult::WhiteWins));
    assert_eq!(white.place.to_string(), "r.csv:2:5");
    assert_eq!(black.place.to_string(), "r.csv:2:36");
    let bye = tournament.pairing(2, 2).expect("a pairing");
    assert!(bye.black.is_none());
    assert_eq!(bye.place.to_string(), "r.csv:4:5");
}

#[test]
fn all_separators_and_quotes_are_understood() {
    let rows = [
        "board;white;black\r\n1;Adler, Jonas;Berg, Ina\r\n",
        "Tisch\tWeiß\tSchwarz\n1\tAdler, Jonas\tBerg, Ina\n",
        "sep=;\n\"Brett\";\"Weiss\";\"Schwarz\"\n\"1\";\"Adler, Jonas\";\"Berg, Ina\"\n",
        "\u{feff}\n\nboard,white,black,\n1,\"Adler, Jonas\",\"Berg, Ina\",\n,,,\n",
        "board,white_last,white_first,black_last,black_first\n1,Adler,Jonas,Berg,Ina\n",
    ];
    for text in rows {
        let (tournament, _) = read_text(text);
        let pairing = tournament.pairing(1, 1).expect("a pairing");
        let name = |player: &Option<Player>| {
            player
                .as_ref()
                .map(|player| player.name.clone())
                .unwrap_or_default()
        };
        assert_eq!(
            (name(&pairing.white), name(&pairing.black)),
            ("Adler, Jonas".to_owned(), "Berg, Ina".to_owned()),
            "{text}"
        );
    }
}

#[test]
fn titles_above_a_table_are_skipped_and_give_the_round() {
    let export = include_str!("../../../fuzz/seeds/pairings/chess-results");
    let (tournament, doubts) = read_text(export);
    assert!(doubts.is_empty(), "{doubts:?}");
    assert_eq!(tournament.name.as_deref(), Some("Club Open 2026"));
    let pairing = tournament.pairing(3, 1).expect("a pairing");
    let facts = |player: &Option<Player>| {
        let player = player.as_ref().expect("one");
        (
            player.name.clone(),
            player.facts.title.clone(),
            player.facts.rating,
        )
    };
    assert_eq!(
        facts(&pairing.white),
        ("Adler, Jonas".to_owned(), Some("GM".to_owned()), Some(2510))
    );
    assert_eq!(
        facts(&pairing.black),
        ("Berg, Ina".to_owned(), Some("WIM".to_owned()), Some(2290))
    );
    assert_eq!(pairing.place.to_string(), "r.csv:6:8");
    assert!(tournament.pairing(3, 2).is_some());
    assert_eq!(tournament.rounds[&3].date.as_deref(), Some("2026-11-29"));
}

#[test]
fn each_table_of_an_export_has_its_own_titles() {
    let text = "From Chess-Results https://chess-results.com;;;;\n\
                \"Open; \"\"A\"\" 2026\";;;;\n\
                Runde 1 am 28.11.2026;;;;\n\
                Br.;Weiß;Ergebnis;Schwarz;Elo\n\
                1;Adler Jonas;1 - 0;Berg Ina;2000\n\
                ;;;;\n\
                Runde 2 am 29.11.2026;;;;\n\
                Br.;Weiß;Ergebnis;Schwarz;Elo\n\
                1;Berg Ina;;Adler Jonas;2100\n\
                2;Cohn Eva;1;spielfrei;\n\
                Details under https://chess-results.com/tnr1.aspx;;;;\n";
    let (tournament, doubts) = read_text(text);
    assert!(doubts.is_empty(), "{doubts:?}");
    assert_eq!(tournament.name.as_deref(), Some("Open; \"A\" 2026"));
    let white = |round| {
        tournament
            .pairing(round, 1)
            .and_then(|pairing| pairing.white.clone())
    };
    assert_eq!(white(1).expect("a player").name, "Adler Jonas");
    assert_eq!(white(2).expect("a player").name, "Berg Ina");
    assert_eq!(tournament.rounds[&2].date.as_deref(), Some("2026-11-29"));
    let bye = tournament.pairing(2, 2).expect("a pairing");
    assert!(bye.black.is_none());
}

/// Board pairings of chess-results.com: the left side has White on odd boards, and results are left to right.
#[test]
fn boards_of_matches_are_read() {
    let text = "League 2026\n\nRound 2 on 2026/11/29 at 15:00;;;;;;;;\n\
                Bo.;13;Rooks B;Rtg;-;1;Knights A;Rtg;1 : 1\n\
                1.1;FM;Adler, Jonas;2310;-;;Berg, Ina;1946;1 - 0\n\
                1.2;;Cohn, Eva;1560;-;WFM;Dorn, Max;0;1 - 0\n\
                Bo.;2;Bishops;Rtg;-;14;Pawns;Rtg;\n\
                2.1;;Ernst, Pia;1756;-;;Falk, Ole;;½ - ½\n\
                2.2;;Brett nicht besetzt;;-;;Gold, Kim;1700;- - +\n\
                2.3;;Brett nicht besetzt;;-;;Brett nicht besetzt;;\n";
    let (tournament, doubts) = read_text(text);
    assert!(
        doubts
            .iter()
            .all(|doubt| doubt.contains("numbered through") || doubt.contains("no players")),
        "{doubts:?}"
    );
    let round = &tournament.rounds[&2];
    assert_eq!(round.date.as_deref(), Some("2026-11-29"));
    let name = |player: &Option<Player>| {
        player
            .as_ref()
            .map_or(String::new(), |player| player.name.clone())
    };
    let found: Vec<_> = round
        .pairings
        .iter()
        .map(|pairing| {
            (
                pairing.table,
                name(&pairing.white),
                name(&pairing.black),
                pairing.result,
            )
        })
        .collect();
    let expected = [
        (Some(1), "Adler, Jonas", "Berg, Ina", Some(GameResult::WhiteWins)),
        (Some(2), "Dorn, Max", "Cohn, Eva", Some(GameResult::BlackWins)),
        (Some(3), "Ernst, Pia", "Falk, Ole", Some(GameResult::Draw)),
        (Some(4), "Gold, Kim", "", Some(GameResult::WhiteWins)),
    ]
    .map(|(table, white, black, result)| (table, white.to_owned(), black.to_owned(), result));
    assert_eq!(found, expected);
    let dorn = round.pairings[1].white.as_ref().expect("a player");
    assert_eq!(dorn.facts.team.as_deref(), Some("Knights A"));
    assert_eq!(
        (dorn.facts.title.as_deref(), dorn.facts.rating),
        (Some("WFM"), None)
    );
    let adler = round.pairings[0].white.as_ref().expect("a player");
    assert_eq!(adler.facts.team.as_deref(), Some("Rooks B"));
    assert_eq!(
        (adler.facts.title.as_deref(), adler.facts.rating),
        (Some("FM"), Some(2310))
    );
}

/// Spreadsheets may number the rows in a nameless first column.
#[test]
fn row_numbers_are_not_titles() {
    let (tournament, _) = read_text(",white,black,board\n1,Adler Jonas,Berg Ina,1\n");
    let white = tournament
        .pairing(1, 1)
        .and_then(|pairing| pairing.white.as_ref());
    assert_eq!(white.expect("a player").facts.title, None);
}

#[test]
fn malformed_lines_are_reported_with_their_positions() {
    let text = "board,white,black,white_elo\n\
                1,Adler, Jonas,Berg, Ina\n\
                2,Cohn Eva\n\
                x,Dorn Max,Ernst Pia,strong\n\
                4,Falk Ole,Gold Kim,2000\n";
    let (tournament, doubts) = read_text(text);
    let places: Vec<&str> = doubts
        .iter()
        .filter_map(|doubt| doubt.split(": ").next())
        .collect();
    assert_eq!(
        places,
        ["r.csv:2:21", "r.csv:3:1", "r.csv:4:22", "r.csv:4:1", "r.csv:3:3"],
        "{doubts:#?}"
    );
    assert_eq!(tournament.rounds[&1].pairings.len(), 3);
}

/// Programs write values as formulas, so that spreadsheets do not take "1-0" for a date.
#[test]
fn values_in_formulas_are_read() {
    let text = "Round,Board,White,white_fide_id,Black,black_fide_id,Result\n\
                1,1,\"Adler, Jonas\",\"=\"\"4600001\"\"\",\"Berg, Ina\",=4600002,\"=\"\"1-0\"\"\"\n\
                1,2,\"Cohn, Eva\",,\"Dorn, Max\",,\"=\"\"0.5-0.5\"\"\"\n\
                1,3,\"Ernst, Pia\",,\"Falk, Ole\",,=\n";
    let (tournament, doubts) = read_text(text);
    assert!(doubts.is_empty(), "{doubts:?}");
    let pairings = &tournament.rounds[&1].pairings;
    let results: Vec<Option<GameResult>> = pairings.iter().map(|pairing| pairing.result).collect();
    assert_eq!(
        results,
        [
            Some(GameResult::WhiteWins),
            Some(GameResult::Draw),
            Some(GameResult::Draw)
        ]
    );
    let id = |player: &Option<Player>| player.as_ref().and_then(|player| player.facts.fide_id);
    assert_eq!(
        (id(&pairings[0].white), id(&pairings[0].black)),
        (Some(4_600_001), Some(4_600_002))
    );
}

#[test]
fn results_in_words_are_read() {
    let text = "Round,Board,White,Black,Result\n1,1,Adler Jonas,Berg Ina,WHITE_WIN\n1,2,Cohn Eva,Dorn Max,BLACK_WIN\n\
                1,3,Ernst Pia,Falk Ole,DRAW\n1,4,Gold Kim,Hahn Lea,In Progress\n1,5,Imhof Jo,BYE,bye\n";
    let (tournament, doubts) = read_text(text);
    assert!(doubts.is_empty(), "{doubts:?}");
    let pairings = tournament.rounds[&1].pairings.iter();
    let found: Vec<_> = pairings
        .map(|pairing| (pairing.result, pairing.unplayed))
        .collect();
    assert_eq!(
        found,
        [
            (Some(GameResult::WhiteWins), None),
            (Some(GameResult::BlackWins), None),
            (Some(GameResult::Draw), None),
            (None, None),
            (Some(GameResult::WhiteWins), Some(UnplayedRound::AllocatedBye)),
        ]
    );
}

/// The standings have more lines than a short search reads.
#[test]
fn pairings_are_read_above_and_below_standings() {
    let ranks: String = (1..=60)
        .map(|rank| format!("{rank},Player{rank} A,1\n"))
        .collect();
    let standings = |columns: &str| format!("{columns}\n{ranks}");
    let pairings =
        "ROUND,BOARD,WHITE,BLACK,RESULT\n1,1,Player1 A,Player2 A,1-0\n2,1,Player2 A,Player1 A,Pending\n";
    let rated = standings("RANK,PLAYER,RATING");
    for (text, players) in [
        (format!("Report\n\n{rated}\n\nROUND RESULTS\n{pairings}"), 60),
        (format!("{pairings}\n\nFinal standings\n{rated}"), 60),
        (
            format!(
                "Report\n\n{}\n\nAll results\n{pairings}",
                standings("Rank,Player,Score")
            ),
            0,
        ),
    ] {
        let (tournament, doubts) = read_text(&text);
        assert!(doubts.is_empty(), "{doubts:?}");
        assert_eq!(tournament.players.len(), players, "{text}");
        let results: Vec<_> = tournament
            .rounds
            .values()
            .map(|round| round.pairings[0].result)
            .collect();
        assert_eq!(results, [Some(GameResult::WhiteWins), None], "{text}");
    }
}

#[test]
fn a_list_of_players_is_read() {
    let (tournament, doubts) = read_text("No.;Name;FideID;FED;Rtg\n1;Adler, Jonas;4600001;GER;2310\n");
    assert!(doubts.is_empty() && tournament.rounds.is_empty());
    assert_eq!(tournament.players[0].facts.fide_id, Some(4_600_001));
}

/// The ranking of chess-results.com has the number of wins in a column "w".
#[test]
fn a_ranking_is_a_list_of_players() {
    let text = "Club Open 2026\nFinal Ranking after 9 Rounds\n\n\
                Rk.;SNo;;;Name;Typ;sex;FED;RtgI;Club/City;Pts.;TB1;Rp;n;w;we;w-we;K;rtg+/-\n\
                1;5;;GM;Adler, Jonas;S65;;GER;2447;;7;49,5;2496;9;7;5,85;1,15;10;11,5\n\
                2;6;;;Berg, Ina;;w;AUT;2290;Rooks;6,5;48;2434;9;6,5;6,23;0,77;10;7,7\n";
    let portuguese = text.replace(";Name;", ";Nome;").replace("RtgI", "EloI");
    for text in [text, &portuguese] {
        let (tournament, doubts) = read_text(text);
        assert!(doubts.is_empty() && tournament.rounds.is_empty(), "{doubts:?}");
        let facts = |index: usize| &tournament.players[index].facts;
        assert_eq!(
            (facts(0).title.as_deref(), facts(0).rating),
            (Some("GM"), Some(2447))
        );
        assert_eq!(
            (facts(1).federation.as_deref(), facts(1).rating),
            (Some("AUT"), Some(2290))
        );
    }
}

#[test]
fn unusable_files_are_refused_with_the_position() {
    for (text, start) in [
        (
            "1,Adler,Berg\n2,Cohn,Dorn\n",
            "r.csv:1:1: this line has too few column names",
        ),
        (
            "board,white\n1,Adler\n",
            "r.csv:1:1: this line has too few column names",
        ),
        (
            "Club Open\n\nFinal ranking after 9 rounds;;\nRk.;Name;Pts.\n1;Adler, Jonas;7\n",
            "r.csv:4:1: this line has too few column names: found \"Name\"",
        ),
        (
            "board,white,Tisch,black\n",
            "r.csv:1:13: \"Tisch\" names the same column",
        ),
        (
            "board,white,black\n1,\"Adler,Berg\n2,Cohn,Dorn\n",
            "r.csv:2:3: this quotation mark is not closed",
        ),
        (
            "board,white,black\n",
            "r.csv:1:1: the file has no readable pairing or player",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(start), "{error}");
    }
}
