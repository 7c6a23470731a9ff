//! Rendering of the standings.

use super::Renderer;
use crate::outputs::report::model::Standings;
use crate::outputs::report::words::{fill, label};

impl Renderer<'_> {
    pub(in crate::outputs::report) fn after_round(self, standings: &Standings) -> String {
        let (round, open) = (standings.round.to_string(), standings.open.to_string());
        fill(self.words.after_round, &[("round", &round), ("open", &open)])
    }

    /// Explains how players with equal points are ranked.
    pub(in crate::outputs::report) fn about_ranking(self, standings: &Standings) -> String {
        let words = self.words;
        if !standings.rounds_known {
            return words.rounds_unknown.to_owned();
        }
        if standings.tie_breaks.is_empty() {
            return words.equal_points.to_owned();
        }
        let names = standings
            .tie_breaks
            .iter()
            .map(|tie_break| label(words.tie_breaks, tie_break.as_str()));
        let names: Vec<&str> = names.collect();
        fill(words.ranked_by, &[("names", &names.join(", "))])
    }

    pub(in crate::outputs::report) fn player_heads(self, standings: &Standings) -> Vec<&'static str> {
        let words = self.words;
        let mut heads = vec![words.number, words.player, words.rating, words.points];
        let tie_breaks = standings.tie_breaks.iter();
        heads.extend(tie_breaks.map(|tie_break| label(words.tie_break_heads, tie_break.as_str())));
        heads.push(words.played_games);
        heads
    }

    pub(in crate::outputs::report) fn player_rows(self, standings: &Standings) -> Vec<Vec<String>> {
        let rows = standings.players.iter().map(|player| {
            let title = player.title.as_ref().map(|title| format!("{title} "));
            let mut row = vec![
                player.rank.to_string(),
                title.unwrap_or_default() + &player.name,
                player.rating.map(|rating| rating.to_string()).unwrap_or_default(),
                points(player.half_points),
            ];
            row.extend(
                { player.tie_breaks.iter() }.map(|value| value.map(with_quarters).unwrap_or_default()),
            );
            row.push(player.games.to_string());
            row
        });
        rows.collect()
    }

    pub(in crate::outputs::report) fn team_heads(self) -> Vec<&'static str> {
        let words = self.words;
        vec![words.number, words.team, words.match_points, words.board_points]
    }

    pub(in crate::outputs::report) fn team_rows(self, standings: &Standings) -> Vec<Vec<String>> {
        let rows = standings.teams.iter().map(|team| {
            vec![
                team.rank.to_string(),
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

/// Formats a value that is a multiple of a quarter, as in "12¼".
fn with_quarters(value: f32) -> String {
    let (whole, part) = (value.trunc(), value.fract());
    let fraction = match part {
        0.25 => "¼",
        0.5 => "½",
        0.75 => "¾",
        _ => return whole.to_string(),
    };
    if whole == 0.0 {
        fraction.to_owned()
    } else {
        format!("{whole}{fraction}")
    }
}
