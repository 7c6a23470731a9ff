//! Two players at a clock, who make plies as steps.

use core::time::Duration;

use kiebitz_protocol::{Dump, Field, Piece};

use super::chance::{Chance, Span, ms};
use super::geometry;
use super::manner::{Manner, Pace, Press, Temperament};
use super::{Color, Deed, Hand, Ply, Setting};

/// Two players at a board.
///
/// The first steps of a ply can precede the last step of the previous ply, because an opponent who answers at once does
/// not wait for the press. No future step has a time before [`Hand::now`].
#[derive(Debug, Clone)]
pub struct Opponents {
    hand: Hand,
    last_press: Duration,
    answers_at_once: bool,
}

/// Times of a ply, measured from the moment when the players sat down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// When the hand began to move.
    pub begun: Duration,
    /// When all pieces had reached their squares.
    pub landed: Duration,
}

impl Opponents {
    /// Creates players at a board with these contents, whose first step comes at `after` or later.
    #[must_use]
    pub fn sit_down(standing: Dump, after: Duration, chance: Chance) -> Self {
        let mut hand = Hand::new(standing, chance);
        hand.now = after;
        Self {
            hand,
            last_press: after,
            answers_at_once: false,
        }
    }

    /// Returns the players' hands, for actions that do not belong to a ply.
    pub const fn hand(&mut self) -> &mut Hand {
        &mut self.hand
    }

    /// Starts the clock with White's time running, if there is a clock.
    pub fn start_clock(&mut self, setting: &Setting) {
        self.answers_at_once = false;
        if setting.white_side.is_none() {
            return;
        }
        if setting.black_presses_first {
            self.hand.act(Deed::Press(Color::Black));
            self.hand.wait(ms(300, 900));
        }
        self.hand.act(Deed::StartClock);
        self.hand.wait(ms(400, 900));
        self.last_press = self.hand.now;
    }

    /// Makes the next ply in a random manner of this temperament. `thinking` scales the thinking time, in percent.
    pub fn play(&mut self, ply: &Ply, temperament: Temperament, thinking: u32, chance: &mut Chance) -> Made {
        let manner = temperament.manner(chance);
        let think = match (self.answers_at_once, ply.is_en_passant()) {
            // Wait until the double step has been scanned before capturing en passant.
            (true, true) => ms(250, 400),
            (true, false) => ms(0, 0),
            (false, _) => scaled_thinking(manner.pace.think, thinking),
        };
        let adjusts = manner.adjusts && !self.answers_at_once;
        self.answers_at_once = manner.answered_at_once;
        let pace = Pace { think, ..manner.pace };
        self.make(
            ply,
            &Manner {
                pace,
                adjusts,
                ..manner
            },
        )
    }

    /// Makes the next ply in this manner and presses the clock.
    pub fn make(&mut self, ply: &Ply, manner: &Manner) -> Made {
        self.hand.wait(manner.pace.think);
        self.hand
            .wait_until_tidy(|field| field == ply.from || Some(field) == ply.captured);
        if manner.adjusts {
            self.adjust(ply, manner);
        }
        let begun = self.hand.now;
        self.hand.make(ply, manner);
        let landed = self.hand.now;
        self.press(ply.color, manner);
        Made { begun, landed }
    }

    fn adjust(&mut self, ply: &Ply, manner: &Manner) {
        let standing = self.hand.standing();
        let mut others: Vec<Field> = Field::all()
            .filter(|field| *field != ply.from)
            .filter(|field| standing[field.index()].and_then(Piece::color) == Some(ply.color))
            .collect();
        others.sort_by_key(|field| geometry::from_a1(*field));
        if !others.is_empty()
            && let Some(field) = self.hand.chance.pick_from(&others)
        {
            self.hand.adjust(field, manner);
            self.hand.wait(manner.pace.pause);
        }
    }

    /// Presses the clock, unless the mover forgets it, and sets the time of the opponent's answer.
    fn press(&mut self, mover: Color, manner: &Manner) {
        let landed = self.hand.now;
        if manner.press == Press::Pressed {
            self.hand.wait(manner.pace.press);
            // A player presses only after the opponent has pressed.
            self.hand.now = self.hand.now.max(self.last_press + MIN_PRESS_INTERVAL);
            self.hand.act(Deed::Press(mover));
            self.last_press = self.hand.now;
        } else {
            self.hand.wait(manner.pace.reaction);
        }
        if manner.answered_at_once {
            // The opponent replies without thinking time.
            self.hand.now = landed + self.hand.chance.time(manner.pace.reaction);
        }
    }
}

/// Scales a thinking time to `percent` percent, but not below [`MIN_REACTION`] or, if shorter, the shortest unscaled
/// time.
fn scaled_thinking(think: Span, percent: u32) -> Span {
    think.percent(percent, think.least().min(MIN_REACTION))
}

/// Minimum time that a player needs to see and answer a move.
const MIN_REACTION: Duration = Duration::from_millis(350);
const MIN_PRESS_INTERVAL: Duration = Duration::from_millis(150);
