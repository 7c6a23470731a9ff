//! Why a command was not carried out.

use std::collections::BTreeMap;

use serde_json::Value;

use super::StandingDecision;
use crate::events::{EndReason, GameResult, time_text};
use crate::laws::{self, Language};

/// Why a command was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// There is no board of that name.
    UnknownBoard {
        /// The board.
        board: String,
        /// The boards there are.
        boards: Vec<String>,
    },
    /// Nothing is being played.
    NoGame {
        /// The board.
        board: String,
    },
    /// The game is not the current or the last one: its record is closed.
    GameNotOpen {
        /// The board.
        board: String,
        /// The game's id.
        game: String,
    },
    /// There was no game, and none is being played.
    NothingToChange {
        /// The board.
        board: String,
    },
    /// This is possible between games only.
    GameInProgress {
        /// The board.
        board: String,
    },
    /// The board is there.
    Connected {
        /// The board.
        board: String,
    },
    /// The game had already ended by the Laws.
    AlreadyOver {
        /// Its result.
        result: GameResult,
        /// What ended it.
        over_by: EndReason,
        /// What was entered.
        reason: EndReason,
    },
    /// The position cannot be set: the game is over.
    GameOver {
        /// Its result.
        result: GameResult,
        /// What ended it.
        over_by: EndReason,
    },
    /// There is no such result.
    UnknownResult {
        /// What was given.
        given: String,
    },
    /// There is no such reason.
    UnknownReason {
        /// What was given.
        given: String,
        /// The reasons there are.
        known: &'static [EndReason],
    },
    /// The reason contradicts the result.
    ReasonContradictsResult {
        /// The reason.
        reason: EndReason,
        /// The result.
        result: GameResult,
    },
    /// The text is not a FEN.
    InvalidFen {
        /// What was given.
        fen: String,
    },
    /// The position is illegal.
    IllegalPosition {
        /// What was given.
        fen: String,
    },
    /// The move is not legal, or cannot be read.
    InvalidMove {
        /// What was given.
        given: String,
        /// The ply that it would be.
        ply: u32,
        /// The position.
        fen: String,
    },
    /// The game has fewer plies than were to be kept.
    PlyTooLate {
        /// The number of plies of the game.
        plies: usize,
        /// What was given.
        from: u32,
    },
    /// The text is not a time control.
    InvalidTimeControl {
        /// What is wrong.
        why: String,
    },
    /// The time control can be read in several ways.
    AmbiguousTimeControl {
        /// What was given.
        text: String,
        /// What may be meant, each as it can be written.
        readings: Vec<String>,
    },
    /// The round begins too long before or after now.
    RoundTooFarOff {
        /// When it was to begin.
        begins: String,
    },
    /// There is no such incident to decide.
    UnknownIncident {
        /// The board.
        board: String,
        /// Its number.
        incident: u64,
    },
    /// There is no such claim to decide.
    UnknownClaim {
        /// The board.
        board: String,
    },
    /// A claim by repetition or fifty moves is right or wrong, and so is a request for an increment.
    NothingToPostpone,
    /// The game already has these moves.
    SameMoves,
    /// Another arbiter has decided the incident.
    IncidentDecided {
        /// Its number.
        incident: u64,
        /// That decision.
        standing: StandingDecision,
    },
    /// Another arbiter has set the result.
    ResultDecided(StandingDecision),
    /// Another arbiter has entered a move that would be withdrawn.
    MoveEntered {
        /// Its ply.
        ply: u32,
        /// The move.
        standing: StandingDecision,
    },
}

impl Refusal {
    /// The message for the sender of the command.
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        let (name, values) = self.wording();
        let values = values
            .into_iter()
            .map(|(placeholder, value)| (placeholder.to_owned(), value));
        laws::answer(language, name, &values.collect())
    }

    /// The decision of another arbiter that stands in the way; `None` if there is another reason.
    #[must_use]
    pub const fn standing(&self) -> Option<&StandingDecision> {
        match self {
            Self::IncidentDecided { standing, .. }
            | Self::ResultDecided(standing)
            | Self::MoveEntered { standing, .. } => Some(standing),
            _ => None,
        }
    }

    /// The key of its text in the catalogues, and the values for its placeholders.
    fn wording(&self) -> (&'static str, Values) {
        let on = |board: &str| BTreeMap::from([("board", board.into())]);
        let given = |given: &str| BTreeMap::from([("given", given.into())]);
        match self {
            Self::UnknownBoard { board, boards } => {
                ("no_board", with(on(board), "boards", boards.join(", ")))
            }
            Self::NoGame { board } => ("no_game", on(board)),
            Self::GameNotOpen { board, game } => ("not_that_game", with(on(board), "game", game.as_str())),
            Self::NothingToChange { board } => ("nothing_to_change", on(board)),
            Self::GameInProgress { board } => ("game_on", on(board)),
            Self::Connected { board } => ("connected", on(board)),
            Self::AlreadyOver {
                result,
                over_by,
                reason,
            } => (
                "already_over",
                with(over(*result, *over_by), "given", reason.as_str()),
            ),
            Self::GameOver { result, over_by } => ("over", over(*result, *over_by)),
            Self::UnknownResult { given: result } => ("no_result", given(&format!("{result:?}"))),
            Self::UnknownReason { given: reason, known } => {
                let reason = given(&format!("{reason:?}"));
                let known: Vec<&str> = known.iter().map(|reason| reason.as_str()).collect();
                ("no_reason", with(reason, "known", known.join(", ")))
            }
            Self::ReasonContradictsResult { reason, result } => (
                "no_such_end",
                with(given(reason.as_str()), "result", result.as_str()),
            ),
            Self::InvalidFen { fen } => ("no_fen", given(&format!("{fen:?}"))),
            Self::IllegalPosition { fen } => ("no_legal_position", given(&format!("{fen:?}"))),
            Self::InvalidMove { given: mv, ply, fen } => {
                let values = with(given(&format!("{mv:?}")), "ply", *ply);
                ("no_move", with(values, "fen", fen.as_str()))
            }
            Self::PlyTooLate { plies, from } => (
                "no_such_ply",
                BTreeMap::from([("plies", (*plies).into()), ("ply", (*from).into())]),
            ),
            Self::InvalidTimeControl { why } => (
                "no_time_control",
                BTreeMap::from([("problem", why.as_str().into())]),
            ),
            Self::AmbiguousTimeControl { text, readings } => {
                let readings: Vec<String> = readings.iter().map(|reading| format!("{reading:?}")).collect();
                let text = given(&format!("{text:?}"));
                ("ambiguous", with(text, "readings", readings.join(", ")))
            }
            Self::RoundTooFarOff { begins } => ("far_off", given(begins)),
            Self::UnknownIncident { board, incident } => {
                ("no_incident", with(on(board), "incident", *incident))
            }
            Self::UnknownClaim { board } => ("no_claim", on(board)),
            Self::NothingToPostpone => ("no_postponing", BTreeMap::new()),
            Self::SameMoves => ("same_moves", BTreeMap::new()),
            Self::IncidentDecided { incident, standing } => {
                let name = match standing.decision.as_str() {
                    "" => "incident_decided_silently",
                    _ => "incident_decided",
                };
                (name, with(decided(standing), "incident", *incident))
            }
            Self::MoveEntered { ply, standing } => ("move_entered", with(decided(standing), "ply", *ply)),
            Self::ResultDecided(standing) => ("result_decided", decided(standing)),
        }
    }
}

type Values = BTreeMap<&'static str, Value>;

fn with(mut values: Values, placeholder: &'static str, value: impl Into<Value>) -> Values {
    values.insert(placeholder, value.into());
    values
}

fn decided(standing: &StandingDecision) -> Values {
    BTreeMap::from([
        ("by", standing.by.as_str().into()),
        ("at", time_text(standing.at).into()),
        ("given", format!("{:?}", standing.decision).into()),
    ])
}

fn over(result: GameResult, by: EndReason) -> Values {
    BTreeMap::from([
        ("result", result.as_str().into()),
        ("over_by", by.as_str().into()),
    ])
}
