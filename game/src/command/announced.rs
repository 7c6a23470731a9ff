//! Announcements by command for the future: the players of the next game and the round. They survive restarts.

use kiebitz_hardware::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::command::{NewGame, SetPlayers, StartRound};
use crate::events::{Action, EndReason, Event, EventKind, IncidentEnd, Players};
use crate::laws::IncidentKind;

/// Announcements about a board's next game and its round, derived from the board's events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announced {
    next: Option<Players>,
    round: Option<Timestamp>,
    /// The last game and its players.
    game: Option<String>,
    playing: Option<Players>,
    /// Whether they play with each other's pieces.
    reversed: bool,
}

impl Announced {
    /// Takes in the next event of the board.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::CommandTaken {
                action,
                arguments,
                error: None,
                ..
            } => self.take_command(event, *action, arguments),
            EventKind::GameStarted { players, .. } => {
                self.next = None;
                self.game.clone_from(&event.game);
                self.playing.clone_from(players);
                self.reversed = false;
            }
            EventKind::IncidentOpened(incident) if incident.kind == IncidentKind::ColorsReversed => {
                self.reversed = true;
            }
            EventKind::IncidentClosed {
                kind: IncidentKind::ColorsReversed,
                reason: IncidentEnd::Restored,
                ..
            } => self.reversed = false,
            EventKind::GameAmended {
                players: Some(players),
                ..
            } if event.game == self.game => self.playing = Some(players.clone()),
            // The game continues as the next one.
            EventKind::GameEnded {
                reason: EndReason::Gap,
                ..
            } => {
                self.next = self.next.take().or_else(|| self.playing.clone());
            }
            _ => {}
        }
    }

    /// The announced players of the next game, if any.
    #[must_use]
    pub fn players(&self) -> Option<&Players> {
        self.next.as_ref()
    }

    /// Start of the round as announced by the arbiter; it may be in the past.
    #[must_use]
    pub const fn round(&self) -> Option<Timestamp> {
        self.round
    }

    /// Applies a successful command. The referee has checked it; it must have the same meaning here.
    fn take_command(&mut self, event: &Event, action: Action, arguments: &Value) {
        match action {
            Action::SetPlayers => {
                let set = SetPlayers::deserialize(arguments).ok();
                let of_next = set.filter(|set| set.game.is_none() && event.game.is_none());
                if let Some(set) = of_next {
                    self.next = Some(set.players(self.next.as_ref()));
                }
            }
            Action::NewGame => {
                let named = NewGame::deserialize(arguments).ok().and_then(|new| new.players());
                // The same players replay a game that was broken off, with the right colours.
                let again = self.playing.clone().filter(|_| event.game.is_some());
                let again = match self.reversed {
                    true => again.map(|players| players.exchanged()),
                    false => again,
                };
                let before = again.or_else(|| self.next.take());
                self.next = match named {
                    Some(named) => Some(named.over(before.as_ref())),
                    None => before,
                };
            }
            Action::StartRound => {
                let start = StartRound::deserialize(arguments).unwrap_or_default();
                self.round = Some(start.begins.unwrap_or(event.ts));
            }
            Action::SetTimeControl
            | Action::SetResult
            | Action::AssignGame
            | Action::SetPosition
            | Action::CorrectMoves
            | Action::CloseIncident
            | Action::Annotate
            | Action::EndGame
            | Action::Identify
            | Action::Claim
            | Action::Forget
            | Action::SetTable
            | Action::DecideClaim
            | Action::SyncClockSides => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::events::samples::{event, started};
    use crate::events::{DecidedBy, GameResult};
    use crate::position::Variant;

    /// Moves an event out of any game.
    fn outside(seq: u64, kind: EventKind) -> Event {
        Event {
            game: None,
            ..event(seq, kind)
        }
    }

    fn taken(action: Action, arguments: Value, error: Option<&str>) -> EventKind {
        EventKind::CommandTaken {
            id: "1".to_owned(),
            action,
            by: "arbiter".to_owned(),
            arguments,
            error: error.map(str::to_owned),
            note: None,
        }
    }

    fn white(announced: &Announced) -> Option<&str> {
        announced.players()?.white.as_deref()
    }

    fn of(events: &[Event]) -> Announced {
        let mut announced = Announced::default();
        events.iter().for_each(|event| announced.apply(event));
        announced
    }

    #[test]
    fn names_hold_until_the_next_game_begins() {
        let adams = || outside(1, taken(Action::SetPlayers, json!({"white": "Adams"}), None));
        assert_eq!(white(&of(&[adams()])), Some("Adams"));
        let refused = outside(
            2,
            taken(Action::SetPlayers, json!({"white": "Becker"}), Some("no")),
        );
        assert_eq!(white(&of(&[adams(), refused])), Some("Adams"));
        // A command during a game, or for a named game, does not affect the next one.
        let current = event(2, taken(Action::SetPlayers, json!({"white": "Becker"}), None));
        let certain = outside(
            3,
            taken(Action::SetPlayers, json!({"white": "Clark", "game": "g"}), None),
        );
        assert_eq!(white(&of(&[adams(), current, certain])), Some("Adams"));
        assert_eq!(
            white(&of(&[adams(), event(2, started("start", Variant::Standard))])),
            None
        );
    }

    #[test]
    fn players_of_an_aborted_game_play_the_next_one() {
        let plays = || {
            let players = Players {
                white: Some("Adams".to_owned()),
                ..Players::default()
            };
            let amended = EventKind::GameAmended {
                by: "arbiter".to_owned(),
                result: None,
                reason: None,
                players: Some(players),
                time_control: None,
                time_control_typed: None,
                mode: None,
                moves: None,
                position: None,
                note: None,
                assigned: false,
            };
            [event(1, started("start", Variant::Standard)), event(2, amended)].to_vec()
        };
        assert_eq!(white(&of(&plays())), None);
        let gap = EventKind::GameEnded {
            result: GameResult::Unknown,
            reason: EndReason::Gap,
            by: DecidedBy::Board,
            confirmed: false,
            end_certain: true,
            decided_by: None,
        };
        assert_eq!(
            white(&of(&[plays(), vec![event(3, gap)]].concat())),
            Some("Adams")
        );
        let anew = |arguments| event(3, taken(Action::NewGame, arguments, None));
        assert_eq!(
            white(&of(&[plays(), vec![anew(json!({}))]].concat())),
            Some("Adams")
        );
        let others = anew(json!({"white": "Becker"}));
        assert_eq!(white(&of(&[plays(), vec![others]].concat())), Some("Becker"));
    }

    #[test]
    fn a_round_begins_at_the_given_time_or_with_the_command() {
        let now = outside(7, taken(Action::StartRound, json!({}), None));
        assert_eq!(of(std::slice::from_ref(&now)).round(), Some(now.ts));
        let later = json!({"begins": "2026-11-21T15:15:00+01:00"});
        let later = outside(8, taken(Action::StartRound, later, None));
        assert_eq!(
            of(&[now, later]).round(),
            Some(Timestamp::from_micros(1_795_270_500_000_000))
        );
    }
}
