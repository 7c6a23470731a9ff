//! Reads from the journal the games and rounds of the current event, with which the broadcast continues after a restart.

use core::time::Duration;
use std::collections::BTreeSet;

use kiebitz_game::events::pairing::EVENT_SPAN;
use kiebitz_game::events::{Event, EventKind, LIVE_STREAM};
use kiebitz_hardware::Timestamp;

use crate::config::Config;
use crate::journal::{Journal, JournalError};

/// Age up to which games belong to the current event if the event has no name: since yesterday's last round.
const NAMELESS: Duration = Duration::from_secs(36 * 3600);

/// The events of the current event's games by board; empty if the journal cannot be read.
pub(crate) fn of(journal: &Journal, config: &Config, now: Timestamp) -> Vec<(String, Vec<Event>)> {
    read(journal, config, now).unwrap_or_else(|error| {
        tracing::warn!(
            "cannot read the games before the restart; they are not broadcast: {:#}",
            anyhow::Error::from(error)
        );
        Vec::new()
    })
}

/// Removes the events that the outputs already have, if `events` starts with them. Otherwise keeps all, so that the
/// outputs get them again in order.
pub(crate) fn leave_out(events: &mut Vec<Event>, shown: Option<&Vec<Event>>) {
    if let Some(shown) = shown
        && events.starts_with(shown)
    {
        events.drain(..shown.len());
    }
}

fn read(
    journal: &Journal,
    config: &Config,
    now: Timestamp,
) -> Result<Vec<(String, Vec<Event>)>, JournalError> {
    let name = config.event.event.as_ref();
    let since = now.saturating_sub(if name.is_some() { EVENT_SPAN } else { NAMELESS });
    let mut boards = Vec::new();
    for (board, _) in journal.boards(LIVE_STREAM)? {
        let mut of_event = BTreeSet::new();
        let mut played = journal.games_from(LIVE_STREAM, &board, since)?;
        for event in &played {
            if let EventKind::GameStarted { event: of, .. } = &event.kind
                && event.ts >= since
                && of.as_ref() == name
            {
                of_event.insert(event.game.clone());
            }
        }
        played.retain(|event| of_event.contains(&event.game));
        played.extend(journal.round_entries(LIVE_STREAM, &board, since)?);
        played.sort_by_key(|event| event.seq);
        // A command about a game of the event is also among the events of that game.
        played.dedup_by_key(|event| event.seq);
        let mut events: Vec<Event> = journal.last_connected(LIVE_STREAM, &board)?.into_iter().collect();
        events.append(&mut played);
        boards.push((board, events));
    }
    Ok(boards)
}
