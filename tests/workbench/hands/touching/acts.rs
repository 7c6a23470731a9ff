//! One ply, with other actions of the player's hands.

use std::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::hand::{self, Castling, Chance, Deed, Manner, Promoting, Step, Taking, ms};
use shakmaty::san::SanPlus;
use shakmaty::{Color, Move, Position, Role, Square, attacks};

use super::Truth;
use crate::hands::games::Game;
use crate::hands::play::Players;

/// Actions of the player's hands at a ply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Plain,
    /// An own piece is lifted and put back, after a while or at once to adjust it.
    Lifted,
    /// Like `Lifted`, with an opponent's piece as well.
    LiftedBoth,
    /// The piece rests on another square, for long or on its way.
    Rested,
    /// Another move is made and taken back.
    TakenBack,
    /// The move is made, taken back, and made again.
    MadeAgain,
    /// The piece is put down and lifted once more.
    Bounced,
    /// Both pieces of a capture are taken at once.
    TwoHands,
    /// The clock is pressed with the piece in the hand.
    PressedEarly,
}

impl Act {
    pub(super) fn any(chance: &mut Chance) -> Self {
        chance.pick([
            Self::Lifted,
            Self::LiftedBoth,
            Self::Rested,
            Self::Rested,
            Self::TakenBack,
            Self::MadeAgain,
            Self::Bounced,
            Self::TwoHands,
            Self::PressedEarly,
        ])
    }
}

/// The moment before a ply of a game.
pub(super) struct Scene<'a> {
    pub(super) players: &'a mut Players,
    pub(super) game: &'a Game,
    pub(super) at: usize,
    pub(super) chance: &'a mut Chance,
    pub(super) truths: &'a mut Vec<Truth>,
}

impl Scene<'_> {
    fn next(&self) -> Move {
        self.game.moves[self.at]
    }

    fn expect_report(&mut self, case: &'static str, due: Option<String>, optional: bool) {
        self.truths.push(Truth {
            ply: self.at as u32 + 1,
            case,
            due,
            optional,
        });
    }

    fn san(&self, m: Move) -> String {
        SanPlus::from_move(self.players.position.clone(), m).to_string()
    }

    pub(super) fn act(&mut self, act: Act) {
        let m = self.next();
        if m.is_promotion() && self.chance.percent(50) {
            return self.exchange(m);
        }
        self.players.hand().wait(ms(1500, 3500));
        match act {
            Act::Plain => self.plain(m),
            Act::Lifted => self.lift(m),
            Act::LiftedBoth => self.lift_both(m),
            Act::Rested => self.rest(m),
            Act::TakenBack => self.take_back(m),
            Act::MadeAgain => self.make_again(m),
            Act::Bounced => self.bounce(m),
            Act::TwoHands => self.use_two_hands(m),
            Act::PressedEarly => self.press_early(m),
        }
    }

    /// Returns whether the move takes one piece to an empty square.
    fn is_simple(m: Move) -> bool {
        !m.is_castle() && !m.is_promotion() && !m.is_en_passant() && !m.is_capture()
    }

    fn press(&mut self) {
        let color = match self.players.position.turn() {
            Color::White => hand::Color::White,
            Color::Black => hand::Color::Black,
        };
        self.players.hand().act(Deed::Press(color));
    }

    /// Presses the clock and updates the position after the pieces have been moved.
    fn done(&mut self, m: Move) {
        self.players.hand().wait(ms(300, 1400));
        self.press();
        self.players.stands(m);
    }

    fn plain(&mut self, m: Move) {
        let mut manner = Manner {
            taking: self
                .chance
                .pick([Taking::VictimFirst, Taking::MoverFirst, Taking::InOneGo]),
            castling: self
                .chance
                .pick([Castling::KingFirst, Castling::RookFirst, Castling::BothAtOnce]),
            promoting: self
                .chance
                .pick([Promoting::PawnFirst, Promoting::PieceFirst, Promoting::InTheHand]),
            ..Manner::PLAIN
        };
        if m.is_castle() {
            // King or rook may be on its new square alone for a while, which is not a displacement.
            if self.chance.percent(50) {
                manner.pace.pause = ms(2000, 6000);
            }
            match manner.castling {
                Castling::RookFirst => self.expect_report("castling_rook_first.rook", None, false),
                // Two hands that act within half a scan cannot be told apart from one.
                Castling::BothAtOnce => self.expect_report("two_hands_suspected", None, true),
                Castling::KingFirst => {}
            }
        }
        self.players.ply(m, &manner);
    }

    /// Returns the own pieces that the move does not touch.
    fn others(&self, m: Move) -> Vec<Square> {
        let position = &self.players.position;
        let mut others: Vec<Square> = position.us().into_iter().collect();
        let rook = if let Move::Castle { rook, .. } = m {
            Some(rook)
        } else {
            None
        };
        others.retain(|square| Some(*square) != m.from() && Some(*square) != rook);
        others
    }

    fn lift(&mut self, m: Move) {
        let Some(square) = self.chance.pick_from(&self.others(m)) else {
            return self.plain(m);
        };
        let long = self.chance.percent(60);
        if long {
            self.expect_report("piece_touched_not_moved.own", None, false);
        }
        let hand = self.players.hand();
        let piece = hand.lift(plies::field(square));
        hand.wait(if long { ms(1100, 5500) } else { ms(100, 480) });
        hand.put(plies::field(square), piece);
        hand.wait(ms(600, 3000));
        self.plain(m);
    }

    fn lift_both(&mut self, m: Move) {
        let position = &self.players.position;
        let captures: Vec<Move> = position
            .legal_moves()
            .into_iter()
            .filter(|other| other.is_capture() && !other.is_en_passant() && !other.is_promotion())
            .filter(|other| {
                other.to() != m.to()
                    && self
                        .others(m)
                        .contains(&other.from().unwrap_or_else(|| other.to()))
            })
            .collect();
        let Some((from, to)) = self
            .chance
            .pick_from(&captures)
            .and_then(|other| Some((other.from()?, other.to())))
        else {
            return self.plain(m);
        };
        self.expect_report("piece_touched_not_moved.own", None, false);
        self.expect_report("piece_touched_not_moved.other", None, false);
        let hand = self.players.hand();
        let [from, to] = [from, to].map(plies::field);
        let pieces = [hand.lift(to), {
            hand.wait(ms(400, 900));
            hand.lift(from)
        }];
        hand.wait(ms(1200, 3000));
        hand.put(from, pieces[1]);
        hand.wait(ms(300, 700));
        hand.put(to, pieces[0]);
        hand.wait(ms(600, 3000));
        self.plain(m);
    }

    fn rest(&mut self, m: Move) {
        if let Move::Castle { king, rook } = m {
            return self.rest_in_castling(m, king, rook);
        }
        let position = &self.players.position;
        let ways: Vec<Move> = position
            .legal_moves()
            .into_iter()
            .filter(|other| other.from() == m.from() && other.to() != m.to() && Self::is_simple(*other))
            .collect();
        let way = self.chance.pick_from(&ways).filter(|_| Self::is_simple(m));
        let Some((way, from)) = way.and_then(|way| Some((way, way.from()?))) else {
            return self.plain(m);
        };
        let long = self.chance.percent(60);
        if long {
            let due = format!("{} must be played", self.san(way));
            self.expect_report("piece_touched_not_moved.released", Some(due), false);
        }
        let hand = self.players.hand();
        let [from, by, to] = [from, way.to(), m.to()].map(plies::field);
        let piece = hand.lift(from);
        hand.wait(ms(250, 800));
        hand.put(by, piece);
        hand.wait(if long { ms(1550, 2500) } else { ms(150, 950) });
        hand.lift(by);
        hand.wait(ms(200, 700));
        hand.put(to, piece);
        self.done(m);
    }

    /// Lets the king rest next to its origin before castling is completed. It was released there (Art. 4.7).
    fn rest_in_castling(&mut self, m: Move, king: Square, rook: Square) {
        let ply = plies::ply(&self.players.position, m);
        let Some((rook_from, rook_to)) = ply.rook else {
            return self.plain(m);
        };
        let neighbour = Square::from_coords(
            if rook > king {
                shakmaty::File::F
            } else {
                shakmaty::File::D
            },
            king.rank(),
        );
        let steps = self.players.position.legal_moves();
        let Some(step) = steps
            .iter()
            .find(|step| !step.is_castle() && step.from() == Some(king) && step.to() == neighbour)
        else {
            return self.plain(m);
        };
        let due = format!("{} must be played", self.san(*step));
        self.expect_report("piece_touched_not_moved.released", Some(due), false);
        let hand = self.players.hand();
        let piece = hand.lift(ply.from);
        hand.wait(ms(250, 800));
        hand.put(plies::field(neighbour), piece);
        hand.wait(ms(1550, 2500));
        hand.lift(plies::field(neighbour));
        hand.wait(ms(200, 700));
        hand.put(ply.to, piece);
        hand.wait(ms(300, 2500));
        let piece = hand.lift(rook_from);
        hand.wait(ms(200, 700));
        hand.put(rook_to, piece);
        self.done(m);
    }

    /// Makes a simple move and takes it back.
    fn make_and_take_back(&mut self, m: Move) {
        let Some(from) = m.from() else { return };
        let hand = self.players.hand();
        let [from, to] = [from, m.to()].map(plies::field);
        let piece = hand.lift(from);
        hand.wait(ms(300, 900));
        hand.put(to, piece);
        hand.wait(ms(1600, 3500));
        hand.lift(to);
        hand.wait(ms(300, 900));
        hand.put(from, piece);
        hand.wait(ms(300, 3500));
    }

    fn take_back(&mut self, m: Move) {
        let position = &self.players.position;
        let others: Vec<Move> = position
            .legal_moves()
            .into_iter()
            .filter(|other| other.from() != m.from() && other.to() != m.to() && Self::is_simple(*other))
            .filter(|other| {
                !m.is_castle()
                    && position
                        .board()
                        .role_at(other.from().unwrap_or_else(|| other.to()))
                        != Some(Role::King)
            })
            .collect();
        let Some(other) = self.chance.pick_from(&others) else {
            return self.plain(m);
        };
        let due = format!("{} must be played", self.san(other));
        self.expect_report("piece_touched_not_moved.taken_back", Some(due), false);
        self.make_and_take_back(other);
        self.plain(m);
    }

    fn make_again(&mut self, m: Move) {
        if Self::is_simple(m) {
            self.make_and_take_back(m);
        }
        self.plain(m);
    }

    fn bounce(&mut self, m: Move) {
        let Some(from) = m.from().filter(|_| Self::is_simple(m)) else {
            return self.plain(m);
        };
        let hand = self.players.hand();
        let [from, to] = [from, m.to()].map(plies::field);
        let piece = hand.lift(from);
        hand.wait(ms(300, 900));
        for _ in 0..2 {
            hand.put(to, piece);
            hand.wait(ms(50, 400));
            hand.lift(to);
            hand.wait(ms(50, 400));
        }
        hand.put(to, piece);
        self.done(m);
    }

    fn use_two_hands(&mut self, m: Move) {
        let takes = m.is_capture() && !m.is_en_passant() && !m.is_promotion();
        let Some(from) = m.from().filter(|_| takes) else {
            return self.plain(m);
        };
        // One hand often takes both pieces within a scan, so no report is expected.
        let [from, to] = [from, m.to()].map(plies::field);
        let hand = self.players.hand();
        hand.wait(ms(2000, 3000));
        let piece = hand.lift(from);
        hand.wait(ms(0, 60));
        hand.lift(to);
        hand.wait(ms(500, 1000));
        hand.put(to, piece);
        self.done(m);
    }

    /// Exchanges the promoted piece for another one, before the press or after it. After the press, the arbiter has the
    /// first piece put back.
    fn exchange(&mut self, m: Move) {
        let (Some(from), Some(role)) = (m.from(), m.promotion()) else {
            return self.plain(m);
        };
        let turn = self.players.position.turn();
        let [from, to] = [from, m.to()].map(plies::field);
        let other = if role == Role::Queen {
            Role::Rook
        } else {
            Role::Queen
        };
        let [piece, other] = [role, other].map(|role| Some(plies::piece(role.of(turn))));
        let pressed = self.chance.percent(50);
        let (first, second, case) = if pressed {
            (piece, other, "promotion_exchanged.pressed")
        } else {
            (other, piece, "promotion_exchanged.not_pressed")
        };
        self.expect_report(case, None, false);
        let hand = self.players.hand();
        hand.wait(ms(1500, 3500));
        if m.is_capture() {
            hand.lift(to);
            hand.wait(ms(300, 700));
        }
        hand.lift(from);
        hand.wait(ms(300, 900));
        hand.put(to, first);
        hand.wait(ms(1300, 2400));
        if pressed {
            self.press();
            self.players.hand().wait(ms(1300, 2500));
        }
        let hand = self.players.hand();
        hand.lift(to);
        hand.wait(ms(400, 900));
        hand.put(to, second);
        if pressed {
            hand.wait(ms(4000, 9000));
            hand.lift(to);
            hand.wait(ms(400, 900));
            hand.put(to, first);
            hand.wait(ms(500, 2000));
            self.players.stands(m);
        } else {
            self.done(m);
        }
    }

    fn press_early(&mut self, m: Move) {
        let Some(from) = m.from().filter(|_| Self::is_simple(m)) else {
            return self.plain(m);
        };
        // The report of the press may come as late as the report of the piece.
        self.expect_report("pressed_before_release", None, true);
        let [from, to] = [from, m.to()].map(plies::field);
        let hand = self.players.hand();
        hand.wait(ms(1000, 2000));
        let piece = hand.lift(from);
        hand.wait(ms(300, 700));
        self.press();
        let hand = self.players.hand();
        hand.wait(ms(900, 1600));
        hand.put(to, piece);
        hand.wait(ms(300, 900));
        self.players.stands(m);
        self.players.hand().wait(ms(300, 900));
    }

    /// Makes squares that the next plies do not involve read as empty for a moment.
    pub(super) fn ghosts(&mut self) -> Vec<Step> {
        let mut position = self.players.position.clone();
        let mut quiet = position.board().occupied();
        for m in self.game.moves[self.at..].iter().take(4) {
            let before = position.board().clone();
            position.play_unchecked(*m);
            for square in Square::ALL {
                if before.piece_at(square) != position.board().piece_at(square) {
                    quiet.discard(square);
                    quiet = quiet.without(attacks::between(square, m.to()));
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = self.players.hand().now();
        if self.at == 0 {
            self.players.hand().wait(ms(30_000, 30_000));
        }
        // The players wait 30 s before the first move, so more squares can be disturbed.
        let count = if self.at == 0 { 8 } else { self.chance.below(3) };
        for _ in 0..count {
            let squares: Vec<Square> = quiet.into_iter().collect();
            let Some(square) = self.chance.pick_from(&squares) else {
                break;
            };
            quiet.discard(square);
            let field = plies::field(square);
            let stands = self.players.hand().standing()[field.index()];
            at += self.chance.time(ms(0, 2500));
            steps.push(Step {
                at,
                deed: Deed::Stands(field, None),
            });
            at += self.chance.time(ms(150, 1000)).max(Duration::from_millis(1));
            steps.push(Step {
                at,
                deed: Deed::Stands(field, stands),
            });
        }
        steps
    }
}
