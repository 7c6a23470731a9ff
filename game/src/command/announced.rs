//! Players of the next game and start of the round, as set by commands. Both follow from the events, so they survive
//! restarts.

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
    /// Whether these players have exchanged colours.
    reversed: bool,
}

impl Announced {
    /// Applies the next event of the board.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::CommandTaken {
                action,
                arguments,
                error: None,
                ..
            } => self.apply_command(event, *action, arguments),
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

    /// Applies a command that the referee has carried out. The effect must be the same as in the referee.
    fn apply_command(&mut self, event: &Event, action: Action, arguments: &Value) {
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
                let same_players = self.playing.clone().filter(|_| event.game.is_some());
                let same_players = match self.reversed {
                    true => same_players.map(|players| players.exchanged()),
                    false => same_players,
                };
                let before = same_players.or_else(|| self.next.take());
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
            | Action::SetBye
            | Action::AssignGame
            | Action::SetPosition
            | Action::CorrectMoves
            | Action::CloseIncident
            | Action::Annotate
            | Action::Attend
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

    /// Creates an event that belongs to no game.
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

    fn announced_after(events: &[Event]) -> Announced {
        let mut announced = Announced::default();
        events.iter().for_each(|event| announced.apply(event));
        announced
    }

    #[test]
    fn announced_players_apply_until_the_next_game_begins() {
        let adams = || outside(1, taken(Action::SetPlayers, json!({"white": "Adams"}), None));
        assert_eq!(white(&announced_after(&[adams()])), Some("Adams"));
        let refused = outside(
            2,
            taken(Action::SetPlayers, json!({"white": "Becker"}), Some("no")),
        );
        assert_eq!(white(&announced_after(&[adams(), refused])), Some("Adams"));
        // A command during a game, or for a named game, does not affect the next one.
        let current = event(2, taken(Action::SetPlayers, json!({"white": "Becker"}), None));
        let for_named_game = outside(
            3,
            taken(Action::SetPlayers, json!({"white": "Clark", "game": "g"}), None),
        );
        assert_eq!(
            white(&announced_after(&[adams(), current, for_named_game])),
            Some("Adams")
        );
        assert_eq!(
            white(&announced_after(&[
                adams(),
                event(2, started("start", Variant::Standard))
            ])),
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
        assert_eq!(white(&announced_after(&plays())), None);
        let gap = EventKind::GameEnded {
            result: GameResult::Unknown,
            reason: EndReason::Gap,
            by: DecidedBy::Board,
            confirmed: false,
            end_certain: true,
            decided_by: None,
        };
        assert_eq!(
            white(&announced_after(&[plays(), vec![event(3, gap)]].concat())),
            Some("Adams")
        );
        let new_game = |arguments| event(3, taken(Action::NewGame, arguments, None));
        assert_eq!(
            white(&announced_after(&[plays(), vec![new_game(json!({}))]].concat())),
            Some("Adams")
        );
        let others = new_game(json!({"white": "Becker"}));
        assert_eq!(
            white(&announced_after(&[plays(), vec![others]].concat())),
            Some("Becker")
        );
    }

    #[test]
    fn a_round_begins_at_the_given_time_or_with_the_command() {
        let now = outside(7, taken(Action::StartRound, json!({}), None));
        assert_eq!(announced_after(std::slice::from_ref(&now)).round(), Some(now.ts));
        let later = json!({"begins": "2026-11-21T15:15:00+01:00"});
        let later = outside(8, taken(Action::StartRound, later, None));
        assert_eq!(
            announced_after(&[now, later]).round(),
            Some(Timestamp::from_micros(1_795_270_500_000_000))
        );
    }
}
