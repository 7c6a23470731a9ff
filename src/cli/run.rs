//! `kiebitz run` and `kiebitz hub`.

use std::path::Path;

use anyhow::{Context, Result};

use super::failure;
use crate::config::{Config, USUAL_FILE};
use crate::secret_file::{SecretReader, exposed};
use crate::{Exit, text_file};

pub(super) fn run(file: Option<&Path>) -> Result<Exit> {
    let Some(config) = begin(file) else {
        return Ok(Exit::Usage);
    };
    if let Some(hint) = startup_hint(&config, Config::file(file)) {
        tracing::info!("{hint}");
    }
    run_to_end(crate::daemon::run(config, file.map(Path::to_owned)))
}

pub(super) fn hub(file: Option<&Path>) -> Result<Exit> {
    match begin(file) {
        Some(config) => run_to_end(crate::hub::run(config)),
        None => Ok(Exit::Usage),
    }
}

/// Reads the configuration and starts logging. Reports an error and returns `None` if the configuration is invalid.
fn begin(file: Option<&Path>) -> Option<Config> {
    let config = match Config::read_or_default(file) {
        Ok(config) => config,
        // systemd does not restart after the exit code for wrong usage, because a restart would not repair the file.
        Err(error) => {
            failure::report(&error.into());
            return None;
        }
    };
    crate::daemon::start_logging(config.daemon.log.clone());
    crate::limits::prepare_open_files();
    if let Some(file) = Config::file(file).filter(|file| is_blank(file)) {
        let file = file.display();
        tracing::warn!("{file} is empty, so all settings are defaults: restore it if it had settings");
    }
    if let Some(file) = config.exposed_file(file) {
        tracing::warn!(
            "{}",
            exposed(file, "a password", SecretReader::of_process().as_ref())
        );
    }
    Some(config)
}

fn is_blank(file: &Path) -> bool {
    // /dev/null is empty on purpose.
    file.is_file() && text_file::read(file).is_ok_and(|text| text.trim().is_empty())
}

fn run_to_end(work: impl Future<Output = Result<()>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start")?;
    let ended = runtime.block_on(work);
    crate::daemon::finish_logging();
    // Do not wait for threads that are blocked by a disk.
    runtime.shutdown_background();
    ended.map(|()| Exit::Fine)
}

/// Returns a hint for new users if nothing is published: the consequence and the next step. `None` if a broker or
/// another publishing output is configured. `file` is the configuration that was read.
fn startup_hint(config: &Config, file: Option<&Path>) -> Option<String> {
    let is_broadcast = config.publish.is_some() || config.lichess.is_some() || !config.webhooks.is_empty();
    if config.mqtt.is_some() || is_broadcast {
        return None;
    }
    let nothing = "nothing is published; games are only stored in the journal (`kiebitz games`)";
    Some(match file {
        None => format!(
            "there is no {USUAL_FILE}, so all settings are defaults: {nothing}. `kiebitz setup` writes a first \
             configuration"
        ),
        Some(file) => format!(
            "no broker is configured: {nothing}. To publish them, add `[mqtt]` and `url = \"mqtt://HOST\"` to {}",
            file.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_file_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("kiebitz.toml");
        for (text, expected) in [("", true), (" \n", true), ("# nothing\n", false)] {
            std::fs::write(&file, text).expect("room");
            assert_eq!(is_blank(&file), expected, "{text:?}");
        }
        assert!(!is_blank(Path::new("/dev/null")));
    }

    #[test]
    fn the_hint_without_a_broker_names_the_next_step() {
        let read = |text| Config::parse("kiebitz.toml".as_ref(), text).expect("a configuration");
        let file = Path::new("/srv/kiebitz.toml");
        let none = startup_hint(&Config::default(), None).unwrap_or_default();
        assert!(
            none.starts_with("there is no /etc/kiebitz.toml, so") && none.contains("`kiebitz setup`"),
            "{none}"
        );
        let no_broker = startup_hint(&read("[event]\n"), Some(file)).unwrap_or_default();
        assert!(
            no_broker.starts_with("no broker is configured: nothing is published"),
            "{no_broker}"
        );
        assert!(no_broker.ends_with("to /srv/kiebitz.toml"), "{no_broker}");
        assert_eq!(
            startup_hint(&read("[mqtt]\nurl = \"mqtt://localhost\"\n"), Some(file)),
            None
        );
    }
}
