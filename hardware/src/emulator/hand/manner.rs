//! Ways in which players move their pieces by hand.

use super::chance::{Chance, Span, ms};

/// The way in which a ply is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How a piece is moved from square to square.
    pub path: Path,
    /// How a captured piece leaves the board.
    pub taking: Taking,
    /// When a pawn captured en passant is removed.
    pub en_passant: EnPassant,
    /// Which piece goes first in castling.
    pub castling: Castling,
    /// How a pawn is exchanged for another piece.
    pub promoting: Promoting,
    /// Whether the clock is pressed.
    pub press: Press,
    /// Whether the piece is set down off the centre of its square. The square reads empty until the piece is nudged.
    pub off_centre: bool,
    /// Whether the player first lifts another of their pieces and puts it back on its square.
    pub adjusts: bool,
    /// Whether the opponent answers without waiting for the press.
    pub answered_at_once: bool,
    /// Durations of the parts of the ply.
    pub pace: Pace,
}

/// How a piece is moved from square to square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Lifted and carried through the air.
    Carried,
    /// Carried so low that a square on the way detects it.
    Hovering,
    /// Slid over the squares on the way.
    Drawn,
    /// Slid over the squares on the way, with a rest on one of them.
    DrawnWithRest,
}

/// How a captured piece leaves the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taking {
    /// Removed before the capturing piece is touched.
    VictimFirst,
    /// Removed while the capturing piece is in the hand.
    MoverFirst,
    /// Pushed to a neighbouring square, then removed.
    PushedAside,
    /// Exchanged so quickly that the square never reads empty.
    InOneGo,
    /// Put on a neighbouring square and removed later, possibly after the reply.
    LaidBeside,
}

/// When a pawn captured en passant is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnPassant {
    /// Before the capturing pawn is touched.
    PawnFirst,
    /// While the capturing pawn is in the hand.
    PawnBetween,
    /// After the capturing pawn has been set down.
    PawnLast,
}

/// Which piece goes first in castling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Castling {
    /// The king, as the Laws require.
    KingFirst,
    /// The rook.
    RookFirst,
    /// Both are in the air at once.
    BothAtOnce,
}

/// How a pawn is exchanged for another piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promoting {
    /// The pawn goes to the last rank and is exchanged there.
    PawnFirst,
    /// The new piece is put on the last rank, then the pawn is removed.
    PieceFirst,
    /// The pawn is removed, then the new piece is put on the last rank.
    InTheHand,
}

/// Whether the clock is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// The mover presses the clock.
    Pressed,
    /// The mover does not press, and the lever does not move.
    Forgotten,
}

/// Durations of the parts of a ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Thinking time before the hand moves.
    pub think: Span,
    /// Time that a piece is in the air.
    pub flight: Span,
    /// Time per square when a piece is drawn.
    pub step: Span,
    /// Rest of a drawn piece on its way.
    pub rest: Span,
    /// Pause between the two halves of a move, such as king and rook, or pawn and queen.
    pub pause: Span,
    /// Time from the move to the press.
    pub press: Span,
    /// Time from a move to the reply of an opponent who does not wait for the press.
    pub reaction: Span,
    /// Time until a piece set down off-centre is nudged, or a captured piece on a neighbouring square is removed.
    pub tidying: Span,
}

/// Kind of player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Temperament {
    /// Performs one action after the other, and always presses.
    Calm,
    /// Slides pieces over the squares.
    Drawing,
    /// Moves quickly, and sometimes forgets the clock.
    Blitz,
    /// Adjusts, hovers, pushes captured pieces aside, and forgets the clock.
    Clumsy,
    /// Is short of time: sets pieces down off-centre, puts captured pieces on neighbouring squares, and answers before
    /// the press.
    Hurried,
}

impl Pace {
    /// Pace of players with enough time.
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

    /// Pace of players in blitz.
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

    /// Pace of players in time trouble.
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
    /// Carries the piece calmly, in the usual order, and presses.
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
    /// All kinds of players.
    pub const ALL: [Self; 5] = [
        Self::Calm,
        Self::Drawing,
        Self::Blitz,
        Self::Clumsy,
        Self::Hurried,
    ];

    /// All kinds of players except [`Hurried`](Self::Hurried).
    pub const UNHURRIED: [Self; 4] = [Self::Calm, Self::Drawing, Self::Blitz, Self::Clumsy];

    /// Returns a random manner for the next move of a player with this temperament.
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

/// Returns at random whether the clock is pressed. `forgotten` is the probability in percent that it is not.
fn press(chance: &mut Chance, forgotten: u32) -> Press {
    if chance.percent(forgotten) {
        Press::Forgotten
    } else {
        Press::Pressed
    }
}
