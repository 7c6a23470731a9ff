//! Faults of boards and sensors: squares that report changes without a cause, and disconnected boards.

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, Square};

use super::book::{Number, ResumedIncident};
use super::{Context, News};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::Situation;

/// Watches for flickering squares and disconnections.
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

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        let now = context.now();
        match news {
            News::Away if context.game.begun && self.away.is_none() => {
                let report = context.report(Situation::BoardDisconnected, now);
                self.away = Some(context.open(report));
            }
            News::Squares => self.inspect(context),
            _ => {}
        }
        if !matches!(news, News::Away) {
            self.close_disconnection(context, matches!(news, News::Back(_) | News::Started));
        }
        self.recover(context);
    }

    /// Closes the incident of a disconnection once the board is back and its changes are explained.
    fn close_disconnection(&mut self, context: &mut Context<'_>, explained: bool) {
        if let Some(number) = self.away.take_if(|_| explained || !context.acts.is_blind()) {
            context
                .book
                .close(context.game.now, number, ClosedBy::Board, IncidentEnd::Restored);
        }
    }

    fn inspect(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let flicker = context
            .acts
            .flicker(now, context.game.tip().map(|tip| tip.board()));
        self.doubtful = flicker.doubtful;
        if !context.sees_play() {
            return;
        }
        let known: Bitboard = self.squares.iter().map(|(_, square)| *square).collect();
        for square in flicker.faulty.without(known) {
            let from = context.acts.flickers_since(now, square);
            let report = context.report(Situation::SensorFault { square }, from).on(square);
            let number = context.open(report);
            self.squares.push((number, square));
        }
    }

    fn recover(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        self.wake = None;
        for (number, square) in core::mem::take(&mut self.squares) {
            let sound_at = context.acts.sound_at(square);
            if now >= sound_at {
                context
                    .book
                    .close(now, number, ClosedBy::Board, IncidentEnd::Passed);
            } else {
                self.squares.push((number, square));
                self.wake = Some(self.wake.map_or(sound_at, |wake| wake.min(sound_at)));
            }
        }
        if self.doubtful.any() && self.squares.is_empty() {
            // A square is trusted again when it has been quiet.
            self.doubtful = context.acts.still_doubtful(now, self.doubtful);
        }
    }
}
