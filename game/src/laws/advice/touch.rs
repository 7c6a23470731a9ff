//! Advice about touched pieces. A board can hint at these offences but never prove them.

use shakmaty::{Role, Square};

use super::{Advice, Draft, Severity};
use crate::laws::articles::Topic;
use crate::laws::situation::Touch;

impl Draft<'_> {
    pub(super) fn touched(self, touch: Touch, due: &[String], played: &str) -> Advice {
        let (square, case, topic) = match touch {
            Touch::Own { square } => (square, "piece_touched_not_moved.own", Topic::TouchOwn),
            Touch::Other { square } => (square, "piece_touched_not_moved.other", Topic::TouchOther),
            Touch::Released { square } => (square, "piece_touched_not_moved.released", Topic::Released),
            Touch::TakenBack { square } => (square, "piece_touched_not_moved.taken_back", Topic::Released),
        };
        // A released piece must stay on its square; a touched piece may make any of its moves.
        let bound = matches!(touch, Touch::Released { .. } | Touch::TakenBack { .. });
        let known = match due {
            [] => "none",
            _ if bound => "bound",
            _ => "some",
        };
        let draft = self
            .on_request()
            .with("square", square.to_string())
            .with("played", played)
            .with("due", known)
            .with("moves", due.join(", "));
        draft.done(
            Severity::Hint,
            case,
            &[topic, Topic::TouchLapses, Topic::OnRequest],
        )
    }

    pub(super) fn promotion_exchanged(self, square: Square, stood: Role, now: Role, pressed: bool) -> Advice {
        let draft = self
            .with("square", square.to_string())
            .with("first_piece", piece(stood))
            .with("second_piece", piece(now));
        if pressed {
            let topics = [Topic::PromotionChoice, Topic::Discretion];
            return draft.done(Severity::Advice, "promotion_exchanged.pressed", &topics);
        }
        let topics = [Topic::PromotionChoice, Topic::OnRequest];
        draft
            .on_request()
            .done(Severity::Hint, "promotion_exchanged.not_pressed", &topics)
    }

    pub(super) fn rook_first(self, together: bool) -> Advice {
        if together {
            let topics = [Topic::RookFirst, Topic::TwoHands];
            return self.done(Severity::Info, "castling_rook_first.together", &topics);
        }
        let topics = [Topic::RookFirst, Topic::OnRequest];
        self.on_request()
            .done(Severity::Hint, "castling_rook_first.rook", &topics)
    }

    pub(super) fn adjusted(self, square: Square) -> Advice {
        let draft = self.with("square", square.to_string());
        let topics = [Topic::AdjustedOffTurn, Topic::Discretion];
        draft.done(Severity::Hint, "adjusted_off_turn.lifted", &topics)
    }

    /// Adds whether Article 4 applies only at a player's request.
    fn on_request(self) -> Self {
        let request = if self.rules.touch_on_request() {
            "yes"
        } else {
            "no"
        };
        self.with("request", request)
    }
}

/// The key of the piece's name in the catalogues.
const fn piece(role: Role) -> &'static str {
    match role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    }
}
