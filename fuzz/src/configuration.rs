//! Parses arbitrary text as a configuration. Checks that an error names a line of the file, and that an accepted
//! configuration satisfies its invariants.

use std::collections::BTreeSet;
use std::path::Path;

use kiebitz::config::Config;

pub fn run(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else {
        return;
    };
    let file = Path::new("kiebitz.toml");
    let config = match Config::parse(file, text) {
        Ok(config) => config,
        Err(error) => return assert_names_a_line(&error.to_string(), text),
    };
    // Comments do not change the result.
    let commented = format!("# the beginning\n{text}\n# the end");
    assert_eq!(
        Config::parse(file, &commented).expect("has only comments more"),
        config
    );

    let names: BTreeSet<&str> = config.boards.iter().map(|board| board.name.as_str()).collect();
    assert_eq!(names.len(), config.boards.len(), "each board has its own name");
    let known: BTreeSet<_> = config.boards.iter().map(|board| &board.known_by).collect();
    assert_eq!(
        known.len(),
        config.boards.len(),
        "each board is known by something of its own"
    );
    let ports: BTreeSet<&Path> = config
        .ports
        .listed
        .iter()
        .map(|port| port.path.as_path())
        .collect();
    assert_eq!(ports.len(), config.ports.listed.len(), "each port is listed once");
    assert!(ports.iter().all(|path| path.is_absolute()));
    assert!(config.journal.keep_days >= 1);
    assert!(config.recorder.budget >= 10_000_000);
}

fn assert_names_a_line(message: &str, text: &str) {
    let rest = message.strip_prefix("kiebitz.toml:").expect("the file is named");
    let (line, _) = rest.split_once(':').expect("the line is named");
    let line: usize = line.parse().expect("lines are numbers");
    assert!((1..=text.split('\n').count()).contains(&line), "{message}");
}
