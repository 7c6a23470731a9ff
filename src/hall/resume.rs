//! The boards of a daemon that is started again, from the journal.

use std::collections::BTreeMap;

use super::{Board, Names};
use crate::events::EventKind;
use crate::events::pairing::{EVENT_SPAN, LastPaired};
use crate::journal::{Journal, JournalError};
use crate::referee::Resumed;
use crate::referee::command::Announced;

/// The boards that the journal knows, each with its last game: what a daemon continues with where it has no recording.
/// `names` says what is played on them. `until` is the last event of each that counts; `None`: all do.
///
/// # Errors
///
/// When the journal cannot be read.
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

/// One of them, up to the event with that number.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn board(
    journal: &Journal,
    stream: &str,
    names: &Names,
    name: &str,
    last: u64,
) -> Result<Board, JournalError> {
    let past = journal.past(stream, name, last);
    let game = past.last_game()?;
    let before = past.game_before_last(1)?;
    let game = game.as_ref().and_then(Resumed::new);
    let game = game.map(|game| game.after(before.as_ref()));
    let mut board = Board::new(name, stream, names.regulations(name));
    let connected = past.last_connected()?;
    if let Some(EventKind::BoardConnected { port, .. }) = connected.as_ref().map(|event| &event.kind) {
        board.sit(port);
    }
    let board = board.resumed(last, past.last_followed()?, game);
    let board = board.with_incidents(&past.incidents()?);
    let (mut announced, mut last_paired) = (Announced::default(), LastPaired::default());
    for event in past.paired(EVENT_SPAN)? {
        announced.apply(&event);
        last_paired.apply(&event);
    }
    let commands = journal.commands(stream, name, connected.map_or(0, |connected| connected.seq))?;
    let mut commands = commands.iter().filter(|command| command.seq <= last);
    let forgotten = commands.any(|command| command.kind.is_forget());
    let board = board.with_last_paired(last_paired.into_game());
    Ok(board.with_announced(&announced).with_forgotten(forgotten))
}
