use super::super::read_bytes;
use super::*;

/// Returns the findings as lines such as "! r.pgn:2:8 text" or "- text".
fn found(check: Check<'_>, name: &str, text: &str) -> Vec<String> {
    let (event, doubts) = read_bytes(name, text.as_bytes()).expect("pairings");
    let findings = check.findings(&event, doubts);
    let line = |finding: &Finding| {
        let mark = if finding.severity == Severity::Lost {
            "!"
        } else {
            "-"
        };
        let place = finding
            .place
            .as_ref()
            .map(|place| format!("{place} "))
            .unwrap_or_default();
        format!("{mark} {place}{}", finding.text)
    };
    findings.iter().map(line).collect()
}

fn starts(found: &[String], starts: &[&str]) {
    assert_eq!(found.len(), starts.len(), "{found:#?}");
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(start), "{found:?} is not {start:?}");
    }
}

const PAIRINGS: &str = "round,board,white,white_id,black,black_id,result\n\
                        1,1,Adler Jonas,4600001,Cohn Eva,4600003,1-0\n\
                        2,1,Adler Jonas,4600001,Berg Ina,,\n\
                        2,2,Cohn Eva,4600003,Dorn Max,4600004,\n\
                        2,,Ernst Pia,4600005,Falk Ole,4600006,\n\
                        2,9,Gold Kim,4600007,bye,,\n";

/// A report has no tables. The only game of the round is at table 1.
#[test]
fn a_report_with_a_bye_and_one_game_lacks_nothing() {
    let report = include_str!("../../../fuzz/seeds/pairings/report-with-bye");
    starts(
        &found(Check::default(), "e.trf", report),
        &[
            "- e.trf:6:92 Cohn, Eva has no opponent in round 1",
            "- e.trf:7:15 \"spielfrei\" means that the opponent has nobody to play",
        ],
    );
}

#[test]
fn the_next_round_is_checked() {
    starts(
        &found(Check::default(), "r.csv", PAIRINGS),
        &[
            "! r.csv:3:25 Berg Ina has no FIDE id: add it",
            "! r.csv:5:4 Ernst Pia and Falk Ole: this pairing of round 2 has no table",
            "- r.csv:6:5 Gold Kim has no opponent in round 2",
        ],
    );
    let first = Check {
        round: Some(1),
        ..Check::default()
    };
    starts(&found(first, "r.csv", PAIRINGS), &[]);
    let third = Check {
        round: Some(3),
        ..Check::default()
    };
    let lines = found(third, "r.csv", PAIRINGS);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("! the files have no round 3")),
        "{lines:?}"
    );
}

#[test]
fn boards_and_tables_are_compared() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<String>>()
    };
    let check_boards = |boards: &[String]| {
        let check = Check {
            boards,
            ..Check::default()
        };
        let text = "board,white,white_id,black,black_id\n\
                    1,Adler Jonas,4600001,Berg Ina,4600002\n\
                    3,Cohn Eva,4600003,Dorn Max,4600004\n\
                    4,Ernst Pia,4600005,Falk Ole,4600006\n\
                    5,Gold Kim,4600007,Haas Lea,4600008\n";
        let mut found = found(check, "r.csv", text);
        found.retain(|found| !found.contains("gives no round number"));
        found
    };
    starts(&check_boards(&[]), &[]);
    starts(
        &check_boards(&names(&["board-1", "board-2", "board-4", "stage"])),
        &[
            "! r.csv:3:3 Cohn Eva and Dorn Max play at table 3 in round 1, which has no board",
            "! the name of the board stage does not end with a number",
            "! board-2 has no pairing in round 1",
            "- r.csv:5:3 the pairings of round 1 from table 5 on (1) have no board",
        ],
    );
    starts(
        &check_boards(&names(&["a-1", "b-1", "a-3", "a-4", "a-5", "a-6"])),
        &[
            "! the boards a-1 and b-1 are both table 1",
            "- a-6 is not used in round 1",
        ],
    );
}

#[test]
fn ids_and_names_are_compared_with_the_fide_list() {
    let text = "round,board,white,white_id,white_title,black,black_id\n\
                1,1,Adler Jonas,4600001,FM,Berg Ina,\n\
                1,2,Cohn Eva,4600003,,Dorn Max,4600044\n\
                1,3,Ernst P,4600005,,Falk Ole,\n";
    let (event, _) = read_bytes("r.csv", text.as_bytes()).expect("pairings");
    let line =
        |id: &str, name: &str, title: &str| format!("{id:<15}{name:<61}GER M   {title:<5}{:63}1990\n", "");
    let lines = [
        line("4600001", "Adler, Jonas", "IM"),
        line("4600002", "Berg, Ina", ""),
        line("4600003", "Stranger, Some", ""),
        line("4600004", "Dorn, Max", ""),
        line("4600005", "Ernst, Pia", ""),
    ];
    let list = FideList::from_reader("l.txt", lines.concat().as_bytes(), &event).expect("a list");
    let check = Check {
        fide: Some(&list),
        ..Check::default()
    };
    starts(
        &found(check, "r.csv", text),
        &[
            "! r.csv:2:28 Berg Ina has no FIDE id; the FIDE list has one player of that name: Berg, Ina, id 4600002, GER",
            "! r.csv:3:5 Cohn Eva has the FIDE id 4600003 of Stranger, Some",
            "! r.csv:3:23 Dorn Max: the FIDE list has no id 4600044, but Dorn, Max, id 4600004",
            "! r.csv:4:22 Falk Ole has no FIDE id, and the name is not in the FIDE list",
            "- r.csv:2:5 Adler Jonas has the title FM here, and IM in the FIDE list",
            "- r.csv:4:5 Ernst P: the FIDE list spells 4600005 as Ernst, Pia",
        ],
    );
}

#[test]
fn ids_missing_for_all_players_are_reported_once() {
    let text = "001    1 m    Adler, Jonas                                                      1990/01/01  0.0    1     2 w\n\
                001    2 m    Berg, Ina                                                         1990/01/01  0.0    2     1 b\n\
                222 40 moves in whatever\n";
    starts(
        &found(Check::default(), "r.trf", text),
        &[
            "! r.trf:1:15 none of the 2 players has a FIDE id",
            "- r.trf:1:103 round 1: time control",
        ],
    );
}

/// Without a broadcast, FIDE ids that are missing are notes, for some players and for all.
#[test]
fn missing_ids_are_notes_if_they_are_optional() {
    let check = Check {
        ids_optional: true,
        ..Check::default()
    };
    let some = found(check, "r.csv", PAIRINGS);
    assert!(
        some.contains(&"- r.csv:3:25 Berg Ina has no FIDE id: add it in the pairing program".to_owned()),
        "{some:#?}"
    );
    let nobody = "round,board,white,black\n1,1,Adler Jonas,Berg Ina\n";
    starts(
        &found(check, "r.csv", nobody),
        &["- r.csv:2:5 none of the 2 players has a FIDE id"],
    );
    starts(
        &found(Check::default(), "r.csv", nobody),
        &["! r.csv:2:5 none of the 2 players has a FIDE id"],
    );
}
