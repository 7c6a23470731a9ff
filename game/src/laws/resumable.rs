//! Cases of advice that are read back from the journal to restore the progress of an incident after a restart.

use core::str::FromStr;

use crate::vocabulary::{self, UnknownWord};

vocabulary! {
    "case of an incident"
    /// A case from which a watcher restores the progress of its incident after a restart.
    pub enum ResumableCase {
        /// The board is turned by a half. The number of moves makes no difference.
        HalfTurned = "board_rotated.half",
        /// The board is turned by a quarter: the position must be transferred.
        TurnedTransfer = "board_rotated.transfer",
        /// The board is turned by a quarter: the position may be transferred (1997).
        TurnedMayTransfer = "board_rotated.may_transfer",
        /// The board is turned by a quarter, and it is too late to correct it.
        TurnedGoesOn = "board_rotated.goes_on",
        /// A wrong start position, before both players have completed a move.
        WrongAtTheStart = "wrong_start_position.at_the_start",
        /// A wrong start position after the first moves, while it can still be corrected.
        WrongVoidSoFar = "wrong_start_position.void_so_far",
        /// A wrong start position after the first moves, if it can be corrected during the whole game.
        WrongVoid = "wrong_start_position.void",
        /// A wrong start position, and it is too late to correct it.
        WrongGoesOn = "wrong_start_position.goes_on",
        /// The board does not read a piece, noticed before play.
        NotSeen = "sensor_fault.not_seen",
        /// The board does not read a piece, noticed during play.
        NotSeenInPlay = "sensor_fault.not_seen_in_play",
        /// Both players are in time trouble.
        BothInTimeTrouble = "time_trouble.both",
        /// The round has begun and the clock is stopped; the default time has not passed.
        NotRunning = "late_start.not_running",
        /// The clock is stopped, and the default time has passed.
        DefaultTimePassed = "late_start.default_time",
        /// The clock runs, and a player's first move is missing after the default time.
        NoFirstMove = "late_start.no_first_move",
    }
}

impl FromStr for ResumableCase {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        vocabulary::find(word, "case of an incident", Self::ALL, Self::as_str)
    }
}
