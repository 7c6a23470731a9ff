//! Collects all texts for users from the sources of the program.

mod pages;
#[cfg(test)]
mod rules;
mod rust;

use core::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A text and its place in the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Path relative to the repository.
    pub file: String,
    pub line: usize,
    pub kind: Kind,
    pub text: String,
}

/// How a text reaches its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    /// An error, printed after the error that it caused.
    Error,
    /// A line of the log.
    Log,
    /// The help of the command line.
    Help,
    /// A page in the browser, or the printed report.
    Page,
    /// Advice to the arbiter.
    Laws,
    /// Any other sentence: output of commands, alarms, reasons and findings.
    Other,
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        let text = self.text.replace('\n', "\\n");
        write!(formatter, "{}:{}: {kind}: {text}", self.file, self.line)
    }
}

/// Returns every text in the sources of the workspace, except in tests and translations.
pub fn all() -> Vec<Text> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut texts = Vec::new();
    for folder in SOURCES {
        for path in files(&root.join(folder)) {
            let source = fs::read_to_string(&path).unwrap_or_default();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let found = match path.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => rust::texts(&source, name.ends_with("/words/english.rs")),
                Some("js") => pages::script(&source, &name),
                Some("html") => pages::html(&source),
                Some("toml") => pages::catalogue(&source),
                _ => Vec::new(),
            };
            texts.extend(found.into_iter().map(|(line, kind, text)| Text {
                file: name.clone(),
                line,
                kind,
                text,
            }));
        }
    }
    texts
}

/// Folders with sources of the program.
const SOURCES: &[&str] = &["src", "game/src", "hardware/src", "protocol/src"];

/// Names of files and folders without English texts of the program, besides those that begin with "german".
const LEFT_OUT: &[&str] = &["tests", "tests.rs", "examples.rs", "chessground", "de.toml"];

/// Returns all files in a folder and its subfolders, sorted by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            !LEFT_OUT.contains(&name.as_ref()) && !name.starts_with("german")
        })
        .collect();
    entries.sort();
    entries
        .into_iter()
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}

/// Returns the words of a text, without placeholders.
fn words(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let outside = |character: char| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || !(character.is_alphabetic() || character == '\'' || character == '_')
    };
    text.split(outside).filter(|word| word.len() > 1).collect()
}
