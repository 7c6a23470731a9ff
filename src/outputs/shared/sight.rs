//! How a board is at a moment, for those in the hall.

use kiebitz_game::clock::Side;
use kiebitz_game::position::Seen;
use shakmaty::Board;

use crate::clock::ClockPicture;

/// How a board is at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sight {
    /// Its name.
    pub(crate) name: String,
    /// Its serial number, the long one where it has one.
    pub(crate) serial: Option<String>,
    /// The other boards that report the same number.
    pub(crate) same_number: Vec<String>,
    /// Where it is, or was, plugged in.
    pub(crate) port: String,
    /// The table that it stands at; `None`: it has no number.
    pub(crate) table: Option<u32>,
    /// It answers.
    pub(crate) connected: bool,
    /// At a hub: the daemon that has the board, where it is not there, and so nobody knows how the board is.
    pub(crate) away: Option<String>,
    /// The arbiter does not want to see it any more.
    pub(crate) forgotten: bool,
    /// Charge of its own battery in percent.
    pub(crate) battery: Option<u8>,
    /// What the sensors show.
    pub(crate) placement: Board,
    /// The pieces after the last move that was published; `None` before a start position was set up.
    pub(crate) expected: Option<Board>,
    /// What the clock shows; nothing while the board is not there.
    pub(crate) clock: ClockPicture,
    /// How its clock stands.
    pub(crate) levers: Levers,
    /// What its squares did since the last sight.
    pub(crate) seen: Seen,
}

/// How a clock stands, seen from its front.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Levers {
    /// The side on which the lever is up; `None`: there is no clock.
    pub(crate) up: Option<Side>,
    /// White's side; `None`: nobody knows.
    pub(crate) white: Option<Side>,
}

impl Sight {
    /// Whether somebody who was told of this has to be told of another one.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        let same_but_clock = Self {
            clock: self.clock,
            seen: self.seen,
            ..other.clone()
        };
        !other.seen.is_nothing() || *self != same_but_clock || self.clock.differs(&other.clock)
    }

    pub(crate) const fn is_there(&self) -> bool {
        self.connected && !self.forgotten
    }
}
