//! State of one board during the inspection.

use kiebitz_game::hall::Board as WatchedBoard;
use kiebitz_game::laws::Regulations;
use kiebitz_game::position::Orientation;
use kiebitz_hardware::{Identity, Observation, Observed, Timestamp};
use kiebitz_protocol::{BatteryStatus, ClockTimes, Dump};
use shakmaty::{Board, Piece, Square};

/// A board that has answered, and everything that it has reported.
#[derive(Debug)]
pub(super) struct FoundBoard {
    pub(super) identity: Identity,
    pub(super) clock: FoundClock,
    /// `None` until the board reports its battery.
    pub(super) battery: Option<BatteryStatus>,
    /// Last dump; `None` until the first.
    dump: Option<Dump>,
    first_dump_at: Option<Timestamp>,
    /// Derives placement and orientation. The orientation becomes known when the board shows a start position.
    watched: WatchedBoard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundClock {
    /// The board has not reported on its clock yet.
    Unknown,
    /// The board reports that no clock is connected.
    Absent,
    Shows(ClockTimes),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BoardChange {
    /// The board answers for the first time, or again.
    Appeared,
    /// The board has stopped answering, for this reason.
    Disappeared(String),
    Square(Square, Option<Piece>),
    /// More squares changed at once than one move can change.
    Position,
    /// The clock was plugged in, unplugged, started, stopped or set, or its lever or its battery warning changed.
    Clock,
    /// The charge or the charging state of the board's battery changed.
    Battery,
}

impl FoundBoard {
    pub(super) fn new() -> Self {
        Self {
            identity: Identity::default(),
            clock: FoundClock::Unknown,
            battery: None,
            dump: None,
            first_dump_at: None,
            watched: WatchedBoard::new("", "", Regulations::default()),
        }
    }

    pub(super) fn first_dump_at(&self) -> Option<Timestamp> {
        self.first_dump_at
    }

    /// Returns the placement; `None` until the first dump.
    pub(super) fn placement(&self) -> Option<&Board> {
        self.dump.is_some().then(|| self.watched.placement())
    }

    /// Returns the side on which White sits; `None` until a start position shows it.
    pub(super) fn orientation(&self) -> Option<Orientation> {
        self.watched.orientation()
    }

    /// Returns whether the board seems to sense only occupied squares, not the kinds of pieces: all its pieces are the
    /// same, and there are more of them than a game can have.
    pub(super) fn senses_occupancy_only(&self) -> bool {
        let Some(dump) = &self.dump else { return false };
        let mut pieces = dump.iter().flatten();
        let Some(first) = pieces.next() else { return false };
        let others: Vec<_> = pieces.collect();
        others.len() >= MAX_PIECES_OF_A_KIND && others.iter().all(|piece| *piece == first)
    }

    pub(super) fn observe(&mut self, observed: &Observed) -> Vec<BoardChange> {
        let before = self.placement().cloned();
        self.update_watched(observed);
        let mut changes = Vec::new();
        match &observed.observation {
            Observation::Identified(identity) => self.identity.clone_from(identity),
            Observation::Board { dump, .. } => {
                self.dump = Some(*dump);
                self.first_dump_at.get_or_insert(observed.at);
            }
            Observation::Clock { times, .. } => changes.extend(self.update_clock(FoundClock::Shows(*times))),
            Observation::ClockAbsent => changes.extend(self.update_clock(FoundClock::Absent)),
            Observation::Battery(battery) => {
                let before = self.battery.replace(*battery);
                let changed = before.is_some_and(|before| {
                    (before.percent, before.status) != (battery.percent, battery.status)
                });
                changes.extend(changed.then_some(BoardChange::Battery));
            }
            _ => {}
        }
        if let (Some(before), Some(after)) = (before, self.placement()) {
            changes.extend(differences(&before, after));
        }
        changes
    }

    /// Updates the watched board and drops its events, because only placement and orientation are needed.
    fn update_watched(&mut self, observed: &Observed) {
        self.watched.observe(observed);
        self.watched.take_events();
    }

    fn update_clock(&mut self, shown: FoundClock) -> Option<BoardChange> {
        let before = core::mem::replace(&mut self.clock, shown);
        let changed = match (before, shown) {
            (FoundClock::Unknown, _) => false,
            (FoundClock::Shows(before), FoundClock::Shows(now)) => {
                before.running != now.running
                    || before.lever_right_high != now.lever_right_high
                    || before.battery_low != now.battery_low
                    // The times of a stopped clock change only if somebody sets it.
                    || (!now.running && !before.running && before != now)
            }
            (before, now) => before != now,
        };
        changed.then_some(BoardChange::Clock)
    }
}

fn differences(before: &Board, after: &Board) -> Vec<BoardChange> {
    let squares: Vec<Square> = Square::ALL
        .into_iter()
        .filter(|square| before.piece_at(*square) != after.piece_at(*square))
        .collect();
    if squares.len() > MAX_MOVE_SQUARES {
        return vec![BoardChange::Position];
    }
    let changes = squares
        .into_iter()
        .map(|square| BoardChange::Square(square, after.piece_at(square)));
    changes.collect()
}

/// Most squares that one move changes: four, in castling.
const MAX_MOVE_SQUARES: usize = 4;
/// Most pieces of one kind and colour in a game: two rooks and eight promoted pawns.
const MAX_PIECES_OF_A_KIND: usize = 10;

#[cfg(test)]
mod tests {
    use kiebitz_protocol::{Field, FieldUpdate, Piece as WirePiece};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_789_000_000_000_000);

    fn observed(observation: Observation) -> Observed {
        Observed { at: NOW, observation }
    }

    fn board(dump: Dump) -> Observed {
        observed(Observation::Board {
            dump,
            not_before: NOW,
        })
    }

    fn lifted(number: u8) -> Observed {
        observed(Observation::Field {
            update: FieldUpdate::new(Field::new(number).unwrap(), None),
            not_before: NOW,
        })
    }

    #[test]
    fn a_board_that_senses_occupancy_only_is_recognized() {
        let mut found = FoundBoard::new();
        assert!(!found.senses_occupancy_only());
        let mut dump = [None; 64];
        dump[..16].fill(Some(WirePiece::WhitePawn));
        found.observe(&board(dump));
        assert!(found.senses_occupancy_only());
        dump[4] = Some(WirePiece::BlackKing);
        found.observe(&board(dump));
        assert!(!found.senses_occupancy_only());
    }

    #[test]
    fn the_first_dump_is_not_a_change_but_a_lifted_piece_is() {
        let mut found = FoundBoard::new();
        let mut dump = [None; 64];
        (dump[60], dump[4]) = (Some(WirePiece::WhiteKing), Some(WirePiece::BlackKing));
        assert_eq!(found.observe(&board(dump)), []);
        assert_eq!(
            found.observe(&lifted(60)),
            [BoardChange::Square(Square::E1, None)]
        );
        assert_eq!(found.observe(&lifted(60)), []);
    }

    #[test]
    fn setting_up_another_position_is_one_change() {
        let mut found = FoundBoard::new();
        found.observe(&board([None; 64]));
        let mut dump = [None; 64];
        dump[40..48].fill(Some(WirePiece::WhitePawn));
        assert_eq!(found.observe(&board(dump)), [BoardChange::Position]);
    }

    #[test]
    fn a_ticking_clock_is_not_a_change_but_a_stop_is() {
        let mut found = FoundBoard::new();
        let clock = |seconds: u8, running: bool| {
            let mut times = ClockTimes {
                running,
                ..ClockTimes::default()
            };
            times.left.seconds = seconds;
            observed(Observation::Clock {
                times,
                not_before: NOW,
            })
        };
        assert_eq!(found.observe(&clock(30, true)), []);
        assert_eq!(found.observe(&clock(29, true)), []);
        assert_eq!(found.observe(&clock(29, false)), [BoardChange::Clock]);
        assert_eq!(found.observe(&clock(45, false)), [BoardChange::Clock]);
        assert_eq!(
            found.observe(&observed(Observation::ClockAbsent)),
            [BoardChange::Clock]
        );
    }
}
