//! `kiebitz report`, including its pages in a real browser.

mod browser;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use browser::Seen;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn kiebitz(args: &[&str]) -> Output {
    Command::new(crate::program())
        .args(args)
        .current_dir(ROOT)
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .output()
        .expect("kiebitz runs")
}

fn printed(args: &[&str]) -> String {
    let output = kiebitz(args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    directory
}

/// Events of a board with an illegal move and other incidents, and of a board on which a position is about to occur for
/// the third time. They were written by hand, based on the events of a capture.
const INCIDENTS: &str = "tests/whole/report/incidents.jsonl";
const GAP: &str = "tests/captures/gap-read-back.pcapng";
const DEMO: &str = "src/tools/demo/game.pcapng";

#[test]
fn page_of_incidents_is_complete_in_a_browser() {
    let page = printed(&["report", INCIDENTS]);
    let seen = Seen::on_screen(&scratch("incidents"), &page, 1000);
    assert_eq!(seen.text("title"), "Arbiter's report");
    assert_eq!(seen.number("games"), 2);
    assert_eq!(seen.number("incidents") + seen.number("listed"), 3);
    assert_eq!(seen.number("unnamed_pictures"), 0, "a picture without a title");
    assert_eq!(seen.number("curves"), 2);
    assert_eq!(seen.number("scripts"), 0, "a player's name became a script");
    // 41 half-moves with their numbers, and 15.
    assert_eq!(seen.number("moves"), 56);
    assert_eq!(seen.number("pieces_not_drawn"), 0);
    assert_eq!(
        seen.number("dead_links"),
        0,
        "a link to an incident that is not there"
    );
    assert_eq!(seen.number("too_wide"), 0, "wider than the window");
}

#[test]
fn page_fits_a_phone() {
    let page = printed(&["report", "--language", "de", INCIDENTS]);
    let seen = Seen::on_screen(&scratch("phone"), &page, 360);
    assert_eq!(seen.text("title"), "Bericht für den Schiedsrichter");
    assert_eq!(seen.text("language"), "de");
    assert_eq!(seen.number("too_wide"), 0, "wider than the phone");
}

/// The report of one game on a phone with 390 by 844 pixels, for games with gaps, violations, flags, and none of these.
#[test]
fn summary_fits_the_screen_of_a_phone() {
    let directory = scratch("summary");
    let mut seen_violations = 0;
    for capture in [
        "king-left-in-check-pressed",
        "gap-read-back",
        "flag-falls",
        "kings-show-result",
        "pieces-knocked-over",
    ] {
        for language in ["en", "de"] {
            let path = format!("tests/captures/{capture}.pcapng");
            let args = [
                "report",
                "--language",
                language,
                "--time-control",
                "90 min/40 + 30 min, 30 s from move 1",
                &path,
            ];
            let page = printed(&args);
            let seen = Seen::on_screen(&directory, &page, 390);
            let bottom = seen.number("summary_bottom");
            assert!(
                (200..=844).contains(&bottom),
                "{capture}, {language}: {bottom} px"
            );
            assert_eq!(seen.number("curve_text_too_small"), 0, "{capture}");
            seen_violations += seen.number("violations");
        }
    }
    assert!(seen_violations > 0);
}

/// Summary, score sheet, clocks and signature lines.
#[test]
fn calm_game_is_printed_on_two_pages() {
    let page = printed(&["report", "tests/captures/clean-game.pcapng"]);
    let pdf = browser::printed(&scratch("calm"), &page);
    let text = String::from_utf8_lossy(&pdf);
    let pages = text.matches("/MediaBox [0 0 ").count();
    assert!((1..=2).contains(&pages), "{pages} pages");
}

#[test]
fn page_is_printed_on_a4() {
    let page = printed(&["report", INCIDENTS]);
    let pdf = browser::printed(&scratch("a4"), &page);
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&pdf);
    // 210 by 297 mm in points, with some tolerance for rounding.
    let sheets: Vec<&str> = text
        .match_indices("/MediaBox [0 0 ")
        .filter_map(|(at, _)| text.get(at..at + 40))
        .collect();
    assert!(!sheets.is_empty() && sheets.len() < 12, "{} pages", sheets.len());
    assert!(
        sheets
            .iter()
            .all(|sheet| sheet.contains("594.") || sheet.contains("595")),
        "{sheets:?}"
    );
}

#[test]
fn capture_is_reported_with_its_gap() {
    let text = printed(&["report", "--text", "--adjournment", GAP]);
    for line in [
        "Made from tests/captures/gap-read-back.pcapng",
        "   8. 0-0~ #1         1:03:11           a6~             1:02:56",
        "Gap: 27 changes of squares were read from the board's memory.",
        "If the game is adjourned",
        "Draw offer pending: ____",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

/// The first dump of a board is not listed as moves, and a wrong set-up is not a reference position.
#[test]
fn wrong_set_up_is_shown_as_found() {
    let text = printed(&["report", "--text", "tests/captures/king-and-queen-swapped.pcapng"]);
    assert!(
        text.contains("As the pieces were set up: rnb") && text.contains("32 squares at once"),
        "{text}"
    );
}

/// The envelope has the last clock reading, not the one after the last move.
#[test]
fn envelope_has_the_last_clock_reading() {
    let text = printed(&[
        "report",
        "--text",
        "--adjournment",
        "tests/captures/flag-falls.pcapng",
    ]);
    let (_, envelope) = text
        .split_once("If the game is adjourned")
        .expect("a game without a result");
    assert!(envelope.contains("On the clock, White: 0:00:00"), "{envelope}");
}

#[test]
fn notation_and_language_can_be_chosen() {
    let french = printed(&["report", "--text", "--notation", "fr", GAP]);
    assert!(
        french.contains("Cf6") && french.contains("Fc4") && french.contains("Score sheet"),
        "{french}"
    );
    let german = printed(&["report", "--text", "--language", "de", GAP]);
    assert!(
        german.contains("Sf6") && german.contains("Lc4") && german.contains("Partieformular"),
        "{german}"
    );
    // The advice uses the language and the piece letters of the report, too.
    let german = printed(&["report", "--text", "--language", "de", INCIDENTS]);
    assert!(
        german.contains("Sb1, Sd5, Sb5, Sa4") && german.contains("spielte 0-0"),
        "{german}"
    );
    let output = kiebitz(&["report", "--notation", "xx", GAP]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("no piece letters for \"xx\"; expected one of en, de"),
        "{errors}"
    );
}

/// Removes the packet numbers, which a report from events cannot have.
fn without_packets(report: &mut serde_json::Value) {
    match report {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| name != "frame" && name != "frames");
            fields.values_mut().for_each(without_packets);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(without_packets),
        _ => {}
    }
}

#[test]
fn events_of_a_replay_give_the_report_of_their_capture() {
    let events = scratch("events").join("gap.jsonl");
    std::fs::write(&events, printed(&["replay", "--json", GAP])).expect("a file of events");
    let of = |file: &str| -> serde_json::Value {
        let report = printed(&["report", "--json", file]);
        let mut report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        report["source"] = serde_json::Value::Null;
        without_packets(&mut report);
        report
    };
    assert_eq!(of(events.to_str().expect("UTF-8")), of(GAP));
    let capture = of(GAP);
    assert_eq!(capture["games"][0]["plies"].as_array().map(Vec::len), Some(27));
    assert_eq!(capture["games"][0]["adjournment"]["color"], "black");
}

#[test]
fn game_is_found_in_the_journal_of_the_configuration() {
    let directory = scratch("journal");
    let state = directory.join("state");
    let _ = std::fs::remove_dir_all(&state);
    let config = directory.join("kiebitz.toml");
    let settings = format!("[daemon]\nstate_directory = {:?}\n", state.display().to_string());
    std::fs::write(&config, settings).expect("a configuration");
    let config = config.to_str().expect("UTF-8");
    let game = "2026-07-12-board-1-1";

    let output = kiebitz(&["report", "--config", config, game]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no journal"));
    assert!(!state.exists(), "a report makes no journal");

    let mut journal = kiebitz::journal::Journal::open(&state.join("journal.sqlite")).expect("a journal");
    let events = printed(&["replay", "--json", "--stream", "live", GAP]);
    let events: Vec<kiebitz_game::events::Event> = events
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    journal.append(&events).expect("kept");
    drop(journal);

    let text = printed(&["report", "--text", "--config", config, game]);
    assert!(
        text.contains("14. Ba5") && text.contains("The board was disconnected: input/output error"),
        "{text}"
    );
    let output = kiebitz(&["report", "--config", config, "2026-07-12-board-1-9"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("the last games are 2026-07-12-board-1-1"),
        "{errors}"
    );
}

/// The standings come from the pairings of the configuration and the journal.
#[test]
fn standings_are_attached_on_request() {
    let directory = scratch("standings");
    let state = directory.join("state");
    let _ = std::fs::remove_dir_all(&state);
    let pairings = directory.join("round.csv");
    let table = "round,board,white,black,result\n1,1,Adler,Berg,1-0\n1,2,Cohn,Dorn,1/2-1/2\n";
    std::fs::write(&pairings, table).expect("pairings");
    let config = directory.join("kiebitz.toml");
    let state_text = state.display().to_string();
    let write = |pairings: &str| {
        let settings =
            format!("[daemon]\nstate_directory = {state_text:?}\n[event]\npairings = [{pairings}]\n");
        std::fs::write(&config, settings).expect("a configuration");
    };
    write(&format!("{:?}", pairings.display().to_string()));
    let mut journal = kiebitz::journal::Journal::open(&state.join("journal.sqlite")).expect("a journal");
    let events = printed(&["replay", "--json", "--stream", "live", GAP]);
    let events: Vec<kiebitz_game::events::Event> = events
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    journal.append(&events).expect("kept");
    drop(journal);
    let named = config.to_str().expect("UTF-8");
    let (game, request) = (
        "2026-07-12-board-1-1",
        ["report", "--text", "--standings", "--config", named],
    );
    let text = printed(&[&request[..], &[game]].concat());
    for line in ["Standings\n=", "After round 1", "   1  Adler", "   4  Berg"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let plain = printed(&["report", "--text", "--config", named, game]);
    assert!(!plain.contains("Standings"), "{plain}");
    write("");
    let output = kiebitz(&[&request[..], &[game]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there are no standings"));
    let output = kiebitz(&["report", "--standings", GAP]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a file has no other games"));
}

/// Writes a file of commands that end the game of the demo before its mate, resume it, and end it again.
fn reopened() -> String {
    let command = |id: u32, at: &str, order: &str| {
        format!("{{\"id\":\"{id}\",\"board\":\"board-1\",\"at\":\"2026-08-05T{at}Z\",{order}}}\n")
    };
    let text = [
        command(
            1,
            "07:27:57",
            r#""do":"set_players","white":"Adams, A.","black":"Baker, B.""#,
        ),
        command(
            2,
            "07:30:45",
            r#""do":"set_result","by":"A. Meier","result":"0-1","reason":"resignation""#,
        ),
        command(3, "07:30:47", r#""do":"set_result","by":"A. Meier","result":"*""#),
        command(4, "07:40:00", r#""do":"annotate","text":"both signed""#),
        command(5, "07:40:01", r#""do":"end_game""#),
    ];
    let path = scratch("commands").join("reopened.jsonl");
    std::fs::write(&path, text.concat()).expect("a scratch file");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn arbiters_commands_count_in_the_report_of_a_capture() {
    let output = kiebitz(&["report", "--text", "--commands", &reopened(), DEMO]);
    assert_eq!(output.status.code(), Some(0));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.ends_with("reopened.jsonl:5: no game is being played on board-1\n"),
        "{errors}"
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for line in ["Adams, A.", "A. Meier", "both signed", "Qc7#", "1-0"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let output = kiebitz(&[
        "report",
        "--text",
        "--language",
        "de",
        "--commands",
        &reopened(),
        DEMO,
    ]);
    let german = String::from_utf8(output.stdout).expect("UTF-8");
    for line in [
        "Schiedsrichter: Eingabe: Spieler; Weiß: Adams, A.; Schwarz: Baker, B.",
        "A. Meier: Eingabe: Ergebnis; Ergebnis: 0-1; Grund: Aufgabe",
        "A. Meier: Ergebnis zurückgenommen: Die Partie geht weiter",
    ] {
        assert!(german.contains(line), "{line}\n{german}");
    }
    let output = kiebitz(&["report", "--commands", &reopened(), "2026-08-05-board-1-1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--commands is for captures"));
}

/// A game that the arbiter resumed after a result is reported to its end.
#[test]
fn resumed_game_is_reported_to_its_end() {
    let state = scratch("reopened").join("state");
    let _ = std::fs::remove_dir_all(&state);
    let config = scratch("reopened").join("kiebitz.toml");
    let settings = format!("[daemon]\nstate_directory = {:?}\n", state.display().to_string());
    std::fs::write(&config, settings).expect("a configuration");
    let file = kiebitz::replay::read_commands(reopened().as_ref()).expect("commands");
    let replay = kiebitz::replay::Replay::open(&Path::new(ROOT).join(DEMO), "live").expect("a capture");
    let mut replay = replay.with_commands(file.commands());
    let mut journal = kiebitz::journal::Journal::open(&state.join("journal.sqlite")).expect("a journal");
    while replay.next_at().is_some() {
        let explained = replay.step().expect("the capture is whole");
        journal
            .append(explained.iter().map(|explained| &explained.event))
            .expect("kept");
    }
    drop(journal);
    let config = config.to_str().expect("UTF-8");
    let of_journal = printed(&["report", "--text", "--config", config, "2026-08-05-board-1-1"]);
    assert!(
        of_journal.contains("Qc7#") && of_journal.contains("both signed"),
        "{of_journal}"
    );
}

#[test]
fn other_files_than_captures_and_events_are_refused() {
    let directory = scratch("wrong");
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    };
    let pgn = write("game.pgn", "[Event \"?\"]\n\n1. e4 *\n");
    let output = kiebitz(&["report", &pgn]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("not a capture: the file looks like games in PGN")
    );
    let events = write("broken.jsonl", "{\"v\":1}\n");
    let output = kiebitz(&["report", &events]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1 is not an event"));
}
