//! Emulated hands, which play games on an emulated board square by square, with the timing and style of different
//! players.
//!
//! A [`Hand`] tracks the contents of the squares, but does not know the rules of chess: a [`Ply`] specifies the squares
//! of each move and need not be legal. [`Opponents`] are two players at a clock, a [`Sitting`] is a sequence of games
//! between them, and a [`Setting`] describes board and clock. All random choices derive from a seed, and no clock is
//! read. The output is a sequence of [`Step`]s.
//!
//! Squares are numbered for a board with its connector on White's left. [`Setting::perform`] converts the numbers for a
//! turned board.
//!
//! ```
//! use kiebitz_hardware::emulator::hand::{Chance, Color, Deed, Hand, Manner, Ply};
//! use kiebitz_protocol::{Field, Piece};
//!
//! let (e2, e4) = (Field::new(52).unwrap(), Field::new(36).unwrap());
//! let mut standing = [None; Field::COUNT];
//! standing[e2.index()] = Some(Piece::WhitePawn);
//!
//! let mut hand = Hand::new(standing, Chance::new(1));
//! hand.make(&Ply::quiet(Color::White, e2, e4), &Manner::PLAIN);
//! let deeds: Vec<Deed> = hand.take_steps().into_iter().map(|step| step.deed).collect();
//! assert_eq!(deeds, [Deed::Stands(e2, None), Deed::Stands(e4, Some(Piece::WhitePawn))]);
//! ```

mod chance;
mod geometry;
mod manner;
mod motion;
mod opponents;
mod setting;
mod sitting;

use core::time::Duration;

use kiebitz_protocol::{Contents, Dump, Field, Piece};

pub use chance::{Chance, Span, ms};
pub use kiebitz_protocol::Color;
pub use manner::{Castling, EnPassant, Manner, Pace, Path, Press, Promoting, Taking, Temperament};
pub use opponents::{Made, Opponents};
pub use setting::Setting;
pub use sitting::{Ending, Script, Sitting, SittingSettings, Truth};

/// The pieces that a ply moves, captures and replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ply {
    /// The player who makes the ply.
    pub color: Color,
    /// Square that the piece leaves. In castling, the square of the king.
    pub from: Field,
    /// Square that the piece goes to.
    pub to: Field,
    /// Square of the captured piece: `to`, or a neighbouring square for a capture en passant.
    pub captured: Option<Field>,
    /// In castling, the squares that the rook leaves and goes to.
    pub rook: Option<(Field, Field)>,
    /// Piece that replaces a promoted pawn.
    pub promoted: Option<Piece>,
}

impl Ply {
    /// Creates a ply in which a piece goes to an empty square.
    #[must_use]
    pub const fn quiet(color: Color, from: Field, to: Field) -> Self {
        Self {
            color,
            from,
            to,
            captured: None,
            rook: None,
            promoted: None,
        }
    }

    /// Returns whether the captured piece is on a square other than `to`.
    #[must_use]
    pub fn is_en_passant(&self) -> bool {
        self.captured.is_some_and(|captured| captured != self.to)
    }
}

/// A physical action, with its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Time since the players sat down.
    pub at: Duration,
    /// The action.
    pub deed: Deed,
}

/// An action on the board or its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// The contents of a square change to a piece or a result token, or the square becomes empty.
    Stands(Field, Contents),
    /// A player presses the clock.
    Press(Color),
    /// The clock is started.
    StartClock,
    /// The clock is stopped.
    StopClock,
    /// Both sides of the clock are set to their initial time.
    SetClock,
}

/// A hand that moves pieces. It tracks the intended contents of every square.
#[derive(Debug, Clone)]
pub struct Hand {
    now: Duration,
    standing: Dump,
    steps: Vec<Step>,
    /// Squares whose sensor does not read the intended contents yet, with the time at which the hand corrects each.
    untidy: Vec<(Duration, Field)>,
    chance: Chance,
}

impl Hand {
    /// Creates a hand at a board with these contents.
    #[must_use]
    pub const fn new(standing: Dump, chance: Chance) -> Self {
        Self {
            now: Duration::ZERO,
            standing,
            steps: Vec::new(),
            untidy: Vec::new(),
            chance,
        }
    }

    /// Returns the time of the next step, measured from the moment when the players sat down.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Returns the contents of the board after all steps.
    #[must_use]
    pub const fn standing(&self) -> &Dump {
        &self.standing
    }

    /// Returns the steps since the last call, in the order in which they were decided, which may differ from the order
    /// of their times.
    #[must_use]
    pub fn take_steps(&mut self) -> Vec<Step> {
        core::mem::take(&mut self.steps)
    }

    /// Waits for a random time within the span.
    pub fn wait(&mut self, span: Span) {
        self.now += self.chance.time(span);
    }

    /// Waits until this time, unless it has passed.
    pub fn rest_until(&mut self, until: Duration) {
        self.now = self.now.max(until);
    }

    /// Performs an action now. To place pieces, call [`put`](Self::put).
    pub fn act(&mut self, deed: Deed) {
        if let Deed::Stands(field, contents) = deed {
            // Only actions on squares correct untidy squares, because an opponent may move before a press.
            self.tidy(self.now);
            self.standing[field.index()] = contents;
            // The action itself corrects the square.
            self.untidy.retain(|(_, other)| *other != field);
        }
        self.steps.push(Step { at: self.now, deed });
    }

    /// Leaves `shown` on a square, in place of its intended contents, for a random time within `until`. The correction
    /// may come after further steps.
    fn leave_untidy(&mut self, field: Field, shown: Contents, until: Span) {
        let at = self.now;
        let contents = self.standing[field.index()];
        self.act(Deed::Stands(field, shown));
        self.standing[field.index()] = contents;
        let later = at + self.chance.time(until);
        self.untidy.push((later, field));
    }

    /// Corrects all untidy squares that are due by `until`.
    fn tidy(&mut self, until: Duration) {
        self.untidy.sort_unstable_by_key(|(at, _)| *at);
        let due = self.untidy.partition_point(|(at, _)| *at <= until);
        for (at, field) in self.untidy.drain(..due) {
            let deed = Deed::Stands(field, self.standing[field.index()]);
            self.steps.push(Step { at, deed });
        }
    }

    /// Waits until these squares have been corrected and scanned.
    fn wait_until_tidy(&mut self, fields: impl Fn(Field) -> bool) {
        let last = self
            .untidy
            .iter()
            .filter(|(_, field)| fields(*field))
            .map(|(at, _)| *at)
            .max();
        if let Some(last) = last {
            self.now = self.now.max(last + SCAN_TIME);
        }
    }

    /// Waits until the correction of all untidy squares is due, and corrects them.
    pub fn tidy_up(&mut self) {
        if let Some((last, _)) = self.untidy.iter().max() {
            self.now = self.now.max(*last);
        }
        self.tidy(self.now);
    }

    /// Lifts the piece from a square and returns it.
    pub fn lift(&mut self, field: Field) -> Contents {
        let lifted = self.standing[field.index()];
        self.act(Deed::Stands(field, None));
        lifted
    }

    /// Puts a piece on a square. Replaces the previous contents.
    pub fn put(&mut self, field: Field, contents: Contents) {
        self.act(Deed::Stands(field, contents));
    }

    /// Sets up a position, piece by piece in random order. Pieces on wrong squares are reused, missing ones come from
    /// the box, and surplus ones go back into it.
    pub fn set_up(&mut self, position: &Dump) {
        self.tidy_up();
        let mut missing: Vec<Field> = Field::all()
            .filter(|field| position[field.index()].is_some())
            .filter(|field| position[field.index()] != self.standing[field.index()])
            .collect();
        missing.sort_by_key(|field| geometry::from_a1(*field));
        while !missing.is_empty() {
            let field = missing.swap_remove(self.chance.below(missing.len()));
            let piece = position[field.index()];
            if let Some(stray) = self.stray(position, |contents| contents == piece) {
                self.lift(stray);
                self.wait(SET_UP_PAUSE);
            }
            if self.standing[field.index()].is_some() {
                self.lift(field);
                self.wait(SET_UP_PAUSE);
            }
            self.put(field, piece);
            self.wait(SET_UP_PAUSE);
        }
        while let Some(stray) = self.stray(position, |contents| contents.is_some()) {
            self.lift(stray);
            self.wait(SET_UP_PAUSE);
        }
    }

    /// Returns a square whose contents differ from `position` and are `wanted`.
    fn stray(&self, position: &Dump, wanted: impl Fn(Contents) -> bool) -> Option<Field> {
        Field::all().find(|field| {
            let standing = self.standing[field.index()];
            standing != position[field.index()] && wanted(standing)
        })
    }
}

/// Time until a corrected square has been scanned.
const SCAN_TIME: Duration = Duration::from_millis(260);
/// Pause between two pieces while a position is set up.
const SET_UP_PAUSE: Span = ms(120, 300);

#[cfg(test)]
mod tests;
