//! SIGHUP: reads the configuration again and applies the settings that can change while boards are watched. Ports stay
//! open and games continue.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::event_loop::EventLoop;
use super::log;
use super::patience::spawn_thread;
use crate::config::{Config, ConfigError, DaemonSettings, KnownBy, NamedBoard};
use crate::journal::Run;

#[derive(Debug)]
pub(super) struct Reload {
    hangups: Signal,
    /// Path named on the command line.
    file: Option<PathBuf>,
    reading: Option<oneshot::Receiver<Result<Config, ConfigError>>>,
    /// Whether the daemon was started in a terminal, and ends with it.
    in_terminal: bool,
}

#[derive(Debug)]
pub(super) enum Hangup {
    Read(Box<Result<Config, ConfigError>>),
    TerminalGone,
}

#[derive(Debug)]
pub(super) struct ConfigChange {
    config: Config,
    /// Whether names or regulations of boards change.
    of_boards: bool,
    /// Whether the spectators' delay of a board changes.
    delays: bool,
    clock_messages: bool,
    log: bool,
    /// Settings that take effect at the next start.
    later: Vec<&'static str>,
}

impl Reload {
    /// Installs the signal handler. Must be called within a runtime.
    pub(super) fn listen(file: Option<PathBuf>) -> io::Result<Self> {
        // A process under `nohup` ignores SIGHUP and must outlive its terminal. This is checked first, because the
        // handler replaces the disposition.
        let in_terminal = has_terminal() && !is_ignored();
        Ok(Self {
            hangups: signal(SignalKind::hangup())?,
            file,
            reading: None,
            in_terminal,
        })
    }

    /// Waits for the next SIGHUP. A separate thread reads the file, because the event loop must not wait for a disk.
    pub(super) async fn next(&mut self) -> Hangup {
        loop {
            tokio::select! {
                read = read(&mut self.reading) => return Hangup::Read(Box::new(read)),
                _ = self.hangups.recv() => {
                    if self.in_terminal && !has_terminal() {
                        return Hangup::TerminalGone;
                    }
                    let file = self.file.clone();
                    match spawn_thread("configuration", move || Config::read_or_default(file.as_deref())) {
                        Ok(reading) => self.reading = Some(reading),
                        Err(error) => tracing::error!("cannot reload the configuration: {error:#}"),
                    }
                }
            }
        }
    }
}

async fn read(
    reading: &mut Option<oneshot::Receiver<Result<Config, ConfigError>>>,
) -> Result<Config, ConfigError> {
    if let Some(answer) = reading
        && let Ok(read) = answer.await
    {
        *reading = None;
        return read;
    }
    core::future::pending().await
}

/// Whether the process has a controlling terminal.
fn has_terminal() -> bool {
    File::open("/dev/tty").is_ok()
}

fn is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit stands for signal 1, SIGHUP.
    ignored.is_some_and(|mask| mask & 1 != 0)
}

impl ConfigChange {
    pub(super) fn between(old: &Config, new: Config) -> Self {
        // All fields are listed, so that a new one cannot be forgotten.
        let Config {
            daemon:
                DaemonSettings {
                    name,
                    state_directory,
                    log,
                },
            event,
            mqtt,
            http,
            pairings,
            tie_breaks,
            publish,
            lichess,
            webhooks,
            alarms,
            hall,
            halls,
            livechess,
            desk,
            journal,
            recorder,
            ports,
            boards,
            clock_messages,
            of_boards,
        } = new;
        let later = [
            (old.daemon.name != name, "`name` under [daemon]"),
            (old.daemon.state_directory != state_directory, "`state_directory`"),
            (old.mqtt != mqtt, "[mqtt]"),
            (old.http != http, "[http]"),
            (old.publish != publish, "[publish]"),
            (old.lichess != lichess, "[lichess]"),
            (old.webhooks != webhooks, "[[webhook]]"),
            (old.alarms != alarms, "[[alarm]]"),
            (old.livechess != livechess, "[livechess]"),
            (old.desk != desk, "[desk]"),
            (old.halls != halls, "[hub] (of `kiebitz hub`)"),
            (old.pairings != pairings, "`pairings`"),
            (old.hall != hall, "`hall`"),
            (old.journal != journal, "[journal]"),
            (old.recorder != recorder, "[recorder]"),
            (old.ports != ports, "[ports] and [[port]]"),
        ];
        let later = later.into_iter().filter(|(differs, _)| *differs);
        let later = later.map(|(_, table)| table).collect();
        let mut config = Config {
            event,
            tie_breaks,
            boards,
            clock_messages,
            of_boards,
            ..old.clone()
        };
        config.daemon.log = log;
        Self {
            of_boards: config.of_boards != old.of_boards,
            delays: delays(&config.boards) != delays(&old.boards),
            clock_messages: config.clock_messages != old.clock_messages,
            log: config.daemon.log != old.daemon.log,
            config,
            later,
        }
    }

    /// Describes the settings that change at once; empty if there are none.
    fn at_once(&self) -> String {
        let parts = [
            (
                self.of_boards,
                "event and rules, and names of boards that are plugged in from now on",
            ),
            (self.delays, "delays for spectators of single boards"),
            (self.clock_messages, "names on clocks"),
            (self.log, "the log level"),
        ];
        let parts = parts.into_iter().filter(|(changed, _)| *changed);
        parts.map(|(_, part)| part).collect::<Vec<_>>().join("; ")
    }

    fn log_changes(&self) {
        let at_once = self.at_once();
        if at_once.is_empty() && self.later.is_empty() {
            tracing::info!("configuration reloaded; nothing has changed");
        }
        if !at_once.is_empty() {
            tracing::info!("configuration reloaded; changed at once: {at_once}");
        }
        if !self.later.is_empty() {
            let later = self.later.join(", ");
            tracing::warn!("configuration reloaded; changes at the next start: {later}");
        }
    }
}

/// Whether a file that had settings has none any more, for example because it was written on a full disk.
fn is_emptied(old: &Config, new: &Config) -> bool {
    // `of_boards` includes the text of tables without settings, so it is not compared.
    let has_settings = |config: &Config| {
        let of_boards = Config::default().of_boards;
        Config {
            of_boards,
            ..config.clone()
        } != Config::default()
    };
    has_settings(old) && !has_settings(new)
}

/// Returns the renamed boards, as pairs of old and new name.
fn renamed(old: &Config, new: &Config) -> Vec<(String, String)> {
    let renamed = new.boards.iter().filter_map(|board| {
        let before = old.boards.iter().find(|before| before.known_by == board.known_by);
        let before = match (before, &board.known_by) {
            (Some(before), _) => before.name.to_string(),
            (None, KnownBy::Serial(serial)) => serial.to_string(),
            (None, KnownBy::Port(_)) => return None,
        };
        let name = board.name.to_string();
        (before != name).then_some((before, name))
    });
    renamed.collect()
}

fn delays(boards: &[NamedBoard]) -> Vec<(&str, core::time::Duration)> {
    let delayed = boards
        .iter()
        .filter_map(|board| Some((board.name.as_str(), board.public_delay?)));
    let mut delayed: Vec<_> = delayed.collect();
    delayed.sort_unstable();
    delayed
}

impl EventLoop {
    /// Applies a new configuration as far as it can change now, and updates `config`. An invalid file changes nothing.
    pub(super) fn reload(&mut self, config: &mut Config, read: Result<Config, ConfigError>) {
        let new = match read {
            Ok(new) => new,
            Err(error) => {
                let error = format!("{:#}", anyhow::Error::from(error));
                // Only the first line: the others show the position in the file.
                let summary = error.lines().next().unwrap_or_default();
                return tracing::error!(
                    "{summary}; the old configuration stays in use (`kiebitz check-config` \
                    shows more)"
                );
            }
        };
        if is_emptied(config, &new) {
            return tracing::error!(
                "the configuration file has no settings any more, which may be a mistake; the old configuration \
                 stays in use. Restore the file, or restart kiebitz to use the default settings"
            );
        }
        let change = ConfigChange::between(config, new);
        if change.log {
            log::change(&change.config.daemon.log);
        }
        change.log_changes();
        if change.clock_messages {
            self.greeting.set(change.config.clock_messages.clone());
        }
        if change.of_boards {
            let now = self.time.now();
            // Before the renaming, as a board's delay depends on its name.
            if let Some(mqtt) = &mut self.mqtt {
                mqtt.reconfigure(&change.config);
            }
            self.hall.reconfigure(now, crate::restart::names(&change.config));
            self.gate.note(Run::reloaded(now, &change.config.of_boards));
            log::modes(&change.config);
            self.pairings.configure(&change.config);
            if let Some(feeds) = &mut self.feeds {
                feeds.set_facts(now, change.config.event_facts());
            }
            for (before, name) in renamed(config, &change.config) {
                if self.hall.board(&before).is_some_and(|board| !board.is_idle()) {
                    tracing::warn!(
                        "{before} will be named {name} when it is plugged in again or kiebitz restarts: wait \
                         until its game is over, or the game is split in two"
                    );
                }
            }
        }
        *config = change.config;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "[daemon]\nstate_directory = \"/srv/k\"\n[mqtt]\nurl = \"mqtt://localhost\"\n\
                       [[board]]\nserial = \"1\"\nname = \"one\"\n";

    fn config(text: &str) -> Config {
        Config::parse("kiebitz.toml".as_ref(), text).expect("a configuration")
    }

    fn change(new: &str) -> ConfigChange {
        ConfigChange::between(&config(OLD), config(new))
    }

    #[test]
    fn the_same_configuration_changes_nothing() {
        let same = change(&format!("# a comment\n{OLD}"));
        assert_eq!((same.at_once(), same.later.len()), (String::new(), 0));
        assert_eq!(same.config, config(OLD));
    }

    #[test]
    fn a_file_that_lost_all_settings_is_not_applied() {
        for emptied in [
            "",
            "# only comments are left\n",
            "[daemon]\n",
            "[event]\n#name = \"Open\"\n",
        ] {
            let new = config(emptied);
            assert!(is_emptied(&config(OLD), &new), "{emptied:?}");
            assert!(!is_emptied(&config("[event]\n"), &new), "it had none before");
        }
        let less = config("[daemon]\nstate_directory = \"/srv/k\"\n");
        assert!(!is_emptied(&config(OLD), &less));
    }

    #[test]
    fn boards_and_regulations_change_at_once() {
        let new = format!(
            "{OLD}time_control = \"3+2\"\n[event]\nname = \"Blitz\"\n[clock_messages]\nenabled = true\n"
        );
        let change = change(&new);
        assert!(change.of_boards && change.clock_messages && !change.log);
        assert!(change.later.is_empty(), "{:?}", change.later);
        assert_eq!(change.config, config(&new));
    }

    #[test]
    fn other_settings_change_at_the_next_start() {
        let change = change(
            r#"
            [daemon]
            state_directory = "/srv/other"
            name = "hall"
            log = "debug"
            [mqtt]
            url = "mqtt://elsewhere"
            [http]
            listen = "127.0.0.1:8037"
            [publish]
            to = "https://club.example/chess/"
            [lichess]
            token_file = "/etc/kiebitz/lichess"
            [[webhook]]
            name = "club"
            url = "https://club.example/events"
            [[alarm]]
            name = "phone"
            send = "ntfy"
            url = "https://ntfy.sh/a-name-that-nobody-guesses"
            [livechess]
            setup = true
            [desk]
            users_file = "/etc/kiebitz/desk-users"
            [hub]
            halls = ["north/kiebitz"]
            [journal]
            keep_days = 3
            [recorder]
            enabled = false
            [ports]
            usb = false
            [[board]]
            serial = "1"
            name = "one"
            "#,
        );
        assert_eq!(change.at_once(), "the log level");
        assert_eq!(
            change.later,
            [
                "`name` under [daemon]",
                "`state_directory`",
                "[mqtt]",
                "[http]",
                "[publish]",
                "[lichess]",
                "[[webhook]]",
                "[[alarm]]",
                "[livechess]",
                "[desk]",
                "[hub] (of `kiebitz hub`)",
                "[journal]",
                "[recorder]",
                "[ports] and [[port]]",
            ]
        );
        let mut expected = config(OLD);
        expected.daemon.log.clone_from(&change.config.daemon.log);
        assert_eq!(change.config, expected);
        let paired = self::change(&format!("{OLD}[event]\npairings = [\"/srv/round.pgn\"]\n"));
        assert_eq!(paired.later, ["`pairings`"]);
    }

    #[test]
    fn renamed_boards_are_found_by_serial_number_or_port() {
        let old = config(OLD);
        let new = config(
            "[[board]]\nserial = \"1\"\nname = \"first\"\n[[board]]\nserial = \"01025\"\nname = \"second\"\n\
             [[board]]\nport = \"/dev/rfcomm0\"\nname = \"third\"\n",
        );
        let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(
            renamed(&old, &new),
            [pair("one", "first"), pair("01025", "second")]
        );
        assert_eq!(renamed(&old, &old), []);
    }

    #[test]
    fn delays_and_board_names_change_at_once() {
        let delayed = format!("{OLD}public_delay = \"30 min\"\n");
        let renamed = delayed.replace("\"one\"", "\"seven\"");
        for (old, new) in [(OLD, &*delayed), (&delayed, OLD), (&delayed, &renamed)] {
            let change = ConfigChange::between(&config(old), config(new));
            assert!(change.of_boards && change.delays && change.later.is_empty());
            assert_eq!(change.config, config(new));
        }
        // The delay for all boards is a setting of the broker.
        let change = change(&OLD.replace("://localhost\"\n", "://localhost\"\npublic_delay = \"9 min\"\n"));
        assert_eq!((change.delays, change.later), (false, vec!["[mqtt]"]));
    }
}
