//! The boards of a daemon that is started again, from the journal.

use super::{Board, Names};
use crate::journal::{Journal, JournalError};
use crate::referee::Resumed;
use crate::referee::command::Announced;

/// The boards that the journal knows, each with its last game: what a daemon continues with. `names` says what is
/// played on them.
///
/// # Errors
///
/// When the journal cannot be read.
pub fn boards(journal: &Journal, stream: &str, names: &Names) -> Result<Vec<Board>, JournalError> {
    let mut boards = Vec::new();
    for (name, last_seq) in journal.boards(stream)? {
        let game = journal.last_game(stream, &name)?;
        let game = game.as_ref().and_then(Resumed::new);
        let followed = journal.last_followed(stream, &name)?;
        let board = Board::new(&name, stream, names.regulations(&name));
        let incidents = journal.incidents(stream, &name)?;
        let board = board.resumed(last_seq, followed, game).with_incidents(&incidents);
        let mut announced = Announced::default();
        for event in journal.announcements(stream, &name)? {
            announced.apply(&event);
        }
        boards.push(board.with_announced(&announced));
    }
    Ok(boards)
}
