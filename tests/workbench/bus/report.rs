//! A report for debugging: actions and events at one board of the bus.

use core::fmt::Write;
use core::time::Duration;

use kiebitz_game::events::Event;
use kiebitz_hardware::emulator::hand::Deed;
use kiebitz_hardware::{Observation, Timestamp};
use kiebitz_protocol::{Element, Field};
use shakmaty::Square;

use super::world::Table;
use crate::hands::hall::OPENING;

/// Describes the first difference between the played and the published moves of a board, with all actions, observations
/// and events around it.
pub(super) fn describe(table: &Table) -> String {
    let (played, published) = (table.played(), table.published());
    let Some(game) =
        (0..played.len().max(published.len())).find(|nth| played.get(*nth) != published.get(*nth))
    else {
        return "every game is right".to_owned();
    };
    let nothing = Vec::new();
    let (played, published) = (
        played.get(game).unwrap_or(&nothing),
        published.get(game).unwrap_or(&nothing),
    );
    let ply = played.iter().zip(published).take_while(|(a, b)| a == b).count();
    let landed = table.landed.get(game).map_or(&[][..], Vec::as_slice);
    let end = table.deeds.last().map_or(OPENING, |(at, _)| *at);
    let from = ply.checked_sub(3).and_then(|ply| landed.get(ply)).copied();
    let before = game
        .checked_sub(1)
        .and_then(|game| table.landed.get(game)?.last());
    let from = from.or_else(|| before.copied()).unwrap_or(OPENING);
    let until = landed.get(ply + 16).copied().unwrap_or(end) + Duration::from_secs(8);
    let mut text = String::new();
    let shown = ply.saturating_sub(3);
    let part = |moves: &[String]| {
        moves
            .iter()
            .skip(shown)
            .take(9)
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    writeln!(text, "{:?}", table.setting()).unwrap();
    writeln!(
        text,
        "game {}, ply {} of {}: played {} ... published {}",
        game + 1,
        ply + 1,
        played.len(),
        part(played),
        part(published)
    )
    .unwrap();
    let mut lines: Vec<(Timestamp, String)> = Vec::new();
    lines.extend(table.deeds.iter().map(|(at, deed)| (*at, in_words(*deed))));
    for observed in &table.observed {
        let words = observation_in_words(&observed.observation, table.setting().turned);
        lines.extend(words.map(|words| (observed.at, words)));
    }
    lines.extend(table.events.iter().map(|event| (event.ts, event_in_words(event))));
    lines.retain(|(at, _)| *at >= from && *at <= until);
    lines.sort_by_key(|(at, _)| *at);
    for (at, words) in lines {
        writeln!(text, "{:9.3} {words}", since_opening(at)).unwrap();
    }
    text
}

fn since_opening(at: Timestamp) -> f64 {
    at.saturating_duration_since(OPENING).as_secs_f64()
}

fn in_words(deed: Deed) -> String {
    match deed {
        Deed::Stands(field, None) => format!("hand  {} lifted", square(field)),
        Deed::Stands(field, Some(piece)) => format!("hand  {} {piece:?}", square(field)),
        other => format!("hand  {other:?}"),
    }
}

fn observation_in_words(observation: &Observation, turned: bool) -> Option<String> {
    match observation {
        Observation::Changes {
            elements,
            not_before,
            not_after,
            ..
        } => {
            let words: Vec<String> = elements.iter().map(|element| change(element, turned)).collect();
            let words = words.join(", ");
            let (from, to) = (since_opening(*not_before), since_opening(*not_after));
            Some(format!("board from {from:.3} to {to:.3}: {words}"))
        }
        Observation::Clock { times, .. } => Some(format!(
            "clock {} left {} right {} {}",
            if times.lever_right_high { "right" } else { "left" },
            times.left.total_seconds(),
            times.right.total_seconds(),
            if times.running { "runs" } else { "stands" },
        )),
        Observation::Board { .. } => Some("board dump".to_owned()),
        Observation::Disturbed { .. } | Observation::Closed { .. } | Observation::Opened => {
            Some(format!("line  {observation:?}"))
        }
        _ => None,
    }
}

fn change(element: &Element, turned: bool) -> String {
    match *element {
        Element::PieceChange {
            contents,
            field,
            quick,
        } => {
            let field = if turned { field.turned() } else { field };
            let shown = contents.map_or_else(|| "empty".to_owned(), |piece| format!("{piece:?}"));
            format!("{} {shown}{}", square(field), if quick { "~" } else { "" })
        }
        Element::ClockTime {
            left,
            hours,
            minutes,
            seconds,
        } => {
            let side = if left { "left" } else { "right" };
            format!("press {side} {hours}:{minutes:02}:{seconds:02}")
        }
        other => format!("{other:?}"),
    }
}

fn event_in_words(event: &Event) -> String {
    format!("event {}", serde_json::to_string(&event.kind).unwrap())
}

fn square(field: Field) -> Square {
    Square::new(u32::from(field.number())).flip_vertical()
}
