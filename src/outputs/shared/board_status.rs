//! How a board is at a moment: what MQTT publishes of it, and what those in the hall see.

use kiebitz_game::clock::{ClockFace, Side};
use kiebitz_game::hall;
use kiebitz_game::position::{Orientation, Seen};
use shakmaty::{Bitboard, Board};

use crate::clock::ClockView;

/// What stands on a board and its clock at a moment.
#[derive(Debug, Clone, Copy)]
pub struct BoardView<'a> {
    /// What the sensors show.
    pub placement: &'a Board,
    /// The placement after the last ply published, and the squares that differ from it.
    pub expected: Option<(&'a Board, Bitboard)>,
    /// What the clock shows.
    pub clock: Option<ClockFace>,
    /// How White sits.
    pub orientation: Option<Orientation>,
    /// Version of the board's firmware, major and minor number. A board on a bus gives it after it has connected.
    pub version: Option<(u8, u8)>,
    /// Charge of the board's own battery in percent.
    pub battery: Option<u8>,
    /// The table that it stands at.
    pub table: Option<u32>,
}

/// How a board is at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoardStatus {
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
    pub(crate) clock: ClockView,
    /// How its clock stands.
    pub(crate) levers: Levers,
    /// What its squares did since the last board status.
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

impl<'a> BoardView<'a> {
    /// The view of a board, without its table.
    #[must_use]
    pub fn of(board: &'a hall::Board) -> Self {
        Self {
            placement: board.placement(),
            expected: board.expected(),
            clock: board.clock(),
            orientation: board.orientation(),
            version: board.version(),
            battery: board.battery(),
            table: None,
        }
    }

    /// The same at a table.
    #[must_use]
    pub const fn at_table(mut self, table: Option<u32>) -> Self {
        self.table = table;
        self
    }
}

impl BoardStatus {
    /// Of a board of the hall, without what only the hall knows.
    pub(crate) fn of(board: &hall::Board, table: Option<u32>, seen: Seen) -> Self {
        let view = BoardView::of(board);
        let connected = board.is_connected();
        Self {
            name: board.name().to_owned(),
            serial: board.serial().map(str::to_owned),
            same_number: Vec::new(),
            port: board.port().to_owned(),
            table,
            connected,
            away: None,
            forgotten: board.is_forgotten(),
            battery: view.battery,
            placement: view.placement.clone(),
            expected: view.expected.map(|(expected, _)| expected.clone()),
            clock: ClockView::new(view.clock.filter(|_| connected)),
            levers: Levers {
                up: board.lever_up().filter(|_| connected),
                white: board.white_side(),
            },
            seen,
        }
    }

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
