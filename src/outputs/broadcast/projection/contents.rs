//! The lists of all rounds: one for the web page, one for other programs.

use core::ops::RangeInclusive;
use std::collections::BTreeMap;

use kiebitz_game::laws::DrawnStart;
use kiebitz_game::position::Variant;

use super::rounds::Slot;
use super::tree::{RoundSummary, TournamentFile};
use super::{Broadcast, MAX_ROUNDS, wall};

/// The rounds in `tournament.json`: all up to the last one, since readers count them from 1.
pub(super) fn listed_rounds(rounds: &BTreeMap<u32, Vec<Slot<'_>>>) -> RangeInclusive<u32> {
    let last = rounds.keys().next_back().copied();
    1..=last.unwrap_or_default().min(MAX_ROUNDS)
}

impl Broadcast {
    /// Builds `wall.json`.
    pub(super) fn contents(&self, rounds: &BTreeMap<u32, Vec<Slot<'_>>>) -> wall::Contents<'_> {
        let round_line = |(&round, slots): (&u32, &Vec<Slot<'_>>)| {
            let paired = self.tournament.rounds.get(&round);
            wall::RoundLine {
                round,
                date: paired.and_then(|round| round.date.as_deref()),
                starts: self.starts(round),
                games: slots.len(),
                live: slots.iter().filter(|slot| slot.is_live()).count(),
                over: slots.iter().all(Slot::is_over),
            }
        };
        wall::Contents {
            event: wall::EventInfo {
                name: self.name(),
                site: self.site(),
                delay_ms: u64::try_from(self.delay.as_millis()).unwrap_or(u64::MAX),
                restarts: self.restarts,
                has_previews: self.address.is_some() && !self.page.is_empty(),
            },
            rounds: rounds.iter().map(round_line).collect(),
            current: wall::current(rounds.iter().map(|(round, slots)| (*round, slots.as_slice()))),
            standings: self
                .standings
                .as_ref()
                .map(|standings| standings.version.as_str()),
            players: self.players.as_ref().map(|(_, version)| version.as_str()),
            halls: self.tournament.hall_views(),
            tie_breaks: { self.standings.as_ref() }.map_or(&[], |standings| standings.tie_breaks.as_slice()),
        }
    }

    /// Builds `tournament.json`.
    pub(super) fn summary(&self, rounds: &BTreeMap<u32, Vec<Slot<'_>>>) -> TournamentFile<'_> {
        let round_summary = |slots: &Vec<Slot<'_>>| RoundSummary {
            count: slots.len(),
            live: slots.iter().filter(|slot| slot.is_live()).count(),
        };
        let summaries =
            listed_rounds(rounds).map(|number| rounds.get(&number).map(round_summary).unwrap_or_default());
        let latest_slots = rounds
            .values()
            .rev()
            .find(|slots| slots.iter().any(|slot| slot.game.is_some()));
        let eboards = latest_slots.into_iter().flatten();
        let is_drawn = matches!(self.facts.start, Some(DrawnStart::Chess960(_)));
        let mut games = rounds.values().flatten().filter_map(|slot| slot.game);
        let is_chess960 = is_drawn || games.any(|game| game.record.variant == Variant::Chess960);
        let name = self.name().unwrap_or_default();
        TournamentFile {
            id: name,
            name,
            location: self.site(),
            country: self.tournament.federation.as_deref(),
            website: None,
            rules: "STANDARD",
            chess960: if is_chess960 { "ANY" } else { "STANDARD" },
            timecontrol: self
                .tournament
                .time_control
                .as_deref()
                .or(self.facts.time_control.as_deref()),
            rounds: summaries.collect(),
            eboards: eboards
                .map(|slot| slot.game.and_then(|game| game.serial.clone()).unwrap_or_default())
                .collect(),
        }
    }
}
