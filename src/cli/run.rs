//! `kiebitz run`.

use std::path::Path;

use anyhow::{Context, Result};

use super::failure;
use crate::Exit;
use crate::config::Config;

/// Runs the daemon until it is asked to stop.
pub(super) fn run(file: Option<&Path>) -> Result<Exit> {
    let config = match Config::read_or_default(file) {
        Ok(config) => config,
        // systemd does not restart after this exit code: the file stays wrong until somebody mends it.
        Err(error) => {
            failure::report(&error.into());
            return Ok(Exit::Usage);
        }
    };
    crate::daemon::start_logging(config.daemon.log.clone());
    if let Some(file) = config.exposed_file(file) {
        let file = file.display();
        tracing::warn!(
            "everyone on this computer may read {file}, and a password is in it: chmod 640 {file}"
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    let ended = runtime.block_on(crate::daemon::run(config));
    // A thread that waits for a disk which does not answer is not waited for.
    runtime.shutdown_background();
    ended.map(|()| Exit::Fine)
}
