//! Touching: nothing that a board can prove.

use shakmaty::Square;

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
        let known = if due.is_empty() { "none" } else { "some" };
        let draft = self
            .on_request()
            .with("square", square.to_string())
            .with("played", played)
            .with("due", known)
            .with("moves", due.join(", "));
        draft.is(
            Severity::Hint,
            case,
            &[topic, Topic::TouchLapses, Topic::OnRequest],
        )
    }

    pub(super) fn rook_first(self, together: bool) -> Advice {
        if together {
            let topics = [Topic::RookFirst, Topic::TwoHands];
            return self.is(Severity::Info, "castling_rook_first.together", &topics);
        }
        let topics = [Topic::RookFirst, Topic::OnRequest];
        self.on_request()
            .is(Severity::Hint, "castling_rook_first.rook", &topics)
    }

    pub(super) fn adjusted(self, square: Square) -> Advice {
        let draft = self.with("square", square.to_string());
        let topics = [Topic::AdjustedOffTurn, Topic::Discretion];
        draft.is(Severity::Hint, "adjusted_off_turn.lifted", &topics)
    }

    /// Adds whether Art. 4 is applied only when a player asks for it.
    fn on_request(self) -> Self {
        let request = if self.rules.touch_on_request() {
            "yes"
        } else {
            "no"
        };
        self.with("request", request)
    }
}
