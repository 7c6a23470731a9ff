//! The article numbers for each topic, by edition and mode of play.
//!
//! A row lists editions from the oldest to the newest; an edition that is not listed has the same article as the one
//! before. An empty article ends a row: from that edition on, the topic's next row applies, if there is one. A dagger
//! marks a number that was not checked against the text of its edition.

use super::edition::Edition::{self, *};
use super::edition::Play::{self, Bs, Bu, Rs, Ru, S};

/// The subject of an article of the Laws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The completion of a move.
    MoveCompleted,
    /// The definition of an illegal position.
    Illegal,
    /// An illegal move: its conditions, and its correction on the board.
    IllegalMove,
    /// The penalty for an illegal move.
    Penalty,
    /// The time limit for dealing with an illegal move, if there is one.
    Window,
    /// A pawn left on the last rank.
    Promotion,
    /// The clock pressed without a move.
    PressedWithoutMove,
    /// The clock pressed before the move was made.
    PressedEarly,
    /// Two hands for one move.
    TwoHands,
    /// A touched piece of the player's own.
    TouchOwn,
    /// A touched piece of the opponent's.
    TouchOther,
    /// The rook touched first in castling.
    RookFirst,
    /// The moment at which the choice of a promotion piece is final.
    PromotionChoice,
    /// A piece released on a square.
    Released,
    /// The time limit for objecting to a touched piece.
    TouchLapses,
    /// Touching, dealt with on request only.
    OnRequest,
    /// Adjusting while the opponent's clock runs.
    AdjustedOffTurn,
    /// Displaced pieces, noticed at once.
    Displaced,
    /// Displaced pieces, noticed later.
    DisplacedLater,
    /// A wrong start position.
    WrongStart,
    /// The time limit for correcting a wrong start, if there is one.
    StartLimit,
    /// The board turned.
    Rotated,
    /// Colours reversed.
    Reversed,
    /// Threefold repetition on the board.
    Threefold,
    /// Threefold repetition with an announced move.
    ThreefoldIntended,
    /// Fivefold repetition.
    Fivefold,
    /// Fifty moves, all played.
    FiftyMoves,
    /// Fifty moves, including an announced one.
    FiftyMovesIntended,
    /// Seventy-five moves.
    SeventyFive,
    /// Dead position.
    DeadPosition,
    /// Checkmate.
    Checkmate,
    /// Stalemate.
    Stalemate,
    /// Resignation.
    Resignation,
    /// The moment at which a flag counts as fallen.
    FlagFallen,
    /// The consequence of a fallen flag.
    Flag,
    /// Both flags have fallen in an unknown order, and a period follows.
    TwoFlagsPlayOn,
    /// Both flags have fallen in an unknown order, in the last period.
    TwoFlagsLast,
    /// An illegal position that was not corrected.
    IllegalPosition,
    /// A clock with a defect.
    ClockDefect,
    /// A clock that was set wrongly.
    ClockSetting,
    /// The time limit for changing the setting of a clock, if there is one.
    ClockSettingLimit,
    /// The clock times after a return to an earlier position.
    Reset,
    /// Stopping the clock.
    ClockStopped,
    /// Writing down the moves, and the exemptions.
    Writing,
    /// White's clock is started when the round begins.
    RoundBegins,
    /// Default time.
    DefaultTime,
    /// Neither player is present when the round begins.
    NobodyThere,
    /// The definition of rapid play or blitz.
    Mode,
    /// A draw by agreement.
    Agreement,
    /// A draw by agreement in an event that limits such draws.
    EarlyDraw,
    /// A player who breaks the rules of conduct loses; the arbiter decides the opponent's score.
    Conduct,
    /// Both players break the rules of conduct: both lose.
    BothLose,
    /// A claim of a draw that turns out to be correct.
    RightClaim,
    /// A claim of a draw that turns out to be wrong.
    WrongClaim,
    /// The conditions of a draw claim: the claimant has the move and has touched no piece.
    ClaimLost,
    /// A claim of a draw with less than two minutes left.
    Quickplay,
    /// A request for an increment with less than two minutes left.
    QuickplayIncrement,
    /// The games to which two-minute claims apply.
    QuickplayScope,
    /// Penalties at the arbiter's discretion.
    Discretion,
    /// The value of a display as evidence.
    Evidence,
}

/// The articles on the topic; empty if the edition has none. Ends with a dagger if a number was not checked against the
/// edition's text.
pub(super) fn article(topic: Topic, edition: Edition, play: Play) -> &'static str {
    let rows = ROWS
        .iter()
        .filter(|row| row.topic == topic && row.plays.contains(&play));
    let cells = rows.filter_map(|row| row.cells.iter().rfind(|(since, _)| *since <= edition));
    cells
        .map(|(_, article)| *article)
        .find(|article| !article.is_empty())
        .unwrap_or_default()
}

struct Row {
    topic: Topic,
    plays: &'static [Play],
    cells: &'static [(Edition, &'static str)],
}

const fn row(topic: Topic, plays: &'static [Play], cells: &'static [(Edition, &'static str)]) -> Row {
    Row { topic, plays, cells }
}

const ALL: &[Play] = &[S, Rs, Ru, Bs, Bu];
const RAPID: &[Play] = &[Rs, Ru];
const BLITZ: &[Play] = &[Bs, Bu];
const QUICK: &[Play] = &[Rs, Ru, Bs, Bu];
const U: &[Play] = &[Ru, Bu];

#[rustfmt::skip]
static ROWS: &[Row] = &[
    // Moves.
    row(Topic::MoveCompleted, ALL, &[(Fide1997, "6.7(a)"), (Fide2009, "6.7a†"), (Fide2014, "6.2a"), (Fide2017, "6.2.1")]),
    row(Topic::Illegal, ALL, &[(Fide1997, "3"), (Fide2009, "3.10c†"), (Fide2014, "3.10c"), (Fide2017, "3.10.3")]),
    row(Topic::IllegalMove, BLITZ, &[(Fide1997, "C.3"), (Fide2009, "")]),
    row(Topic::IllegalMove, ALL, &[(Fide1997, "7.4"), (Fide2009, "7.4a"), (Fide2014, "7.5a"), (Fide2017, "7.5.1")]),
    row(Topic::Penalty, BLITZ, &[(Fide1997, "C.3, C.4"), (Fide2009, "")]),
    row(Topic::Penalty, RAPID, &[(Fide1997, "10.3, B.5"), (Fide2009, "")]),
    row(Topic::Penalty, &[Rs], &[(Fide2023, "7.5.5, A.3")]),
    row(Topic::Penalty, &[Ru], &[(Fide2009, "7.4b, A4c"), (Fide2014, "A.4b"), (Fide2017, "A.4.2"), (Fide2018, "7.5.5, A.4.2"),
        (Fide2023, "7.5.5, A.3, A.5.2")]),
    row(Topic::Penalty, &[Bs], &[(Fide2009, "7.4b†"), (Fide2014, "7.5b, B.2†"), (Fide2017, "7.5.3, B.2"), (Fide2018, "7.5.5, B.2")]),
    row(Topic::Penalty, &[Bu], &[(Fide2009, "B3c†"), (Fide2014, "A.4b, B.4"), (Fide2017, "A.4.2, B.4"),
        (Fide2018, "7.5.5, A.4.2, B.2, B.4"), (Fide2023, "7.5.5, A.3, A.5.2, B.3")]),
    row(Topic::Penalty, ALL, &[(Fide1997, "10.3"), (Fide2009, "7.4b"), (Fide2014, "7.5b"), (Fide2017, "7.5.3"), (Fide2018, "7.5.5")]),
    row(Topic::Window, BLITZ, &[(Fide1997, "C.3"), (Fide2009, "")]),
    row(Topic::Window, &[Ru], &[(Fide2009, "A4c"), (Fide2014, "A.4b"), (Fide2017, "A.4.2"), (Fide2023, "A.5.2")]),
    row(Topic::Window, &[Bu], &[(Fide2009, "B3c†"), (Fide2014, "A.4b, B.4"), (Fide2017, "A.4.2, B.4"), (Fide2023, "A.5.2, B.3")]),
    row(Topic::Promotion, BLITZ, &[(Fide1997, "3.4(e), C.3"), (Fide2009, "")]),
    row(Topic::Promotion, ALL, &[(Fide1997, "3.4(e), 7.4"), (Fide2009, "7.4a"), (Fide2014, "7.5a"), (Fide2017, "7.5.2")]),
    row(Topic::PressedWithoutMove, ALL, &[(Fide1997, "7.3"), (Fide2009, "13.4"), (Fide2014, "12.9, 6.2d†"), (Fide2017, "7.8"),
        (Fide2018, "7.5.3")]),
    row(Topic::PressedEarly, ALL, &[(Fide1997, "6.7(c)†"), (Fide2009, "6.7c†"), (Fide2014, "6.2d†"), (Fide2017, "6.2.4")]),
    row(Topic::TwoHands, ALL, &[(Fide1997, "4.1"), (Fide2017, "4.1, 7.7"), (Fide2018, "4.1, 7.5.4")]),

    // Touching.
    row(Topic::TouchOwn, ALL, &[(Fide1997, "4.3"), (Fide2017, "4.3.1")]),
    row(Topic::TouchOther, ALL, &[(Fide1997, "4.3"), (Fide2017, "4.3.2")]),
    row(Topic::RookFirst, ALL, &[(Fide1997, "4.4(a)"), (Fide2009, "4.4a†"), (Fide2017, "4.4.2")]),
    row(Topic::PromotionChoice, ALL, &[(Fide1997, "4.7"), (Fide2009, "4.4d†"), (Fide2017, "4.4.4")]),
    row(Topic::Released, ALL, &[(Fide1997, "4.7"), (Fide2009, "4.6"), (Fide2014, "4.7")]),
    row(Topic::TouchLapses, ALL, &[(Fide1997, "4.6"), (Fide2009, "4.7†"), (Fide2014, "4.8")]),
    row(Topic::OnRequest, QUICK, &[(Fide1997, "B.5"), (Fide2009, "")]),
    row(Topic::OnRequest, &[Ru], &[(Fide2009, "A4b"), (Fide2014, "")]),
    row(Topic::OnRequest, &[Bu], &[(Fide2009, "A4b, B3†"), (Fide2014, "")]),
    row(Topic::AdjustedOffTurn, ALL, &[(Fide1997, "4.2"), (Fide2014, "4.2, 6.2e†"), (Fide2017, "4.2.1, 6.2.5")]),
    row(Topic::Displaced, ALL, &[(Fide1997, "7.3"), (Fide2014, "7.4†"), (Fide2017, "7.4")]),
    row(Topic::DisplacedLater, ALL, &[(Fide1997, "7.4"), (Fide2009, "7.5†"), (Fide2014, "7.6")]),

    // The start.
    row(Topic::WrongStart, ALL, &[(Fide1997, "7.1(a)"), (Fide2009, "7.1a"), (Fide2014, "7.2a†"), (Fide2017, "7.2.1")]),
    row(Topic::StartLimit, QUICK, &[(Fide1997, "B.4"), (Fide2009, "")]),
    row(Topic::StartLimit, &[Ru], &[(Fide2009, "A4a"), (Fide2014, "A.4a"), (Fide2017, "A.4.1"), (Fide2023, "A.5.1")]),
    row(Topic::StartLimit, &[Bu], &[(Fide2009, "A4a, B3†"), (Fide2014, "A.4a, B.4"), (Fide2017, "A.4.1, B.4"), (Fide2023, "A.5.1, B.3")]),
    row(Topic::Rotated, ALL, &[(Fide1997, "7.1(b)"), (Fide2009, "7.1b"), (Fide2014, "7.2b†"), (Fide2017, "7.2.2")]),
    row(Topic::Reversed, ALL, &[(Fide1997, "7.2"), (Fide2014, "7.3†"), (Fide2017, "7.3")]),

    // Draws and results.
    row(Topic::Threefold, ALL, &[(Fide1997, "9.2"), (Fide2017, "9.2.1.2"), (Fide2023, "9.2.2")]),
    row(Topic::ThreefoldIntended, ALL, &[(Fide1997, "9.2"), (Fide2017, "9.2.1.1"), (Fide2023, "9.2.1")]),
    row(Topic::Fivefold, ALL, &[(Fide2014, "9.6a"), (Fide2017, "9.6.1")]),
    row(Topic::FiftyMoves, ALL, &[(Fide1997, "9.3"), (Fide2017, "9.3.2")]),
    row(Topic::FiftyMovesIntended, ALL, &[(Fide1997, "9.3"), (Fide2017, "9.3.1")]),
    row(Topic::SeventyFive, ALL, &[(Fide2014, "9.6b"), (Fide2017, "9.6.2")]),
    row(Topic::DeadPosition, ALL, &[(Fide1997, "9.6"), (Fide2009, "5.2b"), (Fide2017, "5.2.2")]),
    row(Topic::Checkmate, ALL, &[(Fide1997, "5.1(a)"), (Fide2009, "5.1a"), (Fide2017, "5.1.1")]),
    row(Topic::Stalemate, ALL, &[(Fide1997, "5.2"), (Fide2009, "5.2a"), (Fide2017, "5.2.1")]),
    row(Topic::Resignation, ALL, &[(Fide1997, "5.1(b)"), (Fide2009, "5.1b"), (Fide2017, "5.1.2")]),

    // Flags and clocks.
    row(Topic::FlagFallen, ALL, &[(Fide1997, "6.8")]),
    row(Topic::Flag, BLITZ, &[(Fide1997, "B.6, C.4"), (Fide2009, "")]),
    row(Topic::Flag, RAPID, &[(Fide1997, "6.9, B.6"), (Fide2009, "")]),
    row(Topic::Flag, U, &[(Fide2009, "6.9, A4d"), (Fide2014, "6.9, A.4c†"), (Fide2017, "6.9, A.4.3, A.4.5"),
        (Fide2023, "6.9, A.5.3, A.5.5")]),
    row(Topic::Flag, ALL, &[(Fide1997, "6.9"), (Fide2009, "6.9†"), (Fide2017, "6.9")]),
    row(Topic::TwoFlagsPlayOn, QUICK, &[(Fide1997, "B.8"), (Fide2009, "")]),
    row(Topic::TwoFlagsPlayOn, U, &[(Fide2009, "A4d3"), (Fide2014, "")]),
    row(Topic::TwoFlagsPlayOn, ALL, &[(Fide1997, "6.11"), (Fide2009, "6.11a†"), (Fide2017, "III.3.1.1")]),
    row(Topic::TwoFlagsLast, QUICK, &[(Fide1997, "B.8"), (Fide2009, "")]),
    row(Topic::TwoFlagsLast, U, &[(Fide2009, "A4d3"), (Fide2014, "")]),
    row(Topic::TwoFlagsLast, ALL, &[(Fide1997, "10.4"), (Fide2009, "6.11b†"), (Fide2017, "III.3.1.2")]),
    row(Topic::IllegalPosition, BLITZ, &[(Fide1997, "C.3"), (Fide2009, "")]),
    row(Topic::IllegalPosition, U, &[(Fide2009, "A4c"), (Fide2014, "A.4d"), (Fide2017, "A.4.4"), (Fide2023, "A.5.4")]),
    row(Topic::IllegalPosition, ALL, &[(Fide1997, "7.4"), (Fide2009, "7.4a"), (Fide2014, "3.10c, 7.5a"), (Fide2017, "3.10.3, 7.5.1")]),
    row(Topic::ClockDefect, ALL, &[(Fide1997, "6.10"), (Fide2009, "6.10a†"), (Fide2017, "6.10.1")]),
    row(Topic::ClockSetting, ALL, &[(Fide1997, "6.10"), (Fide2009, "6.10b†"), (Fide2017, "6.10.2")]),
    row(Topic::ClockSettingLimit, QUICK, &[(Fide1997, "B.4"), (Fide2009, "")]),
    row(Topic::ClockSettingLimit, &[Ru], &[(Fide2009, "A4a"), (Fide2014, "A.4a"), (Fide2017, "A.4.1.1"), (Fide2023, "A.5.1.1")]),
    row(Topic::ClockSettingLimit, &[Bu], &[(Fide2009, "A4a, B3†"), (Fide2014, "A.4a, B.4"), (Fide2017, "A.4.1.1, B.4"),
        (Fide2023, "A.5.1.1, B.3")]),
    row(Topic::Reset, ALL, &[(Fide1997, "6.13"), (Fide2014, "7.1†"), (Fide2017, "7.1")]),
    row(Topic::ClockStopped, ALL, &[(Fide1997, "6.12"), (Fide2009, "6.12b†"), (Fide2014, "6.12†"), (Fide2017, "6.11.2, 6.11.4")]),
    row(Topic::Writing, QUICK, &[(Fide1997, "B.3"), (Fide2009, "A2"), (Fide2014, "A.2")]),
    row(Topic::Writing, ALL, &[(Fide1997, "8.4")]),
    row(Topic::RoundBegins, ALL, &[(Fide1997, "6.5†"), (Fide2014, "6.6†"), (Fide2017, "6.6")]),
    row(Topic::DefaultTime, ALL, &[(Fide1997, "6.6"), (Fide2009, "6.6a†"), (Fide2014, "6.7†"), (Fide2017, "6.7.1")]),
    row(Topic::NobodyThere, ALL, &[(Fide2009, "6.6b†"), (Fide2014, "6.7†"), (Fide2017, "6.7.2")]),

    // Modes, claims, penalties by results.
    row(Topic::Mode, RAPID, &[(Fide1997, "B.1"), (Fide2009, "A1"), (Fide2014, "A.1")]),
    row(Topic::Mode, BLITZ, &[(Fide1997, "C.1"), (Fide2009, "B1†"), (Fide2014, "B.1")]),
    row(Topic::Agreement, ALL, &[(Fide1997, "5.3"), (Fide2009, "5.2c"), (Fide2017, "5.2.3")]),
    row(Topic::EarlyDraw, ALL, &[(Fide2009, "9.1a†"), (Fide2017, "9.1.1")]),
    row(Topic::Conduct, ALL, &[(Fide1997, "12.7, 13.4"), (Fide2009, "12.7†"), (Fide2014, "11.7, 12.9†"), (Fide2017, "11.7, 12.9.6")]),
    row(Topic::BothLose, ALL, &[(Fide1997, "12.8†"), (Fide2014, "11.8†")]),
    row(Topic::RightClaim, ALL, &[(Fide1997, "9.5(a)"), (Fide2009, "9.5a"), (Fide2017, "9.5.1"), (Fide2023, "9.5.2")]),
    row(Topic::WrongClaim, BLITZ, &[(Fide2014, "9.5b, B.2†"), (Fide2017, "9.5.2, B.2"), (Fide2023, "")]),
    row(Topic::WrongClaim, QUICK, &[(Fide2023, "9.5.3, A.3")]),
    row(Topic::WrongClaim, ALL, &[(Fide1997, "9.5(b)"), (Fide2009, "9.5b†"), (Fide2017, "9.5.2"), (Fide2023, "9.5.3")]),
    row(Topic::ClaimLost, ALL, &[(Fide1997, "9.4"), (Fide2009, "9.4†"), (Fide2014, "9.4")]),
    row(Topic::Quickplay, ALL, &[(Fide1997, "10.2"), (Fide2014, "G.5"), (Fide2017, "III.5")]),
    row(Topic::QuickplayIncrement, ALL, &[(Fide2014, "G.4"), (Fide2017, "III.4")]),
    row(Topic::QuickplayScope, BLITZ, &[(Fide1997, "C.5"), (Fide2009, "")]),
    row(Topic::QuickplayScope, ALL, &[(Fide1997, "10.1"), (Fide2014, "G.2†"), (Fide2017, "III.2†")]),

    // The arbiter.
    row(Topic::Discretion, ALL, &[(Fide1997, "13.4"), (Fide2014, "12.9")]),
    row(Topic::Evidence, ALL, &[(Fide1997, "6.14"), (Fide2009, "6.14†"), (Fide2014, "6.13†"), (Fide2017, "6.12.2")]),
];
