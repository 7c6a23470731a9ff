//! `kiebitz check-config`.

mod broadcast;
mod doubts;
mod outline;

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use super::failure;
use crate::Exit;
use crate::config::{Config, USUAL_FILE};
use crate::outputs::shared::wrap::wrapped;

/// Width of the output, in columns.
const WIDTH: usize = 100;
/// Width of the labels, in columns.
const LABEL: usize = 14;

/// Prints the errors of a configuration, or else its effect. Opens no port and connects to nothing.
pub(super) fn run(file: Option<&Path>, out: &mut impl Write) -> Result<Exit> {
    let config = match Config::read_or_default(file) {
        Ok(config) => config,
        Err(error) => {
            failure::report(&error.into());
            return Ok(Exit::Usage);
        }
    };
    match Config::file(file) {
        Some(file) => writeln!(out, "{} is valid.\n", file.display())?,
        None => writeln!(
            out,
            "There is no {USUAL_FILE}: all settings are defaults. `kiebitz setup` writes a first configuration.\n"
        )?,
    }
    for (label, text) in outline::of(&config) {
        let mut label = label;
        for line in wrapped(&text, WIDTH - LABEL, 0, 0) {
            writeln!(out, "{label:<LABEL$}{line}")?;
            label = "";
        }
    }
    let doubts = doubts::of(&config, file);
    if !doubts.is_empty() {
        writeln!(out)?;
    }
    for doubt in doubts {
        for line in wrapped(&format!("! {doubt}"), WIDTH, 0, 2) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(Exit::Fine)
}
