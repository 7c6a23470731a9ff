//! Restores boards from the journal alone.

use std::collections::BTreeMap;

use kiebitz_game::events::EventKind;
use kiebitz_game::events::pairing::EVENT_SPAN;
use kiebitz_game::hall::{Board, BoardPast, Names};

use crate::journal::{Journal, JournalError};

/// Restores the boards that the journal knows, each with its last game, for a daemon without recordings of them.
/// `names` has their regulations. `until` has the seq up to which each board's events count and leaves out the other
/// boards; if it is `None`, all events count.
pub fn boards(
    journal: &Journal,
    stream: &str,
    names: &Names,
    until: Option<&BTreeMap<String, u64>>,
) -> Result<Vec<Board>, JournalError> {
    let mut boards = Vec::new();
    for (name, last) in journal.boards(stream)? {
        let last = until.map_or(Some(last), |until| until.get(&name).copied());
        if let Some(last) = last {
            boards.push(board(journal, stream, names, &name, last)?);
        }
    }
    Ok(boards)
}

/// Restores one board from its events up to the seq `last`.
pub fn board(
    journal: &Journal,
    stream: &str,
    names: &Names,
    name: &str,
    last: u64,
) -> Result<Board, JournalError> {
    let past = journal.past(stream, name, last);
    let connected = past.last_connected()?;
    let commands = journal.commands(
        stream,
        name,
        connected.as_ref().map_or(0, |connected| connected.seq),
    )?;
    let mut commands = commands.iter().filter(|command| command.seq <= last);
    let past = BoardPast {
        last_seq: last,
        port: connected.and_then(|event| match event.kind {
            EventKind::BoardConnected { port, .. } => Some(port),
            _ => None,
        }),
        followed: past.last_followed()?,
        game: past.last_game()?,
        game_before: past.game_before_last(1)?,
        incidents: past.incidents()?,
        paired: past.paired(EVENT_SPAN)?,
        forgotten: commands.any(|command| command.kind.is_forget()),
    };
    Ok(Board::resumed(name, stream, names.regulations(name), &past))
}
