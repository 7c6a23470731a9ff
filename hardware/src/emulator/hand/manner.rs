//! How a move is made by hand, and who makes it so.

use super::chance::{Chance, Span, ms};

/// How one ply is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How a piece gets from field to field.
    pub path: Path,
    /// How a captured piece leaves the board.
    pub taking: Taking,
    /// When a pawn captured en passant is taken off.
    pub en_passant: EnPassant,
    /// Which piece goes first when castling.
    pub castling: Castling,
    /// How a pawn becomes another piece.
    pub promoting: Promoting,
    /// Whether the clock is pressed.
    pub press: Press,
    /// The piece is set down off the centre of its field, which reads nothing until it is nudged.
    pub off_centre: bool,
    /// The player first lifts another of their pieces and puts it back on its field.
    pub adjusts: bool,
    /// The opponent does not wait for the press.
    pub answered_at_once: bool,
    /// How long things take.
    pub pace: Pace,
}

/// How a piece gets from field to field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Through the air.
    Carried,
    /// Through the air, so low that a field on the way sees it.
    Hovering,
    /// Over the fields between.
    Drawn,
    /// Over the fields between, with a rest on one of them.
    DrawnWithRest,
}

/// How a captured piece leaves the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// It is taken off before the capturing piece is touched.
    VictimFirst,
    /// It is taken off with the capturing piece in the hand.
    MoverFirst,
    /// Pushed to a neighbouring field, then taken off.
    PushedAside,
    /// Exchanged so quickly that its field is never seen empty.
    InOneGo,
    /// Laid down on a neighbouring field, and put away later, perhaps after the reply.
    LaidBeside,
}

/// When the pawn captured en passant is taken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnPassant {
    /// Before the capturing pawn is touched.
    PawnFirst,
    /// With the capturing pawn in the hand.
    PawnBetween,
    /// When the capturing pawn stands.
    PawnLast,
}

/// Which piece goes first when castling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Castling {
    /// The king, as the Laws want it.
    KingFirst,
    /// The rook.
    RookFirst,
    /// Both are in the air.
    BothAtOnce,
}

/// How a pawn becomes another piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promoting {
    /// The pawn goes to the last rank and is exchanged there.
    PawnFirst,
    /// The new piece is set on the last rank, then the pawn is taken off.
    PieceFirst,
    /// The pawn is taken off, then the new piece is set.
    InTheHand,
}

/// Whether the clock is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// It is.
    Pressed,
    /// The clock is not pressed; the lever stays.
    Forgotten,
}

/// How long things take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Before the hand goes out.
    pub think: Span,
    /// A piece is in the air.
    pub flight: Span,
    /// From field to neighbouring field when a piece is drawn.
    pub step: Span,
    /// A drawn piece rests on its way.
    pub rest: Span,
    /// Between the two halves of a move: king and rook, pawn and queen.
    pub pause: Span,
    /// From the move to the press.
    pub press: Span,
    /// From a move to the hand of an opponent who does not wait.
    pub reaction: Span,
    /// Until a piece is nudged that was set down off-centre, or one is put away that was laid beside.
    pub tidying: Span,
}

/// Kinds of players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Temperament {
    /// One thing after the other, always the press.
    Calm,
    /// Draws pieces over the fields.
    Drawing,
    /// No time.
    Blitz,
    /// Adjusts, hovers, pushes aside, forgets the clock.
    Clumsy,
    /// In a time scramble: sets pieces down off-centre, lays captured ones beside, answers before the press.
    Hurried,
}

impl Pace {
    /// Of players with time.
    pub const CALM: Self = Self {
        think: ms(700, 3500),
        flight: ms(300, 1000),
        step: ms(60, 160),
        rest: ms(300, 1500),
        pause: ms(250, 900),
        press: ms(300, 1400),
        reaction: ms(280, 700),
        tidying: ms(500, 2500),
    };

    /// Of players without.
    pub const BLITZ: Self = Self {
        think: ms(60, 900),
        flight: ms(110, 350),
        step: ms(25, 70),
        rest: ms(100, 400),
        pause: ms(60, 300),
        press: ms(130, 450),
        reaction: ms(200, 450),
        tidying: ms(300, 1500),
    };

    /// Of players whose flags are about to fall.
    pub const HURRIED: Self = Self {
        think: ms(40, 1700),
        flight: ms(120, 320),
        step: ms(25, 60),
        rest: ms(80, 250),
        pause: ms(50, 200),
        press: ms(120, 420),
        reaction: ms(120, 380),
        tidying: ms(250, 1600),
    };
}

impl Manner {
    /// Carried calmly, the usual order, pressed.
    pub const PLAIN: Self = Self {
        path: Path::Carried,
        taking: Taking::VictimFirst,
        en_passant: EnPassant::PawnBetween,
        castling: Castling::KingFirst,
        promoting: Promoting::PawnFirst,
        press: Press::Pressed,
        off_centre: false,
        adjusts: false,
        answered_at_once: false,
        pace: Pace::CALM,
    };
}

impl Temperament {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Calm,
        Self::Drawing,
        Self::Blitz,
        Self::Clumsy,
        Self::Hurried,
    ];

    /// Those of games that are not about to be lost on time.
    pub const UNHURRIED: [Self; 4] = [Self::Calm, Self::Drawing, Self::Blitz, Self::Clumsy];

    /// How a player of this temperament makes their next move.
    pub fn manner(self, chance: &mut Chance) -> Manner {
        let plain = Manner {
            en_passant: chance.pick([EnPassant::PawnFirst, EnPassant::PawnBetween, EnPassant::PawnLast]),
            castling: chance.pick([Castling::KingFirst, Castling::RookFirst, Castling::BothAtOnce]),
            promoting: chance.pick([Promoting::PawnFirst, Promoting::PieceFirst, Promoting::InTheHand]),
            taking: chance.pick([Taking::VictimFirst, Taking::MoverFirst]),
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
                path: chance.pick([Path::Carried, Path::Drawn, Path::Drawn, Path::DrawnWithRest]),
                ..plain
            },
            Self::Blitz => Manner {
                path: chance.pick([Path::Carried, Path::Carried, Path::Carried, Path::Drawn]),
                taking: chance.pick(any_taking),
                press: press(chance, 6),
                adjusts: chance.percent(3),
                answered_at_once: chance.percent(40),
                pace: Pace::BLITZ,
                ..plain
            },
            Self::Clumsy => Manner {
                path: chance.pick([Path::Carried, Path::Carried, Path::Hovering, Path::Drawn]),
                taking: chance.pick(any_taking),
                press: press(chance, 8),
                adjusts: chance.percent(20),
                answered_at_once: chance.percent(20),
                ..plain
            },
            Self::Hurried => Manner {
                path: chance.pick([Path::Carried, Path::Carried, Path::Carried, Path::Drawn]),
                taking: chance.pick([
                    Taking::VictimFirst,
                    Taking::MoverFirst,
                    Taking::InOneGo,
                    Taking::LaidBeside,
                ]),
                press: press(chance, 12),
                off_centre: chance.percent(4),
                adjusts: chance.percent(2),
                answered_at_once: chance.percent(45),
                pace: Pace::HURRIED,
                ..plain
            },
        }
    }
}

/// A press, forgotten in `forgotten` of a hundred cases.
fn press(chance: &mut Chance, forgotten: u32) -> Press {
    if chance.percent(forgotten) {
        Press::Forgotten
    } else {
        Press::Pressed
    }
}
