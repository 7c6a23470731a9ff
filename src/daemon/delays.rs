//! The spectators' delay of each board, across changes of the configuration.

use core::time::Duration;
use std::collections::BTreeMap;

use crate::config::Config;

/// The delays of the current configuration, and those of names that it no longer has.
#[derive(Debug)]
pub(super) struct Delays {
    config: Config,
    /// Delays by former name. A renamed board keeps its old name, and at least the old delay, until it is plugged in
    /// again.
    former: BTreeMap<String, Duration>,
}

impl Delays {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            config: config.clone(),
            former: BTreeMap::new(),
        }
    }

    pub(super) fn of(&self, board: &str) -> Duration {
        let former = self.former.get(board).copied().unwrap_or_default();
        self.config.public_delay(board).max(former)
    }

    pub(super) fn change(&mut self, config: &Config) {
        let former = self.config.boards.iter().filter(|old| {
            let same = |new| (&old.known_by, &old.name) == new;
            !config.boards.iter().any(|new| same((&new.known_by, &new.name)))
        });
        let former = former.map(|board| (board.name.to_string(), self.of(board.name.as_str())));
        let former: Vec<_> = former.collect();
        self.former.extend(former);
        self.config = config.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration of boards with serial number, name and delay in minutes. The delay of other boards is five
    /// minutes.
    fn config(boards: &[(&str, &str, u64)]) -> Config {
        let board = |(serial, name, minutes): &(&str, &str, u64)| {
            format!("[[board]]\nserial = \"{serial}\"\nname = \"{name}\"\npublic_delay = \"{minutes} min\"\n")
        };
        let boards: String = boards.iter().map(board).collect();
        let text = format!("[mqtt]\nurl = \"mqtt://localhost\"\npublic_delay = \"5 min\"\n{boards}");
        Config::parse("kiebitz.toml".as_ref(), &text).expect("a configuration")
    }

    fn minutes(delays: &Delays, board: &str) -> u64 {
        delays.of(board).as_secs() / 60
    }

    #[test]
    fn the_latest_configured_delay_applies() {
        let mut delays = Delays::new(&config(&[("1", "one", 30)]));
        assert_eq!((minutes(&delays, "one"), minutes(&delays, "other")), (30, 5));
        delays.change(&config(&[("1", "one", 10), ("2", "two", 0)]));
        assert_eq!((minutes(&delays, "one"), minutes(&delays, "two")), (10, 0));
        delays.change(&config(&[("1", "one", 60), ("2", "two", 20)]));
        assert_eq!((minutes(&delays, "one"), minutes(&delays, "two")), (60, 20));
    }

    #[test]
    fn a_board_that_is_renamed_keeps_its_delay_while_it_has_its_old_name() {
        let mut delays = Delays::new(&config(&[("1", "one", 30)]));
        delays.change(&config(&[("1", "first", 20)]));
        assert_eq!((minutes(&delays, "one"), minutes(&delays, "first")), (30, 20));
        delays.change(&config(&[]));
        assert_eq!((minutes(&delays, "one"), minutes(&delays, "first")), (30, 20));
    }

    #[test]
    fn a_name_that_goes_to_another_board_keeps_the_longer_delay() {
        let mut delays = Delays::new(&config(&[("1", "one", 30), ("2", "two", 0)]));
        delays.change(&config(&[("1", "two", 40), ("2", "one", 0)]));
        assert_eq!((minutes(&delays, "one"), minutes(&delays, "two")), (30, 40));
    }
}
