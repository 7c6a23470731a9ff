//! What a new user meets: `kiebitz check-config`.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn kiebitz(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kiebitz"));
    command
        .args(args)
        .env("TZ", "UTC")
        .env_remove("KIEBITZ_LOG")
        .env_remove("JOURNAL_STREAM")
        .stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = kiebitz(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The text as if it were on one line: where lines end depends on the length of paths.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn configuration_with_a_mistake_is_shown_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let config = file(&folder, "kiebitz.toml", "[event]\nlaws = \"fide-2020\"\n");
    let (code, said, errors) = run(&["check-config", shown(&config)]);
    assert_eq!((code, said.as_str()), (Some(2), ""));
    assert!(
        errors.contains("kiebitz.toml:2: \"fide-2020\" is no edition"),
        "{errors}"
    );
    assert!(
        errors.ends_with("\n2 | laws = \"fide-2020\"\n  |        ^^^^^^^^^^^\n"),
        "{errors}"
    );
    let missing = folder.path().join("no.toml");
    let (code, _, errors) = run(&["check-config", shown(&missing)]);
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("no.toml") && errors.contains("Check the name"),
        "{errors}"
    );
}

#[test]
fn what_cannot_work_is_told_and_no_password() {
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
    let (code, said, errors) = run(&["check-config", shown(&config)]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        said.starts_with(&format!(
            "{} can be used.\n\nevent         fide-2023, ",
            shown(&config)
        )),
        "{said}"
    );
    let line = on_one_line(&said);
    for doubt in [
        "! /dev/ttyNONE is not there now".to_owned(),
        format!(
            "! everyone on this computer may read {}, which has a secret in it",
            shown(&password)
        ),
        "broker.invalid".to_owned(),
    ] {
        assert!(line.contains(&doubt), "{doubt}\n{said}");
    }
    assert!(
        line.contains("broker broker.invalid:1883, not encrypted, as user club; topics under kiebitz"),
        "{said}"
    );

    std::fs::remove_file(&password).unwrap();
    let (_, said, _) = run(&["check-config", shown(&config)]);
    assert!(
        on_one_line(&said).contains("! cannot read the broker's password from"),
        "{said}"
    );

    let open = file(
        &folder,
        "open.toml",
        "[mqtt]\nurl = \"mqtt://club:secret-2@127.0.0.1\"\n",
    );
    std::fs::set_permissions(&open, Permissions::from_mode(0o644)).unwrap();
    let (code, open_said, errors) = run(&["check-config", shown(&open)]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(
        on_one_line(&open_said).contains("and a password is in it: chmod 640"),
        "{open_said}"
    );
    for said in [said, open_said] {
        assert!(!said.contains("secret-"), "{said}");
    }
}
