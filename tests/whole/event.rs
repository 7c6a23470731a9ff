//! `kiebitz event check` on files written by pairing programs and by hand: the findings and their places.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// A folder with files, in which the program runs.
struct Hall {
    folder: TempDir,
}

impl Hall {
    fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        // An empty configuration, so that no boards of this computer are used.
        fs::write(folder.path().join("none.toml"), "").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the check. Returns exit code, stdout and stderr.
    fn check(&self, args: &[&str]) -> (i32, String, String) {
        let config: &[&str] = if args.contains(&"--config") {
            &[]
        } else {
            &["--config", "none.toml"]
        };
        let output = Command::new(crate::program())
            .args(["event", "check"])
            .args(args)
            .args(config)
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

/// Lines of an output with wrapped lines joined.
fn sentences(printed: &str) -> Vec<String> {
    printed
        .replace("\n  ", " ")
        .lines()
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

const GOOD: &str = "[Event \"Club Open\"]\n[Round \"1.1\"]\n[White \"Adler, Jonas\"]\n[Black \"Berg, Ina\"]\n\
                    [WhiteFideId \"4600001\"]\n[BlackFideId \"4600002\"]\n\n*\n";

#[test]
fn complete_round_has_no_findings() {
    let hall = Hall::with(&[("r.pgn", GOOD.as_bytes())]);
    let (code, printed, errors) = hall.check(&["r.pgn"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(printed, "1 round, 1 pairing, 2 players; nothing is missing\n");
}

/// The seeds are an export with title lines, and a report with a player named "spielfrei".
#[test]
fn exports_with_titles_and_byes_are_read() {
    let hall = Hall::with(&[
        (
            "export.csv",
            include_bytes!("../../fuzz/seeds/pairings/chess-results"),
        ),
        (
            "report.trf",
            include_bytes!("../../fuzz/seeds/pairings/report-with-bye"),
        ),
    ]);
    let (_, printed, errors) = hall.check(&["export.csv"]);
    assert_eq!(errors, "");
    assert!(printed.contains("1 round, 2 pairings, 4 players"), "{printed}");
    let (code, printed, errors) = hall.check(&["report.trf"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{printed}");
    assert!(
        printed.contains("\"spielfrei\" means that the opponent has nobody to play"),
        "{printed}"
    );
    assert!(
        printed.contains("Cohn, Eva has no opponent in round 1"),
        "{printed}"
    );
}

/// The shapes of files that pairing programs write, each shortened, with other names.
#[test]
fn files_of_pairing_programs_are_read_whole() {
    let team = |number: u32, name: &str, players: &str| {
        format!(
            "310 {number:>3} {name:<32} {:<5} {:>6} {:>6} {:>6}      {players}\n",
            "", 0, "3.0", "3.5"
        )
    };
    let player = |number: u32, name: &str, rounds: &str| {
        format!(
            "001 {number:>4} w gf {name:<33} 2200 GER {:>11} {:10}  0.0    1  {rounds}\n",
            "", ""
        )
    };
    let report = [
        "012 Match\n".to_owned(),
        team(1, "Rooks", "   7   10"),
        team(3, "Knights", "  21   26"),
        "240 F   1    7\n".to_owned(),
        player(7, "Adler, Jonas", "  21 w *"),
        player(21, "Berg, Ina", "   7 b *"),
        player(10, "Cohn, Eva", "  26 b  "),
        player(26, "Langenname, Maximiliana-Ina Carola", "  10 w  ").replacen("Carola ", "Carola", 1),
    ]
    .concat();
    let olympiad: String = [
        ("Norway", "Canada", 1),
        ("Canada", "Norway", 2),
        ("Peru", "Cuba", 1),
        ("Cuba", "Peru", 2),
    ]
    .iter()
    .map(|(white, black, board)| {
        format!(
            "[Round \"2.{board}\"]\n[White \"{white}, P{board}\"]\n[Black \"{black}, P{board}\"]\n\
                 [WhiteTeam \"{white}\"]\n[BlackTeam \"{black}\"]\n[TimeControl \"{FIDE}\"]\n\n*\n\n"
        )
    })
    .collect();
    let files = [
        (
            "boards.csv",
            "League\n\nRound 1 on 2026/01/03 at 15:00;;;;;;;;\nBo.;13;Rooks;Rtg;-;1;Knights;Rtg;1 : 1\n\
             1.1;;Adler, Jonas;1608;-;;Berg, Ina;1946;0 - 1\n1.2;;Cohn, Eva;1560;-;;Dorn, Max;1710;1 - 0\n",
            "1 round, 2 pairings, 4 players",
        ),
        (
            "standings.csv",
            "RANK,PLAYER,RATING\n1,\"Adler, Jonas\",2310\n2,\"Berg, Ina\",2200\n\nROUND RESULTS\n\
             ROUND,BOARD,WHITE,BLACK,RESULT\n1,1,\"Adler, Jonas\",\"Berg, Ina\",\"=\"\"1-0\"\"\"\n",
            "1 round, 1 pairing, 2 players",
        ),
        ("report.trf", report.as_str(), "1 round, 2 pairings, 4 players"),
        (
            "olympiad.pgn",
            olympiad.as_str(),
            "1 round, 4 pairings, 8 players",
        ),
    ];
    let hall = Hall::with(&files.map(|(name, text, _)| (name, text.as_bytes())));
    for (name, _, totals) in files {
        let (_, printed, errors) =
            hall.check(&[name, "--round", if name == "olympiad.pgn" { "2" } else { "1" }]);
        assert_eq!(errors, "", "{name}");
        assert!(printed.contains(totals), "{name}: {printed}");
        let others: Vec<String> = sentences(&printed)
            .into_iter()
            // None of the players has a FIDE id, which broadcasts need.
            .filter(|line| line.starts_with('!') && !line.contains("FIDE id"))
            .collect();
        assert_eq!(others, Vec::<String>::new(), "{name}");
    }
}

/// The time control of FIDE's regulations, in words.
const FIDE: &str = "90 minutes for the first 40 moves, followed by 30 minutes for the rest of the game with an increment of \
                    30 seconds per move starting from move 1";

/// Nobody writes into the pipe, so opening it would take forever.
#[test]
fn a_pipe_a_folder_and_an_incomplete_file_are_refused_at_once() {
    let list = |text: &str| text.as_bytes().to_vec();
    let (half, whole) = (list("2\n1 3\n"), list("1\n1 3\n"));
    let report = include_bytes!("../../fuzz/seeds/pairings/report-with-bye");
    let hall = Hall::with(&[("half.txt", &half), ("whole.txt", &whole), ("report.trf", report)]);
    let made = Command::new("mkfifo")
        .arg(hall.path("pipe.pgn"))
        .status()
        .unwrap();
    assert!(made.success());
    fs::create_dir(hall.path("folder")).unwrap();
    for (file, reason) in [
        ("pipe.pgn", "this is a pipe or a device, not a file"),
        ("folder", "this is a directory: name a file in it"),
        ("half.txt", "the list has 1 of 2 pairings"),
        (
            "whole.txt",
            "add the FIDE report (TRF) from which the pairing engine made it",
        ),
    ] {
        let (code, printed, errors) = hall.check(&[file]);
        assert_eq!((code, printed.as_str()), (2, ""));
        assert!(errors.replace("\n  ", " ").contains(reason), "{errors}");
    }
    let (_, printed, errors) = hall.check(&["whole.txt", "report.trf"]);
    assert_eq!(errors, "");
    assert!(
        printed.contains("it is read as round 1 of the report"),
        "{printed}"
    );
}

/// Latin-1 with CR LF, FIDE ids in quotes or replaced by dates, invalid ratings, unclosed tags.
#[test]
fn messy_pgn_is_read_and_each_finding_has_its_place() {
    let pgn = b"[Event \"Stadtmeisterschaft M\xfcnchen\"]\r\n[Round \"5.1\"]\r\n[White \"M\xfcller, Zo\xeb\"]\r\n\
        [Black \"Berg, Ina]\r\n[WhiteElo \"-\"]\r\n[BlackElo \"\"]\r\n[WhiteFideId \"1989-04-12\"]\r\n\
        [BlackFideId \"'4600002'\"]\r\n\r\n*\r\n\r\n\
        [Event \"Stadtmeisterschaft M\xfcnchen\"]\r\n[Round \"5.1\"]\r\n[White \"Cohn, Eva\"]\r\n\
        [Black \"Dorn, Max\"]\r\n[WhiteElo \"strong\"]\r\n[WhiteFideId \"4600003\"]\r\n[BlackFideId \"4600004\"]\r\n\r\n*\r\n\r\n\
        [Round \"5.3\"]\r\n[White \"Ernst, Pia\"]\r\n[WhiteFideId \"4600005\"]\r\n[Black \"BYE\"]\r\n";
    let hall = Hall::with(&[("r5.pgn", pgn)]);
    let (code, printed, errors) = hall.check(&["r5.pgn"]);
    assert_eq!((code, errors.as_str()), (1, ""));
    let printed = sentences(&printed);
    let starts = [
        "! r5.pgn:3:9: Müller, Zoë has no FIDE id: add it",
        "! r5.pgn:7:15: \"1989-04-12\" is a date, not a FIDE id",
        "! r5.pgn:14:9: table 1 of round 5 belongs to Müller, Zoë and Berg, Ina at r5.pgn:3:9",
        "! r5.pgn:14:9: Cohn, Eva and Dorn, Max: this pairing of round 5 has no table",
        "- r5.pgn:4:9: the quotation marks of this tag are not closed",
        "- r5.pgn:16:12: \"strong\" is not a rating",
        "- r5.pgn:23:9: Ernst, Pia has no opponent in round 5",
        "1 round, 2 pairings, 5 players; 4 things to look at",
    ];
    assert_eq!(printed.len(), starts.len(), "{printed:#?}");
    for (printed, start) in printed.iter().zip(starts) {
        assert!(printed.starts_with(start), "{printed:?} is not {start:?}");
    }
}

#[test]
fn tournament_report_adds_missing_fide_ids() {
    let player = |number: u32, name: &str, id: u32| {
        format!("001 {number:>4} m FM {name:<33} 2200 GER {id:>11} 1990/01/01  0.0 {number:>4}\r\n")
    };
    let report = format!(
        "012 Club Open\r\n{}{}",
        player(1, "Müller, Zoë", 4_600_001),
        player(2, "Berg, Ina", 4_600_002)
    );
    let csv = "Tisch;Weiß;Schwarz\r\n1;Zoe Mueller;Ina Berg\r\n";
    let hall = Hall::with(&[("r.csv", csv.as_bytes()), ("e.trf", report.as_bytes())]);
    let (code, printed, _) = hall.check(&["r.csv"]);
    assert_eq!(code, 1, "{printed}");
    assert!(
        printed.contains("! r.csv:2:3: none of the 2 players has a FIDE id"),
        "{printed}"
    );
    let (code, printed, errors) = hall.check(&["r.csv", "e.trf", "--round", "5"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{printed}");
    assert!(printed.contains("it is read as round 5"), "{printed}");
}

#[test]
fn boards_of_the_configuration_are_compared_with_the_tables() {
    let config =
        "[[board]]\nserial = \"1\"\nname = \"board-2\"\n\n[[board]]\nserial = \"2\"\nname = \"board-3\"\n";
    let pairings = "board,white,white_id,black,black_id\n1,A Adler,4600001,B Berg,4600002\n3,C Cohn,4600003,D Dorn,4600004\n";
    let hall = Hall::with(&[("k.toml", config.as_bytes()), ("r.csv", pairings.as_bytes())]);
    let (code, printed, _) = hall.check(&["r.csv", "--config", "k.toml"]);
    assert_eq!(code, 1);
    assert!(
        printed.contains("! r.csv:2:3: A Adler and B Berg play at table 1 in round 1, which has no board"),
        "{printed}"
    );
    assert!(
        printed.contains("! board-2 has no pairing in round 1"),
        "{printed}"
    );
}

#[test]
fn fide_list_reveals_wrong_ids() {
    let line = |id: &str, name: &str| format!("{id:<15}{name:<61}GER M   {:<73}1990\r\n", "");
    let list = format!(
        "{}{}",
        line("4600001", "Stranger, Some"),
        line("4600002", "Berg, Ina")
    );
    let entry = |id: &str, name: &str| {
        format!("<player>\n<fideid>{id}</fideid>\n<name>{name}</name>\n<country>GER</country>\n</player>\n")
    };
    let xml = format!(
        "<?xml version=\"1.0\"?>\n<playerslist>\n{}{}</playerslist>\n",
        entry("4600001", "Stranger, Some"),
        entry("4600002", "Berg, Ina")
    );
    let hall = Hall::with(&[
        ("r.pgn", GOOD.as_bytes()),
        ("list.txt", list.as_bytes()),
        ("list.zip", b"PK\x03\x04"),
        ("list.xml", xml.as_bytes()),
        ("half.xml", &xml.as_bytes()[..xml.len() - 20]),
    ]);
    for list in ["list.txt", "list.xml"] {
        let (code, printed, _) = hall.check(&["r.pgn", "--fide-list", list]);
        assert_eq!(code, 1);
        assert!(
            sentences(&printed)[0]
                .starts_with("! r.pgn:3:9: Adler, Jonas has the FIDE id 4600001 of Stranger, Some"),
            "{printed}"
        );
    }
    let (code, _, errors) = hall.check(&["r.pgn", "--fide-list", "half.xml"]);
    assert_eq!(code, 2);
    assert!(errors.contains("half.xml: the list breaks off after"), "{errors}");
    let (code, _, errors) = hall.check(&["r.pgn", "--fide-list", "list.zip"]);
    assert_eq!(code, 2);
    assert!(errors.contains("unzip list.zip"), "{errors}");
}

#[test]
fn files_that_cannot_be_read_are_refused_with_the_place() {
    let hall = Hall::with(&[
        ("empty.pgn", b""),
        ("page.html", b"\n<html></html>"),
        ("open.csv", b"board,white,black\n1,\"Adler,Berg\n2,Cohn,Dorn\n"),
        ("sheet.csv", b"1;Adler;Berg\n"),
        ("book.xlsx", b"PK\x03\x04\x14"),
        (
            "rounds.pgn",
            b"[White \"A\"]\n[Black \"B\"]\n\n[White \"C\"]\n[Black \"A\"]\n",
        ),
    ]);
    for (file, printed) in [
        ("empty.pgn", "kiebitz: empty.pgn:1:1: the file is empty"),
        ("page.html", "kiebitz: page.html:2:1: this is HTML or XML"),
        (
            "open.csv",
            "kiebitz: open.csv:2:3: this quotation mark is not closed",
        ),
        (
            "sheet.csv",
            "kiebitz: sheet.csv:1:1: this line has too few column names",
        ),
        ("book.xlsx", "kiebitz: book.xlsx:1:1: this is a zip file"),
        (
            "rounds.pgn",
            "kiebitz: rounds.pgn:5:9: \"A\" plays a second game here",
        ),
        ("no.pgn", "kiebitz: cannot read no.pgn: "),
        (".", "kiebitz: .:1:1: this is a directory"),
    ] {
        let (code, out, errors) = hall.check(&[file]);
        assert_eq!((code, out.as_str()), (2, ""), "{file}");
        assert!(errors.starts_with(printed), "{errors}");
    }
    assert!(hall.path("empty.pgn").exists());
}

#[test]
fn json_has_the_same_findings_with_codes() {
    let hall = Hall::with(&[(
        "r.csv",
        b"round,board,white,black,white_id\n2,1,Adler Jonas,bye,4600001\n2,2,Berg Ina,Cohn Eva,12\n",
    )]);
    let (code, printed, _) = hall.check(&["--json", "r.csv"]);
    assert_eq!(code, 1);
    let object: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(
        (&object["rounds"], &object["pairings"], &object["players"]),
        (&1.into(), &1.into(), &3.into())
    );
    let findings = object["findings"].as_array().unwrap();
    let first = &findings[0];
    assert_eq!(
        (
            first["severity"].as_str(),
            first["kind"].as_str(),
            first["file"].as_str()
        ),
        (Some("lost"), Some("no_fide_id"), Some("r.csv"))
    );
    assert_eq!(
        (first["line"].as_u64(), first["column"].as_u64()),
        (Some(3), Some(5))
    );
    let kinds: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["no_fide_id", "no_fide_id", "fide_id", "bye"]);
    let lost = findings
        .iter()
        .filter(|finding| finding["severity"] == "lost")
        .count();
    assert_eq!(object["lost"], lost);
}
