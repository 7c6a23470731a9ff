//! Hands that act games out on an emulated board: square by square, in time, in the manner of different players.
//!
//! A [`Hand`] knows what stands where and what it is to do, and no rule of chess: the moves come as [`Ply`]s, which
//! give what goes where, and need not be legal. [`Opponents`] are two players at a clock, a [`Sitting`] is one game of
//! theirs after another, and the [`Setting`] how board and clock stand. Everything is decided by a seed and nothing
//! reads a clock: what comes out are [`Step`]s.
//!
//! Fields are numbered as with the connector on White's left; [`Setting::perform`] turns them for a board that stands
//! the other way round.
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

/// What a ply does to the pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ply {
    /// Who makes it.
    pub color: Color,
    /// Where the piece stands that moves; castling, the king.
    pub from: Field,
    /// Where it comes to stand.
    pub to: Field,
    /// Where the captured piece stands: on `to`, or next to it when a pawn is captured en passant.
    pub captured: Option<Field>,
    /// Castling: from where to where the rook goes.
    pub rook: Option<(Field, Field)>,
    /// What the pawn becomes.
    pub promoted: Option<Piece>,
}

impl Ply {
    /// A piece goes to an empty field.
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

    /// Whether the captured piece stands elsewhere than where the capturing one goes.
    #[must_use]
    pub fn is_en_passant(&self) -> bool {
        self.captured.is_some_and(|captured| captured != self.to)
    }
}

/// One physical thing that happens, with its time since the players sat down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Duration,
    /// What.
    pub deed: Deed,
}

/// What hands do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// From now on this stands there: a piece, a result piece, or nothing.
    Stands(Field, Contents),
    /// A player presses the clock.
    Press(Color),
    /// The clock is started.
    StartClock,
    /// The clock is stopped.
    StopClock,
    /// Both sides of the clock are set to the time that they begin with.
    SetClock,
}

/// A hand over the board; it knows what really stands where.
#[derive(Debug, Clone)]
pub struct Hand {
    now: Duration,
    standing: Dump,
    steps: Vec<Step>,
    /// What is still to be put right: when, and what a field shows then as it should already.
    untidy: Vec<(Duration, Field)>,
    chance: Chance,
}

impl Hand {
    /// A hand over a board on which this stands.
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

    /// The time of the next step, since the players sat down.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// What stands on the board when all steps are done.
    #[must_use]
    pub const fn standing(&self) -> &Dump {
        &self.standing
    }

    /// The steps since this was last asked for, in the order in which they were decided on.
    #[must_use]
    pub fn take_steps(&mut self) -> Vec<Step> {
        core::mem::take(&mut self.steps)
    }

    /// Rests.
    pub fn wait(&mut self, span: Span) {
        self.now += self.chance.time(span);
    }

    /// Rests until then, if that is still to come.
    pub fn rest_until(&mut self, until: Duration) {
        self.now = self.now.max(until);
    }

    /// Does this now. What stands on the board is put there with [`put`](Self::put).
    pub fn act(&mut self, deed: Deed) {
        if let Deed::Stands(field, contents) = deed {
            // Not with a press: who does not wait for it goes on before.
            self.tidy(self.now);
            self.standing[field.index()] = contents;
            // Whoever moves on with it has put it right.
            self.untidy.retain(|(_, other)| *other != field);
        }
        self.steps.push(Step { at: self.now, deed });
    }

    /// What stands on a field is shown as something else until somebody puts it right. It may be shown later than what is
    /// done meanwhile.
    fn leave_untidy(&mut self, field: Field, shown: Contents, until: Span) {
        let at = self.now;
        let contents = self.standing[field.index()];
        self.act(Deed::Stands(field, shown));
        self.standing[field.index()] = contents;
        let later = at + self.chance.time(until);
        self.untidy.push((later, field));
    }

    /// Puts right what is to be put right until then.
    fn tidy(&mut self, until: Duration) {
        self.untidy.sort_unstable_by_key(|(at, _)| *at);
        let due = self.untidy.partition_point(|(at, _)| *at <= until);
        for (at, field) in self.untidy.drain(..due) {
            let deed = Deed::Stands(field, self.standing[field.index()]);
            self.steps.push(Step { at, deed });
        }
    }

    /// Rests until these fields have been put right and read.
    fn wait_until_tidy(&mut self, fields: impl Fn(Field) -> bool) {
        let last = self
            .untidy
            .iter()
            .filter(|(_, field)| fields(*field))
            .map(|(at, _)| *at)
            .max();
        if let Some(last) = last {
            self.now = self.now.max(last + READ);
        }
    }

    /// Puts right all that is still to be put right.
    pub fn tidy_up(&mut self) {
        if let Some((last, _)) = self.untidy.iter().max() {
            self.now = self.now.max(*last);
        }
        self.tidy(self.now);
    }

    /// Takes what stands there from the board into the hand.
    pub fn lift(&mut self, field: Field) -> Contents {
        let lifted = self.standing[field.index()];
        self.act(Deed::Stands(field, None));
        lifted
    }

    /// Puts something on a field.
    pub fn put(&mut self, field: Field, contents: Contents) {
        self.act(Deed::Stands(field, contents));
    }

    /// Sets up a position: piece by piece in any order, those that stand elsewhere from there, the others from the
    /// box. What is left over goes back into it.
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
                self.wait(SETTING_UP);
            }
            if self.standing[field.index()].is_some() {
                self.lift(field);
                self.wait(SETTING_UP);
            }
            self.put(field, piece);
            self.wait(SETTING_UP);
        }
        while let Some(stray) = self.stray(position, |contents| contents.is_some()) {
            self.lift(stray);
            self.wait(SETTING_UP);
        }
    }

    /// A field with something wanted on it that does not belong there.
    fn stray(&self, position: &Dump, wanted: impl Fn(Contents) -> bool) -> Option<Field> {
        Field::all().find(|field| {
            let standing = self.standing[field.index()];
            standing != position[field.index()] && wanted(standing)
        })
    }
}

/// By then a field that was put right has been read.
const READ: Duration = Duration::from_millis(260);
/// From piece to piece when a position is set up.
const SETTING_UP: Span = ms(120, 300);

#[cfg(test)]
mod tests;
