//! Irregular acts of players, and their plan for a game.

use std::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::hand::{self, Chance, Deed, Manner, Setting, Step, Temperament, ms};
use kiebitz_protocol::{Dump, Field};
use shakmaty::{Chess, Color, Position, Role, Square};

use super::judge::Truth;
use super::scene::Scene;
use super::{MOVES_OF_PERIOD, SHORT_TIME};

/// Thinking time in milliseconds that uses up one period of `SHORT_TIME` with its increments, but not a second one.
const PERIOD_IS_OVER: u64 = SHORT_TIME * 1000 + 1_000_000;
/// Thinking time in milliseconds that uses up two periods.
const ALL_IS_OVER: u64 = 2 * SHORT_TIME * 1000 + 1_500_000;
use crate::hands::games::Game;
use crate::hands::play::{Play, Players};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// An illegal move, corrected before the press.
    Illegal,
    /// An illegal move with a press.
    IllegalPressed,
    /// The clock is pressed without a move.
    Pressed,
    /// Pieces are knocked over and put back at once.
    Knocked,
    /// A piece is pushed to the next square, and put back some moves later.
    Pushed,
    /// A piece is lifted for a while, and another one moved.
    Touched,
    Flicker,
    /// A pawn is left on the last rank.
    Unpromoted,
    /// The time runs out at the end.
    Flag,
    /// The first period's time runs out, with its moves completed.
    Period,
}

const ANYWHERE: [Act; 7] = [
    Act::Illegal,
    Act::IllegalPressed,
    Act::Pressed,
    Act::Knocked,
    Act::Pushed,
    Act::Touched,
    Act::Flicker,
];

/// The acts of a game, each with the ply before which it happens.
pub(super) struct Plan {
    acts: Vec<(usize, Act)>,
    swapped: Option<Dump>,
    /// Steps in addition to those of the players' hands.
    extra_steps: Vec<Step>,
}

/// A pushed piece, to be put back before the ply `until`.
pub(super) struct Push {
    pub from: Square,
    pub to: Square,
    pub until: usize,
}

impl Push {
    /// Returns the steps that put the piece back. They are added to the play directly, as the state of the players'
    /// hands does not include the push.
    fn put_back(&self, players: &mut Players) -> [Step; 2] {
        let hand = players.hand();
        let (from, to) = (plies::field(self.from), plies::field(self.to));
        let piece = hand.standing()[from.index()];
        let lifted = hand.now();
        [
            Step {
                at: lifted,
                deed: Deed::Stands(to, None),
            },
            Step {
                at: lifted + Duration::from_millis(600),
                deed: Deed::Stands(from, piece),
            },
        ]
    }
}

impl Plan {
    pub(super) fn new(game: &Game, chance: &mut Chance) -> Self {
        let mut acts = Vec::new();
        let mut at = 1 + chance.below(8);
        while at + 1 < game.moves.len() {
            acts.push((at, chance.pick(ANYWHERE)));
            at += 8 + chance.below(10);
        }
        let promotions = game.moves.iter().enumerate().filter(|(_, m)| m.is_promotion());
        for (at, _) in promotions {
            if chance.percent(60) {
                acts.retain(|(other, _)| other.abs_diff(at) > 3);
                acts.push((at, Act::Unpromoted));
            }
        }
        let swaps = game.mode == shakmaty::CastlingMode::Standard && chance.percent(25);
        let swapped = swaps.then(|| swapped(&game.start, chance.percent(50)));
        if chance.percent(25) {
            acts.push((game.moves.len(), Act::Flag));
        }
        acts.sort_by_key(|(at, _)| *at);
        Self {
            acts,
            swapped,
            extra_steps: Vec::new(),
        }
    }

    /// Plans a long thought in the middle of the game, during which the first period ends. Returns false if the game is
    /// too short for that.
    pub(super) fn has_two_periods(&mut self, game: &Game) -> bool {
        let at = game.moves.len() / 2;
        let is_long = at as u32 > 2 * MOVES_OF_PERIOD;
        if is_long {
            self.acts.retain(|(other, _)| other.abs_diff(at) > 3);
            self.acts.push((at, Act::Period));
            self.acts.sort_by_key(|(at, _)| *at);
        }
        is_long
    }

    pub(super) fn wants(&self, act: Act) -> bool {
        self.acts.iter().any(|(_, planned)| *planned == act)
    }

    pub(super) fn swapped(&self) -> Option<Dump> {
        self.swapped
    }

    pub(super) fn act_out(
        &mut self,
        players: &mut Players,
        game: &Game,
        setting: &Setting,
        temperament: Temperament,
        chance: &mut Chance,
    ) -> Vec<Truth> {
        let mut truths = Vec::new();
        if self.swapped.is_some() {
            truths.push(truth("wrong_start_position", players, 0, None));
            put_right(players, &plies::dump(game.start.board()), ms(9000, 20000));
        }
        players.start_clock(setting);
        let mut push: Option<Push> = None;
        for (at, m) in game.moves.iter().enumerate() {
            if let Some(pushed) = push.take_if(|pushed| at >= pushed.until) {
                self.extra_steps.extend(pushed.put_back(players));
                players.hand().wait(ms(1200, 2500));
            }
            let act = self.acts.iter().find(|(of, _)| *of == at).map(|(_, act)| *act);
            let mut scene = Scene {
                players: &mut *players,
                game,
                at,
                chance: &mut *chance,
                truths: &mut truths,
            };
            match act.filter(|_| push.is_none()) {
                Some(Act::Pushed) => {
                    if let Some((pushed, steps)) = scene.push() {
                        push = Some(pushed);
                        self.extra_steps.extend(steps);
                    }
                }
                Some(Act::Unpromoted) => scene.unpromoted(),
                Some(Act::Period) => {
                    let turn = scene.players.position.turn();
                    scene
                        .players
                        .hand()
                        .wait(ms(PERIOD_IS_OVER, PERIOD_IS_OVER + 10_000));
                    let mut flag_fall = truth("flag_fall", scene.players, at as u32 + 1, Some(turn));
                    flag_fall.at = Duration::ZERO;
                    scene.truths.push(flag_fall);
                }
                Some(Act::Flicker) => self.extra_steps.extend(scene.flicker()),
                Some(act) => scene.act(act),
                None => {}
            }
            if act == Some(Act::Touched) || act == Some(Act::Unpromoted) {
                players.ply(*m, &without_adjusting(temperament, chance));
            } else {
                players.play(*m, temperament, chance);
            }
        }
        if let Some(pushed) = push {
            self.extra_steps.extend(pushed.put_back(players));
        }
        if self.wants(Act::Flag) && !players.position.is_game_over() {
            let turn = players.position.turn();
            players.hand().wait(ms(ALL_IS_OVER, ALL_IS_OVER + 100_000));
            let mut flag_fall = truth("flag_fall", players, game.moves.len() as u32 + 1, Some(turn));
            flag_fall.at = Duration::ZERO;
            truths.push(flag_fall);
        }
        truths
    }

    /// Ends the play, with all steps in the order of time.
    pub(super) fn leave(self, players: Players, setting: &Setting) -> Play {
        let mut play = players.leave(setting);
        play.steps.extend(self.extra_steps);
        play.steps.sort_by_key(|step| step.at);
        play
    }
}

fn without_adjusting(temperament: Temperament, chance: &mut Chance) -> Manner {
    Manner {
        adjusts: false,
        ..temperament.manner(chance)
    }
}

pub(super) fn truth(kind: &'static str, players: &mut Players, ply: u32, color: Option<Color>) -> Truth {
    Truth {
        kind,
        at: players.hand().now(),
        ply,
        color,
        optional: false,
    }
}

/// Swaps king and queen of one side.
fn swapped(start: &Chess, white: bool) -> Dump {
    let mut board = start.board().clone();
    let rank = if white {
        [Square::D1, Square::E1]
    } else {
        [Square::D8, Square::E8]
    };
    let [queen, king] = rank;
    let color = Color::from_white(white);
    board.set_piece_at(queen, Role::King.of(color));
    board.set_piece_at(king, Role::Queen.of(color));
    plies::dump(&board)
}

/// Waits, and then puts every misplaced piece on its square.
pub(super) fn put_right(players: &mut Players, wanted: &Dump, after: hand::Span) {
    let hand = players.hand();
    hand.wait(after);
    let wrong: Vec<Field> = Field::all()
        .filter(|field| hand.standing()[field.index()] != wanted[field.index()])
        .collect();
    for field in &wrong {
        if hand.standing()[field.index()].is_some() {
            hand.lift(*field);
            hand.wait(ms(200, 500));
        }
    }
    for field in wrong {
        if let Some(piece) = wanted[field.index()] {
            hand.put(field, Some(piece));
            hand.wait(ms(500, 1200));
        }
    }
}
