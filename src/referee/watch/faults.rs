//! Boards and sensors that fail: squares that report changes nobody makes, a board that is disconnected.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Square};

use super::book::{Number, ResumedIncident};
use super::{Desk, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// A faulty square is judged by its changes within this time.
const WINDOW: Duration = Duration::from_secs(8);
/// Players change a square less often, even where pieces are captured one after the other.
const MIN_FAULTY_CHANGES: usize = 11;
/// At least this many of the changes bring back the piece that stands there.
const MIN_FAULTY_RETURNS: usize = 5;
/// A square that has shown the same for at least this long is sound again.
const MIN_QUIET: Duration = Duration::from_secs(10);
/// From this many changes on, other watchers set the square aside.
const MIN_DOUBTFUL_CHANGES: usize = 5;

/// Follows squares that flicker, and the board's absence.
#[derive(Debug, Default)]
pub(super) struct Faults {
    squares: Vec<(Number, Square)>,
    doubtful: Bitboard,
    away: Option<Number>,
    wake: Option<Timestamp>,
}

impl Faults {
    /// Squares that cannot be trusted.
    pub(super) fn squares(&self) -> Bitboard {
        let faulty: Bitboard = self.squares.iter().map(|(_, square)| *square).collect();
        faulty | self.doubtful
    }

    pub(super) fn resume(&mut self, known: &ResumedIncident) {
        match known.squares.single_square() {
            Some(square) => self.squares.push((known.number, square)),
            None => self.away = Some(known.number),
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, desk: &mut Desk<'_>, news: &News) {
        let now = desk.now();
        match news {
            News::Away if desk.game.begun && self.away.is_none() => {
                let report = desk.report(Situation::BoardDisconnected, now);
                self.away = Some(desk.open(report));
            }
            News::Squares => self.inspect(desk),
            _ => {}
        }
        if !matches!(news, News::Away) {
            self.back(desk, matches!(news, News::Back | News::Started));
        }
        self.recover(desk);
    }

    /// The board is back, and what it shows is explained.
    fn back(&mut self, desk: &mut Desk<'_>, explained: bool) {
        if let Some(number) = self.away.take_if(|_| explained || !desk.trace.blind) {
            desk.book
                .close(desk.game.now, number, ClosedBy::Board, IncidentEnd::Restored);
        }
    }

    fn inspect(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        let since = now.saturating_sub(WINDOW);
        let mut counts = [(0_usize, 0_usize); 64];
        for shown in desk.trace.since(since) {
            let (changes, returns) = &mut counts[usize::from(shown.square)];
            *changes += 1;
            let rests = desk.game.tip().and_then(|tip| tip.board().piece_at(shown.square));
            *returns += usize::from(shown.after == rests);
        }
        self.doubtful = Square::ALL
            .into_iter()
            .filter(|square| {
                let (changes, returns) = counts[usize::from(*square)];
                changes >= MIN_DOUBTFUL_CHANGES && returns >= 2
            })
            .collect();
        if !desk.sees_play() {
            return;
        }
        for square in Square::ALL {
            let (changes, returns) = counts[usize::from(square)];
            let known = self.squares.iter().any(|(_, known)| *known == square);
            if changes >= MIN_FAULTY_CHANGES && returns >= MIN_FAULTY_RETURNS && !known {
                let from = desk
                    .trace
                    .since(since)
                    .find(|shown| shown.square == square)
                    .map_or(now, |shown| shown.at);
                let report = desk.report(Situation::SensorFault { square }, from).on(square);
                let number = desk.open(report);
                self.squares.push((number, square));
            }
        }
    }

    fn recover(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now();
        self.wake = None;
        for (number, square) in core::mem::take(&mut self.squares) {
            let sound_at = desk.trace.changed_at(square) + MIN_QUIET;
            if now >= sound_at {
                desk.book.close(now, number, ClosedBy::Board, IncidentEnd::Passed);
            } else {
                self.squares.push((number, square));
                self.wake = Some(self.wake.map_or(sound_at, |wake| wake.min(sound_at)));
            }
        }
        if self.doubtful.any() && self.squares.is_empty() {
            // A square is trusted again when it has been quiet.
            let since = now.saturating_sub(WINDOW);
            let trace = desk.trace;
            self.doubtful = self
                .doubtful
                .into_iter()
                .filter(|square| trace.changes_of(*square, since) >= MIN_DOUBTFUL_CHANGES)
                .collect();
        }
    }
}
