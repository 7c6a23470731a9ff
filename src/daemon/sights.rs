//! What boards show at a moment, for programs in the hall.

use kiebitz_hardware::Timestamp;

use crate::feeds::Feeds;
use crate::hall::Board;
use crate::output::mqtt::BoardView;
use crate::output::mqtt::payload::ClockPicture;
use crate::output::sight::Sight;

/// Shows them to who wants to see them.
pub(super) fn show<'b>(feeds: &mut Feeds, now: Timestamp, boards: impl Iterator<Item = &'b Board>) {
    if feeds.wants_sights() {
        boards.for_each(|board| feeds.see(now, sight(board)));
    }
}

fn sight(board: &Board) -> Sight {
    let view = BoardView::new(board.tracker(), None, None).later_by(board.ahead());
    let connected = board.is_connected();
    Sight {
        name: board.name().to_owned(),
        serial: board.serial().map(str::to_owned),
        port: board.port().to_owned(),
        connected,
        forgotten: board.is_forgotten(),
        battery: board.battery(),
        placement: view.placement.clone(),
        expected: view.expected.map(|(expected, _)| expected.clone()),
        clock: ClockPicture::new(view.clock.filter(|_| connected)),
    }
}
