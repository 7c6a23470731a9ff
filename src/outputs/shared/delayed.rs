//! What people outside the hall get of one board, and when: moves, results and clocks, after a delay.
//!
//! It stands apart because nothing but moves and clocks may pass here: no incidents, no presses, nothing of how certain
//! a move is.
//!
//! What is published is held until it is due, and then taken in by a game of the spectators' own. So nothing is seen
//! before its time, and what is seen is as it was published then, with one exception: a move or a result that was
//! withdrawn while it was held is left out. Nobody learns anything early by that, only that nothing was played yet; and
//! broadcasters are spared a move that they would have to take back. What spectators have seen already goes when its
//! withdrawal is due.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_game::events::record::Games;
use kiebitz_game::events::{Clock, CorrectionReason, Event, EventKind, GameResult, Move};
use kiebitz_hardware::Timestamp;

use crate::clock::ClockView;

/// Holds what spectators will get, and remembers the game that they have.
#[derive(Debug, Default)]
pub(crate) struct Delayed {
    delay: Duration,
    /// What is not due yet, each with the time at which it is due, in the order of publication.
    pub(in crate::outputs) held: VecDeque<(Timestamp, DelayedItem)>,
    /// What is due and was not handed on yet.
    due: VecDeque<Due>,
    /// The games as far as they are due.
    games: Games,
}

#[derive(Debug)]
pub(in crate::outputs) enum DelayedItem {
    Event(Box<Event>),
    Clock(ClockView),
}

/// What is due.
#[derive(Debug)]
pub(crate) enum Due {
    /// It has changed the game; what spectators may not know is no longer in it.
    Event(Box<Event>),
    /// It has changed an earlier game, or the result of a table without a game.
    Earlier(Box<Event>),
    /// What the clock showed.
    Clock(ClockView),
}

impl Delayed {
    /// For a board without events.
    pub(crate) fn by(delay: Duration) -> Self {
        Self {
            delay,
            ..Self::default()
        }
    }

    /// From now on everything that is not due yet is due later by `delay`, as if it had always been so.
    pub(crate) fn set_delay(&mut self, delay: Duration) {
        for (due, _) in &mut self.held {
            *due = (*due + delay).saturating_sub(self.delay);
        }
        self.delay = delay;
    }

    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    /// The game as far as it is due.
    pub(crate) const fn games(&self) -> &Games {
        &self.games
    }

    /// Goes on at `now` with what the journal has: the events of the game that was due then, and of all later ones.
    ///
    /// The journal has no readings of the clock but those of the presses. It has the steps of the computer's clock, in
    /// which no time has passed.
    pub(crate) fn resume(&mut self, now: Timestamp, events: &[Event]) {
        for event in events {
            if let Some(by) = event.kind.clock_set_forward() {
                self.set_forward(by);
            }
            // A computer without a clock of its own may have dated the last events before its restart in what is now the
            // future.
            self.take(event.ts.min(now), event);
            if let Some(clock) = clock_of(event) {
                self.take_clock(event.ts.min(now), &clock);
            }
        }
        if let Some(last) = events.last() {
            self.pass(last.ts.min(now));
        }
    }

    /// Takes in an event that was published at `at`.
    pub(crate) fn take(&mut self, at: Timestamp, event: &Event) {
        if is_public(&event.kind) {
            self.hold(at, DelayedItem::Event(Box::new(event.clone())));
        }
    }

    /// Takes in what the clock shows at `now`.
    pub(crate) fn take_clock(&mut self, now: Timestamp, clock: &ClockView) {
        self.hold(now, DelayedItem::Clock(*clock));
    }

    fn hold(&mut self, at: Timestamp, held: DelayedItem) {
        // What was due before was due without knowing this: so it is after a restart as well.
        self.pass(at);
        self.held.push_back((at + self.delay, held));
    }

    /// When something is due next.
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        self.held.front().map(|(due, _)| *due)
    }

    /// The next of what is due by `now`.
    pub(crate) fn poll(&mut self, now: Timestamp) -> Option<Due> {
        self.pass(now);
        self.due.pop_front()
    }

    /// Nothing is known any more, and nothing is held.
    pub(crate) fn forget(&mut self) {
        *self = Self::by(self.delay);
    }

    /// The computer's clock was set forward: what is held is due later by `by`, for no time has passed.
    pub(crate) fn set_forward(&mut self, by: Duration) {
        for (due, _) in &mut self.held {
            *due = *due + by;
        }
    }

    /// Takes in what is due by `now`.
    fn pass(&mut self, now: Timestamp) {
        while let Some((_, held)) = self.held.pop_front_if(|(due, _)| *due <= now) {
            match held {
                DelayedItem::Event(event) => {
                    let Some(event) = self.left_of(*event) else {
                        continue;
                    };
                    if self.games.apply(&event) {
                        self.due.push_back(Due::Event(Box::new(event)));
                    } else if self.is_earlier(&event) {
                        self.due.push_back(Due::Earlier(Box::new(event)));
                    }
                }
                DelayedItem::Clock(clock) => self.due.push_back(Due::Clock(clock)),
            }
        }
    }

    /// Whether an event is about another game than the current one, or about none.
    fn is_earlier(&self, event: &Event) -> bool {
        let current = self.games.current().map(|game| &game.game);
        event.game.is_none() || event.game.as_ref() != current
    }

    /// What spectators get of an event that is due: not what was withdrawn while it was held. `None`: they get nothing
    /// of it.
    fn left_of(&self, mut event: Event) -> Option<Event> {
        let later = || {
            self.held.iter().filter_map(|(_, held)| match held {
                DelayedItem::Event(later) if later.game == event.game => Some(&later.kind),
                _ => None,
            })
        };
        let replaced =
            |result: GameResult| later().any(|kind| new_result(kind).is_some_and(|new| new != result));
        match &mut event.kind {
            EventKind::MoveMade(Move { ply, .. })
            | EventKind::MoveAmended {
                played: Move { ply, .. },
                ..
            } => {
                let ply = *ply;
                if later().any(|kind| withdrawn_from(kind).is_some_and(|from| from <= ply)) {
                    // What stood there before is gone all the same.
                    let reason = CorrectionReason::MovedOn;
                    event.kind = EventKind::MoveRetracted { ply, reason };
                }
            }
            EventKind::MoveCompleted { ply, clock, .. } => {
                let moves = self.games.current().map_or(&[][..], |game| &game.moves);
                let entry = moves.iter().rfind(|entry| entry.ply == *ply)?;
                if clock.is_none() || entry.clock == *clock {
                    return None;
                }
            }
            EventKind::GameEnded { result, .. } if replaced(*result) => return None,
            EventKind::GameEnded { decided_by, .. } => *decided_by = None,
            EventKind::GameResumed { .. } => {
                self.games.current().filter(|game| game.ended.is_some())?;
            }
            EventKind::GameAmended {
                result, reason, note, ..
            } => {
                *note = None;
                if result.is_some_and(replaced) {
                    (*result, *reason) = (None, None);
                }
            }
            _ => {}
        }
        Some(event)
    }
}

/// Whether spectators may see something of an event.
const fn is_public(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::GameStarted { .. }
            | EventKind::MoveMade(_)
            | EventKind::MoveAmended { .. }
            | EventKind::MoveRetracted { .. }
            | EventKind::MoveCompleted { .. }
            | EventKind::GameEnded { .. }
            | EventKind::GameResumed { .. }
            | EventKind::GameAmended { .. }
            | EventKind::TableResult { .. }
    )
}

/// The first ply that an event withdraws.
const fn withdrawn_from(kind: &EventKind) -> Option<u32> {
    match kind {
        EventKind::MoveRetracted { ply, .. } => Some(*ply),
        EventKind::MoveAmended { played, .. } => Some(played.ply),
        _ => None,
    }
}

/// The result that replaces the one published before.
fn new_result(kind: &EventKind) -> Option<GameResult> {
    match kind {
        EventKind::GameAmended { result, .. } => *result,
        EventKind::GameEnded { result, .. } => Some(*result),
        EventKind::GameResumed { .. } => Some(GameResult::Unknown),
        _ => None,
    }
}

/// What the clock showed when the event was published.
fn clock_of(event: &Event) -> Option<ClockView> {
    let clock = match &event.kind {
        EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => played.clock,
        EventKind::MoveCompleted { clock, .. } => *clock,
        _ => None,
    };
    // The flag that a clock shows may be that of a period that is over.
    clock.map(|clock| ClockView::of_reading(Clock { flag: None, ..clock }, event.ts))
}
