//! Rendering of the standings.

use super::Renderer;
use crate::outputs::report::model::Standings;
use crate::outputs::report::words::fill;

impl Renderer<'_> {
    pub(in crate::outputs::report) fn after_round(self, standings: &Standings) -> String {
        let (round, open) = (standings.round.to_string(), standings.open.to_string());
        fill(self.words.after_round, &[("round", &round), ("open", &open)])
    }

    pub(in crate::outputs::report) const fn player_heads(self) -> [&'static str; 5] {
        let words = self.words;
        [
            words.number,
            words.player,
            words.rating,
            words.points,
            words.played_games,
        ]
    }

    pub(in crate::outputs::report) fn player_rows(self, standings: &Standings) -> Vec<[String; 5]> {
        let rows = (1..).zip(&standings.players).map(|(number, player)| {
            let title = player.title.as_ref().map(|title| format!("{title} "));
            [
                number.to_string(),
                title.unwrap_or_default() + &player.name,
                player.rating.map(|rating| rating.to_string()).unwrap_or_default(),
                points(player.half_points),
                player.games.to_string(),
            ]
        });
        rows.collect()
    }

    pub(in crate::outputs::report) const fn team_heads(self) -> [&'static str; 4] {
        let words = self.words;
        [words.number, words.team, words.match_points, words.board_points]
    }

    pub(in crate::outputs::report) fn team_rows(self, standings: &Standings) -> Vec<[String; 4]> {
        let rows = (1..).zip(&standings.teams).map(|(number, team)| {
            [
                number.to_string(),
                team.name.clone(),
                team.match_points.to_string(),
                points(team.half_points),
            ]
        });
        rows.collect()
    }
}

/// Formats points with a fraction, as in "2½".
fn points(half_points: u32) -> String {
    match (half_points / 2, half_points % 2) {
        (0, 1) => "½".to_owned(),
        (whole, 1) => format!("{whole}½"),
        (whole, _) => whole.to_string(),
    }
}
