//! Commands: what an arbiter tells kiebitz, one of its inputs like the bytes of a board.
//!
//! A command is JSON, `{"id": "...", "do": "...", ...}`; docs/commands.md lists them. Like every input it has a time, and
//! a replay takes it in at that time again. Each command is answered, and is an event in its board's stream.

mod announced;
mod decision;
mod file;
mod naming;
mod refusal;

use kiebitz_hardware::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shakmaty::Color;
use thiserror::Error;

use crate::clock::Side;
use crate::events::{Action, EventKind, Players, ResumableGame, color};
use crate::laws::{ClaimKind, ClaimRuling, Language};
pub use announced::Announced;
pub use decision::StandingDecision;
pub use file::{CommandFile, Timed};
pub use naming::{Change, FactsChange, Paired};
pub use refusal::Refusal;

/// A command for one board.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Chosen by the sender; the answer repeats it.
    pub id: String,
    /// Who gave it.
    pub by: String,
    /// What is to be done.
    pub order: Order,
    /// The name of what is to be done.
    pub action: Action,
    /// Its other fields, as received.
    pub arguments: Value,
    /// The game that it names, from the journal; `None` if it names none, or one that its board still has.
    pub recalled: Option<Box<ResumableGame>>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// These two play.
    SetPlayers(Box<SetPlayers>),
    /// They play with this time control.
    SetTimeControl(SetTimeControl),
    /// The game ended like this, or goes on.
    SetResult(SetResult),
    /// The game counts for this pairing.
    AssignGame(AssignGame),
    /// This is the position.
    SetPosition(SetPosition),
    /// These were the moves.
    CorrectMoves(CorrectMoves),
    /// An incident is decided.
    CloseIncident(CloseIncident),
    /// A note to keep with the game.
    Annotate(Annotate),
    /// Another game begins.
    NewGame(NewGame),
    /// The game is over without a result.
    EndGame(EndGame),
    /// Which board is this?
    Identify,
    /// This side of the clock is White's.
    SyncClockSides(SyncClockSides),
    /// The round begins.
    StartRound(StartRound),
    /// A player claims a draw.
    Claim(PlayersClaim),
    /// A claim is decided.
    DecideClaim(DecideClaim),
    /// The board stands at another table.
    SetTable(SetTable),
    /// The board is gone: nothing of it is to be published any more.
    Forget,
}

/// `set_players`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPlayers {
    /// White's name; null: unknown. Without it the name stays.
    #[serde(default)]
    pub white: Change<String>,
    /// Black's name.
    #[serde(default)]
    pub black: Change<String>,
    /// What else is known of White; null: nothing, as of another person. What is left out stays.
    #[serde(default)]
    pub white_player: Change<Box<FactsChange>>,
    /// What else is known of Black.
    #[serde(default)]
    pub black_player: Change<Box<FactsChange>>,
    /// The round that they are paired in, from 1; without it that of the players before.
    pub round: Option<u32>,
    /// Their table in it, from 1.
    pub table: Option<u32>,
    /// The game's id; without it the game being played, else the next one.
    pub game: Option<String>,
    /// Whether the players sat right and the names were wrong, where the two names are exchanged. False: the players have
    /// each other's pieces, as without it.
    pub correction: Option<bool>,
    /// What the pairing files have of the players that are named.
    #[serde(default)]
    pub paired: Paired,
}

/// `set_time_control`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTimeControl {
    /// As arbiters write it, "90 min/40 + 30 min, 30 s from move 1", or as in PGN, "40/5400+30:1800+30".
    pub time_control: String,
}

/// `set_result`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetResult {
    /// 1-0, 0-1, 1/2-1/2, 0-0, 1/2-0, 0-1/2, a forfeit as in "+/-" or "1-0 forfeit"; "*" lets a game that was ended go on.
    pub result: String,
    /// A reason of `game.ended`; without it the one the game ended by, else "arbiter".
    pub reason: Option<String>,
    /// The game's id; without it the game being played, else the last one.
    pub game: Option<String>,
    /// The round, from 1, instead of a game: the game that counts for the pairing is meant, or the pairing itself if no
    /// board has a game of it.
    pub round: Option<u32>,
    /// The table in that round.
    pub table: Option<u32>,
    /// Whether it takes the place of a result that another arbiter has set.
    #[serde(default)]
    pub replace: bool,
}

impl SetResult {
    /// The pairing that is meant instead of a game.
    #[must_use]
    pub const fn pairing(&self) -> Option<(u32, u32)> {
        match (&self.game, self.round, self.table) {
            (None, Some(round), Some(table)) => Some((round, table)),
            _ => None,
        }
    }
}

/// `assign_game`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssignGame {
    /// The game's id; without it the game being played, else the last one.
    pub game: Option<String>,
    /// The round that it counts for, from 1; without round and table it is not part of any.
    pub round: Option<u32>,
    /// The table in that round.
    pub table: Option<u32>,
}

/// `set_position`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPosition {
    /// The position, with the side to move.
    pub fen: String,
    /// Whether it may take back moves that another arbiter has entered.
    #[serde(default)]
    pub replace: bool,
}

/// `correct_moves`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrectMoves {
    /// In SAN or UCI.
    pub moves: Vec<String>,
    /// The ply that the first of them is; the moves before it stay as they are.
    #[serde(default = "first")]
    pub from: u32,
    /// The game's id; without it the game being played, else the last one.
    pub game: Option<String>,
    /// Whether they may take the place of moves that another arbiter has entered.
    #[serde(default)]
    pub replace: bool,
}

/// `close_incident`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloseIncident {
    /// Its number.
    pub incident: u64,
    /// The decision, in words.
    pub decision: Option<String>,
    /// Whether it counts as an offence of the player; without it as the edition has it.
    pub counts: Option<bool>,
    /// Whether it takes the place of another arbiter's decision.
    #[serde(default)]
    pub replace: bool,
}

/// `annotate`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotate {
    /// The note.
    pub text: String,
    /// The game's id; without it the game being played, else the last one.
    pub game: Option<String>,
}

/// `new_game`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGame {
    /// The start position; without it the usual one.
    pub fen: Option<String>,
    /// White's name; without names the players of a game that is broken off play again.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
}

/// `end_game`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndGame {
    /// "adjourned", "void", or "arbiter" without it.
    pub reason: Option<String>,
}

/// `sync_clock_sides`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncClockSides {
    /// White's side of the clock, seen from its front: "left" or "right".
    #[serde(deserialize_with = "side")]
    pub white: Side,
}

/// `start_round`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRound {
    /// When it begins; without it, now.
    #[serde(default, deserialize_with = "some_time")]
    pub begins: Option<Timestamp>,
    /// Its number, from 1: all boards get its pairings. Without it they go on as they would.
    pub round: Option<u32>,
}

/// `set_table`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTable {
    /// Its number, from 1.
    #[serde(deserialize_with = "table")]
    pub table: u32,
}

/// `claim`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayersClaim {
    /// What is claimed.
    pub kind: ClaimKind,
    /// Who claims it; without it the player on move.
    #[serde(default, deserialize_with = "color::option::deserialize")]
    pub color: Option<Color>,
    /// The move that the player has written down for it, in SAN or UCI.
    pub intended: Option<String>,
}

/// `decide_claim`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecideClaim {
    /// The decision.
    pub ruling: ClaimRuling,
    /// The claim's number as an incident; without it the last one that is open.
    pub incident: Option<u64>,
    /// Whether it takes the place of another arbiter's decision.
    #[serde(default)]
    pub replace: bool,
}

/// A text that is not a command.
#[derive(Debug, Error)]
pub enum InvalidCommand {
    /// It is not a JSON object.
    #[error("the command is not a JSON object: {0}")]
    NoObject(String),
    /// A field that every command has is missing, or is not a text.
    #[error("\"{0}\" is missing or not a string")]
    Missing(&'static str),
    /// There is no command of that name.
    #[error("unknown command {given:?}; expected one of {}", names())]
    Unknown {
        /// The name given.
        given: String,
    },
    /// One of its other fields is missing or invalid.
    #[error("{action}: {reason}")]
    Arguments {
        /// The command.
        action: Action,
        /// What is wrong.
        reason: String,
    },
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The command's id; `None`: it had none that could be read.
    pub id: Option<String>,
    /// Whether it was carried out.
    pub ok: bool,
    /// What the sender should know about what was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Why nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What another arbiter has decided, if that is why nothing was done: `replace` takes its place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standing: Option<Box<StandingDecision>>,
    /// Whether the journal has the command and all that it led to.
    #[serde(default = "kept", skip_serializing_if = "is_kept")]
    pub kept: bool,
}

const fn kept() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_kept(kept: &bool) -> bool {
    *kept
}

impl Answer {
    /// What `note` says of a command that was carried out and that the journal does not have.
    pub const UNKEPT: &str = "done, but not stored yet: the disk does not answer";

    /// The same answer, given before the journal has the command. It says so in words as well.
    #[must_use]
    pub fn unkept(self) -> Self {
        let note = match self.note {
            Some(note) if self.ok => Some(format!("{note}; {}", Self::UNKEPT)),
            None if self.ok => Some(Self::UNKEPT.to_owned()),
            note => note,
        };
        Self {
            note,
            kept: false,
            ..self
        }
    }
}

impl Command {
    /// Who gave a command that names nobody.
    pub const ARBITER: &str = "arbiter";

    /// Reads a command. Its board and its time are not part of the text: they come from its carrier.
    ///
    /// # Errors
    ///
    /// When it is not a command; the message says what is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidCommand> {
        Self::from_fields(fields(text)?)
    }

    fn from_fields(mut fields: Map<String, Value>) -> Result<Self, InvalidCommand> {
        let id = take_text(&mut fields, "id")?.ok_or(InvalidCommand::Missing("id"))?;
        let given = take_text(&mut fields, "do")?.ok_or(InvalidCommand::Missing("do"))?;
        let by = take_text(&mut fields, "by")?.unwrap_or_else(|| Self::ARBITER.to_owned());
        let known = Action::ALL.iter().find(|action| action.as_str() == given);
        let action = *known.ok_or(InvalidCommand::Unknown { given })?;
        let arguments = Value::Object(fields);
        let order = order(action, &arguments)?;
        Ok(Self {
            id,
            by,
            order,
            action,
            arguments,
            recalled: None,
        })
    }

    /// The id of the game that it names; `None` if it names none.
    #[must_use]
    pub fn game(&self) -> Option<&str> {
        match &self.order {
            Order::SetPlayers(set) => set.game.as_deref(),
            Order::SetResult(SetResult { game, .. })
            | Order::CorrectMoves(CorrectMoves { game, .. })
            | Order::AssignGame(AssignGame { game, .. })
            | Order::Annotate(Annotate { game, .. }) => game.as_deref(),
            _ => None,
        }
    }

    /// The answer to it.
    #[must_use]
    pub fn answer(&self, outcome: Result<Option<String>, &Refusal>, language: Language) -> Answer {
        let (note, error, standing) = match outcome {
            Ok(note) => (note, None, None),
            Err(refusal) => (None, Some(refusal.text(language)), refusal.standing()),
        };
        Answer {
            id: Some(self.id.clone()),
            ok: error.is_none(),
            note,
            error,
            standing: standing.cloned().map(Box::new),
            kept: true,
        }
    }
}

impl Command {
    /// The command that an event says was taken, whether it was carried out or not; `None`: it is another event, or has a
    /// command of a newer version.
    #[must_use]
    pub fn taken(event: &EventKind) -> Option<Self> {
        let EventKind::CommandTaken {
            id,
            action,
            by,
            arguments,
            ..
        } = event
        else {
            return None;
        };
        Some(Self {
            id: id.clone(),
            by: by.clone(),
            action: *action,
            order: order(*action, arguments).ok()?,
            arguments: arguments.clone(),
            recalled: None,
        })
    }
}

impl NewGame {
    /// The names, if there are any.
    #[must_use]
    pub fn players(&self) -> Option<Players> {
        let (white, black) = (self.white.clone(), self.black.clone());
        (white.is_some() || black.is_some()).then(|| Players {
            white,
            black,
            ..Players::default()
        })
    }
}

fn fields(text: &str) -> Result<Map<String, Value>, InvalidCommand> {
    serde_json::from_str(text).map_err(|error| InvalidCommand::NoObject(error.to_string()))
}

fn take_text(fields: &mut Map<String, Value>, name: &'static str) -> Result<Option<String>, InvalidCommand> {
    match fields.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text)),
        Some(_) => Err(InvalidCommand::Missing(name)),
    }
}

fn order(action: Action, arguments: &Value) -> Result<Order, InvalidCommand> {
    fn read<T: DeserializeOwned>(action: Action, arguments: &Value) -> Result<T, InvalidCommand> {
        T::deserialize(arguments).map_err(|error| InvalidCommand::Arguments {
            action,
            reason: error.to_string(),
        })
    }
    Ok(match action {
        Action::SetPlayers => Order::SetPlayers(Box::new(read(action, arguments)?)),
        Action::SetTimeControl => Order::SetTimeControl(read(action, arguments)?),
        Action::SetResult => {
            let set: SetResult = read(action, arguments)?;
            whole_place(action, set.round, set.table)?;
            Order::SetResult(set)
        }
        Action::AssignGame => {
            let assign: AssignGame = read(action, arguments)?;
            whole_place(action, assign.round, assign.table)?;
            Order::AssignGame(assign)
        }
        Action::SetPosition => Order::SetPosition(read(action, arguments)?),
        Action::CorrectMoves => Order::CorrectMoves(read(action, arguments)?),
        Action::CloseIncident => Order::CloseIncident(read(action, arguments)?),
        Action::Annotate => Order::Annotate(read(action, arguments)?),
        Action::NewGame => Order::NewGame(read(action, arguments)?),
        Action::EndGame => Order::EndGame(read(action, arguments)?),
        Action::Identify => read::<Nothing>(action, arguments).map(|Nothing {}| Order::Identify)?,
        Action::SyncClockSides => Order::SyncClockSides(read(action, arguments)?),
        Action::StartRound => Order::StartRound(read(action, arguments)?),
        Action::SetTable => Order::SetTable(read(action, arguments)?),
        Action::Claim => Order::Claim(read(action, arguments)?),
        Action::DecideClaim => Order::DecideClaim(read(action, arguments)?),
        Action::Forget => read::<Nothing>(action, arguments).map(|Nothing {}| Order::Forget)?,
    })
}

/// A round and a table name a pairing together.
fn whole_place(action: Action, round: Option<u32>, table: Option<u32>) -> Result<(), InvalidCommand> {
    let is_number = |number: Option<u32>| number.is_none_or(|number| (1..=9999).contains(&number));
    if round.is_some() == table.is_some() && is_number(round) && is_number(table) {
        return Ok(());
    }
    Err(InvalidCommand::Arguments {
        action,
        reason: "\"round\" and \"table\" must be given together, each from 1 to 9999".to_owned(),
    })
}

fn names() -> String {
    let names: Vec<&str> = Action::ALL.iter().map(|action| action.as_str()).collect();
    names.join(", ")
}

/// The arguments of a command that has none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

const fn first() -> u32 {
    1
}

fn table<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let table = u32::deserialize(deserializer)?;
    let is_one = (1..=9999).contains(&table);
    is_one.then_some(table).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "{table} is not the number of a table; expected 1 to 9999"
        ))
    })
}

fn side<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Side, D::Error> {
    let given = String::deserialize(deserializer)?;
    let side = Side::ALL.iter().find(|side| side.as_str() == given);
    side.copied().ok_or_else(|| {
        serde::de::Error::custom(format!(
            "{given:?} is not a side of the clock; expected left or \
            right"
        ))
    })
}

fn some_time<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let at: jiff::Timestamp = text.parse().map_err(|error| {
        serde::de::Error::custom(format!(
            "\"begins\" is not a time such as 2026-11-21T14:15:00Z: {error}"
        ))
    })?;
    Ok(Some(Timestamp::from_micros(at.as_microsecond())))
}

#[cfg(test)]
mod tests;
