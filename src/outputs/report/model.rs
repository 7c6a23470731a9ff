//! The data of a report, without the words of any language.

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

/// The games of one or several boards, with everything that the arbiter may be asked about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Version of this format: 1.
    pub v: u8,
    /// What it was made from, where that is a file.
    pub source: Option<SourceFile>,
    /// The games, in the order in which they were started.
    pub games: Vec<GameReport>,
    /// Incidents that no game followed.
    pub outside: Vec<IncidentReport>,
}

/// The file that a report was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// Its name as given.
    pub file: String,
    /// The capture was cut off and is whole up to this byte.
    pub cut_at: Option<u64>,
}

/// One game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GameReport {
    /// Moves, clocks, players, result: as the game stands after its last event.
    pub record: GameRecord,
    /// What to see at once.
    pub summary: Summary,
    /// The person who decided the result, where the arbiter did.
    pub decided_by: Option<String>,
    /// The game that a gap cut off and that this one continues.
    pub continues: Option<String>,
    /// Notes on the plies, one for each ply of the record.
    pub plies: Vec<PlyNote>,
    /// The incidents, in the order in which they were opened.
    pub incidents: Vec<IncidentReport>,
    /// What the record shows about claims of a draw.
    pub claims: Claims,
    /// Moves amended and withdrawn.
    pub corrections: Vec<Correction>,
    /// Gaps in the record, and what came and went.
    pub notes: Vec<Note>,
    /// What people asked for and changed.
    pub amendments: Vec<Amendment>,
    /// What the envelope must say if the game is adjourned, or if it were now; absent once it is over.
    pub adjournment: Option<Adjournment>,
}

/// What an arbiter looks for first, by the numbers of the incidents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The violations, the oldest first.
    pub violations: Vec<u64>,
    /// What was to be acted on besides.
    pub advice: Vec<u64>,
    /// What may be nothing, and what is for the record.
    pub hints: Vec<u64>,
    /// What somebody has to decide or to look at.
    pub open: Vec<Open>,
    /// Gaps in the record.
    pub gaps: usize,
    /// Those of them of which nobody knows what was played.
    pub undecided_gaps: usize,
}

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Open {
    /// An incident to be acted on is not over.
    Incident {
        /// Its number.
        incident: u64,
    },
    /// The game has no result.
    Result,
    /// The result has not been confirmed.
    Confirmation,
    /// The last move may still be corrected.
    LastMove,
}

/// Notes on a ply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlyNote {
    /// Its number, from 1.
    pub ply: u32,
    /// The number of the move, as in "23. Kg8".
    pub number: u32,
    /// When it stood on the board.
    #[serde(serialize_with = "rfc3339")]
    pub made: Timestamp,
    /// False: it was played in a gap, perhaps in another order among those found with it.
    pub order_certain: bool,
    /// The numbers of the incidents that concern it.
    pub incidents: Vec<u64>,
}

/// An incident from its beginning to its end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IncidentReport {
    /// The incident as it was known in the end.
    #[serde(flatten)]
    pub incident: Incident,
    /// The board.
    pub board: String,
    /// When it was published.
    #[serde(serialize_with = "rfc3339")]
    pub opened: Timestamp,
    /// Its updates.
    pub steps: Vec<IncidentStep>,
    /// How it ended, and what was decided on it later; empty: it is open.
    pub closed: Vec<Closing>,
    /// The port on which its bytes came in.
    pub port: Option<String>,
    /// Where in the capture it is; `None` without a capture.
    pub frames: Option<FrameSpan>,
    /// The changes of squares it rests on, with their places in the capture.
    pub changes: Vec<LocatedChange>,
}

/// A change of a square, with its place in the capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LocatedChange {
    /// The change.
    #[serde(flatten)]
    pub change: SquareChange,
    /// The packet that brought it.
    pub frame: Option<Frame>,
}

/// An update of an incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncidentStep {
    /// When it happened.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Its severity from then on.
    pub severity: Severity,
    /// Its case from then on.
    pub case: String,
}

/// How an incident ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Closing {
    /// When it happened.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// Who or what closed it.
    pub by: ClosedBy,
    /// How.
    pub reason: IncidentEnd,
    /// Whether it counts as an offence, where that was decided only then.
    pub counts: Option<bool>,
    /// The arbiter's decision, in their words.
    pub decision: Option<String>,
    /// The arbiter who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
}

/// Moves that were withdrawn, and what took their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// When it was published.
    #[serde(serialize_with = "rfc3339")]
    pub ts: Timestamp,
    /// When it happened on the board, where that is not `ts`.
    #[serde(serialize_with = "rfc3339_option")]
    pub at: Option<Timestamp>,
    /// The plies that were withdrawn, in their order.
    pub withdrawn: Vec<Withdrawn>,
    /// What was played instead of the first; `None`: nothing yet.
    pub played: Option<Withdrawn>,
    /// Why.
    pub reason: CorrectionReason,
}

/// A ply as it was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Withdrawn {
    /// Its number.
    pub ply: u32,
    /// English SAN; `None` for irregular play.
    pub san: Option<String>,
    /// It captured en passant.
    pub en_passant: bool,
    /// UCI, where one piece went from one square to another.
    pub uci: Option<String>,
}

/// What happened to board and clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Note {
    /// Moves may have been made while the board was not connected.
    Gap {
        /// When it was closed or given up.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
        /// How it was closed.
        by: Recovery,
        /// Changes read back from the board's memory.
        changes: usize,
        /// It began then.
        #[serde(serialize_with = "rfc3339")]
        from: Timestamp,
        /// It ended then.
        #[serde(serialize_with = "rfc3339")]
        to: Timestamp,
    },
    /// Nobody watched how the game ended: its last plies are no more than likely.
    EndNotWatched {
        /// When its end was published.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Its last ply.
        after_ply: u32,
    },
    /// The board was disconnected.
    BoardDisconnected {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
        /// Why.
        reason: String,
    },
    /// The board was connected again.
    BoardConnected {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
    },
    /// The clock was disconnected.
    ClockDisconnected {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
    },
    /// The clock was connected again.
    ClockConnected {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
    },
    /// The clock's battery was low.
    ClockBatteryLow {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
    },
    /// The computer's clock was set.
    TimeSet {
        /// The first time after it.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// The last ply before.
        after_ply: u32,
        /// By so many milliseconds: forward, which all later times follow, or, negative, back, which they do not.
        by_ms: i64,
    },
}

/// What a person asked for or changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Amendment {
    /// A command came.
    Command {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// Who asked.
        by: String,
        /// What they asked for.
        action: Action,
        /// The other fields of the command.
        arguments: serde_json::Value,
        /// Why nothing was done; `None` where it was done.
        error: Option<String>,
        /// What they were answered; `None`: nothing.
        note: Option<String>,
    },
    /// The game was changed; what was not changed is `None`.
    Game {
        /// When it happened.
        #[serde(serialize_with = "rfc3339")]
        ts: Timestamp,
        /// By whom.
        by: String,
        /// The result.
        result: Option<GameResult>,
        /// Why it ended so.
        reason: Option<EndReason>,
        /// The players.
        players: Option<Players>,
        /// The time control.
        time_control: Option<String>,
        /// All moves of the game, in UCI.
        moves: Option<Vec<String>>,
        /// The position from which it goes on.
        position: Option<String>,
        /// A note.
        note: Option<String>,
    },
}

/// What the envelope must say, as far as the record knows it (E23 Guidelines I.2,
/// 1997 Annex A.2). It does not know the sealed move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adjournment {
    /// The position immediately before the sealed move.
    pub fen: String,
    /// The position that the game began with.
    pub start_fen: String,
    /// Who seals.
    #[serde(serialize_with = "color::serialize")]
    pub color: Color,
    /// The number of the sealed move.
    pub move_number: u32,
    /// The last move on the board is not certain yet: it may still be corrected.
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

/// A player's time so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TimeUsed {
    /// What the clock showed last, in milliseconds.
    pub left_ms: Option<u64>,
    /// The sum of the times of their moves, in milliseconds, as far as they are known.
    pub used_ms: u64,
    /// Their moves whose time is not known.
    pub untimed: u32,
}

impl Report {
    /// Notes the places of all evidence in the capture whose frames these are.
    pub fn locate(&mut self, frames: &Frames) {
        let games = self.games.iter_mut().flat_map(|game| &mut game.incidents);
        for incident in games.chain(&mut self.outside) {
            incident.locate(frames);
        }
    }
}

impl SourceFile {
    /// The file's name without its directories, which would not fit a phone.
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
    /// When it was published.
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
