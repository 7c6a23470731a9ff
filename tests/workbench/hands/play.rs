//! A game as two players act it out: what they do, and when.

use core::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::hand::{Chance, Deed, Hand, Manner, Opponents, Setting, Step, Temperament};
use kiebitz_protocol::{Dump, Field};
use shakmaty::{Chess, Move, Position};

use super::games::Game;

impl Play {
    /// The same so many times as fast.
    pub fn hasten(&mut self, times: u32) {
        let sooner = |at: &mut Duration| *at = HOST_IS_READY + at.saturating_sub(HOST_IS_READY) / times;
        self.steps.iter_mut().for_each(|step| sooner(&mut step.at));
        self.begun.iter_mut().for_each(sooner);
    }

    /// The same on a board whose sensor under a field dies then.
    pub fn deaden(&mut self, field: Field, from: Duration) {
        for step in self.steps.iter_mut().filter(|step| step.at >= from) {
            if let Deed::Stands(on, piece) = &mut step.deed
                && *on == field
            {
                *piece = None;
            }
        }
        let dies = self.steps.partition_point(|step| step.at < from);
        let deed = Deed::Stands(field, None);
        self.steps.insert(dies, Step { at: from, deed });
    }
}

/// Everything that happens at one board.
#[derive(Debug, Clone)]
pub struct Play {
    pub setting: Setting,
    /// What stands on the board when kiebitz begins to watch.
    pub first: Dump,
    /// In the order of time.
    pub steps: Vec<Step>,
    /// When each ply was begun.
    pub begun: Vec<Duration>,
    pub end: Duration,
}

/// The players at work, and the rules that their hands do not know.
#[derive(Debug, Clone)]
pub struct Players {
    opponents: Opponents,
    pub position: Chess,
    first: Dump,
    begun: Vec<Duration>,
}

impl Players {
    /// The pieces stand ready; the clock will be started when it is time to.
    pub fn sit_down(start: &Chess, chance: Chance) -> Self {
        Self::arrive(start, plies::dump(start.board()), chance)
    }

    /// Something else than the start position stands on the board.
    pub fn arrive(start: &Chess, first: Dump, chance: Chance) -> Self {
        Self {
            opponents: Opponents::sit_down(first, HOST_IS_READY, chance),
            position: start.clone(),
            first,
            begun: Vec::new(),
        }
    }

    pub fn hand(&mut self) -> &mut Hand {
        self.opponents.hand()
    }

    pub fn start_clock(&mut self, setting: &Setting) {
        self.opponents.start_clock(setting);
    }

    /// Makes the next move of a game in this manner and presses the clock.
    pub fn ply(&mut self, m: Move, manner: &Manner) {
        let made = self.opponents.make(&plies::ply(&self.position, m), manner);
        self.follow(m, made.begun);
    }

    /// The next move of a game stands on the board already.
    pub fn stands(&mut self, m: Move) {
        let begun = self.hand().now();
        self.follow(m, begun);
    }

    /// Makes the next move of a game as players of this temperament do.
    pub fn play(&mut self, m: Move, temperament: Temperament, chance: &mut Chance) {
        let ply = plies::ply(&self.position, m);
        let made = self.opponents.play(&ply, temperament, 100, chance);
        self.follow(m, made.begun);
    }

    fn follow(&mut self, m: Move, begun: Duration) {
        self.position.play_unchecked(m);
        self.begun.push(begun);
        let expected = plies::dump(self.position.board());
        assert_eq!(*self.hand().standing(), expected, "the hands have made the move");
    }

    /// All is over: everything in the order of time.
    pub fn leave(mut self, setting: &Setting) -> Play {
        self.hand().tidy_up();
        let mut steps = self.hand().take_steps();
        let end = steps
            .iter()
            .map(|step| step.at)
            .max()
            .unwrap_or_default()
            .max(self.hand().now());
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
pub fn act_out(game: &Game, temperament: Temperament, chance: &mut Chance) -> Play {
    let setting = Setting::random(chance);
    let mut players = Players::sit_down(&game.start, Chance::new(chance.bits()));
    players.start_clock(&setting);
    for m in &game.moves {
        players.play(*m, temperament, chance);
    }
    players.leave(&setting)
}

/// By then the host has asked what it wants to know.
const HOST_IS_READY: Duration = Duration::from_millis(2500);
