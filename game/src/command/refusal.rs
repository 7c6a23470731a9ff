//! Reasons for refusing a command.

use std::collections::BTreeMap;

use serde_json::Value;

use super::StandingDecision;
use crate::events::{EndReason, GameResult, time_text};
use crate::laws::{self, Language};

/// The reason for refusing a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No board has this name.
    UnknownBoard {
        /// The board.
        board: String,
        /// The known boards.
        boards: Vec<String>,
    },
    /// The board has no game in progress.
    NoGame {
        /// The board.
        board: String,
    },
    /// The record of this game is closed: it is neither the current nor the last one.
    GameNotOpen {
        /// The board.
        board: String,
        /// The game's id.
        game: String,
    },
    /// There is no current or earlier game.
    NothingToChange {
        /// The board.
        board: String,
    },
    /// The command is only possible between games.
    GameInProgress {
        /// The board.
        board: String,
    },
    /// The command is only possible while the board is disconnected.
    Connected {
        /// The board.
        board: String,
    },
    /// The game had already ended by the Laws.
    AlreadyOver {
        /// The game's result.
        result: GameResult,
        /// The reason for which it ended.
        over_by: EndReason,
        /// The reason that was entered.
        reason: EndReason,
    },
    /// The position cannot be set, because the game is over.
    GameOver {
        /// The game's result.
        result: GameResult,
        /// The reason for which it ended.
        over_by: EndReason,
    },
    /// The text is not a result.
    UnknownResult {
        /// The given text.
        given: String,
    },
    /// The text is not a reason.
    UnknownReason {
        /// The given text.
        given: String,
        /// The valid reasons.
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
        /// The given text.
        fen: String,
    },
    /// The position is illegal.
    IllegalPosition {
        /// The given FEN.
        fen: String,
    },
    /// The move is not legal, or cannot be read.
    InvalidMove {
        /// The given text.
        given: String,
        /// The ply of the move.
        ply: u32,
        /// The position.
        fen: String,
    },
    /// The ply to start at lies beyond the end of the game.
    PlyTooLate {
        /// The number of plies of the game.
        plies: usize,
        /// The given ply.
        from: u32,
    },
    /// The text is not a time control.
    InvalidTimeControl {
        /// The error.
        why: String,
    },
    /// The time control is ambiguous.
    AmbiguousTimeControl {
        /// The given text.
        text: String,
        /// The possible meanings, each in an unambiguous notation.
        readings: Vec<String>,
    },
    /// The round would begin too long before or after the present.
    RoundTooFarOff {
        /// The given start of the round.
        begins: String,
    },
    /// The game has no incident of this number.
    UnknownIncident {
        /// The board.
        board: String,
        /// The incident's number.
        incident: u64,
    },
    /// Nobody needs to go to the incident, because it is over.
    IncidentOver {
        /// The board.
        board: String,
        /// The incident's number.
        incident: u64,
    },
    /// The board has no such claim to decide.
    UnknownClaim {
        /// The board.
        board: String,
    },
    /// The ruling cannot be postponed: claims by repetition or fifty moves, and requests for an increment, must be
    /// accepted or rejected.
    NothingToPostpone,
    /// The game already has these moves.
    SameMoves,
    /// Another arbiter has decided the incident.
    IncidentDecided {
        /// The incident's number.
        incident: u64,
        /// The other arbiter's decision.
        standing: StandingDecision,
    },
    /// Another arbiter has set the result.
    ResultDecided(StandingDecision),
    /// Another arbiter has entered a move that the command would withdraw.
    MoveEntered {
        /// The move's ply.
        ply: u32,
        /// The other arbiter's entry.
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

    /// The other arbiter's decision that blocks the command; `None` for any other reason.
    #[must_use]
    pub const fn standing(&self) -> Option<&StandingDecision> {
        match self {
            Self::IncidentDecided { standing, .. }
            | Self::ResultDecided(standing)
            | Self::MoveEntered { standing, .. } => Some(standing),
            _ => None,
        }
    }

    /// The key of the text in the catalogues, and the values of its placeholders.
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
            Self::IncidentOver { board, incident } => {
                ("incident_over", with(on(board), "incident", *incident))
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
