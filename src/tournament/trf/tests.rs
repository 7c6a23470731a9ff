use kiebitz_game::events::{Bye, GameResult};

use super::super::read_bytes;
use super::*;
use crate::tournament::{Doubt, Severity, UnplayedRound};

/// Formats a player's line, with rounds such as "   2 w 1".
fn line(number: u32, title: &str, name: &str, rating: &str, fed: &str, id: &str, rounds: &[&str]) -> String {
    let rounds: Vec<String> = rounds.iter().map(|round| format!("{round:<10}")).collect();
    let rounds = rounds.concat();
    format!(
        "001 {number:>4} m{title:>3} {name:<33} {rating:>4} {fed:>3} {id:>11} 1990/01/01  1.0    1  {}",
        rounds.trim_end()
    )
}

fn report_of_four_players() -> String {
    [
        "012 Club Open 2026",
        "022 Testtown",
        "032 GER",
        "042 2026/11/21",
        "052 2026/11/23",
        "122 90 min + 30 s",
        &format!("132 {:87}26/11/21  26/11/23", ""),
        "222 5400+30",
        "XXR 5",
        "### a comment",
        &line(
            1,
            "GM",
            "Adler, Jonas",
            "2510",
            "GER",
            "4600001",
            &["   3 w 1", "   2 b"],
        ),
        &line(
            2,
            "",
            "Berg, Ina",
            "2290",
            "AUT",
            "4600002",
            &["   4 b =", "   1 w"],
        ),
        &line(3, "", "Cohn, Eva", "", "", "", &["   1 b 0", "   4 w"]),
        &line(4, "WFM", "Dorn, Max", "0", "GER", "0", &["   2 w =", "   3 b"]),
        "GER    1 m    Adler, Jonas                      2400",
    ]
    .join("\r\n")
}

/// A missing opponent has a line of its own, as in FIDE's sample.
#[test]
fn a_player_named_spielfrei_is_a_bye() {
    let report = include_str!("../../../fuzz/seeds/pairings/report-with-bye");
    for name in ["spielfrei", "bye      ", "BYE      "] {
        let (tournament, doubts) =
            read_bytes("e.trf", report.replace("spielfrei", name).as_bytes()).expect("a report");
        assert_eq!(lost(&doubts), Vec::<String>::new());
        assert_eq!(
            doubts[0].text,
            format!("{:?} means that the opponent has nobody to play", name.trim())
        );
        assert_eq!(tournament.players.len(), 3);
        let byes: Vec<&str> = tournament.rounds[&1]
            .pairings
            .iter()
            .filter(|pairing| !pairing.is_played())
            .filter_map(|pairing| Some(pairing.white.as_ref()?.name.as_str()))
            .collect();
        assert_eq!(byes, ["Cohn, Eva"]);
    }
}

fn lost(doubts: &[Doubt]) -> Vec<String> {
    let lost = doubts.iter().filter(|doubt| doubt.severity == Severity::Lost);
    lost.map(ToString::to_string).collect()
}

#[test]
fn event_players_and_pairings_are_read() {
    let (tournament, doubts) = read_bytes("e.trf", report_of_four_players().as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    assert_eq!(tournament.name.as_deref(), Some("Club Open 2026"));
    assert_eq!(tournament.site.as_deref(), Some("Testtown"));
    assert_eq!(tournament.federation.as_deref(), Some("GER"));
    assert_eq!(tournament.time_control(2), Some("5400+30"));
    let facts = |index: usize| &tournament.players[index].facts;
    assert_eq!((facts(0).fide_id, facts(0).rating), (Some(4_600_001), Some(2510)));
    assert_eq!(
        (facts(0).title.as_deref(), facts(0).federation.as_deref()),
        (Some("GM"), Some("GER"))
    );
    assert_eq!(*facts(2), PlayerFacts::default());
    let first = &tournament.rounds[&1];
    assert_eq!(first.date.as_deref(), Some("2026-11-21"));
    let results: Vec<Option<GameResult>> = first.pairings.iter().map(|pairing| pairing.result).collect();
    assert_eq!(results, [Some(GameResult::WhiteWins), Some(GameResult::Draw)]);
    let second = &tournament.rounds[&2];
    assert_eq!(second.date.as_deref(), Some("2026-11-23"));
    assert_eq!(second.pairings.len(), 2);
    let pairing = &second.pairings[0];
    assert_eq!(
        pairing.white.as_ref().map(|white| white.name.as_str()),
        Some("Berg, Ina")
    );
    assert_eq!((pairing.table, pairing.result), (None, None));
    assert_eq!(pairing.place.to_string(), "e.trf:11:102");
}

/// Papi and Sharly Chess write women's titles in French.
#[test]
fn titles_of_women_are_those_of_fide() {
    let titles = ["gf", "mf", "ff", "cf"];
    let text: Vec<String> = (1..)
        .zip(titles)
        .map(|(number, title)| line(number, title, &format!("Player{number}, A"), "", "", "", &[]))
        .collect();
    let (tournament, _) = read_bytes("e.trf", text.join("\n").as_bytes()).expect("a report");
    let players = tournament.players.iter();
    let titles: Vec<Option<&str>> = players.map(|player| player.facts.title.as_deref()).collect();
    assert_eq!(titles, [Some("WGM"), Some("WIM"), Some("WFM"), Some("WCM")]);
}

/// Covers programs that count bytes, and names that are too long.
#[test]
fn shifted_columns_are_found() {
    let of_bytes = |number, name: &str, rounds: &[&str]| {
        let line = line(
            number,
            "FM",
            name,
            "2200",
            "GER",
            &format!("460000{number}"),
            rounds,
        );
        let more = name.len() - name.chars().count();
        line.replacen(&" ".repeat(more + 1), " ", 1)
    };
    let text = [
        of_bytes(1, "Müller-Größer, Zoë", &["   2 w 1", "0000 - H"]),
        line(
            2,
            "",
            "Ähnlich, Jürgen",
            "2100",
            "AUT",
            "4600002",
            &["   1 b 0", "   3 w"],
        ),
        line(
            3,
            "",
            &format!("{:<36}", "van der Langenamen, Maximiliana Ina"),
            "2000",
            "SUI",
            "4600003",
            &["0000 - U", "   2 b"],
        ),
    ]
    .join("\n");
    let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    let players: Vec<(&str, Option<u32>, Option<u16>)> = tournament
        .players
        .iter()
        .map(|player| (player.name.as_str(), player.facts.fide_id, player.facts.rating))
        .collect();
    assert_eq!(
        players,
        [
            ("Müller-Größer, Zoë", Some(4_600_001), Some(2200)),
            ("Ähnlich, Jürgen", Some(4_600_002), Some(2100)),
            ("van der Langenamen, Maximiliana Ina", Some(4_600_003), Some(2000)),
        ]
    );
    assert_eq!(tournament.rounds[&1].pairings.len(), 2);
    assert_eq!(tournament.rounds[&2].pairings.len(), 2);
}

/// Programs cut names after the blank that separates them from the rating.
#[test]
fn a_name_may_fill_the_column_after_it() {
    let text = [
        line(
            1,
            "",
            "Langenname, Maximiliana-Ina Carola",
            "0",
            "NED",
            "4600001",
            &["   2 w +"],
        )
        .replacen("Carola ", "Carola", 1),
        line(2, "", "Berg, Ina", "2290", "GER", "4600002", &["   1 b -"]),
    ];
    let (tournament, doubts) = read_bytes("e.trf", text.join("\n").as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    let player = &tournament.players[0];
    assert_eq!(player.name, "Langenname, Maximiliana-Ina Carola");
    assert_eq!(
        (player.facts.fide_id, player.facts.federation.as_deref()),
        (Some(4_600_001), Some("NED"))
    );
    assert_eq!(tournament.rounds[&1].pairings.len(), 1);
    // A rating in that column is shifted: the program counted the bytes of the name.
    let shifted = line(1, "", "Müller, Ina", "2200", "", "", &[]).replacen("   2200", "  2200", 1);
    let shifted = shifted.replace("1990/01/01", "          ");
    let (tournament, _) = read_bytes("e.trf", shifted.as_bytes()).expect("a report");
    assert_eq!(tournament.players[0].name, "Müller, Ina");
    assert_eq!(tournament.players[0].facts.rating, Some(2200));
}

#[test]
fn results_come_from_both_lines() {
    for (white, black, expected) in [
        ('1', '0', Some(GameResult::WhiteWins)),
        ('+', '-', Some(GameResult::WhiteWins)),
        ('-', '+', Some(GameResult::BlackWins)),
        ('-', '-', Some(GameResult::BothLose)),
        ('d', 'd', Some(GameResult::Draw)),
        ('=', '0', Some(GameResult::HalfForWhite)),
        ('1', ' ', Some(GameResult::WhiteWins)),
        (' ', ' ', None),
        ('1', '1', None),
    ] {
        let text = [
            line(1, "", "Adler, Jonas", "", "", "", &[&format!("   2 w {white}")]),
            line(2, "", "Berg, Ina", "", "", "", &[&format!("   1 b {black}")]),
        ];
        let (tournament, _) = read_bytes("e.trf", text.join("\n").as_bytes()).expect("a report");
        assert_eq!(
            tournament.rounds[&1].pairings[0].result, expected,
            "{white}{black}"
        );
    }
}

/// Programs write their own letters, and an asterisk for a game that has not been played.
#[test]
fn an_unknown_result_loses_nothing_but_itself() {
    for code in ['*', 'X', 'A', '?'] {
        let text = [
            line(
                1,
                "",
                "Adler, Jonas",
                "2310",
                "GER",
                "",
                &["   2 w 1", &format!("   3 b {code}")],
            ),
            line(
                2,
                "",
                "Berg, Ina",
                "2290",
                "GER",
                "",
                &["   1 b 0", &format!("0000 - {code}")],
            ),
            line(
                3,
                "",
                "Cohn, Eva",
                "2101",
                "GER",
                "",
                &["0000 - U", &format!("   1 w {code}")],
            ),
        ];
        let (tournament, doubts) = read_bytes("e.trf", text.join("\n").as_bytes()).expect("a report");
        assert_eq!(lost(&doubts), Vec::<String>::new(), "{code}");
        let notes: Vec<String> = doubts.iter().map(ToString::to_string).collect();
        assert_eq!(notes.len(), 3, "{notes:?}");
        let expected =
            format!("e.trf:1:109: \"{code}\" in round 2 of Adler, Jonas is not a result of a report");
        assert!(notes[0].starts_with(&expected), "{}", notes[0]);
        assert_eq!(
            tournament.rounds[&1].pairings[0].result,
            Some(GameResult::WhiteWins)
        );
        let second = &tournament.rounds[&2].pairings;
        assert_eq!((second.len(), second[0].result), (1, None));
        assert_eq!(tournament.carried.len(), 3, "the points are read, too");
    }
}

#[test]
fn byes_are_pairings_without_opponent_and_absences_are_ignored() {
    let byes = [
        "0000 - U", "0000 - F", "0000 - H", "0000 - Z", "     - ", "0000 - -", "",
    ];
    let text: Vec<String> = (1..)
        .zip(byes)
        .map(|(number, bye)| line(number, "", &format!("Player{number}, A"), "", "", "", &[bye]))
        .collect();
    let text = format!("{}\n240 H 002 0001 0004\n240 Z 003 0002\n", text.join("\n"));
    let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    assert_eq!(tournament.rounds[&1].pairings.len(), 3);
    assert_eq!(tournament.rounds[&2].pairings.len(), 2);
    assert!(!tournament.rounds.contains_key(&3));
}

#[test]
fn teams_of_old_and_new_reports_are_read() {
    let players: Vec<String> = (1..=4)
        .map(|number| line(number, "", &format!("Player{number}, A"), "", "", "", &[]))
        .collect();
    for teams in [
        format!(
            "013 {:<32}   1    2\n013 {:<32}   3    4",
            "Rooks 2", "Königinnen"
        ),
        format!(
            "310   1 {:<32} ROO     2000    2.0    3.0   1     1    2\n310   2 {:<32} KOE     2000    0.0    1.0   2     3    4",
            "Rooks 2", "Königinnen"
        ),
        format!(
            "013 {:<32}   1    2\n013 {:<31}   3    4",
            "Rooks 2", "Königinnen"
        ),
    ] {
        let text = format!("{}\n{teams}\n", players.join("\n"));
        let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
        assert!(doubts.is_empty(), "{doubts:?}");
        let teams: Vec<Option<&str>> = tournament
            .players
            .iter()
            .map(|player| player.facts.team.as_deref())
            .collect();
        assert_eq!(
            teams,
            [
                Some("Rooks 2"),
                Some("Rooks 2"),
                Some("Königinnen"),
                Some("Königinnen")
            ]
        );
    }
}

/// Reports without ranks, with game points in whole numbers, and of programs that count bytes.
#[test]
fn players_of_a_team_are_read_by_their_columns() {
    let roster = |name: &str, points: &str, rank: &str, players: &str| {
        format!(
            "310   1 {name:<32} ROO   {:>6} {points:>13} {rank:>3}  {players}",
            0
        )
    };
    let names = ["Rooks", "Königinnen", "Größe"];
    for (line, expected) in [
        (
            roster(names[0], "3.0    3.5", "", "   7   10   15   14"),
            [7, 10, 15, 14],
        ),
        (
            roster(names[0], "3.0    3.5", "1", "   7   10   15   14"),
            [7, 10, 15, 14],
        ),
        (
            roster(names[1], "3.0    3.5", "12", " 207   10    0  214"),
            [207, 10, 0, 214],
        ),
        (
            roster(names[0], "4        6", "", "   7   10   15   14"),
            [7, 10, 15, 14],
        ),
        (
            roster(names[0], "4        6", "1", "0007 0010 0015 0014"),
            [7, 10, 15, 14],
        ),
        // Shifted left by one and by two extra bytes.
        (
            roster(names[1], "3.0    3.5", "", " 207   10   15   14").replacen("  ROO", " ROO", 1),
            [207, 10, 15, 14],
        ),
        (
            roster(names[2], "3.0    3.5", "1", "0007 0010 0015 0014").replacen("   ROO", " ROO", 1),
            [7, 10, 15, 14],
        ),
        // A name that is too long shifts everything to the right.
        (
            roster(&"N".repeat(35), "3.0    3.5", "1", "   7   10   15   14"),
            [7, 10, 15, 14],
        ),
    ] {
        let mut header = TrfHeader::default();
        header
            .line("310", &line, 1, &mut Doubts::about("e.trf"))
            .expect("a team");
        assert_eq!(header.teams[0].players, expected, "{line}");
    }
}

/// In a report without ranks, the first board of a team is not lost.
#[test]
fn boards_are_found_in_a_match_of_teams_without_ranks() {
    let players = [
        line(7, "", "Adler, Jonas", "", "", "", &["  21 w"]),
        line(21, "", "Berg, Ina", "", "", "", &["   7 b"]),
        line(10, "", "Cohn, Eva", "", "", "", &["  26 b"]),
        line(26, "", "Dorn, Max", "", "", "", &["  10 w"]),
    ];
    let text = format!(
        "012 Match\n310   1 {:<32} ROO        0    3.0    3.5         7   10\n\
         310   3 {:<32} KNI        0    2.0    5.5        21   26\n{}\n",
        "Rooks",
        "Knights",
        players.join("\n")
    );
    let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    let teams = tournament
        .players
        .iter()
        .map(|player| player.facts.team.as_deref());
    let (rooks, knights) = (Some("Rooks"), Some("Knights"));
    assert_eq!(teams.collect::<Vec<_>>(), [rooks, knights, rooks, knights]);
    let tables = tournament.rounds[&1].pairings.iter().map(|pairing| pairing.table);
    assert_eq!(tables.collect::<Vec<_>>(), [Some(1), Some(2)]);
}

/// Byes name teams if the event has teams with numbers: a player with the number of the team gets no points.
#[test]
fn byes_of_teams_give_no_points_to_players() {
    let players: Vec<String> = ["   3 w 1", "   4 w 0", "   1 b 0", "   2 b 1"]
        .into_iter()
        .zip(1..)
        .map(|(round, number)| line(number, "", &format!("Player{number}, A"), "", "", "", &[round]))
        .collect();
    let teams = format!(
        "310   1 {:<32} ROO     2000    2.0    3.0   1     1    2\n\
         310   2 {:<32} KNI     2000    0.0    1.0   2     3    4\n",
        "Rooks", "Knights"
    );
    let byes = |teams: &str| {
        let text = format!("{}\n{teams}240 F   2    1\n240 H   3    2\n", players.join("\n"));
        let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
        assert!(doubts.is_empty(), "{doubts:?}");
        let pairings = tournament.rounds.values().flat_map(|round| &round.pairings);
        let alone = pairings.filter_map(|pairing| Some(pairing.alone()?.name.clone()));
        alone.collect::<Vec<_>>()
    };
    assert_eq!(byes(""), ["Player1, A", "Player2, A"]);
    assert_eq!(byes(&teams), Vec::<String>::new());
}

/// Line-ups, colours, byes, forfeits and points of teams have no tables. In the forfeited match, the line of the absent
/// player is empty.
#[test]
fn records_of_team_events_raise_no_doubts() {
    let players = [
        line(
            1,
            "",
            "Adler, Jonas",
            "2310",
            "GER",
            "4600001",
            &["   3 w 1", "   4 w +"],
        ),
        line(
            2,
            "",
            "Berg, Ina",
            "2290",
            "GER",
            "4600002",
            &["   4 b =", "0000 - +"],
        ),
        line(3, "", "Cohn, Eva", "2101", "GER", "4600003", &["   1 b 0"]),
        line(4, "", "Dorn, Max", "2055", "GER", "4600004", &["   2 w ="]),
    ];
    let text = format!(
        "012 Team Cup\n152 W\n162  W 3.0     D 1.0\n192 FIDE_TEAM\n352 WB\n362  TW 2.0  TD 1.0\n{}\n\
         310   1 {:<32} ROO     2000    2.0    3.0   1     1    2\n\
         310   2 {:<32} KNI     2000    0.0    1.0   2     3    4\n\
         300   1   1   2    2    1\n300   2   2   1 0000    4\n320  2.0  2.0 000 002\n330 +-   2   1   2\n\
         299 +  2.0  2.5\n801 1 ROO 3.0\n802   1 ROO     2.0    3.0\nGER    1 m    Adler, Jonas\n",
        players.join("\n"),
        "Rooks",
        "Knights"
    );
    let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    let team = tournament.players[3].facts.team.as_deref();
    assert_eq!(team, Some("Knights"));
    let counts = tournament.rounds.values().map(|round| {
        let played = round.pairings.iter().filter(|pairing| pairing.is_played());
        (played.count(), round.pairings.len())
    });
    assert_eq!(counts.collect::<Vec<_>>(), [(2, 2), (0, 2)]);
}

#[test]
fn contradictions_are_reported_with_their_positions() {
    let text = [
        line(1, "", "Adler, Jonas", "2000", "GER", "1990-01-01", &["   9 w"]),
        line(2, "", "Berg, Ina", "2000", "GER", "12", &["   3 b"]),
        line(3, "", "Cohn, Eva", "2000", "GER", "", &["   4 b"]),
        line(4, "", "Dorn, Max", "2000", "GER", "", &["   3 b"]),
        line(4, "", "Ernst, Pia", "2000", "GER", "", &["   1 b"]),
        "001  x   m    Falk, Ole".to_owned(),
        "001    7 m    Gold, Kim                        12345 GERM 1".to_owned(),
        line(8, "", "Haas, Lea", "2000", "GER", "", &["here is a text instead"]),
    ]
    .join("\n");
    let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
    let lost = lost(&doubts);
    let places: Vec<&str> = lost.iter().filter_map(|doubt| doubt.split(": ").next()).collect();
    assert_eq!(
        places,
        [
            "e.trf:1:59",
            "e.trf:2:67",
            "e.trf:5:5",
            "e.trf:6:5",
            "e.trf:7:49",
            "e.trf:8:92",
            "e.trf:1:92",
            "e.trf:2:92",
            "e.trf:3:92"
        ],
        "{lost:#?}"
    );
    assert_eq!(tournament.rounds[&1].pairings.len(), 1);
}

#[test]
fn reports_without_players_and_of_vega_are_refused() {
    let error = read_bytes("e.trf", b"012 Club Open\n022 Testtown\n").expect_err("no players");
    assert!(
        error
            .to_string()
            .starts_with("e.trf:1:1: the file has no readable player"),
        "{error}"
    );
    let error = read_bytes("e.trf", b"012 Club Open\n001    1|m|GM|Adler, Jonas\n").expect_err("divided");
    assert!(
        error
            .to_string()
            .starts_with("e.trf:2:1: the fields are separated by |"),
        "{error}"
    );
}

/// Reads a report on a match of two teams with a reserve each; `more` is added to the report. Returns the name of White
/// and the table of each pairing.
fn team_match(more: &str) -> Vec<(String, Option<u32>)> {
    let players = [
        line(1, "", "Adler, Jonas", "2310", "GER", "", &["   7 b"]),
        line(2, "", "Berg, Ina", "2290", "GER", "", &["   6 w"]),
        line(3, "", "Cohn, Eva", "2101", "GER", "", &["   5 b"]),
        line(4, "", "Dorn, Max", "2055", "GER", "", &[]),
        line(5, "", "Ernst, Pia", "2310", "GER", "", &["   3 w"]),
        line(6, "", "Falk, Ole", "2290", "GER", "", &["   2 b"]),
        line(7, "", "Gold, Kim", "2101", "GER", "", &["   1 w"]),
        line(8, "", "Hahn, Lea", "2055", "GER", "", &[]),
    ];
    let text = format!(
        "012 Team Cup\n{}\n310  21 {:<32} ROO     2000    0.0    0.0   1     4    3    2    1\n\
         310  22 {:<32} KNI     2000    0.0    0.0   2     5    6    7    8\n{more}",
        players.join("\n"),
        "Rooks",
        "Knights"
    );
    let (tournament, doubts) = read_bytes("e.trf", text.as_bytes()).expect("a report");
    assert!(doubts.is_empty(), "{doubts:?}");
    let pairings = &tournament.rounds[&1].pairings;
    let pairings = pairings
        .iter()
        .map(|pairing| (pairing.white.as_ref().unwrap().name.clone(), pairing.table));
    pairings.collect()
}

fn tables(pairings: &[(String, Option<u32>)]) -> Vec<(&str, Option<u32>)> {
    let pairings = pairings.iter();
    pairings.map(|(white, table)| (white.as_str(), *table)).collect()
}

#[test]
fn a_report_whose_teams_have_more_players_than_any_event_is_refused() {
    let players = "   1".repeat(1000);
    let team = format!("013 {:<32}{players}\n", "A");
    let read = |teams: usize| {
        read_bytes(
            "r.trf",
            (report_of_four_players() + "\n" + &team.repeat(teams)).as_bytes(),
        )
    };
    assert!(read(24).is_ok());
    let error = read(25).expect_err("25,000 players").to_string();
    assert!(error.contains("more than"), "{error}");
}

#[test]
fn boards_of_the_only_match_of_a_round_are_its_tables() {
    assert_eq!(
        tables(&team_match("")),
        [
            ("Ernst, Pia", Some(1)),
            ("Berg, Ina", Some(2)),
            ("Gold, Kim", Some(3))
        ],
        "the order of the teams"
    );
    let line_ups = "300   1  21  22    1    2 0000    3\n300   1  22  21    7    6    8    5\n";
    assert_eq!(
        tables(&team_match(line_ups)),
        [
            ("Gold, Kim", Some(1)),
            ("Berg, Ina", Some(2)),
            ("Ernst, Pia", Some(4))
        ],
        "line-ups, with an empty board"
    );
    let other_round = "300   2  21  22    1    2    3\n";
    assert_eq!(team_match(other_round), team_match(""));
    // The line-up of one team contradicts the other's order.
    let contradiction = "300   1  22  21    7    6    5\n";
    assert_eq!(
        tables(&team_match(contradiction)),
        [("Berg, Ina", Some(2)), ("Gold, Kim", None), ("Ernst, Pia", None)]
    );
}

#[test]
fn several_matches_and_games_outside_of_teams_have_no_tables() {
    let game =
        |number: u32, opponent: &str| line(number, "", &format!("Player, {number}"), "", "", "", &[opponent]);
    let text = |teams: &str| {
        let lines = [
            game(1, "   3 w"),
            game(2, "   4 b"),
            game(3, "   1 b"),
            game(4, "   2 w"),
        ];
        format!("012 Cup\n{}\n{teams}", lines.join("\n"))
    };
    let roster = |number: u32, players: &str| format!("310 {number:>3} {:<64} {players}\n", "Team");
    let teams = [roster(1, "   1    2"), roster(2, "   3    4")].concat();
    let matches = [
        roster(1, "   1"),
        roster(2, "   3"),
        roster(3, "   2"),
        roster(4, "   4"),
    ]
    .concat();
    let one_missing = roster(1, "   1    2");
    for (teams, expected) in [
        (teams, [Some(1), Some(2)]),
        (matches, [None, None]),
        (one_missing, [None, None]),
    ] {
        let (tournament, _) = read_bytes("e.trf", text(&teams).as_bytes()).expect("a report");
        let tables = tournament.rounds[&1].pairings.iter().map(|pairing| pairing.table);
        assert_eq!(tables.collect::<Vec<_>>(), expected, "{teams}");
    }
}

/// Reads a report of two players after two rounds, with their points.
fn with_points(first: &str, second: &str) -> Tournament {
    let line = |number: u32, name: &str, points: &str, rounds: &str| {
        format!(
            "001 {number:>4}      {name:<33} 2200 GER {:>11} 1990/01/01 {points:>4}    1  {rounds}\n",
            ""
        )
    };
    let text = [
        line(1, "Adler, Jonas", first, "   2 w 1  0000 - U  "),
        line(2, "Berg, Ina", second, "   1 b 0  0000 - H  "),
    ];
    read_bytes("e.trf", text.concat().as_bytes()).expect("a report").0
}

#[test]
fn points_are_those_of_games_and_byes() {
    let carried = |tournament: &Tournament| -> Vec<(String, u32)> {
        let carried = tournament.carried.iter();
        carried
            .map(|carried| (carried.player.name.clone(), carried.half_points))
            .collect()
    };
    let both = |adler, berg| [("Adler, Jonas".to_owned(), adler), ("Berg, Ina".to_owned(), berg)];
    let tournament = with_points("2.0", "0,5");
    assert_eq!(carried(&tournament), both(0, 0));
    let byes = tournament.rounds[&2].pairings.iter();
    assert_eq!(
        byes.map(|pairing| (pairing.bye(), pairing.unplayed))
            .collect::<Vec<_>>(),
        [
            (Some(Bye::Full), Some(UnplayedRound::AllocatedBye)),
            (Some(Bye::Half), Some(UnplayedRound::HalfPointBye))
        ]
    );
    // The report was made at the pairing, and its points lack the byes.
    assert_eq!(carried(&with_points("1.0", "0")), both(0, 0));
    assert_eq!(
        carried(&with_points("1.0", "1.0")),
        both(0, 1),
        "half a point from elsewhere"
    );
}

#[test]
fn points_that_do_not_fit_the_games_are_ignored() {
    assert_eq!(with_points("0.0", "0.5").carried, [], "less than the results");
    assert_eq!(with_points("4.0", "0.5").carried, [], "more than the rounds");
    assert_eq!(with_points("", "").carried, []);
}
