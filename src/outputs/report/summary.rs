//! Summary of a game: the points that an arbiter looks for first.

use kiebitz_game::events::{EndReason, GameResult, Recovery};
use kiebitz_game::laws::Severity;

use super::model::{GameReport, IncidentReport, Note, Open, Summary};

/// Computes the summary. The rest of the report must be complete.
pub(super) fn of(game: &GameReport) -> Summary {
    let of_severity = |severities: &[Severity]| -> Vec<u64> {
        let incidents = game.incidents.iter();
        let matching = incidents.filter(|entry| severities.contains(&entry.incident.severity));
        matching.map(|entry| entry.incident.incident).collect()
    };
    let gaps = game.notes.iter().filter_map(|note| match note {
        Note::Gap { by, .. } => Some(*by),
        _ => None,
    });
    Summary {
        violations: of_severity(&[Severity::Violation]),
        advice: of_severity(&[Severity::Advice]),
        hints: of_severity(&[Severity::Hint, Severity::Info]),
        open: open(game),
        gaps: gaps.clone().count(),
        undecided_gaps: gaps.filter(|by| *by == Recovery::Undecidable).count(),
    }
}

fn open(game: &GameReport) -> Vec<Open> {
    let record = &game.record;
    let needs_action = |entry: &&IncidentReport| {
        entry.closed.is_empty() && matches!(entry.incident.severity, Severity::Violation | Severity::Advice)
    };
    let mut open: Vec<Open> = Vec::new();
    if record.result == GameResult::Unknown
        && !matches!(record.reason, Some(EndReason::Void | EndReason::Adjourned))
    {
        open.push(Open::Result);
    } else if record.result != GameResult::Unknown && !record.confirmed {
        open.push(Open::Confirmation);
    }
    let last = record.moves.last();
    if record.ended.is_none() && last.is_some_and(|entry| entry.settled.is_none()) {
        open.push(Open::LastMove);
    }
    // People wait for the decision on the latest incident, so it comes first.
    open.extend(
        game.incidents
            .iter()
            .rev()
            .filter(needs_action)
            .map(|entry| Open::Incident {
                incident: entry.incident.incident,
            }),
    );
    open
}
