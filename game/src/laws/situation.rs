//! Situations at a board that the Laws have something to say about.

use core::str::FromStr;
use std::collections::BTreeMap;

use serde_json::Value;
use shakmaty::{ByColor, Color, Piece, Role, Square};

use super::claim::{ClaimKind, ClaimRuling, DrawClaim, TwoMinuteClaim};
use crate::vocabulary::{self, UnknownWord};

/// A situation at a board, without judgement: what it means depends on the edition and the mode of play.
#[derive(Debug, Clone, PartialEq)]
pub enum Situation {
    /// A move that is illegal by Article 3 was made.
    IllegalMove {
        /// What is wrong with it.
        fault: Fault,
        /// How far it has gone.
        stage: Stage,
        /// Which completed offence of this player it is, from 1; 0 while it is not completed.
        offence: u32,
        /// Whether the opponent could still mate by any sequence of legal moves; `None`: not known.
        opponent_can_mate: Option<bool>,
        /// What the clocks showed, for setting them.
        times: Option<ClockReadings>,
    },
    /// A pawn was left standing on the last rank.
    PromotionNotReplaced {
        /// Where it stands.
        square: Square,
        /// How far the move has gone.
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
    /// Pieces are on squares where no move has put them.
    DisplacedPieces {
        /// It was found only after moves had been made or the clock had been pressed.
        found_later: bool,
    },
    /// The board does not read a piece that should stand there.
    PieceNotSeen {
        /// Where.
        square: Square,
        /// What should stand there.
        piece: Piece,
        /// The game has begun, or the clock runs.
        playing: bool,
    },
    /// Many pieces slid at once, as when somebody runs into the table.
    Jolted {
        /// The squares that are still wrong.
        wrong: Vec<Square>,
        /// What the clocks showed when it happened, in milliseconds.
        times: Option<ByColor<u64>>,
        /// Play went on before all pieces were put back.
        left: bool,
    },
    /// A piece was touched, as far as a board can see it, and another one moved.
    TouchedNotMoved {
        /// What was touched, and how.
        touch: Touch,
        /// The legal moves that were due with the piece touched, in English SAN; empty: any move was free (4.5).
        due: Vec<String>,
        /// What was played instead, in SAN or UCI.
        played: String,
    },
    /// Castling began with the rook, or with both at once.
    CastlingRookFirst {
        /// King and rook left their squares in the same scan.
        together: bool,
    },
    /// Two pieces of one move moved so close together that two hands are likely.
    TwoHandsSuspected {
        /// Which.
        pieces: TwoPieces,
    },
    /// The player on move pressed the clock with the piece still in the hand.
    PressedBeforeRelease,
    /// A promotion piece stood on its square and was exchanged for another one.
    PromotionExchanged {
        /// Where it stood.
        square: Square,
        /// The piece that stood first: the choice was final with it.
        stood: Role,
        /// The piece that stands there now.
        now: Role,
        /// The player had pressed the clock before the exchange.
        pressed: bool,
    },
    /// A piece was lifted and put back while the other player's clock ran.
    AdjustedOffTurn {
        /// Which.
        square: Square,
    },
    /// The pieces are set up wrongly.
    WrongStart {
        /// What should stand there.
        drawn: DrawnStart,
        /// Moves that both players have completed since.
        moves: u32,
    },
    /// The board is turned.
    BoardRotated {
        /// By a quarter (the corner squares have the wrong colours), else by a half: White at the other edge.
        quarter: bool,
        /// Moves that both players have completed since.
        moves: u32,
    },
    /// The players sit at each other's pieces.
    ColorsReversed {
        /// Moves that both players have made.
        moves: u32,
    },
    /// A flag has fallen.
    FlagFall {
        /// Moves that the player has completed.
        completed: u32,
        /// Moves required in the period; `None`: all, or not known.
        required: Option<u32>,
        /// The last period, or the only one; false where that is not known.
        last_period: bool,
        /// As for an illegal move.
        opponent_can_mate: Option<bool>,
        /// What the opponent's last move broke: it does not win on time.
        opponent_broke: Option<Broken>,
        /// The period is not the last, and the clock has not added the time of the next one.
        next_period_missing: bool,
    },
    /// Both flags have fallen.
    TwoFlags {
        /// Whose fell first, where the clock shows that.
        first: Option<Color>,
        /// Whether it is the last period, or the only one; `None`: not known.
        last_period: Option<bool>,
        /// The player whose last move is an open offence, and what it broke.
        broke: Option<(Color, Broken)>,
    },
    /// The clock's times do not fit the time that has passed.
    ClockInconsistent {
        /// How many seconds the sum of both clocks is too low (negative: too high).
        missing_s: i64,
        /// Moves whose increments make up what is missing, by colour, where the arithmetic is exact.
        increments_of: Option<ByColor<u32>>,
        /// What both should show, in milliseconds, where the arithmetic is exact.
        should: Option<ByColor<u64>>,
        /// Moves that both players have completed.
        moves: u32,
    },
    /// Less than five minutes are left in a period, without 30 seconds a move.
    TimeTrouble {
        /// Whose time it is.
        players: ByColor<bool>,
    },
    /// The position is one that no legal play can reach, and not because of the last move.
    IllegalPosition {
        /// Both kings are in check, or stand beside each other; else a pawn stands on the last rank, or the pieces are too many.
        kings: bool,
    },
    /// The clock is stopped during the game.
    ClockStopped {
        /// What the board shows of the reason; `None`: nothing, and play went on after it.
        why: Option<WhyStopped>,
    },
    /// The game is over by the Laws, and the clock or play goes on.
    ContinuedAfterEnd,
    /// The line of play does not explain the board: moves seem to be missing from the record, or to be wrong in it.
    RecordUncertain,
    /// The clock is disconnected.
    ClockDisconnected,
    /// The board is disconnected.
    BoardDisconnected,
    /// A square reports changes that nobody makes.
    SensorFault {
        /// Which.
        square: Square,
    },
    /// The round has begun and the game has not: the clock is stopped, or it runs and a player's first move is missing.
    LateStart {
        /// Whole minutes since the round began.
        minutes: u32,
        /// How late a player may arrive by the rules of the event, in minutes; `None`: they do not say it.
        default_time: Option<u32>,
        /// The default time has passed. The incident's player is the one whose first move is missing; without a player,
        /// the clock is stopped.
        defaulted: bool,
    },
    /// A draw is shown on the board before the event allows players to agree to one.
    EarlyDraw {
        /// Moves that both players have made.
        made: u32,
        /// The number of moves that the event asks for.
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
    },
    /// A player claims a draw by repetition or fifty moves.
    DrawClaimed(Box<DrawClaim>),
    /// A player with less than two minutes claims a draw, or asks for an increment.
    TwoMinuteClaimed(Box<TwoMinuteClaim>),
    /// The arbiter has ruled on a claim.
    ClaimRuled {
        /// What was claimed.
        kind: ClaimKind,
        /// The ruling.
        ruling: ClaimRuling,
        /// What the advice on the claim named.
        values: BTreeMap<String, Value>,
        /// What the clocks show, in milliseconds.
        times: Option<ByColor<u64>>,
    },
}

/// Why somebody may have stopped the clock (Art. 6.11), as far as a board can see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyStopped {
    /// A pawn is being promoted: the piece may not be at hand.
    Promotion,
    /// The player on move can claim a draw.
    Claim,
    /// An irregularity on the board is open.
    Irregularity,
}

impl Situation {
    /// The kind of its incident.
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
    /// The kinds of incidents, those of a kind together: offences, touching, positions, clocks.
    pub enum IncidentKind {
        /// A move that is illegal by Article 3.
        IllegalMove = "illegal_move",
        /// A pawn left on the last rank.
        PromotionNotReplaced = "promotion_not_replaced",
        /// The clock was pressed without a move.
        ClockPressedWithoutMove = "clock_pressed_without_move",
        /// Perhaps the clock was pressed with the piece still in the hand.
        PressedBeforeRelease = "pressed_before_release",
        /// Perhaps a move made with two hands.
        TwoHandsSuspected = "two_hands_suspected",
        /// Perhaps one piece was touched and another one moved.
        PieceTouchedNotMoved = "piece_touched_not_moved",
        /// Castling began with the rook, or with both at once.
        CastlingRookFirst = "castling_rook_first",
        /// A promotion piece was exchanged after it stood.
        PromotionExchanged = "promotion_exchanged",
        /// A piece was lifted and put back on the other player's time.
        AdjustedOffTurn = "adjusted_off_turn",
        /// Pieces are on squares where no move has put them.
        DisplacedPieces = "displaced_pieces",
        /// The pieces are set up wrongly.
        WrongStartPosition = "wrong_start_position",
        /// The board is turned.
        BoardRotated = "board_rotated",
        /// The players sit at each other's pieces.
        ColorsReversed = "colors_reversed",
        /// The position is one that no legal play can reach.
        IllegalPosition = "illegal_position",
        /// The game was over, and play went on.
        ContinuedAfterEnd = "continued_after_end",
        /// The record does not explain what stands on the board.
        RecordUncertain = "record_uncertain",
        /// The board is disconnected.
        BoardDisconnected = "board_disconnected",
        /// A square reports changes that nobody makes.
        SensorFault = "sensor_fault",
        /// A flag has fallen.
        FlagFall = "flag_fall",
        /// Both flags have fallen.
        TwoFlags = "two_flags",
        /// The clock's times do not fit the time that has passed.
        ClockInconsistent = "clock_inconsistent",
        /// Less than five minutes are left.
        TimeTrouble = "time_trouble",
        /// The clock is stopped during the game.
        ClockStopped = "clock_stopped",
        /// The clock is disconnected.
        ClockDisconnected = "clock_disconnected",
        /// The round has begun and the game has not.
        LateStart = "late_start",
        /// A draw is shown on the board before the event allows players to agree to one.
        EarlyDraw = "early_draw",
        /// Another game is played at a table whose game of the round is over.
        SecondGame = "second_game",
        /// A player claims a draw by repetition or fifty moves.
        DrawClaimed = "draw_claimed",
        /// A player with less than two minutes claims a draw, or asks for an increment.
        TwoMinuteClaim = "two_minute_claim",
    }
}

impl FromStr for IncidentKind {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        vocabulary::find(word, "kind of incident", Self::ALL, Self::as_str)
    }
}

/// What is wrong with a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No piece of its kind moves like that, or something stands in the way.
    Geometry,
    /// It leaves or puts the player's own king in check.
    KingInCheck,
    /// A piece of the player's own was captured.
    OwnPieceCaptured,
    /// Castling that is not allowed, or only half done.
    Castling,
    /// En passant too late, or without removing the pawn.
    EnPassant,
    /// The king was captured.
    KingCaptured,
    /// To a king or pawn, to the other colour, or without reaching the last rank.
    Promotion,
    /// It was the other side's turn.
    WrongSide,
    /// More than one move at once, or pieces that no move explains.
    Several,
}

impl Fault {
    /// Its name, as in "king_in_check".
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

/// What a player's last move broke, so that the player does not win on time by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Article 3: the move was illegal.
    IllegalMove,
    /// Article 3: a pawn was left on the last rank.
    Promotion,
    /// No move was made, and the clock was pressed.
    PressedWithoutMove,
    /// Perhaps Article 4: one piece was touched and another one moved. A board cannot prove it.
    Touch,
}

impl Broken {
    /// Its name, as in "illegal_move".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IllegalMove => "illegal_move",
            Self::Promotion => "promotion",
            Self::PressedWithoutMove => "pressed",
            Self::Touch => "touch",
        }
    }

    /// Whether it is an offence by what the board shows, and not only a hint.
    #[must_use]
    pub const fn is_offence(self) -> bool {
        !matches!(self, Self::Touch)
    }
}

/// How far a move has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It stands on the board; the clock is not pressed.
    Made,
    /// The player has pressed the clock.
    Completed,
    /// The opponent has made the next move.
    Answered,
}

/// What the clocks showed around an irregularity, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockReadings {
    /// When the last legal ply was completed.
    pub before: ByColor<u64>,
    /// Now.
    pub now: ByColor<u64>,
    /// What the offender's clock gained by the press, in milliseconds.
    pub undue: u64,
}

/// The two pieces of a move that may have been made with two hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TwoPieces {
    /// King and rook.
    Castling,
    /// The pawn and the piece it becomes.
    Promotion,
}

impl TwoPieces {
    /// Its name, as in "castling".
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Castling => "castling",
            Self::Promotion => "promotion",
        }
    }
}

/// What was touched, as far as a board can see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A piece of the player's own was lifted and put back on its square.
    Own {
        /// Where it stands.
        square: Square,
    },
    /// An opponent's piece was lifted and not taken.
    Other {
        /// Where it stands.
        square: Square,
    },
    /// A piece stood on one square and then went on to another.
    Released {
        /// Where it stood.
        square: Square,
    },
    /// A move was made and taken back before the press.
    TakenBack {
        /// Where the piece came from.
        square: Square,
    },
}

/// The position that a game should have begun from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawnStart {
    /// That of Art. 2.3.
    Standard,
    /// One of Chess960, as FEN placement, where it is known.
    Chess960(Option<String>),
}
