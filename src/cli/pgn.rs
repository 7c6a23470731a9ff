//! `kiebitz pgn`.

use std::io::Write;

use anyhow::{Context, Result};

use super::request::PgnRequest;
use super::{failure, replay};
use crate::Exit;
use crate::kept::KeptGames;
use crate::outputs::pgn::pgn;

/// Writes games of the journal as PGN. Games that cannot be read are reported, and the others are still written.
pub(super) fn run(request: &PgnRequest, out: &mut impl Write) -> Result<Exit> {
    let Some(config) = replay::config_of_games(request.config.as_deref()) else {
        return Ok(Exit::Usage);
    };
    let kept = KeptGames::open(&config)?;
    let (mut written, mut exit) = (String::new(), Exit::Fine);
    for id in &request.games {
        match game(&kept, id) {
            Ok(game) => {
                if !written.is_empty() {
                    written.push('\n');
                }
                written.push_str(&game);
            }
            Err(error) => exit = failure::report(&error),
        }
    }
    match &request.output {
        None => out.write_all(written.as_bytes())?,
        Some(path) => {
            std::fs::write(path, written).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(exit)
}

fn game(kept: &KeptGames, id: &str) -> Result<String> {
    Ok(pgn(&kept.record(&kept.find(id)?)?))
}
