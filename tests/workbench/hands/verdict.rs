//! Compares the events of a capture with the game that was played.

use std::fmt::Write;

use kiebitz::config::Config;
use kiebitz::replay::Replay;
use kiebitz_game::events::{Event, EventKind};
use kiebitz_game::hall::Names;
use kiebitz_game::laws::{IncidentKind, Severity};
use kiebitz_game::model::Model;
use kiebitz_hardware::Timestamp;
use kiebitz_hardware::capture::{CaptureReader, Content, Direction};
use kiebitz_hardware::emulator::hand::Deed;
use kiebitz_protocol::{Decoder, Field, Message};
use shakmaty::Square;

use super::games::Game;
use super::hall::OPENING;
use super::play::Play;

pub fn events(capture: &[u8]) -> Vec<Event> {
    events_by(&Model::FITTED, capture)
}

/// Returns the events of a capture of a game with this time control.
pub fn events_under(time_control: &str, capture: &[u8]) -> Vec<Event> {
    let mut config = Config::default();
    config.event.time_control = Some(time_control.parse().unwrap());
    let names = Names::RecordedAs(config.roster());
    events_of(Replay::new(capture, "hands").unwrap().named(names))
}

/// Returns the events of a capture under another model.
pub fn events_by(model: &'static Model, capture: &[u8]) -> Vec<Event> {
    events_of(Replay::new(capture, "hands").unwrap().following(model))
}

fn events_of(mut replay: Replay<&[u8]>) -> Vec<Event> {
    let mut events = Vec::new();
    while replay.next_at().is_some() {
        events.extend(
            replay
                .step()
                .unwrap()
                .into_iter()
                .map(|explained| explained.event),
        );
    }
    events
}

/// Returns the published moves, ply by ply, without retracted ones. A second game appears as "new game".
pub fn moves_published(events: &[Event]) -> Vec<String> {
    let mut published: Vec<String> = Vec::new();
    let mut games = 0;
    for event in events {
        match &event.kind {
            EventKind::GameStarted { .. } => {
                games += 1;
                if games > 1 {
                    published.push("new game".to_owned());
                }
            }
            EventKind::MoveMade(m) | EventKind::MoveAmended { played: m, .. } => {
                published.truncate(m.ply as usize - 1);
                published.push(m.uci.clone().unwrap_or_else(|| "irregular".to_owned()));
            }
            EventKind::MoveRetracted { ply, .. } => published.truncate(*ply as usize - 1),
            _ => {}
        }
    }
    published
}

/// Returns the kinds of incidents that called for action against a player, each once. Incidents of faulty sensors do
/// not count.
pub fn accusations(events: &[Event]) -> Vec<String> {
    let mut kinds = std::collections::BTreeSet::new();
    for event in events {
        let (EventKind::IncidentOpened(incident) | EventKind::IncidentUpdated(incident)) = &event.kind else {
            continue;
        };
        let accuses = incident.severity >= Severity::Advice;
        if accuses && incident.kind != IncidentKind::SensorFault {
            kinds.insert(incident.kind.to_string());
        }
    }
    kinds.into_iter().collect()
}

/// Returns the result of the last ended game. Empty if there is none or it is `*`.
pub fn result(events: &[Event]) -> String {
    let ended = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::GameEnded { result, .. } => Some(result.to_string()),
        _ => None,
    });
    ended.filter(|result| result != "*").unwrap_or_default()
}

/// Returns the number of published plies that were amended or retracted.
pub fn corrections(events: &[Event]) -> usize {
    let corrects = |event: &&Event| {
        matches!(
            event.kind,
            EventKind::MoveAmended { .. } | EventKind::MoveRetracted { .. }
        )
    };
    events.iter().filter(corrects).count()
}

/// Returns the first ply that was not published as played, from 0. `None` if all are right.
pub fn first_difference(game: &Game, events: &[Event]) -> Option<usize> {
    let (played, published) = (game.uci(), moves_published(events));
    (played != published).then(|| played.iter().zip(&published).take_while(|(a, b)| a == b).count())
}

/// Describes the actions and events around a ply.
pub fn describe(game: &Game, play: &Play, capture: &[u8], ply: usize) -> String {
    let from = play.begun.get(ply.saturating_sub(1)).copied().unwrap_or_default();
    let until = play.begun.get(ply + 3).copied().unwrap_or(play.end);
    let mut lines: Vec<(i64, String)> = Vec::new();
    for step in play
        .steps
        .iter()
        .filter(|step| step.at >= from && step.at <= until)
    {
        let words = match step.deed {
            Deed::Stands(field, None) => format!("hand  {} lifted", square(field)),
            Deed::Stands(field, Some(piece)) => format!("hand  {} {piece:?}", square(field)),
            other => format!("hand  {other:?}"),
        };
        lines.push((step.at.as_micros() as i64, words));
    }
    lines.extend(observed(play, capture));
    for event in events(capture) {
        let words = serde_json::to_string(&event.kind).unwrap();
        lines.push((micros(event.ts), format!("event {words}")));
    }
    lines.retain(|(at, _)| *at >= from.as_micros() as i64 && *at <= until.as_micros() as i64 + 3_000_000);
    lines.sort_by_key(|(at, _)| *at);
    let mut text = format!(
        "played    {:?}\n",
        &game.uci()[ply.saturating_sub(1)..game.moves.len().min(ply + 3)]
    );
    writeln!(
        text,
        "published {:?}",
        moves_published(&events(capture))
            .get(ply.saturating_sub(1)..)
            .unwrap_or_default()
    )
    .unwrap();
    for (at, words) in lines {
        writeln!(text, "{:9.3} {words}", at as f64 / 1e6).unwrap();
    }
    text
}

fn observed(play: &Play, capture: &[u8]) -> Vec<(i64, String)> {
    let mut reader = CaptureReader::new(capture).unwrap();
    let mut decoder = Decoder::new();
    let mut lines = Vec::new();
    let mut lever = None;
    while let Some(packet) = reader.next_packet().unwrap() {
        let Content::Bytes {
            direction: Direction::Inbound,
            bytes,
        } = packet.content
        else {
            continue;
        };
        decoder.feed(&bytes, |decoded| match decoded.unwrap() {
            Message::FieldUpdate(update) => {
                let field = if play.setting.turned {
                    update.field.turned()
                } else {
                    update.field
                };
                let words = format!("board {} {:?}", square(field), update.contents);
                lines.push((micros(packet.at), words));
            }
            Message::ClockTimes(times) if lever != Some(times.lever_right_high) => {
                lever = Some(times.lever_right_high);
                lines.push((
                    micros(packet.at),
                    format!("board lever right high: {}", times.lever_right_high),
                ));
            }
            _ => {}
        });
    }
    lines
}

fn square(field: Field) -> Square {
    Square::new(u32::from(field.number())).flip_vertical()
}

fn micros(at: Timestamp) -> i64 {
    at.as_micros() - OPENING.as_micros()
}
