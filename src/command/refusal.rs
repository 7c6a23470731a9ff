//! Why a command was not done.

use thiserror::Error;

/// Why a command was not done; the message is for who gave it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Nobody knows the board.
    #[error("there is no board {board}{}", known(.boards))]
    NoBoard {
        /// The board.
        board: String,
        /// Those that there are.
        boards: Vec<String>,
    },
    /// Nothing is being played.
    #[error("no game is being played on {board}")]
    NoGame {
        /// The board.
        board: String,
    },
    /// There was no game yet, or the next one has begun.
    #[error("there is no game {game} on {board} that could still be changed")]
    NotThatGame {
        /// The board.
        board: String,
        /// The game's id.
        game: String,
    },
    /// There was no game, and none is being played.
    #[error("there is no game on {board} that could be changed")]
    NothingToChange {
        /// The board.
        board: String,
    },
    /// It would have to be done between games.
    #[error("a game is being played on {board}")]
    GameOn {
        /// The board.
        board: String,
    },
    /// The game was over by the Laws before.
    #[error(
        "the game was over with {result} by {over_by}: {reason} after that changes nothing; if it is to be overruled, \
         the reason is \"arbiter\""
    )]
    AlreadyOver {
        /// Its result.
        result: String,
        /// What ended it.
        over_by: &'static str,
        /// What was entered.
        reason: &'static str,
    },
    /// It cannot be set back: the game is over.
    #[error("the game is over with {result} by {over_by}; to go on with it, set its result to \"*\" first")]
    Over {
        /// Its result.
        result: String,
        /// What ended it.
        over_by: &'static str,
    },
    /// A result that is none.
    #[error("{given:?} is no result: 1-0, 0-1, 1/2-1/2, or * for a game that goes on")]
    NoResult {
        /// What was given.
        given: String,
    },
    /// A reason that is none.
    #[error("{given:?} is no reason that a game ends for: {}", .known.join(", "))]
    NoReason {
        /// What was given.
        given: String,
        /// What there is.
        known: &'static [&'static str],
    },
    /// A reason that does not go with the result.
    #[error("{reason} does not go with the result {result}")]
    NoSuchEnd {
        /// The reason.
        reason: &'static str,
        /// The result.
        result: &'static str,
    },
    /// A position that is none.
    #[error("{fen:?} is no position that a game can go on from: {why}")]
    NoPosition {
        /// What was given.
        fen: String,
        /// What is wrong.
        why: &'static str,
    },
    /// A move that is none.
    #[error("{given:?}, ply {ply}, is no legal move in {fen}")]
    NoMove {
        /// What was given.
        given: String,
        /// Which ply it would be.
        ply: u32,
        /// The position.
        fen: String,
    },
    /// More was asked to be kept than there is.
    #[error("the game has {plies} plies: the moves cannot go on from ply {from}")]
    NoSuchPly {
        /// How many there are.
        plies: usize,
        /// What was given.
        from: u32,
    },
    /// A time control that is none.
    #[error("{why}")]
    NoTimeControl {
        /// What is wrong.
        why: String,
    },
    /// An incident that there is not.
    #[error("there is no incident {incident} in the game on {board}")]
    NoIncident {
        /// The board.
        board: String,
        /// Its number.
        incident: u64,
    },
    /// Nothing would change.
    #[error("nothing to be changed: {what}")]
    Nothing {
        /// What is so already.
        what: &'static str,
    },
}

fn known(boards: &[String]) -> String {
    if boards.is_empty() {
        String::new()
    } else {
        format!("; there are {}", boards.join(", "))
    }
}
