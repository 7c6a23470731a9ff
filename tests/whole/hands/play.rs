//! Two players and a clock: a game as physical steps in time.

use core::time::Duration;

use kiebitz_hardware::emulator::ClockSide;
use shakmaty::{Board, Chess, Color, Position, Square};

use super::chance::{Chance, ms};
use super::games::Game;
use super::manner::{Manner, Press, Temperament};
use super::motion::{Deed, Hand, Step};

/// How the board and its clock stand in the hall.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    /// White sits with the connector on the right.
    pub(crate) turned: bool,
    /// White's side of the clock; `None`: there is no clock.
    pub(crate) white_side: Option<ClockSide>,
    /// The lever is high on Black's side before the game.
    pub(crate) black_presses_first: bool,
    pub(crate) increment: Duration,
    pub(crate) scan_phase: Duration,
    pub(crate) scan_period: Duration,
    pub(crate) clock_period: Duration,
}

impl Setting {
    /// Normal side, White's clock on the right, its lever high there.
    pub(crate) const PLAIN: Self = Self {
        turned: false,
        white_side: Some(ClockSide::Right),
        black_presses_first: false,
        increment: Duration::ZERO,
        scan_phase: Duration::from_millis(40),
        scan_period: Duration::from_millis(225),
        clock_period: Duration::from_millis(400),
    };

    pub(crate) fn random(chance: &mut Chance) -> Self {
        Self {
            turned: chance.percent(30),
            white_side: (!chance.percent(8)).then(|| chance.pick(&[ClockSide::Left, ClockSide::Right])),
            black_presses_first: chance.percent(30),
            increment: chance.pick(&[Duration::ZERO, Duration::from_secs(2), Duration::from_secs(30)]),
            scan_phase: chance.time(ms(0, 225)),
            scan_period: chance.time(ms(200, 250)),
            clock_period: chance.time(ms(350, 450)),
        }
    }
}

/// Everything that happens at one board.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) setting: Setting,
    /// What stands on the board when kiebitz begins to watch.
    pub(crate) first: Board,
    /// In the order of time.
    pub(crate) steps: Vec<Step>,
    /// When each ply was begun.
    pub(crate) begun: Vec<Duration>,
    pub(crate) end: Duration,
}

/// The players at work.
#[derive(Debug, Clone)]
pub(crate) struct Players {
    pub(crate) hand: Hand,
    pub(crate) position: Chess,
    begun: Vec<Duration>,
    last_press: Duration,
    first: Board,
}

impl Players {
    /// The pieces stand ready; the clock will be started when it is time to.
    pub(crate) fn sit_down(start: &Chess, chance: Chance) -> Self {
        Self::arrive(start, start.board().clone(), chance)
    }

    /// Something else than the start position stands on the board.
    pub(crate) fn arrive(start: &Chess, first: Board, chance: Chance) -> Self {
        let mut hand = Hand::new(first.clone(), chance);
        hand.now = HOST_IS_READY;
        Self {
            hand,
            position: start.clone(),
            begun: Vec::new(),
            last_press: HOST_IS_READY,
            first,
        }
    }

    pub(crate) fn start_clock(&mut self, setting: &Setting) {
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

    /// Makes the next move of a game and presses the clock.
    pub(crate) fn ply(&mut self, m: shakmaty::Move, manner: &Manner) {
        self.hand.wait(manner.pace.think);
        if manner.adjusts {
            self.adjust(m, manner);
        }
        self.begun.push(self.hand.now);
        let mover = self.position.turn();
        self.hand.make(&self.position, m, manner);
        self.position.play_unchecked(m);
        assert_eq!(
            &self.hand.board,
            self.position.board(),
            "the hands have made the move"
        );
        self.press(mover, manner);
    }

    fn adjust(&mut self, m: shakmaty::Move, manner: &Manner) {
        let own = self.position.us();
        let others: Vec<Square> = own
            .into_iter()
            .filter(|square| Some(*square) != m.from())
            .collect();
        if !others.is_empty() {
            let square = self.hand.chance.pick(&others);
            self.hand.adjust(square, manner);
            self.hand.wait(manner.pace.pause);
        }
    }

    /// The mover presses, if he does; the opponent may not wait for it.
    pub(crate) fn press(&mut self, mover: Color, manner: &Manner) {
        let landed = self.hand.now;
        if manner.press == Press::Pressed {
            self.hand.wait(manner.pace.press);
            // Nobody presses before the other has.
            self.hand.now = self.hand.now.max(self.last_press + BETWEEN_PRESSES);
            self.hand.act(Deed::Press(mover));
            self.last_press = self.hand.now;
        } else {
            self.hand.wait(manner.pace.reaction);
        }
        if manner.answered_at_once {
            // What the opponent thinks about next, he has thought about before.
            self.hand.now = landed + self.hand.chance.time(manner.pace.reaction);
        }
    }

    /// All is over: everything in the order of time.
    pub(crate) fn leave(self, setting: &Setting) -> Play {
        let mut steps = self.hand.steps;
        let end = steps
            .iter()
            .map(|step| step.at)
            .max()
            .unwrap_or_default()
            .max(self.hand.now);
        steps.sort_by_key(|step| step.at);
        Play {
            setting: setting.clone(),
            first: self.first,
            steps,
            begun: self.begun,
            end: end + Duration::from_millis(2500),
        }
    }
}

/// A whole game by two players of the same temperament.
pub(crate) fn act_out(game: &Game, temperament: Temperament, chance: &mut Chance) -> Play {
    let setting = Setting::random(chance);
    let mut players = Players::sit_down(&game.start, Chance::new(chance.bits()));
    players.start_clock(&setting);
    let mut answers_at_once = false;
    for m in &game.moves {
        let manner = temperament.manner(chance);
        let think = match (answers_at_once, m.is_en_passant()) {
            // A double step that nobody has seen yet is not answered en passant.
            (true, true) => ms(250, 400),
            (true, false) => ms(0, 0),
            (false, _) => manner.pace.think,
        };
        let pace = super::manner::Pace { think, ..manner.pace };
        players.ply(
            *m,
            &Manner {
                pace,
                adjusts: manner.adjusts && !answers_at_once,
                ..manner
            },
        );
        answers_at_once = manner.answered_at_once;
    }
    players.leave(&setting)
}

/// By then the host has asked what it wants to know.
const HOST_IS_READY: Duration = Duration::from_millis(2500);
const BETWEEN_PRESSES: Duration = Duration::from_millis(150);
