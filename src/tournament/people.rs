//! Identification of players: joins mentions of the same player by FIDE id, or else by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::doubt::{Capped, Doubt, DoubtKind, Severity};
use super::{FilePosition, Player, names};

/// Maximum number of distinct players with the same FIDE id.
const MAX_PER_ID: usize = 16;

#[derive(Debug, Default)]
pub(super) struct People {
    list: Vec<Player>,
    /// Players with a FIDE id. An id has several players if their names have nothing in common.
    by_id: BTreeMap<u32, Vec<usize>>,
    /// Players without a known FIDE id, by the key of the name.
    by_name: BTreeMap<String, usize>,
    /// FIDE ids that occur with a name, by the key of the name.
    ids: BTreeMap<String, BTreeSet<u32>>,
    /// Names that were reported as ambiguous, by key and file.
    reported: BTreeSet<(String, Arc<str>)>,
}

impl People {
    /// Joins all mentions of players, given in the order of precedence.
    pub(super) fn of<'p>(all: impl Iterator<Item = &'p Player> + Clone, doubts: &mut Capped<Doubt>) -> Self {
        let mut people = Self::default();
        for player in all.clone() {
            if let Some(id) = player.facts.fide_id {
                let ids = people.ids.entry(names::key(&player.name)).or_default();
                ids.insert(id);
            }
        }
        Self::report_names_with_two_ids(all.clone(), doubts);
        for player in all {
            let index = people.find(player, doubts);
            people.add_facts(index, player, doubts);
        }
        people
    }

    /// Reports names that occur with several FIDE ids.
    fn report_names_with_two_ids<'p>(all: impl Iterator<Item = &'p Player>, doubts: &mut Capped<Doubt>) {
        let mut first: BTreeMap<String, (u32, &FilePosition)> = BTreeMap::new();
        let mut reported = BTreeSet::new();
        for player in all {
            let Some(id) = player.facts.fide_id else { continue };
            let key = names::key(&player.name);
            let (other, place) = *first.entry(key.clone()).or_insert((id, &player.place));
            if other != id && reported.insert((key, id)) {
                let text = format!(
                    "{} has the FIDE id {id} here, but {other} at {place}: correct one of them, unless these are two players",
                    player.name
                );
                let place = player.place.clone();
                doubts.push(Doubt::new(Severity::Lost, DoubtKind::Contradiction, place, text));
            }
        }
    }

    /// Finds or adds the person of a mention.
    fn find(&mut self, player: &Player, doubts: &mut Capped<Doubt>) -> usize {
        if let Some(id) = player.facts.fide_id {
            return self.find_or_add_by_id(id, player, doubts);
        }
        let key = names::key(&player.name);
        let ids: Vec<u32> = self
            .ids
            .get(&key)
            .map(|ids| ids.iter().copied().collect())
            .unwrap_or_default();
        match ids.as_slice() {
            [id] => self.find_or_add_by_id(*id, player, doubts),
            [] => self.find_or_add_by_name(key, player),
            [one, two, ..] => {
                if self
                    .reported
                    .insert((key.clone(), Arc::clone(&player.place.file)))
                {
                    let text = format!(
                        "{} may be the player with the FIDE id {one} or {two}, and is treated as neither: add \
                         the id here",
                        player.name
                    );
                    doubts.push(Doubt::new(
                        Severity::Lost,
                        DoubtKind::Ambiguous,
                        player.place.clone(),
                        text,
                    ));
                }
                self.find_or_add_by_name(key, player)
            }
        }
    }

    fn find_or_add_by_name(&mut self, key: String, player: &Player) -> usize {
        let new = self.list.len();
        let index = *self.by_name.entry(key).or_insert(new);
        if index == new {
            self.list.push(player.clone());
        }
        index
    }

    fn find_or_add_by_id(&mut self, id: u32, player: &Player, doubts: &mut Capped<Doubt>) -> usize {
        let same = self.by_id.entry(id).or_default();
        let key = names::key(&player.name);
        let mut known = same
            .iter()
            .filter_map(|index| Some((*index, self.list.get(*index)?)));
        let is_same_person =
            |other: &Player| names::key(&other.name) == key || names::share_a_word(&other.name, &player.name);
        if let Some((index, _)) = known.clone().find(|(_, other)| is_same_person(other)) {
            return index;
        }
        // Comparing many names with each other would take long, and the id is wrong anyway.
        if let Some(last) = same.get(MAX_PER_ID - 1) {
            return *last;
        }
        if let Some((_, other)) = known.next() {
            let text = format!(
                "{} has the FIDE id {id} here, which {} has at {}: correct one of them",
                player.name, other.name, other.place
            );
            doubts.push(Doubt::new(
                Severity::Lost,
                DoubtKind::Contradiction,
                player.place.clone(),
                text,
            ));
        }
        same.push(self.list.len());
        self.list.push(player.clone());
        self.list.len() - 1
    }

    /// Adds facts that are not known yet, and reports contradictions.
    fn add_facts(&mut self, index: usize, player: &Player, doubts: &mut Capped<Doubt>) {
        let Some(known) = self.list.get_mut(index) else {
            return;
        };
        let place = known.place.clone();
        let (known_facts, new_facts) = (&mut known.facts, &player.facts);
        let mut differs = |fact: &str, one: &Option<String>, other: &Option<String>| {
            if let (Some(one), Some(other)) = (one, other)
                && one != other
                && place.file != player.place.file
            {
                let text = format!(
                    "{} has the {fact} {other} here, but {one} at {place}, which is used",
                    player.name
                );
                doubts.push(Doubt::new(
                    Severity::Note,
                    DoubtKind::Contradiction,
                    player.place.clone(),
                    text,
                ));
            }
        };
        differs("title", &known_facts.title, &new_facts.title);
        differs("federation", &known_facts.federation, &new_facts.federation);
        known_facts.fide_id = known_facts.fide_id.or(new_facts.fide_id);
        known_facts.rating = known_facts.rating.or(new_facts.rating);
        for (known, new) in [
            (&mut known_facts.title, &new_facts.title),
            (&mut known_facts.federation, &new_facts.federation),
            (&mut known_facts.team, &new_facts.team),
        ] {
            if known.is_none() {
                known.clone_from(new);
            }
        }
    }

    /// Finds the person of a mention that was passed to [`of`](Self::of).
    pub(super) fn index(&self, player: &Player) -> Option<usize> {
        let key = names::key(&player.name);
        let id = player.facts.fide_id.or_else(|| {
            let ids = self.ids.get(&key)?;
            ids.iter().next().copied().filter(|_| ids.len() == 1)
        });
        let Some(id) = id else {
            return self.by_name.get(&key).copied();
        };
        self.by_id.get(&id)?.iter().copied().find(|index| {
            let known = self.list.get(*index);
            known.is_some_and(|known| {
                names::key(&known.name) == key || names::share_a_word(&known.name, &player.name)
            })
        })
    }

    /// Returns the facts of a person, with the position of a mention.
    pub(super) fn known(&self, index: usize, place: &FilePosition) -> Option<Player> {
        let known = self.list.get(index)?;
        Some(Player {
            place: place.clone(),
            ..known.clone()
        })
    }
}
