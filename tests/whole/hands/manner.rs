//! How a move is made by hand, and who makes it so.

use super::chance::{Chance, Span, ms};

/// How one ply is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    pub(crate) path: Path,
    pub(crate) taking: Taking,
    pub(crate) en_passant: EnPassant,
    pub(crate) castling: Castling,
    pub(crate) promoting: Promoting,
    pub(crate) press: Press,
    /// The player first lifts another piece of his and puts it back on its square.
    pub(crate) adjusts: bool,
    /// The opponent does not wait for the press.
    pub(crate) answered_at_once: bool,
    pub(crate) pace: Pace,
}

/// How a piece gets from square to square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// Through the air.
    Carried,
    /// Through the air, so low that a square on the way sees it.
    Hovering,
    /// Over the squares between.
    Drawn,
    /// Over the squares between, with a rest on one of them.
    DrawnWithRest,
}

/// How a captured piece leaves the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taking {
    VictimFirst,
    MoverFirst,
    /// Pushed to a neighbouring square, then taken off.
    PushedAside,
    /// Exchanged so quickly that its square is never seen empty.
    InOneGo,
}

/// When the pawn captured en passant is taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnPassant {
    PawnFirst,
    PawnBetween,
    PawnLast,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Castling {
    KingFirst,
    RookFirst,
    BothAtOnce,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promoting {
    /// The pawn goes to the last rank and is exchanged there.
    PawnFirst,
    /// The new piece is set on the last rank, then the pawn is taken off.
    PieceFirst,
    /// The pawn is taken off, then the new piece is set.
    InTheHand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Press {
    Pressed,
    Forgotten,
}

/// How long things take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Before the hand goes out.
    pub(crate) think: Span,
    /// A piece is in the air.
    pub(crate) flight: Span,
    /// From square to neighbouring square when a piece is drawn.
    pub(crate) step: Span,
    /// A drawn piece rests on its way.
    pub(crate) rest: Span,
    /// Between the two halves of a move: king and rook, pawn and queen.
    pub(crate) pause: Span,
    /// From the move to the press.
    pub(crate) press: Span,
    /// From a move to the hand of an opponent who does not wait.
    pub(crate) reaction: Span,
}

/// Kinds of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temperament {
    /// One thing after the other, always the press.
    Calm,
    /// Draws pieces over the squares.
    Drawing,
    /// No time.
    Blitz,
    /// Adjusts, hovers, pushes aside, forgets the clock.
    Clumsy,
}

pub(crate) const CALM: Pace = Pace {
    think: ms(700, 3500),
    flight: ms(300, 1000),
    step: ms(60, 160),
    rest: ms(300, 1500),
    pause: ms(250, 900),
    press: ms(300, 1400),
    reaction: ms(280, 700),
};

pub(crate) const BLITZ: Pace = Pace {
    think: ms(60, 900),
    flight: ms(110, 350),
    step: ms(25, 70),
    rest: ms(100, 400),
    pause: ms(60, 300),
    press: ms(130, 450),
    reaction: ms(200, 450),
};

impl Manner {
    /// Carried calmly, the usual order, pressed.
    pub(crate) const PLAIN: Self = Self {
        path: Path::Carried,
        taking: Taking::VictimFirst,
        en_passant: EnPassant::PawnBetween,
        castling: Castling::KingFirst,
        promoting: Promoting::PawnFirst,
        press: Press::Pressed,
        adjusts: false,
        answered_at_once: false,
        pace: CALM,
    };
}

impl Temperament {
    /// How a player of this temperament makes his next move.
    pub(crate) fn manner(self, chance: &mut Chance) -> Manner {
        let plain = Manner {
            en_passant: chance.pick(&[EnPassant::PawnFirst, EnPassant::PawnBetween, EnPassant::PawnLast]),
            castling: chance.pick(&[Castling::KingFirst, Castling::RookFirst, Castling::BothAtOnce]),
            promoting: chance.pick(&[Promoting::PawnFirst, Promoting::PieceFirst, Promoting::InTheHand]),
            taking: chance.pick(&[Taking::VictimFirst, Taking::MoverFirst]),
            ..Manner::PLAIN
        };
        let any_taking = [
            Taking::VictimFirst,
            Taking::MoverFirst,
            Taking::PushedAside,
            Taking::InOneGo,
            Taking::InOneGo,
        ];
        match self {
            Self::Calm => plain,
            Self::Drawing => Manner {
                path: chance.pick(&[Path::Carried, Path::Drawn, Path::Drawn, Path::DrawnWithRest]),
                ..plain
            },
            Self::Blitz => Manner {
                path: chance.pick(&[Path::Carried, Path::Carried, Path::Carried, Path::Drawn]),
                taking: chance.pick(&any_taking),
                press: if chance.percent(6) {
                    Press::Forgotten
                } else {
                    Press::Pressed
                },
                adjusts: chance.percent(3),
                answered_at_once: chance.percent(40),
                pace: BLITZ,
                ..plain
            },
            Self::Clumsy => Manner {
                path: chance.pick(&[Path::Carried, Path::Carried, Path::Hovering, Path::Drawn]),
                taking: chance.pick(&any_taking),
                press: if chance.percent(8) {
                    Press::Forgotten
                } else {
                    Press::Pressed
                },
                adjusts: chance.percent(20),
                answered_at_once: chance.percent(20),
                ..plain
            },
        }
    }
}
