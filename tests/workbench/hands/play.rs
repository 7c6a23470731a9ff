//! A game acted out by two players: their actions and times.

use core::time::Duration;

use kiebitz::tools::emulate::plies;
use kiebitz_hardware::emulator::hand::{Chance, Deed, Hand, Manner, Opponents, Setting, Step, Temperament};
use kiebitz_protocol::{Dump, Field};
use shakmaty::{Chess, Move, Position};

use super::games::Game;

impl Play {
    /// Makes all actions `times` times as fast.
    pub fn hasten(&mut self, times: u32) {
        let sooner = |at: &mut Duration| *at = HOST_IS_READY + at.saturating_sub(HOST_IS_READY) / times;
        self.steps.iter_mut().for_each(|step| sooner(&mut step.at));
        self.begun.iter_mut().for_each(sooner);
    }

    /// Makes a square read as empty from this time on, as if its sensor had died.
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

#[derive(Debug, Clone)]
pub struct Play {
    pub setting: Setting,
    /// Contents of the board when kiebitz begins to watch.
    pub first: Dump,
    /// In the order of time.
    pub steps: Vec<Step>,
    pub begun: Vec<Duration>,
    pub end: Duration,
}

/// Two players and the position of their game. Their hands do not know the rules.
#[derive(Debug, Clone)]
pub struct Players {
    opponents: Opponents,
    pub position: Chess,
    first: Dump,
    begun: Vec<Duration>,
}

impl Players {
    /// Creates players whose pieces are set up. Call [`start_clock`](Self::start_clock) to begin.
    pub fn sit_down(start: &Chess, chance: Chance) -> Self {
        Self::arrive(start, plies::dump(start.board()), chance)
    }

    /// Creates players with other contents of the board than the start position.
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

    /// Updates the position by a move that has already been made on the board.
    pub fn stands(&mut self, m: Move) {
        let begun = self.hand().now();
        self.follow(m, begun);
    }

    /// Makes the next move of a game in a random manner of this temperament.
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

    /// Ends the play, with all steps in the order of time.
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

/// Acts out a whole game by two players of the same temperament.
pub fn act_out(game: &Game, temperament: Temperament, chance: &mut Chance) -> Play {
    let setting = Setting::random(chance);
    let mut players = Players::sit_down(&game.start, Chance::new(chance.bits()));
    players.start_clock(&setting);
    for m in &game.moves {
        players.play(*m, temperament, chance);
    }
    players.leave(&setting)
}

/// Time at which the host has sent all its queries.
const HOST_IS_READY: Duration = Duration::from_millis(2500);
