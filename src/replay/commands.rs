use std::path::Path;

use anyhow::Context;
use kiebitz_game::command::CommandFile;

use crate::text_file;

/// Reads a file of timed commands: see [`CommandFile::parse`].
///
/// # Errors
///
/// Fails if the file cannot be read or a line is not a command; the message names file and line.
pub fn read_commands(path: &Path) -> anyhow::Result<CommandFile> {
    let text = text_file::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    CommandFile::parse(path, &text)
}
