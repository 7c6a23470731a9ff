//! What boards show at a moment, for programs in the hall.

use kiebitz_game::hall::{Board, Hall};
use kiebitz_game::position::Seen;
use kiebitz_hardware::Timestamp;

use super::pairings::Pairings;
use crate::clock::ClockPicture;
use crate::outputs::feeds::Feeds;
use crate::outputs::shared::sight::{Levers, Sight};

/// Shows those of these names to who wants to see them.
pub(super) fn show<'n>(
    feeds: &mut Feeds,
    now: Timestamp,
    hall: &mut Hall,
    pairings: &Pairings,
    names: impl IntoIterator<Item = &'n String>,
) {
    if !feeds.wants_sights() {
        return;
    }
    for name in names {
        let seen = hall.take_seen(name);
        if let Some(board) = hall.board(name) {
            let mut sight = sight(board, pairings.table(name), seen);
            sight.same_number = hall.namesakes(name).map(str::to_owned).collect();
            feeds.see(now, sight);
        }
    }
}

/// How a board is at a moment, without what only the hall knows.
pub(crate) fn sight(board: &Board, table: Option<u32>, seen: Seen) -> Sight {
    let connected = board.is_connected();
    Sight {
        name: board.name().to_owned(),
        serial: board.serial().map(str::to_owned),
        same_number: Vec::new(),
        port: board.port().to_owned(),
        table,
        connected,
        away: None,
        forgotten: board.is_forgotten(),
        battery: board.battery(),
        placement: board.placement().clone(),
        expected: board.expected().map(|(expected, _)| expected.clone()),
        clock: ClockPicture::new(board.clock().filter(|_| connected)),
        levers: Levers {
            up: board.lever_up().filter(|_| connected),
            white: board.white_side(),
        },
        seen,
    }
}
