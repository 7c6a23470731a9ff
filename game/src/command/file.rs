//! Files of commands, which a replay executes at their recorded times.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use kiebitz_hardware::Timestamp;

use super::{Command, fields, take_text};

/// A command with its time and board.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// Time at which the command was given.
    pub at: Timestamp,
    /// The board's name.
    pub board: String,
    /// The command.
    pub command: Command,
    /// Line number in the file, from 1.
    pub line: usize,
}

/// A file with one command per line; empty lines are skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandFile {
    path: PathBuf,
    commands: Vec<Timed>,
}

impl CommandFile {
    /// Reads `text`: one JSON object per line, each with `at` (RFC 3339) and `board`. The order of the lines matters
    /// only for commands of the same time. `path` is used in error messages.
    ///
    /// # Errors
    ///
    /// Fails if a line is not a command; the message names file and line.
    pub fn parse(path: &Path, text: &str) -> anyhow::Result<Self> {
        let lines = (1..)
            .zip(text.lines())
            .filter(|(_, text)| !text.trim().is_empty());
        let commands =
            lines.map(|(line, text)| timed(line, text).with_context(|| format!("{}:{line}", path.display())));
        let mut commands: Vec<Timed> = commands.collect::<anyhow::Result<_>>()?;
        commands.sort_by_key(|timed| timed.at);
        let path = path.to_owned();
        Ok(Self { path, commands })
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The commands, the earliest first.
    #[must_use]
    pub fn commands(&self) -> &[Timed] {
        &self.commands
    }
}

fn timed(line: usize, text: &str) -> anyhow::Result<Timed> {
    let mut fields = fields(text)?;
    let at = take_text(&mut fields, "at")?
        .context("\"at\" is missing: the time at which the command was given")?;
    let at: jiff::Timestamp = at
        .parse()
        .map_err(|error| anyhow!("\"at\" is not a time such as 2026-11-21T14:03:07Z: {error}"))?;
    let board = take_text(&mut fields, "board")?.context("\"board\" is missing: the board's name")?;
    Ok(Timed {
        at: Timestamp::from_micros(at.as_microsecond()),
        board,
        command: Command::from_fields(fields)?,
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<(i64, usize)>, String> {
        let file =
            CommandFile::parse(Path::new("round-5.jsonl"), text).map_err(|error| format!("{error:#}"))?;
        let commands = file.commands().iter();
        Ok(commands.map(|timed| (timed.at.as_micros(), timed.line)).collect())
    }

    const IDENTIFY: &str = r#"{"id":"1","do":"identify","board":"b","at":"1970-01-01T00:00:02Z"}"#;

    #[test]
    fn commands_are_sorted_by_time_and_keep_their_lines() {
        let later = IDENTIFY.replace(":02Z", ":02.5+00:00");
        let text = format!("{later}\n\n{IDENTIFY}\n{later}\n");
        assert_eq!(
            parse(&text),
            Ok(vec![(2_000_000, 3), (2_500_000, 1), (2_500_000, 4)])
        );
    }

    #[test]
    fn an_invalid_line_is_named_in_the_error() {
        for (broken, expected) in [
            (
                IDENTIFY.replace("identify", "wave"),
                "round-5.jsonl:2: unknown command \"wave\"; expected one of set_players",
            ),
            (
                IDENTIFY.replace(":02Z", ""),
                "round-5.jsonl:2: \"at\" is not a time such as",
            ),
            (
                IDENTIFY.replace("\"board\":\"b\",", ""),
                "round-5.jsonl:2: \"board\" is missing",
            ),
            (
                "[]".to_owned(),
                "round-5.jsonl:2: the command is not a JSON object",
            ),
        ] {
            let error = parse(&format!("{IDENTIFY}\n{broken}")).expect_err("an error");
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
