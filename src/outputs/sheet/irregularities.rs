//! Irregularities of a game in plain words, one for each event.

use kiebitz_game::events::record::MoveRecord;
use kiebitz_game::events::{
    Action, CompletedBy, CorrectionReason, Event, EventKind, Incident, Move, Recovery,
};
use kiebitz_game::laws::Severity;
use kiebitz_hardware::Timestamp;
use kiebitz_protocol::Counters;

use super::words::{LocalTime, played};
use super::{GameSheet, Presence};
use crate::clock::taken;
use crate::outputs::shared::numbering::Numbering;
use crate::outputs::shared::wrap::wrapped;

/// Maximum line length, in columns.
const MAX_WIDTH: usize = 100;
/// Indent of lines below a heading, in columns.
pub(super) const INDENT: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Irregularity {
    ts: Timestamp,
    text: String,
}

impl Irregularity {
    /// Time and text, wrapped to lines below a heading.
    pub(super) fn lines(&self, local: &LocalTime) -> Vec<String> {
        let time = local.time(self.ts);
        // Continuation lines are aligned with the text after the time.
        let before = format!("{:INDENT$}{time}  ", "");
        let column = before.chars().count();
        let mut lines = wrapped(&self.text, MAX_WIDTH, column, column);
        if let Some(first) = lines.first_mut() {
            *first = format!("{before}{}", first.trim_start());
        }
        lines
    }
}

/// Returns the irregularity that an event reports, if any. Must be called before the game applies the event. `seen` is
/// whether board and clock had been connected before.
pub(super) fn of(
    event: &Event,
    seen: Presence,
    game: Option<&GameSheet>,
    local: &LocalTime,
) -> Option<Irregularity> {
    let text = match (&event.kind, game) {
        (EventKind::BoardConnected { .. }, _) if seen.board => "the board is connected again".to_owned(),
        (EventKind::BoardDisconnected { reason }, game) => disconnected(reason, game),
        (EventKind::BoardRecovered { by, changes, .. }, _) => recovered(*by, *changes),
        (EventKind::ClockBatteryLow {}, _) => "the clock's battery is low".to_owned(),
        (EventKind::TimeSet { by_ms }, _) => {
            let direction = if *by_ms < 0 { "back" } else { "forward" };
            let by = taken(by_ms.unsigned_abs());
            format!("the computer's clock was set {direction} by {by}")
        }
        (EventKind::ClockConnected {}, _) if seen.clock => "the clock is connected again".to_owned(),
        (EventKind::ClockDisconnected {}, _) if seen.clock => "the clock was disconnected".to_owned(),
        (EventKind::IncidentOpened(incident), _) => incident_text(incident)?,
        (EventKind::IncidentUpdated(incident), _) => incident_text(incident)?,
        (EventKind::MoveMade(entry), Some(game)) => made(entry, game.numbering)?,
        (
            EventKind::MoveAmended {
                played: entry,
                replaces,
                reason,
            },
            Some(game),
        ) => amended(entry, replaces.as_deref(), *reason, game),
        (EventKind::MoveRetracted { ply, reason }, Some(game)) => retracted(*ply, *reason, game),
        (EventKind::GameResumed { result, .. }, _) => {
            format!("the game goes on: {result}, which the board had shown, is withdrawn")
        }
        (
            EventKind::CommandTaken {
                by, action, error, ..
            },
            _,
        ) => commanded(by, *action, error.as_deref()),
        _ => return None,
    };
    let at = event.at.filter(|at| local.time(*at) != local.time(event.ts));
    let text = match at {
        Some(at) => format!("{text} (on the board since {})", local.time(at)),
        None => text,
    };
    Some(Irregularity { ts: event.ts, text })
}

/// Lists the moves after which no press of the clock was seen, if the game was played with a clock.
pub(super) fn without_press(game: &GameSheet) -> Option<String> {
    // The last move needs no press: it may have ended the game.
    let (_, moves) = game.record.moves.split_last()?;
    let missed: Vec<String> = moves
        .iter()
        .filter(|entry| {
            !entry.inferred && !matches!(entry.completed, Some(CompletedBy::Press | CompletedBy::GameEnd))
        })
        .map(|entry| name(entry, game.numbering))
        .collect();
    (game.clock && !missed.is_empty())
        .then(|| format!("No press of the clock was seen after {}", missed.join(", ")))
}

/// Number of bytes that belong to no message.
pub(super) fn dropped(counters: &Counters) -> Option<String> {
    let bytes = counters.skipped_bytes + counters.rejected_bytes;
    let total = bytes + counters.message_bytes;
    (bytes > 0)
        .then(|| format!("{bytes} of {total} bytes from the board belong to no message and were dropped"))
}

fn commanded(by: &str, action: Action, error: Option<&str>) -> String {
    let (done, wanted) = match action {
        Action::SetPlayers => ("named the players", "name the players"),
        Action::SetTimeControl => ("set the time control", "set the time control"),
        Action::SetResult => ("entered the result", "enter the result"),
        Action::SetBye => (
            "entered the points of a player without an opponent",
            "enter the points of a player without an opponent",
        ),
        Action::AssignGame => (
            "decided which pairing the game counts for",
            "decide which pairing the game counts for",
        ),
        Action::SetPosition => ("set the position", "set the position"),
        Action::CorrectMoves => ("corrected the moves", "correct the moves"),
        Action::CloseIncident => ("closed an incident", "close an incident"),
        Action::Annotate => ("made a note", "make a note"),
        Action::Attend => (
            "said whether they go to the board",
            "say whether they go to the board",
        ),
        Action::NewGame => ("began a new game", "begin a new game"),
        Action::EndGame => ("ended the game without a result", "end the game without a result"),
        Action::SyncClockSides => ("set White's side of the clock", "set White's side of the clock"),
        Action::StartRound => ("set the start of the round", "set the start of the round"),
        Action::Claim => ("recorded a claim of a draw", "record a claim of a draw"),
        Action::DecideClaim => ("decided a claim of a draw", "decide a claim of a draw"),
        Action::Identify => ("identified the board", "identify the board"),
        Action::SetTable => ("put the board at another table", "put the board at another table"),
        Action::Forget => (
            "removed the board from the list",
            "remove the board from the list",
        ),
    };
    match error {
        None => format!("{by} {done}"),
        Some(error) => format!("{by} could not {wanted}: {error}"),
    }
}

/// Article and advice of an incident; `None` if its severity is `Info`, which is for the record only.
fn incident_text(incident: &Incident) -> Option<String> {
    if incident.severity == Severity::Info {
        return None;
    }
    let article = match incident.article.as_str() {
        "" => String::new(),
        article => format!(", Art. {article}"),
    };
    Some(format!("{}{article}: {}", incident.severity, incident.advice))
}

fn disconnected(reason: &str, game: Option<&GameSheet>) -> String {
    let reason = if reason.is_empty() {
        String::new()
    } else {
        format!(": {reason}")
    };
    let after = game.and_then(|game| Some(name(game.record.moves.last()?, game.numbering)));
    match after {
        Some(after) => format!("the board was disconnected after {after}{reason}"),
        None => format!("the board was disconnected{reason}"),
    }
}

fn recovered(by: Recovery, changes: usize) -> String {
    match by {
        Recovery::Memory => {
            format!("the gap was read from the board's memory: {changes} changes of squares")
        }
        Recovery::Inferred => "the moves in the gap follow from the position on the board".to_owned(),
        Recovery::Undecidable => "the moves in the gap cannot be reconstructed: moves are missing".to_owned(),
    }
}

fn made(entry: &Move, numbering: Numbering) -> Option<String> {
    let name = move_name(entry, numbering);
    match (entry.legal, entry.inferred) {
        (true, false) => None,
        (true, true) if !entry.order_certain => Some(format!(
            "{name} was not seen, and the order of the moves is uncertain"
        )),
        (true, true) => Some(format!("{name} was not seen")),
        (false, _) => Some(format!("{name} is not a legal move")),
    }
}

fn amended(entry: &Move, replaces: Option<&str>, reason: CorrectionReason, game: &GameSheet) -> String {
    let before = game.record.moves.iter().find(|before| before.ply == entry.ply);
    let san = before.and_then(|before| before.san.as_deref());
    let (name, before) = (move_name(entry, game.numbering), played(san, replaces));
    let irregular = if entry.legal {
        ""
    } else {
        ", which is not a legal move"
    };
    let why = match reason {
        CorrectionReason::MovedOn => {
            format!("{name} was read as {before} at first: the piece had stopped on its way")
        }
        CorrectionReason::Takeback => format!("{name} was played after {before} was taken back"),
        CorrectionReason::IllegalRestored => format!("{name} was played after {before} was put right"),
        CorrectionReason::Recovered => {
            format!("{name} was read as {before} at first: later evidence showed another line")
        }
        CorrectionReason::Arbiter => format!("{name} was entered by the arbiter in place of {before}"),
        CorrectionReason::SetUp | CorrectionReason::Kings | CorrectionReason::AfterEnd => {
            format!("{name} replaces {before}: {reason}")
        }
    };
    format!("{why}{irregular}")
}

fn retracted(ply: u32, reason: CorrectionReason, game: &GameSheet) -> String {
    let withdrawn: Vec<&MoveRecord> = game
        .record
        .moves
        .iter()
        .filter(|entry| entry.ply >= ply)
        .collect();
    let first = withdrawn
        .first()
        .map_or_else(|| format!("ply {ply}"), |entry| name(entry, game.numbering));
    let (subject, was) = match withdrawn.len() {
        0 | 1 => (first, "was"),
        2 => (format!("{first} and the move after it"), "were"),
        more => (format!("{first} and the {} moves after it", more - 1), "were"),
    };
    match reason {
        CorrectionReason::Takeback => format!("{subject} {was} taken back"),
        CorrectionReason::IllegalRestored => format!("{subject} {was} put right"),
        CorrectionReason::MovedOn => format!("{subject} {was} withdrawn: the piece moved on or went back"),
        CorrectionReason::SetUp => {
            format!("{subject} {was} withdrawn: pieces were being set up for the next game")
        }
        CorrectionReason::Kings => {
            format!("{subject} {was} withdrawn: the kings were on their way to the centre")
        }
        CorrectionReason::Recovered => {
            format!("{subject} {was} withdrawn: later evidence showed another line")
        }
        CorrectionReason::Arbiter => format!("{subject} {was} withdrawn by the arbiter"),
        CorrectionReason::AfterEnd => {
            format!("{subject} {was} withdrawn: the previous move had ended the game")
        }
    }
}

fn name(entry: &MoveRecord, numbering: Numbering) -> String {
    numbering.name(entry.ply, &played(entry.san.as_deref(), entry.uci.as_deref()))
}

fn move_name(entry: &Move, numbering: Numbering) -> String {
    numbering.name(entry.ply, &played(entry.san.as_deref(), entry.uci.as_deref()))
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use kiebitz_game::events::record::GameRecord;
    use kiebitz_game::events::samples::{clock, event, ply, started};
    use kiebitz_game::position::Variant;

    use super::*;
    use crate::outputs::sheet::words::STANDARD;

    fn game(moves: &[(&str, &str)]) -> GameSheet {
        let mut record =
            GameRecord::from_started(&event(1, started(STANDARD, Variant::Standard))).expect("a game");
        for (number, (uci, san)) in (1..).zip(moves) {
            record.apply(&event(2, EventKind::MoveMade(ply(number, uci, san))));
        }
        GameSheet::new(record, true)
    }

    fn text(game: &GameSheet, kind: EventKind) -> Option<String> {
        let seen = Presence {
            board: true,
            clock: true,
        };
        of(&event(9, kind), seen, Some(game), &LocalTime::new(TimeZone::UTC))
            .map(|irregularity| irregularity.text)
    }

    #[test]
    fn withdrawn_moves_are_named_as_they_were_published() {
        let game = game(&[("e2e4", "e4"), ("e7e5", "e5"), ("g1f3", "Nf3")]);
        let retracted = |ply, reason| text(&game, EventKind::MoveRetracted { ply, reason });
        assert_eq!(
            retracted(3, CorrectionReason::Takeback).as_deref(),
            Some("2. Nf3 was taken back")
        );
        assert_eq!(
            retracted(2, CorrectionReason::Takeback).as_deref(),
            Some("1... e5 and the move after it were taken back")
        );
        let amended = EventKind::MoveAmended {
            played: ply(2, "e7e6", "e6"),
            replaces: Some("e7e5".to_owned()),
            reason: CorrectionReason::MovedOn,
        };
        assert_eq!(
            text(&game, amended).as_deref(),
            Some("1... e6 was read as e5 at first: the piece had stopped on its way")
        );
    }

    #[test]
    fn only_irregular_moves_are_listed() {
        let game = game(&[]);
        let regular = ply(1, "e2e4", "e4");
        let irregular = Move {
            san: None,
            legal: false,
            uci: Some("e2e5".to_owned()),
            ..regular.clone()
        };
        assert_eq!(text(&game, EventKind::MoveMade(regular)), None);
        assert_eq!(
            text(&game, EventKind::MoveMade(irregular)).as_deref(),
            Some("1. [e2-e5] is not a legal move")
        );
    }

    #[test]
    fn last_move_needs_no_press() {
        let mut game = game(&[("e2e4", "e4"), ("e7e5", "e5"), ("g1f3", "Nf3")]);
        let pressed = EventKind::MoveCompleted {
            ply: 1,
            by: CompletedBy::Press,
            clock: Some(clock(590)),
            elapsed_ms: None,
        };
        game.record.apply(&event(8, pressed));
        assert_eq!(
            without_press(&game).as_deref(),
            Some("No press of the clock was seen after 1... e5")
        );
        game.clock = false;
        assert_eq!(without_press(&game), None);
    }
}
