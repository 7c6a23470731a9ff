//! Why a command was not done.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::events::{EndReason, GameResult};
use crate::laws::{self, Language};

/// Why a command was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Nobody knows the board.
    UnknownBoard {
        /// The board.
        board: String,
        /// Those that there are.
        boards: Vec<String>,
    },
    /// Nothing is being played.
    NoGame {
        /// The board.
        board: String,
    },
    /// There was no game yet, or the next one has begun.
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
    /// It would have to be done between games.
    GameInProgress {
        /// The board.
        board: String,
    },
    /// The game was over by the Laws before.
    AlreadyOver {
        /// Its result.
        result: GameResult,
        /// What ended it.
        over_by: EndReason,
        /// What was entered.
        reason: EndReason,
    },
    /// It cannot be set back: the game is over.
    GameOver {
        /// Its result.
        result: GameResult,
        /// What ended it.
        over_by: EndReason,
    },
    /// A result that is none.
    UnknownResult {
        /// What was given.
        given: String,
    },
    /// A reason that is none.
    UnknownReason {
        /// What was given.
        given: String,
        /// What there is.
        known: &'static [EndReason],
    },
    /// A reason that does not go with the result.
    ReasonContradictsResult {
        /// The reason.
        reason: EndReason,
        /// The result.
        result: GameResult,
    },
    /// A position that is none.
    InvalidFen {
        /// What was given.
        fen: String,
    },
    /// A position that no game can have.
    IllegalPosition {
        /// What was given.
        fen: String,
    },
    /// A move that is none.
    InvalidMove {
        /// What was given.
        given: String,
        /// Which ply it would be.
        ply: u32,
        /// The position.
        fen: String,
    },
    /// More was asked to be kept than there is.
    PlyTooLate {
        /// How many there are.
        plies: usize,
        /// What was given.
        from: u32,
    },
    /// A time control that is none.
    InvalidTimeControl {
        /// What is wrong.
        why: String,
    },
    /// A round that is too far off.
    RoundTooFarOff {
        /// When it was to begin.
        begins: String,
    },
    /// An incident that there is not.
    UnknownIncident {
        /// The board.
        board: String,
        /// Its number.
        incident: u64,
    },
    /// The game has these moves already.
    SameMoves,
}

impl Refusal {
    /// What who gave the command is told.
    #[must_use]
    pub fn text(&self, language: Language) -> String {
        let (name, values) = self.wording();
        let values = values
            .into_iter()
            .map(|(placeholder, value)| (placeholder.to_owned(), value));
        laws::answer(language, name, &values.collect())
    }

    /// Its text in the catalogues, and what is filled in there.
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
            Self::RoundTooFarOff { begins } => ("far_off", given(begins)),
            Self::UnknownIncident { board, incident } => {
                ("no_incident", with(on(board), "incident", *incident))
            }
            Self::SameMoves => ("same_moves", BTreeMap::new()),
        }
    }
}

type Values = BTreeMap<&'static str, Value>;

fn with(mut values: Values, placeholder: &'static str, value: impl Into<Value>) -> Values {
    values.insert(placeholder, value.into());
    values
}

fn over(result: GameResult, by: EndReason) -> Values {
    BTreeMap::from([
        ("result", result.as_str().into()),
        ("over_by", by.as_str().into()),
    ])
}
