//! Watches for incidents: opens them on evidence, updates them and closes them.
//!
//! The watchers handle the findings in order, each with the line of play after the finding and the content of the
//! squares. Each watcher has one kind of incident, or a few related ones. The Laws ([`crate::laws`]) assess a
//! situation. If the board cannot see something, its incident is only a hint.

mod arithmetic;
mod book;
mod castling;
mod claims;
mod context;
mod displaced;
mod early;
mod fault;
mod faults;
mod hands;
mod jolts;
mod late;
mod lost;
mod moves;
mod news;
mod position;
mod press;
mod promotion;
mod setup;
mod status;
mod times;
mod touch;
mod unseen;

use kiebitz_hardware::Timestamp;
use shakmaty::{Bitboard, ByColor, Color};

use super::LineEntry;
use crate::acts::Acts;
use crate::clock::{Clock, ClockChange};
use crate::command::CloseIncident;
use crate::events::incidents::{Decided, Incidents};
use crate::events::{ClosedBy, CompletedBy, CorrectionReason, Decision, EventKind, IncidentEnd};
use crate::laws::{IncidentKind, Situation};
use crate::model::Model;
use crate::tracker::Snapshot;
use book::{Book, Closing, Offences, Report, ResumedIncident};
use context::Context;
pub(super) use news::News;
pub(super) use status::GameStatus;

/// All watchers of one board.
#[derive(Debug, Default)]
pub(super) struct Watch {
    acts: Acts,
    book: Book,
    offences: Offences,
    /// Number of the last incident before the pieces were set up for this game.
    game_since: u64,
    face: Option<Clock>,
    /// Whether White's side of the clock is beyond doubt.
    sure: bool,
    /// Times of the clock before its last press, and the amount that this press added to the presser's time.
    pressed_times: Option<(ByColor<u64>, u64)>,
    /// Time and player of the last press that completed a ply.
    completing_press: Option<(Timestamp, Color)>,
    over: bool,
    /// Whether an arbiter ruled that the players of this game have exchanged colours.
    reversed: bool,
    wake: Option<Timestamp>,
    setup: setup::StartWatch,
    faults: faults::Faults,
    unseen: unseen::Unseen,
    late: late::LateStarts,
    jolts: jolts::Jolts,
    lost: lost::Lost,
    displaced: displaced::Displaced,
    moves: moves::IrregularMoves,
    press: press::Presses,
    touch: touch::Touches,
    castling: castling::Castlings,
    hands: hands::TwoHands,
    promotion: promotion::Promotions,
    early: early::EarlyPresses,
    times: times::Times,
    arithmetic: arithmetic::Arithmetic,
    positions: position::Positions,
}

impl Watch {
    /// Sets the model of boards and hands. Call before the first finding.
    pub(super) fn follow(&mut self, model: &'static Model) {
        self.acts.follow(model);
    }

    pub(super) fn model(&self) -> &'static Model {
        self.acts.model()
    }

    /// Sets the time until which the board's squares are known; `None` if the board reports changes at once.
    pub(super) fn polled(&mut self, until: Option<Timestamp>) {
        self.acts.polled(until);
    }

    pub(super) fn face(&self) -> Option<Clock> {
        self.face
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn scan(&mut self, now: Timestamp, snapshot: &Snapshot) {
        self.acts.see(now, snapshot);
    }

    pub(super) fn read_clock(&mut self, face: Clock, sure: bool) {
        self.sure = sure;
        let before = self.face.replace(face);
        let running = before.and_then(|before| before.running);
        if let (Some(before), Some(presser)) = (before, running)
            && face.running == Some(!presser)
        {
            let (before, after) = (before.times_ms(), face.times_ms());
            let undue = after[presser].saturating_sub(before[presser]);
            self.pressed_times = Some((before, undue));
        }
    }

    pub(super) fn resume(&mut self, incidents: &Incidents) {
        self.book.resume(incidents);
        self.reversed = incidents.are_reversed();
        self.offences.completed = incidents.offences();
        for incident in incidents
            .past()
            .filter(|past| past.kind == IncidentKind::LateStart)
        {
            self.late.resume_past(&ResumedIncident::new(incident));
        }
        for incident in incidents
            .past()
            .filter(|past| past.kind == IncidentKind::FlagFall)
        {
            self.times.resume_past(&ResumedIncident::new(incident));
        }
        for incident in incidents.open() {
            let known = ResumedIncident::new(incident);
            match incident.kind {
                IncidentKind::IllegalMove | IncidentKind::PromotionNotReplaced => self.moves.resume(&known),
                IncidentKind::ClockPressedWithoutMove => self.press.resume(&known),
                IncidentKind::DisplacedPieces => self.displaced.resume(&known),
                IncidentKind::PieceTouchedNotMoved => self.touch.resume(&known),
                IncidentKind::SensorFault if known.case.is_some() => self.unseen.resume(&known),
                IncidentKind::BoardDisconnected | IncidentKind::SensorFault => self.faults.resume(&known),
                IncidentKind::BoardRotated | IncidentKind::WrongStartPosition => self.setup.resume(known),
                IncidentKind::LateStart => self.late.resume(known),
                IncidentKind::ClockInconsistent => self.arithmetic.resume(&known),
                IncidentKind::RecordUncertain => self.lost.resume(&known),
                IncidentKind::IllegalPosition => self.positions.resume(&known),
                IncidentKind::FlagFall
                | IncidentKind::TwoFlags
                | IncidentKind::TimeTrouble
                | IncidentKind::ClockStopped
                | IncidentKind::ClockDisconnected => self.times.resume(&known),
                // These incidents are closed as soon as they are reported, or stay open to the end of the game without
                // a watcher.
                IncidentKind::TwoHandsSuspected
                | IncidentKind::PressedBeforeRelease
                | IncidentKind::CastlingRookFirst
                | IncidentKind::PromotionExchanged
                | IncidentKind::AdjustedOffTurn
                | IncidentKind::ColorsReversed
                | IncidentKind::EarlyDraw
                | IncidentKind::SecondGame
                | IncidentKind::DrawClaimed
                | IncidentKind::TwoMinuteClaim
                | IncidentKind::ContinuedAfterEnd => {}
            }
        }
    }

    /// Squares whose pieces the board did not read before the restart.
    pub(super) fn unseen(&self) -> Bitboard {
        self.unseen.squares()
    }

    pub(super) fn resume_game(&mut self, began: Timestamp, playing: bool) {
        self.late.resume_game(began, playing);
        if playing {
            self.times.resume_game();
        }
    }

    pub(super) fn open_incidents(&self) -> impl Iterator<Item = &crate::events::Incident> {
        self.book.all_open()
    }

    pub(super) fn can_be_decided(&self, number: u64) -> bool {
        self.book.decidable(number).is_some()
    }

    pub(super) fn decided(&self, number: u64) -> Option<&Decided> {
        self.book.decided(number)
    }

    /// Whether an arbiter ruled that the players of this game have exchanged colours.
    pub(super) const fn are_reversed(&self) -> bool {
        self.reversed
    }

    /// Applies an arbiter's decision on an incident. Whether the incident counts as an offence stays unchanged unless
    /// the decision says so.
    pub(super) fn decide(
        &mut self,
        now: Timestamp,
        decided: Decision,
        close: &CloseIncident,
    ) -> Vec<(Timestamp, EventKind)> {
        let number = close.incident;
        let Some(incident) = self.book.decidable(number) else {
            return Vec::new();
        };
        let (color, counted) = (incident.color, self.book.counts(number));
        let counts = close.counts.filter(|counts| *counts != counted);
        // After the set-up for the next game, which starts without offences, the decision must not change the count.
        let of_this_game = counts.filter(|_| number > self.game_since);
        match (color, of_this_game) {
            (Some(color), Some(true)) => drop(self.offences.count(color)),
            (Some(color), Some(false)) => self.offences.discount(color),
            _ => {}
        }
        let closed = Closing {
            by: ClosedBy::Arbiter,
            reason: IncidentEnd::Decided,
            counts,
            decision: close.decision.clone(),
            decided: Some(decided),
        };
        self.book.close_as(now, number, closed);
        self.moves.forget(number);
        self.late.forget(number);
        self.book.take_events()
    }

    /// Starts a new game. The arbiter can no longer decide incidents of the previous one.
    pub(super) fn game_begins(&mut self) {
        self.book.forget_past();
        self.reversed = false;
    }

    /// Closes incidents that an arbiter settles by setting the position or the moves.
    pub(super) fn set_by_arbiter(&mut self, now: Timestamp) -> Vec<(Timestamp, EventKind)> {
        for number in self.book.open_of(&ON_THE_BOARD) {
            self.book
                .close(now, number, ClosedBy::Arbiter, IncidentEnd::Decided);
        }
        self.moves = moves::IrregularMoves::default();
        self.jolts = jolts::Jolts::default();
        self.lost = lost::Lost::default();
        self.displaced = displaced::Displaced::default();
        self.press = press::Presses::default();
        self.touch = touch::Touches::default();
        self.promotion = promotion::Promotions::default();
        self.positions = position::Positions::default();
        self.wake = self.deadline().filter(|at| *at > now);
        self.book.take_events()
    }

    /// Handles news. Returns the resulting incident events, each with its time.
    pub(super) fn handle(&mut self, game: &GameStatus<'_>, news: News) -> Vec<(Timestamp, EventKind)> {
        if game.begun {
            // The game continues, so the reported draw was not its end.
            self.close_early_draw(game.now, ClosedBy::Board, IncidentEnd::Passed);
        }
        match &news {
            News::Played(ply, Some(reason)) if was_misread(*reason) => self.withdraw(game.now, ply + 1),
            News::Retracted(ply, reason, _) if was_misread(*reason) => self.withdraw(game.now, *ply),
            _ => {}
        }
        let over = game.over && !core::mem::replace(&mut self.over, game.over);
        self.notify_watchers(game, &news);
        match news {
            News::Completed(ply, CompletedBy::Press) => {
                // The reply is already completed. So the press that completed this ply was missed, and the current
                // press is another one.
                let late = game.entry(ply + 1).is_some_and(LineEntry::is_pressed);
                let color = game.entry(ply).map(|entry| entry.ply.color);
                self.completing_press = color.filter(|_| !late).map(|color| (game.now, color));
            }
            News::Clock(ClockChange::Pressed(side)) => {
                let color = game.white_side.map(|white| Color::from_white(white == side));
                let unexplained = |color: &Color| self.completing_press != Some((game.now, *color));
                if let Some(color) = color.filter(|_| self.sure).filter(unexplained) {
                    self.notify_watchers(game, &News::Pressed(color));
                }
            }
            News::Clock(ClockChange::Disconnected) => self.face = None,
            News::Away => {
                self.acts.lose_visibility(game.now);
            }
            News::Reversed(moves) => {
                self.reversed = true;
                let situation = Situation::ColorsReversed { moves };
                let report = Report::new(game, &self.acts, situation, game.now);
                self.book.open(game.now, game.regulations, report);
            }
            News::NamesPutRight => {
                self.reversed = false;
                for number in self.book.open_of(&[IncidentKind::ColorsReversed]) {
                    self.book
                        .close(game.now, number, ClosedBy::Arbiter, IncidentEnd::Restored);
                }
            }
            News::EarlyDraw { made, limit } => {
                let situation = Situation::EarlyDraw { made, limit };
                let report = Report::new(game, &self.acts, situation, game.now);
                self.book.open(game.now, game.regulations, report);
            }
            News::SecondGame {
                round,
                table,
                first,
                second,
                has_result,
            } => {
                let situation = Situation::SecondGame {
                    round,
                    table,
                    first,
                    second,
                    has_result,
                };
                let report = Report::new(game, &self.acts, situation, game.now);
                self.book.open(game.now, game.regulations, report);
            }
            News::Assigned(second) => self.close_second_game(game.now, Some(&second)),
            News::NextRound => self.close_second_game(game.now, None),
            News::ResultEntered => {
                self.close_early_draw(game.now, ClosedBy::Arbiter, IncidentEnd::Decided);
            }
            News::Claimed(color, situation) => {
                let report = Report::new(game, &self.acts, *situation, game.now).of(color);
                self.book.open(game.now, game.regulations, report);
            }
            News::Ruled(number, situation, closing) => self.rule(game, number, *situation, closing),
            News::Started => {
                self.offences = Offences::default();
                self.game_since = self.book.last();
                self.acts.regain_visibility(game.tip());
                self.book.close_all_but(game.now, &OUTLAST_A_GAME);
            }
            _ => {}
        }
        if over {
            self.notify_watchers(game, &News::Over);
            self.book.close_all_but(game.now, &OUTLAST_A_GAME);
        }
        self.acts.trust_again(game.tip());
        self.wake = self.deadline().filter(|at| *at > game.now);
        self.book.take_events()
    }

    /// Withdraws incidents and offences from this ply on, because the record was wrong.
    fn withdraw(&mut self, now: Timestamp, from: u32) {
        for number in self.book.open_of(&RESTS_ON_THE_RECORD) {
            let Some(incident) = self.book.decidable(number).filter(|open| open.ply >= Some(from)) else {
                continue;
            };
            let offender = incident.color.filter(|_| self.book.counts(number));
            if let Some(offender) = offender {
                self.offences.discount(offender);
            }
            let closed = Closing {
                by: ClosedBy::Board,
                reason: IncidentEnd::Passed,
                counts: offender.map(|_| false),
                decision: None,
                decided: None,
            };
            self.book.close_as(now, number, closed);
            self.moves.withdraw(number);
            self.press.withdraw(number);
        }
    }

    fn notify_watchers(&mut self, game: &GameStatus<'_>, news: &News) {
        let mut context = Context {
            game,
            acts: &self.acts,
            book: &mut self.book,
            offences: &mut self.offences,
            set_aside: Bitboard::EMPTY,
            lost: false,
            may_be_lost: false,
            unproved: false,
            pressed_times: self.pressed_times,
        };
        self.setup.handle(&mut context, news);
        self.faults.handle(&mut context, news);
        self.unseen.handle(&mut context, news);
        self.late.handle(&mut context, news);
        context.set_aside = self.faults.squares();
        self.jolts.handle(&mut context, news);
        context.set_aside |= self.jolts.squares(&context);
        self.lost.handle(&mut context, news, self.moves.pending_squares());
        context.lost = self.lost.is_lost();
        context.may_be_lost = self.lost.is_suspected() || context.rests_on_inference();
        context.unproved = self.lost.is_unproved(context.game.line);
        let accounted = self.jolts.reported() | self.lost.reported();
        self.displaced.supersede_on(&mut context, accounted);
        self.displaced.handle(&mut context, news, &self.moves);
        context.set_aside |= self.displaced.squares();
        self.moves.handle(&mut context, news);
        self.press.handle(&mut context, news, &self.moves);
        let displaced = self.displaced.squares();
        self.touch.handle(&mut context, news, &self.moves, displaced);
        self.castling.handle(&mut context, news);
        self.hands.handle(&mut context, news);
        self.promotion.handle(&mut context, news);
        self.early.handle(&mut context, news);
        self.times.handle(&mut context, news);
        self.arithmetic.handle(&mut context, news);
        self.positions.handle(&mut context, news);
    }

    fn deadline(&self) -> Option<Timestamp> {
        [
            self.setup.poll_deadline(),
            self.faults.poll_deadline(),
            self.unseen.poll_deadline(),
            self.late.poll_deadline(),
            self.jolts.poll_deadline(),
            self.lost.poll_deadline(),
            self.displaced.poll_deadline(),
            self.moves.poll_deadline(),
            self.press.poll_deadline(),
            self.touch.poll_deadline(),
            self.promotion.poll_deadline(),
            self.times.poll_deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }
}

/// Kinds of incidents that close when the arbiter sets the position or the moves.
pub(super) const ON_THE_BOARD: [IncidentKind; 8] = [
    IncidentKind::IllegalMove,
    IncidentKind::PromotionNotReplaced,
    IncidentKind::ClockPressedWithoutMove,
    IncidentKind::DisplacedPieces,
    IncidentKind::PieceTouchedNotMoved,
    IncidentKind::PromotionExchanged,
    IncidentKind::IllegalPosition,
    IncidentKind::RecordUncertain,
];

/// Kinds of incidents that are void if an earlier ply was misread.
const RESTS_ON_THE_RECORD: [IncidentKind; 4] = [
    IncidentKind::IllegalMove,
    IncidentKind::PromotionNotReplaced,
    IncidentKind::ClockPressedWithoutMove,
    IncidentKind::PieceTouchedNotMoved,
];

/// Whether a ply is withdrawn because it was never played.
fn was_misread(reason: CorrectionReason) -> bool {
    use CorrectionReason::{Kings, MovedOn, Recovered, SetUp};
    matches!(reason, MovedOn | SetUp | Kings | Recovered)
}

/// Kinds of incidents that outlast a game or are closed by their own watcher.
const OUTLAST_A_GAME: [IncidentKind; 7] = [
    IncidentKind::LateStart,
    IncidentKind::BoardRotated,
    IncidentKind::WrongStartPosition,
    IncidentKind::BoardDisconnected,
    IncidentKind::ClockDisconnected,
    IncidentKind::SensorFault,
    // The arbiter may decide such an incident after the game.
    IncidentKind::SecondGame,
];

#[cfg(test)]
mod tests;
