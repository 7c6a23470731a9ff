use super::*;
use crate::tournament::{Check, DoubtKind, FideList, Finding, ListError, Totals, lost, report};

fn refused(name: &str, bytes: &[u8]) -> String {
    read_bytes(name, bytes).expect_err("no pairings").to_string()
}

#[test]
fn format_is_detected_by_the_content() {
    let pgn = b"[White \"A, A\"]\n[Black \"B, B\"]\n";
    let trf = b"012 Open\n001    1 m    Adler, Jonas\n";
    let csv = b"board,white,black\n1,A,B\n";
    for name in ["pairings.txt", "x", "r.csv", "r.trf", "r.pgn"] {
        for bytes in [pgn.as_slice(), trf, csv] {
            assert!(read_bytes(name, bytes).is_ok(), "{name}");
        }
    }
}

#[test]
fn other_files_are_refused_with_advice() {
    for (bytes, start) in [
        (b"".as_slice(), "x:1:1: the file is empty"),
        (b" \n\n", "x:1:1: the file is empty"),
        (b"PK\x03\x04...", "x:1:1: this is a zip file"),
        (b"\n<html>", "x:2:1: this is HTML or XML"),
        (b"ID Number      Name", "x:1:1: this is the FIDE rating list"),
        (b"a\nb\0c", "x:2:1: line 2 contains a zero byte"),
        (b"hello\n", "x:1:1: this is neither PGN nor"),
    ] {
        let error = refused("x", bytes);
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn folders_pipes_and_missing_files_are_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = read(&[folder.path().to_owned()]).expect_err("a folder");
    assert!(error.to_string().contains("this is a directory"), "{error}");
    let pipe = folder.path().join("pipe.pgn");
    let (kind, mode) = (
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
    );
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).expect("a pipe");
    let error = read(std::slice::from_ref(&pipe)).expect_err("a pipe");
    assert!(
        error.to_string().contains("this is a pipe or a device"),
        "{error}"
    );
    let list = FideList::read(&pipe, &Tournament::default()).expect_err("a pipe");
    assert!(matches!(list, ListError::Unreadable { .. }), "{list}");
    let error = read(&[folder.path().join("no.pgn")]).expect_err("not there");
    assert!(error.to_string().starts_with("cannot read "), "{error}");
}

/// The answer to a file with a problem in each line stays small.
#[test]
fn problems_of_a_kind_are_listed_up_to_a_limit_and_counted_beyond() {
    let mut text = "round,board,white,black,white_rating\n".to_owned();
    for line in 0..4_000 {
        text.push_str(&format!("1,{line},White {line},Black {line},strong\n"));
    }
    let (event, doubts) = read_bytes("r.csv", text.as_bytes()).expect("pairings");
    let ratings = |doubt: &&Doubt| doubt.about == DoubtKind::Value;
    assert_eq!(doubts.iter().filter(ratings).count(), 101);
    let last = doubts.iter().rfind(ratings).expect("a doubt");
    assert_eq!(
        last.to_string(),
        "r.csv:102:27: and 3900 more of this kind, from here on"
    );
    let counted = |findings: &[Finding], about| -> (usize, usize) {
        let of_kind = findings.iter().filter(|finding| finding.about == about);
        (
            of_kind.clone().count(),
            of_kind.map(|finding| finding.count).sum(),
        )
    };
    let check = Check {
        boards: &["board-1".to_owned(), "board-3999".to_owned()],
        ..Check::default()
    };
    let findings = check.findings(&event, doubts);
    assert_eq!(counted(&findings, DoubtKind::Value), (101, 4_000));
    // Findings of the check itself: all tables but two have no board.
    assert_eq!(counted(&findings, DoubtKind::NoBoard), (101, 3_997));
    assert!(lost(&findings) >= 3_997);
    let report = report(&findings, Totals::of(&event)).to_string();
    assert!(report.len() < 100_000, "{} bytes", report.len());
}

#[test]
fn files_with_more_entries_than_any_event_are_refused() {
    let refused = |name: &str, first: &str, line: &dyn Fn(usize) -> String| {
        let lines: String = (0..60_000).map(line).collect();
        read_bytes(name, format!("{first}{lines}").as_bytes())
            .expect_err("too many")
            .to_string()
    };
    let text = ": there are more than 25000 players and pairings";
    let csv = refused("r.csv", "white,black\n", &|line| format!("w{line},b{line}\n"));
    assert!(csv.starts_with(&format!("r.csv:25002:1{text}")), "{csv}");
    let pgn = refused("r.pgn", "", &|line| {
        format!("[Event \"e\"]\n[White \"w{line}\"]\n")
    });
    assert!(pgn.contains(text), "{pgn}");
    let trf = refused("r.trf", "012 Open\n", &|line| {
        format!("001 {line:>4} m    Adler, Jonas\n")
    });
    assert!(trf.contains(text), "{trf}");
    let engine = refused("r.txt", "60000\n", &|line| format!("{line} 0\n"));
    assert!(engine.contains(text), "{engine}");
    let folder = tempfile::tempdir().expect("a folder");
    let paths = [1, 2].map(|number| folder.path().join(format!("{number}.csv")));
    for path in &paths {
        let lines: String = (0..15_000)
            .map(|line| format!("{},w{line},b{line}\n", line / 2_000 + 1))
            .collect();
        std::fs::write(path, format!("round,white,black\n{lines}")).expect("room");
    }
    assert!(read(&paths[..1]).is_ok());
    let both = read(&paths).expect_err("too many").to_string();
    assert!(both.contains("2.csv:1:1: there are more than 25000"), "{both}");
}

#[test]
fn a_table_with_a_line_of_many_fields_is_refused() {
    let read = |commas: usize| {
        let text = format!("round,white,black\n1,Adler,Berg{}\n", ",".repeat(commas));
        read_bytes("r.csv", text.as_bytes())
    };
    assert!(read(1_000).is_ok());
    let error = read(8_000_000).expect_err("too long").to_string();
    assert!(
        error.starts_with("r.csv:2:1: this line is longer than 64 kB"),
        "{error}"
    );
}

#[test]
fn a_report_with_a_line_of_many_rounds_is_refused() {
    let read = |rounds: usize| {
        let round = "     2 w 1".repeat(rounds);
        let text = format!(
            "001    1 m    Adler, Jonas{}\n{:91}{round}\n",
            "", "001    2 m    Berg, Ina"
        );
        read_bytes("r.trf", text.as_bytes())
    };
    assert!(read(100).is_ok());
    let error = read(10_000).expect_err("too long").to_string();
    assert!(
        error.starts_with("r.trf:2:1: this line is longer than 64 kB"),
        "{error}"
    );
}

#[test]
fn a_round_with_more_pairings_than_any_event_is_refused() {
    let read = |pairings: usize| {
        let lines: String = (1..=pairings)
            .map(|line| format!("1,w{line},b{line}\n"))
            .collect();
        read_bytes("r.csv", format!("round,white,black\n{lines}").as_bytes())
    };
    assert!(read(4_000).is_ok());
    let error = read(4_001).expect_err("too many").to_string();
    assert!(error.starts_with("r.csv:4002:"), "{error}");
    assert!(error.contains("more than 4000 pairings in this round"), "{error}");
}

/// Folding a name takes long, so the event loop must not do it for each command and each view.
#[test]
fn names_are_folded_before_the_event_is_used() {
    let (event, _) = read_bytes("r.csv", b"round,white,black\n1,Adler,Berg\n").expect("pairings");
    assert_eq!(event.keys.0.get().map(|keys| keys.len()), Some(2));
    assert!(matches!(event.key("Adler"), std::borrow::Cow::Borrowed("adler")));
    assert_eq!(event.key("GM Jonas Müller"), "jonas muller");
}

#[test]
fn long_names_and_values_are_cut() {
    let name = format!("Adler, {}", "J".repeat(5_000));
    let csv = format!(
        "board,white,black,white_team\n1,\"{name}\",Berg,{name}\n",
        name = name
    );
    let csv = csv.replace(&format!(",{name}\n"), &format!(",\"{name}\"\n"));
    let pgn = format!(
        "[Event \"{name}\"]\n[White \"{name}\"]\n[Black \"Berg\"]\n[Round \"1.1\"]\n[WhiteTeam \"{name}\"]\n"
    );
    for (file, text) in [("r.csv", csv), ("r.pgn", pgn)] {
        let (event, doubts) = read_bytes(file, text.as_bytes()).expect("pairings");
        let white = event.everybody().next().expect("a player");
        assert_eq!(white.name.chars().count(), 120);
        let team = white.facts.team.as_ref().expect("a team");
        assert_eq!(team.chars().count(), 120);
        assert!(event.name.is_none_or(|name| name.chars().count() == 120));
        let is_name_warning = |doubt: &&Doubt| doubt.text.starts_with("this name is very long");
        assert!(doubts.iter().any(|doubt| is_name_warning(&doubt)), "{doubts:?}");
        assert!(doubts.iter().all(|doubt| doubt.text.len() < 2_000));
    }
}

/// Takes seconds, not hours: neither many names of one id nor many tags of one game are compared with each other.
#[test]
fn many_names_of_one_id_and_many_tags_of_one_game_are_bounded() {
    let mut csv = "round,board,white,white_id,black\n".to_owned();
    let mut pgn = "[White \"Adler\"]\n[Black \"Berg\"]\n".to_owned();
    for line in 0..20_000 {
        csv.push_str(&format!("{},{line},w{line},4600001,b{line}\n", line / 4_000 + 1));
        pgn.push_str(&format!("[Tag{line} \"1\"]\n"));
    }
    let (_, doubts) = read_bytes("r.csv", csv.as_bytes()).expect("pairings");
    assert!(doubts.len() < 1_000);
    let (_, doubts) = read_bytes("r.pgn", pgn.as_bytes()).expect("a pairing");
    let left_out: usize = doubts.iter().map(|doubt| doubt.count).sum();
    assert!(left_out > 19_000, "{left_out}");
}
