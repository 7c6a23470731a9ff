//! Where an ordinary user's daemon keeps its files, and where the commands that read them look.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use kiebitz::journal::Journal;
use tempfile::TempDir;

/// Who an ordinary user is where root runs the tests.
const NOBODY: u32 = 65_534;

/// A home that anybody may write in; the place for temporary files is one that anybody may enter.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a directory");
    std::fs::set_permissions(home.path(), Permissions::from_mode(0o777)).expect("its owner");
    home
}

/// The program as an ordinary user starts it, with no directory named but their home.
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

/// Runs a daemon until it says where its files are, and stops it.
fn where_it_keeps(mut command: Command) -> String {
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
    let said = lines.iter().find(|line| line.contains("kiebitz is watching"));
    said.unwrap_or_else(|| panic!("{lines:?}")).clone()
}

#[test]
fn an_ordinary_user_keeps_and_finds_games_at_home() {
    let home = home();
    let home = home.path();
    // Where the tests are built may be closed to others.
    std::fs::copy(crate::program(), home.join("bin")).expect("room");
    let config = home.join("kiebitz.toml");
    std::fs::write(&config, "[ports]\nusb = false\n").expect("room");
    let config = config.to_str().expect("UTF-8");

    let own = home.join(".local/state/kiebitz");
    let said = where_it_keeps(kiebitz(home, &["run", "--config", config]));
    assert!(said.ends_with(&format!("are in {}", own.display())), "{said}");
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
    let said = where_it_keeps(daemon);
    assert!(
        said.ends_with(&format!("are in {}", elsewhere.join("kiebitz").display())),
        "{said}"
    );
}

/// What the daemon of the computer leaves when it has stopped, for one who may read it and no more.
#[test]
fn a_journal_that_may_only_be_read_is_read() {
    let home = home();
    let home = home.path();
    std::fs::copy(crate::program(), home.join("bin")).expect("room");
    let state = home.join("state");
    drop(Journal::open(&state.join("journal.sqlite")).expect("a journal"));
    let may = |mode| std::fs::set_permissions(&state, Permissions::from_mode(mode)).expect("its owner");
    may(0o555);
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
    may(0o755);
    Journal::open_to_read(copy.as_ref()).expect("a journal");
}
