//! Wrong start positions and turned boards, and the progress of play from them.

use kiebitz_hardware::Timestamp;
use shakmaty::fen::Fen;
use shakmaty::{Bitboard, Board};

use super::book::{Number, Report, ResumedIncident};
use super::{Context, News};
use crate::clock::{ClockChange, Side};
use crate::events::{ClosedBy, IncidentEnd};
use crate::laws::{DrawnStart, IncidentKind, ResumableCase, Situation};
use crate::position::{Variant, difference};

/// Number of differing squares above which the placement is no longer the wrong start position.
const MAX_DIFFERING_SQUARES: usize = 8;

/// Watches the board before the first move, and the progress of play from a wrong start.
#[derive(Debug, Default)]
pub(super) struct StartWatch {
    turned: Option<StartFault>,
    quarter: Option<StartFault>,
    wrong: Option<Wrong>,
    wake: Option<Timestamp>,
}

#[derive(Debug)]
struct Wrong {
    found: StartFault,
    board: Board,
}

#[derive(Debug)]
struct StartFault {
    number: Number,
    from: Timestamp,
    squares: Bitboard,
    progress: Progress,
    /// Presses of each side of the clock since then, because a board turned by a quarter shows no moves. A restart
    /// counts from 0 again, so the limit may be reported late.
    presses: (u32, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// At least one player has not completed a move.
    NotBegun,
    Begun,
    /// The start can no longer be put right (2023: A.5.1).
    TooFar,
}

impl StartFault {
    fn new(number: Number, from: Timestamp, squares: Bitboard) -> Self {
        Self {
            number,
            from,
            squares,
            progress: Progress::NotBegun,
            presses: (0, 0),
        }
    }

    fn resumed(known: &ResumedIncident) -> Self {
        let progress = match known.case {
            Some(ResumableCase::TurnedGoesOn | ResumableCase::WrongGoesOn) => Progress::TooFar,
            Some(ResumableCase::WrongVoid | ResumableCase::WrongVoidSoFar) => Progress::Begun,
            _ => Progress::NotBegun,
        };
        Self {
            progress,
            ..Self::new(known.number, known.from, known.squares)
        }
    }

    /// Progress to report after both players have completed `moves` moves; `None` if it is unchanged.
    fn advance(&mut self, context: &Context<'_>, moves: u32) -> Option<Progress> {
        let limit = context.game.regulations.rules.start_limit();
        let progress = match limit {
            Some(limit) if moves >= limit => Progress::TooFar,
            _ if moves > 0 => Progress::Begun,
            _ => Progress::NotBegun,
        };
        (progress > self.progress).then(|| {
            self.progress = progress;
            progress
        })
    }
}

impl StartWatch {
    pub(super) fn resume(&mut self, known: ResumedIncident) {
        let found = StartFault::resumed(&known);
        match (known.kind, known.case) {
            (IncidentKind::BoardRotated, Some(ResumableCase::HalfTurned)) => self.turned = Some(found),
            (IncidentKind::BoardRotated, _) => self.quarter = Some(found),
            _ => {
                let board = known.board.unwrap_or_else(Board::empty);
                self.wrong = Some(Wrong { found, board });
            }
        }
    }

    pub(super) fn poll_deadline(&self) -> Option<Timestamp> {
        self.wake
    }

    pub(super) fn handle(&mut self, context: &mut Context<'_>, news: &News) {
        self.wake = None;
        match news {
            News::Started => self.started(context),
            News::Completed(..) => self.played_on(context),
            News::Clock(ClockChange::Pressed(side)) => self.pressed(context, *side),
            _ => {}
        }
        if context.game.over
            && let Some(wrong) = self
                .wrong
                .take_if(|wrong| wrong.found.progress > Progress::NotBegun)
        {
            context.book.close(
                context.game.now,
                wrong.found.number,
                ClosedBy::Laws,
                IncidentEnd::GameOver,
            );
        }
        let before_play =
            context.game.line.is_empty() && (!context.game.begun || context.game.start.is_none());
        if (before_play || context.game.over) && context.acts.is_whole() {
            self.inspect(context);
        }
    }

    fn started(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let Some(start) = context.game.start.filter(|start| !start.goes_on) else {
            return;
        };
        if let Some(found) = self.quarter.take() {
            context
                .book
                .close(now, found.number, ClosedBy::Board, IncidentEnd::Restored);
        }
        match (start.turned, &mut self.turned) {
            (true, Some(found)) => {
                found.progress = Progress::NotBegun;
                context.update(found.number, rotated(context, found, false, 0));
            }
            (true, None) => self.turned = Some(open_rotated(context, false, now)),
            (false, _) => {
                if let Some(found) = self.turned.take() {
                    context
                        .book
                        .close(now, found.number, ClosedBy::Board, IncidentEnd::Restored);
                }
            }
        }
        let board = start.state.board();
        let wrong = wrong_squares(context, start.variant, board);
        match (wrong, self.wrong.take()) {
            // The first move showed the position that the game is played from.
            (None, Some(known))
                if start.variant == Variant::FromPosition
                    && difference(&known.board, board).count() <= MAX_DIFFERING_SQUARES =>
            {
                self.wrong = Some(known);
            }
            (None, Some(known)) => {
                context
                    .book
                    .close(now, known.found.number, ClosedBy::Board, IncidentEnd::Restored)
            }
            // The position is the same one, for example after a restart.
            (Some(_), Some(known)) if known.board == *board => self.wrong = Some(known),
            (Some(squares), known) => {
                if let Some(known) = known {
                    context
                        .book
                        .close(now, known.found.number, ClosedBy::Board, IncidentEnd::Restored);
                }
                self.found_wrong(context, squares, board.clone());
            }
            (None, None) => {}
        }
    }

    fn found_wrong(&mut self, context: &mut Context<'_>, squares: Bitboard, board: Board) {
        let from = context.acts.quiet_since();
        let found = StartFault::new(0, from, squares);
        let number = context.open(wrong_start(context, &found, &board, 0));
        let found = StartFault { number, ..found };
        self.wrong = Some(Wrong { found, board });
    }

    fn played_on(&mut self, context: &mut Context<'_>) {
        if !context.game.begun {
            return;
        }
        let made = context.game.completed();
        let moves = made.white.min(made.black);
        if let Some(wrong) = &mut self.wrong
            && wrong.found.advance(context, moves).is_some()
        {
            let report = wrong_start(context, &wrong.found, &wrong.board, moves);
            context.update(wrong.found.number, report);
        }
        if let Some(found) = &mut self.turned
            && found.advance(context, moves) == Some(Progress::TooFar)
        {
            context.update(found.number, rotated(context, found, false, moves));
        }
    }

    /// Counts a press. On a board turned by a quarter, only the clock shows moves.
    fn pressed(&mut self, context: &mut Context<'_>, side: Side) {
        let Some(found) = &mut self.quarter else { return };
        match side {
            Side::Left => found.presses.0 = found.presses.0.saturating_add(1),
            Side::Right => found.presses.1 = found.presses.1.saturating_add(1),
        }
        let moves = found.presses.0.min(found.presses.1);
        if found.advance(context, moves) == Some(Progress::TooFar) {
            context.update(found.number, rotated(context, found, true, moves));
        }
    }

    /// Inspects a board that does not show a start position.
    fn inspect(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        if let Some(wrong) = self
            .wrong
            .take_if(|wrong| context.acts.off(&wrong.board) > MAX_DIFFERING_SQUARES)
        {
            context
                .book
                .close(now, wrong.found.number, ClosedBy::Board, IncidentEnd::Passed);
        }
        let is_set_up = context
            .game
            .start
            .is_some_and(|start| context.game.line.is_empty() && context.acts.shows(start.state.board()));
        if is_set_up {
            return;
        }
        let Some(since) = context
            .acts
            .turned_by_a_quarter()
            .filter(|_| self.quarter.is_none())
        else {
            return;
        };
        let due = context.acts.judged_at(since);
        if now < due {
            self.wake = Some(due);
        } else {
            // The board is no longer turned by a half.
            if let Some(found) = self.turned.take() {
                context.supersede(found.number);
            }
            self.quarter = Some(open_rotated(context, true, since));
        }
    }
}

fn open_rotated(context: &mut Context<'_>, quarter: bool, from: Timestamp) -> StartFault {
    let found = StartFault::new(0, from, Bitboard::EMPTY);
    let number = context.open(rotated(context, &found, quarter, 0));
    StartFault { number, ..found }
}

fn rotated(context: &Context<'_>, found: &StartFault, quarter: bool, moves: u32) -> Report {
    let situation = Situation::BoardRotated { quarter, moves };
    context.report(situation, found.from).at_ply(0)
}

/// Creates a report with the start position of the game.
fn wrong_start(context: &Context<'_>, found: &StartFault, board: &Board, moves: u32) -> Report {
    let drawn = context.game.regulations.drawn_start.clone();
    let drawn = drawn.unwrap_or(DrawnStart::Standard);
    let setup = shakmaty::Setup {
        board: board.clone(),
        ..shakmaty::Setup::empty()
    };
    let report = context.report(Situation::WrongStart { drawn, moves }, found.from);
    Report {
        fen: Fen::try_from_setup(setup).ok().map(|fen| fen.to_string()),
        ..report.at_ply(0).on(found.squares)
    }
}

/// Squares on which a start position differs from the prescribed one; `None` if nothing is wrong. Without a
/// prescription, the standard position and all Chess960 positions are right.
fn wrong_squares(context: &Context<'_>, variant: Variant, board: &Board) -> Option<Bitboard> {
    let usual = || difference(&Board::new(), board);
    let squares = match (&context.game.regulations.drawn_start, variant) {
        (_, Variant::FromPosition) => return None,
        (Some(DrawnStart::Chess960(Some(drawn))), _) => {
            let drawn: Board = drawn.split(' ').next()?.parse().ok()?;
            difference(&drawn, board)
        }
        (Some(DrawnStart::Standard), _) => usual(),
        (None | Some(DrawnStart::Chess960(None)), Variant::WrongStart) => usual(),
        (None | Some(DrawnStart::Chess960(None)), _) => return None,
    };
    Some(squares).filter(|squares| squares.any())
}
