//! Compares the events that the subscriber received with those in the journal.

use core::time::Duration;
use std::collections::BTreeMap;

use super::world::{Published, World};

/// Maximum delay of publishing, whatever the disk does. Six seconds would be enough on a machine that is not busy.
const SOON: Duration = Duration::from_secs(60);

/// The published events by number. Fails if a number was used twice.
pub(crate) fn by_seq(published: &[Published]) -> BTreeMap<u64, String> {
    let mut events = BTreeMap::new();
    for Published { event, payload, .. } in published {
        let before = events.insert(event.seq, payload.clone());
        assert!(
            before.as_ref().is_none_or(|before| before == payload),
            "given twice: {payload}\n{}",
            before.unwrap_or_default()
        );
    }
    events
}

/// Whether the journal has exactly the published events, numbered from 1 without gaps.
pub(crate) fn is_same(world: &World) -> bool {
    let published = by_seq(&world.published());
    let journaled = world.journaled();
    journaled
        .iter()
        .map(|(seq, _)| *seq)
        .eq(1..=journaled.len() as u64)
        && journaled.into_iter().eq(published)
}

/// Goal of waiting until [`agree`] holds.
pub(crate) const AGREEMENT: &str = "the events of journal and subscriber agree";

/// Whether the journal has every event that was published as kept, and every event in the journal was published with
/// the same payload.
pub(crate) fn agree(world: &World) -> bool {
    let all = world.published();
    let published = by_seq(&all);
    let journaled: BTreeMap<u64, String> = world.journaled().into_iter().collect();
    let mut kept = all.iter().filter(|published| published.kept);
    journaled
        .iter()
        .all(|(seq, payload)| published.get(seq) == Some(payload))
        && kept.all(|published| journaled.contains_key(&published.event.seq))
}

/// Checks that numbers are consecutive except for at most `at_most` jumps.
pub(crate) fn jumps(world: &World, at_most: usize) {
    let seqs: Vec<u64> = by_seq(&world.published()).into_keys().collect();
    let jumps: Vec<_> = seqs.windows(2).filter(|pair| pair[1] != pair[0] + 1).collect();
    assert!(jumps.len() <= at_most, "{jumps:?}\n{}", world.log());
}

/// Checks that the events published after the first `since` came in time and in order.
pub(crate) fn was_live(world: &World, since: usize) {
    let published = &world.published()[since..];
    for Published { at, event, .. } in published {
        let took = at.saturating_duration_since(event.ts);
        assert!(took < SOON, "{} took {took:?}\n{}", event.seq, world.log());
    }
    let in_order = published.is_sorted_by(|one, next| one.event.seq < next.event.seq);
    assert!(in_order, "{}", world.log());
}
