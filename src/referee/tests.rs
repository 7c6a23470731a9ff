//! What the tests of this room share.

pub(super) mod table;

use crate::events::EventKind;
use crate::laws::Edition;
use crate::tracker::{Finding, Side};
use table::Table;

#[test]
fn whites_side_of_the_clock_is_told_when_a_press_shows_it() {
    let mut table = Table::new(Edition::Fide2023);
    let sides = |table: &mut Table| {
        let rulings = table.referee.take_rulings().into_iter();
        let sides = rulings.filter_map(|ruling| match ruling.event {
            EventKind::GameStarted { white_side, .. } => Some((white_side, false)),
            EventKind::ClockSides { white_side } => Some((Some(white_side), ruling.game.is_some())),
            _ => None,
        });
        sides.collect::<Vec<_>>()
    };
    table.plays("e4");
    assert_eq!(sides(&mut table), [(None, false)]);
    for side in [Side::Left, Side::Left, Side::Right] {
        table.finds(Finding::WhiteSide(side));
    }
    assert_eq!(
        sides(&mut table),
        [(Some(Side::Left), true), (Some(Side::Right), true)]
    );
    // Where it is known before, the game says it.
    let mut table = Table::new(Edition::Fide2023);
    table.finds(Finding::WhiteSide(Side::Left)).plays("e4");
    assert_eq!(sides(&mut table), [(Some(Side::Left), false)]);
}
