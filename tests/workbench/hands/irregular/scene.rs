//! One irregular act before a ply of a game.

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::hand::{self, Chance, Deed, Manner, Step, ms};
use kiebitz_protocol::Piece as WirePiece;
use shakmaty::{Bitboard, Color, Move, Position, Role, Square, attacks};

use super::acts::{Act, Push, put_right, truth};
use super::judge::Truth;
use crate::hands::games::Game;
use crate::hands::play::Players;

/// Origin and target of the piece and, in castling, of the rook.
type IllegalMove = (Square, Square, Option<(Square, Square)>);

/// The moment before a ply of a game.
pub(super) struct Scene<'a> {
    pub(super) players: &'a mut Players,
    pub(super) game: &'a Game,
    pub(super) at: usize,
    pub(super) chance: &'a mut Chance,
    pub(super) truths: &'a mut Vec<Truth>,
}

impl Scene<'_> {
    fn ply(&self) -> u32 {
        self.at as u32 + 1
    }

    fn turn(&self) -> Color {
        self.players.position.turn()
    }

    fn record_act(&mut self, kind: &'static str, color: Option<Color>) {
        let ply = self.ply();
        let truth = truth(kind, self.players, ply, color);
        self.truths.push(truth);
    }

    /// Returns whether the next `plies` plies of the game do not involve these squares.
    fn untouched(&self, squares: Bitboard, plies: usize) -> bool {
        let mut position = self.players.position.clone();
        for m in self.game.moves[self.at..].iter().take(plies) {
            let before = position.board().clone();
            position.play_unchecked(*m);
            let mut over = m
                .from()
                .map_or(Bitboard::EMPTY, |from| attacks::between(from, m.to()));
            for square in Square::ALL {
                if before.piece_at(square) != position.board().piece_at(square) {
                    over.add(square);
                }
            }
            if (over & squares).any() {
                return false;
            }
        }
        self.at + plies < self.game.moves.len()
    }

    pub(super) fn act(&mut self, act: Act) {
        self.players.hand().wait(ms(1500, 3500));
        match act {
            Act::Illegal => self.illegal(false),
            Act::IllegalPressed => self.illegal(true),
            Act::Pressed => self.press_alone(),
            Act::Knocked => self.knock(),
            Act::Touched => self.touch(),
            _ => {}
        }
    }

    /// Chooses an illegal move.
    fn illegal_move(&mut self) -> Option<IllegalMove> {
        let position = &self.players.position;
        let legal = position.legal_moves();
        let turn = position.turn();
        let flipped = position.clone().swap_turn().ok();
        let mut found = Vec::new();
        for from in position.us() {
            for to in Square::ALL {
                let king = position.board().by_role(Role::King).contains(to);
                let castles = legal.iter().any(|m| m.is_castle() && m.from() == Some(from));
                let is_legal = legal.iter().any(|m| m.from() == Some(from) && m.to() == to);
                if to != from && !king && !is_legal && !castles {
                    found.push((from, to, None));
                }
            }
        }
        let rank = turn.fold_wb(shakmaty::Rank::First, shakmaty::Rank::Eighth);
        let at = |file| Square::from_coords(file, rank);
        let (king, rook) = (at(shakmaty::File::E), at(shakmaty::File::H));
        let free = [shakmaty::File::F, shakmaty::File::G]
            .into_iter()
            .all(|file| position.board().piece_at(at(file)).is_none());
        if free
            && position.board().piece_at(king) == Some(Role::King.of(turn))
            && position.board().piece_at(rook) == Some(Role::Rook.of(turn))
            && !legal.iter().any(|m| m.is_castle())
        {
            let castling = (king, at(shakmaty::File::G), Some((rook, at(shakmaty::File::F))));
            return Some(castling);
        }
        if self.chance.percent(20)
            && let Some(flipped) = flipped
        {
            let moves: Vec<Move> = flipped
                .legal_moves()
                .iter()
                .copied()
                .filter(|m| !m.is_castle() && !m.is_promotion() && !m.is_en_passant())
                .collect();
            let m = self.chance.pick_from(&moves)?;
            return Some((m.from()?, m.to(), None));
        }
        // Plausible illegal moves: along the piece's lines, or to an adjacent square.
        let tempting: Vec<_> = found
            .iter()
            .copied()
            .filter(|(from, to, _)| {
                position.board().attacks_from(*from).contains(*to) || from.distance(*to) == 1
            })
            .collect();
        if self.chance.percent(50) && !tempting.is_empty() {
            self.chance.pick_from(&tempting)
        } else {
            self.chance.pick_from(&found)
        }
    }

    fn illegal(&mut self, pressed: bool) {
        let Some((from, to, rook)) = self.illegal_move() else {
            return;
        };
        let before = *self.players.hand().standing();
        let mover = self.players.position.board().color_at(from);
        let pressed = pressed && mover == Some(self.turn());
        let ply = hand::Ply {
            color: wire_color(mover.unwrap_or(Color::White)),
            from: plies::field(from),
            to: plies::field(to),
            captured: before[plies::field(to).index()].map(|_| plies::field(to)),
            rook: rook.map(|(a, b)| (plies::field(a), plies::field(b))),
            promoted: None,
        };
        let hand = self.players.hand();
        hand.make(&ply, &Manner::PLAIN);
        self.record_act("illegal_move", mover);
        let hand = self.players.hand();
        if pressed {
            hand.wait(ms(300, 1800));
            hand.act(Deed::Press(ply.color));
            let stopped = self.chance.percent(50);
            let hand = self.players.hand();
            hand.wait(ms(2000, 9000));
            if stopped {
                hand.act(Deed::StopClock);
            }
            put_right(self.players, &before, ms(2000, 15000));
            let hand = self.players.hand();
            // The arbiter or the opponent presses the lever back.
            hand.act(Deed::Press(other(ply.color)));
            if stopped {
                hand.wait(ms(600, 1500));
                hand.act(Deed::StartClock);
            }
            hand.wait(ms(1500, 4000));
        } else {
            put_right(self.players, &before, ms(1700, 4500));
            // Another piece is played, so touch-move is broken as well (Art. 4.3).
            self.record_act("piece_touched_not_moved", mover);
            if let Some(touched) = self.truths.last_mut() {
                touched.optional = true;
            }
            self.players.hand().wait(ms(1000, 4000));
        }
    }

    fn press_alone(&mut self) {
        let turn = self.turn();
        self.record_act("clock_pressed_without_move", Some(turn));
        let hand = self.players.hand();
        hand.act(Deed::Press(wire_color(turn)));
        hand.wait(ms(3300, 7000));
        hand.act(Deed::Press(wire_color(!turn)));
        hand.wait(ms(1000, 4000));
    }

    /// Knocks over two to four neighbouring pieces, or shoves them to the next square.
    fn knock(&mut self) {
        let before = *self.players.hand().standing();
        let occupied: Vec<Square> = self.players.position.board().occupied().into_iter().collect();
        let Some(first) = self.chance.pick_from(&occupied) else {
            return;
        };
        let mut near: Vec<Square> = occupied
            .iter()
            .copied()
            .filter(|square| *square != first && square.distance(first) <= 1)
            .collect();
        near.truncate(1 + self.chance.below(3));
        if near.is_empty() {
            return;
        }
        self.record_act("displaced_pieces", None);
        near.push(first);
        for square in near {
            let shoved = self.chance.percent(40);
            let hand = self.players.hand();
            let free: Vec<Square> = attacks::king_attacks(square)
                .into_iter()
                .filter(|to| hand.standing()[plies::field(*to).index()].is_none())
                .collect();
            let piece = hand.lift(plies::field(square));
            if let Some(to) = self.chance.pick_from(&free).filter(|_| shoved) {
                self.players.hand().put(plies::field(to), piece);
            }
            self.players.hand().wait(ms(5, 60));
        }
        put_right(self.players, &before, ms(7000, 13000));
        self.players.hand().wait(ms(1000, 4000));
    }

    /// Pushes a piece to a neighbouring square that it cannot reach by a move.
    pub(super) fn push(&mut self) -> Option<(Push, [Step; 2])> {
        let position = &self.players.position;
        let legal = position.legal_moves();
        let plies_later = 2 + self.chance.below(5);
        let mut found = Vec::new();
        for from in position.board().occupied() {
            for to in attacks::king_attacks(from) {
                // Undoing the last move would look like a takeback.
                let last = self.at.checked_sub(1).map(|before| self.game.moves[before]);
                let undoes = last.is_some_and(|m| m.from() == Some(to) && m.to() == from);
                let is_move = legal.iter().any(|m| m.from() == Some(from) && m.to() == to);
                let squares = Bitboard::from(from).with(to);
                if position.board().piece_at(to).is_none()
                    && !is_move
                    && !undoes
                    && self.untouched(squares, plies_later + 1)
                {
                    found.push((from, to));
                }
            }
        }
        let (from, to) = self.chance.pick_from(&found)?;
        self.players.hand().wait(ms(300, 2000));
        self.record_act("displaced_pieces", None);
        let hand = self.players.hand();
        let (at, fields) = (hand.now(), (plies::field(from), plies::field(to)));
        let piece = hand.standing()[fields.0.index()];
        let steps = [
            Step {
                at,
                deed: Deed::Stands(fields.0, None),
            },
            Step {
                at,
                deed: Deed::Stands(fields.1, piece),
            },
        ];
        hand.wait(ms(200, 9000));
        let until = self.at + plies_later;
        Some((Push { from, to, until }, steps))
    }

    fn touch(&mut self) {
        let next = self.game.moves[self.at];
        let other: Vec<Square> = self
            .players
            .position
            .us()
            .into_iter()
            .filter(|square| Some(*square) != next.from() && *square != next.to())
            .collect();
        let Some(square) = self.chance.pick_from(&other) else {
            return;
        };
        let turn = self.turn();
        self.record_act("piece_touched_not_moved", Some(turn));
        let hand = self.players.hand();
        let piece = hand.lift(plies::field(square));
        hand.wait(ms(1000, 2500));
        hand.put(plies::field(square), piece);
        hand.wait(ms(800, 5000));
    }

    /// Leaves the pawn on the last rank and presses the clock. Afterwards the move is corrected.
    pub(super) fn unpromoted(&mut self) {
        let m = self.game.moves[self.at];
        let (Some(from), turn) = (m.from(), self.turn()) else {
            return;
        };
        let before = *self.players.hand().standing();
        let captured = before[plies::field(m.to()).index()].map(|_| plies::field(m.to()));
        let hand = self.players.hand();
        hand.wait(ms(1500, 3500));
        hand.travel(
            plies::field(from),
            plies::field(m.to()),
            captured.is_some(),
            &Manner::PLAIN,
        );
        hand.wait(ms(300, 1500));
        hand.act(Deed::Press(wire_color(turn)));
        self.record_act("promotion_not_replaced", Some(turn));
        let hand = self.players.hand();
        hand.wait(ms(6000, 18000));
        hand.act(Deed::Press(wire_color(!turn)));
        hand.wait(ms(300, 900));
        // The next ply then exchanges the pawn for the piece as in a regular promotion.
        hand.lift(plies::field(m.to()));
        hand.wait(ms(300, 600));
        for field in [plies::field(from), plies::field(m.to())] {
            hand.act(Deed::Stands(field, None));
        }
    }

    /// Makes one square flicker while play goes on.
    pub(super) fn flicker(&mut self) -> Vec<Step> {
        let lasts = ms(8000, 16000);
        let plies_meanwhile = 8;
        let quiet: Vec<Square> = self
            .players
            .position
            .board()
            .occupied()
            .into_iter()
            .filter(|square| self.untouched(Bitboard::from(*square), plies_meanwhile))
            .collect();
        let Some(square) = self.chance.pick_from(&quiet) else {
            return Vec::new();
        };
        self.record_act("sensor_fault", None);
        let field = plies::field(square);
        let stands = self.players.hand().standing()[field.index()];
        let mut steps = Vec::new();
        let mut at = self.players.hand().now();
        let until = at + self.chance.time(lasts);
        let wrong = [
            None,
            None,
            None,
            Some(WirePiece::BlackRook),
            Some(WirePiece::WhiteKnight),
        ];
        while at < until {
            let shown = Some(self.chance.pick(wrong)).filter(|shown| *shown != stands);
            let deed = Deed::Stands(field, shown.unwrap_or_default());
            steps.push(Step { at, deed });
            at += self.chance.time(ms(230, 700));
            let deed = Deed::Stands(field, stands);
            steps.push(Step { at, deed });
            at += self.chance.time(ms(230, 700));
        }
        steps
    }
}

fn wire_color(color: Color) -> hand::Color {
    color.fold_wb(hand::Color::White, hand::Color::Black)
}

fn other(color: hand::Color) -> hand::Color {
    match color {
        hand::Color::White => hand::Color::Black,
        hand::Color::Black => hand::Color::White,
    }
}
