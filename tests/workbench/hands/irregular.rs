//! Players who break the Laws, upset pieces and forget to act: every incident is announced, and nothing else.

mod acts;
pub mod judge;
mod scene;

use core::time::Duration;

use kiebitz_hardware::emulator::hand::{Chance, Setting, Temperament};

use super::games::{Game, Taste};
use super::play::{Play, Players};
use super::{hall, verdict};
use acts::{Act, Plan};
use judge::{Count, Truth};

pub struct Case {
    pub play: Play,
    pub truths: Vec<Truth>,
    pub game: Game,
    /// Time control announced for the event. Empty if none was announced.
    time_control: String,
}

/// Time of each side, in seconds, for the game or for each of two periods. For games in which a player's time runs out.
const SHORT_TIME: u64 = 3000;
/// Moves required in the first of two periods.
const MOVES_OF_PERIOD: u32 = 4;

impl Case {
    pub fn new(seed: u64, temperament: Temperament) -> Self {
        let mut chance = Chance::new(seed);
        let taste = if chance.percent(40) {
            Taste::Special
        } else {
            Taste::Any
        };
        let start = chance.percent(15).then(|| chance.below(960));
        let plies = 24 + chance.below(60);
        let game = Game::random(&mut chance, start, taste, plies);
        let mut setting = Setting::random(&mut chance);
        setting.white_side = setting
            .white_side
            .or(Some(kiebitz_hardware::emulator::ClockSide::Left));
        let mut plan = Plan::new(&game, &mut chance);
        // A separate generator, so that games without a second period do not change.
        let mut time_control = String::new();
        if Chance::new(!seed).percent(40) && plan.has_two_periods(&game) {
            setting.second_period = Some(Duration::from_secs(SHORT_TIME));
            let minutes = SHORT_TIME / 60;
            time_control = format!("{minutes} min/{MOVES_OF_PERIOD} + {minutes} min");
            if !setting.increment.is_zero() {
                time_control += &format!(", {} s from move 1", setting.increment.as_secs());
            }
        }
        if plan.wants(Act::Flag) || plan.wants(Act::Period) {
            setting.time = Duration::from_secs(SHORT_TIME);
        }
        let hands = Chance::new(chance.bits());
        let mut players = match plan.swapped() {
            Some(first) => Players::arrive(&game.start, first, hands),
            None => Players::sit_down(&game.start, hands),
        };
        let truths = plan.act_out(&mut players, &game, &setting, temperament, &mut chance);
        Self {
            play: plan.leave(players, &setting),
            truths,
            game,
            time_control,
        }
    }

    pub fn events(&self) -> Vec<kiebitz_game::events::Event> {
        let capture = self.capture();
        if self.time_control.is_empty() {
            return verdict::events(&capture);
        }
        verdict::events_under(&self.time_control, &capture)
    }

    pub fn capture(&self) -> Vec<u8> {
        hall::record(&self.play)
    }
}

pub fn judged(seeds: core::ops::Range<u64>, temperament: Temperament) -> Count {
    let mut count = Count::default();
    for seed in seeds {
        let case = Case::new(seed, temperament);
        let events = case.events();
        count.judge(seed, &case.truths, &events);
        let (played, published) = (case.game.uci(), verdict::moves_published(&events));
        if played != published {
            count.misread.push(seed);
        }
    }
    count
}

/// Returns the incidents raised in legal games, and the number of plies.
pub fn legal(seeds: core::ops::Range<u64>, temperament: Temperament, taste: Taste) -> (Count, usize) {
    let (mut count, mut plies) = (Count::default(), 0);
    for seed in seeds {
        let case = super::Case::new(seed, temperament, taste);
        plies += case.game.moves.len();
        count.judge(seed, &[], &verdict::events(&case.capture));
    }
    (count, plies)
}

#[test]
fn every_irregularity_is_announced_and_nothing_else() {
    for temperament in [Temperament::Calm, Temperament::Drawing] {
        let count = judged(0..60, temperament);
        assert!(count.is_good(), "{temperament:?}\n{count}");
    }
}

#[test]
fn legal_play_raises_only_hints_and_few_of_them() {
    for temperament in Temperament::UNHURRIED {
        let (count, plies) = legal(5000..5020, temperament, Taste::Any);
        assert!(count.false_reports.is_empty(), "{temperament:?}\n{count}");
        assert!(
            count.hints * 12 < plies,
            "{temperament:?}: {} hints in {plies} plies",
            count.hints
        );
    }
}
