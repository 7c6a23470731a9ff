//! Cases of advice that are read back from a journal: how far an incident had gone before a restart.

use core::str::FromStr;

use crate::vocabulary::{self, UnknownWord};

vocabulary! {
    "case of an incident"
    /// A case that tells its watcher, after a restart, how far the incident has gone.
    pub enum ResumableCase {
        /// The board is turned by a half, which no number of moves changes.
        HalfTurned = "board_rotated.half",
        /// The board is turned by a quarter: the position must be transferred.
        TurnedTransfer = "board_rotated.transfer",
        /// The board is turned by a quarter: the position may be transferred (1997).
        TurnedMayTransfer = "board_rotated.may_transfer",
        /// The board is turned by a quarter, and it is too late to put it right.
        TurnedGoesOn = "board_rotated.goes_on",
        /// A wrong start position, before both players have completed a move.
        WrongAtTheStart = "wrong_start_position.at_the_start",
        /// A wrong start position after the first moves, while it can still be put right.
        WrongVoidSoFar = "wrong_start_position.void_so_far",
        /// A wrong start position after the first moves, where it can be put right during the whole game.
        WrongVoid = "wrong_start_position.void",
        /// A wrong start position, and it is too late to put it right.
        WrongGoesOn = "wrong_start_position.goes_on",
        /// A piece is not read, found before play.
        NotSeen = "sensor_fault.not_seen",
        /// A piece is not read, found in play.
        NotSeenInPlay = "sensor_fault.not_seen_in_play",
        /// Both players are in time trouble.
        BothInTimeTrouble = "time_trouble.both",
        /// The round has begun and the clock stands; the default time has not passed.
        NotRunning = "late_start.not_running",
        /// The clock stands, and the default time has passed.
        DefaultTimePassed = "late_start.default_time",
        /// The clock runs and a player's first move is missing after the default time.
        NoFirstMove = "late_start.no_first_move",
    }
}

impl FromStr for ResumableCase {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        vocabulary::find(word, "case of an incident", Self::ALL, Self::as_str)
    }
}
