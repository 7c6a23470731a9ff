//! Advice about the position: displaced pieces, wrong starts, illegal positions.

use shakmaty::{ByColor, Piece, Square};

use super::{Advice, Draft, Severity, clock_text};
use crate::laws::articles::Topic;
use crate::laws::resumable::ResumableCase;
use crate::laws::situation::DrawnStart;
use crate::laws::table::{self, CastlingLost, DisplacedPress, IllegalPositionRemedy};

impl Draft<'_> {
    pub(super) fn displaced(self, found_later: bool) -> Advice {
        if found_later {
            let topics = [Topic::DisplacedLater, Topic::Reset];
            return self.done(Severity::Advice, "displaced_pieces.found_later", &topics);
        }
        let press = match table::press_while_displaced(self.rules.edition) {
            DisplacedPress::Allowed => "allowed",
            DisplacedPress::Silent => "none",
            DisplacedPress::Offence => "offence",
        };
        let penalise = if table::displacing_may_cost(self.rules.edition) {
            "yes"
        } else {
            "no"
        };
        let draft = self.with("press", press).with("penalise", penalise);
        draft.done(Severity::Advice, "displaced_pieces.at_once", &[Topic::Displaced])
    }

    pub(super) fn jolted(self, wrong: &[Square], times: Option<ByColor<u64>>, left: bool) -> Advice {
        let squares: Vec<String> = wrong.iter().map(Square::to_string).collect();
        let mut draft = self
            .with("squares", squares.join(", "))
            .with("clocks", if times.is_some() { "known" } else { "none" });
        if let Some(times) = times {
            draft = draft
                .with("clock_white", clock_text(times.white))
                .with("clock_black", clock_text(times.black));
        }
        if left {
            let topics = [Topic::DisplacedLater, Topic::Reset];
            return draft.done(Severity::Advice, "displaced_pieces.jolted_left", &topics);
        }
        draft.done(Severity::Advice, "displaced_pieces.jolted", &[Topic::Displaced])
    }

    pub(super) fn wrong_start(self, drawn: &DrawnStart, moves: u32) -> Advice {
        let (name, placement) = match drawn {
            DrawnStart::Standard => ("standard", ""),
            DrawnStart::Chess960(None) => ("chess960", ""),
            DrawnStart::Chess960(Some(placement)) => ("drawn", placement.as_str()),
        };
        let limit = self.rules.start_limit();
        let castling = match table::castling_lost(self.rules.edition) {
            CastlingLost::NoRule => "none",
            CastlingLost::SwappedKing => "king_and_queen",
            CastlingLost::Misplaced => "king_and_rook",
        };
        let draft = self
            .with("drawn", name)
            .with("placement", placement)
            .with("moves", moves)
            .with("limit", limit.unwrap_or_default())
            .with("castling", castling);
        let case = match limit {
            Some(limit) if moves >= limit => ResumableCase::WrongGoesOn,
            _ if moves == 0 => ResumableCase::WrongAtTheStart,
            Some(_) => ResumableCase::WrongVoidSoFar,
            None => ResumableCase::WrongVoid,
        };
        draft.done(
            Severity::Advice,
            case.as_str(),
            &[Topic::WrongStart, Topic::StartLimit],
        )
    }

    pub(super) fn rotated(self, quarter: bool, moves: u32) -> Advice {
        if !quarter {
            // Only the printed coordinates are wrong; kiebitz turns the record with the board.
            return self.done(
                Severity::Hint,
                ResumableCase::HalfTurned.as_str(),
                &[Topic::Rotated],
            );
        }
        let limit = self.rules.start_limit();
        let case = if limit.is_some_and(|limit| moves >= limit) {
            ResumableCase::TurnedGoesOn
        } else if table::rotated_must(self.rules.edition) {
            ResumableCase::TurnedTransfer
        } else {
            ResumableCase::TurnedMayTransfer
        };
        let topics = [Topic::Rotated, Topic::StartLimit];
        self.with("moves", moves)
            .done(Severity::Advice, case.as_str(), &topics)
    }

    pub(super) fn reversed(self, moves: u32) -> Advice {
        let limit = table::reversed_limit(self.rules.edition);
        let draft = self.with("moves", moves).with("limit", limit.unwrap_or_default());
        let case = match limit {
            None => "colors_reversed.unless_you_rule",
            Some(limit) if moves < limit => "colors_reversed.new_game",
            Some(_) => "colors_reversed.goes_on",
        };
        draft.done(Severity::Advice, case, &[Topic::Reversed])
    }

    pub(super) fn illegal_position(self, kings: bool) -> Advice {
        let draft = self.with("what", if kings { "kings" } else { "pieces" });
        let (severity, case) = match draft.rules.illegal_position() {
            IllegalPositionRemedy::GoBack => (Severity::Advice, "illegal_position.go_back"),
            IllegalPositionRemedy::Intervene => (Severity::Advice, "illegal_position.intervene"),
            IllegalPositionRemedy::WaitThenDraw => (Severity::Advice, "illegal_position.wait"),
            IllegalPositionRemedy::Leave => (Severity::Hint, "illegal_position.stands"),
        };
        draft.done(severity, case, &[Topic::Illegal, Topic::IllegalPosition])
    }

    pub(super) fn continued_after_end(self) -> Advice {
        let topics = [Topic::Checkmate, Topic::Stalemate, Topic::DeadPosition];
        self.done(Severity::Hint, "continued_after_end.over", &topics)
    }

    pub(super) fn record_uncertain(self) -> Advice {
        self.done(Severity::Hint, "record_uncertain.missing", &[Topic::Evidence])
    }

    pub(super) fn board_gone(self) -> Advice {
        self.done(Severity::Advice, "board_disconnected.gone", &[Topic::Evidence])
    }

    pub(super) fn not_seen(self, square: Square, piece: Piece, playing: bool) -> Advice {
        let case = if playing {
            ResumableCase::NotSeenInPlay
        } else {
            ResumableCase::NotSeen
        };
        let draft = self
            .with("square", square.to_string())
            .with("piece", piece.char().to_string());
        draft.done(Severity::Advice, case.as_str(), &[])
    }

    pub(super) fn sensor_fault(self, square: Square) -> Advice {
        let draft = self.with("square", square.to_string());
        draft.done(Severity::Advice, "sensor_fault.look", &[])
    }
}
