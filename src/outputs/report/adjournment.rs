//! Data for the envelope of an adjourned game.

use super::model::{Adjournment, TimeUsed};
use super::position::QuietPlies;
use crate::outputs::shared::numbering::Numbering;
use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{Clock, EndReason};
use shakmaty::Color;

/// Collects the data for the envelope. `shown` is the last clock reading. `None` if the game is over, unless it was
/// adjourned.
pub(super) fn of(record: &GameRecord, shown: Option<Clock>) -> Option<Adjournment> {
    if record.ended.is_some() && record.reason != Some(EndReason::Adjourned) {
        return None;
    }
    let last = record.moves.last();
    let played = last.map_or(0, |entry| entry.ply);
    let (move_number, color) = Numbering::of(&record.start_fen).number(played.saturating_add(1));
    Some(Adjournment {
        fen: record.fen.clone(),
        start_fen: record.start_fen.clone(),
        color,
        move_number,
        unsettled: last.is_some_and(|entry| entry.settled.is_none()),
        time_control: record.time_control.clone(),
        white: used(record, shown, Color::White),
        black: used(record, shown, Color::Black),
        half_moves: QuietPlies::of(record).after(played),
    })
}

fn used(record: &GameRecord, shown: Option<Clock>, color: Color) -> TimeUsed {
    let left_ms = shown.map(|clock| clock.times_ms()[color]);
    let mut used = TimeUsed {
        left_ms,
        ..TimeUsed::default()
    };
    for entry in record.moves.iter().filter(|entry| entry.color == color) {
        match entry.elapsed_ms {
            Some(elapsed) => used.used_ms = used.used_ms.saturating_add(elapsed),
            None => used.untimed += 1,
        }
    }
    used
}
