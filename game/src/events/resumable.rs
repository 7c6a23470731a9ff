//! State from which a game is resumed, for example after a restart.

use kiebitz_hardware::Timestamp;
use shakmaty::Color;

use super::record::GameRecord;
use super::{Event, EventKind, Recovery};
use crate::model::PLIES_OF_PROOF;

/// State of a game after its last event, from which the game is resumed.
#[derive(Debug, Clone, PartialEq)]
pub struct ResumableGame {
    /// The game after its last event, with amendments and withdrawals applied.
    pub record: GameRecord,
    /// Number of the game on the board, from 1, as at the end of its id; 0 if the id does not end in a number.
    pub number: u32,
    /// Time of the last event.
    pub last_ts: Timestamp,
    /// Time control that the arbiter set during the game, if any.
    pub time_control: Option<String>,
    /// Reconstructed plies without a confirmation yet.
    pub doubt: Option<DoubtfulPlies>,
    /// Side whose clock was stopped at the last clock reading, and its time in milliseconds; `None` if a press may have
    /// been missed since.
    pub halted: Option<(Color, u64)>,
}

/// Reconstructed plies that later play may prove wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoubtfulPlies {
    /// Start of the gap in which the plies were played.
    pub from: Timestamp,
    /// Number of the first of these plies.
    pub first: u32,
    /// Number of the last of these plies.
    pub last: u32,
}

impl DoubtfulPlies {
    /// Whether a later ply with this number proves the reconstruction, if the board has shown exactly the position
    /// after it. A single ply is not proof: it can fit by accident.
    pub(crate) fn is_dispelled_by(self, ply: u32) -> bool {
        ply.saturating_sub(self.last) as usize >= PLIES_OF_PROOF
    }
}

impl ResumableGame {
    /// Creates the state from the events of a game; `None` if they do not begin with its start.
    #[must_use]
    pub fn of(events: &[Event]) -> Option<Self> {
        let record = GameRecord::of(events)?;
        let rest = events.get(1..)?;
        let amended = rest.iter().rev().find_map(|event| match &event.kind {
            EventKind::GameAmended { time_control, .. } => time_control.clone(),
            _ => None,
        });
        let number = record.game.rsplit('-').next()?;
        Some(Self {
            number: number.parse().unwrap_or(0),
            record,
            last_ts: events.last()?.ts,
            time_control: amended,
            doubt: doubt(rest),
            halted: halted(rest),
        })
    }
}

/// The reconstructed plies that are not confirmed after these events of a game.
fn doubt(events: &[Event]) -> Option<DoubtfulPlies> {
    let mut doubt: Option<DoubtfulPlies> = None;
    // The plies of a gap are published together with its board.recovered event.
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
                    doubt = Some(DoubtfulPlies { from, first, last });
                }
                doubt = doubt.filter(|doubt| !doubt.is_dispelled_by(ply));
            }
            EventKind::MoveRetracted { ply, .. } => doubt = doubt.filter(|doubt| doubt.first < *ply),
            _ => {}
        }
    }
    doubt
}

/// Side whose clock was stopped after these events of a game, and its time. `None` if two plies follow the last clock
/// reading: presses were missed.
fn halted(events: &[Event]) -> Option<(Color, u64)> {
    let clock = |event: &Event| match &event.kind {
        EventKind::MoveMade(played) | EventKind::MoveAmended { played, .. } => played.clock,
        EventKind::MoveCompleted { clock, .. } => *clock,
        _ => None,
    };
    let clocks = events.iter().enumerate().rev();
    let mut clocks = clocks.filter_map(|(at, event)| Some((at, clock(event)?)));
    let (at, clock) = clocks.next()?;
    let made = |event: &&Event| matches!(event.kind, EventKind::MoveMade(_));
    if events[at + 1..].iter().filter(made).nth(1).is_some() {
        return None;
    }
    let halted = !clock.running?;
    Some((halted, clock.times_ms()[halted]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::samples::{clock, event, ply};
    use crate::events::{Clock, CompletedBy, CorrectionReason, Move};

    #[test]
    fn the_clock_that_was_halted_last_is_known_until_two_plies_have_followed() {
        let times = |seconds, running| Clock {
            running: Some(running),
            ..clock(seconds)
        };
        let made = |number, clock| {
            EventKind::MoveMade(Move {
                clock,
                ..ply(number, "e2e4", "e4")
            })
        };
        let completed = |ply, seconds, running| EventKind::MoveCompleted {
            ply,
            by: CompletedBy::Press,
            clock: Some(times(seconds, running)),
            elapsed_ms: None,
        };
        let retracted = EventKind::MoveRetracted {
            ply: 2,
            reason: CorrectionReason::Takeback,
        };
        let halted_after = |kinds: &[EventKind]| {
            let events: Vec<Event> = kinds.iter().map(|kind| event(1, kind.clone())).collect();
            halted(&events)
        };
        let played = [
            made(1, None),
            completed(1, 590, Color::Black),
            made(2, None),
            completed(2, 580, Color::White),
        ];
        let black = Some((Color::Black, 580_000));
        assert_eq!(halted_after(&played), black);
        // A ply that was taken back had been pressed.
        assert_eq!(halted_after(&[&played[..], &[retracted]].concat()), black);
        // A single ply without a clock reading leaves the halted side known.
        assert_eq!(halted_after(&[&played[..], &[made(3, None)]].concat()), black);
        assert_eq!(
            halted_after(&[&played[..], &[made(3, None), made(4, None)]].concat()),
            None
        );
        // White's third move was not pressed, nor was Black's: White's clock runs on.
        let forgotten = [
            made(3, Some(times(570, Color::White))),
            made(4, Some(times(565, Color::White))),
        ];
        assert_eq!(
            halted_after(&[&played[..], &forgotten].concat()),
            Some((Color::Black, 565_000))
        );
    }

    /// Plies found over a gap are in doubt until two further plies are observed, or until they are withdrawn.
    #[test]
    fn plies_inferred_over_a_gap_are_in_doubt_until_play_continues() {
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
        let observed = |number| EventKind::MoveMade(ply(number, "e2e4", "e4"));
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
        assert_eq!(in_doubt(Recovery::Inferred, &[observed(4)]), Some((at(5), 2, 3)));
        assert_eq!(in_doubt(Recovery::Inferred, &[observed(4), observed(5)]), None);
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
