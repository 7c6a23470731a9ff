//! A game after its last event, to be resumed.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::record::GameRecord;
use super::{CompletedBy, Event, EventKind};
use crate::tracker::{Doubt, Recovery};

/// A game after its last event: what is needed to resume it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumableGame {
    /// The game, with what was amended and withdrawn as it stands after its last event.
    pub record: GameRecord,
    /// Its number on the board, from 1, as at the end of its id; 0 where the id has none.
    pub number: u32,
    /// When its last event was decided.
    pub last_ts: Timestamp,
    /// The time control that the arbiter has set during the game, if any.
    pub time_control: Option<String>,
    /// Plies that were found by reconstruction and that nothing had confirmed.
    pub doubt: Option<Doubt>,
    /// Who pressed the clock last, and the time that they then had in milliseconds, where it is known that no press came
    /// after it.
    pub pressed: Option<(Color, u64)>,
}

impl ResumableGame {
    /// The game of these events; `None` where they do not begin with its start.
    #[must_use]
    pub fn of(events: &[Event]) -> Option<Self> {
        let record = GameRecord::of(events)?;
        let rest = events.get(1..)?;
        let set = rest.iter().rev().find_map(|event| match &event.kind {
            EventKind::GameAmended { time_control, .. } => time_control.clone(),
            _ => None,
        });
        let number = record.game.rsplit('-').next()?;
        Some(Self {
            number: number.parse().unwrap_or(0),
            record,
            last_ts: events.last()?.ts,
            time_control: set,
            doubt: doubt(rest),
            pressed: pressed(rest),
        })
    }
}

/// The plies that are in doubt after these events of a game.
fn doubt(events: &[Event]) -> Option<Doubt> {
    let mut doubt: Option<Doubt> = None;
    // The plies found over a gap are published together with its recovery.
    let mut inferred = None;
    for event in events {
        match &event.kind {
            EventKind::BoardRecovered { by, from, .. } => {
                inferred = (*by == Recovery::Inferred).then_some((event.ts, *from));
            }
            EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => {
                let (ply, found) = (
                    played.ply,
                    inferred.filter(|(at, _)| played.inferred && *at == event.ts),
                );
                if let Some((_, from)) = found {
                    let (first, last) = (doubt.map_or(ply, |doubt| doubt.first), ply);
                    let from = doubt.map_or(from, |doubt| doubt.from);
                    doubt = Some(Doubt { from, first, last });
                }
                doubt = doubt.filter(|doubt| !doubt.is_dispelled_by(ply));
            }
            EventKind::MoveRetracted { ply, .. } => doubt = doubt.filter(|doubt| doubt.first < *ply),
            _ => {}
        }
    }
    doubt
}

/// The last press after these events of a game. With two plies after it, presses were missed.
fn pressed(events: &[Event]) -> Option<(Color, u64)> {
    let completed = events
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, event)| match event.kind {
            EventKind::MoveCompleted {
                ply,
                by: CompletedBy::Press,
                clock,
                ..
            } => Some((at, ply, clock)),
            _ => None,
        });
    let (at, number, clock) = completed?;
    let made = |event: &Event| match &event.kind {
        EventKind::MoveMade(played) => Some((played.ply, played.color)),
        _ => None,
    };
    if events[at..].iter().filter_map(made).nth(1).is_some() {
        return None;
    }
    let mut before = events[..at].iter().rev().filter_map(made);
    let (_, color) = before.find(|(ply, _)| *ply == number)?;
    Some((color, clock?.times_ms()[color]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::record::tests::{clock, event, ply};
    use crate::events::{CorrectionReason, Move};

    /// A ply that was taken back had been pressed; and what nobody saw pressed twice, was.
    #[test]
    fn the_last_press_is_known_until_two_plies_have_followed() {
        let made = |number| EventKind::MoveMade(ply(number, "e2e4", "e4"));
        let completed = |ply, seconds| EventKind::MoveCompleted {
            ply,
            by: CompletedBy::Press,
            clock: Some(clock(seconds)),
            elapsed_ms: None,
        };
        let retracted = EventKind::MoveRetracted {
            ply: 2,
            reason: CorrectionReason::Takeback,
        };
        let known = |kinds: &[EventKind]| {
            let events: Vec<Event> = kinds.iter().map(|kind| event(1, kind.clone())).collect();
            pressed(&events)
        };
        let played = [made(1), completed(1, 590), made(2), completed(2, 580)];
        let times = clock(580).times_ms();
        let black = Some((Color::Black, times.black));
        assert_eq!(known(&played), black);
        assert_eq!(known(&[&played[..], &[retracted]].concat()), black);
        assert_eq!(known(&[&played[..], &[made(3)]].concat()), black);
        assert_eq!(known(&[&played[..], &[made(3), made(4)]].concat()), None);
    }

    /// What was found over a gap is in doubt until two plies have been seen after it, or until it is withdrawn.
    #[test]
    fn plies_found_over_a_gap_are_in_doubt_until_play_goes_on() {
        let at = |micros| Timestamp::from_micros(micros);
        let recovered = |by| EventKind::BoardRecovered {
            by,
            changes: 0,
            from: at(5),
            to: at(6),
        };
        let found = |number| {
            EventKind::MoveMade(Move {
                inferred: true,
                ..ply(number, "e2e4", "e4")
            })
        };
        let seen = |number| EventKind::MoveMade(ply(number, "e2e4", "e4"));
        let in_doubt = |by, later: &[EventKind]| {
            let over_gap = [recovered(by), found(2), found(3)];
            let later = later.iter().map(|kind| Event {
                ts: at(20),
                ..event(2, kind.clone())
            });
            let published: Vec<Event> = over_gap
                .into_iter()
                .map(|kind| event(1, kind))
                .chain(later)
                .collect();
            doubt(&published).map(|doubt| (doubt.from, doubt.first, doubt.last))
        };
        assert_eq!(in_doubt(Recovery::Memory, &[]), None);
        assert_eq!(in_doubt(Recovery::Inferred, &[]), Some((at(5), 2, 3)));
        assert_eq!(in_doubt(Recovery::Inferred, &[seen(4)]), Some((at(5), 2, 3)));
        assert_eq!(in_doubt(Recovery::Inferred, &[seen(4), seen(5)]), None);
        let retracted = |ply| EventKind::MoveRetracted {
            ply,
            reason: CorrectionReason::Recovered,
        };
        assert_eq!(in_doubt(Recovery::Inferred, &[retracted(3)]), Some((at(5), 2, 3)));
        assert_eq!(in_doubt(Recovery::Inferred, &[retracted(2)]), None);
        assert_eq!(
            in_doubt(Recovery::Inferred, &[recovered(Recovery::Inferred), found(4)]),
            Some((at(5), 2, 4))
        );
    }
}
