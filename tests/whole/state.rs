//! Default directories of an ordinary user's daemon, and of the commands that read its files.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kiebitz::journal::Journal;
use tempfile::TempDir;

/// User id of an ordinary user, for tests that run as root.
const NOBODY: u32 = 65_534;

/// A home directory that everybody may write to. It is in the directory for temporary files, which other users can
/// enter.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(home.path(), Permissions::from_mode(0o777)).expect("its owner");
    home
}

/// The program, started as an ordinary user without environment variables for directories other than `HOME`.
fn kiebitz(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(home.join("bin"));
    command
        .args(args)
        .env("HOME", home)
        .env("TZ", "UTC")
        .env_remove("STATE_DIRECTORY")
        .env_remove("XDG_STATE_HOME")
        .env_remove("JOURNAL_STREAM")
        .current_dir("/")
        .stdin(Stdio::null());
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Runs a daemon until it logs the directory of its files, and stops it. Returns the line.
fn logged_directory(command: Command) -> String {
    let lines = logged(command);
    let line = lines.iter().find(|line| line.contains("kiebitz is watching"));
    line.unwrap_or_else(|| panic!("{lines:?}")).clone()
}

/// Runs a daemon until it watches boards, and stops it. Returns its log.
fn logged(mut command: Command) -> Vec<String> {
    let mut daemon = command.stderr(Stdio::piped()).spawn().expect("kiebitz runs");
    let log = BufReader::new(daemon.stderr.take().expect("a log"));
    let lines: Vec<String> = log
        .lines()
        .map_while(Result::ok)
        .inspect(|line| {
            if line.contains("kiebitz is watching") {
                let process = rustix::process::Pid::from_child(&daemon);
                rustix::process::kill_process(process, rustix::process::Signal::TERM).expect("it runs");
            }
        })
        .collect();
    assert!(daemon.wait().expect("it ends").success(), "{lines:?}");
    lines
}

#[test]
fn an_ordinary_users_games_are_in_their_home() {
    let home = home();
    let home = home.path();
    // The ordinary user may have no access to the build directory.
    std::fs::copy(crate::program(), home.join("bin")).expect("room");
    let config = home.join("kiebitz.toml");
    std::fs::write(&config, "[ports]\nusb = false\n").expect("room");
    let config = config.to_str().expect("UTF-8");

    let own = home.join(".local/state/kiebitz");
    let line = logged_directory(kiebitz(home, &["run", "--config", config]));
    assert!(line.ends_with(&format!("are in {}", own.display())), "{line}");
    assert!(own.join("journal.sqlite").exists());
    let mode = std::fs::metadata(&own).expect("a directory").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let read = kiebitz(home, &["games", "--config", config])
        .output()
        .expect("kiebitz runs");
    let errors = String::from_utf8_lossy(&read.stderr).into_owned();
    assert!(
        errors.contains(&format!("no such games in the journal {}", own.display())),
        "{errors}"
    );

    let elsewhere = home.join("state");
    let mut daemon = kiebitz(home, &["run", "--config", config]);
    daemon.env("XDG_STATE_HOME", &elsewhere);
    let line = logged_directory(daemon);
    assert!(
        line.ends_with(&format!("are in {}", elsewhere.join("kiebitz").display())),
        "{line}"
    );
}

/// A directory that kiebitz creates is closed to others. The mode of an existing one is not changed, but reported.
#[test]
fn a_state_directory_is_closed_to_others_or_reported() {
    let home = home();
    let home = home.path();
    std::fs::copy(crate::program(), home.join("bin")).expect("room");
    let (state, config) = (home.join("all/state"), home.join("kiebitz.toml"));
    let text = format!("[daemon]\nstate_directory = {state:?}\n[ports]\nusb = false\n");
    std::fs::write(&config, text).expect("room");
    let config = config.to_str().expect("UTF-8");
    let mode = || {
        let metadata = std::fs::metadata(&state).expect("a directory");
        metadata.permissions().mode() & 0o777
    };
    let reported = || {
        let output = kiebitz(home, &["check-config", config]).output();
        let output = output.expect("kiebitz runs");
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    let log = logged(kiebitz(home, &["run", "--config", config]));
    assert!(!log.concat().contains("chmod"), "{log:?}");
    assert!([0o750, 0o700].contains(&mode()), "{:o}", mode());
    assert!(!reported().concat().contains("chmod"), "{:?}", reported());

    std::fs::set_permissions(&state, Permissions::from_mode(0o755)).expect("its owner");
    let log = logged(kiebitz(home, &["run", "--config", config]));
    assert_eq!(mode(), 0o755);
    let advice = format!("chmod 750 {}", state.display());
    assert!(log.concat().contains(&advice), "{log:?}");
    assert!(reported().concat().contains(&advice), "{:?}", reported());
}

/// A user with read access only reads the files of the system's daemon after it has stopped.
#[test]
fn a_journal_can_be_read_without_write_access() {
    let home = home();
    let home = home.path();
    std::fs::copy(crate::program(), home.join("bin")).expect("room");
    let state = home.join("state");
    drop(Journal::open(&state.join("journal.sqlite")).expect("a journal"));
    let set_mode = |mode| std::fs::set_permissions(&state, Permissions::from_mode(mode)).expect("its owner");
    set_mode(0o555);
    let config = home.join("kiebitz.toml");
    std::fs::write(&config, format!("[daemon]\nstate_directory = {state:?}\n")).expect("room");
    let copy = home.join("copy.sqlite");
    let [config, copy] = [&config, &copy].map(|path| path.to_str().expect("UTF-8"));
    for args in [&["games"][..], &["export"], &["backup", copy]] {
        let args = [args, &["--config", config]].concat();
        let output = kiebitz(home, &args).output().expect("kiebitz runs");
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    set_mode(0o755);
    Journal::open_to_read(copy.as_ref()).expect("a journal");
}
