use super::super::{Tournament, read};

fn event(files: &[(&str, &str)]) -> (Tournament, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: Vec<std::path::PathBuf> = files
        .iter()
        .map(|(name, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("room");
            path
        })
        .collect();
    let (tournament, doubts) = read(&paths).expect("pairings");
    let prefix = format!("{}/", folder.path().display());
    let doubts = doubts.iter().map(|doubt| doubt.to_string().replace(&prefix, ""));
    (tournament, doubts.collect())
}

fn trf(players: &[(&str, &str, &str)]) -> String {
    let lines = (1..).zip(players).map(|(number, (name, id, round))| {
        format!("001 {number:>4} m FM {name:<33} 2200 GER {id:>11} 1990/01/01  1.0    1  {round}\n")
    });
    lines.collect()
}

fn pgn(pairings: &[(&str, &str, &str)]) -> String {
    let games = pairings.iter().map(|(round, white, black)| {
        format!("[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n\n*\n\n")
    });
    games.collect()
}

#[test]
fn tables_come_from_pgn_and_players_from_the_report() {
    let report = trf(&[
        ("Müller, Zoë", "4600001", "   2 w"),
        ("Berg, Ina", "4600002", "   1 b"),
        ("Cohn, Eva", "4600003", "0000 - U"),
    ]);
    let (tournament, doubts) = event(&[
        ("e.trf", &report),
        ("r1.pgn", &pgn(&[("1.7", "Zoe Mueller", "BERG Ina")])),
    ]);
    assert!(doubts.is_empty(), "{doubts:?}");
    let pairing = tournament.pairing(1, 7).expect("a pairing");
    let white = pairing.white.as_ref().expect("one");
    assert_eq!(white.name, "Zoe Mueller");
    assert_eq!(
        (white.facts.fide_id, white.facts.rating),
        (Some(4_600_001), Some(2200))
    );
    assert!(white.place.file.ends_with("r1.pgn"));
    assert_eq!(tournament.rounds[&1].pairings.len(), 2);
    assert_eq!(tournament.players.len(), 3);
}

#[test]
fn an_ambiguous_name_is_joined_with_neither_player() {
    let report = trf(&[
        ("Berg, Ina", "4600001", "   3 w"),
        ("Berg, Ina", "4600002", ""),
        ("Cohn, Eva", "4600003", "   1 b"),
    ]);
    let (tournament, doubts) = event(&[
        ("e.trf", &report),
        ("r.csv", "board,white,black\n1,Berg Ina,Dorn Max\n"),
    ]);
    assert_eq!(
        doubts[1..],
        [
            "e.trf:2:15: Berg, Ina has the FIDE id 4600002 here, but 4600001 at e.trf:1:15: correct one of them, unless \
             these are two players",
            "r.csv:2:3: Berg Ina may be the player with the FIDE id 4600001 or 4600002, and is treated as neither: add the id here",
        ],
        "{doubts:#?}"
    );
    let white = tournament
        .pairing(1, 1)
        .and_then(|pairing| pairing.white.as_ref())
        .expect("one");
    assert_eq!(white.facts.fide_id, None);
}

#[test]
fn an_id_with_unrelated_names_is_reported_and_not_joined() {
    let text = "board,white,white_id,black,black_id\n1,Adler Jonas,4600001,Berg Ina,4600001\n2,Cohn Eva,4600003,Dorn Max,\n";
    let (tournament, doubts) = event(&[("r.csv", text)]);
    assert_eq!(
        doubts[1..],
        [
            "r.csv:2:23: Berg Ina has the FIDE id 4600001 here, which Adler Jonas has at r.csv:2:3: correct one of them"
        ]
    );
    let pairing = tournament.pairing(1, 1).expect("a pairing");
    assert_eq!(
        pairing.black.as_ref().map(|black| black.name.as_str()),
        Some("Berg Ina")
    );
    // The id joins two spellings of one name.
    let text = "[Round \"1.1\"][White \"Adler, J\"][WhiteFideId \"4600001\"][Black \"Berg, Ina\"]\n";
    let (tournament, doubts) = event(&[
        ("e.trf", &trf(&[("Adler, Jonas", "4600001", "")])),
        ("r.pgn", text),
    ]);
    assert!(doubts.is_empty(), "{doubts:?}");
    let white = tournament
        .pairing(1, 1)
        .and_then(|pairing| pairing.white.as_ref())
        .expect("one");
    assert_eq!(
        (white.name.as_str(), white.facts.rating),
        ("Adler, J", Some(2200))
    );
}

#[test]
fn contradictions_are_reported_and_the_first_counts() {
    let first = pgn(&[
        ("1.1", "Adler, Jonas", "Berg, Ina"),
        ("1.2", "Cohn, Eva", "Dorn, Max"),
        ("1.2", "Ernst, Pia", "Falk, Ole"),
    ]);
    let second = "round;board;white;black\n1;1;Berg Ina;Adler Jonas\n1;5;Cohn Eva;Dorn Max\n1;3;Adler Jonas;Gold Kim\n\
                  1;4;Haas Lea;Haas Lea\n1;6;Ernst Pia;Falk Ole\n";
    let (tournament, doubts) = event(&[("r.csv", second), ("r.pgn", &first)]);
    let starts = [
        "r.pgn:14:9: table 2",
        "r.csv:2:5: Berg Ina and Adler Jonas have the opposite colours in round 1 at r.pgn:2:9",
        "r.csv:3:5: Cohn Eva and Dorn Max play at table 5 here, but at table 2 at r.pgn:8:9",
        "r.csv:4:5: Adler Jonas and Gold Kim: one of these players has another opponent in round 1 at r.pgn:2:9",
        "r.csv:5:5: Haas Lea and Haas Lea are the same player",
    ];
    assert_eq!(doubts.len(), starts.len(), "{doubts:#?}");
    for (doubt, start) in doubts.iter().zip(starts).skip(1) {
        assert!(doubt.starts_with(start), "{doubt}");
    }
    let tables: Vec<Option<u32>> = tournament.rounds[&1]
        .pairings
        .iter()
        .map(|pairing| pairing.table)
        .collect();
    assert_eq!(tables, [Some(1), Some(2), Some(6)]);
}

#[test]
fn duplicates_within_a_file_are_reported() {
    let text = pgn(&[
        ("1.1", "Adler, Jonas", "Berg, Ina"),
        ("1.1", "Adler, Jonas", "Berg, Ina"),
        ("1.3", "Cohn, Eva", "Berg, Ina"),
    ]);
    let (tournament, doubts) = event(&[("r.pgn", &text)]);
    assert_eq!(
        doubts,
        [
            "r.pgn:8:9: Adler, Jonas and Berg, Ina: this pairing of round 1 is already at r.pgn:2:9, and counts once",
            "r.pgn:14:9: Cohn, Eva and Berg, Ina are also in another pairing of round 1, at r.pgn:2:9: correct one of them",
        ]
    );
    assert_eq!(tournament.rounds[&1].pairings.len(), 2);
}

#[test]
fn the_only_game_of_a_round_does_not_get_the_table_of_a_bye() {
    let pgn = "[White \"Adler\"]\n[Black \"Berg\"]\n[Round \"3\"]\n\n*\n\n\
               [White \"Cohn\"]\n[Black \"bye\"]\n[Round \"3\"]\n[Board \"1\"]\n\n*\n";
    let (event, _) = crate::tournament::read_bytes("r.pgn", pgn.as_bytes()).expect("pairings");
    let pairings = &event.rounds.get(&3).expect("the round").pairings;
    let tables: Vec<Option<u32>> = pairings.iter().map(|pairing| pairing.table).collect();
    assert_eq!(tables, [Some(1), None]);
    assert!(!pairings[0].is_played());
}
