//! Situations at a board to which the Laws apply.

use core::str::FromStr;
use std::collections::BTreeMap;

use serde_json::Value;
use shakmaty::{ByColor, Color, Piece, Role, Square};

use super::claim::{ClaimKind, ClaimRuling, DrawClaim, TwoMinuteClaim};
use crate::vocabulary::{self, UnknownWord};

/// A situation at a board, without judgement. Its consequences depend on the edition and the mode of play.
#[derive(Debug, Clone, PartialEq)]
pub enum Situation {
    /// A move that is illegal by Article 3 was made.
    IllegalMove {
        /// The fault of the move.
        fault: Fault,
        /// The stage that the move has reached.
        stage: Stage,
        /// Number of this offence among the player's completed offences, from 1; 0 while the move is not completed.
        offence: u32,
        /// Whether the opponent could still mate by any sequence of legal moves; `None` if unknown.
        opponent_can_mate: Option<bool>,
        /// The clock times from which to set the clocks.
        times: Option<ClockReadings>,
    },
    /// A pawn was left standing on the last rank.
    PromotionNotReplaced {
        /// The pawn's square.
        square: Square,
        /// The stage that the move has reached.
        stage: Stage,
        /// As for an illegal move.
        offence: u32,
        /// As for an illegal move.
        opponent_can_mate: Option<bool>,
        /// As for an illegal move.
        times: Option<ClockReadings>,
    },
    /// The player on move pressed the clock without making a move.
    PressedWithoutMove {
        /// As for an illegal move.
        offence: u32,
        /// As for an illegal move.
        opponent_can_mate: Option<bool>,
        /// As for an illegal move.
        times: Option<ClockReadings>,
    },
    /// Pieces are on squares on which no move has put them.
    DisplacedPieces {
        /// Whether this was noticed only after moves had been made or the clock had been pressed.
        found_later: bool,
    },
    /// The board does not read a piece on the square on which it should stand.
    PieceNotSeen {
        /// The square of the piece.
        square: Square,
        /// The expected piece.
        piece: Piece,
        /// Whether the game has begun or the clock runs.
        playing: bool,
    },
    /// Many pieces slid at once, as when somebody runs into the table.
    Jolted {
        /// The squares that are still wrong.
        wrong: Vec<Square>,
        /// The clock times at that moment, in milliseconds.
        times: Option<ByColor<u64>>,
        /// Whether play went on before all pieces were put back.
        left: bool,
    },
    /// According to the board, a piece was touched and another one moved.
    TouchedNotMoved {
        /// The kind of touch, and the square.
        touch: Touch,
        /// The legal moves that were due with the touched piece, in English SAN; empty if any move was allowed (4.5).
        due: Vec<String>,
        /// The move played instead, in SAN or UCI.
        played: String,
    },
    /// Castling began with the rook, or with both pieces at once.
    CastlingRookFirst {
        /// Whether king and rook left their squares in the same scan.
        together: bool,
    },
    /// Two pieces of one move moved so close together that two hands are likely.
    TwoHandsSuspected {
        /// The two pieces.
        pieces: TwoPieces,
    },
    /// The player on move pressed the clock with the piece still in the hand.
    PressedBeforeRelease,
    /// A promotion piece stood on its square and was exchanged for another one.
    PromotionExchanged {
        /// The square of the promotion.
        square: Square,
        /// The piece that stood first and made the choice final.
        stood: Role,
        /// The piece that stands there now.
        now: Role,
        /// Whether the player had pressed the clock before the exchange.
        pressed: bool,
    },
    /// A piece was lifted and put back while the other player's clock ran.
    AdjustedOffTurn {
        /// The piece's square.
        square: Square,
    },
    /// The pieces are set up wrongly.
    WrongStart {
        /// The expected start position.
        drawn: DrawnStart,
        /// Moves that both players have completed since the start.
        moves: u32,
    },
    /// The board is turned.
    BoardRotated {
        /// True if the board is turned by a quarter, so that the corner squares have the wrong colours; false if by a
        /// half, with White at the other edge.
        quarter: bool,
        /// Moves that both players have completed since the start.
        moves: u32,
    },
    /// The players play with each other's pieces.
    ColorsReversed {
        /// Moves that both players have made.
        moves: u32,
    },
    /// A flag has fallen.
    FlagFall {
        /// Moves that the player has completed.
        completed: u32,
        /// Moves required in the period; `None` if the period covers all remaining moves, or if unknown.
        required: Option<u32>,
        /// Whether this is the last or only period; false if unknown.
        last_period: bool,
        /// As for an illegal move.
        opponent_can_mate: Option<bool>,
        /// Offence in the opponent's last move, because of which the opponent does not win on time.
        opponent_broke: Option<Broken>,
        /// Whether another period follows and the clock has not added its time.
        next_period_missing: bool,
    },
    /// Both flags have fallen.
    TwoFlags {
        /// The player whose flag fell first, if the clock shows it.
        first: Option<Color>,
        /// Whether this is the last or only period; `None` if unknown.
        last_period: Option<bool>,
        /// The player whose last move is an offence that has not been dealt with, and the offence.
        broke: Option<(Color, Broken)>,
    },
    /// The clock's times do not fit the elapsed time.
    ClockInconsistent {
        /// Seconds by which the sum of both clocks is too low (negative: too high).
        missing_s: i64,
        /// Moves by each player whose increments are missing, if this explains the difference exactly.
        increments_of: Option<ByColor<u32>>,
        /// The correct times, in milliseconds, if they follow exactly.
        should: Option<ByColor<u64>>,
        /// Moves that both players have completed.
        moves: u32,
    },
    /// Less than five minutes are left in a period, and a move adds less than 30 seconds.
    TimeTrouble {
        /// Whether each player is in time trouble.
        players: ByColor<bool>,
    },
    /// No legal play can reach the position, and the last move is not the reason.
    IllegalPosition {
        /// True if both kings are in check or stand next to each other; false if a pawn stands on the last rank or
        /// there are too many pieces.
        kings: bool,
    },
    /// The clock is stopped during the game.
    ClockStopped {
        /// A reason visible on the board; `None` if there is none and play went on afterwards.
        why: Option<WhyStopped>,
    },
    /// The game is over by the Laws, but the clock or play goes on.
    ContinuedAfterEnd,
    /// The line of play does not explain the board: moves seem to be missing or wrong in the record.
    RecordUncertain,
    /// The clock is disconnected.
    ClockDisconnected,
    /// The board is disconnected.
    BoardDisconnected,
    /// A square reports changes that nobody causes.
    SensorFault {
        /// The square.
        square: Square,
    },
    /// The round has begun and the game has not: either the clock is stopped, or it runs and a player's first move is
    /// missing.
    LateStart {
        /// Whole minutes since the round began.
        minutes: u32,
        /// Default time of the event, in minutes; `None` if its rules do not specify one.
        default_time: Option<u32>,
        /// Whether the default time has passed. If it has, the player of the incident is the player whose first move is
        /// missing; without a player, the clock is stopped.
        defaulted: bool,
    },
    /// The board shows a draw before the event allows players to agree to one.
    EarlyDraw {
        /// Moves that both players have made.
        made: u32,
        /// Number of moves that the event requires.
        limit: u32,
    },
    /// Another game is played at a table whose game of the round is over.
    SecondGame {
        /// The round.
        round: u32,
        /// The table.
        table: u32,
        /// The id of the game that counts.
        first: String,
        /// The id of the other game.
        second: String,
        /// Whether the game that counts has a result.
        has_result: bool,
    },
    /// A player claims a draw by repetition or fifty moves.
    DrawClaimed(Box<DrawClaim>),
    /// A player with less than two minutes left claims a draw or asks for an increment.
    TwoMinuteClaimed(Box<TwoMinuteClaim>),
    /// The arbiter has ruled on a claim.
    ClaimRuled {
        /// The kind of claim.
        kind: ClaimKind,
        /// The ruling.
        ruling: ClaimRuling,
        /// The values in the advice on the claim.
        values: BTreeMap<String, Value>,
        /// The clock times, in milliseconds.
        times: Option<ByColor<u64>>,
    },
}

/// A reason for stopping the clock (Art. 6.11) that is visible on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyStopped {
    /// A pawn is being promoted, and the piece may not be available.
    Promotion,
    /// The player on move can claim a draw.
    Claim,
    /// An irregularity on the board is unresolved.
    Irregularity,
}

impl Situation {
    /// The kind of incident that the situation belongs to.
    #[must_use]
    pub const fn kind(&self) -> IncidentKind {
        match self {
            Self::IllegalMove { .. } => IncidentKind::IllegalMove,
            Self::PromotionNotReplaced { .. } => IncidentKind::PromotionNotReplaced,
            Self::PressedWithoutMove { .. } => IncidentKind::ClockPressedWithoutMove,
            Self::PressedBeforeRelease => IncidentKind::PressedBeforeRelease,
            Self::TwoHandsSuspected { .. } => IncidentKind::TwoHandsSuspected,
            Self::TouchedNotMoved { .. } => IncidentKind::PieceTouchedNotMoved,
            Self::CastlingRookFirst { .. } => IncidentKind::CastlingRookFirst,
            Self::PromotionExchanged { .. } => IncidentKind::PromotionExchanged,
            Self::AdjustedOffTurn { .. } => IncidentKind::AdjustedOffTurn,
            Self::DisplacedPieces { .. } | Self::Jolted { .. } => IncidentKind::DisplacedPieces,
            Self::WrongStart { .. } => IncidentKind::WrongStartPosition,
            Self::BoardRotated { .. } => IncidentKind::BoardRotated,
            Self::ColorsReversed { .. } => IncidentKind::ColorsReversed,
            Self::IllegalPosition { .. } => IncidentKind::IllegalPosition,
            Self::RecordUncertain => IncidentKind::RecordUncertain,
            Self::ContinuedAfterEnd => IncidentKind::ContinuedAfterEnd,
            Self::BoardDisconnected => IncidentKind::BoardDisconnected,
            Self::SensorFault { .. } | Self::PieceNotSeen { .. } => IncidentKind::SensorFault,
            Self::FlagFall { .. } => IncidentKind::FlagFall,
            Self::TwoFlags { .. } => IncidentKind::TwoFlags,
            Self::ClockInconsistent { .. } => IncidentKind::ClockInconsistent,
            Self::TimeTrouble { .. } => IncidentKind::TimeTrouble,
            Self::ClockStopped { .. } => IncidentKind::ClockStopped,
            Self::ClockDisconnected => IncidentKind::ClockDisconnected,
            Self::LateStart { .. } => IncidentKind::LateStart,
            Self::EarlyDraw { .. } => IncidentKind::EarlyDraw,
            Self::SecondGame { .. } => IncidentKind::SecondGame,
            Self::DrawClaimed(_)
            | Self::ClaimRuled {
                kind: ClaimKind::Threefold | ClaimKind::FiftyMoves,
                ..
            } => IncidentKind::DrawClaimed,
            Self::TwoMinuteClaimed(_)
            | Self::ClaimRuled {
                kind: ClaimKind::Quickplay | ClaimKind::Increment,
                ..
            } => IncidentKind::TwoMinuteClaim,
        }
    }
}

vocabulary! {
    "kind of incident"
    /// The kinds of incidents, in groups: offences, touching, positions, clocks.
    pub enum IncidentKind {
        /// A move that is illegal by Article 3.
        IllegalMove = "illegal_move",
        /// A pawn left on the last rank.
        PromotionNotReplaced = "promotion_not_replaced",
        /// The clock was pressed without a move.
        ClockPressedWithoutMove = "clock_pressed_without_move",
        /// Possibly, the clock was pressed with the piece still in the hand.
        PressedBeforeRelease = "pressed_before_release",
        /// Possibly, a move was made with two hands.
        TwoHandsSuspected = "two_hands_suspected",
        /// Possibly, one piece was touched and another one moved.
        PieceTouchedNotMoved = "piece_touched_not_moved",
        /// Castling began with the rook, or with both pieces at once.
        CastlingRookFirst = "castling_rook_first",
        /// A promotion piece was exchanged after it had stood on its square.
        PromotionExchanged = "promotion_exchanged",
        /// A piece was lifted and put back on the other player's time.
        AdjustedOffTurn = "adjusted_off_turn",
        /// Pieces are on squares on which no move has put them.
        DisplacedPieces = "displaced_pieces",
        /// The pieces are set up wrongly.
        WrongStartPosition = "wrong_start_position",
        /// The board is turned.
        BoardRotated = "board_rotated",
        /// The players play with each other's pieces.
        ColorsReversed = "colors_reversed",
        /// No legal play can reach the position.
        IllegalPosition = "illegal_position",
        /// Play went on after the end of the game.
        ContinuedAfterEnd = "continued_after_end",
        /// The record does not explain the placement on the board.
        RecordUncertain = "record_uncertain",
        /// The board is disconnected.
        BoardDisconnected = "board_disconnected",
        /// A square reports changes that nobody causes.
        SensorFault = "sensor_fault",
        /// A flag has fallen.
        FlagFall = "flag_fall",
        /// Both flags have fallen.
        TwoFlags = "two_flags",
        /// The clock's times do not fit the elapsed time.
        ClockInconsistent = "clock_inconsistent",
        /// Less than five minutes are left.
        TimeTrouble = "time_trouble",
        /// The clock is stopped during the game.
        ClockStopped = "clock_stopped",
        /// The clock is disconnected.
        ClockDisconnected = "clock_disconnected",
        /// The round has begun and the game has not.
        LateStart = "late_start",
        /// The board shows a draw before the event allows players to agree to one.
        EarlyDraw = "early_draw",
        /// Another game is played at a table whose game of the round is over.
        SecondGame = "second_game",
        /// A player claims a draw by repetition or fifty moves.
        DrawClaimed = "draw_claimed",
        /// A player with less than two minutes left claims a draw or asks for an increment.
        TwoMinuteClaim = "two_minute_claim",
    }
}

impl FromStr for IncidentKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        vocabulary::find(word, "kind of incident", Self::ALL, Self::as_str)
    }
}

/// The fault of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The piece cannot move like that, or its way is blocked.
    Geometry,
    /// The player's own king is in check after the move.
    KingInCheck,
    /// The player captured a piece of their own colour.
    OwnPieceCaptured,
    /// The castling is not allowed or not complete.
    Castling,
    /// The capture en passant came too late, or the pawn was not removed.
    EnPassant,
    /// The king was captured.
    KingCaptured,
    /// The promotion was to a king or pawn, to a piece of the other colour, or before the last rank.
    Promotion,
    /// It was the other side's turn.
    WrongSide,
    /// Several moves were made at once, or no move explains the pieces.
    Several,
}

impl Fault {
    /// The name of the fault, as in "king_in_check".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Geometry => "geometry",
            Self::KingInCheck => "king_in_check",
            Self::OwnPieceCaptured => "own_piece_captured",
            Self::Castling => "castling",
            Self::EnPassant => "en_passant",
            Self::KingCaptured => "king_captured",
            Self::Promotion => "promotion",
            Self::WrongSide => "wrong_side",
            Self::Several => "several",
        }
    }
}

/// An offence in a player's last move, because of which the player does not win on time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Article 3: an illegal move.
    IllegalMove,
    /// Article 3: a pawn left on the last rank.
    Promotion,
    /// A press without a move.
    PressedWithoutMove,
    /// Possibly Article 4: one piece was touched and another one moved. A board cannot prove it.
    Touch,
}

impl Broken {
    /// The name of the offence, as in "illegal_move".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IllegalMove => "illegal_move",
            Self::Promotion => "promotion",
            Self::PressedWithoutMove => "pressed",
            Self::Touch => "touch",
        }
    }

    /// Whether the board's evidence proves an offence; otherwise it is only a hint.
    #[must_use]
    pub const fn is_offence(self) -> bool {
        !matches!(self, Self::Touch)
    }
}

/// The stage of an irregular move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The move stands on the board; the clock is not pressed.
    Made,
    /// The player has pressed the clock.
    Completed,
    /// The opponent has made the next move.
    Answered,
}

/// The clock times around an irregularity, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReadings {
    /// At the completion of the last legal ply.
    pub before: ByColor<u64>,
    /// At present.
    pub now: ByColor<u64>,
    /// Time added to the offender's clock by the press, in milliseconds.
    pub undue: u64,
}

/// The two pieces of a move that may have been made with two hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TwoPieces {
    /// King and rook.
    Castling,
    /// The pawn and the promotion piece.
    Promotion,
}

impl TwoPieces {
    /// The name of the pair, as in "castling".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Castling => "castling",
            Self::Promotion => "promotion",
        }
    }
}

/// A touched piece, as observed by the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A piece of the player's own was lifted and put back on its square.
    Own {
        /// The piece's square.
        square: Square,
    },
    /// An opponent's piece was lifted and not captured.
    Other {
        /// The piece's square.
        square: Square,
    },
    /// A piece stood on one square and then moved on to another.
    Released {
        /// The first square.
        square: Square,
    },
    /// A move was made and taken back before the press.
    TakenBack {
        /// The piece's original square.
        square: Square,
    },
}

/// The prescribed start position of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawnStart {
    /// The position of Art. 2.3.
    Standard,
    /// A start position of Chess960, as FEN placement if it is known.
    Chess960(Option<String>),
}
