//! The built program on the command line.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) const CAPTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../src/tools/demo/game.pcapng");

/// The program, without the environment settings of the developer.
pub(crate) fn kiebitz<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(crate::program());
    command
        .args(args)
        .env("TZ", "UTC")
        .env_remove("KIEBITZ_LOG")
        .env_remove("JOURNAL_STREAM")
        .stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    kiebitz(args).output().expect("kiebitz runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

fn scratch(name: &str, contents: &[u8]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    std::fs::create_dir_all(&directory).expect("a scratch directory");
    let path = directory.join(name);
    std::fs::write(&path, contents).expect("a scratch file");
    path
}

#[test]
fn events_are_numbered_without_gaps_one_object_per_line() {
    let output = run(&["replay", CAPTURE, "--json"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let mut last = 0;
    for line in stdout(&output).lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a JSON object");
        assert_eq!(event["seq"].as_u64(), Some(last + 1));
        assert_eq!(event["stream"], "replay");
        last += 1;
    }
    assert!(last > 66, "{last} events");
}

/// game/src/model.rs has the costs: 6 for an unexplained square, 0.6 for a withdrawn ply, and 6.5 for a withdrawn ply
/// after which the clock was pressed.
#[test]
fn settled_and_withdrawn_moves_are_explained_by_log_odds() {
    let capture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../captures/takeback-before-press.pcapng"
    );
    let output = run(&["replay", "--explain", capture]);
    for explained in [
        "withdrawn from 1. on (takeback; log-odds 11.4 against it)",
        "1. is certain: the mover has pressed the clock, log-odds 18.5 for it",
    ] {
        assert!(stdout(&output).contains(explained), "{explained}");
    }
}

#[test]
fn several_captures_are_several_streams() {
    let output = run(&["replay", "--json", "--stream", "round-5", CAPTURE, CAPTURE]);
    let streams = |name: &str| {
        stdout(&output)
            .matches(&format!("\"stream\":\"{name}\",\"seq\":1,"))
            .count()
    };
    assert_eq!((streams("round-5"), streams("round-5-2")), (1, 1));
}

#[test]
fn pgn_of_two_captures_is_read_by_another_reader() {
    let output = run(&["replay", "--pgn", CAPTURE, CAPTURE]);
    assert!(output.status.success());
    let mut reader = pgn_reader::Reader::new(output.stdout.as_slice());
    let mut games = 0;
    while let Some(last) = reader.read_game(&mut LastMove).expect("PGN") {
        assert_eq!(last.as_deref(), Some("Qc7#"));
        games += 1;
    }
    assert_eq!(games, 2);
}

struct LastMove;

impl pgn_reader::Visitor for LastMove {
    type Tags = ();
    type Movetext = Option<String>;
    type Output = Option<String>;

    fn begin_tags(&mut self) -> std::ops::ControlFlow<Self::Output, Self::Tags> {
        std::ops::ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> std::ops::ControlFlow<Self::Output, Self::Movetext> {
        std::ops::ControlFlow::Continue(None)
    }

    fn san(
        &mut self,
        last: &mut Self::Movetext,
        san: pgn_reader::SanPlus,
    ) -> std::ops::ControlFlow<Self::Output> {
        *last = Some(san.to_string());
        std::ops::ControlFlow::Continue(())
    }

    fn end_game(&mut self, last: Self::Movetext) -> Self::Output {
        last
    }
}

#[test]
fn score_sheet_has_moves_clocks_and_result() {
    let output = run(&["replay", CAPTURE]);
    assert!(output.status.success());
    let sheet = stdout(&output);
    assert!(
        sheet.contains("Board board-1, serial number 0000011608"),
        "{sheet}"
    );
    assert!(
        sheet.contains("5 August 2026, 07:28:00 to 07:32:25 UTC"),
        "{sheet}"
    );
    assert!(
        sheet.contains("   7.  cxd8=Q+   1:03:02    12 s   Nxd8      1:03:01    12 s\n"),
        "{sheet}"
    );
    assert!(
        sheet.contains("1-0: checkmate\n\nNo irregularities.\n"),
        "{sheet}"
    );
}

#[test]
fn explanation_names_squares_pieces_and_grounds() {
    let output = run(&["replay", "--explain", CAPTURE]);
    assert!(output.status.success());
    let text = stdout(&output);
    assert!(text.contains("  1. e4         published 07:28:02."), "{text}");
    assert!(
        text.contains("  e2  empty\n") && text.contains("  e4  white pawn\n"),
        "{text}"
    );
    assert!(
        text.contains(": the piece had stood for ") && text.contains("differ)"),
        "{text}"
    );
}

#[test]
fn capture_that_was_cut_off_is_replayed_as_far_as_it_goes() {
    let whole = std::fs::read(CAPTURE).expect("the capture");
    let cut = scratch("cut.pcapng", &whole[..whole.len() * 2 / 3 + 1]);
    let output = kiebitz(["replay"]).arg(&cut).output().expect("kiebitz runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stderr(&output).contains("the capture is cut off; it was replayed up to byte"),
        "{}",
        stderr(&output)
    );
    assert!(
        stdout(&output).contains("No result: the capture ends before the game does"),
        "{}",
        stdout(&output)
    );
    assert!(
        stdout(&output).contains("The capture is cut off: it is complete up to byte"),
        "{}",
        stdout(&output)
    );
}

#[test]
fn a_file_that_is_not_a_capture_is_named_and_the_others_are_replayed() {
    let pgn = scratch("game.pgn", b"[Event \"?\"]\n\n1. e4 *\n");
    let output = kiebitz(["replay", "--pgn"])
        .arg(&pgn)
        .arg(CAPTURE)
        .output()
        .expect("kiebitz runs");
    assert_eq!(output.status.code(), Some(1));
    let expected = format!(
        "kiebitz: cannot replay {}: not a capture: the file looks like games in PGN\n\
         A PGN file already contains moves; kiebitz replays the bytes of a board, from a pcapng capture.\n",
        pgn.display()
    );
    assert_eq!(stderr(&output), expected);
    assert!(stdout(&output).contains("Qc7#"));
}

#[test]
fn arguments_or_a_configuration_set_laws_mode_and_time_control() {
    let started = |output: &Output| {
        assert_eq!((output.status.code(), stderr(output)), (Some(0), ""));
        let mut events = stdout(output).lines().map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).expect("a JSON object");
            event
        });
        let event = events
            .find(|event| event["type"] == "game.started")
            .expect("a game");
        ["board", "laws", "mode", "time_control"].map(|field| event[field].as_str().map(str::to_owned))
    };
    let fields = |texts: [Option<&str>; 4]| texts.map(|text| text.map(str::to_owned));
    assert_eq!(
        started(&run(&["replay", "--json", CAPTURE])),
        fields([Some("board-1"), Some("fide-2023"), Some("standard"), None])
    );
    let arguments = ["--laws", "fide-2018", "--unsupervised", "--time-control", "3+2"];
    assert_eq!(
        started(
            &kiebitz(["replay", "--json", CAPTURE])
                .args(arguments)
                .output()
                .expect("kiebitz runs")
        ),
        fields([Some("board-1"), Some("fide-2018"), Some("blitz"), Some("180+2")])
    );
    let config = "[event]\nlaws = \"fide-2014\"\ntime_control = \"15+10\"\n\
                  [[board]]\nserial = \"0000011608\"\nname = \"tisch-7\"\nlaws = \"fide-1997\"\n";
    let config = scratch("played.toml", config.as_bytes());
    let configured = kiebitz(["replay", "--json", CAPTURE, "--config"])
        .arg(&config)
        .output();
    assert_eq!(
        started(&configured.expect("kiebitz runs")),
        fields([Some("tisch-7"), Some("fide-1997"), Some("rapid"), Some("900+10")])
    );
}

#[test]
fn invalid_configuration_is_wrong_usage() {
    let config = scratch("wrong.toml", b"[event]\nlaws = \"fide-2020\"\n");
    let output = kiebitz(["replay", CAPTURE, "--config"])
        .arg(&config)
        .output()
        .expect("kiebitz runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("wrong.toml:2: \"fide-2020\" is not an edition"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn configuration_that_is_not_utf8_is_refused_with_advice() {
    let refused = |config: &Path| {
        let output = kiebitz(["replay", CAPTURE, "--config"])
            .arg(config)
            .output()
            .expect("kiebitz runs");
        assert_eq!(output.status.code(), Some(2));
        stderr(&output).to_owned()
    };
    let latin = scratch("latin.toml", b"[event]\nname = \"M\xfcnchen\"\n");
    assert_eq!(
        refused(&latin),
        format!(
            "kiebitz: cannot read the configuration {}: line 2 is not UTF-8, but perhaps Latin-1: save the file as UTF-8, or convert it with `iconv -f LATIN1 -t UTF-8 FILE >NEWFILE`\n",
            latin.display()
        )
    );
    let utf16: Vec<u8> = "\u{feff}[event]\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let utf16 = refused(&scratch("utf16.toml", &utf16));
    assert!(
        utf16.contains("the file is in UTF-16") && utf16.lines().count() == 1,
        "{utf16}"
    );
    let folder = refused(latin.parent().expect("a folder"));
    assert!(
        folder.ends_with(": this is a directory: name a file in it\n") && folder.lines().count() == 1,
        "{folder}"
    );
}

#[test]
fn files_with_a_byte_order_mark_are_read() {
    let config = scratch(
        "marked.toml",
        "\u{feff}[event]\nlaws = \"fide-2014\"\n".as_bytes(),
    );
    let commands = scratch(
        "marked.jsonl",
        "\u{feff}{\"id\":\"1\",\"do\":\"set_players\",\"white\":\"Ada\",\"black\":\"B\",\"board\":\"board-1\",\
         \"at\":\"2026-08-05T07:28:05Z\"}\n"
            .as_bytes(),
    );
    let output = kiebitz(["replay", "--json", CAPTURE, "--config"])
        .arg(&config)
        .arg("--commands")
        .arg(&commands)
        .output()
        .expect("kiebitz runs");
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    assert!(stdout(&output).contains("\"laws\":\"fide-2014\"") && stdout(&output).contains("Ada"));
}

#[test]
fn missing_file_fails_with_advice() {
    let output = run(&["replay", "no-such.pcapng"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("kiebitz: cannot open no-such.pcapng: "),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("Check the name"), "{}", stderr(&output));
}

#[test]
fn wrong_usage_exits_with_2() {
    for args in [
        &["replay"][..],
        &["replay", "--json", "--pgn", CAPTURE],
        &["replay", "--speed", "fast", CAPTURE],
        &["replay", "--mqtt", "localhost", CAPTURE],
        &["replay", "--mqtt", "mqtt://localhost", "--prefix", "a/#", CAPTURE],
        &[
            "replay",
            "--config",
            "kiebitz.toml",
            "--laws",
            "fide-2018",
            CAPTURE,
        ],
        &["replay", "--time-control", "fast", CAPTURE],
        &["laws", "no_such_kind"],
        &["laws", "--laws", "fide-2020"],
        &["reply"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).starts_with("error: "), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn password_is_not_repeated_in_an_error() {
    for url in [
        "club:secret@localhost",
        "mqtt://club:secret",
        "mqtt://club:/secret@localhost",
        "mqtts://club:secret@[fe80::1%eth0]",
    ] {
        let output = run(&["replay", "--mqtt", url, CAPTURE]);
        assert_eq!(output.status.code(), Some(2));
        assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
    }
}

#[test]
fn a_closed_pipe_ends_the_replay_quietly() {
    let mut child = kiebitz(["replay", "--json"])
        .args([CAPTURE; 40])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kiebitz runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout"))
        .read_line(&mut line)
        .expect("a line");
    let mut errors = String::new();
    child
        .stderr
        .take()
        .expect("stderr")
        .read_to_string(&mut errors)
        .expect("stderr");
    assert_eq!(errors, "");
    assert_eq!(child.wait().expect("an exit code").code(), Some(0));
}

#[test]
fn paced_events_are_not_held_back() {
    let mut child = kiebitz(["replay", "--json", "--speed", "realtime", CAPTURE])
        .stdout(Stdio::piped())
        .spawn()
        .expect("kiebitz runs");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout"))
        .read_line(&mut line)
        .expect("a line");
    assert!(line.contains("board.connected"), "{line}");
    child.kill().expect("the replay would take minutes");
    child.wait().expect("it is gone");
}

#[test]
fn a_missing_broker_is_an_error() {
    // No process listens on a port that has just been freed.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("its number")
        .port();
    let output = run(&["replay", "--mqtt", &format!("mqtt://127.0.0.1:{port}"), CAPTURE]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("no MQTT broker answers at 127.0.0.1:"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn replay_is_published_while_it_prints_the_sheet() {
    let broker = kiebitz::tools::broker::Broker::start(([127, 0, 0, 1], 0).into()).expect("a broker");
    let url = format!("mqtt://{}", broker.addr());
    let output = run(&["replay", "-v", "--mqtt", &url, "--prefix", "club/replay", CAPTURE]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("1-0: checkmate"));
    assert!(stderr(&output).contains("connected"), "{}", stderr(&output));
}

#[test]
fn demo_in_a_pipe_shows_the_mate_and_the_next_steps() {
    let output = run(&["demo", "--speed", "max", "--ascii"]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""));
    let text = stdout(&output);
    assert!(text.is_ascii(), "{text}");
    assert!(!text.contains('\x1b'), "{text}");
    assert!(
        text.contains("17. Qc7#") && text.contains("1-0: checkmate, in 17 moves."),
        "{text}"
    );
    assert!(text.contains("kiebitz replay FILE.pcapng"), "{text}");
    // The queen rests on g6, which is not announced as a move.
    let doubtful = text
        .split("the move is held back until it is clear")
        .nth(1)
        .expect("an act");
    let doubtful = doubtful.split("kiebitz demo:").next().expect("its end");
    assert!(
        !doubtful.contains("Qg6") && doubtful.contains("Qxf7#"),
        "{doubtful}"
    );
    assert!(text.contains("Corrected: Qxd5 was played, not Qd6."), "{text}");
    assert!(
        text.contains("To the arbiter (Art. 7.5.1, 7.5.5): Illegal move by Black"),
        "{text}"
    );
    assert!(text.contains("mosquitto_sub -h 127.0.0.1 -p "), "{text}");
}

#[cfg(unix)]
#[test]
fn interrupted_demo_exits_with_130() {
    let mut child = kiebitz(["demo", "--speed", "max", "--wait"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("kiebitz runs");
    let lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    // The demo waits for Ctrl-C once this line is printed.
    lines
        .map_while(Result::ok)
        .find(|line| line.contains("Ctrl-C"))
        .expect("the demo waits");
    let interrupted = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill runs");
    assert!(interrupted.success());
    assert_eq!(child.wait().expect("an exit code").code(), Some(130));
}
