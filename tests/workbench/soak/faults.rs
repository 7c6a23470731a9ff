//! The faults of a round, from a seed.

use core::time::Duration;

use kiebitz_hardware::Timestamp;
use kiebitz_hardware::emulator::hand::{Chance, ms};

/// The start or end of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Unplug(usize),
    Plug(usize),
    /// Bytes from the board begin to be lost, changed and inserted.
    Garbage(usize),
    /// Bytes from the board arrive undamaged again.
    Clean(usize),
    /// All bytes from the board begin to be lost.
    Silent(usize),
    /// Bytes from the board arrive again.
    Heard(usize),
    /// The daemon is killed, and its memory is lost.
    Stop,
    Start,
}

/// How many faults of each kind a round has.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub unplugs: usize,
    pub restarts: usize,
    pub bursts: usize,
    pub silences: usize,
    /// Shortest and longest downtime of the daemon, in milliseconds.
    pub away: (u64, u64),
}

/// Downtime with a supervisor that restarts the daemon at once, and with a slow one.
pub const AWAY: (u64, u64) = (1_000, 20_000);

impl Plan {
    /// Returns all faults with their times, in order, within `round` from `began`. No cable is out for longer than
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

/// Returns `count` durations between the two, in milliseconds. Their logarithms are uniformly distributed.
fn lasting(chance: &mut Chance, count: usize, least: u64, most: u64) -> Vec<Duration> {
    let ratio = most as f64 / least as f64;
    let mut one = || {
        let share = chance.below(10_001) as f64 / 10_000.0;
        Duration::from_secs_f64(least as f64 / 1000.0 * ratio.powf(share))
    };
    (0..count).map(|_| one()).collect()
}

/// Spreads the durations over the round without overlap. Returns the start and end of each.
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
