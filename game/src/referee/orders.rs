//! Commands of arbiters: checked against the game, then carried out.

mod carry_out;
mod claims;
mod moves;
mod results;

use core::time::Duration;
use std::collections::BTreeMap;

use kiebitz_hardware::Timestamp;
use shakmaty::{CastlingMode, Color};

use super::watch::News;
use super::{OpenGame, Referee, Verdict};
use crate::clock::Side;
use crate::command::{
    Annotate, AssignGame, Attend, CloseIncident, CorrectMoves, EndGame, NewGame, Order, Refusal, SetPlayers,
    SetPosition, SetTimeControl, StandingDecision, StartRound,
};
use crate::events::pairing::PAIRINGS;
use crate::events::{EndReason, GameResult, Players, color, time_text};
use crate::laws::{InvalidTimeControl, Regulations, Situation, TimeControl, answer};
use crate::position::State;
use crate::tracker::Given;
use claims::Ruled;
use moves::CorrectedMoves;

/// A command that can be carried out, and its effect.
#[derive(Debug)]
pub(crate) struct Checked {
    effect: Effect,
    note: Option<String>,
}

#[derive(Debug)]
enum Effect {
    Players(WhichGame, Players, Seats),
    Assigned(WhichGame, Players),
    TimeControl(TimeControl),
    Result(WhichGame, Verdict),
    TableResult((u32, u32), Verdict),
    Forfeit(Verdict),
    GoOn,
    Position(State),
    Moves(WhichGame, CorrectedMoves),
    Incident(CloseIncident),
    Note(WhichGame, String),
    Start(State, Option<Players>),
    End(EndReason),
    None,
    WhiteSide(Side),
    Round(Timestamp),
    Claim(Color, Box<Situation>),
    Rule(Ruled),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WhichGame {
    /// The game in progress, or the last one until the pieces are set up again.
    Current,
    /// The last game, after the pieces were set up again.
    Previous,
    /// An earlier game that the board no longer has.
    Recalled,
    Next,
}

/// Meaning of an exchange of the players' names for their seats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seats {
    /// The players have exchanged colours.
    Reversed,
    /// The players sat correctly and the names were wrong.
    Right,
    /// Undetermined: pairing files contain no seats.
    Undetermined,
}

/// Maximum time between the announcement of a round and its start, in either direction. A larger difference is treated
/// as a typing mistake.
const MAX_ROUND_DISTANCE: Duration = Duration::from_secs(24 * 60 * 60);
/// Reasons for a game without a result.
const UNFINISHED: &[EndReason] = &[EndReason::Arbiter, EndReason::Void, EndReason::Adjourned];

impl Checked {
    /// Remark on the effect, for the sender.
    pub(crate) fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }
}

impl From<Effect> for Checked {
    fn from(effect: Effect) -> Self {
        Self { effect, note: None }
    }
}

impl Referee {
    /// Checks whether a command can be carried out now.
    ///
    /// # Errors
    ///
    /// Fails if the command must be refused; the refusal is written for the sender.
    pub(crate) fn check(&self, now: Timestamp, by: &str, order: &Order) -> Result<Checked, Refusal> {
        let effect = match order {
            Order::SetPlayers(set) => return self.check_players(by, set),
            Order::SetTimeControl(set) => return self.check_time_control(set),
            Order::SetResult(set) => return self.check_result(by, set),
            Order::AssignGame(assign) => self.check_assignment(assign)?,
            Order::SetPosition(set) => self.check_position(by, set)?,
            Order::CorrectMoves(correct) => self.check_moves(now, by, correct)?,
            Order::CloseIncident(close) => self.check_incident(by, close)?,
            Order::Annotate(Annotate { text, game }) => {
                Effect::Note(self.which_game(game.as_ref())?, text.clone())
            }
            Order::Attend(attend) => self.check_attendance(attend)?,
            Order::NewGame(new) => self.check_new_game(new)?,
            Order::EndGame(end) => self.check_end(end)?,
            Order::Identify | Order::Forget if self.game().is_some() => {
                return Err(Refusal::GameInProgress {
                    board: self.board.clone(),
                });
            }
            Order::Identify | Order::Forget | Order::SetTable(_) | Order::SetBye(_) => Effect::None,
            Order::SyncClockSides(sync) => Effect::WhiteSide(sync.white),
            Order::StartRound(start) => check_round(now + self.ahead, start)?,
            Order::Claim(claim) => return self.check_claim(claim),
            Order::DecideClaim(decide) => return self.check_ruling(by, decide),
        };
        Ok(effect.into())
    }

    /// Input for the tracker that follows from the command.
    pub(crate) fn given(&self, checked: &Checked) -> Option<Given> {
        let running = self.game.as_ref().filter(|game| !game.ended);
        match &checked.effect {
            Effect::Moves(WhichGame::Current, moves) => running.map(|game| Given::Line(game.states(moves))),
            Effect::Position(state) => {
                let mut states = running?.line();
                states.pop();
                states.push(state.clone());
                Some(Given::Line(states))
            }
            Effect::Start(state, _) => Some(Given::Start(state.clone())),
            Effect::WhiteSide(side) => Some(Given::WhiteSide(*side)),
            _ => None,
        }
    }

    pub(crate) fn carry_out(&mut self, now: Timestamp, by: &str, checked: Checked) {
        match checked.effect {
            Effect::Players(which, players, seats) => self.set_players(now, by, which, players, seats),
            Effect::Assigned(which, players) => self.assign(now, by, which, players),
            Effect::TimeControl(control) => self.set_time_control(now, by, control),
            Effect::Result(which, verdict) => {
                self.set_result(now, by, which, verdict);
                self.watch(now, News::ResultEntered);
            }
            Effect::TableResult(pairing, verdict) => self.set_table_result(now, by, pairing, verdict),
            Effect::Forfeit(verdict) => {
                self.forfeit(now, by, verdict);
                self.watch(now, News::Time);
            }
            Effect::GoOn => self.go_on(now, by),
            Effect::Position(state) => {
                self.board_is_set(now);
                self.set_position(now, by, state);
            }
            Effect::Moves(which, moves) => {
                if which == WhichGame::Current {
                    self.board_is_set(now);
                }
                self.correct_moves(now, by, which, moves);
            }
            Effect::Incident(close) => self.close_incident(now, by, &close),
            Effect::Note(which, text) => self.annotate(now, by, which, text),
            Effect::Start(_, players) => self.start_new_game(now, by, players),
            Effect::End(reason) => {
                self.end_by_arbiter(now, by, Verdict::arbiter(GameResult::Unknown, reason));
                self.watch(now, News::Time);
            }
            Effect::Round(begins) => self.start_round(now, begins),
            Effect::Claim(color, situation) => self.watch(now, News::Claimed(color, situation)),
            Effect::Rule(ruled) => self.rule_on_claim(now, by, ruled),
            Effect::None | Effect::WhiteSide(_) => {}
        }
    }

    fn check_players(&self, by: &str, set: &SetPlayers) -> Result<Checked, Refusal> {
        let which = match &set.game {
            Some(_) => self.which_game(set.game.as_ref())?,
            None if self.game().is_some() => WhichGame::Current,
            None => WhichGame::Next,
        };
        let before = match which {
            WhichGame::Next => self.announced.as_ref(),
            _ => self.game_of(which).and_then(|game| game.players.as_ref()),
        };
        let players = set.players(before);
        let is_by_file = by == PAIRINGS;
        let seats = match set.correction {
            Some(true) => Seats::Right,
            None if is_by_file => Seats::Undetermined,
            _ => Seats::Reversed,
        };
        // A pairing file does not reflect that an arbiter has found the players with exchanged colours.
        let names_others = |before: &&Players| players.white != before.white && players.black != before.black;
        let keeps_reversed = which == WhichGame::Current && is_by_file && self.watch.are_reversed();
        let keeps_reversed = before.filter(names_others).filter(|_| keeps_reversed).is_some();
        let note = match before.and_then(|before| set.corrected(before)) {
            _ if keeps_reversed => Some(answer(self.regulations.language, "colors_stay", &BTreeMap::new())),
            Some((color, name)) => Some(corrected_note(&self.regulations, color, name)),
            None => None,
        };
        let players = if keeps_reversed {
            players.exchanged()
        } else {
            players
        };
        Ok(Checked {
            effect: Effect::Players(which, players, seats),
            note,
        })
    }

    fn check_assignment(&self, assign: &AssignGame) -> Result<Effect, Refusal> {
        let which = self.which_game(assign.game.as_ref())?;
        let game = self.game_of(which).ok_or_else(|| self.no_game())?;
        let place = (assign.round, assign.table);
        let players = Players {
            round: assign.round,
            table: assign.table,
            ..game.players.clone().unwrap_or_default()
        };
        Ok(Effect::Assigned(which, self.with_known_players(place, players)))
    }

    /// Fills in the players of an earlier game on this board with the same pairing, if the game has no names.
    fn with_known_players(&self, place: (Option<u32>, Option<u32>), players: Players) -> Players {
        let before = self.last_paired.as_ref();
        let before = before.filter(|before| (before.players.round, before.players.table) == place);
        match before {
            Some(before) if players.white.is_none() && players.black.is_none() => before.players.clone(),
            _ => players,
        }
    }

    fn check_time_control(&self, set: &SetTimeControl) -> Result<Checked, Refusal> {
        let control = control(&set.time_control)?;
        let note = time_control_note(&self.regulations, &control);
        Ok(Checked {
            effect: Effect::TimeControl(control),
            note: Some(note),
        })
    }

    fn check_position(&self, by: &str, set: &SetPosition) -> Result<Effect, Refusal> {
        let Some(game) = &self.game else {
            return Ok(Effect::Start(position(&set.fen)?, None));
        };
        if let Some(verdict) = game.verdict.as_ref().filter(|_| game.ended) {
            return Err(Refusal::GameOver {
                result: verdict.result,
                over_by: verdict.reason,
            });
        }
        let state = position(&set.fen)?;
        let line = game.line();
        let same_position = line
            .iter()
            .rposition(|earlier| earlier.board() == state.board() && earlier.turn() == state.turn());
        Ok(match same_position {
            Some(stay) => {
                let moves = CorrectedMoves {
                    stay,
                    entered: Vec::new(),
                    position: line.get(stay).cloned(),
                };
                game.check_entered(&moves, by, set.replace)?;
                Effect::Moves(WhichGame::Current, moves)
            }
            None => Effect::Position(state),
        })
    }

    fn check_moves(&self, now: Timestamp, by: &str, correct: &CorrectMoves) -> Result<Effect, Refusal> {
        let which = self.which_game(correct.game.as_ref())?;
        let game = self.game_of(which).ok_or_else(|| self.no_game())?;
        let moves = game.corrected(now, correct)?;
        game.check_entered(&moves, by, correct.replace)?;
        Ok(Effect::Moves(which, moves))
    }

    fn check_incident(&self, by: &str, close: &CloseIncident) -> Result<Effect, Refusal> {
        if !self.has_incident(close.incident) {
            return Err(Refusal::UnknownIncident {
                board: self.board.clone(),
                incident: close.incident,
            });
        }
        self.check_decided(by, close.incident, close.replace)?;
        Ok(Effect::Incident(close.clone()))
    }

    /// The game does not change if an arbiter goes to the board: the command itself is the record.
    fn check_attendance(&self, attend: &Attend) -> Result<Effect, Refusal> {
        if attend.game.is_some() {
            self.which_game(attend.game.as_ref())?;
        }
        let Some(incident) = attend.incident.filter(|_| attend.going) else {
            return Ok(Effect::None);
        };
        let board = self.board.clone();
        let mut open = self.watch.open_incidents();
        if open.any(|open| open.incident == incident) {
            return Ok(Effect::None);
        }
        Err(match self.has_incident(incident) {
            true => Refusal::IncidentOver { board, incident },
            false => Refusal::UnknownIncident { board, incident },
        })
    }

    /// Refuses a decision on an incident that another arbiter has decided, unless `replace` is set.
    fn check_decided(&self, by: &str, incident: u64, replace: bool) -> Result<(), Refusal> {
        let Some(decided) = self.watch.decided(incident) else {
            return Ok(());
        };
        let text = decided.text.as_deref().unwrap_or_default();
        match StandingDecision::against(Some(&decided.decision), by, replace, text) {
            Some(standing) => Err(Refusal::IncidentDecided { incident, standing }),
            None => Ok(()),
        }
    }

    fn check_new_game(&self, new: &NewGame) -> Result<Effect, Refusal> {
        let start = match &new.fen {
            Some(fen) => position(fen)?,
            None => State::default(),
        };
        Ok(Effect::Start(start, new.players()))
    }

    fn check_end(&self, end: &EndGame) -> Result<Effect, Refusal> {
        if self.game().is_none() {
            return Err(self.no_game());
        }
        let reason = match &end.reason {
            Some(given) => reason_among(given, UNFINISHED)?,
            None => EndReason::Arbiter,
        };
        Ok(Effect::End(reason))
    }

    fn no_game(&self) -> Refusal {
        let board = self.board.clone();
        Refusal::NoGame { board }
    }

    /// Finds the game with this id; without an id, the game in progress or else the last one.
    fn which_game(&self, game: Option<&String>) -> Result<WhichGame, Refusal> {
        let board = self.board.clone();
        let found = [
            (WhichGame::Current, &self.game),
            (WhichGame::Previous, &self.previous),
            (WhichGame::Recalled, &self.recalled),
        ]
        .into_iter()
        .find(|(_, known)| {
            known
                .as_ref()
                .is_some_and(|known| game.is_none_or(|id| known.id.id == *id))
        });
        found.map(|(which, _)| which).ok_or_else(|| match game {
            Some(game) => Refusal::GameNotOpen {
                board,
                game: game.clone(),
            },
            None => Refusal::NothingToChange { board },
        })
    }

    fn game_of(&self, which: WhichGame) -> Option<&OpenGame> {
        match which {
            WhichGame::Current => self.game.as_ref(),
            WhichGame::Previous => self.previous.as_ref(),
            WhichGame::Recalled => self.recalled.as_ref(),
            WhichGame::Next => None,
        }
    }

    fn game_of_mut(&mut self, which: WhichGame) -> Option<&mut OpenGame> {
        match which {
            WhichGame::Current => self.game.as_mut(),
            WhichGame::Previous => self.previous.as_mut(),
            WhichGame::Recalled => self.recalled.as_mut(),
            WhichGame::Next => None,
        }
    }
}

fn check_round(now: Timestamp, start: &StartRound) -> Result<Effect, Refusal> {
    let begins = start.begins.unwrap_or(now);
    let distances = [
        begins.saturating_duration_since(now),
        now.saturating_duration_since(begins),
    ];
    if distances.iter().any(|distance| *distance > MAX_ROUND_DISTANCE) {
        let begins = time_text(begins);
        return Err(Refusal::RoundTooFarOff { begins });
    }
    Ok(Effect::Round(begins))
}

/// Parses a position to continue from. It must be legal.
fn position(fen: &str) -> Result<State, Refusal> {
    let read = |mode| State::from_fen(fen, mode);
    let states = [CastlingMode::Standard, CastlingMode::Chess960].map(read);
    let mut states = states.into_iter().flatten().peekable();
    if states.peek().is_none() {
        return Err(Refusal::InvalidFen { fen: fen.to_owned() });
    }
    let legal = states.find(|state| state.position().is_some());
    legal.ok_or_else(|| Refusal::IllegalPosition { fen: fen.to_owned() })
}

fn control(given: &str) -> Result<TimeControl, Refusal> {
    given.parse().map_err(|error| match error {
        InvalidTimeControl::Ambiguous { text, readings } => Refusal::AmbiguousTimeControl { text, readings },
        error => Refusal::InvalidTimeControl {
            why: error.to_string(),
        },
    })
}

/// Note that the player's other data are unchanged although the name was corrected.
fn corrected_note(regulations: &Regulations, color: Color, name: &str) -> String {
    let values = BTreeMap::from([
        ("color".to_owned(), color::as_str(color).into()),
        ("given".to_owned(), name.into()),
        (
            "field".to_owned(),
            format!("{}_player", color::as_str(color)).into(),
        ),
    ]);
    answer(regulations.language, "name_corrected", &values)
}

/// Note on how the time control was read and on the mode of play that follows from it.
fn time_control_note(regulations: &Regulations, control: &TimeControl) -> String {
    let mut regulations = regulations.clone();
    regulations.set_time_control(control.clone());
    let applies = regulations.rules.mode;
    let (follows, article) = regulations.mode_of_time().unwrap_or((applies, ""));
    let name = match (applies == follows, article) {
        (false, _) => "time_control_named",
        (true, "") => "time_control",
        (true, _) => "time_control_mode",
    };
    let values = BTreeMap::from([
        ("control".to_owned(), control.to_string().into()),
        ("mode".to_owned(), follows.as_str().into()),
        ("named".to_owned(), applies.as_str().into()),
        ("article".to_owned(), article.into()),
    ]);
    answer(regulations.language, name, &values)
}

fn reason_among(given: &str, known: &'static [EndReason]) -> Result<EndReason, Refusal> {
    let found = known.iter().find(|reason| reason.as_str() == given);
    found.copied().ok_or_else(|| Refusal::UnknownReason {
        given: given.to_owned(),
        known,
    })
}

#[cfg(test)]
mod tests;
