//! What the broadcast goes on with after a restart: the games of the event, as the journal has them.

use core::time::Duration;

use kiebitz_hardware::Timestamp;

use crate::config::Config;
use crate::events::{Event, EventKind, LIVE_STREAM};
use crate::journal::{Journal, JournalError};

/// An event does not last longer.
const EVENT: Duration = Duration::from_secs(16 * 24 * 3600);
/// The games of an event without a name are those since yesterday's last round.
const NAMELESS: Duration = Duration::from_secs(36 * 3600);

/// The games of the event, board by board. What a journal that fails does not give is missing.
pub(super) fn of(journal: &Journal, config: &Config, now: Timestamp) -> Vec<(String, Vec<Event>)> {
    read(journal, config, now).unwrap_or_else(|error| {
        tracing::warn!(
            "games before the restart are not broadcast: {:#}",
            anyhow::Error::from(error)
        );
        Vec::new()
    })
}

/// Leaves out the events that outputs have been shown, if those are the first of these. What came between them has all of
/// them shown again, in their order.
pub(super) fn leave_out(events: &mut Vec<Event>, shown: Option<&Vec<Event>>) {
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
    let since = now.saturating_sub(if name.is_some() { EVENT } else { NAMELESS });
    let mut boards = Vec::new();
    for (board, _) in journal.boards(LIVE_STREAM)? {
        let mut is_of_event = false;
        let mut events: Vec<Event> = journal.last_connected(LIVE_STREAM, &board)?.into_iter().collect();
        for event in journal.games_from(LIVE_STREAM, &board, since)? {
            if let EventKind::GameStarted { event: of, .. } = &event.kind {
                is_of_event = event.ts >= since && of.as_ref() == name;
            }
            if is_of_event {
                events.push(event);
            }
        }
        boards.push((board, events));
    }
    Ok(boards)
}
