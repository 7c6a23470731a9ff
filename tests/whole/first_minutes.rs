//! The first steps of a new user: `kiebitz setup`, `kiebitz check-config`, the log at the start of `kiebitz run`, and
//! reloading the configuration.

use core::time::Duration;
use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;

use kiebitz::config::{Config, PortMode};
use kiebitz::journal::Journal;
use kiebitz::system_time::LiveTime;
use tempfile::TempDir;

use crate::cli::kiebitz;
use crate::doctor::{Plugged, board, run};
use crate::eventually::PATIENCE;

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The text on one line, as line breaks depend on the length of paths.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn setup_names_the_connected_boards() {
    let plugged = Plugged::new(board, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kiebitz.toml");
    let (code, printed, errors) = run(&["setup", "--output", path_text(&path), "--port", plugged.path()]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let expected = format!(
        "1 board was found and has a name in the configuration.\nWritten: {0}\n\n\
         Next: add your broker and your event to the file, and check it with `kiebitz check-config {0}`.\nThen run `kiebitz run --config {0}`.\n",
        path_text(&path)
    );
    assert_eq!(printed, expected);
    let config = Config::read(&path).unwrap();
    assert_eq!(
        config.board_name(["00042"], "elsewhere").as_deref(),
        Some("board-1")
    );
    assert_eq!(path_text(&config.ports.listed[0].path), plugged.path());
    assert_eq!(config.ports.listed[0].mode, PortMode::Auto);
    let (code, outline, _) = run(&["check-config", path_text(&path)]);
    assert_eq!(code, Some(0));
    assert!(
        outline.contains("board-1 (00042)") && !outline.contains("\n!"),
        "{outline}"
    );
    let mut lines = outline.lines().skip(2);
    assert!(lines.all(|line| line.chars().count() <= 100), "{outline}");
    // The outline has two columns.
    assert!(outline.contains("\nboards        board-1 (00042); "), "{outline}");
}

#[test]
fn setup_without_a_board_still_writes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kiebitz.toml");
    let port = folder.path().join("unplugged");
    let args = ["setup", "--port", path_text(&port), "--output"];
    let (code, printed, errors) = run(&[&args[..], &[path_text(&path)]].concat());
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        printed.starts_with("No board was found, so the configuration names none. `kiebitz boards` explains"),
        "{printed}"
    );
    assert!(
        printed.contains(": there is no such device. Plug the board in,"),
        "{printed}"
    );
    assert!(Config::read(&path).unwrap().boards.is_empty());
    let (code, text, notes) = run(&[&args[..], &["-"]].concat());
    assert_eq!(code, Some(0));
    assert_eq!(text, std::fs::read_to_string(&path).unwrap());
    assert!(notes.starts_with("No board was found"), "{notes}");
}

#[test]
fn setup_overwrites_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "kiebitz.toml", "[ports]\nusb = false\n");
    let link = folder.path().join("link.toml");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    for there in [&path, &link] {
        let (code, printed, errors) = run(&["setup", "--output", path_text(there)]);
        assert_eq!((code, printed.as_str()), (Some(1), ""));
        assert!(
            errors.contains("already exists and was not changed: name another file"),
            "{errors}"
        );
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[ports]\nusb = false\n");
    let nowhere = folder.path().join("no/kiebitz.toml");
    let missing = folder.path().join("unplugged");
    let (code, _, errors) = run(&[
        "setup",
        "--port",
        path_text(&missing),
        "--output",
        path_text(&nowhere),
    ]);
    assert_eq!(code, Some(1));
    assert!(errors.starts_with("kiebitz: cannot write "), "{errors}");
}

#[test]
fn a_mistake_in_the_configuration_is_shown_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let config = file(&folder, "kiebitz.toml", "[event]\nlaws = \"fide-2020\"\n");
    let (code, printed, errors) = run(&["check-config", path_text(&config)]);
    assert_eq!((code, printed.as_str()), (Some(2), ""));
    assert!(
        errors.contains("kiebitz.toml:2: \"fide-2020\" is not an edition"),
        "{errors}"
    );
    assert!(
        errors.ends_with("\n2 | laws = \"fide-2020\"\n  |        ^^^^^^^^^^^\n"),
        "{errors}"
    );
    let missing = folder.path().join("no.toml");
    let (code, _, errors) = run(&["check-config", "--config", path_text(&missing)]);
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("no.toml") && errors.contains("Check the name"),
        "{errors}"
    );
}

#[test]
fn check_config_reports_problems_and_no_password() {
    let folder = tempfile::tempdir().unwrap();
    let password = file(&folder, "password", "secret-1\n");
    std::fs::set_permissions(&password, Permissions::from_mode(0o644)).unwrap();
    let text = format!(
        "[daemon]\nstate_directory = {:?}\n[mqtt]\nurl = \"mqtt://broker.invalid\"\nuser = \"club\"\n\
         password_file = {:?}\n[ports]\nusb = false\n[[port]]\npath = \"/dev/ttyNONE\"\n",
        folder.path().join("state"),
        password
    );
    let config = file(&folder, "kiebitz.toml", &text);
    let (code, printed, errors) = run(&["check-config", path_text(&config)]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        printed.starts_with(&format!(
            "{} is valid.\n\nevent         fide-2023, ",
            path_text(&config)
        )),
        "{printed}"
    );
    let line = on_one_line(&printed);
    for doubt in [
        "! /dev/ttyNONE does not exist now".to_owned(),
        format!("! {} contains a secret", path_text(&password)),
        "broker.invalid".to_owned(),
    ] {
        assert!(line.contains(&doubt), "{doubt}\n{printed}");
    }
    assert!(
        line.contains("broker broker.invalid:1883, not encrypted, as user club; topics under kiebitz"),
        "{printed}"
    );

    std::fs::remove_file(&password).unwrap();
    let (_, printed, _) = run(&["check-config", path_text(&config)]);
    assert!(
        on_one_line(&printed).contains("! cannot read the broker's password from"),
        "{printed}"
    );

    let open = file(
        &folder,
        "open.toml",
        "[mqtt]\nurl = \"mqtt://club:secret-2@127.0.0.1\"\n",
    );
    std::fs::set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    let (code, open_printed, errors) = run(&["check-config", path_text(&open)]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        on_one_line(&open_printed)
            .contains("contains a password and is readable by every user of this computer: run `chmod 640"),
        "{open_printed}"
    );
    for printed in [printed, open_printed] {
        assert!(!printed.contains("secret-"), "{printed}");
    }
}

#[test]
fn check_config_has_the_right_spelling_of_values_without_quotes() {
    let folder = tempfile::tempdir().unwrap();
    for (line, right) in [
        ("default_time = \"30\"", "as in \"30 min\""),
        ("default_time = 30", "expected text in quotes: \"30 min\""),
        (
            "time_control = 90+30",
            "put the value in quotes: time_control = \"90+30\"",
        ),
    ] {
        let config = file(&folder, "kiebitz.toml", &format!("[event]\n{line}\n"));
        let (code, printed, errors) = run(&["check-config", "--config", path_text(&config)]);
        assert_eq!((code, printed.as_str()), (Some(2), ""));
        assert!(
            errors.contains("kiebitz.toml:2: ") && errors.contains(right),
            "{errors}"
        );
    }
}

#[test]
fn check_config_reads_the_files_of_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let users = file(&folder, "users", "chief operator -\nassistant boss -\n");
    std::fs::set_permissions(&users, Permissions::from_mode(0o600)).unwrap();
    let text = format!(
        "[daemon]\nstate_directory = {:?}\n[event]\npairings = [{:?}]\n[lichess]\ntoken_file = {:?}\n\
         [desk]\nusers_file = {users:?}\n",
        folder.path().join("state"),
        folder.path(),
        folder.path().join("token"),
    );
    let config = file(&folder, "kiebitz.toml", &text);
    let (code, printed, errors) = run(&["check-config", "--config", path_text(&config)]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let line = on_one_line(&printed);
    for doubt in [
        format!(
            "! cannot read the token from {}",
            path_text(&folder.path().join("token"))
        ),
        format!(
            "! nobody can log in at the desk: {}:2: unknown role",
            path_text(&users)
        ),
        format!(
            "! cannot read the pairings in {}: this is a directory",
            folder.path().display()
        ),
    ] {
        assert!(line.contains(&doubt), "{doubt}\n{printed}");
    }
}

/// The log of a daemon up to a line that contains `words`. Stops the daemon.
fn log_until(config: &Path, words: &str) -> Vec<String> {
    let mut daemon = Daemon::start(config);
    daemon.wait_for(words);
    std::mem::take(&mut daemon.seen)
}

#[test]
fn daemon_logs_missing_parts_and_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let daemon = format!("[daemon]\nstate_directory = {state:?}\n[ports]\nusb = false\n");
    let config = file(&folder, "kiebitz.toml", &daemon);
    let log = log_until(
        &config,
        "no board is plugged in yet: plug one in; `kiebitz boards`",
    );
    let with = |words: &str| log.iter().filter(|line| line.contains(words)).count();
    assert_eq!(
        with("no broker is configured: nothing is published"),
        1,
        "{log:?}"
    );
    assert_eq!(log.len(), 3, "{log:?}");
}

#[test]
fn daemon_with_a_board_and_a_broker_logs_no_missing_parts() {
    let plugged = Plugged::new(board, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    // No broker listens on this port, which must not be reported as a missing part.
    let text = format!(
        "[daemon]\nstate_directory = {state:?}\n[mqtt]\nurl = \"mqtt://127.0.0.1:1\"\n[ports]\nusb = false\n\
         [[port]]\npath = \"{}\"\nmode = \"single\"\n",
        plugged.path()
    );
    let config = file(&folder, "kiebitz.toml", &text);
    let log = log_until(&config, "00042: connected");
    let missing = ["no broker is configured", "there is no /etc", "no board"];
    assert!(
        !log.iter()
            .any(|line| missing.iter().any(|words| line.contains(words))),
        "{log:?}"
    );
}

/// A daemon and its log. Killed when it is dropped.
struct Daemon {
    child: Child,
    /// Lines of the log. A thread reads them so that waiting for a line can time out.
    log: Receiver<String>,
    /// Lines received so far.
    seen: Vec<String>,
}

impl Daemon {
    fn start(config: &Path) -> Self {
        let mut child = kiebitz(["run", "--config", path_text(config)])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, log) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self {
            child,
            log,
            seen: Vec::new(),
        }
    }

    /// The next line that contains `words`. Panics with the log if the daemon ends first, or after `PATIENCE`.
    fn wait_for(&mut self, words: &str) -> String {
        let time = LiveTime::start();
        let end = time.now() + PATIENCE;
        while time.now() < end {
            match self.log.recv_timeout(Duration::from_secs(1)) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Some(line) = self.seen.last().filter(|line| line.contains(words)) {
                return line.clone();
            }
        }
        panic!("{words:?} is not in the log:\n{}", self.seen.join("\n"));
    }

    fn hang_up(&self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn sighup_reloads_the_configuration_and_closes_no_port() {
    let plugged = Plugged::new(board, Vec::new());
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let with = |state: &Path, more: &str| {
        format!(
            "[daemon]\nstate_directory = {state:?}\n[ports]\nusb = false\n[[port]]\npath = \"{}\"\n\
             mode = \"single\"\n{more}",
            plugged.path()
        )
    };
    let config = file(&folder, "kiebitz.toml", &with(&state, ""));
    let mut daemon = Daemon::start(&config);
    daemon.wait_for("00042: connected");

    std::fs::write(&config, with(&state, "[event]\ntime_control = \"90+30\"\n")).unwrap();
    daemon.hang_up();
    daemon.wait_for("changed at once: event and rules, and names of boards");
    daemon.wait_for("time control 90+30: standard");

    std::fs::write(&config, with(&state, "[event]\nlaws = \"fide-2020\"\n")).unwrap();
    daemon.hang_up();
    let refused = daemon.wait_for("the old configuration stays in use");
    assert!(
        refused.contains("kiebitz.toml:9: \"fide-2020\" is not an edition"),
        "{refused}"
    );

    let elsewhere = folder.path().join("elsewhere");
    std::fs::write(&config, with(&elsewhere, "[event]\ntime_control = \"90+30\"\n")).unwrap();
    daemon.hang_up();
    daemon.wait_for("changes at the next start: `state_directory`");
    assert!(!elsewhere.exists());

    // The board was connected only once, so no port was closed.
    let process = rustix::process::Pid::from_child(&daemon.child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(daemon.child.wait().unwrap().success());
    let journal = Journal::open_to_read(&state.join("journal.sqlite")).unwrap();
    let events = journal.events_after("live", "00042", 0, 1000).unwrap();
    let of = |kind: &str| events.iter().filter(|event| event.payload.contains(kind)).count();
    assert_eq!((of("\"board.connected\""), of("\"board.disconnected\"")), (1, 1));
    let runs = journal.runs().unwrap();
    assert_eq!(
        runs.iter().map(|run| run.reloaded).collect::<Vec<_>>(),
        [false, true]
    );
}
