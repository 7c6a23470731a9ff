//! `kiebitz run`.

use std::path::Path;

use anyhow::{Context, Result};

use super::failure::{self, Exit};
use crate::config::{Config, ConfigError};

/// Where the configuration is if none is named.
const CONFIGURATION: &str = "/etc/kiebitz.toml";

/// Runs the daemon until it is asked to stop.
pub(super) fn run(config: Option<&Path>) -> Result<Exit> {
    let config = match read(config) {
        Ok(config) => config,
        // Not to be tried again: it does not get better by itself.
        Err(error) => {
            failure::report(&error.into());
            return Ok(Exit::Usage);
        }
    };
    crate::run::start_logging(config.daemon.log.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .context("cannot start")?
        .block_on(crate::run::run(config))?;
    Ok(Exit::Fine)
}

fn read(config: Option<&Path>) -> Result<Config, ConfigError> {
    let default = Path::new(CONFIGURATION);
    match config {
        Some(path) => Config::read(path),
        None if default.exists() => Config::read(default),
        None => Ok(Config::default()),
    }
}
