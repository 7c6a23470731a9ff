//! Pairings of the round, which pages show before any game names its players.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::tournament::{Pairing, Tournament};

/// The pairings, and the round whose pairings boards get.
#[derive(Debug, Default)]
pub(super) struct Paired {
    pub(super) tournament: Arc<Tournament>,
    pub(super) round: Option<u32>,
    /// The view in the last update.
    sent: Option<String>,
}

impl Paired {
    /// The view as JSON.
    pub(super) fn view(&self) -> String {
        let rounds: Vec<u32> = self.tournament.rounds.keys().copied().collect();
        let round = self.round.and_then(|round| self.tournament.rounds.get(&round));
        let pairings = round.iter().flat_map(|round| &round.pairings);
        let tables: Vec<Value> = pairings.filter_map(table).collect();
        let mut view = json!({ "round": self.round, "rounds": rounds, "tables": tables });
        let halls = self.tournament.hall_views();
        if !halls.is_empty() {
            view["halls"] = json!(halls);
        }
        view.to_string()
    }

    /// Returns the view if it has changed since the last call.
    pub(super) fn poll_change(&mut self) -> Option<String> {
        let view = self.view();
        if self.sent.as_ref() == Some(&view) {
            return None;
        }
        self.sent = Some(view.clone());
        Some(view)
    }
}

/// A pairing as JSON; `None` if it has no table or is not played, such as a bye.
fn table(pairing: &Pairing) -> Option<Value> {
    let table = pairing.table.filter(|_| pairing.is_played())?;
    let name = |player: &Option<crate::tournament::Player>| player.as_ref().map(|player| player.name.clone());
    let mut fields = Map::new();
    fields.insert("table".to_owned(), json!(table));
    fields.insert("white".to_owned(), json!(name(&pairing.white)));
    fields.insert("black".to_owned(), json!(name(&pairing.black)));
    fields.insert("result".to_owned(), json!(pairing.result));
    Some(Value::Object(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::read_bytes;

    #[test]
    fn the_tables_of_the_round_are_sent_once() {
        let file = "round,board,white,black,result\n4,1,Adler,Berg,1-0\n5,1,Clausen,Dorn,\n5,,Ebert,Fuchs,\n5,2,Graf,,\n";
        let (tournament, _) = read_bytes("r.csv", file.as_bytes()).expect("pairings");
        let mut paired = Paired::default();
        assert_eq!(
            paired.poll_change().expect("the first"),
            r#"{"round":null,"rounds":[],"tables":[]}"#
        );
        paired.tournament = Arc::new(tournament);
        paired.round = Some(5);
        let sent: Value = serde_json::from_str(&paired.poll_change().expect("others")).expect("JSON");
        assert_eq!(sent["rounds"], json!([4, 5]));
        let alone = json!([{"table": 1, "white": "Clausen", "black": "Dorn", "result": null}]);
        assert_eq!(sent["tables"], alone, "with a table and two players");
        assert_eq!(paired.poll_change(), None);
        paired.round = Some(4);
        let sent: Value = serde_json::from_str(&paired.poll_change().expect("another round")).expect("JSON");
        assert_eq!(sent["tables"][0]["result"], "1-0");
    }
}
