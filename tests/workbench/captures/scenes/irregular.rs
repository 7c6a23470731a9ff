//! Scenes with acts that the Laws regulate.

use std::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::hand::{self, Chance, Deed, Setting, Step, ms};
use kiebitz_protocol::Field;
use shakmaty::{Chess, Color, Position, Square};

use super::PLAIN;
use crate::hands::games::Game;
use crate::hands::play::{Play, Players};

/// A game in progress, with the moves still to be made.
struct Scene {
    players: Players,
    rest: Vec<shakmaty::Move>,
    extra_steps: Vec<Step>,
}

impl Scene {
    fn after(seed: u64, played: usize, uci: &str) -> Self {
        Self::at(Setting::PLAIN, seed, played, uci)
    }

    fn at(setting: Setting, seed: u64, played: usize, uci: &str) -> Self {
        let game = Game::from_uci(None, uci);
        let mut players = Players::sit_down(&game.start, Chance::new(seed));
        players.start_clock(&setting);
        let (first, rest) = game.moves.split_at(played);
        for m in first {
            players.ply(*m, &PLAIN);
        }
        players.hand().wait(ms(1500, 1500));
        Self {
            players,
            rest: rest.to_vec(),
            extra_steps: Vec::new(),
        }
    }

    fn wait(&mut self, millis: u64) {
        self.players.hand().wait(ms(millis, millis));
    }

    fn press(&mut self, color: hand::Color) {
        self.players.hand().act(Deed::Press(color));
    }

    fn carry(&mut self, from: Square, to: Square) {
        let captures = self.players.hand().standing()[plies::field(to).index()].is_some();
        self.players
            .hand()
            .travel(plies::field(from), plies::field(to), captures, &PLAIN);
    }

    fn put(&mut self, square: Square, piece: shakmaty::Piece) {
        self.players
            .hand()
            .put(plies::field(square), Some(plies::piece(piece)));
    }

    fn goes_on(mut self) -> Play {
        self.wait(1500);
        for m in core::mem::take(&mut self.rest) {
            self.players.ply(m, &PLAIN);
        }
        self.leaves()
    }

    fn leaves(self) -> Play {
        let mut play = self.players.leave(&Setting::PLAIN);
        play.steps.extend(self.extra_steps);
        play.steps.sort_by_key(|step| step.at);
        play
    }
}

const GAME: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 d2d3 f8c5";

/// The knight goes to a square that it cannot legally reach, and back before the press.
pub(super) fn illegal_move_put_back() -> Play {
    let mut scene = Scene::after(40, 4, GAME);
    scene.carry(Square::B1, Square::B3);
    scene.wait(2500);
    scene.carry(Square::B3, Square::B1);
    scene.goes_on()
}

/// White castles although the king has moved before, and presses. The clock is stopped.
pub(super) fn illegal_castling_pressed() -> Play {
    let walk = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1f1 g8f6 f1e1 d7d6 d2d3";
    let mut scene = Scene::after(41, 10, walk);
    let (e1, g1) = (plies::field(Square::E1), plies::field(Square::G1));
    let rook = Some((plies::field(Square::H1), plies::field(Square::F1)));
    let castling = hand::Ply {
        rook,
        ..hand::Ply::quiet(hand::Color::White, e1, g1)
    };
    let before = *scene.players.hand().standing();
    scene.players.hand().make(&castling, &PLAIN);
    scene.wait(600);
    scene.press(hand::Color::White);
    scene.wait(4000);
    scene.players.hand().act(Deed::StopClock);
    scene.wait(3000);
    put_back(&mut scene.players, &before);
    scene.press(hand::Color::Black);
    scene.wait(1000);
    scene.players.hand().act(Deed::StartClock);
    scene.goes_on()
}

/// Black leaves the king in check and presses; White presses back.
pub(super) fn king_left_in_check_pressed() -> Play {
    let mut scene = Scene::after(42, 3, "e2e4 f7f6 d1h5 g7g6 h5g6 h7g6");
    scene.carry(Square::A7, Square::A6);
    scene.wait(700);
    scene.press(hand::Color::Black);
    scene.wait(5000);
    scene.carry(Square::A6, Square::A7);
    scene.wait(600);
    scene.press(hand::Color::White);
    scene.goes_on()
}

pub(super) fn black_moves_first() -> Play {
    let mut scene = Scene::after(43, 0, GAME);
    scene.carry(Square::E7, Square::E5);
    scene.wait(3000);
    scene.carry(Square::E5, Square::E7);
    scene.goes_on()
}

/// A pawn stays on the last rank until the arbiter comes.
pub(super) fn promotion_left_as_a_pawn() -> Play {
    let mut scene = Scene::after(44, 8, "e2e4 d7d5 e4d5 c7c6 d5c6 g8f6 c6b7 b8d7 b7a8q e7e6");
    scene.carry(Square::B7, Square::A8);
    scene.wait(700);
    scene.press(hand::Color::White);
    scene.wait(6000);
    scene.players.hand().act(Deed::StopClock);
    scene.wait(3000);
    scene.players.hand().lift(plies::field(Square::A8));
    scene.wait(500);
    scene.put(Square::A8, Color::White.queen());
    scene.wait(1500);
    // The promotion is complete: Black's time is started.
    scene.players.hand().act(Deed::StartClock);
    let promotion = scene.rest.remove(0);
    scene.players.stands(promotion);
    scene.goes_on()
}

/// Black, to move, presses the clock, and White presses back.
pub(super) fn pressed_without_a_move() -> Play {
    let mut scene = Scene::after(45, 5, GAME);
    scene.press(hand::Color::Black);
    scene.wait(4500);
    scene.press(hand::Color::White);
    scene.goes_on()
}

/// Two pawns and a bishop are knocked over and set up again.
pub(super) fn pieces_knocked_over() -> Play {
    let mut scene = Scene::after(46, 4, GAME);
    let before = *scene.players.hand().standing();
    let knocked = [Square::G2, Square::H2, Square::F1];
    for square in knocked {
        scene.players.hand().lift(plies::field(square));
    }
    scene.wait(6000);
    put_back(&mut scene.players, &before);
    scene.goes_on()
}

/// A pawn is pushed to a neighbouring square, and put back some moves later.
pub(super) fn pawn_pushed_aside_for_moves() -> Play {
    let mut scene = Scene::after(47, 4, GAME);
    let (h7, g6) = (plies::field(Square::H7), plies::field(Square::G6));
    let pawn = scene.players.hand().standing()[h7.index()];
    let pushed = scene.players.hand().now();
    scene.wait(1200);
    for m in scene.rest.drain(..2).collect::<Vec<_>>() {
        scene.players.ply(m, &PLAIN);
    }
    let back = scene.players.hand().now() + Duration::from_millis(1500);
    let step = |at: Duration, field: Field, contents| Step {
        at,
        deed: Deed::Stands(field, contents),
    };
    scene.extra_steps = vec![
        step(pushed, h7, None),
        step(pushed, g6, pawn),
        step(back, g6, None),
        step(back + Duration::from_millis(500), h7, pawn),
    ];
    scene.wait(2500);
    scene.goes_on()
}

/// White lifts a rook's pawn, puts it back, and plays a bishop.
pub(super) fn piece_touched() -> Play {
    let mut scene = Scene::after(48, 4, GAME);
    let pawn = scene.players.hand().lift(plies::field(Square::A2));
    scene.wait(1500);
    scene.players.hand().put(plies::field(Square::A2), pawn);
    scene.goes_on()
}

/// Black's king and queen are swapped, and corrected before the game.
pub(super) fn king_and_queen_swapped() -> Play {
    let game = Game::from_uci(None, GAME);
    let mut board = game.start.board().clone();
    board.set_piece_at(Square::D8, Color::Black.king());
    board.set_piece_at(Square::E8, Color::Black.queen());
    let mut players = Players::arrive(&game.start, plies::dump(&board), Chance::new(49));
    players.hand().wait(ms(6000, 6000));
    put_back(&mut players, &plies::dump(Chess::new().board()));
    players.hand().wait(ms(1500, 1500));
    players.start_clock(&Setting::PLAIN);
    for m in game.moves {
        players.ply(m, &PLAIN);
    }
    players.leave(&Setting::PLAIN)
}

/// The square of a pawn flickers while play goes on.
pub(super) fn square_flickers() -> Play {
    let mut scene = Scene::after(50, 2, GAME);
    let field = plies::field(Square::A7);
    let pawn = scene.players.hand().standing()[field.index()];
    let mut at = scene.players.hand().now();
    for nth in 0..24 {
        let contents = if nth % 2 == 0 { None } else { pawn };
        let deed = Deed::Stands(field, contents);
        scene.extra_steps.push(Step { at, deed });
        at += Duration::from_millis(400);
    }
    scene.goes_on()
}

pub(super) fn flag_falls() -> Play {
    let mut setting = Setting::PLAIN;
    setting.time = Duration::from_secs(20);
    let mut scene = Scene::at(setting.clone(), 51, 4, "e2e4 e7e5 g1f3 b8c6");
    scene.wait(20_000);
    let mut play = scene.leaves();
    play.setting = setting;
    play
}

/// Lifts all pieces from wrong squares, then puts every piece on its square.
fn put_back(players: &mut Players, wanted: &kiebitz_protocol::Dump) {
    let hand = players.hand();
    let wrong: Vec<Field> = Field::all()
        .filter(|field| hand.standing()[field.index()] != wanted[field.index()])
        .collect();
    for field in &wrong {
        if hand.standing()[field.index()].is_some() {
            hand.lift(*field);
            hand.wait(ms(300, 300));
        }
    }
    for field in wrong {
        if let Some(piece) = wanted[field.index()] {
            hand.put(field, Some(piece));
            hand.wait(ms(600, 600));
        }
    }
}
