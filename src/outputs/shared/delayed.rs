//! Delays the moves, results and clock times of one board for spectators outside the hall.
//!
//! This is a separate module because only moves, results and clock times may leave the hall: no incidents, no presses,
//! and not the certainty of a move.
//!
//! Events are held until they are due and then applied to a separate record of the games for spectators. Spectators
//! therefore see nothing early, and see the game as it was published, with one exception: a move or result that was
//! withdrawn while it was held is left out. This reveals nothing early except that no move was made yet, and spares
//! broadcasters a move that they would have to take back. A move that spectators have already seen disappears when its
//! withdrawal is due.

use core::time::Duration;
use std::collections::VecDeque;

use kiebitz_game::events::record::Games;
use kiebitz_game::events::{Action, Clock, CorrectionReason, Event, EventKind, GameResult, Move};
use kiebitz_hardware::Timestamp;

use crate::clock::ClockView;

/// Queue of the events and clock times that are not public yet, with the games as spectators see them.
#[derive(Debug, Default)]
pub(crate) struct Delayed {
    delay: Duration,
    /// Items that are not due yet, with the times at which they become due, in the order of publication.
    pub(in crate::outputs) held: VecDeque<(Timestamp, DelayedItem)>,
    /// Items that are due, but were not returned by [`poll`](Self::poll) yet.
    due: VecDeque<Due>,
    /// The games, up to the last event that is due.
    games: Games,
}

#[derive(Debug)]
pub(in crate::outputs) enum DelayedItem {
    Event(Box<Event>),
    Clock(ClockView),
}

#[derive(Debug)]
pub(crate) enum Due {
    /// An event that changed the current game, without the parts that spectators may not see.
    Event(Box<Event>),
    /// An event that changed an earlier game, or the result of a table without a game.
    Earlier(Box<Event>),
    Clock(ClockView),
}

impl Delayed {
    /// Creates the queue of a board without events.
    pub(crate) fn by(delay: Duration) -> Self {
        Self {
            delay,
            ..Self::default()
        }
    }

    /// Changes the delay. The due times of held items change by the difference.
    pub(crate) fn set_delay(&mut self, delay: Duration) {
        for (due, _) in &mut self.held {
            *due = (*due + delay).saturating_sub(self.delay);
        }
        self.delay = delay;
    }

    pub(crate) const fn delay(&self) -> Duration {
        self.delay
    }

    pub(crate) const fn games(&self) -> &Games {
        &self.games
    }

    /// Restores the state at `now` from the journal. `events` begin with the game that was due then.
    ///
    /// The journal has no clock readings except those of moves and presses. Steps of the computer's clock in `events`
    /// delay held items, as no time passes during a step.
    pub(crate) fn resume(&mut self, now: Timestamp, events: &[Event]) {
        for event in events {
            if let Some(by) = event.kind.clock_set_forward() {
                self.set_forward(by);
            }
            // A computer without a real-time clock may have dated the last events before its restart in the future.
            self.take(event.ts.min(now), event);
            if let Some(clock) = clock_of(event) {
                self.take_clock(event.ts.min(now), &clock);
            }
        }
        if let Some(last) = events.last() {
            self.release_due(last.ts.min(now));
        }
    }

    /// Adds an event that was published at `at`.
    pub(crate) fn take(&mut self, at: Timestamp, event: &Event) {
        if is_public(&event.kind) {
            self.hold(at, DelayedItem::Event(Box::new(event.clone())));
        }
    }

    /// Adds the display of the clock at `now`.
    pub(crate) fn take_clock(&mut self, now: Timestamp, clock: &ClockView) {
        self.hold(now, DelayedItem::Clock(*clock));
    }

    fn hold(&mut self, at: Timestamp, held: DelayedItem) {
        // Items that were due before `at` were published when this one did not exist yet, so they are released first.
        // A restart must give the same result.
        self.release_due(at);
        self.held.push_back((at + self.delay, held));
    }

    /// Time at which the next item is due.
    pub(crate) fn poll_deadline(&self) -> Option<Timestamp> {
        self.held.front().map(|(due, _)| *due)
    }

    /// Returns the next item that is due by `now`.
    pub(crate) fn poll(&mut self, now: Timestamp) -> Option<Due> {
        self.release_due(now);
        self.due.pop_front()
    }

    /// Drops the games and all held items.
    pub(crate) fn forget(&mut self) {
        *self = Self::by(self.delay);
    }

    /// Delays held items by `by`: the computer's clock was set forward, but no time has passed.
    pub(crate) fn set_forward(&mut self, by: Duration) {
        for (due, _) in &mut self.held {
            *due = *due + by;
        }
    }

    /// Applies the items that are due by `now`.
    fn release_due(&mut self, now: Timestamp) {
        while let Some((_, held)) = self.held.pop_front_if(|(due, _)| *due <= now) {
            match held {
                DelayedItem::Event(event) => {
                    let Some(event) = self.without_withdrawn(*event) else {
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

    /// Whether an event belongs to no game or to another one than the current game.
    fn is_earlier(&self, event: &Event) -> bool {
        let current = self.games.current().map(|game| &game.game);
        event.game.is_none() || event.game.as_ref() != current
    }

    /// Removes from a due event the parts that were withdrawn while it was held. `None` if nothing is left.
    fn without_withdrawn(&self, mut event: Event) -> Option<Event> {
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
                    // The retraction also removes an earlier move at this ply that spectators may have seen.
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

/// Whether spectators may see any part of an event.
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
            | EventKind::CommandTaken {
                action: Action::SetBye,
                error: None,
                ..
            }
    )
}

/// First ply that an event withdraws.
const fn withdrawn_from(kind: &EventKind) -> Option<u32> {
    match kind {
        EventKind::MoveRetracted { ply, .. } => Some(*ply),
        EventKind::MoveAmended { played, .. } => Some(played.ply),
        _ => None,
    }
}

/// Result with which an event replaces an earlier one.
fn new_result(kind: &EventKind) -> Option<GameResult> {
    match kind {
        EventKind::GameAmended { result, .. } => *result,
        EventKind::GameEnded { result, .. } => Some(*result),
        EventKind::GameResumed { .. } => Some(GameResult::Unknown),
        _ => None,
    }
}

/// Display of the clock when the event was published.
fn clock_of(event: &Event) -> Option<ClockView> {
    let clock = match &event.kind {
        EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => played.clock,
        EventKind::MoveCompleted { clock, .. } => *clock,
        _ => None,
    };
    // The flag on the clock may belong to an earlier period.
    clock.map(|clock| ClockView::of_reading(Clock { flag: None, ..clock }, event.ts))
}
