//! The event for sites that have pages of their own for it, such as Lichess.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kiebitz_hardware::Timestamp;

use super::rounds::Slot;
use super::{Broadcast, usual_notation, wall};
use crate::outputs::pgn;

/// The event with the facts that such a site shows, and the games of its rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::outputs) struct RelayedEvent {
    pub(in crate::outputs) name: Option<String>,
    pub(in crate::outputs) site: Option<String>,
    /// Time control in the usual notation, as in "90+30"; several ones if they differ between rounds.
    pub(in crate::outputs) time_control: Option<String>,
    /// Whether teams play each other.
    pub(in crate::outputs) has_teams: bool,
    pub(in crate::outputs) rounds: BTreeMap<u32, RelayedRound>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::outputs) struct RelayedRound {
    /// The planned start.
    pub(in crate::outputs) starts: Option<Timestamp>,
    /// The games in the order of the tables. Unlike in the files, the tag `Result` may be "0-0", "1/2-0" or "0-1/2".
    pub(in crate::outputs) pgn: Arc<str>,
}

impl Broadcast {
    /// The event as of the last call of [`files`](Self::files).
    pub(in crate::outputs) fn relayed(&self) -> RelayedEvent {
        let rounds = self.rounds();
        let controls = rounds.keys().filter_map(|round| self.time_control(*round));
        let controls: BTreeSet<String> = controls.map(usual_notation).collect();
        let controls: Vec<String> = controls.into_iter().collect();
        RelayedEvent {
            name: self.name().map(str::to_owned),
            site: self.site().map(str::to_owned),
            time_control: (!controls.is_empty()).then(|| controls.join(" & ")),
            has_teams: rounds.values().any(|slots| !wall::matches(slots).is_empty()),
            rounds: rounds
                .iter()
                .map(|(round, slots)| (*round, self.relayed_round(*round, slots)))
                .collect(),
        }
    }

    fn relayed_round(&self, round: u32, slots: &[Slot<'_>]) -> RelayedRound {
        let written = self.written.get(&round);
        let mut games = String::new();
        for slot in slots {
            if let Some(game) = written.and_then(|written| written.pgn_of(slot.table)) {
                if !games.is_empty() {
                    games.push('\n');
                }
                games.push_str(&pgn::with_penalty(&String::from_utf8_lossy(game), slot.result()));
            }
        }
        RelayedRound {
            starts: self.facts.rounds.planned_start(round),
            pgn: games.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::GameResult;
    use kiebitz_game::position::Variant;

    use super::super::tests::{START, at, begins, broadcast, ended, take, team_event, text};
    #[test]
    fn facts_of_the_event_come_from_pairings_and_configuration() {
        let mut broadcast = broadcast(0);
        broadcast.files();
        let relayed = broadcast.relayed();
        assert_eq!(relayed.name.as_deref(), Some("Café Open 2026"));
        assert_eq!(relayed.site.as_deref(), Some("Bremen"));
        assert_eq!(relayed.time_control.as_deref(), Some("90+30"));
        assert!(!relayed.has_teams);
        let round = &relayed.rounds[&3];
        assert_eq!(round.starts, Some(at(7200)));
        assert_eq!(*round.pgn, text(&mut broadcast, "round-3/games.pgn"));
        broadcast.pair(team_event());
        broadcast.files();
        assert!(broadcast.relayed().has_teams, "the pairings have changed");
    }

    #[test]
    fn penalties_are_results_for_sites_and_unknown_in_the_files() {
        for result in [
            GameResult::BothLose,
            GameResult::HalfForWhite,
            GameResult::HalfForBlack,
        ] {
            let mut broadcast = broadcast(0);
            take(
                &mut broadcast,
                &[begins(1, 1, Variant::Standard, START), ended(1, 9, result)],
            );
            broadcast.advance(at(9));
            let games = text(&mut broadcast, "round-3/games.pgn");
            assert_eq!(games.matches("[Result \"*\"]").count(), 2, "{games}");
            let relayed = broadcast.relayed().rounds[&3].pgn.clone();
            let tag = format!("[Result \"{result}\"]");
            assert_eq!(relayed.replacen(&tag, "[Result \"*\"]", 1), games);
            assert_ne!(*relayed, games);
        }
    }
}
