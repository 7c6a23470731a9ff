//! `kiebitz backup`.

use std::io::Write;

use anyhow::{Result, bail};
use bytesize::ByteSize;

use super::replay;
use super::request::BackupRequest;
use crate::Exit;
use crate::journal::BackupError;
use crate::kept::KeptGames;

/// Copies the journal to a file and prints a summary of the copy.
pub(super) fn run(request: &BackupRequest, out: &mut impl Write) -> Result<Exit> {
    let Some(config) = replay::config_of_games(request.config.as_deref()) else {
        return Ok(Exit::Usage);
    };
    let kept = KeptGames::open(&config)?;
    let backup = match kept.journal().back_up(&request.file, request.replace) {
        Err(error @ BackupError::Exists { .. }) => {
            bail!("{error}: name another file, or use --replace to overwrite it")
        }
        done => done?,
    };
    writeln!(
        out,
        "{}: {} {} of {} {}, {}",
        request.file.display(),
        backup.events,
        if backup.events == 1 { "event" } else { "events" },
        backup.boards,
        if backup.boards == 1 { "board" } else { "boards" },
        ByteSize::b(backup.bytes).display().si()
    )?;
    Ok(Exit::Fine)
}
