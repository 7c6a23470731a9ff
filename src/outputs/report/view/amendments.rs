//! Rendering of corrections, board and clock events, and commands.

use kiebitz_game::command::Paired;
use kiebitz_game::events::GameResult;

use super::{GameRenderer, Renderer};
use crate::outputs::report::model::{Amendment, Correction, Note};
use crate::outputs::report::words::{fill, label};

impl Renderer<'_> {
    pub(in crate::outputs::report) fn person(self, by: &str) -> String {
        label(self.words.people, by).to_owned()
    }

    /// Formats the arguments of a command, one line for each.
    fn arguments(self, arguments: &serde_json::Value) -> Vec<String> {
        let known = self.words.arguments;
        let position_of = |name: &str| known.iter().position(|(word, _)| *word == name);
        let mut fields: Vec<_> = arguments.as_object().into_iter().flatten().collect();
        // This field is not part of the person's command.
        fields.retain(|(name, _)| *name != Paired::FIELD);
        fields.sort_by_key(|(name, _)| position_of(name));
        let lines = fields.into_iter().map(|(name, value)| {
            let value = match (name.as_str(), value) {
                ("reason", serde_json::Value::String(reason)) => self.end_reason(reason).to_owned(),
                ("kind" | "color" | "ruling", serde_json::Value::String(key)) => label(known, key).to_owned(),
                (_, value) => self.value(value),
            };
            format!("{}: {value}", label(known, name))
        });
        lines.collect()
    }

    /// Formats a value of a command in words.
    fn value(self, value: &serde_json::Value) -> String {
        let known = self.words.arguments;
        match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(list) => {
                let is_nested = list.iter().any(|one| one.is_object() || one.is_array());
                let list: Vec<String> = list.iter().map(|one| self.value(one)).collect();
                list.join(if is_nested { "; " } else { " " })
            }
            serde_json::Value::Object(facts) => {
                let facts = facts
                    .iter()
                    .map(|(name, value)| format!("{} {}", label(known, name), self.value(value)));
                facts.collect::<Vec<_>>().join(", ")
            }
            // Numbers, booleans and null.
            other => label(known, &other.to_string()).to_owned(),
        }
    }

    /// Formats a command or a change, one line for each part.
    pub(in crate::outputs::report) fn amendment(self, amendment: &Amendment) -> Vec<String> {
        let words = self.words;
        match amendment {
            Amendment::Command {
                action,
                arguments,
                error,
                note,
                ..
            } => {
                let mut lines = vec![fill(
                    words.command,
                    &[("action", label(words.actions, action.as_str()))],
                )];
                lines.extend(self.arguments(arguments));
                lines.extend(
                    error
                        .as_ref()
                        .map(|error| fill(words.refused, &[("error", error)])),
                );
                let note = note.as_ref().map(|note| fill(words.answered, &[("note", note)]));
                lines.extend(note);
                lines
            }
            Amendment::Game {
                result,
                reason,
                players,
                time_control,
                moves,
                position,
                note,
                ..
            } => {
                let mut lines: Vec<String> = Vec::new();
                lines.extend(result.map(|result| {
                    if result == GameResult::Unknown && reason.is_none() {
                        return words.goes_on.to_owned();
                    }
                    let why = reason.map(|reason| format!(": {}", self.end_reason(reason.as_str())));
                    fill(words.changed_result, &[("result", result.as_str())]) + &why.unwrap_or_default()
                }));
                lines.extend(players.as_ref().map(|players| {
                    let (white, black) = self.players(Some(players));
                    fill(words.changed_players, &[("white", &white), ("black", &black)])
                }));
                let changes = [
                    (words.changed_time_control, "control", time_control.clone()),
                    (
                        words.changed_moves,
                        "n",
                        moves.as_ref().map(|moves| moves.len().to_string()),
                    ),
                    (words.changed_position, "fen", position.clone()),
                    (words.changed_note, "note", note.clone()),
                ];
                lines.extend(
                    changes
                        .into_iter()
                        .filter_map(|(template, name, value)| Some(fill(template, &[(name, &value?)]))),
                );
                lines
            }
        }
    }
}

impl GameRenderer<'_> {
    pub(in crate::outputs::report) fn all_withdrawn(self, correction: &Correction) -> String {
        let withdrawn = correction.withdrawn.iter().map(|entry| self.withdrawn(entry));
        withdrawn.collect::<Vec<_>>().join(", ")
    }

    /// Returns the time, the preceding move and the description of a note.
    pub(in crate::outputs::report) fn note(self, note: &Note) -> [String; 3] {
        let (Note::Gap { after_ply, .. }
        | Note::EndNotWatched { after_ply, .. }
        | Note::BoardDisconnected { after_ply, .. }
        | Note::BoardConnected { after_ply, .. }
        | Note::ClockDisconnected { after_ply, .. }
        | Note::ClockConnected { after_ply, .. }
        | Note::ClockBatteryLow { after_ply, .. }
        | Note::TimeSet { after_ply, .. }) = note;
        let time = match note {
            Note::Gap { from, to, .. } => {
                format!("{} - {}", self.view.time(*from), self.view.time(*to))
            }
            other => self.view.time(other.ts()),
        };
        let after = format!("{} {}", self.view.words.after, self.name(*after_ply));
        [time, after, self.view.words.note(note)]
    }
}
