//! Commands: an arbiter's instructions to kiebitz. Like the bytes of a board, they are input.
//!
//! A command is JSON, `{"id": "...", "do": "...", ...}`; docs/commands.md lists them. Like every input, a command has a
//! time, and a replay executes it at that time. Each command is answered, and becomes an event in its board's stream.

mod announced;
mod decision;
mod file;
pub mod marks;
mod naming;
mod refusal;
mod written;

use kiebitz_hardware::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use shakmaty::Color;
use thiserror::Error;

use crate::clock::Side;
use crate::events::{Action, Bye, EventKind, Players, ResumableGame, color};
use crate::laws::{ClaimKind, ClaimRuling, Language};
pub use announced::Announced;
pub use decision::StandingDecision;
pub use file::{CommandFile, Timed};
pub use naming::{Change, FactsChange, Paired};
pub use refusal::Refusal;
pub use written::WrittenResult;

/// A command for one board.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Id chosen by the sender; the answer repeats it.
    pub id: String,
    /// The sender, as in "A. Meier".
    pub by: String,
    /// The command with its parsed arguments.
    pub order: Order,
    /// The name of the command.
    pub action: Action,
    /// The arguments, as received.
    pub arguments: Value,
    /// The game that the command names, read from the journal; `None` if it names none, or if its board still has the
    /// game.
    pub recalled: Option<Box<ResumableGame>>,
    /// Whether its board records the command even if it is one of many without an effect: the journal has it already,
    /// or the sender goes by the record.
    pub always_recorded: bool,
}

/// A command with its parsed arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Order {
    /// Set the players.
    SetPlayers(Box<SetPlayers>),
    /// Set the time control.
    SetTimeControl(SetTimeControl),
    /// Set the result, or let an ended game continue.
    SetResult(SetResult),
    /// Set the points of a player without an opponent.
    SetBye(SetBye),
    /// Assign the game to a pairing.
    AssignGame(AssignGame),
    /// Set the position.
    SetPosition(SetPosition),
    /// Correct the moves.
    CorrectMoves(CorrectMoves),
    /// Decide an incident.
    CloseIncident(CloseIncident),
    /// Keep a note with the game.
    Annotate(Annotate),
    /// Say that the sender goes to an incident or to the board.
    Attend(Attend),
    /// Begin another game.
    NewGame(NewGame),
    /// End the game without a result.
    EndGame(EndGame),
    /// Ask which board this is.
    Identify,
    /// Set which side of the clock is White's.
    SyncClockSides(SyncClockSides),
    /// Start the round.
    StartRound(StartRound),
    /// Register a player's claim of a draw.
    Claim(PlayersClaim),
    /// Decide a claim.
    DecideClaim(DecideClaim),
    /// Set the table on which the board stands.
    SetTable(SetTable),
    /// Forget the board: publish nothing more about it.
    Forget,
}

/// Arguments of `set_players`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPlayers {
    /// White's name; null if unknown. If omitted, the name stays.
    #[serde(default)]
    pub white: Change<String>,
    /// Black's name.
    #[serde(default)]
    pub black: Change<String>,
    /// Further facts about White; null clears them, as for a different person. Omitted facts stay.
    #[serde(default)]
    pub white_player: Change<Box<FactsChange>>,
    /// Further facts about Black.
    #[serde(default)]
    pub black_player: Change<Box<FactsChange>>,
    /// The round of the pairing, from 1. If omitted, the previous players' round.
    pub round: Option<u32>,
    /// The table in that round, from 1.
    pub table: Option<u32>,
    /// The game's id. If omitted, the current game, else the next one.
    pub game: Option<String>,
    /// Meaning of two exchanged names. True: the players sat correctly and the names were wrong. False or omitted: the
    /// players have each other's pieces.
    pub correction: Option<bool>,
    /// Facts that the pairing files have about the named players.
    #[serde(default)]
    pub paired: Paired,
}

/// Arguments of `set_time_control`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTimeControl {
    /// The time control as arbiters write it, "90 min/40 + 30 min, 30 s from move 1", or as in PGN,
    /// "40/5400+30:1800+30".
    pub time_control: String,
}

/// Arguments of `set_result`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetResult {
    /// 1-0, 0-1, 1/2-1/2, 0-0, 1/2-0, 0-1/2, or a forfeit such as "+/-" or "1-0 forfeit"; "*" lets an ended game
    /// continue.
    pub result: String,
    /// A reason of `game.ended`. If omitted, the existing reason, else "arbiter".
    pub reason: Option<String>,
    /// The game's id. If omitted, the current game, else the last one.
    pub game: Option<String>,
    /// The round, from 1, in place of a game. The command then applies to the game that counts for the pairing, or to
    /// the pairing itself if no board has a game for it.
    pub round: Option<u32>,
    /// The table in that round.
    pub table: Option<u32>,
    /// Whether to replace a result set by another arbiter.
    #[serde(default)]
    pub replace: bool,
    /// Whether both players have signed the score sheet with this result. If omitted, an earlier note stays as long as
    /// the result is the same.
    pub signed: Option<bool>,
}

impl SetResult {
    /// The result; `None` if it is not a known notation.
    #[must_use]
    pub fn written(&self) -> Option<WrittenResult> {
        WrittenResult::parse(&self.result)
    }

    /// The pairing to which the command applies, if it does not name a game.
    #[must_use]
    pub const fn pairing(&self) -> Option<(u32, u32)> {
        match (&self.game, self.round, self.table) {
            (None, Some(round), Some(table)) => Some((round, table)),
            _ => None,
        }
    }
}

/// Arguments of `set_bye`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetBye {
    /// The round, from 1.
    pub round: u32,
    /// Name of the player, as in the pairing files.
    pub player: String,
    /// The points; null withdraws an earlier entry, so that the points in the pairing file count.
    #[serde(deserialize_with = "Option::deserialize")]
    pub points: Option<Bye>,
    /// Whether to replace another arbiter's entry.
    #[serde(default)]
    pub replace: bool,
}

/// Arguments of `assign_game`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssignGame {
    /// The game's id. If omitted, the current game, else the last one.
    pub game: Option<String>,
    /// The round for which the game counts, from 1. Without round and table, the game belongs to no round.
    pub round: Option<u32>,
    /// The table in that round.
    pub table: Option<u32>,
}

/// Arguments of `set_position`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPosition {
    /// The position, with the side to move.
    pub fen: String,
    /// Whether the command may take back moves entered by another arbiter.
    #[serde(default)]
    pub replace: bool,
}

/// Arguments of `correct_moves`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrectMoves {
    /// The moves, in SAN or UCI.
    pub moves: Vec<String>,
    /// The ply of the first of them, from 1. Earlier moves stay.
    #[serde(default = "first")]
    pub from: u32,
    /// The game's id. If omitted, the current game, else the last one.
    pub game: Option<String>,
    /// Whether to replace moves entered by another arbiter.
    #[serde(default)]
    pub replace: bool,
}

/// Arguments of `close_incident`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloseIncident {
    /// The incident's number.
    pub incident: u64,
    /// The decision, in words.
    pub decision: Option<String>,
    /// Whether the incident counts as an offence of the player. If omitted, the edition of the Laws decides.
    pub counts: Option<bool>,
    /// Whether to replace another arbiter's decision.
    #[serde(default)]
    pub replace: bool,
}

/// Arguments of `annotate`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotate {
    /// The note.
    pub text: String,
    /// The game's id. If omitted, the current game, else the last one.
    pub game: Option<String>,
}

/// Arguments of `attend`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attend {
    /// The number of the incident to which the sender goes. If omitted, the sender goes to the board for another reason.
    pub incident: Option<u64>,
    /// False if the sender no longer goes there.
    #[serde(default = "yes")]
    pub going: bool,
    /// The game's id. If omitted, the current game, if any.
    pub game: Option<String>,
}

/// Arguments of `new_game`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewGame {
    /// The start position as FEN. If omitted, the default one.
    pub fen: Option<String>,
    /// White's name. If neither name is given, the players of an aborted game play again.
    pub white: Option<String>,
    /// Black's name.
    pub black: Option<String>,
}

/// Arguments of `end_game`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndGame {
    /// "adjourned" or "void". If omitted, "arbiter".
    pub reason: Option<String>,
}

/// Arguments of `sync_clock_sides`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncClockSides {
    /// White's side of the clock, seen from its front: "left" or "right".
    #[serde(deserialize_with = "side")]
    pub white: Side,
}

/// Arguments of `start_round`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRound {
    /// Start of the round. If omitted, the time of the command.
    #[serde(default, deserialize_with = "some_time")]
    pub begins: Option<Timestamp>,
    /// The round's number, from 1: all boards get its pairings. If omitted, boards get pairings as usual.
    pub round: Option<u32>,
}

/// Arguments of `set_table`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetTable {
    /// The table's number, from 1 to 9999.
    #[serde(deserialize_with = "table")]
    pub table: u32,
}

/// Arguments of `claim`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayersClaim {
    /// The kind of claim.
    pub kind: ClaimKind,
    /// The claimant. If omitted, the player on move.
    #[serde(default, deserialize_with = "color::option::deserialize")]
    pub color: Option<Color>,
    /// The move written down for the claim, in SAN or UCI.
    pub intended: Option<String>,
}

/// Arguments of `decide_claim`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecideClaim {
    /// The ruling.
    pub ruling: ClaimRuling,
    /// The claim's incident number. If omitted, the latest open claim.
    pub incident: Option<u64>,
    /// Whether to replace another arbiter's decision.
    #[serde(default)]
    pub replace: bool,
}

/// Reason for which a text is not a command.
#[derive(Debug, Error)]
pub enum InvalidCommand {
    /// The text is not a JSON object.
    #[error("the command is not a JSON object: {0}")]
    NoObject(String),
    /// A field required in every command is missing or is not a string.
    #[error("\"{0}\" is missing or not a string")]
    Missing(&'static str),
    /// No command has this name.
    #[error("unknown command {given:?}; expected one of {}", names())]
    Unknown {
        /// The name given.
        given: String,
    },
    /// An argument is missing or invalid.
    #[error("{action}: {reason}")]
    Arguments {
        /// The command.
        action: Action,
        /// The error.
        reason: String,
    },
    /// A name or a fact about a player is too long. The string is the name of the argument.
    #[error("\"{0}\" has more than {LONGEST_NAME} characters: shorten it")]
    LongName(String),
    /// An argument is too long. The string is its name.
    #[error("\"{0}\" has more than {LONGEST_TEXT} characters: shorten it")]
    LongText(String),
    /// The whole command is too long.
    #[error("the command has {bytes} bytes; at most {} are allowed", Command::MAX_BYTES)]
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The command's id; `None` if it could not be read.
    pub id: Option<String>,
    /// Whether the command was carried out.
    pub ok: bool,
    /// Information for the sender about a command that was carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Reason for a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Another arbiter's decision, if it is the reason for the refusal. Repeating the command with `replace` overrides
    /// it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standing: Option<Box<StandingDecision>>,
    /// Whether the journal has stored the command and the events that it caused.
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
    /// Text of `note` for a command that was carried out but not stored in the journal.
    pub const UNKEPT: &str = "done, but not stored yet: the disk does not answer";

    /// Marks the answer as given before the journal has stored the command, also in the note.
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
    /// Sender of a command without `by`.
    pub const ARBITER: &str = "arbiter";
    /// Maximum length of a command, in bytes. A command with all moves of the longest game takes 10,000.
    pub const MAX_BYTES: usize = 16 << 10;

    /// Reads a command. The board and the time are not part of the text: the transport supplies them.
    ///
    /// # Errors
    ///
    /// Fails if the text is not a command, or if it is too long. Boards store refused commands as well, so the limits
    /// keep a sender from filling the disk.
    pub fn parse(text: &str) -> Result<Self, InvalidCommand> {
        let bytes = text.len();
        if bytes > Self::MAX_BYTES {
            return Err(InvalidCommand::TooLong { bytes });
        }
        let mut fields = fields(text)?;
        check_texts(&fields)?;
        remove_marks(&mut fields);
        Self::from_fields(fields)
    }

    /// Whether a sender or an id is too long for a command.
    #[must_use]
    pub fn is_long_name(name: &str) -> bool {
        name.chars().count() > LONGEST_NAME
    }

    fn from_fields(mut fields: Map<String, Value>) -> Result<Self, InvalidCommand> {
        let id = take_text(&mut fields, "id")?.ok_or(InvalidCommand::Missing("id"))?;
        let given = take_text(&mut fields, "do")?.ok_or(InvalidCommand::Missing("do"))?;
        let by = take_text(&mut fields, "by")?.unwrap_or_else(|| Self::ARBITER.to_owned());
        let known = Action::ALL.iter().find(|action| action.as_str() == given);
        let action = *known.ok_or(InvalidCommand::Unknown { given })?;
        check_names(&fields)?;
        let arguments = Value::Object(fields);
        let order = order(action, &arguments)?;
        Ok(Self {
            id,
            by,
            order,
            action,
            arguments,
            recalled: None,
            always_recorded: false,
        })
    }

    /// The id of the game that the command names, if any.
    #[must_use]
    pub fn game(&self) -> Option<&str> {
        match &self.order {
            Order::SetPlayers(set) => set.game.as_deref(),
            Order::SetResult(SetResult { game, .. })
            | Order::CorrectMoves(CorrectMoves { game, .. })
            | Order::AssignGame(AssignGame { game, .. })
            | Order::Annotate(Annotate { game, .. })
            | Order::Attend(Attend { game, .. }) => game.as_deref(),
            _ => None,
        }
    }

    /// Whether the command belongs to a round of the tournament rather than a board: a bye, or the result of a table
    /// without a game.
    #[must_use]
    pub fn is_of_round(&self) -> bool {
        match &self.order {
            Order::SetResult(set) => set.pairing().is_some(),
            Order::SetBye(_) => true,
            _ => false,
        }
    }

    /// The answer to the command.
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
    /// The command recorded by a `CommandTaken` event, whether it was carried out or refused; `None` for other events
    /// and for commands of a newer version.
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
            always_recorded: true,
        })
    }
}

impl NewGame {
    /// The players with the given names; `None` if neither name is given.
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
            check_pairing(action, set.round, set.table)?;
            Order::SetResult(set)
        }
        Action::SetBye => {
            let set: SetBye = read(action, arguments)?;
            check_pairing(action, Some(set.round), Some(1))?;
            Order::SetBye(set)
        }
        Action::AssignGame => {
            let assign: AssignGame = read(action, arguments)?;
            check_pairing(action, assign.round, assign.table)?;
            Order::AssignGame(assign)
        }
        Action::SetPosition => Order::SetPosition(read(action, arguments)?),
        Action::CorrectMoves => Order::CorrectMoves(read(action, arguments)?),
        Action::CloseIncident => Order::CloseIncident(read(action, arguments)?),
        Action::Annotate => Order::Annotate(read(action, arguments)?),
        Action::Attend => Order::Attend(read(action, arguments)?),
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

/// Fails unless round and table are both given or both omitted.
fn check_pairing(action: Action, round: Option<u32>, table: Option<u32>) -> Result<(), InvalidCommand> {
    let is_number = |number: Option<u32>| number.is_none_or(|number| (1..=9999).contains(&number));
    if round.is_some() == table.is_some() && is_number(round) && is_number(table) {
        return Ok(());
    }
    Err(InvalidCommand::Arguments {
        action,
        reason: "\"round\" and \"table\" must be given together, each from 1 to 9999".to_owned(),
    })
}

/// Maximum length of a name or a fact about a player, in characters. Longer ones do not fit on pages.
const LONGEST_NAME: usize = 120;

/// Whether an argument is a name or a fact about a player.
fn is_name(argument: &str) -> bool {
    matches!(
        argument,
        "white" | "black" | "player" | "title" | "federation" | "team" | "name"
    )
}

/// Fails if a name or a fact about a player is too long.
fn check_names(fields: &Map<String, Value>) -> Result<(), InvalidCommand> {
    for (name, value) in fields {
        match value {
            Value::Object(facts) => check_names(facts)?,
            Value::String(text) if is_name(name) && Command::is_long_name(text) => {
                return Err(InvalidCommand::LongName(name.clone()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes the characters from names and from the sender that make them look like others.
fn remove_marks(fields: &mut Map<String, Value>) {
    for (name, value) in fields {
        match value {
            Value::Object(facts) => remove_marks(facts),
            Value::String(text) if is_name(name) || name == "by" => marks::remove(text),
            _ => {}
        }
    }
}

/// Maximum length of a text, such as a note, in characters.
const LONGEST_TEXT: usize = 2000;

/// Fails if the id, the sender or a text other than a name is too long.
fn check_texts(fields: &Map<String, Value>) -> Result<(), InvalidCommand> {
    for (name, value) in fields {
        match value {
            Value::String(text) if matches!(name.as_str(), "id" | "by") && Command::is_long_name(text) => {
                return Err(InvalidCommand::LongName(name.clone()));
            }
            Value::String(text) if !is_name(name) && text.chars().count() > LONGEST_TEXT => {
                return Err(InvalidCommand::LongText(name.clone()));
            }
            _ => {}
        }
    }
    Ok(())
}

fn names() -> String {
    let names: Vec<&str> = Action::ALL.iter().map(|action| action.as_str()).collect();
    names.join(", ")
}

/// The arguments of a command without arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

const fn yes() -> bool {
    true
}

const fn first() -> u32 {
    1
}

fn table<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let table = u32::deserialize(deserializer)?;
    let is_valid = (1..=9999).contains(&table);
    is_valid.then_some(table).ok_or_else(|| {
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
