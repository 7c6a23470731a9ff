//! The log on stderr, for commands that publish over MQTT.

use anyhow::{Result, anyhow};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::shown::LogLines;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logging {
    targets: Targets,
}

/// Environment variable with the log level, or with levels by module as in "kiebitz=debug,rumqttc=info".
const VARIABLE: &str = "KIEBITZ_LOG";

impl Logging {
    /// Reads the selection from [`VARIABLE`], or derives it from the number of `-v` options. Fails if the variable has
    /// an invalid value.
    pub(super) fn new(verbose: u8) -> Result<Self> {
        if let Ok(text) = std::env::var(VARIABLE)
            && !text.is_empty()
        {
            let wrong = || {
                anyhow!("{VARIABLE} must be a level such as debug, or levels by module such as kiebitz=trace")
            };
            return Ok(Self {
                targets: text.parse().map_err(|_| wrong())?,
            });
        }
        let level = match verbose {
            0 => LevelFilter::WARN,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        Ok(Self {
            targets: Targets::new().with_target("kiebitz", level),
        })
    }

    pub(super) fn start(&self) {
        let layer = tracing_subscriber::fmt::layer()
            .with_writer(LogLines::default)
            .without_time();
        // Fails if logging was started before; the first subscriber stays.
        let _ = tracing_subscriber::registry()
            .with(layer)
            .with(self.targets.clone())
            .try_init();
    }
}
