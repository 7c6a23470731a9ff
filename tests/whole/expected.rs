//! Help texts and other output, compared with reviewed texts.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Arguments of the program, and the file in tests/whole/help with the expected output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    file: &'static str,
    args: &'static [&'static str],
}

/// Environment variable with which the test rewrites the files. Review the difference before you commit it.
const UPDATE: &str = "UPDATE_EXPECTED";

pub(crate) const TEXTS: &[Text] = &[
    text("kiebitz.txt", &["--help"]),
    text("backup.txt", &["backup", "--help"]),
    #[cfg(target_os = "linux")]
    text("boards.txt", &["boards", "--help"]),
    #[cfg(target_os = "linux")]
    text("bundle.txt", &["bundle", "--help"]),
    #[cfg(target_os = "linux")]
    text("check-config.txt", &["check-config", "--help"]),
    text("demo.txt", &["demo", "--help"]),
    #[cfg(unix)]
    text("emulate.txt", &["emulate", "--help"]),
    text("event.txt", &["event", "--help"]),
    text("event-check.txt", &["event", "check", "--help"]),
    text("export.txt", &["export", "--help"]),
    text("games.txt", &["games", "--help"]),
    #[cfg(target_os = "linux")]
    text("hub.txt", &["hub", "--help"]),
    text("pgn.txt", &["pgn", "--help"]),
    #[cfg(target_os = "linux")]
    text("rebuild.txt", &["rebuild", "--help"]),
    #[cfg(target_os = "linux")]
    text("record.txt", &["record", "--help"]),
    text("laws.txt", &["laws", "--help"]),
    text("run.txt", &["run", "--help"]),
    #[cfg(target_os = "linux")]
    text("setup.txt", &["setup", "--help"]),
    #[cfg(target_os = "linux")]
    text("status.txt", &["status", "--help"]),
    #[cfg(target_os = "linux")]
    text("user.txt", &["user", "--help"]),
    text("replay.txt", &["replay", "--help"]),
    text("report.txt", &["report", "--help"]),
    text("laws-listed.txt", &["laws"]),
    text(
        "laws-illegal-move.txt",
        &[
            "laws",
            "illegal_move",
            "--laws",
            "fide-2018",
            "--mode",
            "blitz",
            "--unsupervised",
        ],
    ),
    text(
        "laws-flag-fall-de.txt",
        &[
            "laws",
            "flag_fall",
            "--laws",
            "fide-2014",
            "--time-control",
            "15+10",
            "--unsupervised",
            "--language",
            "de",
        ],
    ),
];

const fn text(file: &'static str, args: &'static [&'static str]) -> Text {
    Text { file, args }
}

impl Text {
    pub(crate) fn path(self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("help").join(self.file)
    }

    /// The current output.
    pub(crate) fn printed(self) -> String {
        let output = Command::new(crate::program())
            .args(self.args)
            .env("TZ", "UTC")
            .env_remove("KIEBITZ_LOG")
            .stdin(Stdio::null())
            .output()
            .expect("kiebitz runs");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{:?}: {}",
            self.args,
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }
}

#[test]
fn help_and_laws_are_as_reviewed() {
    for text in TEXTS {
        let printed = text.printed();
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(text.path(), &printed).expect("the text is written");
        }
        let expected = std::fs::read_to_string(text.path()).expect("the reviewed text");
        assert!(
            printed == expected,
            "{} holds another text; `{UPDATE}=1 cargo test -p kiebitz-whole expected` writes it anew. Review it:\n{printed}",
            text.path().display()
        );
    }
}

#[test]
fn help_and_laws_fit_a_terminal() {
    for text in TEXTS {
        let most = if text.args.contains(&"--help") { 105 } else { 100 };
        let printed = text.printed();
        let long = printed.lines().find(|line| line.chars().count() > most);
        assert_eq!(long, None, "{}", text.file);
    }
}
