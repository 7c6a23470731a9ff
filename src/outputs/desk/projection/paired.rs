//! Pairings of the round, which pages show before any game names its players.

use std::sync::Arc;

use kiebitz_game::events::GameResult;
use serde::Serialize;

use crate::tournament::halls::HallView;
use crate::tournament::{Pairing, Tournament};

/// The pairings, and the round whose pairings boards get.
#[derive(Debug, Default)]
pub(super) struct Paired {
    pub(super) tournament: Arc<Tournament>,
    pub(super) round: Option<u32>,
    /// The pairings and the round in the last update.
    sent: Option<(Arc<Tournament>, Option<u32>)>,
}

#[derive(Debug, Serialize)]
struct PairedView<'p> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    halls: Vec<HallView<'p>>,
    round: Option<u32>,
    rounds: Vec<u32>,
    tables: Vec<PairedTable<'p>>,
}

#[derive(Debug, Serialize)]
struct PairedTable<'p> {
    black: Option<&'p str>,
    result: Option<GameResult>,
    table: u32,
    white: Option<&'p str>,
}

impl Paired {
    /// The view as JSON.
    pub(super) fn view(&self) -> String {
        view(&self.tournament, self.round)
    }

    /// Returns the view if it has changed since the last call. Thousands of tables take milliseconds to compose, so they
    /// are composed only for other pairings or another round.
    pub(super) fn poll_change(&mut self) -> Option<String> {
        let is_same = |(tournament, round): &(Arc<Tournament>, Option<u32>)| {
            Arc::ptr_eq(tournament, &self.tournament) && *round == self.round
        };
        if self.sent.as_ref().is_some_and(is_same) {
            return None;
        }
        let before = self.sent.replace((Arc::clone(&self.tournament), self.round));
        let before = before.map(|(tournament, round)| view(&tournament, round));
        Some(self.view()).filter(|view| before.as_ref() != Some(view))
    }
}

fn view(tournament: &Tournament, number: Option<u32>) -> String {
    let round = number.and_then(|number| tournament.rounds.get(&number));
    let pairings = round.into_iter().flat_map(|round| &round.pairings);
    let view = PairedView {
        halls: tournament.hall_views(),
        round: number,
        rounds: tournament.rounds.keys().copied().collect(),
        tables: pairings.filter_map(table).collect(),
    };
    serde_json::to_string(&view).unwrap_or_default()
}

/// The view of a pairing; `None` if it has no table or is not played, such as a bye.
fn table(pairing: &Pairing) -> Option<PairedTable<'_>> {
    let [white, black] =
        [&pairing.white, &pairing.black].map(|player| player.as_ref().map(|player| player.name.as_str()));
    Some(PairedTable {
        black,
        result: pairing.result,
        table: pairing.table.filter(|_| pairing.is_played())?,
        white,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        paired.tournament = Arc::new(tournament.clone());
        paired.round = Some(5);
        let sent: Value = serde_json::from_str(&paired.poll_change().expect("others")).expect("JSON");
        assert_eq!(sent["rounds"], json!([4, 5]));
        let alone = json!([{"table": 1, "white": "Clausen", "black": "Dorn", "result": null}]);
        assert_eq!(sent["tables"], alone, "with a table and two players");
        assert_eq!(paired.poll_change(), None);
        paired.tournament = Arc::new(tournament);
        assert_eq!(paired.poll_change(), None, "the file was read again");
        paired.round = Some(4);
        let sent: Value = serde_json::from_str(&paired.poll_change().expect("another round")).expect("JSON");
        assert_eq!(sent["tables"][0]["result"], "1-0");
    }
}
