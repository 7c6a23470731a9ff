//! `kiebitz export`.

use std::fs::File;
use std::io::{BufWriter, Write};

use anyhow::{Context, Result};
use kiebitz_game::events::LIVE_STREAM;

use super::request::{ExportRequest, Exported};
use super::{failure, replay};
use crate::Exit;
use crate::journal::JournaledEvent;
use crate::kept::KeptGames;
use crate::system_time;

/// Writes stored events of the journal. Games that cannot be read are reported, and the others are still written.
pub(super) fn run(request: &ExportRequest, out: &mut impl Write) -> Result<Exit> {
    let Some(config) = replay::config_of_games(request.config.as_deref()) else {
        return Ok(Exit::Usage);
    };
    let kept = KeptGames::open(&config)?;
    let Some(path) = &request.output else {
        return export(&kept, &request.events, out);
    };
    let cannot = || format!("cannot write {}", path.display());
    let mut file = BufWriter::new(File::create(path).with_context(cannot)?);
    let exit = export(&kept, &request.events, &mut file).with_context(cannot)?;
    file.flush().with_context(cannot)?;
    Ok(exit)
}

fn export(kept: &KeptGames, events: &Exported, out: &mut impl Write) -> Result<Exit> {
    let mut exit = Exit::Fine;
    let mut written = 0_u64;
    let mut write = |event: &JournaledEvent| -> Result<()> {
        written += 1;
        Ok(writeln!(out, "{}", event.payload)?)
    };
    match events {
        Exported::Games(ids) => {
            for id in ids {
                match kept.find(id).and_then(|game| kept.journaled(&game)) {
                    Ok(events) => events.iter().try_for_each(&mut write)?,
                    Err(error) => exit = failure::report(&error),
                }
            }
        }
        Exported::Selection(selection) => {
            let times = selection
                .period
                .in_zone(&system_time::local_zone(), system_time::wall_time())
                .range();
            let is_wanted = |board: &str| selection.is_on_board(board);
            kept.journal()
                .each_event(LIVE_STREAM, is_wanted, times, &mut write)?;
        }
    }
    if written == 0 && matches!(exit, Exit::Fine) {
        failure::note(&format!(
            "kiebitz: no such events in the journal {}",
            kept.file().display()
        ));
    }
    Ok(exit)
}
