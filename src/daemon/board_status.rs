//! Board statuses for clients in the hall.

use kiebitz_game::hall::Hall;
use kiebitz_hardware::Timestamp;

use super::pairings::Pairings;
use crate::outputs::feeds::Feeds;
use crate::outputs::shared::board_status::BoardStatus;

/// Passes the statuses of the named boards to the outputs that follow them.
pub(super) fn show<'n>(
    feeds: &mut Feeds,
    now: Timestamp,
    hall: &mut Hall,
    pairings: &Pairings,
    names: impl IntoIterator<Item = &'n String>,
) {
    if !feeds.wants_statuses() {
        return;
    }
    for name in names {
        let seen = hall.take_seen(name);
        if let Some(board) = hall.board(name) {
            let mut status = BoardStatus::of(board, pairings.table(name), seen);
            status.same_number = hall.namesakes(name).map(str::to_owned).collect();
            feeds.see(now, status);
        }
    }
}
