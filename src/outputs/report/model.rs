//! Data of a report, independent of language.

use kiebitz_game::events::record::GameRecord;
use kiebitz_game::events::{
    Action, ClosedBy, CorrectionReason, EndReason, GameResult, Incident, IncidentEnd, Players, Recovery,
    SquareChange, color, rfc3339, rfc3339_option,
};
use kiebitz_game::laws::Severity;
use kiebitz_hardware::Timestamp;
use serde::Serialize;
use shakmaty::Color;

use super::claims::Claims;
use super::frames::{Frame, FrameSpan, Frames};
use crate::tournament::TieBreak;

/// The games of one or several boards, with all evidence that the arbiter may need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Version of this format: 1.
    pub v: u8,
    /// File from which the report was made, if any.
    pub source: Option<SourceFile>,
    /// Games, in the order in which they started.
    pub games: Vec<GameReport>,
    /// Incidents outside games that no game followed.
    pub outside: Vec<IncidentReport>,
    /// Standings of the event, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standings: Option<Standings>,
}

/// Standings of the event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standings {
    /// Last round that has a game or a result.
    pub round: u32,
    /// Number of games up to this round that have no result yet.
    pub open: usize,
    /// Whether every round is known game by game, as tie-breaks require.
    pub rounds_known: bool,
    /// Tie-breaks of the players, in order of precedence.
    pub tie_breaks: Vec<TieBreak>,
    /// Players, the best first.
    pub players: Vec<PlayerStanding>,
    /// Teams, the best first; empty if teams do not play each other.
    pub teams: Vec<TeamStanding>,
}

/// A player in the standings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayerStanding {
    /// Rank; players with equal values share it.
    pub rank: usize,
    /// Name.
    pub name: String,
    /// FIDE title.
    pub title: Option<String>,
    /// Rating.
    pub rating: Option<u16>,
    /// Twice the points.
    pub half_points: u32,
    /// Values of the tie-breaks; `None` for a direct encounter of a player who was not tied.
    pub tie_breaks: Vec<Option<f32>>,
    /// Games with a result.
    pub games: usize,
}

/// A team in the standings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TeamStanding {
    /// Rank; teams with equal values share it.
    pub rank: usize,
    /// Name.
    pub name: String,
    /// Points for matches.
    pub match_points: u32,
    /// Twice the points of the team's players.
    pub half_points: u32,
}

/// File from which a report was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// Name of the file as given.
    pub file: String,
    /// Byte up to which the capture is complete, if it was cut off.
    pub cut_at: Option<u64>,
}

/// A game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameReport {
    /// Moves, clocks, players and result after the last event.
    pub record: GameRecord,
    /// Points that an arbiter looks for first.
    pub summary: Summary,
    /// Person who decided the result, if the arbiter did.
    pub decided_by: Option<String>,
    /// Id of the game that this one continues after a gap.
    pub continues: Option<String>,
    /// A note for each ply of the record.
    pub plies: Vec<PlyNote>,
    /// Incidents, in the order in which they were opened.
    pub incidents: Vec<IncidentReport>,
    /// Evidence for claims of a draw.
    pub claims: Claims,
    /// Amended and withdrawn moves.
    pub corrections: Vec<Correction>,
    /// Gaps in the record, and connections and disconnections.
    pub notes: Vec<Note>,
    /// Commands, and changes to the game.
    pub amendments: Vec<Amendment>,
    /// Data for the envelope of an adjournment, also for a game in progress; `None` if the game ended for another
    /// reason.
    pub adjournment: Option<Adjournment>,
}

/// Points that an arbiter looks for first. Incidents are given by number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Violations, the oldest first.
    pub violations: Vec<u64>,
    /// Incidents with advice, the oldest first.
    pub advice: Vec<u64>,
    /// Hints, and incidents for the record only.
    pub hints: Vec<u64>,
    /// Open matters, which somebody has to decide or check.
    pub open: Vec<Open>,
    /// Number of gaps in the record.
    pub gaps: usize,
    /// Number of gaps with missing moves.
    pub undecided_gaps: usize,
}

/// An open matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Open {
    /// A violation or advice is not closed.
    Incident {
        /// Number of the incident.
        incident: u64,
    },
    /// The game has no result.
    Result,
    /// The arbiter has not confirmed the result.
    Confirmation,
    /// The last move may still be corrected.
    LastMove,
}

/// A note on a ply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlyNote {
    /// Number of the ply, from 1.
    pub ply: u32,
    /// Move number, as in "23. Kg8".
    pub number: u32,
    /// Time at which the ply was on the board.
    #[serde(serialize_with = "rfc3339")]
    pub made: Timestamp,
    /// Whether the order of the ply among those of the same gap is certain.
    pub order_certain: bool,
    /// Numbers of the incidents about the ply.
    pub incidents: Vec<u64>,
}

/// An incident from its opening to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IncidentReport {
    /// Latest state of the incident.
    #[serde(flatten)]
    pub incident: Incident,
    /// Name of the board.
    pub board: String,
    /// Time of publication.
    #[serde(serialize_with = "rfc3339")]
    pub opened: Timestamp,
    /// Updates, the oldest first.
    pub steps: Vec<IncidentStep>,
    /// Endings and later decisions; empty while the incident is open.
    pub closed: Vec<Closing>,
    /// Port of the board.
    pub port: Option<String>,
    /// Packets of the capture with the evidence; `None` without a capture.
    pub frames: Option<FrameSpan>,
    /// Changes of squares that are the evidence for the incident.
    pub changes: Vec<LocatedChange>,
}

/// A change of a square, and its place in the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LocatedChange {
    /// The change.
    #[serde(flatten)]
    pub change: SquareChange,
    /// Packet that reported the change.
    pub frame: Option<Frame>,
}

/// An update of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncidentStep {
    /// Time of the update.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Severity from then on.
    pub severity: Severity,
    /// Case from then on.
    pub case: String,
}

/// The ending of an incident, or a later decision on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Closing {
    /// Time of the event.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Source of the ending.
    pub by: ClosedBy,
    /// Kind of the ending.
    pub reason: IncidentEnd,
    /// Whether the incident counts as an offence, if that was decided at the end.
    pub counts: Option<bool>,
    /// The arbiter's decision, in their words.
    pub decision: Option<String>,
    /// Arbiter who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// Withdrawn moves, with the move in their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// Time of publication.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Time at which the play was on the board, if it differs from `ts`.
    #[serde(serialize_with = "rfc3339_option")]
    pub at: Option<Timestamp>,
    /// Withdrawn plies, in order.
    pub withdrawn: Vec<Withdrawn>,
    /// Move in place of the first withdrawn one; `None` if there is none yet.
    pub played: Option<Withdrawn>,
    /// Reason of the correction.
    pub reason: CorrectionReason,
}

/// A ply as it was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Withdrawn {
    /// Number of the ply.
    pub ply: u32,
    /// English SAN; `None` for irregular play.
    pub san: Option<String>,
    /// Whether the ply captured en passant.
    pub en_passant: bool,
    /// UCI; `None` if more than one piece moved, or the move is unknown.
    pub uci: Option<String>,
}

/// An event of the board or its clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Note {
    /// The board was disconnected, and moves may have been made meanwhile.
    Gap {
        /// Time at which the gap was closed or given up.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before the gap.
        after_ply: u32,
        /// Way in which the gap was closed.
        by: Recovery,
        /// Number of changes read from the board's memory.
        changes: usize,
        /// Start of the gap.
        #[serde(serialize_with = "rfc3339")]
        from: Timestamp,
        /// End of the gap.
        #[serde(serialize_with = "rfc3339")]
        to: Timestamp,
    },
    /// The end of the game was not observed; its last plies are only likely.
    EndNotWatched {
        /// Time at which the end was published.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply of the game.
        after_ply: u32,
    },
    /// The board was disconnected.
    BoardDisconnected {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before.
        after_ply: u32,
        /// Reason of the disconnection.
        reason: String,
    },
    /// The board was connected again.
    BoardConnected {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before.
        after_ply: u32,
    },
    /// The clock was disconnected.
    ClockDisconnected {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before.
        after_ply: u32,
    },
    /// The clock was connected again.
    ClockConnected {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before.
        after_ply: u32,
    },
    /// The clock's battery was low.
    ClockBatteryLow {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before.
        after_ply: u32,
    },
    /// The computer's clock was set.
    TimeSet {
        /// First time after the step.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Last ply before.
        after_ply: u32,
        /// Size of the step in milliseconds; negative for a step back, which the times of later events do not follow.
        by_ms: i64,
    },
}

/// A command, or a change of the game by a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Amendment {
    /// A command was received.
    Command {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Author of the command.
        by: String,
        /// Action of the command.
        action: Action,
        /// The other fields of the command.
        arguments: serde_json::Value,
        /// Reason why the command was refused; `None` if it was carried out.
        error: Option<String>,
        /// Text of the answer to the command, if it had one.
        note: Option<String>,
    },
    /// The game was changed. Fields that did not change are `None`.
    Game {
        /// Time of the event.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Author of the change.
        by: String,
        /// The new result.
        result: Option<GameResult>,
        /// The reason of the result.
        reason: Option<EndReason>,
        /// The new players.
        players: Option<Players>,
        /// The new time control.
        time_control: Option<String>,
        /// All moves of the game, in UCI.
        moves: Option<Vec<String>>,
        /// The position from which the game goes on.
        position: Option<String>,
        /// The author's note.
        note: Option<String>,
    },
}

/// Data for the envelope, as far as the record has it (E23 Guidelines I.2, 1997 Annex A.2). The record does not have
/// the sealed move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adjournment {
    /// Position immediately before the sealed move, as FEN.
    pub fen: String,
    /// Start position of the game, as FEN.
    pub start_fen: String,
    /// Player who seals the move.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// Number of the sealed move.
    pub move_number: u32,
    /// Whether the last move on the board may still be corrected.
    pub unsettled: bool,
    /// Periods and increments.
    pub time_control: Option<String>,
    /// White's time.
    pub white: TimeUsed,
    /// Black's time.
    pub black: TimeUsed,
    /// Half-moves since the last capture or pawn move.
    pub half_moves: u32,
}

/// Time that a player has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TimeUsed {
    /// Last reading of the player's clock, in milliseconds.
    pub left_ms: Option<u64>,
    /// Sum of the times taken for the player's moves, in milliseconds, as far as they are known.
    pub used_ms: u64,
    /// Number of the player's moves whose time is unknown.
    pub untimed: u32,
}

impl Report {
    /// Locates the evidence of all incidents in the capture of `frames`.
    pub fn locate(&mut self, frames: &Frames) {
        let games = self.games.iter_mut().flat_map(|game| &mut game.incidents);
        for incident in games.chain(&mut self.outside) {
            incident.locate(frames);
        }
    }
}

impl SourceFile {
    /// Name of the file without its directories, which would not fit on a phone.
    #[must_use]
    pub fn name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }
}

impl IncidentReport {
    fn locate(&mut self, frames: &Frames) {
        let evidence = &self.incident.evidence;
        let port = self.port.as_deref();
        self.frames = frames.between(port, evidence.from, evidence.to);
        for change in &mut self.changes {
            change.frame = frames.at(port, change.change.at);
        }
    }
}

impl Note {
    /// Time of publication.
    #[must_use]
    pub const fn ts(&self) -> Timestamp {
        match self {
            Self::Gap { ts, .. }
            | Self::EndNotWatched { ts, .. }
            | Self::BoardDisconnected { ts, .. }
            | Self::BoardConnected { ts, .. }
            | Self::ClockDisconnected { ts, .. }
            | Self::ClockConnected { ts, .. }
            | Self::ClockBatteryLow { ts, .. }
            | Self::TimeSet { ts, .. } => *ts,
        }
    }
}
