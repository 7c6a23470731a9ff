//! What is known of one board that was looked at.

use kiebitz_hardware::{Identity, Observation, Observed, Timestamp};
use kiebitz_protocol::{BatteryStatus, ClockTimes, Dump};
use shakmaty::{Board, Piece, Square};

use crate::tracker::{Orientation, Tracker};

/// A board, as far as it has told.
#[derive(Debug)]
pub(super) struct FoundBoard {
    pub(super) identity: Identity,
    pub(super) clock: FoundClock,
    /// `None`: it has told nothing of one.
    pub(super) battery: Option<BatteryStatus>,
    /// Its last dump; `None` before the first.
    dump: Option<Dump>,
    /// When the first one came.
    shown_at: Option<Timestamp>,
    /// It knows where White sits, once a start position has shown it.
    tracker: Tracker,
}

/// What is known of the clock beside a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundClock {
    /// The board has not said anything of it.
    Unknown,
    /// The board says that there is none.
    Absent,
    /// What it shows.
    Shows(ClockTimes),
}

/// Something about a board that came to be otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// The board is there.
    Came,
    /// The board is not there any more.
    Left(String),
    /// A square shows something else.
    Square(Square, Option<Piece>),
    /// More squares than a move changes show something else.
    Position,
    /// The clock was plugged in or out, started or stopped, or its lever went over.
    Clock,
    /// The battery has more or less charge.
    Battery,
}

impl FoundBoard {
    pub(super) fn new() -> Self {
        Self {
            identity: Identity::default(),
            clock: FoundClock::Unknown,
            battery: None,
            dump: None,
            shown_at: None,
            tracker: Tracker::new(),
        }
    }

    /// When it first showed what stands on it.
    pub(super) fn shown_at(&self) -> Option<Timestamp> {
        self.shown_at
    }

    /// What stands on the board; `None` until it has told.
    pub(super) fn placement(&self) -> Option<&Board> {
        self.dump.is_some().then(|| self.tracker.placement())
    }

    /// Where White sits; `None`: nothing has shown it.
    pub(super) fn orientation(&self) -> Option<Orientation> {
        self.tracker.orientation()
    }

    /// Whether the board seems to know only that something stands on a square, not what: every piece on it, of more
    /// than there can be of any kind, is the same.
    pub(super) fn senses_occupancy_only(&self) -> bool {
        let Some(dump) = &self.dump else { return false };
        let mut pieces = dump.iter().flatten();
        let Some(first) = pieces.next() else { return false };
        let others: Vec<_> = pieces.collect();
        others.len() >= MOST_OF_A_KIND && others.iter().all(|piece| *piece == first)
    }

    /// Takes in what was learned and tells what it changes in what was known.
    pub(super) fn observe(&mut self, observed: &Observed) -> Vec<Change> {
        let before = self.placement().cloned();
        self.follow(observed);
        let mut changes = Vec::new();
        match &observed.observation {
            Observation::Identified(identity) => self.identity.clone_from(identity),
            Observation::Board { dump, .. } => {
                self.dump = Some(*dump);
                self.shown_at.get_or_insert(observed.at);
            }
            Observation::Clock { times, .. } => changes.extend(self.show_clock(FoundClock::Shows(*times))),
            Observation::ClockAbsent => changes.extend(self.show_clock(FoundClock::Absent)),
            Observation::Battery(battery) => {
                let before = self.battery.replace(*battery);
                let news = before.is_some_and(|before| {
                    (before.percent, before.status) != (battery.percent, battery.status)
                });
                changes.extend(news.then_some(Change::Battery));
            }
            _ => {}
        }
        if let (Some(before), Some(after)) = (before, self.placement()) {
            changes.extend(differences(&before, after));
        }
        changes
    }

    /// The tracker is asked for nothing but the placement; what it finds out about moves is dropped.
    fn follow(&mut self, observed: &Observed) {
        while let Some(due) = self.tracker.poll_deadline().filter(|due| *due <= observed.at) {
            self.tracker.handle_deadline(due);
        }
        self.tracker.observe(observed);
        while self.tracker.poll_finding().is_some() {}
    }

    fn show_clock(&mut self, shown: FoundClock) -> Option<Change> {
        let before = core::mem::replace(&mut self.clock, shown);
        let news = match (before, shown) {
            (FoundClock::Unknown, _) => false,
            (FoundClock::Shows(before), FoundClock::Shows(now)) => {
                before.running != now.running
                    || before.lever_right_high != now.lever_right_high
                    || before.battery_low != now.battery_low
                    // A clock that stands shows another time only when somebody has set it.
                    || (!now.running && !before.running && before != now)
            }
            (before, now) => before != now,
        };
        news.then_some(Change::Clock)
    }
}

fn differences(before: &Board, after: &Board) -> Vec<Change> {
    let squares: Vec<Square> = Square::ALL
        .into_iter()
        .filter(|square| before.piece_at(*square) != after.piece_at(*square))
        .collect();
    if squares.len() > MOST_OF_A_MOVE {
        return vec![Change::Position];
    }
    let told = squares
        .into_iter()
        .map(|square| Change::Square(square, after.piece_at(square)));
    told.collect()
}

/// No more than so many squares change with one move: castling.
const MOST_OF_A_MOVE: usize = 4;
/// Eight pawns or, where all have been promoted, nine queens and ten rooks.
const MOST_OF_A_KIND: usize = 10;

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
    fn a_board_that_knows_no_pieces_is_recognised() {
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
    fn the_first_dump_is_no_change_and_a_lifted_piece_is_one() {
        let mut found = FoundBoard::new();
        let mut dump = [None; 64];
        (dump[60], dump[4]) = (Some(WirePiece::WhiteKing), Some(WirePiece::BlackKing));
        assert_eq!(found.observe(&board(dump)), []);
        assert_eq!(found.observe(&lifted(60)), [Change::Square(Square::E1, None)]);
        assert_eq!(found.observe(&lifted(60)), []);
    }

    #[test]
    fn a_board_set_up_anew_is_one_change() {
        let mut found = FoundBoard::new();
        found.observe(&board([None; 64]));
        let mut dump = [None; 64];
        dump[40..48].fill(Some(WirePiece::WhitePawn));
        assert_eq!(found.observe(&board(dump)), [Change::Position]);
    }

    #[test]
    fn a_ticking_clock_is_no_change_and_a_stopped_one_is() {
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
        assert_eq!(found.observe(&clock(29, false)), [Change::Clock]);
        assert_eq!(found.observe(&clock(45, false)), [Change::Clock]);
        assert_eq!(
            found.observe(&observed(Observation::ClockAbsent)),
            [Change::Clock]
        );
    }
}
