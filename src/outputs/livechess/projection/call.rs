//! Calls from clients over WebSockets.

use std::collections::BTreeSet;

use kiebitz_game::command::{Answer, Command};
use kiebitz_hardware::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::anchor::{Anchor, Circumstances, Position, SetupPlan};
use super::board::ClientBoard;
use super::feed::Feed;
use super::{LiveChess, Session, frame};

/// Maximum number of subscriptions of a connection.
const MAX_FEEDS: usize = 512;
/// Sender named in the commands that follow from calls.
const BY: &str = "livechess";

/// A command that follows from a call. Its answer must be passed to [`LiveChess::answered`].
#[derive(Debug)]
pub(crate) struct CallCommand {
    pub(crate) board: String,
    pub(crate) command: Command,
    session: Session,
    id: Value,
    feed: Value,
    anchor: Anchor,
}

#[derive(Deserialize)]
struct Call {
    #[serde(default)]
    id: Value,
    call: String,
    #[serde(default)]
    param: Value,
}

/// The parameters of a call to a method of a feed.
#[derive(Deserialize)]
struct Method {
    id: Value,
    method: String,
    #[serde(default)]
    param: Value,
}

#[derive(Deserialize)]
struct Subscribe {
    feed: String,
    id: Value,
    #[serde(default)]
    param: Value,
}

/// Reason for the failure of a call. The text is for people at the client.
#[derive(Debug, Error)]
enum CallError {
    #[error("not a call: {0}")]
    NoCall(String),
    #[error("unknown call {0:?}; expected eboards, sources, subscribe, unsubscribe or call")]
    UnknownCall(String),
    #[error("unknown feed {0:?}; expected eboardevent")]
    UnknownFeed(String),
    #[error("no such board: {0}")]
    NoBoard(String),
    #[error("no such feed: {0}")]
    NoFeed(Value),
    #[error("unknown method {0:?}; expected setup or flip")]
    UnknownMethod(String),
    #[error("{call}: {reason}")]
    Param { call: String, reason: String },
    #[error("{0:?} is not a position")]
    NoPosition(String),
    #[error(
        "this position is not in the game on the board, and kiebitz may not begin another game: set `setup = \
         true` under [livechess] to allow that"
    )]
    Watching,
    #[error("a connection can have at most {MAX_FEEDS} feeds")]
    TooMany,
    #[error("{0}")]
    Refused(String),
}

enum Outcome {
    Answer(Value),
    Ask(Box<CallCommand>),
}

impl LiveChess {
    /// Handles a message from a client. Returns a command if the call needs one; otherwise queues the answer.
    pub(crate) fn handle_message(
        &mut self,
        now: Timestamp,
        session: Session,
        text: &str,
    ) -> Option<Box<CallCommand>> {
        let value: Result<Value, _> = serde_json::from_str(text);
        let value = value.unwrap_or_default();
        let id = value.get("id").cloned().unwrap_or_default();
        let outcome = match Call::deserialize(&value) {
            Ok(call) => self.call(now, session, call),
            Err(error) => Err(CallError::NoCall(error.to_string())),
        };
        let answer = match outcome {
            Ok(Outcome::Ask(command)) => return Some(command),
            Ok(Outcome::Answer(answer)) => Ok(answer),
            Err(wrong) => Err(wrong),
        };
        self.reply(now, session, &id, answer);
        None
    }

    fn reply(&mut self, now: Timestamp, session: Session, id: &Value, answer: Result<Value, CallError>) {
        let frame = match answer {
            Ok(answer) => frame("call", id, &answer, now),
            Err(wrong) => {
                let param = json!({ "message": wrong.to_string(), "stacktrace": "" });
                frame("error", id, &param, now)
            }
        };
        self.frames.push((session, frame));
    }

    fn call(&mut self, now: Timestamp, session: Session, call: Call) -> Result<Outcome, CallError> {
        let Call { id, call, param } = call;
        let answer = match &*call {
            "eboards" => self.eboards(),
            "sources" => self.sources(),
            "subscribe" => self.subscribe(session, read(&call, param)?)?,
            "unsubscribe" => self.unsubscribe(session, param)?,
            "call" => return self.method(now, (session, id), read(&call, param)?),
            _ => return Err(CallError::UnknownCall(call)),
        };
        Ok(Outcome::Answer(answer))
    }

    /// The ports with connected boards, each once: several boards may be on one port. Clients expect all of these fields.
    /// They accept null for `name` and `status`. The words of LiveChess for `type` and `status` are not known.
    fn sources(&self) -> Value {
        let ports: BTreeSet<&str> = self.boards.values().filter_map(ClientBoard::source).collect();
        let source = |port| {
            json!({
                "type": "SERIAL",
                "device": port,
                "name": null,
                "present": true,
                "active": true,
                "status": null,
            })
        };
        ports.into_iter().map(source).collect()
    }

    fn subscribe(&mut self, session: Session, subscribe: Subscribe) -> Result<Value, CallError> {
        let Subscribe { feed, id, param } = subscribe;
        if feed != "eboardevent" {
            return Err(CallError::UnknownFeed(feed));
        }
        let serial = param.get("serialnr").and_then(Value::as_str);
        let serial = serial.ok_or_else(|| CallError::Param {
            call: "subscribe".to_owned(),
            reason:
                "\"serialnr\" is missing or not a string; a board without a number is known by its `comment`"
                    .to_owned(),
        })?;
        if self.named(serial).is_none() {
            return Err(CallError::NoBoard(serial.to_owned()));
        }
        let feeds = self.sessions.entry(session).or_default();
        // A client that reuses an id replaces its subscription.
        feeds.retain(|feed| feed.id != id);
        if feeds.len() >= MAX_FEEDS {
            return Err(CallError::TooMany);
        }
        feeds.push(Feed::new(id, serial.to_owned()));
        Ok(Value::Null)
    }

    fn unsubscribe(&mut self, session: Session, id: Value) -> Result<Value, CallError> {
        let feeds = self.sessions.entry(session).or_default();
        let before = feeds.len();
        feeds.retain(|feed| feed.id != id);
        if feeds.len() == before {
            return Err(CallError::NoFeed(id));
        }
        Ok(Value::Null)
    }

    fn method(
        &mut self,
        now: Timestamp,
        (session, id): (Session, Value),
        method: Method,
    ) -> Result<Outcome, CallError> {
        let feeds = self.sessions.get(&session).into_iter().flatten();
        let feed = feeds.into_iter().find(|feed| feed.id == method.id);
        let feed = feed.ok_or_else(|| CallError::NoFeed(method.id.clone()))?;
        let board = self.named(&feed.serial);
        let board = board.ok_or_else(|| CallError::NoBoard(feed.serial.clone()))?;
        let name = board.status.name.clone();
        match &*method.method {
            "setup" => self.set_up(now, (session, id), &method, name),
            "flip" => {
                let flip = method.param.get("flip").and_then(Value::as_bool);
                let flip = flip.ok_or_else(|| CallError::Param {
                    call: "flip".to_owned(),
                    reason: "\"flip\" is missing or not a boolean".to_owned(),
                })?;
                if let Some(seen) = self.boards.get_mut(&name) {
                    seen.flipped = flip;
                }
                self.changed.insert(name);
                Ok(Outcome::Answer(Value::Null))
            }
            _ => Err(CallError::UnknownMethod(method.method)),
        }
    }

    fn set_up(
        &mut self,
        now: Timestamp,
        (session, id): (Session, Value),
        method: &Method,
        name: String,
    ) -> Result<Outcome, CallError> {
        // A certain client calls `setup` when it means `flip`: without a FEN, the call must not begin a game.
        let fen = method.param.get("fen").and_then(Value::as_str);
        let fen = fen.ok_or_else(|| CallError::Param {
            call: "setup".to_owned(),
            reason: "\"fen\" is missing or not a string".to_owned(),
        })?;
        let position = Position::read(fen).ok_or_else(|| CallError::NoPosition(fen.to_owned()))?;
        let board = self.boards.get(&name);
        let board = board.ok_or_else(|| CallError::NoBoard(name.clone()))?;
        let plan = SetupPlan::make(
            position,
            fen,
            Circumstances {
                current: self.show.current(&name),
                shown: &board.status.placement,
                before: self
                    .feed(session, &method.id)
                    .and_then(|feed| feed.anchor.as_ref()),
                may_set_up: self.may_set_up,
            },
        );
        let (order, anchor) = match plan.ok_or(CallError::Watching)? {
            SetupPlan::Count(anchor) => {
                self.count_from(session, &method.id, anchor);
                return Ok(Outcome::Answer(Value::Null));
            }
            SetupPlan::Begin(anchor) => ("new_game", anchor),
            SetupPlan::TakeBack(anchor) => ("set_position", anchor),
        };
        self.commands = self.commands.wrapping_add(1);
        let number = format!("livechess {}.{}", now.as_micros(), self.commands);
        let text = json!({ "id": number, "do": order, "by": BY, "fen": fen }).to_string();
        let command = Command::parse(&text).map_err(|error| CallError::Refused(error.to_string()))?;
        Ok(Outcome::Ask(Box::new(CallCommand {
            board: name,
            command,
            session,
            id,
            feed: method.id.clone(),
            anchor,
        })))
    }

    /// Queues the answer to a call, given the answer to its command; `None` if there was none in time.
    pub(crate) fn answered(&mut self, now: Timestamp, command: CallCommand, answer: Option<Answer>) {
        let result = match answer {
            Some(Answer { error: None, .. }) => {
                self.count_from(command.session, &command.feed, command.anchor);
                Ok(Value::Null)
            }
            Some(Answer {
                error: Some(error), ..
            }) => Err(CallError::Refused(error)),
            None => Err(CallError::Refused("kiebitz does not answer".to_owned())),
        };
        self.reply(now, command.session, &command.id, result);
    }

    fn count_from(&mut self, session: Session, feed: &Value, anchor: Anchor) {
        let feeds = self.sessions.get_mut(&session).into_iter().flatten();
        for feed in feeds.filter(|known| known.id == *feed) {
            feed.anchor = Some(anchor.clone());
            let name = self.serials.get(&feed.serial).unwrap_or(&feed.serial);
            self.changed.insert(name.clone());
        }
    }

    fn feed(&self, session: Session, id: &Value) -> Option<&Feed> {
        self.sessions.get(&session)?.iter().find(|feed| feed.id == *id)
    }
}

fn read<T: for<'de> Deserialize<'de>>(call: &str, param: Value) -> Result<T, CallError> {
    T::deserialize(param).map_err(|error| CallError::Param {
        call: call.to_owned(),
        reason: error.to_string(),
    })
}
