//! Published plies with their evidence and the alternatives.

use core::time::Duration;

use kiebitz_game::events::{
    Caution, EventKind, ExplainedEvent, Grounds, Ply, Rival, SensorChange, SquareChange, rfc3339,
};
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::Square;

#[derive(Debug, Serialize)]
pub(super) struct PublishedPly {
    ply: u32,
    san: Option<String>,
    uci: Option<String>,
    /// The ply was retracted or corrected later.
    withdrawn: bool,
    inferred: bool,
    #[serde(serialize_with = "rfc3339")]
    at: Timestamp,
    /// Time at which the mover's piece left its square.
    #[serde(serialize_with = "rfc3339")]
    lifted_at: Timestamp,
    /// Time since which the board showed the ply.
    #[serde(serialize_with = "rfc3339")]
    stood_at: Timestamp,
    /// The reason for publishing; `None` if an arbiter entered the ply.
    grounds: Option<Decided>,
    /// The remaining doubt about a ply that had stood long enough.
    caution: Option<PlyDoubt>,
    /// Minimum time for which the ply had stood in milliseconds, if that was the reason for publishing.
    stood_ms: Option<u64>,
    changes: Vec<SquareChange>,
    /// Squares that differed from the ply when it was published.
    differs: Vec<String>,
    others: Vec<Other>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Decided {
    Press,
    Reply,
    Stood,
    OnlyLine,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum PlyDoubt {
    NothingFollows,
    MayGoBack,
    MayGoOn,
    MayBeDrawn,
    MayCastle,
}

/// A line of play that was not published.
#[derive(Debug, Serialize)]
struct Other {
    /// Number of its last ply.
    ply: u32,
    /// Its last ply in SAN or UCI; `None` if the line has no ply.
    name: Option<String>,
    /// Number of squares on which the line differed from the board.
    differs: usize,
    /// Number of plies that the line would have withdrawn.
    withdraws: usize,
    stood_ms: u64,
}

/// Adds a published ply, or marks plies as withdrawn.
pub(super) fn add_event(readings: &mut Vec<PublishedPly>, explained: &ExplainedEvent) {
    let (from, published) = match &explained.event.kind {
        EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => {
            (played.ply, explained.ply.as_deref())
        }
        EventKind::MoveRetracted { ply, .. } => (*ply, None),
        _ => return,
    };
    for old in readings.iter_mut().filter(|old| old.ply >= from) {
        old.withdrawn = true;
    }
    readings.extend(published.map(|ply| PublishedPly::of(ply, explained.event.ts)));
}

/// Time at which each ply that was not withdrawn began: when the first square was touched for it.
pub(super) fn begins(readings: &[PublishedPly]) -> Vec<(u32, Timestamp)> {
    let mut begins: Vec<(u32, Timestamp)> = Vec::new();
    for reading in readings.iter().filter(|reading| !reading.withdrawn) {
        let touched = reading.changes.first().map(|change| change.at);
        let begun = touched.map_or(reading.lifted_at, |touched| touched.min(reading.lifted_at));
        let before = begins.last().map(|(_, before)| *before);
        begins.push((reading.ply, before.map_or(begun, |before| begun.max(before))));
    }
    begins
}

impl PublishedPly {
    fn of(ply: &Ply, at: Timestamp) -> Self {
        let evidence = &ply.evidence;
        let (grounds, caution, stood) = match evidence.grounds {
            None => (None, None, None),
            Some(Grounds::Press) => (Some(Decided::Press), None, None),
            Some(Grounds::Reply) => (Some(Decided::Reply), None, None),
            Some(Grounds::OnlyLine) => (Some(Decided::OnlyLine), None, None),
            Some(Grounds::Stood(stood, caution)) => (Some(Decided::Stood), Some(doubt(caution)), Some(stood)),
        };
        Self {
            ply: ply.number,
            san: ply.san.clone(),
            uci: ply.uci.as_ref().map(ToString::to_string),
            withdrawn: false,
            inferred: ply.inferred,
            at,
            lifted_at: ply.lifted_at,
            stood_at: ply.stood_at,
            grounds,
            caution,
            stood_ms: stood.map(millis),
            changes: evidence.changes.iter().map(change).collect(),
            differs: evidence.differs.iter().map(Square::to_string).collect(),
            others: evidence.others.iter().map(Other::of).collect(),
        }
    }
}

impl Other {
    fn of(rival: &Rival) -> Self {
        Self {
            ply: rival.ply,
            name: rival.name.clone(),
            differs: rival.differs,
            withdraws: rival.withdraws,
            stood_ms: millis(rival.stood),
        }
    }
}

const fn doubt(caution: Caution) -> PlyDoubt {
    match caution {
        Caution::NothingFollows => PlyDoubt::NothingFollows,
        Caution::MayGoBack => PlyDoubt::MayGoBack,
        Caution::MayGoOn => PlyDoubt::MayGoOn,
        Caution::MayBeDrawn => PlyDoubt::MayBeDrawn,
        Caution::MayCastle => PlyDoubt::MayCastle,
    }
}

fn change(change: &SensorChange) -> SquareChange {
    SquareChange {
        at: change.when.at,
        square: change.square.to_string(),
        piece: change.after.map(|piece| piece.char().to_string()),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::CorrectionReason;
    use kiebitz_game::events::samples::event;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    /// A ply, optionally with a square that was touched before its piece was lifted.
    fn reading(ply: u32, touched: Option<i64>, lifted: i64) -> PublishedPly {
        let change = |second| SquareChange {
            at: at(second),
            square: "e2".to_owned(),
            piece: None,
        };
        PublishedPly {
            ply,
            san: None,
            uci: None,
            withdrawn: false,
            inferred: false,
            at: at(lifted + 2),
            lifted_at: at(lifted),
            stood_at: at(lifted + 1),
            grounds: None,
            caution: None,
            stood_ms: None,
            changes: touched.map(change).into_iter().collect(),
            differs: Vec::new(),
            others: Vec::new(),
        }
    }

    #[test]
    fn a_ply_begins_with_the_first_square_touched_for_it() {
        let mut readings = vec![
            reading(1, Some(10), 12),
            reading(2, None, 20),
            // A ply does not begin before its predecessor.
            reading(3, Some(15), 16),
        ];
        assert_eq!(begins(&readings), [(1, at(10)), (2, at(20)), (3, at(20))]);
        readings[1].withdrawn = true;
        assert_eq!(begins(&readings), [(1, at(10)), (3, at(15))]);
    }

    #[test]
    fn a_retracted_ply_is_listed_as_withdrawn() {
        let mut readings = vec![reading(1, None, 1), reading(2, None, 2), reading(3, None, 3)];
        let reason = CorrectionReason::Takeback;
        let explained = ExplainedEvent {
            event: event(9, EventKind::MoveRetracted { ply: 2, reason }),
            ply: None,
            odds: None,
        };
        add_event(&mut readings, &explained);
        let withdrawn: Vec<bool> = readings.iter().map(|reading| reading.withdrawn).collect();
        assert_eq!(withdrawn, [false, true, true]);
    }
}
