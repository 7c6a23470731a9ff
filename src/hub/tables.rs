//! Table numbers of halls that number their tables independently, in events and commands.

use std::sync::Arc;

use kiebitz_game::command::{Command, Order};
use kiebitz_game::events::{Event, EventKind, Players};
use serde_json::Value;

use crate::config::HubHall;
use crate::tournament::Tournament;
use crate::tournament::halls::{EventHall, number_at_hub, number_in_hall, table_name};

/// The halls of the hub, by which a table of one hall differs from the same table of another.
#[derive(Debug)]
pub(super) struct HallTables(Vec<EventHall>);

/// Error of a command for a table of another hall.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("table {0} is in another hall than the board: choose a board of that hall")]
pub(super) struct OtherHall(String);

impl HallTables {
    pub(super) fn of(halls: &[HubHall]) -> Self {
        Self(halls.iter().map(HubHall::event_hall).collect())
    }

    /// Returns the pairings with the numbers of the tables at the hub.
    pub(super) fn paired(&self, tournament: Arc<Tournament>) -> Arc<Tournament> {
        let paired = Arc::unwrap_or_clone(tournament).at_hub(&self.0);
        if paired.lacks_hall() {
            tracing::warn!(
                "some pairings name a hall that is not among the names under [hub]: their tables get no pairing"
            );
        }
        Arc::new(paired)
    }

    /// Returns the number at the hub of a table in a hall, which is counted from 0.
    pub(super) fn at_hub(&self, hall: usize, table: u32) -> u32 {
        let position = self.0.get(hall).filter(|hall| hall.name.is_some());
        let position = position.and_then(|_| u32::try_from(hall + 1).ok());
        let number = position.and_then(|position| number_at_hub(position, table));
        number.unwrap_or(table)
    }

    /// Converts the tables in an event of a hall to their numbers at the hub.
    pub(super) fn convert_event(&self, hall: usize, event: &mut Event) {
        let convert = |table: &mut u32| *table = self.at_hub(hall, *table);
        let of_players = |players: &mut Option<Players>| {
            if let Some(table) = players.as_mut().and_then(|players| players.table.as_mut()) {
                convert(table);
            }
        };
        match &mut event.kind {
            EventKind::GameStarted { players, .. } | EventKind::GameAmended { players, .. } => {
                of_players(players);
            }
            EventKind::TableResult { table, .. } => convert(table),
            EventKind::CommandTaken { arguments, .. } => {
                if let Some(table) = arguments.get_mut("table")
                    && let Some(number) = table.as_u64().and_then(|number| u32::try_from(number).ok())
                {
                    *table = self.at_hub(hall, number).into();
                }
            }
            _ => {}
        }
    }

    /// Returns the position of the hall, counted from 0, whose daemon must get a command for a table without a game.
    /// `None` if every daemon can carry the command out.
    pub(super) fn hall_for(&self, command: &Command) -> Option<usize> {
        let Order::SetResult(set) = &command.order else {
            return None;
        };
        let (_, table) = set.pairing()?;
        let (position, _) = number_in_hall(table)?;
        let hall = usize::try_from(position).ok()?.checked_sub(1)?;
        self.0.get(hall).map(|_| hall)
    }

    /// Converts the table in the fields of a command for a hall, counted from 0, to its number there. Fails if the
    /// table is in another hall.
    pub(super) fn convert_command(
        &self,
        hall: usize,
        fields: &mut serde_json::Map<String, Value>,
    ) -> Result<(), OtherHall> {
        let Some(table) = fields.get_mut("table") else {
            return Ok(());
        };
        let Some(number) = table.as_u64().and_then(|number| u32::try_from(number).ok()) else {
            return Ok(());
        };
        let Some((position, own)) = number_in_hall(number) else {
            return Ok(());
        };
        let position = usize::try_from(position).unwrap_or(usize::MAX);
        // A higher number is a table that is numbered across all halls.
        if position > self.0.len() || self.0.len() < 2 {
            return Ok(());
        }
        if position != hall + 1 {
            return Err(OtherHall(table_name(&self.0, number)));
        }
        *table = own.into();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use kiebitz_game::events::samples::{event, started};
    use kiebitz_game::position::Variant;
    use serde_json::json;

    use super::*;

    fn tables() -> HallTables {
        let hall = |prefix: &str, name: Option<&str>| EventHall {
            prefix: prefix.to_owned(),
            name: name.map(str::to_owned),
        };
        HallTables(vec![
            hall("north/kiebitz", Some("North")),
            hall("south/kiebitz", Some("South")),
            hall("stage/kiebitz", None),
        ])
    }

    fn set_result(table: u32, game: Option<&str>) -> Command {
        let mut text = json!({"id": "1", "do": "set_result", "by": "meier", "result": "1-0"});
        match game {
            Some(game) => text["game"] = game.into(),
            None => (text["round"], text["table"]) = (3.into(), table.into()),
        }
        Command::parse(&text.to_string()).expect("a command")
    }

    #[test]
    fn tables_in_events_have_their_numbers_at_the_hub() {
        let tables = tables();
        let mut begun = event(1, started("start", Variant::Standard));
        if let EventKind::GameStarted { players, .. } = &mut begun.kind {
            *players = Some(Players {
                table: Some(7),
                ..Players::default()
            });
        }
        for (hall, number) in [(0, 1007), (1, 2007), (2, 7)] {
            let mut converted = begun.clone();
            tables.convert_event(hall, &mut converted);
            let EventKind::GameStarted { players, .. } = converted.kind else {
                panic!("a game");
            };
            assert_eq!(players.expect("players").table, Some(number));
        }
        let mut taken = event(
            2,
            EventKind::CommandTaken {
                id: "1".to_owned(),
                action: kiebitz_game::events::Action::SetTable,
                by: "chief".to_owned(),
                arguments: json!({"table": 3}),
                error: None,
                note: None,
            },
        );
        tables.convert_event(1, &mut taken);
        let EventKind::CommandTaken { arguments, .. } = taken.kind else {
            panic!("a command");
        };
        assert_eq!(arguments, json!({"table": 2003}));
    }

    #[test]
    fn a_command_reaches_the_hall_of_its_table_with_its_number_there() {
        let tables = tables();
        assert_eq!(tables.hall_for(&set_result(2007, None)), Some(1));
        assert_eq!(
            tables.hall_for(&set_result(7, None)),
            None,
            "numbered across all halls"
        );
        assert_eq!(
            tables.hall_for(&set_result(0, Some("g"))),
            None,
            "the game says where"
        );
        let converted = |hall: usize, table: u32| {
            let mut fields = json!({"round": 3, "table": table});
            let map = fields.as_object_mut().expect("fields");
            let result = tables.convert_command(hall, map);
            result.map(|()| fields["table"].as_u64())
        };
        assert_eq!(converted(1, 2007), Ok(Some(7)));
        assert_eq!(
            converted(1, 7),
            Ok(Some(7)),
            "an arbiter types the number on the table"
        );
        assert_eq!(converted(0, 2007), Err(OtherHall("South 7".to_owned())));
        assert_eq!(converted(0, 4007), Ok(Some(4007)), "there is no such hall");
    }
}
