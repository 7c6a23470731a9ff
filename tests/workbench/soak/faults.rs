//! What goes wrong in a round, from a seed.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::{Chance, ms};

/// Something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The cable of a board is pulled out.
    Unplug(usize),
    /// It is plugged in again.
    Plug(usize),
    /// Bytes from a board begin to be lost, changed and made up.
    Garbage(usize),
    /// They come whole again.
    Clean(usize),
    /// Nothing that a board sends arrives any more.
    Silent(usize),
    /// It does again.
    Heard(usize),
    /// The daemon is gone, with all that it had in memory.
    Stop,
    /// It is started again.
    Start,
}

/// How much of each goes wrong.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub unplugs: usize,
    pub restarts: usize,
    pub bursts: usize,
    pub silences: usize,
    /// How long the daemon is away, in milliseconds.
    pub away: (u64, u64),
}

/// From a supervisor that starts it at once to one that is asleep.
pub const AWAY: (u64, u64) = (1_000, 20_000);

impl Plan {
    /// Everything, each in its time, the earliest first, within `round` from `began`. No cable is out for longer than
    /// `out` milliseconds.
    pub fn schedule(
        self,
        chance: &mut Chance,
        boards: usize,
        out: u64,
        (began, round): (Timestamp, Duration),
    ) -> Vec<(Timestamp, Fault)> {
        let mut faults: Vec<(Duration, Fault)> = Vec::new();
        let mut add = |spans: Vec<(Duration, Duration)>, begins: Fault, ends: Fault| {
            for (from, to) in spans {
                faults.push((from, begins));
                faults.push((to, ends));
            }
        };
        for board in 0..boards {
            let share = |all: usize| all / boards + usize::from(board < all % boards);
            let outages = lasting(chance, share(self.unplugs), 2_000, out);
            add(
                spread(chance, outages, round),
                Fault::Unplug(board),
                Fault::Plug(board),
            );
            let bursts = lasting(chance, share(self.bursts), 30, 1_500);
            add(
                spread(chance, bursts, round),
                Fault::Garbage(board),
                Fault::Clean(board),
            );
            let silences = lasting(chance, share(self.silences), 300, 20_000);
            add(
                spread(chance, silences, round),
                Fault::Silent(board),
                Fault::Heard(board),
            );
        }
        let away = lasting(chance, self.restarts, self.away.0, self.away.1);
        add(spread(chance, away, round), Fault::Stop, Fault::Start);
        faults.sort_by_key(|(at, _)| *at);
        faults
            .into_iter()
            .map(|(at, fault)| (began + at, fault))
            .collect()
    }
}

/// This many times between the two in milliseconds; short ones are as frequent as those ten times as long.
fn lasting(chance: &mut Chance, count: usize, least: u64, most: u64) -> Vec<Duration> {
    let ratio = most as f64 / least as f64;
    let mut one = || {
        let share = chance.below(10_001) as f64 / 10_000.0;
        Duration::from_secs_f64(least as f64 / 1000.0 * ratio.powf(share))
    };
    (0..count).map(|_| one()).collect()
}

/// Spreads these over the round so that no two overlap: from when to when each lasts.
fn spread(chance: &mut Chance, lasting: Vec<Duration>, round: Duration) -> Vec<(Duration, Duration)> {
    let free = round.saturating_sub(lasting.iter().sum());
    let free = u64::try_from(free.as_millis()).unwrap();
    let mut begins: Vec<Duration> = lasting.iter().map(|_| chance.time(ms(0, free))).collect();
    begins.sort_unstable();
    let mut passed = Duration::ZERO;
    begins
        .into_iter()
        .zip(lasting)
        .map(|(begin, lasts)| {
            let from = begin + passed;
            passed += lasts;
            (from, from + lasts)
        })
        .collect()
}
