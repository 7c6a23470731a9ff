//! `kiebitz games`.

use std::io::Write;

use anyhow::Result;
use jiff::tz::TimeZone;
use kiebitz_hardware::Timestamp;

use super::request::{GamesForm, GamesRequest};
use super::{failure, replay};
use crate::Exit;
use crate::kept::{KeptGames, Listed};
use crate::system_time;

pub(super) fn run(request: &GamesRequest, out: &mut impl Write) -> Result<Exit> {
    let Some(config) = replay::config_of_games(request.config.as_deref()) else {
        return Ok(Exit::Usage);
    };
    let kept = KeptGames::open(&config)?;
    let zone = system_time::local_zone();
    let selection = &request.selection;
    let period = selection.period.in_zone(&zone, system_time::wall_time());
    let mut listed = Vec::new();
    for game in kept.all()? {
        // Check the indexed fields first, because the other criteria need all events of the game.
        if period.contains(game.entry.started) && selection.is_on_board(&game.board) {
            let line = Listed::of(&game, &kept.events(&game)?);
            listed.extend(line.filter(|line| request.wants(line)));
        }
    }
    match request.form {
        GamesForm::Ids => listed
            .iter()
            .try_for_each(|game| writeln!(out, "{}", game.game))?,
        GamesForm::Json => listed.iter().try_for_each(|game| {
            serde_json::to_writer(&mut *out, game)?;
            anyhow::Ok(writeln!(out)?)
        })?,
        GamesForm::Lines if listed.is_empty() => failure::note(&format!(
            "kiebitz: no such games in the journal {}",
            kept.file().display()
        )),
        GamesForm::Lines => lines(&listed, &zone, out)?,
    }
    Ok(Exit::Fine)
}

impl GamesRequest {
    fn wants(&self, game: &Listed) -> bool {
        self.player.as_ref().is_none_or(|player| game.is_of(player))
            && self.result.is_none_or(|result| result == game.result)
            && (!self.unfinished || game.reason.is_none())
            && (!self.violations || game.violations > 0)
    }
}

fn players(game: &Listed) -> String {
    let name = |name: Option<&String>| -> String {
        let name = name.map_or("?", String::as_str);
        name.chars().filter(|c| !c.is_control()).collect()
    };
    format!("{} - {}", name(game.white.as_ref()), name(game.black.as_ref()))
}

fn outcome(game: &Listed) -> String {
    match game.reason {
        None => "not finished".to_owned(),
        Some(reason) => format!("{} {}", game.result, reason.as_str().replace('_', " ")),
    }
}

fn findings(game: &Listed) -> String {
    let counted = [
        (game.violations, "violation", "violations"),
        (game.advice, "advice", "advice"),
        (game.hints, "hint", "hints"),
    ];
    let counted = counted.iter().filter(|(number, ..)| *number > 0);
    let counted =
        counted.map(|(number, one, more)| format!("{number} {}", if *number == 1 { one } else { more }));
    counted.collect::<Vec<_>>().join(", ")
}

/// Prints a line for each game, in aligned columns.
fn lines(games: &[Listed], zone: &TimeZone, out: &mut impl Write) -> Result<()> {
    let rows = games.iter().map(|game| {
        let ended = game
            .ended
            .map_or_else(|| "     ".to_owned(), |at| time(at, zone, "%H:%M"));
        [
            game.game.clone(),
            format!("{}-{ended}", time(game.started, zone, "%Y-%m-%d %H:%M")),
            players(game),
            outcome(game),
            format!("{} moves", game.plies.div_ceil(2)),
            findings(game),
        ]
    });
    let rows: Vec<[String; 6]> = rows.collect();
    let width = |column: usize| {
        let widths = rows
            .iter()
            .filter_map(|row| Some(row.get(column)?.chars().count()));
        widths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    for row in &rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn time(at: Timestamp, zone: &TimeZone, format: &str) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(
        |_| "?".to_owned(),
        |at| at.to_zoned(zone.clone()).strftime(format).to_string(),
    )
}
