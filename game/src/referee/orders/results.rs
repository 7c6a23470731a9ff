//! Results entered by an arbiter: notation, and reasons that fit a result.

use std::collections::BTreeMap;

use shakmaty::Color;

use super::{Checked, Effect, UNFINISHED, WhichGame, reason_among};
use crate::command::{Refusal, SetResult, StandingDecision, WrittenResult};
use crate::events::{DecidedBy, EndReason, GameResult, color};
use crate::laws::{Regulations, Topic, answer};
use crate::referee::{OpenGame, Referee, Verdict};

/// Reasons that an arbiter can give for a result.
const REASONS: &[EndReason] = &[
    EndReason::Resignation,
    EndReason::Agreement,
    EndReason::Flag,
    EndReason::IllegalMoves,
    EndReason::Claim,
    EndReason::Quickplay,
    EndReason::Default,
    EndReason::Conduct,
    EndReason::Arbiter,
    EndReason::Void,
    EndReason::Adjourned,
    EndReason::Kings,
    EndReason::ResultPiece,
    EndReason::Checkmate,
    EndReason::Stalemate,
    EndReason::DeadPosition,
    EndReason::Fivefold,
    EndReason::SeventyFiveMoves,
];
/// Reasons that draw the game.
const DRAWN: &[EndReason] = &[
    EndReason::Agreement,
    EndReason::Claim,
    EndReason::Quickplay,
    EndReason::Stalemate,
    EndReason::DeadPosition,
    EndReason::Fivefold,
    EndReason::SeventyFiveMoves,
];
/// Reasons that are impossible once the game is over.
const ONLY_IN_PLAY: &[EndReason] = &[
    EndReason::Resignation,
    EndReason::Agreement,
    EndReason::Flag,
    EndReason::IllegalMoves,
    EndReason::Claim,
    EndReason::Quickplay,
    EndReason::Default,
];
/// Reasons based on a statement or a sign of the players. A draw for one of these reasons was agreed.
const AGREED: &[EndReason] = &[EndReason::Agreement, EndReason::Kings, EndReason::ResultPiece];

impl Referee {
    pub(super) fn check_result(&self, by: &str, set: &SetResult) -> Result<Checked, Refusal> {
        let unknown = || Refusal::UnknownResult {
            given: set.result.clone(),
        };
        let WrittenResult { result, forfeit } = set.written().ok_or_else(unknown)?;
        let given = match &set.reason {
            Some(given) => Some(reason_among(given, REASONS)?),
            None => forfeit.then_some(EndReason::Default),
        };
        if let Some(reason) = given {
            check_reason(reason, result, forfeit)?;
        }
        if let Some(pairing) = set.pairing() {
            let reason = given.unwrap_or(EndReason::Arbiter);
            return Ok(Effect::TableResult(pairing, Verdict::arbiter(result, reason)).into());
        }
        if set.game.is_none() && given == Some(EndReason::Default) && self.waits_for_players() {
            return Ok(Effect::Forfeit(Verdict::arbiter(result, EndReason::Default)).into());
        }
        let which = self.which_game(set.game.as_ref())?;
        let game = self.game_of(which).ok_or_else(|| self.no_game())?;
        let before = game.verdict.as_ref();
        if result == GameResult::Unknown && given.is_none() {
            let going_on = self.check_going_on(which, game)?;
            check_standing(before, (result, None), by, set.replace)?;
            return Ok(going_on);
        }
        let shown = before.filter(|verdict| verdict.result == result);
        let reason = given.or_else(|| shown.map(|verdict| verdict.reason));
        let reason = reason.unwrap_or(EndReason::Arbiter);
        let over = before
            .filter(|verdict| verdict.by == DecidedBy::Laws && verdict.confirmed)
            .filter(|_| ONLY_IN_PLAY.contains(&reason));
        if let Some(over) = over {
            return Err(Refusal::AlreadyOver {
                result: over.result,
                over_by: over.reason,
                reason,
            });
        }
        let entered = game.entered(result, reason, &self.regulations);
        check_standing(before, (entered.result, Some(reason)), by, set.replace)?;
        let note = entered
            .note
            .or_else(|| game.early_draw(entered.result, reason, &self.regulations))
            .or_else(|| penalty_note(entered.result, reason, &self.regulations));
        Ok(Checked {
            effect: Effect::Result(which, Verdict::arbiter(entered.result, reason)),
            note,
        })
    }

    /// Whether a start position stands on the board and no game has begun from it.
    fn waits_for_players(&self) -> bool {
        self.game.is_none() && self.start.is_some() && self.line.is_empty()
    }

    fn check_going_on(&self, which: WhichGame, game: &OpenGame) -> Result<Checked, Refusal> {
        let board = self.board.clone();
        match which {
            WhichGame::Current if game.ended => Ok(Effect::GoOn.into()),
            WhichGame::Current => Err(Refusal::GameInProgress { board }),
            _ => Err(Refusal::GameNotOpen {
                board,
                game: game.id.id.clone(),
            }),
        }
    }
}

/// Refuses a result that contradicts the one that another arbiter has set, unless `replace` is set. Without a reason,
/// the game is to continue.
pub(super) fn check_standing(
    standing: Option<&Verdict>,
    (result, reason): (GameResult, Option<EndReason>),
    by: &str,
    replace: bool,
) -> Result<(), Refusal> {
    let Some(before) = standing.filter(|before| (before.result, Some(before.reason)) != (result, reason))
    else {
        return Ok(());
    };
    let set = format!("{} {}", before.result, before.reason);
    match StandingDecision::against(before.decided.as_ref(), by, replace, set) {
        Some(standing) => Err(Refusal::ResultDecided(standing)),
        None => Ok(()),
    }
}

impl OpenGame {
    /// Note on a draw that was agreed before the regulations allow it (2023: Art. 9.1.1).
    fn early_draw(&self, result: GameResult, reason: EndReason, regulations: &Regulations) -> Option<String> {
        let limit = regulations.no_draw_before_move?;
        if result != GameResult::Draw || !AGREED.contains(&reason) {
            return None;
        }
        let made = self.made_before(limit)?;
        let article = regulations.rules.article(Topic::EarlyDraw);
        let cited = if article.is_empty() { "event" } else { "laws" };
        let values = BTreeMap::from([
            ("made".to_owned(), made.into()),
            ("limit".to_owned(), limit.into()),
            ("article".to_owned(), article.into()),
            ("cited".to_owned(), cited.into()),
        ]);
        Some(answer(regulations.language, "early_draw", &values))
    }
}

/// Note on a game that is lost by a penalty (2023: Art. 6.7.2, 11.8, 12.9.6).
fn penalty_note(result: GameResult, reason: EndReason, regulations: &Regulations) -> Option<String> {
    let note = |name: &str, topic, loser: Color| {
        let loser = color::as_str(loser);
        let values = BTreeMap::from([
            ("article".to_owned(), regulations.rules.article(topic).into()),
            ("color".to_owned(), loser.into()),
            ("opponent".to_owned(), loser.into()),
        ]);
        Some(answer(regulations.language, name, &values))
    };
    let loser = Color::ALL.into_iter().find(|color| result.loses(*color))?;
    match (result, reason) {
        (GameResult::BothLose, EndReason::Default) => note("neither_came", Topic::DefaultTime, loser),
        (GameResult::BothLose, _) => note("both_lose", Topic::BothLose, loser),
        (decided, reason) if decided.is_penalty() || reason == EndReason::Conduct => {
            note("opponents_score", Topic::Conduct, loser)
        }
        _ => None,
    }
}

fn check_reason(reason: EndReason, result: GameResult, forfeit: bool) -> Result<(), Refusal> {
    let unfinished = UNFINISHED.contains(&reason) && reason != EndReason::Arbiter;
    let by_arbiter = matches!(reason, EndReason::Conduct | EndReason::Arbiter);
    let fits = match result {
        _ if forfeit => reason == EndReason::Default,
        GameResult::Draw => !unfinished && reason != EndReason::Default,
        GameResult::BothLose => by_arbiter || reason == EndReason::Default,
        GameResult::HalfForWhite | GameResult::HalfForBlack => by_arbiter,
        GameResult::WhiteWins | GameResult::BlackWins => !unfinished && !DRAWN.contains(&reason),
        GameResult::Unknown => !DRAWN.contains(&reason) && reason != EndReason::Conduct,
    };
    if fits {
        Ok(())
    } else {
        Err(Refusal::ReasonContradictsResult { reason, result })
    }
}
